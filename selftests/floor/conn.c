// SPDX-License-Identifier: GPL-2.0
/*
 * Two queue pairs of this machine, connected to each other.
 */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "floor.h"

#define STEP_MS		5000

/* Context: any. */
void floor_fail(struct floor_pair *pair, int error)
{
	cmpxchg(&pair->error, 0, error);
	complete(&pair->step);
	wake_up_all(&pair->wq);
}

static void end_free(struct floor_end *end)
{
	if (end->id && end->id->qp) {
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	if (end->cq) {
		irq_work_sync(&end->irq);
		/* A poller may still be on its way out: see kernel/qp.c. */
		synchronize_rcu();
		ib_free_cq(end->cq);
	}
	if (end->dma)
		ib_dma_unmap_single(end->pd->device, end->dma,
				    end->pair->job->size, DMA_BIDIRECTIONAL);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	kfree(end->buf);
	end->cq = NULL;
	end->dma = 0;
	end->pd = NULL;
	end->buf = NULL;
}

static int end_buffer(struct floor_end *end, struct ib_device *ib)
{
	u32 size = end->pair->job->size;
	u64 dma;

	end->buf = kzalloc(size, GFP_KERNEL);
	if (!end->buf)
		return -ENOMEM;
	dma = ib_dma_map_single(ib, end->buf, size, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ib, dma))
		return -EIO;
	end->dma = dma;
	return 0;
}

static void cq_irq(struct irq_work *work)
{
	struct floor_end *end = container_of(work, struct floor_end, irq);

	end->schedule(end->cq, end);
}

static void cq_event(struct ib_cq *cq, void *context)
{
	struct floor_end *end = context;

	if (in_interrupt())
		end->schedule(cq, end);
	else
		irq_work_queue(&end->irq);
}

static int end_queues(struct floor_end *end, struct ib_device *ib)
{
	u32 depth = end->pair->job->depth;
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = depth + 1,
			.max_recv_wr = depth + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(ib, end, 2 * (depth + 1),
			     end->pair->job->spin ? IB_POLL_DIRECT :
						    IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	end->cq = cq;
	init_irq_work(&end->irq, cq_irq);
	end->schedule = cq->comp_handler;
	if (!end->pair->job->spin)
		cq->comp_handler = cq_event;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	return rdma_create_qp(end->id, end->pd, &attr);
}

/* On failure end_free() cleans up. */
static int end_init(struct floor_end *end, struct rdma_cm_id *id)
{
	struct ib_pd *pd;
	int ret;

	end->id = id;
	end->recv_cqe.done = floor_recv_done;
	end->send_cqe.done = floor_send_done;
	pd = ib_alloc_pd(id->device, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	end->pd = pd;
	ret = end_buffer(end, id->device);
	if (!ret)
		ret = end_queues(end, id->device);
	return ret ?: floor_post_recv(end, end->pair->job->depth);
}

static struct rdma_conn_param conn_param(void)
{
	/* 7 would mean: for ever, on rxe. */
	return (struct rdma_conn_param){
		.retry_count = 6, .rnr_retry_count = 7,
	};
}

/* In the CM's handler. A failure makes the CM destroy the id. */
static int accept(struct floor_pair *pair, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = conn_param();
	struct floor_end *end = &pair->end[1];
	int ret;

	if (end->id)
		return -EBUSY;
	ret = end_init(end, id);
	if (!ret)
		ret = rdma_accept(id, &param);
	if (ret) {
		end_free(end);
		end->id = NULL;
		floor_fail(pair, ret);
	}
	return ret;
}

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct floor_pair *pair = id->context;

	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		complete(&pair->step);
		return 0;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept(pair, id);
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		floor_fail(pair, ev->status < 0 ? ev->status : -ECONNREFUSED);
		return 0;
	}
}

static int await_step(struct floor_pair *pair)
{
	long left;

	left = wait_for_completion_killable_timeout(&pair->step,
						    msecs_to_jiffies(STEP_MS));
	if (left <= 0)
		return left ?: -ETIMEDOUT;
	return READ_ONCE(pair->error);
}

static struct rdma_cm_id *new_id(struct floor_pair *pair)
{
	return rdma_create_id(&init_net, cm_handler, pair, RDMA_PS_TCP,
			      IB_QPT_RC);
}

static int listen(struct floor_pair *pair, const struct sockaddr *addr)
{
	struct rdma_cm_id *id = new_id(pair);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	pair->listener = id;
	ret = rdma_bind_addr(id, (struct sockaddr *)addr);
	return ret ?: rdma_listen(id, 1);
}

static int resolve(struct floor_pair *pair, struct rdma_cm_id *id)
{
	struct sockaddr *dst = (struct sockaddr *)
			       &pair->listener->route.addr.src_addr;
	int ret;

	ret = rdma_resolve_addr(id, NULL, dst, STEP_MS);
	if (!ret)
		ret = await_step(pair);
	if (!ret)
		ret = rdma_resolve_route(id, STEP_MS);
	return ret ?: await_step(pair);
}

static int connect(struct floor_pair *pair)
{
	struct rdma_conn_param param = conn_param();
	struct floor_end *end = &pair->end[0];
	struct rdma_cm_id *id = new_id(pair);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	end->id = id;
	ret = resolve(pair, id);
	if (!ret)
		ret = end_init(end, id);
	if (!ret)
		ret = rdma_connect(id, &param);
	/* ESTABLISHED comes to both ends. */
	if (!ret)
		ret = await_step(pair);
	return ret ?: await_step(pair);
}

/**
 * floor_connect() - connect the two ends
 * @pair: with @job; the rest zeroed
 * @addr: one of this machine, port 0
 *
 * Return: 0, or a negative errno; floor_disconnect() cleans up either way.
 */
int floor_connect(struct floor_pair *pair, const struct sockaddr *addr)
{
	int ret;

	init_completion(&pair->step);
	init_waitqueue_head(&pair->wq);
	pair->end[0].pair = pair;
	pair->end[1].pair = pair;
	ret = listen(pair, addr);
	return ret ?: connect(pair);
}

/**
 * floor_disconnect() - undo floor_connect(), also half of it
 * @pair: pair that nobody posts to any more
 */
void floor_disconnect(struct floor_pair *pair)
{
	int i;

	/* First, so that no request comes any more. */
	if (pair->listener)
		rdma_destroy_id(pair->listener);
	for (i = 0; i < 2; i++) {
		struct floor_end *end = &pair->end[i];

		if (!end->id)
			continue;
		rdma_disconnect(end->id);
		end_free(end);
		rdma_destroy_id(end->id);
	}
}
