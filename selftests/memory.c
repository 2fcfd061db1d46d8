// SPDX-License-Identifier: GPL-2.0
/*
 * What an endpoint costs: its own queues and buffers, as ENDPOINT_INFO counts
 * them.
 */
#include "kselftest_harness.h"
#include "rnt.h"

#define KMEM_MAX	(64 * RNT_KIB)	/* at the default depths, 64 */

FIXTURE(memory)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
};

FIXTURE_SETUP(memory)
{
	rnt_init(&self->a, 16384, 0);
	rnt_init(&self->b, 16384, 0);
}

FIXTURE_TEARDOWN(memory)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static __u64 kmem(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnotify_endpoint_info info;

	rnt_info(c, endpoint, &info);
	return info.kmem;
}

TEST_F(memory, endpoint_of_depth_64)
{
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	TH_LOG("%llu bytes", kmem(&self->a, self->p.ea));
	EXPECT_LE(kmem(&self->a, self->p.ea), KMEM_MAX);
	EXPECT_LE(kmem(&self->b, self->p.eb), KMEM_MAX);
	/* the receives alone: 64 for data, 256 bytes each */
	EXPECT_GE(kmem(&self->a, self->p.ea), 64 * 256);
}

TEST_F(memory, endpoint_of_depth_1024)
{
	struct rnotify_params deep = { .recv_depth = 1024, .send_depth = 1024 };

	rnt_pair_open(&self->p, &self->a, &self->b, &deep, &deep);
	TH_LOG("%llu bytes", kmem(&self->a, self->p.ea));
	/* 16 times as deep is not more than 16 times as large */
	EXPECT_LE(kmem(&self->a, self->p.ea), 16 * KMEM_MAX);
}

TEST_HARNESS_MAIN
