// SPDX-License-Identifier: MIT
/* A directory of the Linux Trace Toolkit, a file per CPU (fmt/ltt/write.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/convert.h"
#include "fmt/ltt/write.h"

#define TABLE_MAX	((size_t)64 << 20)

struct ltt_out {
	struct cli_convert *c;
	struct tacho_ltt_writer *w;
	struct tacho_diag d;
};

/* ---- records ------------------------------------------------------------------------ */

static int lost(void *writer, const struct tacho_record *r)
{
	struct ltt_out *o = writer;

	return tacho_ltt_writer_lost(o->w, r, &o->d) ? cli_fail_diag(&o->d) : CLI_OK;
}

static int record(void *writer, const struct tacho_record *r)
{
	struct ltt_out *o = writer;

	return tacho_ltt_writer_record(o->w, r, &o->d) ? cli_fail_diag(&o->d) : CLI_OK;
}

/* ---- what is not records -------------------------------------------------------------- */

static int put_text(struct ltt_out *o, const char *name, struct tacho_buf *text)
{
	int err = tacho_buf_error(text);

	if (err)
		return tacho_diag(&o->d, err, 0, "out of memory");
	return text->len ? tacho_ltt_writer_text(o->w, name, text->data, text->len,
						 &o->d) : 0;
}

/*
 * The threads: in LTT's words, and with their processes.  Who is whose parent is not
 * known.
 */
static int copy_tasks(struct ltt_out *o, struct tacho_buf *facts)
{
	struct tacho_facts all;
	struct tacho_buf proc;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&proc, TABLE_MAX);
	err = cli_convert_tasks(o->c->trace.stream, &all);
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
		tacho_diag(&o->d, err, 0, "out of memory");
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

static int copy_tables(struct ltt_out *o)
{
	static const char *const names[] = { "kallsyms", "printk_formats", "syscalls",
					     "objects" };
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, TABLE_MAX);
	copy_env(o->c->trace.stream, &text);
	err = copy_tasks(o, &text);
	if (!err)
		err = put_text(o, "facts", &text);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names) && !err; i++) {
		tacho_buf_reset(&text);
		if (!tacho_stream_text(o->c->trace.stream, names[i], &text))
			err = put_text(o, names[i], &text);
	}
	tacho_buf_release(&text);
	return err;
}

/* ---- the format ----------------------------------------------------------------------- */

static int begin(struct cli_convert *c, void **writer, const struct tacho_ltt_config *as)
{
	struct tacho_ltt_config config = *as;
	struct ltt_out *o = calloc(1, sizeof(*o));

	if (!o)
		return cli_fail("out of memory");
	o->c = c;
	config.machine = tacho_stream_env(c->trace.stream, "machine");
	config.stream = c->trace.stream;
	if (tacho_ltt_writer_new(&o->w, c->out, &config, &o->d)) {
		(void)cli_fail_diag(&o->d);
		free(o);
		return CLI_FAILED;
	}
	*writer = o;
	return CLI_OK;
}

static int begin_64(struct cli_convert *c, void **writer)
{
	return begin(c, writer, &(struct tacho_ltt_config){ 0 });
}

static int begin_32(struct cli_convert *c, void **writer)
{
	return begin(c, writer, &(struct tacho_ltt_config){ .narrow = true });
}

static int begin_64_swap(struct cli_convert *c, void **writer)
{
	return begin(c, writer, &(struct tacho_ltt_config){ .swap = true });
}

static int begin_32_swap(struct cli_convert *c, void **writer)
{
	return begin(c, writer,
		     &(struct tacho_ltt_config){ .narrow = true, .swap = true });
}

static int begin_full(struct cli_convert *c, void **writer)
{
	return begin(c, writer, &(struct tacho_ltt_config){ .full = true });
}

static void say(uint64_t n, const char *what)
{
	if (n)
		cli_note("%" PRIu64 " %s", n, what);
}

static void say_what(const struct ltt_out *o, const struct tacho_ltt_written *w)
{
	bool full = o->c->format == &cli_format_ltt_full;

	say(full ? 0 : w->mapped, "events of the kernel became LTT's own, which have no room "
	    "for all of their fields; --to lttfull keeps those");
	say(w->carried, "events without a counterpart are CUSTOM events, whole");
	say(w->too_long, "events were left out: no record of LTT is so long");
	say(w->late, "events have the time of the one before them on their CPU");
	say(w->cut, "events have numbers that were cut to the width of LTT's");
}

static int end(void *writer, bool good)
{
	struct ltt_out *o = writer;
	struct tacho_ltt_written written;
	int ret = good ? CLI_OK : CLI_FAILED;

	if (good && copy_tables(o))
		ret = cli_fail_diag(&o->d);
	o->d = (struct tacho_diag){ 0 };
	if (tacho_ltt_writer_close(o->w, ret == CLI_OK, &written, &o->d) && ret == CLI_OK)
		ret = cli_fail_diag(&o->d);
	o->c->bytes = written.bytes;
	if (ret == CLI_OK)
		say_what(o, &written);
	free(o);
	return ret;
}

const struct cli_format cli_format_ltt = {
	.name = "ltt", .extensions = " .ltt ", .directory = true,
	.clock = CLI_CLOCK_NS, .begin = begin_64, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_ltt32 = {
	.name = "ltt32", .extensions = "", .directory = true,
	.clock = CLI_CLOCK_NS, .begin = begin_32, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_ltt_swap = {
	.name = "lttswap", .extensions = "", .directory = true,
	.clock = CLI_CLOCK_NS, .begin = begin_64_swap, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_ltt32_swap = {
	.name = "ltt32swap", .extensions = "", .directory = true,
	.clock = CLI_CLOCK_NS, .begin = begin_32_swap, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_ltt_full = {
	.name = "lttfull", .extensions = "", .directory = true,
	.clock = CLI_CLOCK_NS, .begin = begin_full, .lost = lost, .record = record, .end = end,
};
