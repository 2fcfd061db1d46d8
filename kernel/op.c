// SPDX-License-Identifier: GPL-2.0
/*
 * One operation: its checks, and the work requests that it becomes.
 *
 * A work request ends at the border of a remote chunk (its key covers no more)
 * or when its scatter elements are used up. Write and READ operations may take
 * several; a SEND is one message, hence one work request; the atomics are one by
 * nature.
 *
 * A WRITE_IMM that fits one work request is just that. The receiver's completion
 * of a WRITE WITH IMMEDIATE tells the length of the one work request only, so a
 * longer one is a chain of plain WRITEs and a small SEND behind them, which
 * carries imm and length (RNOTIFY_WIRE_NOTIFY). Both take one receive and one
 * credit, and both come after the bytes.
 */
#include <linux/nospec.h>

#include "chunk.h"
#include "op.h"

/**
 * struct rnotify_opinfo - what an opcode is like
 * @wr: of all work requests but the last
 * @wr_last: of the last
 * @right: that the peer must have granted; 0: touches no remote region
 * @flags: allowed &enum rnotify_op_flags
 * @credit: takes a data credit
 * @imm: has immediate data
 * @sink: writes to the local region
 * @atomic: has operands
 */
struct rnotify_opinfo {
	enum ib_wr_opcode wr;
	enum ib_wr_opcode wr_last;
	u32 right;
	u16 flags;
	bool credit;
	bool imm;
	bool sink;
	bool atomic;
};

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

static bool is_send(const struct rnotify_opinfo *info)
{
	return !info->right && info->wr_last != IB_WR_RDMA_WRITE_WITH_IMM;
}

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

/**
 * struct rnotify_build - an operation on its way into the chain
 * @ep: endpoint; lock held
 * @op: operation
 * @info: of its opcode
 * @remote: its remote region, or NULL
 * @map: its local region on this device, or NULL
 * @inl: its inline bytes, or NULL
 * @buf: index of the buffer for header and inline bytes, if there are any
 * @nr_wrs: work requests that it takes
 * @notify: the last of them is a NOTIFY message
 */
struct rnotify_build {
	struct rnotify_ep *ep;
	const struct rnotify_op *op;
	const struct rnotify_opinfo *info;
	struct rnotify_remote *remote;
	struct rnotify_map *map;
	const u8 *inl;
	u32 buf;
	u32 nr_wrs;
	bool notify;
};

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
	    (b->remote->share.first_offset + op->remote_offset) % sizeof(u64))
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

/*
 * Fills scatter elements with up to @want bytes from @pos of the operation's
 * local side. Return: bytes that they hold. With sge NULL it only counts.
 */
static u32 fill_sge(const struct rnotify_build *b, u64 pos, u32 want,
		    struct ib_sge *sge, u32 max, u32 *nr)
{
	u32 lkey = b->ep->pd->local_dma_lkey;
	const struct rnotify_seg *seg;
	u32 got = 0, bytes;

	*nr = 0;
	if (!want)
		return 0;
	if (!b->map) {
		if (sge)
			sge[0] = (struct ib_sge){
				.addr = rnotify_bufs_dma(&b->ep->send_bufs,
							 b->buf) +
					RNOTIFY_SEND_HDR + pos,
				.length = want,
				.lkey = lkey,
			};
		*nr = 1;
		return want;
	}

	pos += b->op->local_offset;
	seg = &b->map->segs[rnotify_map_find(b->map, pos)];
	for (; got < want && *nr < max; seg++, (*nr)++) {
		u64 skip = pos + got - seg->start;

		bytes = min_t(u64, want - got, seg->len - skip);
		if (sge)
			sge[*nr] = (struct ib_sge){
				.addr = seg->dma + skip,
				.length = bytes,
				.lkey = lkey,
			};
		got += bytes;
	}
	return got;
}

static u32 max_sge(const struct rnotify_build *b)
{
	if (is_send(b->info))
		return b->ep->max_sge - 1;
	return b->info->sink ? b->ep->max_sge_rd : b->ep->max_sge;
}

/* Bytes of the work request that starts at @pos, by the remote side. */
static u32 remote_left(const struct rnotify_build *b, u32 pos)
{
	u32 left = b->op->length - pos;
	u64 addr;

	if (!b->remote)
		return left;
	addr = b->remote->share.first_offset + b->op->remote_offset + pos;
	return rnotify_chunk_left(addr, left, b->remote->share.chunk_shift);
}

static int count_wrs(struct rnotify_build *b)
{
	u32 pos = 0, nr;

	b->nr_wrs = 0;
	do {
		pos += fill_sge(b, pos, remote_left(b, pos), NULL, max_sge(b),
				&nr);
		b->nr_wrs++;
	} while (pos < b->op->length &&
		 b->nr_wrs <= b->ep->params.send_depth);

	b->notify = b->info->imm && b->nr_wrs > 1 && !is_send(b->info);
	b->nr_wrs += b->notify;
	if (is_send(b->info) &&
	    (b->nr_wrs > 1 || !b->ep->hello.msg_size ||
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

/* Bytes of the message in front of the payload; 0 if it is none. */
static u32 hdr_len(const struct rnotify_build *b)
{
	if (b->notify)
		return RNOTIFY_WIRE_NOTIFY_LEN;
	return is_send(b->info) ? RNOTIFY_WIRE_HDR_LEN : 0;
}

static void put_hdr(const struct rnotify_build *b, u8 *va)
{
	const struct rnotify_wire_record record = {
		.imm = cpu_to_le32(b->op->imm),
		.byte_len = cpu_to_le32(b->op->length),
	};
	struct rnotify_wire_msg msg = {};

	if (b->notify) {
		msg.type = RNOTIFY_WIRE_NOTIFY;
		msg.notify.nr = 1;
		msg.notify.records = &record;
	} else {
		msg.type = RNOTIFY_WIRE_MESSAGE;
		msg.message.len = b->op->length;
	}
	rnotify_wire_put_msg(va + RNOTIFY_SEND_HDR - hdr_len(b), hdr_len(b),
			     &msg);
}

/*
 * Header of a message and inline bytes go to a buffer. Operations complete in
 * order, and no more than send_depth are posted: the next buffer is free.
 */
static void fill_buf(struct rnotify_build *b)
{
	struct rnotify_ep *ep = b->ep;
	struct rnotify_bufs *bufs = &ep->send_bufs;
	u64 dma;
	u8 *va;

	if (!b->inl && !hdr_len(b))
		return;
	b->buf = RNOTIFY_SQ_CTRL + ep->buf_next++ % ep->params.send_depth;
	va = rnotify_bufs_va(bufs, b->buf);
	dma = rnotify_bufs_dma(bufs, b->buf);
	ib_dma_sync_single_for_cpu(bufs->ib, dma, RNOTIFY_SEND_BUF,
				   DMA_TO_DEVICE);
	if (hdr_len(b))
		put_hdr(b, va);
	if (b->inl)
		memcpy(va + RNOTIFY_SEND_HDR, b->inl, b->op->length);
	ib_dma_sync_single_for_device(bufs->ib, dma, RNOTIFY_SEND_BUF,
				      DMA_TO_DEVICE);
}

static void set_remote(const struct rnotify_build *b, union rnotify_wr *wr,
		       u32 pos)
{
	u64 addr, chunk;
	u32 rkey;

	if (!b->remote || !b->op->length)
		return;
	addr = b->remote->share.first_offset + b->op->remote_offset + pos;
	chunk = rnotify_chunk_index(addr, b->remote->share.chunk_shift);
	rkey = rnotify_remote_key(b->remote, chunk);
	if (b->info->atomic) {
		wr->atomic.remote_addr = addr;
		wr->atomic.rkey = rkey;
		wr->atomic.compare_add = b->op->operand;
		wr->atomic.swap = b->op->swap;
	} else {
		wr->rdma.remote_addr = addr;
		wr->rdma.rkey = rkey;
	}
}

static void put_hdr_sge(const struct rnotify_build *b, struct ib_sge *sge)
{
	*sge = (struct ib_sge){
		.addr = rnotify_bufs_dma(&b->ep->send_bufs, b->buf) +
			RNOTIFY_SEND_HDR - hdr_len(b),
		.length = hdr_len(b),
		.lkey = b->ep->pd->local_dma_lkey,
	};
}

/* The NOTIFY behind a chain of WRITEs. */
static void add_notify(struct rnotify_build *b, struct rnotify_tx *tx)
{
	union rnotify_wr *wr = rnotify_chain_add(b->ep, tx);

	put_hdr_sge(b, wr->wr.sg_list);
	wr->wr.num_sge = 1;
	wr->wr.opcode = IB_WR_SEND;
	if (b->op->flags & RNOTIFY_OP_F_SIGNALED)
		wr->wr.send_flags |= IB_SEND_SIGNALED;
}

/* One work request from @pos on. Return: bytes that it moves. */
static u32 add_wr(struct rnotify_build *b, struct rnotify_tx *tx, u32 pos)
{
	union rnotify_wr *wr = rnotify_chain_add(b->ep, tx);
	struct ib_sge *sge = wr->wr.sg_list;
	u32 hdr = 0, nr, got;

	if (is_send(b->info)) {
		put_hdr_sge(b, sge);
		hdr = 1;
	}
	got = fill_sge(b, pos, remote_left(b, pos), sge + hdr, max_sge(b), &nr);
	wr->wr.num_sge = hdr + nr;
	set_remote(b, wr, pos);
	if (!pos && (b->op->flags & RNOTIFY_OP_F_FENCE))
		wr->wr.send_flags |= IB_SEND_FENCE;
	wr->wr.opcode = b->info->wr;
	if (tx->last) {
		wr->wr.opcode = b->info->wr_last;
		if (b->info->imm)
			wr->wr.ex.imm_data = cpu_to_be32(b->op->imm);
		if (b->op->flags & RNOTIFY_OP_F_SIGNALED)
			wr->wr.send_flags |= IB_SEND_SIGNALED;
	}
	return got;
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

static void add_all(struct rnotify_build *b)
{
	struct rnotify_ep *ep = b->ep;
	struct rnotify_tx *tx;
	u32 pos = 0, i;

	fill_buf(b);
	for (i = 0; i < b->nr_wrs; i++) {
		tx = rnotify_tx_next(ep, RNOTIFY_SQ_CLASS_DATA);
		tx->opcode = b->op->opcode;
		tx->last = i == b->nr_wrs - 1;
		if (tx->last)
			fill_tx(b, tx);
		if (tx->last && b->notify)
			add_notify(b, tx);
		else
			pos += add_wr(b, tx, pos);
	}
	ep->tx_posted++;
	ep->tx_notify += b->info->credit;
}

/**
 * rnotify_op_post() - add an operation to the endpoint's chain
 * @ep: endpoint; lock held. The caller flushes the chain
 * @op: well-formed, local side checked
 * @prep: what was looked up
 *
 * Return: 0, or an errno with nothing taken: -ENXIO if the region is not
 * mapped for the device yet, -EAGAIN for want of room or credit, else as
 * <linux/rnotify_op.h> says.
 */
int rnotify_op_post(struct rnotify_ep *ep, const struct rnotify_op *op,
		    const struct rnotify_prep *prep)
{
	struct rnotify_build b = {
		.ep = ep, .op = op, .inl = prep->inl,
		.info = &opinfo[op->opcode],
	};
	int ret;

	lockdep_assert_held(&ep->lock);
	ret = check_state(ep);
	if (!ret)
		ret = check_remote(&b);
	if (!ret)
		ret = get_map(&b, prep);
	if (!ret)
		ret = count_wrs(&b);
	if (!ret)
		ret = take_resources(&b);
	if (ret) {
		if (b.map)
			rnotify_map_put(b.map);
		return ret;
	}
	add_all(&b);
	return 0;
}
