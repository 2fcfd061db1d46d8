#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# `rnotify ping` and `pong`, `info`, and the examples.
#
# rvm: limit=90 kernels=6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1

A=$RNOTIFY_ADDR
rounds=$((RNOTIFY_SLOW > 9 ? 30 : 300))

ping() {
	rnotify ping -c $rounds "$@" >ping.log 2>&1
	code=$?
	sed 's/^/# /' ping.log
	[ $code = 0 ] && grep -q "^$rounds round trips" ping.log &&
		grep -q '^min [0-9.]* avg [0-9.]* max [0-9.]*$' ping.log
}

at_once() {
	pids=
	for i in 1 2 3 4 5 6 7 8; do
		rnotify ping -c 20 -s 1000 "$A" >"ping.$i" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || return 1
	done
}

json() {
	rnotify ping -c 20 --json "$A" | tr -d '\n ' |
		grep -q '^{"size":64,"count":20,"min_us":.*"p99.9_us":[0-9.]*}$'
}

# Some pings have been answered
answered() {
	[ "$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts)" -gt \
		$((packets + 20)) ]
}

# Its samples so far are shown, and the peer goes on
interrupted() {
	for signal in INT TERM HUP; do
		packets=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts)
		# a shell without job control has its children ignore SIGINT
		set -m
		rnotify ping -i 100 "$A" >ping.log 2>&1 &
		pid=$!
		set +m
		awaits answered || return 1
		kill -$signal $pid
		wait $pid
		grep -q '^[1-9][0-9]* round trips' ping.log || return 1
	done
}

pong_killed() {
	pong_ended 9 && grep -q '^rnotify: .*process ended' ping.log
}

# Asked to stop, it says goodbye
pong_stopped() {
	pong_ended TERM && grep -q '^rnotify: .*peer closed the connection' ping.log
}

# pong_ended SIGNAL: in the middle of somebody's pings, who then fails
pong_ended() {
	: >pong2.log
	rnotify ping --listen "$A:7470" 2>pong2.log &
	other=$!
	awaits grep -q '^listening' pong2.log || return 1
	packets=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts)
	rnotify ping -i 10 "$A:7470" >ping.log 2>&1 &
	pid=$!
	awaits answered || return 1
	kill -"$1" $other
	wait $pid
	[ $? = 1 ]
}

info() {
	rnotify info | grep -q '^device rxe0: .*'"$A" &&
		rnotify info --json | tr -d '\n ' | grep -q '"nr_devices":1,"devices":\[{"name":"rxe0"'
}

examples() {
	: >words
	notify_recv "$A:7472" >words &
	pid=$!
	awaits notify_send "$A:7472" one two three 2>/dev/null &&
		notify_send "$A:7472" four && awaits grep -q four words || return 1
	kill $pid
	sort words | tr '\n' ' ' | grep -q '^slot 0: four slot 0: one slot 1: two slot 2: three $'
}

example_fails() {
	notify_send "$A:1" x 2>words && return 1
	grep -q "^connecting failed: Connection refused. Nothing listens" words
}

: >pong.log
rnotify pong 2>pong.log &
pong=$!
awaits grep -q '^listening' pong.log

plan 14
check "64 bytes" ping "$A"
check "bare notifications" ping -s 0 "$A"
check "one byte" ping -s 1 "$A"
check "16 KiB" ping -s 16K "$A"
check "spinning first" ping --spin 200 "$A"
check "eight at once" at_once
check "JSON" json
check "interrupted" interrupted
check "pong killed" pong_killed
check "pong asked to stop" pong_stopped
check "pong is still there" kill -0 $pong
kill $pong
check "info" info
check "examples" examples
check "an example that fails says why" example_fails
finish
