// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: what they count, reset, mapping, limits. The waits for them are in
 * counter_wait.c.
 *
 * rvm: limit=90
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "stream.h"

FIXTURE(counter)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_counter x;
	struct rnotify_rule all;
};

FIXTURE_SETUP(counter)
{
	rnt_init(&self->a, 2048, 0);
	rnt_init(&self->b, 2048, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_counter_open(&self->b, &self->x);
	self->all = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER, self->x.id);
	rnt_route(&self->b, self->p.eb, &self->all, 1);
}

FIXTURE_TEARDOWN(counter)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void ring_on(FIXTURE_DATA(counter) *self, __u32 ea, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rnotify_op op = rnt_op_notify(ea, i);

		rnt_post1(&self->a, &op);
	}
}

/* Nobody waits, or has ever looked: all is there when somebody does. */
TEST_F(counter, counts_before_anybody_waits)
{
	struct rnotify_counter_wait arg = {};

	ring_on(self, self->p.ea, 10);
	rnt_settle(&self->p, true);
	ASSERT_EQ(10, rnt_counter_count(&self->x));
	ASSERT_EQ(0, rnt_counter_wait(&self->b, &self->x, 10, 0, &arg));
	ASSERT_EQ(10, arg.count);
	ASSERT_EQ(0, rnt_counter_wait(&self->b, &self->x, 0, 0, &arg));
	ASSERT_EQ(-ETIME, rnt_counter_wait(&self->b, &self->x, 11, 0, &arg));
	ASSERT_EQ(10, arg.count);
	rnt_expect_none(&self->b, 0, 0);
}

TEST_F(counter, bytes_beside_notifications)
{
	static const __u32 sizes[] = { 0, 1, 7, 4096, 4097, 65536 };
	struct rnt_region from, to;
	__u64 sum = 0;
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 65536);
	rnt_region_alloc(&self->b, &to, 65536);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM,
						 self->p.ea, from.id, 0, remote,
						 0, sizes[i]);

		if (!sizes[i])
			op.region_id = 0;
		rnt_post1(&self->a, &op);
		sum += sizes[i];
		rnt_counter_is(&self->b, &self->x, i + 1);
		ASSERT_EQ(sum, self->x.page->bytes);
	}
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

/* P8: who sees the count sees the bytes of all that was counted. */
TEST_F(counter, P8_seen_means_there)
{
	unsigned int rounds = rnt_count(600);
	struct rnt_region from, to;
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 8192);
	rnt_region_alloc(&self->b, &to, 8192);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	for (unsigned int i = 1; i <= rounds; i++) {
		struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM,
						 self->p.ea, from.id, 0, remote,
						 0, from.len);
		uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

		rnt_fill(from.p, from.len, i);
		rnt_post1(&self->a, &op);
		while (rnt_counter_count(&self->x) != i)
			rnt_check(rnt_left_ms(deadline));
		ASSERT_EQ(-1, rnt_diff(to.p, to.len, i));
	}
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

/* All shards of an iteration from all workers: across endpoints, count. */
TEST_F(counter, gathers_many_endpoints)
{
	struct rnt_pair more[6];

	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++) {
		rnt_pair_more(&self->p, &more[i]);
		rnt_route(&self->b, more[i].eb, &self->all, 1);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++)
		ring_on(self, more[i].ea, i + 1);
	ring_on(self, self->p.ea, 4);
	rnt_counter_is(&self->b, &self->x, 21 + 4);
}

TEST_F(counter, reset_returns_the_old_value)
{
	struct rnotify_counter_reset reset;
	void *page = rnt_anon(RNT_PAGE);

	ring_on(self, self->p.ea, 5);
	rnt_counter_is(&self->b, &self->x, 5);
	rnt_counter_reset(&self->b, &self->x, &reset);
	ASSERT_EQ(5, reset.count);
	ASSERT_EQ(0, reset.bytes);
	ASSERT_EQ(0, rnt_counter_count(&self->x));
	ASSERT_EQ(1, self->x.page->resets);
	ASSERT_EQ(0, self->x.page->seq % 2);
	ring_on(self, self->p.ea, 3);
	rnt_counter_is(&self->b, &self->x, 3);

	/* what can't be told is not reset */
	memcpy(page, &reset, sizeof(reset));
	ASSERT_EQ(0, mprotect(page, RNT_PAGE, PROT_READ));
	ASSERT_EQ(-EFAULT, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_COUNTER_RESET,
				     page));
	ASSERT_EQ(3, rnt_counter_count(&self->x));
	rnt_counter_reset(&self->b, &self->x, &reset);
	ASSERT_EQ(3, reset.count);
}

/* Members that belong together, read by the protocol of the header. */
static void snapshot(const struct rnotify_counter_page *page, __u64 *count,
		     __u64 *bytes)
{
	__u32 seq;

	do {
		do {
			seq = __atomic_load_n(&page->seq, __ATOMIC_ACQUIRE);
		} while (seq % 2);
		*count = __atomic_load_n(&page->count, __ATOMIC_RELAXED);
		*bytes = __atomic_load_n(&page->bytes, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&page->seq, __ATOMIC_RELAXED) != seq);
}

TEST_F(counter, page_is_never_torn)
{
	struct rnt_stream s = { .c = &self->a };
	unsigned int nr = rnt_count(6000), met = 0;
	__u64 count = 0, before, bytes;
	struct rnt_region from, to;
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 64);
	rnt_region_alloc(&self->b, &to, 64);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	s.op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, from.id, 0, remote,
			 0, 17);
	rnt_stream_start(&s);
	while (met < 8 || count < nr) {
		before = count;
		snapshot(self->x.page, &count, &bytes);
		ASSERT_EQ(count * 17, bytes);
		met += count != before;
	}
	nr = rnt_stream_end(&s);
	rnt_settle(&self->p, true);
	ASSERT_EQ(nr, rnt_counter_count(&self->x));
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

/* Read-only for good, of one size, and no memory to register. */
TEST_F(counter, mapping)
{
	struct rnotify_counter_create arg = { .size = sizeof(arg) };
	struct rnotify_register reg;
	void *p;

	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_COUNTER_CREATE, &arg));
	ASSERT_EQ(RNT_PAGE, arg.mmap_size);
	p = mmap(NULL, arg.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 self->b.fd, arg.mmap_offset);
	ASSERT_EQ(MAP_FAILED, p);
	ASSERT_EQ(EACCES, errno);
	p = mmap(NULL, arg.mmap_size, PROT_READ, MAP_PRIVATE, self->b.fd,
		 arg.mmap_offset);
	ASSERT_EQ(MAP_FAILED, p);
	ASSERT_EQ(EINVAL, errno);
	p = mmap(NULL, 2 * arg.mmap_size, PROT_READ, MAP_SHARED, self->b.fd,
		 arg.mmap_offset);
	ASSERT_EQ(MAP_FAILED, p);
	ASSERT_EQ(EINVAL, errno);
	p = mmap(NULL, arg.mmap_size, PROT_READ, MAP_SHARED, self->b.fd,
		 arg.mmap_offset);
	ASSERT_NE(MAP_FAILED, p);
	ASSERT_EQ(-1, mprotect(p, RNT_PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(-1, rnt_diff_byte(p, RNT_PAGE, 0));
	ASSERT_EQ(-EFAULT, rnt_register(&self->b, &reg, p, 64,
					RNOTIFY_REGION_READ_ONLY));
	rnt_destroy(&self->b, arg.counter_id);
	ASSERT_EQ(-1, rnt_diff_byte(p, RNT_PAGE, 0));
	ASSERT_EQ(MAP_FAILED, mmap(NULL, arg.mmap_size, PROT_READ, MAP_SHARED,
				   self->b.fd, arg.mmap_offset));
	ASSERT_EQ(ENOENT, errno);
}

/* Limits are told by QUERY, and come back with DESTROY. */
TEST_F(counter, limits)
{
	struct rnotify_query query = { .size = sizeof(query) };
	struct rnotify_counter_create arg = { .size = sizeof(arg) };
	struct rnotify_generation_create gen = { .size = sizeof(gen) };
	struct rnotify_counter_watch watch = {
		.counter_id = self->x.id, .threshold = 1,
	};

	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_QUERY, &query));
	ASSERT_EQ(RNOTIFY_RULES_MAX, query.max_rules);
	ASSERT_EQ(RNOTIFY_COUNTERS_MAX, query.max_counters);
	ASSERT_EQ(RNOTIFY_WATCHES_MAX, query.max_watches);
	ASSERT_EQ(RNOTIFY_SLOT_TABLES_MAX, query.max_slot_tables);
	ASSERT_EQ(RNOTIFY_SLOTS_MAX, query.max_slots);
	ASSERT_EQ(RNOTIFY_GENERATIONS_MAX, query.max_generations);
	for (unsigned int i = 1; i < query.max_counters; i++)
		ASSERT_EQ(0, rnt_ioctl(self->b.fd,
				       RNOTIFY_IOCTL_COUNTER_CREATE, &arg));
	ASSERT_EQ(-EMFILE, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_COUNTER_CREATE,
				     &arg));
	rnt_destroy(&self->b, arg.counter_id);
	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_COUNTER_CREATE, &arg));
	for (unsigned int i = 0; i < query.max_watches; i++)
		ASSERT_EQ(0, rnt_watch_err(&self->b, &watch));
	ASSERT_EQ(-EMFILE, rnt_watch_err(&self->b, &watch));
	rnt_destroy(&self->b, watch.watch_id);
	ASSERT_EQ(0, rnt_watch_err(&self->b, &watch));
	for (unsigned int i = 0; i < query.max_generations; i++)
		ASSERT_EQ(0, rnt_ioctl(self->b.fd,
				       RNOTIFY_IOCTL_GENERATION_CREATE, &gen));
	ASSERT_EQ(-EMFILE, rnt_ioctl(self->b.fd,
				     RNOTIFY_IOCTL_GENERATION_CREATE, &gen));
}

/* P2: a watch has its ring entry, or is refused. */
TEST_F(counter, watch_reserves_an_entry)
{
	struct rnotify_counter_watch watch = { .threshold = ~0ull };
	struct rnt_counter x;
	unsigned int nr = 0;
	struct rnt_ctx c;

	rnt_init(&c, RNOTIFY_RING_MIN, 0);
	rnt_counter_open(&c, &x);
	watch.counter_id = x.id;
	while (!rnt_watch_err(&c, &watch))
		nr++;
	ASSERT_EQ(RNOTIFY_RING_MIN, nr);
	ASSERT_EQ(-ENOSPC, rnt_watch_err(&c, &watch));
	rnt_destroy(&c, watch.watch_id);
	ASSERT_EQ(0, rnt_watch_err(&c, &watch));
	rnt_close(&c);
}

TEST_HARNESS_MAIN
