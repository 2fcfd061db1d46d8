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

/* What is ignored (nohup, background jobs) stays so. */
static void handle(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	struct sigaction old;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

/* A signal between a look at the flag and a poll() must not be lost: hence fd. */
static void on_signal(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	signal_number = sig;
	/* The second one kills, whichever it is. */
	handle(SIG_DFL);
	if (write(stop_fd, &one, sizeof(one)) < 0) {
		/* Can't be, and there is nobody to tell. */
	}
	errno = saved;
}

int stop_catch(void)
{
	if (stop_fd < 0) {
		stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		handle(on_signal);
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
