// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that uses keys which are not its own, addresses beyond a share, and
 * rights that it was not given (P5, FAULTS 23). The device refuses: it costs
 * the liar its connection, and nobody anything else.
 *
 * rvm: limit=120
 */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "lie.h"

#define W	RNOTIFY_RIGHT_WRITE
#define R	RNOTIFY_RIGHT_READ
#define A	RNOTIFY_RIGHT_ATOMIC

enum access {
	WRITE = IBV_WR_RDMA_WRITE,
	WRITE_IMM = IBV_WR_RDMA_WRITE_WITH_IMM,
	READ = IBV_WR_RDMA_READ,
	ATOMIC = IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static void use(struct lie *l, enum access access, __u64 addr, __u32 len,
		__u32 key)
{
	memset(l->r.data, 0x5c, len < 8 ? 8 : len);
	if (access == ATOMIC)
		raw_atomic(&l->r, 0, addr, key, 0x5c5c5c5c);
	else
		raw_rdma(&l->r, (enum ibv_wr_opcode)access, 0, len, addr, key,
			 0);
}

/* The liar's device is told why, and nothing of the memory reached it. */
static void refused(struct lie *l, enum access access)
{
	rnt_check_eq(IBV_WC_REM_ACCESS_ERR, raw_flush(&l->r));
	if (access == READ || access == ATOMIC)
		rnt_check_eq(-1, rnt_diff_byte(l->r.data, 8, 0x5c));
	lie_broken(l);
	lie_untouched(l);
}

/* ---- the wrong key, the wrong place, the wrong right ---- */

FIXTURE(access)
{
	struct lie l;
	struct raw_share *s;
};

FIXTURE_VARIANT(access)
{
	__u32 rights;		/* of the share */
	enum access access;
	__u64 pos;		/* from the share's first byte */
	__u32 len;
	__s64 key;		/* added to the right one */
};

#define REFUSED(name, ...) \
	FIXTURE_VARIANT_ADD(access, name) { __VA_ARGS__ }

REFUSED(write_on_read_only, R, WRITE, 0, 8, 0);
REFUSED(write_imm_on_read_only, R, WRITE_IMM, 0, 8, 0);
REFUSED(write_on_atomic_only, A, WRITE, 0, 8, 0);
REFUSED(read_on_write_only, W, READ, 0, 8, 0);
REFUSED(read_on_atomic_only, A, READ, 0, 8, 0);
REFUSED(atomic_on_write_only, W, ATOMIC, 0, 8, 0);
REFUSED(atomic_on_read_only, R, ATOMIC, 0, 8, 0);
REFUSED(atomic_on_read_and_write, W | R, ATOMIC, 0, 8, 0);

REFUSED(write_one_before, W, WRITE, -1ull, 1, 0);
REFUSED(write_from_before, W, WRITE, -8ull, 16, 0);
REFUSED(write_one_behind, W, WRITE, LIE_SHARED, 1, 0);
REFUSED(write_over_the_end, W, WRITE, LIE_SHARED - 1, 2, 0);
REFUSED(write_imm_over_the_end, W, WRITE_IMM, LIE_SHARED - 8, 16, 0);
REFUSED(write_longer_than_the_share, W, WRITE, 0, LIE_SHARED + 1, 0);
REFUSED(write_megabyte, W, WRITE, 0, RAW_DATA, 0);
REFUSED(write_far, W, WRITE, 1ull << 40, 8, 0);
REFUSED(write_wraps, W, WRITE, -4ull, 8, 0);
REFUSED(write_kernel_address, W, WRITE, 0xffff888000000000ull, 8, 0);
REFUSED(read_one_before, R, READ, -1ull, 1, 0);
REFUSED(read_over_the_end, R, READ, LIE_SHARED - 1, 2, 0);
REFUSED(read_behind, R, READ, LIE_SHARED, 4096, 0);
REFUSED(atomic_behind, A, ATOMIC, LIE_SHARED, 8, 0);
REFUSED(atomic_before, A, ATOMIC, -8ull, 8, 0);

REFUSED(key_plus_1, W | R | A, WRITE, 0, 8, 1);
REFUSED(key_minus_1, W | R | A, WRITE, 0, 8, -1);
REFUSED(key_plus_255, W | R | A, WRITE, 0, 8, 255);
REFUSED(key_minus_255, W | R | A, WRITE, 0, 8, -255);
REFUSED(key_plus_256, W | R | A, WRITE, 0, 8, 256);
REFUSED(key_minus_256, W | R | A, WRITE, 0, 8, -256);
REFUSED(key_plus_257, W | R | A, READ, 0, 8, 257);
REFUSED(key_minus_257, W | R | A, READ, 0, 8, -257);
REFUSED(key_minus_512, W | R | A, READ, 0, 8, -512);
REFUSED(key_far, W | R | A, WRITE_IMM, 0, 8, 0x7ffffff);

FIXTURE_SETUP(access)
{
	lie_open(&self->l);
	lie_connect(&self->l);
	self->s = lie_share(&self->l, variant->rights, NULL);
}

FIXTURE_TEARDOWN(access)
{
	lie_close(&self->l);
}

TEST_F(access, is_refused)
{
	use(&self->l, variant->access, raw_addr(self->s, variant->pos),
	    variant->len, raw_key(self->s, 0) + variant->key);
	refused(&self->l, variant->access);
}

/* ---- keys that are good elsewhere, or were good once ---- */

FIXTURE(key)
{
	struct lie l;
};

FIXTURE_SETUP(key)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(key)
{
	lie_close(&self->l);
}

TEST_F(key, zero)
{
	use(&self->l, WRITE, 0, 8, 0);
	refused(&self->l, WRITE);
}

TEST_F(key, all_ones)
{
	use(&self->l, READ, 0, 8, ~0u);
	refused(&self->l, READ);
}

/* Of the same memory, shared with another endpoint, which works on. */
TEST_F(key, of_another_endpoint)
{
	struct lie *l = &self->l;
	struct raw_share *s;
	struct raw lender;
	__u32 ep;

	raw_init(&lender);
	ep = lie_connect_more(l, &lender);
	rnt_share(&l->c, ep, l->mem.id, LIE_GUARD, LIE_SHARED, W | R, 0);
	s = raw_await_share(&lender);
	for (int i = 0; i < 2; i++) {
		use(l, i ? READ : WRITE, raw_addr(s, 0), 8, raw_key(s, 0));
		refused(l, i ? READ : WRITE);
		/* the lender itself may use it */
		memset(lender.data, 0x5c, 8);
		raw_rdma(&lender, IBV_WR_RDMA_WRITE, 0, 8, raw_addr(s, 0),
			 raw_key(s, 0), 0);
		ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&lender));
		ASSERT_EQ(-1, rnt_diff_byte(l->mem.p + LIE_GUARD, 8, 0x5c));
		memset(l->mem.p + LIE_GUARD, LIE_GUARD_BYTE, 8);
		lie_reconnect(l);
	}
	raw_close(&lender);
}

TEST_F(key, of_an_earlier_connection)
{
	struct lie *l = &self->l;
	struct raw_share old = *lie_share(l, W, NULL), *s;

	rnt_destroy(&l->c, l->ep);
	lie_reconnect(l);
	s = lie_share(l, W, NULL);
	ASSERT_NE(raw_key(&old, 0), raw_key(s, 0));
	use(l, WRITE, raw_addr(s, 0), 8, raw_key(&old, 0));
	refused(l, WRITE);
}

TEST_F(key, after_unshare)
{
	struct lie *l = &self->l;
	struct raw_share old;
	__u32 id;

	old = *lie_share(l, W, &id);
	ASSERT_EQ(0, raw_unshare(&l->r, &l->c, id));
	use(l, WRITE_IMM, raw_addr(&old, 0), 8, raw_key(&old, 0));
	refused(l, WRITE_IMM);
}

/* REGION_GONE is not answered: the fence does not depend on it. */
TEST_F(key, after_unshare_without_answer)
{
	struct lie *l = &self->l;
	struct raw_share old;
	__u32 id;

	l->r.no_ack = true;
	old = *lie_share(l, W, &id);
	ASSERT_EQ(0, raw_unshare(&l->r, &l->c, id));
	ASSERT_EQ(1, l->r.gone);
	use(l, WRITE, raw_addr(&old, 0), 8, raw_key(&old, 0));
	refused(l, WRITE);
}

/* The memory is unpinned, and back with who allocated it. */
TEST_F(key, after_the_region_is_gone)
{
	struct lie *l = &self->l;
	struct raw_share old;
	struct rnt_region mem;

	rnt_region_alloc(&l->c, &mem, LIE_SHARED);
	rnt_share(&l->c, l->ep, mem.id, 0, 0, R, 0);
	old = *raw_await_share(&l->r);
	ASSERT_EQ(0, raw_unshare(&l->r, &l->c, mem.id));
	munmap(mem.p, mem.len);
	use(l, READ, raw_addr(&old, 0), 8, raw_key(&old, 0));
	refused(l, READ);
}

/* ---- turning keys ---- */

FIXTURE(old_key)
{
	struct lie l;
	__u32 key[600];
};

FIXTURE_VARIANT(old_key)
{
	unsigned int distance;	/* shares since */
};

#define DISTANCE(d) FIXTURE_VARIANT_ADD(old_key, distance_##d) { d }

DISTANCE(1);
DISTANCE(255);
DISTANCE(256);
DISTANCE(257);

FIXTURE_SETUP(old_key)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(old_key)
{
	lie_close(&self->l);
}

/*
 * A key has eight bits that a new registration of the same memory region turns:
 * the 256th is the first one again. Ours are never registered twice.
 */
TEST_F_TIMEOUT(old_key, is_refused, RNT_TIMEOUT(60))
{
	struct lie *l = &self->l;
	struct raw_share *s;
	__u32 id;

	for (unsigned int i = 0; i <= variant->distance; i++) {
		s = lie_share(l, W | R, &id);
		self->key[i] = raw_key(s, 0);
		for (unsigned int j = 0; j < i; j++) {
			ASSERT_NE(self->key[j], self->key[i]);
		}
		if (i == variant->distance)
			break;
		ASSERT_EQ(0, raw_unshare(&l->r, &l->c, id));
	}
	/* the new one works, the old one does not */
	use(l, WRITE, raw_addr(s, 0), 8, self->key[variant->distance]);
	ASSERT_EQ(IBV_WC_SUCCESS, raw_flush(&l->r));
	ASSERT_EQ(-1, rnt_diff_byte(l->mem.p + LIE_GUARD, 8, 0x5c));
	memset(l->mem.p + LIE_GUARD, LIE_GUARD_BYTE, 8);
	use(l, WRITE, raw_addr(s, 0), 8, self->key[0]);
	refused(l, WRITE);
}

TEST_HARNESS_MAIN
