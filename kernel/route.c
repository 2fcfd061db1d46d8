// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: setting those of an endpoint, and following them when a notification
 * comes.
 *
 * A list of rules is compiled outside of all locks, and never changed after it
 * is in use. An endpoint gets another one by exchange of a pointer under the
 * ring's lock, which every arrival holds while it follows the rules.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ep.h"
#include "route.h"

/*
 * ---- following --------------------------------------------------------
 */

static bool stale(struct rnotify_ep *ep, const struct rnotify_target *target,
		  u32 imm)
{
	const struct rnotify_rule *rule = &target->rule;
	u32 field = rnotify_imm_field(imm, rule->gen_shift, rule->gen_bits);

	if (!target->generation ||
	    !rnotify_gen_older(field, target->generation->value,
			       rule->gen_bits))
		return false;
	target->generation->stale++;
	ep->rx_stale++;
	return true;
}

static bool to_a_counter(struct rnotify_ep *ep, struct rnotify_counter *counter,
			 u32 bytes)
{
	if (counter->dead)
		return false;
	rnotify_counter_add(counter, bytes);
	ep->rx_counted++;
	return true;
}

static bool to_a_slot(struct rnotify_ep *ep, struct rnotify_slots *slots,
		      const struct rnotify_rule *rule,
		      const struct rnotify_event *ev)
{
	if (slots->dead)
		return false;
	rnotify_slots_add(slots, rnotify_imm_field(ev->notify.imm,
						   rule->slot_shift,
						   rule->slot_bits), ev);
	ep->rx_slotted++;
	return true;
}

static bool drop(struct rnotify_ep *ep, struct rnotify_obj *obj, u32 bytes)
{
	if (obj && !to_counter(obj)->dead)
		rnotify_counter_add(to_counter(obj), bytes);
	ep->rx_dropped++;
	return true;
}

/**
 * rnotify_route() - follow the rules of an endpoint
 * @ep: endpoint; the ring's lock is held
 * @ev: NOTIFY, complete but for what the ring fills in; may be made urgent
 *
 * Return: true if it is dealt with; false if it is to become an event.
 */
bool rnotify_route(struct rnotify_ep *ep, struct rnotify_event *ev)
{
	const struct rnotify_routes *routes = ep->routes;
	const struct rnotify_target *target;
	int nr;

	lockdep_assert_held(&ep->ring->lock);
	if (!routes)
		return false;
	nr = rnotify_match_find(&routes->match, ev->notify.imm);
	if (nr < 0)
		return false;
	target = &routes->targets[nr];
	if (stale(ep, target, ev->notify.imm))
		return true;

	switch (target->rule.action) {
	case RNOTIFY_ACTION_COUNTER:
		return to_a_counter(ep, to_counter(target->obj),
				    ev->notify.byte_len);
	case RNOTIFY_ACTION_SLOTS:
		return to_a_slot(ep, to_slots(target->obj), &target->rule, ev);
	case RNOTIFY_ACTION_DROP:
		return drop(ep, target->obj, ev->notify.byte_len);
	default:
		if (target->rule.flags & RNOTIFY_RULE_URGENT)
			ev->flags |= RNOTIFY_EVENT_F_URGENT;
		return false;
	}
}

/*
 * ---- life -------------------------------------------------------------
 */

static void routes_free(struct kref *ref)
{
	struct rnotify_routes *routes = container_of(ref, struct rnotify_routes,
						     ref);
	u32 i;

	for (i = 0; i < routes->nr; i++) {
		if (routes->targets[i].obj)
			rnotify_obj_put(routes->targets[i].obj);
		if (routes->targets[i].generation)
			rnotify_obj_put(&routes->targets[i].generation->obj);
	}
	kvfree(routes);
}

/**
 * rnotify_routes_put() - somebody has these rules no more
 * @routes: rules, or NULL
 *
 * Context: any but hard interrupt; no locks of ours held.
 */
void rnotify_routes_put(struct rnotify_routes *routes)
{
	if (routes)
		kref_put(&routes->ref, routes_free);
}

/**
 * rnotify_routes_inherit() - a new endpoint starts with the context's rules
 * @ep: endpoint that nobody knows yet
 */
void rnotify_routes_inherit(struct rnotify_ep *ep)
{
	struct rnotify_routes *routes;

	spin_lock_bh(&ep->ring->lock);
	routes = ep->obj.ctx->routes;
	if (routes)
		kref_get(&routes->ref);
	ep->routes = routes;
	spin_unlock_bh(&ep->ring->lock);
}

static void ended_one(struct rnotify_ep *ep, struct rnotify_obj *obj)
{
	if (obj->ops->type == RNOTIFY_OBJ_COUNTER)
		rnotify_counter_ended(to_counter(obj), ep);
	else
		rnotify_slots_ended(to_slots(obj), ep);
}

static bool named_before(const struct rnotify_routes *routes, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		if (routes->targets[i].obj == routes->targets[nr].obj)
			return true;
	}
	return false;
}

/**
 * rnotify_routes_end() - an endpoint has ended, and feeds nothing any more
 * @ep: endpoint whose last event is in the ring
 *
 * Tells each object that its rules name. A request that came to nothing is not
 * told: any peer can make those.
 *
 * Context: process.
 */
void rnotify_routes_end(struct rnotify_ep *ep)
{
	struct rnotify_routes *routes;
	u32 i;

	spin_lock_bh(&ep->ring->lock);
	routes = ep->routes;
	ep->routes = NULL;
	ep->routes_over = true;
	for (i = 0; routes && i < routes->nr; i++) {
		if (routes->targets[i].obj && (ep->told || !ep->passive) &&
		    !named_before(routes, i))
			ended_one(ep, routes->targets[i].obj);
	}
	spin_unlock_bh(&ep->ring->lock);
	rnotify_routes_put(routes);
}

/**
 * rnotify_ended_add() - one more endpoint that has ended
 * @ended: of an object; the ring's lock is held
 * @ep: endpoint
 */
void rnotify_ended_add(struct rnotify_ended *ended, const struct rnotify_ep *ep)
{
	ended->nr++;
	ended->endpoint = ep->obj.id;
	ended->reason = ep->down.reason;
	ended->error = ep->down.error;
}

/*
 * ---- setting ----------------------------------------------------------
 */

static struct rnotify_obj *find_target(struct rnotify_ctx *ctx,
				       const struct rnotify_rule *rule)
{
	return rnotify_obj_get(ctx, rule->object_id,
			       rule->action == RNOTIFY_ACTION_SLOTS ?
			       RNOTIFY_OBJ_SLOTS : RNOTIFY_OBJ_COUNTER);
}

/* What was found so far is put by routes_free(). */
static int target_init(struct rnotify_ctx *ctx, struct rnotify_target *target,
		       const struct rnotify_rule *rule)
{
	struct rnotify_obj *obj;
	int ret;

	target->rule = *rule;
	ret = rnotify_rule_check(rule);
	if (ret)
		return ret;
	if (rule->object_id || rule->action == RNOTIFY_ACTION_COUNTER ||
	    rule->action == RNOTIFY_ACTION_SLOTS) {
		target->obj = find_target(ctx, rule);
		if (!target->obj)
			return -ENOENT;
	}
	if (rule->action == RNOTIFY_ACTION_SLOTS &&
	    1u << rule->slot_bits > to_slots(target->obj)->nr_slots)
		return -EINVAL;
	if (rule->generation_id) {
		obj = rnotify_obj_get(ctx, rule->generation_id,
				      RNOTIFY_OBJ_GENERATION);
		if (!obj)
			return -ENOENT;
		target->generation = to_generation(obj);
	}
	return 0;
}

static int routes_fill(struct rnotify_ctx *ctx, struct rnotify_routes *routes,
		       const struct rnotify_rule __user *from)
{
	struct rnotify_rule rule;
	u32 i;
	int ret;

	for (i = 0; i < routes->nr; i++) {
		if (copy_from_user(&rule, from + i, sizeof(rule)))
			return -EFAULT;
		ret = target_init(ctx, &routes->targets[i], &rule);
		if (ret)
			return ret;
		rnotify_match_add(&routes->match, i, rule.mask, rule.value);
	}
	return 0;
}

/* NULL for no rules. */
static struct rnotify_routes *routes_create(struct rnotify_ctx *ctx,
					    const struct rnotify_route *arg)
{
	struct rnotify_routes *routes;
	int ret;

	if (arg->nr_rules > RNOTIFY_RULES_MAX ||
	    arg->rule_size != sizeof(struct rnotify_rule))
		return ERR_PTR(-EINVAL);
	if (!arg->nr_rules)
		return NULL;
	routes = kvzalloc(struct_size(routes, targets, arg->nr_rules),
			  GFP_KERNEL_ACCOUNT);
	if (!routes)
		return ERR_PTR(-ENOMEM);
	kref_init(&routes->ref);
	rnotify_match_init(&routes->match);
	routes->nr = arg->nr_rules;
	ret = routes_fill(ctx, routes, u64_to_user_ptr(arg->rules));
	if (ret) {
		rnotify_routes_put(routes);
		return ERR_PTR(ret);
	}
	return routes;
}

/* Takes over @routes, unless it fails. */
static int set_endpoint(struct rnotify_ctx *ctx, u32 id,
			struct rnotify_routes *routes)
{
	struct rnotify_obj *obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_EP);
	struct rnotify_ep *ep;
	int ret = 0;

	if (!obj)
		return -ENOENT;
	ep = to_ep(obj);
	spin_lock_bh(&ep->ring->lock);
	if (READ_ONCE(ep->state) >= RNOTIFY_EP_CLOSING || ep->routes_over)
		ret = -ESHUTDOWN;
	else
		swap(ep->routes, routes);
	spin_unlock_bh(&ep->ring->lock);
	rnotify_obj_put(obj);
	if (!ret)
		rnotify_routes_put(routes);
	return ret;
}

static void set_default(struct rnotify_ctx *ctx, struct rnotify_routes *routes)
{
	spin_lock_bh(&ctx->ring->lock);
	swap(ctx->routes, routes);
	spin_unlock_bh(&ctx->ring->lock);
	rnotify_routes_put(routes);
}

/**
 * rnotify_route_set() - RNOTIFY_IOCTL_ROUTE
 * @ctx: context
 * @arg: command
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno; then the old rules are in force.
 */
int rnotify_route_set(struct rnotify_ctx *ctx, const struct rnotify_route *arg)
{
	struct rnotify_routes *routes;
	int ret = 0;

	if (arg->flags || arg->reserved)
		return -EOPNOTSUPP;
	routes = routes_create(ctx, arg);
	if (IS_ERR(routes))
		return PTR_ERR(routes);
	if (arg->endpoint_id)
		ret = set_endpoint(ctx, arg->endpoint_id, routes);
	else
		set_default(ctx, routes);
	if (ret)
		rnotify_routes_put(routes);
	return ret;
}

/**
 * rnotify_route_memory() - what a counter or slot table shows to the user
 * @ctx: context
 * @id: of the object
 * @mem: where it is
 * @size: bytes of it
 *
 * Return: the object, referenced; NULL if the id is of neither.
 */
struct rnotify_obj *rnotify_route_memory(struct rnotify_ctx *ctx, u32 id,
					 void **mem, size_t *size)
{
	struct rnotify_obj *obj;

	obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_COUNTER);
	if (obj) {
		*mem = to_counter(obj)->page;
		*size = PAGE_SIZE;
		return obj;
	}
	obj = rnotify_obj_get(ctx, id, RNOTIFY_OBJ_SLOTS);
	if (obj) {
		*mem = to_slots(obj)->head;
		*size = to_slots(obj)->bytes;
	}
	return obj;
}
