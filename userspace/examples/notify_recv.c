// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* Sleeps until peers write into its memory: notify_recv [ADDR]:PORT */
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
	struct rnotify_sockaddr addr;
	struct rnotify_region *memory;
	struct rnotify_event e;
	struct rnotify *rn;
	uint32_t listener;

	if (failed(RNOTIFY_CALL_RESOLVE,
		   rnotify_resolve(argc > 1 ? argv[1] : "*", 7471, &addr)) ||
	    failed(RNOTIFY_CALL_OPEN, rnotify_open(&rn, NULL)) ||
	    failed(RNOTIFY_CALL_REGISTER,
		   rnotify_alloc(rn, SLOTS * SLOT, &memory)) ||
	    failed(RNOTIFY_CALL_LISTEN,
		   rnotify_listen(rn, &addr, 0, 0, &listener)))
		return 1;
	while (!rnotify_next(rn, &e, RNOTIFY_FOREVER)) {
		const char *text = rnotify_region_addr(memory);

		if (e.type == RNOTIFY_EVENT_CONNECT_REQUEST)
			rnotify_accept(rn, e.endpoint, NULL);
		else if (e.type == RNOTIFY_EVENT_ESTABLISHED)
			rnotify_share(rn, e.endpoint, memory, 0, 0,
				      RNOTIFY_RIGHT_WRITE, 0, NULL);
		else if (e.type == RNOTIFY_EVENT_NOTIFY && e.notify.imm < SLOTS)
			printf("slot %u: %.*s\n", e.notify.imm, SLOT,
			       text + e.notify.imm * SLOT);
		else if (e.type == RNOTIFY_EVENT_DISCONNECTED)
			rnotify_destroy(rn, e.endpoint);
		fflush(stdout);
	}
	rnotify_close(rn);
	return 0;
}
