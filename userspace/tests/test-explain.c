// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Words and sentences: one for every number of the ABI, none beyond a buffer.
 */
#include <errno.h>

#include <rnotify/rnotify.h>

#include "tap.h"

static void check_words(const char *(*word)(unsigned int), unsigned int first,
			unsigned int last)
{
	unsigned int i;

	for (i = first; i <= last; i++)
		CHECK(strcmp(word(i), "unknown"));
	CHECK_STR(word(last + 1), "unknown");
	CHECK_STR(word(0xffffffff), "unknown");
}

static void words(void)
{
	check_words(rnotify_event_type_str, 0, RNOTIFY_EVENT_LISTENER_DOWN);
	check_words(rnotify_reason_str, 0, RNOTIFY_REASON_VERSION);
	check_words(rnotify_stage_str, 0, RNOTIFY_STAGE_ESTABLISHED);
	check_words(rnotify_state_str, 1, RNOTIFY_STATE_CLOSED);
	check_words(rnotify_opcode_str, 1, RNOTIFY_OP_CMP_SWAP);
	check_words(rnotify_ib_status_str, 0, 21);
	CHECK_STR(rnotify_ib_status_str(5), "flushed");
	CHECK_STR(rnotify_ib_status_str(12), "transport retries exceeded");
	CHECK_STR(rnotify_ib_status_str(21), "general error");
}

static const char *down(unsigned int reason, int error, unsigned int ib_status,
			unsigned int vendor)
{
	static char buf[1024];
	const struct rnotify_event event = {
		.type = RNOTIFY_EVENT_DISCONNECTED,
		.down = {
			.reason = (uint16_t)reason,
			.stage = RNOTIFY_STAGE_CONNECT,
			.error = error,
			.ib_status = ib_status,
			.vendor_err = vendor,
		},
	};

	return rnotify_explain(&event, buf, sizeof(buf));
}

static void ends(void)
{
	unsigned int i;

	for (i = 0; i <= RNOTIFY_REASON_VERSION; i++)
		CHECK(strlen(down(i, 0, 0, 0)) > 10);
	CHECK(strstr(down(200, 0, 0, 0), "reason 200"));
	CHECK(strstr(down(RNOTIFY_REASON_REJECTED, -ECONNREFUSED, 0, 8),
		     "Nobody listens"));
	CHECK(strstr(down(RNOTIFY_REASON_REJECTED, -EBUSY, 0, 28), "backlog"));
	CHECK(strstr(down(RNOTIFY_REASON_RESOURCES, -EINVAL, 0, 0),
		     "lower recv_depth"));
	CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -EIO, 0, 3), "event 3"));
	CHECK(strstr(down(RNOTIFY_REASON_UNREACHABLE, -ENODEV, 0, 0),
		     "rdma link add"));
	CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -EIO, 12, 0),
		     "not acknowledged"));
	CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -EIO, 13, 0),
		     "no receive posted"));
	CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -EIO, 10, 0x88),
		     "vendor code 0x88"));
	CHECK(strstr(down(RNOTIFY_REASON_TIMEOUT, -ETIMEDOUT, 0, 0),
		     "while connecting"));
	CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -ECONNABORTED, 5, 0),
		     "may not, or not any more"));
}

/* What a peer's GOODBYE says is about this side. */
static void goodbyes(void)
{
	char buf[512];
	struct rnotify_event event = {
		.type = RNOTIFY_EVENT_DISCONNECTED,
		.down = {
			.reason = RNOTIFY_REASON_PEER_CLOSE,
			.stage = RNOTIFY_STAGE_ESTABLISHED,
			.error = -ECONNRESET,
		},
	};

	CHECK(strstr(rnotify_explain(&event, buf, sizeof(buf)),
		     "did not say why"));
	event.down.vendor_err = RNOTIFY_REASON_PROTOCOL;
	CHECK(strstr(rnotify_explain(&event, buf, sizeof(buf)),
		     "this side broke"));
	event.down.vendor_err = RNOTIFY_REASON_LOCAL_CLOSE;
	CHECK_STR(rnotify_explain(&event, buf, sizeof(buf)),
		  "The peer closed the connection.");
}

/* A remedy: at least one more sentence than what happened, and where. */
static void remedies(void)
{
	static const int status[] = { 1, 2, 4, 5, 8, 9, 10, 11, 12, 13 };
	static const struct {
		enum rnotify_call call;
		int err;
	} failed[] = {
		{ RNOTIFY_CALL_OPEN, -ENOENT }, { RNOTIFY_CALL_OPEN, -EACCES },
		{ RNOTIFY_CALL_REGISTER, -EINVAL },
		{ RNOTIFY_CALL_REGISTER, -EBADF },
		{ RNOTIFY_CALL_REGISTER, -EACCES },
		{ RNOTIFY_CALL_REGISTER, -EFAULT },
		{ RNOTIFY_CALL_SHARE, -ENOENT },
		{ RNOTIFY_CALL_SHARE, -ERANGE },
		{ RNOTIFY_CALL_SHARE, -EACCES },
		{ RNOTIFY_CALL_SHARE, -EMFILE },
		{ RNOTIFY_CALL_SHARE, -ENOTCONN },
		{ RNOTIFY_CALL_SHARE, -EMSGSIZE },
		{ RNOTIFY_CALL_LISTEN, -EADDRINUSE },
		{ RNOTIFY_CALL_LISTEN, -EADDRNOTAVAIL },
		{ RNOTIFY_CALL_LISTEN, -EAFNOSUPPORT },
		{ RNOTIFY_CALL_LISTEN, -ENOSPC },
		{ RNOTIFY_CALL_CONNECT, -EINVAL },
		{ RNOTIFY_CALL_CONNECT, -EAFNOSUPPORT },
		{ RNOTIFY_CALL_CONNECT, -ENETUNREACH },
		{ RNOTIFY_CALL_CONNECT, -EADDRNOTAVAIL },
		{ RNOTIFY_CALL_CONNECT, -ENODEV },
		{ RNOTIFY_CALL_CONNECT, -ENOSPC },
		{ RNOTIFY_CALL_ACCEPT, -ENOENT },
		{ RNOTIFY_CALL_ACCEPT, -EINVAL },
		{ RNOTIFY_CALL_ACCEPT, -EISCONN },
		{ RNOTIFY_CALL_ACCEPT, -ENOTCONN },
		{ RNOTIFY_CALL_ACCEPT, -ENOSPC },
		{ RNOTIFY_CALL_POST, -ENOENT }, { RNOTIFY_CALL_POST, -ERANGE },
		{ RNOTIFY_CALL_POST, -EACCES }, { RNOTIFY_CALL_POST, -EMSGSIZE },
		{ RNOTIFY_CALL_POST, -ENOTCONN },
		{ RNOTIFY_CALL_POST, -ESHUTDOWN },
		{ RNOTIFY_CALL_POST, -EAGAIN },
		{ RNOTIFY_CALL_POST, -ETIMEDOUT },
	};
	char buf[1024];
	unsigned int i;

	for (i = 0; i < sizeof(failed) / sizeof(failed[0]); i++) {
		rnotify_explain_errno(NULL, failed[i].call, failed[i].err, buf,
				      sizeof(buf));
		CHECK(strstr(buf, ". "));
	}
	for (i = 0; i < sizeof(status) / sizeof(status[0]); i++)
		CHECK(strstr(down(RNOTIFY_REASON_TRANSPORT, -EIO,
				  (unsigned int)status[i], 1),
			     "vendor code 0x1. "));
	for (i = RNOTIFY_REASON_PEER_EXIT; i <= RNOTIFY_REASON_VERSION; i++)
		if (i != RNOTIFY_REASON_REJECTED)
			CHECK(strchr(strstr(down(i, 0, 0, 0), "connecting."),
				     ' '));
}

static void operations(void)
{
	struct rnotify_event event = {
		.type = RNOTIFY_EVENT_TX_DONE,
		.tx = { .opcode = RNOTIFY_OP_WRITE, .byte_len = 77 },
	};
	char buf[512];

	CHECK(strstr(rnotify_explain(&event, buf, sizeof(buf)), "succeeded"));
	event.tx.error = -EIO;
	event.tx.ib_status = 10;
	rnotify_explain(&event, buf, sizeof(buf));
	CHECK(strstr(buf, "WRITE of 77 bytes") && strstr(buf, "refused"));
	event.type = RNOTIFY_EVENT_NOTIFY;
	CHECK(strstr(rnotify_explain(&event, buf, sizeof(buf)), "not a failure"));
}

static void calls(void)
{
	char buf[512];

	rnotify_explain_errno(NULL, RNOTIFY_CALL_OPEN, -ENOENT, buf, sizeof(buf));
	CHECK(strstr(buf, "modprobe rnotify"));
	rnotify_explain_errno(NULL, RNOTIFY_CALL_LISTEN, -EADDRNOTAVAIL, buf,
			      sizeof(buf));
	CHECK(strstr(buf, "rnotify info") && strstr(buf, "rdma link add"));
	rnotify_explain_errno(NULL, RNOTIFY_CALL_RESOLVE, -ENOENT, buf,
			      sizeof(buf));
	CHECK(strstr(buf, "no host of that name") && !strstr(buf, "No such"));
	rnotify_explain_errno(NULL, RNOTIFY_CALL_RESOLVE, -ERANGE, buf,
			      sizeof(buf));
	CHECK(strstr(buf, "up to 65535"));
	rnotify_explain_errno(NULL, RNOTIFY_CALL_CONNECT, -ENOSPC, buf,
			      sizeof(buf));
	CHECK(strstr(buf, "ring_entries"));
	rnotify_explain_errno(NULL, RNOTIFY_CALL_REGISTER, -EPERM, buf,
			      sizeof(buf));
	CHECK(strlen(buf) > 10);
	rnotify_explain_errno(NULL, 1000, -EIO, buf, sizeof(buf));
	CHECK(strstr(buf, "a call failed"));
}

/* ASan watches what is behind each of these buffers. */
static void small_buffers(void)
{
	const struct rnotify_event event = {
		.type = RNOTIFY_EVENT_DISCONNECTED,
		.down = { .reason = RNOTIFY_REASON_PEER_LOST, .ib_status = 12 },
	};
	char whole[512];
	size_t size;

	rnotify_explain(&event, whole, sizeof(whole));
	for (size = 1; size < 300; size++) {
		char buf[size];

		rnotify_explain(&event, buf, size);
		CHECK(strlen(buf) < size && !strncmp(buf, whole, strlen(buf)));
		rnotify_explain_errno(NULL, RNOTIFY_CALL_OPEN, -ENOENT, buf, size);
		CHECK(strlen(buf) < size);
	}
	whole[0] = 'x';
	rnotify_explain(&event, whole, 0);
	CHECK(whole[0] == 'x');
}

int main(void)
{
	return tap_run("a word for each number", words) +
		tap_run("ends of endpoints", ends) +
		tap_run("what a peer's GOODBYE says", goodbyes) +
		tap_run("a remedy for each failure", remedies) +
		tap_run("failed operations", operations) +
		tap_run("failed calls", calls) +
		tap_run("small buffers", small_buffers);
}
