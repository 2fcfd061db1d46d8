// SPDX-License-Identifier: GPL-2.0
/*
 * READ, FETCH_ADD, CMP_SWAP and FENCE: operations that bring something back.
 *
 * rvm: limit=90
 */
#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(4 * RNT_PAGE)
#define GUARD	0x5a5a5a5a5a5a5a5aull

FIXTURE(atomics)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region own;	/* a's */
	struct rnt_region dst;	/* b's */
	__u64 *result;
	__u64 *target;
	__u32 remote;
	__u64 posted;
};

FIXTURE_VARIANT(atomics)
{
	bool user;
};

FIXTURE_VARIANT_ADD(atomics, alloc) { .user = false };
FIXTURE_VARIANT_ADD(atomics, user) { .user = true };

FIXTURE_SETUP(atomics)
{
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	if (variant->user) {
		rnt_region_user(&self->a, &self->own,
				(char *)rnt_anon(LEN + RNT_PAGE) + 8, LEN, 0);
		rnt_region_user(&self->b, &self->dst,
				(char *)rnt_anon(LEN + RNT_PAGE) + 4080, LEN,
				0);
	} else {
		rnt_region_alloc(&self->a, &self->own, LEN);
		rnt_region_alloc(&self->b, &self->dst, LEN);
	}
	self->result = (__u64 *)self->own.p;
	self->target = (__u64 *)self->dst.p;
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0,
				 RNOTIFY_RIGHT_ATOMIC | RNOTIFY_RIGHT_READ |
				 RNOTIFY_RIGHT_WRITE, NULL);
}

FIXTURE_TEARDOWN(atomics)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void do_op(FIXTURE_DATA(atomics) *self, struct rnotify_op *op)
{
	struct rnotify_event ev;

	op->flags |= RNOTIFY_OP_F_SIGNALED;
	op->user_data = ++self->posted;
	rnt_post1(&self->a, op);
	rnt_expect_tx(&self->a, self->p.ea, self->posted, 0, &ev);
	rnt_check_eq(op->opcode, ev.tx.opcode);
	rnt_check_eq(op->length, ev.tx.byte_len);
}

static struct rnotify_op op_at(FIXTURE_DATA(atomics) *self, unsigned int opcode,
			       unsigned int word)
{
	return rnt_op_rw(opcode, self->p.ea, self->own.id, word * 8,
			 self->remote, word * 8, 8);
}

TEST_F(atomics, fetch_add)
{
	static const __u64 addends[] = {
		0, 1, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull,
		0x0123456789abcdef,
	};
	/* first and last words, and around the page borders */
	static const unsigned int words[] = {
		0, 1, 2, 510, 511, 512, 513, 1000, LEN / 8 - 1,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		unsigned int w = words[i];
		__u64 value = 0x1111111122222222ull * i;

		for (unsigned int j = 0; j < LEN / 8; j++) {
			self->target[j] = GUARD;
			self->result[j] = ~GUARD;
		}
		self->target[w] = value;
		for (unsigned int j = 0; j < ARRAY_SIZE(addends); j++) {
			struct rnotify_op op = op_at(self, RNOTIFY_OP_FETCH_ADD,
						     w);

			op.operand = addends[j];
			do_op(self, &op);
			ASSERT_EQ(value, self->result[w]);
			value += addends[j];
			ASSERT_EQ(value, self->target[w]);
		}
		for (unsigned int j = 0; j < LEN / 8; j++) {
			if (j == w)
				continue;
			ASSERT_EQ(GUARD, self->target[j]);
			ASSERT_EQ(~GUARD, self->result[j]);
		}
	}
	/* nobody's process hears of it */
	rnt_expect_none(&self->b, 0, 5);
}

TEST_F(atomics, cmp_swap)
{
	struct rnotify_op op = op_at(self, RNOTIFY_OP_CMP_SWAP, 3);

	self->target[2] = GUARD;
	self->target[4] = GUARD;
	self->target[3] = 0x8000000000000001ull;
	/* equal: swapped */
	op.operand = 0x8000000000000001ull;
	op.swap = 0xfedcba9876543210ull;
	do_op(self, &op);
	ASSERT_EQ(0x8000000000000001ull, self->result[3]);
	ASSERT_EQ(0xfedcba9876543210ull, self->target[3]);
	/* different in one bit: not */
	op.operand = 0xfedcba9876543211ull;
	op.swap = 7;
	do_op(self, &op);
	ASSERT_EQ(0xfedcba9876543210ull, self->result[3]);
	ASSERT_EQ(0xfedcba9876543210ull, self->target[3]);
	/* 0 and all ones are values like any other */
	op.operand = 0xfedcba9876543210ull;
	op.swap = 0;
	do_op(self, &op);
	ASSERT_EQ(0, self->target[3]);
	op.operand = 0;
	op.swap = ~0ull;
	do_op(self, &op);
	ASSERT_EQ(0, self->result[3]);
	ASSERT_EQ(~0ull, self->target[3]);
	ASSERT_EQ(GUARD, self->target[2]);
	ASSERT_EQ(GUARD, self->target[4]);
}

/* Several endpoints count in one word: no increment is lost. */
TEST_F(atomics, shared_counter)
{
	unsigned int rounds = rnt_count(500);
	struct rnt_pair p[3];
	__u32 remote[3];
	__u64 sum = 0;

	self->target[0] = 0;
	for (int i = 0; i < 3; i++) {
		if (i)
			rnt_pair_more(&self->p, &p[i]);
		else
			p[0] = self->p;
		remote[i] = rnt_grant(&p[i], self->dst.id, 0, 8,
				      RNOTIFY_RIGHT_ATOMIC, NULL);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		for (int j = 0; j < 3; j++) {
			struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_FETCH_ADD,
							 p[j].ea, self->own.id,
							 j * 8, remote[j], 0,
							 8);

			op.operand = j + 1;
			sum += j + 1;
			rnt_post1(&self->a, &op);
		}
	}
	for (int j = 0; j < 3; j++) {
		struct rnotify_op op = rnt_op_notify(p[j].ea, 0);

		op.flags = RNOTIFY_OP_F_FENCE;
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, p[j].eb, RNOTIFY_EVENT_NOTIFY, NULL);
	}
	ASSERT_EQ(sum, self->target[0]);
}

/*
 * A NOTIFY with FENCE starts after the READs before it: when the peer sees it,
 * it may change what was read.
 */
TEST_F(atomics, fence)
{
	unsigned int rounds = rnt_count(300);

	for (unsigned int i = 0; i < rounds; i++) {
		struct rnotify_op ops[3];
		unsigned int accepted;

		rnt_fill(self->dst.p, LEN, i);
		memset(self->own.p, 0, LEN);
		ops[0] = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea, self->own.id,
				   0, self->remote, 0, LEN);
		ops[0].flags = RNOTIFY_OP_F_SIGNALED;
		ops[1] = rnt_op_notify(self->p.ea, i);
		ops[1].flags = RNOTIFY_OP_F_FENCE;
		ASSERT_EQ(0, rnt_post(&self->a, ops, 2, 1000, &accepted,
				      NULL));
		ASSERT_EQ(2, accepted);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		/* what the READ brings can't change any more */
		memset(self->dst.p, 0xff, LEN);
		rnt_expect_tx(&self->a, self->p.ea, 0, 0, NULL);
		ASSERT_EQ(-1, rnt_diff(self->own.p, LEN, i)) TH_LOG("round %u",
								    i);
	}
}

/* READ, then WRITE of what was read, with a fence: a copy on the peer. */
TEST_F(atomics, read_then_write_back)
{
	for (unsigned int i = 0; i < rnt_count(100); i++) {
		struct rnotify_op ops[2];
		struct rnotify_event ev;

		rnt_fill(self->dst.p, 1000, i);
		memset(self->dst.p + 2048, 0, 1000);
		memset(self->own.p, 0, 1000);
		ops[0] = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea, self->own.id,
				   0, self->remote, 0, 1000);
		ops[1] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea,
				   self->own.id, 0, self->remote, 2048, 1000);
		ops[1].flags = RNOTIFY_OP_F_FENCE;
		ops[1].imm = i;
		ASSERT_EQ(0, rnt_post(&self->a, ops, 2, 1000, NULL, NULL));
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
		ASSERT_EQ(-1, rnt_diff(self->dst.p + 2048, 1000, i));
	}
}

/* Many outstanding: more than the device answers at once. */
TEST_F(atomics, many_outstanding)
{
	struct rnotify_op ops[64];
	struct rnotify_event ev;
	unsigned int accepted;

	for (unsigned int round = 0; round < 5; round++) {
		self->target[7] = round;
		rnt_fill(self->dst.p + 1024, 1024, round);
		memset(self->own.p, 0, LEN);
		for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
			if (i % 2)
				ops[i] = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea,
						   self->own.id, 1024 + i * 16,
						   self->remote,
						   1024 + i * 16, 32);
			else
				ops[i] = rnt_op_rw(RNOTIFY_OP_FETCH_ADD,
						   self->p.ea, self->own.id,
						   i * 8, self->remote, 7 * 8,
						   8);
			ops[i].operand = i % 2 ? 0 : 1;
			ops[i].flags = RNOTIFY_OP_F_SIGNALED;
			ops[i].user_data = i;
		}
		ASSERT_EQ(0, rnt_post(&self->a, ops, ARRAY_SIZE(ops), 5000,
				      &accepted, NULL));
		ASSERT_EQ(ARRAY_SIZE(ops), accepted);
		for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
			rnt_expect_tx(&self->a, self->p.ea, i, 0, &ev);
			if (i % 2) {
				ASSERT_EQ(0, memcmp(self->own.p + 1024 + i * 16,
						    self->dst.p + 1024 + i * 16,
						    32));
			} else {
				ASSERT_EQ(round + i / 2, self->result[i]);
			}
		}
		ASSERT_EQ(round + 32, self->target[7]);
	}
}

TEST_HARNESS_MAIN
