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

static volatile sig_atomic_t signal_number;
static int stop_fd = -1;

/* A signal between a look at the flag and a poll() must not be lost: hence fd. */
static void on_signal(int sig)
{
	const uint64_t one = 1;
	int saved = errno;

	signal_number = sig;
	if (write(stop_fd, &one, sizeof(one)) < 0) {
		/* Can't be, and there is nobody to tell. */
	}
	errno = saved;
}

/* What is ignored (nohup, background jobs) stays so. */
static void catch_signal(int sig)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = SA_RESETHAND,
	};
	struct sigaction old;

	if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(sig, &action, NULL);
}

int stop_catch(void)
{
	if (stop_fd < 0) {
		stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		catch_signal(SIGINT);
		catch_signal(SIGTERM);
		catch_signal(SIGHUP);
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
