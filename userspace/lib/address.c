// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * librnotify - addresses: from and to text, and from struct sockaddr.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * In a statically linked program, getaddrinfo() would want the very libraries
 * that static linking is to do without, and ld warns about it. A weak reference
 * does not pull it in: such programs know numeric addresses only.
 */
#pragma weak getaddrinfo
#pragma weak freeaddrinfo

#define HOST_MAX 256

static int port_parse(const char *text, uint16_t *port)
{
	unsigned long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (n > UINT16_MAX)
		return -ERANGE;
	*port = (uint16_t)n;
	return 0;
}

/* "[host]:port" -> host; returns what follows the bracket */
static const char *split_brackets(const char *text, size_t *len)
{
	const char *close = strchr(text, ']');

	if (!close)
		return NULL;
	*len = (size_t)(close - text - 1);
	return close + 1;
}

/* Cut text into host and port; a port of NULL means that there is none. */
static int split(const char *text, char *host, const char **port)
{
	const char *start = text, *rest;
	size_t len;

	if (*text == '[') {
		rest = split_brackets(text, &len);
		start++;
		if (!rest || (*rest && *rest != ':'))
			return -EINVAL;
	} else {
		rest = strrchr(text, ':');
		/* More than one colon: an IPv6 address without a port. */
		if (!rest || strchr(text, ':') != rest)
			rest = text + strlen(text);
		len = (size_t)(rest - text);
	}
	if (len >= HOST_MAX)
		return -EINVAL;
	memcpy(host, start, len);
	host[len] = '\0';
	*port = *rest ? rest + 1 : NULL;
	return 0;
}

static int scope_parse(const char *scope, uint32_t *id)
{
	uint32_t index = if_nametoindex(scope);
	unsigned long n;
	char *end;

	if (!index && *scope >= '0' && *scope <= '9') {
		n = strtoul(scope, &end, 10);
		if (!*end && n <= INT_MAX)
			index = (uint32_t)n;
	}
	*id = index;
	return index ? 0 : -ENODEV;
}

/* 0, -ENODEV, or -EINVAL if it is not a numeric address */
static int numeric(char *host, struct rnotify_sockaddr *addr)
{
	char *scope = strchr(host, '%');
	int ret;

	if (!*host || !strcmp(host, "*")) {
		addr->family = AF_INET;
		return 0;
	}
	if (inet_pton(AF_INET, host, addr->addr) == 1) {
		addr->family = AF_INET;
		return 0;
	}
	if (scope)
		*scope = '\0';
	ret = inet_pton(AF_INET6, host, addr->addr) == 1 ? 0 : -EINVAL;
	if (!ret)
		addr->family = AF_INET6;
	if (!ret && scope)
		ret = scope_parse(scope + 1, &addr->scope_id);
	if (scope)
		*scope = '%';
	return ret;
}

static int gai_errno(int err)
{
	switch (err) {
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	default:
		return -ENOENT;
	}
}

static int by_name(const char *host, struct rnotify_sockaddr *addr)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const struct addrinfo *best;
	struct addrinfo *list;
	int ret;

	if (!getaddrinfo || !freeaddrinfo)
		return -EOPNOTSUPP;
	ret = getaddrinfo(host, NULL, &hints, &list);
	if (ret)
		return gai_errno(ret);
	/* IPv4 if there is, as "*" is IPv4: where nobody chose, both ends meet. */
	for (best = list; best && best->ai_family != AF_INET;)
		best = best->ai_next;
	if (!best)
		best = list;
	ret = rnotify_sockaddr_from(best->ai_addr, best->ai_addrlen, addr);
	freeaddrinfo(list);
	return ret;
}

/*
 * What can't be a name is not asked for, so that typing errors show as such. Digits
 * alone are a port without its colon, though inet_aton() has an address of them.
 */
static int name_check(const char *host)
{
	if (strspn(host, "0123456789") == strlen(host))
		return -EINVAL;
	return strspn(host, "abcdefghijklmnopqrstuvwxyz"
		      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") == strlen(host) ?
		0 : -EINVAL;
}

int rnotify_resolve(const char *text, uint16_t default_port,
		    struct rnotify_sockaddr *addr)
{
	struct rnotify_sockaddr found = { 0 };
	uint16_t number = default_port;
	char host[HOST_MAX];
	const char *port;
	int ret;

	ret = split(text, host, &port);
	if (!ret && port)
		ret = port_parse(port, &number);
	if (!ret && !port && !default_port)
		ret = -EINVAL;
	if (ret)
		return ret;
	ret = numeric(host, &found);
	if (ret == -EINVAL)
		ret = name_check(host) ?: by_name(host, &found);
	if (ret)
		return ret;
	found.port = number;
	*addr = found;
	return 0;
}

const char *rnotify_format(const struct rnotify_sockaddr *addr, char *buf,
			   size_t size)
{
	char host[INET6_ADDRSTRLEN], name[IF_NAMESIZE], scope[IF_NAMESIZE + 16];

	if (addr->family != AF_INET && addr->family != AF_INET6) {
		snprintf(buf, size, "(no address)");
		return buf;
	}
	inet_ntop(addr->family, addr->addr, host, sizeof(host));
	if (addr->family == AF_INET) {
		snprintf(buf, size, "%s:%u", host, addr->port);
		return buf;
	}
	scope[0] = '\0';
	if (addr->scope_id && if_indextoname(addr->scope_id, name))
		snprintf(scope, sizeof(scope), "%%%s", name);
	else if (addr->scope_id)
		snprintf(scope, sizeof(scope), "%%%u", addr->scope_id);
	snprintf(buf, size, "[%s%s]:%u", host, scope, addr->port);
	return buf;
}

int rnotify_sockaddr_from(const struct sockaddr *sa, size_t len,
			  struct rnotify_sockaddr *addr)
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	*addr = (struct rnotify_sockaddr){ 0 };
	if (len < sizeof(sa->sa_family))
		return -EINVAL;
	if (sa->sa_family == AF_INET && len >= sizeof(in)) {
		memcpy(&in, sa, sizeof(in));
		addr->family = AF_INET;
		addr->port = ntohs(in.sin_port);
		memcpy(addr->addr, &in.sin_addr, sizeof(in.sin_addr));
		return 0;
	}
	if (sa->sa_family == AF_INET6 && len >= sizeof(in6)) {
		memcpy(&in6, sa, sizeof(in6));
		addr->family = AF_INET6;
		addr->port = ntohs(in6.sin6_port);
		addr->scope_id = in6.sin6_scope_id;
		memcpy(addr->addr, &in6.sin6_addr, sizeof(in6.sin6_addr));
		return 0;
	}
	return -EAFNOSUPPORT;
}
