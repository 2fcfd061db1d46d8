// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - verbs: the receiving half, and sleeping.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "verbs.h"

/* Acknowledging takes a lock: many at a time. */
#define ACK_EVERY 64

int verbs_failed(const struct verbs *v, const struct ibv_wc *wc)
{
	return fail("%s: a work request failed: %s (vendor error %#x)",
		    v->link.ops->name, ibv_wc_status_str(wc->status),
		    wc->vendor_err);
}

int verbs_post_recvs(struct verbs *v, uint32_t ep, uint32_t n)
{
	struct vconn *c = &v->conns[ep];
	struct ibv_recv_wr *bad;
	uint32_t i;
	int err;

	for (i = 0; i < n; i++, c->recvs++) {
		struct ibv_recv_wr *wr = &v->recv_wrs[i];

		wr->wr_id = (uint64_t)ep << 32 | c->recvs % v->rq_size;
		wr->next = i + 1 < n ? wr + 1 : NULL;
		wr->sg_list = &v->recv_sges[i];
		wr->num_sge = recvs_have_data(v) ? 1 : 0;
		v->recv_sges[i].addr =
			(uintptr_t)verbs_recv_buffer(v, ep, c->recvs);
	}
	err = ibv_post_recv(c->id->qp, v->recv_wrs, &bad);
	return err ? fail("%s: ibv_post_recv: %s", v->link.ops->name,
			  strerror(err)) : 0;
}

/* Half a window has been consumed: post again, and tell the other end. */
static int replenish(struct verbs *v, uint32_t ep)
{
	struct vconn *c = &v->conns[ep];
	uint32_t n = c->used_recvs;

	c->used_recvs = 0;
	if (verbs_post_recvs(v, ep, n))
		return EXIT_FAILED;
	return c->owed ? verbs_send_credit(v, ep) : 0;
}

/* 1: a notification; 0: a credit; or failure */
static int look_at(struct verbs *v, const struct ibv_wc *wc, struct note *note)
{
	uint32_t ep = (uint32_t)(wc->wr_id >> 32);
	struct vconn *c = &v->conns[ep];
	uint32_t imm, half = v->link.run->window / 2;
	bool credit;

	if (wc->status) {
		verbs_failed(v, wc);
		return -1;
	}
	imm = ntohl(wc->imm_data);
	credit = imm & CREDIT_FLAG;
	if (credit) {
		c->credit += imm & ~CREDIT_FLAG;
	} else {
		c->owed++;
		note->endpoint = ep;
		note->number = imm;
		if (recvs_have_data(v))
			memcpy(verbs_slot(v, true, ep,
					  imm % slots_of(v->link.run)),
			       verbs_recv_buffer(v, ep, (uint32_t)wc->wr_id),
			       v->link.run->size);
	}
	if (++c->used_recvs >= (half ? half : 1) && replenish(v, ep))
		return -1;
	return !credit;
}

/* The next queue that has something. */
static int poll_more(struct verbs *v)
{
	unsigned int i;

	v->at_wc = 0;
	for (i = 0; i < v->nr_rcqs; i++) {
		v->nr_wcs = ibv_poll_cq(v->rcqs[v->next_rcq].cq, POLL_MAX,
					v->wcs);
		if (++v->next_rcq == v->nr_rcqs)
			v->next_rcq = 0;
		if (v->nr_wcs < 0)
			return fail("%s: polling failed", v->link.ops->name);
		if (v->nr_wcs)
			break;
	}
	return 0;
}

int verbs_take(struct link *link, struct note *notes, unsigned int max)
{
	struct verbs *v = verbs_of(link);
	unsigned int have = 0;
	int ret;

	if (v->at_wc == v->nr_wcs && poll_more(v))
		return -1;
	while (have < max && v->at_wc < v->nr_wcs) {
		ret = look_at(v, &v->wcs[v->at_wc++], &notes[have]);
		if (ret < 0)
			return ret;
		have += (unsigned int)ret;
	}
	return (int)have;
}

/* ---- sleeping ---- */

static int await_channel(struct verbs *v)
{
	struct epoll_event event;
	struct ibv_cq *cq;
	struct rcq *rcq;
	void *arg;

	if (v->epfd >= 0)
		while (epoll_wait(v->epfd, &event, 1, -1) < 0)
			if (errno != EINTR)
				return fail("epoll: %s", strerror(errno));
	while (ibv_get_cq_event(v->channel, &cq, &arg))
		if (errno != EINTR)
			return fail("ibv_get_cq_event: %s", strerror(errno));
	rcq = arg;
	rcq->armed = false;
	if (++rcq->unacked == ACK_EVERY) {
		ibv_ack_cq_events(cq, rcq->unacked);
		rcq->unacked = 0;
	}
	return 0;
}

/* 1: something was armed; 0: everything was; or failure */
static int arm(struct verbs *v)
{
	unsigned int i;
	int err, any = 0;

	for (i = 0; i < v->nr_rcqs; i++) {
		if (v->rcqs[i].armed)
			continue;
		err = ibv_req_notify_cq(v->rcqs[i].cq, 0);
		if (err) {
			fail("ibv_req_notify_cq: %s", strerror(err));
			return -1;
		}
		v->rcqs[i].armed = true;
		any = 1;
	}
	return any;
}

/* Arm, look again, sleep. An arming that was not needed stays for the next time. */
static int arm_and_sleep(struct verbs *v)
{
	int any = arm(v);

	if (any < 0 || (any && poll_more(v)))
		return EXIT_FAILED;
	if (any && v->nr_wcs)
		return 0;
	v->link.sleeps++;
	return await_channel(v);
}

static int look_for_a_while(struct verbs *v)
{
	uint64_t until = now_ns() + v->link.run->spin_us * 1000ull;

	do {
		if (poll_more(v))
			return EXIT_FAILED;
	} while (!v->nr_wcs && now_ns() < until);
	return 0;
}

static int await_completion(struct verbs *v)
{
	if (v->link.run->wait == WAIT_SPIN)
		return 0;
	if (v->link.run->wait == WAIT_ADAPTIVE &&
	    (look_for_a_while(v) || v->nr_wcs))
		return v->nr_wcs < 0 ? EXIT_FAILED : 0;
	return arm_and_sleep(v);
}

/*
 * For room: until a credit comes. What else comes stays where it is: nothing is
 * under way towards an end that waits for room, in what is measured here, before
 * it has got it.
 */
int verbs_sleep(struct link *link, bool room, uint32_t ep)
{
	struct verbs *v = verbs_of(link);
	struct note note;
	int ret;

	if (!room)
		return await_completion(v);
	while (!v->conns[ep].credit) {
		ret = verbs_take(link, &note, 1);
		if (ret > 0)
			return fail("%s: a notification while waiting for room",
				    link->ops->name);
		if (ret < 0)
			return EXIT_FAILED;
		if (!v->conns[ep].credit && v->at_wc == v->nr_wcs &&
		    await_completion(v))
			return EXIT_FAILED;
	}
	/* Else it is the send queue: its completions are about to come. */
	return 0;
}
