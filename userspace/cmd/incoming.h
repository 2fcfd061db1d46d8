/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - one file on its way in (see transfer.h for the protocol).
 */
#ifndef _RNOTIFY_CMD_INCOMING_H
#define _RNOTIFY_CMD_INCOMING_H

#include <stdbool.h>
#include <stdint.h>

#include <rnotify/rnotify.h>

#include "output.h"
#include "sha256.h"
#include "stats.h"
#include "transfer.h"

enum incoming_state {
	INCOMING_NONE,		/* no sender */
	INCOMING_ACCEPTED,	/* ESTABLISHED is to come */
	INCOMING_RUNNING,
	INCOMING_CLOSING,	/* DISCONNECTED is to come */
};

/**
 * struct incoming - a file being received
 * @ctx: context
 * @window: memory that the sender writes to, the trailer at its end
 * @out: where the bytes go
 * @quiet: no progress, no remarks
 * @state: what is going on
 * @endpoint: connection
 * @next: a request that came while CLOSING, its type 0 if there is none
 * @block: bytes per block
 * @slots: blocks in the window
 * @blocks: consumed so far
 * @told: of those, the sender knows
 * @status: outcome, &enum status
 * @complete: all there, right, and stored
 * @sha: of what came so far
 * @stats: figures
 */
struct incoming {
	struct rnotify *ctx;
	struct rnotify_region *window;
	struct output out;
	bool quiet;
	enum incoming_state state;
	uint32_t endpoint;
	struct rnotify_event next;
	uint32_t block;
	uint32_t slots;
	uint64_t blocks;
	uint64_t told;
	unsigned int status;
	bool complete;
	struct sha256 sha;
	struct stats stats;
};

/* Accept or reject a request; block: what the sender gets if it has no wish. */
void incoming_request(struct incoming *in, const struct rnotify_event *event,
		      uint32_t block);
/* The transfer is over and there is a place for another: answer the next. */
void incoming_next(struct incoming *in, uint32_t block);
/* The end of an endpoint that is not the one of the transfer. */
void incoming_other_down(struct incoming *in, uint32_t endpoint);
/* Any other event of the endpoint. True: the transfer is over, see complete. */
bool incoming_event(struct incoming *in, const struct rnotify_event *event);
/* We are to stop: the sender is told, and the connection closed in order. */
void incoming_stop(struct incoming *in);
/* Give slots back to the sender, when there are enough to be worth it. */
void incoming_return_slots(struct incoming *in);

#endif /* _RNOTIFY_CMD_INCOMING_H */
