// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of connections in each state when the peer dies (P7, FAULTS 32 to
 * 34); run by dead_peer.sh and dead_peer_matrix.sh.
 *
 *	dead_peer serve
 *		The peer that will die: serves until SIGTERM, and says how long its
 *		own end took.
 *
 *	dead_peer drive PEER KEEPALIVE_MS FAULT COMMAND...
 *		One connection in each state, each with a thread and a context of
 *		its own; then COMMAND, which lets the fault happen. Prints for each
 *		state, in ms since then, when DISCONNECTED was written, and how long
 *		the calls took that end things. Exit status 1: a bound was exceeded.
 *
 * FAULT is a name for the output. "killed" tells that the peer's kernel lives and
 * says so.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rnt.h"

#define PORT	7480
#define LEN	65536u
#define BLOCK	4096u
#define DEPTH	16u

enum state {
	IDLE,
	SENDING,
	RECEIVING,
	CONNECTING,
	CLOSING,
	DEREGISTERING,
	STATES,
};

static const char * const names[STATES] = {
	"idle", "sending", "receiving", "connecting", "closing",
	"deregistering",
};

/* Endpoints whose peer lends memory to the driver, and the other way round. */
static bool borrows(enum state s)
{
	return s == SENDING || s == CLOSING;
}

static bool lends(enum state s)
{
	return s == RECEIVING || s == DEREGISTERING;
}

static double since(uint64_t ns)
{
	return ((double)rnt_now_ns() - (double)ns) / 1e6;
}

/* A loaded machine without hardware virtualisation. */
static double slack_ms(void)
{
	return 2000 * rnt_slow();
}

/*
 * ---- the side that dies ----------------------------------------------
 */

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/**
 * struct served - a connection of the driver's
 * @state: from its private data
 * @remote: what the driver lends
 * @down: it has ended
 */
struct served {
	enum state state;
	__u32 remote;
	bool down;
};

#define SERVED_MAX	1024

/**
 * struct server - all of it
 * @idle: established endpoint of the idle connection, or 0
 * @asked: the request came that is never answered
 * @ep: by id
 */
struct server {
	struct rnt_ctx c;
	struct rnt_region mem;
	__u32 idle;
	bool asked;
	struct served ep[SERVED_MAX];
};

/* The driver waits for the request to be here; either may come first. */
static void tell_asked(struct server *s)
{
	struct rnotify_op op = rnt_op_notify(s->idle, 1);

	if (!s->idle || !s->asked)
		return;
	s->asked = false;
	rnt_try(&s->c, &op);
}

/* The driver may have given it up again, when its machine is slow. */
static void lend(struct server *s, __u32 endpoint)
{
	struct rnotify_share share = {
		.endpoint_id = endpoint,
		.region_id = s->mem.id,
		.length = LEN,
		.rights = RNOTIFY_RIGHT_WRITE,
	};
	int ret = rnt_share_err(&s->c, &share);

	rnt_check(ret == 0 || ret == -ENOTCONN || ret == -ESHUTDOWN);
}

static void served_event(struct server *s, const struct rnotify_event *ev)
{
	struct served *ep;

	rnt_check(ev->endpoint < SERVED_MAX);
	ep = &s->ep[ev->endpoint];
	switch (ev->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		*ep = (struct served){ .state = ev->request.private_data[0] };
		if (ep->state == CONNECTING)
			s->asked = true;
		else
			rnt_accept(&s->c, ev->endpoint, NULL, 0);
		tell_asked(s);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		if (ep->state == IDLE)
			s->idle = ev->endpoint;
		tell_asked(s);
		if (borrows(ep->state))
			lend(s, ev->endpoint);
		break;
	case RNOTIFY_EVENT_REMOTE_REGION:
		ep->remote = ev->region.remote_id;
		break;
	case RNOTIFY_EVENT_REMOTE_REGION_GONE:
		ep->remote = 0;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		ep->down = true;
		ep->remote = 0;
		if (s->idle == ev->endpoint)
			s->idle = 0;
		printf("# served %s: reason %u error %d\n", names[ep->state],
		       ev->down.reason, ev->down.error);
		rnt_destroy(&s->c, ev->endpoint);
		break;
	}
}

/* Into what is lent, as fast as the driver reads. */
static void served_stream(struct server *s)
{
	for (__u32 i = 0; i < SERVED_MAX; i++) {
		struct rnotify_op op;

		if (!s->ep[i].remote)
			continue;
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, i, s->mem.id, 0,
			       s->ep[i].remote, 0, BLOCK);
		while (rnt_try(&s->c, &op) == 0)
			;
	}
}

static int serve(void)
{
	static struct server s;
	struct rnotify_event ev;
	__u16 port = PORT;
	uint64_t start;

	signal(SIGTERM, on_term);
	rnt_init(&s.c, 8192, 0);
	rnt_region_alloc(&s.c, &s.mem, LEN);
	rnt_listen(&s.c, "0.0.0.0", &port, 16);
	printf("# serving\n");
	fflush(stdout);
	while (!stop) {
		served_stream(&s);
		if (rnt_take(&s.c, 0, &ev, 20 / rnt_slow()))
			served_event(&s, &ev);
	}
	start = rnt_now_ns();
	rnt_close(&s.c);
	printf("# the served side closed in %.0f ms\n", since(start));
	return since(start) > 1000 + slack_ms();
}

/*
 * ---- the side that finds out -----------------------------------------
 */

static const char *peer;
static unsigned int keepalive;
static bool peer_tells;			/* its kernel lives */
static pthread_barrier_t ready, started;
static uint64_t fault_ns;
static int fault_over;

/**
 * struct driven - a connection, and what became of it
 * @down: as in DISCONNECTED
 * @event_ms: when it was written, since the fault
 * @dereg_ms: how long DESTROY of the region took
 * @destroy_ms: and of the endpoint
 * @close_ms: and close of the file
 */
struct driven {
	enum state state;
	struct rnt_thread thread;
	struct rnt_ctx c;
	struct rnt_region mem;
	__u32 ep;
	__u32 remote;
	unsigned int accepted;
	unsigned int outcomes;
	unsigned int confirmed;
	struct rnotify_event_down down;
	double event_ms;
	double dereg_ms;
	double destroy_ms;
	double close_ms;
};

/* Before the fault only the machine can be slow; who is told has time. */
static unsigned int connect_ms(const struct driven *d)
{
	unsigned int slow = 1000 * rnt_slow();

	if (d->state != CONNECTING)
		return keepalive > slow ? keepalive : slow;
	return peer_tells ? 60000 : keepalive;
}

static __u32 dial(struct driven *d)
{
	const __u8 state = d->state;
	struct rnotify_connect con = {
		.params = {
			.send_depth = DEPTH,
			.recv_depth = DEPTH,
			.keepalive_ms = keepalive,
			.connect_timeout_ms = connect_ms(d),
		},
		.private_ptr = (uintptr_t)&state,
		.private_len = 1,
	};

	rnt_check_eq(0, rnt_connect_err(&d->c, &con, peer, PORT));
	return con.endpoint_id;
}

/* Addresses and links come back after a former fault: several tries. */
static void dial_until_established(struct driven *d)
{
	uint64_t deadline = rnt_deadline(2 * RNT_PATIENCE_MS);
	struct rnotify_event ev;

	for (;;) {
		d->ep = dial(d);
		rnt_check(rnt_take(&d->c, d->ep, &ev, RNT_PATIENCE_MS));
		if (ev.type == RNOTIFY_EVENT_ESTABLISHED)
			return;
		rnt_check_eq(RNOTIFY_EVENT_DISCONNECTED, ev.type);
		if (!rnt_left_ms(deadline))
			rnt_fail("%s: no connection: reason %u stage %u error %d",
				 names[d->state], ev.down.reason,
				 ev.down.stage, ev.down.error);
		rnt_destroy(&d->c, d->ep);
		rnt_sleep_us(50000);
	}
}

/* As many as there is credit and room for. */
static void stream(struct driven *d)
{
	struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, d->ep, d->mem.id,
					 0, d->remote, 0, BLOCK);

	op.flags = RNOTIFY_OP_F_SIGNALED;
	while (rnt_try(&d->c, &op) == 0)
		d->accepted++;
}

static bool handle(struct driven *d, const struct rnotify_event *ev)
{
	switch (ev->type) {
	case RNOTIFY_EVENT_TX_DONE:
		d->outcomes++;
		d->confirmed += !ev->tx.error;
		break;
	case RNOTIFY_EVENT_REMOTE_REGION:
		d->remote = ev->region.remote_id;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		d->down = ev->down;
		d->event_ms = ((double)ev->time_ns - (double)fault_ns) / 1e6;
		return true;
	}
	return false;
}

/* One look at the ring. Return: true after DISCONNECTED. */
static bool step(struct driven *d, unsigned int ms)
{
	struct rnotify_event ev;

	if (d->remote && !d->down.reason)
		stream(d);
	return rnt_take(&d->c, d->ep, &ev, ms) && handle(d, &ev);
}

/* Established, and traffic as the state wants it; then until the fault. */
static void before(struct driven *d)
{
	struct rnotify_event ev;

	rnt_init(&d->c, 512, 0);
	rnt_region_alloc(&d->c, &d->mem, LEN);
	if (d->state == CONNECTING) {
		pthread_barrier_wait(&started);
		d->ep = dial(d);
	} else {
		dial_until_established(d);
		if (lends(d->state))
			rnt_share(&d->c, d->ep, d->mem.id, 0, LEN,
				  RNOTIFY_RIGHT_WRITE, 0);
		while (borrows(d->state) && d->confirmed < 2 * DEPTH)
			rnt_check(!step(d, 10));
		if (lends(d->state))
			for (unsigned int i = 0; i < 2 * DEPTH; i++)
				rnt_expect(&d->c, d->ep, RNOTIFY_EVENT_NOTIFY,
					   NULL);
		pthread_barrier_wait(&started);
		/* the peer tells when it has the request that it won't answer */
		if (d->state == IDLE)
			rnt_expect(&d->c, d->ep, RNOTIFY_EVENT_NOTIFY, &ev);
	}
	pthread_barrier_wait(&ready);
	while (!__atomic_load_n(&fault_over, __ATOMIC_ACQUIRE))
		if (step(d, 1))
			return;
}

static void destroy(struct driven *d)
{
	uint64_t start = rnt_now_ns();

	rnt_destroy(&d->c, d->ep);
	d->destroy_ms = since(start);
}

static void until_down(struct driven *d)
{
	uint64_t end = rnt_now_ns() + 60000000000ull;

	while (!d->down.reason && !step(d, 10))
		if (rnt_now_ns() > end)
			rnt_fail("%s: no DISCONNECTED", names[d->state]);
}

static void *drive_one(void *arg)
{
	struct driven *d = arg;
	uint64_t start;

	before(d);
	if (d->state == CLOSING) {
		d->remote = 0;
		destroy(d);
	} else if (d->state == DEREGISTERING) {
		start = rnt_now_ns();
		rnt_destroy(&d->c, d->mem.id);
		d->dereg_ms = since(start);
	}
	until_down(d);
	if (d->state != CLOSING)
		destroy(d);
	/* nothing more of it, and each operation has its outcome */
	rnt_expect_none(&d->c, d->ep, 0);
	rnt_check_eq(d->accepted, d->outcomes);
	rnt_check_eq(d->confirmed, d->down.confirmed);
	start = rnt_now_ns();
	rnt_close(&d->c);
	d->close_ms = since(start);
	return NULL;
}

/*
 * ---- bounds -----------------------------------------------------------
 */

static double event_bound(enum state s)
{
	double ms = keepalive;

	/* bytes under way buy time: a second for 128 KiB (timer.c) */
	if (s == SENDING)
		ms += DEPTH * BLOCK * 1000.0 / (128 << 10);
	/* GOODBYE and what is before it, for a second (teardown.c) */
	if (s == CLOSING)
		ms = 1000;
	return (peer_tells && s != CLOSING ? 0 : ms) + slack_ms();
}

static bool reason_ok(const struct driven *d)
{
	unsigned int reason = d->down.reason;

	if (d->state == CLOSING)
		return reason == RNOTIFY_REASON_LOCAL_CLOSE ||
		       reason == RNOTIFY_REASON_PEER_LOST ||
		       reason == RNOTIFY_REASON_PEER_EXIT ||
		       reason == RNOTIFY_REASON_PEER_CLOSE;
	if (d->state == CONNECTING)
		return reason == (peer_tells ? RNOTIFY_REASON_PEER_EXIT :
					       RNOTIFY_REASON_TIMEOUT);
	/* its packets may come through when ours do not */
	if (reason == RNOTIFY_REASON_PEER_CLOSE ||
	    reason == RNOTIFY_REASON_PEER_EXIT)
		return true;
	return reason == RNOTIFY_REASON_PEER_LOST && !peer_tells;
}

static int judge(const struct driven *d, const char *fault)
{
	double slack = slack_ms();
	int bad = 0;

	printf("# %-16s %-14s event %6.0f ms reason %2u error %4d ib %2u, destroy %5.0f ms, close %5.0f ms",
	       fault, names[d->state], d->event_ms, d->down.reason,
	       d->down.error, d->down.ib_status, d->destroy_ms, d->close_ms);
	if (d->state == DEREGISTERING)
		printf(", region %5.0f ms", d->dereg_ms);
	printf("\n");
	if (!reason_ok(d))
		bad = printf("# %s: not the reason\n", names[d->state]);
	if (d->event_ms > event_bound(d->state))
		bad = printf("# %s: later than %.0f ms\n", names[d->state],
			     event_bound(d->state));
	if (d->destroy_ms > 1000 + slack || d->close_ms > 1000 + slack)
		bad = printf("# %s: ends too slowly\n", names[d->state]);
	/* REGION_GONE is waited for, 1 s; own operations: there are none */
	if (d->dereg_ms > 1000 + slack)
		bad = printf("# %s: the region ends too slowly\n",
			     names[d->state]);
	return bad;
}

static int drive(char **argv)
{
	static struct driven d[STATES];
	const char *fault = argv[2];
	char command[512] = "";
	int bad = 0;

	peer = argv[0];
	keepalive = atoi(argv[1]);
	peer_tells = !strcmp(fault, "killed");
	for (char **word = &argv[3]; *word; word++) {
		strncat(command, *word, sizeof(command) - strlen(command) - 2);
		strcat(command, " ");
	}
	pthread_barrier_init(&ready, NULL, STATES + 1);
	pthread_barrier_init(&started, NULL, STATES);
	for (int i = 0; i < STATES; i++) {
		d[i].state = i;
		rnt_thread_start(&d[i].thread, drive_one, &d[i]);
	}
	pthread_barrier_wait(&ready);
	fault_ns = rnt_now_ns();
	rnt_check_eq(0, system(command));
	printf("# %s: that took %.0f ms\n", fault, since(fault_ns));
	__atomic_store_n(&fault_over, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < STATES; i++) {
		pthread_join(d[i].thread.thread, NULL);
		bad |= judge(&d[i], fault);
	}
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc >= 6 && !strcmp(argv[1], "drive"))
		return drive(&argv[2]);
	fprintf(stderr, "dead_peer serve | drive PEER KEEPALIVE_MS FAULT COMMAND...\n");
	return 2;
}
