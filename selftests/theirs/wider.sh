# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=bash
#
# Makes a race of the kernel's easier to lose: a probe that records its call trace, so
# many times over, makes the call of one function take so much longer. It changes
# nothing else.

# wider MODULE:FUNCTION TIMES
wider() {
	local dir=/sys/kernel/tracing i

	test -e $dir/trace || mount -t tracefs none $dir || return 1
	for i in $(seq "$2"); do
		echo "p:wider$i $1" >>$dir/kprobe_events || return 1
		echo stacktrace >"$dir/events/kprobes/wider$i/trigger" || return 1
		echo 1 >"$dir/events/kprobes/wider$i/enable" || return 1
	done
}

# warned FUNCTION: has the kernel warned in it?
warned() {
	dmesg | grep -q "WARNING: .* $1"
}
