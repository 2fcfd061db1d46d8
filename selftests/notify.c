// SPDX-License-Identifier: GPL-2.0
/*
 * Notifications: imm, order, sequence numbers, completions, batches, and that
 * who sees the event sees the bytes (FAULTS 7, 8, 10, 11; P1, P6, P8).
 *
 * rvm: limit=120
 */
#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(16 * RNT_PAGE)

FIXTURE(notify)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;	/* a's */
	struct rnt_region dst;	/* b's, shared with a */
	__u32 remote;
};

FIXTURE_SETUP(notify)
{
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	rnt_region_alloc(&self->a, &self->src, LEN);
	rnt_region_alloc(&self->b, &self->dst, LEN);
	self->remote = rnt_grant(&self->p, self->dst.id, 0, 0,
				 RNOTIFY_RIGHT_WRITE, NULL);
}

FIXTURE_TEARDOWN(notify)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

static struct rnotify_op write_imm(FIXTURE_DATA(notify) *self, __u64 local,
				   __u64 remote, __u32 len, __u32 imm)
{
	struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea,
					 self->src.id, local, self->remote,
					 remote, len);

	op.imm = imm;
	return op;
}

static const __u32 imms[] = {
	0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000,
	0x89abcdef, 0x12345678, 0xfffffffe, 0xffffffff,
};

/* FAULTS 8: all 32 bits, in host order, and 0 like any other. */
TEST_F(notify, imm)
{
	struct rnotify_event ev;
	struct rnotify_op op;

	for (unsigned int i = 0; i < ARRAY_SIZE(imms); i++) {
		for (int kind = 0; kind < 3; kind++) {
			if (kind == 0)
				op = rnt_op_notify(self->p.ea, imms[i]);
			else
				op = write_imm(self, 0, 0,
					       kind == 1 ? 0 : 10, imms[i]);
			rnt_post1(&self->a, &op);
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
			ASSERT_EQ(imms[i], ev.notify.imm);
			ASSERT_EQ(RNOTIFY_EVENT_F_IMM, ev.flags);
			ASSERT_EQ(kind == 2 ? 10 : 0, ev.notify.byte_len);
			ASSERT_EQ(0, ev.notify.msg_offset);
			ASSERT_EQ(0xb, ev.cookie);
			/* and the other way */
			op = rnt_op_notify(self->p.eb, ~imms[i]);
			rnt_post1(&self->b, &op);
			rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_NOTIFY,
				   &ev);
			ASSERT_EQ(~imms[i], ev.notify.imm);
		}
	}
}

/* FAULTS 7: no bytes are no reason for no event. */
TEST_F(notify, zero_length)
{
	struct rnotify_op op, ops[6];
	struct rnotify_event ev;

	memset(self->dst.p, 0xee, LEN);
	/* without regions, with one of each, at the end of both */
	ops[0] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, 0, 0, 0, 0, 0);
	ops[1] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, 0, 0,
			   self->remote, 0, 0);
	ops[2] = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, self->src.id, 0,
			   self->remote, 0, 0);
	ops[3] = write_imm(self, LEN, LEN, 0, 0);
	ops[4] = write_imm(self, 0, LEN, 0, 0);
	ops[5] = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, NULL,
			       self->remote, LEN, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		ops[i].imm = 100 + i;
		ops[i].user_data = i;
		ops[i].flags |= RNOTIFY_OP_F_SIGNALED;
		ASSERT_EQ(0, rnt_try(&self->a, &ops[i])) TH_LOG("op %u", i);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		EXPECT_EQ(100 + i, ev.notify.imm);
		EXPECT_EQ(0, ev.notify.byte_len);
		rnt_expect_tx(&self->a, self->p.ea, i, 0, &ev);
		EXPECT_EQ(RNOTIFY_OP_WRITE_IMM, ev.tx.opcode);
		EXPECT_EQ(0, ev.tx.byte_len);
	}
	/* beyond the end of either */
	op = write_imm(self, 0, LEN + 1, 0, 0);
	EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
	op = write_imm(self, LEN + 1, 0, 0, 0);
	EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
	op = write_imm(self, 0, ~0ull, 0, 0);
	EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, 0, 0, 0, 1, 0);
	EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
	/* a plain WRITE of nothing is an operation like any other */
	op = rnt_op_rw(RNOTIFY_OP_WRITE, self->p.ea, 0, 0, self->remote, 0, 0);
	op.flags = RNOTIFY_OP_F_SIGNALED;
	ASSERT_EQ(0, rnt_try(&self->a, &op));
	rnt_expect_tx(&self->a, self->p.ea, 0, 0, NULL);
	rnt_expect_none(&self->b, 0, 5);
	EXPECT_EQ(-1, rnt_diff_byte(self->dst.p, LEN, 0xee));
}

/* A WRITE alone makes no event at the peer; the next NOTIFY covers it. */
TEST_F(notify, plain_writes_first)
{
	struct rnotify_event ev;
	struct rnotify_op op;

	rnt_fill(self->src.p, LEN, 5);
	for (unsigned int i = 0; i < 16; i++) {
		op = write_imm(self, i * RNT_PAGE, i * RNT_PAGE, RNT_PAGE, 0);
		op.opcode = RNOTIFY_OP_WRITE;
		rnt_post1(&self->a, &op);
	}
	op = rnt_op_notify(self->p.ea, 1);
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
	EXPECT_EQ(1, ev.notify.imm);
	EXPECT_EQ(0, ev.notify.byte_len);
	EXPECT_EQ(1, ev.seq);
	EXPECT_EQ(-1, rnt_diff(self->dst.p, LEN, 5));
	rnt_expect_none(&self->b, 0, 5);
}

/* Each SIGNALED operation once, in order; the others not at all (P6). */
TEST_F(notify, P6_completions)
{
	struct rnotify_event ev;
	__u64 next = 0;

	for (unsigned int i = 0; i < 500; i++) {
		struct rnotify_op op = write_imm(self, i, i, i % 300, i);

		if (i % 5 == 0)
			op = rnt_op_notify(self->p.ea, i);
		else if (i % 5 == 1)
			op.opcode = RNOTIFY_OP_WRITE;
		if (op.opcode == RNOTIFY_OP_WRITE)
			op.imm = 0;
		if (i % 3 == 0)
			op.flags = RNOTIFY_OP_F_SIGNALED;
		op.user_data = (__u64)i << 32 | 0x55;
		rnt_post1(&self->a, &op);
		if (op.opcode != RNOTIFY_OP_WRITE) {
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
			ASSERT_EQ(i, ev.notify.imm);
			ASSERT_EQ(op.length, ev.notify.byte_len);
		}
		if (i % 17)
			continue;
		/* collect now and then, several at a time */
		while (rnt_take(&self->a, self->p.ea, &ev, 0)) {
			ASSERT_EQ(RNOTIFY_EVENT_TX_DONE, ev.type);
			ASSERT_EQ(next << 32 | 0x55, ev.tx.user_data);
			next += 3;
		}
	}
	while (next < 500) {
		__u32 len = next % 5 == 0 ? 0 : next % 300;

		rnt_expect_tx(&self->a, self->p.ea, next << 32 | 0x55, 0, &ev);
		ASSERT_EQ(len, ev.tx.byte_len);
		ASSERT_EQ(next % 5 == 0 ? RNOTIFY_OP_NOTIFY :
			  next % 5 == 1 ? RNOTIFY_OP_WRITE :
			  RNOTIFY_OP_WRITE_IMM, ev.tx.opcode);
		ASSERT_EQ(0, ev.tx.ib_status);
		ASSERT_EQ(0xa, ev.cookie);
		next += 3;
	}
	rnt_expect_none(&self->a, 0, 10);
}

/* FAULTS 10: as many events as accepted, whatever entry is bad. */
TEST_F(notify, batches)
{
	struct rnotify_op ops[40];
	unsigned int accepted;
	struct rnotify_event ev;
	int error;

	for (unsigned int bad = 0; bad <= ARRAY_SIZE(ops); bad++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
			ops[i] = rnt_op_notify(self->p.ea, bad << 8 | i);
		if (bad < ARRAY_SIZE(ops))
			ops[bad].remote_id = 1;
		ASSERT_EQ(bad ? 0 : -EINVAL,
			  rnt_post(&self->a, ops, ARRAY_SIZE(ops), 1000,
				   &accepted, &error));
		ASSERT_EQ(bad, accepted);
		ASSERT_EQ(bad < ARRAY_SIZE(ops) ? -EINVAL : 0, error);
		for (unsigned int i = 0; i < accepted; i++) {
			rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY,
				   &ev);
			ASSERT_EQ(bad << 8 | i, ev.notify.imm);
		}
	}
	rnt_expect_none(&self->b, 0, 5);
}

/* Entries of several endpoints in one batch, in order on each. */
TEST_F(notify, batch_over_endpoints)
{
	struct rnotify_op ops[60];
	struct rnt_pair p[3];
	struct rnotify_event ev;
	unsigned int accepted;

	p[0] = self->p;
	rnt_pair_more(&self->p, &p[1]);
	rnt_pair_more(&self->p, &p[2]);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = rnt_op_notify(p[i / 2 % 3].ea, i);
	ASSERT_EQ(0, rnt_post(&self->a, ops, ARRAY_SIZE(ops), 1000, &accepted,
			      NULL));
	ASSERT_EQ(ARRAY_SIZE(ops), accepted);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		rnt_expect(&self->b, p[i / 2 % 3].eb, RNOTIFY_EVENT_NOTIFY,
			   &ev);
		ASSERT_EQ(i, ev.notify.imm);
	}
	/* a bad endpoint in the middle */
	ops[7].endpoint_id = 0x7fffffff;
	ASSERT_EQ(0, rnt_post(&self->a, ops, ARRAY_SIZE(ops), 1000, &accepted,
			      NULL));
	ASSERT_EQ(7, accepted);
	for (unsigned int i = 0; i < 7; i++) {
		rnt_expect(&self->b, p[i / 2 % 3].eb, RNOTIFY_EVENT_NOTIFY,
			   &ev);
	}
	rnt_expect_none(&self->b, 0, 5);
}

/* The largest batch, and those that are none. */
TEST_F(notify, batch_sizes)
{
	struct rnotify_params deep = {
		.recv_depth = 4096, .send_depth = 4096,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
	struct rnotify_post post = { .size = sizeof(post) };
	struct rnotify_op *ops = calloc(4097, sizeof(*ops));
	unsigned int accepted;
	struct rnt_ctx c;
	struct rnt_pair p;

	rnt_init(&c, 1 << 15, 0);
	rnt_pair_open(&p, &c, &c, &deep, &deep);
	for (unsigned int i = 0; i < 4097; i++)
		ops[i] = rnt_op_notify(p.ea, i);
	ASSERT_EQ(0, rnt_post(&c, ops, 4096, 5000, &accepted, NULL));
	ASSERT_EQ(4096, accepted);
	rnt_expect_imms(&c, p.eb, 0, 4096);
	EXPECT_EQ(-EINVAL, rnt_post(&c, ops, 4097, 0, NULL, NULL));
	EXPECT_EQ(-EINVAL, rnt_post(&c, ops, ~0u, 0, NULL, NULL));
	EXPECT_EQ(-EINVAL, rnt_post(&c, ops, 0, 0, NULL, NULL));
	post.ops = (uintptr_t)ops;
	post.nr_ops = 1;
	for (unsigned int size = 0; size < 200; size++) {
		if (size == sizeof(*ops))
			continue;
		post.op_size = size;
		EXPECT_EQ(-EINVAL, rnt_ioctl(c.fd, RNOTIFY_IOCTL_POST, &post))
			TH_LOG("op_size %u", size);
	}
	/* an array that ends before it should: what was there is posted */
	post.op_size = sizeof(*ops);
	post.nr_ops = 1;
	post.ops = 0;
	EXPECT_EQ(-EFAULT, rnt_ioctl(c.fd, RNOTIFY_IOCTL_POST, &post));
	rnt_expect_none(&c, 0, 5);
	rnt_close(&c);
}

/*
 * P8, FAULTS 11: each event's bytes are there when the event is, for every one
 * of thousands of uses of the same slots.
 */
TEST_F(notify, P8_seen_is_there)
{
	const unsigned int slots = 32, size = LEN / 32;
	unsigned int rounds = rnt_count(20000), sent = 0;
	const struct rnotify_event *ev;

	for (unsigned int got = 0; got < rounds;) {
		__u64 *words;

		/* a slot of either side is used again when its event came */
		while (sent < rounds && sent - got < slots) {
			__u32 at = sent % slots * size;
			struct rnotify_op op;

			words = (__u64 *)(self->src.p + at);
			for (unsigned int i = 0; i < size / 8; i++)
				words[i] = (__u64)sent << 32 | i;
			op = write_imm(self, at, at, size, sent);
			rnt_post1(&self->a, &op);
			sent++;
		}
		ASSERT_NE(0, rnt_poll(&self->b, POLLIN, RNT_PATIENCE_MS));
		while ((ev = rnt_peek(&self->b))) {
			ASSERT_EQ(RNOTIFY_EVENT_NOTIFY, ev->type);
			ASSERT_EQ(got, ev->notify.imm);
			ASSERT_EQ(got + 1, ev->seq);
			ASSERT_EQ(size, ev->notify.byte_len);
			words = (__u64 *)(self->dst.p + got % slots * size);
			for (unsigned int i = 0; i < size / 8; i++) {
				ASSERT_EQ((__u64)got << 32 | i, words[i])
					TH_LOG("event %u, word %u", got, i);
			}
			got++;
			rnt_consume(&self->b, 1);
		}
	}
	rnt_settle(&self->p, true);
}

/* Two streams to one reader: no order between them, full order within. */
TEST_F(notify, P1_order_within_each)
{
	unsigned int rounds = rnt_count(3000), got[2] = { 0, 0 };
	struct rnotify_event ev;
	struct rnt_pair p[2];

	p[0] = self->p;
	rnt_pair_more(&self->p, &p[1]);
	for (unsigned int i = 0; i < rounds; i++) {
		struct rnotify_op op = rnt_op_notify(p[i * 7 / 3 % 2].ea, 0);
		unsigned int k = op.endpoint_id == p[1].ea;

		op.imm = i;
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, 0, RNOTIFY_EVENT_NOTIFY, &ev);
		ASSERT_EQ(p[k].eb, ev.endpoint);
		ASSERT_EQ(i, ev.notify.imm);
		ASSERT_EQ(++got[k], ev.seq);
	}
}

TEST_HARNESS_MAIN
