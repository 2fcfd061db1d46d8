// SPDX-License-Identifier: GPL-2.0
/*
 * The send queue: slots, chains, completions.
 *
 * Work requests complete in the order in which they were posted, so the slots
 * are a ring like the queue itself: sq_tail follows sq_head. Not every work
 * request is signalled; the completion of one is that of all before it. When
 * the queue is flushed, rnotify_tx_flush() gives an outcome to whatever the
 * device did not report.
 *
 * An operation may be a chain of several work requests. What belongs to the
 * operation - region references, credit, the user's wish for TX_DONE - sits in
 * the slot of the last. Several operations may share work requests, too: see
 * bundle.c; then there are more slots than work requests, and all of a bundle
 * complete together.
 */
#include <linux/poll.h>

#include "ep.h"
#include "trace.h"

static const u32 sq_budget[RNOTIFY_SQ_CLASSES] = {
	[RNOTIFY_SQ_CLASS_CTRL] = RNOTIFY_SQ_CTRL,
	[RNOTIFY_SQ_CLASS_REG] = RNOTIFY_SQ_REG,
};

/**
 * rnotify_tx_room() - is there room in a class's budget?
 * @ep: endpoint; lock held
 * @sq_class: budget
 * @nr: work requests
 *
 * Return: true if @nr more can be posted.
 */
bool rnotify_tx_room(const struct rnotify_ep *ep,
		     enum rnotify_sq_class sq_class, u32 nr)
{
	u32 budget = sq_class == RNOTIFY_SQ_CLASS_DATA ?
		     ep->params.send_depth : sq_budget[sq_class];

	return ep->sq_used[sq_class] + nr <= budget;
}

/**
 * rnotify_tx_next() - take the next slot
 * @ep: endpoint; lock held
 * @sq_class: budget, which has room
 *
 * Return: slot, cleared but for its constant part.
 */
struct rnotify_tx *rnotify_tx_next(struct rnotify_ep *ep,
				   enum rnotify_sq_class sq_class)
{
	struct rnotify_tx *tx = rnotify_tx_slot(ep, ep->sq_head);

	lockdep_assert_held(&ep->lock);
	tx->map = NULL;
	tx->remote = NULL;
	tx->export = NULL;
	tx->user_data = 0;
	tx->byte_len = 0;
	tx->wr_bytes = 0;
	tx->opcode = 0;
	tx->sq_class = sq_class;
	tx->last = true;
	tx->bundled = false;
	tx->event = false;
	tx->credit = false;
	tx->ctrl = -1;
	tx->msg_type = 0;

	ep->sq_head++;
	ep->sq_used[sq_class]++;
	ep->sq_high = max(ep->sq_high, ep->sq_head - ep->sq_tail);
	return tx;
}

/* For one more, with as many scatter elements as there may be? */
static bool chain_room(const struct rnotify_ep *ep)
{
	const struct ib_send_wr *last = &ep->chain_wr[ep->chain_len - 1].wr;
	u32 used = last->sg_list + last->num_sge - ep->chain_sge;

	return ep->chain_len < RNOTIFY_CHAIN_WRS &&
	       used + ep->max_sge <= RNOTIFY_CHAIN_SGES;
}

/**
 * rnotify_chain_add() - add a work request to the chain being built
 * @ep: endpoint; lock held
 * @tx: its slot, behind those of all that were added before
 *
 * Return: work request with wr_cqe, sg_list (room for max_sge) and next set;
 * the rest is zero.
 */
union rnotify_wr *rnotify_chain_add(struct rnotify_ep *ep,
				    struct rnotify_tx *tx)
{
	struct ib_send_wr *last;
	union rnotify_wr *wr;

	if (ep->chain_len && !chain_room(ep))
		rnotify_chain_flush(ep, false);

	wr = &ep->chain_wr[ep->chain_len];
	memset(wr, 0, sizeof(*wr));
	wr->wr.wr_cqe = &tx->cqe;
	wr->wr.sg_list = ep->chain_sge;
	if (ep->chain_len) {
		last = &ep->chain_wr[ep->chain_len - 1].wr;
		wr->wr.sg_list = last->sg_list + last->num_sge;
		last->next = &wr->wr;
	}
	ep->chain_len++;
	return wr;
}

static u32 wr_bytes(const struct ib_send_wr *wr)
{
	u32 bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

/**
 * rnotify_post_wr() - hand work requests to the device
 * @ep: endpoint; lock held
 * @wr: first of a chain; each has its slot
 *
 * Signals one after RNOTIFY_SIGNAL_EVERY, and after RNOTIFY_SIGNAL_BYTES, for the
 * slots to come back and for progress to be seen; of a bundle only the last.
 * A device that refuses what it has room for is broken: the endpoint fails,
 * and the slots get their outcome from the flush.
 */
void rnotify_post_wr(struct rnotify_ep *ep, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;
	struct ib_send_wr *i;
	int ret;

	lockdep_assert_held(&ep->lock);
	/* Nothing may follow a hole: the flush gives these their outcome. */
	if (ep->post_failed)
		return;
	for (i = wr; i; i = i->next) {
		struct rnotify_tx *tx = container_of(i->wr_cqe,
						     struct rnotify_tx, cqe);

		tx->wr_bytes = wr_bytes(i);
		ep->sq_bytes += tx->wr_bytes;
		ep->sq_unsignaled_bytes += tx->wr_bytes;
		ep->sq_unsignaled++;
		if (!tx->bundled &&
		    (ep->sq_unsignaled >= RNOTIFY_SIGNAL_EVERY ||
		     ep->sq_unsignaled_bytes >= RNOTIFY_SIGNAL_BYTES))
			i->send_flags |= IB_SEND_SIGNALED;
		if (i->send_flags & IB_SEND_SIGNALED) {
			ep->sq_unsignaled = 0;
			ep->sq_unsignaled_bytes = 0;
		}
	}
	ret = ib_post_send(ep->qp, wr, &bad);
	if (ret) {
		ep->post_failed = true;
		rnotify_ep_fail_locked(ep, RNOTIFY_REASON_TRANSPORT, ret, 0, 0);
	}
}

/**
 * rnotify_chain_flush() - post the chain
 * @ep: endpoint; lock held
 * @signal_last: the last of it is the last for now: without a completion of
 *	its own, nobody would learn of its end
 */
void rnotify_chain_flush(struct rnotify_ep *ep, bool signal_last)
{
	if (!ep->chain_len)
		return;
	if (signal_last)
		ep->chain_wr[ep->chain_len - 1].wr.send_flags |=
			IB_SEND_SIGNALED;
	ep->chain_len = 0;
	rnotify_post_wr(ep, &ep->chain_wr[0].wr);
}

/**
 * rnotify_tx_keepalive() - find out whether the peer's host still answers
 * @ep: endpoint with nothing posted; lock held
 *
 * A zero-length RDMA WRITE: acknowledged by the peer's transport, and takes
 * no receive, no imm, no credit, no key.
 */
void rnotify_tx_keepalive(struct rnotify_ep *ep)
{
	union rnotify_wr *wr;

	if (!rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_CTRL, 1))
		return;
	wr = rnotify_chain_add(ep, rnotify_tx_next(ep, RNOTIFY_SQ_CLASS_CTRL));
	wr->wr.opcode = IB_WR_RDMA_WRITE;
	rnotify_chain_flush(ep, true);
}

/*
 * ---- completion -------------------------------------------------------
 */

/*
 * Would the post that got -EAGAIN go through, or fail for good? The last is asked
 * last: who only waits for the reader asks to be told of it.
 */
static bool may_write(struct rnotify_ep *ep)
{
	if (ep->state != RNOTIFY_EP_ESTABLISHED)
		return true;
	return rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_DATA, ep->want_wrs) &&
	       (!ep->want_credit || rnotify_credit_left(&ep->credit)) &&
	       (!ep->want_event ||
		rnotify_ring_free_or_block(ep->ring, &ep->rv_tx));
}

/*
 * The WRITABLE event. While the one before is unconsumed it stays owed: its
 * consumption brings us here again.
 */
static void pay_writable(struct rnotify_ep *ep)
{
	struct rnotify_event ev = {};

	if (!rnotify_ring_free_or_block(ep->ring, &ep->rv_writable))
		return;
	ep->owe_writable = false;
	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_WRITABLE);
	rnotify_ring_put(ep->ring, &ep->rv_writable, &ev);
}

/**
 * rnotify_tx_wake() - room, credit or state changed
 * @ep: endpoint; lock held
 *
 * Wakes blocked posters. A poster that got -EAGAIN is told by EPOLLOUT and
 * WRITABLE, a SHARE that got -EMFILE by WRITABLE.
 */
void rnotify_tx_wake(struct rnotify_ep *ep)
{
	bool up = ep->state == RNOTIFY_EP_ESTABLISHED;

	lockdep_assert_held(&ep->lock);
	ep->room_seq++;
	if (wq_has_sleeper(&ep->wait))
		wake_up_all(&ep->wait);

	if (ep->want_write && may_write(ep)) {
		ep->want_write = false;
		ep->owe_writable = true;
		atomic_dec(&ep->obj.ctx->nr_blocked);
		wake_up_poll(&ep->ring->wq, EPOLLOUT | EPOLLWRNORM);
	}
	if (ep->want_place && rnotify_ep_has_place(ep)) {
		ep->want_place = false;
		ep->owe_writable = true;
	}
	if (ep->owe_writable && up)
		pay_writable(ep);
}

static void tx_event(struct rnotify_ep *ep, const struct rnotify_tx *tx,
		     int error, u32 ib_status, u32 vendor_err)
{
	struct rnotify_event ev = {};

	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_TX_DONE);
	ev.tx.user_data = tx->user_data;
	ev.tx.error = error;
	ev.tx.opcode = tx->opcode;
	ev.tx.ib_status = ib_status;
	ev.tx.vendor_err = vendor_err;
	ev.tx.byte_len = tx->byte_len;
	rnotify_ring_put(ep->ring, &ep->rv_tx, &ev);
}

static void tx_ctrl_done(struct rnotify_ep *ep, const struct rnotify_tx *tx)
{
	if (tx->ctrl >= 0)
		__clear_bit(tx->ctrl, &ep->ctrl_busy);
	if (tx->msg_type == RNOTIFY_WIRE_CREDIT)
		ep->credit_busy = false;
}

/* One slot's outcome. error 0: success. */
static void tx_finish(struct rnotify_ep *ep, struct rnotify_tx *tx, int error,
		      u32 ib_status, u32 vendor_err)
{
	ep->sq_used[tx->sq_class]--;
	ep->sq_bytes -= tx->wr_bytes;
	if (tx->sq_class == RNOTIFY_SQ_CLASS_CTRL)
		tx_ctrl_done(ep, tx);
	if (tx->export)
		rnotify_export_registered(tx->export);
	if (!tx->opcode || !tx->last)
		return;
	trace_rnotify_tx_done(ep, tx, error, ib_status);

	if (!error) {
		ep->tx_bytes += tx->byte_len;
		ep->tx_confirmed += tx->credit;
	}
	if (tx->event)
		tx_event(ep, tx, error, ib_status, vendor_err);
	if (tx->map)
		rnotify_map_put(tx->map);
	if (tx->remote)
		rnotify_remote_put(ep, tx->remote);
}

/*
 * A work request in the middle of an operation or a bundle failed: the outcome of
 * all of it is that failure, not the flush of its last one.
 */
static void tx_fail_op(struct rnotify_ep *ep, const struct ib_wc *wc)
{
	struct rnotify_tx *tx;

	do {
		tx = rnotify_tx_slot(ep, ep->sq_tail++);
		tx_finish(ep, tx, rnotify_wc_errno(wc->status), wc->status,
			  wc->vendor_err);
	} while ((!tx->last || tx->bundled) && ep->sq_tail != ep->sq_head);
}

/* All before @end went well. */
static void tx_succeed(struct rnotify_ep *ep, u32 end)
{
	while (ep->sq_tail != end)
		tx_finish(ep, rnotify_tx_slot(ep, ep->sq_tail++), 0, 0, 0);
}

/* The first slot of a bundle, given one of its slots; else that one. */
static u32 tx_bundle_start(const struct rnotify_ep *ep, u32 slot)
{
	while (slot != ep->sq_tail && rnotify_tx_slot(ep, slot - 1)->bundled)
		slot--;
	return slot;
}

static void tx_complete(struct rnotify_ep *ep, const struct rnotify_tx *tx,
			const struct ib_wc *wc)
{
	u32 ahead = (tx - ep->tx - ep->sq_tail) & ep->sq_mask;
	u32 slot = ep->sq_tail + ahead;

	/*
	 * Behind the first failure there are only flushes: rnotify_tx_flush() does
	 * as much. Some are of operations that have their outcome, see tx_fail_op(),
	 * and whose slots may be those of new ones.
	 */
	if (ep->sq_broken || ahead >= ep->sq_head - ep->sq_tail)
		return;

	if (wc->status != IB_WC_SUCCESS) {
		tx_succeed(ep, tx_bundle_start(ep, slot));
		tx_fail_op(ep, wc);
	} else if (!tx->bundled) {
		tx_succeed(ep, slot + 1);
	}
}

/**
 * rnotify_tx_done() - ib_cqe.done of the send queue
 * @cq: completion queue
 * @wc: completion; on failure only wr_cqe, status and vendor_err are valid
 *
 * Context: softirq.
 */
void rnotify_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rnotify_tx *tx = container_of(wc->wr_cqe, struct rnotify_tx,
					     cqe);
	struct rnotify_ep *ep = tx->ep;

	spin_lock_bh(&ep->lock);
	tx_complete(ep, tx, wc);
	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			rnotify_ep_fail_locked(ep, rnotify_wc_reason(wc->status),
					       rnotify_wc_errno(wc->status),
					       wc->status, wc->vendor_err);
		ep->sq_broken = true;
	} else {
		rnotify_ctrl_pump(ep);
	}
	rnotify_tx_wake(ep);
	spin_unlock_bh(&ep->lock);
	rnotify_ctrl_credit(ep);
}

/**
 * rnotify_tx_flush() - outcomes for all that is left
 * @ep: endpoint whose queue is drained
 */
void rnotify_tx_flush(struct rnotify_ep *ep)
{
	spin_lock_bh(&ep->lock);
	while (ep->sq_tail != ep->sq_head)
		tx_finish(ep, rnotify_tx_slot(ep, ep->sq_tail++), -ECONNABORTED,
			  IB_WC_WR_FLUSH_ERR, 0);
	rnotify_tx_wake(ep);
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_tx_uses() - does a posted operation use a region?
 * @ep: endpoint
 * @region: region
 *
 * Context: any but hard interrupt.
 * Return: true if it does.
 */
bool rnotify_tx_uses(struct rnotify_ep *ep, const struct rnotify_region *region)
{
	bool found = false;
	u32 i;

	spin_lock_bh(&ep->lock);
	for (i = ep->sq_tail; i != ep->sq_head && !found; i++) {
		const struct rnotify_map *map = rnotify_tx_slot(ep, i)->map;

		found = map && map->region == region;
	}
	spin_unlock_bh(&ep->lock);
	return found;
}
