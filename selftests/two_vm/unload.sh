#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317
#
# The module of guest b goes while guest a is connected to it: not as long as its
# process lives; at once when that was killed. Guest a is told why, and goes on
# with the next one (FAULTS 31, 35).
#
# rvm: limit=90 long=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1
rounds=3

# patiently COMMAND...: until it succeeds, for a minute on a fast machine
patiently() {
	local end=$((SECONDS + 60 * ${RNOTIFY_SLOW%.*}))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

connected() {
	rdma resource show cm_id | grep rnotify | grep -q "state CONNECT "
}

# An endless ping that ends because of the other side
told() {
	rnotify ping -i 10 -c 1000000 "$PEER_ADDR" >ping.log 2>&1
	code=$?
	sed 's/^/# /' ping.log
	[ "$code" = 1 ] && grep -q '^rnotify: .*process ended' ping.log
}

refused() {
	! rmmod rnotify
}

active() {
	plan $((rounds + 1))
	for i in $(seq $rounds); do
		vm-sync "listening-$i"
		check "round $i: told why" told
	done
	vm-sync listening-last
	check "and goes on" rnotify ping -c 20 "$PEER_ADDR"
	vm-sync over
}

passive() {
	plan $((3 * rounds + 1))
	for i in $(seq $rounds); do
		: >pong.log
		rnotify pong 2>pong.log &
		pid=$!
		patiently grep -q ^listening pong.log
		vm-sync "listening-$i"
		check "round $i: connected" patiently connected
		check "round $i: refused while in use" refused
		kill -9 $pid
		wait $pid
		check "round $i: unloaded" patiently rmmod rnotify
		insmod /t/rnotify.ko
	done
	: >pong.log
	rnotify pong 2>pong.log &
	pid=$!
	patiently grep -q ^listening pong.log
	vm-sync listening-last
	vm-sync over
	kill -9 $pid
	wait $pid
	check "loaded at the end" test -c /dev/rnotify
}

if [ "$ROLE" = a ]; then
	active
else
	passive
fi
finish
