// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - verbs: connections by rdma_cm, many at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs.h"

#define CONNECTING 64
#define RESOLVE_MS 5000
#define INLINE_WISH 256u

/* Private data of request and answer: of one program, so of one byte order. */
struct hello {
	uint64_t addr;
	uint32_t rkey;
	uint32_t ep;
};

struct link *verbs_open_as(const struct transport *ops, const struct run *run)
{
	struct verbs *v = calloc(1, sizeof(*v));

	if (!v) {
		fail("no memory");
		return NULL;
	}
	v->link = (struct link){ .ops = ops, .run = run };
	v->epfd = -1;
	v->rq_size = run->window + CREDIT_RECVS;
	v->sq_size = 2 * wrs_per_note(v) * run->window + 2 * CREDIT_RECVS;
	v->conns = calloc(run->endpoints, sizeof(*v->conns));
	v->wrs = calloc(2 * (size_t)run->batch, sizeof(*v->wrs));
	v->sges = calloc(run->batch, sizeof(*v->sges));
	v->recv_wrs = calloc(v->rq_size, sizeof(*v->recv_wrs));
	v->recv_sges = calloc(v->rq_size, sizeof(*v->recv_sges));
	v->events = rdma_create_event_channel();
	if (v->conns && v->wrs && v->sges && v->recv_wrs && v->recv_sges &&
	    v->events)
		return &v->link;
	fail("%s: %s", ops->name, strerror(errno));
	verbs_close(&v->link);
	return NULL;
}

static size_t memory_bytes(const struct verbs *v)
{
	const struct run *run = v->link.run;
	size_t n = 2 * run->endpoints * slots_bytes(run);

	if (recvs_have_data(v))
		n += (size_t)run->endpoints * v->rq_size * run->size;
	return n;
}

static int make_memory(struct verbs *v)
{
	size_t len = memory_bytes(v);
	uint32_t i;

	v->memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (v->memory == MAP_FAILED) {
		v->memory = NULL;
		return fail("no memory");
	}
	v->mr = ibv_reg_mr(v->pd, v->memory, len, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE);
	if (!v->mr)
		return fail("%s: ibv_reg_mr: %s", v->link.ops->name,
			    strerror(errno));
	for (i = 0; i < v->rq_size; i++) {
		v->recv_sges[i].length = v->link.run->size;
		v->recv_sges[i].lkey = v->mr->lkey;
	}
	return 0;
}

static int make_channel(struct verbs *v, struct ibv_context *dev)
{
	struct epoll_event in = { .events = EPOLLIN };

	if (v->link.run->wait == WAIT_SPIN)
		return 0;
	v->channel = ibv_create_comp_channel(dev);
	if (!v->channel)
		return fail("ibv_create_comp_channel: %s", strerror(errno));
	if (v->link.run->wait != WAIT_EPOLL)
		return 0;
	v->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (v->epfd < 0 ||
	    epoll_ctl(v->epfd, EPOLL_CTL_ADD, v->channel->fd, &in))
		return fail("epoll: %s", strerror(errno));
	return 0;
}

/* As few as hold a completion for each receive. */
static int make_rcqs(struct verbs *v, struct ibv_context *dev, uint32_t max)
{
	uint64_t each, all = (uint64_t)v->link.run->endpoints * v->rq_size;
	uint32_t i, conns;

	for (v->nr_rcqs = 1; v->nr_rcqs <= RCQS_MAX; v->nr_rcqs++) {
		conns = (v->link.run->endpoints + v->nr_rcqs - 1) / v->nr_rcqs;
		each = (uint64_t)conns * v->rq_size;
		if (each <= max)
			break;
	}
	if (v->nr_rcqs > RCQS_MAX)
		return fail("%s: %llu receives are more than fit %u completion queues",
			    v->link.ops->name, (unsigned long long)all,
			    RCQS_MAX);
	for (i = 0; i < v->nr_rcqs; i++) {
		v->rcqs[i].cq = ibv_create_cq(dev, (int)each, &v->rcqs[i],
					      v->channel, 0);
		if (!v->rcqs[i].cq)
			return fail("ibv_create_cq: %s", strerror(errno));
	}
	return 0;
}

static int make_cqs(struct verbs *v, struct ibv_context *dev)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(dev, &attr))
		return fail("ibv_query_device: %s", strerror(errno));
	/* One more: the last signalled one may be incomplete when the next is. */
	v->scq = ibv_create_cq(dev, (int)(v->link.run->endpoints *
					  (SIGNALLED + 1)), NULL, NULL, 0);
	if (!v->scq)
		return fail("ibv_create_cq: %s", strerror(errno));
	return make_rcqs(v, dev, (uint32_t)attr.max_cqe);
}

/* What belongs to a device, once the first connection has told which it is. */
static int on_device(struct verbs *v, struct ibv_context *dev)
{
	if (v->pd)
		return v->pd->context == dev ? 0 :
			fail("%s: two devices", v->link.ops->name);
	v->pd = ibv_alloc_pd(dev);
	if (!v->pd)
		return fail("ibv_alloc_pd: %s", strerror(errno));
	if (make_channel(v, dev))
		return EXIT_FAILED;
	return make_cqs(v, dev) ? EXIT_FAILED : make_memory(v);
}

static int make_qp(struct verbs *v, uint32_t ep, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = v->scq,
		.recv_cq = v->rcqs[ep % v->nr_rcqs].cq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = v->sq_size,
			.max_recv_wr = v->rq_size,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = INLINE_WISH,
		},
	};

	if (rdma_create_qp(id, v->pd, &attr))
		return fail("%s: rdma_create_qp: %s", v->link.ops->name,
			    strerror(errno));
	v->inline_max = attr.cap.max_inline_data;
	if (v->inline_max > v->link.run->inline_max)
		v->inline_max = v->link.run->inline_max;
	v->conns[ep].credit = v->link.run->window;
	return verbs_post_recvs(v, ep, v->rq_size);
}

static struct rdma_conn_param params_of(struct verbs *v, uint32_t ep,
					struct hello *hello)
{
	*hello = (struct hello){
		.addr = (uintptr_t)verbs_slot(v, true, ep, 0),
		.rkey = v->mr->rkey,
		.ep = ep,
	};
	return (struct rdma_conn_param){
		.private_data = hello,
		.private_data_len = sizeof(*hello),
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
}

static int learn(struct verbs *v, const struct rdma_cm_event *event,
		 uint32_t *ep)
{
	struct hello hello;

	if (event->param.conn.private_data_len < sizeof(hello))
		return fail("%s: a stranger", v->link.ops->name);
	memcpy(&hello, event->param.conn.private_data, sizeof(hello));
	if (hello.ep >= v->link.run->endpoints)
		return fail("%s: a stranger", v->link.ops->name);
	v->conns[hello.ep].remote_addr = hello.addr;
	v->conns[hello.ep].rkey = hello.rkey;
	*ep = hello.ep;
	return 0;
}

static int answer(struct verbs *v, struct rdma_cm_event *event)
{
	struct rdma_conn_param params;
	struct hello hello;
	uint32_t ep;

	if (learn(v, event, &ep))
		return EXIT_FAILED;
	v->conns[ep].id = event->id;
	event->id->context = &v->conns[ep];
	if (on_device(v, event->id->verbs) || make_qp(v, ep, event->id))
		return EXIT_FAILED;
	params = params_of(v, ep, &hello);
	if (rdma_accept(event->id, &params))
		return fail("rdma_accept: %s", strerror(errno));
	return 0;
}

static int request(struct verbs *v, struct rdma_cm_id *id)
{
	uint32_t ep = (uint32_t)((struct vconn *)id->context - v->conns);
	struct rdma_conn_param params;
	struct hello hello;

	if (on_device(v, id->verbs) || make_qp(v, ep, id))
		return EXIT_FAILED;
	params = params_of(v, ep, &hello);
	if (rdma_connect(id, &params))
		return fail("rdma_connect: %s", strerror(errno));
	return 0;
}

static int handle(struct verbs *v, struct rdma_cm_event *event,
		  uint32_t *ready)
{
	uint32_t ep;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(event->id, RESOLVE_MS) ?
			fail("rdma_resolve_route: %s", strerror(errno)) : 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return request(v, event->id);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return answer(v, event);
	case RDMA_CM_EVENT_ESTABLISHED:
		++*ready;
		/* The server has heard of the peer's memory in the request. */
		return v->listener ? 0 : learn(v, event, &ep);
	default:
		return fail("%s: %s (%d)", v->link.ops->name,
			    rdma_event_str(event->event), event->status);
	}
}

static int set_up(struct verbs *v, uint32_t *ready)
{
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(v->events, &event))
		return errno == EINTR ? 0 :
			fail("rdma_get_cm_event: %s", strerror(errno));
	ret = handle(v, event, ready);
	rdma_ack_cm_event(event);
	return ret;
}

int verbs_listen(struct link *link, union address *addr)
{
	struct verbs *v = verbs_of(link);

	if (rdma_create_id(v->events, &v->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(v->listener, &addr->sa) ||
	    rdma_listen(v->listener, CONNECTING))
		return fail("%s: listening: %s", link->ops->name,
			    strerror(errno));
	address_set_port(addr, ntohs(rdma_get_src_port(v->listener)));
	return 0;
}

int verbs_accept(struct link *link)
{
	uint32_t ready = 0;

	while (ready < link->run->endpoints)
		if (set_up(verbs_of(link), &ready))
			return EXIT_FAILED;
	return 0;
}

static int start_one(struct verbs *v, struct vconn *c, const union address *to)
{
	union address dst = *to;

	if (rdma_create_id(v->events, &c->id, c, RDMA_PS_TCP) ||
	    rdma_resolve_addr(c->id, NULL, &dst.sa, RESOLVE_MS))
		return fail("%s: rdma_resolve_addr: %s", v->link.ops->name,
			    strerror(errno));
	return 0;
}

int verbs_connect(struct link *link, const union address *addr)
{
	struct verbs *v = verbs_of(link);
	uint32_t started = 0, ready = 0;

	while (ready < link->run->endpoints) {
		if (started < link->run->endpoints &&
		    started - ready < CONNECTING) {
			if (start_one(v, &v->conns[started++], addr))
				return EXIT_FAILED;
		} else if (set_up(v, &ready)) {
			return EXIT_FAILED;
		}
	}
	return 0;
}

/* ---- the end ---- */

static void close_qps(struct verbs *v)
{
	uint32_t i;

	/* All say goodbye before the first is waited for. */
	for (i = 0; i < v->link.run->endpoints; i++)
		if (v->conns[i].id && v->conns[i].id->qp)
			rdma_disconnect(v->conns[i].id);
	for (i = 0; i < v->link.run->endpoints; i++)
		if (v->conns[i].id && v->conns[i].id->qp)
			rdma_destroy_qp(v->conns[i].id);
}

/* After all that lives on their device. */
static void close_ids(struct verbs *v)
{
	uint32_t i;

	for (i = 0; i < v->link.run->endpoints; i++)
		if (v->conns[i].id)
			rdma_destroy_id(v->conns[i].id);
	if (v->listener)
		rdma_destroy_id(v->listener);
}

static void close_device(struct verbs *v)
{
	unsigned int i;

	if (v->mr)
		ibv_dereg_mr(v->mr);
	if (v->memory)
		munmap(v->memory, memory_bytes(v));
	for (i = 0; i < RCQS_MAX; i++) {
		if (v->rcqs[i].unacked)
			ibv_ack_cq_events(v->rcqs[i].cq, v->rcqs[i].unacked);
		if (v->rcqs[i].cq)
			ibv_destroy_cq(v->rcqs[i].cq);
	}
	if (v->scq)
		ibv_destroy_cq(v->scq);
	if (v->epfd >= 0)
		close(v->epfd);
	if (v->channel)
		ibv_destroy_comp_channel(v->channel);
	if (v->pd)
		ibv_dealloc_pd(v->pd);
}

void verbs_close(struct link *link)
{
	struct verbs *v = verbs_of(link);

	if (v->conns)
		close_qps(v);
	close_device(v);
	if (v->conns)
		close_ids(v);
	if (v->events)
		rdma_destroy_event_channel(v->events);
	free(v->conns);
	free(v->wrs);
	free(v->sges);
	free(v->recv_wrs);
	free(v->recv_sges);
	free(v);
}
