// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: LISTEN, and requests as they come.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "ep.h"
#include "listener.h"

#define RNOTIFY_BACKLOG_DEFAULT	16u
#define RNOTIFY_BACKLOG_MAX	1024u

/*
 * For a request, on the CM's workqueue, which others wait for: where the user's
 * cgroup is full it is refused, at once, and nobody is killed for what a peer did.
 */
#define RNOTIFY_GFP_REQUEST \
	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/*
 * ---- addresses --------------------------------------------------------
 */

/**
 * rnotify_addr_get() - the ABI's address as a sockaddr
 * @ss: filled in
 * @addr: user's
 *
 * Return: 0, -EAFNOSUPPORT, -EINVAL.
 */
int rnotify_addr_get(struct sockaddr_storage *ss,
		     const struct rnotify_sockaddr *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	switch (addr->family) {
	case AF_INET:
		if (addr->scope_id ||
		    memchr_inv(addr->addr + 4, 0, sizeof(addr->addr) - 4))
			return -EINVAL;
		in->sin_family = AF_INET;
		in->sin_port = cpu_to_be16(addr->port);
		memcpy(&in->sin_addr, addr->addr, sizeof(in->sin_addr));
		return 0;
	case AF_INET6:
		memcpy(&in6->sin6_addr, addr->addr, sizeof(in6->sin6_addr));
		if (!addr->scope_id && ipv6_addr_type(&in6->sin6_addr) &
		    IPV6_ADDR_LINKLOCAL)
			return -EINVAL;
		in6->sin6_family = AF_INET6;
		in6->sin6_port = cpu_to_be16(addr->port);
		in6->sin6_scope_id = addr->scope_id;
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/**
 * rnotify_addr_put() - a sockaddr as the ABI's address
 * @addr: filled in; all zeroes for no address
 * @ss: address
 */
void rnotify_addr_put(struct rnotify_sockaddr *addr,
		      const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

	memset(addr, 0, sizeof(*addr));
	addr->family = ss->ss_family;
	if (ss->ss_family == AF_INET) {
		addr->port = be16_to_cpu(in->sin_port);
		memcpy(addr->addr, &in->sin_addr, sizeof(in->sin_addr));
	} else if (ss->ss_family == AF_INET6) {
		addr->port = be16_to_cpu(in6->sin6_port);
		addr->scope_id = in6->sin6_scope_id;
		memcpy(addr->addr, &in6->sin6_addr, sizeof(in6->sin6_addr));
	}
}

/*
 * ---- requests ---------------------------------------------------------
 */

static struct rnotify_ep *request_ep(struct rnotify_listener *listener,
				     struct rdma_cm_id *id,
				     const struct rdma_cm_event *ev,
				     const struct rnotify_hello *hello)
{
	struct rnotify_ep *ep;

	ep = rnotify_ep_alloc(listener->obj.ctx, RNOTIFY_GFP_REQUEST);
	if (!ep)
		return NULL;
	if (rnotify_obj_reserve(&ep->obj, RNOTIFY_GFP_REQUEST)) {
		rnotify_obj_put(&ep->obj);
		return NULL;
	}
	rnotify_obj_hold(&listener->obj);
	ep->listener = listener;
	ep->passive = true;
	ep->cookie = listener->cookie;
	ep->cm_id = id;
	ep->local_addr = id->route.addr.src_addr;
	ep->remote_addr = id->route.addr.dst_addr;
	ep->peer_initiator_depth = ev->param.conn.initiator_depth;
	ep->peer_responder_resources = ev->param.conn.responder_resources;
	spin_lock_bh(&ep->lock);
	rnotify_cm_hello(ep, hello);
	rnotify_ep_transition(ep, RNOTIFY_EP_REQUEST);
	spin_unlock_bh(&ep->lock);
	return ep;
}

static void request_event(struct rnotify_listener *listener,
			  struct rnotify_ep *ep,
			  const struct rnotify_hello *hello)
{
	struct rnotify_event ev = {};

	rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_CONNECT_REQUEST);
	ev.request.listener = listener->obj.id;
	ev.request.private_len = hello->private_len;
	memcpy(ev.request.private_data, hello->private_data,
	       min_t(u32, hello->private_len,
		     sizeof(ev.request.private_data)));
	rnotify_ring_put(ep->ring, &listener->rv, &ev);
}

/*
 * Who guesses the id may close the endpoint as soon as it is published, before
 * its first event is in the ring. Then the teardown waits for us.
 */
static void request_shown(struct rnotify_ep *ep)
{
	bool closing;

	spin_lock_bh(&ep->lock);
	ep->shown = true;
	closing = ep->state == RNOTIFY_EP_CLOSING;
	spin_unlock_bh(&ep->lock);
	if (closing)
		rnotify_ep_queue(ep, RNOTIFY_WORK_CLOSE);
}

/* Two entries: one for the request, one for its end if nobody answers. */
static bool request_admit(struct rnotify_listener *listener)
{
	struct rnotify_ring *ring = rnotify_ctx_ring(listener->obj.ctx);

	if (atomic_inc_return(&listener->pending) > listener->backlog)
		goto refuse;
	rnotify_ring_reclaim(ring);
	if (rnotify_ring_promise(ring, &listener->rv, 2))
		return true;
refuse:
	atomic_dec(&listener->pending);
	return false;
}

/* Answered, or ended. @unused: the entry for its end was not needed. */
static void request_over(struct rnotify_listener *listener, bool unused)
{
	if (unused)
		rnotify_ring_unpromise(rnotify_ctx_ring(listener->obj.ctx),
				       &listener->rv);
	atomic_dec(&listener->pending);
}

/**
 * rnotify_listener_leave() - an endpoint needs its listener no more
 * @ep: endpoint; if it has no listener, nothing happens
 *
 * It was accepted, or ended without being accepted; then its last event was
 * put by rnotify_listener_last_event().
 */
void rnotify_listener_leave(struct rnotify_ep *ep)
{
	struct rnotify_listener *listener = xchg(&ep->listener, NULL);

	if (!listener)
		return;
	request_over(listener, true);
	rnotify_obj_put(&listener->obj);
}

/**
 * rnotify_listener_last_event() - the end of a request that nobody accepted
 * @ep: endpoint with a listener, whose reservation answers for it
 * @ev: DISCONNECTED
 */
void rnotify_listener_last_event(struct rnotify_ep *ep,
				 struct rnotify_event *ev)
{
	struct rnotify_listener *listener = xchg(&ep->listener, NULL);

	rnotify_ring_put(ep->ring, &listener->rv, ev);
	request_over(listener, false);
	rnotify_obj_put(&listener->obj);
}

/*
 * Return: 0, or an errno: then rdma_cm destroys @id when the handler returns
 * it.
 */
static int on_request(struct rnotify_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_cm_event *ev)
{
	struct rnotify_ring *ring = rnotify_ctx_ring(listener->obj.ctx);
	struct rnotify_hello hello;
	struct mem_cgroup *old;
	struct rnotify_ep *ep;
	int ret;

	ret = rnotify_wire_get_hello(&hello, ev->param.conn.private_data,
				     ev->param.conn.private_data_len);
	if (ret) {
		rnotify_cm_send_reject(id, ret == -EPROTONOSUPPORT ?
				       RNOTIFY_REASON_VERSION :
				       RNOTIFY_REASON_PROTOCOL, ret,
				       ret == -EPROTONOSUPPORT ?
				       "no common protocol version" :
				       "malformed private data", NULL, 0);
		return ret;
	}

	if (!request_admit(listener)) {
		rnotify_cm_send_reject(id, RNOTIFY_REASON_RESOURCES, -EBUSY,
				       "backlog full", NULL, 0);
		return -EBUSY;
	}
	old = rnotify_ctx_charge(listener->obj.ctx);
	ep = request_ep(listener, id, ev, &hello);
	set_active_memcg(old);
	if (!ep) {
		rnotify_ring_unpromise(ring, &listener->rv);
		request_over(listener, true);
		rnotify_cm_send_reject(id, RNOTIFY_REASON_RESOURCES, -ENOMEM,
				       "out of memory", NULL, 0);
		return -ENOMEM;
	}

	id->context = ep;
	id->event_handler = rnotify_cm_handler;
	/* Ours: once published, it may be destroyed. */
	rnotify_obj_hold(&ep->obj);
	/* Published first: who reads the event may accept at once. */
	rnotify_obj_publish(&ep->obj);
	request_event(listener, ep, &hello);
	request_shown(ep);
	rnotify_obj_put(&ep->obj);
	return 0;
}

static int listener_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rnotify_listener *listener = id->context;

	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return on_request(listener, id, ev);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rnotify_obj_hold(&listener->obj);
		if (!queue_work(rnotify_wq, &listener->work))
			rnotify_obj_put(&listener->obj);
		return 0;
	default:
		return 0;
	}
}

/*
 * ---- life -------------------------------------------------------------
 */

static bool listener_stop(struct rnotify_listener *listener)
{
	struct rdma_cm_id *id;

	mutex_lock(&listener->mutex);
	id = listener->cm_id;
	listener->cm_id = NULL;
	mutex_unlock(&listener->mutex);
	if (id)
		rdma_destroy_id(id);
	return id;
}

/* The device goes and takes the id along. */
static void listener_work_fn(struct work_struct *work)
{
	struct rnotify_listener *listener =
		container_of(work, struct rnotify_listener, work);
	struct rnotify_event ev = {
		.type = RNOTIFY_EVENT_LISTENER_DOWN,
		.endpoint = listener->obj.id,
		.cookie = listener->cookie,
		.down.reason = RNOTIFY_REASON_DEVICE_REMOVED,
		.down.error = -ENODEV,
	};

	if (listener_stop(listener))
		rnotify_ring_put(rnotify_ctx_ring(listener->obj.ctx),
				 &listener->rv_down, &ev);
	rnotify_obj_put(&listener->obj);
}

static void listener_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_listener *listener = to_listener(obj);
	struct rnotify_ring *ring = rnotify_ctx_ring(obj->ctx);

	listener_stop(listener);
	if (cancel_work_sync(&listener->work))
		rnotify_obj_put(obj);
	rnotify_ring_unreserve(ring, &listener->rv_down);
	rnotify_ring_retire(ring, &listener->rv);
}

static void listener_free(struct rnotify_obj *obj)
{
	kfree_rcu(to_listener(obj), obj.rcu);
}

static const struct rnotify_obj_ops listener_ops = {
	.type = RNOTIFY_OBJ_LISTENER,
	.shutdown = listener_shutdown,
	.free = listener_free,
};

/*
 * rdma_cm says EADDRNOTAVAIL for a foreign address, but also for a port that is
 * taken together with the wildcard address. Another port tells which it is.
 */
static int listener_bind(struct rdma_cm_id *id, struct sockaddr_storage *addr)
{
	struct sockaddr_storage other = *addr;
	int ret;

	ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	if (ret != -EADDRNOTAVAIL)
		return ret;
	if (other.ss_family == AF_INET)
		((struct sockaddr_in *)&other)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&other)->sin6_port = 0;
	if (!rdma_bind_addr(id, (struct sockaddr *)&other))
		return -EADDRINUSE;
	return ret;
}

static int listener_start(struct rnotify_listener *listener)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(listener->obj.ctx->net, listener_cm_handler,
			    listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	/* Bound ids go with their device: the work must find it. */
	mutex_lock(&listener->mutex);
	listener->cm_id = id;
	ret = listener_bind(id, &listener->addr);
	/* Read before requests come: the port that was chosen. */
	listener->addr = id->route.addr.src_addr;
	if (!ret)
		ret = rdma_listen(id, listener->backlog);
	if (ret)
		listener->cm_id = NULL;
	mutex_unlock(&listener->mutex);
	if (ret) {
		rdma_destroy_id(id);
		/* What rdma_cm says of an address without an RDMA device. */
		return ret == -ENODEV ? -EADDRNOTAVAIL : ret;
	}
	return 0;
}

static struct rnotify_listener *listener_alloc(struct rnotify_ctx *ctx,
					       const struct rnotify_listen *arg)
{
	struct rnotify_listener *listener;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return NULL;
	listener->cookie = arg->cookie;
	listener->backlog = arg->backlog ?: RNOTIFY_BACKLOG_DEFAULT;
	mutex_init(&listener->mutex);
	INIT_WORK(&listener->work, listener_work_fn);
	rnotify_obj_init(&listener->obj, ctx, &listener_ops);
	return listener;
}

/**
 * rnotify_listen() - RNOTIFY_IOCTL_LISTEN
 * @ctx: context
 * @arg: command, without flags; port and listener_id are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno as <linux/rnotify.h> says.
 */
int rnotify_listen(struct rnotify_ctx *ctx, struct rnotify_listen *arg)
{
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);
	struct rnotify_listener *listener;
	int ret;

	if (arg->backlog > RNOTIFY_BACKLOG_MAX)
		return -EINVAL;
	listener = listener_alloc(ctx, arg);
	if (!listener)
		return -ENOMEM;
	ret = rnotify_addr_get(&listener->addr, &arg->addr);
	if (ret)
		goto err_put;
	ret = rnotify_obj_reserve(&listener->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put;
	ret = rnotify_ring_reserve(ring, &listener->rv,
				   2 * listener->backlog);
	if (!ret)
		ret = rnotify_ring_reserve(ring, &listener->rv_down, 1);
	if (ret)
		goto err_ring;
	ret = listener_start(listener);
	if (ret)
		goto err_ring;

	rnotify_addr_put(&arg->addr, &listener->addr);
	arg->listener_id = listener->obj.id;
	rnotify_obj_publish(&listener->obj);
	return 0;

err_ring:
	/* A wildcard may have had requests before one of the devices failed. */
	rnotify_ring_unreserve(ring, &listener->rv_down);
	rnotify_ring_retire(ring, &listener->rv);
	rnotify_obj_unreserve(&listener->obj);
err_put:
	rnotify_obj_put(&listener->obj);
	return ret;
}
