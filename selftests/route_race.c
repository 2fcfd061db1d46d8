// SPDX-License-Identifier: GPL-2.0
/*
 * Reset and read-and-clear against arrivals at full rate from several endpoints:
 * the sum of what was read is exactly what was sent. 10^6 notifications in the
 * long run, 2 * 10^4 (less on slow kernels) in the short one.
 *
 * rvm: limit=900
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define SENDERS		3
#define NR_SLOTS	64

FIXTURE(race)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p[SENDERS];
	unsigned int per_sender;
	pid_t pid[SENDERS];
	int gate[2];	/* closed: some was read, and the second half may go */
};

static unsigned int how_many(void)
{
	const char *slow = getenv("RNOTIFY_KERNEL");

	if (getenv("RNOTIFY_LONG") && !(slow && slow[0] == 'd'))
		return 1000000;
	return slow && slow[0] == 'd' ? 3000 : 20000;
}

FIXTURE_SETUP(race)
{
	/* The race wants all processors: soft-RoCE may have to wait for one. */
	static const struct rnotify_params patient = { .keepalive_ms = 60000 };

	rnt_init(&self->a, 2048, 0);
	rnt_init(&self->b, 2048, 0);
	rnt_pair_open(&self->p[0], &self->a, &self->b, &patient, &patient);
	for (int i = 1; i < SENDERS; i++)
		rnt_more(&self->p[0], &self->p[i], &patient, &patient);
	self->per_sender = (how_many() + SENDERS - 1) / SENDERS;
}

FIXTURE_TEARDOWN(race)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* In a sender. At once when it is open already. */
static void await_gate(FIXTURE_DATA(race) *self)
{
	char c;

	rnt_check_eq(0, read(self->gate[0], &c, 1));
}

static void open_gate(FIXTURE_DATA(race) *self)
{
	if (self->gate[1] >= 0)
		close(self->gate[1]);
	self->gate[1] = -1;
}

static void send_all(FIXTURE_DATA(race) *self, const struct rnt_pair *p)
{
	struct rnotify_op ops[32];
	unsigned int sent = 0, accepted;

	while (sent < self->per_sender) {
		unsigned int n = self->per_sender - sent;

		if (sent >= self->per_sender / 2)
			await_gate(self);
		if (n > 32)
			n = 32;
		for (unsigned int i = 0; i < n; i++)
			ops[i] = rnt_op_notify(p->ea, (sent + i) * 7);
		rnt_check_eq(0, rnt_post(&self->a, ops, n, RNT_PATIENCE_MS,
					 &accepted, NULL));
		sent += accepted;
	}
}

static void start_senders(FIXTURE_DATA(race) *self,
			  const struct rnotify_rule *rule)
{
	for (int i = 0; i < SENDERS; i++)
		rnt_route(&self->b, self->p[i].eb, rule, 1);
	rnt_check(!pipe(self->gate));
	for (int i = 0; i < SENDERS; i++) {
		self->pid[i] = rnt_fork();
		if (!self->pid[i]) {
			open_gate(self);	/* its copy */
			send_all(self, &self->p[i]);
			_exit(0);
		}
	}
}

static bool ended(pid_t pid)
{
	int status;
	pid_t got = waitpid(pid, &status, WNOHANG);

	rnt_check(got >= 0);
	if (got)
		rnt_check(WIFEXITED(status) && !WEXITSTATUS(status));
	return got;
}

/* Senders have as much time as they need; a dead one fails the test. */
static bool senders_done(FIXTURE_DATA(race) *self)
{
	bool done = true;

	for (int i = 0; i < SENDERS; i++) {
		if (self->pid[i] && ended(self->pid[i]))
			self->pid[i] = 0;
		done &= !self->pid[i];
	}
	return done;
}

TEST_F_TIMEOUT(race, reset_loses_nothing, RNT_TIMEOUT(280))
{
	const __u64 total = (__u64)self->per_sender * SENDERS;
	struct rnotify_counter_reset reset;
	struct rnotify_rule rule;
	struct rnt_counter x;
	unsigned int resets = 0;
	__u64 sum = 0;

	rnt_counter_open(&self->b, &x);
	rule = rnt_rule(0, 0, RNOTIFY_ACTION_COUNTER, x.id);
	start_senders(self, &rule);
	do {
		rnt_counter_reset(&self->b, &x, &reset);
		sum += reset.count;
		resets++;
		if (sum)
			open_gate(self);
		/* two CPUs: let the others have some of them */
		sched_yield();
	} while (!senders_done(self));
	for (int i = 0; i < SENDERS; i++)
		rnt_settle(&self->p[i], true);
	rnt_counter_reset(&self->b, &x, &reset);
	ASSERT_EQ(total, sum + reset.count);
	TH_LOG("%llu notifications, %u resets", (unsigned long long)total,
	       resets);
}

TEST_F_TIMEOUT(race, read_and_clear_loses_nothing, RNT_TIMEOUT(280))
{
	const __u64 total = (__u64)self->per_sender * SENDERS;
	struct rnotify_slot got[NR_SLOTS];
	unsigned int taken = 0;
	struct rnotify_rule rule;
	__u64 sum[NR_SLOTS] = {}, all = 0;
	struct rnt_slots s;
	int n;

	rnt_slots_open(&self->b, &s, NR_SLOTS, 0, 0);
	rule = rnt_rule(0, 0, RNOTIFY_ACTION_SLOTS, s.id);
	rule.slot_bits = 6;
	start_senders(self, &rule);
	for (bool last = false;; last |= senders_done(self)) {
		if (last)
			for (int i = 0; i < SENDERS; i++)
				rnt_settle(&self->p[i], true);
		n = rnt_slots_take(&self->b, &s, got, NR_SLOTS, 0, NULL);
		if (n == -ETIME && last)
			break;
		ASSERT_TRUE(n > 0 || n == -ETIME);
		for (int i = 0; i < n; i++) {
			ASSERT_EQ(got[i].index, got[i].last_imm % NR_SLOTS);
			ASSERT_LE(got[i].first_ns, got[i].last_ns);
			ASSERT_NE(0, got[i].count);
			sum[got[i].index] += got[i].count;
			all += got[i].count;
			taken++;
		}
		if (all)
			open_gate(self);
		sched_yield();
	}
	ASSERT_EQ(total, all);
	ASSERT_EQ(total, s.head->total);
	/* and each slot has its own */
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		__u64 mine = 0;

		for (unsigned int k = 0; k < self->per_sender; k++)
			mine += k * 7 % NR_SLOTS == i;
		ASSERT_EQ(mine * SENDERS, sum[i]);
	}
	TH_LOG("%llu notifications, %u slots taken", (unsigned long long)total,
	       taken);
}

TEST_HARNESS_MAIN
