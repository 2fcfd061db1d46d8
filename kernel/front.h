/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The character device: the first consumer of the core. Nothing below this
 * layer includes this file, but for main.c.
 */
#ifndef RNOTIFY_FRONT_H
#define RNOTIFY_FRONT_H

struct file;
struct rnotify_ctx;
struct io_uring_cmd;
struct rnotify_wait;

int rnotify_chardev_register(void);
void rnotify_chardev_unregister(void);
long rnotify_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
int rnotify_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags);
int rnotify_wait(struct rnotify_ctx *ctx, struct rnotify_wait *arg);

#endif /* RNOTIFY_FRONT_H */
