// SPDX-License-Identifier: GPL-2.0
/*
 * The event ring: reservations, producing, and learning what was consumed.
 *
 * Space is never a question when an event is produced: whoever produces holds
 * a reservation (&struct rnotify_resv), and the sum of all reservations never
 * exceeds the ring. An entry stays charged to its reservation until the user
 * consumed it and we looked (rnotify_ring_reclaim()). Looking happens whenever
 * an event is produced or a system call comes by; for a reader that only spins
 * on the mapping there is need_kick, and a slow timer behind it.
 *
 * Barriers are lettered as in <linux/rnotify_event.h>.
 */
#include <linux/ktime.h>

#include "ep.h"
#include "ring.h"
#include "ring_math.h"
#include "route.h"
#include "trace.h"

/*
 * Entries that are looked at with the lock held: others want it, and softirqs
 * want to run.
 */
#define RNOTIFY_RING_SLICE	256u

/*
 * ---- reservations -----------------------------------------------------
 */

/**
 * rnotify_ring_reserve() - set entries aside
 * @ring: ring
 * @resv: reservation to enlarge
 * @nr: by how many entries
 *
 * Return: 0, or -ENOSPC.
 */
int rnotify_ring_reserve(struct rnotify_ring *ring, struct rnotify_resv *resv,
			 u32 nr)
{
	int ret = -ENOSPC;

	/* What was consumed is free, whether or not somebody looked. */
	rnotify_ring_reclaim(ring);
	spin_lock_bh(&ring->lock);
	if (nr <= ring->entries - ring->reserved) {
		ring->reserved += nr;
		resv->nr += nr;
		ret = 0;
	}
	spin_unlock_bh(&ring->lock);
	return ret;
}

/* Entries in the ring of one reservation, or of all that an endpoint has. */
static u32 entries_of(const struct rnotify_resv *resv,
		      const struct rnotify_ep *ep)
{
	if (resv)
		return resv->in_ring;
	return ep->rv_rx.in_ring + ep->rv_tx.in_ring + ep->rv_life.in_ring +
	       ep->rv_gone.in_ring + ep->rv_writable.in_ring;
}

/*
 * Entries still in the ring outlive their reservation as orphans: their space
 * comes back when the user consumes them. The lock is held, and let go now and
 * then.
 */
static void ring_disown(struct rnotify_ring *ring,
			const struct rnotify_resv *resv,
			const struct rnotify_ep *ep)
{
	u32 i = ring->reclaimed;

	lockdep_assert_held(&ring->lock);
	for (; entries_of(resv, ep) && i != ring->prod; i++) {
		u32 slot = rnotify_ring_slot(i, ring->entries);
		struct rnotify_resv *owner = ring->owner[slot];

		if (owner && (resv ? owner == resv : owner->ep == ep)) {
			ring->owner[slot] = NULL;
			owner->in_ring--;
			owner->nr--;
		}
		if (i % RNOTIFY_RING_SLICE == 0) {
			spin_unlock_bh(&ring->lock);
			cond_resched();
			spin_lock_bh(&ring->lock);
			/* What was consumed meanwhile is done with. */
			if ((s32)(ring->reclaimed - i) > 0)
				i = ring->reclaimed - 1;
		}
	}
}

/* The end of a reservation that has no entries in the ring. */
static void ring_release(struct rnotify_ring *ring, struct rnotify_resv *resv)
{
	lockdep_assert_held(&ring->lock);
	WARN_ON_ONCE(resv->in_ring);
	rnotify_ring_unblock(ring, resv);
	ring->reserved -= resv->nr;
	resv->nr = 0;
}

/**
 * rnotify_ring_unreserve() - end a reservation
 * @ring: ring
 * @resv: reservation; may be empty
 *
 * Context: process, sleeps.
 */
void rnotify_ring_unreserve(struct rnotify_ring *ring,
			    struct rnotify_resv *resv)
{
	spin_lock_bh(&ring->lock);
	ring_disown(ring, resv, NULL);
	ring_release(ring, resv);
	resv->promised = 0;
	spin_unlock_bh(&ring->lock);
}

/**
 * rnotify_ring_retire() - end a reservation, but keep its promises
 * @ring: ring
 * @resv: reservation
 *
 * Context: process, sleeps.
 */
void rnotify_ring_retire(struct rnotify_ring *ring, struct rnotify_resv *resv)
{
	spin_lock_bh(&ring->lock);
	ring_disown(ring, resv, NULL);
	ring_release(ring, resv);
	resv->nr = resv->promised;
	ring->reserved += resv->nr;
	resv->retired = true;
	spin_unlock_bh(&ring->lock);
}

/* Entries that hold no event and that nobody counts on. */
static u32 resv_free(const struct rnotify_resv *resv)
{
	return resv->nr - resv->in_ring - resv->promised;
}

/**
 * rnotify_ring_promise() - count on entries of a reservation for later
 * @ring: ring
 * @resv: reservation
 * @nr: entries
 *
 * Each rnotify_ring_put() of a promised kind redeems one.
 *
 * Return: false if there are not so many free ones.
 */
bool rnotify_ring_promise(struct rnotify_ring *ring, struct rnotify_resv *resv,
			  u32 nr)
{
	bool ok;

	spin_lock_bh(&ring->lock);
	ok = resv_free(resv) >= nr;
	if (ok)
		resv->promised += nr;
	spin_unlock_bh(&ring->lock);
	return ok;
}

/**
 * rnotify_ring_promise_or_block() - count on one entry, or be told
 * @ring: ring
 * @resv: reservation of kind PLAIN, with an endpoint
 *
 * Return: false if there is no free entry. Then the consumption of the next one
 * is told to the endpoint (rnotify_ep_consumed()), and the reader is asked for
 * a KICK meanwhile. It may have consumed just before, and not seen that: hence
 * the caller looks afterwards, by rnotify_ring_reclaim().
 */
bool rnotify_ring_promise_or_block(struct rnotify_ring *ring,
				   struct rnotify_resv *resv)
{
	bool ok;

	spin_lock_bh(&ring->lock);
	ok = resv_free(resv);
	if (ok)
		resv->promised++;
	else
		rnotify_ring_block(ring, resv);
	spin_unlock_bh(&ring->lock);
	return ok;
}

/**
 * rnotify_ring_unpromise() - give one promised entry back unused
 * @ring: ring
 * @resv: reservation
 */
void rnotify_ring_unpromise(struct rnotify_ring *ring,
			    struct rnotify_resv *resv)
{
	spin_lock_bh(&ring->lock);
	if (!WARN_ON_ONCE(!resv->promised)) {
		resv->promised--;
		if (resv->retired) {
			resv->nr--;
			ring->reserved--;
		}
	}
	spin_unlock_bh(&ring->lock);
}

/*
 * ---- consumption ------------------------------------------------------
 */

static void ring_list_ep(struct rnotify_ring *ring, struct rnotify_ep *ep)
{
	if (!list_empty(&ep->ring_node))
		return;
	rnotify_obj_hold(&ep->obj);
	list_add_tail(&ep->ring_node, &ring->consumed);
}

static void ring_consume_one(struct rnotify_ring *ring, u32 slot)
{
	struct rnotify_resv *resv = ring->owner[slot];

	trace_rnotify_consume(ring, slot);
	if (!resv) {
		ring->reserved--;
		return;
	}
	ring->owner[slot] = NULL;
	resv->in_ring--;
	switch (resv->kind) {
	case RNOTIFY_RESV_PLAIN:
		if (!resv->blocked)
			return;
		rnotify_ring_unblock(ring, resv);
		break;
	case RNOTIFY_RESV_DATA:
		resv->ep->rx_consumed++;
		rnotify_grant_return(&resv->ep->grant, 1);
		break;
	case RNOTIFY_RESV_GONE:
		resv->ep->gone_consumed++;
		rnotify_remote_slots_return(resv->ep);
		rnotify_ring_update_starved(ring, resv->ep, resv->in_ring);
		break;
	case RNOTIFY_RESV_NOTICE:
		if (!resv->blocked)
			return;
		rnotify_ring_unblock(ring, resv);
		rnotify_notice_give(ring, container_of(resv,
						       struct rnotify_notice,
						       resv));
		return;
	}
	ring_list_ep(ring, resv->ep);
}

/* Return: true if more was consumed than could be looked at. */
static bool ring_reclaim_slice(struct rnotify_ring *ring)
{
	u32 cons, nr;

	lockdep_assert_held(&ring->lock);
	/* F: pairs with E. Entries before cons may be overwritten from here. */
	cons = smp_load_acquire(&ring->tail->cons);
	if (!rnotify_ring_cons_ok(ring->reclaimed, ring->prod, cons)) {
		ring->head->bad_cons++;
		return false;
	}
	nr = min(cons - ring->reclaimed, RNOTIFY_RING_SLICE);
	while (nr--)
		ring_consume_one(ring, rnotify_ring_slot(ring->reclaimed++,
							 ring->entries));
	/* Not so far behind that it would seem to be ahead after a wrap. */
	if (ring->prod - ring->last_end > 2 * ring->entries)
		WRITE_ONCE(ring->last_end, ring->prod - 2 * ring->entries);
	return ring->reclaimed != cons;
}

/* For softirqs: what is more than a slice is left to a worker. */
static void ring_reclaim_locked(struct rnotify_ring *ring)
{
	if (ring_reclaim_slice(ring))
		mod_delayed_work(system_unbound_wq, &ring->kick_work, 0);
}

/*
 * Tell the endpoints whose events were consumed, one at a time: each may send
 * a CREDIT, which needs its own lock, which is outside of ours.
 */
static void ring_tell_consumed(struct rnotify_ring *ring)
{
	struct rnotify_ep *ep;

	while (!list_empty_careful(&ring->consumed)) {
		spin_lock_bh(&ring->lock);
		ep = list_first_entry_or_null(&ring->consumed,
					      struct rnotify_ep, ring_node);
		if (ep)
			list_del_init(&ep->ring_node);
		spin_unlock_bh(&ring->lock);
		if (!ep)
			return;
		rnotify_ep_consumed(ep);
		rnotify_obj_put(&ep->obj);
	}
}

/**
 * rnotify_ring_reclaim() - look at what the user consumed
 * @ring: ring
 *
 * Returns credits to the peers whose events were consumed.
 *
 * Context: process, may sleep.
 */
void rnotify_ring_reclaim(struct rnotify_ring *ring)
{
	bool more;

	do {
		spin_lock_bh(&ring->lock);
		more = ring_reclaim_slice(ring);
		spin_unlock_bh(&ring->lock);
		ring_tell_consumed(ring);
		cond_resched();
	} while (more);
}

/**
 * rnotify_ring_free_or_block() - is there an entry that nobody counts on?
 * @ring: ring
 * @resv: reservation of kind PLAIN, with an endpoint
 *
 * If not, consumption of one is told, as rnotify_ring_promise_or_block() says. What
 * was consumed just before is left to a worker, since the caller may hold a lock
 * under which endpoints can't be told.
 *
 * Context: any but hard interrupt; rnotify_ep.lock may be held.
 * Return: true if there is one.
 */
bool rnotify_ring_free_or_block(struct rnotify_ring *ring,
				struct rnotify_resv *resv)
{
	bool free, behind = false;

	spin_lock_bh(&ring->lock);
	free = resv_free(resv);
	if (!free) {
		rnotify_ring_block(ring, resv);
		behind = READ_ONCE(ring->tail->cons) != ring->reclaimed;
	}
	spin_unlock_bh(&ring->lock);
	if (behind)
		mod_delayed_work(system_unbound_wq, &ring->kick_work, 0);
	return free;
}

/**
 * rnotify_ring_forget() - an endpoint leaves the ring
 * @ring: ring
 * @ep: endpoint that produces nothing more; its unconsumed events stay
 *
 * Context: process, sleeps.
 */
void rnotify_ring_forget(struct rnotify_ring *ring, struct rnotify_ep *ep)
{
	bool listed;

	spin_lock_bh(&ring->lock);
	ring_disown(ring, NULL, ep);
	rnotify_ring_update_starved(ring, ep, 0);
	listed = !list_empty(&ep->ring_node);
	if (listed)
		list_del_init(&ep->ring_node);
	ring_release(ring, &ep->rv_rx);
	ring_release(ring, &ep->rv_tx);
	ring_release(ring, &ep->rv_life);
	ring_release(ring, &ep->rv_gone);
	ring_release(ring, &ep->rv_writable);
	spin_unlock_bh(&ring->lock);
	if (listed)
		rnotify_obj_put(&ep->obj);
}

/*
 * ---- production -------------------------------------------------------
 */

/**
 * rnotify_ring_commit() - write an event and tell
 * @ring: ring; its lock is held
 * @resv: reservation with a free entry
 * @ev: event; time_ns is filled in
 * @slot: of the ring's prod
 */
void rnotify_ring_commit(struct rnotify_ring *ring, struct rnotify_resv *resv,
			 struct rnotify_event *ev, u32 slot)
{
	u32 prod = ring->prod + 1;

	trace_rnotify_event(ring, ev, slot);
	ev->time_ns = ktime_get_ns();
	ring->events[slot] = *ev;			/* A */
	if (resv->retired) {
		ring->owner[slot] = NULL;
		resv->nr--;
	} else {
		ring->owner[slot] = resv;
		resv->in_ring++;
	}
	WRITE_ONCE(ring->prod, prod);
	if (rnotify_event_is_last(ev->type))
		WRITE_ONCE(ring->last_end, prod);
	smp_store_release(&ring->head->prod, prod);	/* B: pairs with C */

	smp_mb();					/* H: pairs with G */
	rnotify_ring_wake(ring, prod - READ_ONCE(ring->tail->cons), ev);
}

/**
 * rnotify_ring_put() - produce an event
 * @ring: ring
 * @resv: reservation with a free entry; one promise, if any, is redeemed
 * @ev: event; seq and time_ns are filled in
 *
 * Context: any but hard interrupt; rnotify_ep.lock may be held.
 */
void rnotify_ring_put(struct rnotify_ring *ring, struct rnotify_resv *resv,
		      struct rnotify_event *ev)
{
	spin_lock_bh(&ring->lock);
	if (!WARN_ON_ONCE(resv->in_ring >= resv->nr)) {
		if (resv->promised)
			resv->promised--;
		if (resv->ep)
			ev->seq = resv->ep->rx_seq;
		/* Before B: who sees the event sees need_kick. */
		if (resv->kind == RNOTIFY_RESV_GONE)
			rnotify_ring_update_starved(ring, resv->ep,
						    resv->in_ring + 1);
		rnotify_ring_commit(ring, resv, ev,
				    rnotify_ring_slot(ring->prod,
						      ring->entries));
	}
	spin_unlock_bh(&ring->lock);
}

/* The ring's lock is held, the credit is taken, and so there is an entry. */
static void ring_put_event(struct rnotify_ring *ring, struct rnotify_ep *ep,
			   struct rnotify_event *ev, const void *payload)
{
	u32 index = ring->prod, before = ep->rx_last;
	u32 slot = rnotify_ring_slot(index, ring->entries);
	bool first = !ep->rv_rx.in_ring;
	u32 cons;

	if (payload) {
		ev->notify.msg_offset = (u64)slot * ring->msg_size;
		memcpy(ring->msgs + ev->notify.msg_offset, payload,
		       ev->notify.byte_len);
	}
	rnotify_ring_commit(ring, &ep->rv_rx, ev, slot);
	ep->rx_last = index;
	rnotify_ring_update_starved(ring, ep, ep->rv_gone.in_ring);
	/*
	 * H: the user may have consumed between the reclaim above and its
	 * seeing the new prod, or need_kick; look once more.
	 */
	smp_mb();
	cons = READ_ONCE(ring->tail->cons);
	ring_reclaim_locked(ring);
	/* in_ring may lag behind: only a slice is looked at. */
	if (first || (rnotify_ring_consumed(cons, before) &&
		      !rnotify_ring_consumed(cons, index)))
		rnotify_eventfd_notify(&ep->eventfd);
}

/*
 * A rule took it: the entry behind its credit was not needed. The peer does not
 * starve for want of the user: if it is out of credit, this one is due.
 */
static void ring_put_nothing(struct rnotify_ring *ring, struct rnotify_ep *ep)
{
	ep->rx_consumed++;
	rnotify_grant_return(&ep->grant, 1);
	/* As rnotify_notice_give() wants it. */
	ring_reclaim_locked(ring);
}

/**
 * rnotify_ring_put_rx() - a NOTIFY or MESSAGE arrived
 * @ring: ring
 * @ep: endpoint that it arrived on
 * @ev: event, complete but for seq, msg_offset and time_ns
 * @payload: MESSAGE: ev->notify.byte_len bytes, at most the ring's message
 *	size; else NULL
 *
 * It becomes an event, unless a rule of the endpoint takes it.
 *
 * Context: softirq; no rnotify_ep.lock held.
 * Return: false if the peer had no credit: nothing was produced.
 */
bool rnotify_ring_put_rx(struct rnotify_ring *ring, struct rnotify_ep *ep,
			 struct rnotify_event *ev, const void *payload)
{
	bool ok;

	spin_lock_bh(&ring->lock);
	ring_reclaim_locked(ring);
	ok = rnotify_grant_arrived(&ep->grant);
	if (ok) {
		ev->seq = ep->rx_seq + 1;
		WRITE_ONCE(ep->rx_seq, ev->seq);
		if (!payload && rnotify_route(ep, ev))
			ring_put_nothing(ring, ep);
		else
			ring_put_event(ring, ep, ev, payload);
		if (rnotify_grant_due(&ep->grant))
			ring_list_ep(ring, ep);
	}
	spin_unlock_bh(&ring->lock);
	ring_tell_consumed(ring);
	return ok;
}
