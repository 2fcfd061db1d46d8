#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# What `make bench` runs in its guests: parts of the table, each a call of
# `rnotify perf`, whose JSON goes to the runner on one line.
#
#   guest.sh PART...
#
# Parts whose name begins with fabric- or ucx- call a program of peers/ instead: it
# is the same, with that library as one more transport.
#
# BENCH_N, in percent, makes runs longer or shorter; BENCH_REPEAT is how often each
# transport has its turn, BENCH_LATENCY of how many round trips.
# rvm: floor=1
#
# functions are called by check, which shellcheck does not see
# shellcheck disable=SC2317
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
N=${BENCH_N:-100}
R=${BENCH_REPEAT:-5}
LATENCY=${BENCH_LATENCY:-400}
all=rnotify,write_imm,write_send,send,tcp

# figures NAME COMMAND...: the command's JSON, for the runner
figures() {
	figures_of=$1
	shift
	"$@" --json >/tmp/part || return
	printf '@bench %s %s\n' "$figures_of" "$(tr -d '\n' </tmp/part)"
}

# measure COMMAND NAME NOTIFICATIONS OPTIONS...
measure() {
	command=$1
	name=$2
	n=$((($3 * N + 99) / 100))
	shift 3
	# shellcheck disable=SC2086 # words
	check "$name" figures "$name" $command -n $n "$@"
}

# part NAME NOTIFICATIONS OPTIONS...
part() {
	measure "rnotify perf" "$@"
}

# peer NAME NOTIFICATIONS OPTIONS...: ours and the library by turns
peer() {
	case $1 in
	fabric-*) measure fabric "$@" -t rnotify,libfabric -r "$R" ;;
	ucx-*) measure ucx "$@" -t rnotify,ucx -r "$R" ;;
	esac
}

# stream NAME NOTIFICATIONS OPTIONS...
stream() {
	name=$1
	n=$2
	shift 2
	part "$name" "$n" -m stream "$@"
}

floor_dir=/sys/kernel/debug/rnotify_floor

load_floor() {
	[ -d "$floor_dir" ] || insmod /t/rnotify_floor.ko addr="$RNOTIFY_ADDR"
}

ask_floor() {
	echo "$*" >"$floor_dir/run"
}

# floor_figures NAME WHAT...: what it says of that
floor_figures() {
	floor_figures_of=$1
	shift
	ask_floor "$*" || return
	echo "@floor $floor_figures_of $(cat "$floor_dir/run")"
}

# floor NAME WAIT WHAT...: the bare module (selftests/floor) and ours by turns
floor() {
	name=$1
	wait=$2
	shift 2
	load_floor || return
	for _ in $(seq "$R"); do
		floor_figures "$name" "$*" || return
		figures "$name" rnotify perf -n $((400 * N / 100)) -w "$wait" || return
	done
}

# Context switches of the whole machine since it was booted
ctxt() {
	awk '$1 == "ctxt" { print $2 }' /proc/stat
}

# switches NAME TRANSPORT NOTIFICATIONS COMMAND...: how many one notification takes
switches() {
	name=$1
	transport=$2
	n=$3
	shift 3
	before=$(ctxt)
	"$@" >/tmp/part || return
	printf '@switches %s {"transport": "%s", "switches": %s, "notifications": %s}\n' \
		"$name" "$transport" $(($(ctxt) - before)) "$n"
}

# floor_switches NAME: spinning, the bare module, ours and verbs by turns
floor_switches() {
	n=$((2000 * N / 100))
	load_floor || return
	for _ in $(seq "$R"); do
		switches "$1" floor $((2 * n)) ask_floor latency softirq 64 "$n" || return
		for t in rnotify write_imm; do
			switches "$1" "$t" $((2 * n)) \
				rnotify perf --json -n "$n" -w spin -t "$t" || return
		done
	done
}

# floor_connect NAME: connections, the bare module, ours and verbs
floor_connect() {
	load_floor || return
	for _ in $(seq "$R"); do
		floor_figures "$1" connect softirq 64 200 || return
		figures "$1" rnotify perf -n 1 -m connect -t rnotify,write_imm \
			-e 200 -W 64 || return
	done
}

run_part() {
	case $1 in
	latency-block) part "$1" "$LATENCY" -t $all -w block -r "$R" ;;
	latency-spin) part "$1" 400 -t $all -w spin -r "$R" ;;
	latency-waits) part "$1" "$LATENCY" -w block,epoll,eventfd,uring,read,adaptive -r "$R" ;;
	latency-peers) part "$1" "$LATENCY" -t $all -w epoll,adaptive -r "$R" ;;
	latency-sizes)
		part "$1" 100 -t rnotify,write_imm,send,tcp -w block \
			-s 8,32,128,512,2K,8K,32K,128K,1M -r "$R"
		;;
	rate-batch)
		stream "$1" 4000 -t rnotify,write_imm,write_send,send -w block \
			-b 1,2,4,8,16,32,64 -r "$R"
		;;
	rate-spin) stream "$1" 4000 -t rnotify,write_imm -w spin -b 32 -r "$R" ;;
	bandwidth) stream "$1" 40 -t $all -w block -s 1M -b 4 -W 16 -r "$R" ;;
	# Several notifications for each endpoint
	endpoints)
		part "$1" 4000 -t rnotify,write_imm -w block -e 1,16,256,1000 \
			-W 16 -r "$R"
		;;
	connect)
		part "$1" 1 -m connect -t rnotify,write_imm -e 1,16,256,1000 \
			-W 64 -r "$R"
		;;
	fabric-block | ucx-block) peer "$1" "$LATENCY" -w block ;;
	fabric-spin | ucx-spin) peer "$1" 400 -w spin ;;
	fabric-stream | ucx-stream) peer "$1" 4000 -m stream -w block -b 1,32 ;;
	floor-spin) check "$1" floor "$1" spin latency spin 64 $((400 * N / 100)) ;;
	floor-block) check "$1" floor "$1" block latency softirq 64 $((400 * N / 100)) ;;
	floor-switches) check "$1" floor_switches "$1" ;;
	floor-connect) check "$1" floor_connect "$1" ;;
	*) not_ok "no part $1" ;;
	esac
}

plan $#
for p; do
	run_part "$p"
done
finish
