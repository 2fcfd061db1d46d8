/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Unit tests of the pure layer: a test is a function in the table in main.c. It
 * fails if an EXPECT in it did; the result is a line of TAP.
 */
#ifndef UNIT_H
#define UNIT_H

#include "pure.h"

/**
 * EXPECT - note a failure if a condition does not hold
 * @cond: condition
 *
 * The test goes on, and will be "not ok". Only the first failures of a test are
 * printed.
 *
 * Return: whether the condition holds.
 */
#define EXPECT(cond) unit_expect((cond), __FILE__, __LINE__, #cond)

/* The same with a number that helps to find the case. */
#define EXPECT_AT(cond, at) \
	unit_expect_at((cond), __FILE__, __LINE__, #cond, (long long)(at))

bool unit_expect(bool ok, const char *file, int line, const char *what);
bool unit_expect_at(bool ok, const char *file, int line, const char *what,
		    long long at);

/* A line "# ..." under the test that runs. */
void unit_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Random numbers, the same in each run with the same seed. */
void unit_seed(u64 seed);
u64 unit_random(void);
/* 0 to n - 1 */
u32 unit_below(u32 n);

/* The tests, by file. */
void test_chunk_left(void);
void test_chunk_count(void);
void test_chunk_wrap(void);
void test_chunk_walk(void);
void test_range_ok(void);
void test_ring_wrap(void);
void test_ring_random(void);

void test_match_order(void);
void test_match_random(void);
void test_imm_field(void);
void test_gen_older(void);
void test_rule_check(void);
void test_dirty_next(void);

void test_golden_encode(void);
void test_golden_decode(void);
void test_golden_documented(void);
void test_round_trip_hello(void);
void test_round_trip_reject(void);
void test_round_trip_msg(void);
void test_put_refuses(void);
void test_put_no_space(void);
void test_message_limits(void);

void test_get_hello_refuses(void);
void test_get_hello_versions(void);
void test_get_hello_private(void);
void test_get_reject_refuses(void);
void test_get_reject_text(void);
void test_get_msg_refuses(void);
void test_get_notify_refuses(void);
void test_get_region_refuses(void);
void test_region_follows(void);

void test_truncation(void);
void test_extension(void);
void test_corruption(void);
void test_fuzz_random(void);

void test_credit_basics(void);
void test_credit_hostile(void);
void test_credit_model_small(void);
void test_credit_model_lazy(void);
void test_credit_model_foreign(void);
void test_credit_model_control(void);
void test_credit_link(void);
void test_credit_link_large(void);

#endif /* UNIT_H */
