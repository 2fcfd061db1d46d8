// SPDX-License-Identifier: GPL-2.0
/*
 * rnotify - wire codec: hello and reject, the private data of the CM.
 *
 * The layouts are packed structs, so buffers need no alignment. Decoders read
 * the input only behind a length check, and copy each field once.
 */
#include "wire.h"

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

static_assert(sizeof(struct wire_hello) == RNOTIFY_WIRE_HELLO_LEN);
static_assert(sizeof(struct wire_reject) == RNOTIFY_WIRE_REJECT_LEN);
static_assert(RNOTIFY_WIRE_HELLO_LEN + RNOTIFY_PRIVATE_DATA_MAX ==
	      RNOTIFY_WIRE_HELLO_MAX);
static_assert(RNOTIFY_WIRE_REJECT_LEN + RNOTIFY_PRIVATE_DATA_MAX ==
	      RNOTIFY_WIRE_REJECT_MAX);

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
	    !rnotify_wire_error_ok(r->error) ||
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
	    w->reserved || w->reserved2 ||
	    !rnotify_wire_error_ok(r->error))
		return -EPROTO;
	wire_get_text(r->text, w->text);
	if (wire_get_private(r->private_data, private_len, w->private_data,
			     len - sizeof(*w)))
		return -EMSGSIZE;
	r->private_len = private_len;
	return 0;
}
