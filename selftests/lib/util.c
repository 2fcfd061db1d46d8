// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: failing, time, patterns, processes, kernel counters.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rnt.h"

static __thread const char *at_file;
static __thread int at_line;

void rnt_at(const char *file, int line)
{
	at_file = file;
	at_line = line;
}

void rnt_fail_at(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (at_file && strcmp(at_file, file))
		fprintf(stderr, "# %s:%d: (by %s:%d) %s\n", file, line,
			at_file, at_line, text);
	else
		fprintf(stderr, "# %s:%d: %s\n", file, line, text);
	abort();
}

uint64_t rnt_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

double rnt_slow(void)
{
	const char *text = getenv("RNOTIFY_SLOW");
	double slow = text ? strtod(text, NULL) : 1;

	return slow < 1 ? 1 : slow;
}

uint64_t rnt_deadline(unsigned int ms)
{
	return rnt_now_ns() + (uint64_t)(ms * 1e6 * rnt_slow());
}

int rnt_left_ms(uint64_t deadline)
{
	uint64_t now = rnt_now_ns();

	return now >= deadline ? 0 : (deadline - now + 999999) / 1000000;
}

int rnt_seconds(int seconds)
{
	return seconds * rnt_slow() + 0.5;
}

unsigned int rnt_count(unsigned int n)
{
	unsigned int scaled = n / rnt_slow();

	return scaled ? scaled : 1;
}

bool rnt_long(void)
{
	return getenv("RNOTIFY_LONG") && rnt_slow() < 10;
}

unsigned int rnt_rounds(unsigned int n, unsigned int n_long)
{
	return rnt_long() ? n_long : rnt_count(n);
}

void rnt_sleep_us(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static unsigned char pattern(size_t i, unsigned int seed)
{
	unsigned int x = (i + 1) * 2654435761u ^ seed * 40503u;

	return x >> 24 ^ x >> 11;
}

void rnt_fill(void *p, size_t len, unsigned int seed)
{
	unsigned char *c = p;

	for (size_t i = 0; i < len; i++)
		c[i] = pattern(i, seed);
}

long rnt_diff(const void *p, size_t len, unsigned int seed)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < len; i++)
		if (c[i] != pattern(i, seed))
			return i;
	return -1;
}

long rnt_diff_byte(const void *p, size_t len, unsigned char byte)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < len; i++)
		if (c[i] != byte)
			return i;
	return -1;
}

void *rnt_anon(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	rnt_check(p != MAP_FAILED);
	return p;
}

pid_t rnt_fork(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	rnt_check(pid >= 0);
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* waitpid() with an end; there is no poll() for a child but by its pidfd. */
static int reap(pid_t pid, unsigned int ms)
{
	uint64_t deadline = rnt_deadline(ms);
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!rnt_left_ms(deadline))
			rnt_fail("process %d does not end", pid);
		rnt_sleep_us(500);
	}
	return status;
}

void rnt_join_(pid_t pid)
{
	int status = reap(pid, 2 * RNT_PATIENCE_MS);

	if (!WIFEXITED(status) || WEXITSTATUS(status))
		rnt_fail("process %d ended with status %#x", pid, status);
}

void rnt_shell_(const char *command)
{
	int status = system(command);

	if (status)
		rnt_fail("\"%s\" ended with status %#x", command, status);
}

void rnt_kill(pid_t pid)
{
	rnt_check(kill(pid, SIGKILL) == 0);
	reap(pid, RNT_PATIENCE_MS);
}

long long rnt_proc(const char *file, const char *key)
{
	size_t n = strlen(key);
	long long value = -1;
	char line[256];
	FILE *f = fopen(file, "r");

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && strchr(": \t", line[n])) {
			value = strtoll(line + n + 1, NULL, 10);
			break;
		}
	fclose(f);
	return value;
}

long long rnt_vmpin_kib(void)
{
	long long kib = rnt_proc("/proc/self/status", "VmPin");

	rnt_check(kib >= 0);
	return kib;
}

long long rnt_pins(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY);
	long long got, put;

	/* or each CPU would keep up to 125 to itself for a second */
	rnt_check(fd >= 0 && write(fd, "1", 1) == 1);
	close(fd);
	got = rnt_proc("/proc/vmstat", "nr_foll_pin_acquired");
	put = rnt_proc("/proc/vmstat", "nr_foll_pin_released");
	rnt_check(got >= 0 && put >= 0);
	return got - put;
}

bool rnt_pins_back(long long pins)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	long long now;

	while (rnt_pins() > pins && rnt_left_ms(deadline))
		rnt_sleep_us(1000);
	now = rnt_pins();
	if (now != pins)
		fprintf(stderr, "# pinned pages: %lld, not %lld\n", now, pins);
	return now == pins;
}

long long rnt_hw_counter(const char *name)
{
	char path[256], text[32];
	ssize_t n;
	int fd;

	/* Values are cached for 10 ms. */
	rnt_sleep_us(20000);
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/rxe0/ports/1/hw_counters/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		rnt_fail("%s: errno %d", path, errno);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	rnt_check(n > 0);
	text[n] = 0;
	return strtoll(text, NULL, 10);
}
