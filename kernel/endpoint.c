// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint's life: states, the cause of its end, and the worker that takes
 * all steps that may sleep.
 *
 *	active:  NEW → ADDR → ROUTE → CONNECT → ESTABLISHED
 *	passive: NEW → REQUEST → ACCEPT → ESTABLISHED
 *	any of them → CLOSING → CLOSED
 *
 * Whoever finds a reason to end it (CM event, failed completion, the peer's
 * GOODBYE, the timer, the user, the device's removal) calls rnotify_ep_fail*():
 * the first cause is recorded, the state turns to CLOSING, so that nothing more
 * is posted, and the worker tears down.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "ep.h"
#include "listener.h"
#include "route.h"
#include "trace.h"

#define S(_state)	BIT(RNOTIFY_EP_##_state)

/* From which states one may come to a state. */
static const u32 ep_may_enter[] = {
	[RNOTIFY_EP_ADDR] = S(NEW),
	[RNOTIFY_EP_ROUTE] = S(ADDR),
	[RNOTIFY_EP_CONNECT] = S(ROUTE),
	[RNOTIFY_EP_REQUEST] = S(NEW),
	[RNOTIFY_EP_ACCEPT] = S(REQUEST),
	[RNOTIFY_EP_ESTABLISHED] = S(CONNECT) | S(ACCEPT),
	[RNOTIFY_EP_CLOSING] = S(NEW) | S(ADDR) | S(ROUTE) | S(CONNECT) |
			       S(REQUEST) | S(ACCEPT) | S(ESTABLISHED),
	[RNOTIFY_EP_CLOSED] = S(CLOSING),
};

/* How far it came, for the record of the end. */
static const u16 ep_stage[] = {
	[RNOTIFY_EP_ADDR] = RNOTIFY_STAGE_RESOLVE_ADDR,
	[RNOTIFY_EP_ROUTE] = RNOTIFY_STAGE_RESOLVE_ROUTE,
	[RNOTIFY_EP_CONNECT] = RNOTIFY_STAGE_CONNECT,
	[RNOTIFY_EP_REQUEST] = RNOTIFY_STAGE_ACCEPT,
	[RNOTIFY_EP_ACCEPT] = RNOTIFY_STAGE_ACCEPT,
	[RNOTIFY_EP_ESTABLISHED] = RNOTIFY_STAGE_ESTABLISHED,
};

/**
 * rnotify_ep_transition() - the one function that changes the state
 * @ep: endpoint; lock held
 * @to: new state
 *
 * Return: false if that is no way to go from here; nothing happened.
 */
bool rnotify_ep_transition(struct rnotify_ep *ep, enum rnotify_ep_state to)
{
	lockdep_assert_held(&ep->lock);
	if (!(ep_may_enter[to] & BIT(ep->state)))
		return false;
	trace_rnotify_state(ep, to);
	if (to < RNOTIFY_EP_CLOSING)
		ep->stage = ep_stage[to];
	/* Release: who sees ESTABLISHED sees its event in the ring. */
	smp_store_release(&ep->state, to);
	return true;
}

/**
 * rnotify_ep_event() - start an event of this endpoint
 * @ep: endpoint
 * @ev: zeroed
 * @type: &enum rnotify_event_type
 */
void rnotify_ep_event(struct rnotify_ep *ep, struct rnotify_event *ev, u16 type)
{
	ev->type = type;
	ev->endpoint = ep->obj.id;
	ev->cookie = ep->cookie;
}

/**
 * rnotify_ep_queue() - let the worker look at something
 * @ep: endpoint
 * @bit: at what
 *
 * Context: any.
 */
void rnotify_ep_queue(struct rnotify_ep *ep, enum rnotify_ep_work bit)
{
	set_bit(bit, &ep->pending);
	rnotify_obj_hold(&ep->obj);
	if (!queue_work(rnotify_wq, &ep->work))
		rnotify_obj_put(&ep->obj);
}

static void record_cause(struct rnotify_ep *ep, u16 reason, int error,
			 u32 ib_status, u32 vendor_err)
{
	ep->down.reason = reason;
	ep->down.error = error;
	ep->down.ib_status = ib_status;
	ep->down.vendor_err = vendor_err;
	trace_rnotify_cause(ep);
}

/* A flushed receive may be seen before the failed send that was its cause. */
static bool explains_flush(const struct rnotify_ep *ep, u32 ib_status)
{
	return ep->state == RNOTIFY_EP_CLOSING &&
	       ep->down.ib_status == IB_WC_WR_FLUSH_ERR && ib_status &&
	       ib_status != IB_WC_WR_FLUSH_ERR;
}

/**
 * rnotify_ep_fail_locked() - there is a reason to end the endpoint
 * @ep: endpoint; lock held
 * @reason: &enum rnotify_reason
 * @error: negative errno
 * @ib_status: enum ib_wc_status, 0 if none
 * @vendor_err: the device's code, or the CM's
 *
 * Only the first reason is recorded; later ones are consequences, but for one
 * that explains a flush.
 */
void rnotify_ep_fail_locked(struct rnotify_ep *ep, u16 reason, int error,
			    u32 ib_status, u32 vendor_err)
{
	u16 stage = ep->stage;

	lockdep_assert_held(&ep->lock);
	if (!rnotify_ep_transition(ep, RNOTIFY_EP_CLOSING)) {
		if (explains_flush(ep, ib_status))
			record_cause(ep, reason, error, ib_status, vendor_err);
		return;
	}
	record_cause(ep, reason, error, ib_status, vendor_err);
	ep->down.stage = stage;
	ep->room_seq++;
	wake_up_all(&ep->wait);
	rnotify_ep_queue(ep, RNOTIFY_WORK_CLOSE);
}

/**
 * rnotify_ep_fail() - the same without the lock
 * @ep: endpoint
 * @reason: &enum rnotify_reason
 * @error: negative errno
 *
 * Context: any but hard interrupt.
 */
void rnotify_ep_fail(struct rnotify_ep *ep, u16 reason, int error)
{
	spin_lock_bh(&ep->lock);
	rnotify_ep_fail_locked(ep, reason, error, 0, 0);
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_ep_over() - what to say of an endpoint that can't be used any more
 * @ep: endpoint
 * @error: what it is if the RDMA device is still there
 *
 * Return: -ENODEV if the device is gone, else @error.
 */
int rnotify_ep_over(const struct rnotify_ep *ep, int error)
{
	return READ_ONCE(ep->down.reason) == RNOTIFY_REASON_DEVICE_REMOVED ?
	       -ENODEV : error;
}

/**
 * rnotify_ep_close() - the user wants an orderly end
 * @ep: endpoint in any state
 *
 * Context: any but hard interrupt; returns at once.
 */
void rnotify_ep_close(struct rnotify_ep *ep)
{
	spin_lock_bh(&ep->lock);
	if (ep->state < RNOTIFY_EP_CLOSING)
		ep->local_reason = READ_ONCE(ep->obj.ctx->closing) ?
				   RNOTIFY_REASON_PEER_EXIT :
				   RNOTIFY_REASON_LOCAL_CLOSE;
	rnotify_ep_fail_locked(ep, RNOTIFY_REASON_LOCAL_CLOSE, 0, 0, 0);
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_ep_established() - the connection is there
 * @ep: endpoint
 *
 * Called for the CM's event, and for the first data, which may be earlier:
 * whoever is first writes the event, so that it precedes all data.
 *
 * Context: any but hard interrupt.
 */
void rnotify_ep_established(struct rnotify_ep *ep)
{
	struct rnotify_event ev = {};

	spin_lock_bh(&ep->lock);
	if (ep->state == RNOTIFY_EP_CONNECT || ep->state == RNOTIFY_EP_ACCEPT) {
		rnotify_ep_event(ep, &ev, RNOTIFY_EVENT_ESTABLISHED);
		rnotify_ring_put(ep->ring, &ep->rv_life, &ev);
		/* Before the state: a receive that sees that must see this. */
		WRITE_ONCE(ep->told, true);
		rnotify_ep_transition(ep, RNOTIFY_EP_ESTABLISHED);
		ep->stall_tail = ep->sq_tail;
		ep->stall_since = jiffies;
	}
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_ep_consumed() - the user consumed events that somebody waited for
 * @ep: endpoint
 *
 * Context: any but hard interrupt; no locks of ours held.
 */
void rnotify_ep_consumed(struct rnotify_ep *ep)
{
	rnotify_ctrl_credit(ep);
	spin_lock_bh(&ep->lock);
	rnotify_tx_wake(ep);
	spin_unlock_bh(&ep->lock);
}

/*
 * Without an id CONNECT has failed, and cleans up by itself. A request that is
 * not in the ring yet queues us again: see on_request().
 */
static bool may_tear_down(struct rnotify_ep *ep)
{
	bool ok;

	spin_lock_bh(&ep->lock);
	ok = ep->state == RNOTIFY_EP_CLOSING && ep->cm_id &&
	     (!ep->passive || ep->shown);
	spin_unlock_bh(&ep->lock);
	return ok;
}

static void ep_work_fn(struct work_struct *work)
{
	struct rnotify_ep *ep = container_of(work, struct rnotify_ep, work);
	unsigned long pending = xchg(&ep->pending, 0);
	struct mem_cgroup *old;

	mutex_lock(&ep->mutex);
	if (test_bit(RNOTIFY_WORK_QP_EVENT, &pending)) {
		spin_lock_bh(&ep->lock);
		rnotify_ep_fail_locked(ep, RNOTIFY_REASON_TRANSPORT, -EIO, 0,
				       READ_ONCE(ep->qp_event));
		spin_unlock_bh(&ep->lock);
	}
	old = rnotify_ctx_charge(ep->obj.ctx);
	rnotify_connect_step(ep, pending);
	set_active_memcg(old);
	if (may_tear_down(ep))
		rnotify_ep_teardown(ep);
	mutex_unlock(&ep->mutex);
	rnotify_obj_put(&ep->obj);
}

/*
 * ---- as an object -----------------------------------------------------
 */

/*
 * Bounded: a second for the orderly end, then the CM and the drain, and the mutex
 * of a region that is just shared with somebody, which wait for nobody outside this
 * host.
 */
static void ep_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_ep *ep = to_ep(obj);

	rnotify_ep_close(ep);
	wait_for_completion(&ep->closed);
	rnotify_exports_release(ep);
	rnotify_ep_release(ep);
}

/**
 * rnotify_ep_release() - leave the ring and the listener
 * @ep: endpoint that is CLOSED, or was never started
 */
void rnotify_ep_release(struct rnotify_ep *ep)
{
	rnotify_listener_leave(ep);
	rnotify_ring_forget(ep->ring, ep);
}

static void ep_free(struct rnotify_obj *obj)
{
	struct rnotify_ep *ep = to_ep(obj);

	rnotify_eventfd_drop(&ep->eventfd);
	rnotify_routes_put(ep->routes);
	kfree_rcu(ep, obj.rcu);
}

static const struct rnotify_obj_ops ep_ops = {
	.type = RNOTIFY_OBJ_EP,
	.shutdown = ep_shutdown,
	.free = ep_free,
};

/**
 * rnotify_ep_set_eventfd() - an eventfd for this endpoint alone
 * @ep: endpoint
 * @fd: eventfd, or -1 for none
 *
 * Context: process, sleeps.
 * Return: 0, -EBADF, -EINVAL.
 */
int rnotify_ep_set_eventfd(struct rnotify_ep *ep, int fd)
{
	bool pending;
	int ret;

	mutex_lock(&ep->obj.ctx->setup_mutex);
	ret = rnotify_eventfd_set(&ep->eventfd, fd);
	mutex_unlock(&ep->obj.ctx->setup_mutex);
	if (ret)
		return ret;

	/* What was consumed, but not noticed yet, is no reason. */
	rnotify_ring_reclaim(ep->ring);
	spin_lock_bh(&ep->ring->lock);
	pending = ep->rv_rx.in_ring ||
		  READ_ONCE(ep->state) >= RNOTIFY_EP_CLOSING;
	spin_unlock_bh(&ep->ring->lock);
	if (pending)
		rnotify_eventfd_notify(&ep->eventfd);
	return 0;
}

static void resv_init(struct rnotify_ep *ep)
{
	ep->rv_rx.kind = RNOTIFY_RESV_DATA;
	ep->rv_gone.kind = RNOTIFY_RESV_GONE;
	ep->rv_rx.ep = ep;
	ep->rv_tx.ep = ep;
	ep->rv_life.ep = ep;
	ep->rv_gone.ep = ep;
	ep->rv_writable.ep = ep;
}

/**
 * rnotify_ep_alloc() - make an endpoint
 * @ctx: context that was set up
 * @gfp: how to allocate it
 *
 * Return: endpoint in state NEW without an id, or NULL.
 */
struct rnotify_ep *rnotify_ep_alloc(struct rnotify_ctx *ctx, gfp_t gfp)
{
	struct rnotify_ep *ep;

	ep = kzalloc(sizeof(*ep), gfp);
	if (!ep)
		return NULL;
	ep->ring = rnotify_ctx_ring(ctx);
	ep->session_id = get_random_u64();
	spin_lock_init(&ep->lock);
	mutex_init(&ep->mutex);
	INIT_LIST_HEAD(&ep->dev_node);
	INIT_LIST_HEAD(&ep->ctrl_queue);
	INIT_LIST_HEAD(&ep->exports);
	INIT_LIST_HEAD(&ep->shares);
	INIT_LIST_HEAD(&ep->ring_node);
	INIT_WORK(&ep->work, ep_work_fn);
	INIT_DELAYED_WORK(&ep->timer, rnotify_ep_timer_fn);
	init_completion(&ep->closed);
	init_waitqueue_head(&ep->wait);
	resv_init(ep);
	rnotify_obj_init(&ep->obj, ctx, &ep_ops);
	rnotify_routes_inherit(ep);
	return ep;
}

/**
 * rnotify_ep_set_params() - check the user's wishes and fill in defaults
 * @ep: endpoint in state NEW or REQUEST
 * @params: wishes
 *
 * Return: 0 or -EINVAL.
 */
int rnotify_ep_set_params(struct rnotify_ep *ep,
			  const struct rnotify_params *params)
{
	struct rnotify_params *p = &ep->params;

	*p = *params;
	p->recv_depth = p->recv_depth ?: 64;
	p->send_depth = p->send_depth ?: 64;
	p->keepalive_ms = p->keepalive_ms ?: 5000;
	p->connect_timeout_ms = p->connect_timeout_ms ?: 10000;
	if (p->remote_regions == RNOTIFY_NO_REGIONS)
		p->remote_regions = 0;
	else if (!p->remote_regions)
		p->remote_regions = 8;

	if (p->recv_depth > RNOTIFY_DEPTH_MAX ||
	    p->send_depth > RNOTIFY_DEPTH_MAX ||
	    p->remote_regions > RNOTIFY_SHARES_MAX ||
	    p->keepalive_ms < 1000 || p->keepalive_ms > RNOTIFY_MS_MAX ||
	    p->connect_timeout_ms > RNOTIFY_MS_MAX)
		return -EINVAL;

	rnotify_grant_init(&ep->grant, p->recv_depth);
	rnotify_grant_init(&ep->ctrl_grant, RNOTIFY_CTRL_WINDOW);
	rnotify_grant_init(&ep->region_grant, p->remote_regions);
	ep->deadline = jiffies + msecs_to_jiffies(p->connect_timeout_ms);
	return 0;
}

/**
 * rnotify_ep_reserve_ring() - set aside the ring entries of an endpoint
 * @ep: endpoint with its parameters
 *
 * Return: 0, or -ENOSPC with nothing reserved.
 */
int rnotify_ep_reserve_ring(struct rnotify_ep *ep)
{
	const struct rnotify_params *p = &ep->params;
	struct {
		struct rnotify_resv *resv;
		u32 nr;
	} want[] = {
		{ &ep->rv_rx, p->recv_depth },
		{ &ep->rv_tx, p->send_depth },
		/* ESTABLISHED, DISCONNECTED, and each REMOTE_REGION. */
		{ &ep->rv_life, 2 + p->remote_regions },
		{ &ep->rv_gone, p->remote_regions },
		{ &ep->rv_writable, 1 },
	};
	int ret = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(want) && !ret; i++)
		ret = rnotify_ring_reserve(ep->ring, want[i].resv, want[i].nr);
	if (ret)
		rnotify_ring_forget(ep->ring, ep);
	return ret;
}
