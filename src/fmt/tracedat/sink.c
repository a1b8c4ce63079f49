// SPDX-License-Identifier: MIT
/* A trace.dat (fmt/tracedat/write.h): the kernel's types keep their ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fmt/sink.h"
#include "fmt/tracedat/write.h"

#define TABLE_MAX	((size_t)64 << 20)
#define NAMES_MAX	8u	/* events with another name that a remark names */

struct dat_sink {
	struct tacho_sink sink;		/* first */
	struct tacho_dat_writer *w;
};

static struct dat_sink *dat(struct tacho_sink *sink)
{
	return (struct dat_sink *)sink;
}

/* ---- types ------------------------------------------------------------------------- */

static int announce(struct dat_sink *o, struct tacho_source *s, uint32_t stream_id)
{
	const struct tacho_type_table *t = &s->table[stream_id];
	int err = 0;

	for (uint32_t id = 0; id < t->nr && !err; id++)
		if (t->type[id])
			err = tacho_dat_writer_type(o->w, t->type[id], stream_id,
						    &o->sink.diag);
	return err;
}

/* The kernel's types first: they keep their ids, those of programs follow. */
static int copy_types(struct dat_sink *o)
{
	static const uint32_t order[] = { TACHO_STREAM_KERNEL,
					  TACHO_STREAM_PROGRAM };
	struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; (s = tacho_stream_source(o->sink.config.stream, i)); i++)
		if (s->ops->load_types)
			s->ops->load_types(s);
	for (size_t k = 0; k < TACHO_ARRAY_SIZE(order); k++)
		for (uint32_t i = 0; !err &&
		     (s = tacho_stream_source(o->sink.config.stream, i)); i++)
			err = announce(o, s, order[k]);
	return err;
}

/* ---- records ------------------------------------------------------------------------ */

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	return tacho_dat_writer_lost(dat(sink)->w, r->cpu, r->lost, &sink->diag);
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	return tacho_dat_writer_record(dat(sink)->w, r, tacho_sink_ticks(sink, r),
				       &sink->diag);
}

/* ---- what is not records -------------------------------------------------------------- */

static int copy_tasks(struct dat_sink *o)
{
	struct tacho_facts all;
	struct tacho_buf text;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&text, TABLE_MAX);
	err = tacho_stream_tasks(o->sink.config.stream, &all);
	for (size_t k = 0; k < all.nr_tasks && !err; k++) {
		const struct tacho_fact_task *t = &all.task[k];

		/* 0 is every CPU's idle thread, whose name readers know */
		if (!t->pid || !t->comm[0])
			continue;
		tacho_buf_printf(&text, "%d %.16s\n", t->pid, t->comm);
		if (t->tgid)
			err = tacho_dat_writer_task(o->w, t->pid, t->tgid, &o->sink.diag);
	}
	if (!err)
		err = tacho_buf_error(&text);
	if (err)
		tacho_diag(&o->sink.diag, err, 0, "out of memory");
	else
		err = tacho_dat_writer_text(o->w, "cmdlines", text.data, text.len,
					    &o->sink.diag);
	tacho_buf_release(&text);
	tacho_facts_release(&all);
	return err;
}

static int copy_text(struct dat_sink *o, const char *name)
{
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, TABLE_MAX);
	if (!tacho_stream_text(o->sink.config.stream, name, &text) && text.len)
		err = tacho_dat_writer_text(o->w, name, text.data, text.len, &o->sink.diag);
	tacho_buf_release(&text);
	return err;
}

static int copy_tables(struct dat_sink *o)
{
	int err = copy_tasks(o);

	if (!err)
		err = copy_text(o, "kallsyms");
	if (!err)
		err = copy_text(o, "printk_formats");
	return err;
}

/* "Linux host 6.1.0 x86_64", as far as the trace knows. */
static void uname_text(const struct tacho_stream *s, struct tacho_buf *out)
{
	static const char *const names[] = { "sysname", "hostname", "release",
					     "machine" };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++) {
		const char *value = tacho_stream_env(s, names[i]);

		if (value)
			tacho_buf_printf(out, "%s%s", out->len ? " " : "", value);
	}
}

static int new_writer(struct dat_sink *o)
{
	const struct tacho_stream *s = o->sink.config.stream;
	const char *clock = tacho_stream_env(s, "clock");
	const char *uuid = tacho_stream_env(s, "uuid");
	struct tacho_dat_config config = { .version = o->sink.format->variant };
	struct tacho_buf uname;
	int err;

	tacho_clock_map_init(&config.map, TACHO_NS_PER_S, 0, 0);
	config.clock = "realtime";
	if (o->sink.own_clock) {
		config.map = tacho_stream_source(s, 0)->clock;
		config.clock = clock ? clock : "unknown";
	}
	if (uuid)
		config.trace_id = tacho_hash(uuid, strlen(uuid), 0);
	tacho_buf_init(&uname, 4096);
	uname_text(s, &uname);
	config.uname = uname.len ? tacho_buf_str(&uname) : NULL;
	err = tacho_buf_error(&uname) == -ENOMEM ?
	      tacho_no_memory(&o->sink.diag) :
	      tacho_dat_writer_new(&o->w, o->sink.config.path, &config, &o->sink.diag);
	tacho_buf_release(&uname);
	return err;
}

static int begin(struct tacho_sink *sink)
{
	struct dat_sink *o = dat(sink);
	int err = new_writer(o);

	if (err)
		return err;
	err = copy_types(o);
	if (err)
		(void)tacho_dat_writer_close(o->w, false, NULL, NULL);
	return err;
}

/* Which names trace-cmd can read; tacho reads them as they were. */
static void note_renamed(const struct dat_sink *o)
{
	struct tacho_buf text;
	size_t nr;

	tacho_buf_init(&text, 4096);
	nr = tacho_dat_writer_renamed(o->w, NAMES_MAX, &text);
	if (nr)
		tacho_observer_note(o->sink.config.observer,
			"trace-cmd reads letters, digits and '_' in names: %zu event%s another one there: %s",
			nr, nr == 1 ? " has" : "s have", tacho_buf_str(&text));
	tacho_buf_release(&text);
}

static int end(struct tacho_sink *sink, bool good)
{
	struct dat_sink *o = dat(sink);
	int err = good ? copy_tables(o) : 0, close_err;

	good = good && !err;
	if (good)
		note_renamed(o);
	close_err = tacho_dat_writer_close(o->w, good, &sink->bytes, &sink->diag);
	return err ? err : close_err;
}

const struct tacho_sink_format tacho_sink_dat = {
	.name = "dat", .extensions = " .dat ", .variant = 6, .size = sizeof(struct dat_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};

const struct tacho_sink_format tacho_sink_dat7 = {
	.name = "dat7", .extensions = "", .variant = 7, .size = sizeof(struct dat_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};
