// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Runs the unit tests and prints TAP. An argument selects the tests whose name
 * contains it; RNOTIFY_SEED in the environment is another seed for the random
 * ones.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#define TEST(name) { #name, test_##name }

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	TEST(chunk_left),
	TEST(chunk_count),
	TEST(chunk_wrap),
	TEST(chunk_walk),
	TEST(range_ok),
	TEST(ring_wrap),
	TEST(ring_random),

	TEST(match_order),
	TEST(match_random),
	TEST(imm_field),
	TEST(gen_older),
	TEST(rule_check),
	TEST(dirty_next),

	TEST(golden_encode),
	TEST(golden_decode),
	TEST(golden_documented),
	TEST(round_trip_hello),
	TEST(round_trip_reject),
	TEST(round_trip_msg),
	TEST(put_refuses),
	TEST(put_no_space),
	TEST(message_limits),

	TEST(get_hello_refuses),
	TEST(get_hello_versions),
	TEST(get_hello_private),
	TEST(get_reject_refuses),
	TEST(get_reject_text),
	TEST(get_msg_refuses),
	TEST(get_notify_refuses),
	TEST(get_region_refuses),
	TEST(region_follows),

	TEST(truncation),
	TEST(extension),
	TEST(corruption),
	TEST(fuzz_random),

	TEST(credit_basics),
	TEST(credit_hostile),
	TEST(credit_model_small),
	TEST(credit_model_lazy),
	TEST(credit_model_foreign),
	TEST(credit_model_control),
	TEST(credit_link),
	TEST(credit_link_large),
};

#define NR_TESTS (sizeof(tests) / sizeof(tests[0]))
#define FAILURES_SHOWN 10

static u64 random_state;
static unsigned int failures;

bool unit_expect(bool ok, const char *file, int line, const char *what)
{
	if (!ok && failures++ < FAILURES_SHOWN)
		printf("# %s:%d: %s\n", file, line, what);
	return ok;
}

bool unit_expect_at(bool ok, const char *file, int line, const char *what,
		    long long at)
{
	if (!ok && failures++ < FAILURES_SHOWN)
		printf("# %s:%d: %s (at %lld)\n", file, line, what, at);
	return ok;
}

void unit_note(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void unit_seed(u64 seed)
{
	random_state = seed;
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do. */
u64 unit_random(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

u32 unit_below(u32 n)
{
	return (u32)(((unit_random() >> 32) * n) >> 32);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	const char *env = getenv("RNOTIFY_SEED");
	u64 seed = env ? strtoull(env, NULL, 0) : 20240229;
	unsigned int bad = 0, nr = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < NR_TESTS; i++)
		nr += !!strstr(tests[i].name, only);
	printf("TAP version 13\n1..%u\n# seed %llu\n", nr,
	       (unsigned long long)seed);

	for (i = 0, nr = 0; i < NR_TESTS; i++) {
		if (!strstr(tests[i].name, only))
			continue;
		failures = 0;
		unit_seed(seed + i);
		tests[i].run();
		if (failures > FAILURES_SHOWN)
			printf("# ... %u failures\n", failures);
		printf("%sok %u - %s\n", failures ? "not " : "", ++nr,
		       tests[i].name);
		bad += !!failures;
	}
	if (bad)
		printf("# %u of %u failed\n", bad, nr);
	return bad ? 1 : 0;
}
