// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of an endpoint: what a notification becomes, and that changing them
 * loses nothing.
 *
 * rvm: limit=90
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "stream.h"

#define EVENT	RNOTIFY_ACTION_EVENT
#define COUNTER	RNOTIFY_ACTION_COUNTER
#define SLOTS	RNOTIFY_ACTION_SLOTS
#define DROP	RNOTIFY_ACTION_DROP

FIXTURE(route)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_counter x, y;
	struct rnt_slots slots;
};

FIXTURE_SETUP(route)
{
	rnt_init(&self->a, 512, 256);
	rnt_init(&self->b, 512, 256);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_counter_open(&self->b, &self->x);
	rnt_counter_open(&self->b, &self->y);
	rnt_slots_open(&self->b, &self->slots, 16, 0, 0);
}

FIXTURE_TEARDOWN(route)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void ring(FIXTURE_DATA(route) *self, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, imm);

	rnt_post1(&self->a, &op);
}

/* b has got so many, by whatever way. */
static void arrived(FIXTURE_DATA(route) *self, __u64 nr,
		    struct rnotify_endpoint_info *info)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	for (;;) {
		rnt_info(&self->b, self->p.eb, info);
		if (info->rx_notify == nr)
			return;
		if (info->rx_notify > nr || !rnt_left_ms(deadline))
			rnt_fail("%llu arrived, not %llu",
				 (unsigned long long)info->rx_notify,
				 (unsigned long long)nr);
		rnt_sleep_us(300);
	}
}

static void set(FIXTURE_DATA(route) *self, const struct rnotify_rule *rules,
		unsigned int nr)
{
	rnt_route(&self->b, self->p.eb, rules, nr);
}

/* Each action, and what no rule matches; ENDPOINT_INFO counts each. */
TEST_F(route, event_counter_slots_drop_and_default)
{
	struct rnotify_rule rules[] = {
		rnt_rule(0xff000000, 0x01000000, EVENT, 0),
		rnt_rule(0xff000000, 0x02000000, COUNTER, self->x.id),
		rnt_rule(0xff000000, 0x03000000, SLOTS, self->slots.id),
		rnt_rule(0xff000000, 0x04000000, DROP, 0),
		rnt_rule(0xff000000, 0x05000000, DROP, self->y.id),
	};
	struct rnotify_endpoint_info info;

	rules[2].slot_bits = 4;
	set(self, rules, 5);
	for (__u32 i = 0; i < 7; i++)
		for (__u32 k = 0; k <= i; k++)
			ring(self, i << 24 | k);
	arrived(self, 28, &info);
	ASSERT_EQ(3, info.rx_counted);
	ASSERT_EQ(4, info.rx_slotted);
	ASSERT_EQ(5 + 6, info.rx_dropped);
	ASSERT_EQ(0, info.rx_stale);
	ASSERT_EQ(3, rnt_counter_count(&self->x));
	ASSERT_EQ(6, rnt_counter_count(&self->y));
	ASSERT_EQ(4, self->slots.head->total);
	rnt_expect_imms(&self->b, self->p.eb, 0, 1);
	rnt_expect_imms(&self->b, self->p.eb, 0x01000000, 2);
	rnt_expect_imms(&self->b, self->p.eb, 0x06000000, 7);
	rnt_expect_none(&self->b, 0, 0);
	rnt_settle(&self->p, true);
}

TEST_F(route, default_rule)
{
	struct rnotify_rule rules[] = {
		rnt_rule(1, 1, EVENT, 0),
		rnt_rule(0, 0, COUNTER, self->x.id),
	};

	set(self, rules, 2);
	for (__u32 i = 0; i < 8; i++)
		ring(self, 0x89abcde0 + i);
	rnt_counter_is(&self->b, &self->x, 4);
	for (__u32 i = 1; i < 8; i += 2)
		rnt_expect_imms(&self->b, self->p.eb, 0x89abcde0 + i, 1);
	rnt_expect_none(&self->b, 0, 0);
}

TEST_F(route, ordered)
{
	struct rnotify_rule rules[] = {
		rnt_rule(0xffffffff, 5, COUNTER, self->x.id),
		rnt_rule(0xfffffff0, 0, COUNTER, self->y.id),
		rnt_rule(0xffffffff, 6, DROP, 0),
	};

	set(self, rules, 3);
	for (__u32 i = 0; i < 17; i++)
		ring(self, i);
	rnt_expect_imms(&self->b, self->p.eb, 16, 1);
	ASSERT_EQ(1, rnt_counter_count(&self->x));
	ASSERT_EQ(15, rnt_counter_count(&self->y));
}

TEST_F(route, up_to_64_rules)
{
	struct rnotify_rule rules[RNOTIFY_RULES_MAX + 1];
	struct rnotify_slot taken[16];

	for (__u32 i = 0; i < RNOTIFY_RULES_MAX; i++)
		rules[i] = rnt_rule(0xffffffff, i * 0x01010101, SLOTS,
				    self->slots.id);
	/* each rule finds its slot in another place */
	for (__u32 i = 0; i < RNOTIFY_RULES_MAX; i++) {
		rules[i].slot_shift = i % 25;
		rules[i].slot_bits = 4;
	}
	rules[RNOTIFY_RULES_MAX] = rules[0];
	ASSERT_EQ(-EINVAL, rnt_route_err(&self->b, self->p.eb, rules,
					 RNOTIFY_RULES_MAX + 1));
	set(self, rules, RNOTIFY_RULES_MAX);
	for (__u32 i = 0; i < RNOTIFY_RULES_MAX; i++) {
		__u32 imm = i * 0x01010101;

		ring(self, imm);
		ASSERT_EQ(1, rnt_slots_take(&self->b, &self->slots, taken, 16,
					    rnt_deadline(RNT_PATIENCE_MS),
					    NULL));
		ASSERT_EQ(imm >> i % 25 & 15, taken[0].index);
		ASSERT_EQ(imm, taken[0].last_imm);
	}
	ring(self, 64 * 0x01010101);
	rnt_expect_imms(&self->b, self->p.eb, 64 * 0x01010101, 1);
}

/* WRITE_IMM is routed like NOTIFY, with its bytes; messages never are. */
TEST_F(route, writes_but_no_messages)
{
	struct rnotify_rule rule = rnt_rule(0, 0, COUNTER, self->x.id);
	struct rnt_region from, to;
	struct rnotify_event ev;
	struct rnotify_op op;
	__u32 remote;

	rnt_region_alloc(&self->a, &from, 4 * RNT_MIB);
	rnt_region_alloc(&self->b, &to, 4 * RNT_MIB);
	rnt_fill(from.p, from.len, 1);
	remote = rnt_grant(&self->p, to.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	set(self, &rule, 1);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, from.id, 0, remote, 0,
		       1000);
	rnt_post1(&self->a, &op);
	/* one that takes several work requests, and tells by a message */
	op.length = from.len;
	rnt_post1(&self->a, &op);
	rnt_counter_is(&self->b, &self->x, 2);
	ASSERT_EQ(1000 + from.len, self->x.page->bytes);
	ASSERT_EQ(-1, rnt_diff(to.p, to.len, 1));

	op = rnt_op_inline(RNOTIFY_OP_SEND_IMM, self->p.ea, "abc", 0, 0, 3);
	op.imm = 7;
	rnt_post1(&self->a, &op);
	op.length = 0;
	op.local_offset = 0;
	op.flags = 0;
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_MESSAGE, &ev);
	ASSERT_EQ(3, ev.notify.byte_len);
	ASSERT_EQ(7, ev.notify.imm);
	ASSERT_EQ(0, memcmp("abc", self->b.msgs + ev.notify.msg_offset, 3));
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_MESSAGE, &ev);
	ASSERT_EQ(0, ev.notify.byte_len);
	ASSERT_EQ(2, rnt_counter_count(&self->x));
	rnt_region_drop(&self->a, &from);
	rnt_region_drop(&self->b, &to);
}

/*
 * P2, P3: the receiver makes no call and consumes nothing; its ring is full of
 * events. What goes to a counter still comes, and the peer never waits long.
 */
TEST_F(route, credit_returns_at_once)
{
	const struct rnotify_params params = { .recv_depth = 4 };
	struct rnotify_rule rules[] = {
		rnt_rule(0x80000000, 0, COUNTER, self->x.id),
	};
	unsigned int nr = rnt_count(6000);
	struct rnotify_endpoint_info info;
	struct rnt_rnr rnr;
	struct rnt_pair p;

	rnt_rnr_read(&rnr);
	rnt_more(&self->p, &p, NULL, &params);
	rnt_route(&self->b, p.eb, rules, 1);
	/* of four credits three are with the user */
	for (unsigned int i = 0; i < 3; i++) {
		struct rnotify_op op = rnt_op_notify(p.ea, 0x80000000 + i);

		rnt_post1(&self->a, &op);
	}
	for (unsigned int i = 0; i < nr; i++) {
		struct rnotify_op op = rnt_op_notify(p.ea, i);

		rnt_post1(&self->a, &op);
	}
	rnt_counter_is(&self->b, &self->x, nr);
	rnt_expect_imms(&self->b, p.eb, 0x80000000, 3);
	rnt_info(&self->b, p.eb, &info);
	ASSERT_EQ(nr + 3, info.rx_notify);
	ASSERT_EQ(nr, info.rx_counted);
	rnt_settle(&p, true);
	ASSERT_TRUE(rnt_rnr_same(&rnr));
}

static __u64 counted(FIXTURE_DATA(route) *self)
{
	return rnt_counter_count(&self->x) + rnt_counter_count(&self->y);
}

/*
 * P1: while a stream comes, the rules change all the time. Each list sends even
 * numbers to one counter and odd ones to the other: a list that is half old and
 * half new would send both to the same, or make an event.
 */
TEST_F(route, changed_atomically_while_traffic_flows)
{
	struct rnotify_rule lists[2][2] = {
		{ rnt_rule(1, 0, COUNTER, self->x.id),
		  rnt_rule(1, 1, COUNTER, self->y.id) },
		{ rnt_rule(1, 1, COUNTER, self->y.id),
		  rnt_rule(1, 0, COUNTER, self->x.id) },
	};
	struct rnt_stream s = {
		.c = &self->a, .op = rnt_op_notify(self->p.ea, 0),
	};
	unsigned int nr = rnt_count(15000), changes = 0, met = 0;
	struct rnotify_endpoint_info info;

	set(self, lists[0], 2);
	rnt_stream_start(&s);
	while (met < 8 || counted(self) < nr) {
		__u64 before = counted(self);

		set(self, lists[++changes % 2], 2);
		met += counted(self) != before;
	}
	nr = rnt_stream_end(&s);
	arrived(self, nr, &info);
	ASSERT_EQ(nr / 2, rnt_counter_count(&self->x));
	ASSERT_EQ(nr / 2, rnt_counter_count(&self->y));
	ASSERT_EQ(nr, info.rx_counted);
	rnt_expect_none(&self->b, 0, 0);
}

/* When ROUTE has returned, the old rules see nothing more. */
TEST_F(route, change_holds_when_it_returns)
{
	struct rnotify_rule to_x = rnt_rule(0, 0, COUNTER, self->x.id);
	struct rnotify_rule to_y = rnt_rule(0, 0, COUNTER, self->y.id);
	unsigned int rounds = rnt_count(150);

	for (unsigned int i = 0; i < rounds; i++) {
		set(self, &to_x, 1);
		ring(self, i);
		rnt_counter_is(&self->b, &self->x, i + 1);
		set(self, &to_y, 1);
		ring(self, i);
		rnt_counter_is(&self->b, &self->y, i + 1);
	}
	set(self, NULL, 0);
	ring(self, 99);
	rnt_expect_imms(&self->b, self->p.eb, 99, 1);
}

/* Moderation puts the wake-up off for minutes of test time; urgent does not. */
TEST_F(route, urgent_overrides_moderation)
{
	struct rnotify_moderate moderate = {
		.size = sizeof(moderate),
		.min_events = 100,
		.max_delay_ns = RNOTIFY_MODERATE_MAX_NS,
	};
	struct rnotify_rule rule = rnt_rule(0xff, 1, EVENT, 0);
	struct rnotify_event ev;
	uint64_t woken;
	unsigned int quick = 0;

	rule.flags = RNOTIFY_RULE_URGENT;
	set(self, &rule, 1);
	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_MODERATE, &moderate));
	/* a late scheduler may make one look slow, but not all */
	for (int i = 0; i < 5; i++) {
		pid_t pid;

		pid = rnt_fork();
		if (!pid) {
			rnt_await_sleep(getppid(), SYS_poll);
			ring(self, 1);
			_exit(0);
		}
		ASSERT_EQ(POLLIN, rnt_poll(&self->b, POLLIN, RNT_PATIENCE_MS));
		woken = rnt_now_ns();
		rnt_join(pid);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		quick += woken < ev.time_ns + RNOTIFY_MODERATE_MAX_NS / 2;
		ASSERT_EQ(RNOTIFY_EVENT_F_IMM | RNOTIFY_EVENT_F_URGENT,
			  ev.flags);
	}
	ASSERT_LT(0, quick);
	/* the others are not marked */
	ring(self, 2);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	ASSERT_EQ(RNOTIFY_EVENT_F_IMM, ev.flags);
}

/*
 * Rules for endpoints that are not there yet: the peer rings the instant it is
 * connected, and the very first is counted.
 */
TEST_F(route, inherited_from_the_first_notification_on)
{
	struct rnotify_rule rule = rnt_rule(0, 0, COUNTER, self->x.id);
	unsigned int rounds = rnt_count(20);

	rnt_route(&self->b, 0, &rule, 1);
	for (unsigned int i = 0; i < rounds; i++) {
		__u32 ea = rnt_connect(&self->a, rnt_addr4(), self->p.port,
				       NULL, 0);
		__u32 eb = rnt_request(&self->b, NULL);
		struct rnotify_op op = rnt_op_notify(ea, i);

		ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_post1(&self->a, &op);
		rnt_counter_is(&self->b, &self->x, i + 1);
		rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_destroy(&self->a, ea);
		rnt_destroy(&self->b, eb);
	}
	/* the older one has none */
	ring(self, 5);
	rnt_expect_imms(&self->b, self->p.eb, 5, 1);
	ASSERT_EQ(rounds, rnt_counter_count(&self->x));
}

/* P1: nothing is lost with the object: what it would count becomes an event. */
TEST_F(route, destroyed_target_makes_events)
{
	struct rnotify_rule rules[] = {
		rnt_rule(3, 1, COUNTER, self->x.id),
		rnt_rule(3, 2, SLOTS, self->slots.id),
		rnt_rule(3, 3, DROP, self->y.id),
	};
	struct rnotify_endpoint_info info;

	set(self, rules, 3);
	for (__u32 i = 1; i < 4; i++)
		ring(self, i);
	arrived(self, 3, &info);
	rnt_expect_none(&self->b, 0, 0);
	rnt_destroy(&self->b, self->x.id);
	rnt_destroy(&self->b, self->slots.id);
	rnt_destroy(&self->b, self->y.id);
	for (__u32 i = 5; i < 8; i++)
		ring(self, i);
	rnt_expect_imms(&self->b, self->p.eb, 5, 2);
	arrived(self, 6, &info);
	/* a drop is a drop */
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_EQ(2, info.rx_dropped);
	/* what was mapped is still there */
	ASSERT_EQ(1, rnt_counter_count(&self->x));
	ASSERT_EQ(-ENOENT, rnt_route_err(&self->b, self->p.eb, rules, 3));
}

TEST_F(route, errors)
{
	struct rnotify_rule ok = rnt_rule(0xf0, 0x10, COUNTER, self->x.id);
	struct rnotify_rule rule = ok;
	struct rnotify_endpoint_info info;
	__u32 generation = rnt_generation(&self->b, 0);

#define REFUSED(err, change) do {					\
	rule = ok;							\
	change;								\
	EXPECT_EQ(err, rnt_route_err(&self->b, self->p.eb, &rule, 1))	\
		TH_LOG(#change);					\
} while (0)
	set(self, &ok, 1);
	REFUSED(-EINVAL, rule.value = 0x110);
	REFUSED(-EOPNOTSUPP, rule.action = 4);
	REFUSED(-EOPNOTSUPP, rule.action = 0xffff);
	REFUSED(-EOPNOTSUPP, rule.flags = 2);
	REFUSED(-EINVAL, rule.flags = RNOTIFY_RULE_URGENT);
	REFUSED(-EINVAL, rule.action = EVENT);
	REFUSED(-ENOENT, rule.object_id = 0);
	REFUSED(-ENOENT, rule.object_id = self->slots.id);
	REFUSED(-ENOENT, rule.object_id = self->p.eb);
	REFUSED(-ENOENT, rule.object_id = 0xffffffff);
	REFUSED(-ENOENT, rule.action = SLOTS);
	REFUSED(-EINVAL, rule.slot_bits = 1);
	REFUSED(-EINVAL, rule.slot_shift = 1);
	REFUSED(-EINVAL, rule.gen_bits = 1);
	REFUSED(-EINVAL, rule.gen_shift = 1);
	REFUSED(-EINVAL, rule.generation_id = generation);
	REFUSED(-EINVAL, rule.generation_id = generation; rule.gen_bits = 33);
	REFUSED(-EINVAL, rule.generation_id = generation; rule.gen_bits = 8;
		rule.gen_shift = 25);
	REFUSED(-EINVAL, rule.generation_id = generation; rule.gen_bits = 255;
		rule.gen_shift = 255);
	REFUSED(-ENOENT, rule.generation_id = self->x.id; rule.gen_bits = 8);
	ok = rnt_rule(0xf0, 0x10, SLOTS, self->slots.id);
	REFUSED(-EINVAL, rule.slot_bits = 5);
	REFUSED(-EINVAL, rule.slot_bits = 17);
	REFUSED(-EINVAL, rule.slot_bits = 4; rule.slot_shift = 29);
	REFUSED(-EINVAL, rule.slot_shift = 32);
#undef REFUSED
	ASSERT_EQ(-ENOENT, rnt_route_err(&self->b, self->x.id, &ok, 1));
	ASSERT_EQ(-EFAULT, rnt_route_err(&self->b, self->p.eb,
					 (void *)16, 1));
	/* and all the time the first list was in force */
	ring(self, 0x1f);
	rnt_counter_is(&self->b, &self->x, 1);
	arrived(self, 1, &info);

	rnt_destroy(&self->a, self->p.ea);
	rnt_down(&self->b, self->p.eb, RNT_PEER_GONE, NULL);
	ASSERT_EQ(-ESHUTDOWN, rnt_route_err(&self->b, self->p.eb, &ok, 1));
}

TEST_HARNESS_MAIN
