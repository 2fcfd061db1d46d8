#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086,SC3040
#
# The key-value slots: clients in guest a, the server in guest b, and a link that
# loses 2 % of the packets both ways.
#
# rvm: limit=120 kernels=6.1,6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/serve.sh disable=SC1091
. /t/serve.sh
set -o pipefail
cd /tmp || exit 1

kv() {
	key_value "$@" "$PEER_ADDR:7481" | sed 's/^/# /'
}

# A reader of the one that is public, while it is written
at_once() {
	kv put --pool 1 --keys 200 --rounds 6 --public &
	one=$!
	kv put --pool 2 --keys 250 --rounds 4 &
	two=$!
	kv get --pool 1 --keys 200 && wait $one && wait $two
}

killed() {
	key_value put --pool 3 --keys 100 --rounds 3 --die "$PEER_ADDR:7481" 2>/dev/null
	[ $? = 137 ]
}

counted() {
	grep -q '^pool 1: puts: 1200 taken: [0-9]* ready: 200 ' serve.out &&
		grep -q '^pool 2: puts: 1000 taken: [0-9]* ready: 250 ' serve.out
}

tc qdisc add dev eth0 root netem loss 2% limit 10000
if [ "$ROLE" = b ]; then
	plan 2
	check "the server found every value good" serve \
		key_value serve --clients 6 "$RNOTIFY_ADDR:7481"
	check "all puts were counted" counted
	tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*' | head -n 1
else
	plan 4
	vm-sync listening
	check "puts and gets at the same time" at_once
	check "gets when all has been put" kv get --pool 1 --keys 200
	check "nothing else can be reached" kv pry --pool 1
	check "killed while it puts" killed
fi
finish
