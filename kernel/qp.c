// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint's queues: how large, and how they are made and unmade.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "ep.h"

/* Receives that CREDIT messages may take: three kinds of grant, see credit.h. */
#define RNOTIFY_RQ_CREDIT	(3 * RNOTIFY_CREDIT_MSGS_MAX)
#define RNOTIFY_RQ_GOODBYE	1u
/* ib_drain_qp() posts one more to each queue. */
#define RNOTIFY_QP_DRAIN	1u

/*
 * A header and the largest message, lying anywhere: what the peer takes is not
 * known when an active side makes its QP. Costs 16 bytes a WQE each.
 */
#define RNOTIFY_SGE_MAX		(2u + RNOTIFY_MSG_SIZE_MAX / PAGE_SIZE + 1u)

/*
 * All the sums. Whoever may post, posts within one of these terms, so that no
 * queue can overflow:
 *
 * SQ = send_depth (operations) + control messages and keepalive
 *	+ registrations + drain
 * RQ = recv_depth (data credits) + control credits + CREDITs + GOODBYE + drain
 * CQ = SQ + RQ
 */
static int qp_sizes(struct rnotify_ep *ep, struct ib_qp_init_attr *attr)
{
	const struct ib_device_attr *dev = &ep->dev->ib->attrs;

	ep->sq_size = ep->params.send_depth + RNOTIFY_SQ_CTRL + RNOTIFY_SQ_REG;
	ep->sq_mask = roundup_pow_of_two(ep->sq_size) - 1;
	ep->rq_size = ep->params.recv_depth + RNOTIFY_CTRL_WINDOW +
		      RNOTIFY_RQ_CREDIT + RNOTIFY_RQ_GOODBYE;
	ep->max_sge = min_t(u32, RNOTIFY_SGE_MAX, dev->max_send_sge);
	ep->max_sge_rd = clamp_t(u32, dev->max_sge_rd, 1, ep->max_sge);

	attr->cap.max_send_wr = ep->sq_size + RNOTIFY_QP_DRAIN;
	attr->cap.max_recv_wr = ep->rq_size + RNOTIFY_QP_DRAIN;
	attr->cap.max_send_sge = ep->max_sge;
	attr->cap.max_recv_sge = 1;

	if (attr->cap.max_send_wr > dev->max_qp_wr ||
	    attr->cap.max_recv_wr > dev->max_qp_wr ||
	    attr->cap.max_send_wr + attr->cap.max_recv_wr > dev->max_cqe)
		return -EINVAL;
	return 0;
}

/* Every receive may meet a control message or a user's message. */
static u32 msg_buf_size(const struct rnotify_ep *ep)
{
	return max_t(u32, RNOTIFY_WIRE_CTRL_MAX,
		     ep->ring->msg_size + RNOTIFY_WIRE_HDR_LEN);
}

static int alloc_slots(struct rnotify_ep *ep)
{
	u32 i;

	ep->tx = kvcalloc(ep->sq_mask + 1, sizeof(*ep->tx),
			  GFP_KERNEL_ACCOUNT);
	ep->rx = kvcalloc(ep->rq_size, sizeof(*ep->rx), GFP_KERNEL_ACCOUNT);
	ep->chain_wr = kvcalloc(RNOTIFY_CHAIN_WRS, sizeof(*ep->chain_wr),
				GFP_KERNEL_ACCOUNT);
	ep->chain_sge = kcalloc(RNOTIFY_CHAIN_SGES, sizeof(*ep->chain_sge),
				GFP_KERNEL_ACCOUNT);
	if (!ep->tx || !ep->rx || !ep->chain_wr || !ep->chain_sge)
		return -ENOMEM;

	for (i = 0; i <= ep->sq_mask; i++) {
		ep->tx[i].ep = ep;
		ep->tx[i].cqe.done = rnotify_tx_done;
	}
	for (i = 0; i < ep->rq_size; i++) {
		ep->rx[i].ep = ep;
		ep->rx[i].cqe.done = rnotify_rx_done;
	}
	return 0;
}

static int alloc_bufs(struct rnotify_ep *ep)
{
	struct ib_device *ib = ep->dev->ib;
	int ret;

	ret = rnotify_bufs_alloc(&ep->rx_bufs, ib, ep->rq_size,
				 msg_buf_size(ep), DMA_FROM_DEVICE);
	if (ret)
		return ret;
	return rnotify_bufs_alloc(&ep->send_bufs, ib,
				  RNOTIFY_SQ_CTRL + ep->params.send_depth,
				  RNOTIFY_SEND_BUF, DMA_TO_DEVICE);
}

/* Device and port events of this QP. Any context, interrupts off. */
static void qp_event(struct ib_event *event, void *context)
{
	struct rnotify_ep *ep = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* Data came before the RTU: let the CM know. */
		rdma_notify(ep->cm_id, IB_EVENT_COMM_EST);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		WRITE_ONCE(ep->qp_event, event->event);
		rnotify_ep_queue(ep, RNOTIFY_WORK_QP_EVENT);
		break;
	default:
		break;
	}
}

static int create_qp(struct rnotify_ep *ep, struct ib_qp_init_attr *attr)
{
	int ret;

	attr->event_handler = qp_event;
	attr->qp_context = ep;
	attr->send_cq = ep->cq;
	attr->recv_cq = ep->cq;
	attr->sq_sig_type = IB_SIGNAL_REQ_WR;
	attr->qp_type = IB_QPT_RC;

	ret = rdma_create_qp(ep->cm_id, ep->pd, attr);
	if (ret)
		return ret;
	spin_lock_bh(&ep->lock);
	ep->qp = ep->cm_id->qp;
	spin_unlock_bh(&ep->lock);
	return 0;
}

/**
 * rnotify_qp_create() - PD, CQ, QP, slots and buffers; receives posted
 * @ep: endpoint that is attached to a device; mutex held
 *
 * Context: process, sleeps.
 * Return: 0, or a negative errno; rnotify_qp_destroy() cleans up either way.
 */
int rnotify_qp_create(struct rnotify_ep *ep)
{
	struct ib_qp_init_attr attr = {};
	int ret;

	lockdep_assert_held(&ep->mutex);
	ret = qp_sizes(ep, &attr);
	if (ret)
		return ret;
	ret = alloc_slots(ep);
	if (ret)
		return ret;
	ret = alloc_bufs(ep);
	if (ret)
		return ret;

	ep->pd = ib_alloc_pd(ep->dev->ib, 0);
	if (IS_ERR(ep->pd)) {
		ret = PTR_ERR(ep->pd);
		ep->pd = NULL;
		return ret;
	}
	ret = rnotify_cq_create(ep, attr.cap.max_send_wr +
				attr.cap.max_recv_wr);
	if (ret)
		return ret;
	ret = create_qp(ep, &attr);
	if (ret)
		return ret;
	return rnotify_rx_post_all(ep);
}

/**
 * rnotify_qp_end() - destroy the queue pair alone
 * @ep: endpoint whose QP, if any, is drained, or was never connected; nothing is
 *	posted any more; mutex held
 *
 * Before the keys, since a queue pair may hold on to one: rxe's does when it dies
 * in the middle of a write, and ib_dereg_mr() waits for it then.
 *
 * Context: process, sleeps.
 */
void rnotify_qp_end(struct rnotify_ep *ep)
{
	struct ib_qp *qp = ep->qp;

	lockdep_assert_held(&ep->mutex);
	spin_lock_bh(&ep->lock);
	ep->qp = NULL;
	spin_unlock_bh(&ep->lock);
	if (qp)
		rdma_destroy_qp(ep->cm_id);
}

/**
 * rnotify_qp_destroy() - undo rnotify_qp_create(), also half of it
 * @ep: endpoint, as for rnotify_qp_end(), without keys. It stays attached to its
 *	device
 *
 * Context: process, sleeps.
 */
void rnotify_qp_destroy(struct rnotify_ep *ep)
{
	rnotify_qp_end(ep);
	rnotify_cq_destroy(ep);
	if (ep->pd)
		ib_dealloc_pd(ep->pd);
	ep->pd = NULL;

	rnotify_bufs_free(&ep->send_bufs);
	rnotify_bufs_free(&ep->rx_bufs);
	kfree(ep->chain_sge);
	kvfree(ep->chain_wr);
	kvfree(ep->rx);
	kvfree(ep->tx);
	ep->chain_sge = NULL;
	ep->chain_wr = NULL;
	ep->rx = NULL;
	ep->tx = NULL;
}
