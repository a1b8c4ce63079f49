/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h - names for system call numbers.
 *
 * raw_syscalls:sys_enter and sys_exit have only a number, whose meaning depends on the
 * architecture; a trace has the names as lines "<number> <name>
 * ". The running machine's are compiled in.
 */
#ifndef TACHO_KDATA_SYSCALLS_H
#define TACHO_KDATA_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* This machine's name for a system call, or NULL.  Static. */
const char *tacho_syscall_name(uint64_t nr);

/* Appends all of this machine's as lines, in the order of numbers. */
void tacho_syscalls_text(struct tacho_buf *out);

/* Names from a trace. */
struct tacho_syscalls {
	const char **names;	/* by number; NULL: no such call */
	uint32_t nr;
};

/*
 * tacho_syscalls_parse - read such lines; others are skipped.
 *
 * Numbers up to 65,535.  Memory comes from the arena.  Returns 0 or -ENOMEM.
 */
int tacho_syscalls_parse(struct tacho_syscalls *s, struct tacho_arena *arena,
			 const char *text, size_t len);

static inline const char *tacho_syscalls_find(const struct tacho_syscalls *s,
					      uint64_t nr)
{
	return nr < s->nr ? s->names[nr] : NULL;
}

#endif
