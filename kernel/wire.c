// SPDX-License-Identifier: GPL-2.0
/*
 * rnotify - wire codec: between host structs and the bytes that peers see.
 *
 * The layouts are packed structs, so buffers need no alignment (but for the
 * keys of a REGION, which stay where they are: 4 bytes). Decoders read the
 * input only behind a length check, and copy each field once.
 */
#include "chunk.h"
#include "wire.h"

#define WIRE_MAX_ERRNO	4095	/* MAX_ERRNO of the kernel */

/* Layouts. Members named "reserved" are 0. */

struct wire_hello {
	__le32 magic;
	u8 version_min;
	u8 version_max;
	u8 private_len;
	u8 region_slots;
	__le32 features;
	__le16 data_credits;
	__le16 msg_size;	/* in RNOTIFY_WIRE_MSG_UNIT */
	__le16 keepalive;	/* in RNOTIFY_WIRE_ALIVE_UNIT */
	u8 ctrl_credits;
	u8 reserved;
	__le64 session_id;
	u8 private_data[];
} __packed;

/* All versions of the protocol share this one. */
struct wire_reject {
	__le32 magic;
	u8 version_min;
	u8 version_max;
	u8 private_len;
	u8 reserved;
	__le16 reason;
	__le16 reserved2;
	__le32 error;
	char text[RNOTIFY_WIRE_TEXT_MAX];	/* zero padded */
	u8 private_data[];
} __packed;

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
	u8 reserved[3];
	__le16 nr_keys;
	__le16 first_key;
	__le16 keys_here;
	__le16 reserved2;
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
	__le32 imm;
	__le32 byte_len;
} __packed;

static_assert(sizeof(struct wire_notify) == RNOTIFY_WIRE_NOTIFY_LEN);
static_assert(sizeof(struct wire_hello) == RNOTIFY_WIRE_HELLO_LEN);
static_assert(sizeof(struct wire_reject) == RNOTIFY_WIRE_REJECT_LEN);
static_assert(sizeof(struct wire_hdr) == RNOTIFY_WIRE_HDR_LEN);
static_assert(sizeof(struct wire_region) == RNOTIFY_WIRE_REGION_LEN);
static_assert(RNOTIFY_WIRE_HELLO_LEN + RNOTIFY_PRIVATE_DATA_MAX ==
	      RNOTIFY_WIRE_HELLO_MAX);
static_assert(RNOTIFY_WIRE_REJECT_LEN + RNOTIFY_PRIVATE_DATA_MAX ==
	      RNOTIFY_WIRE_REJECT_MAX);

static bool wire_error_ok(s32 error)
{
	return error <= 0 && error >= -WIRE_MAX_ERRNO;
}

static bool wire_is_zero(const u8 *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

/*
 * User private data at the end of a CM frame. The CM tells us the longest that
 * the frame can be, and pads with zeroes: so what is behind the user's bytes
 * must be zero as far as we would ever write.
 */
static int wire_get_private(u8 *to, u32 private_len, const u8 *from,
			    size_t room)
{
	room = min_t(size_t, room, RNOTIFY_PRIVATE_DATA_MAX);
	if (private_len > room)
		return -EMSGSIZE;
	if (!wire_is_zero(from + private_len, room - private_len))
		return -EMSGSIZE;
	memcpy(to, from, private_len);
	return 0;
}

/**
 * rnotify_wire_put_hello - encode the private data of a CM request or reply
 * @buf: where to, any alignment
 * @size: bytes there; RNOTIFY_WIRE_HELLO_MAX are always enough
 * @h: what, host order
 *
 * A keepalive_ms between units is rounded up, one beyond the largest becomes
 * the largest.
 *
 * Context: Any.
 * Return: bytes written; -EINVAL if @h can't be expressed, -ENOSPC if @size is
 * too small.
 */
int rnotify_wire_put_hello(void *buf, size_t size,
			   const struct rnotify_hello *h)
{
	struct wire_hello *w = buf;
	u32 alive = h->keepalive_ms / RNOTIFY_WIRE_ALIVE_UNIT +
		    !!(h->keepalive_ms % RNOTIFY_WIRE_ALIVE_UNIT);

	if (!h->version_min || h->version_min > h->version_max ||
	    !h->ctrl_credits || !h->data_credits ||
	    h->data_credits > U16_MAX || h->msg_size > RNOTIFY_MSG_SIZE_MAX ||
	    h->msg_size % RNOTIFY_WIRE_MSG_UNIT ||
	    h->private_len > RNOTIFY_PRIVATE_DATA_MAX)
		return -EINVAL;
	if (size < sizeof(*w) + h->private_len)
		return -ENOSPC;

	w->magic = cpu_to_le32(RNOTIFY_WIRE_MAGIC);
	w->version_min = h->version_min;
	w->version_max = h->version_max;
	w->private_len = (u8)h->private_len;
	w->region_slots = h->region_slots;
	w->features = cpu_to_le32(h->features);
	w->data_credits = cpu_to_le16((u16)h->data_credits);
	w->msg_size = cpu_to_le16((u16)(h->msg_size / RNOTIFY_WIRE_MSG_UNIT));
	w->keepalive = cpu_to_le16((u16)min_t(u32, alive, U16_MAX));
	w->ctrl_credits = h->ctrl_credits;
	w->reserved = 0;
	w->session_id = cpu_to_le64(h->session_id);
	memcpy(w->private_data, h->private_data, h->private_len);
	return (int)(sizeof(*w) + h->private_len);
}

/**
 * rnotify_wire_get_hello - decode the private data of a CM request or reply
 * @h: result; all of it is written, also on errors
 * @buf: private data, any alignment, or NULL
 * @len: bytes there, as the CM tells: it may be more than was sent
 *
 * Context: Any.
 * Return: 0;
 * -EPROTO if it is not a hello, or has impossible values;
 * -EPROTONOSUPPORT if there is no common version: only the two versions in @h
 * are valid then;
 * -EMSGSIZE if private_len is not the length of the user's private data.
 */
int rnotify_wire_get_hello(struct rnotify_hello *h, const void *buf,
			   size_t len)
{
	const struct wire_hello *w = buf;
	u32 private_len;

	memset(h, 0, sizeof(*h));
	if (!w || len < sizeof(*w) ||
	    le32_to_cpu(w->magic) != RNOTIFY_WIRE_MAGIC)
		return -EPROTO;

	h->version_min = w->version_min;
	h->version_max = w->version_max;
	if (!h->version_min || h->version_min > h->version_max)
		return -EPROTO;
	if (h->version_min > RNOTIFY_WIRE_VERSION ||
	    h->version_max < RNOTIFY_WIRE_VERSION)
		return -EPROTONOSUPPORT;

	private_len = w->private_len;
	h->region_slots = w->region_slots;
	h->ctrl_credits = w->ctrl_credits;
	h->features = le32_to_cpu(w->features);
	h->data_credits = le16_to_cpu(w->data_credits);
	h->msg_size = le16_to_cpu(w->msg_size) * RNOTIFY_WIRE_MSG_UNIT;
	h->keepalive_ms = le16_to_cpu(w->keepalive) * RNOTIFY_WIRE_ALIVE_UNIT;
	h->session_id = le64_to_cpu(w->session_id);
	if (!h->ctrl_credits || !h->data_credits || w->reserved ||
	    h->msg_size > RNOTIFY_MSG_SIZE_MAX)
		return -EPROTO;
	if (wire_get_private(h->private_data, private_len, w->private_data,
			     len - sizeof(*w)))
		return -EMSGSIZE;
	h->private_len = private_len;
	return 0;
}

/**
 * rnotify_wire_put_reject - encode the private data of a CM reject
 * @buf: where to, any alignment
 * @size: bytes there; RNOTIFY_WIRE_REJECT_MAX are always enough
 * @r: what, host order
 *
 * Context: Any.
 * Return: bytes written; -EINVAL if @r can't be expressed, -ENOSPC if @size is
 * too small.
 */
int rnotify_wire_put_reject(void *buf, size_t size,
			    const struct rnotify_reject_data *r)
{
	struct wire_reject *w = buf;

	if (!r->version_min || r->version_min > r->version_max || !r->reason ||
	    !wire_error_ok(r->error) ||
	    r->private_len > RNOTIFY_PRIVATE_DATA_MAX)
		return -EINVAL;
	if (size < sizeof(*w) + r->private_len)
		return -ENOSPC;

	w->magic = cpu_to_le32(RNOTIFY_WIRE_MAGIC);
	w->version_min = r->version_min;
	w->version_max = r->version_max;
	w->private_len = (u8)r->private_len;
	w->reserved = 0;
	w->reason = cpu_to_le16(r->reason);
	w->reserved2 = 0;
	w->error = cpu_to_le32((u32)r->error);
	memset(w->text, 0, sizeof(w->text));
	memcpy(w->text, r->text, strnlen(r->text, sizeof(w->text)));
	memcpy(w->private_data, r->private_data, r->private_len);
	return (int)(sizeof(*w) + r->private_len);
}

/* The text of a stranger ends up in logs and on terminals. */
static void wire_get_text(char *to, const char *from)
{
	size_t i;

	for (i = 0; i < RNOTIFY_WIRE_TEXT_MAX && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = 0;
}

/**
 * rnotify_wire_get_reject - decode the private data of a CM reject
 * @r: result; all of it is written, also on errors
 * @buf: private data, any alignment, or NULL
 * @len: bytes there, as the CM tells: it may be more than was sent
 *
 * The versions are only reported: a reject has the same layout in all versions.
 *
 * Context: Any.
 * Return: 0; -EPROTO if it is not an rnotify reject (most are not: the CM
 * itself rejects where nobody listens) or has impossible values, -EMSGSIZE if
 * private_len is not the length of the user's private data.
 */
int rnotify_wire_get_reject(struct rnotify_reject_data *r, const void *buf,
			    size_t len)
{
	const struct wire_reject *w = buf;
	u32 private_len;

	memset(r, 0, sizeof(*r));
	if (!w || len < sizeof(*w) ||
	    le32_to_cpu(w->magic) != RNOTIFY_WIRE_MAGIC)
		return -EPROTO;

	private_len = w->private_len;
	r->version_min = w->version_min;
	r->version_max = w->version_max;
	r->reason = le16_to_cpu(w->reason);
	r->error = (s32)le32_to_cpu(w->error);
	if (!r->version_min || r->version_min > r->version_max || !r->reason ||
	    w->reserved || w->reserved2 || !wire_error_ok(r->error))
		return -EPROTO;
	wire_get_text(r->text, w->text);
	if (wire_get_private(r->private_data, private_len, w->private_data,
			     len - sizeof(*w)))
		return -EMSGSIZE;
	r->private_len = private_len;
	return 0;
}

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
	memset(w->reserved, 0, sizeof(w->reserved));
	w->nr_keys = cpu_to_le16(r->nr_keys);
	w->first_key = cpu_to_le16(r->first_key);
	w->keys_here = cpu_to_le16(r->keys_here);
	w->reserved2 = 0;
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
	w->imm = cpu_to_le32(n->imm);
	w->byte_len = cpu_to_le32(n->byte_len);
	return sizeof(*w);
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
		if (!m->goodbye.reason || !wire_error_ok(m->goodbye.error))
			return -EINVAL;
		return sizeof(struct wire_goodbye);
	case RNOTIFY_WIRE_MESSAGE:
		return m->message.len <= RNOTIFY_MSG_SIZE_MAX ?
		       RNOTIFY_WIRE_HDR_LEN : -EINVAL;
	case RNOTIFY_WIRE_NOTIFY:
		return m->notify.byte_len <= RNOTIFY_OP_LEN_MAX ?
		       (int)sizeof(struct wire_notify) : -EINVAL;
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
	if (len < sizeof(*w) ||
	    !wire_is_zero(w->reserved, sizeof(w->reserved)) || w->reserved2)
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
	return g->reason && wire_error_ok(g->error) ? 0 : -EPROTO;
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
	if (len != sizeof(*w))
		return -EPROTO;
	n->imm = le32_to_cpu(w->imm);
	n->byte_len = le32_to_cpu(w->byte_len);
	return n->byte_len <= RNOTIFY_OP_LEN_MAX ? 0 : -EPROTO;
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
