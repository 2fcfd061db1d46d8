// SPDX-License-Identifier: GPL-2.0
/*
 * How connections end: by whom, in which state and order. Each endpoint gets
 * exactly one DISCONNECTED, and nothing behind it, which the helpers check for
 * every event (FAULTS 30, 39; P7).
 *
 * rvm: limit=120
 */
#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(end)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
};

FIXTURE_SETUP(end)
{
	rnt_init(&self->a, 4096, 0);
	rnt_init(&self->b, 4096, 0);
}

FIXTURE_TEARDOWN(end)
{
	if (self->a.fd >= 0)
		rnt_close(&self->a);
	if (self->b.fd >= 0)
		rnt_close(&self->b);
}

/* The request of a new connection that nobody has answered. */
static void open_request(FIXTURE_DATA(end) *self)
{
	struct rnt_pair *p = &self->p;

	p->a = &self->a;
	p->b = &self->b;
	if (!p->listener)
		p->listener = rnt_listen(p->b, rnt_addr4(), &p->port, 4);
	p->ea = rnt_connect(p->a, rnt_addr4(), p->port, NULL, 0xa);
	p->eb = rnt_request(p->b, NULL);
}

static void open_pair(FIXTURE_DATA(end) *self)
{
	open_request(self);
	rnt_check_eq(0, rnt_accept(self->p.b, self->p.eb, NULL, 0xb));
	rnt_expect(self->p.a, self->p.ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(self->p.b, self->p.eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

/* Both ended: ids go, nothing comes. */
static void gone(FIXTURE_DATA(end) *self)
{
	struct rnt_pair *p = &self->p;

	rnt_destroy_err(p->a, p->ea);
	rnt_destroy_err(p->b, p->eb);
	rnt_check_eq(-ENOENT, rnt_destroy_err(p->a, p->ea));
	rnt_check_eq(-ENOENT, rnt_destroy_err(p->b, p->eb));
	rnt_check_eq(-ENOENT, rnt_disconnect(p->a, p->ea));
	rnt_expect_none(p->a, 0, 5);
	rnt_expect_none(p->b, 0, 5);
}

TEST_F(end, active_disconnects)
{
	struct rnotify_event ev;

	open_pair(self);
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	/* twice is no error */
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
	EXPECT_EQ(0, ev.down.error);
	EXPECT_EQ(0, ev.down.ib_status);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	ASSERT_EQ(0, rnt_disconnect(&self->b, self->p.eb));
	gone(self);
}

TEST_F(end, passive_disconnects)
{
	open_pair(self);
	ASSERT_EQ(0, rnt_disconnect(&self->b, self->p.eb));
	rnt_down(&self->b, self->p.eb, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_CLOSE, NULL);
	gone(self);
}

/* The last event is in the ring when DESTROY returns. */
TEST_F(end, destroy)
{
	struct rnotify_event ev;

	for (int side = 0; side < 2; side++) {
		struct rnt_ctx *x = side ? &self->b : &self->a;
		struct rnt_ctx *y = side ? &self->a : &self->b;
		__u32 ex, ey;

		open_pair(self);
		ex = side ? self->p.eb : self->p.ea;
		ey = side ? self->p.ea : self->p.eb;
		rnt_destroy(x, ex);
		ASSERT_TRUE(rnt_take(x, ex, &ev, 0));
		ASSERT_EQ(RNOTIFY_EVENT_DISCONNECTED, ev.type);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		rnt_down(y, ey, RNOTIFY_REASON_PEER_CLOSE, NULL);
		gone(self);
	}
}

/* DISCONNECT, and at once the fd is closed: the first counts. */
TEST_F(end, disconnect_then_close)
{
	self->p.listener = rnt_listen(&self->b, rnt_addr4(), &self->p.port, 4);
	for (unsigned int i = 0; i < rnt_count(150); i++) {
		struct rnotify_event ev;
		struct rnt_ctx c;
		__u32 ec, eb;

		rnt_init(&c, 512, 0);
		ec = rnt_connect(&c, rnt_addr4(), self->p.port, NULL, 0);
		eb = rnt_request(&self->b, NULL);
		ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
		rnt_expect(&c, ec, RNOTIFY_EVENT_ESTABLISHED, NULL);
		if (i % 2) {
			struct rnotify_op op = rnt_op_notify(ec, i);

			rnt_post1(&c, &op);
		}
		ASSERT_EQ(0, rnt_disconnect(&c, ec));
		rnt_close(&c);
		rnt_down(&self->b, eb, RNOTIFY_REASON_PEER_CLOSE, &ev);
		ASSERT_EQ(i % 2, ev.down.delivered);
		rnt_destroy(&self->b, eb);
	}
}

/* Both at once: each is who closed, or was told; never anything else. */
TEST_F(end, both_at_once)
{
	unsigned int rounds = rnt_count(60);
	struct rnotify_event ev;

	for (unsigned int i = 0; i < rounds; i++) {
		open_pair(self);
		ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
		if (i % 3)
			rnt_sleep_us(i * 37 % 2000);
		ASSERT_EQ(0, rnt_disconnect(&self->b, self->p.eb));
		rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_LOCAL_CLOSE,
			 NULL);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_DISCONNECTED,
			   &ev);
		ASSERT_TRUE(ev.down.reason == RNOTIFY_REASON_LOCAL_CLOSE ||
			    ev.down.reason == RNOTIFY_REASON_PEER_CLOSE);
		gone(self);
	}
}

/* What was posted before is completed before (P7: it never overtakes data). */
TEST_F(end, orderly_with_data)
{
	struct rnotify_event ev;

	open_pair(self);
	for (__u32 i = 0; i < 64; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, i);

		op.flags = RNOTIFY_OP_F_SIGNALED;
		op.user_data = i;
		rnt_post1(&self->a, &op);
	}
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	for (__u32 i = 0; i < 64; i++) {
		rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_TX_DONE, &ev);
		ASSERT_EQ(i, ev.tx.user_data);
		ASSERT_EQ(0, ev.tx.error);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
	}
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(64, ev.down.confirmed);
	EXPECT_EQ(0, ev.down.delivered);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(0, ev.down.confirmed);
	EXPECT_EQ(64, ev.down.delivered);
	gone(self);
}

/* Posting on an endpoint says in which state it is. */
TEST_F(end, post_errnos)
{
	struct rnotify_share share = { .rights = RNOTIFY_RIGHT_READ };
	struct rnt_region r;
	struct rnotify_op op;

	rnt_region_alloc(&self->a, &r, 64);
	open_request(self);
	share.endpoint_id = self->p.ea;
	share.region_id = r.id;
	op = rnt_op_notify(self->p.ea, 1);
	EXPECT_EQ(-ENOTCONN, rnt_try(&self->a, &op));
	EXPECT_EQ(-ENOTCONN, rnt_post(&self->a, &op, 1, 1000, NULL, NULL));
	EXPECT_EQ(-ENOTCONN, rnt_share_err(&self->a, &share));
	op.endpoint_id = self->p.eb;
	EXPECT_EQ(-ENOTCONN, rnt_try(&self->b, &op));
	ASSERT_EQ(0, rnt_accept(&self->b, self->p.eb, NULL, 0));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	ASSERT_EQ(0, rnt_try(&self->b, &op));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_NOTIFY, NULL);
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	op.endpoint_id = self->p.ea;
	EXPECT_EQ(-ESHUTDOWN, rnt_try(&self->a, &op));
	EXPECT_EQ(-ESHUTDOWN, rnt_post(&self->a, &op, 1, 1000, NULL, NULL));
	rnt_down(&self->b, self->p.eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
	op.endpoint_id = self->p.eb;
	EXPECT_EQ(-ESHUTDOWN, rnt_try(&self->b, &op));
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	EXPECT_EQ(-ENOTCONN, rnt_share_err(&self->a, &share));
	rnt_destroy(&self->a, self->p.ea);
	op.endpoint_id = self->p.ea;
	EXPECT_EQ(-ENOENT, rnt_try(&self->a, &op));
	gone(self);
}

/* An answer can be given once. */
TEST_F(end, answered_twice)
{
	open_request(self);
	ASSERT_EQ(0, rnt_accept(&self->b, self->p.eb, NULL, 0));
	EXPECT_EQ(-EISCONN, rnt_accept(&self->b, self->p.eb, NULL, 0));
	EXPECT_EQ(-EISCONN, rnt_reject(&self->b, self->p.eb));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	EXPECT_EQ(-EISCONN, rnt_accept(&self->b, self->p.eb, NULL, 0));
	EXPECT_EQ(-EISCONN, rnt_reject(&self->b, self->p.eb));
	/* nor is the active side one to answer */
	EXPECT_EQ(-EISCONN, rnt_accept(&self->a, self->p.ea, NULL, 0));
	EXPECT_EQ(-EISCONN, rnt_reject(&self->a, self->p.ea));
	rnt_destroy(&self->a, self->p.ea);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, NULL);
	rnt_down(&self->b, self->p.eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
	EXPECT_EQ(-ENOTCONN, rnt_accept(&self->b, self->p.eb, NULL, 0));
	EXPECT_EQ(-ENOTCONN, rnt_reject(&self->b, self->p.eb));

	open_request(self);
	ASSERT_EQ(0, rnt_reject(&self->b, self->p.eb));
	EXPECT_EQ(-ENOTCONN, rnt_reject(&self->b, self->p.eb));
	EXPECT_EQ(-ENOTCONN, rnt_accept(&self->b, self->p.eb, NULL, 0));
	rnt_down(&self->b, self->p.eb, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_REJECTED, NULL);
	EXPECT_EQ(-ENOTCONN, rnt_reject(&self->b, self->p.eb));
	gone(self);
}

/* The active side gives up while the request waits. */
TEST_F(end, peer_gives_up)
{
	struct rnotify_event ev;

	for (int how = 0; how < 3; how++) {
		open_request(self);
		if (how == 0) {
			ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
		} else if (how == 1) {
			rnt_destroy(&self->a, self->p.ea);
		} else {
			rnt_close(&self->a);
		}
		if (how < 2) {
			rnt_expect(&self->a, self->p.ea,
				   RNOTIFY_EVENT_DISCONNECTED, &ev);
			EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
			EXPECT_EQ(RNOTIFY_STAGE_CONNECT, ev.down.stage);
		}
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_DISCONNECTED,
			   &ev);
		EXPECT_EQ(RNOTIFY_STAGE_ACCEPT, ev.down.stage);
		EXPECT_NE(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		EXPECT_LT(ev.down.error, 0);
		EXPECT_EQ(-ENOTCONN, rnt_accept(&self->b, self->p.eb, NULL,
						0));
		EXPECT_EQ(-ENOTCONN, rnt_reject(&self->b, self->p.eb));
		rnt_destroy(&self->b, self->p.eb);
		rnt_expect_none(&self->b, 0, 5);
	}
}

/* The passive side ends it without an answer, by each means. */
TEST_F(end, request_dropped)
{
	struct rnotify_event ev;

	for (int how = 0; how < 4; how++) {
		open_request(self);
		if (how == 0) {
			ASSERT_EQ(0, rnt_reject(&self->b, self->p.eb));
		} else if (how == 1) {
			ASSERT_EQ(0, rnt_disconnect(&self->b, self->p.eb));
		} else if (how == 2) {
			rnt_destroy(&self->b, self->p.eb);
		} else {
			rnt_close(&self->b);
		}
		if (how < 3) {
			rnt_down(&self->b, self->p.eb,
				 RNOTIFY_REASON_LOCAL_CLOSE, &ev);
			EXPECT_EQ(RNOTIFY_STAGE_ACCEPT, ev.down.stage);
			rnt_destroy_err(&self->b, self->p.eb);
		}
		rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED,
			   &ev);
		EXPECT_EQ(how < 3 ? RNOTIFY_REASON_REJECTED :
				    RNOTIFY_REASON_PEER_EXIT, ev.down.reason);
		EXPECT_EQ(RNOTIFY_STAGE_CONNECT, ev.down.stage);
		rnt_destroy(&self->a, self->p.ea);
	}
}

/* A request, just accepted, at another moment of that each time. */
static void open_accepted(FIXTURE_DATA(end) *self, unsigned int round)
{
	open_request(self);
	rnt_check_eq(0, rnt_accept(self->p.b, self->p.eb, NULL, 0));
	rnt_sleep_us(round * 61 % 3000);
}

/* DISCONNECTED, and nothing besides it but ESTABLISHED, which may be there. */
static void ended(struct rnt_ctx *c, __u32 id, struct rnotify_event *down)
{
	struct rnotify_event ev;

	rnt_check(rnt_take_type(c, id, RNOTIFY_EVENT_DISCONNECTED, down,
				RNT_PATIENCE_MS));
	while (rnt_take(c, id, &ev, 0))
		rnt_check_eq(RNOTIFY_EVENT_ESTABLISHED, ev.type);
}

/* While the other answers: established or not, it ends for both. */
TEST_F(end, destroy_while_accepting)
{
	unsigned int rounds = rnt_count(60);
	struct rnotify_event ev;

	for (unsigned int i = 0; i < rounds; i++) {
		open_accepted(self, i);
		rnt_destroy(&self->a, self->p.ea);
		ended(&self->a, self->p.ea, &ev);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		ended(&self->b, self->p.eb, &ev);
		ASSERT_NE(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		ASSERT_NE(RNOTIFY_REASON_TIMEOUT, ev.down.reason);
		gone(self);
	}
}

/*
 * The same from the passive side. Its GOODBYE has a second to come through, which
 * a machine that is busy with other things may take.
 */
TEST_F(end, passive_destroys_while_accepting)
{
	unsigned int rounds = rnt_count(60) + 6, told = 0;
	struct rnotify_event ev;

	for (unsigned int i = 0; i < rounds; i++) {
		open_accepted(self, i);
		rnt_destroy(&self->b, self->p.eb);
		ended(&self->b, self->p.eb, &ev);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		ended(&self->a, self->p.ea, &ev);
		ASSERT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
		told += ev.down.vendor_err == RNOTIFY_REASON_LOCAL_CLOSE;
		gone(self);
	}
	ASSERT_GE(4 * told, rounds);
}

/* The process of the passive side ends: the other side is told why. */
TEST_F(end, P7_exits_while_accepting)
{
	unsigned int rounds = rnt_count(60) + 6, told = 0;
	struct rnotify_event ev;

	for (unsigned int i = 0; i < rounds; i++) {
		self->p.listener = 0;
		open_accepted(self, i);
		rnt_close(&self->b);
		rnt_init(&self->b, 4096, 0);
		ended(&self->a, self->p.ea, &ev);
		told += ev.down.reason == RNOTIFY_REASON_PEER_EXIT;
		if (ev.down.reason != RNOTIFY_REASON_PEER_EXIT)
			ASSERT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
		ASSERT_EQ(-ECONNRESET, ev.down.error);
		rnt_destroy(&self->a, self->p.ea);
	}
	ASSERT_GE(4 * told, rounds);
}

/* At each moment of connecting, also before the request is sent. */
TEST_F(end, destroy_while_connecting)
{
	unsigned int rounds = rnt_count(90);
	struct rnt_pair *p = &self->p;
	struct rnotify_event ev;

	p->listener = rnt_listen(&self->b, rnt_addr4(), &p->port, 64);
	for (unsigned int i = 0; i < rounds; i++) {
		p->ea = rnt_connect(&self->a, rnt_addr4(), p->port, NULL, 0);
		rnt_sleep_us(i * i);
		rnt_destroy(&self->a, p->ea);
		ASSERT_TRUE(rnt_take(&self->a, p->ea, &ev, 0));
		ASSERT_EQ(RNOTIFY_EVENT_DISCONNECTED, ev.type);
		ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
		ASSERT_LE(ev.down.stage, RNOTIFY_STAGE_CONNECT);
		/* the request may have come; then it also ends */
		while (rnt_take_type(&self->b, 0, RNOTIFY_EVENT_CONNECT_REQUEST,
				     &ev, 0)) {
			__u32 eb = ev.endpoint;

			ASSERT_TRUE(rnt_take_type(&self->b, eb,
						  RNOTIFY_EVENT_DISCONNECTED,
						  &ev, RNT_PATIENCE_MS));
			rnt_destroy(&self->b, eb);
		}
	}
}

/* The listener goes; requests stay, can be accepted or turned down. */
TEST_F(end, listener_destroyed)
{
	struct rnt_pair *p = &self->p;
	struct rnotify_event ev;
	__u32 ea[3], eb[3];

	for (int i = 0; i < 3; i++) {
		open_request(self);
		ea[i] = p->ea;
		eb[i] = p->eb;
	}
	rnt_destroy(&self->b, p->listener);
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, p->listener));
	/* no request comes any more */
	p->ea = rnt_connect(&self->a, rnt_addr4(), p->port, NULL, 0);
	rnt_expect(&self->a, p->ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_TRUE(ev.down.reason == RNOTIFY_REASON_REJECTED ||
		    ev.down.reason == RNOTIFY_REASON_UNREACHABLE);
	rnt_expect_none(&self->b, 0, 5);

	ASSERT_EQ(0, rnt_accept(&self->b, eb[0], NULL, 0));
	rnt_expect(&self->a, ea[0], RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->b, eb[0], RNOTIFY_EVENT_ESTABLISHED, NULL);
	ASSERT_EQ(0, rnt_reject(&self->b, eb[1]));
	rnt_down(&self->a, ea[1], RNOTIFY_REASON_REJECTED, NULL);
	rnt_down(&self->b, eb[1], RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_destroy(&self->a, ea[2]);
	rnt_expect(&self->b, eb[2], RNOTIFY_EVENT_DISCONNECTED, NULL);
}

/* An accepted endpoint whose context closes: the peer is told at once. */
TEST_F(end, fd_closed)
{
	struct rnotify_event ev;
	uint64_t start;

	open_pair(self);
	start = rnt_now_ns();
	rnt_close(&self->b);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_PEER_EXIT, ev.down.reason);
	EXPECT_LT(ev.down.error, 0);
	EXPECT_LT((rnt_now_ns() - start) / 1e6, 1500 * rnt_slow());
}

/* Ended first, in an orderly way, then closed: that is no exit. */
TEST_F(end, closed_endpoint_then_fd)
{
	open_pair(self);
	rnt_destroy(&self->b, self->p.eb);
	rnt_close(&self->b);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_CLOSE, NULL);
}

TEST_HARNESS_MAIN
