// SPDX-License-Identifier: GPL-2.0
/*
 * The hard fence: when DESTROY of a share or region, or close, has returned,
 * the peer's writes do not land any more, whatever the peer does (FAULTS 20,
 * 21, 23, 25; P4, P5).
 *
 * rvm: limit=120
 */
#include <signal.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(8 * RNT_PAGE)
#define W	RNOTIFY_RIGHT_WRITE

FIXTURE(fence)
{
	struct rnt_ctx a;	/* writes all the time */
	struct rnt_ctx b;	/* shares and takes back */
	struct rnt_pair p;
	struct rnt_region src;
	struct rnt_region keep;	/* b's, shared all the time */
	__u32 keep_remote;
	/* for the writer */
	__u32 remote;
	bool stop;
	unsigned int wrote, refused;
};

FIXTURE_SETUP(fence)
{
	/*
	 * Few under way at a time: a peer whose operations on a region take
	 * longer than a second to end is cut off, slow kernel or not.
	 */
	struct rnotify_params few = { .send_depth = 4 };

	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &few, NULL);
	rnt_region_alloc(&self->a, &self->src, LEN);
	rnt_region_alloc(&self->b, &self->keep, LEN);
	self->keep_remote = rnt_grant(&self->p, self->keep.id, 0, 0, W, NULL);
}

FIXTURE_TEARDOWN(fence)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/*
 * Writes different bytes to the region of the day, and to the one that stays,
 * without ever looking at its events.
 */
static void *writer(void *arg)
{
	FIXTURE_DATA(fence) *self = arg;

	for (unsigned int i = 1; !__atomic_load_n(&self->stop,
						  __ATOMIC_ACQUIRE); i++) {
		struct rnotify_op op;
		int ret;

		op = rnt_op_rw(RNOTIFY_OP_WRITE, self->p.ea, self->src.id, 0,
			       __atomic_load_n(&self->remote,
					       __ATOMIC_ACQUIRE), 0, LEN);
		memset(self->src.p, i, 64);
		ret = rnt_try(&self->a, &op);
		if (!ret)
			self->wrote++;
		else if (ret == -ENOENT)
			self->refused++;
		else
			rnt_check_eq(-EAGAIN, ret);
		op.remote_id = self->keep_remote;
		ret = rnt_try(&self->a, &op);
		if (ret)
			rnt_check_eq(-EAGAIN, ret);
		if (ret == -EAGAIN)
			rnt_poll(&self->a, POLLOUT, 20);
	}
	return NULL;
}

/* The bytes after the call are the bytes a while later. */
static bool frozen(const char *p, size_t len)
{
	char *copy = malloc(len);
	bool same;

	memcpy(copy, p, len);
	rnt_sleep_us(3000 * rnt_slow());
	same = !memcmp(copy, p, len);
	free(copy);
	return same;
}

/* As rnt_grant(), among completions that the writer left behind. */
static __u32 grant(FIXTURE_DATA(fence) *self, __u32 region, __u32 *id)
{
	struct rnotify_event ev;

	*id = rnt_share(&self->b, self->p.eb, region, 0, 0, W, 0);
	rnt_check(rnt_take_type(&self->a, self->p.ea,
				RNOTIFY_EVENT_REMOTE_REGION, &ev,
				RNT_PATIENCE_MS));
	return ev.region.remote_id;
}

/* The other share and the connection went on. */
static void lives(FIXTURE_DATA(fence) *self)
{
	struct rnotify_op op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea,
					     "alive", self->keep_remote, 100,
					     5);

	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	rnt_check(!memcmp(self->keep.p + 100, "alive", 5));
}

/*
 * For some time of the writer's, by the round. The last round finds it writing,
 * however late it is scheduled.
 */
static void let_it_write(FIXTURE_DATA(fence) *self, unsigned int us, bool last)
{
	rnt_sleep_us(us);
	while (last && !__atomic_load_n(&self->wrote, __ATOMIC_RELAXED))
		rnt_sleep_us(100);
}

/* Share, let the peer write, take back: each time, nothing moves any more. */
TEST_F(fence, P4_share_taken_back)
{
	unsigned int rounds = rnt_count(40);
	struct rnt_region r;
	struct rnt_thread t;
	__u32 id;

	rnt_region_alloc(&self->b, &r, LEN);
	for (unsigned int i = 0; i < rounds; i++) {
		self->remote = grant(self, r.id, &id);
		self->stop = false;
		rnt_thread_start(&t, writer, self);
		let_it_write(self, i * 500, i == rounds - 1);
		rnt_destroy(&self->b, id);
		EXPECT_TRUE(frozen(r.p, LEN)) TH_LOG("round %u", i);
		while (i == rounds - 1 &&
		       !__atomic_load_n(&self->refused, __ATOMIC_RELAXED))
			rnt_sleep_us(100);
		__atomic_store_n(&self->stop, true, __ATOMIC_RELEASE);
		rnt_thread_join(&t);
	}
	EXPECT_NE(0, self->wrote);
	EXPECT_NE(0, self->refused);
	lives(self);
	rnt_expect_none(&self->b, 0, 0);
}

/* The whole region goes, with its share; its memory is somebody else's. */
TEST_F(fence, P4_region_destroyed)
{
	unsigned int rounds = rnt_count(40);
	long long pins = rnt_pins();
	struct rnt_thread t;

	for (unsigned int i = 0; i < rounds; i++) {
		char *p = rnt_anon(LEN);
		struct rnt_region r;
		__u32 id;

		rnt_region_user(&self->b, &r, p, LEN, 0);
		self->remote = grant(self, r.id, &id);
		self->stop = false;
		rnt_thread_start(&t, writer, self);
		let_it_write(self, i * 300, i == rounds - 1);
		rnt_destroy(&self->b, r.id);
		EXPECT_TRUE(frozen(p, LEN)) TH_LOG("round %u", i);
		__atomic_store_n(&self->stop, true, __ATOMIC_RELEASE);
		rnt_thread_join(&t);
		EXPECT_EQ(pins, rnt_pins());
		munmap(p, LEN);
	}
	EXPECT_NE(0, self->wrote);
	lives(self);
}

/* A region in several shares, also on several endpoints: all end with it. */
TEST_F(fence, region_with_many_shares)
{
	struct rnt_region r;
	struct rnt_pair p[3];
	__u32 id[6], remote[6];
	struct rnotify_op op;

	rnt_region_user(&self->b, &r, rnt_anon(LEN), LEN, 0);
	p[0] = self->p;
	rnt_pair_more(&self->p, &p[1]);
	rnt_pair_more(&self->p, &p[2]);
	for (int i = 0; i < 6; i++)
		remote[i] = rnt_grant(&p[i % 3], r.id, i * 10, 10, W, &id[i]);
	rnt_destroy(&self->b, r.id);
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, id[i]));
		rnt_expect(&self->a, p[i % 3].ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
		op = rnt_op_inline(RNOTIFY_OP_WRITE, p[i % 3].ea, "x",
				   remote[i], 0, 1);
		ASSERT_EQ(-ENOENT, rnt_try(&self->a, &op));
	}
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, r.id));
	lives(self);
}

/* The region that the *sender* reads from goes while it is sent from. */
TEST_F(fence, source_destroyed)
{
	unsigned int rounds = rnt_count(30);
	long long pins = rnt_pins();

	for (unsigned int i = 0; i < rounds; i++) {
		char *p = rnt_anon(LEN);
		struct rnotify_event ev;
		unsigned int posted = 0;
		struct rnt_region r;

		rnt_region_user(&self->a, &r, p, LEN, 0);
		rnt_fill(p, LEN, i);
		while (posted < 4) {
			struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM,
							 self->p.ea, r.id, 0,
							 self->keep_remote, 0,
							 LEN);

			op.flags = RNOTIFY_OP_F_SIGNALED;
			op.user_data = posted++;
			rnt_post1(&self->a, &op);
		}
		rnt_destroy(&self->a, r.id);
		EXPECT_EQ(pins, rnt_pins());
		/* all that was posted had ended, and well */
		memset(p, 0xff, LEN);
		for (unsigned int n = 0; n < posted; n++) {
			ASSERT_TRUE(rnt_take(&self->a, self->p.ea, &ev, 0));
			ASSERT_EQ(RNOTIFY_EVENT_TX_DONE, ev.type);
			ASSERT_EQ(0, ev.tx.error);
			ASSERT_EQ(n, ev.tx.user_data);
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   NULL);
		}
		ASSERT_EQ(-1, rnt_diff(self->keep.p, LEN, i));
		munmap(p, LEN);
	}
}

/* FAULTS 23: old names stay refused, however many come after them. */
TEST_F(fence, P5_old_remote_ids)
{
	unsigned int rounds = 300 / rnt_slow() + 20;
	__u32 *old = calloc(rounds, sizeof(*old)), id;
	struct rnotify_op op;
	struct rnt_region r;

	rnt_region_alloc(&self->b, &r, LEN);
	for (unsigned int i = 0; i < rounds; i++) {
		old[i] = grant(self, r.id, &id);
		for (unsigned int j = 0; j < i; j++) {
			ASSERT_NE(old[j], old[i]);
		}
		rnt_destroy(&self->b, id);
		rnt_expect(&self->a, self->p.ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
	}
	/* the newest is alive again; all before are refused */
	grant(self, r.id, &id);
	for (unsigned int i = 0; i < rounds; i++) {
		op = rnt_op_inline(RNOTIFY_OP_WRITE, self->p.ea, "x", old[i],
				   0, 1);
		ASSERT_EQ(-ENOENT, rnt_try(&self->a, &op));
	}
	ASSERT_EQ(-1, rnt_diff_byte(r.p, LEN, 0));
	lives(self);
	free(old);
}

/* FAULTS 20: the process that shares is killed; its pages are clean at once. */
TEST_F(fence, P4_killed)
{
	int rounds = rnt_count(12) + 3, to_parent[2];
	struct rnt_pair p = { .a = &self->a };
	long long pins = rnt_pins();

	ASSERT_EQ(0, pipe(to_parent));
	for (int i = 0; i < rounds; i++) {
		struct rnotify_event ev;
		pid_t pid = rnt_fork();

		if (!pid) {
			struct rnt_ctx c;
			struct rnt_region r;
			__u16 port = 0;
			__u32 eb;

			rnt_init(&c, 1024, 0);
			rnt_listen(&c, rnt_addr4(), &port, 1);
			rnt_check(write(to_parent[1], &port, 2) == 2);
			eb = rnt_request(&c, NULL);
			rnt_check_eq(0, rnt_accept(&c, eb, NULL, 0));
			rnt_expect(&c, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
			rnt_region_user(&c, &r, rnt_anon(LEN), LEN, 0);
			rnt_share(&c, eb, r.id, 0, 0, W, 0);
			pause();
			_exit(1);
		}
		ASSERT_EQ(2, read(to_parent[0], &p.port, 2));
		p.ea = rnt_connect(&self->a, rnt_addr4(), p.port, NULL, 0);
		rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_REMOTE_REGION, &ev);
		for (int n = 0; n < 40; n++) {
			struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE,
							 p.ea, self->src.id, 0,
							 ev.region.remote_id,
							 0, LEN);

			int ret = rnt_post(&self->a, &op, 1, 1000, NULL, NULL);

			/* by then the end was seen, or the share was gone */
			if (ret) {
				ASSERT_TRUE(ret == -ESHUTDOWN ||
					    ret == -ENOENT);
				break;
			}
			if (n == i * 2)
				kill(pid, SIGKILL);
		}
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		/* the process is gone, and so are its pins */
		EXPECT_TRUE(rnt_pins_back(pins));
		rnt_down(&self->a, p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
		rnt_destroy(&self->a, p.ea);
	}
	lives(self);
}

TEST_HARNESS_MAIN
