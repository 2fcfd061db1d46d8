// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Damaged and random input: never a crash, and nothing invalid accepted. */
#include <stdlib.h>

#include "unit.h"
#include "wire_check.h"

#define ROUNDS 1000000
#define ROOM 320

/*
 * Input lies at the end of a heap block, where the address sanitiser notices
 * any access behind it. Returns whether the decoder accepted it.
 */
static bool tried(enum vector_kind kind, const u8 *bytes, size_t len,
		  long long at)
{
	static u8 *block;
	const char *wrong;
	bool accepted;

	if (!block)
		block = malloc(ROOM);
	if (len)
		memcpy(block + ROOM - len, bytes, len);
	wrong = wire_check(kind, block + ROOM - len, len, &accepted);
	if (wrong)
		unit_note("%s", wrong);
	EXPECT_AT(!wrong, at);
	return accepted;
}

/* All true beginnings are refused: each frame knows its length. */
void test_truncation(void)
{
	size_t i, len;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];

		for (len = 0; len < v->len; len++)
			EXPECT_AT(!tried(v->kind, v->bytes, len,
					 (long long)len),
				  i * 1000 + len);
		EXPECT_AT(tried(v->kind, v->bytes, v->len, 0), i);
	}
}

/* More bytes than were sent: only the CM may do that, with zeroes. */
void test_extension(void)
{
	u8 bytes[ROOM];
	size_t i, len;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];
		bool cm = v->kind != VECTOR_MSG;

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, v->bytes, v->len);
		for (len = v->len + 1; len <= 196; len++)
			EXPECT_AT(tried(v->kind, bytes, len, (long long)len) ==
				  cm, i * 1000 + len);
		bytes[v->len] = 1;
		EXPECT_AT(!tried(v->kind, bytes, v->len + 1, 0), i);
	}
}

/* Each byte of each vector with each of the 255 wrong values. */
void test_corruption(void)
{
	u32 total = 0, taken = 0;
	u8 bytes[ROOM];
	size_t i, at;
	u32 value;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];

		for (at = 0; at < v->len; at++) {
			for (value = 0; value < 256; value++) {
				bool took;

				if (value == v->bytes[at])
					continue;
				memcpy(bytes, v->bytes, v->len);
				bytes[at] = (u8)value;
				took = tried(v->kind, bytes, v->len,
					     (long long)(i * 1000 + at));
				total++;
				taken += took;
				/* Of a header only the type may change. */
				if (v->kind == VECTOR_MSG && at && at < 8)
					EXPECT_AT(!took, i * 1000 + at);
				if (v->kind != VECTOR_MSG && at < 4)
					EXPECT_AT(!took, i * 1000 + at);
			}
		}
	}
	unit_note("%u damaged frames, %u of them valid", total, taken);
}

static size_t damage(u8 *bytes, size_t len)
{
	u32 n = 1 + unit_below(4);

	while (n--) {
		size_t at = unit_below((u32)len);

		switch (unit_below(5)) {
		case 0:
			bytes[at] ^= (u8)(1u << unit_below(8));
			break;
		case 1:
			bytes[at] = (u8)unit_random();
			break;
		case 2:
			bytes[at] = unit_below(2) ? 0 : 0xff;
			break;
		case 3:
			len = 1 + unit_below((u32)len);
			break;
		default:
			len += unit_below(32);
			len = len > ROOM ? ROOM : len;
			break;
		}
	}
	return len;
}

static void put32(u8 *to, u32 value)
{
	to[0] = (u8)value;
	to[1] = (u8)(value >> 8);
	to[2] = (u8)(value >> 16);
	to[3] = (u8)(value >> 24);
}

void test_fuzz_random(void)
{
	u32 round, taken[3] = { 0 }, types[RNOTIFY_WIRE_NOTIFY + 1] = { 0 };
	u8 bytes[ROOM];
	size_t i, len;

	for (round = 0; round < ROUNDS; round++) {
		const struct vector *v = &vectors[unit_below((u32)nr_vectors)];
		enum vector_kind kind = v->kind;

		for (i = 0; i < ROOM; i += 8) {
			u64 r = unit_random();

			memcpy(bytes + i, &r, 8);
		}
		switch (unit_below(4)) {
		case 0:		/* noise */
			len = unit_below(ROOM + 1);
			break;
		case 1:		/* noise behind a good beginning */
			len = 8 + unit_below(ROOM - 7);
			memcpy(bytes, v->bytes, 8);
			if (kind == VECTOR_MSG)
				put32(bytes + 4, (u32)len);
			break;
		default:	/* a damaged vector, often of the right length */
			memcpy(bytes, v->bytes, v->len);
			len = damage(bytes, v->len);
			if (kind == VECTOR_MSG && len >= 8 && unit_below(4))
				put32(bytes + 4, (u32)len);
			break;
		}
		if (!tried(kind, bytes, len, round))
			continue;
		taken[kind]++;
		if (kind == VECTOR_MSG &&
		    EXPECT_AT(bytes[0] <= RNOTIFY_WIRE_NOTIFY, round))
			types[bytes[0]]++;
	}
	unit_note("%d inputs; valid: %u hellos, %u rejects, %u messages",
		  ROUNDS, taken[0], taken[1], taken[2]);
	/* It got behind the checks of each type. */
	EXPECT(!types[0]);
	for (i = 1; i <= RNOTIFY_WIRE_NOTIFY; i++)
		EXPECT_AT(types[i] > 1000, i);
}
