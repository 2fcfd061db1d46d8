// SPDX-License-Identifier: GPL-2.0
/*
 * Long streams through small windows: nothing lost, doubled or reordered, with
 * readers that stall, that only spin, that ignore need_kick (P1, P2, FAULTS
 * 1). Both sides sending at full rate: flow_soak.c.
 *
 * rvm: limit=60 long_limit=900
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(stream)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(stream)
{
	rnt_rnr_read(&self->rnr);
}

FIXTURE_TEARDOWN(stream)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

static struct rnotify_params depths(unsigned int recv, unsigned int send)
{
	return (struct rnotify_params){
		.recv_depth = recv, .send_depth = send,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
}

static void open_pair(FIXTURE_DATA(stream) *self, unsigned int ring_a,
		      unsigned int ring_b, struct rnotify_params pa,
		      struct rnotify_params pb)
{
	rnt_init(&self->a, ring_a, 0);
	rnt_init(&self->b, ring_b, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &pa, &pb);
}

/* A thread that posts imms from 0 on, in batches of random length. */
struct sender {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	__u32 endpoint;
	unsigned int total;
	unsigned int max_batch;
	unsigned int seed;
	bool nonblock;		/* sleep in poll(), not in POST */
};

static void *sender_fn(void *arg)
{
	struct sender *s = arg;
	struct rnotify_op ops[32];
	unsigned int sent = 0, done, n;
	int ret;

	while (sent < s->total) {
		n = 1 + rand_r(&s->seed) % s->max_batch;
		if (n > s->total - sent)
			n = s->total - sent;
		for (unsigned int i = 0; i < n; i++)
			ops[i] = rnt_op_notify(s->endpoint, sent + i);
		ret = rnt_post(s->c, ops, n, s->nonblock ? 0 : RNT_PATIENCE_MS,
			       &done, NULL);
		sent += done;
		if (ret != -EAGAIN) {
			rnt_check_eq(0, ret);
			continue;
		}
		rnt_check(rnt_poll(s->c, POLLOUT, RNT_PATIENCE_MS) & POLLOUT);
		/* WRITABLE events: nobody else reads this ring */
		rnt_consume(s->c, rnt_pending(s->c));
	}
	return NULL;
}

static void sender_start(struct sender *s, struct rnt_ctx *c, __u32 endpoint,
			 unsigned int total, unsigned int max_batch,
			 bool nonblock)
{
	*s = (struct sender){
		.c = c, .endpoint = endpoint, .total = total,
		.max_batch = max_batch, .nonblock = nonblock,
		.seed = rnt_now_ns(),
	};
	rnt_thread_start(&s->thread, sender_fn, s);
}

/*
 * FAULTS 1: every accepted notification arrives, once, in order, through the
 * smallest ring that can hold the endpoint, whatever pauses the reader makes.
 */
static void conserve(struct __test_metadata *_metadata,
		     FIXTURE_DATA(stream) *self, unsigned int total,
		     bool nonblock)
{
	unsigned int seed = rnt_now_ns();
	struct rnotify_event ev;
	struct sender s;

	/* 4 + 1 + 3 entries are the whole ring of 8 */
	open_pair(self, 8, 64, depths(4, 1), depths(1, 16));
	sender_start(&s, &self->b, self->p.eb, total, 16, nonblock);
	for (unsigned int i = 0; i < total; i++) {
		rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
		if (rand_r(&seed) % 256 == 0)
			rnt_sleep_us(rand_r(&seed) % 3000);
	}
	rnt_thread_join(&s.thread);
	rnt_expect_none(&self->a, self->p.ea, 1);
	rnt_settle(&self->p, true);
}

TEST_F_TIMEOUT(stream, P1_conservation, RNT_TIMEOUT_LONG(40, 300))
{
	conserve(_metadata, self, rnt_rounds(60000, 100000), false);
}

TEST_F_TIMEOUT(stream, P1_conservation_nonblock, RNT_TIMEOUT_LONG(40, 300))
{
	conserve(_metadata, self, rnt_rounds(30000, 100000), true);
}

/*
 * A reader that never sleeps, and makes no system call but a KICK when it is
 * asked for one. kicks NULL: not even that.
 */
static void spin(struct rnt_ctx *c, unsigned int total, unsigned int *kicks)
{
	uint64_t deadline = rnt_deadline(3 * RNT_PATIENCE_MS);

	for (unsigned int i = 0; i < total;) {
		const struct rnotify_event *ev = rnt_peek(c);

		if (!ev) {
			if (rnt_now_ns() > deadline)
				rnt_fail("%u of %u events came", i, total);
			continue;
		}
		rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev->type);
		rnt_check_eq(i, ev->notify.imm);
		rnt_check_eq(i + 1, ev->seq);
		i++;
		c->cons++;
		__atomic_store_n(&c->tail->cons, c->cons, __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (kicks &&
		    __atomic_load_n(&c->head->need_kick, __ATOMIC_RELAXED)) {
			rnt_kick(c);
			++*kicks;
		}
	}
}

/*
 * A grant covers half a window at the least, but for the times when the peer is
 * starved: then each event takes a KICK until the CREDIT before is acknowledged.
 * How long that is depends on who else wants the processors; it is not for ever.
 */
TEST_F(stream, P3_spinning_reader)
{
	unsigned int total = rnt_count(60000), kicks = 0;
	struct sender s;

	open_pair(self, 256, 64, depths(64, 1), depths(1, 16));
	sender_start(&s, &self->b, self->p.eb, total, 16, false);
	spin(&self->a, total, &kicks);
	rnt_thread_join(&s.thread);
	TH_LOG("%u events, %u KICKs", total, kicks);
	ASSERT_LT(kicks, total);
	rnt_settle(&self->p, true);
}

/* The same with the smallest windows: each event may need its KICK, not more. */
TEST_F(stream, P3_spinning_reader_small_windows)
{
	static const unsigned int windows[] = { 1, 2, 3, 4, 7 };
	unsigned int total = rnt_count(6000);

	open_pair(self, 256, 256, depths(1, 1), depths(1, 1));
	for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++) {
		struct rnotify_params pa = depths(windows[i], 1);
		struct rnotify_params pb = depths(1, 16);
		unsigned int kicks = 0;
		struct rnt_pair q;
		struct sender s;

		rnt_more(&self->p, &q, &pa, &pb);
		sender_start(&s, q.b, q.eb, total, 16, false);
		spin(q.a, total, &kicks);
		rnt_thread_join(&s.thread);
		TH_LOG("window %u: %u events, %u KICKs", windows[i], total,
		       kicks);
		/* spin() took the events behind the back of rnt_take() */
		rnt_settle(&q, true);
	}
}

/* No KICK at all: slow, by the kernel's timer, but nothing is lost or stuck. */
TEST_F(stream, P3_reader_ignores_need_kick)
{
	unsigned int total = 8 * 4;
	struct sender s;

	open_pair(self, 64, 64, depths(4, 1), depths(1, 16));
	sender_start(&s, &self->b, self->p.eb, total, 4, false);
	spin(&self->a, total, NULL);
	rnt_thread_join(&s.thread);
	rnt_settle(&self->p, true);
}

/* Two endpoints, one reader, one of them with a much smaller window. */
TEST_F(stream, P1_two_endpoints_one_reader)
{
	struct rnotify_params pa = depths(2, 1), pb = depths(1, 16);
	unsigned int next[2] = { 0, 0 }, total = rnt_count(10000);
	struct rnotify_event ev;
	struct sender s[2];
	struct rnt_pair q;

	open_pair(self, 128, 128, depths(64, 1), depths(1, 16));
	rnt_more(&self->p, &q, &pa, &pb);
	sender_start(&s[0], &self->b, self->p.eb, total, 16, false);
	sender_start(&s[1], &self->b, q.eb, total, 16, false);
	for (unsigned int i = 0; i < 2 * total; i++) {
		int k;

		rnt_expect(&self->a, 0, RNOTIFY_EVENT_NOTIFY, &ev);
		k = ev.endpoint == q.ea;
		if (!k)
			ASSERT_EQ(self->p.ea, ev.endpoint);
		ASSERT_EQ(next[k], ev.notify.imm);
		next[k]++;
	}
	ASSERT_EQ(total, next[0]);
	ASSERT_EQ(total, next[1]);
	rnt_thread_join(&s[0].thread);
	rnt_thread_join(&s[1].thread);
	rnt_settle(&self->p, true);
	rnt_settle(&q, true);
}

/* P3: a reader of two endpoints that is starved by neither of them alone. */
TEST_F(stream, P3_unread_endpoint_stalls_itself_only)
{
	struct rnotify_params pa = depths(4, 1), pb = depths(1, 16);
	unsigned int total = rnt_count(3000);
	struct rnt_ctx c;
	struct rnt_pair q;

	open_pair(self, 64, 64, depths(4, 1), depths(1, 16));
	/* a context of its own that nobody reads, with the same peer */
	rnt_init(&c, 64, 0);
	rnt_pair_open(&q, &c, &self->b, &pa, &pb);
	ASSERT_EQ(4, rnt_post_until_full(&self->b, q.eb, 0, 0));
	for (unsigned int i = 0; i < total; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.eb, i);

		rnt_post1(&self->b, &op);
		if (i % 4 == 3)
			rnt_expect_imms(&self->a, self->p.ea, i - 3, 4);
	}
	ASSERT_EQ(0, rnt_post_until_full(&self->b, q.eb, 0, 0));
	rnt_expect_imms(&c, q.ea, 0, 4);
	rnt_settle(&q, true);
	rnt_close(&c);
}

TEST_HARNESS_MAIN
