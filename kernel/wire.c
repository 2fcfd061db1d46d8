// SPDX-License-Identifier: GPL-2.0
/*
 * rnotify - wire codec: messages, as they stand in SENDs.
 *
 * The layouts are packed structs, so buffers need no alignment (but for the
 * keys of a REGION, which stay where they are: 4 bytes). Decoders read the
 * input only behind a length check, and copy each field once; keys and records are
 * checked, and then used where they are: nobody writes there any more.
 */
#include "chunk.h"
#include "wire.h"

/* Layouts. Members named "reserved" are 0. */

struct wire_hdr {
	u8 type;
	u8 flags;		/* 0 */
	__le16 reserved;
	__le32 length;		/* bytes, this header included */
} __packed;

struct wire_credit {
	struct wire_hdr hdr;
	__le64 data;
	__le64 ctrl;
	__le64 regions;
} __packed;

struct wire_region {
	struct wire_hdr hdr;
	__le32 share_id;
	__le32 rights;
	__le64 length;
	__le64 tag;
	__le32 first_offset;
	u8 chunk_shift;
	u8 reserved;
	__le16 reserved2;
	__le16 nr_keys;
	__le16 first_key;
	__le16 keys_here;
	__le16 reserved3;
	__le32 keys[];
} __packed;

struct wire_gone {
	struct wire_hdr hdr;
	__le32 share_id;
	__le32 reserved;
} __packed;

struct wire_goodbye {
	struct wire_hdr hdr;
	__le16 reason;
	__le16 reserved;
	__le32 error;
} __packed;

struct wire_notify {
	struct wire_hdr hdr;
	u8 records[];
} __packed;

static_assert(sizeof(struct wire_hdr) == RNOTIFY_WIRE_HDR_LEN);
static_assert(sizeof(struct wire_region) == RNOTIFY_WIRE_REGION_LEN);
static_assert(sizeof(struct rnotify_wire_record) == RNOTIFY_WIRE_RECORD_LEN);
static_assert(RNOTIFY_WIRE_NOTIFY_LEN ==
	      RNOTIFY_WIRE_HDR_LEN + RNOTIFY_WIRE_RECORD_LEN);
static_assert(RNOTIFY_WIRE_HDR_LEN +
	      RNOTIFY_WIRE_RECORDS_MAX * RNOTIFY_WIRE_RECORD_LEN <=
	      RNOTIFY_WIRE_CTRL_MAX);

static bool wire_region_ok(const struct rnotify_wire_region *r)
{
	if (!r->share_id || !r->rights || r->rights & ~RNOTIFY_WIRE_RIGHTS)
		return false;
	if (r->chunk_shift < RNOTIFY_CHUNK_SHIFT_MIN ||
	    r->chunk_shift > RNOTIFY_CHUNK_SHIFT_MAX ||
	    r->first_offset >> r->chunk_shift)
		return false;
	if (!r->nr_keys || r->nr_keys != rnotify_chunk_count(r->first_offset,
							     r->length,
							     r->chunk_shift))
		return false;
	return r->keys_here && r->first_key + r->keys_here <= r->nr_keys &&
	       r->keys_here <= rnotify_wire_region_keys_max();
}

/**
 * rnotify_wire_region_follows - does this REGION continue that share?
 * @share: first REGION message of the share
 * @have: keys that came until now
 * @r: next message
 *
 * A share's messages come in the order of its keys, without gaps, and with the
 * same fixed part.
 *
 * Context: Any.
 * Return: true if it does; else the peer broke the protocol.
 */
bool rnotify_wire_region_follows(const struct rnotify_wire_region *share,
				 u32 have, const struct rnotify_wire_region *r)
{
	return r->first_key == have && r->share_id == share->share_id &&
	       r->rights == share->rights && r->length == share->length &&
	       r->tag == share->tag && r->nr_keys == share->nr_keys &&
	       r->first_offset == share->first_offset &&
	       r->chunk_shift == share->chunk_shift;
}

static u32 wire_put_credit(struct wire_credit *w,
			   const struct rnotify_wire_credit *c)
{
	w->data = cpu_to_le64(c->data);
	w->ctrl = cpu_to_le64(c->ctrl);
	w->regions = cpu_to_le64(c->regions);
	return sizeof(*w);
}

static u32 wire_put_region(struct wire_region *w,
			   const struct rnotify_wire_region *r)
{
	w->share_id = cpu_to_le32(r->share_id);
	w->rights = cpu_to_le32(r->rights);
	w->length = cpu_to_le64(r->length);
	w->tag = cpu_to_le64(r->tag);
	w->first_offset = cpu_to_le32(r->first_offset);
	w->chunk_shift = r->chunk_shift;
	w->reserved = 0;
	w->reserved2 = 0;
	w->nr_keys = cpu_to_le16(r->nr_keys);
	w->first_key = cpu_to_le16(r->first_key);
	w->keys_here = cpu_to_le16(r->keys_here);
	w->reserved3 = 0;
	memcpy((u8 *)w + sizeof(*w), r->keys, r->keys_here * sizeof(__le32));
	return (u32)(sizeof(*w) + r->keys_here * sizeof(__le32));
}

static u32 wire_put_gone(struct wire_gone *w,
			 const struct rnotify_wire_gone *g)
{
	w->share_id = cpu_to_le32(g->share_id);
	w->reserved = 0;
	return sizeof(*w);
}

static u32 wire_put_goodbye(struct wire_goodbye *w,
			    const struct rnotify_wire_goodbye *g)
{
	w->reason = cpu_to_le16(g->reason);
	w->reserved = 0;
	w->error = cpu_to_le32((u32)g->error);
	return sizeof(*w);
}

static u32 wire_put_notify(struct wire_notify *w,
			   const struct rnotify_wire_notify *n)
{
	memcpy(w->records, n->records, n->nr * sizeof(*n->records));
	return rnotify_wire_notify_len(n->nr);
}

static bool wire_notify_ok(const struct rnotify_wire_notify *n)
{
	u32 i;

	if (!n->nr || n->nr > RNOTIFY_WIRE_RECORDS_MAX)
		return false;
	for (i = 0; i < n->nr; i++) {
		if (le32_to_cpu(n->records[i].byte_len) > RNOTIFY_OP_LEN_MAX)
			return false;
	}
	return true;
}

/* Bytes that the encoder writes, or -EINVAL. */
static int wire_put_size(const struct rnotify_wire_msg *m)
{
	switch (m->type) {
	case RNOTIFY_WIRE_CREDIT:
		return sizeof(struct wire_credit);
	case RNOTIFY_WIRE_REGION:
		if (!wire_region_ok(&m->region))
			return -EINVAL;
		return (int)(sizeof(struct wire_region) +
			     m->region.keys_here * sizeof(__le32));
	case RNOTIFY_WIRE_REGION_GONE:
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		return m->gone.share_id ? (int)sizeof(struct wire_gone) :
					  -EINVAL;
	case RNOTIFY_WIRE_GOODBYE:
		if (!m->goodbye.reason ||
		    !rnotify_wire_error_ok(m->goodbye.error))
			return -EINVAL;
		return sizeof(struct wire_goodbye);
	case RNOTIFY_WIRE_MESSAGE:
		return m->message.len <= RNOTIFY_MSG_SIZE_MAX ?
		       RNOTIFY_WIRE_HDR_LEN : -EINVAL;
	case RNOTIFY_WIRE_NOTIFY:
		return wire_notify_ok(&m->notify) ?
		       (int)rnotify_wire_notify_len(m->notify.nr) : -EINVAL;
	default:
		return -EINVAL;
	}
}

/**
 * rnotify_wire_put_msg - encode a message
 * @buf: where to, any alignment
 * @size: bytes there; RNOTIFY_WIRE_CTRL_MAX are always enough
 * @m: what, host order (keys as they go out)
 *
 * For a MESSAGE only the header is written: the payload is sent from where it
 * is.
 *
 * Context: Any.
 * Return: bytes written; -EINVAL if @m is nothing that a peer accepts, -ENOSPC
 * if @size is too small.
 */
int rnotify_wire_put_msg(void *buf, size_t size,
			 const struct rnotify_wire_msg *m)
{
	struct wire_hdr *hdr = buf;
	int need = wire_put_size(m);
	u32 length = RNOTIFY_WIRE_HDR_LEN;

	if (need < 0)
		return need;
	if (size < (size_t)need)
		return -ENOSPC;

	switch (m->type) {
	case RNOTIFY_WIRE_CREDIT:
		length = wire_put_credit(buf, &m->credit);
		break;
	case RNOTIFY_WIRE_REGION:
		length = wire_put_region(buf, &m->region);
		break;
	case RNOTIFY_WIRE_REGION_GONE:
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		length = wire_put_gone(buf, &m->gone);
		break;
	case RNOTIFY_WIRE_GOODBYE:
		length = wire_put_goodbye(buf, &m->goodbye);
		break;
	case RNOTIFY_WIRE_MESSAGE:
		length += m->message.len;
		break;
	case RNOTIFY_WIRE_NOTIFY:
		length = wire_put_notify(buf, &m->notify);
		break;
	}
	hdr->type = m->type;
	hdr->flags = 0;
	hdr->reserved = 0;
	hdr->length = cpu_to_le32(length);
	return need;
}

static int wire_get_credit(struct rnotify_wire_credit *c,
			   const struct wire_credit *w, size_t len)
{
	if (len != sizeof(*w))
		return -EPROTO;
	c->data = le64_to_cpu(w->data);
	c->ctrl = le64_to_cpu(w->ctrl);
	c->regions = le64_to_cpu(w->regions);
	return 0;
}

static int wire_get_region(struct rnotify_wire_region *r,
			   const struct wire_region *w, size_t len)
{
	if (len < sizeof(*w) || w->reserved || w->reserved2 || w->reserved3)
		return -EPROTO;
	r->share_id = le32_to_cpu(w->share_id);
	r->rights = le32_to_cpu(w->rights);
	r->length = le64_to_cpu(w->length);
	r->tag = le64_to_cpu(w->tag);
	r->first_offset = le32_to_cpu(w->first_offset);
	r->chunk_shift = w->chunk_shift;
	r->nr_keys = le16_to_cpu(w->nr_keys);
	r->first_key = le16_to_cpu(w->first_key);
	r->keys_here = le16_to_cpu(w->keys_here);
	if (!wire_region_ok(r) ||
	    len != sizeof(*w) + r->keys_here * sizeof(__le32))
		return -EPROTO;
	r->keys = (const void *)((const u8 *)w + sizeof(*w));
	return 0;
}

static int wire_get_gone(struct rnotify_wire_gone *g, const struct wire_gone *w,
			 size_t len)
{
	if (len != sizeof(*w) || w->reserved)
		return -EPROTO;
	g->share_id = le32_to_cpu(w->share_id);
	return g->share_id ? 0 : -EPROTO;
}

static int wire_get_goodbye(struct rnotify_wire_goodbye *g,
			    const struct wire_goodbye *w, size_t len)
{
	if (len != sizeof(*w) || w->reserved)
		return -EPROTO;
	g->reason = le16_to_cpu(w->reason);
	g->error = (s32)le32_to_cpu(w->error);
	return g->reason && rnotify_wire_error_ok(g->error) ? 0 : -EPROTO;
}

static int wire_get_message(struct rnotify_wire_payload *p, const void *buf,
			    size_t len)
{
	if (len > RNOTIFY_WIRE_HDR_LEN + RNOTIFY_MSG_SIZE_MAX)
		return -EPROTO;
	p->payload = (const u8 *)buf + RNOTIFY_WIRE_HDR_LEN;
	p->len = (u32)len - RNOTIFY_WIRE_HDR_LEN;
	return 0;
}

static int wire_get_notify(struct rnotify_wire_notify *n,
			   const struct wire_notify *w, size_t len)
{
	/* The header is there, and len no longer than a receive. */
	n->nr = (u32)((len - sizeof(*w)) / sizeof(*n->records));
	n->records = (const void *)w->records;
	if (len != rnotify_wire_notify_len(n->nr))
		return -EPROTO;
	return wire_notify_ok(n) ? 0 : -EPROTO;
}

/**
 * rnotify_wire_get_msg - decode a message
 * @m: result, host order; valid as long as @buf; undefined after an error
 * @buf: bytes received, aligned to 4 bytes, or NULL
 * @len: how many were received
 *
 * The caller still has to check what depends on the connection: credit, the
 * own msg_size, share ids, the order of REGION messages.
 *
 * Context: Any.
 * Return: 0; -EPROTO if no honest peer sends such a message.
 */
int rnotify_wire_get_msg(struct rnotify_wire_msg *m, const void *buf,
			 size_t len)
{
	const struct wire_hdr *hdr = buf;

	memset(m, 0, sizeof(*m));
	if (!hdr || len < sizeof(*hdr))
		return -EPROTO;
	m->type = hdr->type;
	m->length = le32_to_cpu(hdr->length);
	if (hdr->flags || hdr->reserved || m->length != len)
		return -EPROTO;

	switch (m->type) {
	case RNOTIFY_WIRE_CREDIT:
		return wire_get_credit(&m->credit, buf, len);
	case RNOTIFY_WIRE_REGION:
		return wire_get_region(&m->region, buf, len);
	case RNOTIFY_WIRE_REGION_GONE:
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		return wire_get_gone(&m->gone, buf, len);
	case RNOTIFY_WIRE_GOODBYE:
		return wire_get_goodbye(&m->goodbye, buf, len);
	case RNOTIFY_WIRE_MESSAGE:
		return wire_get_message(&m->message, buf, len);
	case RNOTIFY_WIRE_NOTIFY:
		return wire_get_notify(&m->notify, buf, len);
	default:
		return -EPROTO;
	}
}
