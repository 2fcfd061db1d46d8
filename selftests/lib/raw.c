// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of plain verbs: what it does on its connection.
 */
#include <arpa/inet.h>
#include <string.h>

#include "raw.h"

/* Work request ids: receives have their index, sends this bit. */
#define RAW_ID_SEND	(1ull << 32)

/* ---- receives ---- */

static void post_receive(struct raw *r, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(r->mem + (size_t)i * r->recv_len),
		.length = r->recv_len,
		.lkey = r->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = i,
		.sg_list = &sge,
		.num_sge = 1,
	};

	rnt_check(ibv_post_recv(r->id->qp, &wr, &bad) == 0);
}

void raw_post_receives(struct raw *r)
{
	for (unsigned int i = 0; i < r->nr_recv; i++)
		post_receive(r, i);
}

static void send_credit_if_due(struct raw *r)
{
	struct rnotify_wire_msg msg = { .type = RNOTIFY_WIRE_CREDIT };
	bool due = false;

	for (int i = 0; i < RAW_CREDITS; i++)
		due |= rnotify_grant_due(&r->grant[i]);
	if (!due || r->no_credit)
		return;
	msg.credit.data = rnotify_grant_take(&r->grant[RAW_DATA_CREDIT]);
	msg.credit.ctrl = rnotify_grant_take(&r->grant[RAW_CTRL_CREDIT]);
	msg.credit.regions = rnotify_grant_take(&r->grant[RAW_REGION_CREDIT]);
	raw_send(r, &msg);
}

/* An honest other side keeps within what we granted. */
static void arrived(struct raw *r, enum raw_kind kind)
{
	if (!rnotify_grant_arrived(&r->grant[kind]))
		rnt_fail("arrival beyond the credit of kind %d", kind);
}

static struct raw_arrival *new_arrival(struct raw *r, unsigned int type)
{
	struct raw_arrival *a = &r->arrival[r->nr_arrivals];

	rnt_check(r->nr_arrivals < RAW_ARRIVALS);
	r->nr_arrivals++;
	*a = (struct raw_arrival){ .type = type };
	return a;
}

/* Our user consumes at once. */
static struct raw_arrival *new_data(struct raw *r, unsigned int type)
{
	arrived(r, RAW_DATA_CREDIT);
	rnotify_grant_return(&r->grant[RAW_DATA_CREDIT], 1);
	return new_arrival(r, type);
}

static void on_region(struct raw *r, const struct rnotify_wire_region *w)
{
	struct raw_share *s = NULL;

	for (int i = 0; i < RAW_SHARES && !s; i++)
		if (r->share[i].share.share_id == w->share_id)
			s = &r->share[i];
	for (int i = 0; i < RAW_SHARES && !s; i++)
		if (!r->share[i].share.share_id)
			s = &r->share[i];
	rnt_check(s && w->nr_keys <= RAW_KEYS);
	if (!s->got) {
		arrived(r, RAW_REGION_CREDIT);
		s->share = *w;
		s->share.keys = NULL;
	}
	rnt_check(rnotify_wire_region_follows(&s->share, s->got, w));
	for (unsigned int i = 0; i < w->keys_here; i++)
		s->keys[s->got++] = le32_to_cpu(w->keys[i]);
}

static void on_gone(struct raw *r, __u32 share_id)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_REGION_GONE_ACK,
		.gone.share_id = share_id,
	};
	unsigned int i;

	for (i = 0; i < RAW_SHARES; i++)
		if (r->share[i].share.share_id == share_id)
			break;
	rnt_check(i < RAW_SHARES);
	memset(&r->share[i], 0, sizeof(r->share[i]));
	r->gone++;
	rnotify_grant_return(&r->grant[RAW_REGION_CREDIT], 1);
	if (r->no_ack)
		return;
	/* not raw_take_credit(), which would come back here */
	rnt_check(rnotify_credit_use(&r->credit[RAW_CTRL_CREDIT]));
	raw_send(r, &msg);
}

static void on_credit(struct raw *r, const struct rnotify_wire_credit *c)
{
	rnt_check(rnotify_credit_update(&r->credit[RAW_DATA_CREDIT],
					c->data) >= 0);
	rnt_check(rnotify_credit_update(&r->credit[RAW_CTRL_CREDIT],
					c->ctrl) >= 0);
	rnt_check(rnotify_credit_update(&r->credit[RAW_REGION_CREDIT],
					c->regions) >= 0);
}

static void on_control(struct raw *r, const struct rnotify_wire_msg *m)
{
	arrived(r, RAW_CTRL_CREDIT);
	rnotify_grant_return(&r->grant[RAW_CTRL_CREDIT], 1);
	if (m->type == RNOTIFY_WIRE_REGION)
		on_region(r, &m->region);
	else if (m->type == RNOTIFY_WIRE_REGION_GONE)
		on_gone(r, m->gone.share_id);
	else
		new_arrival(r, m->type)->value = m->gone.share_id;
}

static void on_records(struct raw *r, const struct rnotify_wire_notify *n)
{
	rnt_check(n->nr == 1 || (r->hello.features & RNOTIFY_WIRE_FEATURE_RECORDS));
	for (unsigned int i = 0; i < n->nr; i++) {
		struct raw_arrival *a = new_data(r, RNOTIFY_WIRE_NOTIFY);

		a->imm = true;
		a->value = le32_to_cpu(n->records[i].imm);
		a->len = le32_to_cpu(n->records[i].byte_len);
		a->of = n->nr;
	}
}

static void on_message(struct raw *r, const struct ibv_wc *wc, const char *buf)
{
	struct rnotify_wire_msg m;
	struct raw_arrival *a;

	rnt_check_eq(0, rnotify_wire_get_msg(&m, buf, wc->byte_len));
	switch (m.type) {
	case RNOTIFY_WIRE_CREDIT:
		on_credit(r, &m.credit);
		return;
	case RNOTIFY_WIRE_GOODBYE:
		a = new_arrival(r, m.type);
		a->value = m.goodbye.reason;
		a->error = m.goodbye.error;
		return;
	case RNOTIFY_WIRE_NOTIFY:
		on_records(r, &m.notify);
		return;
	case RNOTIFY_WIRE_MESSAGE:
		a = new_data(r, m.type);
		a->imm = wc->wc_flags & IBV_WC_WITH_IMM;
		a->value = a->imm ? ntohl(wc->imm_data) : 0;
		a->len = m.message.len;
		memcpy(a->payload, m.message.payload,
		       min_t(u32, a->len, sizeof(a->payload)));
		return;
	default:
		on_control(r, &m);
	}
}

static void on_receive(struct raw *r, const struct ibv_wc *wc)
{
	unsigned int i = wc->wr_id;
	char buf[RAW_SEND_SLOT] __attribute__((aligned(8)));
	struct raw_arrival *a;

	if (wc->status) {
		r->flushed = true;
		return;
	}
	/* Posted again first, as the document wants it. */
	rnt_check(wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM ||
		  wc->byte_len <= sizeof(buf));
	if (wc->opcode == IBV_WC_RECV)
		memcpy(buf, r->mem + (size_t)i * r->recv_len, wc->byte_len);
	post_receive(r, i);
	if (wc->opcode == IBV_WC_RECV) {
		on_message(r, wc, buf);
	} else {
		rnt_check_eq(IBV_WC_RECV_RDMA_WITH_IMM, wc->opcode);
		a = new_data(r, RNOTIFY_WIRE_NOTIFY);
		a->imm = true;
		a->value = ntohl(wc->imm_data);
		a->len = wc->byte_len;
	}
	send_credit_if_due(r);
}

/* ---- waiting ---- */

bool raw_pump(struct raw *r, unsigned int ms)
{
	uint64_t deadline = rnt_deadline(ms);
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(r->cq, 1, &wc)) == 0) {
		if (!rnt_left_ms(deadline))
			return false;
		rnt_sleep_us(100);
	}
	rnt_check(n == 1);
	if (wc.wr_id & RAW_ID_SEND) {
		r->done++;
		if (wc.status && !r->status)
			r->status = wc.status;
	} else {
		on_receive(r, &wc);
	}
	return true;
}

enum ibv_wc_status raw_flush_(struct raw *r)
{
	while (r->done != r->posted)
		if (!raw_pump(r, RNT_PATIENCE_MS))
			rnt_fail("no completion of a send");
	return r->status;
}

void raw_expect_(struct raw *r, unsigned int type, struct raw_arrival *a)
{
	struct raw_arrival local;

	while (!r->nr_arrivals)
		if (!raw_pump(r, RNT_PATIENCE_MS))
			rnt_fail("nothing of type %u arrives", type);
	if (!a)
		a = &local;
	*a = r->arrival[0];
	r->nr_arrivals--;
	memmove(&r->arrival[0], &r->arrival[1], r->nr_arrivals * sizeof(*a));
	rnt_check_eq(type, a->type);
}

struct raw_share *raw_await_share_(struct raw *r)
{
	for (;;) {
		for (int i = 0; i < RAW_SHARES; i++)
			if (r->share[i].got &&
			    r->share[i].got == r->share[i].share.nr_keys)
				return &r->share[i];
		if (!raw_pump(r, RNT_PATIENCE_MS))
			rnt_fail("nothing is shared");
	}
}

struct unshare {
	struct rnt_ctx *c;
	__u32 id;
	bool over;
};

static void *unshare_fn(void *arg)
{
	struct unshare *u = arg;
	long ret = rnt_destroy_err(u->c, u->id);

	__atomic_store_n(&u->over, true, __ATOMIC_RELEASE);
	return (void *)ret;
}

int raw_unshare_(struct raw *r, struct rnt_ctx *c, __u32 id)
{
	struct unshare u = { .c = c, .id = id };
	struct rnt_thread t;

	rnt_thread_start(&t, unshare_fn, &u);
	while (!__atomic_load_n(&u.over, __ATOMIC_ACQUIRE))
		raw_pump(r, 0);
	return (long)rnt_thread_join_(&t);
}

void raw_take_credit_(struct raw *r, enum raw_kind kind)
{
	while (!rnotify_credit_use(&r->credit[kind]))
		if (!raw_pump(r, RNT_PATIENCE_MS))
			rnt_fail("no credit of kind %d comes", kind);
}

/* ---- sends ---- */

static void post(struct raw *r, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	struct ibv_send_wr *bad;

	/* room: what is complete may not have been seen yet */
	while (r->posted - r->done >= RAW_SENDS - 2)
		if (!raw_pump(r, RNT_PATIENCE_MS))
			rnt_fail("no completion of a send");
	wr->wr_id = RAW_ID_SEND;
	wr->sg_list = sge;
	wr->num_sge = sge && sge->length ? 1 : 0;
	rnt_check(ibv_post_send(r->id->qp, wr, &bad) == 0);
	r->posted++;
}

void raw_send_bytes(struct raw *r, const void *bytes, unsigned int len,
		    const __u32 *imm)
{
	char *slot = r->mem + (size_t)r->nr_recv * r->recv_len +
		     r->posted % RAW_SENDS * RAW_SEND_SLOT;
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot,
		.length = len,
		.lkey = r->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.imm_data = imm ? htonl(*imm) : 0,
	};

	rnt_check(len <= RAW_SEND_SLOT);
	memcpy(slot, bytes, len);
	post(r, &wr, &sge);
}

void raw_send(struct raw *r, const struct rnotify_wire_msg *msg)
{
	char buf[RNOTIFY_WIRE_CTRL_MAX];
	int len = rnotify_wire_put_msg(buf, sizeof(buf), msg);

	rnt_check(len > 0);
	raw_send_bytes(r, buf, len, NULL);
}

void raw_rdma(struct raw *r, enum ibv_wr_opcode opcode, unsigned int offset,
	      unsigned int len, __u64 addr, __u32 key, __u32 imm)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(r->data + offset),
		.length = len,
		.lkey = r->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.imm_data = htonl(imm),
		.wr.rdma.remote_addr = addr,
		.wr.rdma.rkey = key,
	};

	rnt_check(offset + len <= RAW_DATA);
	post(r, &wr, &sge);
}

void raw_atomic(struct raw *r, unsigned int offset, __u64 addr, __u32 key,
		__u64 add)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(r->data + offset),
		.length = 8,
		.lkey = r->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {
			.remote_addr = addr,
			.compare_add = add,
			.rkey = key,
		},
	};

	post(r, &wr, &sge);
}

void raw_notify_(struct raw *r, __u32 imm)
{
	raw_take_credit_(r, RAW_DATA_CREDIT);
	raw_rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0, 0, imm);
}

/* Of data + 0: short if it can be, else long. */
void raw_write_imm_(struct raw *r, const struct raw_share *s, __u64 pos,
		    unsigned int len, __u32 imm)
{
	const struct rnotify_wire_record record = {
		.imm = cpu_to_le32(imm),
		.byte_len = cpu_to_le32(len),
	};
	const struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_NOTIFY,
		.notify = { .nr = 1, .records = &record },
	};
	unsigned int done = 0, n;

	n = rnotify_chunk_left(raw_addr(s, pos), len, s->share.chunk_shift);
	raw_take_credit_(r, RAW_DATA_CREDIT);
	if (n == len) {
		raw_rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, len,
			 raw_addr(s, pos), raw_key(s, pos), imm);
		return;
	}
	for (; done < len; done += n, pos += n) {
		n = rnotify_chunk_left(raw_addr(s, pos), len - done,
				       s->share.chunk_shift);
		raw_rdma(r, IBV_WR_RDMA_WRITE, done, n, raw_addr(s, pos),
			 raw_key(s, pos), 0);
	}
	raw_send(r, &msg);
}

void raw_message_(struct raw *r, const void *bytes, unsigned int len,
		  const __u32 *imm)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_MESSAGE,
		.message.len = len,
	};
	char buf[RAW_SEND_SLOT];
	int hdr = rnotify_wire_put_msg(buf, sizeof(buf), &msg);

	rnt_check(hdr > 0 && hdr + len <= sizeof(buf));
	memcpy(buf + hdr, bytes, len);
	raw_take_credit_(r, RAW_DATA_CREDIT);
	raw_send_bytes(r, buf, hdr + len, imm);
}

void raw_goodbye(struct raw *r, unsigned int reason, int error)
{
	struct rnotify_wire_msg msg = {
		.type = RNOTIFY_WIRE_GOODBYE,
		.goodbye = { .reason = reason, .error = error },
	};

	raw_send(r, &msg);
}

void raw_region(struct raw *r, struct rnotify_wire_msg *msg, __le32 *key,
		__u32 share_id, unsigned int len, __u32 rights)
{
	*key = cpu_to_le32(r->data_mr->rkey);
	*msg = (struct rnotify_wire_msg){
		.type = RNOTIFY_WIRE_REGION,
		.region = {
			.share_id = share_id,
			.rights = rights,
			.length = len,
			.tag = 0x7a67,
			.chunk_shift = RNOTIFY_CHUNK_SHIFT_MAX,
			.nr_keys = 1,
			.keys_here = 1,
			.keys = key,
		},
	};
}
