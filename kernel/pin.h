/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_PIN_H
#define RNOTIFY_PIN_H

#include <linux/mm_types.h>

struct rnotify_charge;
struct rnotify_register;

/* charge.c */
struct rnotify_charge *rnotify_charge_make(unsigned long nr_pages,
					   struct rnotify_register *arg);
void rnotify_charge_put(struct rnotify_charge *charge);
void rnotify_charge_map(struct rnotify_charge *charge,
			struct vm_area_struct *vma);

/* pin.c */
int rnotify_pin_user(struct page **pages, unsigned long nr, u64 addr,
		     bool write);
int rnotify_pin_fd(struct page **pages, unsigned long nr, int fd, u64 offset,
		   u64 length, bool write);

#endif /* RNOTIFY_PIN_H */
