/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - which rule a notification matches, and the fields of its imm.
 *
 * Up to 64 rules are kept as the bits of a u64, the first rule in the lowest.
 * Imm is cut into eight nibbles; for each of them and each of its 16 values a
 * table tells which rules this nibble does not contradict. A rule matches if no
 * nibble contradicts it: eight loads, seven ANDs, and the lowest bit is the
 * first rule that matches. That is the same work for one rule and for 64,
 * whatever their masks and whatever the imm.
 */
#ifndef RNOTIFY_ROUTE_MATCH_H
#define RNOTIFY_ROUTE_MATCH_H

#include <linux/rnotify.h>

#include "pure.h"

#define RNOTIFY_MATCH_NIBBLES	8

/**
 * struct rnotify_match - the masks and values of a list of rules, compiled
 * @rules: for each nibble of imm and each of its values: bit r is set if rule r
 *	can match
 */
struct rnotify_match {
	u64 rules[RNOTIFY_MATCH_NIBBLES][16];
};

/**
 * rnotify_match_init - compile an empty list
 * @m: matches nothing afterwards
 *
 * Context: Any.
 */
static inline void rnotify_match_init(struct rnotify_match *m)
{
	memset(m, 0, sizeof(*m));
}

/**
 * rnotify_match_add - compile one more rule
 * @m: match, with rules 0 to @nr - 1
 * @nr: number of the new rule, below RNOTIFY_RULES_MAX
 * @mask: bits of imm that it compares
 * @value: with what
 *
 * Context: Any.
 */
static inline void rnotify_match_add(struct rnotify_match *m, u32 nr, u32 mask,
				     u32 value)
{
	u64 bit = (u64)1 << nr;
	u32 i, v;

	for (i = 0; i < RNOTIFY_MATCH_NIBBLES; i++) {
		u32 nibble_mask = mask >> 4 * i & 15;
		u32 nibble_value = value >> 4 * i & 15;

		for (v = 0; v < 16; v++)
			if ((v & nibble_mask) == nibble_value)
				m->rules[i][v] |= bit;
	}
}

/**
 * rnotify_match_find - the first rule that matches
 * @m: match
 * @imm: immediate data
 *
 * Context: Any.
 * Return: number of the rule, -1 if none matches.
 */
static inline int rnotify_match_find(const struct rnotify_match *m, u32 imm)
{
	u64 left = m->rules[0][imm & 15];
	u32 i;

	for (i = 1; i < RNOTIFY_MATCH_NIBBLES; i++)
		left &= m->rules[i][imm >> 4 * i & 15];
	return left ? (int)__ffs64(left) : -1;
}

/**
 * rnotify_imm_field - a bit field of imm
 * @imm: immediate data
 * @shift: lowest bit, 0 to 31
 * @bits: width, 0 to 32 - @shift
 *
 * Context: Any.
 * Return: the field; 0 if it has no bits.
 */
static inline u32 rnotify_imm_field(u32 imm, u8 shift, u8 bits)
{
	return imm >> shift & (u32)(((u64)1 << bits) - 1);
}

/**
 * rnotify_gen_older - is a generation older than the current one?
 * @field: generation from imm
 * @current_gen: the current one; only its low bits count
 * @bits: width of the field, 1 to 32
 *
 * Serial-number arithmetic (as RFC 1982): the half of the circle behind
 * the current one is older, the half ahead is newer. The one point right across
 * is for the RFC undefined; here it is older.
 *
 * Context: Any.
 * Return: true if it is 1 to 2^(@bits - 1) behind.
 */
static inline bool rnotify_gen_older(u32 field, u32 current_gen, u8 bits)
{
	u32 behind = rnotify_imm_field(current_gen - field, 0, bits);

	return behind && behind <= (u32)1 << (bits - 1);
}

/**
 * rnotify_rule_check - can this rule be right?
 * @rule: from the user
 *
 * Checks all but what depends on the objects that it names.
 *
 * Context: Any.
 * Return: 0, -EOPNOTSUPP, -EINVAL.
 */
static inline int rnotify_rule_check(const struct rnotify_rule *rule)
{
	if (rule->action > RNOTIFY_ACTION_DROP ||
	    rule->flags & ~RNOTIFY_RULE_URGENT)
		return -EOPNOTSUPP;
	if (rule->value & ~rule->mask)
		return -EINVAL;
	if (rule->action == RNOTIFY_ACTION_EVENT ? rule->object_id :
						   rule->flags)
		return -EINVAL;
	if (rule->action == RNOTIFY_ACTION_SLOTS ?
	    rule->slot_bits > 16 || rule->slot_shift > 31 ||
	    rule->slot_shift + rule->slot_bits > 32 :
	    rule->slot_bits || rule->slot_shift)
		return -EINVAL;
	if (rule->generation_id ?
	    !rule->gen_bits || rule->gen_shift + rule->gen_bits > 32 :
	    rule->gen_bits || rule->gen_shift)
		return -EINVAL;
	return 0;
}

/**
 * rnotify_dirty_next - the next dirty slot
 * @bitmap: a bit per slot
 * @first: where to begin
 * @end: where to end; not part of the range
 *
 * Context: Any.
 * Return: first dirty slot of the range, @end if there is none.
 */
static inline u32 rnotify_dirty_next(const u64 *bitmap, u32 first, u32 end)
{
	u64 word;
	u32 i;

	if (first >= end)
		return end;
	i = first / 64;
	word = bitmap[i] & ~(u64)0 << first % 64;
	while (!word) {
		if (++i * 64 >= end)
			return end;
		word = bitmap[i];
	}
	return min_t(u32, end, i * 64 + (u32)__ffs64(word));
}

#endif /* RNOTIFY_ROUTE_MATCH_H */
