// SPDX-License-Identifier: GPL-2.0
/*
 * late ADDRESS connects, with patience for ten minutes.
 * late listens, and accepts one connection.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rnt.h"

#define PORT		7474
#define PATIENCE_MS	60000
#define CONNECT_MS	600000

static void connect_to(struct rnt_ctx *c, const char *addr)
{
	struct rnotify_connect con = {
		.params.connect_timeout_ms = CONNECT_MS,
	};
	struct rnotify_event ev;

	rnt_check_eq(0, rnt_connect_err(c, &con, addr, PORT));
	rnt_check(rnt_take(c, con.endpoint_id, &ev, PATIENCE_MS));
	rnt_check_eq(RNOTIFY_EVENT_ESTABLISHED, ev.type);
}

static void accept_one(struct rnt_ctx *c)
{
	struct rnotify_event ev;
	__u16 port = PORT;
	__u32 ep;

	rnt_listen(c, "0.0.0.0", &port, 1);
	puts("listening");
	fflush(stdout);
	rnt_check(rnt_take_type(c, 0, RNOTIFY_EVENT_CONNECT_REQUEST, &ev,
				PATIENCE_MS));
	ep = ev.endpoint;
	rnt_check_eq(0, rnt_accept(c, ep, NULL, 0));
	rnt_expect(c, ep, RNOTIFY_EVENT_ESTABLISHED, NULL);
	rnt_down(c, ep, RNT_PEER_GONE, NULL);
}

int main(int argc, char **argv)
{
	struct rnt_ctx c;

	rnt_init(&c, 512, 0);
	if (argc > 1)
		connect_to(&c, argv[1]);
	else
		accept_one(&c);
	rnt_close(&c);
	return 0;
}
