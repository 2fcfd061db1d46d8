/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * replicated_log - what client and server agree on.
 *
 * The client writes records, one behind the other, into the log region of the
 * server, which it uses as a ring: byte n of the log of a session is at n modulo
 * the size of the region. A record begins at a multiple of RECORD_UNIT, and does
 * not go over the end of the region: a pad fills the rest.
 *
 * What is in the region counts for nothing by itself. A record exists when a
 * notification says so: that of the record, or of a later one of its group.
 */
#ifndef _EXAMPLE_LOG_H
#define _EXAMPLE_LOG_H

#include <stdint.h>

#include <rnotify/imm.h>

/* The immediate data of a record: of the last one, in a group. */
#define LOG_IMM(field) \
	field(sequence, 16)	/* low bits of its number */ \
	field(units, 10)	/* its length class: RECORD_UNITs it takes */ \
	field(flags, 6)
RNOTIFY_IMM_LAYOUT(log_imm, LOG_IMM);

#define LOG_F_GROUP 1u		/* the ones before it came without an imm */
#define LOG_F_END 2u		/* no record: there is nothing behind this one */

#define RECORD_UNIT	64u
#define RECORD_MAGIC	0x4c6e5231u
#define PAD_MAGIC	0x4c6e5030u
#define PAYLOAD_MAX	4000u	/* bytes */

/**
 * struct record - header of a record, in the region and in the file
 * @magic: RECORD_MAGIC, or PAD_MAGIC: the rest of the region is not used
 * @length: bytes of payload behind the header
 * @sequence: number of the record, from 1
 * @crc: CRC-32C of header, with 0 here, and payload
 * @reserved: 0
 *
 * In the byte order of the machines, which are of one kind.
 */
struct record {
	uint32_t magic;
	uint32_t length;
	uint64_t sequence;
	uint32_t crc;
	uint32_t reserved;
};

#define HELLO_MAGIC 0x676f4c52u

/* Private data of the accept: where the client goes on. */
struct log_hello {
	uint32_t magic;
	uint32_t size;		/* of the region, bytes */
	uint64_t next;		/* number of the record that comes next */
};

/* Units that a record with so many bytes of payload takes. */
uint32_t record_units(uint32_t length);
/* Made-up contents of a record, by its number: 900 to 1500 bytes, few are long */
uint32_t record_length(uint64_t sequence);
/* Writes the record, and zeroes up to the end of its units, which it returns. */
uint32_t record_make(void *at, uint64_t sequence);
/* NULL if this is that record, intact; else what is wrong with it. */
const char *record_fault(const void *at, uint64_t sequence, uint32_t room);
/* Whether it has the made-up contents, too. */
int record_genuine(const void *at);

/*
 * The file: records in order, each at a multiple of RECORD_UNIT. Opening it
 * checks all of them, and cuts off what a crash has left behind them.
 */
struct store {
	int fd;
	uint64_t next;		/* number of the next record */
	uint64_t end;		/* bytes */
};

void store_open(struct store *store, const char *path);
/* Appends, and returns when it is durable. */
void store_write(struct store *store, const void *data, uint64_t len);
void store_sync(struct store *store, uint64_t next);
void store_close(struct store *store);

/* The subcommands */
int log_serve(int argc, char **argv);
int log_append(int argc, char **argv);
int log_check(int argc, char **argv);

#endif /* _EXAMPLE_LOG_H */
