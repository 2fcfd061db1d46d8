// SPDX-License-Identifier: GPL-2.0
/*
 * Slot tables: a small counter per value of a bit field of imm. A notification
 * that finds its slot dirty is merged with those before, so a table takes any
 * number of them, and one event (at most) tells that there is something.
 *
 * How the table lies in its mapping: head, bitmap of dirty slots, slots.
 */
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include "ep.h"
#include "route.h"

/* Slots that are taken in one go with the lock held; they pass the stack. */
#define RNOTIFY_TAKE_BATCH	8u

static void set_dirty(struct rnotify_slots *slots, u32 index, bool dirty)
{
	u64 *word = &slots->dirty[index / 64];
	u64 bit = (u64)1 << index % 64;

	/* The slot before its bit: pairs with the user's load-acquire. */
	smp_wmb();
	WRITE_ONCE(*word, dirty ? *word | bit : *word & ~bit);
	slots->nr_dirty += dirty ? 1 : -1;
	WRITE_ONCE(slots->head->nr_dirty, slots->nr_dirty);
}

/* A clean slot, and maybe the table, turned dirty. */
static void slot_dirty(struct rnotify_slots *slots, u32 index)
{
	struct rnotify_slots_head *head = slots->head;

	set_dirty(slots, index, true);
	if (slots->nr_dirty == 1) {
		WRITE_ONCE(head->changes, head->changes + 1);
		if (slots->events && !slots->dead)
			rnotify_notice_give(slots->ring, &slots->notice);
	}
	rnotify_sleepers_wake(&slots->sleepers, index);
}

/**
 * rnotify_slots_add() - count a notification in its slot
 * @slots: table; the ring's lock is held
 * @index: slot
 * @ev: NOTIFY
 */
void rnotify_slots_add(struct rnotify_slots *slots, u32 index,
		       const struct rnotify_event *ev)
{
	struct rnotify_slot *slot = &slots->slot[index];
	u64 now = ktime_get_ns();
	bool was_clean = !slot->count;

	lockdep_assert_held(&slots->ring->lock);
	rnotify_seq_begin(&slot->seq);
	if (was_clean)
		WRITE_ONCE(slot->first_ns, now);
	WRITE_ONCE(slot->last_ns, now);
	WRITE_ONCE(slot->last_imm, ev->notify.imm);
	WRITE_ONCE(slot->endpoint, ev->endpoint);
	WRITE_ONCE(slot->bytes, slot->bytes + ev->notify.byte_len);
	WRITE_ONCE(slot->count, slot->count + 1);
	rnotify_seq_end(&slot->seq);
	WRITE_ONCE(slots->head->total, slots->head->total + 1);
	if (was_clean)
		slot_dirty(slots, index);
}

/**
 * rnotify_slots_ended() - an endpoint that fed it has ended
 * @slots: table; the ring's lock is held
 * @ep: endpoint
 */
void rnotify_slots_ended(struct rnotify_slots *slots,
			 const struct rnotify_ep *ep)
{
	struct rnotify_slots_head *head = slots->head;

	lockdep_assert_held(&slots->ring->lock);
	rnotify_ended_add(&slots->ended, ep);
	WRITE_ONCE(head->ended_endpoint, slots->ended.endpoint);
	WRITE_ONCE(head->ended_reason, slots->ended.reason);
	WRITE_ONCE(head->ended_error, slots->ended.error);
	smp_wmb();	/* who is told before how many: pairs with an acquire */
	WRITE_ONCE(head->ended, slots->ended.nr);
	rnotify_sleepers_wake_all(&slots->sleepers);
}

/*
 * ---- take -------------------------------------------------------------
 */

/**
 * struct slots_take - a SLOTS_TAKE under way
 * @slots: table
 * @arg: command
 * @first: where to look on
 * @end: end of the range; not part of it
 * @batch: what was taken and is not yet with the user
 */
struct slots_take {
	struct rnotify_slots *slots;
	struct rnotify_slots_take *arg;
	u32 first;
	u32 end;
	struct rnotify_slot batch[RNOTIFY_TAKE_BATCH];
};

static void slot_take(struct rnotify_slots *slots, u32 index,
		      struct rnotify_slot *to)
{
	struct rnotify_slot *slot = &slots->slot[index];

	*to = *slot;
	rnotify_seq_begin(&slot->seq);
	WRITE_ONCE(slot->count, 0);
	WRITE_ONCE(slot->bytes, 0);
	WRITE_ONCE(slot->first_ns, 0);
	WRITE_ONCE(slot->last_ns, 0);
	WRITE_ONCE(slot->last_imm, 0);
	WRITE_ONCE(slot->endpoint, 0);
	rnotify_seq_end(&slot->seq);
	set_dirty(slots, index, false);
}

/* What the user could not be told goes back: as if it had never been taken. */
static void slot_untake(struct rnotify_slots *slots,
			const struct rnotify_slot *from)
{
	struct rnotify_slot *slot = &slots->slot[from->index];
	bool was_clean = !slot->count;

	rnotify_seq_begin(&slot->seq);
	if (was_clean) {
		WRITE_ONCE(slot->last_ns, from->last_ns);
		WRITE_ONCE(slot->last_imm, from->last_imm);
		WRITE_ONCE(slot->endpoint, from->endpoint);
	}
	WRITE_ONCE(slot->first_ns, from->first_ns);
	WRITE_ONCE(slot->bytes, slot->bytes + from->bytes);
	WRITE_ONCE(slot->count, slot->count + from->count);
	rnotify_seq_end(&slot->seq);
	if (was_clean)
		slot_dirty(slots, from->index);
}

/* How many were taken into the batch. */
static u32 take_batch(struct slots_take *take, u32 max)
{
	struct rnotify_slots *slots = take->slots;
	u32 nr = 0, i;

	spin_lock_bh(&slots->ring->lock);
	while (nr < min(max, RNOTIFY_TAKE_BATCH)) {
		i = rnotify_dirty_next(slots->dirty, take->first, take->end);
		take->first = i;
		if (i == take->end)
			break;
		slot_take(slots, i, &take->batch[nr++]);
	}
	spin_unlock_bh(&slots->ring->lock);
	return nr;
}

static void untake_batch(struct slots_take *take, u32 nr)
{
	struct rnotify_slots *slots = take->slots;
	u32 i;

	spin_lock_bh(&slots->ring->lock);
	for (i = 0; i < nr; i++)
		slot_untake(slots, &take->batch[i]);
	spin_unlock_bh(&slots->ring->lock);
	rnotify_ring_reclaim(slots->ring);
}

/* 0 or -EFAULT, which tells nothing if some were taken before. */
static int take_all(struct slots_take *take)
{
	struct rnotify_slots_take *arg = take->arg;
	struct rnotify_slot __user *to = u64_to_user_ptr(arg->entries);
	u32 nr;

	while (arg->taken < arg->max) {
		nr = take_batch(take, arg->max - arg->taken);
		if (!nr)
			break;
		if (copy_to_user(to + arg->taken, take->batch,
				 nr * sizeof(*to))) {
			untake_batch(take, nr);
			return -EFAULT;
		}
		arg->taken += nr;
		cond_resched();
	}
	return 0;
}

/* Fills in what the table looks like now; the first dirty slot is left there. */
static void take_look(struct slots_take *take, u32 first)
{
	struct rnotify_slots *slots = take->slots;
	struct rnotify_slots_take *arg = take->arg;
	u32 next = rnotify_dirty_next(slots->dirty, first, take->end);

	arg->next_dirty = next == take->end ? ~0u : next;
	arg->nr_dirty = slots->nr_dirty;
	arg->ended_endpoint = slots->ended.endpoint;
	arg->ended_reason = slots->ended.reason;
	arg->ended_error = slots->ended.error;
}

static int slots_over(void *data)
{
	struct slots_take *take = data;

	take_look(take, take->arg->first);
	if (take->arg->next_dirty != ~0u)
		return 0;
	if (take->slots->dead)
		return -ECANCELED;
	if (take->slots->ended.nr == take->arg->ended)
		return -EAGAIN;
	take->arg->ended = take->slots->ended.nr;
	return -EPIPE;
}

/* Another thread may be faster: then it is waited for again. */
static int take_some(struct slots_take *take)
{
	struct rnotify_slots_take *arg = take->arg;
	struct rnotify_slots *slots = take->slots;
	struct rnotify_sleeper sleeper = {
		.from = arg->first,
		.to = take->end - 1,
	};
	int ret;

	do {
		ret = rnotify_sleep(slots->ring, &slots->sleepers, &sleeper,
				    arg->timeout_ns, slots_over, take);
		if (ret || !arg->max)
			return ret;
		take->first = arg->next_dirty;
		ret = take_all(take);
	} while (!ret && !arg->taken);

	spin_lock_bh(&slots->ring->lock);
	take_look(take, arg->first);
	spin_unlock_bh(&slots->ring->lock);
	return arg->taken ? 0 : ret;
}

static int take_range(struct slots_take *take)
{
	struct rnotify_slots_take *arg = take->arg;
	u32 nr_slots = take->slots->nr_slots;

	if (arg->first >= nr_slots || arg->nr > nr_slots - arg->first)
		return -ERANGE;
	take->end = arg->nr ? arg->first + arg->nr : nr_slots;
	arg->taken = 0;
	return take_some(take);
}

/**
 * rnotify_slots_take() - RNOTIFY_IOCTL_SLOTS_TAKE
 * @ctx: context
 * @arg: command; results are filled in
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int rnotify_slots_take(struct rnotify_ctx *ctx, struct rnotify_slots_take *arg)
{
	struct slots_take take = { .arg = arg };
	struct rnotify_obj *obj;
	int ret;

	if (arg->flags)
		return -EOPNOTSUPP;
	if (arg->entry_size != sizeof(struct rnotify_slot))
		return -EINVAL;
	obj = rnotify_obj_get(ctx, arg->slots_id, RNOTIFY_OBJ_SLOTS);
	if (!obj)
		return -ENOENT;
	take.slots = to_slots(obj);
	ret = take_range(&take);
	rnotify_obj_put(obj);
	return ret;
}
