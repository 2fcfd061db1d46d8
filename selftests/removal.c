// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA device is removed (P10, FAULTS 29). That takes seconds, whatever the
 * users of it do; endpoints end with DEVICE_REMOVED and ENODEV, files, rings,
 * regions and mappings survive, and go on when a device is there again.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE(removal)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;	/* its listener is b's, on all addresses */
	struct rnt_base base;
};

FIXTURE_SETUP(removal)
{
	/* a test that failed may have left none */
	if (!rnt_link_is_there())
		rnt_link_add();
	rnt_base_read(&self->base);
	rnt_init(&self->a, 2048, 256);
	rnt_init(&self->b, 2048, 256);
	self->p.a = &self->a;
	self->p.b = &self->b;
	self->p.listener = rnt_listen(&self->b, "0.0.0.0", &self->p.port, 8);
	rnt_more(&self->p, &self->p, &params, &params);
}

FIXTURE_TEARDOWN(removal)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	if (!rnt_link_is_there())
		rnt_link_add();
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* The end, once: rnt_take() sees to it that nothing comes behind it. */
static void expect_removed(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnotify_event ev;

	rnt_down(c, endpoint, RNOTIFY_REASON_DEVICE_REMOVED, &ev);
	rnt_check_eq(-ENODEV, ev.down.error);
}

/* Everything that needs the device is refused by the same name. */
static void expect_refused(struct rnt_ctx *c, __u32 endpoint, __u32 region)
{
	struct rnotify_op op = rnt_op_notify(endpoint, 0);
	struct rnotify_share share = {
		.endpoint_id = endpoint, .region_id = region,
		.rights = RNOTIFY_RIGHT_WRITE,
	};
	struct rnotify_endpoint_info info;

	rnt_check_eq(-ENODEV, rnt_try(c, &op));
	rnt_check_eq(-ENODEV, rnt_post(c, &op, 1, -1, NULL, NULL));
	op = rnt_op_rw(RNOTIFY_OP_SEND, endpoint, region, 0, 0, 0, 64);
	rnt_check_eq(-ENODEV, rnt_try(c, &op));
	rnt_check_eq(-ENODEV, rnt_share_err(c, &share));
	rnt_check_eq(-ENODEV, rnt_accept(c, endpoint, NULL, 0));
	rnt_check_eq(-ENODEV, rnt_reject(c, endpoint));
	rnt_check_eq(0, rnt_disconnect(c, endpoint));
	rnt_info(c, endpoint, &info);
	rnt_check_eq(RNOTIFY_STATE_CLOSED, info.state);
	rnt_check_eq(RNOTIFY_REASON_DEVICE_REMOVED, info.down.reason);
	rnt_destroy(c, endpoint);
}

static unsigned int nr_devices(struct rnt_ctx *c)
{
	struct rnotify_query q = { .size = sizeof(q) };

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_QUERY, &q));
	return q.nr_devices;
}

/* A WRITE_IMM from a's region src to b's dst, over a new connection. */
static void use_again(FIXTURE_DATA(removal) *self, struct rnt_region *src,
		      struct rnt_region *dst, __u32 imm)
{
	struct rnotify_event ev;
	struct rnotify_op op;
	struct rnt_pair p;
	__u32 remote;

	rnt_more(&self->p, &p, &params, &params);
	remote = rnt_grant(&p, dst->id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	rnt_fill(src->p, src->len, imm);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, p.ea, src->id, 0, remote, 0,
		       src->len);
	op.imm = imm;
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(imm, ev.notify.imm);
	rnt_check_eq(-1, rnt_diff(dst->p, src->len, imm));
	rnt_destroy(&self->a, p.ea);
	rnt_down(&self->b, p.eb, RNT_PEER_GONE, NULL);
	rnt_destroy(&self->b, p.eb);
}

/*
 * ---- idle ------------------------------------------------------------------
 */

TEST_F(removal, P10_idle)
{
	struct rnt_region src, dst;
	struct rnt_pair more[5];

	rnt_region_user(&self->a, &src, rnt_anon(RNT_MIB), RNT_MIB, 0);
	rnt_region_alloc(&self->b, &dst, RNT_MIB);
	use_again(self, &src, &dst, 1);
	for (int i = 0; i < 5; i++) {
		rnt_more(&self->p, &more[i], &params, &params);
		rnt_grant(&more[i], dst.id, i * RNT_PAGE, RNT_PAGE,
			  RNOTIFY_RIGHT_READ, NULL);
	}
	ASSERT_EQ(1, nr_devices(&self->a));
	rnt_link_delete();
	ASSERT_EQ(0, nr_devices(&self->a));
	expect_removed(&self->a, self->p.ea);
	expect_removed(&self->b, self->p.eb);
	for (int i = 0; i < 5; i++) {
		expect_removed(&self->a, more[i].ea);
		expect_removed(&self->b, more[i].eb);
		expect_refused(&self->a, more[i].ea, src.id);
		expect_refused(&self->b, more[i].eb, dst.id);
	}
	ASSERT_EQ(-1, rnt_diff(dst.p, dst.len, 1));
	rnt_link_add();
	ASSERT_EQ(1, nr_devices(&self->a));
	/* the same files, rings, regions and listener */
	use_again(self, &src, &dst, 2);
	expect_refused(&self->a, self->p.ea, src.id);
	/* its mapping would hold the file */
	rnt_region_drop(&self->b, &dst);
}

/* Without any device: what needs none works, the rest has an errno at once. */
TEST_F(removal, P10_no_device)
{
	struct rnotify_listen listen = { .size = sizeof(listen) };
	struct rnotify_connect arg = { .params = params };
	struct rnt_region src, dst, old;
	struct rnotify_event ev;
	struct rnt_ctx c;

	rnt_region_user(&self->a, &old, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	rnt_link_delete();
	rnt_init(&c, 512, 256);
	rnt_region_user(&self->a, &src, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	rnt_region_alloc(&self->b, &dst, 3 * RNT_PAGE);
	rnt_fill(dst.p, dst.len, 3);
	rnt_region_drop(&self->a, &old);
	rnt_addr(&listen.addr, rnt_addr4(), 0);
	ASSERT_EQ(-EADDRNOTAVAIL,
		  rnt_ioctl(c.fd, RNOTIFY_IOCTL_LISTEN, &listen));
	ASSERT_EQ(0, rnt_connect_err(&c, &arg, rnt_addr4(), self->p.port));
	rnt_down(&c, arg.endpoint_id, RNOTIFY_REASON_UNREACHABLE, &ev);
	ASSERT_EQ(-ENODEV, ev.down.error);
	ASSERT_EQ(RNOTIFY_STAGE_RESOLVE_ADDR, ev.down.stage);
	rnt_close(&c);
	rnt_link_add();
	use_again(self, &src, &dst, 4);
	rnt_region_drop(&self->b, &dst);
}

/* Bound to an address, a listener goes with its device; a wildcard stays. */
TEST_F(removal, P10_listeners)
{
	struct rnotify_event ev;
	__u16 port = 0;
	__u32 id;

	id = rnt_listen(&self->b, rnt_addr4(), &port, 4);
	rnt_link_delete();
	rnt_expect(&self->b, id, RNOTIFY_EVENT_LISTENER_DOWN, &ev);
	ASSERT_EQ(RNOTIFY_REASON_DEVICE_REMOVED, ev.down.reason);
	ASSERT_EQ(-ENODEV, ev.down.error);
	rnt_link_add();
	rnt_more(&self->p, &self->p, &params, &params);
	/* its id is held until it is destroyed, its port is not */
	ASSERT_NE(id, rnt_listen(&self->b, rnt_addr4(), &port, 4));
	rnt_destroy(&self->b, id);
}

/* Requests that nobody answered, and an address that nobody has. */
TEST_F(removal, P10_connecting)
{
	struct rnotify_params fast = { .connect_timeout_ms = 1000 };
	struct rnotify_event ev;
	__u32 ea[4], eb[4], lost;

	for (int i = 0; i < 4; i++) {
		ea[i] = rnt_connect(&self->a, rnt_addr4(), self->p.port,
				    &params, 0);
		eb[i] = rnt_request(&self->b, NULL);
	}
	lost = rnt_connect(&self->a, "10.0.0.99", 1, &fast, 0);
	rnt_link_delete();
	for (int i = 0; i < 4; i++) {
		expect_removed(&self->a, ea[i]);
		/* its peer may have been faster than the device's end */
		ASSERT_TRUE(rnt_take_type(&self->b, eb[i],
					  RNOTIFY_EVENT_DISCONNECTED, &ev,
					  RNT_PATIENCE_MS));
		ASSERT_TRUE(ev.down.reason == RNOTIFY_REASON_DEVICE_REMOVED ||
			    ev.down.reason == RNOTIFY_REASON_PEER_CLOSE)
			TH_LOG("reason %u", ev.down.reason);
		ASSERT_LT(rnt_accept(&self->b, eb[i], &params, 0), 0);
	}
	ASSERT_TRUE(rnt_take_type(&self->a, lost, RNOTIFY_EVENT_DISCONNECTED,
				  &ev, RNT_PATIENCE_MS));
	rnt_link_add();
	rnt_more(&self->p, &self->p, &params, &params);
}

/*
 * ---- busy ------------------------------------------------------------------
 */

#define BATCH	8

struct stream {
	struct rnt_ctx *c;
	__u32 endpoint;
	struct rnt_region *src;
	__u32 remote;
	struct rnt_thread poster;
	struct rnt_thread consumer;
	__u64 accepted;		/* the poster's */
	int error;
	__u64 notified;		/* the consumer's */
	__u64 done;
	__u64 failed;
	struct rnotify_event end;
};

static struct rnotify_op stream_op(const struct stream *s, __u64 n)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, 0);

	if (n % 3)
		op = rnt_op_rw(n % 3 == 1 ? RNOTIFY_OP_WRITE_IMM :
			       RNOTIFY_OP_READ, s->endpoint, s->src->id, 0,
			       s->remote, 0, 2 * RNT_PAGE);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	op.user_data = n;
	return op;
}

static void *poster(void *arg)
{
	struct rnotify_op ops[BATCH];
	struct stream *s = arg;
	unsigned int accepted;

	do {
		for (unsigned int i = 0; i < BATCH; i++)
			ops[i] = stream_op(s, s->accepted + i);
		s->error = rnt_post(s->c, ops, BATCH, -1, &accepted, NULL);
		s->accepted += accepted;
	} while (!s->error);
	return NULL;
}

static void *consumer(void *arg)
{
	struct rnotify_event *ev;
	struct stream *s = arg;

	for (ev = &s->end;;) {
		rnt_check(rnt_take(s->c, s->endpoint, ev, RNT_PATIENCE_MS));
		if (ev->type == RNOTIFY_EVENT_DISCONNECTED)
			return NULL;
		if (ev->type == RNOTIFY_EVENT_NOTIFY)
			__atomic_fetch_add(&s->notified, 1, __ATOMIC_RELAXED);
		if (ev->type != RNOTIFY_EVENT_TX_DONE)
			continue;
		/* one outcome each, in order, and none is good after a bad one */
		rnt_check_eq(s->done, ev->tx.user_data);
		s->done++;
		if (ev->tx.error)
			s->failed++;
		else
			rnt_check_eq(0, s->failed);
	}
}

static void start_stream(struct stream *s, struct rnt_ctx *c, __u32 endpoint,
			 struct rnt_region *src, __u32 remote)
{
	*s = (struct stream){
		.c = c, .endpoint = endpoint, .src = src, .remote = remote,
	};
	rnt_thread_start(&s->consumer, consumer, s);
	rnt_thread_start(&s->poster, poster, s);
}

static void await_notified(struct stream *s, __u64 n)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (__atomic_load_n(&s->notified, __ATOMIC_RELAXED) < n) {
		rnt_check(rnt_left_ms(deadline));
		rnt_sleep_us(500);
	}
}

static void end_stream(struct stream *s)
{
	rnt_thread_join(&s->poster);
	rnt_thread_join(&s->consumer);
	rnt_check_eq(-ENODEV, s->error);
	rnt_check_eq(RNOTIFY_REASON_DEVICE_REMOVED, s->end.down.reason);
	rnt_check_eq(s->accepted, s->done);
	rnt_check_eq(s->notified, s->end.down.delivered);
}

/* Full streams in both directions; P6 holds at the end of the device, too. */
TEST_F_TIMEOUT(removal, P6_busy, RNT_TIMEOUT(40))
{
	struct rnt_region ra, rb;
	struct rnt_pair back;
	struct stream s[2];
	__u32 to_a, to_b;

	rnt_region_user(&self->a, &ra, rnt_anon(RNT_MIB), RNT_MIB, 0);
	rnt_region_user(&self->b, &rb, rnt_anon(RNT_MIB), RNT_MIB, 0);
	for (unsigned int i = 0; i < 3; i++) {
		if (i) {
			rnt_link_add();
			rnt_more(&self->p, &self->p, &params, &params);
		}
		back = self->p;
		back.a = self->p.b;
		back.ea = self->p.eb;
		back.b = self->p.a;
		back.eb = self->p.ea;
		to_b = rnt_grant(&self->p, rb.id, 0, 0, RNOTIFY_RIGHT_WRITE |
				 RNOTIFY_RIGHT_READ, NULL);
		to_a = rnt_grant(&back, ra.id, 0, 0, RNOTIFY_RIGHT_WRITE |
				 RNOTIFY_RIGHT_READ, NULL);
		start_stream(&s[0], &self->a, self->p.ea, &ra, to_b);
		start_stream(&s[1], &self->b, self->p.eb, &rb, to_a);
		await_notified(&s[0], 100);
		await_notified(&s[1], 100);
		rnt_link_delete();
		end_stream(&s[0]);
		end_stream(&s[1]);
	}
}

/*
 * ---- stopped ---------------------------------------------------------------
 */

static void stopped_child(__u16 port, int tell)
{
	struct rnt_region r;
	struct rnt_ctx c;
	char byte = 0;
	__u32 id;

	rnt_init(&c, 512, 0);
	rnt_region_user(&c, &r, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	id = rnt_connect(&c, rnt_addr4(), port, &params, 0);
	rnt_expect(&c, id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_post_until_full(&c, id, 0, RNOTIFY_OP_F_SIGNALED);
	rnt_check(write(tell, &byte, 1) == 1);
	raise(SIGSTOP);
	/* goes on long after the removal */
	for (int i = 0; i < 64; i++)
		rnt_check(rnt_take_type(&c, id, RNOTIFY_EVENT_NOTIFY,
					&(struct rnotify_event){},
					RNT_PATIENCE_MS));
	expect_removed(&c, id);
	expect_refused(&c, id, r.id);
	id = rnt_connect(&c, rnt_addr4(), port, &params, 0);
	rnt_expect(&c, id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_close(&c);
	_exit(0);
}

TEST_F(removal, P3_stopped)
{
	int fds[2], status;
	__u32 eb;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(fds));
	pid = rnt_fork();
	if (!pid) {
		rnt_close(&self->a);
		rnt_close(&self->b);
		stopped_child(self->p.port, fds[1]);
	}
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, &params, 0));
	/* data may be there before the CM is done with this side */
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	ASSERT_EQ(1, read(fds[0], &byte, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(64, rnt_post_until_full(&self->b, eb, 0, 0));
	rnt_link_delete();
	expect_removed(&self->b, eb);
	rnt_link_add();
	ASSERT_EQ(0, kill(pid, SIGCONT));
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, &params, 0));
	rnt_join(pid);
	rnt_down(&self->b, eb, RNT_PEER_GONE, NULL);
}

TEST_HARNESS_MAIN
