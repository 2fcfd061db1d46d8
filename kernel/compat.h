/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions (6.1 … 6.12 and on). The rest of
 * the module is written against the newest form; older ones are made to look
 * like it here.
 */
#ifndef RNOTIFY_COMPAT_H
#define RNOTIFY_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

static inline void rnotify_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

#endif /* RNOTIFY_COMPAT_H */
