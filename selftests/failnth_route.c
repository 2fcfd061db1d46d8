// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation and each user copy fails once, as in failnth.c, in the calls that
 * are about rules, counters, slot tables and generations (FAULTS 49). What fails
 * leaves the old rules in force, uses up none of the objects that one may have,
 * and loses no notification.
 *
 * rvm: kernels=debug limit=60
 */
#include <string.h>
#include <sys/mman.h>

#include "arg.h"
#include "nth_fixture.h"

#define SLOTS		256
#define SLOT		5

/* What the rules of all tests look at in imm. */
#define KIND		0xff000000
#define KIND_COUNTER	0x01000000
#define KIND_SLOT	0x02000000
#define KIND_EVENT	0x03000000

static struct rnt_counter counter;
static struct rnt_slots slots;
static __u32 generation;
static union arg arg;
static struct rnotify_rule rules[3];

static void objects_open(struct nth *t)
{
	rnt_counter_open(&t->b, &counter);
	rnt_slots_open(&t->b, &slots, SLOTS, 0, 0);
	generation = rnt_generation(&t->b, 0);
	rules[0] = rnt_rule(KIND, KIND_COUNTER, RNOTIFY_ACTION_COUNTER,
			    counter.id);
	rules[1] = rnt_rule(KIND, KIND_SLOT, RNOTIFY_ACTION_SLOTS, slots.id);
	rules[1].slot_bits = 8;
	rules[2] = rnt_rule(KIND, KIND_EVENT, RNOTIFY_ACTION_EVENT, 0);
	rules[2].generation_id = generation;
	rules[2].gen_bits = 8;
}


/* What is mapped keeps the context open. */
static void objects_close(void)
{
	munmap((void *)counter.page, RNT_PAGE);
	munmap((void *)slots.head, slots.mapped);
}

static void ring(struct nth *t, __u32 imm)
{
	struct rnotify_op op = rnt_op_notify(t->p.ea, imm);

	rnt_post1(&t->a, &op);
}

static int call(struct nth *t, unsigned long cmd)
{
	return nth_ioctl(t->b.fd, cmd, &arg);
}

static void start(size_t size)
{
	memset(&arg, 0, sizeof(arg));
	arg.size = size;
}

static int keep_id(struct nth *t, int ret, __u32 id)
{
	t->id = ret ? 0 : id;
	return ret;
}

static void destroy_made(struct nth *t, int ret)
{
	if (!ret)
		rnt_destroy(&t->b, t->id);
}

/*
 * ---- making them -----------------------------------------------------------
 */

static int call_counter_create(struct nth *t)
{
	int ret;

	start(sizeof(arg.counter_create));
	ret = call(t, RNOTIFY_IOCTL_COUNTER_CREATE);
	return keep_id(t, ret, arg.counter_create.counter_id);
}

static int call_slots_create(struct nth *t)
{
	int ret;

	start(sizeof(arg.slots_create));
	arg.slots_create.flags = RNOTIFY_SLOTS_EVENT;
	arg.slots_create.nr_slots = SLOTS;
	ret = call(t, RNOTIFY_IOCTL_SLOTS_CREATE);
	return keep_id(t, ret, arg.slots_create.slots_id);
}

static int call_generation_create(struct nth *t)
{
	int ret;

	start(sizeof(arg.generation_create));
	ret = call(t, RNOTIFY_IOCTL_GENERATION_CREATE);
	return keep_id(t, ret, arg.generation_create.generation_id);
}

static int call_watch(struct nth *t)
{
	int ret;

	start(sizeof(arg.counter_watch));
	arg.counter_watch.counter_id = counter.id;
	arg.counter_watch.threshold = ~0ull;
	ret = call(t, RNOTIFY_IOCTL_COUNTER_WATCH);
	return keep_id(t, ret, arg.counter_watch.watch_id);
}

static int map_made(struct nth *t, size_t len)
{
	t->map_len = len;
	t->map = mmap(NULL, len, PROT_READ, MAP_SHARED, t->b.fd, t->offset);
	return t->map == MAP_FAILED ? -errno : 0;
}

static void after_mmap(struct nth *t, int ret)
{
	if (!ret)
		munmap(t->map, t->map_len);
	rnt_destroy(&t->b, t->id);
}

static void before_mmap_counter(struct nth *t)
{
	rnt_check_eq(0, call_counter_create(t));
	t->offset = arg.counter_create.mmap_offset;
}

static int call_mmap_counter(struct nth *t)
{
	return map_made(t, arg.counter_create.mmap_size);
}

static void before_mmap_slots(struct nth *t)
{
	rnt_check_eq(0, call_slots_create(t));
	t->offset = arg.slots_create.mmap_offset;
}

static int call_mmap_slots(struct nth *t)
{
	return map_made(t, arg.slots_create.mmap_size);
}

/* As many can be made as ever: @max, of which @have are there. */
static void fill_up(struct nth *t, int (*create)(struct nth *t),
		    unsigned int max, unsigned int have)
{
	__u32 *made = calloc(max, sizeof(*made));
	unsigned int nr;

	rnt_check(made);
	for (nr = have; nr < max; nr++) {
		rnt_check_eq(0, create(t));
		made[nr] = t->id;
	}
	rnt_check_eq(-EMFILE, create(t));
	while (nr-- > have)
		rnt_destroy(&t->b, made[nr]);
	free(made);
}

TEST_F_TIMEOUT(nth, P10_making, RNT_TIMEOUT(50))
{
	static const struct nth_step steps[] = {
		{ "COUNTER_CREATE", NULL, call_counter_create, destroy_made },
		{ "SLOTS_CREATE", NULL, call_slots_create, destroy_made },
		{ "GENERATION_CREATE", NULL, call_generation_create,
		  destroy_made },
		{ "COUNTER_WATCH", NULL, call_watch, destroy_made },
		{ "mmap counter", before_mmap_counter, call_mmap_counter,
		  after_mmap },
		{ "mmap slots", before_mmap_slots, call_mmap_slots,
		  after_mmap },
	};
	struct nth *t = &self->t;

	objects_open(t);
	nth_sweep(t, steps, ARRAY_SIZE(steps));
	/* of the others there are too many to try */
	fill_up(t, call_slots_create, RNOTIFY_SLOT_TABLES_MAX, 1);
	fill_up(t, call_watch, RNOTIFY_WATCHES_MAX, 0);
	objects_close();
}

/*
 * ---- using them ------------------------------------------------------------
 */

static __u64 counted;	/* what the counter should say */

static int call_route(struct nth *t)
{
	start(sizeof(arg.route));
	arg.route.endpoint_id = t->p.eb;
	arg.route.nr_rules = ARRAY_SIZE(rules);
	arg.route.rules = (uintptr_t)rules;
	arg.route.rule_size = sizeof(rules[0]);
	return call(t, RNOTIFY_IOCTL_ROUTE);
}

static void before_route(struct nth *t)
{
	rnt_route(&t->b, t->p.eb, NULL, 0);
}

/* The new rules, or none as before. */
static void after_route(struct nth *t, int ret)
{
	ring(t, KIND_COUNTER);
	if (ret)
		rnt_expect(&t->b, t->p.eb, RNOTIFY_EVENT_NOTIFY, NULL);
	else
		rnt_counter_is(&t->b, &counter, ++counted);
	rnt_expect_none(&t->b, t->p.eb, 1);
}

static void before_counter(struct nth *t)
{
	ring(t, KIND_COUNTER);
	rnt_counter_is(&t->b, &counter, ++counted);
}

static int call_counter_reset(struct nth *t)
{
	start(sizeof(arg.counter_reset));
	arg.counter_reset.counter_id = counter.id;
	return call(t, RNOTIFY_IOCTL_COUNTER_RESET);
}

/* It was done, or it was not: EFAULT may be either. */
static void after_counter_reset(struct nth *t, int ret)
{
	__u64 count = rnt_counter_count(&counter);

	(void)t;
	rnt_check(count == 0 || (ret && count == counted));
	if (!ret)
		rnt_check_eq(counted, arg.counter_reset.count);
	counted = count;
}

static int call_counter_wait(struct nth *t)
{
	start(sizeof(arg.counter_wait));
	arg.counter_wait.counter_id = counter.id;
	arg.counter_wait.threshold = counted;
	arg.counter_wait.timeout_ns = -1;
	return call(t, RNOTIFY_IOCTL_COUNTER_WAIT);
}

static void before_arm(struct nth *t)
{
	rnt_check_eq(0, call_watch(t));
}

static int call_arm(struct nth *t)
{
	start(sizeof(arg.watch_arm));
	arg.watch_arm.watch_id = t->id;
	arg.watch_arm.threshold = counted;
	return call(t, RNOTIFY_IOCTL_WATCH_ARM);
}

/* Its threshold is reached: the event comes at once if it was armed for that. */
static void after_arm(struct nth *t, int ret)
{
	if (!ret)
		rnt_expect(&t->b, counter.id, RNOTIFY_EVENT_COUNTER, NULL);
	rnt_check_eq(0, rnt_pending(&t->b));
	rnt_destroy(&t->b, t->id);
}

static struct rnotify_slot entry;

static void before_take(struct nth *t)
{
	memset(&entry, 0, sizeof(entry));
	ring(t, KIND_SLOT | SLOT);
	rnt_check_eq(0, rnt_slots_take(&t->b, &slots, NULL, 0,
				       rnt_deadline(RNT_PATIENCE_MS), NULL));
}

static int call_take(struct nth *t)
{
	start(sizeof(arg.slots_take));
	arg.slots_take.slots_id = slots.id;
	arg.slots_take.max = 1;
	arg.slots_take.entries = (uintptr_t)&entry;
	arg.slots_take.entry_size = sizeof(entry);
	return call(t, RNOTIFY_IOCTL_SLOTS_TAKE);
}

/* In the entry, or still in the table: never in both, never in neither. */
static void after_take(struct nth *t, int ret)
{
	const struct rnotify_slot *slot = &slots.slot[SLOT];
	struct rnotify_slot again;

	rnt_check_eq(1, entry.count + slot->count);
	rnt_check_eq(slot->count, slots.head->nr_dirty);
	if (!ret)
		rnt_check_eq(1, arg.slots_take.taken);
	if (!ret || entry.count) {
		rnt_check_eq(SLOT, entry.index);
		rnt_check_eq(t->p.eb, entry.endpoint);
		return;
	}
	rnt_check_eq(1, rnt_slots_take(&t->b, &slots, &again, 1, 0, NULL));
	rnt_check_eq(SLOT, again.index);
	rnt_check_eq(KIND_SLOT | SLOT, again.last_imm);
}

static __u32 generation_now;

static int call_generation_set(struct nth *t)
{
	start(sizeof(arg.generation_set));
	arg.generation_set.generation_id = generation;
	arg.generation_set.value = generation_now + 1;
	return call(t, RNOTIFY_IOCTL_GENERATION_SET);
}

static void after_generation_set(struct nth *t, int ret)
{
	if (!ret)
		rnt_check_eq(generation_now, arg.generation_set.value);
	start(sizeof(arg.generation_set));
	arg.generation_set.flags = RNOTIFY_GENERATION_GET;
	arg.generation_set.generation_id = generation;
	rnt_check_eq(0, call(t, RNOTIFY_IOCTL_GENERATION_SET));
	rnt_check(arg.generation_set.value == generation_now + 1 ||
		  (ret && arg.generation_set.value == generation_now));
	generation_now = arg.generation_set.value;
}

TEST_F_TIMEOUT(nth, P1_using, RNT_TIMEOUT(50))
{
	static const struct nth_step steps[] = {
		{ "ROUTE", before_route, call_route, after_route },
		{ "COUNTER_RESET", before_counter, call_counter_reset,
		  after_counter_reset },
		{ "COUNTER_WAIT", before_counter, call_counter_wait, NULL },
		{ "WATCH_ARM", before_arm, call_arm, after_arm },
		{ "SLOTS_TAKE", before_take, call_take, after_take },
		{ "GENERATION_SET", NULL, call_generation_set,
		  after_generation_set },
	};
	objects_open(&self->t);
	/* What a clean ROUTE has set is what the rest goes by. */
	nth_sweep(&self->t, steps, ARRAY_SIZE(steps));
	objects_close();
}

TEST_HARNESS_MAIN
