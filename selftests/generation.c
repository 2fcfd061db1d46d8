// SPDX-License-Identifier: GPL-2.0
/*
 * Generations: old notifications are dropped and counted, new ones pass, and the
 * current generation changes between two notifications.
 *
 * rvm: limit=60
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "stream.h"

FIXTURE(generation)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_counter x;
	__u32 gen;
	struct rnotify_rule rule;
};

/* imm: generation in bits 16 to 23 */
FIXTURE_SETUP(generation)
{
	rnt_init(&self->a, 2048, 0);
	rnt_init(&self->b, 2048, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_counter_open(&self->b, &self->x);
	self->gen = rnt_generation(&self->b, 10);
	self->rule = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER, self->x.id);
	self->rule.generation_id = self->gen;
	self->rule.gen_shift = 16;
	self->rule.gen_bits = 8;
	rnt_route(&self->b, self->p.eb, &self->rule, 1);
}

FIXTURE_TEARDOWN(generation)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void ring(struct rnt_pair *p, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(p->ea, imm);

	rnt_post1(p->a, &op);
}

/* Wait until all that was posted has been judged. */
static void arrived(FIXTURE_DATA(generation) *self)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_endpoint_info tx, rx;

	rnt_info(&self->a, self->p.ea, &tx);
	do {
		rnt_check(rnt_left_ms(deadline));
		rnt_info(&self->b, self->p.eb, &rx);
	} while (rx.rx_notify != tx.tx_notify_posted);
}

/* Whether the generation lets that one pass. */
static bool passes(FIXTURE_DATA(generation) *self, __u32 imm)
{
	__u64 before;

	arrived(self);
	before = rnt_counter_count(&self->x);
	ring(&self->p, imm);
	arrived(self);
	return rnt_counter_count(&self->x) != before;
}

static __u64 stale(FIXTURE_DATA(generation) *self)
{
	struct rnotify_generation_set arg = {
		.size = sizeof(arg),
		.flags = RNOTIFY_GENERATION_GET,
		.generation_id = self->gen,
	};

	rnt_check_eq(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_GENERATION_SET,
				  &arg));
	return arg.stale;
}

TEST_F(generation, older_are_dropped_and_counted_newer_pass)
{
	struct rnotify_endpoint_info info;

	ASSERT_TRUE(passes(self, 10 << 16));
	ASSERT_FALSE(passes(self, 9 << 16));
	ASSERT_FALSE(passes(self, 0 << 16));
	ASSERT_TRUE(passes(self, 11 << 16 | 0xff00ffff));
	ASSERT_TRUE(passes(self, 100 << 16));
	ASSERT_EQ(2, stale(self));
	ASSERT_EQ(10, rnt_generation_set(&self->b, self->gen, 11, NULL));
	ASSERT_FALSE(passes(self, 10 << 16));
	ASSERT_TRUE(passes(self, 11 << 16));
	rnt_info(&self->b, self->p.eb, &info);
	ASSERT_EQ(3, info.rx_stale);
	ASSERT_EQ(4, info.rx_counted);
	ASSERT_EQ(0, info.rx_dropped);
	ASSERT_EQ(7, info.rx_consumed);
	ASSERT_EQ(3, stale(self));
	rnt_expect_none(&self->b, 0, 0);
}

/* The circle: half of it is behind, wherever one stands. */
TEST_F(generation, serial_number_arithmetic)
{
	static const __u32 at[] = { 0, 1, 127, 128, 200, 255, 0xffffff00 };

	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		rnt_generation_set(&self->b, self->gen, at[i], NULL);
		ASSERT_TRUE(passes(self, (at[i] & 255) << 16));
		ASSERT_TRUE(passes(self, ((at[i] + 1) & 255) << 16));
		ASSERT_TRUE(passes(self, ((at[i] + 127) & 255) << 16));
		ASSERT_FALSE(passes(self, ((at[i] + 128) & 255) << 16));
		ASSERT_FALSE(passes(self, ((at[i] - 1) & 255) << 16));
		ASSERT_FALSE(passes(self, ((at[i] - 127) & 255) << 16));
	}
	/* one bit: this one or the other; all 32 */
	self->rule.gen_bits = 1;
	rnt_route(&self->b, self->p.eb, &self->rule, 1);
	rnt_generation_set(&self->b, self->gen, 7, NULL);
	ASSERT_TRUE(passes(self, 1 << 16));
	ASSERT_FALSE(passes(self, 0));
	self->rule.gen_bits = 32;
	self->rule.gen_shift = 0;
	rnt_route(&self->b, self->p.eb, &self->rule, 1);
	rnt_generation_set(&self->b, self->gen, 0xfffffff0, NULL);
	ASSERT_TRUE(passes(self, 0xfffffff0));
	ASSERT_TRUE(passes(self, 5));
	ASSERT_FALSE(passes(self, 0xffffffef));
	ASSERT_FALSE(passes(self, 0x7ffffff0));
	ASSERT_TRUE(passes(self, 0x7fffffef));
}

/* Late gradients of all workers are out by one call. */
TEST_F(generation, one_for_many_endpoints)
{
	struct rnt_pair more[4];

	for (int i = 0; i < 4; i++) {
		rnt_pair_more(&self->p, &more[i]);
		rnt_route(&self->b, more[i].eb, &self->rule, 1);
		ring(&more[i], 10 << 16);
	}
	rnt_counter_is(&self->b, &self->x, 4);
	rnt_generation_set(&self->b, self->gen, 11, NULL);
	for (int i = 0; i < 4; i++) {
		ring(&more[i], 10 << 16);
		ring(&more[i], 11 << 16);
	}
	rnt_counter_is(&self->b, &self->x, 8);
	ASSERT_EQ(4, stale(self));
	/* a destroyed one stays as it was */
	rnt_destroy(&self->b, self->gen);
	ASSERT_FALSE(passes(self, 10 << 16));
	ASSERT_TRUE(passes(self, 11 << 16));
}

/* The bytes of a stale notification have landed all the same. */
TEST_F(generation, data_of_a_stale_one_is_there)
{
	struct rnt_region from, to;
	struct rnotify_op op;
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 4096);
	rnt_region_alloc(&self->b, &to, 4096);
	rnt_fill(from.p, 4096, 5);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, from.id, 0, remote, 0,
		       4096);
	op.imm = 9 << 16;
	rnt_post1(&self->a, &op);
	ASSERT_TRUE(passes(self, 10 << 16));
	ASSERT_EQ(1, stale(self));
	ASSERT_EQ(-1, rnt_diff(to.p, 4096, 5));
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

/*
 * A stream of one generation comes while the current one goes to and fro between
 * it and the next. Each notification is judged once, by the old value or the
 * new: those that passed and those that are stale are all. And when the call
 * returns, its value holds: nothing passes while the new one is in force.
 */
TEST_F(generation, set_while_traffic_flows)
{
	struct rnt_stream s = {
		.c = &self->a, .op = rnt_op_notify(self->p.ea, 10 << 16),
	};
	unsigned int nr = rnt_count(15000), met = 0;
	__u64 passed = 0, old = 0;

	rnt_stream_start(&s);
	while (met < 8 || !old || passed + old < nr) {
		ASSERT_EQ(10, rnt_generation_set(&self->b, self->gen, 11,
						 NULL));
		met += passed != rnt_counter_count(&self->x);
		passed = rnt_counter_count(&self->x);
		met += old != stale(self);
		old = stale(self);
		ASSERT_EQ(passed, rnt_counter_count(&self->x));
		ASSERT_EQ(11, rnt_generation_set(&self->b, self->gen, 10,
						 NULL));
	}
	nr = rnt_stream_end(&s);
	arrived(self);
	ASSERT_EQ(nr, rnt_counter_count(&self->x) + stale(self));
}

TEST_HARNESS_MAIN
