// SPDX-License-Identifier: GPL-2.0
/*
 * What both sides of a connection have to do with rdma_cm: the event handler,
 * the parameters, rejects.
 *
 * The handler runs with rdma_cm's handler mutex held. It records and queues;
 * it takes spinlocks only, and always returns 0: ids are destroyed by the
 * endpoint's worker alone.
 */
#include <linux/log2.h>
#include <rdma/ib_cm.h>

#include "ep.h"

/* IBTA vol. 1, table 45: encoding of the RNR NAK timer. 14 is 1.28 ms. */
#define RNOTIFY_RNR_TIMER	14
/* IBTA vol. 1, 9.7.5.1.2: local ACK timeout is 4.096 us * 2^n. */
#define RNOTIFY_ACK_UNIT_NS	4096ull
/* Not 7: rxe takes that for unlimited. */
#define RNOTIFY_RETRY_COUNT	6
/* Unlimited. Our peers never cause RNR; the timer finds who stays not ready. */
#define RNOTIFY_RNR_RETRY	7

/**
 * rnotify_cm_tune() - set what must be set before connect or accept
 * @ep: endpoint with a CM id
 *
 * The ACK timeout is such that all retries together take about half of the
 * keepalive time.
 */
void rnotify_cm_tune(struct rnotify_ep *ep)
{
	u64 ns = ep->params.keepalive_ms * (u64)NSEC_PER_MSEC / 2 /
		 (RNOTIFY_RETRY_COUNT + 1);
	u32 exp = clamp_t(u32, ilog2(ns / RNOTIFY_ACK_UNIT_NS), 8, 20);

	rdma_set_ack_timeout(ep->cm_id, exp);
	rdma_set_min_rnr_timer(ep->cm_id, RNOTIFY_RNR_TIMER);
}

/**
 * rnotify_cm_param() - what to tell the peer
 * @ep: endpoint with a device; mutex held
 * @param: filled in
 * @buf: RNOTIFY_WIRE_HELLO_MAX bytes for the private data
 * @private_data: the user's part of it
 * @len: bytes of that, at most RNOTIFY_PRIVATE_DATA_MAX
 */
void rnotify_cm_param(struct rnotify_ep *ep, struct rdma_conn_param *param,
		      u8 *buf, const void *private_data, u32 len)
{
	const struct ib_device_attr *attrs = &ep->dev->ib->attrs;
	struct rnotify_hello hello = {
		.version_min = RNOTIFY_WIRE_VERSION,
		.version_max = RNOTIFY_WIRE_VERSION,
		.region_slots = ep->params.remote_regions,
		.ctrl_credits = RNOTIFY_CTRL_WINDOW,
		.features = RNOTIFY_WIRE_FEATURE_RECORDS,
		.data_credits = ep->params.recv_depth,
		.msg_size = ep->ring->msg_size,
		.keepalive_ms = ep->params.keepalive_ms,
		.session_id = ep->session_id,
		.private_len = len,
	};
	int ret;

	memcpy(hello.private_data, private_data, len);
	ret = rnotify_wire_put_hello(buf, RNOTIFY_WIRE_HELLO_MAX, &hello);
	WARN_ON_ONCE(ret < 0);

	memset(param, 0, sizeof(*param));
	param->private_data = buf;
	param->private_data_len = max(ret, 0);
	param->responder_resources = min(attrs->max_qp_rd_atom, 16);
	param->initiator_depth = min(attrs->max_qp_init_rd_atom, 16);
	param->retry_count = RNOTIFY_RETRY_COUNT;
	param->rnr_retry_count = RNOTIFY_RNR_RETRY;
}

/**
 * rnotify_cm_send_reject() - turn a request down, readably
 * @id: CM id of the request
 * @reason: &enum rnotify_reason, for the peer
 * @error: negative errno, for the peer
 * @text: for a person who looks at the peer's log or packets
 * @private_data: the user's bytes
 * @len: how many
 *
 * Nothing depends on its arrival.
 */
void rnotify_cm_send_reject(struct rdma_cm_id *id, u16 reason, int error,
			    const char *text, const void *private_data,
			    u32 len)
{
	struct rnotify_reject_data rej = {
		.version_min = RNOTIFY_WIRE_VERSION,
		.version_max = RNOTIFY_WIRE_VERSION,
		.reason = reason,
		.error = error,
		.private_len = len,
	};
	u8 buf[RNOTIFY_WIRE_REJECT_MAX];
	int ret;

	strscpy(rej.text, text, sizeof(rej.text));
	if (len)
		memcpy(rej.private_data, private_data, len);
	ret = rnotify_wire_put_reject(buf, sizeof(buf), &rej);
	if (!WARN_ON_ONCE(ret < 0))
		rdma_reject(id, buf, ret, IB_CM_REJ_CONSUMER_DEFINED);
}

/*
 * ---- events -----------------------------------------------------------
 */

/**
 * rnotify_cm_hello() - take in the peer's wishes
 * @ep: endpoint; lock held
 * @hello: decoded
 */
void rnotify_cm_hello(struct rnotify_ep *ep, const struct rnotify_hello *hello)
{
	ep->hello = *hello;
	ep->have_hello = true;
	rnotify_credit_init(&ep->credit, hello->data_credits);
	rnotify_credit_init(&ep->ctrl_credit, hello->ctrl_credits);
	rnotify_credit_init(&ep->region_credit, hello->region_slots);
	ep->peer_data_len = hello->private_len;
	memcpy(ep->peer_data, hello->private_data, hello->private_len);
}

/*
 * Active side: the REP's private data are the peer's hello. Credits first, then
 * ESTABLISHED, so that a post right after the event finds them.
 */
static void on_established(struct rnotify_ep *ep,
			   const struct rdma_cm_event *ev)
{
	struct rnotify_hello hello;
	int ret;

	if (!ep->passive) {
		ret = rnotify_wire_get_hello(&hello,
					     ev->param.conn.private_data,
					     ev->param.conn.private_data_len);
		if (ret) {
			rnotify_ep_fail(ep, ret == -EPROTONOSUPPORT ?
					RNOTIFY_REASON_VERSION :
					RNOTIFY_REASON_PROTOCOL, ret);
			return;
		}
		spin_lock_bh(&ep->lock);
		rnotify_cm_hello(ep, &hello);
		rnotify_ctrl_pump(ep);
		rnotify_tx_wake(ep);
		spin_unlock_bh(&ep->lock);
	}
	rnotify_ep_established(ep);
	rnotify_ctrl_credit(ep);
}

/*
 * A peer that got our GOODBYE ends its queue pair at once, and its answer (ACK) may
 * go with it: that one is not waited for.
 */
static void on_disconnected(struct rnotify_ep *ep)
{
	spin_lock_bh(&ep->lock);
	ep->peer_left = true;
	rnotify_ep_fail_locked(ep, RNOTIFY_REASON_PEER_CLOSE, -ECONNRESET, 0,
			       0);
	wake_up_all(&ep->wait);
	spin_unlock_bh(&ep->lock);
}

static void on_rejected(struct rnotify_ep *ep, struct rdma_cm_id *id,
			struct rdma_cm_event *ev)
{
	struct rnotify_reject_data rej;
	/* A requester that gives up rejects its own request. */
	u16 reason = ep->passive ? RNOTIFY_REASON_PEER_CLOSE :
				   RNOTIFY_REASON_REJECTED;
	int error = ep->passive ? -ECONNRESET : -ECONNREFUSED;
	const void *data;
	u8 len = 0;

	data = rdma_consumer_reject_data(id, ev, &len);
	spin_lock_bh(&ep->lock);
	if (data && !rnotify_wire_get_reject(&rej, data, len)) {
		/* These mean the same on both sides. */
		if (rej.reason == RNOTIFY_REASON_VERSION ||
		    rej.reason == RNOTIFY_REASON_PEER_EXIT)
			reason = rej.reason;
		if (rej.error)
			error = rej.error;
		ep->peer_data_len = rej.private_len;
		memcpy(ep->peer_data, rej.private_data, rej.private_len);
	}
	/* Its last word, which may come before there is a queue pair. */
	ep->goodbye = true;
	rnotify_ep_fail_locked(ep, reason, error, 0, ev->status);
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_cm_errno() - what rdma_cm returned, as the ABI has it
 * @ret: 0 or a negative errno
 *
 * To the network stack, a lack of memory is one of buffers.
 *
 * Return: 0 or a negative errno.
 */
int rnotify_cm_errno(int ret)
{
	return ret == -ENOBUFS ? -ENOMEM : ret;
}

/**
 * rnotify_cm_failed() - a step towards the peer failed
 * @ep: endpoint
 * @status: rdma_cm's: a negative errno, or a positive code of its own
 *
 * Context: any but hard interrupt.
 */
void rnotify_cm_failed(struct rnotify_ep *ep, int status)
{
	int error = status < 0 ? rnotify_cm_errno(status) : -EHOSTUNREACH;

	spin_lock_bh(&ep->lock);
	rnotify_ep_fail_locked(ep, error == -ENOMEM ?
			       RNOTIFY_REASON_RESOURCES :
			       RNOTIFY_REASON_UNREACHABLE, error, 0,
			       max(status, 0));
	spin_unlock_bh(&ep->lock);
}

/**
 * rnotify_cm_handler() - rdma_cm's events of an endpoint
 * @id: its CM id
 * @ev: event
 *
 * Return: 0.
 */
int rnotify_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct rnotify_ep *ep = id->context;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		rnotify_ep_queue(ep, RNOTIFY_WORK_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rnotify_ep_queue(ep, RNOTIFY_WORK_ROUTE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(ep, ev);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (!rnotify_connect_again(ep, ev->status))
			rnotify_cm_failed(ep, ev->status);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		rnotify_cm_failed(ep, ev->status);
		break;
	case RDMA_CM_EVENT_REJECTED:
		on_rejected(ep, id, ev);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		on_disconnected(ep);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		rnotify_ep_fail(ep, RNOTIFY_REASON_DEVICE_REMOVED, -ENODEV);
		break;
	default:
		break;
	}
	return 0;
}
