// SPDX-License-Identifier: MIT
/* A trace.dat (fmt/tracedat/write.h): the kernel's types keep their ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "fmt/tracedat/write.h"

#define TABLE_MAX	((size_t)64 << 20)
#define TOLD		8u	/* events with another name that are told of */

struct dat_out {
	struct cli_convert *c;
	struct tacho_dat_writer *w;
	struct tacho_diag d;
};

/* ---- types ------------------------------------------------------------------------- */

static int announce(struct dat_out *o, struct tacho_source *s, uint32_t stream_id)
{
	const struct tacho_type_table *t = &s->table[stream_id];
	int err = 0;

	for (uint32_t id = 0; id < t->nr && !err; id++)
		if (t->type[id])
			err = tacho_dat_writer_type(o->w, t->type[id], stream_id,
						    &o->d);
	return err;
}

/* The kernel's types first: they keep their ids, those of programs follow. */
static int copy_types(struct dat_out *o)
{
	static const uint32_t order[] = { TACHO_STREAM_KERNEL,
					  TACHO_STREAM_PROGRAM };
	struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; (s = tacho_stream_source(o->c->trace.stream, i)); i++)
		if (s->ops->load_types)
			s->ops->load_types(s);
	for (size_t k = 0; k < TACHO_ARRAY_SIZE(order); k++)
		for (uint32_t i = 0; !err &&
		     (s = tacho_stream_source(o->c->trace.stream, i)); i++)
			err = announce(o, s, order[k]);
	return err;
}

/* ---- records ------------------------------------------------------------------------ */

static int lost(void *writer, const struct tacho_record *r)
{
	struct dat_out *o = writer;

	return tacho_dat_writer_lost(o->w, r->cpu, r->lost, &o->d) ?
	       cli_fail_diag(&o->d) : CLI_OK;
}

static int record(void *writer, const struct tacho_record *r)
{
	struct dat_out *o = writer;

	return tacho_dat_writer_record(o->w, r, cli_convert_ticks(o->c, r), &o->d) ?
	       cli_fail_diag(&o->d) : CLI_OK;
}

/* ---- what is not records -------------------------------------------------------------- */

static int copy_tasks(struct dat_out *o)
{
	struct tacho_facts all;
	struct tacho_buf text;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&text, TABLE_MAX);
	err = cli_convert_tasks(o->c->trace.stream, &all);
	for (size_t k = 0; k < all.nr_tasks && !err; k++) {
		const struct tacho_fact_task *t = &all.task[k];

		/* 0 is every CPU's idle thread, whose name readers know */
		if (!t->pid || !t->comm[0])
			continue;
		tacho_buf_printf(&text, "%d %.16s\n", t->pid, t->comm);
		if (t->tgid)
			err = tacho_dat_writer_task(o->w, t->pid, t->tgid, &o->d);
	}
	if (!err)
		err = tacho_buf_error(&text);
	if (err)
		tacho_diag(&o->d, err, 0, "out of memory");
	else
		err = tacho_dat_writer_text(o->w, "cmdlines", text.data, text.len,
					    &o->d);
	tacho_buf_release(&text);
	tacho_facts_release(&all);
	return err;
}

static int copy_text(struct dat_out *o, const char *name)
{
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, TABLE_MAX);
	if (!tacho_stream_text(o->c->trace.stream, name, &text) && text.len)
		err = tacho_dat_writer_text(o->w, name, text.data, text.len, &o->d);
	tacho_buf_release(&text);
	return err;
}

static int copy_tables(struct dat_out *o)
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

static int new_writer(struct dat_out *o, int version)
{
	const struct tacho_stream *s = o->c->trace.stream;
	const char *clock = tacho_stream_env(s, "clock");
	const char *uuid = tacho_stream_env(s, "uuid");
	struct tacho_dat_config config = { .version = version };
	struct tacho_buf uname;
	int err;

	tacho_clock_map_init(&config.map, TACHO_NS_PER_S, 0, 0);
	config.clock = "realtime";
	if (o->c->own_clock) {
		config.map = tacho_stream_source(s, 0)->clock;
		config.clock = clock ? clock : "unknown";
	}
	if (uuid)
		config.trace_id = tacho_hash(uuid, strlen(uuid), 0);
	tacho_buf_init(&uname, 4096);
	uname_text(s, &uname);
	config.uname = uname.len ? tacho_buf_str(&uname) : NULL;
	err = tacho_buf_error(&uname) == -ENOMEM ?
	      tacho_diag(&o->d, -ENOMEM, 0, "out of memory") :
	      tacho_dat_writer_new(&o->w, o->c->out, &config, &o->d);
	tacho_buf_release(&uname);
	return err;
}

/* Closes and frees; o->d says what was first. */
static int finish(struct dat_out *o, bool good)
{
	struct tacho_diag first = o->d;
	int err = tacho_dat_writer_close(o->w, good, &o->c->bytes, &o->d);
	int ret = first.err ? cli_fail_diag(&first) :
		  good && err ? cli_fail_diag(&o->d) : CLI_OK;

	free(o);
	return ret;
}

static int begin(struct cli_convert *c, void **writer, int version)
{
	struct dat_out *o = calloc(1, sizeof(*o));

	if (!o)
		return cli_fail("out of memory");
	o->c = c;
	if (new_writer(o, version)) {
		(void)cli_fail_diag(&o->d);
		free(o);
		return CLI_FAILED;
	}
	if (copy_types(o))
		return finish(o, false);
	*writer = o;
	return CLI_OK;
}

static int begin_6(struct cli_convert *c, void **writer)
{
	return begin(c, writer, 6);
}

static int begin_7(struct cli_convert *c, void **writer)
{
	return begin(c, writer, 7);
}

/* What trace-cmd can read is told; tacho reads the names as they were. */
static void tell_renamed(const struct dat_out *o)
{
	struct tacho_buf text;
	size_t nr;

	tacho_buf_init(&text, 4096);
	nr = tacho_dat_writer_renamed(o->w, TOLD, &text);
	if (nr)
		cli_note("trace-cmd reads letters, digits and '_' in names: %zu event%s another one there: %s",
			 nr, nr == 1 ? " has" : "s have", tacho_buf_str(&text));
	tacho_buf_release(&text);
}

static int end(void *writer, bool good)
{
	struct dat_out *o = writer;

	o->d = (struct tacho_diag){ 0 };	/* that was said */
	if (good && copy_tables(o))
		good = false;
	if (good)
		tell_renamed(o);
	return finish(o, good);
}

const struct cli_format cli_format_dat = {
	.name = "dat", .extensions = " .dat ",
	.begin = begin_6, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_dat7 = {
	.name = "dat7", .extensions = "",
	.begin = begin_7, .lost = lost, .record = record, .end = end,
};
