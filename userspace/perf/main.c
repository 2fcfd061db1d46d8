// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify-perf - what `rnotify perf` runs. A program of its own, since it needs
 * the verbs libraries and liburing, which the command does not.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "options.h"
#include "report.h"
#include "session.h"

/**
 * struct place - the other end, as the client sees it
 * @control: channel to it
 * @addr: where its transports listen
 * @guarded: it is another process
 */
struct place {
	int control;
	union address addr;
	bool guarded;
};

/* ---- one case: all transports by turns ---- */

static void median_row(const struct options *opt, struct json *j,
		       struct result *runs, const struct result *first)
{
	unsigned int best = median_of(runs, (unsigned int)opt->repeat), i;

	if (!opt->json)
		report_row(&runs[best], first);
	for (i = 0; opt->json && i < opt->repeat; i++)
		report_json(j, &runs[i], i == best);
}

static void report_case(const struct options *opt, struct json *j,
			struct result *runs, const bool *can)
{
	const struct result *first = NULL;
	struct result *mine;
	unsigned int i;

	for (i = 0; i < opt->nr_transports; i++) {
		if (!can[i])
			continue;
		mine = runs + i * opt->repeat;
		median_row(opt, j, mine, first);
		if (!i)
			first = &mine[median_of(mine, (unsigned int)
						opt->repeat)];
	}
}

static int run_case(const struct options *opt, const struct place *place,
		    struct json *j, struct run *run)
{
	bool can[TRANSPORTS_MAX];
	struct result *runs;
	unsigned int i, k;
	int ret = 0;

	runs = calloc(opt->nr_transports * opt->repeat, sizeof(*runs));
	if (!runs)
		return fail("no memory");
	for (k = 0; k < opt->repeat && !ret; k++) {
		for (i = 0; i < opt->nr_transports && !ret; i++) {
			can[i] = opt->transports[i]->waits &
				WAIT_BIT(run->wait);
			if (!can[i])
				continue;
			snprintf(run->transport, sizeof(run->transport), "%s",
				 opt->transports[i]->name);
			ret = session_run(place->control, run, &place->addr,
					  &runs[i * opt->repeat + k],
					  place->guarded);
		}
	}
	if (!ret)
		report_case(opt, j, runs, can);
	for (i = 0; i < opt->nr_transports * opt->repeat; i++)
		result_free(&runs[i]);
	free(runs);
	return ret;
}

/* ---- all cases ---- */

static void common_part(const struct options *opt, struct run *run)
{
	*run = (struct run){
		.mode = opt->mode,
		.window = opt->window,
		.spin_us = opt->spin_us,
		.inline_max = opt->inline_max,
		.check = opt->check,
		.warmup = opt->warmup,
		.iterations = opt->iterations,
	};
}

/* With check, what is being looked at must not be overwritten meanwhile. */
static void limit_window(struct run *run)
{
	if (run->check && slots_of(run) < 2 * run->window)
		run->window = slots_of(run) / 2 ? slots_of(run) / 2 : 1;
}

/* The sizes change fastest. */
static void nth_case(const struct options *opt, unsigned int n, struct run *run)
{
	common_part(opt, run);
	run->size = opt->sizes.value[n % opt->sizes.nr];
	n /= opt->sizes.nr;
	run->batch = opt->batches.value[n % opt->batches.nr];
	n /= opt->batches.nr;
	run->wait = opt->waits.value[n % opt->waits.nr];
	n /= opt->waits.nr;
	run->endpoints = opt->endpoints.value[n];
	limit_window(run);
}

static int run_cases(const struct options *opt, const struct place *place,
		     struct json *j)
{
	unsigned int n, all = opt->sizes.nr * opt->batches.nr * opt->waits.nr *
		opt->endpoints.nr;
	struct run run;

	for (n = 0; n < all; n++) {
		nth_case(opt, n, &run);
		if (run_case(opt, place, j, &run))
			return EXIT_FAILED;
	}
	return 0;
}

static int client(const struct options *opt, const struct place *place)
{
	struct json j;
	int ret;

	if (control_greet(place->control))
		return EXIT_FAILED;
	if (!opt->json) {
		report_head(opt->mode);
		return run_cases(opt, place, NULL);
	}
	json_begin(&j, stdout);
	json_open(&j, "runs", '[');
	ret = run_cases(opt, place, &j);
	json_close(&j, ']');
	json_finish(&j);
	return ret;
}

/* ---- both ends here ---- */

static int serve_place(const struct place *place)
{
	return control_greet(place->control) ? EXIT_FAILED :
		session_serve(place->control, &place->addr, place->guarded);
}

/* If one end of two threads fails, there is nothing to go on with. */
static void *serve_thread(void *arg)
{
	if (serve_place(arg))
		_exit(EXIT_FAILED);
	return NULL;
}

static int with_thread(const struct options *opt, struct place *mine,
		       struct place *theirs)
{
	pthread_t thread;
	int ret;

	if (pthread_create(&thread, NULL, serve_thread, theirs))
		return fail("no thread");
	ret = client(opt, mine);
	if (ret)
		_exit(ret);
	close(mine->control);
	pthread_join(thread, NULL);
	return 0;
}

static int with_process(const struct options *opt, struct place *mine,
			struct place *theirs)
{
	int ret, status;
	pid_t pid = fork();

	if (pid < 0)
		return fail("fork: %s", strerror(errno));
	mine->guarded = theirs->guarded = true;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(mine->control);
		_exit(serve_place(theirs));
	}
	close(theirs->control);
	ret = client(opt, mine);
	close(mine->control);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ret;
}

static int both_here(const struct options *opt)
{
	struct place mine = { 0 }, theirs;
	int pair[2], status;

	status = opt->local ? address_of(opt->local, &mine.addr) :
			      address_of_device(&mine.addr);
	if (status)
		return status;
	theirs = mine;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fail("socketpair: %s", strerror(errno));
	mine.control = pair[0];
	theirs.control = pair[1];
	return opt->threads ? with_thread(opt, &mine, &theirs) :
		with_process(opt, &mine, &theirs);
}

/* ---- two machines ---- */

static int with_server(const struct options *opt)
{
	struct place place = { .guarded = true };
	int status = address_of(opt->where, &place.addr);

	if (status)
		return status;
	place.control = control_connect(&place.addr);
	return place.control < 0 ? EXIT_FAILED : client(opt, &place);
}

static int serve_client(int fd)
{
	struct place place = { .control = fd, .guarded = true };
	socklen_t len = sizeof(place.addr);

	/* Where this client has found us, its transports will, too. */
	if (getsockname(fd, &place.addr.sa, &len))
		return fail("getsockname: %s", strerror(errno));
	return serve_place(&place);
}

static int serve(const struct options *opt)
{
	union address addr;
	int listener, fd, status;
	pid_t pid;

	status = address_of(opt->where ? opt->where : "*", &addr);
	if (status)
		return status;
	listener = control_listen(&addr);
	if (listener < 0)
		return EXIT_FAILED;
	for (;;) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			return fail("accept: %s", strerror(errno));
		if (opt->once)
			return serve_client(fd);
		/* A client that fails takes only its own process along. */
		pid = fork();
		if (!pid) {
			/* A client that is half connected must not keep it. */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(listener);
			_exit(serve_client(fd));
		}
		if (pid < 0)
			fail("fork: %s", strerror(errno));
		close(fd);
	}
}

int main(int argc, char **argv)
{
	struct options opt;
	int status;

	if (!begin_streams())
		return EXIT_FAILED;
	signal(SIGPIPE, SIG_IGN);
	if (options_parse(argc, argv, &opt, &status))
		return end_of_output(status);
	if (opt.server) {
		signal(SIGCHLD, SIG_IGN);
		return serve(&opt);
	}
	return end_of_output(opt.where ? with_server(&opt) : both_here(&opt));
}
