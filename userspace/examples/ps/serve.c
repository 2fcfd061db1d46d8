// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * parameter_server serve - the server.
 *
 * Gradients are no events. Rules send those of even and of odd rounds to one
 * counter each, which all workers feed, and the server sleeps until that has
 * counted all shards of all workers: one wake-up for an iteration. The end of a
 * worker ends that sleep, too.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "ps.h"

#define RING_ENTRIES 4096

/**
 * struct member - a worker, seen from the server
 * @endpoint: connection, 0: it is not there
 * @remote: where its model goes
 * @established: it was there: its end counts
 * @ready: @remote is known
 * @counted: notifications that were counted when the round began
 */
struct member {
	uint32_t endpoint;
	uint32_t remote;
	int established;
	int ready;
	uint64_t counted;
};

/**
 * struct server - the training
 * @rn: context
 * @members: workers
 * @workers: how many there must be
 * @iterations: to do
 * @iteration: this one
 * @round: attempts so far
 * @counters: of even and odd rounds
 * @generation: the round, for the rules
 * @ended: ends of workers that were dealt with: each of them fed both counters
 * @posted: writes of the model that are not done
 * @model: region with the model
 * @buffers: region with the gradients of all workers
 * @waits: for a counter
 */
struct server {
	struct rnotify *rn;
	struct member members[PS_WORKERS_MAX];
	uint32_t workers;
	uint32_t iterations;
	uint32_t iteration;
	uint64_t round;
	struct rnotify_counter *counters[2];
	uint32_t generation;
	uint32_t ended;
	unsigned int posted;
	struct rnotify_region *model;
	struct rnotify_region *buffers;
	uint64_t waits;
};

static struct ps_model *model_of(struct server *s)
{
	return rnotify_region_addr(s->model);
}

/* ---- workers come and go ---- */

/* Even rounds to one counter, odd ones to the other, and old ones to neither. */
static int set_rules(struct server *s, uint32_t endpoint)
{
	const unsigned int lowest = RNOTIFY_IMM_SHIFT(ps_imm, round);
	struct rnotify_rule rules[2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		rnotify_rule_init(&rules[i], RNOTIFY_ACTION_COUNTER,
				  rnotify_counter_id(s->counters[i]));
		rnotify_rule_match(&rules[i], 1u << lowest, i << lowest);
		RNOTIFY_RULE_GENERATION(&rules[i], ps_imm, round,
					s->generation);
	}
	return rnotify_route(s->rn, endpoint, rules, 2);
}

static void on_request(struct server *s, const struct rnotify_event *e)
{
	struct rnotify_endpoint_attr attr = { 0 };
	struct ps_hello hello;

	memcpy(&hello, e->request.private_data, sizeof(hello));
	if (e->request.private_len != sizeof(hello) ||
	    hello.magic != PS_MAGIC || hello.worker >= s->workers) {
		rnotify_reject(s->rn, e->endpoint, "no such worker", 14);
		return;
	}
	attr.cookie = hello.worker + 1;
	/* The one before may be on its way out; or this one has gone again. */
	if (s->members[hello.worker].endpoint || set_rules(s, e->endpoint) ||
	    rnotify_accept(s->rn, e->endpoint, &attr)) {
		rnotify_reject(s->rn, e->endpoint, NULL, 0);
		return;
	}
	s->members[hello.worker] = (struct member){ .endpoint = e->endpoint };
}

static uint64_t counted(struct server *s, uint32_t endpoint)
{
	struct rnotify_endpoint_info info;

	check(rnotify_endpoint_info(s->rn, endpoint, &info), "ENDPOINT_INFO");
	return info.rx_counted;
}

static void on_down(struct server *s, const struct rnotify_event *e)
{
	struct member *m = &s->members[e->cookie ? e->cookie - 1 : 0];
	char text[512];

	if (!e->cookie) {	/* was rejected */
		rnotify_destroy(s->rn, e->endpoint);
		return;
	}
	printf("worker %u is gone in iteration %u, after %" PRIu64 " of its %u shards: %s\n",
	       (unsigned int)(m - s->members), s->iteration,
	       counted(s, e->endpoint) - m->counted, PS_SHARDS,
	       rnotify_explain(e, text, sizeof(text)));
	fflush(stdout);
	/* The fence: its buffers can go to the one that comes for it. */
	check(rnotify_destroy(s->rn, e->endpoint), "ending a connection");
	s->ended += (uint32_t)m->established;
	*m = (struct member){ 0 };
}

static void on_established(struct server *s, const struct rnotify_event *e)
{
	s->members[e->cookie - 1].established = 1;
	check_peer(rnotify_share(s->rn, e->endpoint, s->buffers,
				 (e->cookie - 1) * sizeof(struct ps_gradients),
				 sizeof(struct ps_gradients),
				 RNOTIFY_RIGHT_WRITE, PS_MAGIC, NULL),
		   "sharing buffers");
}

static void on_event(struct server *s, const struct rnotify_event *e)
{
	switch (e->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		on_request(s, e);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		on_established(s, e);
		break;
	case RNOTIFY_EVENT_REMOTE_REGION:
		s->members[e->cookie - 1].remote = e->region.remote_id;
		s->members[e->cookie - 1].ready =
			e->region.length >= sizeof(struct ps_model);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		s->posted--;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(s, e);
		break;
	}
}

static void take_events(struct server *s)
{
	const struct rnotify_event *e;

	while ((e = rnotify_peek(s->rn))) {
		on_event(s, e);
		rnotify_release(s->rn, 1);
	}
}

static void await_event(struct server *s, int64_t deadline, const char *what)
{
	int ret = rnotify_wait(s->rn, 1, deadline, 0);

	if (ret == -ETIME)
		die("iteration %u: %s", s->iteration, what);
	if (ret != -EINTR)
		check(ret, "waiting");
	take_events(s);
}

/* ---- a round ---- */

static int all_ready(const struct server *s)
{
	uint32_t w;

	for (w = 0; w < s->workers; w++)
		if (!s->members[w].ready)
			return 0;
	return 1;
}

/*
 * From here on, what is of an earlier round is dropped, on all endpoints. Only
 * then the counter is set to 0: what was counted before goes with that.
 */
static void begin_round(struct server *s)
{
	const uint64_t most = (uint64_t)s->workers * PS_SHARDS;
	uint64_t before;
	uint32_t w;

	s->round++;
	check(rnotify_generation_set(s->rn, s->generation, (uint32_t)s->round,
				     NULL), "a new generation");
	check(rnotify_counter_reset(s->counters[s->round % 2], &before, NULL),
	      "resetting a counter");
	if (before > most)
		die("round %" PRIu64 " had %" PRIu64 " shards, %" PRIu64 " at the most",
		    s->round - 2, before, most);
	for (w = 0; w < s->workers; w++)
		s->members[w].counted = counted(s, s->members[w].endpoint);
}

static void send_model(struct server *s)
{
	struct rnotify_op op;
	uint32_t w;
	int ret;

	model_of(s)->round = (uint32_t)s->round;
	model_of(s)->iteration = s->iteration;
	for (w = 0; w < s->workers; w++) {
		rnotify_prep_write_imm(&op, s->members[w].endpoint, s->model, 0,
				       s->members[w].remote, 0,
				       sizeof(struct ps_model),
				       (uint32_t)s->round, w);
		op.flags |= RNOTIFY_OP_F_SIGNALED;
		ret = rnotify_post(s->rn, &op, 1, 0, 10000000000ll);
		/* If it has just died, that comes out in the wait. */
		if (ret != -ENOENT)
			check_peer(ret, "sending the model");
		s->posted += ret == 1;
	}
}

/* Whether all gradients are here. If not, a worker has gone, and was named. */
static int await_gradients(struct server *s)
{
	const uint64_t all = (uint64_t)s->workers * PS_SHARDS;
	struct rnotify_ended ended = { .count = s->ended };
	int64_t deadline = patience();
	int ret;

	do {
		s->waits++;
		ret = rnotify_counter_wait(s->counters[s->round % 2], all,
					   deadline, &ended);
	} while (ret == -EINTR);
	if (ret == -ETIME)
		die("iteration %u: less than %" PRIu64 " shards came",
		    s->iteration, all);
	if (ret && ret != -EPIPE)
		check(ret, "waiting for gradients");
	while (ret && s->ended != ended.count)
		await_event(s, deadline, "a worker ended without a word");
	return !ret;
}

static void update(struct server *s)
{
	const struct ps_gradients *own = rnotify_region_addr(s->buffers);
	const float *gradients[PS_WORKERS_MAX];
	uint32_t w;

	/* The device may still read the model, for a worker that is ahead. */
	while (s->posted)
		await_event(s, patience(), "a model is still under way");
	for (w = 0; w < s->workers; w++)
		gradients[w] = own[w].buffer[s->round % 2];
	ps_update(model_of(s)->weight, gradients, s->workers);
}

static void iterate(struct server *s)
{
	int64_t deadline;

	do {
		deadline = patience();
		take_events(s);
		while (!all_ready(s) || s->posted)
			await_event(s, deadline, "a worker is missing");
		begin_round(s);
		send_model(s);
	} while (!await_gradients(s));
	update(s);
}

/* ---- the whole ---- */

static void dismiss(struct server *s)
{
	struct rnotify_op op;
	uint32_t w;

	take_events(s);
	for (w = 0; w < s->workers; w++) {
		if (!s->members[w].endpoint)
			continue;
		rnotify_prep_notify(&op, s->members[w].endpoint, PS_END, 0);
		rnotify_post(s->rn, &op, 1, 0, 1000000000);
		/* Completes what was posted. */
		rnotify_destroy(s->rn, s->members[w].endpoint);
	}
}

static void compare(struct server *s)
{
	static float expected[PS_MODEL];
	uint64_t stale;

	ps_sequential(expected, s->workers, s->iterations);
	if (memcmp(expected, model_of(s)->weight, sizeof(expected)))
		die("the model is not what one process computes");
	check(rnotify_generation_get(s->rn, s->generation, NULL, &stale),
	      "the generation");
	printf("iterations: %u rounds: %" PRIu64 " stale: %" PRIu64
	       " waits: %" PRIu64 " lost workers: %u model: %08x\n",
	       s->iterations, s->round, stale, s->waits, s->ended,
	       crc32c(0, expected, sizeof(expected)));
}

static void prepare(struct server *s, const char *where)
{
	s->rn = open_context(RING_ENTRIES);
	check(rnotify_counter_create(s->rn, &s->counters[0]), "a counter");
	check(rnotify_counter_create(s->rn, &s->counters[1]), "a counter");
	check(rnotify_generation_create(s->rn, 0, &s->generation),
	      "a generation");
	check(rnotify_alloc(s->rn, sizeof(struct ps_model), &s->model),
	      "memory for the model");
	check(rnotify_alloc(s->rn, s->workers * sizeof(struct ps_gradients),
			    &s->buffers), "memory for gradients");
	ps_start(model_of(s)->weight);
	listen_at(s->rn, where);
}

int ps_serve(int argc, char **argv)
{
	static const struct option options[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "iterations", required_argument, NULL, 'i' },
		{ 0 }
	};
	struct server s = { .workers = 4, .iterations = 20 };
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'w')
			s.workers = (uint32_t)number(optarg, 1, PS_WORKERS_MAX);
		else if (o == 'i')
			s.iterations = (uint32_t)number(optarg, 1, 1u << 30);
		else
			die("usage: parameter_server serve [--workers N] [--iterations N] [ADDRESS]");
	}
	prepare(&s, optind < argc ? argv[optind] : "*");
	for (s.iteration = 0; s.iteration < s.iterations; s.iteration++)
		iterate(&s);
	dismiss(&s);
	compare(&s);
	rnotify_close(s.rn);
	return 0;
}
