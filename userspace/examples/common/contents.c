// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The larger examples - checksums and made-up contents.
 */
#include <string.h>

#include "example.h"

#define CRC32C_POLYNOMIAL 0x82f63b78u	/* Castagnoli, bits reversed */

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	static uint32_t table[256];
	const unsigned char *p = data;
	uint32_t i, bit;

	for (i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^
				   (table[i] & 1 ? CRC32C_POLYNOMIAL : 0);
	}
	crc = ~crc;
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

/* The finalizer of SplitMix64 */
uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

void fill(void *data, size_t len, uint64_t seed)
{
	unsigned char *p = data;
	uint64_t word;
	size_t n;

	for (; len; len -= n, p += n) {
		word = scramble(seed++);
		n = len < sizeof(word) ? len : sizeof(word);
		memcpy(p, &word, n);
	}
}

int filled(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t word;
	size_t n;

	for (; len; len -= n, p += n) {
		word = scramble(seed++);
		n = len < sizeof(word) ? len : sizeof(word);
		if (memcmp(p, &word, n))
			return 0;
	}
	return 1;
}
