/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixture of the sweeps over what can fail. Each program that includes this has it
 * for itself.
 */
#ifndef _NTH_FIXTURE_H
#define _NTH_FIXTURE_H

#include "kselftest_harness.h"
#include "nth.h"

FIXTURE(nth)
{
	struct nth t;
};

FIXTURE_SETUP(nth)
{
	nth_open(&self->t);
}

FIXTURE_TEARDOWN(nth)
{
	EXPECT_TRUE(nth_close(&self->t));
}

#endif /* _NTH_FIXTURE_H */
