// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The larger examples - complaints and connections; see example.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "example.h"

#define PATIENCE_MS	10000
#define PAUSE_NS	50000000	/* before asking again */

void die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void check(int err, const char *what)
{
	if (err < 0)
		die("%s: %s", what, strerror(-err));
}

void check_peer(int err, const char *what)
{
	/* the last: the device that led to it was removed */
	if (err != -ENOTCONN && err != -ESHUTDOWN && err != -ENODEV)
		check(err, what);
}

void die_of(const struct rnotify_event *down, const char *who)
{
	char text[512];

	die("%s: %s", who, rnotify_explain(down, text, sizeof(text)));
}

int64_t patience(void)
{
	const char *slow = getenv("RNOTIFY_SLOW");
	double factor = slow ? atof(slow) : 1;

	return rnotify_deadline((int)(PATIENCE_MS * (factor < 1 ? 1 : factor)));
}

uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end == text || *end || n < min || n > max)
		die("'%s' is not a number between %llu and %llu", text,
		    (unsigned long long)min, (unsigned long long)max);
	return n;
}

struct rnotify *open_context(uint32_t ring_entries)
{
	const struct rnotify_attr attr = {
		.ring_entries = ring_entries,
		.msg_size = RNOTIFY_MSG_SIZE_MIN,
	};
	struct rnotify *rn;
	char text[512];
	int ret;

	ret = rnotify_open(&rn, &attr);
	if (ret)
		die("%s", rnotify_explain_errno(NULL, RNOTIFY_CALL_OPEN, ret,
						text, sizeof(text)));
	return rn;
}

void listen_at(struct rnotify *rn, const char *where)
{
	char name[RNOTIFY_ADDR_STRLEN];
	struct rnotify_sockaddr addr;
	uint32_t listener;

	check(rnotify_resolve(where, EXAMPLE_PORT, &addr), where);
	check(rnotify_listen(rn, &addr, 0, 0, &listener), where);
	printf("listening on %s\n", rnotify_format(&addr, name, sizeof(name)));
	fflush(stdout);
}

/* A no with a reason is meant; nobody there (yet), or busy: ask again. */
static int may_come(struct rnotify *rn, const struct rnotify_event *down)
{
	struct rnotify_endpoint_info info;

	if (down->down.reason == RNOTIFY_REASON_REJECTED &&
	    !rnotify_endpoint_info(rn, down->endpoint, &info) &&
	    info.private_len)
		die("the server says no: %.*s", (int)info.private_len,
		    (const char *)info.private_data);
	return down->down.reason == RNOTIFY_REASON_REJECTED ||
	       down->down.reason == RNOTIFY_REASON_UNREACHABLE ||
	       down->down.reason == RNOTIFY_REASON_TIMEOUT;
}

/* Consumes the events of an endpoint that never was. */
static void forget(struct rnotify *rn, uint32_t endpoint)
{
	const struct rnotify_event *event;

	while ((event = rnotify_peek(rn)) && event->endpoint == endpoint)
		rnotify_release(rn, 1);
	rnotify_destroy(rn, endpoint);
}

static int try_again(struct rnotify *rn, uint32_t endpoint, int64_t deadline)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const struct rnotify_event *event;
	struct timespec now;
	int yes;

	rnotify_find(rn, endpoint,
		     RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_DISCONNECTED), 0, &event);
	clock_gettime(CLOCK_MONOTONIC, &now);
	yes = event && may_come(rn, event) &&
	      now.tv_sec * 1000000000ll + now.tv_nsec < deadline;
	if (!yes && event)
		die_of(event, "no connection");
	forget(rn, endpoint);
	nanosleep(&pause, NULL);
	return yes;
}

uint32_t dial(struct rnotify *rn, const char *where,
	      const struct rnotify_endpoint_attr *attr)
{
	int64_t deadline = patience();
	struct rnotify_sockaddr addr;
	uint32_t endpoint;
	int ret;

	check(rnotify_resolve(where, EXAMPLE_PORT, &addr), where);
	do {
		ret = rnotify_connect_wait(rn, &addr, attr, deadline, &endpoint);
		if (!ret)
			return endpoint;
	} while (endpoint && try_again(rn, endpoint, deadline));
	die("%s: %s", where, strerror(-ret));
}

void peer_said(struct rnotify *rn, uint32_t endpoint, void *data, size_t size)
{
	struct rnotify_endpoint_info info;

	check(rnotify_endpoint_info(rn, endpoint, &info), "ENDPOINT_INFO");
	if (info.private_len != size)
		die("the peer speaks another language");
	memcpy(data, info.private_data, size);
}

struct rnotify_event_region await_region(struct rnotify *rn, uint32_t endpoint,
					 uint64_t tag)
{
	const uint32_t types = RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_REMOTE_REGION);
	const struct rnotify_event *event;
	int ret;

	do {
		ret = rnotify_find(rn, endpoint, types, patience(), &event);
	} while (ret == -EINTR);
	if (ret == -ENOTCONN)
		die_of(event, "no memory to write to");
	check(ret, "waiting for the peer's memory");
	if (event->region.tag != tag)
		die("the peer shares something else");
	return event->region;
}

void await_events(struct rnotify *rn,
		  void (*take)(void *who, const struct rnotify_event *e),
		  void *who)
{
	const struct rnotify_event *e;
	int ret = rnotify_wait(rn, 1, patience(), 0);

	if (ret == -ETIME)
		die("nothing comes from the server");
	if (ret != -EINTR)
		check(ret, "waiting");
	while ((e = rnotify_peek(rn))) {
		take(who, e);
		rnotify_release(rn, 1);
	}
}

void post(struct rnotify *rn, const struct rnotify_op *ops, unsigned int n)
{
	char text[512];

	while (n) {
		int ret = rnotify_post(rn, ops, n, 0, 30000000000ll);

		if (ret == -EINTR)
			continue;
		if (ret < 0)
			die("%s", rnotify_explain_errno(rn, RNOTIFY_CALL_POST,
							ret, text,
							sizeof(text)));
		ops += ret;
		n -= (unsigned int)ret;
	}
}
