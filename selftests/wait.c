// SPDX-License-Identifier: GPL-2.0
/*
 * System calls that sleep on a context: WAIT and read(). What each of them
 * reports, and when (FAULTS 14, 15).
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wait_fixture.h"

static __s64 in_ms(unsigned int ms)
{
	return rnt_deadline(ms);
}

/*
 * ---- RNOTIFY_IOCTL_WAIT ----------------------------------------------------
 */

TEST_F(wait, wait_looks)
{
	__u32 nr = 99;

	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 1, 0, 0, &nr));
	ASSERT_EQ(0, nr);
	ring_bell_heard(self, 3);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, rnt_wait(&self->b, 1 + i, 0, 0, &nr));
		ASSERT_EQ(3, nr);
	}
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 4, 0, 0, &nr));
	ASSERT_EQ(3, nr);
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 512, 0, 0, &nr));
	/* it consumed nothing */
	rnt_expect_imms(&self->b, self->p.eb, 0, 3);
}

TEST_F(wait, wait_invalid)
{
	struct rnotify_wait arg = { .size = sizeof(arg) };

	ring_bell_heard(self, 1);
	ASSERT_EQ(-EINVAL, rnt_wait(&self->b, 0, -1, 0, NULL));
	ASSERT_EQ(-EINVAL, rnt_wait(&self->b, 513, -1, 0, NULL));
	ASSERT_EQ(-EINVAL, rnt_wait(&self->b, ~0u, -1, 0, NULL));
	ASSERT_EQ(-EINVAL, rnt_wait(&self->b, 1, -1, 1000001, NULL));
	ASSERT_EQ(-EINVAL, rnt_wait(&self->b, 1, -1, -1, NULL));
	ASSERT_EQ(0, rnt_wait(&self->b, 1, -1, 1000000, NULL));
	arg.min_events = 1;
	arg.reserved = 1;
	ASSERT_EQ(-EOPNOTSUPP, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_WAIT,
					 &arg));
}

/* The timeout is a point in time; one that is over is no wait. */
TEST_F(wait, wait_timeout)
{
	static const unsigned int ms[] = { 1, 20, 100 };
	uint64_t start;
	__u32 nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(ms); i++) {
		__s64 until = in_ms(ms[i]);

		ring_bell_heard(self, 1);
		ASSERT_EQ(-ETIME, rnt_wait(&self->b, 10, until, 0, &nr));
		ASSERT_LE(until, rnt_now_ns());
		ASSERT_GE(until + 1e9 * rnt_slow(), rnt_now_ns());
		ASSERT_EQ(i + 1, nr);
	}
	start = rnt_now_ns();
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 10, 1, 0, &nr));
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 10, start - 1, 1000, &nr));
	ASSERT_GE(start + 1e9 * rnt_slow(), rnt_now_ns());
	ASSERT_EQ(0, rnt_wait(&self->b, 3, 1, 0, &nr));
	/* what spins first still has its time */
	ASSERT_EQ(-ETIME, rnt_wait(&self->b, 10, in_ms(20), 1000000, &nr));
}

struct waiter {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	unsigned int min_events;
	uint64_t spin_ns;
	__s64 timeout_ns;
	__u32 nr;
	int ret;
};

static void *waiter_fn(void *arg)
{
	struct waiter *w = arg;

	w->ret = rnt_wait(w->c, w->min_events, w->timeout_ns ?: -1, w->spin_ns,
			  &w->nr);
	return NULL;
}

static void waiter_start(struct waiter *w, struct rnt_ctx *c,
			 unsigned int min_events, uint64_t spin_ns)
{
	*w = (struct waiter){
		.c = c, .min_events = min_events, .spin_ns = spin_ns,
	};
	rnt_thread_start(&w->thread, waiter_fn, w);
	rnt_await_sleep(w->thread.tid, SYS_ioctl);
}

/* Awake with the n-th, not before, also if some were there already. */
TEST_F(wait, P7_wait_for_n)
{
	static const unsigned int n[] = { 1, 2, 3, 10, 64 };
	struct waiter w;

	for (unsigned int i = 0; i < ARRAY_SIZE(n); i++) {
		for (int spin = 0; spin < 2; spin++) {
			ring_bell_heard(self, n[i] / 3);
			waiter_start(&w, &self->b, n[i], spin * 100000);
			ring_bell(self, n[i] - n[i] / 3 - 1);
			if (n[i] > 1)
				ASSERT_FALSE(rnt_thread_ends(&w.thread, 5,
							     NULL));
			ring_bell(self, 1);
			rnt_thread_join(&w.thread);
			ASSERT_EQ(0, w.ret);
			ASSERT_EQ(n[i], w.nr);
			rnt_consume(&self->b, n[i]);
		}
	}
}

/* For more than will come: the end of the last endpoint ends the wait. */
TEST_F(wait, P7_wait_for_n_and_peer_dies)
{
	struct waiter w;
	void *ret;

	waiter_start(&w, &self->b, 10, 0);
	ring_bell_heard(self, 2);
	rnt_close(&self->a);
	ASSERT_TRUE(rnt_thread_ends(&w.thread, RNT_PATIENCE_MS, &ret));
	ASSERT_EQ(3, w.nr);
	rnt_expect_imms(&self->b, self->p.eb, 0, 2);
	rnt_down(&self->b, self->p.eb, RNT_PEER_GONE, NULL);
	rnt_init(&self->a, 64, 0);
}

static void on_signal(int sig)
{
	(void)sig;
}

TEST_F(wait, P7_signals)
{
	static const int flags[] = { 0, SA_RESTART };
	struct rnotify_event ev;
	struct waiter w;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(flags); i++) {
		struct sigaction sa = {
			.sa_handler = on_signal, .sa_flags = flags[i % 2],
		};

		sigaction(SIGUSR1, &sa, NULL);
		waiter_start(&w, &self->b, i < 2 ? 1 : 5, 0);
		pthread_kill(w.thread.thread, SIGUSR1);
		rnt_thread_join(&w.thread);
		ASSERT_EQ(-EINTR, w.ret);
		ASSERT_EQ(0, w.nr);
	}
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_signal,
						.sa_flags = SA_RESTART }, NULL);
	/* again and again: the first may come before the read() */
	ualarm(20000, 20000);
	ASSERT_EQ(-1, read(self->b.fd, &ev, sizeof(ev)));
	ASSERT_EQ(EINTR, errno);
	ualarm(0, 0);
}

/* Job control is no signal that ends a wait. */
TEST_F(wait, P7_stop_and_continue)
{
	struct waiter w;

	waiter_start(&w, &self->b, 2, 0);
	ring_bell_heard(self, 1);
	rnt_stop_and_continue();
	rnt_await_sleep(w.thread.tid, SYS_ioctl);
	ring_bell(self, 1);
	rnt_thread_join(&w.thread);
	ASSERT_EQ(0, w.ret);
	ASSERT_EQ(2, w.nr);
}

/*
 * ---- read() ----------------------------------------------------------------
 */

TEST_F(wait, read_whole_events)
{
	struct rnotify_event ev[8];
	char small[63];

	ring_bell_heard(self, 6);
	ASSERT_EQ(-1, read(self->b.fd, ev, 0));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read(self->b.fd, small, sizeof(small)));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(64, read(self->b.fd, ev, 64));
	ASSERT_EQ(0, ev[0].notify.imm);
	ASSERT_EQ(64, read(self->b.fd, ev, 127));
	ASSERT_EQ(1, ev[0].notify.imm);
	ASSERT_EQ(128, read(self->b.fd, ev, 191));
	ASSERT_EQ(2, ev[0].notify.imm);
	ASSERT_EQ(3, ev[1].notify.imm);
	ASSERT_EQ(0, memcmp(ev, &self->b.entries[(self->b.cons + 2) &
						 self->b.mask], 128));
	ASSERT_EQ(128, read(self->b.fd, ev, sizeof(ev)));
	ASSERT_EQ(4, ev[0].notify.imm);
	ASSERT_EQ(5, ev[1].notify.imm);
	/* read() moves the consumer index of the mapping */
	ASSERT_EQ(self->b.cons + 6, self->b.tail->cons);
	ASSERT_EQ(0, rnt_poll(&self->b, POLLIN, 0));
	/* too small a buffer is refused with nothing there, too */
	ASSERT_EQ(-1, read(self->b.fd, small, sizeof(small)));
	ASSERT_EQ(EINVAL, errno);
}

TEST_F(wait, read_nonblock)
{
	int fl = fcntl(self->b.fd, F_GETFL);
	struct rnotify_event ev;

	ASSERT_EQ(0, fcntl(self->b.fd, F_SETFL, fl | O_NONBLOCK));
	ASSERT_EQ(-1, read(self->b.fd, &ev, sizeof(ev)));
	ASSERT_EQ(EAGAIN, errno);
	ring_bell_heard(self, 1);
	ASSERT_EQ(sizeof(ev), read(self->b.fd, &ev, sizeof(ev)));
	ASSERT_EQ(-1, read(self->b.fd, &ev, sizeof(ev)));
	ASSERT_EQ(EAGAIN, errno);
}

/* A bad pointer costs nothing; one that turns bad in the middle: what fits. */
TEST_F(wait, read_fault)
{
	char *p = mmap(NULL, 2 * RNT_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rnotify_event ev[4];

	ASSERT_EQ(0, mprotect(p + RNT_PAGE, RNT_PAGE, PROT_NONE));
	ring_bell_heard(self, 4);
	ASSERT_EQ(-1, read(self->b.fd, p + RNT_PAGE, 256));
	ASSERT_EQ(EFAULT, errno);
	ASSERT_EQ(-1, read(self->b.fd, p + RNT_PAGE - 32, 256));
	ASSERT_EQ(EFAULT, errno);
	ASSERT_EQ(128, read(self->b.fd, p + RNT_PAGE - 128, 256));
	memcpy(ev, p + RNT_PAGE - 128, 128);
	ASSERT_EQ(0, ev[0].notify.imm);
	ASSERT_EQ(1, ev[1].notify.imm);
	ASSERT_EQ(64, read(self->b.fd, p + RNT_PAGE - 100, 256));
	memcpy(ev, p + RNT_PAGE - 100, 64);
	ASSERT_EQ(2, ev[0].notify.imm);
	ASSERT_EQ(64, read(self->b.fd, ev, sizeof(ev)));
	ASSERT_EQ(3, ev[0].notify.imm);
}

struct reader {
	struct rnt_thread thread;
	int fd;
	struct rnotify_event ev[4];
	ssize_t ret;
};

static void *reader_fn(void *arg)
{
	struct reader *r = arg;

	r->ret = read(r->fd, r->ev, sizeof(r->ev));
	return NULL;
}

static void reader_start(struct reader *r, struct rnt_ctx *c)
{
	r->fd = c->fd;
	rnt_thread_start(&r->thread, reader_fn, r);
	rnt_await_sleep(r->thread.tid, SYS_read);
}

TEST_F(wait, P7_read_blocks)
{
	struct reader r;

	for (__u32 i = 0; i < 20; i++) {
		reader_start(&r, &self->b);
		ring_bell(self, 1);
		rnt_thread_join(&r.thread);
		ASSERT_EQ(64, r.ret);
		ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, r.ev[0].type);
		ASSERT_EQ(i, r.ev[0].notify.imm);
	}
}

/* read() gives credit back as well: a long stream by nothing else. */
TEST_F(wait, P1_read_gives_credit)
{
	unsigned int total = rnt_count(6000), seen = 0;
	struct rnotify_event ev[16];
	struct rnotify_op op;
	ssize_t n;

	for (unsigned int sent = 0; seen < total;) {
		op = rnt_op_notify(self->p.ea, sent);
		while (sent < total && !rnt_try(&self->a, &op))
			op = rnt_op_notify(self->p.ea, ++sent);
		if (sent == seen) {
			/* all read, and its credit is on its way */
			ASSERT_LT(0, rnt_poll(&self->a, POLLOUT,
					      RNT_PATIENCE_MS));
			continue;
		}
		n = read(self->b.fd, ev, sizeof(ev));
		ASSERT_GE(n, 64);
		for (ssize_t i = 0; i < n / 64; i++)
			ASSERT_EQ(seen++, ev[i].notify.imm);
	}
	rnt_settle(&self->p, true);
}

/*
 * ---- several at once -------------------------------------------------------
 */

/* Everybody wakes up, but of the readers only those that got something. */
TEST_F(wait, P7_all_waiters)
{
	struct poller p[3];
	struct waiter w[3];
	struct reader r;
	void *ret;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 3; i++) {
			p[i].fd = self->b.fd;
			p[i].events = POLLIN;
			rnt_thread_start(&p[i].thread, poller_fn, &p[i]);
			rnt_await_sleep(p[i].thread.tid, SYS_poll);
			waiter_start(&w[i], &self->b, i + 1, 0);
		}
		ring_bell(self, 3);
		for (int i = 0; i < 3; i++) {
			rnt_thread_join(&p[i].thread);
			ASSERT_EQ(POLLIN, p[i].revents);
			rnt_thread_join(&w[i].thread);
			ASSERT_EQ(0, w[i].ret);
			ASSERT_LE(i + 1, w[i].nr);
		}
		rnt_consume(&self->b, rnt_pending(&self->b));
	}
	/* a reader and a poller: the reader may be first, and takes it away */
	reader_start(&r, &self->b);
	waiter_start(&w[0], &self->b, 2, 0);
	ring_bell(self, 1);
	rnt_thread_join(&r.thread);
	ASSERT_EQ(64, r.ret);
	ASSERT_FALSE(rnt_thread_ends(&w[0].thread, 5, &ret));
	ring_bell(self, 2);
	rnt_thread_join(&w[0].thread);
	ASSERT_EQ(2, w[0].nr);
}

TEST_HARNESS_MAIN
