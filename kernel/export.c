// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: making a region reachable by one endpoint's peer, and taking it back.
 *
 * Keys. One fast-registration MR per chunk, in the endpoint's own PD, with just
 * the rights granted. An MR is registered once in its life: a new share gets
 * new MRs. So the eight key bits that a re-registration would turn are not what
 * keeps old keys dead; their MR is gone.
 *
 * Addresses. MRs are registered at virtual addresses that start at the first
 * byte's offset in its page, whatever the device address: the peer sees no
 * kernel pointer.
 *
 * The fence is ib_dereg_mr(): when it returns, the device performs no access
 * through the key. It works without the peer and without the send queue, so it
 * is not in the way of a black-holed connection. What comes before it,
 * REGION_GONE and its ACK, is only a courtesy: it lets a peer stop in order,
 * where a late write would cost it the connection.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "chunk.h"
#include "ep.h"

/* How long the peer has for its REGION_GONE_ACK. */
#define RNOTIFY_GONE_PATIENCE	HZ

/*
 * ---- registration -----------------------------------------------------
 */

static int mr_access(u32 rights)
{
	int access = 0;

	if (rights & RNOTIFY_RIGHT_WRITE)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	if (rights & RNOTIFY_RIGHT_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (rights & RNOTIFY_RIGHT_ATOMIC)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	return access;
}

/* The pieces of [pos, pos + len) of a map as a scatter list. */
static int chunk_sg(const struct rnotify_map *map, u64 pos, u64 len,
		    struct scatterlist *sg, u32 max)
{
	u32 seg = rnotify_map_find(map, pos);
	u32 nents = 0;

	for (; len && nents < max; seg++, nents++) {
		const struct rnotify_seg *s = &map->segs[seg];
		u64 skip = pos - s->start;
		u32 bytes = min_t(u64, len, s->len - skip);

		sg_dma_address(&sg[nents]) = s->dma + skip;
		sg_dma_len(&sg[nents]) = bytes;
		sg[nents].length = bytes;
		pos += bytes;
		len -= bytes;
	}
	return len ? -EINVAL : nents;
}

static int map_chunk(struct rnotify_export *export, u32 i,
		     struct scatterlist *sg, u32 max)
{
	u64 addr = (u64)i << export->chunk_shift;
	u64 end = min((u64)(i + 1) << export->chunk_shift,
		      export->first_offset + export->length);
	struct ib_mr *mr;
	int nents, ret;

	addr = max_t(u64, addr, export->first_offset);
	nents = chunk_sg(export->map,
			 export->offset + addr - export->first_offset,
			 end - addr, sg, max);
	if (nents < 0)
		return nents;

	mr = ib_alloc_mr(export->ep->pd, IB_MR_TYPE_MEM_REG, max);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	export->mrs[i] = mr;
	ret = ib_map_mr_sg(mr, sg, nents, NULL, PAGE_SIZE);
	if (ret != nents)
		return ret < 0 ? ret : -EINVAL;
	mr->iova = addr;
	return 0;
}

static int map_chunks(struct rnotify_export *export)
{
	u32 max = 1u << (export->chunk_shift - PAGE_SHIFT);
	struct scatterlist *sg;
	int ret = 0;
	u32 i;

	sg = kvmalloc_array(max, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return -ENOMEM;
	sg_init_table(sg, max);
	for (i = 0; i < export->nr_mrs && !ret; i++)
		ret = map_chunk(export, i, sg, max);
	kvfree(sg);
	return ret;
}

/* Posts registrations from @first on, as many as there is room for. */
static u32 post_registrations(struct rnotify_export *export, u32 first)
{
	struct ib_reg_wr wr[RNOTIFY_SQ_REG] = {};
	struct rnotify_ep *ep = export->ep;
	u32 nr = 0;

	while (nr < RNOTIFY_SQ_REG && first + nr < export->nr_mrs &&
	       rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_REG, 1)) {
		struct rnotify_tx *tx = rnotify_tx_next(ep,
							RNOTIFY_SQ_CLASS_REG);

		tx->reg = &export->reg_pending;
		export->reg_pending++;
		wr[nr].wr.opcode = IB_WR_REG_MR;
		wr[nr].wr.wr_cqe = &tx->cqe;
		wr[nr].mr = export->mrs[first + nr];
		wr[nr].key = wr[nr].mr->rkey;
		wr[nr].access = mr_access(export->rights);
		if (nr)
			wr[nr - 1].wr.next = &wr[nr].wr;
		nr++;
	}
	if (nr) {
		wr[nr - 1].wr.send_flags = IB_SEND_SIGNALED;
		rnotify_post_wr(ep, &wr[0].wr);
	}
	return nr;
}

/*
 * Waits are not interruptible, but bounded: what is posted either completes,
 * or the endpoint fails (retries, or the timer's stall detection) and all is
 * flushed.
 */
static int register_chunks(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	u32 done = 0, seq;
	bool up;

	for (;;) {
		spin_lock_bh(&ep->lock);
		up = ep->state == RNOTIFY_EP_ESTABLISHED;
		seq = ep->room_seq;
		if (up && done < export->nr_mrs)
			done += post_registrations(export, done);
		if (!export->reg_pending &&
		    (!up || done == export->nr_mrs)) {
			spin_unlock_bh(&ep->lock);
			return up ? 0 : -ENOTCONN;
		}
		spin_unlock_bh(&ep->lock);
		wait_event(ep->wait, READ_ONCE(ep->room_seq) != seq);
	}
}

/*
 * ---- taking back ------------------------------------------------------
 */

/* Return: true if the peer's ACK is to be waited for. */
static bool begin_gone(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	bool wait = false;

	spin_lock_bh(&ep->lock);
	if (!export->announced)
		goto out;
	if (!list_empty(&export->announce.node) && !export->next_key) {
		/* The peer doesn't know it yet, and never will. */
		list_del_init(&export->announce.node);
		ep->region_credit.used--;
	} else if (ep->state == RNOTIFY_EP_ESTABLISHED) {
		rnotify_ctrl_enqueue(ep, &export->gone,
				     RNOTIFY_WIRE_REGION_GONE);
		wait = true;
	}
out:
	spin_unlock_bh(&ep->lock);
	return wait;
}

static bool gone_over(struct rnotify_export *export)
{
	return READ_ONCE(export->acked) ||
	       READ_ONCE(export->ep->state) != RNOTIFY_EP_ESTABLISHED;
}

static void forget_messages(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	spin_lock_bh(&ep->lock);
	list_del_init(&export->announce.node);
	list_del_init(&export->gone.node);
	spin_unlock_bh(&ep->lock);
}

static void unlink_from_ep(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	spin_lock_bh(&ep->lock);
	if (!list_empty(&export->ep_node)) {
		list_del_init(&export->ep_node);
		ep->nr_exports--;
	}
	spin_unlock_bh(&ep->lock);
}

static void dereg_chunks(struct rnotify_export *export)
{
	u32 i;

	for (i = 0; i < export->nr_mrs; i++) {
		int ret = export->mrs[i] ? ib_dereg_mr(export->mrs[i]) : 0;

		WARN_ON_ONCE(ret);
	}
	kvfree(export->mrs);
	export->mrs = NULL;
}

/**
 * rnotify_export_revoke() - the peer can't reach the memory any more
 * @export: export; it may be revoked already
 *
 * Context: process, sleeps, for a little more than RNOTIFY_GONE_PATIENCE at
 * most. rnotify_ep.mutex may be held if the endpoint is not established.
 */
void rnotify_export_revoke(struct rnotify_export *export)
{
	mutex_lock(&export->mutex);
	if (export->map) {
		if (begin_gone(export))
			wait_event_timeout(export->ep->wait, gone_over(export),
					   RNOTIFY_GONE_PATIENCE);
		forget_messages(export);
		dereg_chunks(export);
		rnotify_map_put(export->map);
		export->map = NULL;
		/* Last: a teardown that finds none left frees the PD. */
		unlink_from_ep(export);
	}
	mutex_unlock(&export->mutex);
}

/**
 * rnotify_exports_revoke_all() - the endpoint is over
 * @ep: endpoint with a drained QP; mutex held
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
 */
void rnotify_exports_destroy(struct rnotify_region *region)
{
	struct rnotify_export *export;

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

static void export_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_export *export = to_export(obj);

	unlink_from_region(export);
	rnotify_export_revoke(export);
}

static void export_free(struct rnotify_obj *obj)
{
	struct rnotify_export *export = to_export(obj);

	rnotify_obj_put(&export->ep->obj);
	rnotify_obj_put(&export->region->obj);
	kfree_rcu(export, obj.rcu);
}

static const struct rnotify_obj_ops export_ops = {
	.type = RNOTIFY_OBJ_EXPORT,
	.shutdown = export_shutdown,
	.free = export_free,
};

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

/*
 * ---- creation ---------------------------------------------------------
 */

static int check_share(const struct rnotify_share *arg,
		       const struct rnotify_region *region, u64 length)
{
	if (!rnotify_range_ok(arg->offset, length, region->length) || !length)
		return -ERANGE;
	if ((region->flags & RNOTIFY_REGION_READ_ONLY) &&
	    (arg->rights & (RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_ATOMIC)))
		return -EACCES;
	return 0;
}

static struct rnotify_export *export_alloc(struct rnotify_ep *ep,
					   struct rnotify_region *region,
					   const struct rnotify_share *arg,
					   u64 length)
{
	struct rnotify_export *export;

	export = kzalloc(sizeof(*export), GFP_KERNEL_ACCOUNT);
	if (!export)
		return NULL;
	rnotify_obj_hold(&ep->obj);
	rnotify_obj_hold(&region->obj);
	export->ep = ep;
	export->region = region;
	INIT_LIST_HEAD(&export->region_node);
	INIT_LIST_HEAD(&export->ep_node);
	INIT_LIST_HEAD(&export->announce.node);
	INIT_LIST_HEAD(&export->gone.node);
	mutex_init(&export->mutex);
	export->offset = arg->offset;
	export->length = length;
	export->rights = arg->rights;
	export->tag = arg->tag;
	export->first_offset = offset_in_page(region->offset + arg->offset);
	rnotify_obj_init(&export->obj, region->obj.ctx, &export_ops);
	return export;
}

/* Takes a place in the endpoint's table, and one of the peer's. */
static int take_place(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	if (ep->state != RNOTIFY_EP_ESTABLISHED)
		ret = -ENOTCONN;
	else if (ep->nr_exports >= RNOTIFY_SHARES_MAX ||
		 !rnotify_credit_use(&ep->region_credit))
		ret = -EMFILE;
	if (!ret) {
		ep->nr_exports++;
		list_add_tail(&export->ep_node, &ep->exports);
	}
	spin_unlock_bh(&ep->lock);
	return ret;
}

/* Under the lock: ESTABLISHED is in the ring an instant before the state is. */
static bool export_possible(struct rnotify_ep *ep)
{
	bool up;

	spin_lock_bh(&ep->lock);
	up = ep->dev && ep->state == RNOTIFY_EP_ESTABLISHED;
	spin_unlock_bh(&ep->lock);
	return up;
}

/* MRs with their page lists; not yet valid for anybody. */
static int export_map(struct rnotify_export *export)
{
	struct rnotify_region *region = export->region;
	struct rnotify_ep *ep = export->ep;
	u64 nr;
	int ret;

	lockdep_assert_held(&ep->mutex);
	if (!export_possible(ep))
		return -ENOTCONN;
	ret = rnotify_map_create(region, ep->dev);
	if (ret)
		return ret;

	export->chunk_shift = min_t(u32, RNOTIFY_CHUNK_SHIFT_MAX,
				    PAGE_SHIFT + ilog2(ep->dev->max_keys));
	nr = rnotify_chunk_count(export->first_offset, export->length,
				 export->chunk_shift);
	if (nr > U16_MAX)
		return -EMSGSIZE;
	export->mrs = kvcalloc(nr, sizeof(*export->mrs), GFP_KERNEL_ACCOUNT);
	if (!export->mrs)
		return -ENOMEM;
	export->nr_mrs = nr;
	ret = take_place(export);
	if (ret) {
		kvfree(export->mrs);
		export->nr_mrs = 0;
		return ret;
	}
	/* From here rnotify_export_revoke() undoes it. */
	export->map = rnotify_map_get(region, ep->dev);
	return map_chunks(export);
}

static void export_announce(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	spin_lock_bh(&ep->lock);
	if (ep->state == RNOTIFY_EP_ESTABLISHED) {
		export->announced = true;
		rnotify_ctrl_enqueue(ep, &export->announce,
				     RNOTIFY_WIRE_REGION);
	}
	spin_unlock_bh(&ep->lock);
}

/* The peer never heard of it: its place is free again. */
static void export_abort(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;

	if (export->map) {
		rnotify_export_revoke(export);
		spin_lock_bh(&ep->lock);
		ep->region_credit.used--;
		spin_unlock_bh(&ep->lock);
	}
}

static int export_build(struct rnotify_ep *ep, struct rnotify_region *region,
			struct rnotify_share *arg, u64 length)
{
	struct rnotify_export *export;
	int ret;

	export = export_alloc(ep, region, arg, length);
	if (!export)
		return -ENOMEM;
	ret = rnotify_obj_reserve(&export->obj);
	if (ret)
		goto err_put;

	mutex_lock(&ep->mutex);
	ret = export_map(export);
	mutex_unlock(&ep->mutex);
	if (!ret)
		ret = register_chunks(export);
	if (ret)
		goto err_abort;

	arg->share_id = export->obj.id;
	list_add_tail(&export->region_node, &region->exports);
	export_announce(export);
	rnotify_obj_publish(&export->obj);
	return 0;

err_abort:
	export_abort(export);
	rnotify_obj_unreserve(&export->obj);
err_put:
	rnotify_obj_put(&export->obj);
	return ret;
}

/**
 * rnotify_export_create() - RNOTIFY_IOCTL_SHARE
 * @ctx: context
 * @arg: command, without flags; share_id is filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno as <linux/rnotify.h> says.
 */
int rnotify_export_create(struct rnotify_ctx *ctx, struct rnotify_share *arg)
{
	struct rnotify_obj *ep, *region;
	u64 length = arg->length;
	int ret;

	if (arg->rights & ~RNOTIFY_WIRE_RIGHTS)
		return -EOPNOTSUPP;
	if (!arg->rights)
		return -EINVAL;

	ep = rnotify_obj_get(ctx, arg->endpoint_id, RNOTIFY_OBJ_EP);
	region = rnotify_obj_get(ctx, arg->region_id, RNOTIFY_OBJ_REGION);
	ret = -ENOENT;
	if (!ep || !region)
		goto out;
	if (!length && arg->offset < to_region(region)->length)
		length = to_region(region)->length - arg->offset;
	ret = check_share(arg, to_region(region), length);
	if (ret)
		goto out;

	/* Held all the way: the region can't end before it knows of us. */
	mutex_lock(&to_region(region)->mutex);
	ret = export_build(to_ep(ep), to_region(region), arg, length);
	mutex_unlock(&to_region(region)->mutex);
out:
	if (region)
		rnotify_obj_put(region);
	if (ep)
		rnotify_obj_put(ep);
	return ret;
}
