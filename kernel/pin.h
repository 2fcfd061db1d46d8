/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_PIN_H
#define RNOTIFY_PIN_H

#include <linux/mm_types.h>

int rnotify_pin_user(struct page **pages, unsigned long nr, u64 addr,
		     bool write);
int rnotify_pin_fd(struct page **pages, unsigned long nr, int fd, u64 offset,
		   u64 length, bool write);

#endif /* RNOTIFY_PIN_H */
