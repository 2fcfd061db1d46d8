/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixture of the tests of waiting: a rings, b hears. Each program that includes
 * this has it for itself.
 */
#ifndef _WAIT_FIXTURE_H
#define _WAIT_FIXTURE_H

#include <poll.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(wait)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	__u32 imm;
};

FIXTURE_SETUP(wait)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	ASSERT_EQ(0, rnt_pending(&self->b));
}

FIXTURE_TEARDOWN(wait)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* So many events for b. */
static inline void ring_bell(FIXTURE_DATA(wait) *self, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, self->imm++);

		rnt_post1(&self->a, &op);
	}
}

/* The same, and they have come. */
static inline void ring_bell_heard(FIXTURE_DATA(wait) *self, unsigned int n)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	__u32 want = rnt_pending(&self->b) + n;

	ring_bell(self, n);
	while (rnt_pending(&self->b) != want)
		if (!rnt_left_ms(deadline))
			rnt_fail("%u events", rnt_pending(&self->b));
}

/* A thread in poll(). */
struct poller {
	struct rnt_thread thread;
	int fd;
	short events;
	short revents;
};

static inline void *poller_fn(void *arg)
{
	struct poller *p = arg;
	struct pollfd pfd = { .fd = p->fd, .events = p->events };

	rnt_check_eq(1, poll(&pfd, 1, -1));
	p->revents = pfd.revents;
	return NULL;
}

#endif /* _WAIT_FIXTURE_H */
