// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - connections of librnotify.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ours.h"

/* Requests under way at one time, so that a listener's backlog suffices. */
#define CONNECTING 64u
#define SEND_DEPTH 64u

static uint32_t send_depth(const struct run *run)
{
	return run->window > SEND_DEPTH ? run->window : SEND_DEPTH;
}

static struct rnotify_params params_of(const struct run *run)
{
	return (struct rnotify_params){
		.recv_depth = run->window,
		.send_depth = send_depth(run),
		.remote_regions = 1,
	};
}

/* What endpoints and a listener reserve, see struct rnotify_params. */
static uint32_t ring_entries(const struct run *run)
{
	return run->endpoints * (run->window + send_depth(run) + 2 + 3) +
		2 * CONNECTING + 1;
}

size_t ours_slot_offset(const struct run *run, bool incoming, uint32_t ep,
			uint32_t slot)
{
	size_t whole = slots_bytes(run);

	return ((incoming ? run->endpoints : 0) + (size_t)ep) * whole +
		(size_t)slot * run->size;
}

static int open_context(struct ours *o)
{
	const struct run *run = o->link.run;
	struct rnotify_attr attr = { .ring_entries = ring_entries(run) };
	int ret = rnotify_open(&o->ctx, &attr);

	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	ret = rnotify_alloc(o->ctx, 2 * run->endpoints * slots_bytes(run),
			    &o->region);
	if (ret)
		return fail_call(o->ctx, RNOTIFY_CALL_REGISTER, ret, NULL);
	o->eps = calloc(run->endpoints, sizeof(*o->eps));
	o->ops = calloc(run->batch, sizeof(*o->ops));
	o->stash = calloc((size_t)run->endpoints * run->window,
			  sizeof(*o->stash));
	if (!o->eps || !o->ops || !o->stash)
		return fail("no memory");
	return ours_wait_open(o);
}

struct link *ours_open(const struct run *run, bool server)
{
	struct ours *o = calloc(1, sizeof(*o));

	(void)server;
	if (!o) {
		fail("no memory");
		return NULL;
	}
	o->link = (struct link){ .ops = &ours, .run = run };
	o->fd = -1;
	if (!open_context(o))
		return &o->link;
	ours_close(&o->link);
	return NULL;
}

void ours_close(struct link *link)
{
	struct ours *o = ours_of(link);

	ours_wait_close(o);
	rnotify_close(o->ctx);
	free(o->eps);
	free(o->ops);
	free(o->stash);
	free(o);
}

/* ---- connecting ---- */

static int share_slots(struct ours *o, uint32_t ep)
{
	const struct run *run = o->link.run;
	int ret = rnotify_share(o->ctx, o->eps[ep].id, o->region,
				ours_slot_offset(run, true, ep, 0),
				slots_bytes(run), RNOTIFY_RIGHT_WRITE, 0, NULL);

	return ret ? fail_call(o->ctx, RNOTIFY_CALL_SHARE, ret, NULL) : 0;
}

static int accept_one(struct ours *o, const struct rnotify_event *event)
{
	struct rnotify_endpoint_attr attr = {
		.params = params_of(o->link.run),
	};
	uint32_t ep;
	int ret;

	/* Both ends call an endpoint by the same number. */
	memcpy(&ep, event->request.private_data, sizeof(ep));
	if (event->request.private_len < sizeof(ep) ||
	    ep >= o->link.run->endpoints)
		return fail("a connection request from somebody else");
	o->eps[ep].id = event->endpoint;
	attr.cookie = ep;
	ret = rnotify_accept(o->ctx, event->endpoint, &attr);
	return ret ? fail_call(o->ctx, RNOTIFY_CALL_ACCEPT, ret, NULL) : 0;
}

/* One event; @ready counts endpoints that can be used. */
static int set_up(struct ours *o, uint32_t *ready)
{
	struct rnotify_event event;
	int ret;

	do {
		ret = rnotify_next(o->ctx, &event, RNOTIFY_FOREVER);
	} while (ret == -EINTR);
	if (ret)
		return fail("waiting: %s", strerror(-ret));
	switch (event.type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		return accept_one(o, &event);
	case RNOTIFY_EVENT_ESTABLISHED:
		return share_slots(o, (uint32_t)event.cookie);
	case RNOTIFY_EVENT_REMOTE_REGION:
		o->eps[event.cookie].remote = event.region.remote_id;
		++*ready;
		return 0;
	case RNOTIFY_EVENT_DISCONNECTED:
		return fail_event(&event, "rnotify");
	}
	return 0;
}

int ours_listen(struct link *link, union address *addr)
{
	struct ours *o = ours_of(link);
	struct rnotify_sockaddr at;
	uint32_t listener;
	int ret;

	rnotify_sockaddr_from(&addr->sa, address_len(addr), &at);
	ret = rnotify_listen(o->ctx, &at, CONNECTING, 0, &listener);
	if (ret)
		return fail_call(o->ctx, RNOTIFY_CALL_LISTEN, ret, NULL);
	address_set_port(addr, at.port);
	return 0;
}

int ours_accept(struct link *link)
{
	uint32_t ready = 0;

	while (ready < link->run->endpoints)
		if (set_up(ours_of(link), &ready))
			return EXIT_FAILED;
	return 0;
}

static int start_one(struct ours *o, const struct rnotify_sockaddr *to,
		     uint32_t ep)
{
	struct rnotify_endpoint_attr attr = {
		.params = params_of(o->link.run),
		.cookie = ep,
		.private_data = &ep,
		.private_len = sizeof(ep),
	};
	int ret = rnotify_connect(o->ctx, to, &attr, &o->eps[ep].id);

	return ret ? fail_call(o->ctx, RNOTIFY_CALL_CONNECT, ret, NULL) : 0;
}

int ours_connect(struct link *link, const union address *addr)
{
	struct ours *o = ours_of(link);
	uint32_t started = 0, ready = 0;
	struct rnotify_sockaddr to;

	rnotify_sockaddr_from(&addr->sa, address_len(addr), &to);
	while (ready < link->run->endpoints) {
		if (started < link->run->endpoints &&
		    started - ready < CONNECTING) {
			if (start_one(o, &to, started++))
				return EXIT_FAILED;
		} else if (set_up(o, &ready)) {
			return EXIT_FAILED;
		}
	}
	return 0;
}
