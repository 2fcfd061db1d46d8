// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify send - command line of the sending side.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "outgoing.h"

#define RING_ENTRIES 2048

static const char usage[] =
"rnotify send [options] FILE|- HOST[:PORT]\n"
"\n"
"Sends a file, or standard input (-), to 'rnotify recv'. Blocks are written\n"
"straight into the receiver's memory, with a notification each. Succeeds only\n"
"when the receiver has all of it, verified and stored.\n"
"\n"
"  -b, --block SIZE   bytes per block, up to 64M (default: the receiver's)\n"
"  -d, --depth N      blocks under way at most, up to 1024 (default: as many as\n"
"                     fit the receiver's window)\n"
"      --json         figures as JSON\n"
"  -q, --quiet        no progress\n"
"  -h, --help         this text\n"
"  -V, --version      version of the command\n"
"\n"
"The port is 7471 if none is given. IPv6: [fd00::1]:7471, [fe80::1%eth0]:7471.\n";

struct send_options {
	uint64_t block;
	uint64_t depth;
	bool json;
	bool quiet;
	const char *file;
	const char *where;
};

static int parse(int argc, char **argv, struct send_options *opt, int *status)
{
	static const struct option options[] = {
		{ "block", required_argument, NULL, 'b' },
		{ "depth", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		COMMON_OPTIONS,
		{ 0 }
	};
	int c;

	while ((c = next_option(argc, argv, "b:d:qhV", options, usage,
				status)) >= 0) {
		if (c == 'b' && !parse_size(optarg, 1, BLOCK_MAX, &opt->block))
			*status = bad_value(usage, "block", optarg,
					    "a size from 1 to 64M");
		if (c == 'd' && (!parse_number(optarg, SLOTS_MAX, &opt->depth) ||
				 !opt->depth))
			*status = bad_value(usage, "depth", optarg,
					    "a number from 1 to 1024");
		opt->json |= c == 'j';
		opt->quiet |= c == 'q';
		if (*status)
			return -2;
	}
	if (c == -2)
		return c;
	if (argc - optind != 2) {
		*status = bad_usage(usage, "send takes a file and an address");
		return -2;
	}
	opt->file = argv[optind];
	if (!*opt->file) {
		*status = bad_usage(usage, "the file needs a name");
		return -2;
	}
	opt->where = argv[optind + 1];
	return 0;
}

/* fd or -1, told to the user; also what a regular file holds from here on */
static int input_open(const char *file, uint64_t *length)
{
	bool standard = !strcmp(file, "-");
	struct stat st;
	off_t at;
	int fd;

	*length = 0;
	if (standard && !stream_usable(STDIN_FILENO))
		return -1;
	fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		fail("%s: %s", file, strerror(errno));
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		fail("%s: %s", file, strerror(EISDIR));
		return -1;
	}
	if (S_ISREG(st.st_mode)) {
		/* Standard input may have been read from before. */
		at = lseek(fd, 0, SEEK_CUR);
		if (at >= 0 && at < st.st_size)
			*length = (uint64_t)(st.st_size - at);
		posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return fd;
}

static int send_file(const struct send_options *opt, struct rnotify *ctx,
		     int fd, uint64_t length)
{
	const struct hello wish = {
		.kind = HELLO_FILE,
		.block = (uint32_t)opt->block,
		.slots = (uint32_t)opt->depth,
	};
	struct outgoing out;
	int status;

	status = outgoing_start(&out, ctx, opt->where, &wish, fd, opt->quiet);
	if (!status) {
		out.stats.expected = length;
		status = outgoing_run(&out);
	}
	if (!status)
		stats_print(&out.stats, stdout, opt->json);
	outgoing_end(&out);
	return status;
}

static int run(int argc, char **argv)
{
	const struct rnotify_attr attr = { .ring_entries = RING_ENTRIES };
	struct send_options opt = { 0 };
	struct rnotify *ctx;
	int fd, ret, status = 0;
	uint64_t length;

	if (parse(argc, argv, &opt, &status))
		return status;
	fd = input_open(opt.file, &length);
	if (fd < 0)
		return EXIT_FAILED;
	ret = rnotify_open(&ctx, &attr);
	if (ret)
		return fail_call(NULL, RNOTIFY_CALL_OPEN, ret, NULL);
	status = send_file(&opt, ctx, fd, length);
	rnotify_close(ctx);
	close(fd);
	return status;
}

const struct command cmd_send = {
	"send", "write a file into the memory of 'rnotify recv'", run
};
