// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Which transports there are, in place of perf/transport.c: ours, the one that this
 * program is about, and plain verbs, which the latter is made of.
 */
#include <string.h>

#include "peer.h"

static const struct transport *const transports[] = {
	&ours, &peer, &verbs_write_imm,
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
