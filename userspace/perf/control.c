// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - the channel beside the measured one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

struct greeting {
	char magic[8];
	uint32_t run_size;
	uint32_t result_size;
	char version[16];
};

int control_send(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail("to the other end: %s", strerror(errno));
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int control_recv_first(int fd, void *data, size_t len)
{
	size_t have = 0;
	ssize_t n;

	while (have < len) {
		n = recv(fd, (char *)data + have, len - have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail("from the other end: %s", strerror(errno));
		if (!n)
			return have ? fail("the other end has gone") : -1;
		have += (size_t)n;
	}
	return 0;
}

int control_recv(int fd, void *data, size_t len)
{
	int ret = control_recv_first(fd, data, len);

	return ret < 0 ? fail("the other end has gone") : ret;
}

int control_greet(int fd)
{
	struct greeting mine = {
		.magic = "rnperf1",
		.run_size = sizeof(struct run),
		.result_size = sizeof(struct end_result),
	};
	struct greeting yours;

	snprintf(mine.version, sizeof(mine.version), "%s", rnotify_version());
	if (control_send(fd, &mine, sizeof(mine)) ||
	    control_recv(fd, &yours, sizeof(yours)))
		return EXIT_FAILED;
	if (memcmp(&mine, &yours, sizeof(mine)))
		return fail("the other end is not rnotify-perf %s",
			    rnotify_version());
	return 0;
}

int control_listen(const union address *addr)
{
	int fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0 &&
	    !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, &addr->sa, address_len(addr)) && !listen(fd, 8))
		return fd;
	fail("listening at port %u: %s", address_port(addr), strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int control_connect(const union address *addr)
{
	int fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !connect(fd, &addr->sa, address_len(addr)))
		return fd;
	fail("connecting to 'rnotify perf --server' at port %u: %s",
	     address_port(addr), strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- watching ---- */

static struct {
	pthread_t thread;
	int fd;
	int stop[2];
	bool on;
} guard;

static void *guard_main(void *arg)
{
	struct pollfd p[2] = {
		{ .fd = guard.fd, .events = POLLRDHUP },
		{ .fd = guard.stop[0], .events = POLLIN },
	};

	(void)arg;
	while (poll(p, 2, -1) < 0)
		;
	if (p[1].revents)
		return NULL;
	fail("the other end has gone");
	_exit(EXIT_FAILED);
}

int control_guard(int fd)
{
	guard.fd = fd;
	if (pipe(guard.stop))
		return fail("pipe: %s", strerror(errno));
	if (pthread_create(&guard.thread, NULL, guard_main, NULL))
		return fail("no thread");
	guard.on = true;
	return 0;
}

void control_unguard(void)
{
	if (!guard.on)
		return;
	guard.on = false;
	close(guard.stop[1]);
	pthread_join(guard.thread, NULL);
	close(guard.stop[0]);
}
