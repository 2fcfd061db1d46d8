// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - contexts: open, map the ring, close.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define DEFAULT_RING_ENTRIES	1024u
#define MSG_SIZE_STEP		64u

enum { MAP_RING, MAP_TAIL, MAP_MESSAGES };

int rnotify_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

int rnotify_map(struct rnotify_map *map, int fd, int prot, uint64_t offset,
		uint64_t len)
{
	void *addr;

	if (len > SIZE_MAX)
		return -ENOMEM;
	addr = mmap(NULL, (size_t)len, prot, MAP_SHARED, fd, (off_t)offset);
	if (addr == MAP_FAILED)
		return -errno;
	map->addr = addr;
	map->len = (size_t)len;
	return 0;
}

void rnotify_unmap(struct rnotify_map *map)
{
	if (map->len)
		munmap(map->addr, map->len);
	map->len = 0;
}

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = RNOTIFY_RING_MIN;

	while (p < n && p < RNOTIFY_RING_MAX)
		p *= 2;
	/* Too large a wish is for the kernel to refuse. */
	return p < n ? n : p;
}

static void setup_fill(struct rnotify_setup *setup,
		       const struct rnotify_attr *attr)
{
	uint32_t size = attr->msg_size;

	*setup = (struct rnotify_setup){ .size = sizeof(*setup) };
	setup->ring_entries = round_up_pow2(attr->ring_entries ?:
					    DEFAULT_RING_ENTRIES);
	if (size && size < RNOTIFY_MSG_SIZE_MIN)
		size = RNOTIFY_MSG_SIZE_MIN;
	if (size <= RNOTIFY_MSG_SIZE_MAX)
		size = (size + MSG_SIZE_STEP - 1) / MSG_SIZE_STEP * MSG_SIZE_STEP;
	setup->msg_size = size;
}

/* A ring laid out in a way that the inline functions don't know is no use. */
static int ring_check(const struct rnotify_ring_head *head, uint64_t size,
		      uint32_t entries)
{
	if (head->entry_size != sizeof(struct rnotify_event) ||
	    head->entries != entries ||
	    head->entries_offset < sizeof(*head) ||
	    head->entries_offset % sizeof(struct rnotify_event) ||
	    head->entries_offset > size ||
	    (size - head->entries_offset) / head->entry_size < entries)
		return -EPROTONOSUPPORT;
	return 0;
}

static int context_map(struct rnotify *ctx, const struct rnotify_setup *setup)
{
	struct rnotify_map *maps = ctx->maps;
	int ret;

	if (setup->ring_size < sizeof(struct rnotify_ring_head) ||
	    setup->cons_size < sizeof(struct rnotify_ring_tail))
		return -EPROTONOSUPPORT;
	ret = rnotify_map(&maps[MAP_RING], ctx->fd, PROT_READ,
			  setup->ring_offset, setup->ring_size);
	if (ret)
		return ret;
	ret = rnotify_map(&maps[MAP_TAIL], ctx->fd, PROT_READ | PROT_WRITE,
			  setup->cons_offset, setup->cons_size);
	if (ret)
		return ret;
	if (setup->msg_area_size)
		ret = rnotify_map(&maps[MAP_MESSAGES], ctx->fd, PROT_READ,
				  setup->msg_offset, setup->msg_area_size);
	return ret;
}

static int context_setup(struct rnotify *ctx, const struct rnotify_attr *attr)
{
	struct rnotify_ring *ring = &ctx->ring;
	struct rnotify_setup setup;
	int ret;

	setup_fill(&setup, attr);
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_SETUP, &setup);
	if (ret)
		return ret;
	ret = context_map(ctx, &setup);
	if (ret)
		return ret;
	ring->head = ctx->maps[MAP_RING].addr;
	ring->tail = ctx->maps[MAP_TAIL].addr;
	ring->messages = ctx->maps[MAP_MESSAGES].addr;
	ring->mask = setup.ring_entries - 1;
	ret = ring_check(ring->head, setup.ring_size, setup.ring_entries);
	if (ret)
		return ret;
	ring->entries = (const void *)((const char *)ring->head +
				       ring->head->entries_offset);
	return 0;
}

static int device_open(uint32_t flags)
{
	int nonblock = flags & RNOTIFY_OPEN_NONBLOCK ? O_NONBLOCK : 0;
	int fd = open(RNOTIFY_DEVICE, O_RDWR | O_CLOEXEC | nonblock);

	return fd < 0 ? -errno : fd;
}

static int attr_check(const struct rnotify_attr *attr)
{
	size_t i;

	if (attr->flags & ~(uint32_t)RNOTIFY_OPEN_NONBLOCK)
		return -EINVAL;
	for (i = 0; i < sizeof(attr->reserved) / sizeof(attr->reserved[0]); i++)
		if (attr->reserved[i])
			return -EINVAL;
	return 0;
}

int rnotify_open(struct rnotify **ctxp, const struct rnotify_attr *attr)
{
	static const struct rnotify_attr defaults;
	struct rnotify *ctx;
	int ret;

	*ctxp = NULL;
	if (!attr)
		attr = &defaults;
	ret = attr_check(attr);
	if (ret)
		return ret;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	pthread_mutex_init(&ctx->lock, NULL);
	ret = device_open(attr->flags);
	ctx->fd = ret;
	ctx->ring.fd = ret;
	ctx->opener = getpid();
	if (ret >= 0)
		ret = context_setup(ctx, attr);
	if (ret < 0) {
		rnotify_close(ctx);
		return ret;
	}
	*ctxp = ctx;
	return 0;
}

/*
 * Whatever else refers to the file: a duplicate, a forked child, a request of
 * io_uring. An older module that doesn't know this ends it all by close().
 */
static void destroy_all(struct rnotify *ctx)
{
	struct rnotify_destroy arg = {
		.size = sizeof(arg),
		.flags = RNOTIFY_DESTROY_ALL,
	};

	if (ctx->fd >= 0 && ctx->opener == getpid())
		rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_DESTROY, &arg);
}

void rnotify_close(struct rnotify *ctx)
{
	int i;

	if (!ctx)
		return;
	destroy_all(ctx);
	/* Mappings keep the file open: they go first. */
	rnotify_regions_drop(ctx);
	rnotify_views_drop(ctx);
	for (i = 0; i < 3; i++)
		rnotify_unmap(&ctx->maps[i]);
	if (ctx->fd >= 0)
		close(ctx->fd);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

int rnotify_fd(const struct rnotify *ctx)
{
	return ctx->fd;
}

int rnotify_query(struct rnotify *ctx, struct rnotify_query *query)
{
	int fd = ctx ? ctx->fd : device_open(0);
	int ret;

	if (fd < 0)
		return fd;
	*query = (struct rnotify_query){ .size = sizeof(*query) };
	ret = rnotify_ioctl(fd, RNOTIFY_IOCTL_QUERY, query);
	if (!ctx)
		close(fd);
	return ret;
}

const char *rnotify_version(void)
{
	return RNOTIFY_VERSION;
}
