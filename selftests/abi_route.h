/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of abi.c: valid arguments of the commands of <linux/rnotify_route.h>.
 */
static void fill_route(FIXTURE_DATA(abi) *self, union arg *arg)
{
	self->rule = rnt_rule(~0u, 0x51075107, RNOTIFY_ACTION_SLOTS,
			      self->slots.id);
	arg->route.endpoint_id = self->p.eb;
	arg->route.nr_rules = 1;
	arg->route.rules = (uintptr_t)&self->rule;
	arg->route.rule_size = sizeof(self->rule);
}

/* counter_reset and counter_wait begin alike */
static void fill_counter(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->counter_reset.counter_id = self->counter.id;
}

static void fill_watch(FIXTURE_DATA(abi) *self, union arg *arg)
{
	arg->counter_watch.counter_id = self->counter.id;
	arg->counter_watch.threshold = 1;
}

static void fill_arm(FIXTURE_DATA(abi) *self, union arg *arg)
{
	if (!self->watch)
		self->watch = rnt_watch(&self->c, &self->counter, 1, 0, 0);
	arg->watch_arm.watch_id = self->watch;
	arg->watch_arm.threshold = 1;
}

static void fill_slots(FIXTURE_DATA(abi) *self, union arg *arg)
{
	(void)self;
	arg->slots_create.nr_slots = 1;
}

/* Only a look, at a slot that is dirty. */
static void fill_take(FIXTURE_DATA(abi) *self, union arg *arg)
{
	struct rnotify_slots_take take = {};
	struct rnotify_op op = rnt_op_notify(self->p.ea, 0x51075107);

	fill_route(self, arg);
	rnt_route(&self->c, self->p.eb, &self->rule, 1);
	memset(arg, 0, sizeof(arg->route));
	if (!self->slots.head->nr_dirty) {
		rnt_post1(&self->c, &op);
		rnt_check_eq(0, rnt_slots_take(&self->c, &self->slots, NULL, 0,
					       rnt_deadline(RNT_PATIENCE_MS),
					       &take));
	}
	arg->slots_take.slots_id = self->slots.id;
	arg->slots_take.entry_size = sizeof(struct rnotify_slot);
}

static void fill_generation_set(FIXTURE_DATA(abi) *self, union arg *arg)
{
	if (!self->generation)
		self->generation = rnt_generation(&self->c, 0);
	arg->generation_set.generation_id = self->generation;
}
