/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sweep over all points of a call that can fail: see nth.c.
 */
#ifndef _NTH_H
#define _NTH_H

#include "rnt.h"

#define NTH_SPAN	(64 * RNT_PAGE)

/**
 * struct nth - what sweeps work on
 * @a: context of the calls
 * @b: its peer
 * @p: a connection of theirs that each step must leave established
 * @base: to come back to
 * @memory: NTH_SPAN bytes
 * @c: context that a step makes
 * @fd: file that a step makes or uses
 * @id: object that a call makes, or is about
 * @peer: the peer's endpoint of that
 * @region: region that a call uses
 * @offset: where to map what a step made
 * @map: mapping that a call made
 * @map_len: bytes of it
 */
struct nth {
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	void *memory;

	struct rnt_ctx c;
	int fd;
	__u32 id;
	__u32 peer;
	__u32 region;
	__u64 offset;
	void *map;
	size_t map_len;
};

/**
 * struct nth_step - a call to be swept
 * @name: for the report
 * @before: makes what it needs; nothing fails there. Or NULL
 * @call: the call: no more than system calls. 0 or -errno
 * @after: takes back what it made, and looks at what is left if it failed.
 *	Or NULL
 */
struct nth_step {
	const char *name;
	void (*before)(struct nth *t);
	int (*call)(struct nth *t);
	void (*after)(struct nth *t, int ret);
};

void nth_open(struct nth *t);
bool nth_close(struct nth *t);
void nth_sweep(struct nth *t, const struct nth_step *step, unsigned int nr);
void nth_established(struct nth *t);
int nth_ioctl(int fd, unsigned long cmd, void *arg);
int nth_register(struct nth *t, void *p, int fd, __u32 flags);

#endif /* _NTH_H */
