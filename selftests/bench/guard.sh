#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# Instructions of a notification against those in /t/instructions (selftests/bench/
# instructions): no more than 10 % above.  In a guest whose clock counts
# instructions (rvm --icount), where both ends sleep whenever they wait.
#
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
known=/t/instructions

# instructions NOTIFICATIONS OPTIONS...: of one, with what both ends and the kernel do for
# it: the time from warm-up to end in ns, which are instructions
instructions() {
	rnotify perf --json -n "$@" | tr -d ' ,' | awk -F: -v n="$1" '
		/"client":/ { client = 1 }
		/"server":/ { client = 0 }
		client && /"time_ns":/ { printf "%d\n", $2 / n; exit }'
}

# guard NAME CROSSINGS NOTIFICATIONS OPTIONS...
guard() {
	name=$1
	crossings=$2
	shift 2
	now=$(($(instructions "$@") / crossings))
	then=$(awk -v name="$name" '$1 == name { print $2 }' $known)
	echo "# $name $now (committed: $then)"
	if [ "$now" -gt 0 ] && [ $((now * 100)) -le $((then * 110)) ]; then
		ok "$name"
	else
		not_ok "$name: $now instructions, more than $then and a tenth"
	fi
}

plan 4
guard latency-block 2 2000 -w block
guard latency-uring 2 2000 -w uring
# Who spins lets the others run that it waits for
guard latency-adaptive 2 2000 -w adaptive
guard stream-32 1 10000 -m stream -b 32
finish
