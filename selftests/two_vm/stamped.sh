#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# Stamped payloads both ways over a link that loses, reorders and duplicates packets:
# every byte is there, and right, at each event (P1, P8; FAULTS 11).  See stamped.c.
#
# rvm: limit=200
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh

counter() {
	cat "/sys/class/infiniband/rxe0/ports/1/hw_counters/$1"
}

# Less on the slow debug kernel
rounds=$((RNOTIFY_SLOW > 9 ? 300 : 2000))
plan 3
# 1 % of the packets is lost, 1 % comes twice, and 1 % overtakes those that wait
tc qdisc add dev eth0 root netem delay 1ms loss 1% duplicate 1% reorder 1% limit 10000
vm-sync ready
check "every byte is there at each of $rounds events" /t/stamped $rounds
tc -s qdisc show dev eth0 | sed -n 's/^ *Sent/# sent/p'
echo "# out of sequence $(counter out_of_seq_request), repeated $(counter duplicate_request)"
check "packets came out of sequence" test "$(counter out_of_seq_request)" -gt 0
check "packets came twice" test "$(counter duplicate_request)" -gt 0
finish
