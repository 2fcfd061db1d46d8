/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a lie must not touch, and what must become of the endpoint that it was
 * told to.
 *
 * A context with two endpoints: one towards a plain peer (raw.h), and a sound
 * one towards an endpoint of another context. The regions that each has shared
 * lie between guard bytes.
 */
#ifndef _RNT_LIE_H
#define _RNT_LIE_H

#include "raw.h"

#define LIE_COOKIE	0x11e
#define LIE_SHARED	8192u		/* bytes of each share */
#define LIE_GUARD	4096u		/* before and behind them */
#define LIE_GUARD_BYTE	0xa7
#define LIE_RECV	4u		/* its windows */
#define LIE_REGIONS	2u

/**
 * struct lie - the bed of a test
 * @c: context that is lied to
 * @other: of the sound peer
 * @good: sound connection: .a is @other, .b is @c
 * @good_mem: what @c shares with @other
 * @good_remote: @other's name for it
 * @mem: what @c may share with the liar
 * @r: liar
 * @ep: @c's endpoint towards it
 * @port: of @c's listener
 * @down: how @ep ended
 */
struct lie {
	struct rnt_ctx c;
	struct rnt_ctx other;
	struct rnt_pair good;
	struct rnt_region good_mem;
	__u32 good_remote;
	struct rnt_region mem;
	struct raw r;
	__u32 ep;
	__u16 port;
	struct rnotify_event_down down;
};

/* All but the liar. */
void lie_open(struct lie *l);
void lie_close(struct lie *l);
/* The liar, up to the lie: established, with a hello as it stands in l->r. */
void lie_connect_(struct lie *l);
void lie_reconnect_(struct lie *l);
/* One more plain peer of the same context; the endpoint. */
__u32 lie_connect_more_(struct lie *l, struct raw *r);
/* What is in the middle of @mem: shared, with all its keys there. */
struct raw_share *lie_share_(struct lie *l, __u32 rights, __u32 *id);
/* The endpoint ends for that reason and errno, in that stage. */
void lie_told_(struct lie *l, unsigned int reason, int error,
	       unsigned int stage);
/* It broke the protocol, is told so, and nothing else is touched. */
void lie_caught_(struct lie *l);
/* Its queue pair was broken by what the own device refused. */
void lie_broken_(struct lie *l);
/* The endpoint is sound: traffic both ways. */
void lie_harmless_(struct lie *l);
/* The other endpoint, and all the memory, are as they were. */
void lie_untouched_(struct lie *l);

#define lie_connect(...) (rnt_at(__FILE__, __LINE__), lie_connect_(__VA_ARGS__))
#define lie_reconnect(...) \
	(rnt_at(__FILE__, __LINE__), lie_reconnect_(__VA_ARGS__))
#define lie_connect_more(...) \
	(rnt_at(__FILE__, __LINE__), lie_connect_more_(__VA_ARGS__))
#define lie_share(...) (rnt_at(__FILE__, __LINE__), lie_share_(__VA_ARGS__))
#define lie_told(...) (rnt_at(__FILE__, __LINE__), lie_told_(__VA_ARGS__))
#define lie_caught(...) (rnt_at(__FILE__, __LINE__), lie_caught_(__VA_ARGS__))
#define lie_broken(...) (rnt_at(__FILE__, __LINE__), lie_broken_(__VA_ARGS__))
#define lie_harmless(...) \
	(rnt_at(__FILE__, __LINE__), lie_harmless_(__VA_ARGS__))
#define lie_untouched(...) \
	(rnt_at(__FILE__, __LINE__), lie_untouched_(__VA_ARGS__))

#endif /* _RNT_LIE_H */
