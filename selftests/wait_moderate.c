// SPDX-License-Identifier: GPL-2.0
/*
 * RNOTIFY_IOCTL_MODERATE: wake-ups are put off, but not lost, not for longer
 * than was said, and not for what is urgent. And how often anybody is woken at
 * all (FAULTS 14, 17). The ways to wait are in wait_ping.c.
 */
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "sleeper.h"

#define SECOND	1000000000ull

FIXTURE(moderate)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
};

FIXTURE_SETUP(moderate)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
}

FIXTURE_TEARDOWN(moderate)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static void bells(FIXTURE_DATA(moderate) *self, unsigned int n)
{
	while (n--) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, n);

		rnt_post1(&self->a, &op);
	}
}

/* ---- who sleeps, and what it finds when it wakes ---- */

#define BY_POLL	(-1)		/* of the context */
#define BY_WAIT	(-2)

struct waiter {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	int efd;		/* or one of the above */
	uint64_t woken_ns;
	uint64_t first_ns;	/* when the oldest unconsumed event was written */
	unsigned int pending;
};

static void *waiter_fn(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = {
		.fd = w->efd < 0 ? w->c->fd : w->efd, .events = POLLIN,
	};

	if (w->efd == BY_WAIT)
		rnt_check_eq(0, rnt_wait(w->c, 1, -1, 0, NULL));
	else
		rnt_check_eq(1, poll(&p, 1, -1));
	w->woken_ns = rnt_now_ns();
	w->pending = rnt_pending(w->c);
	rnt_check(w->pending);
	w->first_ns = rnt_peek(w->c)->time_ns;
	return NULL;
}

/* Returns when it is asleep. */
static void waiter_start(struct waiter *w, struct rnt_ctx *c, int efd)
{
	*w = (struct waiter){ .c = c, .efd = efd };
	rnt_thread_start(&w->thread, waiter_fn, w);
	rnt_await_sleep(w->thread.tid, efd == BY_WAIT ? SYS_ioctl : SYS_poll);
}

static uint64_t waiter_end(struct waiter *w)
{
	rnt_thread_join(&w->thread);
	rnt_check(w->woken_ns >= w->first_ns);
	return w->woken_ns - w->first_ns;
}

static int context_eventfd(struct rnt_ctx *c)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .fd = eventfd(0, EFD_NONBLOCK),
	};

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_EVENTFD, &arg));
	return arg.fd;
}

static unsigned int signals(int efd)
{
	uint64_t n;

	if (read(efd, &n, sizeof(n)) == sizeof(n))
		return n;
	rnt_check_eq(EAGAIN, errno);
	return 0;
}

/* One event alone is told when its time is over: not before, and not never. */
TEST_F(moderate, P7_timer_bound)
{
	int efd = context_eventfd(&self->b);
	const uint64_t delay = SECOND / 20;
	struct waiter w[2];

	rnt_moderate(&self->b, 100, delay);
	for (int i = 0; i < 10; i++) {
		waiter_start(&w[0], &self->b, BY_POLL);
		waiter_start(&w[1], &self->b, efd);
		bells(self, 1);
		for (int k = 0; k < 2; k++)
			ASSERT_LE(delay, waiter_end(&w[k]));
		ASSERT_EQ(1, signals(efd));
		rnt_consume(&self->b, 1);
	}
	close(efd);
}

/* Who looks is never kept waiting. */
TEST_F(moderate, P7_looking_is_not_delayed)
{
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_event ev;
	__u32 nr;

	rnt_moderate(&self->b, 100, SECOND);
	bells(self, 1);
	while (!rnt_pending(&self->b))
		ASSERT_NE(0, rnt_left_ms(end));
	ASSERT_EQ(POLLIN, rnt_poll(&self->b, POLLIN, 0));
	ASSERT_EQ(0, rnt_wait(&self->b, 1, 0, 0, &nr));
	ASSERT_EQ(1, nr);
	ASSERT_EQ(sizeof(ev), read(self->b.fd, &ev, sizeof(ev)));
	ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev.type);
}

/*
 * So many events are told at once. If this machine is so slow that the time is
 * over first, fewer will do; but not each time.
 */
TEST_F(moderate, P7_number_wakes_at_once)
{
	int efd = context_eventfd(&self->b), early = 0;
	struct waiter w[2];

	rnt_moderate(&self->b, 5, SECOND);
	for (int i = 0; i < 5; i++) {
		waiter_start(&w[0], &self->b, BY_POLL);
		waiter_start(&w[1], &self->b, efd);
		bells(self, 5);
		for (int k = 0; k < 2; k++) {
			if (waiter_end(&w[k]) >= SECOND)
				continue;
			ASSERT_EQ(5, w[k].pending);
			early++;
		}
		ASSERT_EQ(0, rnt_wait(&self->b, 5, -1, 0, NULL));
		rnt_consume(&self->b, 5);
		ASSERT_GE(1, signals(efd));
	}
	ASSERT_LT(0, early);
	close(efd);
}

/* The end of an endpoint, and a request of a new one, do not wait. */
TEST_F(moderate, P7_urgent_at_once)
{
	int early = 0, efd = context_eventfd(&self->b);

	rnt_moderate(&self->b, 100, SECOND);
	for (int i = 0; i < 6; i++) {
		struct waiter w;
		__u32 ea, eb;

		waiter_start(&w, &self->b, i % 2 ? efd : BY_POLL);
		bells(self, 1);
		while (!rnt_pending(&self->b))
			;
		ea = rnt_connect(&self->a, rnt_addr4(), self->p.port, NULL, 0);
		if (waiter_end(&w) < SECOND) {
			ASSERT_EQ(2, w.pending);
			early++;
		}
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		eb = rnt_request(&self->b, NULL);
		ASSERT_EQ(0, rnt_pending(&self->b));
		signals(efd);
		rnt_destroy(&self->a, ea);
		rnt_down(&self->b, eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&self->b, eb);
		rnt_take_type(&self->a, ea, RNOTIFY_EVENT_DISCONNECTED,
			      &(struct rnotify_event){}, RNT_PATIENCE_MS);
		signals(efd);
	}
	ASSERT_LT(0, early);
	close(efd);
}

#define SLEEPERS	3
#define URGENT		0x100	/* imm; bells() are below */

static void sleepers_start(struct waiter *w, struct rnt_ctx *c, int efd)
{
	waiter_start(&w[0], c, BY_POLL);
	waiter_start(&w[1], c, efd);
	waiter_start(&w[2], c, BY_WAIT);
}

/*
 * Three that may wait, and an urgent one behind them. The sleepers are told of
 * all four at once, or of three because the time is over, if this machine is so
 * slow; but of nothing else. True if all were told by the urgent one.
 */
static bool urgent_behind_others(FIXTURE_DATA(moderate) *self, int efd)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, URGENT);
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);
	struct waiter w[SLEEPERS];
	struct rnotify_event ev;
	unsigned int early = 0;
	uint64_t delay[SLEEPERS];

	sleepers_start(w, &self->b, efd);
	bells(self, 3);
	while (rnt_pending(&self->b) < 3)
		rnt_check(rnt_left_ms(end));
	rnt_post1(&self->a, &op);
	for (int k = 0; k < SLEEPERS; k++)
		delay[k] = waiter_end(&w[k]);
	for (int i = 2; i >= 0; i--) {
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		rnt_check_eq(i, ev.notify.imm);
		rnt_check_eq(RNOTIFY_EVENT_F_IMM, ev.flags);
	}
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(URGENT, ev.notify.imm);
	rnt_check_eq(RNOTIFY_EVENT_F_IMM | RNOTIFY_EVENT_F_URGENT, ev.flags);
	for (int k = 0; k < SLEEPERS; k++) {
		if (delay[k] >= SECOND)
			continue;
		rnt_check_eq(4, w[k].pending);
		rnt_check(w[k].woken_ns >= ev.time_ns);
		early++;
	}
	return early == SLEEPERS;
}

/* One that a rule calls urgent does not wait, and takes the others with it. */
TEST_F(moderate, P7_urgent_by_a_rule)
{
	struct rnotify_rule rule = rnt_rule(URGENT, URGENT,
					    RNOTIFY_ACTION_EVENT, 0);
	int efd = context_eventfd(&self->b);
	struct waiter w[SLEEPERS];
	unsigned int told;
	bool early = false;

	rule.flags = RNOTIFY_RULE_URGENT;
	rnt_route(&self->b, self->p.eb, &rule, 1);
	rnt_moderate(&self->b, 100, SECOND);
	for (int i = 0; i < 6 && !early; i++) {
		early = urgent_behind_others(self, efd);
		told = signals(efd);
		/* one more if it came when the three were consumed */
		ASSERT_TRUE(told == 1 || (told == 2 && !early));
		/* the next waits the whole time: not only what was left */
		sleepers_start(w, &self->b, efd);
		bells(self, 1);
		for (int k = 0; k < SLEEPERS; k++)
			ASSERT_LE(SECOND, waiter_end(&w[k]));
		ASSERT_EQ(1, signals(efd));
		rnt_consume(&self->b, 1);
	}
	ASSERT_TRUE(early);
	close(efd);
}

/* Who sleeps under the old rule is told when the rule changes. */
TEST_F(moderate, P7_changed_while_asleep)
{
	int efd = context_eventfd(&self->b), early = 0;
	uint64_t end;

	for (int i = 0; i < 6; i++) {
		struct waiter w;

		rnt_moderate(&self->b, 100, SECOND);
		waiter_start(&w, &self->b, i % 2 ? efd : BY_POLL);
		bells(self, 3);
		end = rnt_deadline(RNT_PATIENCE_MS);
		while (rnt_pending(&self->b) < 3)
			ASSERT_NE(0, rnt_left_ms(end));
		if (i % 3)
			rnt_moderate(&self->b, 2, SECOND / 2);
		else
			rnt_moderate(&self->b, 0, 0);
		early += waiter_end(&w) < SECOND;
		ASSERT_EQ(1, signals(efd));
		rnt_consume(&self->b, 3);
	}
	ASSERT_LT(0, early);
	close(efd);
}

/*
 * ---- storms ------------------------------------------------------------------
 */

/*
 * A stream whose reader drains the ring at each signal. One signal for each
 * time that the ring was drained, and one for the first event, at the most;
 * and no wake-up but for so many events, or when so much time was over.
 */
static void stream(struct __test_metadata *_metadata,
		   FIXTURE_DATA(moderate) *self, unsigned int min_events)
{
	unsigned int total = rnt_count(9000), seen = 0, sum = 0, turns = 1;
	const uint64_t delay = 2000000, start = rnt_now_ns();
	int efd = context_eventfd(&self->b);
	struct pollfd p = { .fd = efd, .events = POLLIN };
	pid_t child;

	rnt_moderate(&self->b, min_events, min_events > 1 ? delay : 0);
	child = rnt_fork();
	if (!child) {
		for (unsigned int i = 0; i < total / 30; i++)
			bells(self, 30);
		_exit(0);
	}
	while (seen < total / 30 * 30) {
		unsigned int n;

		ASSERT_EQ(1, poll(&p, 1, RNT_PATIENCE_MS * rnt_slow()));
		n = signals(efd);
		ASSERT_LT(0, n);
		sum += n;
		ASSERT_GE(turns, sum);
		while ((n = rnt_pending(&self->b))) {
			rnt_consume(&self->b, n);
			seen += n;
			turns++;
		}
	}
	rnt_join(child);
	TH_LOG("%u events, %u wake-ups", seen, sum);
	ASSERT_LE(sum, seen / min_events + (rnt_now_ns() - start) / delay + 2)
		TH_LOG("moderation %u", min_events);
	rnt_moderate(&self->b, 0, 0);
	close(efd);
}

TEST_F(moderate, P7_no_storm)
{
	stream(_metadata, self, 1);
	stream(_metadata, self, 2);
	stream(_metadata, self, 16);
}

/* More events than the peer has credit for: paced by the time, not stuck. */
TEST_F(moderate, P7_more_than_the_credit)
{
	stream(_metadata, self, 500);
}

struct sleeper {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	long switches;
};

static void *wait_for_60(void *arg)
{
	struct sleeper *s = arg;
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	rnt_check_eq(0, rnt_wait(s->c, 60, -1, 0, NULL));
	getrusage(RUSAGE_THREAD, &after);
	s->switches = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

/* Who waits for sixty events is not woken sixty times. */
TEST_F(moderate, P7_wait_for_many_wakes_once)
{
	struct sleeper s = { .c = &self->b };

	rnt_thread_start(&s.thread, wait_for_60, &s);
	rnt_await_sleep(s.thread.tid, SYS_ioctl);
	bells(self, 60);
	rnt_thread_join(&s.thread);
	TH_LOG("it slept %ld times", s.switches);
	ASSERT_GE(5, s.switches);
}

/*
 * ---- changed at random -------------------------------------------------------
 */

struct changer {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	bool stop;
};

static void *change_fn(void *arg)
{
	struct changer *ch = arg;
	unsigned int seed = rnt_now_ns();

	while (!__atomic_load_n(&ch->stop, __ATOMIC_RELAXED)) {
		if (rand_r(&seed) % 4)
			rnt_moderate(ch->c, 2 + rand_r(&seed) % 20,
				     1 + rand_r(&seed) % 1000000);
		else
			rnt_moderate(ch->c, 0, 0);
		rnt_sleep_us(rand_r(&seed) % 500);
	}
	return NULL;
}

/* No wake-up is lost, whatever the rule was when it was due. */
TEST_F(moderate, P7_changed_all_the_time)
{
	struct rnt_sleeper s = { .c = self->b, .endpoint = self->p.eb };
	struct changer ch = { .c = &self->b };
	unsigned int rounds = rnt_count(600);
	static const struct rnt_style *const styles[] = {
		&rnt_style_poll, &rnt_style_eventfd, &rnt_style_epoll_et,
		&rnt_style_wait,
	};

	rnt_thread_start(&ch.thread, change_fn, &ch);
	for (unsigned int k = 0; k < ARRAY_SIZE(styles); k++) {
		rnt_sleeper_open(&s, styles[k]);
		for (unsigned int i = 0; i < rounds; i++) {
			unsigned int n = 1 + rand_r(&s.seed) % 25;
			struct rnotify_event ev;

			bells(self, n);
			while (n--) {
				rnt_next_event(&s, &ev);
				ASSERT_EQ(n, ev.notify.imm);
			}
		}
	}
	__atomic_store_n(&ch.stop, true, __ATOMIC_RELAXED);
	rnt_thread_join(&ch.thread);
	self->b = s.c;
	rnt_settle(&self->p, true);
}

TEST_F(moderate, refused)
{
	static const struct rnotify_moderate bad[] = {
		{ .min_events = 513, .max_delay_ns = 1 },
		{ .min_events = 2, .max_delay_ns = RNOTIFY_MODERATE_MAX_NS + 1 },
		{ .min_events = 2 },
		{ .min_events = 1, .max_delay_ns = 1 },
		{ .max_delay_ns = 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct rnotify_moderate arg = bad[i];

		arg.size = sizeof(arg);
		ASSERT_EQ(-EINVAL, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_MODERATE,
					     &arg));
	}
	rnt_moderate(&self->b, 512, RNOTIFY_MODERATE_MAX_NS);
	rnt_moderate(&self->b, 2, 1);
	rnt_moderate(&self->b, 1, 0);
}

TEST_HARNESS_MAIN
