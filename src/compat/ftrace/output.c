// SPDX-License-Identifier: MIT
/* A record's line: options, context, and which text follows it. */
#include "compat/ftrace/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "event/context.h"
#include "compat/ftrace/output_priv.h"

/* Room that everything before an event's text needs at most. */
#define CONTEXT_MAX	192u

/* Kernels from this one on are the newest known. */
#define KERNEL_NEWEST	TACHO_OUTPUT_KERNEL(6, 18)

bool *tacho_output_option(struct tacho_output_options *options,
			  const char *name)
{
	const struct {
		const char *name;
		bool *option;
	} list[] = {
		{ "annotate", &options->annotate }, { "bin", &options->bin },
		{ "context-info", &options->context_info },
		{ "fields", &options->fields },
		{ "hash-ptr", &options->hash_ptr }, { "hex", &options->hex },
		{ "irq-info", &options->irq_info },
		{ "latency-format", &options->latency_format },
		{ "print-parent", &options->print_parent },
		{ "printk-msg-only", &options->printk_msg_only },
		{ "raw", &options->raw },
		{ "record-tgid", &options->record_tgid },
		{ "sym-addr", &options->sym_addr },
		{ "sym-offset", &options->sym_offset },
		{ "sym-userobj", &options->sym_userobj },
		{ "trace_printk", &options->trace_printk },
		{ "verbose", &options->verbose },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(list); i++)
		if (!strcmp(name, list[i].name))
			return list[i].option;
	return NULL;
}

struct tacho_output *tacho_output_new(const struct tacho_output_config *config)
{
	struct tacho_output *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->tasks = calloc(OUTPUT_TASKS, sizeof(*o->tasks));
	if (!o->tasks) {
		tacho_output_free(o);
		return NULL;
	}
	tacho_output_configure(o, config);
	return o;
}

void tacho_output_free(struct tacho_output *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->types.room; i++)
		free(o->types.slot[i].value);
	tacho_hashmap_release(&o->types);
	free(o->tasks);
	free(o);
}

void tacho_output_configure(struct tacho_output *o,
			    const struct tacho_output_config *config)
{
	o->config = *config;
	if (!config->kernel)
		o->config.kernel = KERNEL_NEWEST;
	o->config.env.hash_key = config->options.hash_ptr ?
				 o->config.hash_key : NULL;
	o->second_len = 0;
	tacho_output_forget(o);
}

void tacho_output_rewind(struct tacho_output *o)
{
	o->index = 0;
	memset(o->started, 0, sizeof(o->started));
}

void tacho_output_forget(struct tacho_output *o)
{
	for (uint32_t i = 0; i < OUTPUT_TASKS; i++)
		o->tasks[i].len = 0;
}

/* ---- types --------------------------------------------------------------- */

static struct output_type *type_new(const struct tacho_output *o,
				    const struct tacho_type *type)
{
	const struct tacho_output_names *names = &o->config.names;
	const char *probed = names->probed ? names->probed(names->arg, type) :
					     NULL;
	size_t n = strlen(type->name), more = probed ? strlen(probed) : 0;
	struct output_type *t = calloc(1, sizeof(*t) + n + 2 + more + 1);

	if (!t)
		return NULL;
	t->type = type;
	t->kind = output_kind_of(type, probed);
	t->ftrace = !strcmp(type->system, "ftrace");
	if (t->ftrace && names->number)
		t->number = names->number(names->arg, type);
	if (!t->number)
		t->number = type->id;
	for (unsigned int i = 0; i < OUTPUT_FIELDS && t->kind->field[i]; i++)
		t->field[i] = tacho_type_field(type, t->kind->field[i]);
	memcpy(t->head, type->name, n);
	memcpy(t->head + n, ": ", 2);
	t->head_len = (uint32_t)n + 2;
	if (probed)
		t->probed = memcpy(t->head + n + 2, probed, more);
	return t;
}

static TACHO_NOINLINE const struct output_type *
find_type(struct tacho_output *o, const struct tacho_type *type)
{
	struct output_type *t = tacho_hashmap_get(&o->types, tacho_hashmap_key(type));

	if (!t) {
		t = type_new(o, type);
		if (!t)
			return NULL;
		if (tacho_hashmap_set(&o->types, tacho_hashmap_key(type), t)) {
			free(t);
			return NULL;
		}
	}
	o->last = t;
	return o->last;
}

/* ---- the context --------------------------------------------------------- */

const char *output_comm(const struct tacho_output *o, int32_t pid)
{
	const struct tacho_output_names *names = &o->config.names;
	const char *comm = NULL;

	if (!pid)
		return "<idle>";
	if (pid < 0)
		return "<XXX>";
	if (names->comm)
		comm = names->comm(names->arg, pid);
	return comm ? comm : "<...>";
}

static TACHO_NOINLINE void make_task(struct tacho_output *o, int32_t pid,
				     struct output_task *t)
{
	const struct tacho_output_names *names = &o->config.names;
	const char *comm = output_comm(o, pid);
	size_t n = strnlen(comm, 15);
	char *to = t->text;

	memset(to, ' ', 16 - n);
	to = tacho_chars(to + 16 - n, comm, n);
	*to++ = '-';
	if (pid < 0)
		*to++ = '-';
	to = tacho_digits(to, pid < 0 ? 0 - (uint64_t)pid : (uint64_t)pid);
	while (to < t->text + 24)
		*to++ = ' ';
	*to++ = ' ';
	if (o->config.options.record_tgid) {
		int32_t tgid = names->tgid ? names->tgid(names->arg, pid) : 0;

		if (tgid <= 0) {
			to = tacho_chars(to, "(-------) ", 10);
		} else {
			*to++ = '(';
			to = tacho_digits_right(to, (uint32_t)tgid, 7);
			to = tacho_chars(to, ") ", 2);
		}
	}
	t->pid = pid;
	t->len = (uint32_t)(to - t->text);
}

/*
 * Kernels before 6.13 had another meaning for the flag that asks for lazy
 * rescheduling since: the machine cannot tell whether interrupts are off.
 */
static TACHO_NOINLINE char *put_old_flags(char *to, unsigned int flags,
					  unsigned int count)
{
	char *end = tacho_context_put(to, flags & ~0x02u, count);

	if (*to == '.')
		*to = 'X';
	return end;
}

static inline char *put_flags(const struct tacho_output *o, char *to,
			      const unsigned char *raw)
{
	if (tacho_unlikely(raw[2] & 0x02) &&
	    o->config.kernel < TACHO_OUTPUT_KERNEL(6, 13))
		return put_old_flags(to, raw[2], raw[3]);
	return tacho_context_put(to, raw[2], raw[3]);
}

/* Rounded to microseconds, as the kernel does. */
static char *put_time(struct tacho_output *o, uint64_t t, char *to)
{
	uint64_t second;

	if (!o->config.in_ns) {
		*to++ = ' ';
		return tacho_digits_right(to, t, 12);
	}
	t += 500;
	second = t / TACHO_NS_PER_S;
	if (tacho_unlikely(second != o->second || !o->second_len)) {
		char *end = o->second_text;

		*end++ = ' ';
		end = tacho_digits_right(end, second, 5);
		*end++ = '.';
		o->second = second;
		o->second_len = (uint32_t)(end - o->second_text);
	}
	to = tacho_chars(to, o->second_text, o->second_len);
	return tacho_digits_six(to, (uint32_t)(t - second * TACHO_NS_PER_S) /
				1000);
}

void output_put_time(struct tacho_output *o, uint64_t t, struct tacho_buf *out)
{
	char text[48];

	tacho_buf_put(out, text, (size_t)(put_time(o, t, text) - text));
}

static void put_context(struct tacho_output *o, const struct tacho_record *r,
			struct tacho_buf *out)
{
	struct output_task *task = &o->tasks[(uint32_t)r->pid &
					     (OUTPUT_TASKS - 1)];
	const unsigned char *raw = r->raw;
	char *to = tacho_buf_reserve(out, CONTEXT_MAX), *from = to;

	if (!to)
		return;
	if (tacho_unlikely(task->pid != r->pid || !task->len))
		make_task(o, r->pid, task);
	to = tacho_chars(to, task->text, task->len);
	*to++ = '[';
	if (tacho_likely(r->cpu < 1000)) {
		*to++ = (char)('0' + r->cpu / 100);
		to = tacho_digits_two(to, r->cpu % 100);
	} else {
		to = tacho_digits(to, r->cpu);
	}
	*to++ = ']';
	*to++ = ' ';
	if (o->config.options.irq_info)
		to = put_flags(o, to, raw);
	to = put_time(o, output_time(o, r->ticks), to);
	*to++ = ':';
	*to++ = ' ';
	tacho_buf_commit(out, (size_t)(to - from));
}

/* ---- latency-format ------------------------------------------------------ */

/* A letter for how long it is to the next event. */
static char delay_mark(uint64_t us)
{
	static const struct {
		uint64_t above;		/* us */
		char letter;
	} mark[] = {
		{ 1000000, '$' }, { 100000, '@' }, { 10000, '*' },
		{ 1000, '#' }, { 100, '!' }, { 10, '+' },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(mark); i++)
		if (us > mark[i].above)
			return mark[i].letter;
	return ' ';
}

static void put_delays(const struct tacho_output *o, uint64_t now,
		       uint64_t since, uint64_t till, struct tacho_buf *out)
{
	bool verbose = o->config.options.verbose;

	if (o->config.in_ns) {
		since = (since + 500) / 1000;
		till = (till + 500) / 1000;
	}
	if (verbose && o->config.in_ns)
		tacho_buf_printf(out, "[%08llx] %llu.%03llums (+%llu.%03llums): ",
				 (unsigned long long)((now + 500) / 1000),
				 (unsigned long long)(since / 1000),
				 (unsigned long long)(since % 1000),
				 (unsigned long long)(till / 1000),
				 (unsigned long long)(till % 1000));
	else if (verbose)
		tacho_buf_printf(out, "[%016llx] %lld (+%lld): ",
				 (unsigned long long)now, (long long)since,
				 (long long)till);
	else if (o->config.in_ns)
		tacho_buf_printf(out, " %4lldus%c: ", (long long)since,
				 delay_mark(till));
	else
		tacho_buf_printf(out, " %4lld: ", (long long)since);
}

static void put_latency(struct tacho_output *o, const struct tacho_record *r,
			uint64_t next, struct tacho_buf *out)
{
	const char *comm = output_comm(o, r->pid);
	const unsigned char *raw = r->raw;
	uint64_t now = output_time(o, r->ticks);
	char flags[TACHO_CONTEXT_LETTERS];

	if (o->config.options.verbose) {
		tacho_buf_printf(out, "%16.15s %7d %3u %d %08x %08llx ", comm,
				 r->pid, r->cpu, raw[2], raw[3] & 0xfu,
				 (unsigned long long)o->index);
	} else {
		tacho_buf_printf(out, "%8.8s-%-7d %3u", comm, r->pid, r->cpu);
		put_flags(o, flags, raw);
		tacho_buf_put(out, flags, sizeof(flags));
	}
	put_delays(o, now, now - o->config.time_start,
		   output_time(o, next) - now, out);
}

/* ---- lines --------------------------------------------------------------- */

static TACHO_COLD void put_lost(const struct tacho_record *r,
				struct tacho_buf *out)
{
	if (r->lost == UINT64_MAX)
		tacho_buf_printf(out, "CPU:%d [LOST EVENTS]\n", (int)r->cpu);
	else
		tacho_buf_printf(out, "CPU:%d [LOST %llu EVENTS]\n",
				 (int)r->cpu, (unsigned long long)r->lost);
}

/* Marks the beginning of a CPU's events if its oldest ones are lost, except for the first CPU. */
static TACHO_COLD void annotate(struct tacho_output *o, uint32_t cpu,
				struct tacho_buf *out)
{
	uint64_t bit = UINT64_C(1) << (cpu % 64);

	if (cpu >= OUTPUT_CPUS || o->started[cpu / 64] & bit)
		return;
	o->started[cpu / 64] |= bit;
	if (o->index > 1)
		tacho_buf_printf(out, "##### CPU %u buffer started ####\n", cpu);
}

static void put_type_number(const struct tacho_record *r, struct tacho_buf *out)
{
	tacho_buf_puts(out, "type: ");
	tacho_buf_put_u64(out, tacho_load_u16(r->raw));
	tacho_buf_putc(out, '\n');
}

/* Bytes in hex, the most significant one first, as numbers are written. */
static void put_hex(uint64_t v, unsigned int bytes, struct tacho_buf *out)
{
	tacho_buf_put_hex(out, v, bytes * 2);
	tacho_buf_putc(out, ' ');
}

static void put_as_bin(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	uint64_t time = output_time(o, r->ticks);

	if (o->config.options.context_info) {
		tacho_buf_put(out, &r->pid, sizeof(r->pid));
		tacho_buf_put(out, &r->cpu, sizeof(r->cpu));
		tacho_buf_put(out, &time, sizeof(time));
	}
	if (t->kind->bin)
		t->kind->bin(o, r, t, out);
	else
		put_type_number(r, out);
}

static void put_as_hex(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	if (o->config.options.context_info) {
		put_hex((uint32_t)r->pid, 4, out);
		put_hex(r->cpu, 4, out);
		put_hex(output_time(o, r->ticks), 8, out);
	}
	if (t->kind->hex)
		t->kind->hex(o, r, t, out);
	else
		put_type_number(r, out);
	tacho_buf_putc(out, '\n');
}

static void put_as_raw(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out)
{
	if (o->config.options.context_info)
		tacho_buf_printf(out, "%d %d %llu ", r->pid, (int)r->cpu,
				 (unsigned long long)output_time(o, r->ticks));
	if (t->kind->raw)
		t->kind->raw(o, r, t, out);
	else
		put_type_number(r, out);
}

static void put_as_text(struct tacho_output *o, const struct tacho_record *r,
			const struct output_type *t, uint64_t next,
			struct tacho_buf *out)
{
	const struct tacho_output_options *opt = &o->config.options;

	if (tacho_unlikely(o->config.overrun) && opt->annotate)
		annotate(o, r->cpu, out);
	if (tacho_likely(opt->context_info)) {
		if (tacho_unlikely(opt->latency_format))
			put_latency(o, r, next, out);
		else
			put_context(o, r, out);
	}
	if (tacho_unlikely(opt->fields))
		output_put_fields(o, r, t, out);
	else
		t->kind->text(o, r, t, out);
}

void tacho_output_put(struct tacho_output *o, const struct tacho_record *r,
		      uint64_t next, struct tacho_buf *out)
{
	const struct tacho_output_options *opt = &o->config.options;
	const struct output_type *t = o->last;

	if (tacho_unlikely(!t || t->type != r->type))
		t = find_type(o, r->type);
	if (tacho_unlikely(!t)) {
		out->err = -ENOMEM;
		return;
	}
	if (tacho_unlikely(r->lost))
		put_lost(r, out);
	if (opt->printk_msg_only && opt->trace_printk && t->kind->message)
		t->kind->message(o, r, t, out);
	else if (opt->bin)
		put_as_bin(o, r, t, out);
	else if (opt->hex)
		put_as_hex(o, r, t, out);
	else if (opt->raw)
		put_as_raw(o, r, t, out);
	else
		put_as_text(o, r, t, next, out);
	o->index++;
}
