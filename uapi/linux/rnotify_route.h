/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * rnotify - RDMA notification transport: what becomes of a notification.
 *
 * Included by <linux/rnotify.h>, where the ABI's general rules stand.
 */
#ifndef _UAPI_LINUX_RNOTIFY_ROUTE_H
#define _UAPI_LINUX_RNOTIFY_ROUTE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: Routes, counters, slot tables, generations
 *
 * A notification (WRITE_IMM or NOTIFY of the peer) becomes an event, unless a
 * *rule* of its endpoint says otherwise. The rules of an endpoint are tried in
 * order; the first with (imm & mask) == value decides. A rule with mask 0
 * matches everything: as the last one it is a default. What no rule matches is
 * an event. A message (SEND, SEND_IMM) is always an event, since its payload
 * lives as long as its ring entry.
 *
 * What a rule sends to a counter, to a slot table, or drops takes no ring entry,
 * and its credit goes back to the peer at once. So a peer is not held back by a
 * receiver that looks at its counters now and then, and can't fill its ring.
 * Nothing is lost: each notification is in exactly one of these, and
 * RNOTIFY_IOCTL_ENDPOINT_INFO counts them all.
 *
 * All of this belongs to one context. A change (new rules, a reset, a new
 * generation, taken slots) comes between two notifications: each is handled
 * wholly before the change, or wholly after it, on all endpoints of the context
 * alike. When the call returns, what comes is handled by the new state.
 *
 * Memory model of the mapped pages, which are read-only for the user: see
 * &struct rnotify_counter_page and &struct rnotify_slot. Who sees a notification
 * counted, by load-acquire, sees every byte of it and of all earlier operations
 * of that endpoint. Across endpoints there is no order: count instead.
 *
 * Waits for a counter or for slots end early when an endpoint that feeds the
 * object (whose rules name it) ends. *ended* counts those; a wait says how many
 * the caller knows of already, and ends at once if that is not how many there
 * are. So none is missed, and what the caller has dealt with does not disturb
 * the next wait.
 */

/* Apart from the others, so that both lists can grow. */
enum {
	RNOTIFY_CMD_ROUTE = 0x20,
	RNOTIFY_CMD_COUNTER_CREATE,
	RNOTIFY_CMD_COUNTER_RESET,
	RNOTIFY_CMD_COUNTER_WAIT,
	RNOTIFY_CMD_COUNTER_WATCH,
	RNOTIFY_CMD_WATCH_ARM,
	RNOTIFY_CMD_SLOTS_CREATE,
	RNOTIFY_CMD_SLOTS_TAKE,
	RNOTIFY_CMD_GENERATION_CREATE,
	RNOTIFY_CMD_GENERATION_SET,
};

#define RNOTIFY_IOCTL_ROUTE	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_ROUTE)
#define RNOTIFY_IOCTL_COUNTER_CREATE \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_COUNTER_CREATE)
#define RNOTIFY_IOCTL_COUNTER_RESET \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_COUNTER_RESET)
#define RNOTIFY_IOCTL_COUNTER_WAIT \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_COUNTER_WAIT)
#define RNOTIFY_IOCTL_COUNTER_WATCH \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_COUNTER_WATCH)
#define RNOTIFY_IOCTL_WATCH_ARM \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_WATCH_ARM)
#define RNOTIFY_IOCTL_SLOTS_CREATE \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_SLOTS_CREATE)
#define RNOTIFY_IOCTL_SLOTS_TAKE \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_SLOTS_TAKE)
#define RNOTIFY_IOCTL_GENERATION_CREATE \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_GENERATION_CREATE)
#define RNOTIFY_IOCTL_GENERATION_SET \
	_IO(RNOTIFY_IOCTL_TYPE, RNOTIFY_CMD_GENERATION_SET)

/* Limits of this version; RNOTIFY_IOCTL_QUERY tells those of the kernel. */
#define RNOTIFY_RULES_MAX	64u	/* rules of an endpoint */
#define RNOTIFY_COUNTERS_MAX	1024u	/* per context */
#define RNOTIFY_WATCHES_MAX	64u	/* per counter */
#define RNOTIFY_SLOTS_MAX	65536u	/* in a table */
#define RNOTIFY_SLOT_TABLES_MAX	64u	/* per context */
#define RNOTIFY_GENERATIONS_MAX	1024u	/* per context */

/**
 * enum rnotify_action - rnotify_rule.action
 * @RNOTIFY_ACTION_EVENT: a NOTIFY event, as without rules
 * @RNOTIFY_ACTION_COUNTER: counted by the counter rnotify_rule.object_id
 * @RNOTIFY_ACTION_SLOTS: counted in a slot of the table rnotify_rule.object_id
 * @RNOTIFY_ACTION_DROP: counted by rnotify_endpoint_info.rx_dropped, and by the
 *	counter rnotify_rule.object_id unless that is 0
 */
enum rnotify_action {
	RNOTIFY_ACTION_EVENT = 0,
	RNOTIFY_ACTION_COUNTER = 1,
	RNOTIFY_ACTION_SLOTS = 2,
	RNOTIFY_ACTION_DROP = 3,
};

/**
 * enum rnotify_rule_flags - rnotify_rule.flags
 * @RNOTIFY_RULE_URGENT: with RNOTIFY_ACTION_EVENT: the event wakes sleepers at
 *	once, whatever RNOTIFY_IOCTL_MODERATE says, and has
 *	RNOTIFY_EVENT_F_URGENT. (COUNTER and SLOTS events are never put off)
 */
enum rnotify_rule_flags {
	RNOTIFY_RULE_URGENT = 1u << 0,
};

/**
 * struct rnotify_rule - one rule
 * @mask: bits of imm that are compared
 * @value: what they must be; no bit that @mask has not
 * @action: &enum rnotify_action
 * @flags: &enum rnotify_rule_flags
 * @object_id: counter or slot table, 0 for RNOTIFY_ACTION_EVENT
 * @generation_id: generation to compare with, 0: none
 * @gen_shift: lowest bit of the field of imm that holds the generation
 * @gen_bits: bits of that field, 1 to 32 - @gen_shift; 0 without @generation_id
 * @slot_shift: RNOTIFY_ACTION_SLOTS: lowest bit of the field that holds the slot
 * @slot_bits: bits of that field; the table has at least 2^@slot_bits slots. 0:
 *	always slot 0
 *
 * With a generation, a notification that matches is *stale* if its field is
 * older than the current generation, by serial-number arithmetic in @gen_bits
 * bits: older are those 1 to 2^(@gen_bits - 1) behind. Stale ones are counted
 * (rnotify_endpoint_info.rx_stale, rnotify_generation_set.stale) and dropped;
 * later rules are not tried. The current generation and newer ones are handled
 * by @action.
 */
struct rnotify_rule {
	__u32 mask;
	__u32 value;
	__u16 action;
	__u16 flags;
	__u32 object_id;
	__u32 generation_id;
	__u8 gen_shift;
	__u8 gen_bits;
	__u8 slot_shift;
	__u8 slot_bits;
};

/**
 * struct rnotify_route - ioctl(RNOTIFY_IOCTL_ROUTE)
 * @size: sizeof(struct rnotify_route)
 * @flags: must be 0
 * @endpoint_id: endpoint in any state before its end; 0: endpoints that appear
 *	from now on (by CONNECT, or as a request) start with these rules
 * @nr_rules: rules, up to RNOTIFY_RULES_MAX; 0: all notifications are events
 * @rules: user pointer to an array of &struct rnotify_rule
 * @rule_size: sizeof(struct rnotify_rule)
 * @reserved: must be 0
 *
 * Replaces all rules of the endpoint in one step. Errors leave the old ones in
 * force. %EINVAL: too many rules, a value that its mask can't give, fields
 * beyond 32 bits or beyond the table, URGENT without EVENT, members that the
 * action does not use; %EOPNOTSUPP: unknown action or flag; %ENOENT: no such
 * endpoint, or a rule names an object that is not there or of another type;
 * %ESHUTDOWN: the endpoint has ended, or is about to.
 *
 * An object stays with the rules that name it. When a counter or slot table is
 * destroyed, what its rules match becomes an event; a destroyed generation stays
 * as it was.
 */
struct rnotify_route {
	__u32 size;
	__u32 flags;
	__u32 endpoint_id;
	__u32 nr_rules;
	__u64 rules;
	__u32 rule_size;
	__u32 reserved;
};

/**
 * struct rnotify_counter_page - what a counter's mapping shows (read-only)
 * @count: notifications since it was made or last reset
 * @bytes: payload bytes of those, modulo 2^64 (as the peer's device or kernel
 *	tells them: a peer that lies about the length of a long write shows here)
 * @resets: how often it was reset
 * @seq: odd while the kernel writes; changes with each change of the page
 * @ended: endpoints that fed it and have ended
 * @ended_endpoint: id of the latest of those
 * @ended_reason: &enum rnotify_reason of that
 * @ended_error: negative errno of that, or 0
 * @reserved: 0
 *
 * One member alone may be read at any time with one load, on 64-bit machines;
 * @count by load-acquire, to see the bytes that it announces. For several that
 * belong together: load-acquire @seq until it is even, read, acquire fence, load
 * @seq; once more from the start if it differs.
 */
struct rnotify_counter_page {
	__u64 count __attribute__((aligned(64)));
	__u64 bytes;
	__u64 resets;
	__u32 seq;
	__u32 ended;
	__u32 ended_endpoint;
	__u32 ended_reason;
	__s32 ended_error;
	__u32 reserved[5];
};

/**
 * struct rnotify_counter_create - ioctl(RNOTIFY_IOCTL_COUNTER_CREATE)
 * @size: sizeof(struct rnotify_counter_create)
 * @flags: must be 0
 * @counter_id: out: the new counter; DESTROY ends it
 * @reserved: must be 0
 * @mmap_offset: out: mmap offset of its &struct rnotify_counter_page. Map it
 *	with PROT_READ and MAP_SHARED
 * @mmap_size: out: bytes to map there
 *
 * It counts what rules of any number of endpoints send to it, from the first
 * notification on. %EMFILE: RNOTIFY_COUNTERS_MAX are there.
 */
struct rnotify_counter_create {
	__u32 size;
	__u32 flags;
	__u32 counter_id;
	__u32 reserved;
	__u64 mmap_offset;
	__u64 mmap_size;
};

/**
 * struct rnotify_counter_reset - ioctl(RNOTIFY_IOCTL_COUNTER_RESET)
 * @size: sizeof(struct rnotify_counter_reset)
 * @flags: must be 0
 * @counter_id: counter
 * @reserved: must be 0
 * @count: out: what it had counted
 * @bytes: out: and the bytes
 *
 * Sets it to 0. Each notification is either in the returned count, or counted
 * again from 0: the sum of all returned counts and of what is in the counter is
 * exact. Nothing is reset when the struct can't be written (%EFAULT).
 * Watches stay armed and wait for their threshold anew; one with a step
 * goes back to its first threshold.
 */
struct rnotify_counter_reset {
	__u32 size;
	__u32 flags;
	__u32 counter_id;
	__u32 reserved;
	__u64 count;
	__u64 bytes;
};

/**
 * struct rnotify_counter_wait - ioctl(RNOTIFY_IOCTL_COUNTER_WAIT)
 * @size: sizeof(struct rnotify_counter_wait)
 * @flags: must be 0
 * @counter_id: counter
 * @ended: in: ends of feeding endpoints that the caller knows of
 *	(rnotify_counter_page.ended, or what an earlier call wrote here); out: with
 *	%EPIPE, how many there are, else unchanged
 * @threshold: wait until the count is so much
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0: only look; negative: for ever
 * @count: out: notifications counted
 * @bytes: out: and their bytes
 * @ended_endpoint: out: the latest endpoint that ended, 0 if none has
 * @ended_reason: out: &enum rnotify_reason of that
 * @ended_error: out: negative errno of that, or 0
 * @reserved: must be 0
 *
 * 0: the threshold is reached (it wins over an end at the same time). Else
 * %EPIPE: an endpoint that feeds the counter ended, by whatever cause (its peer
 * died or closed, the device was removed, a protocol error, DISCONNECT);
 * %ETIME: the time came first; %EINTR; %ECANCELED: the counter was destroyed.
 * The outputs are valid with all of these. Any number of threads may wait, each
 * for its threshold; only those are woken whose wait is over.
 */
struct rnotify_counter_wait {
	__u32 size;
	__u32 flags;
	__u32 counter_id;
	__u32 ended;
	__u64 threshold;
	__s64 timeout_ns;
	__u64 count;
	__u64 bytes;
	__u32 ended_endpoint;
	__u32 ended_reason;
	__s32 ended_error;
	__u32 reserved;
};

/**
 * struct rnotify_counter_watch - ioctl(RNOTIFY_IOCTL_COUNTER_WATCH)
 * @size: sizeof(struct rnotify_counter_watch)
 * @flags: must be 0
 * @counter_id: counter
 * @watch_id: out: the new watch; DESTROY ends it
 * @threshold: give a COUNTER event when the count is so much (at once if it is)
 * @step: 0: that is all, until WATCH_ARM; else arm again for the first of
 *	@threshold + n * @step that is not reached
 * @cookie: for the event
 *
 * A watch reserves one ring entry (%ENOSPC), so that its event always has room,
 * and wakes whoever sleeps on the context by whatever means. While its event is
 * not consumed there is no second one: what becomes due meanwhile is told after
 * that, with the counts of then. %EMFILE: RNOTIFY_WATCHES_MAX are there.
 * The end of endpoints shows as their DISCONNECTED events in the same ring.
 */
struct rnotify_counter_watch {
	__u32 size;
	__u32 flags;
	__u32 counter_id;
	__u32 watch_id;
	__u64 threshold;
	__u64 step;
	__u64 cookie;
};

/**
 * struct rnotify_watch_arm - ioctl(RNOTIFY_IOCTL_WATCH_ARM)
 * @size: sizeof(struct rnotify_watch_arm)
 * @flags: must be 0
 * @watch_id: watch, armed or not
 * @reserved: must be 0
 * @threshold: as in &struct rnotify_counter_watch
 * @step: as in &struct rnotify_counter_watch
 *
 * Replaces what it waited for. %ENOENT also if its counter was destroyed.
 */
struct rnotify_watch_arm {
	__u32 size;
	__u32 flags;
	__u32 watch_id;
	__u32 reserved;
	__u64 threshold;
	__u64 step;
};

/**
 * struct rnotify_slot - a slot, in the mapping and as taken
 * @count: notifications since it was last taken; not 0 means dirty
 * @bytes: payload bytes of those, modulo 2^64
 * @first_ns: CLOCK_MONOTONIC when the first of them arrived, nanoseconds
 * @last_ns: the same of the last
 * @last_imm: its immediate data
 * @endpoint: where it came from
 * @index: number of the slot
 * @seq: odd while the kernel writes; changes with each change of the slot
 *
 * In the mapping, all but @index and @seq are 0 in a clean slot. Read @count by
 * load-acquire to see the bytes that it announces; several members as in &struct
 * rnotify_counter_page.
 */
struct rnotify_slot {
	__u64 count;
	__u64 bytes;
	__u64 first_ns;
	__u64 last_ns;
	__u32 last_imm;
	__u32 endpoint;
	__u32 index;
	__u32 seq;
};

/**
 * struct rnotify_slots_head - start of a slot table's mapping (read-only)
 * @nr_slots: slots in the table
 * @slot_size: sizeof(struct rnotify_slot)
 * @slots_offset: byte offset of slot 0 from the start of this mapping
 * @dirty_offset: byte offset of the bitmap of dirty slots: __u64 words, bit
 *	(i % 64) of word (i / 64) is slot i's. Load words with acquire: who sees a
 *	bit set sees the slot's count and the bytes that it announces
 * @nr_dirty: dirty slots
 * @ended: endpoints that fed it and have ended
 * @ended_endpoint: id of the latest of those
 * @ended_reason: &enum rnotify_reason of that
 * @ended_error: negative errno of that, or 0
 * @reserved: 0
 * @changes: how often the table turned from clean to dirty
 * @total: notifications since it was made
 * @reserved2: 0
 *
 * Each member is written by itself.
 */
struct rnotify_slots_head {
	__u32 nr_slots __attribute__((aligned(64)));
	__u32 slot_size;
	__u32 slots_offset;
	__u32 dirty_offset;
	__u32 nr_dirty;
	__u32 ended;
	__u32 ended_endpoint;
	__u32 ended_reason;
	__s32 ended_error;
	__u32 reserved;
	__u64 changes;
	__u64 total;
	__u64 reserved2;
};

/**
 * enum rnotify_slots_flags - rnotify_slots_create.flags
 * @RNOTIFY_SLOTS_EVENT: give a SLOTS event when the table turns from clean to
 *	dirty. Reserves one ring entry (%ENOSPC). While the event is not consumed
 *	there is no second one: if the table turned clean and dirty again, it is
 *	told after that
 */
enum rnotify_slots_flags {
	RNOTIFY_SLOTS_EVENT = 1u << 0,
};

/**
 * struct rnotify_slots_create - ioctl(RNOTIFY_IOCTL_SLOTS_CREATE)
 * @size: sizeof(struct rnotify_slots_create)
 * @flags: &enum rnotify_slots_flags
 * @nr_slots: slots, a power of two up to RNOTIFY_SLOTS_MAX
 * @slots_id: out: the new table; DESTROY ends it
 * @cookie: for the events
 * @mmap_offset: out: mmap offset of its &struct rnotify_slots_head, bitmap and
 *	slots. Map it with PROT_READ and MAP_SHARED
 * @mmap_size: out: bytes to map there
 *
 * %EMFILE: RNOTIFY_SLOT_TABLES_MAX are there.
 */
struct rnotify_slots_create {
	__u32 size;
	__u32 flags;
	__u32 nr_slots;
	__u32 slots_id;
	__u64 cookie;
	__u64 mmap_offset;
	__u64 mmap_size;
};

/**
 * struct rnotify_slots_take - ioctl(RNOTIFY_IOCTL_SLOTS_TAKE)
 * @size: sizeof(struct rnotify_slots_take)
 * @flags: must be 0
 * @slots_id: slot table
 * @first: first slot of the range to look at
 * @nr: slots in the range, 0: to the end of the table
 * @max: entries at @entries; 0: only wait, and take nothing
 * @entries: user pointer to an array of &struct rnotify_slot
 * @entry_size: sizeof(struct rnotify_slot)
 * @ended: in and out: as in &struct rnotify_counter_wait
 * @timeout_ns: absolute CLOCK_MONOTONIC time; 0: only look; negative: for ever
 * @taken: out: entries written
 * @next_dirty: out: first slot of the range that is dirty now, ~0 if none is
 * @nr_dirty: out: dirty slots of the whole table now
 * @ended_endpoint: out: the latest feeding endpoint that ended, 0 if none has
 * @ended_reason: out: &enum rnotify_reason of that
 * @ended_error: out: negative errno of that, or 0
 *
 * Waits until a slot of the range is dirty; then reads and clears dirty slots,
 * from the lowest, until @max are taken or the range is clean. Each slot is read
 * and cleared in one step: each notification is in exactly one taken slot, or
 * still in the table. Slots that can't be written to @entries stay in the table,
 * and nothing is taken when the struct can't be written (%EFAULT).
 *
 * 0: at least one was taken, or with @max 0 is dirty. Else %EPIPE, %ETIME,
 * %EINTR, %ECANCELED as for &struct rnotify_counter_wait; %ERANGE: @first + @nr
 * beyond the table.
 */
struct rnotify_slots_take {
	__u32 size;
	__u32 flags;
	__u32 slots_id;
	__u32 first;
	__u32 nr;
	__u32 max;
	__u64 entries;
	__u32 entry_size;
	__u32 ended;
	__s64 timeout_ns;
	__u32 taken;
	__u32 next_dirty;
	__u32 nr_dirty;
	__u32 ended_endpoint;
	__u32 ended_reason;
	__s32 ended_error;
};

/**
 * struct rnotify_generation_create - ioctl(RNOTIFY_IOCTL_GENERATION_CREATE)
 * @size: sizeof(struct rnotify_generation_create)
 * @flags: must be 0
 * @value: current generation to start with
 * @generation_id: out: the new generation; DESTROY ends it
 *
 * Any number of rules, of any endpoints, may compare with it, in fields of
 * different widths: each with as many low bits of the value.
 * %EMFILE: RNOTIFY_GENERATIONS_MAX are there.
 */
struct rnotify_generation_create {
	__u32 size;
	__u32 flags;
	__u32 value;
	__u32 generation_id;
};

/**
 * struct rnotify_generation_set - ioctl(RNOTIFY_IOCTL_GENERATION_SET)
 * @size: sizeof(struct rnotify_generation_set)
 * @flags: &enum rnotify_generation_flags
 * @generation_id: generation
 * @value: the new current generation; out: the one before
 * @stale: out: notifications found older than it, so far
 *
 * Each notification is judged by the old value or by the new one; when this
 * returns, by the new one. What was judged before is in its counter, slot or
 * ring entry by then.
 */
struct rnotify_generation_set {
	__u32 size;
	__u32 flags;
	__u32 generation_id;
	__u32 value;
	__u64 stale;
};

/**
 * enum rnotify_generation_flags - rnotify_generation_set.flags
 * @RNOTIFY_GENERATION_GET: only look: the value is not changed
 */
enum rnotify_generation_flags {
	RNOTIFY_GENERATION_GET = 1u << 0,
};

#endif /* _UAPI_LINUX_RNOTIFY_ROUTE_H */
