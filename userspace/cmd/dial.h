/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - connecting and listening, with the handshake of transfer.h.
 * Failures are told to the user.
 */
#ifndef _RNOTIFY_CMD_DIAL_H
#define _RNOTIFY_CMD_DIAL_H

#include <rnotify/rnotify.h>

#include "transfer.h"

/**
 * dial() - connect and have the request answered
 * @ctx: fresh context
 * @where: text of an address
 * @request: what to ask for
 * @params: wishes for the endpoint
 * @endpoint: the new endpoint; its ESTABLISHED event is still in the ring
 * @answer: what the other side has granted
 *
 * Return: 0 or an exit status.
 */
int dial(struct rnotify *ctx, const char *where, const struct hello *request,
	 const struct rnotify_params *params, uint32_t *endpoint,
	 struct hello *answer);

/* rnotify_find() of one type, for ever, whatever signals come. */
int find_event(struct rnotify *ctx, uint32_t endpoint, unsigned int type,
	       const struct rnotify_event **event);

/* Answers a CONNECT_REQUEST, with a hello as private data. 0 or -errno. */
int answer_yes(struct rnotify *ctx, uint32_t endpoint,
	       const struct hello *answer, const struct rnotify_params *params,
	       uint64_t cookie);
int answer_no(struct rnotify *ctx, uint32_t endpoint, unsigned int status);

/* Listens where the text says, and says so. 0 or an exit status. */
int listen_at(struct rnotify *ctx, const char *where, bool quiet,
	      uint32_t *listener);

/* "10.0.0.2:41234", of an endpoint's peer */
const char *peer_name(struct rnotify *ctx, uint32_t endpoint, char *buf,
		      size_t size);

#endif /* _RNOTIFY_CMD_DIAL_H */
