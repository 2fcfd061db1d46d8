// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: streams of notifications, and what is true when they rest.
 */
#include <stdio.h>
#include <string.h>

#include "rnt.h"

unsigned int rnt_post_until_full_(struct rnt_ctx *c, __u32 endpoint,
				  __u32 imm, unsigned int flags)
{
	unsigned int n = 0;
	int ret;

	for (;;) {
		struct rnotify_op op = rnt_op_notify(endpoint, imm + n);

		op.flags = flags;
		op.user_data = imm + n;
		ret = rnt_try(c, &op);
		if (ret)
			break;
		if (++n > 2 * RNOTIFY_DEPTH_MAX)
			rnt_fail("no end of credit");
	}
	rnt_check_eq(-EAGAIN, ret);
	return n;
}

void rnt_expect_imms_(struct rnt_ctx *c, __u32 endpoint, __u32 imm,
		      unsigned int nr)
{
	struct rnotify_event ev;

	for (unsigned int i = 0; i < nr; i++) {
		rnt_expect_(c, endpoint, RNOTIFY_EVENT_NOTIFY, &ev);
		rnt_check_eq(imm + i, ev.notify.imm);
		rnt_check_eq(0, ev.notify.byte_len);
	}
}

void rnt_expect_tx_(struct rnt_ctx *c, __u32 endpoint, __u64 user_data,
		    int error, struct rnotify_event *ev)
{
	struct rnotify_event local;

	if (!ev)
		ev = &local;
	rnt_expect_(c, endpoint, RNOTIFY_EVENT_TX_DONE, ev);
	rnt_check_eq(user_data, ev->tx.user_data);
	rnt_check_eq(error, ev->tx.error);
	rnt_check_eq(0, ev->tx.reserved);
}

void rnt_down_(struct rnt_ctx *c, __u32 endpoint, unsigned int reason,
	       struct rnotify_event *ev)
{
	struct rnotify_event local;

	if (!ev)
		ev = &local;
	if (!rnt_take_type(c, endpoint, RNOTIFY_EVENT_DISCONNECTED, ev,
			   RNT_PATIENCE_MS))
		rnt_fail("no DISCONNECTED on endpoint %u", endpoint);
	if (reason != RNT_PEER_GONE)
		rnt_check_eq(reason, ev->down.reason);
	else if (ev->down.reason != RNOTIFY_REASON_PEER_EXIT)
		rnt_check_eq(RNOTIFY_REASON_PEER_CLOSE, ev->down.reason);
}

/*
 * A receiver tells its peer when half a window can be granted, or when the
 * peer has nothing left: so much less than a window may stay with the receiver.
 */
static unsigned int credit_at_least(unsigned int window)
{
	return window - ((window + 1) / 2 - 1);
}

/* tx's notifications are confirmed, delivered and, if asked, consumed. */
static bool at_rest(const struct rnotify_endpoint_info *tx,
		    const struct rnotify_endpoint_info *rx, bool consumed)
{
	if (tx->tx_notify_posted != tx->tx_confirmed ||
	    tx->tx_notify_posted != rx->rx_notify)
		return false;
	if (!consumed)
		return true;
	return rx->rx_consumed == rx->rx_notify &&
	       tx->tx_credits >= credit_at_least(rx->params.recv_depth) &&
	       tx->tx_credits <= rx->params.recv_depth;
}

static void print_info(const char *name,
		       const struct rnotify_endpoint_info *i)
{
	fprintf(stderr,
		"# %s: state %u, tx %llu notify %llu confirmed %llu credits %u, rx %llu consumed %llu\n",
		name, i->state, (unsigned long long)i->tx_posted,
		(unsigned long long)i->tx_notify_posted,
		(unsigned long long)i->tx_confirmed, i->tx_credits,
		(unsigned long long)i->rx_notify,
		(unsigned long long)i->rx_consumed);
}

/* FAULTS 5: the queues never came near their ends. */
static void check_queues(const struct rnotify_endpoint_info *i)
{
	rnt_check(i->sq_high <= i->sq_size);
	rnt_check(i->rq_low >= 1 && i->rq_low <= i->rq_size);
	rnt_check(i->cq_size >= i->sq_size + i->rq_size);
	rnt_check(i->cq_high <= i->cq_size);
}

void rnt_settle_(const struct rnt_pair *p, bool consumed)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	struct rnotify_endpoint_info a, b;

	for (;;) {
		rnt_kick(p->a);
		rnt_kick(p->b);
		rnt_info(p->a, p->ea, &a);
		rnt_info(p->b, p->eb, &b);
		if (at_rest(&a, &b, consumed) && at_rest(&b, &a, consumed))
			break;
		if (!rnt_left_ms(deadline)) {
			print_info("a", &a);
			print_info("b", &b);
			rnt_fail("the two sides do not agree");
		}
		rnt_sleep_us(500);
	}
	check_queues(&a);
	check_queues(&b);
}

static const char * const rnr_counters[RNT_RNR_COUNTERS] = {
	"rcvd_rnr_err", "send_rnr_err", "retry_rnr_exceeded_err",
};

void rnt_rnr_read(struct rnt_rnr *rnr)
{
	for (unsigned int i = 0; i < RNT_RNR_COUNTERS; i++)
		rnr->value[i] = rnt_hw_counter(rnr_counters[i]);
}

bool rnt_rnr_same(const struct rnt_rnr *before)
{
	struct rnt_rnr now;

	rnt_rnr_read(&now);
	for (unsigned int i = 0; i < RNT_RNR_COUNTERS; i++)
		if (now.value[i] != before->value[i])
			fprintf(stderr, "# %s: %lld, was %lld\n",
				rnr_counters[i], now.value[i],
				before->value[i]);
	return !memcmp(&now, before, sizeof(now));
}
