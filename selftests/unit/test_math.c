// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* chunk.h and ring_math.h against naive models. */
#include "chunk.h"
#include "ring_math.h"
#include "unit.h"

/* One address at a time. */
static u32 naive_left(u64 addr, u32 len, u8 shift)
{
	u32 n = 0;

	while (n < len) {
		n++;
		if ((addr + n) >> shift != addr >> shift)
			break;
	}
	return n;
}

void test_chunk_left(void)
{
	static const u32 lens[] = { 0, 1, 2, 4095, 4096, 4097, 8192, 12289 };
	u64 addr;
	size_t i;

	/* Near borders, and here and there between. */
	for (addr = 0; addr < 3 * 4096; addr++) {
		u64 in = addr % 4096;

		if (in > 3 && in < 4093 && in % 511)
			continue;
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
			EXPECT_AT(rnotify_chunk_left(addr, lens[i], 12) ==
				  naive_left(addr, lens[i], 12), addr);
	}

	EXPECT(rnotify_chunk_left(0, 1u << 30, 30) == 1u << 30);
	EXPECT(rnotify_chunk_left(1, 1u << 30, 30) == (1u << 30) - 1);
	EXPECT(rnotify_chunk_left((1u << 30) - 1, U32_MAX, 30) == 1);
	EXPECT(rnotify_chunk_left(0, U32_MAX, 30) == 1u << 30);
	/* Addresses beyond 4 GiB. */
	EXPECT(rnotify_chunk_left(0x7fffffffffu, 100, 21) == 1);
	EXPECT(rnotify_chunk_left(0x8000000000u, 100, 21) == 100);
}

void test_chunk_count(void)
{
	u64 first, length, addr;

	for (first = 0; first < 4096; first += 273) {
		for (length = 1; length < 5 * 4096; length += 91) {
			u64 count = 0, seen = U64_MAX;

			for (addr = first; addr < first + length; addr++)
				if (seen != rnotify_chunk_index(addr, 12)) {
					seen = rnotify_chunk_index(addr, 12);
					count++;
				}
			EXPECT_AT(rnotify_chunk_count(first, length, 12) ==
				  count, first * 100000 + length);
		}
	}
	EXPECT(rnotify_chunk_index(0, 21) == 0);
	EXPECT(rnotify_chunk_index((1u << 21) - 1, 21) == 0);
	EXPECT(rnotify_chunk_index(1u << 21, 21) == 1);
	EXPECT(rnotify_chunk_index(U64_MAX, 12) == U64_MAX >> 12);
}

void test_chunk_wrap(void)
{
	EXPECT(rnotify_chunk_count(0, 0, 12) == 0);
	EXPECT(rnotify_chunk_count(4095, 0, 12) == 0);
	EXPECT(rnotify_chunk_count(U64_MAX, 0, 12) == 0);
	EXPECT(rnotify_chunk_count(0, U64_MAX, 12) == (u64)1 << 52);
	EXPECT(rnotify_chunk_count(1, U64_MAX, 12) == (u64)1 << 52);
	EXPECT(rnotify_chunk_count(2, U64_MAX, 12) == 0);
	EXPECT(rnotify_chunk_count(U64_MAX, 1, 12) == 1);
	EXPECT(rnotify_chunk_count(U64_MAX, 2, 12) == 0);
	EXPECT(rnotify_chunk_count(4095, U64_MAX - 4094, 30) == (u64)1 << 34);
	EXPECT(rnotify_chunk_count(4095, U64_MAX - 4093, 30) == 0);
}

/* Cut ranges into pieces as a sender does; they must tile the range. */
void test_chunk_walk(void)
{
	int round;

	for (round = 0; round < 100000; round++) {
		u8 shift = (u8)(12 + unit_below(19));
		u32 first = unit_below(1u << shift);
		u32 len = unit_below(16u << 20) + 1;
		u64 addr = first + (unit_random() >> 30), end;
		u64 pieces = 0, index = rnotify_chunk_index(addr, shift);

		if (len >> shift > 64)
			len = 64u << shift;
		end = addr + len;
		while (addr < end) {
			u32 n = rnotify_chunk_left(addr, (u32)(end - addr),
						   shift);

			if (!EXPECT_AT(n > 0, round))
				return;
			EXPECT_AT(rnotify_chunk_index(addr, shift) == index,
				  round);
			EXPECT_AT(rnotify_chunk_index(addr + n - 1, shift) ==
				  index, round);
			addr += n;
			index++;
			pieces++;
		}
		EXPECT_AT(addr == end, round);
		EXPECT_AT(pieces == rnotify_chunk_count(end - len, len, shift),
			  round);
	}
}

void test_range_ok(void)
{
	static const u64 v[] = {
		0, 1, 2, 4095, 4096, 4097, U32_MAX, (u64)U32_MAX + 1,
		U64_MAX / 2, U64_MAX / 2 + 1, U64_MAX - 1, U64_MAX,
	};
	const size_t n = sizeof(v) / sizeof(v[0]);
	size_t i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			for (k = 0; k < n; k++) {
				u64 end;
				bool wraps = __builtin_add_overflow(v[i], v[j],
								    &end);

				EXPECT_AT(rnotify_range_ok(v[i], v[j], v[k]) ==
					  (!wraps && end <= v[k]),
					  i * 10000 + j * 100 + k);
			}
	EXPECT(rnotify_range_ok(4096, 0, 4096));
	EXPECT(!rnotify_range_ok(4097, 0, 4096));
	EXPECT(!rnotify_range_ok(1, U64_MAX, 4096));
}

void test_ring_wrap(void)
{
	static const u32 bases[] = {
		0, 1, 100, 0x7ffffff0, 0x80000000, 0xfffffff0, U32_MAX,
	};
	u32 used, i;
	size_t b;

	/* Exactly the used + 1 values from reclaimed to prod are right. */
	for (b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		for (used = 0; used <= 32; used++) {
			u32 reclaimed = bases[b], prod = reclaimed + used;

			EXPECT_AT(rnotify_ring_used(prod, reclaimed) == used,
				  b);
			for (i = 0; i < 64; i++) {
				u32 cons = reclaimed - 16 + i;

				EXPECT_AT(rnotify_ring_cons_ok(reclaimed, prod,
							       cons) ==
					  (i >= 16 && i <= 16 + used), b);
			}
			EXPECT(!rnotify_ring_cons_ok(reclaimed, prod,
						     reclaimed + 0x80000000u));
		}
	}
	/* Slots go round without a jump where the index wraps. */
	for (i = 0; i < 64; i++)
		EXPECT_AT(rnotify_ring_slot(U32_MAX - 31 + i, 8) == i % 8, i);
	EXPECT(rnotify_ring_slot(U32_MAX, 1u << 20) == (1u << 20) - 1);
	EXPECT(rnotify_ring_slot(12345, 1) == 0);
}

/* A ring in 64-bit counters, which don't wrap, beside the one in u32. */
void test_ring_random(void)
{
	u64 prod = 0xffffff00u, cons = prod;
	u32 entries = 64, i;

	for (i = 0; i < 200000; i++) {
		u64 free = entries - (prod - cons), bad;

		if (unit_below(2))
			prod += unit_below((u32)free + 1);
		else
			cons += unit_below((u32)(prod - cons) + 1);
		EXPECT_AT(rnotify_ring_used((u32)prod, (u32)cons) ==
			  prod - cons, i);
		EXPECT_AT(rnotify_ring_slot((u32)prod, entries) ==
			  prod % entries, i);
		EXPECT_AT(rnotify_ring_cons_ok((u32)cons, (u32)prod,
					       (u32)prod), i);
		bad = prod + 1 + unit_below(U32_MAX - entries);
		EXPECT_AT(!rnotify_ring_cons_ok((u32)cons, (u32)prod,
						(u32)bad), i);
	}
	EXPECT(prod > (u64)U32_MAX + 1);
}
