// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of plain verbs: its connection.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

/* Receives beside data and control: CREDIT and GOODBYE, and one to drain. */
#define RAW_RECV_MORE	(3 * RNOTIFY_CREDIT_MSGS_MAX + 2)

/*
 * The smallest hello that is of use: a peer that needs no credit back for
 * longer than a test would hide mistakes.
 */
void raw_init(struct raw *r)
{
	memset(r, 0, sizeof(*r));
	r->hello = (struct rnotify_hello){
		.version_min = RNOTIFY_WIRE_VERSION,
		.version_max = RNOTIFY_WIRE_VERSION,
		.region_slots = 2,
		.ctrl_credits = 2,
		.data_credits = 4,
		.msg_size = 1024,
	};
	r->channel = rdma_create_event_channel();
	if (!r->channel)
		rnt_fail("rdma_create_event_channel(): errno %d", errno);
	/* rdma_get_cm_event() has no time limit of its own */
	rnt_check(fcntl(r->channel->fd, F_SETFL, O_NONBLOCK) == 0);
}

static void drop_qp(struct raw *r)
{
	if (r->id && r->id->qp) {
		rdma_disconnect(r->id);
		rdma_destroy_qp(r->id);
	}
	if (r->data_mr)
		rnt_check(ibv_dereg_mr(r->data_mr) == 0);
	if (r->mr)
		rnt_check(ibv_dereg_mr(r->mr) == 0);
	if (r->cq)
		rnt_check(ibv_destroy_cq(r->cq) == 0);
	if (r->pd)
		rnt_check(ibv_dealloc_pd(r->pd) == 0);
	free(r->mem);
}

void raw_close(struct raw *r)
{
	if (!r->channel)
		return;
	drop_qp(r);
	if (r->id)
		rnt_check(rdma_destroy_id(r->id) == 0);
	if (r->listener)
		rnt_check(rdma_destroy_id(r->listener) == 0);
	rdma_destroy_event_channel(r->channel);
	memset(r, 0, sizeof(*r));
}

/* ---- events ---- */

static void on_request(struct raw *r, const struct rdma_cm_event *ev)
{
	rnt_check(!r->id);
	r->id = ev->id;
	r->request_len = ev->param.conn.private_data_len;
	rnt_check(r->request_len <= sizeof(r->request));
	memcpy(r->request, ev->param.conn.private_data, r->request_len);
}

static void on_established(struct raw *r, const struct rdma_cm_event *ev)
{
	if (r->listener)
		return;
	r->request_len = ev->param.conn.private_data_len;
	rnt_check(r->request_len <= sizeof(r->request));
	memcpy(r->request, ev->param.conn.private_data, r->request_len);
}

static void on_rejected(struct raw *r, const struct rdma_cm_event *ev)
{
	rnotify_wire_get_reject(&r->reject, ev->param.conn.private_data,
				ev->param.conn.private_data_len);
}

int raw_cm_event(struct raw *r, unsigned int ms)
{
	struct pollfd p = { .fd = r->channel->fd, .events = POLLIN };
	uint64_t deadline = rnt_deadline(ms);
	struct rdma_cm_event *ev;
	int type;

	while (rdma_get_cm_event(r->channel, &ev)) {
		rnt_check(errno == EAGAIN);
		if (!rnt_left_ms(deadline))
			return -1;
		/* what the protocol wants of us meanwhile */
		if (!r->cq)
			poll(&p, 1, rnt_left_ms(deadline));
		else if (!raw_pump(r, 0))
			poll(&p, 1, 1);
	}
	type = ev->event;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		on_request(r, ev);
	else if (type == RDMA_CM_EVENT_ESTABLISHED)
		on_established(r, ev);
	else if (type == RDMA_CM_EVENT_REJECTED)
		on_rejected(r, ev);
	rnt_check(rdma_ack_cm_event(ev) == 0);
	return type;
}

static void check_seen(int seen, enum rdma_cm_event_type type)
{
	if (seen != (int)type)
		rnt_fail("%s awaited, got %s", rdma_event_str(type),
			 seen < 0 ? "nothing" : rdma_event_str(seen));
}

void raw_cm_expect_(struct raw *r, enum rdma_cm_event_type type)
{
	check_seen(raw_cm_event(r, RNT_PATIENCE_MS), type);
}

/*
 * Of a connection that ends as soon as it is there ESTABLISHED may be missing: two
 * CPUs handle RTU and DREQ, and the CM drops an RTU that comes after the end.
 */
void raw_await_end_(struct raw *r)
{
	int seen = raw_cm_event(r, RNT_PATIENCE_MS);

	if (seen == RDMA_CM_EVENT_ESTABLISHED)
		seen = raw_cm_event(r, RNT_PATIENCE_MS);
	check_seen(seen, RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(r->id);
}

/* ---- queues ---- */

static void make_memory(struct raw *r)
{
	int access = IBV_ACCESS_LOCAL_WRITE;
	void *p;

	r->nr_recv = r->hello.data_credits + r->hello.ctrl_credits +
		     RAW_RECV_MORE;
	r->recv_len = max_t(u32, RNOTIFY_WIRE_CTRL_MAX,
			    RNOTIFY_WIRE_HDR_LEN + r->hello.msg_size);
	r->mem_len = (size_t)r->nr_recv * r->recv_len +
		     RAW_SENDS * RAW_SEND_SLOT;
	r->mem_len = (r->mem_len + RNT_PAGE - 1) / RNT_PAGE * RNT_PAGE;
	rnt_check(posix_memalign(&p, RNT_PAGE, r->mem_len + RAW_DATA) == 0);
	r->mem = p;
	r->data = r->mem + r->mem_len;
	memset(r->mem, 0, r->mem_len + RAW_DATA);
	r->mr = ibv_reg_mr(r->pd, r->mem, r->mem_len + RAW_DATA, access);
	access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		  IBV_ACCESS_REMOTE_ATOMIC;
	r->data_mr = ibv_reg_mr_iova(r->pd, r->data, RAW_DATA, 0, access);
	rnt_check(r->mr && r->data_mr);
}

static void make_queues(struct raw *r)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = RAW_SENDS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	r->pd = ibv_alloc_pd(r->id->verbs);
	rnt_check(r->pd);
	make_memory(r);
	r->cq = ibv_create_cq(r->id->verbs, RAW_SENDS + r->nr_recv, NULL, NULL,
			      0);
	rnt_check(r->cq);
	attr.send_cq = r->cq;
	attr.recv_cq = r->cq;
	attr.cap.max_recv_wr = r->nr_recv;
	if (rdma_create_qp(r->id, r->pd, &attr))
		rnt_fail("rdma_create_qp(): errno %d", errno);
	for (int i = 0; i < RAW_CREDITS; i++)
		rnotify_grant_init(&r->grant[i],
				   i == RAW_DATA_CREDIT ? r->hello.data_credits :
				   i == RAW_CTRL_CREDIT ? r->hello.ctrl_credits :
				   r->hello.region_slots);
	if (!r->no_receives)
		raw_post_receives(r);
}

static void fill_param(struct rdma_conn_param *param, const void *private_data,
		       unsigned int len)
{
	*param = (struct rdma_conn_param){
		.private_data = private_data,
		.private_data_len = len,
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
}

/* The other side's hello, out of its private data. */
static void take_hello(struct raw *r)
{
	rnt_check_eq(0, rnotify_wire_get_hello(&r->peer, r->request,
					       r->request_len));
	rnotify_credit_init(&r->credit[RAW_DATA_CREDIT], r->peer.data_credits);
	rnotify_credit_init(&r->credit[RAW_CTRL_CREDIT], r->peer.ctrl_credits);
	rnotify_credit_init(&r->credit[RAW_REGION_CREDIT],
			    r->peer.region_slots);
}

static unsigned int own_hello(const struct raw *r, char *buf)
{
	int len = rnotify_wire_put_hello(buf, RNOTIFY_WIRE_HELLO_MAX,
					 &r->hello);

	rnt_check(len > 0);
	return len;
}

/* ---- active side ---- */

void raw_resolve_(struct raw *r, __u16 port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int ms = RNT_PATIENCE_MS * rnt_slow();

	rnt_check(inet_pton(AF_INET, rnt_addr4(), &to.sin_addr) == 1);
	rnt_check(!rdma_create_id(r->channel, &r->id, r, RDMA_PS_TCP));
	rnt_check(!rdma_resolve_addr(r->id, NULL, (void *)&to, ms));
	raw_cm_expect_(r, RDMA_CM_EVENT_ADDR_RESOLVED);
	rnt_check(!rdma_resolve_route(r->id, ms));
	raw_cm_expect_(r, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_queues(r);
}

void raw_request_(struct raw *r, const void *private_data, unsigned int len)
{
	struct rdma_conn_param param;

	fill_param(&param, private_data, len);
	if (rdma_connect(r->id, &param))
		rnt_fail("rdma_connect(): errno %d", errno);
}

void raw_established_(struct raw *r)
{
	raw_cm_expect_(r, RDMA_CM_EVENT_ESTABLISHED);
	take_hello(r);
}

void raw_connect_(struct raw *r, __u16 port)
{
	char buf[RNOTIFY_WIRE_HELLO_MAX];

	raw_resolve_(r, port);
	raw_request_(r, buf, own_hello(r, buf));
}

/* ---- passive side ---- */

__u16 raw_listen_(struct raw *r)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	rnt_check(inet_pton(AF_INET, rnt_addr4(), &at.sin_addr) == 1);
	rnt_check(!rdma_create_id(r->channel, &r->listener, r, RDMA_PS_TCP));
	if (rdma_bind_addr(r->listener, (void *)&at) ||
	    rdma_listen(r->listener, 4))
		rnt_fail("rdma_listen(): errno %d", errno);
	return ntohs(rdma_get_src_port(r->listener));
}

void raw_await_request_(struct raw *r)
{
	raw_cm_expect_(r, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_queues(r);
	take_hello(r);
}

void raw_answer_(struct raw *r, const void *private_data, unsigned int len)
{
	struct rdma_conn_param param;

	fill_param(&param, private_data, len);
	if (rdma_accept(r->id, &param))
		rnt_fail("rdma_accept(): errno %d", errno);
}

void raw_accept_(struct raw *r)
{
	char buf[RNOTIFY_WIRE_HELLO_MAX];

	raw_await_request_(r);
	raw_answer_(r, buf, own_hello(r, buf));
	raw_cm_expect_(r, RDMA_CM_EVENT_ESTABLISHED);
}
