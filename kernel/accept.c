// SPDX-License-Identifier: GPL-2.0
/*
 * The passive side after the request: ACCEPT and REJECT.
 */
#include "ep.h"
#include "listener.h"

/* Why an endpoint can't be accepted or rejected in its state. */
static int not_requested(const struct rnotify_ep *ep)
{
	switch (ep->state) {
	case RNOTIFY_EP_REQUEST:
		return 0;
	case RNOTIFY_EP_ACCEPT:
	case RNOTIFY_EP_ESTABLISHED:
		return -EISCONN;
	case RNOTIFY_EP_CLOSING:
	case RNOTIFY_EP_CLOSED:
		return rnotify_ep_over(ep, -ENOTCONN);
	default:
		return -EINVAL;
	}
}

static int answer(struct rnotify_ep *ep, const void *private_data, u32 len)
{
	u8 buf[RNOTIFY_WIRE_HELLO_MAX];
	struct rdma_conn_param param;
	bool ok;
	int ret;

	ret = rnotify_dev_attach(ep);
	if (ret)
		return ret;
	rnotify_cm_tune(ep);
	ret = rnotify_qp_create(ep);
	if (ret)
		return ret;

	rnotify_cm_param(ep, &param, buf, private_data, len);
	param.responder_resources = min(param.responder_resources,
					ep->peer_initiator_depth);
	param.initiator_depth = min(param.initiator_depth,
				    ep->peer_responder_resources);

	/* Before the answer leaves: data may come at once. */
	spin_lock_bh(&ep->lock);
	ok = rnotify_ep_transition(ep, RNOTIFY_EP_ACCEPT);
	spin_unlock_bh(&ep->lock);
	if (!ok)
		return -ENOTCONN;

	rdma_lock_handler(ep->cm_id);
	ret = rdma_accept(ep->cm_id, &param);
	rdma_unlock_handler(ep->cm_id);
	if (!ret)
		ep->conn_sent = true;
	return ret;
}

static int accept_locked(struct rnotify_ep *ep,
			 const struct rnotify_accept *arg,
			 const void *private_data)
{
	u64 cookie = ep->cookie;
	int ret;

	spin_lock_bh(&ep->lock);
	ret = not_requested(ep);
	spin_unlock_bh(&ep->lock);
	if (ret)
		return ret;
	ret = rnotify_ep_set_params(ep, &arg->params);
	if (ret)
		return ret;
	/* From the listener's reservation to one of its own. */
	ret = rnotify_ep_reserve_ring(ep);
	if (ret)
		return ret;
	rnotify_listener_leave(ep);

	ep->cookie = arg->cookie;
	ret = answer(ep, private_data, arg->private_len);
	if (ret) {
		/* No event has had the new one; nor will the last, see below. */
		ep->cookie = cookie;
		/* The request is spent: the CM may have answered it. */
		if (READ_ONCE(ep->state) >= RNOTIFY_EP_CLOSING)
			return rnotify_ep_over(ep, -ENOTCONN);
		rnotify_ep_fail(ep, ret == -ENODEV ?
				RNOTIFY_REASON_DEVICE_REMOVED :
				RNOTIFY_REASON_RESOURCES, ret);
		return ret;
	}
	rnotify_ep_timer_start(ep);
	return 0;
}

/**
 * rnotify_accept() - RNOTIFY_IOCTL_ACCEPT
 * @ep: endpoint
 * @arg: command, without flags
 * @private_data: arg->private_len bytes
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno as <linux/rnotify.h> says.
 */
int rnotify_accept(struct rnotify_ep *ep, const struct rnotify_accept *arg,
		   const void *private_data)
{
	int ret;

	mutex_lock(&ep->mutex);
	ret = accept_locked(ep, arg, private_data);
	mutex_unlock(&ep->mutex);
	return ret;
}

/**
 * rnotify_reject() - RNOTIFY_IOCTL_REJECT
 * @ep: endpoint
 * @private_data: for the peer
 * @len: bytes
 *
 * Context: process, sleeps.
 * Return: 0, -EISCONN, -ENOTCONN, -ENODEV, -EINVAL.
 */
int rnotify_reject(struct rnotify_ep *ep, const void *private_data, u32 len)
{
	int ret;

	mutex_lock(&ep->mutex);
	spin_lock_bh(&ep->lock);
	ret = not_requested(ep);
	if (!ret) {
		memcpy(ep->private_data, private_data, len);
		ep->private_len = len;
		rnotify_ep_fail_locked(ep, RNOTIFY_REASON_LOCAL_CLOSE, 0, 0, 0);
	}
	spin_unlock_bh(&ep->lock);
	mutex_unlock(&ep->mutex);
	return ret;
}
