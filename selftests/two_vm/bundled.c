// SPDX-License-Identifier: GPL-2.0
/*
 * bundled ROUNDS SEND_DEPTH - what runs in both guests of bundled.sh.
 *
 * Guest a sends notifications of all sizes in batches of random length: small ones
 * side by side, so that they share packets, and others among them. Guest b knows
 * what has to come, and looks at every byte at each event. Buffers and slots of a's
 * endpoint go round many times, and what the link loses is read again from them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnt.h"

#define PORT		7475
#define CREDITS		24u
#define BATCH		20u
#define ERA		64u	/* notifications of one size, in one place */
#define PLACES		8u	/* such places */
#define LENS		8u
#define PLACE		(ERA * 512u)

/* What one notification is; both guests find it by counting. */
struct what {
	unsigned int opcode;
	unsigned int len;
	unsigned int at;	/* in the region */
	bool inl;
};

struct series {
	unsigned int nr;	/* the next one's number */
	unsigned int at;
};

struct side {
	struct rnt_ctx c;
	struct rnt_region mem;
	__u32 endpoint;
	__u32 remote;
	struct series series;
	unsigned int rounds;
	unsigned int done;	/* number of the last TX_DONE, and one more */
};

/* Of one era all small ones have the same length, in memory or inline. */
static struct what next(struct series *s)
{
	static const unsigned int lens[LENS] = { 8, 64, 100, 128, 1, 512, 300, 24 };
	unsigned int era = s->nr / ERA, seed = s->nr;
	struct what w = { .opcode = RNOTIFY_OP_WRITE_IMM };

	if (s->nr % ERA == 0)
		s->at = era % PLACES * PLACE;
	w.at = s->at;
	w.len = lens[era % LENS];
	w.inl = w.len <= 128 && era / LENS % 2;
	switch (rand_r(&seed) % 16) {
	case 0:
		w.opcode = RNOTIFY_OP_NOTIFY;
		w.len = 0;
		break;
	case 1:
		w.opcode = RNOTIFY_OP_SEND_IMM;
		w.len = 1 + s->nr % 256;
		w.inl = true;
		break;
	case 2:
		w.len = 129 + s->nr % 128;
		w.inl = true;
		break;
	}
	if (w.opcode == RNOTIFY_OP_WRITE_IMM)
		s->at += w.len;
	s->nr++;
	return w;
}

/* The bytes of an inline one are copied by the post: @buf can be used again then. */
static struct rnotify_op op_of(struct side *s, unsigned int nr, char *buf)
{
	struct what w = next(&s->series);
	struct rnotify_op op;

	if (w.opcode == RNOTIFY_OP_NOTIFY) {
		op = rnt_op_notify(s->endpoint, nr);
	} else if (w.inl) {
		rnt_fill(buf, w.len, nr + 1);
		op = rnt_op_inline(w.opcode, s->endpoint, buf, s->remote, w.at,
				   w.len);
	} else {
		rnt_fill(s->mem.p + w.at, w.len, nr + 1);
		op = rnt_op_rw(w.opcode, s->endpoint, s->mem.id, w.at,
			       s->remote, w.at, w.len);
	}
	if (w.opcode == RNOTIFY_OP_SEND_IMM) {
		op.remote_id = 0;
		op.remote_offset = 0;
	}
	op.imm = nr;
	op.user_data = nr;
	if (nr % 3 == 0)
		op.flags |= RNOTIFY_OP_F_SIGNALED;
	return op;
}

static void look(struct side *s)
{
	const struct rnotify_event *ev;

	while ((ev = rnt_peek(&s->c)) && ev->type != RNOTIFY_EVENT_DISCONNECTED) {
		if (ev->type == RNOTIFY_EVENT_TX_DONE) {
			rnt_check_eq(0, ev->tx.error);
			rnt_check_eq(0, ev->tx.user_data % 3);
			rnt_check_eq(s->done, ev->tx.user_data);
			s->done += 3;
		} else {
			rnt_check_eq(RNOTIFY_EVENT_WRITABLE, ev->type);
		}
		rnt_consume(&s->c, 1);
	}
}

static const struct rnotify_event *await_end(struct side *s)
{
	const struct rnotify_event *ev;

	do {
		look(s);
		ev = rnt_peek(&s->c);
		rnt_check(ev || rnt_poll(&s->c, POLLIN, 6 * RNT_PATIENCE_MS));
	} while (!ev);
	return ev;
}

static void post_batch(struct side *s, unsigned int first, unsigned int nr)
{
	static char buf[BATCH][256];
	struct rnotify_op ops[BATCH];
	unsigned int sent = 0, accepted;
	int error, ret;

	for (unsigned int i = 0; i < nr; i++)
		ops[i] = op_of(s, first + i, buf[i]);
	while (sent < nr) {
		ret = rnt_post(&s->c, ops + sent, nr - sent, 0, &accepted,
			       &error);
		rnt_check(!ret || ret == -EAGAIN);
		sent += accepted;
		if (sent < nr)
			rnt_check(rnt_poll(&s->c, POLLIN, 6 * RNT_PATIENCE_MS));
		look(s);
	}
}

static void send_all(struct side *s)
{
	struct rnotify_endpoint_info info;
	unsigned int seed = 1, nr, sent = 0;
	const struct rnotify_event *ev;

	for (; sent < s->rounds; sent += nr) {
		nr = 1 + rand_r(&seed) % BATCH;
		if (nr > s->rounds - sent)
			nr = s->rounds - sent;
		post_batch(s, sent, nr);
	}
	rnt_info(&s->c, s->endpoint, &info);
	printf("# %u notifications, %llu of them shared packets\n", sent,
	       (unsigned long long)info.tx_bundled);
	rnt_check(info.tx_bundled > s->rounds / 4);
	ev = await_end(s);
	rnt_check_eq(RNOTIFY_REASON_PEER_CLOSE, ev->down.reason);
	rnt_check_eq(s->rounds, ev->down.confirmed);
}

static void check_event(struct side *s, const struct rnotify_event *ev)
{
	unsigned int nr = s->series.nr;
	struct what w = next(&s->series);
	char *p = s->mem.p + w.at;
	long bad;

	if (w.opcode == RNOTIFY_OP_SEND_IMM) {
		rnt_check_eq(RNOTIFY_EVENT_MESSAGE, ev->type);
		p = (char *)s->c.msgs + ev->notify.msg_offset;
	} else {
		rnt_check_eq(RNOTIFY_EVENT_NOTIFY, ev->type);
	}
	rnt_check_eq(nr, ev->notify.imm);
	rnt_check_eq(nr + 1, ev->seq);
	rnt_check_eq(w.len, ev->notify.byte_len);
	bad = rnt_diff(p, w.len, nr + 1);
	if (bad >= 0)
		rnt_fail("event %u: byte %ld of %u is not there", nr, bad, w.len);
	/* what is left of it must not pass for the next one */
	if (w.opcode == RNOTIFY_OP_WRITE_IMM)
		memset(p, 0xee, w.len);
}

static void receive_all(struct side *s)
{
	const struct rnotify_event *ev;

	while (s->series.nr < s->rounds) {
		ev = rnt_peek(&s->c);
		if (!ev) {
			rnt_check(rnt_poll(&s->c, POLLIN, 6 * RNT_PATIENCE_MS));
			continue;
		}
		check_event(s, ev);
		rnt_consume(&s->c, 1);
	}
	rnt_check_eq(0, rnt_disconnect(&s->c, s->endpoint));
	ev = await_end(s);
	rnt_check_eq(RNOTIFY_REASON_LOCAL_CLOSE, ev->down.reason);
	rnt_check_eq(s->rounds, ev->down.delivered);
}

static void sender(struct side *s, unsigned int depth)
{
	struct rnotify_params params = { .send_depth = depth };
	struct rnotify_event ev;

	rnt_check_eq(0, system("vm-sync listening"));
	s->endpoint = rnt_connect(&s->c, getenv("PEER_ADDR"), PORT, &params, 0);
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	s->remote = ev.region.remote_id;
	send_all(s);
}

static void receiver(struct side *s)
{
	struct rnotify_params params = { .recv_depth = CREDITS };
	__u16 port = PORT;

	rnt_listen(&s->c, rnt_addr4(), &port, 1);
	rnt_check_eq(0, system("vm-sync listening"));
	s->endpoint = rnt_request(&s->c, NULL);
	rnt_check_eq(0, rnt_accept(&s->c, s->endpoint, &params, 0));
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_share(&s->c, s->endpoint, s->mem.id, 0, 0, RNOTIFY_RIGHT_WRITE, 0);
	receive_all(s);
}

int main(int argc, char **argv)
{
	struct side s = { 0 };

	rnt_check_eq(3, argc);
	s.rounds = strtoul(argv[1], NULL, 10);
	rnt_init(&s.c, 512, 256);
	rnt_region_alloc(&s.c, &s.mem, PLACES * PLACE);
	if (strcmp(getenv("ROLE") ?: "", "b"))
		sender(&s, strtoul(argv[2], NULL, 10));
	else
		receiver(&s);
	rnt_close(&s.c);
	return 0;
}
