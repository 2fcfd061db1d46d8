// SPDX-License-Identifier: GPL-2.0
/*
 * The module is unloaded and loaded again (P10, FAULTS 31): refused as long as
 * anything is open, possible at once when nothing is, with and without an RDMA
 * device, also while somebody opens it again and again. 200 cycles with
 * RNOTIFY_LONG, else 20.
 *
 * rvm: limit=200 debug_long=1
 */
#include <liburing.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE(unload)
{
	struct rnt_base base;
};

FIXTURE_SETUP(unload)
{
	/* a test that failed may have left none */
	if (!rnt_module_is_there())
		rnt_module_load();
	if (!rnt_link_is_there())
		rnt_link_add();
	rnt_base_read(&self->base);
}

FIXTURE_TEARDOWN(unload)
{
	if (!rnt_module_is_there())
		rnt_module_load();
	if (!rnt_link_is_there())
		rnt_link_add();
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* The last reference to a file may be dropped by a worker: so there is patience. */
static void unload_soon(void)
{
	uint64_t deadline = rnt_deadline(RNT_PATIENCE_MS);
	int ret;

	while ((ret = rnt_module_unload())) {
		rnt_check_eq(-EWOULDBLOCK, ret);
		if (!rnt_left_ms(deadline))
			rnt_fail("the module is in use by nobody");
		rnt_sleep_us(1000);
	}
	rnt_check(!rnt_module_is_there());
	rnt_check(access("/dev/rnotify", F_OK));
}

/* A connection of which everything is used once. */
static void use(void)
{
	struct rnt_region src, dst;
	struct rnt_ctx a, b;
	struct rnotify_op op;
	struct rnt_pair p;

	rnt_init(&a, 512, 256);
	rnt_init(&b, 512, 256);
	rnt_pair_open(&p, &a, &b, &params, &params);
	rnt_region_user(&a, &src, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	rnt_region_user(&b, &dst, rnt_anon(RNT_PAGE), RNT_PAGE, 0);
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, p.ea, src.id, 0,
		       rnt_grant(&p, dst.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL),
		       0, RNT_PAGE);
	rnt_post1(&a, &op);
	rnt_expect(&b, p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	rnt_close(&a);
	rnt_close(&b);
}

/*
 * ---- in use ----------------------------------------------------------------
 */

/* Ways to hold a context that was set up; what is not held is given up. */
static void hold_fd(struct rnt_ctx *c)
{
	munmap((void *)c->head, c->setup.ring_size);
	munmap(c->tail, c->setup.cons_size);
}

static void hold_ring(struct rnt_ctx *c)
{
	munmap(c->tail, c->setup.cons_size);
	close(c->fd);
}

static void hold_tail(struct rnt_ctx *c)
{
	munmap((void *)c->head, c->setup.ring_size);
	close(c->fd);
}

static void hold_region(struct rnt_ctx *c)
{
	struct rnt_region r;

	rnt_region_alloc(c, &r, RNT_PAGE);
	hold_fd(c);
	close(c->fd);
}

static void hold_message(struct rnt_ctx *c)
{
	int sock[2];

	rnt_check_eq(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock));
	rnt_send_fd(sock[0], c->fd);
	hold_fd(c);
	close(c->fd);
}

static void hold_uring(struct rnt_ctx *c)
{
	struct io_uring uring;

	rnt_check_eq(0, io_uring_queue_init(8, &uring, 0));
	io_uring_prep_poll_add(io_uring_get_sqe(&uring), c->fd, POLLIN);
	rnt_check_eq(1, io_uring_submit(&uring));
	hold_fd(c);
	close(c->fd);
}

static void hold_registered(struct rnt_ctx *c)
{
	struct io_uring uring;

	rnt_check_eq(0, io_uring_queue_init(8, &uring, 0));
	rnt_check_eq(0, io_uring_register_files(&uring, &c->fd, 1));
	hold_fd(c);
	close(c->fd);
}

static void (* const holds[])(struct rnt_ctx *c) = {
	hold_fd, hold_ring, hold_tail, hold_region, hold_message, hold_uring,
	hold_registered,
};

/* Never returns: what it holds goes with it. */
static void holder(unsigned int i, int tell)
{
	struct rnt_ctx c;
	char byte = 0;

	rnt_init(&c, 512, 0);
	holds[i](&c);
	rnt_check(write(tell, &byte, 1) == 1);
	for (;;)
		pause();
}

TEST_F(unload, P10_refused_while_in_use)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(holds); i++) {
		int fds[2];
		char byte;
		pid_t pid;

		ASSERT_EQ(0, pipe(fds));
		pid = rnt_fork();
		if (!pid)
			holder(i, fds[1]);
		ASSERT_EQ(1, read(fds[0], &byte, 1));
		for (int j = 0; j < 3; j++)
			ASSERT_EQ(-EWOULDBLOCK, rnt_module_unload())
				TH_LOG("hold %u", i);
		/* nothing was taken away by the attempt */
		use();
		rnt_kill(pid);
		unload_soon();
		rnt_module_load();
		close(fds[0]);
		close(fds[1]);
	}
}

/* An eventfd holds nothing of ours, and is as good as any without us. */
TEST_F(unload, P10_eventfd_outlives_it)
{
	struct rnotify_eventfd arg = { .size = sizeof(arg) };
	struct rnt_ctx c;
	uint64_t n = 3;

	rnt_init(&c, 512, 0);
	arg.fd = eventfd(0, EFD_NONBLOCK);
	ASSERT_EQ(0, rnt_ioctl(c.fd, RNOTIFY_IOCTL_EVENTFD, &arg));
	ASSERT_EQ(-EWOULDBLOCK, rnt_module_unload());
	rnt_close(&c);
	unload_soon();
	ASSERT_EQ(8, write(arg.fd, &n, 8));
	n = 0;
	ASSERT_EQ(8, read(arg.fd, &n, 8));
	ASSERT_EQ(3, n);
	close(arg.fd);
	rnt_module_load();
}

/*
 * ---- again and again -------------------------------------------------------
 */

static unsigned int cycles(void)
{
	return getenv("RNOTIFY_LONG") ? 200 : 20;
}

/* Right after the last close, whatever RCU and the workqueue still have. */
TEST_F_TIMEOUT(unload, P10_cycles, RNT_TIMEOUT(180))
{
	for (unsigned int i = 0; i < cycles(); i++) {
		if (i % 4 == 3)
			use();
		unload_soon();
		if (i % 4 == 1)
			ASSERT_EQ(-ENOENT, rnt_module_unload());
		rnt_module_load();
	}
	use();
}

static unsigned int nr_devices(void)
{
	struct rnotify_query q = { .size = sizeof(q) };
	int fd = rnt_open();

	rnt_check_eq(0, rnt_ioctl(fd, RNOTIFY_IOCTL_QUERY, &q));
	close(fd);
	return q.nr_devices;
}

TEST_F_TIMEOUT(unload, P10_device_comes_and_goes, RNT_TIMEOUT(60))
{
	for (unsigned int i = 0; i < cycles() / 5; i++) {
		unload_soon();
		rnt_link_delete();
		rnt_module_load();
		ASSERT_EQ(0, nr_devices());
		rnt_link_add();
		ASSERT_EQ(1, nr_devices());
		use();
		rnt_link_delete();
		unload_soon();
		rnt_link_add();
		rnt_module_load();
		ASSERT_EQ(1, nr_devices());
	}
}

/* Opens it whenever it is there, and asks for a connection that nobody takes. */
static void hammer(void)
{
	for (unsigned int n = 0;; n++) {
		struct rnotify_setup setup = {
			.size = sizeof(setup), .ring_entries = 512,
		};
		struct rnotify_connect arg = { .size = sizeof(arg) };
		int fd = open("/dev/rnotify", O_RDWR | O_CLOEXEC);

		if (fd < 0) {
			rnt_check(errno == ENOENT || errno == ENXIO ||
				  errno == ENODEV);
			rnt_sleep_us(200);
			continue;
		}
		rnt_check_eq(0, rnt_ioctl(fd, RNOTIFY_IOCTL_SETUP, &setup));
		rnt_addr(&arg.dst, rnt_addr4(), 1);
		if (n % 2)
			rnt_ioctl(fd, RNOTIFY_IOCTL_CONNECT, &arg);
		close(fd);
		rnt_sleep_us(n % 7 * 300);
	}
}

TEST_F_TIMEOUT(unload, P10_while_it_is_opened, RNT_TIMEOUT(60))
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = rnt_fork();
		if (!pid[i])
			hammer();
	}
	for (unsigned int i = 0; i < cycles() / 2; i++) {
		unload_soon();
		rnt_module_load();
	}
	for (int i = 0; i < 2; i++)
		rnt_kill(pid[i]);
}

TEST_HARNESS_MAIN
