// SPDX-License-Identifier: GPL-2.0
/*
 * RNOTIFY_IOCTL_WAIT: spin, then sleep, until enough events are there.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/wait.h>

#include "front.h"
#include "ring.h"

#define RNOTIFY_SPIN_MAX_NS	1000000ull

/*
 * Gives the CPU away as soon as somebody else wants it: that may be the very worker
 * that has the next event, and need_resched() tells of it too late.
 */
static bool cpu_is_wanted(void)
{
	return need_resched() || !single_task_running();
}

static bool spin_until(struct rnotify_ring *ring,
		       const struct rnotify_wait *arg, u64 spin_ns)
{
	u64 end = ktime_get_ns() + spin_ns;

	do {
		if (rnotify_ring_enough(ring, arg->min_events, arg->flags))
			return true;
		if (cpu_is_wanted() || signal_pending(current))
			return false;
		cpu_relax();
	} while (ktime_get_ns() < end);
	return false;
}

/**
 * struct sleeper - a WAIT that sleeps
 * @wait: in rnotify_ring.wq
 * @ring: ring
 * @arg: what it waits for
 */
struct sleeper {
	struct wait_queue_entry wait;
	struct rnotify_ring *ring;
	const struct rnotify_wait *arg;
};

static bool enough(const struct sleeper *sleeper)
{
	return rnotify_ring_enough(sleeper->ring, sleeper->arg->min_events,
				   sleeper->arg->flags);
}

/* Who waits for many events is not woken by each of them. */
static int sleeper_wake(struct wait_queue_entry *wait, unsigned int mode,
			int sync, void *key)
{
	if (!enough(container_of(wait, struct sleeper, wait)))
		return 0;
	return default_wake_function(wait, mode, sync, key);
}

static int sleep_through(const struct sleeper *sleeper)
{
	bool forever = sleeper->arg->timeout_ns < 0;
	ktime_t expires = forever ? KTIME_MAX :
				    ns_to_ktime(sleeper->arg->timeout_ns);

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (enough(sleeper))
			return 0;
		if (signal_pending(current))
			return -ERESTARTNOHAND;
		if (!schedule_hrtimeout(forever ? NULL : &expires,
					HRTIMER_MODE_ABS))
			return enough(sleeper) ? 0 : -ETIME;
	}
}

static int sleep_until(struct rnotify_ring *ring,
		       const struct rnotify_wait *arg)
{
	struct sleeper sleeper = {
		.ring = ring,
		.arg = arg,
	};
	int ret;

	init_waitqueue_func_entry(&sleeper.wait, sleeper_wake);
	sleeper.wait.private = current;
	if (arg->min_events > 1)
		atomic_inc(&ring->wait_more);
	add_wait_queue(&ring->wq, &sleeper.wait);
	ret = sleep_through(&sleeper);
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(&ring->wq, &sleeper.wait);
	if (arg->min_events > 1)
		atomic_dec(&ring->wait_more);
	return ret;
}

/*
 * Spinning pays when events come sooner than the budget. When a wait took
 * longer, the next spins half as long; when it did not, the whole budget again.
 * Two waiters of one ring may overwrite each other's opinion: no harm.
 */
static u64 spin_budget(struct rnotify_ring *ring, u64 wish)
{
	u64 now = READ_ONCE(ring->spin_ns);

	return now > wish ? wish : max(now, wish / 64);
}

static void spin_learn(struct rnotify_ring *ring, u64 wish, u64 took)
{
	WRITE_ONCE(ring->spin_ns,
		   took <= wish ? wish : spin_budget(ring, wish) / 2);
}

static int wait_events(struct rnotify_ring *ring,
		       const struct rnotify_wait *arg)
{
	u64 start = ktime_get_ns();
	int ret = 0;

	if (!arg->spin_ns ||
	    !spin_until(ring, arg, spin_budget(ring, arg->spin_ns)))
		ret = sleep_until(ring, arg);
	if (arg->spin_ns)
		spin_learn(ring, arg->spin_ns, ktime_get_ns() - start);
	return ret;
}

/**
 * rnotify_wait() - RNOTIFY_IOCTL_WAIT
 * @ctx: context
 * @arg: command, with known flags only
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -ETIME, -ERESTARTNOHAND (not only signals interrupt: a stop
 * of the process, and task work of io_uring's; the user sees only handlers).
 */
int rnotify_wait(struct rnotify_ctx *ctx, struct rnotify_wait *arg)
{
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);
	int ret = 0;

	if (!arg->min_events || arg->min_events > ring->entries ||
	    arg->spin_ns > RNOTIFY_SPIN_MAX_NS)
		return -EINVAL;

	rnotify_ring_reclaim(ring);
	if (!rnotify_ring_enough(ring, arg->min_events, arg->flags))
		ret = arg->timeout_ns ? wait_events(ring, arg) : -ETIME;
	arg->nr_events = rnotify_ring_pending(ring);
	arg->reserved2 = 0;
	return ret;
}
