// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - progress of a transfer and the figures at its end.
 */
#include <inttypes.h>
#include <unistd.h>

#include "common.h"
#include "json.h"
#include "stats.h"

#define MS 1000000ull
#define MIB 1048576.0

static uint64_t interval_ms(const struct stats *s)
{
	return s->tty ? 250 : 1000;
}

void stats_start(struct stats *s, bool quiet)
{
	uint64_t now = now_ns();

	*s = (struct stats){
		.started = now,
		.shown = now,
		.quiet = quiet,
		.tty = isatty(STDERR_FILENO),
	};
}

static double seconds(const struct stats *s)
{
	return (double)((s->ended ? s->ended : now_ns()) - s->started) / 1e9;
}

static double rate(const struct stats *s)
{
	double t = seconds(s);

	return t > 0 ? (double)s->bytes / t : 0;
}

void stats_progress(struct stats *s)
{
	uint64_t now = now_ns();

	if (s->quiet || now - s->shown < interval_ms(s) * MS)
		return;
	s->shown = now;
	fprintf(stderr, "%s%.1f MiB", s->tty ? "\r" : "",
		(double)s->bytes / MIB);
	if (s->expected)
		fprintf(stderr, " of %.1f MiB (%.0f %%)",
			(double)s->expected / MIB,
			100.0 * (double)s->bytes / (double)s->expected);
	fprintf(stderr, ", %.1f MiB/s%s", rate(s) / MIB,
		s->tty ? "   " : "\n");
}

int stats_poll_ms(const struct stats *s)
{
	return s->quiet ? -1 : (int)interval_ms(s);
}

void stats_stop(struct stats *s)
{
	s->ended = now_ns();
	if (s->tty && !s->quiet && s->shown != s->started)
		fputc('\n', stderr);
	s->quiet = true;
}

static void print_json(const struct stats *s, FILE *file, const char *hex)
{
	struct json j;

	json_begin(&j, file);
	json_number(&j, "bytes", s->bytes);
	json_real(&j, "seconds", seconds(s));
	json_number(&j, "bytes_per_second", (uint64_t)rate(s));
	json_number(&j, "notifications", s->notifications);
	json_number(&j, "wakeups", s->wakeups);
	json_string(&j, "sha256", hex);
	json_finish(&j);
}

void stats_print(const struct stats *s, FILE *file, bool json)
{
	char hex[SHA256_HEX];

	sha256_hex(s->digest, hex);
	if (json) {
		print_json(s, file, hex);
		return;
	}
	fprintf(file, "bytes: %" PRIu64 "\n", s->bytes);
	fprintf(file, "seconds: %.3f\n", seconds(s));
	fprintf(file, "bytes/s: %.0f\n", rate(s));
	fprintf(file, "notifications: %" PRIu64 "\n", s->notifications);
	fprintf(file, "wakeups: %" PRIu64 "\n", s->wakeups);
	fprintf(file, "sha256: %s\n", hex);
	fflush(file);
}
