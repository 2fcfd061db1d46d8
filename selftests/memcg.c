// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the kernel allocates for a connection is charged to the memory
 * cgroup of who opened the context, whoever allocates it: on the active side that
 * is a worker.
 *
 * rvm: kernels=6.1,6.12
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define ROOT	"/sys/fs/cgroup"
#define GROUP	ROOT "/rnotify-test"
#define REQUESTS	100

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		rnt_fail("can't write %s to %s: errno %d", text, path, errno);
}

static long long charged(void)
{
	return rnt_proc(GROUP "/memory.stat", "kernel");
}

FIXTURE(memcg)
{
	struct rnt_ctx b;	/* outside of the group */
	__u16 port;
};

FIXTURE_SETUP(memcg)
{
	write_file(ROOT "/cgroup.subtree_control", "+memory");
	rnt_check(!mkdir(GROUP, 0755) || errno == EEXIST);
	rnt_init(&self->b, 2048, 0);
	rnt_listen(&self->b, rnt_addr4(), &self->port, 4);
}

FIXTURE_TEARDOWN(memcg)
{
	rnt_close(&self->b);
	write_file(ROOT "/cgroup.procs", "0");
	rmdir(GROUP);
}

TEST_F(memcg, active_side)
{
	static const struct rnotify_params deep = { .recv_depth = 4096 };
	struct rnotify_endpoint_info info = { 0 };
	long long before;
	struct rnt_ctx a;
	__u32 ea;

	write_file(GROUP "/cgroup.procs", "0");
	rnt_init(&a, 8192, 2048);
	before = charged();
	ASSERT_NE(-1, before);
	ea = rnt_connect(&a, rnt_addr4(), self->port, &deep, 0);
	ASSERT_EQ(0, rnt_accept(&self->b, rnt_request(&self->b, NULL), NULL, 0));
	rnt_expect(&a, ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_info(&a, ea, &info);
	ASSERT_LT((long long)(4 * RNT_MIB), info.kmem);
	EXPECT_LT((long long)info.kmem * 3 / 4, charged() - before);
	rnt_close(&a);
}

/* In the group: listens, tells the port, and later accepts one that is there. */
static void listener_in_group(int port_fd, int go_fd)
{
	struct rnotify_event ev;
	struct rnt_ctx c;
	__u16 port = 0;
	char go;

	write_file(GROUP "/cgroup.procs", "0");
	rnt_init(&c, 2048, 0);
	rnt_listen(&c, rnt_addr4(), &port, REQUESTS);
	rnt_check(write(port_fd, &port, sizeof(port)) == sizeof(port));
	rnt_check(read(go_fd, &go, 1) == 1);
	do {
		if (!rnt_take_type(&c, 0, RNOTIFY_EVENT_CONNECT_REQUEST, &ev,
				   RNT_PATIENCE_MS))
			rnt_fail("no request");
	} while (rnt_accept(&c, ev.endpoint, NULL, 0));
	rnt_expect(&c, ev.endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	_exit(0);
}

/* What it has, and nothing more: less would have somebody killed at once. */
static void fill_group(void)
{
	char text[32];
	FILE *f = fopen(GROUP "/memory.current", "r");

	rnt_check(f && fgets(text, sizeof(text), f));
	fclose(f);
	write_file(GROUP "/memory.max", text);
}

/* Until all have an answer, or wait for one that has to be given by hand */
static unsigned int count_rejected(struct rnt_ctx *c)
{
	struct rnotify_event ev;
	unsigned int n = 0;

	while (rnt_take_type(c, 0, RNOTIFY_EVENT_DISCONNECTED, &ev,
			     n ? 300 : RNT_PATIENCE_MS)) {
		rnt_check_eq(RNOTIFY_REASON_REJECTED, ev.down.reason);
		rnt_check_eq(-ENOMEM, ev.down.error);
		rnt_destroy(c, ev.endpoint);
		n++;
	}
	return n;
}

/*
 * Requests that come while the listener's group is full are refused, or find what
 * could be reclaimed. Nobody is killed for what a peer did.
 */
TEST_F(memcg, full_group)
{
	static const struct rnotify_params small = {
		.recv_depth = 1, .send_depth = 1,
		.remote_regions = RNOTIFY_NO_REGIONS,
	};
	int port_fd[2], go_fd[2];
	unsigned int rejected;
	__u16 port;
	pid_t pid;

	ASSERT_EQ(0, pipe(port_fd));
	ASSERT_EQ(0, pipe(go_fd));
	pid = rnt_fork();
	if (!pid)
		listener_in_group(port_fd[1], go_fd[0]);
	ASSERT_EQ((ssize_t)sizeof(port), read(port_fd[0], &port, sizeof(port)));
	rnt_await_sleep(pid, SYS_read);
	fill_group();
	for (unsigned int i = 0; i < REQUESTS; i++)
		rnt_connect(&self->b, rnt_addr4(), port, &small, 0);
	rejected = count_rejected(&self->b);
	TH_LOG("%u of %u requests refused", rejected, REQUESTS);
	EXPECT_LT(0, rejected);
	EXPECT_EQ(0, rnt_proc(GROUP "/memory.events", "oom_kill"));
	write_file(GROUP "/memory.max", "max");
	rnt_connect(&self->b, rnt_addr4(), port, &small, 0);
	ASSERT_EQ(1, write(go_fd[1], "", 1));
	rnt_join(pid);
}

TEST_HARNESS_MAIN
