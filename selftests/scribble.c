// SPDX-License-Identifier: GPL-2.0
/*
 * A second thread scribbles over the arguments of every command while the kernel
 * reads them, and others use the module beside it (P9, FAULTS 45). What such a
 * process asks for is its own business: nobody else notices, and everything of it
 * is gone when it is killed. RNOTIFY_SEED repeats what was scribbled.
 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "arg.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

#define OPS	8
#define RULES	4
#define SLOTS	16

struct vandal {
	struct rnt_ctx c;
	__u32 endpoint;
	struct rnt_region region;
	struct rnt_counter counter;
	struct rnt_slots slots;
	__u32 watch;
	__u32 generation;
	pthread_t target;
	union arg arg;
	/* what arguments point to */
	struct rnotify_op op[OPS];
	struct rnotify_rule rule[RULES];
	struct rnotify_slot slot[SLOTS];
	unsigned int seed;
	unsigned long *calls;
};

#define COMMAND(nr, type)	{ RNOTIFY_IOCTL_##nr, sizeof(struct rnotify_##type) }

static const struct command {
	unsigned long nr;
	__u32 size;
} commands[] = {
	COMMAND(QUERY, query),
	COMMAND(SETUP, setup),
	COMMAND(REGISTER, register),
	COMMAND(LISTEN, listen),
	COMMAND(CONNECT, connect),
	COMMAND(ACCEPT, accept),
	COMMAND(REJECT, reject),
	COMMAND(SHARE, share),
	COMMAND(POST, post),
	COMMAND(WAIT, wait),
	COMMAND(KICK, kick),
	COMMAND(EVENTFD, eventfd),
	COMMAND(ENDPOINT_INFO, endpoint_info),
	COMMAND(MODERATE, moderate),
	COMMAND(ROUTE, route),
	COMMAND(COUNTER_CREATE, counter_create),
	COMMAND(COUNTER_RESET, counter_reset),
	COMMAND(COUNTER_WAIT, counter_wait),
	COMMAND(COUNTER_WATCH, counter_watch),
	COMMAND(WATCH_ARM, watch_arm),
	COMMAND(SLOTS_CREATE, slots_create),
	COMMAND(SLOTS_TAKE, slots_take),
	COMMAND(GENERATION_CREATE, generation_create),
	COMMAND(GENERATION_SET, generation_set),
};

static __u32 small_or_any(unsigned int *seed)
{
	__u32 x = rand_r(seed);

	/* ids, flags, lengths that may be right are the more dangerous ones */
	return x & 1 ? x >> 1 & 0x1f : x * 2654435761u;
}

/* Another value in one word, now and then a signal for who waits for ever. */
static void *scribble(void *arg)
{
	struct vandal *v = arg;
	unsigned int seed = v->seed + 1;
	const unsigned int words = ARRAY_SIZE(v->arg.word);
	const unsigned int op_words = sizeof(v->op) / 4;
	const unsigned int rule_words = sizeof(v->rule) / 4;

	for (unsigned int n = 0;; n++) {
		__u32 *word = v->arg.word;
		__u32 *op = (__u32 *)v->op;
		__u32 *rule = (__u32 *)v->rule;

		__atomic_store_n(&word[rand_r(&seed) % words],
				 small_or_any(&seed), __ATOMIC_RELAXED);
		__atomic_store_n(&op[rand_r(&seed) % op_words],
				 small_or_any(&seed), __ATOMIC_RELAXED);
		__atomic_store_n(&rule[rand_r(&seed) % rule_words],
				 small_or_any(&seed), __ATOMIC_RELAXED);
		if (n % 4096 == 0)
			pthread_kill(v->target, SIGUSR1);
	}
	return NULL;
}

/* A rule for each kind of object. */
static void make_rules(struct vandal *v)
{
	v->rule[0] = rnt_rule(3, 0, RNOTIFY_ACTION_COUNTER, v->counter.id);
	v->rule[1] = rnt_rule(3, 1, RNOTIFY_ACTION_SLOTS, v->slots.id);
	v->rule[1].slot_bits = 4;
	v->rule[2] = rnt_rule(3, 2, RNOTIFY_ACTION_EVENT, 0);
	v->rule[2].generation_id = v->generation;
	v->rule[2].gen_bits = 8;
	v->rule[3] = rnt_rule(0, 0, RNOTIFY_ACTION_DROP, 0);
}

/* Of the commands of <linux/rnotify_route.h>. */
static void make_route_sense(struct vandal *v, unsigned long nr)
{
	union arg *arg = &v->arg;

	switch (nr) {
	case RNOTIFY_IOCTL_ROUTE:
		make_rules(v);
		arg->route.endpoint_id = v->endpoint;
		arg->route.nr_rules = RULES;
		arg->route.rules = (uintptr_t)v->rule;
		arg->route.rule_size = sizeof(v->rule[0]);
		break;
	case RNOTIFY_IOCTL_COUNTER_RESET:
		arg->counter_reset.counter_id = v->counter.id;
		break;
	case RNOTIFY_IOCTL_COUNTER_WAIT:
		arg->counter_wait.counter_id = v->counter.id;
		break;
	case RNOTIFY_IOCTL_COUNTER_WATCH:
		arg->counter_watch.counter_id = v->counter.id;
		arg->counter_watch.step = 1;
		break;
	case RNOTIFY_IOCTL_WATCH_ARM:
		arg->watch_arm.watch_id = v->watch;
		arg->watch_arm.step = 1;
		break;
	case RNOTIFY_IOCTL_SLOTS_CREATE:
		arg->slots_create.nr_slots = SLOTS;
		break;
	case RNOTIFY_IOCTL_SLOTS_TAKE:
		arg->slots_take.slots_id = v->slots.id;
		arg->slots_take.max = SLOTS;
		arg->slots_take.entries = (uintptr_t)v->slot;
		arg->slots_take.entry_size = sizeof(v->slot[0]);
		break;
	case RNOTIFY_IOCTL_GENERATION_SET:
		arg->generation_set.generation_id = v->generation;
		break;
	}
}

/* Something that would go through if nobody scribbled. */
static void make_sense(struct vandal *v, const struct command *cmd)
{
	memset(&v->arg, 0, sizeof(v->arg));
	v->arg.size = cmd->size;
	switch (cmd->nr) {
	case RNOTIFY_IOCTL_REGISTER:
		v->arg.reg.addr = (uintptr_t)v;
		v->arg.reg.length = sizeof(*v);
		break;
	case RNOTIFY_IOCTL_SHARE:
		v->arg.share.endpoint_id = v->endpoint;
		v->arg.share.region_id = v->region.id;
		v->arg.share.rights = RNOTIFY_RIGHT_READ;
		break;
	case RNOTIFY_IOCTL_POST:
		v->arg.post.ops = (uintptr_t)v->op;
		v->arg.post.nr_ops = OPS;
		v->arg.post.op_size = sizeof(v->op[0]);
		for (int i = 0; i < OPS; i++)
			v->op[i] = rnt_op_notify(v->endpoint, i);
		break;
	case RNOTIFY_IOCTL_WAIT:
		v->arg.wait.min_events = 1;
		break;
	case RNOTIFY_IOCTL_ENDPOINT_INFO:
		v->arg.info.endpoint_id = v->endpoint;
		break;
	default:
		make_route_sense(v, cmd->nr);
	}
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Like everybody: not root, and with little memory to lock. */
static void drop_rights(void)
{
	struct rlimit limit = { 4 * RNT_MIB, 4 * RNT_MIB };

	rnt_check(!setrlimit(RLIMIT_MEMLOCK, &limit));
	rnt_check(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534));
}

/* Never returns. */
static void vandal(__u16 port, unsigned int seed, unsigned long *calls)
{
	static struct vandal v;
	struct sigaction sa = { .sa_handler = on_signal };
	struct rnt_thread thread;

	sigaction(SIGUSR1, &sa, NULL);
	v.seed = seed;
	v.calls = calls;
	v.target = pthread_self();
	rnt_init(&v.c, 4096, 256);
	v.endpoint = rnt_connect(&v.c, rnt_addr4(), port, &params, 0);
	rnt_expect(&v.c, v.endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_region_user(&v.c, &v.region, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	rnt_counter_open(&v.c, &v.counter);
	rnt_slots_open(&v.c, &v.slots, SLOTS, RNOTIFY_SLOTS_EVENT, 0);
	v.watch = rnt_watch(&v.c, &v.counter, 1, 1, 0);
	v.generation = rnt_generation(&v.c, 0);
	/* or a post could wait for ever */
	rnt_check(!fcntl(v.c.fd, F_SETFL, O_NONBLOCK));
	drop_rights();
	rnt_thread_start(&thread, scribble, &v);
	for (;;) {
		const struct command *cmd =
			&commands[rand_r(&v.seed) % ARRAY_SIZE(commands)];

		make_sense(&v, cmd);
		ioctl(v.c.fd, cmd->nr, &v.arg);
		__atomic_fetch_add(calls, 1, __ATOMIC_RELAXED);
		rnt_consume(&v.c, rnt_pending(&v.c));
	}
}

FIXTURE(scribble)
{
	struct rnt_ctx a;	/* of one who does everything right */
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	unsigned long *calls;
	unsigned int seed;
};

FIXTURE_SETUP(scribble)
{
	const char *text = getenv("RNOTIFY_SEED");

	self->seed = text ? strtoul(text, NULL, 0) : rnt_now_ns() / 1000 % 100000;
	printf("# RNOTIFY_SEED=%u\n", self->seed);
	self->calls = mmap(NULL, RNT_PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->calls);
	rnt_base_read(&self->base);
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
}

FIXTURE_TEARDOWN(scribble)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void ping(FIXTURE_DATA(scribble) *self, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, imm);

	rnt_post1(&self->a, &op);
	rnt_expect_imms(&self->b, self->p.eb, imm, 1);
	op = rnt_op_notify(self->p.eb, imm);
	rnt_post1(&self->b, &op);
	rnt_expect_imms(&self->a, self->p.ea, imm, 1);
}

TEST_F_TIMEOUT(scribble, P9_arguments, RNT_TIMEOUT(40))
{
	unsigned int pings = 0;

	for (unsigned int i = 0; i < rnt_count(18) + 1; i++) {
		uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
		unsigned long until = *self->calls + 2000;
		__u32 eb;
		pid_t pid = rnt_fork();

		if (!pid)
			vandal(self->p.port, self->seed + 2 * i, self->calls);
		eb = rnt_request(&self->b, NULL);
		ASSERT_EQ(0, rnt_accept(&self->b, eb, &params, 0));
		while (__atomic_load_n(self->calls, __ATOMIC_RELAXED) < until) {
			struct rnotify_op op = rnt_op_notify(eb, pings);

			ASSERT_NE(0, rnt_left_ms(deadline));
			/* for its rules; no matter whether it takes any */
			rnt_try(&self->b, &op);
			ping(self, pings++);
		}
		/* what it listens on or has asked for goes with it */
		rnt_kill(pid);
		rnt_down(&self->b, eb, RNT_PEER_GONE, NULL);
		rnt_destroy(&self->b, eb);
	}
	printf("# %lu calls, %u pings beside them\n", *self->calls, pings);
}

TEST_HARNESS_MAIN
