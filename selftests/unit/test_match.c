// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* route_match.h against naive models. */
#include "route_match.h"
#include "unit.h"

static int naive_find(const struct rnotify_rule *rules, u32 nr, u32 imm)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if ((imm & rules[i].mask) == rules[i].value)
			return (int)i;
	return -1;
}

static void compile(struct rnotify_match *m, const struct rnotify_rule *rules,
		    u32 nr)
{
	u32 i;

	rnotify_match_init(m);
	for (i = 0; i < nr; i++)
		rnotify_match_add(m, i, rules[i].mask, rules[i].value);
}

/* The first of several that match; mask 0; nothing. */
void test_match_order(void)
{
	struct rnotify_rule rules[64] = {};
	struct rnotify_match m;
	u32 i;

	rnotify_match_init(&m);
	EXPECT(rnotify_match_find(&m, 0) == -1);
	EXPECT(rnotify_match_find(&m, U32_MAX) == -1);
	/* rule i wants its i + 1 lowest bits at 0, the last one nothing */
	for (i = 0; i < 32; i++)
		rules[31 - i].mask = (u32)(((u64)2 << i) - 1);
	compile(&m, rules, 64);
	for (i = 0; i < 32; i++)
		EXPECT_AT(rnotify_match_find(&m, (u32)1 << i) ==
			  (i ? (int)(32 - i) : 32), i);
	EXPECT(rnotify_match_find(&m, 0) == 0);
	/* each bit of a word tells a rule */
	for (i = 0; i < 64; i++) {
		rules[i].mask = U32_MAX;
		rules[i].value = i * 0x04210843u;
	}
	compile(&m, rules, 64);
	for (i = 0; i < 64; i++)
		EXPECT_AT(rnotify_match_find(&m, i * 0x04210843u) == (int)i, i);
	EXPECT(rnotify_match_find(&m, 64 * 0x04210843u) == -1);
}

static u32 random_mask(void)
{
	u32 all = (u32)unit_random();

	switch (unit_below(6)) {
	case 0:
		return 0;
	case 1:
		return U32_MAX;
	case 2:	/* a field */
		return (u32)(((u64)1 << unit_below(33)) - 1) << unit_below(32);
	case 3:	/* few bits */
		return all & (u32)unit_random() & (u32)unit_random();
	case 4:	/* many */
		return all | (u32)unit_random();
	default:
		return all;
	}
}

/* Most rules of a list are alike, or hardly any imm would match one. */
static void random_rules(struct rnotify_rule *rules, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		bool like = i && unit_below(2);

		rules[i] = (struct rnotify_rule){
			.mask = like ? rules[unit_below(i)].mask :
				       random_mask(),
		};
		rules[i].value = (u32)unit_random() & rules[i].mask;
		/* mask 0 would hide all that follow */
		if (!rules[i].mask && unit_below(8))
			rules[i].mask = U32_MAX;
	}
}

/* One that a rule wants, one that it just does not want, or any. */
static u32 random_imm(const struct rnotify_rule *rules, u32 nr)
{
	const struct rnotify_rule *r = &rules[unit_below(nr)];
	u32 imm = r->value | ((u32)unit_random() & ~r->mask);

	switch (unit_below(4)) {
	case 0:
		return imm ^ (u32)1 << unit_below(32);
	case 1:
		return (u32)unit_random();
	default:
		return imm;
	}
}

/* 10^6 rules and 10^6 imms at least. */
void test_match_random(void)
{
	struct rnotify_rule rules[64];
	u64 nr_rules = 0, nr_imms = 0, matched = 0;
	struct rnotify_match m;

	while (nr_rules < 1000000 || nr_imms < 1000000) {
		u32 nr = 1 + unit_below(64), i;

		random_rules(rules, nr);
		compile(&m, rules, nr);
		for (i = 0; i < 34; i++) {
			u32 imm = random_imm(rules, nr);
			int want = naive_find(rules, nr, imm);

			if (!EXPECT_AT(rnotify_match_find(&m, imm) == want,
				       imm))
				return;
			matched += want >= 0;
		}
		nr_rules += nr;
		nr_imms += 34;
	}
	unit_note("%llu rules, %llu imms, %llu matched",
		  (unsigned long long)nr_rules, (unsigned long long)nr_imms,
		  (unsigned long long)matched);
	/* the test itself: neither all nor none */
	EXPECT(matched > nr_imms / 4 && matched < nr_imms);
}

/* Bit by bit. */
void test_imm_field(void)
{
	u32 round;

	EXPECT(rnotify_imm_field(0x89abcdef, 0, 32) == 0x89abcdef);
	EXPECT(rnotify_imm_field(0x89abcdef, 31, 1) == 1);
	EXPECT(rnotify_imm_field(0x89abcdef, 31, 0) == 0);
	EXPECT(rnotify_imm_field(0x89abcdef, 8, 8) == 0xcd);
	for (round = 0; round < 100000; round++) {
		u32 imm = (u32)unit_random(), want = 0, i;
		u8 shift = (u8)unit_below(32);
		u8 bits = (u8)unit_below(33 - shift);

		for (i = 0; i < bits; i++)
			want += (imm >> (shift + i) & 1) * ((u32)1 << i);
		EXPECT_AT(rnotify_imm_field(imm, shift, bits) == want, round);
	}
}

/* Walk back from the current one: what is met in half a circle is older. */
void test_gen_older(void)
{
	u32 bits, now, k, round;

	for (bits = 1; bits <= 10; bits++) {
		u32 size = (u32)1 << bits;

		for (now = 0; now < size; now++)
			for (k = 0; k < size; k++)
				EXPECT_AT(rnotify_gen_older((now - k) % size,
							    now, (u8)bits) ==
					  (k >= 1 && k <= size / 2), bits);
	}
	for (round = 0; round < 1000000; round++) {
		u32 current = (u32)unit_random(), back;
		u64 half;

		bits = 1 + unit_below(32);
		half = (u64)1 << (bits - 1);
		back = (u32)(unit_random() & (((u64)1 << bits) - 1));
		EXPECT_AT(rnotify_gen_older(rnotify_imm_field(current - back, 0,
							      (u8)bits),
					    current, (u8)bits) ==
			  (back >= 1 && back <= half), round);
	}
}

static int check_with(u32 action, u32 object, u32 gen, u32 a, u32 b, u32 c,
		      u32 d)
{
	struct rnotify_rule rule = {
		.action = (__u16)action,
		.object_id = object,
		.generation_id = gen,
		.gen_shift = (__u8)a,
		.gen_bits = (__u8)b,
		.slot_shift = (__u8)c,
		.slot_bits = (__u8)d,
	};

	return rnotify_rule_check(&rule);
}

/* Whatever is accepted has fields that lie within imm. */
void test_rule_check(void)
{
	u32 round, accepted = 0;

	EXPECT(check_with(RNOTIFY_ACTION_EVENT, 0, 0, 0, 0, 0, 0) == 0);
	EXPECT(check_with(RNOTIFY_ACTION_EVENT, 1, 0, 0, 0, 0, 0) == -EINVAL);
	EXPECT(check_with(RNOTIFY_ACTION_DROP, 0, 0, 0, 0, 0, 0) == 0);
	EXPECT(check_with(RNOTIFY_ACTION_SLOTS, 1, 1, 0, 32, 16, 16) == 0);
	EXPECT(check_with(RNOTIFY_ACTION_SLOTS, 1, 0, 0, 0, 17, 16) == -EINVAL);
	EXPECT(check_with(RNOTIFY_ACTION_SLOTS, 1, 0, 0, 0, 0, 17) == -EINVAL);
	EXPECT(check_with(RNOTIFY_ACTION_COUNTER, 1, 1, 31, 1, 0, 0) == 0);
	EXPECT(check_with(RNOTIFY_ACTION_COUNTER, 1, 1, 32, 0, 0, 0) ==
	       -EINVAL);
	EXPECT(check_with(4, 0, 0, 0, 0, 0, 0) == -EOPNOTSUPP);
	for (round = 0; round < 300000; round++) {
		struct rnotify_rule r;
		u8 *bytes = (u8 *)&r;
		size_t i;

		for (i = 0; i < sizeof(r); i++)
			bytes[i] = unit_below(3) ? (u8)unit_below(40) :
						   (u8)unit_random();
		r.action = (__u16)unit_below(5);
		r.flags = unit_below(8) == 0;
		r.value &= r.mask | (unit_below(16) ? 0 : U32_MAX);
		if (unit_below(2)) {
			r.generation_id = 0;
			r.gen_bits = 0;
			r.gen_shift = 0;
		}
		if (rnotify_rule_check(&r))
			continue;
		accepted++;
		EXPECT_AT(r.action <= RNOTIFY_ACTION_DROP, round);
		EXPECT_AT((r.value & ~r.mask) == 0, round);
		EXPECT_AT(r.gen_shift + r.gen_bits <= 32, round);
		EXPECT_AT(!r.generation_id == !r.gen_bits, round);
		EXPECT_AT(r.slot_shift <= 31 && r.slot_bits <= 16 &&
			  r.slot_shift + r.slot_bits <= 32, round);
		EXPECT_AT(rnotify_imm_field(U32_MAX, r.slot_shift,
					    r.slot_bits) < RNOTIFY_SLOTS_MAX,
			  round);
	}
	EXPECT(accepted > 1000);
}

/* Bit by bit, in tables of all sizes. */
void test_dirty_next(void)
{
	u64 bitmap[16];
	u32 round;

	for (round = 0; round < 100000; round++) {
		u32 nr = (u32)1 << unit_below(11), i, first, end;
		u32 sparse = unit_below(12);

		for (i = 0; i < 16; i++) {
			bitmap[i] = unit_random() & unit_random();
			if (unit_below(12) < sparse)
				bitmap[i] = 0;
		}
		/* as the table: no slot behind the last */
		if (nr < 64)
			bitmap[0] &= ((u64)1 << nr) - 1;
		first = unit_below(nr + 1);
		end = first + unit_below(nr - first + 1);
		for (i = first; i < end; i++)
			if (bitmap[i / 64] >> i % 64 & 1)
				break;
		EXPECT_AT(rnotify_dirty_next(bitmap, first, end) == i, round);
	}
}
