/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RNOTIFY_OP_H
#define RNOTIFY_OP_H

#include "ep.h"

/**
 * struct rnotify_prep - what was looked up for an operation
 * @region: local region, referenced; or NULL
 * @inl: its inline bytes; or NULL
 */
struct rnotify_prep {
	struct rnotify_region *region;
	u8 *inl;
};

int rnotify_op_check(const struct rnotify_op *op);
int rnotify_op_check_local(const struct rnotify_op *op,
			   const struct rnotify_region *region);
int rnotify_op_post(struct rnotify_ep *ep, const struct rnotify_op *op,
		    const struct rnotify_prep *prep);

#endif /* RNOTIFY_OP_H */
