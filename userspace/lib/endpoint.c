// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - listeners and endpoints.
 */
#include <errno.h>

#include "internal.h"

static const struct rnotify_endpoint_attr defaults;

static int attr_check(const struct rnotify_endpoint_attr *attr)
{
	if (attr->reserved || (attr->private_len && !attr->private_data))
		return -EINVAL;
	return 0;
}

int rnotify_listen(struct rnotify *ctx, struct rnotify_sockaddr *addr,
		   unsigned int backlog, uint64_t cookie, uint32_t *listener)
{
	struct rnotify_listen arg = {
		.size = sizeof(arg),
		.addr = *addr,
		.cookie = cookie,
		.backlog = backlog,
	};
	int ret;

	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_LISTEN, &arg);
	if (!ret)
		addr->port = arg.addr.port;
	*listener = ret ? 0 : arg.listener_id;
	return ret;
}

int rnotify_connect(struct rnotify *ctx, const struct rnotify_sockaddr *dst,
		    const struct rnotify_endpoint_attr *attr,
		    uint32_t *endpoint)
{
	struct rnotify_connect arg = { .size = sizeof(arg), .dst = *dst };
	int ret;

	*endpoint = 0;
	if (!attr)
		attr = &defaults;
	ret = attr_check(attr);
	if (ret)
		return ret;
	if (attr->src)
		arg.src = *attr->src;
	arg.params = attr->params;
	arg.cookie = attr->cookie;
	arg.private_ptr = (uintptr_t)attr->private_data;
	arg.private_len = attr->private_len;
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_CONNECT, &arg);
	if (!ret)
		*endpoint = arg.endpoint_id;
	return ret;
}

int rnotify_accept(struct rnotify *ctx, uint32_t endpoint,
		   const struct rnotify_endpoint_attr *attr)
{
	struct rnotify_accept arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
	};
	int ret;

	if (!attr)
		attr = &defaults;
	ret = attr_check(attr);
	if (ret)
		return ret;
	/* The request has come to one of our addresses: nothing to choose. */
	if (attr->src)
		return -EINVAL;
	arg.params = attr->params;
	arg.cookie = attr->cookie;
	arg.private_ptr = (uintptr_t)attr->private_data;
	arg.private_len = attr->private_len;
	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_ACCEPT, &arg);
}

int rnotify_reject(struct rnotify *ctx, uint32_t endpoint, const void *data,
		   size_t len)
{
	struct rnotify_reject arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
		.private_ptr = (uintptr_t)data,
	};

	if (len > RNOTIFY_PRIVATE_DATA_MAX)
		return -EINVAL;
	arg.private_len = (uint32_t)len;
	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_REJECT, &arg);
}

int rnotify_disconnect(struct rnotify *ctx, uint32_t endpoint)
{
	struct rnotify_disconnect arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
	};

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_DISCONNECT, &arg);
}

int rnotify_destroy(struct rnotify *ctx, uint32_t id)
{
	struct rnotify_destroy arg = { .size = sizeof(arg), .id = id };

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_DESTROY, &arg);
}

int rnotify_endpoint_info(struct rnotify *ctx, uint32_t endpoint,
			  struct rnotify_endpoint_info *info)
{
	*info = (struct rnotify_endpoint_info){
		.size = sizeof(*info),
		.endpoint_id = endpoint,
	};
	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_ENDPOINT_INFO, info);
}
