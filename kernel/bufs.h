/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_BUFS_H
#define RNOTIFY_BUFS_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct ib_device;

/**
 * struct rnotify_bufs - many small DMA-mapped buffers of one size
 * @ib: device that they are mapped for
 * @dir: DMA direction
 * @nr: how many
 * @stride: bytes of each
 * @per_chunk: buffers in one allocation
 * @nr_chunks: allocations
 * @chunk: allocation i and its DMA address
 *
 * Buffers never share a page with anything else, so that nothing of the kernel
 * is next to what a device writes.
 */
struct rnotify_bufs {
	struct ib_device *ib;
	enum dma_data_direction dir;
	u32 nr;
	u32 stride;
	u32 per_chunk;
	u32 nr_chunks;
	struct rnotify_buf_chunk {
		void *va;
		u64 dma;
	} *chunk;
};

int rnotify_bufs_alloc(struct rnotify_bufs *bufs, struct ib_device *ib, u32 nr,
		       u32 size, enum dma_data_direction dir);
void rnotify_bufs_free(struct rnotify_bufs *bufs);
size_t rnotify_bufs_bytes(const struct rnotify_bufs *bufs);

static inline void *rnotify_bufs_va(const struct rnotify_bufs *bufs, u32 i)
{
	return bufs->chunk[i / bufs->per_chunk].va +
	       (i % bufs->per_chunk) * bufs->stride;
}

static inline u64 rnotify_bufs_dma(const struct rnotify_bufs *bufs, u32 i)
{
	return bufs->chunk[i / bufs->per_chunk].dma +
	       (i % bufs->per_chunk) * bufs->stride;
}

#endif /* RNOTIFY_BUFS_H */
