// SPDX-License-Identifier: GPL-2.0
/*
 * Taking exports back: the hard fence.
 *
 * The fence is ib_dereg_mr(): when it returns, the device performs no access
 * through the key. It needs neither the peer nor the send queue, so a
 * black-holed connection is not in its way. What comes before it, REGION_GONE
 * and its ACK, is only a courtesy: it lets a peer stop in order, where a late
 * write would cost it the connection. None of these waits can be interrupted.
 *
 * An MR must not go while its registration is in the send queue. That is so only
 * for an export in the making; if the queue stands still, the endpoint is ended.
 *
 * An export may have to outlive those who care for it: a REGION_GONE that can't
 * be sent now (the peer's kernel gives no control credit) keeps its place in the
 * queue, since without it the peer would never give the region's slot back; and
 * registrations that SHARE gave up on have to come back first. Such an export is
 * an orphan: it has a reference of its own, and rnotify_export.work ends it.
 */
#include <linux/slab.h>

#include "ep.h"

/* How long the peer has for its REGION_GONE_ACK. */
#define RNOTIFY_GONE_PATIENCE	HZ

/* How long registrations may be in the way of the end of a region. */
#define RNOTIFY_DEREG_PATIENCE	(5 * HZ)

/* Any context; ep.lock may be held: the caller's reference is not the last. */
static void queue_work_of(struct rnotify_export *export)
{
	rnotify_obj_hold(&export->obj);
	if (!queue_work(rnotify_wq, &export->work))
		rnotify_obj_put(&export->obj);
}

/* Asks the peer to stop, if it knows of the export. */
static void begin_gone(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	bool queued = !list_empty(&export->announce.node);

	/* A peer that got some of the keys does without the others. */
	list_del_init(&export->announce.node);
	if (queued && !export->next_key)
		export->announced = false;
	if (export->announced && ep->state == RNOTIFY_EP_ESTABLISHED)
		rnotify_ctrl_enqueue(ep, &export->gone,
				     RNOTIFY_WIRE_REGION_GONE);
}

/* The first step, taken once; it does not wait. */
static void begin_revoke(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	spin_lock_bh(&ep->lock);
	if (!export->stop) {
		export->stop = true;
		export->gone_until = jiffies + RNOTIFY_GONE_PATIENCE;
		begin_gone(export);
	}
	spin_unlock_bh(&ep->lock);
}

static bool gone_over(const struct rnotify_export *export)
{
	return export->gone.type != RNOTIFY_WIRE_REGION_GONE ||
	       READ_ONCE(export->acked) ||
	       READ_ONCE(export->ep->state) != RNOTIFY_EP_ESTABLISHED;
}

/* From when it was begun, so that several wait no longer than one. */
static void await_gone(struct rnotify_export *export)
{
	long left = export->gone_until - jiffies;

	if (left > 0)
		wait_event_timeout(export->ep->wait, gone_over(export), left);
}

static void await_registrations(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	if (wait_event_timeout(ep->wait, !READ_ONCE(export->reg_pending),
			       RNOTIFY_DEREG_PATIENCE))
		return;
	rnotify_ep_fail(ep, RNOTIFY_REASON_LOCAL_CLOSE, -ETIMEDOUT);
	wait_event(ep->wait, !READ_ONCE(export->reg_pending));
}

static void dereg_chunks(struct rnotify_export *export)
{
	u32 i;

	for (i = 0; i < export->nr_mrs; i++) {
		int ret = export->mrs[i] ? ib_dereg_mr(export->mrs[i]) : 0;

		WARN_ON_ONCE(ret);
		cond_resched();
	}
	kvfree(export->mrs);
	export->mrs = NULL;
}

/*
 * Gives its place back, unless its REGION_GONE still waits for its turn. Return:
 * true if it was an orphan: the caller gets its reference.
 */
static bool leave_ep(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	bool put = false;

	spin_lock_bh(&ep->lock);
	if (!list_empty(&export->gone.node) &&
	    ep->state == RNOTIFY_EP_ESTABLISHED) {
		if (!export->orphan)
			rnotify_obj_hold(&export->obj);
		export->orphan = true;
	} else if (!list_empty(&export->ep_node)) {
		list_del_init(&export->gone.node);
		list_del_init(&export->ep_node);
		ep->nr_exports--;
		/* What the peer never heard of took no place there. */
		if (!export->announced)
			ep->region_credit.used--;
		put = export->orphan;
		export->orphan = false;
		rnotify_tx_wake(ep);
	}
	spin_unlock_bh(&ep->lock);
	return put;
}

/**
 * rnotify_export_revoke() - the peer can't reach the memory any more
 * @export: export, referenced; it may be revoked already
 *
 * Context: process, sleeps, for a little more than RNOTIFY_GONE_PATIENCE at
 * most; an export in the making may take RNOTIFY_DEREG_PATIENCE and the time of
 * a teardown. rnotify_ep.mutex may be held if the queue pair is drained.
 */
void rnotify_export_revoke(struct rnotify_export *export)
{
	bool put;

	mutex_lock(&export->mutex);
	if (export->map) {
		begin_revoke(export);
		await_gone(export);
		await_registrations(export);
		dereg_chunks(export);
		rnotify_map_put(export->map);
		export->map = NULL;
	}
	/* Last: a teardown that finds none left frees the PD. */
	put = leave_ep(export);
	mutex_unlock(&export->mutex);

	/* The region's mutex, which the rest needs, is outside of the ep's. */
	if (put && !queue_work(rnotify_wq, &export->work))
		rnotify_obj_put(&export->obj);
}

/**
 * rnotify_exports_revoke_all() - the endpoint is over
 * @ep: endpoint whose QP is gone; mutex held
 */
void rnotify_exports_revoke_all(struct rnotify_ep *ep)
{
	struct rnotify_export *export;

	for (;;) {
		spin_lock_bh(&ep->lock);
		export = list_first_entry_or_null(&ep->exports,
						  struct rnotify_export,
						  ep_node);
		if (export)
			rnotify_obj_hold(&export->obj);
		spin_unlock_bh(&ep->lock);
		if (!export)
			return;
		rnotify_export_revoke(export);
		rnotify_obj_put(&export->obj);
	}
}

static void unlink_from_region(struct rnotify_export *export)
{
	mutex_lock(&export->region->mutex);
	list_del_init(&export->region_node);
	mutex_unlock(&export->region->mutex);
}

/**
 * rnotify_exports_destroy() - a region ends: take all its exports back
 * @region: region that is marked dead, so that no export is added
 *
 * All peers are asked at once.
 *
 * Context: process, sleeps as rnotify_export_revoke() for one export.
 */
void rnotify_exports_destroy(struct rnotify_region *region)
{
	struct rnotify_export *export;

	mutex_lock(&region->mutex);
	list_for_each_entry(export, &region->exports, region_node)
		begin_revoke(export);
	mutex_unlock(&region->mutex);

	for (;;) {
		mutex_lock(&region->mutex);
		export = list_first_entry_or_null(&region->exports,
						  struct rnotify_export,
						  region_node);
		if (export) {
			list_del_init(&export->region_node);
			rnotify_obj_hold(&export->obj);
		}
		mutex_unlock(&region->mutex);
		if (!export)
			return;

		/* Whoever else is destroying it may not have come so far. */
		rnotify_export_revoke(export);
		if (rnotify_obj_take(&export->obj))
			rnotify_obj_put(&export->obj);
		rnotify_obj_put(&export->obj);
	}
}

/* Referenced, or NULL. The last reference of one may just have been put. */
static struct rnotify_export *next_share(struct rnotify_ep *ep)
{
	struct rnotify_export *export;

	spin_lock_bh(&ep->lock);
	for (;;) {
		export = list_first_entry_or_null(&ep->shares,
						  struct rnotify_export,
						  share_node);
		if (!export)
			break;
		list_del_init(&export->share_node);
		if (refcount_inc_not_zero(&export->obj.refs))
			break;
	}
	spin_unlock_bh(&ep->lock);
	return export;
}

/* Its keys are gone. A SHARE that is just making it has the mutex. */
static void release_share(struct rnotify_export *export)
{
	bool taken;

	mutex_lock(&export->region->mutex);
	taken = rnotify_obj_take(&export->obj);
	if (taken)
		list_del_init(&export->region_node);
	mutex_unlock(&export->region->mutex);
	if (taken)
		rnotify_obj_put(&export->obj);
}

/**
 * rnotify_exports_release() - the endpoint is destroyed: so are its shares' ids
 * @ep: endpoint that is CLOSED
 *
 * Context: process, sleeps.
 */
void rnotify_exports_release(struct rnotify_ep *ep)
{
	struct rnotify_export *export;

	while ((export = next_share(ep))) {
		release_share(export);
		rnotify_obj_put(&export->obj);
	}
}

/**
 * rnotify_export_abandon() - SHARE failed
 * @export: export without an id; the caller's reference is taken over
 *
 * Context: process; does not wait for what was posted.
 */
void rnotify_export_abandon(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	bool pending;

	begin_revoke(export);
	spin_lock_bh(&ep->lock);
	pending = export->reg_pending;
	if (pending)
		export->orphan = true;
	spin_unlock_bh(&ep->lock);
	if (pending)
		return;
	unlink_from_region(export);
	rnotify_export_revoke(export);
	rnotify_obj_put(&export->obj);
}

/**
 * rnotify_export_registered() - a registration is over, well or not
 * @export: export; the lock of its endpoint is held
 *
 * Context: softirq or process.
 */
void rnotify_export_registered(struct rnotify_export *export)
{
	if (!--export->reg_pending && export->orphan)
		queue_work_of(export);
}

/**
 * rnotify_export_gone_sent() - its REGION_GONE is on its way
 * @export: export; the lock of its endpoint is held
 *
 * Context: softirq or process.
 */
void rnotify_export_gone_sent(struct rnotify_export *export)
{
	if (export->orphan)
		queue_work_of(export);
}

/* The rest of an orphan's end. */
static void export_work_fn(struct work_struct *work)
{
	struct rnotify_export *export =
		container_of(work, struct rnotify_export, work);

	unlink_from_region(export);
	rnotify_export_revoke(export);
	rnotify_obj_put(&export->obj);
}

void rnotify_export_init_work(struct rnotify_export *export)
{
	INIT_WORK(&export->work, export_work_fn);
}

/**
 * rnotify_export_acked() - REGION_GONE_ACK came
 * @ep: endpoint
 * @share_id: which share; an unknown one came too late, and is ignored
 *
 * Context: softirq.
 */
void rnotify_export_acked(struct rnotify_ep *ep, u32 share_id)
{
	struct rnotify_export *export;

	spin_lock_bh(&ep->lock);
	list_for_each_entry(export, &ep->exports, ep_node) {
		/* Only what was asked for counts as an answer. */
		if (export->obj.id == share_id &&
		    export->gone.type == RNOTIFY_WIRE_REGION_GONE &&
		    list_empty(&export->gone.node)) {
			WRITE_ONCE(export->acked, true);
			wake_up_all(&ep->wait);
			break;
		}
	}
	spin_unlock_bh(&ep->lock);
}

static void export_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_export *export = to_export(obj);

	/*
	 * In this order: a region that ends meanwhile must not find it gone from
	 * its list before its keys are.
	 */
	rnotify_export_revoke(export);
	unlink_from_region(export);
}

static void export_free(struct rnotify_obj *obj)
{
	struct rnotify_export *export = to_export(obj);
	struct rnotify_ep *ep = export->ep;

	spin_lock_bh(&ep->lock);
	list_del_init(&export->share_node);
	spin_unlock_bh(&ep->lock);
	rnotify_obj_put(&ep->obj);
	rnotify_obj_put(&export->region->obj);
	kfree_rcu(export, obj.rcu);
}

const struct rnotify_obj_ops rnotify_export_ops = {
	.type = RNOTIFY_OBJ_EXPORT,
	.shutdown = export_shutdown,
	.free = export_free,
};
