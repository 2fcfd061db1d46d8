/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - the measured loops.
 */
#ifndef _RNOTIFY_PERF_ENGINE_H
#define _RNOTIFY_PERF_ENGINE_H

#include "transport.h"

/*
 * Both ends at the same time, on connected links. @one_way gets run->iterations
 * times in ns (latency mode, client).
 */
int engine_client(struct link *link, struct end_result *result,
		  uint32_t *one_way);
int engine_server(struct link *link, struct end_result *result);

#endif /* _RNOTIFY_PERF_ENGINE_H */
