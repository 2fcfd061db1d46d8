/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An operation on its way to the send queue: checked and admitted (op.c), then
 * made into work requests, alone (emit.c) or with others (bundle.c).
 */
#ifndef RNOTIFY_OP_H
#define RNOTIFY_OP_H

#include "ep.h"

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

static inline bool rnotify_is_send(const struct rnotify_opinfo *info)
{
	return !info->right && info->wr_last != IB_WR_RDMA_WRITE_WITH_IMM;
}

/**
 * struct rnotify_build - an admitted operation: all that it needs is taken
 * @ep: endpoint; lock held
 * @op: operation
 * @info: of its opcode
 * @remote: its remote region, or NULL
 * @map: its local region on this device, or NULL
 * @inl: its inline bytes, or NULL
 * @buf: index of the buffer for header and inline bytes, if there are any
 * @buf_at: offset of the inline bytes in it
 * @slot: index of the first of its send queue slots
 * @nr_wrs: work requests that it takes alone, and slots that it has
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
	u32 buf_at;
	u32 slot;
	u32 nr_wrs;
	bool notify;
};

/* Where the operation's byte @pos is in the remote address space. */
static inline u64 rnotify_build_addr(const struct rnotify_build *b, u32 pos)
{
	return b->remote->share.first_offset + b->op->remote_offset + pos;
}

/**
 * struct rnotify_prep - what was looked up for an operation
 * @region: local region, referenced; or NULL
 * @inl: its inline bytes; or NULL
 * @build: once it is admitted, until the lock is released
 */
struct rnotify_prep {
	struct rnotify_region *region;
	u8 *inl;
	struct rnotify_build build;
};

/* op.c */
int rnotify_op_check(const struct rnotify_op *op);
int rnotify_op_check_local(const struct rnotify_op *op,
			   const struct rnotify_region *region);
int rnotify_op_admit(struct rnotify_ep *ep, const struct rnotify_op *op,
		     struct rnotify_prep *prep);

/* emit.c */
u32 rnotify_emit_sge(const struct rnotify_build *b, u64 pos, u32 want,
		     struct ib_sge *sge, u32 max, u32 *nr);
u32 rnotify_emit_count(const struct rnotify_build *b);
u32 rnotify_emit_buf(struct rnotify_ep *ep);
void rnotify_emit_remote(const struct rnotify_build *b, union rnotify_wr *wr,
			 u32 pos);
void rnotify_emit(struct rnotify_build *b);

/* bundle.c */
void rnotify_emit_all(struct rnotify_prep *prep, u32 nr);

#endif /* RNOTIFY_OP_H */
