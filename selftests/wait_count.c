// SPDX-License-Identifier: GPL-2.0
/*
 * WAIT beside an endpoint that has ended: the last event ends a wait, since what
 * is waited for may never come, unless only the number of events counts.
 */
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(wait_count)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;	/* lives */
	struct rnt_thread thread;
	struct rnotify_wait arg;
	int ret;
};

FIXTURE_SETUP(wait_count)
{
	struct rnt_pair dead;

	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_pair_more(&self->p, &dead);
	ASSERT_EQ(0, rnt_disconnect(&self->a, dead.ea));
	/* not consumed: it stays in the ring */
	rnt_check_eq(0, rnt_wait(&self->b, 1, -1, 0, NULL));
	rnt_check_eq(RNOTIFY_EVENT_DISCONNECTED, rnt_peek(&self->b)->type);
}

FIXTURE_TEARDOWN(wait_count)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static int wait_flags(FIXTURE_DATA(wait_count) *self, unsigned int min_events,
		      __s64 timeout_ns, unsigned int flags)
{
	self->arg = (struct rnotify_wait){
		.size = sizeof(self->arg), .flags = flags,
		.min_events = min_events, .timeout_ns = timeout_ns,
	};
	return rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_WAIT, &self->arg);
}

TEST_F(wait_count, flags)
{
	ASSERT_EQ(-EOPNOTSUPP, wait_flags(self, 1, 0, 2));
	ASSERT_EQ(-EOPNOTSUPP, wait_flags(self, 1, 0, 0x80000001));
	ASSERT_EQ(0, wait_flags(self, 1, 0, RNOTIFY_WAIT_COUNT));
	ASSERT_EQ(0, wait_flags(self, 5, -1, 0));
	ASSERT_EQ(1, self->arg.nr_events);
	ASSERT_EQ(-ETIME, wait_flags(self, 2, 0, RNOTIFY_WAIT_COUNT));
	ASSERT_EQ(-ETIME, wait_flags(self, 2, rnt_now_ns() + 1000000,
				     RNOTIFY_WAIT_COUNT));
	ASSERT_EQ(1, self->arg.nr_events);
}

static void *waiter_fn(void *arg)
{
	FIXTURE_DATA(wait_count) *self = arg;

	self->ret = wait_flags(self, 3, -1, RNOTIFY_WAIT_COUNT);
	return NULL;
}

/* It sleeps, and another last event counts as one like any other. */
TEST_F(wait_count, P7_sleeps_until_enough)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 0);

	rnt_thread_start(&self->thread, waiter_fn, self);
	rnt_await_sleep(self->thread.tid, SYS_ioctl);
	rnt_post1(&self->a, &op);
	rnt_check_eq(0, rnt_wait(&self->b, 2, -1, 0, NULL));
	ASSERT_FALSE(rnt_thread_ends(&self->thread, 20, NULL));
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	rnt_thread_join(&self->thread);
	ASSERT_EQ(0, self->ret);
	ASSERT_EQ(3, self->arg.nr_events);
}

TEST_HARNESS_MAIN
