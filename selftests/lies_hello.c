// SPDX-License-Identifier: GPL-2.0
/*
 * Private data of the connection manager that are no hello, or an impossible
 * one: of who asks (then it is rejected, readably, and nobody above hears of it),
 * and of who answers (then the connection ends at once). FAULTS 38.
 *
 * rvm: limit=90
 */
#include "kselftest_harness.h"
#include "lie.h"

#define AS_IT_IS	-1

FIXTURE(hello)
{
	struct lie l;
	char bytes[196];
	unsigned int len;
};

FIXTURE_VARIANT(hello)
{
	int at;			/* offset of what is changed */
	unsigned int size;	/* bytes of it: 1, 2, 4 */
	__u32 value;		/* little-endian */
	int len;		/* bytes that are sent */
	int error;		/* 0: no lie, accepted */
};

#define HELLO(name, ...) FIXTURE_VARIANT_ADD(hello, name) { __VA_ARGS__ }

HELLO(as_it_should_be, 0, 0, 0, AS_IT_IS, 0);
HELLO(nothing, 0, 0, 0, 0, -EPROTO);
HELLO(one_byte, 0, 0, 0, 1, -EPROTO);
HELLO(only_the_magic, 0, 0, 0, 4, -EPROTO);
HELLO(only_the_versions, 0, 0, 0, 6, -EPROTO);
HELLO(cut_before_the_credits, 0, 0, 0, 12, -EPROTO);
HELLO(cut_before_control_credits, 0, 0, 0, 18, -EPROTO);
HELLO(magic_first_byte, 0, 1, 'r', AS_IT_IS, -EPROTO);
HELLO(magic_last_byte, 3, 1, 0, AS_IT_IS, -EPROTO);
HELLO(magic_big_endian, 0, 4, 0x524e5446, AS_IT_IS, -EPROTO);
HELLO(version_min_0, 4, 1, 0, AS_IT_IS, -EPROTO);
HELLO(version_max_0, 5, 1, 0, AS_IT_IS, -EPROTO);
HELLO(version_min_above_max, 4, 1, 2, AS_IT_IS, -EPROTO);
HELLO(version_2_only, 4, 2, 0x0202, AS_IT_IS, -EPROTONOSUPPORT);
HELLO(version_255_only, 4, 2, 0xffff, AS_IT_IS, -EPROTONOSUPPORT);
HELLO(version_1_to_255, 4, 2, 0xff01, AS_IT_IS, 0);
HELLO(private_len_one_less, 6, 1, 4, AS_IT_IS, -EMSGSIZE);
HELLO(private_len_0, 6, 1, 0, AS_IT_IS, -EMSGSIZE);
HELLO(private_len_29, 6, 1, 29, AS_IT_IS, -EMSGSIZE);
HELLO(private_len_255, 6, 1, 255, AS_IT_IS, -EMSGSIZE);
HELLO(private_len_28, 6, 1, 28, AS_IT_IS, 0);
HELLO(byte_behind_the_private_data, 55, 1, 1, 56, -EMSGSIZE);
HELLO(no_region_slots, 7, 1, 0, AS_IT_IS, 0);
HELLO(most_region_slots, 7, 1, 255, AS_IT_IS, 0);
HELLO(unknown_features, 8, 4, ~0u, AS_IT_IS, 0);
HELLO(data_credits_0, 12, 2, 0, AS_IT_IS, -EPROTO);
HELLO(data_credits_65535, 12, 2, 0xffff, AS_IT_IS, 0);
HELLO(no_messages, 14, 2, 0, AS_IT_IS, 0);
HELLO(msg_size_most, 14, 2, 1024, AS_IT_IS, 0);
HELLO(msg_size_too_large, 14, 2, 1025, AS_IT_IS, -EPROTO);
HELLO(msg_size_ffff, 14, 2, 0xffff, AS_IT_IS, -EPROTO);
HELLO(keepalive_0, 16, 2, 0, AS_IT_IS, 0);
HELLO(keepalive_ffff, 16, 2, 0xffff, AS_IT_IS, 0);
HELLO(ctrl_credits_0, 18, 1, 0, AS_IT_IS, -EPROTO);
HELLO(ctrl_credits_255, 18, 1, 255, AS_IT_IS, 0);
HELLO(reserved_1, 19, 1, 1, AS_IT_IS, -EPROTO);
HELLO(session_of_another, 20, 4, 0xdeadbeef, AS_IT_IS, 0);

FIXTURE_SETUP(hello)
{
	struct rnotify_hello *h = &self->l.r.hello;
	int len;

	lie_open(&self->l);
	h->private_len = 5;
	memcpy(h->private_data, "truth", 5);
	len = rnotify_wire_put_hello(self->bytes, sizeof(self->bytes), h);
	ASSERT_GT(len, 0);
	for (unsigned int i = 0; i < variant->size; i++)
		self->bytes[variant->at + i] = variant->value >> 8 * i;
	self->len = variant->len == AS_IT_IS ? len : variant->len;
}

FIXTURE_TEARDOWN(hello)
{
	lie_close(&self->l);
}

static unsigned int reason_of(int error)
{
	return error == -EPROTONOSUPPORT ? RNOTIFY_REASON_VERSION :
					   RNOTIFY_REASON_PROTOCOL;
}

/* Accepted, with the credits that it gave. */
static void sound(struct lie *l)
{
	struct rnotify_op op = rnt_op_notify(l->ep, 1);

	rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_post1(&l->c, &op);
	raw_expect(&l->r, RNOTIFY_WIRE_NOTIFY, NULL);
	lie_harmless(l);
}

TEST_F(hello, of_who_asks)
{
	struct lie *l = &self->l;
	struct rnotify_reject_data *rej = &l->r.reject;

	raw_resolve(&l->r, l->port);
	raw_request(&l->r, self->bytes, self->len);
	if (!variant->error) {
		l->ep = rnt_request(&l->c, NULL);
		ASSERT_EQ(0, rnt_accept(&l->c, l->ep, NULL, 0));
		raw_established(&l->r);
		sound(l);
		return;
	}
	raw_cm_expect(&l->r, RDMA_CM_EVENT_REJECTED);
	EXPECT_EQ(reason_of(variant->error), rej->reason);
	EXPECT_EQ(variant->error, rej->error);
	EXPECT_LT(5, strlen(rej->text));
	EXPECT_EQ(RNOTIFY_WIRE_VERSION, rej->version_max);
	lie_untouched(l);
	rnt_expect_none(&l->c, 0, 0);
}

TEST_F(hello, of_who_answers)
{
	struct lie *l = &self->l;
	struct raw_arrival a;

	l->ep = rnt_connect(&l->c, rnt_addr4(), raw_listen(&l->r), NULL,
			    LIE_COOKIE);
	raw_await_request(&l->r);
	raw_answer(&l->r, self->bytes, self->len);
	if (!variant->error) {
		raw_cm_expect(&l->r, RDMA_CM_EVENT_ESTABLISHED);
		sound(l);
		return;
	}
	/* it is told why, and that is all that comes */
	raw_expect(&l->r, RNOTIFY_WIRE_GOODBYE, &a);
	EXPECT_EQ(reason_of(variant->error), a.value);
	EXPECT_EQ(variant->error, a.error);
	raw_await_end(&l->r);
	lie_told(l, reason_of(variant->error), variant->error,
		 RNOTIFY_STAGE_CONNECT);
	lie_untouched(l);
}

/* What comes behind the 56 bytes of a hello is not looked at. */
FIXTURE(answer)
{
	struct lie l;
};

FIXTURE_SETUP(answer)
{
	lie_open(&self->l);
}

FIXTURE_TEARDOWN(answer)
{
	lie_close(&self->l);
}

TEST_F(answer, with_more_behind_it)
{
	struct lie *l = &self->l;
	char bytes[196] = "";

	ASSERT_LT(0, rnotify_wire_put_hello(bytes, sizeof(bytes), &l->r.hello));
	memset(bytes + RNOTIFY_WIRE_HELLO_MAX, 0xff, 140);
	l->ep = rnt_connect(&l->c, rnt_addr4(), raw_listen(&l->r), NULL,
			    LIE_COOKIE);
	raw_await_request(&l->r);
	raw_answer(&l->r, bytes, sizeof(bytes));
	raw_cm_expect(&l->r, RDMA_CM_EVENT_ESTABLISHED);
	sound(l);
}

TEST_HARNESS_MAIN
