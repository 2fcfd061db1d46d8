// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Where `recv` puts what it gets: a pipe that waits for nobody, files, links.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"
#include "tap.h"

#define SIZE 1000000u

/* Reads everything once the writer sleeps for it; is it what it should be? */
static void slow_reader(int fd, pid_t writer)
{
	static char text[512], data[SIZE];
	size_t got = 0;
	ssize_t n = 1;
	FILE *stat;

	do {
		snprintf(text, sizeof(text), "/proc/%d/stat", writer);
		stat = fopen(text, "r");
		if (!stat || !fgets(text, sizeof(text), stat))
			_exit(1);
		fclose(stat);
	} while (!strstr(text, ") S "));
	while (n > 0 && got < SIZE) {
		n = read(fd, data + got, SIZE - got);
		got += n > 0 ? (size_t)n : 0;
	}
	while (got && data[got - 1] == 'x')
		got--;
	_exit(n <= 0 || got || read(fd, text, 1));
}

static void nonblocking(void)
{
	struct output out = { .fd = -1 };
	char *data = malloc(SIZE);
	int fds[2], status = -1;
	pid_t writer = getpid(), pid;

	CHECK(data && !pipe2(fds, O_CLOEXEC));
	CHECK(!fcntl(fds[1], F_SETFL, O_NONBLOCK));
	memset(data, 'x', SIZE);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		slow_reader(fds[0], writer);
	}
	close(fds[0]);
	out.fd = fds[1];
	CHECK(output_write(&out, data, SIZE));
	close(fds[1]);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	free(data);
}

static void whole_files(void)
{
	struct output out;
	struct stat st;

	CHECK(output_open(&out, "file") && output_write(&out, "x", 1));
	CHECK(stat("file", &st) && !stat("file.part", &st));
	CHECK(output_commit(&out));
	CHECK(!stat("file", &st) && st.st_size == 1 && stat("file.part", &st));
	CHECK(output_open(&out, "file") && output_write(&out, "xy", 2));
	output_discard(&out);
	CHECK(!stat("file", &st) && st.st_size == 1 && stat("file.part", &st));
}

static void links(void)
{
	struct output out;
	struct stat st;

	CHECK(!symlink("nothing", "dangling"));
	CHECK(!output_open(&out, "dangling"));
	CHECK(!lstat("dangling", &st) && S_ISLNK(st.st_mode));
	CHECK(!symlink("file", "link"));
	CHECK(output_open(&out, "link") && output_write(&out, "xyz", 3));
	CHECK(output_commit(&out));
	CHECK(!lstat("link", &st) && S_ISLNK(st.st_mode));
	CHECK(!stat("file", &st) && st.st_size == 3);
}

int main(void)
{
	char dir[] = "/tmp/test-output-XXXXXX";
	int bad;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	bad = tap_run("a pipe that waits for nobody", nonblocking) |
	      tap_run("files come as a whole", whole_files) |
	      tap_run("links", links);
	unlink("file");
	unlink("link");
	unlink("dangling");
	rmdir(dir);
	return bad;
}
