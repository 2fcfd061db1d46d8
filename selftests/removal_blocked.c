// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA device is removed while somebody sleeps: each way to sleep ends by
 * itself, at once (P7, P10, FAULTS 29).
 */
#include <liburing.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

struct way;

struct sleeper {
	const struct way *way;
	struct rnt_ctx c;
	struct rnt_thread thread;
	struct io_uring uring;
	__u32 endpoint;
	int efd;
	int ret;
};

static void in_post(struct sleeper *s)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, 0);

	s->ret = rnt_post(&s->c, &op, 1, -1, NULL, NULL);
}

static void in_wait(struct sleeper *s)
{
	s->ret = rnt_wait(&s->c, s->c.setup.ring_entries, -1, 0, NULL);
}

static void in_read(struct sleeper *s)
{
	struct rnotify_event ev;

	s->ret = read(s->c.fd, &ev, sizeof(ev)) < 0 ? -errno : ev.type;
}

static void in_poll(struct sleeper *s)
{
	struct pollfd p = { .fd = s->c.fd, .events = POLLIN };

	s->ret = poll(&p, 1, -1) < 0 ? -errno : p.revents;
}

static void in_epoll(struct sleeper *s)
{
	struct epoll_event ep = { .events = EPOLLIN | EPOLLET };
	int epfd = epoll_create1(0);

	rnt_check_eq(0, epoll_ctl(epfd, EPOLL_CTL_ADD, s->c.fd, &ep));
	s->ret = epoll_wait(epfd, &ep, 1, -1) < 0 ? -errno : (int)ep.events;
	close(epfd);
}

static void in_eventfd(struct sleeper *s)
{
	uint64_t n;

	s->ret = read(s->efd, &n, sizeof(n)) < 0 ? -errno : (int)n;
}

static void in_uring(struct sleeper *s)
{
	struct io_uring_cqe *cqe;

	rnt_check_eq(0, io_uring_wait_cqe(&s->uring, &cqe));
	s->ret = cqe->res;
	io_uring_queue_exit(&s->uring);
}

/* What is asked of io_uring before the thread waits for it. */
static struct io_uring_sqe *uring_sqe(struct sleeper *s)
{
	rnt_check_eq(0, io_uring_queue_init(8, &s->uring, 0));
	return io_uring_get_sqe(&s->uring);
}

static void uring_poll(struct sleeper *s)
{
	io_uring_prep_poll_add(uring_sqe(s), s->c.fd, POLLIN);
	rnt_check_eq(1, io_uring_submit(&s->uring));
}

static void uring_read(struct sleeper *s)
{
	static struct rnotify_event ev;

	io_uring_prep_read(uring_sqe(s), s->c.fd, &ev, sizeof(ev), 0);
	rnt_check_eq(1, io_uring_submit(&s->uring));
}

/* Where the kernel has it; elsewhere the same by poll. */
static void uring_wait(struct sleeper *s)
{
	struct rnotify_query q = { .size = sizeof(q) };
	struct rnotify_uring_wait wait = { 0 };
	struct io_uring_sqe *sqe;

	rnt_check_eq(0, rnt_ioctl(s->c.fd, RNOTIFY_IOCTL_QUERY, &q));
	if (!(q.features & RNOTIFY_FEATURE_URING_WAIT)) {
		uring_poll(s);
		return;
	}
	wait.min_events = s->c.setup.ring_entries;
	sqe = uring_sqe(s);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = s->c.fd;
	sqe->cmd_op = RNOTIFY_IOCTL_WAIT;
	memcpy(sqe->cmd, &wait, sizeof(wait));
	rnt_check_eq(1, io_uring_submit(&s->uring));
}

static void set_eventfd(struct sleeper *s)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .endpoint_id = s->endpoint,
	};

	s->efd = eventfd(0, 0);
	arg.fd = s->efd;
	rnt_check_eq(0, rnt_ioctl(s->c.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
}

static void fill(struct sleeper *s)
{
	rnt_check_eq(64, rnt_post_until_full(&s->c, s->endpoint, 0, 0));
}

#define ANY	(-1)

static const struct way {
	const char *name;
	void (*before)(struct sleeper *s);
	void (*sleep)(struct sleeper *s);
	long syscall;
	int want;		/* of sleeper.ret */
} ways[] = {
	{ "POST", fill, in_post, SYS_ioctl, -ENODEV },
	{ "WAIT", NULL, in_wait, SYS_ioctl, 0 },
	{ "read", NULL, in_read, SYS_read, RNOTIFY_EVENT_DISCONNECTED },
	{ "poll", NULL, in_poll, SYS_poll, POLLIN },
	{ "epoll", NULL, in_epoll, SYS_epoll_wait, EPOLLIN },
	{ "eventfd", set_eventfd, in_eventfd, SYS_read, 1 },
	{ "io_uring poll", uring_poll, in_uring, SYS_io_uring_enter, POLLIN },
	{ "io_uring read", uring_read, in_uring, SYS_io_uring_enter,
	  sizeof(struct rnotify_event) },
	{ "io_uring WAIT", uring_wait, in_uring, SYS_io_uring_enter, ANY },
};

FIXTURE(blocked)
{
	struct rnt_base base;
	struct rnt_ctx b;	/* the peer of all; nobody reads it */
	struct sleeper s[ARRAY_SIZE(ways)];
};

FIXTURE_SETUP(blocked)
{
	/* a test that failed may have left none */
	if (!rnt_link_is_there())
		rnt_link_add();
	rnt_base_read(&self->base);
	rnt_init(&self->b, 4096, 256);
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++)
		rnt_init(&self->s[i].c, 512, 256);
}

FIXTURE_TEARDOWN(blocked)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++)
		rnt_close(&self->s[i].c);
	rnt_close(&self->b);
	if (!rnt_link_is_there())
		rnt_link_add();
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void connect_all(FIXTURE_DATA(blocked) *self, __u16 port)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		struct rnt_pair p = {
			.a = &self->s[i].c, .b = &self->b, .port = port,
		};

		rnt_more(&p, &p, &params, &params);
		self->s[i].endpoint = p.ea;
	}
}

static void *sleeper_fn(void *arg)
{
	struct sleeper *s = arg;

	s->way->sleep(s);
	return NULL;
}

static void start_all(FIXTURE_DATA(blocked) *self)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		struct sleeper *s = &self->s[i];

		s->way = &ways[i];
		if (ways[i].before)
			ways[i].before(s);
		rnt_thread_start(&s->thread, sleeper_fn, s);
		rnt_await_sleep(s->thread.tid, ways[i].syscall);
	}
}

/* And again with a device that came later. */
TEST_F_TIMEOUT(blocked, P7_every_way, RNT_TIMEOUT(40))
{
	__u16 port = 0;

	rnt_listen(&self->b, "0.0.0.0", &port, 16);
	for (unsigned int round = 0; round < 2; round++) {
		connect_all(self, port);
		start_all(self);
		rnt_link_delete();
		for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
			struct sleeper *s = &self->s[i];

			rnt_thread_join(&s->thread);
			ASSERT_TRUE(s->ret == ways[i].want ||
				    (ways[i].want == ANY && s->ret >= 0))
				TH_LOG("%s: %d", ways[i].name, s->ret);
			rnt_consume(&s->c, rnt_pending(&s->c));
		}
		rnt_link_add();
	}
}

TEST_HARNESS_MAIN
