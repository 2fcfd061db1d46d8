// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify ping - measure round trips to 'rnotify pong'.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "dial.h"
#include "json.h"
#include "pong.h"
#include "stop.h"

#define DEFAULT_COUNT	1000
#define COUNT_MAX	10000000u
#define DEFAULT_SIZE	64
#define SPIN_MAX_US	1000
#define INTERVAL_MAX_MS	1000000

static const char usage[] =
"rnotify ping [options] HOST[:PORT]\n"
"\n"
"Writes into the memory of 'rnotify pong', which writes the same back, and tells\n"
"how long that takes. Both sides sleep while they wait.\n"
"\n"
"  -c, --count N       round trips (default: 1000)\n"
"  -s, --size SIZE     bytes, up to 1M; 0: bare notifications (default: 64)\n"
"  -i, --interval MS   pause between round trips, in milliseconds (default: 0)\n"
"      --spin US       look for so long before sleeping, up to 1000 microseconds\n"
"      --json          figures as JSON\n"
"      --listen [ADDR]:PORT   be the other side, as 'rnotify pong' is\n"
"  -h, --help          this text\n"
"  -V, --version       version of the command\n";

struct ping_options {
	uint64_t count;
	uint64_t size;
	uint64_t interval_ms;
	uint64_t spin_us;
	bool json;
	const char *listen;
	const char *where;
};

/**
 * struct pinger - one run
 * @opt: command line
 * @ctx: context
 * @region: first half: what is sent; second half: what comes back
 * @endpoint: connection
 * @remote: the other side's region
 * @samples: nanoseconds of each round trip
 * @nr: how many there are
 */
struct pinger {
	const struct ping_options *opt;
	struct rnotify *ctx;
	struct rnotify_region *region;
	uint32_t endpoint;
	uint32_t remote;
	uint64_t *samples;
	uint64_t nr;
};

static bool number_option(int c, struct ping_options *opt, int *status)
{
	switch (c) {
	case 'c':
		if (parse_number(optarg, COUNT_MAX, &opt->count) && opt->count)
			return true;
		*status = bad_value(usage, "count", optarg,
				    "a number from 1 to 10000000");
		return false;
	case 's':
		if (parse_size(optarg, 0, PING_MAX, &opt->size))
			return true;
		*status = bad_value(usage, "size", optarg,
				    "a size from 0 to 1M");
		return false;
	case 'i':
		if (parse_number(optarg, INTERVAL_MAX_MS, &opt->interval_ms))
			return true;
		*status = bad_value(usage, "interval", optarg,
				    "a number of milliseconds from 0 to 1000000");
		return false;
	default:
		if (parse_number(optarg, SPIN_MAX_US, &opt->spin_us))
			return true;
		*status = bad_value(usage, "spin", optarg,
				    "a number of microseconds from 0 to 1000");
		return false;
	}
}

static int parse(int argc, char **argv, struct ping_options *opt, int *status)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "size", required_argument, NULL, 's' },
		{ "interval", required_argument, NULL, 'i' },
		{ "spin", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'j' },
		{ "listen", required_argument, NULL, 'l' },
		COMMON_OPTIONS,
		{ 0 }
	};
	int c;

	while ((c = next_option(argc, argv, "c:s:i:hV", options, usage,
				status)) >= 0) {
		if (c == 'l')
			opt->listen = optarg;
		else if (c == 'j')
			opt->json = true;
		else if (!number_option(c, opt, status))
			return -2;
	}
	if (c == -1 && argc - optind != !opt->listen) {
		*status = bad_usage(usage, "ping takes one address");
		return -2;
	}
	opt->where = argv[optind];
	return c == -2 ? -2 : 0;
}

/* ---- round trips ---- */

static void stamp(unsigned char *p, size_t len, uint64_t n)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (unsigned char)(n * 131 + i);
}

static int ping_post(struct pinger *p, uint32_t n)
{
	uint32_t size = (uint32_t)p->opt->size;
	struct rnotify_op op;
	int ret;

	if (size)
		rnotify_prep_write_imm(&op, p->endpoint, p->region, 0,
				       p->remote, 0, size, n, n);
	else
		rnotify_prep_notify(&op, p->endpoint, n, n);
	/* Until it is done, the source must stay as it is. */
	op.flags |= RNOTIFY_OP_F_SIGNALED;
	do {
		ret = rnotify_post(p->ctx, &op, 1, 0, -1);
	} while (ret == -EINTR && !stop_asked());
	return ret == 1 ? 0 : ret;
}

/* One event while a round trip is under way; 0 or an exit status. */
static int ping_event(struct pinger *p, const struct rnotify_event *event,
		      uint32_t n, uint64_t *back, bool *done)
{
	switch (event->type) {
	case RNOTIFY_EVENT_NOTIFY:
		if (event->notify.imm != n ||
		    event->notify.byte_len != p->opt->size)
			return fail("%s: the answer to round %u is number %u of %u bytes",
				    p->opt->where, n, event->notify.imm,
				    event->notify.byte_len);
		*back = now_ns();
		return 0;
	case RNOTIFY_EVENT_TX_DONE:
		*done = !event->tx.error;
		return 0;
	case RNOTIFY_EVENT_DISCONNECTED:
		return fail_event(event, p->opt->where);
	}
	return 0;
}

static int ping_await(struct pinger *p, uint32_t n, uint64_t *back)
{
	struct rnotify_event event;
	bool done = false;
	int ret;

	*back = 0;
	while (!done || !*back) {
		ret = wait_or_stop(p->ctx, RNOTIFY_FOREVER,
				   p->opt->spin_us * 1000);
		if (ret == -EINTR)
			return 0;
		if (ret < 0)
			return fail("waiting: %s", strerror(-ret));
		rnotify_next(p->ctx, &event, 0);
		ret = ping_event(p, &event, n, back, &done);
		if (ret)
			return ret;
	}
	return 0;
}

static int ping_once(struct pinger *p, uint32_t n)
{
	unsigned char *sent = rnotify_region_addr(p->region);
	uint64_t start, back;
	int ret;

	stamp(sent, p->opt->size, n);
	start = now_ns();
	ret = ping_post(p, n);
	if (ret == -EINTR && stop_asked())
		return 0;
	if (ret && !is_over(ret))
		return fail_call(p->ctx, RNOTIFY_CALL_POST, ret, p->opt->where);
	ret = ping_await(p, n, &back);
	if (ret || !back)
		return ret;
	if (memcmp(sent, sent + p->opt->size, p->opt->size))
		return fail("%s: round %u came back changed", p->opt->where, n);
	p->samples[p->nr++] = back - start;
	return 0;
}

static int ping_all(struct pinger *p)
{
	uint64_t i;
	int ret = 0;

	/* From now on there are figures to show at the end. */
	stop_catch();
	for (i = 0; i < p->opt->count && !ret && !stop_asked(); i++) {
		if (i && p->opt->interval_ms)
			usleep((useconds_t)p->opt->interval_ms * 1000);
		ret = ping_once(p, (uint32_t)i);
	}
	return ret;
}

/* ---- setting up ---- */

static int ping_share(struct pinger *p)
{
	uint64_t size = p->opt->size;
	const struct rnotify_event *event;
	int ret;

	ret = rnotify_alloc(p->ctx, size ? 2 * size : 1, &p->region);
	if (ret)
		return fail_call(p->ctx, RNOTIFY_CALL_REGISTER, ret, NULL);
	if (!size)
		return 0;
	ret = rnotify_share(p->ctx, p->endpoint, p->region, size, size,
			    RNOTIFY_RIGHT_WRITE, 0, NULL);
	if (ret && !is_over(ret))
		return fail_call(p->ctx, RNOTIFY_CALL_SHARE, ret, NULL);
	ret = find_event(p->ctx, p->endpoint, RNOTIFY_EVENT_REMOTE_REGION,
			 &event);
	if (ret == -ENOTCONN)
		return fail_event(event, p->opt->where);
	if (ret)
		return fail("waiting: %s", strerror(-ret));
	p->remote = event->region.remote_id;
	return 0;
}

static int ping_connect(struct pinger *p)
{
	const struct rnotify_params params = { .remote_regions = 1 };
	const struct hello wish = {
		.kind = HELLO_PING,
		.block = (uint32_t)p->opt->size,
	};
	struct hello answer;
	int ret;

	ret = dial(p->ctx, p->opt->where, &wish, &params, &p->endpoint,
		   &answer);
	return ret ? ret : ping_share(p);
}

/* ---- figures ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

/* Nearest rank: the smallest sample that so many of 1000 do not exceed. */
static double permille(const struct pinger *p, uint64_t part)
{
	return us(p->samples[(p->nr * part + 999) / 1000 - 1]);
}

static void report(struct pinger *p)
{
	static const struct {
		const char *name, *json;
		uint64_t part;
	} ranks[] = {
		{ "p50", "p50_us", 500 },
		{ "p90", "p90_us", 900 },
		{ "p99", "p99_us", 990 },
		{ "p99.9", "p99.9_us", 999 },
	};
	double sum = 0;
	struct json j;
	uint64_t i;

	qsort(p->samples, p->nr, sizeof(*p->samples), compare);
	for (i = 0; i < p->nr; i++)
		sum += us(p->samples[i]);
	if (p->opt->json) {
		json_begin(&j, stdout);
		json_number(&j, "size", p->opt->size);
		json_number(&j, "count", p->nr);
		json_real(&j, "min_us", us(p->samples[0]));
		json_real(&j, "avg_us", sum / (double)p->nr);
		json_real(&j, "max_us", us(p->samples[p->nr - 1]));
		for (i = 0; i < ARRAY_SIZE(ranks); i++)
			json_real(&j, ranks[i].json, permille(p, ranks[i].part));
		json_finish(&j);
		return;
	}
	printf("%llu round trips of %llu bytes, microseconds\n",
	       (unsigned long long)p->nr, (unsigned long long)p->opt->size);
	printf("min %.1f avg %.1f max %.1f\n", us(p->samples[0]),
	       sum / (double)p->nr, us(p->samples[p->nr - 1]));
	for (i = 0; i < ARRAY_SIZE(ranks); i++)
		printf("%s%s %.1f", i ? " " : "", ranks[i].name,
		       permille(p, ranks[i].part));
	putchar('\n');
}

static int ping(struct pinger *p)
{
	int ret;

	p->samples = calloc(p->opt->count, sizeof(*p->samples));
	if (!p->samples)
		return fail("no memory for %llu samples",
			    (unsigned long long)p->opt->count);
	ret = ping_connect(p);
	if (!ret)
		ret = ping_all(p);
	if (p->nr)
		report(p);
	if (p->endpoint)
		rnotify_destroy(p->ctx, p->endpoint);
	free(p->samples);
	return ret;
}

static int run(int argc, char **argv)
{
	struct ping_options opt = {
		.count = DEFAULT_COUNT,
		.size = DEFAULT_SIZE,
	};
	struct pinger p = { .opt = &opt };
	int ret, status = 0;

	if (parse(argc, argv, &opt, &status))
		return status;
	if (opt.listen)
		return pong_serve(opt.listen, false);
	ret = rnotify_open(&p.ctx, NULL);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	status = ping(&p);
	rnotify_close(p.ctx);
	return status;
}

const struct command cmd_ping = {
	"ping", "measure round trips to 'rnotify pong'", run
};
