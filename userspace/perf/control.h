/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify perf - the channel beside the measured one, where both ends agree.
 */
#ifndef _RNOTIFY_PERF_CONTROL_H
#define _RNOTIFY_PERF_CONTROL_H

#include <stddef.h>

#include "transport.h"

#define CONTROL_PORT 7475

/*
 * A socket; what is sent has a length, and the receiver knows it. All return 0
 * or EXIT_FAILED, after a complaint.
 */
int control_send(int fd, const void *data, size_t len);
int control_recv(int fd, void *data, size_t len);
/* -1 if there is no more: the other end has finished in peace. */
int control_recv_first(int fd, void *data, size_t len);

/* Is the other end the same program? */
int control_greet(int fd);

/* Returns the socket, or -1 after a complaint. */
int control_listen(const union address *addr);
int control_connect(const union address *addr);

/*
 * From now on, if the other end goes away, say so and end this process: it might
 * spin, or sleep, for a notification that can't come.
 */
int control_guard(int fd);
void control_unguard(void);

#endif /* _RNOTIFY_PERF_CONTROL_H */
