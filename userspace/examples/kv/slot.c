// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value - what is in a slot.
 */
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "kv.h"

/* FNV-1a, and mixed once more so that all its bits are worth the same */
uint64_t kv_hash(const char *key)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (*key)
		hash = (hash ^ (unsigned char)*key++) * 0x100000001b3u;
	return scramble(hash);
}

void kv_key(char key[KEY_SIZE], uint32_t pool, uint32_t number)
{
	memset(key, 0, KEY_SIZE);
	snprintf(key, KEY_SIZE, "%u/%u", pool, number);
}

static uint64_t seed(const struct kv_header *header)
{
	return kv_hash(header->key) + scramble(header->version);
}

static uint32_t made_up_length(const struct kv_header *header)
{
	return 1 + (uint32_t)(seed(header) % VALUE_MAX);
}

static uint32_t slot_crc(const struct kv_header *header, const void *value)
{
	const char *rest = (const char *)header + sizeof(header->crc);
	uint32_t crc = crc32c(0, rest, sizeof(*header) - sizeof(header->crc));

	return crc32c(crc, value, header->length);
}

void kv_make(void *slot, const char *key, uint64_t version)
{
	struct kv_header header = { .version = version };
	char *value = (char *)slot + sizeof(header);

	memcpy(header.key, key, KEY_SIZE);
	header.length = made_up_length(&header);
	fill(value, header.length, seed(&header));
	header.crc = slot_crc(&header, value);
	memcpy(slot, &header, sizeof(header));
}

const char *kv_fault(const void *slot)
{
	const char *value = (const char *)slot + sizeof(struct kv_header);
	struct kv_header header;

	memcpy(&header, slot, sizeof(header));
	if (!header.length)
		return "is empty";
	if (header.length > VALUE_MAX || header.key[KEY_SIZE - 1])
		return "has no header";
	if (slot_crc(&header, value) != header.crc)
		return "does not fit its checksum";
	if (header.length != made_up_length(&header) ||
	    !filled(value, header.length, seed(&header)))
		return "holds what nobody has put";
	return NULL;
}
