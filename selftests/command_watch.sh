#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086
#
# `rnotify watch`: counters and slots as they fill, from the notifications of the
# example notify_send, which writes word n with imm n.
#
# rvm: limit=60
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd "$(mktemp -d)" || exit 1

A=$RNOTIFY_ADDR:7483

# watch OPTION...: one that runs until it is ended
watch() {
	: >watch.out
	: >watch.err
	rnotify watch -l "$A" -m 4096 -i 100 "$@" >watch.out 2>watch.err &
	pid=$!
	shows watch.err 'listening on'
}

# Waits until a line that fits was printed
shows() {
	for _ in $(seq 600); do
		grep -q "$2" "$1" && return 0
		sleep 0.1
	done
	sed 's/^/# /' "$1" | tail -n 5
	return 1
}

ended() {
	kill $pid
	wait $pid
}

everything() {
	watch && notify_send "$A" a b c && shows watch.out '^counter: 3 notifications, 192 bytes' &&
		notify_send "$A" d && shows watch.out '^counter: 4 notifications, 256 bytes' &&
		ended
}

# Slots by the two lowest bits; imm 3 has a rule of its own, and 4 and on have none
by_rule() {
	watch drop,3/0xffffffff slots:0+2,0/0xfffffffc || return 1
	notify_send "$A" a b c d e && notify_send "$A" a || return 1
	shows watch.out '^  slot 0: 2 notifications, 128 bytes, last imm 0$' &&
		shows watch.out '^  slot 2: 1 notifications, 64 bytes, last imm 0x2$' &&
		shows watch.out '^drop,3/0xffffffff: 1 notifications' &&
		shows watch.out '1 notifications without a rule' && ended &&
		! grep -q 'slot 3' watch.out
}

json() {
	rnotify watch -l "$A" -m 4096 -q --json -i 100 -n $((4 * RNOTIFY_SLOW)) slots:0+4 >watch.out &
	pid=$!
	notify_connects || return 1
	wait $pid || return 1
	tr -d '\n ' <watch.out | grep -q '"slots":\[{"index":0,"count":1,"bytes":64,"last_imm":0,"first_ns":[0-9]*'
}

# It may not listen yet
notify_connects() {
	for _ in $(seq 100); do
		notify_send "$A" word && return 0
		sleep 0.1
	done
	return 1
}

# It does not go on for nobody
reader_gone() {
	{
		timeout 60 rnotify watch -q -l "$A" -i 10
		echo $? >code
	} 2>watch.err | head -n 1 >/dev/null
	[ "$(cat code)" = 1 ] && grep -q '^rnotify: not all could be written' watch.err
}

# 010 is ten
decimal() {
	watch -n 1 counter,010/0x1f && wait $pid && shows watch.out '^counter,010'
	rnotify watch counter,08/8 -n 1 -i 1 -q -l "$A" >/dev/null
}

misuse() {
	for rule in counters slots:0 slots:0+0 slots:20+13 slots:0+17 drop,4/3 counter,1 'counter,1/2/3'; do
		rnotify watch "$rule" 2>/dev/null
		[ $? = 2 ] || return 1
	done
	# and says why
	rnotify watch drop,4/3 2>&1 | grep -q "'drop,4/3' is no rule: VALUE has bits" &&
		rnotify watch slots:0 2>&1 | grep -q 'rule: slots take :SHIFT+BITS' &&
		rnotify watch counter,1 2>&1 | grep -q 'rule: nothing but ,VALUE/MASK' &&
		rnotify watch counts 2>&1 | grep -q 'rule: it begins with counter'
}

plan 6
check "everything is counted" everything
check "by rules" by_rule
check "JSON" json
check "a reader that goes away" reader_gone
check "numbers are decimal" decimal
check "rules that make no sense" misuse
finish
