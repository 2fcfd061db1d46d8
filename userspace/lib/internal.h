/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - what its files share.
 *
 * struct rnotify is made of the public ring (consumer thread only), members
 * that never change after rnotify_open(), and a list under a mutex.
 */
#ifndef _RNOTIFY_INTERNAL_H
#define _RNOTIFY_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rnotify/rnotify.h>

#define RNOTIFY_DEVICE "/dev/rnotify"

struct rnotify_map {
	void *addr;
	size_t len;
};

/**
 * struct rnotify - one open of the device
 * @ring: public part; must be first (see rnotify_ring_of())
 * @fd: the same as in @ring, for threads that are not the consumer
 * @opener: process that opened it: a child's copy is not the child's to end
 * @maps: ring, consumer page, message area; len 0 if not mapped
 * @lock: protects what follows
 * @regions: all regions
 * @views: all counters and slot tables
 * @memlock_need: bytes that the latest refused registration would lock
 * @memlock_left: bytes that RLIMIT_MEMLOCK left it
 */
struct rnotify {
	struct rnotify_ring ring;
	int fd;
	pid_t opener;
	struct rnotify_map maps[3];
	pthread_mutex_t lock;
	struct rnotify_region *regions;
	struct rnotify_view *views;
	uint64_t memlock_need;
	uint64_t memlock_left;
};

/**
 * struct rnotify_region - memory known to the kernel
 * @ctx: where
 * @prev: neighbours in rnotify.regions (under rnotify.lock)
 * @next: the same
 * @addr: first byte
 * @len: bytes
 * @id: the kernel's id
 * @mapped: made by rnotify_alloc(): @addr is ours to unmap
 */
struct rnotify_region {
	struct rnotify *ctx;
	struct rnotify_region *prev;
	struct rnotify_region *next;
	void *addr;
	size_t len;
	uint32_t id;
	int mapped;
};

/**
 * struct rnotify_view - a counter or slot table, shown by a read-only mapping
 * @ctx: where
 * @prev: neighbours in rnotify.views (under rnotify.lock)
 * @next: the same
 * @id: the kernel's id
 * @map: the mapping
 */
struct rnotify_view {
	struct rnotify *ctx;
	struct rnotify_view *prev;
	struct rnotify_view *next;
	uint32_t id;
	struct rnotify_map map;
};

/*
 * Who only looks and does not ask about ends is not told of one that came between
 * the library's look at their number and the kernel's.
 */
static inline int rnotify_look_over(int ret, int64_t deadline,
				    const struct rnotify_ended *ended)
{
	return ret == -EPIPE && !deadline && !ended ? -ETIME : ret;
}

/* ioctl() that returns 0 or -errno */
int rnotify_ioctl(int fd, unsigned long cmd, void *arg);
/* mmap() of the device that returns 0 or -errno */
int rnotify_map(struct rnotify_map *map, int fd, int prot, uint64_t offset,
		uint64_t len);
void rnotify_unmap(struct rnotify_map *map);

/* Free all handles; the kernel's side goes with the context. */
void rnotify_regions_drop(struct rnotify *ctx);

/* Map a new object of the kernel; on failure the object is destroyed again. */
int rnotify_view_make(struct rnotify *ctx, uint32_t id, uint64_t offset,
		      uint64_t size, struct rnotify_view **view);
/* Destroy object and view; NULL is no error. On failure both stay. */
int rnotify_view_end(struct rnotify_view *view);
void rnotify_views_drop(struct rnotify *ctx);

/* Copy what the kernel writes under an odd *seq; size is a multiple of 4. */
void rnotify_snapshot(void *copy, const void *page, size_t size,
		      const uint32_t *seq);

#endif /* _RNOTIFY_INTERNAL_H */
