/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - one file on its way out (see transfer.h for the protocol).
 */
#ifndef _RNOTIFY_CMD_OUTGOING_H
#define _RNOTIFY_CMD_OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

#include <rnotify/rnotify.h>

#include "sha256.h"
#include "stats.h"
#include "transfer.h"

/**
 * struct outgoing - a file being sent
 * @ctx: context, nothing else is in it
 * @where: address, as the user gave it
 * @input: fd to read
 * @source: @buffers blocks, then the trailer; block n is in buffer n % buffers
 * @buffers: more than @slots, to read ahead while all slots are taken
 * @endpoint: connection
 * @remote: the receiver's region, 0 if not known yet
 * @remote_len: its length
 * @block: bytes per block
 * @slots: blocks that the receiver's region holds
 * @filled: blocks read so far
 * @fill: bytes in the buffer that is being filled
 * @posted: blocks posted
 * @done: blocks whose buffer the device has finished with
 * @consumed: blocks whose slot the receiver has given back
 * @last_len: length of the last block, once @eof
 * @eof: nothing more to read
 * @end_posted: the trailer has been posted
 * @stuck: a post got EAGAIN, WRITABLE will come
 * @answered: the receiver has sent its result
 * @result: that result, &enum status
 * @failed: told to the user: what is left is to exit with EXIT_FAILED
 * @sha: of the blocks read so far
 * @stats: figures
 */
struct outgoing {
	struct rnotify *ctx;
	const char *where;
	int input;
	struct rnotify_region *source;
	uint32_t buffers;
	uint32_t endpoint;
	uint32_t remote;
	uint64_t remote_len;
	uint32_t block;
	uint32_t slots;
	uint64_t filled;
	uint32_t fill;
	uint64_t posted;
	uint64_t done;
	uint64_t consumed;
	uint32_t last_len;
	bool eof;
	bool end_posted;
	bool stuck;
	bool answered;
	unsigned int result;
	bool failed;
	struct sha256 sha;
	struct stats stats;
};

/* All of them tell failures to the user and return 0 or an exit status. */
int outgoing_start(struct outgoing *out, struct rnotify *ctx, const char *where,
		   const struct hello *wish, int input, bool quiet);
int outgoing_run(struct outgoing *out);
void outgoing_end(struct outgoing *out);

#endif /* _RNOTIFY_CMD_OUTGOING_H */
