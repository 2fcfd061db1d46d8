// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs/rnotify_floor/run: write what to measure, read what came out.
 *
 *	latency softirq|spin SIZE COUNT
 *	stream softirq|spin SIZE COUNT BATCH
 *	connect softirq|spin SIZE COUNT
 *
 * A write returns when it is over, with an errno if it failed. A read gives the
 * figures of the latest one as one line of JSON.
 */
#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/ipv6.h>

#include "floor.h"

static char *addr = "10.0.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "own address of the RDMA device");

/* One run at a time; protects the line, too. */
static DEFINE_MUTEX(floor_mutex);
static char line[256];
static struct dentry *dir;

static int parse(const char *text, struct floor_job *job)
{
	char what[8], how[8];
	int nr;

	job->batch = 1;
	nr = sscanf(text, "%7s %7s %u %u %u", what, how, &job->size,
		    &job->count, &job->batch);
	job->connect = !strcmp(what, "connect");
	job->stream = !strcmp(what, "stream");
	job->spin = !strcmp(how, "spin");
	/* Connections as an endpoint of rnotify has them by default. */
	job->depth = job->connect ? FLOOR_DEPTH / 4 : FLOOR_DEPTH;
	if (nr < 2 || (!job->stream && !job->connect && strcmp(what, "latency")) ||
	    (!job->spin && strcmp(how, "softirq")))
		return -EINVAL;
	if (nr != (job->stream ? 5 : 4) || !job->size ||
	    job->size > FLOOR_SIZE_MAX ||
	    !job->count || job->count > FLOOR_COUNT_MAX || !job->batch ||
	    job->batch > FLOOR_BATCH_MAX || job->count % job->batch)
		return -EINVAL;
	return 0;
}

static u32 percentile(const struct floor_job *job, const u32 *half, u32 per)
{
	return half[(u32)div_u64((u64)(job->count - 1) * per, 100)];
}

static const char *mode_of(const struct floor_job *job)
{
	if (job->connect)
		return "connect";
	return job->stream ? "stream" : "latency";
}

static void report(const struct floor_job *job, const struct floor_result *res)
{
	int n;

	n = scnprintf(line, sizeof(line),
		      "{\"mode\": \"%s\", \"wait\": \"%s\", \"size\": %u, \"count\": %u, ",
		      mode_of(job), job->spin ? "spin" : "softirq", job->size,
		      job->count);
	if (job->connect)
		scnprintf(line + n, sizeof(line) - n,
			  "\"ns\": %llu, \"per_second\": %llu}\n", res->ns,
			  div64_u64((u64)job->count * NSEC_PER_SEC, res->ns));
	else if (job->stream)
		scnprintf(line + n, sizeof(line) - n,
			  "\"batch\": %u, \"ns\": %llu, \"per_second\": %llu}\n",
			  job->batch, res->ns,
			  div64_u64((u64)job->count * NSEC_PER_SEC, res->ns));
	else
		scnprintf(line + n, sizeof(line) - n,
			  "\"ns\": %llu, \"one_way_ns\": {\"mean\": %llu, \"min\": %u, \"p50\": %u, \"p99\": %u, \"max\": %u}}\n",
			  res->ns, div_u64(res->ns, 2 * job->count),
			  res->half[0], percentile(job, res->half, 50),
			  percentile(job, res->half, 99),
			  res->half[job->count - 1]);
}

static int run(const struct floor_job *job)
{
	struct sockaddr_storage where = {};
	struct floor_result result = {};
	int ret;

	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, addr, "0", &where);
	if (ret)
		return ret;
	if (!job->stream && !job->connect) {
		result.half = vzalloc(array_size(job->count, sizeof(u32)));
		if (!result.half)
			return -ENOMEM;
	}
	ret = floor_run(job, (struct sockaddr *)&where, &result);
	if (!ret)
		report(job, &result);
	vfree(result.half);
	return ret;
}

static ssize_t floor_write(struct file *file, const char __user *user,
			   size_t count, loff_t *pos)
{
	struct floor_job job = {};
	char text[64];
	ssize_t len;
	int ret;

	len = simple_write_to_buffer(text, sizeof(text) - 1, pos, user, count);
	if (len != count)
		return len < 0 ? len : -EINVAL;
	text[len] = '\0';
	ret = parse(text, &job);
	if (ret)
		return ret;
	ret = mutex_lock_interruptible(&floor_mutex);
	if (ret)
		return ret;
	ret = run(&job);
	mutex_unlock(&floor_mutex);
	return ret ?: count;
}

static ssize_t floor_read(struct file *file, char __user *user, size_t count,
			  loff_t *pos)
{
	ssize_t ret;

	ret = mutex_lock_interruptible(&floor_mutex);
	if (ret)
		return ret;
	ret = simple_read_from_buffer(user, count, pos, line, strlen(line));
	mutex_unlock(&floor_mutex);
	return ret;
}

static const struct file_operations floor_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = floor_read,
	.write = floor_write,
};

static int __init floor_init(void)
{
	dir = debugfs_create_dir("rnotify_floor", NULL);
	debugfs_create_file("run", 0600, dir, NULL, &floor_fops);
	return 0;
}
module_init(floor_init);

static void __exit floor_exit(void)
{
	debugfs_remove(dir);
}
module_exit(floor_exit);

MODULE_DESCRIPTION("WRITE WITH IMMEDIATE from kernel to kernel, to measure against");
MODULE_LICENSE("GPL");
