#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# The module that rnotify is measured against still works: each mode runs, and its
# figures are complete.
#
# rvm: floor=1 limit=30
#
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh

run=/sys/kernel/debug/rnotify_floor/run

# runs MODE KEYS...: one line of JSON with these keys
runs() {
	mode=$1
	shift
	echo "$mode" >"$run" || return
	cat "$run"
	for key; do
		grep -q "\"$key\": [1-9{]" "$run" || return
	done
}

refuses() {
	! echo "$*" 2>/dev/null >"$run"
}

plan 8
check "module loads" insmod /t/rnotify_floor.ko addr="$RNOTIFY_ADDR"
check "ping-pong in softirq" runs "latency softirq 64 200" ns one_way_ns p50
check "ping-pong, spinning" runs "latency spin 64 50" ns one_way_ns p50
check "stream in softirq" runs "stream softirq 64 640 32" ns per_second
check "stream, spinning" runs "stream spin 4096 320 16" ns per_second
check "connections" runs "connect softirq 64 5" ns per_second
check "nonsense is refused" refuses "stream spin 64 33 32"
check "module unloads" rmmod rnotify_floor
finish
