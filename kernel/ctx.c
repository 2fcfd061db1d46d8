// SPDX-License-Identifier: GPL-2.0
/*
 * A context: what one open of the device owns.
 */
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "ep.h"
#include "ring.h"
#include "route.h"

/* Ring and message area together; beyond it the size is taken for a mistake. */
#define RNOTIFY_CTX_BYTES_MAX	BIT_ULL(30)

/**
 * rnotify_ctx_create() - make a context
 * @net: network namespace for its connections; a reference is taken
 *
 * Return: context, or NULL.
 */
struct rnotify_ctx *rnotify_ctx_create(struct net *net)
{
	struct rnotify_ctx *ctx;

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return NULL;
	kref_init(&ctx->ref);
	ctx->net = get_net(net);
	ctx->memcg = get_mem_cgroup_from_mm(current->mm);
	xa_init_flags(&ctx->objects, XA_FLAGS_ALLOC1);
	mutex_init(&ctx->setup_mutex);
	return ctx;
}

static void ctx_free(struct kref *ref)
{
	struct rnotify_ctx *ctx = container_of(ref, struct rnotify_ctx, ref);

	WARN_ON_ONCE(!xa_empty(&ctx->objects));
	xa_destroy(&ctx->objects);
	mem_cgroup_put(ctx->memcg);
	put_net(ctx->net);
	kfree(ctx);
}

void rnotify_ctx_put(struct rnotify_ctx *ctx)
{
	kref_put(&ctx->ref, ctx_free);
}

/**
 * rnotify_ctx_setup() - make the event ring
 * @ctx: context
 * @entries: events that it holds
 * @msg_size: bytes of a message slot, 0 for no message area
 *
 * Return: 0, -EINVAL, -EBADFD if done before, -ENOMEM.
 */
int rnotify_ctx_setup(struct rnotify_ctx *ctx, u32 entries, u32 msg_size)
{
	struct rnotify_ring *ring;
	int ret = 0;

	if (!is_power_of_2(entries) || entries < RNOTIFY_RING_MIN ||
	    entries > RNOTIFY_RING_MAX)
		return -EINVAL;
	if (msg_size && (msg_size < RNOTIFY_MSG_SIZE_MIN ||
			 msg_size > RNOTIFY_MSG_SIZE_MAX || msg_size % 64))
		return -EINVAL;
	if ((u64)entries * (msg_size + sizeof(struct rnotify_event)) >
	    RNOTIFY_CTX_BYTES_MAX)
		return -EINVAL;

	mutex_lock(&ctx->setup_mutex);
	if (ctx->ring) {
		ret = -EBADFD;
		goto out;
	}
	ring = rnotify_ring_create(entries, msg_size);
	if (!ring) {
		ret = -ENOMEM;
		goto out;
	}
	/* Pairs with the acquire in rnotify_ctx_ring(). */
	smp_store_release(&ctx->ring, ring);
out:
	mutex_unlock(&ctx->setup_mutex);
	return ret;
}

/**
 * rnotify_ctx_destroy_all() - end what a context holds
 * @ctx: context
 *
 * All endpoints start to close before the first is waited for, so that the
 * time does not grow with their number.
 *
 * Context: process, sleeps until no peer can reach any memory of the context.
 */
void rnotify_ctx_destroy_all(struct rnotify_ctx *ctx)
{
	struct rnotify_obj *obj;
	unsigned long id;

	WRITE_ONCE(ctx->closing, true);
	rcu_read_lock();
	xa_for_each(&ctx->objects, id, obj) {
		if (obj->ops->type == RNOTIFY_OBJ_EP)
			rnotify_ep_close(to_ep(obj));
	}
	rcu_read_unlock();
	rnotify_obj_destroy_all(ctx);
	WRITE_ONCE(ctx->closing, false);
}

/**
 * rnotify_ctx_close() - the file is being released
 * @ctx: context; the file's reference is put
 *
 * Context: process, sleeps until no peer can reach any memory of the context.
 */
void rnotify_ctx_close(struct rnotify_ctx *ctx)
{
	rnotify_ctx_destroy_all(ctx);
	/* No endpoint comes any more. The rules hold objects, and those us. */
	rnotify_routes_put(ctx->routes);
	ctx->routes = NULL;

	/*
	 * The endpoints are gone from the ring (rnotify_ring_forget()), and
	 * whoever still holds a reference to one finds it CLOSED and does not
	 * touch the ring.
	 */
	if (ctx->ring) {
		rnotify_ring_destroy(ctx->ring);
		ctx->ring = NULL;
	}
	rnotify_ctx_put(ctx);
}
