#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# ib_core's ib_mad_port_close() destroys the QP for MADs without draining it, while
# ib_mad_recv_done() may post a receive to it: rxe warns, once in some hundred
# removals of a device on which programs connect. Here with verbs programs alone, and
# with each MAD taking longer, once in some ten:
#
#	make userspace && selftests/vm/rvm run --kernel 6.12 --no-module --limit 1200 \
#		--add selftests/theirs/wider.sh=t/wider.sh selftests/theirs/mad_removal.sh
#
# Not part of any suite: it passes when the kernel has warned, which takes luck. See
# selftests/vm/vmtest/splat.py, which knows that warning.
# shellcheck source=selftests/theirs/wider.sh disable=SC1091
. /t/wider.sh
echo 1..1
rounds=${ROUNDS:-200}
test ! -e /dev/rnotify || { echo "not ok 1 rnotify is loaded"; exit 1; }
wider ib_core:ib_mad_post_receive_mads 150 || { echo "not ok 1 no probes"; exit 1; }

connecting() {
	while :; do
		timeout 20 rnotify perf -t write_imm -m connect -n 200 -e 20
	done >/dev/null 2>&1
}

for _ in 1 2 3; do
	connecting &
done
trap 'kill $(jobs -p)' EXIT

for i in $(seq "$rounds"); do
	# while they connect, at another moment each time
	sleep "$(printf '1.%03d' $((RANDOM % 900)))"
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev d0
	if warned rxe_post_recv; then
		echo "# removal $i"
		echo "ok 1 the kernel warns without rnotify"
		exit 0
	fi
done
echo "# $rounds removals"
echo "not ok 1 the kernel has not warned"
exit 1
