#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# Where the instructions of a notification go, by thread and by function, for each
# transport named in TRANSPORTS, in a test that MODE names by options of rnotify-perf
# (default: a blocking ping-pong; the other one: "-m stream -b 32").  In a guest whose
# clock counts instructions a timer's samples are samples of instructions.  Needs perf
# (package linux-perf):
#
#	make modules KERNEL=6.12 && make userspace
#	selftests/vm/rvm run --kernel 6.12 --icount --limit 300 \
#		[--env "MODE=-m stream -b 32"] \
#		"/usr/bin/perf --version" selftests/bench/profile.sh
#
# With PARENTS, a regular expression of functions, it says how many samples are below
# each of these, and how many of them clear pages. So, what connections take:
#
#		--env "MODE=-m connect -e 200 -W 64" --env "PARENTS=rxe_create_qp|..."
#
# perf --version is there to bring perf into the guest. What runs with interrupts off
# is charged to who turns them on again (finish_task_switch(),
# _raw_spin_unlock_irqrestore()).
cd /tmp || exit 1
n=20000
mode=${MODE:--w block}
case $mode in
*stream*) crossings=1 ;;
*) crossings=2 ;;
esac
transports=${TRANSPORTS:-rnotify write_imm}
echo 0 >/proc/sys/kernel/kptr_restrict
# shellcheck disable=SC2086 # words
set -- $transports
echo "1..$#"

top() {
	/t/perf report -i "$1.data" --stdio --no-children -s "$2" 2>/dev/null |
		grep -v -e '^#' -e '^$' | head -"$3" | sed 's/^/# /'
}

# Samples below each of PARENTS
below() {
	/t/perf report -i "$t.data" --stdio --no-children -n -g none -s "$1" \
		-p "$PARENTS" 2>/dev/null | grep -v -e '^#' -e '^$' | sed 's/^/# /'
}

for t; do
	# shellcheck disable=SC2086 # words
	/t/perf record ${PARENTS:+-g} -a -F 20000 -e cpu-clock -o "$t.data" -- \
		rnotify perf --json -t "$t" -n $n $mode >"$t.json" 2>"$t.log"
	ns=$(tr -d ' ,' <"$t.json" | awk -F: '/"time_ns":/ { print $2; exit }')
	echo "# $t: $((ns / (crossings * n))) instructions a notification, sampling included"
	top "$t" comm 12
	top "$t" symbol 40
	if [ -n "$PARENTS" ]; then
		below parent
		below parent,symbol | grep clear_page
	fi
	if [ -n "$ns" ]; then echo "ok $t"; else echo "not ok $t"; fi
done
