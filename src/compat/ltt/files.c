// SPDX-License-Identifier: MIT
#include "compat/ltt/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "fmt/ltt/map.h"
#include "fmt/ltt/write.h"
#include "stream/stream.h"
#include "tracefs/tracefs.h"

#define TABLE_MAX	((size_t)64 << 20)
#define LISTS_SIZE	((size_t)1 << 20)

/* ---- what is recorded -------------------------------------------------------------- */

static int add(struct ltt_lists *lists, struct ltt_list *to, const char *prefix,
	       const char *system, const char *name)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%s%s%s%s", prefix, system, name ? ":" : "",
			 name ? name : "");
	char *item = tacho_arena_strndup(&lists->arena, text, (size_t)n);

	if (!item || to->nr == LTT_LIST_MAX)
		return -ENOMEM;
	to->item[to->nr++] = item;
	return 0;
}

static bool has_event(int events, const struct tacho_ltt_map *m)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s/format", m->system, m->name);
	return !faccessat(events, path, F_OK, 0);
}

/* The tracepoints of this kernel that make the events. */
static int list_kernel(struct ltt_lists *lists, const struct ltt_masks *masks,
		       struct tacho_diag *d)
{
	struct tacho_tracefs t;
	int events, err = tacho_tracefs_open(&t, 0, d);

	if (err)
		return err;
	events = openat(t.dirfd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = events < 0 ? -errno : 0;
	tacho_tracefs_close(&t);
	if (err)
		return tacho_diag(d, err, 0, "cannot open the kernel's events: %s",
				  strerror(-err));
	for (const struct tacho_ltt_map *m = tacho_ltt_maps; !err && m->system; m++)
		if (masks->events >> m->id & 1 && has_event(events, m))
			err = add(lists, &lists->kernel, "", m->system, m->name);
	close(events);
	return err ? tacho_no_memory(d) : 0;
}

/* "*:*", "!ltt:*", "ltt:custom", ...: the events of programs, LTT's own by the masks. */
static int list_programs(struct ltt_lists *lists, const struct ltt_masks *masks,
			 struct tacho_diag *d)
{
	struct ltt_list *to = &lists->programs;
	struct ltt_rules rules;
	int err = 0;

	ltt_rules_of(&rules, masks);
	if (masks->events >> TRACE_CUSTOM & 1)
		err = add(lists, to, "", "*", "*");
	for (uint32_t i = 0; !err && i < rules.n; i++)
		if (rules.enable[i] || to->nr)
			err = add(lists, to, rules.enable[i] ? "" : "!", rules.glob[i], NULL);
	return err ? tacho_no_memory(d) : 0;
}

int ltt_lists_make(struct ltt_lists *lists, const struct ltt_masks *masks, struct tacho_diag *d)
{
	int err;

	*lists = (struct ltt_lists){ .kernel = { .nr = 0 } };
	tacho_arena_init(&lists->arena, LISTS_SIZE);
	err = list_programs(lists, masks, d);
	return err ? err : list_kernel(lists, masks, d);
}

void ltt_lists_release(struct ltt_lists *lists)
{
	tacho_arena_release(&lists->arena);
}

/* ---- files ------------------------------------------------------------------------- */

/* Parents are not in a recording; those that still live are asked. */
static int parent_of(int32_t pid)
{
	char path[64], state;
	int ppid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c %d", &state, &ppid) != 2)
		ppid = 0;
	(void)fclose(f);
	return ppid;
}

/* " 14:  12  34  IO-APIC  14-edge  ata_piix": the last word is who has it. */
static void list_irqs(struct tacho_buf *out)
{
	char line[1024];
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = line + strspn(line, " "), *name;
		uint64_t irq;

		line[strcspn(line, "\n")] = '\0';
		name = strrchr(line, ' ');
		if (!tacho_scan_digits(&at, NULL, 10, INT32_MAX, &irq) && *at == ':' && name &&
		    name[1])
			tacho_buf_printf(out, "IRQ: %" PRIu64 "; NAME: %s\n", irq, name + 1);
	}
	if (f)
		(void)fclose(f);
}

static int write_file(const char *path, const struct tacho_buf *text, struct tacho_diag *d)
{
	FILE *f = fopen(path, "we");
	bool bad = !f || fwrite(text->data, 1, text->len, f) != text->len;

	if ((f && fclose(f)) || bad)
		return tacho_diag(d, -errno, 0, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int write_names(const struct ltt_files_config *c, struct tacho_stream *s,
		       struct tacho_ltt_writer *w, struct tacho_diag *d)
{
	const struct tacho_facts *f = &tacho_stream_source(s, 0)->facts;
	struct tacho_buf proc;
	int err;

	tacho_buf_init(&proc, TABLE_MAX);
	(void)tacho_stream_comm(s, 0, NULL);	/* brings them in order */
	for (size_t i = 0; i < f->nr_tasks; i++)
		if (f->task[i].pid > 0)
			tacho_buf_printf(&proc, "PID: %d; PPID: %d; NAME: %.16s\n",
					 f->task[i].pid, parent_of(f->task[i].pid),
					 f->task[i].comm);
	list_irqs(&proc);
	if (tacho_buf_error(&proc))
		err = tacho_no_memory(d);
	else
		err = tacho_ltt_writer_text(w, "proc", proc.data, proc.len, d);
	if (!err && c->proc)
		err = write_file(c->proc, &proc, d);
	tacho_buf_release(&proc);
	return err;
}

static int copy(const struct ltt_files_config *c, struct tacho_stream *s,
		struct tacho_ltt_writer *w, uint64_t *lost, struct tacho_diag *d)
{
	const struct tacho_error *error = tacho_stream_error(s);
	struct tacho_record r;
	int status = TACHO_STREAM_END, err = 0;

	while (!err && (status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD) {
		*lost += r.lost;
		if (r.lost && c->masks.events >> TRACE_CUSTOM & 1)
			err = tacho_ltt_writer_lost(w, &r, d);
		if (!err)
			err = tacho_ltt_writer_record(w, &r, d);
	}
	if (err)
		return err;
	if (status == TACHO_STREAM_ERROR)
		return tacho_diag(d, error->err, error->offset, "%s", error->text);
	return write_names(c, s, w, d);
}

int ltt_files_write(const char *from, const struct ltt_files_config *c,
		    struct ltt_files_result *result, struct tacho_diag *d)
{
	struct tacho_ltt_config config = {
		.us = c->us, .flight = c->flight, .event_mask = c->masks.events,
		.details_mask = c->masks.details, .buffer_size = c->buffer_size,
	};
	struct tacho_diag after = { 0 };
	struct tacho_ltt_written written;
	struct tacho_ltt_writer *w;
	struct tacho_error error;
	int err, end;

	err = tacho_stream_open(&config.stream, from, 0, &error);
	if (err)
		return tacho_diag(d, err, error.offset, "%s", error.text);
	err = tacho_ltt_writer_new(&w, c->trace, &config, d);
	if (err) {
		tacho_stream_close(config.stream);
		return err;
	}
	*result = (struct ltt_files_result){ 0 };
	err = copy(c, config.stream, w, &result->lost, d);
	end = tacho_ltt_writer_close(w, !err, &written, &after);
	if (!err && end)
		err = tacho_diag(d, end, after.offset, "%s", after.text);
	tacho_stream_close(config.stream);
	if (err)
		return err;
	result->mapped = written.mapped;
	result->own = written.own;
	result->embedded = written.embedded;
	return 0;
}
