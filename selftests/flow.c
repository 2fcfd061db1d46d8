// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: what a sender may send to a receiver that does nothing, how it
 * learns that it can go on, and reservations of ring entries (P2, P3).
 */
#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(flow)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(flow)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
}

FIXTURE_TEARDOWN(flow)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

static const struct rnotify_params depth4 = {
	.recv_depth = 4, .send_depth = 4,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

static unsigned int credits(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnotify_endpoint_info info;

	rnt_info(c, endpoint, &info);
	return info.tx_credits;
}

/* Exactly recv_depth, no more and no less, and they are all there. */
TEST_F(flow, P2_as_many_as_recv_depth)
{
	static const unsigned int depths[] = { 1, 2, 3, 5, 16, 100, 333 };
	struct rnotify_params params = depth4;
	struct rnt_pair p, *first = &self->p;

	rnt_pair_open(first, &self->a, &self->b, &depth4, &depth4);
	for (unsigned int i = 0; i < ARRAY_SIZE(depths); i++) {
		params.recv_depth = depths[i];
		rnt_more(first, &p, &depth4, &params);
		ASSERT_EQ(depths[i], credits(p.a, p.ea));
		for (unsigned int n = 0; n < depths[i]; n++) {
			struct rnotify_op op = rnt_op_notify(p.ea, n);

			/* send_depth 4: room comes and goes, credit only goes */
			rnt_post1(p.a, &op);
		}
		ASSERT_EQ(0, credits(p.a, p.ea));
		ASSERT_EQ(0, rnt_post_until_full(p.a, p.ea, 0, 0));
		rnt_expect_imms(p.b, p.eb, 0, depths[i]);
		rnt_expect_none(p.b, p.eb, 1);
		rnt_expect(p.a, p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
		rnt_settle(&p, true);
		rnt_destroy(p.a, p.ea);
		rnt_down(p.b, p.eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(p.b, p.eb);
	}
}

/*
 * FAULTS 2: the receiver makes no system call for longer than the keepalive
 * time. All its credits can be used, and nothing else suffers.
 */
TEST_F(flow, P3_receiver_does_nothing)
{
	struct rnotify_params params = {
		.recv_depth = 20, .keepalive_ms = 2000,
	};
	struct rnotify_endpoint_info info;
	struct rnotify_event ev;

	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
	ASSERT_EQ(20, rnt_post_until_full(&self->a, self->p.ea, 100, 0));
	/* nothing to wait for: the point is that nothing happens */
	rnt_sleep_us(5000 * 1000);
	rnt_info(&self->a, self->p.ea, &info);
	ASSERT_EQ(RNOTIFY_STATE_ESTABLISHED, info.state);
	ASSERT_EQ(20, info.tx_confirmed);
	ASSERT_EQ(0, info.tx_credits);
	rnt_take_type(&self->a, self->p.ea, RNOTIFY_EVENT_WRITABLE, &ev, 0);
	ASSERT_EQ(0, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
	ASSERT_EQ(0, rnt_pending(&self->a));
	ASSERT_EQ(20, rnt_pending(&self->b));

	rnt_expect_imms(&self->b, self->p.eb, 100, 20);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
	rnt_settle(&self->p, true);
}

/* EAGAIN takes POLLOUT away; room brings it back, with one WRITABLE. */
TEST_F(flow, P3_writable)
{
	struct rnt_ctx *a = &self->a, *b = &self->b;
	struct rnotify_endpoint_info info;
	__u32 ea;

	rnt_pair_open(&self->p, a, b, &depth4, &depth4);
	ea = self->p.ea;
	ASSERT_EQ(POLLOUT, rnt_poll(a, POLLIN | POLLOUT, 0));
	ASSERT_EQ(4, rnt_post_until_full(a, ea, 0, 0));
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(0, rnt_post_until_full(a, ea, 0, 0));
	/* room in the send queue comes back, but that is of no use */
	do {
		rnt_info(a, ea, &info);
	} while (info.tx_confirmed != 4);
	ASSERT_EQ(0, rnt_poll(a, POLLIN | POLLOUT, 50));
	ASSERT_EQ(11, info.eagain);

	rnt_expect_imms(b, self->p.eb, 0, 1);
	ASSERT_EQ(POLLIN | POLLOUT,
		  rnt_poll(a, POLLOUT, RNT_PATIENCE_MS) |
		  rnt_poll(a, POLLIN, RNT_PATIENCE_MS));
	rnt_expect(a, ea, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(1, rnt_post_until_full(a, ea, 4, 0));
	ASSERT_EQ(0, rnt_poll(a, POLLIN | POLLOUT, 0));
	rnt_expect_imms(b, self->p.eb, 1, 4);
	rnt_expect(a, ea, RNOTIFY_EVENT_WRITABLE, NULL);
	rnt_settle(&self->p, true);
	/* one for each time that it was asked for */
	rnt_expect_none(a, ea, 1);
	ASSERT_EQ(POLLOUT, rnt_poll(a, POLLIN | POLLOUT, 0));
}

/* Two endpoints of a context: POLLOUT when none of them is refused. */
TEST_F(flow, P3_writable_of_two)
{
	struct rnt_ctx *a = &self->a, c;
	struct rnotify_event ev;
	struct rnt_pair q;

	rnt_init(&c, 64, 0);
	rnt_pair_open(&self->p, a, &self->b, &depth4, &depth4);
	rnt_pair_open(&q, a, &c, &depth4, &depth4);
	ASSERT_EQ(4, rnt_post_until_full(a, self->p.ea, 0, 0));
	ASSERT_EQ(0, rnt_poll(a, POLLOUT, 0));
	/* the other one is not blocked by that */
	ASSERT_EQ(4, rnt_post_until_full(a, q.ea, 0, 0));
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	rnt_expect(a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(0, rnt_poll(a, POLLOUT, 10));
	rnt_destroy(a, q.ea);
	ASSERT_EQ(POLLOUT, rnt_poll(a, POLLOUT, RNT_PATIENCE_MS));
	rnt_down(a, q.ea, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_down(&c, q.eb, RNOTIFY_REASON_PEER_CLOSE, &ev);
	ASSERT_EQ(4, ev.down.delivered);
	rnt_settle(&self->p, true);
	rnt_close(&c);
}

/* No EAGAIN, no WRITABLE: a stream that never finds the door closed. */
TEST_F(flow, no_writable_unasked)
{
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	for (unsigned int i = 0; i < 200; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, i);

		ASSERT_EQ(0, rnt_try(&self->a, &op));
		rnt_expect_imms(&self->b, self->p.eb, i, 1);
	}
	rnt_settle(&self->p, true);
	rnt_expect_none(&self->a, 0, 1);
}

static unsigned int flood_tx_done(struct rnt_ctx *c, __u32 endpoint)
{
	unsigned int n = rnt_post_until_full(c, endpoint, 0,
					     RNOTIFY_OP_F_SIGNALED);
	__u32 nr;

	/* an entry of the ring is taken until its TX_DONE is consumed */
	rnt_check_eq(0, rnt_wait(c, n, rnt_deadline(RNT_PATIENCE_MS), 0, &nr));
	return n;
}

/* TX_DONE events have their own reservation: send_depth of them. */
TEST_F(flow, P2_tx_done_unconsumed)
{
	struct rnotify_params params = {
		.send_depth = 8, .recv_depth = 64,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
	struct rnt_ctx *a = &self->a, *b = &self->b;
	struct rnotify_op op;
	__u32 ea;

	rnt_pair_open(&self->p, a, b, &params, &params);
	ea = self->p.ea;
	for (int round = 0; round < 5; round++) {
		rnt_settle(&self->p, true);
		ASSERT_EQ(8, flood_tx_done(a, ea));
		ASSERT_EQ(0, rnt_post_until_full(a, ea, 0,
						 RNOTIFY_OP_F_SIGNALED));
		ASSERT_EQ(0, rnt_poll(a, POLLOUT, 20));
		/* what needs no entry goes */
		op = rnt_op_notify(ea, 8);
		ASSERT_EQ(0, rnt_try(a, &op));
		rnt_expect_imms(b, self->p.eb, 0, 9);
		for (int i = 0; i < 8; i++) {
			struct rnotify_event ev;

			ASSERT_TRUE(rnt_take_type(a, ea, RNOTIFY_EVENT_TX_DONE,
						  &ev, RNT_PATIENCE_MS));
			ASSERT_EQ(i, ev.tx.user_data);
			ASSERT_EQ(0, ev.tx.error);
			ASSERT_EQ(RNOTIFY_OP_NOTIFY, ev.tx.opcode);
		}
		ASSERT_EQ(POLLOUT, rnt_poll(a, POLLOUT, RNT_PATIENCE_MS));
		while (rnt_take_type(a, ea, RNOTIFY_EVENT_WRITABLE,
				     &(struct rnotify_event){}, 0))
			;
	}
	rnt_settle(&self->p, true);
}

/* Consuming one TX_DONE makes a post possible, without a KICK of ours. */
TEST_F(flow, P7_tx_done_consumed_without_kick)
{
	struct rnotify_params params = { .send_depth = 2 };
	struct rnt_ctx *a = &self->a;

	rnt_pair_open(&self->p, a, &self->b, &params, NULL);
	ASSERT_EQ(2, flood_tx_done(a, self->p.ea));
	ASSERT_EQ(0, rnt_post_until_full(a, self->p.ea, 0,
					 RNOTIFY_OP_F_SIGNALED));
	ASSERT_EQ(1, a->head->need_kick);
	a->cons = a->head->prod;
	__atomic_store_n(&a->tail->cons, a->cons, __ATOMIC_RELEASE);
	/* not even a poll(), which would look at cons */
	for (uint64_t end = rnt_deadline(RNT_PATIENCE_MS); !rnt_pending(a);)
		ASSERT_NE(0, rnt_left_ms(end));
	rnt_expect(a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(2, rnt_post_until_full(a, self->p.ea, 0,
					 RNOTIFY_OP_F_SIGNALED));
}

/*
 * Refused for want of room in the send queue. That comes back, but as TX_DONE events,
 * which take all entries: what the refused post waits for in the end is the reader.
 */
TEST_F(flow, P7_refused_for_room_then_for_events)
{
	enum { DEPTH = 8 };
	struct rnotify_params params = { .send_depth = DEPTH };
	struct rnt_ctx *a = &self->a;
	struct rnotify_op op[DEPTH + 1];
	unsigned int accepted, late = 0, rounds = 12;
	int error;
	__u32 nr;

	rnt_pair_open(&self->p, a, &self->b, &params, NULL);
	for (unsigned int i = 0; i <= DEPTH; i++) {
		op[i] = rnt_op_notify(self->p.ea, i);
		op[i].flags = RNOTIFY_OP_F_SIGNALED;
		op[i].user_data = i;
	}
	for (unsigned int round = 0; round < rounds; round++) {
		uint64_t start;

		ASSERT_EQ(0, rnt_post(a, op, DEPTH + 1, 0, &accepted, &error));
		ASSERT_EQ(DEPTH, accepted);
		ASSERT_EQ(-EAGAIN, error);
		ASSERT_EQ(0, rnt_wait(a, DEPTH, rnt_deadline(RNT_PATIENCE_MS),
				      0, &nr));
		ASSERT_EQ(0, rnt_poll(a, POLLOUT, 0));
		start = rnt_now_ns();
		for (unsigned int i = 0; i < DEPTH; i++)
			rnt_expect_tx(a, self->p.ea, i, 0, NULL);
		rnt_expect(a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
		ASSERT_EQ(POLLOUT, rnt_poll(a, POLLOUT, 0));
		late += rnt_now_ns() - start > 200000000;
		rnt_expect_imms(&self->b, self->p.eb, 0, DEPTH);
	}
	/* the machine may have stood still now and then */
	EXPECT_LE(late, rounds / 2);
}

/* Nobody waits for an endpoint that has ended, and no KICK is asked for. */
TEST_F(flow, P3_no_kick_for_a_peer_that_is_gone)
{
	struct rnotify_params params = { .recv_depth = 4 };
	struct rnt_ctx *b = &self->b;
	uint64_t end;

	rnt_pair_open(&self->p, &self->a, b, NULL, &params);
	ASSERT_EQ(4, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
	ASSERT_EQ(0, rnt_wait(b, 4, rnt_deadline(RNT_PATIENCE_MS), 0, NULL));
	for (end = rnt_deadline(RNT_PATIENCE_MS); !b->head->need_kick;)
		ASSERT_NE(0, rnt_left_ms(end));
	rnt_destroy(&self->a, self->p.ea);
	ASSERT_EQ(0, rnt_wait(b, 5, rnt_deadline(RNT_PATIENCE_MS), 0, NULL));
	ASSERT_EQ(0, b->head->need_kick);
	rnt_consume(b, rnt_pending(b));
	ASSERT_EQ(0, b->head->need_kick);
	rnt_destroy(b, self->p.eb);
}

static unsigned int need(const struct rnotify_params *p)
{
	unsigned int regions = p->remote_regions == RNOTIFY_NO_REGIONS ? 0 :
			       p->remote_regions ?: 8;

	return (p->recv_depth ?: 64) + (p->send_depth ?: 64) + 2 * regions + 3;
}

/* The documented sum of reservations, to the entry. */
TEST_F(flow, P2_enospc_at_connect)
{
	struct rnotify_params params = {
		.recv_depth = 5, .send_depth = 7, .remote_regions = 2,
	};
	struct rnotify_connect arg = {};
	unsigned int left = 64;
	__u32 listener, ids[8];
	struct rnt_ctx c;
	__u16 port = 0;
	int n = 0;

	listener = rnt_listen(&self->b, rnt_addr4(), &port, 8);
	rnt_init(&c, 64, 0);
	for (;; n++, left -= need(&params)) {
		arg.params = params;
		if (left < need(&params))
			break;
		ASSERT_EQ(0, rnt_connect_err(&c, &arg, rnt_addr4(), port));
		ids[n] = arg.endpoint_id;
	}
	ASSERT_EQ(3, n);
	ASSERT_EQ(-ENOSPC, rnt_connect_err(&c, &arg, rnt_addr4(), port));
	/* a smaller one that just fits */
	arg.params.remote_regions = RNOTIFY_NO_REGIONS;
	arg.params.recv_depth = 1;
	arg.params.send_depth = left - 4;
	ASSERT_EQ(left, need(&arg.params));
	arg.params.send_depth++;
	ASSERT_EQ(-ENOSPC, rnt_connect_err(&c, &arg, rnt_addr4(), port));
	arg.params.send_depth--;
	ASSERT_EQ(0, rnt_connect_err(&c, &arg, rnt_addr4(), port));
	/* an endpoint that ends gives its entries back */
	rnt_destroy(&c, ids[1]);
	rnt_down(&c, ids[1], RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	arg.params = params;
	ASSERT_EQ(0, rnt_connect_err(&c, &arg, rnt_addr4(), port));
	rnt_destroy(&self->b, listener);
	rnt_close(&c);
}

/* The request stays open: accept with less, or after something ended. */
TEST_F(flow, P2_enospc_at_accept)
{
	struct rnotify_params params = depth4;
	struct rnt_ctx c, *a = &self->a;
	struct rnt_pair p, q;
	__u32 ea, eb;

	rnt_init(&c, 32, 0);
	/* 2 * 2 + 1 for the listener, 11 for the first: 16 left */
	rnt_pair_open(&p, a, &c, &depth4, &depth4);
	for (int round = 0; round < 2; round++) {
		ea = rnt_connect(a, rnt_addr4(), p.port, &depth4, 0);
		eb = rnt_request(&c, NULL);
		params.send_depth = 10;
		ASSERT_EQ(17, need(&params));
		ASSERT_EQ(-ENOSPC, rnt_accept(&c, eb, &params, 0));
		ASSERT_EQ(-ENOSPC, rnt_accept(&c, eb, NULL, 0));
		if (round) {
			rnt_destroy(&c, p.eb);
			rnt_down(&c, p.eb, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
		} else {
			params.send_depth = 9;
		}
		ASSERT_EQ(0, rnt_accept(&c, eb, &params, 0));
		rnt_expect(a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_expect(&c, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
		q = p;
		q.ea = ea;
		q.eb = eb;
		ASSERT_EQ(4, rnt_post_until_full(a, ea, 0, 0));
		rnt_expect_imms(&c, eb, 0, 4);
		rnt_expect(a, ea, RNOTIFY_EVENT_WRITABLE, NULL);
		rnt_settle(&q, true);
		rnt_destroy(a, ea);
		rnt_down(&c, eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&c, eb);
	}
	rnt_close(&c);
}

/* Listeners reserve, too, and a refused one leaves nothing behind. */
TEST_F(flow, P2_enospc_at_listen)
{
	struct rnotify_listen arg = { .size = sizeof(arg), .backlog = 8 };
	struct rnt_ctx c;
	__u16 port = 0;
	__u32 id;

	rnt_init(&c, 16, 0);
	rnt_addr(&arg.addr, rnt_addr4(), 0);
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(-ENOSPC, rnt_ioctl(c.fd, RNOTIFY_IOCTL_LISTEN, &arg));
	for (int i = 0; i < 20; i++) {
		port = 0;
		id = rnt_listen(&c, rnt_addr4(), &port, 7);
		arg.backlog = 1;
		ASSERT_EQ(-ENOSPC, rnt_ioctl(c.fd, RNOTIFY_IOCTL_LISTEN, &arg));
		rnt_destroy(&c, id);
	}
	rnt_close(&c);
}

/* Numbers in ENDPOINT_INFO, exactly, while things are under way and at rest. */
TEST_F(flow, P1_info_counts)
{
	struct rnotify_endpoint_info info;
	struct rnt_ctx *a = &self->a, *b = &self->b;
	__u32 ea, eb;

	rnt_pair_open(&self->p, a, b, &depth4, &depth4);
	ea = self->p.ea;
	eb = self->p.eb;
	ASSERT_EQ(4, rnt_post_until_full(a, ea, 0, 0));
	rnt_settle(&self->p, false);
	rnt_info(a, ea, &info);
	ASSERT_EQ(4, info.tx_posted);
	ASSERT_EQ(4, info.tx_notify_posted);
	ASSERT_EQ(0, info.tx_credits);
	ASSERT_EQ(1, info.eagain);
	ASSERT_EQ(0, info.tx_bytes);
	ASSERT_EQ(0, info.rx_notify);
	ASSERT_EQ(4, info.params.recv_depth);
	ASSERT_EQ(0, info.params.remote_regions);
	rnt_info(b, eb, &info);
	ASSERT_EQ(4, info.rx_notify);
	ASSERT_EQ(0, info.rx_consumed);
	ASSERT_EQ(0, info.tx_posted);
	ASSERT_EQ(4, info.tx_credits);
	rnt_expect_imms(b, eb, 0, 3);
	rnt_kick(b);
	rnt_info(b, eb, &info);
	ASSERT_EQ(4, info.rx_notify);
	ASSERT_EQ(3, info.rx_consumed);
	rnt_expect_imms(b, eb, 3, 1);
	rnt_settle(&self->p, true);
}

/* A batch of four takes four places at once, and each arrival takes a receive. */
TEST_F(flow, P2_high_water_marks)
{
	struct rnotify_endpoint_info ia, ib;
	struct rnotify_op ops[4];
	unsigned int done;

	rnt_pair_open(&self->p, &self->a, &self->b, &depth4, &depth4);
	rnt_info(&self->a, self->p.ea, &ia);
	ASSERT_GE(4, ia.sq_high);
	ASSERT_EQ(ia.rq_size, ia.rq_low);
	for (unsigned int i = 0; i < 4; i++)
		ops[i] = rnt_op_notify(self->p.ea, i);
	ASSERT_EQ(0, rnt_post(&self->a, ops, 4, 0, &done, NULL));
	ASSERT_EQ(4, done);
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	rnt_settle(&self->p, true);
	rnt_info(&self->a, self->p.ea, &ia);
	rnt_info(&self->b, self->p.eb, &ib);
	ASSERT_LE(4, ia.sq_high);
	ASSERT_GE(ia.sq_size, ia.sq_high);
	ASSERT_GT(ib.rq_size, ib.rq_low);
	ASSERT_LT(0, ib.rq_low);
	ASSERT_EQ(ia.sq_high + ia.rq_size, ia.cq_high);
	ASSERT_GE(ia.cq_size, ia.cq_high);
}

TEST_HARNESS_MAIN
