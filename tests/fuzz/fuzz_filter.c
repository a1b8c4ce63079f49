// SPDX-License-Identifier: MIT
/*
 * First byte even: a filter's text, a NUL, and the bytes of one raw event. The text is
 * compiled for a type with all kinds of fields, run, and its normal text
 * compiled: that must give the same program.
 * Odd: seven bytes, the length of an event, then the event and a program,
 * which is run if it verifies.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter.h"

#include "../engine/filter_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any name that begins with f is a function, with E a constant. */
static bool find_symbol(void *arg, const char *name, struct tacho_symbol *sym)
{
	(void)arg;
	*sym = (struct tacho_symbol){ .name = name, .start = strlen(name),
				      .end = 100 };
	return *name == 'f';
}

static bool symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	(void)arg;
	*sym = (struct tacho_symbol){ .name = "f", .start = addr, .end = addr };
	return addr & 1;
}

static bool constant(void *arg, const char *name, int64_t *value)
{
	(void)arg;
	*value = (int64_t)strlen(name) - 3;
	return *name == 'E';
}

static bool comm(void *arg, int32_t pid, char to[16])
{
	(void)arg;
	(void)pid;
	memcpy(to, "abcabcabcabcabc", 16);
	return true;
}

static long string(char *to, uint64_t addr, size_t size)
{
	size_t len = addr % (2 * size);

	if (len > size)
		return -1;
	memset(to, 'a', len);
	return (long)len;
}

static long user_string(void *arg, int32_t pid, uint64_t addr, char *to,
			size_t size)
{
	(void)arg;
	(void)pid;
	return string(to, addr, size);
}

static long kernel_string(void *arg, uint64_t addr, char *to, size_t size)
{
	(void)arg;
	return string(to, addr, size);
}

static const struct tacho_names names = {
	.symbol = symbol, .find_symbol = find_symbol, .comm = comm,
	.constant = constant, .user_string = user_string,
	.kernel_string = kernel_string,
};

/* Copies of exact size, so that reading one byte too many is seen. */
static void *copy_of(const void *p, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, p, size);
	return copy;
}

static void run(const void *program, size_t size, const uint8_t *raw,
		size_t len)
{
	unsigned char *event = copy_of(raw, len);
	struct tacho_filter *f = copy_of(program, size);
	struct tacho_rec rec = { .raw = event, .len = (uint32_t)len,
				 .cpu = len & 1 ? UINT32_MAX : 3, .names = &names };

	if (tacho_filter_verify(f, size))
		(void)tacho_filter_run(f, &rec);
	free(f);
	free(event);
}

static const struct tacho_filter *compile(struct tacho_arena *a,
					  const struct tacho_type *type,
					  const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_filter *f = NULL;
	int err = tacho_filter_compile(&f, a, type, text, 0, &names, &e);

	if (err != e.err || (err && (f || !*e.text)) ||
	    e.column > strlen(text) + 2)
		abort();
	if (f && !tacho_filter_verify(f, tacho_filter_size(f)))
		abort();
	return f;
}

static void fuzz_text(struct tacho_arena *a, const struct tacho_type *type,
		      const char *text, const uint8_t *raw, size_t len)
{
	const struct tacho_filter *f = compile(a, type, text), *again;
	struct tacho_buf one, two;

	if (!f)
		return;
	run(f, tacho_filter_size(f), raw, len);
	tacho_buf_init(&one, 1 << 20);
	tacho_buf_init(&two, 1 << 20);
	if (tacho_filter_normal(type, text, &names, &one, NULL))
		abort();
	again = compile(a, type, tacho_buf_str(&one));
	if (!again || tacho_filter_size(f) != tacho_filter_size(again) ||
	    memcmp(f, again, tacho_filter_size(f)) ||
	    tacho_filter_normal(type, tacho_buf_str(&one), &names, &two, NULL) ||
	    strcmp(tacho_buf_str(&one), tacho_buf_str(&two)))
		abort();
	tacho_buf_release(&two);
	tacho_buf_release(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul;
	const struct tacho_type *type;
	struct tacho_arena a;

	if (size < 9)
		return 0;
	if (*data & 1) {
		size_t len = data[7] < size - 8 ? data[7] : size - 8;

		run(data + 8 + len, size - 8 - len, data + 8, len);
		return 0;
	}
	tacho_arena_init(&a, 16 << 20);
	type = tacho_type_parse(&a, "fuzz", NULL, 0, filter_type_text,
				sizeof(filter_type_text) - 1, NULL);
	nul = memchr(data + 1, 0, size - 1);
	if (type && nul)
		fuzz_text(&a, type, (const char *)data + 1, nul + 1,
			  (size_t)(data + size - nul - 1));
	tacho_arena_release(&a);
	return 0;
}
