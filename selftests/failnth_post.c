// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation and each user copy fails once, as in failnth.c, in the calls that
 * move data and events (FAULTS 6, 49). What was accepted arrives, what was refused
 * leaves neither a slot nor a credit behind, and what was not copied out is not
 * lost. WAIT by io_uring is not here: it has not one such point.
 *
 * rvm: kernels=debug limit=60
 */
#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nth_fixture.h"

/*
 * ---- receiving -------------------------------------------------------------
 */

static void before_read(struct nth *t)
{
	struct rnotify_op op = rnt_op_notify(t->p.ea, 77);

	rnt_post1(&t->a, &op);
	rnt_check(rnt_poll(&t->b, POLLIN, RNT_PATIENCE_MS) == POLLIN);
}

static int call_read(struct nth *t)
{
	struct rnotify_event ev;
	ssize_t n = read(t->b.fd, &ev, sizeof(ev));

	if (n < 0)
		return -errno;
	rnt_check_eq(sizeof(ev), n);
	rnt_check_eq(77, ev.notify.imm);
	return 0;
}

/* What could not be copied out is still there. */
static void after_read(struct nth *t, int ret)
{
	if (ret)
		rnt_check_eq(0, call_read(t));
	t->b.cons = t->b.tail->cons;
	rnt_check_eq(0, rnt_pending(&t->b));
}

/* Neither did it consume anything. */
static void after_wait(struct nth *t, int ret)
{
	(void)ret;
	after_read(t, -1);
}

static int call_wait(struct nth *t)
{
	struct rnotify_wait arg = { .size = sizeof(arg), .min_events = 1 };

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_WAIT, &arg);
}

static int call_kick(struct nth *t)
{
	struct rnotify_kick arg = { .size = sizeof(arg) };

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_KICK, &arg);
}

static int call_eventfd(struct nth *t)
{
	struct rnotify_eventfd arg = { .size = sizeof(arg), .fd = t->fd };

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_EVENTFD, &arg);
}

static int call_eventfd_endpoint(struct nth *t)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .fd = t->fd, .endpoint_id = t->p.eb,
	};

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_EVENTFD, &arg);
}

static int call_info(struct nth *t)
{
	struct rnotify_endpoint_info arg = {
		.size = sizeof(arg), .endpoint_id = t->p.eb,
	};

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_ENDPOINT_INFO, &arg);
}

static int call_moderate(struct nth *t)
{
	struct rnotify_moderate arg = { .size = sizeof(arg), .min_events = 1 };

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_MODERATE, &arg);
}

TEST_F_TIMEOUT(nth, P1_receiving, RNT_TIMEOUT(30))
{
	static const struct nth_step steps[] = {
		{ "read", before_read, call_read, after_read },
		{ "WAIT", before_read, call_wait, after_wait },
		{ "KICK", NULL, call_kick, NULL },
		{ "EVENTFD", NULL, call_eventfd, NULL },
		{ "EVENTFD of an endpoint", NULL, call_eventfd_endpoint, NULL },
		{ "ENDPOINT_INFO", NULL, call_info, NULL },
		{ "MODERATE", NULL, call_moderate, NULL },
	};

	self->t.fd = eventfd(0, 0);
	nth_sweep(&self->t, steps, ARRAY_SIZE(steps));
	close(self->t.fd);
}

/*
 * ---- posting ---------------------------------------------------------------
 */

#define BATCH	20

static __u64 notified;		/* taken from the peer's ring so far */
static struct io_uring uring;
static bool queued;		/* io_uring has it, but could not take it */

/* The device sees this region for the first time. */
static void before_post(struct nth *t)
{
	rnt_check_eq(0, nth_register(t, t->memory, 0, 0));
}

static void prepare(struct nth *t, struct rnotify_op *op)
{
	static const char bytes[64];

	for (unsigned int i = 0; i < BATCH; i++)
		op[i] = i % 2 ?
			rnt_op_inline(RNOTIFY_OP_WRITE_IMM, t->p.ea, bytes,
				      t->peer, 0, sizeof(bytes)) :
			rnt_op_rw(RNOTIFY_OP_WRITE_IMM, t->p.ea, t->id, 0,
				  t->peer, 0, RNT_PAGE);
}

static int call_post(struct nth *t)
{
	struct rnotify_op op[BATCH];
	struct rnotify_post arg = {
		.size = sizeof(arg), .flags = RNOTIFY_POST_NONBLOCK,
		.ops = (uintptr_t)op, .nr_ops = BATCH, .op_size = sizeof(*op),
	};

	prepare(t, op);
	return nth_ioctl(t->a.fd, RNOTIFY_IOCTL_POST, &arg);
}

/*
 * As many arrive as were accepted. How many that is could not always be copied
 * out: the kernel's count knows.
 */
static void after_post(struct nth *t, int ret)
{
	struct rnotify_endpoint_info info;

	(void)ret;
	rnt_info(&t->a, t->p.ea, &info);
	for (; notified < info.tx_notify_posted; notified++)
		rnt_expect(&t->b, t->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	rnt_expect_none(&t->b, t->p.eb, 1);
	rnt_settle(&t->p, true);
	rnt_destroy(&t->a, t->id);
}

static struct io_uring_sqe *get_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring);

	rnt_check(sqe);
	return sqe;
}

static int uring_result(void)
{
	struct io_uring_cqe *cqe;
	int ret;

	rnt_check_eq(0, io_uring_wait_cqe(&uring, &cqe));
	ret = cqe->res;
	io_uring_cqe_seen(&uring, cqe);
	/* POST: entries; read: bytes */
	return ret > 0 ? 0 : ret;
}

static int uring_submit(void)
{
	int ret = io_uring_submit(&uring);

	queued = ret < 0;
	return queued ? ret : uring_result();
}

static int call_uring_post(struct nth *t)
{
	/* it may be taken later */
	static struct rnotify_op op[BATCH];
	struct rnotify_uring_post arg = {
		.ops = (uintptr_t)op, .nr_ops = BATCH,
	};
	struct io_uring_sqe *sqe = get_sqe();

	prepare(t, op);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = t->a.fd;
	sqe->cmd_op = RNOTIFY_IOCTL_POST;
	memcpy(sqe->cmd, &arg, sizeof(arg));
	return uring_submit();
}

static void after_uring_post(struct nth *t, int ret)
{
	if (queued) {
		rnt_check_eq(1, io_uring_submit(&uring));
		rnt_check_eq(0, uring_result());
	}
	after_post(t, ret);
}

static struct rnotify_event uring_event;

static int call_uring_read(struct nth *t)
{
	io_uring_prep_read(get_sqe(), t->b.fd, &uring_event,
			   sizeof(uring_event), 0);
	return uring_submit();
}

static void after_uring_read(struct nth *t, int ret)
{
	if (queued) {
		rnt_check_eq(1, io_uring_submit(&uring));
		ret = uring_result();
	}
	after_read(t, ret);
	notified++;
}

TEST_F_TIMEOUT(nth, P6_posting, RNT_TIMEOUT(50))
{
	static const struct nth_step steps[] = {
		{ "POST", before_post, call_post, after_post },
		{ "io_uring POST", before_post, call_uring_post,
		  after_uring_post },
		{ "io_uring read", before_read, call_uring_read,
		  after_uring_read },
	};
	struct nth *t = &self->t;
	struct rnt_region r;

	ASSERT_EQ(0, io_uring_queue_init(8, &uring, 0));
	rnt_region_user(&t->b, &r, rnt_anon(NTH_SPAN), NTH_SPAN, 0);
	t->peer = rnt_grant(&t->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	nth_sweep(t, steps, ARRAY_SIZE(steps));
	io_uring_queue_exit(&uring);
}

TEST_HARNESS_MAIN
