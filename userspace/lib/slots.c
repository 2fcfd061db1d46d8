// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - slot tables.
 */
#include "internal.h"

#define WORD_BITS 64u

/* As for counters: a view by another name. */
static struct rnotify_view *to_view(struct rnotify_slots *slots)
{
	return (struct rnotify_view *)slots;
}

/* A table laid out in a way that this library doesn't know is no use. */
static int layout_check(const struct rnotify_slots_head *head, uint64_t size,
			uint32_t nr)
{
	uint64_t words = (nr + WORD_BITS - 1) / WORD_BITS;

	if (size < sizeof(*head) || head->nr_slots != nr ||
	    head->slot_size != sizeof(struct rnotify_slot) ||
	    head->slots_offset % sizeof(uint64_t) ||
	    head->dirty_offset % sizeof(uint64_t) ||
	    head->slots_offset > size || head->dirty_offset > size ||
	    (size - head->slots_offset) / sizeof(struct rnotify_slot) < nr ||
	    (size - head->dirty_offset) / sizeof(uint64_t) < words)
		return -EPROTONOSUPPORT;
	return 0;
}

int rnotify_slots_create(struct rnotify *ctx, uint32_t nr, uint32_t flags,
			 uint64_t cookie, struct rnotify_slots **slots)
{
	struct rnotify_slots_create arg = {
		.size = sizeof(arg),
		.flags = flags,
		.nr_slots = nr,
		.cookie = cookie,
	};
	struct rnotify_view *view;
	int ret;

	*slots = NULL;
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_SLOTS_CREATE, &arg);
	if (ret)
		return ret;
	ret = rnotify_view_make(ctx, arg.slots_id, arg.mmap_offset,
				arg.mmap_size, &view);
	if (ret)
		return ret;
	ret = layout_check(view->map.addr, arg.mmap_size, nr);
	if (ret)
		rnotify_view_end(view);
	else
		*slots = (struct rnotify_slots *)view;
	return ret;
}

int rnotify_slots_destroy(struct rnotify_slots *slots)
{
	return rnotify_view_end(to_view(slots));
}

uint32_t rnotify_slots_id(const struct rnotify_slots *slots)
{
	return ((const struct rnotify_view *)slots)->id;
}

const struct rnotify_slots_head *
rnotify_slots_head(const struct rnotify_slots *slots)
{
	return ((const struct rnotify_view *)slots)->map.addr;
}

uint32_t rnotify_slots_next(const struct rnotify_slots *slots, uint32_t from)
{
	const struct rnotify_slots_head *head = rnotify_slots_head(slots);
	const uint64_t *words = (const void *)((const char *)head +
					       head->dirty_offset);
	uint32_t i = from / WORD_BITS;
	uint64_t below = ((uint64_t)1 << from % WORD_BITS) - 1;

	for (; i * WORD_BITS < head->nr_slots; i++) {
		uint64_t word = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE) &
				~below;

		if (word)
			return i * WORD_BITS + (uint32_t)__builtin_ctzll(word);
		below = 0;
	}
	return UINT32_MAX;
}

void rnotify_slots_read(const struct rnotify_slots *slots, uint32_t index,
			struct rnotify_slot *copy)
{
	const struct rnotify_slots_head *head = rnotify_slots_head(slots);
	const struct rnotify_slot *slot =
		(const void *)((const char *)head + head->slots_offset);

	slot += index;
	rnotify_snapshot(copy, slot, sizeof(*copy), &slot->seq);
}

int rnotify_slots_take(struct rnotify_slots *slots, uint32_t first, uint32_t nr,
		       struct rnotify_slot *entries, uint32_t max,
		       int64_t deadline, struct rnotify_ended *ended)
{
	const struct rnotify_slots_head *head = rnotify_slots_head(slots);
	struct rnotify_slots_take arg = {
		.size = sizeof(arg),
		.slots_id = rnotify_slots_id(slots),
		.first = first,
		.nr = nr,
		.max = max,
		.entries = (uintptr_t)entries,
		.entry_size = sizeof(*entries),
		.ended = ended ? ended->count :
			 __atomic_load_n(&head->ended, __ATOMIC_ACQUIRE),
		.timeout_ns = deadline,
	};
	int ret;

	ret = rnotify_ioctl(to_view(slots)->ctx->fd, RNOTIFY_IOCTL_SLOTS_TAKE,
			    &arg);
	if (ended)
		*ended = (struct rnotify_ended){
			.count = arg.ended,
			.endpoint = arg.ended_endpoint,
			.reason = arg.ended_reason,
			.error = arg.ended_error,
		};
	ret = rnotify_look_over(ret, deadline, ended);
	return ret ? ret : (int)arg.taken;
}
