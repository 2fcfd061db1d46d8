// SPDX-License-Identifier: GPL-2.0
/*
 * Exports: making a region reachable by one endpoint's peer. Taking it back is
 * in revoke.c.
 *
 * Keys. One fast-registration MR per chunk, in the endpoint's own PD, with just
 * the rights granted. An MR is registered once in its life: a new share gets
 * new MRs. So the eight key bits that a re-registration would turn are not what
 * keeps old keys dead; their MR is gone.
 *
 * Addresses. MRs are registered at virtual addresses that start at the first
 * byte's offset in its page, whatever the device address: the peer sees no
 * kernel pointer.
 */
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "chunk.h"
#include "ep.h"

/*
 * How long SHARE waits for the next of its registrations. They are behind what
 * was posted before.
 */
#define RNOTIFY_REG_PATIENCE	(5 * HZ)

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

/* Pages of the largest chunk: a small share takes a small MR. */
static u32 chunk_pages(const struct rnotify_export *export)
{
	u64 all = DIV_ROUND_UP_ULL(export->first_offset + export->length,
				   PAGE_SIZE);

	return min_t(u64, all, 1u << (export->chunk_shift - PAGE_SHIFT));
}

static int map_chunks(struct rnotify_export *export)
{
	u32 max = chunk_pages(export);
	struct scatterlist *sg;
	int ret = 0;
	u32 i;

	sg = kvmalloc_array(max, sizeof(*sg), GFP_KERNEL);
	if (!sg)
		return -ENOMEM;
	sg_init_table(sg, max);
	for (i = 0; i < export->nr_mrs && !ret; i++) {
		ret = map_chunk(export, i, sg, max);
		if (fatal_signal_pending(current))
			ret = -EINTR;
		/* The end, and the device's removal, wait for us. */
		else if (!ret &&
			 READ_ONCE(export->ep->state) != RNOTIFY_EP_ESTABLISHED)
			ret = rnotify_ep_over(export->ep, -ENOTCONN);
		cond_resched();
	}
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

		tx->export = export;
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
 * Posts what there is room for. Return: -EAGAIN if one has to wait for the next
 * change of @seq.
 */
static int register_some(struct rnotify_export *export, u32 *posted, u32 *over,
			 u32 *seq)
{
	struct rnotify_ep *ep = export->ep;
	int ret = -EAGAIN;

	spin_lock_bh(&ep->lock);
	*seq = ep->room_seq;
	if (ep->state != RNOTIFY_EP_ESTABLISHED || ep->sq_broken)
		ret = rnotify_ep_over(ep, -ENOTCONN);
	else if (export->stop)
		ret = -ENOENT;
	else
		*posted += post_registrations(export, *posted);
	*over = *posted - export->reg_pending;
	if (ret == -EAGAIN && *over == export->nr_mrs)
		ret = 0;
	spin_unlock_bh(&ep->lock);
	return ret;
}

/*
 * Return: 0; -ENOTCONN, -ENODEV, -ENOENT, -ETIMEDOUT, -EINTR: some may be under
 * way.
 */
static int register_chunks(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	u32 posted = 0, over = 0, before, seq;
	unsigned long end = jiffies + RNOTIFY_REG_PATIENCE;
	long left;
	int ret;

	for (;;) {
		before = over;
		ret = register_some(export, &posted, &over, &seq);
		if (ret != -EAGAIN)
			return ret;
		if (over != before)
			end = jiffies + RNOTIFY_REG_PATIENCE;
		left = end - jiffies;
		if (left <= 0)
			return -ETIMEDOUT;
		left = wait_event_killable_timeout(ep->wait,
						   READ_ONCE(ep->room_seq) !=
						   seq, left);
		if (left < 0)
			return -EINTR;
	}
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
	INIT_LIST_HEAD(&export->share_node);
	INIT_LIST_HEAD(&export->announce.node);
	INIT_LIST_HEAD(&export->gone.node);
	mutex_init(&export->mutex);
	rnotify_export_init_work(export);
	export->offset = arg->offset;
	export->length = length;
	export->rights = arg->rights;
	export->tag = arg->tag;
	export->first_offset = offset_in_page(region->offset + arg->offset);
	rnotify_obj_init(&export->obj, region->obj.ctx, &rnotify_export_ops);
	return export;
}

/**
 * rnotify_ep_has_place() - could one more region be shared?
 * @ep: established endpoint; lock held
 *
 * Return: true if there is a place in its table, and one in the peer's.
 */
bool rnotify_ep_has_place(const struct rnotify_ep *ep)
{
	return ep->nr_exports < RNOTIFY_SHARES_MAX &&
	       rnotify_credit_left(&ep->region_credit);
}

/* A refusal is made good by WRITABLE. */
static int take_place(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	if (ep->state != RNOTIFY_EP_ESTABLISHED) {
		ret = rnotify_ep_over(ep, -ENOTCONN);
	} else if (!rnotify_ep_has_place(ep)) {
		ep->want_place = true;
		ret = -EMFILE;
	} else {
		rnotify_credit_use(&ep->region_credit);
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
		return rnotify_ep_over(ep, -ENOTCONN);
	if ((export->rights & RNOTIFY_RIGHT_ATOMIC) &&
	    ep->dev->ib->attrs.atomic_cap == IB_ATOMIC_NONE)
		return -EOPNOTSUPP;
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

/* From here on it ends with the endpoint: see rnotify_exports_release(). */
static int export_announce(struct rnotify_export *export)
{
	struct rnotify_ep *ep = export->ep;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	if (ep->state == RNOTIFY_EP_ESTABLISHED) {
		export->announced = true;
		list_add_tail(&export->share_node, &ep->shares);
		rnotify_ctrl_enqueue(ep, &export->announce,
				     RNOTIFY_WIRE_REGION);
	} else {
		ret = rnotify_ep_over(ep, -ENOTCONN);
	}
	spin_unlock_bh(&ep->lock);
	return ret;
}

/* The region's end finds it from here on, and waits for it. */
static int export_begin(struct rnotify_export *export)
{
	struct rnotify_region *region = export->region;
	int ret;

	mutex_lock(&region->mutex);
	mutex_lock(&export->ep->mutex);
	ret = export_map(export);
	mutex_unlock(&export->ep->mutex);
	if (!ret)
		list_add_tail(&export->region_node, &region->exports);
	mutex_unlock(&region->mutex);
	return ret;
}

/* The region may have ended while nothing was held. */
static int export_publish(struct rnotify_export *export)
{
	struct rnotify_region *region = export->region;
	int ret = -ENOENT;

	mutex_lock(&region->mutex);
	if (!region->dead)
		ret = export_announce(export);
	if (!ret)
		rnotify_obj_publish(&export->obj);
	mutex_unlock(&region->mutex);
	return ret;
}

static int export_build(struct rnotify_ep *ep, struct rnotify_region *region,
			struct rnotify_share *arg, u64 length)
{
	struct rnotify_export *export;
	int ret;

	export = export_alloc(ep, region, arg, length);
	if (!export)
		return -ENOMEM;
	ret = rnotify_obj_reserve(&export->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put;

	arg->share_id = export->obj.id;
	ret = export_begin(export);
	if (!ret)
		ret = register_chunks(export);
	if (!ret)
		ret = export_publish(export);
	if (!ret)
		return 0;

	rnotify_obj_unreserve(&export->obj);
	rnotify_export_abandon(export);
	return ret;

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
	if (!ret)
		ret = export_build(to_ep(ep), to_region(region), arg, length);
out:
	if (region)
		rnotify_obj_put(region);
	if (ep)
		rnotify_obj_put(ep);
	return ret;
}
