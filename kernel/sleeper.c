// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait for a counter or for slots by an ioctl of its own. They are
 * woken one by one, and only those whose wait may be over: with ten threads on
 * ten thresholds an arrival wakes the one that it concerns.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>

#include "route.h"

static void sleeper_wake(struct rnotify_sleeper *sleeper)
{
	/* It comes back if it has to sleep on: one wake-up for each sleep. */
	list_del_init(&sleeper->node);
	wake_up_process(sleeper->task);
}

/**
 * rnotify_sleepers_wake() - wake those that something concerns
 * @sleepers: of the object; the ring's lock is held
 * @at: count, or slot
 */
void rnotify_sleepers_wake(struct list_head *sleepers, u64 at)
{
	struct rnotify_sleeper *sleeper, *next;

	list_for_each_entry_safe(sleeper, next, sleepers, node) {
		if (sleeper->from <= at && at <= sleeper->to)
			sleeper_wake(sleeper);
	}
}

/**
 * rnotify_sleepers_wake_all() - wake all: an end concerns everybody
 * @sleepers: of the object; the ring's lock is held
 */
void rnotify_sleepers_wake_all(struct list_head *sleepers)
{
	struct rnotify_sleeper *sleeper, *next;

	list_for_each_entry_safe(sleeper, next, sleepers, node)
		sleeper_wake(sleeper);
}

/*
 * Looks, and gets into the list if the wait is not over. In one step: whoever
 * changes the object later finds the sleeper.
 */
static int sleeper_look(struct rnotify_ring *ring, struct list_head *sleepers,
			struct rnotify_sleeper *sleeper,
			int (*over)(void *arg), void *arg)
{
	int ret;

	spin_lock_bh(&ring->lock);
	ret = over(arg);
	if (ret == -EAGAIN && list_empty(&sleeper->node))
		list_add_tail(&sleeper->node, sleepers);
	spin_unlock_bh(&ring->lock);
	return ret;
}

/**
 * rnotify_sleep() - wait until something is over
 * @ring: context's ring
 * @sleepers: of the object
 * @sleeper: on the caller's stack; from and to are set
 * @timeout_ns: absolute CLOCK_MONOTONIC; 0: only look; negative: for ever
 * @over: called under the ring's lock; -EAGAIN: sleep on
 * @arg: for it
 *
 * Context: process, sleeps.
 * Return: what @over returned, -ETIME, or -ERESTARTNOHAND (see rnotify_wait()).
 */
int rnotify_sleep(struct rnotify_ring *ring, struct list_head *sleepers,
		  struct rnotify_sleeper *sleeper, s64 timeout_ns,
		  int (*over)(void *arg), void *arg)
{
	ktime_t expires = ns_to_ktime(max_t(s64, timeout_ns, 0));
	bool late = !timeout_ns;
	int ret;

	sleeper->task = current;
	INIT_LIST_HEAD(&sleeper->node);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		ret = sleeper_look(ring, sleepers, sleeper, over, arg);
		if (ret != -EAGAIN)
			break;
		ret = -ETIME;
		if (late)
			break;
		ret = -ERESTARTNOHAND;
		if (signal_pending(current))
			break;
		late = !schedule_hrtimeout(timeout_ns < 0 ? NULL : &expires,
					   HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	/* Nobody wakes us any more: they do it under the lock. */
	spin_lock_bh(&ring->lock);
	list_del_init(&sleeper->node);
	spin_unlock_bh(&ring->lock);
	return ret;
}
