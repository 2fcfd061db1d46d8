// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify recv - command line and main loop of the receiving side.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common.h"
#include "dial.h"
#include "incoming.h"
#include "stop.h"

#define DEFAULT_WINDOW	(4u << 20)
#define DEFAULT_BLOCK	(256u << 10)
/* SLOTS_MAX receives and the little that an endpoint and the backlog need */
#define RING_ENTRIES	2048

static const char usage[] =
"rnotify recv [options]\n"
"\n"
"Waits for 'rnotify send', receives one file and exits. The sender writes into\n"
"this process's memory; this process sleeps until it is notified.\n"
"\n"
"  -l, --listen [ADDR]:PORT  where to listen (default: *:7471, any IPv4 address)\n"
"  -o, --out FILE|-          where to put the file; - is standard output. It is\n"
"                            FILE.part until it is complete and verified.\n"
"                            Default: only verify it\n"
"      --once                one file, then exit (the default)\n"
"  -k, --keep                go on after each file; it replaces the one before\n"
"  -w, --window SIZE         memory for blocks under way (default: 4M)\n"
"  -b, --block SIZE          bytes per block, if the sender has no wish\n"
"                            (default: 256K, or a quarter of the window)\n"
"      --json                figures as JSON\n"
"  -q, --quiet               no progress, no remarks\n"
"  -h, --help                this text\n"
"  -V, --version             version of the command\n"
"\n"
"The figures at the end go to standard output; with --out -, to standard error.\n"
"'wakeups' is how often this process had to be woken for 'notifications'.\n";

struct recv_options {
	const char *listen;
	const char *out;
	uint64_t window;
	uint64_t block;
	bool keep;
	bool json;
	bool quiet;
};

static bool size_option(int c, struct recv_options *opt, int *status)
{
	uint64_t max = c == 'w' ? WINDOW_MAX : BLOCK_MAX;

	if (parse_size(optarg, 1, max, c == 'w' ? &opt->window : &opt->block))
		return true;
	*status = bad_value(usage, c == 'w' ? "window" : "block", optarg,
			    c == 'w' ? "a size from 1 to 1G" :
			    "a size from 1 to 64M");
	return false;
}

static int parse(int argc, char **argv, struct recv_options *opt, int *status)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "out", required_argument, NULL, 'o' },
		{ "once", no_argument, NULL, '1' },
		{ "keep", no_argument, NULL, 'k' },
		{ "window", required_argument, NULL, 'w' },
		{ "block", required_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		COMMON_OPTIONS,
		{ 0 }
	};
	int c;

	while ((c = next_option(argc, argv, "l:o:kw:b:qhV", options, usage,
				status)) >= 0) {
		if (c == 'l')
			opt->listen = optarg;
		else if (c == 'o')
			opt->out = optarg;
		else if ((c == 'w' || c == 'b') && !size_option(c, opt, status))
			return -2;
		opt->keep = c == 'k' || (opt->keep && c != '1');
		opt->json |= c == 'j';
		opt->quiet |= c == 'q';
	}
	if (opt->out && !*opt->out) {
		*status = bad_usage(usage, "--out: the file needs a name");
		return -2;
	}
	if (c == -1 && optind != argc) {
		*status = bad_usage(usage, "recv takes options only");
		return -2;
	}
	return c == -2 ? -2 : 0;
}

static bool choose_sizes(struct recv_options *opt, int *status)
{
	if (!opt->window)
		opt->window = opt->block > DEFAULT_WINDOW / 4 ?
			4 * opt->block : DEFAULT_WINDOW;
	if (!opt->block)
		opt->block = opt->window / 4 < DEFAULT_BLOCK ?
			opt->window / 4 : DEFAULT_BLOCK;
	if (!opt->block)
		opt->block = opt->window;
	if (opt->block <= opt->window)
		return true;
	*status = bad_usage(usage, "the window must hold a block at least");
	return false;
}

/* One transfer is over: an exit status. */
static int conclude(const struct recv_options *opt, struct incoming *in)
{
	bool to_stdout = opt->out && !strcmp(opt->out, "-");

	if (!in->complete)
		return EXIT_FAILED;
	stats_print(&in->stats, to_stdout ? stderr : stdout, opt->json);
	return 0;
}

/* One event. True: a transfer is over, or *status says that everything is. */
static bool event_take(const struct recv_options *opt, struct incoming *in,
		       const struct rnotify_event *event, int *status)
{
	if (event->type == RNOTIFY_EVENT_CONNECT_REQUEST) {
		incoming_request(in, event, (uint32_t)opt->block);
	} else if (event->type == RNOTIFY_EVENT_LISTENER_DOWN) {
		*status = fail_event(event, opt->listen);
		return true;
	} else if (event->endpoint == in->endpoint) {
		return incoming_event(in, event);
	} else if (event->type == RNOTIFY_EVENT_DISCONNECTED) {
		incoming_other_down(in, event->endpoint);
	}
	return false;
}

/* A FIFO waits for its reader, and a signal ends that. An exit status. */
static int open_out(const struct recv_options *opt, struct incoming *in)
{
	if (output_open(&in->out, opt->out))
		return 0;
	return stop_asked() ? stop_status() : EXIT_FAILED;
}

/* What is in the ring. True: time to exit, with *status. */
static bool events_take(const struct recv_options *opt, struct incoming *in,
			int *status)
{
	const struct rnotify_event *event;
	bool over = false;

	while (!over && !stop_asked() && (event = rnotify_peek(in->ctx))) {
		over = event_take(opt, in, event, status);
		rnotify_release(in->ctx, 1);
	}
	if (!over || *status)
		return over;
	*status = conclude(opt, in);
	if (!opt->keep)
		return true;
	*status = open_out(opt, in);
	if (!*status)
		incoming_next(in, (uint32_t)opt->block);
	return *status != 0;
}

/*
 * Sleeps until there is something in the ring, progress to show, or a signal to
 * stop.
 */
static int serve(const struct recv_options *opt, struct incoming *in, int epfd)
{
	struct epoll_event ready;
	int n, ms, status = 0;

	for (;;) {
		ms = in->state == INCOMING_RUNNING ?
			stats_poll_ms(&in->stats) : -1;
		n = epoll_wait(epfd, &ready, 1, ms);
		if (n < 0 && errno != EINTR)
			return fail("epoll_wait: %s", strerror(errno));
		if (stop_asked()) {
			incoming_stop(in);
			return stop_status();
		}
		if (n > 0 && in->state == INCOMING_RUNNING)
			in->stats.wakeups++;
		if (events_take(opt, in, &status))
			return status;
		if (in->state == INCOMING_RUNNING)
			stats_progress(&in->stats);
	}
}

static int watch(int epfd, int fd)
{
	struct epoll_event want = { .events = EPOLLIN };

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &want);
}

static int serve_epoll(const struct recv_options *opt, struct incoming *in)
{
	int epfd, status;

	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0)
		return fail("epoll_create1: %s", strerror(errno));
	if (watch(epfd, rnotify_fd(in->ctx)) || watch(epfd, stop_catch()))
		status = fail("epoll_ctl: %s", strerror(errno));
	else
		status = serve(opt, in, epfd);
	close(epfd);
	return status;
}

static int receive(const struct recv_options *opt, struct incoming *in)
{
	uint32_t listener;
	int ret;

	ret = rnotify_alloc(in->ctx, opt->window + TRAILER_SIZE, &in->window);
	if (ret)
		return fail_call(in->ctx, RNOTIFY_CALL_REGISTER, ret, NULL);
	ret = listen_at(in->ctx, opt->listen, opt->quiet, &listener);
	if (ret)
		return ret;
	return serve_epoll(opt, in);
}

static int run(int argc, char **argv)
{
	const struct rnotify_attr attr = { .ring_entries = RING_ENTRIES };
	struct recv_options opt = { .listen = "*" };
	struct incoming in = { 0 };
	int ret, status = 0;

	if (parse(argc, argv, &opt, &status) || !choose_sizes(&opt, &status))
		return status;
	in.quiet = opt.quiet;
	ret = rnotify_open(&in.ctx, &attr);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	stop_catch();
	status = open_out(&opt, &in);
	if (!status)
		status = receive(&opt, &in);
	output_discard(&in.out);
	rnotify_close(in.ctx);
	return status;
}

const struct command cmd_recv = {
	"recv", "receive a file that 'rnotify send' writes into memory", run
};
