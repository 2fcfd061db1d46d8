/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A stream of notifications that goes on until what should meet it has met it.
 */
#ifndef RNT_STREAM_H
#define RNT_STREAM_H

#include "rnt.h"

/* @op: what is sent; the lower 16 bits of its imm are counted up */
struct rnt_stream {
	struct rnt_ctx *c;
	struct rnotify_op op;
	struct rnt_thread thread;
	unsigned int sent;
	bool enough;
};

void rnt_stream_start(struct rnt_stream *s);
/* How many it was, an even number. They may still be on their way. */
unsigned int rnt_stream_end(struct rnt_stream *s);

#endif
