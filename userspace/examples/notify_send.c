// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Writes words into notify_recv's memory: notify_send HOST:PORT WORD... */
#include <stdio.h>
#include <string.h>
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
	int i, ret;

	ret = rnotify_resolve(argc > 1 ? argv[1] : "", 7471, &addr);
	ret = ret ? ret : rnotify_open(&rn, NULL);
	ret = ret ? ret : rnotify_register(rn, words, sizeof(words), 0, &memory);
	ret = ret ? ret : rnotify_connect_wait(rn, &addr, NULL, RNOTIFY_FOREVER, &ep);
	ret = ret ? ret : rnotify_find(rn, ep, RNOTIFY_TYPE_BIT(RNOTIFY_EVENT_REMOTE_REGION),
				       RNOTIFY_FOREVER, &e);
	for (i = 0; !ret && i < argc - 2 && i < SLOTS; i++) {
		struct rnotify_op op;

		snprintf(words[i], SLOT, "%s", argv[i + 2]);
		rnotify_prep_write_imm(&op, ep, memory, i * SLOT,
				       e->region.remote_id, i * SLOT, SLOT, i, i);
		ret = rnotify_post(rn, &op, 1, 0, -1);
		ret = ret < 0 ? ret : 0;
	}
	if (ret) {
		fprintf(stderr, "notify_send: %s\n", strerror(-ret));
		return 1;
	}
	rnotify_destroy(rn, ep);	/* completes what was posted */
	rnotify_close(rn);
	return 0;
}
