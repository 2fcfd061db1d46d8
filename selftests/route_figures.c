// SPDX-License-Identifier: GPL-2.0
/*
 * What counters and slot tables save, and what rules cost. Run it alone for the
 * figures:
 *
 *	rvm run --kernel 6.12 build/selftests/route_figures
 *	rvm run --kernel 6.12 --icount --env RNOTIFY_ICOUNT=1 \
 *		"build/selftests/route_figures -t rule_cost"
 *
 * One and the same stream of notifications is received in three ways:
 *
 *	(a) an event each, asleep in WAIT until there is one
 *	(b) a counter, asleep in COUNTER_WAIT until it is 64 further
 *	(c) a slot table, asleep in SLOTS_TAKE until a slot is dirty
 *
 * and at two paces, both the same for all three:
 *
 * Paced: a window of one, acknowledged by the receiver's kernel and by the
 * receiver. The next notification is sent when ENDPOINT_INFO counts the one
 * before, so that whoever is to be woken is awake, and when the receiver sleeps
 * in its wait again, or still. So an event each costs a sleep and a wake-up
 * each, as in any stream that leaves its receiver time to sleep; and how often
 * the receiver wakes up depends on the way it waits alone, not on which
 * processor the machine's other load slows down. No receiver is ever behind.
 *
 * At full rate: only credit holds the sender back. Whoever is behind finds more
 * than one when it looks, which favours (a) and (c); how many is the machine's
 * affair. Printed, and not judged.
 *
 * Sender and receiver are processes on processors of their own, if there are
 * two. The receiver's thread does nothing but wait and look, so each voluntary
 * context switch is a sleep that a wake-up ended; a wake-up for nothing, after
 * which it sleeps on, counts as well. Processor time is that of this thread,
 * interrupts that hit it included.
 *
 * rvm: limit=60
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"
#include "route_match.h"

#define THRESHOLD	64u
#define NR_SLOTS	64u
#define SLOT_BITS	6

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

/* Whatever number of processors there is. */
static void pin(unsigned int n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(n % cpus, &set);
	rnt_check_eq(0, sched_setaffinity(0, sizeof(set), &set));
}

/*
 * ---- the stream ------------------------------------------------------------
 */

static __u64 arrived(FIXTURE_DATA(figures) *self)
{
	struct rnotify_endpoint_info info;

	rnt_info(&self->b, self->p.eb, &info);
	return info.rx_notify;
}

/* The receiver's kernel has so many, and has woken whom it wakes for them. */
static void await_arrival(FIXTURE_DATA(figures) *self, __u64 nr)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (arrived(self) < nr)
		if (!rnt_left_ms(deadline))
			rnt_fail("%llu notifications of %llu came",
				 (unsigned long long)arrived(self),
				 (unsigned long long)nr);
}

static void send_paced(FIXTURE_DATA(figures) *self, unsigned int nr,
		       pid_t receiver)
{
	__u64 before = arrived(self);

	for (unsigned int i = 0; i < nr; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, i);

		rnt_await_sleep(receiver, SYS_ioctl);
		rnt_post1(&self->a, &op);
		await_arrival(self, before + i + 1);
	}
}

static void send_all(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	struct rnotify_op ops[32];
	unsigned int sent, accepted;

	for (sent = 0; sent < nr; sent += accepted) {
		unsigned int n = nr - sent < 32 ? nr - sent : 32;

		for (unsigned int i = 0; i < n; i++)
			ops[i] = rnt_op_notify(self->p.ea, sent + i);
		rnt_check_eq(0, rnt_post(&self->a, ops, n, RNT_PATIENCE_MS,
					 &accepted, NULL));
	}
}

/*
 * ---- the receivers ---------------------------------------------------------
 */

typedef void (*receive_fn)(FIXTURE_DATA(figures) *self, unsigned int nr);

static void by_events(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	unsigned int got = 0;

	while (got < nr) {
		__u32 n;

		rnt_check_eq(0, rnt_wait(&self->b, 1, -1, 0, &n));
		for (__u32 i = 0; i < n; i++, got++) {
			rnt_check_eq(got, rnt_peek(&self->b)->notify.imm);
			rnt_consume(&self->b, 1);
		}
	}
}

static void by_counter(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	__u64 start = rnt_counter_count(&self->x);

	for (unsigned int n = THRESHOLD; n <= nr; n += THRESHOLD)
		rnt_check_eq(0, rnt_counter_wait(&self->b, &self->x, start + n,
						 -1, NULL));
}

static void by_slots(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	unsigned int got = 0;

	while (got < nr) {
		struct rnotify_slot slot[NR_SLOTS];
		int n = rnt_slots_take(&self->b, &self->s, slot, NR_SLOTS, -1,
				       NULL);

		rnt_check(n > 0);
		for (int i = 0; i < n; i++)
			got += slot[i].count;
	}
	rnt_check_eq(nr, got);
}

/*
 * ---- (a), (b), (c) ---------------------------------------------------------
 */

struct way {
	const char *name;
	receive_fn receive;
	unsigned int action;
};

static const struct way ways[] = {
	{ "(a) an event each", by_events, RNOTIFY_ACTION_EVENT },
	{ "(b) counter, threshold 64", by_counter, RNOTIFY_ACTION_COUNTER },
	{ "(c) slots, wait-some", by_slots, RNOTIFY_ACTION_SLOTS },
};

static struct rnotify_rule rule_of(FIXTURE_DATA(figures) *self,
				   unsigned int action)
{
	struct rnotify_rule rule = rnt_rule(0, 0, action, 0);

	if (action == RNOTIFY_ACTION_COUNTER)
		rule.object_id = self->x.id;
	if (action == RNOTIFY_ACTION_SLOTS) {
		rule.object_id = self->s.id;
		rule.slot_bits = SLOT_BITS;
	}
	return rule;
}

struct figures {
	long wakeups;
	long switches;
	double cpu_us;
};

static double us(const struct timeval *tv)
{
	return tv->tv_sec * 1e6 + tv->tv_usec;
}

static void usage_add(struct figures *f, int sign)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	f->wakeups += sign * usage.ru_nvcsw;
	f->switches += sign * (usage.ru_nvcsw + usage.ru_nivcsw);
	f->cpu_us += sign * (us(&usage.ru_utime) + us(&usage.ru_stime));
}

static void measure(FIXTURE_DATA(figures) *self, const struct way *way,
		    unsigned int nr, bool paced, struct figures *f)
{
	struct rnotify_rule rule = rule_of(self, way->action);
	pid_t receiver = getpid(), pid;

	rnt_route(&self->b, self->p.eb, &rule, 1);
	pid = rnt_fork();
	if (!pid) {
		pin(0);
		rnt_await_sleep(receiver, SYS_ioctl);
		if (paced)
			send_paced(self, nr, receiver);
		else
			send_all(self, nr);
		_exit(0);
	}
	*f = (struct figures){};
	usage_add(f, -1);
	way->receive(self, nr);
	usage_add(f, 1);
	rnt_join(pid);
	printf("# %-26s %8.4f %9.4f %9.2f\n", way->name,
	       (double)f->wakeups / nr, (double)f->switches / nr,
	       f->cpu_us / nr);
}

static void measure_all(FIXTURE_DATA(figures) *self, bool paced,
			unsigned int nr, struct figures *f)
{
	pin(1);
	printf("# %u notifications, %s; for each of them:\n", nr,
	       paced ? "paced" : "at full rate");
	printf("# %-26s %8s %9s %9s\n", "", "wake-ups", "switches", "cpu us");
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++)
		measure(self, &ways[i], nr, paced, &f[i]);
}

/*
 * Processor time of a notification, where few wake anybody: whatever takes the
 * processor away while one is awake counts as much as all the rest. So, the least
 * of many short streams, unless it is @enough before.
 */
static double least_cpu_us(FIXTURE_DATA(figures) *self, const struct way *way,
			   double least, double enough)
{
	struct figures f;

	for (unsigned int i = 0; i < 20 && least > enough; i++) {
		measure(self, way, THRESHOLD, true, &f);
		if (f.cpu_us / THRESHOLD < least)
			least = f.cpu_us / THRESHOLD;
	}
	return least;
}

/* So many thresholds of the counter. */
static unsigned int stream_length(unsigned int thresholds)
{
	return rnt_rounds(thresholds, thresholds) * THRESHOLD;
}

TEST_F_TIMEOUT(figures, counter_and_slots_against_events, RNT_TIMEOUT(60))
{
	struct figures f[ARRAY_SIZE(ways)];
	const struct figures *a = &f[0], *b = &f[1], *c = &f[2];
	unsigned int nr = stream_length(30);
	double cpu_us;

	measure_all(self, true, nr, f);
	cpu_us = least_cpu_us(self, &ways[1], f[1].cpu_us / nr,
			      a->cpu_us / nr / 2);
	printf("# (b) against (a): 1/%.1f of the wake-ups, %.3f of the processor time\n",
	       (double)a->wakeups / b->wakeups, cpu_us * nr / a->cpu_us);
	/* it could sleep for each, and did */
	ASSERT_LE(nr * 9 / 10, a->wakeups);
	ASSERT_LE(nr * 9 / 10, c->wakeups);
	ASSERT_LE(b->wakeups * 32, a->wakeups);
	ASSERT_LE(cpu_us, a->cpu_us / nr / 2);
}

TEST_F_TIMEOUT(figures, at_full_rate, RNT_TIMEOUT(60))
{
	struct figures f[ARRAY_SIZE(ways)];

	measure_all(self, false, stream_length(100), f);
}

/*
 * ---- what rules cost -------------------------------------------------------
 */

static const unsigned int lists[] = { 1, RNOTIFY_RULES_MAX };

/* The last one matches, and only that. */
static void make_rules(struct rnotify_rule *rules, unsigned int nr,
		       __u32 counter)
{
	for (unsigned int i = 0; i < nr - 1; i++)
		rules[i] = rnt_rule(0xff000000, i << 24, RNOTIFY_ACTION_DROP,
				    0);
	rules[nr - 1] = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER, counter);
}

#define IMM	0x77000000u	/* that no other rule has */

/* One by one: from the post of a notification until its waiter is back. */
static double way_ns(FIXTURE_DATA(figures) *self, unsigned int nr)
{
	__u64 before = rnt_counter_count(&self->x);
	uint64_t start = rnt_now_ns();

	for (unsigned int i = 1; i <= nr; i++) {
		struct rnotify_op op = rnt_op_notify(self->p.ea, IMM | i);

		rnt_post1(&self->a, &op);
		rnt_counter_is(&self->b, &self->x, before + i);
	}
	return (double)(rnt_now_ns() - start) / nr;
}

/* The kernel's lookup, compiled once more for user space. */
static double lookup_ns(const struct rnotify_rule *rules, unsigned int nr)
{
	const unsigned int lookups = 20000;
	struct timespec from, to;
	struct rnotify_match m;

	rnotify_match_init(&m);
	for (unsigned int i = 0; i < nr; i++)
		rnotify_match_add(&m, i, rules[i].mask, rules[i].value);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (unsigned int i = 0; i < lookups; i++)
		rnt_check_eq(nr - 1, rnotify_match_find(&m, IMM | i));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) /
	       lookups;
}

#define TRIES	6

static double least(double a, double b)
{
	return a && a < b ? a : b;
}

static double print_ratio(const char *name, const double *ns)
{
	printf("# %-26s %9.1f %9.1f %9.3f\n", name, ns[0], ns[1],
	       ns[1] / ns[0]);
	return ns[1] / ns[0];
}

/*
 * The lookup is the same work for one rule as for 64: whatever hits this
 * thread, the shortest of several tries is not twice as long. Looking at one
 * rule after another would be ten times as much. Of the whole way of a
 * notification the lookup is a small part, which only shows where time counts
 * instructions.
 */
TEST_F_TIMEOUT(figures, rule_cost, RNT_TIMEOUT(60))
{
	double way[ARRAY_SIZE(lists)] = {}, lookup[ARRAY_SIZE(lists)] = {};
	bool icount = getenv("RNOTIFY_ICOUNT");
	unsigned int nr = stream_length(icount ? 40 : 1);

	for (unsigned int i = 0; i < TRIES * ARRAY_SIZE(lists); i++) {
		struct rnotify_rule rules[RNOTIFY_RULES_MAX];
		unsigned int k = i % ARRAY_SIZE(lists);

		make_rules(rules, lists[k], self->x.id);
		rnt_route(&self->b, self->p.eb, rules, lists[k]);
		way[k] = least(way[k], way_ns(self, nr));
		lookup[k] = least(lookup[k], lookup_ns(rules, lists[k]));
	}
	printf("# %-26s %9s %9s %9s\n", "ns, the shortest of 6", "1 rule",
	       "64 rules", "ratio");
	ASSERT_GE(2, print_ratio("lookup", lookup));
	if (icount)
		ASSERT_GE(1.10, print_ratio("way of a notification", way));
}

TEST_HARNESS_MAIN
