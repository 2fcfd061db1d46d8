/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the selftest programs share: contexts and their rings, awaited events,
 * connected pairs, posts. Everything speaks to the kernel by raw ioctls, so
 * that the ABI itself is what is tested.
 *
 * A helper that finds its expectation not met prints where and what, and
 * aborts the process. That works in threads and in forked children, too, where
 * the ASSERT_*() of the harness do not.
 */
#ifndef _RNT_H
#define _RNT_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/rnotify.h>

#define RNT_PAGE	4096u
#define RNT_KIB		1024ul
#define RNT_MIB		(1024ul * 1024)
#define RNT_GIB		(1024ul * 1024 * 1024)

/* An awaited event or process has this long, times RNOTIFY_SLOW. */
#define RNT_PATIENCE_MS	10000
/* A round trip that takes longer is a stall, times RNOTIFY_SLOW. */
#define RNT_STALL_MS	2000
#define RNT_LISTENER_COOKIE	0x6c697374656e
/* Where keepalive, or the time to connect, is not the subject */
#define RNT_KEEPALIVE_MS	20000
#define RNT_CONNECT_MS		120000

/* ---- failing ---- */

/* Remember the caller, for the report of a helper that fails. */
void rnt_at(const char *file, int line);
void rnt_fail_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#define rnt_fail(...)	rnt_fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define rnt_check(cond) do {						\
	if (!(cond))							\
		rnt_fail("not true: %s (errno %d)", #cond, errno);	\
} while (0)
#define rnt_check_eq(want, seen) do {					\
	long long want_ = (long long)(want), seen_ = (long long)(seen);	\
	if (want_ != seen_)						\
		rnt_fail("%s is %lld (%#llx), not %s (%lld)", #seen,	\
			 seen_, seen_, #want, want_);			\
} while (0)

/* ---- time ---- */

uint64_t rnt_now_ns(void);		/* CLOCK_MONOTONIC */
double rnt_slow(void);			/* RNOTIFY_SLOW, 1 if unset */
uint64_t rnt_deadline(unsigned int ms);	/* now plus ms, scaled */
int rnt_left_ms(uint64_t deadline);	/* for poll(): at least 0 */
int rnt_seconds(int seconds);		/* scaled, for test timeouts */
unsigned int rnt_count(unsigned int n);	/* rounds: fewer on slow kernels */
bool rnt_long(void);			/* make check-long, not on debug kernels */
/* rnt_count(n), or exactly so many in make check-long */
unsigned int rnt_rounds(unsigned int n, unsigned int n_long);
void rnt_sleep_us(unsigned int us);	/* think time of a test, not a wait */

/*
 * The harness, to be included before, gives each test 30 s; here they grow with
 * RNOTIFY_SLOW. That works for TEST_F() only, not for TEST(): its time is
 * computed when the program starts.
 */
#define RNT_TIMEOUT(seconds)	rnt_seconds(seconds)
#define RNT_TIMEOUT_LONG(seconds, seconds_long) \
	rnt_seconds(rnt_long() ? (seconds_long) : (seconds))
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	RNT_TIMEOUT(30)
#endif

/* ---- contexts ---- */

struct rnt_seen {
	__u32 endpoint;
	bool down;
	__u64 seq;
};

struct rnt_ctx {
	int fd;
	struct rnotify_setup setup;
	const struct rnotify_ring_head *head;
	const struct rnotify_event *entries;
	struct rnotify_ring_tail *tail;
	const char *msgs;		/* message area or NULL */
	__u32 cons;
	__u32 mask;
	/* events consumed, but not asked for yet */
	struct rnotify_event *stash;
	unsigned int nr_stash;
	unsigned int max_stash;
	bool routed;		/* rules take some notifications */
	/* what was seen of each endpoint, to check that nothing is lost */
	struct rnt_seen *seen;
	unsigned int nr_seen;
};

int rnt_open(void);
/* 0 or -errno; a positive return of the kernel is a failure of the test */
int rnt_ioctl(int fd, unsigned long cmd, void *arg);
void rnt_init(struct rnt_ctx *c, unsigned int ring, unsigned int msg_size);
void rnt_map(struct rnt_ctx *c);	/* the mappings, after SETUP */
void rnt_close(struct rnt_ctx *c);
void rnt_destroy(struct rnt_ctx *c, __u32 id);
int rnt_destroy_err(struct rnt_ctx *c, __u32 id);
int rnt_disconnect(struct rnt_ctx *c, __u32 endpoint);
void rnt_info(struct rnt_ctx *c, __u32 endpoint,
	      struct rnotify_endpoint_info *info);
int rnt_wait(struct rnt_ctx *c, unsigned int min_events, __s64 timeout_ns,
	     __u64 spin_ns, __u32 *nr);
void rnt_kick(struct rnt_ctx *c);

/* ---- the ring, by hand ---- */

__u32 rnt_pending(struct rnt_ctx *c);
const struct rnotify_event *rnt_peek(struct rnt_ctx *c);
/* Give entries back and kick if the kernel asks for it. */
void rnt_consume(struct rnt_ctx *c, unsigned int n);
/* poll() for events; revents, 0 on timeout */
short rnt_poll(struct rnt_ctx *c, short events, unsigned int ms);

/* ---- events, one at a time, for one endpoint or for all (0) ---- */

const char *rnt_type_name(unsigned int type);
bool rnt_take(struct rnt_ctx *c, __u32 endpoint, struct rnotify_event *ev,
	      unsigned int ms);
bool rnt_take_type(struct rnt_ctx *c, __u32 endpoint, unsigned int type,
		   struct rnotify_event *ev, unsigned int ms);
void rnt_expect_(struct rnt_ctx *c, __u32 endpoint, unsigned int type,
		 struct rnotify_event *ev);
void rnt_expect_none_(struct rnt_ctx *c, __u32 endpoint, unsigned int ms);

#define rnt_expect(...) \
	(rnt_at(__FILE__, __LINE__), rnt_expect_(__VA_ARGS__))
#define rnt_expect_none(...) \
	(rnt_at(__FILE__, __LINE__), rnt_expect_none_(__VA_ARGS__))

/* ---- connections ---- */

struct rnt_pair {
	struct rnt_ctx *a;	/* active side */
	struct rnt_ctx *b;	/* passive side; may be the same context */
	__u32 ea;
	__u32 eb;
	__u32 listener;
	__u16 port;
};

void rnt_addr(struct rnotify_sockaddr *sa, const char *text, __u16 port);
const char *rnt_addr4(void);
const char *rnt_addr6(void);
__u32 rnt_listen_(struct rnt_ctx *c, const char *addr, __u16 *port,
		  unsigned int backlog);
/* These are patient where the parameters say nothing; the ioctls are not. */
__u32 rnt_connect_(struct rnt_ctx *c, const char *addr, __u16 port,
		   const struct rnotify_params *params, __u64 cookie);
int rnt_accept(struct rnt_ctx *c, __u32 endpoint,
	       const struct rnotify_params *params, __u64 cookie);
int rnt_connect_err(struct rnt_ctx *c, struct rnotify_connect *arg,
		    const char *addr, __u16 port);
int rnt_reject(struct rnt_ctx *c, __u32 endpoint);
/* The request of a peer, whatever other events there are; its endpoint. */
__u32 rnt_request_(struct rnt_ctx *c, struct rnotify_event *ev);
void rnt_pair_open_(struct rnt_pair *p, struct rnt_ctx *a, struct rnt_ctx *b,
		    const struct rnotify_params *pa,
		    const struct rnotify_params *pb);
/* One more connection of the same two contexts through the pair's listener. */
void rnt_pair_more_(const struct rnt_pair *p, struct rnt_pair *more);
/* The same with parameters */
void rnt_more_(const struct rnt_pair *p, struct rnt_pair *more,
	       const struct rnotify_params *pa,
	       const struct rnotify_params *pb);

#define rnt_listen(...) (rnt_at(__FILE__, __LINE__), rnt_listen_(__VA_ARGS__))
#define rnt_connect(...) (rnt_at(__FILE__, __LINE__), rnt_connect_(__VA_ARGS__))
#define rnt_request(...) (rnt_at(__FILE__, __LINE__), rnt_request_(__VA_ARGS__))
#define rnt_pair_open(...) \
	(rnt_at(__FILE__, __LINE__), rnt_pair_open_(__VA_ARGS__))
#define rnt_pair_more(...) \
	(rnt_at(__FILE__, __LINE__), rnt_pair_more_(__VA_ARGS__))

/* ---- memory ---- */

struct rnt_region {
	__u32 id;
	char *p;
	size_t len;
	bool alloc;
};

int rnt_register(struct rnt_ctx *c, struct rnotify_register *reg, void *p,
		 __u64 len, __u32 flags);
void rnt_region_alloc_(struct rnt_ctx *c, struct rnt_region *r, size_t len);
void rnt_region_user_(struct rnt_ctx *c, struct rnt_region *r, void *p,
		      size_t len, __u32 flags);
void rnt_region_drop(struct rnt_ctx *c, struct rnt_region *r);
int rnt_share_err(struct rnt_ctx *c, struct rnotify_share *share);
__u32 rnt_share_(struct rnt_ctx *c, __u32 endpoint, __u32 region, __u64 offset,
		 __u64 length, __u32 rights, __u64 tag);
/* b's region for a: share it and wait until a knows it; returns remote_id */
__u32 rnt_grant_(struct rnt_pair *p, __u32 region, __u64 offset, __u64 length,
		 __u32 rights, __u32 *share_id);
void *rnt_anon(size_t len);		/* zeroed private memory */

#define rnt_region_alloc(...) \
	(rnt_at(__FILE__, __LINE__), rnt_region_alloc_(__VA_ARGS__))
#define rnt_region_user(...) \
	(rnt_at(__FILE__, __LINE__), rnt_region_user_(__VA_ARGS__))
#define rnt_share(...) (rnt_at(__FILE__, __LINE__), rnt_share_(__VA_ARGS__))
#define rnt_grant(...) (rnt_at(__FILE__, __LINE__), rnt_grant_(__VA_ARGS__))

/* Bytes that depend on seed and position, so that a shift shows as well. */
void rnt_fill(void *p, size_t len, unsigned int seed);
/* Offset of the first wrong byte, -1 if all are right. */
long rnt_diff(const void *p, size_t len, unsigned int seed);
long rnt_diff_byte(const void *p, size_t len, unsigned char byte);

/* ---- posting ---- */

struct rnotify_op rnt_op_notify(__u32 endpoint, __u32 imm);
struct rnotify_op rnt_op_rw(unsigned int opcode, __u32 endpoint, __u32 region,
			    __u64 local, __u32 remote, __u64 roff, __u32 len);
struct rnotify_op rnt_op_inline(unsigned int opcode, __u32 endpoint,
				const void *p, __u32 remote, __u64 roff,
				__u32 len);
/*
 * The ioctl with its outputs checked against each other. 0 or -errno.
 * timeout_ms: < 0 for ever, 0 do not block, else scaled.
 */
int rnt_post(struct rnt_ctx *c, const struct rnotify_op *ops, unsigned int nr,
	     int timeout_ms, unsigned int *accepted, int *error);
int rnt_try(struct rnt_ctx *c, const struct rnotify_op *op);
/* Must be accepted, within the usual patience. */
void rnt_post1_(struct rnt_ctx *c, const struct rnotify_op *op);

#define rnt_post1(...) (rnt_at(__FILE__, __LINE__), rnt_post1_(__VA_ARGS__))

/* ---- streams ---- */

/* NOTIFYs with imm and user_data counted up until EAGAIN; how many it took */
unsigned int rnt_post_until_full_(struct rnt_ctx *c, __u32 endpoint,
				  __u32 imm, unsigned int flags);
/* so many bare notifications, counted up */
void rnt_expect_imms_(struct rnt_ctx *c, __u32 endpoint, __u32 imm,
		      unsigned int nr);
void rnt_expect_tx_(struct rnt_ctx *c, __u32 endpoint, __u64 user_data,
		    int error, struct rnotify_event *ev);
/* PEER_EXIT, or PEER_CLOSE */
#define RNT_PEER_GONE	(~0u)
/* DISCONNECTED, whatever comes before it */
void rnt_down_(struct rnt_ctx *c, __u32 endpoint, unsigned int reason,
	       struct rnotify_event *ev);
/* Both sides at rest agree on all counters, and on credits if all is consumed */
void rnt_settle_(const struct rnt_pair *p, bool consumed);

#define RNT_RNR_COUNTERS	3

struct rnt_rnr {
	long long value[RNT_RNR_COUNTERS];
};

void rnt_rnr_read(struct rnt_rnr *rnr);
bool rnt_rnr_same(const struct rnt_rnr *before);

#define rnt_post_until_full(...) \
	(rnt_at(__FILE__, __LINE__), rnt_post_until_full_(__VA_ARGS__))
#define rnt_expect_imms(...) \
	(rnt_at(__FILE__, __LINE__), rnt_expect_imms_(__VA_ARGS__))
#define rnt_expect_tx(...) \
	(rnt_at(__FILE__, __LINE__), rnt_expect_tx_(__VA_ARGS__))
#define rnt_down(...) (rnt_at(__FILE__, __LINE__), rnt_down_(__VA_ARGS__))
#define rnt_settle(...) (rnt_at(__FILE__, __LINE__), rnt_settle_(__VA_ARGS__))
#define rnt_more(...) (rnt_at(__FILE__, __LINE__), rnt_more_(__VA_ARGS__))

/* ---- rules and what they name ---- */

struct rnt_counter {
	__u32 id;
	const struct rnotify_counter_page *page;
};

struct rnt_slots {
	__u32 id;
	const struct rnotify_slots_head *head;
	const __u64 *dirty;
	const struct rnotify_slot *slot;
	size_t mapped;
};

struct rnotify_rule rnt_rule(__u32 mask, __u32 value, unsigned int action,
			     __u32 object_id);
int rnt_route_err(struct rnt_ctx *c, __u32 endpoint,
		  const struct rnotify_rule *rules, unsigned int nr);
void rnt_route_(struct rnt_ctx *c, __u32 endpoint,
		const struct rnotify_rule *rules, unsigned int nr);
void rnt_counter_open_(struct rnt_ctx *c, struct rnt_counter *counter);
/* the count, to be believed */
__u64 rnt_counter_count(const struct rnt_counter *counter);
/* wait until it is exactly that: more is a failure, too */
void rnt_counter_is_(struct rnt_ctx *c, const struct rnt_counter *counter,
		     __u64 count);
int rnt_counter_wait(struct rnt_ctx *c, const struct rnt_counter *counter,
		     __u64 threshold, __s64 timeout_ns,
		     struct rnotify_counter_wait *arg);
void rnt_counter_reset_(struct rnt_ctx *c, const struct rnt_counter *counter,
			struct rnotify_counter_reset *arg);
int rnt_watch_err(struct rnt_ctx *c, struct rnotify_counter_watch *arg);
__u32 rnt_watch_(struct rnt_ctx *c, const struct rnt_counter *counter,
		 __u64 threshold, __u64 step, __u64 cookie);
int rnt_watch_arm(struct rnt_ctx *c, __u32 watch, __u64 threshold, __u64 step);
void rnt_slots_open_(struct rnt_ctx *c, struct rnt_slots *slots,
		     unsigned int nr, __u32 flags, __u64 cookie);
/* from the whole table, unless arg says otherwise */
int rnt_slots_take(struct rnt_ctx *c, const struct rnt_slots *slots,
		   struct rnotify_slot *to, unsigned int max, __s64 timeout_ns,
		   struct rnotify_slots_take *arg);
__u32 rnt_generation_(struct rnt_ctx *c, __u32 value);
/* returns the old value */
__u32 rnt_generation_set_(struct rnt_ctx *c, __u32 id, __u32 value,
			  __u64 *stale);

#define rnt_route(...) (rnt_at(__FILE__, __LINE__), rnt_route_(__VA_ARGS__))
#define rnt_counter_open(...) \
	(rnt_at(__FILE__, __LINE__), rnt_counter_open_(__VA_ARGS__))
#define rnt_counter_is(...) \
	(rnt_at(__FILE__, __LINE__), rnt_counter_is_(__VA_ARGS__))
#define rnt_counter_reset(...) \
	(rnt_at(__FILE__, __LINE__), rnt_counter_reset_(__VA_ARGS__))
#define rnt_watch(...) (rnt_at(__FILE__, __LINE__), rnt_watch_(__VA_ARGS__))
#define rnt_slots_open(...) \
	(rnt_at(__FILE__, __LINE__), rnt_slots_open_(__VA_ARGS__))
#define rnt_generation(...) \
	(rnt_at(__FILE__, __LINE__), rnt_generation_(__VA_ARGS__))
#define rnt_generation_set(...) \
	(rnt_at(__FILE__, __LINE__), rnt_generation_set_(__VA_ARGS__))

/* ---- threads ---- */

struct rnt_thread {
	pthread_t thread;
	pid_t tid;
	void *(*fn)(void *arg);
	void *arg;
};

void rnt_thread_start(struct rnt_thread *t, void *(*fn)(void *), void *arg);
/* false if it does not end within that time */
bool rnt_thread_ends(struct rnt_thread *t, unsigned int ms, void **ret);
void *rnt_thread_join_(struct rnt_thread *t);	/* must end soon */
/* Wait until a thread or process sleeps in that system call (SYS_...). */
void rnt_await_sleep_(pid_t tid, long nr);

#define rnt_thread_join(t) \
	(rnt_at(__FILE__, __LINE__), rnt_thread_join_(t))
#define rnt_await_sleep(...) \
	(rnt_at(__FILE__, __LINE__), rnt_await_sleep_(__VA_ARGS__))

/* ---- processes and what the kernel tells about itself ---- */

pid_t rnt_fork(void);			/* the child dies with its parent */
void rnt_join_(pid_t pid);		/* must end well, soon */
void rnt_kill(pid_t pid);		/* SIGKILL and reap */
#define rnt_join(pid) (rnt_at(__FILE__, __LINE__), rnt_join_(pid))
void rnt_shell_(const char *command);	/* must succeed */
#define rnt_shell(command) (rnt_at(__FILE__, __LINE__), rnt_shell_(command))
/* One file in one message of a Unix socket. */
void rnt_send_fd(int sock, int fd);
int rnt_receive_fd(int sock);
/* All threads of this process are stopped by SIGSTOP, and go on by SIGCONT. */
void rnt_stop_and_continue_(void);
#define rnt_stop_and_continue() \
	(rnt_at(__FILE__, __LINE__), rnt_stop_and_continue_())

/* "key: number" or "key number" in a /proc file; -1 if it is not there */
long long rnt_proc(const char *file, const char *key);
long long rnt_vmpin_kib(void);		/* of this process */
long long rnt_pins(void);		/* pages pinned in the whole system */
/* Pins are dropped from workqueues, too: wait until no more than that. */
bool rnt_pins_back(long long pins);
long long rnt_hw_counter(const char *name);	/* of rxe0, port 1 */

/* Pins, and what rxe0 has of verbs objects. */
#define RNT_BASE_RESOURCES	5

struct rnt_base {
	long long pins;
	long resource[RNT_BASE_RESOURCES];
};

void rnt_base_read(struct rnt_base *base);
/* Wait until all is as it was. */
bool rnt_base_back(const struct rnt_base *base);

/* ---- the RDMA device rxe0 ---- */

/* Its removal takes no longer (FAULTS 29), times RNOTIFY_SLOW. */
#define RNT_REMOVAL_MS	5000

bool rnt_link_is_there(void);
void rnt_link_delete_(void);
void rnt_link_add_(void);

#define rnt_link_delete() (rnt_at(__FILE__, __LINE__), rnt_link_delete_())
#define rnt_link_add() (rnt_at(__FILE__, __LINE__), rnt_link_add_())

/* ---- the module ---- */

bool rnt_module_is_there(void);
int rnt_module_unload(void);
void rnt_module_load_(void);

#define rnt_module_load() (rnt_at(__FILE__, __LINE__), rnt_module_load_())

/* ---- faults that are injected: the debug kernel only ---- */

void rnt_fault_setup(void);
/* the n-th allocation or user copy of this thread from now on fails */
void rnt_fault_arm(unsigned int n);
bool rnt_fault_disarm(void);		/* true if it did */
/* one of the system's after so many bytes of slab objects */
void rnt_fault_system(long space);
bool rnt_fault_system_off(void);	/* true if it did */

#endif /* _RNT_H */
