// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value get - reads values out of the server's memory; and
 * key_value pry - tries what must not be possible.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "kv.h"

#define TRIES 1000

struct getter {
	struct rnotify *rn;
	uint32_t endpoint;
	struct kv_hello hello;
	uint32_t remote;
	struct rnotify_region *region;	/* one slot */
	uint64_t again;			/* times that a slot was just written */
};

/* Waits for the outcome of one operation. */
static void await_done(struct getter *g)
{
	struct rnotify_event e;
	int ret;

	do {
		ret = rnotify_next(g->rn, &e, patience());
		if (ret == -EINTR)
			continue;
		check(ret, "waiting for the server's memory");
		if (e.type == RNOTIFY_EVENT_DISCONNECTED)
			die_of(&e, "the server");
	} while (ret || e.type != RNOTIFY_EVENT_TX_DONE);
	if (e.tx.error)
		die_of(&e, "reading a slot");
}

static const struct kv_header *read_slot(struct getter *g, uint32_t slot)
{
	struct rnotify_op op;

	rnotify_prep_read(&op, g->endpoint, g->region, 0, g->remote,
			  slot * SLOT_SIZE, SLOT_SIZE, 0);
	op.flags |= RNOTIFY_OP_F_SIGNALED;
	post(g->rn, &op, 1);
	await_done(g);
	return rnotify_region_addr(g->region);
}

/* A whole slot, however often its owner writes it. NULL: it is free. */
static const struct kv_header *read_whole(struct getter *g, uint32_t slot)
{
	const struct kv_header *data;
	const char *fault = NULL;
	int i;

	for (i = 0; i < TRIES; i++) {
		data = read_slot(g, slot);
		if (!data->length)
			return NULL;
		fault = kv_fault(data);
		if (!fault)
			return data;
		g->again++;
	}
	die("slot %u %s", slot, fault);
}

static int find(struct getter *g, const char *key)
{
	uint32_t slot = (uint32_t)(kv_hash(key) % POOL_SLOTS), i;
	const struct kv_header *data;

	for (i = 0; i < POOL_SLOTS; i++, slot = (slot + 1) % POOL_SLOTS) {
		data = read_whole(g, slot);
		if (!data)
			break;
		if (!memcmp(data->key, key, KEY_SIZE))
			return 1;
	}
	return 0;
}

/* Its owner may be about to put it. */
static void get(struct getter *g, const char *key)
{
	int64_t end = patience();

	while (!find(g, key))
		if (rnotify_deadline(1) > end)
			die("%s is not there", key);
}

static void start(struct getter *g, const char *where)
{
	const struct rnotify_endpoint_attr attr = {
		.private_data = &g->hello,
		.private_len = sizeof(g->hello),
	};

	g->rn = open_context(1024);
	check(rnotify_alloc(g->rn, SLOT_SIZE, &g->region), "memory for a slot");
	g->endpoint = dial(g->rn, where, &attr);
	g->remote = await_region(g->rn, g->endpoint, g->hello.pool).remote_id;
}

static const char *options_read(struct getter *g, uint32_t *keys, int argc,
				char **argv)
{
	static const struct option options[] = {
		{ "pool", required_argument, NULL, 'p' },
		{ "keys", required_argument, NULL, 'k' },
		{ 0 }
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'p')
			g->hello.pool = (uint32_t)number(optarg, 1, UINT32_MAX);
		else if (o == 'k')
			*keys = (uint32_t)number(optarg, 1, POOL_SLOTS);
		else
			optind = argc + 1;
	}
	if (optind != argc - 1)
		die("usage: key_value %s [--pool N] [--keys N] ADDRESS",
		    argv[0]);
	return argv[optind];
}

int kv_get(int argc, char **argv)
{
	struct getter g = { .hello = { KV_MAGIC, KV_GET, 1 } };
	uint32_t keys = 200, i;
	const char *where = options_read(&g, &keys, argc, argv);
	char key[KEY_SIZE];

	start(&g, where);
	for (i = 0; i < keys; i++) {
		kv_key(key, g.hello.pool, i);
		get(&g, key);
	}
	printf("got: %u values, %" PRIu64 " slots read again\n", keys, g.again);
	rnotify_destroy(g.rn, g.endpoint);
	rnotify_close(g.rn);
	return 0;
}

/* ---- prying ---- */

static void expect(int want, int ret, const char *what)
{
	if (ret >= 0)
		die("%s: that should not have been possible", what);
	if (ret != want)
		die("%s: %s instead of %s", what, strerror(-ret),
		    strerror(-want));
}

static int try_read(struct getter *g, uint32_t remote, uint64_t offset)
{
	struct rnotify_op op;

	rnotify_prep_read(&op, g->endpoint, g->region, 0, remote, offset,
			  SLOT_SIZE, 0);
	return rnotify_post(g->rn, &op, 1, 0, -1);
}

static int try_write(struct getter *g, uint32_t remote, uint64_t offset)
{
	struct rnotify_op op;

	rnotify_prep_write(&op, g->endpoint, g->region, 0, remote, offset,
			   SLOT_SIZE, 0);
	return rnotify_post(g->rn, &op, 1, 0, -1);
}

/* A reader of one pool: nothing else, and nothing but reading. */
int kv_pry(int argc, char **argv)
{
	struct getter g = { .hello = { KV_MAGIC, KV_GET, 1 } };
	uint32_t keys = 0, i, other = 0;
	const char *where = options_read(&g, &keys, argc, argv);
	const uint64_t end = POOL_SLOTS * SLOT_SIZE;

	start(&g, where);
	for (i = 1; i < 4096; i++) {
		if (i == g.remote)
			continue;
		expect(-ENOENT, try_read(&g, i, 0), "reading another's slots");
		expect(-ENOENT, try_write(&g, i, 0), "writing another's slots");
		other++;
	}
	expect(-EACCES, try_write(&g, g.remote, 0), "writing what was shared to be read");
	expect(-ERANGE, try_read(&g, g.remote, end - SLOT_SIZE + 1),
	       "reading beyond the pool");
	expect(-ERANGE, try_read(&g, g.remote, UINT64_MAX - SLOT_SIZE + 2),
	       "reading before the pool");
	printf("pried: %u other regions, and beyond this one\n", other);
	rnotify_destroy(g.rn, g.endpoint);
	rnotify_close(g.rn);
	return 0;
}
