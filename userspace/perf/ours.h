/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - the transport that all others are compared with.
 */
#ifndef _RNOTIFY_PERF_OURS_H
#define _RNOTIFY_PERF_OURS_H

#include <liburing.h>

#include "transport.h"

#define READ_EVENTS 64

/**
 * struct ours_ep - one endpoint
 * @id: of the kernel's
 * @remote: the peer's slots
 * @sent: notifications posted so far
 * @full: the kernel refused one, and has not told that there is room again
 */
struct ours_ep {
	uint32_t id;
	uint32_t remote;
	uint32_t sent;
	bool full;
};

/**
 * struct ours - one end
 * @link: head
 * @ctx: context
 * @region: slots of all endpoints, to be sent; then those that peers write to
 * @eps: endpoints, by their cookie
 * @ops: a batch
 * @stash: notes that came while there was something else to wait for
 * @nr_stash: how many
 * @events: fetched by read()
 * @nr_events: how many
 * @at_event: the first that is not consumed
 * @fd: epoll or eventfd, -1 if none
 * @ring: for WAIT_URING
 * @ring_up: it is there
 * @lazy_op: operation that goes with the next submission
 */
struct ours {
	struct link link;
	struct rnotify *ctx;
	struct rnotify_region *region;
	struct ours_ep *eps;
	struct rnotify_op *ops;
	struct note *stash;
	unsigned int nr_stash;
	struct rnotify_event events[READ_EVENTS];
	unsigned int nr_events;
	unsigned int at_event;
	int fd;
	struct io_uring ring;
	bool ring_up;
	struct rnotify_op lazy_op;
};

static inline struct ours *ours_of(struct link *link)
{
	return (struct ours *)(void *)link;
}

/* ours_wait.c: ways to wait, after the context has been opened */
int ours_wait_open(struct ours *o);
void ours_wait_close(struct ours *o);
int ours_wait(struct ours *o);
/* like rnotify_post() */
int ours_uring_flush(struct ours *o);
int ours_uring_post(struct ours *o, struct rnotify_op *ops, unsigned int n);

/* ours_setup.c */
struct link *ours_open(const struct run *run, bool server);
void ours_close(struct link *link);
int ours_listen(struct link *link, union address *addr);
int ours_accept(struct link *link);
int ours_connect(struct link *link, const union address *addr);
size_t ours_slot_offset(const struct run *run, bool incoming, uint32_t ep,
			uint32_t slot);

#endif /* _RNOTIFY_PERF_OURS_H */
