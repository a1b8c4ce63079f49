// SPDX-License-Identifier: MIT
/* How large buffers are, and what is in them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/ftrace/nodes.h"
#include "compat/ftrace/view.h"
#include "ring/ring.h"

#define SIZE_MAX_KB	((uint64_t)1 << 30)

static bool overwrites(const struct tree_inst *inst)
{
	return tree_option(inst, "overwrite");
}

/* The kernel's buffers are as large as those of programs. */
static int resize(struct tree_inst *inst, int32_t cpu, uint64_t kb)
{
	char path[64], text[32];
	int n, err;

	err = tacho_session_resize(&inst->session, cpu, kb << 10, overwrites(inst), NULL);
	if (err || !inst->kernel)
		return err;
	if (cpu < 0)
		(void)snprintf(path, sizeof(path), "buffer_size_kb");
	else
		(void)snprintf(path, sizeof(path), "per_cpu/cpu%d/buffer_size_kb", cpu);
	n = snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	return tree_kernel_write(inst, path, text, (size_t)n, true);
}

int tree_set_overwrite(struct tree_inst *inst, bool on)
{
	return tacho_session_resize(&inst->session, -1, 0, on, NULL);
}

/* ---- buffer_size_kb, buffer_total_size_kb ---- */

static bool all_alike(const struct tree_inst *inst)
{
	uint64_t first = tree_buffer_size(inst, 0);

	for (uint32_t i = 1; i < inst->session.view.ring.nr_cpus; i++)
		if (tree_buffer_size(inst, (int32_t)i) != first)
			return false;
	return true;
}

static int size_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	if (f->cpu < 0 && !all_alike(f->inst))
		tacho_buf_puts(out, "X\n");
	else
		tacho_buf_printf(out, "%llu\n", (unsigned long long)
				 tree_buffer_size(f->inst, f->cpu) >> 10);
	return 0;
}

static ssize_t size_store(struct tacho_tree_file *f, const char *text, size_t len,
			  const struct tacho_tree_caller *caller)
{
	uint64_t kb;
	int err = tree_number(text, SIZE_MAX_KB, &kb);

	(void)caller;
	if (!err && !kb)
		err = -EINVAL;
	if (!err)
		err = resize(f->inst, f->cpu, kb);
	return err ? err : (ssize_t)len;
}

const struct tree_node tree_buffer_size_node = {
	.name = "buffer_size_kb", .mode = 0640, .show = size_show, .store = size_store,
};

static int total_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->inst->session.view.ring.nr_cpus; i++)
		sum += tree_buffer_size(f->inst, (int32_t)i);
	tacho_buf_printf(out, "%llu\n", (unsigned long long)sum >> 10);
	return 0;
}

const struct tree_node tree_total_size_node = {
	.name = "buffer_total_size_kb", .mode = 0440, .show = total_show,
};

/* ---- buffer_subbuf_size_kb, buffer_percent ---- */

static int subbuf_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_printf(out, "%u\n", tree_page_size(f->inst) >> 10);
	return 0;
}

/* Pages that are handed out: a power of two, at most what a session's sub-buffer is. */
static ssize_t subbuf_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	uint64_t kb, size = 4096;
	int err = tree_number(text, 1024, &kb);

	(void)caller;
	if (err || !kb || kb > 1024)
		return -EINVAL;
	while (size < kb << 10)
		size *= 2;
	f->inst->page_size = (uint32_t)size;
	f->inst->unsaved = true;
	return (ssize_t)len;
}

const struct tree_node tree_subbuf_size_node = {
	.name = "buffer_subbuf_size_kb", .mode = 0640, .show = subbuf_show,
	.store = subbuf_store,
};

uint32_t tree_page_size(const struct tree_inst *inst)
{
	return inst->page_size ? inst->page_size : 4096;
}

static int percent_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_printf(out, "%u\n", f->inst->buffer_percent);
	return 0;
}

static ssize_t percent_store(struct tacho_tree_file *f, const char *text, size_t len,
			     const struct tacho_tree_caller *caller)
{
	uint64_t v;
	int err = tree_number(text, UINT64_MAX, &v);

	(void)caller;
	if (err || v > 100)
		return -EINVAL;
	tacho_store_relaxed(&f->inst->buffer_percent, (uint32_t)v);
	f->inst->unsaved = true;
	return (ssize_t)len;
}

const struct tree_node tree_percent_node = {
	.name = "buffer_percent", .mode = 0640, .show = percent_show,
	.store = percent_store,
};

/* ---- free_buffer: closing it shrinks the buffers to nothing ---- */

static ssize_t free_store(struct tacho_tree_file *f, const char *text, size_t len,
			  const struct tacho_tree_caller *caller)
{
	(void)f;
	(void)text;
	(void)caller;
	return (ssize_t)len;
}

static void free_close(struct tacho_tree_file *f)
{
	pthread_mutex_lock(&f->inst->lock);
	if (tree_option(f->inst, "disable_on_free"))
		(void)tree_switch(f->inst, false);
	(void)resize(f->inst, -1, 1);
	tree_clear(f->inst, -1);
	pthread_mutex_unlock(&f->inst->lock);
}

const struct tree_node tree_free_node = {
	.name = "free_buffer", .mode = 0200, .store = free_store, .close = free_close,
};

/* ---- stats ---- */

static void put_time(const struct tree_inst *inst, const char *what, uint64_t ticks,
		     struct tacho_buf *out)
{
	uint64_t t = ticks ? tree_shown_time(inst, ticks) : 0;

	if (tree_clock_in_ns(inst))
		tacho_buf_printf(out, "%s: %5llu.%06llu\n", what,
				 (unsigned long long)t / 1000000000,
				 (unsigned long long)t % 1000000000 / 1000);
	else
		tacho_buf_printf(out, "%s: %llu\n", what, (unsigned long long)t);
}

static int stats_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct tree_counts c;
	int err = tree_count(f->inst, f->cpu, &c);

	if (err)
		return err;
	tacho_buf_printf(out, "entries: %llu\noverrun: %llu\ncommit overrun: 0\n"
			 "bytes: %llu\n", (unsigned long long)c.entries,
			 (unsigned long long)c.overrun, (unsigned long long)c.bytes);
	put_time(f->inst, "oldest event ts", c.oldest, out);
	put_time(f->inst, "now ts", tree_now(f->inst), out);
	tacho_buf_printf(out, "dropped events: %llu\nread events: %llu\n",
			 (unsigned long long)c.dropped, (unsigned long long)c.read);
	return 0;
}

const struct tree_node tree_stats_node = {
	.name = "stats", .mode = 0440, .show = stats_show,
};
