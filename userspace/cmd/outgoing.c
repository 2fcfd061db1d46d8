// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - one file on its way out.
 *
 * One thread and one poll() for both the input and the events. A buffer goes
 * round like this: filled from the input, posted, done (TX_DONE: the device
 * does not look at it any more), filled again. A slot of the receiver: posted
 * to, consumed (its NOTIFY says so), posted to again. The four counters only
 * grow: filled >= posted >= done, posted >= consumed.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "dial.h"
#include "outgoing.h"
#include "stop.h"

/* Buffers on top of the slots: one being filled, one waiting for its turn. */
#define READ_AHEAD 2

#define USER_DATA_END UINT64_MAX
#define ABORT_NS 1000000000

static unsigned char *buffer(const struct outgoing *out, uint64_t n)
{
	unsigned char *base = rnotify_region_addr(out->source);

	return base + n % out->buffers * (uint64_t)out->block;
}

static int broken(struct outgoing *out)
{
	out->failed = true;
	return EXIT_FAILED;
}

/* ---- input ---- */

static bool can_fill(const struct outgoing *out)
{
	return !out->eof && !out->failed && !out->answered &&
	       out->filled - out->done < out->buffers;
}

/*
 * Tell the receiver that there will be no trailer. Its output may be stuck, and all
 * credit be under way: it has a moment to go on.
 */
static void abort_transfer(struct outgoing *out)
{
	struct rnotify_op op;

	rnotify_prep_notify(&op, out->endpoint, IMM_ABORT, USER_DATA_END);
	rnotify_post(out->ctx, &op, 1, 0, ABORT_NS);
}

static void buffer_full(struct outgoing *out)
{
	out->filled++;
	out->fill = 0;
}

static void input_failed(struct outgoing *out)
{
	abort_transfer(out);
	broken(out);
}

static void input_ended(struct outgoing *out)
{
	/* What grew is sent as it is now; what was cut is not what was meant. */
	if (out->stats.bytes < out->stats.expected) {
		fail("the input ended after %llu of %llu bytes: it was cut while it was sent",
		     (unsigned long long)out->stats.bytes,
		     (unsigned long long)out->stats.expected);
		input_failed(out);
		return;
	}
	out->eof = true;
	out->last_len = out->block;
	if (out->fill) {
		out->last_len = out->fill;
		buffer_full(out);
	}
}

/* One read(): the caller knows that it won't block for long. */
static void input_read(struct outgoing *out)
{
	unsigned char *to = buffer(out, out->filled) + out->fill;
	ssize_t n = read(out->input, to, out->block - out->fill);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		fail("reading the input: %s", strerror(errno));
		input_failed(out);
		return;
	}
	if (!n) {
		input_ended(out);
		return;
	}
	sha256_update(&out->sha, to, (size_t)n);
	out->stats.bytes += (uint64_t)n;
	out->fill += (uint32_t)n;
	if (out->fill == out->block)
		buffer_full(out);
}

/* ---- posting ---- */

/* True if it was posted. */
static bool post(struct outgoing *out, struct rnotify_op *op)
{
	int ret;

	op->flags |= RNOTIFY_OP_F_SIGNALED;
	ret = rnotify_post(out->ctx, op, 1, RNOTIFY_POST_NONBLOCK, 0);
	if (ret > 0) {
		out->stats.notifications++;
		return true;
	}
	if (ret == -EAGAIN) {
		out->stuck = true;
		return false;
	}
	if (is_over(ret))
		return false;
	fail_call(out->ctx, RNOTIFY_CALL_POST, ret, out->where);
	broken(out);
	return false;
}

static bool post_block(struct outgoing *out)
{
	uint64_t n = out->posted;
	bool last = out->eof && n + 1 == out->filled;
	struct rnotify_op op;

	rnotify_prep_write_imm(&op, out->endpoint, out->source,
			       n % out->buffers * (uint64_t)out->block,
			       out->remote,
			       n % out->slots * (uint64_t)out->block,
			       last ? out->last_len : out->block,
			       n & IMM_NUMBER, n);
	if (!post(out, &op))
		return false;
	out->posted++;
	return true;
}

static void post_end(struct outgoing *out)
{
	struct trailer trailer = {
		.bytes = out->stats.bytes,
		.blocks = out->posted,
	};
	uint64_t offset = out->buffers * (uint64_t)out->block;
	struct sha256 sha = out->sha;
	struct rnotify_op op;

	sha256_final(&sha, trailer.digest);
	memcpy(out->stats.digest, trailer.digest, SHA256_SIZE);
	trailer_encode(&trailer, (unsigned char *)
		       rnotify_region_addr(out->source) + offset);
	rnotify_prep_write_imm(&op, out->endpoint, out->source, offset,
			       out->remote, out->remote_len - TRAILER_SIZE,
			       TRAILER_SIZE, IMM_END, USER_DATA_END);
	out->end_posted = post(out, &op);
}

static void post_all(struct outgoing *out)
{
	if (!out->remote || out->failed || out->answered || out->end_posted)
		return;
	while (!out->stuck && out->posted < out->filled &&
	       out->posted - out->consumed < out->slots)
		if (!post_block(out))
			return;
	if (out->eof && out->posted == out->filled && !out->stuck)
		post_end(out);
}

/* ---- events ---- */

static void on_notify(struct outgoing *out, uint32_t imm)
{
	uint32_t step;

	if ((imm & IMM_RESULT) == IMM_RESULT) {
		out->answered = true;
		out->result = imm & IMM_STATUS;
		return;
	}
	step = (imm - (uint32_t)out->consumed) & IMM_NUMBER;
	if (imm & IMM_CONTROL || step > out->posted - out->consumed) {
		fail("%s: the receiver answered with an impossible number, %#x",
		     out->where, imm);
		broken(out);
		return;
	}
	out->consumed += step;
}

static void on_region(struct outgoing *out, const struct rnotify_event *event)
{
	uint64_t need = (uint64_t)out->slots * out->block + TRAILER_SIZE;

	if (out->remote)
		return;
	if (event->region.length < need ||
	    !(event->region.rights & RNOTIFY_RIGHT_WRITE)) {
		fail("%s: the receiver shared %llu bytes instead of %llu",
		     out->where, (unsigned long long)event->region.length,
		     (unsigned long long)need);
		broken(out);
		return;
	}
	out->remote = event->region.remote_id;
	out->remote_len = event->region.length;
}

static void on_event(struct outgoing *out, const struct rnotify_event *event)
{
	switch (event->type) {
	case RNOTIFY_EVENT_NOTIFY:
		on_notify(out, event->notify.imm);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		/* After a failed one comes DISCONNECTED, which tells more. */
		if (!event->tx.error && event->tx.user_data != USER_DATA_END)
			out->done++;
		break;
	case RNOTIFY_EVENT_REMOTE_REGION:
		on_region(out, event);
		break;
	case RNOTIFY_EVENT_WRITABLE:
		out->stuck = false;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		if (!out->answered && !out->failed)
			fail_event(event, out->where);
		broken(out);
		break;
	}
}

static void events_take(struct outgoing *out)
{
	const struct rnotify_event *event;

	while (!out->answered && !out->failed &&
	       (event = rnotify_peek(out->ctx))) {
		on_event(out, event);
		rnotify_release(out->ctx, 1);
	}
}

/* ---- the whole ---- */

static void sleep_and_read(struct outgoing *out)
{
	struct pollfd fds[3] = {
		{ .fd = rnotify_fd(out->ctx), .events = POLLIN },
		{ .fd = stop_catch(), .events = POLLIN },
		{ .fd = out->input, .events = POLLIN },
	};
	nfds_t n = can_fill(out) ? 3 : 2;

	if (poll(fds, n, stats_poll_ms(&out->stats)) <= 0)
		return;
	if (fds[0].revents)
		out->stats.wakeups++;
	if (stop_asked()) {
		fail("stopped before the end");
		input_failed(out);
	} else if (n == 3 && fds[2].revents) {
		input_read(out);
	}
}

int outgoing_run(struct outgoing *out)
{
	while (!out->answered && !out->failed) {
		sleep_and_read(out);
		events_take(out);
		post_all(out);
		stats_progress(&out->stats);
	}
	stats_stop(&out->stats);
	if (out->failed)
		return EXIT_FAILED;
	if (out->result != STATUS_OK)
		return fail("%s: the receiver %s", out->where,
			    status_str(out->result));
	if (!out->end_posted)
		return fail("%s: the receiver was content before the end",
			    out->where);
	return 0;
}

static int source_alloc(struct outgoing *out)
{
	uint64_t len;
	int ret;

	out->buffers = out->slots + READ_AHEAD;
	len = out->buffers * (uint64_t)out->block + TRAILER_SIZE;
	ret = rnotify_alloc(out->ctx, len, &out->source);
	return ret ? fail_call(out->ctx, RNOTIFY_CALL_REGISTER, ret, NULL) : 0;
}

int outgoing_start(struct outgoing *out, struct rnotify *ctx, const char *where,
		   const struct hello *wish, int input, bool quiet)
{
	const struct rnotify_params params = {
		.send_depth = SEND_DEPTH,
		.remote_regions = 1,
	};
	struct hello answer;
	int status;

	*out = (struct outgoing){
		.ctx = ctx,
		.where = where,
		.input = input,
	};
	sha256_init(&out->sha);
	status = dial(ctx, where, wish, &params, &out->endpoint, &answer);
	if (status)
		return status;
	if (answer.block > BLOCK_MAX || !answer.block ||
	    answer.slots > SLOTS_MAX)
		return fail("%s: the receiver offers an impossible window",
			    where);
	out->block = answer.block;
	out->slots = answer.slots;
	stats_start(&out->stats, quiet);
	return source_alloc(out);
}

void outgoing_end(struct outgoing *out)
{
	if (out->endpoint)
		rnotify_destroy(out->ctx, out->endpoint);
}
