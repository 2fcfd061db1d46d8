// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "bufs.h"

#define BUF_ALIGN	16u

static size_t chunk_bytes(const struct rnotify_bufs *bufs)
{
	return PAGE_ALIGN((size_t)bufs->per_chunk * bufs->stride);
}

/**
 * rnotify_bufs_bytes() - memory that the buffers take
 * @bufs: buffers
 *
 * Return: bytes.
 */
size_t rnotify_bufs_bytes(const struct rnotify_bufs *bufs)
{
	return bufs->nr_chunks * (chunk_bytes(bufs) + sizeof(*bufs->chunk));
}

/**
 * rnotify_bufs_alloc() - allocate and map buffers
 * @bufs: zeroed
 * @ib: device
 * @nr: how many
 * @size: bytes of each
 * @dir: DMA direction
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EIO when they can't be mapped; then nothing is left.
 */
int rnotify_bufs_alloc(struct rnotify_bufs *bufs, struct ib_device *ib, u32 nr,
		       u32 size, enum dma_data_direction dir)
{
	u32 nr_chunks, i;
	int ret;

	bufs->ib = ib;
	bufs->dir = dir;
	bufs->nr = nr;
	/* What a device writes shares no cache line with anything else. */
	bufs->stride = ALIGN(size, dir == DMA_TO_DEVICE ? BUF_ALIGN :
							  SMP_CACHE_BYTES);
	bufs->per_chunk = max_t(u32, 1, PAGE_SIZE / bufs->stride);
	nr_chunks = DIV_ROUND_UP(nr, bufs->per_chunk);

	bufs->chunk = kvcalloc(nr_chunks, sizeof(*bufs->chunk),
			       GFP_KERNEL_ACCOUNT);
	if (!bufs->chunk)
		return -ENOMEM;

	for (i = 0; i < nr_chunks; i++) {
		struct rnotify_buf_chunk *chunk = &bufs->chunk[i];

		ret = -ENOMEM;
		chunk->va = alloc_pages_exact(chunk_bytes(bufs),
					      GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!chunk->va)
			goto err_free;
		chunk->dma = ib_dma_map_single(ib, chunk->va,
					       chunk_bytes(bufs), dir);
		if (ib_dma_mapping_error(ib, chunk->dma)) {
			free_pages_exact(chunk->va, chunk_bytes(bufs));
			ret = -EIO;
			goto err_free;
		}
		bufs->nr_chunks++;
	}
	return 0;

err_free:
	rnotify_bufs_free(bufs);
	return ret;
}

/**
 * rnotify_bufs_free() - unmap and free
 * @bufs: buffers, or a zeroed struct
 *
 * Context: process.
 */
void rnotify_bufs_free(struct rnotify_bufs *bufs)
{
	u32 i;

	for (i = 0; i < bufs->nr_chunks; i++) {
		ib_dma_unmap_single(bufs->ib, bufs->chunk[i].dma,
				    chunk_bytes(bufs), bufs->dir);
		free_pages_exact(bufs->chunk[i].va, chunk_bytes(bufs));
	}
	kvfree(bufs->chunk);
	memset(bufs, 0, sizeof(*bufs));
}
