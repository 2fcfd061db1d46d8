// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/rnotify: open, release, mmap, poll, read.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "ep.h"
#include "front.h"
#include "mmap_layout.h"
#include "ring.h"
#include "route.h"

static int rnotify_open(struct inode *inode, struct file *file)
{
	struct rnotify_ctx *ctx;

	ctx = rnotify_ctx_create(current->nsproxy->net_ns);
	if (!ctx)
		return -ENOMEM;
	file->private_data = ctx;
	/* read_iter keeps IOCB_NOWAIT: io_uring need not punt it. */
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

static int rnotify_release(struct inode *inode, struct file *file)
{
	rnotify_ctx_close(file->private_data);
	return 0;
}

static __poll_t rnotify_poll(struct file *file, poll_table *wait)
{
	struct rnotify_ctx *ctx = file->private_data;
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);
	__poll_t mask = 0;

	if (!ring)
		return EPOLLERR;
	poll_wait(file, &ring->wq, wait);
	rnotify_ring_reclaim(ring);
	if (rnotify_ring_pending(ring))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!atomic_read(&ctx->nr_blocked))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static ssize_t rnotify_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct rnotify_ctx *ctx = iocb->ki_filp->private_data;
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);
	bool nowait = (iocb->ki_flags & IOCB_NOWAIT) ||
		      (iocb->ki_filp->f_flags & O_NONBLOCK);
	ssize_t ret;

	if (!ring)
		return -EBADFD;
	for (;;) {
		/* Another reader may fault for as long as its user likes. */
		if (nowait && !mutex_trylock(&ring->read_mutex))
			return -EAGAIN;
		if (!nowait && mutex_lock_interruptible(&ring->read_mutex))
			return -ERESTARTNOHAND;
		ret = rnotify_ring_read(ring, to);
		mutex_unlock(&ring->read_mutex);
		if (ret)
			return ret;
		if (nowait)
			return -EAGAIN;
		ret = wait_event_interruptible(ring->wq,
					       rnotify_ring_pending(ring));
		if (ret)
			return -ERESTARTNOHAND;
	}
}

/* Pages are inserted one by one: the mapping keeps them alive by itself. */
static int map_vmalloc(struct vm_area_struct *vma, void *mem, size_t size)
{
	unsigned long addr = vma->vm_start;
	size_t off;
	int ret;

	if (vma->vm_end - vma->vm_start != PAGE_ALIGN(size))
		return -EINVAL;
	for (off = 0; off < size; off += PAGE_SIZE, addr += PAGE_SIZE) {
		ret = vm_insert_page(vma, addr, vmalloc_to_page(mem + off));
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* VM_IO: these pages can't be registered as a region. */
static void vma_ours(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_IO);
}

/* For good: mprotect() can't undo it. */
static int vma_read_only(struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	vm_flags_clear(vma, VM_MAYWRITE);
	return 0;
}

static int map_object(struct rnotify_ctx *ctx, u32 id,
		      struct vm_area_struct *vma)
{
	struct rnotify_obj *obj;
	size_t size;
	void *mem;
	int ret;

	obj = rnotify_route_memory(ctx, id, &mem, &size);
	if (!obj)
		return rnotify_region_mmap(ctx, id, vma);
	vma_ours(vma);
	ret = vma_read_only(vma);
	if (!ret)
		ret = map_vmalloc(vma, mem, size);
	rnotify_obj_put(obj);
	return ret;
}

static int map_ring_part(struct rnotify_ring *ring, u64 part,
			 struct vm_area_struct *vma)
{
	int ret;

	vma_ours(vma);
	if (part == RNOTIFY_MMAP_TAIL)
		return map_vmalloc(vma, ring->tail, sizeof(*ring->tail));

	/* All others are the kernel's. */
	ret = vma_read_only(vma);
	if (ret)
		return ret;

	if (part == RNOTIFY_MMAP_RING)
		return map_vmalloc(vma, ring->head,
				   rnotify_ring_bytes(ring->entries));
	if (part == RNOTIFY_MMAP_MSGS && ring->msgs)
		return map_vmalloc(vma, ring->msgs,
				   (size_t)ring->entries * ring->msg_size);
	return -EINVAL;
}

static int rnotify_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rnotify_ctx *ctx = file->private_data;
	struct rnotify_ring *ring = rnotify_ctx_ring(ctx);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 part = offset & RNOTIFY_MMAP_PART_MASK;

	if (!ring)
		return -EBADFD;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);

	if (part == RNOTIFY_MMAP_OBJECT)
		return map_object(ctx, rnotify_mmap_id(offset), vma);
	if (offset != part)
		return -EINVAL;
	return map_ring_part(ring, part, vma);
}

static const struct file_operations rnotify_fops = {
	.owner = THIS_MODULE,
	.open = rnotify_open,
	.release = rnotify_release,
	.poll = rnotify_poll,
	.read_iter = rnotify_read_iter,
	.mmap = rnotify_mmap,
	.unlocked_ioctl = rnotify_ioctl,
	.uring_cmd = rnotify_uring_cmd,
	.compat_ioctl = compat_ptr_ioctl,
};

/* 0660, and root until a udev rule gives it to a group: see README. */
static struct miscdevice rnotify_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rnotify",
	.fops = &rnotify_fops,
	.mode = 0660,
};

int rnotify_chardev_register(void)
{
	return misc_register(&rnotify_misc);
}

void rnotify_chardev_unregister(void)
{
	misc_deregister(&rnotify_misc);
}
