/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What must hold for any bytes that a decoder is given; shared by the unit
 * tests and the fuzzer.
 */
#ifndef WIRE_CHECK_H
#define WIRE_CHECK_H

#include "vectors.h"

/**
 * wire_check - decode, and look at the result
 * @kind: which decoder
 * @buf: input
 * @len: bytes there
 * @accepted: set to whether the decoder took it
 *
 * A refusal must be one of the documented errors. What is accepted must be
 * valid by rules that are written down here once more, lie within the input,
 * and encode to the same bytes.
 *
 * Return: NULL if all is well, else what is wrong.
 */
const char *wire_check(enum vector_kind kind, const void *buf, size_t len,
		       bool *accepted);

/**
 * wire_encode - encode a vector's host form as it would go out
 * @kind: which encoder
 * @buf: where to
 * @size: bytes there
 * @host: host form
 *
 * Return: bytes, the payload of a MESSAGE included; or what the encoder
 * returned.
 */
int wire_encode(enum vector_kind kind, void *buf, size_t size,
		const void *host);

/* Do two host forms say the same? */
bool wire_same(enum vector_kind kind, const void *a, const void *b);

#endif /* WIRE_CHECK_H */
