// SPDX-License-Identifier: GPL-2.0
/*
 * Receivers that are stopped (P3): their peers are held up, nobody else is, and
 * when they go on, everything is there.
 *
 * rvm: limit=60 long_limit=200
 */
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define WINDOW	8

static const struct rnotify_params depths = {
	.recv_depth = WINDOW, .send_depth = WINDOW,
	.remote_regions = RNOTIFY_NO_REGIONS,
};

FIXTURE(stop)
{
	struct rnt_ctx a;	/* who sends */
	__u32 listener;
	__u16 port;
	struct rnt_rnr rnr;
};

FIXTURE_SETUP(stop)
{
	rnt_rnr_read(&self->rnr);
	rnt_init(&self->a, 256, 0);
	self->listener = rnt_listen(&self->a, rnt_addr4(), &self->port, 4);
}

FIXTURE_TEARDOWN(stop)
{
	rnt_close(&self->a);
	EXPECT_TRUE(rnt_rnr_same(&self->rnr));
}

/* A process that takes notifications, counted up, and sends each one back. */
static void echo(__u16 port)
{
	struct rnotify_event ev;
	struct rnt_ctx c;
	__u32 imm = 0, e;

	rnt_init(&c, 64, 0);
	e = rnt_connect(&c, rnt_addr4(), port, &depths, 0);
	rnt_expect(&c, e, RNOTIFY_EVENT_ESTABLISHED, NULL);
	for (;;) {
		struct rnotify_op op = rnt_op_notify(e, imm);

		while (!rnt_take(&c, e, &ev, RNT_PATIENCE_MS))
			;
		if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
			_exit(0);
		rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
		rnt_check_eq(imm, ev.notify.imm);
		rnt_check_eq(0, rnt_post(&c, &op, 1, -1, NULL, NULL));
		imm++;
	}
}

struct peer {
	pid_t pid;
	__u32 e;
	__u32 sent;
	__u32 back;
};

static void peer_start(FIXTURE_DATA(stop) *self, struct peer *p)
{
	*p = (struct peer){ .pid = rnt_fork() };
	if (!p->pid)
		echo(self->port);
	p->e = rnt_request(&self->a, NULL);
	rnt_check_eq(0, rnt_accept(&self->a, p->e, &depths, 0));
	rnt_expect(&self->a, p->e, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

static void peer_signal(struct peer *p, int sig)
{
	int status;

	rnt_check_eq(0, kill(p->pid, sig));
	rnt_check_eq(p->pid, waitpid(p->pid, &status, sig == SIGSTOP ?
				     WUNTRACED : WCONTINUED));
}

static void send_one(FIXTURE_DATA(stop) *self, struct peer *p)
{
	struct rnotify_op op = rnt_op_notify(p->e, p->sent++);

	rnt_post1(&self->a, &op);
}

static void expect_back(FIXTURE_DATA(stop) *self, struct peer *p)
{
	struct rnotify_event ev;

	do {
		rnt_check(rnt_take(&self->a, p->e, &ev, RNT_PATIENCE_MS));
	} while (ev.type == RNOTIFY_EVENT_WRITABLE);
	rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
	rnt_check_eq(p->back++, ev.notify.imm);
}

static uint64_t round_trip(FIXTURE_DATA(stop) *self, struct peer *p)
{
	uint64_t start = rnt_now_ns();

	send_one(self, p);
	expect_back(self, p);
	return rnt_now_ns() - start;
}

/* So much is taken, all of it gets there, and no more goes. */
static void fill(FIXTURE_DATA(stop) *self, struct peer *p)
{
	struct rnotify_endpoint_info info;
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);

	do {
		rnt_check(rnt_left_ms(end));
		/* again: credit may have been under way when it was stopped */
		p->sent += rnt_post_until_full(&self->a, p->e, p->sent, 0);
		rnt_info(&self->a, p->e, &info);
	} while (info.tx_confirmed != info.tx_notify_posted);
	rnt_check_eq(RNOTIFY_STATE_ESTABLISHED, info.state);
}

static void peer_end(FIXTURE_DATA(stop) *self, struct peer *p)
{
	while (p->back != p->sent)
		expect_back(self, p);
	rnt_check_eq(0, rnt_disconnect(&self->a, p->e));
	rnt_join(p->pid);
}

/*
 * One is stopped with a full window, for longer than the keepalive time in
 * make check-long; the other's round trips are what they were. Nothing is lost.
 */
TEST_F_TIMEOUT(stop, P3_sigstop, RNT_TIMEOUT_LONG(30, 60))
{
	unsigned int seconds = rnt_long() ? 30 : 4, rounds = 0;
	uint64_t longest = 0, before = 0, end, ns;
	struct rnotify_endpoint_info info;
	struct peer p, q;

	peer_start(self, &p);
	peer_start(self, &q);
	for (unsigned int i = 0; i < 50; i++) {
		ns = round_trip(self, &q);
		before = ns > before ? ns : before;
		round_trip(self, &p);
	}
	peer_signal(&p, SIGSTOP);
	fill(self, &p);
	/* no scaling: it is stopped for this long */
	for (end = rnt_now_ns() + seconds * 1000000000ull; rnt_now_ns() < end;
	     rounds++) {
		ns = round_trip(self, &q);
		longest = ns > longest ? ns : longest;
		p.sent += rnt_post_until_full(&self->a, p.e, p.sent, 0);
		ASSERT_GE(WINDOW, p.sent - p.back);
	}
	rnt_info(&self->a, p.e, &info);
	ASSERT_EQ(RNOTIFY_STATE_ESTABLISHED, info.state);
	TH_LOG("%u round trips beside it, longest %llu us (%llu before)",
	       rounds, (unsigned long long)longest / 1000,
	       (unsigned long long)before / 1000);
	ASSERT_GT(RNT_STALL_MS * 1e6 * rnt_slow(), longest);
	peer_signal(&p, SIGCONT);
	while (p.back != p.sent)
		expect_back(self, &p);
	for (unsigned int i = 0; i < 50; i++)
		round_trip(self, &p);
	peer_end(self, &p);
	peer_end(self, &q);
}

/* Both are stopped, at random, at the same time or not, and go on. */
TEST_F_TIMEOUT(stop, P3_two_stopped_readers_resume, RNT_TIMEOUT(30))
{
	unsigned int seed = rnt_now_ns();
	struct peer peer[2];

	peer_start(self, &peer[0]);
	peer_start(self, &peer[1]);
	for (unsigned int i = 0; i < rnt_count(60); i++) {
		unsigned int which = 1 + rand_r(&seed) % 3;

		for (int k = 0; k < 2; k++)
			if (which & 1 << k)
				peer_signal(&peer[k], SIGSTOP);
		for (int k = 0; k < 2; k++) {
			if (which & 1 << k)
				fill(self, &peer[k]);
			ASSERT_GE(WINDOW, peer[k].sent - peer[k].back);
		}
		for (int k = 0; k < 2; k++)
			if (!(which & 1 << k))
				round_trip(self, &peer[k]);
		for (int k = 0; k < 2; k++)
			if (which & 1 << k)
				peer_signal(&peer[k], SIGCONT);
		for (int k = 0; k < 2; k++)
			while (peer[k].back != peer[k].sent)
				expect_back(self, &peer[k]);
	}
	peer_end(self, &peer[0]);
	peer_end(self, &peer[1]);
}

/*
 * Two that send to each other, both stopped in the middle of it with full
 * windows: neither waits for the other for ever.
 */
TEST_F_TIMEOUT(stop, P3_both_ends_stopped, RNT_TIMEOUT(30))
{
	struct peer p;

	peer_start(self, &p);
	for (unsigned int i = 0; i < rnt_count(60); i++) {
		/* it owes us as many as we don't take */
		fill(self, &p);
		peer_signal(&p, SIGSTOP);
		fill(self, &p);
		rnt_stop_and_continue();
		peer_signal(&p, SIGCONT);
		while (p.back != p.sent)
			expect_back(self, &p);
	}
	peer_end(self, &p);
}

TEST_HARNESS_MAIN
