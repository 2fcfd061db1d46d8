# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# TAP for shell tests: `. /etc/vm/tap.sh; plan 2; check "file is equal" cmp a b`.
TAP_N=0
TAP_FAILED=0

plan() {
	echo "TAP version 13"
	echo "1..$1"
}

ok() {
	TAP_N=$((TAP_N + 1))
	echo "ok $TAP_N $*"
}

not_ok() {
	TAP_N=$((TAP_N + 1))
	TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_N $*"
}

skip() {
	TAP_N=$((TAP_N + 1))
	echo "ok $TAP_N $1 # SKIP $2"
}

# check NAME COMMAND...: passes if the command succeeds
check() {
	tap_name=$1
	shift
	if "$@"; then
		ok "$tap_name"
	else
		not_ok "$tap_name"
	fi
}

# awaits COMMAND...: until it succeeds, for a minute (more on slow machines)
awaits() {
	awaits_left=$((RNOTIFY_SLOW * 600))
	until "$@"; do
		awaits_left=$((awaits_left - 1))
		[ $awaits_left -gt 0 ] || return 1
		sleep 0.1
	done
}

# At the end of a script: exit status as the results say
finish() {
	[ "$TAP_FAILED" = 0 ]
	exit
}
