// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - waiting for events. Steps A to H: see <linux/rnotify_event.h>.
 */
#include <errno.h>
#include <time.h>

#include "internal.h"

#define NS_PER_S	1000000000ll
#define NS_PER_MS	1000000ll

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t rnotify_deadline(int timeout_ms)
{
	if (timeout_ms < 0)
		return RNOTIFY_FOREVER;
	if (!timeout_ms)
		return 0;
	return now_ns() + timeout_ms * NS_PER_MS;
}

static int wait_flags(struct rnotify *ctx, unsigned int min_events,
		      int64_t deadline, uint64_t spin_ns, uint32_t flags)
{
	struct rnotify_wait arg = {
		.size = sizeof(arg),
		.flags = flags,
		.min_events = min_events ? min_events : 1,
		.timeout_ns = deadline,
		.spin_ns = spin_ns,
	};
	uint32_t ready;
	int ret;

	ready = rnotify_ready(ctx);
	if (ready >= arg.min_events)
		return (int)ready;
	/* Before it sleeps, the system call does what is left of G. */
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_WAIT, &arg);
	/* Not arg.nr_events: the caller goes on to D, and that takes a C. */
	return ret ? ret : (int)rnotify_ready(ctx);
}

int rnotify_wait(struct rnotify *ctx, unsigned int min_events, int64_t deadline,
		 uint64_t spin_ns)
{
	return wait_flags(ctx, min_events, deadline, spin_ns, 0);
}

int rnotify_next(struct rnotify *ctx, struct rnotify_event *event,
		 int64_t deadline)
{
	const struct rnotify_event *first;
	int ret;

	while (!(first = rnotify_peek(ctx))) {
		ret = rnotify_wait(ctx, 1, deadline, 0);
		if (ret < 0)
			return ret;
	}
	*event = *first;
	rnotify_release(ctx, 1);
	return 0;
}

static int event_matches(const struct rnotify_event *event, uint32_t endpoint,
			 uint32_t types)
{
	/* A LISTENER_DOWN names a listener, but ids are unique over all types. */
	return event->endpoint == endpoint && event->type < 32 &&
	       types & RNOTIFY_TYPE_BIT(event->type);
}

int rnotify_find(struct rnotify *ctx, uint32_t endpoint, uint32_t types,
		 int64_t deadline, const struct rnotify_event **found)
{
	const uint32_t down = RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_DISCONNECTED) |
			      RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_LISTENER_DOWN);
	struct rnotify_ring *ring = rnotify_ring_of(ctx);
	const struct rnotify_event *event;
	uint32_t seen = 0;
	int ret;

	*found = NULL;
	while (seen <= ring->mask) {
		/* Nothing is consumed meanwhile, so that seen keeps its place. */
		ret = wait_flags(ctx, seen + 1, deadline, 0,
				 RNOTIFY_WAIT_COUNT);
		if (ret < 0)
			return ret;
		event = &ring->entries[(ring->cons + seen++) & ring->mask];
		if (!event_matches(event, endpoint, types | down))
			continue;
		*found = event;
		return types & RNOTIFY_TYPE_BIT(event->type) ? 0 : -ENOTCONN;
	}
	return -ENOBUFS;
}

int rnotify_connect_wait(struct rnotify *ctx,
			 const struct rnotify_sockaddr *dst,
			 const struct rnotify_endpoint_attr *attr,
			 int64_t deadline, uint32_t *endpoint)
{
	const struct rnotify_event *event;
	int ret;

	ret = rnotify_connect(ctx, dst, attr, endpoint);
	if (ret)
		return ret;
	ret = rnotify_find(ctx, *endpoint,
			   RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_ESTABLISHED),
			   deadline, &event);
	if (ret == -ENOTCONN && event->down.error < 0)
		ret = event->down.error;
	return ret;
}

void rnotify_kick(struct rnotify *ctx)
{
	struct rnotify_kick arg = { .size = sizeof(arg) };

	/*
	 * Nothing to do about a failure: without a device there is no peer that
	 * waits, and the kernel looks at the tail page by itself now and then.
	 */
	rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_KICK, &arg);
}

int rnotify_eventfd(struct rnotify *ctx, uint32_t endpoint, int fd)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg),
		.fd = fd,
		.endpoint_id = endpoint,
	};

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_EVENTFD, &arg);
}

int rnotify_moderate(struct rnotify *ctx, unsigned int min_events,
		     uint64_t max_delay_ns)
{
	struct rnotify_moderate arg = {
		.size = sizeof(arg),
		.min_events = min_events,
		.max_delay_ns = max_delay_ns,
	};

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_MODERATE, &arg);
}
