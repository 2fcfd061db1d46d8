// SPDX-License-Identifier: GPL-2.0
/*
 * The event ring as system calls use it: what is pending, and reading.
 *
 * Barriers are lettered as in <linux/rnotify_event.h>.
 */
#include <linux/uio.h>

#include "ring.h"
#include "ring_math.h"

/*
 * The user's cons if it can be right, else what we know for certain. @prod was
 * read before.
 */
static u32 ring_cons(struct rnotify_ring *ring, u32 prod)
{
	u32 cons = READ_ONCE(ring->tail->cons);
	u32 reclaimed = READ_ONCE(ring->reclaimed);

	return rnotify_ring_cons_ok(reclaimed, prod, cons) ? cons : reclaimed;
}

/**
 * rnotify_ring_pending() - unconsumed events
 * @ring: ring
 *
 * Context: any. The caller has put itself on @wq before, if it will sleep.
 * Return: events; the whole of what is in the ring when cons is garbage.
 */
u32 rnotify_ring_pending(struct rnotify_ring *ring)
{
	u32 prod;

	smp_mb();					/* G: pairs with H */
	prod = READ_ONCE(ring->prod);
	return rnotify_ring_used(prod, ring_cons(ring, prod));
}

/**
 * rnotify_ring_enough() - is a wait for so many events over?
 * @ring: ring
 * @min_events: how many, at least 1
 *
 * An unconsumed last event of an endpoint or listener ends it as well: what was
 * waited for may never come.
 *
 * Context: as rnotify_ring_pending().
 * Return: true if it is.
 */
bool rnotify_ring_enough(struct rnotify_ring *ring, u32 min_events)
{
	u32 used = rnotify_ring_pending(ring);
	u32 since_end = READ_ONCE(ring->prod) - READ_ONCE(ring->last_end);

	return used >= min_events || (used && since_end < used);
}

/**
 * rnotify_ring_read() - copy events out and consume them
 * @ring: ring
 * @to: where to; whole events only
 *
 * The user who mixes this with consuming through the mapping from another
 * thread gets what it asked for: events twice, or not at all.
 *
 * Return: bytes, 0 if there is nothing, -EFAULT, -EINVAL when not even one
 * event fits.
 */
ssize_t rnotify_ring_read(struct rnotify_ring *ring, struct iov_iter *to)
{
	const size_t size = sizeof(struct rnotify_event);
	u32 nr, i, prod, cons;

	if (iov_iter_count(to) < size)
		return -EINVAL;

	prod = smp_load_acquire(&ring->head->prod);	/* C */
	cons = ring_cons(ring, prod);
	nr = min_t(u64, rnotify_ring_used(prod, cons),
		   iov_iter_count(to) / size);
	for (i = 0; i < nr; i++) {
		u32 slot = rnotify_ring_slot(cons + i, ring->entries);

		if (copy_to_iter(&ring->events[slot], size, to) != size)
			break;
	}
	if (nr && !i)
		return -EFAULT;
	smp_store_release(&ring->tail->cons, cons + i);	/* E */
	rnotify_ring_reclaim(ring);
	return i * size;
}
