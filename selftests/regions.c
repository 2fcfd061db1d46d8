// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory can be a region, with which flags; and that it then works as
 * the source and as the target of operations (FAULTS 22).
 *
 * rvm: limit=120
 */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(4 * RNT_PAGE)
#define HUGE_	(2 * RNT_MIB)
#define RW	(PROT_READ | PROT_WRITE)

FIXTURE(memory)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	long long pins;
	long long vmpin;
};

FIXTURE_VARIANT(memory)
{
	/* LEN bytes, NULL if there is no such memory here */
	char *(*get)(FIXTURE_DATA(memory) *self);
	int target;	/* errno of REGISTER without flags */
	int source;	/* and with READ_ONLY; > 0: any of 0 and -source */
};

static char *get_anon(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return rnt_anon(LEN);
}

static char *map_fd(int fd, int prot, int flags)
{
	char *p = mmap(NULL, LEN, prot, flags, fd, 0);

	rnt_check(p != MAP_FAILED);
	if (fd >= 0)
		close(fd);
	return p;
}

static char *get_shm(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(-1, RW, MAP_SHARED | MAP_ANONYMOUS);
}

static int some_memfd(unsigned int flags, size_t len)
{
	int fd = memfd_create("rnt", flags);

	rnt_check(fd >= 0);
	rnt_check(ftruncate(fd, len) == 0);
	return fd;
}

static char *get_memfd(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(some_memfd(0, LEN), RW, MAP_SHARED);
}

static char *get_memfd_private(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(some_memfd(0, LEN), RW, MAP_PRIVATE);
}

static char *get_memfd_ro(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(some_memfd(0, LEN), PROT_READ, MAP_SHARED);
}

static char *get_thp(FIXTURE_DATA(memory) *self)
{
	char *p = rnt_anon(2 * HUGE_);

	(void)self;
	p += HUGE_ - (uintptr_t)p % HUGE_;
	rnt_check(madvise(p, HUGE_, MADV_HUGEPAGE) == 0);
	p[0] = 1;
	/* across the first page border inside, at an odd offset */
	return p + RNT_PAGE + 4001;
}

/* The harness of the guests reserves huge pages at boot. */
static char *get_hugetlb(FIXTURE_DATA(memory) *self)
{
	char *p;

	(void)self;
	p = mmap(NULL, HUGE_, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	rnt_check(p != MAP_FAILED);
	return p + HUGE_ / 2 - 100;
}

static char *get_hugetlb_memfd(FIXTURE_DATA(memory) *self)
{
	int fd;
	char *p;

	(void)self;
	fd = some_memfd(MFD_HUGETLB, HUGE_);
	p = mmap(NULL, HUGE_, RW, MAP_SHARED, fd, 0);
	rnt_check(p != MAP_FAILED);
	close(fd);
	return p;
}

static char *get_unaligned(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return (char *)rnt_anon(LEN + RNT_PAGE) + 1234;
}

static char *get_read_only(FIXTURE_DATA(memory) *self)
{
	char *p = rnt_anon(LEN);

	(void)self;
	memset(p, 1, LEN);
	rnt_check(mprotect(p, LEN, PROT_READ) == 0);
	return p;
}

/* Never touched: the zero page is behind it. */
static char *get_zero_page(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(-1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
}

static char *get_none(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return map_fd(-1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
}

/* Fine but for its last page. */
static char *get_none_at_end(FIXTURE_DATA(memory) *self)
{
	char *p = rnt_anon(LEN);

	(void)self;
	memset(p, 1, LEN);
	rnt_check(mprotect(p + LEN - RNT_PAGE, RNT_PAGE, PROT_NONE) == 0);
	return p;
}

static char *get_hole(FIXTURE_DATA(memory) *self)
{
	char *p = rnt_anon(LEN);

	(void)self;
	memset(p, 1, LEN);
	rnt_check(munmap(p + 2 * RNT_PAGE, RNT_PAGE) == 0);
	return p;
}

static char *get_null(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return (char *)4096;
}

static char *get_kernel(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return (char *)(sizeof(long) == 8 ? 0xffff888000000000 : 0xff000000);
}

static char *get_ring(FIXTURE_DATA(memory) *self)
{
	return (char *)self->c.head;
}

static char *get_messages(FIXTURE_DATA(memory) *self)
{
	return (char *)self->c.msgs;
}

static char *get_vdso(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return (char *)getauxval(AT_SYSINFO_EHDR);
}

static char *file_on(const char *path, int prot, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	rnt_check(fd >= 0);
	unlink(path);
	rnt_check(ftruncate(fd, LEN) == 0);
	return map_fd(fd, prot, flags);
}

static char *get_tmpfs(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return file_on("/dev/shm/rnt", RW, MAP_SHARED);
}

static char *get_file_private(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return file_on("/tmp/rnt", RW, MAP_PRIVATE);
}

/* The program's own text: file-backed, private, read-only. */
static char *get_text(FIXTURE_DATA(memory) *self)
{
	(void)self;
	return (char *)((uintptr_t)get_text & ~(uintptr_t)(RNT_PAGE - 1));
}

#define VARIANT(name_, target_, source_)				\
FIXTURE_VARIANT_ADD(memory, name_)					\
{									\
	.get = get_##name_, .target = target_, .source = source_,	\
}

VARIANT(anon, 0, 0);
VARIANT(shm, 0, 0);
VARIANT(memfd, 0, 0);
VARIANT(memfd_private, 0, 0);
VARIANT(memfd_ro, -EFAULT, 0);
VARIANT(thp, 0, 0);
VARIANT(hugetlb, 0, 0);
VARIANT(hugetlb_memfd, 0, 0);
VARIANT(unaligned, 0, 0);
VARIANT(tmpfs, 0, 0);
VARIANT(file_private, 0, 0);
VARIANT(read_only, -EFAULT, 0);
VARIANT(zero_page, -EFAULT, 0);
VARIANT(text, -EFAULT, 0);
VARIANT(none, -EFAULT, -EFAULT);
VARIANT(none_at_end, -EFAULT, -EFAULT);
VARIANT(hole, -EFAULT, -EFAULT);
VARIANT(null, -EFAULT, -EFAULT);
VARIANT(kernel, -EFAULT, -EFAULT);
VARIANT(ring, -EFAULT, -EFAULT);
VARIANT(messages, -EFAULT, -EFAULT);
/* the kernel's own pages: read-only memory like any other, or refused */
VARIANT(vdso, -EFAULT, EFAULT);

FIXTURE_SETUP(memory)
{
	rnt_init(&self->c, 1024, 2048);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	self->vmpin = rnt_vmpin_kib();
	self->pins = rnt_pins();
}

FIXTURE_TEARDOWN(memory)
{
	rnt_close(&self->c);
}

/* One errno for each kind; a refusal leaves nothing behind. */
TEST_F(memory, errno_)
{
	char *p = variant->get(self);
	struct rnotify_register reg;
	int ret;

	ret = rnt_register(&self->c, &reg, p, LEN, 0);
	ASSERT_EQ(variant->target, ret);
	if (!ret) {
		ASSERT_GE(rnt_vmpin_kib(), self->vmpin + LEN / 1024);
		rnt_destroy(&self->c, reg.region_id);
	}
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));

	ret = rnt_register(&self->c, &reg, p, LEN, RNOTIFY_REGION_READ_ONLY);
	if (variant->source > 0) {
		ASSERT_TRUE(ret == 0 || ret == -variant->source);
	} else {
		ASSERT_EQ(variant->source, ret);
	}
	if (!ret)
		rnt_destroy(&self->c, reg.region_id);
	ASSERT_EQ(self->vmpin, rnt_vmpin_kib());
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/* The peer writes there: exactly those bytes change. */
TEST_F(memory, as_target)
{
	struct rnt_ctx *c = &self->c;
	struct rnt_region dst, src;
	struct rnotify_event ev;
	struct rnotify_op op;
	struct rnotify_register reg;
	__u32 remote;
	char *p;

	p = variant->get(self);
	if (variant->target) {
		ASSERT_EQ(variant->target, rnt_register(c, &reg, p, LEN, 0));
		return;
	}
	memset(p, 0xee, LEN);
	rnt_region_user(c, &dst, p, LEN, 0);
	rnt_region_alloc(c, &src, LEN);
	rnt_fill(src.p, LEN, 7);
	remote = rnt_grant(&self->p, dst.id, 100, LEN - 200,
			   RNOTIFY_RIGHT_WRITE, NULL);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, src.id, 3, remote, 0,
		       LEN - 200);
	rnt_post1(c, &op);
	rnt_expect(c, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	ASSERT_EQ(LEN - 200, ev.notify.byte_len);
	EXPECT_EQ(0, memcmp(p + 100, src.p + 3, LEN - 200));
	EXPECT_EQ(-1, rnt_diff_byte(p, 100, 0xee));
	EXPECT_EQ(-1, rnt_diff_byte(p + LEN - 100, 100, 0xee));
	rnt_region_drop(c, &dst);
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/* And from there. */
TEST_F(memory, as_source)
{
	struct rnt_ctx *c = &self->c;
	struct rnt_region dst, src;
	struct rnotify_event ev;
	struct rnotify_op op;
	struct rnotify_register reg;
	__u32 remote;
	char *p;

	p = variant->get(self);
	if (variant->source) {
		ASSERT_NE(0, rnt_register(c, &reg, p, LEN, 0));
		return;
	}
	if (!variant->target)
		rnt_fill(p, LEN, 8);
	rnt_region_user(c, &src, p, LEN, RNOTIFY_REGION_READ_ONLY);
	rnt_region_alloc(c, &dst, LEN);
	memset(dst.p, 0xee, LEN);
	remote = rnt_grant(&self->p, dst.id, 0, LEN, RNOTIFY_RIGHT_WRITE,
			   NULL);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, src.id, 1, remote, 50,
		       LEN - 100);
	rnt_post1(c, &op);
	rnt_expect(c, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	ASSERT_EQ(LEN - 100, ev.notify.byte_len);
	EXPECT_EQ(0, memcmp(dst.p + 50, p + 1, LEN - 100));
	EXPECT_EQ(-1, rnt_diff_byte(dst.p, 50, 0xee));
	EXPECT_EQ(-1, rnt_diff_byte(dst.p + LEN - 50, 50, 0xee));
	rnt_region_drop(c, &src);
	ASSERT_TRUE(rnt_pins_back(self->pins));
}

/*
 * Read-only memory never becomes writable by the peer, not even if the mapping
 * turns writable later.
 */
TEST_F(memory, read_only_is_not_written)
{
	struct rnt_ctx *c = &self->c;
	struct rnotify_share share = { .endpoint_id = self->p.eb };
	struct rnotify_op op;
	struct rnt_region r;
	struct rnotify_register reg;
	__u32 remote;
	char *p;

	p = variant->get(self);
	if (variant->source) {
		ASSERT_NE(0, rnt_register(c, &reg, p, LEN, 0));
		return;
	}
	rnt_region_user(c, &r, p, LEN, RNOTIFY_REGION_READ_ONLY);
	share.region_id = r.id;
	share.rights = RNOTIFY_RIGHT_WRITE;
	EXPECT_EQ(-EACCES, rnt_share_err(c, &share));
	share.rights = RNOTIFY_RIGHT_ATOMIC;
	EXPECT_EQ(-EACCES, rnt_share_err(c, &share));
	share.rights = RNOTIFY_RIGHT_READ | RNOTIFY_RIGHT_WRITE;
	EXPECT_EQ(-EACCES, rnt_share_err(c, &share));
	remote = rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_READ, NULL);
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, "x", remote, 0, 1);
	EXPECT_EQ(-EACCES, rnt_try(c, &op));
	/* nor by an own operation with it as the target */
	op = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea, r.id, 0, remote, 0, 8);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	EXPECT_EQ(-EACCES, rnt_try(c, &op));
	rnt_expect_none(c, self->p.eb, 5);
	rnt_region_drop(c, &r);
}

TEST_HARNESS_MAIN
