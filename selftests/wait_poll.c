// SPDX-License-Identifier: GPL-2.0
/*
 * A context in poll, select and epoll: what each of them reports, and when
 * (FAULTS 14, 15).
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wait_fixture.h"

/*
 * ---- poll, select, epoll ---------------------------------------------------
 */

TEST_F(wait, before_setup)
{
	struct pollfd p = { .events = POLLIN | POLLOUT };
	struct rnotify_event ev;
	struct rnt_ctx c = { .fd = rnt_open() };
	__u32 nr;

	p.fd = c.fd;
	ASSERT_EQ(1, poll(&p, 1, 0));
	ASSERT_EQ(POLLERR, p.revents);
	ASSERT_EQ(-1, read(c.fd, &ev, sizeof(ev)));
	ASSERT_EQ(EBADFD, errno);
	ASSERT_EQ(-EBADFD, rnt_wait(&c, 1, -1, 0, &nr));
	close(c.fd);
}

/* A server sleeps before anybody connected, and before there is a listener. */
TEST_F(wait, P7_poll_before_connect)
{
	struct poller p = { .events = POLLIN };
	struct rnt_ctx c;
	__u16 port = 0;
	__u32 ep;

	rnt_init(&c, 256, 0);
	ASSERT_EQ(POLLOUT, rnt_poll(&c, POLLIN | POLLOUT, 0));
	p.fd = c.fd;
	rnt_thread_start(&p.thread, poller_fn, &p);
	rnt_await_sleep(p.thread.tid, SYS_poll);
	rnt_listen(&c, rnt_addr4(), &port, 1);
	ASSERT_FALSE(rnt_thread_ends(&p.thread, 10, NULL));
	ep = rnt_connect(&self->a, rnt_addr4(), port, NULL, 0);
	rnt_thread_join(&p.thread);
	ASSERT_EQ(POLLIN, p.revents);
	ASSERT_EQ(0, rnt_accept(&c, rnt_request(&c, NULL), NULL, 0));
	rnt_expect(&self->a, ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_close(&c);
}

/* Level: it stays until the last is consumed. */
TEST_F(wait, poll_level)
{
	ASSERT_EQ(POLLOUT, rnt_poll(&self->b, POLLIN | POLLOUT, 0));
	ring_bell_heard(self, 3);
	for (int i = 3; i > 0; i--) {
		ASSERT_EQ(POLLIN | POLLOUT,
			  rnt_poll(&self->b, POLLIN | POLLOUT, 0));
		ASSERT_EQ(POLLIN | POLLRDNORM,
			  rnt_poll(&self->b, POLLIN | POLLRDNORM, 0));
		rnt_consume(&self->b, 1);
	}
	ASSERT_EQ(0, rnt_poll(&self->b, POLLIN | POLLRDNORM | POLLPRI, 0));
	ASSERT_EQ(POLLOUT | POLLWRNORM,
		  rnt_poll(&self->b, POLLOUT | POLLWRNORM, 0));
}

TEST_F(wait, select_level)
{
	struct timeval now = { 0, 0 };
	fd_set in, out;
	int fd = self->b.fd;

	for (int pending = 0; pending < 2; pending++) {
		FD_ZERO(&in);
		FD_ZERO(&out);
		FD_SET(fd, &in);
		FD_SET(fd, &out);
		ASSERT_EQ(1 + pending, select(fd + 1, &in, &out, NULL, &now));
		ASSERT_EQ(pending, !!FD_ISSET(fd, &in));
		ASSERT_TRUE(FD_ISSET(fd, &out));
		ring_bell_heard(self, 1);
	}
}

static int add_epoll(struct rnt_ctx *c, __u32 events)
{
	struct epoll_event ep = { .events = events, .data.u64 = 42 };
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	rnt_check(epfd >= 0);
	rnt_check_eq(0, epoll_ctl(epfd, EPOLL_CTL_ADD, c->fd, &ep));
	return epfd;
}

/* events, 0 on timeout */
static __u32 epoll_once(int epfd, unsigned int ms)
{
	struct epoll_event ep[4];
	int n = epoll_wait(epfd, ep, 4, ms * rnt_slow());

	rnt_check(n == 0 || n == 1);
	if (n)
		rnt_check_eq(42, ep[0].data.u64);
	return n ? ep[0].events : 0;
}

TEST_F(wait, epoll_level)
{
	int epfd = add_epoll(&self->b, EPOLLIN);

	ASSERT_EQ(0, epoll_once(epfd, 0));
	ring_bell_heard(self, 2);
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS));
	rnt_consume(&self->b, 1);
	ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS));
	rnt_consume(&self->b, 1);
	ASSERT_EQ(0, epoll_once(epfd, 0));
	close(epfd);
}

TEST_F(wait, epoll_edge)
{
	int epfd = add_epoll(&self->b, EPOLLIN | EPOLLET);

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, epoll_once(epfd, 0));
		ring_bell(self, 1);
		ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS));
		/* told once; and not again when more comes to what is there */
		ASSERT_EQ(0, epoll_once(epfd, 0));
		ring_bell_heard(self, 1);
		ASSERT_EQ(0, epoll_once(epfd, 0));
		rnt_consume(&self->b, rnt_pending(&self->b));
	}
	close(epfd);
	/* what was there before counts as an edge */
	ring_bell_heard(self, 1);
	epfd = add_epoll(&self->b, EPOLLIN | EPOLLET);
	ASSERT_EQ(EPOLLIN, epoll_once(epfd, 0));
	ASSERT_EQ(0, epoll_once(epfd, 0));
	close(epfd);
}

static void *ring_bells(void *arg)
{
	FIXTURE_DATA(wait) *self = arg;
	struct rnotify_op op = rnt_op_notify(self->p.ea, 1);

	for (unsigned int i = 0; i < rnt_count(60000); i++)
		rnt_post1(&self->a, &op);
	return NULL;
}

/* A read() that returns less than it could has left nothing: no edge comes. */
TEST_F(wait, P8_epoll_edge_and_short_reads)
{
	struct rnotify_event events[64];
	unsigned int got = 0, n, calls = 0;
	struct rnt_thread bells;
	int epfd;

	ASSERT_EQ(0, fcntl(self->b.fd, F_SETFL, O_NONBLOCK));
	epfd = add_epoll(&self->b, EPOLLIN | EPOLLET);
	rnt_thread_start(&bells, ring_bells, self);
	while (got < rnt_count(60000)) {
		ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS))
			TH_LOG("%u events, %u calls", got, calls);
		do {
			ssize_t len = read(self->b.fd, events, sizeof(events));

			if (len < 0)
				ASSERT_EQ(EAGAIN, errno);
			n = len < 0 ? 0 : len / sizeof(*events);
			got += n;
			calls++;
		} while (n == 64);
	}
	rnt_thread_join(&bells);
	close(epfd);
}

TEST_F(wait, epoll_oneshot)
{
	struct epoll_event ep = {
		.events = EPOLLIN | EPOLLONESHOT, .data.u64 = 42,
	};
	int epfd = add_epoll(&self->b, ep.events);

	for (int i = 0; i < 10; i++) {
		ring_bell(self, 1);
		ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS));
		ring_bell_heard(self, 1);
		ASSERT_EQ(0, epoll_once(epfd, 0));
		/* armed again with something there */
		ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_MOD, self->b.fd, &ep));
		ASSERT_EQ(EPOLLIN, epoll_once(epfd, RNT_PATIENCE_MS));
		rnt_consume(&self->b, rnt_pending(&self->b));
		/* and with nothing there */
		ASSERT_EQ(0, epoll_ctl(epfd, EPOLL_CTL_MOD, self->b.fd, &ep));
		ASSERT_EQ(0, epoll_once(epfd, 0));
	}
	close(epfd);
}

/* An epoll in an epoll, and one that outlives the context's fd. */
TEST_F(wait, epoll_nested)
{
	int inner = add_epoll(&self->b, EPOLLIN), outer = epoll_create1(0);
	struct epoll_event ep = { .events = EPOLLIN, .data.u64 = 42 };

	ASSERT_EQ(0, epoll_ctl(outer, EPOLL_CTL_ADD, inner, &ep));
	ASSERT_EQ(0, epoll_once(outer, 0));
	ring_bell(self, 1);
	ASSERT_EQ(EPOLLIN, epoll_once(outer, RNT_PATIENCE_MS));
	rnt_close(&self->b);
	ASSERT_EQ(0, epoll_once(inner, 0));
	ASSERT_EQ(0, epoll_once(outer, 0));
	rnt_init(&self->b, 512, 0);
}

TEST_HARNESS_MAIN
