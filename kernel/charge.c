// SPDX-License-Identifier: GPL-2.0
/*
 * RLIMIT_MEMLOCK: what a region locks is charged to the process that registers
 * it. A mapping of kernel-allocated pages keeps them, hence the charge as well,
 * until it is gone, also when the region is gone before.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/resource.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "pin.h"
#include "priv.h"

/**
 * struct rnotify_charge - pages on the account of a process
 * @refs: the region, and each mapping of it
 * @mm: whose account it is, held by mmgrab (invariant)
 * @nr_pages: how many (invariant)
 */
struct rnotify_charge {
	refcount_t refs;
	struct mm_struct *mm;
	unsigned long nr_pages;
};

/* Return: -EPERM, with the answer in @arg, if that is more than allowed. */
static int charge_pages(struct mm_struct *mm, unsigned long nr_pages,
			struct rnotify_register *arg)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	s64 now = atomic64_add_return(nr_pages, &mm->pinned_vm);

	if (now <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(nr_pages, &mm->pinned_vm);
	now -= nr_pages;
	arg->memlock_need = (u64)nr_pages << PAGE_SHIFT;
	arg->memlock_left = now < limit ? (u64)(limit - now) << PAGE_SHIFT : 0;
	return -EPERM;
}

/**
 * rnotify_charge_make() - charge pages to the caller's mm
 * @nr_pages: how many
 * @arg: command, for what %EPERM tells
 *
 * Context: process.
 * Return: the charge with one reference, -ENOMEM, or -EPERM.
 */
struct rnotify_charge *rnotify_charge_make(unsigned long nr_pages,
					   struct rnotify_register *arg)
{
	struct rnotify_charge *charge;
	int ret;

	charge = kmalloc(sizeof(*charge), GFP_KERNEL_ACCOUNT);
	if (!charge)
		return ERR_PTR(-ENOMEM);
	ret = charge_pages(current->mm, nr_pages, arg);
	if (ret) {
		kfree(charge);
		return ERR_PTR(ret);
	}
	refcount_set(&charge->refs, 1);
	charge->nr_pages = nr_pages;
	charge->mm = current->mm;
	mmgrab(charge->mm);
	return charge;
}

/**
 * rnotify_charge_put() - one user less
 * @charge: charge; off the account with its last user
 *
 * Context: process; the mmap lock may be held.
 */
void rnotify_charge_put(struct rnotify_charge *charge)
{
	if (!refcount_dec_and_test(&charge->refs))
		return;
	atomic64_sub(charge->nr_pages, &charge->mm->pinned_vm);
	mmdrop(charge->mm);
	kfree(charge);
}

/* After fork(), and where a mapping is split or moved. */
static void charge_vma_open(struct vm_area_struct *vma)
{
	struct rnotify_charge *charge = vma->vm_private_data;

	refcount_inc(&charge->refs);
}

static void charge_vma_close(struct vm_area_struct *vma)
{
	rnotify_charge_put(vma->vm_private_data);
}

static const struct vm_operations_struct charge_vm_ops = {
	.open = charge_vma_open,
	.close = charge_vma_close,
};

/**
 * rnotify_charge_map() - a mapping keeps the pages from here on
 * @charge: charge of these pages
 * @vma: their mapping, by a mmap() that does not fail any more
 *
 * Context: process; the mmap lock is held.
 */
void rnotify_charge_map(struct rnotify_charge *charge,
			struct vm_area_struct *vma)
{
	refcount_inc(&charge->refs);
	vma->vm_private_data = charge;
	vma->vm_ops = &charge_vm_ops;
}
