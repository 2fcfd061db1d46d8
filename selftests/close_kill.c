// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a process that has everything open, and files that outlive the
 * descriptor or the process that opened them (P7, P10, FAULTS 18, 20, 25).
 */
#include <liburing.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

/* It takes no longer, times RNOTIFY_SLOW, until the peer is told. */
#define TOLD_MS		3000

/*
 * ---- a process with everything open ----------------------------------------
 */

struct victim {
	struct rnt_ctx c;
	__u16 port;		/* the parent's */
	__u16 unread_port;	/* of a context that nobody reads */
	__u16 own_port;
	__u32 stream;		/* endpoint that posts all the time */
	__u32 stuck;		/* endpoint without credit */
	struct rnt_thread thread[6];
	struct io_uring uring;
};

static void *in_poll(void *arg)
{
	struct victim *v = arg;
	struct pollfd p = { .fd = v->c.fd, .events = POLLPRI };

	poll(&p, 1, -1);
	return NULL;
}

static void *in_epoll(void *arg)
{
	struct epoll_event ep = { .events = EPOLLPRI };
	struct victim *v = arg;
	int epfd = epoll_create1(0);

	epoll_ctl(epfd, EPOLL_CTL_ADD, v->c.fd, &ep);
	epoll_wait(epfd, &ep, 1, -1);
	return NULL;
}

static void *in_wait(void *arg)
{
	struct victim *v = arg;

	rnt_wait(&v->c, v->c.setup.ring_entries, -1, 0, NULL);
	return NULL;
}

static void *in_post(void *arg)
{
	struct victim *v = arg;
	struct rnotify_op op = rnt_op_notify(v->stuck, 0);

	rnt_post(&v->c, &op, 1, -1, NULL, NULL);
	return NULL;
}

static void *in_read(void *arg)
{
	struct rnotify_event ev;
	struct victim *v = arg;

	while (read(v->c.fd, &ev, sizeof(ev)) > 0)
		;
	return NULL;
}

static void *streaming(void *arg)
{
	struct victim *v = arg;

	for (unsigned int i = 0;; i++) {
		struct rnotify_op op = rnt_op_notify(v->stream, i);

		if (rnt_post(&v->c, &op, 1, -1, NULL, NULL))
			break;
	}
	pause();
	return NULL;
}

static __u32 victim_connect(struct victim *v, __u16 port)
{
	__u32 id = rnt_connect(&v->c, rnt_addr4(), port, &params, 0);

	rnt_expect(&v->c, id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	return id;
}

static void victim_memory(struct victim *v)
{
	struct rnt_region r[3];

	rnt_region_user(&v->c, &r[0], rnt_anon(RNT_MIB), RNT_MIB, 0);
	rnt_region_alloc(&v->c, &r[1], RNT_MIB);
	rnt_region_user(&v->c, &r[2], rnt_anon(3 * RNT_MIB), 3 * RNT_MIB, 0);
	for (int i = 0; i < 3; i++) {
		rnt_share(&v->c, v->stream, r[i].id, 0, 0,
			  RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ, i);
		rnt_share(&v->c, v->stuck, r[i].id, 0, 0, RNOTIFY_RIGHT_READ,
			  i);
	}
}

static void victim_uring(struct victim *v)
{
	struct io_uring_sqe *sqe;

	rnt_check_eq(0, io_uring_queue_init(8, &v->uring, 0));
	sqe = io_uring_get_sqe(&v->uring);
	io_uring_prep_poll_multishot(sqe, v->c.fd, POLLPRI);
	rnt_check_eq(1, io_uring_submit(&v->uring));
}

static void victim_open(struct victim *v)
{
	struct rnotify_eventfd efd = { .size = sizeof(efd) };
	struct rnotify_event ev;

	v->stream = victim_connect(v, v->port);
	v->stuck = victim_connect(v, v->unread_port);
	victim_memory(v);
	efd.fd = eventfd(0, 0);
	rnt_check_eq(0, rnt_ioctl(v->c.fd, RNOTIFY_IOCTL_EVENTFD, &efd));
	victim_uring(v);
	/* a request that stays unanswered here, and one of ours there */
	rnt_request(&v->c, NULL);
	rnt_connect(&v->c, rnt_addr4(), v->port, &params, 0);
	rnt_post_until_full(&v->c, v->stuck, 0, 0);
	while (rnt_take(&v->c, 0, &ev, 1))
		;
}

static void victim_threads(struct victim *v)
{
	static const struct {
		void *(*fn)(void *);
		long syscall;
	} t[] = {
		{ in_poll, SYS_poll }, { in_epoll, SYS_epoll_wait },
		{ in_wait, SYS_ioctl }, { in_post, SYS_ioctl },
		{ in_read, SYS_read },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		rnt_thread_start(&v->thread[i], t[i].fn, v);
		rnt_await_sleep(v->thread[i].tid, t[i].syscall);
	}
	rnt_thread_start(&v->thread[5], streaming, v);
}

static void become_sleep(int sig)
{
	(void)sig;
	execl("/bin/sh", "sh", "-c", "exec sleep 1000", NULL);
	_exit(1);
}

/* Never returns. */
static void victim_run(__u16 port, __u16 unread_port, int tell)
{
	struct victim v = { .port = port, .unread_port = unread_port };

	signal(SIGUSR1, become_sleep);
	rnt_init(&v.c, 2048, 256);
	rnt_listen(&v.c, rnt_addr4(), &v.own_port, 4);
	rnt_check(write(tell, &v.own_port, 2) == 2);
	victim_open(&v);
	victim_threads(&v);
	rnt_check(write(tell, &v.own_port, 2) == 2);
	for (;;)
		pause();
}

FIXTURE(kill)
{
	struct rnt_ctx a;	/* the survivor */
	struct rnt_ctx u;	/* the survivor's, too; does nothing */
	struct rnt_base base;
	__u16 port;
	__u32 stream;
	__u32 stuck;
	__u32 half;		/* asked by the victim, not answered */
	__u32 ours;		/* asked by us, not answered */
	__u32 next;		/* imm of the stream */
	pid_t pid;
};

FIXTURE_SETUP(kill)
{
	__u16 port, unread_port = 0;
	int fds[2];

	rnt_base_read(&self->base);
	rnt_init(&self->a, 2048, 256);
	rnt_init(&self->u, 2048, 256);
	rnt_listen(&self->a, rnt_addr4(), &self->port, 8);
	rnt_listen(&self->u, rnt_addr4(), &unread_port, 8);
	ASSERT_EQ(0, pipe(fds));
	self->pid = rnt_fork();
	if (!self->pid)
		victim_run(self->port, unread_port, fds[1]);
	close(fds[1]);
	ASSERT_EQ(2, read(fds[0], &port, 2));
	self->ours = rnt_connect(&self->a, rnt_addr4(), port, &params, 0);
	self->stream = rnt_request(&self->a, NULL);
	ASSERT_EQ(0, rnt_accept(&self->a, self->stream, &params, 0));
	self->stuck = rnt_request(&self->u, NULL);
	ASSERT_EQ(0, rnt_accept(&self->u, self->stuck, &params, 0));
	rnt_expect(&self->a, self->stream, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->u, self->stuck, RNOTIFY_EVENT_ESTABLISHED, NULL);
	self->half = rnt_request(&self->a, NULL);
	ASSERT_EQ(2, read(fds[0], &port, 2));
	close(fds[0]);
	for (int i = 0; i < 3; i++)
		ASSERT_TRUE(rnt_take_type(&self->a, self->stream,
					  RNOTIFY_EVENT_REMOTE_REGION,
					  &(struct rnotify_event){},
					  RNT_PATIENCE_MS));
}

FIXTURE_TEARDOWN(kill)
{
	rnt_close(&self->a);
	rnt_close(&self->u);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* Once, soon, and nothing comes after it: rnt_take() looks at that. */
static void expect_told(struct rnt_ctx *c, __u32 endpoint, unsigned int reason,
			uint64_t deadline)
{
	rnt_down(c, endpoint, reason, NULL);
	if (!rnt_left_ms(deadline))
		rnt_fail("endpoint %u is told late", endpoint);
}

static void expect_all_told(FIXTURE_DATA(kill) *self, uint64_t deadline)
{
	struct rnotify_event ev;

	/* what came before the end is a stream without gaps */
	for (;;) {
		rnt_check(rnt_take(&self->a, self->stream, &ev, TOLD_MS));
		if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
			break;
		if (ev.type == RNOTIFY_EVENT_NOTIFY)
			rnt_check_eq(self->next++, ev.notify.imm);
	}
	rnt_check(ev.down.reason == RNOTIFY_REASON_PEER_EXIT ||
		  ev.down.reason == RNOTIFY_REASON_PEER_CLOSE);
	rnt_check_eq(self->next, ev.down.delivered);
	expect_told(&self->u, self->stuck, RNT_PEER_GONE, deadline);
	expect_told(&self->a, self->ours, RNOTIFY_REASON_PEER_EXIT, deadline);
	rnt_check(rnt_take_type(&self->a, self->half,
				RNOTIFY_EVENT_DISCONNECTED, &ev, TOLD_MS));
	rnt_take_type(&self->a, 0, RNOTIFY_EVENT_NOTIFY, &ev, 5);
	rnt_take_type(&self->u, 0, RNOTIFY_EVENT_WRITABLE, &ev, 5);
}

/* Some of the stream is read, so that more is under way when it ends. */
static void read_some(FIXTURE_DATA(kill) *self)
{
	rnt_expect_imms(&self->a, self->stream, self->next, 200);
	self->next += 200;
}

static int reap(FIXTURE_DATA(kill) *self, uint64_t deadline)
{
	int status;

	while (!waitpid(self->pid, &status, WNOHANG)) {
		if (!rnt_left_ms(deadline))
			rnt_fail("the process does not end");
		rnt_sleep_us(500);
	}
	return status;
}

TEST_F(kill, P7_sigkill)
{
	uint64_t deadline;

	read_some(self);
	deadline = rnt_deadline(TOLD_MS);
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	expect_all_told(self, deadline);
	ASSERT_TRUE(WIFSIGNALED(reap(self, deadline)));
}

/* Stopped, it keeps its connections (P3); killed in that state, it goes. */
TEST_F(kill, P3_sigstop_then_sigkill)
{
	struct rnotify_endpoint_info info;
	uint64_t deadline;
	int status;

	read_some(self);
	ASSERT_EQ(0, kill(self->pid, SIGSTOP));
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(64, rnt_post_until_full(&self->u, self->stuck, 0, 0));
	rnt_info(&self->u, self->stuck, &info);
	ASSERT_EQ(RNOTIFY_STATE_ESTABLISHED, info.state);
	deadline = rnt_deadline(TOLD_MS);
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	expect_all_told(self, deadline);
	ASSERT_TRUE(WIFSIGNALED(reap(self, deadline)));
}

/* exec() ends the other threads, and closes what is close-on-exec. */
TEST_F(kill, P7_exec)
{
	uint64_t deadline;

	read_some(self);
	deadline = rnt_deadline(TOLD_MS);
	ASSERT_EQ(0, kill(self->pid, SIGUSR1));
	expect_all_told(self, deadline);
	/* the process is still there, as another program */
	ASSERT_EQ(0, waitpid(self->pid, NULL, WNOHANG));
	rnt_kill(self->pid);
}

/*
 * ---- killed at random moments ----------------------------------------------
 */

FIXTURE(random_kill)
{
	struct rnt_ctx a;
	struct rnt_base base;
	__u16 port;
};

FIXTURE_SETUP(random_kill)
{
	rnt_base_read(&self->base);
	rnt_init(&self->a, 4096, 0);
	rnt_listen(&self->a, rnt_addr4(), &self->port, 16);
}

FIXTURE_TEARDOWN(random_kill)
{
	rnt_close(&self->a);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* A thread that does a bit of everything with its context for ever. */
static void *churn(void *arg)
{
	struct victim *v = arg;
	char *p = rnt_anon(RNT_MIB);

	for (;;) {
		struct rnotify_connect con = { .params = params };
		struct rnotify_register reg;
		struct rnotify_share share = {
			.rights = RNOTIFY_RIGHT_WRITE,
		};
		struct rnotify_op op;

		rnt_register(&v->c, &reg, p, RNT_MIB, 0);
		if (rnt_connect_err(&v->c, &con, rnt_addr4(), v->port))
			continue;
		rnt_wait(&v->c, 2, rnt_deadline(20), 0, NULL);
		share.endpoint_id = con.endpoint_id;
		share.region_id = reg.region_id;
		rnt_share_err(&v->c, &share);
		op = rnt_op_notify(con.endpoint_id, 1);
		rnt_try(&v->c, &op);
		rnt_destroy_err(&v->c, reg.region_id);
		rnt_destroy_err(&v->c, con.endpoint_id);
		rnt_consume(&v->c, rnt_pending(&v->c));
	}
	return NULL;
}

static void churner(__u16 port)
{
	struct victim v = { .port = port };

	rnt_init(&v.c, 4096, 0);
	rnt_thread_start(&v.thread[0], churn, &v);
	churn(&v);
}

/* The server: whoever asks is accepted, whoever goes is forgotten. */
static void serve_one(struct rnt_ctx *c, unsigned int *open,
		      unsigned int patience_ms)
{
	struct rnotify_event ev;

	if (!rnt_take(c, 0, &ev, patience_ms)) {
		if (patience_ms == RNT_PATIENCE_MS)
			rnt_fail("%u endpoints are not told", *open);
	} else if (ev.type == RNOTIFY_EVENT_CONNECT_REQUEST) {
		rnt_accept(c, ev.endpoint, &params, 0);
		++*open;
	} else if (ev.type == RNOTIFY_EVENT_DISCONNECTED) {
		rnt_destroy(c, ev.endpoint);
		--*open;
	}
}

TEST_F_TIMEOUT(random_kill, P10_while_it_does_everything, RNT_TIMEOUT(40))
{
	for (unsigned int i = 0; i < rnt_count(120); i++) {
		uint64_t end = rnt_now_ns() + i * 7919 % 60000 * 1000;
		unsigned int open = 0;
		pid_t pid = rnt_fork();

		if (!pid)
			churner(self->port);
		while (rnt_now_ns() < end)
			serve_one(&self->a, &open, 1);
		rnt_kill(pid);
		/* all of them, at once: not after a keepalive of ten minutes */
		while (open)
			serve_one(&self->a, &open, RNT_PATIENCE_MS);
	}
}

TEST_HARNESS_MAIN
