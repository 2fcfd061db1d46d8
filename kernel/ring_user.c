// SPDX-License-Identifier: GPL-2.0
/*
 * The event ring as system calls use it: what is pending, and reading.
 *
 * Barriers are lettered as in <linux/rnotify_event.h>.
 */
#include <linux/uio.h>

#include "ring.h"
#include "ring_math.h"

#define EVENT_SIZE	sizeof(struct rnotify_event)

/*
 * A snapshot of what is unconsumed. cons is the user's if it can be right, else
 * what we know for certain. prod is read last: the others never pass it.
 */
static u32 ring_snapshot(struct rnotify_ring *ring, u32 *cons)
{
	u32 reclaimed = READ_ONCE(ring->reclaimed);
	u32 prod;

	*cons = READ_ONCE(ring->tail->cons);
	smp_rmb();		/* cons and reclaimed before prod: see above */
	prod = smp_load_acquire(&ring->head->prod);	/* C */
	if (!rnotify_ring_cons_ok(reclaimed, prod, *cons))
		*cons = reclaimed;
	return rnotify_ring_used(prod, *cons);
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
	u32 cons;

	smp_mb();					/* G: pairs with H */
	return ring_snapshot(ring, &cons);
}

/**
 * rnotify_ring_enough() - is a wait for so many events over?
 * @ring: ring
 * @min_events: how many, at least 1
 * @flags: &enum rnotify_wait_flags
 *
 * Unless only the number counts, an unconsumed last event of an endpoint or
 * listener ends it as well: what was waited for may never come.
 *
 * Context: as rnotify_ring_pending().
 * Return: true if it is.
 */
bool rnotify_ring_enough(struct rnotify_ring *ring, u32 min_events, u32 flags)
{
	u32 used = rnotify_ring_pending(ring);
	u32 since_end = READ_ONCE(ring->prod) - READ_ONCE(ring->last_end);

	return used >= min_events ||
	       (!(flags & RNOTIFY_WAIT_COUNT) && used && since_end < used);
}

/* What is there now, as far as it fits. */
static ssize_t ring_read_some(struct rnotify_ring *ring, struct iov_iter *to)
{
	u32 nr, i, cons;

	nr = min_t(u64, ring_snapshot(ring, &cons),
		   iov_iter_count(to) / EVENT_SIZE);
	for (i = 0; i < nr; i++) {
		u32 slot = rnotify_ring_slot(cons + i, ring->entries);

		if (copy_to_iter(&ring->events[slot], EVENT_SIZE,
				 to) != EVENT_SIZE)
			break;
	}
	if (nr && !i)
		return -EFAULT;
	smp_store_release(&ring->tail->cons, cons + i);	/* E */
	return i * EVENT_SIZE;
}

/**
 * rnotify_ring_read() - copy events out and consume them
 * @ring: ring; its read_mutex is held
 * @to: where to; whole events only
 *
 * Fewer than fit: then there are no more. An event that comes while others are
 * copied wakes nobody, and who waits for an edge would not hear of it.
 *
 * The user who mixes this with consuming through the mapping from another
 * thread gets what it asked for: events twice, or not at all.
 *
 * Return: bytes, 0 if there is nothing, -EFAULT, -EINVAL when not even one
 * event fits.
 */
ssize_t rnotify_ring_read(struct rnotify_ring *ring, struct iov_iter *to)
{
	ssize_t done = 0, ret;

	lockdep_assert_held(&ring->read_mutex);
	if (iov_iter_count(to) < EVENT_SIZE)
		return -EINVAL;

	do {
		ret = ring_read_some(ring, to);
		if (ret > 0)
			done += ret;
		smp_mb();				/* G: pairs with H */
	} while (ret > 0 && iov_iter_count(to) >= EVENT_SIZE);
	if (!done)
		return ret;
	rnotify_ring_reclaim(ring);
	return done;
}
