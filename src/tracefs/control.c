// SPDX-License-Identifier: MIT
#include "tracefs/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT_MAX	((size_t)1 << 20)
#define HIST_MAX	((size_t)256 << 20)
#define ARENA_MAX	((size_t)16 << 20)
#define PATH_ROOM	512
/* The error log's prefix of a command, and so of its caret. */
#define COMMAND_PREFIX	"  Command: "

static const char *file_name(enum tacho_kernel_control what)
{
	static const char *const names[] = {
		[TACHO_KERNEL_FILTER] = "filter",
		[TACHO_KERNEL_TRIGGER] = "trigger",
		[TACHO_KERNEL_HIST] = "hist",
	};

	return names[what];
}

static void event_path(char *to, const char *instance,
		       const struct tacho_kernel_event *ev,
		       enum tacho_kernel_control what)
{
	(void)snprintf(to, PATH_ROOM, "instances/%s/events/%s/%s/%s", instance,
		       ev->system, ev->name, file_name(what));
}

/* Checks that tacho created the instance; others are never written to. */
static int check_instance(const char *instance, struct tacho_diag *d)
{
	if ((!strncmp(instance, "tacho-", 6) || !strncmp(instance, "tacho.", 6)) &&
	    !strchr(instance, '/'))
		return 0;
	return tacho_diag(d, -ENOENT, 0, "'%s' is no tracing instance of tacho's",
			  instance);
}

/*
 * The last entry of an error log, of a command that is all of text or a part of it (the
 * filter of a trigger): sentence, and column in text.
 */
static bool last_error(const char *log, const char *text, struct tacho_diag *d)
{
	const char *entry = NULL, *command, *caret;
	static const char mark[] = "error: ";
	char own[PATH_ROOM];

	for (const char *p = log; (p = strstr(p, mark)); p++)
		entry = p + strlen(mark);
	if (!entry)
		return false;
	command = strstr(entry, "\n" COMMAND_PREFIX);
	caret = command ? strchr(command + 1, '\n') : NULL;
	d->offset = 0;
	if (caret) {
		size_t n = strspn(caret + 1, " ");
		const char *at;

		command += 1 + strlen(COMMAND_PREFIX);
		(void)snprintf(own, sizeof(own), "%.*s", (int)(caret - command), command);
		at = strstr(text, own);
		if (caret[1 + n] == '^' && n >= strlen(COMMAND_PREFIX))
			d->offset = n - strlen(COMMAND_PREFIX) +
				    (at ? (size_t)(at - text) : 0);
	}
	(void)snprintf(d->text, sizeof(d->text), "%.*s",
		       (int)strcspn(entry, "\n"), entry);
	return true;
}

struct writing {
	const struct tacho_tracefs *t;
	const char *instance;
	enum tacho_kernel_control what;
	const char *event, *text;
	uint32_t matched, done;
	int err;
	struct tacho_diag refusal;
};

/* Records the kernel's message in d, or a default if its log has none. */
static void ask_kernel(const struct writing *w, const struct tacho_kernel_event *ev,
		       int err, struct tacho_diag *d)
{
	char path[PATH_ROOM];
	struct tacho_buf log;

	(void)snprintf(path, sizeof(path), "instances/%s/error_log", w->instance);
	tacho_buf_init(&log, TEXT_MAX);
	if (tacho_tracefs_read(w->t->dirfd, path, &log, NULL) ||
	    !last_error(tacho_buf_str(&log), w->text, d)) {
		d->offset = TACHO_KERNEL_NO_PLACE;
		if (err == -EINVAL || err == -EEXIST)
			d->err = 0;	/* a better message */
		if (err == -EINVAL)
			(void)tacho_diag(d, err, d->offset, "the kernel does not take "
					 "this for %s:%s", ev->system, ev->name);
		else if (err == -EEXIST)
			(void)tacho_diag(d, err, d->offset, "%s:%s has such a trigger "
					 "already", ev->system, ev->name);
	}
	tacho_buf_release(&log);
}

/* Clears the instance's errors, so that the next one belongs to this write. */
static void forget_errors(const struct tacho_tracefs *t, const char *instance)
{
	char path[PATH_ROOM];

	(void)snprintf(path, sizeof(path), "instances/%s/error_log", instance);
	(void)tacho_tracefs_write(t->dirfd, path, "\n", false, NULL);
}

/*
 * Whether the kernel has this trigger at all.  A trigger file without triggers
 * lists what there is: "# Available triggers:\n# traceon traceoff ...".
 */
static bool knows_trigger(const struct tacho_tracefs *t, const char *text)
{
	static const char mark[] = "# Available triggers:\n";
	const char *word = text + (*text == '!');
	size_t n = strcspn(word, ": ");
	struct tacho_buf b;
	const char *list;
	bool known = true;

	tacho_buf_init(&b, TEXT_MAX);
	if (!tacho_tracefs_read(t->dirfd, "events/sched/sched_switch/trigger", &b,
				NULL)) {
		list = strstr(tacho_buf_str(&b), mark);
		for (known = !list; list && !known && (list = strchr(list, ' ')); ) {
			list += strspn(list, " \n#");
			known = !strncmp(list, word, n) &&
				strchr(" \n", list[n]);
		}
	}
	tacho_buf_release(&b);
	return known;
}

/* Restores the old filter, which a wrong one has replaced. */
static void restore_filter(const struct writing *w, const char *path, const char *old)
{
	bool none = !strncmp(old, "none\n", 5) || strstr(old, "\nparse_error: ");

	(void)tacho_tracefs_write(w->t->dirfd, path, none ? "0" : old, true, NULL);
}

/* Writes to one event, if it matches; keeps the first error. */
static void write_one(struct writing *w, const struct tacho_kernel_event *ev)
{
	bool is_filter = w->what == TACHO_KERNEL_FILTER;
	struct tacho_diag one = { 0 };
	char path[PATH_ROOM];
	struct tacho_buf old;
	int err;

	if (!tacho_event_glob(w->event, ev->system, ev->name))
		return;
	w->matched++;
	event_path(path, w->instance, ev, w->what);
	tacho_buf_init(&old, TEXT_MAX);
	if (is_filter)
		(void)tacho_tracefs_read(w->t->dirfd, path, &old, NULL);
	err = tacho_tracefs_write(w->t->dirfd, path, w->text, true, &one);
	if (!err) {
		w->done++;
	} else {
		if (!w->err) {
			w->err = err;
			ask_kernel(w, ev, err, &one);
			w->refusal = one;
		}
		if (is_filter && old.len)
			restore_filter(w, path, tacho_buf_str(&old));
	}
	tacho_buf_release(&old);
}

static int written(const struct writing *w, struct tacho_diag *d)
{
	if (!w->matched)
		return tacho_diag(d, -ENOENT, 0, "no kernel event matches '%s'",
				  w->event);
	if (w->done)
		return 0;
	if (d)
		*d = w->refusal;
	return w->err;
}

int tacho_kernel_control(const struct tacho_tracefs *t, const char *instance,
			 enum tacho_kernel_control what, const char *event,
			 const char *text, uint32_t *done, struct tacho_diag *d)
{
	struct writing w = { .t = t, .instance = instance, .what = what,
			     .event = event, .text = text };
	struct tacho_kernel_event *list;
	struct tacho_arena arena;
	size_t nr;
	int err = check_instance(instance, d);

	if (err)
		return err;
	if (what == TACHO_KERNEL_TRIGGER && !knows_trigger(t, text))
		return tacho_diag(d, -EOPNOTSUPP, 0,
				  "this kernel has no trigger '%.*s'",
				  (int)strcspn(text + (*text == '!'), ": "),
				  text + (*text == '!'));
	forget_errors(t, instance);
	tacho_arena_init(&arena, ARENA_MAX);
	err = tacho_tracefs_events(t, &arena, &list, &nr, d);
	for (size_t i = 0; !err && i < nr; i++)
		write_one(&w, &list[i]);
	if (!err)
		err = written(&w, d);
	tacho_arena_release(&arena);
	if (done)
		*done = w.done;
	return err;
}

int tacho_kernel_control_enabled(const struct tacho_kernel *k,
				 enum tacho_kernel_control what,
				 const char *event, const char *text,
				 uint32_t *done, struct tacho_diag *d)
{
	struct writing w = { .t = tacho_kernel_tracefs(k),
			     .instance = tacho_kernel_info(k)->instance,
			     .what = what, .event = event, .text = text };
	const struct tacho_kernel_event *ev;

	if (what == TACHO_KERNEL_TRIGGER && !knows_trigger(w.t, text))
		return tacho_diag(d, -EOPNOTSUPP, 0,
				  "this kernel has no trigger '%.*s'",
				  (int)strcspn(text + (*text == '!'), ": "),
				  text + (*text == '!'));
	forget_errors(w.t, w.instance);
	for (size_t i = 0; (ev = tacho_kernel_enabled(k, i)); i++)
		write_one(&w, ev);
	if (done)
		*done = w.done;
	return written(&w, d);
}

struct listing {
	enum tacho_kernel_control what;
	int (*fn)(const struct tacho_kernel_event *ev, const char *text, void *arg);
	void *arg;
};

/* "none" is a filter that is not set; lines with '#' are the kernel's help. */
static int tell_lines(const struct listing *l, const struct tacho_kernel_event *ev,
		      char *text)
{
	char *save = NULL;
	int ret = 0;

	for (char *line = strtok_r(text, "\n", &save); line && !ret;
	     line = strtok_r(NULL, "\n", &save))
		if (*line != '#' && strcmp(line, "none") != 0)
			ret = l->fn(ev, line, l->arg);
	return ret;
}

/* Lists one file; an event, or the file, may not exist. */
static int tell_one(const struct listing *l, const struct tacho_tracefs *t,
		    const char *instance, const struct tacho_kernel_event *ev)
{
	char path[PATH_ROOM];
	struct tacho_buf text;
	int ret = 0;

	event_path(path, instance, ev, l->what);
	tacho_buf_init(&text, HIST_MAX);
	if (!tacho_tracefs_read(t->dirfd, path, &text, NULL) && text.len) {
		if (l->what == TACHO_KERNEL_HIST)
			ret = l->fn(ev, tacho_buf_str(&text), l->arg);
		else if (tacho_buf_str(&text))
			ret = tell_lines(l, ev, text.data);
	}
	tacho_buf_release(&text);
	return ret;
}

int tacho_kernel_controls(const struct tacho_tracefs *t, const char *instance,
			  enum tacho_kernel_control what, const char *event,
			  int (*fn)(const struct tacho_kernel_event *ev,
				    const char *text, void *arg),
			  void *arg, struct tacho_diag *d)
{
	const struct listing l = { .what = what, .fn = fn, .arg = arg };
	struct tacho_kernel_event *list;
	struct tacho_arena arena;
	size_t nr = 0;
	int err = check_instance(instance, d);

	if (err)
		return err;
	tacho_arena_init(&arena, ARENA_MAX);
	err = tacho_tracefs_events(t, &arena, &list, &nr, d);
	for (size_t i = 0; !err && i < nr; i++)
		if (!event || tacho_event_glob(event, list[i].system, list[i].name))
			err = tell_one(&l, t, instance, &list[i]);
	tacho_arena_release(&arena);
	return err;
}

bool tacho_kernel_records(const struct tacho_tracefs *t, const char *instance,
			  const char *system, const char *event)
{
	char path[PATH_ROOM];
	struct tacho_buf text;
	bool records;

	(void)snprintf(path, sizeof(path), "instances/%s/events/%s/%s/enable",
		       instance, system, event);
	tacho_buf_init(&text, TEXT_MAX);
	/* "0", "1"; with a '*': in soft mode */
	records = !tacho_tracefs_read(t->dirfd, path, &text, NULL) &&
		  strpbrk(tacho_buf_str(&text), "1*");
	tacho_buf_release(&text);
	return records;
}
