// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of a full stream of writes is killed, and others get its pages
 * (P4, FAULTS 20). They look at each byte of memory that the kernel gives them,
 * and whether it stays as they leave it: a write that came late would show. 200
 * times with RNOTIFY_LONG, else 10.
 *
 * rvm: limit=300 debug_long=1
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define ROUNDS		10
#define ROUNDS_LONG	200
#define TARGET		(4 * RNT_MIB)	/* what the victim shares */
#define WRITE		(64 * RNT_KIB)
#define FRESH		(2 * RNT_MIB)	/* what a checker takes at a time */
#define HELD		4		/* so many of them it holds */
#define FOREIGN		0xe7		/* no byte but the stream's */
#define OWN		0x5a

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

/* Shared with the checkers. */
struct watch {
	unsigned long checked;		/* pieces of FRESH bytes */
	unsigned long foreign;		/* bytes that were not as they should be */
};

FIXTURE(kill)
{
	struct rnt_base base;
	struct rnt_ctx a;		/* the sender */
	struct rnt_region src;
	struct watch *watch;
	pid_t checker[2];
	pid_t victim;
	__u16 port;
	__u32 endpoint;
	__u32 remote;
};

/*
 * ---- who gets the pages ----------------------------------------------------
 */

static void report(struct watch *w, const char *what, long at)
{
	fprintf(stderr, "# a byte %s at %#lx\n", what, at);
	__atomic_fetch_add(&w->foreign, 1, __ATOMIC_RELAXED);
}

static char *take_fresh(struct watch *w)
{
	char *p = mmap(NULL, FRESH, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		       MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	long at;

	rnt_check(p != MAP_FAILED);
	at = rnt_diff_byte(p, FRESH, 0);
	if (at >= 0)
		report(w, "of fresh memory is not 0", at);
	memset(p, OWN, FRESH);
	return p;
}

static void give_back(struct watch *w, char *p)
{
	long at = rnt_diff_byte(p, FRESH, OWN);

	if (at >= 0)
		report(w, "of own memory changed", at);
	munmap(p, FRESH);
	__atomic_fetch_add(&w->checked, 1, __ATOMIC_RELAXED);
}

/* On a CPU of its own: what was freed there is what it is given first. */
static void checker(struct watch *w, unsigned int cpu)
{
	char *held[HELD] = { NULL };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (unsigned int i = 0;; i = (i + 1) % HELD) {
		if (held[i])
			give_back(w, held[i]);
		held[i] = take_fresh(w);
	}
}

/*
 * ---- who is killed ---------------------------------------------------------
 */

static void victim(__u16 port)
{
	struct rnotify_event ev;
	struct rnt_region dst;
	struct rnt_ctx c;
	__u32 id;

	rnt_init(&c, 2048, 0);
	rnt_region_user(&c, &dst, rnt_anon(TARGET), TARGET, 0);
	id = rnt_connect(&c, rnt_addr4(), port, &params, 0);
	rnt_expect(&c, id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_share(&c, id, dst.id, 0, 0, RNOTIFY_RIGHT_WRITE, 0);
	for (;;)
		rnt_take(&c, 0, &ev, 100);
}

FIXTURE_SETUP(kill)
{
	self->watch = mmap(NULL, RNT_PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->watch);
	rnt_base_read(&self->base);
	for (int i = 0; i < 2; i++) {
		self->checker[i] = rnt_fork();
		if (!self->checker[i])
			checker(self->watch, i);
	}
	rnt_init(&self->a, 2048, 0);
	rnt_region_user(&self->a, &self->src, rnt_anon(WRITE), WRITE, 0);
	memset(self->src.p, FOREIGN, WRITE);
	rnt_listen(&self->a, rnt_addr4(), &self->port, 8);
}

FIXTURE_TEARDOWN(kill)
{
	rnt_close(&self->a);
	for (int i = 0; i < 2; i++)
		rnt_kill(self->checker[i]);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* As many writes as go: all over the target, with a notification now and then. */
static void *stream(void *arg)
{
	FIXTURE_DATA(kill) *self = arg;
	struct rnotify_op op[16];
	unsigned int n = 0;
	int ret;

	do {
		for (unsigned int i = 0; i < 16; i++, n++)
			op[i] = rnt_op_rw(i ? RNOTIFY_OP_WRITE :
					  RNOTIFY_OP_WRITE_IMM, self->endpoint,
					  self->src.id, 0, self->remote,
					  n * WRITE % TARGET, WRITE);
		ret = rnt_post(&self->a, op, 16, -1, NULL, NULL);
	} while (!ret);
	rnt_check(ret == -ESHUTDOWN);
	return NULL;
}

static void start_victim(FIXTURE_DATA(kill) *self)
{
	struct rnotify_event ev;

	self->victim = rnt_fork();
	if (!self->victim)
		victim(self->port);
	self->endpoint = rnt_request(&self->a, NULL);
	rnt_check_eq(0, rnt_accept(&self->a, self->endpoint, &params, 0));
	rnt_check(rnt_take_type(&self->a, self->endpoint,
				RNOTIFY_EVENT_REMOTE_REGION, &ev,
				RNT_PATIENCE_MS));
	self->remote = ev.region.remote_id;
}

static unsigned long checked(FIXTURE_DATA(kill) *self)
{
	return __atomic_load_n(&self->watch->checked, __ATOMIC_RELAXED);
}

/* The checkers have been through what they held, and through as much again. */
static void await_checked(FIXTURE_DATA(kill) *self, unsigned long more)
{
	unsigned long from = checked(self);
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (checked(self) < from + more) {
		if (!rnt_left_ms(deadline))
			rnt_fail("the checkers do not get on");
		rnt_sleep_us(500);
	}
}

static void await_stream(FIXTURE_DATA(kill) *self, unsigned int i)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_endpoint_info info;

	do {
		rnt_check(rnt_left_ms(deadline));
		rnt_sleep_us(i * 7919 % 5000);
		rnt_info(&self->a, self->endpoint, &info);
	} while (info.tx_confirmed < 2);
}

static unsigned int rounds(void)
{
	return getenv("RNOTIFY_LONG") ? ROUNDS_LONG : ROUNDS;
}

TEST_F_TIMEOUT(kill, P4_no_late_write, RNT_TIMEOUT(280))
{
	for (unsigned int i = 0; i < rounds(); i++) {
		struct rnt_thread thread;

		start_victim(self);
		rnt_thread_start(&thread, stream, self);
		await_stream(self, i);
		rnt_kill(self->victim);
		await_checked(self, 2 * HELD);
		rnt_thread_join(&thread);
		rnt_down(&self->a, self->endpoint, RNT_PEER_GONE, NULL);
		rnt_destroy(&self->a, self->endpoint);
		ASSERT_EQ(0, self->watch->foreign)
			TH_LOG("round %u", i);
	}
}

TEST_HARNESS_MAIN
