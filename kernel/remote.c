// SPDX-License-Identifier: GPL-2.0
/*
 * Remote regions: what the peer shared with us.
 *
 * All of it comes from the peer and is hostile: sizes were checked by the
 * codec, counts are bounded by the region slots that we granted.
 */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "ep.h"

/* An id is a generation in the upper bits and index + 1 in the lower seven. */
#define REMOTE_ID_BITS	7
#define REMOTE_ID_MASK	((1u << REMOTE_ID_BITS) - 1)

static_assert(RNOTIFY_SHARES_MAX < REMOTE_ID_MASK);

/* Keys are allocated in softirq context, hence by and by. */
#define REMOTE_KEYS		512u
#define REMOTE_GFP		(GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT)

static u32 nr_blocks(const struct rnotify_remote *remote)
{
	return DIV_ROUND_UP(remote->nr_keys, REMOTE_KEYS);
}

/**
 * rnotify_remote_key() - key of a chunk
 * @remote: region with all its keys
 * @chunk: index of the chunk, less than nr_keys
 *
 * Return: rkey.
 */
u32 rnotify_remote_key(const struct rnotify_remote *remote, u32 chunk)
{
	return remote->keys[chunk / REMOTE_KEYS][chunk % REMOTE_KEYS];
}

static int add_key(struct rnotify_remote *remote, u32 key)
{
	u32 left = remote->nr_keys - remote->got_keys;
	u32 **block = &remote->keys[remote->got_keys / REMOTE_KEYS];

	if (!*block) {
		*block = kmalloc_array(min(left, REMOTE_KEYS), sizeof(**block),
				       REMOTE_GFP);
		if (!*block)
			return -ENOMEM;
	}
	(*block)[remote->got_keys++ % REMOTE_KEYS] = key;
	return 0;
}

static void remote_kfree(struct rnotify_remote *remote)
{
	u32 i;

	for (i = 0; i < nr_blocks(remote); i++)
		kfree(remote->keys[i]);
	kfree(remote);
}

/**
 * rnotify_remote_find() - look a remote region up for an operation
 * @ep: endpoint; lock held
 * @id: the user's id
 *
 * Return: region with all its keys, not taken back; or NULL.
 */
struct rnotify_remote *rnotify_remote_find(struct rnotify_ep *ep, u32 id)
{
	u32 index = (id & REMOTE_ID_MASK) - 1;
	struct rnotify_remote *remote;

	if (index >= RNOTIFY_SHARES_MAX)
		return NULL;
	index = array_index_nospec(index, RNOTIFY_SHARES_MAX);
	remote = ep->remotes[index];
	if (!remote || remote->id != id || remote->gone ||
	    remote->got_keys != remote->nr_keys)
		return NULL;
	return remote;
}

static struct rnotify_remote *find_share(struct rnotify_ep *ep, u32 share_id)
{
	u32 i;

	for (i = 0; i < RNOTIFY_SHARES_MAX; i++) {
		struct rnotify_remote *remote = ep->remotes[i];

		if (remote && !remote->gone && remote->share.share_id == share_id)
			return remote;
	}
	return NULL;
}

static int take_slot(struct rnotify_ep *ep, u32 *index)
{
	bool ok;

	spin_lock_bh(&ep->ring->lock);
	ok = rnotify_grant_arrived(&ep->region_grant);
	/* Was it the last, then what the user consumes from here on matters. */
	rnotify_ring_update_starved(ep->ring, ep, ep->rv_gone.in_ring);
	spin_unlock_bh(&ep->ring->lock);
	if (!ok)
		return -EPROTO;

	/* A granted slot means a free entry: see rnotify_remote_slots_return() */
	for (*index = 0; *index < RNOTIFY_SHARES_MAX; (*index)++) {
		if (!ep->remotes[*index])
			return 0;
	}
	return -EPROTO;
}

static struct rnotify_remote *remote_new(struct rnotify_ep *ep,
					 const struct rnotify_wire_msg *msg)
{
	struct rnotify_remote *remote;
	u32 index;
	int ret;

	if (msg->region.first_key)
		return ERR_PTR(-EPROTO);
	ret = take_slot(ep, &index);
	if (ret)
		return ERR_PTR(ret);
	remote = kzalloc(struct_size(remote, keys,
				     DIV_ROUND_UP(msg->region.nr_keys,
						  REMOTE_KEYS)), REMOTE_GFP);
	if (!remote)
		return ERR_PTR(-ENOMEM);

	remote->nr_keys = msg->region.nr_keys;
	remote->share = msg->region;
	remote->share.keys = NULL;
	INIT_LIST_HEAD(&remote->ack.node);
	remote->id = (++ep->remote_gen << REMOTE_ID_BITS) | (index + 1);
	ep->remotes[index] = remote;
	return remote;
}

static void remote_event(struct rnotify_ep *ep, struct rnotify_resv *resv,
			 const struct rnotify_remote *remote, u16 type)
{
	struct rnotify_event ev = {};

	rnotify_ep_event(ep, &ev, type);
	ev.region.remote_id = remote->id;
	ev.region.rights = remote->share.rights;
	ev.region.length = remote->share.length;
	ev.region.tag = remote->share.tag;
	rnotify_ring_put(ep->ring, resv, &ev);
}

static int announce_locked(struct rnotify_ep *ep,
			   const struct rnotify_wire_msg *msg)
{
	struct rnotify_remote *remote = find_share(ep, msg->region.share_id);
	int ret;
	u32 i;

	if (!remote)
		remote = remote_new(ep, msg);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	if (!rnotify_wire_region_follows(&remote->share, remote->got_keys,
					 &msg->region))
		return -EPROTO;

	/* The codec made sure that first_key + keys_here <= nr_keys. */
	for (i = 0; i < msg->region.keys_here; i++) {
		ret = add_key(remote, le32_to_cpu(msg->region.keys[i]));
		if (ret)
			return ret;
	}
	if (remote->got_keys == remote->nr_keys)
		remote_event(ep, &ep->rv_life, remote,
			     RNOTIFY_EVENT_REMOTE_REGION);
	return 0;
}

/**
 * rnotify_remote_announce() - a REGION message came
 * @ep: endpoint
 * @msg: message
 *
 * Context: softirq.
 * Return: 0, -EPROTO, -ENOMEM.
 */
int rnotify_remote_announce(struct rnotify_ep *ep,
			    const struct rnotify_wire_msg *msg)
{
	struct mem_cgroup *old;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	old = rnotify_ctx_charge(ep->obj.ctx);
	if (ep->state == RNOTIFY_EP_ESTABLISHED)
		ret = announce_locked(ep, msg);
	set_active_memcg(old);
	spin_unlock_bh(&ep->lock);
	return ret;
}

static void remote_try_ack(struct rnotify_ep *ep, struct rnotify_remote *remote)
{
	if (remote->gone && !remote->inflight)
		rnotify_ctrl_enqueue(ep, &remote->ack,
				     RNOTIFY_WIRE_REGION_GONE_ACK);
}

/* Gone before all its keys came: the user never saw it, nor will its end. */
static void forget_unseen(struct rnotify_ep *ep)
{
	spin_lock_bh(&ep->ring->lock);
	ep->gone_consumed++;
	spin_unlock_bh(&ep->ring->lock);
}

/**
 * rnotify_remote_gone() - a REGION_GONE message came
 * @ep: endpoint
 * @share_id: the peer's name for the region
 *
 * From now on nothing is posted to it; the answer goes out when what was
 * posted before is over.
 *
 * Context: softirq.
 * Return: 0, or -EPROTO if there is no such region.
 */
int rnotify_remote_gone(struct rnotify_ep *ep, u32 share_id)
{
	struct rnotify_remote *remote;
	int ret = 0;

	spin_lock_bh(&ep->lock);
	if (ep->state != RNOTIFY_EP_ESTABLISHED)
		goto out;
	remote = find_share(ep, share_id);
	if (!remote) {
		ret = -EPROTO;
		goto out;
	}
	remote->gone = true;
	if (remote->got_keys == remote->nr_keys)
		remote_event(ep, &ep->rv_gone, remote,
			     RNOTIFY_EVENT_REMOTE_REGION_GONE);
	else
		forget_unseen(ep);
	remote_try_ack(ep, remote);
out:
	spin_unlock_bh(&ep->lock);
	return ret;
}

/**
 * rnotify_remote_slots_return() - give region slots back to the peer
 * @ep: endpoint; the ring's lock is held
 *
 * A slot is free when the user consumed the REMOTE_REGION_GONE event *and* the
 * remote region is not in use any more, in whichever order.
 */
void rnotify_remote_slots_return(struct rnotify_ep *ep)
{
	u32 nr = min(ep->gone_consumed, ep->gone_freed);

	lockdep_assert_held(&ep->ring->lock);
	ep->gone_consumed -= nr;
	ep->gone_freed -= nr;
	rnotify_grant_return(&ep->region_grant, nr);
}

/**
 * rnotify_remote_put() - an operation on it is over
 * @ep: endpoint; lock held
 * @remote: region; may be gone afterwards
 */
void rnotify_remote_put(struct rnotify_ep *ep, struct rnotify_remote *remote)
{
	remote->inflight--;
	remote_try_ack(ep, remote);
}

/**
 * rnotify_remote_free() - the peer knows that we don't use it any more
 * @ep: endpoint; lock held
 * @remote: region that is gone and idle
 */
void rnotify_remote_free(struct rnotify_ep *ep, struct rnotify_remote *remote)
{
	ep->remotes[(remote->id & REMOTE_ID_MASK) - 1] = NULL;
	remote_kfree(remote);
	spin_lock_bh(&ep->ring->lock);
	ep->gone_freed++;
	rnotify_remote_slots_return(ep);
	spin_unlock_bh(&ep->ring->lock);
}

/**
 * rnotify_remotes_destroy() - the connection is over
 * @ep: endpoint without posted operations
 */
void rnotify_remotes_destroy(struct rnotify_ep *ep)
{
	u32 i;

	spin_lock_bh(&ep->lock);
	for (i = 0; i < RNOTIFY_SHARES_MAX; i++) {
		if (!ep->remotes[i])
			continue;
		list_del(&ep->remotes[i]->ack.node);
		remote_kfree(ep->remotes[i]);
		ep->remotes[i] = NULL;
	}
	spin_unlock_bh(&ep->lock);
}
