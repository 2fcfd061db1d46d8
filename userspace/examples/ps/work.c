// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * parameter_server work - a worker.
 *
 * Gets the model by a write into its memory, answers with its gradient, each
 * shard with an imm of its own, and knows the next round by the next model.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "ps.h"

/**
 * struct worker - one worker
 * @rn: context
 * @endpoint: connection to the server
 * @remote: own buffers at the server
 * @model: region that the server writes the model into
 * @gradients: region with the gradients of the last two rounds
 * @hello: who we are
 * @round: the latest one that the server began, whole number
 * @news: a model came that was not looked at
 * @over: the server says that it is done
 * @read: posts so far that the device has done with
 * @posts: posts so far
 * @late: send something of the round before, in each round
 * @die: in the middle of this iteration; -1: don't
 */
struct worker {
	struct rnotify *rn;
	uint32_t endpoint;
	uint32_t remote;
	struct rnotify_region *model;
	struct rnotify_region *gradients;
	struct ps_hello hello;
	uint64_t round;
	int news;
	int over;
	uint64_t read;
	uint64_t posts;
	int late;
	int64_t die;
};

static void on_event(void *who, const struct rnotify_event *e)
{
	struct worker *w = who;

	switch (e->type) {
	case RNOTIFY_EVENT_NOTIFY:
		w->over |= e->notify.imm == PS_END;
		w->news |= !w->over;
		w->round = w->over ? w->round :
			   rnotify_imm_widen(e->notify.imm, UINT32_MAX,
					     w->round);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		if (e->tx.error)
			die_of(e, "sending a gradient");
		w->read = e->tx.user_data;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		if (!w->over)
			die_of(e, "the server");
	}
}

static void progress(struct worker *w)
{
	await_events(w->rn, on_event, w);
}

/* Puts one shard of a round on its way; the last of several tells when done. */
static void send_shards(struct worker *w, uint64_t round, uint32_t first,
			uint32_t n)
{
	struct rnotify_op ops[PS_SHARDS];
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t shard = first + i;
		uint64_t at = (round % 2 * PS_MODEL + shard * PS_SHARD) *
			      sizeof(float);

		rnotify_prep_write_imm(&ops[i], w->endpoint, w->gradients, at,
				       w->remote, at, PS_SHARD * sizeof(float),
				       ps_imm_pack((struct ps_imm){
					       .worker = w->hello.worker,
					       .shard = shard,
					       .round = (uint32_t)round,
				       }), w->posts + i + 1);
	}
	ops[n - 1].flags |= RNOTIFY_OP_F_SIGNALED;
	w->posts += n;
	post(w->rn, ops, n);
}

static void await_read(struct worker *w)
{
	while (w->read != w->posts && !w->over)
		progress(w);
}

static void work(struct worker *w)
{
	const struct ps_model *model = rnotify_region_addr(w->model);
	struct ps_gradients *own = rnotify_region_addr(w->gradients);
	uint64_t round = w->round;
	uint32_t iteration = model->iteration;

	w->news = 0;
	/* The device may still read what this would write over. */
	await_read(w);
	ps_gradient(own->buffer[round % 2], model->weight, w->hello.worker,
		    iteration);
	/* Of an old round: the server has begun another one, and drops it. */
	if (w->late && round > 1)
		send_shards(w, round - 1, round % PS_SHARDS, 1);
	if ((int64_t)iteration != w->die) {
		send_shards(w, round, 0, PS_SHARDS);
		return;
	}
	send_shards(w, round, 0, PS_SHARDS / 2);
	await_read(w);
	raise(SIGKILL);
}

static void start(struct worker *w, const char *where)
{
	const struct rnotify_endpoint_attr attr = {
		.private_data = &w->hello,
		.private_len = sizeof(w->hello),
	};

	w->rn = open_context(1024);
	check(rnotify_alloc(w->rn, sizeof(struct ps_model), &w->model),
	      "memory for the model");
	check(rnotify_alloc(w->rn, sizeof(struct ps_gradients), &w->gradients),
	      "memory for gradients");
	w->endpoint = dial(w->rn, where, &attr);
	w->remote = await_region(w->rn, w->endpoint, PS_MAGIC).remote_id;
	check(rnotify_share(w->rn, w->endpoint, w->model, 0, 0,
			    RNOTIFY_RIGHT_WRITE, PS_MAGIC, NULL),
	      "sharing memory for the model");
}

int ps_work(int argc, char **argv)
{
	static const struct option options[] = {
		{ "late", no_argument, NULL, 'l' },
		{ "die", required_argument, NULL, 'd' },
		{ 0 }
	};
	struct worker w = { .hello.magic = PS_MAGIC, .die = -1 };
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'l')
			w.late = 1;
		else if (o == 'd')
			w.die = (int64_t)number(optarg, 0, INT32_MAX);
		else
			optind = argc + 1;
	}
	if (optind != argc - 2)
		die("usage: parameter_server work [--late] [--die ITERATION] WORKER ADDRESS");
	w.hello.worker = (uint32_t)number(argv[optind], 0, PS_WORKERS_MAX - 1);
	start(&w, argv[optind + 1]);
	while (!w.over) {
		if (w.news)
			work(&w);
		else
			progress(&w);
	}
	printf("worker %u: %" PRIu64 " rounds\n", w.hello.worker, w.round);
	rnotify_destroy(w.rn, w.endpoint);
	rnotify_close(w.rn);
	return 0;
}
