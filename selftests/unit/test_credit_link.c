// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A whole connection at random: two sides, three kinds of credit each, messages
 * in wire form, any delay, users who consume when they like. A frame takes a
 * receive of the other side as soon as it is sent, which is the worst case; so
 * if there is always one, the receives that the protocol document asks for
 * suffice.
 */
#include <stdlib.h>

#include "credit.h"
#include "unit.h"
#include "wire.h"

enum { DATA, CTRL, REGIONS, KINDS };

/* A frame on its way: a WRITE_WITH_IMM has no bytes. */
struct frame {
	u16 len;
	u8 bytes[RNOTIFY_WIRE_CTRL_MAX];
} __attribute__((aligned(4)));

struct side {
	struct rnotify_grant grant[KINDS];
	struct rnotify_credit credit[KINDS];
	u32 unconsumed[KINDS];
	struct frame *in;	/* a ring: sent to this side, not processed */
	u32 in_size, in_head, in_nr;
	u32 receives;		/* posted now */
	u32 receives_low;
	bool hold;		/* receives of data are posted when consumed */
	bool repost;		/* the one that was processed last */
	u32 *held;		/* a ring: records of each such receive, not consumed */
	u32 held_head, held_nr;
	u32 credits_sent;
	/* What it does next, in 1/256; drawn again now and then. */
	u32 p_send[KINDS], p_process, p_consume[KINDS];
};

struct link {
	struct side side[2];
	long long step;
};

static u32 receives_for(const u32 *window)
{
	return window[DATA] + window[CTRL] + KINDS * RNOTIFY_CREDIT_MSGS_MAX +
	       1;
}

static void side_init(struct side *s, const u32 *window, const u32 *peer)
{
	int k;

	memset(s, 0, sizeof(*s));
	for (k = 0; k < KINDS; k++) {
		rnotify_grant_init(&s->grant[k], window[k]);
		rnotify_credit_init(&s->credit[k], peer[k]);
	}
	s->receives = receives_for(window);
	s->receives_low = s->receives;
	s->hold = unit_below(2);
	s->in_size = s->receives;
	s->in = calloc(s->in_size, sizeof(*s->in));
	s->held = calloc(s->in_size, sizeof(*s->held));
}

static void put_frame(struct link *l, struct side *to, const u8 *bytes, int len)
{
	struct frame *f;

	if (!EXPECT_AT(to->receives > 0, l->step) ||
	    !EXPECT_AT(to->in_nr < to->in_size, l->step))
		return;
	to->receives--;
	to->receives_low = min_t(u32, to->receives_low, to->receives);
	f = &to->in[(to->in_head + to->in_nr++) % to->in_size];
	f->len = (u16)len;
	if (len)
		memcpy(f->bytes, bytes, (size_t)len);
}

static void put_msg(struct link *l, struct side *to,
		    const struct rnotify_wire_msg *m)
{
	u8 bytes[RNOTIFY_WIRE_CTRL_MAX];
	int n = rnotify_wire_put_msg(bytes, sizeof(bytes), m);

	if (EXPECT_AT(n > 0, l->step))
		put_frame(l, to, bytes, n);
}

/* After every arrival and return. A message carries all three totals. */
static void ask(struct link *l, struct side *s, struct side *peer)
{
	struct rnotify_wire_msg m = { .type = RNOTIFY_WIRE_CREDIT };

	if (!rnotify_grant_due(&s->grant[DATA]) &&
	    !rnotify_grant_due(&s->grant[CTRL]) &&
	    !rnotify_grant_due(&s->grant[REGIONS]))
		return;
	m.credit.data = rnotify_grant_take(&s->grant[DATA]);
	m.credit.ctrl = rnotify_grant_take(&s->grant[CTRL]);
	m.credit.regions = rnotify_grant_take(&s->grant[REGIONS]);
	put_msg(l, peer, &m);
	s->credits_sent++;
}

/* Either form of a notification; the long one of several, as far as credit goes. */
static void send_data(struct link *l, struct side *s, struct side *peer)
{
	struct rnotify_wire_record records[RNOTIFY_WIRE_RECORDS_MAX];
	struct rnotify_wire_msg notify = {
		.type = RNOTIFY_WIRE_NOTIFY, .notify.records = records,
	};
	u32 nr = 1, most = unit_below(4) ? 1 : RNOTIFY_WIRE_RECORDS_MAX;

	if (unit_below(2)) {
		put_frame(l, peer, NULL, 0);
		return;
	}
	while (nr < most && rnotify_credit_use(&s->credit[DATA]))
		nr++;
	memset(records, 0, sizeof(records));
	notify.notify.nr = nr;
	put_msg(l, peer, &notify);
}

static bool send_one(struct link *l, struct side *s, struct side *peer,
		     int kind)
{
	static const __le32 key;
	struct rnotify_wire_msg gone = {
		.type = RNOTIFY_WIRE_REGION_GONE, .gone.share_id = 1,
	};
	struct rnotify_wire_msg region = {
		.type = RNOTIFY_WIRE_REGION,
		.region = {
			.share_id = 1, .rights = 1, .length = 1,
			.chunk_shift = 12, .nr_keys = 1, .keys_here = 1,
			.keys = &key,
		},
	};

	if (kind == REGIONS && !rnotify_credit_left(&s->credit[CTRL]))
		return false;
	if (!rnotify_credit_use(&s->credit[kind]))
		return false;
	if (kind == REGIONS)
		EXPECT_AT(rnotify_credit_use(&s->credit[CTRL]), l->step);
	if (kind == DATA)
		send_data(l, s, peer);
	else
		put_msg(l, peer, kind == CTRL ? &gone : &region);
	return true;
}

static void process_credit(struct link *l, struct side *s,
			   const struct rnotify_wire_credit *c)
{
	EXPECT_AT(rnotify_credit_update(&s->credit[DATA], c->data) >= 0,
		  l->step);
	EXPECT_AT(rnotify_credit_update(&s->credit[CTRL], c->ctrl) >= 0,
		  l->step);
	EXPECT_AT(rnotify_credit_update(&s->credit[REGIONS], c->regions) >= 0,
		  l->step);
}

static void process_data(struct link *l, struct side *s, struct side *peer,
			 u32 nr)
{
	s->repost = !s->hold;
	if (s->hold && EXPECT_AT(s->held_nr < s->in_size, l->step))
		s->held[(s->held_head + s->held_nr++) % s->in_size] = nr;
	while (nr--) {
		EXPECT_AT(rnotify_grant_arrived(&s->grant[DATA]), l->step);
		s->unconsumed[DATA]++;
		ask(l, s, peer);
	}
}

/* Of receives that were kept, those whose last record was consumed. */
static void post_held(struct side *s, u32 consumed)
{
	while (consumed) {
		u32 *left = &s->held[s->held_head % s->in_size];
		u32 n = min_t(u32, consumed, *left);

		*left -= n;
		consumed -= n;
		if (*left)
			return;
		s->held_head++;
		s->held_nr--;
		s->receives++;
	}
}

/*
 * Processing and posting the receive again are two steps; all else, also what
 * the first of them set free, can happen between.
 */
static void process_one(struct link *l, struct side *s, struct side *peer)
{
	struct frame *f = &s->in[s->in_head];
	struct rnotify_wire_msg m;

	if (s->repost) {
		s->repost = false;
		s->receives++;
		return;
	}
	if (!s->in_nr)
		return;
	s->in_head = (s->in_head + 1) % s->in_size;
	s->in_nr--;
	s->repost = true;
	if (!f->len) {
		process_data(l, s, peer, 1);
		return;
	}
	if (!EXPECT_AT(!rnotify_wire_get_msg(&m, f->bytes, f->len), l->step))
		return;
	if (m.type == RNOTIFY_WIRE_NOTIFY) {
		process_data(l, s, peer, m.notify.nr);
		return;
	}
	if (m.type == RNOTIFY_WIRE_CREDIT) {
		process_credit(l, s, &m.credit);
		return;
	}
	EXPECT_AT(rnotify_grant_arrived(&s->grant[CTRL]), l->step);
	if (m.type == RNOTIFY_WIRE_REGION) {
		EXPECT_AT(rnotify_grant_arrived(&s->grant[REGIONS]), l->step);
		s->unconsumed[REGIONS]++;
	}
	rnotify_grant_return(&s->grant[CTRL], 1);
	ask(l, s, peer);
}

static void consume(struct link *l, struct side *s, struct side *peer, int kind,
		    u32 n)
{
	s->unconsumed[kind] -= n;
	if (kind == DATA && s->hold)
		post_held(s, n);
	rnotify_grant_return(&s->grant[kind], n);
	ask(l, s, peer);
}

/* Idle, seldom, often, always. */
static u32 mood(void)
{
	static const u32 p[] = { 0, 8, 128, 256 };

	return p[unit_below(4)];
}

static void link_step(struct link *l, u32 batch)
{
	int i = (int)unit_below(2), k;
	struct side *s = &l->side[i], *peer = &l->side[!i];
	u32 n;

	if (!unit_below(500)) {
		s->p_process = mood();
		for (k = 0; k < KINDS; k++) {
			s->p_send[k] = mood();
			s->p_consume[k] = mood();
		}
	}
	for (k = 0; k < KINDS; k++) {
		if (unit_below(256) < s->p_send[k])
			for (n = 1 + unit_below(batch); n; n--)
				if (!send_one(l, s, peer, k))
					break;
		if (k != CTRL && s->unconsumed[k] &&
		    unit_below(256) < s->p_consume[k])
			consume(l, s, peer, k,
				1 + unit_below(min_t(u32, batch,
						     s->unconsumed[k])));
	}
	if (unit_below(256) < s->p_process)
		for (n = 1 + unit_below(batch); n; n--)
			process_one(l, s, peer);
}

/* Let all arrive and be consumed. */
static void link_drain(struct link *l)
{
	bool again = true;
	int i, k;

	while (again) {
		again = false;
		for (i = 0; i < 2; i++) {
			struct side *s = &l->side[i], *peer = &l->side[!i];

			while (s->in_nr || s->repost) {
				process_one(l, s, peer);
				again = true;
			}
			for (k = 0; k < KINDS; k++) {
				if (!s->unconsumed[k])
					continue;
				consume(l, s, peer, k, s->unconsumed[k]);
				again = true;
			}
		}
	}
}

/* At rest both sides know the same, and can start again. */
static void link_check_rest(struct link *l, u32 window[2][KINDS])
{
	struct rnotify_wire_msg bye = {
		.type = RNOTIFY_WIRE_GOODBYE,
		.goodbye.reason = RNOTIFY_REASON_LOCAL_CLOSE,
	};
	int i, k;

	for (i = 0; i < 2; i++) {
		struct side *s = &l->side[i], *peer = &l->side[!i];

		for (k = 0; k < KINDS; k++) {
			EXPECT_AT(s->credit[k].limit == peer->grant[k].granted,
				  l->step);
			EXPECT_AT(s->credit[k].used == peer->grant[k].received,
				  l->step);
			EXPECT_AT(!!rnotify_credit_left(&s->credit[k]) ==
				  !!window[!i][k], l->step);
		}
		EXPECT_AT(s->receives == receives_for(window[i]), l->step);
		/* The last receive has always been left for this one. */
		EXPECT_AT(s->receives_low >= 1, l->step);
	}
	put_msg(l, &l->side[0], &bye);
	put_msg(l, &l->side[1], &bye);
}

static u32 run_link(u32 window[2][KINDS], u32 steps, u32 batch)
{
	static long long number;
	struct link l;
	u32 i, low;

	l.step = ++number * 1000000;
	side_init(&l.side[0], window[0], window[1]);
	side_init(&l.side[1], window[1], window[0]);
	for (i = 0; i < steps; i++) {
		link_step(&l, batch);
		l.step++;
	}
	link_drain(&l);
	link_check_rest(&l, window);
	low = min_t(u32, l.side[0].receives_low, l.side[1].receives_low);
	free(l.side[0].in);
	free(l.side[1].in);
	free(l.side[0].held);
	free(l.side[1].held);
	return low;
}

static u32 any_window(int kind, u32 largest)
{
	if (kind == REGIONS)
		return unit_below(min_t(u32, largest, 255) + 1);
	if (kind == CTRL)
		largest = min_t(u32, largest, 255);
	return 1 + unit_below(largest);
}

static void run_links(u32 links, u32 largest, u32 steps)
{
	u32 window[2][KINDS], low = U32_MAX, i;
	int k;

	for (i = 0; i < links; i++) {
		for (k = 0; k < KINDS; k++) {
			window[0][k] = any_window(k, largest);
			window[1][k] = any_window(k, largest);
		}
		low = min_t(u32, low, run_link(window, steps,
					       1 + largest / 2));
	}
	unit_note("%u links with windows up to %u, %u steps each; fewest receives left: %u",
		  links, largest, steps, low);
}

void test_credit_link(void)
{
	run_links(300, 4, 20000);
	run_links(100, 20, 20000);
}

void test_credit_link_large(void)
{
	u32 window[2][KINDS] = {
		{ 65535, 255, 255 },
		{ 65535, 255, 255 },
	};

	run_links(20, 2000, 2000);
	run_link(window, 3000, 5000);
}
