/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rnotify - what the pure layer is built on.
 *
 * The pure layer (wire, credit, ring_math, chunk, route_match) makes no kernel calls. It is
 * compiled into the module, and again in user space, where it is unit-tested,
 * sanitised and fuzzed. This is the only file that knows which of the two it
 * is; the others of the layer include nothing but this, each other and the
 * uapi headers.
 */
#ifndef _RNOTIFY_PURE_H
#define _RNOTIFY_PURE_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#else /* user space: the same names */

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		UINT64_MAX

#define __packed	__attribute__((__packed__))

#define static_assert(expr)	_Static_assert(expr, #expr)

#define cpu_to_le16(x)	htole16(x)
#define cpu_to_le32(x)	htole32(x)
#define cpu_to_le64(x)	htole64(x)
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)

/* The lowest bit that is set; there is one. */
static inline unsigned int __ffs64(u64 word)
{
	return (unsigned int)__builtin_ctzll(word);
}

#define min_t(type, x, y) ({			\
	type __min_x = (x);			\
	type __min_y = (y);			\
	__min_x < __min_y ? __min_x : __min_y;	\
})
#define max_t(type, x, y) ({			\
	type __max_x = (x);			\
	type __max_y = (y);			\
	__max_x > __max_y ? __max_x : __max_y;	\
})

#endif /* __KERNEL__ */

#endif /* _RNOTIFY_PURE_H */
