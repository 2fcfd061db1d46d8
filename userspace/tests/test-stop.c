// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Being asked to stop: the first signal asks, whichever comes second kills, and what
 * was ignored stays so.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rnotify/ring.h>

#include "common.h"
#include "fake.h"
#include "stop.h"
#include "tap.h"

static bool is_default(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_DFL;
}

/* In a process of its own, which has not caught any yet: does @check hold? */
static bool child(bool (*check)(void))
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* whoever runs the tests may ignore some, as nohup does */
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		_exit(!check());
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static bool asks(void)
{
	stop_catch();
	if (stop_asked() || is_default(SIGINT) || is_default(SIGTERM))
		return false;
	raise(SIGINT);
	return stop_asked() && stop_status() == 128 + SIGINT &&
	       is_default(SIGINT) && is_default(SIGTERM) && is_default(SIGHUP);
}

static bool ignored(void)
{
	signal(SIGHUP, SIG_IGN);
	stop_catch();
	raise(SIGHUP);
	if (stop_asked())
		return false;
	raise(SIGTERM);
	return stop_asked() && !is_default(SIGHUP);
}

static struct rnotify *open_fake(void)
{
	struct rnotify *ctx = NULL;

	fake_reset();
	return rnotify_open(&ctx, NULL) ? NULL : ctx;
}

static void interrupt(void)
{
	if (!stop_asked())
		raise(SIGTERM);
}

/* Before it sleeps, and while it does; and only then. */
static bool wait_ends(void)
{
	struct rnotify *ctx = open_fake();

	stop_catch();
	if (!ctx || wait_or_stop(ctx, 0, 0) != -ETIME)
		return false;
	fake_event(RNOTIFY_EVENT_NOTIFY, 1, 1);
	if (wait_or_stop(ctx, RNOTIFY_FOREVER, 0) != 1)
		return false;
	rnotify_release(ctx, 1);
	fake.on_wait = interrupt;
	fake.error = EINTR;
	if (wait_or_stop(ctx, RNOTIFY_FOREVER, 0) != -EINTR)
		return false;
	return wait_or_stop(ctx, RNOTIFY_FOREVER, 0) == -EINTR;
}

static void first_asks(void)
{
	CHECK(child(asks));
	CHECK(child(ignored));
}

static void waits(void)
{
	CHECK(child(wait_ends));
}

int main(void)
{
	return tap_run("the first signal asks, the second kills", first_asks) |
	       tap_run("a wait ends", waits);
}
