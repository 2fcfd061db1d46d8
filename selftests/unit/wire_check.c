// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The oracle of the codec tests: written without the codec's own helpers. */
#include <stdio.h>

#include "wire_check.h"

/* Larger than any frame with a MESSAGE of the largest size. */
#define SCRATCH (66 * 1024)

int wire_encode(enum vector_kind kind, void *buf, size_t size,
		const void *host)
{
	const struct rnotify_wire_msg *m = host;
	int ret;

	if (kind == VECTOR_HELLO)
		return rnotify_wire_put_hello(buf, size, host);
	if (kind == VECTOR_REJECT)
		return rnotify_wire_put_reject(buf, size, host);
	ret = rnotify_wire_put_msg(buf, size, host);
	if (ret < 0 || m->type != RNOTIFY_WIRE_MESSAGE)
		return ret;
	if (size < (size_t)ret + m->message.len)
		return -ENOSPC;
	if (m->message.len)
		memcpy((u8 *)buf + ret, m->message.payload, m->message.len);
	return ret + (int)m->message.len;
}

static bool region_same(const struct rnotify_wire_region *a,
			const struct rnotify_wire_region *b)
{
	return a->share_id == b->share_id && a->rights == b->rights &&
	       a->length == b->length && a->tag == b->tag &&
	       a->first_offset == b->first_offset &&
	       a->chunk_shift == b->chunk_shift && a->nr_keys == b->nr_keys &&
	       a->first_key == b->first_key && a->keys_here == b->keys_here &&
	       !memcmp(a->keys, b->keys, a->keys_here * 4u);
}

static bool msg_same(const struct rnotify_wire_msg *a,
		     const struct rnotify_wire_msg *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case RNOTIFY_WIRE_CREDIT:
		return a->credit.data == b->credit.data &&
		       a->credit.ctrl == b->credit.ctrl &&
		       a->credit.regions == b->credit.regions;
	case RNOTIFY_WIRE_REGION:
		return region_same(&a->region, &b->region);
	case RNOTIFY_WIRE_REGION_GONE:
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		return a->gone.share_id == b->gone.share_id;
	case RNOTIFY_WIRE_GOODBYE:
		return a->goodbye.reason == b->goodbye.reason &&
		       a->goodbye.error == b->goodbye.error;
	case RNOTIFY_WIRE_MESSAGE:
		return a->message.len == b->message.len &&
		       (!a->message.len ||
			!memcmp(a->message.payload, b->message.payload,
				a->message.len));
	case RNOTIFY_WIRE_NOTIFY:
		return a->notify.nr == b->notify.nr &&
		       !memcmp(a->notify.records, b->notify.records,
			       a->notify.nr * sizeof(*a->notify.records));
	default:
		return false;
	}
}

bool wire_same(enum vector_kind kind, const void *a, const void *b)
{
	const struct rnotify_hello *h = a, *i = b;
	const struct rnotify_reject_data *r = a, *s = b;

	switch (kind) {
	case VECTOR_HELLO:
		return h->version_min == i->version_min &&
		       h->version_max == i->version_max &&
		       h->region_slots == i->region_slots &&
		       h->ctrl_credits == i->ctrl_credits &&
		       h->features == i->features &&
		       h->data_credits == i->data_credits &&
		       h->msg_size == i->msg_size &&
		       h->keepalive_ms == i->keepalive_ms &&
		       h->session_id == i->session_id &&
		       h->private_len == i->private_len &&
		       !memcmp(h->private_data, i->private_data, 28);
	case VECTOR_REJECT:
		return r->version_min == s->version_min &&
		       r->version_max == s->version_max &&
		       r->reason == s->reason && r->error == s->error &&
		       !strcmp(r->text, s->text) &&
		       r->private_len == s->private_len &&
		       !memcmp(r->private_data, s->private_data, 28);
	default:
		return msg_same(a, b);
	}
}

static const char *check_hello(const void *buf, size_t len, bool *accepted)
{
	struct rnotify_hello h;
	u8 again[64];
	int ret, n;

	memset(&h, 0xa5, sizeof(h));
	ret = rnotify_wire_get_hello(&h, buf, len);
	*accepted = !ret;
	if (ret == -EPROTO || ret == -EPROTONOSUPPORT || ret == -EMSGSIZE)
		return NULL;
	if (ret)
		return "undocumented error";
	if (h.version_min != 1 || !h.data_credits || h.data_credits > 65535 ||
	    !h.ctrl_credits || h.msg_size > 65536 || h.msg_size % 64 ||
	    h.keepalive_ms > 655350 || h.private_len > 28 ||
	    len < 28 + h.private_len)
		return "invalid hello accepted";
	n = rnotify_wire_put_hello(again, sizeof(again), &h);
	if (n != (int)(28 + h.private_len) || memcmp(again, buf, (size_t)n))
		return "hello does not encode to the same bytes";
	return NULL;
}

static const char *check_reject(const void *buf, size_t len, bool *accepted)
{
	struct rnotify_reject_data r;
	const char *text = (const char *)buf + 16;
	u8 again[92];
	int ret, n, i;

	memset(&r, 0xa5, sizeof(r));
	ret = rnotify_wire_get_reject(&r, buf, len);
	*accepted = !ret;
	if (ret == -EPROTO || ret == -EMSGSIZE)
		return NULL;
	if (ret)
		return "undocumented error";
	if (!r.reason || r.error > 0 || r.error < -4095 || r.private_len > 28 ||
	    len < 64 + r.private_len)
		return "invalid reject accepted";
	for (i = 0; i < 48 && text[i]; i++)
		if (r.text[i] != (text[i] < 32 || text[i] > 126 ? '?' : text[i]))
			return "text not as sent, and not made printable";
	if (r.text[i])
		return "text not terminated";
	n = rnotify_wire_put_reject(again, sizeof(again), &r);
	if (n != (int)(64 + r.private_len) || memcmp(again, buf, 16) ||
	    memcmp(again + 64, (const u8 *)buf + 64, r.private_len))
		return "reject does not encode to the same bytes";
	return NULL;
}

static const char *check_region(const struct rnotify_wire_region *r,
				const void *buf, size_t len)
{
	u64 size, last;

	if (!r->share_id || !r->rights || r->rights > 7)
		return "region: share_id or rights";
	if (r->chunk_shift < 12 || r->chunk_shift > 30)
		return "region: chunk_shift";
	size = (u64)1 << r->chunk_shift;
	if (r->first_offset >= size || !r->length || !r->nr_keys ||
	    r->length > 65535 * size)
		return "region: geometry";
	last = r->first_offset + r->length - 1;
	if (last / size + 1 != r->nr_keys)
		return "region: nr_keys";
	if (!r->keys_here || r->first_key + r->keys_here > r->nr_keys ||
	    len > 256 || len != 48 + r->keys_here * 4u)
		return "region: keys";
	if ((const u8 *)r->keys != (const u8 *)buf + 48)
		return "region: keys are not where they were";
	return NULL;
}

static u32 le32_at(const u8 *p)
{
	return p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static const char *check_notify(const struct rnotify_wire_notify *n,
				const u8 *buf, size_t len)
{
	u32 i;

	if (!n->nr || n->nr > 31 || len != 8 + 8 * n->nr)
		return "notify: length";
	if ((const u8 *)n->records != buf + 8)
		return "notify: records are not where they were";
	for (i = 0; i < n->nr; i++)
		if (le32_at(buf + 12 + 8 * i) > 0x40000000)
			return "notify: more bytes than an operation has";
	return NULL;
}

static const char *check_msg(const void *buf, size_t len, bool *accepted)
{
	static u8 again[SCRATCH];
	const char *wrong = NULL;
	struct rnotify_wire_msg m;
	int ret;

	memset(&m, 0xa5, sizeof(m));
	ret = rnotify_wire_get_msg(&m, buf, len);
	*accepted = !ret;
	if (ret)
		return ret == -EPROTO ? NULL : "undocumented error";
	if (m.length != len)
		return "length is not what was received";
	if (m.type == RNOTIFY_WIRE_REGION)
		wrong = check_region(&m.region, buf, len);
	if (m.type == RNOTIFY_WIRE_NOTIFY)
		wrong = check_notify(&m.notify, buf, len);
	if (m.type == RNOTIFY_WIRE_MESSAGE &&
	    (m.message.len != len - 8 || m.message.len > 65536 ||
	     m.message.payload != (const u8 *)buf + 8))
		wrong = "payload is not where it was";
	if (wrong)
		return wrong;
	ret = wire_encode(VECTOR_MSG, again, sizeof(again), &m);
	if (ret < 0 || (size_t)ret != len || memcmp(again, buf, len))
		return "message does not encode to the same bytes";
	return NULL;
}

const char *wire_check(enum vector_kind kind, const void *buf, size_t len,
		       bool *accepted)
{
	switch (kind) {
	case VECTOR_HELLO:
		return check_hello(buf, len, accepted);
	case VECTOR_REJECT:
		return check_reject(buf, len, accepted);
	default:
		return check_msg(buf, len, accepted);
	}
}
