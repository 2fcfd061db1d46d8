// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: rules, counters, watches, slot tables, generations.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "rnt.h"

struct rnotify_rule rnt_rule(__u32 mask, __u32 value, unsigned int action,
			     __u32 object_id)
{
	return (struct rnotify_rule){
		.mask = mask,
		.value = value,
		.action = action,
		.object_id = object_id,
	};
}

int rnt_route_err(struct rnt_ctx *c, __u32 endpoint,
		  const struct rnotify_rule *rules, unsigned int nr)
{
	struct rnotify_route arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
		.nr_rules = nr,
		.rules = (uintptr_t)rules,
		.rule_size = sizeof(*rules),
	};

	c->routed = true;
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_ROUTE, &arg);
}

void rnt_route_(struct rnt_ctx *c, __u32 endpoint,
		const struct rnotify_rule *rules, unsigned int nr)
{
	rnt_check_eq(0, rnt_route_err(c, endpoint, rules, nr));
}

static void *map(struct rnt_ctx *c, __u64 offset, __u64 size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, c->fd, offset);

	if (p == MAP_FAILED)
		rnt_fail("mmap: errno %d", errno);
	return p;
}

void rnt_counter_open_(struct rnt_ctx *c, struct rnt_counter *counter)
{
	struct rnotify_counter_create arg = { .size = sizeof(arg) };

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_COUNTER_CREATE, &arg));
	rnt_check(arg.counter_id);
	counter->id = arg.counter_id;
	counter->page = map(c, arg.mmap_offset, arg.mmap_size);
}

__u64 rnt_counter_count(const struct rnt_counter *counter)
{
	return __atomic_load_n(&counter->page->count, __ATOMIC_ACQUIRE);
}

int rnt_counter_wait(struct rnt_ctx *c, const struct rnt_counter *counter,
		     __u64 threshold, __s64 timeout_ns,
		     struct rnotify_counter_wait *arg)
{
	struct rnotify_counter_wait local = {};

	if (!arg)
		arg = &local;
	arg->size = sizeof(*arg);
	arg->counter_id = counter->id;
	arg->threshold = threshold;
	arg->timeout_ns = timeout_ns;
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_COUNTER_WAIT, arg);
}

void rnt_counter_is_(struct rnt_ctx *c, const struct rnt_counter *counter,
		     __u64 count)
{
	struct rnotify_counter_wait arg = {
		.ended = counter->page->ended,
	};
	int ret = rnt_counter_wait(c, counter, count,
				   rnt_deadline(RNT_PATIENCE_MS), &arg);

	if (ret || arg.count != count)
		rnt_fail("counter at %llu, not %llu (%d)",
			 (unsigned long long)arg.count,
			 (unsigned long long)count, ret);
	rnt_check_eq(count, rnt_counter_count(counter));
}

void rnt_counter_reset_(struct rnt_ctx *c, const struct rnt_counter *counter,
			struct rnotify_counter_reset *arg)
{
	*arg = (struct rnotify_counter_reset){
		.size = sizeof(*arg),
		.counter_id = counter->id,
	};
	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_COUNTER_RESET, arg));
}

int rnt_watch_err(struct rnt_ctx *c, struct rnotify_counter_watch *arg)
{
	arg->size = sizeof(*arg);
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_COUNTER_WATCH, arg);
}

__u32 rnt_watch_(struct rnt_ctx *c, const struct rnt_counter *counter,
		 __u64 threshold, __u64 step, __u64 cookie)
{
	struct rnotify_counter_watch arg = {
		.counter_id = counter->id,
		.threshold = threshold,
		.step = step,
		.cookie = cookie,
	};

	rnt_check_eq(0, rnt_watch_err(c, &arg));
	rnt_check(arg.watch_id);
	return arg.watch_id;
}

int rnt_watch_arm(struct rnt_ctx *c, __u32 watch, __u64 threshold, __u64 step)
{
	struct rnotify_watch_arm arg = {
		.size = sizeof(arg),
		.watch_id = watch,
		.threshold = threshold,
		.step = step,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_WATCH_ARM, &arg);
}

void rnt_slots_open_(struct rnt_ctx *c, struct rnt_slots *slots,
		     unsigned int nr, __u32 flags, __u64 cookie)
{
	struct rnotify_slots_create arg = {
		.size = sizeof(arg),
		.flags = flags,
		.nr_slots = nr,
		.cookie = cookie,
	};

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_SLOTS_CREATE, &arg));
	rnt_check(arg.slots_id);
	slots->id = arg.slots_id;
	slots->mapped = arg.mmap_size;
	slots->head = map(c, arg.mmap_offset, arg.mmap_size);
	rnt_check_eq(nr, slots->head->nr_slots);
	rnt_check_eq(sizeof(struct rnotify_slot), slots->head->slot_size);
	slots->dirty = (const void *)((const char *)slots->head +
				      slots->head->dirty_offset);
	slots->slot = (const void *)((const char *)slots->head +
				     slots->head->slots_offset);
}

int rnt_slots_take(struct rnt_ctx *c, const struct rnt_slots *slots,
		   struct rnotify_slot *to, unsigned int max, __s64 timeout_ns,
		   struct rnotify_slots_take *arg)
{
	struct rnotify_slots_take local = {};
	int ret;

	if (!arg)
		arg = &local;
	arg->size = sizeof(*arg);
	arg->slots_id = slots->id;
	arg->max = max;
	arg->entries = (uintptr_t)to;
	arg->entry_size = sizeof(*to);
	arg->timeout_ns = timeout_ns;
	ret = rnt_ioctl(c->fd, RNOTIFY_IOCTL_SLOTS_TAKE, arg);
	rnt_check(arg->taken <= max);
	return ret ? ret : (int)arg->taken;
}

__u32 rnt_generation_(struct rnt_ctx *c, __u32 value)
{
	struct rnotify_generation_create arg = {
		.size = sizeof(arg),
		.value = value,
	};

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_GENERATION_CREATE,
				  &arg));
	rnt_check(arg.generation_id);
	return arg.generation_id;
}

__u32 rnt_generation_set_(struct rnt_ctx *c, __u32 id, __u32 value,
			  __u64 *stale)
{
	struct rnotify_generation_set arg = {
		.size = sizeof(arg),
		.generation_id = id,
		.value = value,
	};

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_GENERATION_SET, &arg));
	if (stale)
		*stale = arg.stale;
	return arg.value;
}
