// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - the command line, taken apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

static const char usage[] =
"rnotify perf [options] [HOST[:PORT] | --server [ADDRESS][:PORT]]\n"
"\n"
"Measures notifications: latency one way, rate, connections; of this library, and\n"
"beside it of what else there is. Without an address both ends are here.\n"
"\n"
"  -m, --mode MODE        latency (default), stream or connect\n"
"  -t, --transport LIST   rnotify (default), write_imm, write_send, send, tcp, all;\n"
"                         they take turns, and the first is compared with each\n"
"  -w, --wait LIST        block (default), spin, adaptive, epoll; of rnotify also\n"
"                         eventfd, uring, read\n"
"  -s, --size LIST        bytes of a notification (default: 64)\n"
"  -a, --all              sizes from 8 to 1M\n"
"  -b, --batch LIST       notifications per call, in a stream (default: 32)\n"
"  -W, --window N         that may be under way, per connection (default: 128)\n"
"  -e, --endpoints LIST   connections, used in turn (default: 1)\n"
"  -n, --iterations N     notifications (default: 1000; in a stream 20000)\n"
"      --warmup N         before them (default: a tenth)\n"
"  -r, --repeat N         runs of each; the median counts (default: 1)\n"
"      --spin US          for how long 'adaptive' looks (default: 100)\n"
"      --inline BYTES     up to this size payload is posted inline (default: what\n"
"                         is best for each transport)\n"
"      --check            look at every byte that arrives\n"
"      --threads          both ends in one process\n"
"      --address ADDRESS  with both ends here: where they meet (default: the\n"
"                         address of the first RDMA device)\n"
"      --json             figures as JSON\n"
"      --server           be the other end, for any number of clients\n"
"      --once             for one client\n"
"  -h, --help             this text\n"
"  -V, --version          version of the command\n"
"\n"
"LIST: values with commas between.\n";

enum {
	OPT_WARMUP = 256, OPT_SPIN, OPT_INLINE, OPT_CHECK, OPT_THREADS,
	OPT_ADDRESS, OPT_JSON, OPT_SERVER, OPT_ONCE,
};

static const struct option long_options[] = {
	{ "mode", required_argument, NULL, 'm' },
	{ "transport", required_argument, NULL, 't' },
	{ "wait", required_argument, NULL, 'w' },
	{ "size", required_argument, NULL, 's' },
	{ "all", no_argument, NULL, 'a' },
	{ "batch", required_argument, NULL, 'b' },
	{ "window", required_argument, NULL, 'W' },
	{ "endpoints", required_argument, NULL, 'e' },
	{ "iterations", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "repeat", required_argument, NULL, 'r' },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "inline", required_argument, NULL, OPT_INLINE },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "threads", no_argument, NULL, OPT_THREADS },
	{ "address", required_argument, NULL, OPT_ADDRESS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "server", no_argument, NULL, OPT_SERVER },
	{ "once", no_argument, NULL, OPT_ONCE },
	COMMON_OPTIONS,
	{ 0 }
};

const char *const mode_names[NR_MODES] = {
	[MODE_LATENCY] = "latency",
	[MODE_STREAM] = "stream",
	[MODE_CONNECT] = "connect",
};

const char *const wait_names[NR_WAITS] = {
	[WAIT_SPIN] = "spin",
	[WAIT_ADAPTIVE] = "adaptive",
	[WAIT_BLOCK] = "block",
	[WAIT_EPOLL] = "epoll",
	[WAIT_EVENTFD] = "eventfd",
	[WAIT_URING] = "uring",
	[WAIT_READ] = "read",
};

/* ---- lists ---- */

typedef bool (*word_fn)(struct options *opt, const char *word);

/* Each word between commas to @fn. */
static bool each_word(struct options *opt, const char *text, word_fn fn)
{
	char *copy = strdup(text), *rest = copy, *word;
	bool good = copy && *text;

	while (good && (word = strsep(&rest, ",")))
		good = fn(opt, word);
	free(copy);
	return good;
}

static bool list_add(struct list *list, uint32_t value)
{
	if (list->nr == LIST_MAX)
		return false;
	list->value[list->nr++] = value;
	return true;
}

static bool find_name(const char *word, const char *const *names,
		      uint32_t nr, uint32_t *n)
{
	for (*n = 0; *n < nr; ++*n)
		if (!strcmp(word, names[*n]))
			return true;
	return false;
}

static bool add_wait(struct options *opt, const char *word)
{
	uint32_t n;

	return find_name(word, wait_names, NR_WAITS, &n) &&
		list_add(&opt->waits, n);
}

static bool add_transport(struct options *opt, const char *word)
{
	const struct transport *t = transport_find(word);
	unsigned int i;

	if (!strcmp(word, "all")) {
		for (i = 0; (t = transport_nth(i)); i++)
			if (!add_transport(opt, t->name))
				return false;
		return true;
	}
	if (!t || opt->nr_transports == TRANSPORTS_MAX)
		return false;
	opt->transports[opt->nr_transports++] = t;
	return true;
}

static bool add_size(struct options *opt, const char *word)
{
	uint64_t n;

	return parse_size(word, 0, LIMIT_SIZE, &n) &&
		list_add(&opt->sizes, (uint32_t)n);
}

static bool add_batch(struct options *opt, const char *word)
{
	uint64_t n;

	return parse_number(word, LIMIT_BATCH, &n) && n &&
		list_add(&opt->batches, (uint32_t)n);
}

static bool add_endpoints(struct options *opt, const char *word)
{
	uint64_t n;

	return parse_number(word, LIMIT_ENDPOINTS, &n) && n &&
		list_add(&opt->endpoints, (uint32_t)n);
}

static bool add_all_sizes(struct options *opt)
{
	uint32_t size;

	for (size = 8; size <= 1u << 20; size *= 2)
		if (!list_add(&opt->sizes, size))
			return false;
	return true;
}

/* ---- one option ---- */

static bool number32(const char *text, uint32_t min, uint32_t max,
		     uint32_t *value)
{
	uint64_t n;

	if (!parse_number(text, max, &n) || n < min)
		return false;
	*value = (uint32_t)n;
	return true;
}

static bool take_list(struct options *opt, int c)
{
	switch (c) {
	case 't':
		return each_word(opt, optarg, add_transport);
	case 'w':
		return each_word(opt, optarg, add_wait);
	case 's':
		return each_word(opt, optarg, add_size);
	case 'b':
		return each_word(opt, optarg, add_batch);
	}
	return each_word(opt, optarg, add_endpoints);
}

static bool take_flag(struct options *opt, int c)
{
	switch (c) {
	case 'a':
		return add_all_sizes(opt);
	case OPT_CHECK:
		opt->check = true;
		break;
	case OPT_THREADS:
		opt->threads = true;
		break;
	case OPT_JSON:
		opt->json = true;
		break;
	case OPT_SERVER:
		opt->server = true;
		break;
	case OPT_ONCE:
		opt->once = true;
		break;
	}
	return true;
}

static bool take_option(struct options *opt, int c)
{
	switch (c) {
	case 'm':
		return find_name(optarg, mode_names, NR_MODES, &opt->mode);
	case 't': case 'w': case 's': case 'b': case 'e':
		return take_list(opt, c);
	case 'W':
		return number32(optarg, 1, LIMIT_WINDOW, &opt->window);
	case 'n':
		return parse_number(optarg, LIMIT_ITERATIONS, &opt->iterations) &&
			opt->iterations;
	case OPT_WARMUP:
		return parse_number(optarg, LIMIT_ITERATIONS, &opt->warmup);
	case 'r':
		return parse_number(optarg, 1000, &opt->repeat) && opt->repeat;
	case OPT_SPIN:
		return number32(optarg, 0, LIMIT_SPIN_US, &opt->spin_us);
	case OPT_INLINE:
		return number32(optarg, 0, RNOTIFY_INLINE_MAX,
				&opt->inline_max);
	case OPT_ADDRESS:
		opt->local = optarg;
		return true;
	}
	return take_flag(opt, c);
}

/* ---- all of them ---- */

static void fill_in(struct options *opt)
{
	if (!opt->nr_transports)
		opt->transports[opt->nr_transports++] = &ours;
	if (!opt->waits.nr)
		list_add(&opt->waits, WAIT_BLOCK);
	if (!opt->sizes.nr)
		list_add(&opt->sizes, 64);
	if (!opt->batches.nr || opt->mode != MODE_STREAM)
		opt->batches = (struct list){
			.nr = 1,
			.value = { opt->mode == MODE_STREAM ? 32 : 1 },
		};
	if (!opt->endpoints.nr)
		list_add(&opt->endpoints, 1);
	if (!opt->iterations)
		opt->iterations = opt->mode == MODE_STREAM ? 20000 : 1000;
	if (opt->warmup == UINT64_MAX)
		opt->warmup = opt->iterations / 10;
}

/* A transport that can't wait like that is passed over, if there is another. */
static bool somebody_can(const struct options *opt, uint32_t wait)
{
	unsigned int i;

	for (i = 0; i < opt->nr_transports; i++)
		if (opt->transports[i]->waits & WAIT_BIT(wait))
			return true;
	/* None was named: then it is ours. */
	return !i;
}

/* What each option allows, and all together don't; NULL if all is well */
static const char *contradiction(const struct options *opt)
{
	unsigned int w;

	if (opt->server && (opt->nr_transports || opt->waits.nr ||
			    opt->sizes.nr))
		return "the client says what is measured";
	if (opt->once && !opt->server)
		return "--once is for --server";
	if (opt->where && !opt->server && (opt->threads || opt->local))
		return "--threads and --address are for both ends here";
	for (w = 0; w < opt->waits.nr; w++)
		if (!somebody_can(opt, opt->waits.value[w]))
			return "that transport can't wait like that";
	return NULL;
}

static const char *option_name(int c)
{
	const struct option *option = long_options;

	while (option->name && option->val != c)
		option++;
	return option->name;
}

int options_parse(int argc, char **argv, struct options *opt, int *status)
{
	const char *problem;
	int c;

	*opt = (struct options){
		.window = 128,
		.warmup = UINT64_MAX,
		.repeat = 1,
		.spin_us = 100,
		.inline_max = INLINE_BEST,
	};
	while ((c = next_option(argc, argv, "m:t:w:s:ab:W:e:n:r:hV",
				long_options, usage, status)) >= 0) {
		if (take_option(opt, c))
			continue;
		*status = bad_usage(usage, "--%s: '%s' is none of its values",
				    option_name(c), optarg ? optarg : "");
		return -2;
	}
	if (c == -2)
		return -2;
	if (argc - optind > 1) {
		*status = bad_usage(usage, "perf takes one address");
		return -2;
	}
	opt->where = argv[optind];
	problem = contradiction(opt);
	if (problem) {
		*status = bad_usage(usage, "%s", problem);
		return -2;
	}
	fill_in(opt);
	return 0;
}
