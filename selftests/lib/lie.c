// SPDX-License-Identifier: GPL-2.0
/*
 * The bed of the tests with a lying peer.
 */
#include <string.h>

#include "lie.h"

#define LEN	(LIE_GUARD + LIE_SHARED + LIE_GUARD)

static const struct rnotify_params params = {
	.recv_depth = LIE_RECV,
	.send_depth = 16,
	.keepalive_ms = RNT_KEEPALIVE_MS,
	.remote_regions = LIE_REGIONS,
};

static void guarded(struct rnt_ctx *c, struct rnt_region *mem)
{
	rnt_region_alloc_(c, mem, LEN);
	memset(mem->p, LIE_GUARD_BYTE, LEN);
}

void lie_open(struct lie *l)
{
	memset(l, 0, sizeof(*l));
	rnt_init(&l->c, 1024, 1024);
	rnt_init(&l->other, 1024, 1024);
	rnt_pair_open_(&l->good, &l->other, &l->c, NULL, NULL);
	l->port = l->good.port;
	guarded(&l->c, &l->good_mem);
	guarded(&l->c, &l->mem);
	l->good_remote = rnt_grant_(&l->good, l->good_mem.id, LIE_GUARD,
				    LIE_SHARED, RNOTIFY_RIGHT_WRITE, NULL);
	raw_init(&l->r);
}

void lie_close(struct lie *l)
{
	raw_close(&l->r);
	rnt_close(&l->c);
	rnt_close(&l->other);
}

__u32 lie_connect_more_(struct lie *l, struct raw *r)
{
	__u32 ep;

	raw_connect_(r, l->port);
	ep = rnt_request_(&l->c, NULL);
	rnt_check_eq(0, rnt_accept(&l->c, ep, &params, LIE_COOKIE));
	raw_established_(r);
	rnt_expect_(&l->c, ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	return ep;
}

void lie_connect_(struct lie *l)
{
	l->ep = lie_connect_more_(l, &l->r);
}

void lie_reconnect_(struct lie *l)
{
	raw_close(&l->r);
	raw_init(&l->r);
	lie_connect_(l);
}

struct raw_share *lie_share_(struct lie *l, __u32 rights, __u32 *id)
{
	struct rnotify_share share = {
		.endpoint_id = l->ep,
		.region_id = l->mem.id,
		.offset = LIE_GUARD,
		.length = LIE_SHARED,
		.rights = rights,
	};
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	bool refused = false;
	int ret;

	/* the credit for the place of a former one may be on its way */
	while ((ret = rnt_share_err(&l->c, &share))) {
		rnt_check_eq(-EMFILE, ret);
		rnt_check(rnt_left_ms(deadline));
		raw_pump(&l->r, 0);
		refused = true;
	}
	if (refused)
		rnt_expect(&l->c, l->ep, RNOTIFY_EVENT_WRITABLE, NULL);
	if (id)
		*id = share.share_id;
	return raw_await_share_(&l->r);
}

/* The end as event, and as the endpoint's record. */
static void await_down(struct lie *l, unsigned int reason, unsigned int stage)
{
	struct rnotify_endpoint_info info;
	struct rnotify_event ev;

	rnt_down_(&l->c, l->ep, reason, &ev);
	rnt_check_eq(LIE_COOKIE, ev.cookie);
	rnt_check_eq(stage, ev.down.stage);
	rnt_info(&l->c, l->ep, &info);
	rnt_check(memcmp(&info.down, &ev.down, sizeof(ev.down)) == 0);
	l->down = ev.down;
	rnt_destroy(&l->c, l->ep);
}

void lie_told_(struct lie *l, unsigned int reason, int error,
	       unsigned int stage)
{
	await_down(l, reason, stage);
	rnt_check_eq(error, l->down.error);
	rnt_check_eq(0, l->down.ib_status);
}

void lie_caught_(struct lie *l)
{
	struct raw_arrival a;

	raw_expect_(&l->r, RNOTIFY_WIRE_GOODBYE, &a);
	rnt_check_eq(RNOTIFY_REASON_PROTOCOL, a.value);
	rnt_check_eq(-EPROTO, a.error);
	lie_told_(l, RNOTIFY_REASON_PROTOCOL, -EPROTO,
		  RNOTIFY_STAGE_ESTABLISHED);
	lie_untouched_(l);
}

void lie_broken_(struct lie *l)
{
	await_down(l, RNOTIFY_REASON_TRANSPORT, RNOTIFY_STAGE_ESTABLISHED);
	rnt_check(l->down.error < 0);
	rnt_check(l->down.ib_status);
}

/* One notification and one write each way. */
static void traffic(const struct rnt_pair *p, struct rnt_region *mem,
		    __u32 remote)
{
	static unsigned int seed;
	char bytes[200];
	struct rnotify_event ev;
	struct rnotify_op op;

	rnt_fill(bytes, sizeof(bytes), ++seed);
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, p->ea, bytes, remote, 100,
			   sizeof(bytes));
	op.imm = seed;
	rnt_post1_(p->a, &op);
	rnt_expect_(p->b, p->eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(seed, ev.notify.imm);
	rnt_check_eq(-1, rnt_diff(mem->p + LIE_GUARD + 100, sizeof(bytes),
				  seed));
	memset(mem->p + LIE_GUARD, LIE_GUARD_BYTE, LIE_SHARED);
	op = rnt_op_notify(p->eb, ~seed);
	rnt_post1_(p->b, &op);
	rnt_expect_(p->a, p->ea, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(~seed, ev.notify.imm);
}

void lie_harmless_(struct lie *l)
{
	struct rnotify_op op = rnt_op_notify(l->ep, 0xfeed);
	struct rnotify_event ev;
	struct raw_arrival a;

	rnt_check_eq(IBV_WC_SUCCESS, raw_flush_(&l->r));
	raw_notify_(&l->r, 0xbeef);
	do {
		rnt_expect_(&l->c, l->ep, RNOTIFY_EVENT_NOTIFY, &ev);
	} while (ev.notify.imm != 0xbeef);
	rnt_post1_(&l->c, &op);
	raw_expect_(&l->r, RNOTIFY_WIRE_NOTIFY, &a);
	rnt_check_eq(0xfeed, a.value);
	lie_untouched_(l);
}

void lie_untouched_(struct lie *l)
{
	for (int i = 0; i < 3; i++)
		traffic(&l->good, &l->good_mem, l->good_remote);
	rnt_check_eq(-1, rnt_diff_byte(l->good_mem.p, LEN, LIE_GUARD_BYTE));
	rnt_check_eq(-1, rnt_diff_byte(l->mem.p, LEN, LIE_GUARD_BYTE));
}
