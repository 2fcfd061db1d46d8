/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - arithmetic of free-running ring indices.
 *
 * Indices are u32 and only ever incremented, modulo 2^32. A ring has a power
 * of two of entries, at most 2^31, so that the distance of two indices of the
 * same ring is never ambiguous.
 */
#ifndef _RNOTIFY_RING_MATH_H
#define _RNOTIFY_RING_MATH_H

#include "pure.h"

/**
 * rnotify_ring_used - entries between two indices
 * @prod: producer index, free-running
 * @cons: consumer index, free-running, not ahead of @prod
 *
 * Context: Any.
 * Return: entries produced and not consumed.
 */
static inline u32 rnotify_ring_used(u32 prod, u32 cons)
{
	return prod - cons;
}

/**
 * rnotify_ring_cons_ok - can this consumer index be true?
 * @reclaimed: consumer index that was accepted last, free-running
 * @prod: producer index, free-running, not behind @reclaimed
 * @cons: consumer index as read from memory that the user can write
 *
 * Context: Any.
 * Return: true if @cons lies in [@reclaimed, @prod] modulo 2^32: it neither
 * went back nor overtook the producer.
 */
static inline bool rnotify_ring_cons_ok(u32 reclaimed, u32 prod, u32 cons)
{
	return cons - reclaimed <= prod - reclaimed;
}

/**
 * rnotify_ring_consumed - is an entry consumed?
 * @cons: consumer index, free-running
 * @index: of the entry, no further than half of the numbers from @cons
 *
 * Context: Any.
 * Return: true if it is.
 */
static inline bool rnotify_ring_consumed(u32 cons, u32 index)
{
	return (s32)(cons - index) > 0;
}

/**
 * rnotify_ring_slot - array index of a free-running index
 * @index: free-running index
 * @entries: entries of the ring, a power of two
 *
 * Context: Any.
 * Return: 0 to @entries - 1.
 */
static inline u32 rnotify_ring_slot(u32 index, u32 entries)
{
	return index & (entries - 1);
}

#endif /* _RNOTIFY_RING_MATH_H */
