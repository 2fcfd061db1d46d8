// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Layouts of immediate data: against literal values, and by round trips of
 * random ones. What must not compile is in test-imm-misuse.
 */
#include <stdlib.h>

#include <rnotify/imm.h>

#include "tap.h"

#define ROUNDS 100000

#define JOB_IMM(field) \
	field(sequence, 16) \
	field(length, 8) \
	field(type, 8)
RNOTIFY_IMM_LAYOUT(job_imm, JOB_IMM);

#define FLAG_IMM(field)	field(low, 1) field(middle, 29) field(high, 1)
RNOTIFY_IMM_LAYOUT(flag_imm, FLAG_IMM);

#define WHOLE_IMM(field) field(all, 32)
RNOTIFY_IMM_LAYOUT(whole_imm, WHOLE_IMM);

/* Constant expressions where C wants one */
static const uint32_t masks[] = {
	RNOTIFY_IMM_MASK(job_imm, sequence),
	RNOTIFY_IMM_MASK(job_imm, type),
	RNOTIFY_IMM_CONST(job_imm, length, 0x81) |
		RNOTIFY_IMM_CONST(job_imm, type, 255),
	RNOTIFY_IMM_CONST(whole_imm, all, 0xffffffff),
};

static void constants(void)
{
	CHECK(masks[0] == 0x0000ffff && masks[1] == 0xff000000);
	CHECK(masks[2] == 0xff810000 && masks[3] == 0xffffffff);
	CHECK(RNOTIFY_IMM_SHIFT(job_imm, type) == 24);
	CHECK(RNOTIFY_IMM_BITS(flag_imm, middle) == 29);
	CHECK(RNOTIFY_IMM_MAX(flag_imm, high) == 1);
	CHECK(RNOTIFY_IMM_MASK(flag_imm, high) == 0x40000000);
	CHECK(RNOTIFY_IMM_MAX(whole_imm, all) == 0xffffffff);
	switch (0x00810000) {
	case RNOTIFY_IMM_CONST(job_imm, length, 0x81):
		break;
	default:
		CHECK(!"a case label");
	}
}

static void packing(void)
{
	const struct job_imm job = { .sequence = 0xabcd, .type = 0x12 };
	const struct flag_imm flags = { .low = 1, .high = 1 };
	const struct whole_imm whole = { .all = 0x89abcdef };
	struct job_imm back = job_imm_unpack(0xfedcba98);

	CHECK(job_imm_pack(job) == 0x1200abcd);
	CHECK(flag_imm_pack(flags) == 0x40000001);
	CHECK(whole_imm_pack(whole) == 0x89abcdef);
	CHECK(back.sequence == 0xba98 && back.length == 0xdc);
	CHECK(back.type == 0xfe);
	CHECK(whole_imm_unpack(0x80000000).all == 0x80000000);
	/* Bits that no field has are ignored */
	CHECK(!flag_imm_unpack(0x80000000).high);
}

static uint32_t random32(void)
{
	return (uint32_t)random() << 16 ^ (uint32_t)random();
}

static void round_trips(void)
{
	unsigned int i;

	srandom(1);
	for (i = 0; i < ROUNDS; i++) {
		uint32_t imm = random32();
		struct flag_imm flags = flag_imm_unpack(imm);

		CHECK(job_imm_pack(job_imm_unpack(imm)) == imm);
		CHECK(flag_imm_pack(flags) == (imm & 0x7fffffff));
		CHECK(RNOTIFY_IMM_GET(flag_imm, middle, imm) == flags.middle);
		CHECK((RNOTIFY_IMM_PUT(job_imm, sequence, imm) |
		       RNOTIFY_IMM_PUT(job_imm, length, imm >> 16) |
		       RNOTIFY_IMM_PUT(job_imm, type, imm >> 24)) == imm);
		CHECK(job_imm_fits(job_imm_unpack(imm)));
	}
}

/* What does not fit loses its upper bits, and disturbs no other field. */
static void too_large(void)
{
	struct job_imm job = { .sequence = 0, .length = 3, .type = 0 };
	volatile uint32_t large = 0x12345;	/* no constant to the compiler */

	job.sequence = large;
	CHECK(!job_imm_fits(job));
	CHECK(job_imm_pack(job) == 0x00032345);
	job.sequence = large & 0xffff;
	CHECK(job_imm_fits(job));
	job.type = large >> 4 & 0x1ff;
	CHECK(!job_imm_fits(job) || job.type <= 0xff);
}

static uint64_t widen(uint32_t sequence, uint64_t near)
{
	const struct job_imm job = { .sequence = sequence & 0xffff, .type = 7 };

	return RNOTIFY_IMM_WIDEN(job_imm, sequence, job_imm_pack(job), near);
}

static void widening(void)
{
	const uint64_t big = 0x100000000ull;
	unsigned int i;

	CHECK(widen(0, 0) == 0 && widen(5, 3) == 5 && widen(3, 5) == 3);
	CHECK(widen(0, 0xffff) == 0x10000 && widen(0xffff, 0x10000) == 0xffff);
	CHECK(widen(0xfff0, big) == big - 0x10);
	/* There is nothing behind 0 */
	CHECK(widen(0xfff0, 3) == 0xfff0);
	CHECK(RNOTIFY_IMM_WIDEN(whole_imm, all, 2, big - 1) == big + 2);
	CHECK(RNOTIFY_IMM_WIDEN(whole_imm, all, 0xffffffff, big) == big - 1);
	for (i = 0; i < ROUNDS; i++) {
		uint64_t near = ((uint64_t)random32() << 8) + 0x10000;
		uint64_t n = near + (uint64_t)(random32() & 0xffff) - 0x8000;

		CHECK(widen((uint32_t)n, near) == n);
	}
}

/* Each member by field; what is not named is 0, whatever was there before. */
static void rules(void)
{
	struct rnotify_rule rule, want = { 0 };

	memset(&rule, 0xa5, sizeof(rule));
	rnotify_rule_init(&rule, RNOTIFY_ACTION_SLOTS, 9);
	want.action = RNOTIFY_ACTION_SLOTS;
	want.object_id = 9;
	CHECK(!memcmp(&rule, &want, sizeof(rule)));
	RNOTIFY_RULE_MATCH(&rule, job_imm, type, 3);
	RNOTIFY_RULE_MATCH(&rule, job_imm, length, 0);
	RNOTIFY_RULE_SLOT(&rule, job_imm, sequence);
	RNOTIFY_RULE_GENERATION(&rule, flag_imm, middle, 4);
	want.mask = 0xffff0000;
	want.value = 0x03000000;
	want.slot_bits = 16;
	want.generation_id = 4;
	want.gen_shift = 1;
	want.gen_bits = 29;
	CHECK(!memcmp(&rule, &want, sizeof(rule)));
	/* The last word on a field holds */
	RNOTIFY_RULE_MATCH(&rule, job_imm, type, 0x81);
	CHECK(rule.mask == 0xffff0000 && rule.value == 0x81000000);
}

int main(void)
{
	return tap_run("shifts, masks and constants", constants) +
		tap_run("pack and unpack", packing) +
		tap_run("round trips", round_trips) +
		tap_run("values that are too large", too_large) +
		tap_run("the whole number behind a field", widening) +
		tap_run("rules by field", rules);
}
