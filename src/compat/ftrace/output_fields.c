// SPDX-License-Identifier: MIT
/* The option "fields": each field by its declaration. */
#include <string.h>

#include "event/print_text.h"
#include "compat/ftrace/output_priv.h"

/* What the kernel's character table calls printable: also upper Latin-1. */
static bool printable(unsigned char c)
{
	return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

static bool is_text_pointer(const struct tacho_field *f)
{
	size_t n = strlen(f->decl) - strlen(f->name);

	/* "const char * name" */
	while (n && f->decl[n - 1] == ' ')
		n--;
	return (n == 6 && !strncmp(f->decl, "char *", n)) ||
	       (n == 12 && !strncmp(f->decl, "const char *", n));
}

static void put_text_pointer(struct tacho_output *o, uint64_t addr,
			     struct tacho_buf *out)
{
	const struct tacho_print_env *env = &o->config.env;
	const char *s = env->string ? env->string(env->arg, addr) : NULL;

	tacho_buf_puts(out, "(0x");
	tacho_buf_put_hex(out, addr, 16);
	if (s) {
		tacho_buf_putc(out, ':');
		tacho_buf_puts(out, s);
	}
	tacho_buf_putc(out, ')');
}

/* Whether newer kernels show addr as a symbol: it is in one. */
static bool is_symbol(const struct tacho_output *o, uint64_t addr)
{
	const struct tacho_print_env *env = &o->config.env;
	uint64_t start;

	return o->config.kernel >= TACHO_OUTPUT_KERNEL(6, 16) &&
	       (int64_t)addr < 0 && env->symbol && env->symbol_size &&
	       env->symbol(env->arg, addr, &start) &&
	       addr - start < env->symbol_size(env->arg, start);
}

static void put_number(const struct tacho_output *o,
		       const struct tacho_field *f, const unsigned char *p,
		       struct tacho_buf *out)
{
	bool is_signed = f->size >= 4;
	uint64_t v = tacho_value_load(p, f->size, false);

	if (f->size == 1) {
		if (printable(*p))
			tacho_buf_printf(out, "'%c'", *p);
		tacho_buf_printf(out, "(%u)", *p);
		return;
	}
	if (f->size == 8 && is_symbol(o, v)) {
		tacho_print_symbol(&o->config.env, v, true, out);
	} else {
		tacho_buf_puts(out, "0x");
		tacho_buf_put_hex(out, v, 1);
	}
	tacho_buf_puts(out, " (");
	tacho_buf_put_s64(out, (int64_t)tacho_value_load(p, f->size, is_signed));
	tacho_buf_putc(out, ')');
}

static void put_dynamic(const struct tacho_type *type,
			const struct tacho_field *f,
			const struct tacho_record *r, struct tacho_buf *out)
{
	size_t size;
	const unsigned char *p = tacho_field_data(f, r->raw, r->len, &size);

	if (!p)
		tacho_buf_puts(out, "<OVERFLOW>");
	else if (f->flags & TACHO_FIELD_STRING)
		tacho_buf_put(out, p, strnlen((const char *)p, size));
	else if (strstr(f->decl, "cpumask_t") || !strcmp(type->system, "synthetic"))
		/* the kernel has no text for masks and stacks here */
		tacho_buf_puts(out, "<INVALID-TYPE>");
	else
		tacho_text_hex(out, p, size, ',');
}

static void put_field(struct tacho_output *o, const struct tacho_type *type,
		      const struct tacho_field *f, const struct tacho_record *r,
		      struct tacho_buf *out)
{
	size_t size;
	const unsigned char *p;

	if (f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC) {
		put_dynamic(type, f, r, out);
		return;
	}
	p = tacho_field_data(f, r->raw, r->len, &size);
	if (!p)
		tacho_buf_puts(out, "<OVERFLOW>");
	else if (f->kind == TACHO_FIELD_ARRAY && f->flags & TACHO_FIELD_STRING)
		tacho_buf_put(out, p, strnlen((const char *)p, size));
	else if (is_text_pointer(f) && f->size == 8)
		put_text_pointer(o, tacho_load_u64(p), out);
	else if (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8)
		put_number(o, f, p, out);
	else
		tacho_buf_puts(out, "<INVALID-SIZE>");
}

void output_put_fields(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	const struct tacho_type *type = t->type;

	/* the kernel does not find its own types here */
	if (t->ftrace) {
		tacho_buf_printf(out, "UNKNOWN TYPE %u\n", t->number);
		return;
	}
	tacho_buf_put(out, t->head, t->head_len - 1);
	if (type->nr_fields == type->nr_common)
		tacho_buf_puts(out, "No fields found");
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++) {
		tacho_buf_putc(out, ' ');
		tacho_buf_puts(out, type->fields[i].name);
		tacho_buf_putc(out, '=');
		put_field(o, type, &type->fields[i], r, out);
	}
	tacho_buf_putc(out, '\n');
}
