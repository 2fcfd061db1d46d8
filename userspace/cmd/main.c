// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - find the subcommand.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

static const struct command *const commands[] = {
	&cmd_info, &cmd_recv, &cmd_send, &cmd_ping, &cmd_pong, &cmd_perf,
	&cmd_watch,
};

static void usage(FILE *file)
{
	size_t i;

	fputs("usage: rnotify COMMAND [options]\n\n"
	      "RDMA notification transport: write into a peer's memory and wake it.\n\n",
	      file);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(file, "  %-6s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n'rnotify COMMAND --help' tells more; see also rnotify(1).\n",
	      file);
}

static int top_option(const char *text)
{
	if (!strcmp(text, "--help") || !strcmp(text, "-h") ||
	    !strcmp(text, "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(text, "--version") || !strcmp(text, "-V") ||
	    !strcmp(text, "version")) {
		printf("rnotify %s\n", rnotify_version());
		return 0;
	}
	fprintf(stderr, "rnotify: there is no command '%s'\n", text);
	usage(stderr);
	return EXIT_USAGE;
}

/* getopt_long() begins its complaints with argv[0]. */
static int run(const struct command *command, int argc, char **argv)
{
	static char name[] = "rnotify";

	argv[0] = name;
	return command->run(argc, argv);
}

int main(int argc, char **argv)
{
	size_t i;

	if (!begin_streams())
		return EXIT_FAILED;
	/* A reader that went away is a write error, with a sentence. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i]->name))
			return end_of_output(run(commands[i], argc - 1,
						 argv + 1));
	return end_of_output(top_option(argv[1]));
}
