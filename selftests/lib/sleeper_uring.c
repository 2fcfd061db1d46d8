// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: ways to wait by io_uring.
 */
#include <stdlib.h>
#include <string.h>

#include "sleeper.h"

/* Newer than the headers of some systems: kernel 6.7. */
#define OP_READ_MULTISHOT	49

#define GROUP		7

static struct io_uring_sqe *get_sqe(struct rnt_sleeper *s)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s->ring);

	rnt_check(sqe);
	return sqe;
}

static void open_uring(struct rnt_sleeper *s)
{
	rnt_check_eq(0, io_uring_queue_init(16, &s->ring, 0));
}

/* Submits what is queued; the completion's result, and its flags. */
static int complete(struct rnt_sleeper *s, unsigned int *flags)
{
	struct io_uring_cqe *cqe;
	int ret;

	do {
		ret = io_uring_submit_and_wait(&s->ring, 1);
	} while (ret == -EINTR);
	rnt_check(ret >= 0);
	rnt_check_eq(0, io_uring_peek_cqe(&s->ring, &cqe));
	ret = cqe->res;
	*flags = cqe->flags;
	io_uring_cqe_seen(&s->ring, cqe);
	return ret;
}

static void sleep_poll(struct rnt_sleeper *s)
{
	unsigned int flags;

	io_uring_prep_poll_add(get_sqe(s), s->c.fd, POLLIN);
	rnt_check(complete(s, &flags) & POLLIN);
}

static void sleep_multishot(struct rnt_sleeper *s)
{
	unsigned int flags;

	if (!s->armed)
		io_uring_prep_poll_multishot(get_sqe(s), s->c.fd, POLLIN);
	rnt_check(complete(s, &flags) & POLLIN);
	s->armed = flags & IORING_CQE_F_MORE;
}

static void got(struct rnt_sleeper *s, int bytes)
{
	rnt_check(bytes > 0 && bytes % sizeof(s->got[0]) == 0);
	s->nr_got = bytes / sizeof(s->got[0]);
	s->next_got = 0;
}

static void sleep_read(struct rnt_sleeper *s)
{
	unsigned int flags;

	io_uring_prep_read(get_sqe(s), s->c.fd, s->got, sizeof(s->got), 0);
	got(s, complete(s, &flags));
}

/* ---- READ_MULTISHOT ---- */

static bool have(struct rnt_sleeper *s, unsigned int op)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(&s->ring);
	bool yes;

	rnt_check(probe);
	yes = op <= probe->last_op &&
	      (probe->ops[op].flags & IO_URING_OP_SUPPORTED);
	free(probe);
	return yes;
}

static void give_buffers(struct rnt_sleeper *s, int first, int nr)
{
	struct io_uring_sqe *sqe = get_sqe(s);

	/* only a failure of this will be seen */
	io_uring_prep_provide_buffers(sqe, s->buffers[first],
				      sizeof(s->buffers[0]), nr, GROUP, first);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

static void open_read_multishot(struct rnt_sleeper *s)
{
	open_uring(s);
	if (have(s, OP_READ_MULTISHOT))
		give_buffers(s, 0, RNT_SLEEPER_BUFFERS);
	else
		s->style = &rnt_style_uring_read;
}

static void arm_read_multishot(struct rnt_sleeper *s)
{
	struct io_uring_sqe *sqe = get_sqe(s);

	io_uring_prep_rw(OP_READ_MULTISHOT, sqe, s->c.fd, NULL, 0, 0);
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
}

static void sleep_read_multishot(struct rnt_sleeper *s)
{
	unsigned int flags, id;
	int ret;

	if (!s->armed)
		arm_read_multishot(s);
	ret = complete(s, &flags);
	s->armed = flags & IORING_CQE_F_MORE;
	/* the buffers ran out, and those that were full are back by now */
	if (ret == -ENOBUFS)
		return;
	got(s, ret);
	rnt_check(flags & IORING_CQE_F_BUFFER);
	id = flags >> IORING_CQE_BUFFER_SHIFT;
	memcpy(s->got, s->buffers[id], sizeof(s->got));
	give_buffers(s, id, 1);
}

/* ---- WAIT as a uring_cmd ---- */

static void open_wait(struct rnt_sleeper *s)
{
	struct rnotify_query query = { .size = sizeof(query) };

	open_uring(s);
	rnt_check_eq(0, rnt_ioctl(s->c.fd, RNOTIFY_IOCTL_QUERY, &query));
	if (!(query.features & RNOTIFY_FEATURE_URING_WAIT))
		s->style = &rnt_style_uring_poll;
}

static void sleep_wait(struct rnt_sleeper *s)
{
	struct rnotify_uring_wait arg = { .min_events = 1 };
	struct io_uring_sqe *sqe = get_sqe(s);
	unsigned int flags;

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, s->c.fd, NULL, 0, 0);
	sqe->cmd_op = RNOTIFY_IOCTL_WAIT;
	memcpy(sqe->cmd, &arg, sizeof(arg));
	rnt_check_eq(0, complete(s, &flags));
}

const struct rnt_style rnt_style_uring_poll = {
	open_uring, sleep_poll, false, 0
};
const struct rnt_style rnt_style_uring_multishot = {
	open_uring, sleep_multishot, false, 0
};
const struct rnt_style rnt_style_uring_read = {
	open_uring, sleep_read, true, 0
};
const struct rnt_style rnt_style_uring_read_multishot = {
	open_read_multishot, sleep_read_multishot, true, 0
};
const struct rnt_style rnt_style_uring_wait = {
	open_wait, sleep_wait, false, 0
};
