#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086
#
# The parameter server: workers in guest a, the server in guest b, and a link that
# loses 2 % of the packets both ways. A worker is killed in an iteration.
#
# rvm: limit=120 kernels=6.1,6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/serve.sh disable=SC1091
. /t/serve.sh
cd /tmp || exit 1
N=12

work() {
	parameter_server work "$@" "$PEER_ADDR:7482" >/dev/null &
	pids="$pids $!"
}

# Worker 2 dies, and another one takes its place
workers() {
	pids=
	work 0
	work --late 1
	work 3
	work --late 4
	parameter_server work --die 5 2 "$PEER_ADDR:7482" 2>/dev/null
	[ $? = 137 ] || return 1
	work 2
	for pid in $pids; do
		wait $pid || return 1
	done
}

totals() {
	grep -q "^iterations: $N rounds: $((N + 1)) stale: [1-9].* lost workers: 1 " serve.out
}

tc qdisc add dev eth0 root netem loss 2% limit 10000
if [ "$ROLE" = b ]; then
	plan 3
	check "equal to one process, bit for bit" serve \
		parameter_server serve --workers 5 --iterations $N "$RNOTIFY_ADDR:7482"
	check "a worker was noticed and named" grep -q \
		'^worker 2 is gone in iteration 5, after 8 of its 16 shards: ' serve.out
	check "what came late was dropped" totals
	tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*' | head -n 1
else
	plan 1
	vm-sync listening
	check "workers, one of them killed" workers
fi
finish
