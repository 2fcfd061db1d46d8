/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The floor under rnotify's figures: WRITE WITH IMMEDIATE from kernel to kernel
 * on the bare verbs API, with nothing around it. Both ends are in this module,
 * connected through rdma_cm to the machine's own address, so that flow control
 * is a shared counter and keys need no exchange.
 *
 *	main.c	module, debugfs
 *	conn.c	the connected pair
 *	run.c	what is measured
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/socket.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define FLOOR_DEPTH		256u	/* of each queue, at most */
#define FLOOR_REPOST		16u	/* receives that are posted at once */
#define FLOOR_BATCH_MAX		64u
#define FLOOR_SIZE_MAX		BIT(16)
#define FLOOR_COUNT_MAX		10000000u

/**
 * struct floor_job - what to measure
 * @connect: connections, one after the other
 * @stream: one way at full rate; if neither, ping-pong
 * @spin: both ends poll in a thread; else completions come by softirq
 * @size: bytes of a write; each end has a buffer of as many
 * @depth: of each queue
 * @count: notifications, round trips, or connections
 * @batch: stream: work requests per doorbell
 */
struct floor_job {
	bool connect;
	bool stream;
	bool spin;
	u32 size;
	u32 depth;
	u32 count;
	u32 batch;
};

/**
 * struct floor_result - what came out
 * @ns: the whole took so long; of connections, without their end
 * @half: ping-pong: half of each round trip, ns, sorted; @count of them
 */
struct floor_result {
	u64 ns;
	u32 *half;
};

struct floor_pair;

/**
 * struct floor_end - one end of the connection
 * @pair: owner
 * @id: with the queue pair
 * @pd: has a key for all memory: this module is not for production
 * @cq: send and receive completions
 * @schedule: softirq: the core's handler of @cq
 * @irq: softirq: calls it from an interrupt, as rnotify does: see kernel/cq.c
 * @buf: source and target
 * @dma: its address
 * @recv_cqe: of all receives
 * @send_cqe: of signalled sends
 * @arrived: called for each notification
 * @to_post: receives that completed and are not posted again
 * @freed: receives that were posted again, in all
 * @sent: work requests posted
 * @completed: stream: of these, known to be completed
 * @wr: scratch for posting
 */
struct floor_end {
	struct floor_pair *pair;
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	ib_comp_handler schedule;
	struct irq_work irq;
	void *buf;
	u64 dma;
	struct ib_cqe recv_cqe;
	struct ib_cqe send_cqe;
	void (*arrived)(struct floor_end *end);
	u32 to_post;
	u32 freed;
	u32 sent;
	u32 completed;
	struct ib_rdma_wr wr[FLOOR_BATCH_MAX];
};

/**
 * struct floor_pair - two connected ends
 * @job: what to measure
 * @result: where to
 * @listener: for the passive end
 * @end: active, passive
 * @step: a step of the connection is over
 * @error: negative errno of what went wrong first
 * @wq: who measures sleeps here
 * @rounds: ping-pong: round trips made; stream: notifications arrived
 * @start: ns when the latest round began
 */
struct floor_pair {
	const struct floor_job *job;
	struct floor_result *result;
	struct rdma_cm_id *listener;
	struct floor_end end[2];
	struct completion step;
	int error;
	wait_queue_head_t wq;
	u32 rounds;
	u64 start;
};

int floor_connect(struct floor_pair *pair, const struct sockaddr *addr);
void floor_disconnect(struct floor_pair *pair);
int floor_post_recv(struct floor_end *end, u32 nr);
void floor_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void floor_send_done(struct ib_cq *cq, struct ib_wc *wc);
void floor_fail(struct floor_pair *pair, int error);
int floor_run(const struct floor_job *job, const struct sockaddr *addr,
	      struct floor_result *result);

#endif /* FLOOR_H */
