// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: how many notifications came, and how many bytes with them.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ep.h"
#include "mmap_layout.h"
#include "route.h"

static void counter_set(struct rnotify_counter *counter, u64 count, u64 bytes)
{
	counter->count = count;
	counter->bytes = bytes;
	WRITE_ONCE(counter->page->bytes, bytes);
	WRITE_ONCE(counter->page->count, count);
}

/* Tells whoever waits for the count as it is, and finds who is next. */
static void counter_look(struct rnotify_counter *counter)
{
	struct rnotify_sleeper *sleeper;
	struct rnotify_watch *watch;
	u64 next = U64_MAX;

	rnotify_sleepers_wake(&counter->sleepers, counter->count);
	list_for_each_entry(sleeper, &counter->sleepers, node)
		next = min(next, sleeper->from);
	list_for_each_entry(watch, &counter->watches, node) {
		rnotify_watch_look(watch);
		if (watch->armed)
			next = min(next, watch->threshold);
	}
	counter->next = next;
}

/**
 * rnotify_counter_rearm() - a watch has another threshold
 * @counter: counter; the ring's lock is held
 */
void rnotify_counter_rearm(struct rnotify_counter *counter)
{
	lockdep_assert_held(&counter->ring->lock);
	counter_look(counter);
}

/**
 * rnotify_counter_add() - count a notification
 * @counter: counter; the ring's lock is held
 * @bytes: that came with it
 */
void rnotify_counter_add(struct rnotify_counter *counter, u32 bytes)
{
	lockdep_assert_held(&counter->ring->lock);
	rnotify_seq_begin(&counter->page->seq);
	counter_set(counter, counter->count + 1, counter->bytes + bytes);
	rnotify_seq_end(&counter->page->seq);
	if (counter->count >= counter->next)
		counter_look(counter);
}

/**
 * rnotify_counter_ended() - an endpoint that fed it has ended
 * @counter: counter; the ring's lock is held
 * @ep: endpoint
 */
void rnotify_counter_ended(struct rnotify_counter *counter,
			   const struct rnotify_ep *ep)
{
	struct rnotify_counter_page *page = counter->page;

	lockdep_assert_held(&counter->ring->lock);
	rnotify_ended_add(&counter->ended, ep);
	rnotify_seq_begin(&page->seq);
	WRITE_ONCE(page->ended, counter->ended.nr);
	WRITE_ONCE(page->ended_endpoint, counter->ended.endpoint);
	WRITE_ONCE(page->ended_reason, counter->ended.reason);
	WRITE_ONCE(page->ended_error, counter->ended.error);
	rnotify_seq_end(&page->seq);
	rnotify_sleepers_wake_all(&counter->sleepers);
}

/*
 * ---- commands ---------------------------------------------------------
 */

static struct rnotify_counter *counter_get(struct rnotify_ctx *ctx, u32 id)
{
	struct rnotify_obj *obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_COUNTER);

	return obj ? to_counter(obj) : NULL;
}

/**
 * rnotify_counter_reset() - RNOTIFY_IOCTL_COUNTER_RESET
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Return: 0 or a negative errno.
 */
int rnotify_counter_reset(struct rnotify_ctx *ctx,
			  struct rnotify_counter_reset *arg)
{
	struct rnotify_counter *counter;
	struct rnotify_watch *watch;

	if (arg->flags || arg->reserved)
		return -EOPNOTSUPP;
	counter = counter_get(ctx, arg->counter_id);
	if (!counter)
		return -ENOENT;

	spin_lock_bh(&counter->ring->lock);
	arg->count = counter->count;
	arg->bytes = counter->bytes;
	rnotify_seq_begin(&counter->page->seq);
	counter_set(counter, 0, 0);
	WRITE_ONCE(counter->page->resets, counter->page->resets + 1);
	rnotify_seq_end(&counter->page->seq);
	list_for_each_entry(watch, &counter->watches, node) {
		if (watch->step)
			watch->threshold = watch->first;
	}
	counter_look(counter);
	spin_unlock_bh(&counter->ring->lock);
	rnotify_ring_reclaim(counter->ring);
	rnotify_obj_put(&counter->obj);
	return 0;
}

struct counter_wait {
	struct rnotify_counter *counter;
	struct rnotify_counter_wait *arg;
};

static int counter_over(void *data)
{
	struct counter_wait *wait = data;
	struct rnotify_counter *counter = wait->counter;
	struct rnotify_counter_wait *arg = wait->arg;

	arg->count = counter->count;
	arg->bytes = counter->bytes;
	arg->ended_endpoint = counter->ended.endpoint;
	arg->ended_reason = counter->ended.reason;
	arg->ended_error = counter->ended.error;
	if (counter->count >= arg->threshold)
		return 0;
	if (counter->dead)
		return -ECANCELED;
	if (counter->ended.nr != arg->ended) {
		arg->ended = counter->ended.nr;
		return -EPIPE;
	}
	counter->next = min(counter->next, arg->threshold);
	return -EAGAIN;
}

/**
 * rnotify_counter_wait() - RNOTIFY_IOCTL_COUNTER_WAIT
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_counter_wait(struct rnotify_ctx *ctx,
			 struct rnotify_counter_wait *arg)
{
	struct rnotify_sleeper sleeper = {
		.from = arg->threshold,
		.to = U64_MAX,
	};
	struct counter_wait wait = { .arg = arg };
	int ret;

	if (arg->flags || arg->reserved)
		return -EOPNOTSUPP;
	wait.counter = counter_get(ctx, arg->counter_id);
	if (!wait.counter)
		return -ENOENT;
	ret = rnotify_sleep(wait.counter->ring, &wait.counter->sleepers,
			    &sleeper, arg->timeout_ns, counter_over, &wait);
	rnotify_obj_put(&wait.counter->obj);
	return ret;
}

/*
 * ---- as an object -----------------------------------------------------
 */

static void counter_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_counter *counter = to_counter(obj);
	struct rnotify_watch *watch, *next;

	spin_lock_bh(&counter->ring->lock);
	counter->dead = true;
	list_for_each_entry_safe(watch, next, &counter->watches, node) {
		list_del_init(&watch->node);
		rnotify_notice_cancel(counter->ring, &watch->notice);
	}
	rnotify_sleepers_wake_all(&counter->sleepers);
	spin_unlock_bh(&counter->ring->lock);
}

static void counter_free(struct rnotify_obj *obj)
{
	struct rnotify_counter *counter = to_counter(obj);

	atomic_dec(&obj->ctx->nr_counters);
	vfree(counter->page);
	kfree_rcu(counter, obj.rcu);
}

static const struct rnotify_obj_ops counter_ops = {
	.type = RNOTIFY_OBJ_COUNTER,
	.shutdown = counter_shutdown,
	.free = counter_free,
};

static struct rnotify_counter *counter_alloc(struct rnotify_ctx *ctx)
{
	struct rnotify_counter *counter;

	counter = kzalloc(sizeof(*counter), GFP_KERNEL_ACCOUNT);
	if (!counter)
		return NULL;
	counter->page = __vmalloc(PAGE_SIZE, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!counter->page) {
		kfree(counter);
		return NULL;
	}
	counter->ring = rnotify_ctx_ring(ctx);
	counter->next = U64_MAX;
	INIT_LIST_HEAD(&counter->watches);
	INIT_LIST_HEAD(&counter->sleepers);
	rnotify_obj_init(&counter->obj, ctx, &counter_ops);
	return counter;
}

/**
 * rnotify_counter_create() - RNOTIFY_IOCTL_COUNTER_CREATE
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_counter_create(struct rnotify_ctx *ctx,
			   struct rnotify_counter_create *arg)
{
	struct rnotify_counter *counter;
	int ret;

	if (arg->flags || arg->reserved)
		return -EOPNOTSUPP;
	if (atomic_inc_return(&ctx->nr_counters) > RNOTIFY_COUNTERS_MAX) {
		ret = -EMFILE;
		goto err_count;
	}
	counter = counter_alloc(ctx);
	if (!counter) {
		ret = -ENOMEM;
		goto err_count;
	}
	ret = rnotify_obj_reserve(&counter->obj, GFP_KERNEL_ACCOUNT);
	if (ret) {
		rnotify_obj_put(&counter->obj);
		return ret;
	}

	arg->counter_id = counter->obj.id;
	arg->mmap_offset = rnotify_mmap_object(counter->obj.id);
	arg->mmap_size = PAGE_SIZE;
	rnotify_obj_publish(&counter->obj);
	return 0;

err_count:
	atomic_dec(&ctx->nr_counters);
	return ret;
}
