// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: a call is made again and again, and its n-th allocation or
 * user copy fails, with n from 1 on, until it no longer comes so far. That last
 * one has to succeed: it is the clean call after all the others.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "nth.h"

#define MANY	5000	/* no call has so many points */

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

void nth_open(struct nth *t)
{
	memset(t, 0, sizeof(*t));
	t->memory = rnt_anon(NTH_SPAN);
	/* faults of our own memory are not what shall fail */
	memset(t->memory, 1, NTH_SPAN);
	rnt_fault_setup();
	rnt_base_read(&t->base);
	rnt_init(&t->a, 2048, 256);
	rnt_init(&t->b, 2048, 256);
	rnt_pair_open(&t->p, &t->a, &t->b, &params, &params);
}

bool nth_close(struct nth *t)
{
	rnt_close(&t->a);
	rnt_close(&t->b);
	return rnt_base_back(&t->base);
}

static bool clean_errno(int ret)
{
	/* ENFILE: open(); EAGAIN: io_uring */
	return ret == 0 || ret == -ENOMEM || ret == -EFAULT ||
	       ret == -ENFILE || ret == -EAGAIN;
}

static void sweep(struct nth *t, const struct nth_step *s)
{
	unsigned int n, refused = 0;
	bool struck = true;

	for (n = 1; struck; n++) {
		int ret;

		rnt_check(n < MANY);
		if (s->before)
			s->before(t);
		rnt_fault_arm(n);
		ret = s->call(t);
		struck = rnt_fault_disarm();
		if (struck ? !clean_errno(ret) : ret)
			rnt_fail("%s: point %u: %d", s->name, n, ret);
		refused += ret != 0;
		if (s->after)
			s->after(t, ret);
		nth_established(t);
	}
	printf("# %s: %u points, %u times refused\n", s->name, n - 2, refused);
	/* else nothing was injected at all */
	rnt_check(n > 2);
}

void nth_sweep(struct nth *t, const struct nth_step *step, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		sweep(t, &step[i]);
}

void nth_established(struct nth *t)
{
	struct rnotify_endpoint_info info;

	rnt_info(&t->a, t->p.ea, &info);
	rnt_check_eq(RNOTIFY_STATE_ESTABLISHED, info.state);
	rnt_info(&t->b, t->p.eb, &info);
	rnt_check_eq(RNOTIFY_STATE_ESTABLISHED, info.state);
}

int nth_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

int nth_register(struct nth *t, void *p, int fd, __u32 flags)
{
	struct rnotify_register reg = {
		.size = sizeof(reg), .addr = (uintptr_t)p, .length = NTH_SPAN,
		.fd = fd, .flags = flags,
	};
	int ret = nth_ioctl(t->a.fd, RNOTIFY_IOCTL_REGISTER, &reg);

	t->id = reg.region_id;
	t->offset = reg.mmap_offset;
	return ret;
}
