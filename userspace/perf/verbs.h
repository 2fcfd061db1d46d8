/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - what user space does without rnotify: libibverbs and librdmacm.
 *
 * Receives are posted ahead and again in batches, and never run out: who has
 * consumed and posted again half a window tells the other end with a credit,
 * which is an empty notification. Sends are unsignalled but for a few per
 * queue, small payload goes inline, and a batch is one list of work requests.
 *
 * The imm of a notification is its number; that of a credit has the top bit.
 */
#ifndef _RNOTIFY_PERF_VERBS_H
#define _RNOTIFY_PERF_VERBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "transport.h"

#define POLL_MAX 64
#define CREDIT_FLAG 0x80000000u
/* Receives for credits, beside those for notifications. */
#define CREDIT_RECVS 8u
/* A send queue has so many signalled work requests, and completions, at most. */
#define SIGNALLED 4u
/* Queues for the completions of receives, if one is not enough. */
#define RCQS_MAX 8u

/**
 * struct rcq - a completion queue for receives
 * @cq: of the device
 * @armed: it will tell the channel
 * @unacked: events of the channel to be acknowledged
 */
struct rcq {
	struct ibv_cq *cq;
	bool armed;
	unsigned int unacked;
};

/**
 * struct vconn - one connection
 * @id: of rdma_cm, with the queue pair
 * @remote_addr: the peer's slots
 * @rkey: their key
 * @sent: notifications posted
 * @credit: notifications that the peer has room for
 * @owed: notifications consumed, which the peer does not know of
 * @recvs: receives posted, modulo 2^32
 * @used_recvs: receives to be posted again
 * @sq_posted: send work requests posted
 * @sq_done: those that are known to be complete
 * @sq_asked: the last one that is signalled
 */
struct vconn {
	struct rdma_cm_id *id;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t sent;
	uint32_t credit;
	uint32_t owed;
	uint32_t recvs;
	uint32_t used_recvs;
	uint32_t sq_posted;
	uint32_t sq_done;
	uint32_t sq_asked;
};

/**
 * struct verbs - one end
 * @link: head
 * @events: of rdma_cm
 * @listener: NULL at the client
 * @pd: for all
 * @channel: completion channel of @rcqs; NULL when spinning
 * @rcqs: receives; connection n uses n % @nr_rcqs
 * @nr_rcqs: one, unless there are more connections than fit
 * @next_rcq: where polling goes on
 * @scq: sends
 * @memory: slots to be sent, slots that arrive, receive buffers
 * @mr: of @memory
 * @conns: connections, by number
 * @wcs: polled and not yet looked at
 * @nr_wcs: how many
 * @at_wc: the first of them
 * @epfd: for WAIT_EPOLL, else -1
 * @sq_size: send work requests of a connection
 * @rq_size: receives of a connection
 * @inline_max: bytes that the queue pairs take inline
 * @wrs: a batch
 * @sges: their payloads
 * @recv_wrs: receives that are posted in one list
 * @recv_sges: their buffers
 */
struct verbs {
	struct link link;
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct rcq rcqs[RCQS_MAX];
	unsigned int nr_rcqs;
	unsigned int next_rcq;
	struct ibv_cq *scq;
	char *memory;
	struct ibv_mr *mr;
	struct vconn *conns;
	struct ibv_wc wcs[POLL_MAX];
	int nr_wcs;
	int at_wc;
	int epfd;
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t inline_max;
	struct ibv_send_wr *wrs;
	struct ibv_sge *sges;
	struct ibv_recv_wr *recv_wrs;
	struct ibv_sge *recv_sges;
};

static inline struct verbs *verbs_of(struct link *link)
{
	return (struct verbs *)(void *)link;
}

/* Work requests of one notification. */
static inline uint32_t wrs_per_note(const struct verbs *v)
{
	return v->link.ops == &verbs_write_send ? 2 : 1;
}

/* Do receives take the payload? Else they take only the imm. */
static inline bool recvs_have_data(const struct verbs *v)
{
	return v->link.ops == &verbs_send && v->link.run->size;
}

static inline char *verbs_slot(struct verbs *v, bool incoming, uint32_t ep,
			       uint32_t slot)
{
	const struct run *run = v->link.run;

	return v->memory + ((incoming ? run->endpoints : 0) + (size_t)ep) *
		slots_bytes(run) + (size_t)slot * run->size;
}

static inline char *verbs_recv_buffer(struct verbs *v, uint32_t ep, uint32_t n)
{
	return verbs_slot(v, true, v->link.run->endpoints, 0) +
		((size_t)ep * v->rq_size + n % v->rq_size) * v->link.run->size;
}

/* verbs_setup.c */
struct link *verbs_open_as(const struct transport *ops, const struct run *run);
void verbs_close(struct link *link);
int verbs_listen(struct link *link, union address *addr);
int verbs_accept(struct link *link);
int verbs_connect(struct link *link, const union address *addr);

/* verbs_recv.c */
int verbs_post_recvs(struct verbs *v, uint32_t ep, uint32_t n);
int verbs_take(struct link *link, struct note *notes, unsigned int max);
int verbs_sleep(struct link *link, bool room, uint32_t ep);
int verbs_failed(const struct verbs *v, const struct ibv_wc *wc);

/* verbs_send.c */
int verbs_send_credit(struct verbs *v, uint32_t ep);

#endif /* _RNOTIFY_PERF_VERBS_H */
