// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - being asked to stop.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common.h"
#include "stop.h"

/* A signal just before a wait for events is seen after so long. */
#define SLICE_MS 500

static volatile sig_atomic_t signal_number;
static int stop_fd = -1;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

/* The second one kills, whichever it is. What was ignored is no concern of ours. */
static void let_go(void)
{
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			signal(signals[i], SIG_DFL);
	}
}

/* A signal between a look at the flag and a poll() must not be lost: hence fd. */
static void on_signal(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	signal_number = sig;
	let_go();
	if (write(stop_fd, &one, sizeof(one)) < 0) {
		/* Can't be, and there is nobody to tell. */
	}
	errno = saved;
}

/* What is ignored (nohup, background jobs) stays so. */
static void catch_signal(int sig)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction old;

	if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(sig, &action, NULL);
}

int stop_catch(void)
{
	size_t i;

	if (stop_fd < 0) {
		stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		for (i = 0; i < ARRAY_SIZE(signals); i++)
			catch_signal(signals[i]);
	}
	return stop_fd;
}

bool stop_asked(void)
{
	return signal_number;
}

int stop_status(void)
{
	return 128 + signal_number;
}

int wait_or_stop(struct rnotify *ctx, int64_t deadline, uint64_t spin_ns)
{
	int ret;

	for (;;) {
		int64_t slice = rnotify_deadline(SLICE_MS);

		if (stop_asked())
			return -EINTR;
		if (deadline >= 0 && deadline < slice)
			slice = deadline;
		ret = rnotify_wait(ctx, 1, slice, spin_ns);
		if (ret >= 0 || (ret != -EINTR && ret != -ETIME) ||
		    (ret == -ETIME && slice == deadline))
			return ret;
	}
}
