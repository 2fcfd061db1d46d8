// SPDX-License-Identifier: GPL-2.0
/*
 * The end of an endpoint, in order:
 *
 *	posters are stopped (state CLOSING, by whoever found the cause)
 *	what was posted completes, for a while, if the end is orderly
 *	GOODBYE
 *	rdma_disconnect(): the QP turns to ERROR
 *	drain: all completions have been delivered, or none comes any more
 *	outcomes for what the device did not report
 *	DISCONNECTED: the last event
 *	waits for the counters and slot tables that it fed end
 *	QP
 *	keys of exports, remote regions
 *	CQ, PD, buffers, CM id, device
 *	CLOSED
 *
 * Runs on rnotify_wq with rnotify_ep.mutex held. Nothing here waits for the
 * peer without a limit.
 */
#include "ep.h"
#include "listener.h"
#include "route.h"

/*
 * How long GOODBYE waits for posted operations, and then for its own completion:
 * a second together. After the first half it goes behind what is still under way:
 * that may yet complete in time.
 */
#define RNOTIFY_LINGER		(HZ / 2)

static bool sq_quiet(struct rnotify_ep *ep)
{
	bool quiet;

	spin_lock_bh(&ep->lock);
	quiet = ep->sq_head == ep->sq_tail || ep->sq_broken || ep->goodbye ||
		ep->peer_left;
	spin_unlock_bh(&ep->lock);
	return quiet;
}

/*
 * An orderly end is one that this side wants while the connection is sound. Who
 * accepts can send before it knows that the answer came: then GOODBYE waits in
 * the queue pair for the peer's. A peer that broke the protocol is told, too, also
 * when it did so in the hello of its answer: by then the queue pair can send.
 */
static bool wants_goodbye(struct rnotify_ep *ep)
{
	switch (ep->down.reason) {
	case RNOTIFY_REASON_LOCAL_CLOSE:
		if (!ep->local_reason)
			ep->local_reason = RNOTIFY_REASON_LOCAL_CLOSE;
		return ep->down.stage == RNOTIFY_STAGE_ESTABLISHED ||
		       (ep->passive && ep->conn_sent);
	case RNOTIFY_REASON_PROTOCOL:
	case RNOTIFY_REASON_VERSION:
		ep->local_reason = ep->down.reason;
		return ep->conn_sent && !ep->goodbye;
	default:
		return false;
	}
}

/*
 * GOODBYE is the last in the send queue: when it is acknowledged, so is all
 * before it.
 */
static void say_goodbye(struct rnotify_ep *ep)
{
	bool sent;
	long left;

	if (!wants_goodbye(ep))
		return;

	left = wait_event_timeout(ep->wait, sq_quiet(ep), RNOTIFY_LINGER);
	spin_lock_bh(&ep->lock);
	sent = rnotify_ctrl_goodbye(ep);
	spin_unlock_bh(&ep->lock);
	if (sent)
		wait_event_timeout(ep->wait, sq_quiet(ep),
				   left + RNOTIFY_LINGER);
}

/* Why a request that was never accepted is turned down. */
static void reject_request(struct rnotify_ep *ep)
{
	const char *why = "rejected by the application";
	u16 reason = RNOTIFY_REASON_REJECTED;
	int error = -ECONNREFUSED;

	if (ep->conn_sent || ep->stage != RNOTIFY_STAGE_ACCEPT)
		return;
	if (ep->local_reason == RNOTIFY_REASON_PEER_EXIT) {
		why = "the process ended";
		reason = RNOTIFY_REASON_PEER_EXIT;
		error = -ECONNRESET;
	} else if (ep->down.reason == RNOTIFY_REASON_RESOURCES) {
		why = "no memory, or beyond the device's limits";
		reason = RNOTIFY_REASON_RESOURCES;
		error = ep->down.error;
	}
	rnotify_cm_send_reject(ep->cm_id, reason, error, why,
			       ep->private_data, ep->private_len);
}

/*
 * Nothing was delivered or posted. Such a queue pair may be one that the device
 * could not connect, and draining it may take for ever: rxe's handles no receive
 * any more when it got no memory for that. To destroy it ends its completions as
 * well. But if the peer ended it, its GOODBYE may be there, not handled yet.
 */
static bool never_connected(const struct rnotify_ep *ep)
{
	return !ep->told && !ep->sq_head &&
	       !(ep->conn_sent && ep->down.reason == RNOTIFY_REASON_PEER_CLOSE);
}

static void drain(struct rnotify_ep *ep)
{
	WRITE_ONCE(ep->draining, true);
	if (ep->down.reason == RNOTIFY_REASON_DEVICE_REMOVED)
		rnotify_dev_removal_told();
	if (ep->conn_sent)
		rdma_disconnect(ep->cm_id);
	if (ep->qp && never_connected(ep)) {
		/* Softirqs that still post receives: they are RCU readers. */
		synchronize_rcu();
		rnotify_qp_destroy(ep);
	}
	if (ep->qp)
		ib_drain_qp(ep->qp);
	if (ep->tx)
		rnotify_tx_flush(ep);
}

static void last_event(struct rnotify_ep *ep)
{
	struct rnotify_event ev = {};

	ep->down.delivered = ep->rx_seq;
	ep->down.confirmed = ep->tx_confirmed;
	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_DISCONNECTED);
	ev.down = ep->down;

	if (ep->listener)
		rnotify_listener_last_event(ep, &ev);
	else
		rnotify_ring_put(ep->ring, &ep->rv_life, &ev);
	rnotify_eventfd_notify(&ep->eventfd);
}

static void release_cm(struct rnotify_ep *ep)
{
	rnotify_qp_destroy(ep);
	rdma_destroy_id(ep->cm_id);
	ep->cm_id = NULL;
	rnotify_dev_detach(ep);
}

/**
 * rnotify_ep_teardown() - take an endpoint from CLOSING to CLOSED
 * @ep: endpoint; mutex held
 *
 * Context: process, sleeps.
 */
void rnotify_ep_teardown(struct rnotify_ep *ep)
{
	lockdep_assert_held(&ep->mutex);
	cancel_delayed_work_sync(&ep->timer);
	say_goodbye(ep);
	reject_request(ep);
	drain(ep);
	rnotify_ring_over(ep->ring, ep);
	last_event(ep);
	rnotify_routes_end(ep);
	rnotify_qp_end(ep);
	rnotify_exports_revoke_all(ep);
	rnotify_remotes_destroy(ep);
	release_cm(ep);

	spin_lock_bh(&ep->lock);
	rnotify_ep_transition(ep, RNOTIFY_EP_CLOSED);
	wake_up_all(&ep->wait);
	spin_unlock_bh(&ep->lock);
	complete_all(&ep->closed);
}
