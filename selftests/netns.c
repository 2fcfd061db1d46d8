// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces (FAULTS 41, P10): connections are made in the namespace of
 * whoever opened the device, wherever the file is used. Soft-RoCE is in the initial
 * one only, so from others there is no way to it; and a namespace ends when the
 * last file that was opened in it does, with all that is in it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE(netns)
{
	struct rnt_ctx b;	/* of the initial namespace, listens */
	struct rnt_base base;
	__u16 port;
	int sock[2];
	pid_t pid;
};

static bool veth_is_there(void)
{
	return access("/sys/class/net/v0", F_OK) == 0;
}

FIXTURE_SETUP(netns)
{
	rnt_base_read(&self->base);
	rnt_init(&self->b, 512, 0);
	rnt_listen(&self->b, rnt_addr4(), &self->port, 8);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, self->sock));
}

FIXTURE_TEARDOWN(netns)
{
	rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

static void tell(int sock)
{
	char byte = 0;

	rnt_check_eq(1, write(sock, &byte, 1));
}

static void hear(int sock)
{
	char byte;

	rnt_check_eq(1, read(sock, &byte, 1));
}

/*
 * A child in a namespace of its own, with one end of a veth in it: when the other
 * end disappears, the namespace has ended.
 */
static void start_child(FIXTURE_DATA(netns) *self,
			void (*fn)(FIXTURE_DATA(netns) *self))
{
	char command[96];

	self->pid = rnt_fork();
	if (!self->pid) {
		rnt_close(&self->b);
		rnt_check(!unshare(CLONE_NEWNET));
		tell(self->sock[1]);
		hear(self->sock[1]);
		rnt_shell("ip link set lo up && ip link set v1 up && ip addr add 10.0.0.9/24 dev v1");
		fn(self);
		_exit(0);
	}
	hear(self->sock[0]);
	snprintf(command, sizeof(command),
		 "ip link add v0 type veth peer name v1 netns %d", self->pid);
	rnt_shell(command);
	rnt_check(veth_is_there());
	tell(self->sock[0]);
}

static void await_end_of_namespace(void)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (veth_is_there()) {
		if (!rnt_left_ms(deadline))
			rnt_fail("the namespace does not end");
		rnt_sleep_us(1000);
	}
}

/* Not even by the addresses that the device has: here they are nobody's. */
static void no_way(struct rnt_ctx *c, __u16 port)
{
	static const char * const to[] = { "10.0.0.1", "10.0.0.9", "127.0.0.1" };
	struct rnotify_listen listen = { .size = sizeof(listen) };
	struct rnotify_event ev;

	for (unsigned int i = 0; i < 3; i++) {
		struct rnotify_connect arg = {
			.params.connect_timeout_ms = 500,
		};

		if (rnt_connect_err(c, &arg, to[i], port))
			continue;
		rnt_check(rnt_take_type(c, arg.endpoint_id,
					RNOTIFY_EVENT_DISCONNECTED, &ev,
					RNT_PATIENCE_MS));
		rnt_check(ev.down.reason == RNOTIFY_REASON_UNREACHABLE ||
			  ev.down.reason == RNOTIFY_REASON_TIMEOUT);
		rnt_destroy(c, arg.endpoint_id);
	}
	rnt_addr(&listen.addr, "10.0.0.1", 0);
	rnt_check_eq(-EADDRNOTAVAIL,
		     rnt_ioctl(c->fd, RNOTIFY_IOCTL_LISTEN, &listen));
}

static void stranger(FIXTURE_DATA(netns) *self)
{
	struct rnt_ctx c;

	rnt_init(&c, 512, 0);
	no_way(&c, self->port);
	rnt_close(&c);
}

TEST_F(netns, no_path_from_another)
{
	start_child(self, stranger);
	rnt_join(self->pid);
	await_end_of_namespace();
	/* nothing came to the listener */
	rnt_expect_none(&self->b, 0, 1);
}

static int inherited = -1;

/* The file of the initial namespace, used in another one. */
static void user_of_inherited(FIXTURE_DATA(netns) *self)
{
	struct rnotify_connect arg = { .params = params };
	struct rnt_ctx c = { .fd = inherited };

	c.setup.size = sizeof(c.setup);
	c.setup.ring_entries = 512;
	rnt_check_eq(0, rnt_ioctl(c.fd, RNOTIFY_IOCTL_SETUP, &c.setup));
	rnt_map(&c);
	rnt_check_eq(0, rnt_connect_err(&c, &arg, rnt_addr4(), self->port));
	rnt_expect(&c, arg.endpoint_id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect_imms(&c, arg.endpoint_id, 5, 1);
	rnt_close(&c);
}

TEST_F(netns, openers_namespace_counts)
{
	struct rnotify_op op;
	__u32 eb;

	inherited = rnt_open();
	start_child(self, user_of_inherited);
	close(inherited);
	eb = rnt_request(&self->b, NULL);
	ASSERT_EQ(0, rnt_accept(&self->b, eb, &params, 0));
	rnt_expect(&self->b, eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
	op = rnt_op_notify(eb, 5);
	rnt_post1(&self->b, &op);
	rnt_down(&self->b, eb, RNOTIFY_REASON_PEER_EXIT, NULL);
	rnt_join(self->pid);
	await_end_of_namespace();
}

/* Killed with listeners, a request for an address that nobody has, and regions. */
static void crowded(FIXTURE_DATA(netns) *self)
{
	struct rnotify_connect arg = { .params = params };
	struct rnt_region r;
	struct rnt_ctx c;
	__u16 port = 0;

	rnt_init(&c, 512, 0);
	rnt_listen(&c, "0.0.0.0", &port, 4);
	port = 0;
	rnt_listen(&c, "::", &port, 4);
	rnt_region_user(&c, &r, rnt_anon(RNT_MIB), RNT_MIB, 0);
	rnt_connect_err(&c, &arg, "10.0.0.77", 1);
	tell(self->sock[1]);
	for (;;)
		pause();
}

TEST_F(netns, P10_exit)
{
	for (unsigned int i = 0; i < 3; i++) {
		start_child(self, crowded);
		hear(self->sock[0]);
		rnt_kill(self->pid);
		await_end_of_namespace();
	}
}

/* A file that left its namespace keeps it, and is of no more use elsewhere. */
static void sender(FIXTURE_DATA(netns) *self)
{
	rnt_send_fd(self->sock[1], rnt_open());
}

TEST_F(netns, P10_file_outlives_its_processes)
{
	struct rnt_ctx c = { 0 };

	start_child(self, sender);
	c.fd = rnt_receive_fd(self->sock[0]);
	rnt_join(self->pid);
	c.setup.size = sizeof(c.setup);
	c.setup.ring_entries = 512;
	ASSERT_EQ(0, rnt_ioctl(c.fd, RNOTIFY_IOCTL_SETUP, &c.setup));
	rnt_map(&c);
	no_way(&c, self->port);
	ASSERT_TRUE(veth_is_there());
	rnt_close(&c);
	await_end_of_namespace();
}

/* What is left of the namespaces before is in the way of that for a moment. */
static void set_exclusive(void)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	while (system("rdma system set netns exclusive 2>/dev/null")) {
		if (!rnt_left_ms(deadline))
			rnt_fail("RDMA devices stay shared");
		rnt_sleep_us(10000);
	}
}

/* RDMA devices of a namespace of their own: others see none at all. */
TEST_F(netns, exclusive_devices)
{
	struct rnt_pair p = {
		.a = &self->b, .b = &self->b, .port = self->port,
	};

	set_exclusive();
	start_child(self, stranger);
	rnt_more(&p, &p, &params, &params);
	rnt_join(self->pid);
	await_end_of_namespace();
	rnt_shell("rdma system set netns shared");
}

TEST_HARNESS_MAIN
