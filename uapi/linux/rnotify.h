/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: the user ABI.
 *
 * This header is the reference. All integers are in host byte order; nothing
 * that the user sees is big-endian, immediate data included.
 */
#ifndef _UAPI_LINUX_RNOTIFY_H
#define _UAPI_LINUX_RNOTIFY_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General ioctl format
 *
 * One open of /dev/rnotify is one *context*. All commands are ioctls on it.
 * Each takes a pointer to a struct whose first member is the size of that
 * struct as the caller knows it, so that structs can grow at their end:
 *
 * - size smaller than the first published version: %EINVAL;
 * - size larger than the kernel knows: accepted if all the additional bytes
 *   are zero, %E2BIG otherwise;
 * - size smaller than the kernel knows: missing members are taken as zero, and
 *   not written back.
 *
 * The errnos that have one meaning for all commands:
 *
 * - %ENOTTY: no such command;
 * - %E2BIG: a larger struct, with something in the part unknown to the kernel;
 * - %EOPNOTSUPP: an unknown flag or enum value, or a reserved member not zero;
 * - %EINVAL: a known member has a value that can never be right;
 * - %ENOENT: an id that this context does not hold, or of another type;
 * - %EFAULT: a pointer that cannot be read or written;
 * - %ENOMEM: memory (never a limit of the caller's: see %EPERM and %ENOSPC);
 * - %EPERM: RLIMIT_MEMLOCK would be exceeded (needed and allowed bytes are
 *   written back by RNOTIFY_IOCTL_REGISTER);
 * - %ENOSPC: the event ring is too small for one more reservation;
 * - %EBADFD: RNOTIFY_IOCTL_SETUP has not been done, or was done already;
 * - %ENODEV: the RDMA device is gone;
 * - %EINTR: a signal ended the wait (SA_RESTART does not apply).
 *
 * Object ids are u32, unique within a context across all object types, never
 * 0, and reused as late as possible.
 */

#define RNOTIFY_ABI_VERSION	1

/* Unused in Documentation/userspace-api/ioctl/ioctl-number.rst up to 6.12. */
#define RNOTIFY_IOCTL_TYPE	0xBC

enum {
	RNOTIFY_CMD_QUERY = 0x00,
	RNOTIFY_CMD_SETUP,
	RNOTIFY_CMD_REGISTER,
	RNOTIFY_CMD_LISTEN,
	RNOTIFY_CMD_CONNECT,
	RNOTIFY_CMD_ACCEPT,
	RNOTIFY_CMD_REJECT,
	RNOTIFY_CMD_DISCONNECT,
	RNOTIFY_CMD_DESTROY,
	RNOTIFY_CMD_SHARE,
	RNOTIFY_CMD_POST,
	RNOTIFY_CMD_WAIT,
	RNOTIFY_CMD_KICK,
	RNOTIFY_CMD_EVENTFD,
	RNOTIFY_CMD_ENDPOINT_INFO,
};

#define RNOTIFY_IOCTL_QUERY	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_QUERY)
#define RNOTIFY_IOCTL_SETUP	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_SETUP)
#define RNOTIFY_IOCTL_REGISTER	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_REGISTER)
#define RNOTIFY_IOCTL_LISTEN	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_LISTEN)
#define RNOTIFY_IOCTL_CONNECT	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_CONNECT)
#define RNOTIFY_IOCTL_ACCEPT	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_ACCEPT)
#define RNOTIFY_IOCTL_REJECT	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_REJECT)
#define RNOTIFY_IOCTL_DISCONNECT _IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_DISCONNECT)
#define RNOTIFY_IOCTL_DESTROY	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_DESTROY)
#define RNOTIFY_IOCTL_SHARE	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_SHARE)
#define RNOTIFY_IOCTL_POST	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_POST)
#define RNOTIFY_IOCTL_WAIT	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_WAIT)
#define RNOTIFY_IOCTL_KICK	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_KICK)
#define RNOTIFY_IOCTL_EVENTFD	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_EVENTFD)
#define RNOTIFY_IOCTL_ENDPOINT_INFO \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_ENDPOINT_INFO)

/* Limits of this version; RNOTIFY_IOCTL_QUERY tells those of the kernel. */
#define RNOTIFY_RING_MIN	8u		/* entries */
#define RNOTIFY_RING_MAX	(1u << 20)	/* entries */
#define RNOTIFY_DEPTH_MAX	16384u		/* receives, or send work requests */
#define RNOTIFY_MSG_SIZE_MIN	256u		/* bytes */
#define RNOTIFY_MSG_SIZE_MAX	65536u		/* bytes */
#define RNOTIFY_PRIVATE_DATA_MAX 28u		/* bytes that fit a CM request */
#define RNOTIFY_SHARES_MAX	64u		/* shares alive per endpoint */
#define RNOTIFY_OP_LEN_MAX	(1u << 30)	/* bytes in one operation */
#define RNOTIFY_INLINE_MAX	256u		/* bytes in one inline operation */

/**
 * enum rnotify_features - bits of rnotify_query.features
 * @RNOTIFY_FEATURE_URING_POST: io_uring uring_cmd can post
 * @RNOTIFY_FEATURE_URING_WAIT: io_uring uring_cmd can wait (kernel 6.7 on)
 */
enum rnotify_features {
	RNOTIFY_FEATURE_URING_POST = 1u << 0,
	RNOTIFY_FEATURE_URING_WAIT = 1u << 1,
};

/**
 * struct rnotify_query - ioctl(RNOTIFY_IOCTL_QUERY)
 * @size: sizeof(struct rnotify_query)
 * @flags: must be 0
 * @abi_version: out: RNOTIFY_ABI_VERSION of the kernel
 * @max_ring_entries: out: largest ring
 * @features: out: &enum rnotify_features
 * @max_depth: out: largest recv_depth and send_depth
 * @max_msg_size: out: largest message size, bytes
 * @max_private_data: out: user bytes that fit a connect, accept or reject
 * @max_shares: out: shares per endpoint
 * @max_op_len: out: bytes in one operation
 * @max_inline: out: bytes in one inline operation
 * @nr_devices: out: RDMA devices that can be used now
 * @reserved: out: 0
 *
 * Needs no SETUP. Never fails but for the reasons common to all commands.
 */
struct rnotify_query {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 max_ring_entries;
	__u64 features;
	__u32 max_depth;
	__u32 max_msg_size;
	__u32 max_private_data;
	__u32 max_shares;
	__u32 max_op_len;
	__u32 max_inline;
	__u32 nr_devices;
	__u32 reserved;
};

/**
 * struct rnotify_setup - ioctl(RNOTIFY_IOCTL_SETUP)
 * @size: sizeof(struct rnotify_setup)
 * @flags: must be 0
 * @ring_entries: in: events that the ring holds, a power of two between
 *	RNOTIFY_RING_MIN and RNOTIFY_RING_MAX
 * @msg_size: in: bytes of a message slot of the message area, a multiple of 64
 *	between RNOTIFY_MSG_SIZE_MIN and RNOTIFY_MSG_SIZE_MAX; 0: this context
 *	receives no messages and has no message area
 * @ring_offset: out: mmap offset of the ring: one &struct rnotify_ring_head,
 *	followed at rnotify_ring_head.entries_offset by the entries. Map it
 *	with PROT_READ and MAP_SHARED
 * @ring_size: out: bytes to map there
 * @cons_offset: out: mmap offset of the &struct rnotify_ring_tail page. Map it
 *	with PROT_READ | PROT_WRITE and MAP_SHARED
 * @cons_size: out: bytes to map there
 * @msg_offset: out: mmap offset of the message area, PROT_READ
 * @msg_area_size: out: bytes to map there (ring_entries * msg_size), 0 if none
 *
 * Makes the event ring. Once per context; before it, only QUERY works.
 * %EBADFD when done already.
 */
struct rnotify_setup {
	__u32 size;
	__u32 flags;
	__u32 ring_entries;
	__u32 msg_size;
	__u64 ring_offset;
	__u64 ring_size;
	__u64 cons_offset;
	__u64 cons_size;
	__u64 msg_offset;
	__u64 msg_area_size;
};

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
 * sees need_kick (or the new prod), or the kernel sees the new cons.
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
 * @RNOTIFY_EVENT_NOTIFY: the peer's WRITE_IMM or NOTIFY was placed
 * @RNOTIFY_EVENT_MESSAGE: the peer's SEND or SEND_IMM arrived
 * @RNOTIFY_EVENT_TX_DONE: outcome of a posted operation
 * @RNOTIFY_EVENT_CONNECT_REQUEST: a peer asks a listener; accept or reject
 * @RNOTIFY_EVENT_ESTABLISHED: the endpoint can be used
 * @RNOTIFY_EVENT_REMOTE_REGION: the peer shared a region with this endpoint
 * @RNOTIFY_EVENT_REMOTE_REGION_GONE: the peer took it back; operations on it
 *	that are posted from now on get %ENOENT
 * @RNOTIFY_EVENT_WRITABLE: a post that got %EAGAIN can be tried again
 * @RNOTIFY_EVENT_DISCONNECTED: the last event of an endpoint
 * @RNOTIFY_EVENT_LISTENER_DOWN: the last event of a listener that lost its
 *	device
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
};

/**
 * enum rnotify_event_flags - rnotify_event.flags
 * @RNOTIFY_EVENT_F_IMM: imm is valid (always for NOTIFY; for MESSAGE if the
 *	peer used SEND_IMM). "imm 0" and "no imm" differ by this flag
 */
enum rnotify_event_flags {
	RNOTIFY_EVENT_F_IMM = 1u << 0,
};

/**
 * enum rnotify_reason - why an endpoint ended (rnotify_event_down.reason)
 * @RNOTIFY_REASON_NONE: not ended
 * @RNOTIFY_REASON_LOCAL_CLOSE: DISCONNECT or DESTROY by this process
 * @RNOTIFY_REASON_PEER_CLOSE: the peer said goodbye
 * @RNOTIFY_REASON_PEER_EXIT: the peer's process ended, or closed its fd,
 *	without closing the endpoint first
 * @RNOTIFY_REASON_PEER_LOST: no answer from the peer's host within the
 *	keepalive time or the transport's retries
 * @RNOTIFY_REASON_REJECTED: the peer rejected the connection
 * @RNOTIFY_REASON_UNREACHABLE: address or route not resolved, or no answer
 * @RNOTIFY_REASON_TIMEOUT: not established within connect_timeout_ms
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
 * @vendor_err: with ib_status; or the CM's reject code
 * @delivered: notifications and messages delivered to this context
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
 * struct rnotify_event - one ring entry: 64 bytes, one cache line
 * @type: &enum rnotify_event_type
 * @flags: &enum rnotify_event_flags
 * @endpoint: id of the endpoint (of the listener, for LISTENER_DOWN)
 * @cookie: what the user gave at CONNECT, ACCEPT or LISTEN
 * @seq: number of this NOTIFY or MESSAGE on its endpoint, from 1, without
 *	gaps; for other types the number of the latest one before it
 * @time_ns: CLOCK_MONOTONIC when the kernel wrote the entry, nanoseconds
 * @notify: NOTIFY, MESSAGE
 * @tx: TX_DONE
 * @region: REMOTE_REGION, REMOTE_REGION_GONE
 * @request: CONNECT_REQUEST
 * @down: DISCONNECTED, LISTENER_DOWN
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
		__u64 raw[4];
	};
};

/**
 * enum rnotify_region_flags - rnotify_register.flags
 * @RNOTIFY_REGION_ALLOC: the kernel allocates the memory (zeroed); map it at
 *	rnotify_register.mmap_offset. Needs addr == 0
 * @RNOTIFY_REGION_READ_ONLY: the memory is only read: source of operations and
 *	target of the peer's READ. Allows memory that the process can't write.
 *	Not with RNOTIFY_REGION_ALLOC
 */
enum rnotify_region_flags {
	RNOTIFY_REGION_ALLOC = 1u << 0,
	RNOTIFY_REGION_READ_ONLY = 1u << 1,
};

/**
 * struct rnotify_register - ioctl(RNOTIFY_IOCTL_REGISTER)
 * @size: sizeof(struct rnotify_register)
 * @flags: &enum rnotify_region_flags
 * @addr: first byte, any alignment (0 with RNOTIFY_REGION_ALLOC)
 * @length: bytes, not 0
 * @region_id: out: the new region
 * @reserved: must be 0
 * @mmap_offset: out: for RNOTIFY_REGION_ALLOC, where to mmap the memory
 * @memlock_need: out: with %EPERM: bytes that this region would lock
 * @memlock_left: out: with %EPERM: bytes left of RLIMIT_MEMLOCK
 *
 * Pins the pages for as long as the region lives. They are charged against
 * RLIMIT_MEMLOCK of the caller's mm (unless CAP_IPC_LOCK). What is refused:
 *
 * - %EINVAL: length 0, addr + length wraps;
 * - %EFAULT: a page that can't be read (or written, without READ_ONLY), a
 *   hole, PROT_NONE; pages that can't be pinned for long: mappings of devices
 *   (also of this one's own ring), shared mappings of files on a disk;
 * - %EPERM: RLIMIT_MEMLOCK.
 *
 * A partial pin is never left behind.
 */
struct rnotify_register {
	__u32 size;
	__u32 flags;
	__u64 addr;
	__u64 length;
	__u32 region_id;
	__u32 reserved;
	__u64 mmap_offset;
	__u64 memlock_need;
	__u64 memlock_left;
};

/**
 * struct rnotify_sockaddr - an IPv4 or IPv6 address and port
 * @family: AF_INET or AF_INET6
 * @port: host order; 0 in LISTEN: the kernel chooses
 * @scope_id: interface index, needed for IPv6 link-local addresses
 * @addr: network order; 4 bytes (then zeroes) or 16
 */
struct rnotify_sockaddr {
	__u16 family;
	__u16 port;
	__u32 scope_id;
	__u8 addr[16];
};

/**
 * struct rnotify_params - wishes for an endpoint, in CONNECT and ACCEPT
 * @recv_depth: notifications and messages that may be on their way or
 *	unconsumed: each is a posted receive plus a reserved ring entry. 0: 64
 * @send_depth: send work requests that may be outstanding, 0: 64
 * @keepalive_ms: find a silent dead peer within this time, 0: 5000; 1000 at
 *	the least
 * @connect_timeout_ms: give up when not established by then, 0: 10000
 *
 * Larger than RNOTIFY_DEPTH_MAX or than the device allows: %EINVAL, before
 * anything is sent. RNOTIFY_IOCTL_ENDPOINT_INFO shows what is in force.
 */
struct rnotify_params {
	__u32 recv_depth;
	__u32 send_depth;
	__u32 keepalive_ms;
	__u32 connect_timeout_ms;
};

/**
 * struct rnotify_listen - ioctl(RNOTIFY_IOCTL_LISTEN)
 * @size: sizeof(struct rnotify_listen)
 * @flags: must be 0
 * @addr: where to listen; @addr.port is written back
 * @cookie: goes into the events of requests that have no own cookie yet
 * @backlog: requests that may wait for ACCEPT or REJECT, 0: 16, at most 1024;
 *	two ring entries are reserved for each
 * @listener_id: out: the new listener
 *
 * Refused: %EADDRINUSE, %EADDRNOTAVAIL (no RDMA device has that address),
 * %EAFNOSUPPORT, %ENOSPC.
 */
struct rnotify_listen {
	__u32 size;
	__u32 flags;
	struct rnotify_sockaddr addr;
	__u64 cookie;
	__u32 backlog;
	__u32 listener_id;
};

/**
 * struct rnotify_connect - ioctl(RNOTIFY_IOCTL_CONNECT)
 * @size: sizeof(struct rnotify_connect)
 * @flags: must be 0
 * @dst: the peer's listener
 * @src: local address, or all zeroes
 * @params: wishes
 * @cookie: goes into all events of the endpoint
 * @private_ptr: user pointer to bytes for the peer's CONNECT_REQUEST
 * @private_len: how many, at most RNOTIFY_PRIVATE_DATA_MAX
 * @endpoint_id: out: the new endpoint
 *
 * Returns at once; ESTABLISHED or DISCONNECTED follows in the ring. What is
 * known at once is refused at once: %EINVAL, %EAFNOSUPPORT, %ENETUNREACH,
 * %EADDRNOTAVAIL, %ENODEV (no RDMA device towards dst), %ENOSPC.
 */
struct rnotify_connect {
	__u32 size;
	__u32 flags;
	struct rnotify_sockaddr dst;
	struct rnotify_sockaddr src;
	struct rnotify_params params;
	__u64 cookie;
	__u64 private_ptr;
	__u32 private_len;
	__u32 endpoint_id;
};

/**
 * struct rnotify_accept - ioctl(RNOTIFY_IOCTL_ACCEPT)
 * @size: sizeof(struct rnotify_accept)
 * @flags: must be 0
 * @endpoint_id: from a CONNECT_REQUEST event
 * @private_len: bytes at @private_ptr, at most RNOTIFY_PRIVATE_DATA_MAX
 * @private_ptr: for the peer, who reads it with RNOTIFY_IOCTL_ENDPOINT_INFO
 * @cookie: goes into all later events of the endpoint
 * @params: wishes
 *
 * Receives are posted before the answer leaves: the peer may write at once.
 * ESTABLISHED or DISCONNECTED follows. %ENOTCONN: the peer gave up meanwhile;
 * %EISCONN: answered before; %ENOSPC: the request stays open, so that one can
 * make room, or reject.
 */
struct rnotify_accept {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 private_len;
	__u64 private_ptr;
	__u64 cookie;
	struct rnotify_params params;
};

/**
 * struct rnotify_reject - ioctl(RNOTIFY_IOCTL_REJECT)
 * @size: sizeof(struct rnotify_reject)
 * @flags: must be 0
 * @endpoint_id: from a CONNECT_REQUEST event
 * @private_len: bytes at @private_ptr, at most RNOTIFY_PRIVATE_DATA_MAX
 * @private_ptr: for the peer, who reads it with RNOTIFY_IOCTL_ENDPOINT_INFO
 *
 * The endpoint gets its DISCONNECTED event; DESTROY frees its id.
 */
struct rnotify_reject {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 private_len;
	__u64 private_ptr;
};

/**
 * struct rnotify_disconnect - ioctl(RNOTIFY_IOCTL_DISCONNECT)
 * @size: sizeof(struct rnotify_disconnect)
 * @flags: must be 0
 * @endpoint_id: endpoint, in any state
 * @reserved: must be 0
 *
 * Starts an orderly end and returns: what was posted is completed first (for
 * 1 s at most), then the peer is told. DISCONNECTED follows. Doing it twice
 * is no error.
 */
struct rnotify_disconnect {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 reserved;
};

/**
 * struct rnotify_destroy - ioctl(RNOTIFY_IOCTL_DESTROY)
 * @size: sizeof(struct rnotify_destroy)
 * @flags: must be 0
 * @id: region, share, endpoint or listener
 * @reserved: must be 0
 *
 * When it returns 0, the id is gone, and for a
 *
 * - *share*: no operation of the peer can reach the memory through it any
 *   more. The peer's kernel is asked to stop first, so that orderly peers keep
 *   the connection; one that doesn't answer within a second is cut off by its
 *   keys;
 * - *region*: all its shares are gone in that sense, all posted operations
 *   that use it have ended, and the pages are unpinned;
 * - *endpoint*: it is disconnected (see DISCONNECT), all its shares are gone,
 *   its last event is in the ring;
 * - *listener*: no request comes any more; pending ones stay.
 *
 * Closing the context does the same to all it holds.
 */
struct rnotify_destroy {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
};

/**
 * enum rnotify_rights - what the peer may do with a share
 * @RNOTIFY_RIGHT_WRITE: WRITE and WRITE_IMM
 * @RNOTIFY_RIGHT_READ: READ
 * @RNOTIFY_RIGHT_ATOMIC: FETCH_ADD and CMP_SWAP
 */
enum rnotify_rights {
	RNOTIFY_RIGHT_WRITE = 1u << 0,
	RNOTIFY_RIGHT_READ = 1u << 1,
	RNOTIFY_RIGHT_ATOMIC = 1u << 2,
};

/**
 * struct rnotify_share - ioctl(RNOTIFY_IOCTL_SHARE)
 * @size: sizeof(struct rnotify_share)
 * @flags: must be 0
 * @endpoint_id: established endpoint, whose peer gets the rights
 * @region_id: region
 * @offset: first byte that the peer can reach, any alignment
 * @length: bytes from there; 0: to the end of the region
 * @rights: &enum rnotify_rights, not 0. Not WRITE or ATOMIC on a read-only
 *	region (%EACCES)
 * @share_id: out: the new share; DESTROY takes it back
 * @tag: for the peer's REMOTE_REGION event
 *
 * %ERANGE: offset + length beyond the region; %ENOTCONN: endpoint not
 * established; %EMFILE: RNOTIFY_SHARES_MAX shares, or as many as the peer
 * keeps room for, are alive on this endpoint.
 */
struct rnotify_share {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 region_id;
	__u64 offset;
	__u64 length;
	__u32 rights;
	__u32 share_id;
	__u64 tag;
};

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
 * @imm: immediate data for the *_IMM operations and NOTIFY, host order
 * @operand: FETCH_ADD: addend; CMP_SWAP: compared value
 * @swap: CMP_SWAP: new value
 *
 * The source of a WRITE or SEND is read by the device until the operation is
 * complete (also again, when a packet is lost): don't change it before.
 * Members that an operation does not use must be 0.
 *
 * Errnos of one operation: %EINVAL (length, alignment), %EOPNOTSUPP (opcode,
 * flags), %ENOENT (endpoint, region or remote region), %ERANGE (offset and
 * length beyond a region), %EACCES (a right the peer didn't grant; or a
 * read-only region as target), %EMSGSIZE (message larger than the peer's
 * message size; or more work requests than send_depth), %ENOTCONN,
 * %ESHUTDOWN (endpoint is closing or closed), %EAGAIN (no credit or no room).
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
 *	by O_NONBLOCK on the fd
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
 *	nanoseconds from now; negative: for ever
 * @accepted: out: entries that were posted, from the first
 * @error: out: negative errno of entry @accepted, 0 if all were posted
 *
 * Entries are taken in order up to the first that can't be; nothing behind it
 * is posted. Returns 0 if at least one was accepted, else fails with the errno
 * of the first (%ETIMEDOUT and %EINTR among them). Each accepted operation has
 * one outcome, shown as TX_DONE if it asked for it.
 *
 * After an %EAGAIN the context gets one WRITABLE event for that endpoint when
 * a post can succeed again, and poll shows no EPOLLOUT until then.
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
 * struct rnotify_wait - ioctl(RNOTIFY_IOCTL_WAIT)
 * @size: sizeof(struct rnotify_wait)
 * @flags: must be 0
 * @min_events: wait until so many unconsumed events are in the ring, 1 at the
 *	least, the ring's size at most
 * @reserved: must be 0
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0: only look; negative: for ever
 * @spin_ns: look for so long before sleeping, at most 1 000 000
 * @nr_events: out: unconsumed events now
 * @reserved2: out: 0
 *
 * 0: the condition holds. %ETIME: the time came first (nr_events tells what
 * is there); %EINTR. Does not consume.
 */
struct rnotify_wait {
	__u32 size;
	__u32 flags;
	__u32 min_events;
	__u32 reserved;
	__s64 timeout_ns;
	__u64 spin_ns;
	__u32 nr_events;
	__u32 reserved2;
};

/**
 * struct rnotify_kick - ioctl(RNOTIFY_IOCTL_KICK)
 * @size: sizeof(struct rnotify_kick)
 * @flags: must be 0
 *
 * Tells the kernel to look at the consumer index (see
 * rnotify_ring_head.need_kick). Harmless at any time.
 */
struct rnotify_kick {
	__u32 size;
	__u32 flags;
};

/**
 * struct rnotify_eventfd - ioctl(RNOTIFY_IOCTL_EVENTFD)
 * @size: sizeof(struct rnotify_eventfd)
 * @flags: must be 0
 * @fd: an eventfd that gets 1 added whenever the ring turns from empty to
 *	non-empty; -1: none any more. Replaces the one before
 * @reserved: must be 0
 *
 * If the ring is not empty now, it is signalled at once.
 */
struct rnotify_eventfd {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 reserved;
};

/**
 * enum rnotify_endpoint_state - rnotify_endpoint_info.state
 * @RNOTIFY_STATE_CONNECTING: active side, before ESTABLISHED
 * @RNOTIFY_STATE_REQUESTED: passive side, before ACCEPT or REJECT
 * @RNOTIFY_STATE_ACCEPTING: passive side, before ESTABLISHED
 * @RNOTIFY_STATE_ESTABLISHED: in use
 * @RNOTIFY_STATE_CLOSING: ending; no more posts
 * @RNOTIFY_STATE_CLOSED: DISCONNECTED is in the ring
 */
enum rnotify_endpoint_state {
	RNOTIFY_STATE_CONNECTING = 1,
	RNOTIFY_STATE_REQUESTED = 2,
	RNOTIFY_STATE_ACCEPTING = 3,
	RNOTIFY_STATE_ESTABLISHED = 4,
	RNOTIFY_STATE_CLOSING = 5,
	RNOTIFY_STATE_CLOSED = 6,
};

/**
 * struct rnotify_endpoint_info - ioctl(RNOTIFY_IOCTL_ENDPOINT_INFO)
 * @size: sizeof(struct rnotify_endpoint_info)
 * @flags: must be 0
 * @endpoint_id: in
 * @state: out: &enum rnotify_endpoint_state
 * @local: out: own address
 * @remote: out: the peer's address
 * @params: out: depths and times in force
 * @peer_msg_size: out: bytes of the largest SEND that the peer takes
 * @private_len: out: bytes of the peer's private data
 * @private_data: out: from its connect, accept or reject
 * @down: out: as in DISCONNECTED; reason is 0 before that
 * @device: out: name of the RDMA device, "" if none yet
 * @port_num: out: port of that device
 * @tx_credits: out: notifications and messages that can be posted now
 * @tx_posted: out: operations accepted
 * @tx_notify_posted: out: those that take a credit
 * @tx_confirmed: out: those of @tx_notify_posted that the peer's kernel has
 * @rx_notify: out: notifications and messages delivered to the ring
 * @rx_consumed: out: those of @rx_notify that were consumed
 * @tx_bytes: out: payload bytes of completed operations
 * @rx_bytes: out: payload bytes of delivered notifications and messages
 * @sq_high: out: most send work requests that were outstanding at once
 * @rq_low: out: fewest receives that were posted at once
 * @sq_size: out: work requests that the send queue holds
 * @rq_size: out: receives that the receive queue holds
 * @cq_size: out: entries of the completion queue
 * @max_send_sge: out: scatter elements per send work request
 * @eagain: out: posts refused for want of credit or room
 * @kmem: out: bytes of kernel memory of this endpoint's own queues and buffers
 */
struct rnotify_endpoint_info {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 state;
	struct rnotify_sockaddr local;
	struct rnotify_sockaddr remote;
	struct rnotify_params params;
	__u32 peer_msg_size;
	__u32 private_len;
	__u8 private_data[64];
	struct rnotify_event_down down;
	char device[64];
	__u32 port_num;
	__u32 tx_credits;
	__u64 tx_posted;
	__u64 tx_notify_posted;
	__u64 tx_confirmed;
	__u64 rx_notify;
	__u64 rx_consumed;
	__u64 tx_bytes;
	__u64 rx_bytes;
	__u32 sq_high;
	__u32 rq_low;
	__u32 sq_size;
	__u32 rq_size;
	__u32 cq_size;
	__u32 max_send_sge;
	__u64 eagain;
	__u64 kmem;
};

#endif /* _UAPI_LINUX_RNOTIFY_H */
