// SPDX-License-Identifier: GPL-2.0
/*
 * What can be mapped and what can't, and that mappings outlive what they map
 * (FAULTS 46).
 *
 * rvm: limit=120
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define RO	PROT_READ
#define RW	(PROT_READ | PROT_WRITE)

FIXTURE(mmap)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	struct rnt_region region;
	__u64 region_offset;
};

FIXTURE_SETUP(mmap)
{
	struct rnotify_register reg;

	rnt_init(&self->c, 1024, 256);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	ASSERT_EQ(0, rnt_register(&self->c, &reg, NULL, 3 * RNT_PAGE,
				  RNOTIFY_REGION_ALLOC));
	self->region_offset = reg.mmap_offset;
	self->region.id = reg.region_id;
	self->region.len = reg.length;
	self->region.p = mmap(NULL, reg.length, RW, MAP_SHARED, self->c.fd,
			      reg.mmap_offset);
	ASSERT_NE(MAP_FAILED, self->region.p);
}

FIXTURE_TEARDOWN(mmap)
{
	if (self->c.head)
		rnt_close(&self->c);
}

/* What is mapped, as a table: offset, size, and whether it can be written. */
struct part {
	const char *name;
	__u64 offset;
	__u64 size;
	bool writable;
};

static void parts(FIXTURE_DATA(mmap) *self, struct part part[4])
{
	const struct rnotify_setup *s = &self->c.setup;

	part[0] = (struct part){ "ring", s->ring_offset, s->ring_size, false };
	part[1] = (struct part){ "tail", s->cons_offset, s->cons_size, true };
	part[2] = (struct part){ "messages", s->msg_offset, s->msg_area_size,
				 false };
	part[3] = (struct part){ "region", self->region_offset,
				 self->region.len, true };
}

#define for_each_part(self, p) \
	for (struct part all_[4], *p = (parts(self, all_), all_); \
	     p < all_ + 4; p++)

#define EXPECT_REFUSED(addr, size, prot, flags, fd, offset) do {	\
	void *m_ = mmap(addr, size, prot, flags, fd, offset);		\
									\
	EXPECT_EQ(MAP_FAILED, m_);					\
	EXPECT_TRUE(m_ != MAP_FAILED || errno == EINVAL ||		\
		    errno == EPERM || errno == EACCES ||		\
		    errno == ENOENT || errno == EOVERFLOW)		\
		TH_LOG("errno %d", errno);				\
	if (m_ != MAP_FAILED)						\
		munmap(m_, size);					\
} while (0)

static sigjmp_buf fault_env;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_env, 1);
}

/* Does a store there fault? */
static bool store_faults(volatile char *p)
{
	struct sigaction sa = { .sa_handler = on_fault };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	if (sigsetjmp(fault_env, 1))
		return true;
	*p = *p;
	return false;
}

TEST_F(mmap, lengths)
{
	for_each_part(self, p) {
		void *m = mmap(NULL, p->size, RO, MAP_SHARED, self->c.fd,
			       p->offset);

		ASSERT_NE(MAP_FAILED, m) TH_LOG("%s", p->name);
		munmap(m, p->size);
		EXPECT_REFUSED(NULL, p->size + RNT_PAGE, RO, MAP_SHARED,
			       self->c.fd, p->offset);
		EXPECT_REFUSED(NULL, p->size * 16, RO, MAP_SHARED, self->c.fd,
			       p->offset);
		EXPECT_REFUSED(NULL, 0, RO, MAP_SHARED, self->c.fd, p->offset);
	}
}

/* Nothing lies before, behind or between the parts. */
TEST_F(mmap, offsets)
{
	for_each_part(self, p) {
		EXPECT_REFUSED(NULL, RNT_PAGE, RO, MAP_SHARED, self->c.fd,
			       p->offset + p->size);
		EXPECT_REFUSED(NULL, p->size, RO, MAP_SHARED, self->c.fd,
			       p->offset + RNT_PAGE);
		EXPECT_REFUSED(NULL, p->size, RO, MAP_SHARED, self->c.fd,
			       p->offset + 64);
	}
	for (int bit = 12; bit < 63; bit++) {
		__u64 at = 1ull << bit;
		bool known = false;

		for_each_part(self, p) {
			known |= at >= p->offset && at < p->offset + p->size;
		}
		if (known)
			continue;
		EXPECT_REFUSED(NULL, RNT_PAGE, RO, MAP_SHARED, self->c.fd, at);
	}
	/* ids that are no allocated region */
	EXPECT_REFUSED(NULL, RNT_PAGE, RO, MAP_SHARED, self->c.fd,
		       -(off_t)RNT_PAGE);
}

TEST_F(mmap, before_setup)
{
	int fd = rnt_open();

	for_each_part(self, p) {
		void *m = mmap(NULL, p->size, RO, MAP_SHARED, fd, p->offset);

		EXPECT_EQ(MAP_FAILED, m);
	}
	close(fd);
}

/* The kernel's pages can't be made writable, by no way. */
TEST_F(mmap, read_only_parts)
{
	for_each_part(self, p) {
		char *m;

		if (p->writable)
			continue;
		EXPECT_REFUSED(NULL, p->size, RW, MAP_SHARED, self->c.fd,
			       p->offset);
		EXPECT_REFUSED(NULL, p->size, PROT_WRITE, MAP_SHARED,
			       self->c.fd, p->offset);
		m = mmap(NULL, p->size, RO, MAP_SHARED, self->c.fd, p->offset);
		ASSERT_NE(MAP_FAILED, m);
		EXPECT_EQ(-1, mprotect(m, p->size, RW));
		EXPECT_EQ(EACCES, errno);
		EXPECT_EQ(-1, mprotect(m, RNT_PAGE, PROT_WRITE));
		EXPECT_EQ(EACCES, errno);
		EXPECT_TRUE(store_faults(m));
		munmap(m, p->size);
	}
}

/* Nor by the kernel's own copying on behalf of the user. */
TEST_F(mmap, read_only_for_system_calls)
{
	int zero = open("/dev/zero", O_RDONLY);

	EXPECT_EQ(-1, read(zero, (void *)self->c.head, 64));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(zero, (void *)self->c.msgs, 64));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(1024, self->c.head->entries);
	close(zero);
}

/* A private mapping would show stale bytes after the first store. */
TEST_F(mmap, private)
{
	for_each_part(self, p) {
		EXPECT_REFUSED(NULL, p->size, RO, MAP_PRIVATE, self->c.fd,
			       p->offset);
		EXPECT_REFUSED(NULL, p->size, RW, MAP_PRIVATE, self->c.fd,
			       p->offset);
	}
}

static void notify_and_see(FIXTURE_DATA(mmap) *self, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, imm);
	struct rnotify_event ev;

	rnt_post1(&self->c, &op);
	rnt_expect(&self->c, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(imm, ev.notify.imm);
}

/* Two mappings of one part show the same. */
TEST_F(mmap, twice)
{
	const struct rnotify_ring_head *head;
	struct rnotify_ring_tail *tail;

	head = mmap(NULL, self->c.setup.ring_size, RO, MAP_SHARED, self->c.fd,
		    self->c.setup.ring_offset);
	tail = mmap(NULL, self->c.setup.cons_size, RW, MAP_SHARED, self->c.fd,
		    self->c.setup.cons_offset);
	ASSERT_NE(MAP_FAILED, (void *)head);
	ASSERT_NE(MAP_FAILED, (void *)tail);
	notify_and_see(self, 7);
	ASSERT_EQ(self->c.head->prod, head->prod);
	ASSERT_EQ(self->c.cons, tail->cons);
	munmap((void *)head, self->c.setup.ring_size);
	munmap(tail, self->c.setup.cons_size);
	notify_and_see(self, 8);
}

/* Half of a part goes; the other half stays as it was. */
TEST_F(mmap, partial_unmap)
{
	size_t size = self->c.setup.ring_size;

	ASSERT_GE(size, 3 * RNT_PAGE);
	ASSERT_EQ(0, munmap((char *)self->c.head + size - RNT_PAGE, RNT_PAGE));
	notify_and_see(self, 1);
	ASSERT_EQ(0, munmap(self->region.p + RNT_PAGE, RNT_PAGE));
	memset(self->region.p, 1, RNT_PAGE);
	memset(self->region.p + 2 * RNT_PAGE, 2, RNT_PAGE);
	notify_and_see(self, 2);
	rnt_destroy(&self->c, self->region.id);
	memset(self->region.p, 3, RNT_PAGE);
	memset(self->region.p + 2 * RNT_PAGE, 4, RNT_PAGE);
}

TEST_F(mmap, mremap)
{
	size_t size = self->c.setup.ring_size;
	char *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	void *m;

	/* may not grow */
	EXPECT_EQ(MAP_FAILED, mremap((void *)self->c.head, size,
				     size + RNT_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->c.tail, self->c.setup.cons_size,
				     self->c.setup.cons_size + RNT_PAGE,
				     MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(self->region.p, self->region.len,
				     self->region.len + RNT_PAGE,
				     MREMAP_MAYMOVE));
	/* may move */
	m = mremap((void *)self->c.head, size, size,
		   MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ((void *)to, m);
	self->c.head = m;
	self->c.entries = (void *)(to + self->c.head->entries_offset);
	notify_and_see(self, 3);
	/* and is no more writable there */
	EXPECT_EQ(-1, mprotect(m, size, RW));
	/* may shrink */
	m = mremap(m, size, size - RNT_PAGE, 0);
	ASSERT_EQ((void *)to, m);
	self->c.setup.ring_size -= RNT_PAGE;
	notify_and_see(self, 4);
}

/* A child sees the ring live, and its stores to the region are the parent's. */
TEST_F(mmap, fork)
{
	__u32 prod = self->c.head->prod;
	pid_t pid;

	memset(self->region.p, 0, RNT_PAGE);
	pid = rnt_fork();
	if (!pid) {
		uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

		/* the child may sleep on the same condition */
		while (self->c.head->prod == prod) {
			rnt_check(rnt_left_ms(deadline));
			rnt_poll(&self->c, POLLIN, 100);
		}
		self->region.p[5] = 42;
		rnt_check(store_faults((char *)self->c.head));
		_exit(0);
	}
	notify_and_see(self, 5);
	rnt_join(pid);
	EXPECT_EQ(42, self->region.p[5]);
	/* the child's end did not end the parent's connection */
	notify_and_see(self, 6);
}

/* The mappings keep the context alive after close(). */
TEST_F(mmap, close_first)
{
	const struct rnotify_setup s = self->c.setup;
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	const struct rnotify_event *seen;
	struct rnt_ctx other;
	struct rnt_pair p;
	struct rnotify_event ev;
	struct rnotify_op op;

	rnt_init(&other, 256, 0);
	rnt_pair_open(&p, &other, &self->c, NULL, NULL);
	close(self->c.fd);
	memset(self->region.p, 0x11, self->region.len);
	/* still connected: events come into the mapping */
	op = rnt_op_notify(p.ea, 0x77);
	rnt_post1(&other, &op);
	while (!(seen = rnt_peek(&self->c))) {
		/* there is nothing left to poll */
		ASSERT_NE(0, rnt_left_ms(deadline));
		rnt_sleep_us(500);
	}
	ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, seen->type);
	ASSERT_EQ(p.eb, seen->endpoint);
	ASSERT_EQ(0x77, seen->notify.imm);
	/* the last mapping ends it */
	munmap((void *)self->c.head, s.ring_size);
	munmap(self->c.tail, s.cons_size);
	munmap((void *)self->c.msgs, s.msg_area_size);
	rnt_expect_none(&other, p.ea, 20);
	ASSERT_EQ(0x11, self->region.p[0]);
	munmap(self->region.p, self->region.len);
	self->c.head = NULL;
	rnt_expect(&other, p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_PEER_EXIT, ev.down.reason);
	rnt_close(&other);
}

/* The memory of a destroyed region stays with who has it mapped. */
TEST_F(mmap, destroyed_region)
{
	rnt_fill(self->region.p, self->region.len, 9);
	rnt_destroy(&self->c, self->region.id);
	EXPECT_EQ(-1, rnt_diff(self->region.p, self->region.len, 9));
	rnt_fill(self->region.p, self->region.len, 10);
	EXPECT_REFUSED(NULL, self->region.len, RW, MAP_SHARED, self->c.fd,
		       self->region_offset);
	EXPECT_EQ(-1, rnt_diff(self->region.p, self->region.len, 10));
}

/* A region of user memory has nothing to map. */
TEST_F(mmap, user_region)
{
	struct rnotify_register reg;

	ASSERT_EQ(0, rnt_register(&self->c, &reg, rnt_anon(RNT_PAGE), RNT_PAGE,
				  0));
	if (reg.mmap_offset) {
		EXPECT_REFUSED(NULL, RNT_PAGE, RW, MAP_SHARED, self->c.fd,
			       reg.mmap_offset);
	}
}

/* Nobody else can map a region of this context. */
TEST_F(mmap, other_context)
{
	struct rnt_ctx other;

	rnt_init(&other, 64, 0);
	EXPECT_REFUSED(NULL, self->region.len, RW, MAP_SHARED, other.fd,
		       self->region_offset);
	/* this one has no message area */
	EXPECT_REFUSED(NULL, RNT_PAGE, RO, MAP_SHARED, other.fd,
		       self->c.setup.msg_offset);
	rnt_close(&other);
}

/*
 * Advice and locking of such pages is allowed to do nothing, not to hurt. Who
 * drops them (DONTNEED) may be refused or get a signal later, but alone.
 */
TEST_F(mmap, advice)
{
	static const int advice[] = {
		MADV_WILLNEED, MADV_DONTFORK, MADV_DOFORK, MADV_REMOVE,
		MADV_FREE, MADV_COLD, MADV_PAGEOUT, MADV_MERGEABLE,
		MADV_HUGEPAGE, MADV_WIPEONFORK, MADV_DONTNEED,
	};

	rnt_fill(self->region.p, self->region.len, 3);
	for (unsigned int i = 0; i < ARRAY_SIZE(advice); i++) {
		pid_t pid = advice[i] == MADV_DONTNEED ? rnt_fork() : 0;

		if (!pid) {
			madvise((void *)self->c.head, self->c.setup.ring_size,
				advice[i]);
			madvise(self->c.tail, self->c.setup.cons_size,
				advice[i]);
			madvise((void *)self->c.msgs,
				self->c.setup.msg_area_size, advice[i]);
			madvise(self->region.p, self->region.len, advice[i]);
			if (advice[i] == MADV_DONTNEED) {
				store_faults((char *)self->c.tail);
				store_faults(self->region.p);
				_exit(0);
			}
		} else {
			rnt_join(pid);
		}
		notify_and_see(self, i);
		ASSERT_EQ(-1, rnt_diff(self->region.p, self->region.len, 3))
			TH_LOG("advice %d", advice[i]);
	}
	mlock(self->region.p, self->region.len);
	msync(self->region.p, self->region.len, MS_SYNC);
	notify_and_see(self, 99);
}

TEST_HARNESS_MAIN
