// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - one file on its way in.
 *
 * NONE -> ACCEPTED -> RUNNING -> CLOSING -> NONE; whatever happens, the way to
 * NONE leads over the endpoint's DISCONNECTED event, its last. A sender that
 * goes away before its first block has not used us up.
 */
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "dial.h"
#include "incoming.h"
#include "stop.h"

/* Answers and slot returns: few are ever under way. */
#define RETURN_DEPTH 32
/* Receives on top of the slots: trailer, abort. */
#define EXTRA_RECEIVES 4
/* A block may lie for so long before it wakes us, if others are expected. */
#define MODERATE_NS 5000000

/* ---- handshake ---- */

/* What the sender gets, or why not. */
static unsigned int negotiate(const struct incoming *in,
			      const struct rnotify_event *event,
			      uint32_t block, struct hello *hello)
{
	uint64_t window = rnotify_region_len(in->window) - TRAILER_SIZE;
	uint64_t slots;

	if (!hello_decode(hello, event->request.private_data,
			  event->request.private_len) ||
	    hello->kind != HELLO_FILE)
		return STATUS_FOREIGN;
	if (in->state != INCOMING_NONE)
		return STATUS_BUSY;
	if (!hello->block)
		hello->block = block;
	slots = window / hello->block;
	if (!slots)
		return STATUS_TOO_LARGE;
	if (hello->slots && slots > hello->slots)
		slots = hello->slots;
	hello->slots = (uint32_t)(slots < SLOTS_MAX ? slots : SLOTS_MAX);
	return STATUS_OK;
}

static void refuse(struct incoming *in, uint32_t endpoint, unsigned int status)
{
	char name[RNOTIFY_ADDR_STRLEN];

	if (!in->quiet)
		fprintf(stderr, "refused %s: this side %s\n",
			peer_name(in->ctx, endpoint, name, sizeof(name)),
			status_str(status));
	/* If the peer gave up meanwhile, its DISCONNECTED is on the way. */
	answer_no(in->ctx, endpoint, status);
}

void incoming_request(struct incoming *in, const struct rnotify_event *event,
		      uint32_t block)
{
	struct rnotify_params params = {
		.send_depth = RETURN_DEPTH,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
	unsigned int status;
	struct hello hello;
	int ret;

	/* Whoever comes in the moment between two transfers need not go away. */
	if (in->state == INCOMING_CLOSING && !in->next.type) {
		in->next = *event;
		return;
	}
	status = negotiate(in, event, block, &hello);
	if (status != STATUS_OK) {
		refuse(in, event->endpoint, status);
		return;
	}
	params.recv_depth = hello.slots + EXTRA_RECEIVES;
	ret = answer_yes(in->ctx, event->endpoint, &hello, &params, 0);
	if (ret) {
		fail_call(in->ctx, RNOTIFY_CALL_ACCEPT, ret, NULL);
		refuse(in, event->endpoint, STATUS_NO_MEMORY);
		return;
	}
	in->state = INCOMING_ACCEPTED;
	in->endpoint = event->endpoint;
	in->block = hello.block;
	in->slots = hello.slots;
}

void incoming_next(struct incoming *in, uint32_t block)
{
	const struct rnotify_event event = in->next;

	in->next = (struct rnotify_event){ 0 };
	if (event.type)
		incoming_request(in, &event, block);
}

void incoming_other_down(struct incoming *in, uint32_t endpoint)
{
	if (in->next.endpoint == endpoint)
		in->next = (struct rnotify_event){ 0 };
	rnotify_destroy(in->ctx, endpoint);
}

/* ---- ending ---- */

static void tell_result(struct incoming *in)
{
	struct rnotify_op op;

	rnotify_prep_notify(&op, in->endpoint, IMM_RESULT | in->status, 0);
	/*
	 * Not waiting for credit: a sender that follows the protocol has left
	 * us some, and a stopped one is not worth being held up for. What is
	 * posted goes out before the disconnect does.
	 */
	rnotify_post(in->ctx, &op, 1, RNOTIFY_POST_NONBLOCK, 0);
	rnotify_disconnect(in->ctx, in->endpoint);
	in->state = INCOMING_CLOSING;
}

static void give_up(struct incoming *in, unsigned int status)
{
	stats_stop(&in->stats);
	output_discard(&in->out);
	in->status = status;
	tell_result(in);
}

static void on_end(struct incoming *in)
{
	const unsigned char *window = rnotify_region_addr(in->window);
	struct trailer trailer;

	if (!trailer_decode(&trailer, window + rnotify_region_len(in->window) -
			    TRAILER_SIZE)) {
		fail("the sender's end record is damaged");
		give_up(in, STATUS_PROTOCOL);
		return;
	}
	sha256_final(&in->sha, in->stats.digest);
	if (trailer.bytes != in->stats.bytes || trailer.blocks != in->blocks) {
		fail("%llu bytes have come, but the sender has sent %llu",
		     (unsigned long long)in->stats.bytes,
		     (unsigned long long)trailer.bytes);
		give_up(in, STATUS_LENGTH);
		return;
	}
	if (memcmp(trailer.digest, in->stats.digest, SHA256_SIZE)) {
		fail("the SHA-256 of what has come is not the sender's");
		give_up(in, STATUS_DIGEST);
		return;
	}
	stats_stop(&in->stats);
	in->complete = output_commit(&in->out);
	in->status = in->complete ? STATUS_OK : STATUS_WRITE;
	tell_result(in);
}

/* Has it been a transfer, good or bad? Not if nothing ever came. */
static bool began(const struct incoming *in)
{
	return in->state == INCOMING_CLOSING ||
	       (in->state == INCOMING_RUNNING && in->blocks);
}

static void on_down(struct incoming *in, const struct rnotify_event *event)
{
	if (in->state == INCOMING_RUNNING)
		stats_stop(&in->stats);
	if (!began(in)) {
		fail_event(event, "a sender went away before it began");
	} else if (in->state == INCOMING_RUNNING) {
		output_discard(&in->out);
		fail_event(event, event->down.reason ==
			   RNOTIFY_REASON_DEVICE_REMOVED ? "cut off" :
			   "the sender vanished before the end");
	}
	rnotify_moderate(in->ctx, 0, 0);
	rnotify_destroy(in->ctx, in->endpoint);
}

void incoming_stop(struct incoming *in)
{
	if (in->next.type)
		refuse(in, in->next.endpoint, STATUS_STOPPED);
	if (in->state == INCOMING_NONE)
		return;
	if (in->state == INCOMING_RUNNING)
		give_up(in, STATUS_STOPPED);
	/* Waits until what was posted is there, and the peer told. */
	rnotify_destroy(in->ctx, in->endpoint);
}

/* ---- running ---- */

/*
 * A quarter of the slots at a time: a sender that waits has all its slots under
 * way, so that the next quarter is sure to come.
 */
static unsigned int quarter(const struct incoming *in)
{
	return in->slots / 4 ? in->slots / 4 : 1;
}

/*
 * While the sender has slots left, nobody waits for us, and one wake-up for
 * several blocks will do. It is no harm if the kernel can't.
 */
static void sleep_longer(struct incoming *in)
{
	if (quarter(in) > 1)
		rnotify_moderate(in->ctx, quarter(in), MODERATE_NS);
}

static void on_established(struct incoming *in)
{
	char name[RNOTIFY_ADDR_STRLEN];
	int ret;

	sha256_init(&in->sha);
	in->blocks = 0;
	in->told = 0;
	in->complete = false;
	in->status = STATUS_OK;
	stats_start(&in->stats, in->quiet);
	in->state = INCOMING_RUNNING;
	ret = rnotify_share(in->ctx, in->endpoint, in->window, 0, 0,
			    RNOTIFY_RIGHT_WRITE, 0, NULL);
	if (is_over(ret))
		return;
	if (ret) {
		fail_call(in->ctx, RNOTIFY_CALL_SHARE, ret, NULL);
		give_up(in, STATUS_NO_MEMORY);
		return;
	}
	sleep_longer(in);
	if (!in->quiet)
		fprintf(stderr, "receiving from %s, %u slots of %u bytes\n",
			peer_name(in->ctx, in->endpoint, name, sizeof(name)),
			in->slots, in->block);
}

static void on_block(struct incoming *in, const struct rnotify_event_notify *n)
{
	const unsigned char *data = rnotify_region_addr(in->window);

	if (n->imm != (in->blocks & IMM_NUMBER) || n->byte_len > in->block) {
		fail("the sender sent %u bytes as block %u where block %llu was due",
		     n->byte_len, n->imm, (unsigned long long)in->blocks);
		give_up(in, STATUS_PROTOCOL);
		return;
	}
	data += in->blocks % in->slots * (uint64_t)in->block;
	sha256_update(&in->sha, data, n->byte_len);
	if (!output_write(&in->out, data, n->byte_len)) {
		give_up(in, stop_asked() ? STATUS_STOPPED : STATUS_WRITE);
		return;
	}
	in->blocks++;
	in->stats.bytes += n->byte_len;
	incoming_return_slots(in);
	/* A fast sender may keep us here for long. */
	stats_progress(&in->stats);
}

static void on_notify(struct incoming *in, const struct rnotify_event_notify *n)
{
	in->stats.notifications++;
	if (!(n->imm & IMM_CONTROL)) {
		on_block(in, n);
	} else if (n->imm == IMM_END) {
		on_end(in);
	} else if (n->imm == IMM_ABORT) {
		fail("the sender gave up before the end; its own message tells why");
		give_up(in, STATUS_OK);
	} else {
		fail("the sender sent an unknown control number, %#x", n->imm);
		give_up(in, STATUS_PROTOCOL);
	}
}

void incoming_return_slots(struct incoming *in)
{
	struct rnotify_op op;

	if (in->state != INCOMING_RUNNING ||
	    in->blocks - in->told < quarter(in))
		return;
	rnotify_prep_notify(&op, in->endpoint, in->blocks & IMM_NUMBER, 0);
	/*
	 * If there is no credit, the next call says it all: the number counts
	 * from the beginning. A broken connection shows as DISCONNECTED.
	 */
	if (rnotify_post(in->ctx, &op, 1, RNOTIFY_POST_NONBLOCK, 0) == 1)
		in->told = in->blocks;
}

bool incoming_event(struct incoming *in, const struct rnotify_event *event)
{
	bool over;

	switch (event->type) {
	case RNOTIFY_EVENT_ESTABLISHED:
		on_established(in);
		break;
	case RNOTIFY_EVENT_NOTIFY:
		if (in->state == INCOMING_RUNNING)
			on_notify(in, &event->notify);
		break;
	case RNOTIFY_EVENT_WRITABLE:
		incoming_return_slots(in);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		over = began(in);
		on_down(in, event);
		in->state = INCOMING_NONE;
		in->endpoint = 0;
		return over;
	}
	return false;
}
