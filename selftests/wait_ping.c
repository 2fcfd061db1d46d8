// SPDX-License-Identifier: GPL-2.0
/*
 * One message outstanding, both ends asleep in between, each in a process of
 * its own: a wake-up that is lost stops everything (FAULTS 14). And bursts of
 * unknown length, of which the last must be seen (FAULTS 15). For each way to
 * sleep.
 *
 * rvm: limit=60
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* A round that takes longer is a stall, times RNOTIFY_SLOW. */
#define STALL_MS	1000

struct sleeper {
	struct rnt_ctx c;
	__u32 endpoint;
	int epfd;
	int efd;
	unsigned int seed;
	/* events got by read() */
	struct rnotify_event got[3];
	unsigned int nr_got;
	unsigned int next_got;
};

struct style {
	void (*open)(struct sleeper *s);
	void (*sleep)(struct sleeper *s);	/* until there may be something */
	bool reads;				/* takes events with read() */
};

static void sleep_poll(struct sleeper *s)
{
	struct pollfd p = { .fd = s->c.fd, .events = POLLIN };

	rnt_check_eq(1, poll(&p, 1, -1));
}

static void sleep_select(struct sleeper *s)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(s->c.fd, &in);
	rnt_check_eq(1, select(s->c.fd + 1, &in, NULL, NULL, NULL));
}

static void open_epoll(struct sleeper *s, __u32 events)
{
	struct epoll_event ep = { .events = events };

	s->epfd = epoll_create1(0);
	rnt_check_eq(0, epoll_ctl(s->epfd, EPOLL_CTL_ADD, s->c.fd, &ep));
}

static void sleep_epoll(struct sleeper *s)
{
	struct epoll_event ep;

	rnt_check_eq(1, epoll_wait(s->epfd, &ep, 1, -1));
}

static void open_lt(struct sleeper *s)
{
	open_epoll(s, EPOLLIN);
}

static void open_et(struct sleeper *s)
{
	open_epoll(s, EPOLLIN | EPOLLET);
}

static void open_oneshot(struct sleeper *s)
{
	open_epoll(s, EPOLLIN | EPOLLONESHOT);
}

static void sleep_oneshot(struct sleeper *s)
{
	struct epoll_event ep = { .events = EPOLLIN | EPOLLONESHOT };

	rnt_check_eq(0, epoll_ctl(s->epfd, EPOLL_CTL_MOD, s->c.fd, &ep));
	sleep_epoll(s);
}

static void sleep_wait(struct sleeper *s)
{
	rnt_check_eq(0, rnt_wait(&s->c, 1, -1, 0, NULL));
}

static void sleep_spin(struct sleeper *s)
{
	rnt_check_eq(0, rnt_wait(&s->c, 1, -1, rand_r(&s->seed) % 1000000,
				 NULL));
}

static void sleep_timed(struct sleeper *s)
{
	while (rnt_wait(&s->c, 1, rnt_now_ns() + rand_r(&s->seed) % 3000000, 0,
			NULL))
		;
}

static void open_eventfd(struct sleeper *s)
{
	struct rnotify_eventfd arg = { .size = sizeof(arg) };

	s->efd = eventfd(0, 0);
	arg.fd = s->efd;
	rnt_check_eq(0, rnt_ioctl(s->c.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
}

static void sleep_eventfd(struct sleeper *s)
{
	uint64_t n;

	rnt_check_eq(8, read(s->efd, &n, sizeof(n)));
	rnt_check(n);
}

static void sleep_read(struct sleeper *s)
{
	ssize_t n = read(s->c.fd, s->got, sizeof(s->got));

	rnt_check(n > 0 && n % sizeof(s->got[0]) == 0);
	s->nr_got = n / sizeof(s->got[0]);
	s->next_got = 0;
}

static void open_nonblock(struct sleeper *s)
{
	rnt_check_eq(0, fcntl(s->c.fd, F_SETFL, O_RDWR | O_NONBLOCK));
}

static void sleep_poll_read(struct sleeper *s)
{
	sleep_poll(s);
	sleep_read(s);
}

/* A bit of work, or none, or a nap: whatever comes in between. */
static void think(struct sleeper *s)
{
	unsigned int r = rand_r(&s->seed);

	if (r % 4 == 0)
		for (uint64_t end = rnt_now_ns() + r / 4 % 100000;
		     rnt_now_ns() < end;)
			;
	else if (r % 64 == 1)
		rnt_sleep_us(r / 64 % 300);
}

/* The next event, after as much sleep as it takes. */
static void next_event(struct sleeper *s, const struct style *style,
		       struct rnotify_event *ev)
{
	const struct rnotify_event *in_ring;

	for (;;) {
		if (style->reads) {
			if (s->next_got < s->nr_got) {
				*ev = s->got[s->next_got++];
				return;
			}
		} else {
			in_ring = rnt_peek(&s->c);
			if (in_ring) {
				*ev = *in_ring;
				rnt_consume(&s->c, 1);
				return;
			}
		}
		think(s);
		style->sleep(s);
	}
}

static void next_notify(struct sleeper *s, const struct style *style,
			__u32 imm)
{
	struct rnotify_event ev;

	do {
		next_event(s, style, &ev);
	} while (ev.type == RNOTIFY_EVENT_WRITABLE);
	rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
	rnt_check_eq(imm, ev.notify.imm);
}

static void say(struct sleeper *s, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, imm);
	int ret;

	/* O_NONBLOCK in one of the styles: there is room all the same */
	ret = rnt_post(&s->c, &op, 1, -1, NULL, NULL);
	rnt_check_eq(0, ret);
}

/* ---- the two processes ---- */

FIXTURE(ping)
{
	struct sleeper s;
	__u16 port;
	pid_t child;
};

FIXTURE_VARIANT(ping)
{
	struct style style;
};

#define STYLE(name, ...)						\
	FIXTURE_VARIANT_ADD(ping, name) { .style = { __VA_ARGS__ } }

STYLE(poll, NULL, sleep_poll, false);
STYLE(select, NULL, sleep_select, false);
STYLE(epoll_lt, open_lt, sleep_epoll, false);
STYLE(epoll_et, open_et, sleep_epoll, false);
STYLE(epoll_oneshot, open_oneshot, sleep_oneshot, false);
STYLE(wait, NULL, sleep_wait, false);
STYLE(wait_spin, NULL, sleep_spin, false);
STYLE(wait_timed, NULL, sleep_timed, false);
STYLE(eventfd, open_eventfd, sleep_eventfd, false);
STYLE(read, NULL, sleep_read, true);
STYLE(poll_read, open_nonblock, sleep_poll_read, true);

static void sleeper_open(struct sleeper *s, const struct style *style)
{
	if (style->open)
		style->open(s);
	s->seed = rnt_now_ns();
}

FIXTURE_SETUP(ping)
{
	rnt_init(&self->s.c, 512, 0);
	rnt_listen(&self->s.c, rnt_addr4(), &self->port, 1);
}

FIXTURE_TEARDOWN(ping)
{
	rnt_close(&self->s.c);
}

/* Returns in both; in the child with a context and endpoint of its own. */
static bool split(FIXTURE_DATA(ping) *self, const struct style *style)
{
	struct sleeper *s = &self->s;

	self->child = rnt_fork();
	if (self->child) {
		s->endpoint = rnt_request(&s->c, NULL);
		rnt_check_eq(0, rnt_accept(&s->c, s->endpoint, NULL, 0));
	} else {
		close(s->c.fd);
		rnt_init(&s->c, 512, 0);
		s->endpoint = rnt_connect(&s->c, rnt_addr4(), self->port, NULL,
					  0);
	}
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	sleeper_open(s, style);
	return self->child;
}

/* The child has seen everything, and goes when the parent does. */
static void child_ends(struct sleeper *s, const struct style *style)
{
	struct rnotify_event ev;

	do {
		next_event(s, style, &ev);
	} while (ev.type == RNOTIFY_EVENT_WRITABLE);
	rnt_check_eq(RNOTIFY_EVENT_DISCONNECTED, ev.type);
	rnt_check_eq(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	_exit(0);
}

static void child_over(FIXTURE_DATA(ping) *self)
{
	rnt_check_eq(0, rnt_disconnect(&self->s.c, self->s.endpoint));
	rnt_join(self->child);
}

TEST_F_TIMEOUT(ping, P7_ping_pong, RNT_TIMEOUT(40))
{
	unsigned int rounds = rnt_count(2400);
	uint64_t start, ns, longest = 0, sum = 0;
	struct sleeper *s = &self->s;

	if (!split(self, &variant->style)) {
		for (unsigned int i = 0; i < rounds; i++) {
			next_notify(s, &variant->style, i);
			think(s);
			say(s, ~i);
		}
		child_ends(s, &variant->style);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		start = rnt_now_ns();
		say(s, i);
		next_notify(s, &variant->style, ~i);
		ns = rnt_now_ns() - start;
		sum += ns;
		if (ns > longest)
			longest = ns;
		if (ns > STALL_MS * 1e6 * rnt_slow())
			rnt_fail("round %u took %llu us", i,
				 (unsigned long long)ns / 1000);
	}
	TH_LOG("%u rounds, %llu us each, longest %llu us", rounds,
	       (unsigned long long)sum / rounds / 1000,
	       (unsigned long long)longest / 1000);
	child_over(self);
}

TEST_F_TIMEOUT(ping, P7_burst_then_silence, RNT_TIMEOUT(40))
{
	unsigned int rounds = rnt_count(600), total = 0, n;
	struct sleeper *s = &self->s;

	if (!split(self, &variant->style)) {
		/* the first of a burst says how long it is */
		for (unsigned int i = 0; i < rounds; i++) {
			struct rnotify_event ev;

			next_event(s, &variant->style, &ev);
			rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
			n = ev.notify.imm;
			for (unsigned int k = 1; k < n; k++)
				next_notify(s, &variant->style, total + k);
			total += n;
			say(s, total);
		}
		child_ends(s, &variant->style);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		n = 1 + rand_r(&s->seed) % 30;
		say(s, n);
		for (unsigned int k = 1; k < n; k++) {
			say(s, total + k);
			think(s);
		}
		total += n;
		next_notify(s, &variant->style, total);
	}
	child_over(self);
}

TEST_HARNESS_MAIN
