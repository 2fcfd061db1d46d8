#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# A peer that is stopped, unplugged or killed: connections in each state end in time
# (P7, FAULTS 34).  The rest of the ways to die: dead_peer_matrix.sh.
#
# rvm: limit=60 long=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/dead_peer_lib.sh disable=SC1091
. /t/dead_peer_lib.sh

dead_peers 2000 stopped killed link_down
