/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_RING_H
#define RNOTIFY_RING_H

#include <linux/hrtimer.h>

#include "priv.h"

struct rnotify_resv;

/* Safety net for readers that ignore need_kick; not the mechanism. */
#define RNOTIFY_KICK_PERIOD	msecs_to_jiffies(250)

/**
 * enum rnotify_resv_kind - what consuming an entry gives back
 * @RNOTIFY_RESV_PLAIN: only the ring entry
 * @RNOTIFY_RESV_DATA: a data credit for the peer
 * @RNOTIFY_RESV_GONE: room for one more remote region
 * @RNOTIFY_RESV_NOTICE: room for the notice that it belongs to
 */
enum rnotify_resv_kind {
	RNOTIFY_RESV_PLAIN,
	RNOTIFY_RESV_DATA,
	RNOTIFY_RESV_GONE,
	RNOTIFY_RESV_NOTICE,
};

/**
 * struct rnotify_resv - ring entries set aside for one purpose
 * @nr: entries reserved
 * @in_ring: of these, how many hold an unconsumed event
 * @promised: of these, how many somebody counts on for a later event
 * @blocked: a promise was refused, or a notice kept back: consumption of ours is
 *	to be told to @ep, or makes the notice
 * @retired: nothing is reserved anew; only promises are left (then nr ==
 *	promised), and what redeems them is an orphan at once
 * @kind: &enum rnotify_resv_kind (invariant)
 * @ep: endpoint that its events are about, and that is told of consumption;
 *	NULL for a listener's and a notice's (invariant)
 *
 * All protected by rnotify_ring.lock. nr >= in_ring + promised, always.
 */
struct rnotify_resv {
	u32 nr;
	u32 in_ring;
	u32 promised;
	bool blocked;
	bool retired;
	enum rnotify_resv_kind kind;
	struct rnotify_ep *ep;
};

/**
 * struct rnotify_notice - an event of which one at a time is enough
 * @resv: its ring entry; @blocked while it is kept back
 * @fill: completes the event; under rnotify_ring.lock (invariant)
 */
struct rnotify_notice {
	struct rnotify_resv resv;
	void (*fill)(struct rnotify_notice *notice, struct rnotify_event *ev);
};

/**
 * struct rnotify_ring - a context's event ring
 * @lock: protects the fields down to @consumed; BH
 * @entries: size, a power of two (invariant)
 * @msg_size: bytes of a message slot, 0 if there is no message area (invariant)
 * @prod: entries written (private copy of head->prod)
 * @reclaimed: entries known to be consumed
 * @reserved: sum of the reservations, plus orphans still in the ring; never
 *	more than @entries
 * @nr_starved: reasons to ask the reader for a KICK: endpoints whose peers are
 *	out of credit, refused promises, and notices kept back
 * @owner: per entry, whose reservation it uses; NULL for orphans
 * @consumed: endpoints with consumption to account, see rnotify_ep.ring_node
 * @head: page mapped read-only; written by the kernel only
 * @events: entries, mapped read-only behind @head
 * @tail: page mapped read-write: hostile
 * @msgs: message area, mapped read-only
 * @read_mutex: one read() at a time
 * @wq: sleepers: poll, read, WAIT
 * @wait_more: sleepers that want more than a non-empty ring
 * @last_end: index of the latest event that was the last of an endpoint or
 *	listener, plus 1 (written under @lock); far behind @prod at first
 * @waiters: of &struct rnotify_waiter (protected by @lock)
 * @nr_waiters: how many (protected by @lock)
 * @min_events: moderation: wake at so many (protected by @lock)
 * @max_delay_ns: moderation: or so long after the first (protected by @lock)
 * @wake_due: moderation: sleepers are still to be told (protected by @lock)
 * @wake_timer: for @max_delay_ns
 * @spin_ns: what WAIT spins at present; see wait.c (racy by intent)
 * @eventfd: signalled at empty → non-empty (RCU; writers hold setup_mutex)
 * @kick_work: safety net for readers that ignore need_kick
 */
struct rnotify_ring {
	spinlock_t lock;
	u32 entries;
	u32 msg_size;
	u32 prod;
	u32 reclaimed;
	u32 reserved;
	u32 nr_starved;
	struct rnotify_resv **owner;
	struct list_head consumed;

	struct rnotify_ring_head *head;
	struct rnotify_event *events;
	struct rnotify_ring_tail *tail;
	void *msgs;

	struct mutex read_mutex;
	wait_queue_head_t wq;
	atomic_t wait_more;
	u32 last_end;
	struct list_head waiters;
	u32 nr_waiters;
	u32 min_events;
	u64 max_delay_ns;
	bool wake_due;
	struct hrtimer wake_timer;
	u64 spin_ns;
	struct eventfd_ctx __rcu *eventfd;
	struct delayed_work kick_work;
};

/**
 * struct rnotify_waiter - somebody to be called when enough events are there
 * @node: in rnotify_ring.waiters; empty once it is over (rnotify_ring.lock)
 * @over: called then, under rnotify_ring.lock
 * @min_events: how many are enough
 * @flags: &enum rnotify_wait_flags
 */
struct rnotify_waiter {
	struct list_head node;
	void (*over)(struct rnotify_waiter *waiter);
	u32 min_events;
	u32 flags;
};

/* Of its endpoint or listener: nothing comes after it. */
static inline bool rnotify_event_is_last(u16 type)
{
	return type == RNOTIFY_EVENT_DISCONNECTED ||
	       type == RNOTIFY_EVENT_LISTENER_DOWN;
}

/* ring_life.c */
struct rnotify_ring *rnotify_ring_create(u32 entries, u32 msg_size);
void rnotify_ring_destroy(struct rnotify_ring *ring);

/* ring.c */
int rnotify_ring_reserve(struct rnotify_ring *ring, struct rnotify_resv *resv,
			 u32 nr);
void rnotify_ring_unreserve(struct rnotify_ring *ring,
			    struct rnotify_resv *resv);
void rnotify_ring_retire(struct rnotify_ring *ring, struct rnotify_resv *resv);
bool rnotify_ring_promise(struct rnotify_ring *ring, struct rnotify_resv *resv,
			  u32 nr);
bool rnotify_ring_promise_or_block(struct rnotify_ring *ring,
				   struct rnotify_resv *resv);
bool rnotify_ring_free_or_block(struct rnotify_ring *ring,
				struct rnotify_resv *resv);
void rnotify_ring_unpromise(struct rnotify_ring *ring,
			    struct rnotify_resv *resv);

void rnotify_ring_commit(struct rnotify_ring *ring, struct rnotify_resv *resv,
			 struct rnotify_event *ev, u32 slot);
void rnotify_ring_put(struct rnotify_ring *ring, struct rnotify_resv *resv,
		      struct rnotify_event *ev);
bool rnotify_ring_put_rx(struct rnotify_ring *ring, struct rnotify_ep *ep,
			 struct rnotify_event *ev, const void *payload);
void rnotify_ring_reclaim(struct rnotify_ring *ring);
void rnotify_ring_forget(struct rnotify_ring *ring, struct rnotify_ep *ep);

bool rnotify_ring_enough(struct rnotify_ring *ring, u32 min_events, u32 flags);
u32 rnotify_ring_pending(struct rnotify_ring *ring);
ssize_t rnotify_ring_read(struct rnotify_ring *ring, struct iov_iter *to);

/* ring_kick.c */
void rnotify_ring_block(struct rnotify_ring *ring, struct rnotify_resv *resv);
void rnotify_ring_unblock(struct rnotify_ring *ring, struct rnotify_resv *resv);
void rnotify_ring_update_starved(struct rnotify_ring *ring,
				 struct rnotify_ep *ep, u32 gone);
void rnotify_ring_over(struct rnotify_ring *ring, struct rnotify_ep *ep);

/* ring_wake.c */
void rnotify_ring_wake_init(struct rnotify_ring *ring);
void rnotify_ring_wake_exit(struct rnotify_ring *ring);
void rnotify_ring_wake(struct rnotify_ring *ring, u32 used,
		       const struct rnotify_event *ev);
int rnotify_ring_wait_add(struct rnotify_ring *ring,
			  struct rnotify_waiter *waiter);
bool rnotify_ring_wait_cancel(struct rnotify_ring *ring,
			      struct rnotify_waiter *waiter);
int rnotify_ring_moderate(struct rnotify_ring *ring,
			  const struct rnotify_moderate *arg);
void rnotify_eventfd_notify(struct eventfd_ctx __rcu **slot);
int rnotify_eventfd_set(struct eventfd_ctx __rcu **slot, int fd);
void rnotify_eventfd_drop(struct eventfd_ctx __rcu **slot);

/* notice.c */
void rnotify_notice_init(struct rnotify_notice *notice,
			 void (*fill)(struct rnotify_notice *notice,
				      struct rnotify_event *ev));
void rnotify_notice_give(struct rnotify_ring *ring,
			 struct rnotify_notice *notice);
void rnotify_notice_cancel(struct rnotify_ring *ring,
			   struct rnotify_notice *notice);

#endif /* RNOTIFY_RING_H */
