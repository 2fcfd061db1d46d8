// SPDX-License-Identifier: GPL-2.0
/*
 * Many endpoints of one context, and one context whose user writes garbage to
 * the consumer page (FAULTS 16, 45; P3, P9, P10).
 *
 * rvm: limit=60
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

static const struct rnotify_params depth4 = {
	.recv_depth = 4, .send_depth = 4,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

#define MANY	64

FIXTURE(many)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p[MANY];
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(many)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p[0], &self->a, &self->b, &depth4, &depth4);
	for (int i = 1; i < MANY; i++)
		rnt_more(&self->p[0], &self->p[i], &depth4, &depth4);
}

FIXTURE_TEARDOWN(many)
{
	uint64_t start = rnt_now_ns();

	rnt_close(&self->a);
	rnt_close(&self->b);
	/* all endpoints end together, not one after the other */
	EXPECT_LE(rnt_now_ns() - start, 10e9 * rnt_slow());
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

static int index_of(FIXTURE_DATA(many) *self, __u32 eb)
{
	for (int i = 0; i < MANY; i++)
		if (self->p[i].eb == eb)
			return i;
	rnt_fail("event of endpoint %u", eb);
}

/* One call, 64 endpoints, round robin: four notifications for each. */
static void burst(FIXTURE_DATA(many) *self, unsigned int first, unsigned int nr)
{
	struct rnotify_op ops[4 * MANY];
	unsigned int done, n = 0;

	for (unsigned int k = 0; k < 4; k++)
		for (unsigned int i = first; i < nr; i++)
			ops[n++] = rnt_op_notify(self->p[i].ea, 4 * i + k);
	rnt_check_eq(0, rnt_post(&self->a, ops, n, RNT_PATIENCE_MS, &done,
				 NULL));
	rnt_check_eq(n, done);
}

/* With an epoll that has room for one event at a time. */
static void take_burst(FIXTURE_DATA(many) *self, int epfd, unsigned int first,
		       unsigned int nr)
{
	unsigned int seen[MANY] = { 0 }, left = 4 * (nr - first);
	struct rnotify_event ev;
	struct epoll_event ep;

	while (left) {
		rnt_check_eq(1, epoll_wait(epfd, &ep, 1,
					   RNT_PATIENCE_MS * rnt_slow()));
		for (int k = 0; k < 3 && rnt_take(&self->b, 0, &ev, 0); k++) {
			int i = index_of(self, ev.endpoint);

			rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
			rnt_check_eq(4 * i + seen[i], ev.notify.imm);
			seen[i]++;
			left--;
		}
	}
	for (unsigned int i = first; i < nr; i++)
		rnt_check_eq(4, seen[i]);
}

TEST_F(many, P1_last_of_each)
{
	struct epoll_event ep = { .events = EPOLLIN };
	int epfd = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_ADD, self->b.fd, &ep));
	for (unsigned int i = 0; i < rnt_count(60); i++) {
		burst(self, 0, MANY);
		take_burst(self, epfd, 0, MANY);
	}
	for (int i = 0; i < MANY; i++)
		rnt_settle(&self->p[i], true);
	close(epfd);
}

/* Half of them end; the other half does not notice. */
TEST_F(many, P3_half_of_them_end)
{
	struct epoll_event ep = { .events = EPOLLIN };
	int epfd = epoll_create1(0);
	struct rnotify_event ev;

	ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_ADD, self->b.fd, &ep));
	burst(self, 0, MANY);
	for (int i = 0; i < MANY / 2; i++)
		ASSERT_EQ(0, rnt_disconnect(i % 2 ? &self->a : &self->b,
					    i % 2 ? self->p[i].ea :
					    self->p[i].eb));
	for (int i = 0; i < MANY / 2; i++) {
		rnt_down(&self->b, self->p[i].eb,
			 i % 2 ? RNOTIFY_REASON_PEER_CLOSE :
			 RNOTIFY_REASON_LOCAL_CLOSE, &ev);
		/* what this side ended may have been on its way */
		if (i % 2)
			ASSERT_EQ(4, ev.down.delivered);
	}
	for (int i = MANY / 2; i < MANY; i++)
		rnt_expect_imms(&self->b, self->p[i].eb, 4 * i, 4);
	self->b.nr_stash = 0;
	for (int round = 0; round < 3; round++) {
		burst(self, MANY / 2, MANY);
		take_burst(self, epfd, MANY / 2, MANY);
	}
	close(epfd);
}

/*
 * ---- a hostile consumer page -----------------------------------------------
 */

FIXTURE(hostile)
{
	struct rnt_ctx a;	/* a good pair, a to b */
	struct rnt_ctx b;
	struct rnt_ctx h;	/* hostile; b is its peer, too */
	struct rnt_pair good;
	struct rnt_pair bad;
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(hostile)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 64, 0);
	rnt_init(&self->b, 64, 0);
	rnt_init(&self->h, 64, 0);
	rnt_pair_open(&self->good, &self->a, &self->b, &depth4, &depth4);
	rnt_pair_open(&self->bad, &self->h, &self->b, &depth4, &depth4);
}

FIXTURE_TEARDOWN(hostile)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

struct scribbler {
	struct rnt_thread thread;
	struct rnt_ctx *h;
	bool near;		/* numbers that may be true, too */
	bool stop;
};

static void *scribble_fn(void *arg)
{
	struct scribbler *s = arg;
	volatile __u32 *page = (void *)s->h->tail;
	unsigned int seed = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		__u32 x = rand_r(&seed) * 2u + (rand_r(&seed) & 1);

		if (s->near && x % 4)
			x = s->h->head->prod + (int)(x % 9) - 4;
		page[0] = x;
		page[rand_r(&seed) % (RNT_PAGE / 4)] = rand_r(&seed);
	}
	return NULL;
}

/* The hostile process goes on to use its context in every way. */
static void use_hostile(struct rnt_ctx *h, __u32 endpoint, unsigned int i)
{
	struct rnotify_op op = rnt_op_notify(endpoint, i);
	struct rnotify_event buf[70];
	__u32 nr;

	op.flags = i % 2 ? RNOTIFY_OP_F_SIGNALED : 0;
	rnt_post(h, &op, 1, 0, NULL, NULL);
	switch (i % 4) {
	case 0:
		rnt_wait(h, 1 + i % 64, 0, 0, &nr);
		break;
	case 1:
		rnt_kick(h);
		break;
	case 2:
		if (rnt_poll(h, POLLIN, 0))
			read(h->fd, buf, sizeof(buf));
		break;
	default:
		rnt_wait(h, 2, rnt_now_ns() + 100000, 50000, &nr);
	}
}

static void scribble(struct __test_metadata *_metadata,
		     FIXTURE_DATA(hostile) *self, bool near)
{
	struct scribbler s = { .h = &self->h, .near = near };
	uint64_t start, longest = 0;
	struct rnotify_event ev;

	/* what poll() sees may be gone when read() looks */
	ASSERT_EQ(0, fcntl(self->h.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	rnt_thread_start(&s.thread, scribble_fn, &s);
	for (unsigned int i = 0; i < rnt_count(3000); i++) {
		struct rnotify_op op = rnt_op_notify(self->good.ea, i);

		use_hostile(&self->h, self->bad.ea, i);
		start = rnt_now_ns();
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, self->good.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(i, ev.notify.imm);
		if (rnt_now_ns() - start > longest)
			longest = rnt_now_ns() - start;
		self->b.nr_stash = 0;
		op = rnt_op_notify(self->bad.eb, i);
		rnt_try(&self->b, &op);
	}
	TH_LOG("longest round %llu us, bad_cons %llu",
	       (unsigned long long)longest / 1000,
	       (unsigned long long)self->h.head->bad_cons);
	ASSERT_LT(0, self->h.head->bad_cons);
	ASSERT_GT(RNT_STALL_MS * 1e6 * rnt_slow(), longest);
	rnt_settle(&self->good, true);

	/* with the scribbler still at it: the page lives as long as it is mapped */
	start = rnt_now_ns();
	ASSERT_EQ(0, rnt_disconnect(&self->h, self->bad.ea));
	rnt_down(&self->b, self->bad.eb, RNOTIFY_REASON_PEER_CLOSE, &ev);
	rnt_destroy(&self->h, self->bad.ea);
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	rnt_thread_join(&s.thread);
	rnt_close(&self->h);
	ASSERT_GT(5e9 * rnt_slow(), rnt_now_ns() - start);
}

TEST_F(hostile, P9_random_cons)
{
	scribble(_metadata, self, false);
}

TEST_F(hostile, P9_nearly_right_cons)
{
	scribble(_metadata, self, true);
}

/* Killed while it scribbles: gone at once, and its peer is told. */
TEST_F(hostile, P10_killed_while_scribbling)
{
	struct scribbler s = { .near = true };
	struct rnt_ctx c;
	__u32 eb;
	pid_t pid = rnt_fork();

	if (!pid) {
		rnt_init(&c, 64, 0);
		s.h = &c;
		rnt_connect(&c, rnt_addr4(), self->good.port, &depth4, 0);
		scribble_fn(&s);
	}
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, &depth4, 0));
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	ASSERT_LE(4, rnt_post_until_full(&self->b, eb, 0, 0));
	rnt_kill(pid);
	rnt_down(&self->b, eb, RNT_PEER_GONE, NULL);
	rnt_close(&self->h);
}

TEST_HARNESS_MAIN
