// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: ways to wait by system calls.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include "sleeper.h"

/* The most that a moderated sleeper sleeps too long. */
#define MODERATE_NS	300000

static void sleep_spin(struct rnt_sleeper *s)
{
	/* no system call at all */
	while (!rnt_pending(&s->c))
		;
}

static void sleep_poll(struct rnt_sleeper *s)
{
	struct pollfd p = { .fd = s->c.fd, .events = POLLIN };

	rnt_check_eq(1, poll(&p, 1, -1));
}

static void sleep_select(struct rnt_sleeper *s)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(s->c.fd, &in);
	rnt_check_eq(1, select(s->c.fd + 1, &in, NULL, NULL, NULL));
}

static void open_epoll(struct rnt_sleeper *s, __u32 events)
{
	struct epoll_event ep = { .events = events };

	s->epfd = epoll_create1(0);
	rnt_check_eq(0, epoll_ctl(s->epfd, EPOLL_CTL_ADD, s->c.fd, &ep));
}

static void sleep_epoll(struct rnt_sleeper *s)
{
	struct epoll_event ep;

	rnt_check_eq(1, epoll_wait(s->epfd, &ep, 1, -1));
}

static void open_lt(struct rnt_sleeper *s)
{
	open_epoll(s, EPOLLIN);
}

static void open_et(struct rnt_sleeper *s)
{
	open_epoll(s, EPOLLIN | EPOLLET);
}

static void open_oneshot(struct rnt_sleeper *s)
{
	open_epoll(s, EPOLLIN | EPOLLONESHOT);
}

static void sleep_oneshot(struct rnt_sleeper *s)
{
	struct epoll_event ep = { .events = EPOLLIN | EPOLLONESHOT };

	rnt_check_eq(0, epoll_ctl(s->epfd, EPOLL_CTL_MOD, s->c.fd, &ep));
	sleep_epoll(s);
}

static void sleep_wait(struct rnt_sleeper *s)
{
	rnt_check_eq(0, rnt_wait(&s->c, 1, -1, 0, NULL));
}

static void sleep_adaptive(struct rnt_sleeper *s)
{
	rnt_check_eq(0, rnt_wait(&s->c, 1, -1, rand_r(&s->seed) % 1000000,
				 NULL));
}

static void sleep_timed(struct rnt_sleeper *s)
{
	while (rnt_wait(&s->c, 1, rnt_now_ns() + rand_r(&s->seed) % 3000000, 0,
			NULL))
		;
}

static void set_eventfd(struct rnt_sleeper *s, __u32 endpoint)
{
	struct rnotify_eventfd arg = {
		.size = sizeof(arg), .endpoint_id = endpoint,
	};

	s->efd = eventfd(0, 0);
	arg.fd = s->efd;
	rnt_check_eq(0, rnt_ioctl(s->c.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
}

static void open_eventfd(struct rnt_sleeper *s)
{
	set_eventfd(s, 0);
}

static void open_endpoint_eventfd(struct rnt_sleeper *s)
{
	set_eventfd(s, s->endpoint);
}

static void sleep_eventfd(struct rnt_sleeper *s)
{
	uint64_t n;

	rnt_check_eq(8, read(s->efd, &n, sizeof(n)));
	rnt_check(n);
}

static void sleep_read(struct rnt_sleeper *s)
{
	ssize_t n = read(s->c.fd, s->got, sizeof(s->got));

	rnt_check(n > 0 && n % sizeof(s->got[0]) == 0);
	s->nr_got = n / sizeof(s->got[0]);
	s->next_got = 0;
}

static void open_nonblock(struct rnt_sleeper *s)
{
	rnt_check_eq(0, fcntl(s->c.fd, F_SETFL, O_RDWR | O_NONBLOCK));
}

static void sleep_poll_read(struct rnt_sleeper *s)
{
	sleep_poll(s);
	sleep_read(s);
}

const struct rnt_style rnt_style_spin = { NULL, sleep_spin, false, 0 };
const struct rnt_style rnt_style_poll = { NULL, sleep_poll, false, 0 };
const struct rnt_style rnt_style_select = { NULL, sleep_select, false, 0 };
const struct rnt_style rnt_style_epoll_lt = { open_lt, sleep_epoll, false, 0 };
const struct rnt_style rnt_style_epoll_et = { open_et, sleep_epoll, false, 0 };
const struct rnt_style rnt_style_epoll_oneshot = {
	open_oneshot, sleep_oneshot, false, 0
};
const struct rnt_style rnt_style_wait = { NULL, sleep_wait, false, 0 };
const struct rnt_style rnt_style_wait_adaptive = {
	NULL, sleep_adaptive, false, 0
};
const struct rnt_style rnt_style_wait_timed = { NULL, sleep_timed, false, 0 };
const struct rnt_style rnt_style_eventfd = {
	open_eventfd, sleep_eventfd, false, 0
};
const struct rnt_style rnt_style_endpoint_eventfd = {
	open_endpoint_eventfd, sleep_eventfd, false, 0
};
const struct rnt_style rnt_style_read = { NULL, sleep_read, true, 0 };
const struct rnt_style rnt_style_poll_read = {
	open_nonblock, sleep_poll_read, true, 0
};
const struct rnt_style rnt_style_moderated_poll = {
	NULL, sleep_poll, false, 4
};
const struct rnt_style rnt_style_moderated_eventfd = {
	open_eventfd, sleep_eventfd, false, 4
};
const struct rnt_style rnt_style_moderated_read = {
	NULL, sleep_read, true, 4
};

void rnt_moderate(struct rnt_ctx *c, unsigned int min_events, __u64 delay_ns)
{
	struct rnotify_moderate arg = {
		.size = sizeof(arg), .min_events = min_events,
		.max_delay_ns = delay_ns,
	};

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_MODERATE, &arg));
}

void rnt_sleeper_open(struct rnt_sleeper *s, const struct rnt_style *style)
{
	s->style = style;
	s->seed = rnt_now_ns();
	if (style->moderate)
		rnt_moderate(&s->c, style->moderate, MODERATE_NS);
	if (style->open)
		style->open(s);
}

void rnt_think(struct rnt_sleeper *s)
{
	unsigned int r = rand_r(&s->seed);

	if (r % 4 == 0)
		for (uint64_t end = rnt_now_ns() + r / 4 % 100000;
		     rnt_now_ns() < end;)
			;
	else if (r % 64 == 1)
		rnt_sleep_us(r / 64 % 300);
}

static bool take(struct rnt_sleeper *s, struct rnotify_event *ev)
{
	const struct rnotify_event *in_ring;

	if (s->style->reads) {
		if (s->next_got == s->nr_got)
			return false;
		*ev = s->got[s->next_got++];
		return true;
	}
	in_ring = rnt_peek(&s->c);
	if (!in_ring)
		return false;
	*ev = *in_ring;
	rnt_consume(&s->c, 1);
	return true;
}

void rnt_next_event(struct rnt_sleeper *s, struct rnotify_event *ev)
{
	while (!take(s, ev)) {
		rnt_think(s);
		s->style->sleep(s);
		s->sleeps++;
	}
}

void rnt_next_event_now(struct rnt_sleeper *s, struct rnotify_event *ev)
{
	while (!take(s, ev)) {
		s->style->sleep(s);
		s->sleeps++;
	}
}
