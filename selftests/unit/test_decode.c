// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* What decoders refuse, one bad member at a time. */
#include "unit.h"
#include "wire_check.h"

#define ROOM 264

static u8 frame[ROOM] __attribute__((aligned(8)));

/* Vector number vec with @n bytes of value @value (little-endian) at @at. */
static size_t patched(size_t vec, size_t at, size_t n, u64 value)
{
	size_t i;

	memset(frame, 0, sizeof(frame));
	memcpy(frame, vectors[vec].bytes, vectors[vec].len);
	for (i = 0; i < n; i++)
		frame[at + i] = (u8)(value >> 8 * i);
	return vectors[vec].len;
}

static int get_hello(size_t at, size_t n, u64 value)
{
	struct rnotify_hello h;

	return rnotify_wire_get_hello(&h, frame, patched(0, at, n, value));
}

static int get_reject(size_t at, size_t n, u64 value)
{
	struct rnotify_reject_data r;

	return rnotify_wire_get_reject(&r, frame, patched(1, at, n, value));
}

static int get_msg(size_t vec, size_t at, size_t n, u64 value)
{
	struct rnotify_wire_msg m;

	return rnotify_wire_get_msg(&m, frame, patched(vec, at, n, value));
}

void test_get_hello_refuses(void)
{
	struct rnotify_hello h;

	EXPECT(rnotify_wire_get_hello(&h, NULL, 0) == -EPROTO);
	EXPECT(rnotify_wire_get_hello(&h, NULL, 56) == -EPROTO);
	EXPECT(rnotify_wire_get_hello(&h, "", 0) == -EPROTO);
	EXPECT(get_hello(0, 0, 0) == 0);
	EXPECT(get_hello(0, 4, 0) == -EPROTO);			/* magic */
	EXPECT(get_hello(0, 4, 0x524e5446) == -EPROTO);
	EXPECT(get_hello(12, 2, 0) == -EPROTO);			/* data */
	EXPECT(get_hello(12, 2, 1) == 0);
	EXPECT(get_hello(12, 2, 65535) == 0);
	EXPECT(get_hello(14, 2, 0) == 0);			/* msg_size */
	EXPECT(get_hello(14, 2, 1024) == 0);
	EXPECT(get_hello(14, 2, 1025) == -EPROTO);
	EXPECT(get_hello(14, 2, 65535) == -EPROTO);
	EXPECT(get_hello(16, 2, 0) == 0);			/* keepalive */
	EXPECT(get_hello(18, 1, 0) == -EPROTO);			/* ctrl */
	EXPECT(get_hello(19, 1, 1) == -EPROTO);			/* reserved */
	EXPECT(get_hello(7, 1, 0) == 0);			/* slots */
	EXPECT(get_hello(8, 4, U32_MAX) == 0);			/* features */
}

void test_get_hello_versions(void)
{
	struct rnotify_hello h;
	size_t len;
	u32 min, max;

	for (min = 0; min < 256; min++) {
		for (max = 0; max < 256; max++) {
			int want = 0, ret;

			if (!min || min > max)
				want = -EPROTO;
			else if (min > 1)
				want = -EPROTONOSUPPORT;
			len = patched(0, 4, 2, min | max << 8);
			ret = rnotify_wire_get_hello(&h, frame, len);
			EXPECT_AT(ret == want, min * 1000 + max);
			EXPECT_AT(h.version_min == min, min * 1000 + max);
			EXPECT_AT(h.version_max == max, min * 1000 + max);
		}
	}
	/* Of another version nothing else is looked at. */
	memset(frame, 0xff, sizeof(frame));
	memcpy(frame, "RNTF\x02\x03", 6);
	EXPECT(rnotify_wire_get_hello(&h, frame, 28) == -EPROTONOSUPPORT);
	EXPECT(h.version_min == 2 && h.version_max == 3);
	EXPECT(!h.private_len && !h.data_credits);
}

/* The CM pads with zeroes up to what it can carry, and tells that length. */
void test_get_hello_private(void)
{
	struct rnotify_hello h;
	u32 said, sent;
	size_t len;

	for (said = 0; said < 256; said++) {
		for (sent = 0; sent <= 28; sent++) {
			/* The user's bytes are not zero. */
			patched(0, 6, 1, said);
			memset(frame + 28, 0, 28);
			memset(frame + 28, 'x', sent);
			EXPECT_AT(rnotify_wire_get_hello(&h, frame, 28 + sent)
				  == (said == sent ? 0 : -EMSGSIZE),
				  said * 100 + sent);
			/* Padded, a longer claim means zeroes at the end. */
			EXPECT_AT(rnotify_wire_get_hello(&h, frame, 56) ==
				  (said >= sent && said <= 28 ? 0 : -EMSGSIZE),
				  said * 100 + sent);
		}
	}
	/* A REP has room for more, and a later version may use it. */
	len = patched(0, 0, 0, 0);
	for (len = 56; len <= 196; len++) {
		frame[56] = 0xff;
		EXPECT_AT(!rnotify_wire_get_hello(&h, frame, len), len);
		EXPECT_AT(h.private_len == 5, len);
		EXPECT_AT(!memcmp(h.private_data, "hello\0", 6), len);
	}
}

void test_get_reject_refuses(void)
{
	struct rnotify_reject_data r;

	EXPECT(rnotify_wire_get_reject(&r, NULL, 148) == -EPROTO);
	EXPECT(rnotify_wire_get_reject(&r, "", 0) == -EPROTO);
	EXPECT(get_reject(0, 0, 0) == 0);
	EXPECT(get_reject(0, 1, 0) == -EPROTO);			/* magic */
	EXPECT(get_reject(4, 2, 0x0302) == 0);			/* versions */
	EXPECT(get_reject(4, 2, 0x0203) == -EPROTO);
	EXPECT(get_reject(4, 2, 0x0100) == -EPROTO);
	EXPECT(get_reject(6, 1, 1) == -EMSGSIZE);		/* private */
	EXPECT(get_reject(6, 1, 29) == -EMSGSIZE);
	EXPECT(get_reject(6, 1, 255) == -EMSGSIZE);
	EXPECT(get_reject(7, 1, 1) == -EPROTO);			/* reserved */
	EXPECT(get_reject(8, 2, 0) == -EPROTO);			/* reason */
	EXPECT(get_reject(8, 2, 65535) == 0);
	EXPECT(get_reject(10, 2, 256) == -EPROTO);		/* reserved2 */
	EXPECT(get_reject(12, 4, 1) == -EPROTO);		/* error */
	EXPECT(get_reject(12, 4, 0) == 0);
	EXPECT(get_reject(12, 4, 0x80000000) == -EPROTO);
	EXPECT(get_reject(12, 4, (u32)-4095) == 0);
	EXPECT(get_reject(12, 4, (u32)-4096) == -EPROTO);
}

void test_get_reject_text(void)
{
	struct rnotify_reject_data r;
	u32 c;

	for (c = 0; c < 256; c++) {
		patched(1, 16, 1, c);
		EXPECT_AT(!rnotify_wire_get_reject(&r, frame, 148), c);
		if (!c)
			EXPECT(r.text[0] == 0);
		else if (c >= 32 && c <= 126)
			EXPECT_AT(r.text[0] == (char)c && r.text[1] == 'h', c);
		else
			EXPECT_AT(r.text[0] == '?' && r.text[1] == 'h', c);
	}
	/* Nothing terminates it on the wire. */
	patched(1, 0, 0, 0);
	memset(frame + 16, 'y', 48);
	EXPECT(!rnotify_wire_get_reject(&r, frame, 66));
	EXPECT(strlen(r.text) == 48);
}

void test_get_msg_refuses(void)
{
	struct rnotify_wire_msg m;
	u32 type, bit;
	size_t vec;

	EXPECT(rnotify_wire_get_msg(&m, NULL, 0) == -EPROTO);
	EXPECT(rnotify_wire_get_msg(&m, NULL, 8) == -EPROTO);
	EXPECT(rnotify_wire_get_msg(&m, "", 0) == -EPROTO);
	for (vec = 2; vec < nr_vectors; vec++) {
		EXPECT_AT(get_msg(vec, 0, 0, 0) == 0, vec);
		for (type = 0; type < 256; type++)
			if (!type || type > 7)
				EXPECT_AT(get_msg(vec, 0, 1, type) == -EPROTO,
					  vec * 1000 + type);
		/* flags, reserved */
		for (bit = 0; bit < 24; bit++)
			EXPECT_AT(get_msg(vec, 1, 3, 1u << bit) == -EPROTO,
				  vec * 1000 + bit);
		EXPECT_AT(get_msg(vec, 4, 4, 0) == -EPROTO, vec);
		EXPECT_AT(get_msg(vec, 4, 4, vectors[vec].len - 1) == -EPROTO,
			  vec);
		EXPECT_AT(get_msg(vec, 4, 4, vectors[vec].len + 1) == -EPROTO,
			  vec);
		EXPECT_AT(get_msg(vec, 4, 4, U32_MAX) == -EPROTO, vec);
	}
	for (vec = 4; vec <= 5; vec++) {
		EXPECT(get_msg(vec, 8, 4, 0) == -EPROTO);	/* share_id */
		EXPECT(get_msg(vec, 8, 4, U32_MAX) == 0);
		EXPECT(get_msg(vec, 12, 4, 1) == -EPROTO);	/* reserved */
		EXPECT(get_msg(vec, 12, 4, 1u << 31) == -EPROTO);
	}
	EXPECT(get_msg(6, 8, 2, 0) == -EPROTO);			/* reason */
	EXPECT(get_msg(6, 8, 2, 65535) == 0);
	EXPECT(get_msg(6, 10, 2, 1) == -EPROTO);		/* reserved */
	EXPECT(get_msg(6, 12, 4, 0) == 0);			/* error */
	EXPECT(get_msg(6, 12, 4, 1) == -EPROTO);
	EXPECT(get_msg(6, 12, 4, (u32)-4096) == -EPROTO);
}

/* Any value and any length that an operation can have, and nothing else. */
void test_get_notify_refuses(void)
{
	struct rnotify_wire_msg m;
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		EXPECT_AT(get_msg(8, 8, 4, 1u << bit) == 0, bit);
		EXPECT_AT(get_msg(8, 12, 4, 1u << bit) ==
			  (bit <= 30 ? 0 : -EPROTO), bit);
	}
	EXPECT(get_msg(8, 8, 8, 0) == 0);
	EXPECT(get_msg(8, 12, 4, (1u << 30) + 1) == -EPROTO);
	EXPECT(get_msg(8, 12, 4, U32_MAX) == -EPROTO);
	/* The bytes of others of that length, by another name. */
	EXPECT(get_msg(4, 0, 1, RNOTIFY_WIRE_NOTIFY) == 0);
	EXPECT(get_msg(8, 0, 1, RNOTIFY_WIRE_REGION_GONE) == -EPROTO);
	EXPECT(get_msg(8, 0, 1, RNOTIFY_WIRE_GOODBYE) == -EPROTO);
	/* Told and sent alike: one to 31 whole records, and nothing else. */
	for (bit = 0; bit <= ROOM; bit++) {
		patched(8, 4, 4, bit);
		EXPECT_AT(rnotify_wire_get_msg(&m, frame, bit) ==
			  (bit >= 16 && bit <= 256 && bit % 8 == 0 ? 0 :
			   -EPROTO), bit);
		EXPECT_AT(bit < 16 || m.notify.nr == (bit - 8) / 8, bit);
	}
	/* Each record is looked at. */
	for (bit = 0; bit < 3; bit++)
		EXPECT_AT(get_msg(9, 12 + 8 * bit, 4, (1u << 30) + 1) ==
			  -EPROTO, bit);
}

void test_get_region_refuses(void)
{
	u32 bit;

	EXPECT(get_msg(3, 8, 4, 0) == -EPROTO);			/* share_id */
	EXPECT(get_msg(3, 12, 4, 0) == -EPROTO);		/* rights */
	for (bit = 3; bit < 32; bit++)
		EXPECT_AT(get_msg(3, 12, 4, 1u << bit) == -EPROTO, bit);
	EXPECT(get_msg(3, 16, 8, 0) == -EPROTO);		/* length */
	EXPECT(get_msg(3, 16, 8, 0x400000 - 0x800) == -EPROTO);	/* 2 chunks */
	EXPECT(get_msg(3, 16, 8, 0x400000 - 0x7ff) == 0);
	EXPECT(get_msg(3, 16, 8, 0x600000 - 0x800) == 0);
	EXPECT(get_msg(3, 16, 8, 0x600000 - 0x7ff) == -EPROTO);	/* 4 chunks */
	EXPECT(get_msg(3, 16, 8, U64_MAX) == -EPROTO);
	EXPECT(get_msg(3, 16, 8, U64_MAX - 0x7ff) == -EPROTO);
	/* 65536 + 3 chunks: the low 16 bits of the count would be right */
	EXPECT(get_msg(3, 16, 8, (65536ull << 21) + 0x401000) == -EPROTO);
	EXPECT(get_msg(3, 32, 4, 0x1ff000) == 0);		/* offset */
	EXPECT(get_msg(3, 32, 4, 0x200000) == -EPROTO);
	EXPECT(get_msg(3, 32, 4, U32_MAX) == -EPROTO);
	for (bit = 0; bit < 256; bit++)				/* shift */
		EXPECT_AT(get_msg(3, 36, 1, bit) == (bit == 21 ? 0 : -EPROTO),
			  bit);
	for (bit = 0; bit < 24; bit++)				/* reserved */
		EXPECT_AT(get_msg(3, 37, 3, 1u << bit) == -EPROTO, bit);
	EXPECT(get_msg(3, 40, 2, 0) == -EPROTO);		/* nr_keys */
	EXPECT(get_msg(3, 40, 2, 2) == -EPROTO);
	EXPECT(get_msg(3, 40, 2, 4) == -EPROTO);
	EXPECT(get_msg(3, 42, 2, 1) == -EPROTO);		/* first_key */
	EXPECT(get_msg(3, 42, 2, 65535) == -EPROTO);
	EXPECT(get_msg(3, 44, 2, 0) == -EPROTO);		/* keys_here */
	EXPECT(get_msg(3, 44, 2, 2) == -EPROTO);
	EXPECT(get_msg(3, 44, 2, 4) == -EPROTO);
	EXPECT(get_msg(3, 44, 2, 65535) == -EPROTO);
	EXPECT(get_msg(3, 46, 2, 1) == -EPROTO);		/* reserved */
	EXPECT(get_msg(3, 48, 8, 0) == 0);			/* keys: any */
}

/* A share of the most keys there can be, message by message. */
void test_region_follows(void)
{
	const __le32 keys[52] = { 0 };
	struct rnotify_wire_region first = {
		.share_id = 9, .rights = 7, .chunk_shift = 12, .tag = 1,
		.first_offset = 1, .length = 65535ull * 4096 - 1,
		.nr_keys = 65535, .keys = keys,
	};
	struct rnotify_wire_msg m = { .type = RNOTIFY_WIRE_REGION }, back;
	struct rnotify_wire_region *r = &back.region, other;
	u32 have = 0, msgs = 0;
	u8 buf[256] __attribute__((aligned(4)));

	EXPECT(rnotify_wire_region_keys_max() == 52);
	while (have < 65535) {
		int n;

		m.region = first;
		m.region.first_key = (u16)have;
		m.region.keys_here = (u16)min_t(u32, 52, 65535 - have);
		n = rnotify_wire_put_msg(buf, sizeof(buf), &m);
		if (!EXPECT_AT(n > 0, have) ||
		    !EXPECT_AT(!rnotify_wire_get_msg(&back, buf, (size_t)n),
			       have))
			return;
		EXPECT_AT(rnotify_wire_region_follows(&first, have, r), have);
		EXPECT_AT(!rnotify_wire_region_follows(&first, have + 1, r),
			  have);
		have += r->keys_here;
		msgs++;
	}
	EXPECT(msgs == rnotify_wire_region_msgs(65535));
	EXPECT(rnotify_wire_region_msgs(1) == 1);
	EXPECT(rnotify_wire_region_msgs(52) == 1);
	EXPECT(rnotify_wire_region_msgs(53) == 2);

#define DIFFERS(member) do {						\
	other = first;							\
	other.member++;							\
	EXPECT(!rnotify_wire_region_follows(&first, 0, &other));	\
} while (0)
	EXPECT(rnotify_wire_region_follows(&first, 0, &first));
	DIFFERS(share_id);
	DIFFERS(rights);
	DIFFERS(length);
	DIFFERS(tag);
	DIFFERS(first_offset);
	DIFFERS(chunk_shift);
	DIFFERS(nr_keys);
	DIFFERS(first_key);
#undef DIFFERS
}
