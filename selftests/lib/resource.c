// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: what must be as before when a test is over.
 */
#include <stdio.h>
#include <string.h>

#include "rnt.h"

static const char * const names[RNT_BASE_RESOURCES] = {
	"pd", "cq", "qp", "cm_id", "mr",
};

/* "0: rxe0: pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0" */
static void read_resources(long *value)
{
	char line[256] = "", key[16];
	FILE *f;

	snprintf(key, sizeof(key), " rxe0: ");
	f = popen("rdma resource show", "r");
	rnt_check(f);
	while (fgets(line, sizeof(line), f) && !strstr(line, key))
		line[0] = 0;
	while (fgetc(f) != EOF)
		;
	pclose(f);
	for (unsigned int i = 0; i < RNT_BASE_RESOURCES; i++) {
		const char *p;

		snprintf(key, sizeof(key), " %s ", names[i]);
		p = strstr(line, key);
		if (!p || sscanf(p + strlen(key), "%ld", &value[i]) != 1)
			rnt_fail("no \"%s\" in \"%s\"", names[i], line);
	}
}

void rnt_base_read(struct rnt_base *base)
{
	base->pins = rnt_pins();
	read_resources(base->resource);
}

/* Whose they are. */
static void print_resources(void)
{
	char line[256];
	FILE *f = popen("rdma resource show cm_id; rdma resource show qp", "r");

	rnt_check(f);
	while (fgets(line, sizeof(line), f))
		fprintf(stderr, "# %s", line);
	pclose(f);
}

bool rnt_base_back(const struct rnt_base *base)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	struct rnt_base now;

	do {
		rnt_base_read(&now);
		if (!memcmp(&now, base, sizeof(now)))
			return true;
		rnt_sleep_us(10000);
	} while (rnt_left_ms(deadline));
	fprintf(stderr, "# pinned pages: %lld, were %lld\n", now.pins,
		base->pins);
	for (unsigned int i = 0; i < RNT_BASE_RESOURCES; i++)
		fprintf(stderr, "# rdma %s: %ld, were %ld\n", names[i],
			now.resource[i], base->resource[i]);
	print_resources();
	return false;
}
