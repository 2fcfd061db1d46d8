// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - what an end, and its machine, have used.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "perf.h"

void usage_now(struct usage *usage, uint64_t sleeps)
{
	struct timespec cpu;
	struct rusage ru;

	/* Both ends may be threads of one process. */
	getrusage(RUSAGE_THREAD, &ru);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	usage->voluntary = (uint64_t)ru.ru_nvcsw;
	usage->involuntary = (uint64_t)ru.ru_nivcsw;
	usage->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u +
		(uint64_t)cpu.tv_nsec;
	usage->sleeps = sleeps;
	usage->time_ns = now_ns();
}

void usage_since(struct usage *usage, const struct usage *before)
{
	usage->time_ns -= before->time_ns;
	usage->cpu_ns -= before->cpu_ns;
	usage->voluntary -= before->voluntary;
	usage->involuntary -= before->involuntary;
	usage->sleeps -= before->sleeps;
}

/*
 * All columns of the first line of /proc/stat but idle and iowait, in ticks of
 * a hundredth of a second: coarse, and all that there is.
 */
void machine_now(struct machine *machine)
{
	unsigned long long n[8] = { 0 };
	long hz = sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");

	machine->busy_ns = 0;
	if (!file)
		return;
	if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &n[0],
		   &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]) == 8)
		machine->busy_ns = (n[0] + n[1] + n[2] + n[5] + n[6] + n[7]) *
			(1000000000u / (unsigned long long)hz);
	fclose(file);
}

/* Memory that nobody has: what the kernel takes for connections is missing. */
int64_t machine_free_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long long kib = 0, n;
	char line[128];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %lld kB", &n) == 1)
			kib = n;
	fclose(file);
	return kib * 1024;
}
