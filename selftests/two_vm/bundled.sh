#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# Small notifications that share packets, and others, over a link that loses and
# reorders packets: every byte is there, and right, at each event (P1, P6, P8).  See
# bundled.c.  With send queues whose depth is odd, a little below a power of two, and
# the default.
#
# rvm: limit=120
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh

# Less on the slow debug kernel
rounds=$((RNOTIFY_SLOW > 9 ? 1000 : 4000))
plan 4
tc qdisc add dev eth0 root netem delay 1ms loss 1% reorder 1% limit 10000
for depth in 3 7 48 64; do
	vm-sync "ready-$depth"
	check "$rounds events, send depth $depth" /t/bundled $rounds $depth
done
finish
