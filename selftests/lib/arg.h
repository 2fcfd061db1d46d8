/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Any command's struct, for tests that go through all commands.
 */
#ifndef _ARG_H
#define _ARG_H

#include "rnt.h"

union arg {
	__u32 size;
	struct {
		__u32 size_;
		__u32 flags;
	};
	struct rnotify_query query;
	struct rnotify_setup setup;
	struct rnotify_register reg;
	struct rnotify_listen listen;
	struct rnotify_connect connect;
	struct rnotify_accept accept;
	struct rnotify_reject reject;
	struct rnotify_disconnect disconnect;
	struct rnotify_destroy destroy;
	struct rnotify_share share;
	struct rnotify_post post;
	struct rnotify_wait wait;
	struct rnotify_kick kick;
	struct rnotify_eventfd eventfd;
	struct rnotify_endpoint_info info;
	struct rnotify_moderate moderate;
	struct rnotify_route route;
	struct rnotify_counter_create counter_create;
	struct rnotify_counter_reset counter_reset;
	struct rnotify_counter_wait counter_wait;
	struct rnotify_counter_watch counter_watch;
	struct rnotify_watch_arm watch_arm;
	struct rnotify_slots_create slots_create;
	struct rnotify_slots_take slots_take;
	struct rnotify_generation_create generation_create;
	struct rnotify_generation_set generation_set;
	/* the longest of them */
	__u32 word[sizeof(struct rnotify_endpoint_info) / sizeof(__u32)];
	/* and what may lie behind it */
	unsigned char bytes[8192];
};

#endif /* _ARG_H */
