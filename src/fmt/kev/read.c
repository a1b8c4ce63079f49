// SPDX-License-Identifier: MIT
#include "fmt/kev/read.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "fmt/kev/read_priv.h"

/* Slots that are looked at when the file is opened: times and names. */
#define AHEAD_SLOTS	(64u * 1024)
/* A system page is kept as text up to this. */
#define SYSPAGE_MAX	((uint64_t)16 << 10)
/* Records tell 48 bits of time; a step back is a large one, too. */
#define TIME_STEP_MAX	(UINT64_C(1) << 47)

static struct tacho_kev_source *source_of(struct tacho_source *source)
{
	return (struct tacho_kev_source *)source;	/* first member */
}

static int no_memory(struct tacho_kev_source *s)
{
	(void)tacho_source_failed(&s->source, -ENOMEM, "");
	return TACHO_STREAM_ERROR;
}

static void kev_close(struct tacho_source *source)
{
	struct tacho_kev_source *s = source_of(source);

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(s->chunk); i++) {
		free(s->chunk[i].bytes);
		free(s->chunk[i].entry);
	}
	free(s->window);
	tacho_kev_parser_free(s->parser);
	tacho_kev_types_release(&s->types);
	tacho_kev_file_close(&s->file);
	tacho_source_release(source);
	free(s);
}

/* ---- batches -------------------------------------------------------------------- */

/* The next chunk in the order of time within itself. */
static int next_chunk(struct tacho_kev_source *s, struct tacho_kev_chunk *c)
{
	int status;

	do
		status = tacho_kev_fill_chunk(s, c);
	while (status == TACHO_STREAM_RECORD && !c->nr);
	if (status == TACHO_STREAM_RECORD && !s->source.counting &&
	    tacho_kev_sort(c, &s->chunk[s->spare[0]]))
		return no_memory(s);
	return status;
}

/*
 * Brings the next records into the first chunk.  The chunk after it is read as well:
 * what is earlier there goes before.
 */
static int advance(struct tacho_kev_source *s)
{
	struct tacho_kev_chunk *a = &s->chunk[s->first], *b = &s->chunk[s->second];
	int status;
	uint8_t was;

	s->out = 0;
	if (!s->loaded) {
		status = next_chunk(s, a);
		if (status != TACHO_STREAM_RECORD)
			return status;
	} else {
		/* what was second comes next */
		if (!b->nr)
			return TACHO_STREAM_END;
		was = s->first;
		s->first = s->second;
		s->second = was;
		a = &s->chunk[s->first];
		b = &s->chunk[s->second];
	}
	s->loaded = true;
	status = next_chunk(s, b);
	if (status == TACHO_STREAM_ERROR)
		return status;
	if (status == TACHO_STREAM_END) {
		b->nr = 0;
		return TACHO_STREAM_RECORD;
	}
	if (b->entry[0].time < a->entry[a->nr - 1].time) {
		uint8_t c = s->spare[0], d = s->spare[1];

		if (tacho_kev_merge(a, b, &s->chunk[c], &s->chunk[d]))
			return no_memory(s);
		s->spare[0] = s->first;
		s->spare[1] = s->second;
		s->first = c;
		s->second = d;
	}
	return TACHO_STREAM_RECORD;
}

/* Returns the first chunk from entry s->out on, as far as 48-bit times are unambiguous. */
static void hand_out(struct tacho_kev_source *s)
{
	struct tacho_kev_chunk *a = &s->chunk[s->first];
	const struct tacho_kev_entry *e = a->entry;
	uint32_t from = s->out, to = a->nr;

	if (e[to - 1].time - e[from].time >= TIME_STEP_MAX)
		for (to = from + 1; to < a->nr &&
		     e[to].time - e[to - 1].time < TIME_STEP_MAX; )
			to++;
	s->part.pos = a->bytes + e[from].at;
	s->part.end = a->bytes + e[to - 1].at + e[to - 1].size;
	s->part.last = e[from].time;
	s->part.lost += a->lost;
	a->lost = 0;
	s->out = to;
}

/* Counting may begin after records that were read one by one. */
static bool left_over(struct tacho_kev_source *s)
{
	while (s->loaded) {
		uint8_t was = s->first;

		if (s->out < s->chunk[s->first].nr) {
			hand_out(s);
			return true;
		}
		s->chunk[s->first].nr = 0;
		s->loaded = s->chunk[s->second].nr;
		s->first = s->second;
		s->second = was;
		s->out = 0;
	}
	return false;
}

static int count_batch(struct tacho_kev_source *s)
{
	struct tacho_kev_chunk *c = &s->chunk[s->first];
	int status;

	if (left_over(s))
		return TACHO_STREAM_RECORD;
	status = next_chunk(s, c);

	if (status != TACHO_STREAM_RECORD)
		return status;
	s->part.pos = c->bytes;
	s->part.end = c->bytes + c->len;
	s->part.last = 0;
	s->part.lost += c->lost;
	return status;
}

static int kev_fill(struct tacho_source *source, struct tacho_part *part, bool bad)
{
	struct tacho_kev_source *s = source_of(source);
	int status;

	part->pos = part->end = NULL;
	part->limit = UINT64_MAX;
	if (bad && tacho_source_damage(source, s->file.path, s->at,
				       "a record is not one") == TACHO_STREAM_ERROR)
		return TACHO_STREAM_ERROR;
	if (source->counting)
		return count_batch(s);
	while (!s->loaded || s->out == s->chunk[s->first].nr) {
		status = advance(s);
		if (status != TACHO_STREAM_RECORD)
			return status;
	}
	hand_out(s);
	return TACHO_STREAM_RECORD;
}

void tacho_kev_rewind(struct tacho_kev_source *s)
{
	tacho_kev_parser_reset(s->parser);
	/* the file's first one first: others go by it */
	for (uint32_t i = 0, first = (uint32_t)s->first_timed; i < TACHO_KEV_CPUS; i++) {
		uint32_t cpu = (i + first) % TACHO_KEV_CPUS;

		if (s->timed[cpu])
			tacho_kev_parser_seed(s->parser, cpu, s->msb[cpu], s->lsb[cpu]);
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(s->chunk); i++)
		s->chunk[i].nr = 0;
	memset(s->running, 0, sizeof(s->running));
	s->at = s->file.slots;
	s->first = 0;
	s->second = 1;
	s->spare[0] = 2;
	s->spare[1] = 3;
	s->out = 0;
	s->loaded = s->ended = s->whole = false;
	s->sequence = -1;
	s->slots = s->buffers = s->lost = 0;
	s->begin = UINT64_MAX;
	s->end = 0;
	s->told = 0;
	s->source.damaged = 0;
	s->source.counting = false;
	s->part.lost = 0;
}

/* There is no index: the stream passes over what is too early. */
static int kev_seek(struct tacho_source *source, struct tacho_part *part,
		    uint64_t ticks)
{
	(void)part;
	(void)ticks;
	tacho_kev_rewind(source_of(source));
	return 0;
}

/* ---- types ----------------------------------------------------------------------- */

static const struct tacho_type *kev_type(struct tacho_source *source,
					 uint32_t stream_id, uint32_t id)
{
	struct tacho_kev_source *s = source_of(source);
	const struct tacho_type *type;

	if (stream_id != TACHO_STREAM_KERNEL)
		return NULL;
	type = tacho_kev_type(&s->types, id);
	if (type && tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	return type;
}

/* Which codes the file has, one bit each. */
static bool scan_codes(struct tacho_kev_source *s, uint8_t *codes)
{
	size_t room = (size_t)tacho_kev_chunk_slots(&s->file) * TACHO_KEV_SLOT;
	unsigned char *p = malloc(room);
	uint64_t at = s->file.slots;
	long n;

	while (p && (n = tacho_kev_file_read(&s->file, at, p, room)) >=
	       (long)TACHO_KEV_SLOT) {
		for (long i = 0; i < n / (long)TACHO_KEV_SLOT; i++) {
			uint32_t h = tacho_load_u32(p + i * (long)TACHO_KEV_SLOT);
			uint32_t code = TACHO_KEV_CODE(s->file.swap ? bswap_32(h) : h);

			codes[code / 8] |= (uint8_t)(1 << code % 8);
		}
		at += (uint64_t)n;
	}
	free(p);
	return p;
}

static void kev_load_types(struct tacho_source *source)
{
	struct tacho_kev_source *s = source_of(source);
	uint8_t codes[TACHO_KEV_CODES / 8] = { 0 };

	/* after reading all, all types are known */
	if (s->scanned || s->whole)
		return;
	if (!scan_codes(s, codes)) {
		(void)tacho_source_failed(source, -ENOMEM, "types");
		return;
	}
	s->scanned = true;
	for (uint32_t code = 0; code < TACHO_KEV_CODES; code++) {
		const struct tacho_kev_plan *plan;

		if (!(codes[code / 8] >> code % 8 & 1))
			continue;
		plan = tacho_kev_plan(&s->types, code);
		for (int v = 0; plan && v < TACHO_KEV_NR_VARIANTS; v++)
			if (plan->form[v].id)
				(void)tacho_source_type(source, TACHO_STREAM_KERNEL,
							plan->form[v].id);
	}
	(void)tacho_source_type(source, TACHO_STREAM_KERNEL, TACHO_KEV_ID_ORPHAN);
	(void)tacho_source_type(source, TACHO_STREAM_KERNEL, TACHO_KEV_ID_UNFINISHED);
}

/* ---- facts ------------------------------------------------------------------------- */

static int kev_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	struct tacho_kev_source *s = source_of(source);

	info->bytes += s->file.size;
	info->packets += s->buffers;
	info->discarded += s->lost;
	if (!s->whole || s->begin > s->end)
		return 0;
	info->begin = tacho_clock_ns(&source->clock, s->begin);
	info->end = tacho_clock_ns(&source->clock, s->end);
	return 0;
}

static int kev_text(struct tacho_source *source, const char *name,
		    struct tacho_buf *out)
{
	const struct tacho_facts *f = &source->facts;

	if (strcmp(name, "cmdlines"))
		return -ENOENT;
	for (size_t i = 0; i < f->nr_tasks; i++)
		tacho_buf_printf(out, "%d %d %.16s\n", f->task[i].pid,
				 f->task[i].tgid, f->task[i].comm);
	return tacho_buf_error(out);
}

static const struct tacho_source_ops kev_ops = {
	.format = "kev",
	.close = kev_close,
	.fill = kev_fill,
	.seek = kev_seek,
	.type = kev_type,
	.load_types = kev_load_types,
	.info = kev_info,
	.text = kev_text,
};

/* ---- opening --------------------------------------------------------------------- */

static int set_fact(struct tacho_kev_source *s, const char *name, const char *key)
{
	uint32_t len;
	const char *v = tacho_kev_attr(&s->file, key, &len);

	if (!v || !len || len > 4096 || memchr(v, '\0', len))
		return 0;
	return tacho_facts_set(&s->source.facts, name, strlen(name), v, len);
}

/* The header as text of one line: what is not printable as \xHH. */
static int header_fact(struct tacho_kev_source *s)
{
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, 4 * TACHO_KEV_HEAD_MAX);
	for (size_t i = 0; i < s->file.head.len; i++) {
		unsigned char c = (unsigned char)s->file.head.data[i];

		if (c < 0x20 || c >= 0x7f || c == '\\' || c == '"')
			tacho_buf_printf(&b, "\\x%02x", c);
		else
			tacho_buf_putc(&b, (char)c);
	}
	err = tacho_buf_error(&b);
	/* a longer one is no fact for a trace's environment */
	if (!err && b.len && b.len <= 65536)
		err = tacho_facts_set(&s->source.facts, "kev_header", 10, b.data, b.len);
	tacho_buf_release(&b);
	return err;
}

static int syspage_fact(struct tacho_kev_source *s)
{
	unsigned char page[4096];
	uint64_t done = 0;
	struct tacho_buf b;
	int err = 0;

	if (!s->file.syspage_len || s->file.syspage_len > SYSPAGE_MAX)
		return 0;
	tacho_buf_init(&b, 2 * (size_t)SYSPAGE_MAX + 1);
	while (done < s->file.syspage_len) {
		uint64_t left = s->file.syspage_len - done;
		long n = tacho_kev_file_read(&s->file, s->file.syspage + done, page,
					     left < sizeof(page) ? (size_t)left :
								   sizeof(page));
		if (n <= 0)
			break;
		for (long i = 0; i < n; i++)
			tacho_buf_put_hex(&b, page[i], 2);
		done += (uint64_t)n;
	}
	if (done == s->file.syspage_len)
		err = tacho_facts_set(&s->source.facts, "kev_syspage", 11, b.data, b.len);
	tacho_buf_release(&b);
	return err;
}

static int set_facts(struct tacho_kev_source *s)
{
	const char *const pairs[][2] = {
		{ "sysname", "SYSNAME" }, { "hostname", "NODENAME" },
		{ "machine", "MACHINE" }, { "cpus", "CPU_NUM" },
		/* of a Linux trace SYS_RELEASE only says whose numbers events have */
		{ "release", s->threads ? "SYS_VERSION" : "SYS_RELEASE" },
		{ "version", s->threads ? "" : "SYS_VERSION" },
	};
	static const char tracer[] = "tracelogger";
	uint32_t len;
	int err = 0;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(pairs) && !err; i++)
		err = set_fact(s, pairs[i][0], pairs[i][1]);
	if (!err && tacho_kev_attr(&s->file, "TRACELOGGER_ARGS", &len))
		err = tacho_facts_set(&s->source.facts, "tracer_name", 11, tracer,
				      strlen(tracer));
	if (!err && !s->file.bare)
		err = header_fact(s);
	return err ? err : syspage_fact(s);
}

/* "Wed Jun 24 10:52:58 2009", of no known zone: taken for UTC. */
static bool parse_date(const char *v, uint32_t len, uint64_t *seconds)
{
	struct tm tm = { .tm_isdst = 0 };
	char text[32];
	time_t t;

	if (!v || len >= sizeof(text))
		return false;
	memcpy(text, v, len);
	text[len] = '\0';
	if (!strptime(text, "%a %b %d %H:%M:%S %Y", &tm))
		return false;
	t = timegm(&tm);
	*seconds = (uint64_t)t;
	return t > 0;
}

/*
 * When the cycles were 0: what tacho wrote, or when the machine was booted.
 */
static void set_clock(struct tacho_kev_source *s)
{
	uint64_t ns = 0, seconds;
	uint32_t len;
	const char *boot = tacho_kev_attr(&s->file, "BOOT_DATE", &len);

	if (!tacho_kev_attr_number(&s->file, "TACHO_REALTIME", &ns) &&
	    parse_date(boot, len, &seconds))
		ns = seconds * TACHO_NS_PER_S;
	tacho_clock_map_init(&s->source.clock, s->file.freq, 0, ns);
}

/* The first TIME event of each CPU, and names: what is needed before its event. */
static void look_ahead(struct tacho_kev_source *s)
{
	struct tacho_kev_parser *p = tacho_kev_parser_new(s->file.swap);
	const uint32_t all = tacho_kev_chunk_slots(&s->file);
	size_t room = (size_t)(all < AHEAD_SLOTS ? all : AHEAD_SLOTS) * TACHO_KEV_SLOT;
	unsigned char *slots = malloc(room);
	struct tacho_kev_event ev;
	long n = p && slots ? tacho_kev_file_read(&s->file, s->file.slots, slots, room) : 0;

	if (!p || !slots)
		(void)no_memory(s);
	for (long i = 0; i + (long)TACHO_KEV_SLOT <= n; i += (long)TACHO_KEV_SLOT) {
		uint32_t cpu, code;

		if (!tacho_kev_parse(p, slots + i, 0, &ev) ||
		    ev.kind != TACHO_KEV_WHOLE)
			continue;
		code = TACHO_KEV_CODE(ev.header);
		cpu = TACHO_KEV_CPU(ev.header);
		tacho_kev_take_name(s, &ev);
		if (code != TACHO_KEV_TIME || ev.words != 2 || s->timed[cpu])
			continue;
		s->timed[cpu] = true;
		s->msb[cpu] = (uint32_t)(ev.time >> 32);
		s->lsb[cpu] = ev.stamp;
		if (s->first_timed < 0)
			s->first_timed = (int)cpu;
	}
	if (p && p->no_memory)
		(void)no_memory(s);
	free(slots);
	tacho_kev_parser_free(p);
}

/* A slot says its CPU, so all are one part: see record.h. */
static void take_cpu(struct tacho_part *part)
{
	part->cpu = part->pos[11];
	part->pos[11] = 0;
}

static int load(struct tacho_kev_source *s, const char *path, const void *data,
		size_t len, struct tacho_diag *d)
{
	uint32_t n;
	const char *threads;
	int err = tacho_kev_file_open(&s->file, path, data, len, d);

	if (err)
		return err;
	threads = tacho_kev_attr(&s->file, "TACHO_THREADS", &n);
	s->threads = threads && n == 3 && !memcmp(threads, "tid", 3);
	s->parser = tacho_kev_parser_new(s->file.swap);
	err = tacho_kev_types_init(&s->types, s->file.release);
	if (!err)
		err = s->parser ? set_facts(s) : -ENOMEM;
	if (!err)
		err = tacho_source_add_part(&s->source, &s->part);
	if (err)
		return tacho_diag(d, err, 0, "out of memory");
	s->part.stream_id = TACHO_STREAM_KERNEL;
	s->part.cpu = UINT32_MAX;
	s->part.prepare = take_cpu;
	set_clock(s);
	s->first_timed = -1;
	look_ahead(s);
	tacho_kev_rewind(s);
	return 0;
}

static int open_any(struct tacho_source **source, const char *path,
		    const void *data, size_t len, unsigned int flags,
		    struct tacho_diag *d)
{
	struct tacho_kev_source *s = calloc(1, sizeof(*s));
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	tacho_source_init(&s->source, &kev_ops, flags);
	s->source.seeks_by_reading = true;
	s->source.arena = &s->types.arena;
	s->file.fd = -1;
	err = load(s, path, data, len, d);
	if (err) {
		kev_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

int tacho_kev_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, path, NULL, 0, flags, d);
}

int tacho_kev_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, "memory", data ? data : "", len, flags, d);
}

bool tacho_kev_sniff(const struct tacho_sniff *p)
{
	return p->type == S_IFREG && tacho_kev_begins(p->head, p->len);
}

const struct tacho_kev_file *tacho_kev_source_file(const struct tacho_source *source)
{
	return source && source->ops == &kev_ops ?
	       &((const struct tacho_kev_source *)source)->file : NULL;
}
