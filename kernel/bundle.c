// SPDX-License-Identifier: GPL-2.0
/*
 * Small notifications that are posted together share packets.
 *
 * A packet costs the same whatever is in it, and a WRITE WITH IMMEDIATE is at least
 * one for each notification. So of consecutive ones in a batch, those that lie side
 * by side in the peer's memory are written by one WRITE, and one NOTIFY behind all
 * WRITEs carries immediate data and lengths. The receiver's user sees no difference:
 * an event each, in order, after the bytes. It is done only if it saves enough work
 * requests, and with a peer that takes it (RNOTIFY_WIRE_FEATURE_RECORDS).
 *
 * Each operation keeps its slot, credit and outcome. Nobody is told of the
 * notifications before the NOTIFY, so none is done before that: the slots of the
 * others are marked, and complete with its slot (tx.c). The work requests, of which
 * there are fewer, use the first slots, and the NOTIFY the last.
 */
#include "chunk.h"
#include "op.h"

/*
 * Longest operation that is bundled: two of them still share a packet of 1024
 * bytes, the path MTU of soft-RoCE on Ethernet. Longer ones have less to gain.
 */
#define BUNDLE_BYTES		512u
/* The same if it is inline, for two of them to share a buffer. */
#define BUNDLE_INLINE		(RNOTIFY_INLINE_MAX / 2)

/**
 * struct write - the WRITE that notifications are being joined to
 * @first: first of them; NULL: there is none
 * @end: remote address behind the last
 * @nr_sge: scatter elements, if no two of them are one
 * @nr: which WRITE of the bundle it is, from 1
 */
struct write {
	const struct rnotify_build *first;
	u64 end;
	u32 nr_sge;
	u32 nr;
};

/* Has the peer to know of it, and could it share a packet? */
static bool may_bundle(const struct rnotify_build *b)
{
	u32 max = b->inl ? BUNDLE_INLINE : BUNDLE_BYTES;

	return b->info->imm && !rnotify_is_send(b->info) && b->nr_wrs == 1 &&
	       b->op->length <= max;
}

static bool same_chunk(const struct rnotify_remote *remote, u64 a, u64 b)
{
	u8 shift = remote->share.chunk_shift;

	return rnotify_chunk_index(a, shift) == rnotify_chunk_index(b, shift);
}

/* Joins an operation to the WRITE. Return: true if a new one had to begin. */
static bool write_join(struct write *w, const struct rnotify_build *b)
{
	u64 addr = rnotify_build_addr(b, 0);
	u32 len = b->op->length, nr;
	bool joins;

	rnotify_emit_sge(b, 0, len, NULL, b->ep->max_sge, &nr);
	joins = w->first && w->first->remote == b->remote && w->end == addr &&
		same_chunk(b->remote, rnotify_build_addr(w->first, 0),
			   addr + len - 1) &&
		w->nr_sge + nr <= b->ep->max_sge;
	if (!joins) {
		w->first = b;
		w->nr_sge = 0;
		w->nr++;
	}
	w->nr_sge += nr;
	w->end = addr + len;
	return !joins;
}

/*
 * Is it worth it? The first of a bundle is not seen before its last, so a third of
 * the work requests has to be saved.
 */
static bool worth(u32 nr, u32 nr_writes)
{
	return 3 * (nr_writes + 1) <= 2 * nr;
}

/*
 * Looks at the operations from here on up to one that can't be in a bundle.
 * Return: how many make a bundle; 0: none, and @alone go one by one.
 */
static u32 bundle_size(const struct rnotify_prep *prep, u32 nr, u32 *alone)
{
	struct write w = {};
	u32 n, best = 0;

	*alone = 1;
	if (!(prep->build.ep->hello.features & RNOTIFY_WIRE_FEATURE_RECORDS))
		return 0;
	nr = min(nr, RNOTIFY_WIRE_RECORDS_MAX);
	for (n = 0; n < nr && may_bundle(&prep[n].build); n++) {
		/* A fence holds up what is behind it, not what is before. */
		if (n && (prep[n].build.op->flags & RNOTIFY_OP_F_FENCE))
			break;
		if (prep[n].build.op->length)
			write_join(&w, &prep[n].build);
		if (worth(n + 1, w.nr))
			best = n + 1;
	}
	*alone = max(n, 1u);
	return best;
}

/**
 * struct bundle - what is being put together
 * @ep: endpoint; lock held
 * @slot: index of the first operation's slot
 * @buf: buffer for inline bytes
 * @at: where the next ones go in it; beyond its end if there is none yet
 * @flags: IB_SEND_FENCE until it is set on the first work request
 */
struct bundle {
	struct rnotify_ep *ep;
	u32 slot;
	u32 buf;
	u32 at;
	int flags;
};

/*
 * Inline bytes, one behind the other. Two at least fit a buffer: with the one for
 * the NOTIFY there are no more buffers than operations.
 */
static void pack_inline(struct bundle *bundle, struct rnotify_build *b)
{
	struct rnotify_bufs *bufs = &bundle->ep->send_bufs;
	u64 dma;

	if (!b->inl)
		return;
	if (bundle->at + b->op->length > RNOTIFY_SEND_BUF) {
		bundle->buf = rnotify_emit_buf(bundle->ep);
		bundle->at = 0;
	}
	b->buf = bundle->buf;
	b->buf_at = bundle->at;
	bundle->at += b->op->length;

	dma = rnotify_bufs_dma(bufs, b->buf) + b->buf_at;
	ib_dma_sync_single_for_cpu(bufs->ib, dma, b->op->length, DMA_TO_DEVICE);
	memcpy(rnotify_bufs_va(bufs, b->buf) + b->buf_at, b->inl,
	       b->op->length);
	ib_dma_sync_single_for_device(bufs->ib, dma, b->op->length,
				      DMA_TO_DEVICE);
}

static union rnotify_wr *add_wr(struct bundle *bundle, u32 slot,
				enum ib_wr_opcode opcode)
{
	union rnotify_wr *wr;

	wr = rnotify_chain_add(bundle->ep, rnotify_tx_slot(bundle->ep, slot));
	wr->wr.opcode = opcode;
	wr->wr.send_flags = bundle->flags;
	bundle->flags = 0;
	return wr;
}

/* Scatter elements; the first may go on where the last one ends. */
static void add_sge(const struct rnotify_build *b, struct ib_send_wr *wr)
{
	struct ib_sge *sge = wr->sg_list + wr->num_sge;
	u32 nr, i;

	rnotify_emit_sge(b, 0, b->op->length, sge,
			 b->ep->max_sge - wr->num_sge, &nr);
	if (wr->num_sge && sge[-1].addr + sge[-1].length == sge[0].addr) {
		sge[-1].length += sge[0].length;
		for (i = 1; i < nr; i++)
			sge[i - 1] = sge[i];
		nr--;
	}
	wr->num_sge += nr;
}

static void add_writes(struct bundle *bundle, struct rnotify_prep *prep, u32 nr)
{
	union rnotify_wr *wr = NULL;
	struct write w = {};
	u32 i;

	for (i = 0; i < nr; i++) {
		struct rnotify_build *b = &prep[i].build;

		if (!b->op->length)
			continue;
		pack_inline(bundle, b);
		if (write_join(&w, b)) {
			wr = add_wr(bundle, bundle->slot + w.nr - 1,
				    IB_WR_RDMA_WRITE);
			rnotify_emit_remote(b, wr, 0);
		}
		add_sge(b, &wr->wr);
	}
}

/* The NOTIFY's bytes. Return: how many. */
static u32 put_records(struct rnotify_ep *ep, u32 buf,
		       const struct rnotify_prep *prep, u32 nr)
{
	struct rnotify_wire_record records[RNOTIFY_WIRE_RECORDS_MAX];
	const struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_NOTIFY,
		.notify = { .nr = nr, .records = records },
	};
	u64 dma = rnotify_bufs_dma(&ep->send_bufs, buf);
	struct ib_device *ib = ep->send_bufs.ib;
	int len;
	u32 i;

	for (i = 0; i < nr; i++) {
		records[i].imm = cpu_to_le32(prep[i].build.op->imm);
		records[i].byte_len = cpu_to_le32(prep[i].build.op->length);
	}
	ib_dma_sync_single_for_cpu(ib, dma, RNOTIFY_SEND_BUF, DMA_TO_DEVICE);
	len = rnotify_wire_put_msg(rnotify_bufs_va(&ep->send_bufs, buf),
				   RNOTIFY_SEND_BUF, &msg);
	ib_dma_sync_single_for_device(ib, dma, RNOTIFY_SEND_BUF, DMA_TO_DEVICE);
	WARN_ON_ONCE(len < 0);
	return max(len, 0);
}

static void add_notify(struct bundle *bundle, const struct rnotify_prep *prep,
		       u32 nr)
{
	struct rnotify_ep *ep = bundle->ep;
	u32 buf = rnotify_emit_buf(ep);
	union rnotify_wr *wr;
	u32 i;

	wr = add_wr(bundle, bundle->slot + nr - 1, IB_WR_SEND);
	wr->wr.sg_list[0] = (struct ib_sge){
		.addr = rnotify_bufs_dma(&ep->send_bufs, buf),
		.length = put_records(ep, buf, prep, nr),
		.lkey = ep->pd->local_dma_lkey,
	};
	wr->wr.num_sge = 1;
	for (i = 0; i < nr; i++) {
		if (prep[i].build.op->flags & RNOTIFY_OP_F_SIGNALED)
			wr->wr.send_flags |= IB_SEND_SIGNALED;
	}
}

static void emit_bundle(struct rnotify_prep *prep, u32 nr)
{
	const struct rnotify_build *first = &prep->build;
	struct bundle bundle = {
		.ep = first->ep,
		.slot = first->slot,
		.at = RNOTIFY_SEND_BUF,
		.flags = first->op->flags & RNOTIFY_OP_F_FENCE ?
			 IB_SEND_FENCE : 0,
	};
	u32 i;

	/* Before any of it is posted. */
	for (i = 0; i < nr - 1; i++)
		rnotify_tx_slot(bundle.ep, bundle.slot + i)->bundled = true;
	add_writes(&bundle, prep, nr);
	add_notify(&bundle, prep, nr);
	bundle.ep->tx_bundled += nr;
}

/**
 * rnotify_emit_all() - add operations to the endpoint's chain
 * @prep: they; admitted one after the other, all of one endpoint; lock held
 * @nr: how many
 */
void rnotify_emit_all(struct rnotify_prep *prep, u32 nr)
{
	u32 n, alone;

	for (; nr; prep += n, nr -= n) {
		n = bundle_size(prep, nr, &alone);
		if (n) {
			emit_bundle(prep, n);
			continue;
		}
		for (n = 0; n < alone; n++)
			rnotify_emit(&prep[n].build);
	}
}
