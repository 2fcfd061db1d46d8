// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Writes words into notify_recv's memory: notify_send HOST:PORT WORD... */
#include <stdio.h>
#include <rnotify/rnotify.h>

#define SLOT 64
#define SLOTS 16

int main(int argc, char **argv)
{
	static char words[SLOTS][SLOT];
	const struct rnotify_event *e;
	struct rnotify_sockaddr addr;
	struct rnotify_region *memory;
	struct rnotify *rn;
	uint32_t ep;
	int i;

	if (argc < 2 || rnotify_resolve(argv[1], 7471, &addr) ||
	    rnotify_open(&rn, NULL) ||
	    rnotify_register(rn, words, sizeof(words), 0, &memory) ||
	    rnotify_connect_wait(rn, &addr, NULL, RNOTIFY_FOREVER, &ep) ||
	    rnotify_find(rn, ep, RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_REMOTE_REGION),
			 RNOTIFY_FOREVER, &e))
		return 1;
	for (i = 0; i < argc - 2 && i < SLOTS; i++) {
		struct rnotify_op op;

		snprintf(words[i], SLOT, "%s", argv[i + 2]);
		rnotify_prep_write_imm(&op, ep, memory, i * SLOT,
				       e->region.remote_id, i * SLOT, SLOT, i, i);
		if (rnotify_post(rn, &op, 1, 0, -1) != 1)
			return 1;
	}
	rnotify_destroy(rn, ep);	/* completes what was posted */
	rnotify_close(rn);
	return 0;
}
