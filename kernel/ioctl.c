// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctl table, and the copying in and out around the core's functions.
 */
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "ep.h"
#include "front.h"
#include "listener.h"
#include "mmap_layout.h"
#include "ring.h"
#include "route.h"

#ifdef RNOTIFY_URING_CANCEL
#define RNOTIFY_FEATURES	(RNOTIFY_FEATURE_URING_POST | \
				 RNOTIFY_FEATURE_URING_WAIT)
#else
#define RNOTIFY_FEATURES	RNOTIFY_FEATURE_URING_POST
#endif

/* Any command's struct, copied in once. */
union rnotify_arg {
	__u32 size;
	struct rnotify_query query;
	struct rnotify_setup setup;
	struct rnotify_register reg;
	struct rnotify_listen listen;
	struct rnotify_connect connect;
	struct rnotify_accept accept;
	struct rnotify_reject reject;
	struct rnotify_disconnect disconnect;
	struct rnotify_destroy destroy;
	struct rnotify_share share;
	struct rnotify_post post;
	struct rnotify_wait wait;
	struct rnotify_kick kick;
	struct rnotify_eventfd eventfd;
	struct rnotify_endpoint_info info;
	struct rnotify_moderate moderate;
	struct rnotify_route route;
	struct rnotify_counter_create counter_create;
	struct rnotify_counter_reset counter_reset;
	struct rnotify_counter_wait counter_wait;
	struct rnotify_counter_watch counter_watch;
	struct rnotify_watch_arm watch_arm;
	struct rnotify_slots_create slots_create;
	struct rnotify_slots_take slots_take;
	struct rnotify_generation_create generation_create;
	struct rnotify_generation_set generation_set;
};

static int ioctl_query(struct file *file, struct rnotify_ctx *ctx,
		       union rnotify_arg *arg)
{
	if (arg->query.flags)
		return -EOPNOTSUPP;

	arg->query = (struct rnotify_query) {
		.size = arg->query.size,
		.abi_version = RNOTIFY_ABI_VERSION,
		.max_ring_entries = RNOTIFY_RING_MAX,
		.features = RNOTIFY_FEATURES,
		.max_depth = RNOTIFY_DEPTH_MAX,
		.max_msg_size = RNOTIFY_MSG_SIZE_MAX,
		.max_private_data = RNOTIFY_PRIVATE_DATA_MAX,
		.max_shares = RNOTIFY_SHARES_MAX,
		.max_op_len = RNOTIFY_OP_LEN_MAX,
		.max_inline = RNOTIFY_INLINE_MAX,
		.nr_devices = rnotify_dev_count(),
		.max_rules = RNOTIFY_RULES_MAX,
		.max_counters = RNOTIFY_COUNTERS_MAX,
		.max_watches = RNOTIFY_WATCHES_MAX,
		.max_slot_tables = RNOTIFY_SLOT_TABLES_MAX,
		.max_slots = RNOTIFY_SLOTS_MAX,
		.max_generations = RNOTIFY_GENERATIONS_MAX,
	};
	return 0;
}

static int ioctl_setup(struct file *file, struct rnotify_ctx *ctx,
		       union rnotify_arg *arg)
{
	struct rnotify_setup *setup = &arg->setup;
	int ret;

	if (setup->flags)
		return -EOPNOTSUPP;
	ret = rnotify_ctx_setup(ctx, setup->ring_entries, setup->msg_size);
	if (ret)
		return ret;

	setup->ring_offset = RNOTIFY_MMAP_RING;
	setup->ring_size = rnotify_ring_bytes(setup->ring_entries);
	setup->cons_offset = RNOTIFY_MMAP_TAIL;
	setup->cons_size = PAGE_SIZE;
	setup->msg_offset = setup->msg_size ? RNOTIFY_MMAP_MSGS : 0;
	setup->msg_area_size = PAGE_ALIGN((u64)setup->ring_entries *
					  setup->msg_size);
	return 0;
}

static int ioctl_register(struct file *file, struct rnotify_ctx *ctx,
			  union rnotify_arg *arg)
{
	struct rnotify_register *reg = &arg->reg;

	if (reg->flags & ~(RNOTIFY_REGION_ALLOC | RNOTIFY_REGION_READ_ONLY |
			   RNOTIFY_REGION_FD))
		return -EOPNOTSUPP;
	if (!(reg->flags & RNOTIFY_REGION_FD) && reg->fd)
		return -EOPNOTSUPP;
	return rnotify_region_create(ctx, reg);
}

static int ioctl_listen(struct file *file, struct rnotify_ctx *ctx,
			union rnotify_arg *arg)
{
	if (arg->listen.flags)
		return -EOPNOTSUPP;
	return rnotify_listen(ctx, &arg->listen);
}

static int get_private_data(u8 *buf, u64 ptr, u32 len)
{
	if (len > RNOTIFY_PRIVATE_DATA_MAX)
		return -EINVAL;
	if (copy_from_user(buf, u64_to_user_ptr(ptr), len))
		return -EFAULT;
	return 0;
}

static int ioctl_connect(struct file *file, struct rnotify_ctx *ctx,
			 union rnotify_arg *arg)
{
	struct rnotify_connect *connect = &arg->connect;
	u8 data[RNOTIFY_PRIVATE_DATA_MAX];
	int ret;

	if (connect->flags || connect->params.reserved)
		return -EOPNOTSUPP;
	ret = get_private_data(data, connect->private_ptr,
			       connect->private_len);
	if (ret)
		return ret;
	return rnotify_connect(ctx, connect, data);
}

static struct rnotify_ep *get_ep(struct rnotify_ctx *ctx, u32 id)
{
	struct rnotify_obj *obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_EP);

	return obj ? to_ep(obj) : NULL;
}

static int ioctl_accept(struct file *file, struct rnotify_ctx *ctx,
			union rnotify_arg *arg)
{
	struct rnotify_accept *accept = &arg->accept;
	u8 data[RNOTIFY_PRIVATE_DATA_MAX];
	struct rnotify_ep *ep;
	int ret;

	if (accept->flags || accept->params.reserved)
		return -EOPNOTSUPP;
	ret = get_private_data(data, accept->private_ptr, accept->private_len);
	if (ret)
		return ret;
	ep = get_ep(ctx, accept->endpoint_id);
	if (!ep)
		return -ENOENT;
	ret = rnotify_accept(ep, accept, data);
	rnotify_obj_put(&ep->obj);
	return ret;
}

static int ioctl_reject(struct file *file, struct rnotify_ctx *ctx,
			union rnotify_arg *arg)
{
	struct rnotify_reject *reject = &arg->reject;
	u8 data[RNOTIFY_PRIVATE_DATA_MAX];
	struct rnotify_ep *ep;
	int ret;

	if (reject->flags)
		return -EOPNOTSUPP;
	ret = get_private_data(data, reject->private_ptr, reject->private_len);
	if (ret)
		return ret;
	ep = get_ep(ctx, reject->endpoint_id);
	if (!ep)
		return -ENOENT;
	ret = rnotify_reject(ep, data, reject->private_len);
	rnotify_obj_put(&ep->obj);
	return ret;
}

static int ioctl_disconnect(struct file *file, struct rnotify_ctx *ctx,
			    union rnotify_arg *arg)
{
	struct rnotify_ep *ep;

	if (arg->disconnect.flags || arg->disconnect.reserved)
		return -EOPNOTSUPP;
	ep = get_ep(ctx, arg->disconnect.endpoint_id);
	if (!ep)
		return -ENOENT;
	rnotify_ep_close(ep);
	rnotify_obj_put(&ep->obj);
	return 0;
}

static int ioctl_destroy(struct file *file, struct rnotify_ctx *ctx,
			 union rnotify_arg *arg)
{
	if (arg->destroy.flags & ~RNOTIFY_DESTROY_ALL || arg->destroy.reserved)
		return -EOPNOTSUPP;
	if (!arg->destroy.flags)
		return rnotify_obj_destroy(ctx, arg->destroy.id);
	if (arg->destroy.id)
		return -EINVAL;
	rnotify_ctx_destroy_all(ctx);
	return 0;
}

static int ioctl_share(struct file *file, struct rnotify_ctx *ctx,
		       union rnotify_arg *arg)
{
	if (arg->share.flags)
		return -EOPNOTSUPP;
	return rnotify_export_create(ctx, &arg->share);
}

static int ioctl_post(struct file *file, struct rnotify_ctx *ctx,
		      union rnotify_arg *arg)
{
	if (arg->post.flags & ~RNOTIFY_POST_NONBLOCK)
		return -EOPNOTSUPP;
	return rnotify_post(ctx, &arg->post,
			    (arg->post.flags & RNOTIFY_POST_NONBLOCK) ||
			    (file->f_flags & O_NONBLOCK));
}

static int ioctl_wait(struct file *file, struct rnotify_ctx *ctx,
		      union rnotify_arg *arg)
{
	if (arg->wait.flags & ~RNOTIFY_WAIT_COUNT || arg->wait.reserved)
		return -EOPNOTSUPP;
	return rnotify_wait(ctx, &arg->wait);
}

static int ioctl_kick(struct file *file, struct rnotify_ctx *ctx,
		      union rnotify_arg *arg)
{
	if (arg->kick.flags)
		return -EOPNOTSUPP;
	rnotify_ring_reclaim(ctx->ring);
	return 0;
}

static int ioctl_eventfd(struct file *file, struct rnotify_ctx *ctx,
			 union rnotify_arg *arg)
{
	struct rnotify_ring *ring = ctx->ring;
	struct rnotify_ep *ep;
	int ret;

	if (arg->eventfd.flags)
		return -EOPNOTSUPP;
	if (arg->eventfd.fd < -1)
		return -EINVAL;
	if (arg->eventfd.endpoint_id) {
		ep = get_ep(ctx, arg->eventfd.endpoint_id);
		if (!ep)
			return -ENOENT;
		ret = rnotify_ep_set_eventfd(ep, arg->eventfd.fd);
		rnotify_obj_put(&ep->obj);
		return ret;
	}

	mutex_lock(&ctx->setup_mutex);
	ret = rnotify_eventfd_set(&ring->eventfd, arg->eventfd.fd);
	mutex_unlock(&ctx->setup_mutex);
	if (!ret && rnotify_ring_pending(ring))
		rnotify_eventfd_notify(&ring->eventfd);
	return ret;
}

static int ioctl_moderate(struct file *file, struct rnotify_ctx *ctx,
			  union rnotify_arg *arg)
{
	if (arg->moderate.flags || arg->moderate.reserved)
		return -EOPNOTSUPP;
	return rnotify_ring_moderate(ctx->ring, &arg->moderate);
}

static int ioctl_endpoint_info(struct file *file, struct rnotify_ctx *ctx,
			       union rnotify_arg *arg)
{
	if (arg->info.flags)
		return -EOPNOTSUPP;
	return rnotify_endpoint_info(ctx, &arg->info);
}

/* Commands whose flags the core looks at. */
#define IOCTL_FN(_name, _fn)						\
static int ioctl_##_name(struct file *file, struct rnotify_ctx *ctx,	\
			 union rnotify_arg *arg)			\
{									\
	return _fn(ctx, &arg->_name);					\
}

IOCTL_FN(route, rnotify_route_set)
IOCTL_FN(counter_create, rnotify_counter_create)
IOCTL_FN(counter_reset, rnotify_counter_reset)
IOCTL_FN(counter_wait, rnotify_counter_wait)
IOCTL_FN(counter_watch, rnotify_watch_create)
IOCTL_FN(watch_arm, rnotify_watch_arm)
IOCTL_FN(slots_create, rnotify_slots_create)
IOCTL_FN(slots_take, rnotify_slots_take)
IOCTL_FN(generation_create, rnotify_generation_create)
IOCTL_FN(generation_set, rnotify_generation_set)

/**
 * struct rnotify_ioctl_op - one command
 * @cmd: whole command number
 * @size: of its struct, as this kernel knows it
 * @min_size: of its struct as first published
 * @no_setup: works before SETUP
 * @out: has members that are written back
 * @out_on_error: they are written back also when the call fails
 * @takes: its outputs are nowhere else afterwards: it is not done if they can't
 *	be written back
 * @made: offset of the id of the object that it makes, 0 if none: what the
 *	user can't be told of is destroyed again
 * @fn: does it; returns 0 or a negative errno
 */
struct rnotify_ioctl_op {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	bool no_setup;
	bool out;
	bool out_on_error;
	bool takes;
	u16 made;
	int (*fn)(struct file *file, struct rnotify_ctx *ctx,
		  union rnotify_arg *arg);
};

#define IOCTL_OP(_name, _struct, _last, _fn, ...)			\
	[RNOTIFY_CMD_##_name] = {					\
		.cmd = RNOTIFY_IOCTL_##_name,				\
		.size = sizeof(struct _struct) +			\
			BUILD_BUG_ON_ZERO(sizeof(union rnotify_arg) <	\
					  sizeof(struct _struct)),	\
		.min_size = offsetofend(struct _struct, _last),		\
		.fn = _fn,						\
		__VA_ARGS__						\
	}

static const struct rnotify_ioctl_op rnotify_ioctl_ops[] = {
	IOCTL_OP(QUERY, rnotify_query, max_generations, ioctl_query,
		 .no_setup = true, .out = true),
	IOCTL_OP(SETUP, rnotify_setup, msg_area_size, ioctl_setup,
		 .no_setup = true, .out = true),
	IOCTL_OP(REGISTER, rnotify_register, memlock_left, ioctl_register,
		 .out = true, .out_on_error = true,
		 .made = offsetof(struct rnotify_register, region_id)),
	IOCTL_OP(LISTEN, rnotify_listen, listener_id, ioctl_listen,
		 .out = true,
		 .made = offsetof(struct rnotify_listen, listener_id)),
	IOCTL_OP(CONNECT, rnotify_connect, endpoint_id, ioctl_connect,
		 .out = true,
		 .made = offsetof(struct rnotify_connect, endpoint_id)),
	IOCTL_OP(ACCEPT, rnotify_accept, params, ioctl_accept),
	IOCTL_OP(REJECT, rnotify_reject, private_ptr, ioctl_reject),
	IOCTL_OP(DISCONNECT, rnotify_disconnect, reserved, ioctl_disconnect),
	IOCTL_OP(DESTROY, rnotify_destroy, reserved, ioctl_destroy),
	IOCTL_OP(SHARE, rnotify_share, tag, ioctl_share,
		 .out = true,
		 .made = offsetof(struct rnotify_share, share_id)),
	IOCTL_OP(POST, rnotify_post, error, ioctl_post,
		 .out = true, .out_on_error = true, .takes = true),
	IOCTL_OP(WAIT, rnotify_wait, reserved2, ioctl_wait,
		 .out = true, .out_on_error = true),
	IOCTL_OP(KICK, rnotify_kick, flags, ioctl_kick),
	IOCTL_OP(EVENTFD, rnotify_eventfd, endpoint_id, ioctl_eventfd),
	IOCTL_OP(ENDPOINT_INFO, rnotify_endpoint_info, reserved,
		 ioctl_endpoint_info, .out = true),
	IOCTL_OP(MODERATE, rnotify_moderate, max_delay_ns, ioctl_moderate),
	IOCTL_OP(ROUTE, rnotify_route, reserved, ioctl_route),
	IOCTL_OP(COUNTER_CREATE, rnotify_counter_create, mmap_size,
		 ioctl_counter_create, .out = true,
		 .made = offsetof(struct rnotify_counter_create, counter_id)),
	IOCTL_OP(COUNTER_RESET, rnotify_counter_reset, bytes,
		 ioctl_counter_reset, .out = true, .takes = true),
	IOCTL_OP(COUNTER_WAIT, rnotify_counter_wait, reserved,
		 ioctl_counter_wait, .out = true, .out_on_error = true),
	IOCTL_OP(COUNTER_WATCH, rnotify_counter_watch, cookie,
		 ioctl_counter_watch, .out = true,
		 .made = offsetof(struct rnotify_counter_watch, watch_id)),
	IOCTL_OP(WATCH_ARM, rnotify_watch_arm, step, ioctl_watch_arm),
	IOCTL_OP(SLOTS_CREATE, rnotify_slots_create, mmap_size,
		 ioctl_slots_create, .out = true,
		 .made = offsetof(struct rnotify_slots_create, slots_id)),
	IOCTL_OP(SLOTS_TAKE, rnotify_slots_take, ended_error,
		 ioctl_slots_take, .out = true, .out_on_error = true,
		 .takes = true),
	IOCTL_OP(GENERATION_CREATE, rnotify_generation_create, generation_id,
		 ioctl_generation_create, .out = true,
		 .made = offsetof(struct rnotify_generation_create,
				  generation_id)),
	IOCTL_OP(GENERATION_SET, rnotify_generation_set, stale,
		 ioctl_generation_set, .out = true, .takes = true),
};

/**
 * rnotify_ioctl() - file_operations.unlocked_ioctl
 * @file: context's file
 * @cmd: command
 * @uarg: user pointer to the command's struct
 *
 * Return: 0, or a negative errno as <linux/rnotify.h> says.
 */
long rnotify_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct rnotify_ctx *ctx = file->private_data;
	void __user *uptr = (void __user *)uarg;
	const struct rnotify_ioctl_op *op;
	unsigned int nr = _IOC_NR(cmd);
	union rnotify_arg arg = {};
	u32 size;
	int ret;

	if (nr >= ARRAY_SIZE(rnotify_ioctl_ops))
		return -ENOTTY;
	nr = array_index_nospec(nr, ARRAY_SIZE(rnotify_ioctl_ops));
	op = &rnotify_ioctl_ops[nr];
	if (op->cmd != cmd)
		return -ENOTTY;

	if (get_user(size, (u32 __user *)uptr))
		return -EFAULT;
	if (size < op->min_size)
		return -EINVAL;
	/* What is beyond op->size is looked at byte by byte. */
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&arg, op->size, uptr, size);
	if (ret)
		return ret;
	/* The size could have changed between the two reads. */
	arg.size = size;
	if (!op->no_setup && !rnotify_ctx_ring(ctx))
		return -EBADFD;

	if (op->takes && copy_to_user(uptr, &arg, min(size, op->size)))
		return -EFAULT;

	ret = op->fn(file, ctx, &arg);
	if (!op->out || (ret && !op->out_on_error))
		return ret;
	if (!copy_to_user(uptr, &arg, min(size, op->size)))
		return ret;
	if (!ret && op->made)
		rnotify_obj_destroy(ctx, *(u32 *)((void *)&arg + op->made));
	return ret ?: -EFAULT;
}
