// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * parameter_server - workers write gradients into the server's memory, which
 * sleeps until all of an iteration are there.
 *
 *	parameter_server serve [--workers N] [--iterations N] [ADDRESS]
 *	parameter_server work [--late] [--die ITERATION] WORKER ADDRESS
 *
 * See Documentation/examples.rst.
 */
#include <string.h>

#include "example.h"
#include "ps.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return ps_serve(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "work"))
		return ps_work(argc - 1, argv + 1);
	die("usage: parameter_server serve|work ...");
}
