// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that no honest peer sends: unknown types, wrong lengths, reserved
 * fields, immediate data where none belong.
 *
 * rvm: limit=90
 */
#include <endian.h>

#include "kselftest_harness.h"
#include "lie.h"

FIXTURE(message)
{
	struct lie l;
};

FIXTURE_VARIANT(message)
{
	unsigned char type;
	unsigned int len;	/* bytes sent */
	unsigned int says;	/* length field */
	unsigned int at;	/* offset of a field, if > 0 */
	__u32 value;		/* in it, 32 bits, little-endian */
	bool imm;
};

#define MESSAGE(name, ...) FIXTURE_VARIANT_ADD(message, name) { __VA_ARGS__ }

MESSAGE(nothing, 0, 0, 0);
MESSAGE(one_byte, RNOTIFY_WIRE_NOTIFY, 1, 1);
MESSAGE(seven_bytes, RNOTIFY_WIRE_MESSAGE, 7, 7);
MESSAGE(type_0, 0, 8, 8);
MESSAGE(type_8, 8, 8, 8);
MESSAGE(type_255, 255, 32, 32);
MESSAGE(says_less, RNOTIFY_WIRE_MESSAGE, 16, 15);
MESSAGE(says_more, RNOTIFY_WIRE_MESSAGE, 16, 17);
MESSAGE(says_0, RNOTIFY_WIRE_MESSAGE, 16, 0);
MESSAGE(says_4_gib, RNOTIFY_WIRE_MESSAGE, 16, ~0u);
MESSAGE(flags, RNOTIFY_WIRE_MESSAGE | 0, 16, 16, 1, 1);
MESSAGE(reserved, RNOTIFY_WIRE_MESSAGE | 0, 16, 16, 2, 0x100);

MESSAGE(credit_short, RNOTIFY_WIRE_CREDIT, 31, 31);
MESSAGE(credit_header_only, RNOTIFY_WIRE_CREDIT, 8, 8);
MESSAGE(credit_long, RNOTIFY_WIRE_CREDIT, 33, 33);
MESSAGE(credit_with_imm, RNOTIFY_WIRE_CREDIT, 32, 32, 0, 0, true);
MESSAGE(region_header_only, RNOTIFY_WIRE_REGION, 8, 8);
MESSAGE(region_all_zero, RNOTIFY_WIRE_REGION, 52, 52);
MESSAGE(gone_short, RNOTIFY_WIRE_REGION_GONE, 12, 12, 8, 1);
MESSAGE(gone_long, RNOTIFY_WIRE_REGION_GONE, 20, 20, 8, 1);
MESSAGE(gone_of_nothing, RNOTIFY_WIRE_REGION_GONE, 16, 16);
MESSAGE(gone_of_what_never_came, RNOTIFY_WIRE_REGION_GONE, 16, 16, 8, 77);
MESSAGE(gone_reserved, RNOTIFY_WIRE_REGION_GONE, 16, 16, 12, 1);
MESSAGE(gone_with_imm, RNOTIFY_WIRE_REGION_GONE, 16, 16, 8, 1, true);
MESSAGE(ack_of_nothing, RNOTIFY_WIRE_REGION_GONE_ACK, 16, 16);
MESSAGE(ack_short, RNOTIFY_WIRE_REGION_GONE_ACK, 15, 15, 8, 1);
MESSAGE(ack_reserved, RNOTIFY_WIRE_REGION_GONE_ACK, 16, 16, 12, 1 << 24);
MESSAGE(goodbye_short, RNOTIFY_WIRE_GOODBYE, 12, 12, 8, 1);
MESSAGE(goodbye_long, RNOTIFY_WIRE_GOODBYE, 17, 17, 8, 1);
MESSAGE(goodbye_reason_0, RNOTIFY_WIRE_GOODBYE, 16, 16);
MESSAGE(goodbye_reserved, RNOTIFY_WIRE_GOODBYE, 16, 16, 8, 0x10001);
MESSAGE(goodbye_with_imm, RNOTIFY_WIRE_GOODBYE, 16, 16, 8, 1, true);
MESSAGE(message_too_long, RNOTIFY_WIRE_MESSAGE, 1024 + 9, 1024 + 9);
MESSAGE(longer_than_a_receive, RNOTIFY_WIRE_MESSAGE, 4096, 4096);
MESSAGE(notify_short, RNOTIFY_WIRE_NOTIFY, 15, 15);
MESSAGE(notify_long, RNOTIFY_WIRE_NOTIFY, 17, 17);
MESSAGE(notify_2_gib, RNOTIFY_WIRE_NOTIFY, 16, 16, 12, 1u << 31);
MESSAGE(notify_one_too_many, RNOTIFY_WIRE_NOTIFY, 16, 16, 12, (1u << 30) + 1);
MESSAGE(notify_of_none, RNOTIFY_WIRE_NOTIFY, 8, 8);
MESSAGE(notify_half_a_record, RNOTIFY_WIRE_NOTIFY, 20, 20);
MESSAGE(notify_second_2_gib, RNOTIFY_WIRE_NOTIFY, 24, 24, 20, 1u << 31);
MESSAGE(notify_of_32, RNOTIFY_WIRE_NOTIFY, 264, 264);
MESSAGE(notify_of_127, RNOTIFY_WIRE_NOTIFY, 1024, 1024);
MESSAGE(notify_with_imm, RNOTIFY_WIRE_NOTIFY, 16, 16, 0, 0, true);

FIXTURE_SETUP(message)
{
	lie_open(&self->l);
	lie_connect(&self->l);
}

FIXTURE_TEARDOWN(message)
{
	lie_close(&self->l);
}

static void put32(char *at, __u32 value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

/* What came before the lie is delivered; the liar is told why that was the end. */
TEST_F(message, ends_the_connection)
{
	struct lie *l = &self->l;
	const __u32 imm = 0x1e;
	struct rnotify_event ev;
	char buf[4096] = "";

	buf[0] = variant->type;
	put32(buf + 4, variant->says);
	if (variant->at == 1)
		buf[1] = variant->value;
	else if (variant->at == 2)
		buf[3] = variant->value >> 8;
	else if (variant->at)
		put32(buf + variant->at, variant->value);

	raw_notify(&l->r, 1);
	raw_send_bytes(&l->r, buf, variant->len, variant->imm ? &imm : NULL);
	raw_notify(&l->r, 2);

	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_NOTIFY, &ev);
	EXPECT_EQ(1, ev.notify.imm);
	if (variant->len > 2 * 1024) {
		/* the device found it first */
		lie_broken(l);
		lie_untouched(l);
	} else {
		lie_caught(l);
		EXPECT_GE(l->down.delivered, 1);
	}
}

TEST_HARNESS_MAIN
