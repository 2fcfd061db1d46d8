#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086
#
# The parameter server in one VM: four workers, late gradients, a worker that is
# killed in an iteration.
#
# rvm: limit=60
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd "$(mktemp -d)" || exit 1

A=$RNOTIFY_ADDR:7482
N=$((RNOTIFY_SLOW > 9 ? 8 : 20))

serve() {
	parameter_server serve --workers 4 --iterations $N "$A" >serve.out &
	server=$!
}

# All programs of a training that is under way: $pids and the server
wait_all() {
	for pid in $pids; do
		wait $pid || return 1
	done
	wait $server || return 1
	sed 's/^/# /' serve.out
}

work() {
	parameter_server work "$@" "$A" >/dev/null &
	pids="$pids $!"
}

# One imm that is of the round before, in each round but the first
plain() {
	serve
	pids=
	work 0
	work 1
	work --late 2
	work 3
	wait_all && grep -q "^iterations: $N rounds: $N stale: $((N - 1)) waits: " serve.out
}

# The iteration is done again, with a new worker 2
killed() {
	serve
	pids=
	work 0
	work 1
	work --late 3
	parameter_server work --die 5 2 "$A" 2>/dev/null
	[ $? = 137 ] || return 1
	work 2
	wait_all && grep -q "^iterations: $N rounds: $((N + 1)) .* lost workers: 1 " serve.out
}

named() {
	grep -q '^worker 2 is gone in iteration 5, after 8 of its 16 shards: .*process ended' serve.out
}

# The same numbers, killed or not
same() {
	[ -n "$model" ] && [ "$model" = "$(sed -n 's/.*model: //p' serve.out)" ]
}

plan 4
check "equal to one process, without what came late" plain
model=$(sed -n 's/.*model: //p' serve.out)
check "a worker is killed, and replaced" killed
check "it was noticed and named" named
check "the result is the same" same
finish
