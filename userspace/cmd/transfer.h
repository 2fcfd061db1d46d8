/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - what two ends of `send` and `recv`, or `ping` and `pong`,
 * say to each other.
 *
 * Handshake, in the private data of the connection (struct hello):
 *
 *	send                                recv
 *	CONNECT(block or 0, slots or 0) ->
 *	                                <-  ACCEPT(block, slots in force)
 *	                                    or REJECT(status)
 *	                                <-  shares one region: slots * block bytes
 *	                                    and, at its very end, a trailer
 *
 * Block n goes into slot n % slots, by one WRITE_IMM with imm = n modulo 2^31.
 * Only the last block may be shorter. The receiver says by NOTIFY how many
 * blocks it has consumed since the beginning (modulo 2^31; fewer than 2^31 are
 * ever under way, so that this is no limit to the length of a file). A slot
 * belongs to the sender again from then on.
 *
 * An imm with IMM_CONTROL is no block number:
 *
 *	send                                recv
 *	WRITE_IMM of the trailer,       ->
 *	  imm = IMM_END
 *	or NOTIFY imm = IMM_ABORT       ->
 *	                                <-  NOTIFY imm = IMM_RESULT | status, at
 *	                                    the end, or before it when something
 *	                                    went wrong; then it disconnects
 */
#ifndef _RNOTIFY_CMD_TRANSFER_H
#define _RNOTIFY_CMD_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sha256.h"

#define IMM_NUMBER	0x7fffffffu	/* mask of block numbers */
#define IMM_CONTROL	0x80000000u
#define IMM_END		(IMM_CONTROL | 1)
#define IMM_ABORT	(IMM_CONTROL | 2)
#define IMM_RESULT	(IMM_CONTROL | 0x40000000u)
#define IMM_STATUS	0xffu		/* mask of the status in IMM_RESULT */

#define BLOCK_MAX	(64u << 20)
#define SLOTS_MAX	1024u
#define WINDOW_MAX	(1u << 30)
/* Send work requests: a block is several of them where memory is scattered. */
#define SEND_DEPTH	512u

enum hello_kind { HELLO_FILE = 1, HELLO_PING = 2 };

enum status {
	STATUS_OK = 0,
	STATUS_FOREIGN,		/* not this protocol, or not this version */
	STATUS_BUSY,
	STATUS_TOO_LARGE,	/* block or message */
	STATUS_DIGEST,
	STATUS_LENGTH,
	STATUS_WRITE,
	STATUS_PROTOCOL,
	STATUS_NO_MEMORY,
	STATUS_STOPPED,		/* by a signal */
};

/**
 * struct hello - request, and the answer to it
 * @kind: &enum hello_kind
 * @status: &enum status; STATUS_OK in requests
 * @block: bytes of a block (or ping), 0: as the receiver likes
 * @slots: blocks under way at most, 0: as many as fit
 */
struct hello {
	uint8_t kind;
	uint8_t status;
	uint32_t block;
	uint32_t slots;
};

#define HELLO_SIZE 16		/* as private data */

/* struct trailer - the end of a file */
struct trailer {
	uint64_t bytes;
	uint64_t blocks;
	unsigned char digest[SHA256_SIZE];
};

#define TRAILER_SIZE 64		/* as written into the receiver's memory */

/* Both little-endian on the wire; decoding fails on anything foreign. */
void hello_encode(const struct hello *hello, unsigned char buf[HELLO_SIZE]);
bool hello_decode(struct hello *hello, const unsigned char *buf, size_t len);
void trailer_encode(const struct trailer *t, unsigned char buf[TRAILER_SIZE]);
bool trailer_decode(struct trailer *t, const unsigned char buf[TRAILER_SIZE]);

/* What the other side means with a status, as the end of a sentence. */
const char *status_str(unsigned int status);

#endif /* _RNOTIFY_CMD_TRANSFER_H */
