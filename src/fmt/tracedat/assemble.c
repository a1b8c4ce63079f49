// SPDX-License-Identifier: MIT
/* The writer's second half: all that was collected, laid out as layout.h says. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/tracedat/layout.h"
#include "fmt/tracedat/own.h"
#include "fmt/tracedat/write_priv.h"

#define BUFFER		((size_t)256 << 10)
#define CHUNK		((size_t)64 << 10)	/* compressed together, at least */
#define BLOCK_MAX	((size_t)2 << 30)
#define SHIFT_MAX	32u			/* readers shift halves of 64 bits */

__extension__ typedef unsigned __int128 u128;

/* Where one CPU's data is in the file. */
struct region {
	uint64_t offset, size;
};

struct out {
	struct tacho_dat_writer *w;
	int fd;
	uint64_t at;			/* bytes so far, those in buffer included */
	struct tacho_buf buffer;
	struct tacho_buf block;		/* of metadata, being made */
	struct tacho_buf options;
	struct tacho_buf strings;	/* version 7: descriptions of sections */
	struct tacho_dat_packer *packer;	/* NULL: nothing is compressed */
	struct tacho_buf chunk;
	uint32_t nr_chunks;		/* of the present region */
	struct region *region;		/* by CPU */
	uint32_t nr_cpus;
	int err;			/* the first; sticks */
};

/* ---- bytes ------------------------------------------------------------------------ */

static void flush(struct out *o)
{
	const char *from = o->buffer.data;
	size_t len = o->buffer.len;

	while (len && !o->err) {
		ssize_t n = write(o->fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->err = n ? -errno : -EIO;
			break;
		}
		from += n;
		len -= (size_t)n;
	}
	tacho_buf_reset(&o->buffer);
}

static void put(struct out *o, const void *p, size_t len)
{
	const char *from = p;

	o->at += len;
	while (len && !o->err) {
		size_t n = BUFFER - o->buffer.len < len ? BUFFER - o->buffer.len : len;

		tacho_buf_put(&o->buffer, from, n);
		o->err = tacho_buf_error(&o->buffer);
		if (o->buffer.len == BUFFER)
			flush(o);
		from += n;
		len -= n;
	}
}

/* Overwrites what was put before. */
static void patch(struct out *o, uint64_t offset, const void *p, size_t len)
{
	const char *from = p;

	flush(o);
	while (len && !o->err) {
		ssize_t n = pwrite(o->fd, from, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			o->err = n ? -errno : -EIO;
			return;
		}
		from += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
}

static void patch_u64(struct out *o, uint64_t offset, uint64_t v)
{
	patch(o, offset, &v, sizeof(v));
}

/* Up to a multiple of the page size. */
static void pad(struct out *o)
{
	static const char zeros[TACHO_DAT_PAGE_MIN];
	size_t page = o->w->spool.page_size;
	size_t len = (size_t)(-o->at & (page - 1));

	for (size_t n; len; len -= n) {
		n = len < sizeof(zeros) ? len : sizeof(zeros);
		put(o, zeros, n);
	}
}

static void add_u16(struct tacho_buf *b, uint16_t v)
{
	tacho_buf_put(b, &v, sizeof(v));
}

static void add_u32(struct tacho_buf *b, uint32_t v)
{
	tacho_buf_put(b, &v, sizeof(v));
}

static void add_u64(struct tacho_buf *b, uint64_t v)
{
	tacho_buf_put(b, &v, sizeof(v));
}

/* With its NUL. */
static void add_string(struct tacho_buf *b, const char *s)
{
	tacho_buf_put(b, s, strlen(s) + 1);
}

/* ---- metadata ---------------------------------------------------------------------- */

/* A text with its length before it. */
static void add_text(struct out *o, struct tacho_buf *b, const struct tacho_buf *text)
{
	if (!o->err)
		o->err = tacho_buf_error(text);
	add_u64(b, text->len);
	tacho_buf_put(b, text->data, text->len);
}

static void header_info(struct out *o, struct tacho_buf *b)
{
	struct tacho_buf text;

	tacho_buf_init(&text, 1024);
	tacho_dat_print_header_page(&text, o->w->spool.page_size,
				    o->w->spool.long_size);
	add_string(b, TACHO_DAT_HEADER_PAGE);
	add_text(o, b, &text);
	tacho_buf_reset(&text);
	tacho_dat_print_header_event(&text);
	add_string(b, TACHO_DAT_HEADER_EVENT);
	add_text(o, b, &text);
	tacho_buf_release(&text);
}

static bool is_ftrace(const struct tacho_dat_entry *e)
{
	return !strcmp(e->system, "ftrace");
}

static void add_format(struct out *o, struct tacho_buf *b,
		       const struct tacho_dat_entry *e)
{
	add_u64(b, e->len);
	tacho_buf_put(b, o->w->catalog.text.data + e->text, e->len);
}

static void ftrace_events(struct out *o, struct tacho_buf *b)
{
	const struct tacho_dat_catalog *c = &o->w->catalog;
	uint32_t n = 0;

	for (size_t i = 0; i < c->nr_entries; i++)
		n += is_ftrace(&c->entry[i]);
	add_u32(b, n);
	for (size_t i = 0; i < c->nr_entries; i++)
		if (is_ftrace(&c->entry[i]))
			add_format(o, b, &c->entry[i]);
}

/* The first entry after those of the system that entry i has. */
static size_t system_end(const struct tacho_dat_catalog *c, size_t i)
{
	size_t end = i;

	while (end < c->nr_entries && !strcmp(c->entry[end].system,
					      c->entry[i].system))
		end++;
	return end;
}

static void event_formats(struct out *o, struct tacho_buf *b)
{
	const struct tacho_dat_catalog *c = &o->w->catalog;
	uint32_t n = 0;

	for (size_t i = 0; i < c->nr_entries; i = system_end(c, i))
		n += !is_ftrace(&c->entry[i]);
	add_u32(b, n);
	for (size_t i = 0, end; i < c->nr_entries; i = end) {
		end = system_end(c, i);
		if (is_ftrace(&c->entry[i]))
			continue;
		add_string(b, c->entry[i].system);
		add_u32(b, (uint32_t)(end - i));
		for (size_t k = i; k < end; k++)
			add_format(o, b, &c->entry[k]);
	}
}

static void add_table(struct tacho_buf *b, const struct tacho_buf *text)
{
	add_u32(b, (uint32_t)text->len);
	tacho_buf_put(b, text->data, text->len);
}

static void kallsyms(struct out *o, struct tacho_buf *b)
{
	add_table(b, &o->w->kallsyms);
}

static void printk_formats(struct out *o, struct tacho_buf *b)
{
	add_table(b, &o->w->printk);
}

static void cmdlines(struct out *o, struct tacho_buf *b)
{
	add_u64(b, o->w->cmdlines.len);
	tacho_buf_put(b, o->w->cmdlines.data, o->w->cmdlines.len);
}

static const struct {
	uint16_t id;
	const char *description;
	void (*make)(struct out *o, struct tacho_buf *b);
} blocks[] = {
	{ TACHO_DAT_HEADER_INFO, "headers", header_info },
	{ TACHO_DAT_FTRACE_EVENTS, "ftrace events", ftrace_events },
	{ TACHO_DAT_EVENT_FORMATS, "events format", event_formats },
	{ TACHO_DAT_KALLSYMS, "kallsyms", kallsyms },
	{ TACHO_DAT_PRINTK, "printk", printk_formats },
	{ TACHO_DAT_CMDLINES, "command lines", cmdlines },
};

static void begin(struct out *o)
{
	const uint16_t one = 1;

	put(o, TACHO_DAT_MAGIC, TACHO_DAT_MAGIC_LEN);
	put(o, o->w->version == TACHO_DAT_VERSION_7 ? "7" : "6", 2);
	put(o, &(uint8_t){ *(const uint8_t *)&one != 1 }, 1);
	put(o, &(uint8_t){ (uint8_t)o->w->spool.long_size }, 1);
	put(o, &(uint32_t){ (uint32_t)o->w->spool.page_size }, 4);
}

/* ---- options ----------------------------------------------------------------------- */

static void option(struct out *o, uint16_t id, const void *p, size_t len)
{
	add_u16(&o->options, id);
	add_u32(&o->options, (uint32_t)len);
	tacho_buf_put(&o->options, p, len);
}

static void option_text(struct out *o, uint16_t id, const char *text)
{
	option(o, id, text, strlen(text) + 1);
}

/* Whether readers show the clock's ticks as time of themselves. */
static bool is_ns_clock(const char *clock)
{
	static const char *const names[] = { "local", "global", "uptime", "perf",
					     "tai" };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++)
		if (!strcmp(clock, names[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

/* ns = ticks * mult >> shift, as precise as 32 bits of mult can be. */
static void tsc2nsec(uint64_t freq, uint32_t *mult, uint32_t *shift)
{
	u128 m = TACHO_NS_PER_S;

	*shift = 0;
	if (freq == TACHO_NS_PER_S) {
		*mult = 1;
		return;
	}
	while (*shift < SHIFT_MAX &&
	       ((m << (*shift + 1)) + freq / 2) / freq <= UINT32_MAX)
		++*shift;
	m = ((m << *shift) + freq / 2) / freq;
	*mult = m > UINT32_MAX ? UINT32_MAX : (uint32_t)m;
}

/*
 * Times.  DATE has microseconds only, and mult is rounded: what is missing at the
 * first record is added as OFFSET, so that its time is right to the
 * nanosecond, and later ones' to 2^-32 of the distance from it.  tacho itself reads them by the
 * clock that own.h tells.
 */
static void time_options(struct out *o)
{
	const struct tacho_dat_writer *w = o->w;
	int64_t base = (int64_t)w->map.base, date, offset;
	uint32_t scale[4] = { 0 };
	uint64_t ns = w->first;
	char text[32];

	if (w->map.freq != TACHO_NS_PER_S || !is_ns_clock(w->clock)) {
		tsc2nsec(w->map.freq, &scale[0], &scale[1]);
		option(o, TACHO_DAT_TSC2NSEC, scale, sizeof(scale));
		ns = (uint64_t)(((u128)ns * scale[0]) >> scale[1]);
	}
	date = base / 1000 - (base % 1000 < 0);
	offset = (int64_t)(tacho_clock_ns(&w->map, w->first) - ns) - date * 1000;
	(void)snprintf(text, sizeof(text), "%" PRId64, date);
	if (date)
		option_text(o, TACHO_DAT_DATE, text);
	(void)snprintf(text, sizeof(text), "%" PRId64, offset);
	if (offset)
		option_text(o, TACHO_DAT_OFFSET, text);
	(void)snprintf(text, sizeof(text), "[%.23s]", w->clock);
	option_text(o, TACHO_DAT_TRACECLOCK, text);
}

/* As the kernel's per_cpu/cpuN/stats, which trace-cmd puts here. */
static void cpu_option(struct out *o, const struct tacho_dat_lane *l,
		       uint32_t cpu)
{
	const struct tacho_clock_map *m = &o->w->map;
	uint64_t oldest = tacho_clock_ns(m, l->first) - m->base;
	uint64_t now = tacho_clock_ns(m, l->last) - m->base;
	struct tacho_buf b;

	tacho_buf_init(&b, 1024);
	tacho_buf_printf(&b, "CPU: %u\nentries: %" PRIu64 "\noverrun: %" PRIu64
		"\ncommit overrun: 0\nbytes: %" PRIu64 "\n", cpu, l->events,
		l->lost, l->size);
	tacho_buf_printf(&b, "oldest event ts: %5" PRIu64 ".%06" PRIu64
		"\nnow ts: %5" PRIu64 ".%06" PRIu64 "\n",
		oldest / TACHO_NS_PER_S, oldest % TACHO_NS_PER_S / 1000,
		now / TACHO_NS_PER_S, now % TACHO_NS_PER_S / 1000);
	tacho_buf_printf(&b, "dropped events: 0\nread events: %" PRIu64 "\n",
			 l->events);
	if (tacho_buf_error(&b) && !o->err)
		o->err = tacho_buf_error(&b);
	option_text(o, TACHO_DAT_CPUSTAT, tacho_buf_str(&b));
	tacho_buf_release(&b);
}

/* Which CPU a lane is in the file: one that is not known comes last. */
static uint32_t cpu_of(const struct out *o, const struct tacho_dat_lane *l)
{
	return l->cpu == UINT32_MAX ? o->nr_cpus - 1 : l->cpu;
}

static void own_option(struct out *o)
{
	const struct tacho_dat_catalog *c = &o->w->catalog;
	struct tacho_buf text;

	tacho_buf_init(&text, (size_t)64 << 20);
	tacho_dat_own_begin(&o->w->map, &text);
	for (size_t i = 0; i < c->nr_entries; i++) {
		const struct tacho_dat_entry *e = &c->entry[i];

		if (e->program || strcmp(e->name, e->plain))
			tacho_dat_own_put(e->id, e->program, e->name, &text);
	}
	tacho_buf_put(&text, o->w->tasks.data, o->w->tasks.len);
	if (tacho_buf_error(&text))
		o->err = tacho_buf_error(&text);
	option(o, TACHO_DAT_OWN, text.data, text.len);
	tacho_buf_release(&text);
}

static void common_options(struct out *o)
{
	const struct tacho_dat_writer *w = o->w;

	time_options(o);
	if (w->uname)
		option_text(o, TACHO_DAT_UNAME, w->uname);
	option_text(o, TACHO_DAT_VERSION, "tacho " TACHO_VERSION);
	if (w->trace_id)
		option(o, TACHO_DAT_TRACEID, &w->trace_id, sizeof(w->trace_id));
	for (size_t i = 0; i < w->spool.nr_lanes; i++)
		cpu_option(o, &w->spool.lane[i], cpu_of(o, &w->spool.lane[i]));
	option(o, TACHO_DAT_CPUCOUNT, &o->nr_cpus, 4);
	own_option(o);
}

/* ---- pages --------------------------------------------------------------------------- */

static void flush_chunk(struct out *o)
{
	const void *packed;
	uint32_t sizes[2];
	size_t len;

	if (!o->chunk.len || o->err)
		return;
	packed = tacho_dat_pack(o->packer, o->chunk.data, o->chunk.len, &len);
	if (!packed) {
		o->err = -ENOMEM;
		return;
	}
	sizes[0] = (uint32_t)len;
	sizes[1] = (uint32_t)o->chunk.len;
	put(o, sizes, sizeof(sizes));
	put(o, packed, len);
	o->nr_chunks++;
	tacho_buf_reset(&o->chunk);
}

static int put_pages(void *arg, const void *pages, size_t len)
{
	struct out *o = arg;

	if (!o->packer) {
		put(o, pages, len);
		return o->err;
	}
	tacho_buf_put(&o->chunk, pages, len);
	if (tacho_buf_error(&o->chunk))
		o->err = tacho_buf_error(&o->chunk);
	else if (o->chunk.len >= CHUNK)
		flush_chunk(o);
	return o->err;
}

/* Each CPU's data, with or without compression, and where it went. */
static void put_regions(struct out *o)
{
	struct tacho_dat_spool *s = &o->w->spool;

	for (size_t i = 0; i < s->nr_lanes && !o->err; i++) {
		struct region *r = &o->region[cpu_of(o, &s->lane[i])];

		pad(o);
		r->offset = o->at;
		if (!s->lane[i].nr_runs)
			continue;
		o->nr_chunks = 0;
		if (o->packer)
			put(o, &o->nr_chunks, 4);
		o->err = tacho_dat_spool_read(s, &s->lane[i], put_pages, o);
		if (o->packer) {
			flush_chunk(o);
			patch(o, r->offset, &o->nr_chunks, 4);
		}
		r->size = o->at - r->offset;
	}
}

static int count_cpus(struct out *o)
{
	const struct tacho_dat_spool *s = &o->w->spool;
	bool unknown = false;

	for (size_t i = 0; i < s->nr_lanes; i++) {
		uint32_t cpu = s->lane[i].cpu;

		unknown |= cpu == UINT32_MAX;
		if (cpu != UINT32_MAX && cpu >= o->nr_cpus)
			o->nr_cpus = cpu + 1;
	}
	o->nr_cpus += unknown || !o->nr_cpus;
	o->region = calloc(o->nr_cpus, sizeof(*o->region));
	return o->region ? 0 : -ENOMEM;
}

/* ---- version 6 ------------------------------------------------------------------------ */

static void put_clock(struct out *o)
{
	char text[32];
	uint64_t n = (uint64_t)snprintf(text, sizeof(text), "[%.23s]\n",
					o->w->clock);

	put(o, &n, sizeof(n));
	put(o, text, (size_t)n);
}

static void put_block(struct out *o, struct tacho_buf *b)
{
	if (tacho_buf_error(b) && !o->err)
		o->err = tacho_buf_error(b);
	put(o, b->data, b->len);
	tacho_buf_reset(b);
}

static void assemble_6(struct out *o)
{
	uint64_t table;

	begin(o);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(blocks); i++) {
		blocks[i].make(o, &o->block);
		put_block(o, &o->block);
	}
	put(o, &o->nr_cpus, 4);
	common_options(o);
	add_u16(&o->options, TACHO_DAT_DONE);
	put(o, TACHO_DAT_OPTIONS, TACHO_DAT_WORD_LEN);
	put_block(o, &o->options);
	put(o, TACHO_DAT_FLYRECORD, TACHO_DAT_WORD_LEN);
	table = o->at;
	put(o, o->region, o->nr_cpus * sizeof(*o->region));
	put_clock(o);
	put_regions(o);
	patch(o, table, o->region, o->nr_cpus * sizeof(*o->region));
}

/* ---- version 7 ------------------------------------------------------------------------ */

static void section_head(struct out *o, uint16_t id, bool packed,
			 const char *description, uint64_t size)
{
	const uint16_t head[2] = { id, packed ? TACHO_DAT_COMPRESSED : 0 };
	uint32_t where = (uint32_t)o->strings.len;

	add_string(&o->strings, description);
	put(o, head, sizeof(head));
	put(o, &where, sizeof(where));
	put(o, &size, sizeof(size));
}

/* A section of what is in the block; an option that points to it. */
static void put_section(struct out *o, uint16_t id, const char *description)
{
	const void *packed = NULL;
	uint64_t where = o->at;
	uint32_t sizes[2];
	size_t len = 0;

	if (tacho_buf_error(&o->block) && !o->err)
		o->err = tacho_buf_error(&o->block);
	if (o->packer && !o->err)
		packed = tacho_dat_pack(o->packer, o->block.data, o->block.len, &len);
	if (o->packer && !packed && !o->err)
		o->err = -ENOMEM;
	if (packed) {
		sizes[0] = (uint32_t)len;
		sizes[1] = (uint32_t)o->block.len;
		section_head(o, id, true, description, len + sizeof(sizes));
		put(o, sizes, sizeof(sizes));
		put(o, packed, len);
		tacho_buf_reset(&o->block);
	} else {
		section_head(o, id, false, description, o->block.len);
		put_block(o, &o->block);
	}
	option(o, id, &where, sizeof(where));
}

static void buffer_option(struct out *o, uint64_t section)
{
	struct tacho_buf *b = &o->block;

	add_u64(b, section);
	add_string(b, "");
	add_string(b, o->w->clock);
	add_u32(b, (uint32_t)o->w->spool.page_size);
	add_u32(b, o->nr_cpus);
	for (uint32_t cpu = 0; cpu < o->nr_cpus; cpu++) {
		add_u32(b, cpu);
		add_u64(b, o->region[cpu].offset);
		add_u64(b, o->region[cpu].size);
	}
	option(o, TACHO_DAT_BUFFER, b->data, b->len);
	tacho_buf_reset(b);
}

static void put_buffer_section(struct out *o)
{
	uint64_t section = o->at;

	section_head(o, TACHO_DAT_BUFFER, o->packer, "flyrecord", 0);
	put_regions(o);
	/* the header's last word is the size of what follows it */
	patch_u64(o, section + TACHO_DAT_SECTION_LEN - 8,
		  o->at - section - TACHO_DAT_SECTION_LEN);
	buffer_option(o, section);
}

static void assemble_7(struct out *o)
{
	const char *name, *version;
	uint64_t where, options;

	o->packer = tacho_dat_packer_new();
	if (!o->packer && tacho_dat_pack_version()[0])
		o->err = -ENOMEM;
	name = o->packer ? tacho_dat_pack_name : "none";
	version = o->packer ? tacho_dat_pack_version() : "";
	begin(o);
	put(o, name, strlen(name) + 1);
	put(o, version, strlen(version) + 1);
	where = o->at;
	put(o, &where, sizeof(where));
	common_options(o);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(blocks); i++) {
		blocks[i].make(o, &o->block);
		put_section(o, blocks[i].id, blocks[i].description);
	}
	put_buffer_section(o);
	options = o->at;
	option(o, TACHO_DAT_DONE, &(uint64_t){ 0 }, sizeof(uint64_t));
	section_head(o, TACHO_DAT_DONE, false, "options", o->options.len);
	put_block(o, &o->options);
	/* the last description is that of the descriptions */
	section_head(o, TACHO_DAT_STRINGS, false, "strings",
		     o->strings.len + sizeof("strings"));
	put_block(o, &o->strings);
	patch_u64(o, where, options);
}

int tacho_dat_assemble(struct tacho_dat_writer *w, int fd, uint64_t *bytes)
{
	struct out o = { .w = w, .fd = fd };

	tacho_buf_init(&o.buffer, BUFFER);
	tacho_buf_init(&o.block, BLOCK_MAX);
	tacho_buf_init(&o.options, BLOCK_MAX);
	tacho_buf_init(&o.strings, BUFFER);
	tacho_buf_init(&o.chunk, 2 * CHUNK + ((size_t)1 << 17));
	tacho_dat_catalog_sort(&w->catalog);
	o.err = count_cpus(&o);
	if (!o.err && w->version == TACHO_DAT_VERSION_7)
		assemble_7(&o);
	else if (!o.err)
		assemble_6(&o);
	flush(&o);
	*bytes = o.at;
	tacho_dat_packer_free(o.packer);
	tacho_buf_release(&o.buffer);
	tacho_buf_release(&o.block);
	tacho_buf_release(&o.options);
	tacho_buf_release(&o.strings);
	tacho_buf_release(&o.chunk);
	free(o.region);
	return o.err;
}
