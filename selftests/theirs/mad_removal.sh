#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# ib_core's ib_mad_port_close() destroys the QP for MADs without draining it, while
# ib_mad_recv_done() may post a receive to it: rxe warns, once in some hundred
# removals of a device on which programs connect. Here with verbs programs alone:
#
#	make userspace && selftests/vm/rvm run --kernel 6.12 --no-module --limit 1200 \
#		selftests/theirs/mad_removal.sh
#
# Not part of any suite: it passes when the kernel has warned, which takes luck. See
# selftests/vm/vmtest/splat.py, which knows that warning.
echo 1..1
rounds=${ROUNDS:-600}
test ! -e /dev/rnotify || { echo "not ok 1 rnotify is loaded"; exit 1; }

connecting() {
	while :; do
		timeout 20 rnotify perf -t write_imm -m connect -n 20
	done >/dev/null 2>&1
}

for _ in 1 2 3; do
	connecting &
done
trap 'kill $(jobs -p)' EXIT

for i in $(seq "$rounds"); do
	# at another moment each time
	sleep "$(printf '0.%03d' $((RANDOM % 700)))"
	rdma link delete rxe0
	rdma link add rxe0 type rxe netdev d0
	if dmesg | grep -q 'WARNING: .* rxe_post_recv'; then
		echo "# removal $i"
		echo "ok 1 the kernel warns without rnotify"
		exit 0
	fi
done
echo "# $rounds removals"
echo "not ok 1 the kernel has not warned"
exit 1
