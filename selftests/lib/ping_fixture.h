/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One message outstanding, both ends asleep in between, each in a process of
 * its own: a wake-up that is lost stops everything (FAULTS 14). And bursts of
 * unknown length, of which the last must be seen (FAULTS 15). For each way to
 * sleep that the program names with STYLE().
 */
#ifndef _PING_FIXTURE_H
#define _PING_FIXTURE_H

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "sleeper.h"

static void next_event(struct rnt_sleeper *s, struct rnotify_event *ev)
{
	do {
		rnt_next_event(s, ev);
	} while (ev->type == RNOTIFY_EVENT_WRITABLE);
}

/* A connection that ended says why. */
static void lost(struct rnt_sleeper *s, const char *what, int error)
{
	struct rnotify_endpoint_info info;

	rnt_info(&s->c, s->endpoint, &info);
	rnt_fail("%s: %s; reason %u, error %d, status %u", what,
		 strerror(-error), info.down.reason, info.down.error,
		 info.down.ib_status);
}

static void next_notify(struct rnt_sleeper *s, __u32 imm)
{
	struct rnotify_event ev;

	next_event(s, &ev);
	if (ev.type != RNOTIFY_EVENT_NOTIFY)
		lost(s, "wait", -ENODATA);
	rnt_check_eq(imm, ev.notify.imm);
}

static void say(struct rnt_sleeper *s, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, imm);
	int ret;

	/* O_NONBLOCK in one of the styles: there is room all the same */
	ret = rnt_post(&s->c, &op, 1, -1, NULL, NULL);
	if (ret)
		lost(s, "post", ret);
}

/* ---- the two processes ---- */

FIXTURE(ping)
{
	struct rnt_sleeper s;
	__u16 port;
	pid_t child;
};

FIXTURE_VARIANT(ping)
{
	const struct rnt_style *style;
};

#define STYLE(name) \
	FIXTURE_VARIANT_ADD(ping, name) { .style = &rnt_style_##name }

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
static bool split(FIXTURE_DATA(ping) *self, const struct rnt_style *style)
{
	struct rnt_sleeper *s = &self->s;

	self->child = rnt_fork();
	if (self->child) {
		s->endpoint = rnt_request(&s->c, NULL);
		rnt_check_eq(0, rnt_accept(&s->c, s->endpoint, NULL, 0));
	} else {
		close(s->c.fd);
		rnt_init(&s->c, 512, 0);
		s->endpoint = rnt_connect(&s->c, rnt_addr4(), self->port,
					  NULL, 0);
	}
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_sleeper_open(s, style);
	return self->child;
}

/* The child has seen everything, and goes when the parent does. */
static void child_ends(struct rnt_sleeper *s)
{
	struct rnotify_event ev;

	next_event(s, &ev);
	rnt_check_eq(RNOTIFY_EVENT_DISCONNECTED, ev.type);
	rnt_check_eq(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	_exit(0);
}

static void child_over(FIXTURE_DATA(ping) *self)
{
	rnt_check_eq(0, rnt_disconnect(&self->s.c, self->s.endpoint));
	rnt_join(self->child);
}

TEST_F_TIMEOUT(ping, P7_ping_pong, RNT_TIMEOUT_LONG(40, 300))
{
	unsigned int rounds = rnt_rounds(900, 100000);
	uint64_t start, ns, longest = 0, sum = 0;
	struct rnt_sleeper *s = &self->s;

	if (!split(self, variant->style)) {
		for (unsigned int i = 0; i < rounds; i++) {
			next_notify(s, i);
			rnt_think(s);
			say(s, ~i);
		}
		child_ends(s);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		start = rnt_now_ns();
		say(s, i);
		next_notify(s, ~i);
		ns = rnt_now_ns() - start;
		sum += ns;
		if (ns > longest)
			longest = ns;
		if (ns > RNT_STALL_MS * 1e6 * rnt_slow())
			rnt_fail("round %u took %llu us", i,
				 (unsigned long long)ns / 1000);
	}
	TH_LOG("%u rounds, %llu us each, longest %llu us", rounds,
	       (unsigned long long)sum / rounds / 1000,
	       (unsigned long long)longest / 1000);
	child_over(self);
}

TEST_F_TIMEOUT(ping, P7_burst_then_silence, RNT_TIMEOUT_LONG(40, 120))
{
	unsigned int rounds = rnt_rounds(150, 5000), total = 0, n;
	struct rnt_sleeper *s = &self->s;

	if (!split(self, variant->style)) {
		/* the first of a burst says how long it is */
		for (unsigned int i = 0; i < rounds; i++) {
			struct rnotify_event ev;

			rnt_next_event(s, &ev);
			rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
			n = ev.notify.imm;
			for (unsigned int k = 1; k < n; k++)
				next_notify(s, total + k);
			total += n;
			say(s, total);
		}
		child_ends(s);
	}
	for (unsigned int i = 0; i < rounds; i++) {
		n = 1 + rand_r(&s->seed) % 30;
		say(s, n);
		for (unsigned int k = 1; k < n; k++) {
			say(s, total + k);
			rnt_think(s);
		}
		total += n;
		next_notify(s, total);
	}
	child_over(self);
}

#endif /* _PING_FIXTURE_H */
