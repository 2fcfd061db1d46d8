// SPDX-License-Identifier: GPL-2.0
/*
 * Shares: what the peer is told, which bytes it reaches, how many there can be.
 *
 * rvm: limit=90
 */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LEN	(4 * RNT_PAGE)
#define W	RNOTIFY_RIGHT_WRITE
#define R	RNOTIFY_RIGHT_READ
#define A	RNOTIFY_RIGHT_ATOMIC

FIXTURE(share)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_region own;	/* a's */
	struct rnt_region dst;	/* b's */
};

FIXTURE_SETUP(share)
{
	struct rnotify_params pa = { .remote_regions = RNOTIFY_SHARES_MAX };

	rnt_init(&self->a, 4096, 0);
	rnt_init(&self->b, 4096, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &pa, NULL);
	rnt_region_alloc(&self->a, &self->own, LEN);
	rnt_region_alloc(&self->b, &self->dst, LEN);
}

FIXTURE_TEARDOWN(share)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* Everything that the event says. */
TEST_F(share, events)
{
	static const __u32 rights[] = { W, R, A, W | R, R | A, W | R | A };
	struct rnotify_event ev, gone;

	for (unsigned int i = 0; i < ARRAY_SIZE(rights); i++) {
		__u64 tag = 0xfedcba9800000000ull + i;
		__u64 len = i ? 1000 * i : 0;
		__u32 id = rnt_share(&self->b, self->p.eb, self->dst.id,
				     i * 77, len, rights[i], tag);

		rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_REMOTE_REGION,
			   &ev);
		EXPECT_EQ(0xa, ev.cookie);
		EXPECT_NE(0, ev.region.remote_id);
		EXPECT_EQ(rights[i], ev.region.rights);
		EXPECT_EQ(len ? len : LEN, ev.region.length);
		EXPECT_EQ(tag, ev.region.tag);
		EXPECT_EQ(0, ev.region.reserved);
		rnt_destroy(&self->b, id);
		rnt_expect(&self->a, self->p.ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, &gone);
		EXPECT_EQ(0, memcmp(&ev.region, &gone.region,
				    sizeof(ev.region)));
		EXPECT_EQ(-ENOENT, rnt_destroy_err(&self->b, id));
	}
	rnt_expect_none(&self->a, 0, 5);
	rnt_expect_none(&self->b, 0, 0);
}

TEST_F(share, refused)
{
	struct rnotify_share s = { .rights = W };
	static const struct {
		__u64 offset;
		__u64 length;
		int want;
	} ranges[] = {
		{ LEN, 0, -ERANGE }, { LEN, 1, -ERANGE }, { LEN + 1, 0, -ERANGE },
		{ 0, LEN + 1, -ERANGE }, { 1, LEN, -ERANGE },
		{ LEN - 1, 2, -ERANGE }, { ~0ull, 0, -ERANGE },
		{ ~0ull, 2, -ERANGE }, { 0, ~0ull, -ERANGE },
		{ 1, ~0ull, -ERANGE }, { 1ull << 63, 1ull << 63, -ERANGE },
		{ ~0ull - LEN + 1, LEN * 2, -ERANGE },
	};
	static const __u32 bad_rights[] = { 8, 16, 1u << 31, W | 8 };
	struct rnotify_share before;

	s.endpoint_id = self->p.eb;
	s.region_id = self->dst.id;
	for (unsigned int i = 0; i < ARRAY_SIZE(ranges); i++) {
		s.offset = ranges[i].offset;
		s.length = ranges[i].length;
		EXPECT_EQ(ranges[i].want, rnt_share_err(&self->b, &s))
			TH_LOG("row %u", i);
	}
	s.offset = 0;
	s.length = 0;
	s.rights = 0;
	EXPECT_EQ(-EINVAL, rnt_share_err(&self->b, &s));
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_rights); i++) {
		s.rights = bad_rights[i];
		before = s;
		EXPECT_EQ(-EOPNOTSUPP, rnt_share_err(&self->b, &s));
		EXPECT_EQ(0, memcmp(&s, &before, sizeof(s)));
	}
	rnt_expect_none(&self->a, 0, 10);
}

/* Each share reaches its own bytes, and none besides. */
TEST_F(share, parts)
{
	static const unsigned int parts[][2] = {
		{ 0, 1 }, { 0, 8 }, { 1, 1 }, { 4095, 1 }, { 4095, 2 },
		{ 4096, 4096 }, { 100, 8000 }, { LEN - 1, 1 },
		{ LEN - 4097, 4097 }, { 0, LEN },
	};

	rnt_fill(self->own.p, LEN, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
		unsigned int off = parts[i][0], len = parts[i][1];
		struct rnotify_op op;
		__u32 remote, id;

		remote = rnt_grant(&self->p, self->dst.id, off, len, W | R,
				   &id);
		memset(self->dst.p, 0xee, LEN);
		op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p.ea, self->own.id,
			       0, remote, 0, len);
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		EXPECT_EQ(-1, rnt_diff(self->dst.p + off, len, 1));
		EXPECT_EQ(-1, rnt_diff_byte(self->dst.p, off, 0xee));
		EXPECT_EQ(-1, rnt_diff_byte(self->dst.p + off + len,
					    LEN - off - len, 0xee));
		op.remote_offset = 1;
		EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
		op.remote_offset = len;
		op.length = 1;
		EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
		op.remote_offset = -1;
		EXPECT_EQ(-ERANGE, rnt_try(&self->a, &op));
		rnt_destroy(&self->b, id);
		rnt_expect(&self->a, self->p.ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
	}
}

/* As many as the peer has room for; EMFILE; one back, one more. */
TEST_F(share, many)
{
	struct rnotify_share s = { .rights = R };
	__u32 id[RNOTIFY_SHARES_MAX], remote[RNOTIFY_SHARES_MAX];
	struct rnotify_event ev;

	for (unsigned int i = 0; i < RNOTIFY_SHARES_MAX; i++) {
		remote[i] = rnt_grant(&self->p, self->dst.id, i, 1 + i, R,
				      &id[i]);
		for (unsigned int j = 0; j < i; j++) {
			ASSERT_NE(remote[i], remote[j]);
			ASSERT_NE(id[i], id[j]);
		}
	}
	s.endpoint_id = self->p.eb;
	s.region_id = self->dst.id;
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(-EMFILE, rnt_share_err(&self->b, &s));
	}
	/* all of them work */
	rnt_fill(self->dst.p, LEN, 4);
	for (unsigned int i = 0; i < RNOTIFY_SHARES_MAX; i++) {
		struct rnotify_op op = rnt_op_rw(RNOTIFY_OP_READ, self->p.ea,
						 self->own.id, 0, remote[i], 0,
						 1 + i);

		op.flags = RNOTIFY_OP_F_SIGNALED;
		rnt_post1(&self->a, &op);
		rnt_expect_tx(&self->a, self->p.ea, 0, 0, NULL);
		ASSERT_EQ(0, memcmp(self->own.p, self->dst.p + i, 1 + i));
	}
	/* the place is free when the peer has consumed that it is gone */
	rnt_destroy(&self->b, id[10]);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_REMOTE_REGION_GONE,
		   &ev);
	ASSERT_EQ(remote[10], ev.region.remote_id);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(0, rnt_share_err(&self->b, &s));
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	for (unsigned int j = 0; j < RNOTIFY_SHARES_MAX; j++) {
		ASSERT_NE(ev.region.remote_id, remote[j]);
	}
}

/* A peer with room for few, or for none. */
TEST_F(share, room_of_the_peer)
{
	static const __u32 room[] = { RNOTIFY_NO_REGIONS, 1, 5, 0 };
	struct rnotify_share s = { .rights = R };

	s.region_id = self->dst.id;
	for (unsigned int i = 0; i < ARRAY_SIZE(room); i++) {
		struct rnotify_params pa = { .remote_regions = room[i] };
		unsigned int want = room[i] == RNOTIFY_NO_REGIONS ? 0 :
				    room[i] ? room[i] : 8;
		struct rnt_pair p;

		rnt_more(&self->p, &p, &pa, NULL);
		s.endpoint_id = p.eb;
		for (unsigned int n = 0; n < want; n++) {
			ASSERT_EQ(0, rnt_share_err(&self->b, &s));
			rnt_expect(&self->a, p.ea,
				   RNOTIFY_EVENT_REMOTE_REGION, NULL);
		}
		ASSERT_EQ(-EMFILE, rnt_share_err(&self->b, &s));
		rnt_expect_none(&self->a, p.ea, 5);
	}
}

/* A reader that never looks: shares come and go until its room is used up. */
TEST_F(share, reader_does_nothing)
{
	struct rnotify_params pa = { .remote_regions = 4 };
	struct rnotify_share s = { .rights = R };
	unsigned int made = 0;
	struct rnotify_event ev;
	struct rnt_pair p;
	int ret;

	rnt_more(&self->p, &p, &pa, NULL);
	s.endpoint_id = p.eb;
	s.region_id = self->dst.id;
	while (!(ret = rnt_share_err(&self->b, &s))) {
		made++;
		rnt_destroy(&self->b, s.share_id);
		ASSERT_LE(made, 4);
	}
	ASSERT_EQ(-EMFILE, ret);
	ASSERT_EQ(4, made);
	/* each came and went, in order */
	for (unsigned int i = 0; i < made; i++) {
		__u32 remote;

		rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_REMOTE_REGION, &ev);
		remote = ev.region.remote_id;
		rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_REMOTE_REGION_GONE,
			   &ev);
		ASSERT_EQ(remote, ev.region.remote_id);
	}
}

/* The next share, when there is room for it: how long that takes, in ms. */
static unsigned int share_when_possible(FIXTURE_DATA(share) *self,
					struct rnotify_share *s)
{
	uint64_t start = rnt_now_ns(), end = rnt_deadline(RNT_PATIENCE_MS);
	int ret;

	while ((ret = rnt_share_err(&self->b, s))) {
		rnt_check_eq(-EMFILE, ret);
		rnt_check(rnt_left_ms(end));
		rnt_sleep_us(500);
	}
	return (rnt_now_ns() - start) / 1000000;
}

/* Consumes on the mapping, with no system call but the KICK that it asks for. */
static void consume_spinning(struct rnt_ctx *c, unsigned int nr)
{
	uint64_t end = rnt_deadline(RNT_PATIENCE_MS);

	while (nr) {
		unsigned int n = rnt_pending(c);

		rnt_check(rnt_left_ms(end));
		n = n < nr ? n : nr;
		if (n)
			rnt_consume(c, n);
		nr -= n;
	}
}

/*
 * A reader that works on the mapping alone, and makes no system call but KICK
 * when need_kick asks for it, gives places back as well, and soon.
 */
TEST_F(share, spinning_reader)
{
	struct rnotify_params pa = { .remote_regions = 2 };
	struct rnotify_share s = { .rights = R };
	unsigned int rounds = rnt_count(60), late = 0, longest = 0, ms;
	struct rnt_pair p;

	rnt_more(&self->p, &p, &pa, NULL);
	s.endpoint_id = p.eb;
	s.region_id = self->dst.id;
	for (unsigned int i = 0; i < rounds; i++) {
		ms = share_when_possible(self, &s);
		late += ms >= 100 * rnt_slow();
		longest = ms > longest ? ms : longest;
		rnt_destroy(&self->b, s.share_id);
		consume_spinning(&self->a, 1);
		consume_spinning(&self->a, 1);
	}
	TH_LOG("longest wait for a place: %u ms", longest);
	EXPECT_LE(late, rounds / 2);
}

/*
 * WRITABLE makes a refusal good (rnt_share() waits for it), even if the peer's user
 * consumed what matters before its peer was out of places, and then does nothing at
 * all.
 */
TEST_F(share, P7_told_of_a_place)
{
	struct rnotify_params pa = { .remote_regions = 2 };
	struct rnt_pair p;

	rnt_more(&self->p, &p, &pa, NULL);
	for (unsigned int i = 0; i < rnt_count(20); i++) {
		__u32 id[3];

		/* one comes and goes, two stay */
		for (int n = 0; n < 3; n++) {
			id[n] = rnt_share(&self->b, p.eb, self->dst.id, 0, 0, R,
					  0);
			if (!n)
				rnt_destroy(&self->b, id[n]);
			consume_spinning(&self->a, n ? 1 : 2);
		}
		for (int n = 1; n < 3; n++) {
			rnt_destroy(&self->b, id[n]);
			rnt_expect(&self->a, p.ea,
				   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
		}
	}
	rnt_expect_none(&self->b, p.eb, 5);
}

/* Refused, then given a place: ms until a reader that only spins has WRITABLE. */
static unsigned int until_told(FIXTURE_DATA(share) *self, struct rnt_pair *p,
			       struct rnotify_share *s)
{
	uint64_t start;

	rnt_check_eq(-EMFILE, rnt_share_err(&self->b, s));
	rnt_destroy(&self->b, s->share_id);
	rnt_expect(&self->a, p->ea, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	rnt_expect(&self->a, p->ea, RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
	start = rnt_now_ns();
	consume_spinning(&self->b, 1);
	return (rnt_now_ns() - start) / 1000000;
}

/*
 * Not only when the slow timer looks (4 times a second), although the WRITABLE
 * before was consumed without a system call, when no KICK was asked for.
 */
TEST_F(share, P7_told_soon)
{
	struct rnotify_params pa = { .remote_regions = 1 };
	struct rnotify_share s = { .rights = R };
	unsigned int late = 0, rounds = 12;
	struct rnt_pair p;

	rnt_more(&self->p, &p, &pa, NULL);
	s.endpoint_id = p.eb;
	s.region_id = self->dst.id;
	for (unsigned int i = 0; i < rounds; i++) {
		ASSERT_EQ(0, rnt_share_err(&self->b, &s));
		late += until_told(self, &p, &s) > 200;
	}
	/* the machine may have stood still now and then */
	EXPECT_LE(late, rounds / 2);
	rnt_expect_none(&self->b, p.eb, 5);
}

/* Nor is the side that shares told more often, or while there is no place. */
TEST_F(share, told_of_a_place_once)
{
	struct rnotify_params pa = { .remote_regions = RNOTIFY_SHARES_MAX };
	struct rnotify_share s = { .rights = R };
	__u32 id[RNOTIFY_SHARES_MAX];
	struct rnt_pair p;

	rnt_more(&self->p, &p, &pa, NULL);
	s.endpoint_id = p.eb;
	s.region_id = self->dst.id;
	for (unsigned int i = 0; i < RNOTIFY_SHARES_MAX; i++) {
		ASSERT_EQ(0, rnt_share_err(&self->b, &s));
		id[i] = s.share_id;
	}
	ASSERT_EQ(-EMFILE, rnt_share_err(&self->b, &s));
	ASSERT_EQ(-EMFILE, rnt_share_err(&self->b, &s));
	rnt_destroy(&self->b, id[0]);
	rnt_destroy(&self->b, id[1]);
	/* free here, but not at the peer: nobody has consumed anything */
	rnt_expect_none(&self->b, p.eb, 5);
	ASSERT_EQ(-EMFILE, rnt_share_err(&self->b, &s));
	for (unsigned int i = 0; i < RNOTIFY_SHARES_MAX; i++)
		rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	rnt_expect_none(&self->b, p.eb, 5);
	rnt_expect(&self->a, p.ea, RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
	rnt_expect(&self->b, p.eb, RNOTIFY_EVENT_WRITABLE, NULL);
	ASSERT_EQ(0, rnt_share_err(&self->b, &s));
	rnt_expect_none(&self->b, p.eb, 5);
}

/* Both sides share with each other, on one connection. */
TEST_F(share, both_ways)
{
	struct rnotify_event ev;
	struct rnotify_op op;
	__u32 to_a, to_b;

	to_a = rnt_grant(&self->p, self->dst.id, 0, 0, W, NULL);
	rnt_share(&self->a, self->p.ea, self->own.id, 0, 0, W, 5);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	to_b = ev.region.remote_id;
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, "ping", to_a, 0,
			   4);
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	ASSERT_EQ(0, memcmp(self->dst.p, "ping", 4));
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.eb, "pong", to_b, 0,
			   4);
	rnt_post1(&self->b, &op);
	rnt_expect(&self->a, self->p.ea, RNOTIFY_EVENT_NOTIFY, NULL);
	ASSERT_EQ(0, memcmp(self->own.p, "pong", 4));
}

/* Sizes with up to hundreds of MRs: all their keys arrive. */
TEST_F(share, large)
{
	static const size_t sizes[] = {
		2 * RNT_MIB - 1, 2 * RNT_MIB, 2 * RNT_MIB + 1, 64 * RNT_MIB,
		300 * RNT_MIB,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct rnotify_op op;
		struct rnt_region r;
		__u32 remote;

		rnt_region_alloc(&self->b, &r, sizes[i]);
		remote = rnt_grant(&self->p, r.id, 0, 0, W | R, NULL);
		op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, "last",
				   remote, sizes[i] - 4, 4);
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		ASSERT_EQ(0, memcmp(r.p + sizes[i] - 4, "last", 4));
		rnt_region_drop(&self->b, &r);
		rnt_expect(&self->a, self->p.ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
	}
}

/*
 * Several hundred keys, of a region that is the same few pages all over: what is
 * written at one place is seen at the same place of each.
 */
TEST_F(share, many_keys)
{
	const size_t part = 64 * RNT_MIB, parts = 18;
	int fd = memfd_create("rnotify", 0);
	char *p = mmap(NULL, parts * part, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct rnt_region r;
	struct rnotify_op op;
	__u32 remote;

	ASSERT_EQ(0, ftruncate(fd, part));
	ASSERT_NE(MAP_FAILED, p);
	for (size_t i = 0; i < parts; i++)
		ASSERT_EQ(p + i * part,
			  mmap(p + i * part, part, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED, fd, 0));
	rnt_region_user(&self->b, &r, p, parts * part, 0);
	remote = rnt_grant(&self->p, r.id, 0, 0, W, NULL);
	/* 2 MiB for each key: around the last of each part */
	for (size_t i = 1; i < parts; i++) {
		op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, &i, remote,
				   i * part - 4, sizeof(i));
		rnt_post1(&self->a, &op);
		rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
		ASSERT_EQ(0, memcmp(&i, p + i * part - 4, sizeof(i)));
	}
	rnt_region_drop(&self->b, &r);
	munmap(p, parts * part);
	close(fd);
}

/* The ids of an endpoint's shares end with it; the region and others stay. */
TEST_F(share, endpoint_destroyed)
{
	struct rnt_region r;
	struct rnt_pair q;
	__u32 id[2], other;

	rnt_region_alloc(&self->b, &r, RNT_PAGE);
	rnt_pair_more(&self->p, &q);
	rnt_grant(&q, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, &id[0]);
	rnt_grant(&q, r.id, 0, 0, RNOTIFY_RIGHT_READ, &id[1]);
	rnt_grant(&self->p, r.id, 0, 0, RNOTIFY_RIGHT_WRITE, &other);
	ASSERT_EQ(0, rnt_destroy_err(&self->b, id[1]));
	rnt_destroy(&self->b, q.eb);
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, id[0]));
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, id[1]));
	ASSERT_EQ(0, rnt_destroy_err(&self->b, other));
	rnt_region_drop(&self->b, &r);
}

TEST_HARNESS_MAIN
