// SPDX-License-Identifier: GPL-2.0
/*
 * Watches: an event in the ring when a counter is so far, so that everything
 * that waits for events (WAIT, poll, eventfd, io_uring) waits for counters, too.
 */
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "route.h"

/* rnotify_notice.fill */
static void watch_fill(struct rnotify_notice *notice, struct rnotify_event *ev)
{
	struct rnotify_watch *watch = container_of(notice, struct rnotify_watch,
						   notice);
	struct rnotify_counter *counter = watch->counter;

	ev->type = RNOTIFY_EVENT_COUNTER;
	ev->endpoint = counter->obj.id;
	ev->cookie = watch->cookie;
	ev->counter.count = counter->count;
	ev->counter.bytes = counter->bytes;
	ev->counter.threshold = watch->reached;
	ev->counter.watch = watch->obj.id;
}

/* The first threshold that is not reached, if there is one below 2^64. */
static void watch_step(struct rnotify_watch *watch)
{
	u64 over = watch->counter->count - watch->threshold;
	u64 more;

	watch->armed = !check_mul_overflow(div64_u64(over, watch->step) + 1,
					   watch->step, &more) &&
		       !check_add_overflow(watch->threshold, more,
					   &watch->threshold);
}

/**
 * rnotify_watch_look() - is it time?
 * @watch: watch; the ring's lock is held
 */
void rnotify_watch_look(struct rnotify_watch *watch)
{
	struct rnotify_counter *counter = watch->counter;

	lockdep_assert_held(&counter->ring->lock);
	if (!watch->armed || counter->count < watch->threshold)
		return;
	watch->reached = watch->threshold;
	watch->armed = false;
	if (watch->step)
		watch_step(watch);
	rnotify_notice_give(counter->ring, &watch->notice);
}

static void watch_set(struct rnotify_watch *watch, u64 threshold, u64 step)
{
	lockdep_assert_held(&watch->counter->ring->lock);
	watch->armed = true;
	watch->threshold = threshold;
	watch->first = threshold;
	watch->step = step;
	rnotify_counter_rearm(watch->counter);
}

/**
 * rnotify_watch_arm() - RNOTIFY_IOCTL_WATCH_ARM
 * @ctx: context
 * @arg: command
 *
 * Return: 0 or a negative errno.
 */
int rnotify_watch_arm(struct rnotify_ctx *ctx,
		      const struct rnotify_watch_arm *arg)
{
	struct rnotify_watch *watch;
	struct rnotify_obj *obj;
	struct rnotify_ring *ring;
	int ret = -ENOENT;

	if (arg->flags || arg->reserved)
		return -EOPNOTSUPP;
	obj = rnotify_obj_get(ctx, arg->watch_id, RNOTIFY_OBJ_WATCH);
	if (!obj)
		return -ENOENT;
	watch = to_watch(obj);
	ring = watch->counter->ring;

	spin_lock_bh(&ring->lock);
	if (!list_empty(&watch->node)) {
		rnotify_notice_cancel(ring, &watch->notice);
		watch_set(watch, arg->threshold, arg->step);
		ret = 0;
	}
	spin_unlock_bh(&ring->lock);
	rnotify_ring_reclaim(ring);
	rnotify_obj_put(obj);
	return ret;
}

/*
 * ---- as an object -----------------------------------------------------
 */

static void watch_detach(struct rnotify_watch *watch)
{
	struct rnotify_ring *ring = watch->counter->ring;

	spin_lock_bh(&ring->lock);
	if (!list_empty(&watch->node)) {
		list_del_init(&watch->node);
		watch->counter->nr_watches--;
	}
	/* No event comes any more, also when the last one is consumed. */
	rnotify_notice_cancel(ring, &watch->notice);
	spin_unlock_bh(&ring->lock);
	rnotify_ring_unreserve(ring, &watch->notice.resv);
}

static void watch_shutdown(struct rnotify_obj *obj)
{
	watch_detach(to_watch(obj));
}

static void watch_free(struct rnotify_obj *obj)
{
	struct rnotify_watch *watch = to_watch(obj);

	rnotify_obj_put(&watch->counter->obj);
	kfree_rcu(watch, obj.rcu);
}

static const struct rnotify_obj_ops watch_ops = {
	.type = RNOTIFY_OBJ_WATCH,
	.shutdown = watch_shutdown,
	.free = watch_free,
};

/* Takes over the caller's reference of the counter. */
static struct rnotify_watch *watch_alloc(struct rnotify_counter *counter,
					 u64 cookie)
{
	struct rnotify_watch *watch;

	watch = kzalloc(sizeof(*watch), GFP_KERNEL_ACCOUNT);
	if (!watch) {
		rnotify_obj_put(&counter->obj);
		return NULL;
	}
	watch->counter = counter;
	watch->cookie = cookie;
	INIT_LIST_HEAD(&watch->node);
	rnotify_notice_init(&watch->notice, watch_fill);
	rnotify_obj_init(&watch->obj, counter->obj.ctx, &watch_ops);
	return watch;
}

/* The counter may be gone, or have enough of them. */
static int watch_attach(struct rnotify_watch *watch,
			const struct rnotify_counter_watch *arg)
{
	struct rnotify_counter *counter = watch->counter;
	int ret = 0;

	spin_lock_bh(&counter->ring->lock);
	if (counter->dead) {
		ret = -ENOENT;
	} else if (counter->nr_watches >= RNOTIFY_WATCHES_MAX) {
		ret = -EMFILE;
	} else {
		counter->nr_watches++;
		list_add_tail(&watch->node, &counter->watches);
		watch_set(watch, arg->threshold, arg->step);
	}
	spin_unlock_bh(&counter->ring->lock);
	return ret;
}

/**
 * rnotify_watch_create() - RNOTIFY_IOCTL_COUNTER_WATCH
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_watch_create(struct rnotify_ctx *ctx,
			 struct rnotify_counter_watch *arg)
{
	struct rnotify_watch *watch;
	struct rnotify_obj *obj;
	int ret;

	if (arg->flags)
		return -EOPNOTSUPP;
	obj = rnotify_obj_get(ctx, arg->counter_id, RNOTIFY_OBJ_COUNTER);
	if (!obj)
		return -ENOENT;
	watch = watch_alloc(to_counter(obj), arg->cookie);
	if (!watch)
		return -ENOMEM;

	ret = rnotify_obj_reserve(&watch->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put;
	ret = rnotify_ring_reserve(rnotify_ctx_ring(ctx), &watch->notice.resv,
				   1);
	if (ret)
		goto err_unreserve;
	/* It may give its event here: nothing below fails. */
	ret = watch_attach(watch, arg);
	if (ret)
		goto err_detach;

	arg->watch_id = watch->obj.id;
	rnotify_obj_publish(&watch->obj);
	return 0;

err_detach:
	watch_detach(watch);
err_unreserve:
	rnotify_obj_unreserve(&watch->obj);
err_put:
	rnotify_obj_put(&watch->obj);
	return ret;
}
