#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# The same transfer over a link that loses 2 % of the packets in both directions.
#
# rvm: limit=300 file=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/transfer.sh disable=SC1091
. /t/transfer.sh

tc qdisc add dev eth0 root netem loss 2% limit 10000
# Less on the slow debug kernel
if [ "$ROLE" = a ]; then
	head -c "$((RNOTIFY_SLOW > 9 ? 2000000 : 16000000))" /t/file.deb >/tmp/part
fi
export FILE=/tmp/part
# rxe counts every NAK of a sequence error as a retry and forgets them at the next ACK
# only, which it asks for at the end of a work request or after 64 packets: with blocks
# of 256 packets, six losses in one block are likely, and the connection is given up.
# With 32 packets that is still one transfer in 200, with 16 one in 6000.
transfer 7472 --block "${BLOCK:-16K}"
tc -s qdisc show dev eth0 | grep -o 'dropped [0-9]*' | head -n 1
finish
