// SPDX-License-Identifier: GPL-2.0
/*
 * RNOTIFY_IOCTL_EVENTFD: one signal for each time that the ring turns from empty
 * to non-empty, or that an endpoint's share of it does (FAULTS 17).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(eventfd)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	int efd;
};

FIXTURE_SETUP(eventfd)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	self->efd = eventfd(0, EFD_NONBLOCK);
	ASSERT_LE(0, self->efd);
}

FIXTURE_TEARDOWN(eventfd)
{
	close(self->efd);
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static int set_eventfd(struct rnt_ctx *c, int fd)
{
	struct rnotify_eventfd arg = { .size = sizeof(arg), .fd = fd };

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_EVENTFD, &arg);
}

/* The counter since it was read last. */
static unsigned int signals(int efd)
{
	uint64_t n;

	if (read(efd, &n, sizeof(n)) == sizeof(n))
		return n;
	rnt_check_eq(EAGAIN, errno);
	return 0;
}

static void await_signal(int efd)
{
	struct pollfd p = { .fd = efd, .events = POLLIN };

	rnt_check_eq(1, poll(&p, 1, RNT_PATIENCE_MS * rnt_slow()));
}

/* So many events for b that are all there now. */
static void bells(FIXTURE_DATA(eventfd) *self, unsigned int n)
{
	__u32 want = rnt_pending(&self->b) + n;

	while (n--) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, n);

		rnt_post1(&self->a, &op);
	}
	rnt_check_eq(0, rnt_wait(&self->b, want, rnt_deadline(RNT_PATIENCE_MS),
				 0, NULL));
}

TEST_F(eventfd, one_per_transition)
{
	unsigned int rounds = rnt_count(3000), sum = 0, seed = rnt_now_ns();

	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(0, signals(self->efd));
	for (unsigned int i = 0; i < rounds; i++) {
		bells(self, 1 + rand_r(&seed) % 8);
		rnt_consume(&self->b, rnt_pending(&self->b));
		sum += signals(self->efd);
	}
	/* the last signal comes with the event, maybe a moment after it */
	if (sum < rounds)
		await_signal(self->efd);
	sum += signals(self->efd);
	ASSERT_EQ(rounds, sum);
	ASSERT_EQ(0, signals(self->efd));
}

/* A reader that leaves something in the ring hears nothing more. */
TEST_F(eventfd, no_storm)
{
	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	bells(self, 2);
	await_signal(self->efd);
	ASSERT_EQ(1, signals(self->efd));
	for (int i = 0; i < 100; i++) {
		bells(self, 1);
		rnt_consume(&self->b, 1);
	}
	ASSERT_EQ(0, signals(self->efd));
	rnt_consume(&self->b, rnt_pending(&self->b));
	bells(self, 1);
	await_signal(self->efd);
	ASSERT_EQ(1, signals(self->efd));
}

TEST_F(eventfd, set_when_not_empty)
{
	bells(self, 3);
	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(1, signals(self->efd));
	/* and again, if it is set again */
	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(1, signals(self->efd));
	rnt_consume(&self->b, 3);
	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(0, signals(self->efd));
}

TEST_F(eventfd, replaced_and_removed)
{
	int other = eventfd(0, EFD_NONBLOCK);

	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(0, set_eventfd(&self->b, other));
	bells(self, 1);
	await_signal(other);
	ASSERT_EQ(1, signals(other));
	ASSERT_EQ(0, signals(self->efd));
	rnt_consume(&self->b, 1);
	ASSERT_EQ(0, set_eventfd(&self->b, -1));
	/* none to remove is no error */
	ASSERT_EQ(0, set_eventfd(&self->b, -1));
	bells(self, 1);
	ASSERT_EQ(0, signals(other));
	ASSERT_EQ(0, signals(self->efd));
	/* the same one for two contexts, and for one after it was closed */
	ASSERT_EQ(0, set_eventfd(&self->b, other));
	ASSERT_EQ(1, signals(other));
	ASSERT_EQ(0, set_eventfd(&self->a, other));
	rnt_consume(&self->b, 1);
	close(other);
	bells(self, 1);
	rnt_consume(&self->b, 1);
	bells(self, 1);
}

/* What is no eventfd changes nothing. */
TEST_F(eventfd, bad_fd)
{
	int null = open("/dev/null", O_RDWR), fds[2];

	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(-EBADF, set_eventfd(&self->b, 9999));
	ASSERT_EQ(-EINVAL, set_eventfd(&self->b, null));
	ASSERT_EQ(-EINVAL, set_eventfd(&self->b, fds[0]));
	ASSERT_EQ(-EINVAL, set_eventfd(&self->b, self->b.fd));
	bells(self, 1);
	await_signal(self->efd);
	ASSERT_EQ(1, signals(self->efd));
}

/* A counter that is full is no reason to stop. */
TEST_F(eventfd, overflow)
{
	uint64_t full = ~0ull - 1;

	ASSERT_EQ(0, set_eventfd(&self->b, self->efd));
	ASSERT_EQ(8, write(self->efd, &full, sizeof(full)));
	for (int i = 0; i < 5; i++) {
		bells(self, 1);
		rnt_consume(&self->b, 1);
	}
	rnt_settle(&self->p, true);
}

/*
 * ---- of one endpoint -----------------------------------------------------
 */

static int set_endpoint_eventfd(struct rnt_ctx *c, __u32 endpoint, int fd)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .fd = fd, .endpoint_id = endpoint,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_EVENTFD, &arg);
}

static void bell_of(FIXTURE_DATA(eventfd) *self, const struct rnt_pair *p)
{
	__u32 want = rnt_pending(&self->b) + 1;
	struct rnotify_op op = rnt_op_notify(p->ea, 0);

	rnt_post1(&self->a, &op);
	rnt_check_eq(0, rnt_wait(&self->b, want, rnt_deadline(RNT_PATIENCE_MS),
				 0, NULL));
}

/* Only its own traffic counts, and each turn to unconsumed once. */
TEST_F(eventfd, endpoint_alone)
{
	struct rnotify_op op;
	struct rnt_pair q;

	rnt_pair_more(&self->p, &q);
	ASSERT_EQ(0, set_endpoint_eventfd(&self->b, q.eb, self->efd));
	bell_of(self, &self->p);
	/* its own, but neither NOTIFY nor MESSAGE */
	op = rnt_op_notify(q.eb, 1);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	rnt_post1(&self->b, &op);
	rnt_expect_tx(&self->b, q.eb, 0, 0, NULL);
	ASSERT_EQ(0, signals(self->efd));
	for (int i = 0; i < 20; i++) {
		bell_of(self, &q);
		await_signal(self->efd);
		bell_of(self, &q);
		bell_of(self, &self->p);
		ASSERT_EQ(1, signals(self->efd));
		rnt_consume(&self->b, rnt_pending(&self->b));
	}
	ASSERT_EQ(0, set_endpoint_eventfd(&self->b, q.eb, -1));
	bell_of(self, &q);
	ASSERT_EQ(0, signals(self->efd));
}

TEST_F(eventfd, endpoint_one_per_transition)
{
	unsigned int rounds = rnt_count(1500), sum = 0, seed = rnt_now_ns();

	ASSERT_EQ(0, set_endpoint_eventfd(&self->b, self->p.eb, self->efd));
	for (unsigned int i = 0; i < rounds; i++) {
		bells(self, 1 + rand_r(&seed) % 8);
		rnt_consume(&self->b, rnt_pending(&self->b));
		sum += signals(self->efd);
	}
	/* the last comes with the event, maybe a moment after it */
	if (sum < rounds)
		await_signal(self->efd);
	sum += signals(self->efd);
	ASSERT_EQ(rounds, sum);
}

/* However much was consumed since the kernel looked: it looks at a part at a time. */
TEST_F(eventfd, P8_endpoint_after_many)
{
	struct rnotify_params params = { .recv_depth = 2000 };
	struct rnotify_op op;
	struct rnt_pair p;
	struct rnt_ctx b;

	rnt_init(&b, 4096, 0);
	rnt_pair_open(&p, &self->a, &b, NULL, &params);
	ASSERT_EQ(0, set_endpoint_eventfd(&b, p.eb, self->efd));
	op = rnt_op_notify(p.ea, 1);
	for (int i = 0; i < 1000; i++)
		rnt_post1(&self->a, &op);
	ASSERT_EQ(0, rnt_wait(&b, 1000, rnt_deadline(RNT_PATIENCE_MS), 0,
			      NULL));
	ASSERT_EQ(1, signals(self->efd));
	rnt_consume(&b, 1000);
	for (int i = 0; i < 3; i++) {
		rnt_post1(&self->a, &op);
		await_signal(self->efd);
		ASSERT_EQ(1, signals(self->efd));
		rnt_consume(&b, 1);
	}
	rnt_close(&b);
}

/* Its end is told, whether there are unconsumed events or not. */
TEST_F(eventfd, P7_endpoint_ends)
{
	struct rnt_pair q;

	for (int i = 0; i < 2; i++) {
		rnt_pair_more(&self->p, &q);
		ASSERT_EQ(0, set_endpoint_eventfd(&self->b, q.eb, self->efd));
		if (i) {
			bell_of(self, &q);
			await_signal(self->efd);
			ASSERT_EQ(1, signals(self->efd));
		}
		rnt_destroy(&self->a, q.ea);
		await_signal(self->efd);
		rnt_down(&self->b, q.eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		ASSERT_EQ(1, signals(self->efd));
		rnt_destroy(&self->b, q.eb);
		ASSERT_EQ(-ENOENT, set_endpoint_eventfd(&self->b, q.eb,
							self->efd));
	}
}

TEST_F(eventfd, endpoint_set_when_not_empty)
{
	bell_of(self, &self->p);
	ASSERT_EQ(0, set_endpoint_eventfd(&self->b, self->p.eb, self->efd));
	ASSERT_EQ(1, signals(self->efd));
	rnt_consume(&self->b, 1);
	ASSERT_EQ(0, set_endpoint_eventfd(&self->b, self->p.eb, self->efd));
	ASSERT_EQ(0, signals(self->efd));
	ASSERT_EQ(-ENOENT, set_endpoint_eventfd(&self->b, 9999, self->efd));
	ASSERT_EQ(-ENOENT, set_endpoint_eventfd(&self->b, self->p.listener,
						self->efd));
	ASSERT_EQ(-EBADF, set_endpoint_eventfd(&self->b, self->p.eb, 9999));
}

struct swapper {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	bool stop;
};

static void *swap_fn(void *arg)
{
	struct swapper *s = arg;
	int efd;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		efd = eventfd(0, 0);
		rnt_check_eq(0, set_eventfd(s->c, efd));
		close(efd);
	}
	return NULL;
}

/* Swapped and closed all the time while events come: no use after free. */
TEST_F(eventfd, P9_swapped_during_traffic)
{
	struct swapper s = { .c = &self->b };

	rnt_thread_start(&s.thread, swap_fn, &s);
	for (unsigned int i = 0; i < rnt_count(2000); i++) {
		bells(self, 1);
		rnt_consume(&self->b, 1);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	rnt_thread_join(&s.thread);
	rnt_settle(&self->p, true);
}

TEST_HARNESS_MAIN
