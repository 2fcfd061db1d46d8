// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - counters.
 */
#include "internal.h"

/*
 * The handle is a view whose map is one page. Nothing makes a struct
 * rnotify_counter: the type is there so that the compiler tells handles apart.
 */
static struct rnotify_view *to_view(struct rnotify_counter *counter)
{
	return (struct rnotify_view *)counter;
}

int rnotify_counter_create(struct rnotify *ctx,
			   struct rnotify_counter **counter)
{
	struct rnotify_counter_create arg = { .size = sizeof(arg) };
	struct rnotify_view *view;
	int ret;

	*counter = NULL;
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_COUNTER_CREATE, &arg);
	if (ret)
		return ret;
	ret = rnotify_view_make(ctx, arg.counter_id, arg.mmap_offset,
				arg.mmap_size, &view);
	if (!ret)
		*counter = (struct rnotify_counter *)view;
	return ret;
}

int rnotify_counter_destroy(struct rnotify_counter *counter)
{
	return rnotify_view_end(to_view(counter));
}

uint32_t rnotify_counter_id(const struct rnotify_counter *counter)
{
	return ((const struct rnotify_view *)counter)->id;
}

const struct rnotify_counter_page *
rnotify_counter_page(const struct rnotify_counter *counter)
{
	return ((const struct rnotify_view *)counter)->map.addr;
}

void rnotify_counter_read(const struct rnotify_counter *counter,
			  struct rnotify_counter_page *copy)
{
	const struct rnotify_counter_page *page = rnotify_counter_page(counter);

	rnotify_snapshot(copy, page, sizeof(*copy), &page->seq);
}

int rnotify_counter_wait(struct rnotify_counter *counter, uint64_t threshold,
			 int64_t deadline, struct rnotify_ended *ended)
{
	const struct rnotify_counter_page *page = rnotify_counter_page(counter);
	struct rnotify_counter_wait arg = {
		.size = sizeof(arg),
		.counter_id = rnotify_counter_id(counter),
		.ended = ended ? ended->count :
			 __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE),
		.threshold = threshold,
		.timeout_ns = deadline,
	};
	int ret;

	ret = rnotify_ioctl(to_view(counter)->ctx->fd,
			    RNOTIFY_IOCTL_COUNTER_WAIT, &arg);
	if (ended)
		*ended = (struct rnotify_ended){
			.count = arg.ended,
			.endpoint = arg.ended_endpoint,
			.reason = arg.ended_reason,
			.error = arg.ended_error,
		};
	return rnotify_look_over(ret, deadline, ended);
}

int rnotify_counter_reset(struct rnotify_counter *counter, uint64_t *count,
			  uint64_t *bytes)
{
	struct rnotify_counter_reset arg = {
		.size = sizeof(arg),
		.counter_id = rnotify_counter_id(counter),
	};
	int ret;

	ret = rnotify_ioctl(to_view(counter)->ctx->fd,
			    RNOTIFY_IOCTL_COUNTER_RESET, &arg);
	if (count)
		*count = arg.count;
	if (bytes)
		*bytes = arg.bytes;
	return ret;
}

int rnotify_counter_watch(struct rnotify_counter *counter, uint64_t threshold,
			  uint64_t step, uint64_t cookie, uint32_t *watch)
{
	struct rnotify_counter_watch arg = {
		.size = sizeof(arg),
		.counter_id = rnotify_counter_id(counter),
		.threshold = threshold,
		.step = step,
		.cookie = cookie,
	};
	int ret;

	ret = rnotify_ioctl(to_view(counter)->ctx->fd,
			    RNOTIFY_IOCTL_COUNTER_WATCH, &arg);
	*watch = ret ? 0 : arg.watch_id;
	return ret;
}

int rnotify_watch_arm(struct rnotify *ctx, uint32_t watch, uint64_t threshold,
		      uint64_t step)
{
	struct rnotify_watch_arm arg = {
		.size = sizeof(arg),
		.watch_id = watch,
		.threshold = threshold,
		.step = step,
	};

	return rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_WATCH_ARM, &arg);
}
