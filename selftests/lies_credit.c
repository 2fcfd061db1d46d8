// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that sends more than it was granted, grants nonsense, or says things in
 * an order that no honest peer has.
 *
 * rvm: limit=90
 */
#include "kselftest_harness.h"
#include "lie.h"

FIXTURE(credit)
{
	struct lie l;
};

FIXTURE_SETUP(credit)
{
	lie_open(&self->l);
}

FIXTURE_TEARDOWN(credit)
{
	lie_close(&self->l);
}

/* ---- more than granted ---- */

FIXTURE(beyond)
{
	struct lie l;
};

FIXTURE_VARIANT(beyond)
{
	int type;		/* RNOTIFY_WIRE_..., or 0 for immediate data */
	unsigned int nr;	/* how many go out at once */
	unsigned int records;	/* in each NOTIFY */
};

FIXTURE_VARIANT_ADD(beyond, imm_by_one)
{
	0, LIE_RECV + 1, 0
};

FIXTURE_VARIANT_ADD(beyond, imm_by_forty)
{
	0, LIE_RECV + 40, 0
};

FIXTURE_VARIANT_ADD(beyond, notify)
{
	RNOTIFY_WIRE_NOTIFY, LIE_RECV + 1, 1
};

FIXTURE_VARIANT_ADD(beyond, notify_of_all)
{
	RNOTIFY_WIRE_NOTIFY, 1, LIE_RECV + 1
};

FIXTURE_VARIANT_ADD(beyond, notify_of_three)
{
	RNOTIFY_WIRE_NOTIFY, 2, 3
};

FIXTURE_VARIANT_ADD(beyond, message)
{
	RNOTIFY_WIRE_MESSAGE, LIE_RECV + 1, 0
};

FIXTURE_SETUP(beyond)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(beyond)
{
	lie_close(&self->l);
}

/* What was within the credit is delivered, to the last one. */
TEST_F(beyond, data_credit)
{
	const struct rnotify_wire_record records[LIE_RECV + 1] = {};
	struct rnotify_wire_msg msg = { .type = variant->type };
	struct lie *l = &self->l;

	if (variant->type == RNOTIFY_WIRE_NOTIFY) {
		msg.notify.nr = variant->records;
		msg.notify.records = records;
	}
	for (unsigned int i = 0; i < variant->nr; i++) {
		if (variant->type)
			raw_send(&l->r, &msg);
		else
			raw_rdma(&l->r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, 0,
				 i);
	}
	lie_caught(l);
	EXPECT_EQ(LIE_RECV, l->down.delivered);
}

/* Within the credit, a pause, and then beyond it. */
TEST_F(beyond, after_a_pause)
{
	struct lie *l = &self->l;

	for (unsigned int i = 0; i < LIE_RECV; i++)
		raw_notify(&l->r, i);
	ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&l->r));
	for (unsigned int i = 0; i < LIE_RECV + 1 + variant->nr; i++)
		raw_rdma(&l->r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, 0, i);
	lie_caught(l);
	EXPECT_EQ(LIE_RECV, l->down.delivered);
}

/* ---- control messages and shares ---- */

/*
 * Answers that nobody asked for take credit all the same. That which comes back is
 * not heard by a peer without receives, and so is not spent by an honest one.
 */
TEST_F(credit, control_without_credit)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_REGION_GONE_ACK,
		.gone.share_id = 99,
	};
	struct lie *l = &self->l;

	l->r.no_receives = true;
	lie_connect(l);
	for (int i = 0; i < 40; i++)
		raw_send(&l->r, &msg);
	lie_told(l, RNOTIFY_REASON_PROTOCOL, -EPROTO,
		 RNOTIFY_STAGE_ESTABLISHED);
	lie_untouched(l);
}

TEST_F(credit, share_without_credit)
{
	struct lie *l = &self->l;
	struct rnotify_wire_msg msg;
	struct rnotify_event ev;
	__le32 key;

	lie_connect(l);
	for (unsigned int i = 1; i <= LIE_REGIONS + 1; i++) {
		raw_region(&l->r, &msg, &key, i, 4096, RNOTIFY_RIGHT_WRITE);
		raw_send(&l->r, &msg);
	}
	for (unsigned int i = 1; i <= LIE_REGIONS; i++)
		rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	lie_caught(l);
}

/* Taken back is not given back: the user has not consumed the news. */
TEST_F(credit, share_without_credit_after_gone)
{
	struct rnotify_wire_msg msg, gone = {
		.type = RNOTIFY_WIRE_REGION_GONE,
	};
	struct lie *l = &self->l;
	__le32 key;

	lie_connect(l);
	for (unsigned int i = 1; i <= LIE_REGIONS + 1; i++) {
		raw_region(&l->r, &msg, &key, i, 4096, RNOTIFY_RIGHT_WRITE);
		raw_send(&l->r, &msg);
		if (i > LIE_REGIONS)
			break;
		gone.gone.share_id = i;
		raw_send(&l->r, &gone);
		raw_expect(&l->r, RNOTIFY_WIRE_REGION_GONE_ACK, NULL);
	}
	lie_caught(l);
}

/* ---- credit that is given ---- */

FIXTURE(grant)
{
	struct lie l;
};

FIXTURE_VARIANT(grant)
{
	__u64 data, ctrl, regions;
	bool lie;
};

#define GRANT(name, ...) FIXTURE_VARIANT_ADD(grant, name) { __VA_ARGS__ }

/* windows of the hello: 4, 2, 2 */
GRANT(nothing_new, 4, 2, 2, false);
GRANT(zero, 0, 0, 0, false);
GRANT(less, 3, 1, 1, false);
GRANT(data_beyond, 65536, 2, 2, true);
GRANT(data_2_63, 1ull << 63, 2, 2, true);
GRANT(data_all_ones, ~0ull, 2, 2, true);
GRANT(ctrl_beyond, 4, 65536, 2, true);
GRANT(ctrl_all_ones, 4, ~0ull, 2, true);
GRANT(regions_beyond, 4, 2, 65536, true);
GRANT(regions_2_32, 4, 2, 1ull << 32, true);
GRANT(all_beyond, ~0ull, ~0ull, ~0ull, true);

FIXTURE_SETUP(grant)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(grant)
{
	lie_close(&self->l);
}

TEST_F(grant, is_checked)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_CREDIT,
		.credit = { variant->data, variant->ctrl, variant->regions },
	};
	struct rnotify_endpoint_info info;
	struct lie *l = &self->l;

	raw_send(&l->r, &msg);
	if (variant->lie) {
		lie_caught(l);
		return;
	}
	raw_send(&l->r, &msg);
	lie_harmless(l);
	rnt_info(&l->c, l->ep, &info);
	/* one was used, and may be back */
	EXPECT_GE(info.tx_credits, 3);
	EXPECT_LE(info.tx_credits, 4);
}

/* ---- floods of what takes no credit: they cost the time that they take ---- */

TEST_F(credit, flood_of_old_credit)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_CREDIT,
		.credit = { 4, 2, 2 },
	};
	struct lie *l = &self->l;

	lie_connect(l);
	for (unsigned int i = 0; i < rnt_count(6000); i++) {
		raw_send(&l->r, &msg);
		if (i % 500 == 0)
			lie_untouched(l);
	}
	lie_harmless(l);
}

/* Zero-length writes are keepalives; short ones into a share its good right. */
TEST_F(credit, flood_of_writes)
{
	struct lie *l = &self->l;
	struct raw_share *s;

	lie_connect(l);
	s = lie_share(l, RNOTIFY_RIGHT_WRITE, NULL);
	memset(l->r.data, LIE_GUARD_BYTE, 64);
	for (unsigned int i = 0; i < rnt_count(6000); i++) {
		raw_rdma(&l->r, IBV_WR_RDMA_WRITE, 0, i % 2 * 64,
			 i % 2 ? raw_addr(s, 0) : ~0ull,
			 i % 2 ? raw_key(s, 0) : ~0u, 0);
		if (i % 500 == 0)
			lie_untouched(l);
	}
	lie_harmless(l);
	rnt_expect_none(&l->c, l->ep, 0);
}

/* Zero-length with immediate data: a notification, whatever the key. */
TEST_F(credit, bare_notification_with_nonsense)
{
	struct lie *l = &self->l;
	struct rnotify_event ev;

	lie_connect(l);
	for (unsigned int i = 0; i < 3; i++)
		raw_rdma(&l->r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0,
			 0xffffffffffff0000ull, 0xdeadbeef, i);
	l->r.credit[RAW_DATA_CREDIT].used += 3;
	for (unsigned int i = 0; i < 3; i++) {
		rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_NOTIFY, &ev);
		EXPECT_EQ(i, ev.notify.imm);
		EXPECT_EQ(0, ev.notify.byte_len);
	}
	lie_harmless(l);
}

/* ---- order ---- */

TEST_F(credit, nothing_counts_after_goodbye)
{
	struct lie *l = &self->l;
	struct rnotify_event ev;

	lie_connect(l);
	raw_notify(&l->r, 1);
	raw_goodbye(&l->r, RNOTIFY_REASON_LOCAL_CLOSE, 0);
	for (unsigned int i = 0; i < 20; i++)
		raw_rdma(&l->r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, 0, 2);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_NOTIFY, &ev);
	EXPECT_EQ(1, ev.notify.imm);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.vendor_err);
	EXPECT_EQ(1, ev.down.delivered);
	lie_untouched(l);
}

/* What the other side says of us is passed on, and not more. */
TEST_F(credit, goodbye_with_any_reason)
{
	static const unsigned int reasons[] = {
		RNOTIFY_REASON_LOCAL_CLOSE, RNOTIFY_REASON_PEER_EXIT,
		RNOTIFY_REASON_PROTOCOL, RNOTIFY_REASON_RESOURCES, 13, 0xffff,
	};
	struct lie *l = &self->l;

	lie_connect(l);
	for (unsigned int i = 0; i < ARRAY_SIZE(reasons); i++) {
		raw_goodbye(&l->r, reasons[i], -ENOMEM);
		lie_told(l, reasons[i] == RNOTIFY_REASON_PEER_EXIT ?
			 RNOTIFY_REASON_PEER_EXIT : RNOTIFY_REASON_PEER_CLOSE,
			 -ECONNRESET, RNOTIFY_STAGE_ESTABLISHED);
		EXPECT_EQ(reasons[i], l->down.vendor_err);
		lie_untouched(l);
		lie_reconnect(l);
	}
}

TEST_HARNESS_MAIN
