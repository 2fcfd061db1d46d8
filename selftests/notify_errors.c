// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that can't be: each costs an errno, never the connection, and
 * leaves no trace (FAULTS 23; P5). After every one of them the endpoint works.
 *
 * rvm: limit=60
 */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(2 * RNT_PAGE)
#define W	RNOTIFY_RIGHT_WRITE
#define R	RNOTIFY_RIGHT_READ
#define A	RNOTIFY_RIGHT_ATOMIC

FIXTURE(errors)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;
	struct rnt_region ro;	/* a's, READ_ONLY */
	struct rnt_region dst;
	__u32 remote;		/* all rights */
	__u32 only[3];		/* W, R, A alone */
	__u32 sent;
};

FIXTURE_SETUP(errors)
{
	static const __u32 rights[] = { W, R, A };

	rnt_init(&self->a, 1024, 256);
	rnt_init(&self->b, 1024, 256);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_region_alloc(&self->a, &self->src, LEN);
	rnt_region_user(&self->a, &self->ro, rnt_anon(LEN), LEN,
			RNOTIFY_REGION_READ_ONLY);
	rnt_region_alloc(&self->b, &self->dst, LEN);
	memset(self->dst.p, 0xee, LEN);
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0, W | R | A,
				 NULL);
	for (int i = 0; i < 3; i++)
		self->only[i] = rnt_grant(&self->p, self->dst.id, 0, 0,
					  rights[i], NULL);
}

FIXTURE_TEARDOWN(errors)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* The connection lives, nothing was delivered or written. */
static void still_works(FIXTURE_DATA(errors) *self)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, ++self->sent);
	struct rnotify_event ev;

	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(self->sent, ev.notify.imm);
	rnt_check_eq(self->sent, ev.seq);
	rnt_expect_none(&self->a, 0, 0);
	rnt_check_eq(-1, rnt_diff_byte(self->dst.p, LEN, 0xee));
}

/* A valid operation of each kind. */
static struct rnotify_op valid(FIXTURE_DATA(errors) *self, unsigned int opcode)
{
	struct rnotify_op op = rnt_op_rw(opcode, self->p.ea, self->src.id, 0,
					 self->remote, 0, 8);

	if (opcode == RNOTIFY_OP_NOTIFY)
		op = rnt_op_notify(self->p.ea, 1);
	if (opcode == RNOTIFY_OP_SEND || opcode == RNOTIFY_OP_SEND_IMM)
		op.remote_id = 0;
	return op;
}

#define for_each_opcode(code) \
	for (unsigned int code = RNOTIFY_OP_WRITE; \
	     code <= RNOTIFY_OP_CMP_SWAP; code++)

static bool is_atomic(unsigned int code)
{
	return code == RNOTIFY_OP_FETCH_ADD || code == RNOTIFY_OP_CMP_SWAP;
}

static bool is_send(unsigned int code)
{
	return code == RNOTIFY_OP_SEND || code == RNOTIFY_OP_SEND_IMM;
}

static bool is_remote(unsigned int code)
{
	return code != RNOTIFY_OP_NOTIFY && !is_send(code);
}

/* Both with and without NONBLOCK: a bad operation never waits. */
#define EXPECT_ERR(want, op) do {					\
	EXPECT_EQ(want, rnt_try(&self->a, op))				\
		TH_LOG("opcode %u", (op)->opcode);			\
	EXPECT_EQ(want, rnt_post(&self->a, op, 1, 1000, NULL, NULL));	\
} while (0)

TEST_F(errors, opcodes)
{
	static const __u16 bad[] = { 0, 9, 10, 255, 256, 0x8001, 0xffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct rnotify_op op = valid(self, RNOTIFY_OP_WRITE);

		op.opcode = bad[i];
		EXPECT_ERR(-EOPNOTSUPP, &op);
	}
	still_works(self);
}

TEST_F(errors, flags)
{
	for_each_opcode(code) {
		for (unsigned int bit = 0; bit < 16; bit++) {
			struct rnotify_op op = valid(self, code);
			bool may_inline = code == RNOTIFY_OP_WRITE ||
					  code == RNOTIFY_OP_WRITE_IMM ||
					  is_send(code);

			op.flags = 1u << bit;
			if (op.flags == RNOTIFY_OP_F_SIGNALED ||
			    op.flags == RNOTIFY_OP_F_FENCE)
				continue;
			if (op.flags == RNOTIFY_OP_F_INLINE && may_inline) {
				/* with a region: one of them is wrong */
				EXPECT_ERR(-EINVAL, &op);
				continue;
			}
			EXPECT_ERR(-EOPNOTSUPP, &op);
		}
	}
	still_works(self);
}

/* Members that an operation does not use must be 0. */
TEST_F(errors, unused_members)
{
	for_each_opcode(code) {
		struct rnotify_op op;
		bool imm = code == RNOTIFY_OP_WRITE_IMM ||
			   code == RNOTIFY_OP_NOTIFY ||
			   code == RNOTIFY_OP_SEND_IMM;

		if (!imm) {
			op = valid(self, code);
			op.imm = 1;
			EXPECT_ERR(-EINVAL, &op);
		}
		if (!is_atomic(code)) {
			op = valid(self, code);
			op.operand = 1ull << 63;
			EXPECT_ERR(-EINVAL, &op);
		}
		if (code != RNOTIFY_OP_CMP_SWAP) {
			op = valid(self, code);
			op.swap = 1;
			EXPECT_ERR(-EINVAL, &op);
		}
		if (!is_remote(code)) {
			op = valid(self, code);
			op.remote_id = self->remote;
			EXPECT_ERR(-EINVAL, &op);
			op = valid(self, code);
			op.remote_offset = 1;
			EXPECT_ERR(-EINVAL, &op);
		}
		if (code == RNOTIFY_OP_NOTIFY) {
			op = valid(self, code);
			op.region_id = self->src.id;
			EXPECT_ERR(-EINVAL, &op);
			op = valid(self, code);
			op.local_offset = 1;
			EXPECT_ERR(-EINVAL, &op);
			op = valid(self, code);
			op.length = 1;
			EXPECT_ERR(-EINVAL, &op);
		}
	}
	still_works(self);
}

TEST_F(errors, ids)
{
	for_each_opcode(code) {
		static const __u32 bad[] = { 0, 0x7fffffff, ~0u };
		struct rnotify_op op;

		for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
			op = valid(self, code);
			op.endpoint_id = bad[i];
			EXPECT_ERR(-ENOENT, &op);
			if (code == RNOTIFY_OP_NOTIFY)
				continue;
			op = valid(self, code);
			op.region_id = bad[i];
			EXPECT_ERR(-ENOENT, &op);
			if (!is_remote(code))
				continue;
			op = valid(self, code);
			op.remote_id = bad[i];
			EXPECT_ERR(-ENOENT, &op);
		}
		if (!is_remote(code))
			continue;
		/* neighbours of good ones */
		for (int i = -3; i <= 3; i++) {
			op = valid(self, code);
			op.remote_id = self->only[2] + 64 + i;
			EXPECT_ERR(-ENOENT, &op);
		}
	}
	still_works(self);
}

/* A remote id is good on its own endpoint only (P5). */
TEST_F(errors, P5_remote_id_of_another_endpoint)
{
	struct rnt_pair other;
	struct rnotify_op op;
	__u32 remote;

	rnt_pair_more(&self->p, &other);
	for_each_opcode(code) {
		if (!is_remote(code))
			continue;
		op = valid(self, code);
		op.endpoint_id = other.ea;
		EXPECT_ERR(-ENOENT, &op);
	}
	/* and what the peer holds is no right of its own */
	op = valid(self, RNOTIFY_OP_WRITE);
	op.endpoint_id = self->p.eb;
	op.region_id = self->dst.id;
	EXPECT_EQ(-ENOENT, rnt_try(&self->b, &op));
	/* after it got some itself, they are other ones */
	remote = rnt_grant(&other, self->dst.id, 0, 8, R, NULL);
	op = valid(self, RNOTIFY_OP_WRITE);
	op.endpoint_id = other.ea;
	op.remote_id = remote;
	EXPECT_ERR(-EACCES, &op);
	still_works(self);
}

TEST_F(errors, rights)
{
	static const __u32 needs[] = {
		[RNOTIFY_OP_WRITE] = 0, [RNOTIFY_OP_WRITE_IMM] = 0,
		[RNOTIFY_OP_READ] = 1, [RNOTIFY_OP_FETCH_ADD] = 2,
		[RNOTIFY_OP_CMP_SWAP] = 2,
	};

	for_each_opcode(code) {
		struct rnotify_op op = valid(self, code);

		if (!is_remote(code))
			continue;
		for (unsigned int i = 0; i < 3; i++) {
			if (i == needs[code])
				continue;
			op.remote_id = self->only[i];
			EXPECT_ERR(-EACCES, &op);
			/* not even nothing can be written without the right */
			if (is_atomic(code) || code == RNOTIFY_OP_READ)
				continue;
			op.length = 0;
			EXPECT_ERR(-EACCES, &op);
			op.length = 8;
		}
	}
	still_works(self);
}

/* Own memory that may only be read is no target. */
TEST_F(errors, read_only_target)
{
	for_each_opcode(code) {
		struct rnotify_op op = valid(self, code);

		if (!is_atomic(code) && code != RNOTIFY_OP_READ)
			continue;
		op.region_id = self->ro.id;
		EXPECT_ERR(-EACCES, &op);
	}
	still_works(self);
}

/* FAULTS 23: beyond either end, by one, by much, by wrapping. */
TEST_F(errors, ranges)
{
	static const __u64 bad[] = {
		LEN - 7, LEN - 1, LEN, LEN + 1, 1ull << 31, (1ull << 32) - 8,
		1ull << 32, 1ull << 62, 1ull << 63, ~0ull - 8, ~0ull - 7,
		~0ull - 3, ~0ull,
	};

	for_each_opcode(code) {
		for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
			struct rnotify_op op = valid(self, code);

			if (code != RNOTIFY_OP_NOTIFY) {
				op.local_offset = bad[i];
				EXPECT_ERR(-ERANGE, &op);
			}
			if (!is_remote(code))
				continue;
			op.local_offset = 0;
			op.remote_offset = bad[i];
			EXPECT_ERR(-ERANGE, &op);
		}
	}
	for_each_opcode(code) {
		struct rnotify_op op = valid(self, code);

		if (!is_remote(code) || is_atomic(code))
			continue;
		op.length = LEN + 1;
		EXPECT_ERR(-ERANGE, &op);
		op.length = LEN;
		op.remote_offset = 1;
		EXPECT_ERR(-ERANGE, &op);
		op.remote_offset = 0;
		op.local_offset = 1;
		EXPECT_ERR(-ERANGE, &op);
		op.local_offset = 0;
		op.length = RNOTIFY_OP_LEN_MAX;
		EXPECT_ERR(-ERANGE, &op);
		op.length = RNOTIFY_OP_LEN_MAX + 1;
		EXPECT_ERR(-EINVAL, &op);
		op.length = ~0u;
		EXPECT_ERR(-EINVAL, &op);
	}
	still_works(self);
}

/* A share of a part has its own ends; the region's other bytes are far away. */
TEST_F(errors, ranges_of_a_part)
{
	__u32 part = rnt_grant(&self->p, self->dst.id, 100, 50, W | R, NULL);
	static const __u64 bad[][2] = {
		{ 0, 51 }, { 1, 50 }, { 50, 1 }, { 51, 0 }, { 49, 2 },
		{ ~0ull, 1 }, { -100ull, 100 }, { -100ull, 150 },
	};
	struct rnotify_op op;

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		op = valid(self, RNOTIFY_OP_WRITE);
		op.remote_id = part;
		op.remote_offset = bad[i][0];
		op.length = bad[i][1];
		EXPECT_ERR(-ERANGE, &op);
		if (!op.length)
			continue;
		op.opcode = RNOTIFY_OP_READ;
		EXPECT_ERR(-ERANGE, &op);
	}
	still_works(self);
}

TEST_F(errors, inline_)
{
	static char text[300];
	struct rnotify_op op;

	for_each_opcode(code) {
		if (code != RNOTIFY_OP_WRITE && code != RNOTIFY_OP_WRITE_IMM &&
		    !is_send(code))
			continue;
		op = rnt_op_inline(code, self->p.ea, text,
				   is_send(code) ? 0 : self->remote, 0,
				   RNOTIFY_INLINE_MAX + 1);
		EXPECT_ERR(-EINVAL, &op);
		op.length = 1u << 30;
		EXPECT_ERR(-EINVAL, &op);
		op.length = 8;
		op.local_offset = 0;
		EXPECT_ERR(-EFAULT, &op);
		op.local_offset = ~0ull - 4;
		EXPECT_ERR(-EFAULT, &op);
	}
	still_works(self);
}

TEST_F(errors, atomics)
{
	static const __u32 lengths[] = { 0, 1, 4, 7, 9, 16, 1u << 30 };

	for_each_opcode(code) {
		struct rnotify_op op;

		if (!is_atomic(code))
			continue;
		for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
			op = valid(self, code);
			op.length = lengths[i];
			EXPECT_ERR(-EINVAL, &op);
		}
		for (unsigned int i = 1; i < 8; i++) {
			op = valid(self, code);
			op.remote_offset = i;
			EXPECT_ERR(-EINVAL, &op);
			op = valid(self, code);
			op.local_offset = i;
			EXPECT_ERR(-EINVAL, &op);
		}
		op = valid(self, code);
		op.length = 0;
		op.region_id = 0;
		EXPECT_ERR(-EINVAL, &op);
	}
	still_works(self);
}

/* More work requests than the send queue takes: it can never be posted. */
TEST_F(errors, too_long_for_the_send_queue)
{
	struct rnotify_params few = { .send_depth = 2 };
	struct rnt_region src, dst;
	struct rnotify_op op;
	struct rnt_pair p;
	__u32 remote;

	rnt_more(&self->p, &p, &few, NULL);
	rnt_region_alloc(&self->a, &src, 8 * RNT_MIB);
	rnt_region_alloc(&self->b, &dst, 8 * RNT_MIB);
	remote = rnt_grant(&p, dst.id, 0, 0, W, NULL);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, p.ea, src.id, 0, remote, 0,
		       8 * RNT_MIB);
	EXPECT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
	EXPECT_EQ(-EMSGSIZE, rnt_post(&self->a, &op, 1, -1, NULL, NULL));
	op.length = 1000;
	EXPECT_EQ(0, rnt_try(&self->a, &op));
	rnt_expect(&self->b, p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	still_works(self);
}

/* The outcome could not be told: nothing is posted, so that nobody sends twice. */
TEST_F(errors, P1_outcome_can_not_be_written)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 1);
	struct rnotify_post *arg = rnt_anon(RNT_PAGE);

	*arg = (struct rnotify_post){
		.size = sizeof(*arg), .ops = (uintptr_t)&op, .nr_ops = 1,
		.op_size = sizeof(op), .timeout_ns = -1,
	};
	ASSERT_EQ(0, mprotect(arg, RNT_PAGE, PROT_READ));
	ASSERT_EQ(-EFAULT, rnt_ioctl(self->a.fd, RNOTIFY_IOCTL_POST, arg));
	op = rnt_op_notify(self->p.ea, 2);
	rnt_post1(&self->a, &op);
	rnt_expect_imms(&self->b, self->p.eb, 2, 1);
	rnt_expect_none(&self->b, self->p.eb, 1);
}

TEST_HARNESS_MAIN
