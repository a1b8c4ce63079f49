/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the kernel's addresses.
 *
 * A table is read from /proc/kallsyms of the running kernel, or from a text in
 * its form that a trace kept:
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0200000 t helper	[module]
 *
 * A table does not change once made; any number of threads may look up.
 */
#ifndef TACHO_KERNEL_SYMBOLS_H
#define TACHO_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

struct tacho_ksymbol {
	uint64_t addr;
	uint32_t name;		/* offset of its NUL-terminated name in the text */
	uint32_t module;	/* offset of its module's name; 0: the kernel itself */
};

struct tacho_symbols {
	struct tacho_ksymbol *list;	/* by address */
	size_t nr;
	char *text;		/* the names are in it */
};

/*
 * tacho_symbols_parse - make a table from len bytes of kallsyms text.
 *
 * Lines that are none are skipped, and so are symbols at address 0.  Of several
 * symbols at one address the first is kept.  Returns 0 or -ENOMEM, -EOVERFLOW
 * (4 GiB) with d filled in; the table is to be released either way.
 */
int tacho_symbols_parse(struct tacho_symbols *s, const char *text, size_t len,
			struct tacho_diag *d);

void tacho_symbols_release(struct tacho_symbols *s);

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
 * The symbol that addr lies in: the last one that begins at or before it.
 * NULL when addr is below all of them.  Borrowed.
 */
const struct tacho_ksymbol *tacho_symbols_find(const struct tacho_symbols *s,
					      uint64_t addr);

/* Its name, and its module's name or NULL.  Borrowed. */
static inline const char *tacho_symbol_name(const struct tacho_symbols *s,
					    const struct tacho_ksymbol *sym)
{
	return s->text + sym->name;
}

static inline const char *tacho_symbol_module(const struct tacho_symbols *s,
					      const struct tacho_ksymbol *sym)
{
	return sym->module ? s->text + sym->module : NULL;
}

/*
 * The `symbol` call of a struct tacho_print_env: arg is a struct tacho_symbols.
 */
const char *tacho_symbols_lookup(void *arg, uint64_t addr, uint64_t *start);

#endif
