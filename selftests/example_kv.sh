#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086,SC3040
#
# The key-value slots in one VM: several clients that put, one that is killed,
# readers while and after that, and one who tries what he must not.
#
# rvm: limit=60
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
set -o pipefail
cd "$(mktemp -d)" || exit 1

A=$RNOTIFY_ADDR:7481
ROUNDS=$((RNOTIFY_SLOW > 9 ? 3 : 10))

kv() {
	key_value "$@" "$A" | sed 's/^/# /'
}

# Two that put at the same time, and a reader of the one that is public
at_once() {
	kv put --pool 1 --keys 200 --rounds $ROUNDS --public &
	one=$!
	kv put --pool 2 --keys 250 --rounds $ROUNDS &
	two=$!
	kv get --pool 1 --keys 200 && wait $one && wait $two
}

private() {
	! key_value get --pool 2 --keys 1 "$A" 2>refused &&
		grep -q 'that pool is not public' refused
}

killed() {
	key_value put --pool 3 --keys 100 --rounds 3 --die "$A" 2>/dev/null
	[ $? = 137 ]
}

served() {
	wait $server || return 1
	sed 's/^/# /' serve.out
}

# Counts are exact, whatever came together
counted() {
	grep -q "^pool 1: puts: $((200 * ROUNDS)) taken: [0-9]* ready: 200 " serve.out &&
		grep -q "^pool 2: puts: $((250 * ROUNDS)) taken: [0-9]* ready: 250 " serve.out
}

# Seven clients come in: three that put at first, one of them twice
key_value serve --clients 7 "$A" >serve.out &
server=$!

plan 8
check "puts and gets at the same time" at_once
check "gets when all has been put" kv get --pool 1 --keys 200
check "another's pool is not for all" private
check "nothing else can be reached" kv pry --pool 1
check "killed while it puts" killed
check "its pool can be had again" kv put --pool 3 --keys 256 --rounds 1
check "the server found every value good" served
check "all puts were counted" counted
finish
