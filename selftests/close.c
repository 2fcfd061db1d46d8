// SPDX-License-Identifier: GPL-2.0
/*
 * Closing a context with something open: unread events, sleepers, mappings,
 * posts under way, connections in any state. It takes a bounded time, and the
 * peer is told once, and at once (P7, P10, FAULTS 18).
 */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Closing takes no longer, times RNOTIFY_SLOW. */
#define CLOSE_S		5

FIXTURE(close)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
};

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE_SETUP(close)
{
	rnt_base_read(&self->base);
	rnt_init(&self->a, 2048, 256);
	rnt_init(&self->b, 2048, 256);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
}

static void close_in_time(struct rnt_ctx *c)
{
	uint64_t start = rnt_now_ns();

	rnt_close(c);
	if (rnt_now_ns() - start > CLOSE_S * 1e9 * rnt_slow())
		rnt_fail("close takes %llu ms", (unsigned long long)
			 (rnt_now_ns() - start) / 1000000);
}

FIXTURE_TEARDOWN(close)
{
	if (self->a.fd >= 0)
		close_in_time(&self->a);
	if (self->b.fd >= 0)
		close_in_time(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

TEST_F(close, P7_unread_events)
{
	struct rnotify_op ops[64];
	struct rnotify_event ev;
	unsigned int n;

	for (n = 0; n < 64; n++) {
		ops[n] = rnt_op_notify(self->p.ea, n);
		ops[n].user_data = n;
		ops[n].flags = RNOTIFY_OP_F_SIGNALED;
	}
	ASSERT_EQ(0, rnt_post(&self->a, ops, 64, -1, &n, NULL));
	rnt_settle(&self->p, false);
	close_in_time(&self->b);
	for (int i = 0; i < 64; i++)
		rnt_expect_tx(&self->a, self->p.ea, i, 0, NULL);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	ASSERT_EQ(64, ev.down.confirmed);
	ASSERT_EQ(0, ev.down.delivered);
}

/* The record tells an exit from a goodbye, whatever else is going on. */
TEST_F(close, P12_reason)
{
	for (unsigned int i = 0; i < rnt_count(90); i++) {
		struct rnotify_event ev;
		struct rnt_ctx c;
		struct rnt_pair q;

		rnt_init(&c, 512, 0);
		rnt_pair_open(&q, &self->a, &c, &params, &params);
		if (i % 3)
			rnt_post_until_full(&self->a, q.ea, 0, 0);
		if (i % 2)
			rnt_destroy(&c, q.eb);
		close_in_time(&c);
		ASSERT_TRUE(rnt_take_type(&self->a, q.ea,
					  RNOTIFY_EVENT_DISCONNECTED, &ev,
					  RNT_PATIENCE_MS));
		ASSERT_EQ(i % 2 ? RNOTIFY_REASON_PEER_CLOSE :
			  RNOTIFY_REASON_PEER_EXIT, ev.down.reason)
			TH_LOG("round %u", i);
		ASSERT_EQ(RNOTIFY_STAGE_ESTABLISHED, ev.down.stage);
		ASSERT_EQ(-ECONNRESET, ev.down.error);
		ASSERT_EQ(0, ev.down.ib_status);
		rnt_destroy(&self->a, q.ea);
	}
}

/* What was posted before close() arrives, and before the goodbye. */
TEST_F(close, P1_posts_under_way)
{
	struct rnotify_event ev;
	struct rnt_pair q;
	unsigned int n;

	for (unsigned int round = 0; round < rnt_count(60); round++) {
		struct rnt_ctx c;

		rnt_init(&c, 512, 0);
		rnt_pair_open(&q, &c, &self->b, NULL, NULL);
		n = rnt_post_until_full(&c, q.ea, 0, 0);
		ASSERT_LT(0, n);
		close_in_time(&c);
		rnt_expect_imms(&self->b, q.eb, 0, n);
		rnt_expect(&self->b, q.eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
		ASSERT_EQ(n, ev.down.delivered);
		rnt_destroy(&self->b, q.eb);
		rnt_destroy(&self->b, q.listener);
	}
}

/*
 * ---- sleepers --------------------------------------------------------------
 */

struct sleeper {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	__u32 endpoint;
	int ret;
};

static void *in_poll(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd p = { .fd = s->c->fd, .events = POLLIN };

	s->ret = poll(&p, 1, -1) < 0 ? -errno : p.revents;
	return NULL;
}

static void *in_read(void *arg)
{
	struct sleeper *s = arg;
	struct rnotify_event ev;

	s->ret = read(s->c->fd, &ev, sizeof(ev)) < 0 ? -errno : ev.type;
	return NULL;
}

static void *in_wait(void *arg)
{
	struct sleeper *s = arg;

	s->ret = rnt_wait(s->c, 1, -1, 0, NULL);
	return NULL;
}

static void *in_post(void *arg)
{
	struct sleeper *s = arg;
	struct rnotify_op op = rnt_op_notify(s->endpoint, 0);

	s->ret = rnt_post(s->c, &op, 1, -1, NULL, NULL);
	return NULL;
}

#define SLEEPERS	4

/* nr 3: none that takes events away from the others */
static void start_sleepers(FIXTURE_DATA(close) *self, struct sleeper *s,
			   unsigned int nr)
{
	static void *(* const fn[SLEEPERS])(void *) = {
		in_poll, in_wait, in_post, in_read,
	};
	static const long syscall[SLEEPERS] = {
		SYS_poll, SYS_ioctl, SYS_ioctl, SYS_read,
	};

	rnt_check_eq(64, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
	rnt_settle(&self->p, false);
	while (rnt_pending(&self->a))
		rnt_consume(&self->a, 1);
	for (unsigned int i = 0; i < nr; i++) {
		s[i].c = &self->a;
		s[i].endpoint = self->p.ea;
		rnt_thread_start(&s[i].thread, fn[i], &s[i]);
		rnt_await_sleep(s[i].thread.tid, syscall[i]);
	}
}

static void on_signal(int sig)
{
	(void)sig;
}

/*
 * As with any file, a thread in a system call keeps the file open: close() in
 * another one returns at once, and the context ends with the last of them.
 */
TEST_F(close, P7_sleepers_end_by_signal)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct rnt_ctx closed = self->a;
	struct sleeper s[SLEEPERS];

	sigaction(SIGUSR1, &sa, NULL);
	start_sleepers(self, s, SLEEPERS);
	close_in_time(&closed);
	for (int i = 0; i < SLEEPERS; i++) {
		ASSERT_FALSE(rnt_thread_ends(&s[i].thread, 1, NULL));
		pthread_kill(s[i].thread.thread, SIGUSR1);
		rnt_thread_join(&s[i].thread);
		/* poll() looks once more when it wakes up: no such fd */
		ASSERT_EQ(i ? -EINTR : POLLNVAL, s[i].ret);
	}
	self->a.fd = -1;
	rnt_expect_imms(&self->b, self->p.eb, 0, 64);
	rnt_down(&self->b, self->p.eb, RNT_PEER_GONE, NULL);
}

/* The end of the connection ends all of them. */
TEST_F(close, P7_sleepers_end_with_the_peer)
{
	struct sleeper s[SLEEPERS];

	start_sleepers(self, s, 3);
	close_in_time(&self->b);
	for (int i = 0; i < 3; i++)
		rnt_thread_join(&s[i].thread);
	ASSERT_EQ(POLLIN, s[0].ret);
	ASSERT_EQ(0, s[1].ret);
	ASSERT_EQ(-ESHUTDOWN, s[2].ret);
}

TEST_F(close, P7_reader_ends_with_the_peer)
{
	struct sleeper s = { .c = &self->a };

	rnt_thread_start(&s.thread, in_read, &s);
	rnt_await_sleep(s.thread.tid, SYS_read);
	close_in_time(&self->b);
	rnt_thread_join(&s.thread);
	ASSERT_EQ(RNOTIFY_EVENT_DISCONNECTED, s.ret);
}

/*
 * ---- what else can be open -------------------------------------------------
 */

TEST_F(close, eventfd)
{
	struct rnotify_eventfd arg = { .size = sizeof(arg) };
	uint64_t n;

	arg.fd = eventfd(0, EFD_NONBLOCK);
	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
	ASSERT_EQ(64, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
	rnt_settle(&self->p, false);
	close_in_time(&self->b);
	ASSERT_EQ(8, read(arg.fd, &n, 8));
	ASSERT_EQ(1, n);
	/* with a context of its own gone, it is an eventfd like any other */
	ASSERT_EQ(8, write(arg.fd, &n, 8));
	ASSERT_EQ(8, read(arg.fd, &n, 8));
	close(arg.fd);
	rnt_down(&self->a, self->p.ea, RNT_PEER_GONE, NULL);
}

/*
 * A mapping holds the file, as everywhere: the context lives, and its ring goes
 * on, until the last one is gone.
 */
TEST_F(close, P10_mappings)
{
	struct rnt_ctx *b = &self->b;
	struct rnt_region r;

	rnt_region_alloc(b, &r, 3 * RNT_PAGE);
	rnt_fill(r.p, r.len, 1);
	ASSERT_EQ(0, close(b->fd));
	ASSERT_EQ(64, rnt_post_until_full(&self->a, self->p.ea, 0, 0));
	for (uint64_t end = rnt_deadline(RNT_PATIENCE_MS);
	     rnt_pending(b) != 64;)
		ASSERT_NE(0, rnt_left_ms(end));
	for (int i = 0; i < 64; i++) {
		ASSERT_EQ(i, rnt_peek(b)->notify.imm);
		b->cons++;
	}
	/* the kernel's timer sees it: there is nobody to kick */
	__atomic_store_n(&b->tail->cons, b->cons, __ATOMIC_SEQ_CST);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(0, munmap((void *)b->head, b->setup.ring_size));
	ASSERT_EQ(0, munmap((void *)b->msgs, b->setup.msg_area_size));
	ASSERT_EQ(0, munmap(b->tail, b->setup.cons_size));
	rnt_expect_none(&self->a, self->p.ea, 10);
	ASSERT_EQ(-1, rnt_diff(r.p, r.len, 1));
	ASSERT_EQ(0, munmap(r.p, r.len));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, NULL);
	b->fd = -1;
}

/* Regions, shares, remote regions, on both sides; traffic in both directions. */
TEST_F(close, P4_regions_and_shares)
{
	struct rnotify_event ev;
	struct rnotify_op op;
	struct rnt_region src, dst[4];
	__u32 remote[4];

	rnt_region_user(&self->a, &src, rnt_anon(RNT_MIB), RNT_MIB, 0);
	for (int i = 0; i < 4; i++) {
		rnt_region_user(&self->b, &dst[i], rnt_anon(RNT_MIB), RNT_MIB,
				0);
		remote[i] = rnt_grant(&self->p, dst[i].id, 0, 0,
				      RNOTIFY_RIGHT_WRITE, NULL);
	}
	for (int i = 0; i < 32; i++) {
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, src.id, 0,
			       remote[i % 4], 0, 64 * RNT_KIB);
		op.flags = RNOTIFY_OP_F_SIGNALED;
		op.user_data = i;
		if (rnt_try(&self->a, &op))
			break;
	}
	close_in_time(&self->b);
	rnt_down(&self->a, self->p.ea, RNT_PEER_GONE, &ev);
	close_in_time(&self->a);
}

/* Closed on both sides at the same moment (FAULTS 30). */
static void *close_fn(void *arg)
{
	close_in_time(arg);
	return NULL;
}

TEST_F(close, P10_both_at_once)
{
	for (unsigned int i = 0; i < rnt_count(90); i++) {
		struct rnt_thread t;
		struct rnt_ctx c, d;
		struct rnt_pair p;

		rnt_init(&c, 512, 0);
		rnt_init(&d, 512, 0);
		rnt_pair_open(&p, &c, &d, &params, &params);
		rnt_post_until_full(&c, p.ea, 0, 0);
		rnt_post_until_full(&d, p.eb, 0, 0);
		rnt_thread_start(&t, close_fn, &c);
		close_in_time(&d);
		rnt_thread_join(&t);
	}
}

/*
 * ---- connections that are not there yet ------------------------------------
 */

/* The listener never answers. The request learns that the peer is gone. */
TEST_F(close, P7_connecting)
{
	struct rnt_ctx c;
	__u32 eb;

	rnt_init(&c, 512, 0);
	rnt_connect(&c, rnt_addr4(), self->p.port, &params, 0);
	eb = rnt_request(&self->b, NULL);
	close_in_time(&c);
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_DISCONNECTED, NULL);
	ASSERT_EQ(-ENOTCONN, rnt_accept(&self->b, eb, &params, 0));
	rnt_destroy(&self->b, eb);
}

/* Closed at once, in whatever the CM is doing. */
TEST_F(close, P10_connecting_at_once)
{
	static const char * const to[] = {
		"10.0.0.1", "10.0.0.99", "127.0.0.1",
	};

	for (unsigned int i = 0; i < 30; i++) {
		struct rnotify_connect arg = { .params = params };
		struct rnt_ctx c;

		rnt_init(&c, 512, 0);
		/* some of these are refused at once, which is fine */
		rnt_connect_err(&c, &arg, i % 5 == 4 ? rnt_addr4() : to[i % 3],
				i % 2 ? self->p.port : 1);
		rnt_sleep_us(i % 4 * 700);
		close_in_time(&c);
	}
	/* what came through to the listener is over */
	rnt_destroy(&self->b, self->p.listener);
}

/* A request that nobody answered: its sender is told. */
TEST_F(close, P7_request_pending)
{
	struct rnotify_event ev;
	struct rnt_ctx c;
	__u16 port = 0;
	__u32 ea;

	rnt_init(&c, 512, 0);
	rnt_listen(&c, rnt_addr4(), &port, 4);
	ea = rnt_connect(&self->a, rnt_addr4(), port, &params, 0);
	rnt_request(&c, NULL);
	close_in_time(&c);
	rnt_down(&self->a, ea, RNOTIFY_REASON_PEER_EXIT, &ev);
	ASSERT_EQ(RNOTIFY_STAGE_CONNECT, ev.down.stage);
	ASSERT_EQ(-ECONNRESET, ev.down.error);
}

/* Accepted, and closed before anybody looked. */
TEST_F(close, P7_just_accepted)
{
	for (unsigned int i = 0; i < rnt_count(30); i++) {
		struct rnotify_event ev;
		struct rnt_ctx c;
		__u16 port = 0;
		__u32 ea;

		rnt_init(&c, 512, 0);
		rnt_listen(&c, rnt_addr4(), &port, 4);
		ea = rnt_connect(&self->a, rnt_addr4(), port, &params, 0);
		ASSERT_EQ(0, rnt_accept(&c, rnt_request(&c, NULL), &params, 0));
		rnt_sleep_us(i % 5 * 300);
		close_in_time(&c);
		ASSERT_TRUE(rnt_take_type(&self->a, ea,
					  RNOTIFY_EVENT_DISCONNECTED, &ev,
					  RNT_PATIENCE_MS));
		rnt_destroy(&self->a, ea);
	}
}

/* The same from the other side. */
TEST_F(close, P7_just_established)
{
	for (unsigned int i = 0; i < rnt_count(30); i++) {
		struct rnotify_event ev;
		struct rnt_ctx c;
		__u32 eb;

		rnt_init(&c, 512, 0);
		rnt_connect(&c, rnt_addr4(), self->p.port, &params, 0);
		eb = rnt_request(&self->b, NULL);
		ASSERT_EQ(0, rnt_accept(&self->b, eb, &params, 0));
		rnt_sleep_us(i % 5 * 300);
		close_in_time(&c);
		ASSERT_TRUE(rnt_take_type(&self->b, eb,
					  RNOTIFY_EVENT_DISCONNECTED, &ev,
					  RNT_PATIENCE_MS));
		rnt_destroy(&self->b, eb);
	}
}

TEST_HARNESS_MAIN
