# SPDX-License-Identifier: LGPL-2.1 OR MIT
# shellcheck shell=bash

# serve COMMAND...: a server that the other guest finds listening;
# what it said is shown, and stays in serve.out
serve() {
	"$@" >serve.out &
	server=$!
	vm-sync listening
	wait $server
	code=$?
	sed 's/^/# /' serve.out
	[ $code = 0 ]
}
