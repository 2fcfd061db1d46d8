// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of plain verbs, written from Documentation/wire-protocol.rst, and an
 * endpoint understand each other: connecting from either side, notifications of
 * both forms, messages, shares, credit, the end.
 *
 * rvm: limit=90
 */
#include "kselftest_harness.h"
#include "raw.h"

#define LEN	(5 * RNT_MIB)
#define GUARD	0xee

FIXTURE(peer)
{
	struct rnt_ctx c;
	struct raw r;
	struct rnt_region mem;
	__u32 ep;
};

FIXTURE_VARIANT(peer)
{
	bool asks;		/* the plain peer connects; else it listens */
	unsigned int data, ctrl, regions;	/* its windows */
};

FIXTURE_VARIANT_ADD(peer, active)
{
	.asks = true,
	.data = 4, .ctrl = 2, .regions = 2,
};

FIXTURE_VARIANT_ADD(peer, active_smallest)
{
	.asks = true,
	.data = 1, .ctrl = 1, .regions = 1,
};

FIXTURE_VARIANT_ADD(peer, passive)
{
	.asks = false,
	.data = 7, .ctrl = 3, .regions = 2,
};

/* Ticks come in a quarter of keepalive_ms: see idle */
static const struct rnotify_params params = {
	.recv_depth = 6, .send_depth = 32, .keepalive_ms = 8000,
	.remote_regions = 2,
};

static const char ours[] = "endpoint";
static const char theirs[] = "plain verbs \0 with more";

static void connect_to_raw(FIXTURE_DATA(peer) *self)
{
	struct rnotify_connect con = {
		.params = params,
		.private_ptr = (uintptr_t)ours,
		.private_len = sizeof(ours),
	};
	__u16 port = raw_listen(&self->r);

	rnt_check_eq(0, rnt_connect_err(&self->c, &con, rnt_addr4(), port));
	self->ep = con.endpoint_id;
	raw_accept(&self->r);
}

static void accept_raw(FIXTURE_DATA(peer) *self)
{
	struct rnotify_accept acc = {
		.size = sizeof(acc),
		.params = params,
		.private_ptr = (uintptr_t)ours,
		.private_len = sizeof(ours),
	};
	__u16 port = 0;

	rnt_listen(&self->c, rnt_addr4(), &port, 1);
	raw_connect(&self->r, port);
	self->ep = rnt_request(&self->c, NULL);
	acc.endpoint_id = self->ep;
	rnt_check_eq(0, rnt_ioctl(self->c.fd, RNOTIFY_IOCTL_ACCEPT, &acc));
	raw_established(&self->r);
}

FIXTURE_SETUP(peer)
{
	rnt_init(&self->c, 512, 2048);
	rnt_region_alloc(&self->c, &self->mem, LEN);
	raw_init(&self->r);
	self->r.hello.data_credits = variant->data;
	self->r.hello.ctrl_credits = variant->ctrl;
	self->r.hello.region_slots = variant->regions;
	self->r.hello.private_len = sizeof(theirs);
	memcpy(self->r.hello.private_data, theirs, sizeof(theirs));
	if (variant->asks)
		accept_raw(self);
	else
		connect_to_raw(self);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

FIXTURE_TEARDOWN(peer)
{
	raw_close(&self->r);
	rnt_close(&self->c);
}

/* Each side has what the other one said of itself. */
TEST_F(peer, hello)
{
	const struct rnotify_hello *h = &self->r.peer;
	struct rnotify_endpoint_info info;

	rnt_info(&self->c, self->ep, &info);
	EXPECT_EQ(sizeof(theirs), info.private_len);
	EXPECT_EQ(0, memcmp(theirs, info.private_data, sizeof(theirs)));
	EXPECT_EQ(1024, info.peer_msg_size);
	EXPECT_EQ(variant->data, info.tx_credits);
	EXPECT_EQ(sizeof(ours), h->private_len);
	EXPECT_EQ(0, memcmp(ours, h->private_data, sizeof(ours)));
	EXPECT_EQ(params.recv_depth, h->data_credits);
	EXPECT_EQ(params.remote_regions, h->region_slots);
	EXPECT_EQ(params.keepalive_ms, h->keepalive_ms);
	EXPECT_EQ(2048, h->msg_size);
	EXPECT_EQ(RNOTIFY_WIRE_FEATURE_RECORDS, h->features);
}

/* Many windows in each direction: credit comes back. */
TEST_F(peer, notifications)
{
	const unsigned int nr = rnt_count(300) + 20;
	struct raw_arrival a;

	for (unsigned int i = 0; i < nr; i++) {
		struct rnotify_op op = rnt_op_notify(self->ep, ~i);

		raw_notify(&self->r, 0x80000000 + i);
		rnt_expect_imms_(&self->c, self->ep, 0x80000000 + i, 1);
		rnt_post1(&self->c, &op);
		raw_expect(&self->r, RNOTIFY_WIRE_NOTIFY, &a);
		ASSERT_TRUE(a.imm && a.value == ~i && !a.len);
	}
	ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&self->r));
}

/* A reader that consumes late gets what fits its window, and then the rest. */
TEST_F(peer, back_pressure)
{
	for (unsigned int i = 0; i < params.recv_depth; i++)
		raw_notify(&self->r, i);
	ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&self->r));
	while (raw_pump(&self->r, 20))
		;
	EXPECT_EQ(0, rnotify_credit_left(&self->r.credit[RAW_DATA_CREDIT]));
	rnt_expect_imms(&self->c, self->ep, 0, params.recv_depth);
	raw_notify(&self->r, 77);
	rnt_expect_imms(&self->c, self->ep, 77, 1);
}

TEST_F(peer, messages)
{
	static const unsigned int sizes[] = { 0, 1, 63, 64, 1000, 1024 };
	static char bytes[2048];
	const __u32 imm = 0x89abcdef;
	struct rnotify_event ev;
	struct raw_arrival a;

	rnt_fill(bytes, sizeof(bytes), 3);
	for (unsigned int i = 0; i < 6; i++) {
		struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_SEND_IMM, self->ep,
						 self->mem.id, 0, 0, 0,
						 sizes[i]);

		raw_message(&self->r, bytes, 2 * sizes[i], i % 2 ? &imm : NULL);
		rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_MESSAGE, &ev);
		ASSERT_EQ(2 * sizes[i], ev.notify.byte_len);
		ASSERT_EQ(i % 2 ? RNOTIFY_EVENT_F_IMM : 0, ev.flags);
		ASSERT_EQ(i % 2 ? imm : 0, ev.notify.imm);
		ASSERT_EQ(0, memcmp(self->c.msgs + ev.notify.msg_offset, bytes,
				    2 * sizes[i]));
		memcpy(self->mem.p, bytes, sizes[i]);
		op.imm = imm;
		rnt_post1(&self->c, &op);
		raw_expect(&self->r, RNOTIFY_WIRE_MESSAGE, &a);
		ASSERT_EQ(sizes[i], a.len);
		ASSERT_TRUE(a.imm && a.value == imm);
		ASSERT_EQ(0, memcmp(a.payload, bytes,
				    sizes[i] < 64 ? sizes[i] : 64));
	}
}

/* Into a share of the endpoint: short, and long over a border of chunks. */
TEST_F(peer, writes_into_share)
{
	const struct { __u64 pos; unsigned int len; } rows[] = {
		{ 0, 1 }, { 4096, 0 }, { 1000, 5000 }, { 2 * RNT_MIB - 77, 100 },
		{ 2 * RNT_MIB - 50000, 100000 }, { 3 * RNT_MIB, 65536 },
	};
	struct rnotify_event ev;
	struct raw_share *s;

	rnt_share(&self->c, self->ep, self->mem.id, 100, LEN - 200,
		  RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ, 0x1234);
	s = raw_await_share(&self->r);
	ASSERT_EQ(LEN - 200, s->share.length);
	ASSERT_EQ(0x1234, s->share.tag);
	for (unsigned int i = 0; i < 6; i++) {
		unsigned int len = rows[i].len;
		char *at = self->mem.p + 100 + rows[i].pos;

		memset(self->mem.p, GUARD, LEN);
		rnt_fill(self->r.data, len, i);
		raw_write_imm(&self->r, s, rows[i].pos, len, i);
		rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
		ASSERT_EQ(len, ev.notify.byte_len);
		ASSERT_EQ(-1, rnt_diff(at, len, i));
		ASSERT_EQ(-1, rnt_diff_byte(self->mem.p, at - self->mem.p,
					    GUARD));
		ASSERT_EQ(-1, rnt_diff_byte(at + len, self->mem.p + LEN - at -
					    len, GUARD));
		/* and back, piece by piece if need be */
		memset(self->r.data, 0, len + 1);
		if (len > rnotify_chunk_left(raw_addr(s, rows[i].pos), len,
					     s->share.chunk_shift))
			continue;
		raw_rdma(&self->r, IBV_WR_RDMA_READ, 0, len,
			 raw_addr(s, rows[i].pos), raw_key(s, rows[i].pos), 0);
		ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&self->r));
		ASSERT_EQ(-1, rnt_diff(self->r.data, len, i));
	}
}

TEST_F(peer, atomics_into_share)
{
	__u64 *value = (__u64 *)(self->mem.p + 64);
	struct raw_share *s;

	rnt_share(&self->c, self->ep, self->mem.id, 64, 8,
		  RNOTIFY_RIGHT_ATOMIC, 0);
	s = raw_await_share(&self->r);
	*value = 1000;
	raw_atomic(&self->r, 0, raw_addr(s, 0), raw_key(s, 0), 7);
	ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&self->r));
	ASSERT_EQ(1000, *(__u64 *)self->r.data);
	ASSERT_EQ(1007, *value);
}

/* The endpoint uses what the peer shares, until it is taken back. */
TEST_F(peer, share_of_the_peer)
{
	struct rnotify_wire_msg msg, gone = {
		.type = RNOTIFY_WIRE_REGION_GONE,
	};
	struct rnotify_event ev;
	struct raw_arrival a;
	struct rnotify_op op;
	__le32 key;

	for (unsigned int i = 1; i < 6; i++) {
		raw_region(&self->r, &msg, &key, i, 8192,
			   RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ |
			   RNOTIFY_RIGHT_ATOMIC);
		raw_take_credit(&self->r, RAW_REGION_CREDIT);
		raw_take_credit(&self->r, RAW_CTRL_CREDIT);
		raw_send(&self->r, &msg);
		rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_REMOTE_REGION,
			   &ev);
		ASSERT_EQ(8192, ev.region.length);
		ASSERT_EQ(0x7a67, ev.region.tag);

		rnt_fill(self->mem.p, 8192, i);
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->ep, self->mem.id, 0,
			       ev.region.remote_id, 0, 8192);
		op.imm = i;
		rnt_post1(&self->c, &op);
		raw_expect(&self->r, RNOTIFY_WIRE_NOTIFY, &a);
		ASSERT_TRUE(a.value == i && a.len == 8192);
		ASSERT_EQ(-1, rnt_diff(self->r.data, 8192, i));

		op = rnt_op_rw(RNOTIFY_OP_FETCH_ADD, self->ep, self->mem.id, 0,
			       ev.region.remote_id, 8, 8);
		op.operand = 5;
		*(__u64 *)(self->r.data + 8) = 37;
		op.flags = RNOTIFY_OP_F_SIGNALED;
		op.user_data = i;
		rnt_post1(&self->c, &op);
		rnt_expect_tx(&self->c, self->ep, i, 0, NULL);
		ASSERT_EQ(42, *(__u64 *)(self->r.data + 8));

		gone.gone.share_id = i;
		raw_take_credit(&self->r, RAW_CTRL_CREDIT);
		raw_send(&self->r, &gone);
		raw_expect(&self->r, RNOTIFY_WIRE_REGION_GONE_ACK, &a);
		ASSERT_EQ(i, a.value);
		rnt_expect(&self->c, self->ep,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
		ASSERT_EQ(-ENOENT, rnt_try(&self->c, &op));
	}
}

/* The endpoint takes back, the peer answers: the connection stays. */
TEST_F(peer, unshare)
{
	for (unsigned int i = 1; i < 6; i++) {
		__u32 id = rnt_share(&self->c, self->ep, self->mem.id, 0, 0,
				     RNOTIFY_RIGHT_WRITE, 0);

		raw_await_share(&self->r);
		EXPECT_EQ(0, raw_unshare(&self->r, &self->c, id));
		EXPECT_EQ(i, self->r.gone);
	}
	raw_notify(&self->r, 5);
	rnt_expect_imms(&self->c, self->ep, 5, 1);
}

TEST_F(peer, peer_says_goodbye)
{
	struct rnotify_event ev;

	raw_notify(&self->r, 1);
	raw_notify(&self->r, 2);
	raw_goodbye(&self->r, RNOTIFY_REASON_PEER_EXIT, 0);
	rnt_expect_imms(&self->c, self->ep, 1, 2);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_PEER_EXIT, ev.down.reason);
	EXPECT_EQ(RNOTIFY_STAGE_ESTABLISHED, ev.down.stage);
	EXPECT_EQ(2, ev.down.delivered);
	raw_await_end(&self->r);
}

TEST_F(peer, endpoint_says_goodbye)
{
	struct rnotify_op op = rnt_op_notify(self->ep, 9);
	struct rnotify_event ev;
	struct raw_arrival a;

	rnt_post1(&self->c, &op);
	ASSERT_EQ(0, rnt_disconnect(&self->c, self->ep));
	raw_await_end(&self->r);
	raw_expect(&self->r, RNOTIFY_WIRE_NOTIFY, &a);
	EXPECT_EQ(9, a.value);
	raw_expect(&self->r, RNOTIFY_WIRE_GOODBYE, &a);
	EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, a.value);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
	EXPECT_EQ(1, ev.down.confirmed);
}

/*
 * A peer that says and does nothing, for longer than the keepalive time: its
 * device answers, it has no receive and no credit less, and hears nothing.
 */
TEST_F(peer, idle)
{
	struct raw *r = &self->r;

	rnt_expect_none(&self->c, self->ep, 5000 / rnt_slow());
	EXPECT_FALSE(raw_pump(r, 0));
	raw_notify(r, 3);
	rnt_expect_imms(&self->c, self->ep, 3, 1);
}

TEST_HARNESS_MAIN
