// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The library's calls against a kernel that the test plays: what it asks for,
 * what it makes of the answers, what it frees.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rnotify/rnotify.h>
#include <rnotify/uring.h>

#include "fake.h"
#include "tap.h"

static struct rnotify *open_plain(void)
{
	const struct rnotify_attr attr = { .ring_entries = 8 };
	struct rnotify *ctx;

	fake_reset();
	if (rnotify_open(&ctx, &attr))
		abort();
	return ctx;
}

static void check_setup(uint32_t entries, uint32_t msg_size, uint32_t want_entries,
			uint32_t want_msg_size)
{
	const struct rnotify_attr attr = {
		.ring_entries = entries,
		.msg_size = msg_size,
	};
	struct rnotify *ctx = NULL;

	fake_reset();
	CHECK(!rnotify_open(&ctx, &attr));
	CHECK(fake.setup.ring_entries == want_entries);
	CHECK(fake.setup.msg_size == want_msg_size);
	rnotify_close(ctx);
}

static void opening(void)
{
	struct rnotify_attr attr = { .flags = 1u << 31 };
	struct rnotify *ctx;

	check_setup(0, 0, 1024, 0);
	check_setup(1, 1, 8, 256);
	check_setup(9, 257, 16, 320);
	check_setup(1024, 256, 1024, 256);
	fake_reset();
	CHECK(rnotify_open(&ctx, &attr) == -EINVAL && !ctx);
	attr = (struct rnotify_attr){ .reserved = { 0, 0, 0, 0, 1 } };
	CHECK(rnotify_open(&ctx, &attr) == -EINVAL && !ctx);
	/* Beyond the largest: the kernel's errno, not a smaller ring. */
	attr = (struct rnotify_attr){ .ring_entries = RNOTIFY_RING_MAX + 1 };
	CHECK(rnotify_open(&ctx, &attr) == -EINVAL && !ctx);
}

static void opening_fails(void)
{
	struct rnotify *ctx;

	fake_reset();
	fake.open_error = EACCES;
	CHECK(rnotify_open(&ctx, NULL) == -EACCES && !ctx);
	fake_reset();
	fake.break_layout = 1;
	CHECK(rnotify_open(&ctx, NULL) == -EPROTONOSUPPORT && !ctx);
	rnotify_close(NULL);
}

static void memory(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_region *a, *b, *c;
	static char bytes[100];
	char text[512];

	CHECK(!rnotify_register(ctx, bytes, sizeof(bytes), 0, &a));
	CHECK(rnotify_region_addr(a) == bytes && rnotify_region_len(a) == 100);
	CHECK(!rnotify_alloc(ctx, 5000, &b));
	memset(rnotify_region_addr(b), 1, 5000);
	CHECK(!rnotify_register_fd(ctx, 0, 4096, 10, 0, &c));
	CHECK(!rnotify_region_addr(c) && rnotify_region_id(c));
	CHECK(rnotify_register(ctx, bytes, 1, RNOTIFY_REGION_ALLOC, &c) ==
	      -EINVAL && !c);
	fake.error = EPERM;
	CHECK(rnotify_register(ctx, bytes, 1, 0, &c) == -EPERM && !c);
	rnotify_explain_errno(ctx, RNOTIFY_CALL_REGISTER, -EPERM, text,
			      sizeof(text));
	CHECK(strstr(text, "would lock 100 KiB") && strstr(text, "leaves 64 KiB"));
	/* What can't be taken back stays; what is gone already is no error. */
	fake.error = EINTR;
	CHECK(rnotify_deregister(a) == -EINTR);
	CHECK(!rnotify_deregister(a));
	fake.error = ENOENT;
	CHECK(!rnotify_deregister(b));
	CHECK(!rnotify_deregister(NULL));
	/* One is left for rnotify_close(), which ASan checks. */
	rnotify_close(ctx);
}

/* Its id may be that of another one here. */
static void memory_of_another_context(void)
{
	struct rnotify *other = open_plain(), *ctx = open_plain();
	struct rnotify_region *region;
	static char bytes[100];
	uint32_t share = 7;

	CHECK(!rnotify_register(ctx, bytes, sizeof(bytes), 0, &region));
	CHECK(!rnotify_share(ctx, 1, region, 0, 0, RNOTIFY_RIGHT_WRITE, 0, NULL));
	CHECK(rnotify_share(other, 1, region, 0, 0, RNOTIFY_RIGHT_WRITE, 0,
			    &share) == -EINVAL && !share);
	rnotify_close(ctx);
	rnotify_close(other);
}

static int destroyed_all(void)
{
	const struct rnotify_destroy *last = (const void *)fake.last;

	return last->flags == RNOTIFY_DESTROY_ALL && !last->id;
}

/* All ends, whoever else has the file; but a child ends only its copy. */
static void close_ends_all(void)
{
	struct rnotify *ctx;
	int status = -1;
	pid_t child;

	CHECK(!rnotify_open(&ctx, NULL));
	child = fork();
	if (!child) {
		rnotify_close(ctx);
		_exit(destroyed_all());
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	rnotify_close(ctx);
	CHECK(destroyed_all());
}

static void posting(void)
{
	static struct rnotify_op ops[5000];
	struct rnotify *ctx = open_plain();

	CHECK(rnotify_post(ctx, ops, 0, 0, 0) == 0);
	CHECK(!fake.calls[RNOTIFY_CMD_POST]);
	CHECK(rnotify_post(ctx, ops, 3, RNOTIFY_POST_NONBLOCK, -1) == 3);
	CHECK(fake.post.op_size == sizeof(ops[0]) && fake.post.timeout_ns == -1);
	CHECK(fake.post.flags == RNOTIFY_POST_NONBLOCK);
	CHECK(rnotify_post(ctx, ops, 5000, 0, 0) == 4096);
	fake.error = EAGAIN;
	CHECK(rnotify_post(ctx, ops, 3, 0, 0) == -EAGAIN);
	rnotify_close(ctx);
}

/* ---- waiting ---- */

static unsigned int step;

static void on_wait(void)
{
	switch (step++) {
	case 0:
		fake_event(RNOTIFY_EVENT_NOTIFY, 1, 1);
		break;
	case 1:
		fake_event(RNOTIFY_EVENT_ESTABLISHED, 2, 2);
		fake_event(RNOTIFY_EVENT_NOTIFY, 1, 3);
		break;
	case 2:
		fake_event(RNOTIFY_EVENT_ESTABLISHED, 7, 4);
		break;
	case 3:
		fake_next()->down.error = -ECONNRESET;
		fake_event(RNOTIFY_EVENT_DISCONNECTED, 7, 5);
		break;
	}
}

static void waiting(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_event event;

	CHECK(rnotify_wait(ctx, 1, 0, 0) == -ETIME);
	CHECK(rnotify_next(ctx, &event, 1) == -ETIME);
	fake.on_wait = on_wait;
	step = 0;
	CHECK(rnotify_wait(ctx, 0, 0, 0) == -ETIME);
	CHECK(rnotify_wait(ctx, 2, RNOTIFY_FOREVER, 0) == 3);
	fake.error = EINTR;
	CHECK(rnotify_wait(ctx, 4, RNOTIFY_FOREVER, 0) == -EINTR);
	/* Enough is there: no system call. */
	fake.error = EIO;
	CHECK(rnotify_wait(ctx, 3, RNOTIFY_FOREVER, 0) == 3);
	CHECK(!rnotify_next(ctx, &event, RNOTIFY_FOREVER) && event.seq == 1);
	CHECK(!rnotify_next(ctx, &event, RNOTIFY_FOREVER) && event.seq == 2);
	CHECK(rnotify_ready(ctx) == 1);
	rnotify_close(ctx);
}

/* Nothing of interest, until the ring is full. */
static void *fill_later(void *arg)
{
	uint64_t seq;

	usleep(20000);
	for (seq = fake.head->prod + 1; seq <= 8; seq++)
		fake_event(RNOTIFY_EVENT_WRITABLE, 9, seq);
	return arg;
}

static void finding(void)
{
	const uint32_t established =
		RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_ESTABLISHED);
	struct rnotify *ctx = open_plain();
	const struct rnotify_event *event;
	pthread_t thread;
	uint64_t i;

	step = 0;
	fake.on_wait = on_wait;
	CHECK(!rnotify_find(ctx, 7, established, RNOTIFY_FOREVER, &event));
	CHECK(event && event->seq == 4);
	CHECK(!rnotify_find(ctx, 2, established, 0, &event));
	CHECK(event && event->seq == 2);
	CHECK(rnotify_find(ctx, 1, established, 0, &event) == -ETIME && !event);
	/* Its end comes before what was waited for. */
	CHECK(rnotify_find(ctx, 7, RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_REMOTE_REGION),
			   RNOTIFY_FOREVER, &event) == -ENOTCONN);
	CHECK(event && event->seq == 5);
	/* An unconsumed end does not keep us from waiting for others. */
	CHECK(rnotify_find(ctx, 99, established, rnotify_deadline(20), &event) ==
	      -ETIME && !event);
	CHECK(!pthread_create(&thread, NULL, fill_later, NULL));
	CHECK(rnotify_find(ctx, 99, established, RNOTIFY_FOREVER, &event) ==
	      -ENOBUFS && !event);
	pthread_join(thread, NULL);
	/* And all are still there, in order. */
	for (i = 1; i <= 8; i++) {
		event = rnotify_peek(ctx);
		CHECK(event && event->seq == i);
		rnotify_release(ctx, 1);
	}
	CHECK(!rnotify_peek(ctx));
	rnotify_close(ctx);
}

static void connecting(void)
{
	const struct rnotify_sockaddr dst = { .family = 2 };
	struct rnotify_endpoint_attr attr = { .private_len = 1 };
	struct rnotify *ctx = open_plain();
	uint32_t endpoint;

	CHECK(rnotify_connect(ctx, &dst, &attr, &endpoint) == -EINVAL);
	fake.error = ENETUNREACH;
	CHECK(rnotify_connect_wait(ctx, &dst, NULL, RNOTIFY_FOREVER, &endpoint) ==
	      -ENETUNREACH && !endpoint);
	fake.on_wait = on_wait;
	step = 0;
	CHECK(!rnotify_connect_wait(ctx, &dst, NULL, RNOTIFY_FOREVER, &endpoint));
	CHECK(endpoint == 7 && rnotify_ready(ctx) == 4);
	rnotify_release(ctx, 4);
	CHECK(rnotify_connect_wait(ctx, &dst, NULL, RNOTIFY_FOREVER, &endpoint) ==
	      -ECONNRESET);
	CHECK(endpoint == 7 && rnotify_peek(ctx)->seq == 5);
	rnotify_close(ctx);
}

/* The kernel's side of these is in selftests/uring_cmd.c. */
static void uring(void)
{
	struct rnotify *ctx = open_plain();
	struct rnotify_uring_wait wait;
	struct rnotify_uring_post post;
	struct io_uring_sqe sqe;
	struct rnotify_op ops[3];

	memset(&sqe, 0xa5, sizeof(sqe));
	rnotify_uring_prep_post(&sqe, ctx, ops, 3);
	CHECK(sqe.opcode == IORING_OP_URING_CMD && sqe.fd == rnotify_fd(ctx));
	CHECK(sqe.cmd_op == RNOTIFY_IOCTL_POST && !sqe.flags && !sqe.user_data);
	memcpy(&post, sqe.cmd, sizeof(post));
	CHECK(post.ops == (uintptr_t)ops && post.nr_ops == 3 && !post.flags);
	memset(&sqe, 0xa5, sizeof(sqe));
	rnotify_uring_prep_wait(&sqe, ctx, 5);
	CHECK(sqe.cmd_op == RNOTIFY_IOCTL_WAIT && !sqe.rw_flags && !sqe.ioprio);
	memcpy(&wait, sqe.cmd, sizeof(wait));
	CHECK(wait.min_events == 5 && !wait.flags && !wait.reserved);
	rnotify_close(ctx);
}

static void deadlines(void)
{
	int64_t soon;

	CHECK(rnotify_deadline(-1) == RNOTIFY_FOREVER);
	CHECK(rnotify_deadline(0) == 0);
	soon = rnotify_deadline(1);
	CHECK(soon > 0 && rnotify_deadline(60000) > soon + 50000000000ll);
	CHECK(rnotify_deadline(0x7fffffff) > soon);
}

int main(void)
{
	return tap_run("opening", opening) +
		tap_run("opening fails cleanly", opening_fails) +
		tap_run("regions", memory) +
		tap_run("a region of another context",
			memory_of_another_context) +
		tap_run("posting", posting) +
		tap_run("waiting", waiting) +
		tap_run("finding consumes nothing", finding) +
		tap_run("connecting", connecting) +
		tap_run("io_uring", uring) +
		tap_run("deadlines", deadlines) +
		tap_run("the end of all", close_ends_all);
}
