// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * libFuzzer target for the decoders. The first byte chooses: a decoder, and for
 * messages whether the length in the header is made right, so that the fuzzer
 * gets behind that check quickly.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *wrong;
	bool accepted;
	size_t len, i;
	u8 *copy;

	if (!size)
		return 0;
	len = size - 1;
	/* A block of its own, so that the sanitiser sees its exact end. */
	copy = malloc(len ? len : 1);
	if (len)
		memcpy(copy, data + 1, len);
	if (data[0] % 4 == 3 && len >= 8)
		for (i = 0; i < 4; i++)
			copy[4 + i] = (u8)(len >> 8 * i);
	wrong = wire_check(data[0] % 4 < 2 ? data[0] % 4 : VECTOR_MSG, copy,
			   len, &accepted);
	free(copy);
	if (wrong) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
	return 0;
}
