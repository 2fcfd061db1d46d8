// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * SHA-256: the examples of FIPS 180, all ways to cut a message into pieces, and
 * sha256sum as a second opinion.
 */
#include <stdlib.h>
#include <unistd.h>

#include "sha256.h"
#include "tap.h"

static void digest(const void *data, size_t len, size_t piece, char *hex)
{
	unsigned char out[SHA256_SIZE];
	const char *p = data;
	struct sha256 s;
	size_t n;

	sha256_init(&s);
	for (; len; p += n, len -= n) {
		n = piece < len ? piece : len;
		sha256_update(&s, p, n);
	}
	sha256_final(&s, out);
	sha256_hex(out, hex);
}

static void check_text(const char *text, const char *want)
{
	char hex[SHA256_HEX];

	digest(text, strlen(text), 64, hex);
	CHECK_STR(hex, want);
}

static void vectors(void)
{
	char hex[SHA256_HEX];
	char *million;

	check_text("",
		   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_text("abc",
		   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	million = malloc(1000000);
	memset(million, 'a', 1000000);
	digest(million, 1000000, 1000, hex);
	CHECK_STR(hex,
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

static void pieces(void)
{
	char whole[SHA256_HEX], cut[SHA256_HEX], data[300];
	size_t len, piece;

	for (len = 0; len < sizeof(data); len++)
		data[len] = (char)(len * 7);
	for (len = 0; len <= sizeof(data); len++) {
		digest(data, len, sizeof(data), whole);
		for (piece = 1; piece < 130; piece += 3) {
			digest(data, len, piece, cut);
			CHECK(!strcmp(whole, cut));
		}
	}
}

static int by_sha256sum(const char *file, char *hex)
{
	char command[128];
	FILE *pipe;
	int got;

	snprintf(command, sizeof(command), "sha256sum <%s 2>/dev/null", file);
	pipe = popen(command, "r");
	got = pipe && fread(hex, 1, SHA256_HEX - 1, pipe) == SHA256_HEX - 1;
	hex[SHA256_HEX - 1] = '\0';
	return pipe && !pclose(pipe) && got;
}

static void second_opinion(void)
{
	static const size_t lengths[] = { 0, 1, 55, 56, 63, 64, 65, 119, 120,
					  4096, 65537 };
	char file[] = "/tmp/rnotify-sha-XXXXXX", ours[SHA256_HEX], theirs[SHA256_HEX];
	int fd = mkstemp(file);
	char *data = malloc(65537);
	size_t i;

	for (i = 0; i < 65537; i++)
		data[i] = (char)rand();
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		CHECK(!ftruncate(fd, 0));
		CHECK(pwrite(fd, data, lengths[i], 0) == (ssize_t)lengths[i]);
		digest(data, lengths[i], 1 + i * 100, ours);
		CHECK(by_sha256sum(file, theirs));
		CHECK_STR(ours, theirs);
	}
	free(data);
	close(fd);
	unlink(file);
}

int main(void)
{
	return tap_run("test vectors", vectors) +
		tap_run("any pieces give the same", pieces) +
		tap_run("sha256sum agrees", second_opinion);
}
