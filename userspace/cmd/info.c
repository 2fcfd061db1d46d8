// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify info - what the kernel offers, and the RDMA devices there are.
 */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"
#include "devices.h"
#include "json.h"

static const char usage[] =
"rnotify info [--json]\n"
"\n"
"Shows the limits and features of the kernel module, this process's limit of\n"
"locked memory, and the RDMA devices.\n"
"\n"
"  --json          as JSON\n"
"  -h, --help      this text\n"
"  -V, --version   version of the command\n";

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ RNOTIFY_FEATURE_URING_POST, "io_uring-post" },
	{ RNOTIFY_FEATURE_URING_WAIT, "io_uring-wait" },
};

/* Who has this may lock more than the limit, outside of user namespaces. */
static int may_lock_all(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return 0;
	return !!(data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &
		  CAP_TO_MASK(CAP_IPC_LOCK));
}

/* Bytes, or UINT64_MAX for no limit. */
static uint64_t memlock_limit(void)
{
	struct rlimit limit;

	if (may_lock_all() || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static void show_features(uint64_t bits)
{
	size_t i;

	printf("features:         ");
	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (bits & features[i].bit)
			printf(" %s", features[i].name);
	printf("%s\n", bits ? "" : " none");
}

static void show_device(const struct rdma_device *dev)
{
	unsigned int i;

	printf("device %s: %s, port %u %s, netdev %s", dev->name, dev->type,
	       dev->port, dev->state, *dev->netdev ? dev->netdev : "none");
	for (i = 0; i < dev->nr_addresses; i++)
		printf(" %s", dev->addresses[i]);
	putchar('\n');
}

static void show(const struct rnotify_query *q, const struct rdma_devices *devs)
{
	uint64_t memlock = memlock_limit();
	unsigned int i;

	printf("library:           %s\n", rnotify_version());
	printf("kernel ABI:        %u\n", q->abi_version);
	show_features(q->features);
	printf("ring entries:      up to %u\n", q->max_ring_entries);
	printf("depth:             up to %u\n", q->max_depth);
	printf("message size:      up to %u bytes\n", q->max_msg_size);
	printf("private data:      up to %u bytes\n", q->max_private_data);
	printf("shares:            up to %u per endpoint\n", q->max_shares);
	printf("operation:         up to %u bytes, %u inline\n",
	       q->max_op_len, q->max_inline);
	printf("rules:             up to %u per endpoint\n", q->max_rules);
	printf("counters:          up to %u, %u watches each\n",
	       q->max_counters, q->max_watches);
	printf("slot tables:       up to %u, of %u slots\n",
	       q->max_slot_tables, q->max_slots);
	printf("generations:       up to %u\n", q->max_generations);
	if (memlock == UINT64_MAX)
		printf("locked memory:     unlimited\n");
	else
		printf("locked memory:     up to %llu KiB\n",
		       (unsigned long long)memlock / 1024);
	printf("usable devices:    %u\n", q->nr_devices);
	for (i = 0; i < devs->nr; i++)
		show_device(&devs->dev[i]);
	if (!q->nr_devices)
		printf("No RDMA device: 'rdma link add rxe0 type rxe netdev eth0' makes a software one on an Ethernet device.\n");
}

static void json_features(struct json *j, uint64_t bits)
{
	size_t i;

	json_open(j, "features", '[');
	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (bits & features[i].bit)
			json_string(j, NULL, features[i].name);
	json_close(j, ']');
}

static void json_device(struct json *j, const struct rdma_device *dev)
{
	unsigned int i;

	json_open(j, NULL, '{');
	json_string(j, "name", dev->name);
	json_string(j, "type", dev->type);
	json_number(j, "port", dev->port);
	json_string(j, "state", dev->state);
	json_string(j, "netdev", dev->netdev);
	json_open(j, "addresses", '[');
	for (i = 0; i < dev->nr_addresses; i++)
		json_string(j, NULL, dev->addresses[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void show_json(const struct rnotify_query *q,
		      const struct rdma_devices *devs)
{
	uint64_t memlock = memlock_limit();
	struct json j;
	unsigned int i;

	json_begin(&j, stdout);
	json_string(&j, "version", rnotify_version());
	json_number(&j, "abi_version", q->abi_version);
	json_features(&j, q->features);
	json_number(&j, "max_ring_entries", q->max_ring_entries);
	json_number(&j, "max_depth", q->max_depth);
	json_number(&j, "max_msg_size", q->max_msg_size);
	json_number(&j, "max_private_data", q->max_private_data);
	json_number(&j, "max_shares", q->max_shares);
	json_number(&j, "max_op_len", q->max_op_len);
	json_number(&j, "max_inline", q->max_inline);
	json_number(&j, "max_rules", q->max_rules);
	json_number(&j, "max_counters", q->max_counters);
	json_number(&j, "max_watches", q->max_watches);
	json_number(&j, "max_slot_tables", q->max_slot_tables);
	json_number(&j, "max_slots", q->max_slots);
	json_number(&j, "max_generations", q->max_generations);
	if (memlock != UINT64_MAX)
		json_number(&j, "memlock", memlock);
	json_number(&j, "nr_devices", q->nr_devices);
	json_open(&j, "devices", '[');
	for (i = 0; i < devs->nr; i++)
		json_device(&j, &devs->dev[i]);
	json_close(&j, ']');
	json_finish(&j);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		COMMON_OPTIONS,
		{ 0 }
	};
	struct rnotify_query query;
	struct rdma_devices devs;
	bool json = false;
	int c, ret, status = 0;

	while ((c = next_option(argc, argv, "hV", options, usage, &status)) >= 0)
		json |= c == 'j';
	if (c == -2)
		return status;
	if (optind != argc)
		return bad_usage(usage, "info takes no arguments");
	ret = rnotify_query(NULL, &query);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	devices_read(&devs);
	if (json)
		show_json(&query, &devs);
	else
		show(&query, &devs);
	devices_free(&devs);
	return 0;
}

const struct command cmd_info = {
	"info", "limits and features of the kernel, RDMA devices", run
};
