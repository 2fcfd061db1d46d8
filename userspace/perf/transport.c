// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - which transports there are.
 */
#include <string.h>

#include "transport.h"

static const struct transport *const transports[] = {
	&ours, &verbs_write_imm, &verbs_write_send, &verbs_send, &tcp,
};

const struct transport *transport_nth(unsigned int n)
{
	return n < ARRAY_SIZE(transports) ? transports[n] : NULL;
}

const struct transport *transport_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(transports); i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}
