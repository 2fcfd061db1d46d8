// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * parameter_server - the arithmetic.
 */
#include "example.h"
#include "ps.h"

#define RATE	0.125f
#define DECAY	0.0625f

/* -1 to 1, from a number */
static float dice(uint64_t n)
{
	return (float)((int32_t)(scramble(n) >> 40) - (1 << 23)) / (1 << 23);
}

void ps_start(float *model)
{
	uint32_t i;

	for (i = 0; i < PS_MODEL; i++)
		model[i] = dice(i);
}

void ps_gradient(float *gradient, const float *model, uint32_t worker,
		 uint32_t iteration)
{
	uint64_t n = ((uint64_t)worker << 32 | iteration) << 16;
	uint32_t i;

	for (i = 0; i < PS_MODEL; i++)
		gradient[i] = DECAY * model[i] + dice(n + i);
}

void ps_update(float *model, const float *const *gradients, uint32_t workers)
{
	uint32_t i, w;
	float sum;

	for (i = 0; i < PS_MODEL; i++) {
		sum = 0;
		for (w = 0; w < workers; w++)
			sum += gradients[w][i];
		model[i] -= RATE * sum / (float)workers;
	}
}

void ps_sequential(float *model, uint32_t workers, uint32_t iterations)
{
	static float gradient[PS_WORKERS_MAX][PS_MODEL];
	const float *gradients[PS_WORKERS_MAX];
	uint32_t i, w;

	ps_start(model);
	for (i = 0; i < iterations; i++) {
		for (w = 0; w < workers; w++) {
			ps_gradient(gradient[w], model, w, i);
			gradients[w] = gradient[w];
		}
		ps_update(model, gradients, workers);
	}
}
