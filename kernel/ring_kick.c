// SPDX-License-Identifier: GPL-2.0
/*
 * Who can't go on until the user consumes events: peers without credit, and
 * reservations without a free entry. Meanwhile need_kick asks the reader for a KICK,
 * and a slow timer looks by itself.
 */
#include "ep.h"
#include "ring.h"

/* Somebody can't go on, and unconsumed events may be why. */
static void ring_update_kick(struct rnotify_ring *ring)
{
	u32 want = ring->nr_starved != 0;

	if (ring->head->need_kick == want)
		return;
	WRITE_ONCE(ring->head->need_kick, want);
	if (want)
		queue_delayed_work(system_unbound_wq, &ring->kick_work,
				   RNOTIFY_KICK_PERIOD);
}

/**
 * rnotify_ring_block() - the next consumption is to be told
 * @ring: ring; its lock is held
 * @resv: reservation that has no free entry
 *
 * The user may have consumed, and missed need_kick: the caller looks afterwards.
 */
void rnotify_ring_block(struct rnotify_ring *ring, struct rnotify_resv *resv)
{
	if (resv->blocked)
		return;
	resv->blocked = true;
	ring->nr_starved++;
	ring_update_kick(ring);
	smp_mb();	/* H: pairs with G; then the caller looks */
}

/**
 * rnotify_ring_unblock() - it need not be told any more
 * @ring: ring; its lock is held
 * @resv: reservation
 */
void rnotify_ring_unblock(struct rnotify_ring *ring, struct rnotify_resv *resv)
{
	if (!resv->blocked)
		return;
	resv->blocked = false;
	ring->nr_starved--;
	ring_update_kick(ring);
}

static void ring_set_starved(struct rnotify_ring *ring, struct rnotify_ep *ep,
			     bool starved)
{
	lockdep_assert_held(&ring->lock);
	if (ep->starved == starved)
		return;
	ep->starved = starved;
	ring->nr_starved += starved ? 1 : -1;
	ring_update_kick(ring);
}

/**
 * rnotify_ring_update_starved() - does the peer wait for the user?
 * @ring: ring; its lock is held
 * @ep: endpoint
 * @gone: unconsumed REMOTE_REGION_GONE events, one about to be written included
 *
 * It does when it is out of data credit; or out of region slots, and consumption
 * would give some back. (A peer that just keeps all its regions shared waits for
 * nothing; nor does one whose connection ends.) Meanwhile need_kick asks the reader
 * for a KICK after it consumed.
 */
void rnotify_ring_update_starved(struct rnotify_ring *ring,
				 struct rnotify_ep *ep, u32 gone)
{
	bool open = READ_ONCE(ep->state) < RNOTIFY_EP_CLOSING;

	ring_set_starved(ring, ep, open &&
			 (!rnotify_grant_peer_left(&ep->grant) ||
			  (gone && !rnotify_grant_peer_left(&ep->region_grant))));
}

/**
 * rnotify_ring_over() - nobody waits for an endpoint's events any more
 * @ring: ring
 * @ep: endpoint, CLOSING
 *
 * Context: any but hard interrupt.
 */
void rnotify_ring_over(struct rnotify_ring *ring, struct rnotify_ep *ep)
{
	spin_lock_bh(&ring->lock);
	rnotify_ring_update_starved(ring, ep, 0);
	rnotify_ring_unblock(ring, &ep->rv_writable);
	rnotify_ring_unblock(ring, &ep->rv_tx);
	spin_unlock_bh(&ring->lock);
}
