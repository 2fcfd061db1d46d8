// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: POST and WAIT as uring_cmd.
 *
 * POST never waits for room or credit. The first use of a region on a device maps
 * it, and may wait for locks there; that is not left to a worker, since posts behind
 * it would overtake it. WAIT completes when enough events are unconsumed; it is
 * cancelled when its ring or its task ends, which is possible from 6.7 on: for
 * older kernels there is no WAIT (see RNOTIFY_FEATURE_URING_WAIT).
 */
#include <linux/fs.h>

#include "ep.h"
#include "front.h"
#include "ring.h"

/*
 * The payload lies in memory that the user may change at any time: it is
 * copied once, and only the copy is looked at.
 */
static int uring_post(struct rnotify_ctx *ctx, struct io_uring_cmd *cmd,
		      unsigned int issue_flags)
{
	struct rnotify_uring_post sqe;
	struct rnotify_post arg = {};
	int ret;

	memcpy(&sqe, rnotify_uring_payload(cmd), sizeof(sqe));
	if (sqe.flags)
		return -EOPNOTSUPP;
	arg.ops = sqe.ops;
	arg.nr_ops = sqe.nr_ops;
	arg.op_size = sizeof(struct rnotify_op);
	ret = rnotify_post(ctx, &arg, true);
	if (ret && ret != -EAGAIN)
		return ret;
	/*
	 * Returned, -EAGAIN would make io_uring try again from a worker; and a
	 * number of operations, before 6.11, would be taken for a failure when
	 * it links, and forgotten in a worker.
	 */
	io_uring_cmd_done(cmd, ret ?: (int)arg.accepted, 0, issue_flags);
	return -EIOCBQUEUED;
}

#ifdef RNOTIFY_URING_CANCEL

static struct rnotify_waiter *to_waiter(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, struct rnotify_waiter);
}

static void wait_done(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	io_uring_cmd_done(cmd, 0, 0, issue_flags);
}

/* rnotify_waiter.over: from whoever produced the event, under the ring's lock */
static void wait_over(struct rnotify_waiter *waiter)
{
	struct io_uring_cmd *cmd = container_of((void *)waiter,
						struct io_uring_cmd, pdu);

	io_uring_cmd_complete_in_task(cmd, wait_done);
}

static int uring_wait(struct rnotify_ring *ring, struct io_uring_cmd *cmd,
		      unsigned int issue_flags)
{
	struct rnotify_waiter *waiter = to_waiter(cmd);
	struct rnotify_uring_wait sqe;
	int ret;

	memcpy(&sqe, rnotify_uring_payload(cmd), sizeof(sqe));
	if (sqe.flags & ~RNOTIFY_WAIT_COUNT || sqe.reserved)
		return -EOPNOTSUPP;
	if (!sqe.min_events || sqe.min_events > ring->entries)
		return -EINVAL;

	rnotify_ring_reclaim(ring);
	/* In a worker, it may be cancelled as soon as it can be. */
	INIT_LIST_HEAD(&waiter->node);
	waiter->min_events = sqe.min_events;
	waiter->flags = sqe.flags;
	waiter->over = wait_over;
	/* Before it can complete: afterwards the command may be gone. */
	io_uring_cmd_mark_cancelable(cmd, issue_flags);
	ret = rnotify_ring_wait_add(ring, waiter);
	if (ret <= 0)
		io_uring_cmd_done(cmd, ret, 0, issue_flags);
	return -EIOCBQUEUED;
}

static void uring_cancel(struct rnotify_ring *ring, struct io_uring_cmd *cmd,
			 unsigned int issue_flags)
{
	if (rnotify_ring_wait_cancel(ring, to_waiter(cmd)))
		io_uring_cmd_done(cmd, -ECANCELED, 0, issue_flags);
}

#endif /* RNOTIFY_URING_CANCEL */

/**
 * rnotify_uring_cmd() - file_operations.uring_cmd
 * @cmd: command; cmd_op is RNOTIFY_IOCTL_POST or RNOTIFY_IOCTL_WAIT
 * @issue_flags: io_uring's
 *
 * Return: the result, or -EIOCBQUEUED.
 */
int rnotify_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	struct rnotify_ctx *ctx = cmd->file->private_data;
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);

#ifdef RNOTIFY_URING_CANCEL
	if (issue_flags & IO_URING_F_CANCEL) {
		uring_cancel(ring, cmd, issue_flags);
		return 0;
	}
#endif
	if (!ring)
		return -EBADFD;
	switch (READ_ONCE(cmd->cmd_op)) {
	case RNOTIFY_IOCTL_POST:
		return uring_post(ctx, cmd, issue_flags);
#ifdef RNOTIFY_URING_CANCEL
	case RNOTIFY_IOCTL_WAIT:
		return uring_wait(ring, cmd, issue_flags);
#endif
	default:
		return -ENOTTY;
	}
}
