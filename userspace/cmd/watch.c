// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify watch - receive notifications, and watch counters and slots live.
 *
 * Everything is read from the pages that the kernel shows: nothing is taken out
 * of a slot table or reset, and a sample makes no system call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "dial.h"
#include "json.h"
#include "stop.h"
#include "watch.h"

#define RULES_MAX	16u
#define RING_ENTRIES	4096

static const char usage[] =
"rnotify watch [options] [RULE...]\n"
"\n"
"Accepts any peers, sorts their notifications by rules, the first that fits, and\n"
"shows what has been counted, again and again. A RULE is one of\n"
"\n"
"  counter            count them\n"
"  slots:SHIFT+BITS   count them apart, by this field of the immediate data\n"
"  drop               drop and count them\n"
"\n"
"with ,VALUE/MASK behind it if it is only for imms of which the bits of MASK are\n"
"those of VALUE. Without rules everything is counted.\n"
"\n"
"  -l, --listen ADDRESS  where to listen (any IPv4 address, port 7471)\n"
"  -m, --memory SIZE     memory that peers can write to (none)\n"
"  -i, --interval MS     between samples (1000)\n"
"  -n, --samples N       end after so many (when interrupted)\n"
"      --json            each sample as a JSON object\n"
"  -q, --quiet           no remarks\n"
"  -h, --help            this text\n"
"  -V, --version         version of the command\n";

struct watch {
	struct rnotify *ctx;
	struct rnotify_region *memory;
	const char *where;
	uint64_t memory_size;
	uint64_t interval_ms;
	uint64_t samples;
	bool json;
	bool quiet;
	struct watched rules[RULES_MAX];
	unsigned int nr_rules;
	uint64_t peers;		/* connected now */
	uint64_t others;	/* notifications that no rule was for */
};

/* ---- showing ---- */

static void show_slots(const struct watched *w)
{
	struct rnotify_slot slot;
	uint32_t i;

	for (i = rnotify_slots_next(w->slots, 0); i != UINT32_MAX;
	     i = rnotify_slots_next(w->slots, i + 1)) {
		rnotify_slots_read(w->slots, i, &slot);
		printf("  slot %u: %llu notifications, %llu bytes, last imm %#x\n",
		       i, (unsigned long long)slot.count,
		       (unsigned long long)slot.bytes, slot.last_imm);
	}
}

static void show(struct watch *watch)
{
	uint64_t count, bytes;
	unsigned int i;

	printf("%" PRIu64 " peers, %" PRIu64 " notifications without a rule\n",
	       watch->peers, watch->others);
	for (i = 0; i < watch->nr_rules; i++) {
		struct watched *w = &watch->rules[i];

		watched_total(w, &count, &bytes);
		printf("%s: %" PRIu64 " notifications, %" PRIu64 " bytes, +%" PRIu64 "\n",
		       w->text, count, bytes, count - w->last);
		w->last = count;
		if (w->slots)
			show_slots(w);
	}
	fflush(stdout);
}

static void json_slots(struct json *j, const struct watched *w)
{
	struct rnotify_slot slot;
	uint32_t i;

	json_open(j, "slots", '[');
	for (i = rnotify_slots_next(w->slots, 0); i != UINT32_MAX;
	     i = rnotify_slots_next(w->slots, i + 1)) {
		rnotify_slots_read(w->slots, i, &slot);
		json_open(j, NULL, '{');
		json_number(j, "index", i);
		json_number(j, "count", slot.count);
		json_number(j, "bytes", slot.bytes);
		json_number(j, "last_imm", slot.last_imm);
		json_number(j, "first_ns", slot.first_ns);
		json_number(j, "last_ns", slot.last_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void show_json(struct watch *watch)
{
	uint64_t count, bytes;
	struct json j;
	unsigned int i;

	json_begin(&j, stdout);
	json_number(&j, "peers", watch->peers);
	json_number(&j, "without_rule", watch->others);
	json_open(&j, "rules", '[');
	for (i = 0; i < watch->nr_rules; i++) {
		watched_total(&watch->rules[i], &count, &bytes);
		json_open(&j, NULL, '{');
		json_string(&j, "rule", watch->rules[i].text);
		json_number(&j, "count", count);
		json_number(&j, "bytes", bytes);
		if (watch->rules[i].slots)
			json_slots(&j, &watch->rules[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_finish(&j);
}

/* ---- peers ---- */

static void on_down(struct watch *watch, const struct rnotify_event *e)
{
	char text[512];

	if (e->cookie)
		watch->peers--;
	if (!watch->quiet)
		fprintf(stderr, "endpoint %u: %s\n", e->endpoint,
			rnotify_explain(e, text, sizeof(text)));
	rnotify_destroy(watch->ctx, e->endpoint);
}

static void on_event(struct watch *watch, const struct rnotify_event *e)
{
	const struct rnotify_endpoint_attr attr = { .cookie = 1 };

	switch (e->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		if (!rnotify_accept(watch->ctx, e->endpoint, &attr))
			watch->peers++;
		else
			rnotify_reject(watch->ctx, e->endpoint, NULL, 0);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		/* It may have gone again: then DISCONNECTED follows. */
		if (watch->memory)
			rnotify_share(watch->ctx, e->endpoint, watch->memory, 0,
				      0, RNOTIFY_RIGHT_WRITE, 0, NULL);
		break;
	case RNOTIFY_EVENT_NOTIFY:
	case RNOTIFY_EVENT_MESSAGE:
		watch->others++;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(watch, e);
		break;
	}
}

/* Events until it is time for a sample, or for the end. 0 or -errno. */
static int take_events(struct watch *watch, int64_t deadline)
{
	const struct rnotify_event *e;
	int ret;

	while (!stop_asked()) {
		while ((e = rnotify_peek(watch->ctx)) && !stop_asked()) {
			on_event(watch, e);
			rnotify_release(watch->ctx, 1);
		}
		ret = wait_or_stop(watch->ctx, deadline, 0);
		if (ret < 0)
			return ret == -ETIME || ret == -EINTR ? 0 : ret;
	}
	return 0;
}

/* ---- the whole ---- */

static int prepare(struct watch *watch)
{
	struct rnotify_rule rules[RULES_MAX];
	uint32_t listener;
	unsigned int i;
	int ret;

	for (i = 0; i < watch->nr_rules; i++) {
		ret = watched_create(&watch->rules[i], watch->ctx);
		if (ret)
			return fail("%s: %s", watch->rules[i].text,
				    strerror(-ret));
		rules[i] = watch->rules[i].rule;
	}
	/* Before the first peer comes: it meets them. */
	ret = rnotify_route(watch->ctx, 0, rules, watch->nr_rules);
	if (ret)
		return fail("the kernel refuses the rules: %s", strerror(-ret));
	if (watch->memory_size) {
		ret = rnotify_alloc(watch->ctx, watch->memory_size,
				    &watch->memory);
		if (ret)
			return fail_call(watch->ctx, RNOTIFY_CALL_REGISTER, ret,
					 NULL);
	}
	return listen_at(watch->ctx, watch->where, watch->quiet, &listener);
}

static int run_samples(struct watch *watch)
{
	int64_t deadline = rnotify_deadline((int)watch->interval_ms);
	uint64_t n;
	int ret;

	for (n = 0; !stop_asked() && (!watch->samples || n < watch->samples); n++) {
		ret = take_events(watch, deadline);
		if (ret)
			return fail("waiting for events: %s", strerror(-ret));
		if (watch->json)
			show_json(watch);
		else
			show(watch);
		/* Nobody reads any more: end_of_output() says so. */
		if (ferror(stdout))
			return EXIT_FAILED;
		deadline += (int64_t)watch->interval_ms * 1000000;
	}
	return 0;
}

static int read_options(struct watch *watch, int argc, char **argv, int *status)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "memory", required_argument, NULL, 'm' },
		{ "interval", required_argument, NULL, 'i' },
		{ "samples", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		COMMON_OPTIONS,
		{ 0 }
	};
	int c;

	while ((c = next_option(argc, argv, "l:m:i:n:qhV", options, usage,
				status)) >= 0) {
		if (c == 'l')
			watch->where = optarg;
		else if (c == 'j')
			watch->json = true;
		else if (c == 'q')
			watch->quiet = true;
		else if (c == 'm' && !parse_size(optarg, 1, 1ull << 30,
						 &watch->memory_size))
			break;
		else if (c == 'i' && (!parse_number(optarg, 3600000,
						    &watch->interval_ms) ||
				      !watch->interval_ms))
			break;
		else if (c == 'n' && (!parse_number(optarg, UINT32_MAX,
						    &watch->samples) ||
				      !watch->samples))
			break;
	}
	if (c > 0)
		*status = bad_usage(usage, "-%c %s makes no sense", c, optarg);
	return c;
}

static int read_rules(struct watch *watch, int argc, char **argv)
{
	static char everything[] = "counter";
	const char *wrong;
	int i;

	if (argc > (int)RULES_MAX)
		return bad_usage(usage, "%u rules at the most", RULES_MAX);
	for (i = 0; i < argc; i++) {
		wrong = watched_parse(&watch->rules[watch->nr_rules++], argv[i]);
		if (wrong)
			return bad_usage(usage, "'%s' is no rule: %s", argv[i],
					 wrong);
	}
	if (!argc)
		watched_parse(&watch->rules[watch->nr_rules++], everything);
	return 0;
}

static int run(int argc, char **argv)
{
	const struct rnotify_attr attr = { .ring_entries = RING_ENTRIES };
	struct watch watch = { .where = "*", .interval_ms = 1000 };
	int ret, status = 0;

	if (read_options(&watch, argc, argv, &status) != -1)
		return status;
	status = read_rules(&watch, argc - optind, argv + optind);
	if (status)
		return status;
	stop_catch();
	ret = rnotify_open(&watch.ctx, &attr);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	status = prepare(&watch) ?: run_samples(&watch);
	rnotify_close(watch.ctx);
	return status;
}

const struct command cmd_watch = {
	"watch", "count peers' notifications by rules, and show that live", run
};
