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

#include "cli/cli.h"
#include "cli/convert.h"
#include "fmt/kev/file.h"
#include "fmt/kev/header.h"
#include "fmt/kev/map.h"
#include "fmt/kev/read.h"

#define SYSPAGE_TEXT_MAX	((size_t)1 << 20)

struct kev_out {
	struct cli_convert *c;
	struct tacho_kev_writer *w;
	struct tacho_kev_map *map;
	struct tacho_kev_config config;
	enum tacho_kev_release release;
	struct tacho_buf header, syspage;
	struct tacho_diag d;
	bool own;		/* the trace was a .kev */
	bool begun;
};

/* ---- the header -------------------------------------------------------------------- */

static void new_header(struct kev_out *o)
{
	const struct tacho_stream *s = o->c->trace.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	struct tacho_kev_about about = {
		.file_name = o->c->out, .release = TACHO_KEV_710,
		.sysname = tacho_stream_env(s, "sysname"),
		.nodename = tacho_stream_env(s, "hostname"),
		.version = tacho_stream_env(s, "release"),
		.machine = tacho_stream_env(s, "machine"),
		.freq = TACHO_NS_PER_S, .now = (uint64_t)time(NULL),
		.cpus = tacho_stream_cpus(s), .big = htobe32(1) == 1,
	};

	if (o->c->own_clock) {
		about.freq = source->clock.freq;
		about.realtime = source->clock.base;
	}
	o->config.big = about.big;
	o->release = about.release;
	tacho_kev_header_make(&o->header, &about);
}

/* Whether the trace was a .kev, and all of it is to be one again. */
static bool old_header(struct kev_out *o)
{
	const struct tacho_stream *s = o->c->trace.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	const char *header = tacho_stream_env(s, "kev_header");
	const char *page = tacho_stream_env(s, "kev_syspage");
	const struct tacho_kev_file *file = tacho_kev_source_file(source);
	bool bare = file && file->bare;

	o->own = header || bare;
	if (!o->own || !source || tacho_stream_source(s, 1) || !o->c->own_clock)
		return false;
	if (page && tacho_kev_syspage_again(&o->syspage, page))
		return false;
	if (header && tacho_kev_header_again(&o->header, header, page, &o->config.big,
					     &o->release)) {
		tacho_buf_reset(&o->header);
		return false;
	}
	/* without a header nothing tells but the slots themselves */
	if (bare) {
		o->config.big = file->big;
		o->release = TACHO_KEV_710;
	}
	o->config.exact = o->c->filter.any && !o->c->filter.max &&
			  !o->c->filter.begin.kind && !o->c->filter.end.kind;
	return true;
}

/* ---- begin and end ------------------------------------------------------------------ */

static void release(struct kev_out *o)
{
	tacho_kev_map_free(o->map);
	tacho_buf_release(&o->header);
	tacho_buf_release(&o->syspage);
	free(o);
}

static int open_writer(struct kev_out *o)
{
	struct cli_convert *c = o->c;

	if (!old_header(o)) {
		tacho_buf_reset(&o->syspage);
		new_header(o);
	}
	if (tacho_buf_error(&o->header) || tacho_buf_error(&o->syspage))
		return tacho_diag(&o->d, -ENOMEM, 0, "out of memory");
	o->config.header = o->header.data;
	o->config.header_len = o->header.len;
	o->config.syspage = o->syspage.data;
	o->config.syspage_len = o->syspage.len;
	if (tacho_kev_writer_new(&o->w, c->out, &o->config, &o->d))
		return o->d.err;
	o->map = tacho_kev_map_new(o->w, c->trace.stream, o->release, o->config.exact);
	if (o->map)
		return 0;
	(void)tacho_kev_writer_close(o->w, false, NULL, NULL);
	return tacho_diag(&o->d, -ENOMEM, 0, "out of memory");
}

static int begin(struct cli_convert *c, void **writer)
{
	struct kev_out *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return cli_fail("out of memory");
	o->c = c;
	tacho_buf_init(&o->header, TACHO_KEV_HEAD_MAX);
	tacho_buf_init(&o->syspage, SYSPAGE_TEXT_MAX);
	if (!open_writer(o)) {
		*writer = o;
		return CLI_OK;
	}
	ret = cli_fail_diag(&o->d);
	release(o);
	return ret;
}

static int lost(void *writer, const struct tacho_record *r)
{
	struct kev_out *o = writer;

	return tacho_kev_writer_lost(o->w, r->lost, &o->d) ? cli_fail_diag(&o->d) :
							     CLI_OK;
}

/* Processes and threads, before the first event: whoever is known has a name. */
static int put_tasks(struct kev_out *o, uint64_t ticks)
{
	struct tacho_facts all;
	int err;

	o->begun = true;
	if (o->own)
		return 0;
	tacho_facts_init(&all);
	err = cli_convert_tasks(o->c->trace.stream, &all);
	if (err)
		tacho_diag(&o->d, err, 0, "out of memory");
	else
		err = tacho_kev_map_tasks(o->map, &all, ticks, &o->d);
	tacho_facts_release(&all);
	return err;
}

static int record(void *writer, const struct tacho_record *r)
{
	struct kev_out *o = writer;
	uint64_t ticks = cli_convert_ticks(o->c, r);
	int err = o->begun ? 0 : put_tasks(o, ticks);

	if (!err)
		err = tacho_kev_map_record(o->map, r, ticks, &o->d);
	return err ? cli_fail_diag(&o->d) : CLI_OK;
}

/* What is not as it was. */
static void remarks(const struct kev_out *o)
{
	const struct tacho_kev_counts *n = tacho_kev_map_counts(o->map);

	if (n->mapped)
		cli_note("%" PRIu64 " events of Linux became those of QNX; what these have no field for is left out",
			 n->mapped);
	if (n->text)
		cli_note("%" PRIu64 " events have no counterpart in QNX: they are text in user events 1022 (the kernel's) and 1023 (a program's)",
			 n->text);
	if (n->cut)
		cli_note("%" PRIu64 " of the texts are cut at %u bytes", n->cut,
			 TACHO_KEV_TEXT_MAX);
	if (n->cpus)
		cli_note("%" PRIu64 " events of no CPU from 0 to 63 stand as those of CPU 63",
			 n->cpus);
}

static int end(void *writer, bool good)
{
	struct kev_out *o = writer;
	int err, ret = CLI_OK;

	o->d = (struct tacho_diag){ 0 };	/* that was said */
	err = tacho_kev_writer_close(o->w, good, &o->c->bytes, &o->d);
	if (good && err)
		ret = cli_fail_diag(&o->d);
	o->c->events -= tacho_kev_map_counts(o->map)->control;
	if (good && !err)
		remarks(o);
	release(o);
	return ret;
}

const struct cli_format cli_format_kev = {
	.name = "kev", .extensions = " .kev ",
	.begin = begin, .lost = lost, .record = record, .end = end,
};
