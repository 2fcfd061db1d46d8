// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation, with sizes around the borders of the regions' MRs and of
 * pages, with guard bytes around (P8, FAULTS 9). Longer lengths, and payloads
 * from everywhere to everywhere: notify_sizes.c.
 *
 * rvm: limit=120
 */
#include <string.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define GUARD	64
#define MSG	4096u
#define CHUNK	(2 * RNT_MIB)	/* what one MR covers on rxe */
#define LEN	(2 * CHUNK + RNT_PAGE)

struct place {
	struct rnt_region *r;
	size_t at;
	__u32 len;
};

FIXTURE(borders)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region local;
	struct rnt_region target;
	__u32 remote;
	unsigned int nr;
};

/* Scattered pages, the first byte in the middle of one. */
static void scattered(struct rnt_ctx *c, struct rnt_region *r, unsigned int at)
{
	char *p = rnt_anon(LEN + RNT_PAGE);

	madvise(p, LEN + RNT_PAGE, MADV_NOHUGEPAGE);
	rnt_region_user(c, r, p + at, LEN, 0);
}

FIXTURE_SETUP(borders)
{
	struct rnotify_params params = { .send_depth = 256 };

	rnt_init(&self->a, 1024, MSG);
	rnt_init(&self->b, 1024, MSG);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
	/* aligned alike to 8 bytes, for the atomics */
	scattered(&self->a, &self->local, 1000);
	scattered(&self->b, &self->target, 2048);
	self->remote = rnt_grant(&self->p, self->target.id, 0, 0,
				 RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ |
				 RNOTIFY_RIGHT_ATOMIC, NULL);
}

FIXTURE_TEARDOWN(borders)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* ---- places and their guards ---- */

static size_t clip(size_t at, size_t max)
{
	return at < max ? at : max;
}

static void whiten(const struct place *p)
{
	size_t from = p->at - clip(p->at, GUARD);
	size_t to = clip(p->at + p->len + GUARD, p->r->len);

	memset(p->r->p + from, 0xee, to - from);
}

static void check_guards(const struct place *p)
{
	size_t before = clip(p->at, GUARD);
	size_t behind = clip(p->r->len - p->at - p->len, GUARD);

	if (rnt_diff_byte(p->r->p + p->at - before, before, 0xee) >= 0 ||
	    rnt_diff_byte(p->r->p + p->at + p->len, behind, 0xee) >= 0)
		rnt_fail("%u bytes at %zu: bytes around are written", p->len,
			 p->at);
}

static void check_place(const struct place *p, unsigned int seed)
{
	long bad = rnt_diff(p->r->p + p->at, p->len, seed);

	if (bad >= 0)
		rnt_fail("%u bytes at %zu: byte %ld is wrong", p->len, p->at,
			 bad);
	check_guards(p);
}

/* ---- operations ---- */

static void post(FIXTURE_DATA(borders) *self, struct rnotify_op *op)
{
	struct rnotify_event ev;

	op->flags |= RNOTIFY_OP_F_SIGNALED;
	op->user_data = ++self->nr;
	rnt_post1(&self->a, op);
	rnt_expect_tx(&self->a, self->p.ea, self->nr, 0, &ev);
	rnt_check_eq(op->length, ev.tx.byte_len);
	rnt_check_eq(op->opcode, ev.tx.opcode);
}

static struct rnotify_op rw(FIXTURE_DATA(borders) *self, unsigned int opcode,
			    const struct place *l, const struct place *r)
{
	return rnt_op_rw(opcode, self->p.ea, self->local.id, l->at,
			 self->remote, r->at, r->len);
}

static void do_write(FIXTURE_DATA(borders) *self, const struct place *l,
		     const struct place *r, bool imm, bool inlined)
{
	unsigned int opcode = imm ? RNOTIFY_OP_WRITE_IMM : RNOTIFY_OP_WRITE;
	struct rnotify_op op = rw(self, opcode, l, r);
	unsigned int seed = self->nr + 1;
	struct rnotify_event ev;

	whiten(r);
	rnt_fill(l->r->p + l->at, l->len, seed);
	if (inlined)
		op = rnt_op_inline(opcode, self->p.ea, l->r->p + l->at,
				   self->remote, r->at, r->len);
	op.imm = imm ? seed : 0;
	post(self, &op);
	if (imm) {
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, &ev);
		rnt_check_eq(seed, ev.notify.imm);
		rnt_check_eq(r->len, ev.notify.byte_len);
	}
	check_place(r, seed);
}

static void do_read(FIXTURE_DATA(borders) *self, const struct place *l,
		    const struct place *r)
{
	struct rnotify_op op = rw(self, RNOTIFY_OP_READ, l, r);
	unsigned int seed = self->nr + 1;

	whiten(l);
	rnt_fill(r->r->p + r->at, r->len, seed);
	post(self, &op);
	check_place(l, seed);
}

static void do_send(FIXTURE_DATA(borders) *self, const struct place *l,
		    bool imm)
{
	struct rnotify_op op = {
		.opcode = imm ? RNOTIFY_OP_SEND_IMM : RNOTIFY_OP_SEND,
		.endpoint_id = self->p.ea, .region_id = self->local.id,
		.local_offset = l->at, .length = l->len,
	};
	unsigned int seed = self->nr + 1;
	struct rnotify_event ev;

	op.imm = imm ? seed : 0;
	rnt_fill(l->r->p + l->at, l->len, seed);
	post(self, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_MESSAGE, &ev);
	rnt_check_eq(imm ? RNOTIFY_EVENT_F_IMM : 0, ev.flags);
	rnt_check_eq(op.imm, ev.notify.imm);
	rnt_check_eq(l->len, ev.notify.byte_len);
	/* consumed, but nothing else comes into its slot so soon */
	rnt_check_eq(-1, rnt_diff(self->b.msgs + ev.notify.msg_offset, l->len,
				  seed));
}

static __u64 get64(const struct place *p)
{
	__u64 x;

	memcpy(&x, p->r->p + p->at, sizeof(x));
	return x;
}

static void set64(const struct place *p, __u64 x)
{
	memcpy(p->r->p + p->at, &x, sizeof(x));
}

static void do_atomics(FIXTURE_DATA(borders) *self, struct place l,
		       struct place r)
{
	const __u64 old = 0x1122334455667788ull;
	struct rnotify_op op;

	l.len = r.len = 8;
	whiten(&l);
	whiten(&r);
	set64(&r, old);
	op = rw(self, RNOTIFY_OP_FETCH_ADD, &l, &r);
	op.operand = 5;
	post(self, &op);
	rnt_check_eq(old, get64(&l));
	rnt_check_eq(old + 5, get64(&r));
	op = rw(self, RNOTIFY_OP_CMP_SWAP, &l, &r);
	op.operand = old + 5;
	op.swap = ~0ull;
	post(self, &op);
	rnt_check_eq(old + 5, get64(&l));
	rnt_check(get64(&r) == ~0ull);
	/* compared with something else: stays */
	op.swap = 1;
	post(self, &op);
	rnt_check(get64(&l) == ~0ull && get64(&r) == ~0ull);
	check_guards(&l);
	check_guards(&r);
}

/* ---- the table ---- */

/* Where an MR ends: counted from the first byte's page. */
static size_t border(const struct rnt_region *r, unsigned int nr)
{
	return nr * CHUNK - (uintptr_t)r->p % RNT_PAGE;
}

static void all_of(FIXTURE_DATA(borders) *self, size_t local, size_t remote,
		   __u32 len)
{
	struct place l = { &self->local, local, len };
	struct place r = { &self->target, remote, len };

	do_write(self, &l, &r, false, false);
	do_write(self, &l, &r, true, false);
	if (len <= RNOTIFY_INLINE_MAX) {
		do_write(self, &l, &r, false, true);
		do_write(self, &l, &r, true, true);
	}
	do_read(self, &l, &r);
	if (len <= MSG) {
		do_send(self, &l, false);
		do_send(self, &l, true);
	}
	if (local % 8 == 0 && remote % 8 == 0 && len >= 8)
		do_atomics(self, l, r);
}

static const __u32 sizes[] = { 1, 8, 9, 256, 1024, 1025, 4096, 4104 };

/* Each size before, across and behind the border; in one, the other, or both. */
TEST_F(borders, P8_every_operation)
{
	size_t lb = border(&self->local, 1), rb = border(&self->target, 1);

	/* the borders are multiples of 8 here */
	ASSERT_EQ(0, (lb | rb) % 8);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		__u32 n = sizes[i];

		all_of(self, 16, rb - n, n);
		all_of(self, 16, rb, n);
		all_of(self, 16, rb - n / 2, n);
		all_of(self, lb - n / 2, 16, n);
		all_of(self, lb - n / 2, rb - n / 2, n);
		all_of(self, lb - 1, rb - 1, n);
	}
}

/* At the first and the last byte of both. */
TEST_F(borders, P8_ends_of_regions)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		all_of(self, 0, LEN - sizes[i], sizes[i]);
		all_of(self, LEN - sizes[i], 0, sizes[i]);
	}
}

/* A whole MR, and one more byte on either side. */
TEST_F(borders, P8_whole_mrs)
{
	size_t lb = border(&self->local, 1), rb = border(&self->target, 1);

	all_of(self, 8, rb, CHUNK);
	all_of(self, 8, rb - 1, CHUNK + 2);
	all_of(self, lb - 1, 8, CHUNK + 2);
	all_of(self, 0, 0, LEN);
}

TEST_HARNESS_MAIN
