// SPDX-License-Identifier: GPL-2.0
/*
 * What holds for the struct of every ioctl: sizes, flags, reserved members,
 * pointers, and that the kernel writes what is documented and nothing else.
 * Each test runs once for each command (FAULTS 43, 44).
 *
 * rvm: limit=240
 */

#include "kselftest_harness.h"
#include "arg.h"

#define OFF(type, member) \
	{ offsetof(struct type, member), sizeof(((struct type *)0)->member) }
/* Everything from one member to another. */
#define SPAN(type, from, to) \
	{ offsetof(struct type, from), offsetof(struct type, to) + \
	  sizeof(((struct type *)0)->to) - offsetof(struct type, from) }

struct range {
	size_t off;
	size_t len;
};

FIXTURE(abi)
{
	struct rnt_ctx c;
	struct rnt_pair p;
	struct rnt_region region;
	struct rnt_counter counter;
	struct rnt_slots slots;
	__u32 watch;
	__u32 generation;
	struct rnotify_rule rule;
	int fresh;		/* a context without SETUP */
	__u32 request;		/* endpoint that awaits an answer */
	__u32 victim;		/* region for DESTROY */
	__u32 share;		/* made by SHARE: taken back at once */
	struct rnotify_op op;
	union arg *arg, *before;
};

FIXTURE_VARIANT(abi)
{
	unsigned long cmd;
	size_t size;
	size_t first;		/* as first published, if it has grown since */
	/* a valid argument, output members 0; NULL: size is all there is */
	void (*fill)(FIXTURE_DATA(abi) *self, union arg *arg);
	__u32 known_flags;
	struct range out[3];	/* what success may write */
	struct range reserved[2];
	bool fresh;		/* on a context without SETUP */
};

static void fill_setup(FIXTURE_DATA(abi) *self, union arg *arg)
{
	if (self->fresh >= 0)
		close(self->fresh);
	self->fresh = rnt_open();
	arg->setup.ring_entries = 64;
	arg->setup.msg_size = 256;
}

static void fill_register(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->reg.addr = (uintptr_t)self->region.p;
	arg->reg.length = 100;
}

static void fill_listen(FIXTURE_DATA(abi) *self, union arg *arg)
{
	(void)self;
	rnt_addr(&arg->listen.addr, rnt_addr4(), 0);
	arg->listen.backlog = 1;
}

static void fill_connect(FIXTURE_DATA(abi) *self, union arg *arg)
{
	rnt_addr(&arg->connect.dst, rnt_addr4(), self->p.port);
}

/* A request is made when the one before was answered. */
static void need_request(FIXTURE_DATA(abi) *self)
{
	struct rnotify_endpoint_info info;

	if (self->request) {
		rnt_info(&self->c, self->request, &info);
		if (info.state == RNOTIFY_STATE_REQUESTED)
			return;
	}
	rnt_connect(&self->c, rnt_addr4(), self->p.port, NULL, 1);
	self->request = rnt_request(&self->c, NULL);
}

static void fill_accept(FIXTURE_DATA(abi) *self, union arg *arg)
{
	need_request(self);
	arg->accept.endpoint_id = self->request;
}

static void fill_reject(FIXTURE_DATA(abi) *self, union arg *arg)
{
	need_request(self);
	arg->reject.endpoint_id = self->request;
}

static void fill_disconnect(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->disconnect.endpoint_id = self->p.eb;
}

static void fill_destroy(FIXTURE_DATA(abi) *self, union arg *arg)
{
	struct rnotify_register reg;

	/* gone if the last call succeeded, else used again */
	if (self->victim)
		rnt_destroy_err(&self->c, self->victim);
	rnt_check_eq(0, rnt_register(&self->c, &reg, self->region.p, 1, 0));
	self->victim = reg.region_id;
	arg->destroy.id = self->victim;
}

static void fill_share(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->share.endpoint_id = self->p.eb;
	arg->share.region_id = self->region.id;
	arg->share.length = 16;
	arg->share.rights = RNOTIFY_RIGHT_WRITE;
}

static void fill_post(FIXTURE_DATA(abi) *self, union arg *arg)
{
	self->op = rnt_op_notify(self->p.ea, 1);
	arg->post.ops = (uintptr_t)&self->op;
	arg->post.nr_ops = 1;
	arg->post.op_size = sizeof(self->op);
	arg->post.timeout_ns = 1000000000;
}

static void fill_wait(FIXTURE_DATA(abi) *self, union arg *arg)
{
	/* so that 0, not ETIME, is the answer */
	if (!rnt_pending(&self->c)) {
		rnt_post1(&self->c, &(struct rnotify_op){
			.opcode = RNOTIFY_OP_NOTIFY,
			.endpoint_id = self->p.ea,
		});
		rnt_check_eq(0, rnt_wait(&self->c, 1, -1, 0, NULL));
	}
	arg->wait.min_events = 1;
}

static void fill_eventfd(FIXTURE_DATA(abi) *self, union arg *arg)
{
	(void)self;
	arg->eventfd.fd = -1;
}

static void fill_info(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->info.endpoint_id = self->p.ea;
}

#include "abi_route.h"

#define VARIANT(name_, CMD_, struct_, ...)				\
FIXTURE_VARIANT_ADD(abi, name_)						\
{									\
	.cmd = RNOTIFY_IOCTL_##CMD_,					\
	.size = sizeof(struct struct_),					\
	__VA_ARGS__							\
}

VARIANT(query, QUERY, rnotify_query,
	.out = { SPAN(rnotify_query, abi_version, max_generations) },
	.fresh = true);
VARIANT(setup, SETUP, rnotify_setup,
	.fill = fill_setup,
	.out = { SPAN(rnotify_setup, ring_offset, msg_area_size) },
	.fresh = true);
VARIANT(register, REGISTER, rnotify_register,
	.fill = fill_register,
	.known_flags = RNOTIFY_REGION_ALLOC | RNOTIFY_REGION_READ_ONLY |
		       RNOTIFY_REGION_FD,
	.out = { OFF(rnotify_register, region_id),
		 SPAN(rnotify_register, mmap_offset, memlock_left) },
	.reserved = { OFF(rnotify_register, fd) });
VARIANT(listen, LISTEN, rnotify_listen,
	.fill = fill_listen,
	.out = { OFF(rnotify_listen, listener_id),
		 OFF(rnotify_listen, addr.port) });
VARIANT(connect, CONNECT, rnotify_connect,
	.fill = fill_connect,
	.out = { OFF(rnotify_connect, endpoint_id) },
	.reserved = { OFF(rnotify_connect, params.reserved) });
VARIANT(accept, ACCEPT, rnotify_accept,
	.fill = fill_accept,
	.reserved = { OFF(rnotify_accept, params.reserved) });
VARIANT(reject, REJECT, rnotify_reject,
	.fill = fill_reject);
VARIANT(disconnect, DISCONNECT, rnotify_disconnect,
	.fill = fill_disconnect,
	.reserved = { OFF(rnotify_disconnect, reserved) });
VARIANT(destroy, DESTROY, rnotify_destroy,
	.known_flags = RNOTIFY_DESTROY_ALL,
	.fill = fill_destroy,
	.reserved = { OFF(rnotify_destroy, reserved) });
VARIANT(share, SHARE, rnotify_share,
	.fill = fill_share,
	.out = { OFF(rnotify_share, share_id) });
VARIANT(post, POST, rnotify_post,
	.fill = fill_post,
	.known_flags = RNOTIFY_POST_NONBLOCK,
	.out = { SPAN(rnotify_post, accepted, error) });
VARIANT(wait, WAIT, rnotify_wait,
	.fill = fill_wait,
	.known_flags = RNOTIFY_WAIT_COUNT,
	.out = { SPAN(rnotify_wait, nr_events, reserved2) },
	.reserved = { OFF(rnotify_wait, reserved) });
VARIANT(kick, KICK, rnotify_kick);
VARIANT(eventfd, EVENTFD, rnotify_eventfd,
	.fill = fill_eventfd);
VARIANT(moderate, MODERATE, rnotify_moderate,
	.reserved = { OFF(rnotify_moderate, reserved) });
VARIANT(info, ENDPOINT_INFO, rnotify_endpoint_info,
	.fill = fill_info,
	.first = offsetof(struct rnotify_endpoint_info, tx_bundled),
	.out = { SPAN(rnotify_endpoint_info, state, tx_bundled) });

VARIANT(route, ROUTE, rnotify_route,
	.fill = fill_route,
	.reserved = { OFF(rnotify_route, reserved) });
VARIANT(counter_create, COUNTER_CREATE, rnotify_counter_create,
	.out = { OFF(rnotify_counter_create, counter_id),
		 SPAN(rnotify_counter_create, mmap_offset, mmap_size) },
	.reserved = { OFF(rnotify_counter_create, reserved) });
VARIANT(counter_reset, COUNTER_RESET, rnotify_counter_reset,
	.fill = fill_counter,
	.out = { SPAN(rnotify_counter_reset, count, bytes) },
	.reserved = { OFF(rnotify_counter_reset, reserved) });
VARIANT(counter_wait, COUNTER_WAIT, rnotify_counter_wait,
	.fill = fill_counter,
	.out = { SPAN(rnotify_counter_wait, count, ended_error) },
	.reserved = { OFF(rnotify_counter_wait, reserved) });
VARIANT(counter_watch, COUNTER_WATCH, rnotify_counter_watch,
	.fill = fill_watch,
	.out = { OFF(rnotify_counter_watch, watch_id) });
VARIANT(watch_arm, WATCH_ARM, rnotify_watch_arm,
	.fill = fill_arm,
	.reserved = { OFF(rnotify_watch_arm, reserved) });
VARIANT(slots_create, SLOTS_CREATE, rnotify_slots_create,
	.fill = fill_slots,
	.known_flags = RNOTIFY_SLOTS_EVENT,
	.out = { OFF(rnotify_slots_create, slots_id),
		 SPAN(rnotify_slots_create, mmap_offset, mmap_size) });
VARIANT(slots_take, SLOTS_TAKE, rnotify_slots_take,
	.fill = fill_take,
	.out = { SPAN(rnotify_slots_take, taken, ended_error) });
VARIANT(generation_create, GENERATION_CREATE, rnotify_generation_create,
	.out = { OFF(rnotify_generation_create, generation_id) });
VARIANT(generation_set, GENERATION_SET, rnotify_generation_set,
	.fill = fill_generation_set,
	.known_flags = RNOTIFY_GENERATION_GET,
	.out = { SPAN(rnotify_generation_set, value, stale) });

FIXTURE_SETUP(abi)
{
	rnt_init(&self->c, 1 << 16, 0);
	rnt_pair_open(&self->p, &self->c, &self->c, NULL, NULL);
	rnt_region_user(&self->c, &self->region, rnt_anon(RNT_PAGE), RNT_PAGE,
			0);
	rnt_counter_open(&self->c, &self->counter);
	rnt_slots_open(&self->c, &self->slots, 1, 0, 0);
	self->fresh = rnt_open();
	self->arg = rnt_anon(sizeof(union arg));
	self->before = rnt_anon(sizeof(union arg));
}

FIXTURE_TEARDOWN(abi)
{
	close(self->fresh);
	rnt_close(&self->c);
}

/* A valid argument; what lies behind it and the outputs are 0xA5. */
static void prepare(FIXTURE_DATA(abi) *self, const FIXTURE_VARIANT(abi) *v)
{
	union arg *arg = self->arg;

	memset(arg, 0xa5, sizeof(*arg));
	memset(arg, 0, v->size);
	if (v->fill)
		v->fill(self, arg);
	arg->size = v->size;
	for (unsigned int i = 0; i < ARRAY_SIZE(v->out); i++)
		if (v->cmd != RNOTIFY_IOCTL_LISTEN || !i)
			memset(arg->bytes + v->out[i].off, 0xa5, v->out[i].len);
}

static int call(FIXTURE_DATA(abi) *self, const FIXTURE_VARIANT(abi) *v,
		void *arg)
{
	int ret = rnt_ioctl(v->fresh ? self->fresh : self->c.fd, v->cmd, arg);

	/* leave no more objects behind than the ring and the limits can take */
	if (!ret && (v->cmd == RNOTIFY_IOCTL_SHARE ||
		     v->cmd == RNOTIFY_IOCTL_CONNECT ||
		     v->cmd == RNOTIFY_IOCTL_LISTEN ||
		     v->cmd == RNOTIFY_IOCTL_COUNTER_CREATE ||
		     v->cmd == RNOTIFY_IOCTL_COUNTER_WATCH ||
		     v->cmd == RNOTIFY_IOCTL_SLOTS_CREATE ||
		     v->cmd == RNOTIFY_IOCTL_GENERATION_CREATE ||
		     v->cmd == RNOTIFY_IOCTL_REGISTER)) {
		__u32 id;

		memcpy(&id, (char *)arg + v->out[0].off, sizeof(id));
		rnt_check(id);
		rnt_destroy(&self->c, id);
	}
	return ret;
}

/* Prepare, change, call; a failure must not have written anything. */
static int call_bad(FIXTURE_DATA(abi) *self, const FIXTURE_VARIANT(abi) *v)
{
	int ret;

	*self->before = *self->arg;
	ret = call(self, v, self->arg);
	if (ret && memcmp(self->before, self->arg, sizeof(union arg)))
		rnt_fail("command %#lx failed with %d, and wrote", v->cmd, ret);
	return ret;
}

/* FAULTS 44: the outputs, and nothing but the outputs, are written. */
TEST_F(abi, exact)
{
	union arg *arg = self->arg, *before = self->before;

	prepare(self, variant);
	*before = *arg;
	ASSERT_EQ(0, call(self, variant, arg));
	for (unsigned int i = 0; i < ARRAY_SIZE(variant->out); i++)
		memcpy(before->bytes + variant->out[i].off,
		       arg->bytes + variant->out[i].off, variant->out[i].len);
	for (size_t i = 0; i < sizeof(*arg); i++) {
		ASSERT_EQ(before->bytes[i], arg->bytes[i])
			TH_LOG("byte %zu of %zu", i, variant->size);
	}
}

/* An argument anywhere in memory, at any alignment. */
TEST_F(abi, unaligned)
{
	for (unsigned int i = 1; i < 8; i++) {
		unsigned char buf[sizeof(union arg) + 8];

		prepare(self, variant);
		memcpy(buf + i, self->arg, variant->size);
		ASSERT_EQ(0, call(self, variant, buf + i));
	}
}

/* The argument may be the last thing before a hole. */
TEST_F(abi, at_end_of_memory)
{
	char *page = mmap(NULL, 2 * RNT_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *arg = page + RNT_PAGE - variant->size;

	ASSERT_EQ(0, munmap(page + RNT_PAGE, RNT_PAGE));
	prepare(self, variant);
	memcpy(arg, self->arg, variant->size);
	ASSERT_EQ(0, call(self, variant, arg));
}

TEST_F(abi, shorter)
{
	const size_t first = variant->first ? variant->first : variant->size;

	for (size_t size = 0; size < first; size++) {
		prepare(self, variant);
		self->arg->size = size;
		ASSERT_EQ(-EINVAL, call_bad(self, variant))
			TH_LOG("size %zu of %zu", size, variant->size);
	}
}

/* A program that knows less goes on, and what it does not know is not written. */
TEST_F(abi, of_old)
{
	union arg *arg = self->arg, *before = self->before;

	if (!variant->first)
		return;
	for (size_t size = variant->first; size < variant->size; size++) {
		prepare(self, variant);
		arg->size = size;
		*before = *arg;
		ASSERT_EQ(0, call(self, variant, arg));
		ASSERT_EQ(size, arg->size);
		ASSERT_EQ(0, memcmp(arg->bytes + size, before->bytes + size,
				    sizeof(*arg) - size));
	}
}

TEST_F(abi, longer_zero)
{
	static const size_t more[] = { 1, 2, 7, 8, 64, 1000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++) {
		unsigned char *tail;

		prepare(self, variant);
		tail = self->arg->bytes + variant->size;
		self->arg->size = variant->size + more[i];
		memset(tail, 0, more[i]);
		ASSERT_EQ(0, call(self, variant, self->arg))
			TH_LOG("%zu more", more[i]);
		ASSERT_EQ(variant->size + more[i], self->arg->size);
		ASSERT_EQ(-1, rnt_diff_byte(tail, more[i], 0));
		ASSERT_EQ(-1, rnt_diff_byte(tail + more[i], 1000, 0xa5));
	}
}

TEST_F(abi, longer_dirty)
{
	static const size_t more[] = { 1, 2, 7, 8, 64, 1000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(more); i++) {
		unsigned char *tail;

		for (size_t at = 0; at < more[i]; at = at * 3 + 1) {
			prepare(self, variant);
			tail = self->arg->bytes + variant->size;
			self->arg->size = variant->size + more[i];
			memset(tail, 0, more[i]);
			tail[at] = 1;
			ASSERT_EQ(-E2BIG, call_bad(self, variant))
				TH_LOG("%zu more, at %zu", more[i], at);
		}
	}
}

/* Larger than a page: not looked through, even if it is all zero, or not there. */
TEST_F(abi, huge)
{
	static const __u32 sizes[] = {
		RNT_PAGE + 1, RNT_PAGE + 8, 1u << 20, 0x7fffffff, 0x80000000,
		0xfffffff8, 0xffffffff,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		prepare(self, variant);
		memset(self->arg->bytes + variant->size, 0,
		       sizeof(*self->arg) - variant->size);
		self->arg->size = sizes[i];
		EXPECT_EQ(-E2BIG, call_bad(self, variant))
			TH_LOG("size %#x", sizes[i]);
	}
}

TEST_F(abi, unknown_flags)
{
	for (unsigned int bit = 0; bit < 32; bit++) {
		if (variant->known_flags & 1u << bit)
			continue;
		prepare(self, variant);
		self->arg->flags = 1u << bit;
		ASSERT_EQ(-EOPNOTSUPP, call_bad(self, variant))
			TH_LOG("bit %u", bit);
	}
	prepare(self, variant);
	self->arg->flags = ~0u;
	ASSERT_EQ(-EOPNOTSUPP, call_bad(self, variant));
}

TEST_F(abi, reserved)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(variant->reserved); i++) {
		const struct range *r = &variant->reserved[i];

		for (size_t at = r->off; at < r->off + r->len; at++) {
			prepare(self, variant);
			self->arg->bytes[at] = 0x80;
			ASSERT_EQ(-EOPNOTSUPP, call_bad(self, variant))
				TH_LOG("byte %zu", at);
		}
	}
}

TEST_F(abi, bad_pointers)
{
	char *end = (char *)rnt_anon(2 * RNT_PAGE) + RNT_PAGE;
	void *bad[] = {
		NULL, (void *)1, (void *)-1, (void *)-4096,
		(void *)(~0ul >> 1), end,
	};
	size_t left[] = { 1, 4, variant->size - 1 };

	ASSERT_EQ(0, munmap(end, RNT_PAGE));
	prepare(self, variant);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EFAULT, call(self, variant, bad[i]))
			TH_LOG("pointer %p", bad[i]);
	}
	/* only so many bytes before the hole */
	for (unsigned int i = 0; i < ARRAY_SIZE(left); i++) {
		memcpy(end - left[i], self->arg, left[i]);
		EXPECT_EQ(-EFAULT, call(self, variant, end - left[i]))
			TH_LOG("%zu bytes", left[i]);
	}
}

/*
 * Commands with outputs can't write them into read-only memory: EFAULT, and
 * nothing is made whose id nobody would know. The others don't mind.
 */
TEST_F(abi, read_only_argument)
{
	void *page = rnt_anon(RNT_PAGE);
	long long pin = rnt_vmpin_kib();

	prepare(self, variant);
	memcpy(page, self->arg, RNT_PAGE);
	ASSERT_EQ(0, mprotect(page, RNT_PAGE, PROT_READ));
	pin = rnt_vmpin_kib();
	ASSERT_EQ(variant->out[0].len ? -EFAULT : 0, call(self, variant, page));
	if (variant->cmd != RNOTIFY_IOCTL_DESTROY) {
		ASSERT_EQ(pin, rnt_vmpin_kib());
	}
}

TEST_F(abi, before_setup)
{
	int fd = rnt_open(), ret;

	prepare(self, variant);
	*self->before = *self->arg;
	ret = rnt_ioctl(fd, variant->cmd, self->arg);
	ASSERT_EQ(variant->fresh ? 0 : -EBADFD, ret);
	if (ret) {
		ASSERT_EQ(0, memcmp(self->arg, self->before,
				    sizeof(*self->arg)));
	}
	close(fd);
}

TEST_HARNESS_MAIN
