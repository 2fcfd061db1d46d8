// SPDX-License-Identifier: GPL-2.0
/*
 * RNOTIFY_IOCTL_POST: operations checked and turned into work requests.
 *
 * A batch is copied in, then taken run by run: consecutive operations of one
 * endpoint share one hold of its lock and one doorbell. Everything that may
 * sleep or fail for want of memory (user copies, look-ups, DMA mapping) is done
 * before the lock; under it an operation is either posted as a whole, or left
 * without a trace.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "op.h"
#include "trace.h"

#define RNOTIFY_POST_BATCH	16u
#define RNOTIFY_POST_MAX	4096u

/**
 * struct rnotify_batch - operations copied in at once
 * @op: as the user wrote them
 * @prep: what was looked up for each
 * @inl: inline bytes, RNOTIFY_INLINE_MAX for each; NULL until needed
 * @max: how many there can be
 */
struct rnotify_batch {
	struct rnotify_op *op;
	struct rnotify_prep *prep;
	u8 *inl;
	u32 max;
};

/* Room for one, which stands on the stack: most posts are of one. */
struct rnotify_batch_one {
	struct rnotify_op op;
	struct rnotify_prep prep;
	u8 inl[RNOTIFY_INLINE_MAX];
};

struct rnotify_batch_many {
	struct rnotify_op op[RNOTIFY_POST_BATCH];
	struct rnotify_prep prep[RNOTIFY_POST_BATCH];
};

static int batch_init(struct rnotify_batch *batch, u32 nr,
		      struct rnotify_batch_one *one)
{
	struct rnotify_batch_many *many;

	if (nr == 1) {
		*batch = (struct rnotify_batch){
			.op = &one->op, .prep = &one->prep, .inl = one->inl,
			.max = 1,
		};
		return 0;
	}
	many = kmalloc(sizeof(*many), GFP_KERNEL_ACCOUNT);
	if (!many)
		return -ENOMEM;
	*batch = (struct rnotify_batch){
		.op = many->op, .prep = many->prep, .max = RNOTIFY_POST_BATCH,
	};
	return 0;
}

static void batch_destroy(struct rnotify_batch *batch)
{
	if (batch->max == 1)
		return;
	kfree(batch->inl);
	kfree(container_of(batch->op, struct rnotify_batch_many, op[0]));
}

static int prep_inline(struct rnotify_batch *batch, u32 i)
{
	const struct rnotify_op *op = &batch->op[i];

	if (op->length > RNOTIFY_INLINE_MAX)
		return -EINVAL;
	if (!batch->inl) {
		batch->inl = kmalloc_array(batch->max, RNOTIFY_INLINE_MAX,
					   GFP_KERNEL_ACCOUNT);
		if (!batch->inl)
			return -ENOMEM;
	}
	batch->prep[i].inl = batch->inl + i * RNOTIFY_INLINE_MAX;
	if (copy_from_user(batch->prep[i].inl,
			   u64_to_user_ptr(op->local_offset), op->length))
		return -EFAULT;
	return 0;
}

static int prep_region(struct rnotify_ctx *ctx, struct rnotify_batch *batch,
		       u32 i, struct rnotify_region *before)
{
	const struct rnotify_op *op = &batch->op[i];
	struct rnotify_obj *obj;

	if (!op->region_id)
		return op->length ? -ENOENT : 0;
	/* A batch is mostly about one region. */
	if (before && before->obj.id == op->region_id) {
		obj = &before->obj;
		rnotify_obj_hold(obj);
	} else {
		obj = rnotify_obj_get(ctx, op->region_id, RNOTIFY_OBJ_REGION);
	}
	if (!obj)
		return -ENOENT;
	batch->prep[i].region = to_region(obj);
	return rnotify_op_check_local(op, to_region(obj));
}

/* All of an operation that needs no lock. @before: region of the one before. */
static int prep_op(struct rnotify_ctx *ctx, struct rnotify_batch *batch, u32 i,
		   struct rnotify_region *before)
{
	const struct rnotify_op *op = &batch->op[i];
	int ret;

	memset(&batch->prep[i], 0, sizeof(batch->prep[i]));
	ret = rnotify_op_check(op);
	if (ret)
		return ret;
	if (op->flags & RNOTIFY_OP_F_INLINE)
		return prep_inline(batch, i);
	return prep_region(ctx, batch, i, before);
}

static void unprep(struct rnotify_batch *batch, u32 first, u32 nr)
{
	u32 i;

	for (i = first; i < first + nr; i++) {
		if (batch->prep[i].region)
			rnotify_obj_put(&batch->prep[i].region->obj);
	}
}

/* First use of a region on the endpoint's device. */
static int map_region(struct rnotify_ep *ep, struct rnotify_region *region)
{
	int ret = -EINTR;

	/* Held for long where many keys are made, or while an endpoint ends. */
	if (mutex_lock_killable(&region->mutex))
		return ret;
	if (mutex_lock_killable(&ep->mutex))
		goto out;
	if (ep->dev && READ_ONCE(ep->state) == RNOTIFY_EP_ESTABLISHED)
		ret = rnotify_map_create(region, ep->dev);
	else
		ret = rnotify_ep_over(ep, -ESHUTDOWN);
	mutex_unlock(&ep->mutex);
out:
	mutex_unlock(&region->mutex);
	return ret;
}

/* Notes under the lock that a post was refused for want of room. */
static void note_blocked(struct rnotify_ep *ep)
{
	ep->eagain++;
	if (!ep->want_write) {
		ep->want_write = true;
		atomic_inc(&ep->obj.ctx->nr_blocked);
	}
}

/**
 * struct rnotify_run - consecutive operations of one endpoint
 * @ep: endpoint
 * @first: index in the batch
 * @nr: how many
 * @done: of these, how many were posted
 * @seq: rnotify_ep.room_seq when one found no room
 * @nonblock: -EAGAIN rather than a wait
 */
struct rnotify_run {
	struct rnotify_ep *ep;
	u32 first;
	u32 nr;
	u32 done;
	u32 seq;
	bool nonblock;
};

static int post_run_locked(struct rnotify_batch *batch, struct rnotify_run *run,
			   bool note)
{
	struct rnotify_ep *ep = run->ep;
	u32 before = run->done;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	while (run->done < run->nr) {
		u32 i = run->first + run->done;

		ret = rnotify_op_admit(ep, &batch->op[i], &batch->prep[i]);
		if (ret)
			break;
		trace_rnotify_post(&batch->prep[i].build);
		run->done++;
	}
	rnotify_emit_all(&batch->prep[run->first + before],
			 run->done - before);
	rnotify_chain_flush(ep, true);
	run->seq = ep->room_seq;
	if (ret == -EAGAIN && note)
		note_blocked(ep);
	spin_unlock_bh(&ep->lock);
	return ret;
}

/* What is left until @until, which is KTIME_MAX for ever. */
static s64 time_left(ktime_t until)
{
	return until == KTIME_MAX ? KTIME_MAX : ktime_sub(until, ktime_get());
}

/*
 * Task work (of io_uring) and a stop of the process interrupt the sleep, too, and
 * are no business of the user's: hence a restart unless a handler ran.
 */
static int wait_room(struct rnotify_run *run, ktime_t until)
{
	struct rnotify_ep *ep = run->ep;
	s64 left = time_left(until);
	int ret;

	if (left <= 0)
		return -ETIMEDOUT;
	ret = wait_event_interruptible_hrtimeout(ep->wait,
						 READ_ONCE(ep->room_seq) !=
						 run->seq, left);
	if (ret == -ETIME)
		return -ETIMEDOUT;
	return ret ? -ERESTARTNOHAND : 0;
}

/*
 * Not at the first refusal: the user may have consumed events since somebody
 * looked. And after the refusal was noted, once more (G-H), since only from then
 * on is consumption told.
 */
static int post_or_refuse(struct rnotify_batch *batch, struct rnotify_run *run)
{
	int ret;

	ret = post_run_locked(batch, run, false);
	if (ret != -EAGAIN)
		return ret;
	rnotify_ring_reclaim(run->ep->ring);
	ret = post_run_locked(batch, run, run->nonblock);
	if (ret == -EAGAIN)
		rnotify_ring_reclaim(run->ep->ring);
	return ret;
}

static int post_run(struct rnotify_batch *batch, struct rnotify_run *run,
		    ktime_t until)
{
	int ret;

	for (;;) {
		ret = post_or_refuse(batch, run);
		if (ret == -ENXIO) {
			u32 i = run->first + run->done;

			ret = map_region(run->ep, batch->prep[i].region);
		} else if (ret == -EAGAIN && !run->nonblock) {
			ret = wait_room(run, until);
		} else {
			return ret;
		}
		if (ret)
			return ret;
	}
}

/*
 * Posts the longest run that starts at @first. Return: 0 or an errno, with
 * *done entries posted before it.
 */
static noinline_for_stack int
post_one_run(struct rnotify_ctx *ctx, struct rnotify_batch *batch, u32 first,
	     u32 nr, bool nonblock, ktime_t until, u32 *done)
{
	struct rnotify_run run = { .first = first, .nonblock = nonblock };
	u32 id = batch->op[first].endpoint_id;
	struct rnotify_obj *obj;
	u32 prepped = 0;
	int err = 0, ret;

	*done = 0;
	obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_EP);
	if (!obj)
		return -ENOENT;
	run.ep = to_ep(obj);

	while (first + run.nr < nr && !err &&
	       batch->op[first + run.nr].endpoint_id == id) {
		u32 i = first + run.nr;

		prepped++;
		err = prep_op(ctx, batch, i,
			      run.nr ? batch->prep[i - 1].region : NULL);
		if (!err)
			run.nr++;
	}
	ret = run.nr ? post_run(batch, &run, until) : 0;
	*done = run.done;
	unprep(batch, first, prepped);
	rnotify_obj_put(obj);
	return ret ?: err;
}

static int post_batch(struct rnotify_ctx *ctx, struct rnotify_batch *batch,
		      u32 nr, bool nonblock, ktime_t until, u32 *accepted)
{
	u32 i = 0, done;
	int ret = 0;

	while (i < nr && !ret) {
		ret = post_one_run(ctx, batch, i, nr, nonblock, until, &done);
		i += done;
		*accepted += done;
	}
	return ret;
}

/*
 * Tells what became of it. A call that will be made again by the kernel finds the
 * time that is left where the user had put the whole.
 */
static int post_result(struct rnotify_post *arg, ktime_t until, int ret)
{
	arg->error = ret == -ERESTARTNOHAND ? -EINTR : ret;
	if (arg->accepted)
		return 0;
	if (ret == -ERESTARTNOHAND && until != KTIME_MAX)
		arg->timeout_ns = max_t(s64, time_left(until), 0);
	return ret;
}

/**
 * rnotify_post() - RNOTIFY_IOCTL_POST
 * @ctx: context
 * @arg: command; accepted and error are filled in
 * @nonblock: don't wait for credit or room
 *
 * Context: process, sleeps unless @nonblock.
 * Return: 0 if at least one operation was posted, else a negative errno.
 */
int rnotify_post(struct rnotify_ctx *ctx, struct rnotify_post *arg,
		 bool nonblock)
{
	struct rnotify_op __user *ops = u64_to_user_ptr(arg->ops);
	ktime_t until = KTIME_MAX;
	struct rnotify_batch_one one;
	struct rnotify_batch batch;
	u32 nr;
	int ret = 0;

	arg->accepted = 0;
	arg->error = -EINVAL;
	if (!arg->nr_ops || arg->nr_ops > RNOTIFY_POST_MAX ||
	    arg->op_size != sizeof(struct rnotify_op))
		return -EINVAL;
	arg->error = -ENOMEM;
	if (batch_init(&batch, arg->nr_ops, &one))
		return -ENOMEM;
	if (arg->timeout_ns >= 0)
		until = ktime_add_safe(ktime_get(), arg->timeout_ns);

	while (arg->accepted < arg->nr_ops && !ret) {
		nr = min(arg->nr_ops - arg->accepted, batch.max);
		if (copy_from_user(batch.op, ops + arg->accepted,
				   nr * sizeof(*batch.op)))
			ret = -EFAULT;
		else
			ret = post_batch(ctx, &batch, nr, nonblock, until,
					 &arg->accepted);
	}
	batch_destroy(&batch);
	return post_result(arg, until, ret);
}
