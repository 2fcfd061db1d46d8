// SPDX-License-Identifier: GPL-2.0
/*
 * Who rejects a connection with private data that are no reject, or an impossible
 * one: the connection is rejected, and nothing of it is believed.
 *
 * rvm: limit=60
 */
#include "kselftest_harness.h"
#include "lie.h"

FIXTURE(reject)
{
	struct lie l;
	char bytes[RNOTIFY_WIRE_REJECT_MAX];
};

FIXTURE_VARIANT(reject)
{
	unsigned int at;	/* offset of what is changed */
	unsigned int size;	/* bytes of it */
	__u32 value;		/* little-endian */
	unsigned int len;	/* bytes that are sent */
	unsigned int reason;	/* of the end, and its errno */
	int error;
};

#define NOT_BELIEVED	RNOTIFY_REASON_REJECTED, -ECONNREFUSED
#define REJECT(name, ...) FIXTURE_VARIANT_ADD(reject, name) { __VA_ARGS__ }

REJECT(as_it_should_be, 0, 0, 0, 66, RNOTIFY_REASON_REJECTED, -ENOBUFS);
REJECT(nothing, 0, 0, 0, 0, NOT_BELIEVED);
REJECT(one_byte, 0, 0, 0, 1, NOT_BELIEVED);
REJECT(cut, 0, 0, 0, 15, NOT_BELIEVED);
REJECT(magic, 0, 1, 0, 66, NOT_BELIEVED);
REJECT(version_min_0, 4, 1, 0, 66, NOT_BELIEVED);
REJECT(version_min_above_max, 4, 1, 3, 66, NOT_BELIEVED);
REJECT(version_7, 4, 2, 0x0707, 66, RNOTIFY_REASON_REJECTED, -ENOBUFS);
REJECT(private_len_1, 6, 1, 1, 66, NOT_BELIEVED);
REJECT(private_len_29, 6, 1, 29, 66, NOT_BELIEVED);
REJECT(reserved, 7, 1, 1, 66, NOT_BELIEVED);
REJECT(reason_0, 8, 2, 0, 66, NOT_BELIEVED);
REJECT(reason_version, 8, 2, RNOTIFY_REASON_VERSION, 66,
       RNOTIFY_REASON_VERSION, -ENOBUFS);
REJECT(reason_unknown, 8, 2, 0xffff, 66, RNOTIFY_REASON_REJECTED, -ENOBUFS);
REJECT(reserved2, 10, 2, 1, 66, NOT_BELIEVED);
REJECT(error_0, 12, 4, 0, 66, RNOTIFY_REASON_REJECTED, -ECONNREFUSED);
REJECT(error_positive, 12, 4, 1, 66, NOT_BELIEVED);
REJECT(error_far_below, 12, 4, -4096, 66, NOT_BELIEVED);

FIXTURE_SETUP(reject)
{
	struct rnotify_reject_data rej = {
		.version_min = 1,
		.version_max = 2,
		.reason = RNOTIFY_REASON_RESOURCES,
		.error = -ENOBUFS,
		.text = "\033[31mred\n",
		.private_len = 2,
		.private_data = "no",
	};
	int len;

	lie_open(&self->l);
	len = rnotify_wire_put_reject(self->bytes, sizeof(self->bytes), &rej);
	ASSERT_EQ(66, len);
	for (unsigned int i = 0; i < variant->size; i++)
		self->bytes[variant->at + i] = variant->value >> 8 * i;
}

FIXTURE_TEARDOWN(reject)
{
	lie_close(&self->l);
}

TEST_F(reject, ends_the_attempt)
{
	struct lie *l = &self->l;

	l->ep = rnt_connect(&l->c, rnt_addr4(), raw_listen(&l->r), NULL,
			    LIE_COOKIE);
	raw_await_request(&l->r);
	ASSERT_EQ(0, rdma_reject(l->r.id, self->bytes, variant->len));
	lie_told(l, variant->reason, variant->error, RNOTIFY_STAGE_CONNECT);
	/* the CM's code for "the consumer does not want it" */
	EXPECT_EQ(28, l->down.vendor_err);
	lie_untouched(l);
}

TEST_HARNESS_MAIN
