/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - figures, for people and for programs.
 */
#ifndef _RNOTIFY_PERF_REPORT_H
#define _RNOTIFY_PERF_REPORT_H

#include "json.h"
#include "perf.h"

/* Nearest rank: the smallest that so many of 10000 samples do not exceed; us */
double one_way_us(const struct result *r, unsigned int part);
double one_way_average_us(const struct result *r);

/* The figure that is compared: us in latency mode, else per second */
double main_figure(const struct result *r);
/* Connections, notifications per second */
double rate(const struct result *r);

/* Index of the run with the median of the main figure. */
unsigned int median_of(const struct result *runs, unsigned int nr);

void report_head(uint32_t mode);
/* @first: of the transport that the others are compared with, or NULL */
void report_row(const struct result *r, const struct result *first);
void report_json(struct json *j, const struct result *r, bool chosen);

#endif /* _RNOTIFY_PERF_REPORT_H */
