// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * key_value - a store whose clients write values into slots of the server's
 * memory, and read them from there.
 *
 *	key_value serve [--clients N] [ADDRESS]
 *	key_value put [--pool N] [--keys N] [--rounds N] [--public] [--die] ADDRESS
 *	key_value get [--pool N] [--keys N] ADDRESS
 *	key_value pry [--pool N] ADDRESS
 *
 * See Documentation/examples.rst.
 */
#include <string.h>

#include "example.h"
#include "kv.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", kv_serve },
	{ "put", kv_put },
	{ "get", kv_get },
	{ "pry", kv_pry },
};

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	die("usage: key_value serve|put|get|pry ...");
}
