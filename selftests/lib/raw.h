/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer of plain librdmacm and libibverbs, in user space: it speaks the wire
 * protocol of Documentation/wire-protocol.rst, and breaks it on request.
 *
 * The codec and the credit arithmetic are the module's own pure code, compiled
 * a second time; what is sent and when is written here, from the document. One
 * thread uses a peer. What arrives is handled as the protocol wants it whenever
 * one of these functions waits, unless the peer is told to be silent.
 *
 * As with the other helpers, what is not as it must be ends the process.
 */
#ifndef _RNT_RAW_H
#define _RNT_RAW_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "chunk.h"
#include "credit.h"
#include "rnt.h"
#include "wire.h"

#define RAW_SHARES	8
#define RAW_KEYS	4	/* of a share: enough for 6 MiB on rxe */
#define RAW_ARRIVALS	1024
#define RAW_SENDS	64	/* send queue */
#define RAW_SEND_SLOT	8192	/* bytes of the longest SEND */
#define RAW_DATA	(1u << 20)

enum raw_kind {
	RAW_DATA_CREDIT,
	RAW_CTRL_CREDIT,
	RAW_REGION_CREDIT,
	RAW_CREDITS,
};

/**
 * struct raw_share - what the other side shared with us
 * @share: its first REGION
 * @keys: all of them
 * @got: keys that came
 */
struct raw_share {
	struct rnotify_wire_region share;
	__u32 keys[RAW_KEYS];
	unsigned int got;
};

/**
 * struct raw_arrival - a notification, MESSAGE, or GOODBYE that came
 * @type: RNOTIFY_WIRE_NOTIFY, _MESSAGE, _GOODBYE or _REGION_GONE_ACK
 * @imm: there is immediate data in @value
 * @value: immediate data; reason of GOODBYE; share_id of an answer
 * @len: bytes written, or of the payload
 * @of: it came in a NOTIFY of so many records; 0: by a WRITE_WITH_IMM
 * @error: of GOODBYE
 * @payload: its first bytes
 */
struct raw_arrival {
	unsigned int type;
	bool imm;
	__u32 value;
	__u32 len;
	unsigned int of;
	int error;
	char payload[64];
};

/**
 * struct raw - one peer, with one connection
 * @channel: of rdma_cm
 * @listener: passive side
 * @id: the connection
 * @mem: receives, then RAW_SENDS slots for SENDs, then @data
 * @data: RAW_DATA bytes that can be written from, read into, and shared
 * @mr: covers @mem
 * @data_mr: covers @data for the other side, at addresses that start at 0
 * @hello: own
 * @peer: the other side's
 * @request: the private data that it sent, whatever they are
 * @reject: of RDMA_CM_EVENT_REJECTED
 * @grant: given
 * @credit: taken
 * @no_credit: take back what it likes, but send no CREDIT
 * @no_ack: REGION_GONE stays without an answer
 * @no_receives: post none
 * @share: by the other side
 * @gone: REGION_GONEs that came
 * @posted: sends
 * @done: of them
 * @status: of the first that failed
 * @flushed: a receive was flushed or failed: the queue pair is broken
 */
struct raw {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_mr *data_mr;
	char *mem;
	char *data;
	size_t mem_len;
	unsigned int nr_recv;
	unsigned int recv_len;

	struct rnotify_hello hello;
	struct rnotify_hello peer;
	char request[196];
	unsigned int request_len;
	struct rnotify_reject_data reject;

	struct rnotify_grant grant[RAW_CREDITS];
	struct rnotify_credit credit[RAW_CREDITS];
	bool no_credit;
	bool no_ack;
	bool no_receives;

	struct raw_share share[RAW_SHARES];
	unsigned int gone;
	struct raw_arrival arrival[RAW_ARRIVALS];
	unsigned int nr_arrivals;

	unsigned int posted;
	unsigned int done;
	enum ibv_wc_status status;
	bool flushed;
};

/* ---- the connection manager: raw_cm.c ---- */

void raw_init(struct raw *r);		/* the hello can be changed then */
void raw_close(struct raw *r);		/* without a word */

/* The next event, whatever it is, -1 if none comes in time. */
int raw_cm_event(struct raw *r, unsigned int ms);
void raw_cm_expect_(struct raw *r, enum rdma_cm_event_type type);
/* Active side: all before the request, the request, and what follows it. */
void raw_resolve_(struct raw *r, __u16 port);
void raw_request_(struct raw *r, const void *private_data, unsigned int len);
void raw_established_(struct raw *r);
void raw_connect_(struct raw *r, __u16 port);
/* Passive side. */
__u16 raw_listen_(struct raw *r);
void raw_await_request_(struct raw *r);
void raw_answer_(struct raw *r, const void *private_data, unsigned int len);
void raw_accept_(struct raw *r);
/* It is told of the end, whatever comes before. */
void raw_await_end_(struct raw *r);

#define raw_cm_expect(...) (rnt_at(__FILE__, __LINE__), raw_cm_expect_(__VA_ARGS__))
#define raw_resolve(...) (rnt_at(__FILE__, __LINE__), raw_resolve_(__VA_ARGS__))
#define raw_request(...) (rnt_at(__FILE__, __LINE__), raw_request_(__VA_ARGS__))
#define raw_established(...) \
	(rnt_at(__FILE__, __LINE__), raw_established_(__VA_ARGS__))
#define raw_connect(...) (rnt_at(__FILE__, __LINE__), raw_connect_(__VA_ARGS__))
#define raw_listen(...) (rnt_at(__FILE__, __LINE__), raw_listen_(__VA_ARGS__))
#define raw_await_request(...) \
	(rnt_at(__FILE__, __LINE__), raw_await_request_(__VA_ARGS__))
#define raw_answer(...) (rnt_at(__FILE__, __LINE__), raw_answer_(__VA_ARGS__))
#define raw_accept(...) (rnt_at(__FILE__, __LINE__), raw_accept_(__VA_ARGS__))
#define raw_await_end(...) (rnt_at(__FILE__, __LINE__), raw_await_end_(__VA_ARGS__))

/* ---- on the connection: raw.c ---- */

void raw_post_receives(struct raw *r);
/* Handle one completion, if one comes in time. */
bool raw_pump(struct raw *r, unsigned int ms);
/* Until all that was posted is complete; the first status that is no success. */
enum ibv_wc_status raw_flush_(struct raw *r);
/* The next arrival must be of that type. */
void raw_expect_(struct raw *r, unsigned int type, struct raw_arrival *a);
/* A share with all its keys, other than @not; it stays where it is. */
struct raw_share *raw_await_share_(struct raw *r);
/* DESTROY of @id by @c, in a thread of its own, for somebody has to answer. */
int raw_unshare_(struct raw *r, struct rnt_ctx *c, __u32 id);
/* Wait until there is credit, and take one. */
void raw_take_credit_(struct raw *r, enum raw_kind kind);

/* Post, whatever the credit. */
void raw_send_bytes(struct raw *r, const void *bytes, unsigned int len,
		    const __u32 *imm);
void raw_send(struct raw *r, const struct rnotify_wire_msg *msg);
/* An RDMA work request between data + offset and the other side's memory. */
void raw_rdma(struct raw *r, enum ibv_wr_opcode opcode, unsigned int offset,
	      unsigned int len, __u64 addr, __u32 key, __u32 imm);
void raw_atomic(struct raw *r, unsigned int offset, __u64 addr, __u32 key,
		__u64 add);

/* The same with credit, for the honest: */
void raw_notify_(struct raw *r, __u32 imm);
void raw_write_imm_(struct raw *r, const struct raw_share *s, __u64 pos,
		    unsigned int len, __u32 imm);
void raw_message_(struct raw *r, const void *bytes, unsigned int len,
		  const __u32 *imm);
void raw_goodbye(struct raw *r, unsigned int reason, int error);
/* Share data: fills in the message, which can be sent again and again. */
void raw_region(struct raw *r, struct rnotify_wire_msg *msg, __le32 *key,
		__u32 share_id, unsigned int len, __u32 rights);

static inline __u64 raw_addr(const struct raw_share *s, __u64 pos)
{
	return s->share.first_offset + pos;
}

static inline __u32 raw_key(const struct raw_share *s, __u64 pos)
{
	return s->keys[raw_addr(s, pos) >> s->share.chunk_shift];
}

#define raw_flush(...) (rnt_at(__FILE__, __LINE__), raw_flush_(__VA_ARGS__))
#define raw_expect(...) (rnt_at(__FILE__, __LINE__), raw_expect_(__VA_ARGS__))
#define raw_await_share(...) \
	(rnt_at(__FILE__, __LINE__), raw_await_share_(__VA_ARGS__))
#define raw_unshare(...) (rnt_at(__FILE__, __LINE__), raw_unshare_(__VA_ARGS__))
#define raw_take_credit(...) \
	(rnt_at(__FILE__, __LINE__), raw_take_credit_(__VA_ARGS__))
#define raw_notify(...) (rnt_at(__FILE__, __LINE__), raw_notify_(__VA_ARGS__))
#define raw_write_imm(...) \
	(rnt_at(__FILE__, __LINE__), raw_write_imm_(__VA_ARGS__))
#define raw_message(...) (rnt_at(__FILE__, __LINE__), raw_message_(__VA_ARGS__))

#endif /* _RNT_RAW_H */
