#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# All ways in which a peer can die, with the default keepalive time: when connections
# in each state end, and how long the calls take that end them (P7, FAULTS 32 to 34).
#
# rvm: limit=240 long=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/dead_peer_lib.sh disable=SC1091
. /t/dead_peer_lib.sh

dead_peers 5000 stopped drop_to_peer drop_from_peer drop_both killed \
	address_removed link_down quit
