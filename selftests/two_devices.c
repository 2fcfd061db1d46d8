// SPDX-License-Identifier: GPL-2.0
/*
 * Two RDMA devices (FAULTS 26, 37): each address leads to its own, one region is
 * used over both, its keys are those of the connection's own protection domain,
 * and the end of one device leaves the other alone.
 */
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define OTHER	"10.0.7.1"
#define SPAN	(16 * RNT_PAGE)

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE(two)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p[2];
	struct rnt_base base;
};

static const char * const address[2] = { NULL, OTHER };

static const char *addr(int i)
{
	return address[i] ? address[i] : rnt_addr4();
}

static void open_pair(FIXTURE_DATA(two) *self, int i, __u16 port)
{
	struct rnt_pair *p = &self->p[i];

	p->a = &self->a;
	p->b = &self->b;
	p->port = port;
	p->ea = rnt_connect(p->a, addr(i), port, &params, 0);
	p->eb = rnt_request(p->b, NULL);
	rnt_check_eq(0, rnt_accept(p->b, p->eb, &params, 0));
	rnt_expect(p->a, p->ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(p->b, p->eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

FIXTURE_SETUP(two)
{
	__u16 port = 0;

	rnt_base_read(&self->base);
	rnt_shell("ip link add d7 type dummy && ip link set d7 up");
	rnt_shell("ip addr add " OTHER "/24 dev d7");
	rnt_shell("rdma link add rxe7 type rxe netdev d7");
	rnt_init(&self->a, 1024, 0);
	rnt_init(&self->b, 1024, 0);
	rnt_listen(&self->b, "0.0.0.0", &port, 8);
	for (int i = 0; i < 2; i++)
		open_pair(self, i, port);
}

FIXTURE_TEARDOWN(two)
{
	rnt_close(&self->a);
	rnt_close(&self->b);
	if (!rnt_link_is_there())
		rnt_link_add();
	if (!access("/sys/class/infiniband/rxe7", F_OK))
		rnt_shell("rdma link delete rxe7");
	rnt_shell("ip link delete d7");
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void write_over(FIXTURE_DATA(two) *self, int i, struct rnt_region *src,
		       struct rnt_region *dst, __u32 remote, unsigned int seed)
{
	struct rnotify_op op;
	struct rnotify_event ev;

	rnt_fill(src->p, SPAN, seed);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, self->p[i].ea, src->id, 0, remote,
		       0, SPAN);
	op.imm = seed;
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p[i].eb, RNOTIFY_EVENT_NOTIFY, &ev);
	rnt_check_eq(seed, ev.notify.imm);
	rnt_check_eq(-1, rnt_diff(dst->p, SPAN, seed));
}

TEST_F(two, right_device)
{
	static const char * const name[2] = { "rxe0", "rxe7" };
	struct rnotify_query q = { .size = sizeof(q) };

	ASSERT_EQ(0, rnt_ioctl(self->a.fd, RNOTIFY_IOCTL_QUERY, &q));
	ASSERT_EQ(2, q.nr_devices);
	for (int i = 0; i < 2; i++) {
		struct rnotify_endpoint_info info;

		rnt_info(&self->a, self->p[i].ea, &info);
		EXPECT_STREQ(name[i], info.device);
		rnt_info(&self->b, self->p[i].eb, &info);
		EXPECT_STREQ(name[i], info.device);
	}
}

TEST_F(two, P5_one_region_over_both)
{
	struct rnt_region src, dst;
	struct rnotify_op op;
	__u32 remote[2];

	rnt_region_user(&self->a, &src, rnt_anon(SPAN), SPAN, 0);
	rnt_region_user(&self->b, &dst, rnt_anon(SPAN), SPAN, 0);
	for (int i = 0; i < 2; i++)
		remote[i] = rnt_grant(&self->p[i], dst.id, 0, 0,
				      RNOTIFY_RIGHT_WRITE, NULL);
	for (int i = 0; i < 20; i++)
		write_over(self, i % 2, &src, &dst, remote[i % 2], i);
	/* gone from both at once */
	rnt_destroy(&self->b, dst.id);
	for (int i = 0; i < 2; i++) {
		rnt_expect(&self->a, self->p[i].ea,
			   RNOTIFY_EVENT_REMOTE_REGION_GONE, NULL);
		op = rnt_op_rw(RNOTIFY_OP_WRITE, self->p[i].ea, src.id, 0,
			       remote[i], 0, 1);
		ASSERT_EQ(-ENOENT, rnt_try(&self->a, &op));
	}
}

TEST_F(two, P10_one_is_removed)
{
	struct rnt_region src, dst;
	struct rnt_pair *p = self->p;
	__u32 remote[2];

	rnt_region_user(&self->a, &src, rnt_anon(SPAN), SPAN, 0);
	rnt_region_user(&self->b, &dst, rnt_anon(SPAN), SPAN, 0);
	for (int i = 0; i < 2; i++) {
		remote[i] = rnt_grant(&p[i], dst.id, 0, 0, RNOTIFY_RIGHT_WRITE,
				      NULL);
		write_over(self, i, &src, &dst, remote[i], i);
	}
	rnt_link_delete();
	rnt_down(&self->a, p[0].ea, RNOTIFY_REASON_DEVICE_REMOVED, NULL);
	rnt_down(&self->b, p[0].eb, RNOTIFY_REASON_DEVICE_REMOVED, NULL);
	write_over(self, 1, &src, &dst, remote[1], 7);
	rnt_link_add();
	open_pair(self, 0, p[0].port);
	remote[0] = rnt_grant(&p[0], dst.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	write_over(self, 0, &src, &dst, remote[0], 8);
	rnt_shell("rdma link delete rxe7");
	rnt_down(&self->a, p[1].ea, RNOTIFY_REASON_DEVICE_REMOVED, NULL);
	rnt_down(&self->b, p[1].eb, RNOTIFY_REASON_DEVICE_REMOVED, NULL);
	write_over(self, 0, &src, &dst, remote[0], 9);
}

TEST_HARNESS_MAIN
