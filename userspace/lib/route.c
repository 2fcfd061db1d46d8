// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - rules and generations; copies of pages that the kernel writes.
 */
#include <string.h>

#include "internal.h"

int rnotify_route(struct rnotify *ctx, uint32_t endpoint,
		  const struct rnotify_rule *rules, unsigned int n)
{
	struct rnotify_route arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
		.nr_rules = n,
		.rules = n ? (uintptr_t)rules : 0,
		.rule_size = sizeof(*rules),
	};

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_ROUTE, &arg);
}

int rnotify_generation_create(struct rnotify *ctx, uint32_t value,
			      uint32_t *generation)
{
	struct rnotify_generation_create arg = {
		.size = sizeof(arg),
		.value = value,
	};
	int ret;

	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_GENERATION_CREATE, &arg);
	*generation = ret ? 0 : arg.generation_id;
	return ret;
}

static int generation(struct rnotify *ctx, uint32_t flags, uint32_t id,
		      uint32_t *value, uint64_t *stale)
{
	struct rnotify_generation_set arg = {
		.size = sizeof(arg),
		.flags = flags,
		.generation_id = id,
		.value = *value,
	};
	int ret;

	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_GENERATION_SET, &arg);
	if (!ret)
		*value = arg.value;
	if (!ret && stale)
		*stale = arg.stale;
	return ret;
}

int rnotify_generation_set(struct rnotify *ctx, uint32_t id, uint32_t value,
			   uint64_t *stale)
{
	return generation(ctx, 0, id, &value, stale);
}

int rnotify_generation_get(struct rnotify *ctx, uint32_t id, uint32_t *value,
			   uint64_t *stale)
{
	uint32_t unused = 0;

	if (value)
		*value = 0;
	return generation(ctx, RNOTIFY_GENERATION_GET, id,
			  value ? value : &unused, stale);
}

void rnotify_snapshot(void *copy, const void *page, size_t size,
		      const uint32_t *seq)
{
	const uint32_t *from = page;
	uint32_t *to = copy;
	uint32_t before;
	size_t i;

	do {
		do {
			before = __atomic_load_n(seq, __ATOMIC_ACQUIRE);
		} while (before & 1);
		/* Words, so that no compiler or tool sees a race in a memcpy() */
		for (i = 0; i < size / sizeof(*to); i++)
			to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(seq, __ATOMIC_RELAXED) != before);
}
