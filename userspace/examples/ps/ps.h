/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * parameter_server - what workers and server agree on.
 *
 * Training by gradient descent: in each iteration the server writes the model
 * into the memory of all workers; each worker computes its gradient and writes
 * it, shard by shard, into the server's memory; the server adds the gradients up
 * and changes the model.
 *
 * A *round* is one attempt at an iteration. If a worker dies in it, the round is
 * given up, and the iteration has another one. What belongs to a round that is
 * over is late: the generation rule drops its notifications. Its bytes do land,
 * in the buffer of that round: there are two, in turn.
 */
#ifndef _EXAMPLE_PS_H
#define _EXAMPLE_PS_H

#include <stddef.h>
#include <stdint.h>

#include <rnotify/imm.h>

/* The immediate data of a shard of a gradient */
#define PS_IMM(field) \
	field(worker, 6) \
	field(shard, 10) \
	field(round, 16)	/* its low bits */
RNOTIFY_IMM_LAYOUT(ps_imm, PS_IMM);

/* The immediate data of a model is the low bits of the round; this ends it. */
#define PS_END		UINT32_MAX

#define PS_WORKERS_MAX	16u
#define PS_SHARDS	16u
#define PS_SHARD	256u			/* numbers */
#define PS_MODEL	(PS_SHARDS * PS_SHARD)
#define PS_MAGIC	0x53505252u

/* Private data of the connect. */
struct ps_hello {
	uint32_t magic;
	uint32_t worker;
};

/* What is written into a worker's memory. */
struct ps_model {
	uint32_t round;
	uint32_t iteration;
	float weight[PS_MODEL];
};

/* What a worker has at the server: the buffers of even and of odd rounds. */
struct ps_gradients {
	float buffer[2][PS_MODEL];
};

/* ---- the arithmetic: each in one place, so that all get the same bits ---- */

void ps_start(float *model);
/* One worker's gradient, of made-up data */
void ps_gradient(float *gradient, const float *model, uint32_t worker,
		 uint32_t iteration);
/* Always in the same order: floating-point addition is not associative. */
void ps_update(float *model, const float *const *gradients, uint32_t workers);
/* All of it by one process, for comparison */
void ps_sequential(float *model, uint32_t workers, uint32_t iterations);

/* The subcommands */
int ps_serve(int argc, char **argv);
int ps_work(int argc, char **argv);

#endif /* _EXAMPLE_PS_H */
