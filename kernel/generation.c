// SPDX-License-Identifier: GPL-2.0
/*
 * Generations: what rules compare a field of imm with. All of a context are
 * judged and set under the lock of its ring: an arrival sees the old value or
 * the new one, and so do all endpoints alike.
 */
#include <linux/slab.h>

#include "route.h"

/**
 * rnotify_generation_set() - RNOTIFY_IOCTL_GENERATION_SET
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Return: 0 or a negative errno.
 */
int rnotify_generation_set(struct rnotify_ctx *ctx,
			   struct rnotify_generation_set *arg)
{
	struct rnotify_generation *generation;
	struct rnotify_obj *obj;
	u32 value = arg->value;

	if (arg->flags & ~RNOTIFY_GENERATION_GET)
		return -EOPNOTSUPP;
	obj = rnotify_obj_get(ctx, arg->generation_id, RNOTIFY_OBJ_GENERATION);
	if (!obj)
		return -ENOENT;
	generation = to_generation(obj);

	spin_lock_bh(&generation->ring->lock);
	arg->value = generation->value;
	arg->stale = generation->stale;
	if (!(arg->flags & RNOTIFY_GENERATION_GET))
		generation->value = value;
	spin_unlock_bh(&generation->ring->lock);
	rnotify_obj_put(obj);
	return 0;
}

/* Rules that name it go on with the value that it has. */
static void generation_shutdown(struct rnotify_obj *obj)
{
}

static void generation_free(struct rnotify_obj *obj)
{
	atomic_dec(&obj->ctx->nr_generations);
	kfree_rcu(to_generation(obj), obj.rcu);
}

static const struct rnotify_obj_ops generation_ops = {
	.type = RNOTIFY_OBJ_GENERATION,
	.shutdown = generation_shutdown,
	.free = generation_free,
};

/**
 * rnotify_generation_create() - RNOTIFY_IOCTL_GENERATION_CREATE
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_generation_create(struct rnotify_ctx *ctx,
			      struct rnotify_generation_create *arg)
{
	struct rnotify_generation *generation;
	int ret = -EMFILE;

	if (arg->flags)
		return -EOPNOTSUPP;
	if (atomic_inc_return(&ctx->nr_generations) > RNOTIFY_GENERATIONS_MAX)
		goto err_count;
	ret = -ENOMEM;
	generation = kzalloc(sizeof(*generation), GFP_KERNEL_ACCOUNT);
	if (!generation)
		goto err_count;
	generation->ring = rnotify_ctx_ring(ctx);
	generation->value = arg->value;
	rnotify_obj_init(&generation->obj, ctx, &generation_ops);
	ret = rnotify_obj_reserve(&generation->obj, GFP_KERNEL_ACCOUNT);
	if (ret) {
		rnotify_obj_put(&generation->obj);
		return ret;
	}
	arg->generation_id = generation->obj.id;
	rnotify_obj_publish(&generation->obj);
	return 0;

err_count:
	atomic_dec(&ctx->nr_generations);
	return ret;
}
