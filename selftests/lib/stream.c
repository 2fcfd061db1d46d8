// SPDX-License-Identifier: GPL-2.0
#include "stream.h"

#define BATCH	16

static void *stream_fn(void *arg)
{
	struct rnt_stream *s = arg;
	struct rnotify_op ops[BATCH];

	while (s->sent % 2 ||
	       !__atomic_load_n(&s->enough, __ATOMIC_RELAXED)) {
		unsigned int n = s->sent % 2 ? 1 : BATCH, accepted;

		for (unsigned int i = 0; i < n; i++) {
			ops[i] = s->op;
			ops[i].imm |= (s->sent + i) & 0xffff;
		}
		rnt_check_eq(0, rnt_post(s->c, ops, n, RNT_PATIENCE_MS,
					 &accepted, NULL));
		s->sent += accepted;
	}
	return NULL;
}

void rnt_stream_start(struct rnt_stream *s)
{
	s->sent = 0;
	s->enough = false;
	rnt_thread_start(&s->thread, stream_fn, s);
}

unsigned int rnt_stream_end(struct rnt_stream *s)
{
	__atomic_store_n(&s->enough, true, __ATOMIC_RELAXED);
	rnt_thread_join(&s->thread);
	return s->sent;
}
