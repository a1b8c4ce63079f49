// SPDX-License-Identifier: MIT
/* The kernel's own line (trace_print_context(), trace_print_lat_fmt()). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "event/context.h"
#include "fmt/text/line_priv.h"

static uint32_t task_text(const struct tacho_line *l, int32_t pid,
			  const char *comm, char *text, size_t size)
{
	int n;

	if (!comm)
		comm = pid ? "<...>" : "<idle>";
	if (l->config.colour)
		n = snprintf(text, size, "%*s" LINE_COLOUR_COMM "%.16s"
			     LINE_COLOUR_OFF "-%-7d ",
			     (int)(16 - strnlen(comm, 16)), "", comm, pid);
	else
		n = snprintf(text, size, "%16.16s-%-7d ", comm, pid);
	return n > 0 ? (uint32_t)n : 0;
}

/* Systems of QNX whose events have each other's names: a call and its return, and threads. */
static bool shares_names(const char *system)
{
	static const char *const systems[] = {
		"kercall_enter", "kercall_exit", "kercall_int", "process", "thread", "vthread",
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(systems); i++)
		if (!strcmp(systems[i], system))
			return true;
	return false;
}

static void type_text(const struct tacho_line *l, const struct tacho_type *type,
		      uint32_t source, struct tacho_buf *head)
{
	(void)source;
	tacho_buf_puts(head, ": ");
	if (l->config.colour)
		tacho_buf_puts(head, LINE_COLOUR_EVENT);
	if (shares_names(type->system))
		tacho_buf_printf(head, "%s:", type->system);
	tacho_buf_puts(head, type->name);
	if (l->config.colour)
		tacho_buf_puts(head, LINE_COLOUR_OFF);
	tacho_buf_puts(head, ": ");
}

static void key_text(const struct tacho_field *f, struct tacho_buf *key)
{
	tacho_buf_putc(key, ' ');
	tacho_buf_puts(key, f->name);
	tacho_buf_putc(key, '=');
}

/* " 4713." */
static uint32_t seconds_text(uint64_t second, char text[48])
{
	char digits[20];
	size_t n = (size_t)(tacho_digits(digits, second) - digits);
	char *o = text;

	*o++ = ' ';
	for (size_t i = n; i < 5; i++)
		*o++ = ' ';
	o = tacho_chars(o, digits, n);
	*o++ = '.';
	return (uint32_t)(o - text);
}

/* " 2026-11-20T14:36:36." */
static uint32_t utc_text(uint64_t second, char text[48])
{
	time_t t = (time_t)second;
	struct tm tm;

	if (!gmtime_r(&t, &tm))
		return seconds_text(second, text);
	return (uint32_t)strftime(text, 48, " %Y-%m-%dT%H:%M:%S.", &tm);
}

/* Rounded to microseconds, as the kernel does. */
static char *put_time(struct tacho_line *l, const struct tacho_record *r, char *o)
{
	bool utc = l->config.time == TACHO_LINE_UTC;
	uint64_t t = r->time - l->base;
	const struct line_second *s;

	if (l->config.time == TACHO_LINE_TICKS) {
		char digits[20];
		size_t n = (size_t)(tacho_digits(digits, r->ticks) - digits);

		*o++ = ' ';
		for (size_t i = n; i < 12; i++)
			*o++ = ' ';
		return tacho_chars(o, digits, n);
	}
	if (!l->config.ns)
		t += 500;
	s = &l->second;
	if (tacho_unlikely(!s->len || t / TACHO_NS_PER_S != s->second))
		s = line_second(l, t / TACHO_NS_PER_S,
				utc ? utc_text : seconds_text);
	o = tacho_chars(o, s->text, s->len);
	t -= s->second * TACHO_NS_PER_S;
	o = l->config.ns ? tacho_digits_nine(o, (uint32_t)t) :
			   tacho_digits_six(o, (uint32_t)t / 1000);
	if (utc)
		*o++ = 'Z';
	return o;
}

static char *put_delta(const struct tacho_line *l, const struct tacho_record *r, char *o)
{
	uint64_t d = line_delta(l, r);

	if (!l->config.ns)
		d += 500;
	o = tacho_chars(o, " (+", 3);
	o = tacho_digits(o, d / TACHO_NS_PER_S);
	*o++ = '.';
	o = l->config.ns ? tacho_digits_nine(o, (uint32_t)(d % TACHO_NS_PER_S)) :
			   tacho_digits_six(o, (uint32_t)(d % TACHO_NS_PER_S) / 1000);
	*o++ = ')';
	return o;
}

static char *put_cpu(char *o, uint32_t cpu)
{
	if (tacho_unlikely(cpu == UINT32_MAX))
		return tacho_chars(o, "[---] ", 6);
	*o++ = '[';
	if (tacho_likely(cpu < 1000)) {
		*o++ = (char)('0' + cpu / 100);
		o = tacho_digits_two(o, cpu % 100);
	} else {
		o = tacho_digits(o, cpu);
	}
	*o++ = ']';
	*o++ = ' ';
	return o;
}

static void put(struct tacho_line *l, const struct tacho_record *r,
		const struct line_type *type, const struct line_task *task,
		struct tacho_buf *out)
{
	const unsigned char *raw = r->raw;
	char *o = tacho_buf_reserve(out, LINE_PREFIX + type->head_len);
	char *from = o;

	if (!o)
		return;
	o = tacho_chars(o, task->text, task->len);
	o = put_cpu(o, r->cpu);
	o = tacho_context_put(o, raw[2], raw[3]);
	o = put_time(l, r, o);
	if (l->config.delta) {
		char *delta = o;

		o = put_delta(l, r, o);
		line_note_seam(l, r, out, from, delta, o);
	}
	o = tacho_chars(o, type->head, type->head_len);
	tacho_buf_commit(out, (size_t)(o - from));
	tacho_line_text(l, r, type, out);
	/* a stack's last frame has its end already */
	if (!out->len || out->data[out->len - 1] != '\n')
		tacho_buf_putc(out, '\n');
}

static void lost(struct tacho_line *l, const struct tacho_record *r,
		 struct tacho_buf *out)
{
	if (l->config.colour)
		tacho_buf_puts(out, LINE_COLOUR_LOST);
	if (r->cpu == UINT32_MAX)
		tacho_buf_puts(out, "CPU:-");
	else
		tacho_buf_printf(out, "CPU:%u", r->cpu);
	tacho_buf_puts(out, " [LOST ");
	tacho_buf_put_u64(out, r->lost);
	tacho_buf_puts(out, " EVENTS]");
	if (l->config.colour)
		tacho_buf_puts(out, LINE_COLOUR_OFF);
	tacho_buf_putc(out, '\n');
}

const struct line_ops tacho_line_ftrace = {
	.task = task_text, .type = type_text, .key = key_text,
	.put = put, .lost = lost, .delta = put_delta,
};
