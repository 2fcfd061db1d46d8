# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=bash
#
# Where the fetched and slowly built things live, outside the source tree.
# Sourced by setup and debug-kernel.
cache=${RNOTIFY_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rnotify}
mkdir -p "$cache"
cache=$(readlink -f "$cache")

say() {
	echo "setup: $*" >&2
}

die() {
	echo "setup: $*" >&2
	exit 1
}
