// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: the RDMA device goes, and comes again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rnt.h"

#define SYSFS	"/sys/class/infiniband/rxe0"

static void rdma_link(char *const argv[])
{
	pid_t pid = rnt_fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	rnt_join_(pid);
}

/* The netdev below it: d0, or the card in two guests. */
static char *netdev(void)
{
	char *name = getenv("VM_NETDEV");

	return name && *name ? name : "d0";
}

bool rnt_link_is_there(void)
{
	return access(SYSFS, F_OK) == 0;
}

void rnt_link_delete_(void)
{
	char *argv[] = { "rdma", "link", "delete", "rxe0", NULL };
	uint64_t start = rnt_now_ns(), ms;

	rdma_link(argv);
	rnt_check(!rnt_link_is_there());
	ms = (rnt_now_ns() - start) / 1000000;
	if (ms > RNT_REMOVAL_MS * rnt_slow())
		rnt_fail("the removal of rxe0 takes %llu ms",
			 (unsigned long long)ms);
}

void rnt_link_add_(void)
{
	char *argv[] = {
		"rdma", "link", "add", "rxe0", "type", "rxe", "netdev",
		netdev(), NULL,
	};

	rdma_link(argv);
	rnt_check(rnt_link_is_there());
}
