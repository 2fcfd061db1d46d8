// SPDX-License-Identifier: LGPL-2.1 OR MIT
/* The examples in the protocol document are the golden vectors, in that order. */
#include <stdio.h>

#include "unit.h"
#include "vectors.h"

/* A line of hex bytes, indented as a literal block is; else 0. */
static size_t hex_line(const char *line, u8 *bytes, size_t room)
{
	unsigned int byte;
	size_t n = 0;
	int used;

	if (strncmp(line, "    ", 4))
		return 0;
	while (n < room && sscanf(line, " %2x%n", &byte, &used) == 1) {
		bytes[n++] = (u8)byte;
		line += used;
	}
	while (*line == ' ' || *line == '\n')
		line++;
	return *line ? 0 : n;
}

void test_golden_documented(void)
{
	FILE *f = fopen(PROTOCOL_DOCUMENT, "r");
	u8 told[1024], want[1024];
	size_t nr_told = 0, nr_want = 0, i;
	bool examples = false;
	char line[256];

	if (!EXPECT(f))
		return;
	while (fgets(line, sizeof(line), f)) {
		examples |= !strcmp(line, "Examples\n");
		if (examples)
			nr_told += hex_line(line, told + nr_told,
					    sizeof(told) - nr_told);
	}
	fclose(f);

	for (i = 0; i < nr_vectors; i++) {
		memcpy(want + nr_want, vectors[i].bytes, vectors[i].len);
		nr_want += vectors[i].len;
	}
	EXPECT_AT(nr_told == nr_want, nr_told);
	EXPECT(!memcmp(told, want, nr_want));
}
