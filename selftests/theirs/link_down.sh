#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317
#
# soft-RoCE turns a queue pair to ERROR when it can't send a packet, also the one
# that the connection manager's datagrams go by, and nothing brings that one back:
# after its link was down, nothing connects until the RDMA device is made anew. Here
# with librdmacm's rping alone:
#
#	selftests/vm/rvm run --kernel 6.12 --no-module --limit 100 \
#		selftests/theirs/link_down.sh
#
# Not part of any suite: it passes where the fault is.
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh

pings() {
	rping -s -C 1 -a "$RNOTIFY_ADDR" >/tmp/server.log 2>&1 &
	timeout 20 rping -c -C 1 -a "$RNOTIFY_ADDR" >/tmp/client.log 2>&1
	code=$?
	kill $! 2>/dev/null
	wait $! 2>/dev/null
	[ "$code" = 0 ] || sed 's/^/# /' /tmp/client.log
	return "$code"
}

down_and_up() {
	ip link set d0 down
	# what is sent now can't go out
	pings && return 1
	ip link set d0 up
	ip addr show d0 | grep -q "$RNOTIFY_ADDR"
}

no_ping() {
	! pings
}

anew() {
	rdma link delete rxe0 && rdma link add rxe0 type rxe netdev d0 && pings
}

plan 5
check "without rnotify" test ! -e /dev/rnotify
check "a connection comes" pings
check "the link goes, somebody connects, and it comes back" down_and_up
check "no connection comes any more" no_ping
check "but on a new device" anew
finish
