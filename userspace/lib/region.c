// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - memory: regions and shares.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

static void region_link(struct rnotify_region *region)
{
	struct rnotify *ctx = region->ctx;

	pthread_mutex_lock(&ctx->lock);
	region->next = ctx->regions;
	if (region->next)
		region->next->prev = region;
	ctx->regions = region;
	pthread_mutex_unlock(&ctx->lock);
}

static void region_unlink(struct rnotify_region *region)
{
	struct rnotify *ctx = region->ctx;

	pthread_mutex_lock(&ctx->lock);
	if (region->prev)
		region->prev->next = region->next;
	else
		ctx->regions = region->next;
	if (region->next)
		region->next->prev = region->prev;
	pthread_mutex_unlock(&ctx->lock);
}

static void region_free(struct rnotify_region *region)
{
	if (region->mapped)
		munmap(region->addr, region->len);
	free(region);
}

void rnotify_regions_drop(struct rnotify *ctx)
{
	while (ctx->regions) {
		struct rnotify_region *region = ctx->regions;

		ctx->regions = region->next;
		region_free(region);
	}
}

/* What rnotify_explain_errno() tells later. */
static void memlock_note(struct rnotify *ctx, const struct rnotify_register *arg)
{
	pthread_mutex_lock(&ctx->lock);
	ctx->memlock_need = arg->memlock_need;
	ctx->memlock_left = arg->memlock_left;
	pthread_mutex_unlock(&ctx->lock);
}

static int region_make(struct rnotify *ctx, struct rnotify_register *arg,
		       struct rnotify_region **regionp)
{
	struct rnotify_region *region;
	int ret;

	*regionp = NULL;
	region = calloc(1, sizeof(*region));
	if (!region)
		return -ENOMEM;
	ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_REGISTER, arg);
	if (ret) {
		if (ret == -EPERM)
			memlock_note(ctx, arg);
		free(region);
		return ret;
	}
	region->ctx = ctx;
	region->len = (size_t)arg->length;
	region->id = arg->region_id;
	*regionp = region;
	return 0;
}

int rnotify_register(struct rnotify *ctx, void *addr, size_t len,
		     uint32_t flags, struct rnotify_region **region)
{
	struct rnotify_register arg = {
		.size = sizeof(arg),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.length = len,
	};
	int ret;

	*region = NULL;
	/* These have functions of their own. */
	if (flags & (RNOTIFY_REGION_ALLOC | RNOTIFY_REGION_FD))
		return -EINVAL;
	ret = region_make(ctx, &arg, region);
	if (ret)
		return ret;
	(*region)->addr = addr;
	region_link(*region);
	return 0;
}

int rnotify_register_fd(struct rnotify *ctx, int fd, uint64_t offset,
			size_t len, uint32_t flags,
			struct rnotify_region **region)
{
	struct rnotify_register arg = {
		.size = sizeof(arg),
		.flags = flags | RNOTIFY_REGION_FD,
		.addr = offset,
		.length = len,
		.fd = fd,
	};
	int ret;

	ret = region_make(ctx, &arg, region);
	if (!ret)
		region_link(*region);
	return ret;
}

int rnotify_alloc(struct rnotify *ctx, size_t len,
		  struct rnotify_region **regionp)
{
	struct rnotify_register arg = {
		.size = sizeof(arg),
		.flags = RNOTIFY_REGION_ALLOC,
		.length = len,
	};
	struct rnotify_region *region;
	struct rnotify_map map;
	int ret;

	ret = region_make(ctx, &arg, regionp);
	if (ret)
		return ret;
	region = *regionp;
	ret = rnotify_map(&map, ctx->fd, PROT_READ | PROT_WRITE,
			  arg.mmap_offset, len);
	if (ret) {
		rnotify_destroy(ctx, region->id);
		free(region);
		*regionp = NULL;
		return ret;
	}
	region->addr = map.addr;
	region->mapped = 1;
	region_link(region);
	return 0;
}

int rnotify_deregister(struct rnotify_region *region)
{
	int ret;

	if (!region)
		return 0;
	ret = rnotify_destroy(region->ctx, region->id);
	/* Gone already, by way of its id: what is left is the handle. */
	if (ret && ret != -ENOENT)
		return ret;
	region_unlink(region);
	region_free(region);
	return 0;
}

void *rnotify_region_addr(const struct rnotify_region *region)
{
	return region->addr;
}

size_t rnotify_region_len(const struct rnotify_region *region)
{
	return region->len;
}

uint32_t rnotify_region_id(const struct rnotify_region *region)
{
	return region->id;
}

int rnotify_share(struct rnotify *ctx, uint32_t endpoint,
		  const struct rnotify_region *region, uint64_t offset,
		  uint64_t len, uint32_t rights, uint64_t tag, uint32_t *share)
{
	struct rnotify_share arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
		.region_id = region->id,
		.offset = offset,
		.length = len,
		.rights = rights,
		.tag = tag,
	};
	int ret = -EINVAL;

	/* Its id may be one of another region here. */
	if (region->ctx == ctx)
		ret = rnotify_ioctl(ctx->fd, RNOTIFY_IOCTL_SHARE, &arg);
	if (share)
		*share = ret ? 0 : arg.share_id;
	return ret;
}

int rnotify_unshare(struct rnotify *ctx, uint32_t share)
{
	return rnotify_destroy(ctx, share);
}
