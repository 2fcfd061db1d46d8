// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages: CREDIT, REGION, REGION_GONE, REGION_GONE_ACK, GOODBYE.
 *
 * Each is a SEND from one of RNOTIFY_SQ_CTRL buffers. REGION and the like take
 * a control credit, which the peer's kernel returns when it has handled the
 * message; CREDIT and GOODBYE take none, and are bounded by themselves: at most
 * one CREDIT is unacknowledged (see credit.h for what the peer may not have
 * handled yet), and GOODBYE is said once.
 *
 * The budget of buffers: one is for CREDIT, one for GOODBYE, one for a
 * keepalive (which needs no buffer, but a slot of the class); the rest is for
 * messages with control credit.
 */
#include "ep.h"
#include "trace.h"

#define CTRL_SLOTS_KEPT		3u

static int ctrl_buf_get(struct rnotify_ep *ep)
{
	int i = find_first_zero_bit(&ep->ctrl_busy, RNOTIFY_SQ_CTRL);

	if (i >= RNOTIFY_SQ_CTRL)
		return -1;
	__set_bit(i, &ep->ctrl_busy);
	return i;
}

/* Posts @msg. The caller made sure of room. */
static void ctrl_send(struct rnotify_ep *ep, const struct rnotify_wire_msg *msg)
{
	struct rnotify_bufs *bufs = &ep->send_bufs;
	int i = ctrl_buf_get(ep);
	struct rnotify_tx *tx;
	union rnotify_wr *wr;
	int len;

	if (WARN_ON_ONCE(i < 0))
		return;
	ib_dma_sync_single_for_cpu(bufs->ib, rnotify_bufs_dma(bufs, i),
				   RNOTIFY_WIRE_CTRL_MAX, DMA_TO_DEVICE);
	len = rnotify_wire_put_msg(rnotify_bufs_va(bufs, i),
				   RNOTIFY_WIRE_CTRL_MAX, msg);
	ib_dma_sync_single_for_device(bufs->ib, rnotify_bufs_dma(bufs, i),
				      RNOTIFY_WIRE_CTRL_MAX, DMA_TO_DEVICE);
	if (WARN_ON_ONCE(len < 0)) {
		__clear_bit(i, &ep->ctrl_busy);
		return;
	}

	tx = rnotify_tx_next(ep, RNOTIFY_SQ_CLASS_CTRL);
	tx->ctrl = i;
	tx->msg_type = msg->type;
	wr = rnotify_chain_add(ep, tx);
	wr->wr.opcode = IB_WR_SEND;
	wr->wr.num_sge = 1;
	wr->wr.sg_list[0].addr = rnotify_bufs_dma(bufs, i);
	wr->wr.sg_list[0].length = len;
	wr->wr.sg_list[0].lkey = ep->pd->local_dma_lkey;
	rnotify_chain_flush(ep, true);
}

/* Takes the totals if there is something to tell. */
static bool ctrl_take_credit(struct rnotify_ep *ep,
			     struct rnotify_wire_msg *msg)
{
	struct rnotify_ring *ring = ep->ring;
	bool due;

	spin_lock_bh(&ring->lock);
	due = rnotify_grant_due(&ep->grant) ||
	      rnotify_grant_due(&ep->ctrl_grant) ||
	      rnotify_grant_due(&ep->region_grant);
	if (due) {
		msg->credit.data = rnotify_grant_take(&ep->grant);
		msg->credit.ctrl = rnotify_grant_take(&ep->ctrl_grant);
		msg->credit.regions = rnotify_grant_take(&ep->region_grant);
		rnotify_ring_update_starved(ring, ep, ep->rv_gone.in_ring);
	}
	spin_unlock_bh(&ring->lock);
	return due;
}

/**
 * rnotify_ctrl_credit() - send a CREDIT if one is due
 * @ep: endpoint
 *
 * Context: any but hard interrupt; no locks of ours held.
 */
void rnotify_ctrl_credit(struct rnotify_ep *ep)
{
	struct rnotify_wire_msg msg = { .type = RNOTIFY_WIRE_CREDIT };

	spin_lock_bh(&ep->lock);
	if (ep->state == RNOTIFY_EP_ESTABLISHED && ep->have_hello &&
	    !ep->credit_busy && ctrl_take_credit(ep, &msg)) {
		ep->credit_busy = true;
		trace_rnotify_credit(ep, &msg, true);
		ctrl_send(ep, &msg);
	}
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_ctrl_goodbye() - tell the peer that this is the end
 * @ep: endpoint, CLOSING; lock held
 *
 * Return: true if it was posted, and its completion can be waited for.
 */
bool rnotify_ctrl_goodbye(struct rnotify_ep *ep)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_GOODBYE,
		.goodbye.reason = ep->local_reason,
		.goodbye.error = ep->down.error,
	};

	if (ep->goodbye_sent || ep->sq_broken ||
	    !rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_CTRL, 1))
		return false;
	ep->goodbye_sent = true;
	ctrl_send(ep, &msg);
	return true;
}

/*
 * ---- messages that take a control credit ------------------------------
 */

static bool send_region(struct rnotify_ep *ep, struct rnotify_export *export)
{
	__le32 keys[RNOTIFY_WIRE_CTRL_MAX / sizeof(__le32)];
	u32 here = min(export->nr_mrs - export->next_key,
		       rnotify_wire_region_keys_max());
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_REGION,
		.region = {
			.share_id = export->obj.id,
			.rights = export->rights,
			.length = export->length,
			.tag = export->tag,
			.first_offset = export->first_offset,
			.chunk_shift = export->chunk_shift,
			.nr_keys = export->nr_mrs,
			.first_key = export->next_key,
			.keys_here = here,
			.keys = keys,
		},
	};
	u32 i;

	for (i = 0; i < here; i++)
		keys[i] = cpu_to_le32(export->mrs[export->next_key + i]->rkey);
	export->next_key += here;
	ctrl_send(ep, &msg);
	return export->next_key == export->nr_mrs;
}

static void send_gone(struct rnotify_ep *ep, u8 type, u32 share_id)
{
	struct rnotify_wire_msg msg = {
		.type = type,
		.gone.share_id = share_id,
	};

	ctrl_send(ep, &msg);
}

/* Sends the item's next message. Return: true if it was its last. */
static bool send_item(struct rnotify_ep *ep, struct rnotify_ctrl_item *item)
{
	struct rnotify_export *export;
	struct rnotify_remote *remote;

	switch (item->type) {
	case RNOTIFY_WIRE_REGION:
		export = container_of(item, struct rnotify_export, announce);
		return send_region(ep, export);
	case RNOTIFY_WIRE_REGION_GONE:
		export = container_of(item, struct rnotify_export, gone);
		send_gone(ep, item->type, export->obj.id);
		return true;
	default:
		remote = container_of(item, struct rnotify_remote, ack);
		send_gone(ep, item->type, remote->share.share_id);
		return true;
	}
}

/* What was only kept for the message goes. */
static void item_sent(struct rnotify_ep *ep, struct rnotify_ctrl_item *item)
{
	if (item->type == RNOTIFY_WIRE_REGION_GONE_ACK)
		rnotify_remote_free(ep, container_of(item,
						     struct rnotify_remote,
						     ack));
	else if (item->type == RNOTIFY_WIRE_REGION_GONE)
		rnotify_export_gone_sent(container_of(item,
						      struct rnotify_export,
						      gone));
}

/**
 * rnotify_ctrl_pump() - send what waits, as far as credit and buffers go
 * @ep: endpoint; lock held
 *
 * Strictly first come, first served: REGION_GONE never overtakes its REGION.
 */
void rnotify_ctrl_pump(struct rnotify_ep *ep)
{
	struct rnotify_ctrl_item *item;

	lockdep_assert_held(&ep->lock);
	while (!list_empty(&ep->ctrl_queue)) {
		if (ep->state != RNOTIFY_EP_ESTABLISHED ||
		    !rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_CTRL,
				     CTRL_SLOTS_KEPT + 1) ||
		    !rnotify_credit_use(&ep->ctrl_credit))
			return;
		item = list_first_entry(&ep->ctrl_queue,
					struct rnotify_ctrl_item, node);
		if (!send_item(ep, item))
			continue;
		list_del_init(&item->node);
		item_sent(ep, item);
	}
}

/**
 * rnotify_ctrl_enqueue() - let a control message wait for its turn
 * @ep: endpoint; lock held
 * @item: embedded in what it is about
 * @type: RNOTIFY_WIRE_REGION, _GONE or _GONE_ACK
 */
void rnotify_ctrl_enqueue(struct rnotify_ep *ep, struct rnotify_ctrl_item *item,
			  u8 type)
{
	item->type = type;
	list_add_tail(&item->node, &ep->ctrl_queue);
	rnotify_ctrl_pump(ep);
}

/*
 * ---- received ---------------------------------------------------------
 */

static int receive_credit(struct rnotify_ep *ep,
			  const struct rnotify_wire_msg *msg)
{
	int data, ctrl, regions;

	trace_rnotify_credit(ep, msg, false);
	spin_lock_bh(&ep->lock);
	data = rnotify_credit_update(&ep->credit, msg->credit.data);
	ctrl = rnotify_credit_update(&ep->ctrl_credit, msg->credit.ctrl);
	regions = rnotify_credit_update(&ep->region_credit,
					msg->credit.regions);
	if (ctrl > 0)
		rnotify_ctrl_pump(ep);
	if (data > 0 || regions > 0)
		rnotify_tx_wake(ep);
	spin_unlock_bh(&ep->lock);
	return min3(data, ctrl, regions) < 0 ? -EPROTO : 0;
}

static void receive_goodbye(struct rnotify_ep *ep,
			    const struct rnotify_wire_msg *msg)
{
	u16 reason = msg->goodbye.reason == RNOTIFY_REASON_PEER_EXIT ?
		     RNOTIFY_REASON_PEER_EXIT : RNOTIFY_REASON_PEER_CLOSE;

	spin_lock_bh(&ep->lock);
	ep->goodbye = true;
	rnotify_ep_fail_locked(ep, reason, -ECONNRESET, 0, 0);
	/* The CM's disconnect, on another queue pair, may have been faster. */
	if (ep->down.reason == RNOTIFY_REASON_PEER_CLOSE)
		ep->down.reason = reason;
	if (ep->down.reason == reason)
		ep->down.vendor_err = msg->goodbye.reason;
	/* Who lingers need not any more. */
	wake_up_all(&ep->wait);
	spin_unlock_bh(&ep->lock);
}

/* Counts a message that takes control credit, and returns the credit. */
static bool ctrl_account(struct rnotify_ep *ep)
{
	bool ok;

	spin_lock_bh(&ep->ring->lock);
	ok = rnotify_grant_arrived(&ep->ctrl_grant);
	if (ok)
		rnotify_grant_return(&ep->ctrl_grant, 1);
	spin_unlock_bh(&ep->ring->lock);
	return ok;
}

/**
 * rnotify_ctrl_receive() - handle a control message
 * @ep: endpoint
 * @msg: decoded and checked for form; its pointers are valid during the call
 *
 * Context: softirq.
 * Return: 0, -EPROTO if the peer must not send this now, -ENOMEM.
 */
int rnotify_ctrl_receive(struct rnotify_ep *ep,
			 const struct rnotify_wire_msg *msg)
{
	int ret = 0;

	if (msg->type == RNOTIFY_WIRE_CREDIT)
		return receive_credit(ep, msg);
	if (msg->type == RNOTIFY_WIRE_GOODBYE) {
		receive_goodbye(ep, msg);
		return 0;
	}
	if (!ctrl_account(ep))
		return -EPROTO;

	switch (msg->type) {
	case RNOTIFY_WIRE_REGION:
		ret = rnotify_remote_announce(ep, msg);
		break;
	case RNOTIFY_WIRE_REGION_GONE:
		ret = rnotify_remote_gone(ep, msg->gone.share_id);
		break;
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		rnotify_export_acked(ep, msg->gone.share_id);
		break;
	default:
		return -EPROTO;
	}
	rnotify_ctrl_credit(ep);
	return ret;
}
