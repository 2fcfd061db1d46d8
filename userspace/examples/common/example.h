/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What the larger examples share: complaints, connections, checksums, made-up
 * contents. Whatever goes wrong ends the program with a sentence and status 1:
 * an example has nobody to hand an error to.
 */
#ifndef _EXAMPLE_H
#define _EXAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <rnotify/rnotify.h>

#define EXAMPLE_PORT 7471
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Prints "program: ...", ends the program. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same for a call of the library that returned err, if it is negative. */
void check(int err, const char *what);
/* The same, but for a peer that has gone: its DISCONNECTED is on the way. */
void check_peer(int err, const char *what);
/* die() with the sentences that the library has for the end of an endpoint. */
void die_of(const struct rnotify_event *down, const char *who)
	__attribute__((noreturn));

/* How long to wait for a peer: 10 s, times $RNOTIFY_SLOW if that is set. */
int64_t patience(void);

/* A number in the text, at least min and at most max, or the program ends. */
uint64_t number(const char *text, uint64_t min, uint64_t max);

struct rnotify *open_context(uint32_t ring_entries);

/* Listens, and says so on standard output. */
void listen_at(struct rnotify *rn, const char *where);

/*
 * Connects. A peer that isn't there yet, or rejects without a word because it is
 * busy with somebody else, is asked again for as long as patience lasts.
 */
uint32_t dial(struct rnotify *rn, const char *where,
	      const struct rnotify_endpoint_attr *attr);

/* The peer's private data, which must be size bytes. */
void peer_said(struct rnotify *rn, uint32_t endpoint, void *data, size_t size);

/* Waits for a share of that tag; its event, which is not consumed. */
struct rnotify_event_region await_region(struct rnotify *rn, uint32_t endpoint,
					 uint64_t tag);

/*
 * Sleeps until there are events, and gives all of them to take(). The program ends
 * if none comes for as long as patience lasts.
 */
void await_events(struct rnotify *rn,
		  void (*take)(void *who, const struct rnotify_event *e),
		  void *who);

/* Posts all of them, or the program ends. */
void post(struct rnotify *rn, const struct rnotify_op *ops, unsigned int n);

/* CRC-32C (RFC 3720); start with 0, go on with what it returned. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* A number that looks random, the same for the same one each time. */
uint64_t scramble(uint64_t x);
/* len bytes that depend on the seed, and whether they are those. */
void fill(void *data, size_t len, uint64_t seed);
int filled(const void *data, size_t len, uint64_t seed);

#endif /* _EXAMPLE_H */
