// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that announces shares which can't be: ids, rights, sizes, addresses that
 * overflow, counts of keys; parts that don't fit together; shares taken back that
 * it never announced.
 *
 * rvm: limit=90
 */
#include <endian.h>

#include "kselftest_harness.h"
#include "lie.h"

#define NR_KEYS	3
#define SHIFT	21
#define LENGTH	(NR_KEYS * (2 * RNT_MIB))

/* Offsets in a REGION, from the document. */
enum {
	SHARE_ID = 8, RIGHTS = 12, BYTES = 16, TAG = 24, FIRST_OFFSET = 32,
	CHUNK_SHIFT = 36, RESERVED = 37, ALL_KEYS = 40, FIRST_KEY = 42,
	KEYS_HERE = 44, RESERVED2 = 46,
};

FIXTURE(region)
{
	struct lie l;
	char buf[1024];
	int len;
};

/* One or two fields that are changed. */
FIXTURE_VARIANT(region)
{
	struct {
		unsigned int at, size;
		__u64 value;
	} f[2];
	int more;		/* bytes sent beyond those of the message */
};

#define REGION(name, ...) FIXTURE_VARIANT_ADD(region, name) { __VA_ARGS__ }

REGION(share_id_0, {{ SHARE_ID, 4, 0 }});
REGION(no_rights, {{ RIGHTS, 4, 0 }});
REGION(unknown_right, {{ RIGHTS, 4, 8 }});
REGION(unknown_right_besides, {{ RIGHTS, 4, 0x80000001 }});
REGION(all_rights, {{ RIGHTS, 4, ~0u }});
REGION(length_0, {{ BYTES, 8, 0 }});
REGION(length_0_and_no_keys, {{ BYTES, 8, 0 }, { ALL_KEYS, 2, 0 }});
REGION(length_one_key_less, {{ BYTES, 8, LENGTH - 2 * RNT_MIB }});
REGION(length_one_byte_more, {{ BYTES, 8, LENGTH + 1 }});
REGION(length_all_ones, {{ BYTES, 8, ~0ull }});
REGION(length_wraps, {{ BYTES, 8, ~0ull }, { FIRST_OFFSET, 4, 1 }});
REGION(length_wraps_to_fit, {{ BYTES, 8, LENGTH - (1ull << 63) * 2 - 1 },
			     { FIRST_OFFSET, 4, 4096 }});
REGION(length_2_63, {{ BYTES, 8, 1ull << 63 }});
REGION(first_offset_chunk, {{ FIRST_OFFSET, 4, 1u << SHIFT }});
REGION(first_offset_all_ones, {{ FIRST_OFFSET, 4, ~0u }});
REGION(first_offset_needs_a_key, {{ FIRST_OFFSET, 4, 1 }});
REGION(chunk_shift_0, {{ CHUNK_SHIFT, 1, 0 }});
REGION(chunk_shift_11, {{ CHUNK_SHIFT, 1, 11 }});
REGION(chunk_shift_31, {{ CHUNK_SHIFT, 1, 31 }});
REGION(chunk_shift_64, {{ CHUNK_SHIFT, 1, 64 }});
REGION(chunk_shift_255, {{ CHUNK_SHIFT, 1, 255 }});
REGION(chunk_shift_does_not_fit, {{ CHUNK_SHIFT, 1, 20 }});
REGION(reserved, {{ RESERVED, 1, 1 }});
REGION(reserved_last, {{ RESERVED + 2, 1, 0x80 }});
REGION(reserved_2, {{ RESERVED2, 2, 1 }});
REGION(no_keys, {{ ALL_KEYS, 2, 0 }});
REGION(a_key_too_many, {{ ALL_KEYS, 2, NR_KEYS + 1 }});
REGION(keys_65535, {{ ALL_KEYS, 2, 65535 }});
REGION(first_key_1, {{ FIRST_KEY, 2, 1 }});
REGION(first_key_behind, {{ FIRST_KEY, 2, NR_KEYS }});
REGION(first_key_65535, {{ FIRST_KEY, 2, 65535 }});
REGION(keys_here_0, {{ KEYS_HERE, 2, 0 }});
REGION(keys_here_more_than_sent, {{ KEYS_HERE, 2, NR_KEYS + 1 }});
REGION(keys_here_53, {{ KEYS_HERE, 2, 53 }});
REGION(keys_here_65535, {{ KEYS_HERE, 2, 65535 }});
REGION(cut_by_a_byte, {{ TAG, 8, 0 }}, -1);
REGION(cut_by_a_key, {{ TAG, 8, 0 }}, -4);
REGION(a_byte_more, {{ TAG, 8, 0 }}, 1);
REGION(a_key_more, {{ TAG, 8, 0 }}, 4);

static void put(char *at, unsigned int size, __u64 value)
{
	value = htole64(value);
	memcpy(at, &value, size);
}

static const __le32 keys[NR_KEYS];

/* A share of three keys, of which @nr come, from @first on. */
static int region(char *buf, __u32 id, unsigned int first, unsigned int nr)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_REGION,
		.region = {
			.share_id = id,
			.rights = RNOTIFY_RIGHT_WRITE,
			.length = LENGTH,
			.chunk_shift = SHIFT,
			.nr_keys = NR_KEYS,
			.first_key = first,
			.keys_here = nr,
			.keys = keys,
		},
	};
	int len = rnotify_wire_put_msg(buf, RNOTIFY_WIRE_CTRL_MAX, &msg);

	rnt_check(len > 0);
	return len;
}

static void send_part(struct lie *l, __u32 id, unsigned int first,
		      unsigned int nr)
{
	char buf[RNOTIFY_WIRE_CTRL_MAX];

	raw_send_bytes(&l->r, buf, region(buf, id, first, nr), NULL);
}

static void send_gone(struct lie *l, __u32 id)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_REGION_GONE,
		.gone.share_id = id,
	};

	raw_send(&l->r, &msg);
}

/* And nobody above ever hears of what was refused. */
static void caught(struct lie *l)
{
	lie_caught(l);
	rnt_expect_none(&l->c, l->ep, 0);
}

FIXTURE_SETUP(region)
{
	lie_open(&self->l);
	lie_connect(&self->l);
	self->len = region(self->buf, 1, 0, NR_KEYS);
}

FIXTURE_TEARDOWN(region)
{
	lie_close(&self->l);
}

TEST_F(region, is_refused)
{
	struct lie *l = &self->l;

	for (unsigned int i = 0; i < 2; i++)
		put(self->buf + variant->f[i].at, variant->f[i].size,
		    variant->f[i].value);
	self->len += variant->more;
	put(self->buf + 4, 4, self->len);
	raw_send_bytes(&l->r, self->buf, self->len, NULL);
	caught(l);
}

/* ---- several messages, each of which could be honest ---- */

FIXTURE(parts)
{
	struct lie l;
};

FIXTURE_SETUP(parts)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(parts)
{
	lie_close(&self->l);
}

/* So it is meant: one key after the other, and other messages between. */
TEST_F(parts, that_fit)
{
	struct lie *l = &self->l;

	send_part(l, 1, 0, 1);
	raw_notify(&l->r, 5);
	send_part(l, 2, 0, 2);
	send_part(l, 1, 1, 2);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_NOTIFY, NULL);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	/* the second is taken back before all of it came */
	send_gone(l, 2);
	raw_expect(&l->r, RNOTIFY_WIRE_REGION_GONE_ACK, NULL);
	lie_harmless(l);
}

TEST_F(parts, the_second_first)
{
	send_part(&self->l, 1, 1, 1);
	caught(&self->l);
}

TEST_F(parts, a_gap)
{
	send_part(&self->l, 1, 0, 1);
	send_part(&self->l, 1, 2, 1);
	caught(&self->l);
}

TEST_F(parts, twice_the_same)
{
	send_part(&self->l, 1, 0, 1);
	send_part(&self->l, 1, 0, 1);
	caught(&self->l);
}

TEST_F(parts, the_whole_twice)
{
	send_part(&self->l, 1, 0, NR_KEYS);
	send_part(&self->l, 1, 0, NR_KEYS);
	rnt_expect(&self->l.c, self->l.ep, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	caught(&self->l);
}

TEST_F(parts, of_a_share_that_is_complete)
{
	send_part(&self->l, 1, 0, NR_KEYS);
	send_part(&self->l, 1, 2, 1);
	rnt_expect(&self->l.c, self->l.ep, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	caught(&self->l);
}

/* Each field of the second part that differs from the first. */
TEST_F(parts, that_differ)
{
	static const unsigned char at[] = {
		RIGHTS, BYTES + 1, TAG, TAG + 7, FIRST_OFFSET + 1, CHUNK_SHIFT,
	};
	struct lie *l = &self->l;
	char buf[RNOTIFY_WIRE_CTRL_MAX];

	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		int len = region(buf, 1, 1, 1);

		send_part(l, 1, 0, 1);
		buf[at[i]] ^= at[i] == BYTES + 1 || at[i] == FIRST_OFFSET + 1 ?
			      0x10 : 3;
		raw_send_bytes(&l->r, buf, len, NULL);
		caught(l);
		lie_reconnect(l);
	}
}

TEST_F(parts, gone_twice)
{
	send_part(&self->l, 1, 0, NR_KEYS);
	send_gone(&self->l, 1);
	send_gone(&self->l, 1);
	rnt_expect(&self->l.c, self->l.ep, RNOTIFY_EVENT_REMOTE_REGION, NULL);
	rnt_expect(&self->l.c, self->l.ep, RNOTIFY_EVENT_REMOTE_REGION_GONE,
		   NULL);
	raw_expect(&self->l.r, RNOTIFY_WIRE_REGION_GONE_ACK, NULL);
	caught(&self->l);
}

/* A continuation of what is gone is none. */
TEST_F(parts, continued_after_gone)
{
	send_part(&self->l, 1, 0, 1);
	send_gone(&self->l, 1);
	send_part(&self->l, 1, 1, 1);
	raw_expect(&self->l.r, RNOTIFY_WIRE_REGION_GONE_ACK, NULL);
	caught(&self->l);
}

/*
 * In good form, but the keys open nothing: who writes there is refused by the
 * liar's device, and is told so.
 */
TEST_F(parts, keys_that_open_nothing)
{
	struct lie *l = &self->l;
	struct rnotify_event ev;
	struct rnotify_op op;

	send_part(l, 1, 0, NR_KEYS);
	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, l->ep, "lost", ev.region.remote_id,
			   LENGTH - 4, 4);
	op.flags |= RNOTIFY_OP_F_SIGNALED;
	op.user_data = 7;
	rnt_post1(&l->c, &op);
	rnt_expect_tx(&l->c, l->ep, 7, -EACCES, &ev);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, ev.tx.ib_status);
	lie_broken(l);
	EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, l->down.ib_status);
	EXPECT_EQ(-EACCES, l->down.error);
	EXPECT_EQ(0, l->down.confirmed);
	lie_untouched(l);
}

TEST_HARNESS_MAIN
