// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that stops at some step and says no more, and one that goes without a
 * word in any state: each wait of the other side has an end.
 *
 * rvm: limit=120
 */
#include "kselftest_harness.h"
#include "lie.h"

/* ms, to be established: for what the other side does before it is silent */
#define PATIENCE	(200 * rnt_slow())
#define KEEPALIVE	1000	/* ms */

static const struct rnotify_params *impatient(void)
{
	static struct rnotify_params params = { .keepalive_ms = KEEPALIVE };

	params.connect_timeout_ms = PATIENCE;
	return &params;
}

FIXTURE(silence)
{
	struct lie l;
	uint64_t since;
};

FIXTURE_SETUP(silence)
{
	lie_open(&self->l);
	self->since = rnt_now_ns();
}

FIXTURE_TEARDOWN(silence)
{
	lie_close(&self->l);
}

/* The passive side of an attempt, up to the request's event. */
static void ask(struct lie *l)
{
	char buf[RNOTIFY_WIRE_HELLO_MAX];
	int len = rnotify_wire_put_hello(buf, sizeof(buf), &l->r.hello);

	raw_resolve(&l->r, l->port);
	raw_request(&l->r, buf, len);
	l->ep = rnt_request(&l->c, NULL);
}

static void asked(struct lie *l)
{
	l->ep = rnt_connect(&l->c, rnt_addr4(), raw_listen(&l->r), impatient(),
			    LIE_COOKIE);
}

/* ---- nothing more is said ---- */

/* It listens, and looks at no request. */
TEST_F(silence, request_without_answer)
{
	asked(&self->l);
	lie_told(&self->l, RNOTIFY_REASON_TIMEOUT, -ETIMEDOUT,
		 RNOTIFY_STAGE_CONNECT);
	EXPECT_GE(rnt_now_ns() - self->since, PATIENCE * 1000000ull);
	lie_untouched(&self->l);
}

/* It takes the request, makes its queues, and does not answer. */
TEST_F(silence, request_taken_without_answer)
{
	asked(&self->l);
	raw_await_request(&self->l.r);
	lie_told(&self->l, RNOTIFY_REASON_TIMEOUT, -ETIMEDOUT,
		 RNOTIFY_STAGE_CONNECT);
	lie_untouched(&self->l);
}

/* Accepted, but who asked does not confirm (librdmacm does when it is asked). */
TEST_F(silence, answer_without_confirmation)
{
	struct lie *l = &self->l;

	ask(l);
	ASSERT_EQ(0, rnt_accept(&l->c, l->ep, impatient(), LIE_COOKIE));
	lie_told(l, RNOTIFY_REASON_TIMEOUT, -ETIMEDOUT, RNOTIFY_STAGE_ACCEPT);
	lie_untouched(l);
}

/* Nobody accepts: that lasts as long as both want. */
TEST_F(silence, request_nobody_answers)
{
	struct lie *l = &self->l;

	ask(l);
	rnt_expect_none(&l->c, l->ep, 2 * PATIENCE / rnt_slow());
	ASSERT_EQ(0, rnt_accept(&l->c, l->ep, NULL, LIE_COOKIE));
	raw_established(&l->r);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	lie_harmless(l);
}

/* Established, then nothing: sound, until somebody wants to be heard. */
TEST_F(silence, established_without_receives)
{
	struct lie *l = &self->l;
	struct rnotify_event ev;
	struct rnotify_op op;

	l->r.no_receives = true;
	lie_connect(l);
	rnt_expect_none(&l->c, l->ep, 2 * KEEPALIVE / rnt_slow());
	op = rnt_op_notify(l->ep, 1);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	op.user_data = 42;
	self->since = rnt_now_ns();
	rnt_post1(&l->c, &op);
	/* credit allowed it: the device there is not ready, for ever */
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_TX_DONE, &ev);
	EXPECT_EQ(42, ev.tx.user_data);
	EXPECT_GT(0, ev.tx.error);
	lie_told(l, RNOTIFY_REASON_PEER_LOST, -ETIMEDOUT,
		 RNOTIFY_STAGE_ESTABLISHED);
	EXPECT_EQ(0, l->down.confirmed);
	TH_LOG("found after %llu ms",
	       (unsigned long long)(rnt_now_ns() - self->since) / 1000000);
	lie_untouched(l);
}

/* No answer to REGION_GONE: DESTROY does not wait for it for long. */
TEST_F(silence, gone_without_answer)
{
	struct lie *l = &self->l;
	__u32 id;

	lie_connect(l);
	l->r.no_ack = true;
	lie_share(l, RNOTIFY_RIGHT_WRITE, &id);
	self->since = rnt_now_ns();
	rnt_destroy(&l->c, id);
	EXPECT_LT(rnt_now_ns() - self->since, 10e9 * rnt_slow());
	lie_harmless(l);
}

/* No credit for control messages: shares and their ends wait in the queue. */
TEST_F(silence, no_control_credit)
{
	struct lie *l = &self->l;
	__u32 id[4];

	l->r.no_credit = true;
	l->r.hello.ctrl_credits = 1;
	l->r.hello.region_slots = 4;
	lie_connect(l);
	for (unsigned int i = 0; i < 4; i++)
		id[i] = rnt_share(&l->c, l->ep, l->mem.id, LIE_GUARD,
				  LIE_SHARED, RNOTIFY_RIGHT_READ, i);
	raw_await_share(&l->r);
	for (unsigned int i = 0; i < 4; i++)
		rnt_destroy(&l->c, id[i]);
	EXPECT_EQ(0, l->r.gone);
	lie_harmless(l);
	rnt_destroy(&l->c, l->ep);
	lie_untouched(l);
}

/*
 * Its queue pair is broken before our GOODBYE comes, then its CM says that it leaves:
 * the acknowledgement will never come. GOODBYE is waited for a second, but not then.
 */
TEST_F(silence, goodbye_to_one_who_left)
{
	struct lie *l = &self->l;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	uint64_t took, shortest = UINT64_MAX;

	lie_connect(l);
	for (int i = 0; i < 5; i++) {
		if (i)
			lie_reconnect(l);
		ASSERT_EQ(0, ibv_modify_qp(l->r.id->qp, &attr, IBV_QP_STATE));
		self->since = rnt_now_ns();
		ASSERT_EQ(0, rnt_disconnect(&l->c, l->ep));
		ASSERT_EQ(0, rdma_disconnect(l->r.id));
		lie_told(l, RNOTIFY_REASON_LOCAL_CLOSE, 0,
			 RNOTIFY_STAGE_ESTABLISHED);
		took = rnt_now_ns() - self->since;
		shortest = took < shortest ? took : shortest;
	}
	TH_LOG("took %llu us", (unsigned long long)shortest / 1000);
	EXPECT_LT(shortest, 500000000ull);
	lie_untouched(l);
}

/* ---- gone without a word ---- */

FIXTURE(leave)
{
	struct lie l;
};

/* When, and how: by a disconnect, by its process' end, by a broken queue pair. */
FIXTURE_VARIANT(leave)
{
	enum { REQUESTED, ACCEPTED, ESTABLISHED, SHARED, FULL } when;
	enum { DISCONNECT, EXIT, BREAK } how;
};

#define LEAVE(name, ...) FIXTURE_VARIANT_ADD(leave, name) { __VA_ARGS__ }

LEAVE(requested_exit, REQUESTED, EXIT);
LEAVE(accepted_disconnect, ACCEPTED, DISCONNECT);
LEAVE(accepted_exit, ACCEPTED, EXIT);
LEAVE(established_disconnect, ESTABLISHED, DISCONNECT);
LEAVE(established_exit, ESTABLISHED, EXIT);
LEAVE(established_break, ESTABLISHED, BREAK);
LEAVE(shared_disconnect, SHARED, DISCONNECT);
LEAVE(shared_exit, SHARED, EXIT);
LEAVE(shared_break, SHARED, BREAK);
LEAVE(full_disconnect, FULL, DISCONNECT);
LEAVE(full_exit, FULL, EXIT);
LEAVE(full_break, FULL, BREAK);

FIXTURE_SETUP(leave)
{
	lie_open(&self->l);
}

FIXTURE_TEARDOWN(leave)
{
	lie_close(&self->l);
}

static void until(struct lie *l, int when)
{
	if (when >= ESTABLISHED) {
		lie_connect(l);
	} else {
		ask(l);
		if (when == ACCEPTED)
			rnt_check_eq(0, rnt_accept(&l->c, l->ep, impatient(),
						   LIE_COOKIE));
	}
	if (when >= SHARED)
		lie_share(l, RNOTIFY_RIGHT_WRITE, NULL);
	if (when == FULL) {
		for (unsigned int i = 0; i < LIE_RECV; i++)
			raw_notify(&l->r, i);
		rnt_check_eq(IBV_WC_SUCCESS, raw_flush(&l->r));
	}
}

/* What a peer that has not confirmed yet says by its CM, the CM keeps to itself. */
static unsigned int reason_of(int when, int how)
{
	if (how == BREAK)
		return RNOTIFY_REASON_PEER_LOST;
	if (when == ACCEPTED && how == DISCONNECT)
		return RNOTIFY_REASON_TIMEOUT;
	return RNOTIFY_REASON_PEER_CLOSE;
}

TEST_F(leave, is_noticed)
{
	struct lie *l = &self->l;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rnotify_event ev;

	until(l, variant->when);
	if (variant->how == DISCONNECT)
		rnt_check_eq(0, rdma_disconnect(l->r.id));
	else if (variant->how == EXIT)
		raw_close(&l->r);
	else
		rnt_check_eq(0, ibv_modify_qp(l->r.id->qp, &attr,
					      IBV_QP_STATE));
	if (!rnt_take_type(&l->c, l->ep, RNOTIFY_EVENT_DISCONNECTED, &ev,
			   RNT_PATIENCE_MS))
		rnt_fail("the end is not noticed");
	TH_LOG("reason %u, stage %u, error %d, ib %u", ev.down.reason,
	       ev.down.stage, ev.down.error, ev.down.ib_status);
	EXPECT_GT(0, ev.down.error);
	EXPECT_EQ(reason_of(variant->when, variant->how), ev.down.reason);
	EXPECT_EQ(variant->when >= ESTABLISHED ? RNOTIFY_STAGE_ESTABLISHED :
		  RNOTIFY_STAGE_ACCEPT, ev.down.stage);
	EXPECT_EQ(variant->when == FULL ? LIE_RECV : 0, ev.down.delivered);
	rnt_destroy(&l->c, l->ep);
	lie_untouched(l);
}

TEST_HARNESS_MAIN
