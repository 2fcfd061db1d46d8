// SPDX-License-Identifier: GPL-2.0
/*
 * Both sides of a connection with queues for four send as fast as they can, for
 * ten minutes in make check-long (FAULTS 5). Credit messages have their places
 * in the queues, whatever is sent: no queue is ever overrun, no credit is lost.
 *
 * rvm: limit=60 long_limit=1000
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "rnt.h"

static const struct rnotify_params depth4 = {
	.recv_depth = 4, .send_depth = 4,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

/* One side: posts when it can, reads what is there. */
struct side {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	__u32 endpoint;
	uint64_t end_ns;
	unsigned int seed;
	__u32 sent;
	__u32 seen;
	__u32 done;		/* TX_DONE of each third */
	__u32 peer_total;
	bool over;		/* the peer has told its total */
	unsigned int writable;
};

#define TOTAL	0x80000000u	/* imm: the rest of it is how many there were */

static void on_event(struct side *s, const struct rnotify_event *ev)
{
	switch (ev->type) {
	case RNOTIFY_EVENT_WRITABLE:
		s->writable++;
		return;
	case RNOTIFY_EVENT_TX_DONE:
		rnt_check_eq(0, ev->tx.error);
		rnt_check_eq(3 * s->done, ev->tx.user_data);
		s->done++;
		return;
	}
	rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev->type);
	if (ev->notify.imm & TOTAL) {
		s->peer_total = ev->notify.imm & ~TOTAL;
		s->over = true;
		return;
	}
	rnt_check_eq(s->seen, ev->notify.imm);
	s->seen++;
}

static void side_read(struct side *s)
{
	struct rnotify_event ev;

	while (rnt_take(s->c, s->endpoint, &ev, 0))
		on_event(s, &ev);
}

/* True if one was accepted. */
static bool side_post(struct side *s)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, s->sent);
	int ret;

	op.user_data = s->sent;
	if (s->sent % 3 == 0)
		op.flags = RNOTIFY_OP_F_SIGNALED;
	ret = rnt_try(s->c, &op);
	if (ret) {
		rnt_check_eq(-EAGAIN, ret);
		return false;
	}
	s->sent++;
	return true;
}

static void *side_fn(void *arg)
{
	struct side *s = arg;
	struct rnotify_op op;

	while (rnt_now_ns() < s->end_ns) {
		bool posted = side_post(s);

		/* sometimes the other one has to wait */
		if (rand_r(&s->seed) % 1024 == 0)
			rnt_sleep_us(rand_r(&s->seed) % 5000);
		side_read(s);
		if (!posted)
			rnt_check(rnt_poll(s->c, POLLIN | POLLOUT,
					   RNT_PATIENCE_MS));
	}
	op = rnt_op_notify(s->endpoint, TOTAL | s->sent);
	while (rnt_try(s->c, &op)) {
		side_read(s);
		rnt_check(rnt_poll(s->c, POLLIN | POLLOUT, RNT_PATIENCE_MS));
	}
	while (!s->over || s->done < (s->sent + 2) / 3) {
		rnt_check(rnt_poll(s->c, POLLIN, RNT_PATIENCE_MS));
		side_read(s);
	}
	return NULL;
}

FIXTURE(soak)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(soak)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 32, 0);
	rnt_init(&self->b, 32, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &depth4, &depth4);
}

FIXTURE_TEARDOWN(soak)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

static void check_side(struct __test_metadata *_metadata, struct side *s,
		       const struct side *peer)
{
	struct rnotify_endpoint_info info;

	ASSERT_EQ(peer->sent, s->seen);
	ASSERT_EQ(peer->sent, s->peer_total);
	rnt_info(s->c, s->endpoint, &info);
	TH_LOG("%u sent, %u seen, %u WRITABLE, SQ %u of %u, RQ %u of %u, CQ %u of %u",
	       s->sent, s->seen, s->writable, info.sq_high, info.sq_size,
	       info.rq_size - info.rq_low, info.rq_size, info.cq_high,
	       info.cq_size);
}

TEST_F_TIMEOUT(soak, P2_both_ways_with_queues_of_four,
	       RNT_TIMEOUT_LONG(60, 900))
{
	unsigned int seconds = rnt_long() ? 600 : 15;
	struct side side[2];

	for (int i = 0; i < 2; i++)
		side[i] = (struct side){
			.c = i ? &self->b : &self->a,
			.endpoint = i ? self->p.eb : self->p.ea,
			.end_ns = rnt_now_ns() + seconds * 1000000000ull,
			.seed = rnt_now_ns(),
		};
	for (int i = 0; i < 2; i++)
		rnt_thread_start(&side[i].thread, side_fn, &side[i]);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(side[i].thread.thread, NULL));
	/* rings, queues and credits are at rest, and as they should be */
	rnt_settle(&self->p, true);
	for (int i = 0; i < 2; i++)
		check_side(_metadata, &side[i], &side[!i]);
}

TEST_HARNESS_MAIN
