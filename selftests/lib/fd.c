// SPDX-License-Identifier: GPL-2.0
/*
 * Selftest helpers: file descriptors in messages.
 */
#include <string.h>
#include <sys/socket.h>

#include "rnt.h"

void rnt_send_fd(int sock, int fd)
{
	char byte = 0, buf[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = buf, .msg_controllen = sizeof(buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	rnt_check_eq(1, sendmsg(sock, &msg, 0));
}

int rnt_receive_fd(int sock)
{
	char byte, buf[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = buf, .msg_controllen = sizeof(buf),
	};
	int fd;

	rnt_check_eq(1, recvmsg(sock, &msg, 0));
	rnt_check(CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}
