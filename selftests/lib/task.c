// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: threads, and waiting until one sleeps where it should.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rnt.h"

static void *thread_fn(void *arg)
{
	struct rnt_thread *t = arg;

	__atomic_store_n(&t->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	return t->fn(t->arg);
}

void rnt_thread_start(struct rnt_thread *t, void *(*fn)(void *), void *arg)
{
	t->fn = fn;
	t->arg = arg;
	t->tid = 0;
	rnt_check_eq(0, pthread_create(&t->thread, NULL, thread_fn, t));
	while (!__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE))
		rnt_sleep_us(100);
}

bool rnt_thread_ends(struct rnt_thread *t, unsigned int ms, void **ret)
{
	uint64_t ns = ms * 1e6 * rnt_slow();
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ns += ts.tv_nsec;
	ts.tv_sec += ns / 1000000000;
	ts.tv_nsec = ns % 1000000000;
	return pthread_timedjoin_np(t->thread, ret, &ts) == 0;
}

void *rnt_thread_join_(struct rnt_thread *t)
{
	void *ret;

	if (!rnt_thread_ends(t, 2 * RNT_PATIENCE_MS, &ret))
		rnt_fail("a thread does not end");
	return ret;
}

/* State letter of a task: the field behind the name, which is in brackets. */
static char state_of(pid_t pid)
{
	char path[64], text[512] = "";
	char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		rnt_fail("%s: errno %d", path, errno);
	if (!fgets(text, sizeof(text), f))
		rnt_fail("%s is empty", path);
	fclose(f);
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

/* Number of the system call that a task sleeps in, -1 if it is running. */
static long sleeps_in(pid_t tid)
{
	char path[64], text[64] = "";
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	f = fopen(path, "r");
	if (!f)
		rnt_fail("%s: errno %d", path, errno);
	if (fgets(text, sizeof(text), f))
		sscanf(text, "%ld", &nr);
	fclose(f);
	return nr;
}

void rnt_await_sleep_(pid_t tid, long nr)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);

	/* Who is woken, but not on a processor yet, would still show the call. */
	while (state_of(tid) == 'R' || sleeps_in(tid) != nr) {
		if (!rnt_left_ms(deadline))
			rnt_fail("task %d does not sleep in system call %ld",
				 tid, nr);
		rnt_sleep_us(200);
	}
}

void rnt_stop_and_continue_(void)
{
	pid_t pid = getpid(), helper = rnt_fork();

	if (!helper) {
		kill(pid, SIGSTOP);
		while (state_of(pid) != 'T')
			rnt_sleep_us(200);
		kill(pid, SIGCONT);
		_exit(0);
	}
	rnt_join(helper);
}
