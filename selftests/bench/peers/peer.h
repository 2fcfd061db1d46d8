/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The transport that a program of this directory has besides those of rnotify perf.
 */
#ifndef _RNOTIFY_BENCH_PEER_H
#define _RNOTIFY_BENCH_PEER_H

#include "transport.h"

extern const struct transport peer;

#endif /* _RNOTIFY_BENCH_PEER_H */
