// SPDX-License-Identifier: GPL-2.0
/*
 * The active side: CONNECT, and its steps on the worker.
 */
#include "ep.h"
#include "listener.h"

/*
 * How long rdma_cm resolves an address before it is asked again. The neighbour table
 * gives up after three requests, a second apart, and rdma_cm does not ask it twice:
 * a peer that comes up after that would not be found, whatever time is left.
 */
#define RESOLVE_MS	2000u

/* rdma_cm's limits for its own steps; the endpoint's timer ends it before. */
static int resolve_ms(const struct rnotify_ep *ep)
{
	return ep->params.connect_timeout_ms;
}

static int step(struct rnotify_ep *ep, enum rnotify_ep_state to)
{
	bool ok;

	spin_lock_bh(&ep->lock);
	ok = rnotify_ep_transition(ep, to);
	spin_unlock_bh(&ep->lock);
	return ok ? 0 : -ECONNABORTED;
}

/**
 * rnotify_connect_again() - rdma_cm could not resolve the address
 * @ep: endpoint
 * @status: rdma_cm's
 *
 * Context: rdma_cm's handler.
 * Return: true if it will be asked again.
 */
bool rnotify_connect_again(struct rnotify_ep *ep, int status)
{
	if (status != -ETIMEDOUT || time_after_eq(jiffies, ep->deadline))
		return false;
	rnotify_ep_queue(ep, RNOTIFY_WORK_ADDR_AGAIN);
	return true;
}

static void on_addr_again(struct rnotify_ep *ep)
{
	struct sockaddr_storage dst = ep->remote_addr;
	int ret;

	/* The id is bound to its source since the first time. */
	ret = rdma_resolve_addr(ep->cm_id, NULL, (struct sockaddr *)&dst,
				RESOLVE_MS);
	if (ret)
		rnotify_cm_failed(ep, ret);
}

static void on_addr(struct rnotify_ep *ep)
{
	int ret;

	if (step(ep, RNOTIFY_EP_ROUTE))
		return;
	if (rnotify_dev_attach(ep)) {
		rnotify_ep_fail(ep, RNOTIFY_REASON_DEVICE_REMOVED, -ENODEV);
		return;
	}
	ret = rdma_resolve_route(ep->cm_id, resolve_ms(ep));
	if (ret)
		rnotify_cm_failed(ep, ret);
}

static void on_route(struct rnotify_ep *ep)
{
	u8 buf[RNOTIFY_WIRE_HELLO_MAX];
	struct rdma_conn_param param;
	int ret;

	spin_lock_bh(&ep->lock);
	if (ep->state == RNOTIFY_EP_ROUTE)
		ep->stage = RNOTIFY_STAGE_SETUP;
	spin_unlock_bh(&ep->lock);

	rnotify_cm_tune(ep);
	ret = rnotify_qp_create(ep);
	if (ret) {
		rnotify_ep_fail(ep, RNOTIFY_REASON_RESOURCES, ret);
		return;
	}
	if (step(ep, RNOTIFY_EP_CONNECT))
		return;
	rnotify_cm_param(ep, &param, buf, ep->private_data, ep->private_len);
	ret = rdma_connect(ep->cm_id, &param);
	if (ret)
		rnotify_cm_failed(ep, ret);
	else
		ep->conn_sent = true;
}

/**
 * rnotify_connect_step() - the worker's part of connecting
 * @ep: endpoint; mutex held
 * @pending: bits of &enum rnotify_ep_work
 *
 * Context: process, sleeps.
 */
void rnotify_connect_step(struct rnotify_ep *ep, unsigned long pending)
{
	if (test_bit(RNOTIFY_WORK_ADDR_AGAIN, &pending) &&
	    READ_ONCE(ep->state) == RNOTIFY_EP_ADDR)
		on_addr_again(ep);
	if (test_bit(RNOTIFY_WORK_ADDR, &pending) &&
	    READ_ONCE(ep->state) == RNOTIFY_EP_ADDR)
		on_addr(ep);
	if (test_bit(RNOTIFY_WORK_ROUTE, &pending) &&
	    READ_ONCE(ep->state) == RNOTIFY_EP_ROUTE)
		on_route(ep);
}

static int start(struct rnotify_ep *ep, const struct rnotify_connect *arg)
{
	struct sockaddr_storage src = {}, dst;
	struct rdma_cm_id *id;
	bool have_src = arg->src.family;
	int ret;

	ret = rnotify_addr_get(&dst, &arg->dst);
	if (!ret && have_src)
		ret = rnotify_addr_get(&src, &arg->src);
	if (ret)
		return ret;

	id = rdma_create_id(ep->obj.ctx->net, rnotify_cm_handler, ep,
			    RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	ep->cm_id = id;
	ep->remote_addr = dst;

	/* Before the call: its event may come before it returns. */
	step(ep, RNOTIFY_EP_ADDR);
	ret = rdma_resolve_addr(id, have_src ? (struct sockaddr *)&src : NULL,
				(struct sockaddr *)&dst, RESOLVE_MS);
	if (ret) {
		rdma_destroy_id(id);
		ep->cm_id = NULL;
	}
	return rnotify_cm_errno(ret);
}

/**
 * rnotify_connect() - RNOTIFY_IOCTL_CONNECT
 * @ctx: context
 * @arg: command, without flags; endpoint_id is filled in
 * @private_data: arg->private_len bytes
 *
 * Context: process, sleeps, but not for the network.
 * Return: 0 or a negative errno as <linux/rnotify.h> says.
 */
int rnotify_connect(struct rnotify_ctx *ctx, struct rnotify_connect *arg,
		    const void *private_data)
{
	struct rnotify_ep *ep;
	int ret;

	ep = rnotify_ep_alloc(ctx, GFP_KERNEL_ACCOUNT);
	if (!ep)
		return -ENOMEM;
	ep->cookie = arg->cookie;
	memcpy(ep->private_data, private_data, arg->private_len);
	ep->private_len = arg->private_len;

	ret = rnotify_ep_set_params(ep, &arg->params);
	if (ret)
		goto err_put;
	ret = rnotify_ep_reserve_ring(ep);
	if (ret)
		goto err_put;
	ret = rnotify_obj_reserve(&ep->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_ring;

	/* The worker waits until the id is published. Somebody may guess it. */
	rnotify_obj_hold(&ep->obj);
	mutex_lock(&ep->mutex);
	ret = start(ep, arg);
	if (ret)
		goto err_unreserve;
	arg->endpoint_id = ep->obj.id;
	rnotify_ep_timer_start(ep);
	rnotify_obj_publish(&ep->obj);
	mutex_unlock(&ep->mutex);
	rnotify_obj_put(&ep->obj);
	return 0;

err_unreserve:
	mutex_unlock(&ep->mutex);
	rnotify_obj_put(&ep->obj);
	rnotify_obj_unreserve(&ep->obj);
err_ring:
	rnotify_ring_forget(ep->ring, ep);
err_put:
	rnotify_obj_put(&ep->obj);
	return ret;
}
