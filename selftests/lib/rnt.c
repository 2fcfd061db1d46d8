// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: a context, its ring and its events.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rnt.h"

int rnt_open(void)
{
	int fd = open("/dev/rnotify", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		rnt_fail("/dev/rnotify: errno %d", errno);
	return fd;
}

int rnt_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	if (ret > 0)
		rnt_fail("ioctl %#lx returns %d", cmd, ret);
	return ret ? -errno : 0;
}

void rnt_init(struct rnt_ctx *c, unsigned int ring, unsigned int msg_size)
{
	memset(c, 0, sizeof(*c));
	c->fd = rnt_open();
	c->setup.size = sizeof(c->setup);
	c->setup.ring_entries = ring;
	c->setup.msg_size = msg_size;
	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_SETUP, &c->setup));
	rnt_map(c);
}

static void *map(int fd, __u64 offset, __u64 size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		rnt_fail("mmap of %llu bytes at %#llx: errno %d",
			 (unsigned long long)size, (unsigned long long)offset,
			 errno);
	return p;
}

void rnt_map(struct rnt_ctx *c)
{
	const struct rnotify_setup *s = &c->setup;

	c->head = map(c->fd, s->ring_offset, s->ring_size, PROT_READ);
	c->tail = map(c->fd, s->cons_offset, s->cons_size,
		      PROT_READ | PROT_WRITE);
	if (s->msg_area_size)
		c->msgs = map(c->fd, s->msg_offset, s->msg_area_size,
			      PROT_READ);
	rnt_check_eq(s->ring_entries, c->head->entries);
	rnt_check_eq(sizeof(struct rnotify_event), c->head->entry_size);
	rnt_check_eq(s->msg_size, c->head->msg_size);
	c->entries = (const void *)((const char *)c->head +
				    c->head->entries_offset);
	c->mask = c->head->entries - 1;
}

void rnt_close(struct rnt_ctx *c)
{
	munmap((void *)c->head, c->setup.ring_size);
	munmap(c->tail, c->setup.cons_size);
	if (c->msgs)
		munmap((void *)c->msgs, c->setup.msg_area_size);
	free(c->stash);
	free(c->seen);
	rnt_check(close(c->fd) == 0);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

int rnt_destroy_err(struct rnt_ctx *c, __u32 id)
{
	struct rnotify_destroy arg = { .size = sizeof(arg), .id = id };

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_DESTROY, &arg);
}

void rnt_destroy(struct rnt_ctx *c, __u32 id)
{
	rnt_check_eq(0, rnt_destroy_err(c, id));
}

int rnt_disconnect(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnotify_disconnect arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_DISCONNECT, &arg);
}

void rnt_info(struct rnt_ctx *c, __u32 endpoint,
	      struct rnotify_endpoint_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->endpoint_id = endpoint;
	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_ENDPOINT_INFO, info));
}

int rnt_wait(struct rnt_ctx *c, unsigned int min_events, __s64 timeout_ns,
	     __u64 spin_ns, __u32 *nr)
{
	struct rnotify_wait arg = {
		.size = sizeof(arg),
		.min_events = min_events,
		.timeout_ns = timeout_ns,
		.spin_ns = spin_ns,
	};
	int ret = rnt_ioctl(c->fd, RNOTIFY_IOCTL_WAIT, &arg);

	if (nr)
		*nr = arg.nr_events;
	return ret;
}

void rnt_kick(struct rnt_ctx *c)
{
	struct rnotify_kick arg = { .size = sizeof(arg) };

	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_KICK, &arg));
}

__u32 rnt_pending(struct rnt_ctx *c)
{
	__u32 n = __atomic_load_n(&c->head->prod, __ATOMIC_ACQUIRE) - c->cons;

	if (n > c->head->entries)
		rnt_fail("%u events in a ring of %u", n, c->head->entries);
	return n;
}

const struct rnotify_event *rnt_peek(struct rnt_ctx *c)
{
	return rnt_pending(c) ? &c->entries[c->cons & c->mask] : NULL;
}

void rnt_consume(struct rnt_ctx *c, unsigned int n)
{
	c->cons += n;
	__atomic_store_n(&c->tail->cons, c->cons, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&c->head->need_kick, __ATOMIC_RELAXED))
		rnt_kick(c);
}

short rnt_poll(struct rnt_ctx *c, short events, unsigned int ms)
{
	struct pollfd p = { .fd = c->fd, .events = events };
	uint64_t deadline = rnt_deadline(ms);
	int ret;

	do {
		ret = poll(&p, 1, rnt_left_ms(deadline));
	} while (ret < 0 && errno == EINTR);
	rnt_check(ret >= 0);
	rnt_check(!(p.revents & POLLNVAL));
	return ret ? p.revents : 0;
}

const char *rnt_type_name(unsigned int type)
{
	static const char * const names[] = {
		"NONE", "NOTIFY", "MESSAGE", "TX_DONE", "CONNECT_REQUEST",
		"ESTABLISHED", "REMOTE_REGION", "REMOTE_REGION_GONE",
		"WRITABLE", "DISCONNECTED", "LISTENER_DOWN",
		[RNOTIFY_EVENT_COUNTER] = "COUNTER",
		[RNOTIFY_EVENT_SLOTS] = "SLOTS",
	};

	if (type >= sizeof(names) / sizeof(names[0]) || !names[type])
		return "?";
	return names[type];
}

static struct rnt_seen *seen_of(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnt_seen *s;

	for (unsigned int i = c->nr_seen; i-- > 0;)
		if (c->seen[i].endpoint == endpoint)
			return &c->seen[i];
	c->seen = realloc(c->seen, (c->nr_seen + 1) * sizeof(*s));
	rnt_check(c->seen);
	s = &c->seen[c->nr_seen++];
	*s = (struct rnt_seen){ .endpoint = endpoint };
	return s;
}

/* Of a NOTIFY or MESSAGE there are no more than were counted. */
static void check_seq(struct rnt_ctx *c, struct rnt_seen *s,
		      const struct rnotify_event *ev)
{
	bool arrival = ev->type == RNOTIFY_EVENT_NOTIFY ||
		       ev->type == RNOTIFY_EVENT_MESSAGE;

	/* rules take some: their numbers are missing */
	if (c->routed && ev->seq > s->seq)
		s->seq = ev->seq;
	else
		s->seq += arrival;
	if (ev->seq != s->seq)
		rnt_fail("%s on endpoint %u has seq %llu, not %llu",
			 rnt_type_name(ev->type), ev->endpoint,
			 (unsigned long long)ev->seq,
			 (unsigned long long)s->seq);
}

/* What holds for every event, whatever the test is about. */
static void check_event(struct rnt_ctx *c, const struct rnotify_event *ev)
{
	struct rnt_seen *s;

	if (ev->type == RNOTIFY_EVENT_NONE || *rnt_type_name(ev->type) == '?')
		rnt_fail("event of type %u", ev->type);
	if (ev->flags & ~(RNOTIFY_EVENT_F_IMM | RNOTIFY_EVENT_F_URGENT))
		rnt_fail("event with flags %#x", ev->flags);
	rnt_check(ev->endpoint != 0);
	rnt_check(ev->time_ns && ev->time_ns <= rnt_now_ns());
	if (ev->type == RNOTIFY_EVENT_LISTENER_DOWN)
		return;
	if (ev->type == RNOTIFY_EVENT_COUNTER ||
	    ev->type == RNOTIFY_EVENT_SLOTS) {
		rnt_check_eq(0, ev->flags);
		rnt_check_eq(0, ev->seq);
		return;
	}
	s = seen_of(c, ev->endpoint);
	if (s->down)
		rnt_fail("%s after DISCONNECTED on endpoint %u",
			 rnt_type_name(ev->type), ev->endpoint);
	if (ev->type == RNOTIFY_EVENT_NOTIFY ||
	    ev->type == RNOTIFY_EVENT_MESSAGE) {
		rnt_check_eq(0, ev->notify.reserved[0]);
		rnt_check_eq(0, ev->notify.reserved[1]);
	}
	if (ev->type == RNOTIFY_EVENT_NOTIFY)
		rnt_check_eq(RNOTIFY_EVENT_F_IMM,
			     ev->flags & ~RNOTIFY_EVENT_F_URGENT);
	else
		rnt_check_eq(0, ev->flags & RNOTIFY_EVENT_F_URGENT);
	check_seq(c, s, ev);
	if (ev->type == RNOTIFY_EVENT_DISCONNECTED) {
		rnt_check_eq(s->seq, ev->down.delivered);
		s->down = true;
	}
}

/* 0 stands for any endpoint, NONE for any type. */
static bool matches(const struct rnotify_event *ev, __u32 endpoint,
		    unsigned int type)
{
	return (!endpoint || ev->endpoint == endpoint) &&
	       (!type || ev->type == type);
}

static bool from_stash(struct rnt_ctx *c, __u32 endpoint, unsigned int type,
		       struct rnotify_event *ev)
{
	for (unsigned int i = 0; i < c->nr_stash; i++) {
		if (!matches(&c->stash[i], endpoint, type))
			continue;
		*ev = c->stash[i];
		c->nr_stash--;
		memmove(&c->stash[i], &c->stash[i + 1],
			(c->nr_stash - i) * sizeof(*ev));
		return true;
	}
	return false;
}

static void to_stash(struct rnt_ctx *c, const struct rnotify_event *ev)
{
	if (c->nr_stash == c->max_stash) {
		c->max_stash = c->max_stash ? c->max_stash * 2 : 64;
		c->stash = realloc(c->stash, c->max_stash * sizeof(*ev));
		rnt_check(c->stash);
	}
	c->stash[c->nr_stash++] = *ev;
}

/* The next matching event; those that do not match stay for their askers. */
bool rnt_take_type(struct rnt_ctx *c, __u32 endpoint, unsigned int type,
		   struct rnotify_event *ev, unsigned int ms)
{
	uint64_t deadline = rnt_deadline(ms);
	const struct rnotify_event *next;
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	if (from_stash(c, endpoint, type, ev))
		return true;
	for (;;) {
		while ((next = rnt_peek(c))) {
			*ev = *next;
			check_event(c, ev);
			rnt_consume(c, 1);
			if (matches(ev, endpoint, type))
				return true;
			to_stash(c, ev);
		}
		p.revents = 0;
		if (poll(&p, 1, rnt_left_ms(deadline)) == 0)
			return false;
		if (p.revents & ~POLLIN)
			rnt_fail("poll says %#x", p.revents);
	}
}

bool rnt_take(struct rnt_ctx *c, __u32 endpoint, struct rnotify_event *ev,
	      unsigned int ms)
{
	return rnt_take_type(c, endpoint, RNOTIFY_EVENT_NONE, ev, ms);
}

static void describe(char *text, size_t size, const struct rnotify_event *ev)
{
	int n = snprintf(text, size, "%s on %u, seq %llu",
			 rnt_type_name(ev->type), ev->endpoint,
			 (unsigned long long)ev->seq);

	if (ev->type == RNOTIFY_EVENT_DISCONNECTED)
		snprintf(text + n, size - n,
			 ", reason %u stage %u error %d ib %u vendor %#x",
			 ev->down.reason, ev->down.stage, ev->down.error,
			 ev->down.ib_status, ev->down.vendor_err);
	else if (ev->type == RNOTIFY_EVENT_TX_DONE)
		snprintf(text + n, size - n, ", opcode %u error %d ib %u",
			 ev->tx.opcode, ev->tx.error, ev->tx.ib_status);
	else if (ev->type == RNOTIFY_EVENT_NOTIFY)
		snprintf(text + n, size - n, ", imm %#x bytes %u",
			 ev->notify.imm, ev->notify.byte_len);
}

void rnt_expect_(struct rnt_ctx *c, __u32 endpoint, unsigned int type,
		 struct rnotify_event *ev)
{
	struct rnotify_event local;
	char text[160];

	if (!ev)
		ev = &local;
	if (!rnt_take(c, endpoint, ev, RNT_PATIENCE_MS))
		rnt_fail("no %s on endpoint %u", rnt_type_name(type), endpoint);
	if (ev->type != type) {
		describe(text, sizeof(text), ev);
		rnt_fail("%s awaited, got %s", rnt_type_name(type), text);
	}
}

void rnt_expect_none_(struct rnt_ctx *c, __u32 endpoint, unsigned int ms)
{
	struct rnotify_event ev;
	char text[160];

	if (rnt_take(c, endpoint, &ev, ms)) {
		describe(text, sizeof(text), &ev);
		rnt_fail("no event awaited, got %s", text);
	}
}
