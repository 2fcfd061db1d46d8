// SPDX-License-Identifier: GPL-2.0
/*
 * SHARE, and the end of shares and regions, while the send queue is busy for
 * seconds: what has to wait behind it waits within bounds, and keeps nobody else
 * waiting; what can't be sent at once is sent later (P4, P10).
 *
 * rvm: limit=180 debug_long=1
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(2 * RNT_MIB)
#define DEPTH	4096u
#define BUSY_MIN	100u
#define W	RNOTIFY_RIGHT_WRITE
#define LAST	0x6c617374u
#define SHARES	7

FIXTURE(busy)
{
	struct rnt_ctx a;	/* its send queue is kept busy */
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;	/* a's */
	struct rnt_region dst;	/* b's, shared with a */
	__u32 remote;
	unsigned int posted;
};

FIXTURE_SETUP(busy)
{
	static const struct rnotify_params deep = {
		.send_depth = DEPTH, .keepalive_ms = 60000,
	};

	rnt_init(&self->a, 8192, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &deep, NULL);
	rnt_region_alloc(&self->a, &self->src, LEN);
	rnt_region_alloc(&self->b, &self->dst, LEN);
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0, W, NULL);
}

FIXTURE_TEARDOWN(busy)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static struct rnotify_op write_op(FIXTURE_DATA(busy) *self, __u64 user_data)
{
	struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE, self->p.ea,
					 self->src.id, 0, self->remote, 0, LEN);

	op.flags = RNOTIFY_OP_F_SIGNALED;
	op.user_data = user_data;
	return op;
}

/*
 * So many WRITEs that the queue is busy for about so long. How many that is takes
 * a measurement; not too few, in case that others had the processors meanwhile. The
 * last is marked.
 */
static void keep_busy(FIXTURE_DATA(busy) *self, unsigned int ms)
{
	struct rnotify_op op = write_op(self, 0);
	uint64_t start = rnt_now_ns(), one;
	unsigned int nr;

	for (unsigned int i = 0; i < 4; i++)
		rnt_post1(&self->a, &op);
	for (unsigned int i = 0; i < 4; i++)
		rnt_expect_tx(&self->a, self->p.ea, 0, 0, NULL);
	one = (rnt_now_ns() - start) / 4 + 1;
	nr = ms * 1000000ull / one + 1;
	if (nr < BUSY_MIN)
		nr = BUSY_MIN;
	for (self->posted = 0; self->posted < nr; self->posted++)
		if (rnt_try(&self->a, &op))
			break;
	op = write_op(self, LAST);
	rnt_post1(&self->a, &op);
	self->posted++;
}

/* Outcomes of the WRITEs, as far as there are any; true if the last is there. */
static bool drained(FIXTURE_DATA(busy) *self, unsigned int ms)
{
	struct rnotify_event ev;
	bool last = false;

	while (!last && rnt_take_type(&self->a, self->p.ea,
				      RNOTIFY_EVENT_TX_DONE, &ev, ms)) {
		rnt_check_eq(0, ev.tx.error);
		self->posted--;
		last = ev.tx.user_data == LAST;
	}
	return last;
}

static void drain(FIXTURE_DATA(busy) *self)
{
	rnt_check(drained(self, RNT_PATIENCE_MS));
	rnt_check_eq(0, self->posted);
}

struct sharer {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	struct rnotify_share arg;
	int ret;
};

static void *sharer_fn(void *arg)
{
	struct sharer *s = arg;

	s->ret = rnt_share_err(s->c, &s->arg);
	return NULL;
}

static void sharer_start(struct sharer *s, FIXTURE_DATA(busy) *self,
			 __u32 region)
{
	*s = (struct sharer){ .c = &self->a };
	s->arg.endpoint_id = self->p.ea;
	s->arg.region_id = region;
	s->arg.rights = W;
	rnt_thread_start(&s->thread, sharer_fn, s);
	rnt_await_sleep(s->thread.tid, SYS_ioctl);
}

/* On a machine that is busy with other things SHARE may wait as long as it will. */
static bool gave_up(int ret)
{
	if (ret != -ETIMEDOUT)
		rnt_check_eq(0, ret);
	return ret;
}

/* Its registration is behind the WRITEs; the same region elsewhere is not. */
TEST_F(busy, others_share_the_region)
{
	struct rnt_pair q;
	struct sharer s;
	__u32 id;

	rnt_pair_more(&self->p, &q);
	keep_busy(self, 1000);
	sharer_start(&s, self, self->src.id);
	id = rnt_share(&self->a, q.ea, self->src.id, 0, 0, W, 0);
	ASSERT_FALSE(drained(self, 0));
	rnt_expect(&self->b, q.eb, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	drain(self);
	rnt_thread_join(&s.thread);
	rnt_destroy(&self->a, id);
	if (gave_up(s.ret))
		return;
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	rnt_destroy(&self->a, s.arg.share_id);
}

/* A process that is killed in SHARE is gone long before the queue has run dry. */
TEST_F(busy, P10_killed)
{
	struct rnt_region r;
	pid_t pid;

	rnt_region_alloc(&self->a, &r, LEN);
	keep_busy(self, 2000);
	pid = rnt_fork();
	if (!pid) {
		struct rnotify_share s = {
			.endpoint_id = self->p.ea, .region_id = r.id,
			.rights = W,
		};

		_exit(rnt_share_err(&self->a, &s) ? 1 : 0);
	}
	rnt_await_sleep(pid, SYS_ioctl);
	rnt_kill(pid);
	ASSERT_FALSE(drained(self, 0));
	/* what it left behind goes by itself, and is in nobody's way */
	drain(self);
	rnt_expect_none(&self->b, self->p.eb, 0);
	rnt_destroy(&self->a, rnt_share(&self->a, self->p.ea, r.id, 0, 0, W,
					0));
	rnt_region_drop(&self->a, &r);
}

/* The region ends while its SHARE waits: neither waits for the other for long. */
TEST_F(busy, P4_region_destroyed_meanwhile)
{
	long long pins = rnt_pins();
	struct rnotify_event ev;
	struct rnt_region r;
	struct sharer s;

	rnt_region_user(&self->a, &r, rnt_anon(LEN), LEN, 0);
	keep_busy(self, 1500);
	sharer_start(&s, self, r.id);
	rnt_destroy(&self->a, r.id);
	EXPECT_TRUE(rnt_pins_back(pins));
	rnt_thread_join(&s.thread);
	if (s.ret != -ENOENT && s.ret != -ENOTCONN)
		ASSERT_TRUE(gave_up(s.ret));
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->a, r.id));
	/* if the queue is too long to wait for, the endpoint goes with the region */
	if (rnt_take(&self->b, self->p.eb, &ev, 0)) {
		ASSERT_EQ(RNOTIFY_EVENT_DISCONNECTED, ev.type);
		ASSERT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	}
}

/* The endpoint ends while SHARE waits. */
TEST_F(busy, endpoint_destroyed_meanwhile)
{
	struct sharer s;

	keep_busy(self, 1500);
	sharer_start(&s, self, self->src.id);
	rnt_destroy(&self->a, self->p.ea);
	rnt_thread_join(&s.thread);
	ASSERT_EQ(-ENOTCONN, s.ret);
}

/*
 * Control messages are behind the WRITEs, and there is room for a few only. The
 * shares end all the same, and in the end the peer hears of each of them.
 */
TEST_F(busy, peer_learns_of_all_ends)
{
	struct rnt_region r;
	__u32 id[SHARES];

	rnt_region_alloc(&self->a, &r, LEN);
	for (int i = 0; i < SHARES; i++) {
		id[i] = rnt_share(&self->a, self->p.ea, r.id, i, 1, W, i);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_REMOTE_REGION,
			   NULL);
	}
	keep_busy(self, 4000);
	rnt_destroy(&self->a, r.id);
	/* all were given up after the same second */
	ASSERT_FALSE(drained(self, 0));
	drain(self);
	for (int i = 0; i < SHARES; i++) {
		struct rnotify_event ev;

		ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->a, id[i]));
		rnt_expect(&self->b, self->p.eb,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, &ev);
		ASSERT_EQ(i, ev.region.tag);
	}
	/* so that their places are free again */
	for (int i = 0; i < SHARES; i++)
		rnt_share(&self->a, self->p.ea, self->src.id, i, 1, W, 0);
}

/* Its operations progress, if slowly: they are waited for, not broken. */
TEST_F(busy, source_destroyed)
{
	struct rnotify_event ev;

	keep_busy(self, 7000);
	rnt_destroy(&self->a, self->src.id);
	while (rnt_take_type(&self->a, self->p.ea, RNOTIFY_EVENT_TX_DONE, &ev,
			     0)) {
		self->posted--;
		if (!ev.tx.error)
			continue;
		/* a machine that got so slow meanwhile that it took too long */
		rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_LOCAL_CLOSE, &ev);
		ASSERT_EQ(-ETIMEDOUT, ev.down.error);
		return;
	}
	ASSERT_EQ(0, self->posted);
	rnt_expect_none(&self->a, self->p.ea, 0);
}

TEST_HARNESS_MAIN
