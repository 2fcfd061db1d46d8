// SPDX-License-Identifier: GPL-2.0
/*
 * Notices: events that tell that something is so, of which one in the ring at a
 * time is enough. Each has a ring entry of its own, so that it can be given at
 * any time, from whatever context. While the entry holds an event that is not
 * consumed, the notice is kept back, and given when it is; need_kick asks the
 * reader to tell.
 */
#include "ring.h"
#include "ring_math.h"

/**
 * rnotify_notice_init() - prepare a notice
 * @notice: zeroed
 * @fill: completes its event; called under the ring's lock
 */
void rnotify_notice_init(struct rnotify_notice *notice,
			 void (*fill)(struct rnotify_notice *notice,
				      struct rnotify_event *ev))
{
	notice->resv.kind = RNOTIFY_RESV_NOTICE;
	notice->fill = fill;
}

/**
 * rnotify_notice_give() - now, or when the one before is consumed
 * @ring: ring; its lock is held
 * @notice: notice with its entry reserved
 *
 * The caller looks at what was consumed afterwards, by rnotify_ring_reclaim() or
 * what it is made of: the user may have consumed the one before, and missed
 * need_kick.
 */
void rnotify_notice_give(struct rnotify_ring *ring,
			 struct rnotify_notice *notice)
{
	struct rnotify_resv *resv = &notice->resv;
	struct rnotify_event ev = {};

	lockdep_assert_held(&ring->lock);
	if (resv->in_ring) {
		rnotify_ring_block(ring, resv);
		return;
	}
	if (WARN_ON_ONCE(!resv->nr))
		return;
	notice->fill(notice, &ev);
	rnotify_ring_commit(ring, resv, &ev,
			    rnotify_ring_slot(ring->prod, ring->entries));
}

/**
 * rnotify_notice_cancel() - forget one that was kept back
 * @ring: ring; its lock is held
 * @notice: notice
 */
void rnotify_notice_cancel(struct rnotify_ring *ring,
			   struct rnotify_notice *notice)
{
	rnotify_ring_unblock(ring, &notice->resv);
}
