#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
# functions are called by check, which shellcheck does not see; numbers need no quotes
# shellcheck disable=SC2317,SC2086
#
# The tracepoints: each is on the way of a notification, and the histograms of
# Documentation/tracing.rst can be made of them.
#
# rvm: limit=90
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh

mount -t tracefs none /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing || exit 1

# A ping-pong, and a tenth to warm up. Credit comes with every half window, 64
rounds=$((RNOTIFY_SLOW > 9 ? 80 : 100))
posts=$((2 * (rounds + rounds / 10)))

ping_pong() {
	rnotify perf -n $rounds >/tmp/perf.log
}

# seen_times WANT PATTERN: so many lines of the trace have it
seen_times() {
	seen=$(grep -c "$2" trace)
	echo "# $seen times $2"
	[ "$seen" = "$1" ]
}

at_least_once() {
	for event in post tx_done rx event wake consume credit state cause; do
		grep -q "rnotify_$event: " trace || { echo "# no $event"; return 1; }
	done
}

traced() {
	echo 4096 >buffer_size_kb
	echo 1 >events/rnotify/enable
	ping_pong || return 1
	echo 0 >events/rnotify/enable
	at_least_once && seen_times $posts 'rnotify_post: .* WRITE_IMM length=64 ' &&
		seen_times $posts 'rnotify_tx_done: .* WRITE_IMM length=64 error=' &&
		seen_times $posts 'rnotify_event: .* NOTIFY ' &&
		seen_times 2 'rnotify_state: .* to=ESTABLISHED' &&
		seen_times 2 'rnotify_cause: '
}

# Each outcome has a post of the same session and slot before it; each entry of a
# ring is consumed after it was written
in_order() {
	awk '
	/rnotify_post: / { split($0, f, "session=| endpoint=| slot="); split(f[4], s, " ")
		posted[f[2] "/" s[1]]++ }
	/rnotify_tx_done: / { split($0, f, "session=| endpoint=| slot="); split(f[4], s, " ")
		if (--posted[f[2] "/" s[1]] < 0) bad++; else good++ }
	/rnotify_event: / { split($0, f, "ring=| slot="); split(f[3], s, " ")
		written[f[2] "/" s[1]]++ }
	/rnotify_consume: / { split($0, f, "ring=| slot="); split(f[3], s, " ")
		if (--written[f[2] "/" s[1]] < 0) bad++; else good++ }
	END { print "# " good " pairs"; exit bad || !good }' trace
}

# histogram NAME FROM TO KEYS: of the time between two tracepoints
histogram() {
	echo "$1 u64 usecs" >>synthetic_events &&
		echo "hist:keys=$4:$1_from=common_timestamp.usecs" \
			>>"events/rnotify/$2/trigger" &&
		echo "hist:keys=$4:$1_us=common_timestamp.usecs-\$$1_from:onmatch(rnotify.$2).trace($1,\$$1_us)" \
			>>"events/rnotify/$3/trigger" &&
		echo 'hist:keys=usecs.log2' >>"events/synthetic/$1/trigger"
}

no_histogram() {
	echo '!hist:keys=usecs.log2' >>"events/synthetic/$1/trigger"
	echo "!hist:keys=$4:$1_us=common_timestamp.usecs-\$$1_from:onmatch(rnotify.$2).trace($1,\$$1_us)" \
		>>"events/rnotify/$3/trigger"
	echo "!hist:keys=$4:$1_from=common_timestamp.usecs" >>"events/rnotify/$2/trigger"
	echo "!$1 u64 usecs" >>synthetic_events
}

# counted NAME WANT: so many durations, or more, and none was dropped
counted() {
	sed 's/^/# /' "events/synthetic/$1/hist"
	awk -v want="$2" '/Hits:/ { hits = $2 } /Dropped:/ { dropped = $2 }
		END { exit hits < want || dropped }' "events/synthetic/$1/hist"
}

histograms() {
	histogram posted rnotify_post rnotify_tx_done session,slot &&
		histogram read rnotify_event rnotify_consume ring,slot && ping_pong
	ret=$?
	counted posted $posts && counted read $posts || ret=1
	no_histogram read rnotify_event rnotify_consume ring,slot
	no_histogram posted rnotify_post rnotify_tx_done session,slot
	return $ret
}

# After this the module is unloaded, with its tracepoints in use
stays_on() {
	echo >trace
	ping_pong && seen_times 0 rnotify_ && echo 1 >events/rnotify/enable
}

plan 4
check "each event, so often as it happened" traced
check "in order" in_order
check "histograms from post to completion and from event to reader" histograms
check "nothing when off" stays_on
finish
