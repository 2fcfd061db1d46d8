// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - posting operations.
 */
#include "internal.h"

/* rnotify_post.nr_ops: 1 to 4096 */
#define POST_MAX 4096u

int rnotify_post(struct rnotify *ctx, const struct rnotify_op *ops,
		 unsigned int n, uint32_t flags, int64_t timeout_ns)
{
	struct rnotify_post arg = {
		.size = sizeof(arg),
		.flags = flags,
		.ops = (uintptr_t)ops,
		.nr_ops = n < POST_MAX ? n : POST_MAX,
		.op_size = sizeof(*ops),
		.timeout_ns = timeout_ns,
	};
	int ret;

	if (!n)
		return 0;
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_POST, &arg);
	return ret ? ret : (int)arg.accepted;
}
