/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - arithmetic of shares that are made of several memory regions.
 *
 * A device registers a limited number of pages with one key. A larger share is
 * cut into chunks of (1 << chunk_shift) bytes of its *remote address space*:
 * chunk i covers the addresses [i << chunk_shift, (i + 1) << chunk_shift), and
 * has a key of its own. The share starts at the address first_offset, which is
 * in chunk 0; so the first and last chunk may be used in part only. One work
 * request never crosses a chunk border.
 */
#ifndef _RNOTIFY_CHUNK_H
#define _RNOTIFY_CHUNK_H

#include "pure.h"

#define RNOTIFY_CHUNK_SHIFT_MIN	12	/* 4 KiB: the smallest page */
#define RNOTIFY_CHUNK_SHIFT_MAX	30	/* 1 GiB: the largest operation */

/**
 * rnotify_chunk_left - bytes that one work request can cover
 * @addr: address in the share's remote address space
 * @len: bytes wanted from there
 * @chunk_shift: log2 of the chunk size, RNOTIFY_CHUNK_SHIFT_MIN to
 *	RNOTIFY_CHUNK_SHIFT_MAX
 *
 * Context: Any.
 * Return: bytes of [@addr, @addr + @len) before the next chunk border; 0 only
 * if @len is 0.
 */
static inline u32 rnotify_chunk_left(u64 addr, u32 len, u8 chunk_shift)
{
	u32 size = (u32)1 << chunk_shift;

	return min_t(u32, len, size - ((u32)addr & (size - 1)));
}

/**
 * rnotify_chunk_index - chunk, and so key, of an address
 * @addr: address in the share's remote address space
 * @chunk_shift: log2 of the chunk size
 *
 * Context: Any.
 * Return: index of the chunk, from 0.
 */
static inline u64 rnotify_chunk_index(u64 addr, u8 chunk_shift)
{
	return addr >> chunk_shift;
}

/**
 * rnotify_chunk_count - chunks that a share touches
 * @first_offset: address of the share's first byte
 * @length: bytes of the share
 * @chunk_shift: log2 of the chunk size
 *
 * Context: Any.
 * Return: number of chunks that [@first_offset, @first_offset + @length)
 * touches. 0 if there is no such range: @length is 0, or it wraps at 2^64.
 */
static inline u64 rnotify_chunk_count(u64 first_offset, u64 length,
				      u8 chunk_shift)
{
	u64 last = first_offset + (length - 1);

	if (!length || last < first_offset)
		return 0;
	return rnotify_chunk_index(last, chunk_shift) -
	       rnotify_chunk_index(first_offset, chunk_shift) + 1;
}

/**
 * rnotify_range_ok - does a range lie within an object?
 * @offset: first byte
 * @length: bytes, 0 allowed
 * @size: bytes of the object
 *
 * Context: Any.
 * Return: true if @offset + @length <= @size, computed without wrap. An empty
 * range at the very end is inside, behind it not.
 */
static inline bool rnotify_range_ok(u64 offset, u64 length, u64 size)
{
	return offset <= size && length <= size - offset;
}

#endif /* _RNOTIFY_CHUNK_H */
