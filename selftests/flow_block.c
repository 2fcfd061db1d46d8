// SPDX-License-Identifier: GPL-2.0
/*
 * Posts that wait for credit or room: what ends the wait, and how it is told
 * (P7, FAULTS 15).
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(block)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_rnr rnr;
};

static const struct rnotify_params depth4 = {
	.recv_depth = 4, .send_depth = 4,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

FIXTURE_SETUP(block)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 256, 0);
	rnt_init(&self->b, 256, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &depth4, &depth4);
	ASSERT_EQ(4, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
}

FIXTURE_TEARDOWN(block)
{
	rnt_close(&self->a);
	if (self->b.fd >= 0)
		rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

/* A thread in RNOTIFY_IOCTL_POST. */
struct poster {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	struct rnotify_op ops[32];
	unsigned int nr;
	int timeout_ms;
	int ret;
	int error;
	unsigned int accepted;
	uint64_t ns;		/* that it took */
};

static void *poster_fn(void *arg)
{
	struct poster *p = arg;
	uint64_t start = rnt_now_ns();

	p->ret = rnt_post(p->c, p->ops, p->nr, p->timeout_ms, &p->accepted,
			  &p->error);
	p->ns = rnt_now_ns() - start;
	return NULL;
}

static void poster_start(struct poster *p, struct rnt_ctx *c, __u32 endpoint,
			 __u32 imm, unsigned int nr, int timeout_ms)
{
	p->c = c;
	p->nr = nr;
	p->timeout_ms = timeout_ms;
	for (unsigned int i = 0; i < nr; i++)
		p->ops[i] = rnt_op_notify(endpoint, imm + i);
	rnt_thread_start(&p->thread, poster_fn, p);
	rnt_await_sleep(p->thread.tid, SYS_ioctl);
}

static int poster_end(struct poster *p)
{
	rnt_thread_join(&p->thread);
	return p->ret;
}

static bool poster_waits(struct poster *p)
{
	return !rnt_thread_ends(&p->thread, 20, NULL);
}

TEST_F(block, P7_woken_by_credit)
{
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	ASSERT_TRUE(poster_waits(&p));
	rnt_expect_imms(&self->b, self->p.eb, 0, 1);
	ASSERT_EQ(0, poster_end(&p));
	rnt_expect_imms(&self->b, self->p.eb, 1, 4);
	rnt_settle(&self->p, true);
}

/* One call for more than there will ever be credit at once. */
TEST_F(block, P1_array_longer_than_window)
{
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 32, -1);
	rnt_expect_imms(&self->b, self->p.eb, 0, 4 + 32);
	ASSERT_EQ(0, poster_end(&p));
	ASSERT_EQ(32, p.accepted);
	ASSERT_EQ(0, p.error);
	rnt_settle(&self->p, true);
}

TEST_F(block, P7_timeout)
{
	static const int ms[] = { 1, 10, 100 };
	struct poster p = { .c = &self->a, .nr = 1 };

	p.ops[0] = rnt_op_notify(self->p.ea, 4);
	for (unsigned int i = 0; i < ARRAY_SIZE(ms); i++) {
		p.timeout_ms = ms[i];
		poster_fn(&p);
		ASSERT_EQ(-ETIMEDOUT, p.ret);
		ASSERT_GE(p.ns, ms[i] * 1e6 * rnt_slow());
		ASSERT_LE(p.ns, (ms[i] + 1000) * 1e6 * rnt_slow());
	}
	/* what timed out is not there */
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	rnt_settle(&self->p, true);
}

/* 0 ns is a look, not a wait, and not for ever. */
TEST_F(block, timeout_zero)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 4);
	struct rnotify_post arg = {
		.size = sizeof(arg), .ops = (uintptr_t)&op, .nr_ops = 1,
		.op_size = sizeof(op),
	};

	ASSERT_EQ(-ETIMEDOUT, rnt_ioctl(self->a.fd, RNOTIFY_IOCTL_POST, &arg));
	ASSERT_EQ(0, arg.accepted);
	ASSERT_EQ(-ETIMEDOUT, arg.error);
}

/* The timeout is for the whole call, not for each of its entries. */
TEST_F(block, P7_timeout_with_progress)
{
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 32, 300);
	rnt_expect_imms(&self->b, self->p.eb, 0, 6);
	ASSERT_EQ(0, poster_end(&p));
	ASSERT_EQ(6, p.accepted);
	ASSERT_EQ(-ETIMEDOUT, p.error);
	ASSERT_LE(p.ns, 1300e6 * rnt_slow());
	rnt_expect_imms(&self->b, self->p.eb, 6, 4);
	rnt_settle(&self->p, true);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void signal_poster(struct __test_metadata *_metadata,
			  FIXTURE_DATA(block) *self, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };
	struct rnotify_endpoint_info info;
	struct poster p;

	sigaction(SIGUSR1, &sa, NULL);
	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	pthread_kill(p.thread.thread, SIGUSR1);
	ASSERT_EQ(-EINTR, poster_end(&p));
	/* with something accepted, it tells how much */
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	do {
		rnt_info(&self->a, self->p.ea, &info);
	} while (!info.tx_credits);
	poster_start(&p, &self->a, self->p.ea, 4, 9, -1);
	pthread_kill(p.thread.thread, SIGUSR1);
	ASSERT_EQ(0, poster_end(&p));
	ASSERT_LE(1, p.accepted);
	ASSERT_GE(4, p.accepted);
	ASSERT_EQ(-EINTR, p.error);
	rnt_expect_imms(&self->b, self->p.eb, 4, p.accepted);
	rnt_settle(&self->p, true);
}

TEST_F(block, P7_signal)
{
	signal_poster(_metadata, self, 0);
}

TEST_F(block, P7_signal_restart)
{
	signal_poster(_metadata, self, SA_RESTART);
}

/* Job control is no signal that ends a wait, and gives it no more time. */
TEST_F(block, P7_stop_and_continue)
{
	struct rnotify_op op[4];
	struct poster p;
	unsigned int n;

	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	rnt_stop_and_continue();
	rnt_await_sleep(p.thread.tid, SYS_ioctl);
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	ASSERT_EQ(0, poster_end(&p));
	rnt_expect_imms(&self->b, self->p.eb, 4, 1);

	for (unsigned int i = 0; i < ARRAY_SIZE(op); i++)
		op[i] = rnt_op_notify(self->p.ea, i);
	ASSERT_EQ(0, rnt_post(&self->a, op, 4, -1, &n, NULL));
	ASSERT_EQ(4, n);
	poster_start(&p, &self->a, self->p.ea, 4, 1, 300);
	rnt_stop_and_continue();
	rnt_stop_and_continue();
	ASSERT_EQ(-ETIMEDOUT, poster_end(&p));
	ASSERT_LE(300e6, p.ns);
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
}

/* The end of the connection, from this side or the other. */
TEST_F(block, P7_peer_closes_fd)
{
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	rnt_close(&self->b);
	ASSERT_EQ(-ESHUTDOWN, poster_end(&p));
	rnt_down(&self->a, self->p.ea, RNT_PEER_GONE, NULL);
}

TEST_F(block, P7_peer_disconnects)
{
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	ASSERT_EQ(0, rnt_disconnect(&self->b, self->p.eb));
	ASSERT_EQ(-ESHUTDOWN, poster_end(&p));
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_CLOSE, NULL);
	rnt_down(&self->b, self->p.eb, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
}

TEST_F(block, P7_own_disconnect)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 0);
	struct poster p[3];

	for (int i = 0; i < 3; i++)
		poster_start(&p[i], &self->a, self->p.ea, 4, 1,
			     i ? -1 : 60000);
	ASSERT_EQ(0, rnt_disconnect(&self->a, self->p.ea));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(-ESHUTDOWN, poster_end(&p[i]));
	ASSERT_EQ(-ESHUTDOWN, rnt_try(&self->a, &op));
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	ASSERT_EQ(-ESHUTDOWN, rnt_try(&self->a, &op));
	ASSERT_EQ(-ESHUTDOWN, rnt_post(&self->a, &op, 1, -1, NULL, NULL));
}

TEST_F(block, P7_own_destroy)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 0);
	struct poster p;

	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	rnt_destroy(&self->a, self->p.ea);
	ASSERT_EQ(-ESHUTDOWN, poster_end(&p));
	ASSERT_EQ(-ENOENT, rnt_try(&self->a, &op));
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
}

/* A peer killed with its credits in its pocket. */
TEST_F(block, P7_peer_killed)
{
	struct rnt_ctx c;
	struct poster p;
	int fds[2];
	char port_text[8] = "";
	pid_t pid;
	__u32 ea;

	ASSERT_EQ(0, pipe(fds));
	pid = rnt_fork();
	if (!pid) {
		__u16 port = 0;

		rnt_init(&c, 64, 0);
		rnt_listen(&c, rnt_addr4(), &port, 1);
		snprintf(port_text, sizeof(port_text), "%u", port);
		rnt_check(write(fds[1], port_text, 8) == 8);
		rnt_accept(&c, rnt_request(&c, NULL), &depth4, 0);
		pause();
		_exit(1);
	}
	ASSERT_EQ(8, read(fds[0], port_text, 8));
	ea = rnt_connect(&self->a, rnt_addr4(), atoi(port_text), &depth4, 0);
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	ASSERT_EQ(4, rnt_post_until_full(&self->a, ea, 0, 0));
	poster_start(&p, &self->a, ea, 4, 1, -1);
	rnt_kill(pid);
	ASSERT_EQ(-ESHUTDOWN, poster_end(&p));
	rnt_down(&self->a, ea, RNT_PEER_GONE, NULL);
}

/* All who wait for the same credit get theirs, and no one is forgotten. */
TEST_F(block, P7_many_posters)
{
	struct poster p[6];
	unsigned int seen = 0;
	struct rnotify_event ev;

	for (int i = 0; i < 6; i++)
		poster_start(&p[i], &self->a, self->p.ea, 4 + i, 1, -1);
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	for (int i = 0; i < 6; i++) {
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_LE(4, ev.notify.imm);
		ASSERT_GT(10, ev.notify.imm);
		ASSERT_EQ(0, seen & (1u << ev.notify.imm));
		seen |= 1u << ev.notify.imm;
	}
	for (int i = 0; i < 6; i++)
		ASSERT_EQ(0, poster_end(&p[i]));
	rnt_settle(&self->p, true);
}

/* A poster that waits keeps nobody else of its context waiting. */
TEST_F(block, P3_other_endpoints_go_on)
{
	struct rnt_pair q;
	struct poster p;
	struct rnt_ctx c;

	/* with a reader of its own: reading b would give credit to the first */
	rnt_init(&c, 64, 0);
	rnt_pair_open(&q, &self->a, &c, &depth4, &depth4);
	poster_start(&p, &self->a, self->p.ea, 4, 1, -1);
	for (int i = 0; i < 50; i++) {
		struct rnotify_op op = rnt_op_notify(q.ea, i);

		rnt_post1(&self->a, &op);
		if (i % 4 == 3)
			rnt_expect_imms(&c, q.eb, i - 3, 4);
	}
	ASSERT_TRUE(poster_waits(&p));
	rnt_expect_imms(&self->b, self->p.eb, 0, 4);
	ASSERT_EQ(0, poster_end(&p));
	rnt_close(&c);
}

/* O_NONBLOCK does the same as the flag, and is looked at in each call. */
TEST_F(block, o_nonblock)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, 4);
	int fl = fcntl(self->a.fd, F_GETFL);

	ASSERT_EQ(0, fcntl(self->a.fd, F_SETFL, fl | O_NONBLOCK));
	ASSERT_EQ(-EAGAIN, rnt_post(&self->a, &op, 1, -1, NULL, NULL));
	ASSERT_EQ(0, fcntl(self->a.fd, F_SETFL, fl));
	ASSERT_EQ(-ETIMEDOUT, rnt_post(&self->a, &op, 1, 1, NULL, NULL));
}

/* Waiting for room of the send queue, not for credit: 4 against 64. */
TEST_F(block, P7_woken_by_room)
{
	struct rnotify_op op[64];
	unsigned int n;

	rnt_more(&self->p, &self->p, &depth4, NULL);
	for (int round = 0; round < 20; round++) {
		for (n = 0; n < 64; n++)
			op[n] = rnt_op_notify(self->p.ea, n);
		ASSERT_EQ(0, rnt_post(&self->a, op, 64, -1, &n, NULL));
		ASSERT_EQ(64, n);
		rnt_expect_imms(&self->b, self->p.eb, 0, 64);
		rnt_settle(&self->p, true);
	}
}

TEST_HARNESS_MAIN
