/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - wire codec: between host structs and the bytes that peers see.
 *
 * Three things cross the wire besides user data: the private data of a CM
 * request and its reply ("hello"), that of a CM reject, and messages in SENDs.
 * All integers are little-endian and of fixed width. The layouts stand in
 * hello.c (private data) and wire.c (messages); what they mean, and who may
 * send what when, in Documentation/wire-protocol.rst.
 *
 * Decoders take any bytes of any length. What they accept is canonical:
 * encoding the result gives the same bytes (but for the text of a reject, which
 * is made printable). They check each message alone; what depends on the state
 * of the connection is the caller's.
 */
#ifndef _RNOTIFY_WIRE_H
#define _RNOTIFY_WIRE_H

#include <linux/rnotify.h>

#include "pure.h"

#define RNOTIFY_WIRE_MAGIC	0x46544e52u	/* "RNTF", as bytes in order */
#define RNOTIFY_WIRE_VERSION	1

/* Bytes of the largest control message; every receive has room for it. */
#define RNOTIFY_WIRE_CTRL_MAX	256
/* Bytes before the payload of a MESSAGE; and before all else. */
#define RNOTIFY_WIRE_HDR_LEN	8
/* Bytes of a REGION before its keys. */
#define RNOTIFY_WIRE_REGION_LEN	48
/* Bytes of a NOTIFY with one record, and of each further record. */
#define RNOTIFY_WIRE_NOTIFY_LEN	16
#define RNOTIFY_WIRE_RECORD_LEN	8
/* Records of the longest NOTIFY: what fits a control message. */
#define RNOTIFY_WIRE_RECORDS_MAX 31u

/*
 * Private data. rdma_cm leaves 56 bytes of a REQ to us (IBTA 12.7.1: 92, less
 * the 36 of its own header), 148 of a REJ.
 */
#define RNOTIFY_WIRE_HELLO_LEN	28	/* bytes before the user's */
#define RNOTIFY_WIRE_HELLO_MAX	56
#define RNOTIFY_WIRE_REJECT_LEN	64
#define RNOTIFY_WIRE_REJECT_MAX	92
#define RNOTIFY_WIRE_TEXT_MAX	48

#define RNOTIFY_WIRE_MSG_UNIT	64	/* bytes, of hello.msg_size */
#define RNOTIFY_WIRE_ALIVE_UNIT	10	/* ms, of hello.keepalive_ms */

#define RNOTIFY_WIRE_MAX_ERRNO	4095	/* MAX_ERRNO of the kernel */

/* rnotify_hello.features: who says so takes a NOTIFY with several records. */
#define RNOTIFY_WIRE_FEATURE_RECORDS	0x1u

/* All bits of enum rnotify_rights. */
#define RNOTIFY_WIRE_RIGHTS	((u32)(RNOTIFY_RIGHT_WRITE | \
				       RNOTIFY_RIGHT_READ | \
				       RNOTIFY_RIGHT_ATOMIC))

/**
 * enum rnotify_wire_type - rnotify_wire_msg.type
 * @RNOTIFY_WIRE_CREDIT: new totals; takes no credit
 * @RNOTIFY_WIRE_REGION: a share, or a part of its keys; takes a control credit,
 *	and the share a region credit
 * @RNOTIFY_WIRE_REGION_GONE: please stop using a share; takes a control credit
 * @RNOTIFY_WIRE_REGION_GONE_ACK: stopped; takes a control credit
 * @RNOTIFY_WIRE_GOODBYE: the last message; takes no credit
 * @RNOTIFY_WIRE_MESSAGE: the user's bytes; takes a data credit
 * @RNOTIFY_WIRE_NOTIFY: notifications without a WRITE_WITH_IMM of their own: of
 *	a write that took several work requests, where the completion of the last
 *	would tell its own length only; and of small ones that share a packet.
 *	Takes a data credit for each record
 */
enum rnotify_wire_type {
	RNOTIFY_WIRE_CREDIT = 1,
	RNOTIFY_WIRE_REGION = 2,
	RNOTIFY_WIRE_REGION_GONE = 3,
	RNOTIFY_WIRE_REGION_GONE_ACK = 4,
	RNOTIFY_WIRE_GOODBYE = 5,
	RNOTIFY_WIRE_MESSAGE = 6,
	RNOTIFY_WIRE_NOTIFY = 7,
};

/**
 * struct rnotify_hello - private data of a CM request and its reply
 * @version_min: oldest protocol version spoken, at least 1
 * @version_max: newest one
 * @region_slots: shares of the peer that can be alive at once: initial region
 *	credit of the peer
 * @ctrl_credits: initial control credit of the peer, at least 1
 * @features: RNOTIFY_WIRE_FEATURE_ bits: what the sender of the hello can take
 * @data_credits: initial data credit of the peer, 1 to 65535
 * @msg_size: bytes of the largest MESSAGE payload taken, a multiple of 64, at
 *	most RNOTIFY_MSG_SIZE_MAX; 0: none
 * @keepalive_ms: the sender declares a silent peer dead after this time; on
 *	the wire in units of 10 ms, rounded up, at most 655350; 0: never
 * @session_id: of the session to resume; 0: none
 * @private_len: bytes of @private_data
 * @private_data: the user's, zero beyond @private_len
 */
struct rnotify_hello {
	u8 version_min;
	u8 version_max;
	u8 region_slots;
	u8 ctrl_credits;
	u32 features;
	u32 data_credits;
	u32 msg_size;
	u32 keepalive_ms;
	u64 session_id;
	u32 private_len;
	u8 private_data[RNOTIFY_PRIVATE_DATA_MAX];
};

/**
 * struct rnotify_reject_data - private data of a CM reject
 * @version_min: oldest protocol version spoken
 * @version_max: newest one
 * @reason: &enum rnotify_reason
 * @error: negative errno that fits best, or 0
 * @text: why, for people: printable ASCII, NUL-terminated
 * @private_len: bytes of @private_data
 * @private_data: the user's, zero beyond @private_len
 */
struct rnotify_reject_data {
	u8 version_min;
	u8 version_max;
	u16 reason;
	s32 error;
	char text[RNOTIFY_WIRE_TEXT_MAX + 1];
	u32 private_len;
	u8 private_data[RNOTIFY_PRIVATE_DATA_MAX];
};

/**
 * struct rnotify_wire_credit - CREDIT: cumulative totals of the three kinds
 * @data: for WRITE_WITH_IMM, MESSAGE and NOTIFY
 * @ctrl: for REGION, REGION_GONE and REGION_GONE_ACK
 * @regions: for shares announced
 */
struct rnotify_wire_credit {
	u64 data;
	u64 ctrl;
	u64 regions;
};

/**
 * struct rnotify_wire_region - REGION: a share, and some of its keys
 * @share_id: the owner's id, not 0
 * @rights: &enum rnotify_rights, not 0
 * @length: bytes, not 0
 * @tag: the owner's mark, for the user
 * @first_offset: remote address of the share's byte 0, less than the chunk
 *	size
 * @chunk_shift: log2 of the chunk size, RNOTIFY_CHUNK_SHIFT_MIN to
 *	RNOTIFY_CHUNK_SHIFT_MAX
 * @nr_keys: keys of the whole share: rnotify_chunk_count()
 * @first_key: index of the first key in this message
 * @keys_here: keys in this message, 1 to rnotify_wire_region_keys_max()
 * @keys: those keys; when decoded, they are in the buffer that was decoded
 */
struct rnotify_wire_region {
	u32 share_id;
	u32 rights;
	u64 length;
	u64 tag;
	u32 first_offset;
	u8 chunk_shift;
	u16 nr_keys;
	u16 first_key;
	u16 keys_here;
	const __le32 *keys;
};

/**
 * struct rnotify_wire_gone - REGION_GONE and REGION_GONE_ACK
 * @share_id: of the REGION, not 0
 */
struct rnotify_wire_gone {
	u32 share_id;
};

/**
 * struct rnotify_wire_goodbye - GOODBYE
 * @reason: &enum rnotify_reason as the sender sees it, not 0; may be one that
 *	this version does not know
 * @error: negative errno (not below -4095), or 0
 */
struct rnotify_wire_goodbye {
	u16 reason;
	s32 error;
};

/**
 * struct rnotify_wire_payload - MESSAGE
 * @payload: the user's bytes; when decoded, in the buffer that was decoded
 * @len: bytes, 0 to RNOTIFY_MSG_SIZE_MAX
 */
struct rnotify_wire_payload {
	const void *payload;
	u32 len;
};

/**
 * struct rnotify_wire_record - one notification, as it stands in a NOTIFY
 * @imm: the user's immediate data
 * @byte_len: bytes of the whole write, 0 to RNOTIFY_OP_LEN_MAX
 */
struct rnotify_wire_record {
	__le32 imm;
	__le32 byte_len;
} __packed;

/**
 * struct rnotify_wire_notify - NOTIFY
 * @nr: records, 1 to RNOTIFY_WIRE_RECORDS_MAX; more than one only to a peer with
 *	RNOTIFY_WIRE_FEATURE_RECORDS
 * @records: these, in the order of the notifications; when decoded, they are in
 *	the buffer that was decoded
 */
struct rnotify_wire_notify {
	u32 nr;
	const struct rnotify_wire_record *records;
};

/**
 * struct rnotify_wire_msg - a message in a SEND
 * @type: &enum rnotify_wire_type
 * @length: all bytes, header and payload included; set by the decoder, ignored
 *	by the encoder
 * @credit: CREDIT
 * @region: REGION
 * @gone: REGION_GONE, REGION_GONE_ACK
 * @goodbye: GOODBYE
 * @message: MESSAGE
 * @notify: NOTIFY
 */
struct rnotify_wire_msg {
	u8 type;
	u32 length;
	union {
		struct rnotify_wire_credit credit;
		struct rnotify_wire_region region;
		struct rnotify_wire_gone gone;
		struct rnotify_wire_goodbye goodbye;
		struct rnotify_wire_payload message;
		struct rnotify_wire_notify notify;
	};
};

int rnotify_wire_put_hello(void *buf, size_t size,
			   const struct rnotify_hello *h);
int rnotify_wire_get_hello(struct rnotify_hello *h, const void *buf,
			   size_t len);
int rnotify_wire_put_reject(void *buf, size_t size,
			    const struct rnotify_reject_data *r);
int rnotify_wire_get_reject(struct rnotify_reject_data *r, const void *buf,
			    size_t len);
int rnotify_wire_put_msg(void *buf, size_t size,
			 const struct rnotify_wire_msg *m);
int rnotify_wire_get_msg(struct rnotify_wire_msg *m, const void *buf,
			 size_t len);
bool rnotify_wire_region_follows(const struct rnotify_wire_region *share,
				 u32 have, const struct rnotify_wire_region *r);

/**
 * rnotify_wire_error_ok - can this error be on the wire?
 * @error: host order
 *
 * Context: Any.
 * Return: true for 0 and negative errnos.
 */
static inline bool rnotify_wire_error_ok(s32 error)
{
	return error <= 0 && error >= -RNOTIFY_WIRE_MAX_ERRNO;
}

/**
 * rnotify_wire_notify_len - bytes of a NOTIFY
 * @nr: records in it
 *
 * Context: Any.
 * Return: bytes, header included.
 */
static inline u32 rnotify_wire_notify_len(u32 nr)
{
	return RNOTIFY_WIRE_HDR_LEN + nr * RNOTIFY_WIRE_RECORD_LEN;
}

/**
 * rnotify_wire_region_keys_max - keys that fit one REGION message
 *
 * Context: Any.
 * Return: number of keys.
 */
static inline u32 rnotify_wire_region_keys_max(void)
{
	return (RNOTIFY_WIRE_CTRL_MAX - RNOTIFY_WIRE_REGION_LEN) /
	       sizeof(__le32);
}

/**
 * rnotify_wire_region_msgs - REGION messages that a share takes
 * @nr_keys: keys of the share, 1 to 65535
 *
 * Context: Any.
 * Return: number of messages, which is the control credit needed.
 */
static inline u32 rnotify_wire_region_msgs(u32 nr_keys)
{
	return (nr_keys + rnotify_wire_region_keys_max() - 1) /
	       rnotify_wire_region_keys_max();
}

#endif /* _RNOTIFY_WIRE_H */
