// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * replicated_log - records: making them, and finding out that they are whole.
 */
#include <stddef.h>
#include <string.h>

#include "example.h"
#include "log.h"

uint32_t record_units(uint32_t length)
{
	uint32_t bytes = (uint32_t)sizeof(struct record) + length;

	return (bytes + RECORD_UNIT - 1) / RECORD_UNIT;
}

uint32_t record_length(uint64_t sequence)
{
	uint32_t dice = (uint32_t)(scramble(sequence) >> 32);

	if (dice % 61 == 0)
		return dice % (PAYLOAD_MAX + 1);
	return 900 + dice % 601;
}

static uint32_t record_crc(const struct record *header, const void *payload)
{
	struct record copy = *header;

	copy.crc = 0;
	return crc32c(crc32c(0, &copy, sizeof(copy)), payload, copy.length);
}

uint32_t record_make(void *at, uint64_t sequence)
{
	struct record header = {
		.magic = RECORD_MAGIC,
		.length = record_length(sequence),
		.sequence = sequence,
	};
	uint32_t size = record_units(header.length) * RECORD_UNIT;
	char *payload = (char *)at + sizeof(header);

	memset(at, 0, size);
	fill(payload, header.length, sequence);
	header.crc = record_crc(&header, payload);
	memcpy(at, &header, sizeof(header));
	return size;
}

const char *record_fault(const void *at, uint64_t sequence, uint32_t room)
{
	struct record header;

	if (room < sizeof(header))
		return "ends within its header";
	memcpy(&header, at, sizeof(header));
	if (header.magic != RECORD_MAGIC)
		return "has no header";
	if (header.sequence != sequence)
		return "is another one";
	if (header.length > PAYLOAD_MAX ||
	    record_units(header.length) * RECORD_UNIT > room)
		return "is cut off";
	if (record_crc(&header, (const char *)at + sizeof(header)) != header.crc)
		return "has a wrong checksum";
	return NULL;
}

int record_genuine(const void *at)
{
	struct record header;

	memcpy(&header, at, sizeof(header));
	return header.length == record_length(header.sequence) &&
	       filled((const char *)at + sizeof(header), header.length,
		      header.sequence);
}
