// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - complaints, options, numbers, time.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define SENTENCES 1024

/*
 * Whoever called us may have closed some: then the next open() would get them. What
 * takes their places is no file to read or write, under no name (/dev/stdin): who
 * tries is told so.
 */
bool begin_streams(void)
{
	int fd;

	do {
		fd = open("/", O_PATH | O_DIRECTORY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool stream_usable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && !(flags & O_PATH))
		return true;
	fail("standard %s is closed", fd == STDIN_FILENO ? "input" : "output");
	return false;
}

int fail(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("rnotify: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int fail_call(struct rnotify *ctx, enum rnotify_call call, int err,
	      const char *about)
{
	char buf[SENTENCES];
	int status;

	rnotify_explain_errno(ctx, call, err, buf, sizeof(buf));
	status = about ? fail("%s: %s", about, buf) : fail("%s", buf);
	/* Text that can't be an address is wrong usage, like a wrong option. */
	if (call == RNOTIFY_CALL_RESOLVE && (err == -EINVAL || err == -ERANGE))
		return EXIT_USAGE;
	return status;
}

int fail_event(const struct rnotify_event *event, const char *about)
{
	char buf[SENTENCES];

	rnotify_explain(event, buf, sizeof(buf));
	return about ? fail("%s: %s", about, buf) : fail("%s", buf);
}

int end_of_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fail("not all could be written to the standard output");
	return status ? status : EXIT_FAILED;
}

int bad_usage(const char *usage, const char *fmt, ...)
{
	va_list args;

	fputs("rnotify: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	/* The first line of the usage is the synopsis. */
	fprintf(stderr, "\nusage: %.*s\n", (int)strcspn(usage, "\n"), usage);
	return EXIT_USAGE;
}

int bad_value(const char *usage, const char *option, const char *value,
	      const char *range)
{
	return bad_usage(usage, "--%s: '%s' is not %s", option, value, range);
}

int next_option(int argc, char **argv, const char *letters,
		const struct option *options, const char *usage, int *status)
{
	int c = getopt_long(argc, argv, letters, options, NULL);

	switch (c) {
	case 'h':
		printf("usage: %s", usage);
		*status = 0;
		return -2;
	case 'V':
		printf("rnotify %s\n", rnotify_version());
		*status = 0;
		return -2;
	case '?':
	case ':':
		/* getopt_long() has complained already. */
		fprintf(stderr, "usage: %.*s\n", (int)strcspn(usage, "\n"),
			usage);
		*status = EXIT_USAGE;
		return -2;
	}
	return c;
}

bool parse_number(const char *text, uint64_t max, uint64_t *n)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*n = strtoull(text, &end, 10);
	return !*end && *n <= max;
}

static int unit_shift(char unit)
{
	switch (unit) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	}
	return 0;
}

bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *size)
{
	int shift;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*size = strtoull(text, &end, 10);
	shift = unit_shift(*end);
	if (shift)
		end++;
	if (*end || *size > max >> shift)
		return false;
	*size <<= shift;
	return *size >= min;
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
