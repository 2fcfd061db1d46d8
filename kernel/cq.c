// SPDX-License-Identifier: GPL-2.0
/*
 * An endpoint's completion queue, polled by the core in softirq context. What is
 * done here is to choose how the softirq comes to run.
 *
 * The core raises it wherever the device happens to complete. Most do in a hard
 * interrupt, behind which a softirq runs at once. rxe does, from 6.4 on, in a
 * worker thread; a softirq that is raised there is left to ksoftirqd, at the
 * price of two context switches. So from a thread the way goes through an
 * interrupt of our own. Unless the reader is behind anyway: then it has enough
 * to do, and ksoftirqd, which runs later, finds more completions at once.
 */
#include <linux/preempt.h>

#include "ep.h"

static void cq_irq(struct irq_work *work)
{
	struct rnotify_ep *ep = container_of(work, struct rnotify_ep, cq_irq);

	ep->cq_schedule(ep->cq, ep);
}

static bool reader_is_behind(const struct rnotify_ring *ring)
{
	/* The user's cons may be nonsense: then the choice is, too. */
	return READ_ONCE(ring->prod) != READ_ONCE(ring->tail->cons);
}

/* May be called with the device's locks held, in any context: only schedules. */
static void cq_event(struct ib_cq *cq, void *context)
{
	struct rnotify_ep *ep = context;

	if (in_interrupt() || reader_is_behind(ep->ring))
		ep->cq_schedule(cq, ep);
	else
		irq_work_queue(&ep->cq_irq);
}

/**
 * rnotify_cq_create() - make the completion queue
 * @ep: endpoint; mutex held
 * @nr: completions that it holds
 *
 * Return: 0 or a negative errno.
 */
int rnotify_cq_create(struct rnotify_ep *ep, u32 nr)
{
	struct ib_cq *cq;

	cq = ib_alloc_cq_any(ep->dev->ib, ep, nr, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	/* No queue pair yet, so no completion, so nobody to call it. */
	init_irq_work(&ep->cq_irq, cq_irq);
	ep->cq_schedule = cq->comp_handler;
	cq->comp_handler = cq_event;
	ep->cq = cq;
	return 0;
}

/**
 * rnotify_cq_destroy() - free the completion queue
 * @ep: endpoint without a queue pair, and perhaps without a completion queue;
 *	mutex held
 *
 * Context: process, sleeps.
 */
void rnotify_cq_destroy(struct rnotify_ep *ep)
{
	if (!ep->cq)
		return;
	irq_work_sync(&ep->cq_irq);
	/*
	 * The core's poll handler marks itself done before it arms the queue
	 * again, and ib_free_cq() waits for the mark only. It runs in a
	 * softirq, hence inside an RCU read side. None starts meanwhile.
	 */
	irq_poll_disable(&ep->cq->iop);
	synchronize_rcu();
	irq_poll_enable(&ep->cq->iop);
	ib_free_cq(ep->cq);
	ep->cq = NULL;
}
