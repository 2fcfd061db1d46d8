// SPDX-License-Identifier: GPL-2.0
/*
 * Connections under haste: data that comes at once, many connects at a time,
 * ends at random moments (FAULTS 4, 12, 30, 40).
 *
 * rvm: limit=180
 */
#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(race)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_rnr rnr;
	unsigned int rounds;
	bool stop;
};

FIXTURE_SETUP(race)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 16384, 0);
	rnt_init(&self->b, 16384, 0);
	self->p.a = &self->a;
	self->p.b = &self->b;
	self->p.listener = rnt_listen(&self->b, rnt_addr4(), &self->p.port,
				      512);
}

FIXTURE_TEARDOWN(race)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

static const struct rnotify_params small = {
	.recv_depth = 4, .send_depth = 4,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

/* Takes its time before and after it accepts; answers what it gets. */
static void *slow_acceptor(void *arg)
{
	FIXTURE_DATA(race) *self = arg;
	struct rnotify_event ev;
	struct rnotify_op op;
	__u32 eb;

	for (unsigned int i = 0; i < self->rounds; i++) {
		eb = rnt_request(&self->b, NULL);
		rnt_sleep_us(i * 7919 % 20000);
		rnt_check_eq(0, rnt_accept(&self->b, eb, &small, i));
		rnt_sleep_us(i * 104729 % 20000);
		rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, &ev);
		rnt_check_eq(i, ev.cookie);
		rnt_expect_imms(&self->b, eb, i, 4);
		/* and at once back */
		op = rnt_op_notify(eb, ~i);
		rnt_post1(&self->b, &op);
		rnt_down(&self->b, eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&self->b, eb);
	}
	return NULL;
}

/* FAULTS 4: the client posts all its credits the moment it may. */
TEST_F(race, post_the_instant_it_is_established)
{
	struct rnt_thread t;
	struct rnotify_event ev;
	__u32 ea;

	self->rounds = rnt_count(200);
	rnt_thread_start(&t, slow_acceptor, self);
	for (unsigned int i = 0; i < self->rounds; i++) {
		struct rnotify_op ops[4];
		unsigned int accepted;

		for (__u32 j = 0; j < 4; j++)
			ops[j] = rnt_op_notify(0, i + j);
		ea = rnt_connect(&self->a, rnt_addr4(), self->p.port, &small,
				 i);
		for (int j = 0; j < 4; j++)
			ops[j].endpoint_id = ea;
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		ASSERT_EQ(0, rnt_post(&self->a, ops, 4, 0, &accepted, NULL));
		ASSERT_EQ(4, accepted);
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(~i, ev.notify.imm);
		rnt_destroy(&self->a, ea);
	}
	rnt_thread_join(&t);
}

/* FAULTS 40: all at once; each gets its own, and works. */
TEST_F(race, many_at_once)
{
	unsigned int n = rnt_count(256);
	__u32 *ea, *eb;

	if (n < 32)
		n = 32;
	ea = calloc(n, sizeof(*ea));
	eb = calloc(n, sizeof(*eb));
	for (unsigned int i = 0; i < n; i++)
		ea[i] = rnt_connect(&self->a, rnt_addr4(), self->p.port,
				    &small, i);
	for (unsigned int i = 0; i < n; i++) {
		eb[i] = rnt_request(&self->b, NULL);
		ASSERT_EQ(0, rnt_accept(&self->b, eb[i], &small, i));
	}
	for (unsigned int i = 0; i < n; i++) {
		struct rnotify_op op = rnt_op_notify(ea[i], i);

		rnt_expect(&self->a, ea[i], RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_expect(&self->b, eb[i], RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_post1(&self->a, &op);
	}
	/* each request was of another endpoint: all imms are there, once */
	for (unsigned int i = 0; i < n; i++) {
		struct rnotify_event ev;

		rnt_expect(&self->b, eb[i], RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_LT(ev.notify.imm, n);
		ASSERT_NE(0, ea[ev.notify.imm]);
		ea[ev.notify.imm] = 0;
	}
	free(ea);
	free(eb);
}

/* Accepts whatever comes, for as long as it comes. */
static void *acceptor(void *arg)
{
	FIXTURE_DATA(race) *self = arg;
	unsigned int down = 0;
	struct rnotify_event ev;

	while (down < self->rounds) {
		rnt_check(rnt_take(&self->b, 0, &ev, RNT_PATIENCE_MS));
		if (ev.type == RNOTIFY_EVENT_CONNECT_REQUEST) {
			int ret = rnt_accept(&self->b, ev.endpoint, &small, 0);

			rnt_check(ret == 0 || ret == -ENOTCONN);
		} else if (ev.type == RNOTIFY_EVENT_DISCONNECTED) {
			rnt_destroy(&self->b, ev.endpoint);
			down++;
		} else {
			rnt_check(ev.type == RNOTIFY_EVENT_ESTABLISHED ||
				  ev.type == RNOTIFY_EVENT_NOTIFY);
		}
	}
	return NULL;
}

/*
 * FAULTS 12: the sender ends while its stream runs. No imm twice, none out of
 * order: the helpers check seq, this checks imm; and what was confirmed was
 * delivered.
 */
TEST_F(race, disconnect_during_a_stream)
{
	unsigned int rounds = rnt_count(300);
	struct rnotify_params deep = small;
	struct rnotify_event ev, down;
	struct rnt_pair p;

	deep.recv_depth = 64;
	deep.send_depth = 64;
	for (unsigned int i = 0; i < rounds; i++) {
		__u32 posted = 0, got = 0;

		rnt_more(&self->p, &p, &deep, &deep);
		while (posted < 10 + i % 50) {
			struct rnotify_op op = rnt_op_notify(p.ea, posted);

			rnt_post1(p.a, &op);
			posted++;
		}
		if (i % 2) {
			rnt_disconnect(p.a, p.ea);
		} else {
			rnt_disconnect(p.b, p.eb);
		}
		for (;;) {
			ASSERT_TRUE(rnt_take(p.b, p.eb, &ev, RNT_PATIENCE_MS));
			if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
				break;
			ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev.type);
			ASSERT_EQ(got, ev.notify.imm);
			got++;
		}
		rnt_expect(p.a, p.ea, RNOTIFY_EVENT_DISCONNECTED, &down);
		ASSERT_LE(down.down.confirmed, got);
		ASSERT_LE(got, posted);
		/* who ends it itself in order loses nothing */
		if (i % 2) {
			ASSERT_EQ(posted, got);
			ASSERT_EQ(posted, down.down.confirmed);
		}
		rnt_destroy(p.a, p.ea);
		rnt_destroy(p.b, p.eb);
	}
}

/* Connect and destroy as fast as possible, against an eager acceptor. */
TEST_F(race, connect_and_destroy)
{
	struct rnotify_event ev;
	struct rnt_thread t;
	unsigned int seen = 0;

	/* each connection is established before it ends: each is seen there */
	self->rounds = rnt_count(300);
	rnt_thread_start(&t, acceptor, self);
	for (unsigned int i = 0; i < self->rounds; i++) {
		__u32 ea = rnt_connect(&self->a, rnt_addr4(), self->p.port,
				       &small, i);

		rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		if (i % 2) {
			struct rnotify_op op = rnt_op_notify(ea, i);

			rnt_post1(&self->a, &op);
		}
		rnt_destroy(&self->a, ea);
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		seen++;
	}
	rnt_thread_join(&t);
	ASSERT_EQ(self->rounds, seen);
}

static void *guesser(void *arg)
{
	FIXTURE_DATA(race) *self = arg;
	__u32 id = self->p.listener + 1;

	while (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE)) {
		int ret = rnt_disconnect(&self->b, id);

		if (!ret)
			id++;
		else
			rnt_check_eq(-ENOENT, ret);
	}
	return NULL;
}

/*
 * Somebody guesses the id of a request, and ends it before its event is written:
 * the request is its first event all the same.
 */
TEST_F(race, P7_request_ended_at_once)
{
	struct rnotify_event ev;
	struct rnt_thread t;

	rnt_thread_start(&t, guesser, self);
	for (unsigned int i = 0; i < rnt_count(300); i++) {
		__u32 ea = rnt_connect(&self->a, rnt_addr4(), self->p.port,
				       &small, i), eb;

		rnt_check(rnt_take(&self->b, 0, &ev, RNT_PATIENCE_MS));
		ASSERT_EQ(RNOTIFY_EVENT_CONNECT_REQUEST, ev.type);
		eb = ev.endpoint;
		rnt_expect(&self->b, eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		rnt_down(&self->a, ea, RNOTIFY_REASON_REJECTED, NULL);
		rnt_destroy(&self->a, ea);
		rnt_destroy(&self->b, eb);
	}
	__atomic_store_n(&self->stop, true, __ATOMIC_RELEASE);
	rnt_thread_join(&t);
}

/* Everything open, in all states, when both contexts close. */
TEST_F(race, close_in_all_states)
{
	for (unsigned int i = 0; i < rnt_count(20); i++) {
		struct rnt_ctx a, b;
		struct rnt_pair p;
		__u16 port = 0;
		__u32 eb;

		rnt_init(&a, 4096, 0);
		rnt_init(&b, 4096, 0);
		rnt_pair_open(&p, &a, &b, &small, &small);
		rnt_post_until_full(&a, p.ea, 0, RNOTIFY_OP_F_SIGNALED);
		rnt_listen(&b, rnt_addr4(), &port, 8);
		rnt_connect(&a, rnt_addr4(), port, &small, 0);
		eb = rnt_request(&b, NULL);
		rnt_connect(&a, rnt_addr4(), port, &small, 0);
		rnt_request(&b, NULL);
		rnt_connect(&a, rnt_addr4(), port + 1, &small, 0);
		rnt_connect(&a, rnt_addr4(), port, &small, 0);
		ASSERT_EQ(0, rnt_accept(&b, eb, &small, 0));
		rnt_disconnect(&a, p.ea);
		if (i % 2) {
			rnt_close(&a);
			rnt_close(&b);
		} else {
			rnt_close(&b);
			rnt_close(&a);
		}
	}
}

TEST_HARNESS_MAIN
