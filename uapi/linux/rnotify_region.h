/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: memory, and who may reach it.
 *
 * Included by <linux/rnotify.h>, where the ABI's general rules stand.
 */
#ifndef _UAPI_LINUX_RNOTIFY_REGION_H
#define _UAPI_LINUX_RNOTIFY_REGION_H

#include <linux/types.h>

/**
 * enum rnotify_region_flags - rnotify_register.flags
 * @RNOTIFY_REGION_ALLOC: the kernel allocates the memory (zeroed); map it at
 *	rnotify_register.mmap_offset. Needs addr == 0
 * @RNOTIFY_REGION_READ_ONLY: the memory is only read: source of operations and
 *	target of the peer's READ. Allows memory that the process can't write.
 *	Not with RNOTIFY_REGION_ALLOC
 * @RNOTIFY_REGION_FD: the memory is that of a memfd or hugetlbfs file
 *	rnotify_register.fd, from byte rnotify_register.addr on
 */
enum rnotify_region_flags {
	RNOTIFY_REGION_ALLOC = 1u << 0,
	RNOTIFY_REGION_READ_ONLY = 1u << 1,
	RNOTIFY_REGION_FD = 1u << 2,
};

/**
 * struct rnotify_register - ioctl(RNOTIFY_IOCTL_REGISTER)
 * @size: sizeof(struct rnotify_register)
 * @flags: &enum rnotify_region_flags
 * @addr: first byte, any alignment (0 with RNOTIFY_REGION_ALLOC; an offset in
 *	@fd with RNOTIFY_REGION_FD)
 * @length: bytes, not 0
 * @region_id: out: the new region
 * @fd: with RNOTIFY_REGION_FD, else must be 0
 * @mmap_offset: out: for RNOTIFY_REGION_ALLOC, where to mmap the memory
 * @memlock_need: out: with %EPERM: bytes that this region would lock
 * @memlock_left: out: with %EPERM: bytes left of RLIMIT_MEMLOCK
 *
 * Pins the pages for as long as the region lives. They are charged against
 * RLIMIT_MEMLOCK of the caller's mm (unless CAP_IPC_LOCK), those of ALLOC as
 * long as they are mapped, too. What is refused:
 *
 * - %EINVAL: length 0, addr + length wraps; ALLOC with an address or another
 *   flag; fd of another kind of file, or shorter than addr + length;
 * - %EBADF: no such fd;
 * - %EACCES: fd not open for reading, or (without READ_ONLY) for writing, or
 *   sealed against it;
 * - %EFAULT: a page that can't be read (or written, without READ_ONLY), a
 *   hole, PROT_NONE; pages that can't be pinned for long: mappings of devices
 *   (also of this one's own ring) and, without READ_ONLY, shared mappings of
 *   files on a disk;
 * - %EPERM: RLIMIT_MEMLOCK.
 *
 * A partial pin is never left behind. The region keeps its pages, whatever the
 * process does to the addresses later: after munmap(), MADV_DONTNEED or another
 * mmap() there, what the process sees is no longer what peers reach.
 */
struct rnotify_register {
	__u32 size;
	__u32 flags;
	__u64 addr;
	__u64 length;
	__u32 region_id;
	__s32 fd;
	__u64 mmap_offset;
	__u64 memlock_need;
	__u64 memlock_left;
};

/**
 * enum rnotify_rights - what the peer may do with a share
 * @RNOTIFY_RIGHT_WRITE: WRITE and WRITE_IMM
 * @RNOTIFY_RIGHT_READ: READ
 * @RNOTIFY_RIGHT_ATOMIC: FETCH_ADD and CMP_SWAP
 */
enum rnotify_rights {
	RNOTIFY_RIGHT_WRITE = 1u << 0,
	RNOTIFY_RIGHT_READ = 1u << 1,
	RNOTIFY_RIGHT_ATOMIC = 1u << 2,
};

/**
 * struct rnotify_share - ioctl(RNOTIFY_IOCTL_SHARE)
 * @size: sizeof(struct rnotify_share)
 * @flags: must be 0
 * @endpoint_id: established endpoint, whose peer gets the rights
 * @region_id: region
 * @offset: first byte that the peer can reach, any alignment
 * @length: bytes from there; 0: to the end of the region
 * @rights: &enum rnotify_rights, not 0. Not WRITE or ATOMIC on a read-only
 *	region (%EACCES)
 * @share_id: out: the new share; DESTROY takes it back
 * @tag: for the peer's REMOTE_REGION event
 *
 * %EINVAL: no rights; %ERANGE: offset + length beyond the region; %ENOTCONN:
 * endpoint not established; %EMFILE: RNOTIFY_SHARES_MAX shares, or as many as the
 * peer keeps room for, are alive on this endpoint. Room comes back when the peer's
 * user consumed the REMOTE_REGION_GONE event; then, after an %EMFILE, the endpoint
 * gets one WRITABLE event; %EMSGSIZE: more than 65535 keys;
 * %EOPNOTSUPP: ATOMIC, and the device has no atomics; %EIO: the region can't be
 * mapped for the device; %ENOENT: the region ended meanwhile; %ETIMEDOUT: the keys
 * are made behind what was posted before on this endpoint, and for 5 seconds that
 * did not get on.
 */
struct rnotify_share {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 region_id;
	__u64 offset;
	__u64 length;
	__u32 rights;
	__u32 share_id;
	__u64 tag;
};

#endif /* _UAPI_LINUX_RNOTIFY_REGION_H */
