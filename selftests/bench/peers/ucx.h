/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf with UCX: one end.
 *
 *	ucx.c		what is measured
 *	ucx_setup.c	making and ending
 */
#ifndef _RNOTIFY_BENCH_UCX_H
#define _RNOTIFY_BENCH_UCX_H

#include <ucp/api/ucp.h>

#include "peer.h"

#define DOORBELL 0	/* number of the active message */
#define CREDIT_FLAG 0x80000000u
/* Credits that UCX may not have sent yet; the peer has got all but two. */
#define CREDITS 8u

/**
 * struct flush - what we have in a request of UCX
 * @end: notifications that were put when the flush was asked for
 */
struct flush {
	uint32_t end;
};

/**
 * struct ucx - one end
 * @link: head
 * @listener: socket where addresses are exchanged, -1 at the client
 * @fd: the peer's, -1 if not connected
 * @context: UCX's device
 * @worker: its queues
 * @ep: the connection
 * @memh: registration of @memory
 * @rkey: the peer's
 * @remote: address of the peer's slots
 * @memory: slots to be sent, then those that arrive
 * @efd: the worker's, which tells of events
 * @epfd: for WAIT_EPOLL, else -1
 * @doorbells: headers on their way, by slot
 * @credits: the same of credits
 * @nr_credits: credits sent
 * @put: notifications whose payload has been put
 * @rung: those whose doorbell has been sent
 * @credit: notifications that the peer has room for
 * @owed: notifications consumed, which the peer does not know of
 * @arrived: doorbells that came, a ring of a window
 * @nr_arrived: how many ever
 * @taken: how many of them have been taken
 * @under_way: requests that UCX will complete by a callback
 * @status: of the first one that failed
 */
struct ucx {
	struct link link;
	int listener;
	int fd;
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_mem_h memh;
	ucp_rkey_h rkey;
	uint64_t remote;
	char *memory;
	int efd;
	int epfd;
	uint32_t *doorbells;
	uint32_t credits[CREDITS];
	uint32_t nr_credits;
	uint32_t put;
	uint32_t rung;
	uint32_t credit;
	uint32_t owed;
	uint32_t *arrived;
	uint32_t nr_arrived;
	uint32_t taken;
	uint32_t under_way;
	ucs_status_t status;
};

static inline struct ucx *ucx_of(struct link *link)
{
	return (struct ucx *)(void *)link;
}

static inline int broken(const char *what, ucs_status_t status)
{
	return fail("ucx: %s: %s", what, ucs_status_string(status));
}

static inline char *slot(struct ucx *u, bool incoming, uint32_t n)
{
	const struct run *run = u->link.run;

	return u->memory + (incoming ? slots_bytes(run) : 0) +
		(size_t)n * run->size;
}

/* ucx.c */
void ucx_send_credit(struct ucx *u);
ucs_status_t ucx_on_message(void *arg, const void *header, size_t len,
			    void *data, size_t data_len,
			    const ucp_am_recv_param_t *param);

/* ucx_setup.c */
struct link *ucx_open(const struct run *run, bool server);
int ucx_listen(struct link *link, union address *addr);
int ucx_accept(struct link *link);
int ucx_connect(struct link *link, const union address *addr);
void ucx_close(struct link *link);

#endif /* _RNOTIFY_BENCH_UCX_H */
