/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Results of the user-space tests; run-tests numbers them.
 */
#ifndef _RNOTIFY_TEST_TAP_H
#define _RNOTIFY_TEST_TAP_H

#include <stdio.h>
#include <string.h>

static int tap_failures;

/* One check that is part of a result; false is told and counted. */
#define CHECK(cond) do { \
	if (!(cond)) { \
		printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
		tap_failures++; \
	} \
} while (0)

#define CHECK_STR(seen, want) do { \
	const char *seen_ = (seen), *want_ = (want); \
	if (strcmp(seen_, want_)) { \
		printf("%s:%d: \"%s\" instead of \"%s\"\n", __FILE__, \
		       __LINE__, seen_, want_); \
		tap_failures++; \
	} \
} while (0)

/* Runs a function of checks as one result; gives 1 if it failed. */
static inline int tap_run(const char *name, void (*test)(void))
{
	int before = tap_failures;

	test();
	printf("%s - %s\n", tap_failures == before ? "ok" : "not ok", name);
	fflush(stdout);
	return tap_failures != before;
}

#endif /* _RNOTIFY_TEST_TAP_H */
