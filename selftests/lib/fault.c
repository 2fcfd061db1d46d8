// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: fault injection (Documentation/fault-injection in the kernel's
 * source). Only the debug kernel has it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rnt.h"

#define DEBUGFS	"/sys/kernel/debug/"

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t n = strlen(text);

	if (fd < 0 || write(fd, text, n) != n)
		rnt_fail("%s: errno %d", path, errno);
	close(fd);
}

static void put_number(const char *path, long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", n);
	put(path, text);
}

void rnt_fault_setup(void)
{
	/* else only allocations that can't sleep would fail */
	put(DEBUGFS "failslab/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	put(DEBUGFS "fail_page_alloc/min-order", "0");
	/* thousands of them are in nobody's way on the console */
	put(DEBUGFS "failslab/verbose", "0");
	put(DEBUGFS "fail_page_alloc/verbose", "0");
	put(DEBUGFS "fail_usercopy/verbose", "0");
}

/*
 * ---- the n-th allocation or user copy of this thread -----------------------
 */

static int nth_fd(void)
{
	static __thread int fd = -1;
	char path[64];

	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth",
			 syscall(SYS_gettid));
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			rnt_fail("%s: errno %d", path, errno);
	}
	return fd;
}

void rnt_fault_arm(unsigned int n)
{
	int fd = nth_fd();
	char text[16];
	ssize_t len = snprintf(text, sizeof(text), "%u", n);

	rnt_check_eq(len, pwrite(fd, text, len, 0));
}

/*
 * True if it struck since it was armed. To ask for it, and to end it, are user
 * copies themselves, which it may strike: then it had not before.
 */
bool rnt_fault_disarm(void)
{
	int fd = nth_fd();
	char text[16] = "";
	bool struck;

	struck = pread(fd, text, sizeof(text) - 1, 0) > 0 &&
		 !strtoul(text, NULL, 10);
	while (pwrite(fd, "0", 1, 0) != 1)
		rnt_check_eq(EFAULT, errno);
	return struck;
}

/*
 * ---- one of the whole system's ---------------------------------------------
 */

/*
 * How often it may still strike. open() allocates, so it may be struck: it is open
 * before, once to write, and anew each time to read, as the file can't seek.
 */
static int times_open(int flags)
{
	int fd = open(DEBUGFS "failslab/times", flags | O_CLOEXEC);

	if (fd < 0)
		rnt_fail("failslab/times: errno %d", errno);
	return fd;
}

static void set_times(const char *text)
{
	static int fd = -1;

	if (fd < 0)
		fd = times_open(O_WRONLY);
	rnt_check_eq(strlen(text), write(fd, text, strlen(text)));
}

static int left_fd = -1;

/* Off first: between two of these files nothing shall fail. */
static void failslab(long space, bool on)
{
	set_times("0");
	put_number(DEBUGFS "failslab/space", space);
	put(DEBUGFS "failslab/interval", "1");
	put(DEBUGFS "failslab/probability", on ? "100" : "0");
	if (on)
		set_times("1");
}

/* The first slab object that is allocated, by anybody, after so many bytes. */
void rnt_fault_system(long space)
{
	left_fd = times_open(O_RDONLY);
	failslab(space, true);
}

/* No more of that; true if it struck. */
bool rnt_fault_system_off(void)
{
	char text[16] = "1";

	if (left_fd >= 0)
		rnt_check(read(left_fd, text, sizeof(text) - 1) > 0);
	failslab(0, false);
	close(left_fd);
	left_fd = -1;
	return !strtoul(text, NULL, 10);
}
