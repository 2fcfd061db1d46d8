// SPDX-License-Identifier: GPL-2.0
/*
 * One allocation fails somewhere in the system while a connection is made, used
 * and ended (FAULTS 49): in the caller, in rdma_cm, in the workers of both sides,
 * in a softirq. Which one is told by the bytes that are allocated before it.
 * Either the connection comes, or both sides are told; and the next one comes.
 *
 * rvm: kernels=debug limit=200
 */
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "raw.h"

/* All of a connection is within that, and each allocation is tried. */
#define BYTES	(160 * RNT_KIB)
#define STEP	(RNT_KIB + 32)

/* A lost packet is sent again after some seconds: it shall not be waited for. */
#define GIVE_UP_MS	1500
/* Its end is found soon, too. */
#define SOON_MS		5000
/* Nothing is lost: that is how long it may take. */
#define CLEAN_MS	(1000 * rnt_slow())

/* More are never turned down at a time. */
#define REFUSED	16
#define COOKIE	0xacce

FIXTURE(cm)
{
	struct rnt_base base;
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_region r;
	__u16 port;
	__u32 listener;
	/* of the connection that is tried */
	struct rnotify_params params;
	__u32 ea;
	bool up;
	bool down;
	unsigned int peers;	/* endpoints of b that are not destroyed yet */
	__u32 refused[REFUSED];	/* the last that ACCEPT failed for */
	unsigned int nr_refused;
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

static void accept_or_reject(cm *self, __u32 endpoint)
{
	self->peers++;
	if (!rnt_accept(&self->b, endpoint, &self->params, COOKIE))
		return;
	self->refused[self->nr_refused++ % REFUSED] = endpoint;
	rnt_reject(&self->b, endpoint);
}

/* Who could not accept has given nothing for the cookie to stand for. */
static void check_cookie(cm *self, const struct rnotify_event *ev)
{
	bool refused = false;

	for (unsigned int i = 0; i < REFUSED; i++)
		refused |= self->refused[i] == ev->endpoint;
	rnt_check_eq(refused ? RNT_LISTENER_COOKIE : COOKIE, ev->cookie);
}

/* The passive side: accepts, shares, and forgets what has ended. */
static void serve(cm *self)
{
	struct rnotify_share share = {
		.region_id = self->r.id, .rights = RNOTIFY_RIGHT_WRITE,
	};
	struct rnotify_event ev;

	while (rnt_take(&self->b, 0, &ev, 0)) {
		if (ev.type == RNOTIFY_EVENT_CONNECT_REQUEST) {
			accept_or_reject(self, ev.endpoint);
		} else if (ev.type == RNOTIFY_EVENT_ESTABLISHED) {
			share.endpoint_id = ev.endpoint;
			if (rnt_share_err(&self->b, &share))
				rnt_disconnect(&self->b, ev.endpoint);
		} else if (ev.type == RNOTIFY_EVENT_DISCONNECTED) {
			check_cookie(self, &ev);
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
static bool connect_once(cm *self, unsigned int timeout_ms,
			 unsigned int keepalive_ms)
{
	struct rnotify_connect arg = {};
	uint64_t deadline;

	self->params = (struct rnotify_params){
		.connect_timeout_ms = timeout_ms,
		.keepalive_ms = keepalive_ms,
	};
	arg.params = self->params;
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

static bool connect_clean(cm *self)
{
	return connect_once(self, CLEAN_MS, RNT_KEEPALIVE_MS);
}

/*
 * Does the CM of the device still answer? Asked by plain librdmacm, where nobody
 * listens. rxe gives the queue pair up for which it can't get memory for a packet
 * (rxe_qp_error()), also that of the CM, and nothing brings that one back.
 */
static bool device_answers(void)
{
	pid_t pid = rnt_fork();
	struct raw r;
	int status;

	/* in a process of its own: librdmacm keeps the device open, for ever */
	if (!pid) {
		raw_init(&r);
		raw_resolve(&r, 1);
		raw_request(&r, NULL, 0);
		_exit(raw_cm_event(&r, 1000) != RDMA_CM_EVENT_REJECTED);
	}
	rnt_check_eq(pid, waitpid(pid, &status, 0));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void renew_device(cm *self)
{
	rnt_destroy(&self->b, self->listener);
	rnt_link_delete();
	rnt_link_add();
	self->listener = rnt_listen(&self->b, rnt_addr4(), &self->port, 16);
}

/* The next one has to come, unless it is the device that is broken. */
static void expect_clean(cm *self, long space, unsigned int *renewed)
{
	if (connect_clean(self))
		return;
	if (device_answers())
		rnt_fail("no connection any more, after %ld bytes", space);
	renew_device(self);
	++*renewed;
	if (!connect_clean(self))
		rnt_fail("no connection on a new device, after %ld bytes",
			 space);
}

TEST_F_TIMEOUT(cm, P10_one_allocation, RNT_TIMEOUT(190))
{
	unsigned int points = 0, struck = 0, lost = 0, renewed = 0;

	ASSERT_TRUE(connect_clean(self));
	ASSERT_TRUE(device_answers());
	for (long space = 0; space < (long)BYTES; space += STEP, points++) {
		bool came;

		rnt_fault_system(space);
		came = connect_once(self, GIVE_UP_MS, SOON_MS);
		struck += rnt_fault_system_off();
		if (came)
			continue;
		lost++;
		expect_clean(self, space, &renewed);
	}
	/* the last may have broken the device when its connection had come */
	expect_clean(self, BYTES, &renewed);
	printf("# %u points, %u struck, %u connections did not come, %u devices\n",
	       points, struck, lost, renewed);
	ASSERT_LT(points / 2, struck);
	ASSERT_LT(0, lost);
}

TEST_HARNESS_MAIN
