/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Endpoint, exports and remote regions: the structs of a connection.
 */
#ifndef RNOTIFY_EP_H
#define RNOTIFY_EP_H

#include <linux/irq_work.h>

#include "bufs.h"
#include "posted.h"
#include "priv.h"
#include "ring.h"

struct rnotify_listener;

/*
 * Queue budgets beside recv_depth and send_depth. qp_sizes() in qp.c adds them
 * up; rnotify_ep.sq_used[] keeps each class within its own.
 */
#define RNOTIFY_SQ_CTRL		8u	/* control messages and keepalive */
#define RNOTIFY_SQ_REG		8u	/* registrations of one batch */
#define RNOTIFY_CTRL_WINDOW	8u	/* control credits given to the peer */

/*
 * An operation's buffer: a NOTIFY, or the header of a MESSAGE, so that it ends
 * where the inline bytes begin. A control message fits as well.
 */
#define RNOTIFY_SEND_HDR	RNOTIFY_WIRE_NOTIFY_LEN
#define RNOTIFY_SEND_BUF	(RNOTIFY_SEND_HDR + RNOTIFY_INLINE_MAX)

/* Longest keepalive and connect time, ms: what the hello can carry. */
#define RNOTIFY_MS_MAX		(65535u * RNOTIFY_WIRE_ALIVE_UNIT)

/* Longest chain that is built before it is handed to the device. */
#define RNOTIFY_CHAIN_WRS	16u
/* Scatter elements of it, at least those of one work request. */
#define RNOTIFY_CHAIN_SGES	128u
/*
 * At least every so many work requests, and bytes, one is signalled; or the next that
 * may be, if it belongs to a bundle.
 */
#define RNOTIFY_SIGNAL_EVERY	8u
#define RNOTIFY_SIGNAL_BYTES	BIT(20)

/**
 * enum rnotify_ep_state - where an endpoint is in its life
 * @RNOTIFY_EP_NEW: being made
 * @RNOTIFY_EP_ADDR: active: rdma_resolve_addr() is running
 * @RNOTIFY_EP_ROUTE: active: rdma_resolve_route() is running
 * @RNOTIFY_EP_CONNECT: active: request sent
 * @RNOTIFY_EP_REQUEST: passive: waits for ACCEPT or REJECT
 * @RNOTIFY_EP_ACCEPT: passive: answer sent
 * @RNOTIFY_EP_ESTABLISHED: in use
 * @RNOTIFY_EP_CLOSING: a cause is recorded; the worker tears down
 * @RNOTIFY_EP_CLOSED: nothing left but the id and the record of the end
 *
 * Only rnotify_ep_transition() changes it.
 */
enum rnotify_ep_state {
	RNOTIFY_EP_NEW,
	RNOTIFY_EP_ADDR,
	RNOTIFY_EP_ROUTE,
	RNOTIFY_EP_CONNECT,
	RNOTIFY_EP_REQUEST,
	RNOTIFY_EP_ACCEPT,
	RNOTIFY_EP_ESTABLISHED,
	RNOTIFY_EP_CLOSING,
	RNOTIFY_EP_CLOSED,
};

/* Bits of rnotify_ep.pending: what the worker shall look at. */
enum rnotify_ep_work {
	RNOTIFY_WORK_ADDR,
	RNOTIFY_WORK_ADDR_AGAIN,
	RNOTIFY_WORK_ROUTE,
	RNOTIFY_WORK_QP_EVENT,
	RNOTIFY_WORK_CLOSE,
};

/**
 * struct rnotify_ctrl_item - a control message that waits for its turn
 * @node: in rnotify_ep.ctrl_queue, or empty
 * @type: RNOTIFY_WIRE_REGION, _GONE or _GONE_ACK
 */
struct rnotify_ctrl_item {
	struct list_head node;
	u8 type;
};

/**
 * struct rnotify_export - what RNOTIFY_IOCTL_SHARE makes
 * @obj: head
 * @ep: endpoint (invariant; referenced)
 * @region: region (invariant; referenced)
 * @region_node: in rnotify_region.exports (rnotify_region.mutex)
 * @ep_node: in rnotify_ep.exports (rnotify_ep.lock)
 * @share_node: in rnotify_ep.shares (rnotify_ep.lock)
 * @map: of the region for the endpoint's device; NULL once revoked
 * @mutex: serialises revocation
 * @work: what is left of an orphan's end
 * @mrs: one per chunk; never registered twice, so that no key ever repeats
 * @nr_mrs: how many
 * @reg_pending: registrations not completed (rnotify_ep.lock)
 * @offset: start in the region, bytes (invariant)
 * @length: bytes (invariant)
 * @rights: &enum rnotify_rights (invariant)
 * @tag: user's mark (invariant)
 * @first_offset: remote address of byte 0: its offset in the page (invariant)
 * @chunk_shift: log2 of the bytes that one MR covers (invariant)
 * @announce: REGION messages to send (rnotify_ep.lock)
 * @gone: REGION_GONE to send (rnotify_ep.lock)
 * @announced: queued for, or known to, the peer (rnotify_ep.lock)
 * @next_key: next key to announce (rnotify_ep.lock)
 * @acked: the peer answered REGION_GONE (rnotify_ep.lock)
 * @stop: it is being taken back: nothing more is registered or announced
 *	(rnotify_ep.lock)
 * @gone_until: jiffies until which the peer's answer is waited for (set with
 *	@stop)
 * @orphan: nobody else cares for it any more: it has a reference of its own, see
 *	revoke.c (rnotify_ep.lock)
 */
struct rnotify_export {
	struct rnotify_obj obj;
	struct rnotify_ep *ep;
	struct rnotify_region *region;
	struct list_head region_node;
	struct list_head ep_node;
	struct list_head share_node;
	struct rnotify_map *map;
	struct mutex mutex;
	struct work_struct work;
	struct ib_mr **mrs;
	u32 nr_mrs;
	u32 reg_pending;
	u64 offset;
	u64 length;
	u32 rights;
	u64 tag;
	u32 first_offset;
	u8 chunk_shift;
	struct rnotify_ctrl_item announce;
	struct rnotify_ctrl_item gone;
	bool announced;
	u32 next_key;
	bool acked;
	bool stop;
	unsigned long gone_until;
	bool orphan;
};

/**
 * struct rnotify_remote - a region that the peer shared with us
 * @id: for the user: generation and table index, never 0
 * @share: its first REGION message; @share.keys is not valid
 * @nr_keys: keys in all: @share.nr_keys
 * @got_keys: keys received; usable when all are there
 * @gone: the peer took it back; freed when @inflight is 0
 * @inflight: posted operations that use it
 * @ack: REGION_GONE_ACK to send
 * @keys: of the chunks, in blocks that are allocated as keys come: the peer tells
 *	how many there will be, but has to send them before they take memory
 *
 * All protected by rnotify_ep.lock.
 */
struct rnotify_remote {
	u32 id;
	struct rnotify_wire_region share;
	u32 nr_keys;
	u32 got_keys;
	bool gone;
	u32 inflight;
	struct rnotify_ctrl_item ack;
	u32 *keys[];
};

/**
 * struct rnotify_ep - one connection
 *
 * @obj: head
 * @ring: the context's (invariant)
 * @params: depths and times in force (invariant after NEW or REQUEST)
 * @cookie: for events (invariant after NEW or REQUEST)
 * @listener: passive side: whose reservation we use until accepted; referenced
 * @passive: came from a listener (invariant)
 * @peer_initiator_depth: READs and atomics that the requester may have
 *	outstanding (invariant; passive side)
 * @peer_responder_resources: those that it can answer (likewise)
 * @session_id: random, for the wire (invariant)
 *
 * @lock: state, send queue, credits, remote regions, control messages; BH
 * @state: (protected by @lock; read without it where a stale value is harmless)
 * @stage: how far we came, for the record (protected by @lock)
 * @down: why it ended; the first cause wins (protected by @lock)
 * @hello: the peer's wishes, from its private data (protected by @lock)
 * @have_hello: @hello is valid (protected by @lock)
 * @peer_data: the peer's private data (protected by @lock)
 * @peer_data_len: bytes of it (protected by @lock)
 * @local_reason: what GOODBYE shall say (protected by @lock)
 * @goodbye: the peer's GOODBYE came, or its reject; nothing after it counts
 *	(protected by @lock)
 * @peer_left: rdma_cm says so: nothing is acknowledged any more (protected by
 *	@lock)
 * @told: ESTABLISHED was written (protected by @lock)
 * @shown: passive side: CONNECT_REQUEST was written; before that there is no
 *	teardown, which would write DISCONNECTED (protected by @lock)
 * @draining: the queue pair is being turned to ERROR: no receive is posted
 *	any more
 *
 * @mutex: control path: CM calls and resources
 * @cm_id: ours until CLOSED (protected by @mutex)
 * @conn_sent: rdma_connect or rdma_accept was called (protected by @mutex)
 * @dev: device, from SETUP to CLOSED (protected by @mutex)
 * @dev_node: in rnotify_dev.eps (rnotify_dev_mutex)
 * @dev_name: kept for info after the device is gone (protected by @mutex)
 * @qp_event: last asynchronous QP error (enum ib_event_type)
 * @port_num: of the device (protected by @mutex)
 * @pd: own PD: the peer's keys reach nothing outside (protected by @mutex)
 * @cq: send and receive completions (protected by @mutex)
 * @cq_schedule: the core's handler, which lets the softirq poll (invariant
 *	while there is @cq)
 * @cq_irq: calls it from an interrupt, see cq.c
 * @qp: RC queue pair (changes with @mutex and @lock; used under either)
 * @local_addr: for info (protected by @mutex)
 * @remote_addr: for info (protected by @mutex)
 * @private_data: ours, for rdma_connect (invariant)
 * @private_len: bytes of it (invariant)
 * @work: the state machine's legs; runs on rnotify_wq
 * @pending: &enum rnotify_ep_work bits
 * @timer: keepalive, stall detection, connect timeout; runs on
 *	system_unbound_wq
 * @deadline: jiffies when connecting has taken too long (invariant)
 * @closed: completes when CLOSED
 * @wait: sleepers for room, registrations, the end
 *
 * @tx: send queue slots; @sq_mask + 1 of them
 * @sq_size: work requests that the queue holds, without the drain's
 * @sq_mask: for slot indices; at least @sq_size - 1
 * @sq_head: slots taken, free-running
 * @sq_tail: slots completed, free-running
 * @sq_used: per class, slots taken and not completed
 * @sq_high: high-water mark of all
 * @sq_broken: a work request failed or was flushed: nothing more completes
 * @post_failed: the device refused a work request: no other may follow it
 * @sq_unsignaled: work requests since the last signalled one
 * @sq_unsignaled_bytes: bytes of them
 * @sq_bytes: bytes of all work requests that are not completed
 * @chain_wr: scratch for the chain being built
 * @chain_sge: its scatter lists, RNOTIFY_CHAIN_SGES in all
 * @chain_len: work requests in it
 * @max_sge: scatter elements of a work request
 * @max_sge_rd: the same for a READ
 * @room_seq: changes whenever room, credit or state may let a post succeed
 * @want_write: a post got -EAGAIN; counted in rnotify_ctx.nr_blocked
 * @want_place: a SHARE got -EMFILE
 * @owe_writable: the user is to be told by WRITABLE
 * @want_wrs: that post needs so many work requests
 * @want_credit: and a data credit
 * @want_event: and a ring entry for TX_DONE
 * @credit: data credits from the peer
 * @ctrl_credit: control credits from the peer
 * @region_credit: how many more regions may be announced
 * @rv_tx: ring entries for TX_DONE
 * @stall_tail: @sq_tail when the timer last looked
 * @stall_since: jiffies when it last moved
 * @send_bufs: RNOTIFY_SQ_CTRL for control messages, then send_depth for headers
 *	and inline bytes of operations
 * @buf_next: of these, the one to use next, less than send_depth
 * @ctrl_busy: bitmap of those for control messages
 * @ctrl_queue: &struct rnotify_ctrl_item to send
 * @credit_busy: a CREDIT is on its way to the peer
 * @goodbye_sent: posted; nothing is posted after it
 * @remotes: table of remote regions
 * @remote_gen: generation for ids
 * @exports: shares of this endpoint that take a place
 * @shares: those with an id, revoked ones as well
 * @nr_exports: how many
 * @tx_posted: operations accepted
 * @tx_notify: those that take a credit
 * @tx_bundled: those of them that shared packets
 * @tx_confirmed: those of them that the peer's kernel has
 * @tx_bytes: bytes of completed operations
 * @eagain: posts refused for want of credit or room
 *
 * @rx: posted receives; @rq_size of them
 * @rx_bufs: their buffers
 * @rq_size: receives, without the drain's
 * @rq_posted: receives posted now
 * @rq_low: low-water mark
 * @grant: data credits given (protected by rnotify_ring.lock)
 * @ctrl_grant: control credits given (protected by rnotify_ring.lock)
 * @region_grant: region slots given (protected by rnotify_ring.lock)
 * @gone_consumed: REMOTE_REGION_GONE events consumed whose region slot is not
 *	given back yet (protected by rnotify_ring.lock)
 * @gone_freed: remote regions freed, likewise (protected by rnotify_ring.lock)
 * @rv_rx: ring entries behind data credits
 * @rv_life: ESTABLISHED, DISCONNECTED, REMOTE_REGION
 * @rv_gone: REMOTE_REGION_GONE
 * @rv_writable: WRITABLE
 * @starved: the peer is out of data credit (protected by rnotify_ring.lock)
 * @rx_consumed: notifications consumed (protected by rnotify_ring.lock)
 * @eventfd: signalled at the first unconsumed NOTIFY or MESSAGE, and at the end
 *	(RCU; writers hold the context's setup_mutex)
 * @ring_node: in rnotify_ring.consumed (protected by rnotify_ring.lock)
 * @rx_seq: notifications delivered (written under rnotify_ring.lock)
 * @rx_last: index of the last that became an event; of use while it is in the ring
 *	(protected by rnotify_ring.lock)
 * @rx_bytes: bytes of them (written by the CQ's context only)
 * @routes: rules, or NULL (protected by rnotify_ring.lock)
 * @routes_over: it has ended: no rules any more (protected by rnotify_ring.lock)
 * @rx_counted: notifications that rules sent to counters (protected by
 *	rnotify_ring.lock)
 * @rx_slotted: those sent to slot tables (likewise)
 * @rx_dropped: those dropped (likewise)
 * @rx_stale: those of an old generation (likewise)
 */
struct rnotify_ep {
	struct rnotify_obj obj;
	struct rnotify_ring *ring;
	struct rnotify_params params;
	u64 cookie;
	struct rnotify_listener *listener;
	bool passive;
	u8 peer_initiator_depth;
	u8 peer_responder_resources;
	u64 session_id;

	spinlock_t lock;
	enum rnotify_ep_state state;
	u16 stage;
	struct rnotify_event_down down;
	struct rnotify_hello hello;
	bool have_hello;
	u8 peer_data[RNOTIFY_PRIVATE_DATA_MAX];
	u32 peer_data_len;
	u16 local_reason;
	bool goodbye;
	bool peer_left;
	bool told;
	bool shown;
	bool draining;

	struct mutex mutex;
	struct rdma_cm_id *cm_id;
	bool conn_sent;
	struct rnotify_dev *dev;
	struct list_head dev_node;
	char dev_name[IB_DEVICE_NAME_MAX];
	u32 qp_event;
	u32 port_num;
	struct ib_pd *pd;
	struct ib_cq *cq;
	ib_comp_handler cq_schedule;
	struct irq_work cq_irq;
	struct ib_qp *qp;
	struct sockaddr_storage local_addr;
	struct sockaddr_storage remote_addr;
	u8 private_data[RNOTIFY_PRIVATE_DATA_MAX];
	u32 private_len;
	struct work_struct work;
	unsigned long pending;
	struct delayed_work timer;
	unsigned long deadline;
	struct completion closed;
	wait_queue_head_t wait;

	/* Transmit side, all under @lock unless said otherwise. */
	struct rnotify_tx *tx;
	u32 sq_size;
	u32 sq_mask;
	u32 sq_head;
	u32 sq_tail;
	u32 sq_used[RNOTIFY_SQ_CLASSES];
	u32 sq_high;
	bool sq_broken;
	bool post_failed;
	u32 sq_unsignaled;
	u32 sq_unsignaled_bytes;
	u64 sq_bytes;
	union rnotify_wr *chain_wr;
	struct ib_sge *chain_sge;
	u32 chain_len;
	u32 max_sge;
	u32 max_sge_rd;
	u32 room_seq;
	bool want_write;
	bool want_place;
	bool owe_writable;
	u32 want_wrs;
	bool want_credit;
	bool want_event;
	struct rnotify_credit credit;
	struct rnotify_credit ctrl_credit;
	struct rnotify_credit region_credit;
	struct rnotify_resv rv_tx;
	u32 stall_tail;
	unsigned long stall_since;
	struct rnotify_bufs send_bufs;
	u32 buf_next;
	unsigned long ctrl_busy;
	struct list_head ctrl_queue;
	bool credit_busy;
	bool goodbye_sent;
	struct rnotify_remote *remotes[RNOTIFY_SHARES_MAX];
	u32 remote_gen;
	struct list_head exports;
	struct list_head shares;
	u32 nr_exports;
	u64 tx_posted;
	u64 tx_notify;
	u64 tx_bundled;
	u64 tx_confirmed;
	u64 tx_bytes;
	u64 eagain;

	/* Receive side. */
	struct rnotify_rx *rx ____cacheline_aligned_in_smp;
	struct rnotify_bufs rx_bufs;
	u32 rq_size;
	u32 rq_posted;
	u32 rq_low;
	struct rnotify_grant grant;
	struct rnotify_grant ctrl_grant;
	struct rnotify_grant region_grant;
	u32 gone_consumed;
	u32 gone_freed;
	struct rnotify_resv rv_rx;
	struct rnotify_resv rv_life;
	struct rnotify_resv rv_gone;
	struct rnotify_resv rv_writable;
	bool starved;
	u64 rx_consumed;
	struct eventfd_ctx __rcu *eventfd;
	struct list_head ring_node;
	u64 rx_seq;
	u32 rx_last;
	u64 rx_bytes;
	struct rnotify_routes *routes;
	bool routes_over;
	u64 rx_counted;
	u64 rx_slotted;
	u64 rx_dropped;
	u64 rx_stale;
};

static inline struct rnotify_ep *to_ep(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_ep, obj);
}

static inline struct rnotify_export *to_export(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_export, obj);
}

/* endpoint.c: life */
struct rnotify_ep *rnotify_ep_alloc(struct rnotify_ctx *ctx, gfp_t gfp);
int rnotify_ep_set_params(struct rnotify_ep *ep,
			  const struct rnotify_params *params);
int rnotify_ep_set_eventfd(struct rnotify_ep *ep, int fd);
int rnotify_ep_reserve_ring(struct rnotify_ep *ep);
bool rnotify_ep_transition(struct rnotify_ep *ep, enum rnotify_ep_state to);
void rnotify_ep_fail(struct rnotify_ep *ep, u16 reason, int error);
void rnotify_ep_fail_locked(struct rnotify_ep *ep, u16 reason, int error,
			    u32 ib_status, u32 vendor_err);
int rnotify_ep_over(const struct rnotify_ep *ep, int error);
void rnotify_ep_established(struct rnotify_ep *ep);
void rnotify_ep_close(struct rnotify_ep *ep);
void rnotify_ep_release(struct rnotify_ep *ep);
void rnotify_ep_queue(struct rnotify_ep *ep, enum rnotify_ep_work bit);
void rnotify_ep_consumed(struct rnotify_ep *ep);
void rnotify_ep_event(struct rnotify_ep *ep, struct rnotify_event *ev, u16 type);

/* teardown.c: the end */
void rnotify_ep_teardown(struct rnotify_ep *ep);

/* timer.c */
void rnotify_ep_timer_start(struct rnotify_ep *ep);
void rnotify_ep_timer_fn(struct work_struct *work);

/* connect.c, accept.c: rdma_cm */
int rnotify_connect(struct rnotify_ctx *ctx, struct rnotify_connect *arg,
		    const void *private_data);
bool rnotify_connect_again(struct rnotify_ep *ep, int status);
void rnotify_connect_step(struct rnotify_ep *ep, unsigned long pending);
int rnotify_accept(struct rnotify_ep *ep, const struct rnotify_accept *arg,
		   const void *private_data);
int rnotify_reject(struct rnotify_ep *ep, const void *private_data, u32 len);
int rnotify_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev);
void rnotify_cm_param(struct rnotify_ep *ep, struct rdma_conn_param *param,
		      u8 *buf, const void *private_data, u32 len);
void rnotify_cm_send_reject(struct rdma_cm_id *id, u16 reason, int error,
			    const char *text, const void *private_data,
			    u32 len);
void rnotify_cm_hello(struct rnotify_ep *ep, const struct rnotify_hello *hello);
void rnotify_cm_tune(struct rnotify_ep *ep);
int rnotify_cm_errno(int ret);
void rnotify_cm_failed(struct rnotify_ep *ep, int status);

/* qp.c: PD, CQ, QP and queues */
int rnotify_qp_create(struct rnotify_ep *ep);
void rnotify_qp_end(struct rnotify_ep *ep);
void rnotify_qp_destroy(struct rnotify_ep *ep);

/* cq.c: completion queue */
int rnotify_cq_create(struct rnotify_ep *ep, u32 nr);
void rnotify_cq_destroy(struct rnotify_ep *ep);

/* rx.c: receives */
int rnotify_rx_post_all(struct rnotify_ep *ep);
void rnotify_rx_done(struct ib_cq *cq, struct ib_wc *wc);

/* tx.c: send queue */
static inline struct rnotify_tx *rnotify_tx_slot(const struct rnotify_ep *ep,
						 u32 index)
{
	return &ep->tx[index & ep->sq_mask];
}

struct rnotify_tx *rnotify_tx_next(struct rnotify_ep *ep,
				   enum rnotify_sq_class sq_class);
union rnotify_wr *rnotify_chain_add(struct rnotify_ep *ep,
				    struct rnotify_tx *tx);
void rnotify_post_wr(struct rnotify_ep *ep, struct ib_send_wr *wr);
void rnotify_chain_flush(struct rnotify_ep *ep, bool signal_last);
bool rnotify_tx_room(const struct rnotify_ep *ep,
		     enum rnotify_sq_class sq_class, u32 nr);
void rnotify_tx_done(struct ib_cq *cq, struct ib_wc *wc);
void rnotify_tx_flush(struct rnotify_ep *ep);
void rnotify_tx_wake(struct rnotify_ep *ep);
void rnotify_tx_keepalive(struct rnotify_ep *ep);
bool rnotify_tx_uses(struct rnotify_ep *ep, const struct rnotify_region *region);

/* wc.c: what a failed completion means */
int rnotify_wc_errno(enum ib_wc_status status);
u16 rnotify_wc_reason(enum ib_wc_status status);

/* ctrl.c: control messages */
void rnotify_ctrl_credit(struct rnotify_ep *ep);
void rnotify_ctrl_enqueue(struct rnotify_ep *ep, struct rnotify_ctrl_item *item,
			  u8 type);
void rnotify_ctrl_pump(struct rnotify_ep *ep);
bool rnotify_ctrl_goodbye(struct rnotify_ep *ep);
int rnotify_ctrl_receive(struct rnotify_ep *ep,
			 const struct rnotify_wire_msg *msg);

/* remote.c: the peer's regions */
u32 rnotify_remote_key(const struct rnotify_remote *remote, u32 chunk);
struct rnotify_remote *rnotify_remote_find(struct rnotify_ep *ep, u32 id);
int rnotify_remote_announce(struct rnotify_ep *ep,
			    const struct rnotify_wire_msg *msg);
int rnotify_remote_gone(struct rnotify_ep *ep, u32 share_id);
void rnotify_remote_put(struct rnotify_ep *ep, struct rnotify_remote *remote);
void rnotify_remote_slots_return(struct rnotify_ep *ep);
void rnotify_remote_free(struct rnotify_ep *ep, struct rnotify_remote *remote);
void rnotify_remotes_destroy(struct rnotify_ep *ep);

/* export.c: our regions for the peer */
bool rnotify_ep_has_place(const struct rnotify_ep *ep);
int rnotify_export_create(struct rnotify_ctx *ctx, struct rnotify_share *arg);

/* revoke.c: taking them back */
extern const struct rnotify_obj_ops rnotify_export_ops;

void rnotify_export_init_work(struct rnotify_export *export);
void rnotify_export_abandon(struct rnotify_export *export);
void rnotify_export_registered(struct rnotify_export *export);
void rnotify_export_gone_sent(struct rnotify_export *export);
void rnotify_export_revoke(struct rnotify_export *export);
void rnotify_exports_revoke_all(struct rnotify_ep *ep);
void rnotify_exports_destroy(struct rnotify_region *region);
void rnotify_exports_release(struct rnotify_ep *ep);
void rnotify_export_acked(struct rnotify_ep *ep, u32 share_id);

#endif /* RNOTIFY_EP_H */
