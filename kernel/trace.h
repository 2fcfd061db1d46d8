/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints on the way of a notification, and of an endpoint's life:
 *
 *	rnotify_post      an operation was admitted, and gets the slot @slot
 *	rnotify_tx_done   its outcome is known
 *	rnotify_rx        a receive completed at the peer
 *	rnotify_event     an event was written to the ring
 *	rnotify_wake      sleepers are woken
 *	rnotify_consume   it was seen that the user consumed it
 *	rnotify_credit    a CREDIT was sent or received
 *	rnotify_state     an endpoint changed its state
 *	rnotify_cause     why it ends
 *
 * What belongs together is told by session and slot of the send queue (the last of
 * an operation's), or by ring and slot. Documentation/tracing.rst makes histograms
 * of them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rnotify

#if !defined(_RNOTIFY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RNOTIFY_TRACE_H

#include <linux/tracepoint.h>

#include "op.h"
#include "ring.h"

/* X(name, last) lists: the numbers go to user space with the format. */
#define RNOTIFY_TRACE_OPS(_x, _last)					\
	_x(RNOTIFY_OP_, WRITE) _x(RNOTIFY_OP_, WRITE_IMM)		\
	_x(RNOTIFY_OP_, NOTIFY) _x(RNOTIFY_OP_, READ)			\
	_x(RNOTIFY_OP_, SEND) _x(RNOTIFY_OP_, SEND_IMM)			\
	_x(RNOTIFY_OP_, FETCH_ADD) _last(RNOTIFY_OP_, CMP_SWAP)

#define RNOTIFY_TRACE_EVENTS(_x, _last)					\
	_x(RNOTIFY_EVENT_, NOTIFY) _x(RNOTIFY_EVENT_, MESSAGE)		\
	_x(RNOTIFY_EVENT_, TX_DONE)					\
	_x(RNOTIFY_EVENT_, CONNECT_REQUEST)				\
	_x(RNOTIFY_EVENT_, ESTABLISHED)					\
	_x(RNOTIFY_EVENT_, REMOTE_REGION)				\
	_x(RNOTIFY_EVENT_, REMOTE_REGION_GONE)				\
	_x(RNOTIFY_EVENT_, WRITABLE) _x(RNOTIFY_EVENT_, DISCONNECTED)	\
	_x(RNOTIFY_EVENT_, LISTENER_DOWN)				\
	_x(RNOTIFY_EVENT_, COUNTER) _last(RNOTIFY_EVENT_, SLOTS)

#define RNOTIFY_TRACE_STATES(_x, _last)					\
	_x(RNOTIFY_EP_, NEW) _x(RNOTIFY_EP_, ADDR)			\
	_x(RNOTIFY_EP_, ROUTE) _x(RNOTIFY_EP_, CONNECT)			\
	_x(RNOTIFY_EP_, REQUEST) _x(RNOTIFY_EP_, ACCEPT)		\
	_x(RNOTIFY_EP_, ESTABLISHED) _x(RNOTIFY_EP_, CLOSING)		\
	_last(RNOTIFY_EP_, CLOSED)

#define RNOTIFY_TRACE_REASONS(_x, _last)				\
	_x(RNOTIFY_REASON_, LOCAL_CLOSE)				\
	_x(RNOTIFY_REASON_, PEER_CLOSE) _x(RNOTIFY_REASON_, PEER_EXIT)	\
	_x(RNOTIFY_REASON_, PEER_LOST) _x(RNOTIFY_REASON_, REJECTED)	\
	_x(RNOTIFY_REASON_, UNREACHABLE) _x(RNOTIFY_REASON_, TIMEOUT)	\
	_x(RNOTIFY_REASON_, PROTOCOL) _x(RNOTIFY_REASON_, TRANSPORT)	\
	_x(RNOTIFY_REASON_, DEVICE_REMOVED)				\
	_x(RNOTIFY_REASON_, RESOURCES)					\
	_last(RNOTIFY_REASON_, VERSION)

#define RNOTIFY_TRACE_ENUM(_prefix, _name)				\
	TRACE_DEFINE_ENUM(_prefix##_name);
#define RNOTIFY_TRACE_NAME(_prefix, _name)	{ _prefix##_name, #_name },
#define RNOTIFY_TRACE_NAME_LAST(_prefix, _name)	{ _prefix##_name, #_name }

RNOTIFY_TRACE_OPS(RNOTIFY_TRACE_ENUM, RNOTIFY_TRACE_ENUM)
RNOTIFY_TRACE_EVENTS(RNOTIFY_TRACE_ENUM, RNOTIFY_TRACE_ENUM)
RNOTIFY_TRACE_STATES(RNOTIFY_TRACE_ENUM, RNOTIFY_TRACE_ENUM)
RNOTIFY_TRACE_REASONS(RNOTIFY_TRACE_ENUM, RNOTIFY_TRACE_ENUM)

#define rnotify_show(_list, _value)					\
	__print_symbolic(_value,					\
			 _list(RNOTIFY_TRACE_NAME, RNOTIFY_TRACE_NAME_LAST))

TRACE_EVENT(rnotify_post,
	TP_PROTO(const struct rnotify_build *b),
	TP_ARGS(b),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(u32, slot)
		__field(u32, opcode)
		__field(u32, length)
		__field(u32, imm)
		__field(u64, user_data)
	),
	TP_fast_assign(
		__entry->session = b->ep->session_id;
		__entry->endpoint = b->ep->obj.id;
		__entry->slot = (b->slot + b->nr_wrs - 1) & b->ep->sq_mask;
		__entry->opcode = b->op->opcode;
		__entry->length = b->op->length;
		__entry->imm = b->op->imm;
		__entry->user_data = b->op->user_data;
	),
	TP_printk("session=%016llx endpoint=%u slot=%u %s length=%u imm=%#x user_data=%#llx",
		  __entry->session, __entry->endpoint, __entry->slot,
		  rnotify_show(RNOTIFY_TRACE_OPS, __entry->opcode),
		  __entry->length, __entry->imm, __entry->user_data)
);

TRACE_EVENT(rnotify_tx_done,
	TP_PROTO(const struct rnotify_ep *ep, const struct rnotify_tx *tx,
		 int error, u32 ib_status),
	TP_ARGS(ep, tx, error, ib_status),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(u32, slot)
		__field(u32, opcode)
		__field(u32, length)
		__field(int, error)
		__field(u32, ib_status)
	),
	TP_fast_assign(
		__entry->session = ep->session_id;
		__entry->endpoint = ep->obj.id;
		__entry->slot = tx - ep->tx;
		__entry->opcode = tx->opcode;
		__entry->length = tx->byte_len;
		__entry->error = error;
		__entry->ib_status = ib_status;
	),
	TP_printk("session=%016llx endpoint=%u slot=%u %s length=%u error=%d ib_status=%u",
		  __entry->session, __entry->endpoint, __entry->slot,
		  rnotify_show(RNOTIFY_TRACE_OPS, __entry->opcode),
		  __entry->length, __entry->error, __entry->ib_status)
);

TRACE_EVENT(rnotify_rx,
	TP_PROTO(const struct rnotify_ep *ep, const struct ib_wc *wc),
	TP_ARGS(ep, wc),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(u32, ib_status)
		__field(u32, ib_opcode)
		__field(u32, length)
	),
	TP_fast_assign(
		bool ok = wc->status == IB_WC_SUCCESS;

		__entry->session = ep->session_id;
		__entry->endpoint = ep->obj.id;
		__entry->ib_status = wc->status;
		__entry->ib_opcode = ok ? wc->opcode : 0;
		__entry->length = ok ? wc->byte_len : 0;
	),
	TP_printk("session=%016llx endpoint=%u ib_status=%u ib_opcode=%u length=%u",
		  __entry->session, __entry->endpoint, __entry->ib_status,
		  __entry->ib_opcode, __entry->length)
);

TRACE_EVENT(rnotify_event,
	TP_PROTO(const struct rnotify_ring *ring, const struct rnotify_event *ev,
		 u32 slot),
	TP_ARGS(ring, ev, slot),
	TP_STRUCT__entry(
		__field(const void *, ring)
		__field(u32, slot)
		__field(u32, type)
		__field(u32, endpoint)
		__field(u64, seq)
	),
	TP_fast_assign(
		__entry->ring = ring;
		__entry->slot = slot;
		__entry->type = ev->type;
		__entry->endpoint = ev->endpoint;
		__entry->seq = ev->seq;
	),
	TP_printk("ring=%p slot=%u %s endpoint=%u seq=%llu",
		  __entry->ring, __entry->slot,
		  rnotify_show(RNOTIFY_TRACE_EVENTS, __entry->type),
		  __entry->endpoint, __entry->seq)
);

DECLARE_EVENT_CLASS(rnotify_ring_class,
	TP_PROTO(const struct rnotify_ring *ring, u32 slot),
	TP_ARGS(ring, slot),
	TP_STRUCT__entry(
		__field(const void *, ring)
		__field(u32, slot)
	),
	TP_fast_assign(
		__entry->ring = ring;
		__entry->slot = slot;
	),
	TP_printk("ring=%p slot=%u", __entry->ring, __entry->slot)
);

/* @slot: of the latest event */
DEFINE_EVENT(rnotify_ring_class, rnotify_wake,
	TP_PROTO(const struct rnotify_ring *ring, u32 slot),
	TP_ARGS(ring, slot)
);

DEFINE_EVENT(rnotify_ring_class, rnotify_consume,
	TP_PROTO(const struct rnotify_ring *ring, u32 slot),
	TP_ARGS(ring, slot)
);

/* Totals; @sent: by us, else by the peer. */
TRACE_EVENT(rnotify_credit,
	TP_PROTO(const struct rnotify_ep *ep, const struct rnotify_wire_msg *msg,
		 bool sent),
	TP_ARGS(ep, msg, sent),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(bool, sent)
		__field(u64, data)
		__field(u64, ctrl)
		__field(u64, regions)
	),
	TP_fast_assign(
		__entry->session = ep->session_id;
		__entry->endpoint = ep->obj.id;
		__entry->sent = sent;
		__entry->data = msg->credit.data;
		__entry->ctrl = msg->credit.ctrl;
		__entry->regions = msg->credit.regions;
	),
	TP_printk("session=%016llx endpoint=%u %s data=%llu ctrl=%llu regions=%llu",
		  __entry->session, __entry->endpoint,
		  __entry->sent ? "sent" : "received", __entry->data,
		  __entry->ctrl, __entry->regions)
);

TRACE_EVENT(rnotify_state,
	TP_PROTO(const struct rnotify_ep *ep, enum rnotify_ep_state to),
	TP_ARGS(ep, to),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(u32, from)
		__field(u32, to)
	),
	TP_fast_assign(
		__entry->session = ep->session_id;
		__entry->endpoint = ep->obj.id;
		__entry->from = ep->state;
		__entry->to = to;
	),
	TP_printk("session=%016llx endpoint=%u from=%s to=%s",
		  __entry->session, __entry->endpoint,
		  rnotify_show(RNOTIFY_TRACE_STATES, __entry->from),
		  rnotify_show(RNOTIFY_TRACE_STATES, __entry->to))
);

TRACE_EVENT(rnotify_cause,
	TP_PROTO(const struct rnotify_ep *ep),
	TP_ARGS(ep),
	TP_STRUCT__entry(
		__field(u64, session)
		__field(u32, endpoint)
		__field(u32, reason)
		__field(int, error)
		__field(u32, ib_status)
		__field(u32, vendor_err)
	),
	TP_fast_assign(
		__entry->session = ep->session_id;
		__entry->endpoint = ep->obj.id;
		__entry->reason = ep->down.reason;
		__entry->error = ep->down.error;
		__entry->ib_status = ep->down.ib_status;
		__entry->vendor_err = ep->down.vendor_err;
	),
	TP_printk("session=%016llx endpoint=%u %s error=%d ib_status=%u vendor_err=%#x",
		  __entry->session, __entry->endpoint,
		  rnotify_show(RNOTIFY_TRACE_REASONS, __entry->reason),
		  __entry->error, __entry->ib_status, __entry->vendor_err)
);

#endif /* _RNOTIFY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace

/* The path is looked for from the directories of -I: see Kbuild. */
#include <trace/define_trace.h>
