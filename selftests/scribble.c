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
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

union arg {
	__u32 size;
	struct rnotify_query query;
	struct rnotify_setup setup;
	struct rnotify_register reg;
	struct rnotify_listen listen;
	struct rnotify_connect connect;
	struct rnotify_accept accept;
	struct rnotify_reject reject;
	struct rnotify_disconnect disconnect;
	struct rnotify_destroy destroy;
	struct rnotify_share share;
	struct rnotify_post post;
	struct rnotify_wait wait;
	struct rnotify_kick kick;
	struct rnotify_eventfd eventfd;
	struct rnotify_endpoint_info info;
	struct rnotify_moderate moderate;
	__u32 word[64];
};

#define OPS	8

struct vandal {
	struct rnt_ctx c;
	__u32 endpoint;
	pthread_t target;
	union arg arg;
	struct rnotify_op op[OPS];
	unsigned int seed;
	unsigned long *calls;
};

static const struct command {
	unsigned long nr;
	__u32 size;
} commands[] = {
	{ RNOTIFY_IOCTL_QUERY, sizeof(struct rnotify_query) },
	{ RNOTIFY_IOCTL_SETUP, sizeof(struct rnotify_setup) },
	{ RNOTIFY_IOCTL_REGISTER, sizeof(struct rnotify_register) },
	{ RNOTIFY_IOCTL_LISTEN, sizeof(struct rnotify_listen) },
	{ RNOTIFY_IOCTL_CONNECT, sizeof(struct rnotify_connect) },
	{ RNOTIFY_IOCTL_ACCEPT, sizeof(struct rnotify_accept) },
	{ RNOTIFY_IOCTL_REJECT, sizeof(struct rnotify_reject) },
	{ RNOTIFY_IOCTL_SHARE, sizeof(struct rnotify_share) },
	{ RNOTIFY_IOCTL_POST, sizeof(struct rnotify_post) },
	{ RNOTIFY_IOCTL_WAIT, sizeof(struct rnotify_wait) },
	{ RNOTIFY_IOCTL_KICK, sizeof(struct rnotify_kick) },
	{ RNOTIFY_IOCTL_EVENTFD, sizeof(struct rnotify_eventfd) },
	{ RNOTIFY_IOCTL_ENDPOINT_INFO, sizeof(struct rnotify_endpoint_info) },
	{ RNOTIFY_IOCTL_MODERATE, sizeof(struct rnotify_moderate) },
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
	const unsigned int words = sizeof(v->arg) / 4;
	const unsigned int op_words = sizeof(v->op) / 4;

	for (unsigned int n = 0;; n++) {
		__u32 *word = v->arg.word;
		__u32 *op = (__u32 *)v->op;

		__atomic_store_n(&word[rand_r(&seed) % words],
				 small_or_any(&seed), __ATOMIC_RELAXED);
		__atomic_store_n(&op[rand_r(&seed) % op_words],
				 small_or_any(&seed), __ATOMIC_RELAXED);
		if (n % 4096 == 0)
			pthread_kill(v->target, SIGUSR1);
	}
	return NULL;
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
		v->arg.share.region_id = 3;
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
			ASSERT_NE(0, rnt_left_ms(deadline));
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
