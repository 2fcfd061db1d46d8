// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Golden vectors, written by hand from the protocol document. */
#include "vectors.h"

static const struct rnotify_hello hello = {
	.version_min = 1,
	.version_max = 1,
	.region_slots = 64,
	.ctrl_credits = 16,
	.features = 0,
	.data_credits = 64,
	.msg_size = 256,
	.keepalive_ms = 5000,
	.session_id = 0x1122334455667788,
	.private_len = 5,
	.private_data = "hello",
};

static const u8 hello_bytes[] = {
	0x52, 0x4e, 0x54, 0x46,				/* magic "RNTF" */
	0x01, 0x01,					/* versions */
	0x05,						/* private_len */
	0x40,						/* region_slots */
	0x00, 0x00, 0x00, 0x00,				/* features */
	0x40, 0x00,					/* data_credits */
	0x04, 0x00,					/* msg_size / 64 */
	0xf4, 0x01,					/* keepalive / 10 ms */
	0x10,						/* ctrl_credits */
	0x00,
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,	/* session_id */
	0x68, 0x65, 0x6c, 0x6c, 0x6f,			/* "hello" */
};

static const struct rnotify_reject_data reject = {
	.version_min = 1,
	.version_max = 1,
	.reason = RNOTIFY_REASON_VERSION,
	.error = -93,	/* EPROTONOSUPPORT of Linux on most machines */
	.text = "this host speaks version 1 only",
	.private_len = 2,
	.private_data = "no",
};

static const u8 reject_bytes[] = {
	0x52, 0x4e, 0x54, 0x46,				/* magic */
	0x01, 0x01,					/* versions */
	0x02,						/* private_len */
	0x00,
	0x0c, 0x00,					/* reason */
	0x00, 0x00,
	0xa3, 0xff, 0xff, 0xff,				/* error -93 */
	't', 'h', 'i', 's', ' ', 'h', 'o', 's',		/* text, 48 bytes */
	't', ' ', 's', 'p', 'e', 'a', 'k', 's',
	' ', 'v', 'e', 'r', 's', 'i', 'o', 'n',
	' ', '1', ' ', 'o', 'n', 'l', 'y', 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	'n', 'o',
};

static const struct rnotify_wire_msg credit = {
	.type = RNOTIFY_WIRE_CREDIT,
	.credit = { .data = 96, .ctrl = 24, .regions = 0x0102030405060708 },
};

static const u8 credit_bytes[] = {
	0x01, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00,
	0x60, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
};

/* rkeys 0x00000101, 0x00000202, 0x89abcdef as little-endian integers */
static const u8 keys[] __attribute__((aligned(4))) = {
	0x01, 0x01, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0xef, 0xcd, 0xab, 0x89,
};

static const struct rnotify_wire_msg region = {
	.type = RNOTIFY_WIRE_REGION,
	.region = {
		.share_id = 7,
		.rights = RNOTIFY_RIGHT_WRITE | RNOTIFY_RIGHT_READ,
		.length = 0x401000,
		.tag = 0xcafe,
		.first_offset = 0x800,
		.chunk_shift = 21,
		.nr_keys = 3,
		.first_key = 0,
		.keys_here = 3,
		.keys = (const void *)keys,
	},
};

static const u8 region_bytes[] = {
	0x02, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x00,
	0x07, 0x00, 0x00, 0x00,				/* share_id */
	0x03, 0x00, 0x00, 0x00,				/* rights */
	0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,	/* length */
	0xfe, 0xca, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,	/* tag */
	0x00, 0x08, 0x00, 0x00,				/* first_offset */
	0x15,						/* chunk_shift */
	0x00, 0x00, 0x00,
	0x03, 0x00,					/* nr_keys */
	0x00, 0x00,					/* first_key */
	0x03, 0x00,					/* keys_here */
	0x00, 0x00,
	0x01, 0x01, 0x00, 0x00,				/* keys[0] */
	0x02, 0x02, 0x00, 0x00,				/* keys[1] */
	0xef, 0xcd, 0xab, 0x89,				/* keys[2] */
};

static const struct rnotify_wire_msg gone = {
	.type = RNOTIFY_WIRE_REGION_GONE,
	.gone = { .share_id = 7 },
};

static const u8 gone_bytes[] = {
	0x03, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const struct rnotify_wire_msg gone_ack = {
	.type = RNOTIFY_WIRE_REGION_GONE_ACK,
	.gone = { .share_id = 7 },
};

static const u8 gone_ack_bytes[] = {
	0x04, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const struct rnotify_wire_msg goodbye = {
	.type = RNOTIFY_WIRE_GOODBYE,
	.goodbye = { .reason = RNOTIFY_REASON_PROTOCOL, .error = -71 },
};

static const u8 goodbye_bytes[] = {
	0x05, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x08, 0x00, 0x00, 0x00, 0xb9, 0xff, 0xff, 0xff,
};

static const struct rnotify_wire_msg message = {
	.type = RNOTIFY_WIRE_MESSAGE,
	.message = { .payload = "ping!", .len = 5 },
};

static const u8 message_bytes[] = {
	0x06, 0x00, 0x00, 0x00, 0x0d, 0x00, 0x00, 0x00,
	'p', 'i', 'n', 'g', '!',
};

#define VECTOR(kind, name) \
	{ #name, VECTOR_##kind, &name, name##_bytes, sizeof(name##_bytes) }

const struct vector vectors[] = {
	VECTOR(HELLO, hello),
	VECTOR(REJECT, reject),
	VECTOR(MSG, credit),
	VECTOR(MSG, region),
	VECTOR(MSG, gone),
	VECTOR(MSG, gone_ack),
	VECTOR(MSG, goodbye),
	VECTOR(MSG, message),
};

const size_t nr_vectors = sizeof(vectors) / sizeof(vectors[0]);
