// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify pong - answer 'rnotify ping', any number of peers at a time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "dial.h"
#include "pong.h"
#include "stop.h"

#define RING_ENTRIES	4096
#define DEPTH		4	/* a peer has one ping under way */
#define PIECES		64	/* work requests of an answer from scattered memory */

static const char usage[] =
"rnotify pong [-q] [[ADDR]:PORT]\n"
"\n"
"Answers 'rnotify ping', any number of peers at a time, until it is killed. It\n"
"sleeps while it waits.\n"
"\n"
"  -q, --quiet     no remarks\n"
"  -h, --help      this text\n"
"  -V, --version   version of the command\n"
"\n"
"The default is *:7471, any IPv4 address.\n";

/**
 * struct peer - one that pings; the cookie of its endpoint points here
 * @region: what it writes to, and what it is answered from
 * @endpoint: connection
 * @remote: its region, 0 if not known yet
 * @size: bytes of a ping
 * @next: in @peers
 * @link: what points here
 */
struct peer {
	struct rnotify_region *region;
	uint32_t endpoint;
	uint32_t remote;
	uint32_t size;
	struct peer *next;
	struct peer **link;
};

static struct peer *peers;

static struct peer *to_peer(const struct rnotify_event *event)
{
	return (struct peer *)(uintptr_t)event->cookie;
}

static void peer_free(struct peer *peer)
{
	*peer->link = peer->next;
	if (peer->next)
		peer->next->link = peer->link;
	rnotify_deregister(peer->region);
	free(peer);
}

static struct peer *peer_new(struct rnotify *ctx, uint32_t endpoint,
			     uint32_t size)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->endpoint = endpoint;
	peer->size = size;
	if (rnotify_alloc(ctx, size ? size : 1, &peer->region)) {
		free(peer);
		return NULL;
	}
	peer->next = peers;
	peer->link = &peers;
	if (peers)
		peers->link = &peer->next;
	peers = peer;
	return peer;
}

static void on_request(struct rnotify *ctx, const struct rnotify_event *event)
{
	const struct rnotify_params params = {
		.recv_depth = DEPTH,
		.send_depth = PIECES,
		.remote_regions = 1,
	};
	unsigned int status = STATUS_OK;
	struct peer *peer = NULL;
	struct hello hello;

	if (!hello_decode(&hello, event->request.private_data,
			  event->request.private_len) ||
	    hello.kind != HELLO_PING)
		status = STATUS_FOREIGN;
	else if (hello.block > PING_MAX)
		status = STATUS_TOO_LARGE;
	else
		peer = peer_new(ctx, event->endpoint, hello.block);
	hello.slots = 1;
	if (peer && !answer_yes(ctx, event->endpoint, &hello, &params,
				(uintptr_t)peer))
		return;
	if (peer)
		peer_free(peer);
	answer_no(ctx, event->endpoint, status ? status : STATUS_NO_MEMORY);
}

static void on_established(struct rnotify *ctx, struct peer *peer)
{
	int ret;

	if (!peer->size)
		return;
	ret = rnotify_share(ctx, peer->endpoint, peer->region, 0, 0,
			    RNOTIFY_RIGHT_WRITE, 0, NULL);
	if (ret && !is_over(ret)) {
		fail_call(ctx, RNOTIFY_CALL_SHARE, ret, NULL);
		rnotify_disconnect(ctx, peer->endpoint);
	}
}

static void on_ping(struct rnotify *ctx, struct peer *peer,
		    const struct rnotify_event_notify *ping)
{
	struct rnotify_op op;

	if (ping->byte_len)
		rnotify_prep_write_imm(&op, peer->endpoint, peer->region, 0,
				       peer->remote, 0, ping->byte_len,
				       ping->imm, 0);
	else
		rnotify_prep_notify(&op, peer->endpoint, ping->imm, 0);
	/*
	 * A peer that waits for each answer leaves us room. One that doesn't
	 * can't be answered without holding up the others.
	 */
	if (rnotify_post(ctx, &op, 1, RNOTIFY_POST_NONBLOCK, 0) != 1)
		rnotify_disconnect(ctx, peer->endpoint);
}

static void on_down(struct rnotify *ctx, const struct rnotify_event *event,
		    bool quiet)
{
	char name[RNOTIFY_ADDR_STRLEN];

	if (!quiet && event->down.stage == RNOTIFY_STAGE_ESTABLISHED)
		fprintf(stderr, "%s: %llu pings, %s\n",
			peer_name(ctx, event->endpoint, name, sizeof(name)),
			(unsigned long long)event->down.delivered,
			rnotify_reason_str(event->down.reason));
	rnotify_destroy(ctx, event->endpoint);
	/* A request that was turned down has no peer. */
	if (to_peer(event))
		peer_free(to_peer(event));
}

static void on_event(struct rnotify *ctx, const struct rnotify_event *event,
		     bool quiet)
{
	switch (event->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		on_request(ctx, event);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		on_established(ctx, to_peer(event));
		break;
	case RNOTIFY_EVENT_REMOTE_REGION:
		to_peer(event)->remote = event->region.remote_id;
		break;
	case RNOTIFY_EVENT_NOTIFY:
		on_ping(ctx, to_peer(event), &event->notify);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(ctx, event, quiet);
		break;
	}
}

static void pong_sleep(struct rnotify *ctx)
{
	struct pollfd fds[2] = {
		{ .fd = rnotify_fd(ctx), .events = POLLIN },
		{ .fd = stop_catch(), .events = POLLIN },
	};

	poll(fds, ARRAY_SIZE(fds), -1);
}

/* All close at the same time; then each is waited for. */
static void goodbye(struct rnotify *ctx)
{
	struct peer *peer;

	for (peer = peers; peer; peer = peer->next)
		rnotify_disconnect(ctx, peer->endpoint);
	while (peers) {
		rnotify_destroy(ctx, peers->endpoint);
		peer_free(peers);
	}
}

int pong_serve(const char *where, bool quiet)
{
	const struct rnotify_attr attr = { .ring_entries = RING_ENTRIES };
	struct rnotify_event event;
	struct rnotify *ctx;
	uint32_t listener;
	int ret;

	ret = rnotify_open(&ctx, &attr);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	stop_catch();
	ret = listen_at(ctx, where, quiet, &listener);
	while (!ret && !stop_asked()) {
		pong_sleep(ctx);
		while (!ret && !stop_asked() &&
		       !rnotify_next(ctx, &event, 0)) {
			if (event.type == RNOTIFY_EVENT_LISTENER_DOWN)
				ret = fail_event(&event, where);
			else
				on_event(ctx, &event, quiet);
		}
	}
	if (stop_asked()) {
		goodbye(ctx);
		ret = stop_status();
	}
	rnotify_close(ctx);
	return ret;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' },
		COMMON_OPTIONS,
		{ 0 }
	};
	bool quiet = false;
	int c, status = 0;

	while ((c = next_option(argc, argv, "qhV", options, usage, &status)) >= 0)
		quiet |= c == 'q';
	if (c == -2)
		return status;
	if (argc - optind > 1)
		return bad_usage(usage, "pong takes one address");
	return pong_serve(optind < argc ? argv[optind] : "*", quiet);
}

const struct command cmd_pong = {
	"pong", "answer 'rnotify ping'", run
};
