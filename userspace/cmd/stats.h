/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - progress of a transfer and the figures at its end.
 */
#ifndef _RNOTIFY_CMD_STATS_H
#define _RNOTIFY_CMD_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sha256.h"

/**
 * struct stats - figures of one transfer
 * @bytes: of the file so far
 * @expected: its length, 0 if not known
 * @notifications: blocks and trailer, sent or received
 * @wakeups: how often this process was woken by its event ring
 * @started: ns
 * @ended: ns, 0 while it runs
 * @digest: SHA-256, at the end
 * @quiet: no progress
 * @tty: progress goes to a terminal
 * @shown: when progress was shown last, ns
 */
struct stats {
	uint64_t bytes;
	uint64_t expected;
	uint64_t notifications;
	uint64_t wakeups;
	uint64_t started;
	uint64_t ended;
	unsigned char digest[SHA256_SIZE];
	bool quiet;
	bool tty;
	uint64_t shown;
};

void stats_start(struct stats *s, bool quiet);
/* Shows progress on stderr if it is time to. */
void stats_progress(struct stats *s);
/* How long to sleep at most, for poll(): ms, or -1 */
int stats_poll_ms(const struct stats *s);
/* Ends the line of progress, if there is one. */
void stats_stop(struct stats *s);
void stats_print(const struct stats *s, FILE *file, bool json);

#endif /* _RNOTIFY_CMD_STATS_H */
