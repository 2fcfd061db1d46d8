// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * replicated_log - a log whose records a client writes straight into the
 * server's memory, and which is durable at the server.
 *
 *	replicated_log serve [--file FILE] [--size KIB] [--keep] [ADDRESS]
 *	replicated_log append [--records N] [--group N] [--progress FILE]
 *		[--two-messages] [--die torn|group|posted --at N] ADDRESS
 *	replicated_log check FILE N
 *
 * See Documentation/examples.rst.
 */
#include <string.h>

#include "example.h"
#include "log.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return log_serve(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "append"))
		return log_append(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "check"))
		return log_check(argc - 1, argv + 1);
	die("usage: replicated_log serve|append|check ...");
}
