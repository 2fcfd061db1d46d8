// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - the records of transfer.h, to bytes and back.
 */
#include <endian.h>
#include <string.h>

#include "transfer.h"

#define HELLO_MAGIC	0x63746e72u	/* "rntc" */
#define TRAILER_MAGIC	0x65746e72u	/* "rnte" */
#define VERSION		1

/*
 * hello:   0 magic  4 version (16 bit)  6 kind  7 status  8 block  12 slots
 * trailer: 0 magic  4 zero  8 bytes (64 bit)  16 blocks (64 bit)  24 digest
 */

static void put32(unsigned char *p, uint32_t x)
{
	x = htole32(x);
	memcpy(p, &x, sizeof(x));
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return le32toh(x);
}

static void put64(unsigned char *p, uint64_t x)
{
	x = htole64(x);
	memcpy(p, &x, sizeof(x));
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return le64toh(x);
}

void hello_encode(const struct hello *hello, unsigned char buf[HELLO_SIZE])
{
	put32(buf, HELLO_MAGIC);
	put32(buf + 4, VERSION | (uint32_t)hello->kind << 16 |
	      (uint32_t)hello->status << 24);
	put32(buf + 8, hello->block);
	put32(buf + 12, hello->slots);
}

bool hello_decode(struct hello *hello, const unsigned char *buf, size_t len)
{
	uint32_t word;

	*hello = (struct hello){ .status = STATUS_FOREIGN };
	if (len < HELLO_SIZE || get32(buf) != HELLO_MAGIC)
		return false;
	word = get32(buf + 4);
	if ((word & 0xffff) != VERSION)
		return false;
	hello->kind = (uint8_t)(word >> 16);
	hello->status = (uint8_t)(word >> 24);
	hello->block = get32(buf + 8);
	hello->slots = get32(buf + 12);
	return true;
}

void trailer_encode(const struct trailer *t, unsigned char buf[TRAILER_SIZE])
{
	memset(buf, 0, TRAILER_SIZE);
	put32(buf, TRAILER_MAGIC);
	put64(buf + 8, t->bytes);
	put64(buf + 16, t->blocks);
	memcpy(buf + 24, t->digest, SHA256_SIZE);
}

bool trailer_decode(struct trailer *t, const unsigned char buf[TRAILER_SIZE])
{
	if (get32(buf) != TRAILER_MAGIC)
		return false;
	t->bytes = get64(buf + 8);
	t->blocks = get64(buf + 16);
	memcpy(t->digest, buf + 24, SHA256_SIZE);
	return true;
}

const char *status_str(unsigned int status)
{
	static const char *const words[] = {
		[STATUS_OK] = "has no complaint",
		[STATUS_FOREIGN] =
			"does not know this kind of connection; is it the right command, of the same version?",
		[STATUS_BUSY] = "is busy with another peer",
		[STATUS_TOO_LARGE] =
			"has no room for blocks of that size; use a smaller one here or a larger window there",
		[STATUS_DIGEST] =
			"got other bytes than were sent: the SHA-256 does not match",
		[STATUS_LENGTH] = "got another length than was sent",
		[STATUS_WRITE] =
			"could not write its output; its own message tells why",
		[STATUS_PROTOCOL] = "was told something impossible",
		[STATUS_NO_MEMORY] = "could not get or share its memory",
		[STATUS_STOPPED] = "was stopped before it had everything",
	};

	if (status >= sizeof(words) / sizeof(words[0]))
		return "gives a reason that this version does not know";
	return words[status];
}
