// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* credit.h, function by function. */
#include "credit.h"
#include "unit.h"

void test_credit_basics(void)
{
	struct rnotify_credit c;
	struct rnotify_grant g;
	u32 i;

	rnotify_grant_init(&g, 4);
	rnotify_credit_init(&c, 4);
	EXPECT(rnotify_grant_peer_left(&g) == 4);
	EXPECT(!rnotify_grant_due(&g));
	for (i = 0; i < 4; i++) {
		EXPECT_AT(rnotify_credit_left(&c) == 4 - i, i);
		EXPECT_AT(rnotify_credit_use(&c), i);
	}
	EXPECT(!rnotify_credit_use(&c));
	EXPECT(!rnotify_credit_left(&c));

	/* One returned is not half a window, and two are still to come. */
	EXPECT(rnotify_grant_arrived(&g));
	EXPECT(rnotify_grant_arrived(&g));
	rnotify_grant_return(&g, 1);
	EXPECT(!rnotify_grant_due(&g));
	EXPECT(rnotify_grant_peer_left(&g) == 2);
	/* Starved: due with one, when the last has arrived. */
	EXPECT(rnotify_grant_arrived(&g));
	EXPECT(!rnotify_grant_due(&g));
	EXPECT(rnotify_grant_arrived(&g));
	EXPECT(rnotify_grant_due(&g));
	EXPECT(rnotify_grant_take(&g) == 5);
	EXPECT(!rnotify_grant_due(&g));
	EXPECT(rnotify_grant_peer_left(&g) == 1);
	/* Half a window. */
	rnotify_grant_return(&g, 1);
	EXPECT(!rnotify_grant_due(&g));
	rnotify_grant_return(&g, 1);
	EXPECT(rnotify_grant_due(&g));
	EXPECT(rnotify_grant_take(&g) == 7);

	EXPECT(rnotify_credit_update(&c, 5) == 1);
	EXPECT(rnotify_credit_left(&c) == 1);
	EXPECT(rnotify_credit_update(&c, 7) == 1);
	EXPECT(rnotify_credit_left(&c) == 3);

	/* No window: nothing may come, nothing is ever due. */
	rnotify_grant_init(&g, 0);
	EXPECT(!rnotify_grant_arrived(&g));
	EXPECT(!rnotify_grant_due(&g));
	rnotify_credit_init(&c, 0);
	EXPECT(!rnotify_credit_use(&c));
}

void test_credit_hostile(void)
{
	struct rnotify_credit c;
	struct rnotify_grant g;
	u32 i;

	/* Beyond its credit: nothing is counted, however often. */
	rnotify_grant_init(&g, 2);
	EXPECT(rnotify_grant_arrived(&g) && rnotify_grant_arrived(&g));
	for (i = 0; i < 3; i++)
		EXPECT(!rnotify_grant_arrived(&g));
	EXPECT(g.received == 2);
	/* Returned, but not granted, is not credit either. */
	rnotify_grant_return(&g, 1);
	EXPECT(!rnotify_grant_arrived(&g));

	rnotify_credit_init(&c, 8);
	EXPECT(rnotify_credit_update(&c, 0) == 0);
	EXPECT(rnotify_credit_update(&c, 8) == 0);
	EXPECT(rnotify_credit_update(&c, U64_MAX) == -EPROTO);
	EXPECT(rnotify_credit_update(&c, 65536) == -EPROTO);
	EXPECT(rnotify_credit_left(&c) == 8);
	EXPECT(rnotify_credit_update(&c, 65535) == 1);
	EXPECT(rnotify_credit_left(&c) == 65535);
	EXPECT(rnotify_credit_update(&c, 65536) == -EPROTO);
	EXPECT(rnotify_credit_use(&c));
	EXPECT(rnotify_credit_update(&c, 65536) == 1);
	EXPECT(rnotify_credit_update(&c, 65535) == 0);
	EXPECT(rnotify_credit_left(&c) == 65535);

	/* Totals beyond 32 bits, and near the end of 64. */
	c.used = U32_MAX;
	c.limit = (u64)U32_MAX + 1;
	EXPECT(rnotify_credit_left(&c) == 1);
	EXPECT(rnotify_credit_update(&c, (u64)U32_MAX + 100) == 1);
	EXPECT(rnotify_credit_left(&c) == 100);
	c.used = U64_MAX - 10;
	c.limit = U64_MAX - 5;
	EXPECT(rnotify_credit_update(&c, U64_MAX) == 1);
	EXPECT(rnotify_credit_left(&c) == 10);
	EXPECT(rnotify_credit_update(&c, 3) == 0);
}
