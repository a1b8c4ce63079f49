// SPDX-License-Identifier: MIT
#include "fmt/ltt/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/text.h"
#include "fmt/ltt/sidecar.h"
#include "fmt/ltt/part.h"

#define FILES_MAX	4096

/* Windows of all parts together take about this much. */
#define WINDOWS_MAX	((size_t)16 << 20)
#define WINDOW_MAX	((size_t)256 << 10)
#define TYPES_MAX	((size_t)64 << 20)

static struct tacho_ltt_source *source_of(struct tacho_source *source)
{
	return (struct tacho_ltt_source *)source;	/* first member */
}

static struct tacho_ltt_part *part_of(struct tacho_part *part)
{
	return (struct tacho_ltt_part *)part;		/* first member */
}

/* ---- parts --------------------------------------------------------------------------- */

static void part_idle(struct tacho_ltt_part *p)
{
	free(p->window);
	free(p->out);
	free(p->index);
	p->window = p->out = NULL;
	p->index = NULL;
	p->buf = NULL;
	p->window_len = p->window_room = 0;
	p->nr_index = p->room_index = p->at_index = 0;
}

static void part_free(struct tacho_ltt_part *p)
{
	part_idle(p);
	tacho_ltt_file_release(&p->file);
	tacho_buf_release(&p->fragments.text);
	free(p);
}

static void part_rewind(struct tacho_ltt_part *p)
{
	part_idle(p);
	p->next = 0;
	p->pid = -1;
	p->timed = false;
	p->clock = (struct tacho_ltt_clock){ 0 };
	p->cpu = p->part.cpu;
	tacho_buf_reset(&p->fragments.text);
}

/* Fills the batch.  END: there was nothing more. */
static int make_batch(struct tacho_ltt_source *s, struct tacho_ltt_part *p,
		      struct tacho_ltt_batch *b)
{
	int status;

	for (;;) {
		if (p->buf) {
			status = tacho_ltt_walk(s, p, b);
			if (status == TACHO_STREAM_AGAIN)
				return TACHO_STREAM_RECORD;
			if (status != TACHO_STREAM_RECORD)
				return status;
		}
		status = tacho_ltt_open_buffer(s, p);
		if (status == TACHO_STREAM_END && b->len)
			return TACHO_STREAM_RECORD;
		if (status != TACHO_STREAM_RECORD)
			return status;
	}
}

/* The types that a file declares, anywhere in it. */
static void scan_part(struct tacho_ltt_source *s, struct tacho_ltt_part *p)
{
	part_rewind(p);
	while (tacho_ltt_open_buffer(s, p) == TACHO_STREAM_RECORD && p->window_len)
		if (p->buf && tacho_ltt_walk_types(s, p) != TACHO_STREAM_RECORD)
			break;
	part_rewind(p);
}

/* Damage is reported when it is read, not here. */
static void scan(struct tacho_ltt_source *s)
{
	struct tacho_source before = s->source;

	s->source.report = NULL;
	s->source.flags = 0;
	for (uint32_t i = 0; i < s->source.nr_parts; i++)
		scan_part(s, part_of(s->source.part[i]));
	s->source.report = before.report;
	s->source.flags = before.flags;
	s->source.damaged = before.damaged;
	s->source.diag = before.diag;
	s->scanned = true;
}

/* The others are read all the same. */
static int tell_bad_files(struct tacho_ltt_source *s)
{
	int status = TACHO_STREAM_RECORD;

	for (; s->nr_bad_files && status == TACHO_STREAM_RECORD; s->nr_bad_files--)
		status = tacho_source_damage(&s->source, "a file of the directory",
					     s->bad_file.offset, s->bad_file.text);
	return status;
}

static int ltt_fill(struct tacho_source *source, struct tacho_part *part, bool bad)
{
	struct tacho_ltt_source *s = source_of(source);
	struct tacho_ltt_part *p = part_of(part);
	struct tacho_ltt_batch b;
	int status;

	(void)bad;	/* what we make is whole */
	if (!s->begun && tell_bad_files(s) == TACHO_STREAM_ERROR)
		return TACHO_STREAM_ERROR;
	/* of what a flight recorder kept, an event may stand before what it is */
	if (!s->begun && !s->scanned && part_of(source->part[0])->file.flight)
		scan(s);
	s->begun = true;
	if (!p->out)
		p->out = malloc(LTT_OUT_ROOM + LTT_OUT_MORE);
	if (!p->out) {
		(void)tacho_no_memory(&source->diag);
		return TACHO_STREAM_ERROR;
	}
	b = (struct tacho_ltt_batch){ .out = p->out, .cpu = p->cpu };
	status = make_batch(s, p, &b);
	if (status != TACHO_STREAM_RECORD) {
		part->pos = part->end = NULL;
		part_idle(p);
		p->next = p->file.size;
		return status;
	}
	part->pos = b.out;
	part->end = b.out + b.len;
	part->last = b.first;
	part->limit = b.last;
	part->cpu = b.cpu;
	part->stream_id = b.stream_id;
	if (!p->first || b.first < p->first)
		p->first = b.first;
	if (b.last > p->last)
		p->last = b.last;
	return status;
}

/*
 * To the start in any case: the types of custom events, and which process runs, are
 * known only to those who have read from there on.
 */
static int ltt_seek(struct tacho_source *source, struct tacho_part *part,
		    uint64_t ticks)
{
	(void)source;
	(void)ticks;
	part_rewind(part_of(part));
	return 0;
}

static void ltt_close(struct tacho_source *source)
{
	struct tacho_ltt_source *s = source_of(source);

	for (uint32_t i = 0; i < source->nr_parts; i++)
		part_free(part_of(source->part[i]));
	tacho_ltt_customs_release(&s->customs);
	tacho_arena_release(&s->arena);
	tacho_source_release(source);
	free(s);
}

/* ---- types and facts ----------------------------------------------------------------- */

static const struct tacho_type *ltt_type(struct tacho_source *source,
					 uint32_t stream_id, uint32_t id)
{
	struct tacho_ltt_source *s = source_of(source);
	const struct tacho_type *type;

	if (stream_id != TACHO_STREAM_KERNEL || id < LTT_TYPE_FIRST ||
	    id >= LTT_TYPE_DECLARED)
		return NULL;
	type = tacho_ltt_type(&s->arena, s->layout, s->s390, id);
	if (type && tacho_source_set_type(source, stream_id, id, type))
		return NULL;
	return type;
}

/* Before the first fill(), as all who ask for types do, or not from the files. */
static void ltt_load_types(struct tacho_source *source)
{
	struct tacho_ltt_source *s = source_of(source);

	if (!s->scanned && !s->begun)
		scan(s);
	for (uint32_t i = 0; i < tacho_ltt_nr_events; i++)
		(void)tacho_source_type(source, TACHO_STREAM_KERNEL,
					LTT_TYPE(tacho_ltt_events[i].id,
						 tacho_ltt_events[i].sub));
}

/* The time of the first buffer, and that of what was read after it. */
static void part_times(struct tacho_ltt_part *p, struct tacho_stream_info *info)
{
	unsigned char head[LTT_HEAD + 8];
	size_t at = tacho_ltt_is_22(p->file.layout) ? LTT_22_HEAD : LTT_HEAD;
	uint64_t ns;

	if (tacho_ltt_file_read(&p->file, 0, head, sizeof(head)))
		return;
	ns = (tacho_ltt_u32(&p->file, head + at) * UINT64_C(1000000) +
	      tacho_ltt_u32(&p->file, head + at + 4)) * 1000;
	if (p->first && p->first < ns)
		ns = p->first;
	if (!info->begin || ns < info->begin)
		info->begin = ns;
	if (p->last > info->end)
		info->end = p->last;
	if (ns > info->end)
		info->end = ns;
}

static int ltt_info(struct tacho_source *source, struct tacho_stream_info *info)
{
	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct tacho_ltt_part *p = part_of(source->part[i]);

		part_times(p, info);
		info->bytes += p->file.size;
		info->packets += (p->file.size + p->file.buffer_size - 1) /
				 p->file.buffer_size;
	}
	return 0;
}

static int ltt_text(struct tacho_source *source, const char *name,
		    struct tacho_buf *out)
{
	const struct tacho_ltt_part *p = part_of(source->part[0]);

	return p->file.fd < 0 ? -ENOENT :
	       tacho_ltt_sidecar_text(p->file.path, name, out);
}

static const struct tacho_source_ops ltt_ops = {
	.format = "ltt",
	.close = ltt_close,
	.fill = ltt_fill,
	.seek = ltt_seek,
	.type = ltt_type,
	.load_types = ltt_load_types,
	.info = ltt_info,
	.text = ltt_text,
};

static int set_fact(struct tacho_facts *f, const char *name, const char *value)
{
	return tacho_facts_set(f, name, strlen(name), value, strlen(value));
}

static int set_facts(struct tacho_ltt_source *s, const struct tacho_ltt_file *f)
{
	struct tacho_facts *facts = &s->source.facts;
	char arch[16];
	int err;

	(void)snprintf(arch, sizeof(arch), "%u.%u", f->arch, f->variant);
	err = set_fact(facts, "tracer_name", "LTT");
	if (!err)
		err = set_fact(facts, "ltt_version",
			       tacho_ltt_is_22(f->layout) ? "2.2" : "2.3");
	if (!err)
		err = set_fact(facts, "ltt_layout", tacho_ltt_layout_name(f->layout));
	if (!err && s->also != TACHO_LTT_NR_23)
		err = set_fact(facts, "ltt_layout_also", tacho_ltt_layout_name(s->also));
	if (!err)
		err = set_fact(facts, "ltt_order",
			       f->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
			       "be" : "le");
	if (!err)
		err = set_fact(facts, "ltt_arch", arch);
	if (!err)
		err = set_fact(facts, "clock", f->use_tsc ? "tsc" : "us");
	return err;
}

/* ---- opening ------------------------------------------------------------------------- */

/* The number before ".ltt" or ".trace": x.3.ltt, x003.trace; UINT32_MAX: none. */
static uint32_t cpu_of_name(const char *path)
{
	const char *dot = strrchr(path, '.'), *at = dot;
	uint64_t cpu;

	while (at && at > path && dot - at < 5 && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return !at || tacho_scan_digits(&at, dot, 10, UINT32_MAX, &cpu) ? UINT32_MAX :
									  (uint32_t)cpu;
}

/* Adds an open file as a part; it is the source's, also when that fails. */
static int add_part(struct tacho_ltt_source *s, const struct tacho_ltt_file *f,
		    const struct tacho_ltt_fit *fit)
{
	struct tacho_ltt_part *p = calloc(1, sizeof(*p));
	uint32_t named = cpu_of_name(f->path);

	if (!p || tacho_source_add_part(&s->source, &p->part)) {
		struct tacho_ltt_file gone = *f;

		free(p);
		tacho_ltt_file_release(&gone);
		return -ENOMEM;
	}
	p->file = *f;
	p->fit = *fit;
	tacho_buf_init(&p->fragments.text, LTT_FRAGMENTS_MAX);
	/* START has 8 bits for it; 2.2 has none */
	p->part.cpu = f->cpu;
	if (named != UINT32_MAX && (f->cpu == UINT32_MAX || (named & 0xff) == f->cpu))
		p->part.cpu = named;
	p->part.stream_id = TACHO_STREAM_KERNEL;
	part_rewind(p);
	return 0;
}

static int other_layout(const struct tacho_ltt_file *f, const struct tacho_ltt_file *first,
			struct tacho_diag *d)
{
	return tacho_diag(d, -EINVAL, 0, "'%s' is laid out in another way than '%s': they are "
			  "not of one trace", f->path, first->path);
}

static int add_file(struct tacho_ltt_source *s, const char *path, const void *data,
		    size_t len, struct tacho_diag *d)
{
	const struct tacho_ltt_file *first;
	struct tacho_ltt_fit fit = { 0 };
	struct tacho_ltt_file f;
	int err = tacho_ltt_file_open(&f, path, data, len, d);

	if (err)
		return err;
	first = s->source.nr_parts ? &part_of(s->source.part[0])->file : &f;
	if (f.layout != first->layout || f.swap != first->swap || f.s390 != first->s390) {
		err = other_layout(&f, first, d);
		tacho_ltt_file_release(&f);
		return err;
	}
	if (!tacho_ltt_is_22(f.layout))
		err = tacho_ltt_fit_add(&fit, &f);
	if (err) {
		tacho_diag(d, err, 0, "cannot read '%s': %s", path, strerror(-err));
		tacho_ltt_file_release(&f);
		return err;
	}
	err = add_part(s, &f, &fit);
	return err ? tacho_diag(d, err, 0, "out of memory") : 0;
}

/* A file that is not an LTT file is skipped if others are valid. */
static int add_one(struct tacho_ltt_source *s, const char *path, struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	int err = add_file(s, path, NULL, 0, &why);

	if (err != -EINVAL && err != -ENOTSUP) {
		if (err)
			*d = why;
		return err;
	}
	if (!s->nr_bad_files++)
		s->bad_file = why;
	return 0;
}

/* x.0.ltt; version 2.2 had x000.trace. */
static int is_ltt_name(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return dot && dot > e->d_name && e->d_name[0] != '.' &&
	       (!strcmp(dot, ".ltt") || !strcmp(dot, ".trace"));
}

static int add_dir(struct tacho_ltt_source *s, const char *dir, struct tacho_diag *d)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_ltt_name, versionsort), err = 0;

	if (n < 0)
		return tacho_diag(d, -errno, 0, "cannot read directory '%s': %s", dir,
				  strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		free(list[i]);
		if (!err && i < FILES_MAX)
			err = add_one(s, path, d);
	}
	free(list);
	if (!err && !s->source.nr_parts && s->nr_bad_files) {
		*d = s->bad_file;
		err = d->err;
	}
	if (!err && !s->source.nr_parts)
		err = tacho_diag(d, -ENOENT, 0, "'%s' has no file of LTT", dir);
	return err;
}

/* What the user says; TACHO_LTT_NR_23: nothing. */
static enum tacho_ltt_layout given_layout(unsigned int flags)
{
	return flags & TACHO_STREAM_LTT_64 ? TACHO_LTT_64 :
	       flags & TACHO_STREAM_LTT_32 ? TACHO_LTT_32 :
	       flags & TACHO_STREAM_LTT_TEXT ? TACHO_LTT_PRINTED : TACHO_LTT_NR_23;
}

/* Files of another layout than most are skipped, like files that are not LTT files. */
static void drop_others(struct tacho_ltt_source *s, enum tacho_ltt_layout layout)
{
	uint32_t kept = 0, best = 0;

	while (best + 1 < s->source.nr_parts &&
	       tacho_ltt_fits_better(&part_of(s->source.part[best])->fit, layout))
		best++;
	for (uint32_t i = 0; i < s->source.nr_parts; i++) {
		struct tacho_ltt_part *p = part_of(s->source.part[i]);
		struct tacho_diag why = { 0 };

		if (i == best || !tacho_ltt_fits_better(&p->fit, layout)) {
			s->source.part[kept++] = &p->part;
			continue;
		}
		(void)other_layout(&p->file, &part_of(s->source.part[best])->file, &why);
		if (!s->nr_bad_files++)
			s->bad_file = why;
		part_free(p);
	}
	s->source.nr_parts = kept;
}

/* Of version 2.3: finds the layout of all files. */
static int choose(struct tacho_ltt_source *s, struct tacho_diag *d)
{
	enum tacho_ltt_layout layout = given_layout(s->source.flags);
	struct tacho_ltt_fit all = { 0 };
	int err = 0;

	if (tacho_ltt_is_22(part_of(s->source.part[0])->file.layout))
		return 0;
	for (uint32_t i = 0; i < s->source.nr_parts; i++)
		tacho_ltt_fit_sum(&all, &part_of(s->source.part[i])->fit);
	if (layout == TACHO_LTT_NR_23) {
		err = tacho_ltt_choose(&all, &part_of(s->source.part[0])->file, &layout,
				       &s->also, d);
		if (err)
			return err;
		drop_others(s, layout);
	}
	for (uint32_t i = 0; i < s->source.nr_parts && !err; i++) {
		struct tacho_ltt_part *p = part_of(s->source.part[i]);

		err = tacho_ltt_file_layout(&p->file, layout);
		if (err)
			tacho_diag(d, err, 0, "cannot read '%s': %s", p->file.path,
				   strerror(-err));
	}
	return err;
}

/* What all files have in common. */
static int prepare(struct tacho_ltt_source *s, struct tacho_diag *d)
{
	const struct tacho_ltt_file *f;
	int err;

	s->also = TACHO_LTT_NR_23;
	err = choose(s, d);
	if (err)
		return err;
	f = &part_of(s->source.part[0])->file;
	s->layout = f->layout;
	s->swap = f->swap;
	s->s390 = f->s390;
	s->window_room = WINDOWS_MAX / s->source.nr_parts;
	if (s->window_room > WINDOW_MAX)
		s->window_room = WINDOW_MAX;
	for (uint32_t id = 0; id <= TRACE_MAX; id++)
		tacho_ltt_shape(&s->shape[id], s->layout, s->s390, id);
	tacho_ltt_plans(s);
	err = set_facts(s, f);
	if (!err && f->fd >= 0)
		err = tacho_ltt_sidecar_read(f->path, &s->source.facts);
	if (err)
		return tacho_diag(d, err, 0, "cannot read the sidecar files of '%s': %s",
				  f->path, strerror(-err));
	return 0;
}

static int open_any(struct tacho_source **source, const char *path, const void *data,
		    size_t len, unsigned int flags, bool plain, struct tacho_diag *d)
{
	struct tacho_ltt_source *s = calloc(1, sizeof(*s));
	struct stat st;
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	tacho_source_init(&s->source, &ltt_ops, flags);
	s->source.seeks_by_reading = true;
	tacho_arena_init(&s->arena, TYPES_MAX);
	s->source.arena = &s->arena;
	s->plain = plain;
	if (!data && !stat(path, &st) && S_ISDIR(st.st_mode))
		err = add_dir(s, path, d);
	else
		err = add_file(s, path, data, len, d);
	if (!err)
		err = prepare(s, d);
	if (err) {
		ltt_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

unsigned int tacho_ltt_layout_flag(const char *name)
{
	return !strcmp(name, "64") ? TACHO_STREAM_LTT_64 :
	       !strcmp(name, "32") ? TACHO_STREAM_LTT_32 :
	       !strcmp(name, "text") ? TACHO_STREAM_LTT_TEXT : 0;
}

int tacho_ltt_open(struct tacho_source **source, const char *path,
		   unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, path, NULL, 0, flags, false, d);
}

int tacho_ltt_open_memory(struct tacho_source **source, const void *data,
			  size_t len, unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, "memory", data ? data : "", len, flags, false, d);
}

int tacho_ltt_open_plain(struct tacho_source **source, const char *path,
			 unsigned int flags, struct tacho_diag *d)
{
	return open_any(source, path, NULL, 0, flags, true, d);
}

/* ---- probing ------------------------------------------------------------------------- */

static bool sniff_file(int dir, const char *name)
{
	unsigned char head[LTT_MAGIC_AT + 4] = { 0 };
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return n > 0 && tacho_ltt_magic(head, (size_t)n);
}

bool tacho_ltt_sniff(const struct tacho_sniff *p)
{
	struct dirent *e;
	bool yes = false;
	DIR *dir;

	if (p->type == S_IFREG)
		return tacho_ltt_magic(p->head, p->len);
	dir = p->type == S_IFDIR ? opendir(p->path) : NULL;
	while (dir && !yes && (e = readdir(dir)))
		yes = is_ltt_name(e) && sniff_file(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
	return yes;
}
