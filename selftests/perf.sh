#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# rnotify perf: every transport, mode and way to wait, with every byte looked at;
# both ends as processes, threads, and over TCP; and what it refuses. Not one figure
# is judged here: how fast the machine is, nobody knows.
#
# rvm: limit=90 debug_long=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
cd /tmp || exit 1
n=$((RNOTIFY_SLOW > 9 ? 20 : 60))

# perf ROWS OPTIONS...: so many lines of figures come out
perf() {
	rows=$1
	shift
	rnotify perf "$@" >perf.log 2>&1
	code=$?
	[ $code = 0 ] || sed 's/^/# /' perf.log
	[ $code = 0 ] && [ "$(grep -c '^ [a-z]' perf.log)" = "$rows" ]
}

latency() {
	perf "$@" -n $n --check
}

stream() {
	perf "$@" -m stream -n $((10 * n)) --check
}

json() {
	rnotify perf --json -n $n -r 3 -t rnotify,tcp | tr -d '\n ' >perf.log
	grep -q '^{"runs":\[{"transport":"rnotify","mode":"latency",.*}\]}$' perf.log &&
		[ "$(grep -o '"median":true' perf.log | wc -l)" = 2 ] &&
		[ "$(grep -o '"median":false' perf.log | wc -l)" = 4 ]
}

# Until the server listens the client is refused
client() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rnotify perf -n $n --check "$@" >perf.log 2>&1 && return 0
		grep -q 'Connection refused' perf.log || break
		sleep $i
	done
	sed 's/^/# /' perf.log
	return 1
}

two_programs() {
	rnotify perf --server "$RNOTIFY_ADDR" 2>server.log &
	server=$!
	client "$RNOTIFY_ADDR" && client "$RNOTIFY_ADDR" -t all -m stream
	code=$?
	kill $server
	wait $server
	cat server.log
	[ $code = 0 ] && [ ! -s server.log ]
}

# talking PORT: until somebody has connected there
talking() {
	until ss -Htn state established "sport = :$1" | grep -q .; do
		sleep 0.1
	done
}

# A server whose client is killed in the middle goes on for others
client_killed() {
	rnotify perf --server "$RNOTIFY_ADDR:7476" 2>server.log &
	server=$!
	client "$RNOTIFY_ADDR:7476"
	first=$?
	rnotify perf -n 10000000 "$RNOTIFY_ADDR:7476" >/dev/null 2>&1 &
	pid=$!
	talking 7476
	kill -9 $pid
	client "$RNOTIFY_ADDR:7476"
	second=$?
	kill $server
	wait $server
	[ $first = 0 ] && [ $second = 0 ]
}

server_killed() {
	rnotify perf --server --once "$RNOTIFY_ADDR:7477" 2>server.log &
	server=$!
	client "$RNOTIFY_ADDR:7477" -n 10000000 &
	pid=$!
	talking 7477
	kill -9 $server
	wait $pid && return 1
	grep -Eq 'has gone|process ended' perf.log
}

# refused WORDS OPTIONS...: exit status 2, and a sentence with these words
refused() {
	words=$1
	shift
	rnotify perf "$@" >perf.log 2>&1
	[ $? = 2 ] && grep -q -e "$words" perf.log && grep -q '^usage: rnotify perf' perf.log
}

# wrong OPTION VALUE: refused, with both named
wrong() {
	refused "--$1: '$2' is none of its values" "--$1" "$2"
}

arguments() {
	wrong mode x && wrong transport rnotify,y && wrong transport '' &&
		wrong wait block, && wrong size 65M && wrong batch 0 && wrong batch 4097 &&
		wrong window 0 && wrong endpoints 0 && wrong iterations 0 &&
		wrong iterations 1e3 && wrong repeat 0 && wrong spin 1001 &&
		wrong inline 257
}

contradictions() {
	refused "can't wait like that" -t tcp,send -w block,uring &&
		refused 'one address' 1.2.3.4 5.6.7.8 &&
		refused 'the client says' --server -s 8 && refused 'for --server' --once &&
		refused 'both ends here' --threads 1.2.3.4 &&
		refused 'unrecognized option' --nonsense
}

nobody_there() {
	rnotify perf "$RNOTIFY_ADDR:7499" >perf.log 2>&1
	[ $? = 1 ] && grep -q "connecting to 'rnotify perf --server' at port 7499: Connection refused" \
		perf.log
}

# The command without the program that it runs: alone in a directory
not_installed() {
	mkdir -p alone && cp "$(command -v rnotify)" alone/ || return 1
	PATH=/tmp/alone alone/rnotify perf >perf.log 2>&1
	[ $? = 1 ] && grep -q 'rnotify-perf, which is not installed' perf.log
}

stranger() {
	rnotify perf --server --once "$RNOTIFY_ADDR:7478" 2>server.log &
	server=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		head -c 100 /dev/zero | nc "$RNOTIFY_ADDR" 7478 >/dev/null 2>&1 && break
		sleep $i
	done
	wait $server
	[ $? = 1 ] && grep -q 'is not rnotify-perf' server.log
}

plan 24
check "latency, every transport, asleep" latency 5 -t all
check "latency, every transport, spinning and in between" \
	latency 15 -t all -w spin,adaptive,epoll
check "latency, rnotify, every way to wait" latency 3 -w eventfd,uring,read
check "latency, inline" latency 4 -t rnotify,write_imm -s 8,256 --inline 256
check "latency, sizes around a packet" latency 20 -t all -s 0,1,1025,70000
check "latency, endpoints in turn" latency 10 -t all -e 7 -w block,spin -W 4
check "stream, every transport, asleep" stream 5 -t all
check "stream, every transport, spinning" stream 5 -t all -w spin -n 200
check "stream, every transport, epoll" stream 5 -t all -w epoll
check "stream, rnotify, every way to wait" stream 4 -w eventfd,uring,read,adaptive
check "stream, window of one" stream 5 -t all -W 1 -b 4
check "stream, large" perf 5 -m stream -t all -s 1M -b 2 -W 4 -n 10 --check
check "stream, endpoints in turn" stream 5 -t all -e 5 -W 8
check "connections" perf 4 -m connect -t rnotify,write_imm -e 1,20 -W 16
check "threads" latency 5 -t all --threads
check "JSON" json
check "two programs" two_programs
check "client killed" client_killed
check "server killed" server_killed
check "arguments" arguments
check "contradictions" contradictions
check "nobody there" nobody_there
check "a stranger" stranger
check "not installed" not_installed
finish
