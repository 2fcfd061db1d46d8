/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * key_value - what clients and server agree on.
 *
 * The server has a region of slots. A client that wants to put gets a range of
 * them, its pool, shared with its endpoint alone. It writes a value with its
 * header into a slot, as one WRITE_IMM. Who gets reads the slot by RDMA, if the
 * server has shared the pool with his endpoint, too; the server's CPU takes no
 * part in it. A slot that is overwritten while it is read does not fit its
 * checksum: the reader reads it again.
 */
#ifndef _EXAMPLE_KV_H
#define _EXAMPLE_KV_H

#include <stdint.h>

#include <rnotify/imm.h>

/* The immediate data of a put. No length: not a put, but the end of all puts */
#define KV_IMM(field) \
	field(slot, 8)		/* in the pool; where the key's hash led to */ \
	field(hash, 10)		/* other bits of the hash of the key */ \
	field(length, 14)	/* of the value, bytes */
RNOTIFY_IMM_LAYOUT(kv_imm, KV_IMM);

#define POOL_SLOTS	256u	/* as many as the field can name */
#define SLOT_SIZE	2048u
#define KEY_SIZE	32u
#define VALUE_MAX	(SLOT_SIZE - sizeof(struct kv_header))

/**
 * struct kv_header - start of a slot
 * @crc: CRC-32C of the rest of the header, and the value
 * @length: of the value, bytes; 0: the slot has never been used
 * @version: how often the key has been put
 * @key: zeroes up to the end
 */
struct kv_header {
	uint32_t crc;
	uint32_t length;
	uint64_t version;
	char key[KEY_SIZE];
};

enum kv_role {
	KV_PUT = 1,		/* wants a pool of its own */
	KV_PUT_PUBLIC = 2,	/* and others may read it */
	KV_GET = 3,		/* wants to read somebody's pool */
};

#define KV_MAGIC 0x2d564b52u

/* Private data of the connect. */
struct kv_hello {
	uint32_t magic;
	uint32_t role;
	uint32_t pool;		/* number of the pool; any, except 0 */
};

/* ---- slots ---- */

uint64_t kv_hash(const char *key);
/* What a slot with this key and version must hold. */
void kv_make(void *slot, const char *key, uint64_t version);
/* NULL: whole, and what was put. */
const char *kv_fault(const void *slot);
/* Made-up keys: "pool/number" */
void kv_key(char key[KEY_SIZE], uint32_t pool, uint32_t number);

/* The subcommands */
int kv_serve(int argc, char **argv);
int kv_put(int argc, char **argv);
int kv_get(int argc, char **argv);
int kv_pry(int argc, char **argv);

#endif /* _EXAMPLE_KV_H */
