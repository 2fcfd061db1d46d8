/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf with libfabric: one end.
 *
 *	fabric.c	what is measured
 *	fabric_setup.c	making and ending
 */
#ifndef _RNOTIFY_BENCH_FABRIC_H
#define _RNOTIFY_BENCH_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "peer.h"

#define POLL_MAX 64

/* Data of a connection: of one program, so of one byte order. */
struct hello {
	uint64_t addr;
	uint64_t key;
};

/**
 * struct fabric - one end
 * @link: head
 * @info: what is opened
 * @fabric: the provider
 * @eq: connections come and go
 * @pep: listener, NULL at the client
 * @domain: the device
 * @mr: registration of @memory
 * @memory: slots to be sent, then those that arrive
 * @rx: completions of receives
 * @tx: completions of sends
 * @ep: the connection
 * @epfd: for WAIT_EPOLL, else -1
 * @remote: the peer's slots
 * @entries: read from @rx and not yet looked at
 * @nr_entries: how many
 * @at_entry: the first of them
 * @rx_size: receives
 * @tx_size: sends
 * @tx_posted: sends since @tx was read
 * @sent: notifications posted
 * @credit: notifications that the peer has room for
 * @owed: notifications consumed, which the peer does not know of
 * @used: receives to be posted again
 */
struct fabric {
	struct link link;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fid_domain *domain;
	struct fid_mr *mr;
	char *memory;
	struct fid_cq *rx;
	struct fid_cq *tx;
	struct fid_ep *ep;
	int epfd;
	struct hello remote;
	struct fi_cq_data_entry entries[POLL_MAX];
	unsigned int nr_entries;
	unsigned int at_entry;
	uint32_t rx_size;
	uint32_t tx_size;
	uint32_t tx_posted;
	uint32_t sent;
	uint32_t credit;
	uint32_t owed;
	uint32_t used;
};

static inline struct fabric *fabric_of(struct link *link)
{
	return (struct fabric *)(void *)link;
}

static inline int broken(const char *what, ssize_t err)
{
	return fail("libfabric: %s: %s", what, fi_strerror((int)-err));
}

static inline char *slot(struct fabric *f, bool incoming, uint32_t n)
{
	const struct run *run = f->link.run;

	return f->memory + (incoming ? slots_bytes(run) : 0) +
		(size_t)n * run->size;
}

/* fabric.c */
int fabric_post_receives(struct fabric *f, uint32_t n);

/* fabric_setup.c */
struct link *fabric_open(const struct run *run, bool server);
int fabric_listen(struct link *link, union address *addr);
int fabric_accept(struct link *link);
int fabric_connect(struct link *link, const union address *addr);
void fabric_close(struct link *link);

#endif /* _RNOTIFY_BENCH_FABRIC_H */
