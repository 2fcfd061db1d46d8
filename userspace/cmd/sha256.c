// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - SHA-256, written after FIPS 180-4; the names of the
 * functions and the numbers of the sections are its own.
 */
#include <stdio.h>
#include <string.h>

#include "sha256.h"

/* 4.2.2: cube roots of the first 64 primes, the first 32 bits of the fraction */
static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* 4.1.2 */
static uint32_t Ch(uint32_t x, uint32_t y, uint32_t z)
{
	return (x & y) ^ (~x & z);
}

static uint32_t Maj(uint32_t x, uint32_t y, uint32_t z)
{
	return (x & y) ^ (x & z) ^ (y & z);
}

static uint32_t Sigma0(uint32_t x)
{
	return rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22);
}

static uint32_t Sigma1(uint32_t x)
{
	return rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25);
}

static uint32_t sigma0(uint32_t x)
{
	return rotr(x, 7) ^ rotr(x, 18) ^ x >> 3;
}

static uint32_t sigma1(uint32_t x)
{
	return rotr(x, 17) ^ rotr(x, 19) ^ x >> 10;
}

static uint32_t load_be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(unsigned char *p, uint32_t x)
{
	p[0] = (unsigned char)(x >> 24);
	p[1] = (unsigned char)(x >> 16);
	p[2] = (unsigned char)(x >> 8);
	p[3] = (unsigned char)x;
}

/*
 * 6.2.2, step 1. W[t] is needed until t + 16 only, so that 16 words do, used
 * round and round.
 */
static inline uint32_t schedule(uint32_t W[16], unsigned int t)
{
	return W[t % 16] += sigma1(W[(t - 2) % 16]) + W[(t - 7) % 16] +
			    sigma0(W[(t - 15) % 16]);
}

/*
 * 6.2.2, step 3, without the shifting from variable to variable: the caller
 * names them one place further each time instead.
 */
#define ROUND(a, b, c, d, e, f, g, h, t, w) do { \
	uint32_t T1 = (h) + Sigma1(e) + Ch(e, f, g) + K[t] + (w); \
	(d) += T1; \
	(h) = T1 + Sigma0(a) + Maj(a, b, c); \
} while (0)

/* After eight of them the names are back where they began. */
#define EIGHT_ROUNDS(t, w) do { \
	ROUND(a, b, c, d, e, f, g, h, (t), w((t))); \
	ROUND(h, a, b, c, d, e, f, g, (t) + 1, w((t) + 1)); \
	ROUND(g, h, a, b, c, d, e, f, (t) + 2, w((t) + 2)); \
	ROUND(f, g, h, a, b, c, d, e, (t) + 3, w((t) + 3)); \
	ROUND(e, f, g, h, a, b, c, d, (t) + 4, w((t) + 4)); \
	ROUND(d, e, f, g, h, a, b, c, (t) + 5, w((t) + 5)); \
	ROUND(c, d, e, f, g, h, a, b, (t) + 6, w((t) + 6)); \
	ROUND(b, c, d, e, f, g, h, a, (t) + 7, w((t) + 7)); \
} while (0)

#define W_LOAD(t)	(W[t] = load_be32(block + 4 * (t)))
#define W_NEXT(t)	schedule(W, t)

/* 6.2.2, steps 1 to 4 */
static void compress(uint32_t H[8], const unsigned char *block)
{
	uint32_t a = H[0], b = H[1], c = H[2], d = H[3];
	uint32_t e = H[4], f = H[5], g = H[6], h = H[7];
	uint32_t W[16];
	unsigned int t;

	EIGHT_ROUNDS(0, W_LOAD);
	EIGHT_ROUNDS(8, W_LOAD);
	for (t = 16; t < 64; t += 16) {
		EIGHT_ROUNDS(t, W_NEXT);
		EIGHT_ROUNDS(t + 8, W_NEXT);
	}
	H[0] += a;
	H[1] += b;
	H[2] += c;
	H[3] += d;
	H[4] += e;
	H[5] += f;
	H[6] += g;
	H[7] += h;
}

/* 5.3.3: square roots of the first 8 primes */
void sha256_init(struct sha256 *s)
{
	static const uint32_t H0[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->state, H0, sizeof(H0));
	s->bytes = 0;
}

void sha256_update(struct sha256 *s, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t used = s->bytes % SHA256_BLOCK, n;

	s->bytes += len;
	if (used) {
		n = SHA256_BLOCK - used < len ? SHA256_BLOCK - used : len;
		memcpy(s->block + used, p, n);
		p += n;
		len -= n;
		if (used + n < SHA256_BLOCK)
			return;
		compress(s->state, s->block);
	}
	for (; len >= SHA256_BLOCK; p += SHA256_BLOCK, len -= SHA256_BLOCK)
		compress(s->state, p);
	if (len)
		memcpy(s->block, p, len);
}

/* 5.1.1: a 1 bit, zeroes, and the length in bits as 64 bits */
void sha256_final(struct sha256 *s, unsigned char digest[SHA256_SIZE])
{
	static const unsigned char padding[SHA256_BLOCK] = { 0x80 };
	uint64_t bits = s->bytes * 8;
	size_t used = s->bytes % SHA256_BLOCK;
	unsigned char length[8];
	int i;

	sha256_update(s, padding, (used < 56 ? 56 : 120) - used);
	store_be32(length, (uint32_t)(bits >> 32));
	store_be32(length + 4, (uint32_t)bits);
	sha256_update(s, length, sizeof(length));
	for (i = 0; i < 8; i++)
		store_be32(digest + 4 * i, s->state[i]);
}

void sha256_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX])
{
	int i;

	for (i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
