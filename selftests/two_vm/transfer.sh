# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# transfer PORT [OPTION OF SEND]...: guest a sends $FILE to guest b.  Three results in guest a, five in b.
set -o pipefail		# the guest's sh is bash
FILE=/t/file.deb

# The number behind "notifications:" and the like in a command's output
statistic() {
	sed -n "s/.*\\b$2: *\\([0-9][0-9]*\\).*/\\1/p" "$1" | tail -n 1
}

digest() {
	sha256sum "$1" | cut -d' ' -f1
}

send_file() {
	port=$1
	shift
	rnotify send "$@" "$FILE" "$PEER_ADDR:$port" 2>&1 | tee /tmp/log
}

send() {
	echo "# sending $(stat -c %s $FILE) bytes, SHA-256 $(digest $FILE)"
	check "sent" send_file "$@"
	digest $FILE >/tmp/digest
	check "statistics are printed" test -n "$(statistic /tmp/log notifications)"
}

receive() {
	: >/tmp/log
	rnotify recv --listen "0.0.0.0:$1" --out /tmp/received 2>&1 | tee /tmp/log &
	pid=$!
	check "listening" awaits grep -qs "^listening" /tmp/log
	vm-sync listening
	wait $pid
	code=$?
	check "received" test $code = 0
	echo "# received $(stat -c %s /tmp/received) bytes, SHA-256 $(digest /tmp/received)"
	n=$(statistic /tmp/log notifications)
	w=$(statistic /tmp/log wakeups)
	echo "# ${n:-no} notifications, ${w:-no} wake-ups"
	check "notifications came" test "${n:-0}" -gt 0
	check "fewer wake-ups than notifications" test "${w:-1}" -lt "${n:-0}"
}

transfer() {
	if [ "$ROLE" = a ]; then
		plan 3
	else
		plan 5
	fi
	if [ "$ROLE" = a ]; then
		vm-sync listening
		send "$@"
	else
		receive "$1"
	fi
	compare
}

fetch() {
	nc "$PEER_ADDR" 7400 </tmp/digest >/tmp/peer 2>/dev/null
}

# The sender tells its digest to the receiver over plain TCP, the other way round
# for the verdict
compare() {
	if [ "$ROLE" = a ]; then
		vm-sync digest
		# refused until the other one listens
		awaits fetch
		check "the receiver's SHA-256 is ours" cmp -s /tmp/digest /tmp/peer
	else
		digest /tmp/received >/tmp/digest
		nc -l -p 7400 </tmp/digest >/tmp/peer &
		pid=$!
		vm-sync digest
		wait $pid
		check "SHA-256 as at the sender" cmp -s /tmp/digest /tmp/peer
	fi
}
