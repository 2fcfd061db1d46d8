// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - TCP without Nagle's delay, and epoll.
 *
 * A message is a head and its payload; a batch is one sendmsg(). Small messages
 * are received many at a time and copied into their slots, long ones go there
 * directly.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "transport.h"

#define BUFFER (64u << 10)
/* The rest of a message, when it is worth a call of its own. */
#define DIRECT (16u << 10)
#define BATCH_MAX 512u		/* two vectors each, and IOV_MAX is 1024 */
#define EVENTS 64

struct head {
	uint32_t len;
	uint32_t number;
};

/**
 * struct tconn - one connection
 * @fd: socket
 * @sent: messages sent
 * @buffer: received and not yet looked at: from @at to @have
 * @at: see there
 * @have: see there
 * @head: of the message that is coming
 * @in_body: @head is known, its payload is not complete
 * @missing: bytes of it
 * @ready: it is in tcp.ready: the socket may have bytes, or the buffer messages
 */
struct tconn {
	int fd;
	uint32_t sent;
	char *buffer;
	uint32_t at;
	uint32_t have;
	struct head head;
	bool in_body;
	uint32_t missing;
	bool ready;
};

/**
 * struct tcp - one end
 * @link: head
 * @listener: socket, -1 at the client
 * @epfd: epoll, -1 if not needed
 * @ready: connections to be looked at, with epoll
 * @nr_ready: how many
 * @memory: slots to be sent, then those that arrive
 * @conns: connections, by number
 * @heads: of a batch
 * @iov: the same with payload
 */
struct tcp {
	struct link link;
	int listener;
	int epfd;
	uint32_t *ready;
	uint32_t nr_ready;
	char *memory;
	struct tconn *conns;
	struct head *heads;
	struct iovec *iov;
};

static struct tcp *tcp_of(struct link *link)
{
	return (struct tcp *)(void *)link;
}

static int broken(const char *what)
{
	return fail("tcp: %s: %s", what, strerror(errno));
}

static bool uses_epoll(const struct run *run)
{
	return run->wait == WAIT_EPOLL || run->endpoints > 1;
}

static char *slot(struct tcp *t, bool incoming, uint32_t ep, uint32_t n)
{
	const struct run *run = t->link.run;

	return t->memory + ((incoming ? run->endpoints : 0) + (size_t)ep) *
		slots_bytes(run) + (size_t)n * run->size;
}

static void *tcp_sent(struct link *link, uint32_t ep, uint32_t n)
{
	return slot(tcp_of(link), false, ep, n);
}

static void *tcp_got(struct link *link, uint32_t ep, uint32_t n)
{
	return slot(tcp_of(link), true, ep, n);
}

/* ---- making and ending ---- */

static void tcp_close(struct link *link)
{
	struct tcp *t = tcp_of(link);
	uint32_t i;

	for (i = 0; t->conns && i < link->run->endpoints; i++) {
		if (t->conns[i].fd >= 0)
			close(t->conns[i].fd);
		free(t->conns[i].buffer);
	}
	if (t->listener >= 0)
		close(t->listener);
	if (t->epfd >= 0)
		close(t->epfd);
	free(t->ready);
	free(t->memory);
	free(t->conns);
	free(t->heads);
	free(t->iov);
	free(t);
}

static int make_conns(struct tcp *t)
{
	uint32_t i;

	t->conns = calloc(t->link.run->endpoints, sizeof(*t->conns));
	if (!t->conns)
		return fail("no memory");
	for (i = 0; i < t->link.run->endpoints; i++)
		t->conns[i].fd = -1;
	for (i = 0; i < t->link.run->endpoints; i++) {
		t->conns[i].buffer = malloc(BUFFER);
		if (!t->conns[i].buffer)
			return fail("no memory");
	}
	return 0;
}

static struct link *tcp_open(const struct run *run, bool server)
{
	struct tcp *t = calloc(1, sizeof(*t));

	(void)server;
	if (!t) {
		fail("no memory");
		return NULL;
	}
	t->link = (struct link){ .ops = &tcp, .run = run };
	t->listener = -1;
	t->epfd = -1;
	t->ready = calloc(run->endpoints, sizeof(*t->ready));
	t->memory = calloc(2 * (size_t)run->endpoints, slots_bytes(run));
	t->heads = calloc(BATCH_MAX, sizeof(*t->heads));
	t->iov = calloc(BATCH_MAX, 2 * sizeof(*t->iov));
	if (uses_epoll(run))
		t->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (t->ready && t->memory && t->heads && t->iov && !make_conns(t) &&
	    (t->epfd >= 0 || !uses_epoll(run)))
		return &t->link;
	fail("tcp: %s", strerror(errno));
	tcp_close(&t->link);
	return NULL;
}

static int set_up(struct tcp *t, uint32_t ep, int fd)
{
	struct epoll_event in = { .events = EPOLLIN, .data.u32 = ep };
	int on = 1;

	t->conns[ep].fd = fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    (t->epfd >= 0 && epoll_ctl(t->epfd, EPOLL_CTL_ADD, fd, &in)))
		return broken("setting up");
	return 0;
}

static int tcp_listen(struct link *link, union address *addr)
{
	socklen_t len = sizeof(*addr);
	struct tcp *t = tcp_of(link);

	t->listener = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->listener < 0 ||
	    bind(t->listener, &addr->sa, address_len(addr)) ||
	    listen(t->listener, 1024) ||
	    getsockname(t->listener, &addr->sa, &len))
		return broken("listening");
	return 0;
}

static int recv_all(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len ? 0 :
		broken("setting up");
}

static int tcp_accept(struct link *link)
{
	struct tcp *t = tcp_of(link);
	uint32_t i, ep;
	int fd;

	for (i = 0; i < link->run->endpoints; i++) {
		fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			return broken("accepting");
		if (recv_all(fd, &ep, sizeof(ep)))
			return EXIT_FAILED;
		if (ep >= link->run->endpoints || t->conns[ep].fd >= 0)
			return fail("tcp: a stranger");
		if (set_up(t, ep, fd))
			return EXIT_FAILED;
	}
	return 0;
}

static int tcp_connect(struct link *link, const union address *addr)
{
	struct tcp *t = tcp_of(link);
	uint32_t i;
	int fd;

	for (i = 0; i < link->run->endpoints; i++) {
		fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || connect(fd, &addr->sa, address_len(addr)) ||
		    send(fd, &i, sizeof(i), 0) != sizeof(i))
			return broken("connecting");
		if (set_up(t, i, fd))
			return EXIT_FAILED;
	}
	return 0;
}

/* ---- sending ---- */

static int send_flags(const struct run *run)
{
	return MSG_NOSIGNAL | (uses_epoll(run) || run->wait == WAIT_SPIN ?
			       MSG_DONTWAIT : 0);
}

static int await_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			return broken("poll");
	return 0;
}

/* What sendmsg() took is not sent again. */
static void advance(struct msghdr *msg, size_t n)
{
	while (msg->msg_iovlen && n >= msg->msg_iov->iov_len) {
		n -= msg->msg_iov->iov_len;
		msg->msg_iov++;
		msg->msg_iovlen--;
	}
	if (n) {
		msg->msg_iov->iov_base = (char *)msg->msg_iov->iov_base + n;
		msg->msg_iov->iov_len -= n;
	}
}

/* All of it, or nothing: 1, 0, or failure */
static int send_batch(struct tcp *t, int fd, struct msghdr *msg)
{
	bool begun = false;
	ssize_t n;

	while (msg->msg_iovlen) {
		n = sendmsg(fd, msg, send_flags(t->link.run));
		if (n >= 0) {
			advance(msg, (size_t)n);
			begun = true;
		} else if (errno == EAGAIN) {
			if (!begun)
				return 0;
			if (await_room(fd))
				return -1;
		} else if (errno != EINTR) {
			broken("sending");
			return -1;
		}
	}
	return 1;
}

static int tcp_post(struct link *link, uint32_t ep, unsigned int n)
{
	struct tcp *t = tcp_of(link);
	struct tconn *c = &t->conns[ep];
	struct msghdr msg = { .msg_iov = t->iov };
	uint32_t size = link->run->size;
	unsigned int i;
	int ret;

	if (n > BATCH_MAX)
		n = BATCH_MAX;
	if (n > link->run->batch)
		n = link->run->batch;
	for (i = 0; i < n; i++) {
		struct iovec *iov = t->iov + msg.msg_iovlen;
		uint32_t number = c->sent + i;

		t->heads[i] = (struct head){ .len = size, .number = number };
		iov[0] = (struct iovec){ &t->heads[i], sizeof(struct head) };
		iov[1] = (struct iovec){
			slot(t, false, ep, number % slots_of(link->run)), size,
		};
		msg.msg_iovlen += size ? 2 : 1;
	}
	ret = send_batch(t, c->fd, &msg);
	if (ret <= 0)
		return ret;
	c->sent += n;
	return (int)n;
}

/* ---- receiving ---- */

/* One recv(): 1: bytes; 0: none now; or failure */
static int fetch(struct tcp *t, struct tconn *c, int flags)
{
	uint32_t ep = (uint32_t)(c - t->conns);
	bool direct = c->in_body && c->missing >= DIRECT && c->at == c->have;
	ssize_t n;
	void *to;

	if (c->at == c->have)
		c->at = c->have = 0;
	if (c->at) {
		c->have -= c->at;
		memmove(c->buffer, c->buffer + c->at, c->have);
		c->at = 0;
	}
	to = direct ? slot(t, true, ep, c->head.number %
			   slots_of(t->link.run)) + c->head.len - c->missing :
		c->buffer + c->have;
	do {
		n = recv(c->fd, to, direct ? c->missing : BUFFER - c->have,
			 flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		fail("tcp: receiving: %s", n ? strerror(errno) :
		     "the peer has closed");
		return -1;
	}
	if (direct)
		c->missing -= (uint32_t)n;
	else
		c->have += (uint32_t)n;
	return 1;
}

/* 1: a whole message is in its slot; 0: not yet; or failure */
static int next_message(struct tcp *t, struct tconn *c, struct note *note)
{
	uint32_t ep = (uint32_t)(c - t->conns), n;

	if (!c->in_body) {
		if (c->have - c->at < sizeof(c->head))
			return 0;
		memcpy(&c->head, c->buffer + c->at, sizeof(c->head));
		c->at += (uint32_t)sizeof(c->head);
		if (c->head.len != t->link.run->size) {
			fail("tcp: the stream makes no sense");
			return -1;
		}
		c->missing = c->head.len;
		c->in_body = true;
	}
	n = c->have - c->at < c->missing ? c->have - c->at : c->missing;
	memcpy(slot(t, true, ep, c->head.number % slots_of(t->link.run)) +
	       c->head.len - c->missing, c->buffer + c->at, n);
	c->at += n;
	c->missing -= n;
	if (c->missing)
		return 0;
	c->in_body = false;
	*note = (struct note){ .endpoint = ep, .number = c->head.number };
	return 1;
}

static int take_buffered(struct tcp *t, struct tconn *c, struct note *notes,
			 unsigned int max)
{
	unsigned int have = 0;
	int ret;

	while (have < max) {
		ret = next_message(t, c, &notes[have]);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		have++;
	}
	return (int)have;
}

/* From the buffer; else from the socket, if it may be asked without sleeping. */
static int take_one(struct tcp *t, struct tconn *c, struct note *notes,
		    unsigned int max)
{
	int ret, n = take_buffered(t, c, notes, max);

	if (n || !(c->ready || t->link.run->wait == WAIT_SPIN))
		return n;
	ret = fetch(t, c, MSG_DONTWAIT);
	return ret <= 0 ? ret : take_buffered(t, c, notes, max);
}

static int ask_epoll(struct tcp *t, int timeout)
{
	struct epoll_event events[EVENTS];
	int i, n = epoll_wait(t->epfd, events, EVENTS, timeout);

	if (n < 0)
		return errno == EINTR ? 0 : broken("epoll");
	for (i = 0; i < n; i++) {
		struct tconn *c = &t->conns[events[i].data.u32];

		if (!c->ready)
			t->ready[t->nr_ready++] = events[i].data.u32;
		c->ready = true;
	}
	return 0;
}

/* Those that epoll named, once each: if there is more, it names them again. */
static int take_ready(struct tcp *t, struct note *notes, unsigned int max)
{
	unsigned int have = 0;
	struct tconn *c;
	int n;

	while (t->nr_ready && have < max) {
		c = &t->conns[t->ready[t->nr_ready - 1]];
		n = take_one(t, c, notes + have, max - have);
		if (n < 0)
			return n;
		have += (unsigned int)n;
		if (have == max)
			break;
		c->ready = false;
		t->nr_ready--;
	}
	return (int)have;
}

static int tcp_take(struct link *link, struct note *notes, unsigned int max)
{
	struct tcp *t = tcp_of(link);

	if (t->epfd < 0)
		return take_one(t, &t->conns[0], notes, max);
	if (!t->nr_ready && link->run->wait == WAIT_SPIN && ask_epoll(t, 0))
		return -1;
	return take_ready(t, notes, max);
}

/* 1: bytes came; 0: nothing for a while; or failure */
static int look_for_a_while(struct tcp *t)
{
	uint64_t until = now_ns() + t->link.run->spin_us * 1000ull;
	int ret;

	do {
		ret = fetch(t, &t->conns[0], MSG_DONTWAIT);
	} while (!ret && now_ns() < until);
	return ret;
}

static int tcp_sleep(struct link *link, bool room, uint32_t ep)
{
	struct tcp *t = tcp_of(link);
	int ret;

	if (link->run->wait == WAIT_SPIN)
		return 0;
	if (room)
		return await_room(t->conns[ep].fd);
	if (link->run->wait == WAIT_ADAPTIVE && t->epfd < 0) {
		ret = look_for_a_while(t);
		if (ret)
			return ret < 0 ? EXIT_FAILED : 0;
	}
	link->sleeps++;
	if (t->epfd >= 0)
		return ask_epoll(t, -1);
	return fetch(t, &t->conns[0], 0) < 0 ? EXIT_FAILED : 0;
}

const struct transport tcp = {
	.name = "tcp",
	.summary = "TCP, and a copy at each end",
	.waits = WAIT_BIT(WAIT_SPIN) | WAIT_BIT(WAIT_ADAPTIVE) |
		WAIT_BIT(WAIT_BLOCK) | WAIT_BIT(WAIT_EPOLL),
	.open = tcp_open,
	.listen = tcp_listen,
	.accept = tcp_accept,
	.connect = tcp_connect,
	.close = tcp_close,
	.post = tcp_post,
	.take = tcp_take,
	.sleep = tcp_sleep,
	.sent = tcp_sent,
	.got = tcp_got,
};
