// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - views: objects of the kernel with a page or more that show them.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

static void view_link(struct rnotify_view *view)
{
	struct rnotify *ctx = view->ctx;

	pthread_mutex_lock(&ctx->lock);
	view->next = ctx->views;
	if (view->next)
		view->next->prev = view;
	ctx->views = view;
	pthread_mutex_unlock(&ctx->lock);
}

static void view_unlink(struct rnotify_view *view)
{
	struct rnotify *ctx = view->ctx;

	pthread_mutex_lock(&ctx->lock);
	if (view->prev)
		view->prev->next = view->next;
	else
		ctx->views = view->next;
	if (view->next)
		view->next->prev = view->prev;
	pthread_mutex_unlock(&ctx->lock);
}

int rnotify_view_make(struct rnotify *ctx, uint32_t id, uint64_t offset,
		      uint64_t size, struct rnotify_view **viewp)
{
	struct rnotify_view *view = calloc(1, sizeof(*view));
	int ret = view ? rnotify_map(&view->map, ctx->fd, PROT_READ, offset,
				     size) : -ENOMEM;

	if (ret) {
		rnotify_destroy(ctx, id);
		free(view);
		return ret;
	}
	view->ctx = ctx;
	view->id = id;
	view_link(view);
	*viewp = view;
	return 0;
}

int rnotify_view_end(struct rnotify_view *view)
{
	int ret;

	if (!view)
		return 0;
	ret = rnotify_destroy(view->ctx, view->id);
	/* Gone already, by way of its id: what is left is the handle. */
	if (ret && ret != -ENOENT)
		return ret;
	view_unlink(view);
	rnotify_unmap(&view->map);
	free(view);
	return 0;
}

void rnotify_views_drop(struct rnotify *ctx)
{
	while (ctx->views) {
		struct rnotify_view *view = ctx->views;

		ctx->views = view->next;
		rnotify_unmap(&view->map);
		free(view);
	}
}
