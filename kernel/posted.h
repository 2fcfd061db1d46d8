/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is posted to an endpoint's queues.
 */
#ifndef RNOTIFY_POSTED_H
#define RNOTIFY_POSTED_H

#include <rdma/ib_verbs.h>

struct rnotify_ep;
struct rnotify_map;
struct rnotify_remote;

/* Which budget of the send queue a work request uses. */
enum rnotify_sq_class {
	RNOTIFY_SQ_CLASS_DATA,
	RNOTIFY_SQ_CLASS_CTRL,
	RNOTIFY_SQ_CLASS_REG,
	RNOTIFY_SQ_CLASSES,
};

/**
 * struct rnotify_tx - a send queue slot: of one posted work request, or of an
 *	operation that shares those of others (bundle.c)
 * @cqe: completion hook
 * @ep: owner (invariant)
 * @map: source or target region, of an operation's last work request
 * @remote: remote region, of an operation's last work request
 * @export: whose memory region it registers
 * @user_data: for TX_DONE
 * @byte_len: of the whole operation
 * @wr_bytes: of this work request
 * @opcode: &enum rnotify_opcode; 0 for the kernel's own
 * @sq_class: &enum rnotify_sq_class
 * @last: last work request of its operation
 * @bundled: its outcome is that of the next slot, too
 * @event: the user wants TX_DONE
 * @credit: took a data credit
 * @ctrl: control buffer to give back, -1 if none
 * @msg_type: type of the control message in it
 *
 * All protected by rnotify_ep.lock. A cache line.
 */
struct rnotify_tx {
	struct ib_cqe cqe;
	struct rnotify_ep *ep;
	struct rnotify_map *map;
	struct rnotify_remote *remote;
	struct rnotify_export *export;
	u64 user_data;
	u32 byte_len;
	u32 wr_bytes;
	u16 opcode;
	u8 sq_class;
	bool last : 1;
	bool bundled : 1;
	bool event : 1;
	bool credit : 1;
	s8 ctrl;
	u8 msg_type;
};

/**
 * struct rnotify_rx - a posted receive
 * @cqe: completion hook
 * @ep: owner (invariant)
 */
struct rnotify_rx {
	struct ib_cqe cqe;
	struct rnotify_ep *ep;
};

/**
 * union rnotify_wr - a work request of any kind that is built in a chain
 * @wr: what they have in common
 * @rdma: READ and the WRITEs
 * @atomic: FETCH_ADD and CMP_SWAP
 */
union rnotify_wr {
	struct ib_send_wr wr;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

#endif /* RNOTIFY_POSTED_H */
