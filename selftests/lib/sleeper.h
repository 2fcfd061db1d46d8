/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All ways to wait for the events of a context, behind one function: the next
 * event, after as much sleep as it takes.
 */
#ifndef _RNT_SLEEPER_H
#define _RNT_SLEEPER_H

#include <liburing.h>

#include "rnt.h"

#define RNT_SLEEPER_EVENTS	3	/* what one read() may take */
#define RNT_SLEEPER_BUFFERS	4	/* of a multishot read */

struct rnt_style;

/**
 * struct rnt_sleeper - who waits, for one endpoint
 * @c: context
 * @endpoint: its only endpoint
 * @style: how it waits
 * @epfd: epoll
 * @efd: eventfd
 * @seed: of random times
 * @ring: io_uring
 * @armed: a multishot request is under way
 * @got: events that a read took
 * @nr_got: how many
 * @next_got: which of them comes next
 * @buffers: of a multishot read
 * @sleeps: how often it slept
 */
struct rnt_sleeper {
	struct rnt_ctx c;
	__u32 endpoint;
	const struct rnt_style *style;
	int epfd;
	int efd;
	unsigned int seed;
	struct io_uring ring;
	bool armed;
	struct rnotify_event got[RNT_SLEEPER_EVENTS];
	unsigned int nr_got;
	unsigned int next_got;
	struct rnotify_event buffers[RNT_SLEEPER_BUFFERS][RNT_SLEEPER_EVENTS];
	unsigned long sleeps;
};

/**
 * struct rnt_style - one way to wait
 * @open: make ready, may be NULL
 * @sleep: until there may be something
 * @reads: @sleep takes events into @got; else they are in the mapped ring
 * @moderate: with MODERATE for so many events
 */
struct rnt_style {
	void (*open)(struct rnt_sleeper *s);
	void (*sleep)(struct rnt_sleeper *s);
	bool reads;
	unsigned int moderate;
};

extern const struct rnt_style rnt_style_spin, rnt_style_poll, rnt_style_select,
	rnt_style_epoll_lt, rnt_style_epoll_et, rnt_style_epoll_oneshot,
	rnt_style_wait, rnt_style_wait_adaptive, rnt_style_wait_timed,
	rnt_style_eventfd, rnt_style_endpoint_eventfd, rnt_style_read,
	rnt_style_poll_read, rnt_style_moderated_poll,
	rnt_style_moderated_eventfd, rnt_style_moderated_read;
/* sleeper_uring.c; the last two wait by READ and POLL_ADD on old kernels */
extern const struct rnt_style rnt_style_uring_poll, rnt_style_uring_multishot,
	rnt_style_uring_read, rnt_style_uring_read_multishot,
	rnt_style_uring_wait;

/* c and endpoint are there already */
void rnt_sleeper_open(struct rnt_sleeper *s, const struct rnt_style *style);
void rnt_moderate(struct rnt_ctx *c, unsigned int min_events, __u64 delay_ns);
/* A bit of work, or none, or a nap: whatever comes in between. */
void rnt_think(struct rnt_sleeper *s);
void rnt_next_event(struct rnt_sleeper *s, struct rnotify_event *ev);
/* The same, without a thought before it sleeps. */
void rnt_next_event_now(struct rnt_sleeper *s, struct rnotify_event *ev);

#endif /* _RNT_SLEEPER_H */
