#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by awaits, which shellcheck does not see
# shellcheck disable=SC2317
#
# A packet by loopback to a QP that is being destroyed: rxe_resp_queue_pkt() and
# rxe_comp_queue_pkt() queue it, then schedule the task. By then the task may have run
# on another processor and have dropped the packet with the last reference: rxe warns
# in rxe_sched_task(), and touches a QP that may be gone. It takes a QP that answers
# nothing, since an answer on its way has a reference, too: one in ERROR, or of
# datagrams, as here. With perftest's ib_send_bw alone, killed in the middle of a
# stream, and with that moment made longer:
#
#	selftests/vm/rvm run --kernel 6.12 --no-module --limit 1200 \
#		--add selftests/theirs/wider.sh=t/wider.sh --add /usr/bin/ib_send_bw \
#		selftests/theirs/loopback_destroyed.sh
#
# With --kernel debug KASAN reports each access to the queue pair that is gone.
#
# Not part of any suite: it passes when the kernel has warned, which takes luck. See
# selftests/vm/vmtest/splat.py, which knows that warning and those reports.
# shellcheck source=selftests/theirs/wider.sh disable=SC1091
. /t/wider.sh
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
echo 1..1
rounds=${ROUNDS:-400}
test ! -e /dev/rnotify || { echo "not ok 1 rnotify is loaded"; exit 1; }
wider rdma_rxe:rxe_sched_task 20 || { echo "not ok 1 no probes"; exit 1; }

listening() {
	ss -ltn | grep -q ":$port "
}

both_up() {
	[ "$(rdma res show qp | grep -c RTS)" -gt 1 ]
}

# Datagrams to a receiver that is killed, at another moment each time
stream() {
	local options="-d rxe0 -x 1 -s 64 -D 30 -F -c UD -p $port"

	# shellcheck disable=SC2086 # options are words
	/t/ib_send_bw $options >/dev/null 2>&1 &
	receiver=$!
	awaits listening
	# shellcheck disable=SC2086
	/t/ib_send_bw $options "$RNOTIFY_ADDR" >/dev/null 2>&1 &
	sender=$!
	awaits both_up
	sleep "$(printf '0.%03d' $((300 + RANDOM % 300)))"
	kill -9 $receiver
	sleep 0.1
	kill -9 $sender
	wait
} 2>/dev/null

for i in $(seq "$rounds"); do
	port=$((18515 + i))
	stream
	if warned rxe_sched_task; then
		echo "# receiver $i"
		echo "ok 1 the kernel warns without rnotify"
		exit 0
	fi
done
echo "# $rounds receivers"
echo "not ok 1 the kernel has not warned"
exit 1
