// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A stand-in for the kernel module; see fake.h. The linker's --wrap brings the
 * library's system calls here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

struct fake fake = { .fd = -1 };

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long cmd, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long cmd, ...);

static void *map(uint64_t offset, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fake.fd,
		       (off_t)offset);

	if (p == MAP_FAILED)
		abort();
	return p;
}

void fake_reset(void)
{
	if (fake.head)
		munmap(fake.head, FAKE_TAIL);
	if (fake.tail)
		munmap(fake.tail, 4096);
	if (fake.view)
		munmap(fake.view, FAKE_SIZE - FAKE_VIEW);
	memset(&fake, 0, sizeof(fake));
	fake.fd = -1;
}

struct rnotify_event *fake_next(void)
{
	return &fake.entries[fake.head->prod & (fake.head->entries - 1)];
}

void fake_event(uint16_t type, uint32_t endpoint, uint64_t seq)
{
	struct rnotify_event *event = fake_next();

	/* A */
	event->type = type;
	event->endpoint = endpoint;
	event->seq = seq;
	/* B */
	__atomic_store_n(&fake.head->prod, fake.head->prod + 1,
			 __ATOMIC_RELEASE);
}

static int fake_setup(struct rnotify_setup *arg)
{
	fake.setup = *arg;
	if (!arg->ring_entries || arg->ring_entries & (arg->ring_entries - 1))
		return -EINVAL;
	fake.head = map(FAKE_RING, FAKE_TAIL);
	fake.tail = map(FAKE_TAIL, 4096);
	fake.entries = (void *)((char *)fake.head + 4096);
	fake.head->entries = arg->ring_entries;
	fake.head->entry_size = fake.break_layout ? 128 : 64;
	fake.head->entries_offset = 4096;
	arg->ring_offset = FAKE_RING;
	arg->ring_size = 4096 + arg->ring_entries * 64ull;
	arg->cons_offset = FAKE_TAIL;
	arg->cons_size = 4096;
	arg->msg_offset = FAKE_MESSAGES;
	arg->msg_area_size = (uint64_t)arg->ring_entries * arg->msg_size;
	return 0;
}

static uint32_t unconsumed(void)
{
	return fake.head->prod -
		__atomic_load_n(&fake.tail->cons, __ATOMIC_ACQUIRE);
}

/* The last event of something is among the unconsumed ones. */
static int ended(void)
{
	uint32_t i, mask = fake.head->entries - 1;

	for (i = fake.head->prod - unconsumed(); i != fake.head->prod; i++)
		if (fake.entries[i & mask].type == RNOTIFY_EVENT_DISCONNECTED ||
		    fake.entries[i & mask].type == RNOTIFY_EVENT_LISTENER_DOWN)
			return 1;
	return 0;
}

/* Of an absolute deadline; a negative one never comes. */
static int is_over(int64_t deadline)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return deadline >= 0 &&
	       now.tv_sec * 1000000000ll + now.tv_nsec >= deadline;
}

static int fake_wait(struct rnotify_wait *arg)
{
	if (arg->min_events > fake.head->entries)
		return -EINVAL;
	while (unconsumed() < arg->min_events &&
	       (arg->flags & RNOTIFY_WAIT_COUNT || !ended())) {
		if (!fake.on_wait || is_over(arg->timeout_ns))
			return -ETIME;
		fake.on_wait();
	}
	arg->nr_events = unconsumed();
	return 0;
}

static int fake_register(struct rnotify_register *arg)
{
	static uint32_t id = 100;

	arg->region_id = ++id;
	arg->mmap_offset = FAKE_REGION;
	return 0;
}

static int fake_post(struct rnotify_post *arg)
{
	fake.post = *arg;
	arg->accepted = arg->nr_ops;
	return 0;
}

static void *view(void)
{
	if (!fake.view)
		fake.view = map(FAKE_VIEW, FAKE_SIZE - FAKE_VIEW);
	return fake.view;
}

static int fake_counter(struct rnotify_counter_create *arg)
{
	view();
	arg->counter_id = 21;
	arg->mmap_offset = FAKE_VIEW;
	arg->mmap_size = 4096;
	return 0;
}

static int fake_slots(struct rnotify_slots_create *arg)
{
	struct rnotify_slots_head *head = view();

	head->nr_slots = arg->nr_slots;
	head->slot_size = fake.break_layout ? 128 :
			  sizeof(struct rnotify_slot);
	head->dirty_offset = FAKE_DIRTY;
	head->slots_offset = FAKE_SLOTS;
	arg->slots_id = 22;
	arg->mmap_offset = FAKE_VIEW;
	arg->mmap_size = FAKE_SLOTS +
			 arg->nr_slots * sizeof(struct rnotify_slot);
	return 0;
}

static int fake_ioctl(unsigned long cmd, void *arg)
{
	switch (cmd) {
	case RNOTIFY_IOCTL_SETUP:
		return fake_setup(arg);
	case RNOTIFY_IOCTL_WAIT:
		return fake_wait(arg);
	case RNOTIFY_IOCTL_REGISTER:
		return fake_register(arg);
	case RNOTIFY_IOCTL_POST:
		return fake_post(arg);
	case RNOTIFY_IOCTL_CONNECT:
		((struct rnotify_connect *)arg)->endpoint_id = 7;
		return 0;
	case RNOTIFY_IOCTL_KICK:
		if (fake.on_kick)
			fake.on_kick();
		return 0;
	case RNOTIFY_IOCTL_COUNTER_CREATE:
		return fake_counter(arg);
	case RNOTIFY_IOCTL_SLOTS_CREATE:
		return fake_slots(arg);
	case RNOTIFY_IOCTL_DESTROY:
		fake.destroyed = ((struct rnotify_destroy *)arg)->id;
		return 0;
	}
	return 0;
}

static int injected(unsigned long cmd, void *arg)
{
	int error = fake.error;

	if (!error || cmd == RNOTIFY_IOCTL_SETUP)
		return 0;
	fake.error = 0;
	if (cmd == RNOTIFY_IOCTL_REGISTER && error == EPERM) {
		((struct rnotify_register *)arg)->memlock_need = 100 << 10;
		((struct rnotify_register *)arg)->memlock_left = 64 << 10;
	}
	return -error;
}

/* Structs begin with their size. */
static void keep(const void *arg)
{
	uint32_t size = *(const uint32_t *)arg;

	memcpy(fake.last, arg,
	       size < sizeof(fake.last) ? size : sizeof(fake.last));
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd != fake.fd)
		return __real_ioctl(fd, cmd, arg);
	fake.calls[cmd & 63]++;
	keep(arg);
	ret = injected(cmd, arg);
	if (!ret)
		ret = fake_ioctl(cmd, arg);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (strcmp(path, "/dev/rnotify"))
		return __real_open(path, flags, mode);
	if (fake.open_error) {
		errno = fake.open_error;
		return -1;
	}
	fake.fd = memfd_create("rnotify", MFD_CLOEXEC);
	if (fake.fd < 0 || ftruncate(fake.fd, FAKE_SIZE))
		abort();
	return fake.fd;
}

int __wrap_open64(const char *path, int flags, ...)
{
	/* The library opens nothing that needs a mode. */
	return __wrap_open(path, flags, 0);
}
