#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1 OR MIT
#
# A real file from guest a to guest b by WRITE WITH IMMEDIATE; the receiver sleeps
# between notifications.  Equal at both ends, and fewer wake-ups than notifications.
#
# rvm: limit=300 kernels=6.1,6.12 file=1
# shellcheck source=selftests/vm/guest/tap.sh disable=SC1091
. /etc/vm/tap.sh
# shellcheck source=selftests/two_vm/transfer.sh disable=SC1091
. /t/transfer.sh

transfer 7471
finish
