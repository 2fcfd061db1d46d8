// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - where `recv` puts what it gets.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "output.h"
#include "stop.h"

static bool open_direct(struct output *out)
{
	out->fd = open(out->final, O_WRONLY | O_CLOEXEC);
	/* A FIFO waits for its reader; who is asked to stop meanwhile, stops. */
	if (out->fd < 0 && !stop_asked())
		fail("%s: %s", out->final, strerror(errno));
	return out->fd >= 0;
}

/* Is it still what the path leads to? */
static bool same_file(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !stat(path, &there) &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/*
 * The unfinished file belongs to one process: others neither write nor remove
 * it. A file descriptor or a negative errno.
 */
static int open_locked(const char *path)
{
	int fd;

	for (;;) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (fd < 0)
			return -errno;
		/* Some file systems have no locks. */
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			close(fd);
			return -EWOULDBLOCK;
		}
		if (same_file(fd, path))
			break;
		/* Finished or removed by its owner meanwhile */
		close(fd);
	}
	if (ftruncate(fd, 0)) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

static bool open_part(struct output *out, const struct stat *old)
{
	if (snprintf(out->part, sizeof(out->part), "%s.part", out->final) >=
	    (int)sizeof(out->part)) {
		out->part[0] = '\0';
		fail("%s: %s", out->final, strerror(ENAMETOOLONG));
		return false;
	}
	out->fd = open_locked(out->part);
	if (out->fd < 0) {
		fail("%s: %s", out->part, out->fd == -EWOULDBLOCK ?
		     "another process writes it" : strerror(-out->fd));
		out->part[0] = '\0';
		return false;
	}
	/* What replaces a private file stays private. */
	if (old && fchmod(out->fd, old->st_mode & 07777))
		fail("%s: can't give it the mode of %s: %s", out->part,
		     out->final, strerror(errno));
	return true;
}

bool output_open(struct output *out, const char *path)
{
	struct stat st;
	bool exists;

	*out = (struct output){ .fd = -1 };
	if (!path)
		return true;
	if (!strcmp(path, "-")) {
		out->fd = STDOUT_FILENO;
		return stream_usable(STDOUT_FILENO);
	}
	if (strlen(path) >= sizeof(out->final)) {
		fail("%s: %s", path, strerror(ENAMETOOLONG));
		return false;
	}
	exists = !stat(path, &st);
	if (!exists && !lstat(path, &st)) {
		fail("%s: a symbolic link that leads nowhere", path);
		return false;
	}
	/* A symbolic link stays one: its target is what is replaced. */
	if (!exists || !realpath(path, out->final))
		snprintf(out->final, sizeof(out->final), "%s", path);
	if (exists && S_ISDIR(st.st_mode)) {
		fail("%s: %s", path, strerror(EISDIR));
		return false;
	}
	if (exists && !S_ISREG(st.st_mode))
		return open_direct(out);
	return open_part(out, exists ? &st : NULL);
}

static const char *output_name(const struct output *out)
{
	if (*out->part)
		return out->part;
	return *out->final ? out->final : "standard output";
}

/* Somebody who shares standard output with us wants nobody to wait for it. */
static void await_reader(int fd)
{
	struct pollfd fds[2] = {
		{ .fd = fd, .events = POLLOUT },
		{ .fd = stop_catch(), .events = POLLIN },
	};

	poll(fds, ARRAY_SIZE(fds), -1);
}

bool output_write(struct output *out, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	if (out->fd < 0)
		return true;
	while (len) {
		n = write(out->fd, p, len);
		if (n < 0 && errno == EAGAIN) {
			await_reader(out->fd);
		} else if (n < 0 && errno != EINTR) {
			fail("writing %s: %s", output_name(out),
			     strerror(errno));
			return false;
		}
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
		/* A pipe that nobody reads keeps nobody from stopping. */
		if (len && stop_asked())
			return false;
	}
	return true;
}

static void output_close(struct output *out)
{
	if (out->fd > STDERR_FILENO)
		close(out->fd);
	*out = (struct output){ .fd = -1 };
}

/* The name, too. Some file systems can't, and know why. */
static bool sync_directory(const char *path)
{
	char copy[PATH_MAX];
	int fd, ret;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES;
	ret = fsync(fd) && errno != EINVAL ? errno : 0;
	close(fd);
	errno = ret;
	return !ret;
}

bool output_commit(struct output *out)
{
	bool good = true;

	/* The sender is told that its file is safe, so it had better be. */
	if (*out->part && (fsync(out->fd) || rename(out->part, out->final) ||
			   !sync_directory(out->final))) {
		fail("finishing %s: %s", out->final, strerror(errno));
		unlink(out->part);
		good = false;
	}
	output_close(out);
	return good;
}

void output_discard(struct output *out)
{
	if (*out->part)
		unlink(out->part);
	output_close(out);
}
