// SPDX-License-Identifier: GPL-2.0
/*
 * Small notifications of a batch share packets. What is on the wire, as a plain peer
 * sees it; and that all that is promised of one notification holds for it in a
 * bundle: order, bytes, credit, one outcome (P1, P2, P6, P8).
 *
 * rvm: limit=90
 */
#include "kselftest_harness.h"
#include "raw.h"

#define AREA	65536	/* of the plain peer, shared */
#define GUARD	0xee
#define MANY	16	/* the kernel takes so many at once */
#define BAD_CHUNK 15

FIXTURE(bundle)
{
	struct rnt_ctx c;
	struct raw r;
	struct rnt_region mem;
	__u32 ep;
	__u32 remote;
};

FIXTURE_VARIANT(bundle)
{
	unsigned int features;	/* of the plain peer */
};

FIXTURE_VARIANT_ADD(bundle, records)
{
	.features = RNOTIFY_WIRE_FEATURE_RECORDS,
};

FIXTURE_VARIANT_ADD(bundle, one_by_one)
{
	.features = ~RNOTIFY_WIRE_FEATURE_RECORDS,
};

/* In chunks of 4 KiB, which have the same key; but that of BAD_CHUNK opens nothing. */
static __u32 raw_shares(FIXTURE_DATA(bundle) *self)
{
	__le32 key[AREA / 4096];
	struct rnotify_wire_msg msg;
	struct rnotify_event ev;

	raw_region(&self->r, &msg, key, 1, AREA,
		   RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ);
	for (unsigned int i = 1; i < ARRAY_SIZE(key); i++)
		key[i] = i == BAD_CHUNK ? ~key[0] : key[0];
	msg.region.chunk_shift = 12;
	msg.region.nr_keys = ARRAY_SIZE(key);
	msg.region.keys_here = ARRAY_SIZE(key);
	raw_take_credit(&self->r, RAW_CTRL_CREDIT);
	raw_take_credit(&self->r, RAW_REGION_CREDIT);
	raw_send(&self->r, &msg);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	return ev.region.remote_id;
}

FIXTURE_SETUP(bundle)
{
	__u16 port = 0;

	rnt_init(&self->c, 512, 1024);
	rnt_region_alloc(&self->c, &self->mem, AREA);
	rnt_fill(self->mem.p, AREA, 1);
	raw_init(&self->r);
	self->r.hello.features = variant->features;
	self->r.hello.data_credits = 64;
	rnt_listen(&self->c, rnt_addr4(), &port, 1);
	raw_connect(&self->r, port);
	self->ep = rnt_request(&self->c, NULL);
	rnt_check_eq(0, rnt_accept(&self->c, self->ep, NULL, 0xb));
	raw_established(&self->r);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	memset(self->r.data, GUARD, AREA);
	self->remote = raw_shares(self);
}

FIXTURE_TEARDOWN(bundle)
{
	raw_close(&self->r);
	rnt_close(&self->c);
}

/* From the same offset of the local memory, which so tells where it must lie. */
static struct rnotify_op write_at(FIXTURE_DATA(bundle) *self, __u64 at, __u32 len,
				  __u32 imm)
{
	struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->ep,
					 self->mem.id, at, self->remote, at,
					 len);

	op.imm = imm;
	return op;
}

static struct rnotify_op inline_at(FIXTURE_DATA(bundle) *self, __u64 at,
				   __u32 len, __u32 imm)
{
	struct rnotify_op op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->ep,
					     self->mem.p + at, self->remote, at,
					     len);

	op.imm = imm;
	return op;
}

/* What the peer has given back may be on its way. */
static void await_credit(FIXTURE_DATA(bundle) *self, unsigned int nr)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_endpoint_info info;

	for (;;) {
		rnt_info(&self->c, self->ep, &info);
		if (info.tx_credits >= nr)
			return;
		rnt_check(rnt_left_ms(deadline));
		raw_pump(&self->r, 1);
	}
}

/* All at once: a batch that has to wait for credit is two. */
static void post_all(FIXTURE_DATA(bundle) *self, const struct rnotify_op *ops,
		     unsigned int nr)
{
	unsigned int accepted;
	int error;

	await_credit(self, nr);
	rnt_check_eq(0, rnt_post(&self->c, ops, nr, 5000, &accepted, &error));
	rnt_check_eq(nr, accepted);
}

/* The next @nr notifications are those of @ops, @of of them in each packet. */
static void arrive(FIXTURE_DATA(bundle) *self,
		   const FIXTURE_VARIANT(bundle) *variant,
		   const struct rnotify_op *ops, unsigned int nr, unsigned int of)
{
	struct raw_arrival a;

	if (!(variant->features & RNOTIFY_WIRE_FEATURE_RECORDS))
		of = 0;
	for (unsigned int i = 0; i < nr; i++) {
		raw_expect(&self->r, RNOTIFY_WIRE_NOTIFY, &a);
		rnt_check_eq(ops[i].imm, a.value);
		rnt_check_eq(ops[i].length, a.len);
		rnt_check_eq(of, a.of);
	}
}

/* What lies in [@from, @to) came from there; all else is untouched. */
static bool landed(FIXTURE_DATA(bundle) *self, size_t from, size_t to)
{
	return rnt_diff_byte(self->r.data, from, GUARD) < 0 &&
	       !memcmp(self->r.data + from, self->mem.p + from, to - from) &&
	       rnt_diff_byte(self->r.data + to, AREA - to, GUARD) < 0;
}

static __u64 bundled(FIXTURE_DATA(bundle) *self)
{
	struct rnotify_endpoint_info info;

	rnt_info(&self->c, self->ep, &info);
	return info.tx_bundled;
}

static __u64 expected(const FIXTURE_VARIANT(bundle) *variant, __u64 nr)
{
	return variant->features & RNOTIFY_WIRE_FEATURE_RECORDS ? nr : 0;
}

/* One behind the other, out of memory of the kernel or inline. */
TEST_F(bundle, P1_side_by_side)
{
	static const unsigned int lens[] = { 1, 8, 64, 100, 128 };
	struct rnotify_op ops[MANY];

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		unsigned int len = lens[i / 2];
		size_t at = i * 4096 + 100 + i;

		memset(self->r.data, GUARD, AREA);
		for (unsigned int n = 0; n < MANY; n++)
			ops[n] = i % 2 ? inline_at(self, at + n * len, len, ~n) :
					 write_at(self, at + n * len, len, ~n);
		post_all(self, ops, MANY);
		arrive(self, variant, ops, MANY, MANY);
		ASSERT_TRUE(landed(self, at, at + MANY * len))
			TH_LOG("round %u", i);
	}
	EXPECT_EQ(expected(variant, 2 * ARRAY_SIZE(lens) * MANY), bundled(self));
}

/* More than one call of the kernel's own batch, and all inline. */
TEST_F(bundle, P1_large_batches)
{
	struct rnotify_op ops[4 * MANY - 1];

	for (unsigned int n = 0; n < ARRAY_SIZE(ops); n++)
		ops[n] = inline_at(self, 64 * n, 64, n);
	post_all(self, ops, ARRAY_SIZE(ops));
	for (unsigned int n = 0; n < 3; n++)
		arrive(self, variant, ops + n * MANY, MANY, MANY);
	arrive(self, variant, ops + 3 * MANY, MANY - 1, MANY - 1);
	EXPECT_TRUE(landed(self, 0, 64 * ARRAY_SIZE(ops)));
}

/* Bare ones need no WRITE: two are enough. */
TEST_F(bundle, bare)
{
	struct rnotify_op ops[MANY];

	for (unsigned int nr = 1; nr <= MANY; nr++) {
		for (unsigned int n = 0; n < nr; n++)
			ops[n] = rnt_op_notify(self->ep, 1000 * nr + n);
		post_all(self, ops, nr);
		arrive(self, variant, ops, nr, nr > 1 ? nr : 0);
	}
	EXPECT_TRUE(landed(self, 0, 0));
}

/* Where nothing is saved, all is as it was. */
TEST_F(bundle, nothing_to_save)
{
	struct rnotify_op ops[MANY];

	ops[0] = write_at(self, 0, 64, 0);
	ops[1] = write_at(self, 64, 64, 1);
	post_all(self, ops, 2);
	arrive(self, variant, ops, 2, 0);

	/* apart from each other, backwards */
	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, 128 * (MANY - n), 64, n);
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, 0);

	/* too long */
	for (unsigned int n = 0; n < 4; n++)
		ops[n] = write_at(self, 4096 + 513 * n, 513, n);
	for (unsigned int n = 4; n < 8; n++)
		ops[n] = inline_at(self, 8192 + 129 * n, 129, n);
	post_all(self, ops, 8);
	arrive(self, variant, ops, 8, 0);
	/* too little: one work request of many */
	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, 128 * (MANY - n), 64, n);
	ops[MANY - 2] = rnt_op_notify(self->ep, MANY - 2);
	ops[MANY - 1] = rnt_op_notify(self->ep, MANY - 1);
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, 0);
	EXPECT_EQ(0, bundled(self));
}

/* Some apart do not keep the others from it. */
TEST_F(bundle, P1_some_apart)
{
	struct rnotify_op ops[MANY];

	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, n < MANY / 2 ? 128 * (MANY - n) :
				  8192 + 64 * n, 64, n);
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, MANY);
	for (unsigned int n = 0; n < MANY; n++)
		ASSERT_EQ(0, memcmp(self->r.data + ops[n].remote_offset,
				    self->mem.p + ops[n].local_offset, 64));
	/* three that do, and one elsewhere */
	ops[3] = write_at(self, 0, 64, 3);
	for (unsigned int n = 0; n < 3; n++)
		ops[n] = write_at(self, 1024 + 64 * n, 64, n);
	post_all(self, ops, 4);
	arrive(self, variant, ops, 3, 3);
	arrive(self, variant, ops + 3, 1, 0);
}

/* The longest that share a packet; and chunk borders end a WRITE. */
TEST_F(bundle, P8_across_chunks)
{
	struct rnotify_op ops[MANY];

	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, 2048 + 512 * n, 512, n);
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, MANY);
	ASSERT_TRUE(landed(self, 2048, 2048 + 512 * MANY));

	/* one that crosses the border goes alone, and divides the others */
	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, 3 * 4096 - 100 * 7 - 50 + 100 * n, 100, n);
	post_all(self, ops, MANY);
	arrive(self, variant, ops, 7, 7);
	/* WRITEs and a NOTIFY, whoever the peer is */
	raw_expect(&self->r, RNOTIFY_WIRE_NOTIFY, NULL);
	arrive(self, variant, ops + 8, MANY - 8, MANY - 8);
	EXPECT_EQ(0, memcmp(self->r.data + 2048, self->mem.p + 2048,
			    512 * MANY));
	EXPECT_EQ(0, memcmp(self->r.data + 3 * 4096 - 750,
			    self->mem.p + 3 * 4096 - 750, 100 * MANY));
}

/* Local memory in pieces: user pages, and every second piece of the region. */
TEST_F(bundle, P8_pieces)
{
	struct rnotify_op ops[MANY];
	struct rnt_region user;
	char *p = rnt_anon(AREA);

	rnt_fill(p, AREA, 7);
	rnt_region_user(&self->c, &user, p, AREA, 0);
	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->ep, user.id,
				   n * 4096 + 4000, self->remote, n * 200, 200);
	/* the last one would end beyond the region */
	ops[MANY - 1].local_offset = 4000;
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, MANY);
	for (unsigned int n = 0; n < MANY; n++)
		ASSERT_EQ(0, memcmp(self->r.data + n * 200,
				    p + ops[n].local_offset, 200));
	EXPECT_EQ(-1, rnt_diff_byte(self->r.data + MANY * 200, 4096, GUARD));
}

/* Others stand between: each bundle ends before them, and order is kept. */
TEST_F(bundle, P1_among_others)
{
	struct rnotify_op ops[12];
	struct raw_arrival a;

	for (unsigned int n = 0; n < ARRAY_SIZE(ops); n++)
		ops[n] = inline_at(self, 64 * n, 64, n);
	ops[3] = rnt_op_inline(RNOTIFY_OP_SEND_IMM, self->ep, "between", 0, 0, 8);
	ops[3].imm = 3;
	ops[7] = rnt_op_rw(RNOTIFY_OP_WRITE, self->ep, self->mem.id, 64 * 7,
			   self->remote, 64 * 7, 64);
	ops[8] = rnt_op_notify(self->ep, 8);
	ops[9] = rnt_op_notify(self->ep, 9);
	ops[10] = rnt_op_notify(self->ep, 10);
	ops[11] = rnt_op_notify(self->ep, 11);
	ops[10].flags |= RNOTIFY_OP_F_FENCE;
	post_all(self, ops, ARRAY_SIZE(ops));
	arrive(self, variant, ops, 3, 3);
	raw_expect(&self->r, RNOTIFY_WIRE_MESSAGE, &a);
	EXPECT_EQ(3, a.value);
	arrive(self, variant, ops + 4, 3, 3);
	arrive(self, variant, ops + 8, 2, 2);
	arrive(self, variant, ops + 10, 2, 2);
	EXPECT_EQ(0, memcmp(self->r.data, self->mem.p, 64 * 3));
	EXPECT_EQ(0, memcmp(self->r.data + 256, self->mem.p + 256, 64 * 4));
}

/* What stands before a bad one is posted, in one packet. */
TEST_F(bundle, bad_one_in_the_middle)
{
	struct rnotify_op ops[MANY];
	unsigned int accepted;
	int error;

	for (unsigned int n = 0; n < MANY; n++)
		ops[n] = write_at(self, 64 * n, 64, n);
	ops[9].remote_offset = AREA;
	ASSERT_EQ(0, rnt_post(&self->c, ops, MANY, 5000, &accepted, &error));
	ASSERT_EQ(9, accepted);
	EXPECT_EQ(-ERANGE, error);
	arrive(self, variant, ops, 9, 9);
	EXPECT_TRUE(landed(self, 0, 9 * 64));
}

/* As many as there is credit for; each takes one of its own. */
TEST_F(bundle, P2_credit)
{
	struct rnotify_op ops[100];
	unsigned int accepted;
	int error;

	for (unsigned int n = 0; n < ARRAY_SIZE(ops); n++)
		ops[n] = rnt_op_notify(self->ep, n);
	ASSERT_EQ(0, rnt_post(&self->c, ops, ARRAY_SIZE(ops), 0, &accepted,
			      &error));
	/* the peer has given 64, and takes nothing meanwhile */
	EXPECT_EQ(64, accepted);
	EXPECT_EQ(-EAGAIN, error);
	for (unsigned int n = 0; n < 64; n += MANY)
		arrive(self, variant, ops + n, MANY, MANY);
	post_all(self, ops + 64, 36);
	arrive(self, variant, ops + 64, MANY, MANY);
	arrive(self, variant, ops + 80, MANY, MANY);
	arrive(self, variant, ops + 96, 4, 4);
	rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_WRITABLE, NULL);
}

/* Who asked is told, once each, in order. */
TEST_F(bundle, P6_completions)
{
	struct rnotify_op ops[MANY];
	struct rnotify_event ev;

	for (unsigned int n = 0; n < MANY; n++) {
		ops[n] = write_at(self, 64 * n, 64, n);
		ops[n].user_data = n;
		if (n % 3 == 0)
			ops[n].flags |= RNOTIFY_OP_F_SIGNALED;
	}
	post_all(self, ops, MANY);
	arrive(self, variant, ops, MANY, MANY);
	for (unsigned int n = 0; n < MANY; n += 3) {
		rnt_expect_tx(&self->c, self->ep, n, 0, &ev);
		EXPECT_EQ(64, ev.tx.byte_len);
		EXPECT_EQ(RNOTIFY_OP_WRITE_IMM, ev.tx.opcode);
	}
}

static void expect_failed(FIXTURE_DATA(bundle) *self, unsigned int from,
			  unsigned int to, int error)
{
	struct rnotify_event ev;

	for (unsigned int n = from; n < to; n++) {
		rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_TX_DONE, &ev);
		rnt_check_eq(n, ev.tx.user_data);
		rnt_check_eq(error, ev.tx.error);
	}
}

/* Refused by the peer's device: all of them have failed, and nobody was told. */
TEST_F(bundle, P6_refused)
{
	const unsigned int together = expected(variant, MANY) ? MANY : 1;
	struct rnotify_op ops[MANY];
	struct rnotify_event ev;

	rnt_check_eq(0, ibv_dereg_mr(self->r.data_mr));
	self->r.data_mr = NULL;
	for (unsigned int n = 0; n < MANY; n++) {
		ops[n] = inline_at(self, 64 * n, 64, n);
		ops[n].user_data = n;
		ops[n].flags |= RNOTIFY_OP_F_SIGNALED;
	}
	post_all(self, ops, MANY);
	expect_failed(self, 0, together, -EACCES);
	expect_failed(self, together, MANY, -ECONNABORTED);
	rnt_down(&self->c, self->ep, RNOTIFY_REASON_TRANSPORT, &ev);
	EXPECT_EQ(-EACCES, ev.down.error);
	EXPECT_EQ(0, ev.down.confirmed);
	while (raw_pump(&self->r, 0))
		;
	EXPECT_EQ(0, self->r.nr_arrivals);
	EXPECT_TRUE(landed(self, 0, 0));
}

/*
 * The first WRITE of the bundle goes, the second is refused: none of its operations
 * has gone, and those of the bundle before it have.
 */
TEST_F(bundle, P6_second_write_refused)
{
	const unsigned int bad = 12;	/* the first in the bad chunk */
	const __u64 at = BAD_CHUNK * 4096 - bad * 64;
	struct rnotify_op ops[2 * MANY];
	unsigned int failed, nr = 0;
	struct rnotify_event ev;

	for (unsigned int n = 0; n < 2 * MANY; n++) {
		ops[n] = n < MANY ? inline_at(self, 64 * n, 64, n) :
				    write_at(self, at + 64 * (n - MANY), 64, n);
		ops[n].user_data = n;
		ops[n].flags |= RNOTIFY_OP_F_SIGNALED;
	}
	post_all(self, ops, 2 * MANY);
	failed = MANY + (expected(variant, 1) ? 0 : bad);
	for (unsigned int n = 0; n < failed; n++)
		rnt_expect_tx(&self->c, self->ep, n, 0, NULL);
	if (expected(variant, 1)) {
		expect_failed(self, failed, 2 * MANY, -EACCES);
	} else {
		expect_failed(self, failed, failed + 1, -EACCES);
		expect_failed(self, failed + 1, 2 * MANY, -ECONNABORTED);
	}
	rnt_down(&self->c, self->ep, RNOTIFY_REASON_TRANSPORT, &ev);
	EXPECT_EQ(failed, ev.down.confirmed);
	while (raw_pump(&self->r, 0))
		;
	while (nr < self->r.nr_arrivals &&
	       self->r.arrival[nr].type == RNOTIFY_WIRE_NOTIFY)
		nr++;
	EXPECT_EQ(failed, nr);
}

/* The receiving side: of a plain peer, and within its credit. */
TEST_F(bundle, received)
{
	struct rnotify_wire_record records[RNOTIFY_WIRE_RECORDS_MAX];
	const struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_NOTIFY,
		.notify = { .nr = ARRAY_SIZE(records), .records = records },
	};
	struct rnotify_event ev;

	for (unsigned int i = 0; i < ARRAY_SIZE(records); i++) {
		records[i].imm = cpu_to_le32(~i);
		records[i].byte_len = cpu_to_le32(i << 20);
		raw_take_credit(&self->r, RAW_DATA_CREDIT);
	}
	raw_send(&self->r, &msg);
	for (unsigned int i = 0; i < ARRAY_SIZE(records); i++) {
		rnt_expect(&self->c, self->ep, RNOTIFY_EVENT_NOTIFY, &ev);
		EXPECT_EQ(~i, ev.notify.imm);
		EXPECT_EQ(i << 20, ev.notify.byte_len);
		EXPECT_EQ(i + 1, ev.seq);
		EXPECT_EQ(RNOTIFY_EVENT_F_IMM, ev.flags);
	}
}

TEST_HARNESS_MAIN
