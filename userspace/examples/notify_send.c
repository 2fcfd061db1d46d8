// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Writes words into notify_recv's memory: notify_send HOST:PORT WORD... */
#include <stdio.h>
#include <rnotify/rnotify.h>

#define SLOT 64
#define SLOTS 16

/* Says what failed and what to do about it. */
static int failed(enum rnotify_call call, int ret)
{
	char text[512];

	if (ret < 0)
		fprintf(stderr, "%s\n", rnotify_explain_errno(NULL, call, ret, text,
							      sizeof(text)));
	return ret < 0;
}

int main(int argc, char **argv)
{
	static char words[SLOTS][SLOT];
	const struct rnotify_event *e;
	struct rnotify_sockaddr addr;
	struct rnotify_region *memory;
	struct rnotify *rn;
	uint32_t ep;
	int i;

	if (failed(RNOTIFY_CALL_RESOLVE,
		   rnotify_resolve(argc > 1 ? argv[1] : "", 7471, &addr)) ||
	    failed(RNOTIFY_CALL_OPEN, rnotify_open(&rn, NULL)) ||
	    failed(RNOTIFY_CALL_REGISTER,
		   rnotify_register(rn, words, sizeof(words), 0, &memory)) ||
	    failed(RNOTIFY_CALL_CONNECT,
		   rnotify_connect_wait(rn, &addr, NULL, RNOTIFY_FOREVER, &ep)) ||
	    failed(RNOTIFY_CALL_CONNECT,
		   rnotify_find(rn, ep, RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_REMOTE_REGION),
				RNOTIFY_FOREVER, &e)))
		return 1;
	for (i = 0; i < argc - 2 && i < SLOTS; i++) {
		struct rnotify_op op;

		snprintf(words[i], SLOT, "%s", argv[i + 2]);
		rnotify_prep_write_imm(&op, ep, memory, i * SLOT,
				       e->region.remote_id, i * SLOT, SLOT, i, i);
		if (failed(RNOTIFY_CALL_POST, rnotify_post(rn, &op, 1, 0, -1)))
			return 1;
	}
	rnotify_destroy(rn, ep);	/* completes what was posted */
	rnotify_close(rn);
	return 0;
}
