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
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define ROOT	"/sys/fs/cgroup"
#define GROUP	ROOT "/rnotify-test"

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
	rnt_init(&self->b, 512, 0);
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

TEST_HARNESS_MAIN
