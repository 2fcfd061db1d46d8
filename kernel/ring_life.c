// SPDX-License-Identifier: GPL-2.0
/*
 * The event ring: made and freed; and the timer behind need_kick.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring.h"

static void kick_work_fn(struct work_struct *work)
{
	struct rnotify_ring *ring = container_of(to_delayed_work(work),
						 struct rnotify_ring,
						 kick_work);

	rnotify_ring_reclaim(ring);
	if (READ_ONCE(ring->head->need_kick))
		queue_delayed_work(system_unbound_wq, &ring->kick_work,
				   RNOTIFY_KICK_PERIOD);
}

/* Not vmalloc_user(): that one is not charged to the memory cgroup. */
static void *ring_alloc(size_t size)
{
	return __vmalloc(PAGE_ALIGN(size), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

/**
 * rnotify_ring_create() - allocate a ring
 * @entries: size, a power of two
 * @msg_size: bytes of a message slot, or 0
 *
 * Return: ring, or NULL.
 */
struct rnotify_ring *rnotify_ring_create(u32 entries, u32 msg_size)
{
	struct rnotify_ring *ring;

	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring)
		return NULL;

	ring->entries = entries;
	spin_lock_init(&ring->lock);
	rnotify_ring_wake_init(ring);
	mutex_init(&ring->read_mutex);
	INIT_LIST_HEAD(&ring->consumed);
	INIT_DELAYED_WORK(&ring->kick_work, kick_work_fn);
	ring->msg_size = msg_size;
	ring->owner = kvcalloc(entries, sizeof(*ring->owner),
			       GFP_KERNEL_ACCOUNT);
	ring->head = ring_alloc(PAGE_SIZE +
				entries * sizeof(struct rnotify_event));
	ring->tail = ring_alloc(sizeof(*ring->tail));
	if (msg_size)
		ring->msgs = ring_alloc((size_t)entries * msg_size);
	if (!ring->owner || !ring->head || !ring->tail ||
	    (msg_size && !ring->msgs)) {
		rnotify_ring_destroy(ring);
		return NULL;
	}

	ring->events = (void *)ring->head + PAGE_SIZE;
	ring->head->entries = entries;
	ring->head->entry_size = sizeof(struct rnotify_event);
	ring->head->entries_offset = PAGE_SIZE;
	ring->head->msg_size = msg_size;
	return ring;
}

/**
 * rnotify_ring_destroy() - free a ring
 * @ring: ring that no endpoint and no sleeper uses any more
 */
void rnotify_ring_destroy(struct rnotify_ring *ring)
{
	cancel_delayed_work_sync(&ring->kick_work);
	rnotify_ring_wake_exit(ring);
	vfree(ring->msgs);
	vfree(ring->tail);
	vfree(ring->head);
	kvfree(ring->owner);
	kfree(ring);
}
