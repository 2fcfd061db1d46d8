/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - where `recv` puts what it gets.
 *
 * A regular file is written under the name FILE.part, which takes FILE's place
 * only when all of it is there and known to be right. Anything else (standard
 * output, a pipe, a device) gets the bytes as they come.
 */
#ifndef _RNOTIFY_CMD_OUTPUT_H
#define _RNOTIFY_CMD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct output - one file being received
 * @fd: where to write, -1: nowhere
 * @final: name it gets in the end
 * @part: name it has meanwhile, "" if there is no such file
 */
struct output {
	int fd;
	char final[PATH_MAX];
	char part[PATH_MAX];
};

/*
 * path: NULL: nowhere; "-": standard output. Failures are told to the user and
 * give false.
 */
bool output_open(struct output *out, const char *path);
bool output_write(struct output *out, const void *data, size_t len);
/* Everything is there: flush it, give it its name. */
bool output_commit(struct output *out);
/* Something went wrong: leave nothing behind. */
void output_discard(struct output *out);

#endif /* _RNOTIFY_CMD_OUTPUT_H */
