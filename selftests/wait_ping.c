// SPDX-License-Identifier: GPL-2.0
/*
 * Ping-pong and bursts (lib/ping_fixture.h) for each way to sleep. Who spins is in
 * wait_spin.c.
 *
 * The long run is on one processor: a wake-up on another one waits until the host
 * runs that, and the rounds would take hours when two guests share two processors.
 *
 * rvm: limit=120 long_limit=3600 long_smp=1
 */
#include "ping_fixture.h"

STYLE(poll);
STYLE(select);
STYLE(epoll_lt);
STYLE(epoll_et);
STYLE(epoll_oneshot);
STYLE(wait);
STYLE(wait_adaptive);
STYLE(wait_timed);
STYLE(eventfd);
STYLE(endpoint_eventfd);
STYLE(read);
STYLE(poll_read);
STYLE(moderated_poll);
STYLE(moderated_eventfd);
STYLE(moderated_read);
STYLE(uring_poll);
STYLE(uring_multishot);
STYLE(uring_read);
STYLE(uring_read_multishot);
STYLE(uring_wait);

TEST_HARNESS_MAIN
