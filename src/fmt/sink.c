// SPDX-License-Identifier: MIT
/* The table of output formats, and what is the same for all of them. */
#include "fmt/sink.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fmt/lkst/record.h"

/* The first one is for names without an extension that is known. */
static const struct tacho_sink_format *const formats[] = {
	&tacho_sink_ctf, &tacho_sink_dat, &tacho_sink_dat7, &tacho_sink_kev,
	&tacho_sink_lkst,
	&tacho_sink_ltt, &tacho_sink_ltt32, &tacho_sink_ltt_swap, &tacho_sink_ltt32_swap,
	&tacho_sink_ltt_full,
	&tacho_sink_text, &tacho_sink_json,
};

const struct tacho_sink_format *tacho_sink_format_at(size_t index)
{
	return index < TACHO_ARRAY_SIZE(formats) ? formats[index] : NULL;
}

const struct tacho_sink_format *tacho_sink_format_named(const char *name, struct tacho_diag *d)
{
	char list[160] = "";

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(formats); i++) {
		if (!strcmp(name, formats[i]->name))
			return formats[i];
		(void)snprintf(list + strlen(list), sizeof(list) - strlen(list),
			       "%s%s", i ? ", " : "", formats[i]->name);
	}
	tacho_diag(d, -EINVAL, 0, "'%.40s' is not one of %s", name, list);
	return NULL;
}

/* Whether the list, " .a .b ", has the word of n characters. */
static bool has_word(const char *list, const char *word, size_t n)
{
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if (at > list && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

const struct tacho_sink_format *tacho_sink_format_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const char *dot = strrchr(file, '.');

	/* ".dat" alone is a name, and no extension */
	for (size_t i = 0; dot && dot > file && i < TACHO_ARRAY_SIZE(formats); i++)
		if (has_word(formats[i]->extensions, dot, strlen(dot)))
			return formats[i];
	return formats[0];
}

/* ---- where it goes ------------------------------------------------------------------- */

/* Whether the directory is there and holds anything; -errno: it cannot be looked at. */
static int occupied(const char *path)
{
	DIR *list = opendir(path);
	const struct dirent *e;
	bool any = false;

	if (!list && tacho_no_room_here(-errno))
		return -errno;
	if (!list)
		return errno != ENOENT;
	while (!any && (e = readdir(list)))
		any = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(list);
	return any;
}

static int directory_ready(const char *path, struct tacho_diag *d)
{
	int is = occupied(path);

	if (is < 0)
		return tacho_diag(d, is, 0, "cannot open '%s': %s", path, strerror(-is));
	return !is ? 0 : tacho_diag(d, -EEXIST, 0, "'%s' exists and is not empty; name "
				    "another directory", path);
}

int tacho_sink_ready(const struct tacho_sink_format *format, const char *path,
		     struct tacho_diag *d)
{
	struct stat st;

	if (format->directory)
		return directory_ready(path, d);
	if (stat(path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return tacho_diag(d, -EISDIR, 0, "'%s' exists and is not a file; remove it "
				  "or choose another name", path);
	if (S_ISREG(st.st_mode) && st.st_size)
		return tacho_diag(d, -EEXIST, 0, "'%s' exists and is not empty; remove it "
				  "or choose another name", path);
	return 0;
}

/*
 * Checks whether path can be created.  Outputs that can be a pipe are opened and checked by
 * begin().
 */
static int check_path(const struct tacho_sink_format *f, const char *path,
		      struct tacho_diag *d)
{
	bool named = strcmp(path, "-");
	struct stat st;

	if (f->pipe || (named && stat(path, &st)))
		return 0;
	if (!named || !(f->directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return tacho_diag(d, f->directory ? -ENOTDIR : -EISDIR, 0,
				  "'%s' is not a %s, and the format '%s' needs one; choose "
				  "another name", path, f->directory ? "directory" : "file",
				  f->name);
	return tacho_sink_ready(f, path, d);
}

/* ---- times in fields --------------------------------------------------------------- */

/*
 * One clock for all sources, whose frequency says all of it: their ticks can be taken over.
 * Else there is no common tick but the nanosecond.  (A factor of TSC2NSEC is no whole
 * frequency.)
 */
static bool same_clock(const struct tacho_stream *s)
{
	const struct tacho_source *first = tacho_stream_source(s, 0), *next;
	struct tacho_clock_map whole;

	if (!first)
		return false;
	tacho_clock_map_init(&whole, first->clock.freq, 0, first->clock.base);
	for (uint32_t i = 0; (next = tacho_stream_source(s, i)); i++)
		if (next->clock.freq != whole.freq || next->clock.whole != whole.whole ||
		    next->clock.part != whole.part || next->clock.base != whole.base)
			return false;
	return true;
}

/*
 * A record whose fields have times of the trace's clock, which the output's replaces: *r
 * becomes a copy with those of the output's.  Records of LKST alone are such.
 */
static int field_times(struct tacho_sink *sink, struct tacho_record *r)
{
	const struct tacho_source *s = tacho_stream_current(sink->config.stream);
	struct tacho_buf *raw = &sink->field_time.raw;

	if (!s)
		return 0;
	if (r->type != sink->field_time.type) {
		sink->field_time.type = r->type;
		sink->field_time.found = lkst_record_is(r->type);
	}
	if (!sink->field_time.found)
		return 0;
	tacho_buf_reset(raw);
	tacho_buf_put(raw, r->raw, r->len);
	if (tacho_buf_error(raw))
		return tacho_sink_no_memory(sink);
	lkst_record_to_ns((unsigned char *)raw->data, r->len, &s->clock);
	r->raw = raw->data;
	return 0;
}

/* ---- one output -------------------------------------------------------------------- */

int tacho_sink_no_memory(struct tacho_sink *sink)
{
	return tacho_no_memory(&sink->diag);
}

TACHO_COLD
int tacho_sink_failed(struct tacho_sink *sink, int err)
{
	if (!sink->diag.err && err)
		tacho_diag(&sink->diag, err, 0, "cannot write '%s': %s", sink->config.path,
			   strerror(-err));
	return sink->diag.err;
}

static void release(struct tacho_sink *sink)
{
	tacho_buf_release(&sink->field_time.raw);
	free(sink);
}

int tacho_sink_begin(struct tacho_sink **sink, const struct tacho_sink_format *format,
		     const struct tacho_sink_config *config, struct tacho_diag *d)
{
	struct tacho_sink *s;
	int err = check_path(format, config->path, d);

	*sink = NULL;
	if (err)
		return err;
	s = calloc(1, format->size);
	if (!s)
		return tacho_no_memory(d);
	s->format = format;
	s->config = *config;
	s->own_clock = format->clock == TACHO_SINK_INPUT_CLOCK && same_clock(config->stream);
	s->field_time.wanted = !s->own_clock && format->clock != TACHO_SINK_NO_CLOCK;
	tacho_buf_init(&s->field_time.raw, UINT32_MAX);
	err = format->begin(s);
	if (!err) {
		*sink = s;
		return 0;
	}
	err = tacho_sink_failed(s, err);
	tacho_diag(d, err, s->diag.offset, "%s", s->diag.text);
	release(s);
	return err;
}

int tacho_sink_lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	int err = sink->format->lost(sink, r);

	return tacho_unlikely(err) ? tacho_sink_failed(sink, err) : 0;
}

int tacho_sink_text_of(struct tacho_sink *sink, const char *text, size_t len, uint64_t events)
{
	int err = sink->format->text(sink, text, len);

	if (tacho_unlikely(err))
		return tacho_sink_failed(sink, err);
	sink->events += events;
	return 0;
}

int tacho_sink_record_times(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct tacho_record copy = *r;
	int err = field_times(sink, &copy);

	if (err)
		return err;
	err = sink->format->record(sink, &copy);
	if (err)
		return tacho_sink_failed(sink, err);
	sink->events++;
	return 0;
}

int tacho_sink_last_losses(struct tacho_sink *sink)
{
	const struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; !err && (s = tacho_stream_source(sink->config.stream, i)); i++)
		for (uint32_t j = 0; j < s->nr_parts && !err; j++) {
			const struct tacho_part *p = s->part[j];
			struct tacho_record r = {
				.lost = p->lost, .cpu = p->cpu,
				.source = p->stream_id, .ticks = p->last,
				.time = tacho_clock_ns(&s->clock, p->last),
			};

			if (p->lost)
				err = tacho_sink_lost(sink, &r);
		}
	return err;
}

int tacho_sink_end(struct tacho_sink *sink, bool good, struct tacho_sink_written *written,
		   struct tacho_diag *d)
{
	/* what went wrong before counts, and end() begins without an error */
	struct tacho_diag first = sink->diag;
	int err;

	sink->diag = (struct tacho_diag){ 0 };
	good = good && !first.err;
	err = sink->format->end(sink, good);
	if (first.err)
		sink->diag = first;
	err = first.err ? first.err : good && err ? tacho_sink_failed(sink, err) : 0;
	if (err)
		tacho_diag(d, err, sink->diag.offset, "%s", sink->diag.text);
	if (written)
		*written = (struct tacho_sink_written){ sink->events, sink->bytes };
	release(sink);
	return err;
}
