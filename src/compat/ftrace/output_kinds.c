// SPDX-License-Identifier: MIT
/* What each kind of event prints; most do it by their print format. */
#include <limits.h>
#include <string.h>

#include "base/digits.h"
#include "event/print_packed.h"
#include "compat/ftrace/output_priv.h"

/* What the kernel records in place of a trampoline that it made. */
#define TRAMPOLINE	((uint64_t)INT32_MAX)

/* No stack has more entries, and no code is at such an address. */
#define STACK_ENTRIES_MAX	4096

uint64_t output_number(const struct tacho_field *f, const struct tacho_record *r)
{
	uint64_t v = 0;

	return f && tacho_field_int(f, r->raw, r->len, &v) ? v : 0;
}

void output_put_ip(struct tacho_output *o, uint64_t addr, bool offset,
		   struct tacho_buf *out)
{
	const struct tacho_print_env *env = &o->config.env;
	const char *name = NULL;
	uint64_t start;

	if (!addr) {
		tacho_buf_putc(out, '0');
		return;
	}
	if (offset) {
		tacho_print_symbol(env, addr, true, out);
	} else {
		if (env->symbol)
			name = env->symbol(env->arg, addr, &start);
		if (name) {
			tacho_buf_put(out, name, strcspn(name, " "));
		} else {
			tacho_buf_put(out, "0x", 2);
			tacho_buf_put_hex(out, addr, 8);
		}
	}
	if (o->config.options.sym_addr) {
		tacho_buf_put(out, " <", 2);
		tacho_buf_put_hex(out, addr, 16);
		tacho_buf_putc(out, '>');
	}
}

static void put_ip(struct tacho_output *o, uint64_t addr, struct tacho_buf *out)
{
	output_put_ip(o, addr, o->config.options.sym_offset, out);
}

/* A string field, up to its NUL. */
static void put_string(const struct tacho_field *f, const struct tacho_record *r,
		       struct tacho_buf *out)
{
	size_t n = 0;
	const char *s = f ? tacho_field_data(f, r->raw, r->len, &n) : NULL;

	if (s)
		tacho_buf_put(out, s, strnlen(s, n));
}

/* ---- by the print format ------------------------------------------------- */

void output_put_format(struct tacho_output *o, const struct tacho_record *r,
		       struct tacho_buf *out)
{
	tacho_print_text(r->type, r->raw, r->len, &o->config.env, out);
}

static void plain_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	tacho_buf_put(out, t->head, t->head_len);
	output_put_format(o, r, out);
	tacho_buf_putc(out, '\n');
}

/* ---- system calls -------------------------------------------------------- */

/* "sys_read" of "sys_enter_read" */
static void put_call(const struct tacho_type *type, size_t prefix,
		     struct tacho_buf *out)
{
	tacho_buf_put(out, "sys_", 4);
	tacho_buf_puts(out, type->name + prefix);
}

/* What stands before the name in "const char * name", and a blank. */
static void put_declared(const struct tacho_field *f, struct tacho_buf *out)
{
	size_t n = strlen(f->decl), name = strlen(f->name);

	tacho_buf_put(out, f->decl, n > name ? n - name : n);
}

static void enter_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	bool prefix = o->config.kernel >= TACHO_OUTPUT_KERNEL(6, 18);
	const struct tacho_type *type = t->type;
	uint32_t first = type->nr_common + 1;

	put_call(type, strlen("sys_enter_"), out);
	tacho_buf_putc(out, '(');
	for (uint32_t i = first; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];
		uint64_t v = output_number(f, r);

		if (i > first)
			tacho_buf_put(out, ", ", 2);
		if (o->config.options.verbose)
			put_declared(f, out);
		tacho_buf_puts(out, f->name);
		tacho_buf_put(out, ": ", 2);
		if (prefix && v > 9)
			tacho_buf_put(out, "0x", 2);
		tacho_buf_put_hex(out, v, 1);
	}
	tacho_buf_put(out, ")\n", 2);
}

static void exit_text(struct tacho_output *o, const struct tacho_record *r,
		      const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	put_call(t->type, strlen("sys_exit_"), out);
	tacho_buf_put(out, " -> 0x", 6);
	tacho_buf_put_hex(out, output_field(t, 0, r), 1);
	tacho_buf_putc(out, '\n');
}

/* ---- dynamic probes ------------------------------------------------------ */

/*
 * Arguments are printed by the format, but not what stands before them: there
 * it has "(%lx)", the kernel has symbols, or 0x for a program's addresses.
 */
static void put_arguments(struct tacho_output *o, const struct tacho_record *r,
			  struct tacho_buf *out)
{
	size_t from = out->len, cut;
	const char *end;

	output_put_format(o, r, out);
	end = out->len > from ? memchr(out->data + from, ')', out->len - from) :
				NULL;
	if (end) {
		cut = (size_t)(end + 1 - (out->data + from));
		memmove(out->data + from, end + 1, out->len - from - cut);
		out->len -= cut;
	}
	tacho_buf_putc(out, '\n');
}

static void put_place(struct tacho_output *o, uint64_t addr, bool offset,
		      struct tacho_buf *out)
{
	if ((int64_t)addr < 0) {
		output_put_ip(o, addr, offset, out);
	} else {
		tacho_buf_put(out, "0x", 2);
		tacho_buf_put_hex(out, addr, 1);
	}
}

static void probe_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	tacho_buf_put(out, t->head, t->head_len);
	tacho_buf_putc(out, '(');
	put_place(o, output_field(t, 0, r), true, out);
	tacho_buf_putc(out, ')');
	put_arguments(o, r, out);
}

static void probe_return_text(struct tacho_output *o,
			      const struct tacho_record *r,
			      const struct output_type *t,
			      struct tacho_buf *out)
{
	tacho_buf_put(out, t->head, t->head_len);
	tacho_buf_putc(out, '(');
	put_place(o, output_field(t, 1, r), true, out);
	tacho_buf_put(out, " <- ", 4);
	put_place(o, output_field(t, 0, r), false, out);
	tacho_buf_putc(out, ')');
	put_arguments(o, r, out);
}

/* A probe on an event; its format has nothing before the arguments. */
static void event_probe_text(struct tacho_output *o,
			     const struct tacho_record *r,
			     const struct output_type *t, struct tacho_buf *out)
{
	tacho_buf_put(out, t->head, t->head_len);
	tacho_buf_putc(out, '(');
	tacho_buf_puts(out, t->probed);
	tacho_buf_putc(out, ')');
	output_put_format(o, r, out);
	tacho_buf_putc(out, '\n');
}

/* ---- synthetic events ---------------------------------------------------- */

static bool is_stack(const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_DATA_LOC &&
	       !(f->flags & TACHO_FIELD_STRING) && f->elem_size == 8;
}

/* The conversion of a field's type: option verbose shows it. */
static const char *synth_format(const struct tacho_field *f)
{
	bool is_signed = f->flags & TACHO_FIELD_SIGNED;

	if (f->flags & TACHO_FIELD_STRING || is_stack(f))
		return "%s";
	if (!strcmp(f->elem, "gfp_t"))
		return "%x";
	if (!strcmp(f->elem, "bool"))
		return "%d";
	if (!strcmp(f->elem, "long"))
		return "%ld";
	if (!strcmp(f->elem, "unsigned long"))
		return "%lu";
	if (f->size == 8)
		return is_signed ? "%lld" : "%llu";
	return is_signed ? "%d" : "%u";
}

static void put_synth_stack(struct tacho_output *o, const struct tacho_field *f,
			    const struct tacho_record *r, struct tacho_buf *out)
{
	size_t n = 0;
	const unsigned char *p = tacho_field_data(f, r->raw, r->len, &n);

	tacho_buf_puts(out, "STACK:\n");
	for (size_t i = 0; p && n - i >= 8; i += 8) {
		uint64_t addr = tacho_load_u64(p + i);

		/* the kernel has the number of entries before them */
		if (!i && addr < STACK_ENTRIES_MAX)
			continue;
		if (!addr || addr == UINT64_MAX)
			break;
		tacho_buf_put(out, "=> ", 3);
		tacho_print_symbol(&o->config.env, addr, true, out);
		tacho_buf_putc(out, '\n');
	}
}

static void put_synth_value(const struct tacho_field *f,
			    const struct tacho_record *r, struct tacho_buf *out)
{
	uint64_t v = output_number(f, r);

	if (f->flags & TACHO_FIELD_STRING)
		put_string(f, r, out);
	else if (!strcmp(f->elem, "gfp_t"))
		tacho_buf_put_hex(out, v, 1);
	else if (f->flags & TACHO_FIELD_SIGNED)
		tacho_buf_put_s64(out, (int64_t)v);
	else
		tacho_buf_put_u64(out, v);
}

static void synth_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	const struct tacho_type *type = t->type;

	tacho_buf_put(out, t->head, t->head_len);
	for (uint32_t i = type->nr_common; i < type->nr_fields; i++) {
		const struct tacho_field *f = &type->fields[i];

		if (o->config.options.verbose) {
			tacho_buf_puts(out, synth_format(f));
			tacho_buf_putc(out, ' ');
		}
		tacho_buf_puts(out, f->name);
		tacho_buf_putc(out, '=');
		if (is_stack(f)) {
			put_synth_stack(o, f, r, out);
			continue;
		}
		put_synth_value(f, r, out);
		if (i + 1 < type->nr_fields)
			tacho_buf_putc(out, ' ');
	}
	tacho_buf_putc(out, '\n');
}

/* ---- functions ----------------------------------------------------------- */

static void put_function(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	uint64_t parent = output_field(t, 1, r);

	put_ip(o, output_field(t, 0, r), out);
	if (o->config.options.print_parent && parent) {
		tacho_buf_put(out, " <-", 3);
		put_ip(o, parent, out);
	}
}

static void function_text(struct tacho_output *o, const struct tacho_record *r,
			  const struct output_type *t, struct tacho_buf *out)
{
	put_function(o, r, t, out);
	tacho_buf_putc(out, '\n');
}

static void function_raw(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_put_hex(out, output_field(t, 0, r), 1);
	tacho_buf_putc(out, ' ');
	tacho_buf_put_hex(out, output_field(t, 1, r), 1);
	tacho_buf_putc(out, '\n');
}

static void function_hex(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	for (unsigned int i = 0; i < 2; i++) {
		tacho_buf_put_hex(out, output_field(t, i, r), 16);
		tacho_buf_putc(out, ' ');
	}
}

static void function_bin(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t v = output_field(t, i, r);

		tacho_buf_put(out, &v, sizeof(v));
	}
}

static uint64_t repeat_delta(const struct tacho_record *r,
			     const struct output_type *t)
{
	return output_field(t, 3, r) << 32 | output_field(t, 4, r);
}

static void repeats_text(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	put_function(o, r, t, out);
	tacho_buf_puts(out, " (repeats: ");
	tacho_buf_put_u64(out, output_field(t, 2, r));
	tacho_buf_puts(out, ", last_ts:");
	output_put_time(o, output_time(o, r->ticks) - repeat_delta(r, t), out);
	tacho_buf_put(out, ")\n", 2);
}

static void repeats_raw(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_printf(out, "%llu %llu %u %llu\n",
			 (unsigned long long)output_field(t, 0, r),
			 (unsigned long long)output_field(t, 1, r),
			 (unsigned int)output_field(t, 2, r),
			 (unsigned long long)repeat_delta(r, t));
}

/* ---- wakeups and switches of the scheduler tracers ------------------------- */

static char state_letter(uint64_t index)
{
	static const char letter[] = "RSDTtXZPI";

	return index < sizeof(letter) - 1 ? letter[index] : '?';
}

static void put_switch(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, const char *arrow,
		       struct tacho_buf *out)
{
	tacho_buf_printf(out, " %7d:%3d:%c %s [%03d] %7d:%3d:%c %.15s\n",
			 (int)output_field(t, 0, r), (int)output_field(t, 3, r),
			 state_letter(output_field(t, 4, r)), arrow,
			 (int)output_field(t, 2, r), (int)output_field(t, 1, r),
			 (int)output_field(t, 5, r),
			 state_letter(output_field(t, 6, r)),
			 output_comm(o, (int32_t)output_field(t, 1, r)));
}

static void switch_text(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, struct tacho_buf *out)
{
	put_switch(o, r, t, "==>", out);
}

static void wakeup_text(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, struct tacho_buf *out)
{
	put_switch(o, r, t, "  +", out);
}

static void put_switch_raw(const struct tacho_record *r,
			   const struct output_type *t, char from,
			   struct tacho_buf *out)
{
	tacho_buf_printf(out, "%d %d %c %d %d %d %c\n",
			 (int)output_field(t, 0, r), (int)output_field(t, 3, r),
			 from, (int)output_field(t, 2, r),
			 (int)output_field(t, 1, r), (int)output_field(t, 5, r),
			 state_letter(output_field(t, 6, r)));
}

static void switch_raw(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	put_switch_raw(r, t, state_letter(output_field(t, 4, r)), out);
}

static void wakeup_raw(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	put_switch_raw(r, t, '+', out);
}

/* ---- stacks -------------------------------------------------------------- */

static void stack_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	size_t n = 0;
	const unsigned char *p = t->field[0] ?
		tacho_field_data(t->field[0], r->raw, r->len, &n) : NULL;
	uint32_t size = p && t->field[0]->elem_size == 4 ? 4 : 8;

	tacho_buf_puts(out, "<stack trace>\n");
	for (size_t i = 0; p && n - i >= size; i += size) {
		uint64_t addr = tacho_value_load(p + i, size, false);

		if (addr == (size == 8 ? UINT64_MAX : UINT32_MAX))
			break;
		tacho_buf_put(out, " => ", 4);
		if (addr == TRAMPOLINE)
			tacho_buf_puts(out, "[FTRACE TRAMPOLINE]");
		else
			put_ip(o, addr, out);
		tacho_buf_putc(out, '\n');
	}
}

static void put_user_ip(struct tacho_output *o, int32_t tgid, uint64_t addr,
			struct tacho_buf *out)
{
	const struct tacho_output_options *opt = &o->config.options;
	const struct tacho_output_names *names = &o->config.names;
	const char *path = NULL;
	uint64_t start = 0;

	if (opt->sym_userobj && names->object)
		path = names->object(names->arg, tgid, addr, &start);
	if (path) {
		tacho_buf_puts(out, path);
		tacho_buf_put(out, "[+0x", 4);
		tacho_buf_put_hex(out, addr - start, 1);
		tacho_buf_putc(out, ']');
	}
	if (!path || opt->sym_addr) {
		tacho_buf_put(out, " <", 2);
		tacho_buf_put_hex(out, addr, 16);
		tacho_buf_putc(out, '>');
	}
}

static void user_stack_text(struct tacho_output *o,
			    const struct tacho_record *r,
			    const struct output_type *t, struct tacho_buf *out)
{
	int32_t tgid = (int32_t)output_field(t, 0, r);
	size_t n = 0;
	const unsigned char *p = t->field[1] ?
		tacho_field_data(t->field[1], r->raw, r->len, &n) : NULL;

	tacho_buf_puts(out, "<user stack trace>\n");
	for (size_t i = 0; p && n - i >= 8; i += 8) {
		uint64_t addr = tacho_load_u64(p + i);

		if (!addr)
			break;
		tacho_buf_put(out, " => ", 4);
		put_user_ip(o, tgid, addr, out);
		tacho_buf_putc(out, '\n');
	}
}

/* ---- what was written by trace_printk() and to the marker files ------------ */

static void print_message(struct tacho_output *o, const struct tacho_record *r,
			  const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	put_string(t->field[1], r, out);
}

static void print_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	put_ip(o, output_field(t, 0, r), out);
	tacho_buf_put(out, ": ", 2);
	put_string(t->field[1], r, out);
}

static void print_raw(struct tacho_output *o, const struct tacho_record *r,
		      const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_put(out, "# ", 2);
	tacho_buf_put_hex(out, output_field(t, 0, r), 1);
	tacho_buf_putc(out, ' ');
	put_string(t->field[1], r, out);
}

/* A string of the kernel's, told by its address. */
static const char *kernel_string(const struct tacho_output *o, uint64_t addr)
{
	const struct tacho_print_env *env = &o->config.env;

	return env->string ? env->string(env->arg, addr) : NULL;
}

static void put_unknown(uint64_t addr, struct tacho_buf *out)
{
	tacho_buf_put(out, "0x", 2);
	tacho_buf_put_hex(out, addr, 1);
	tacho_buf_putc(out, '\n');
}

static void bprint_message(struct tacho_output *o, const struct tacho_record *r,
			   const struct output_type *t, struct tacho_buf *out)
{
	const char *fmt = kernel_string(o, output_field(t, 1, r));
	size_t n = 0;
	const unsigned char *args = t->field[2] ?
		tacho_field_data(t->field[2], r->raw, r->len, &n) : NULL;

	if (fmt)
		tacho_packed_print(fmt, args, n, t->field[1]->size,
				   &o->config.env, out);
	else
		put_unknown(output_field(t, 1, r), out);
}

static void bputs_message(struct tacho_output *o, const struct tacho_record *r,
			  const struct output_type *t, struct tacho_buf *out)
{
	const char *s = kernel_string(o, output_field(t, 1, r));

	if (s)
		tacho_buf_puts(out, s);
	else
		put_unknown(output_field(t, 1, r), out);
}

static void binary_text(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, struct tacho_buf *out)
{
	put_ip(o, output_field(t, 0, r), out);
	tacho_buf_put(out, ": ", 2);
	t->kind->message(o, r, t, out);
}

static void binary_raw(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	tacho_buf_put(out, ": ", 2);
	tacho_buf_put_hex(out, output_field(t, 0, r), 1);
	tacho_buf_put(out, " : ", 3);
	t->kind->message(o, r, t, out);
}

static void data_text(struct tacho_output *o, const struct tacho_record *r,
		      const struct output_type *t, struct tacho_buf *out)
{
	size_t n = 0;
	const unsigned char *p = t->field[1] ?
		tacho_field_data(t->field[1], r->raw, r->len, &n) : NULL;

	(void)o;
	tacho_buf_put(out, "# ", 2);
	tacho_buf_put_hex(out, output_field(t, 0, r), 1);
	tacho_buf_put(out, " buf:", 5);
	for (size_t i = 0; p && i < n; i++) {
		tacho_buf_putc(out, ' ');
		tacho_buf_put_hex(out, p[i], 2);
	}
	tacho_buf_putc(out, '\n');
}

/* ---- the latency tracers' own -------------------------------------------- */

static void hwlat_text(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	uint64_t nmis = output_field(t, 5, r);

	(void)o;
	tacho_buf_printf(out, "#%-5u inner/outer(us): %4llu/%-5llu "
			 "ts:%lld.%09lld count:%d",
			 (unsigned int)output_field(t, 6, r),
			 (unsigned long long)output_field(t, 0, r),
			 (unsigned long long)output_field(t, 1, r),
			 (long long)output_field(t, 3, r),
			 (long long)output_field(t, 4, r),
			 (int)output_field(t, 7, r));
	if (nmis)
		tacho_buf_printf(out, " nmi-total:%llu nmi-count:%u",
				 (unsigned long long)output_field(t, 2, r),
				 (unsigned int)nmis);
	tacho_buf_putc(out, '\n');
}

static void hwlat_raw(struct tacho_output *o, const struct tacho_record *r,
		      const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_printf(out, "%llu %lld %lld %09lld %u\n",
			 (unsigned long long)output_field(t, 0, r),
			 (long long)output_field(t, 1, r),
			 (long long)output_field(t, 3, r),
			 (long long)output_field(t, 4, r),
			 (unsigned int)output_field(t, 6, r));
}

static void osnoise_text(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	uint64_t noise = output_field(t, 0, r), runtime = output_field(t, 1, r);
	uint64_t share = runtime ? (runtime - noise) * 10000000 / runtime : 0;

	(void)o;
	tacho_buf_printf(out, "%llu %10llu %3llu.%05llu %7llu",
			 (unsigned long long)runtime, (unsigned long long)noise,
			 (unsigned long long)(share / 100000),
			 (unsigned long long)(share % 100000),
			 (unsigned long long)output_field(t, 2, r));
	for (unsigned int i = 3; i < 8; i++)
		tacho_buf_printf(out, " %6u",
				 (unsigned int)output_field(t, i, r));
	tacho_buf_putc(out, '\n');
}

static void osnoise_raw(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_printf(out, "%lld %llu %llu",
			 (long long)output_field(t, 1, r),
			 (unsigned long long)output_field(t, 0, r),
			 (unsigned long long)output_field(t, 2, r));
	for (unsigned int i = 3; i < 8; i++)
		tacho_buf_printf(out, " %u",
				 (unsigned int)output_field(t, i, r));
	tacho_buf_putc(out, '\n');
}

static void timerlat_text(struct tacho_output *o, const struct tacho_record *r,
			  const struct output_type *t, struct tacho_buf *out)
{
	static const char *const context[] = { "irq", "thread", "user-ret" };
	uint64_t at = output_field(t, 1, r);

	(void)o;
	tacho_buf_printf(out, "#%-5u context %11s timer_latency %9llu ns\n",
			 (unsigned int)output_field(t, 0, r),
			 at < TACHO_ARRAY_SIZE(context) ? context[at] : "?",
			 (unsigned long long)output_field(t, 2, r));
}

static void timerlat_raw(struct tacho_output *o, const struct tacho_record *r,
			 const struct output_type *t, struct tacho_buf *out)
{
	(void)o;
	tacho_buf_printf(out, "%u %d %llu\n",
			 (unsigned int)output_field(t, 0, r),
			 (int)output_field(t, 1, r),
			 (unsigned long long)output_field(t, 2, r));
}

/* ---- which kind a type is ------------------------------------------------ */

#define SWITCH_FIELDS { "prev_pid", "next_pid", "next_cpu", "prev_prio", \
			"prev_state", "next_prio", "next_state" }

static const struct output_kind own[] = {
	{ "print", { "ip", "buf" }, .text = print_text, .raw = print_raw,
	  .message = print_message },
	{ "bprint", { "ip", "fmt", "buf" }, .text = binary_text,
	  .raw = binary_raw, .message = bprint_message },
	{ "bputs", { "ip", "str" }, .text = binary_text, .raw = binary_raw,
	  .message = bputs_message },
	{ "raw_data", { "id", "buf" }, .text = data_text, .raw = data_text },
	{ "kernel_stack", { "caller" }, .text = stack_text },
	{ "user_stack", { "tgid", "caller" }, .text = user_stack_text },
	{ "function", { "ip", "parent_ip" }, .text = function_text,
	  .raw = function_raw, .hex = function_hex, .bin = function_bin },
	{ "func_repeats", { "ip", "parent_ip", "count", "top_delta_ts",
	  "bottom_delta_ts" }, .text = repeats_text, .raw = repeats_raw },
	{ "context_switch", SWITCH_FIELDS, .text = switch_text,
	  .raw = switch_raw },
	{ "wakeup", SWITCH_FIELDS, .text = wakeup_text, .raw = wakeup_raw },
	{ "hwlat", { "duration", "outer_duration", "nmi_total_ts", "tv_sec",
	  "tv_nsec", "nmi_count", "seqnum", "count" }, .text = hwlat_text,
	  .raw = hwlat_raw },
	{ "osnoise", { "noise", "runtime", "max_sample", "hw_count",
	  "nmi_count", "irq_count", "softirq_count", "thread_count" },
	  .text = osnoise_text, .raw = osnoise_raw },
	{ "timerlat", { "seqnum", "context", "timer_latency" },
	  .text = timerlat_text, .raw = timerlat_raw },
};

static const struct output_kind plain = { .text = plain_text },
	synth = { .text = synth_text },
	enter = { .text = enter_text },
	leave = { .field = { "ret" }, .text = exit_text },
	probe = { .field = { "__probe_ip" }, .text = probe_text },
	probe_return = { .field = { "__probe_func", "__probe_ret_ip" },
			 .text = probe_return_text },
	event_probe = { .text = event_probe_text };

const struct output_kind *output_kind_of(const struct tacho_type *type,
					 const char *probed)
{
	if (probed)
		return &event_probe;
	if (!strcmp(type->system, "ftrace")) {
		for (size_t i = 0; i < TACHO_ARRAY_SIZE(own); i++)
			if (!strcmp(type->name, own[i].name))
				return &own[i];
		return &plain;
	}
	if (!strcmp(type->system, "syscalls") &&
	    !strncmp(type->name, "sys_enter_", 10))
		return &enter;
	if (!strcmp(type->system, "syscalls") &&
	    !strncmp(type->name, "sys_exit_", 9))
		return &leave;
	if (!strcmp(type->system, "synthetic"))
		return &synth;
	if (tacho_type_field(type, "__probe_ip"))
		return &probe;
	if (tacho_type_field(type, "__probe_ret_ip"))
		return &probe_return;
	return &plain;
}
