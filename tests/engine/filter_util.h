/* SPDX-License-Identifier: MIT */
/* filter_util.h - files of golden data by lines; a made-up kernel's names. */
#ifndef TACHO_TESTS_ENGINE_FILTER_UTIL_H
#define TACHO_TESTS_ENGINE_FILTER_UTIL_H

#include "../unit/test.h"

#include "engine/filter.h"

#define GOLDEN_FILTER GOLDEN "/filter/"

/* A file's lines, NUL-terminated; the memory is the arena's. */
struct lines {
	char **line;
	uint32_t nr;
};

static inline struct lines lines_read(struct tacho_arena *a, const char *name)
{
	struct lines l = { .nr = 0 };
	struct tacho_buf text;
	char path[4096], *s;
	uint32_t room = 1;

	(void)snprintf(path, sizeof(path), "%s%s", GOLDEN_FILTER, name);
	tacho_buf_init(&text, 1 << 24);
	if (tacho_buf_read_file(&text, path)) {
		test_check(0, __FILE__, __LINE__, "cannot read '%s'", path);
		exit(1);
	}
	s = tacho_arena_strndup(a, text.data, text.len);
	for (size_t i = 0; i < text.len; i++)
		room += s[i] == '\n';
	l.line = tacho_arena_array(a, room, sizeof(*l.line));
	while (*s) {
		l.line[l.nr++] = s;
		s += strcspn(s, "\n");
		if (*s)
			*s++ = '\0';
	}
	tacho_buf_release(&text);
	return l;
}

/* The type of an event "system/name", from its golden format. */
static inline const struct tacho_type *type_read(struct tacho_arena *a,
						 const char *event)
{
	struct tacho_diag d = { .err = 0 };
	const struct tacho_type *type;
	struct tacho_buf text;
	char path[4096], *slash;

	(void)snprintf(path, sizeof(path), "%s%s.format", GOLDEN_FILTER, event);
	slash = strchr(path + strlen(GOLDEN_FILTER), '/');
	*slash = '-';
	tacho_buf_init(&text, 1 << 20);
	test_check(!tacho_buf_read_file(&text, path), __FILE__, __LINE__,
		   "cannot read '%s'", path);
	type = tacho_type_parse(a, "golden", NULL, 0, text.data, text.len, &d);
	test_check(type != NULL, __FILE__, __LINE__, "%s: %s", path, d.text);
	tacho_buf_release(&text);
	return type;
}

#define VFS_READ	0xffffffff81234560ull

static inline bool util_symbol(void *arg, uint64_t addr,
			       struct tacho_symbol *sym)
{
	(void)arg;
	if (addr < 0xffffffff81000000ull)
		return false;
	*sym = (struct tacho_symbol){ .name = "_text", .start = addr & ~0xffull,
				      .end = (addr & ~0xffull) + 256 };
	return true;
}

static inline bool util_find_symbol(void *arg, const char *name,
				    struct tacho_symbol *sym)
{
	(void)arg;
	if (strcmp(name, "vfs_read"))
		return false;
	*sym = (struct tacho_symbol){ .name = "vfs_read", .start = VFS_READ,
				      .end = VFS_READ + 0x80 };
	return true;
}

#endif
