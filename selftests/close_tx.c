// SPDX-License-Identifier: GPL-2.0
/*
 * Every accepted operation has exactly one outcome, in order, however its
 * endpoint ends, and whoever posts at that moment (P6, FAULTS 27, 28, 33).
 *
 * rvm: limit=60
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define DEPTH	255

FIXTURE(tx)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	struct rnt_region src;
	struct rnt_region dst;
	__u32 remote;
	__u64 confirmed;
};

FIXTURE_VARIANT(tx)
{
	enum { OWN_DISCONNECT, OWN_DESTROY, PEER_DISCONNECT, PEER_DESTROY,
	       PEER_CLOSE } end;
};

FIXTURE_VARIANT_ADD(tx, own_disconnect) { .end = OWN_DISCONNECT };
FIXTURE_VARIANT_ADD(tx, own_destroy) { .end = OWN_DESTROY };
FIXTURE_VARIANT_ADD(tx, peer_disconnect) { .end = PEER_DISCONNECT };
FIXTURE_VARIANT_ADD(tx, peer_destroy) { .end = PEER_DESTROY };
FIXTURE_VARIANT_ADD(tx, peer_close) { .end = PEER_CLOSE };

static const struct rnotify_params deep = {
	.recv_depth = DEPTH, .send_depth = DEPTH, .keepalive_ms = 600000,
};

#define LEN	(256 * RNT_KIB)

FIXTURE_SETUP(tx)
{
	rnt_base_read(&self->base);
	rnt_init(&self->a, 2048, 0);
	rnt_region_alloc(&self->a, &self->src, LEN);
}

static void connect_b(FIXTURE_DATA(tx) *self)
{
	rnt_init(&self->b, 2048, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &deep, &deep);
	rnt_region_alloc(&self->b, &self->dst, LEN);
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0,
				 RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ,
				 NULL);
}

FIXTURE_TEARDOWN(tx)
{
	rnt_close(&self->a);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* All kinds, of all lengths, every one SIGNALED. */
static unsigned int post_many(FIXTURE_DATA(tx) *self, unsigned int *notifies,
			      unsigned int seed)
{
	struct rnotify_op ops[DEPTH];
	unsigned int n, notify = 0;

	for (n = 0; n < DEPTH; n++) {
		__u32 len = 1u << rand_r(&seed) % 17;

		switch (rand_r(&seed) % 3) {
		case 0:
			ops[n] = rnt_op_notify(self->p.ea, n);
			break;
		case 1:
			ops[n] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea,
					   self->src.id, n, self->remote, 0,
					   len);
			break;
		default:
			ops[n] = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea,
					   self->src.id, n, self->remote, 0,
					   len);
		}
		ops[n].flags = RNOTIFY_OP_F_SIGNALED;
		ops[n].user_data = n;
	}
	rnt_post(&self->a, ops, DEPTH, 0, &n, NULL);
	/* the last may be too many work requests: it was not posted */
	for (unsigned int i = 0; i < n; i++)
		notify += ops[i].opcode != RNOTIFY_OP_READ;
	*notifies = notify;
	return n;
}

static void end_it(FIXTURE_DATA(tx) *self, int end)
{
	switch (end) {
	case OWN_DISCONNECT:
		rnt_check_eq(0, rnt_disconnect(&self->a, self->p.ea));
		break;
	case OWN_DESTROY:
		rnt_destroy(&self->a, self->p.ea);
		break;
	case PEER_DISCONNECT:
		rnt_check_eq(0, rnt_disconnect(&self->b, self->p.eb));
		break;
	case PEER_DESTROY:
		rnt_destroy(&self->b, self->p.eb);
		break;
	case PEER_CLOSE:
		munmap(self->dst.p, LEN);
		rnt_close(&self->b);
	}
}

/* TX_DONE of all in order; once one has failed, none succeeds. */
static void expect_outcomes(FIXTURE_DATA(tx) *self, unsigned int posted)
{
	struct rnotify_event ev;
	unsigned int good = 0;
	__u64 confirmed = 0;

	for (unsigned int i = 0; i < posted; i++) {
		rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_TX_DONE, &ev);
		rnt_check_eq(i, ev.tx.user_data);
		if (!ev.tx.error) {
			rnt_check_eq(i, good);
			good++;
			confirmed += ev.tx.opcode != RNOTIFY_OP_READ;
			rnt_check_eq(0, ev.tx.ib_status);
		} else {
			rnt_check(ev.tx.error < 0);
			rnt_check(ev.tx.ib_status);
		}
	}
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	rnt_check_eq(confirmed, ev.down.confirmed);
	self->confirmed = confirmed;
}

/* What the peer has is a prefix, with all that was confirmed. */
static void expect_prefix(FIXTURE_DATA(tx) *self, unsigned int notifies)
{
	struct rnotify_event ev;
	unsigned int n = 0;

	for (;;) {
		rnt_check(rnt_take(&self->b, self->p.eb, &ev, RNT_PATIENCE_MS));
		if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
			break;
		rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev.type);
		n++;
	}
	rnt_check_eq(n, ev.down.delivered);
	rnt_check(n <= notifies);
	rnt_check(n >= self->confirmed);
}

TEST_F_TIMEOUT(tx, P6_one_outcome_each, RNT_TIMEOUT(40))
{
	for (unsigned int i = 0; i < rnt_count(45); i++) {
		unsigned int posted, notifies;

		connect_b(self);
		posted = post_many(self, &notifies, i + 1);
		ASSERT_LT(50, posted);
		rnt_sleep_us(i % 5 * 1000);
		end_it(self, variant->end);
		expect_outcomes(self, posted);
		if (variant->end != PEER_CLOSE) {
			expect_prefix(self, notifies);
			munmap(self->dst.p, LEN);
			rnt_close(&self->b);
		}
		if (variant->end != OWN_DESTROY)
			rnt_destroy(&self->a, self->p.ea);
	}
}

/*
 * ---- posts against the end of their endpoint -------------------------------
 */

#define POSTERS		4

struct round {
	__u32 endpoint;
	unsigned int accepted[POSTERS];
};

FIXTURE(hammer)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	struct round *round;	/* what the posters post to */
	bool busy[POSTERS];
	bool stop;
	unsigned int nr_posters;
	struct rnt_thread thread[POSTERS];
};

static void *poster_fn(void *arg)
{
	FIXTURE_DATA(hammer) *self = arg;
	unsigned int me = __atomic_fetch_add(&self->nr_posters, 1,
					     __ATOMIC_RELAXED);

	while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
		struct rnotify_op op;
		struct round *r;
		int ret;

		__atomic_store_n(&self->busy[me], true, __ATOMIC_SEQ_CST);
		r = __atomic_load_n(&self->round, __ATOMIC_SEQ_CST);
		if (r) {
			op = rnt_op_notify(r->endpoint, me);
			op.flags = RNOTIFY_OP_F_SIGNALED;
			op.user_data = (__u64)me << 32 | r->accepted[me];
			/* half of them sleep for room, for a while */
			ret = rnt_post(&self->a, &op, 1, me % 2 ? 5 : 0, NULL,
				       NULL);
			if (!ret)
				r->accepted[me]++;
			else
				rnt_check(ret == -EAGAIN || ret == -ENOENT ||
					  ret == -ESHUTDOWN ||
					  ret == -ETIMEDOUT);
		}
		__atomic_store_n(&self->busy[me], false, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

FIXTURE_SETUP(hammer)
{
	rnt_base_read(&self->base);
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	for (int i = 0; i < POSTERS; i++)
		rnt_thread_start(&self->thread[i], poster_fn, self);
}

FIXTURE_TEARDOWN(hammer)
{
	__atomic_store_n(&self->stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < POSTERS; i++)
		rnt_thread_join(&self->thread[i]);
	rnt_close(&self->a);
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* One outcome of each accepted post, in the order of its thread. */
static void count_outcome(const struct rnotify_event *ev, unsigned int *done)
{
	unsigned int me = ev->tx.user_data >> 32;

	rnt_check(me < POSTERS);
	rnt_check_eq(done[me], (__u32)ev->tx.user_data);
	done[me]++;
}

/* Let them post for a while, and take what comes on both sides. */
static void hammer(FIXTURE_DATA(hammer) *self, const struct rnt_pair *p,
		   unsigned int us, unsigned int *done)
{
	uint64_t end = rnt_now_ns() + us * 1000;
	struct rnotify_event ev;

	while (rnt_now_ns() < end) {
		if (rnt_take(&self->a, p->ea, &ev, 0) &&
		    ev.type == RNOTIFY_EVENT_TX_DONE)
			count_outcome(&ev, done);
		rnt_take(&self->b, p->eb, &ev, 0);
	}
}

/* Nobody posts to that round any more, or counts for it. */
static void end_round(FIXTURE_DATA(hammer) *self)
{
	__atomic_store_n(&self->round, NULL, __ATOMIC_SEQ_CST);
	for (int i = 0; i < POSTERS; i++)
		while (__atomic_load_n(&self->busy[i], __ATOMIC_SEQ_CST))
			rnt_sleep_us(50);
}

static void take_rest(FIXTURE_DATA(hammer) *self, const struct rnt_pair *p,
		      const struct round *r, unsigned int *done)
{
	struct rnotify_event ev;

	for (;;) {
		rnt_check(rnt_take(&self->a, p->ea, &ev, RNT_PATIENCE_MS));
		if (ev.type == RNOTIFY_EVENT_DISCONNECTED)
			break;
		if (ev.type == RNOTIFY_EVENT_TX_DONE)
			count_outcome(&ev, done);
	}
	for (int i = 0; i < POSTERS; i++)
		rnt_check_eq(r->accepted[i], done[i]);
	rnt_check(rnt_take_type(&self->b, p->eb, RNOTIFY_EVENT_DISCONNECTED,
				&ev, RNT_PATIENCE_MS));
	/* what is left of this round is of no interest */
	self->b.nr_stash = 0;
}

static void hammer_rounds(FIXTURE_DATA(hammer) *self, bool peer_ends)
{
	unsigned int seed = 1;

	for (unsigned int i = 0; i < rnt_count(1500); i++) {
		unsigned int done[POSTERS] = { 0 };
		struct rnt_pair p;
		struct round r;

		rnt_pair_more(&self->p, &p);
		r = (struct round){ .endpoint = p.ea };
		__atomic_store_n(&self->round, &r, __ATOMIC_SEQ_CST);
		hammer(self, &p, rand_r(&seed) % 3000, done);
		if (peer_ends)
			rnt_destroy(&self->b, p.eb);
		else
			rnt_destroy(&self->a, p.ea);
		end_round(self);
		take_rest(self, &p, &r, done);
		if (peer_ends)
			rnt_destroy(&self->a, p.ea);
		else
			rnt_destroy(&self->b, p.eb);
		self->a.nr_seen = 0;
		self->b.nr_seen = 0;
	}
}

TEST_F_TIMEOUT(hammer, P6_post_against_destroy, RNT_TIMEOUT(40))
{
	hammer_rounds(self, false);
}

TEST_F_TIMEOUT(hammer, P6_post_against_destroy_by_peer, RNT_TIMEOUT(40))
{
	hammer_rounds(self, true);
}

/* The same id from several threads at once: one of them ends it. */
struct destroyer {
	struct rnt_thread thread;
	struct rnt_ctx *c;
	__u32 id;
	int ret;
};

static void *destroyer_fn(void *arg)
{
	struct destroyer *d = arg;

	d->ret = rnt_destroy_err(d->c, d->id);
	return NULL;
}

TEST_F(hammer, destroy_against_destroy)
{
	for (unsigned int i = 0; i < rnt_count(200); i++) {
		struct destroyer d[3];
		struct rnt_pair p;
		int won = 0;

		rnt_pair_more(&self->p, &p);
		for (int k = 0; k < 3; k++) {
			d[k].c = &self->a;
			d[k].id = p.ea;
			rnt_thread_start(&d[k].thread, destroyer_fn, &d[k]);
		}
		for (int k = 0; k < 3; k++) {
			rnt_thread_join(&d[k].thread);
			won += !d[k].ret;
			if (d[k].ret)
				ASSERT_EQ(-ENOENT, d[k].ret);
		}
		ASSERT_EQ(1, won);
		rnt_down(&self->a, p.ea, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
		rnt_down(&self->b, p.eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&self->b, p.eb);
	}
}

TEST_HARNESS_MAIN
