// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of memfds and hugetlbfs files, by fd and offset.
 *
 * rvm: limit=60
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(8 * RNT_PAGE)
#define HUGE_	(2 * RNT_MIB)

FIXTURE(fd)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	int fd;
	char *map;		/* of the whole file */
	long long pins;
	long long vmpin;
};

FIXTURE_SETUP(fd)
{
	rnt_init(&self->c, 1024, 0);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	self->fd = memfd_create("rnt", MFD_ALLOW_SEALING);
	ASSERT_EQ(0, ftruncate(self->fd, LEN));
	self->map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			 self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->map);
	self->vmpin = rnt_vmpin_kib();
	self->pins = rnt_pins();
}

FIXTURE_TEARDOWN(fd)
{
	rnt_close(&self->c);
}

static int reg_fd(FIXTURE_DATA(fd) *self, struct rnotify_register *reg, int fd,
		  __u64 offset, __u64 len, __u32 flags)
{
	memset(reg, 0, sizeof(*reg));
	reg->size = sizeof(*reg);
	reg->flags = RNOTIFY_REGION_FD | flags;
	reg->addr = offset;
	reg->length = len;
	reg->fd = fd;
	return rnt_ioctl(self->c.fd, RNOTIFY_IOCTL_REGISTER, reg);
}

/* The peer writes the region of @len bytes, and they are the file's. */
static void write_all(FIXTURE_DATA(fd) *self, __u32 region, size_t len)
{
	struct rnt_region src;
	struct rnotify_op op;
	__u32 remote, share;

	rnt_region_alloc(&self->c, &src, len);
	rnt_fill(src.p, len, len);
	remote = rnt_grant(&self->p, region, 0, 0, RNOTIFY_RIGHT_WRITE,
			   &share);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, src.id, 0, remote, 0,
		       len);
	rnt_post1(&self->c, &op);
	rnt_expect(&self->c, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	rnt_destroy(&self->c, share);
	rnt_expect(&self->c, self->p.ea, RNOTIFY_EVENT_REMOTE_REGION_GONE,
		   NULL);
	rnt_region_drop(&self->c, &src);
}

TEST_F(fd, whole_and_parts)
{
	static const size_t table[][2] = {
		{ 0, LEN }, { 0, 1 }, { LEN - 1, 1 }, { RNT_PAGE, RNT_PAGE },
		{ RNT_PAGE - 1, 2 }, { 1234, 3 * RNT_PAGE },
		{ 4095, LEN - 4095 },
	};
	struct rnotify_register reg;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		size_t off = table[i][0], len = table[i][1];

		memset(self->map, 0xee, LEN);
		ASSERT_EQ(0, reg_fd(self, &reg, self->fd, off, len, 0));
		EXPECT_EQ((long long)((off % RNT_PAGE + len + RNT_PAGE - 1) /
				      RNT_PAGE * 4),
			  rnt_vmpin_kib() - self->vmpin);
		write_all(self, reg.region_id, len);
		EXPECT_EQ(-1, rnt_diff(self->map + off, len, len));
		EXPECT_EQ(-1, rnt_diff_byte(self->map, off, 0xee));
		EXPECT_EQ(-1, rnt_diff_byte(self->map + off + len,
					    LEN - off - len, 0xee));
		rnt_destroy(&self->c, reg.region_id);
		EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	}
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

TEST_F(fd, hugetlb)
{
	struct rnotify_register reg;
	char *map;
	int fd = memfd_create("rnt", MFD_HUGETLB);

	ASSERT_EQ(0, ftruncate(fd, 2 * HUGE_));
	map = mmap(NULL, 2 * HUGE_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	/* across the border of the two pages, unaligned */
	ASSERT_EQ(0, reg_fd(self, &reg, fd, HUGE_ - 5000, 10001, 0));
	write_all(self, reg.region_id, 10001);
	EXPECT_EQ(-1, rnt_diff(map + HUGE_ - 5000, 10001, 10001));
	EXPECT_EQ(-1, rnt_diff_byte(map, HUGE_ - 5000, 0));
	EXPECT_EQ(-1, rnt_diff_byte(map + HUGE_ + 5001, HUGE_ - 5001, 0));
	rnt_destroy(&self->c, reg.region_id);
	EXPECT_TRUE(rnt_pins_back(self->pins));
	munmap(map, 2 * HUGE_);
	close(fd);
}

TEST_F(fd, refused)
{
	struct rnotify_register reg;
	int dev = open("/dev/null", O_RDWR);
	int efd = eventfd(0, 0);
	int gone = dup(dev);

	close(gone);
	EXPECT_EQ(-EBADF, reg_fd(self, &reg, gone, 0, LEN, 0));
	EXPECT_EQ(-EBADF, reg_fd(self, &reg, -1, 0, LEN, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, dev, 0, LEN, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, efd, 0, LEN, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->c.fd, 0, LEN, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 0, 0, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 0, LEN + 1, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 1, LEN, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, LEN, 1, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, ~0ull, 2, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, ~0ull - 4095, 4096,
				  0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 1ull << 62, 1, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 0, ~0ull, 0));
	EXPECT_EQ(-EINVAL, reg_fd(self, &reg, self->fd, 0, LEN,
				  RNOTIFY_REGION_ALLOC));
	EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	EXPECT_TRUE(rnt_pins_back(self->pins));
	close(dev);
	close(efd);
}

/* Rights of the open file, and seals. */
TEST_F(fd, access)
{
	struct rnotify_register reg;
	char path[64];
	int ro, wo;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	ro = open(path, O_RDONLY);
	wo = open(path, O_WRONLY);
	ASSERT_TRUE(ro >= 0 && wo >= 0);
	EXPECT_EQ(-EACCES, reg_fd(self, &reg, ro, 0, LEN, 0));
	EXPECT_EQ(-EACCES, reg_fd(self, &reg, wo, 0, LEN, 0));
	EXPECT_EQ(0, reg_fd(self, &reg, ro, 0, LEN,
			    RNOTIFY_REGION_READ_ONLY));
	rnt_destroy(&self->c, reg.region_id);
	munmap(self->map, LEN);
	ASSERT_EQ(0, fcntl(self->fd, F_ADD_SEALS, F_SEAL_WRITE));
	EXPECT_EQ(-EACCES, reg_fd(self, &reg, self->fd, 0, LEN, 0));
	EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

/* A writable region keeps the file from being sealed: it would lie. */
TEST_F(fd, seal_after)
{
	struct rnotify_register reg;

	munmap(self->map, LEN);
	ASSERT_EQ(0, reg_fd(self, &reg, self->fd, 0, LEN, 0));
	EXPECT_EQ(-1, fcntl(self->fd, F_ADD_SEALS, F_SEAL_WRITE));
	EXPECT_EQ(EBUSY, errno);
	rnt_destroy(&self->c, reg.region_id);
	EXPECT_EQ(0, fcntl(self->fd, F_ADD_SEALS, F_SEAL_WRITE));
}

/* File closed, truncated, punched: the region keeps its pages. */
TEST_F(fd, file_goes_away)
{
	struct rnotify_register reg;
	size_t vm = rnt_proc("/proc/self/status", "VmSize");

	ASSERT_EQ(0, reg_fd(self, &reg, self->fd, 0, LEN, 0));
	/* what was mapped for the pinning is unmapped */
	EXPECT_EQ(vm, (size_t)rnt_proc("/proc/self/status", "VmSize"));
	ASSERT_EQ(0, ftruncate(self->fd, RNT_PAGE));
	ASSERT_EQ(0, ftruncate(self->fd, LEN));
	munmap(self->map, LEN);
	close(self->fd);
	write_all(self, reg.region_id, LEN);
	rnt_destroy(&self->c, reg.region_id);
	EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

TEST_HARNESS_MAIN
