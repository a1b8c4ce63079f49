// SPDX-License-Identifier: MIT
/*
 * The settings of an instance that no other file has: a file in the session's directory, so that
 * the mount that follows a killed server has it.
 *
 * Rules, filters, event probes and programs' triggers are the session's, and what the kernel
 * does is set in its instance: both outlive the server.  The rest is in this file, one thing a
 * line:
 *
 *	made				the session was made by a mount, and ends with it
 *	clock NAME
 *	options HEX			bits, see options.c
 *	percent, page, cmdlines, thresh NUMBER
 *	event SYSTEM NAME 0|1		the engine has triggers or event probes on it; whether it is
 *					enabled, too
 *	trigger SYSTEM NAME TEXT	one of them
 *
 * It is written again, under another name first, when a write to a file of the tree has changed
 * any of that, by the server that has the directory's flock, which a kill releases.  Another
 * mount of the same session takes nothing over: the two would count twice.  Whichever of them
 * ends last looks for `made` (servers.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store.h"
#include "session/session.h"

#define TEXT_MAX	((size_t)16 << 20)
#define NAMES		"%119s %119s"	/* TACHO_RULE_MAX - 1 */

static void path_of(const struct tree_inst *inst, const char *end, char *path, size_t size)
{
	(void)snprintf(path, size, "%s/" TACHO_SESSION_SETTINGS "%s", inst->session.path, end);
}

/* ---- writing ---- */

/* ":unlimited" and ":count=3", as `trigger` shows them, are not what it takes. */
static void put_command(const char *line, size_t len, struct tacho_buf *out)
{
	const char *end, *count;
	size_t head, keep;

	if (!line)
		return;
	end = memmem(line, len, " if ", 4);
	head = keep = end ? (size_t)(end - line) : len;
	count = memmem(line, head, ":count=", 7);
	if (head > 10 && !memcmp(line + head - 10, ":unlimited", 10))
		keep = head - 10;
	if (count) {
		tacho_buf_put(out, line, (size_t)(count - line) + 1);
		tacho_buf_put(out, count + 7, head - (size_t)(count - line) - 7);
	} else {
		tacho_buf_put(out, line, keep);
	}
	tacho_buf_put(out, line + head, len - head);
}

static void put_hists(const struct tacho_engine *engine, const struct tacho_engine_event *e,
		      struct tacho_buf *out)
{
	const struct tacho_hist *h;

	for (uint32_t i = 0; (h = tacho_engine_hist(engine, e, i)); i++) {
		const char *text = tacho_hist_spec_of(h)->text;
		const char *filter = strstr(text, " if ");
		size_t head = filter ? (size_t)(filter - text) : strlen(text);

		tacho_buf_printf(out, "trigger %s %s %.*s%s%s\n", e->type->system, e->type->name,
				 (int)head, text, tacho_hist_paused(h) ? ":pause" : "",
				 text + head);
	}
}

/* All that is on an event; the newest is shown first, and is to be set last. */
static void put_triggers(const struct tacho_engine *engine, const struct tacho_engine_event *e,
			 struct tacho_buf *out)
{
	struct tacho_buf shown;
	size_t end;

	tacho_buf_init(&shown, TEXT_MAX);
	tacho_engine_print_triggers(engine, e, &shown);
	for (end = shown.len; end; ) {
		const char *nl = memrchr(shown.data, '\n', end - 1);
		size_t at = nl ? (size_t)(nl - shown.data) + 1 : 0;
		const char *line = shown.data + at;
		size_t len = end - at - 1;

		if (len && *line != '#' && strncmp(line, "hist:", 5)) {
			tacho_buf_printf(out, "trigger %s %s ", e->type->system, e->type->name);
			put_command(line, len, out);
			tacho_buf_putc(out, '\n');
		}
		end = at;
	}
	tacho_buf_release(&shown);
}

static void put_engine(struct tree_inst *inst, struct tacho_buf *out)
{
	struct tacho_engine *engine = tree_engine(inst);
	const struct tacho_engine_event *e;

	for (uint32_t i = 0; engine && (e = tacho_engine_at(engine, i)); i++) {
		if (!e->soft)
			continue;
		tacho_buf_printf(out, "event %s %s %d\n", e->type->system, e->type->name,
				 e->enabled);
		put_hists(engine, e, out);
		put_triggers(engine, e, out);
	}
}

static void put_all(struct tree_inst *inst, struct tacho_buf *out)
{
	if (inst->made && !inst->tree->config.keep)
		tacho_buf_puts(out, "made\n");
	tacho_buf_printf(out, "clock %s\noptions %" PRIx64 "\npercent %u\npage %u\n"
			 "cmdlines %" PRIu64 "\nthresh %" PRIu64 "\n",
			 tree_clock_name(inst->clock), inst->options, inst->buffer_percent,
			 inst->page_size, inst->cmdlines_size, inst->thresh);
	put_engine(inst, out);
}

void tree_settings_save(struct tree_inst *inst)
{
	char path[TACHO_PATH_MAX + 32], temp[TACHO_PATH_MAX + 32];
	struct tacho_buf b;
	bool done;
	int fd;

	if (!inst->unsaved || inst->shared)
		return;
	tacho_buf_init(&b, TEXT_MAX);
	put_all(inst, &b);
	path_of(inst, "", path, sizeof(path));
	path_of(inst, ".new", temp, sizeof(temp));
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	done = fd >= 0 && !tacho_buf_error(&b) &&
	       write(fd, b.data, b.len) == (ssize_t)b.len;
	if (fd >= 0)
		close(fd);
	/* else with the next write */
	inst->unsaved = !(done && !rename(temp, path));
	tacho_buf_release(&b);
}

/* ---- reading ---- */

static void take_number(struct tree_inst *inst, const char *line)
{
	char name[16], word[16];
	uint64_t v;

	if (sscanf(line, "clock %15s", word) == 1)
		(void)tree_clock_find(word, &inst->clock);
	if (sscanf(line, "options %" SCNx64, &v) == 1)
		inst->options = v;
	if (sscanf(line, "%15s %" SCNu64, name, &v) != 2)
		return;
	if (!strcmp(name, "percent") && v <= 100)
		inst->buffer_percent = (uint32_t)v;
	else if (!strcmp(name, "page") && v <= UINT32_C(1) << 20 && !(v & (v - 1)) &&
		 (!v || v >= 4096))
		inst->page_size = (uint32_t)v;
	else if (!strcmp(name, "cmdlines") && v)
		inst->cmdlines_size = v;
	else if (!strcmp(name, "thresh"))
		inst->thresh = v;
}

/* Calls fn for each line, which it may change. */
static void each_line(char *text, void (*fn)(struct tree_inst *inst, char *line, void *arg),
		      struct tree_inst *inst, void *arg)
{
	for (char *line = text, *next; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		fn(inst, line, arg);
		if (*next)
			next[-1] = '\n';
	}
}

static void take_line(struct tree_inst *inst, char *line, void *arg)
{
	(void)arg;
	inst->made |= !strcmp(line, "made");
	take_number(inst, line);
}

void tree_settings_own(struct tree_inst *inst)
{
	inst->own_fd = open(inst->session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	inst->shared = inst->own_fd < 0 || flock(inst->own_fd, LOCK_EX | LOCK_NB);
}

static void read_file(const struct tree_inst *inst, struct tacho_buf *b)
{
	char path[TACHO_PATH_MAX + 32];

	path_of(inst, "", path, sizeof(path));
	tacho_buf_init(b, TEXT_MAX);
	(void)tacho_buf_read_file(b, path);
}

void tree_settings_load(struct tree_inst *inst)
{
	uint64_t overwrite = tree_option_bit("overwrite");
	struct tacho_buf b;

	read_file(inst, &b);
	each_line((char *)(uintptr_t)tacho_buf_str(&b), take_line, inst, NULL);
	if (inst->shared)
		inst->made = false;
	/* that is the session's */
	inst->options = inst->session.view.ctl->flags & TACHO_SESSION_OVERWRITE ?
			inst->options | overwrite : inst->options & ~overwrite;
	inst->unsaved = b.len > 0;
	inst->pending = b.len && !inst->shared;
	tacho_buf_release(&b);
}

static void look_for_made(struct tree_inst *inst, char *line, void *arg)
{
	(void)inst;
	*(bool *)arg |= !strcmp(line, "made");
}

bool tree_settings_made(const struct tree_inst *inst)
{
	bool made = inst->made;
	struct tacho_buf b;

	if (made || !inst->shared)
		return made;
	read_file(inst, &b);
	each_line((char *)(uintptr_t)tacho_buf_str(&b), look_for_made, NULL, &made);
	tacho_buf_release(&b);
	return made;
}

/* How many could be set, and how many could not so far: one may refer to another. */
struct setting {
	uint32_t set;
	bool enables;		/* the second part: which events are enabled */
};

static void set_line(struct tree_inst *inst, char *line, void *arg)
{
	char system[TACHO_RULE_MAX], name[TACHO_RULE_MAX];
	struct setting *s = arg;
	struct tacho_engine_event *e;
	int on, at = 0;

	if (s->enables && sscanf(line, "event " NAMES " %d", system, name, &on) == 3) {
		e = tree_engine_event(inst, system, name);
		if (e && e->enabled != !!on)
			tree_engine_enable(inst, e, on);
	}
	if (s->enables || sscanf(line, "trigger " NAMES " %n", system, name, &at) != 2 || !at ||
	    tree_engine_trigger(inst, system, name, line + at, NULL))
		return;
	s->set++;
	*line = '#';
}

void tree_settings_restore(struct tree_inst *inst)
{
	struct setting s = { .set = 1 };
	struct tacho_buf b;
	char *text;

	if (!inst->pending)
		return;
	inst->pending = false;
	read_file(inst, &b);
	text = (char *)(uintptr_t)tacho_buf_str(&b);
	tree_engine_eprobes_restore(inst);
	if (strstr(text, "\nevent ") && tree_has_kernel(inst->tree)) {
		while (s.set) {
			s.set = 0;
			each_line(text, set_line, inst, &s);
		}
		s.enables = true;
		each_line(text, set_line, inst, &s);
	}
	tacho_buf_release(&b);
	/* it is ours from now on */
	inst->unsaved = true;
	tree_settings_save(inst);
}
