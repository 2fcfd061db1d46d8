/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - what a run is, what it measured, and who does what.
 *
 *	main.c		command line
 *	options.c	the same, taken apart
 *	control.c	the channel beside the measured one: both ends agree there
 *	session.c	one run: opens links, measures, brings both results together
 *	engine.c	the measured loops
 *	usage.c		what an end has used of its machine
 *	report.c	tables; json_out.c: the same as JSON
 *	transport.h	what a way to notify has to be able to; one file or more each
 */
#ifndef _RNOTIFY_PERF_H
#define _RNOTIFY_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"

#define NAME_SIZE 16
/* What may be asked for, on the command line or by the other end. */
#define LIMIT_SIZE (64u << 20)
#define LIMIT_BATCH 4096u
#define LIMIT_WINDOW 16384u
#define LIMIT_ENDPOINTS 65536u
#define LIMIT_ITERATIONS 100000000u
#define LIMIT_SPIN_US 1000u
#define INLINE_BEST UINT32_MAX

enum mode {
	MODE_LATENCY,	/* ping-pong: one notification under way */
	MODE_STREAM,	/* as many as the window lets */
	MODE_CONNECT,	/* no notifications: connections come and go */
	NR_MODES,
};

enum wait {
	WAIT_SPIN,	/* never sleeps */
	WAIT_ADAPTIVE,	/* looks for a while, then sleeps */
	WAIT_BLOCK,	/* the plainest call that sleeps */
	WAIT_EPOLL,
	WAIT_EVENTFD,
	WAIT_URING,
	WAIT_READ,	/* events are fetched by read() */
	NR_WAITS,
};

extern const char *const mode_names[NR_MODES];
extern const char *const wait_names[NR_WAITS];

/**
 * struct run - one measurement, the same at both ends
 * @transport: name of a &struct transport
 * @mode: &enum mode
 * @wait: &enum wait
 * @size: bytes of a notification
 * @batch: notifications posted with one call, in a stream
 * @window: notifications that may be under way or unconsumed, per endpoint
 * @endpoints: connections, used in turn
 * @spin_us: how long WAIT_ADAPTIVE looks
 * @inline_max: up to this size payload is posted inline; INLINE_BEST: as it is
 *	best for each transport
 * @check: look at the bytes that arrive
 * @warmup: notifications before the measured ones
 * @iterations: measured ones
 *
 * Goes over the control channel as it is: both ends are the same program, and
 * that is checked.
 */
struct run {
	char transport[NAME_SIZE];
	uint32_t mode;
	uint32_t wait;
	uint32_t size;
	uint32_t batch;
	uint32_t window;
	uint32_t endpoints;
	uint32_t spin_us;
	uint32_t inline_max;
	uint32_t check;
	uint32_t reserved;
	uint64_t warmup;
	uint64_t iterations;
};

/**
 * struct usage - what one end has used, or used between two moments
 * @time_ns: CLOCK_MONOTONIC
 * @cpu_ns: processor time of the measuring thread
 * @voluntary: context switches because it slept
 * @involuntary: context switches because others wanted the processor
 * @sleeps: calls that may sleep
 */
struct usage {
	uint64_t time_ns;
	uint64_t cpu_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t sleeps;
};

/**
 * struct machine - what a whole machine has used
 * @busy_ns: processor time of everything, kernel threads and interrupts included
 */
struct machine {
	uint64_t busy_ns;
};

/**
 * struct end_result - what one end measured
 * @used: between warm-up and end
 * @machine: of its machine
 * @peak: best rate of a part of the run, notifications/s
 * @connect_ns: making all connections
 * @close_ns: closing all of them
 * @kernel_bytes: memory that the machine lost by connecting
 */
struct end_result {
	struct usage used;
	struct machine machine;
	double peak;
	uint64_t connect_ns;
	uint64_t close_ns;
	int64_t kernel_bytes;
};

/**
 * struct result - one run, as both ends saw it
 * @run: what was to be done
 * @client: the end that begins, and that tells the result
 * @server: the other one
 * @one_way: latency mode: half of each round trip in ns, ascending; else NULL
 */
struct result {
	struct run run;
	struct end_result client;
	struct end_result server;
	uint32_t *one_way;
};

/* ---- usage.c ---- */

void usage_now(struct usage *usage, uint64_t sleeps);
void usage_since(struct usage *usage, const struct usage *before);
void machine_now(struct machine *machine);
int64_t machine_free_bytes(void);

#endif /* _RNOTIFY_PERF_H */
