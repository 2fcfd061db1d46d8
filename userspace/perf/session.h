/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - runs, seen from the control channel.
 */
#ifndef _RNOTIFY_PERF_SESSION_H
#define _RNOTIFY_PERF_SESSION_H

#include "transport.h"

/* One run; @addr: where the server's transports can be reached. */
int session_run(int control, const struct run *run, const union address *addr,
		struct result *result, bool guarded);
void result_free(struct result *result);

/* All runs that the client wants; @addr: where to listen (the port is ignored) */
int session_serve(int control, const union address *addr, bool guarded);

#endif /* _RNOTIFY_PERF_SESSION_H */
