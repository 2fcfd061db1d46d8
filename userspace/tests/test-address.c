// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Addresses: what rnotify_resolve() takes and refuses, and rnotify_format().
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <rnotify/rnotify.h>

#include "tap.h"

/* Back to text must give what one expects to read. */
static void check_round(const char *text, uint16_t port, const char *want)
{
	struct rnotify_sockaddr addr;
	char buf[RNOTIFY_ADDR_STRLEN];
	int ret = rnotify_resolve(text, port, &addr);

	if (ret) {
		printf("%s: %s\n", text, strerror(-ret));
		CHECK(!ret);
		return;
	}
	CHECK_STR(rnotify_format(&addr, buf, sizeof(buf)), want);
}

static void good(void)
{
	check_round("10.0.0.1:7471", 0, "10.0.0.1:7471");
	check_round("10.0.0.1", 7471, "10.0.0.1:7471");
	check_round("10.0.0.1:1", 7471, "10.0.0.1:1");
	check_round("10.0.0.1:0", 0, "10.0.0.1:0");
	check_round("10.0.0.1:65535", 0, "10.0.0.1:65535");
	check_round("[10.0.0.1]:5", 0, "10.0.0.1:5");
	check_round("*:7471", 0, "0.0.0.0:7471");
	check_round(":7471", 0, "0.0.0.0:7471");
	check_round("*", 9, "0.0.0.0:9");
	check_round("[fd00::1]:7471", 0, "[fd00::1]:7471");
	check_round("[fd00::1]", 7471, "[fd00::1]:7471");
	check_round("fd00::1", 7471, "[fd00::1]:7471");
	check_round("::", 7471, "[::]:7471");
	check_round("[::]:7471", 0, "[::]:7471");
	check_round("[::ffff:1.2.3.4]:7471", 0, "[::ffff:1.2.3.4]:7471");
	check_round("localhost:80", 0, "127.0.0.1:80");
}

static void scopes(void)
{
	struct rnotify_sockaddr addr;
	char name[IF_NAMESIZE], text[64];

	/* There is always a loopback device, whatever it is called. */
	if (!if_indextoname(1, name))
		return;
	snprintf(text, sizeof(text), "[fe80::1%%%s]:7471", name);
	check_round(text, 0, text);
	check_round("[fe80::1%1]:7471", 0, text);
	snprintf(text, sizeof(text), "fe80::1%%%s", name);
	CHECK(!rnotify_resolve(text, 5, &addr) && addr.scope_id == 1);
	CHECK(rnotify_resolve("[fe80::1%nosuchif]:1", 0, &addr) == -ENODEV);
	CHECK(rnotify_resolve("[fe80::1%]:1", 0, &addr) == -ENODEV);
	/* An index that nothing has at the moment is shown as a number. */
	check_round("[fe80::1%4095]:1", 0, "[fe80::1%4095]:1");
}

static void bad(void)
{
	static const char *const texts[] = {
		"", "10.0.0.1", "fd00::1", "[fd00::1]", "10.0.0.1:", "10.0.0.1:x",
		"10.0.0.1:1x", "10.0.0.1:-1", "10.0.0.1: 1",
		"[fd00::1", "[fd00::1]7471", "[fd00::1]x:7471", "[]x", "a b:1",
		"[fd00:::1]:1", "[fg00::1]:1", "http://x:1", "10.0.0.1:65536x",
		"9000", "9000:1",
	};
	struct rnotify_sockaddr addr = { .port = 4711 };
	char longest[600];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (rnotify_resolve(texts[i], 0, &addr) != -EINVAL) {
			printf("'%s' was not refused\n", texts[i]);
			CHECK(0);
		}
	CHECK(rnotify_resolve("10.0.0.1:65536", 0, &addr) == -ERANGE);
	CHECK(rnotify_resolve("h:999999999999999999999", 0, &addr) == -ERANGE);
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + sizeof(longest) - 3, ":1");
	CHECK(rnotify_resolve(longest, 0, &addr) == -EINVAL);
	CHECK(addr.port == 4711);
}

static void from_sockaddr(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(81),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
		.sin6_scope_id = 3,
	};
	struct sockaddr un = { .sa_family = AF_UNIX };
	struct rnotify_sockaddr addr;

	in.sin_addr.s_addr = htonl(0x0a000001);
	CHECK(!rnotify_sockaddr_from((void *)&in, sizeof(in), &addr));
	CHECK(addr.family == AF_INET && addr.port == 80 && addr.addr[0] == 10 &&
	      addr.addr[3] == 1 && !addr.addr[4]);
	CHECK(!rnotify_sockaddr_from((void *)&in6, sizeof(in6), &addr));
	CHECK(addr.port == 81 && addr.scope_id == 3 && addr.addr[15] == 1);
	CHECK(rnotify_sockaddr_from(&un, sizeof(un), &addr) == -EAFNOSUPPORT);
	CHECK(rnotify_sockaddr_from((void *)&in6, sizeof(in), &addr) ==
	      -EAFNOSUPPORT);
	CHECK(rnotify_sockaddr_from(&un, 1, &addr) == -EINVAL);
}

static void cut_short(void)
{
	struct rnotify_sockaddr addr;
	char buf[8];

	CHECK(!rnotify_resolve("10.20.30.40:7471", 0, &addr));
	CHECK_STR(rnotify_format(&addr, buf, sizeof(buf)), "10.20.3");
	memset(&addr, 0, sizeof(addr));
	CHECK_STR(rnotify_format(&addr, buf, sizeof(buf)), "(no add");
}

int main(void)
{
	return tap_run("addresses that are taken", good) +
		tap_run("IPv6 scopes", scopes) +
		tap_run("addresses that are refused", bad) +
		tap_run("from struct sockaddr", from_sockaddr) +
		tap_run("short buffers", cut_short);
}
