// SPDX-License-Identifier: GPL-2.0
/*
 * What counters and slots save: wake-ups, context switches and processor time of
 * the receiver, per notification of one and the same stream, for
 *
 *	(a) one event each, asleep in WAIT until there is one
 *	(b) a counter, asleep in COUNTER_WAIT for 64 more
 *	(c) a slot table, asleep in SLOTS_TAKE until some slot is dirty
 *
 * and what a rule costs. It prints the figures; run it alone:
 *
 *	rvm run --kernel 6.12 build/selftests/route_figures
 *	rvm run --kernel 6.12 --icount "build/selftests/route_figures -t rule_cost"
 *
 * rvm: limit=120 long=1 kernels=6.1,6.12
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define NR		1920u
#define THRESHOLD	64u
#define NR_SLOTS	64u

FIXTURE(figures)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_counter x;
	struct rnt_slots s;
};

FIXTURE_SETUP(figures)
{
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_counter_open(&self->b, &self->x);
	rnt_slots_open(&self->b, &self->s, NR_SLOTS, 0, 0);
}

FIXTURE_TEARDOWN(figures)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/*
 * Each notification finds the receiver asleep, as far as the one before has not
 * to be dealt with: the next is sent when the kernel has it and the receiver
 * sleeps again, or still. So the figures don't depend on the machine's load.
 */
static pid_t start_stream(FIXTURE_DATA(figures) *self)
{
	struct rnotify_endpoint_info info;
	pid_t receiver = getpid(), pid;
	__u64 before;

	rnt_info(&self->b, self->p.eb, &info);
	before = info.rx_notify;
	pid = rnt_fork();
	if (pid)
		return pid;
	for (unsigned int i = 0; i < NR; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, i);

		rnt_await_sleep(receiver, SYS_ioctl);
		rnt_post1(&self->a, &op);
		do {
			rnt_info(&self->b, self->p.eb, &info);
		} while (info.rx_notify == before + i);
	}
	_exit(0);
}

struct figures {
	double wakeups;
	double switches;
	double cpu_us;
};

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Receives the whole stream; returns how often it came back from a wait. */
typedef unsigned int (*receive_fn)(FIXTURE_DATA(figures) *self);

static unsigned int by_events(FIXTURE_DATA(figures) *self)
{
	unsigned int waits = 0, got = 0;

	while (got < NR) {
		__u32 nr;

		rnt_check_eq(0, rnt_wait(&self->b, 1, -1, 0, &nr));
		waits++;
		for (__u32 i = 0; i < nr; i++, got++) {
			rnt_check_eq(got, rnt_peek(&self->b)->notify.imm);
			rnt_consume(&self->b, 1);
		}
	}
	return waits;
}

static unsigned int by_counter(FIXTURE_DATA(figures) *self)
{
	unsigned int waits = 0;

	for (unsigned int n = THRESHOLD; n <= NR; n += THRESHOLD, waits++)
		rnt_check_eq(0, rnt_counter_wait(&self->b, &self->x, n, -1,
						 NULL));
	return waits;
}

static unsigned int by_slots(FIXTURE_DATA(figures) *self)
{
	unsigned int waits = 0, got = 0;

	while (got < NR) {
		struct rnotify_slot slot[NR_SLOTS];
		int n = rnt_slots_take(&self->b, &self->s, slot, NR_SLOTS, -1,
				       NULL);

		rnt_check(n > 0);
		waits++;
		for (int i = 0; i < n; i++)
			got += slot[i].count;
	}
	return waits;
}

static void measure(FIXTURE_DATA(figures) *self, const char *name,
		    receive_fn receive, const struct rnotify_rule *rule,
		    struct figures *f)
{
	double cpu;
	long sw;
	pid_t pid;

	rnt_route(&self->b, self->p.eb, rule, !!rule);
	pid = start_stream(self);
	cpu = cpu_us();
	sw = switches();
	f->wakeups = (double)receive(self) / NR;
	f->switches = (double)(switches() - sw) / NR;
	f->cpu_us = (cpu_us() - cpu) / NR;
	rnt_join(pid);
	printf("# %-28s wake-ups %.4f  switches %.4f  cpu %6.2f us  (each per notification)\n",
	       name, f->wakeups, f->switches, f->cpu_us);
}

TEST_F_TIMEOUT(figures, counter_and_slots_against_events, RNT_TIMEOUT(60))
{
	struct rnotify_rule to_counter = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER,
						  self->x.id);
	struct rnotify_rule to_slots = rnt_rule(0, 0, RNOTIFY_ACTION_SLOTS,
						self->s.id);
	struct figures a, b, c;

	to_slots.slot_bits = 6;
	measure(self, "(a) one event each", by_events, NULL, &a);
	measure(self, "(b) counter, threshold 64", by_counter, &to_counter, &b);
	measure(self, "(c) slots, wait-some", by_slots, &to_slots, &c);
	printf("# (b) / (a): wake-ups 1/%.0f, cpu %.3f\n",
	       a.wakeups / b.wakeups, b.cpu_us / a.cpu_us);
	ASSERT_LE(b.wakeups, a.wakeups / 32);
	ASSERT_LE(b.cpu_us, a.cpu_us / 2);
}

/* Time from the first post until the last is counted. */
static double stream_us(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	__u64 before = rnt_counter_count(&self->x);
	uint64_t start = rnt_now_ns();
	struct rnotify_op ops[32];
	unsigned int sent = 0, accepted;

	while (sent < nr) {
		for (unsigned int i = 0; i < 32; i++)
			ops[i] = rnt_op_notify(self->p.ea, 0x77777777);
		rnt_check_eq(0, rnt_post(&self->a, ops, 32, RNT_PATIENCE_MS,
					 &accepted, NULL));
		sent += accepted;
	}
	rnt_counter_is(&self->b, &self->x, before + sent);
	return (rnt_now_ns() - start) / 1e3 / sent;
}

TEST_F_TIMEOUT(figures, rule_cost, RNT_TIMEOUT(60))
{
	static const unsigned int lists[] = { 1, 8, 64 };
	struct rnotify_rule rules[64];

	for (unsigned int i = 0; i < 64; i++)
		rules[i] = rnt_rule(~0u << i % 8, i << 24, RNOTIFY_ACTION_DROP,
				    0);
	for (unsigned int i = 0; i < ARRAY_SIZE(lists); i++) {
		unsigned int nr = lists[i];
		struct rnotify_rule save = rules[nr - 1];

		/* the last one takes it */
		rules[nr - 1] = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER,
					 self->x.id);
		rnt_route(&self->b, self->p.eb, rules, nr);
		stream_us(self, 320);
		printf("# %2u rules: %.2f us per notification\n", nr,
		       stream_us(self, 3200));
		rules[nr - 1] = save;
	}
}

TEST_HARNESS_MAIN
