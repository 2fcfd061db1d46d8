// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - librnotify's WRITE_IMM.
 */
#include <errno.h>
#include <string.h>

#include "ours.h"

/*
 * Memory of the kernel costs a look-up; the bytes of a small notification are
 * cheaper to copy. But inline ones share packets with others only if they are
 * half as long.
 */
static uint32_t inline_max(const struct run *run)
{
	if (run->inline_max != INLINE_BEST)
		return run->inline_max;
	return run->batch > 2 ? RNOTIFY_INLINE_MAX / 2 : RNOTIFY_INLINE_MAX;
}

static void prepare(struct ours *o, uint32_t ep, struct rnotify_op *op,
		    uint32_t number)
{
	const struct run *run = o->link.run;
	const struct ours_ep *e = &o->eps[ep];
	uint64_t offset = (uint64_t)(number % slots_of(run)) * run->size;

	if (!run->size) {
		rnotify_prep_notify(op, e->id, number, number);
	} else if (run->size <= inline_max(run)) {
		rnotify_prep_write_imm(op, e->id, NULL, 0, e->remote, offset,
				       run->size, number, number);
		rnotify_op_inline(op, o->link.ops->sent(&o->link, ep, number %
							slots_of(run)));
	} else {
		rnotify_prep_write_imm(op, e->id, o->region,
				       ep * slots_bytes(run) + offset,
				       e->remote, offset, run->size, number,
				       number);
	}
}

/* May this end sleep in the kernel until there is room? */
static bool may_block(const struct run *run)
{
	return run->wait == WAIT_BLOCK || run->wait == WAIT_ADAPTIVE ||
		run->wait == WAIT_READ;
}

static int ours_post(struct link *link, uint32_t ep, unsigned int n)
{
	struct ours *o = ours_of(link);
	struct ours_ep *e = &o->eps[ep];
	unsigned int i;
	int ret;

	if (e->full)
		return 0;
	if (n > link->run->batch)
		n = link->run->batch;
	for (i = 0; i < n; i++)
		prepare(o, ep, &o->ops[i], e->sent + i);
	do {
		if (link->run->wait == WAIT_URING)
			ret = ours_uring_post(o, o->ops, n);
		else
			ret = rnotify_post(o->ctx, o->ops, n,
					   may_block(link->run) ? 0 :
					   RNOTIFY_POST_NONBLOCK, -1);
	} while (ret == -EINTR);
	if (ret == -EAGAIN) {
		e->full = true;
		return 0;
	}
	if (ret < 0) {
		fail_call(o->ctx, RNOTIFY_CALL_POST, ret, "rnotify");
		return -1;
	}
	e->sent += (unsigned int)ret;
	return ret;
}

static int ours_flush(struct link *link)
{
	return link->run->wait == WAIT_URING ?
		ours_uring_flush(ours_of(link)) : 0;
}

/* 1: @note is filled in; 0: it was something else; or failure */
static int look_at(struct ours *o, const struct rnotify_event *event,
		   struct note *note)
{
	switch (event->type) {
	case RNOTIFY_EVENT_NOTIFY:
		note->endpoint = (uint32_t)event->cookie;
		note->number = event->notify.imm;
		return 1;
	case RNOTIFY_EVENT_WRITABLE:
		o->eps[event->cookie].full = false;
		return 0;
	case RNOTIFY_EVENT_DISCONNECTED:
		fail_event(event, "rnotify");
		return -1;
	}
	return 0;
}

/* Until nothing is there, or @max notes are. */
static int take_ring(struct ours *o, struct note *notes, unsigned int max)
{
	const struct rnotify_event *events[READ_EVENTS];
	unsigned int i, n, have = 0;
	int ret;

	while (have < max) {
		n = max - have < READ_EVENTS ? max - have : READ_EVENTS;
		n = rnotify_peek_n(o->ctx, events, n);
		if (!n)
			break;
		for (i = 0; i < n; i++) {
			ret = look_at(o, events[i], &notes[have]);
			if (ret < 0)
				return ret;
			have += (unsigned int)ret;
		}
		rnotify_release(o->ctx, n);
	}
	return (int)have;
}

/* What read() has fetched is consumed already. */
static int take_read(struct ours *o, struct note *notes, unsigned int max)
{
	unsigned int have = 0;
	int ret;

	while (have < max && o->at_event < o->nr_events) {
		ret = look_at(o, &o->events[o->at_event++], &notes[have]);
		if (ret < 0)
			return ret;
		have += (unsigned int)ret;
	}
	return (int)have;
}

static int take_fresh(struct ours *o, struct note *notes, unsigned int max)
{
	return o->link.run->wait == WAIT_READ ? take_read(o, notes, max) :
		take_ring(o, notes, max);
}

static int ours_take(struct link *link, struct note *notes, unsigned int max)
{
	struct ours *o = ours_of(link);
	unsigned int n = o->nr_stash;

	if (!n)
		return take_fresh(o, notes, max);
	if (n > max)
		n = max;
	memcpy(notes, o->stash, n * sizeof(*notes));
	o->nr_stash -= n;
	memmove(o->stash, o->stash + n, o->nr_stash * sizeof(*notes));
	return (int)n;
}

/* Room comes as an event; what comes before it is for take(). */
static int sleep_for_room(struct ours *o, uint32_t ep)
{
	const struct run *run = o->link.run;
	unsigned int space = run->endpoints * run->window;
	int n;

	while (o->eps[ep].full) {
		n = take_fresh(o, o->stash + o->nr_stash, space - o->nr_stash);
		if (n < 0)
			return EXIT_FAILED;
		o->nr_stash += (unsigned int)n;
		if (!n && o->eps[ep].full && ours_wait(o))
			return EXIT_FAILED;
	}
	return 0;
}

static int ours_sleep(struct link *link, bool room, uint32_t ep)
{
	struct ours *o = ours_of(link);

	return room ? sleep_for_room(o, ep) : ours_wait(o);
}

static void *slot(struct link *link, bool incoming, uint32_t ep, uint32_t n)
{
	struct ours *o = ours_of(link);
	char *base = rnotify_region_addr(o->region);

	return base + ours_slot_offset(link->run, incoming, ep, n);
}

static void *ours_sent(struct link *link, uint32_t ep, uint32_t n)
{
	return slot(link, false, ep, n);
}

static void *ours_got(struct link *link, uint32_t ep, uint32_t n)
{
	return slot(link, true, ep, n);
}

const struct transport ours = {
	.name = "rnotify",
	.summary = "this library: WRITE_IMM posted by the kernel",
	.waits = (1u << NR_WAITS) - 1,
	.open = ours_open,
	.listen = ours_listen,
	.accept = ours_accept,
	.connect = ours_connect,
	.close = ours_close,
	.post = ours_post,
	.flush = ours_flush,
	.take = ours_take,
	.sleep = ours_sleep,
	.sent = ours_sent,
	.got = ours_got,
};
