// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - sentences and remedies for what went wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* enum ib_wc_status, as far as there is something to say about it */
enum {
	WC_LOC_LEN_ERR = 1,
	WC_LOC_QP_OP_ERR = 2,
	WC_LOC_PROT_ERR = 4,
	WC_WR_FLUSH_ERR = 5,
	WC_LOC_ACCESS_ERR = 8,
	WC_REM_INV_REQ_ERR = 9,
	WC_REM_ACCESS_ERR = 10,
	WC_REM_OP_ERR = 11,
	WC_RETRY_EXC_ERR = 12,
	WC_RNR_RETRY_EXC_ERR = 13,
};

/* IBTA, volume 1, table "REJ reason codes" */
enum {
	CM_REJ_INVALID_SERVICE_ID = 8,
	CM_REJ_STALE_CONN = 10,
};

/* Text that is put together piece by piece; what doesn't fit is cut off. */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
say(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->buf + t->len, t->size - t->len, fmt, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n;
	if (t->len >= t->size)
		t->len = t->size - 1;
}

static const char no_device_remedy[] =
	"'rdma link' shows the devices; 'rdma link add rxe0 type rxe netdev eth0' makes a software one on an Ethernet device.";

/* ---- ends of endpoints ---- */

struct reason {
	const char *sentence;
	const char *remedy;
};

static const struct reason reasons[] = {
	[RNOTIFY_REASON_NONE] = { "The endpoint has not ended.", "" },
	[RNOTIFY_REASON_LOCAL_CLOSE] = {
		"This process closed the connection.", "" },
	[RNOTIFY_REASON_PEER_CLOSE] = {
		"The peer closed the connection.", "" },
	[RNOTIFY_REASON_PEER_EXIT] = {
		"The peer's process ended, or closed all that it had open at once.",
		"If it was not meant to, look there for why it was killed or crashed." },
	[RNOTIFY_REASON_PEER_LOST] = {
		"The peer's host does not answer any more.",
		"Look whether it is up and reachable (ping, 'rdma link' there)." },
	[RNOTIFY_REASON_REJECTED] = {
		"The peer rejected the connection.",
		"" },
	[RNOTIFY_REASON_UNREACHABLE] = {
		"The peer could not be reached.",
		"Look at the address, at the route to it ('ip route get'), and at 'rdma link' on both hosts." },
	[RNOTIFY_REASON_TIMEOUT] = {
		"The peer did not answer in time.",
		"Look whether it is up and a listener accepts requests there, and whether UDP port 4791 is let through; after a link was down, soft-RoCE devices on it have to be made anew ('rdma link delete', 'rdma link add')." },
	[RNOTIFY_REASON_PROTOCOL] = {
		"The peer broke the wire protocol.",
		"Is it rnotify, of a compatible version? 'dmesg' on both hosts may tell more." },
	[RNOTIFY_REASON_TRANSPORT] = {
		"An operation failed in the transport.",
		"'rdma link' and 'dmesg' on both hosts may tell more; connect again." },
	[RNOTIFY_REASON_DEVICE_REMOVED] = {
		"The RDMA device was removed.",
		"Connect again when it is back ('rdma link')." },
	[RNOTIFY_REASON_RESOURCES] = {
		"The kernel could not get memory or queues for the connection.",
		"Use fewer or less deep endpoints; 'rdma resource' shows what is in use." },
	[RNOTIFY_REASON_VERSION] = {
		"The two ends have no protocol version in common.",
		"Install the same version of the rnotify module on both." },
};

static void say_reject(struct text *t, int error, uint32_t code)
{
	if (error == -EBUSY)
		say(t, " As many requests as it has a backlog for are waiting there: try again, or raise the listener's backlog.");
	else if (code == CM_REJ_INVALID_SERVICE_ID)
		say(t, " Nobody listens at that address and port: start the other side first, or look at the port.");
	else if (code == CM_REJ_STALE_CONN)
		say(t, " Its host still holds an older connection of the same numbers: try again in a moment.");
}

/* What the peer's GOODBYE said: a reason as it sees it. */
static void say_goodbye(struct text *t, uint32_t said)
{
	switch (said) {
	case RNOTIFY_REASON_PROTOCOL:
		say(t, " It says that this side broke the wire protocol: is the same version of the rnotify module on both hosts?");
		break;
	case RNOTIFY_REASON_VERSION:
		say(t, " It has no protocol version in common with this side: install the same version of the rnotify module on both.");
		break;
	case RNOTIFY_REASON_NONE:
		say(t, " It did not say why; its host or its RDMA device may have failed: look there.");
		break;
	}
}

static void say_ib_status(struct text *t, uint32_t status)
{
	switch (status) {
	case WC_WR_FLUSH_ERR:
		say(t, " The own device gave the connection up, without saying why: nothing could be sent (was a link down, does 'ip route get' still lead to the peer?), or the peer accessed memory that it may not, or not any more (was a share taken back while it still wrote?).");
		break;
	case WC_LOC_LEN_ERR:
	case WC_LOC_QP_OP_ERR:
	case WC_LOC_ACCESS_ERR:
		say(t, " The own device could not take what the peer sent: is the peer rnotify, and sends no more than the message size allows?");
		break;
	case WC_REM_OP_ERR:
		say(t, " The peer's device could not complete the request: 'dmesg' there may tell more.");
		break;
	case WC_RETRY_EXC_ERR:
		say(t, " Its packets were not acknowledged: look at the cabling and at packet loss ('ip -s link'), and whether the peer's host is up.");
		break;
	case WC_RNR_RETRY_EXC_ERR:
		say(t, " The peer had no receive posted, which rnotify's flow control rules out: is the peer something else?");
		break;
	case WC_REM_ACCESS_ERR:
		say(t, " The peer's device refused the access: was the share taken back, or narrower than what was written?");
		break;
	case WC_REM_INV_REQ_ERR:
		say(t, " The peer's device takes the request for malformed: do both devices support the same operations?");
		break;
	case WC_LOC_PROT_ERR:
		say(t, " The own device could not use the local memory; this should not happen and is worth a report.");
		break;
	}
}

/* The other reasons have one errno each, which says no more than they do. */
static int errno_adds(unsigned int reason)
{
	return reason == RNOTIFY_REASON_UNREACHABLE ||
	       reason == RNOTIFY_REASON_PROTOCOL ||
	       reason == RNOTIFY_REASON_TRANSPORT ||
	       reason == RNOTIFY_REASON_RESOURCES;
}

static void say_stage(struct text *t, const struct rnotify_event_down *down)
{
	if (down->stage != RNOTIFY_STAGE_NONE &&
	    down->stage != RNOTIFY_STAGE_ESTABLISHED)
		say(t, " That was while %s.", rnotify_stage_str(down->stage));
	if (down->ib_status)
		say(t, " Completion status %" PRIu32 " (%s), vendor code %#" PRIx32 ".",
		    down->ib_status, rnotify_ib_status_str(down->ib_status),
		    down->vendor_err);
	else if (down->error && errno_adds(down->reason))
		say(t, " (%s)", strerror(-down->error));
	if (!down->ib_status && down->vendor_err &&
	    down->reason == RNOTIFY_REASON_TRANSPORT)
		say(t, " The device reported event %" PRIu32 " on the queue pair.",
		    down->vendor_err);
}

static void explain_down(struct text *t, const struct rnotify_event_down *down)
{
	const struct reason *reason = NULL;

	if (down->reason < ARRAY_SIZE(reasons))
		reason = &reasons[down->reason];
	if (!reason || !reason->sentence)
		say(t, "The connection ended for reason %u, which this library does not know.",
		    down->reason);
	else
		say(t, "%s", reason->sentence);
	say_stage(t, down);
	if (down->reason == RNOTIFY_REASON_REJECTED)
		say_reject(t, down->error, down->vendor_err);
	if (down->reason == RNOTIFY_REASON_PEER_CLOSE &&
	    down->stage == RNOTIFY_STAGE_ESTABLISHED)
		say_goodbye(t, down->vendor_err);
	if (down->error == -ENODEV &&
	    down->reason != RNOTIFY_REASON_DEVICE_REMOVED)
		say(t, " No RDMA device leads there, as to every loopback address: %s",
		    no_device_remedy);
	else if (down->reason == RNOTIFY_REASON_RESOURCES &&
		 down->error == -EINVAL)
		say(t, " The device can't have queues that deep: lower recv_depth and send_depth.");
	else if (down->ib_status)
		say_ib_status(t, down->ib_status);
	else if (reason && *reason->remedy)
		say(t, " %s", reason->remedy);
}

static void explain_tx(struct text *t, const struct rnotify_event_tx *tx)
{
	if (!tx->error) {
		say(t, "%s succeeded.", rnotify_opcode_str(tx->opcode));
		return;
	}
	say(t, "%s of %" PRIu32 " bytes failed: %s.",
	    rnotify_opcode_str(tx->opcode), tx->byte_len,
	    strerror(-tx->error));
	if (!tx->ib_status)
		return;
	say(t, " Completion status %u (%s), vendor code %#" PRIx32 ".",
	    tx->ib_status, rnotify_ib_status_str(tx->ib_status),
	    tx->vendor_err);
	say_ib_status(t, tx->ib_status);
}

const char *rnotify_explain(const struct rnotify_event *event, char *buf,
			    size_t size)
{
	struct text t = { .buf = buf, .size = size };

	if (!size)
		return buf;
	*buf = '\0';
	switch (event->type) {
	case RNOTIFY_EVENT_DISCONNECTED:
		explain_down(&t, &event->down);
		break;
	case RNOTIFY_EVENT_LISTENER_DOWN:
		say(&t, "The listener has ended. ");
		explain_down(&t, &event->down);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		explain_tx(&t, &event->tx);
		break;
	default:
		say(&t, "%s is not a failure.",
		    rnotify_event_type_str(event->type));
	}
	return buf;
}

/* ---- failed calls ---- */

struct remedy {
	enum rnotify_call call;
	int err;
	const char *text;
};

static const char *const call_words[] = {
	[RNOTIFY_CALL_OPEN] = "opening /dev/rnotify",
	[RNOTIFY_CALL_REGISTER] = "registering memory",
	[RNOTIFY_CALL_SHARE] = "sharing memory",
	[RNOTIFY_CALL_LISTEN] = "listening",
	[RNOTIFY_CALL_CONNECT] = "connecting",
	[RNOTIFY_CALL_ACCEPT] = "accepting",
	[RNOTIFY_CALL_POST] = "posting",
	[RNOTIFY_CALL_RESOLVE] = "looking up the address",
};

static const struct remedy remedies[] = {
	{ RNOTIFY_CALL_OPEN, -ENOENT,
	  "The kernel module is not loaded: 'modprobe rnotify'." },
	{ RNOTIFY_CALL_OPEN, -ENXIO,
	  "The kernel module is not loaded: 'modprobe rnotify'." },
	{ RNOTIFY_CALL_OPEN, -EACCES,
	  "The device is for root and the group 'rdma': 'usermod -aG rdma USER', then log in again." },
	{ RNOTIFY_CALL_OPEN, -EPROTONOSUPPORT,
	  "Kernel module and library do not fit together: update the older one." },
	{ RNOTIFY_CALL_REGISTER, -EFAULT,
	  "Part of the memory is not mapped, not writable (RNOTIFY_REGION_READ_ONLY?), or of a kind that can't be pinned: a device's, or a shared mapping of a file on a disk." },
	{ RNOTIFY_CALL_REGISTER, -EINVAL,
	  "The length is 0, it wraps, or reaches beyond the file; or the file is neither a memfd nor of hugetlbfs." },
	{ RNOTIFY_CALL_REGISTER, -EBADF,
	  "There is no such file descriptor." },
	{ RNOTIFY_CALL_REGISTER, -EACCES,
	  "The file is not open for that, or sealed against it." },
	{ RNOTIFY_CALL_SHARE, -EMFILE,
	  "The endpoint has as many shares as it can: take some back, and wait for the WRITABLE event." },
	{ RNOTIFY_CALL_SHARE, -ERANGE,
	  "Offset and length reach beyond the region." },
	{ RNOTIFY_CALL_SHARE, -EACCES,
	  "The region is read-only: it can be shared for READ alone." },
	{ RNOTIFY_CALL_SHARE, -ENOTCONN,
	  "Share after ESTABLISHED and before DISCONNECTED." },
	{ RNOTIFY_CALL_SHARE, -EMSGSIZE,
	  "The region is in too many pieces: share less of it." },
	{ RNOTIFY_CALL_LISTEN, -EADDRINUSE,
	  "Something listens there already: take another port." },
	{ RNOTIFY_CALL_LISTEN, -EADDRNOTAVAIL,
	  "That is no address of an RDMA device of this host: 'rnotify info' shows those that there are. 'rdma link add rxe0 type rxe netdev eth0' makes a software one on an Ethernet device." },
	{ RNOTIFY_CALL_LISTEN, -EACCES,
	  "Ports below 1024 are for root." },
	{ RNOTIFY_CALL_CONNECT, -EINVAL,
	  "A link-local address needs its interface ('%eth0'), or depths, times or private data are beyond what the kernel allows." },
	{ RNOTIFY_CALL_CONNECT, -EADDRNOTAVAIL,
	  "The source address is not of this host." },
	{ RNOTIFY_CALL_CONNECT, -ECONNREFUSED,
	  "Nothing listens at that address and port, or its program turned us down." },
	{ RNOTIFY_CALL_CONNECT, -ENETUNREACH,
	  "There is no route: look at the address and at 'ip route get'." },
	{ RNOTIFY_CALL_ACCEPT, -EINVAL,
	  "Depths, times or private data are beyond what kernel or device allow." },
	{ RNOTIFY_CALL_ACCEPT, -EISCONN,
	  "That request was answered before." },
	{ RNOTIFY_CALL_ACCEPT, -ENOTCONN,
	  "The peer gave up meanwhile." },
	{ RNOTIFY_CALL_POST, -EAGAIN,
	  "No credit or no room now: wait for the WRITABLE event." },
	{ RNOTIFY_CALL_POST, -ETIMEDOUT,
	  "The peer gave no credit in time: its program does not consume what it got." },
	{ RNOTIFY_CALL_POST, -ENOTCONN,
	  "Post after ESTABLISHED." },
	{ RNOTIFY_CALL_POST, -ESHUTDOWN,
	  "The connection has ended: its DISCONNECTED event tells why." },
	{ RNOTIFY_CALL_POST, -ENOENT,
	  "There is no such endpoint, region or remote region: the peer may have taken its share back." },
	{ RNOTIFY_CALL_POST, -ERANGE,
	  "Offset and length reach beyond the region." },
	{ RNOTIFY_CALL_POST, -EACCES,
	  "The peer did not grant that right, or the local region is read-only." },
	{ RNOTIFY_CALL_POST, -EMSGSIZE,
	  "Larger than the peer's message size, or more work requests than send_depth." },
	{ RNOTIFY_CALL_RESOLVE, -EINVAL,
	  "That is no address. Write it as host:port, 10.0.0.1:7471 or [fd00::1]:7471." },
	{ RNOTIFY_CALL_RESOLVE, -ERANGE,
	  "A port is a number up to 65535." },
	{ RNOTIFY_CALL_RESOLVE, -EAGAIN,
	  "The name service does not answer now: try again, or give a numeric address." },
	{ RNOTIFY_CALL_RESOLVE, -ENODEV,
	  "There is no interface of the name after '%'." },
	{ RNOTIFY_CALL_RESOLVE, -ENOENT,
	  "There is no host of that name: look at the spelling, /etc/hosts and DNS, or give a numeric address." },
	{ RNOTIFY_CALL_RESOLVE, -EOPNOTSUPP,
	  "This program is linked statically and takes numeric addresses only." },
};

/* Errnos whose meaning is the same for all calls that they can come from. */
static const char *common_remedy(int err)
{
	switch (err) {
	case -EAFNOSUPPORT:
		return "Only IPv4 and IPv6 addresses can be used.";
	case -ENOENT:
		return "There is no such object in this context, or not any more.";
	case -ENOSPC:
		return "The event ring is too small for one more reservation: open the context with more ring_entries, or use less depth.";
	case -EADDRNOTAVAIL:
	case -ENODEV:
		return no_device_remedy;
	}
	return NULL;
}

static const char *find_remedy(enum rnotify_call call, int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(remedies); i++)
		if (remedies[i].call == call && remedies[i].err == err)
			return remedies[i].text;
	return common_remedy(err);
}

static void say_memlock(struct text *t, struct rnotify *ctx)
{
	uint64_t need, left;

	pthread_mutex_lock(&ctx->lock);
	need = ctx->memlock_need;
	left = ctx->memlock_left;
	pthread_mutex_unlock(&ctx->lock);
	say(t, " It would lock %" PRIu64 " KiB, and RLIMIT_MEMLOCK leaves %" PRIu64 " KiB: raise it ('ulimit -l', /etc/security/limits.conf, LimitMEMLOCK= of a service), or register less.",
	    (need + 1023) / 1024, left / 1024);
}

const char *rnotify_explain_errno(struct rnotify *ctx, enum rnotify_call call,
				  int err, char *buf, size_t size)
{
	struct text t = { .buf = buf, .size = size };
	const char *remedy = find_remedy(call, err);

	if (!size)
		return buf;
	*buf = '\0';
	say(&t, "%s failed",
	    (size_t)call < ARRAY_SIZE(call_words) ? call_words[call] : "a call");
	/* Looking up is no system call: "No such file" would only mislead. */
	if (call == RNOTIFY_CALL_RESOLVE && remedy)
		say(&t, ":");
	else
		say(&t, ": %s.", strerror(-err));
	if (call == RNOTIFY_CALL_REGISTER && err == -EPERM && ctx)
		say_memlock(&t, ctx);
	else if (remedy)
		say(&t, " %s", remedy);
	return buf;
}
