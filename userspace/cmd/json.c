// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * rnotify command - a JSON writer.
 */
#include <inttypes.h>

#include "json.h"

static void quote(struct json *j, const char *text)
{
	fputc('"', j->file);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(j->file, "\\%c", c);
		else if (c < 0x20)
			fprintf(j->file, "\\u%04x", c);
		else
			fputc(c, j->file);
	}
	fputc('"', j->file);
}

/* Comma, new line, indentation, key. */
static void start(struct json *j, const char *key)
{
	if (!j->first)
		fputc(',', j->file);
	j->first = false;
	fprintf(j->file, "\n%*s", 2 * j->depth, "");
	if (key) {
		quote(j, key);
		fputs(": ", j->file);
	}
}

void json_begin(struct json *j, FILE *file)
{
	*j = (struct json){ .file = file, .depth = 1, .first = true };
	fputc('{', file);
}

void json_finish(struct json *j)
{
	fputs("\n}\n", j->file);
	fflush(j->file);
}

void json_open(struct json *j, const char *key, char bracket)
{
	start(j, key);
	fputc(bracket, j->file);
	j->depth++;
	j->first = true;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	if (!j->first)
		fprintf(j->file, "\n%*s", 2 * j->depth, "");
	fputc(bracket, j->file);
	j->first = false;
}

void json_string(struct json *j, const char *key, const char *value)
{
	start(j, key);
	quote(j, value);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	start(j, key);
	fprintf(j->file, "%" PRIu64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	start(j, key);
	fprintf(j->file, "%.6f", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	start(j, key);
	fputs(value ? "true" : "false", j->file);
}
