// SPDX-License-Identifier: MIT
#include "fmt/tracedat/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fmt/tracedat/layout.h"
#include "fmt/tracedat/pages.h"
#include "fmt/tracedat/swap.h"
#include "fmt/tracedat/view.h"
#include "kdata/syscalls.h"

/* Windows and records of all parts together stay below three times this. */
#define WINDOWS_MAX	((size_t)12 << 20)
#ifdef TACHO_TINY
#define WINDOW_MAX	((size_t)1 << 10)
#else
#define WINDOW_MAX	((size_t)128 << 10)
#endif
#define WINDOW_MIN	((size_t)1 << 10)
#define SWAPS_MAX	((size_t)16 << 20)

static void dat_close(struct tacho_source *source)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;

	for (uint32_t i = 0; i < source->nr_parts; i++)
		tacho_dat_part_free((struct tacho_dat_part *)source->part[i]);
	tacho_ktypes_release(&s->types);
	tacho_arena_release(&s->swaps);
	tacho_buf_release(&s->packed);
	free(s->swap);
	free(s->format_of);
	tacho_dat_meta_release(&s->meta);
	tacho_dat_file_close(&s->file);
	tacho_source_release(source);
	free(s);
}

static void dat_load_types(struct tacho_source *source)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;

	for (uint32_t i = 0; i < s->meta.nr_formats; i++)
		(void)tacho_dat_type(source, tacho_dat_stream_of(s, s->meta.format[i].id),
				     s->meta.format[i].id);
}

/* ---- what is known without reading ------------------------------------------------ */

/* The last page that has a time; its events may be later, up to its end. */
static uint64_t last_time(struct tacho_dat_source *s, struct tacho_dat_part *p)
{
	uint64_t size = p->buffer->page_size, n = (p->end - p->begin) / size;
	uint64_t time;

	for (uint32_t tries = 0; n && tries < 16; tries++)
		if (tacho_dat_page_time(s, p->begin + --n * size, &time))
			return time;
	return 0;
}

/* First and last time of a part in ticks; false: not known without reading it. */
static bool part_span(struct tacho_dat_source *s, struct tacho_dat_part *p,
		      uint64_t *first, uint64_t *last)
{
	*first = p->first;
	*last = p->last;
	if (p->whole)
		return *last != 0;
	if (p->buffer->compressed || s->meta.shift.nr_cpus || p->begin == p->end ||
	    !tacho_dat_page_time(s, p->begin, first))
		return false;
	*last = last_time(s, p);
	if (p->last > *last)
		*last = p->last;
	return true;
}

static int dat_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;

	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct tacho_dat_part *p = (struct tacho_dat_part *)source->part[i];
		uint64_t first, last;

		info->discarded += p->lost;
		info->packets += p->whole || p->buffer->compressed ? p->pages :
				 (p->end - p->begin) / p->buffer->page_size;
		if (!part_span(s, p, &first, &last))
			continue;
		first = tacho_clock_ns(&source->clock, first);
		last = tacho_clock_ns(&source->clock, last);
		if (!info->begin || first < info->begin)
			info->begin = first;
		if (last > info->end)
			info->end = last;
	}
	info->bytes += s->file.size;
	return 0;
}

/* System calls have the numbers of the machine; ours are known. */
static int syscalls(struct tacho_source *source, struct tacho_buf *out)
{
	const char *machine = tacho_facts_get(tacho_source_facts(source), "machine");
	struct utsname u;

	if (!machine || uname(&u) || strcmp(machine, u.machine))
		return -ENOENT;
	tacho_syscalls_text(out);
	return tacho_buf_error(out);
}

static int cmdlines(struct tacho_source *source, struct tacho_buf *out)
{
	const struct tacho_facts *f = tacho_source_facts(source);

	for (size_t i = 0; i < f->nr_tasks; i++)
		tacho_buf_printf(out, "%d %d %.16s\n", f->task[i].pid,
				 f->task[i].tgid, f->task[i].comm);
	return tacho_buf_error(out);
}

/*
 * kallsyms has the per-CPU variables, too, by their offsets; a user's address would
 * seem to lie after the last of them.  Lines below 16 MiB are left out.
 */
static int kallsyms(struct tacho_dat_source *s, struct tacho_buf *out)
{
	static const char low[] = "0000000000";
	size_t to = out->len, at = out->len;
	int err = tacho_dat_meta_text(&s->meta, &s->file, false, out);

	if (err || s->meta.layout.commit_size != 8)
		return err;
	while (at < out->len) {
		const char *line = out->data + at;
		const char *nl = memchr(line, '\n', out->len - at);
		size_t n = nl ? (size_t)(nl + 1 - line) : out->len - at;

		if (n < sizeof(low) || memcmp(line, low, sizeof(low) - 1)) {
			memmove(out->data + to, line, n);
			to += n;
		}
		at += n;
	}
	out->len = to;
	return 0;
}

static int dat_text(struct tacho_source *source, const char *name,
		    struct tacho_buf *out)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source;

	if (!strcmp(name, "cmdlines"))
		return cmdlines(source, out);
	if (!strcmp(name, "syscalls"))
		return syscalls(source, out);
	if (!strcmp(name, "kallsyms"))
		return kallsyms(s, out);
	if (!strcmp(name, "printk_formats"))
		return tacho_dat_meta_text(&s->meta, &s->file, true, out);
	return -ENOENT;
}

/* ---- several readers -------------------------------------------------------------- */

/* All but the windows and the codec is the other source's. */
static void view_close(struct tacho_source *source)
{
	struct tacho_dat_source *v = (struct tacho_dat_source *)source;

	for (uint32_t i = 0; i < source->nr_parts; i++)
		tacho_dat_part_free((struct tacho_dat_part *)source->part[i]);
	tacho_dat_codec_free(v->file.codec);
	tacho_buf_release(&v->packed);
	memset(source->table, 0, sizeof(source->table));
	tacho_source_release(source);
	free(v);
}

static const struct tacho_source_ops view_ops = {
	.format = "trace.dat",
	.close = view_close,
	.fill = tacho_dat_fill,
	.seek = tacho_dat_seek,
	.only = tacho_dat_only,
	.through = tacho_dat_through,
	.text = dat_text,
};

static int view_part(struct tacho_dat_source *v, const struct tacho_dat_part *of)
{
	struct tacho_dat_part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->buffer = of->buffer;
	p->begin = of->begin;
	p->end = of->end;
	p->mark = of->mark;
	p->nr_marks = of->nr_marks;
	p->marked = of->marked;
	p->timed = of->timed;
	p->raw_end = of->raw_end;
	p->part.cpu = of->part.cpu;
	p->part.stream_id = of->part.stream_id;
	p->part.buffer = of->part.buffer;
	if (tacho_source_add_part(&v->source, &p->part)) {
		free(p);
		return -ENOMEM;
	}
	return 0;
}

static size_t window_room(uint64_t windows)
{
	size_t room = WINDOWS_MAX / (windows ? windows : 1);

	return room > WINDOW_MAX ? WINDOW_MAX : room < WINDOW_MIN ? WINDOW_MIN : room / 1024 * 1024;
}

static struct tacho_source *dat_view(struct tacho_source *source, uint32_t readers)
{
	struct tacho_dat_source *s = (struct tacho_dat_source *)source, *v = malloc(sizeof(*v));
	int err = 0;

	if (!v)
		return NULL;
	*v = *s;
	tacho_source_init(&v->source, &view_ops, source->flags);
	v->source.of = source;
	v->source.clock = source->clock;
	memcpy(v->source.table, source->table, sizeof(source->table));
	v->window_room = window_room((uint64_t)source->nr_parts * readers);
	tacho_buf_init(&v->packed, (size_t)8 << 20);
	v->file.codec = NULL;
	if (s->file.codec)
		err = tacho_dat_codec_copy(&v->file.codec, s->file.codec);
	for (uint32_t i = 0; i < source->nr_parts && !err; i++)
		err = view_part(v, (struct tacho_dat_part *)source->part[i]);
	if (err) {
		view_close(&v->source);
		return NULL;
	}
	return &v->source;
}

static const struct tacho_source_ops dat_ops = {
	.format = "trace.dat",
	.close = dat_close,
	.fill = tacho_dat_fill,
	.seek = tacho_dat_seek,
	.type = tacho_dat_type,
	.load_types = dat_load_types,
	.info = dat_info,
	.spans = tacho_dat_spans,
	.view = dat_view,
	.fold = tacho_dat_fold,
	.text = dat_text,
};

/* ---- opening -------------------------------------------------------------------- */

static void set_clock(struct tacho_dat_source *s)
{
	struct tacho_clock_map *clock = &s->source.clock;

	if (s->meta.own.has_clock) {
		tacho_clock_map_init(clock, s->meta.own.freq, 0, s->meta.own.base);
		return;
	}
	if (s->meta.has_tsc)
		tacho_clock_map_init_mult(clock, s->meta.tsc_mult,
					  s->meta.tsc_shift);
	clock->base += (uint64_t)s->meta.add_ns;
}

static int add_part(struct tacho_dat_source *s,
		    const struct tacho_dat_buffer *b,
		    const struct tacho_dat_cpu *cpu)
{
	struct tacho_dat_part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->buffer = b;
	p->begin = cpu->offset;
	/* an end beyond all numbers is beyond the file's, too */
	p->end = cpu->size > UINT64_MAX - cpu->offset ? UINT64_MAX :
		 cpu->offset + cpu->size;
	if (b->compressed && p->end < UINT64_MAX - 4)
		p->end += 4;	/* the count of chunks is not in the size */
	p->part.cpu = cpu->cpu;
	p->part.stream_id = TACHO_STREAM_KERNEL;
	p->part.buffer = b->name;
	if (tacho_source_add_part(&s->source, &p->part)) {
		free(p);
		return -ENOMEM;
	}
	tacho_dat_part_rewind(s, p);
	return 0;
}

static int add_parts(struct tacho_dat_source *s)
{
	int err = 0;

	s->window_room = window_room(s->meta.nr_parts);
	for (const struct tacho_dat_buffer *b = s->meta.buffer; b; b = b->next)
		for (uint32_t i = 0; i < b->nr_cpus && !err; i++)
			if (b->cpu[i].size)
				err = add_part(s, b, &b->cpu[i]);
	return err;
}

/* Of formats with the same id the first one counts. */
static int index_formats(struct tacho_dat_source *s)
{
	s->format_of = calloc(UINT16_MAX + 1, sizeof(*s->format_of));
	if (s->file.swap)
		s->swap = calloc(UINT16_MAX + 1, sizeof(*s->swap));
	if (!s->format_of || (s->file.swap && !s->swap))
		return -ENOMEM;
	for (uint32_t i = s->meta.nr_formats; i--;)
		s->format_of[s->meta.format[i].id] = i + 1;
	return 0;
}

static int load(struct tacho_dat_source *s, const char *path, const void *data,
		size_t len, struct tacho_diag *d)
{
	int err = tacho_dat_file_open(&s->file, path, data, len, d);

	if (!err)
		err = tacho_dat_meta_read(&s->meta, &s->file, &s->source.facts, d);
	if (err)
		return err;
	set_clock(s);
	/* pages have the times of the guest's own clock */
	s->source.seeks_by_reading = s->meta.shift.nr_cpus;
	err = index_formats(s);
	if (!err)
		err = add_parts(s);
	return err ? tacho_diag(d, err, 0, "out of memory") : 0;
}

static int open_any(struct tacho_source **source, const char *path,
		    const void *data, size_t len, unsigned int flags,
		    struct tacho_diag *d)
{
	struct tacho_dat_source *s = calloc(1, sizeof(*s));
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	tacho_source_init(&s->source, &dat_ops, flags);
	s->source.arena = &s->types.arena;
	tacho_ktypes_init(&s->types);
	tacho_arena_init(&s->swaps, SWAPS_MAX);
	tacho_buf_init(&s->packed, (size_t)8 << 20);
	s->file.fd = -1;
	err = load(s, path, data, len, d);
	if (err) {
		dat_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

int tacho_dat_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, path, NULL, 0, flags, d);
}

int tacho_dat_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, "memory", data ? data : "", len, flags, d);
}

bool tacho_dat_sniff(const struct tacho_sniff *p)
{
	return p->len >= TACHO_DAT_MAGIC_LEN &&
	       !memcmp(p->head, TACHO_DAT_MAGIC, TACHO_DAT_MAGIC_LEN);
}
