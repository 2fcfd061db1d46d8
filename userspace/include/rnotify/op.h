/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - builders of operations, inline.
 *
 * Each sets all members of an operation; those that it has no argument for are
 * 0, as the kernel demands. Add flags afterwards, for example
 *
 *	rnotify_prep_write_imm(&op, ep, region, 0, remote, 0, len, imm, 42);
 *	op.flags |= RNOTIFY_OP_F_SIGNALED;
 *
 * Regions may be NULL where there are no bytes to move.
 */
#ifndef _RNOTIFY_OP_H
#define _RNOTIFY_OP_H

#include <string.h>

#include <rnotify/rnotify.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void rnotify_prep(struct rnotify_op *op, unsigned int opcode,
				uint32_t endpoint, uint64_t user_data)
{
	memset(op, 0, sizeof(*op));
	op->opcode = (__u16)opcode;
	op->endpoint_id = endpoint;
	op->user_data = user_data;
}

static inline void rnotify_prep_local(struct rnotify_op *op,
				      const struct rnotify_region *region,
				      uint64_t offset, uint32_t len)
{
	if (!len)
		return;
	op->region_id = region ? rnotify_region_id(region) : 0;
	op->local_offset = offset;
	op->length = len;
}

static inline void rnotify_prep_remote(struct rnotify_op *op, uint32_t remote,
				       uint64_t offset)
{
	op->remote_id = remote;
	op->remote_offset = offset;
}

/* Local memory to remote memory. */
static inline void rnotify_prep_write(struct rnotify_op *op, uint32_t endpoint,
				      const struct rnotify_region *region,
				      uint64_t offset, uint32_t remote,
				      uint64_t remote_offset, uint32_t len,
				      uint64_t user_data)
{
	rnotify_prep(op, RNOTIFY_OP_WRITE, endpoint, user_data);
	rnotify_prep_local(op, region, offset, len);
	rnotify_prep_remote(op, remote, remote_offset);
}

/* The same, then a NOTIFY event at the peer. */
static inline void rnotify_prep_write_imm(struct rnotify_op *op,
					  uint32_t endpoint,
					  const struct rnotify_region *region,
					  uint64_t offset, uint32_t remote,
					  uint64_t remote_offset, uint32_t len,
					  uint32_t imm, uint64_t user_data)
{
	rnotify_prep_write(op, endpoint, region, offset, remote, remote_offset,
			   len, user_data);
	op->opcode = RNOTIFY_OP_WRITE_IMM;
	op->imm = imm;
}

/* Only a NOTIFY event at the peer. */
static inline void rnotify_prep_notify(struct rnotify_op *op, uint32_t endpoint,
				       uint32_t imm, uint64_t user_data)
{
	rnotify_prep(op, RNOTIFY_OP_NOTIFY, endpoint, user_data);
	op->imm = imm;
}

/* Remote memory to local memory. */
static inline void rnotify_prep_read(struct rnotify_op *op, uint32_t endpoint,
				     const struct rnotify_region *region,
				     uint64_t offset, uint32_t remote,
				     uint64_t remote_offset, uint32_t len,
				     uint64_t user_data)
{
	rnotify_prep(op, RNOTIFY_OP_READ, endpoint, user_data);
	rnotify_prep_local(op, region, offset, len);
	rnotify_prep_remote(op, remote, remote_offset);
}

/* Local memory to a MESSAGE event at the peer. */
static inline void rnotify_prep_send(struct rnotify_op *op, uint32_t endpoint,
				     const struct rnotify_region *region,
				     uint64_t offset, uint32_t len,
				     uint64_t user_data)
{
	rnotify_prep(op, RNOTIFY_OP_SEND, endpoint, user_data);
	rnotify_prep_local(op, region, offset, len);
}

static inline void rnotify_prep_send_imm(struct rnotify_op *op,
					 uint32_t endpoint,
					 const struct rnotify_region *region,
					 uint64_t offset, uint32_t len,
					 uint32_t imm, uint64_t user_data)
{
	rnotify_prep_send(op, endpoint, region, offset, len, user_data);
	op->opcode = RNOTIFY_OP_SEND_IMM;
	op->imm = imm;
}

/* 8 remote bytes += addend; the old value goes to local memory. */
static inline void rnotify_prep_fetch_add(struct rnotify_op *op,
					  uint32_t endpoint,
					  const struct rnotify_region *region,
					  uint64_t offset, uint32_t remote,
					  uint64_t remote_offset,
					  uint64_t addend, uint64_t user_data)
{
	rnotify_prep_read(op, endpoint, region, offset, remote, remote_offset, 8,
			  user_data);
	op->opcode = RNOTIFY_OP_FETCH_ADD;
	op->operand = addend;
}

/* 8 remote bytes become swap if they equal compare; the old value is fetched. */
static inline void rnotify_prep_cmp_swap(struct rnotify_op *op,
					 uint32_t endpoint,
					 const struct rnotify_region *region,
					 uint64_t offset, uint32_t remote,
					 uint64_t remote_offset,
					 uint64_t compare, uint64_t swap,
					 uint64_t user_data)
{
	rnotify_prep_fetch_add(op, endpoint, region, offset, remote,
			       remote_offset, compare, user_data);
	op->opcode = RNOTIFY_OP_CMP_SWAP;
	op->swap = swap;
}

/*
 * Make the source of a WRITE or SEND (prepared with a NULL region) the bytes at
 * @data: copied when posted, at most RNOTIFY_INLINE_MAX.
 */
static inline void rnotify_op_inline(struct rnotify_op *op, const void *data)
{
	op->flags |= RNOTIFY_OP_F_INLINE;
	op->region_id = 0;
	op->local_offset = (uintptr_t)data;
}

#ifdef __cplusplus
}
#endif

#endif /* _RNOTIFY_OP_H */
