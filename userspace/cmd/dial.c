// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - connecting and listening, with the handshake of transfer.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "devices.h"
#include "dial.h"

int find_event(struct rnotify *ctx, uint32_t endpoint, unsigned int type,
	       const struct rnotify_event **event)
{
	int ret;

	/* Being stopped and continued interrupts a wait, too. */
	do {
		ret = rnotify_find(ctx, endpoint, RNOTIFY_TYPE_BIT(type),
				   RNOTIFY_FOREVER, event);
	} while (ret == -EINTR);
	return ret;
}

/* The other side's no may carry a reason of its own. */
static int explain_refusal(struct rnotify *ctx, uint32_t endpoint, int err,
			   const char *where)
{
	const struct rnotify_event *event;
	struct rnotify_endpoint_info info;
	struct hello answer;

	/* The ring holds its end, unless the wait was cut short. */
	rnotify_find(ctx, endpoint,
		     RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_DISCONNECTED), 0, &event);
	if (!event)
		return fail("%s: waiting for the connection failed: %s", where,
			    strerror(-err));
	if (event->down.reason == RNOTIFY_REASON_REJECTED &&
	    !rnotify_endpoint_info(ctx, endpoint, &info) &&
	    hello_decode(&answer, info.private_data, info.private_len))
		return fail("%s: the receiver %s", where,
			    status_str(answer.status));
	return fail_event(event, where);
}

static int read_answer(struct rnotify *ctx, uint32_t endpoint,
		       const struct hello *request, const char *where,
		       struct hello *answer)
{
	struct rnotify_endpoint_info info;
	int ret = rnotify_endpoint_info(ctx, endpoint, &info);

	if (ret)
		return fail("%s: no information about the connection: %s",
			    where, strerror(-ret));
	if (!hello_decode(answer, info.private_data, info.private_len) ||
	    answer->kind != request->kind || !answer->slots ||
	    (request->block && answer->block != request->block))
		return fail("%s: whoever answered there %s", where,
			    status_str(STATUS_FOREIGN));
	return 0;
}

int dial(struct rnotify *ctx, const char *where, const struct hello *request,
	 const struct rnotify_params *params, uint32_t *endpoint,
	 struct hello *answer)
{
	unsigned char private_data[HELLO_SIZE];
	const struct rnotify_endpoint_attr attr = {
		.params = *params,
		.private_data = private_data,
		.private_len = sizeof(private_data),
	};
	const struct rnotify_event *event;
	struct rnotify_sockaddr dst;
	int ret;

	hello_encode(request, private_data);
	/* Nothing is any address, which is one to listen at. */
	ret = *where ? rnotify_resolve(where, DEFAULT_PORT, &dst) : -EINVAL;
	if (ret)
		return fail_call(ctx, RNOTIFY_CALL_RESOLVE, ret,
				 *where ? where : "''");
	if (!dst.port)
		return fail("%s: nothing can be reached at port 0", where);
	ret = rnotify_connect(ctx, &dst, &attr, endpoint);
	if (ret)
		return fail_call(ctx, RNOTIFY_CALL_CONNECT, ret, where);
	ret = find_event(ctx, *endpoint, RNOTIFY_EVENT_ESTABLISHED, &event);
	if (ret)
		return explain_refusal(ctx, *endpoint, ret, where);
	return read_answer(ctx, *endpoint, request, where, answer);
}

int answer_yes(struct rnotify *ctx, uint32_t endpoint,
	       const struct hello *answer, const struct rnotify_params *params,
	       uint64_t cookie)
{
	unsigned char private_data[HELLO_SIZE];
	const struct rnotify_endpoint_attr attr = {
		.params = *params,
		.cookie = cookie,
		.private_data = private_data,
		.private_len = sizeof(private_data),
	};

	hello_encode(answer, private_data);
	return rnotify_accept(ctx, endpoint, &attr);
}

int answer_no(struct rnotify *ctx, uint32_t endpoint, unsigned int status)
{
	const struct hello answer = { .status = (uint8_t)status };
	unsigned char private_data[HELLO_SIZE];

	hello_encode(&answer, private_data);
	return rnotify_reject(ctx, endpoint, private_data,
			      sizeof(private_data));
}

/* Listening at any address works without a device, and nobody can come. */
static void remark_no_device(void)
{
	struct rdma_devices devs;

	devices_read(&devs);
	if (!devs.nr)
		fprintf(stderr, "there is no RDMA device yet (rnotify info)\n");
	devices_free(&devs);
}

int listen_at(struct rnotify *ctx, const char *where, bool quiet,
	      uint32_t *listener)
{
	char name[RNOTIFY_ADDR_STRLEN];
	struct rnotify_sockaddr addr;
	int ret;

	ret = rnotify_resolve(where, DEFAULT_PORT, &addr);
	if (ret)
		return fail_call(ctx, RNOTIFY_CALL_RESOLVE, ret, where);
	ret = rnotify_listen(ctx, &addr, 0, 0, listener);
	if (ret)
		return fail_call(ctx, RNOTIFY_CALL_LISTEN, ret, where);
	if (quiet)
		return 0;
	fprintf(stderr, "listening on %s\n",
		rnotify_format(&addr, name, sizeof(name)));
	remark_no_device();
	return 0;
}

const char *peer_name(struct rnotify *ctx, uint32_t endpoint, char *buf,
		      size_t size)
{
	struct rnotify_endpoint_info info;

	if (rnotify_endpoint_info(ctx, endpoint, &info))
		snprintf(buf, size, "the peer");
	else
		rnotify_format(&info.remote, buf, size);
	return buf;
}
