/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: event ring and events.
 *
 * Included by <linux/rnotify.h>, where the ABI's general rules stand.
 */
#ifndef _UAPI_LINUX_RNOTIFY_EVENT_H
#define _UAPI_LINUX_RNOTIFY_EVENT_H

#include <linux/types.h>

/**
 * DOC: Event ring and its memory model
 *
 * The ring is written by the kernel and read by the user through two mappings:
 * the head page and the entries are read-only for the user; the tail page
 * belongs to the user. Indices are free-running u32; entry i is at
 * (i & (entries - 1)).
 *
 * ====  =======================  ===================  ======================
 * step  who                      does                 pairs with
 * ====  =======================  ===================  ======================
 * A     kernel                   writes entry
 * B     kernel                   store-release prod   C
 * C     user                     load-acquire prod    B
 * D     user                     reads entry
 * E     user                     store-release cons   F
 * F     kernel                   load-acquire cons    E; then entry is reused
 * G     user, before it sleeps   E; full barrier;     H (system calls that
 *       or after it consumed     load need_kick       sleep do it inside)
 * H     kernel                   B or store           G
 *                                need_kick; full
 *                                barrier; load cons
 * ====  =======================  ===================  ======================
 *
 * B-C and "the CQE is read before the entry is written" give: who sees an
 * entry sees all the bytes that it announces, and those of all earlier
 * operations of that endpoint. G-H is a store-buffering pair: either the user
 * sees need_kick (or the new prod), or the kernel sees the new cons. An eventfd and
 * edge-triggered epoll know nothing of the ring: before sleeping on one of them the
 * user passes G itself, and looks at prod once more.
 *
 * The kernel never acts on anything read from the tail page but through a
 * range check against private copies: a wrong cons loses or stalls events of
 * this context only, and is counted in rnotify_ring_head.bad_cons.
 *
 * No entry is ever overwritten before it is consumed: all producers hold
 * reservations whose sum never exceeds the ring.
 */

/**
 * struct rnotify_ring_head - first page of the ring mapping (read-only)
 * @prod: entries produced so far, modulo 2^32 (step B)
 * @need_kick: not 0: the kernel wants RNOTIFY_IOCTL_KICK after the next step
 *	E, since a peer waits for the credit of consumed events
 * @reserved0: 0
 * @entries: entries in the ring, a power of two
 * @entry_size: sizeof(struct rnotify_event)
 * @entries_offset: byte offset of entry 0 from the start of this mapping
 * @msg_size: bytes of a message slot
 * @bad_cons: how often the tail page held an impossible cons
 * @reserved: 0
 */
struct rnotify_ring_head {
	__u32 prod __attribute__((aligned(64)));
	__u32 need_kick;
	__u32 reserved0[14];
	__u32 entries __attribute__((aligned(64)));
	__u32 entry_size;
	__u32 entries_offset;
	__u32 msg_size;
	__u64 bad_cons;
	__u32 reserved[10];
};

/**
 * struct rnotify_ring_tail - the consumer page (read-write)
 * @cons: entries consumed so far, modulo 2^32 (step E)
 * @reserved: leave at 0
 */
struct rnotify_ring_tail {
	__u32 cons __attribute__((aligned(64)));
	__u32 reserved[15];
};

/**
 * enum rnotify_event_type - rnotify_event.type
 * @RNOTIFY_EVENT_NONE: never in the ring
 * @RNOTIFY_EVENT_NOTIFY: the peer's WRITE_IMM or NOTIFY was placed
 * @RNOTIFY_EVENT_MESSAGE: the peer's SEND or SEND_IMM arrived
 * @RNOTIFY_EVENT_TX_DONE: outcome of a posted operation
 * @RNOTIFY_EVENT_CONNECT_REQUEST: a peer asks a listener; accept or reject
 * @RNOTIFY_EVENT_ESTABLISHED: the endpoint can be used
 * @RNOTIFY_EVENT_REMOTE_REGION: the peer shared a region with this endpoint
 * @RNOTIFY_EVENT_REMOTE_REGION_GONE: the peer took it back; operations on it
 *	that are posted from now on get %ENOENT
 * @RNOTIFY_EVENT_WRITABLE: a post that got %EAGAIN, or a SHARE that got %EMFILE,
 *	can be tried again
 * @RNOTIFY_EVENT_DISCONNECTED: the last event of an endpoint
 * @RNOTIFY_EVENT_LISTENER_DOWN: the last event of a listener that lost its
 *	device
 * @RNOTIFY_EVENT_COUNTER: a counter reached the threshold of a watch
 * @RNOTIFY_EVENT_SLOTS: a slot table turned from clean to dirty
 *
 * New types may come: skip what you don't know.
 */
enum rnotify_event_type {
	RNOTIFY_EVENT_NONE = 0,
	RNOTIFY_EVENT_NOTIFY = 1,
	RNOTIFY_EVENT_MESSAGE = 2,
	RNOTIFY_EVENT_TX_DONE = 3,
	RNOTIFY_EVENT_CONNECT_REQUEST = 4,
	RNOTIFY_EVENT_ESTABLISHED = 5,
	RNOTIFY_EVENT_REMOTE_REGION = 6,
	RNOTIFY_EVENT_REMOTE_REGION_GONE = 7,
	RNOTIFY_EVENT_WRITABLE = 8,
	RNOTIFY_EVENT_DISCONNECTED = 9,
	RNOTIFY_EVENT_LISTENER_DOWN = 10,
	RNOTIFY_EVENT_COUNTER = 13,
	RNOTIFY_EVENT_SLOTS = 14,
};

/**
 * enum rnotify_event_flags - rnotify_event.flags
 * @RNOTIFY_EVENT_F_IMM: imm is valid (always for NOTIFY; for MESSAGE if the
 *	peer used SEND_IMM). "imm 0" and "no imm" differ by this flag
 * @RNOTIFY_EVENT_F_URGENT: a rule with RNOTIFY_RULE_URGENT made this NOTIFY
 */
enum rnotify_event_flags {
	RNOTIFY_EVENT_F_IMM = 1u << 0,
	RNOTIFY_EVENT_F_URGENT = 1u << 1,
};

/**
 * enum rnotify_reason - why an endpoint ended (rnotify_event_down.reason)
 * @RNOTIFY_REASON_NONE: not ended
 * @RNOTIFY_REASON_LOCAL_CLOSE: DISCONNECT or DESTROY by this process; with
 *	%ETIMEDOUT: DESTROY of a region that operations would not let go of
 * @RNOTIFY_REASON_PEER_CLOSE: the peer said goodbye, or disconnected without; the
 *	latter whatever ended it, as long as it was not established
 * @RNOTIFY_REASON_PEER_EXIT: the peer's process ended, or closed its fd,
 *	without closing the endpoint first
 * @RNOTIFY_REASON_PEER_LOST: no answer from the peer's host within the
 *	keepalive time or the transport's retries
 * @RNOTIFY_REASON_REJECTED: the peer rejected the connection; error tells what
 *	its kernel said: %ECONNREFUSED for its application, %EBUSY for a full
 *	backlog
 * @RNOTIFY_REASON_UNREACHABLE: no device or no route, or no answer of the peer's
 *	connection manager
 * @RNOTIFY_REASON_TIMEOUT: not established within connect_timeout_ms. An address
 *	that nobody answers for is asked for until then (stage RESOLVE_ADDR)
 * @RNOTIFY_REASON_PROTOCOL: the peer broke the wire protocol
 * @RNOTIFY_REASON_TRANSPORT: a work request failed (ib_status tells how)
 * @RNOTIFY_REASON_DEVICE_REMOVED: the RDMA device was removed
 * @RNOTIFY_REASON_RESOURCES: the kernel could not get memory or QP resources
 * @RNOTIFY_REASON_VERSION: no common protocol version
 */
enum rnotify_reason {
	RNOTIFY_REASON_NONE = 0,
	RNOTIFY_REASON_LOCAL_CLOSE = 1,
	RNOTIFY_REASON_PEER_CLOSE = 2,
	RNOTIFY_REASON_PEER_EXIT = 3,
	RNOTIFY_REASON_PEER_LOST = 4,
	RNOTIFY_REASON_REJECTED = 5,
	RNOTIFY_REASON_UNREACHABLE = 6,
	RNOTIFY_REASON_TIMEOUT = 7,
	RNOTIFY_REASON_PROTOCOL = 8,
	RNOTIFY_REASON_TRANSPORT = 9,
	RNOTIFY_REASON_DEVICE_REMOVED = 10,
	RNOTIFY_REASON_RESOURCES = 11,
	RNOTIFY_REASON_VERSION = 12,
};

/**
 * enum rnotify_stage - what an endpoint was doing when it ended
 * @RNOTIFY_STAGE_NONE: nothing yet
 * @RNOTIFY_STAGE_RESOLVE_ADDR: looking for a local device and the peer's
 *	hardware address
 * @RNOTIFY_STAGE_RESOLVE_ROUTE: looking for a path
 * @RNOTIFY_STAGE_SETUP: making PD, CQ and QP
 * @RNOTIFY_STAGE_CONNECT: waiting for the peer's answer
 * @RNOTIFY_STAGE_ACCEPT: request pending, or answered and not yet confirmed
 * @RNOTIFY_STAGE_ESTABLISHED: in use
 */
enum rnotify_stage {
	RNOTIFY_STAGE_NONE = 0,
	RNOTIFY_STAGE_RESOLVE_ADDR = 1,
	RNOTIFY_STAGE_RESOLVE_ROUTE = 2,
	RNOTIFY_STAGE_SETUP = 3,
	RNOTIFY_STAGE_CONNECT = 4,
	RNOTIFY_STAGE_ACCEPT = 5,
	RNOTIFY_STAGE_ESTABLISHED = 6,
};

/**
 * struct rnotify_event_notify - NOTIFY and MESSAGE
 * @imm: immediate data, host order; valid with RNOTIFY_EVENT_F_IMM
 * @byte_len: bytes written or sent, 0 for a bare notification
 * @msg_offset: MESSAGE: byte offset of the payload in the message area. It
 *	stays there until the event is consumed
 * @reserved: 0
 */
struct rnotify_event_notify {
	__u32 imm;
	__u32 byte_len;
	__u64 msg_offset;
	__u64 reserved[2];
};

/**
 * struct rnotify_event_tx - TX_DONE
 * @user_data: of the operation
 * @error: 0, or a negative errno. Success of an operation that notifies means
 *	that the notification is at the peer. Failure does *not* mean that it
 *	is not
 * @opcode: &enum rnotify_opcode
 * @ib_status: enum ib_wc_status of the failed work request
 * @vendor_err: the device's own code, 0 if none
 * @byte_len: bytes of the operation
 * @reserved: 0
 */
struct rnotify_event_tx {
	__u64 user_data;
	__s32 error;
	__u16 opcode;
	__u16 ib_status;
	__u32 vendor_err;
	__u32 byte_len;
	__u64 reserved;
};

/**
 * struct rnotify_event_region - REMOTE_REGION and REMOTE_REGION_GONE
 * @remote_id: names the region in operations of this endpoint; never 0
 * @rights: &enum rnotify_rights that the peer granted
 * @length: bytes that can be reached, from offset 0
 * @tag: the peer's own mark, from rnotify_share.tag
 * @reserved: 0
 */
struct rnotify_event_region {
	__u32 remote_id;
	__u32 rights;
	__u64 length;
	__u64 tag;
	__u64 reserved;
};

/**
 * struct rnotify_event_request - CONNECT_REQUEST
 * @listener: id of the listener; rnotify_event.endpoint is the new endpoint
 * @private_len: bytes of private data that the peer sent
 * @private_data: those bytes, then zeroes; RNOTIFY_IOCTL_ENDPOINT_INFO has all
 *	of them
 */
struct rnotify_event_request {
	__u32 listener;
	__u32 private_len;
	__u8 private_data[24];
};

/**
 * struct rnotify_event_down - DISCONNECTED and LISTENER_DOWN
 * @reason: &enum rnotify_reason
 * @stage: &enum rnotify_stage
 * @error: negative errno that fits best
 * @ib_status: enum ib_wc_status of the first failed work request, else 0
 * @vendor_err: with ib_status; or the CM's reject code; or enum ib_event_type
 *	of an asynchronous error of the queue pair; or, with PEER_CLOSE and
 *	PEER_EXIT in stage ESTABLISHED, &enum rnotify_reason as the peer sees
 *	it, 0 if it did not say
 * @delivered: notifications and messages delivered to this context, be it as
 *	events or as its rules say
 * @confirmed: own notifications and messages that the peer's kernel has
 */
struct rnotify_event_down {
	__u16 reason;
	__u16 stage;
	__s32 error;
	__u32 ib_status;
	__u32 vendor_err;
	__u64 delivered;
	__u64 confirmed;
};

/**
 * struct rnotify_event_counter - COUNTER
 * @count: what the counter had counted when the event was written: at least
 *	@threshold, unless it was reset in between
 * @bytes: and the bytes
 * @threshold: the one that was reached
 * @watch: id of the watch
 * @reserved: 0
 */
struct rnotify_event_counter {
	__u64 count;
	__u64 bytes;
	__u64 threshold;
	__u32 watch;
	__u32 reserved;
};

/**
 * struct rnotify_event_slots - SLOTS
 * @nr_dirty: dirty slots when the event was written
 * @reserved: 0
 * @changes: how often the table turned from clean to dirty so far
 * @reserved2: 0
 */
struct rnotify_event_slots {
	__u32 nr_dirty;
	__u32 reserved;
	__u64 changes;
	__u64 reserved2[2];
};

/**
 * struct rnotify_event - one ring entry: 64 bytes, one cache line
 * @type: &enum rnotify_event_type
 * @flags: &enum rnotify_event_flags
 * @endpoint: id of the endpoint (of the listener, for LISTENER_DOWN; of the
 *	counter or slot table, for COUNTER and SLOTS)
 * @cookie: what the user gave at CONNECT, ACCEPT or LISTEN (or for the watch or
 *	slot table)
 * @seq: number of this NOTIFY or MESSAGE on its endpoint, from 1, without
 *	gaps, but for notifications that rules sent elsewhere: they have numbers
 *	as well. For other types the number of the latest one before it; 0 for
 *	COUNTER and SLOTS
 * @time_ns: CLOCK_MONOTONIC when the kernel wrote the entry, nanoseconds
 * @notify: NOTIFY, MESSAGE
 * @tx: TX_DONE
 * @region: REMOTE_REGION, REMOTE_REGION_GONE
 * @request: CONNECT_REQUEST
 * @down: DISCONNECTED, LISTENER_DOWN
 * @counter: COUNTER
 * @slots: SLOTS
 * @raw: all of it
 */
struct rnotify_event {
	__u16 type;
	__u16 flags;
	__u32 endpoint;
	__u64 cookie;
	__u64 seq;
	__u64 time_ns;
	union {
		struct rnotify_event_notify notify;
		struct rnotify_event_tx tx;
		struct rnotify_event_region region;
		struct rnotify_event_request request;
		struct rnotify_event_down down;
		struct rnotify_event_counter counter;
		struct rnotify_event_slots slots;
		__u64 raw[4];
	};
};

#endif /* _UAPI_LINUX_RNOTIFY_EVENT_H */
