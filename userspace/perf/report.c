// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - figures, for people and for programs.
 */
#include <math.h>
#include <stdio.h>

#include "report.h"

static double us(double ns)
{
	return ns / 1e3;
}

double one_way_us(const struct result *r, unsigned int part)
{
	uint64_t rank = (r->run.iterations * part + 9999) / 10000;

	return us(r->one_way[rank ? rank - 1 : 0]);
}

double one_way_average_us(const struct result *r)
{
	double sum = 0;
	uint64_t i;

	for (i = 0; i < r->run.iterations; i++)
		sum += r->one_way[i];
	return us(sum / (double)r->run.iterations);
}

static double deviation_us(const struct result *r)
{
	double average = one_way_average_us(r), sum = 0, d;
	uint64_t i;

	for (i = 0; i < r->run.iterations; i++) {
		d = us(r->one_way[i]) - average;
		sum += d * d;
	}
	return sqrt(sum / (double)r->run.iterations);
}

double rate(const struct result *r)
{
	if (r->run.mode == MODE_CONNECT)
		return r->run.endpoints * 1e9 / (double)r->client.connect_ns;
	return (double)r->run.iterations * 1e9 / (double)r->client.used.time_ns;
}

double main_figure(const struct result *r)
{
	return r->run.mode == MODE_LATENCY ? one_way_us(r, 5000) : rate(r);
}

unsigned int median_of(const struct result *runs, unsigned int nr)
{
	unsigned int i, k, below;

	/* The one that has just half of the others before it in order. */
	for (i = 0; i < nr; i++) {
		double mine = main_figure(&runs[i]);

		below = 0;
		for (k = 0; k < nr; k++) {
			double other = main_figure(&runs[k]);

			below += other < mine || (other == mine && k < i);
		}
		if (below == (nr - 1) / 2)
			return i;
	}
	return 0;
}

/* ---- the table ---- */

static const char latency_head[] =
"#transport  wait      #bytes  #iterations  t_min[usec]  t_max[usec]"
"  t_typical[usec]  t_avg[usec]  t_stdev[usec]  99%[usec]  99.9%[usec]";
static const char stream_head[] =
"#transport  wait      #bytes  batch  #iterations  BW peak[MB/sec]"
"  BW average[MB/sec]  MsgRate[Mpps]";
static const char connect_head[] =
"#transport  window  endpoints  connect[1/sec]  close all[msec]"
"  kernel memory[KiB/endpoint]";
static const char use_head[] =
"  sleeps/n  switches/n    cpu[usec]/n";

void report_head(uint32_t mode)
{
	if (mode == MODE_CONNECT)
		printf("%s  ratio\n", connect_head);
	else
		printf("%s%s  endpoints  ratio\n",
		       mode == MODE_LATENCY ? latency_head : stream_head,
		       use_head);
	fflush(stdout);
}

static double per_note(const struct result *r, uint64_t n)
{
	return (double)n / (double)r->run.iterations;
}

/* Of both ends: client/server */
static void print_use(const struct result *r)
{
	const struct usage *c = &r->client.used, *s = &r->server.used;

	printf("  %3.2f/%3.2f  %4.2f/%5.2f  %6.1f/%6.1f  %9u",
	       per_note(r, c->sleeps), per_note(r, s->sleeps),
	       per_note(r, c->voluntary + c->involuntary),
	       per_note(r, s->voluntary + s->involuntary),
	       us(per_note(r, c->cpu_ns)), us(per_note(r, s->cpu_ns)),
	       r->run.endpoints);
}

static void print_latency(const struct result *r)
{
	printf(" %-10s %-8s %8u %12llu %12.2f %12.2f %16.2f %12.2f %14.2f %10.2f %12.2f",
	       r->run.transport, wait_names[r->run.wait], r->run.size,
	       (unsigned long long)r->run.iterations, one_way_us(r, 0),
	       one_way_us(r, 10000), one_way_us(r, 5000),
	       one_way_average_us(r), deviation_us(r), one_way_us(r, 9900),
	       one_way_us(r, 9990));
}

static void print_stream(const struct result *r)
{
	double mb = r->run.size / 1e6;

	printf(" %-10s %-8s %8u %6u %12llu %16.2f %19.2f %14.6f",
	       r->run.transport, wait_names[r->run.wait], r->run.size,
	       r->run.batch, (unsigned long long)r->run.iterations,
	       r->server.peak * mb, rate(r) * mb, rate(r) / 1e6);
}

static void print_connect(const struct result *r)
{
	printf(" %-10s %7u %10u %15.1f %16.2f %28.1f", r->run.transport,
	       r->run.window, r->run.endpoints, rate(r),
	       (double)r->client.close_ns / 1e6,
	       (double)r->client.kernel_bytes / 1024 / r->run.endpoints);
}

void report_row(const struct result *r, const struct result *first)
{
	if (r->run.mode == MODE_LATENCY)
		print_latency(r);
	else if (r->run.mode == MODE_STREAM)
		print_stream(r);
	else
		print_connect(r);
	if (r->run.mode != MODE_CONNECT)
		print_use(r);
	if (first)
		printf("  %5.2f", main_figure(first) / main_figure(r));
	putchar('\n');
	fflush(stdout);
}

/* ---- JSON ---- */

static void json_end(struct json *j, const char *key,
		     const struct end_result *end)
{
	json_open(j, key, '{');
	json_number(j, "time_ns", end->used.time_ns);
	json_number(j, "cpu_ns", end->used.cpu_ns);
	json_number(j, "machine_busy_ns", end->machine.busy_ns);
	json_number(j, "voluntary_switches", end->used.voluntary);
	json_number(j, "involuntary_switches", end->used.involuntary);
	json_number(j, "sleeps", end->used.sleeps);
	json_number(j, "connect_ns", end->connect_ns);
	json_number(j, "close_ns", end->close_ns);
	json_close(j, '}');
}

static void json_latency(struct json *j, const struct result *r)
{
	unsigned int part;

	json_real(j, "t_min_us", one_way_us(r, 0));
	json_real(j, "t_max_us", one_way_us(r, 10000));
	json_real(j, "t_typical_us", one_way_us(r, 5000));
	json_real(j, "t_avg_us", one_way_average_us(r));
	json_real(j, "t_stdev_us", deviation_us(r));
	json_real(j, "p99_us", one_way_us(r, 9900));
	json_real(j, "p99.9_us", one_way_us(r, 9990));
	/* Each fiftieth: enough for a curve. */
	json_open(j, "percentiles_us", '[');
	for (part = 0; part <= 10000; part += 200)
		json_real(j, NULL, one_way_us(r, part));
	json_close(j, ']');
}

static void json_stream(struct json *j, const struct result *r)
{
	json_real(j, "bw_peak_mb_s", r->server.peak * r->run.size / 1e6);
	json_real(j, "bw_average_mb_s", rate(r) * r->run.size / 1e6);
	json_real(j, "notifications_per_s", rate(r));
}

static void json_connect(struct json *j, const struct result *r)
{
	json_real(j, "connects_per_s", rate(r));
	json_real(j, "kernel_bytes_per_endpoint",
		  (double)r->client.kernel_bytes / r->run.endpoints);
}

void report_json(struct json *j, const struct result *r, bool chosen)
{
	json_open(j, NULL, '{');
	json_string(j, "transport", r->run.transport);
	json_string(j, "mode", mode_names[r->run.mode]);
	json_string(j, "wait", wait_names[r->run.wait]);
	json_number(j, "size", r->run.size);
	json_number(j, "batch", r->run.batch);
	json_number(j, "window", r->run.window);
	json_number(j, "endpoints", r->run.endpoints);
	json_number(j, "iterations", r->run.iterations);
	json_bool(j, "median", chosen);
	if (r->run.mode == MODE_LATENCY)
		json_latency(j, r);
	else if (r->run.mode == MODE_STREAM)
		json_stream(j, r);
	else
		json_connect(j, r);
	json_end(j, "client", &r->client);
	json_end(j, "server", &r->server);
	json_close(j, '}');
}
