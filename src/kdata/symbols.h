/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the kernel's addresses.
 *
 * A table is built from text in the form of /proc/kallsyms, of the running kernel or from a
 * trace:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0200000 t helper	[module]
 *
 * As in the kernel (is_ksym_addr() in include/linux/kallsyms.h), code addresses have symbols, and
 * data addresses only with CONFIG_KALLSYMS_ALL. If the table has the bounds of the kernel's code,
 * _stext to _etext and _sinittext to _einittext, an address outside of them is in a module's
 * symbol or in none.  If it also has _end, it includes data, and _end is the bound.
 *
 * A table is immutable; any number of threads may use it.
 */
#ifndef TACHO_KDATA_SYMBOLS_H
#define TACHO_KDATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

struct tacho_ksymbol {
	uint64_t addr;
	uint32_t name;		/* offset of its NUL-terminated name in the text */
};

struct tacho_symbols {
	struct tacho_ksymbol *list;	/* by address, then in the order of the text */
	size_t nr;
	struct tacho_buf text;		/* the names are in it */
	uint64_t text_begin, text_end, init_begin, init_end, end;	/* 0: not known */
};

void tacho_symbols_init(struct tacho_symbols *s);
void tacho_symbols_release(struct tacho_symbols *s);

/*
 * tacho_symbols_take - build a table from text.
 *
 * The table takes ownership of the text's contents; `text` becomes empty.  Malformed lines, and
 * symbols after the first million, are skipped.  Returns 0 or -ENOMEM; the old contents of the
 * table are freed.
 */
int tacho_symbols_take(struct tacho_symbols *s, struct tacho_buf *text);

/*
 * tacho_symbols_snapshot - append the running kernel's symbols that a trace needs: the lines of
 * /proc/kallsyms for code.
 *
 * Returns 0, or with d filled in and nothing appended:
 *	-EACCES		the kernel hides its addresses from this process; d says what to do or the
 *	error of reading.  A trace without symbols is still valid.
 */
int tacho_symbols_snapshot(struct tacho_buf *out, struct tacho_diag *d);

/*
 * The symbol that contains addr (the last one that begins at or before it; of several at one
 * address the first), and its start.  NULL: none.  Borrowed.
 */
const char *tacho_symbols_at(const struct tacho_symbols *s, uint64_t addr, uint64_t *start);

/* The module of a symbol, by the name that tacho_symbols_at() returned, or NULL. */
const char *tacho_symbols_module(const struct tacho_symbols *s, const char *name);

/* The end of the symbol that begins at start: the next one's start, or start if there is none. */
uint64_t tacho_symbols_end(const struct tacho_symbols *s, uint64_t start);

/* The first symbol called name, and its start; false when there is none. */
bool tacho_symbols_find(const struct tacho_symbols *s, const char *name, uint64_t *start);

#endif
