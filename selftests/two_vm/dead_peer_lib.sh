# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# dead_peers KEEPALIVE_MS FAULT...: guest b dies in each of these ways, while guest a
# has a connection to it in each state (dead_peer.c). "quit" must be the last.
set -o pipefail		# the guest's sh is bash

# What happens: in guest a, and in guest b at the same time; and what undoes it.
fault() {
	at_a="vm-sync fault-$1"
	at_b=
	heal_a=:
	heal_b=:
	loss='qdisc change dev eth0 root netem loss'
	case $1 in
	stopped)
		at_a='vm-host stop b'
		heal_a='vm-host cont b'
		;;
	quit)
		at_a='vm-host quit b'
		;;
	drop_to_peer)
		at_a="tc $loss 100%"
		heal_a="tc $loss 0%"
		;;
	drop_from_peer)
		at_b="tc $loss 100%"
		heal_b="tc $loss 0%"
		;;
	drop_both)
		at_a="tc $loss 100% && $at_a"
		at_b="tc $loss 100%"
		heal_a="tc $loss 0%"
		heal_b=$heal_a
		;;
	link_down)
		at_a='vm-host link b off'
		heal_a='vm-host link b on'
		heal_b=new_device
		;;
	address_removed)
		at_b="ip addr del $RNOTIFY_ADDR/24 dev eth0"
		heal_b=new_address
		;;
	killed)
		at_b=kill_served
		;;
	esac
}

# rxe turns a queue pair to the error state when a packet can't be sent, also that of
# the connection manager; nothing brings that one back but a new device.
new_device() {
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev eth0
}

new_address() {
	ip addr add "$RNOTIFY_ADDR/24" dev eth0
	new_device
}

drive_faults() {
	keepalive=$1
	shift
	plan $#
	for f; do
		fault "$f"
		vm-sync "serving-$f"
		check "$f: each connection ends in time" \
			/t/dead_peer drive "$PEER_ADDR" "$keepalive" "$f" "$at_a"
		# the other guest learns of a failure by our end
		[ "$TAP_FAILED" = 0 ] || finish
		$heal_a
		[ "$f" = quit ] || vm-sync "over-$f"
	done
}

kill_served() {
	kill -9 "$pid"
}

await_serving() {
	while ! grep -q serving /tmp/serve; do
		kill -0 "$pid" || return
		sleep 0.05
	done
}

serve_faults() {
	shift
	plan $#
	for f; do
		fault "$f"
		: >/tmp/serve
		/t/dead_peer serve >/tmp/serve &
		pid=$!
		await_serving
		vm-sync "serving-$f"
		if [ -n "$at_b" ]; then
			vm-sync "fault-$f"
			# shellcheck disable=SC2086 # words
			$at_b
		fi
		vm-sync "over-$f" 120
		[ "$f" = killed ] || kill "$pid"
		wait "$pid"
		served $? "$f"
		cat /tmp/serve
		$heal_b
	done
}

# The exit status of the side that died for the other one
served() {
	if [ "$2" = killed ]; then
		check "$2: it was" test "$1" = 137
	else
		check "$2: its own end was bounded" test "$1" = 0
	fi
}

# A queueing discipline is in its place before there is traffic, and only changed
# later: while one is exchanged for another, packets are refused, and rxe takes a
# refused one for the end of its queue pair.
dead_peers() {
	tc qdisc add dev eth0 root netem loss 0% || return
	if [ "$ROLE" = a ]; then
		drive_faults "$@"
	else
		serve_faults "$@"
	fi
	finish
}
