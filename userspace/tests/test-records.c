// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The command's wire records and numbers: round trips, and what is refused.
 */
#include "common.h"
#include "tap.h"
#include "transfer.h"

static void hellos(void)
{
	const struct hello hello = {
		.kind = HELLO_PING,
		.status = STATUS_BUSY,
		.block = 0x89abcdef,
		.slots = 1024,
	};
	unsigned char buf[HELLO_SIZE];
	struct hello got;
	size_t i;

	hello_encode(&hello, buf);
	CHECK(hello_decode(&got, buf, sizeof(buf)));
	CHECK(!memcmp(&got, &hello, sizeof(got)));
	/* Little-endian, whatever this machine is. */
	CHECK(!memcmp(buf, "rntc\1\0\2\2\xef\xcd\xab\x89\0\4\0\0", sizeof(buf)));
	for (i = 0; i < sizeof(buf); i++)
		CHECK(!hello_decode(&got, buf, i));
	/* Longer is fine: the kernel may hand on padding. */
	for (i = 0; i < 6; i++) {
		buf[i] ^= 1;
		CHECK(!hello_decode(&got, buf, sizeof(buf)));
		CHECK(got.status == STATUS_FOREIGN);
		buf[i] ^= 1;
	}
}

static void trailers(void)
{
	struct trailer trailer = {
		.bytes = 0x123456789abcull,
		.blocks = 0x89abcdefull,
	};
	unsigned char buf[TRAILER_SIZE];
	struct trailer got;

	memset(trailer.digest, 0x5a, sizeof(trailer.digest));
	trailer_encode(&trailer, buf);
	CHECK(trailer_decode(&got, buf));
	CHECK(!memcmp(&got, &trailer, sizeof(got)));
	buf[0]++;
	CHECK(!trailer_decode(&got, buf));
}

static void statuses(void)
{
	unsigned int i;

	for (i = 0; i <= STATUS_NO_MEMORY; i++)
		CHECK(status_str(i) && *status_str(i));
	CHECK(status_str(255));
}

static void sizes(void)
{
	uint64_t n;

	CHECK(parse_size("0", 0, 10, &n) && n == 0);
	CHECK(parse_size("4096", 1, UINT64_MAX, &n) && n == 4096);
	CHECK(parse_size("256K", 1, 1 << 20, &n) && n == 256 << 10);
	CHECK(parse_size("1m", 1, 1 << 20, &n) && n == 1 << 20);
	CHECK(parse_size("2G", 1, UINT64_MAX, &n) && n == 2ull << 30);
	CHECK(!parse_size("2M", 1, 1 << 20, &n));
	CHECK(!parse_size("0", 1, 10, &n));
	CHECK(!parse_size("", 0, 10, &n) && !parse_size("K", 0, 10000, &n));
	CHECK(!parse_size("-1", 0, UINT64_MAX, &n));
	CHECK(!parse_size("1KK", 0, UINT64_MAX, &n));
	CHECK(!parse_size("1x", 0, UINT64_MAX, &n));
	CHECK(!parse_size("17179869184G", 0, UINT64_MAX, &n));
	CHECK(parse_number("17", 17, &n) && n == 17);
	CHECK(!parse_number("18", 17, &n) && !parse_number("1 ", 17, &n));
	CHECK(!parse_number("+1", 17, &n) && !parse_number("", 17, &n));
}

int main(void)
{
	return tap_run("hello", hellos) + tap_run("trailer", trailers) +
		tap_run("statuses", statuses) + tap_run("numbers", sizes);
}
