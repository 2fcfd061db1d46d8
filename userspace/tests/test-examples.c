// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What the larger examples verify with: that a record or a value with any byte
 * changed, or any part missing, is told from a whole one.
 */
#include <stdlib.h>

#include "../examples/common/example.h"
#include "../examples/kv/kv.h"
#include "../examples/log/log.h"
#include "tap.h"

static _Alignas(uint64_t) unsigned char buf[8192];

/* RFC 3720, B.4, and the check value of the polynomial */
static void checksum(void)
{
	unsigned char zeroes[32] = { 0 };
	unsigned int cut;

	CHECK(crc32c(0, "123456789", 9) == 0xe3069283);
	CHECK(crc32c(0, zeroes, sizeof(zeroes)) == 0x8a9136aa);
	for (cut = 0; cut <= 9; cut++)
		CHECK(crc32c(crc32c(0, "123456789", cut), "123456789" + cut,
			     9 - cut) == 0xe3069283);
}

static void contents(void)
{
	size_t len;

	for (len = 0; len < 40; len++) {
		fill(buf, len, 77);
		CHECK(filled(buf, len, 77));
		CHECK(!len || !filled(buf, len, 78));
		if (!len)
			continue;
		buf[len - 1] ^= 1;
		CHECK(!filled(buf, len, 77));
	}
}

static void records(void)
{
	uint32_t size, header = sizeof(struct record), i, length;

	size = record_make(buf, 5);
	length = record_length(5);
	CHECK(size == record_units(length) * RECORD_UNIT);
	CHECK(!record_fault(buf, 5, size) && record_genuine(buf));
	CHECK(record_fault(buf, 6, size) && record_fault(buf, 4, size));
	for (i = 0; i < size; i++)
		CHECK(record_fault(buf, 5, i));
	for (i = 0; i < header + length; i++) {
		buf[i] ^= 0x10;
		CHECK(record_fault(buf, 5, size));
		buf[i] ^= 0x10;
	}
	CHECK(!record_fault(buf, 5, size));
	/* Half of it is of what was there before */
	record_make(buf, 6);
	memset(buf + size / 2, 0, size / 2);
	CHECK(record_fault(buf, 6, sizeof(buf)));
}

/* Sizes vary about 1200 bytes, and all are such that an imm can hold them. */
static void record_sizes(void)
{
	uint64_t sum = 0, i;

	for (i = 1; i <= 10000; i++) {
		CHECK(record_length(i) <= PAYLOAD_MAX);
		CHECK(record_units(record_length(i)) <=
		      RNOTIFY_IMM_MAX(log_imm, units));
		sum += record_length(i);
	}
	CHECK(sum > 10000 * 1100 && sum < 10000 * 1300);
}

static void values(void)
{
	const struct kv_header *header = (const void *)buf;
	char key[KEY_SIZE];
	uint64_t version;
	uint32_t i;

	kv_key(key, 4000000000u, 255);
	memset(buf, 0, sizeof(buf));
	CHECK(kv_fault(buf));
	for (version = 1; version < 20; version++) {
		kv_make(buf, key, version);
		CHECK(!kv_fault(buf) && header->version == version);
		CHECK(header->length && header->length <= VALUE_MAX);
		CHECK(header->length <= RNOTIFY_IMM_MAX(kv_imm, length));
		for (i = 0; i < sizeof(*header) + header->length; i++) {
			buf[i] ^= 4;
			CHECK(kv_fault(buf));
			buf[i] ^= 4;
		}
	}
	CHECK(kv_hash("1/1") != kv_hash("1/2"));
}

int main(void)
{
	return tap_run("CRC-32C", checksum) + tap_run("contents", contents) +
		tap_run("records of the log", records) +
		tap_run("sizes of records", record_sizes) +
		tap_run("values of the key-value slots", values);
}
