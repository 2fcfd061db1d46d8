#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# `rnotify send` and `recv` in one guest: sizes, windows, depths, addresses, pipes.
# What has arrived is compared byte by byte, and the notifications are counted.
#
# rvm: limit=120 kernels=6.12
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1

# Less on slow kernels
size=$((RNOTIFY_SLOW > 9 ? 700001 : 5000001))
port=7800
address=$RNOTIFY_ADDR

statistic() {
	sed -n "s/^$2: *//p" "$1" | tail -n 1
}

# listening LOG: until the receiver says that it is
listening() {
	awaits grep -q '^listening' "$1"
}

# transfer FILE NOTIFICATIONS "RECV OPTIONS" "SEND OPTIONS"
transfer() {
	port=$((port + 1))
	rm -f out
	: >recv.log
	# shellcheck disable=SC2086 # options are words
	rnotify recv --listen "$address:$port" --out out $3 >recv.log 2>&1 &
	pid=$!
	listening recv.log || return 1
	# shellcheck disable=SC2086
	rnotify send -q $4 "$1" "$address:$port" >send.log 2>&1
	sent=$?
	wait $pid
	received=$?
	if [ $sent$received = 00 ] && cmp -s "$1" out && [ ! -e out.part ] &&
	   [ "$(statistic recv.log notifications)" = "$2" ] &&
	   [ "$(statistic send.log notifications)" = "$2" ] &&
	   [ "$(statistic recv.log bytes)" = "$(stat -c %s "$1")" ] &&
	   [ "$(statistic recv.log wakeups)" -le "$2" ] &&
	   [ "$(statistic recv.log sha256)" = "$(sha256sum <"$1" | cut -d' ' -f1)" ]; then
		return 0
	fi
	echo "# send exits with $sent, recv with $received"
	sed 's/^/# /' recv.log send.log
	return 1
}

blocks() {
	echo $((($1 + $2 - 1) / $2 + 1))
}

# Standard input to standard output
pipes() {
	port=$((port + 1))
	: >recv.log
	rnotify recv -l "$address:$port" -o - >out 2>recv.log &
	pid=$!
	listening recv.log || return 1
	# shellcheck disable=SC2002 # in pieces as a pipe gives them
	cat in | rnotify send -q - "$address:$port" >send.log || return 1
	wait $pid && cmp -s in out && [ "$(statistic recv.log bytes)" = $size ]
}

# Several files one after the other, to one receiver
keep() {
	port=$((port + 1))
	: >recv.log
	rnotify recv -k -l "$address:$port" -o out >recv.log 2>&1 &
	pid=$!
	listening recv.log || return 1
	good=0
	for n in 1 2 3 4 5 6 7 8; do
		head -c $((n * 1000)) in >part
		rnotify send -q part "$address:$port" >send.log && cmp -s part out &&
			good=$((good + 1))
	done
	kill $pid
	wait $pid
	[ $good = 8 ] && [ "$(grep -c ^sha256 recv.log)" = 8 ]
}

# Who takes a file that is being received is refused, and spoils nothing
same_out() {
	port=$((port + 1))
	rm -f out
	: >recv.log
	rnotify recv -l "$address:$port" -o out >recv.log 2>&1 &
	pid=$!
	listening recv.log || return 1
	timeout 30 rnotify recv -l "$address:$((port + 1))" -o out 2>second.log
	[ $? = 1 ] && grep -q '^rnotify: .*out.part: another process' second.log || return 1
	rnotify send -q small "$address:$port" >send.log && wait $pid && cmp -s small out
}

# No reader comes, and somebody loses patience
fifo_stopped() {
	mkfifo pipe
	rnotify recv -l "$address:$port" -o pipe 2>recv.log &
	pid=$!
	awaits grep -q wait_for_partner /proc/$pid/stack || return 1
	kill $pid
	wait $pid
	[ $? = 143 ] && [ ! -s recv.log ]
}

# Nor does a reader that reads nothing keep it
fifo_full() {
	port=$((port + 1))
	: >recv.log
	(exec sleep 1000) <pipe &
	reader=$!
	rnotify recv -l "$address:$port" -o pipe 2>recv.log &
	pid=$!
	listening recv.log || return 1
	rnotify send -q in "$address:$port" 2>send.log &
	sender=$!
	awaits grep -q pipe_write /proc/$pid/stack || return 1
	kill $pid
	wait $pid
	[ $? = 143 ] || return 1
	wait $sender
	[ $? = 1 ] && kill $reader && grep -q '^rnotify: .*receiver was stopped' send.log
}

# What it says about itself does not get into the file
no_streams() {
	port=$((port + 1))
	rm -f out
	rnotify recv -l "$address:$port" -o out <&- >&- 2>&- &
	pid=$!
	awaits rnotify send -q small "$address:$port" 2>/dev/null
	wait $pid
	# the figures could not be written
	[ $? = 1 ] && cmp -s small out || return 1
	asked_for recv -l "$address:$port" -o - >&- &&
		asked_for recv -l "$address:$port" -o /proc/self/fd/1 >&- &&
		asked_for send - "$address:$port" <&- &&
		asked_for send /proc/self/fd/0 "$address:$port" <&-
}

# A closed stream: nothing is lost without a word
asked_for() {
	timeout 60 rnotify "$@" 2>closed.log
	[ $? = 1 ] && grep -q '^rnotify: \(standard .*put is closed\|/.*: Is a directory\)' closed.log
}

# A link is not replaced, nor followed to where nothing is
dangling() {
	ln -s nowhere dangling
	rnotify recv -l "$address:7798" -o dangling 2>recv.log
	[ $? = 1 ] && grep -q '^rnotify: dangling: a symbolic link that leads nowhere' recv.log &&
		[ -L dangling ]
}

json() {
	transfer small 2 --json --json
	# transfer() expects the other format: only the syntax counts here
	sed -n '/^{/,/^}/p' recv.log | tr -d '\n ' |
		grep -q '^{"bytes":1000,"seconds":[0-9.]*,"bytes_per_second":[0-9]*,"notifications":2,"wakeups":[0-9]*,"sha256":"[0-9a-f]*"}$'
}

head -c $size /dev/urandom >in
: >empty
printf x >one
head -c 1000 in >small
head -c 262144 in >block
head -c 262145 in >block1

plan 24
check "empty file" transfer empty 1
check "one byte" transfer one 2
check "one block" transfer block 2
check "one block and a byte" transfer block1 3
check "no multiple of the block" transfer in "$(blocks $size 262144)"
check "blocks of 1000 bytes" transfer in "$(blocks $size 1000)" "" "-b 1000"
check "blocks of one byte" transfer small 1001 "" "-b 1"
check "depth 1" transfer in "$(blocks $size 262144)" "" "-d 1"
check "window of one block" transfer in "$(blocks $size 65536)" "-w 64K -b 64K"
check "window that is no multiple" transfer in "$(blocks $size 9000)" "-w 100000" "-b 9000"
check "large blocks" transfer in "$(blocks $size 1048576)" "-w 16M" "-b 1M"
check "many slots" transfer in "$(blocks $size 4096)" "-w 4M" "-b 4K"
address="[$RNOTIFY_ADDR6]"
check "IPv6" transfer block1 3
address="[$(ip -6 addr show scope link | sed -n 's,.*inet6 \(fe80[^/]*\).*,\1,p' | tail -n 1)%$VM_NETDEV]"
check "IPv6 link-local" transfer block1 3
address=$RNOTIFY_ADDR
check "pipes" pipes
check "JSON" json
check "many files" keep
check "one file, two receivers" same_out
check "a FIFO without a reader" fifo_stopped
check "a FIFO whose reader reads nothing" fifo_full
check "no standard streams" no_streams
check "a link that leads nowhere" dangling
ln -s target link
printf old >target
chmod 600 target
: >recv.log
rnotify recv -l "$address:7799" -o link >recv.log 2>&1 &
pid=$!
listening recv.log
rnotify send -q small "$address:7799" >send.log
wait $pid
check "a link stays a link" test -L link
check "a private file stays private" test "$(stat -c %a target)" = 600
finish
