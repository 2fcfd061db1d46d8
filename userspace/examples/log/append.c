// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * replicated_log append - the client.
 *
 * Goes on where the server says the log ends. Writes records into the server's
 * region, one imm for each or for a group of them, and keeps as many under way as
 * there is room. Its own copy lies in a region of the same shape, so that a record
 * is at the same place on both sides; the place is free again when the record is
 * durable and the device has done with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "example.h"
#include "log.h"

#define GROUP_MAX	32u
#define UNDER_WAY	64u	/* groups */
#define SEND_DEPTH	256

/* How --die ends this process, when it comes to record --at. */
enum death {
	DIE_NOT,
	DIE_TORN,	/* the last record of the group is half written */
	DIE_GROUP,	/* all are written, none is announced */
	DIE_POSTED,	/* announced, and not waited for */
};

static const char *const deaths[] = { "", "torn", "group", "posted" };

/**
 * struct client - the writer of a log
 * @rn: context
 * @endpoint: connection to the server
 * @remote: the server's region
 * @region: own copy of what is under way
 * @size: bytes of both
 * @group: records for each imm
 * @records: number of the last record to append
 * @next: number of the next one
 * @durable: records below this number are durable
 * @progress: @durable in a file, for those who come after; or NULL
 * @pos: where the next record goes, in the log of this session
 * @done: the device has read all before this position
 * @freed: places before this position can be used again
 * @ends: of each group that is not durable: number of the next record, position
 * @head: groups posted
 * @tail: groups durable
 * @two: announce by a message of its own (WRITE, then SEND)
 * @death: how to die
 * @at: at which record
 */
struct client {
	struct rnotify *rn;
	uint32_t endpoint;
	uint32_t remote;
	struct rnotify_region *region;
	uint32_t size;
	uint32_t group;
	uint64_t records;
	uint64_t next;
	uint64_t durable;
	uint64_t *progress;
	uint64_t pos;
	uint64_t done;
	uint64_t freed;
	struct {
		uint64_t next;
		uint64_t pos;
	} ends[UNDER_WAY];
	unsigned int head;
	unsigned int tail;
	int two;
	enum death death;
	uint64_t at;
};

/* ---- what comes back ---- */

static void on_durable(struct client *c, uint32_t imm)
{
	uint64_t durable = rnotify_imm_widen(imm, UINT32_MAX, c->durable);

	if (durable < c->durable || durable > c->next)
		die("the server acknowledges record %" PRIu64 " of %" PRIu64,
		    durable - 1, c->next - 1);
	c->durable = durable;
	if (c->progress)
		*c->progress = durable;
}

static void on_event(void *who, const struct rnotify_event *e)
{
	struct client *c = who;

	switch (e->type) {
	case RNOTIFY_EVENT_NOTIFY:
		on_durable(c, e->notify.imm);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		if (e->tx.error)
			die_of(e, "writing a record");
		c->done = e->tx.user_data;
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		die_of(e, "the server");
	}
	while (c->tail != c->head) {
		unsigned int i = c->tail % UNDER_WAY;

		if (c->ends[i].next > c->durable || c->ends[i].pos > c->done)
			break;
		c->freed = c->ends[i].pos;
		c->tail++;
	}
}

/* Waits for something to come back, and takes all that has come. */
static void progress(struct client *c)
{
	await_events(c->rn, on_event, c);
}

/* ---- what goes out ---- */

/* Room for so many bytes from the next position on, which may move to a start. */
static void *make_room(struct client *c, uint32_t bytes)
{
	while (c->pos + bytes - c->freed > c->size)
		progress(c);
	return (char *)rnotify_region_addr(c->region) + c->pos % c->size;
}

static struct rnotify_op *add_write(struct client *c, struct rnotify_op *op,
				    uint32_t bytes)
{
	uint64_t offset = c->pos % c->size;

	rnotify_prep_write(op, c->endpoint, c->region, offset, c->remote,
			   offset, bytes, 0);
	c->pos += bytes;
	return op + 1;
}

static struct rnotify_op *add_pad(struct client *c, struct rnotify_op *op)
{
	const struct record pad = { .magic = PAD_MAGIC, .sequence = c->next };
	uint32_t left = c->size - (uint32_t)(c->pos % c->size);

	memcpy(make_room(c, left), &pad, sizeof(pad));
	op = add_write(c, op, sizeof(pad));
	c->pos += left - sizeof(pad);
	return op;
}

static struct rnotify_op *add_record(struct client *c, struct rnotify_op *op)
{
	uint32_t bytes = record_units(record_length(c->next)) * RECORD_UNIT;

	if (c->pos % c->size + bytes > c->size)
		op = add_pad(c, op);
	record_make(make_room(c, bytes), c->next);
	c->next++;
	return add_write(c, op, bytes);
}

static void wait_gone(struct client *c)
{
	while (c->done != c->pos)
		progress(c);
}

/* In the middle of a group, and at the worst moment. */
static void die_in_group(struct client *c, struct rnotify_op *ops,
			 unsigned int n)
{
	if (c->death == DIE_TORN)
		ops[n - 1].length /= 2;
	ops[n - 1].flags |= RNOTIFY_OP_F_SIGNALED;
	ops[n - 1].user_data = c->pos;
	post(c->rn, ops, n);
	wait_gone(c);
	raise(SIGKILL);
}

/* The imm rides on the last write, or on a message behind it. */
static unsigned int announce(struct client *c, struct rnotify_op *ops,
			     unsigned int n, uint32_t flags)
{
	static const uint64_t nothing;
	struct rnotify_op *last = &ops[n - 1];
	uint32_t imm = log_imm_pack((struct log_imm){
		.sequence = (uint32_t)(c->next - 1),
		.units = last->length / RECORD_UNIT,
		.flags = flags,
	});

	if (c->two) {
		last = &ops[n++];
		rnotify_prep_send_imm(last, c->endpoint, NULL, 0,
				      sizeof(nothing), imm, 0);
		rnotify_op_inline(last, &nothing);
	} else {
		last->opcode = RNOTIFY_OP_WRITE_IMM;
		last->imm = imm;
	}
	last->flags |= RNOTIFY_OP_F_SIGNALED;
	last->user_data = c->pos;
	return n;
}

static void append_group(struct client *c)
{
	struct rnotify_op ops[2 * GROUP_MAX + 1], *end = ops;
	uint64_t first = c->next;
	unsigned int n;

	while (c->head - c->tail == UNDER_WAY)
		progress(c);
	while (c->next - first < c->group && c->next <= c->records)
		end = add_record(c, end);
	n = (unsigned int)(end - ops);
	if (first <= c->at && c->at < c->next &&
	    (c->death == DIE_TORN || c->death == DIE_GROUP))
		die_in_group(c, ops, n);
	n = announce(c, ops, n, c->next - first > 1 ? LOG_F_GROUP : 0);
	c->ends[c->head % UNDER_WAY].next = c->next;
	c->ends[c->head % UNDER_WAY].pos = c->pos;
	c->head++;
	post(c->rn, ops, n);
	if (c->at < c->next && c->death == DIE_POSTED)
		raise(SIGKILL);
}

/* Everything is durable: the server needs not wait for us. */
static void end(struct client *c)
{
	const struct log_imm imm = {
		.sequence = (uint32_t)(c->next - 1),
		.flags = LOG_F_END,
	};
	struct rnotify_op op;

	rnotify_prep_notify(&op, c->endpoint, log_imm_pack(imm), 0);
	post(c->rn, &op, 1);
	/* Completes what was posted. */
	check(rnotify_destroy(c->rn, c->endpoint), "the end");
}

/* ---- the whole ---- */

static void connect_to(struct client *c, const char *where)
{
	const struct rnotify_endpoint_attr attr = {
		.params.send_depth = SEND_DEPTH,
	};
	struct log_hello hello;

	c->endpoint = dial(c->rn, where, &attr);
	peer_said(c->rn, c->endpoint, &hello, sizeof(hello));
	if (hello.magic != HELLO_MAGIC)
		die("%s is no replicated log", where);
	c->remote = await_region(c->rn, c->endpoint, HELLO_MAGIC).remote_id;
	c->size = hello.size;
	c->next = hello.next;
	if (c->progress && *c->progress > c->next)
		die("record %" PRIu64 " was durable, and the server lost it",
		    *c->progress - 1);
	c->durable = c->next;
	if (c->progress)
		*c->progress = c->durable;
}

/* Eight bytes that outlive this process, as its own memory does not. */
static uint64_t *open_progress(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(uint64_t)))
		die("%s: %s", path, strerror(errno));
	p = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 0);
	if (p == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return p;
}

static enum death read_death(const char *text)
{
	unsigned int i;

	for (i = DIE_TORN; i < ARRAY_SIZE(deaths); i++)
		if (!strcmp(text, deaths[i]))
			return (enum death)i;
	die("--die: torn, group or posted");
}

static const char *options_read(struct client *c, int argc, char **argv)
{
	static const struct option options[] = {
		{ "records", required_argument, NULL, 'n' },
		{ "group", required_argument, NULL, 'g' },
		{ "progress", required_argument, NULL, 'p' },
		{ "die", required_argument, NULL, 'd' },
		{ "at", required_argument, NULL, 'a' },
		{ "two-messages", no_argument, NULL, '2' },
		{ 0 }
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 'n')
			c->records = number(optarg, 0, UINT64_MAX / 2);
		else if (o == 'g')
			c->group = (uint32_t)number(optarg, 1, GROUP_MAX);
		else if (o == 'p')
			c->progress = open_progress(optarg);
		else if (o == 'd')
			c->death = read_death(optarg);
		else if (o == 'a')
			c->at = number(optarg, 1, UINT64_MAX);
		else if (o == '2')
			c->two = 1;
		else
			optind = argc + 1;
	}
	if (optind != argc - 1)
		die("usage: replicated_log append [--records N] [--group N] [--progress FILE] [--two-messages] [--die torn|group|posted --at N] ADDRESS");
	return argv[optind];
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int log_append(int argc, char **argv)
{
	struct client c = { .group = 1, .records = 1000 };
	const char *where = options_read(&c, argc, argv);
	uint64_t first;
	double start;

	c.rn = open_context(1024);
	connect_to(&c, where);
	check(rnotify_alloc(c.rn, c.size, &c.region), "memory for records");
	first = c.next;
	start = seconds();
	while (c.next <= c.records)
		append_group(&c);
	while (c.durable != c.next)
		progress(&c);
	printf("appended: %" PRIu64 " to %" PRIu64 ", durable, in %.3f s\n",
	       first, c.next - 1, seconds() - start);
	end(&c);
	rnotify_close(c.rn);
	return 0;
}
