// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - the ways to wait for librnotify's events.
 *
 * io_uring: a multishot poll stays armed for good. In a ping-pong a post rides
 * with the submission that sleeps, so that a turn is one system call.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ours.h"

#define RING_ENTRIES 64
enum { TAG_POLL = 1, TAG_POST };

static int broken(const char *what, int err)
{
	return fail("rnotify: %s: %s", what, strerror(err));
}

/* ---- io_uring ---- */

static struct io_uring_sqe *next_sqe(struct ours *o)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&o->ring);

	if (sqe)
		return sqe;
	io_uring_submit(&o->ring);
	return io_uring_get_sqe(&o->ring);
}

static void arm_poll(struct ours *o)
{
	struct io_uring_sqe *sqe = next_sqe(o);

	io_uring_prep_poll_multishot(sqe, rnotify_fd(o->ctx), EPOLLIN);
	sqe->user_data = TAG_POLL;
}

static void queue_post(struct ours *o, const struct rnotify_op *ops,
		       unsigned int n, unsigned int flags)
{
	const struct rnotify_uring_post post = {
		.ops = (uintptr_t)ops,
		.nr_ops = n,
	};
	struct io_uring_sqe *sqe = next_sqe(o);

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, rnotify_fd(o->ctx), NULL, 0,
			 0);
	sqe->cmd_op = RNOTIFY_IOCTL_POST;
	memcpy(sqe->cmd, &post, sizeof(post));
	sqe->flags = (__u8)flags;
	sqe->user_data = TAG_POST;
}

/* All completions that are there; @posted gets the latest result of a post. */
static int reap(struct ours *o, int *posted)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;
	bool again = false;

	io_uring_for_each_cqe(&o->ring, head, cqe) {
		n++;
		if (cqe->user_data == TAG_POST)
			*posted = cqe->res;
		else if (!(cqe->flags & IORING_CQE_F_MORE))
			again = true;
	}
	io_uring_cq_advance(&o->ring, n);
	if (again)
		arm_poll(o);
	return (int)n;
}

static int uring_open(struct ours *o)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER |
			IORING_SETUP_DEFER_TASKRUN,
	};
	int ret = io_uring_queue_init_params(RING_ENTRIES, &o->ring, &params);

	if (ret)
		return broken("io_uring", -ret);
	o->ring_up = true;
	arm_poll(o);
	return 0;
}

static int uring_wait(struct ours *o)
{
	int ret, posted = 0;

	do {
		ret = io_uring_submit_and_wait(&o->ring, 1);
	} while (ret == -EINTR);
	if (ret < 0)
		return broken("io_uring", -ret);
	reap(o, &posted);
	/* Of a post that rode along only failures are told. */
	return posted < 0 ? broken("post by io_uring", -posted) : 0;
}

int ours_uring_post(struct ours *o, struct rnotify_op *ops, unsigned int n)
{
	int ret, posted = 0;

	if (o->link.run->mode == MODE_LATENCY && n == 1) {
		o->lazy_op = *ops;
		queue_post(o, &o->lazy_op, 1, IOSQE_CQE_SKIP_SUCCESS);
		return 1;
	}
	queue_post(o, ops, n, 0);
	while (!posted) {
		ret = io_uring_submit_and_wait(&o->ring, 1);
		if (ret < 0 && ret != -EINTR)
			return ret;
		reap(o, &posted);
	}
	return posted;
}

int ours_uring_flush(struct ours *o)
{
	int ret = io_uring_submit(&o->ring);

	return ret < 0 ? broken("io_uring", -ret) : 0;
}

/* ---- all ---- */

int ours_wait_open(struct ours *o)
{
	struct epoll_event in = { .events = EPOLLIN };
	int ret;

	switch (o->link.run->wait) {
	case WAIT_EPOLL:
		o->fd = epoll_create1(EPOLL_CLOEXEC);
		if (o->fd < 0 || epoll_ctl(o->fd, EPOLL_CTL_ADD,
					   rnotify_fd(o->ctx), &in))
			return broken("epoll", errno);
		return 0;
	case WAIT_EVENTFD:
		o->fd = eventfd(0, EFD_CLOEXEC);
		if (o->fd < 0)
			return broken("eventfd", errno);
		ret = rnotify_eventfd(o->ctx, 0, o->fd);
		return ret ? broken("eventfd", -ret) : 0;
	case WAIT_URING:
		return uring_open(o);
	}
	return 0;
}

void ours_wait_close(struct ours *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->ring_up)
		io_uring_queue_exit(&o->ring);
}

static int read_events(struct ours *o)
{
	ssize_t n = read(rnotify_fd(o->ctx), o->events, sizeof(o->events));

	if (n < 0)
		return errno == EINTR ? 0 : broken("read", errno);
	o->nr_events = (unsigned int)n / sizeof(o->events[0]);
	o->at_event = 0;
	return 0;
}

static int wait_call(struct ours *o, uint64_t spin_ns)
{
	int ret = rnotify_wait(o->ctx, 1, RNOTIFY_FOREVER, spin_ns);

	return ret < 0 && ret != -EINTR ? broken("wait", -ret) : 0;
}

int ours_wait(struct ours *o)
{
	const struct run *run = o->link.run;
	struct epoll_event event;
	uint64_t n;

	if (run->wait == WAIT_SPIN)
		return 0;
	o->link.sleeps++;
	switch (run->wait) {
	case WAIT_EPOLL:
		if (epoll_wait(o->fd, &event, 1, -1) < 0 && errno != EINTR)
			return broken("epoll", errno);
		return 0;
	case WAIT_EVENTFD:
		if (read(o->fd, &n, sizeof(n)) < 0 && errno != EINTR)
			return broken("eventfd", errno);
		return 0;
	case WAIT_URING:
		return uring_wait(o);
	case WAIT_READ:
		return read_events(o);
	case WAIT_ADAPTIVE:
		return wait_call(o, (uint64_t)run->spin_us * 1000);
	}
	return wait_call(o, 0);
}
