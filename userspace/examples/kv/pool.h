/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * key_value serve - pools: what is known of the slots of one client.
 */
#ifndef _EXAMPLE_KV_POOL_H
#define _EXAMPLE_KV_POOL_H

#include <rnotify/rnotify.h>

#include "kv.h"

/**
 * struct pool - the slots of one client, which stay when it goes
 * @number: the client's number for it, 0: not in use
 * @public: others may read it
 * @endpoint: of the client, 0: it is gone
 * @table: slot table, while the client is there
 * @base: first slot
 * @offset: of that in the region, bytes
 * @ready: the version that was found good in each slot, 0: none
 * @puts: counted, of this or the latest client
 * @bytes: and their bytes
 * @taken: slots that were taken out of the table: fewer than puts, if some
 *	came together
 * @unsure: slots that were written once more while they were looked at; they
 *	will be dirty again
 * @unsure_ever: how often that was so
 */
struct pool {
	uint32_t number;
	int public;
	uint32_t endpoint;
	struct rnotify_slots *table;
	char *base;
	uint64_t offset;
	uint64_t ready[POOL_SLOTS];
	uint64_t puts;
	uint64_t bytes;
	uint64_t taken;
	unsigned char unsure[POOL_SLOTS];
	uint64_t unsure_ever;
};

/*
 * A client asks: empties the pool, and sends its puts to a slot table. Not 0 if
 * it has gone again.
 */
int pool_open(struct pool *pool, struct rnotify *rn, uint32_t endpoint);
/* Takes what is dirty, and looks at each slot. */
void pool_take(struct pool *pool);
/* All puts have been taken: every slot must be ready. How many there are. */
uint32_t pool_verify(struct pool *pool);
/* The client can't write any more: what it left half written is not ready. */
void pool_close(struct pool *pool);

#endif /* _EXAMPLE_KV_POOL_H */
