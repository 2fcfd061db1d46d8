// SPDX-License-Identifier: GPL-2.0
/*
 * Ping-pong and bursts (lib/ping_fixture.h) for a reader that never sleeps. It needs
 * a processor of its own.
 *
 * rvm: limit=60 long_limit=900
 */
#include "ping_fixture.h"

STYLE(spin);

TEST_HARNESS_MAIN
