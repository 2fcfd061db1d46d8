// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation and each user copy in each call fails once (FAULTS 6, 24, 49):
 * the n-th, with n from 1 on, until the call no longer comes so far. What a call
 * answers then is its errno, nothing is left of it, and the same call works when
 * nothing fails. What workers do is in failnth_cm.c, traffic in
 * failnth_post.c.
 *
 * rvm: kernels=debug limit=60
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nth_fixture.h"

/* Nothing here is found by keepalive. */
static const struct rnotify_params params = { .keepalive_ms = 600000 };

static void destroy_made(struct nth *t, int ret)
{
	if (!ret)
		rnt_destroy(&t->a, t->id);
}

/*
 * ---- contexts --------------------------------------------------------------
 */

static int call_open(struct nth *t)
{
	t->fd = open("/dev/rnotify", O_RDWR | O_CLOEXEC);
	return t->fd < 0 ? -errno : 0;
}

static void after_open(struct nth *t, int ret)
{
	if (!ret)
		close(t->fd);
}

static void before_setup(struct nth *t)
{
	t->fd = rnt_open();
}

static int call_setup(struct nth *t)
{
	struct rnotify_setup setup = {
		.size = sizeof(setup), .ring_entries = 512, .msg_size = 256,
	};

	return nth_ioctl(t->fd, RNOTIFY_IOCTL_SETUP, &setup);
}

/* It was done, or it was not: EFAULT may be either. */
static void after_setup(struct nth *t, int ret)
{
	int again = call_setup(t);

	rnt_check(again == -EBADFD || (again == 0 && ret));
	close(t->fd);
}

static int call_query(struct nth *t)
{
	struct rnotify_query q = { .size = sizeof(q) };

	return nth_ioctl(t->a.fd, RNOTIFY_IOCTL_QUERY, &q);
}

static int map_part(struct nth *t, int prot, off_t offset, size_t len)
{
	t->map_len = len;
	t->map = mmap(NULL, len, prot, MAP_SHARED, t->a.fd, offset);
	return t->map == MAP_FAILED ? -errno : 0;
}

static int call_mmap_ring(struct nth *t)
{
	return map_part(t, PROT_READ, t->a.setup.ring_offset,
			t->a.setup.ring_size);
}

static int call_mmap_tail(struct nth *t)
{
	return map_part(t, PROT_READ | PROT_WRITE, t->a.setup.cons_offset,
			t->a.setup.cons_size);
}

static int call_mmap_msgs(struct nth *t)
{
	return map_part(t, PROT_READ, t->a.setup.msg_offset,
			t->a.setup.msg_area_size);
}

static void after_mmap(struct nth *t, int ret)
{
	if (!ret)
		munmap(t->map, t->map_len);
}

TEST_F(nth, P10_context)
{
	static const struct nth_step steps[] = {
		{ "open", NULL, call_open, after_open },
		{ "SETUP", before_setup, call_setup, after_setup },
		{ "QUERY", NULL, call_query, NULL },
		{ "mmap ring", NULL, call_mmap_ring, after_mmap },
		{ "mmap tail", NULL, call_mmap_tail, after_mmap },
		{ "mmap messages", NULL, call_mmap_msgs, after_mmap },
	};

	nth_sweep(&self->t, steps, ARRAY_SIZE(steps));
}

/*
 * ---- regions and shares ----------------------------------------------------
 */

static int call_register_user(struct nth *t)
{
	return nth_register(t, t->memory, 0, 0);
}

static int call_register_alloc(struct nth *t)
{
	return nth_register(t, NULL, 0, RNOTIFY_REGION_ALLOC);
}

static int call_register_fd(struct nth *t)
{
	return nth_register(t, NULL, t->fd, RNOTIFY_REGION_FD);
}

static void before_mmap_region(struct nth *t)
{
	rnt_check_eq(0, call_register_alloc(t));
}

static int call_mmap_region(struct nth *t)
{
	return map_part(t, PROT_READ | PROT_WRITE, t->offset, NTH_SPAN);
}

static void after_mmap_region(struct nth *t, int ret)
{
	after_mmap(t, ret);
	rnt_destroy(&t->a, t->id);
}

static void before_share(struct nth *t)
{
	rnt_check_eq(0, call_register_user(t));
	t->region = t->id;
}

static int call_share(struct nth *t)
{
	struct rnotify_share share = {
		.size = sizeof(share), .endpoint_id = t->p.ea,
		.region_id = t->region, .rights = RNOTIFY_RIGHT_WRITE,
	};
	int ret = nth_ioctl(t->a.fd, RNOTIFY_IOCTL_SHARE, &share);

	t->id = share.share_id;
	return ret;
}

/* All regions that the peer heard of are gone again, and were consumed. */
static void peer_forgets(struct nth *t)
{
	struct rnotify_event ev;

	while (rnt_take(&t->b, t->p.eb, &ev, 0))
		rnt_check(ev.type == RNOTIFY_EVENT_REMOTE_REGION ||
			  ev.type == RNOTIFY_EVENT_REMOTE_REGION_GONE);
}

static void after_share(struct nth *t, int ret)
{
	destroy_made(t, ret);
	rnt_destroy(&t->a, t->region);
	peer_forgets(t);
}

static void before_destroy_share(struct nth *t)
{
	before_share(t);
	rnt_check_eq(0, call_share(t));
}

static void before_destroy_region(struct nth *t)
{
	before_destroy_share(t);
	t->id = t->region;
}

static int call_destroy(struct nth *t)
{
	struct rnotify_destroy arg = { .size = sizeof(arg), .id = t->id };

	return nth_ioctl(t->a.fd, RNOTIFY_IOCTL_DESTROY, &arg);
}

/* Its argument could not be read, and nothing happened; or it was done. */
static void done_or_not(struct nth *t, int ret)
{
	if (ret) {
		rnt_check_eq(-EFAULT, ret);
		rnt_destroy(&t->a, t->id);
	}
	rnt_check_eq(-ENOENT, rnt_destroy_err(&t->a, t->id));
}

static void after_destroy_share(struct nth *t, int ret)
{
	done_or_not(t, ret);
	rnt_destroy(&t->a, t->region);
	peer_forgets(t);
}

static void after_destroy_region(struct nth *t, int ret)
{
	done_or_not(t, ret);
	peer_forgets(t);
}

TEST_F_TIMEOUT(nth, P4_regions, RNT_TIMEOUT(50))
{
	static const struct nth_step steps[] = {
		{ "REGISTER", NULL, call_register_user, destroy_made },
		{ "REGISTER ALLOC", NULL, call_register_alloc, destroy_made },
		{ "REGISTER FD", NULL, call_register_fd, destroy_made },
		{ "mmap region", before_mmap_region, call_mmap_region,
		  after_mmap_region },
		{ "SHARE", before_share, call_share, after_share },
		{ "DESTROY share", before_destroy_share, call_destroy,
		  after_destroy_share },
		{ "DESTROY region", before_destroy_region, call_destroy,
		  after_destroy_region },
	};
	long long kib;

	self->t.fd = memfd_create("nth", 0);
	ASSERT_EQ(0, ftruncate(self->t.fd, NTH_SPAN));
	kib = rnt_vmpin_kib();
	nth_sweep(&self->t, steps, ARRAY_SIZE(steps));
	ASSERT_EQ(kib, rnt_vmpin_kib());
	close(self->t.fd);
}

/*
 * ---- connections: what the caller's thread does ----------------------------
 */

static int call_listen(struct nth *t)
{
	struct rnotify_listen arg = { .size = sizeof(arg), .backlog = 4 };
	int ret;

	rnt_addr(&arg.addr, rnt_addr4(), 0);
	ret = nth_ioctl(t->a.fd, RNOTIFY_IOCTL_LISTEN, &arg);
	t->id = arg.listener_id;
	return ret;
}

static void before_destroy_listener(struct nth *t)
{
	rnt_check_eq(0, call_listen(t));
}

/* Where nobody listens. */
static int call_connect(struct nth *t)
{
	struct rnotify_connect arg = { .size = sizeof(arg), .params = params };
	int ret;

	rnt_addr(&arg.dst, rnt_addr4(), 1);
	ret = nth_ioctl(t->a.fd, RNOTIFY_IOCTL_CONNECT, &arg);
	t->id = arg.endpoint_id;
	return ret;
}

static void after_connect(struct nth *t, int ret)
{
	if (ret)
		return;
	rnt_down(&t->a, t->id, RNOTIFY_REASON_REJECTED, NULL);
	rnt_destroy(&t->a, t->id);
}

static void before_accept(struct nth *t)
{
	t->peer = rnt_connect(&t->a, rnt_addr4(), t->p.port, &params, 0);
	t->id = rnt_request(&t->b, NULL);
}

static int call_accept(struct nth *t)
{
	struct rnotify_accept arg = {
		.size = sizeof(arg), .endpoint_id = t->id, .params = params,
	};

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_ACCEPT, &arg);
}

/* Accepted; or still to be accepted; or spent, and both sides are told. */
static void after_accept(struct nth *t, int ret)
{
	struct rnotify_endpoint_info info;
	struct rnotify_event ev;

	rnt_info(&t->b, t->id, &info);
	if (ret && info.state == RNOTIFY_STATE_REQUESTED)
		ret = call_accept(t);
	if (!ret) {
		rnt_expect(&t->a, t->peer, RNOTIFY_EVENT_ESTABLISHED, NULL);
		rnt_expect(&t->b, t->id, RNOTIFY_EVENT_ESTABLISHED, NULL);
	} else {
		rnt_down(&t->b, t->id, RNOTIFY_REASON_RESOURCES, NULL);
		rnt_check(rnt_take_type(&t->a, t->peer,
					RNOTIFY_EVENT_DISCONNECTED, &ev,
					RNT_PATIENCE_MS));
	}
	rnt_destroy(&t->a, t->peer);
	rnt_destroy(&t->b, t->id);
}

static int call_reject(struct nth *t)
{
	struct rnotify_reject arg = {
		.size = sizeof(arg), .endpoint_id = t->id,
	};

	return nth_ioctl(t->b.fd, RNOTIFY_IOCTL_REJECT, &arg);
}

static void after_reject(struct nth *t, int ret)
{
	if (ret)
		rnt_check_eq(0, call_reject(t));
	rnt_down(&t->a, t->peer, RNOTIFY_REASON_REJECTED, NULL);
	rnt_destroy(&t->a, t->peer);
	rnt_destroy(&t->b, t->id);
}

static void before_end(struct nth *t)
{
	struct rnt_pair more;

	rnt_more(&t->p, &more, &params, &params);
	t->id = more.ea;
	t->peer = more.eb;
}

static int call_disconnect(struct nth *t)
{
	struct rnotify_disconnect arg = {
		.size = sizeof(arg), .endpoint_id = t->id,
	};

	return nth_ioctl(t->a.fd, RNOTIFY_IOCTL_DISCONNECT, &arg);
}

static void after_disconnect(struct nth *t, int ret)
{
	if (ret)
		rnt_check_eq(0, call_disconnect(t));
	rnt_down(&t->a, t->id, RNOTIFY_REASON_LOCAL_CLOSE, NULL);
	rnt_down(&t->b, t->peer, RNOTIFY_REASON_PEER_CLOSE, NULL);
	rnt_destroy(&t->a, t->id);
	rnt_destroy(&t->b, t->peer);
}

static void after_destroy_endpoint(struct nth *t, int ret)
{
	done_or_not(t, ret);
	rnt_down(&t->b, t->peer, RNOTIFY_REASON_PEER_CLOSE, NULL);
	rnt_destroy(&t->b, t->peer);
}

TEST_F_TIMEOUT(nth, P10_connections, RNT_TIMEOUT(50))
{
	static const struct nth_step steps[] = {
		{ "LISTEN", NULL, call_listen, destroy_made },
		{ "DESTROY listener", before_destroy_listener, call_destroy,
		  done_or_not },
		{ "CONNECT", NULL, call_connect, after_connect },
		{ "ACCEPT", before_accept, call_accept, after_accept },
		{ "REJECT", before_accept, call_reject, after_reject },
		{ "DISCONNECT", before_end, call_disconnect,
		  after_disconnect },
		{ "DESTROY endpoint", before_end, call_destroy,
		  after_destroy_endpoint },
	};

	nth_sweep(&self->t, steps, ARRAY_SIZE(steps));
}

/* Everything in it, and no call can fail any more. */
static void before_close(struct nth *t)
{
	struct rnt_region r;
	struct rnt_pair p = { .a = &t->c, .b = &t->b, .port = t->p.port };

	rnt_init(&t->c, 512, 256);
	rnt_more(&p, &p, &params, &params);
	rnt_region_user(&t->c, &r, t->memory, NTH_SPAN, 0);
	rnt_share(&t->c, p.ea, r.id, 0, 0, RNOTIFY_RIGHT_READ, 0);
	t->id = p.eb;
}

static int call_close(struct nth *t)
{
	struct rnt_ctx *c = &t->c;

	munmap((void *)c->head, c->setup.ring_size);
	munmap((void *)c->msgs, c->setup.msg_area_size);
	munmap(c->tail, c->setup.cons_size);
	return close(c->fd) ? -errno : 0;
}

static void after_close(struct nth *t, int ret)
{
	rnt_check_eq(0, ret);
	free(t->c.seen);
	free(t->c.stash);
	rnt_down(&t->b, t->id, RNOTIFY_REASON_PEER_EXIT, NULL);
	rnt_destroy(&t->b, t->id);
}

TEST_F_TIMEOUT(nth, P10_close, RNT_TIMEOUT(50))
{
	static const struct nth_step step = {
		"close", before_close, call_close, after_close,
	};

	nth_sweep(&self->t, &step, 1);
}

TEST_HARNESS_MAIN
