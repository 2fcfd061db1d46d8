// SPDX-License-Identifier: GPL-2.0
/*
 * One allocation fails somewhere in the system while a connection is made, used
 * and ended (FAULTS 49): in the caller, in rdma_cm, in the workers of both sides,
 * in a softirq. Which one is told by the bytes that are allocated before it.
 * Either the connection comes, or both sides are told; and the next one comes.
 *
 * rvm: kernels=debug long=1 limit=200
 */
#include "kselftest_harness.h"
#include "rnt.h"

/* All of a connection is within that, and each allocation is tried. */
#define BYTES	(160 * RNT_KIB)
#define STEP	(RNT_KIB + 32)

/* A lost packet is sent again after some seconds: it shall not be waited for. */
static const struct rnotify_params params = {
	.connect_timeout_ms = 1500, .keepalive_ms = 5000,
};

FIXTURE(cm)
{
	struct rnt_base base;
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_region r;
	__u16 port;
	__u32 listener;
	/* of the connection that is tried */
	__u32 ea;
	bool up;
	bool down;
	unsigned int peers;	/* endpoints of b that are not destroyed yet */
};

FIXTURE_SETUP(cm)
{
	rnt_fault_setup();
	rnt_base_read(&self->base);
	rnt_init(&self->a, 512, 256);
	rnt_init(&self->b, 2048, 256);
	rnt_region_user(&self->b, &self->r, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	self->listener = rnt_listen(&self->b, rnt_addr4(), &self->port, 16);
}

FIXTURE_TEARDOWN(cm)
{
	rnt_fault_system_off();
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

typedef FIXTURE_DATA(cm) cm;

/* The passive side: accepts, shares, and forgets what has ended. */
static void serve(cm *self)
{
	struct rnotify_share share = {
		.region_id = self->r.id, .rights = RNOTIFY_RIGHT_WRITE,
	};
	struct rnotify_event ev;

	while (rnt_take(&self->b, 0, &ev, 0)) {
		if (ev.type == RNOTIFY_EVENT_CONNECT_REQUEST) {
			self->peers++;
			if (rnt_accept(&self->b, ev.endpoint, &params, 0))
				rnt_reject(&self->b, ev.endpoint);
		} else if (ev.type == RNOTIFY_EVENT_ESTABLISHED) {
			share.endpoint_id = ev.endpoint;
			if (rnt_share_err(&self->b, &share))
				rnt_disconnect(&self->b, ev.endpoint);
		} else if (ev.type == RNOTIFY_EVENT_DISCONNECTED) {
			rnt_destroy(&self->b, ev.endpoint);
			self->peers--;
		}
	}
}

/* The active side: what it learns, and whether that is new. */
static void ask(cm *self)
{
	struct rnotify_event ev;
	struct rnotify_op op;

	while (rnt_take(&self->a, self->ea, &ev, 0)) {
		if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
			self->down = true;
		if (ev.type != RNOTIFY_EVENT_REMOTE_REGION)
			continue;
		self->up = true;
		op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->ea, &ev,
				   ev.region.remote_id, 0, 64);
		rnt_try(&self->a, &op);
	}
}

static void await(cm *self, bool end)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (!self->down && (end || !self->up)) {
		struct pollfd p[2] = {
			{ .fd = self->a.fd, .events = POLLIN },
			{ .fd = self->b.fd, .events = POLLIN },
		};

		if (!rnt_left_ms(deadline))
			rnt_fail("neither a connection nor an end");
		poll(p, 2, 50);
		serve(self);
		ask(self);
	}
}

/* True if it came; either way nothing is left of it. */
static bool connect_once(cm *self)
{
	struct rnotify_connect arg = { .params = params };
	uint64_t deadline;

	self->up = false;
	self->down = false;
	if (rnt_connect_err(&self->a, &arg, rnt_addr4(), self->port))
		return false;
	self->ea = arg.endpoint_id;
	await(self, false);
	rnt_disconnect(&self->a, self->ea);
	await(self, true);
	rnt_destroy(&self->a, self->ea);
	deadline = rnt_deadline(RNT_PATIENCE_MS);
	while (self->peers) {
		if (!rnt_left_ms(deadline))
			rnt_fail("the peer is not told");
		rnt_poll(&self->b, POLLIN, 50);
		serve(self);
	}
	return self->up;
}

TEST_F_TIMEOUT(cm, P10_one_allocation, RNT_TIMEOUT(190))
{
	unsigned int points = 0, struck = 0, lost = 0;

	ASSERT_TRUE(connect_once(self));
	for (long space = 0; space < (long)BYTES; space += STEP, points++) {
		bool came;

		rnt_fault_system(space);
		came = connect_once(self);
		struck += rnt_fault_system_off();
		lost += !came;
		if (!came)
			ASSERT_TRUE(connect_once(self))
				TH_LOG("after %ld bytes", space);
	}
	printf("# %u points, %u struck, %u connections did not come\n", points,
	       struck, lost);
	ASSERT_LT(points / 2, struck);
	ASSERT_LT(0, lost);
}

TEST_HARNESS_MAIN
