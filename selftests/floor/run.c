// SPDX-License-Identifier: GPL-2.0
/*
 * Ping-pong and stream. Sends are signalled one in many, receives posted again
 * in batches: the least that a careful user of verbs does.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include "floor.h"

#define STALL		(20 * HZ)
#define POLL_MAX	16

int floor_post_recv(struct floor_end *end, u32 nr)
{
	struct ib_sge sge = {
		.addr = end->dma,
		.length = end->pair->job->size,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr[FLOOR_REPOST] = {};
	u32 i, n;
	int ret;

	for (; nr; nr -= n) {
		n = min(nr, FLOOR_REPOST);
		for (i = 0; i < n; i++) {
			wr[i].wr_cqe = &end->recv_cqe;
			wr[i].sg_list = &sge;
			wr[i].num_sge = 1;
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		}
		ret = ib_post_recv(end->id->qp, wr, NULL);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * @nr writes with one doorbell. Signalled are the last of a stream's batch, and
 * each FLOOR_REPOST-th of a ping-pong's.
 */
static int post_send(struct floor_end *end, u32 nr)
{
	struct floor_end *peer = &end->pair->end[end == &end->pair->end[0]];
	struct ib_rdma_wr *wr = end->wr;
	struct ib_sge sge = {
		.addr = end->dma,
		.length = end->pair->job->size,
		.lkey = end->pd->local_dma_lkey,
	};
	u32 i;

	memset(wr, 0, nr * sizeof(*wr));
	for (i = 0; i < nr; i++) {
		wr[i].wr.wr_cqe = &end->send_cqe;
		wr[i].wr.sg_list = &sge;
		wr[i].wr.num_sge = 1;
		wr[i].wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
		wr[i].wr.ex.imm_data = cpu_to_be32(end->sent + i);
		wr[i].wr.next = i + 1 < nr ? &wr[i + 1].wr : NULL;
		wr[i].remote_addr = peer->dma;
		wr[i].rkey = peer->pd->unsafe_global_rkey;
	}
	end->sent += nr;
	if (end->pair->job->stream || end->sent % FLOOR_REPOST == 0)
		wr[nr - 1].wr.send_flags = IB_SEND_SIGNALED;
	return ib_post_send(end->id->qp, &wr[0].wr, NULL);
}

void floor_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = container_of(wc->wr_cqe, struct floor_end,
					     recv_cqe);
	void (*arrived)(struct floor_end *end);
	int ret;

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			floor_fail(end->pair, -EIO);
		return;
	}
	arrived = READ_ONCE(end->arrived);
	if (arrived)
		arrived(end);
	if (++end->to_post < FLOOR_REPOST)
		return;
	ret = floor_post_recv(end, end->to_post);
	if (ret)
		floor_fail(end->pair, ret);
	WRITE_ONCE(end->freed, end->freed + end->to_post);
	end->to_post = 0;
	if (wq_has_sleeper(&end->pair->wq))
		wake_up(&end->pair->wq);
}

void floor_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct floor_end *end = container_of(wc->wr_cqe, struct floor_end,
					     send_cqe);
	struct floor_pair *pair = end->pair;

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			floor_fail(pair, -EIO);
		return;
	}
	/* Of a ping-pong nobody asks. */
	WRITE_ONCE(end->completed, end->completed + pair->job->batch);
	if (wq_has_sleeper(&pair->wq))
		wake_up(&pair->wq);
}

/*
 * ---- what happens at an arrival ---------------------------------------
 */

static void answer(struct floor_end *end)
{
	int ret = post_send(end, 1);

	if (ret)
		floor_fail(end->pair, ret);
}

static void pong(struct floor_end *end)
{
	answer(end);
}

static void ping(struct floor_end *end)
{
	struct floor_pair *pair = end->pair;
	u64 now = ktime_get_ns();
	u32 round = pair->rounds;

	if (round >= pair->job->count)
		return;
	pair->result->half[round] = min_t(u64, (now - pair->start) / 2,
					  U32_MAX);
	pair->start = now;
	WRITE_ONCE(pair->rounds, round + 1);
	if (round + 1 < pair->job->count)
		answer(end);
	else
		wake_up(&pair->wq);
}

static void count(struct floor_end *end)
{
	struct floor_pair *pair = end->pair;

	WRITE_ONCE(pair->rounds, pair->rounds + 1);
	if (pair->rounds == pair->job->count)
		wake_up(&pair->wq);
}

/*
 * ---- who measures -----------------------------------------------------
 */

static bool over(struct floor_pair *pair)
{
	return READ_ONCE(pair->rounds) >= pair->job->count ||
	       READ_ONCE(pair->error);
}

/* Room for one more batch, in the send queue and in the peer's receives? */
static bool room(struct floor_pair *pair)
{
	struct floor_end *end = &pair->end[0];
	u32 want = end->sent + pair->job->batch;

	return want - READ_ONCE(end->completed) <= pair->job->depth &&
	       want - READ_ONCE(pair->end[1].freed) <= pair->job->depth;
}

/* Until @cond holds or the run failed. */
static int until(struct floor_pair *pair, bool (*cond)(struct floor_pair *pair))
{
	unsigned long end = jiffies + STALL;
	long left = STALL;

	if (!pair->job->spin) {
		left = wait_event_killable_timeout(pair->wq,
						   cond(pair) || pair->error,
						   STALL);
	} else {
		while (left > 0 && !cond(pair) && !READ_ONCE(pair->error)) {
			ib_process_cq_direct(pair->end[0].cq, POLL_MAX);
			cond_resched();
			if (fatal_signal_pending(current))
				left = -EINTR;
			else if (time_after(jiffies, end))
				left = 0;
		}
	}
	if (left <= 0)
		return left ?: -ETIMEDOUT;
	return READ_ONCE(pair->error);
}

static int poll_fn(void *data)
{
	struct floor_pair *pair = data;

	while (!kthread_should_stop()) {
		ib_process_cq_direct(pair->end[1].cq, POLL_MAX);
		cond_resched();
	}
	return 0;
}

static int stream(struct floor_pair *pair)
{
	u32 batch = pair->job->batch;
	int ret = 0;
	u32 i;

	for (i = 0; i < pair->job->count && !ret; i += batch) {
		ret = until(pair, room);
		if (!ret)
			ret = post_send(&pair->end[0], batch);
	}
	return ret ?: until(pair, over);
}

static int ping_pong(struct floor_pair *pair)
{
	pair->start = ktime_get_ns();
	answer(&pair->end[0]);
	return until(pair, over);
}

static int cmp_u32(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 :
	       *(const u32 *)a > *(const u32 *)b;
}

static int measure(struct floor_pair *pair)
{
	u64 start = ktime_get_ns();
	int ret;

	ret = pair->job->stream ? stream(pair) : ping_pong(pair);
	pair->result->ns = ktime_get_ns() - start;
	if (!pair->job->stream && !ret)
		sort(pair->result->half, pair->job->count, sizeof(u32),
		     cmp_u32, NULL);
	return ret;
}

static int run_connected(struct floor_pair *pair)
{
	struct task_struct *poller = NULL;
	int ret;

	pair->end[0].arrived = pair->job->stream ? NULL : ping;
	pair->end[1].arrived = pair->job->stream ? count : pong;
	if (pair->job->spin) {
		poller = kthread_run(poll_fn, pair, "rnotify_floor");
		if (IS_ERR(poller))
			return PTR_ERR(poller);
	}
	ret = measure(pair);
	if (poller)
		kthread_stop(poller);
	/* Late arrivals are nobody's, and post nothing while it drains. */
	WRITE_ONCE(pair->end[0].arrived, NULL);
	WRITE_ONCE(pair->end[1].arrived, NULL);
	synchronize_rcu();
	return ret;
}

static int run_pair(struct floor_pair *pair, const struct sockaddr *addr)
{
	u64 start = ktime_get_ns();
	int ret;

	ret = floor_connect(pair, addr);
	if (pair->job->connect)
		pair->result->ns += ktime_get_ns() - start;
	else if (!ret)
		ret = run_connected(pair);
	floor_disconnect(pair);
	return ret;
}

/**
 * floor_run() - connect, measure, disconnect
 * @job: what; within the limits of floor.h, a stream's count a multiple of batch
 * @addr: one of this machine, port 0
 * @result: where to; @half has room for @count
 *
 * Context: process, sleeps; ends on a fatal signal.
 * Return: 0 or a negative errno.
 */
int floor_run(const struct floor_job *job, const struct sockaddr *addr,
	      struct floor_result *result)
{
	u32 left = job->connect ? job->count : 1;
	struct floor_pair *pair;
	int ret = 0;

	while (left-- && !ret) {
		pair = kzalloc(sizeof(*pair), GFP_KERNEL);
		if (!pair)
			return -ENOMEM;
		pair->job = job;
		pair->result = result;
		ret = run_pair(pair, addr);
		kfree(pair);
	}
	return ret;
}
