// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Encoders, golden bytes and round trips. */
#include <stdlib.h>

#include "unit.h"
#include "wire_check.h"

void test_golden_encode(void)
{
	u8 buf[512];
	size_t i;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];
		int n;

		memset(buf, 0xa5, sizeof(buf));
		n = wire_encode(v->kind, buf, sizeof(buf), v->host);
		EXPECT_AT(n == (int)v->len, i);
		EXPECT_AT(!memcmp(buf, v->bytes, v->len), i);
		EXPECT_AT(buf[v->len] == 0xa5, i);
	}
}

void test_golden_decode(void)
{
	union {
		struct rnotify_hello hello;
		struct rnotify_reject_data reject;
		struct rnotify_wire_msg msg;
	} u;
	size_t i;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];
		int ret;

		memset(&u, 0xa5, sizeof(u));
		if (v->kind == VECTOR_HELLO)
			ret = rnotify_wire_get_hello(&u.hello, v->bytes,
						     v->len);
		else if (v->kind == VECTOR_REJECT)
			ret = rnotify_wire_get_reject(&u.reject, v->bytes,
						      v->len);
		else
			ret = rnotify_wire_get_msg(&u.msg, v->bytes, v->len);
		if (EXPECT_AT(!ret, i))
			EXPECT_AT(wire_same(v->kind, v->host, &u), i);
	}
}

static u32 any_private(u8 *to)
{
	u32 len = unit_below(29), i;

	for (i = 0; i < len; i++)
		to[i] = (u8)unit_random();
	return len;
}

void test_round_trip_hello(void)
{
	int round;

	for (round = 0; round < 20000; round++) {
		struct rnotify_hello h = { 0 }, back;
		u8 buf[56];
		int n;

		h.version_min = 1;
		h.version_max = (u8)(1 + unit_below(255));
		h.region_slots = (u8)unit_random();
		h.ctrl_credits = (u8)(1 + unit_below(255));
		h.features = (u32)unit_random();
		h.data_credits = 1 + unit_below(65535);
		h.msg_size = 64 * unit_below(1025);
		h.keepalive_ms = 10 * unit_below(65536);
		h.session_id = unit_random();
		h.private_len = any_private(h.private_data);

		n = rnotify_wire_put_hello(buf, sizeof(buf), &h);
		EXPECT_AT(n == (int)(28 + h.private_len), round);
		memset(&back, 0xa5, sizeof(back));
		EXPECT_AT(!rnotify_wire_get_hello(&back, buf, (size_t)n),
			  round);
		EXPECT_AT(wire_same(VECTOR_HELLO, &h, &back), round);
	}
}

/* The unit of the keepalive is coarser than that of the host form. */
static void check_keepalive(u32 in, u32 out)
{
	struct rnotify_hello h = *(const struct rnotify_hello *)vectors[0].host;
	u8 buf[56];
	int n;

	h.keepalive_ms = in;
	n = rnotify_wire_put_hello(buf, sizeof(buf), &h);
	EXPECT_AT(!rnotify_wire_get_hello(&h, buf, (size_t)n), in);
	EXPECT_AT(h.keepalive_ms == out, in);
}

void test_round_trip_reject(void)
{
	int round, i;

	for (round = 0; round < 20000; round++) {
		struct rnotify_reject_data r = { 0 }, back;
		u8 buf[92];
		int n, len = (int)unit_below(49);

		r.version_max = (u8)(1 + unit_below(255));
		r.version_min = (u8)(1 + unit_below(r.version_max));
		r.reason = (u16)(1 + unit_below(65535));
		r.error = -(s32)unit_below(4096);
		for (i = 0; i < len; i++)
			r.text[i] = (char)(' ' + unit_below(95));
		r.private_len = any_private(r.private_data);

		n = rnotify_wire_put_reject(buf, sizeof(buf), &r);
		EXPECT_AT(n == (int)(64 + r.private_len), round);
		memset(&back, 0xa5, sizeof(back));
		EXPECT_AT(!rnotify_wire_get_reject(&back, buf, (size_t)n),
			  round);
		EXPECT_AT(wire_same(VECTOR_REJECT, &r, &back), round);
	}
	check_keepalive(0, 0);
	check_keepalive(1, 10);
	check_keepalive(1000, 1000);
	check_keepalive(1001, 1010);
	check_keepalive(655350, 655350);
	check_keepalive(655351, 655350);
	check_keepalive(U32_MAX, 655350);
}

static void any_region(struct rnotify_wire_region *r, __le32 *keys)
{
	u64 chunks, size;
	u32 room, i;

	r->share_id = 1 + unit_below(U32_MAX);
	r->rights = 1 + unit_below(7);
	r->tag = unit_random();
	r->chunk_shift = (u8)(12 + unit_below(19));
	size = (u64)1 << r->chunk_shift;
	r->first_offset = unit_below((u32)size);
	chunks = 1 + unit_below(unit_below(2) ? 4 : 65535);
	/* Between the first and the last byte of the last chunk. */
	r->length = (chunks - 1) * size + 1 + unit_below((u32)size);
	if (r->length > r->first_offset)
		r->length -= r->first_offset;
	else
		r->length = 1;
	r->nr_keys = (u16)((r->first_offset + r->length - 1) / size + 1);
	r->first_key = (u16)unit_below(r->nr_keys);
	room = (u32)(r->nr_keys - r->first_key);
	r->keys_here = (u16)(1 + unit_below(room < 52 ? room : 52));
	for (i = 0; i < 52; i++)
		keys[i] = cpu_to_le32((u32)unit_random());
	r->keys = keys;
}

static void any_notify(struct rnotify_wire_notify *n,
		       struct rnotify_wire_record *records)
{
	u32 i;

	n->nr = 1 + unit_below(31);
	for (i = 0; i < n->nr; i++) {
		records[i].imm = cpu_to_le32((u32)unit_random());
		records[i].byte_len = cpu_to_le32(unit_below((1u << 30) + 1));
	}
	n->records = records;
}

static void any_msg(struct rnotify_wire_msg *m, __le32 *keys,
		    struct rnotify_wire_record *records, const u8 *payload)
{
	memset(m, 0, sizeof(*m));
	m->type = (u8)(1 + unit_below(7));
	switch (m->type) {
	case RNOTIFY_WIRE_CREDIT:
		m->credit.data = unit_random();
		m->credit.ctrl = unit_random();
		m->credit.regions = unit_random();
		break;
	case RNOTIFY_WIRE_REGION:
		any_region(&m->region, keys);
		break;
	case RNOTIFY_WIRE_REGION_GONE:
	case RNOTIFY_WIRE_REGION_GONE_ACK:
		m->gone.share_id = 1 + unit_below(U32_MAX);
		break;
	case RNOTIFY_WIRE_GOODBYE:
		m->goodbye.reason = (u16)(1 + unit_below(65535));
		m->goodbye.error = -(s32)unit_below(4096);
		break;
	case RNOTIFY_WIRE_MESSAGE:
		m->message.payload = payload;
		m->message.len = unit_below(unit_below(8) ? 64 : 65537);
		break;
	case RNOTIFY_WIRE_NOTIFY:
		any_notify(&m->notify, records);
		break;
	}
}

void test_round_trip_msg(void)
{
	static u8 payload[65536], buf[65544] __attribute__((aligned(4)));
	struct rnotify_wire_record records[31];
	__le32 keys[52];
	size_t i;
	int round;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (u8)unit_random();
	for (round = 0; round < 50000; round++) {
		struct rnotify_wire_msg m, back;
		int n;

		any_msg(&m, keys, records, payload);
		n = wire_encode(VECTOR_MSG, buf, sizeof(buf), &m);
		if (!EXPECT_AT(n > 0, round))
			continue;
		EXPECT_AT(m.type == RNOTIFY_WIRE_MESSAGE || n <= 256, round);
		memset(&back, 0xa5, sizeof(back));
		EXPECT_AT(!rnotify_wire_get_msg(&back, buf, (size_t)n), round);
		EXPECT_AT(back.length == (u32)n, round);
		EXPECT_AT(wire_same(VECTOR_MSG, &m, &back), round);
	}
}

/* Set one member of a vector's host form to a value that has no encoding. */
#define REFUSED(type, kind, vec, member, value) do {			\
	type copy_ = *(const type *)vectors[vec].host;			\
	u8 buf_[512];							\
									\
	copy_.member = value;						\
	EXPECT_AT(wire_encode(kind, buf_, sizeof(buf_), &copy_) ==	\
		  -EINVAL, vec);					\
} while (0)
#define HELLO_REFUSED(member, value) \
	REFUSED(struct rnotify_hello, VECTOR_HELLO, 0, member, value)
#define REJECT_REFUSED(member, value) \
	REFUSED(struct rnotify_reject_data, VECTOR_REJECT, 1, member, value)
static const struct rnotify_wire_record *with_length(u32 byte_len)
{
	static struct rnotify_wire_record record;

	record.byte_len = cpu_to_le32(byte_len);
	return &record;
}

#define MSG_REFUSED(vec, member, value) \
	REFUSED(struct rnotify_wire_msg, VECTOR_MSG, vec, member, value)

void test_put_refuses(void)
{
	HELLO_REFUSED(version_min, 0);
	HELLO_REFUSED(version_min, 2);
	HELLO_REFUSED(version_max, 0);
	HELLO_REFUSED(ctrl_credits, 0);
	HELLO_REFUSED(data_credits, 0);
	HELLO_REFUSED(data_credits, 65536);
	HELLO_REFUSED(data_credits, U32_MAX);
	HELLO_REFUSED(msg_size, 100);
	HELLO_REFUSED(msg_size, 65536 + 64);
	HELLO_REFUSED(private_len, 29);
	HELLO_REFUSED(private_len, U32_MAX);

	REJECT_REFUSED(version_min, 0);
	REJECT_REFUSED(version_min, 2);
	REJECT_REFUSED(reason, 0);
	REJECT_REFUSED(error, 1);
	REJECT_REFUSED(error, -4096);
	REJECT_REFUSED(private_len, 29);
	REJECT_REFUSED(private_len, U32_MAX);

	MSG_REFUSED(2, type, 0);
	MSG_REFUSED(2, type, 8);
	MSG_REFUSED(2, type, 255);
	MSG_REFUSED(3, region.share_id, 0);
	MSG_REFUSED(3, region.rights, 0);
	MSG_REFUSED(3, region.rights, 8);
	MSG_REFUSED(3, region.length, 0);
	MSG_REFUSED(3, region.length, U64_MAX);
	MSG_REFUSED(3, region.first_offset, 1u << 21);
	MSG_REFUSED(3, region.chunk_shift, 11);
	MSG_REFUSED(3, region.chunk_shift, 20);
	MSG_REFUSED(3, region.chunk_shift, 31);
	MSG_REFUSED(3, region.nr_keys, 0);
	MSG_REFUSED(3, region.nr_keys, 4);
	MSG_REFUSED(3, region.first_key, 1);
	MSG_REFUSED(3, region.first_key, 65535);
	MSG_REFUSED(3, region.keys_here, 0);
	MSG_REFUSED(3, region.keys_here, 4);
	MSG_REFUSED(4, gone.share_id, 0);
	MSG_REFUSED(5, gone.share_id, 0);
	MSG_REFUSED(6, goodbye.reason, 0);
	MSG_REFUSED(6, goodbye.error, 1);
	MSG_REFUSED(6, goodbye.error, -4096);
	MSG_REFUSED(7, message.len, 65537);
	MSG_REFUSED(7, message.len, U32_MAX);
	MSG_REFUSED(8, notify.records, with_length((1u << 30) + 1));
	MSG_REFUSED(8, notify.records, with_length(U32_MAX));
	MSG_REFUSED(8, notify.nr, 0);
	MSG_REFUSED(9, notify.nr, RNOTIFY_WIRE_RECORDS_MAX + 1);
	MSG_REFUSED(9, notify.nr, U32_MAX);
}

/* No byte behind the end, and none at all when it does not fit. */
void test_put_no_space(void)
{
	size_t i, size;

	for (i = 0; i < nr_vectors; i++) {
		const struct vector *v = &vectors[i];

		for (size = 0; size <= v->len; size++) {
			u8 *buf = malloc(size ? size : 1);

			EXPECT_AT(wire_encode(v->kind, buf, size, v->host) ==
				  (size < v->len ? -ENOSPC : (int)v->len),
				  i * 1000 + size);
			free(buf);
		}
	}
}

/* MESSAGE is the only one that is larger than a control message. */
void test_message_limits(void)
{
	static u8 buf[8 + 65537] __attribute__((aligned(4)));
	struct rnotify_wire_msg m = { .type = RNOTIFY_WIRE_MESSAGE }, back;

	m.message.len = 65536;
	EXPECT(rnotify_wire_put_msg(buf, 8, &m) == 8);
	EXPECT(!rnotify_wire_get_msg(&back, buf, 8 + 65536));
	EXPECT(back.message.len == 65536);
	EXPECT(back.message.payload == buf + 8);

	buf[4] = 9;	/* 65537 bytes of payload: 0x10009 in all */
	EXPECT(rnotify_wire_get_msg(&back, buf, 8 + 65537) == -EPROTO);

	m.message.len = 0;
	EXPECT(rnotify_wire_put_msg(buf, 8, &m) == 8);
	EXPECT(!rnotify_wire_get_msg(&back, buf, 8));
	EXPECT(!back.message.len);
}
