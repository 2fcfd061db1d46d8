// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf with UCX beside it: ucp_put_nbx() for the payload, and an active
 * message as the doorbell.
 *
 * UCX orders nothing between a put and what follows it, so the doorbell has to wait
 * until a flush tells that the peer's memory has the payload. The flush is never
 * waited for: its callback rings, for all notifications of the batch that it came
 * behind, while the next batch is already being put. Each notification has a
 * doorbell of its own, a header without payload, as it has with all transports.
 *
 * The window is returned half at a time, with a message like those of the doorbell.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "ucx.h"

static void *ucx_sent(struct link *link, uint32_t ep, uint32_t n)
{
	(void)ep;
	return slot(ucx_of(link), false, n);
}

static void *ucx_got(struct link *link, uint32_t ep, uint32_t n)
{
	(void)ep;
	return slot(ucx_of(link), true, n);
}

/* ---- requests ---- */

static void done(void *request, ucs_status_t status, void *arg)
{
	struct ucx *u = arg;

	if (status && !u->status)
		u->status = status;
	u->under_way--;
	ucp_request_free(request);
}

/* What each call says of itself: complete, failed, or a callback will come. */
static void started(struct ucx *u, ucs_status_ptr_t request)
{
	if (UCS_PTR_IS_PTR(request))
		u->under_way++;
	else if (UCS_PTR_IS_ERR(request) && !u->status)
		u->status = UCS_PTR_STATUS(request);
}

static void send_word(struct ucx *u, const uint32_t *word)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
			UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
		.flags = UCP_AM_SEND_FLAG_EAGER,
		.cb.send = done,
		.user_data = u,
	};

	started(u, ucp_am_send_nbx(u->ep, DOORBELL, word, sizeof(*word), NULL,
				   0, &param));
}

void ucx_send_credit(struct ucx *u)
{
	uint32_t *word = &u->credits[u->nr_credits++ % CREDITS];

	*word = CREDIT_FLAG | u->owed;
	u->owed = 0;
	send_word(u, word);
}

/* ---- sending ---- */

/* A flush stands for all puts before it: flushes need not end in order. */
static void ring_up_to(struct ucx *u, uint32_t end)
{
	uint32_t *word;

	while ((int32_t)(end - u->rung) > 0) {
		word = &u->doorbells[u->rung % slots_of(u->link.run)];
		*word = u->rung++;
		send_word(u, word);
	}
}

static void flushed(void *request, ucs_status_t status, void *arg)
{
	const struct flush *flush = request;

	if (!status)
		ring_up_to(arg, flush->end);
	done(request, status, arg);
}

static void ring_after_flush(struct ucx *u)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
			UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = flushed,
		.user_data = u,
	};
	struct flush *flush = ucp_ep_flush_nbx(u->ep, &param);

	started(u, flush);
	if (!flush)
		ring_up_to(u, u->put);
	else if (UCS_PTR_IS_PTR(flush))
		flush->end = u->put;
}

static void put_one(struct ucx *u)
{
	uint32_t n = u->put++ % slots_of(u->link.run);
	uint32_t size = u->link.run->size;
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
			UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMH,
		.cb.send = done,
		.user_data = u,
		.memh = u->memh,
	};

	started(u, ucp_put_nbx(u->ep, slot(u, false, n), size,
			       u->remote + (uint64_t)n * size, u->rkey,
			       &param));
}

static int ucx_post(struct link *link, uint32_t ep, unsigned int n)
{
	struct ucx *u = ucx_of(link);
	unsigned int i;

	(void)ep;
	if (n > link->run->batch)
		n = link->run->batch;
	if (n > u->credit)
		n = u->credit;
	if (!n)
		return 0;
	for (i = 0; i < n; i++)
		put_one(u);
	u->credit -= n;
	ring_after_flush(u);
	if (u->status) {
		broken("putting", u->status);
		return -1;
	}
	return (int)n;
}

/* ---- receiving ---- */

ucs_status_t ucx_on_message(void *arg, const void *header, size_t len,
			    void *data, size_t data_len,
			    const ucp_am_recv_param_t *param)
{
	struct ucx *u = arg;
	uint32_t word;

	(void)data;
	(void)data_len;
	(void)param;
	if (len != sizeof(word)) {
		u->status = UCS_ERR_INVALID_PARAM;
		return UCS_OK;
	}
	memcpy(&word, header, sizeof(word));
	if (word & CREDIT_FLAG)
		u->credit += word & ~CREDIT_FLAG;
	else
		u->arrived[u->nr_arrived++ % u->link.run->window] = word;
	return UCS_OK;
}

static int progress(struct ucx *u)
{
	unsigned int n = ucp_worker_progress(u->worker);

	if (!u->status)
		return n ? 1 : 0;
	broken("an operation failed", u->status);
	return -1;
}

static int ucx_take(struct link *link, struct note *notes, unsigned int max)
{
	uint32_t window = link->run->window;
	uint32_t half = window / 2 ? window / 2 : 1;
	struct ucx *u = ucx_of(link);
	unsigned int have = 0;

	if (u->taken == u->nr_arrived && progress(u) < 0)
		return -1;
	while (have < max && u->taken != u->nr_arrived) {
		notes[have++] = (struct note){
			.number = u->arrived[u->taken++ % window],
		};
		if (++u->owed >= half)
			ucx_send_credit(u);
	}
	return (int)have;
}

static int await_fd(struct ucx *u)
{
	struct pollfd p = { .fd = u->efd, .events = POLLIN };
	struct epoll_event event;
	int ret;

	u->link.sleeps++;
	ret = u->epfd >= 0 ? epoll_wait(u->epfd, &event, 1, -1) :
		poll(&p, 1, -1);
	return ret < 0 && errno != EINTR ?
		fail("ucx: sleeping: %s", strerror(errno)) : 0;
}

/*
 * Arm, look again, sleep. ucp_worker_arm() finds events that were told, but not a
 * completion that came since the last look, when nothing was armed: mlx5 tells that
 * at once when it is armed, soft-RoCE never does. So not ucp_worker_wait() either,
 * which arms and sleeps.
 */
static int await_event(struct ucx *u)
{
	ucs_status_t status;
	int ret = progress(u);

	if (ret || u->link.run->wait == WAIT_SPIN)
		return ret < 0 ? EXIT_FAILED : 0;
	status = ucp_worker_arm(u->worker);
	if (status == UCS_ERR_BUSY)
		return 0;
	if (status)
		return broken("ucp_worker_arm", status);
	ret = progress(u);
	if (ret)
		return ret < 0 ? EXIT_FAILED : 0;
	return await_fd(u);
}

static int ucx_sleep(struct link *link, bool room, uint32_t ep)
{
	struct ucx *u = ucx_of(link);

	(void)ep;
	if (!room)
		return u->taken == u->nr_arrived ? await_event(u) : 0;
	while (!u->credit)
		if (await_event(u))
			return EXIT_FAILED;
	return 0;
}

/* A post is under way when its doorbells are: before that, UCX needs our help. */
static int ucx_flush(struct link *link)
{
	struct ucx *u = ucx_of(link);

	while (u->rung != u->put || u->under_way)
		if (await_event(u))
			return EXIT_FAILED;
	return 0;
}

const struct transport peer = {
	.name = "ucx",
	.summary = "UCX: put, flush, active message",
	.waits = WAIT_BIT(WAIT_SPIN) | WAIT_BIT(WAIT_BLOCK) |
		WAIT_BIT(WAIT_EPOLL),
	.open = ucx_open,
	.listen = ucx_listen,
	.accept = ucx_accept,
	.connect = ucx_connect,
	.close = ucx_close,
	.post = ucx_post,
	.flush = ucx_flush,
	.take = ucx_take,
	.sleep = ucx_sleep,
	.sent = ucx_sent,
	.got = ucx_got,
};
