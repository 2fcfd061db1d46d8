// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify watch - rules: from text to the kernel's objects.
 */
#include <stdlib.h>
#include <string.h>

#include "watch.h"

/* A number and what must stand behind it */
static bool parse_u32(const char **text, char stop, uint32_t *n)
{
	unsigned long long value;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	value = strtoull(*text, &end, strncmp(*text, "0x", 2) ? 10 : 16);
	if (value > UINT32_MAX || *end != stop)
		return false;
	*n = (uint32_t)value;
	*text = *end ? end + 1 : end;
	return true;
}

/* ",VALUE/MASK". Returns what is wrong with it, or NULL. */
static const char *parse_match(struct rnotify_rule *rule, const char *text)
{
	if (!*text)
		return NULL;
	if (*text++ != ',' || !parse_u32(&text, '/', &rule->value) ||
	    !parse_u32(&text, '\0', &rule->mask))
		return "nothing but ,VALUE/MASK can stand behind the action";
	if (rule->value & ~rule->mask)
		return "VALUE has bits that MASK has not, so nothing fits";
	return NULL;
}

/* "SHIFT+BITS", up to the comma or the end */
static bool parse_field(struct rnotify_rule *rule, const char **text)
{
	uint32_t shift, bits;

	if (!parse_u32(text, '+', &shift))
		return false;
	if (!parse_u32(text, '\0', &bits)) {
		if (!parse_u32(text, ',', &bits))
			return false;
		(*text)--;	/* the comma belongs to the match */
	}
	if (!bits || bits > 16 || shift > 31 || shift + bits > 32)
		return false;
	rule->slot_shift = (__u8)shift;
	rule->slot_bits = (__u8)bits;
	return true;
}

static bool skip(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

const char *watched_parse(struct watched *w, const char *text)
{
	*w = (struct watched){ .text = text };
	if (skip(&text, "counter")) {
		w->rule.action = RNOTIFY_ACTION_COUNTER;
	} else if (skip(&text, "drop")) {
		w->rule.action = RNOTIFY_ACTION_DROP;
	} else if (skip(&text, "slots:")) {
		w->rule.action = RNOTIFY_ACTION_SLOTS;
		if (!parse_field(&w->rule, &text))
			return "slots take :SHIFT+BITS, a field of 1 to 16 of the 32 bits";
	} else {
		return "it begins with counter, slots:SHIFT+BITS or drop";
	}
	return parse_match(&w->rule, text);
}

int watched_create(struct watched *w, struct rnotify *ctx)
{
	int ret;

	if (w->rule.action == RNOTIFY_ACTION_SLOTS) {
		ret = rnotify_slots_create(ctx, 1u << w->rule.slot_bits, 0, 0,
					   &w->slots);
		if (!ret)
			w->rule.object_id = rnotify_slots_id(w->slots);
		return ret;
	}
	/* What is dropped is counted as well. */
	ret = rnotify_counter_create(ctx, &w->counter);
	if (!ret)
		w->rule.object_id = rnotify_counter_id(w->counter);
	return ret;
}

void watched_total(const struct watched *w, uint64_t *count, uint64_t *bytes)
{
	struct rnotify_counter_page page;
	struct rnotify_slot slot;
	uint32_t i;

	*count = 0;
	*bytes = 0;
	if (w->counter) {
		rnotify_counter_read(w->counter, &page);
		*count = page.count;
		*bytes = page.bytes;
		return;
	}
	for (i = rnotify_slots_next(w->slots, 0); i != UINT32_MAX;
	     i = rnotify_slots_next(w->slots, i + 1)) {
		rnotify_slots_read(w->slots, i, &slot);
		*count += slot.count;
		*bytes += slot.bytes;
	}
}
