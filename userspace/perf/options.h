/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - the command line, taken apart.
 */
#ifndef _RNOTIFY_PERF_OPTIONS_H
#define _RNOTIFY_PERF_OPTIONS_H

#include "transport.h"

#define LIST_MAX 32
#define TRANSPORTS_MAX 8

/* Numbers of which each is tried. */
struct list {
	unsigned int nr;
	uint32_t value[LIST_MAX];
};

/**
 * struct options - what to do
 * @mode: &enum mode
 * @transports: to be compared, by turns
 * @nr_transports: how many
 * @waits: &enum wait
 * @sizes: bytes
 * @batches: notifications per call
 * @endpoints: connections
 * @window: see &struct run
 * @spin_us: see &struct run
 * @inline_max: see &struct run
 * @check: see &struct run
 * @iterations: see &struct run
 * @warmup: see &struct run
 * @repeat: runs of each, by turns
 * @server: only serve
 * @once: serve one client
 * @threads: both ends in one process
 * @json: not a table
 * @where: the server's address, or NULL: both ends here
 * @local: where the transports meet when both ends are here, or NULL
 */
struct options {
	uint32_t mode;
	const struct transport *transports[TRANSPORTS_MAX];
	unsigned int nr_transports;
	struct list waits;
	struct list sizes;
	struct list batches;
	struct list endpoints;
	uint32_t window;
	uint32_t spin_us;
	uint32_t inline_max;
	bool check;
	uint64_t iterations;
	uint64_t warmup;
	uint64_t repeat;
	bool server;
	bool once;
	bool threads;
	bool json;
	const char *where;
	const char *local;
};

/* 0, or -2: *status is what to exit with */
int options_parse(int argc, char **argv, struct options *opt, int *status);

/* "HOST[:PORT]" to an address; the status to exit with after a complaint */
int address_of(const char *text, union address *addr);
/* An address of an RDMA device of this machine, else the loopback. */
int address_of_device(union address *addr);

#endif /* _RNOTIFY_PERF_OPTIONS_H */
