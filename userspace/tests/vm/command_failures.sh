#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# `rnotify` when things go wrong: either side killed or stopped, a full disk, wrong
# peers, limits, the device taken away. Both sides must end with a status that is
# not 0 and a sentence that helps, and nothing may be left that looks complete.
#
# rvm: limit=180
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1

size=$((RNOTIFY_SLOW > 9 ? 700001 : 5000001))
port=7900
A=$RNOTIFY_ADDR
moment=$((RNOTIFY_SLOW > 9 ? 5 : 1))

# receiver OPTIONS: one that is listening; its pid in $receiver
receiver() {
	port=$((port + 1))
	rm -f out out.part
	: >recv.log
	rnotify recv -l "$A:$port" -o out "$@" >recv.log 2>&1 &
	receiver=$!
	i=0
	until grep -q '^listening' recv.log; do
		i=$((i + 1))
		[ $i -lt 600 ] || return 1
		sleep 0.1
	done
}

# endless_sender: sends something and then waits for more; its pid in $sender
endless_sender() {
	(cat in; exec sleep 1000) >fifo &
	feeder=$!
	rnotify send -q fifo "$A:$port" >send.log 2>&1 &
	sender=$!
	i=0
	until [ "$(stat -c %s out.part 2>/dev/null || echo 0)" -gt 0 ]; do
		i=$((i + 1))
		[ $i -lt 600 ] || return 1
		sleep 0.1
	done
}

end_feeder() {
	kill "$feeder"
	wait "$feeder" 2>/dev/null
}

nothing_left() {
	[ ! -e out ] && [ ! -e out.part ]
}

# says FILE TEXT
says() {
	grep -q "^rnotify: .*$2" "$1" && return 0
	sed 's/^/# /' "$1"
	return 1
}

sender_killed() {
	receiver && endless_sender || return 1
	kill -9 "$sender"
	wait $receiver
	code=$?
	end_feeder
	[ $code = 1 ] && says recv.log "sender vanished.*process ended" &&
		nothing_left
}

receiver_killed() {
	receiver && endless_sender || return 1
	kill -"$1" $receiver
	wait "$sender"
	code=$?
	end_feeder
	[ $code = 1 ] && says send.log "process ended" && [ ! -e out ] || return 1
	# Only a signal that can't be caught leaves the unfinished file behind.
	[ "$1" = 9 ] || nothing_left
}

# Everything arrives, however long one of the two is stopped
stopped() {
	receiver || return 1
	rnotify send -q -b 4K in "$A:$port" >send.log 2>&1 &
	sender=$!
	[ "$1" = receiver ] && pid=$receiver || pid=$sender
	for pause in 1 7; do
		kill -STOP "$pid" 2>/dev/null
		sleep $pause
		kill -CONT "$pid" 2>/dev/null
		sleep 0.1
	done
	wait "$sender" && wait $receiver && cmp -s in out && return 0
	sed 's/^/# /' send.log recv.log
	return 1
}

disk_full() {
	port=$((port + 1))
	rnotify recv -q -l "$A:$port" -o /dev/full >recv.log 2>&1 &
	pid=$!
	sleep "$moment"
	rnotify send -q in "$A:$port" >send.log 2>&1
	code=$?
	wait $pid
	[ $code$? = 11 ] && says recv.log "No space left" &&
		says send.log "could not write"
}

too_large() {
	receiver -w 64K || return 1
	rnotify send -q -b 1M in "$A:$port" >send.log 2>&1
	code=$?
	kill $receiver
	wait $receiver
	[ $code = 1 ] && says send.log "no room for blocks" && nothing_left
}

busy() {
	receiver -k && endless_sender || return 1
	rnotify send -q in "$A:$port" >send2.log 2>&1
	code=$?
	# The first is not disturbed, and its end makes room for another
	kill -9 "$sender"
	end_feeder
	sleep "$moment"
	rnotify send -q in "$A:$port" >send3.log 2>&1 && cmp -s in out
	good=$?
	kill $receiver
	wait $receiver
	[ $code$good = 10 ] && says send2.log "busy with another"
}

wrong_command() {
	receiver || return 1
	rnotify ping "$A:$port" >send.log 2>&1
	code=$?
	kill $receiver
	wait $receiver
	[ $code = 1 ] && says send.log "right command"
}

refused() {
	rnotify send -q in "$A:1" >send.log 2>&1
	[ $? = 1 ] && says send.log "Nobody listens"
}

unreachable() {
	rnotify send -q in 192.0.2.1:1 >send.log 2>&1
	[ $? = 1 ] && says send.log "route"
}

# memlock KIB: as a user of the group, with so much lockable memory
memlock() {
	prlimit --memlock=$((64 << 10)) setpriv --reuid rdmauser --regid rdmauser \
		--init-groups rnotify recv -l "$A:7999" -o /dev/null >recv.log 2>&1
	[ $? = 1 ] && says recv.log "leaves 64 KiB: raise it"
}

no_permission() {
	setpriv --reuid user --regid user --init-groups rnotify info >recv.log 2>&1
	[ $? = 1 ] && says recv.log "group 'rdma'"
}

device_removed() {
	receiver && endless_sender || return 1
	rdma link delete rxe0
	wait $receiver
	code=$?
	wait "$sender"
	code=$code$?
	end_feeder
	rnotify send -q in "$A:$port" >send2.log 2>&1
	code=$code$?
	rnotify recv -l "$A:$port" >recv2.log 2>&1
	code=$code$?
	rdma link add rxe0 type rxe netdev "$VM_NETDEV"
	[ $code = 1111 ] && says send.log "was removed" &&
		says recv.log "was removed" && says send2.log "rdma link add" &&
		says recv2.log "rdma link add" && nothing_left
}

afterwards() {
	receiver && rnotify send -q in "$A:$port" >send.log 2>&1 &&
		wait $receiver && cmp -s in out
}

usage() {
	for c in info recv send ping pong; do
		rnotify $c --help | grep -q "^usage: rnotify $c" || return 1
		rnotify $c --version | grep -q '^rnotify [0-9]' || return 1
		rnotify $c --nonsense >recv.log 2>&1
		[ $? = 2 ] || return 1
	done
	rnotify nonsense >recv.log 2>&1
	[ $? = 2 ]
}

head -c $size /dev/urandom >in
mkfifo fifo

plan 17
check "sender killed" sender_killed
check "receiver killed" receiver_killed 9
check "receiver terminated" receiver_killed TERM
check "receiver stopped" stopped receiver
check "sender stopped" stopped sender
check "disk full" disk_full
check "block larger than the window" too_large
check "two senders" busy
check "wrong command" wrong_command
check "nobody listens" refused
check "no route" unreachable
check "locked memory" memlock
check "no permission" no_permission
check "device removed" device_removed
check "a transfer after all that" afterwards
check "command line" usage
check "no unfinished file is left" test ! -e out.part
finish
