// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading.
 *
 * The order matters. Unloading is possible only when no file is open, so there
 * is no context, no endpoint and no listener any more; then the client goes
 * (a full fence: no .remove is running when it returns), last the workqueue.
 */
#include <linux/module.h>

#include "front.h"
#include "priv.h"

struct workqueue_struct *rnotify_wq;

static int __init rnotify_init(void)
{
	int ret;

	rnotify_wq = alloc_workqueue("rnotify", WQ_UNBOUND, 0);
	if (!rnotify_wq)
		return -ENOMEM;

	ret = ib_register_client(&rnotify_ib_client);
	if (ret)
		goto err_wq;

	ret = rnotify_chardev_register();
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&rnotify_ib_client);
err_wq:
	destroy_workqueue(rnotify_wq);
	return ret;
}

static void __exit rnotify_exit(void)
{
	rnotify_chardev_unregister();
	ib_unregister_client(&rnotify_ib_client);
	destroy_workqueue(rnotify_wq);
	/* Objects are freed by RCU. */
	rcu_barrier();
}

module_init(rnotify_init);
module_exit(rnotify_exit);

MODULE_DESCRIPTION("RDMA write-with-immediate notification transport");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
