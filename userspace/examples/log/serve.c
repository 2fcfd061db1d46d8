// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * replicated_log serve - the replica.
 *
 * Takes records by the notifications that announce them, checks each, writes
 * what came together to the file at one go, and acknowledges all of it with one
 * notification: "durable up to here". What a client has written when it dies, but
 * not announced, is not there. The next client gets the region only when the
 * last one can't reach it any more.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "example.h"
#include "log.h"

#define RING_ENTRIES	1024
#define DEFAULT_SIZE	(1u << 20)

/**
 * struct server - one log
 * @rn: context
 * @store: the file
 * @region: the log region
 * @base: its first byte
 * @size: its bytes
 * @endpoint: of the client, 0: there is none
 * @next: number of the record that is awaited
 * @pos: where it will be, in the client's log
 * @stored: the file has all records before this position
 * @owed: an acknowledgement waits for credit
 * @complete: the client says that it has no more
 * @keep: go on after such a client
 * @done: there is nothing to wait for
 * @records: taken
 * @notifications: by which
 * @syncs: times the file was made durable
 * @sleeps: times there was nothing to do
 */
struct server {
	struct rnotify *rn;
	struct store store;
	struct rnotify_region *region;
	char *base;
	uint32_t size;
	uint32_t endpoint;
	uint64_t next;
	uint64_t pos;
	uint64_t stored;
	int owed;
	int complete;
	int keep;
	int done;
	uint64_t records;
	uint64_t notifications;
	uint64_t syncs;
	uint64_t sleeps;
};

static char *place(const struct server *s, uint64_t pos)
{
	return s->base + pos % s->size;
}

static uint32_t room(const struct server *s, uint64_t pos)
{
	return s->size - (uint32_t)(pos % s->size);
}

/* To the file with the records that are not there yet: one contiguous piece. */
static void store_run(struct server *s)
{
	store_write(&s->store, place(s, s->stored), s->pos - s->stored);
	s->stored = s->pos;
}

static int is_pad(const struct server *s, uint64_t pos, uint64_t sequence)
{
	const struct record *pad = (const void *)place(s, pos);

	return pad->magic == PAD_MAGIC && pad->sequence == sequence;
}

/* The awaited record is there: take it. Gives its units. */
static uint32_t take_record(struct server *s)
{
	const struct record *record;
	const char *fault;
	uint32_t units;

	if (is_pad(s, s->pos, s->next)) {
		store_run(s);
		s->pos += room(s, s->pos);
		s->stored = s->pos;
	}
	record = (const void *)place(s, s->pos);
	fault = record_fault(record, s->next, room(s, s->pos));
	if (fault)
		die("record %" PRIu64 " was announced, but %s", s->next, fault);
	units = record_units(record->length);
	s->pos += units * RECORD_UNIT;
	if (s->pos % s->size == 0)
		store_run(s);
	s->next++;
	s->records++;
	return units;
}

static void on_notify(struct server *s, const struct rnotify_event *e)
{
	struct log_imm imm = log_imm_unpack(e->notify.imm);
	uint64_t last = RNOTIFY_IMM_WIDEN(log_imm, sequence, e->notify.imm,
					  s->next);
	uint32_t units = 0;

	if (imm.flags & LOG_F_END) {
		s->complete = last + 1 == s->next;
		return;
	}
	s->notifications++;
	if (last < s->next)
		die("record %" PRIu64 " came twice", last);
	if (last != s->next && !(imm.flags & LOG_F_GROUP))
		die("record %" PRIu64 " is missing", s->next);
	while (s->next <= last)
		units = take_record(s);
	if (units != imm.units || (e->type == RNOTIFY_EVENT_NOTIFY &&
				   e->notify.byte_len != units * RECORD_UNIT))
		die("record %" PRIu64 " is not as long as it was announced",
		    last);
}

/* Cumulative, so that one that is late says all that earlier ones would have. */
static void acknowledge(struct server *s)
{
	struct rnotify_op op;
	int ret;

	rnotify_prep_notify(&op, s->endpoint, (uint32_t)s->store.next, 0);
	ret = rnotify_post(s->rn, &op, 1, RNOTIFY_POST_NONBLOCK, 0);
	/* A client that is gone needs none: DISCONNECTED is on its way. */
	s->owed = ret == -EAGAIN;
}

static void commit(struct server *s)
{
	if (s->store.next == s->next)
		return;
	store_run(s);
	store_sync(&s->store, s->next);
	s->syncs++;
	if (s->endpoint)
		acknowledge(s);
}

static void on_request(struct server *s, const struct rnotify_event *e)
{
	const struct log_hello hello = {
		.magic = HELLO_MAGIC,
		.size = s->size,
		.next = s->next,
	};
	const struct rnotify_endpoint_attr attr = {
		.params.remote_regions = RNOTIFY_NO_REGIONS,
		.private_data = &hello,
		.private_len = sizeof(hello),
	};

	/* One writer at a time; the other one asks again. */
	if (s->endpoint || rnotify_accept(s->rn, e->endpoint, &attr)) {
		rnotify_reject(s->rn, e->endpoint, NULL, 0);
		return;
	}
	s->endpoint = e->endpoint;
	s->pos = 0;
	s->stored = 0;
	s->owed = 0;
	s->complete = 0;
	memset(s->base, 0, s->size);
}

/* What the client wrote and did not announce: it is there, and not taken. */
static void tell_discarded(struct server *s)
{
	uint64_t pos = s->pos, sequence = s->next;
	unsigned int whole = 0, torn = 0;

	for (;;) {
		const struct record *record = (const void *)place(s, pos);

		if (is_pad(s, pos, sequence)) {
			pos += room(s, pos);
			continue;
		}
		if (record->magic != RECORD_MAGIC ||
		    record->sequence != sequence)
			break;
		torn = !!record_fault(record, sequence, room(s, pos));
		if (torn)
			break;
		pos += record_units(record->length) * RECORD_UNIT;
		sequence++;
		whole++;
	}
	if (whole || torn)
		printf("discarded: %u whole and %u torn records that were not announced\n",
		       whole, torn);
}

static void on_down(struct server *s, const struct rnotify_event *e)
{
	char text[512];

	if (e->endpoint != s->endpoint) {
		rnotify_destroy(s->rn, e->endpoint);
		return;
	}
	commit(s);
	/* The fence: from here on the region is ours alone. */
	check(rnotify_destroy(s->rn, e->endpoint), "ending a connection");
	s->endpoint = 0;
	printf("durable: %" PRIu64 "; the client is gone: %s\n",
	       s->store.next - 1, rnotify_explain(e, text, sizeof(text)));
	tell_discarded(s);
	fflush(stdout);
	/* Not by the reason: who is killed early may look as if it had closed. */
	s->done = s->complete && !s->keep;
}

static void on_event(struct server *s, const struct rnotify_event *e)
{
	switch (e->type) {
	case RNOTIFY_EVENT_CONNECT_REQUEST:
		on_request(s, e);
		break;
	case RNOTIFY_EVENT_ESTABLISHED:
		check_peer(rnotify_share(s->rn, e->endpoint, s->region, 0, 0,
					 RNOTIFY_RIGHT_WRITE, HELLO_MAGIC,
					 NULL), "sharing the log region");
		break;
	case RNOTIFY_EVENT_NOTIFY:
	case RNOTIFY_EVENT_MESSAGE:
		on_notify(s, e);
		break;
	case RNOTIFY_EVENT_WRITABLE:
		if (s->owed)
			acknowledge(s);
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		on_down(s, e);
		break;
	}
}

static void serve(struct server *s)
{
	const struct rnotify_event *e;
	int ret;

	while (!s->done) {
		/* All that is here becomes durable together. */
		while ((e = rnotify_peek(s->rn))) {
			on_event(s, e);
			rnotify_release(s->rn, 1);
		}
		commit(s);
		if (s->done)
			break;
		ret = rnotify_wait(s->rn, 1, RNOTIFY_FOREVER, 0);
		if (ret != -EINTR)
			check(ret, "waiting");
		s->sleeps++;
	}
}

static const char *options_read(struct server *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "size", required_argument, NULL, 's' },
		{ "keep", no_argument, NULL, 'k' },
		{ 0 }
	};
	const char *file = "replicated.log";
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'f')
			file = optarg;
		else if (c == 's')
			s->size = (uint32_t)number(optarg, 1, 1u << 20) << 10;
		else if (c == 'k')
			s->keep = 1;
		else
			die("usage: replicated_log serve [--file FILE] [--size KIB] [--keep] [ADDRESS]");
	}
	if (s->size < 256u << 10)
		die("--size: 256 KiB at the least, for a group of records");
	return file;
}

int log_serve(int argc, char **argv)
{
	struct server s = { .size = DEFAULT_SIZE };
	const char *file = options_read(&s, argc, argv);

	store_open(&s.store, file);
	s.next = s.store.next;
	printf("%s has %" PRIu64 " records\n", file, s.next - 1);
	s.rn = open_context(RING_ENTRIES);
	check(rnotify_alloc(s.rn, s.size, &s.region), "the log region");
	s.base = rnotify_region_addr(s.region);
	listen_at(s.rn, optind < argc ? argv[optind] : "*");
	serve(&s);
	printf("records: %" PRIu64 " notifications: %" PRIu64 " syncs: %" PRIu64
	       " sleeps: %" PRIu64 "\n", s.records, s.notifications, s.syncs,
	       s.sleeps);
	rnotify_close(s.rn);
	store_close(&s.store);
	return 0;
}
