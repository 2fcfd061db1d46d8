// SPDX-License-Identifier: GPL-2.0
/*
 * SEND and SEND_IMM: sizes, the message area, and order among notifications.
 *
 * rvm: limit=120
 */
#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(128 * RNT_KIB)

FIXTURE(messages)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region src;
	unsigned int nr;
};

FIXTURE_VARIANT(messages)
{
	unsigned int ring;
	unsigned int msg_size;
	bool user;
};

FIXTURE_VARIANT_ADD(messages, small) { 256, 256, false };
FIXTURE_VARIANT_ADD(messages, odd) { 256, 4160, true };
FIXTURE_VARIANT_ADD(messages, largest) { 256, RNOTIFY_MSG_SIZE_MAX, false };
FIXTURE_VARIANT_ADD(messages, largest_user) { 256, RNOTIFY_MSG_SIZE_MAX, true };

FIXTURE_SETUP(messages)
{
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, variant->ring, variant->msg_size);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
	if (variant->user)
		rnt_region_user(&self->a, &self->src,
				(char *)rnt_anon(LEN + RNT_PAGE) + 77, LEN, 0);
	else
		rnt_region_alloc(&self->a, &self->src, LEN);
}

FIXTURE_TEARDOWN(messages)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* The payload lies in the message area, in a slot of its own. */
static const char *payload(struct rnt_ctx *c, const struct rnotify_event *ev)
{
	rnt_check_eq(0, ev->notify.msg_offset % c->setup.msg_size);
	rnt_check(ev->notify.msg_offset + c->setup.msg_size <=
		  c->setup.msg_area_size);
	rnt_check(ev->notify.byte_len <= c->setup.msg_size);
	return c->msgs + ev->notify.msg_offset;
}

static void one_send(FIXTURE_DATA(messages) *self, __u64 offset, __u32 len)
{
	bool imm = self->nr % 2, inl = len <= RNOTIFY_INLINE_MAX &&
				      self->nr % 3 == 0;
	unsigned int seed = ++self->nr;
	const struct rnotify_event *ev;
	struct rnotify_op op;

	rnt_fill(self->src.p + offset, len, seed);
	op = rnt_op_rw(imm ? RNOTIFY_OP_SEND_IMM : RNOTIFY_OP_SEND,
		       self->p.ea, len ? self->src.id : 0, offset, 0, 0, len);
	if (inl)
		op = rnt_op_inline(op.opcode, self->p.ea, self->src.p + offset,
				   0, 0, len);
	op.imm = imm ? seed - 2 : 0;
	op.flags |= RNOTIFY_OP_F_SIGNALED;
	op.user_data = seed;
	rnt_post1(&self->a, &op);
	if (inl)
		memset(self->src.p + offset, 0x11, len);

	/* by hand: the payload is there until the event is consumed */
	rnt_check(rnt_poll(&self->b, POLLIN, RNT_PATIENCE_MS));
	ev = rnt_peek(&self->b);
	rnt_check_eq(RNOTIFY_EVENT_MESSAGE, ev->type);
	rnt_check_eq(seed, ev->seq);
	rnt_check_eq(len, ev->notify.byte_len);
	rnt_check_eq(imm ? RNOTIFY_EVENT_F_IMM : 0, ev->flags);
	/* "imm 0" and "no imm" differ by the flag; without it imm is 0 */
	rnt_check_eq(op.imm, ev->notify.imm);
	rnt_check_eq(-1, rnt_diff(payload(&self->b, ev), len, seed));
	rnt_consume(&self->b, 1);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_TX_DONE, NULL);
}

TEST_F(messages, sizes)
{
	static const __u32 sizes[] = {
		0, 1, 2, 7, 8, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025,
		4095, 4096, 4097, 4159, 4160, 65535, 65536,
	};
	struct rnotify_op op;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (__u64 offset = 0; offset < 5000; offset += 1237) {
			if (sizes[i] <= variant->msg_size) {
				one_send(self, offset, sizes[i]);
				continue;
			}
			op = rnt_op_rw(RNOTIFY_OP_SEND, self->p.ea,
				       self->src.id, offset, 0, 0, sizes[i]);
			ASSERT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
		}
	}
	/* the boundary itself, from the region's end */
	one_send(self, LEN - variant->msg_size, variant->msg_size);
	op = rnt_op_rw(RNOTIFY_OP_SEND, self->p.ea, self->src.id, 0, 0, 0,
		       variant->msg_size + 1);
	ASSERT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
	op.length = LEN;
	ASSERT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
	ASSERT_EQ(-EMSGSIZE, rnt_post(&self->a, &op, 1, 1000, NULL, NULL));
	one_send(self, 0, 1);
}

/* All credits used: each message has its own slot, none is overwritten. */
TEST_F(messages, slots)
{
	struct rnotify_event ev[64];
	unsigned int len = variant->msg_size;

	for (int round = 0; round < 5; round++) {
		for (unsigned int i = 0; i < 64; i++) {
			struct rnotify_op op;

			/* one operation at a time: it may be read again */
			rnt_fill(self->src.p, len, round * 64 + i);
			op = rnt_op_rw(RNOTIFY_OP_SEND, self->p.ea,
				       self->src.id, 0, 0, 0, len);
			op.flags = RNOTIFY_OP_F_SIGNALED;
			rnt_post1(&self->a, &op);
			rnt_expect_tx(&self->a, self->p.ea, 0, 0, NULL);
		}
		ASSERT_EQ(0, rnt_wait(&self->b, 64, -1, 0, NULL));
		for (unsigned int i = 0; i < 64; i++) {
			ev[i] = self->b.entries[(self->b.cons + i) &
						self->b.mask];
			ASSERT_EQ(RNOTIFY_EVENT_MESSAGE, ev[i].type);
			ASSERT_EQ(len, ev[i].notify.byte_len);
			for (unsigned int j = 0; j < i; j++) {
				ASSERT_NE(ev[i].notify.msg_offset,
					  ev[j].notify.msg_offset);
			}
			ASSERT_EQ(-1, rnt_diff(payload(&self->b, &ev[i]), len,
					       round * 64 + i))
				TH_LOG("round %d message %u", round, i);
		}
		rnt_consume(&self->b, 64);
	}
}

/* Notifications and messages are one sequence. */
TEST_F(messages, P1_mixed_in_order)
{
	unsigned int n = rnt_count(2000), sent = 0, got = 0;
	const struct rnotify_event *ev;

	while (got < n) {
		while (sent < n && sent - got < 40) {
			struct rnotify_op op = rnt_op_notify(self->p.ea, sent);

			if (sent % 3)
				op = rnt_op_inline(sent % 3 == 1 ?
						   RNOTIFY_OP_SEND :
						   RNOTIFY_OP_SEND_IMM,
						   self->p.ea, &sent, 0, 0,
						   sizeof(sent));
			if (sent % 3 == 2)
				op.imm = sent;
			rnt_post1(&self->a, &op);
			sent++;
		}
		ASSERT_NE(0, rnt_poll(&self->b, POLLIN, RNT_PATIENCE_MS));
		while ((ev = rnt_peek(&self->b))) {
			ASSERT_EQ(got + 1, ev->seq);
			ASSERT_EQ(got % 3 ? RNOTIFY_EVENT_MESSAGE :
				  RNOTIFY_EVENT_NOTIFY, ev->type);
			ASSERT_EQ(got % 3 == 1 ? 0 : RNOTIFY_EVENT_F_IMM,
				  ev->flags);
			if (got % 3 != 1) {
				ASSERT_EQ(got, ev->notify.imm);
			}
			if (got % 3) {
				ASSERT_EQ(sizeof(got), ev->notify.byte_len);
				ASSERT_EQ(0, memcmp(payload(&self->b, ev),
						    &got, sizeof(got)));
			}
			got++;
			rnt_consume(&self->b, 1);
		}
	}
	rnt_settle(&self->p, true);
}

/* Messages use the same credits. */
TEST_F(messages, credits)
{
	struct rnotify_op op = rnt_op_inline(RNOTIFY_OP_SEND, self->p.ea,
					     "abc", 0, 0, 3);
	unsigned int n = 0;

	while (n < 64) {
		rnt_post1(&self->a, &op);
		n++;
	}
	ASSERT_EQ(-EAGAIN, rnt_try(&self->a, &op));
	for (; n; n--)
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_MESSAGE, NULL);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(0, rnt_try(&self->a, &op));
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_MESSAGE, NULL);
}

FIXTURE(none)
{
	struct rnt_ctx a;	/* takes messages */
	struct rnt_ctx b;	/* does not */
	struct rnt_pair p;
};

FIXTURE_SETUP(none)
{
	rnt_init(&self->a, 256, 512);
	rnt_init(&self->b, 256, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, NULL, NULL);
}

FIXTURE_TEARDOWN(none)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* A context without a message area: refused where it is sent. */
TEST_F(none, no_message_area)
{
	struct rnotify_op op;

	op = rnt_op_inline(RNOTIFY_OP_SEND, self->p.ea, "a", 0, 0, 1);
	EXPECT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
	op.opcode = RNOTIFY_OP_SEND_IMM;
	EXPECT_EQ(-EMSGSIZE, rnt_try(&self->a, &op));
	rnt_expect_none(&self->b, 0, 5);
	/* the other direction has one */
	op.endpoint_id = self->p.eb;
	ASSERT_EQ(0, rnt_try(&self->b, &op));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_MESSAGE, NULL);
}

TEST_HARNESS_MAIN
