// SPDX-License-Identifier: GPL-2.0
/*
 * Payloads of all sizes, from everywhere to everywhere: byte_len, every byte,
 * and the bytes before and behind (FAULTS 9).
 *
 * rvm: limit=180 debug_long=1
 */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define GUARD	512
#define CHUNK	(2 * RNT_MIB)	/* what one MR covers on rxe */

FIXTURE(sizes)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;
	struct rnt_region dst;
	__u32 remote;
	unsigned int nr;
};

FIXTURE_VARIANT(sizes)
{
	bool src_user;		/* else allocated by the kernel */
	bool dst_user;
	size_t len;		/* of both regions */
};

FIXTURE_VARIANT_ADD(sizes, alloc_to_alloc)
{
	.len = 9 * RNT_MIB,
};

FIXTURE_VARIANT_ADD(sizes, user_to_user)
{
	.src_user = true,
	.dst_user = true,
	.len = 9 * RNT_MIB,
};

FIXTURE_VARIANT_ADD(sizes, user_to_alloc)
{
	.src_user = true,
	.len = 9 * RNT_MIB,
};

FIXTURE_VARIANT_ADD(sizes, alloc_to_user)
{
	.dst_user = true,
	.len = 9 * RNT_MIB,
};

static void make_region(struct rnt_ctx *c, struct rnt_region *r, size_t len,
			bool user, unsigned int shift)
{
	if (!user) {
		rnt_region_alloc(c, r, len);
		return;
	}
	/* no huge pages: the worst case for scatter elements */
	r->p = rnt_anon(len + RNT_PAGE);
	madvise(r->p, len + RNT_PAGE, MADV_NOHUGEPAGE);
	rnt_region_user(c, r, r->p + shift, len, 0);
}

FIXTURE_SETUP(sizes)
{
	/* enough for the worst: each page a work request of its own */
	struct rnotify_params params = { .send_depth = 4096 };

	rnt_init(&self->a, 8192, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, NULL);
	make_region(&self->a, &self->src, variant->len, variant->src_user, 13);
	make_region(&self->b, &self->dst, variant->len, variant->dst_user,
		    4091);
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0,
				 RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ,
				 NULL);
}

FIXTURE_TEARDOWN(sizes)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* Is all of [at - GUARD, at + len + GUARD) as it should be? */
static void check_bytes(const struct rnt_region *r, size_t at, size_t len,
			unsigned int seed)
{
	size_t before = at < GUARD ? at : GUARD;
	size_t behind = r->len - at - len < GUARD ? r->len - at - len : GUARD;
	long bad;

	bad = rnt_diff(r->p + at, len, seed);
	if (bad >= 0)
		rnt_fail("%zu bytes at %zu: byte %ld is wrong", len, at, bad);
	if (rnt_diff_byte(r->p + at - before, before, 0xee) >= 0 ||
	    rnt_diff_byte(r->p + at + len, behind, 0xee) >= 0)
		rnt_fail("%zu bytes at %zu: bytes around are written", len,
			 at);
}

/* Whiten the range and its guards, so that what stays is seen. */
static void whiten(struct rnt_region *r, size_t at, size_t len)
{
	size_t from = at < GUARD ? 0 : at - GUARD;
	size_t to = at + len + GUARD < r->len ? at + len + GUARD : r->len;

	memset(r->p + from, 0xee, to - from);
}

static void one_write(FIXTURE_DATA(sizes) *self, size_t local, size_t remote,
		      __u32 len)
{
	unsigned int seed = ++self->nr;
	struct rnotify_event ev;
	struct rnotify_op op;

	rnt_fill(self->src.p + local, len, seed);
	whiten(&self->dst, remote, len);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, self->src.id, local,
		       self->remote, remote, len);
	op.imm = seed;
	op.user_data = len;
	op.flags = RNOTIFY_OP_F_SIGNALED;
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(seed, ev.notify.imm);
	rnt_check_eq(len, ev.notify.byte_len);
	check_bytes(&self->dst, remote, len, seed);
	rnt_expect_tx(&self->a, self->p.ea, len, 0, &ev);
	rnt_check_eq(len, ev.tx.byte_len);
	rnt_check_eq(RNOTIFY_OP_WRITE_IMM, ev.tx.opcode);
}

static void one_read(FIXTURE_DATA(sizes) *self, size_t local, size_t remote,
		     __u32 len)
{
	unsigned int seed = ++self->nr;
	struct rnotify_event ev;
	struct rnotify_op op;

	rnt_fill(self->dst.p + remote, len, seed);
	whiten(&self->src, local, len);
	op = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea, self->src.id, local,
		       self->remote, remote, len);
	op.user_data = len;
	op.flags = RNOTIFY_OP_F_SIGNALED;
	rnt_post1(&self->a, &op);
	rnt_expect_tx(&self->a, self->p.ea, len, 0, &ev);
	rnt_check_eq(len, ev.tx.byte_len);
	rnt_check_eq(RNOTIFY_OP_READ, ev.tx.opcode);
	check_bytes(&self->src, local, len, seed);
}

/* The MTU is 1024 here; pages are 4096; an MR is 2 MiB. */
static const __u32 lengths[] = {
	1, 2, 3, 4, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025, 2047, 2048,
	2049, 4095, 4096, 4097, 8191, 8193, 65535, 65536, 65537, 1u << 20,
};

TEST_F(sizes, write_lengths)
{
	one_write(self, 0, 0, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		one_write(self, 0, 0, lengths[i]);
		one_write(self, 1, 4099, lengths[i]);
		one_write(self, 777, 2048, lengths[i]);
		/* at the very end of both */
		one_write(self, variant->len - lengths[i],
			  variant->len - lengths[i], lengths[i]);
	}
}

TEST_F(sizes, read_lengths)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		one_read(self, 0, 0, lengths[i]);
		one_read(self, 1, 4099, lengths[i]);
		one_read(self, variant->len - lengths[i],
			 variant->len - lengths[i], lengths[i]);
	}
}

/* Around the borders of MRs, by one byte on either side. */
TEST_F(sizes, mr_borders)
{
	/* where MRs end: counted from the first byte's page */
	size_t border = CHUNK - (uintptr_t)self->dst.p % RNT_PAGE;
	static const __u32 around[] = { 1, 2, 3, 1024, 4096, 4097, 10000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(around); i++) {
		__u32 n = around[i];

		one_write(self, 5, border - n, n);
		one_write(self, 5, border, n);
		one_write(self, 5, border - n / 2, n);
		one_write(self, 5, border - 1, n);
		one_write(self, 5, border + 1 - n, n);
		one_read(self, 5, border - n / 2, n);
		one_read(self, 5, border + 1 - n, n);
	}
	/* over one, two and three of them */
	one_write(self, 0, border - 1, CHUNK + 2);
	one_write(self, 0, border, CHUNK);
	one_write(self, 0, border - 1, 2 * CHUNK + 2);
	one_write(self, 1, border - 4097, 3 * CHUNK + 10000);
	one_read(self, 1, border - 4097, 3 * CHUNK + 10000);
}

/* The whole region in one go, with its last byte. */
TEST_F(sizes, whole)
{
	one_write(self, 0, 0, variant->len);
	one_read(self, 0, 0, variant->len);
}

TEST_F(sizes, random)
{
	unsigned int seed = 12345;

	for (unsigned int i = 0; i < rnt_count(300); i++) {
		__u32 len = rand_r(&seed) % (1u << rand_r(&seed) % 18) + 1;
		size_t local = rand_r(&seed) % (variant->len - len);
		size_t remote = rand_r(&seed) % (variant->len - len);

		if (i % 3)
			one_write(self, local, remote, len);
		else
			one_read(self, local, remote, len);
	}
}

FIXTURE(big)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;
	struct rnt_region dst;
};

FIXTURE_SETUP(big)
{
	struct rnotify_params params = { .send_depth = 4096 };

	rnt_init(&self->a, 8192, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, NULL);
	rnt_region_alloc(&self->a, &self->src, RNT_MIB);
}

FIXTURE_TEARDOWN(big)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* Single spots of a region that has hundreds of MRs. */
static void spots(FIXTURE_DATA(big) *self, size_t len)
{
	size_t at[] = {
		0, 1, 5 * CHUNK - 10, len / 2 - 3, len / 2, len - CHUNK - 50,
		len - 100,
	};
	__u32 remote = rnt_grant(&self->p, self->dst.id, 0, 0,
				 RNOTIFY_RIGHT_WRITE, NULL);
	struct rnotify_event ev;
	struct rnotify_op op;

	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		whiten(&self->dst, at[i], 100);
		rnt_fill(self->src.p, 100, i);
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, self->src.id,
			       0, remote, at[i], 100);
		op.imm = i;
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		rnt_check_eq(i, ev.notify.imm);
		rnt_check_eq(100, ev.notify.byte_len);
		check_bytes(&self->dst, at[i], 100, i);
	}
	op.remote_offset = len - 99;
	rnt_check_eq(-ERANGE, rnt_try(&self->a, &op));
	op.remote_offset = len;
	rnt_check_eq(-ERANGE, rnt_try(&self->a, &op));
}

TEST_F(big, user_memory_64_mib)
{
	self->dst.p = rnt_anon(64 * RNT_MIB);
	rnt_region_user(&self->b, &self->dst, self->dst.p, 64 * RNT_MIB, 0);
	spots(self, 64 * RNT_MIB);
}

TEST_F(big, kernel_memory_1_gib)
{
	rnt_region_alloc(&self->b, &self->dst, RNT_GIB);
	spots(self, RNT_GIB);
}

/* One operation of 64 MiB is one event, with its whole length. */
TEST_F(big, one_operation_of_64_mib)
{
	struct rnotify_event ev;
	struct rnt_region src;
	struct rnotify_op op;
	__u32 remote;

	rnt_region_alloc(&self->a, &src, 64 * RNT_MIB);
	rnt_region_alloc(&self->b, &self->dst, 64 * RNT_MIB);
	rnt_fill(src.p, 64 * RNT_MIB, 3);
	remote = rnt_grant(&self->p, self->dst.id, 0, 0, RNOTIFY_RIGHT_WRITE,
			   NULL);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, src.id, 0, remote, 0,
		       64 * RNT_MIB);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	op.user_data = 9;
	rnt_post1(&self->a, &op);
	ASSERT_TRUE(rnt_take(&self->b, self->p.eb, &ev, 6 * RNT_PATIENCE_MS));
	ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev.type);
	ASSERT_EQ(64 * RNT_MIB, ev.notify.byte_len);
	ASSERT_EQ(-1, rnt_diff(self->dst.p, 64 * RNT_MIB, 3));
	rnt_expect_tx(&self->a, self->p.ea, 9, 0, &ev);
	ASSERT_EQ(64 * RNT_MIB, ev.tx.byte_len);
}

/* Inline bytes: copied when POST returns, so that the buffer can change. */
TEST_F(big, inline_bytes)
{
	static const __u32 len[] = { 0, 1, 2, 3, 63, 64, 65, 255, 256 };
	unsigned char buf[300];
	struct rnotify_event ev;
	struct rnotify_op op;
	__u32 remote;

	rnt_region_alloc(&self->b, &self->dst, RNT_PAGE);
	remote = rnt_grant(&self->p, self->dst.id, 0, 0, RNOTIFY_RIGHT_WRITE,
			   NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(len); i++) {
		unsigned int shift = i % 8;

		rnt_fill(buf + shift, len[i], i);
		whiten(&self->dst, 600 + i, len[i]);
		op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea,
				   buf + shift, remote, 600 + i, len[i]);
		op.imm = i;
		rnt_post1(&self->a, &op);
		memset(buf, 0x11, sizeof(buf));
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
		ASSERT_EQ(len[i], ev.notify.byte_len);
		check_bytes(&self->dst, 600 + i, len[i], i);
	}
	/* many at once: each has its own copy */
	memset(self->dst.p, 0, RNT_PAGE);
	for (unsigned int i = 0; i < 60; i++) {
		memset(buf, i, 50);
		op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, buf,
				   remote, i * 50, 50);
		rnt_post1(&self->a, &op);
	}
	for (unsigned int i = 0; i < 60; i++) {
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		ASSERT_EQ(-1, rnt_diff_byte(self->dst.p + i * 50, 50, i));
	}
}

TEST_HARNESS_MAIN
