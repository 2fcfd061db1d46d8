// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - the measured loops.
 *
 * Latency: the client rings, the server answers, on each endpoint in turn.
 *
 * Stream: the client posts all that it may, in batches, on each endpoint in
 * turn; the server takes, and tells with a notification of its own when it has
 * got everything. What is measured begins with an empty pipe and ends with that
 * answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define NOTES_MAX 256
#define CHUNKS 16

/**
 * struct engine - one end at work
 * @link: connections
 * @run: of it
 * @sent: next number to be sent, per endpoint
 * @got: next number to arrive, per endpoint
 * @notes: taken and not yet looked at
 * @nr_notes: how many
 * @at: the first of them
 */
struct engine {
	struct link *link;
	const struct run *run;
	uint32_t *sent;
	uint32_t *got;
	struct note notes[NOTES_MAX];
	unsigned int nr_notes;
	unsigned int at;
};

static int engine_open(struct engine *e, struct link *link)
{
	uint32_t n = link->run->endpoints;

	*e = (struct engine){ .link = link, .run = link->run };
	e->sent = calloc(2 * (size_t)n, sizeof(*e->sent));
	if (!e->sent)
		return fail("no memory");
	e->got = e->sent + n;
	return 0;
}

static void engine_close(struct engine *e)
{
	free(e->sent);
}

/* ---- what every payload is made of, with run->check ---- */

static unsigned char stamp(uint32_t ep, uint32_t number, uint32_t at)
{
	return (unsigned char)(ep * 31 + number * 131 + at * 7 + (at >> 8));
}

static void stamp_slot(struct engine *e, uint32_t ep, uint32_t number)
{
	unsigned char *p = e->link->ops->sent(e->link, ep,
					      number % slots_of(e->run));
	uint32_t i;

	for (i = 0; i < e->run->size; i++)
		p[i] = stamp(ep, number, i);
}

static int check_slot(struct engine *e, uint32_t ep, uint32_t number)
{
	const unsigned char *p = e->link->ops->got(e->link, ep,
						   number % slots_of(e->run));
	uint32_t i;

	for (i = 0; i < e->run->size; i++)
		if (p[i] != stamp(ep, number, i))
			return fail("%s: notification %u of endpoint %u: byte %u of %u is wrong",
				    e->link->ops->name, number, ep, i,
				    e->run->size);
	return 0;
}

/* ---- one step ---- */

/*
 * What was posted tells that all but a window of it has been consumed, and there
 * are slots for two windows: so one window can be stamped ahead.
 */
static unsigned int stamp_slots(struct engine *e, uint32_t ep, unsigned int n)
{
	unsigned int i;

	if (!e->run->check)
		return n;
	if (n > e->run->window)
		n = e->run->window;
	for (i = 0; i < n; i++)
		stamp_slot(e, ep, e->sent[ep] + i);
	return n;
}

/* All of them, sleeping for room when there is none. */
static int post_all(struct engine *e, uint32_t ep, unsigned int n)
{
	const struct transport *t = e->link->ops;
	int ret;

	while (n) {
		ret = t->post(e->link, ep, stamp_slots(e, ep, n));
		if (ret < 0)
			return EXIT_FAILED;
		e->sent[ep] += (uint32_t)ret;
		n -= (unsigned int)ret;
		if (n && !ret && t->sleep(e->link, true, ep))
			return EXIT_FAILED;
	}
	return 0;
}

/* The next notification: never lost, doubled or reordered, whatever it costs. */
static int next_note(struct engine *e, struct note *note)
{
	const struct transport *t = e->link->ops;
	unsigned int max = e->run->window < NOTES_MAX ? e->run->window :
		NOTES_MAX;
	int n;

	while (e->at == e->nr_notes) {
		n = t->take(e->link, e->notes, max);
		if (n < 0 || (!n && t->sleep(e->link, false, 0)))
			return EXIT_FAILED;
		e->at = 0;
		e->nr_notes = (unsigned int)n;
	}
	*note = e->notes[e->at++];
	if (note->number != e->got[note->endpoint]++)
		return fail("%s: notification %u of endpoint %u came, not %u",
			    t->name, note->number, note->endpoint,
			    e->got[note->endpoint] - 1);
	return e->run->check ?
		check_slot(e, note->endpoint, note->number) : 0;
}

/* ---- measuring ---- */

struct moment {
	struct usage usage;
	struct machine machine;
};

static void begin(struct engine *e, struct moment *m)
{
	machine_now(&m->machine);
	usage_now(&m->usage, e->link->sleeps);
}

static void end(struct engine *e, const struct moment *m,
		struct end_result *result)
{
	usage_now(&result->used, e->link->sleeps);
	machine_now(&result->machine);
	usage_since(&result->used, &m->usage);
	result->machine.busy_ns -= m->machine.busy_ns;
}

static int flush(struct engine *e)
{
	return e->link->ops->flush ? e->link->ops->flush(e->link) : 0;
}

/* ---- latency ---- */

static int ping(struct engine *e, uint64_t n, uint32_t *one_way)
{
	uint64_t start, took, i;
	struct note note;

	for (i = 0; i < n; i++) {
		start = now_ns();
		if (post_all(e, (uint32_t)(i % e->run->endpoints), 1) ||
		    next_note(e, &note))
			return EXIT_FAILED;
		took = (now_ns() - start) / 2;
		if (one_way)
			one_way[i] = took < UINT32_MAX ? (uint32_t)took :
				UINT32_MAX;
	}
	return 0;
}

static int pong(struct engine *e, uint64_t n)
{
	struct note note;

	while (n--)
		if (next_note(e, &note) || post_all(e, note.endpoint, 1))
			return EXIT_FAILED;
	return 0;
}

/* ---- stream ---- */

static int stream_out(struct engine *e, uint64_t n)
{
	struct note note;
	uint32_t ep = 0;
	uint64_t part;

	while (n) {
		part = n < e->run->batch ? n : e->run->batch;
		if (post_all(e, ep, (unsigned int)part))
			return EXIT_FAILED;
		n -= part;
		if (++ep == e->run->endpoints)
			ep = 0;
	}
	return next_note(e, &note);
}

/*
 * Notifications whose rate may be the peak. What a window holds can be there at
 * once when the receiver was late: that is no rate, so it has to be little of it.
 */
static uint64_t chunk_of(const struct run *run, uint64_t n)
{
	uint64_t least = 8ull * run->window * run->endpoints;
	uint64_t chunk = n / CHUNKS > least ? n / CHUNKS : least;

	return chunk < n ? chunk : n;
}

static int stream_in(struct engine *e, uint64_t n, double *peak)
{
	uint64_t chunk = chunk_of(e->run, n), i, now, last = now_ns();
	struct note note;

	*peak = 0;
	for (i = 1; i <= n; i++) {
		if (next_note(e, &note))
			return EXIT_FAILED;
		if (i % chunk)
			continue;
		now = now_ns();
		if ((double)chunk * 1e9 / (double)(now - last + 1) > *peak)
			*peak = (double)chunk * 1e9 / (double)(now - last + 1);
		last = now;
	}
	return post_all(e, 0, 1);
}

/* ---- both ends ---- */

static int client_part(struct engine *e, uint64_t n, uint32_t *one_way)
{
	return e->run->mode == MODE_LATENCY ? ping(e, n, one_way) :
		stream_out(e, n);
}

static int server_part(struct engine *e, uint64_t n, double *peak)
{
	return e->run->mode == MODE_LATENCY ? pong(e, n) :
		stream_in(e, n, peak);
}

int engine_client(struct link *link, struct end_result *result,
		  uint32_t *one_way)
{
	struct moment m;
	struct engine e;
	int ret;

	if (engine_open(&e, link))
		return EXIT_FAILED;
	ret = client_part(&e, link->run->warmup, NULL);
	begin(&e, &m);
	if (!ret)
		ret = client_part(&e, link->run->iterations, one_way);
	if (!ret)
		ret = flush(&e);
	end(&e, &m, result);
	engine_close(&e);
	return ret;
}

int engine_server(struct link *link, struct end_result *result)
{
	struct moment m;
	struct engine e;
	int ret;

	if (engine_open(&e, link))
		return EXIT_FAILED;
	ret = server_part(&e, link->run->warmup, &result->peak);
	begin(&e, &m);
	if (!ret)
		ret = server_part(&e, link->run->iterations, &result->peak);
	if (!ret)
		ret = flush(&e);
	end(&e, &m, result);
	engine_close(&e);
	return ret;
}
