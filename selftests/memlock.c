// SPDX-License-Identifier: GPL-2.0
/*
 * RLIMIT_MEMLOCK: who may pin how much, and that the answer says what would be
 * needed (FAULTS 19).
 *
 * rvm: limit=60
 */
#include <grp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LIMIT	(64 * RNT_KIB)

FIXTURE(memlock)
{
	struct rnt_ctx c;
	char *p;
};

static void set_limit(rlim_t bytes)
{
	struct rlimit r = { bytes, bytes };

	rnt_check(setrlimit(RLIMIT_MEMLOCK, &r) == 0);
}

/* A plain member of group rdma, as udev sets it up. */
FIXTURE_SETUP(memlock)
{
	gid_t group = 101;

	set_limit(LIMIT);
	rnt_check(setgroups(1, &group) == 0);
	rnt_check(setgid(group) == 0);
	rnt_check(setuid(1001) == 0);
	rnt_init(&self->c, 64, 0);
	self->p = rnt_anon(RNT_MIB);
}

FIXTURE_TEARDOWN(memlock)
{
	rnt_close(&self->c);
}

static int reg(FIXTURE_DATA(memlock) *self, struct rnotify_register *r,
	       size_t offset, size_t len)
{
	return rnt_register(&self->c, r, self->p + offset, len, 0);
}

TEST_F(memlock, exact_limit)
{
	struct rnotify_register r;

	ASSERT_EQ(0, reg(self, &r, 0, LIMIT));
	ASSERT_EQ((long long)LIMIT / 1024, rnt_vmpin_kib());
	rnt_destroy(&self->c, r.region_id);
	ASSERT_EQ(0, rnt_vmpin_kib());
}

TEST_F(memlock, one_page_more)
{
	struct rnotify_register r;

	ASSERT_EQ(-EPERM, reg(self, &r, 0, LIMIT + 1));
	EXPECT_EQ(LIMIT + RNT_PAGE, r.memlock_need);
	EXPECT_EQ(LIMIT, r.memlock_left);
	EXPECT_EQ(0, r.region_id);
	/* as many bytes as allowed, but on one page more */
	ASSERT_EQ(-EPERM, reg(self, &r, 1, LIMIT));
	EXPECT_EQ(LIMIT + RNT_PAGE, r.memlock_need);
	EXPECT_EQ(LIMIT, r.memlock_left);
	ASSERT_EQ(0, rnt_vmpin_kib());
}

TEST_F(memlock, the_rest)
{
	struct rnotify_register r[3];

	ASSERT_EQ(0, reg(self, &r[0], 0, 5 * RNT_PAGE));
	ASSERT_EQ(-EPERM, reg(self, &r[1], 0, 12 * RNT_PAGE));
	EXPECT_EQ(12 * RNT_PAGE, r[1].memlock_need);
	EXPECT_EQ(11 * RNT_PAGE, r[1].memlock_left);
	ASSERT_EQ(0, reg(self, &r[1], 0, 11 * RNT_PAGE));
	ASSERT_EQ(-EPERM, reg(self, &r[2], 0, 1));
	EXPECT_EQ(RNT_PAGE, r[2].memlock_need);
	EXPECT_EQ(0, r[2].memlock_left);
	rnt_destroy(&self->c, r[0].region_id);
	ASSERT_EQ(0, reg(self, &r[2], 0, 5 * RNT_PAGE));
}

/* What the kernel allocates can't be swapped either. */
TEST_F(memlock, kernel_memory_counts)
{
	struct rnotify_register r;

	ASSERT_EQ(-EPERM, rnt_register(&self->c, &r, NULL, LIMIT + 1,
				       RNOTIFY_REGION_ALLOC));
	EXPECT_EQ(LIMIT + RNT_PAGE, r.memlock_need);
	EXPECT_EQ(LIMIT, r.memlock_left);
	/* also what would be far beyond the machine's memory */
	ASSERT_EQ(-EPERM, rnt_register(&self->c, &r, NULL, 500ull * RNT_GIB,
				       RNOTIFY_REGION_ALLOC));
	EXPECT_EQ(500ull * RNT_GIB, r.memlock_need);
	ASSERT_EQ(0, rnt_register(&self->c, &r, NULL, LIMIT,
				  RNOTIFY_REGION_ALLOC));
	ASSERT_EQ(-EPERM, reg(self, &r, 0, 1));
	ASSERT_EQ(0, r.memlock_left);
}

static char *map(FIXTURE_DATA(memlock) *self, const struct rnotify_register *r)
{
	char *p = mmap(NULL, r->length, PROT_READ | PROT_WRITE, MAP_SHARED,
		       self->c.fd, r->mmap_offset);

	rnt_check(p != MAP_FAILED);
	return p;
}

/* A mapping keeps the pages of a region that is gone, and they still count. */
TEST_F(memlock, mapping_counts)
{
	struct rnotify_register r, more;
	char *p, *q;

	ASSERT_EQ(0, rnt_register(&self->c, &r, NULL, LIMIT / 2,
				  RNOTIFY_REGION_ALLOC));
	p = map(self, &r);
	q = map(self, &r);
	rnt_destroy(&self->c, r.region_id);
	ASSERT_EQ((long long)LIMIT / 2048, rnt_vmpin_kib());
	ASSERT_EQ(-EPERM, rnt_register(&self->c, &more, NULL, LIMIT,
				       RNOTIFY_REGION_ALLOC));
	EXPECT_EQ(LIMIT / 2, more.memlock_left);
	memset(p, 1, LIMIT / 2);
	ASSERT_EQ(0, munmap(q, LIMIT / 2));
	/* a hole makes two mappings of one */
	ASSERT_EQ(0, munmap(p + RNT_PAGE, RNT_PAGE));
	ASSERT_EQ((long long)LIMIT / 2048, rnt_vmpin_kib());
	ASSERT_EQ(0, munmap(p + 2 * RNT_PAGE, LIMIT / 2 - 2 * RNT_PAGE));
	ASSERT_EQ((long long)LIMIT / 2048, rnt_vmpin_kib());
	ASSERT_EQ(0, munmap(p, RNT_PAGE));
	ASSERT_EQ(0, rnt_vmpin_kib());
}

/* A child's mapping, too: on the account of who registered. */
TEST_F(memlock, mapping_of_a_child_counts)
{
	struct rnotify_register r;
	int go[2];
	pid_t pid;
	char *p;

	ASSERT_EQ(0, rnt_register(&self->c, &r, NULL, LIMIT,
				  RNOTIFY_REGION_ALLOC));
	p = map(self, &r);
	ASSERT_EQ(0, pipe(go));
	pid = rnt_fork();
	if (!pid) {
		char c;

		close(go[1]);
		rnt_check(read(go[0], &c, 1) == 0);
		rnt_check_eq(0, rnt_vmpin_kib());
		_exit(0);
	}
	close(go[0]);
	rnt_destroy(&self->c, r.region_id);
	ASSERT_EQ(0, munmap(p, LIMIT));
	ASSERT_EQ((long long)LIMIT / 1024, rnt_vmpin_kib());
	close(go[1]);
	rnt_join(pid);
	ASSERT_EQ(0, rnt_vmpin_kib());
}

/* The limit is the process's, not the context's. */
TEST_F(memlock, two_contexts)
{
	struct rnotify_register r;
	struct rnt_ctx other;

	rnt_init(&other, 64, 0);
	ASSERT_EQ(0, reg(self, &r, 0, 10 * RNT_PAGE));
	ASSERT_EQ(-EPERM, rnt_register(&other, &r, self->p, 7 * RNT_PAGE, 0));
	EXPECT_EQ(6 * RNT_PAGE, r.memlock_left);
	ASSERT_EQ(0, rnt_register(&other, &r, self->p, 6 * RNT_PAGE, 0));
	rnt_close(&other);
	ASSERT_EQ(40, rnt_vmpin_kib());
}

/* A failure behind the charge gives the charge back. */
TEST_F(memlock, failed_pin_is_not_charged)
{
	struct rnotify_register r;

	ASSERT_EQ(0, munmap(self->p + 8 * RNT_PAGE, RNT_PAGE));
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(-EFAULT, reg(self, &r, 0, LIMIT));
	}
	ASSERT_EQ(0, rnt_vmpin_kib());
	ASSERT_EQ(0, reg(self, &r, 0, 8 * RNT_PAGE));
}

TEST_F(memlock, limit_zero)
{
	struct rnotify_register r;

	set_limit(0);
	ASSERT_EQ(-EPERM, reg(self, &r, 0, 1));
	EXPECT_EQ(RNT_PAGE, r.memlock_need);
	EXPECT_EQ(0, r.memlock_left);
}

/* A limit that is lowered below what is pinned leaves nothing, not less. */
TEST_F(memlock, limit_lowered)
{
	struct rnotify_register r, r2;

	ASSERT_EQ(0, reg(self, &r, 0, LIMIT));
	set_limit(2 * RNT_PAGE);
	ASSERT_EQ(-EPERM, reg(self, &r2, 0, 1));
	EXPECT_EQ(0, r2.memlock_left);
	rnt_destroy(&self->c, r.region_id);
	ASSERT_EQ(0, reg(self, &r2, 0, 2 * RNT_PAGE));
}

/* Each process has its own account; the child's does not burden the parent. */
TEST_F(memlock, child_pays_itself)
{
	struct rnotify_register r;
	pid_t pid;

	ASSERT_EQ(0, reg(self, &r, 0, LIMIT));
	pid = rnt_fork();
	if (!pid) {
		rnt_check_eq(0, rnt_vmpin_kib());
		rnt_check_eq(0, reg(self, &r, 0, LIMIT));
		rnt_check_eq(-EPERM, reg(self, &r, 0, 1));
		_exit(0);
	}
	rnt_join(pid);
	ASSERT_EQ((long long)LIMIT / 1024, rnt_vmpin_kib());
}

/* The ring and endpoints are the kernel's memory: no lock limit for them. */
TEST_F(memlock, rings_are_not_charged)
{
	struct rnt_ctx big;
	struct rnt_pair p;

	rnt_init(&big, 1 << 14, 256);
	rnt_pair_open(&p, &big, &big, NULL, NULL);
	ASSERT_EQ(0, rnt_vmpin_kib());
	rnt_close(&big);
}

TEST_HARNESS_MAIN
