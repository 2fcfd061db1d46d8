/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * A stand-in for the kernel module: open("/dev/rnotify") gives a memfd with the
 * ring in it, ioctl() on it lands in fake_ioctl(). Mappings are real.
 */
#ifndef _RNOTIFY_TEST_FAKE_H
#define _RNOTIFY_TEST_FAKE_H

#include <stdint.h>

#include <linux/rnotify.h>

/* mmap offsets */
#define FAKE_RING	0u
#define FAKE_TAIL	0x100000u
#define FAKE_MESSAGES	0x200000u
#define FAKE_REGION	0x300000u
#define FAKE_VIEW	0x380000u
#define FAKE_DIRTY	128u		/* in the view of a slot table */
#define FAKE_SLOTS	4096u
#define FAKE_SIZE	0x400000u

/**
 * struct fake - the module's side of the one context
 * @head: own mapping of the ring
 * @entries: entries
 * @tail: own mapping of the consumer page
 * @fd: what open() gave, -1 when closed
 * @break_layout: SETUP says something that the library must refuse
 * @open_error: errno for open(), 0: succeed
 * @view: own mapping of the latest counter or slot table
 * @error: errno for the next ioctl but QUERY and SETUP, once
 * @calls: how often each command came
 * @setup: the latest one
 * @post: the latest one
 * @last: argument of the latest ioctl, as it came
 * @destroyed: id of the latest DESTROY
 * @on_kick: called by KICK
 * @on_wait: called by WAIT until there are enough events; NULL: time is up
 */
struct fake {
	struct rnotify_ring_head *head;
	struct rnotify_event *entries;
	struct rnotify_ring_tail *tail;
	void *view;
	int fd;
	int break_layout;
	int open_error;
	int error;
	unsigned int calls[64];
	struct rnotify_setup setup;
	struct rnotify_post post;
	uint64_t last[32];
	uint32_t destroyed;
	void (*on_kick)(void);
	void (*on_wait)(void);
};

extern struct fake fake;

void fake_reset(void);
/* Steps A and B for one event. */
void fake_event(uint16_t type, uint32_t endpoint, uint64_t seq);
/* The event that would be produced next, to be filled in before that. */
struct rnotify_event *fake_next(void);

#endif /* _RNOTIFY_TEST_FAKE_H */
