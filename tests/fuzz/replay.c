// SPDX-License-Identifier: MIT
/*
 * Replays inputs through a libFuzzer target without libFuzzer: every file of the
 * directories named.  Of those that were made by hand also prefixes of some lengths,
 * and hundreds of inputs made of them by flipping bits with a fixed seed; those that a
 * fuzzer found, whose names are 12 hexadecimal digits, are such inputs themselves.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INPUT_MAX	(1u << 20)
#ifndef FLIPS
#define FLIPS		200
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long runs;

static void one(const uint8_t *data, size_t size)
{
	/* memory of exactly this size, so that a sanitizer sees its end */
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	runs++;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void flipped(const uint8_t *data, size_t size)
{
	uint64_t seed = 0x9e3779b97f4a7c15u ^ size;
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	for (int i = 0; size && i < FLIPS; i++) {
		memcpy(copy, data, size);
		for (uint64_t n = 1 + next_random(&seed) % 8; n; n--)
			copy[next_random(&seed) % size] ^=
				(uint8_t)(1u << next_random(&seed) % 8);
		one(copy, size);
	}
	free(copy);
}

static bool was_found(const char *name)
{
	return strlen(name) == 12 && strspn(name, "0123456789abcdef") == 12;
}

static int file(const char *path, bool found)
{
	static uint8_t data[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f)
		return -1;
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	one(data, size);
	if (found)
		return 0;
	for (size_t cut = 0; cut < size; cut += 1 + size / 50)
		one(data, cut);
	flipped(data, size);
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	int files = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 1; i < argc; i++) {
		DIR *list = opendir(argv[i]);
		const struct dirent *e;
		char path[4096];

		while (list && (e = readdir(list))) {
			if (e->d_name[0] == '.')
				continue;
			(void)snprintf(path, sizeof(path), "%s/%s", argv[i],
				       e->d_name);
			files += !file(path, was_found(e->d_name));
		}
		if (list)
			closedir(list);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%s 1 - %d inputs, %lu runs (%ld ms)\n1..1\n", files ? "ok" : "not ok", files,
	       runs, (long)(end.tv_sec - start.tv_sec) * 1000 +
	       (end.tv_nsec - start.tv_nsec) / 1000000);
	return !files;
}
