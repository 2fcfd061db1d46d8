// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * replicated_log - the file that makes records durable.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "example.h"
#include "log.h"

#define RECORD_MAX (sizeof(struct record) + PAYLOAD_MAX + RECORD_UNIT)

static size_t read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno != EINTR)
			die("reading the log: %s", strerror(errno));
		if (!n)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	return done;
}

/* Leaves next and end behind the last record that is whole. */
static const char *scan(struct store *store)
{
	static _Alignas(struct record) char buf[RECORD_MAX];
	const char *fault;
	size_t room;

	store->next = 1;
	store->end = 0;
	for (;;) {
		room = read_at(store->fd, buf, sizeof(buf), store->end);
		if (!room)
			return NULL;
		fault = record_fault(buf, store->next, (uint32_t)room);
		if (fault)
			return fault;
		store->end += record_units(((struct record *)buf)->length) *
			      RECORD_UNIT;
		store->next++;
	}
}

void store_open(struct store *store, const char *path)
{
	const char *fault;

	store->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (store->fd < 0)
		die("%s: %s", path, strerror(errno));
	fault = scan(store);
	if (fault)
		printf("%s: record %" PRIu64 " %s: cut off there\n", path,
		       store->next, fault);
	if (fault && (ftruncate(store->fd, (off_t)store->end) ||
		      fsync(store->fd)))
		die("%s: %s", path, strerror(errno));
}

void store_write(struct store *store, const void *data, uint64_t len)
{
	while (len) {
		ssize_t n = pwrite(store->fd, data, len, (off_t)store->end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("writing the log: %s", strerror(n ? errno : ENOSPC));
		data = (const char *)data + n;
		len -= (uint64_t)n;
		store->end += (uint64_t)n;
	}
}

void store_sync(struct store *store, uint64_t next)
{
	if (fdatasync(store->fd))
		die("writing the log: %s", strerror(errno));
	store->next = next;
}

void store_close(struct store *store)
{
	if (close(store->fd))
		die("writing the log: %s", strerror(errno));
}

/* check FILE N: exactly the records 1 to N, with the contents they must have */
int log_check(int argc, char **argv)
{
	static _Alignas(struct record) char buf[RECORD_MAX];
	struct store store;
	uint64_t n, i, at = 0;

	if (argc != 3)
		die("usage: replicated_log check FILE RECORDS");
	n = number(argv[2], 0, UINT64_MAX);
	store.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (store.fd < 0)
		die("%s: %s", argv[1], strerror(errno));
	if (scan(&store))
		die("%s: record %" PRIu64 " is not whole", argv[1], store.next);
	if (store.next != n + 1)
		die("%s: %" PRIu64 " records instead of %" PRIu64, argv[1],
		    store.next - 1, n);
	for (i = 1; i <= n; i++) {
		read_at(store.fd, buf, sizeof(buf), at);
		if (!record_genuine(buf))
			die("%s: record %" PRIu64 " is not what was appended",
			    argv[1], i);
		at += record_units(((struct record *)buf)->length) * RECORD_UNIT;
	}
	printf("records: %" PRIu64 " bytes: %" PRIu64 "\n", n, at);
	store_close(&store);
	return 0;
}
