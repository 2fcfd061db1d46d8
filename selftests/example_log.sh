#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317,SC2086,SC3040
#
# The replicated log in one VM: groups, a client that is killed at the worst
# moments and at any, a file that a crash has torn, a file that is wrong.
#
# rvm: limit=60
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
set -o pipefail
cd "$(mktemp -d)" || exit 1

A=$RNOTIFY_ADDR:7480
N=$((RNOTIFY_SLOW > 9 ? 60 : 300))

serve() {
	replicated_log serve "$@" "$A" >serve.out &
	server=$!
}

served() {
	wait $server || return 1
	sed 's/^/# /' serve.out
}

append() {
	replicated_log append --progress progress "$@" "$A" | sed 's/^/# /'
}

field() {
	sed -n "s/.*\\b$1: \\([0-9]*\\).*/\\1/p" serve.out | tail -n 1
}

contents() {
	replicated_log check "$1" "$2" | sed 's/^/# /'
}

single() {
	rm -f progress
	serve --file one
	append --records "$N" && served && contents one "$N" &&
		[ "$(field notifications)" = "$N" ]
}

groups() {
	rm -f progress
	serve --file group --size 256
	append --records "$N" --group 20 && served && contents group "$N" &&
		[ "$(field notifications)" = $((N / 20)) ] &&
		[ "$(field syncs)" -le $((N / 20)) ]
}

two_messages() {
	rm -f progress
	serve --file two
	append --records "$N" --two-messages && served && contents two "$N"
}

killed() {
	append --records "$N" "$@" 2>/dev/null
	[ $? = 137 ]
}

# What a client wrote before it died is there, and is not taken
worst_moments() {
	rm -f progress
	serve --file worst
	killed --die torn --at $((N / 4)) &&
		killed --group 8 --die torn --at $((N / 3)) &&
		killed --group 8 --die group --at $((N / 2)) &&
		killed --group 4 --die posted --at $((N / 2 + 20)) &&
		append --records "$N" --group 4 && served && contents worst "$N" &&
		grep -q '^discarded: 0 whole and 1 torn' serve.out &&
		grep -q '^discarded: [1-7] whole and 1 torn' serve.out &&
		grep -q '^discarded: [1-8] whole and 0 torn' serve.out
}

# Waits until something was made durable
moved() {
	for _ in $(seq 600); do
		cmp -s progress before || return 0
		sleep 0.1
	done
	return 1
}

# Goes on until it is killed, which is soon
kill_one() {
	cp progress before
	replicated_log append --progress progress --records 1000000 "$@" "$A" &
	client=$!
	moved || return 1
	kill -9 $client
	wait $client
	[ $? = 137 ]
}

any_moment() {
	rm -f progress
	: >progress
	serve --file any
	kill_one && kill_one --group 8 && kill_one --group 32 || return 1
	# More than can have been under way when the last one was killed
	last=$(($(od -An -t u8 progress) + 1500))
	append --records $last --group 8 && served && contents any $last
}

# The server's own crash left half a record at the end of its file
torn_file() {
	size=$(stat -c %s one)
	truncate -s $((size - 100)) one
	rm -f progress
	serve --file one
	append --records "$N" && served && contents one "$N" &&
		grep -q "record $N is cut off: cut off there" serve.out
}

# What check must find
wrong_files() {
	dd if=/dev/zero of=group bs=1 seek=5000 count=1 conv=notrunc 2>/dev/null
	! contents group "$N" 2>/dev/null && ! contents one $((N + 1)) 2>/dev/null
}

# A client that remembers more than the server has
lost() {
	: >empty
	rm -f progress
	serve --file fresh
	append --records 10 && served && rm fresh
	serve --file fresh --keep
	if append --records 20 2>lost.err; then
		return 1
	fi
	kill $server
	wait $server
	grep -q 'was durable, and the server lost it' lost.err
}

plan 8
check "an imm for each record" single
check "an imm for each group" groups
check "WRITE, then SEND" two_messages
check "killed at the worst moments" worst_moments
check "killed at any moment" any_moment
check "a torn file" torn_file
check "wrong files are told from right ones" wrong_files
check "a server that lost records is told" lost
finish
