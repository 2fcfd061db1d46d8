/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - SHA-256 (FIPS 180-4).
 */
#ifndef _RNOTIFY_CMD_SHA256_H
#define _RNOTIFY_CMD_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE	32
#define SHA256_BLOCK	64
#define SHA256_HEX	(2 * SHA256_SIZE + 1)

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[SHA256_BLOCK];	/* bytes % SHA256_BLOCK are used */
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t len);
void sha256_final(struct sha256 *s, unsigned char digest[SHA256_SIZE]);
void sha256_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX]);

#endif /* _RNOTIFY_CMD_SHA256_H */
