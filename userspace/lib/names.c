// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - words for the numbers of the ABI.
 */
#include "internal.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *word(const char *const *words, size_t n, unsigned int i)
{
	return i < n && words[i] ? words[i] : "unknown";
}

const char *rnotify_event_type_str(unsigned int type)
{
	static const char *const words[] = {
		[RNOTIFY_EVENT_NONE] = "NONE",
		[RNOTIFY_EVENT_NOTIFY] = "NOTIFY",
		[RNOTIFY_EVENT_MESSAGE] = "MESSAGE",
		[RNOTIFY_EVENT_TX_DONE] = "TX_DONE",
		[RNOTIFY_EVENT_CONNECT_REQUEST] = "CONNECT_REQUEST",
		[RNOTIFY_EVENT_ESTABLISHED] = "ESTABLISHED",
		[RNOTIFY_EVENT_REMOTE_REGION] = "REMOTE_REGION",
		[RNOTIFY_EVENT_REMOTE_REGION_GONE] = "REMOTE_REGION_GONE",
		[RNOTIFY_EVENT_WRITABLE] = "WRITABLE",
		[RNOTIFY_EVENT_DISCONNECTED] = "DISCONNECTED",
		[RNOTIFY_EVENT_LISTENER_DOWN] = "LISTENER_DOWN",
		[RNOTIFY_EVENT_COUNTER] = "COUNTER",
		[RNOTIFY_EVENT_SLOTS] = "SLOTS",
	};

	return word(words, ARRAY_SIZE(words), type);
}

const char *rnotify_reason_str(unsigned int reason)
{
	static const char *const words[] = {
		[RNOTIFY_REASON_NONE] = "none",
		[RNOTIFY_REASON_LOCAL_CLOSE] = "closed by this process",
		[RNOTIFY_REASON_PEER_CLOSE] = "closed by the peer",
		[RNOTIFY_REASON_PEER_EXIT] = "peer's process ended",
		[RNOTIFY_REASON_PEER_LOST] = "peer lost",
		[RNOTIFY_REASON_REJECTED] = "rejected",
		[RNOTIFY_REASON_UNREACHABLE] = "unreachable",
		[RNOTIFY_REASON_TIMEOUT] = "timed out",
		[RNOTIFY_REASON_PROTOCOL] = "protocol error",
		[RNOTIFY_REASON_TRANSPORT] = "transport error",
		[RNOTIFY_REASON_DEVICE_REMOVED] = "device removed",
		[RNOTIFY_REASON_RESOURCES] = "out of resources",
		[RNOTIFY_REASON_VERSION] = "no common version",
	};

	return word(words, ARRAY_SIZE(words), reason);
}

const char *rnotify_stage_str(unsigned int stage)
{
	static const char *const words[] = {
		[RNOTIFY_STAGE_NONE] = "nothing yet",
		[RNOTIFY_STAGE_RESOLVE_ADDR] = "resolving the address",
		[RNOTIFY_STAGE_RESOLVE_ROUTE] = "resolving the route",
		[RNOTIFY_STAGE_SETUP] = "making queues",
		[RNOTIFY_STAGE_CONNECT] = "connecting",
		[RNOTIFY_STAGE_ACCEPT] = "accepting",
		[RNOTIFY_STAGE_ESTABLISHED] = "established",
	};

	return word(words, ARRAY_SIZE(words), stage);
}

const char *rnotify_state_str(unsigned int state)
{
	static const char *const words[] = {
		[RNOTIFY_STATE_CONNECTING] = "CONNECTING",
		[RNOTIFY_STATE_REQUESTED] = "REQUESTED",
		[RNOTIFY_STATE_ACCEPTING] = "ACCEPTING",
		[RNOTIFY_STATE_ESTABLISHED] = "ESTABLISHED",
		[RNOTIFY_STATE_CLOSING] = "CLOSING",
		[RNOTIFY_STATE_CLOSED] = "CLOSED",
	};

	return word(words, ARRAY_SIZE(words), state);
}

const char *rnotify_opcode_str(unsigned int opcode)
{
	static const char *const words[] = {
		[RNOTIFY_OP_WRITE] = "WRITE",
		[RNOTIFY_OP_WRITE_IMM] = "WRITE_IMM",
		[RNOTIFY_OP_NOTIFY] = "NOTIFY",
		[RNOTIFY_OP_READ] = "READ",
		[RNOTIFY_OP_SEND] = "SEND",
		[RNOTIFY_OP_SEND_IMM] = "SEND_IMM",
		[RNOTIFY_OP_FETCH_ADD] = "FETCH_ADD",
		[RNOTIFY_OP_CMP_SWAP] = "CMP_SWAP",
	};

	return word(words, ARRAY_SIZE(words), opcode);
}

/* In the order of enum ib_wc_status, which is the same in kernel and verbs. */
const char *rnotify_ib_status_str(unsigned int status)
{
	static const char *const words[] = {
		"success",
		"local length error",
		"local QP operation error",
		"local EE context operation error",
		"local protection error",
		"flushed",
		"memory window bind error",
		"bad response",
		"local access error",
		"remote invalid request",
		"remote access error",
		"remote operation error",
		"transport retries exceeded",
		"RNR retries exceeded",
		"local RDD violation",
		"remote invalid RD request",
		"aborted",
		"invalid EE context number",
		"invalid EE context state",
		"fatal error",
		"response timeout",
		"general error",
	};

	return word(words, ARRAY_SIZE(words), status);
}
