/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - RDMA notification transport: the C library.
 *
 * A thin layer over <linux/rnotify.h>, which is the reference for what
 * operations, events and errnos mean. Functions that can fail return a negative
 * errno; errno itself is not part of the interface.
 *
 * Threads. One thread at a time may be the *consumer* of a context: whoever
 * calls rnotify_peek(), rnotify_peek_n(), rnotify_ready(), rnotify_release(),
 * rnotify_next(), rnotify_find(), rnotify_wait() or rnotify_connect_wait(). All
 * other functions may be called from any thread at any time, also while the
 * consumer sleeps. A handle must not be in use when it is freed.
 *
 * After a fork() the child must not use what the parent opened, but may call
 * rnotify_close(), which leaves the parent's objects alone.
 */
#ifndef _RNOTIFY_RNOTIFY_H
#define _RNOTIFY_RNOTIFY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/rnotify.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sockaddr;

/* struct rnotify - a context: one open of /dev/rnotify with its event ring */
struct rnotify;
/* struct rnotify_region - pinned memory that operations and peers can use */
struct rnotify_region;

/* A deadline that never comes. */
#define RNOTIFY_FOREVER ((int64_t)-1)

/* ---- contexts ---- */

/**
 * enum rnotify_open_flags - rnotify_attr.flags
 * @RNOTIFY_OPEN_NONBLOCK: rnotify_post() does not wait for credit or room
 */
enum rnotify_open_flags {
	RNOTIFY_OPEN_NONBLOCK = 1u << 0,
};

/**
 * struct rnotify_attr - wishes for a context; all zeroes are the defaults
 * @ring_entries: events that the ring holds, rounded up to a power of two;
 *	0: 1024. What an endpoint reserves of it: see struct rnotify_params
 * @msg_size: largest message that peers can SEND here, rounded up to a
 *	multiple of 64; 0: no messages
 * @flags: &enum rnotify_open_flags
 * @reserved: must be 0
 */
struct rnotify_attr {
	uint32_t ring_entries;
	uint32_t msg_size;
	uint32_t flags;
	uint32_t reserved[5];
};

/**
 * rnotify_open() - make a context
 * @ctx: the new context
 * @attr: wishes, or NULL
 *
 * Return: 0; -ENOENT or -ENXIO: the kernel module is not loaded; -EACCES: no
 * permission for /dev/rnotify; -EPROTONOSUPPORT: the kernel's ring is not one
 * that this library can read; or what SETUP and mmap() return.
 */
int rnotify_open(struct rnotify **ctx, const struct rnotify_attr *attr);

/**
 * rnotify_close() - end a context and all that it holds
 * @ctx: context, or NULL
 *
 * Frees its regions, too: their handles and addresses are gone. That duplicates of
 * the descriptor, forked children or requests of io_uring still refer to the file
 * changes nothing. Takes a few seconds at the most, whatever the peers do.
 */
void rnotify_close(struct rnotify *ctx);

/**
 * rnotify_fd() - the file descriptor, for poll(), epoll and the like
 * @ctx: context
 *
 * Readable (EPOLLIN) for as long as the ring holds unconsumed events; writable
 * (EPOLLOUT) unless an endpoint has refused a post with EAGAIN and still has no
 * room. Level-triggered: nothing to arm, nothing to acknowledge.
 */
int rnotify_fd(const struct rnotify *ctx);

/**
 * rnotify_query() - limits and features of the kernel
 * @ctx: context, or NULL to ask without one
 * @query: filled in
 */
int rnotify_query(struct rnotify *ctx, struct rnotify_query *query);

/**
 * rnotify_eventfd() - have an eventfd signalled, too
 * @ctx: context
 * @endpoint: 0: whenever the ring turns from empty to non-empty; else for that
 *	endpoint's first unconsumed NOTIFY or MESSAGE, and its DISCONNECTED
 * @fd: eventfd that gets 1 added then; -1: none any more
 */
int rnotify_eventfd(struct rnotify *ctx, uint32_t endpoint, int fd);

/**
 * rnotify_moderate() - be woken less often
 * @ctx: context
 * @min_events: wake a sleeper when so many events are unconsumed; 0: at the
 *	first
 * @max_delay_ns: but not later than this after the first; 0 if @min_events is
 *
 * Puts off wake-ups, never events: whoever looks finds all of them.
 */
int rnotify_moderate(struct rnotify *ctx, unsigned int min_events,
		     uint64_t max_delay_ns);

/* ---- memory ---- */

/**
 * rnotify_register() - pin memory of this process
 * @ctx: context
 * @addr: first byte, any alignment
 * @len: bytes
 * @flags: 0 or RNOTIFY_REGION_READ_ONLY
 * @region: the new region
 *
 * Return: 0; -EPERM: RLIMIT_MEMLOCK, rnotify_explain_errno() tells by how much;
 * or another error of REGISTER.
 */
int rnotify_register(struct rnotify *ctx, void *addr, size_t len,
		     uint32_t flags, struct rnotify_region **region);

/**
 * rnotify_register_fd() - pin memory of a memfd or a hugetlbfs file
 * @ctx: context
 * @fd: the file; may be closed afterwards
 * @offset: first byte
 * @len: bytes
 * @flags: 0 or RNOTIFY_REGION_READ_ONLY
 * @region: the new region; its rnotify_region_addr() is NULL
 */
int rnotify_register_fd(struct rnotify *ctx, int fd, uint64_t offset,
			size_t len, uint32_t flags,
			struct rnotify_region **region);

/**
 * rnotify_alloc() - let the kernel allocate memory, zeroed, and map it
 * @ctx: context
 * @len: bytes
 * @region: the new region
 */
int rnotify_alloc(struct rnotify *ctx, size_t len,
		  struct rnotify_region **region);

/**
 * rnotify_deregister() - take memory back
 * @region: region, or NULL
 *
 * When this returns 0, no peer can reach the memory any more, all operations
 * that use it have ended, and the handle is freed (with the memory, if
 * rnotify_alloc() made it). On failure the region stays as it was.
 */
int rnotify_deregister(struct rnotify_region *region);

void *rnotify_region_addr(const struct rnotify_region *region);
size_t rnotify_region_len(const struct rnotify_region *region);
uint32_t rnotify_region_id(const struct rnotify_region *region);

/**
 * rnotify_share() - let the peer of one endpoint use memory
 * @ctx: context
 * @endpoint: established endpoint
 * @region: region of the same context
 * @offset: first byte
 * @len: bytes; 0: to the end of the region
 * @rights: &enum rnotify_rights
 * @tag: any number; the peer finds it in its REMOTE_REGION event
 * @share: id of the new share, for rnotify_unshare(); may be NULL
 */
int rnotify_share(struct rnotify *ctx, uint32_t endpoint,
		  const struct rnotify_region *region, uint64_t offset,
		  uint64_t len, uint32_t rights, uint64_t tag, uint32_t *share);

/*
 * rnotify_unshare() - when it returns 0, nothing can come through it any more
 *
 * The same as rnotify_destroy(), which does not look at the type of the id.
 */
int rnotify_unshare(struct rnotify *ctx, uint32_t share);

/* ---- endpoints ---- */

/**
 * struct rnotify_endpoint_attr - wishes for an endpoint
 * @params: depths and times; zeroes are the kernel's defaults
 * @src: local address, or NULL; for rnotify_connect() only
 * @cookie: comes back in all events of the endpoint
 * @private_data: bytes for the peer, or NULL
 * @private_len: how many, at most RNOTIFY_PRIVATE_DATA_MAX
 * @reserved: must be 0
 */
struct rnotify_endpoint_attr {
	struct rnotify_params params;
	const struct rnotify_sockaddr *src;
	uint64_t cookie;
	const void *private_data;
	uint32_t private_len;
	uint32_t reserved;
};

/**
 * rnotify_listen() - await connection requests
 * @ctx: context
 * @addr: where; its port is written back if it was 0
 * @backlog: requests that may wait for an answer, 0: 16
 * @cookie: comes back in the CONNECT_REQUEST events
 * @listener: id of the new listener
 */
int rnotify_listen(struct rnotify *ctx, struct rnotify_sockaddr *addr,
		   unsigned int backlog, uint64_t cookie, uint32_t *listener);

/**
 * rnotify_connect() - start to connect
 * @ctx: context
 * @dst: the peer's listener
 * @attr: wishes, or NULL
 * @endpoint: id of the new endpoint
 *
 * Returns at once; an ESTABLISHED or DISCONNECTED event follows.
 */
int rnotify_connect(struct rnotify *ctx, const struct rnotify_sockaddr *dst,
		    const struct rnotify_endpoint_attr *attr,
		    uint32_t *endpoint);

/**
 * rnotify_connect_wait() - connect and wait until that is done
 * @ctx: context
 * @dst: the peer's listener
 * @attr: wishes, or NULL
 * @deadline: see rnotify_wait(); the endpoint's own connect_timeout_ms applies
 *	as well
 * @endpoint: id of the new endpoint, 0 if there is none
 *
 * Consumes no event: ESTABLISHED, or DISCONNECTED, is still in the ring, in its
 * place among the events of other endpoints (see rnotify_find()).
 *
 * Return: 0: established; else a negative errno. If @endpoint is not 0 then, it
 * is yours to look at and to destroy; or, after -EINTR, to go on waiting for,
 * with rnotify_find().
 */
int rnotify_connect_wait(struct rnotify *ctx,
			 const struct rnotify_sockaddr *dst,
			 const struct rnotify_endpoint_attr *attr,
			 int64_t deadline, uint32_t *endpoint);

/**
 * rnotify_accept() - answer a CONNECT_REQUEST with yes
 * @ctx: context
 * @endpoint: from the event
 * @attr: wishes, or NULL
 *
 * ESTABLISHED or DISCONNECTED follows.
 */
int rnotify_accept(struct rnotify *ctx, uint32_t endpoint,
		   const struct rnotify_endpoint_attr *attr);

/* rnotify_reject() - answer with no; bytes for the peer are optional */
int rnotify_reject(struct rnotify *ctx, uint32_t endpoint, const void *data,
		   size_t len);

/* rnotify_disconnect() - start an orderly end; DISCONNECTED follows */
int rnotify_disconnect(struct rnotify *ctx, uint32_t endpoint);

/* rnotify_destroy() - free an endpoint, listener or share, by its id */
int rnotify_destroy(struct rnotify *ctx, uint32_t id);

/* rnotify_endpoint_info() - state, addresses, the peer's private data, counts */
int rnotify_endpoint_info(struct rnotify *ctx, uint32_t endpoint,
			  struct rnotify_endpoint_info *info);

/* ---- posting (builders of operations: <rnotify/op.h>) ---- */

/**
 * rnotify_post() - post operations
 * @ctx: context
 * @ops: operations
 * @n: how many; beyond 4096 the rest is left for another call
 * @flags: 0 or RNOTIFY_POST_NONBLOCK
 * @timeout_ns: how long to wait for credit and room, negative: for ever
 *
 * Entries are taken in order up to the first that can't be.
 *
 * Return: how many were accepted (at least 1, or 0 if @n is 0), or the negative
 * errno of the first. To learn why fewer were accepted, post the rest again.
 */
int rnotify_post(struct rnotify *ctx, const struct rnotify_op *ops,
		 unsigned int n, uint32_t flags, int64_t timeout_ns);

/* ---- events (reading the ring: <rnotify/ring.h>) ---- */

/**
 * rnotify_deadline() - a deadline from now
 * @timeout_ms: milliseconds; 0: only look; negative: never
 */
int64_t rnotify_deadline(int timeout_ms);

/**
 * rnotify_wait() - sleep until there are events
 * @ctx: context
 * @min_events: how many unconsumed events to wait for; 0 counts as 1
 * @deadline: CLOCK_MONOTONIC in ns, or rnotify_deadline(), or RNOTIFY_FOREVER
 * @spin_ns: look for so long before sleeping
 *
 * Ends early when the last event of an endpoint or listener is unconsumed: what
 * is waited for may never come.
 *
 * Return: unconsumed events, 1 at the least, -ETIME, -EINTR or another errno of
 * WAIT.
 */
int rnotify_wait(struct rnotify *ctx, unsigned int min_events, int64_t deadline,
		 uint64_t spin_ns);

/**
 * rnotify_next() - wait for the next event, copy it and consume it
 * @ctx: context
 * @event: the copy
 * @deadline: see rnotify_wait()
 *
 * For programs that are not in a hurry. The payload of a MESSAGE is gone when
 * this returns: use rnotify_peek() for those.
 *
 * Return: 0, -ETIME, -EINTR or another errno of WAIT.
 */
int rnotify_next(struct rnotify *ctx, struct rnotify_event *event,
		 int64_t deadline);

/* Bit of an event type in the @types of rnotify_find(). */
#define RNOTIFY_TYPE_BIT(type) (1u << (type))

/**
 * rnotify_find() - wait for an event of one endpoint, consuming none
 * @ctx: context
 * @endpoint: id
 * @types: RNOTIFY_TYPE_BIT()s; DISCONNECTED (of a listener: LISTENER_DOWN) ends
 *	the wait in any case
 * @deadline: see rnotify_wait()
 * @found: the event, in the ring: valid until it is consumed
 *
 * Looks at the unconsumed events from the oldest on, then at those that come.
 * All of them stay in the ring, so that a main loop gets them later, in order.
 * Meant for starting up and closing down, where few events are about.
 *
 * Return: 0: found; -ENOTCONN: DISCONNECTED came instead (and is what @found
 * shows); -ETIME; -EINTR; -ENOBUFS: the ring is full of other events.
 */
int rnotify_find(struct rnotify *ctx, uint32_t endpoint, uint32_t types,
		 int64_t deadline, const struct rnotify_event **found);

/* rnotify_kick() - RNOTIFY_IOCTL_KICK; rnotify_release() calls it when needed */
void rnotify_kick(struct rnotify *ctx);

/* ---- addresses ---- */

/* Enough for what rnotify_format() writes. */
#define RNOTIFY_ADDR_STRLEN 80

/**
 * rnotify_resolve() - text to address
 * @text: "10.0.0.1:7471", "host:7471", "[fd00::1]:7471", "[fe80::1%eth0]:7471",
 *	"*:7471" or ":7471" (any local IPv4 address)
 * @default_port: if @text has none; 0: it must have one
 * @addr: the result
 *
 * Return: 0; -EINVAL: not of these forms; -ERANGE: the port is above 65535;
 * -ENODEV: no such interface after '%';
 * -ENOENT: unknown name; -EAGAIN: the name service does not answer;
 * -EOPNOTSUPP: a name, in a statically linked program.
 */
int rnotify_resolve(const char *text, uint16_t default_port,
		    struct rnotify_sockaddr *addr);

/* rnotify_format() - address to text that rnotify_resolve() understands */
const char *rnotify_format(const struct rnotify_sockaddr *addr, char *buf,
			   size_t size);

/* rnotify_sockaddr_from() - from a struct sockaddr_in or _in6; -EAFNOSUPPORT */
int rnotify_sockaddr_from(const struct sockaddr *sa, size_t len,
			  struct rnotify_sockaddr *addr);

/* ---- words for numbers; unknown ones give "unknown" ---- */

const char *rnotify_event_type_str(unsigned int type);
const char *rnotify_reason_str(unsigned int reason);
const char *rnotify_stage_str(unsigned int stage);
const char *rnotify_state_str(unsigned int state);
const char *rnotify_opcode_str(unsigned int opcode);
const char *rnotify_ib_status_str(unsigned int status);

/**
 * rnotify_explain() - what an event means and what to do about it
 * @event: DISCONNECTED, LISTENER_DOWN, or TX_DONE with an error
 * @buf: gets one or more sentences, without a newline
 * @size: its size; 512 is plenty
 *
 * Return: @buf
 */
const char *rnotify_explain(const struct rnotify_event *event, char *buf,
			    size_t size);

/* enum rnotify_call - what failed, for rnotify_explain_errno() */
enum rnotify_call {
	RNOTIFY_CALL_OPEN = 0,
	RNOTIFY_CALL_REGISTER,
	RNOTIFY_CALL_SHARE,
	RNOTIFY_CALL_LISTEN,
	RNOTIFY_CALL_CONNECT,
	RNOTIFY_CALL_ACCEPT,
	RNOTIFY_CALL_POST,
	RNOTIFY_CALL_RESOLVE,
};

/**
 * rnotify_explain_errno() - what a failed call means and what to do about it
 * @ctx: context, or NULL if there is none
 * @call: what was called
 * @err: what it returned
 * @buf: gets one or more sentences, without a newline
 * @size: its size; 512 is plenty
 *
 * Return: @buf
 */
const char *rnotify_explain_errno(struct rnotify *ctx, enum rnotify_call call,
				  int err, char *buf, size_t size);

/* rnotify_version() - of the library, "1.0.0" */
const char *rnotify_version(void);

#ifdef __cplusplus
}
#endif

#include <rnotify/op.h>
#include <rnotify/ring.h>
#include <rnotify/route.h>

#endif /* _RNOTIFY_RNOTIFY_H */
