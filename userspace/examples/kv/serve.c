// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value serve - the server: who gets which slots, and whether they are ready.
 *
 * Puts are no events: the rules of each endpoint send them to the slot table of
 * its pool, where those that hit the same slot before the server looks become
 * one. Gets are not seen at all.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "pool.h"

#define POOLS		16u
#define POOL_SIZE	((size_t)POOL_SLOTS * SLOT_SIZE)
#define RING_ENTRIES	8192

/**
 * struct server - all pools
 * @rn: context
 * @region: their slots
 * @pools: one behind the other in @region
 * @clients: ends after so many, of all kinds; 0: never
 * @ended: clients that have come and gone
 * @events: seen
 */
struct server {
	struct rnotify *rn;
	struct rnotify_region *region;
	struct pool pools[POOLS];
	uint64_t clients;
	uint64_t ended;
	uint64_t events;
};

static struct pool *find_pool(struct server *s, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < POOLS; i++)
		if (s->pools[i].number == number)
			return &s->pools[i];
	return NULL;
}

static struct pool *pool_of(struct server *s, uint32_t endpoint)
{
	unsigned int i;

	for (i = 0; i < POOLS; i++)
		if (s->pools[i].endpoint == endpoint)
			return &s->pools[i];
	return NULL;
}

/* ---- coming and going ---- */

static void refuse(struct server *s, uint32_t endpoint, const char *why)
{
	rnotify_reject(s->rn, endpoint, why, strlen(why));
}

/* Of a getter the cookie is its pool, of a putter 0: it is found by endpoint. */
static int let_in(struct server *s, uint32_t endpoint, struct pool *readable)
{
	const struct rnotify_endpoint_attr attr = {
		.cookie = (uintptr_t)readable,
		.params.remote_regions = RNOTIFY_NO_REGIONS,
	};

	return rnotify_accept(s->rn, endpoint, &attr);
}

static void putter_comes(struct server *s, uint32_t endpoint,
			 const struct kv_hello *hello)
{
	struct pool *pool = find_pool(s, hello->pool) ?: find_pool(s, 0);

	if (!pool) {
		refuse(s, endpoint, "there is no room");
		return;
	}
	if (pool->endpoint) {
		/* Without a word: it may be on its way out. */
		rnotify_reject(s->rn, endpoint, NULL, 0);
		return;
	}
	pool->number = hello->pool;
	pool->public = hello->role == KV_PUT_PUBLIC;
	pool->offset = (uint64_t)(pool - s->pools) * POOL_SIZE;
	pool->base = (char *)rnotify_region_addr(s->region) + pool->offset;
	if (!pool_open(pool, s->rn, endpoint) && !let_in(s, endpoint, NULL))
		return;
	/* It has gone, or there is no room in the ring. */
	pool_close(pool);
	rnotify_reject(s->rn, endpoint, NULL, 0);
}

static void getter_comes(struct server *s, uint32_t endpoint,
			 const struct kv_hello *hello)
{
	struct pool *pool = find_pool(s, hello->pool);

	if (pool && !pool->public)
		refuse(s, endpoint, "that pool is not public");
	else if (!pool || let_in(s, endpoint, pool))
		rnotify_reject(s->rn, endpoint, NULL, 0);
}

static void on_request(struct server *s, const struct rnotify_event *e)
{
	struct kv_hello hello;

	memcpy(&hello, e->request.private_data, sizeof(hello));
	if (e->request.private_len != sizeof(hello) || hello.magic != KV_MAGIC ||
	    !hello.pool)
		refuse(s, e->endpoint, "I am a key-value store");
	else if (hello.role == KV_GET)
		getter_comes(s, e->endpoint, &hello);
	else if (hello.role == KV_PUT || hello.role == KV_PUT_PUBLIC)
		putter_comes(s, e->endpoint, &hello);
	else
		refuse(s, e->endpoint, "to put or to get?");
}

/* What makes the difference: each endpoint reaches its share, and nothing else. */
static void on_established(struct server *s, const struct rnotify_event *e)
{
	struct pool *readable = (struct pool *)(uintptr_t)e->cookie;
	struct pool *pool = readable ?: pool_of(s, e->endpoint);

	check_peer(rnotify_share(s->rn, e->endpoint, s->region, pool->offset,
				 POOL_SIZE, readable ? RNOTIFY_RIGHT_READ :
						       RNOTIFY_RIGHT_WRITE,
				 pool->number, NULL), "sharing a pool");
}

static void on_down(struct server *s, const struct rnotify_event *e)
{
	struct pool *pool = pool_of(s, e->endpoint);
	char text[512];

	rnotify_explain(e, text, sizeof(text));
	/* The fence: from here on nobody writes the pool. */
	check(rnotify_destroy(s->rn, e->endpoint), "ending a connection");
	/* Those that were refused don't count. */
	s->ended += e->down.stage == RNOTIFY_STAGE_ESTABLISHED;
	if (!pool)
		return;
	pool_close(pool);
	printf("pool %u: puts: %" PRIu64 " taken: %" PRIu64 " ready: %u unsure: %" PRIu64 "; its client is gone: %s\n",
	       pool->number, pool->puts, pool->taken, pool_verify(pool),
	       pool->unsure_ever, text);
	fflush(stdout);
}

/* ---- puts ---- */

/* The client has put all: tell it what has become of that. */
static void on_end_of_puts(struct server *s, const struct rnotify_event *e)
{
	struct pool *pool = pool_of(s, e->endpoint);
	struct rnotify_op ops[3];

	if (!pool) {
		rnotify_disconnect(s->rn, e->endpoint);
		return;
	}
	pool_take(pool);
	rnotify_prep_notify(&ops[0], e->endpoint, (uint32_t)pool->puts, 0);
	rnotify_prep_notify(&ops[1], e->endpoint, (uint32_t)pool->bytes, 0);
	rnotify_prep_notify(&ops[2], e->endpoint, pool_verify(pool), 0);
	/* It has room for these: nothing else is sent to it. */
	rnotify_post(s->rn, ops, 3, RNOTIFY_POST_NONBLOCK, 0);
}

static void on_event(struct server *s, const struct rnotify_event *e)
{
	switch (e->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		on_request(s, e);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		on_established(s, e);
		break;
	case RNOTIFY_EVENT_SLOTS: {
		struct pool *pool = (struct pool *)(uintptr_t)e->cookie;

		if (pool->table)
			pool_take(pool);
		break;
	}
	case RNOTIFY_EVENT_NOTIFY:
		on_end_of_puts(s, e);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(s, e);
		break;
	}
}

static void serve(struct server *s)
{
	const struct rnotify_event *e;
	struct rnotify_event copy;
	int ret;

	while (!s->clients || s->ended < s->clients) {
		while ((e = rnotify_peek(s->rn))) {
			copy = *e;
			/* First, so that a SLOTS event makes room for the next */
			rnotify_release(s->rn, 1);
			s->events++;
			on_event(s, &copy);
		}
		if (s->clients && s->ended >= s->clients)
			break;
		ret = rnotify_wait(s->rn, 1, RNOTIFY_FOREVER, 0);
		if (ret != -EINTR)
			check(ret, "waiting");
	}
}

int kv_serve(int argc, char **argv)
{
	static const struct option options[] = {
		{ "clients", required_argument, NULL, 'c' },
		{ 0 }
	};
	static struct server s;
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o != 'c')
			die("usage: key_value serve [--clients N] [ADDRESS]");
		s.clients = number(optarg, 1, UINT64_MAX);
	}
	s.rn = open_context(RING_ENTRIES);
	check(rnotify_alloc(s.rn, POOLS * POOL_SIZE, &s.region), "slots");
	listen_at(s.rn, optind < argc ? argv[optind] : "*");
	serve(&s);
	printf("clients: %" PRIu64 " events: %" PRIu64 "\n", s.ended, s.events);
	rnotify_close(s.rn);
	return 0;
}
