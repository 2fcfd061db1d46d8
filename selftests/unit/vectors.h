/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Golden vectors: each frame in host form and as bytes. The bytes are those of
 * Documentation/wire-protocol.rst.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include "wire.h"

enum vector_kind {
	VECTOR_HELLO,
	VECTOR_REJECT,
	VECTOR_MSG,
};

struct vector {
	const char *name;
	enum vector_kind kind;
	const void *host;	/* rnotify_hello, _reject_data or _wire_msg */
	const u8 *bytes;
	size_t len;		/* of bytes, the payload of a MESSAGE included */
};

extern const struct vector vectors[];
extern const size_t nr_vectors;

#endif /* VECTORS_H */
