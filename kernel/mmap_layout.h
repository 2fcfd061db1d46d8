/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mmap offsets of a context. They are the kernel's to choose: user space takes
 * them from SETUP and REGISTER.
 */
#ifndef RNOTIFY_MMAP_LAYOUT_H
#define RNOTIFY_MMAP_LAYOUT_H

#include <linux/mm.h>
#include <linux/rnotify.h>

/*
 * 32-bit mmap2() passes a 32-bit page number: offsets stay below 2^44. Two
 * bits are for the part. What a page leaves of the others is for the id, which
 * xa_alloc() is limited to: 30 bits with pages of 4 KiB.
 */
#define RNOTIFY_MMAP_PART_SHIFT	42
#define RNOTIFY_MMAP_PART_MASK	(3ull << RNOTIFY_MMAP_PART_SHIFT)
#define RNOTIFY_MMAP_RING	(0ull << RNOTIFY_MMAP_PART_SHIFT)
#define RNOTIFY_MMAP_TAIL	BIT_ULL(RNOTIFY_MMAP_PART_SHIFT)
#define RNOTIFY_MMAP_MSGS	(2ull << RNOTIFY_MMAP_PART_SHIFT)
/* A region, counter or slot table: what its id says. */
#define RNOTIFY_MMAP_OBJECT	(3ull << RNOTIFY_MMAP_PART_SHIFT)

#define RNOTIFY_ID_MAX		((1u << (RNOTIFY_MMAP_PART_SHIFT - PAGE_SHIFT)) - 1)

static inline u64 rnotify_mmap_object(u32 id)
{
	return RNOTIFY_MMAP_OBJECT | (u64)id << PAGE_SHIFT;
}

static inline u32 rnotify_mmap_id(u64 offset)
{
	return (offset & ~RNOTIFY_MMAP_PART_MASK) >> PAGE_SHIFT;
}

static inline size_t rnotify_ring_bytes(u32 entries)
{
	return PAGE_SIZE +
	       PAGE_ALIGN(entries * sizeof(struct rnotify_event));
}

#endif /* RNOTIFY_MMAP_LAYOUT_H */
