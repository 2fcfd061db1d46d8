// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf with libfabric beside it: the verbs provider's connected endpoints,
 * and fi_writedata(), an RDMA write with immediate data.
 *
 * As its best users write it: one thread for a domain and no locks (so it says
 * FI_THREAD_DOMAIN), small payload injected, the rest without a completion each,
 * lists marked with FI_MORE, a queue for receives that can be slept on and one for
 * sends that nobody sleeps on. What the provider makes of that is its own affair:
 * that of libfabric 1.17 posts each work request by itself, and has each signalled.
 *
 * A receive is used up by each notification, and the program has to post them
 * (FI_RX_CQ_DATA): half a window at a time, and then the other end gets as much
 * credit with an empty notification. So no receive is ever missing.
 */
#include <sys/epoll.h>

#include <rdma/fi_rma.h>

#include "fabric.h"

#define CREDIT_FLAG 0x80000000u

static void *fabric_sent(struct link *link, uint32_t ep, uint32_t n)
{
	(void)ep;
	return slot(fabric_of(link), false, n);
}

static void *fabric_got(struct link *link, uint32_t ep, uint32_t n)
{
	(void)ep;
	return slot(fabric_of(link), true, n);
}

/* ---- sending ---- */

static int cq_failed(struct fid_cq *cq, ssize_t err)
{
	struct fi_cq_err_entry entry = { 0 };

	if (err != -FI_EAVAIL)
		return broken("reading a completion queue", err);
	fi_cq_readerr(cq, &entry, 0);
	return fail("libfabric: an operation failed: %s",
		    fi_cq_strerror(cq, entry.prov_errno, entry.err_data, NULL,
				   0));
}

/*
 * None of the sends asks for a completion, so none is ever found; looking is what
 * makes room in the queue.
 */
static int reap_sends(struct fabric *f)
{
	struct fi_cq_data_entry none;
	ssize_t ret = fi_cq_read(f->tx, &none, 1);

	f->tx_posted = 0;
	return ret == -FI_EAGAIN ? 0 : cq_failed(f->tx, ret);
}

static ssize_t write_injected(struct fabric *f, uint32_t number, uint32_t n)
{
	return fi_inject_writedata(f->ep, slot(f, false, n), f->link.run->size,
				   number, 0, f->remote.addr +
				   (uint64_t)n * f->link.run->size,
				   f->remote.key);
}

/* One of a list, of which there is @more. */
static ssize_t write_listed(struct fabric *f, uint32_t number, uint32_t n,
			    bool more)
{
	uint32_t size = f->link.run->size;
	const struct iovec iov = { slot(f, false, n), size };
	const struct fi_rma_iov to = {
		.addr = f->remote.addr + (uint64_t)n * size,
		.len = size,
		.key = f->remote.key,
	};
	void *desc = fi_mr_desc(f->mr);
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = size ? 1 : 0,
		.rma_iov = &to,
		.rma_iov_count = 1,
		.data = number,
	};

	return fi_writemsg(f->ep, &msg, FI_REMOTE_CQ_DATA |
			   (size <= f->info->tx_attr->inject_size ?
			    FI_INJECT : 0) | (more ? FI_MORE : 0));
}

static int fabric_post(struct link *link, uint32_t ep, unsigned int n)
{
	struct fabric *f = fabric_of(link);
	bool alone = n == 1 && link->run->size <= f->info->tx_attr->inject_size;
	unsigned int i;
	ssize_t ret;

	(void)ep;
	if (n > link->run->batch)
		n = link->run->batch;
	if (n > f->credit)
		n = f->credit;
	if (f->tx_posted + n >= f->tx_size / 2 && reap_sends(f))
		return -1;
	for (i = 0; i < n; i++) {
		uint32_t number = f->sent, at = number % slots_of(link->run);

		ret = alone ? write_injected(f, number, at) :
			write_listed(f, number, at, i + 1 < n);
		if (ret == -FI_EAGAIN) {
			if (reap_sends(f))
				return -1;
			break;
		}
		if (ret) {
			broken("writing", ret);
			return -1;
		}
		f->sent++;
		f->credit--;
		f->tx_posted++;
	}
	return (int)i;
}

static int send_credit(struct fabric *f)
{
	ssize_t ret;

	do {
		ret = fi_inject_writedata(f->ep, f->memory, 0,
					  CREDIT_FLAG | f->owed, 0,
					  f->remote.addr, f->remote.key);
		if (ret == -FI_EAGAIN && reap_sends(f))
			return EXIT_FAILED;
	} while (ret == -FI_EAGAIN);
	f->owed = 0;
	f->tx_posted++;
	return ret ? broken("returning credit", ret) : 0;
}

/* ---- receiving ---- */

/* Receives take the immediate data only: without a buffer. */
int fabric_post_receives(struct fabric *f, uint32_t n)
{
	const struct fi_msg msg = { 0 };
	ssize_t ret;

	while (n--) {
		ret = fi_recvmsg(f->ep, &msg, n ? FI_MORE : 0);
		if (ret)
			return broken("fi_recvmsg", ret);
	}
	return 0;
}

/* Half a window has been consumed: post again, and tell the other end. */
static int replenish(struct fabric *f)
{
	uint32_t n = f->used;

	f->used = 0;
	if (fabric_post_receives(f, n))
		return EXIT_FAILED;
	return f->owed ? send_credit(f) : 0;
}

/* 1: a notification; 0: a credit; or failure */
static int look_at(struct fabric *f, const struct fi_cq_data_entry *entry,
		   struct note *note)
{
	uint32_t word = (uint32_t)entry->data, half = f->link.run->window / 2;
	bool credit = word & CREDIT_FLAG;

	if (credit) {
		f->credit += word & ~CREDIT_FLAG;
	} else {
		f->owed++;
		*note = (struct note){ .number = word };
	}
	if (++f->used >= (half ? half : 1) && replenish(f))
		return -1;
	return !credit;
}

static int keep(struct fabric *f, ssize_t n)
{
	f->at_entry = 0;
	f->nr_entries = n > 0 ? (unsigned int)n : 0;
	return n >= 0 || n == -FI_EAGAIN || n == -FI_EINTR ? 0 :
		cq_failed(f->rx, n);
}

static int fabric_take(struct link *link, struct note *notes, unsigned int max)
{
	struct fabric *f = fabric_of(link);
	unsigned int have = 0;
	int ret;

	if (f->at_entry == f->nr_entries &&
	    keep(f, fi_cq_read(f->rx, f->entries, POLL_MAX)))
		return -1;
	while (have < max && f->at_entry < f->nr_entries) {
		ret = look_at(f, &f->entries[f->at_entry++], &notes[have]);
		if (ret < 0)
			return ret;
		have += (unsigned int)ret;
	}
	return (int)have;
}

static int await_epoll(struct fabric *f)
{
	struct fid *fid = &f->rx->fid;
	struct epoll_event event;
	int ret = fi_trywait(f->fabric, &fid, 1);

	if (ret == -FI_EAGAIN)
		return 0;
	if (ret)
		return broken("fi_trywait", ret);
	f->link.sleeps++;
	if (epoll_wait(f->epfd, &event, 1, -1) < 0 && errno != EINTR)
		return broken("epoll", -errno);
	return 0;
}

static int await_completion(struct fabric *f)
{
	switch (f->link.run->wait) {
	case WAIT_SPIN:
		return 0;
	case WAIT_EPOLL:
		return await_epoll(f);
	}
	f->link.sleeps++;
	return keep(f, fi_cq_sread(f->rx, f->entries, POLL_MAX, NULL, -1));
}

/* Who waits for room waits for a credit: nothing else is under way to it. */
static int fabric_sleep(struct link *link, bool room, uint32_t ep)
{
	struct fabric *f = fabric_of(link);
	struct note note;
	int ret;

	(void)ep;
	if (!room)
		return await_completion(f);
	while (!f->credit) {
		ret = fabric_take(link, &note, 1);
		if (ret > 0)
			return fail("libfabric: a notification while waiting for room");
		if (ret < 0)
			return EXIT_FAILED;
		if (!f->credit && f->at_entry == f->nr_entries &&
		    await_completion(f))
			return EXIT_FAILED;
	}
	/* Else it is the send queue: its completions are about to come. */
	return 0;
}

const struct transport peer = {
	.name = "libfabric",
	.summary = "libfabric, verbs provider: fi_writedata()",
	.waits = WAIT_BIT(WAIT_SPIN) | WAIT_BIT(WAIT_BLOCK) |
		WAIT_BIT(WAIT_EPOLL),
	.open = fabric_open,
	.listen = fabric_listen,
	.accept = fabric_accept,
	.connect = fabric_connect,
	.close = fabric_close,
	.post = fabric_post,
	.take = fabric_take,
	.sleep = fabric_sleep,
	.sent = fabric_sent,
	.got = fabric_got,
};
