// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value serve - pools.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "pool.h"

#define BATCH 64

static void *slot_of(const struct pool *pool, uint32_t slot)
{
	return pool->base + slot * SLOT_SIZE;
}

int pool_open(struct pool *pool, struct rnotify *rn, uint32_t endpoint)
{
	struct rnotify_rule rules[2];

	memset(pool->base, 0, (size_t)POOL_SLOTS * SLOT_SIZE);
	memset(pool->ready, 0, sizeof(pool->ready));
	pool->puts = 0;
	pool->bytes = 0;
	pool->taken = 0;
	check(rnotify_slots_create(rn, POOL_SLOTS, RNOTIFY_SLOTS_EVENT,
				   (uintptr_t)pool, &pool->table),
	      "a slot table");
	/* The end of the puts is an event, and comes after all of them. */
	rnotify_rule_init(&rules[0], RNOTIFY_ACTION_EVENT, 0);
	RNOTIFY_RULE_MATCH(&rules[0], kv_imm, length, 0);
	rnotify_rule_init(&rules[1], RNOTIFY_ACTION_SLOTS,
			  rnotify_slots_id(pool->table));
	RNOTIFY_RULE_SLOT(&rules[1], kv_imm, slot);
	pool->endpoint = endpoint;
	return rnotify_route(rn, endpoint, rules, 2);
}

/* What is in the slot, if it is what the imm says; else its owner is at it. */
static uint64_t look(const struct pool *pool, uint32_t slot, uint32_t raw)
{
	struct kv_imm imm = kv_imm_unpack(raw);
	_Alignas(struct kv_header) char copy[SLOT_SIZE];
	const struct kv_header *header = (const void *)copy;

	memcpy(copy, slot_of(pool, slot), sizeof(copy));
	if (kv_fault(copy) || header->length != imm.length)
		return 0;
	if (imm.hash != (kv_hash(header->key) >> 32 &
			 RNOTIFY_IMM_MAX(kv_imm, hash)))
		return 0;
	return header->version;
}

static void take_one(struct pool *pool, const struct rnotify_slot *s)
{
	uint64_t version = look(pool, s->index, s->last_imm);

	if (version && version < pool->ready[s->index])
		die("slot %u went back to version %" PRIu64, s->index, version);
	pool->puts += s->count;
	pool->bytes += s->bytes;
	pool->taken++;
	pool->unsure[s->index] = !version;
	pool->unsure_ever += !version;
	if (version)
		pool->ready[s->index] = version;
}

void pool_take(struct pool *pool)
{
	struct rnotify_slot slots[BATCH];
	int i, n;

	while ((n = rnotify_slots_take(pool->table, 0, 0, slots, BATCH, 0,
				       NULL)) > 0)
		for (i = 0; i < n; i++)
			take_one(pool, &slots[i]);
	if (n != -ETIME && n != -EINTR)
		check(n, "taking slots");
}

static int good(const struct pool *pool, uint32_t i)
{
	const struct kv_header *header = slot_of(pool, i);

	return pool->ready[i] && !pool->unsure[i] && !kv_fault(header) &&
	       header->version == pool->ready[i];
}

uint32_t pool_verify(struct pool *pool)
{
	uint32_t i, n = 0;

	for (i = 0; i < POOL_SLOTS; i++) {
		const struct kv_header *slot = slot_of(pool, i);

		if (pool->unsure[i])
			die("slot %u of pool %u: %s, and nobody writes it", i,
			    pool->number,
			    kv_fault(slot) ?: "is not what was announced");
		if (!pool->ready[i])
			continue;
		if (!good(pool, i))
			die("slot %u of pool %u is ready, and %s", i,
			    pool->number,
			    kv_fault(slot) ?: "holds another version");
		n++;
	}
	return n;
}

void pool_close(struct pool *pool)
{
	uint32_t i, torn = 0;

	pool_take(pool);
	check(rnotify_slots_destroy(pool->table), "the end of a slot table");
	pool->table = NULL;
	pool->endpoint = 0;
	for (i = 0; i < POOL_SLOTS; i++) {
		struct kv_header *slot = slot_of(pool, i);

		/* Also what was never announced: nobody vouches for it. */
		if (!slot->length || good(pool, i))
			continue;
		memset(slot, 0, SLOT_SIZE);
		pool->ready[i] = 0;
		pool->unsure[i] = 0;
		torn++;
	}
	if (torn)
		printf("pool %u: %u slots were not finished: emptied\n",
		       pool->number, torn);
}
