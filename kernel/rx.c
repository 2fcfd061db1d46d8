// SPDX-License-Identifier: GPL-2.0
/*
 * Receives. Every one has a small buffer, since any may meet a message; it is
 * posted again as soon as the completion is handled. What the peer may send is
 * not limited by receives coming back, but by credit: see credit.h.
 */
#include "ep.h"
#include "trace.h"

/* Receives that are posted by one call when the queue is filled. */
#define RX_BATCH	8u

static void rx_wr(struct rnotify_ep *ep, struct rnotify_rx *rx,
		  struct ib_recv_wr *wr, struct ib_sge *sge)
{
	u32 i = rx - ep->rx;

	*sge = (struct ib_sge){
		.addr = rnotify_bufs_dma(&ep->rx_bufs, i),
		.length = ep->rx_bufs.stride,
		.lkey = ep->pd->local_dma_lkey,
	};
	*wr = (struct ib_recv_wr){
		.wr_cqe = &rx->cqe,
		.sg_list = sge,
		.num_sge = 1,
	};
}

static int rx_post(struct rnotify_ep *ep, struct rnotify_rx *rx)
{
	struct ib_recv_wr wr;
	struct ib_sge sge;

	rx_wr(ep, rx, &wr, &sge);
	return ib_post_recv(ep->qp, &wr, NULL);
}

static int rx_post_batch(struct rnotify_ep *ep, struct rnotify_rx *rx, u32 nr)
{
	struct ib_recv_wr wr[RX_BATCH];
	struct ib_sge sge[RX_BATCH];
	u32 i;

	for (i = 0; i < nr; i++) {
		rx_wr(ep, rx + i, &wr[i], &sge[i]);
		if (i)
			wr[i - 1].next = &wr[i];
	}
	return ib_post_recv(ep->qp, wr, NULL);
}

/**
 * rnotify_rx_post_all() - fill the receive queue
 * @ep: endpoint with a new QP; mutex held
 *
 * Return: 0 or a negative errno.
 */
int rnotify_rx_post_all(struct rnotify_ep *ep)
{
	u32 i, nr;
	int ret;

	for (i = 0; i < ep->rq_size; i += nr) {
		nr = min(RX_BATCH, ep->rq_size - i);
		ret = rx_post_batch(ep, &ep->rx[i], nr);
		if (ret)
			return ret;
	}
	ep->rq_posted = ep->rq_size;
	ep->rq_low = ep->rq_size;
	return 0;
}

/*
 * A NOTIFY or MESSAGE. What comes after the peer's GOODBYE, or without credit
 * while we close, is a device's replay (rxe before 6.12.117 repeats the last
 * packet when a QP turns to ERROR): dropped. Without credit at any other time
 * the peer lies. Data of an endpoint that was closed before it was established
 * have nobody to go to.
 */
static int rx_deliver(struct rnotify_ep *ep, struct rnotify_event *ev,
		      const void *payload)
{
	if (READ_ONCE(ep->goodbye) || !READ_ONCE(ep->told))
		return 0;
	if (!rnotify_ring_put_rx(ep->ring, ep, ev, payload))
		return READ_ONCE(ep->state) == RNOTIFY_EP_ESTABLISHED ?
		       -EPROTO : 0;
	WRITE_ONCE(ep->rx_bytes, ep->rx_bytes + ev->notify.byte_len);
	return 0;
}

/* What the peer sends may come before the CM tells that the connection is there. */
static void rx_established(struct rnotify_ep *ep)
{
	/* Acquire: what comes now follows ESTABLISHED in the ring. */
	if (unlikely(smp_load_acquire(&ep->state) < RNOTIFY_EP_ESTABLISHED))
		rnotify_ep_established(ep);
}

static void rx_imm(struct rnotify_event *ev, const struct ib_wc *wc)
{
	if (!(wc->wc_flags & IB_WC_WITH_IMM))
		return;
	ev->flags |= RNOTIFY_EVENT_F_IMM;
	ev->notify.imm = be32_to_cpu(wc->ex.imm_data);
}

static int rx_notify(struct rnotify_ep *ep, const struct ib_wc *wc)
{
	struct rnotify_event ev = {};

	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_NOTIFY);
	rx_imm(&ev, wc);
	ev.notify.byte_len = wc->byte_len;
	return rx_deliver(ep, &ev, NULL);
}

static int rx_message(struct rnotify_ep *ep, const struct ib_wc *wc,
		      const struct rnotify_wire_msg *msg)
{
	struct rnotify_event ev = {};

	if (!ep->ring->msg_size || msg->message.len > ep->ring->msg_size)
		return -EPROTO;
	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_MESSAGE);
	rx_imm(&ev, wc);
	ev.notify.byte_len = msg->message.len;
	return rx_deliver(ep, &ev, msg->message.payload);
}

/* Notifications without a work request of their own: see emit.c and bundle.c. */
static int rx_records(struct rnotify_ep *ep,
		      const struct rnotify_wire_notify *notify)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < notify->nr && !ret; i++) {
		struct rnotify_event ev = {};

		rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_NOTIFY);
		ev.flags |= RNOTIFY_EVENT_F_IMM;
		ev.notify.imm = le32_to_cpu(notify->records[i].imm);
		ev.notify.byte_len = le32_to_cpu(notify->records[i].byte_len);
		ret = rx_deliver(ep, &ev, NULL);
	}
	return ret;
}

static int rx_decoded(struct rnotify_ep *ep, const struct ib_wc *wc,
		      const struct rnotify_wire_msg *msg)
{
	/* A peer that accepted, and ended at once: there never was a connection. */
	if (ep->passive || msg->type != RNOTIFY_WIRE_GOODBYE)
		rx_established(ep);
	if (msg->type == RNOTIFY_WIRE_MESSAGE)
		return rx_message(ep, wc, msg);
	if (wc->wc_flags & IB_WC_WITH_IMM)
		return -EPROTO;
	if (msg->type == RNOTIFY_WIRE_NOTIFY)
		return rx_records(ep, &msg->notify);
	return rnotify_ctrl_receive(ep, msg);
}

static int rx_send(struct rnotify_ep *ep, const struct ib_wc *wc, u32 i)
{
	struct rnotify_bufs *bufs = &ep->rx_bufs;
	struct rnotify_wire_msg msg;
	int ret;

	if (wc->byte_len > bufs->stride)
		return -EPROTO;
	ib_dma_sync_single_for_cpu(bufs->ib, rnotify_bufs_dma(bufs, i),
				   bufs->stride, DMA_FROM_DEVICE);
	ret = rnotify_wire_get_msg(&msg, rnotify_bufs_va(bufs, i),
				   wc->byte_len);
	if (!ret)
		ret = rx_decoded(ep, wc, &msg);
	ib_dma_sync_single_for_device(bufs->ib, rnotify_bufs_dma(bufs, i),
				      bufs->stride, DMA_FROM_DEVICE);
	return ret;
}

static int rx_handle(struct rnotify_ep *ep, const struct ib_wc *wc, u32 i)
{
	switch (wc->opcode) {
	case IB_WC_RECV_RDMA_WITH_IMM:
		rx_established(ep);
		return rx_notify(ep, wc);
	case IB_WC_RECV:
		if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
			return -EPROTO;
		return rx_send(ep, wc, i);
	default:
		return -EPROTO;
	}
}

/*
 * A flush that nobody here asked for is a failure as well. On some devices (rxe) it
 * is all that is seen when the device has refused what the peer wanted: access
 * beyond a share or its rights, or with an old key. The peer may be one that does
 * not disconnect then. When we end the connection, the cause is recorded before the
 * flush; and while it is being made, rdma_cm flushes before it tells us why.
 */
static void rx_failed(struct rnotify_ep *ep, const struct ib_wc *wc)
{
	spin_lock_bh(&ep->lock);
	if (wc->status != IB_WC_WR_FLUSH_ERR ||
	    ep->state == RNOTIFY_EP_ESTABLISHED)
		rnotify_ep_fail_locked(ep, rnotify_wc_reason(wc->status),
				       rnotify_wc_errno(wc->status),
				       wc->status, wc->vendor_err);
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_rx_done() - ib_cqe.done of the receive queue
 * @cq: completion queue
 * @wc: completion; on failure only wr_cqe and status are valid
 *
 * Context: softirq; never twice at once for an endpoint.
 */
void rnotify_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rnotify_rx *rx = container_of(wc->wr_cqe, struct rnotify_rx,
					     cqe);
	struct rnotify_ep *ep = rx->ep;
	int ret;

	trace_rnotify_rx(ep, wc);
	ep->rq_posted--;
	ep->rq_low = min(ep->rq_low, ep->rq_posted);
	if (wc->status != IB_WC_SUCCESS) {
		rx_failed(ep, wc);
		return;
	}

	ret = rx_handle(ep, wc, rx - ep->rx);
	if (ret)
		rnotify_ep_fail(ep, ret == -ENOMEM ? RNOTIFY_REASON_RESOURCES :
				RNOTIFY_REASON_PROTOCOL, ret);

	if (READ_ONCE(ep->draining))
		return;
	ret = rx_post(ep, rx);
	if (ret)
		rnotify_ep_fail(ep, RNOTIFY_REASON_TRANSPORT, ret);
	else
		ep->rq_posted++;
}
