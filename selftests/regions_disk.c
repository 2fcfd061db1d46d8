// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is written back to a disk: it can be a source for long, not a
 * target (FAULTS 22; kernels before 6.5 would allow it). The file is the disk
 * itself, a block device in memory: its pages are written back like a file's.
 *
 * rvm: limit=60 kernels=6.1,6.12
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(4 * RNT_PAGE)
#define RW	(PROT_READ | PROT_WRITE)

FIXTURE(disk)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	int fd;
	long long pins;
	long long vmpin;
};

FIXTURE_SETUP(disk)
{
	if (access("/dev/nullb0", F_OK))
		rnt_check(!system("modprobe null_blk memory_backed=1 gb=1"));
	self->fd = open("/dev/nullb0", O_RDWR);
	ASSERT_LE(0, self->fd);
	/* what the test before left there */
	ASSERT_EQ(LEN, pwrite(self->fd, rnt_anon(LEN), LEN, 0));
	rnt_init(&self->c, 1024, 0);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	self->vmpin = rnt_vmpin_kib();
	self->pins = rnt_pins();
}

FIXTURE_TEARDOWN(disk)
{
	close(self->fd);
	rnt_close(&self->c);
}

static char *map(FIXTURE_DATA(disk) *self, int prot, int flags)
{
	char *p = mmap(NULL, LEN, prot, flags, self->fd, 0);

	rnt_check(p != MAP_FAILED);
	return p;
}

TEST_F(disk, shared)
{
	struct rnotify_register reg;
	char *p = map(self, RW, MAP_SHARED);

	/* faulted in and dirty, or not */
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(-EFAULT, rnt_register(&self->c, &reg, p, LEN, 0));
		EXPECT_EQ(-EFAULT, rnt_register(&self->c, &reg, p + 100, 1,
						0));
		memset(p, 1, LEN);
	}
	EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	EXPECT_TRUE(rnt_pins_back(self->pins));
	EXPECT_EQ(0, rnt_register(&self->c, &reg, p, LEN,
				  RNOTIFY_REGION_READ_ONLY));
	rnt_destroy(&self->c, reg.region_id);
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

/* Only the last page of a range that is otherwise good. */
TEST_F(disk, shared_in_the_middle)
{
	struct rnotify_register reg;
	char *p = rnt_anon(600 * RNT_PAGE), *q;

	memset(p, 1, 600 * RNT_PAGE);
	q = mmap(p + 599 * RNT_PAGE, RNT_PAGE, RW, MAP_SHARED | MAP_FIXED,
		 self->fd, 0);
	ASSERT_NE(MAP_FAILED, q);
	q[0] = 1;
	EXPECT_EQ(-EFAULT, rnt_register(&self->c, &reg, p, 600 * RNT_PAGE, 0));
	EXPECT_EQ(0, rnt_register(&self->c, &reg, p, 599 * RNT_PAGE, 0));
	rnt_destroy(&self->c, reg.region_id);
	EXPECT_EQ(self->vmpin, rnt_vmpin_kib());
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

/* A private mapping's pages are the process's own: target and source. */
TEST_F(disk, private)
{
	char *p = map(self, RW, MAP_PRIVATE);
	char *file = map(self, PROT_READ, MAP_SHARED);
	struct rnt_region r;
	struct rnotify_op op;
	__u32 remote;

	rnt_region_user(&self->c, &r, p, LEN, 0);
	remote = rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, "mine", remote, 5,
			   4);
	rnt_post1(&self->c, &op);
	rnt_expect(&self->c, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	EXPECT_EQ(0, memcmp(p + 5, "mine", 4));
	EXPECT_EQ(-1, rnt_diff_byte(file, LEN, 0));
	rnt_destroy(&self->c, r.id);
	EXPECT_TRUE(rnt_pins_back(self->pins));
}

/* A file on a disk is no memfd. */
TEST_F(disk, by_fd)
{
	struct rnotify_register reg = {
		.size = sizeof(reg), .flags = RNOTIFY_REGION_FD,
		.length = LEN, .fd = self->fd,
	};

	EXPECT_EQ(-EINVAL, rnt_ioctl(self->c.fd, RNOTIFY_IOCTL_REGISTER,
				     &reg));
	reg.flags |= RNOTIFY_REGION_READ_ONLY;
	EXPECT_EQ(-EINVAL, rnt_ioctl(self->c.fd, RNOTIFY_IOCTL_REGISTER,
				     &reg));
}

TEST_HARNESS_MAIN
