/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - being asked to stop (SIGINT, SIGTERM, SIGHUP).
 *
 * Whoever is killed leaves the peer with "the process ended". Whoever is asked
 * to stop says goodbye, and leaves nothing half done.
 */
#ifndef _RNOTIFY_CMD_STOP_H
#define _RNOTIFY_CMD_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include <rnotify/rnotify.h>

/*
 * From now on a signal only asks. Returns a file descriptor that turns readable
 * then; system calls that sleep are interrupted. The second one kills.
 */
int stop_catch(void);
bool stop_asked(void);
/*
 * rnotify_wait() for one event, until somebody asks to stop: then -EINTR, and only
 * then.
 */
int wait_or_stop(struct rnotify *ctx, int64_t deadline, uint64_t spin_ns);
/* What to exit with: 128 and the signal. */
int stop_status(void);

#endif /* _RNOTIFY_CMD_STOP_H */
