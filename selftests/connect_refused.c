// SPDX-License-Identifier: GPL-2.0
/*
 * Connections and listeners that can't be: addresses, ports, backlog, room in
 * the ring, peers that do not answer (FAULTS 37, 40).
 *
 * rvm: limit=120
 */
#include <arpa/inet.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(refused)
{
	struct rnt_ctx c;
};

FIXTURE_SETUP(refused)
{
	rnt_init(&self->c, 8192, 0);
}

FIXTURE_TEARDOWN(refused)
{
	rnt_close(&self->c);
}

static int listen_err(struct rnt_ctx *c, const char *addr, __u16 port,
		      __u32 backlog)
{
	struct rnotify_listen arg = { .size = sizeof(arg), .backlog = backlog };

	rnt_addr(&arg.addr, addr, port);
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_LISTEN, &arg);
}

TEST_F(refused, bad_addresses)
{
	struct rnotify_connect con = { 0 };
	struct rnt_ctx *c = &self->c;

	EXPECT_EQ(-EAFNOSUPPORT, rnt_connect_err(c, &con, NULL, 0));
	con.dst.family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, rnt_connect_err(c, &con, NULL, 0));
	con.dst.family = 0xffff;
	EXPECT_EQ(-EAFNOSUPPORT, rnt_connect_err(c, &con, NULL, 0));
	/* IPv4 with something behind it */
	rnt_addr(&con.dst, rnt_addr4(), 7000);
	con.dst.addr[15] = 1;
	EXPECT_EQ(-EINVAL, rnt_connect_err(c, &con, NULL, 0));
	con.dst.addr[15] = 0;
	con.dst.scope_id = 1;
	EXPECT_EQ(-EINVAL, rnt_connect_err(c, &con, NULL, 0));
	/* no route */
	EXPECT_EQ(-ENETUNREACH, rnt_connect_err(c, &con, "192.0.2.1", 7000));
	EXPECT_EQ(-ENETUNREACH, rnt_connect_err(c, &con, "2001:db8::1", 7000));
	/* link-local without a scope */
	EXPECT_EQ(-EINVAL, rnt_connect_err(c, &con, "fe80::1", 7000));
	/* a source that is not here, or of another family */
	memset(&con, 0, sizeof(con));
	rnt_addr(&con.src, "10.0.0.77", 0);
	EXPECT_EQ(-EADDRNOTAVAIL, rnt_connect_err(c, &con, rnt_addr4(), 7000));
	rnt_addr(&con.src, rnt_addr6(), 0);
	EXPECT_EQ(-EINVAL, rnt_connect_err(c, &con, rnt_addr4(), 7000));
	con.src.family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, rnt_connect_err(c, &con, rnt_addr4(), 7000));
	rnt_expect_none(c, 0, 5);
}

TEST_F(refused, bad_listeners)
{
	struct rnotify_listen arg = { .size = sizeof(arg) };
	struct rnt_ctx *c = &self->c;
	__u16 port = 0;
	__u32 id;

	EXPECT_EQ(-EAFNOSUPPORT, rnt_ioctl(c->fd, RNOTIFY_IOCTL_LISTEN, &arg));
	arg.addr.family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, rnt_ioctl(c->fd, RNOTIFY_IOCTL_LISTEN, &arg));
	EXPECT_EQ(-EADDRNOTAVAIL, listen_err(c, "10.0.0.77", 0, 1));
	EXPECT_EQ(-EADDRNOTAVAIL, listen_err(c, "fd00::77", 0, 1));
	EXPECT_EQ(-EINVAL, listen_err(c, rnt_addr4(), 0, 1025));
	EXPECT_EQ(-EINVAL, listen_err(c, rnt_addr4(), 0, ~0u));
	id = rnt_listen(c, rnt_addr4(), &port, 1);
	EXPECT_EQ(-EADDRINUSE, listen_err(c, rnt_addr4(), port, 1));
	EXPECT_EQ(-EADDRINUSE, listen_err(c, "0.0.0.0", port, 1));
	/* IPv6 is another world */
	EXPECT_EQ(0, listen_err(c, rnt_addr6(), port, 1));
	rnt_destroy(c, id);
	EXPECT_EQ(0, listen_err(c, rnt_addr4(), port, 1));
}

/* A port is free again as soon as DESTROY returns, whoever is connected. */
TEST_F(refused, port_reuse)
{
	struct rnt_pair p, q;

	rnt_pair_open(&p, &self->c, &self->c, NULL, NULL);
	for (int i = 0; i < 10; i++) {
		rnt_destroy(&self->c, p.listener);
		p.listener = rnt_listen(&self->c, rnt_addr4(), &p.port, 2);
		rnt_pair_more(&p, &q);
	}
}

/* One listener for all addresses. */
TEST_F(refused, wildcard)
{
	struct rnt_ctx *c = &self->c;
	__u16 port = 0;
	__u32 ea, eb;

	rnt_listen(c, "0.0.0.0", &port, 1);
	ea = rnt_connect(c, rnt_addr4(), port, NULL, 0);
	eb = rnt_request(c, NULL);
	ASSERT_EQ(0, rnt_accept(c, eb, NULL, 0));
	rnt_expect(c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	port = 0;
	rnt_listen(c, "::", &port, 1);
	ea = rnt_connect(c, rnt_addr6(), port, NULL, 0);
	eb = rnt_request(c, NULL);
	ASSERT_EQ(0, rnt_accept(c, eb, NULL, 0));
	rnt_expect(c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

/* Nobody listens: the end comes soon, and says so. Then somebody does. */
TEST_F(refused, connect_before_listen)
{
	struct rnt_ctx *c = &self->c;
	struct rnotify_event ev;
	__u16 port = 7100;
	__u32 ea, eb;

	for (int i = 0; i < 3; i++) {
		uint64_t start = rnt_now_ns();

		ea = rnt_connect(c, rnt_addr4(), port, NULL, 0x77);
		rnt_expect(c, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
		EXPECT_TRUE(ev.down.reason == RNOTIFY_REASON_REJECTED ||
			    ev.down.reason == RNOTIFY_REASON_UNREACHABLE);
		EXPECT_EQ(RNOTIFY_STAGE_CONNECT, ev.down.stage);
		EXPECT_EQ(-ECONNREFUSED, ev.down.error);
		EXPECT_EQ(0x77, ev.cookie);
		EXPECT_LT((rnt_now_ns() - start) / 1e6, 3000 * rnt_slow());
		rnt_destroy(c, ea);
	}
	rnt_listen(c, rnt_addr4(), &port, 1);
	ea = rnt_connect(c, rnt_addr4(), port, NULL, 0);
	eb = rnt_request(c, NULL);
	ASSERT_EQ(0, rnt_accept(c, eb, NULL, 0));
	rnt_expect(c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

/* An address on our net that nobody has: connect_timeout_ms bounds it. */
TEST_F(refused, nobody_there)
{
	struct rnotify_params params = { .connect_timeout_ms = 700 };
	uint64_t start = rnt_now_ns();
	struct rnotify_event ev;
	__u32 ea;

	ea = rnt_connect(&self->c, "10.0.0.99", 7100, &params, 0);
	rnt_expect(&self->c, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_TRUE(ev.down.reason == RNOTIFY_REASON_TIMEOUT ||
		    ev.down.reason == RNOTIFY_REASON_UNREACHABLE)
		TH_LOG("reason %u", ev.down.reason);
	EXPECT_LT(ev.down.error, 0);
	EXPECT_GE((rnt_now_ns() - start) / 1000000, 600);
	EXPECT_LT((rnt_now_ns() - start) / 1000000, 700 + 2000 * rnt_slow());
}

/* A listener that does not answer. */
TEST_F(refused, no_answer)
{
	/* the request has to arrive in that time */
	struct rnotify_params params = {
		.connect_timeout_ms = 200 * rnt_slow(),
	};
	struct rnt_ctx *c = &self->c;
	struct rnotify_event ev;
	__u16 port = 0;
	__u32 ea, eb;

	rnt_listen(c, rnt_addr4(), &port, 1);
	ea = rnt_connect(c, rnt_addr4(), port, &params, 0);
	eb = rnt_request(c, NULL);
	rnt_expect(c, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_REASON_TIMEOUT, ev.down.reason);
	EXPECT_EQ(-ETIMEDOUT, ev.down.error);
	/* the other side learns that it was given up, and can't accept it */
	rnt_expect(c, eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(RNOTIFY_STAGE_ACCEPT, ev.down.stage);
	EXPECT_EQ(-ENOTCONN, rnt_accept(c, eb, NULL, 0));
	EXPECT_EQ(-ENOTCONN, rnt_reject(c, eb));
	rnt_destroy(c, eb);
}

/* As many requests as the backlog says; the rest is turned away. */
TEST_F(refused, backlog)
{
	struct rnotify_params few = {
		.recv_depth = 2, .send_depth = 2,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
	struct rnt_ctx a, *b = &self->c;
	unsigned int down = 0, asked = 0;
	struct rnotify_event ev;
	__u32 request[8];
	__u16 port = 0;

	rnt_init(&a, 1024, 0);
	rnt_listen(b, rnt_addr4(), &port, 3);
	/* one by one, with each request read before the next comes */
	for (int i = 0; i < 6; i++) {
		rnt_connect(&a, rnt_addr4(), port, &few, i);
		if (i < 3)
			request[asked++] = rnt_request(b, NULL);
	}
	while (down < 3) {
		rnt_expect(&a, 0, RNOTIFY_EVENT_DISCONNECTED, &ev);
		EXPECT_EQ(RNOTIFY_REASON_REJECTED, ev.down.reason);
		EXPECT_EQ(-EBUSY, ev.down.error);
		EXPECT_GE(ev.cookie, 3);
		down++;
	}
	rnt_expect_none(b, 0, 20);
	/* an answer makes room for one more, whichever it is */
	ASSERT_EQ(0, rnt_accept(b, request[0], &few, 0));
	rnt_expect(&a, 0, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_connect(&a, rnt_addr4(), port, &few, 0);
	request[0] = rnt_request(b, NULL);
	ASSERT_EQ(0, rnt_reject(b, request[1]));
	rnt_expect(&a, 0, RNOTIFY_EVENT_DISCONNECTED, NULL);
	rnt_down(b, request[1], RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_connect(&a, rnt_addr4(), port, &few, 0);
	request[1] = rnt_request(b, NULL);
	rnt_destroy(b, request[2]);
	rnt_expect(&a, 0, RNOTIFY_EVENT_DISCONNECTED, NULL);
	rnt_connect(&a, rnt_addr4(), port, &few, 0);
	request[2] = rnt_request(b, NULL);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, rnt_accept(b, request[i], &few, 0));
		rnt_expect(&a, 0, RNOTIFY_EVENT_ESTABLISHED, NULL);
	}
	rnt_close(&a);
}

/* The entries that the header names are what a ring must have (P2). */
TEST_F(refused, P2_ring_too_small)
{
	struct rnotify_connect con = { 0 };
	struct rnotify_params *p = &con.params;
	struct rnt_ctx a;
	__u16 port = 0;
	__u32 eb, id;

	rnt_init(&a, 64, 0);
	rnt_listen(&self->c, rnt_addr4(), &port, 4);
	EXPECT_EQ(-ENOSPC, rnt_connect_err(&a, &con, rnt_addr4(), port));
	/* 20 + 25 + 2 * 8 + 3 */
	p->recv_depth = 20;
	p->send_depth = 26;
	EXPECT_EQ(-ENOSPC, rnt_connect_err(&a, &con, rnt_addr4(), port));
	p->send_depth = 25;
	EXPECT_EQ(0, rnt_connect_err(&a, &con, rnt_addr4(), port));
	id = con.endpoint_id;
	/* full: not even the least of all */
	*p = (struct rnotify_params){ 1, 1, 0, 0, RNOTIFY_NO_REGIONS, 0 };
	EXPECT_EQ(-ENOSPC, rnt_connect_err(&a, &con, rnt_addr4(), port));
	EXPECT_EQ(-ENOSPC, listen_err(&a, rnt_addr4(), 0, 1));
	/* it all comes back, when the last event is consumed, too */
	rnt_destroy(&a, id);
	rnt_expect(&a, id, RNOTIFY_EVENT_DISCONNECTED, NULL);
	EXPECT_EQ(0, rnt_connect_err(&a, &con, rnt_addr4(), port));
	rnt_destroy(&a, con.endpoint_id);
	rnt_close(&a);

	/* ACCEPT is refused, and the request stays open */
	rnt_init(&a, 64, 0);
	port = 0;
	rnt_listen(&a, rnt_addr4(), &port, 2);
	rnt_connect(&self->c, rnt_addr4(), port, NULL, 0);
	eb = rnt_request(&a, NULL);
	EXPECT_EQ(-ENOSPC, rnt_accept(&a, eb, NULL, 0));
	*p = (struct rnotify_params){ 60, 1, 0, 0, RNOTIFY_NO_REGIONS, 0 };
	EXPECT_EQ(-ENOSPC, rnt_accept(&a, eb, p, 0));
	p->recv_depth = 40;
	EXPECT_EQ(0, rnt_accept(&a, eb, p, 0));
	rnt_expect(&a, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_close(&a);
}

TEST_F(refused, listener_ring_too_small)
{
	struct rnt_ctx a;

	rnt_init(&a, 8, 0);
	EXPECT_EQ(-ENOSPC, listen_err(&a, rnt_addr4(), 0, 0));
	EXPECT_EQ(-ENOSPC, listen_err(&a, rnt_addr4(), 0, 5));
	EXPECT_EQ(-ENOSPC, listen_err(&a, rnt_addr4(), 0, 1024));
	EXPECT_EQ(0, listen_err(&a, rnt_addr4(), 0, 3));
	EXPECT_EQ(-ENOSPC, listen_err(&a, rnt_addr4(), 0, 1));
	rnt_close(&a);
}

TEST_HARNESS_MAIN
