/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify watch - its rules, each with the object that it feeds.
 */
#ifndef _RNOTIFY_CMD_WATCH_H
#define _RNOTIFY_CMD_WATCH_H

#include <stdbool.h>

#include <rnotify/rnotify.h>

/**
 * struct watched - a rule of the command line
 * @text: as it was given
 * @rule: for the kernel; the object's id is filled in by watched_create()
 * @counter: what it feeds, if that is a counter
 * @slots: what it feeds, if that is a slot table
 * @last: notifications at the sample before
 */
struct watched {
	const char *text;
	struct rnotify_rule rule;
	struct rnotify_counter *counter;
	struct rnotify_slots *slots;
	uint64_t last;
};

/*
 * "counter", "slots:SHIFT+BITS", "drop"; each with ",VALUE/MASK" behind it, if
 * it isn't for all that come. Returns what is wrong with the text, or NULL.
 */
const char *watched_parse(struct watched *w, const char *text);
/* Makes the object. 0 or -errno. */
int watched_create(struct watched *w, struct rnotify *ctx);
/* Notifications and bytes so far */
void watched_total(const struct watched *w, uint64_t *count, uint64_t *bytes);

#endif /* _RNOTIFY_CMD_WATCH_H */
