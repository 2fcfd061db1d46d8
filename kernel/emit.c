// SPDX-License-Identifier: GPL-2.0
/*
 * An admitted operation becomes work requests.
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
#include "chunk.h"
#include "op.h"

/**
 * rnotify_emit_sge() - scatter elements of an operation's local side
 * @b: operation
 * @pos: first byte of it
 * @want: bytes wanted from there
 * @sge: where to; NULL: only count
 * @max: how many there may be
 * @nr: how many there are
 *
 * Return: bytes that they hold, at most @want.
 */
u32 rnotify_emit_sge(const struct rnotify_build *b, u64 pos, u32 want,
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
					b->buf_at + pos,
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
	if (rnotify_is_send(b->info))
		return b->ep->max_sge - 1;
	return b->info->sink ? b->ep->max_sge_rd : b->ep->max_sge;
}

/* Bytes of the work request that starts at @pos, by the remote side. */
static u32 remote_left(const struct rnotify_build *b, u32 pos)
{
	u32 left = b->op->length - pos;

	if (!b->remote)
		return left;
	return rnotify_chunk_left(rnotify_build_addr(b, pos), left,
				  b->remote->share.chunk_shift);
}

/**
 * rnotify_emit_count() - how many work requests will it take?
 * @b: operation; lock held
 *
 * Return: work requests, without a NOTIFY behind them; more than the send queue
 * holds if it is no use to go on counting.
 */
u32 rnotify_emit_count(const struct rnotify_build *b)
{
	u32 pos = 0, wrs = 0, nr;

	do {
		pos += rnotify_emit_sge(b, pos, remote_left(b, pos), NULL,
					max_sge(b), &nr);
		wrs++;
	} while (pos < b->op->length && wrs <= b->ep->params.send_depth);
	return wrs;
}

/* Bytes of the message in front of the payload; 0 if it is none. */
static u32 hdr_len(const struct rnotify_build *b)
{
	if (b->notify)
		return RNOTIFY_WIRE_NOTIFY_LEN;
	return rnotify_is_send(b->info) ? RNOTIFY_WIRE_HDR_LEN : 0;
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

/**
 * rnotify_emit_buf() - a buffer for what operations send of their own
 * @ep: endpoint; lock held
 *
 * Operations complete in order, no more than send_depth are posted, and none
 * takes more than one on average: the next one is free.
 *
 * Return: index in the endpoint's send_bufs.
 */
u32 rnotify_emit_buf(struct rnotify_ep *ep)
{
	u32 i = ep->buf_next;

	ep->buf_next = i + 1 == ep->params.send_depth ? 0 : i + 1;
	return RNOTIFY_SQ_CTRL + i;
}

/* Header of a message and inline bytes go to a buffer. */
static void fill_buf(struct rnotify_build *b)
{
	struct rnotify_bufs *bufs = &b->ep->send_bufs;
	u64 dma;
	u8 *va;

	if (!b->inl && !hdr_len(b))
		return;
	b->buf = rnotify_emit_buf(b->ep);
	b->buf_at = RNOTIFY_SEND_HDR;
	va = rnotify_bufs_va(bufs, b->buf);
	dma = rnotify_bufs_dma(bufs, b->buf);
	ib_dma_sync_single_for_cpu(bufs->ib, dma, RNOTIFY_SEND_BUF,
				   DMA_TO_DEVICE);
	if (hdr_len(b))
		put_hdr(b, va);
	if (b->inl)
		memcpy(va + b->buf_at, b->inl, b->op->length);
	ib_dma_sync_single_for_device(bufs->ib, dma, RNOTIFY_SEND_BUF,
				      DMA_TO_DEVICE);
}

/**
 * rnotify_emit_remote() - the remote side of a work request
 * @b: operation; lock held
 * @wr: work request
 * @pos: first byte of the operation that it moves
 */
void rnotify_emit_remote(const struct rnotify_build *b, union rnotify_wr *wr,
			 u32 pos)
{
	u64 addr, chunk;
	u32 rkey;

	if (!b->remote || !b->op->length)
		return;
	addr = rnotify_build_addr(b, pos);
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

	if (rnotify_is_send(b->info)) {
		put_hdr_sge(b, sge);
		hdr = 1;
	}
	got = rnotify_emit_sge(b, pos, remote_left(b, pos), sge + hdr,
			       max_sge(b), &nr);
	wr->wr.num_sge = hdr + nr;
	rnotify_emit_remote(b, wr, pos);
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

/**
 * rnotify_emit() - add an operation to the endpoint's chain
 * @b: admitted operation; lock held
 */
void rnotify_emit(struct rnotify_build *b)
{
	struct rnotify_tx *tx;
	u32 pos = 0, i;

	fill_buf(b);
	for (i = 0; i < b->nr_wrs; i++) {
		tx = rnotify_tx_slot(b->ep, b->slot + i);
		if (tx->last && b->notify)
			add_notify(b, tx);
		else
			pos += add_wr(b, tx, pos);
	}
}
