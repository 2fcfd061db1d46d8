// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - verbs: the sending half, and the three transports.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "verbs.h"

static uint32_t sq_room(const struct vconn *c, const struct verbs *v)
{
	return v->sq_size - (c->sq_posted - c->sq_done);
}

/* Completions come in order, and each stands for all before it. */
static int reap_sends(struct verbs *v)
{
	struct ibv_wc wc[16];
	int i, n = ibv_poll_cq(v->scq, 16, wc);

	if (n < 0)
		return fail("%s: polling failed", v->link.ops->name);
	for (i = 0; i < n; i++) {
		if (wc[i].status)
			return verbs_failed(v, &wc[i]);
		v->conns[wc[i].wr_id >> 32].sq_done = (uint32_t)wc[i].wr_id;
	}
	return 0;
}

/* One work request more; a few per queue are signalled, to get room back. */
static void finish_wr(struct verbs *v, uint32_t ep, struct ibv_send_wr *wr)
{
	struct vconn *c = &v->conns[ep];

	c->sq_posted++;
	wr->wr_id = (uint64_t)ep << 32 | c->sq_posted;
	if (c->sq_posted - c->sq_asked >= v->sq_size / SIGNALLED) {
		wr->send_flags |= IBV_SEND_SIGNALED;
		c->sq_asked = c->sq_posted;
	}
}

static void prepare_payload(struct verbs *v, uint32_t ep, uint32_t number,
			    struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	const struct run *run = v->link.run;
	uint32_t slot = number % slots_of(run);
	const struct vconn *c = &v->conns[ep];

	sge->addr = (uintptr_t)verbs_slot(v, false, ep, slot);
	sge->length = run->size;
	sge->lkey = v->mr->lkey;
	wr->sg_list = sge;
	wr->num_sge = run->size ? 1 : 0;
	wr->send_flags = run->size <= v->inline_max ? IBV_SEND_INLINE : 0;
	wr->wr.rdma.remote_addr = c->remote_addr + (uint64_t)slot * run->size;
	wr->wr.rdma.rkey = c->rkey;
}

/* The work requests of notification @number; returns the last one. */
static struct ibv_send_wr *prepare(struct verbs *v, uint32_t ep,
				   uint32_t number, struct ibv_send_wr *wr,
				   struct ibv_sge *sge)
{
	prepare_payload(v, ep, number, wr, sge);
	if (v->link.ops == &verbs_write_imm) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	} else if (v->link.ops == &verbs_send) {
		wr->opcode = IBV_WR_SEND_WITH_IMM;
	} else {
		wr->opcode = IBV_WR_RDMA_WRITE;
		finish_wr(v, ep, wr);
		wr->next = wr + 1;
		wr++;
		wr->opcode = IBV_WR_SEND_WITH_IMM;
		wr->num_sge = 0;
		wr->send_flags = 0;
	}
	wr->imm_data = htonl(number);
	finish_wr(v, ep, wr);
	return wr;
}

static int post_list(struct verbs *v, struct vconn *c)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(c->id->qp, v->wrs, &bad);

	return err ? fail("%s: ibv_post_send: %s", v->link.ops->name,
			  strerror(err)) : 0;
}

static int verbs_post(struct link *link, uint32_t ep, unsigned int n)
{
	struct verbs *v = verbs_of(link);
	struct vconn *c = &v->conns[ep];
	uint32_t each = wrs_per_note(v);
	struct ibv_send_wr *last = NULL, *wr = v->wrs;
	unsigned int i;

	if (n > link->run->batch)
		n = link->run->batch;
	if (n > c->credit)
		n = c->credit;
	/* Not more often than needed: it touches the queue that the device writes */
	if (sq_room(c, v) < n * each + CREDIT_RECVS && reap_sends(v))
		return -1;
	while (n && sq_room(c, v) < n * each)
		n--;
	if (!n)
		return 0;
	for (i = 0; i < n; i++, wr = last + 1) {
		if (last)
			last->next = wr;
		last = prepare(v, ep, c->sent + i, wr, &v->sges[i]);
	}
	last->next = NULL;
	if (post_list(v, c))
		return -1;
	c->sent += n;
	c->credit -= n;
	return (int)n;
}

int verbs_send_credit(struct verbs *v, uint32_t ep)
{
	struct vconn *c = &v->conns[ep];

	while (!sq_room(c, v))
		if (reap_sends(v))
			return EXIT_FAILED;
	v->wrs[0] = (struct ibv_send_wr){
		.opcode = v->link.ops == &verbs_write_imm ?
			IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(CREDIT_FLAG | c->owed),
	};
	finish_wr(v, ep, &v->wrs[0]);
	c->owed = 0;
	return post_list(v, c);
}

/* ---- the three of them ---- */

static struct link *open_write_imm(const struct run *run, bool server)
{
	(void)server;
	return verbs_open_as(&verbs_write_imm, run);
}

static struct link *open_write_send(const struct run *run, bool server)
{
	(void)server;
	return verbs_open_as(&verbs_write_send, run);
}

static struct link *open_send(const struct run *run, bool server)
{
	(void)server;
	return verbs_open_as(&verbs_send, run);
}

static void *verbs_sent(struct link *link, uint32_t ep, uint32_t slot)
{
	return verbs_slot(verbs_of(link), false, ep, slot);
}

static void *verbs_got(struct link *link, uint32_t ep, uint32_t slot)
{
	return verbs_slot(verbs_of(link), true, ep, slot);
}

#define VERBS_COMMON \
	.waits = WAIT_BIT(WAIT_SPIN) | WAIT_BIT(WAIT_ADAPTIVE) | \
		WAIT_BIT(WAIT_BLOCK) | WAIT_BIT(WAIT_EPOLL), \
	.listen = verbs_listen, \
	.accept = verbs_accept, \
	.connect = verbs_connect, \
	.close = verbs_close, \
	.post = verbs_post, \
	.take = verbs_take, \
	.sleep = verbs_sleep, \
	.sent = verbs_sent, \
	.got = verbs_got

const struct transport verbs_write_imm = {
	.name = "write_imm",
	.summary = "verbs in user space: RDMA WRITE WITH IMMEDIATE",
	.open = open_write_imm,
	VERBS_COMMON,
};

const struct transport verbs_write_send = {
	.name = "write_send",
	.summary = "verbs in user space: RDMA WRITE, then SEND",
	.open = open_write_send,
	VERBS_COMMON,
};

const struct transport verbs_send = {
	.name = "send",
	.summary = "verbs in user space: SEND, and a copy at the receiver",
	.open = open_send,
	VERBS_COMMON,
};
