/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: the user ABI.
 *
 * This header is the reference, with the five that it includes:
 * rnotify_region.h (memory, and who may reach it), rnotify_event.h (the event
 * ring), rnotify_op.h (what can be posted), rnotify_wait.h (how to wait) and
 * rnotify_route.h (what becomes of a notification: rules, counters, slot tables,
 * generations). All integers are in host byte order; nothing that the user sees is
 * big-endian, immediate data included.
 */
#ifndef _UAPI_LINUX_RNOTIFY_H
#define _UAPI_LINUX_RNOTIFY_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/rnotify_event.h>
#include <linux/rnotify_op.h>
#include <linux/rnotify_region.h>
#include <linux/rnotify_route.h>
#include <linux/rnotify_wait.h>

/**
 * DOC: General ioctl format
 *
 * One open of /dev/rnotify is one *context*. All commands are ioctls on it.
 * Each takes a pointer to a struct whose first member is the size of that
 * struct as the caller knows it, so that structs can grow at their end:
 *
 * - size smaller than the first published version: %EINVAL;
 * - size larger than the kernel knows: accepted if all the additional bytes
 *   are zero, and it is at most a page, %E2BIG otherwise;
 * - size smaller than the kernel knows: missing members are taken as zero, and
 *   not written back.
 *
 * The errnos that have one meaning for all commands:
 *
 * - %ENOTTY: no such command;
 * - %E2BIG: a larger struct, with something in the part unknown to the kernel,
 *   or of more than a page;
 * - %EOPNOTSUPP: an unknown flag or enum value, or a reserved member not zero;
 * - %EINVAL: a known member has a value that can never be right;
 * - %ENOENT: an id that this context does not hold, or of another type;
 * - %EFAULT: a pointer that cannot be read or written;
 * - %ENOMEM: memory (never a limit of the caller's: see %EPERM and %ENOSPC);
 * - %EPERM: RLIMIT_MEMLOCK would be exceeded (needed and allowed bytes are
 *   written back by RNOTIFY_IOCTL_REGISTER);
 * - %ENOSPC: the event ring is too small for one more reservation;
 * - %EBADFD: RNOTIFY_IOCTL_SETUP has not been done, or was done already;
 * - %ENODEV: the RDMA device is gone: of an endpoint that ended with
 *   RNOTIFY_REASON_DEVICE_REMOVED (ACCEPT, REJECT, SHARE, POST). The context
 *   and its regions are as good as before, also for another device;
 * - %EBUSY: all ids are in use (of all commands that make an object);
 * - %EINTR: a signal handler ran (SA_RESTART does not apply; a stop doesn't count).
 *
 * Object ids are u32, unique within a context across all object types, never
 * 0, and reused as late as possible: 2^30 - 1 (fewer if pages exceed 4 KiB).
 */

/*
 * Told by QUERY. It changes only if a program for the former version could no
 * longer work; what is added shows in struct sizes, features and limits.
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
	RNOTIFY_CMD_MODERATE,
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
#define RNOTIFY_IOCTL_MODERATE	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_MODERATE)

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
 * @max_rules: out: rules of an endpoint
 * @max_counters: out: counters per context
 * @max_watches: out: watches per counter
 * @max_slot_tables: out: slot tables per context
 * @max_slots: out: slots in a table
 * @max_generations: out: generations per context
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
	__u32 max_rules;
	__u32 max_counters;
	__u32 max_watches;
	__u32 max_slot_tables;
	__u32 max_slots;
	__u32 max_generations;
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
 * @msg_area_size: out: bytes to map there: ring_entries * msg_size, rounded up to
 *	whole pages; 0 if none
 *
 * Makes the event ring. Once per context; before it, only QUERY works.
 * %EBADFD when done already; %EINVAL: ring_entries or msg_size out of range, or
 * entries and messages together take more than 1 GiB.
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

#define RNOTIFY_NO_REGIONS	(~0u)

/**
 * struct rnotify_params - wishes for an endpoint, in CONNECT and ACCEPT
 * @recv_depth: notifications and messages that may be on their way or
 *	unconsumed: each is a posted receive plus a reserved ring entry. 0: 64
 * @send_depth: send work requests that may be outstanding, 0: 64
 * @keepalive_ms: find a silent dead peer within this time, often in half of it,
 *	0: 5000; 1000 at the least, 655350 at most. Bytes under way extend it
 *	by a second for each 128 KiB, by four times itself at most
 * @connect_timeout_ms: give up when not established by then, 0: 10000; 655350
 *	at most
 * @remote_regions: regions that the peer may share with this endpoint at one
 *	time, 0: 8, at most RNOTIFY_SHARES_MAX; RNOTIFY_NO_REGIONS: none
 * @reserved: must be 0
 *
 * Ring entries that the endpoint reserves: recv_depth, send_depth (one
 * TX_DONE each), two for each of remote_regions, and 3 for its own life.
 *
 * Larger than RNOTIFY_DEPTH_MAX: %EINVAL. Larger than the device allows:
 * CONNECT, which does not know the device yet, ends in DISCONNECTED with
 * RNOTIFY_REASON_RESOURCES and %EINVAL before anything is sent; ACCEPT fails
 * with %EINVAL. RNOTIFY_IOCTL_ENDPOINT_INFO shows what is in force.
 */
struct rnotify_params {
	__u32 recv_depth;
	__u32 send_depth;
	__u32 keepalive_ms;
	__u32 connect_timeout_ms;
	__u32 remote_regions;
	__u32 reserved;
};

/**
 * struct rnotify_listen - ioctl(RNOTIFY_IOCTL_LISTEN)
 * @size: sizeof(struct rnotify_listen)
 * @flags: must be 0
 * @addr: where to listen; @addr.port is written back
 * @cookie: goes into the events of requests that have no own cookie yet
 * @backlog: requests that may wait for ACCEPT or REJECT, 0: 16, at most 1024;
 *	two ring entries are reserved for each, and one for LISTENER_DOWN
 * @listener_id: out: the new listener
 *
 * Refused: %EADDRINUSE, %EADDRNOTAVAIL (no RDMA device has that address),
 * %EACCES (port below 1024 without CAP_NET_BIND_SERVICE), %EAFNOSUPPORT, %ENOSPC.
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
 * %EADDRNOTAVAIL (src is not of this host), %ENODEV (no RDMA device has src, or
 * leads to dst), %ENOSPC.
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
 * @cookie: goes into all later events of the endpoint; if ACCEPT fails, these
 *	keep the listener's
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
 * Starts an orderly end and returns: what was posted is completed first, then the
 * peer is told, both within 1 s. DISCONNECTED follows. Doing it twice is no error.
 */
struct rnotify_disconnect {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 reserved;
};

/**
 * enum rnotify_destroy_flags - rnotify_destroy.flags
 * @RNOTIFY_DESTROY_ALL: everything that the context holds; id must be 0
 */
enum rnotify_destroy_flags {
	RNOTIFY_DESTROY_ALL = 1u << 0,
};

/**
 * struct rnotify_destroy - ioctl(RNOTIFY_IOCTL_DESTROY)
 * @size: sizeof(struct rnotify_destroy)
 * @flags: &enum rnotify_destroy_flags
 * @id: of any object
 * @reserved: must be 0
 *
 * When it returns 0, the id is gone, and for a
 *
 * - *share*: no operation of the peer can reach the memory through it any
 *   more. The peer's kernel is asked to stop first, so that orderly peers keep
 *   the connection; one that doesn't answer within a second is cut off by its
 *   keys;
 * - *region*: all its shares are gone in that sense, all posted operations
 *   that use it have ended, and the pages are unpinned. Operations are waited for
 *   as long as some complete, 20 seconds at most; if none does for 5 seconds, or
 *   the caller is killed, the endpoints that hold the region are ended
 *   (LOCAL_CLOSE with %ETIMEDOUT);
 * - *endpoint*: it is disconnected (see DISCONNECT), all its shares are gone,
 *   its last event is in the ring;
 * - *listener*: no request comes any more; pending ones stay;
 * - *counter*, *slot table*: waits for it end with %ECANCELED, its watches give
 *   no more events; what rules would count in it becomes an event;
 * - *watch*, *generation*: nothing else.
 *
 * The same happens to all that the context holds when the last reference to its
 * file goes. Duplicates of the descriptor are such references, also those in
 * forked processes, and so are mappings and requests of io_uring that wait. Who
 * does not want to depend on them uses %RNOTIFY_DESTROY_ALL before close(). Either
 * way all endpoints end at the same time, and their peers are told PEER_EXIT. What
 * other threads make while RNOTIFY_DESTROY_ALL is at work may be left over.
 *
 * It is no error if the device or the connection has gone before: then less is
 * left to do.
 */
struct rnotify_destroy {
	__u32 size;
	__u32 flags;
	__u32 id;
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
 * @rx_notify: out: notifications and messages delivered: to the ring, or as the
 *	endpoint's rules say
 * @rx_consumed: out: those of @rx_notify that were consumed, or took no ring
 *	entry
 * @tx_bytes: out: payload bytes of completed operations
 * @rx_bytes: out: payload bytes of delivered notifications and messages
 * @sq_high: out: most slots of the send queue that were taken at once: work
 *	requests, and operations that shared those of others
 * @rq_low: out: fewest receives that were posted at once
 * @sq_size: out: work requests that the send queue holds
 * @rq_size: out: receives that the receive queue holds
 * @cq_size: out: entries of the completion queue
 * @max_send_sge: out: scatter elements per send work request
 * @eagain: out: posts refused for want of credit or room
 * @kmem: out: bytes of kernel memory of this endpoint's own queues and buffers
 * @rx_counted: out: those of @rx_notify that rules sent to counters
 * @rx_slotted: out: those that rules sent to slot tables
 * @rx_dropped: out: those that rules dropped
 * @rx_stale: out: those that were of an old generation, and so dropped
 * @cq_high: out: most entries of the completion queue that posts can have taken at
 *	once
 * @reserved: out: 0
 * @tx_bundled: out: those of @tx_notify_posted that shared packets with others of
 *	their batch
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
	__u64 rx_counted;
	__u64 rx_slotted;
	__u64 rx_dropped;
	__u64 rx_stale;
	__u32 cq_high;
	__u32 reserved;
	__u64 tx_bundled;
};

#endif /* _UAPI_LINUX_RNOTIFY_H */
