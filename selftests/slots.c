// SPDX-License-Identifier: GPL-2.0
/*
 * Slot tables: what a slot holds, the dirty bitmap, taking, wait-some, events.
 *
 * rvm: limit=90
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define NR_SLOTS	256

FIXTURE(slots)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_slots s;
	struct rnotify_rule rule;
	struct rnotify_slot got[NR_SLOTS];
};

/* imm: slot in bits 8 to 15 */
FIXTURE_SETUP(slots)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_slots_open(&self->b, &self->s, NR_SLOTS, RNOTIFY_SLOTS_EVENT,
		       0x5107);
	self->rule = rnt_rule(0, 0, RNOTIFY_ACTION_SLOTS, self->s.id);
	self->rule.slot_shift = 8;
	self->rule.slot_bits = 8;
	rnt_route(&self->b, self->p.eb, &self->rule, 1);
}

FIXTURE_TEARDOWN(slots)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void ring(FIXTURE_DATA(slots) *self, __u32 slot, __u32 other)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea,
					     (other & 0xffff00ff) | slot << 8);

	rnt_post1(&self->a, &op);
}

/* The table has seen so many since it was made. */
static void await_total(FIXTURE_DATA(slots) *self, __u64 total)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (__atomic_load_n(&self->s.head->total, __ATOMIC_ACQUIRE) != total)
		if (!rnt_left_ms(deadline))
			rnt_fail("total %llu, not %llu", (unsigned long long)
				 self->s.head->total,
				 (unsigned long long)total);
	/* the bitmap and nr_dirty come after it: what any call waits for */
	rnt_kick(&self->b);
}

static int take(FIXTURE_DATA(slots) *self, __u32 first, __u32 nr,
		unsigned int max, struct rnotify_slots_take *arg)
{
	struct rnotify_slots_take local = {};

	if (!arg)
		arg = &local;
	arg->first = first;
	arg->nr = nr;
	return rnt_slots_take(&self->b, &self->s, self->got, max, 0, arg);
}

static bool is_dirty(FIXTURE_DATA(slots) *self, __u32 slot)
{
	return __atomic_load_n(&self->s.dirty[slot / 64], __ATOMIC_ACQUIRE) >>
	       slot % 64 & 1;
}

static void expect_event(FIXTURE_DATA(slots) *self, __u32 nr_dirty,
			 __u64 changes)
{
	struct rnotify_event ev;

	rnt_expect(&self->b, self->s.id, RNOTIFY_EVENT_SLOTS, &ev);
	rnt_check_eq(0x5107, ev.cookie);
	rnt_check_eq(nr_dirty, ev.slots.nr_dirty);
	rnt_check_eq(changes, ev.slots.changes);
	rnt_check_eq(0, ev.slots.reserved);
	rnt_check_eq(0, ev.slots.reserved2[0]);
	rnt_check_eq(0, ev.slots.reserved2[1]);
}

TEST_F(slots, slot_has_count_bytes_imm_and_times)
{
	const struct rnotify_slot *s = &self->s.slot[0x42];
	struct rnt_region from, to;
	struct rnotify_op op;
	uint64_t start = rnt_now_ns();
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 4096);
	rnt_region_alloc(&self->b, &to, 4096);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	for (__u32 i = 1; i <= 3; i++) {
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, from.id, 0,
			       remote, 0, i * 100);
		op.imm = i << 24 | 0x4200 | i;
		rnt_post1(&self->a, &op);
	}
	await_total(self, 3);
	ASSERT_EQ(3, s->count);
	ASSERT_EQ(600, s->bytes);
	ASSERT_EQ(0x03004203, s->last_imm);
	ASSERT_EQ(self->p.eb, s->endpoint);
	ASSERT_LE(start, s->first_ns);
	ASSERT_LE(s->first_ns, s->last_ns);
	ASSERT_GE(rnt_now_ns(), s->last_ns);
	ASSERT_EQ(0x42, s->index);
	ASSERT_EQ(0, s->seq % 2);
	ASSERT_TRUE(is_dirty(self, 0x42));
	ASSERT_EQ(1, self->s.head->nr_dirty);

	/* taken: the same, and the slot is clean */
	ASSERT_EQ(1, take(self, 0, 0, NR_SLOTS, NULL));
	ASSERT_EQ(3, self->got[0].count);
	ASSERT_EQ(600, self->got[0].bytes);
	ASSERT_EQ(0x03004203, self->got[0].last_imm);
	ASSERT_EQ(0x42, self->got[0].index);
	ASSERT_EQ(0, s->count);
	ASSERT_EQ(0, s->bytes);
	ASSERT_EQ(0, s->last_imm);
	ASSERT_EQ(0, s->endpoint);
	ASSERT_EQ(0, s->first_ns);
	ASSERT_EQ(0, s->last_ns);
	ASSERT_FALSE(is_dirty(self, 0x42));
	ASSERT_EQ(0, self->s.head->nr_dirty);
	ASSERT_EQ(-ETIME, take(self, 0, 0, NR_SLOTS, NULL));
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

TEST_F(slots, dirty_bitmap_and_take_in_a_range)
{
	static const __u32 dirty[] = { 0, 1, 63, 64, 100, 127, 128, 200, 255 };
	struct rnotify_slots_take arg = {};

	for (unsigned int i = 0; i < ARRAY_SIZE(dirty); i++)
		ring(self, dirty[i], 0);
	await_total(self, ARRAY_SIZE(dirty));
	for (__u32 i = 0, k = 0; i < NR_SLOTS; i++) {
		ASSERT_EQ(i == dirty[k], is_dirty(self, i));
		k += i == dirty[k];
	}
	ASSERT_EQ(-ETIME, take(self, 2, 61, 10, NULL));
	ASSERT_EQ(-ETIME, take(self, 201, 54, 10, &arg));
	ASSERT_EQ(~0u, arg.next_dirty);
	ASSERT_EQ(9, arg.nr_dirty);
	/* only looked at */
	ASSERT_EQ(0, take(self, 2, 0, 0, &arg));
	ASSERT_EQ(63, arg.next_dirty);
	ASSERT_EQ(9, arg.nr_dirty);
	/* from the lowest, as many as asked for */
	ASSERT_EQ(3, take(self, 1, 127, 3, &arg));
	ASSERT_EQ(1, self->got[0].index);
	ASSERT_EQ(63, self->got[1].index);
	ASSERT_EQ(64, self->got[2].index);
	ASSERT_EQ(100, arg.next_dirty);
	ASSERT_EQ(6, arg.nr_dirty);
	ASSERT_EQ(1, take(self, 255, 1, 10, NULL));
	ASSERT_EQ(255, self->got[0].index);
	ASSERT_EQ(5, take(self, 0, 0, NR_SLOTS, &arg));
	ASSERT_EQ(0, self->got[0].index);
	ASSERT_EQ(200, self->got[4].index);
	ASSERT_EQ(~0u, arg.next_dirty);
	ASSERT_EQ(0, arg.nr_dirty);
}

/* The largest table: each slot once, by all 16 bits of the field. */
TEST_F(slots, up_to_65536_slots)
{
	struct rnotify_slot *got = rnt_anon(4096 * sizeof(*got));
	unsigned int nr = rnt_count(12000), taken = 0;
	struct rnt_slots big;
	__u32 next = 0;

	rnt_slots_open(&self->b, &big, RNOTIFY_SLOTS_MAX, 0, 0);
	self->rule.object_id = big.id;
	self->rule.slot_shift = 16;
	self->rule.slot_bits = 16;
	rnt_route(&self->b, self->p.eb, &self->rule, 1);
	for (unsigned int i = 0; i < nr; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea,
						     i * 65535 / (nr - 1) << 16
						     | 0x1234);

		rnt_post1(&self->a, &op);
	}
	rnt_settle(&self->p, true);
	while (taken < nr) {
		int n = rnt_slots_take(&self->b, &big, got, 4096, 0, NULL);

		ASSERT_LT(0, n);
		for (int i = 0; i < n; i++, taken++) {
			ASSERT_EQ(taken * 65535 / (nr - 1), got[i].index);
			ASSERT_LE(next, got[i].index);
			ASSERT_EQ(1, got[i].count);
			next = got[i].index + 1;
		}
	}
	ASSERT_EQ(65536, next);
	ASSERT_EQ(-ETIME, rnt_slots_take(&self->b, &big, got, 1, 0, NULL));
	ASSERT_EQ(0, munmap((void *)big.head, big.mapped));
}

/*
 * However many come, the ring has one entry of them: it can't overflow, and the
 * credit of all of them is back at once.
 */
TEST_F(slots, one_event_per_clean_to_dirty)
{
	unsigned int nr = rnt_count(1500);

	for (unsigned int i = 0; i < nr; i++)
		ring(self, i % NR_SLOTS, i);
	await_total(self, nr);
	rnt_settle(&self->p, true);
	ASSERT_EQ(1, rnt_pending(&self->b));
	expect_event(self, 1, 1);
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_EQ(1, self->s.head->changes);
	/* dirty it stays, and silent, while anything is left */
	ASSERT_EQ(10, take(self, 0, 0, 10, NULL));
	ring(self, 3, 0);
	await_total(self, nr + 1);
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_LT(0, take(self, 0, 0, NR_SLOTS, NULL));
	ASSERT_EQ(0, self->s.head->nr_dirty);
	/* clean: the next is told again */
	ring(self, 200, 0);
	expect_event(self, 1, 2);
}

/*
 * The reader takes all, and the table is dirty again before the reader has
 * consumed the event: the wake-up must not be lost.
 */
TEST_F(slots, event_after_an_unconsumed_one)
{
	ring(self, 1, 0);
	await_total(self, 1);
	ASSERT_EQ(1, rnt_pending(&self->b));
	ASSERT_EQ(RNOTIFY_EVENT_SLOTS, rnt_peek(&self->b)->type);
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(1, take(self, 0, 0, 10, NULL));
		ring(self, 2 + i, 0);
		await_total(self, 2 + i);
		ASSERT_EQ(1, rnt_pending(&self->b));
	}
	ASSERT_NE(0, self->b.head->need_kick);
	rnt_consume(&self->b, 1);
	expect_event(self, 1, 6);
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_EQ(0, self->b.head->need_kick);
}

struct taker {
	struct rnt_thread thread;
	FIXTURE_DATA(slots) *self;
	struct rnotify_slots_take arg;
	struct rnotify_slot got[4];
	unsigned int max;
	int ret;
};

static void *taker_fn(void *data)
{
	struct taker *t = data;

	t->ret = rnt_slots_take(&t->self->b, &t->self->s, t->got, t->max, -1,
				&t->arg);
	return NULL;
}

static void taker_start(struct taker *t, FIXTURE_DATA(slots) *self,
			__u32 first, __u32 nr, unsigned int max)
{
	*t = (struct taker){ .self = self, .max = max };
	t->arg.first = first;
	t->arg.nr = nr;
	t->arg.ended = self->s.head->ended;
	rnt_thread_start(&t->thread, taker_fn, t);
	rnt_await_sleep(t->thread.tid, SYS_ioctl);
}

TEST_F(slots, wait_some_in_a_range)
{
	struct taker t[3];

	taker_start(&t[0], self, 10, 10, 4);
	taker_start(&t[1], self, 20, 1, 4);
	taker_start(&t[2], self, 21, 0, 0);
	ring(self, 9, 0);
	await_total(self, 1);
	for (int i = 0; i < 3; i++)
		ASSERT_FALSE(rnt_thread_ends(&t[i].thread, 3, NULL));
	ring(self, 19, 0);
	rnt_thread_join(&t[0].thread);
	ASSERT_EQ(1, t[0].ret);
	ASSERT_EQ(19, t[0].got[0].index);
	ASSERT_FALSE(rnt_thread_ends(&t[1].thread, 3, NULL));
	ring(self, 20, 0);
	rnt_thread_join(&t[1].thread);
	ASSERT_EQ(20, t[1].got[0].index);
	ASSERT_FALSE(rnt_thread_ends(&t[2].thread, 3, NULL));
	ring(self, 255, 0);
	rnt_thread_join(&t[2].thread);
	/* it only waited */
	ASSERT_EQ(0, t[2].ret);
	ASSERT_EQ(255, t[2].arg.next_dirty);
	ASSERT_TRUE(is_dirty(self, 255));
}

TEST_F(slots, P7_wait_ends_by_peer_death_timeout_and_destroy)
{
	struct taker t;

	taker_start(&t, self, 0, 0, 4);
	rnt_close(&self->a);
	rnt_thread_join(&t.thread);
	ASSERT_EQ(-EPIPE, t.ret);
	ASSERT_EQ(1, t.arg.ended);
	ASSERT_EQ(self->p.eb, t.arg.ended_endpoint);
	ASSERT_TRUE(t.arg.ended_reason == RNOTIFY_REASON_PEER_EXIT ||
		    t.arg.ended_reason == RNOTIFY_REASON_PEER_CLOSE);
	ASSERT_EQ(self->p.eb, self->s.head->ended_endpoint);
	ASSERT_EQ(-ETIME, rnt_slots_take(&self->b, &self->s, self->got, 4,
					 rnt_deadline(5), &t.arg));
	taker_start(&t, self, 0, 0, 4);
	rnt_destroy(&self->b, self->s.id);
	rnt_thread_join(&t.thread);
	ASSERT_EQ(-ECANCELED, t.ret);
	rnt_init(&self->a, 64, 0);
}

/* What can't be handed over stays in the table. */
TEST_F(slots, nothing_is_lost_to_a_bad_pointer)
{
	struct rnotify_slot *page = rnt_anon(2 * RNT_PAGE), *last;
	struct rnotify_slots_take arg = {}, *ro = rnt_anon(RNT_PAGE);
	__u64 first_ns;

	last = (void *)((char *)page + RNT_PAGE - sizeof(*page));
	ASSERT_EQ(0, munmap((char *)page + RNT_PAGE, RNT_PAGE));
	for (__u32 i = 0; i < 20; i++)
		ring(self, i, i << 24);
	await_total(self, 20);
	first_ns = self->s.slot[0].first_ns;
	ASSERT_EQ(-EFAULT, rnt_slots_take(&self->b, &self->s, (void *)16, 20, 0,
					  NULL));
	ASSERT_EQ(20, self->s.head->nr_dirty);
	ASSERT_EQ(first_ns, self->s.slot[0].first_ns);
	ASSERT_EQ(19u << 24 | 19 << 8, self->s.slot[19].last_imm);
	/* half of it can be written: less is taken, or nothing */
	ASSERT_EQ(-EFAULT, rnt_slots_take(&self->b, &self->s, last, 20, 0,
					  &arg));
	ASSERT_EQ(20, self->s.head->nr_dirty);
	*ro = (struct rnotify_slots_take){
		.size = sizeof(*ro), .slots_id = self->s.id, .max = 20,
		.entries = (uintptr_t)self->got,
		.entry_size = sizeof(*self->got),
	};
	ASSERT_EQ(0, mprotect(ro, RNT_PAGE, PROT_READ));
	ASSERT_EQ(-EFAULT, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_TAKE, ro));
	ASSERT_EQ(20, take(self, 0, 0, NR_SLOTS, NULL));
	for (int i = 0; i < 20; i++)
		ASSERT_EQ(1, self->got[i].count);
}

TEST_F(slots, errors_and_limits)
{
	struct rnotify_slots_create c = { .size = sizeof(c), .nr_slots = 1 };
	static const __u32 bad[] = { 0, 3, 6, 65537, 131072, 0x80000000, ~0u };
	struct rnotify_slots_take arg = {};
	unsigned int n = 1;

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		c.nr_slots = bad[i];
		ASSERT_EQ(-EINVAL, rnt_ioctl(self->b.fd,
					     RNOTIFY_IOCTL_SLOTS_CREATE, &c));
	}
	ASSERT_EQ(-ERANGE, take(self, 256, 0, 1, NULL));
	ASSERT_EQ(-ERANGE, take(self, 0, 257, 1, NULL));
	ASSERT_EQ(-ERANGE, take(self, 255, 2, 1, NULL));
	ASSERT_EQ(-ERANGE, take(self, ~0u, 1, 1, NULL));
	ASSERT_EQ(-ERANGE, take(self, 1, ~0u, 1, NULL));
	arg.size = sizeof(arg);
	arg.slots_id = self->s.id;
	ASSERT_EQ(-EINVAL, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_TAKE,
				     &arg));
	arg.entry_size = sizeof(struct rnotify_slot);
	arg.slots_id = self->p.eb;
	ASSERT_EQ(-ENOENT, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_TAKE,
				     &arg));
	c.nr_slots = 1;
	while (!rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_CREATE, &c))
		n++;
	ASSERT_EQ(RNOTIFY_SLOT_TABLES_MAX, n);
	ASSERT_EQ(-EMFILE, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_CREATE,
				     &c));
	rnt_destroy(&self->b, self->s.id);
	/* the rules still hold it; without them it is gone */
	rnt_route(&self->b, self->p.eb, NULL, 0);
	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_SLOTS_CREATE, &c));
}

/* Read-only for good, and no memory to register. */
TEST_F(slots, mapping)
{
	struct rnotify_register reg;
	void *p = (void *)self->s.head;

	ASSERT_EQ(-1, mprotect(p, RNT_PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(-EFAULT, rnt_register(&self->b, &reg, p, 64,
					RNOTIFY_REGION_READ_ONLY));
	rnt_destroy(&self->b, self->s.id);
	ASSERT_EQ(NR_SLOTS, self->s.head->nr_slots);
}

TEST_HARNESS_MAIN
