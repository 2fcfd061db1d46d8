// SPDX-License-Identifier: GPL-2.0
/*
 * Figures that are worth knowing: each test measures one and prints it, and
 * fails only if what it measures does not work. By itself:
 *
 *	rvm run "build/selftests/figures -t notifications_per_second"
 */
#include <stdlib.h>

#include "kselftest_harness.h"
#include "sleeper.h"

#define RING	1024

FIXTURE(figures)
{
	struct rnt_sleeper s;	/* who receives */
	__u16 port;
};

FIXTURE_SETUP(figures)
{
	rnt_init(&self->s.c, RING, 0);
	rnt_listen(&self->s.c, rnt_addr4(), &self->port, 1);
}

FIXTURE_TEARDOWN(figures)
{
	rnt_close(&self->s.c);
}

/* A process that sends so many, so many in a call. */
static void send_all(__u16 port, unsigned int total, unsigned int batch)
{
	struct rnotify_op ops[64];
	unsigned int done;
	struct rnt_ctx c;
	__u32 e;

	rnt_init(&c, RING, 0);
	e = rnt_connect(&c, rnt_addr4(), port, NULL, 0);
	rnt_expect(&c, e, RNOTIFY_EVENT_ESTABLISHED, NULL);
	for (unsigned int i = 0; i < total; i += batch) {
		for (unsigned int k = 0; k < batch; k++)
			ops[k] = rnt_op_notify(e, i + k);
		rnt_check_eq(0, rnt_post(&c, ops, batch, -1, &done, NULL));
		rnt_check_eq(batch, done);
	}
	rnt_expect(&c, e, RNOTIFY_EVENT_DISCONNECTED, NULL);
	_exit(0);
}

struct rate {
	double per_second;
	double sleeps;		/* per notification */
};

static struct rate measure(FIXTURE_DATA(figures) *self, unsigned int batch,
			   unsigned int moderate)
{
	unsigned int total = rnt_count(30000) / 64 * 64;
	static const struct rnotify_params params = { .recv_depth = 256 };
	struct rnt_sleeper *s = &self->s;
	struct rnotify_event ev;
	struct rate rate;
	uint64_t start;
	pid_t child = rnt_fork();

	if (!child)
		send_all(self->port, total, batch);
	s->endpoint = rnt_request(&s->c, NULL);
	rnt_check_eq(0, rnt_accept(&s->c, s->endpoint, &params, 0));
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_sleeper_open(s, &rnt_style_poll);
	rnt_moderate(&s->c, moderate, moderate ? 5000000 : 0);
	s->sleeps = 0;
	start = rnt_now_ns();
	for (unsigned int i = 0; i < total; i++) {
		rnt_next_event_now(s, &ev);
		rnt_check_eq(i, ev.notify.imm);
	}
	rate.per_second = total / ((rnt_now_ns() - start) / 1e9);
	rate.sleeps = (double)s->sleeps / total;
	rnt_moderate(&s->c, 0, 0);
	rnt_destroy(&s->c, s->endpoint);
	rnt_consume(&s->c, rnt_pending(&s->c));
	rnt_join(child);
	return rate;
}

TEST_F(figures, notifications_per_second)
{
	static const unsigned int batches[] = { 1, 32 };

	for (unsigned int i = 0; i < ARRAY_SIZE(batches); i++) {
		struct rate rate = measure(self, batches[i], 0);

		TH_LOG("batch %u: %.0f notifications per second", batches[i],
		       rate.per_second);
		ASSERT_LT(0, rate.per_second);
	}
}

TEST_F(figures, wakeups_per_notification)
{
	static const unsigned int moderate[] = { 0, 16 };

	for (unsigned int i = 0; i < ARRAY_SIZE(moderate); i++) {
		struct rate rate = measure(self, 32, moderate[i]);

		TH_LOG("batch 32, %s: %.3f wake-ups per notification",
		       moderate[i] ? "woken at 16" : "not moderated",
		       rate.sleeps);
		ASSERT_GE(1, rate.sleeps);
	}
}

/* What ENDPOINT_INFO says: without what the device takes for its queues. */
TEST_F(figures, kernel_memory_per_endpoint)
{
	static const unsigned int depths[] = { 64, 1024 };

	for (unsigned int i = 0; i < ARRAY_SIZE(depths); i++) {
		struct rnotify_params params = {
			.recv_depth = depths[i], .send_depth = depths[i],
		};
		struct rnotify_endpoint_info info;
		struct rnt_ctx a, b;
		struct rnt_pair p;

		rnt_init(&a, 4096, 0);
		rnt_init(&b, 4096, 0);
		rnt_pair_open(&p, &a, &b, &params, &params);
		rnt_info(&a, p.ea, &info);
		TH_LOG("depth %u: %llu KiB of kernel memory, without the device's queues of %u + %u + %u entries",
		       depths[i], (unsigned long long)info.kmem >> 10,
		       info.sq_size, info.rq_size, info.cq_size);
		ASSERT_LT(0, info.kmem);
		rnt_close(&a);
		rnt_close(&b);
	}
}

TEST_HARNESS_MAIN
