// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The memory model with two threads: one plays the kernel (A, B, F, H), the
 * other consumes through the inline functions (C, D, E, G). Under TSan a missing
 * acquire or release is a data race; without it, a lost kick is a hang, which
 * ends after a while as a failure. A ring of one entry makes each release the
 * one that matters.
 *
 * The ring is plain memory here: TSan does not know that two mappings are one.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "fake.h"
#include "internal.h"
#include "tap.h"

#define MAX_ENTRIES	8u
#define EVENTS		200000u
#define PATIENCE_S	20
#define FAKE_FD		1000000

static struct rnotify_ring_head head;
static struct rnotify_ring_tail tail;
static struct rnotify_event entries[MAX_ENTRIES];
static struct rnotify ctx;
static sem_t kicked;
static int stalls;
static bool done;

static uint64_t checksum(uint64_t seq)
{
	return (seq + 1) * 0x9e3779b97f4a7c15ull;
}

/* H: ask for a kick, full barrier, look at cons once more, then sleep. */
static void await_room(uint32_t prod)
{
	struct timespec until;

	__atomic_store_n(&head.need_kick, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	while (prod - __atomic_load_n(&tail.cons, __ATOMIC_ACQUIRE) ==
	       head.entries)
		if (sem_timedwait(&kicked, &until)) {
			stalls++;
			break;
		}
	__atomic_store_n(&head.need_kick, 0, __ATOMIC_RELAXED);
	while (!sem_trywait(&kicked))
		;
}

/* Lets the two threads meet at every possible point of each other's steps. */
static void jitter(uint64_t n)
{
	volatile unsigned int i;

	for (i = checksum(n) >> 56; i; i--)
		;
}

static void *kernel(void *arg)
{
	uint32_t prod = 0;
	uint64_t seq;

	for (seq = 0; seq < EVENTS && !stalls; seq++) {
		struct rnotify_event *event;

		jitter(seq);
		/* F */
		if (prod - __atomic_load_n(&tail.cons,
					   __ATOMIC_ACQUIRE) == head.entries)
			await_room(prod);
		event = &entries[prod & (head.entries - 1)];
		/* A */
		event->type = RNOTIFY_EVENT_NOTIFY;
		event->seq = seq;
		event->time_ns = checksum(seq);
		event->raw[3] = ~checksum(seq);
		/* B */
		__atomic_store_n(&head.prod, ++prod, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return arg;
}

/* Kicks reach the fake kernel as ioctls; here they wake the producer. */
static void on_kick(void)
{
	sem_post(&kicked);
}

static unsigned int consume(uint64_t *seen)
{
	const struct rnotify_event *events[MAX_ENTRIES];
	unsigned int i, n;

	/* Singles and batches in turn. */
	if (*seen & 64) {
		n = rnotify_peek_n(&ctx, events, MAX_ENTRIES);
	} else {
		events[0] = rnotify_peek(&ctx);
		n = events[0] ? 1 : 0;
	}
	for (i = 0; i < n; i++) {
		CHECK(events[i]->seq == *seen);
		CHECK(events[i]->time_ns == checksum(*seen));
		CHECK(events[i]->raw[3] == ~checksum(*seen));
		++*seen;
	}
	if (n)
		rnotify_release(&ctx, n);
	return n;
}

static void ring_make(unsigned int n)
{
	fake_reset();
	memset(&head, 0, sizeof(head));
	memset(&tail, 0, sizeof(tail));
	head.entries = n;
	ctx.ring = (struct rnotify_ring){
		.head = &head,
		.entries = entries,
		.tail = &tail,
		.mask = n - 1,
	};
	ctx.fd = FAKE_FD;
	fake.fd = FAKE_FD;
	fake.on_kick = on_kick;
	stalls = 0;
	done = false;
	sem_init(&kicked, 0, 0);
}

static void two_threads(unsigned int n)
{
	pthread_t thread;
	uint64_t seen = 0;

	ring_make(n);
	CHECK(!pthread_create(&thread, NULL, kernel, NULL));
	while (seen < EVENTS) {
		bool last = __atomic_load_n(&done, __ATOMIC_ACQUIRE);

		if (consume(&seen))
			continue;
		if (last)
			break;
		sched_yield();
	}
	pthread_join(thread, NULL);
	CHECK(seen == EVENTS);
	CHECK(!stalls);
	printf("%u entries: %u events, %u kicks\n", n, EVENTS,
	       fake.calls[RNOTIFY_CMD_KICK]);
}

static void one_entry(void)
{
	two_threads(1);
}

static void eight_entries(void)
{
	two_threads(8);
}

int main(void)
{
	return tap_run("two threads, one entry", one_entry) +
		tap_run("two threads, eight entries", eight_entries);
}
