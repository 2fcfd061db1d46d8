// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA device is removed 200 times at random moments, while processes
 * connect, share, write, deregister and disconnect all the time, and one looks at
 * all that the kernel shows of them (P10, FAULTS 27, 29, 36). RNOTIFY_SEED repeats
 * a run's moments.
 *
 * rvm: long=1 limit=300
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define REMOVALS	200
#define CLIENTS		3
#define SPAN		(256 * RNT_KIB)

/* What the clients have done: in memory that all processes share. */
struct tally {
	unsigned long connected;
	unsigned long notified;
	unsigned long removed;		/* connections that it ended */
};

FIXTURE(load)
{
	struct rnt_base base;
	struct rnt_ctx c;		/* the server */
	struct rnt_region dst;
	__u16 port;
	struct tally *tally;
	pid_t client[CLIENTS];
	pid_t reader;
};

FIXTURE_SETUP(load)
{
	/* a test that failed may have left none */
	if (!rnt_link_is_there())
		rnt_link_add();
	rnt_base_read(&self->base);
	self->tally = mmap(NULL, RNT_PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->tally);
}

FIXTURE_TEARDOWN(load)
{
	if (!rnt_link_is_there())
		rnt_link_add();
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void count(unsigned long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static unsigned long counted(const unsigned long *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

/*
 * ---- a client --------------------------------------------------------------
 */

struct client {
	struct rnt_ctx c;
	struct rnt_region src;
	struct tally *tally;
	__u16 port;
	__u32 endpoint;
	__u32 remote;
	bool up;
	bool down;
};

/* Takes in what there is; an endpoint that began has an end, always. */
static bool client_event(struct client *cl, unsigned int ms)
{
	struct rnotify_event ev;

	if (!rnt_take(&cl->c, cl->endpoint, &ev, ms))
		return false;
	if (ev.type == RNOTIFY_EVENT_ESTABLISHED) {
		cl->up = true;
		count(&cl->tally->connected);
	} else if (ev.type == RNOTIFY_EVENT_REMOTE_REGION) {
		cl->remote = ev.region.remote_id;
	} else if (ev.type == RNOTIFY_EVENT_DISCONNECTED) {
		cl->down = true;
		if (cl->up && ev.down.reason == RNOTIFY_REASON_DEVICE_REMOVED)
			count(&cl->tally->removed);
	}
	return true;
}

static void client_post(struct client *cl, unsigned int n)
{
	static const __u16 opcode[] = {
		RNOTIFY_OP_WRITE_IMM, RNOTIFY_OP_READ, RNOTIFY_OP_WRITE,
	};
	struct rnotify_op op[8];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		op[i] = rnt_op_rw(opcode[(n + i) % 3], cl->endpoint, cl->src.id,
				  0, cl->remote, 0, (n + i) % 16 * RNT_PAGE + 1);
		op[i].flags = n % 2 ? RNOTIFY_OP_F_SIGNALED : 0;
	}
	/* in either way to wait for credit */
	rnt_post(&cl->c, op, 8, n % 3 ? 0 : 50, NULL, NULL);
}

/* A share of its own, and a region that ends in the middle of its use. */
static void client_share(struct client *cl)
{
	struct rnotify_share share = {
		.endpoint_id = cl->endpoint, .rights = RNOTIFY_RIGHT_READ,
	};
	struct rnotify_register reg;
	struct rnotify_op op;

	rnt_check_eq(0, rnt_register(&cl->c, &reg, cl->src.p, SPAN, 0));
	share.region_id = reg.region_id;
	rnt_share_err(&cl->c, &share);
	op = rnt_op_rw(RNOTIFY_OP_WRITE, cl->endpoint, reg.region_id, 0,
		       cl->remote, 0, SPAN);
	rnt_try(&cl->c, &op);
	rnt_check_eq(0, rnt_destroy_err(&cl->c, reg.region_id));
}

static void client_round(struct client *cl, unsigned int n)
{
	struct rnotify_connect arg = { .params.connect_timeout_ms = 5000 };

	cl->up = false;
	cl->down = false;
	cl->remote = 0;
	rnt_check_eq(0, rnt_connect_err(&cl->c, &arg, rnt_addr4(), cl->port));
	cl->endpoint = arg.endpoint_id;
	while (!cl->remote && !cl->down)
		rnt_check(client_event(cl, RNT_PATIENCE_MS));
	for (unsigned int i = 0; i < 20 && !cl->down; i++) {
		client_post(cl, n + i);
		if (i % 8 == 7)
			client_share(cl);
		while (client_event(cl, 0))
			;
	}
	if (n % 2)
		rnt_check_eq(0, rnt_disconnect(&cl->c, cl->endpoint));
	else
		rnt_check_eq(0, rnt_destroy_err(&cl->c, cl->endpoint));
	while (!cl->down)
		rnt_check(client_event(cl, RNT_PATIENCE_MS));
	if (n % 2)
		rnt_check_eq(0, rnt_destroy_err(&cl->c, cl->endpoint));
	/* while there is no device, others shall get on with that */
	if (!cl->up)
		rnt_sleep_us(1000);
}

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/* Never returns. */
static void client_run(__u16 port, struct tally *tally)
{
	struct client cl = { .port = port, .tally = tally };

	signal(SIGTERM, on_term);
	rnt_init(&cl.c, 1024, 0);
	rnt_region_user(&cl.c, &cl.src, rnt_anon(SPAN), SPAN, 0);
	for (unsigned int n = 0; !stop; n++)
		client_round(&cl, n);
	rnt_close(&cl.c);
	_exit(0);
}

/* Never returns. What is not there at the moment is no error. */
static void reader_run(void)
{
	while (!system("exec >/dev/null 2>&1; cd /sys/class/infiniband; "
		       "cat */node_guid */ports/*/state */ports/*/hw_counters/* "
		       "/proc/[0-9]*/maps /proc/[0-9]*/fdinfo/*; "
		       "for i in pd cq qp cm_id mr; do rdma resource show $i; "
		       "done; rdma link show; true"))
		;
	abort();
}

/*
 * ---- the server ------------------------------------------------------------
 */

static void serve(FIXTURE_DATA(load) *self, const struct rnotify_event *ev)
{
	struct rnotify_share share = {
		.endpoint_id = ev->endpoint,
		.region_id = self->dst.id,
		.rights = RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ,
	};

	switch (ev->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		rnt_accept(&self->c, ev->endpoint, NULL, 0);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		rnt_share_err(&self->c, &share);
		break;
	case RNOTIFY_EVENT_NOTIFY:
		count(&self->tally->notified);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		rnt_destroy(&self->c, ev->endpoint);
		break;
	}
}

static void *server(void *arg)
{
	FIXTURE_DATA(load) *self = arg;
	struct rnotify_event ev;

	while (!stop) {
		if (rnt_take(&self->c, 0, &ev, 20))
			serve(self, &ev);
	}
	return NULL;
}

static void start_clients(FIXTURE_DATA(load) *self)
{
	for (int i = 0; i < CLIENTS; i++) {
		self->client[i] = rnt_fork();
		if (!self->client[i])
			client_run(self->port, self->tally);
	}
}

/* At first the connection of each client; or else only connecting is removed. */
static void await_progress(FIXTURE_DATA(load) *self, unsigned long connected)
{
	uint64_t deadline = rnt_deadline(3 * RNT_PATIENCE_MS);

	while (counted(&self->tally->connected) < connected) {
		if (!rnt_left_ms(deadline))
			rnt_fail("nobody connects any more");
		rnt_sleep_us(500);
	}
}

static unsigned int seed(void)
{
	const char *text = getenv("RNOTIFY_SEED");
	unsigned int value = rnt_now_ns() / 1000;

	if (text)
		value = strtoul(text, NULL, 0);
	printf("# RNOTIFY_SEED=%u\n", value);
	return value;
}

TEST_F_TIMEOUT(load, P10_random_removals, RNT_TIMEOUT(280))
{
	struct tally *t = self->tally;
	struct rnt_thread thread;

	srand(seed());
	rnt_init(&self->c, 4096, 0);
	rnt_region_user(&self->c, &self->dst, rnt_anon(SPAN), SPAN, 0);
	rnt_listen(&self->c, "0.0.0.0", &self->port, 16);
	start_clients(self);
	self->reader = rnt_fork();
	if (!self->reader)
		reader_run();
	rnt_thread_start(&thread, server, self);
	for (unsigned int i = 0; i < REMOVALS; i++) {
		await_progress(self, counted(&t->connected) + rand() % 3);
		rnt_sleep_us(rand() % 20000);
		rnt_link_delete();
		rnt_sleep_us(rand() % 5000);
		rnt_link_add();
	}
	await_progress(self, counted(&t->connected) + CLIENTS);
	for (int i = 0; i < CLIENTS; i++) {
		ASSERT_EQ(0, kill(self->client[i], SIGTERM));
		rnt_join(self->client[i]);
	}
	rnt_kill(self->reader);
	stop = 1;
	rnt_thread_join(&thread);
	rnt_close(&self->c);
	printf("# %lu connections, %lu ended by a removal, %lu notifications\n",
	       counted(&t->connected), counted(&t->removed),
	       counted(&t->notified));
	ASSERT_LT(REMOVALS / 4, counted(&t->removed));
	ASSERT_LT(REMOVALS, counted(&t->notified));
}

TEST_HARNESS_MAIN
