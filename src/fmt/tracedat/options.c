// SPDX-License-Identifier: MIT
/* The options, of both versions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scan.h"
#include "fmt/tracedat/layout.h"
#include "fmt/tracedat/meta.h"

#define PARTS_MAX	8192u

/* The option's text without its NUL and the newlines before that. */
static size_t text_len(const struct tacho_buf *b)
{
	size_t n = strnlen(b->data, b->len);

	while (n && b->data[n - 1] == '\n')
		n--;
	return n;
}

static int set_fact(struct tacho_dat_load *l, const char *name)
{
	size_t n = l->option.len ? text_len(&l->option) : 0;

	/* a fact that is too long is left out; the events do not need it */
	if (n)
		(void)tacho_facts_set(l->facts, name, strlen(name),
				      l->option.data, n);
	return 0;
}

/* "Linux host 6.1.0 x86_64" */
static int set_uname(struct tacho_dat_load *l)
{
	static const char *const name[] = { "sysname", "hostname", "release",
					    "machine" };
	const char *s = l->option.data;
	const char *end = s + (l->option.len ? text_len(&l->option) : 0);

	for (size_t i = 0; i < 4 && s < end; i++) {
		const char *blank = memchr(s, ' ', (size_t)(end - s));
		size_t n = (size_t)((blank && i < 3 ? blank : end) - s);

		if (tacho_facts_set(l->facts, name[i], strlen(name[i]), s, n))
			return tacho_no_memory(l->d);
		s += n + 1;
	}
	return 0;
}

/* "local global [mono] boot": the name in brackets. */
static void set_clock(struct tacho_dat_load *l)
{
	struct tacho_dat_meta *m = l->m;
	const char *s = l->option.len ? memchr(l->option.data, '[', l->option.len) :
					NULL;
	const char *e = s ? memchr(s, ']', l->option.len -
				   (size_t)(s - l->option.data)) : NULL;

	m->has_clock = true;
	if (!e || (size_t)(e - s) > sizeof(m->clock))
		return;
	memcpy(m->clock, s + 1, (size_t)(e - s - 1));
	m->clock[e - s - 1] = '\0';
}

/*
 * A number as C writes it at the start of the option's text; 0: there is none.  Without a '-' it
 * has 64 bits without sign.
 */
static int64_t text_number(const struct tacho_dat_load *l)
{
	const char *s = l->option.data, *end = s + l->option.len;
	bool minus = s < end && *s == '-';
	uint64_t v = 0;

	s += minus;
	if (s == end)
		return 0;
	(void)tacho_scan_number(&s, end, minus ? (uint64_t)INT64_MAX + 1 : UINT64_MAX, &v);
	return (int64_t)(minus ? 0 - v : v);
}

static char *cursor_name(struct tacho_dat_load *l, struct tacho_cur *c)
{
	const char *s = tacho_cur_str(c);

	return s ? tacho_arena_strndup(&l->m->arena, s, strlen(s)) : NULL;
}

/* Version 7: the places of the CPUs' data are in the option. */
static int buffer_cpus(struct tacho_dat_load *l, struct tacho_dat_buffer *b,
		       struct tacho_cur *c)
{
	b->page_size = tacho_cur_u32(c);
	b->nr_cpus = tacho_cur_u32(c);
	if (c->why || b->nr_cpus > tacho_cur_left(c) / 20 ||
	    b->nr_cpus > PARTS_MAX - l->m->nr_parts ||
	    (b->nr_cpus && !tacho_dat_page_size_good(b->page_size)))
		return -EINVAL;
	b->cpu = tacho_arena_array(&l->m->arena, b->nr_cpus ? b->nr_cpus : 1,
				   sizeof(*b->cpu));
	if (!b->cpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr_cpus; i++) {
		b->cpu[i].cpu = tacho_cur_u32(c);
		b->cpu[i].offset = tacho_cur_u64(c);
		b->cpu[i].size = tacho_cur_u64(c);
	}
	l->m->nr_parts += b->nr_cpus;
	return 0;
}

static int set_buffer(struct tacho_dat_load *l, struct tacho_cur *c)
{
	struct tacho_dat_buffer *b;
	int err = 0;

	if (l->m->nr_buffers == PARTS_MAX)
		return tacho_diag(l->d, -E2BIG, 0, "'%s' is damaged: more than %u buffers",
				  l->f->path, PARTS_MAX);
	b = tacho_arena_alloc(&l->m->arena, sizeof(*b));
	if (!b)
		return tacho_no_memory(l->d);
	b->offset = tacho_cur_u64(c);
	b->name = cursor_name(l, c);
	b->clock = "";
	b->page_size = l->f->page_size;
	if (l->f->version >= TACHO_DAT_VERSION_7) {
		b->clock = cursor_name(l, c);
		err = c->why ? -EINVAL : buffer_cpus(l, b, c);
	}
	if (err == -ENOMEM || (!c->why && (!b->name || !b->clock)))
		return tacho_no_memory(l->d);
	if (err || c->why)
		return tacho_diag(l->d, -EINVAL, b->offset, "'%s' is damaged: its option of buffer '%s' contradicts itself",
				  l->f->path, b->name ? b->name : "?");
	*l->last_buffer = b;
	l->last_buffer = &b->next;
	l->m->nr_buffers++;
	if (l->f->version >= TACHO_DAT_VERSION_7 && !*l->m->clock)
		(void)snprintf(l->m->clock, sizeof(l->m->clock), "%s", b->clock);
	return 0;
}

static void set_tsc(struct tacho_dat_load *l, struct tacho_cur *c)
{
	uint32_t mult = tacho_cur_u32(c), shift = tacho_cur_u32(c);

	/* without them, or with nonsense, ticks are what they are */
	if (c->why || !mult || shift > 63)
		return;
	l->m->has_tsc = true;
	l->m->tsc_mult = mult;
	l->m->tsc_shift = shift;
}

static void set_guest(struct tacho_dat_load *l, struct tacho_cur *c)
{
	const char *name = tacho_cur_str(c);
	const char *before = tacho_facts_get(l->facts, "guests");
	struct tacho_buf b;

	if (!name || !*name)
		return;
	tacho_buf_init(&b, 65536);
	if (before)
		tacho_buf_printf(&b, "%s, ", before);
	tacho_buf_puts(&b, name);
	(void)tacho_facts_set(l->facts, "guests", 6, b.data, b.len);
	tacho_buf_release(&b);
}

static void set_trace_id(struct tacho_dat_load *l, struct tacho_cur *c)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)tacho_cur_u64(c));

	if (!c->why)
		(void)tacho_facts_set(l->facts, "trace_id", 8, text, (size_t)n);
}

static void add_stats(struct tacho_dat_load *l)
{
	size_t n = l->option.len ? text_len(&l->option) : 0;

	tacho_buf_put(&l->stats, l->option.data, n);
	tacho_buf_putc(&l->stats, '\n');
}

static int set_shift(struct tacho_dat_load *l, struct tacho_cur *c)
{
	int err = tacho_dat_shift_parse(&l->m->shift, c, &l->m->arena);

	if (err == -ENOMEM)
		return tacho_no_memory(l->d);
	if (err)
		return tacho_diag(l->d, err, 0, "'%s' is damaged: its option TIME_SHIFT is cut off",
				  l->f->path);
	return 0;
}

static int one_option(struct tacho_dat_load *l, uint32_t id)
{
	struct tacho_cur c;

	tacho_cur_init(&c, l->option.data, l->option.len);
	c.swap = l->f->swap;
	switch (id) {
	case TACHO_DAT_DATE:
		l->m->add_ns = (int64_t)((uint64_t)l->m->add_ns +
					 (uint64_t)text_number(l) * 1000);
		return 0;
	case TACHO_DAT_OFFSET:
		l->m->add_ns = (int64_t)((uint64_t)l->m->add_ns +
					 (uint64_t)text_number(l));
		return 0;
	case TACHO_DAT_CPUSTAT:
		add_stats(l);
		return 0;
	case TACHO_DAT_BUFFER:
		return set_buffer(l, &c);
	case TACHO_DAT_TRACECLOCK:
		set_clock(l);
		return 0;
	case TACHO_DAT_UNAME:
		return set_uname(l);
	case TACHO_DAT_HOOK:
		return set_fact(l, "hooks");
	case TACHO_DAT_CPUCOUNT:
		l->m->nr_cpus = tacho_cur_u32(&c);
		return 0;
	case TACHO_DAT_VERSION:
		return set_fact(l, "tracer_version");
	case TACHO_DAT_PROCMAPS:
		return set_fact(l, "procmaps");
	case TACHO_DAT_TRACEID:
		set_trace_id(l, &c);
		return 0;
	case TACHO_DAT_TIME_SHIFT:
		return set_shift(l, &c);
	case TACHO_DAT_GUEST:
		set_guest(l, &c);
		return 0;
	case TACHO_DAT_TSC2NSEC:
		set_tsc(l, &c);
		return 0;
	case TACHO_DAT_BUFFER_TEXT:
		l->m->has_latency = true;
		return 0;
	case TACHO_DAT_OWN:
		return tacho_dat_own_parse(&l->m->own, l->option.data, l->option.len,
					   &l->m->arena) ? tacho_no_memory(l->d) : 0;
	default:
		if (id >= TACHO_DAT_HEADER_INFO && id <= TACHO_DAT_CMDLINES)
			l->section[id] = tacho_cur_u64(&c);
		return 0;	/* options of later versions may be ignored */
	}
}

int tacho_dat_options(struct tacho_dat_load *l, struct tacho_dat_in *in,
		      uint64_t *next)
{
	bool sections = l->f->version >= TACHO_DAT_VERSION_7;
	int err = 0;

	*next = 0;
	while (!err) {
		uint32_t id = tacho_dat_in_u16(in), len;

		if (!in->why && id == TACHO_DAT_DONE && !sections)
			return 0;
		len = tacho_dat_in_u32(in);
		if (!in->why && id == TACHO_DAT_DONE) {
			*next = tacho_dat_in_u64(in);
			if (!in->why)
				return 0;
		}
		tacho_buf_reset(&l->option);
		tacho_dat_in_text(in, &l->option, len);
		if (in->why)
			return tacho_diag(l->d, tacho_dat_in_err(in), in->pos, "'%s' is damaged: its options: %s",
					  l->f->path, in->why);
		err = one_option(l, id);
	}
	return err;
}
