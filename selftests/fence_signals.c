// SPDX-License-Identifier: GPL-2.0
/*
 * DESTROY of a region while its peer writes and signals come all the time (P4,
 * FAULTS 20): it is not ended by any of them, and what it left is not written to
 * any more.
 */
#include <signal.h>
#include <string.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define SPAN	(8 * RNT_PAGE)
#define FOREIGN	0xe7
#define OWN	0x5a

/*
 * Nothing here is found by keepalive. What is under way has to be over within the
 * second that a fence has, also on the debug kernel.
 */
static const struct rnotify_params params = {
	.keepalive_ms = 600000, .send_depth = 4,
};

FIXTURE(signals)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	struct rnt_region src;
	struct rnt_thread writer;
	struct rnt_thread storm;
	pthread_t target;
	__u32 remote;		/* what the writer writes to, 0: nothing */
	unsigned long written;
	bool stop;
};

#define get(x)		__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define set(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELEASE)

static void *write_fn(void *arg)
{
	FIXTURE_DATA(signals) *self = arg;

	while (!get(self->stop)) {
		__u32 remote = get(self->remote);
		struct rnotify_op op;

		if (!remote) {
			rnt_sleep_us(100);
			continue;
		}
		op = rnt_op_rw(RNOTIFY_OP_WRITE, self->p.ea, self->src.id, 0,
			       remote, 0, SPAN);
		/* ENOENT: taken back meanwhile */
		if (!rnt_post(&self->a, &op, 1, -1, NULL, NULL))
			set(self->written, self->written + 1);
	}
	return NULL;
}

static void *storm_fn(void *arg)
{
	FIXTURE_DATA(signals) *self = arg;

	while (!get(self->stop)) {
		pthread_kill(self->target, SIGUSR1);
		rnt_sleep_us(50);
	}
	return NULL;
}

static unsigned long handled;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

FIXTURE_SETUP(signals)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &sa, NULL);
	self->target = pthread_self();
	rnt_base_read(&self->base);
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
	rnt_region_user(&self->a, &self->src, rnt_anon(SPAN), SPAN, 0);
	memset(self->src.p, FOREIGN, SPAN);
	rnt_thread_start(&self->writer, write_fn, self);
}

FIXTURE_TEARDOWN(signals)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void await_written(FIXTURE_DATA(signals) *self, unsigned long more)
{
	unsigned long from = get(self->written);
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (get(self->written) < from + more) {
		rnt_check(rnt_left_ms(deadline));
		rnt_sleep_us(100);
	}
}

/* Share, region, region with its share: each is a fence of its own. */
static void round_of(FIXTURE_DATA(signals) *self, char *memory, __u32 keep,
		     unsigned int i)
{
	struct rnt_region dst;
	__u32 share;

	rnt_region_user(&self->b, &dst, memory, SPAN, 0);
	set(self->remote, rnt_grant(&self->p, dst.id, 0, 0,
				    RNOTIFY_RIGHT_WRITE, &share));
	await_written(self, 5);
	rnt_sleep_us(i % 5 * 200);
	rnt_check_eq(0, rnt_destroy_err(&self->b, i % 2 ? share : dst.id));
	memset(memory, OWN, SPAN);
	/* what is posted now is behind all that went to the old one */
	set(self->remote, keep);
	await_written(self, 20);
	rnt_check_eq(-1, rnt_diff_byte(memory, SPAN, OWN));
	set(self->remote, 0);
	if (i % 2)
		rnt_destroy(&self->b, dst.id);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_REMOTE_REGION_GONE,
		   NULL);
}

TEST_F_TIMEOUT(signals, P4_storm, RNT_TIMEOUT(40))
{
	char *memory = rnt_anon(SPAN);
	struct rnt_region r;
	__u32 keep;

	rnt_region_user(&self->b, &r, rnt_anon(SPAN), SPAN, 0);
	keep = rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	rnt_thread_start(&self->storm, storm_fn, self);
	for (unsigned int i = 0; i < rnt_count(60) + 2; i++)
		round_of(self, memory, keep, i);
	set(self->stop, true);
	rnt_thread_join(&self->writer);
	rnt_thread_join(&self->storm);
	ASSERT_LT(0, handled);
}

TEST_HARNESS_MAIN
