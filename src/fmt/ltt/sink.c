// SPDX-License-Identifier: MIT
/* A directory of the Linux Trace Toolkit, a file per CPU (fmt/ltt/write.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/ltt/write.h"
#include "fmt/sink.h"

#define TABLE_MAX	((size_t)64 << 20)

/* Variants. */
#define NARROW		1	/* 32-bit pointers */
#define SWAP		2	/* the other byte order */
#define FULL		4	/* all fields after LTT's */

struct ltt_sink {
	struct tacho_sink sink;		/* first */
	struct tacho_ltt_writer *w;
};

/* ---- records ------------------------------------------------------------------------ */

static struct ltt_sink *ltt(struct tacho_sink *sink)
{
	return (struct ltt_sink *)sink;
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	return tacho_ltt_writer_lost(ltt(sink)->w, r, &sink->diag);
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	return tacho_ltt_writer_record(ltt(sink)->w, r, &sink->diag);
}

/* ---- what is not records -------------------------------------------------------------- */

static int put_text(struct ltt_sink *o, const char *name, struct tacho_buf *text)
{
	int err = tacho_buf_error(text);

	if (err)
		return tacho_diag(&o->sink.diag, err, 0, "out of memory");
	return text->len ? tacho_ltt_writer_text(o->w, name, text->data, text->len,
						 &o->sink.diag) : 0;
}

/*
 * The threads: in LTT's words, and with their processes.  Who is whose parent is not
 * known.
 */
static int copy_tasks(struct ltt_sink *o, struct tacho_buf *facts)
{
	struct tacho_facts all;
	struct tacho_buf proc;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&proc, TABLE_MAX);
	err = tacho_stream_tasks(o->sink.config.stream, &all);
	for (size_t k = 0; k < all.nr_tasks; k++) {
		const struct tacho_fact_task *t = &all.task[k];

		if (!t->comm[0])
			continue;
		tacho_buf_printf(facts, "task %d %d %.16s\n", t->pid, t->tgid, t->comm);
		if (t->pid > 0)
			tacho_buf_printf(&proc, "PID: %d; PPID: 0; NAME: %.16s\n", t->pid,
					 t->comm);
	}
	if (err)
		tacho_diag(&o->sink.diag, err, 0, "out of memory");
	else
		err = put_text(o, "proc", &proc);
	tacho_buf_release(&proc);
	tacho_facts_release(&all);
	return err;
}

/* The facts that stay true of the copy: its clock is another. */
static void copy_env(const struct tacho_stream *s, struct tacho_buf *facts)
{
	static const char *const left_out[] = { "clock", "uuid", "session" };
	const struct tacho_source *source = tacho_stream_source(s, 0);
	const struct tacho_fact *f = source ? source->facts.env : NULL;

	for (; f; f = f->next) {
		bool keep = strncmp(f->name, "ltt_", 4) && !strchr(f->value, '\n');

		for (size_t i = 0; i < TACHO_ARRAY_SIZE(left_out); i++)
			keep = keep && strcmp(f->name, left_out[i]);
		if (keep)
			tacho_buf_printf(facts, "env %s %s\n", f->name, f->value);
	}
}

static int copy_tables(struct ltt_sink *o)
{
	static const char *const names[] = { "kallsyms", "printk_formats", "syscalls",
					     "objects" };
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, TABLE_MAX);
	copy_env(o->sink.config.stream, &text);
	err = copy_tasks(o, &text);
	if (!err)
		err = put_text(o, "facts", &text);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names) && !err; i++) {
		tacho_buf_reset(&text);
		if (!tacho_stream_text(o->sink.config.stream, names[i], &text))
			err = put_text(o, names[i], &text);
	}
	tacho_buf_release(&text);
	return err;
}

/* ---- the format ----------------------------------------------------------------------- */

static int begin(struct tacho_sink *sink)
{
	int variant = sink->format->variant;
	struct tacho_ltt_config config = {
		.narrow = variant & NARROW, .swap = variant & SWAP, .full = variant & FULL,
		.machine = tacho_stream_env(sink->config.stream, "machine"),
		.stream = sink->config.stream,
	};

	return tacho_ltt_writer_new(&ltt(sink)->w, sink->config.path, &config, &sink->diag);
}

static void note(const struct tacho_sink *sink, uint64_t n, const char *what)
{
	if (n)
		tacho_observer_note(sink->config.observer, "%" PRIu64 " %s", n, what);
}

static void remarks(const struct tacho_sink *sink, const struct tacho_ltt_written *w)
{
	bool full = sink->format->variant & FULL;

	note(sink, full ? 0 : w->mapped, "events of the kernel became LTT's own, which have no "
	     "room for all of their fields; --to lttfull keeps those");
	note(sink, w->embedded, "events without a counterpart are CUSTOM events, whole");
	note(sink, w->too_long, "events were left out: no record of LTT is so long");
	note(sink, w->late, "events have the time of the one before them on their CPU");
	note(sink, w->cut, "events have numbers that were cut to the width of LTT's");
}

static int end(struct tacho_sink *sink, bool good)
{
	struct ltt_sink *o = ltt(sink);
	struct tacho_ltt_written written;
	int err = good ? copy_tables(o) : 0, close_err;

	good = good && !err;
	close_err = tacho_ltt_writer_close(o->w, good, &written, &sink->diag);
	sink->bytes = written.bytes;
	if (good && !close_err)
		remarks(sink, &written);
	return err ? err : close_err;
}

#define LTT_FORMAT(its_name, its_extensions, its_variant) {				\
	.name = its_name, .extensions = its_extensions, .variant = its_variant,	\
	.directory = true, .clock = TACHO_SINK_NS, .size = sizeof(struct ltt_sink),	\
	.begin = begin, .lost = lost, .record = record, .end = end,			\
}

const struct tacho_sink_format tacho_sink_ltt = LTT_FORMAT("ltt", " .ltt ", 0);
const struct tacho_sink_format tacho_sink_ltt32 = LTT_FORMAT("ltt32", "", NARROW);
const struct tacho_sink_format tacho_sink_ltt_swap = LTT_FORMAT("lttswap", "", SWAP);
const struct tacho_sink_format tacho_sink_ltt32_swap =
	LTT_FORMAT("ltt32swap", "", NARROW | SWAP);
const struct tacho_sink_format tacho_sink_ltt_full = LTT_FORMAT("lttfull", "", FULL);
