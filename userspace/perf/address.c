// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - addresses.
 */
#include <arpa/inet.h>
#include <string.h>

#include "control.h"
#include "devices.h"
#include "options.h"

static void convert(const struct rnotify_sockaddr *from, union address *to)
{
	*to = (union address){ .sa.sa_family = from->family };
	if (from->family == AF_INET6) {
		memcpy(&to->in6.sin6_addr, from->addr, 16);
		to->in6.sin6_scope_id = from->scope_id;
	} else {
		memcpy(&to->in.sin_addr, from->addr, 4);
	}
	address_set_port(to, from->port);
}

int address_of(const char *text, union address *addr)
{
	struct rnotify_sockaddr found;
	int ret = rnotify_resolve(text, CONTROL_PORT, &found);

	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_RESOLVE, ret, text);
	convert(&found, addr);
	return 0;
}

/* The first IPv4 address of a device that is up. */
static bool first_address(const struct rdma_devices *devs, union address *addr)
{
	unsigned int i, k;

	*addr = (union address){ .in.sin_family = AF_INET };
	for (i = 0; i < devs->nr; i++)
		for (k = 0; k < devs->dev[i].nr_addresses; k++)
			if (inet_pton(AF_INET, devs->dev[i].addresses[k],
				      &addr->in.sin_addr) == 1)
				return true;
	return false;
}

int address_of_device(union address *addr)
{
	struct rdma_devices devs;

	devices_read(&devs);
	if (!first_address(&devs, addr))
		addr->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	devices_free(&devs);
	return 0;
}
