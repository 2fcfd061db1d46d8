// SPDX-License-Identifier: GPL-2.0
/*
 * A context belongs to the open file, not to a descriptor or a process: it ends
 * with the last reference, wherever that is (FAULTS 25, 31).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "rnt.h"

FIXTURE(fds)
{
	struct rnt_ctx a;
	struct rnt_ctx b;
	struct rnt_pair p;
	struct rnt_base base;
	int sock[2];
};

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

FIXTURE_SETUP(fds)
{
	rnt_base_read(&self->base);
	rnt_init(&self->a, 512, 0);
	rnt_init(&self->b, 512, 0);
	rnt_pair_open(&self->p, &self->a, &self->b, &params, &params);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, self->sock));
}

FIXTURE_TEARDOWN(fds)
{
	rnt_close(&self->a);
	if (self->b.fd >= 0)
		rnt_close(&self->b);
	EXPECT_TRUE(rnt_base_back(&self->base));
}

/* It is alive: something new goes through from a to whoever has c. */
static void alive(FIXTURE_DATA(fds) *self, struct rnt_ctx *c, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(self->p.ea, imm);

	rnt_post1(&self->a, &op);
	rnt_expect_imms(c, self->p.eb, imm, 1);
}

/* Forget b without unmapping anything: somebody else closed it, or will. */
static void forget_b(FIXTURE_DATA(fds) *self)
{
	self->b.fd = -1;
}

TEST_F(fds, P10_dup)
{
	int fd = dup(self->b.fd);
	struct rnt_ctx copy;

	ASSERT_LE(0, fd);
	copy = self->b;
	copy.fd = fd;
	ASSERT_EQ(0, close(self->b.fd));
	alive(self, &copy, 1);
	alive(self, &copy, 2);
	rnt_close(&copy);
	forget_b(self);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
}

/* A child that inherits it, and does nothing with it, keeps it as well. */
TEST_F(fds, P10_fork)
{
	char c = 0;
	pid_t pid = rnt_fork();

	if (!pid) {
		/* its mappings hold the file, too: none of them is touched */
		rnt_check_eq(1, read(self->sock[1], &c, 1));
		_exit(0);
	}
	alive(self, &self->b, 1);
	rnt_close(&self->b);
	forget_b(self);
	rnt_expect_none(&self->a, self->p.ea, 20);
	ASSERT_EQ(1, write(self->sock[0], &c, 1));
	rnt_join(pid);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
}

/* exec() does not inherit it: the fd is close-on-exec, mappings go anyway. */
TEST_F(fds, P10_exec)
{
	pid_t pid = rnt_fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exec sleep 1000", NULL);
		_exit(1);
	}
	alive(self, &self->b, 1);
	rnt_close(&self->b);
	forget_b(self);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
	ASSERT_EQ(0, waitpid(pid, NULL, WNOHANG));
	rnt_kill(pid);
}

/* The receiver of the fd: maps what it got, and answers what it hears. */
static void heir(struct rnotify_setup setup, __u32 endpoint, int sock)
{
	struct rnt_ctx c = { .setup = setup };
	struct rnotify_event ev;

	c.fd = rnt_receive_fd(sock);
	rnt_map(&c);
	c.cons = c.tail->cons;
	for (;;) {
		struct rnotify_op op;

		rnt_expect(&c, endpoint, RNOTIFY_EVENT_NOTIFY, &ev);
		if (!ev.notify.imm)
			break;
		op = rnt_op_notify(endpoint, ~ev.notify.imm);
		rnt_post1(&c, &op);
	}
	/* ends without a close of its own */
	_exit(0);
}

TEST_F(fds, P10_scm_rights)
{
	struct rnotify_op op;
	pid_t pid;

	pid = rnt_fork();
	if (!pid) {
		struct rnotify_setup setup = self->b.setup;

		/* what it inherited does not count */
		rnt_close(&self->a);
		rnt_close(&self->b);
		heir(setup, self->p.eb, self->sock[1]);
	}
	rnt_send_fd(self->sock[0], self->b.fd);
	rnt_close(&self->b);
	forget_b(self);
	for (__u32 i = 1; i < 20; i++) {
		op = rnt_op_notify(self->p.ea, i);
		rnt_post1(&self->a, &op);
		rnt_expect_imms(&self->a, self->p.ea, ~i, 1);
	}
	op = rnt_op_notify(self->p.ea, 0);
	rnt_post1(&self->a, &op);
	rnt_join(pid);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
}

/* On its way through a socket, in nobody's hands: it is held by the message. */
TEST_F(fds, P10_scm_rights_under_way)
{
	rnt_send_fd(self->sock[0], self->b.fd);
	rnt_close(&self->b);
	forget_b(self);
	rnt_expect_none(&self->a, self->p.ea, 20);
	close(self->sock[0]);
	close(self->sock[1]);
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, NULL);
}

/* Through /proc, a second open is a second context, not this one. */
TEST_F(fds, open_again)
{
	struct rnt_ctx c = { 0 };
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->b.fd);
	c.fd = open(path, O_RDWR);
	ASSERT_LE(0, c.fd);
	ASSERT_EQ(-EBADFD, rnt_wait(&c, 1, 0, 0, NULL));
	ASSERT_EQ(-EBADFD, rnt_destroy_err(&c, self->p.eb));
	close(c.fd);
	alive(self, &self->b, 1);
}

/*
 * ---- without the last reference ---------------------------------------------
 */

static int destroy_all(const struct rnt_ctx *c, __u32 id)
{
	struct rnotify_destroy arg = {
		.size = sizeof(arg), .flags = RNOTIFY_DESTROY_ALL, .id = id,
	};

	return rnt_ioctl(c->fd, RNOTIFY_IOCTL_DESTROY, &arg);
}

/* A duplicate and the mappings are there, and all the same nothing is left. */
TEST_F(fds, P4_destroy_all)
{
	struct rnotify_event ev;
	struct rnt_region mem;
	struct rnotify_op op;
	struct rnt_pair p;
	__u32 remote;
	int fd = dup(self->b.fd);

	rnt_region_alloc(&self->b, &mem, RNT_PAGE);
	remote = rnt_grant(&self->p, mem.id, 0, 0, RNOTIFY_RIGHT_WRITE, NULL);
	ASSERT_EQ(-EINVAL, destroy_all(&self->b, mem.id));
	op = rnt_op_inline(RNOTIFY_OP_WRITE_IMM, self->p.ea, "x", remote, 0, 1);
	rnt_post1(&self->a, &op);
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	ASSERT_EQ('x', mem.p[0]);

	ASSERT_EQ(0, destroy_all(&self->b, 0));
	rnt_down(&self->a, self->p.ea, RNOTIFY_REASON_PEER_EXIT, &ev);
	ASSERT_NE(0, rnt_try(&self->a, &op));
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, mem.id));
	ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b, self->p.eb));
	ASSERT_EQ(0, destroy_all(&self->b, 0));
	/* its last event can still be read */
	rnt_expect(&self->b, self->p.eb, RNOTIFY_EVENT_DISCONNECTED, NULL);
	munmap(mem.p, RNT_PAGE);
	/* and it can be used again */
	rnt_pair_open(&p, &self->a, &self->b, NULL, NULL);
	rnt_destroy(&self->b, p.eb);
	rnt_down(&self->a, p.ea, RNOTIFY_REASON_PEER_CLOSE, NULL);
	close(fd);
}

#define NR_OBJECTS	200u

/**
 * struct crowd - threads that end the same objects
 * @c: context of the objects
 * @id: of each
 */
struct crowd {
	struct rnt_ctx *c;
	__u32 id[NR_OBJECTS];
};

static void *end_all(void *arg)
{
	struct crowd *crowd = arg;

	return (void *)(long)destroy_all(crowd->c, 0);
}

static void *end_each(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned int i = 0; i < NR_OBJECTS; i++) {
		int ret = rnt_destroy_err(crowd->c, crowd->id[i]);

		rnt_check(ret == 0 || ret == -ENOENT);
	}
	return NULL;
}

/* Whoever comes first ends it, once. */
TEST_F(fds, P10_destroy_all_at_once)
{
	struct crowd crowd = { .c = &self->b };
	struct rnt_thread t[3];

	for (unsigned int round = 0; round < rnt_count(20); round++) {
		for (unsigned int i = 0; i < NR_OBJECTS; i++)
			crowd.id[i] = rnt_generation(&self->b, i);
		rnt_thread_start(&t[0], end_each, &crowd);
		rnt_thread_start(&t[1], end_all, &crowd);
		rnt_thread_start(&t[2], end_all, &crowd);
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(NULL, rnt_thread_join(&t[i]));
		for (unsigned int i = 0; i < NR_OBJECTS; i++)
			ASSERT_EQ(-ENOENT, rnt_destroy_err(&self->b,
							   crowd.id[i]));
	}
}

TEST_HARNESS_MAIN
