// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "fmt/tracedat/write.h"

#define TABLE_MAX	((size_t)64 << 20)

struct dat_out {
	struct cli_convert *c;
	struct tacho_dat_writer *w;
	struct tacho_diag d;
	bool own_clock;		/* ticks are taken over; else ns since 1970 */
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

static int stream_error(struct dat_out *o)
{
	const struct tacho_error *e = tacho_stream_error(o->c->trace.stream);

	return tacho_diag(&o->d, e->err, 0, "%s", e->text);
}

/* 0 or -errno with o->d filled in; *whole: to the very end of the input. */
static int copy_records(struct dat_out *o, bool *whole)
{
	struct tacho_stream *s = o->c->trace.stream;
	uint64_t left = o->c->filter.max ? o->c->filter.max : UINT64_MAX;
	struct tacho_record r;
	int err = 0, status = TACHO_STREAM_END;

	*whole = false;
	while (left && !err &&
	       (status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD) {
		enum cli_filter_verdict v = cli_filter_look(&o->c->filter, &r);

		if (v == CLI_FILTER_STOP)
			return 0;
		if (v == CLI_FILTER_HIDE && r.lost)
			err = tacho_dat_writer_lost(o->w, r.cpu, r.lost, &o->d);
		if (v != CLI_FILTER_PASS)
			continue;
		err = tacho_dat_writer_record(o->w, &r,
					      o->own_clock ? r.ticks : r.time,
					      &o->d);
		o->c->events++;
		left--;
	}
	if (!err && status == TACHO_STREAM_ERROR)
		return stream_error(o);
	*whole = left && !err;
	return err;
}

/* What was lost behind the last record of a part. */
static int copy_last_losses(struct dat_out *o)
{
	const struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; !err &&
	     (s = tacho_stream_source(o->c->trace.stream, i)); i++)
		for (uint32_t j = 0; j < s->nr_parts && !err; j++)
			if (s->part[j]->lost)
				err = tacho_dat_writer_lost(o->w, s->part[j]->cpu,
							    s->part[j]->lost, &o->d);
	return err;
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
	/* 0 is every CPU's idle thread, whose name readers know */
	for (size_t k = 0; k < all.nr_tasks; k++)
		if (all.task[k].pid && all.task[k].comm[0])
			tacho_buf_printf(&text, "%d %.16s\n", all.task[k].pid,
					 all.task[k].comm);
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

static int fill(struct dat_out *o)
{
	bool whole = false;
	int err = copy_types(o);

	if (!err)
		err = copy_records(o, &whole);
	if (!err && whole)
		err = copy_last_losses(o);
	if (!err)
		err = copy_tasks(o);
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

static int begin(struct dat_out *o, int version)
{
	const struct tacho_stream *s = o->c->trace.stream;
	const char *clock = tacho_stream_env(s, "clock");
	const char *uuid = tacho_stream_env(s, "uuid");
	struct tacho_dat_config config = { .version = version };
	struct tacho_buf uname;
	int err;

	tacho_clock_map_init(&config.map, TACHO_NS_PER_S, 0, 0);
	config.clock = "realtime";
	o->own_clock = cli_convert_same_clock(s);
	if (o->own_clock) {
		config.map = tacho_stream_source(s, 0)->clock;
		config.clock = clock ? clock : "unknown";
	}
	if (uuid)
		config.trace_id = tacho_hash(uuid, strlen(uuid), 0);
	tacho_buf_init(&uname, 4096);
	uname_text(s, &uname);
	config.uname = uname.len ? tacho_buf_str(&uname) : NULL;
	err = tacho_dat_writer_new(&o->w, o->c->out, &config, &o->d);
	tacho_buf_release(&uname);
	return err;
}

int cli_convert_dat(struct cli_convert *c, int version)
{
	struct dat_out o = { .c = c };
	int err = begin(&o, version);

	if (err)
		return cli_fail_diag(&o.d);
	err = fill(&o);
	if (tacho_dat_writer_close(o.w, !err, &c->bytes, &o.d) && !err)
		err = o.d.err;
	return err ? cli_fail_diag(&o.d) : CLI_OK;
}

int cli_convert_to_dat(const char *trace, const char *out, int version,
		       uint64_t *bytes)
{
	struct cli_convert c = { .out = out };
	int ret = cli_trace_open(&c.trace, trace, 0);

	if (ret != CLI_OK)
		return ret;
	cli_filter_init(&c.filter);
	ret = cli_filter_open(&c.filter, c.trace.stream);
	if (ret == CLI_OK)
		ret = cli_convert_dat(&c, version);
	*bytes = c.bytes;
	cli_filter_release(&c.filter);
	cli_trace_close(&c.trace);
	return ret;
}
