// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf with UCX: making and ending.
 *
 * UCX chooses its transports by itself. Two ends on one machine would get shared
 * memory, which is not what is compared here: unless UCX_TLS says something, it is
 * told to take rc_verbs, whose endpoints are set up over ud_verbs.
 *
 * Over soft-RoCE, UCX 1.13 drops each packet of ud_verbs that came over IPv4, and
 * gives up after half a minute: to tell where the destination's address is in the
 * packet, it reads the service level of the completion as the packet's type, which
 * is what mlx5 has there, and soft-RoCE has not. So it is told not to look.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ucx.h"

#define TLS "rc_verbs,ud_verbs"
/* What a worker's address and a key may be long. */
#define BLOB_MAX 4096u

static int send_all(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 :
		fail("ucx: setting up: %s", strerror(errno));
}

static int recv_all(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len ? 0 :
		fail("ucx: setting up: %s", strerror(errno));
}

static void finish(struct ucx *u, ucs_status_ptr_t request)
{
	if (!UCS_PTR_IS_PTR(request))
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		ucp_worker_progress(u->worker);
	ucp_request_free(request);
}

/*
 * Wait until all that this end has sent is there, and the same is true of the other
 * end: till then it needs our progress, and our queue pair.
 */
static int meet(struct ucx *u)
{
	struct pollfd p = { .fd = u->fd, .events = POLLIN };
	const ucp_request_param_t param = { 0 };
	char c = 0;

	finish(u, ucp_ep_flush_nbx(u->ep, &param));
	if (send_all(u->fd, &c, 1))
		return EXIT_FAILED;
	while (!poll(&p, 1, 1))
		ucp_worker_progress(u->worker);
	return recv_all(u->fd, &c, 1);
}

static void close_ep(struct ucx *u)
{
	const ucp_request_param_t param = { 0 };

	meet(u);
	finish(u, ucp_ep_close_nbx(u->ep, &param));
}

void ucx_close(struct link *link)
{
	struct ucx *u = ucx_of(link);

	if (u->ep)
		close_ep(u);
	if (u->rkey)
		ucp_rkey_destroy(u->rkey);
	if (u->memh)
		ucp_mem_unmap(u->context, u->memh);
	if (u->worker)
		ucp_worker_destroy(u->worker);
	if (u->context)
		ucp_cleanup(u->context);
	if (u->memory)
		munmap(u->memory, 2 * slots_bytes(link->run));
	if (u->epfd >= 0)
		close(u->epfd);
	if (u->fd >= 0)
		close(u->fd);
	if (u->listener >= 0)
		close(u->listener);
	free(u->doorbells);
	free(u->arrived);
	free(u);
}

static int open_context(struct ucx *u)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES |
			UCP_PARAM_FIELD_REQUEST_SIZE |
			UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
		.features = UCP_FEATURE_RMA | UCP_FEATURE_AM |
			(u->link.run->wait == WAIT_SPIN ? 0 :
			 UCP_FEATURE_WAKEUP),
		.request_size = sizeof(struct flush),
		.estimated_num_eps = 1,
	};
	ucp_config_t *config;
	ucs_status_t status;

	status = ucp_config_read(NULL, NULL, &config);
	if (status)
		return broken("ucp_config_read", status);
	if (!getenv("UCX_TLS"))
		status = ucp_config_modify(config, "TLS", TLS);
	if (!status)
		status = ucp_config_modify(config, "UD_ETH_DGID_CHECK", "n");
	if (!status)
		status = ucp_init(&params, config, &u->context);
	ucp_config_release(config);
	return status ? broken("ucp_init", status) : 0;
}

static int open_worker(struct ucx *u)
{
	ucp_worker_params_t params = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};
	const ucp_am_handler_param_t handler = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
			UCP_AM_HANDLER_PARAM_FIELD_CB |
			UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = DOORBELL,
		.cb = ucx_on_message,
		.arg = u,
	};
	ucs_status_t status;

	status = ucp_worker_create(u->context, &params, &u->worker);
	if (status)
		return broken("ucp_worker_create", status);
	status = ucp_worker_set_am_recv_handler(u->worker, &handler);
	return status ? broken("ucp_worker_set_am_recv_handler", status) : 0;
}

static int make_fds(struct ucx *u)
{
	struct epoll_event in = { .events = EPOLLIN };
	ucs_status_t status;

	if (u->link.run->wait == WAIT_SPIN)
		return 0;
	status = ucp_worker_get_efd(u->worker, &u->efd);
	if (status)
		return broken("ucp_worker_get_efd", status);
	if (u->link.run->wait != WAIT_EPOLL)
		return 0;
	u->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (u->epfd < 0 || epoll_ctl(u->epfd, EPOLL_CTL_ADD, u->efd, &in))
		return fail("epoll: %s", strerror(errno));
	return 0;
}

static int make_memory(struct ucx *u)
{
	size_t len = 2 * slots_bytes(u->link.run);
	ucp_mem_map_params_t params = {
		.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
			UCP_MEM_MAP_PARAM_FIELD_LENGTH,
		.length = len,
	};
	ucs_status_t status;

	u->doorbells = calloc(slots_of(u->link.run), sizeof(*u->doorbells));
	u->arrived = calloc(u->link.run->window, sizeof(*u->arrived));
	u->memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (u->memory == MAP_FAILED)
		u->memory = NULL;
	if (!u->doorbells || !u->arrived || !u->memory)
		return fail("no memory");
	params.address = u->memory;
	status = ucp_mem_map(u->context, &params, &u->memh);
	return status ? broken("ucp_mem_map", status) : 0;
}

struct link *ucx_open(const struct run *run, bool server)
{
	struct ucx *u;

	(void)server;
	if (run->endpoints > 1) {
		fail("ucx: one endpoint only");
		return NULL;
	}
	u = calloc(1, sizeof(*u));
	if (!u) {
		fail("no memory");
		return NULL;
	}
	u->link = (struct link){ .ops = &peer, .run = run };
	u->listener = -1;
	u->fd = -1;
	u->epfd = -1;
	u->credit = run->window;
	if (!open_context(u) && !open_worker(u) && !make_fds(u) &&
	    !make_memory(u))
		return &u->link;
	ucx_close(&u->link);
	return NULL;
}

/* ---- connecting: addresses and keys go over a socket, as UCX wants it ---- */

static int send_blob(int fd, const void *data, size_t len)
{
	const uint32_t n = (uint32_t)len;

	return send_all(fd, &n, sizeof(n)) ? EXIT_FAILED :
		send_all(fd, data, len);
}

static int recv_blob(int fd, void *data)
{
	uint32_t n;

	if (recv_all(fd, &n, sizeof(n)))
		return EXIT_FAILED;
	return n > BLOB_MAX ? fail("ucx: a stranger") : recv_all(fd, data, n);
}

static int tell(struct ucx *u)
{
	const uint64_t slots = (uintptr_t)slot(u, true, 0);
	ucp_address_t *address;
	ucs_status_t status;
	size_t len, key_len;
	void *key;
	int ret;

	status = ucp_worker_get_address(u->worker, &address, &len);
	if (status)
		return broken("ucp_worker_get_address", status);
	status = ucp_rkey_pack(u->context, u->memh, &key, &key_len);
	if (!status) {
		ret = send_blob(u->fd, address, len) ||
			send_blob(u->fd, key, key_len) ||
			send_all(u->fd, &slots, sizeof(slots));
		ucp_rkey_buffer_release(key);
	} else {
		ret = broken("ucp_rkey_pack", status);
	}
	ucp_worker_release_address(u->worker, address);
	return ret;
}

static int learn(struct ucx *u)
{
	char address[BLOB_MAX], key[BLOB_MAX];
	const ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
		.address = (const ucp_address_t *)address,
	};
	ucs_status_t status;

	if (recv_blob(u->fd, address) || recv_blob(u->fd, key) ||
	    recv_all(u->fd, &u->remote, sizeof(u->remote)))
		return EXIT_FAILED;
	status = ucp_ep_create(u->worker, &params, &u->ep);
	if (status)
		return broken("ucp_ep_create", status);
	status = ucp_ep_rkey_unpack(u->ep, key, &u->rkey);
	return status ? broken("ucp_ep_rkey_unpack", status) : 0;
}

/* UCX connects when something is sent for the first time: a credit of nothing. */
static int greet(struct ucx *u)
{
	if (tell(u) || learn(u))
		return EXIT_FAILED;
	ucx_send_credit(u);
	return meet(u);
}

int ucx_listen(struct link *link, union address *addr)
{
	socklen_t len = sizeof(*addr);
	struct ucx *u = ucx_of(link);

	u->listener = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (u->listener < 0 ||
	    bind(u->listener, &addr->sa, address_len(addr)) ||
	    listen(u->listener, 1) ||
	    getsockname(u->listener, &addr->sa, &len))
		return fail("ucx: listening: %s", strerror(errno));
	return 0;
}

int ucx_accept(struct link *link)
{
	struct ucx *u = ucx_of(link);

	u->fd = accept4(u->listener, NULL, NULL, SOCK_CLOEXEC);
	if (u->fd < 0)
		return fail("ucx: accepting: %s", strerror(errno));
	return greet(u);
}

int ucx_connect(struct link *link, const union address *addr)
{
	struct ucx *u = ucx_of(link);

	u->fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (u->fd < 0 || connect(u->fd, &addr->sa, address_len(addr)))
		return fail("ucx: connecting: %s", strerror(errno));
	return greet(u);
}
