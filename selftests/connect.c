// SPDX-License-Identifier: GPL-2.0
/*
 * Making connections: what the two sides learn of each other, private data,
 * parameters, addresses, backlog (FAULTS 37, 38, 40, 42).
 *
 * rvm: limit=120
 */
#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(connect)
{
	struct rnt_ctx a;	/* connects */
	struct rnt_ctx b;	/* listens */
	__u32 listener;
	__u16 port;
};

FIXTURE_VARIANT(connect)
{
	const char *(*addr)(void);
};

FIXTURE_VARIANT_ADD(connect, ipv4) { .addr = rnt_addr4 };
FIXTURE_VARIANT_ADD(connect, ipv6) { .addr = rnt_addr6 };

FIXTURE_SETUP(connect)
{
	rnt_init(&self->a, 4096, 512);
	rnt_init(&self->b, 4096, 1024);
	self->listener = rnt_listen(&self->b, variant->addr(), &self->port, 16);
}

FIXTURE_TEARDOWN(connect)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
}

/* Everything that the events and ENDPOINT_INFO say on the way. */
TEST_F(connect, life)
{
	struct rnotify_params pa = { 10, 20, 2000, 7000, 3, 0 };
	struct rnotify_params pb = { 30, 40, 3000, 8000, 4, 0 };
	struct rnotify_endpoint_info ia, ib;
	struct rnotify_sockaddr addr;
	struct rnotify_event ev;
	__u32 ea, eb;

	rnt_addr(&addr, variant->addr(), self->port);
	ea = rnt_connect(&self->a, variant->addr(), self->port, &pa, 0xaaaa);
	eb = rnt_request(&self->b, &ev);
	EXPECT_EQ(self->listener, ev.request.listener);
	EXPECT_EQ(RNT_LISTENER_COOKIE, ev.cookie);
	EXPECT_EQ(0, ev.request.private_len);
	EXPECT_EQ(-1, rnt_diff_byte(ev.request.private_data,
				    sizeof(ev.request.private_data), 0));
	EXPECT_NE(self->listener, eb);
	rnt_info(&self->b, eb, &ib);
	EXPECT_EQ(RNOTIFY_STATE_REQUESTED, ib.state);
	EXPECT_EQ(0, memcmp(&addr, &ib.local, sizeof(addr)));
	rnt_info(&self->a, ea, &ia);
	EXPECT_EQ(RNOTIFY_STATE_CONNECTING, ia.state);
	rnt_expect_none(&self->a, 0, 20);

	ASSERT_EQ(0, rnt_accept(&self->b, eb, &pb, 0xbbbb));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, &ev);
	EXPECT_EQ(0xaaaa, ev.cookie);
	EXPECT_EQ(-1, rnt_diff_byte(ev.raw, sizeof(ev.raw), 0));
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, &ev);
	EXPECT_EQ(0xbbbb, ev.cookie);

	rnt_info(&self->a, ea, &ia);
	rnt_info(&self->b, eb, &ib);
	EXPECT_EQ(RNOTIFY_STATE_ESTABLISHED, ia.state);
	EXPECT_EQ(RNOTIFY_STATE_ESTABLISHED, ib.state);
	EXPECT_EQ(0, memcmp(&addr, &ia.remote, sizeof(addr)));
	EXPECT_EQ(0, memcmp(&addr, &ib.local, sizeof(addr)));
	EXPECT_EQ(0, memcmp(&ia.local, &ib.remote, sizeof(addr)));
	EXPECT_EQ(0, memcmp(ia.local.addr, addr.addr, sizeof(addr.addr)));
	EXPECT_EQ(0, memcmp(&pa, &ia.params, sizeof(pa)));
	EXPECT_EQ(0, memcmp(&pb, &ib.params, sizeof(pb)));
	EXPECT_EQ(1024, ia.peer_msg_size);
	EXPECT_EQ(512, ib.peer_msg_size);
	EXPECT_EQ(30, ia.tx_credits);
	EXPECT_EQ(10, ib.tx_credits);
	EXPECT_STREQ("rxe0", ia.device);
	EXPECT_STREQ("rxe0", ib.device);
	EXPECT_EQ(1, ia.port_num);
	EXPECT_GE(ia.sq_size, 20);
	EXPECT_GE(ia.rq_size, 10);
	EXPECT_GE(ib.rq_size, 30);
	EXPECT_GE(ia.cq_size, ia.sq_size + ia.rq_size);
	EXPECT_GE(ia.max_send_sge, 1);
	EXPECT_GT(ia.kmem, 10 * 256);
	EXPECT_EQ(0, ia.down.reason);
	EXPECT_EQ(0, ia.tx_posted);
	EXPECT_EQ(0, ia.rx_notify);
	EXPECT_EQ(0, ia.eagain);

	ASSERT_EQ(0, rnt_disconnect(&self->a, ea));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(0xaaaa, ev.cookie);
	EXPECT_EQ(RNOTIFY_REASON_LOCAL_CLOSE, ev.down.reason);
	EXPECT_EQ(RNOTIFY_STAGE_ESTABLISHED, ev.down.stage);
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_DISCONNECTED, &ev);
	EXPECT_EQ(0xbbbb, ev.cookie);
	EXPECT_EQ(RNOTIFY_REASON_PEER_CLOSE, ev.down.reason);
	EXPECT_EQ(RNOTIFY_STAGE_ESTABLISHED, ev.down.stage);
	EXPECT_LT(ev.down.error, 0);
	rnt_info(&self->b, eb, &ib);
	EXPECT_GE(ib.state, RNOTIFY_STATE_CLOSING);
	EXPECT_EQ(0, memcmp(&ib.down, &ev.down, sizeof(ev.down)));
	rnt_destroy(&self->a, ea);
	rnt_destroy(&self->b, eb);
	rnt_expect_none(&self->a, 0, 5);
	rnt_expect_none(&self->b, 0, 5);
}

/* Zero stands for the defaults. */
TEST_F(connect, defaults)
{
	struct rnotify_accept acc = { .size = sizeof(acc) };
	struct rnotify_endpoint_info info;
	struct rnotify_connect con = {};
	__u32 ea, eb;

	ASSERT_EQ(0, rnt_connect_err(&self->a, &con, variant->addr(),
				     self->port));
	ea = con.endpoint_id;
	eb = rnt_request(&self->b, NULL);
	acc.endpoint_id = eb;
	ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_ACCEPT, &acc));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	for (int i = 0; i < 2; i++) {
		rnt_info(i ? &self->a : &self->b, i ? ea : eb, &info);
		EXPECT_EQ(64, info.params.recv_depth);
		EXPECT_EQ(64, info.params.send_depth);
		EXPECT_EQ(5000, info.params.keepalive_ms);
		EXPECT_EQ(10000, info.params.connect_timeout_ms);
		EXPECT_EQ(8, info.params.remote_regions);
		EXPECT_EQ(0, info.params.reserved);
		EXPECT_EQ(64, info.tx_credits);
	}
}

/* The first side's bytes, each length, as request and as what INFO shows. */
TEST_F(connect, private_data)
{
	static const unsigned int lengths[] = { 0, 1, 7, 23, 24, 25, 27, 28 };
	struct rnotify_connect con = { .cookie = 1 };
	struct rnotify_endpoint_info info;
	char to_b[32], to_a[32];
	struct rnotify_event ev;
	__u32 ea, eb;

	rnt_fill(to_b, sizeof(to_b), 1);
	rnt_fill(to_a, sizeof(to_a), 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		unsigned int n = lengths[i], shown = n < 24 ? n : 24;
		struct rnotify_accept acc = { .size = sizeof(acc) };

		con.private_ptr = n ? (uintptr_t)to_b : 0;
		con.private_len = n;
		ASSERT_EQ(0, rnt_connect_err(&self->a, &con, variant->addr(),
					     self->port));
		ea = con.endpoint_id;
		eb = rnt_request(&self->b, &ev);
		EXPECT_EQ(n, ev.request.private_len);
		EXPECT_EQ(-1, rnt_diff(ev.request.private_data, shown, 1));
		EXPECT_EQ(-1, rnt_diff_byte(ev.request.private_data + shown,
					    24 - shown, 0));
		rnt_info(&self->b, eb, &info);
		EXPECT_EQ(n, info.private_len);
		EXPECT_EQ(-1, rnt_diff(info.private_data, n, 1));
		EXPECT_EQ(-1, rnt_diff_byte(info.private_data + n, 64 - n, 0));

		acc.endpoint_id = eb;
		acc.private_ptr = (uintptr_t)to_a;
		acc.private_len = n;
		ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_ACCEPT, &acc));
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_info(&self->a, ea, &info);
		EXPECT_EQ(n, info.private_len);
		EXPECT_EQ(-1, rnt_diff(info.private_data, n, 2));
		EXPECT_EQ(-1, rnt_diff_byte(info.private_data + n, 64 - n, 0));
		rnt_destroy(&self->a, ea);
		rnt_down(&self->b, eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&self->b, eb);
	}
}

TEST_F(connect, private_data_of_a_reject)
{
	static const unsigned int lengths[] = { 0, 1, 28 };
	struct rnotify_endpoint_info info;
	struct rnotify_event ev;
	char text[32];
	__u32 ea, eb;

	rnt_fill(text, sizeof(text), 3);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct rnotify_reject rej = { .size = sizeof(rej) };

		ea = rnt_connect(&self->a, variant->addr(), self->port, NULL,
				 0);
		eb = rnt_request(&self->b, NULL);
		rej.endpoint_id = eb;
		rej.private_ptr = (uintptr_t)text;
		rej.private_len = lengths[i];
		ASSERT_EQ(0, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_REJECT, &rej));
		rnt_down(&self->b, eb, RNOTIFY_REASON_LOCAL_CLOSE, &ev);
		EXPECT_EQ(RNOTIFY_STAGE_ACCEPT, ev.down.stage);
		rnt_expect(&self->a, ea, RNOTIFY_EVENT_DISCONNECTED, &ev);
		EXPECT_EQ(RNOTIFY_REASON_REJECTED, ev.down.reason);
		EXPECT_EQ(RNOTIFY_STAGE_CONNECT, ev.down.stage);
		EXPECT_EQ(-ECONNREFUSED, ev.down.error);
		rnt_info(&self->a, ea, &info);
		EXPECT_EQ(lengths[i], info.private_len);
		EXPECT_EQ(-1, rnt_diff(info.private_data, lengths[i], 3));
		rnt_destroy(&self->a, ea);
		rnt_destroy(&self->b, eb);
	}
}

/* Too much private data, or none where it should be. */
TEST_F(connect, private_data_refused)
{
	static const __u32 lengths[] = { 29, 64, 92, 65536, 1u << 31, ~0u };
	static char text[65536];
	struct rnotify_accept acc = { .size = sizeof(acc) };
	struct rnotify_reject rej = { .size = sizeof(rej) };
	struct rnotify_connect con = { 0 };
	__u32 ea, eb;

	ea = rnt_connect(&self->a, variant->addr(), self->port, NULL, 0);
	eb = rnt_request(&self->b, NULL);
	acc.endpoint_id = eb;
	rej.endpoint_id = eb;
	for (unsigned int i = 0; i <= ARRAY_SIZE(lengths); i++) {
		bool null = i == ARRAY_SIZE(lengths);
		int want = null ? -EFAULT : -EINVAL;

		con.private_ptr = null ? 0 : (uintptr_t)text;
		con.private_len = null ? 5 : lengths[i];
		acc.private_ptr = con.private_ptr;
		rej.private_ptr = con.private_ptr;
		acc.private_len = con.private_len;
		rej.private_len = con.private_len;
		EXPECT_EQ(want, rnt_connect_err(&self->a, &con,
						variant->addr(), self->port));
		EXPECT_EQ(want, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_ACCEPT,
					  &acc));
		EXPECT_EQ(want, rnt_ioctl(self->b.fd, RNOTIFY_IOCTL_REJECT,
					  &rej));
	}
	/* none of that was an answer */
	rnt_expect_none(&self->b, 0, 5);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

/* FAULTS 42: what can't be is refused before anything leaves. */
TEST_F(connect, bad_params)
{
	static const struct rnotify_params table[] = {
		{ .recv_depth = RNOTIFY_DEPTH_MAX + 1 },
		{ .recv_depth = 1u << 31 },
		{ .recv_depth = ~0u },
		{ .send_depth = RNOTIFY_DEPTH_MAX + 1 },
		{ .send_depth = 1u << 31 },
		{ .send_depth = ~0u },
		{ .keepalive_ms = 1 },
		{ .keepalive_ms = 999 },
		{ .keepalive_ms = ~0u },
		{ .connect_timeout_ms = ~0u },
		{ .remote_regions = RNOTIFY_SHARES_MAX + 1 },
		{ .remote_regions = ~0u - 1 },
	};
	struct rnotify_connect con = { 0 };
	__u32 ea, eb;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		con.params = table[i];
		EXPECT_EQ(-EINVAL, rnt_connect_err(&self->a, &con,
						   variant->addr(),
						   self->port))
			TH_LOG("row %u", i);
	}
	rnt_expect_none(&self->b, 0, 20);
	ea = rnt_connect(&self->a, variant->addr(), self->port, NULL, 0);
	eb = rnt_request(&self->b, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		EXPECT_EQ(-EINVAL, rnt_accept(&self->b, eb, &table[i], 0))
			TH_LOG("row %u", i);
	}
	/* the request is still open */
	ASSERT_EQ(0, rnt_accept(&self->b, eb, NULL, 0));
	rnt_expect(&self->a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

/* The extremes of what can be work. */
TEST_F(connect, extreme_depths)
{
	static const struct rnotify_params table[] = {
		{ .recv_depth = 1, .send_depth = 1,
		  .remote_regions = RNOTIFY_NO_REGIONS },
		{ .recv_depth = RNOTIFY_DEPTH_MAX, .send_depth = 1 },
		{ .recv_depth = 1, .send_depth = RNOTIFY_DEPTH_MAX },
		{ .recv_depth = 1, .remote_regions = RNOTIFY_SHARES_MAX },
	};
	struct rnotify_endpoint_info info;
	struct rnotify_event ev;
	struct rnotify_op op;
	struct rnt_ctx c;
	__u16 port = 0;

	rnt_init(&c, 1 << 16, 256);
	rnt_listen(&c, variant->addr(), &port, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct rnotify_params *p = &table[i];
		__u32 ea = rnt_connect(&c, variant->addr(), port, p, 0), eb;

		eb = rnt_request(&c, NULL);
		ASSERT_EQ(0, rnt_accept(&c, eb, p, 0)) TH_LOG("row %u", i);
		rnt_expect(&c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_expect(&c, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_info(&c, ea, &info);
		EXPECT_EQ(p->recv_depth, info.tx_credits);
		EXPECT_EQ(p->remote_regions == RNOTIFY_NO_REGIONS ? 0 :
			  p->remote_regions ? p->remote_regions : 8,
			  info.params.remote_regions);
		op = rnt_op_notify(ea, i);
		rnt_post1(&c, &op);
		rnt_expect(&c, eb, RNOTIFY_EVENT_NOTIFY, &ev);
		EXPECT_EQ(i, ev.notify.imm);
		rnt_destroy(&c, ea);
		rnt_down(&c, eb, RNOTIFY_REASON_PEER_CLOSE, NULL);
		rnt_destroy(&c, eb);
	}
	rnt_close(&c);
}

/* All that anybody may ask for at once: it works, or an orderly end says no. */
TEST_F(connect, largest_of_all)
{
	static const struct rnotify_params most = {
		.recv_depth = RNOTIFY_DEPTH_MAX,
		.send_depth = RNOTIFY_DEPTH_MAX,
		.remote_regions = RNOTIFY_SHARES_MAX,
	};
	struct rnotify_event ev;
	struct rnt_ctx c;
	__u16 port = 0;
	__u32 ea, eb;
	int ret;

	rnt_init(&c, 1 << 17, 256);
	rnt_listen(&c, variant->addr(), &port, 1);
	ea = rnt_connect(&c, variant->addr(), port, &most, 0);
	rnt_check(rnt_take(&c, 0, &ev, RNT_PATIENCE_MS));
	if (ev.type == RNOTIFY_EVENT_CONNECT_REQUEST) {
		eb = ev.endpoint;
		ret = rnt_accept(&c, eb, &most, 0);
		ASSERT_TRUE(ret == 0 || ret == -EINVAL)
			TH_LOG("accept: %d", ret);
		if (!ret) {
			rnt_expect(&c, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
		}
	} else {
		ASSERT_EQ(RNOTIFY_EVENT_DISCONNECTED, ev.type);
		EXPECT_EQ(RNOTIFY_REASON_RESOURCES, ev.down.reason);
		EXPECT_EQ(RNOTIFY_STAGE_SETUP, ev.down.stage);
		EXPECT_EQ(-EINVAL, ev.down.error);
	}
	rnt_close(&c);
}

TEST_HARNESS_MAIN
