/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - flow control by cumulative totals.
 *
 * There is one such pair of structs per kind of credit (data, control,
 * regions) and direction: the receiver holds a &struct rnotify_grant, the
 * sender a &struct rnotify_credit. All totals are counted from the start of
 * the connection and never wrap (2^64). Both sides start with the window that
 * the receiver announced in its hello; later totals travel in CREDIT messages,
 * which need no credit themselves. A total that comes twice or late changes
 * nothing.
 *
 * The rule: the receiver sends a CREDIT message as soon as
 * rnotify_grant_due(), and asks after *every* rnotify_grant_arrived() and
 * *every* rnotify_grant_return().
 *
 * No deadlock
 *	Let the sender have used all it knows of, let all of that have arrived,
 *	and no CREDIT message be on its way. Then the sender's limit == granted
 *	== received: the peer is starved, and a message was due as soon as
 *	anything was returned. So nothing is: the user holds a whole window of
 *	unconsumed arrivals, and the first return makes a message due.
 *
 *	Asking after returns alone would not do: with a window of 3, two
 *	arrived, one of them returned, it is the arrival of the third that makes
 *	a message due. Without it the peer would be stuck for as long as the
 *	user holds the other two, although there is room.
 *
 * How many CREDIT messages one grant can have under way
 *	Let T = max(1, (window + 1) / 2), and let a message be under way from
 *	rnotify_grant_take() until the peer's rnotify_credit_update(). Look at
 *	the messages that *this* grant caused and that are under way; let G be
 *	the total that the peer had from the last one it processed. The channel
 *	is in order.
 *
 *	(1) The peer used at most G, so received <= G, and hence returned <=
 *	    received + window <= G + window. The totals under way rise from G
 *	    to at most returned: the increments add up to at most window.
 *	(2) A message that starvation caused had received == granted when it
 *	    was taken. Behind another one under way, granted > G >= received:
 *	    impossible. So at most the first was caused by starvation; all
 *	    others have an increment of at least T.
 *	(3) None starved: n * T <= window, so n <= window / T <= 2. The first
 *	    starved: 1 + (n - 1) * T <= window, so n <= 1 + (window - 1) / T,
 *	    which is 1 for window 1 and 2 for any larger.
 *
 *	So the exact maximum is 2 (1 if the window is 1, none if it is 0), one
 *	less than the plain bound window / T + 1 <= 3. Totals that ride along in
 *	messages which another grant caused only make the increments smaller:
 *	(1) and (2) hold unchanged.
 *
 *	RNOTIFY_CREDIT_MSGS_MAX keeps the one more, for what the peer is *just*
 *	processing: its totals are updated, or its credit is returned already,
 *	which lets new traffic follow, but its receive has not been posted
 *	again. That can be one message at a time, of whatever kind, if the peer
 *	posts each receive again before it processes the next completion. Who
 *	posts receives in batches must reserve as many more as the batch is
 *	long.
 *
 * The unit tests check all of this with a model: exhaustively for small
 * windows, at random for large ones.
 */
#ifndef _RNOTIFY_CREDIT_H
#define _RNOTIFY_CREDIT_H

#include "pure.h"

/* Receives to reserve for CREDIT messages, per kind of credit; see above. */
#define RNOTIFY_CREDIT_MSGS_MAX	3

/* Largest window: what the hello can carry. */
#define RNOTIFY_CREDIT_WINDOW_MAX 65535

/**
 * struct rnotify_grant - receiver's side of one kind of credit
 * @window: arrivals that there is room for, 0 to RNOTIFY_CREDIT_WINDOW_MAX
 * @granted: total that the peer was told, or is being told
 * @received: arrivals counted
 * @returned: total that can be granted: @window + arrivals disposed of
 *
 * Invariants: received <= granted <= returned <= received + window.
 * All are protected by a lock of the caller.
 */
struct rnotify_grant {
	u32 window;
	u64 granted;
	u64 received;
	u64 returned;
};

/**
 * struct rnotify_credit - sender's side of one kind of credit
 * @limit: total that the peer granted, as far as known
 * @used: credits taken
 *
 * Invariant: used <= limit <= used + RNOTIFY_CREDIT_WINDOW_MAX.
 * Both are protected by a lock of the caller.
 */
struct rnotify_credit {
	u64 limit;
	u64 used;
};

/**
 * rnotify_grant_init - start with a full window
 * @g: grant
 * @window: arrivals that there is room for, as announced in the hello
 *
 * Context: Any; nobody else uses @g yet.
 */
static inline void rnotify_grant_init(struct rnotify_grant *g, u32 window)
{
	g->window = window;
	g->granted = window;
	g->received = 0;
	g->returned = window;
}

/**
 * rnotify_grant_arrived - count one arrival
 * @g: grant
 *
 * Ask rnotify_grant_due() next.
 *
 * Context: Any. The caller holds the lock of @g.
 * Return: false if the peer had no credit for it, which breaks the protocol;
 * nothing is counted then.
 */
static inline bool rnotify_grant_arrived(struct rnotify_grant *g)
{
	if (g->received >= g->granted)
		return false;
	g->received++;
	return true;
}

/**
 * rnotify_grant_return - room for arrivals is free again
 * @g: grant
 * @n: how many; never more than have arrived and not been returned
 *
 * Ask rnotify_grant_due() next.
 *
 * Context: Any. The caller holds the lock of @g.
 */
static inline void rnotify_grant_return(struct rnotify_grant *g, u32 n)
{
	g->returned += n;
}

/**
 * rnotify_grant_due - is it time to tell the peer a new total?
 * @g: grant
 *
 * Context: Any. The caller holds the lock of @g.
 * Return: true if there is something to grant, and it is half a window, or
 * everything granted before has arrived (the peer is starved).
 */
static inline bool rnotify_grant_due(const struct rnotify_grant *g)
{
	u64 ungranted = g->returned - g->granted;

	if (!ungranted)
		return false;
	return ungranted >= max_t(u32, 1, (g->window + 1) / 2) ||
	       g->received == g->granted;
}

/**
 * rnotify_grant_take - grant all that can be granted
 * @g: grant
 *
 * The caller sends the total in a CREDIT message; messages must leave in the
 * order in which their totals were taken.
 *
 * Context: Any. The caller holds the lock of @g.
 * Return: the new total.
 */
static inline u64 rnotify_grant_take(struct rnotify_grant *g)
{
	g->granted = g->returned;
	return g->granted;
}

/**
 * rnotify_grant_peer_left - arrivals that may still come
 * @g: grant
 *
 * Context: Any. The caller holds the lock of @g.
 * Return: credits granted, on their way to the peer included, for which
 * nothing has arrived yet: 0 to window.
 */
static inline u32 rnotify_grant_peer_left(const struct rnotify_grant *g)
{
	return (u32)(g->granted - g->received);
}

/**
 * rnotify_credit_init - start with the window that the peer announced
 * @c: credit
 * @window: from the peer's hello
 *
 * Context: Any; nobody else uses @c yet.
 */
static inline void rnotify_credit_init(struct rnotify_credit *c, u32 window)
{
	c->limit = window;
	c->used = 0;
}

/**
 * rnotify_credit_left - credits that can be used now
 * @c: credit
 *
 * Context: Any. The caller holds the lock of @c.
 * Return: 0 to RNOTIFY_CREDIT_WINDOW_MAX.
 */
static inline u32 rnotify_credit_left(const struct rnotify_credit *c)
{
	return (u32)(c->limit - c->used);
}

/**
 * rnotify_credit_use - take one credit
 * @c: credit
 *
 * Context: Any. The caller holds the lock of @c.
 * Return: false if there is none.
 */
static inline bool rnotify_credit_use(struct rnotify_credit *c)
{
	if (c->used >= c->limit)
		return false;
	c->used++;
	return true;
}

/**
 * rnotify_credit_update - a CREDIT message came
 * @c: credit
 * @total: the peer's new total, as received (not trusted)
 *
 * A total never allows more than RNOTIFY_CREDIT_WINDOW_MAX beyond what was
 * used: an honest peer's is at most received + window, and it can't have
 * received what was not sent.
 *
 * Context: Any. The caller holds the lock of @c.
 * Return: 1 if there is more credit now, 0 if the total is old (ignored),
 * -EPROTO if it is absurd (@c is unchanged).
 */
static inline int rnotify_credit_update(struct rnotify_credit *c, u64 total)
{
	if (total <= c->limit)
		return 0;
	if (total - c->used > RNOTIFY_CREDIT_WINDOW_MAX)
		return -EPROTO;
	c->limit = total;
	return 1;
}

#endif /* _RNOTIFY_CREDIT_H */
