/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - posting and waiting by io_uring, inline. Not included by
 * <rnotify/rnotify.h>: who uses io_uring has its headers (liburing's or the
 * kernel's, 5.19 or later).
 *
 * Each sets all of a submission queue entry but user_data and flags of it:
 * set those afterwards. POLL_ADD, READ and READ_MULTISHOT on rnotify_fd() need
 * no help.
 */
#ifndef _RNOTIFY_URING_H
#define _RNOTIFY_URING_H

#include <string.h>

#include <linux/io_uring.h>

#include <rnotify/rnotify.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void rnotify_uring_prep(struct io_uring_sqe *sqe,
				      struct rnotify *ctx, uint32_t cmd_op,
				      const void *cmd, size_t len)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = rnotify_fd(ctx);
	sqe->cmd_op = cmd_op;
	memcpy(sqe->cmd, cmd, len);
}

/**
 * rnotify_uring_prep_post() - post operations, never waiting
 * @sqe: submission queue entry
 * @ctx: context
 * @ops: operations; stay as they are until the entry was submitted
 * @nr: how many, 1 to 4096
 *
 * Completes with the number of operations accepted, from the first; or with the
 * negative errno of the first, -EAGAIN (no credit or room) among them.
 */
static inline void rnotify_uring_prep_post(struct io_uring_sqe *sqe,
					   struct rnotify *ctx,
					   const struct rnotify_op *ops,
					   unsigned int nr)
{
	struct rnotify_uring_post post;

	memset(&post, 0, sizeof(post));
	post.ops = (uintptr_t)ops;
	post.nr_ops = nr;
	rnotify_uring_prep(sqe, ctx, RNOTIFY_IOCTL_POST, &post, sizeof(post));
}

/**
 * rnotify_uring_prep_wait() - wait for unconsumed events
 * @sqe: submission queue entry
 * @ctx: context
 * @min_events: how many, 1 to the ring's size
 *
 * Completes with 0 when so many are there, or the last event of an endpoint or
 * listener is. -ENOTTY if rnotify_query() does not show
 * RNOTIFY_FEATURE_URING_WAIT: then use POLL_ADD.
 */
static inline void rnotify_uring_prep_wait(struct io_uring_sqe *sqe,
					   struct rnotify *ctx,
					   unsigned int min_events)
{
	struct rnotify_uring_wait wait;

	memset(&wait, 0, sizeof(wait));
	wait.min_events = min_events;
	rnotify_uring_prep(sqe, ctx, RNOTIFY_IOCTL_WAIT, &wait, sizeof(wait));
}

#ifdef __cplusplus
}
#endif

#endif /* _RNOTIFY_URING_H */
