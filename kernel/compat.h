/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions (6.1 … 6.12 and on). The rest of
 * the module is written against the newest form; older ones are made to look
 * like it here.
 */
#ifndef RNOTIFY_COMPAT_H
#define RNOTIFY_COMPAT_H

#include <linux/backing-dev.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#include <linux/io_uring.h>
#else
#include <linux/io_uring/cmd.h>
#endif

/* A command that waits can be cancelled. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define RNOTIFY_URING_CANCEL	1
#endif

static inline const void *rnotify_uring_payload(const struct io_uring_cmd *cmd)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return cmd->cmd;
#else
	return io_uring_sqe_cmd(cmd->sqe);
#endif
}

#ifndef io_uring_cmd_to_pdu	/* a macro from 6.9 on */
#define io_uring_cmd_to_pdu(cmd, pdu_type) ((pdu_type *)&(cmd)->pdu)
#endif

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

static inline void
rnotify_hrtimer_setup(struct hrtimer *timer,
		      enum hrtimer_restart (*fn)(struct hrtimer *),
		      clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#else
	hrtimer_setup(timer, fn, clock, mode);
#endif
}

/*
 * How to pin memory that is only read. Before 6.2 a long-term read pin may take
 * the shared zero page, or the page cache page of a private mapping, and not
 * see what the process writes later. Breaking the copy-on-write first is what
 * later kernels do.
 */
static inline unsigned int rnotify_pin_read_flags(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	return FOLL_WRITE | FOLL_FORCE;
#else
	return 0;
#endif
}

/*
 * From 6.5 on the kernel refuses long-term write pins of pages that a file
 * system writes back (it would not see the writes), and its fast path no longer
 * takes what VM_IO forbids. The same for older ones.
 */
static inline int rnotify_longterm_allowed(unsigned long addr,
					   unsigned long nr, bool write)
{
	int ret = 0;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	unsigned long end = addr + nr * PAGE_SIZE;
	struct vm_area_struct *vma;

	mmap_read_lock(current->mm);
	for (vma = find_vma(current->mm, addr); vma && vma->vm_start < end;
	     vma = find_vma(current->mm, vma->vm_end)) {
		if (vma->vm_flags & (VM_IO | VM_PFNMAP) ||
		    !(vma->vm_flags & VM_READ))
			ret = -EFAULT;
		if (write && vma->vm_file && (vma->vm_flags & VM_SHARED) &&
		    mapping_can_writeback(vma->vm_file->f_mapping))
			ret = -EFAULT;
	}
	mmap_read_unlock(current->mm);
#endif
	return ret;
}

#endif /* RNOTIFY_COMPAT_H */
