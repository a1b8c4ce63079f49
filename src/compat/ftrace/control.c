// SPDX-License-Identifier: MIT
/* The small files at the top of an instance. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/view.h"
#include "kdata/syscalls.h"
#include "kdata/tasks.h"

/* ---- tracing_on ---- */

static bool programs_on(const struct tree_inst *inst)
{
	return tacho_load_acquire(&inst->session.view.ctl->state) ==
	       TACHO_STATE_RECORDING;
}

static bool kernel_on(struct tree_inst *inst)
{
	struct tacho_buf b;
	bool on;

	tacho_buf_init(&b, 64);
	on = tree_kernel_read(inst, "tracing_on", &b) || !b.len || b.data[0] != '0';
	tacho_buf_release(&b);
	return on;
}

void tree_sync_on(struct tree_inst *inst)
{
	bool on = programs_on(inst);

	if (!inst->switches || !tree_kernel_is_there(inst))
		return;
	if (on != inst->was_on)
		(void)tree_kernel_write(inst, "tracing_on", on ? "1" : "0", 1, true);
	else if (kernel_on(inst) != on && !tacho_session_run(&inst->session, !on))
		on = !on;
	inst->was_on = on;
}

bool tree_is_on(struct tree_inst *inst)
{
	tree_sync_on(inst);
	return programs_on(inst);
}

int tree_switch(struct tree_inst *inst, bool on)
{
	int err = tacho_session_run(&inst->session, on);

	if (!err && tree_kernel_is_there(inst))
		err = tree_kernel_write(inst, "tracing_on", on ? "1" : "0", 1, true);
	inst->was_on = on;
	return err;
}

void tree_watch_switch(struct tree_inst *inst)
{
	if (!inst->switches)
		inst->was_on = programs_on(inst);
	inst->switches = true;
}

int tree_bool(const char *text, bool *value)
{
	uint64_t v;
	int err = tree_number(text, 1, &v);

	*value = v;
	return err;
}

static int on_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_puts(out, tree_is_on(f->inst) ? "1\n" : "0\n");
	return 0;
}

/* Any number but 0 is on, as in the kernel. */
static ssize_t on_store(struct tacho_tree_file *f, const char *text, size_t len,
			const struct tacho_tree_caller *caller)
{
	uint64_t v;
	int err = tree_number(text, UINT64_MAX, &v);

	(void)caller;
	if (!err)
		err = tree_switch(f->inst, v);
	return err ? err : (ssize_t)len;
}

static const struct tree_node on_node = {
	.name = "tracing_on", .mode = 0640, .show = on_show, .store = on_store,
};

/* ---- trace_clock, timestamp_mode ---- */

static const char *const clocks[TREE_NR_CLOCKS] = {
	"local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai",
	"x86-tsc",
};

const char *tree_clock_name(enum tree_clock clock)
{
	return clocks[clock < TREE_NR_CLOCKS ? clock : TREE_CLOCK_LOCAL];
}

bool tree_clock_find(const char *name, enum tree_clock *clock)
{
	for (int i = 0; i < TREE_NR_CLOCKS; i++) {
		if (strcmp(clocks[i], name))
			continue;
		tacho_store_relaxed(clock, (enum tree_clock)i);
		return true;
	}
	return false;
}

static int clock_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	for (int i = 0; i < TREE_NR_CLOCKS; i++)
		tacho_buf_printf(out, (int)f->inst->clock == i ? "%s[%s]" : "%s%s",
				 i ? " " : "", clocks[i]);
	tacho_buf_putc(out, '\n');
	return 0;
}

static ssize_t clock_store(struct tacho_tree_file *f, const char *text, size_t len,
			   const struct tacho_tree_caller *caller)
{
	enum tree_clock clock;
	char name[64];

	(void)caller;
	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, len + 1);
	if (!tree_clock_find(tree_trim(name), &clock))
		return -EINVAL;
	/*
	 * In the kernel times of two clocks would not mix, so it empties the
	 * buffer; also when the clock stays the same.
	 */
	tree_clear(f->inst, -1);
	tacho_store_relaxed(&f->inst->clock, clock);
	f->inst->unsaved = true;
	return (ssize_t)len;
}

static const struct tree_node clock_node = {
	.name = "trace_clock", .mode = 0640, .show = clock_show, .store = clock_store,
};

static int mode_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	(void)f;
	tacho_buf_puts(out, "[delta] absolute\n");
	return 0;
}

static const struct tree_node mode_node = {
	.name = "timestamp_mode", .mode = 0440, .show = mode_show,
};

/* ---- tracers ---- */

static int tracer_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	(void)f;
	tacho_buf_puts(out, "nop\n");
	return 0;
}

static ssize_t tracer_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	char name[64];

	(void)f;
	(void)caller;
	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, len + 1);
	return strcmp(tree_trim(name), "nop") ? -EINVAL : (ssize_t)len;
}

static const struct tree_node current_node = {
	.name = "current_tracer", .mode = 0640, .show = tracer_show,
	.store = tracer_store,
};

static const struct tree_node available_tracers_node = {
	.name = "available_tracers", .mode = 0440, .show = tracer_show,
};

/* ---- pids ---- */

#define PIDS_END	((uint64_t)1 << 30)	/* as the kernel's lists of pids */

/* What a list says, and what is added to it. */
struct pids {
	int32_t pid[TACHO_PIDS_MAX];
	uint32_t nr;
};

static int add_pids(struct pids *p, char *text)
{
	char *save = NULL;

	for (char *w = strtok_r(text, " \t\r\n", &save); w;
	     w = strtok_r(NULL, " \t\r\n", &save)) {
		uint64_t v;
		uint32_t i = 0;

		if (tree_number(w, INT64_MAX, &v))
			return -EINVAL;
		/* the kernel's own word for a number that no process has */
		if (v >= PIDS_END)
			return -EPERM;
		while (i < p->nr && p->pid[i] != (int32_t)v)
			i++;
		if (i < p->nr)
			continue;
		if (p->nr == TACHO_PIDS_MAX)
			return -ENOSPC;
		p->pid[p->nr++] = (int32_t)v;
	}
	return 0;
}

static void copy_pids(const struct tacho_pids *list, struct pids *p)
{
	p->nr = tacho_pids_nr(list);
	memcpy(p->pid, list->pid, p->nr * sizeof(p->pid[0]));
}

int tree_pids_follow(struct tree_inst *inst, bool on)
{
	struct pids p;

	copy_pids(&inst->session.view.ctl->pids, &p);
	return tacho_session_pids(&inst->session, p.pid, p.nr, on, NULL);
}

/* set_event_pid and set_event_notrace_pid: the list of processes that a file is about. */
static bool is_notrace(const struct tacho_tree_file *f)
{
	return strstr(f->node->name, "notrace");
}

static const struct tacho_pids *list_of(const struct tacho_tree_file *f)
{
	const struct tacho_control *ctl = f->inst->session.view.ctl;

	return is_notrace(f) ? &ctl->not_pids : &ctl->pids;
}

static int set_list(const struct tacho_tree_file *f, const struct pids *p)
{
	bool follow = tree_option(f->inst, "event-fork");

	return is_notrace(f) ?
	       tacho_session_not_pids(&f->inst->session, p->pid, p->nr, follow, NULL) :
	       tacho_session_pids(&f->inst->session, p->pid, p->nr, follow, NULL);
}

static int by_pid(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int pids_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	struct pids p;

	copy_pids(list_of(f), &p);
	qsort(p.pid, p.nr, sizeof(p.pid[0]), by_pid);
	for (uint32_t i = 0; i < p.nr; i++)
		tacho_buf_printf(out, "%d\n", p.pid[i]);
	return 0;
}

static ssize_t pids_store(struct tacho_tree_file *f, const char *text, size_t len,
			  const struct tacho_tree_caller *caller)
{
	struct tree_inst *inst = f->inst;
	char *copy = strdup(text);
	struct pids p;
	int err = -ENOMEM;

	(void)caller;
	if (!copy)
		return err;
	copy_pids(list_of(f), &p);
	err = add_pids(&p, copy);
	free(copy);
	if (!err)
		err = set_list(f, &p);
	if (!err && tree_has_kernel(inst->tree))
		err = tree_kernel_write(inst, f->node->name, text, len, true);
	return err ? err : (ssize_t)len;
}

static int pids_trunc(struct tacho_tree_file *f)
{
	const struct pids none = { .nr = 0 };
	int err = set_list(f, &none);

	if (!err && tree_kernel_is_there(f->inst))
		err = tree_kernel_write(f->inst, f->node->name, "", 0, false);
	return err;
}

static const struct tree_node pids_node = {
	.name = "set_event_pid", .mode = 0640, .show = pids_show, .store = pids_store,
	.trunc = pids_trunc,
};

static const struct tree_node notrace_pids_node = {
	.name = "set_event_notrace_pid", .mode = 0640, .show = pids_show,
	.store = pids_store, .trunc = pids_trunc,
};

/* ---- files that are the kernel's alone ---- */

static int kernel_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	return tree_kernel_read(f->inst, f->node->name, out);
}

static ssize_t kernel_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	int err = tree_kernel_write(f->inst, f->node->name, text, len, true);

	(void)caller;
	return err ? err : (ssize_t)len;
}

static const struct tree_node cpumask_node = {
	.name = "tracing_cpumask", .mode = 0640, .kernel = true,
	.show = kernel_show, .store = kernel_store,
};

/* Latency tracers look at it, which there are none of here: it is kept, in us. */
static int thresh_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_printf(out, "%llu\n", (unsigned long long)f->inst->thresh);
	return 0;
}

static ssize_t thresh_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	int err = tree_number(text, INT64_MAX / 1000, &f->inst->thresh);

	(void)caller;
	f->inst->unsaved |= !err;
	return err ? err : (ssize_t)len;
}

static const struct tree_node thresh_node = {
	.name = "tracing_thresh", .mode = 0640, .top = true,
	.show = thresh_show, .store = thresh_store,
};

/* ---- names of threads ---- */

#define CMDLINES_MAX	32768	/* PID_MAX_DEFAULT, the kernel's limit */

/* A thread that was met. */
struct met_task {
	int32_t tid, tgid;	/* tgid 0: not known */
	char comm[16];		/* "": not known */
};

/* All of them, each once, in that order. */
struct met {
	uint64_t *seen;		/* a bit for each */
	struct met_task *task;
	uint32_t nr, room;
};

static int meet(struct met *m, struct tree_reader *r, int32_t tid)
{
	uint32_t n = (uint32_t)tid;
	const char *comm;

	if (n >= TACHO_KTASKS_PID_MAX || m->seen[n / 64] >> (n % 64) & 1)
		return 0;
	if (m->nr == m->room) {
		uint32_t room = m->room ? 2 * m->room : 1024;
		struct met_task *more = reallocarray(m->task, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->task = more;
		m->room = room;
	}
	m->task[m->nr] = (struct met_task){ .tid = tid };
	comm = tacho_stream_comm(r->stream, tid, &m->task[m->nr].tgid);
	/* another session may know it better */
	if (!comm)
		return 0;
	(void)snprintf(m->task[m->nr].comm, sizeof(m->task[0].comm), "%s", comm);
	m->seen[n / 64] |= UINT64_C(1) << (n % 64);
	m->nr++;
	return 0;
}

/* Those that the session knows, then those whose records are there. */
static int meet_all(struct met *m, struct tree_reader *r)
{
	const struct tacho_control *ctl = r->inst->session.view.ctl;
	struct tacho_record rec;
	struct tacho_task task;
	int err = 0;

	for (uint32_t i = 0; !err && i < TACHO_TASKS_MAX; i++)
		if (tacho_tasks_get(ctl, i, &task))
			err = meet(m, r, task.tid);
	while (!err && tacho_stream_next(r->stream, &rec) == TACHO_STREAM_RECORD &&
	       rec.ticks <= r->until)
		err = meet(m, r, rec.pid);
	return err;
}

static int meet_of(struct met *m, struct tree_inst *inst)
{
	struct tree_reader r;
	int err = tree_reader_open(&r, inst, TREE_VIEW_NOW, -1, false);

	if (err)
		return err;
	err = meet_all(m, &r);
	tree_reader_close(&r);
	return err;
}

struct meeting {
	struct met *met;
	struct tacho_tree *tree;
};

/* Those of a session below instances/; it may be gone by now. */
static int meet_instance(const char *name, void *arg)
{
	struct meeting *of = arg;
	struct tree_inst *inst;
	int err;

	if (tree_inst_get(of->tree, name, &inst))
		return 0;
	err = meet_of(of->met, inst);
	tree_inst_put(inst);
	return err == -ENOMEM ? err : 0;
}

/*
 * "pid name", or "pid tgid", of the newest `most` threads, of all instances: the kernel has
 * one list of them.
 */
static int put_tasks(struct tacho_tree_file *f, bool tgids, uint64_t most,
		     struct tacho_buf *out)
{
	struct met m = { .seen = calloc(TACHO_KTASKS_PID_MAX / 64, sizeof(*m.seen)) };
	struct meeting of = { &m, f->inst->tree };
	int err = m.seen ? tree_inst_each(of.tree, meet_instance, &of) : -ENOMEM;

	if (!err)
		err = meet_of(&m, f->inst);
	for (uint32_t i = m.nr > most ? m.nr - (uint32_t)most : 0; !err && i < m.nr; i++) {
		const struct met_task *t = &m.task[i];

		if (tgids && t->tgid)
			tacho_buf_printf(out, "%d %d\n", t->tid, t->tgid);
		else if (!tgids)
			tacho_buf_printf(out, "%d %s\n", t->tid, t->comm);
	}
	free(m.seen);
	free(m.task);
	return err;
}

static int cmdlines_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	uint64_t most;

	pthread_mutex_lock(&f->inst->lock);
	most = f->inst->cmdlines_size;
	pthread_mutex_unlock(&f->inst->lock);
	return put_tasks(f, false, most, out);
}

static int tgids_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	return put_tasks(f, true, UINT32_MAX, out);
}

static const struct tree_node cmdlines_node = {
	.name = "saved_cmdlines", .mode = 0440, .show = cmdlines_show, .top = true,
	.unlocked = true,
};

static const struct tree_node tgids_node = {
	.name = "saved_tgids", .mode = 0440, .show = tgids_show, .top = true,
	.unlocked = true,
};

static int cmdlines_size_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_buf_printf(out, "%llu\n", (unsigned long long)f->inst->cmdlines_size);
	return 0;
}

static ssize_t cmdlines_size_store(struct tacho_tree_file *f, const char *text,
				   size_t len, const struct tacho_tree_caller *caller)
{
	uint64_t v;

	(void)caller;
	if (tree_number(text, CMDLINES_MAX, &v) || !v)
		return -EINVAL;
	f->inst->cmdlines_size = v;
	f->inst->unsaved = true;
	return (ssize_t)len;
}

static const struct tree_node cmdlines_size_node = {
	.name = "saved_cmdlines_size", .mode = 0640, .show = cmdlines_size_show,
	.store = cmdlines_size_store, .top = true,
};

static bool names_comm(void *arg, int32_t pid, char comm[16])
{
	struct tacho_buf b;
	char path[40];

	(void)arg;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	tacho_buf_init(&b, 64);
	if (tacho_buf_read_file(&b, path) || b.len < 2) {
		tacho_buf_release(&b);
		return false;
	}
	(void)snprintf(comm, 16, "%.*s", (int)b.len - 1, b.data);
	tacho_buf_release(&b);
	return true;
}

static const char *names_syscall(void *arg, uint64_t nr)
{
	(void)arg;
	return tacho_syscall_name(nr);
}

const struct tacho_names *tree_names(struct tree_inst *inst)
{
	static const struct tacho_names names = {
		.comm = names_comm, .syscall = names_syscall,
	};

	(void)inst;
	return &names;
}

/* ---- error_log ---- */

static int errors_show(struct tacho_tree_file *f, struct tacho_buf *out)
{
	tacho_errlog_print(&f->inst->errlog, out);
	return 0;
}

/* Any write empties it. */
static ssize_t errors_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	(void)f;
	(void)text;
	(void)caller;
	return (ssize_t)len;
}

static int errors_trunc(struct tacho_tree_file *f)
{
	memset(&f->inst->errlog, 0, sizeof(f->inst->errlog));
	return 0;
}

static const struct tree_node errors_node = {
	.name = "error_log", .mode = 0640, .show = errors_show, .store = errors_store,
	.trunc = errors_trunc,
};

/* ---- tables ---- */

const struct tree_node *const tree_top_nodes[] = {
	&tree_readme_node, &tree_available_node, &available_tracers_node,
	&tree_percent_node, &tree_buffer_size_node, &tree_subbuf_size_node,
	&tree_total_size_node, &current_node, &tree_dynamic_node, &errors_node,
	&tree_free_node, &tree_kprobes_node, &tree_formats_node, &cmdlines_node,
	&cmdlines_size_node, &tgids_node, &tree_set_event_node, &notrace_pids_node,
	&pids_node, &tree_snapshot_node, &tree_synth_node, &mode_node, &tree_trace_node,
	&clock_node, &tree_marker_node, &tree_marker_raw_node, &tree_options_node,
	&tree_pipe_node, &cpumask_node, &on_node, &thresh_node, &tree_uprobes_node,
	&tree_uprobe_profile_node, NULL,
};

const struct tree_node *const tree_cpu_nodes[] = {
	&tree_buffer_size_node, &tree_snapshot_node, &tree_snapshot_raw_node,
	&tree_stats_node, &tree_trace_node, &tree_pipe_node, &tree_raw_node, NULL,
};
