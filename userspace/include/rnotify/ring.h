/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - reading the event ring, inline.
 *
 * The letters A to H are the steps of the memory model in
 * <linux/rnotify_event.h>. C, D, E and G are the user's, and all of them are
 * here: a program that uses these functions has nothing to add.
 *
 * The functions of this file belong to the consumer: one thread at a time.
 */
#ifndef _RNOTIFY_RING_H
#define _RNOTIFY_RING_H

#include <rnotify/rnotify.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct rnotify_ring - the part of a context that the inline functions use
 * @head: the kernel's page
 * @entries: entry i is at i & mask
 * @tail: the consumer's page
 * @messages: the message area, NULL if none
 * @mask: entries - 1
 * @cons: consumed so far; tail->cons is a copy of it
 * @prod: head->prod as of the latest step C
 * @fd: of the context
 *
 * Every struct rnotify starts with one. It grows at its end only.
 */
struct rnotify_ring {
	const struct rnotify_ring_head *head;
	const struct rnotify_event *entries;
	struct rnotify_ring_tail *tail;
	const unsigned char *messages;
	uint32_t mask;
	uint32_t cons;
	uint32_t prod;
	int fd;
};

static inline struct rnotify_ring *rnotify_ring_of(struct rnotify *ctx)
{
	return (struct rnotify_ring *)ctx;
}

/**
 * rnotify_ready() - how many unconsumed events there are now
 * @ctx: context
 */
static inline uint32_t rnotify_ready(struct rnotify *ctx)
{
	struct rnotify_ring *ring = rnotify_ring_of(ctx);

	/* C: load-acquire prod, pairs with B */
	ring->prod = __atomic_load_n(&ring->head->prod, __ATOMIC_ACQUIRE);
	return ring->prod - ring->cons;
}

/**
 * rnotify_peek() - the oldest unconsumed event
 * @ctx: context
 *
 * It stays where it is, payload of a MESSAGE included, until rnotify_release().
 *
 * Return: the event, or NULL if there is none.
 */
static inline const struct rnotify_event *rnotify_peek(struct rnotify *ctx)
{
	struct rnotify_ring *ring = rnotify_ring_of(ctx);

	/*
	 * One C serves all the entries up to that prod, so that the cache line
	 * that the kernel writes is fetched once per batch.
	 */
	if (ring->prod == ring->cons && !rnotify_ready(ctx))
		return NULL;
	/* D: what the pointer is used for */
	return &ring->entries[ring->cons & ring->mask];
}

/**
 * rnotify_peek_n() - the oldest unconsumed events
 * @ctx: context
 * @events: gets pointers to them, oldest first
 * @n: room in @events
 *
 * Return: how many pointers were written.
 */
static inline unsigned int rnotify_peek_n(struct rnotify *ctx,
					  const struct rnotify_event **events,
					  unsigned int n)
{
	struct rnotify_ring *ring = rnotify_ring_of(ctx);
	uint32_t ready = rnotify_ready(ctx);
	unsigned int i;

	if (n > ready)
		n = ready;
	for (i = 0; i < n; i++)
		events[i] = &ring->entries[(ring->cons + i) & ring->mask];
	return n;
}

/**
 * rnotify_release() - the oldest events have been consumed
 * @ctx: context
 * @n: how many, no more than were peeked at
 *
 * Their entries and payloads must not be looked at any more. If a peer waits
 * for the credit, this makes a system call.
 */
static inline void rnotify_release(struct rnotify *ctx, unsigned int n)
{
	struct rnotify_ring *ring = rnotify_ring_of(ctx);

	ring->cons += n;
	/* E: store-release cons, pairs with F */
	__atomic_store_n(&ring->tail->cons, ring->cons, __ATOMIC_RELEASE);
	/*
	 * G: full barrier, then load need_kick; pairs with H. Either this load
	 * sees the kernel's wish, or the kernel sees the new cons.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&ring->head->need_kick,
					     __ATOMIC_RELAXED) != 0, 0))
		rnotify_kick(ctx);
}

/**
 * rnotify_payload() - payload of a MESSAGE
 * @ctx: context
 * @event: unreleased event of that type
 *
 * Return: event->notify.byte_len bytes, valid until rnotify_release().
 */
static inline const void *rnotify_payload(struct rnotify *ctx,
					  const struct rnotify_event *event)
{
	return rnotify_ring_of(ctx)->messages + event->notify.msg_offset;
}

#ifdef __cplusplus
}
#endif

#endif /* _RNOTIFY_RING_H */
