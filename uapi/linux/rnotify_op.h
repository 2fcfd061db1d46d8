/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: operations and how they are posted.
 *
 * Included by <linux/rnotify.h>, where the ABI's general rules stand.
 */
#ifndef _UAPI_LINUX_RNOTIFY_OP_H
#define _UAPI_LINUX_RNOTIFY_OP_H

#include <linux/types.h>

/**
 * enum rnotify_opcode - rnotify_op.opcode
 * @RNOTIFY_OP_WRITE: local memory to remote region
 * @RNOTIFY_OP_WRITE_IMM: the same, then a NOTIFY event at the peer; takes a
 *	credit
 * @RNOTIFY_OP_NOTIFY: only a NOTIFY event; takes a credit. No memory, no
 *	length
 * @RNOTIFY_OP_READ: remote region to local memory
 * @RNOTIFY_OP_SEND: local memory to a MESSAGE event at the peer; takes a
 *	credit
 * @RNOTIFY_OP_SEND_IMM: the same with an imm
 * @RNOTIFY_OP_FETCH_ADD: 8 bytes at remote_offset += operand; the old value
 *	goes to local memory. Both aligned to 8
 * @RNOTIFY_OP_CMP_SWAP: if the 8 bytes equal operand, they become swap; the
 *	old value goes to local memory
 */
enum rnotify_opcode {
	RNOTIFY_OP_WRITE = 1,
	RNOTIFY_OP_WRITE_IMM = 2,
	RNOTIFY_OP_NOTIFY = 3,
	RNOTIFY_OP_READ = 4,
	RNOTIFY_OP_SEND = 5,
	RNOTIFY_OP_SEND_IMM = 6,
	RNOTIFY_OP_FETCH_ADD = 7,
	RNOTIFY_OP_CMP_SWAP = 8,
};

/**
 * enum rnotify_op_flags - rnotify_op.flags
 * @RNOTIFY_OP_F_SIGNALED: I want a TX_DONE event
 * @RNOTIFY_OP_F_FENCE: start after all earlier READs and atomics of the
 *	endpoint
 * @RNOTIFY_OP_F_INLINE: local_offset is a user pointer to @length bytes, at
 *	most RNOTIFY_INLINE_MAX, copied at once; region_id must be 0. For the
 *	WRITEs and SENDs
 */
enum rnotify_op_flags {
	RNOTIFY_OP_F_SIGNALED = 1u << 0,
	RNOTIFY_OP_F_FENCE = 1u << 1,
	RNOTIFY_OP_F_INLINE = 1u << 2,
};

/**
 * struct rnotify_op - one operation
 * @opcode: &enum rnotify_opcode
 * @flags: &enum rnotify_op_flags
 * @endpoint_id: established endpoint
 * @user_data: returned in TX_DONE
 * @region_id: local region; 0 if @length is 0, or with RNOTIFY_OP_F_INLINE
 * @remote_id: remote region of that endpoint
 * @local_offset: in the local region, bytes
 * @remote_offset: in the remote region, bytes
 * @length: bytes, at most RNOTIFY_OP_LEN_MAX; 8 for the atomics
 * @imm: immediate data for WRITE_IMM, SEND_IMM and NOTIFY, host order
 * @operand: FETCH_ADD: addend; CMP_SWAP: compared value
 * @swap: CMP_SWAP: new value
 *
 * The source of a WRITE or SEND is read by the device until the operation is
 * complete (also again, when a packet is lost): don't change it before.
 * Members that an operation does not use must be 0 (else %EINVAL).
 *
 * Errnos of one operation: %EINVAL (length, alignment, a READ of no bytes),
 * %EOPNOTSUPP (opcode, flags, atomics on a device without), %ENOENT (endpoint,
 * region or remote region), %ERANGE (offset and length beyond a region), %EACCES
 * (a right the peer didn't grant; or a read-only region as target), %EMSGSIZE
 * (message larger than the peer's message size, or in more pieces than one work
 * request gathers; or more work requests than send_depth), %EFAULT (inline bytes
 * that can't be read), %EIO and %ENOMEM (the region can't be mapped for the
 * device, at its first use there), %ENOTCONN, %ESHUTDOWN (endpoint is closing or
 * closed), %ENODEV (the same, since its device was removed), %EAGAIN (no credit or
 * no room).
 */
struct rnotify_op {
	__u16 opcode;
	__u16 flags;
	__u32 endpoint_id;
	__u64 user_data;
	__u32 region_id;
	__u32 remote_id;
	__u64 local_offset;
	__u64 remote_offset;
	__u32 length;
	__u32 imm;
	__u64 operand;
	__u64 swap;
};

/**
 * enum rnotify_post_flags - rnotify_post.flags
 * @RNOTIFY_POST_NONBLOCK: don't wait for credit or room: %EAGAIN. Also implied
 *	by O_NONBLOCK on the fd. The first use of a region on a device maps it, and
 *	may wait for another thread that shares the region or ends the endpoint
 */
enum rnotify_post_flags {
	RNOTIFY_POST_NONBLOCK = 1u << 0,
};

/**
 * struct rnotify_post - ioctl(RNOTIFY_IOCTL_POST)
 * @size: sizeof(struct rnotify_post)
 * @flags: &enum rnotify_post_flags
 * @ops: user pointer to an array of &struct rnotify_op
 * @nr_ops: entries in it, 1 to 4096
 * @op_size: sizeof(struct rnotify_op)
 * @timeout_ns: when blocking, how long to wait for credit and room, in
 *	nanoseconds from now; negative: for ever; 0: not at all, but then the
 *	error is %ETIMEDOUT, and no WRITABLE follows. Out, after %EINTR: what is
 *	left of it
 * @accepted: out: entries that were posted, from the first
 * @error: out: negative errno of entry @accepted, 0 if all were posted
 *
 * Entries are taken in order up to the first that can't be; nothing behind it
 * is posted. Returns 0 if at least one was accepted, else fails with the errno
 * of the first (%ETIMEDOUT and %EINTR among them). Each accepted operation has
 * one outcome, shown as TX_DONE if it asked for it.
 *
 * Small notifications that stand one behind the other in the array, for the same
 * endpoint, may share packets: NOTIFY, and WRITE_IMM of at most 512 bytes (128
 * inline). They do if that saves a third of the work requests. A bare NOTIFY needs
 * none of its own; WRITE_IMMs that lie side by side in the remote region (each
 * begins where the one before ended) need one together; one more carries all the
 * imms. 16 at most go together, one with FENCE only as the first of them. The
 * receiver sees no difference. When a packet fails that several share, all of
 * them have failed.
 *
 * After an %EAGAIN, also as @error, the context gets one WRITABLE event for that
 * endpoint when a post can succeed again, and poll shows no EPOLLOUT until then
 * (nor while any other endpoint is in that state: with several, go by WRITABLE).
 */
struct rnotify_post {
	__u32 size;
	__u32 flags;
	__u64 ops;
	__u32 nr_ops;
	__u32 op_size;
	__s64 timeout_ns;
	__u32 accepted;
	__s32 error;
};

/**
 * struct rnotify_uring_post - io_uring: POST in io_uring_sqe.cmd
 * @ops: user pointer to an array of &struct rnotify_op
 * @nr_ops: entries in it, 1 to 4096
 * @flags: must be 0
 *
 * IORING_OP_URING_CMD with cmd_op RNOTIFY_IOCTL_POST. Does not wait, as with
 * %RNOTIFY_POST_NONBLOCK. The result is the number of entries accepted, or the
 * negative errno of the first.
 */
struct rnotify_uring_post {
	__u64 ops;
	__u32 nr_ops;
	__u32 flags;
};

#endif /* _UAPI_LINUX_RNOTIFY_OP_H */
