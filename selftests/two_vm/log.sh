#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086,SC3040
#
# The replicated log from guest a to guest b over a link that loses 2 % of the
# packets both ways. The client is killed in a record, in a group, and when it
# comes; what was told durable must be there, and nothing that is torn.
#
# rvm: limit=120 kernels=6.1,6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/serve.sh disable=SC1091
. /t/serve.sh
set -o pipefail
cd /tmp || exit 1

append() {
	replicated_log append --progress progress "$@" "$PEER_ADDR:7480" | sed 's/^/# /'
}

killed() {
	append --records 100000 "$@" 2>/dev/null
	[ $? = 137 ]
}

# As soon as something was made durable
kill_one() {
	cp progress before
	replicated_log append --progress progress --records 100000 "$@" "$PEER_ADDR:7480" &
	client=$!
	for _ in $(seq 1200); do
		cmp -s progress before || break
		sleep 0.1
	done
	kill -9 $client
	wait $client
	[ $? = 137 ] && ! cmp -s progress before
}

durable() {
	echo $(($(od -An -t u8 progress) - 1))
}

crashes() {
	: >progress
	killed --die torn --at 100 && killed --group 8 --die group --at 300 &&
		killed --group 8 --die posted --at 400 &&
		kill_one && kill_one --group 16
}

# Beyond all that can have been under way when the last client was killed. The
# number goes to the other guest by plain TCP.
final() {
	last=$(($(durable) + 1500))
	append --records $last --group 8 || return 1
	[ "$(durable)" = $last ] || return 1
	for _ in $(seq 100); do
		echo $last | nc "$PEER_ADDR" 7400 && return 0
		sleep 0.1
	done
	return 1
}

contents() {
	replicated_log check log "$(cat last)" | sed 's/^/# /'
}

discarded() {
	grep -q '^discarded: 0 whole and 1 torn' serve.out &&
		grep -q '^discarded: [1-8] whole and 0 torn' serve.out
}

tc qdisc add dev eth0 root netem loss 2% limit 10000
if [ "$ROLE" = b ]; then
	plan 3
	nc -l -p 7400 >last &
	pid=$!
	check "served until the client had no more" serve \
		replicated_log serve --file log "$RNOTIFY_ADDR:7480"
	wait $pid
	check "exactly what was told durable is in the file" contents
	check "what was not announced was not taken" discarded
	tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*' | head -n 1
else
	plan 2
	vm-sync listening
	check "killed five times" crashes
	check "went on to the end" final
fi
finish
