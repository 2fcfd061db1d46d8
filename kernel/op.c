// SPDX-License-Identifier: GPL-2.0
/*
 * One operation: its checks, and what it takes of the endpoint's room, credit and
 * slots. What it becomes is in emit.c and bundle.c.
 */
#include <linux/nospec.h>

#include "chunk.h"
#include "op.h"

#define F_BASE	(RNOTIFY_OP_F_SIGNALED | RNOTIFY_OP_F_FENCE)
#define F_SRC	(F_BASE | RNOTIFY_OP_F_INLINE)

static const struct rnotify_opinfo opinfo[] = {
	[RNOTIFY_OP_WRITE] = {
		.wr = IB_WR_RDMA_WRITE, .wr_last = IB_WR_RDMA_WRITE,
		.right = RNOTIFY_RIGHT_WRITE, .flags = F_SRC,
	},
	[RNOTIFY_OP_WRITE_IMM] = {
		.wr = IB_WR_RDMA_WRITE, .wr_last = IB_WR_RDMA_WRITE_WITH_IMM,
		.right = RNOTIFY_RIGHT_WRITE, .flags = F_SRC,
		.credit = true, .imm = true,
	},
	[RNOTIFY_OP_NOTIFY] = {
		.wr_last = IB_WR_RDMA_WRITE_WITH_IMM, .flags = F_BASE,
		.credit = true, .imm = true,
	},
	[RNOTIFY_OP_READ] = {
		.wr = IB_WR_RDMA_READ, .wr_last = IB_WR_RDMA_READ,
		.right = RNOTIFY_RIGHT_READ, .flags = F_BASE, .sink = true,
	},
	[RNOTIFY_OP_SEND] = {
		.wr_last = IB_WR_SEND, .flags = F_SRC, .credit = true,
	},
	[RNOTIFY_OP_SEND_IMM] = {
		.wr_last = IB_WR_SEND_WITH_IMM, .flags = F_SRC,
		.credit = true, .imm = true,
	},
	[RNOTIFY_OP_FETCH_ADD] = {
		.wr_last = IB_WR_ATOMIC_FETCH_AND_ADD,
		.right = RNOTIFY_RIGHT_ATOMIC, .flags = F_BASE,
		.sink = true, .atomic = true,
	},
	[RNOTIFY_OP_CMP_SWAP] = {
		.wr_last = IB_WR_ATOMIC_CMP_AND_SWP,
		.right = RNOTIFY_RIGHT_ATOMIC, .flags = F_BASE,
		.sink = true, .atomic = true,
	},
};

/*
 * ---- checks that need no endpoint -------------------------------------
 */

/* Members that the opcode does not use must be 0. */
static bool op_clean(const struct rnotify_op *op,
		     const struct rnotify_opinfo *info)
{
	bool local = op->opcode != RNOTIFY_OP_NOTIFY;

	if (!info->right && (op->remote_id || op->remote_offset))
		return false;
	if (!info->imm && op->imm)
		return false;
	if (!info->atomic && op->operand)
		return false;
	if (op->opcode != RNOTIFY_OP_CMP_SWAP && op->swap)
		return false;
	if (!local && (op->region_id || op->local_offset || op->length))
		return false;
	if ((op->flags & RNOTIFY_OP_F_INLINE) && op->region_id)
		return false;
	return true;
}

/**
 * rnotify_op_check() - is the operation well-formed?
 * @op: operation
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL.
 */
int rnotify_op_check(const struct rnotify_op *op)
{
	const struct rnotify_opinfo *info;
	u32 code = op->opcode;

	if (!code || code >= ARRAY_SIZE(opinfo))
		return -EOPNOTSUPP;
	info = &opinfo[array_index_nospec(code, ARRAY_SIZE(opinfo))];
	if (op->flags & ~info->flags)
		return -EOPNOTSUPP;
	if (!op_clean(op, info) || op->length > RNOTIFY_OP_LEN_MAX)
		return -EINVAL;
	if (info->atomic && op->length != sizeof(u64))
		return -EINVAL;
	if (code == RNOTIFY_OP_READ && !op->length)
		return -EINVAL;
	return 0;
}

/**
 * rnotify_op_check_local() - does it fit the local region?
 * @op: well-formed operation
 * @region: its local region
 *
 * Return: 0, -ERANGE, -EACCES, -EINVAL.
 */
int rnotify_op_check_local(const struct rnotify_op *op,
			   const struct rnotify_region *region)
{
	const struct rnotify_opinfo *info = &opinfo[op->opcode];

	if (!rnotify_range_ok(op->local_offset, op->length, region->length))
		return -ERANGE;
	if (info->sink && (region->flags & RNOTIFY_REGION_READ_ONLY))
		return -EACCES;
	if (info->atomic &&
	    (region->offset + op->local_offset) % sizeof(u64))
		return -EINVAL;
	return 0;
}

/*
 * ---- the operation as seen under the lock -----------------------------
 */

static int check_state(const struct rnotify_ep *ep)
{
	if (ep->state >= RNOTIFY_EP_CLOSING)
		return rnotify_ep_over(ep, -ESHUTDOWN);
	if (ep->state != RNOTIFY_EP_ESTABLISHED)
		return -ENOTCONN;
	/* Data came before the CM's event: the peer's hello is on its way. */
	return ep->have_hello ? 0 : -EAGAIN;
}

static int check_remote(struct rnotify_build *b)
{
	const struct rnotify_op *op = b->op;

	/* A zero-length write may do without a region. */
	if (!b->info->right || (!op->length && !op->remote_id))
		return op->remote_offset ? -ERANGE : 0;
	b->remote = rnotify_remote_find(b->ep, op->remote_id);
	if (!b->remote)
		return -ENOENT;
	if (!(b->remote->share.rights & b->info->right))
		return -EACCES;
	if (b->info->atomic &&
	    b->ep->dev->ib->attrs.atomic_cap == IB_ATOMIC_NONE)
		return -EOPNOTSUPP;
	if (!rnotify_range_ok(op->remote_offset, op->length,
			      b->remote->share.length))
		return -ERANGE;
	if (b->info->atomic &&
	    rnotify_build_addr(b, 0) % sizeof(u64))
		return -EINVAL;
	return 0;
}

static int get_map(struct rnotify_build *b, const struct rnotify_prep *prep)
{
	if (!prep->region || !b->op->length)
		return 0;
	b->map = rnotify_map_get(prep->region, b->ep->dev);
	if (IS_ERR(b->map)) {
		int ret = PTR_ERR(b->map);

		b->map = NULL;
		return ret;
	}
	return b->map ? 0 : -ENXIO;
}

static int count_wrs(struct rnotify_build *b)
{
	bool send = rnotify_is_send(b->info);

	b->nr_wrs = rnotify_emit_count(b);
	b->notify = b->info->imm && b->nr_wrs > 1 && !send;
	b->nr_wrs += b->notify;
	if (send && (b->nr_wrs > 1 || !b->ep->hello.msg_size ||
		     b->op->length > b->ep->hello.msg_size))
		return -EMSGSIZE;
	if (b->nr_wrs > b->ep->params.send_depth)
		return -EMSGSIZE;
	return 0;
}

static bool try_resources(struct rnotify_build *b)
{
	struct rnotify_ep *ep = b->ep;

	if (!rnotify_tx_room(ep, RNOTIFY_SQ_CLASS_DATA, b->nr_wrs))
		return false;
	if (b->info->credit && !rnotify_credit_left(&ep->credit))
		return false;
	if ((b->op->flags & RNOTIFY_OP_F_SIGNALED) &&
	    !rnotify_ring_promise_or_block(ep->ring, &ep->rv_tx))
		return false;
	return !b->info->credit || rnotify_credit_use(&ep->credit);
}

/* Room, credit and the ring entry for TX_DONE: all or nothing. */
static int take_resources(struct rnotify_build *b)
{
	struct rnotify_ep *ep = b->ep;

	if (try_resources(b))
		return 0;
	ep->want_wrs = b->nr_wrs;
	ep->want_credit = b->info->credit;
	ep->want_event = b->op->flags & RNOTIFY_OP_F_SIGNALED;
	return -EAGAIN;
}

static void fill_tx(const struct rnotify_build *b, struct rnotify_tx *tx)
{
	tx->opcode = b->op->opcode;
	tx->user_data = b->op->user_data;
	tx->byte_len = b->op->length;
	tx->event = b->op->flags & RNOTIFY_OP_F_SIGNALED;
	tx->credit = b->info->credit;
	tx->map = b->map;
	tx->remote = b->remote;
	if (b->remote)
		b->remote->inflight++;
}

/* The slots are taken now, so that the next operation sees what is left. */
static void take_slots(struct rnotify_build *b)
{
	struct rnotify_ep *ep = b->ep;
	struct rnotify_tx *tx;
	u32 i;

	b->slot = ep->sq_head;
	for (i = 0; i < b->nr_wrs; i++) {
		tx = rnotify_tx_next(ep, RNOTIFY_SQ_CLASS_DATA);
		tx->opcode = b->op->opcode;
		tx->last = i == b->nr_wrs - 1;
		if (tx->last)
			fill_tx(b, tx);
	}
	ep->tx_posted++;
	ep->tx_notify += b->info->credit;
}

/**
 * rnotify_op_admit() - take all that an operation needs
 * @ep: endpoint; lock held
 * @op: well-formed, local side checked
 * @prep: what was looked up; @prep->build is filled in. It goes to
 *	rnotify_emit_all() before the lock is released, and before any other slot
 *	of the send queue is taken
 *
 * Return: 0, or an errno with nothing taken: -ENXIO if the region is not
 * mapped for the device yet, -EAGAIN for want of room or credit, else as
 * <linux/rnotify_op.h> says.
 */
int rnotify_op_admit(struct rnotify_ep *ep, const struct rnotify_op *op,
		     struct rnotify_prep *prep)
{
	struct rnotify_build *b = &prep->build;
	int ret;

	lockdep_assert_held(&ep->lock);
	*b = (struct rnotify_build){
		.ep = ep, .op = op, .inl = prep->inl,
		.info = &opinfo[op->opcode],
	};
	ret = check_state(ep);
	if (!ret)
		ret = check_remote(b);
	if (!ret)
		ret = get_map(b, prep);
	if (!ret)
		ret = count_wrs(b);
	if (!ret)
		ret = take_resources(b);
	if (ret) {
		if (b->map)
			rnotify_map_put(b->map);
		return ret;
	}
	take_slots(b);
	return 0;
}
