// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value put - fills its pool, over and over, as fast as it can.
 *
 * Keeps a copy of the pool, from which the device reads: a slot of it is not
 * touched again before its TX_DONE. Which key is in which slot is the client's
 * business alone, for the pool is its own: the hash tells where to begin to look.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "kv.h"

/*
 * As many TX_DONE events have room in the ring. One more post would wait for
 * them to be consumed, and in vain: that is done here.
 */
#define UNDER_WAY	64u

/**
 * struct putter - a client with a pool
 * @rn: context
 * @endpoint: connection to the server
 * @remote: the pool, at the server
 * @region: the copy
 * @hello: who we are
 * @versions: how often the key of each slot was put, 0: the slot is free
 * @busy: slots that the device may still read
 * @under_way: how many those are
 * @puts: made
 * @slots: used
 * @bytes: of all puts
 * @answers: what the server says at the end: puts, bytes, slots that are ready
 * @nr_answers: how many of them are there
 */
struct putter {
	struct rnotify *rn;
	uint32_t endpoint;
	uint32_t remote;
	struct rnotify_region *region;
	struct kv_hello hello;
	uint64_t versions[POOL_SLOTS];
	unsigned char busy[POOL_SLOTS];
	unsigned int under_way;
	uint64_t puts;
	uint64_t slots;
	uint64_t bytes;
	uint32_t answers[3];
	unsigned int nr_answers;
};

static void on_event(void *who, const struct rnotify_event *e)
{
	struct putter *p = who;

	switch (e->type) {
	case RNOTIFY_EVENT_TX_DONE:
		if (e->tx.error)
			die_of(e, "putting a value");
		p->busy[e->tx.user_data % POOL_SLOTS] = 0;
		p->under_way--;
		break;
	case RNOTIFY_EVENT_NOTIFY:
		if (p->nr_answers == ARRAY_SIZE(p->answers))
			die("the server says more than it was asked");
		p->answers[p->nr_answers++] = e->notify.imm;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		die_of(e, "the server");
	}
}

static void progress(struct putter *p)
{
	await_events(p->rn, on_event, p);
}

static char *copy_of(struct putter *p, uint32_t slot)
{
	return (char *)rnotify_region_addr(p->region) + slot * SLOT_SIZE;
}

/* The slot that has the key, or the first free one behind where it should be. */
static uint32_t find_slot(struct putter *p, const char *key)
{
	uint32_t slot = (uint32_t)(kv_hash(key) % POOL_SLOTS), i;

	for (i = 0; i < POOL_SLOTS; i++, slot = (slot + 1) % POOL_SLOTS) {
		const struct kv_header *header = (const void *)copy_of(p, slot);

		if (!p->versions[slot] || !memcmp(header->key, key, KEY_SIZE))
			return slot;
	}
	die("no slot is free for %s", key);
}

static void put(struct putter *p, const char *key)
{
	uint32_t slot = find_slot(p, key);
	const struct kv_header *header = (const void *)copy_of(p, slot);
	struct rnotify_op op;
	uint32_t imm;

	while (p->busy[slot] || p->under_way == UNDER_WAY)
		progress(p);
	p->slots += !p->versions[slot];
	kv_make(copy_of(p, slot), key, ++p->versions[slot]);
	imm = kv_imm_pack((struct kv_imm){
		.slot = slot,
		.hash = (uint32_t)(kv_hash(key) >> 32),
		.length = header->length,
	});
	rnotify_prep_write_imm(&op, p->endpoint, p->region, slot * SLOT_SIZE,
			       p->remote, slot * SLOT_SIZE,
			       (uint32_t)sizeof(*header) + header->length, imm,
			       slot);
	op.flags |= RNOTIFY_OP_F_SIGNALED;
	p->busy[slot] = 1;
	p->under_way++;
	p->puts++;
	p->bytes += op.length;
	post(p->rn, &op, 1);
}

/* Are all puts accounted for, and is each slot's last value there? */
static void finish(struct putter *p)
{
	struct rnotify_op op;

	rnotify_prep_notify(&op, p->endpoint,
			    RNOTIFY_IMM_CONST(kv_imm, length, 0), 0);
	post(p->rn, &op, 1);
	while (p->nr_answers < ARRAY_SIZE(p->answers))
		progress(p);
	if (p->answers[0] != (uint32_t)p->puts ||
	    p->answers[1] != (uint32_t)p->bytes)
		die("the server has counted %u puts of %u bytes, and it were %" PRIu64 " of %" PRIu64,
		    p->answers[0], p->answers[1], p->puts, p->bytes);
	if (p->answers[2] != p->slots)
		die("%u slots are ready at the server, and it should be %" PRIu64,
		    p->answers[2], p->slots);
}

static void start(struct putter *p, const char *where)
{
	const struct rnotify_endpoint_attr attr = {
		.params.send_depth = UNDER_WAY,
		.private_data = &p->hello,
		.private_len = sizeof(p->hello),
	};
	struct rnotify_event_region region;

	p->rn = open_context(1024);
	check(rnotify_alloc(p->rn, POOL_SLOTS * SLOT_SIZE, &p->region),
	      "memory for values");
	p->endpoint = dial(p->rn, where, &attr);
	region = await_region(p->rn, p->endpoint, p->hello.pool);
	if (region.length != POOL_SLOTS * SLOT_SIZE)
		die("the server's pool is not of our kind");
	p->remote = region.remote_id;
}

int kv_put(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pool", required_argument, NULL, 'p' },
		{ "keys", required_argument, NULL, 'k' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "public", no_argument, NULL, 'a' },
		{ "die", no_argument, NULL, 'd' },
		{ 0 }
	};
	struct putter p = { .hello = { KV_MAGIC, KV_PUT, 1 } };
	uint32_t keys = 200, rounds = 10, i, r;
	char key[KEY_SIZE];
	int o, death = 0;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'p')
			p.hello.pool = (uint32_t)number(optarg, 1, UINT32_MAX);
		else if (o == 'k')
			keys = (uint32_t)number(optarg, 1, POOL_SLOTS);
		else if (o == 'r')
			rounds = (uint32_t)number(optarg, 1, 1u << 20);
		else if (o == 'a')
			p.hello.role = KV_PUT_PUBLIC;
		else if (o == 'd')
			death = 1;
		else
			optind = argc + 1;
	}
	if (optind != argc - 1)
		die("usage: key_value put [--pool N] [--keys N] [--rounds N] [--public] [--die] ADDRESS");
	start(&p, argv[optind]);
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < keys; i++) {
			kv_key(key, p.hello.pool, i);
			put(&p, key);
		}
	}
	if (death)
		raise(SIGKILL);
	finish(&p);
	printf("put: %" PRIu64 " values of %" PRIu64 " bytes into %" PRIu64
	       " slots\n", p.puts, p.bytes, p.slots);
	rnotify_destroy(p.rn, p.endpoint);
	rnotify_close(p.rn);
	return 0;
}
