/* SPDX-License-Identifier: MIT */
#include "kdata/syscalls.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "base/scan.h"

#define NR_MAX	65536

struct call {
	uint32_t nr;
	const char *name;
};

static const struct call built[] = {
#define CALL(nr, name) { nr, #name },
#include "syscalls.inc"
#undef CALL
};

/*
 * Since 5.0 a new system call has the same number everywhere.  These may be
 * newer than the headers that this was built with.
 */
static const struct call newer[] = {
	{ 449, "futex_waitv" }, { 450, "set_mempolicy_home_node" },
	{ 451, "cachestat" }, { 452, "fchmodat2" },
	{ 453, "map_shadow_stack" }, { 454, "futex_wake" },
	{ 455, "futex_wait" }, { 456, "futex_requeue" }, { 457, "statmount" },
	{ 458, "listmount" }, { 459, "lsm_get_self_attr" },
	{ 460, "lsm_set_self_attr" }, { 461, "lsm_list_modules" },
	{ 462, "mseal" }, { 463, "setxattrat" }, { 464, "getxattrat" },
	{ 465, "listxattrat" }, { 466, "removexattrat" },
	{ 467, "open_tree_attr" }, { 468, "file_getattr" },
	{ 469, "file_setattr" },
};

static const char *find(const struct call *list, size_t n, uint64_t nr)
{
	size_t low = 0, high = n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (list[mid].nr == nr)
			return list[mid].name;
		if (list[mid].nr < nr)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const char *tacho_syscall_name(uint64_t nr)
{
	const char *name = find(built, TACHO_ARRAY_SIZE(built), nr);

	return name ? name : find(newer, TACHO_ARRAY_SIZE(newer), nr);
}

void tacho_syscalls_text(struct tacho_buf *out)
{
	const char *name;
	uint64_t nr;

	for (nr = 0; nr < 4096; nr++) {
		name = tacho_syscall_name(nr);
		if (!name)
			continue;
		tacho_buf_put_u64(out, nr);
		tacho_buf_putc(out, ' ');
		tacho_buf_puts(out, name);
		tacho_buf_putc(out, '\n');
	}
}

/* "<number> <name>"; false for any other line. */
static bool split(const char *at, const char *end, uint32_t *nr,
		  const char **name)
{
	uint64_t v;

	if (tacho_scan_digits(&at, end, 10, NR_MAX - 1, &v) || end - at < 2 || *at != ' ')
		return false;
	*nr = (uint32_t)v;
	*name = at + 1;
	return true;
}

int tacho_syscalls_parse(struct tacho_syscalls *s, struct tacho_arena *arena,
			 const char *text, size_t len)
{
	const char *at, *nl, *end = text + len, *name;
	uint32_t nr, top = 0;
	int pass;

	s->nr = 0;
	s->names = NULL;
	for (pass = 0; pass < 2; pass++) {
		for (at = text; at < end; at = nl + 1) {
			nl = memchr(at, '\n', (size_t)(end - at));
			if (!nl)
				nl = end;
			if (!split(at, nl, &nr, &name))
				continue;
			if (nr >= top)
				top = nr + 1;
			if (!pass || s->names[nr])
				continue;
			s->names[nr] = tacho_arena_strndup(arena, name,
							   (size_t)(nl - name));
			if (!s->names[nr])
				return -ENOMEM;
		}
		if (pass || !top)
			break;
		s->names = tacho_arena_array(arena, top, sizeof(*s->names));
		if (!s->names)
			return -ENOMEM;
		s->nr = top;
	}
	return 0;
}
