#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# `rnotify` when things go wrong: either side killed or stopped, a full disk, wrong
# peers, limits, the device taken away. Both sides must end with a status that is
# not 0 and a sentence that helps, and nothing may be left that looks complete.
#
# rvm: limit=180 kernels=6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1

size=$((RNOTIFY_SLOW > 9 ? 700001 : 5000001))
port=7900
A=$RNOTIFY_ADDR

# receiver OPTIONS: one that is listening; its pid in $receiver
receiver() {
	port=$((port + 1))
	rm -f out out.part
	: >recv.log
	rnotify recv -l "$A:$port" -o out "$@" >recv.log 2>&1 &
	receiver=$!
	awaits grep -q '^listening' recv.log
}

# something_came: the receiver has some bytes
something_came() {
	[ "$(stat -c %s out.part 2>/dev/null || echo 0)" -gt 0 ]
}

# endless_sender: sends something and then waits for more; its pid in $sender
endless_sender() {
	(cat in; exec sleep 1000) >fifo &
	feeder=$!
	rnotify send -q fifo "$A:$port" >send.log 2>&1 &
	sender=$!
	awaits something_came
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
	# Only a signal that can't be caught leaves the unfinished file behind.
	[ $code = 1 ] && says send.log "process ended" && [ ! -e out ]
}

# Asked to stop: the peer is told, nothing is left
receiver_stopped() {
	receiver && endless_sender || return 1
	kill -TERM $receiver
	wait $receiver
	received=$?
	wait "$sender"
	code=$?
	end_feeder
	[ $code$received = 1143 ] && says send.log "receiver was stopped" &&
		nothing_left
}

sender_stopped() {
	receiver && endless_sender || return 1
	kill -TERM "$sender"
	wait "$sender"
	code=$?
	wait $receiver
	code=$code$?
	end_feeder
	[ $code = 11 ] && says send.log "stopped before the end" &&
		says recv.log "the sender gave up" && nothing_left
}

# Cut while it is sent: a receiver whose output is stuck holds the sender up
input_cut() {
	head -c $size /dev/zero >shrinking
	port=$((port + 1))
	: >recv.log
	rnotify recv -w 64K -b 4K -l "$A:$port" -o slow >recv.log 2>&1 &
	receiver=$!
	exec 3<>slow
	awaits grep -q '^listening' recv.log || return 1
	rnotify send -q shrinking "$A:$port" >send.log 2>&1 &
	sender=$!
	awaits grep -q '^receiving' recv.log || return 1
	: >shrinking
	cat <&3 >/dev/null &
	reader=$!
	wait $sender
	code=$?
	wait $receiver
	code=$code$?
	kill $reader
	exec 3<&-
	rm shrinking
	[ $code = 11 ] && says send.log "cut while it was sent" &&
		says recv.log "the sender gave up" && nothing_left
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
	: >recv.log
	rnotify recv -l "$A:$port" -o /dev/full >recv.log 2>&1 &
	pid=$!
	awaits grep -q '^listening' recv.log || return 1
	rnotify send -q in "$A:$port" >send.log 2>&1
	code=$?
	wait $pid
	[ $code$? = 11 ] && says recv.log "No space left" &&
		says send.log "could not write"
}

output_lost() {
	for c in --help --version info 'info --json' 'send --help' 'perf --help'; do
		rnotify $c >/dev/full 2>recv.log
		[ $? = 1 ] && says recv.log "standard output" || return 1
	done
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
	awaits grep -q 'sender vanished' recv.log || return 1
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

# The sentence has to fit the mistake
addresses() {
	rnotify send in nosuchhost.invalid >send.log 2>&1
	[ $? = 1 ] && says send.log "nosuchhost.invalid: .*\(no host of that\|name service\)" ||
		return 1
	rnotify send in "$A:99999" >send.log 2>&1
	[ $? = 2 ] && says send.log "up to 65535" || return 1
	rnotify recv -l 192.0.2.9:7000 >recv.log 2>&1
	[ $? = 1 ] && says recv.log "rnotify info"
}

unreachable() {
	rnotify send -q in 192.0.2.1:1 >send.log 2>&1
	[ $? = 1 ] && says send.log "route"
}

as_user() {
	prlimit --memlock=$((64 << 10)) setpriv --reuid rdmauser --regid rdmauser \
		--init-groups "$@"
}

# A sender that can't even begin does not use up the receiver
sender_memlock() {
	receiver || return 1
	as_user rnotify send -q in "$A:$port" >send.log 2>&1
	code=$?
	rnotify send -q in "$A:$port" >send2.log 2>&1 && wait $receiver &&
		[ $code = 1 ] && says send.log "leaves 64 KiB: raise it" &&
		cmp -s in out
}

# As a user of the group, with little lockable memory
memlock() {
	as_user rnotify recv -l "$A:7999" -o /dev/null >recv.log 2>&1
	[ $? = 1 ] && says recv.log "leaves 64 KiB: raise it" || return 1
	as_user rnotify info | grep -q 'locked memory: *up to 64 KiB' &&
		prlimit --memlock=65536 rnotify info |
		grep -q 'locked memory: *unlimited'
}

# Soft-RoCE is in the initial network namespace only
namespace() {
	unshare -n rnotify recv -l "$A:7998" >recv.log 2>&1
	[ $? = 1 ] && says recv.log "rnotify info" ||
		return 1
	unshare -n rnotify send in "$A:7998" >send.log 2>&1
	[ $? = 1 ] && says send.log "There is no route" || return 1
	unshare -n sh -c 'ip link add v0 type dummy; ip addr add 10.0.0.7/24 dev v0
		ip link set v0 up; rnotify send in 10.0.0.1:7998' >send.log 2>&1
	[ $? = 1 ] && says send.log "No RDMA device leads there"
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
	rnotify recv -l "*:$port" 2>recv3.log &
	awaits grep -q 'no RDMA device yet' recv3.log
	code=$code$?
	kill $!
	rdma link add rxe0 type rxe netdev "$VM_NETDEV"
	[ $code = 11110 ] && says send.log "was removed" &&
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
	[ $? = 2 ] || return 1
	rnotify send "" "$A" >recv.log 2>&1
	[ $? = 2 ] && says recv.log "needs a name" || return 1
	rnotify recv -o "" >recv.log 2>&1
	[ $? = 2 ] && says recv.log "needs a name" || return 1
	rnotify send -d 0 in "$A" >recv.log 2>&1
	[ $? = 2 ] && says recv.log "from 1 to 1024"
}

head -c $size /dev/urandom >in
mkfifo fifo slow

plan 23
check "sender killed" sender_killed
check "receiver killed" receiver_killed 9
check "receiver asked to stop" receiver_stopped
check "sender asked to stop" sender_stopped
check "file cut while it is sent" input_cut
check "sender without memory" sender_memlock
check "addresses" addresses
check "receiver stopped" stopped receiver
check "sender stopped" stopped sender
check "disk full" disk_full
check "block larger than the window" too_large
check "two senders" busy
check "wrong command" wrong_command
check "nobody listens" refused
check "no route" unreachable
check "locked memory" memlock
check "another network namespace" namespace
check "no permission" no_permission
check "device removed" device_removed
check "a transfer after all that" afterwards
check "command line" usage
check "output that gets lost" output_lost
check "no unfinished file is left" test ! -e out.part
finish
