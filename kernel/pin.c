// SPDX-License-Identifier: GPL-2.0
/*
 * Pinning user memory for long: by address, or by memfd and offset.
 */
#include <linux/file.h>
#include <linux/hugetlb.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>

#include "compat.h"
#include "pin.h"

/* Pages pinned by one call: bounds the time without a look at signals. */
#define RNOTIFY_PIN_BATCH	512ul

static int pin_all(struct page **pages, unsigned long nr, u64 addr,
		   unsigned int flags)
{
	unsigned long done = 0;
	int ret;

	while (done < nr) {
		ret = -EINTR;
		if (fatal_signal_pending(current))
			goto err_unpin;
		ret = pin_user_pages_fast(addr + done * PAGE_SIZE,
					  min(nr - done, RNOTIFY_PIN_BATCH),
					  flags, pages + done);
		if (ret <= 0) {
			ret = ret == -ENOMEM ? -ENOMEM : -EFAULT;
			goto err_unpin;
		}
		done += ret;
		cond_resched();
	}
	return 0;

err_unpin:
	unpin_user_pages(pages, done);
	return ret;
}

/**
 * rnotify_pin_user() - pin pages of the current mm
 * @pages: filled in
 * @nr: how many
 * @addr: of the first byte, any alignment
 * @write: they will be written to
 *
 * Context: process, takes the mmap lock.
 * Return: 0, or -EFAULT, -EINTR, -ENOMEM with nothing pinned.
 */
int rnotify_pin_user(struct page **pages, unsigned long nr, u64 addr,
		     bool write)
{
	int ret;

	addr &= PAGE_MASK;
	ret = rnotify_longterm_allowed(addr, nr, write);
	if (ret)
		return ret;
	if (write)
		return pin_all(pages, nr, addr, FOLL_LONGTERM | FOLL_WRITE);

	ret = pin_all(pages, nr, addr,
		      FOLL_LONGTERM | rnotify_pin_read_flags());
	/* Shared memory can't be forced, and need not be. */
	if (ret == -EFAULT && rnotify_pin_read_flags())
		ret = pin_all(pages, nr, addr, FOLL_LONGTERM);
	return ret;
}

static bool is_hugetlbfs(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic == HUGETLBFS_MAGIC;
}

static int check_file(const struct file *file, u64 offset, u64 length,
		      bool write)
{
	if (!shmem_mapping(file->f_mapping) && !is_hugetlbfs(file))
		return -EINVAL;
	if (!(file->f_mode & FMODE_READ) ||
	    (write && !(file->f_mode & FMODE_WRITE)))
		return -EACCES;
	if (offset + length > i_size_read(file_inode(file)))
		return -EINVAL;
	return 0;
}

/*
 * The file is mapped for as long as the pinning takes. That is one way for all
 * kernels and both kinds of files; memfd_pin_folios() came with 6.11. A thread
 * that unmaps it meanwhile gets a region of something else of its own.
 */
static int pin_file(struct page **pages, unsigned long nr, struct file *file,
		    u64 offset, u64 length, bool write)
{
	u64 unit = is_hugetlbfs(file) ? file_inode(file)->i_sb->s_blocksize :
					PAGE_SIZE;
	u64 start = round_down(offset, unit);
	u64 size = round_up(offset + length, unit) - start;
	unsigned long addr;
	int ret;

	addr = vm_mmap(file, 0, size, PROT_READ | (write ? PROT_WRITE : 0),
		       MAP_SHARED, start);
	if (IS_ERR_VALUE(addr))
		return addr == (unsigned long)-EPERM ? -EACCES : (int)addr;
	ret = rnotify_pin_user(pages, nr, addr + offset - start, write);
	vm_munmap(addr, size);
	return ret;
}

/**
 * rnotify_pin_fd() - pin pages of a memfd or hugetlbfs file
 * @pages: filled in
 * @nr: how many
 * @fd: of the current process
 * @offset: first byte in the file, any alignment
 * @length: bytes
 * @write: they will be written to
 *
 * Context: process, takes the mmap lock.
 * Return: 0, or -EBADF, -EINVAL, -EACCES, -EFAULT, -EINTR, -ENOMEM with nothing
 * pinned.
 */
int rnotify_pin_fd(struct page **pages, unsigned long nr, int fd, u64 offset,
		   u64 length, bool write)
{
	struct file *file = fget(fd);
	int ret;

	if (!file)
		return -EBADF;
	ret = check_file(file, offset, length, write);
	if (!ret)
		ret = pin_file(pages, nr, file, offset, length, write);
	fput(file);
	return ret;
}
