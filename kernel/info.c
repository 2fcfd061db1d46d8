// SPDX-License-Identifier: GPL-2.0
/*
 * RNOTIFY_IOCTL_ENDPOINT_INFO.
 */
#include <linux/slab.h>

#include "ep.h"
#include "listener.h"

static u32 info_state(const struct rnotify_ep *ep)
{
	switch (ep->state) {
	case RNOTIFY_EP_REQUEST:
		return RNOTIFY_STATE_REQUESTED;
	case RNOTIFY_EP_ACCEPT:
		return RNOTIFY_STATE_ACCEPTING;
	case RNOTIFY_EP_ESTABLISHED:
		return RNOTIFY_STATE_ESTABLISHED;
	case RNOTIFY_EP_CLOSING:
		return RNOTIFY_STATE_CLOSING;
	case RNOTIFY_EP_CLOSED:
		return RNOTIFY_STATE_CLOSED;
	default:
		return RNOTIFY_STATE_CONNECTING;
	}
}

/* What ENDPOINT_INFO calls kmem: without what the device's driver takes. */
static u64 kmem(const struct rnotify_ep *ep)
{
	u64 sum = kmalloc_size_roundup(sizeof(*ep));

	if (!ep->tx)
		return sum;
	return sum +
	       kmalloc_size_roundup((ep->sq_mask + 1) * sizeof(*ep->tx)) +
	       kmalloc_size_roundup(ep->rq_size * sizeof(*ep->rx)) +
	       kmalloc_size_roundup(RNOTIFY_CHAIN_WRS * sizeof(*ep->chain_wr)) +
	       kmalloc_size_roundup(RNOTIFY_CHAIN_SGES *
				    sizeof(*ep->chain_sge)) +
	       rnotify_bufs_bytes(&ep->rx_bufs) +
	       rnotify_bufs_bytes(&ep->send_bufs);
}

static void info_rx(struct rnotify_ep *ep, struct rnotify_endpoint_info *info)
{
	info->rx_notify = READ_ONCE(ep->rx_seq);
	info->rx_bytes = READ_ONCE(ep->rx_bytes);
	info->rq_low = READ_ONCE(ep->rq_low);
	spin_lock_bh(&ep->ring->lock);
	info->rx_consumed = ep->rx_consumed;
	info->rx_counted = ep->rx_counted;
	info->rx_slotted = ep->rx_slotted;
	info->rx_dropped = ep->rx_dropped;
	info->rx_stale = ep->rx_stale;
	spin_unlock_bh(&ep->ring->lock);
}

static void info_locked(struct rnotify_ep *ep,
			struct rnotify_endpoint_info *info)
{
	lockdep_assert_held(&ep->lock);
	info->state = info_state(ep);
	info->params = ep->params;
	info->down = ep->down;
	info->private_len = ep->peer_data_len;
	memcpy(info->private_data, ep->peer_data, ep->peer_data_len);
	info->peer_msg_size = ep->hello.msg_size;
	info->tx_credits = rnotify_credit_left(&ep->credit);
	info->tx_posted = ep->tx_posted;
	info->tx_notify_posted = ep->tx_notify;
	info->tx_bundled = ep->tx_bundled;
	info->tx_confirmed = ep->tx_confirmed;
	info->tx_bytes = ep->tx_bytes;
	info->sq_high = ep->sq_high;
	/* All receives are posted, but for the moment in which one is handled. */
	info->cq_high = ep->sq_high + ep->rq_size;
	info->eagain = ep->eagain;
}

static void info_control(struct rnotify_ep *ep,
			 struct rnotify_endpoint_info *info)
{
	lockdep_assert_held(&ep->mutex);
	if (ep->cm_id) {
		ep->local_addr = ep->cm_id->route.addr.src_addr;
		ep->remote_addr = ep->cm_id->route.addr.dst_addr;
	}
	rnotify_addr_put(&info->local, &ep->local_addr);
	rnotify_addr_put(&info->remote, &ep->remote_addr);
	strscpy(info->device, ep->dev_name, sizeof(info->device));
	info->port_num = ep->port_num;
	info->sq_size = ep->sq_size;
	info->rq_size = ep->rq_size;
	info->cq_size = ep->cq ? ep->cq->cqe : 0;
	info->max_send_sge = ep->max_sge;
	info->kmem = kmem(ep);
}

/*
 * The peer's first message may establish the connection before rdma_cm has given
 * us the hello that came earlier; it is about to.
 */
static bool hello_is_due(struct rnotify_ep *ep)
{
	bool due;

	spin_lock_bh(&ep->lock);
	due = ep->state == RNOTIFY_EP_ESTABLISHED && !ep->have_hello;
	spin_unlock_bh(&ep->lock);
	return due;
}

/**
 * rnotify_endpoint_info() - RNOTIFY_IOCTL_ENDPOINT_INFO
 * @ctx: context
 * @info: command, without flags; all else is filled in
 *
 * Context: process, sleeps; waits for a teardown that is under way.
 * Return: 0 or -ENOENT.
 */
int rnotify_endpoint_info(struct rnotify_ctx *ctx,
			  struct rnotify_endpoint_info *info)
{
	struct rnotify_obj *obj;
	struct rnotify_ep *ep;

	obj = rnotify_obj_get(ctx, info->endpoint_id, RNOTIFY_OBJ_EP);
	if (!obj)
		return -ENOENT;
	ep = to_ep(obj);
	*info = (struct rnotify_endpoint_info) {
		.size = info->size,
		.endpoint_id = info->endpoint_id,
	};

	/* Who is killed meanwhile does not look at the result. */
	wait_event_killable(ep->wait, !hello_is_due(ep));
	mutex_lock(&ep->mutex);
	info_control(ep, info);
	spin_lock_bh(&ep->lock);
	info_locked(ep, info);
	spin_unlock_bh(&ep->lock);
	mutex_unlock(&ep->mutex);
	info_rx(ep, info);
	rnotify_obj_put(obj);
	return 0;
}
