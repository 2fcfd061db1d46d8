// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring uring_cmd: POST on all kernels, WAIT where it can be cancelled.
 */
#include <liburing.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(uring_cmd)
{
	struct rnt_ctx a, b;
	struct rnt_pair p;
	struct io_uring ring;
	bool can_wait;
};

FIXTURE_SETUP(uring_cmd)
{
	struct rnotify_query query = { .size = sizeof(query) };

	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	ASSERT_EQ(0, io_uring_queue_init(16, &self->ring, 0));
	rnt_check_eq(0, rnt_ioctl(self->a.fd, RNOTIFY_IOCTL_QUERY, &query));
	ASSERT_TRUE(query.features & RNOTIFY_FEATURE_URING_POST);
	self->can_wait = query.features & RNOTIFY_FEATURE_URING_WAIT;
}

/* References to the module: open files. */
static int refs(void)
{
	FILE *f = fopen("/sys/module/rnotify/refcnt", "r");
	int n = -1;

	rnt_check(f && fscanf(f, "%d", &n) == 1);
	fclose(f);
	return n;
}

FIXTURE_TEARDOWN(uring_cmd)
{
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);

	io_uring_queue_exit(&self->ring);
	rnt_close(&self->a);
	rnt_close(&self->b);
	/* io_uring lets go of files a little later, in a worker */
	while (refs() && rnt_left_ms(end))
		rnt_sleep_us(1000);
	EXPECT_EQ(0, refs());
}

static struct io_uring_sqe *get_sqe(struct io_uring *ring, int fd,
				    unsigned int op, const void *cmd,
				    size_t len, __u64 user_data)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	rnt_check(sqe);
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	sqe->cmd_op = op;
	memcpy(sqe->cmd, cmd, len);
	sqe->user_data = user_data;
	return sqe;
}

static void queue_post(struct io_uring *ring, int fd,
		       const struct rnotify_op *ops, unsigned int nr,
		       __u64 user_data)
{
	struct rnotify_uring_post post = {
		.ops = (uintptr_t)ops, .nr_ops = nr,
	};

	get_sqe(ring, fd, RNOTIFY_IOCTL_POST, &post, sizeof(post), user_data);
}

static void queue_wait(struct io_uring *ring, int fd, unsigned int min_events,
		       __u64 user_data)
{
	struct rnotify_uring_wait wait = { .min_events = min_events };

	get_sqe(ring, fd, RNOTIFY_IOCTL_WAIT, &wait, sizeof(wait), user_data);
}

/* The next completion: its result. */
static int reap(struct io_uring *ring, __u64 user_data)
{
	struct __kernel_timespec ts = { .tv_sec = rnt_seconds(10) };
	struct io_uring_cqe *cqe;
	int ret;

	rnt_check_eq(0, io_uring_wait_cqe_timeout(ring, &cqe, &ts));
	rnt_check_eq(user_data, cqe->user_data);
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

TEST_F(uring_cmd, post_one_and_many)
{
	struct rnotify_op ops[5];
	struct rnotify_event ev;

	for (unsigned int i = 0; i < 5; i++)
		ops[i] = rnt_op_notify(self->p.ea, 100 + i);
	queue_post(&self->ring, self->a.fd, ops, 1, 1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(1, reap(&self->ring, 1));
	queue_post(&self->ring, self->a.fd, ops, 5, 2);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(5, reap(&self->ring, 2));
	for (unsigned int i = 0; i < 6; i++) {
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i ? 99 + i : 100, ev.notify.imm);
	}
}

/* From a worker of io_uring, and in a chain, which a failure would break. */
TEST_F(uring_cmd, post_forced_and_linked)
{
	static const unsigned int flags[] = {
		IOSQE_ASYNC, IOSQE_IO_DRAIN, IOSQE_IO_LINK,
		IOSQE_IO_LINK | IOSQE_ASYNC,
	};
	struct rnotify_op ops[2] = {
		rnt_op_notify(self->p.ea, 1), rnt_op_notify(self->p.ea, 2),
	};
	struct rnotify_uring_post post = { .ops = (uintptr_t)ops, .nr_ops = 2 };
	struct __kernel_timespec ts = { .tv_sec = rnt_seconds(10) };
	struct rnotify_event ev;

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		get_sqe(&self->ring, self->a.fd, RNOTIFY_IOCTL_POST, &post,
			sizeof(post), 1)->flags |= flags[i];
		queue_post(&self->ring, self->a.fd, ops, 1, 2);
		ASSERT_EQ(2, io_uring_submit(&self->ring));
		/* a worker may be slower than the one behind it */
		for (unsigned int k = 0; k < 2; k++) {
			struct io_uring_cqe *cqe;

			ASSERT_EQ(0, io_uring_wait_cqe_timeout(&self->ring,
							       &cqe, &ts));
			ASSERT_EQ(3 - cqe->user_data, cqe->res);
			io_uring_cqe_seen(&self->ring, cqe);
		}
		for (unsigned int k = 0; k < 3; k++) {
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
		}
	}
}

TEST_F(uring_cmd, post_errors)
{
	struct rnotify_op ops[2] = {
		rnt_op_notify(self->p.ea, 1), rnt_op_notify(9999, 2),
	};
	struct rnotify_uring_post post = { .ops = (uintptr_t)ops, .nr_ops = 1 };
	struct rnotify_event ev;

	queue_post(&self->ring, self->a.fd, ops + 1, 1, 1);
	io_uring_submit(&self->ring);
	ASSERT_EQ(-ENOENT, reap(&self->ring, 1));
	queue_post(&self->ring, self->a.fd, ops, 2, 2);
	io_uring_submit(&self->ring);
	ASSERT_EQ(1, reap(&self->ring, 2));
	queue_post(&self->ring, self->a.fd, NULL, 1, 3);
	io_uring_submit(&self->ring);
	ASSERT_EQ(-EFAULT, reap(&self->ring, 3));
	queue_post(&self->ring, self->a.fd, ops, 0, 4);
	io_uring_submit(&self->ring);
	ASSERT_EQ(-EINVAL, reap(&self->ring, 4));
	post.flags = 1;
	get_sqe(&self->ring, self->a.fd, RNOTIFY_IOCTL_POST, &post,
		sizeof(post), 5);
	io_uring_submit(&self->ring);
	ASSERT_EQ(-EOPNOTSUPP, reap(&self->ring, 5));
	get_sqe(&self->ring, self->a.fd, RNOTIFY_IOCTL_QUERY, &post,
		sizeof(post), 6);
	io_uring_submit(&self->ring);
	ASSERT_EQ(-ENOTTY, reap(&self->ring, 6));
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_expect_none(&self->b, self->p.eb, 50);
}

/* Out of credit: the answer is EAGAIN, not a worker that waits. */
TEST_F(uring_cmd, post_never_waits)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 7);
	unsigned int ok = 0;
	int ret;

	do {
		queue_post(&self->ring, self->a.fd, &op, 1, 1);
		ASSERT_EQ(1, io_uring_submit(&self->ring));
		ret = reap(&self->ring, 1);
		ok += ret == 1;
	} while (ret == 1 && ok < 1000);
	ASSERT_EQ(-EAGAIN, ret);
	ASSERT_EQ(64, ok);
}

TEST_F(uring_cmd, wait_needs_a_feature)
{
	queue_wait(&self->ring, self->b.fd, 600, 1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(self->can_wait ? -EINVAL : -ENOTTY, reap(&self->ring, 1));
}

TEST_F(uring_cmd, wait_for_three)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 7);
	struct io_uring_cqe *cqe;

	if (!self->can_wait)
		return;		/* wait_needs_a_feature has proved why */
	queue_wait(&self->ring, self->b.fd, 3, 1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(-EAGAIN, io_uring_peek_cqe(&self->ring, &cqe));
		rnt_post1(&self->a, &op);
		if (i < 2)
			rnt_check_eq(0, rnt_wait(&self->b, i + 1, -1, 0,
						 NULL));
	}
	ASSERT_EQ(0, reap(&self->ring, 1));
	/* and at once when they are there already */
	queue_wait(&self->ring, self->b.fd, 3, 2);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_EQ(0, reap(&self->ring, 2));
}

/* The last event of an endpoint ends a wait, unless only the number counts. */
TEST_F(uring_cmd, wait_count)
{
	struct rnotify_uring_wait wait = { .min_events = 2, .flags = 2 };
	struct rnotify_op op;
	struct rnt_pair dead;

	if (!self->can_wait)
		return;
	get_sqe(&self->ring, self->b.fd, RNOTIFY_IOCTL_WAIT, &wait,
		sizeof(wait), 1);
	rnt_check_eq(1, io_uring_submit(&self->ring));
	ASSERT_EQ(-EOPNOTSUPP, reap(&self->ring, 1));
	rnt_pair_more(&self->p, &dead);
	wait.flags = RNOTIFY_WAIT_COUNT;
	get_sqe(&self->ring, self->b.fd, RNOTIFY_IOCTL_WAIT, &wait,
		sizeof(wait), 2);
	queue_wait(&self->ring, self->b.fd, 2, 3);
	rnt_check_eq(2, io_uring_submit(&self->ring));
	ASSERT_EQ(0, rnt_disconnect(&self->a, dead.ea));
	ASSERT_EQ(0, reap(&self->ring, 3));
	op = rnt_op_notify(self->p.ea, 0);
	rnt_post1(&self->a, &op);
	ASSERT_EQ(0, reap(&self->ring, 2));
}

/* The ring goes, and the wait with it; the context can be closed. */
TEST_F(uring_cmd, wait_cancelled)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 7);
	struct io_uring ring;

	if (!self->can_wait)
		return;
	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	queue_wait(&ring, self->b.fd, 2, 1);
	queue_wait(&ring, self->b.fd, 3, 2);
	ASSERT_EQ(2, io_uring_submit(&ring));
	rnt_post1(&self->a, &op);
	io_uring_queue_exit(&ring);
	rnt_post1(&self->a, &op);
	rnt_check_eq(0, rnt_wait(&self->b, 2, -1, 0, NULL));
}

static void fill_with_waits(struct io_uring *ring, int fd)
{
	for (unsigned int i = 0; i < RNOTIFY_URING_WAITS_MAX; i++)
		queue_wait(ring, fd, 1, 1);
	rnt_check_eq(RNOTIFY_URING_WAITS_MAX, io_uring_submit(ring));
}

/* So many and no more; those that ended make room, and so do the cancelled. */
TEST_F(uring_cmd, wait_limit)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 7);
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_event ev;
	struct io_uring many;
	int ret;

	if (!self->can_wait)
		return;
	for (unsigned int round = 0; round < 2; round++) {
		ASSERT_EQ(0, io_uring_queue_init(RNOTIFY_URING_WAITS_MAX, &many,
						 0));
		fill_with_waits(&many, self->b.fd);
		queue_wait(&self->ring, self->b.fd, 1, 2);
		ASSERT_EQ(1, io_uring_submit(&self->ring));
		ASSERT_EQ(-EMFILE, reap(&self->ring, 2));
		rnt_post1(&self->a, &op);
		for (unsigned int i = 0; i < RNOTIFY_URING_WAITS_MAX; i++)
			ASSERT_EQ(0, reap(&many, 1));
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		fill_with_waits(&many, self->b.fd);
		io_uring_queue_exit(&many);
		/* it cancels in a worker of its own, a little later */
		do {
			queue_wait(&self->ring, self->b.fd, 2, 3);
			ASSERT_EQ(1, io_uring_submit(&self->ring));
			rnt_post1(&self->a, &op);
			rnt_post1(&self->a, &op);
			ret = reap(&self->ring, 3);
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
		} while (ret == -EMFILE && rnt_left_ms(end));
		ASSERT_EQ(0, ret);
	}
}

/*
 * Waits that io_uring's workers begin while the ring goes: cancelled before they
 * wait, while, and after.
 */
TEST_F(uring_cmd, wait_cancelled_early)
{
	struct rnotify_uring_wait wait = { .min_events = 1 };
	struct rnotify_op op = rnt_op_notify(self->p.ea, 7);
	unsigned int rounds = rnt_count(300);
	struct rnotify_event ev;
	struct io_uring ring;

	if (!self->can_wait)
		return;
	for (unsigned int i = 0; i < rounds; i++) {
		ASSERT_EQ(0, io_uring_queue_init(32, &ring, 0));
		for (unsigned int k = 0; k < 32; k++)
			get_sqe(&ring, self->b.fd, RNOTIFY_IOCTL_WAIT, &wait,
				sizeof(wait), 1)->flags |= IOSQE_ASYNC;
		ASSERT_EQ(32, io_uring_submit(&ring));
		if (i % 3 == 0)
			rnt_sleep_us(i);
		io_uring_queue_exit(&ring);
	}
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	/* the places of all come back */
	queue_wait(&self->ring, self->b.fd, 1, 1);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	rnt_post1(&self->a, &op);
	ASSERT_EQ(0, reap(&self->ring, 1));
}

/* A process that ends while it waits takes nothing down, and leaves nothing. */
TEST_F(uring_cmd, wait_at_exit)
{
	pid_t pid;

	if (!self->can_wait)
		return;
	for (unsigned int i = 0; i < 20; i++) {
		pid = rnt_fork();
		if (!pid) {
			struct io_uring ring;
			struct rnt_ctx c;

			rnt_init(&c, 64, 0);
			rnt_check_eq(0, io_uring_queue_init(4, &ring, 0));
			queue_wait(&ring, c.fd, 1, 1);
			rnt_check_eq(1, io_uring_submit(&ring));
			_exit(0);
		}
		rnt_join(pid);
	}
}

TEST_HARNESS_MAIN
