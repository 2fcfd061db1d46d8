/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * librnotify - layouts of immediate data: named bit fields, and rules by field.
 *
 * The 32 bits of an imm belong to the application. A layout is written down
 * once, as a list of fields from the lowest bits up:
 *
 *	#define JOB_IMM(field)			\
 *		field(sequence, 16)		\
 *		field(length, 8)		\
 *		field(type, 8)
 *	RNOTIFY_IMM_LAYOUT(job_imm, JOB_IMM);
 *
 * That gives
 *
 *	struct job_imm { uint32_t sequence; uint32_t length; uint32_t type; };
 *	uint32_t job_imm_pack(struct job_imm fields);
 *	struct job_imm job_imm_unpack(uint32_t imm);
 *	bool job_imm_fits(struct job_imm fields);
 *
 * and makes the macros below work with (job_imm, sequence) and so on. Refused
 * by the compiler are: two fields of one name, a field of no bits or more than
 * 32, fields that are more than 32 bits together, a field that the layout does
 * not have, and a constant that its field can't hold (job_imm_pack() finds the
 * constant only if the compiler optimizes; RNOTIFY_IMM_CONST() always does).
 *
 * What is known at run time only is taken modulo the width of its field, as
 * sequence numbers want it: ask job_imm_fits() where that would be a mistake.
 */
#ifndef _RNOTIFY_IMM_H
#define _RNOTIFY_IMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/rnotify_route.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of a field, and how far it is from bit 0. Constant expressions. */
#define RNOTIFY_IMM_BITS(layout, field) \
	((unsigned int)sizeof(((struct layout##_bits *)0)->field))
#define RNOTIFY_IMM_SHIFT(layout, field) \
	((unsigned int)offsetof(struct layout##_bits, field))

/* The largest value, and where it stands in the imm. Constant expressions. */
#define RNOTIFY_IMM_MAX(layout, field) \
	(UINT32_MAX >> (32 - RNOTIFY_IMM_BITS(layout, field)))
#define RNOTIFY_IMM_MASK(layout, field) \
	(RNOTIFY_IMM_MAX(layout, field) << RNOTIFY_IMM_SHIFT(layout, field))

/* One field of an imm. */
#define RNOTIFY_IMM_GET(layout, field, imm) \
	(((uint32_t)(imm) >> RNOTIFY_IMM_SHIFT(layout, field)) & \
	 RNOTIFY_IMM_MAX(layout, field))

/* A value, modulo the width of its field, in its place; the other bits are 0. */
#define RNOTIFY_IMM_PUT(layout, field, value) \
	(((uint32_t)(value) & RNOTIFY_IMM_MAX(layout, field)) << \
	 RNOTIFY_IMM_SHIFT(layout, field))

/*
 * The same of a constant, as a constant expression (for initializers and case
 * labels). Does not compile if the field can't hold it.
 */
#define RNOTIFY_IMM_CONST(layout, field, value) \
	(RNOTIFY_IMM_PUT(layout, field, value) + \
	 0 * (uint32_t)sizeof(char[(uint64_t)(value) <= \
				   RNOTIFY_IMM_MAX(layout, field) ? 1 : -1]))

/*
 * The whole number of which the field of an imm has the low bits: the one that
 * is closest to @near (a uint64_t), for instance to the last one seen.
 */
#define RNOTIFY_IMM_WIDEN(layout, field, imm, near) \
	rnotify_imm_widen(RNOTIFY_IMM_GET(layout, field, imm), \
			  RNOTIFY_IMM_MAX(layout, field), near)

static inline uint64_t rnotify_imm_widen(uint32_t low, uint32_t max,
					 uint64_t near)
{
	uint32_t ahead = (low - (uint32_t)near) & max;

	/* The upper half of the field's range is behind, not far ahead. */
	if (ahead > max / 2 && near + ahead > max)
		return near + ahead - ((uint64_t)max + 1);
	return near + ahead;
}

/* ---- rules by field (see rnotify_route()) ---- */

/* rnotify_rule_init() - a rule that matches every imm */
static inline void rnotify_rule_init(struct rnotify_rule *rule,
				     enum rnotify_action action,
				     uint32_t object)
{
	memset(rule, 0, sizeof(*rule));
	rule->action = (__u16)action;
	rule->object_id = object;
}

/* rnotify_rule_match() - these bits, too, must be so; others stay as they are */
static inline void rnotify_rule_match(struct rnotify_rule *rule, uint32_t mask,
				      uint32_t value)
{
	rule->mask |= mask;
	rule->value = (rule->value & ~mask) | (value & mask);
}

/* The field must have this value. */
#define RNOTIFY_RULE_MATCH(rule, layout, field, value) do {		\
	_RNOTIFY_IMM_CHECK(value, RNOTIFY_IMM_MAX(layout, field));	\
	rnotify_rule_match(rule, RNOTIFY_IMM_MASK(layout, field),	\
			   RNOTIFY_IMM_PUT(layout, field, value));	\
} while (0)

/* The field is the number of the slot. */
#define RNOTIFY_RULE_SLOT(rule, layout, field) do {			\
	(rule)->slot_shift = (__u8)RNOTIFY_IMM_SHIFT(layout, field);	\
	(rule)->slot_bits = (__u8)RNOTIFY_IMM_BITS(layout, field);	\
} while (0)

/* The field is compared with a generation. */
#define RNOTIFY_RULE_GENERATION(rule, layout, field, generation) do {	\
	(rule)->generation_id = generation;				\
	(rule)->gen_shift = (__u8)RNOTIFY_IMM_SHIFT(layout, field);	\
	(rule)->gen_bits = (__u8)RNOTIFY_IMM_BITS(layout, field);	\
} while (0)

/* ---- the layout itself ---- */

#if defined(__OPTIMIZE__) && defined(__has_attribute)
#if __has_attribute(error)
/* Never defined: that a call is left is what the compiler complains about. */
void rnotify_imm_constant_is_too_large(void)
	__attribute__((error("the field of the imm can't hold this constant")));
#define _RNOTIFY_IMM_CHECK(value, max) do {				\
	if (__builtin_constant_p(value) && (value) > (max))		\
		rnotify_imm_constant_is_too_large();			\
} while (0)
#endif
#endif
#ifndef _RNOTIFY_IMM_CHECK
#define _RNOTIFY_IMM_CHECK(value, max) ((void)0)
#endif

/*
 * A struct with one byte for each bit: its offsets are the shifts. An array of
 * -1 elements is how C of any age, and C++, refuse what is wrong.
 */
#define _RNOTIFY_IMM_BYTES(name, bits) \
	char name[(bits) >= 1 && (bits) <= 32 ? (bits) : -1];
#define _RNOTIFY_IMM_MEMBER(name, bits)	uint32_t name;
#define _RNOTIFY_IMM_PACK(name, bits)					\
	_RNOTIFY_IMM_CHECK(fields.name, UINT32_MAX >> (32 - (bits)));	\
	imm |= (fields.name & (UINT32_MAX >> (32 - (bits)))) <<		\
	       offsetof(layout_bits, name);
#define _RNOTIFY_IMM_UNPACK(name, bits)					\
	fields.name = (imm >> offsetof(layout_bits, name)) &		\
		      (UINT32_MAX >> (32 - (bits)));
#define _RNOTIFY_IMM_FITS(name, bits)					\
	&& fields.name <= UINT32_MAX >> (32 - (bits))

/**
 * RNOTIFY_IMM_LAYOUT() - define a layout, at file scope
 * @layout: its name
 * @FIELDS: macro that calls its argument with the name and the bits of each
 *	field, from the lowest bits up
 */
#define RNOTIFY_IMM_LAYOUT(layout, FIELDS)				\
struct layout##_bits { FIELDS(_RNOTIFY_IMM_BYTES) };			\
typedef char layout##_is_wider_than_32_bits				\
	[sizeof(struct layout##_bits) <= 32 ? 1 : -1];			\
struct layout { FIELDS(_RNOTIFY_IMM_MEMBER) };				\
static inline __attribute__((always_inline, unused))			\
uint32_t layout##_pack(struct layout fields)				\
{									\
	typedef struct layout##_bits layout_bits;			\
	uint32_t imm = 0;						\
									\
	FIELDS(_RNOTIFY_IMM_PACK)					\
	return imm;							\
}									\
static inline __attribute__((unused))					\
struct layout layout##_unpack(uint32_t imm)				\
{									\
	typedef struct layout##_bits layout_bits;			\
	struct layout fields;						\
									\
	FIELDS(_RNOTIFY_IMM_UNPACK)					\
	return fields;							\
}									\
static inline __attribute__((unused))					\
bool layout##_fits(struct layout fields)				\
{									\
	return true FIELDS(_RNOTIFY_IMM_FITS);				\
}									\
struct layout##_bits	/* takes the semicolon */

#ifdef __cplusplus
}
#endif

#endif /* _RNOTIFY_IMM_H */
