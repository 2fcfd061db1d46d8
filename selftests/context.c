// SPDX-License-Identifier: GPL-2.0
/*
 * A context: which commands there are, what SETUP takes, the ids of objects.
 *
 * rvm: limit=120
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "rnt.h"

#define LAST_CMD	RNOTIFY_CMD_MODERATE

FIXTURE(context)
{
	struct rnt_ctx c;
	int fresh;
};

FIXTURE_SETUP(context)
{
	rnt_init(&self->c, 1024, 256);
	self->fresh = rnt_open();
}

FIXTURE_TEARDOWN(context)
{
	close(self->fresh);
	rnt_close(&self->c);
}

static bool is_command(unsigned int nr)
{
	return nr <= RNOTIFY_CMD_MODERATE ||
	       (nr >= RNOTIFY_CMD_ROUTE && nr <= RNOTIFY_CMD_GENERATION_SET);
}

/* FAULTS 43: every number, direction and size that is not a command. */
TEST_F(context, unknown_commands)
{
	static const unsigned int sizes[] = { 0, 1, 8, 64, 4096, 0x3fff };
	unsigned char arg[4096 * 4];
	unsigned long tried = 0;

	memset(arg, 0, sizeof(arg));
	for (unsigned int nr = 0; nr < 256; nr++)
		for (unsigned int dir = 0; dir < 4; dir++)
			for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
				unsigned int cmd = _IOC(dir, RNOTIFY_IOCTL_TYPE,
							nr, sizes[i]);

				if (!dir && !sizes[i] && is_command(nr))
					continue;
				tried++;
				ASSERT_EQ(-1, ioctl(self->c.fd, cmd, arg));
				ASSERT_EQ(ENOTTY, errno)
					TH_LOG("cmd %#x", cmd);
				ASSERT_EQ(-1, ioctl(self->fresh, cmd, NULL));
				ASSERT_EQ(ENOTTY, errno)
					TH_LOG("cmd %#x, no SETUP", cmd);
			}
	ASSERT_EQ(256 * 4 * ARRAY_SIZE(sizes) - RNOTIFY_CMD_MODERATE - 1 -
		  (RNOTIFY_CMD_GENERATION_SET - RNOTIFY_CMD_ROUTE + 1), tried);
}

TEST_F(context, other_types)
{
	struct rnotify_kick arg = { .size = sizeof(arg) };

	for (unsigned int type = 0; type < 256; type++) {
		unsigned int cmd = _IO(type, RNOTIFY_CMD_KICK);

		/* 'T' and 'f' and a few others are the VFS's own */
		if (type == RNOTIFY_IOCTL_TYPE || type == 'T' || type == 'f' ||
		    type == 'X' || type == 0 || type == 0x12 || type == 0x15)
			continue;
		ASSERT_EQ(-1, ioctl(self->c.fd, cmd, &arg));
		ASSERT_EQ(ENOTTY, errno)
			TH_LOG("type %#x", type);
	}
}

TEST_F(context, query)
{
	struct rnotify_query q;

	for (int i = 0; i < 2; i++) {
		memset(&q, 0xa5, sizeof(q));
		q.size = sizeof(q);
		q.flags = 0;
		ASSERT_EQ(0, rnt_ioctl(i ? self->c.fd : self->fresh,
				       RNOTIFY_IOCTL_QUERY, &q));
		EXPECT_EQ(RNOTIFY_ABI_VERSION, q.abi_version);
		EXPECT_EQ(RNOTIFY_RING_MAX, q.max_ring_entries);
		EXPECT_EQ(RNOTIFY_DEPTH_MAX, q.max_depth);
		EXPECT_EQ(RNOTIFY_MSG_SIZE_MAX, q.max_msg_size);
		EXPECT_EQ(RNOTIFY_PRIVATE_DATA_MAX, q.max_private_data);
		EXPECT_EQ(RNOTIFY_SHARES_MAX, q.max_shares);
		EXPECT_EQ(RNOTIFY_OP_LEN_MAX, q.max_op_len);
		EXPECT_EQ(RNOTIFY_INLINE_MAX, q.max_inline);
		EXPECT_EQ(0, q.features & ~(RNOTIFY_FEATURE_URING_POST |
					    RNOTIFY_FEATURE_URING_WAIT));
		EXPECT_GE(q.nr_devices, 1);
		EXPECT_EQ(0, q.reserved);
	}
}

static int setup(int fd, __u32 entries, __u32 msg_size, struct rnotify_setup *s)
{
	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->ring_entries = entries;
	s->msg_size = msg_size;
	return rnt_ioctl(fd, RNOTIFY_IOCTL_SETUP, s);
}

TEST_F(context, setup_refused)
{
	static const __u32 table[][2] = {
		{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 4, 0 }, { 7, 0 }, { 9, 0 },
		{ 12, 0 }, { 1023, 0 }, { 1025, 0 }, { 3u << 18, 0 },
		{ RNOTIFY_RING_MAX - 1, 0 }, { RNOTIFY_RING_MAX + 1, 0 },
		{ RNOTIFY_RING_MAX * 2, 0 }, { 1u << 31, 0 }, { ~0u, 0 },
		{ 64, 1 }, { 64, 64 }, { 64, 192 }, { 64, 255 }, { 64, 257 },
		{ 64, 288 }, { 64, RNOTIFY_MSG_SIZE_MAX - 1 },
		{ 64, RNOTIFY_MSG_SIZE_MAX + 1 },
		{ 64, RNOTIFY_MSG_SIZE_MAX + 64 }, { 64, 1u << 31 },
		{ 64, ~0u }, { 64, ~63u },
	};
	struct rnotify_setup s, before;
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		setup(self->fresh, 0, 1, &before);
		before.ring_entries = table[i][0];
		before.msg_size = table[i][1];
		ret = setup(self->fresh, table[i][0], table[i][1], &s);
		EXPECT_EQ(-EINVAL, ret)
			TH_LOG("%u entries, msg_size %u", table[i][0],
			       table[i][1]);
		EXPECT_EQ(0, memcmp(&before, &s, sizeof(s)));
	}
	/* and none of this was a SETUP */
	ASSERT_EQ(0, setup(self->fresh, 64, 0, &s));
}

TEST_F(context, setup_accepted)
{
	static const __u32 table[][2] = {
		{ 8, 0 }, { 16, 0 }, { 64, 256 }, { 64, 320 }, { 8, 256 }, { 8, 65536 },
		{ 1024, 4096 }, { RNOTIFY_RING_MAX, 0 },
	};
	struct rnotify_setup *s;
	struct rnt_ctx c;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		__u64 end[3], size[3], off[3];

		rnt_init(&c, table[i][0], table[i][1]);
		s = &c.setup;
		ASSERT_EQ(table[i][0], s->ring_entries);
		ASSERT_EQ(table[i][1], s->msg_size);
		ASSERT_GE(s->ring_size, c.head->entries_offset +
			  table[i][0] * sizeof(struct rnotify_event));
		ASSERT_GE(c.head->entries_offset,
			  sizeof(struct rnotify_ring_head));
		ASSERT_EQ(0, c.head->entries_offset % 64);
		ASSERT_GE(s->cons_size, sizeof(struct rnotify_ring_tail));
		/* rounded up to what can be mapped */
		ASSERT_EQ(((__u64)table[i][0] * table[i][1] + RNT_PAGE - 1) /
			  RNT_PAGE * RNT_PAGE, s->msg_area_size);
		ASSERT_EQ(0, c.head->prod);
		ASSERT_EQ(0, c.head->need_kick);
		ASSERT_EQ(0, c.head->bad_cons);
		ASSERT_EQ(-1, rnt_diff_byte(c.head->reserved,
					    sizeof(c.head->reserved), 0));
		ASSERT_EQ(-1, rnt_diff_byte(c.entries, table[i][0] *
					    sizeof(struct rnotify_event), 0));
		ASSERT_EQ(-1, rnt_diff_byte(c.tail, s->cons_size, 0));
		if (c.msgs) {
			ASSERT_EQ(-1, rnt_diff_byte(c.msgs, s->msg_area_size,
						    0));
		}
		/* the parts don't overlap */
		off[0] = s->ring_offset;
		size[0] = s->ring_size;
		off[1] = s->cons_offset;
		size[1] = s->cons_size;
		off[2] = s->msg_offset;
		size[2] = s->msg_area_size;
		for (int j = 0; j < 3; j++) {
			end[j] = off[j] + size[j];
			ASSERT_EQ(0, off[j] % RNT_PAGE);
			for (int k = 0; k < j; k++) {
				ASSERT_TRUE(end[j] <= off[k] ||
					    end[k] <= off[j]);
			}
		}
		rnt_close(&c);
	}
}

/* 64 GiB of message slots: no, and nothing broken by it. */
TEST_F(context, setup_too_much)
{
	struct rnotify_setup s;
	int ret = setup(self->fresh, RNOTIFY_RING_MAX, RNOTIFY_MSG_SIZE_MAX,
			&s);

	EXPECT_TRUE(ret == -ENOMEM || ret == -EINVAL)
		TH_LOG("%d", ret);
	ASSERT_EQ(0, setup(self->fresh, 64, 64 * 5, &s));
}

TEST_F(context, setup_twice)
{
	struct rnotify_setup s;

	EXPECT_EQ(-EBADFD, setup(self->c.fd, 1024, 0, &s));
	EXPECT_EQ(-EBADFD, setup(self->c.fd, 64, 256, &s));
	rnt_expect_none(&self->c, 0, 1);
}

/* A context is the file, not the process: two of them know nothing of each
 * other's ids.
 */
TEST_F(context, ids_are_per_context)
{
	struct rnotify_register reg;
	struct rnt_ctx other;

	rnt_init(&other, 64, 0);
	ASSERT_EQ(0, rnt_register(&self->c, &reg, rnt_anon(1), 1, 0));
	EXPECT_EQ(-ENOENT, rnt_destroy_err(&other, reg.region_id));
	ASSERT_EQ(0, rnt_destroy_err(&self->c, reg.region_id));
	rnt_close(&other);
}

enum { REGION, LISTENER, ENDPOINT, SHARE, STALE, NEVER, KINDS };

/*
 * Ids are never 0, unique across the types, and refused with ENOENT where
 * another type is asked for, or nothing has that id.
 */
TEST_F(context, ids)
{
	struct rnt_ctx *c = &self->c;
	struct rnotify_endpoint_info info;
	struct rnotify_op op;
	struct rnt_region r;
	struct rnt_pair p;
	__u32 id[KINDS];

	rnt_pair_open(&p, c, c, NULL, NULL);
	rnt_region_user(c, &r, rnt_anon(64), 64, 0);
	id[REGION] = r.id;
	id[LISTENER] = p.listener;
	id[ENDPOINT] = p.ea;
	id[SHARE] = rnt_share(c, p.ea, r.id, 0, 0, RNOTIFY_RIGHT_READ, 0);
	rnt_region_user(c, &r, rnt_anon(64), 64, 0);
	id[STALE] = r.id;
	rnt_destroy(c, r.id);
	id[NEVER] = 0x7ffffff1;
	for (int i = 0; i < KINDS; i++) {
		ASSERT_NE(0, id[i]);
		for (int j = 0; j < i; j++) {
			ASSERT_NE(id[i], id[j]);
		}
	}
	for (int i = 0; i <= KINDS; i++) {
		__u32 x = i < KINDS ? id[i] : 0;
		struct rnotify_share share = {
			.endpoint_id = x, .region_id = id[REGION],
			.rights = RNOTIFY_RIGHT_READ,
		};

		if (i != ENDPOINT) {
			EXPECT_EQ(-ENOENT, rnt_accept(c, x, NULL, 0));
			EXPECT_EQ(-ENOENT, rnt_reject(c, x));
			EXPECT_EQ(-ENOENT, rnt_disconnect(c, x));
			EXPECT_EQ(-ENOENT, rnt_share_err(c, &share));
			memset(&info, 0, sizeof(info));
			info.size = sizeof(info);
			info.endpoint_id = x;
			EXPECT_EQ(-ENOENT,
				  rnt_ioctl(c->fd, RNOTIFY_IOCTL_ENDPOINT_INFO,
					    &info));
			if (x) {
				struct rnotify_eventfd efd = {
					.size = sizeof(efd), .fd = -1,
					.endpoint_id = x,
				};

				EXPECT_EQ(-ENOENT,
					  rnt_ioctl(c->fd,
						    RNOTIFY_IOCTL_EVENTFD,
						    &efd));
			}
			op = rnt_op_notify(x, 0);
			EXPECT_EQ(-ENOENT, rnt_try(c, &op));
		}
		share.endpoint_id = id[ENDPOINT];
		share.region_id = x;
		if (i != REGION) {
			EXPECT_EQ(-ENOENT, rnt_share_err(c, &share));
			op = rnt_op_rw(RNOTIFY_OP_SEND, id[ENDPOINT], x, 0, 0,
				       0, 1);
			EXPECT_EQ(-ENOENT, rnt_try(c, &op));
		}
		if (i >= STALE) {
			EXPECT_EQ(-ENOENT, rnt_destroy_err(c, x))
				TH_LOG("id %u", x);
		}
	}
	for (int i = 0; i < STALE; i++) {
		int j = STALE - 1 - i;

		ASSERT_EQ(0, rnt_destroy_err(c, id[j]));
		ASSERT_EQ(-ENOENT, rnt_destroy_err(c, id[j]));
	}
}

/* An id that was destroyed is not given out again soon. */
TEST_F(context, ids_are_reused_late)
{
	struct rnotify_register reg;
	static __u32 ids[1000];
	char *p = rnt_anon(64);

	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, rnt_register(&self->c, &reg, p, 1, 0));
		ids[i] = reg.region_id;
		rnt_destroy(&self->c, ids[i]);
		for (int j = 0; j < i; j++) {
			ASSERT_NE(ids[i], ids[j]);
		}
	}
}

/* /dev/rnotify for its group; no seeking; writing is not a thing. */
TEST_F(context, device_file)
{
	char buf[64] = { 0 };
	struct stat st;

	ASSERT_EQ(0, stat("/dev/rnotify", &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(-1, write(self->c.fd, buf, sizeof(buf)));
	EXPECT_TRUE(errno == EINVAL || errno == EBADF)
		TH_LOG("write: errno %d", errno);
	EXPECT_EQ(-1, pread(self->c.fd, buf, sizeof(buf), 64));
	EXPECT_EQ(ESPIPE, errno);
}

TEST_HARNESS_MAIN
