// SPDX-License-Identifier: MIT
#include "fmt/tracedat/meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/text.h"
#include "fmt/tracedat/layout.h"

#define ARENA_MAX	((size_t)16 << 20)
#define CMDLINES_MAX	((size_t)16 << 20)
#define HEADER_MAX	((size_t)64 << 10)
#define FORMATS_MAX	65536u
#define SECTIONS_MAX	4096u	/* options sections; one per buffer is usual */
#define CPUS_MAX	8192u

/* A damaged or cut off block: what it is called, and what reading it said. */
static int bad_block(struct tacho_dat_load *l, const struct tacho_dat_in *in,
		     const char *name)
{
	return tacho_diag(l->d, tacho_dat_in_err(in), in->pos, "'%s' is damaged: its %s: %s",
			  l->f->path, name,
			  in->why ? in->why : "it is not what it should be");
}

/* ---- blocks ------------------------------------------------------------------ */

static int read_header_info(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	char page[sizeof(TACHO_DAT_HEADER_PAGE)];
	char event[sizeof(TACHO_DAT_HEADER_EVENT)];
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, HEADER_MAX);
	tacho_dat_in_bytes(in, page, sizeof(page));
	if (!in->why && memcmp(page, TACHO_DAT_HEADER_PAGE, sizeof(page)))
		in->why = "no header_page in it";
	tacho_dat_in_text(in, &text, tacho_dat_in_u64(in));
	if (!in->why)
		err = tacho_kpage_layout_parse(&l->m->layout,
					       tacho_buf_str(&text), text.len,
					       l->d);
	tacho_buf_release(&text);
	if (err)
		return err;
	/* what an event's head looks like is the same in every kernel */
	tacho_dat_in_bytes(in, event, sizeof(event));
	if (!in->why && memcmp(event, TACHO_DAT_HEADER_EVENT, sizeof(event)))
		in->why = "no header_event in it";
	tacho_dat_in_skip(in, tacho_dat_in_u64(in));
	return in->why ? bad_block(l, in, "page header") : 0;
}

/* The number after "\nID: " of a format; UINT32_MAX: none. */
static uint32_t format_id(const char *s, size_t len)
{
	uint64_t id;

	return tacho_scan_after(s, s + len, "\nID: ", FORMATS_MAX - 1, &id) ? UINT32_MAX :
									      (uint32_t)id;
}

static int format_room(struct tacho_dat_meta *m)
{
	uint32_t room = m->formats_room ? m->formats_room * 2 : 512;
	struct tacho_dat_format *p;

	if (m->nr_formats < m->formats_room)
		return 0;
	p = reallocarray(m->format, room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	m->format = p;
	m->formats_room = room;
	return 0;
}

static int read_format(struct tacho_dat_load *l, struct tacho_dat_in *in,
		       const char *system)
{
	struct tacho_dat_meta *m = l->m;
	struct tacho_dat_format f = { .system = system };
	size_t at = m->formats.len;

	tacho_dat_in_text(in, &m->formats, tacho_dat_in_u64(in));
	if (in->why)
		return bad_block(l, in, "event formats");
	f.at = (uint32_t)at;
	f.len = (uint32_t)(m->formats.len - at);
	f.id = f.len ? format_id(m->formats.data + at, f.len) : UINT32_MAX;
	if (f.id == UINT32_MAX || m->nr_formats == FORMATS_MAX)
		return 0;
	if (format_room(m))
		return tacho_no_memory(l->d);
	m->format[m->nr_formats++] = f;
	return 0;
}

static int read_formats(struct tacho_dat_load *l, struct tacho_dat_in *in,
			const char *system)
{
	uint32_t n = tacho_dat_in_u32(in);
	int err = in->why ? bad_block(l, in, "event formats") : 0;

	while (!err && n--)
		err = read_format(l, in, system);
	return err;
}

static int read_ftrace_events(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	return read_formats(l, in, "ftrace");
}

static int read_event_formats(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	uint32_t systems = tacho_dat_in_u32(in);
	int err = in->why ? bad_block(l, in, "event formats") : 0;

	while (!err && systems--) {
		const char *copy;
		char name[256];

		tacho_dat_in_string(in, name, sizeof(name));
		copy = tacho_arena_strndup(&l->m->arena, name, strlen(name));
		err = in->why ? bad_block(l, in, "event formats") :
		      !copy ? tacho_no_memory(l->d) :
			      read_formats(l, in, copy);
	}
	return err;
}

/* "PID COMM" lines, with any blanks before the number. */
static void take_cmdline(struct tacho_facts *facts, const char *s,
			 const char *end)
{
	uint64_t pid;

	while (s < end && *s == ' ')
		s++;
	if (tacho_scan_digits(&s, end, 10, INT32_MAX, &pid) || s == end || *s != ' ')
		return;
	s++;
	(void)tacho_facts_add_task(facts, (int32_t)pid, 0, s, (size_t)(end - s));
}

static int read_cmdlines(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	struct tacho_buf text;
	const char *s, *end;

	tacho_buf_init(&text, CMDLINES_MAX);
	tacho_dat_in_text(in, &text, tacho_dat_in_u64(in));
	for (s = tacho_buf_str(&text), end = s + text.len; s < end;) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));

		take_cmdline(l->facts, s, nl ? nl : end);
		s = nl ? nl + 1 : end;
	}
	tacho_buf_release(&text);
	return in->why ? bad_block(l, in, "names of threads") : 0;
}

/* A "u32 len, text" block of version 6 that is read later. */
static uint64_t pass_block(struct tacho_dat_in *in)
{
	uint64_t at = in->pos;
	uint32_t len = tacho_dat_in_u32(in);

	tacho_dat_in_skip(in, len);
	return len ? at : 0;
}

int tacho_dat_meta_text(const struct tacho_dat_meta *m,
			const struct tacho_dat_file *f, bool printk,
			struct tacho_buf *out)
{
	uint64_t at = printk ? m->printk : m->kallsyms;
	struct tacho_diag d = { 0 };
	struct tacho_dat_in in;
	struct tacho_buf hold;
	int err = 0;

	if (!at)
		return -ENOENT;
	tacho_buf_init(&hold, TACHO_DAT_BLOCK_MAX);
	if (f->version >= TACHO_DAT_VERSION_7)
		err = tacho_dat_in_section(&in, f, at,
					   printk ? TACHO_DAT_PRINTK :
						    TACHO_DAT_KALLSYMS,
					   &hold, &d);
	else
		tacho_dat_in_init(&in, f, at);
	if (!err) {
		tacho_dat_in_text(&in, out, tacho_dat_in_u32(&in));
		err = in.no_memory ? -ENOMEM : in.why ? -EIO : 0;
	}
	tacho_buf_release(&hold);
	return err;
}

/* ---- version 6 ----------------------------------------------------------------- */

/* "flyrecord\0" and the places of the CPUs' pages, from where `in` is. */
static int read_table(struct tacho_dat_load *l, struct tacho_dat_in *in,
		      struct tacho_dat_buffer *b)
{
	struct tacho_dat_meta *m = l->m;

	if (m->nr_cpus > CPUS_MAX || m->nr_cpus > CPUS_MAX - m->nr_parts)
		return tacho_diag(l->d, -E2BIG, in->pos, "'%s' is damaged: %u CPUs",
				  l->f->path, m->nr_cpus);
	b->cpu = tacho_arena_array(&m->arena, m->nr_cpus ? m->nr_cpus : 1,
				   sizeof(*b->cpu));
	if (!b->cpu)
		return tacho_no_memory(l->d);
	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		b->cpu[i].cpu = i;
		b->cpu[i].offset = tacho_dat_in_u64(in);
		b->cpu[i].size = tacho_dat_in_u64(in);
	}
	b->nr_cpus = m->nr_cpus;
	m->nr_parts += m->nr_cpus;
	return in->why ? bad_block(l, in, "table of CPUs") : 0;
}

/* The clock after the table; a file whose TRACECLOCK option named it lacks nothing. */
static void read_table_clock(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	struct tacho_dat_meta *m = l->m;
	uint64_t len = tacho_dat_in_u64(in);
	char text[sizeof(m->clock) + 1] = "";

	if (*m->clock || !len || len > sizeof(text) - 1)
		return;
	tacho_dat_in_bytes(in, text, (size_t)len);
	if (!in->why && text[0] == '[' && text[len - 1] == ']')
		memcpy(m->clock, text + 1, (size_t)len - 2);
}

static int read_word(struct tacho_dat_load *l, struct tacho_dat_in *in,
		     char word[TACHO_DAT_WORD_LEN])
{
	tacho_dat_in_bytes(in, word, TACHO_DAT_WORD_LEN);
	return in->why ? bad_block(l, in, "header") : 0;
}

static bool is_word(const char *word, const char *what)
{
	return !memcmp(word, what, TACHO_DAT_WORD_LEN);
}

static int latency(struct tacho_dat_load *l)
{
	return tacho_diag(l->d, -ENOTSUP, 0, "'%s' holds the text of a latency tracer and no events; 'trace-cmd report' shows it",
			  l->f->path);
}

static int top_buffer_v6(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	struct tacho_dat_buffer *b = tacho_arena_alloc(&l->m->arena, sizeof(*b));
	int err;

	if (!b)
		return tacho_no_memory(l->d);
	b->name = b->clock = "";
	b->page_size = l->f->page_size;
	err = read_table(l, in, b);
	if (!err && l->m->has_clock)
		read_table_clock(l, in);
	b->next = l->m->buffer;
	l->m->buffer = b;
	l->m->nr_buffers++;
	return err;
}

static int other_buffers_v6(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	char word[TACHO_DAT_WORD_LEN];
	int err = 0;

	for (struct tacho_dat_buffer *b = l->m->buffer->next; b && !err;
	     b = b->next) {
		tacho_dat_in_init(in, l->f, b->offset);
		err = read_word(l, in, word);
		if (!err && is_word(word, TACHO_DAT_LATENCY))
			continue;
		if (!err && !is_word(word, TACHO_DAT_FLYRECORD))
			err = bad_block(l, in, "table of a buffer");
		if (!err)
			err = read_table(l, in, b);
	}
	return err;
}

static int read_v6(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	char word[TACHO_DAT_WORD_LEN];
	uint64_t next;
	int err;

	tacho_dat_in_init(in, l->f, l->f->body);
	err = read_header_info(l, in);
	if (!err)
		err = read_ftrace_events(l, in);
	if (!err)
		err = read_event_formats(l, in);
	if (err)
		return err;
	l->m->kallsyms = pass_block(in);
	l->m->printk = pass_block(in);
	err = in->why ? bad_block(l, in, "symbols") : read_cmdlines(l, in);
	if (err)
		return err;
	l->m->nr_cpus = tacho_dat_in_u32(in);
	err = read_word(l, in, word);
	if (!err && is_word(word, TACHO_DAT_OPTIONS)) {
		err = tacho_dat_options(l, in, &next);
		if (!err)
			err = read_word(l, in, word);
	}
	if (err)
		return err;
	if (is_word(word, TACHO_DAT_LATENCY))
		return latency(l);
	if (!is_word(word, TACHO_DAT_FLYRECORD))
		return bad_block(l, in, "header");
	err = top_buffer_v6(l, in);
	return err ? err : other_buffers_v6(l, in);
}

/* ---- version 7 ----------------------------------------------------------------- */

/* The list of options sections; a list that bites its tail has an end, too. */
static int options_v7(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	uint64_t at = l->f->options, bytes = 0;

	for (uint32_t n = 0; at; n++) {
		struct tacho_buf hold;
		int err = tacho_dat_in_section(in, l->f, at, TACHO_DAT_DONE,
					       &hold, l->d);

		bytes += in->end - in->pos;
		if (!err && (n == SECTIONS_MAX || bytes > 2 * l->f->size + TACHO_DAT_BLOCK_MAX))
			err = tacho_diag(l->d, -EINVAL, at, "'%s' is damaged: its list of options has no end",
					 l->f->path);
		if (!err)
			err = tacho_dat_options(l, in, &at);
		tacho_buf_release(&hold);
		if (err)
			return err;
	}
	return 0;
}

static int section_v7(struct tacho_dat_load *l, struct tacho_dat_in *in,
		      uint32_t id, int (*read)(struct tacho_dat_load *l,
					       struct tacho_dat_in *in))
{
	struct tacho_buf hold;
	int err;

	if (!l->section[id])
		return 0;
	err = tacho_dat_in_section(in, l->f, l->section[id], id, &hold, l->d);
	if (!err)
		err = read(l, in);
	tacho_buf_release(&hold);
	return err;
}

/* What a buffer's option does not say: whether its data is compressed. */
static int buffer_flags_v7(struct tacho_dat_load *l)
{
	for (struct tacho_dat_buffer *b = l->m->buffer; b; b = b->next) {
		unsigned char head[4];
		int err = tacho_dat_file_read(l->f, b->offset, head,
					      sizeof(head));

		if (err || tacho_dat_u16(l->f, head) != TACHO_DAT_BUFFER)
			return tacho_diag(l->d, -EINVAL, b->offset, "'%s' is %s: the events of buffer '%s' should be at byte %llu",
					  l->f->path, err ? "cut off" : "damaged",
					  b->name, (unsigned long long)b->offset);
		b->compressed = tacho_dat_u16(l->f, head + 2) &
				TACHO_DAT_COMPRESSED;
		if (b->compressed && !l->f->codec)
			return tacho_diag(l->d, -EINVAL, b->offset, "'%s' is damaged: buffer '%s' is compressed, the file is not",
					  l->f->path, b->name);
	}
	return 0;
}

static int read_v7(struct tacho_dat_load *l, struct tacho_dat_in *in)
{
	int err = options_v7(l, in);

	if (err)
		return err;
	if (!l->m->buffer && l->m->has_latency)
		return latency(l);
	if (!l->section[TACHO_DAT_HEADER_INFO])
		return tacho_diag(l->d, -EINVAL, 0, "'%s' is damaged: it does not tell the layout of its pages",
				  l->f->path);
	err = section_v7(l, in, TACHO_DAT_HEADER_INFO, read_header_info);
	if (!err)
		err = section_v7(l, in, TACHO_DAT_FTRACE_EVENTS, read_ftrace_events);
	if (!err)
		err = section_v7(l, in, TACHO_DAT_EVENT_FORMATS, read_event_formats);
	if (!err)
		err = section_v7(l, in, TACHO_DAT_CMDLINES, read_cmdlines);
	l->m->kallsyms = l->section[TACHO_DAT_KALLSYMS];
	l->m->printk = l->section[TACHO_DAT_PRINTK];
	return err ? err : buffer_flags_v7(l);
}

/* ---- all ------------------------------------------------------------------------- */

static void set_fact(struct tacho_facts *facts, const char *name,
		     const char *value, size_t len)
{
	if (len)
		(void)tacho_facts_set(facts, name, strlen(name), value, len);
}

static void set_facts(struct tacho_dat_load *l)
{
	struct tacho_buf names;

	set_fact(l->facts, "tracer_name", "trace-cmd", 9);
	set_fact(l->facts, "clock", l->m->clock, strlen(l->m->clock));
	set_fact(l->facts, "cpustat", l->stats.data, l->stats.len);
	tacho_buf_init(&names, 65536);
	for (const struct tacho_dat_buffer *b = l->m->buffer; b; b = b->next)
		if (*b->name)
			tacho_buf_printf(&names, "%s%s", names.len ? ", " : "",
					 b->name);
	set_fact(l->facts, "buffers", names.data, names.len);
	tacho_buf_release(&names);
}

int tacho_dat_meta_read(struct tacho_dat_meta *m, const struct tacho_dat_file *f,
			struct tacho_facts *facts, struct tacho_diag *d)
{
	struct tacho_dat_load l = { .m = m, .f = f, .facts = facts, .d = d };
	struct tacho_dat_in *in = malloc(sizeof(*in));
	int err;

	*m = (struct tacho_dat_meta){ 0 };
	tacho_arena_init(&m->arena, ARENA_MAX);
	tacho_buf_init(&m->formats, TACHO_DAT_BLOCK_MAX);
	tacho_buf_init(&l.stats, (size_t)256 << 10);
	tacho_buf_init(&l.option, TACHO_DAT_BLOCK_MAX);
	l.last_buffer = &m->buffer;
	/* an option without data has an address all the same */
	if (!in || !tacho_buf_reserve(&l.option, 1))
		err = tacho_no_memory(d);
	else if (f->version >= TACHO_DAT_VERSION_7)
		err = read_v7(&l, in);
	else
		err = read_v6(&l, in);
	if (!err)
		set_facts(&l);
	tacho_dat_own_take_tasks(&m->own, err ? NULL : facts);
	free(in);
	tacho_buf_release(&l.stats);
	tacho_buf_release(&l.option);
	return err;
}

void tacho_dat_meta_release(struct tacho_dat_meta *m)
{
	tacho_arena_release(&m->arena);
	tacho_buf_release(&m->formats);
	free(m->format);
}
