/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - what the subcommands share.
 */
#ifndef _RNOTIFY_CMD_COMMON_H
#define _RNOTIFY_CMD_COMMON_H

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <rnotify/rnotify.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define DEFAULT_PORT 7471

/* Exit statuses: 0 is success. */
enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Each subcommand has a file with one of these; main.c lists them. */
struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

extern const struct command cmd_info, cmd_recv, cmd_send, cmd_ping, cmd_pong,
	cmd_perf, cmd_watch;

/*
 * The first step of a program: what it opens is never taken for a standard stream.
 * False if that can't be had.
 */
bool begin_streams(void);
/* Is standard input or output, which is asked for, there?  Complains if not. */
bool stream_usable(int fd);
/* "rnotify: ...", newline added; returns EXIT_FAILED */
int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * The same, with the sentences that librnotify knows for a failed call; returns
 * EXIT_USAGE for text that can't be an address.
 */
int fail_call(struct rnotify *ctx, enum rnotify_call call, int err,
	      const char *about);
/* and for a DISCONNECTED or other event */
int fail_event(const struct rnotify_event *event, const char *about);
/* The last step of a program: its exit status, unless what it printed got lost. */
int end_of_output(int status);

/*
 * Whether a call failed since the endpoint is over: its DISCONNECTED event, which is
 * there or comes, tells more than the call.
 */
static inline bool is_over(int err)
{
	return err == -ENOTCONN || err == -ESHUTDOWN || err == -ENODEV;
}

/*
 * getopt_long() that answers --help and --version itself. Returns the option,
 * -1 at the end, or -2: *status is what to exit with.
 */
int next_option(int argc, char **argv, const char *letters,
		const struct option *options, const char *usage, int *status);
#define COMMON_OPTIONS \
	{ "help", no_argument, NULL, 'h' }, \
	{ "version", no_argument, NULL, 'V' }

/* Complains about the command line; returns EXIT_USAGE. */
int bad_usage(const char *usage, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, for the value of an option: what it should have been. */
int bad_value(const char *usage, const char *option, const char *value,
	      const char *range);

/* "4096", "256K", "4M", "1G" */
bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *size);
bool parse_number(const char *text, uint64_t max, uint64_t *n);

uint64_t now_ns(void);

#endif /* _RNOTIFY_CMD_COMMON_H */
