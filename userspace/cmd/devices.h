/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - the RDMA devices, as sysfs shows them.
 */
#ifndef _RNOTIFY_CMD_DEVICES_H
#define _RNOTIFY_CMD_DEVICES_H

#include <net/if.h>
#include <netinet/in.h>

#define DEVICE_ADDRESSES 8

/* One port of one device. */
struct rdma_device {
	char name[64];
	char type[64];		/* "RoCE v2, CA" and the like */
	char state[64];		/* "ACTIVE" */
	char netdev[IF_NAMESIZE];
	unsigned int port;
	unsigned int nr_addresses;
	char addresses[DEVICE_ADDRESSES][INET6_ADDRSTRLEN];
};

struct rdma_devices {
	unsigned int nr;
	struct rdma_device *dev;
};

void devices_read(struct rdma_devices *devs);
void devices_free(struct rdma_devices *devs);

#endif /* _RNOTIFY_CMD_DEVICES_H */
