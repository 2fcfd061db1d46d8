// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: coming, going, and who uses them.
 */
#include <linux/slab.h>

#include "ep.h"

DEFINE_MUTEX(rnotify_dev_mutex);

static LIST_HEAD(rnotify_devs);	/* protected by rnotify_dev_mutex */

static void dev_unuse(struct rnotify_dev *dev)
{
	if (refcount_dec_and_test(&dev->users))
		complete(&dev->idle);
}

static void dev_free(struct kref *ref)
{
	kfree(container_of(ref, struct rnotify_dev, ref));
}

/**
 * rnotify_dev_put() - give a reference to the struct back
 * @dev: device; may be gone afterwards
 *
 * Context: any.
 */
void rnotify_dev_put(struct rnotify_dev *dev)
{
	kref_put(&dev->ref, dev_free);
}

static bool dev_usable(struct ib_device *ib)
{
	/*
	 * FRWR makes the keys, RC carries the writes; a message is a header and
	 * a payload. iWARP has no write with immediate.
	 */
	return !rdma_protocol_iwarp(ib, rdma_start_port(ib)) &&
	       ib->attrs.max_send_sge >= 2 &&
	       ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
	       ib->attrs.max_fast_reg_page_list_len > 0;
}

static int rnotify_add_device(struct ib_device *ib)
{
	struct rnotify_dev *dev;

	if (!dev_usable(ib))
		return -EOPNOTSUPP;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	dev->max_keys = ib->attrs.max_fast_reg_page_list_len;
	INIT_LIST_HEAD(&dev->eps);
	mutex_init(&dev->maps_mutex);
	INIT_LIST_HEAD(&dev->maps);
	refcount_set(&dev->users, 1);
	init_completion(&dev->idle);
	kref_init(&dev->ref);

	mutex_lock(&rnotify_dev_mutex);
	list_add_tail(&dev->list, &rnotify_devs);
	mutex_unlock(&rnotify_dev_mutex);

	ib_set_client_data(ib, &rnotify_ib_client, dev);
	return 0;
}

/*
 * Must not return before nothing of ours is left on the device. Endpoints are
 * told to fail, and tear themselves down on rnotify_wq, whatever their users
 * do. Maps go last: they are idle once the endpoints are gone.
 */
static void rnotify_remove_device(struct ib_device *ib, void *client_data)
{
	struct rnotify_dev *dev = client_data;
	struct rnotify_ep *ep;

	mutex_lock(&rnotify_dev_mutex);
	list_del(&dev->list);
	list_for_each_entry(ep, &dev->eps, dev_node)
		rnotify_ep_fail(ep, RNOTIFY_REASON_DEVICE_REMOVED, -ENODEV);
	mutex_unlock(&rnotify_dev_mutex);

	dev_unuse(dev);
	wait_for_completion(&dev->idle);
	rnotify_maps_remove_device(dev);
	rnotify_dev_put(dev);
}

struct ib_client rnotify_ib_client = {
	.name = "rnotify",
	.add = rnotify_add_device,
	.remove = rnotify_remove_device,
};

/**
 * rnotify_dev_removal_told() - wait until a removal is known to all concerned
 *
 * An endpoint that disconnects first would end a peer on the same device with
 * a cause that is only a consequence.
 *
 * Context: process, sleeps.
 */
void rnotify_dev_removal_told(void)
{
	mutex_lock(&rnotify_dev_mutex);
	mutex_unlock(&rnotify_dev_mutex);
}

/**
 * rnotify_dev_attach() - let an endpoint use the device of its CM id
 * @ep: endpoint; mutex held
 *
 * From here to rnotify_dev_detach(), the device's removal waits for the endpoint
 * before rdma_cm hears of it: clients are removed in the reverse order of their
 * registration. An active endpoint is attached before it resolves the route, as
 * rdma_cm, when it tells an id in that state of a removal, looks at the id's device
 * again after the telling; by then the id may be destroyed.
 *
 * Return: 0, or -ENODEV if the device is not usable or going away.
 */
int rnotify_dev_attach(struct rnotify_ep *ep)
{
	struct ib_device *ib = ep->cm_id->device;
	struct rnotify_dev *dev;

	lockdep_assert_held(&ep->mutex);
	mutex_lock(&rnotify_dev_mutex);
	list_for_each_entry(dev, &rnotify_devs, list) {
		if (dev->ib != ib)
			continue;
		refcount_inc(&dev->users);
		list_add_tail(&ep->dev_node, &dev->eps);
		ep->dev = dev;
		break;
	}
	mutex_unlock(&rnotify_dev_mutex);
	if (!ep->dev)
		return -ENODEV;
	strscpy(ep->dev_name, dev_name(&ib->dev), sizeof(ep->dev_name));
	ep->port_num = ep->cm_id->port_num;
	return 0;
}

/**
 * rnotify_dev_detach() - the endpoint holds nothing of the device any more
 * @ep: endpoint; holds rnotify_ep.mutex
 */
void rnotify_dev_detach(struct rnotify_ep *ep)
{
	struct rnotify_dev *dev = ep->dev;

	if (!dev)
		return;
	ep->dev = NULL;
	mutex_lock(&rnotify_dev_mutex);
	list_del(&ep->dev_node);
	mutex_unlock(&rnotify_dev_mutex);
	dev_unuse(dev);
}

/**
 * rnotify_dev_count() - how many devices can be used now
 *
 * Return: devices.
 */
u32 rnotify_dev_count(void)
{
	struct rnotify_dev *dev;
	u32 nr = 0;

	mutex_lock(&rnotify_dev_mutex);
	list_for_each_entry(dev, &rnotify_devs, list)
		nr++;
	mutex_unlock(&rnotify_dev_mutex);
	return nr;
}
