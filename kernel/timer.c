// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint's timer: gives up on connecting, and finds dead peers.
 *
 * It ticks four times in keepalive_ms. When nothing is posted, a tick posts a
 * keepalive; when something is posted and nothing completed during half of
 * keepalive_ms, the peer's host is taken for dead. In the worst case that is
 * one tick to post, and three to see: within keepalive_ms.
 *
 * A work request of many bytes may take longer on a slow link, and shows no
 * progress meanwhile, so bytes under way buy time. A dead peer is then found by
 * the transport's own retries (rnotify_cm_tune()). These alone would not do:
 * a peer that posts no receives can keep RNR retries going for ever.
 *
 * It does not run on rnotify_wq, where teardowns of many other endpoints may keep
 * all workers waiting.
 */
#include "ep.h"

/* Slower than any link that is worth waiting for; an emulated one included. */
#define RNOTIFY_MIN_BYTES_PER_S	(128u << 10)

/* Bytes under way buy no more than so many times keepalive_ms. */
#define RNOTIFY_PATIENCE_MAX	4

static unsigned long patience(const struct rnotify_ep *ep)
{
	u64 more = div_u64(ep->sq_bytes * HZ, RNOTIFY_MIN_BYTES_PER_S);
	u32 ms = ep->params.keepalive_ms;

	return msecs_to_jiffies(ms / 2) +
	       min_t(u64, more, RNOTIFY_PATIENCE_MAX * msecs_to_jiffies(ms));
}

static void tick_established(struct rnotify_ep *ep)
{
	if (ep->sq_head == ep->sq_tail) {
		rnotify_tx_keepalive(ep);
	} else if (ep->stall_tail == ep->sq_tail &&
		   time_after_eq(jiffies, ep->stall_since + patience(ep))) {
		rnotify_ep_fail_locked(ep, RNOTIFY_REASON_PEER_LOST,
				       -ETIMEDOUT, 0, 0);
		return;
	} else if (ep->stall_tail == ep->sq_tail) {
		return;
	}
	ep->stall_tail = ep->sq_tail;
	ep->stall_since = jiffies;
}

static void tick(struct rnotify_ep *ep)
{
	switch (ep->state) {
	case RNOTIFY_EP_ESTABLISHED:
		tick_established(ep);
		break;
	case RNOTIFY_EP_REQUEST:
		/* The user's time to answer is the peer's patience. */
		break;
	default:
		if (time_after_eq(jiffies, ep->deadline))
			rnotify_ep_fail_locked(ep, RNOTIFY_REASON_TIMEOUT,
					       -ETIMEDOUT, 0, 0);
	}
}

static unsigned long next_tick(const struct rnotify_ep *ep)
{
	unsigned long period = msecs_to_jiffies(ep->params.keepalive_ms / 4);
	long left = ep->deadline - jiffies;

	if (ep->state != RNOTIFY_EP_ESTABLISHED && left > 0)
		return min_t(unsigned long, period, left);
	return max(period, 1ul);
}

/**
 * rnotify_ep_timer_start() - start ticking
 * @ep: endpoint with its parameters
 */
void rnotify_ep_timer_start(struct rnotify_ep *ep)
{
	queue_delayed_work(system_unbound_wq, &ep->timer, next_tick(ep));
}

/**
 * rnotify_ep_timer_fn() - a tick
 * @work: rnotify_ep.timer
 *
 * Stopped by the teardown, which waits for it: takes no rnotify_ep.mutex.
 */
void rnotify_ep_timer_fn(struct work_struct *work)
{
	struct rnotify_ep *ep = container_of(to_delayed_work(work),
					     struct rnotify_ep, timer);

	spin_lock_bh(&ep->lock);
	if (ep->state < RNOTIFY_EP_CLOSING)
		tick(ep);
	if (ep->state < RNOTIFY_EP_CLOSING)
		queue_delayed_work(system_unbound_wq, &ep->timer, next_tick(ep));
	spin_unlock_bh(&ep->lock);
}
