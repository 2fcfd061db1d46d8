/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - a way to put bytes into the other end's memory and to tell it.
 *
 * Each is written as its best users write it. All functions print what went
 * wrong and return EXIT_FAILED then, or a negative number where they return a
 * count.
 *
 * Every notification carries a number: from 0 on, per endpoint and direction. Its
 * payload lands in slot number % slots_of() of the receiver, and has to be in
 * place when take() tells about it.
 */
#ifndef _RNOTIFY_PERF_TRANSPORT_H
#define _RNOTIFY_PERF_TRANSPORT_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "perf.h"

/* Bytes of one endpoint's slots at the most: big notifications get few. */
#define SLOTS_BYTES (16u << 20)

/* Where the server listens. */
union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage storage;
};

/**
 * struct note - a notification that arrived
 * @endpoint: index, from 0 on
 * @number: what the sender called it
 */
struct note {
	uint32_t endpoint;
	uint32_t number;
};

/**
 * struct link - one end: common head of each transport's own struct
 * @ops: transport
 * @run: what it is for
 * @sleeps: calls of sleep() so far
 */
struct link {
	const struct transport *ops;
	const struct run *run;
	uint64_t sleeps;
};

#define WAIT_BIT(wait) (1u << (wait))

/**
 * struct transport - the functions
 * @name: for the command line and the tables
 * @summary: a line for people
 * @waits: WAIT_BIT()s of what it can do
 * @open: a link without connections, or NULL; @server: it will listen
 * @listen: at @addr; the port is written back
 * @accept: wait until all connections of the run are made
 * @connect: make all connections of the run
 * @close: end everything; NULL is all right
 * @post: tell @n more notifications of run->size bytes on one endpoint; returns
 *	how many were taken, 0 if there is no room now. May sleep for room
 *	instead, if run->wait is a way to sleep
 * @flush: make sure that what was posted is under way; NULL: it always is
 * @take: fetch what arrived, @max at the most, without sleeping
 * @sleep: in the manner of run->wait, until there may be something to take; or
 *	with @room, until post() may have room for endpoint @ep
 * @sent: bytes of slot @slot of an endpoint, to be sent
 * @got: those that arrive
 */
struct transport {
	const char *name;
	const char *summary;
	unsigned int waits;
	struct link *(*open)(const struct run *run, bool server);
	int (*listen)(struct link *link, union address *addr);
	int (*accept)(struct link *link);
	int (*connect)(struct link *link, const union address *addr);
	void (*close)(struct link *link);
	int (*post)(struct link *link, uint32_t ep, unsigned int n);
	int (*flush)(struct link *link);
	int (*take)(struct link *link, struct note *notes, unsigned int max);
	int (*sleep)(struct link *link, bool room, uint32_t ep);
	void *(*sent)(struct link *link, uint32_t ep, uint32_t slot);
	void *(*got)(struct link *link, uint32_t ep, uint32_t slot);
};

extern const struct transport ours, verbs_write_imm, verbs_write_send,
	verbs_send, tcp;

const struct transport *transport_find(const char *name);
const struct transport *transport_nth(unsigned int n);	/* NULL: no more */

/*
 * Slots of an endpoint: a window of notifications that were taken and not yet
 * looked at, and another that is coming; fewer if they would be too many bytes
 * (then run->check makes the window smaller, too).
 */
static inline uint32_t slots_of(const struct run *run)
{
	uint32_t fit = SLOTS_BYTES / (run->size ? run->size : 1);

	if (fit > 2 * run->window)
		fit = 2 * run->window;
	return fit ? fit : 1;
}

static inline size_t slots_bytes(const struct run *run)
{
	return (size_t)slots_of(run) * (run->size ? run->size : 1);
}

static inline void address_set_port(union address *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

static inline uint16_t address_port(const union address *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port :
		     addr->in.sin_port);
}

static inline socklen_t address_len(const union address *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) :
		sizeof(addr->in);
}

#endif /* _RNOTIFY_PERF_TRANSPORT_H */
