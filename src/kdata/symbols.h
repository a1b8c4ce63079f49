/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the kernel's addresses.
 *
 * A table is made of text as /proc/kallsyms has it, of the running kernel or as a trace kept it:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0200000 t helper	[module]
 *
 * What an address is in, the kernel says of its code, and of its data only if it was built
 * to (CONFIG_KALLSYMS_ALL): is_ksym_addr() in include/linux/kallsyms.h.  So it is here: where the
 * table has the bounds of the kernel's code, _stext to _etext and _sinittext to _einittext, an
 * address outside of them lies in a module's symbol or in none; where it has _end, too, it was
 * made with data, and that is the bound.
 *
 * A table does not change once made; any number of threads may look up.
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
	struct tacho_ksymbol *list;	/* by address, then as they were in the text */
	size_t nr;
	struct tacho_buf text;		/* the names are in it */
	uint64_t text_begin, text_end, init_begin, init_end, end;	/* 0: not told */
};

void tacho_symbols_init(struct tacho_symbols *s);
void tacho_symbols_release(struct tacho_symbols *s);

/*
 * tacho_symbols_take - make a table.
 *
 * The text's contents become the table's own, and `text` is left empty.  Lines that are none
 * are skipped, and what is beyond a million symbols.  0 or -ENOMEM; what was in the table is gone.
 */
int tacho_symbols_take(struct tacho_symbols *s, struct tacho_buf *text);

/*
 * tacho_symbols_snapshot - append what a trace has to keep of the running
 * kernel's symbols: the lines of /proc/kallsyms whose symbols are code.
 *
 * Returns 0, or with d filled in and nothing appended:
 *	-EACCES		the kernel hides its addresses from us; d says what to do
 *	or the error of reading.  A trace without symbols is still good.
 */
int tacho_symbols_snapshot(struct tacho_buf *out, struct tacho_diag *d);

/*
 * The symbol that addr lies in, the last one that begins at or before it, and its start; of
 * several that begin there the first.  NULL: it lies in none.  Borrowed.
 */
const char *tacho_symbols_at(const struct tacho_symbols *s, uint64_t addr, uint64_t *start);

/* The module of a symbol by the name that the call above gave, or NULL. */
const char *tacho_symbols_module(const struct tacho_symbols *s, const char *name);

/* Where the symbol ends that begins at start: the next one's start, or start. */
uint64_t tacho_symbols_end(const struct tacho_symbols *s, uint64_t start);

/* The first symbol called name, and its start; false when there is none. */
bool tacho_symbols_find(const struct tacho_symbols *s, const char *name, uint64_t *start);

#endif
