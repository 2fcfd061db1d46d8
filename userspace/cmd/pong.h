/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - the answering side of `ping`.
 */
#ifndef _RNOTIFY_CMD_PONG_H
#define _RNOTIFY_CMD_PONG_H

#include <stdbool.h>

#define PING_MAX (1u << 20)	/* bytes of a ping */

/* Answers pings for ever; returns an exit status when that is not possible. */
int pong_serve(const char *where, bool quiet);

#endif /* _RNOTIFY_CMD_PONG_H */
