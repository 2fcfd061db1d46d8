// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Counters, slot tables, generations and rules: what the library asks the kernel
 * for, and how it reads the pages that the kernel (here: the test) writes.
 */
#include <errno.h>
#include <stdlib.h>

#include <rnotify/rnotify.h>

#include "fake.h"
#include "tap.h"

#define SLOTS 256u

/* The latest argument, as a struct of that command. */
#define LAST(type) ((const struct type *)fake.last)

static struct rnotify *open_plain(void)
{
	const struct rnotify_attr attr = { .ring_entries = 8 };
	struct rnotify *ctx;

	fake_reset();
	if (rnotify_open(&ctx, &attr))
		abort();
	return ctx;
}

static void counters(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_counter_page *page, copy;
	struct rnotify_counter *counter;
	uint64_t count = 1, bytes = 1;
	uint32_t watch = 1;

	CHECK(!rnotify_counter_create(ctx, &counter));
	CHECK(rnotify_counter_id(counter) == 21);
	page = fake.view;
	page->count = 5;
	page->bytes = 7;
	page->seq = 2;
	rnotify_counter_read(counter, &copy);
	CHECK(!memcmp(&copy, page, sizeof(copy)));
	CHECK(rnotify_counter_page(counter)->count == 5);
	CHECK(!rnotify_counter_reset(counter, &count, &bytes));
	CHECK(LAST(rnotify_counter_reset)->counter_id == 21 && !count && !bytes);
	CHECK(!rnotify_counter_watch(counter, 10, 3, 99, &watch) && !watch);
	CHECK(LAST(rnotify_counter_watch)->threshold == 10);
	CHECK(LAST(rnotify_counter_watch)->step == 3);
	CHECK(LAST(rnotify_counter_watch)->cookie == 99);
	CHECK(!rnotify_watch_arm(ctx, 4, 20, 0));
	CHECK(LAST(rnotify_watch_arm)->watch_id == 4);
	CHECK(LAST(rnotify_watch_arm)->threshold == 20);
	CHECK(!rnotify_counter_destroy(counter) && fake.destroyed == 21);
	CHECK(!rnotify_counter_destroy(NULL));
	rnotify_close(ctx);
}

/* What the caller knows of the ends goes in; NULL means all that there are. */
static void counter_waits(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_ended ended = { .count = 3 };
	struct rnotify_counter *counter;

	CHECK(!rnotify_counter_create(ctx, &counter));
	((struct rnotify_counter_page *)fake.view)->ended = 8;
	CHECK(!rnotify_counter_wait(counter, 64, 1234, &ended));
	CHECK(LAST(rnotify_counter_wait)->ended == 3 && ended.count == 3);
	CHECK(LAST(rnotify_counter_wait)->threshold == 64);
	CHECK(LAST(rnotify_counter_wait)->timeout_ns == 1234);
	CHECK(!rnotify_counter_wait(counter, 64, RNOTIFY_FOREVER, NULL));
	CHECK(LAST(rnotify_counter_wait)->ended == 8);
	fake.error = EPIPE;
	CHECK(rnotify_counter_wait(counter, 64, 0, &ended) == -EPIPE);
	fake.error = EPIPE;
	CHECK(rnotify_counter_wait(counter, 64, 1, NULL) == -EPIPE);
	fake.error = EPIPE;
	CHECK(rnotify_counter_wait(counter, 64, 0, NULL) == -ETIME);
	rnotify_close(ctx);
}

static void slots(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_slot *table, copy;
	struct rnotify_slots *handle;
	uint64_t *dirty;

	CHECK(!rnotify_slots_create(ctx, SLOTS, RNOTIFY_SLOTS_EVENT, 5, &handle));
	CHECK(LAST(rnotify_slots_create)->flags == RNOTIFY_SLOTS_EVENT);
	CHECK(LAST(rnotify_slots_create)->cookie == 5);
	CHECK(rnotify_slots_id(handle) == 22);
	CHECK(rnotify_slots_head(handle)->nr_slots == SLOTS);
	dirty = (void *)((char *)fake.view + FAKE_DIRTY);
	table = (void *)((char *)fake.view + FAKE_SLOTS);
	CHECK(rnotify_slots_next(handle, 0) == UINT32_MAX);
	dirty[0] = 1ull << 63 | 1;
	dirty[3] = 1ull << 63;
	CHECK(rnotify_slots_next(handle, 0) == 0);
	CHECK(rnotify_slots_next(handle, 1) == 63);
	CHECK(rnotify_slots_next(handle, 63) == 63);
	CHECK(rnotify_slots_next(handle, 64) == 255);
	CHECK(rnotify_slots_next(handle, 255) == 255);
	CHECK(rnotify_slots_next(handle, 256) == UINT32_MAX);
	table[255].count = 9;
	table[255].last_imm = 0x89abcdef;
	rnotify_slots_read(handle, 255, &copy);
	CHECK(copy.count == 9 && copy.last_imm == 0x89abcdef);
	CHECK(!rnotify_slots_take(handle, 4, 8, table, 3, 77, NULL));
	CHECK(LAST(rnotify_slots_take)->first == 4);
	CHECK(LAST(rnotify_slots_take)->nr == 8);
	CHECK(LAST(rnotify_slots_take)->max == 3);
	CHECK(LAST(rnotify_slots_take)->timeout_ns == 77);
	fake.error = EPIPE;
	CHECK(rnotify_slots_take(handle, 0, 0, table, 3, 77, NULL) == -EPIPE);
	fake.error = EPIPE;
	CHECK(rnotify_slots_take(handle, 0, 0, table, 3, 0, NULL) == -ETIME);
	CHECK(!rnotify_slots_destroy(handle) && fake.destroyed == 22);
	rnotify_close(ctx);
}

/* What can't be had leaves nothing behind. */
static void failures(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_counter *counter;
	struct rnotify_slots *handle;

	fake.error = EMFILE;
	CHECK(rnotify_counter_create(ctx, &counter) == -EMFILE && !counter);
	fake.error = ENOSPC;
	CHECK(rnotify_slots_create(ctx, 8, 0, 0, &handle) == -ENOSPC && !handle);
	fake.break_layout = 1;
	CHECK(rnotify_slots_create(ctx, 8, 0, 0, &handle) == -EPROTONOSUPPORT);
	CHECK(!handle && fake.destroyed == 22);
	CHECK(!rnotify_counter_create(ctx, &counter));
	fake.error = EIO;
	CHECK(rnotify_counter_destroy(counter) == -EIO);
	CHECK(rnotify_counter_id(counter) == 21);
	/* Gone already by its id: the handle is freed */
	fake.error = ENOENT;
	CHECK(!rnotify_counter_destroy(counter));
	/* The context frees what is left (LeakSanitizer looks) */
	CHECK(!rnotify_counter_create(ctx, &counter));
	rnotify_close(ctx);
}

static void rules_and_generations(void)
{
	const struct rnotify_rule rules[2] = { { .mask = 1 }, { .mask = 2 } };
	struct rnotify *ctx = open_plain();
	uint32_t id, value = 5;
	uint64_t stale = 5;

	CHECK(!rnotify_route(ctx, 7, rules, 2));
	CHECK(LAST(rnotify_route)->endpoint_id == 7);
	CHECK(LAST(rnotify_route)->nr_rules == 2);
	CHECK(LAST(rnotify_route)->rules == (uintptr_t)rules);
	CHECK(LAST(rnotify_route)->rule_size == sizeof(rules[0]));
	CHECK(!rnotify_route(ctx, 0, rules, 0));
	CHECK(!LAST(rnotify_route)->rules);
	CHECK(!rnotify_generation_create(ctx, 3, &id) && !id);
	CHECK(LAST(rnotify_generation_create)->value == 3);
	CHECK(!rnotify_generation_set(ctx, 9, 4, &stale) && !stale);
	CHECK(LAST(rnotify_generation_set)->value == 4);
	CHECK(!LAST(rnotify_generation_set)->flags);
	CHECK(!rnotify_generation_get(ctx, 9, &value, NULL) && !value);
	CHECK(LAST(rnotify_generation_set)->flags == RNOTIFY_GENERATION_GET);
	rnotify_close(ctx);
}

int main(void)
{
	return tap_run("counters", counters) +
		tap_run("waits for a counter", counter_waits) +
		tap_run("slot tables", slots) +
		tap_run("what fails leaves nothing behind", failures) +
		tap_run("rules and generations", rules_and_generations);
}
