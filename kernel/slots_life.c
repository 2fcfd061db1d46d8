// SPDX-License-Identifier: GPL-2.0
/*
 * Slot tables: how they are made, and how they end.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mmap_layout.h"
#include "route.h"

/* rnotify_notice.fill */
static void slots_fill(struct rnotify_notice *notice, struct rnotify_event *ev)
{
	struct rnotify_slots *slots = container_of(notice, struct rnotify_slots,
						   notice);

	ev->type = RNOTIFY_EVENT_SLOTS;
	ev->endpoint = slots->obj.id;
	ev->cookie = slots->cookie;
	ev->slots.nr_dirty = slots->nr_dirty;
	ev->slots.changes = slots->head->changes;
}

static void slots_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_slots *slots = to_slots(obj);

	spin_lock_bh(&slots->ring->lock);
	slots->dead = true;
	/* No event comes any more, also when the last one is consumed. */
	rnotify_notice_cancel(slots->ring, &slots->notice);
	rnotify_sleepers_wake_all(&slots->sleepers);
	spin_unlock_bh(&slots->ring->lock);
	rnotify_ring_unreserve(slots->ring, &slots->notice.resv);
}

static void slots_free(struct rnotify_obj *obj)
{
	struct rnotify_slots *slots = to_slots(obj);

	atomic_dec(&obj->ctx->nr_slot_tables);
	vfree(slots->head);
	kfree_rcu(slots, obj.rcu);
}

static const struct rnotify_obj_ops slots_ops = {
	.type = RNOTIFY_OBJ_SLOTS,
	.shutdown = slots_shutdown,
	.free = slots_free,
};

static void slots_layout(struct rnotify_slots *slots, u32 nr_slots)
{
	slots->nr_slots = nr_slots;
	slots->bytes = sizeof(*slots->head) +
		       DIV_ROUND_UP(nr_slots, 64) * sizeof(*slots->dirty) +
		       nr_slots * sizeof(*slots->slot);
}

static void slots_init_memory(struct rnotify_slots *slots)
{
	struct rnotify_slots_head *head = slots->head;
	u32 i;

	slots->dirty = (u64 *)(head + 1);
	slots->slot = (void *)(slots->dirty +
			       DIV_ROUND_UP(slots->nr_slots, 64));
	head->nr_slots = slots->nr_slots;
	head->slot_size = sizeof(*slots->slot);
	head->dirty_offset = (void *)slots->dirty - (void *)head;
	head->slots_offset = (void *)slots->slot - (void *)head;
	for (i = 0; i < slots->nr_slots; i++)
		slots->slot[i].index = i;
}

static struct rnotify_slots *slots_alloc(struct rnotify_ctx *ctx, u32 nr_slots)
{
	struct rnotify_slots *slots;

	slots = kzalloc(sizeof(*slots), GFP_KERNEL_ACCOUNT);
	if (!slots)
		return NULL;
	slots_layout(slots, nr_slots);
	slots->head = __vmalloc(PAGE_ALIGN(slots->bytes),
				GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!slots->head) {
		kfree(slots);
		return NULL;
	}
	slots_init_memory(slots);
	slots->ring = rnotify_ctx_ring(ctx);
	INIT_LIST_HEAD(&slots->sleepers);
	rnotify_notice_init(&slots->notice, slots_fill);
	rnotify_obj_init(&slots->obj, ctx, &slots_ops);
	return slots;
}

/**
 * rnotify_slots_create() - RNOTIFY_IOCTL_SLOTS_CREATE
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_slots_create(struct rnotify_ctx *ctx,
			 struct rnotify_slots_create *arg)
{
	struct rnotify_slots *slots;
	int ret = -EMFILE;

	if (arg->flags & ~RNOTIFY_SLOTS_EVENT)
		return -EOPNOTSUPP;
	if (!is_power_of_2(arg->nr_slots) || arg->nr_slots > RNOTIFY_SLOTS_MAX)
		return -EINVAL;
	if (atomic_inc_return(&ctx->nr_slot_tables) > RNOTIFY_SLOT_TABLES_MAX)
		goto err_count;
	ret = -ENOMEM;
	slots = slots_alloc(ctx, arg->nr_slots);
	if (!slots)
		goto err_count;

	slots->cookie = arg->cookie;
	slots->events = arg->flags & RNOTIFY_SLOTS_EVENT;
	ret = rnotify_obj_reserve(&slots->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put;
	if (slots->events)
		ret = rnotify_ring_reserve(slots->ring, &slots->notice.resv, 1);
	if (ret)
		goto err_unreserve;
	arg->slots_id = slots->obj.id;
	arg->mmap_offset = rnotify_mmap_object(slots->obj.id);
	arg->mmap_size = PAGE_ALIGN(slots->bytes);
	rnotify_obj_publish(&slots->obj);
	return 0;

err_unreserve:
	rnotify_obj_unreserve(&slots->obj);
err_put:
	rnotify_obj_put(&slots->obj);
	return ret;

err_count:
	atomic_dec(&ctx->nr_slot_tables);
	return ret;
}
