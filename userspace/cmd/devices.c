// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - the RDMA devices, as sysfs shows them. What can't be read
 * is left out: this is for people, and the kernel's own count stands beside it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

#define SYSFS "/sys/class/infiniband"

/* First line of a sysfs file, without what stands before a colon. */
static void read_word(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void read_word(char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX], line[256];
	const char *word;
	va_list args;
	FILE *file;

	buf[0] = '\0';
	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		word = strstr(line, ": ");
		snprintf(buf, size, "%.*s", (int)size - 1,
			 word ? word + 2 : line);
	}
	fclose(file);
}

static void add_address(struct rdma_device *dev, const struct sockaddr *sa)
{
	const void *addr;

	if (sa->sa_family == AF_INET)
		addr = &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	else if (sa->sa_family == AF_INET6)
		addr = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	else
		return;
	if (dev->nr_addresses < DEVICE_ADDRESSES &&
	    inet_ntop(sa->sa_family, addr, dev->addresses[dev->nr_addresses],
		      INET6_ADDRSTRLEN))
		dev->nr_addresses++;
}

static void read_addresses(struct rdma_device *dev)
{
	struct ifaddrs *list, *i;

	if (!*dev->netdev || getifaddrs(&list))
		return;
	for (i = list; i; i = i->ifa_next)
		if (i->ifa_addr && !strcmp(i->ifa_name, dev->netdev))
			add_address(dev, i->ifa_addr);
	freeifaddrs(list);
}

static void read_port(struct rdma_device *dev, const char *name,
		      unsigned int port)
{
	char node[64], layer[64];

	snprintf(dev->name, sizeof(dev->name), "%.63s", name);
	dev->port = port;
	read_word(node, sizeof(node), SYSFS "/%s/node_type", name);
	read_word(layer, sizeof(layer), SYSFS "/%s/ports/%u/link_layer", name,
		  port);
	snprintf(dev->type, sizeof(dev->type), "%.20s over %.20s",
		 *node ? node : "?", *layer ? layer : "?");
	read_word(dev->state, sizeof(dev->state), SYSFS "/%s/ports/%u/state",
		  name, port);
	read_word(dev->netdev, sizeof(dev->netdev),
		  SYSFS "/%s/ports/%u/gid_attrs/ndevs/0", name, port);
	read_addresses(dev);
}

static void add_device(struct rdma_devices *devs, const char *name)
{
	struct rdma_device *grown;
	char state[64];
	unsigned int port;

	for (port = 1; port < 255; port++) {
		read_word(state, sizeof(state), SYSFS "/%s/ports/%u/state",
			  name, port);
		if (!*state)
			return;
		grown = reallocarray(devs->dev, devs->nr + 1, sizeof(*grown));
		if (!grown)
			return;
		devs->dev = grown;
		grown[devs->nr] = (struct rdma_device){ 0 };
		read_port(&grown[devs->nr++], name, port);
	}
}

void devices_read(struct rdma_devices *devs)
{
	DIR *dir = opendir(SYSFS);
	struct dirent *entry;

	*devs = (struct rdma_devices){ 0 };
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_device(devs, entry->d_name);
	closedir(dir);
}

void devices_free(struct rdma_devices *devs)
{
	free(devs->dev);
	*devs = (struct rdma_devices){ 0 };
}
