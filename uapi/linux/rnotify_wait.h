/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: waiting for events.
 *
 * Included by <linux/rnotify.h>, where the ABI's general rules stand.
 */
#ifndef _UAPI_LINUX_RNOTIFY_WAIT_H
#define _UAPI_LINUX_RNOTIFY_WAIT_H

#include <linux/types.h>

/**
 * DOC: poll, read and mmap
 *
 * poll, select and epoll are level-triggered:
 *
 * - %EPOLLIN: there are unconsumed events;
 * - %EPOLLOUT: no endpoint of the context is blocked, that is: none has refused a
 *   post with %EAGAIN and still has no room for it. One peer that does not
 *   consume is enough to keep it away. Who writes to several endpoints takes the
 *   WRITABLE events, which tell of each endpoint alone;
 * - %EPOLLERR: before SETUP; later never. The end of a connection or device is an
 *   event (%EPOLLIN), and ends what blocked its endpoint (%EPOLLOUT).
 *
 * read() copies events out, whole ones, and consumes them. Fewer than would fit:
 * then there are no more, and what comes next is an edge. %EBADFD before SETUP,
 * %EINVAL for less than 64 bytes, %EAGAIN with O_NONBLOCK, %EINTR, %EFAULT.
 *
 * mmap() takes the offsets and exact sizes that SETUP and REGISTER tell, and
 * MAP_SHARED. %EBADFD before SETUP; %EINVAL: not shared, another offset or size,
 * or a region without RNOTIFY_REGION_ALLOC; %EACCES: writable, what is the
 * kernel's; %ENOENT: no such region. Mappings outlive the fd and the region.
 */

/**
 * enum rnotify_wait_flags - rnotify_wait.flags and rnotify_uring_wait.flags
 * @RNOTIFY_WAIT_COUNT: only the number of events counts; an unconsumed last
 *	event of an endpoint or listener does not end the wait. For who has looked
 *	at the events that are there, without consuming them, and waits for more
 */
enum rnotify_wait_flags {
	RNOTIFY_WAIT_COUNT = 1u << 0,
};

/**
 * struct rnotify_wait - ioctl(RNOTIFY_IOCTL_WAIT)
 * @size: sizeof(struct rnotify_wait)
 * @flags: &enum rnotify_wait_flags
 * @min_events: wait until so many unconsumed events are in the ring, 1 at the
 *	least, the ring's size at most
 * @reserved: must be 0
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0: only look; negative: for ever
 * @spin_ns: look for so long before sleeping, at most 1 000 000, while nobody
 *	else wants this CPU. It adapts: as long as events take longer than that
 *	anyway, less and less of it is spent
 * @nr_events: out: unconsumed events now
 * @reserved2: out: 0
 *
 * 0: the condition holds, or (without RNOTIFY_WAIT_COUNT) the last event of an
 * endpoint or listener is among the unconsumed ones: what was waited for may
 * never come (nr_events tells what is there). %ETIME: the time came first;
 * %EINTR. Does not consume.
 */
struct rnotify_wait {
	__u32 size;
	__u32 flags;
	__u32 min_events;
	__u32 reserved;
	__s64 timeout_ns;
	__u64 spin_ns;
	__u32 nr_events;
	__u32 reserved2;
};

/**
 * struct rnotify_kick - ioctl(RNOTIFY_IOCTL_KICK)
 * @size: sizeof(struct rnotify_kick)
 * @flags: must be 0
 *
 * Tells the kernel to look at the consumer index (see
 * rnotify_ring_head.need_kick). Harmless at any time.
 */
struct rnotify_kick {
	__u32 size;
	__u32 flags;
};

/**
 * struct rnotify_eventfd - ioctl(RNOTIFY_IOCTL_EVENTFD)
 * @size: sizeof(struct rnotify_eventfd)
 * @flags: must be 0
 * @fd: an eventfd; -1: none any more. Replaces the one before
 * @endpoint_id: 0: @fd gets 1 added whenever the ring turns from empty to
 *	non-empty (see RNOTIFY_IOCTL_MODERATE). Else the same for one endpoint:
 *	1 is added when its first unconsumed NOTIFY or MESSAGE is written, and
 *	for its DISCONNECTED
 *
 * If there are unconsumed events of that kind now, it is signalled at once.
 * %EBADF: no such fd; %EINVAL: it is no eventfd, or below -1.
 */
struct rnotify_eventfd {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 endpoint_id;
};

#define RNOTIFY_MODERATE_MAX_NS	1000000000ull	/* 1 s */

/**
 * struct rnotify_moderate - ioctl(RNOTIFY_IOCTL_MODERATE)
 * @size: sizeof(struct rnotify_moderate)
 * @flags: must be 0
 * @min_events: a sleeper is woken when so many events are unconsumed; 0 or 1:
 *	at the first, which is how a context starts
 * @reserved: must be 0
 * @max_delay_ns: but not later than this after the first, nanoseconds, 1 to
 *	RNOTIFY_MODERATE_MAX_NS; 0 if @min_events is 0 or 1
 *
 * Only wake-ups are put off: what poll, read and WAIT find when they look is
 * never hidden. TX_DONE, NOTIFY and MESSAGE are put off; all other events wake
 * at once. Holds for the eventfd of the context, too. %EINVAL: @min_events above
 * the ring's size, @max_delay_ns above its limit, or one of them says on and the
 * other off.
 */
struct rnotify_moderate {
	__u32 size;
	__u32 flags;
	__u32 min_events;
	__u32 reserved;
	__u64 max_delay_ns;
};

/*
 * For a context. Each event is compared with all of them.
 */
#define RNOTIFY_URING_WAITS_MAX	256u

/**
 * struct rnotify_uring_wait - io_uring: WAIT in io_uring_sqe.cmd
 * @min_events: as in &struct rnotify_wait
 * @flags: &enum rnotify_wait_flags
 * @reserved: must be 0
 *
 * IORING_OP_URING_CMD with cmd_op RNOTIFY_IOCTL_WAIT, if QUERY tells
 * RNOTIFY_FEATURE_URING_WAIT. Completes with 0 when &struct rnotify_wait would
 * return 0. It is cancelled when its ring or its task ends; kernels up to
 * 6.12 at least have no other way for a uring_cmd, neither
 * IORING_OP_ASYNC_CANCEL nor a linked timeout. For those use IORING_OP_POLL_ADD
 * on the fd. While it waits it keeps the context alive. %EMFILE:
 * RNOTIFY_URING_WAITS_MAX wait already.
 */
struct rnotify_uring_wait {
	__u32 min_events;
	__u32 flags;
	__u64 reserved;
};

#endif /* _UAPI_LINUX_RNOTIFY_WAIT_H */
