// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: connections, regions, shares, posts.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rnt.h"

void rnt_addr(struct rnotify_sockaddr *sa, const char *text, __u16 port)
{
	memset(sa, 0, sizeof(*sa));
	sa->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	sa->port = port;
	if (inet_pton(sa->family, text, sa->addr) != 1)
		rnt_fail("not an address: %s", text);
}

static const char *env(const char *name, const char *or)
{
	const char *value = getenv(name);

	return value && *value ? value : or;
}

const char *rnt_addr4(void)
{
	return env("RNOTIFY_ADDR", "10.0.0.1");
}

const char *rnt_addr6(void)
{
	return env("RNOTIFY_ADDR6", "fd00::1");
}

__u32 rnt_listen_(struct rnt_ctx *c, const char *addr, __u16 *port,
		  unsigned int backlog)
{
	struct rnotify_listen arg = {
		.size = sizeof(arg),
		.cookie = RNT_LISTENER_COOKIE,
		.backlog = backlog,
	};

	rnt_addr(&arg.addr, addr, *port);
	rnt_check_eq(0, rnt_ioctl(c->fd, RNOTIFY_IOCTL_LISTEN, &arg));
	rnt_check(arg.listener_id);
	rnt_check(arg.addr.port);
	*port = arg.addr.port;
	return arg.listener_id;
}

int rnt_connect_err(struct rnt_ctx *c, struct rnotify_connect *arg,
		    const char *addr, __u16 port)
{
	arg->size = sizeof(*arg);
	if (addr)
		rnt_addr(&arg->dst, addr, port);
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_CONNECT, arg);
}

/* What is no test of them shall not fail by them where the host stands still. */
static struct rnotify_params patient(const struct rnotify_params *params)
{
	struct rnotify_params p = {};

	if (params)
		p = *params;
	if (!p.keepalive_ms)
		p.keepalive_ms = RNT_KEEPALIVE_MS;
	if (!p.connect_timeout_ms)
		p.connect_timeout_ms = RNT_CONNECT_MS;
	return p;
}

__u32 rnt_connect_(struct rnt_ctx *c, const char *addr, __u16 port,
		   const struct rnotify_params *params, __u64 cookie)
{
	struct rnotify_connect arg = {
		.params = patient(params),
		.cookie = cookie,
	};

	rnt_check_eq(0, rnt_connect_err(c, &arg, addr, port));
	rnt_check(arg.endpoint_id);
	return arg.endpoint_id;
}

int rnt_accept(struct rnt_ctx *c, __u32 endpoint,
	       const struct rnotify_params *params, __u64 cookie)
{
	struct rnotify_accept arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
		.params = patient(params),
		.cookie = cookie,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_ACCEPT, &arg);
}

int rnt_reject(struct rnt_ctx *c, __u32 endpoint)
{
	struct rnotify_reject arg = {
		.size = sizeof(arg),
		.endpoint_id = endpoint,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_REJECT, &arg);
}

__u32 rnt_request_(struct rnt_ctx *c, struct rnotify_event *ev)
{
	struct rnotify_event local;

	if (!ev)
		ev = &local;
	if (!rnt_take_type(c, 0, RNOTIFY_EVENT_CONNECT_REQUEST, ev,
			   RNT_PATIENCE_MS))
		rnt_fail("no CONNECT_REQUEST");
	return ev->endpoint;
}

void rnt_more_(const struct rnt_pair *p, struct rnt_pair *more,
	       const struct rnotify_params *pa,
	       const struct rnotify_params *pb)
{
	*more = *p;
	more->ea = rnt_connect_(p->a, rnt_addr4(), p->port, pa, 0xa);
	more->eb = rnt_request_(p->b, NULL);
	rnt_check_eq(0, rnt_accept(p->b, more->eb, pb, 0xb));
	rnt_expect_(p->a, more->ea, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect_(p->b, more->eb, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

void rnt_pair_more_(const struct rnt_pair *p, struct rnt_pair *more)
{
	rnt_more_(p, more, NULL, NULL);
}

void rnt_pair_open_(struct rnt_pair *p, struct rnt_ctx *a, struct rnt_ctx *b,
		    const struct rnotify_params *pa,
		    const struct rnotify_params *pb)
{
	struct rnt_pair bed = { .a = a, .b = b };

	bed.listener = rnt_listen_(b, rnt_addr4(), &bed.port, 2);
	rnt_more_(&bed, p, pa, pb);
}

int rnt_register(struct rnt_ctx *c, struct rnotify_register *reg, void *p,
		 __u64 len, __u32 flags)
{
	memset(reg, 0, sizeof(*reg));
	reg->size = sizeof(*reg);
	reg->flags = flags;
	reg->addr = (uintptr_t)p;
	reg->length = len;
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_REGISTER, reg);
}

void rnt_region_alloc_(struct rnt_ctx *c, struct rnt_region *r, size_t len)
{
	struct rnotify_register reg;

	rnt_check_eq(0, rnt_register(c, &reg, NULL, len, RNOTIFY_REGION_ALLOC));
	rnt_check(reg.region_id);
	r->id = reg.region_id;
	r->len = len;
	r->alloc = true;
	r->p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		    reg.mmap_offset);
	if (r->p == MAP_FAILED)
		rnt_fail("mmap of an allocated region: errno %d", errno);
}

void rnt_region_user_(struct rnt_ctx *c, struct rnt_region *r, void *p,
		      size_t len, __u32 flags)
{
	struct rnotify_register reg;

	rnt_check_eq(0, rnt_register(c, &reg, p, len, flags));
	rnt_check(reg.region_id);
	r->id = reg.region_id;
	r->p = p;
	r->len = len;
	r->alloc = false;
}

void rnt_region_drop(struct rnt_ctx *c, struct rnt_region *r)
{
	rnt_destroy(c, r->id);
	if (r->alloc)
		munmap(r->p, r->len);
	r->p = NULL;
}

int rnt_share_err(struct rnt_ctx *c, struct rnotify_share *share)
{
	share->size = sizeof(*share);
	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_SHARE, share);
}

__u32 rnt_share_(struct rnt_ctx *c, __u32 endpoint, __u32 region, __u64 offset,
		 __u64 length, __u32 rights, __u64 tag)
{
	struct rnotify_share arg = {
		.endpoint_id = endpoint,
		.region_id = region,
		.offset = offset,
		.length = length,
		.rights = rights,
		.tag = tag,
	};
	int ret;

	ret = rnt_share_err(c, &arg);
	if (ret == -EMFILE) {
		/* The place of one that is gone is still on its way back. */
		rnt_expect(c, endpoint, RNOTIFY_EVENT_WRITABLE, NULL);
		ret = rnt_share_err(c, &arg);
	}
	rnt_check_eq(0, ret);
	rnt_check(arg.share_id);
	return arg.share_id;
}

__u32 rnt_grant_(struct rnt_pair *p, __u32 region, __u64 offset, __u64 length,
		 __u32 rights, __u32 *share_id)
{
	static unsigned int tags;
	__u64 tag = ((__u64)region << 32) + ++tags;
	struct rnotify_event ev;
	__u32 id = rnt_share_(p->b, p->eb, region, offset, length, rights, tag);

	rnt_expect_(p->a, p->ea, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	rnt_check_eq(tag, ev.region.tag);
	rnt_check_eq(rights, ev.region.rights);
	if (length)
		rnt_check_eq(length, ev.region.length);
	rnt_check(ev.region.remote_id);
	rnt_check_eq(0, ev.region.reserved);
	if (share_id)
		*share_id = id;
	return ev.region.remote_id;
}

struct rnotify_op rnt_op_notify(__u32 endpoint, __u32 imm)
{
	return (struct rnotify_op){
		.opcode = RNOTIFY_OP_NOTIFY,
		.endpoint_id = endpoint,
		.imm = imm,
	};
}

struct rnotify_op rnt_op_rw(unsigned int opcode, __u32 endpoint, __u32 region,
			    __u64 local, __u32 remote, __u64 roff, __u32 len)
{
	return (struct rnotify_op){
		.opcode = opcode,
		.endpoint_id = endpoint,
		.region_id = region,
		.local_offset = local,
		.remote_id = remote,
		.remote_offset = roff,
		.length = len,
	};
}

struct rnotify_op rnt_op_inline(unsigned int opcode, __u32 endpoint,
				const void *p, __u32 remote, __u64 roff,
				__u32 len)
{
	struct rnotify_op op = rnt_op_rw(opcode, endpoint, 0, (uintptr_t)p,
					 remote, roff, len);

	op.flags = RNOTIFY_OP_F_INLINE;
	return op;
}

int rnt_post(struct rnt_ctx *c, const struct rnotify_op *ops, unsigned int nr,
	     int timeout_ms, unsigned int *accepted, int *error)
{
	struct rnotify_post arg = {
		.size = sizeof(arg),
		.flags = timeout_ms ? 0 : RNOTIFY_POST_NONBLOCK,
		.ops = (uintptr_t)ops,
		.nr_ops = nr,
		.op_size = sizeof(*ops),
		.timeout_ns = timeout_ms < 0 ? -1 :
			      (__s64)(timeout_ms * 1e6 * rnt_slow()),
		.accepted = ~0u,
	};
	int ret = rnt_ioctl(c->fd, RNOTIFY_IOCTL_POST, &arg);

	if (!ret) {
		rnt_check(arg.accepted >= 1 && arg.accepted <= nr);
		rnt_check((arg.error == 0) == (arg.accepted == nr));
		rnt_check(arg.error <= 0);
	} else {
		/* what is common to all commands writes nothing back */
		if (arg.accepted == ~0u)
			arg.accepted = 0;
		else
			rnt_check_eq(ret, arg.error);
		rnt_check_eq(0, arg.accepted);
	}
	if (accepted)
		*accepted = arg.accepted;
	if (error)
		*error = arg.error;
	return ret;
}

int rnt_try(struct rnt_ctx *c, const struct rnotify_op *op)
{
	return rnt_post(c, op, 1, 0, NULL, NULL);
}

void rnt_post1_(struct rnt_ctx *c, const struct rnotify_op *op)
{
	rnt_check_eq(0, rnt_post(c, op, 1, RNT_PATIENCE_MS, NULL, NULL));
}
