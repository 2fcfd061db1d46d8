// SPDX-License-Identifier: GPL-2.0
/*
 * Who is told, and when, that the event ring holds something: sleepers on the
 * wait queue (poll, read, WAIT, io_uring) and eventfds.
 *
 * All sleep because they found the ring empty after a full barrier (G), so they
 * are woken when it turns from empty to non-empty, as seen after a full barrier
 * (H). Two exceptions: WAIT for more than one event (@wait_more), and
 * moderation, which puts the wake-up off until enough events are there, or
 * enough time has passed (@wake_due meanwhile). Moderation never hides an event
 * from whoever looks, and nobody is told twice of one turn to non-empty.
 */
#include <linux/eventfd.h>
#include <linux/poll.h>

#include "ring.h"
#include "ring_math.h"
#include "trace.h"

/**
 * rnotify_eventfd_notify() - add 1 to an eventfd, if there is one
 * @slot: where the eventfd is kept
 *
 * Context: any.
 */
void rnotify_eventfd_notify(struct eventfd_ctx __rcu **slot)
{
	struct eventfd_ctx *eventfd;

	if (!rcu_access_pointer(*slot))
		return;
	rcu_read_lock();
	eventfd = rcu_dereference(*slot);
	if (eventfd)
		rnotify_eventfd_signal(eventfd);
	rcu_read_unlock();
}

/**
 * rnotify_eventfd_set() - take an eventfd, or none
 * @slot: where it is kept; the context's setup_mutex is held
 * @fd: eventfd, or -1
 *
 * Context: process, sleeps.
 * Return: 0, or -EBADF/-EINVAL for something that is no eventfd.
 */
int rnotify_eventfd_set(struct eventfd_ctx __rcu **slot, int fd)
{
	struct eventfd_ctx *new = NULL, *old;

	if (fd >= 0) {
		new = eventfd_ctx_fdget(fd);
		if (IS_ERR(new))
			return PTR_ERR(new);
	}
	old = rcu_replace_pointer(*slot, new, true);
	if (old) {
		synchronize_rcu();
		eventfd_ctx_put(old);
	}
	return 0;
}

/**
 * rnotify_eventfd_drop() - the last user of the slot is gone
 * @slot: where the eventfd is kept
 *
 * Context: any.
 */
void rnotify_eventfd_drop(struct eventfd_ctx __rcu **slot)
{
	struct eventfd_ctx *eventfd = rcu_dereference_protected(*slot, true);

	if (eventfd)
		eventfd_ctx_put(eventfd);
}

/*
 * What may wait: traffic that no rule calls urgent. What changes an endpoint's
 * life, and what tells of many notifications at once, may not.
 */
static bool deferrable(const struct rnotify_event *ev)
{
	return (ev->type == RNOTIFY_EVENT_NOTIFY ||
		ev->type == RNOTIFY_EVENT_MESSAGE ||
		ev->type == RNOTIFY_EVENT_TX_DONE) &&
	       !(ev->flags & RNOTIFY_EVENT_F_URGENT);
}

static void wake_sleepers(struct rnotify_ring *ring)
{
	/* Nobody is missed: H pairs with the sleepers' G. */
	if (waitqueue_active(&ring->wq))
		wake_up_interruptible_poll(&ring->wq, EPOLLIN | EPOLLRDNORM);
}

static void wake_now(struct rnotify_ring *ring)
{
	ring->wake_due = false;
	trace_rnotify_wake(ring, rnotify_ring_slot(ring->prod - 1,
						   ring->entries));
	rnotify_eventfd_notify(&ring->eventfd);
	wake_sleepers(ring);
}

static enum hrtimer_restart wake_timer_fn(struct hrtimer *timer)
{
	struct rnotify_ring *ring = container_of(timer, struct rnotify_ring,
						 wake_timer);

	spin_lock(&ring->lock);
	/* Not if it was armed anew, for a later event, while we got here. */
	if (ring->wake_due && !hrtimer_is_queued(timer) &&
	    rnotify_ring_pending(ring))
		wake_now(ring);
	spin_unlock(&ring->lock);
	return HRTIMER_NORESTART;
}

static void wake_later(struct rnotify_ring *ring)
{
	ring->wake_due = true;
	hrtimer_start(&ring->wake_timer, ns_to_ktime(ring->max_delay_ns),
		      HRTIMER_MODE_REL_SOFT);
}

static void remove_waiter(struct rnotify_ring *ring,
			  struct rnotify_waiter *waiter)
{
	list_del_init(&waiter->node);
	ring->nr_waiters--;
}

static void call_waiters(struct rnotify_ring *ring, u32 used, bool last)
{
	struct rnotify_waiter *waiter, *next;

	list_for_each_entry_safe(waiter, next, &ring->waiters, node) {
		if (used < waiter->min_events &&
		    !(last && !(waiter->flags & RNOTIFY_WAIT_COUNT)))
			continue;
		remove_waiter(ring, waiter);
		waiter->over(waiter);
	}
}

/**
 * rnotify_ring_wait_add() - wait for so many events, without sleeping
 * @ring: ring
 * @waiter: complete, with an empty @node
 *
 * From here on @waiter may be over, and gone, at any time; unless 0 or less is
 * returned.
 *
 * Return: 1 if it waits, 0 if there is nothing to wait for, -EMFILE if too many
 * wait.
 */
int rnotify_ring_wait_add(struct rnotify_ring *ring,
			  struct rnotify_waiter *waiter)
{
	int ret = 1;

	spin_lock_bh(&ring->lock);
	if (rnotify_ring_enough(ring, waiter->min_events, waiter->flags)) {
		ret = 0;
	} else if (ring->nr_waiters >= RNOTIFY_URING_WAITS_MAX) {
		ret = -EMFILE;
	} else {
		list_add_tail(&waiter->node, &ring->waiters);
		ring->nr_waiters++;
	}
	spin_unlock_bh(&ring->lock);
	return ret;
}

/**
 * rnotify_ring_wait_cancel() - wait no longer
 * @ring: ring
 * @waiter: what was added, or is about to be
 *
 * Return: false if it is over already, or was not added yet.
 */
bool rnotify_ring_wait_cancel(struct rnotify_ring *ring,
			      struct rnotify_waiter *waiter)
{
	bool waits;

	spin_lock_bh(&ring->lock);
	waits = !list_empty(&waiter->node);
	if (waits)
		remove_waiter(ring, waiter);
	spin_unlock_bh(&ring->lock);
	return waits;
}

/**
 * rnotify_ring_wake() - an event was written
 * @ring: ring; its lock is held, a full barrier was passed
 * @used: unconsumed events, this one included; nonsense if the user wrote
 *	nonsense
 * @ev: the event
 */
void rnotify_ring_wake(struct rnotify_ring *ring, u32 used,
		       const struct rnotify_event *ev)
{
	bool later = ring->min_events > 1 && deferrable(ev);

	lockdep_assert_held(&ring->lock);
	if (used == 1 && later)
		wake_later(ring);
	else if (used == 1)
		wake_now(ring);
	else if (ring->wake_due && (!later || used >= ring->min_events))
		wake_now(ring);
	if (atomic_read(&ring->wait_more))
		wake_sleepers(ring);
	if (!list_empty(&ring->waiters))
		call_waiters(ring, used, rnotify_event_is_last(ev->type));
}

/**
 * rnotify_ring_moderate() - RNOTIFY_IOCTL_MODERATE
 * @ring: ring
 * @arg: command, without flags
 *
 * Return: 0 or -EINVAL.
 */
int rnotify_ring_moderate(struct rnotify_ring *ring,
			  const struct rnotify_moderate *arg)
{
	bool on = arg->min_events > 1;

	if (arg->min_events > ring->entries ||
	    arg->max_delay_ns > RNOTIFY_MODERATE_MAX_NS ||
	    on != !!arg->max_delay_ns)
		return -EINVAL;

	spin_lock_bh(&ring->lock);
	ring->min_events = arg->min_events;
	ring->max_delay_ns = arg->max_delay_ns;
	/* Whoever sleeps under the old rule looks once more. */
	if (ring->wake_due)
		wake_now(ring);
	spin_unlock_bh(&ring->lock);
	return 0;
}

void rnotify_ring_wake_init(struct rnotify_ring *ring)
{
	init_waitqueue_head(&ring->wq);
	INIT_LIST_HEAD(&ring->waiters);
	ring->last_end = ring->prod - ring->entries;
	rnotify_hrtimer_setup(&ring->wake_timer, wake_timer_fn,
			      CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/* No producer and no sleeper is left. */
void rnotify_ring_wake_exit(struct rnotify_ring *ring)
{
	hrtimer_cancel(&ring->wake_timer);
	/* Readers were completion handlers of endpoints that are gone. */
	synchronize_rcu();
	rnotify_eventfd_drop(&ring->eventfd);
}
