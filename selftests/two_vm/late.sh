#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317
#
# A peer that is not there yet when it is called, but in time: its address is asked
# for until the time to connect is over, though the neighbour table of guest a has
# given up meanwhile (P7).
#
# rvm: limit=60
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1

# How often the neighbour table has given up: hexadecimal, a line for each processor
failures() {
	sum=0
	while read -r _ _ _ _ _ _ failed _; do
		[ "$failed" = res_failed ] || sum=$((sum + 0x$failed))
	done </proc/net/stat/arp_cache
	echo $sum
}

# Asked again, it tries again: so its state tells for a moment only
given_up() {
	[ "$(failures)" -gt "$before" ] || ! kill -0 "$pid"
}

# 8: answer for no address
answer() {
	echo "$1" >/proc/sys/net/ipv4/conf/all/arp_ignore
}

active() {
	plan 3
	vm-sync silent
	ip neigh flush all
	before=$(failures)
	/t/late "$PEER_ADDR" >late.log 2>&1 &
	pid=$!
	check "the neighbour table gives up" awaits given_up
	check "who connects goes on" kill -0 $pid
	vm-sync failed
	check "and finds the peer" wait $pid
	sed 's/^/# /' late.log
	vm-sync over
}

passive() {
	plan 2
	/t/late >late.log 2>&1 &
	pid=$!
	check "listening" awaits grep -q ^listening late.log
	answer 8
	vm-sync silent
	vm-sync failed
	answer 0
	check "found" wait $pid
	sed 's/^/# /' late.log
	vm-sync over
}

if [ "$ROLE" = a ]; then
	active
else
	passive
fi
finish
