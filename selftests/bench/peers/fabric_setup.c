// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf with libfabric: making and ending.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fabric.h"

/* Receives for credits, beside those for notifications. */
#define CREDIT_RECVS 8u

static void close_fid(struct fid *fid)
{
	if (fid)
		fi_close(fid);
}

#define CLOSE(x) close_fid((x) ? &(x)->fid : NULL)

void fabric_close(struct link *link)
{
	struct fabric *f = fabric_of(link);

	if (f->ep)
		fi_shutdown(f->ep, 0);
	CLOSE(f->ep);
	CLOSE(f->pep);
	CLOSE(f->mr);
	CLOSE(f->rx);
	CLOSE(f->tx);
	CLOSE(f->domain);
	CLOSE(f->eq);
	CLOSE(f->fabric);
	if (f->info)
		fi_freeinfo(f->info);
	if (f->memory)
		munmap(f->memory, 2 * slots_bytes(link->run));
	if (f->epfd >= 0)
		close(f->epfd);
	free(f);
}

struct link *fabric_open(const struct run *run, bool server)
{
	struct fabric *f;

	(void)server;
	if (run->endpoints > 1) {
		fail("libfabric: one endpoint only");
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		fail("no memory");
		return NULL;
	}
	f->link = (struct link){ .ops = &peer, .run = run };
	f->epfd = -1;
	f->rx_size = run->window + CREDIT_RECVS;
	f->tx_size = 2 * run->window + CREDIT_RECVS;
	f->credit = run->window;
	f->memory = mmap(NULL, 2 * slots_bytes(run), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->memory != MAP_FAILED)
		return &f->link;
	f->memory = NULL;
	fail("no memory");
	fabric_close(&f->link);
	return NULL;
}

/* What is asked of the provider. */
static struct fi_info *wishes(const struct fabric *f)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_RX_CQ_DATA;
	hints->addr_format = FI_SOCKADDR;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
		FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->cq_data_size = sizeof(uint32_t);
	hints->tx_attr->size = f->tx_size;
	hints->rx_attr->size = f->rx_size;
	hints->fabric_attr->prov_name = strdup("verbs");
	return hints;
}

static int find_device(struct fabric *f, const union address *addr,
		       uint64_t flags)
{
	char host[INET6_ADDRSTRLEN], port[8];
	struct fi_info *hints = wishes(f);
	int ret = -FI_ENOMEM;

	inet_ntop(addr->sa.sa_family, addr->sa.sa_family == AF_INET6 ?
		  (const void *)&addr->in6.sin6_addr : &addr->in.sin_addr,
		  host, sizeof(host));
	snprintf(port, sizeof(port), "%u", address_port(addr));
	if (hints)
		ret = fi_getinfo(FI_VERSION(1, 17), host, port, flags, hints,
				 &f->info);
	fi_freeinfo(hints);
	return ret ? broken("fi_getinfo", ret) : 0;
}

static int make_cqs(struct fabric *f)
{
	struct fi_cq_attr attr = {
		.size = f->rx_size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = f->link.run->wait == WAIT_SPIN ? FI_WAIT_NONE :
			FI_WAIT_FD,
	};
	int ret = fi_cq_open(f->domain, &attr, &f->rx, NULL);

	if (ret)
		return broken("fi_cq_open", ret);
	attr.size = f->tx_size;
	attr.wait_obj = FI_WAIT_NONE;
	ret = fi_cq_open(f->domain, &attr, &f->tx, NULL);
	return ret ? broken("fi_cq_open", ret) : 0;
}

static int make_epoll(struct fabric *f)
{
	struct epoll_event in = { .events = EPOLLIN };
	int fd, ret;

	if (f->link.run->wait != WAIT_EPOLL)
		return 0;
	ret = fi_control(&f->rx->fid, FI_GETWAIT, &fd);
	if (ret)
		return broken("FI_GETWAIT", ret);
	f->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (f->epfd < 0 || epoll_ctl(f->epfd, EPOLL_CTL_ADD, fd, &in))
		return broken("epoll", -errno);
	return 0;
}

static int open_device(struct fabric *f)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	int ret;

	ret = fi_fabric(f->info->fabric_attr, &f->fabric, NULL);
	if (ret)
		return broken("fi_fabric", ret);
	ret = fi_eq_open(f->fabric, &attr, &f->eq, NULL);
	if (ret)
		return broken("fi_eq_open", ret);
	ret = fi_domain(f->fabric, f->info, &f->domain, NULL);
	if (ret)
		return broken("fi_domain", ret);
	ret = fi_mr_reg(f->domain, f->memory, 2 * slots_bytes(f->link.run),
			FI_WRITE | FI_REMOTE_WRITE, 0, 0, 0, &f->mr, NULL);
	if (ret)
		return broken("fi_mr_reg", ret);
	return make_cqs(f) ? EXIT_FAILED : make_epoll(f);
}

static int make_endpoint(struct fabric *f, struct fi_info *info)
{
	int ret = fi_endpoint(f->domain, info, &f->ep, NULL);

	if (ret)
		return broken("fi_endpoint", ret);
	ret = fi_ep_bind(f->ep, &f->eq->fid, 0);
	ret = ret ? ret : fi_ep_bind(f->ep, &f->rx->fid, FI_RECV);
	ret = ret ? ret : fi_ep_bind(f->ep, &f->tx->fid, FI_TRANSMIT |
				     FI_SELECTIVE_COMPLETION);
	ret = ret ? ret : fi_enable(f->ep);
	return ret ? broken("fi_enable", ret) : fabric_post_receives(f, f->rx_size);
}

/* The next event, which has to be @what; with the peer's hello, if it brings it. */
static int await_event(struct fabric *f, uint32_t what, struct fi_info **info)
{
	char buffer[sizeof(struct fi_eq_cm_entry) + 256];
	struct fi_eq_cm_entry *entry = (void *)buffer;
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	ssize_t ret;

	do {
		ret = fi_eq_sread(f->eq, &event, buffer, sizeof(buffer), -1, 0);
	} while (ret == -FI_EINTR || ret == -FI_EAGAIN);
	if (ret == -FI_EAVAIL) {
		fi_eq_readerr(f->eq, &err, 0);
		return broken("connecting", -err.err);
	}
	if (ret < 0)
		return broken("fi_eq_sread", ret);
	if (event != what)
		return fail("libfabric: event %u, not %u", event, what);
	if (ret >= (ssize_t)(sizeof(*entry) + sizeof(f->remote)))
		memcpy(&f->remote, entry->data, sizeof(f->remote));
	if (info)
		*info = entry->info;
	return 0;
}

static struct hello greeting(struct fabric *f)
{
	return (struct hello){
		.addr = (uintptr_t)slot(f, true, 0),
		.key = fi_mr_key(f->mr),
	};
}

int fabric_listen(struct link *link, union address *addr)
{
	struct fabric *f = fabric_of(link);
	size_t len = sizeof(*addr);
	int ret;

	if (find_device(f, addr, FI_SOURCE) || open_device(f))
		return EXIT_FAILED;
	ret = fi_passive_ep(f->fabric, f->info, &f->pep, NULL);
	ret = ret ? ret : fi_pep_bind(f->pep, &f->eq->fid, 0);
	ret = ret ? ret : fi_listen(f->pep);
	ret = ret ? ret : fi_getname(&f->pep->fid, addr, &len);
	return ret ? broken("listening", ret) : 0;
}

int fabric_accept(struct link *link)
{
	struct fabric *f = fabric_of(link);
	struct fi_info *info;
	struct hello hello;
	int ret;

	if (await_event(f, FI_CONNREQ, &info))
		return EXIT_FAILED;
	ret = make_endpoint(f, info);
	fi_freeinfo(info);
	if (ret)
		return EXIT_FAILED;
	hello = greeting(f);
	ret = fi_accept(f->ep, &hello, sizeof(hello));
	return ret ? broken("fi_accept", ret) :
		await_event(f, FI_CONNECTED, NULL);
}

int fabric_connect(struct link *link, const union address *addr)
{
	struct fabric *f = fabric_of(link);
	struct hello hello;
	int ret;

	if (find_device(f, addr, 0) || open_device(f) ||
	    make_endpoint(f, f->info))
		return EXIT_FAILED;
	hello = greeting(f);
	ret = fi_connect(f->ep, f->info->dest_addr, &hello, sizeof(hello));
	return ret ? broken("fi_connect", ret) :
		await_event(f, FI_CONNECTED, NULL);
}
