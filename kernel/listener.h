/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_LISTENER_H
#define RNOTIFY_LISTENER_H

#include "ep.h"

/**
 * struct rnotify_listener - an rdma_cm listener
 * @obj: head
 * @cm_id: NULL once the device took it along; see @work
 * @cookie: for events (invariant)
 * @rv: two entries for each of the backlog: request, and the end of a request
 *	that nobody answered
 * @addr: address and port (invariant)
 * @mutex: protects @cm_id
 * @work: destroys @cm_id after device removal
 * @rv_down: for LISTENER_DOWN
 * @backlog: requests that may wait (invariant)
 * @pending: requests that do
 */
struct rnotify_listener {
	struct rnotify_obj obj;
	struct rdma_cm_id *cm_id;
	u64 cookie;
	struct rnotify_resv rv;
	struct sockaddr_storage addr;
	struct mutex mutex;
	struct work_struct work;
	struct rnotify_resv rv_down;
	u32 backlog;
	atomic_t pending;
};

static inline struct rnotify_listener *to_listener(struct rnotify_obj *obj)
{
	return container_of(obj, struct rnotify_listener, obj);
}

void rnotify_listener_leave(struct rnotify_ep *ep);
void rnotify_listener_last_event(struct rnotify_ep *ep,
				 struct rnotify_event *ev);
int rnotify_listen(struct rnotify_ctx *ctx, struct rnotify_listen *arg);
int rnotify_addr_get(struct sockaddr_storage *ss,
		     const struct rnotify_sockaddr *addr);
void rnotify_addr_put(struct rnotify_sockaddr *addr,
		      const struct sockaddr_storage *ss);

#endif /* RNOTIFY_LISTENER_H */
