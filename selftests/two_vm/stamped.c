// SPDX-License-Identifier: GPL-2.0
/*
 * stamped ROUNDS - what runs in both guests of stamped.sh.
 *
 * Each side writes ROUNDS payloads into the other's slots, each with a pattern
 * of its own, and checks every byte of what it gets before it consumes the
 * event. Length and pattern follow from the number and the side, so that both
 * know them.
 *
 * A slot is free again when its event was consumed: then there is a credit, of
 * which there are as many as slots. A source is free again when its TX_DONE
 * came.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rnt.h"

#define SLOTS		16
/* rxe gives up on long work requests when packets get lost */
#define SLOT_SIZE	(32u * 1024)
#define PORT		7473
#define LAST		(~0u)	/* imm: I have seen all, and you have all */

struct side {
	struct rnt_ctx c;
	__u32 endpoint;
	__u32 remote;
	struct rnt_region source;
	struct rnt_region target;
	unsigned int me;	/* 0: guest a, 1: guest b */
	unsigned int rounds;
	unsigned int posted;
	unsigned int done;
	unsigned int seen;
	bool said;
	bool told;
	unsigned long long bytes;
};

static unsigned int stamp(unsigned int side, unsigned int n)
{
	return 2 * n + side + 1;
}

/* 64 bytes to 32 KiB, short ones more often; any number of packets */
static __u32 length(unsigned int side, unsigned int n)
{
	unsigned int seed = stamp(side, n);
	unsigned int max = SLOT_SIZE >> rand_r(&seed) % 6;

	return 64 + rand_r(&seed) % (max - 63);
}

static void side_open(struct side *s)
{
	struct rnotify_params params = { .recv_depth = SLOTS };
	__u16 port = PORT;

	rnt_init(&s->c, 512, 0);
	if (s->me) {
		rnt_listen(&s->c, rnt_addr4(), &port, 1);
		rnt_check_eq(0, system("vm-sync listening"));
		s->endpoint = rnt_request(&s->c, NULL);
		rnt_check_eq(0, rnt_accept(&s->c, s->endpoint, &params, 0));
	} else {
		rnt_check_eq(0, system("vm-sync listening"));
		s->endpoint = rnt_connect(&s->c, getenv("PEER_ADDR"), port,
					  &params, 0);
	}
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_ESTABLISHED, NULL);
}

static void side_share(struct side *s)
{
	struct rnotify_event ev;

	rnt_region_alloc(&s->c, &s->source, SLOTS * SLOT_SIZE);
	/* not in whole pages, and scattered */
	rnt_region_user(&s->c, &s->target,
			(char *)rnt_anon((SLOTS + 1) * SLOT_SIZE) + 13,
			SLOTS * SLOT_SIZE, 0);
	rnt_share(&s->c, s->endpoint, s->target.id, 0, 0, RNOTIFY_RIGHT_WRITE,
		  0);
	rnt_expect(&s->c, s->endpoint, RNOTIFY_EVENT_REMOTE_REGION, &ev);
	s->remote = ev.region.remote_id;
}

static bool post_next(struct side *s)
{
	unsigned int n = s->posted;
	__u64 at = n % SLOTS * SLOT_SIZE;
	struct rnotify_op op;
	int ret;

	if (n == s->rounds || n == s->done + SLOTS)
		return false;
	rnt_fill(s->source.p + at, length(s->me, n), stamp(s->me, n));
	op = rnt_op_rw(RNOTIFY_OP_WRITE_IMM, s->endpoint, s->source.id, at,
		       s->remote, at, length(s->me, n));
	op.imm = n;
	op.user_data = n;
	op.flags = RNOTIFY_OP_F_SIGNALED;
	ret = rnt_try(&s->c, &op);
	if (ret == -EAGAIN)
		return false;		/* WRITABLE comes */
	rnt_check_eq(0, ret);
	s->posted++;
	return true;
}

static void on_notify(struct side *s, const struct rnotify_event *ev)
{
	unsigned int n = s->seen, len = length(!s->me, n);
	char *slot = s->target.p + n % SLOTS * SLOT_SIZE;
	long bad;

	if (ev->notify.imm == LAST) {
		rnt_check_eq(s->rounds, s->seen);
		s->told = true;
		return;
	}
	rnt_check_eq(n, ev->notify.imm);
	rnt_check_eq(n + 1, ev->seq);
	rnt_check_eq(len, ev->notify.byte_len);
	bad = rnt_diff(slot, len, stamp(!s->me, n));
	if (bad >= 0)
		rnt_fail("event %u: byte %ld of %u is not there", n, bad, len);
	/* what is left of it must not pass for the next one */
	memset(slot, 0xee, len);
	s->bytes += len;
	s->seen++;
}

static void on_event(struct side *s, const struct rnotify_event *ev)
{
	switch (ev->type) {
	case RNOTIFY_EVENT_NOTIFY:
		on_notify(s, ev);
		break;
	case RNOTIFY_EVENT_TX_DONE:
		rnt_check_eq(0, ev->tx.error);
		rnt_check_eq(s->done, ev->tx.user_data);
		s->done++;
		break;
	case RNOTIFY_EVENT_WRITABLE:
		break;
	case RNOTIFY_EVENT_DISCONNECTED:
		rnt_fail("ended after %u: reason %u stage %u error %d ib %u",
			 s->seen, ev->down.reason, ev->down.stage,
			 ev->down.error, ev->down.ib_status);
	default:
		rnt_fail("unexpected %s", rnt_type_name(ev->type));
	}
}

/* All of mine are confirmed and all of the peer's are here. */
static void say_last(struct side *s)
{
	struct rnotify_op op = rnt_op_notify(s->endpoint, LAST);

	if (s->said || s->done < s->rounds || s->seen < s->rounds)
		return;
	rnt_post1(&s->c, &op);
	s->said = true;
}

static void run(struct side *s)
{
	const struct rnotify_event *ev;

	while (!s->said || !s->told) {
		while (post_next(s))
			;
		say_last(s);
		ev = rnt_peek(&s->c);
		if (ev) {
			on_event(s, ev);
			rnt_consume(&s->c, 1);
		} else if (!s->said || !s->told) {
			rnt_check(rnt_poll(&s->c, POLLIN, 6 * RNT_PATIENCE_MS));
		}
	}
}

static void side_end(struct side *s)
{
	const struct rnotify_event *ev;

	/* the peer needs no acknowledgement of ours any more */
	if (!s->me)
		rnt_check_eq(0, rnt_disconnect(&s->c, s->endpoint));
	while (!(ev = rnt_peek(&s->c)) ||
	       ev->type != RNOTIFY_EVENT_DISCONNECTED) {
		if (ev) {
			on_event(s, ev);
			rnt_consume(&s->c, 1);
		} else {
			rnt_check(rnt_poll(&s->c, POLLIN, RNT_PATIENCE_MS));
		}
	}
	rnt_check_eq(s->me ? RNOTIFY_REASON_PEER_CLOSE :
		     RNOTIFY_REASON_LOCAL_CLOSE, ev->down.reason);
	rnt_check_eq(s->rounds + 1, ev->down.delivered);
	rnt_close(&s->c);
}

int main(int argc, char **argv)
{
	struct side s = { .me = !strcmp(getenv("ROLE") ?: "", "b") };
	uint64_t start;

	rnt_check_eq(2, argc);
	s.rounds = strtoul(argv[1], NULL, 10);
	side_open(&s);
	side_share(&s);
	start = rnt_now_ns();
	run(&s);
	printf("# %u events, %llu bytes in %.1f s\n", s.seen, s.bytes,
	       (rnt_now_ns() - start) / 1e9);
	side_end(&s);
	return 0;
}
