# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=dash
#
# The interactive shell of `make vm`, on the console.
dmesg -n 5
cat <<-TEXT

	rnotify test VM, kernel $(uname -r), role $ROLE, address $RNOTIFY_ADDR, $RNOTIFY_ADDR6
	Programs are in /t and on the PATH.  Leave with 'exit' (or Ctrl-A x).

TEXT
export ENV=/etc/vm/rc.sh
cd /t || cd /
setsid busybox cttyhack /bin/sh -l
