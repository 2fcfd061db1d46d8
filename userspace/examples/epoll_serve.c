// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * One thread, one epoll, many endpoints: adds up what each peer sends, and
 * tells it the sum.
 *
 *	epoll_serve [ADDR]:PORT
 *
 * A peer notifies with a number as immediate data and gets its sum so far back
 * the same way. No memory is shared: a notification need not carry any. Shows
 * how the descriptor sits beside others (here: a timer) in an epoll, and how
 * events are taken in batches.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <rnotify/rnotify.h>

#define BATCH 64

/* One connection; the cookie of its events points here. */
struct client {
	uint32_t endpoint;
	uint32_t sum;
	int owed;	/* the sum could not be told yet */
};

static uint64_t notifications;

static void client_tell(struct rnotify *rn, struct client *client)
{
	struct rnotify_op op;
	int ret;

	rnotify_prep_notify(&op, client->endpoint, client->sum, 0);
	/*
	 * Never wait here: one client that doesn't read must not hold up the
	 * others. EAGAIN is made good when its WRITABLE comes.
	 */
	ret = rnotify_post(rn, &op, 1, RNOTIFY_POST_NONBLOCK, 0);
	client->owed = ret == -EAGAIN;
}

static void on_request(struct rnotify *rn, const struct rnotify_event *e)
{
	struct client *client = calloc(1, sizeof(*client));
	const struct rnotify_endpoint_attr attr = {
		.cookie = (uintptr_t)client,
		.params.remote_regions = RNOTIFY_NO_REGIONS,
	};

	if (client)
		client->endpoint = e->endpoint;
	if (client && !rnotify_accept(rn, e->endpoint, &attr))
		return;
	free(client);
	rnotify_reject(rn, e->endpoint, NULL, 0);
}

static void on_down(struct rnotify *rn, const struct rnotify_event *e)
{
	char text[512];

	printf("endpoint %u: %s\n", e->endpoint,
	       rnotify_explain(e, text, sizeof(text)));
	rnotify_destroy(rn, e->endpoint);
	/* The last event with this cookie. Rejected ones have none. */
	free((struct client *)(uintptr_t)e->cookie);
}

static void on_event(struct rnotify *rn, const struct rnotify_event *e)
{
	struct client *client = (struct client *)(uintptr_t)e->cookie;

	switch (e->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		on_request(rn, e);
		break;
	case RNOTIFY_EVENT_NOTIFY:
		notifications++;
		client->sum += e->notify.imm;
		client_tell(rn, client);
		break;
	case RNOTIFY_EVENT_WRITABLE:
		if (client->owed)
			client_tell(rn, client);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(rn, e);
		break;
	}
}

static void take_events(struct rnotify *rn)
{
	const struct rnotify_event *events[BATCH];
	unsigned int i, n;

	while ((n = rnotify_peek_n(rn, events, BATCH))) {
		for (i = 0; i < n; i++)
			on_event(rn, events[i]);
		rnotify_release(rn, n);
	}
}

static void on_timer(int fd)
{
	uint64_t ticks;

	if (read(fd, &ticks, sizeof(ticks)) == sizeof(ticks))
		printf("%" PRIu64 " notifications so far\n", notifications);
}

static int watch(int epfd, int fd)
{
	struct epoll_event want = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &want);
}

/* Says what failed and what to do about it. */
static int failed(enum rnotify_call call, int ret)
{
	char text[512];

	if (ret < 0)
		fprintf(stderr, "%s\n", rnotify_explain_errno(NULL, call, ret, text,
							      sizeof(text)));
	return ret < 0;
}

int main(int argc, char **argv)
{
	const struct itimerspec every_10_s = { { 10, 0 }, { 10, 0 } };
	const struct rnotify_attr attr = { .ring_entries = 16384 };
	int epfd = epoll_create1(EPOLL_CLOEXEC);
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct rnotify_sockaddr addr;
	struct epoll_event ready;
	struct rnotify *rn;
	uint32_t listener;

	if (failed(RNOTIFY_CALL_RESOLVE,
		   rnotify_resolve(argc > 1 ? argv[1] : "*", 7471, &addr)) ||
	    failed(RNOTIFY_CALL_OPEN, rnotify_open(&rn, &attr)) ||
	    failed(RNOTIFY_CALL_LISTEN,
		   rnotify_listen(rn, &addr, 64, 0, &listener)))
		return 1;
	if (timerfd_settime(timer, 0, &every_10_s, NULL) ||
	    watch(epfd, timer) || watch(epfd, rnotify_fd(rn))) {
		perror("epoll_serve");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (;;) {
		if (epoll_wait(epfd, &ready, 1, -1) < 0)
			continue;
		if (ready.data.fd == timer)
			on_timer(timer);
		else
			take_events(rn);
	}
}
