// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring on a context: POLL_ADD, single and multishot, READ and READ_MULTISHOT
 * (FAULTS 15).
 *
 * rvm: limit=60
 */
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Newer than the headers of some systems: kernel 6.7. */
#define OP_READ_MULTISHOT	49

#define GROUP		7
#define BUFFERS		8
#define BUFFER_EVENTS	2

FIXTURE(uring)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct io_uring ring;
	__u32 imm;
	struct rnotify_event buffers[BUFFERS][BUFFER_EVENTS];
};

FIXTURE_SETUP(uring)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	ASSERT_EQ(0, io_uring_queue_init(32, &self->ring, 0));
}

FIXTURE_TEARDOWN(uring)
{
	io_uring_queue_exit(&self->ring);
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static struct io_uring_sqe *get_sqe(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	rnt_check(sqe);
	return sqe;
}

static void submit_poll(struct io_uring *ring, int fd, bool multi)
{
	struct io_uring_sqe *sqe = get_sqe(ring);

	if (multi)
		io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = 1;
	rnt_check_eq(1, io_uring_submit(ring));
}

static void submit_read(struct io_uring *ring, int fd, void *buf, size_t len)
{
	struct io_uring_sqe *sqe = get_sqe(ring);

	io_uring_prep_read(sqe, fd, buf, len, 0);
	sqe->user_data = 2;
	rnt_check_eq(1, io_uring_submit(ring));
}

/* false if nothing completes within that time */
static bool reap(struct io_uring *ring, unsigned int ms,
		 struct io_uring_cqe *copy)
{
	uint64_t ns = ms * 1e6 * rnt_slow();
	struct __kernel_timespec ts = {
		.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000,
	};
	struct io_uring_cqe *cqe;
	int ret;

	do {
		ret = io_uring_wait_cqe_timeout(ring, &cqe, &ts);
	} while (ret == -EINTR);
	if (ret == -ETIME)
		return false;
	rnt_check_eq(0, ret);
	memcpy(copy, cqe, sizeof(*copy));
	io_uring_cqe_seen(ring, cqe);
	return true;
}

static void expect_cqe(struct io_uring *ring, struct io_uring_cqe *cqe)
{
	if (!reap(ring, RNT_PATIENCE_MS, cqe))
		rnt_fail("no completion");
}

static void ring_bell(FIXTURE_DATA(uring) *self, unsigned int n)
{
	while (n--) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, self->imm++);

		rnt_post1(&self->a, &op);
	}
}

TEST_F(uring, poll_single)
{
	struct io_uring_cqe cqe;

	for (__u32 i = 0; i < 20; i++) {
		submit_poll(&self->ring, self->b.fd, false);
		ASSERT_FALSE(reap(&self->ring, 0, &cqe));
		ring_bell(self, 1);
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(POLLIN, cqe.res);
		ASSERT_FALSE(cqe.flags & IORING_CQE_F_MORE);
		/* with something there: at once */
		submit_poll(&self->ring, self->b.fd, false);
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(POLLIN, cqe.res);
		rnt_expect_imms(&self->b, self->p.eb, i, 1);
	}
}

/* A completion for each transition, and it stays armed. */
TEST_F(uring, poll_multishot)
{
	struct io_uring_cqe cqe;

	submit_poll(&self->ring, self->b.fd, true);
	for (__u32 i = 0; i < 50; i++) {
		ring_bell(self, 1);
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(POLLIN, cqe.res);
		ASSERT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		rnt_expect_imms(&self->b, self->p.eb, i, 1);
	}
}

TEST_F(uring, poll_out)
{
	struct rnotify_params params = { .recv_depth = 2 };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe cqe;
	struct rnt_pair q;

	rnt_more(&self->p, &q, NULL, &params);
	ASSERT_EQ(2, rnt_post_until_full(q.a, q.ea, 0, 0));
	rnt_settle(&q, false);
	rnt_take_type(q.a, q.ea, RNOTIFY_EVENT_WRITABLE,
		      &(struct rnotify_event){}, 0);
	ASSERT_EQ(0, rnt_post_until_full(q.a, q.ea, 0, 0));
	sqe = get_sqe(&self->ring);
	io_uring_prep_poll_add(sqe, q.a->fd, POLLOUT);
	ASSERT_EQ(1, io_uring_submit(&self->ring));
	ASSERT_FALSE(reap(&self->ring, 10, &cqe));
	rnt_expect_imms(q.b, q.eb, 0, 2);
	expect_cqe(&self->ring, &cqe);
	ASSERT_EQ(POLLOUT, cqe.res);
}

/* READ sleeps in the kernel without a thread of its own. */
TEST_F(uring, read)
{
	struct rnotify_event ev[4];
	struct io_uring_cqe cqe;

	for (__u32 i = 0; i < 20; i++) {
		submit_read(&self->ring, self->b.fd, ev, sizeof(ev));
		ASSERT_FALSE(reap(&self->ring, 1, &cqe));
		ring_bell(self, 1);
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(64, cqe.res);
		ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev[0].type);
		ASSERT_EQ(i, ev[0].notify.imm);
	}
	submit_read(&self->ring, self->b.fd, ev, 63);
	expect_cqe(&self->ring, &cqe);
	ASSERT_EQ(-EINVAL, cqe.res);
}

/* Several READs: each event goes to one of them. */
TEST_F(uring, read_many)
{
	struct rnotify_event ev[8];
	struct io_uring_cqe cqe;
	unsigned int seen = 0;

	for (int i = 0; i < 8; i++)
		submit_read(&self->ring, self->b.fd, &ev[i], sizeof(ev[i]));
	ring_bell(self, 8);
	for (int i = 0; i < 8; i++) {
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(64, cqe.res);
	}
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev[i].type);
		seen |= 1u << ev[i].notify.imm;
	}
	ASSERT_EQ(0xff, seen);
}

/* O_NONBLOCK means nothing to io_uring where it can wait without a thread. */
TEST_F(uring, read_nonblock)
{
	struct rnotify_event ev;
	struct io_uring_cqe cqe;

	ASSERT_EQ(0, fcntl(self->b.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	submit_read(&self->ring, self->b.fd, &ev, sizeof(ev));
	ASSERT_FALSE(reap(&self->ring, 1, &cqe));
	ring_bell(self, 1);
	expect_cqe(&self->ring, &cqe);
	ASSERT_EQ(64, cqe.res);
}

/* Cancelled while it waits. */
TEST_F(uring, P7_cancel)
{
	struct io_uring_cqe cqe[2];
	struct rnotify_event ev;

	submit_read(&self->ring, self->b.fd, &ev, sizeof(ev));
	submit_poll(&self->ring, self->b.fd, true);
	for (int i = 1; i <= 2; i++) {
		struct io_uring_sqe *sqe = get_sqe(&self->ring);
		bool first;

		sqe->opcode = IORING_OP_ASYNC_CANCEL;
		sqe->fd = -1;
		sqe->addr = i;
		sqe->user_data = 10;
		ASSERT_EQ(1, io_uring_submit(&self->ring));
		expect_cqe(&self->ring, &cqe[0]);
		expect_cqe(&self->ring, &cqe[1]);
		first = cqe[0].user_data != 10;
		ASSERT_EQ(10, cqe[first].user_data);
		ASSERT_EQ(0, cqe[first].res);
		ASSERT_EQ(i, cqe[!first].user_data);
		ASSERT_EQ(-ECANCELED, cqe[!first].res);
	}
	ring_bell(self, 1);
	rnt_expect_imms(&self->b, self->p.eb, 0, 1);
}

/* The file is closed while requests wait: they keep the context. */
TEST_F(uring, P7_closed_fd)
{
	int fd = dup(self->b.fd);
	struct rnotify_event ev;
	struct io_uring_cqe cqe;

	submit_read(&self->ring, fd, &ev, sizeof(ev));
	close(fd);
	ring_bell(self, 1);
	expect_cqe(&self->ring, &cqe);
	ASSERT_EQ(64, cqe.res);
	/* and one that still waits when the ring goes */
	submit_read(&self->ring, self->b.fd, &ev, sizeof(ev));
	submit_poll(&self->ring, self->b.fd, true);
	io_uring_queue_exit(&self->ring);
	rnt_close(&self->b);
	rnt_down(&self->a, self->p.ea, RNT_PEER_GONE, NULL);
	rnt_init(&self->b, 512, 0);
	ASSERT_EQ(0, io_uring_queue_init(32, &self->ring, 0));
}

/* ---- READ_MULTISHOT ---- */

static bool have_multishot(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	bool have;

	rnt_check(probe);
	have = OP_READ_MULTISHOT <= probe->last_op &&
	       (probe->ops[OP_READ_MULTISHOT].flags & IO_URING_OP_SUPPORTED);
	free(probe);
	return have;
}

static void give_buffers(FIXTURE_DATA(uring) *self, int first, int nr)
{
	struct io_uring_sqe *sqe = get_sqe(&self->ring);

	/* only a failure of this will be seen */
	io_uring_prep_provide_buffers(sqe, self->buffers[first],
				      sizeof(self->buffers[0]), nr, GROUP,
				      first);
	sqe->user_data = 3;
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	rnt_check_eq(1, io_uring_submit(&self->ring));
}

static void submit_read_multishot(FIXTURE_DATA(uring) *self)
{
	struct io_uring_sqe *sqe = get_sqe(&self->ring);

	io_uring_prep_rw(OP_READ_MULTISHOT, sqe, self->b.fd, NULL, 0, 0);
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	sqe->user_data = 4;
	rnt_check_eq(1, io_uring_submit(&self->ring));
}

/* One request for a whole stream, in order, whatever the buffers hold. */
TEST_F(uring, P1_read_multishot)
{
	unsigned int total = rnt_count(3000), seen = 0, sent = 0, id;
	struct io_uring_cqe cqe;

	give_buffers(self, 0, BUFFERS);
	submit_read_multishot(self);
	if (!have_multishot(&self->ring)) {
		/* 6.1 to 6.6: refused, and that is how it shall be */
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(-EINVAL, cqe.res);
		return;
	}
	while (seen < total) {
		if (seen == sent) {
			unsigned int n = 1 + rand() % 5;

			ring_bell(self, n);
			sent += n;
			total = sent > total ? sent : total;
		}
		expect_cqe(&self->ring, &cqe);
		ASSERT_EQ(4, cqe.user_data);
		ASSERT_TRUE(cqe.res == 64 || cqe.res == 128)
			TH_LOG("res %d after %u events", cqe.res, seen);
		ASSERT_TRUE(cqe.flags & IORING_CQE_F_BUFFER);
		id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
		for (int i = 0; i < cqe.res / 64; i++)
			ASSERT_EQ(seen++, self->buffers[id][i].notify.imm);
		give_buffers(self, id, 1);
		if (!(cqe.flags & IORING_CQE_F_MORE))
			submit_read_multishot(self);
	}
	ASSERT_EQ(total, seen);
}

TEST_HARNESS_MAIN
