/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - what becomes of notifications: rules, counters, slot tables,
 * generations. The reference is <linux/rnotify_route.h>; to build rules by the
 * fields of an imm, see <rnotify/imm.h>.
 *
 * Waits for counters and slots are of their own: they neither need nor consume
 * events, and may go on in any number of threads beside the context's consumer.
 */
#ifndef _RNOTIFY_ROUTE_H
#define _RNOTIFY_ROUTE_H

#include <rnotify/rnotify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* struct rnotify_counter - a counter and the mapping that shows it */
struct rnotify_counter;
/* struct rnotify_slots - a slot table and the mapping that shows it */
struct rnotify_slots;

/**
 * struct rnotify_ended - what is known of endpoints that ended
 * @count: endpoints that fed the object and have ended. A wait begins with what
 *	its caller knows of, and leaves here how many there are
 * @endpoint: id of the latest, 0: none has
 * @reason: its &enum rnotify_reason
 * @error: its negative errno, or 0
 */
struct rnotify_ended {
	uint32_t count;
	uint32_t endpoint;
	uint32_t reason;
	int32_t error;
};

/**
 * rnotify_route() - replace the rules of an endpoint, in one step
 * @ctx: context
 * @endpoint: id; 0: endpoints that appear from now on
 * @rules: tried in this order
 * @n: how many; 0: all notifications are events
 *
 * Return: 0 or a negative errno of ROUTE; the old rules are in force then.
 */
int rnotify_route(struct rnotify *ctx, uint32_t endpoint,
		  const struct rnotify_rule *rules, unsigned int n);

/* ---- counters ---- */

/**
 * rnotify_counter_create() - make a counter, at 0
 * @ctx: context
 * @counter: the new counter
 */
int rnotify_counter_create(struct rnotify *ctx,
			   struct rnotify_counter **counter);

/* rnotify_counter_destroy() - end it, and free the handle if that returns 0 */
int rnotify_counter_destroy(struct rnotify_counter *counter);

uint32_t rnotify_counter_id(const struct rnotify_counter *counter);

/* rnotify_counter_page() - its page, as the kernel writes it */
const struct rnotify_counter_page *
rnotify_counter_page(const struct rnotify_counter *counter);

/**
 * rnotify_counter_read() - what it has counted, without a system call
 * @counter: counter
 * @copy: all members as they were at one time
 *
 * Who sees a notification counted here sees its bytes, and those of all earlier
 * operations of the same endpoint.
 */
void rnotify_counter_read(const struct rnotify_counter *counter,
			  struct rnotify_counter_page *copy);

/**
 * rnotify_counter_wait() - sleep until enough is counted
 * @counter: counter
 * @threshold: how much
 * @deadline: see rnotify_wait()
 * @ended: ends known to the caller, and to be told of; NULL: only those that
 *	come during this call end it, and none if it only looks (@deadline 0)
 *
 * Return: 0: the count is @threshold or more; -EPIPE: an endpoint that feeds it
 * ended; -ETIME; -EINTR; -ECANCELED: the counter was destroyed.
 */
int rnotify_counter_wait(struct rnotify_counter *counter, uint64_t threshold,
			 int64_t deadline, struct rnotify_ended *ended);

/**
 * rnotify_counter_reset() - take what was counted; it goes on from 0
 * @counter: counter
 * @count: gets the notifications, may be NULL
 * @bytes: gets their bytes, may be NULL
 */
int rnotify_counter_reset(struct rnotify_counter *counter, uint64_t *count,
			  uint64_t *bytes);

/**
 * rnotify_counter_watch() - have a COUNTER event when enough is counted
 * @counter: counter
 * @threshold: how much
 * @step: 0: once; else again at each @step beyond
 * @cookie: for the event
 * @watch: id of the new watch, for rnotify_watch_arm() and rnotify_destroy()
 */
int rnotify_counter_watch(struct rnotify_counter *counter, uint64_t threshold,
			  uint64_t step, uint64_t cookie, uint32_t *watch);

/* rnotify_watch_arm() - let a watch wait for something else */
int rnotify_watch_arm(struct rnotify *ctx, uint32_t watch, uint64_t threshold,
		      uint64_t step);

/* ---- slot tables ---- */

/**
 * rnotify_slots_create() - make a slot table
 * @ctx: context
 * @nr: slots, a power of two
 * @flags: 0, or RNOTIFY_SLOTS_EVENT for SLOTS events
 * @cookie: for those
 * @slots: the new table
 */
int rnotify_slots_create(struct rnotify *ctx, uint32_t nr, uint32_t flags,
			 uint64_t cookie, struct rnotify_slots **slots);

/* rnotify_slots_destroy() - end it, and free the handle if that returns 0 */
int rnotify_slots_destroy(struct rnotify_slots *slots);

uint32_t rnotify_slots_id(const struct rnotify_slots *slots);

/* rnotify_slots_head() - start of its mapping, as the kernel writes it */
const struct rnotify_slots_head *
rnotify_slots_head(const struct rnotify_slots *slots);

/**
 * rnotify_slots_next() - look for a dirty slot, without a system call
 * @slots: table
 * @from: first slot to look at
 *
 * Return: the first dirty slot from there on, or ~0 if there is none.
 */
uint32_t rnotify_slots_next(const struct rnotify_slots *slots, uint32_t from);

/**
 * rnotify_slots_read() - look at a slot, without a system call, taking nothing
 * @slots: table
 * @index: slot, below the table's size
 * @copy: all members as they were at one time
 */
void rnotify_slots_read(const struct rnotify_slots *slots, uint32_t index,
			struct rnotify_slot *copy);

/**
 * rnotify_slots_take() - wait for dirty slots, read and clear them
 * @slots: table
 * @first: first slot of the range to look at
 * @nr: how many slots; 0: to the end of the table
 * @entries: gets the slots, lowest first
 * @max: room in @entries; 0: only wait
 * @deadline: see rnotify_wait()
 * @ended: as for rnotify_counter_wait()
 *
 * Return: how many were taken, at least 1 (or 0 if @max is 0); -EPIPE, -ETIME,
 * -EINTR or -ECANCELED as for rnotify_counter_wait(); -ERANGE.
 */
int rnotify_slots_take(struct rnotify_slots *slots, uint32_t first, uint32_t nr,
		       struct rnotify_slot *entries, uint32_t max,
		       int64_t deadline, struct rnotify_ended *ended);

/* ---- generations ---- */

/**
 * rnotify_generation_create() - make a generation that rules can compare with
 * @ctx: context
 * @value: the current one
 * @generation: id of the new object; rnotify_destroy() ends it
 */
int rnotify_generation_create(struct rnotify *ctx, uint32_t value,
			      uint32_t *generation);

/**
 * rnotify_generation_set() - a new generation begins
 * @ctx: context
 * @generation: id
 * @value: the new current one
 * @stale: gets the notifications found too old so far; may be NULL
 *
 * When this returns 0, all that comes is judged by the new value, and what was
 * judged by the old one is where its rule sent it.
 */
int rnotify_generation_set(struct rnotify *ctx, uint32_t generation,
			   uint32_t value, uint64_t *stale);

/* rnotify_generation_get() - the current one, and stale ones; may be NULL */
int rnotify_generation_get(struct rnotify *ctx, uint32_t generation,
			   uint32_t *value, uint64_t *stale);

#ifdef __cplusplus
}
#endif

#endif /* _RNOTIFY_ROUTE_H */
