/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a notification that is no event: rules, and what they name.
 *
 *	rnotify_routes		a compiled list of rules; endpoints share it
 *	rnotify_counter		counts; read by a mapping, waits and watches
 *	rnotify_watch		gives an event when a counter is so far
 *	rnotify_slots		a table of small counters, by a field of imm
 *	rnotify_generation	what rules compare another field with
 *
 * All of this is protected by the context's rnotify_ring.lock, which each arrival
 * takes anyway. So a change comes between two arrivals on whatever endpoint, and
 * nothing here needs a lock of its own.
 *
 * The objects are counted. An id holds a reference; rules hold one for each
 * object that they name, and a watch one for its counter. So an object whose id
 * is gone may still be named: it is @dead then, and its rules make events.
 */
#ifndef RNOTIFY_ROUTE_H
#define RNOTIFY_ROUTE_H

#include "priv.h"
#include "ring.h"
#include "route_match.h"

struct rnotify_ep;

/**
 * struct rnotify_ended - the endpoints that fed an object and have ended
 * @nr: how many
 * @endpoint: id of the latest
 * @reason: &enum rnotify_reason of its end
 * @error: negative errno of its end, or 0
 */
struct rnotify_ended {
	u32 nr;
	u32 endpoint;
	u32 reason;
	s32 error;
};

/**
 * struct rnotify_sleeper - a thread that waits for a counter or slots
 * @node: in the object's list
 * @task: who
 * @from: a count, or the first slot of a range
 * @to: last slot of the range
 *
 * On the stack of the waiting thread. It is woken when its wait may be over, and
 * looks for itself.
 */
struct rnotify_sleeper {
	struct list_head node;
	struct task_struct *task;
	u64 from;
	u64 to;
};

/**
 * struct rnotify_counter - a counter
 * @obj: head
 * @ring: the context's (invariant)
 * @page: mapped read-only; written, and never read
 * @count: notifications since the last reset
 * @bytes: of those
 * @next: no watch and no sleeper has a lower threshold
 * @dead: its id is gone
 * @ended: of the endpoints that fed it
 * @watches: &struct rnotify_watch
 * @nr_watches: how many
 * @sleepers: &struct rnotify_sleeper
 *
 * All protected by rnotify_ring.lock.
 */
struct rnotify_counter {
	struct rnotify_obj obj;
	struct rnotify_ring *ring;
	struct rnotify_counter_page *page;
	u64 count;
	u64 bytes;
	u64 next;
	bool dead;
	struct rnotify_ended ended;
	struct list_head watches;
	u32 nr_watches;
	struct list_head sleepers;
};

/**
 * struct rnotify_watch - gives COUNTER events
 * @obj: head
 * @counter: what it watches (invariant; referenced)
 * @node: in rnotify_counter.watches; empty if either is gone
 * @notice: its event and ring entry
 * @cookie: for events (invariant)
 * @armed: waits for @threshold
 * @threshold: next count to tell
 * @first: threshold to start with after a reset
 * @step: to the threshold after this; 0: none
 * @reached: threshold that the event tells
 *
 * All protected by rnotify_ring.lock.
 */
struct rnotify_watch {
	struct rnotify_obj obj;
	struct rnotify_counter *counter;
	struct list_head node;
	struct rnotify_notice notice;
	u64 cookie;
	bool armed;
	u64 threshold;
	u64 first;
	u64 step;
	u64 reached;
};

/**
 * struct rnotify_slots - a slot table
 * @obj: head
 * @ring: the context's (invariant)
 * @head: start of the mapping, read-only for the user (invariant)
 * @dirty: the bitmap in it (invariant)
 * @slot: the slots in it (invariant)
 * @bytes: of the mapping (invariant)
 * @nr_slots: a power of two (invariant)
 * @nr_dirty: dirty slots
 * @dead: its id is gone
 * @events: gives SLOTS events (invariant)
 * @ended: of the endpoints that fed it
 * @cookie: for events (invariant)
 * @notice: its event and ring entry
 * @sleepers: &struct rnotify_sleeper
 *
 * All protected by rnotify_ring.lock. Bitmap and slots exist only in the mapping,
 * which nobody but the kernel can write.
 */
struct rnotify_slots {
	struct rnotify_obj obj;
	struct rnotify_ring *ring;
	struct rnotify_slots_head *head;
	u64 *dirty;
	struct rnotify_slot *slot;
	size_t bytes;
	u32 nr_slots;
	u32 nr_dirty;
	bool dead;
	bool events;
	struct rnotify_ended ended;
	u64 cookie;
	struct rnotify_notice notice;
	struct list_head sleepers;
};

/**
 * struct rnotify_generation - a current generation
 * @obj: head
 * @ring: the context's (invariant)
 * @value: the current one
 * @stale: notifications found older
 *
 * All protected by rnotify_ring.lock.
 */
struct rnotify_generation {
	struct rnotify_obj obj;
	struct rnotify_ring *ring;
	u32 value;
	u64 stale;
};

/**
 * struct rnotify_target - a rule, ready to be followed
 * @rule: as the user gave it
 * @obj: what it names: counter or slot table; or NULL
 * @generation: what it compares with; or NULL
 */
struct rnotify_target {
	struct rnotify_rule rule;
	struct rnotify_obj *obj;
	struct rnotify_generation *generation;
};

/**
 * struct rnotify_routes - the rules of an endpoint; never changed once in use
 * @ref: one for each endpoint that has them, one for the context
 * @match: which target an imm matches
 * @nr: targets
 * @targets: in the order of the rules
 */
struct rnotify_routes {
	struct kref ref;
	struct rnotify_match match;
	u32 nr;
	struct rnotify_target targets[] __counted_by(nr);
};

/*
 * Around each change of what users read by a mapping: a counter's page, a slot.
 * The barrier in between orders two things: the odd number before what changes,
 * and the completion, which was read before, and with it the bytes that the
 * device wrote, before the new count.
 */
static inline void rnotify_seq_begin(u32 *seq)
{
	WRITE_ONCE(*seq, *seq + 1);
	smp_mb();	/* see above; pairs with the user's acquires */
}

static inline void rnotify_seq_end(u32 *seq)
{
	/* Pairs with the user's load-acquire. */
	smp_store_release(seq, *seq + 1);
}

static inline struct rnotify_counter *to_counter(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_counter, obj);
}

static inline struct rnotify_slots *to_slots(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_slots, obj);
}

static inline struct rnotify_watch *to_watch(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_watch, obj);
}

static inline struct rnotify_generation *to_generation(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_generation, obj);
}

/* route.c */
int rnotify_route_set(struct rnotify_ctx *ctx, const struct rnotify_route *arg);
bool rnotify_route(struct rnotify_ep *ep, struct rnotify_event *ev);
void rnotify_routes_inherit(struct rnotify_ep *ep);
void rnotify_routes_end(struct rnotify_ep *ep);
void rnotify_routes_put(struct rnotify_routes *routes);
void rnotify_ended_add(struct rnotify_ended *ended, const struct rnotify_ep *ep);
struct rnotify_obj *rnotify_route_memory(struct rnotify_ctx *ctx, u32 id,
					 void **mem, size_t *size);

/* sleeper.c */
void rnotify_sleepers_wake(struct list_head *sleepers, u64 at);
void rnotify_sleepers_wake_all(struct list_head *sleepers);
int rnotify_sleep(struct rnotify_ring *ring, struct list_head *sleepers,
		  struct rnotify_sleeper *sleeper, s64 timeout_ns,
		  int (*over)(void *arg), void *arg);

/* counter.c */
int rnotify_counter_create(struct rnotify_ctx *ctx,
			   struct rnotify_counter_create *arg);
int rnotify_counter_reset(struct rnotify_ctx *ctx,
			  struct rnotify_counter_reset *arg);
int rnotify_counter_wait(struct rnotify_ctx *ctx,
			 struct rnotify_counter_wait *arg);
void rnotify_counter_add(struct rnotify_counter *counter, u32 bytes);
void rnotify_counter_ended(struct rnotify_counter *counter,
			   const struct rnotify_ep *ep);
void rnotify_counter_rearm(struct rnotify_counter *counter);

/* watch.c */
int rnotify_watch_create(struct rnotify_ctx *ctx,
			 struct rnotify_counter_watch *arg);
int rnotify_watch_arm(struct rnotify_ctx *ctx,
		      const struct rnotify_watch_arm *arg);
void rnotify_watch_look(struct rnotify_watch *watch);

/* slots.c, slots_life.c */
int rnotify_slots_create(struct rnotify_ctx *ctx,
			 struct rnotify_slots_create *arg);
int rnotify_slots_take(struct rnotify_ctx *ctx, struct rnotify_slots_take *arg);
void rnotify_slots_add(struct rnotify_slots *slots, u32 index,
		       const struct rnotify_event *ev);
void rnotify_slots_ended(struct rnotify_slots *slots,
			 const struct rnotify_ep *ep);

/* generation.c */
int rnotify_generation_create(struct rnotify_ctx *ctx,
			      struct rnotify_generation_create *arg);
int rnotify_generation_set(struct rnotify_ctx *ctx,
			   struct rnotify_generation_set *arg);

#endif /* RNOTIFY_ROUTE_H */
