/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every struct of the module with its meaning, lifetime and locks: the page to
 * start reading at.
 *
 *	rnotify_ctx	one open of /dev/rnotify. Refcounted: the file holds
 *			one reference, each object another
 *	rnotify_ring	the context's event ring, shared with user space
 *	rnotify_obj	what region, export, endpoint and listener have in
 *			common: an id, a type, a refcount
 *	rnotify_region	pinned or allocated memory
 *	rnotify_map	a region as one RDMA device sees it
 *	rnotify_export	a range of a region that one endpoint's peer can reach
 *	rnotify_remote	the same seen from the peer: keys, length, rights
 *	rnotify_ep	one connection, with its own PD, CQ and RC QP
 *	rnotify_listener an rdma_cm listener
 *	rnotify_counter, _watch, _slots, _generation, _routes
 *			what becomes of a notification besides an event: route.h
 *	rnotify_dev	an RDMA device, from ib_client.add to .remove
 *
 * Lock order, outermost first; each is dropped before one to its left is taken:
 *
 *	rnotify_region.mutex
 *	  rnotify_ep.mutex		(control path, sleeps)
 *	    rnotify_export.mutex
 *	    rdma_cm's handler mutex
 *	      rnotify_dev_mutex
 *	      rnotify_dev.maps_mutex
 *	      rnotify_ep.lock		(BH)
 *	        rnotify_region.lock	(BH)
 *	        rnotify_ring.lock	(BH)
 *	          wait queues
 *
 * Outside of the above, and taken with none of them held:
 * rnotify_ctx.setup_mutex, rnotify_listener.mutex (outside of rdma_cm's),
 * rnotify_region.pages_mutex (inside the mmap lock), rnotify_ring.read_mutex.
 *
 * rdma_cm calls our handlers with its handler mutex held. They take only
 * spinlocks, record what happened, and queue rnotify_ep.work; they never take
 * rnotify_ep.mutex, destroy an id, or drain a queue pair.
 */
#ifndef RNOTIFY_PRIV_H
#define RNOTIFY_PRIV_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rnotify.h>
#include <linux/scatterlist.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "compat.h"
#include "credit.h"
#include "wire.h"

struct eventfd_ctx;
struct rnotify_ep;
struct rnotify_ring;
struct rnotify_routes;

/* Work that may block (CM, drain, unmap): unbound, one item per endpoint. */
extern struct workqueue_struct *rnotify_wq;

/*
 * ---- context ----------------------------------------------------------
 */

/**
 * struct rnotify_ctx - one open file
 * @ref: the file and each object hold one
 * @net: the opener's network namespace; all CM ids are made in it (invariant)
 * @memcg: the opener's memory cgroup, or NULL: charged for what others than the
 *	callers of system calls allocate: see rnotify_ctx_charge() (invariant)
 * @objects: id to &struct rnotify_obj (protected by its own xa_lock; readers
 *	use RCU)
 * @next_id: where the search for a free id goes on (protected by xa_lock)
 * @setup_mutex: serialises SETUP and EVENTFD
 * @ring: NULL before SETUP, then invariant; published with release
 * @nr_blocked: endpoints that refused a post and have no room yet: no EPOLLOUT
 *	while this is not 0
 * @routes: rules that new endpoints start with, or NULL (protected by
 *	rnotify_ring.lock)
 * @nr_counters: counters, against RNOTIFY_COUNTERS_MAX
 * @nr_slot_tables: slot tables, against RNOTIFY_SLOT_TABLES_MAX
 * @nr_generations: generations, against RNOTIFY_GENERATIONS_MAX
 * @closing: all is being ended: peers are told PEER_EXIT
 */
struct rnotify_ctx {
	struct kref ref;
	struct net *net;
	struct mem_cgroup *memcg;
	struct xarray objects;
	u32 next_id;
	struct mutex setup_mutex;
	struct rnotify_ring *ring;
	atomic_t nr_blocked;
	struct rnotify_routes *routes;
	atomic_t nr_counters;
	atomic_t nr_slot_tables;
	atomic_t nr_generations;
	bool closing;
};

struct rnotify_ctx *rnotify_ctx_create(struct net *net);
void rnotify_ctx_destroy_all(struct rnotify_ctx *ctx);
void rnotify_ctx_close(struct rnotify_ctx *ctx);
void rnotify_ctx_put(struct rnotify_ctx *ctx);
int rnotify_ctx_setup(struct rnotify_ctx *ctx, u32 entries, u32 msg_size);

/* post.c */
int rnotify_post(struct rnotify_ctx *ctx, struct rnotify_post *arg,
		 bool nonblock);

/* info.c */
int rnotify_endpoint_info(struct rnotify_ctx *ctx,
			  struct rnotify_endpoint_info *info);

static inline struct rnotify_ring *rnotify_ctx_ring(struct rnotify_ctx *ctx)
{
	/* Pairs with the release in rnotify_ctx_setup(). */
	return smp_load_acquire(&ctx->ring);
}

/**
 * rnotify_ctx_charge() - from here on the opener pays
 * @ctx: context
 *
 * For workers, the CM's handlers and softirqs, whose own allocations with
 * __GFP_ACCOUNT nobody would pay for.
 *
 * Context: any but hard interrupt.
 * Return: what ends it, for set_active_memcg().
 */
static inline struct mem_cgroup *rnotify_ctx_charge(struct rnotify_ctx *ctx)
{
	return set_active_memcg(ctx->memcg);
}

/*
 * ---- objects ----------------------------------------------------------
 */

enum rnotify_obj_type {
	RNOTIFY_OBJ_REGION,
	RNOTIFY_OBJ_EXPORT,
	RNOTIFY_OBJ_EP,
	RNOTIFY_OBJ_LISTENER,
	RNOTIFY_OBJ_COUNTER,
	RNOTIFY_OBJ_WATCH,
	RNOTIFY_OBJ_SLOTS,
	RNOTIFY_OBJ_GENERATION,
};

struct rnotify_obj;

/**
 * struct rnotify_obj_ops - what differs between the types
 * @type: &enum rnotify_obj_type
 * @shutdown: called once, by whoever took the id away; process context, may
 *	sleep; returns when the promises of RNOTIFY_IOCTL_DESTROY hold
 * @free: last reference gone; any context that may free; must not sleep
 */
struct rnotify_obj_ops {
	enum rnotify_obj_type type;
	void (*shutdown)(struct rnotify_obj *obj);
	void (*free)(struct rnotify_obj *obj);
};

/**
 * struct rnotify_obj - common head of all objects
 * @ops: of its type (invariant)
 * @ctx: owner; the object holds a reference (invariant)
 * @id: 0 until reserved, then invariant
 * @refs: 1 for the id, and 1 for each user of the pointer
 * @rcu: look-ups run under RCU
 *
 * Life in steps: init (no id) → reserve an id → all that can fail → publish.
 * A look-up finds only published objects.
 */
struct rnotify_obj {
	const struct rnotify_obj_ops *ops;
	struct rnotify_ctx *ctx;
	u32 id;
	refcount_t refs;
	struct rcu_head rcu;
};

void rnotify_obj_init(struct rnotify_obj *obj, struct rnotify_ctx *ctx,
		      const struct rnotify_obj_ops *ops);
int rnotify_obj_reserve(struct rnotify_obj *obj, gfp_t gfp);
void rnotify_obj_unreserve(struct rnotify_obj *obj);
void rnotify_obj_publish(struct rnotify_obj *obj);
struct rnotify_obj *rnotify_obj_get(struct rnotify_ctx *ctx, u32 id,
				    enum rnotify_obj_type type);
void rnotify_obj_hold(struct rnotify_obj *obj);
void rnotify_obj_put(struct rnotify_obj *obj);
bool rnotify_obj_take(struct rnotify_obj *obj);
int rnotify_obj_destroy(struct rnotify_ctx *ctx, u32 id);
void rnotify_obj_destroy_all(struct rnotify_ctx *ctx);

/*
 * ---- regions ----------------------------------------------------------
 */

/**
 * struct rnotify_region - memory that can be a source, a target, or shared
 * @obj: head
 * @pages: its pages, in order (invariant)
 * @nr_pages: how many (invariant)
 * @offset: of the first byte in the first page (invariant)
 * @length: bytes (invariant)
 * @flags: &enum rnotify_region_flags (invariant)
 * @pages_mutex: lets mmap() and the release of @pages exclude each other; taken
 *	inside the mmap lock
 * @charge: of @nr_pages (invariant)
 * @mutex: serialises making maps and exports of this region against its
 *	end
 * @dead: shutdown has begun; no new maps, exports or operations (written
 *	with @mutex and @lock)
 * @exports: of this region (protected by @mutex)
 * @lock: protects @maps; BH
 * @maps: a map for each device it was used on (protected by @lock; added with
 *	@mutex, removed with the device's maps_mutex)
 * @wait: woken when a map falls idle
 */
struct rnotify_region {
	struct rnotify_obj obj;
	struct page **pages;
	unsigned long nr_pages;
	u32 offset;
	u64 length;
	u32 flags;
	struct mutex pages_mutex;
	struct rnotify_charge *charge;

	struct mutex mutex;
	bool dead;
	struct list_head exports;

	spinlock_t lock;
	struct list_head maps;
	wait_queue_head_t wait;
};

/**
 * struct rnotify_seg - a piece of a map that is contiguous for the device
 * @start: byte offset in the region
 * @dma: device address
 * @len: bytes
 */
struct rnotify_seg {
	u64 start;
	u64 dma;
	u32 len;
};

/**
 * struct rnotify_map - a region DMA-mapped for one device
 * @list: in rnotify_region.maps
 * @dev_list: in rnotify_dev.maps (protected by rnotify_dev.maps_mutex)
 * @region: owner (invariant)
 * @dev: device (invariant)
 * @sgt: as mapped (invariant)
 * @segs: @nr_segs pieces in order, for binary search (invariant)
 * @nr_segs: how many
 * @inflight: posted operations and exports that use it
 */
struct rnotify_map {
	struct list_head list;
	struct list_head dev_list;
	struct rnotify_region *region;
	struct rnotify_dev *dev;
	struct sg_table sgt;
	struct rnotify_seg *segs;
	u32 nr_segs;
	atomic_t inflight;
};

int rnotify_region_create(struct rnotify_ctx *ctx,
			  struct rnotify_register *arg);
int rnotify_region_mmap(struct rnotify_ctx *ctx, u32 id,
			struct vm_area_struct *vma);
struct rnotify_map *rnotify_map_get(struct rnotify_region *region,
				    struct rnotify_dev *dev);
int rnotify_map_create(struct rnotify_region *region,
		       struct rnotify_dev *dev);
void rnotify_map_put(struct rnotify_map *map);
void rnotify_maps_destroy(struct rnotify_region *region);
void rnotify_maps_remove_device(struct rnotify_dev *dev);
u32 rnotify_map_find(const struct rnotify_map *map, u64 pos);

static inline struct rnotify_region *to_region(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_region, obj);
}

/*
 * ---- devices ----------------------------------------------------------
 */

/**
 * struct rnotify_dev - an RDMA device
 * @ib: the device; valid for who holds one of @users, or @maps_mutex and finds
 *	a map
 * @list: in the list of devices, where new users find it (protected by
 *	rnotify_dev_mutex)
 * @eps: endpoints with resources on it (protected by rnotify_dev_mutex)
 * @maps_mutex: unmapping from the device: lets the end of a region and of the
 *	device exclude each other
 * @maps: region maps on it (protected by @maps_mutex)
 * @users: 1 for the client, 1 for each endpoint; @idle completes at 0
 * @idle: what ib_client.remove waits for
 * @ref: of the struct: 1 for the client, and for who is about to take
 *	@maps_mutex
 * @max_keys: pages of one fast-registration MR
 */
struct rnotify_dev {
	struct ib_device *ib;
	struct list_head list;
	struct list_head eps;
	struct mutex maps_mutex;
	struct list_head maps;
	refcount_t users;
	struct completion idle;
	struct kref ref;
	u32 max_keys;
};

extern struct mutex rnotify_dev_mutex;
extern struct ib_client rnotify_ib_client;

int rnotify_dev_attach(struct rnotify_ep *ep);
void rnotify_dev_detach(struct rnotify_ep *ep);
void rnotify_dev_put(struct rnotify_dev *dev);
void rnotify_dev_removal_told(void);
u32 rnotify_dev_count(void);

#endif /* RNOTIFY_PRIV_H */
