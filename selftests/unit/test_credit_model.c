// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * All states that one kind of credit can get into, for small windows: a sender,
 * a receiver whose user returns arrivals at any time and in any number, and an
 * in-order channel each way with any delay. The code under test is that of
 * credit.h; the states are counted relative to rnotify_grant.received, which
 * makes them finite.
 */
#include <stdio.h>
#include <stdlib.h>

#include "credit.h"
#include "unit.h"

#define UNDER_WAY_MAX	12	/* CREDIT messages that a state can hold */
#define FOREIGN_MAX	2	/* of those, caused by other grants */

/* Totals in real structs start here: beyond 32 bits. */
#define BASE ((u64)U32_MAX - 5)

enum model_mode {
	MODE_LAZY = 1,		/* the receiver asks some time later */
	MODE_FOREIGN = 2,	/* messages of other grants carry the total too */
	/* What the model must find fault with: */
	MODE_RETURNS_ONLY = 4,	/* the receiver does not ask after arrivals */
	MODE_NO_STARVED = 8,	/* due only at half a window */
	MODE_EAGER = 16,	/* due as soon as anything is returned */
};

struct state {
	u8 granted, returned, used, limit;	/* less received */
	u8 pending;		/* MODE_LAZY: has to ask */
	u8 busy;		/* own message processed, receive not posted */
	u8 nr;			/* messages under way, oldest first */
	u8 total[UNDER_WAY_MAX];
	u8 foreign[UNDER_WAY_MAX];
};

struct model {
	u32 window;
	int mode;
	struct state *seen;	/* each state once, in the order found */
	u32 nr_seen, room;
	u32 *hash;		/* index into seen + 1 */
	u32 hash_size;
	/* results */
	u32 most_under_way, most_receives;
	u32 stalls, broken;
};

/* One state, as the structs under test. */
struct live {
	struct rnotify_grant g;
	struct rnotify_credit c;
	struct state s;
};

static u32 hash_of(const struct state *s)
{
	const u8 *p = (const u8 *)s;
	u32 h = 2166136261u;
	size_t i;

	for (i = 0; i < sizeof(*s); i++)
		h = (h ^ p[i]) * 16777619u;
	return h ^ h >> 15;
}

static void rehash(struct model *m)
{
	u32 i, at;

	m->hash_size = m->hash_size ? 2 * m->hash_size : 1024;
	free(m->hash);
	m->hash = calloc(m->hash_size, sizeof(*m->hash));
	for (i = 0; i < m->nr_seen; i++) {
		at = hash_of(&m->seen[i]) & (m->hash_size - 1);
		while (m->hash[at])
			at = (at + 1) & (m->hash_size - 1);
		m->hash[at] = i + 1;
	}
}

static void found(struct model *m, const struct state *s)
{
	u32 at;

	if (2 * m->nr_seen >= m->hash_size)
		rehash(m);
	at = hash_of(s) & (m->hash_size - 1);
	for (; m->hash[at]; at = (at + 1) & (m->hash_size - 1))
		if (!memcmp(&m->seen[m->hash[at] - 1], s, sizeof(*s)))
			return;
	if (m->nr_seen == m->room) {
		m->room = m->room ? 2 * m->room : 1024;
		m->seen = realloc(m->seen, m->room * sizeof(*m->seen));
	}
	m->seen[m->nr_seen++] = *s;
	m->hash[at] = m->nr_seen;
}

static struct live wake(const struct model *m, const struct state *s)
{
	struct live l = { .s = *s };

	l.g.window = m->window;
	l.g.received = BASE;
	l.g.granted = BASE + s->granted;
	l.g.returned = BASE + s->returned;
	l.c.limit = BASE + s->limit;
	l.c.used = BASE + s->used;
	return l;
}

/* Make a state of it again: received moves to 0, and all else with it. */
static void sleep_as(struct model *m, struct live *l)
{
	u8 moved = (u8)(l->g.received - BASE);
	u32 i;

	l->s.granted = (u8)(l->g.granted - l->g.received);
	l->s.returned = (u8)(l->g.returned - l->g.received);
	l->s.limit = (u8)(l->c.limit - l->g.received);
	l->s.used = (u8)(l->c.used - l->g.received);
	for (i = 0; i < l->s.nr; i++)
		l->s.total[i] = (u8)(l->s.total[i] - moved);
	found(m, &l->s);
}

static void send_total(struct model *m, struct live *l, bool foreign)
{
	if (l->s.nr == UNDER_WAY_MAX) {
		m->broken++;
		return;
	}
	l->s.total[l->s.nr] = (u8)(rnotify_grant_take(&l->g) - BASE);
	l->s.foreign[l->s.nr] = foreign;
	l->s.nr++;
}

static bool model_due(const struct model *m, const struct rnotify_grant *g)
{
	u64 ungranted = g->returned - g->granted;

	if (m->mode & MODE_EAGER)
		return ungranted;
	if (m->mode & MODE_NO_STARVED)
		return ungranted && ungranted >= (g->window + 1) / 2;
	return rnotify_grant_due(g);
}

static void ask_now(struct model *m, struct live *l)
{
	l->s.pending = 0;
	if (model_due(m, &l->g))
		send_total(m, l, false);
}

static void ask(struct model *m, struct live *l)
{
	if (m->mode & MODE_LAZY)
		l->s.pending = 1;
	else
		ask_now(m, l);
}

static void process_oldest(struct model *m, struct live *l)
{
	bool foreign = l->s.foreign[0];
	int ret = rnotify_credit_update(&l->c, BASE + l->s.total[0]);

	if (ret < 0 || (!ret && !foreign))
		m->broken++;
	l->s.busy = !foreign;
	l->s.nr--;
	memmove(l->s.total, l->s.total + 1, UNDER_WAY_MAX - 1);
	memmove(l->s.foreign, l->s.foreign + 1, UNDER_WAY_MAX - 1);
	l->s.total[l->s.nr] = 0;
	l->s.foreign[l->s.nr] = 0;
}

static u32 nr_foreign(const struct state *s)
{
	u32 n = 0, i;

	for (i = 0; i < s->nr; i++)
		n += s->foreign[i];
	return n;
}

static void look_at(struct model *m, const struct state *s)
{
	struct live l = wake(m, s);
	u32 own = s->nr - nr_foreign(s);

	m->most_under_way = max_t(u32, m->most_under_way, own);
	m->most_receives = max_t(u32, m->most_receives, own + s->busy);
	if (l.g.granted < l.g.received || l.g.returned < l.g.granted ||
	    l.g.returned > l.g.received + m->window ||
	    l.c.used > l.c.limit || l.c.limit > l.g.granted ||
	    rnotify_grant_peer_left(&l.g) > m->window)
		m->broken++;
	/* No credit left, nothing on its way to either side, and yet room. */
	if (!rnotify_credit_left(&l.c) && l.c.used == l.g.received && !s->nr &&
	    !s->pending && l.g.returned > l.g.granted)
		m->stalls++;
}

/* Everything that can happen next. */
static void explore(struct model *m, struct state s)
{
	struct live l;
	u32 n;

	l = wake(m, &s);
	if (rnotify_credit_use(&l.c))
		sleep_as(m, &l);

	l = wake(m, &s);
	if (l.c.used > l.g.received) {
		if (!rnotify_grant_arrived(&l.g))
			m->broken++;
		if (!(m->mode & MODE_RETURNS_ONLY))
			ask(m, &l);
		sleep_as(m, &l);
	}

	for (n = 1; n + s.returned <= m->window; n++) {
		l = wake(m, &s);
		rnotify_grant_return(&l.g, n);
		ask(m, &l);
		sleep_as(m, &l);
	}

	l = wake(m, &s);
	if (s.busy) {
		l.s.busy = 0;
		sleep_as(m, &l);
	} else if (s.nr) {
		process_oldest(m, &l);
		sleep_as(m, &l);
	}

	l = wake(m, &s);
	if (s.pending) {
		ask_now(m, &l);
		sleep_as(m, &l);
	}

	l = wake(m, &s);
	if (m->mode & MODE_FOREIGN && nr_foreign(&s) < FOREIGN_MAX) {
		send_total(m, &l, true);
		sleep_as(m, &l);
	}
}

static struct model run(u32 window, int mode)
{
	struct state start = {
		.granted = (u8)window, .returned = (u8)window,
		.limit = (u8)window,
	};
	struct model m = { .window = window, .mode = mode };
	u32 i;

	found(&m, &start);
	for (i = 0; i < m.nr_seen && !m.broken; i++) {
		look_at(&m, &m.seen[i]);
		explore(&m, m.seen[i]);
	}
	free(m.seen);
	free(m.hash);
	return m;
}

/* The rule as it is: what credit.h claims, exactly. */
static void check_rule(u32 largest, int mode)
{
	u32 window, states = 0, way = 0, receives = 0;

	for (window = 0; window <= largest; window++) {
		struct model m = run(window, mode);
		u32 want = min_t(u32, window, 2);

		EXPECT_AT(!m.broken, window);
		EXPECT_AT(!m.stalls, window);
		EXPECT_AT(m.most_under_way == want, window);
		EXPECT_AT(m.most_receives == want + !!want, window);
		EXPECT_AT(m.most_receives <= RNOTIFY_CREDIT_MSGS_MAX, window);
		states += m.nr_seen;
		way = max_t(u32, way, m.most_under_way);
		receives = max_t(u32, receives, m.most_receives);
	}
	unit_note("windows 0 to %u: %u states; at most %u messages under way, %u receives",
		  largest, states, way, receives);
}

void test_credit_model_small(void)
{
	check_rule(16, 0);
}

void test_credit_model_lazy(void)
{
	check_rule(12, MODE_LAZY);
}

void test_credit_model_foreign(void)
{
	check_rule(6, MODE_FOREIGN);
	check_rule(5, MODE_FOREIGN | MODE_LAZY);
}

/* A model that never finds a fault shows nothing: give it wrong rules. */
void test_credit_model_control(void)
{
	EXPECT(run(3, MODE_RETURNS_ONLY).stalls);
	EXPECT(run(4, MODE_NO_STARVED).stalls);
	EXPECT(run(8, MODE_EAGER).most_under_way > RNOTIFY_CREDIT_MSGS_MAX);
}
