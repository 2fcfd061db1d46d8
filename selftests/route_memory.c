// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of counters, slot tables and rules is charged to the memory cgroup
 * of who makes them, and comes back. (The debug kernel has no memory cgroups.)
 *
 * rvm: limit=30 kernels=6.1,6.12
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define ROOT		"/sys/fs/cgroup"
#define GROUP		ROOT "/rnt-route"
#define TABLE_BYTES	(RNOTIFY_SLOTS_MAX * sizeof(struct rnotify_slot))
/* What processors may have charged ahead, and now use up: 64 pages each */
#define AHEAD		(4 * 64ll * RNT_PAGE)

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		rnt_fail("%s: errno %d", file, errno);
	close(fd);
}

static long long charged(void)
{
	long long bytes = -1;
	FILE *f = fopen(GROUP "/memory.current", "r");

	rnt_check(f && fscanf(f, "%lld", &bytes) == 1);
	fclose(f);
	return bytes;
}

FIXTURE(memory)
{
	struct rnt_ctx c;
};

FIXTURE_SETUP(memory)
{
	put(ROOT "/cgroup.subtree_control", "+memory");
	rnt_check(!mkdir(GROUP, 0755) || errno == EEXIST);
	put(GROUP "/cgroup.procs", "0");
	rnt_init(&self->c, 4096, 0);
}

FIXTURE_TEARDOWN(memory)
{
	rnt_close(&self->c);
	put(ROOT "/cgroup.procs", "0");
	rmdir(GROUP);
}

TEST_F(memory, charged_and_returned)
{
	struct rnt_slots tables[4];
	struct rnt_counter counter;
	long long before = charged(), with;
	uint64_t deadline;

	for (int i = 0; i < 4; i++)
		rnt_slots_open(&self->c, &tables[i], RNOTIFY_SLOTS_MAX,
			       RNOTIFY_SLOTS_EVENT, 0);
	with = charged();
	ASSERT_LE(before + 4ll * TABLE_BYTES - AHEAD, with);
	for (int i = 0; i < 1024; i++) {
		rnt_counter_open(&self->c, &counter);
		rnt_check(!munmap((void *)counter.page, RNT_PAGE));
	}
	ASSERT_LE(with + 1024ll * RNT_PAGE - AHEAD, charged());
	for (int i = 0; i < 4; i++) {
		rnt_destroy(&self->c, tables[i].id);
		rnt_check(!munmap((void *)tables[i].head, tables[i].mapped));
	}
	/* freed after a grace period, and from a workqueue */
	deadline = rnt_deadline(RNT_PATIENCE_MS);
	while (charged() > with - 3ll * (long long)TABLE_BYTES +
			   1024ll * RNT_PAGE + AHEAD)
		if (!rnt_left_ms(deadline))
			rnt_fail("%lld bytes are still charged, %lld before",
				 charged(), before);
}

TEST_HARNESS_MAIN
