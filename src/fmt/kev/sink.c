// SPDX-License-Identifier: MIT
/*
 * A .kev of QNX (fmt/kev/write.h).  Events that came from one become what they were,
 * with the header that was; those of Linux become QNX's by the table of
 * fmt/kev/map_linux.c, or text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fmt/kev/file.h"
#include "fmt/kev/header.h"
#include "fmt/kev/map.h"
#include "fmt/kev/read.h"
#include "fmt/sink.h"

#define SYSPAGE_TEXT_MAX	((size_t)1 << 20)

struct kev_sink {
	struct tacho_sink sink;		/* first */
	struct tacho_kev_writer *w;
	struct tacho_kev_map *map;
	struct tacho_kev_config config;
	enum tacho_kev_release release;
	struct tacho_buf header, syspage;
	bool own;		/* the trace was a .kev */
	bool begun;
};

/* ---- the header -------------------------------------------------------------------- */

static void new_header(struct kev_sink *o)
{
	const struct tacho_stream *s = o->sink.config.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	struct tacho_kev_about about = {
		.file_name = o->sink.config.path, .release = TACHO_KEV_710,
		.sysname = tacho_stream_env(s, "sysname"),
		.nodename = tacho_stream_env(s, "hostname"),
		.version = tacho_stream_env(s, "release"),
		.machine = tacho_stream_env(s, "machine"),
		.freq = TACHO_NS_PER_S, .now = (uint64_t)time(NULL),
		.cpus = tacho_stream_cpus(s), .big = htobe32(1) == 1,
	};

	if (o->sink.own_clock) {
		about.freq = source->clock.freq;
		about.realtime = source->clock.base;
	}
	o->config.big = about.big;
	o->release = about.release;
	tacho_kev_header_make(&o->header, &about);
}

/* Whether the trace was a .kev, and all of it is to be one again. */
static bool old_header(struct kev_sink *o)
{
	const struct tacho_stream *s = o->sink.config.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	const char *header = tacho_stream_env(s, "kev_header");
	const char *page = tacho_stream_env(s, "kev_syspage");
	const struct tacho_kev_file *file = tacho_kev_source_file(source);
	bool bare = file && file->bare;

	o->own = header || bare;
	if (!o->own || !source || tacho_stream_source(s, 1) || !o->sink.own_clock)
		return false;
	if (page && tacho_kev_syspage_again(&o->syspage, page))
		return false;
	if (header && tacho_kev_header_again(&o->header, header, page, &o->config.big,
					     &o->release)) {
		tacho_buf_reset(&o->header);
		return false;
	}
	/* without a header only the slots themselves can be checked */
	if (bare) {
		o->config.big = file->big;
		o->release = TACHO_KEV_710;
	}
	o->config.exact = o->sink.config.all;
	return true;
}

/* ---- begin and end ------------------------------------------------------------------ */

static void release(struct kev_sink *o)
{
	tacho_kev_map_free(o->map);
	tacho_buf_release(&o->header);
	tacho_buf_release(&o->syspage);
}

static int open_writer(struct kev_sink *o)
{
	if (!old_header(o)) {
		tacho_buf_reset(&o->syspage);
		new_header(o);
	}
	if (tacho_buf_error(&o->header) || tacho_buf_error(&o->syspage))
		return tacho_sink_no_memory(&o->sink);
	o->config.header = o->header.data;
	o->config.header_len = o->header.len;
	o->config.syspage = o->syspage.data;
	o->config.syspage_len = o->syspage.len;
	if (tacho_kev_writer_new(&o->w, o->sink.config.path, &o->config, &o->sink.diag))
		return o->sink.diag.err;
	o->map = tacho_kev_map_new(o->w, o->sink.config.stream, o->release, o->config.exact);
	if (o->map)
		return 0;
	(void)tacho_kev_writer_close(o->w, false, NULL, NULL);
	return tacho_sink_no_memory(&o->sink);
}

static struct kev_sink *kev(struct tacho_sink *sink)
{
	return (struct kev_sink *)sink;
}

static int begin(struct tacho_sink *sink)
{
	struct kev_sink *o = kev(sink);
	int err;

	tacho_buf_init(&o->header, TACHO_KEV_HEAD_MAX);
	tacho_buf_init(&o->syspage, SYSPAGE_TEXT_MAX);
	err = open_writer(o);
	if (err)
		release(o);
	return err;
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	return tacho_kev_writer_lost(kev(sink)->w, r->lost, &sink->diag);
}

/* Writes the names of known processes and threads before the first event. */
static int put_tasks(struct kev_sink *o, uint64_t ticks)
{
	struct tacho_facts all;
	int err;

	o->begun = true;
	if (o->own)
		return 0;
	tacho_facts_init(&all);
	err = tacho_stream_tasks(o->sink.config.stream, &all);
	if (err)
		tacho_diag(&o->sink.diag, err, 0, "out of memory");
	else
		err = tacho_kev_map_tasks(o->map, &all, ticks, &o->sink.diag);
	tacho_facts_release(&all);
	return err;
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct kev_sink *o = kev(sink);
	uint64_t ticks = tacho_sink_ticks(sink, r);
	int err = o->begun ? 0 : put_tasks(o, ticks);

	return err ? err : tacho_kev_map_record(o->map, r, ticks, &sink->diag);
}

/* What is not as it was. */
static void remarks(const struct kev_sink *o)
{
	const struct tacho_kev_counts *n = tacho_kev_map_counts(o->map);
	const struct tacho_observer *to = o->sink.config.observer;

	if (n->mapped)
		tacho_observer_note(to, "%" PRIu64 " events of Linux became those of QNX; what these have no field for is left out",
				    n->mapped);
	if (n->text)
		tacho_observer_note(to, "%" PRIu64 " events have no counterpart in QNX: they are text in user events 1022 (the kernel's) and 1023 (a program's)",
				    n->text);
	if (n->cut)
		tacho_observer_note(to, "%" PRIu64 " of the texts are cut at %u bytes", n->cut,
				    TACHO_KEV_TEXT_MAX);
	if (n->cpus)
		tacho_observer_note(to, "%" PRIu64 " events of no CPU from 0 to 63 stand as those of CPU 63",
				    n->cpus);
}

static int end(struct tacho_sink *sink, bool good)
{
	struct kev_sink *o = kev(sink);
	int err = tacho_kev_writer_close(o->w, good, &sink->bytes, &sink->diag);

	sink->events -= tacho_kev_map_counts(o->map)->control;
	if (good && !err)
		remarks(o);
	release(o);
	return err;
}

const struct tacho_sink_format tacho_sink_kev = {
	.name = "kev", .extensions = " .kev ", .size = sizeof(struct kev_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};
