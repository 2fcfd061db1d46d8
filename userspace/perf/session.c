// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify perf - runs, seen from the control channel.
 *
 *	client				server
 *	  struct run ------------------->  opens a link, listens
 *	  <--------------------- the port
 *	  connects			  accepts
 *	  <-------------------- "accepted"
 *	  measures			  measures
 *	  "measured" ------------------->
 *	  closes			  closes
 *	  <------------- struct end_result
 */
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "engine.h"
#include "session.h"

#define READY 0x79646572u

static int tell_ready(int control)
{
	const uint32_t word = READY;

	return control_send(control, &word, sizeof(word));
}

static int await_ready(int control)
{
	uint32_t word;

	if (control_recv(control, &word, sizeof(word)))
		return EXIT_FAILED;
	return word == READY ? 0 : fail("the other end talks nonsense");
}

static void close_link(struct link *link, struct end_result *result)
{
	uint64_t start = now_ns();

	link->ops->close(link);
	result->close_ns = now_ns() - start;
}

/* ---- client ---- */

static int client_connect(int control, struct link *link,
			  const union address *addr, struct end_result *mine)
{
	union address to = *addr;
	uint64_t start;
	uint16_t port;
	int64_t before;

	if (control_recv(control, &port, sizeof(port)))
		return EXIT_FAILED;
	address_set_port(&to, port);
	before = machine_free_bytes();
	start = now_ns();
	if (link->ops->connect(link, &to) || await_ready(control))
		return EXIT_FAILED;
	mine->connect_ns = now_ns() - start;
	mine->kernel_bytes = before - machine_free_bytes();
	return 0;
}

static int client_measure(int control, struct link *link, struct result *result)
{
	int ret = 0;

	if (link->run->mode != MODE_CONNECT)
		ret = engine_client(link, &result->client, result->one_way);
	return ret ? ret : tell_ready(control);
}

static int client_link(int control, const union address *addr,
		       struct result *result)
{
	const struct transport *t = transport_find(result->run.transport);
	struct link *link = t->open(&result->run, false);
	int ret;

	if (!link)
		return EXIT_FAILED;
	ret = client_connect(control, link, addr, &result->client);
	if (!ret)
		ret = client_measure(control, link, result);
	close_link(link, &result->client);
	return ret;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int session_run(int control, const struct run *run, const union address *addr,
		struct result *result, bool guarded)
{
	int ret;

	*result = (struct result){ .run = *run };
	if (run->mode == MODE_LATENCY) {
		result->one_way = calloc(run->iterations,
					 sizeof(*result->one_way));
		if (!result->one_way)
			return fail("no memory for %llu samples",
				    (unsigned long long)run->iterations);
	}
	if (control_send(control, run, sizeof(*run)) ||
	    (guarded && control_guard(control)))
		return EXIT_FAILED;
	ret = client_link(control, addr, result);
	if (!ret)
		ret = control_recv(control, &result->server,
				   sizeof(result->server));
	control_unguard();
	if (!ret && result->one_way)
		qsort(result->one_way, run->iterations,
		      sizeof(*result->one_way), by_value);
	return ret;
}

void result_free(struct result *result)
{
	free(result->one_way);
	result->one_way = NULL;
}

/* ---- server ---- */

static int server_accept(int control, struct link *link,
			 const union address *addr, struct end_result *mine)
{
	union address at = *addr;
	uint64_t start;
	uint16_t port;

	address_set_port(&at, 0);
	if (link->ops->listen(link, &at))
		return EXIT_FAILED;
	port = address_port(&at);
	start = now_ns();
	if (control_send(control, &port, sizeof(port)) ||
	    link->ops->accept(link))
		return EXIT_FAILED;
	mine->connect_ns = now_ns() - start;
	return tell_ready(control);
}

static int server_link(int control, const struct run *run,
		       const union address *addr, struct end_result *mine)
{
	const struct transport *t = transport_find(run->transport);
	struct link *link;
	int ret;

	if (!t || !(t->waits & WAIT_BIT(run->wait)))
		return fail("the other end talks nonsense");
	link = t->open(run, true);
	if (!link)
		return EXIT_FAILED;
	ret = server_accept(control, link, addr, mine);
	if (!ret && run->mode != MODE_CONNECT)
		ret = engine_server(link, mine);
	if (!ret)
		ret = await_ready(control);
	close_link(link, mine);
	return ret;
}

static bool within(uint64_t n, uint64_t min, uint64_t max)
{
	return n >= min && n <= max;
}

/* What comes from another program must not make this one fall over. */
static bool run_is_sane(const struct run *run)
{
	return memchr(run->transport, 0, sizeof(run->transport)) &&
		run->mode < NR_MODES && run->wait < NR_WAITS &&
		within(run->size, 0, LIMIT_SIZE) &&
		within(run->batch, 1, LIMIT_BATCH) &&
		within(run->window, 1, LIMIT_WINDOW) &&
		within(run->endpoints, 1, LIMIT_ENDPOINTS) &&
		within(run->spin_us, 0, LIMIT_SPIN_US) &&
		within(run->warmup, 0, LIMIT_ITERATIONS) &&
		within(run->iterations, 1, LIMIT_ITERATIONS);
}

int session_serve(int control, const union address *addr, bool guarded)
{
	struct end_result mine;
	struct run run;
	int ret;

	for (;;) {
		ret = control_recv_first(control, &run, sizeof(run));
		if (ret)
			return ret < 0 ? 0 : ret;
		if (!run_is_sane(&run))
			return fail("the other end talks nonsense");
		mine = (struct end_result){ 0 };
		if (guarded && control_guard(control))
			return EXIT_FAILED;
		ret = server_link(control, &run, addr, &mine);
		control_unguard();
		if (ret || control_send(control, &mine, sizeof(mine)))
			return EXIT_FAILED;
	}
}
