# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# Functions of the guest's first process.  Fd 9 is the output line to the runner.

# What bring_up is busy with
BROKEN=start

# A line for the runner, in order with the programs' output; a program that
# stopped in the middle of a line must not swallow it.
vm_mark() {
	printf '\n@@vm %s\n' "$*" >&9
}

# A mark in the kernel log, so that the runner knows whose splat it is.
vm_kmsg() {
	echo "<4>vm: $*" >/dev/kmsg
}

# Everything between the mounts and the first program.
bring_up() {
	bring_up_steps || vm_mark "broken $BROKEN"
}

bring_up_steps() {
	local m
	ip link set lo up
	while read -r m; do
		BROKEN="insmod $m"
		insmod "$m" || return 1
	done </etc/vm/modules
	BROKEN='network and soft-RoCE'
	network_up || return 1
	[ -n "$VM_RNOTIFY" ] || return 0
	BROKEN='insmod rnotify.ko'
	# shellcheck disable=SC2086 # parameters are words
	insmod /t/rnotify.ko $VM_MODPARAMS || return 1
	BROKEN='/dev/rnotify'
	[ -c /dev/rnotify ] || return 1
	chown root:rdma /dev/rnotify
	chmod 0660 /dev/rnotify
}

# The netdev is a dummy (one VM, both ends on one address) or the virtio card.
network_up() {
	local dev=$VM_NETDEV
	[ -n "$dev" ] || return 0
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/default/router_solicitations
	[ "$dev" = d0 ] && ip link add d0 type dummy
	ip link set "$dev" mtu "$VM_MTU" up || return 1
	ip addr add "$RNOTIFY_ADDR/24" dev "$dev" || return 1
	ip -6 addr add "$RNOTIFY_ADDR6/64" dev "$dev" nodad || return 1
	rdma link add rxe0 type rxe netdev "$dev"
}

# One line with everything that must be back at its base after a program.
gauges() {
	local pins vmpin rdma
	# the counters are per CPU and else folded once a second only
	echo 1 2>/dev/null >/proc/sys/vm/stat_refresh
	pins=$(awk '/^nr_foll_pin_acquired/ { n += $2 } /^nr_foll_pin_released/ { n -= $2 }
		END { print n + 0 }' /proc/vmstat)
	vmpin=$(cat /proc/[0-9]*/status 2>/dev/null |
		awk '/^VmPin/ { n += $2 } END { print n + 0 }')
	rdma=$(rdma resource show 2>/dev/null | sed 's/^[0-9]*: //' | tr -s ' \n' ' ')
	echo "pins=$pins VmPin=$vmpin rdma=($rdma)"
}

# Is everything back?  Last references go away from workqueues and RCU: patience.
check_gauges() {
	local now i=0
	while now=$(gauges); [ "$now" != "$VM_BASE" ]; do
		i=$((i + 1))
		if [ $i -gt 50 ]; then
			vm_mark "gauges $1 bad $VM_BASE -> $now"
			VM_BASE=$now
			return
		fi
		sleep 0.1
	done
	vm_mark "gauges $1 ok $now"
}

# Debug kernels: what has no pointer to it any more?  kmemleak reports only what is
# older than five seconds: a leak may show during a later program (its report names
# the process), and after the last one we wait.
check_leaks() {
	local f=/sys/kernel/debug/kmemleak
	[ -n "$VM_KMEMLEAK" ] && [ -w $f ] || return 0
	[ "$1" != rmmod ] || sleep 6
	echo scan >$f
	# A list that changed while it was scanned may hide what is on it: seen twice?
	if [ -n "$(head -c 1 $f)" ]; then
		sleep 1
		echo scan >$f
	fi
	cat $f >/tmp/kmemleak
	echo clear >$f
	if [ -s /tmp/kmemleak ]; then
		vm_mark "leaks $1 bad"
		sed 's/^/# /' /tmp/kmemleak >&9
	else
		vm_mark "leaks $1 ok"
	fi
}

# kill_session SID: all processes of a program. Not its process group: the kselftest
# harness gives each test one of its own.
kill_session() {
	local proc stat found=1 tries=0
	while [ $found = 1 ] && [ $tries -lt 20 ]; do
		found=0
		tries=$((tries + 1))
		for proc in /proc/[0-9]*; do
			read -r stat 2>/dev/null <"$proc/stat" || continue
			# behind the name: state, parent, group, session
			# shellcheck disable=SC2086
			set -- "$1" ${stat##*) }
			if [ "$5" != "$1" ] || [ "$2" = Z ]; then continue; fi
			kill -9 "${proc#/proc/}" 2>/dev/null && found=1
		done
	done
}

# Runs in the background beside a program: on expiry the blocked tasks and the
# backtraces of the CPUs go to the console, then the program is killed.
watchdog() {
	local nap
	trap 'kill $nap; exit' TERM
	sleep "$2" &
	nap=$!
	wait $nap
	vm_mark "timeout $1 $2"
	dmesg -n 8
	echo w >/proc/sysrq-trigger
	echo l >/proc/sysrq-trigger
	sleep 1
	dmesg -n 6
	kill_session "$3"
	sleep 15
	[ ! -d "/proc/$3" ] || vm_mark "stuck $1"
}

# run_program NAME LIMIT COMMAND...
run_program() {
	local name=$1 limit=$2 pid dog rc
	shift 2
	vm_mark "begin $name $limit"
	vm_kmsg "begin $name"
	cd /tmp || return
	setsid "$@" </dev/null >/dev/ttyS2 2>&1 9>&- &
	pid=$!
	watchdog "$name" "$limit" "$pid" &
	dog=$!
	wait $pid
	rc=$?
	kill $dog 2>/dev/null
	# its forgotten children: the session is named after the program
	kill_session $pid
	vm_mark "exit $name $rc"
	check_gauges "$name"
	check_leaks "$name"
	vm_kmsg "end $name"
	vm_mark "end $name"
}

# After the last program the module must go, and everything with it.
run_unload() {
	[ -n "$VM_RNOTIFY" ] && [ -d /sys/module/rnotify ] || return 0
	run_program rmmod "$VM_LIMIT" /bin/sh -c '
		echo 1..1
		if rmmod rnotify; then
			echo "ok 1 rmmod"
		else
			echo "not ok 1 rmmod"
		fi'
}

run_job() {
	local name limit cmd
	VM_BASE=$(gauges)
	while read -r name limit cmd; do
		run_program "$name" "$limit" /bin/sh -c "exec $cmd"
	done </job/list
	run_unload
}
