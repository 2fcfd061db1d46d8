// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - run rnotify-perf, a program of its own: it needs the verbs
 * libraries and liburing, to compare with what can be done without rnotify.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

#define PROGRAM "rnotify-perf"

/* The one that was built or installed together with this command, if any. */
static void exec_beside(char **argv)
{
	char path[PATH_MAX + sizeof(PROGRAM)];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	strcpy(slash + 1, PROGRAM);
	execv(path, argv);
}

static int run(int argc, char **argv)
{
	(void)argc;
	/* It ignores SIGPIPE as well; what it calls itself is what it is. */
	argv[0] = (char[]){ PROGRAM };
	exec_beside(argv);
	execvp(PROGRAM, argv);
	if (errno == ENOENT)
		return fail("perf needs the program " PROGRAM ", which is not installed: build rnotify with libibverbs-dev, librdmacm-dev and liburing-dev, or install the package that has it");
	return fail(PROGRAM ": %s", strerror(errno));
}

const struct command cmd_perf = {
	"perf", "measure latency and rate, and compare with others", run
};
