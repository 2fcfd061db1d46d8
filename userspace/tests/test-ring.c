// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The inline ring reader against a ring that the test itself writes: order,
 * wrap-around of ring and indices, batches, kicks, payloads.
 */
#include <stdlib.h>

#include <rnotify/rnotify.h>

#include "fake.h"
#include "tap.h"

#define ENTRIES 8u

static struct rnotify *open_at(uint32_t start)
{
	const struct rnotify_attr attr = {
		.ring_entries = ENTRIES,
		.msg_size = 256,
	};
	struct rnotify *ctx;

	fake_reset();
	if (rnotify_open(&ctx, &attr))
		abort();
	/* As if so many had been through already. */
	fake.head->prod = start;
	fake.tail->cons = start;
	rnotify_ring_of(ctx)->prod = start;
	rnotify_ring_of(ctx)->cons = start;
	return ctx;
}

static void produce(unsigned int n, uint64_t *seq)
{
	while (n--)
		fake_event(RNOTIFY_EVENT_NOTIFY, 1, ++*seq);
}

/* Peek and release one by one, in bursts of every size, over the wrap. */
static void singles(void)
{
	struct rnotify *ctx = open_at(UINT32_MAX - 20);
	uint64_t sent = 0, seen = 0;
	unsigned int i, burst;

	CHECK(!rnotify_peek(ctx));
	for (i = 0; i < 200; i++) {
		burst = i % (ENTRIES + 1);
		produce(burst, &sent);
		CHECK(rnotify_ready(ctx) == burst);
		while (burst--) {
			const struct rnotify_event *event = rnotify_peek(ctx);

			CHECK(event && event->seq == ++seen);
			CHECK(rnotify_peek(ctx) == event);
			rnotify_release(ctx, 1);
			CHECK(fake.tail->cons == fake.head->prod - burst);
		}
		CHECK(!rnotify_peek(ctx) && !rnotify_ready(ctx));
	}
	CHECK(seen == sent && sent > 100);
	rnotify_close(ctx);
}

static void batches(void)
{
	struct rnotify *ctx = open_at(UINT32_MAX - 13);
	const struct rnotify_event *events[ENTRIES + 2];
	uint64_t sent = 0, seen = 0;
	unsigned int i, j, n;

	CHECK(!rnotify_peek_n(ctx, events, ENTRIES));
	for (i = 0; i < 100; i++) {
		produce(ENTRIES - rnotify_ready(ctx), &sent);
		n = rnotify_peek_n(ctx, events, 1 + i % (ENTRIES + 2));
		CHECK(n == (1 + i % (ENTRIES + 2) < ENTRIES ?
			    1 + i % (ENTRIES + 2) : ENTRIES));
		for (j = 0; j < n; j++)
			CHECK(events[j]->seq == ++seen);
		rnotify_release(ctx, n);
	}
	CHECK(sent - seen == rnotify_ready(ctx));
	rnotify_close(ctx);
}

static void kicks(void)
{
	struct rnotify *ctx = open_at(0);
	uint64_t sent = 0;

	produce(3, &sent);
	rnotify_release(ctx, rnotify_ready(ctx) - 2);
	CHECK(!fake.calls[RNOTIFY_CMD_KICK]);
	fake.head->need_kick = 1;
	rnotify_release(ctx, 1);
	CHECK(fake.calls[RNOTIFY_CMD_KICK] == 1);
	fake.head->need_kick = 0;
	rnotify_release(ctx, 1);
	CHECK(fake.calls[RNOTIFY_CMD_KICK] == 1);
	rnotify_close(ctx);
}

/* Released entries may be overwritten at once; the others must not be touched. */
static void payloads(void)
{
	struct rnotify *ctx = open_at(0);
	const struct rnotify_event *event;

	fake_next()->notify.msg_offset = 3 * 256;
	fake_event(RNOTIFY_EVENT_MESSAGE, 1, 1);
	event = rnotify_peek(ctx);
	CHECK(rnotify_payload(ctx, event) ==
	      rnotify_ring_of(ctx)->messages + 3 * 256);
	CHECK(*(const char *)rnotify_payload(ctx, event) == 0);
	rnotify_close(ctx);
}

/* All members that a builder does not name are 0, whatever was there before. */
static void builders(void)
{
	struct rnotify_op op, want = { 0 };

	memset(&op, 0xa5, sizeof(op));
	rnotify_prep_notify(&op, 3, 0x89abcdef, 42);
	want.opcode = RNOTIFY_OP_NOTIFY;
	want.endpoint_id = 3;
	want.imm = 0x89abcdef;
	want.user_data = 42;
	CHECK(!memcmp(&op, &want, sizeof(op)));
	memset(&op, 0xa5, sizeof(op));
	rnotify_prep_write_imm(&op, 3, NULL, 0, 9, 4096, 16, 7, 42);
	rnotify_op_inline(&op, &want);
	CHECK(op.opcode == RNOTIFY_OP_WRITE_IMM && !op.region_id);
	CHECK(op.flags == RNOTIFY_OP_F_INLINE && op.length == 16);
	CHECK(op.local_offset == (uintptr_t)&want && op.remote_id == 9);
	CHECK(op.remote_offset == 4096 && op.imm == 7 && !op.swap);
	memset(&op, 0xa5, sizeof(op));
	rnotify_prep_cmp_swap(&op, 3, NULL, 8, 9, 16, 5, 6, 1);
	CHECK(op.opcode == RNOTIFY_OP_CMP_SWAP && op.length == 8 && !op.imm);
	CHECK(op.operand == 5 && op.swap == 6 && op.remote_offset == 16);
}

int main(void)
{
	return tap_run("one by one", singles) +
		tap_run("batches", batches) +
		tap_run("kicks when asked to, and only then", kicks) +
		tap_run("payloads of messages", payloads) +
		tap_run("builders leave nothing undefined", builders);
}
