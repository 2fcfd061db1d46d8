// SPDX-License-Identifier: GPL-2.0
/*
 * A region as a device sees it: DMA-mapped once per device, and an array of
 * its contiguous pieces.
 */
#include <linux/slab.h>

#include "ep.h"

static int map_build_segs(struct rnotify_map *map)
{
	struct scatterlist *sg;
	u64 start = 0;
	u32 i;

	map->segs = kvcalloc(map->sgt.nents, sizeof(*map->segs),
			     GFP_KERNEL_ACCOUNT);
	if (!map->segs)
		return -ENOMEM;
	map->nr_segs = map->sgt.nents;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		map->segs[i].start = start;
		map->segs[i].dma = sg_dma_address(sg);
		map->segs[i].len = sg_dma_len(sg);
		start += sg_dma_len(sg);
	}
	return 0;
}

static enum dma_data_direction map_dir(const struct rnotify_region *region)
{
	return region->flags & RNOTIFY_REGION_READ_ONLY ? DMA_TO_DEVICE :
							  DMA_BIDIRECTIONAL;
}

static struct rnotify_map *map_alloc(struct rnotify_region *region,
				     struct rnotify_dev *dev)
{
	struct rnotify_map *map;
	int ret = -ENOMEM;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->region = region;
	map->dev = dev;

	ret = sg_alloc_table_from_pages_segment(&map->sgt, region->pages,
						region->nr_pages,
						region->offset, region->length,
						ib_dma_max_seg_size(dev->ib),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_free;
	ret = ib_dma_map_sgtable_attrs(dev->ib, &map->sgt, map_dir(region), 0);
	if (ret)
		goto err_table;
	ret = map_build_segs(map);
	if (ret)
		goto err_unmap;
	return map;

err_unmap:
	ib_dma_unmap_sgtable_attrs(dev->ib, &map->sgt, map_dir(region), 0);
err_table:
	sg_free_table(&map->sgt);
err_free:
	kfree(map);
	return ERR_PTR(ret);
}

static void map_unmap(struct rnotify_map *map)
{
	WARN_ON_ONCE(atomic_read(&map->inflight));
	ib_dma_unmap_sgtable_attrs(map->dev->ib, &map->sgt,
				   map_dir(map->region), 0);
}

static void map_free(struct rnotify_map *map)
{
	sg_free_table(&map->sgt);
	kvfree(map->segs);
	kfree(map);
}

/*
 * The removal of another device may unlink its map at any time, hence the lock.
 * What keeps the map that is returned is the caller's business.
 */
static struct rnotify_map *map_on(struct rnotify_region *region,
				  const struct rnotify_dev *dev)
{
	struct rnotify_map *map, *found = NULL;

	spin_lock_bh(&region->lock);
	list_for_each_entry(map, &region->maps, list) {
		if (map->dev == dev)
			found = map;
	}
	spin_unlock_bh(&region->lock);
	return found;
}

/**
 * rnotify_map_create() - make sure that a region is mapped for a device
 * @region: region; its mutex is held
 * @dev: device that the caller keeps from going away
 *
 * Return: 0, -ENOENT if the region is at its end, -ENOMEM, -EIO.
 */
int rnotify_map_create(struct rnotify_region *region, struct rnotify_dev *dev)
{
	struct rnotify_map *map;

	lockdep_assert_held(&region->mutex);
	if (region->dead)
		return -ENOENT;
	if (map_on(region, dev))
		return 0;

	map = map_alloc(region, dev);
	if (IS_ERR(map))
		return PTR_ERR(map);

	mutex_lock(&dev->maps_mutex);
	list_add_tail(&map->dev_list, &dev->maps);
	mutex_unlock(&dev->maps_mutex);
	spin_lock_bh(&region->lock);
	list_add_tail(&map->list, &region->maps);
	spin_unlock_bh(&region->lock);
	return 0;
}

/**
 * rnotify_map_get() - take a reference for an operation or an export
 * @region: region
 * @dev: device that the caller keeps from going away
 *
 * Context: any but hard interrupt.
 * Return: map with @inflight counted, NULL if there is none yet, or
 * ERR_PTR(-ENOENT) if the region is at its end.
 */
struct rnotify_map *rnotify_map_get(struct rnotify_region *region,
				    struct rnotify_dev *dev)
{
	struct rnotify_map *map, *found = NULL;

	spin_lock_bh(&region->lock);
	if (region->dead) {
		found = ERR_PTR(-ENOENT);
		goto out;
	}
	list_for_each_entry(map, &region->maps, list) {
		if (map->dev == dev) {
			atomic_inc(&map->inflight);
			found = map;
			break;
		}
	}
out:
	spin_unlock_bh(&region->lock);
	return found;
}

/**
 * rnotify_map_put() - the operation or export is over
 * @map: from rnotify_map_get(); may be gone afterwards
 *
 * Context: any but hard interrupt.
 */
void rnotify_map_put(struct rnotify_map *map)
{
	struct rnotify_region *region = map->region;

	/*
	 * Under the lock, since region_idle() looks under it: who sees 0 there
	 * knows that we are done with the map. Waking inside keeps the region.
	 */
	spin_lock_bh(&region->lock);
	if (atomic_dec_and_test(&map->inflight) &&
	    wq_has_sleeper(&region->wait))
		wake_up(&region->wait);
	spin_unlock_bh(&region->lock);
}

/**
 * rnotify_map_find() - the piece that holds a byte
 * @map: map
 * @pos: byte offset in the region, less than its length
 *
 * Return: index into @map->segs.
 */
u32 rnotify_map_find(const struct rnotify_map *map, u64 pos)
{
	u32 low = 0, high = map->nr_segs;

	while (high - low > 1) {
		u32 mid = low + (high - low) / 2;

		if (map->segs[mid].start <= pos)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static void map_end(struct rnotify_map *map)
{
	struct rnotify_region *region = map->region;

	lockdep_assert_held(&map->dev->maps_mutex);
	map_unmap(map);
	/* Not before: a region that ends unpins when its list is empty. */
	spin_lock_bh(&region->lock);
	list_del(&map->list);
	spin_unlock_bh(&region->lock);
	list_del(&map->dev_list);
	map_free(map);
}

/* The device of one of the region's maps, with a reference, or NULL. */
static struct rnotify_dev *map_some_dev(struct rnotify_region *region)
{
	struct rnotify_map *map;
	struct rnotify_dev *dev = NULL;

	spin_lock_bh(&region->lock);
	map = list_first_entry_or_null(&region->maps, struct rnotify_map, list);
	if (map) {
		dev = map->dev;
		kref_get(&dev->ref);
	}
	spin_unlock_bh(&region->lock);
	return dev;
}

/**
 * rnotify_maps_destroy() - unmap a region from all devices
 * @region: region at its end; all maps are idle, and no more are made
 *
 * A device that is being removed unmaps the region by itself; it has done so when
 * its mutex is free.
 *
 * Context: process, sleeps.
 */
void rnotify_maps_destroy(struct rnotify_region *region)
{
	struct rnotify_map *map;
	struct rnotify_dev *dev;

	while ((dev = map_some_dev(region))) {
		mutex_lock(&dev->maps_mutex);
		map = map_on(region, dev);
		if (map)
			map_end(map);
		mutex_unlock(&dev->maps_mutex);
		rnotify_dev_put(dev);
	}
}

/**
 * rnotify_maps_remove_device() - unmap all regions from a device
 * @dev: device being removed, without endpoints: all its maps are idle
 *
 * Context: process, sleeps.
 */
void rnotify_maps_remove_device(struct rnotify_dev *dev)
{
	struct rnotify_map *map, *next;

	mutex_lock(&dev->maps_mutex);
	list_for_each_entry_safe(map, next, &dev->maps, dev_list) {
		map_end(map);
		cond_resched();
	}
	mutex_unlock(&dev->maps_mutex);
}
