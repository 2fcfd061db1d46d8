/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * rnotify command - a JSON writer. The key is NULL inside an array.
 */
#ifndef _RNOTIFY_CMD_JSON_H
#define _RNOTIFY_CMD_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *file;
	int depth;
	bool first;	/* nothing in the innermost object or array yet */
};

void json_begin(struct json *j, FILE *file);	/* the outermost object */
void json_finish(struct json *j);
void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */
void json_string(struct json *j, const char *key, const char *value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);

#endif /* _RNOTIFY_CMD_JSON_H */
