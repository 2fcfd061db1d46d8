// SPDX-License-Identifier: GPL-2.0
/*
 * Ids and reference counts of a context's objects.
 */
#include "mmap_layout.h"
#include "priv.h"

/**
 * rnotify_obj_init() - start an object's life
 * @obj: zeroed
 * @ctx: owner
 * @ops: of its type
 *
 * The caller owns the one reference.
 */
void rnotify_obj_init(struct rnotify_obj *obj, struct rnotify_ctx *ctx,
		      const struct rnotify_obj_ops *ops)
{
	obj->ops = ops;
	obj->ctx = ctx;
	kref_get(&ctx->ref);
	refcount_set(&obj->refs, 1);
}

/**
 * rnotify_obj_reserve() - take an id that no look-up finds yet
 * @obj: object without id
 * @gfp: how to allocate what holds the id
 *
 * Return: 0, -ENOMEM, or -EBUSY when all ids are taken.
 */
int rnotify_obj_reserve(struct rnotify_obj *obj, gfp_t gfp)
{
	struct rnotify_ctx *ctx = obj->ctx;
	int ret;

	/* Cyclic: an id comes again only after all others. */
	ret = xa_alloc_cyclic(&ctx->objects, &obj->id, NULL,
			      XA_LIMIT(1, RNOTIFY_ID_MAX), &ctx->next_id, gfp);
	return ret < 0 ? ret : 0;
}

/**
 * rnotify_obj_unreserve() - give a reserved id back
 * @obj: object that was never published
 */
void rnotify_obj_unreserve(struct rnotify_obj *obj)
{
	if (obj->id)
		xa_erase(&obj->ctx->objects, obj->id);
}

/**
 * rnotify_obj_publish() - let look-ups find it
 * @obj: object with a reserved id; the caller's reference becomes the id's
 */
void rnotify_obj_publish(struct rnotify_obj *obj)
{
	void *old;

	/* Can't fail: the reservation holds the slot's memory. */
	old = xa_store(&obj->ctx->objects, obj->id, obj, GFP_KERNEL);
	WARN_ON_ONCE(old);
}

/**
 * rnotify_obj_get() - look an object up
 * @ctx: context
 * @id: id
 * @type: wanted type
 *
 * Context: process or softirq.
 * Return: referenced object, or NULL if there is none of that type.
 */
struct rnotify_obj *rnotify_obj_get(struct rnotify_ctx *ctx, u32 id,
				    enum rnotify_obj_type type)
{
	struct rnotify_obj *obj;

	rcu_read_lock();
	obj = xa_load(&ctx->objects, id);
	if (obj && (obj->ops->type != type ||
		    !refcount_inc_not_zero(&obj->refs)))
		obj = NULL;
	rcu_read_unlock();
	return obj;
}

void rnotify_obj_hold(struct rnotify_obj *obj)
{
	refcount_inc(&obj->refs);
}

void rnotify_obj_put(struct rnotify_obj *obj)
{
	struct rnotify_ctx *ctx = obj->ctx;

	if (!refcount_dec_and_test(&obj->refs))
		return;
	obj->ops->free(obj);
	rnotify_ctx_put(ctx);
}

/**
 * rnotify_obj_take() - take the id away
 * @obj: referenced object
 *
 * Return: true for exactly one caller, which then owns the id's reference and
 * has to shut the object down and put it.
 */
bool rnotify_obj_take(struct rnotify_obj *obj)
{
	struct xarray *xa = &obj->ctx->objects;
	bool taken = false;

	xa_lock(xa);
	if (xa_load(xa, obj->id) == obj) {
		__xa_erase(xa, obj->id);
		taken = true;
	}
	xa_unlock(xa);
	return taken;
}

static void obj_end(struct rnotify_obj *obj)
{
	obj->ops->shutdown(obj);
	rnotify_obj_put(obj);
}

/**
 * rnotify_obj_destroy() - RNOTIFY_IOCTL_DESTROY
 * @ctx: context
 * @id: id of any type
 *
 * Context: process, sleeps until the promises of DESTROY hold.
 * Return: 0, or -ENOENT.
 */
int rnotify_obj_destroy(struct rnotify_ctx *ctx, u32 id)
{
	struct rnotify_obj *obj;

	xa_lock(&ctx->objects);
	obj = xa_load(&ctx->objects, id);
	if (obj)
		__xa_erase(&ctx->objects, id);
	xa_unlock(&ctx->objects);
	if (!obj)
		return -ENOENT;
	obj_end(obj);
	return 0;
}

static void destroy_type(struct rnotify_ctx *ctx, enum rnotify_obj_type type)
{
	struct rnotify_obj *obj;
	unsigned long id;

	/* Others may destroy the same at the same time. */
	rcu_read_lock();
	xa_for_each(&ctx->objects, id, obj) {
		if (obj->ops->type != type || !rnotify_obj_take(obj))
			continue;
		rcu_read_unlock();
		obj_end(obj);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/**
 * rnotify_obj_destroy_all() - end everything that a context holds
 * @ctx: context. If its file is being released nothing new comes, but for
 *	requests until its listeners are gone; else what others make meanwhile
 *	may be left
 *
 * Listeners first, so that nothing new comes; then endpoints, which stop using
 * regions; exports before their regions.
 *
 * Context: process, sleeps.
 */
void rnotify_obj_destroy_all(struct rnotify_ctx *ctx)
{
	destroy_type(ctx, RNOTIFY_OBJ_LISTENER);
	destroy_type(ctx, RNOTIFY_OBJ_EP);
	destroy_type(ctx, RNOTIFY_OBJ_EXPORT);
	destroy_type(ctx, RNOTIFY_OBJ_REGION);
	destroy_type(ctx, RNOTIFY_OBJ_WATCH);
	destroy_type(ctx, RNOTIFY_OBJ_COUNTER);
	destroy_type(ctx, RNOTIFY_OBJ_SLOTS);
	destroy_type(ctx, RNOTIFY_OBJ_GENERATION);
}
