// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: pinning or allocating memory, mapping it to user space, and the hard
 * fence at its end.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "chunk.h"
#include "ep.h"
#include "mmap_layout.h"
#include "pin.h"

/* Largest block of a kernel-allocated region: what one MR covers on rxe. */
#define RNOTIFY_ALLOC_ORDER	9u

/* Pages that are freed without a look at whether others want the CPU. */
#define RNOTIFY_PAGES_AT_ONCE	512ul

/*
 * How long operations may keep a region alive before their endpoints are ended:
 * without any progress, and in all.
 */
#define RNOTIFY_REGION_PATIENCE		(5 * HZ)
#define RNOTIFY_REGION_PATIENCE_MAX	(20 * HZ)

/*
 * ---- pages ------------------------------------------------------------
 */

static int region_pin(struct rnotify_region *region,
		      const struct rnotify_register *arg)
{
	bool write = !(region->flags & RNOTIFY_REGION_READ_ONLY);

	if (region->flags & RNOTIFY_REGION_FD)
		return rnotify_pin_fd(region->pages, region->nr_pages, arg->fd,
				      arg->addr, arg->length, write);
	return rnotify_pin_user(region->pages, region->nr_pages, arg->addr,
				write);
}

static void free_pages_array(struct page **pages, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++) {
		put_page(pages[i]);
		if (i % RNOTIFY_PAGES_AT_ONCE == 0)
			cond_resched();
	}
}

/*
 * Large blocks make long scatter elements, hence few work requests for an
 * operation. They are split, so that each page lives as long as its last user:
 * region or mapping.
 */
static int region_alloc_pages(struct rnotify_region *region)
{
	/* Not the OOM killer's business: the user asked for too much. */
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	unsigned int order = RNOTIFY_ALLOC_ORDER;
	unsigned long done = 0;

	while (done < region->nr_pages) {
		struct page *page;
		unsigned long i;

		while (order && (1ul << order) > region->nr_pages - done)
			order--;
		page = alloc_pages(gfp | (order ? __GFP_NORETRY :
					  __GFP_RETRY_MAYFAIL), order);
		if (!page && order) {
			order--;
			continue;
		}
		if (!page || fatal_signal_pending(current)) {
			if (page)
				__free_pages(page, order);
			free_pages_array(region->pages, done);
			return -ENOMEM;
		}
		if (order)
			split_page(page, order);
		for (i = 0; i < (1ul << order); i++)
			region->pages[done++] = page + i;
		cond_resched();
	}
	return 0;
}

static void unpin_pages(struct page **pages, unsigned long nr, bool dirty)
{
	unsigned long i, some;

	for (i = 0; i < nr; i += some) {
		some = min(nr - i, RNOTIFY_PAGES_AT_ONCE);
		unpin_user_pages_dirty_lock(pages + i, some, dirty);
		cond_resched();
	}
}

static void region_release_pages(struct rnotify_region *region)
{
	if (region->flags & RNOTIFY_REGION_ALLOC)
		free_pages_array(region->pages, region->nr_pages);
	else
		unpin_pages(region->pages, region->nr_pages,
			    !(region->flags & RNOTIFY_REGION_READ_ONLY));
}

/*
 * ---- end --------------------------------------------------------------
 */

static bool region_idle(struct rnotify_region *region)
{
	struct rnotify_map *map;
	bool idle = true;

	spin_lock_bh(&region->lock);
	list_for_each_entry(map, &region->maps, list)
		idle &= !atomic_read(&map->inflight);
	spin_unlock_bh(&region->lock);
	return idle;
}

/*
 * Walks the endpoints whose operations use it. Return: a number that changes
 * whenever a work request of one of them completes.
 */
static u32 region_users(struct rnotify_region *region, bool end_them)
{
	struct rnotify_obj *obj;
	unsigned long id;
	u32 completed = 0;

	rcu_read_lock();
	xa_for_each(&region->obj.ctx->objects, id, obj) {
		if (obj->ops->type != RNOTIFY_OBJ_EP ||
		    !rnotify_tx_uses(to_ep(obj), region))
			continue;
		completed += READ_ONCE(to_ep(obj)->sq_tail);
		if (end_them)
			rnotify_ep_fail(to_ep(obj), RNOTIFY_REASON_LOCAL_CLOSE,
					-ETIMEDOUT);
	}
	rcu_read_unlock();
	return completed;
}

/*
 * Patience with a link that is slow, not with one that stands still (a dead peer
 * is found by the endpoint's own timer, but that may be set to minutes), and not
 * with what a killed process has posted.
 */
static bool region_await_idle(struct rnotify_region *region)
{
	unsigned long end = jiffies + RNOTIFY_REGION_PATIENCE_MAX;
	u32 before;
	long left;

	do {
		before = region_users(region, false);
		left = wait_event_killable_timeout(region->wait,
						   region_idle(region),
						   RNOTIFY_REGION_PATIENCE);
		if (left)
			return left > 0;
	} while (region_users(region, false) != before &&
		 time_before(jiffies, end));
	return false;
}

/*
 * The hard fence. Keys go first (rnotify_exports_destroy()): then no peer can
 * write. Own operations are waited for: while one is posted the device may
 * read the pages, or write them for a READ. Only then are they unpinned.
 */
static void region_shutdown(struct rnotify_obj *obj)
{
	struct rnotify_region *region = to_region(obj);

	mutex_lock(&region->mutex);
	spin_lock_bh(&region->lock);
	region->dead = true;
	spin_unlock_bh(&region->lock);
	mutex_unlock(&region->mutex);

	rnotify_exports_destroy(region);
	if (!region_await_idle(region)) {
		region_users(region, true);
		wait_event(region->wait, region_idle(region));
	}

	rnotify_maps_destroy(region);

	mutex_lock(&region->pages_mutex);
	region_release_pages(region);
	kvfree(region->pages);
	region->pages = NULL;
	mutex_unlock(&region->pages_mutex);
	rnotify_charge_put(region->charge);
}

static void region_free(struct rnotify_obj *obj)
{
	kfree_rcu(to_region(obj), obj.rcu);
}

static const struct rnotify_obj_ops region_ops = {
	.type = RNOTIFY_OBJ_REGION,
	.shutdown = region_shutdown,
	.free = region_free,
};

/*
 * ---- begin ------------------------------------------------------------
 */

static int region_check(const struct rnotify_register *arg)
{
	bool alloc = arg->flags & RNOTIFY_REGION_ALLOC;
	u64 end;

	if (!arg->length || (alloc && arg->addr) ||
	    (alloc && (arg->flags & ~RNOTIFY_REGION_ALLOC)))
		return -EINVAL;
	if (check_add_overflow(arg->addr, arg->length, &end) ||
	    end > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	/* What the scatter tables can count. */
	return arg->length >> PAGE_SHIFT >= INT_MAX ? -ENOMEM : 0;
}

static struct rnotify_region *region_alloc(struct rnotify_ctx *ctx,
					   const struct rnotify_register *arg)
{
	struct rnotify_region *region;

	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return NULL;

	region->flags = arg->flags;
	region->length = arg->length;
	region->offset = offset_in_page(arg->addr);
	region->nr_pages = DIV_ROUND_UP_ULL(region->offset + arg->length,
					    PAGE_SIZE);
	mutex_init(&region->mutex);
	mutex_init(&region->pages_mutex);
	INIT_LIST_HEAD(&region->exports);
	spin_lock_init(&region->lock);
	INIT_LIST_HEAD(&region->maps);
	init_waitqueue_head(&region->wait);
	rnotify_obj_init(&region->obj, ctx, &region_ops);
	return region;
}

/**
 * rnotify_region_create() - RNOTIFY_IOCTL_REGISTER
 * @ctx: context
 * @arg: command, with known flags only; results are filled in
 *
 * Context: process, sleeps; takes the mmap lock.
 * Return: 0, or a negative errno with nothing pinned or charged.
 */
int rnotify_region_create(struct rnotify_ctx *ctx,
			  struct rnotify_register *arg)
{
	struct rnotify_region *region;
	int ret;

	ret = region_check(arg);
	if (ret)
		return ret;
	region = region_alloc(ctx, arg);
	if (!region)
		return -ENOMEM;

	ret = rnotify_obj_reserve(&region->obj, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put;
	/* Before the array: what may not be locked shall not be allocated. */
	region->charge = rnotify_charge_make(region->nr_pages, arg);
	ret = PTR_ERR_OR_ZERO(region->charge);
	if (ret)
		goto err_unreserve;
	ret = -ENOMEM;
	/* Nor an array for more than there can be. */
	if (region->nr_pages > totalram_pages())
		goto err_uncharge;
	region->pages = kvcalloc(region->nr_pages, sizeof(*region->pages),
				 GFP_KERNEL_ACCOUNT);
	if (!region->pages)
		goto err_uncharge;
	if (region->flags & RNOTIFY_REGION_ALLOC)
		ret = region_alloc_pages(region);
	else
		ret = region_pin(region, arg);
	if (ret)
		goto err_array;

	arg->region_id = region->obj.id;
	arg->mmap_offset = region->flags & RNOTIFY_REGION_ALLOC ?
			   rnotify_mmap_object(region->obj.id) : 0;
	rnotify_obj_publish(&region->obj);
	return 0;

err_array:
	kvfree(region->pages);
err_uncharge:
	rnotify_charge_put(region->charge);
err_unreserve:
	rnotify_obj_unreserve(&region->obj);
err_put:
	rnotify_obj_put(&region->obj);
	return ret;
}

/**
 * rnotify_region_mmap() - map a kernel-allocated region
 * @ctx: context
 * @id: region
 * @vma: covers exactly the region, rounded up to pages
 *
 * The mapping holds the pages, and their charge: both outlive the region.
 *
 * Context: process; the mmap lock is held.
 * Return: 0, -EINVAL, -ENOENT, -ENOMEM.
 */
int rnotify_region_mmap(struct rnotify_ctx *ctx, u32 id,
			struct vm_area_struct *vma)
{
	struct rnotify_region *region;
	struct rnotify_obj *obj;
	unsigned long nr;
	int ret = -EINVAL;

	obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_REGION);
	if (!obj)
		return -ENOENT;
	region = to_region(obj);

	mutex_lock(&region->pages_mutex);
	nr = region->nr_pages;
	if (!region->pages)
		ret = -ENOENT;
	else if ((region->flags & RNOTIFY_REGION_ALLOC) &&
		 vma_pages(vma) == nr)
		ret = vm_insert_pages(vma, vma->vm_start, region->pages, &nr);
	if (!ret)
		rnotify_charge_map(region->charge, vma);
	mutex_unlock(&region->pages_mutex);
	rnotify_obj_put(obj);
	return ret;
}
