// SPDX-License-Identifier: GPL-2.0
/*
 * Regions in time and size: lengths from 1 byte to 1 GiB, wraps, regions that
 * outlive their mapping or are forked away, many of them (FAULTS 19, 25).
 *
 * rvm: limit=200
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(life)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	long long pins;
	long long vmpin;
};

FIXTURE_SETUP(life)
{
	rnt_init(&self->c, 1024, 0);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	self->vmpin = rnt_vmpin_kib();
	self->pins = rnt_pins();
}

FIXTURE_TEARDOWN(life)
{
	rnt_close(&self->c);
}

static long long pages_kib(uintptr_t addr, __u64 len)
{
	return ((addr % RNT_PAGE + len + RNT_PAGE - 1) / RNT_PAGE) * 4;
}

/* Exactly the pages that the range touches are pinned and charged. */
TEST_F(life, sizes)
{
	static const size_t sizes[] = {
		1, 2, 4095, 4096, 4097, 8192, 64 * 1024,
		2 * RNT_MIB - RNT_PAGE, 2 * RNT_MIB - 1, 2 * RNT_MIB,
		2 * RNT_MIB + 1, 2 * RNT_MIB + RNT_PAGE, 64 * RNT_MIB,
	};
	static const unsigned int offsets[] = { 0, 1, 2048, 4095 };
	struct rnotify_register reg;
	char *base = rnt_anon(64 * RNT_MIB + 2 * RNT_PAGE);

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(offsets); j++) {
			char *p = base + offsets[j];

			ASSERT_EQ(0, rnt_register(&self->c, &reg, p, sizes[i],
						  0));
			ASSERT_EQ(pages_kib((uintptr_t)p, sizes[i]),
				  rnt_vmpin_kib() - self->vmpin);
			rnt_destroy(&self->c, reg.region_id);
			ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
		}
		ASSERT_EQ(0, rnt_register(&self->c, &reg, NULL, sizes[i],
					  RNOTIFY_REGION_ALLOC));
		rnt_destroy(&self->c, reg.region_id);
		ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	}
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

TEST_F(life, one_gib_of_user_memory)
{
	struct rnotify_register reg;
	char *p = rnt_anon(RNT_GIB);

	madvise(p, RNT_GIB, MADV_HUGEPAGE);
	ASSERT_EQ(0, rnt_register(&self->c, &reg, p, RNT_GIB, 0));
	ASSERT_EQ((long long)RNT_GIB / 1024, rnt_vmpin_kib() - self->vmpin);
	rnt_destroy(&self->c, reg.region_id);
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

TEST_F(life, one_gib_of_kernel_memory)
{
	struct rnt_region r;

	rnt_region_alloc(&self->c, &r, RNT_GIB);
	for (size_t at = 0; at < RNT_GIB; at += 16 * RNT_MIB) {
		ASSERT_EQ(-1, rnt_diff_byte(r.p + at, RNT_PAGE, 0));
		r.p[at] = 1;
	}
	r.p[RNT_GIB - 1] = 1;
	rnt_region_drop(&self->c, &r);
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
}

/* Memory that the kernel allocates is zeroed, also when it was used before. */
TEST_F(life, kernel_memory_is_zeroed)
{
	struct rnt_region r;

	for (int i = 0; i < 20; i++) {
		rnt_region_alloc(&self->c, &r, 100 * 1000 + i);
		ASSERT_EQ(-1, rnt_diff_byte(r.p, r.len, 0));
		/* the page that is not full, too */
		ASSERT_EQ(-1, rnt_diff_byte(r.p, 25 * RNT_PAGE, 0));
		memset(r.p, 0x5a, 25 * RNT_PAGE);
		rnt_region_drop(&self->c, &r);
	}
}

struct bad_range {
	__u64 addr;
	__u64 len;
	__u32 flags;
	int want;	/* 0: any of EFAULT, ENOMEM, EINVAL */
};

static void check_ranges(struct __test_metadata *_metadata,
			 FIXTURE_DATA(life) *self,
			 const struct bad_range *table, unsigned int nr)
{
	struct rnotify_register reg, before;
	int ret;

	for (unsigned int i = 0; i < nr; i++) {
		memset(&reg, 0, sizeof(reg));
		reg.size = sizeof(reg);
		reg.addr = table[i].addr;
		reg.length = table[i].len;
		reg.flags = table[i].flags;
		before = reg;
		ret = rnt_ioctl(self->c.fd, RNOTIFY_IOCTL_REGISTER, &reg);
		if (table[i].want) {
			EXPECT_EQ(table[i].want, ret) TH_LOG("row %u", i);
		} else {
			EXPECT_TRUE(ret == -EFAULT || ret == -ENOMEM ||
				    ret == -EINVAL)
				TH_LOG("row %u: %d", i, ret);
		}
		EXPECT_EQ(0, memcmp(&reg, &before, sizeof(reg)));
		EXPECT_EQ(self->vmpin, rnt_vmpin_kib()) TH_LOG("row %u", i);
	}
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

TEST_F(life, bad_ranges)
{
	const __u64 addr = (uintptr_t)rnt_anon(RNT_PAGE);
	const struct bad_range table[] = {
		{ addr, 0, 0, -EINVAL },
		{ 0, 0, RNOTIFY_REGION_ALLOC, -EINVAL },
		{ addr, 1, RNOTIFY_REGION_ALLOC, -EINVAL },
		{ 0, 1, RNOTIFY_REGION_ALLOC | RNOTIFY_REGION_READ_ONLY,
		  -EINVAL },
		{ addr, -addr, 0, -EINVAL },
		{ addr, -addr + 1, 0, -EINVAL },
		{ addr, ~0ull, 0, -EINVAL },
		{ ~0ull, 1, 0, -EINVAL },
		{ ~0ull, 2, 0, -EINVAL },
		{ ~0ull - 4095, 4096, 0, -EINVAL },
		{ 0, ~0ull, RNOTIFY_REGION_ALLOC, -EINVAL },
		{ 0, RNT_PAGE, 0, -EFAULT },
		{ 1ull << 63, RNT_PAGE, 0, -EFAULT },
	};

	check_ranges(_metadata, self, table, ARRAY_SIZE(table));
}

/* More than anybody has, also for who may lock all memory: no warning, no OOM. */
TEST_F(life, too_large_for_user_memory)
{
	const __u64 addr = (uintptr_t)rnt_anon(RNT_PAGE);
	const struct bad_range table[] = {
		{ addr, 1ull << 38, 0, 0 }, { addr, 1ull << 40, 0, 0 },
		{ addr, 1ull << 46, 0, 0 }, { addr, 1ull << 62, 0, 0 },
	};

	check_ranges(_metadata, self, table, ARRAY_SIZE(table));
}

TEST_F(life, too_large_for_kernel_memory)
{
	const struct bad_range table[] = {
		{ 0, 1ull << 62, RNOTIFY_REGION_ALLOC, 0 },
		{ 0, 1ull << 40, RNOTIFY_REGION_ALLOC, 0 },
		{ 0, 1ull << 37, RNOTIFY_REGION_ALLOC, 0 },
	};

	check_ranges(_metadata, self, table, ARRAY_SIZE(table));
}

/* The peer's byte at an offset of the region, by its own eyes. */
static void peer_writes(FIXTURE_DATA(life) *self, __u32 remote, __u64 at,
			char byte)
{
	struct rnotify_op op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea,
					     &byte, remote, at, 1);

	rnt_post1(&self->c, &op);
	rnt_expect(&self->c, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
}

/* The mapping goes and another comes: the region keeps the old pages. */
TEST_F(life, unmapped_before_destroy)
{
	char *p = rnt_anon(2 * RNT_PAGE), *q;
	struct rnt_region r;
	__u32 remote;

	memset(p, 1, 2 * RNT_PAGE);
	rnt_region_user(&self->c, &r, p, 2 * RNT_PAGE, 0);
	remote = rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	ASSERT_EQ(0, munmap(p, 2 * RNT_PAGE));
	peer_writes(self, remote, 0, 'a');
	q = mmap(p, 2 * RNT_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASSERT_EQ(p, q);
	memset(q, 2, 2 * RNT_PAGE);
	peer_writes(self, remote, 1, 'b');
	peer_writes(self, remote, RNT_PAGE + 1, 'c');
	ASSERT_EQ(-1, rnt_diff_byte(q, 2 * RNT_PAGE, 2));
	rnt_destroy(&self->c, r.id);
	ASSERT_EQ(-1, rnt_diff_byte(q, 2 * RNT_PAGE, 2));
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/* After a fork, the parent's memory is the region; the child has a copy. */
TEST_F(life, forked)
{
	char *p = rnt_anon(RNT_PAGE);
	struct rnt_region r;
	int go[2], done[2];
	__u32 remote;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	memset(p, 1, RNT_PAGE);
	rnt_region_user(&self->c, &r, p, RNT_PAGE, 0);
	remote = rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	pid = rnt_fork();
	if (!pid) {
		p[1] = 'x';
		rnt_check(write(done[1], "1", 1) == 1);
		rnt_check(read(go[0], &c, 1) == 1);
		rnt_check(p[0] == 1);
		_exit(0);
	}
	ASSERT_EQ(1, read(done[0], &c, 1));
	/* the parent stores first, which must not move the page away */
	p[2] = 'y';
	peer_writes(self, remote, 0, 'z');
	EXPECT_EQ('z', p[0]);
	EXPECT_EQ(1, p[1]);
	EXPECT_EQ('y', p[2]);
	ASSERT_EQ(1, write(go[1], "1", 1));
	rnt_join(pid);
	peer_writes(self, remote, 3, 'w');
	EXPECT_EQ('w', p[3]);
	rnt_destroy(&self->c, r.id);
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/* A child registers its own memory through the parent's fd, and is killed. */
TEST_F(life, owner_dies)
{
	struct rnotify_register *reg = mmap(NULL, RNT_PAGE,
					    PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	__u32 remote;
	pid_t pid;

	pid = rnt_fork();
	if (!pid) {
		char *p = rnt_anon(16 * RNT_PAGE);

		rnt_check_eq(0, rnt_register(&self->c, reg, p, 16 * RNT_PAGE,
					     0));
		rnt_check_eq(64, rnt_vmpin_kib());
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
	ASSERT_NE(0, reg->region_id);
	/* the pages are still there, for the peer to write */
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_EQ(self->pins + 16, rnt_pins());
	remote = rnt_grant(&self->p, reg->region_id, 0, 0, RNOTIFY_RIGHT_WRITE,
			   NULL);
	peer_writes(self, remote, 16 * RNT_PAGE - 1, 1);
	rnt_destroy(&self->c, reg->region_id);
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/* Two regions of the same memory are two regions. */
TEST_F(life, overlapping)
{
	char *p = rnt_anon(2 * RNT_PAGE);
	struct rnt_region r[3];
	__u32 remote[3];

	for (int i = 0; i < 3; i++) {
		rnt_region_user(&self->c, &r[i], p + i * 100, 2 * RNT_PAGE -
				200, 0);
		remote[i] = rnt_grant(&self->p, r[i].id, 0, 0,
				      RNOTIFY_RIGHT_WRITE, NULL);
	}
	ASSERT_EQ(24, rnt_vmpin_kib() - self->vmpin);
	rnt_destroy(&self->c, r[1].id);
	peer_writes(self, remote[0], 500, 'a');
	peer_writes(self, remote[2], 301, 'b');
	EXPECT_EQ('a', p[500]);
	EXPECT_EQ('b', p[501]);
	rnt_destroy(&self->c, r[0].id);
	peer_writes(self, remote[2], 302, 'c');
	EXPECT_EQ('c', p[502]);
	rnt_destroy(&self->c, r[2].id);
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
}

/* FAULTS 19: nothing is left behind, however often. */
TEST_F(life, register_loop)
{
	unsigned int rounds = rnt_count(100000);
	char *p = rnt_anon(64 * RNT_PAGE);
	struct rnotify_register reg;

	for (unsigned int i = 0; i < rounds; i++) {
		unsigned int len = 1 + i * 7919 % (60 * RNT_PAGE);

		ASSERT_EQ(0, rnt_register(&self->c, &reg, p + i % 4096, len,
					  i % 3 ? 0 :
					  RNOTIFY_REGION_READ_ONLY));
		rnt_destroy(&self->c, reg.region_id);
	}
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));
	TH_LOG("%u rounds", rounds);
}

/* Many at once; close takes them all. */
TEST_F(life, many)
{
	unsigned int n = rnt_count(5000);
	char *p = rnt_anon(RNT_PAGE);
	struct rnotify_register reg;
	struct rnt_ctx c;

	rnt_init(&c, 64, 0);
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_EQ(0, rnt_register(&c, &reg, p, 1 + i % 4096, 0));
	}
	ASSERT_EQ(4ll * n, rnt_vmpin_kib() - self->vmpin);
	rnt_close(&c);
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

TEST_HARNESS_MAIN
