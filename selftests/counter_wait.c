// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting until a counter is so far: by watches (and with them WAIT, poll,
 * eventfd, io_uring), and by COUNTER_WAIT; and everything that ends a wait.
 *
 * rvm: limit=90
 */
#include <liburing.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(cwait)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_counter x;
	struct rnotify_rule all;
};

FIXTURE_SETUP(cwait)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_counter_open(&self->b, &self->x);
	self->all = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER, self->x.id);
	rnt_route(&self->b, self->p.eb, &self->all, 1);
}

FIXTURE_TEARDOWN(cwait)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void ring(FIXTURE_DATA(cwait) *self, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, i);

		rnt_post1(&self->a, &op);
	}
}

/* The same, and they have been counted. */
static void ring_counted(FIXTURE_DATA(cwait) *self, unsigned int n)
{
	__u64 before = rnt_counter_count(&self->x);

	ring(self, n);
	rnt_counter_is(&self->b, &self->x, before + n);
}

static void expect_counter(FIXTURE_DATA(cwait) *self, __u32 watch,
			   __u64 threshold, __u64 count)
{
	struct rnotify_event ev;

	rnt_expect(&self->b, self->x.id, RNOTIFY_EVENT_COUNTER, &ev);
	rnt_check_eq(watch, ev.counter.watch);
	rnt_check_eq(threshold, ev.counter.threshold);
	rnt_check_eq(count, ev.counter.count);
	rnt_check_eq(0, ev.counter.reserved);
}

/*
 * ---- watches ---------------------------------------------------------------
 */

/* Asleep until the threshold; one event for 64 notifications. */
TEST_F(cwait, threshold_by_WAIT)
{
	__u32 watch = rnt_watch(&self->b, &self->x, 64, 0, 0xc00c1e);
	__u32 nr;

	ring_counted(self, 63);
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 1, 0, 0, &nr));
	ring(self, 1);
	ASSERT_EQ(0, rnt_wait(&self->b, 1, rnt_deadline(RNT_PATIENCE_MS), 0,
			      &nr));
	ASSERT_EQ(1, nr);
	ASSERT_EQ(0xc00c1e, rnt_peek(&self->b)->cookie);
	expect_counter(self, watch, 64, 64);
	/* that was all */
	ring_counted(self, 100);
	rnt_expect_none(&self->b, 0, 0);
}

TEST_F(cwait, threshold_by_poll)
{
	__u32 watch = rnt_watch(&self->b, &self->x, 3, 0, 0);

	ring_counted(self, 2);
	ASSERT_EQ(0, rnt_poll(&self->b, POLLIN, 0));
	ring(self, 1);
	ASSERT_EQ(POLLIN, rnt_poll(&self->b, POLLIN, RNT_PATIENCE_MS));
	expect_counter(self, watch, 3, 3);
	ASSERT_EQ(0, rnt_poll(&self->b, POLLIN, 0));
}

TEST_F(cwait, threshold_by_eventfd)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .fd = eventfd(0, EFD_NONBLOCK),
	};
	struct pollfd pfd = { .fd = arg.fd, .events = POLLIN };

	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
	rnt_watch(&self->b, &self->x, 3, 0, 0);
	ring_counted(self, 2);
	ASSERT_EQ(0, poll(&pfd, 1, 0));
	ring(self, 1);
	ASSERT_EQ(1, poll(&pfd, 1, rnt_left_ms(rnt_deadline(RNT_PATIENCE_MS))));
	close(arg.fd);
}

TEST_F(cwait, threshold_by_io_uring)
{
	struct __kernel_timespec ts = { .tv_sec = rnt_seconds(10) };
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	struct rnotify_event ev;
	struct io_uring uring;

	ASSERT_EQ(0, io_uring_queue_init(8, &uring, 0));
	rnt_watch(&self->b, &self->x, 3, 0, 0);
	sqe = io_uring_get_sqe(&uring);
	io_uring_prep_read(sqe, self->b.fd, &ev, sizeof(ev), 0);
	ASSERT_EQ(1, io_uring_submit(&uring));
	ring_counted(self, 2);
	ASSERT_EQ(-EAGAIN, io_uring_peek_cqe(&uring, &cqe));
	ring(self, 1);
	ASSERT_EQ(0, io_uring_wait_cqe_timeout(&uring, &cqe, &ts));
	ASSERT_EQ(sizeof(ev), cqe->res);
	ASSERT_EQ(RNOTIFY_EVENT_COUNTER, ev.type);
	ASSERT_EQ(3, ev.counter.count);
	io_uring_queue_exit(&uring);
}

TEST_F(cwait, watches_with_different_thresholds)
{
	__u32 w[4];

	for (int i = 0; i < 4; i++)
		w[i] = rnt_watch(&self->b, &self->x, 10 * (4 - i), 0, 0);
	for (int i = 0; i < 4; i++) {
		ring_counted(self, 9);
		rnt_expect_none(&self->b, 0, 0);
		ring(self, 1);
		expect_counter(self, w[3 - i], 10 * (i + 1), 10 * (i + 1));
	}
}

/* Reached before it was armed: told at once. */
TEST_F(cwait, watch_of_the_past)
{
	__u32 watch;

	ring_counted(self, 5);
	watch = rnt_watch(&self->b, &self->x, 3, 0, 0);
	expect_counter(self, watch, 3, 5);
	ASSERT_EQ(0, rnt_watch_arm(&self->b, watch, 5, 0));
	expect_counter(self, watch, 5, 5);
	ASSERT_EQ(0, rnt_watch_arm(&self->b, watch, 6, 0));
	rnt_expect_none(&self->b, 0, 0);
	ring(self, 1);
	expect_counter(self, watch, 6, 6);
}

TEST_F(cwait, watch_with_a_step)
{
	__u32 watch = rnt_watch(&self->b, &self->x, 4, 3, 0);
	struct rnotify_counter_reset reset;

	ring_counted(self, 4);
	expect_counter(self, watch, 4, 4);
	ring_counted(self, 2);
	rnt_expect_none(&self->b, 0, 0);
	ring_counted(self, 1);
	expect_counter(self, watch, 7, 7);
	/* a reset starts from the beginning */
	rnt_counter_reset(&self->b, &self->x, &reset);
	ring_counted(self, 3);
	rnt_expect_none(&self->b, 0, 0);
	ring_counted(self, 1);
	expect_counter(self, watch, 4, 4);
	/* far behind: one event, and the next threshold is ahead */
	ASSERT_EQ(0, rnt_watch_arm(&self->b, watch, 1, 3));
	expect_counter(self, watch, 1, 4);
	ring_counted(self, 2);
	rnt_expect_none(&self->b, 0, 0);
	ring_counted(self, 1);
	expect_counter(self, watch, 7, 7);
	/* and at the end of all numbers */
	ASSERT_EQ(0, rnt_watch_arm(&self->b, watch, 7, ~0ull));
	expect_counter(self, watch, 7, 7);
	ring_counted(self, 1);
	rnt_expect_none(&self->b, 0, 0);
}

/*
 * One event of a watch in the ring at a time, however often it becomes due; what
 * came meanwhile is told when that is consumed, so that no wake-up is lost.
 */
TEST_F(cwait, unconsumed_event_is_not_doubled)
{
	__u32 watch = rnt_watch(&self->b, &self->x, 1, 1, 0);

	ring_counted(self, 50);
	ASSERT_EQ(1, rnt_pending(&self->b));
	ASSERT_EQ(1, rnt_peek(&self->b)->counter.count);
	ASSERT_NE(0, self->b.head->need_kick);
	/* the test's consumer kicks when the kernel asks for it */
	rnt_consume(&self->b, 1);
	ASSERT_EQ(1, rnt_pending(&self->b));
	ASSERT_EQ(0, self->b.head->need_kick);
	expect_counter(self, watch, 50, 50);
	rnt_expect_none(&self->b, 0, 0);
	/* destroyed with an event in the ring, and one kept back */
	ring_counted(self, 5);
	rnt_destroy(&self->b, watch);
	expect_counter(self, watch, 51, 51);
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_EQ(-ENOENT, rnt_watch_arm(&self->b, watch, 1, 0));
}

/* The same, but it is the counter that is destroyed. */
TEST_F(cwait, no_event_of_a_dead_counter)
{
	__u32 watch = rnt_watch(&self->b, &self->x, 1, 1, 0);

	ring_counted(self, 5);
	ASSERT_EQ(1, rnt_pending(&self->b));
	ASSERT_NE(0, self->b.head->need_kick);
	rnt_destroy(&self->b, self->x.id);
	ASSERT_EQ(0, self->b.head->need_kick);
	rnt_consume(&self->b, 1);
	rnt_expect_none(&self->b, 0, 0);
	ASSERT_EQ(-ENOENT, rnt_watch_arm(&self->b, watch, 1, 0));
}

/*
 * ---- COUNTER_WAIT ----------------------------------------------------------
 */

struct waiter {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	const struct rnt_counter *counter;
	__u64 threshold;
	struct rnotify_counter_wait arg;
	int ret;
};

static void *waiter_fn(void *data)
{
	struct waiter *w = data;

	w->ret = rnt_counter_wait(w->c, w->counter, w->threshold, -1, &w->arg);
	return NULL;
}

static void waiter_start(struct waiter *w, FIXTURE_DATA(cwait) *self,
			 __u64 threshold)
{
	*w = (struct waiter){
		.c = &self->b,
		.counter = &self->x,
		.threshold = threshold,
		.arg.ended = self->x.page->ended,
	};
	rnt_thread_start(&w->thread, waiter_fn, w);
	rnt_await_sleep(w->thread.tid, SYS_ioctl);
}

TEST_F(cwait, several_waiters_with_different_thresholds)
{
	struct waiter w[5];

	for (int i = 0; i < 5; i++)
		waiter_start(&w[i], self, 7 * (5 - i));
	for (int i = 4; i >= 0; i--) {
		ring_counted(self, 6);
		ASSERT_FALSE(rnt_thread_ends(&w[i].thread, 5, NULL));
		ring_counted(self, 1);
		rnt_thread_join(&w[i].thread);
		ASSERT_EQ(0, w[i].ret);
		ASSERT_EQ(7 * (5 - i), w[i].arg.count);
	}
}

TEST_F(cwait, ends_by_timeout)
{
	struct rnotify_counter_wait arg = {};
	__s64 until = rnt_deadline(20);

	ring_counted(self, 2);
	ASSERT_EQ(-ETIME, rnt_counter_wait(&self->b, &self->x, 3, until, &arg));
	ASSERT_LE(until, rnt_now_ns());
	ASSERT_EQ(2, arg.count);
	ASSERT_EQ(-ETIME, rnt_counter_wait(&self->b, &self->x, 3, 1, &arg));
	ASSERT_EQ(-ETIME, rnt_counter_wait(&self->b, &self->x, ~0ull, 0, &arg));
}

static void on_signal(int sig)
{
	(void)sig;
}

TEST_F(cwait, ends_by_signal)
{
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART };
	struct waiter w;

	sigaction(SIGUSR1, &sa, NULL);
	ring_counted(self, 2);
	waiter_start(&w, self, 3);
	pthread_kill(w.thread.thread, SIGUSR1);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(-EINTR, w.ret);
	ASSERT_EQ(2, w.arg.count);
	/* a stop and continuation is none */
	waiter_start(&w, self, 3);
	rnt_stop_and_continue();
	ASSERT_FALSE(rnt_thread_ends(&w.thread, 5, NULL));
	ring(self, 1);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(0, w.ret);
}

/* A killed peer is noticed by who waits for its share, and named. */
TEST_F(cwait, P7_ends_by_peer_death)
{
	struct rnotify_counter_wait arg = {};
	struct rnotify_event ev;
	struct waiter w;
	pid_t pid;
	__u32 eb;

	pid = rnt_fork();
	if (!pid) {
		struct rnt_ctx c;
		__u32 ea;

		rnt_init(&c, 512, 0);
		ea = rnt_connect(&c, rnt_addr4(), self->p.port, NULL, 0);
		rnt_expect(&c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		for (;;)
			pause();
	}
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_route(&self->b, eb, &self->all, 1);
	waiter_start(&w, self, 3);
	ring_counted(self, 2);
	rnt_kill(pid);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(-EPIPE, w.ret);
	ASSERT_EQ(2, w.arg.count);
	ASSERT_EQ(1, w.arg.ended);
	ASSERT_EQ(eb, w.arg.ended_endpoint);
	ASSERT_EQ(1, self->x.page->ended);
	ASSERT_EQ(w.arg.ended_reason, self->x.page->ended_reason);
	ASSERT_EQ(eb, self->x.page->ended_endpoint);
	rnt_down(&self->b, eb, RNT_PEER_GONE, &ev);
	ASSERT_EQ(w.arg.ended_reason, ev.down.reason);

	/* who does not know yet is told at once; who knows waits on */
	ASSERT_EQ(-EPIPE, rnt_counter_wait(&self->b, &self->x, 3, -1, &arg));
	ASSERT_EQ(1, arg.ended);
	ASSERT_EQ(-ETIME, rnt_counter_wait(&self->b, &self->x, 3, 1, &arg));
	waiter_start(&w, self, 3);
	ring(self, 1);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(0, w.ret);
	/* the threshold wins, and does not hide the end from the next wait */
	arg.ended = 0;
	ASSERT_EQ(0, rnt_counter_wait(&self->b, &self->x, 3, -1, &arg));
	ASSERT_EQ(-EPIPE, rnt_counter_wait(&self->b, &self->x, 4, -1, &arg));
}

TEST_F(cwait, P7_ends_by_local_close_and_destroy)
{
	struct rnt_pair p;
	struct waiter w;

	rnt_pair_more(&self->p, &p);
	rnt_route(&self->b, p.eb, &self->all, 1);
	waiter_start(&w, self, 1);
	ASSERT_EQ(0, rnt_disconnect(&self->b, p.eb));
	rnt_thread_join(&w.thread);
	ASSERT_EQ(-EPIPE, w.ret);
	ASSERT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, w.arg.ended_reason);
	/* an endpoint that feeds something else disturbs nobody */
	rnt_pair_more(&self->p, &p);
	waiter_start(&w, self, 1);
	rnt_destroy(&self->b, p.eb);
	ASSERT_FALSE(rnt_thread_ends(&w.thread, 5, NULL));
	rnt_destroy(&self->b, self->x.id);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(-ECANCELED, w.ret);
}

/* A peer that nobody accepted is no news. */
TEST_F(cwait, requests_do_not_disturb)
{
	struct waiter w;
	__u32 ea, eb;

	rnt_route(&self->b, 0, &self->all, 1);
	waiter_start(&w, self, 1);
	ea = rnt_connect(&self->a, rnt_addr4(), self->p.port, NULL, 0);
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_reject(&self->b, eb));
	rnt_down(&self->a, ea, RNOTIFY_REASON_REJECTED, NULL);
	rnt_down(&self->b, eb, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	ASSERT_FALSE(rnt_thread_ends(&w.thread, 5, NULL));
	ring(self, 1);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(0, w.ret);
}

/* A device of its own, so that others keep theirs. */
TEST_F(cwait, P7_ends_by_device_removal)
{
	struct waiter w;
	__u16 port = 0;
	__u32 ea, eb;

	ASSERT_EQ(0, system("ip link add d9 type dummy && "
			    "ip address add 10.0.9.1/24 dev d9 && "
			    "ip link set d9 up && "
			    "rdma link add rxe9 type rxe netdev d9"));
	rnt_listen(&self->b, "10.0.9.1", &port, 1);
	ea = rnt_connect(&self->a, "10.0.9.1", port, NULL, 0);
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_route(&self->b, eb, &self->all, 1);
	waiter_start(&w, self, 1);
	ASSERT_EQ(0, system("rdma link delete rxe9 && ip link delete d9"));
	rnt_thread_join(&w.thread);
	ASSERT_EQ(-EPIPE, w.ret);
	ASSERT_EQ(eb, w.arg.ended_endpoint);
	/* of the two ends one is told by the other, or both by the device */
	if (w.arg.ended_reason != RNOTIFY_REASON_PEER_CLOSE) {
		ASSERT_EQ(RNOTIFY_REASON_DEVICE_REMOVED, w.arg.ended_reason);
		ASSERT_EQ(-ENODEV, w.arg.ended_error);
	}
}

TEST_HARNESS_MAIN
