// SPDX-License-Identifier: MIT
#include "tracefs/dynevent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_MAX		((size_t)1 << 20)
#define LIST_MAX	((size_t)64 << 20)

static bool exists(const struct tacho_tracefs *t, const char *file)
{
	return !faccessat(t->dirfd, file, F_OK, 0);
}

/* ---- which file ---- */

static int no_kprobes(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOSYS, TACHO_PROBE_NO_COLUMN,
		"this kernel has no kprobes (CONFIG_KPROBE_EVENTS): use its "
		"tracepoints ('tacho list --kernel'), or probes in programs "
		"('tacho probe add -x PROGRAM')");
}

static int no_uprobes(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOSYS, TACHO_PROBE_NO_COLUMN,
		"this kernel has no uprobes (CONFIG_UPROBE_EVENTS): put "
		"tracepoints into the program, see tacho-tracepoint(3)");
}

/* Reports that the kernel does not support the kind of the line. */
static int no_such_kind(char kind, struct tacho_diag *d)
{
	if (kind == 'f' || kind == 't')
		return tacho_diag(d, -ENOSYS, TACHO_PROBE_NO_COLUMN,
			"this kernel has no probes of kind '%c' "
			"(CONFIG_FPROBE_EVENTS): use a kprobe ('p'), or its "
			"tracepoints ('tacho list --kernel')", kind);
	return tacho_diag(d, -ENOSYS, TACHO_PROBE_NO_COLUMN,
		"this kernel has no probes on events (CONFIG_EPROBE_EVENTS): "
		"record the event itself");
}

/* Whether the kernel's README has the kind; true when there is none. */
static bool readme_has(const struct tacho_tracefs *t, char kind)
{
	const char form[] = { ' ', kind, '[', '\0' };
	const char colon[] = { '\t', kind, ':', '[', '\0' };
	struct tacho_buf b;
	bool has = true;

	tacho_buf_init(&b, LOG_MAX);
	if (!tacho_buf_read_fileat(&b, t->dirfd, "README"))
		has = strstr(tacho_buf_str(&b), form) ||
		      strstr(tacho_buf_str(&b), colon);
	tacho_buf_release(&b);
	return has;
}

/* The file for a probe, or NULL with d filled in. */
static const char *file_of(const struct tacho_tracefs *t,
			   const struct tacho_probe_spec *s,
			   struct tacho_diag *d)
{
	bool program = s->place == TACHO_PROBE_FILE;
	const char *file = program ? "uprobe_events" : "kprobe_events";

	if (s->kind != 'p' && s->kind != 'r') {
		if (exists(t, "dynamic_events") && readme_has(t, s->kind))
			return "dynamic_events";
		(void)no_such_kind(s->kind, d);
		return NULL;
	}
	if (exists(t, file))
		return file;
	(void)(program ? no_uprobes(d) : no_kprobes(d));
	return NULL;
}

/* ---- the kernel's errors ---- */

/* The words of a line, separated by single blanks, as error_log has them. */
static void normalise(const char *text, struct tacho_buf *out)
{
	static const char blanks[] = " \t\r\n\v\f";

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		size_t n = strcspn(text, blanks);

		if (out->len)
			tacho_buf_putc(out, ' ');
		tacho_buf_put(out, text, n);
		text += n;
	}
}

/* Converts an offset in the normalised text to one in the text. */
static uint64_t column_in(const char *text, size_t column)
{
	static const char blanks[] = " \t\r\n\v\f";
	const char *at = text + strspn(text, blanks);

	while (column && *at) {
		if (strchr(blanks, *at))
			at += strspn(at, blanks);
		else
			at++;
		column--;
	}
	return (uint64_t)(at - text);
}

/*
 * The last entry of the log is three lines:
 *	[ 123.456789] trace_uprobe: error: WORDS
 *	  Command: TEXT
 *	           ^
 */
static bool last_entry(const char *log, const char *command, const char **words,
		       size_t *len, size_t *column)
{
	static const char key[] = "\n  Command: ";
	const char *at = NULL, *p, *end, *begin;

	for (p = strstr(log, key); p; p = strstr(p + 1, key))
		at = p;
	if (!at)
		return false;
	p = at + strlen(key);
	end = strchr(p, '\n');
	if (!end || strlen(command) != (size_t)(end - p) ||
	    memcmp(p, command, strlen(command)) != 0)
		return false;
	for (begin = at; begin > log && begin[-1] != '\n'; begin--)
		;
	*words = strstr(begin, "error: ");
	if (!*words || *words > at)
		return false;
	*words += strlen("error: ");
	*len = (size_t)(at - *words);
	*column = strcspn(end + 1, "^");
	*column = *column >= strlen(key) - 1 ? *column - (strlen(key) - 1) : 0;
	return true;
}

static void read_log(const struct tacho_tracefs *t, struct tacho_buf *b)
{
	tacho_buf_init(b, LOG_MAX);
	(void)tacho_buf_read_fileat(b, t->dirfd, "error_log");
}

/* Finds the kernel's message for an error; false: none. */
static bool kernel_words(const struct tacho_tracefs *t, const char *text,
			 struct tacho_buf *before, int err, struct tacho_diag *d)
{
	struct tacho_buf after, command;
	const char *words;
	size_t len, column;
	bool found;

	read_log(t, &after);
	tacho_buf_init(&command, LOG_MAX);
	normalise(text, &command);
	found = strcmp(tacho_buf_str(before), tacho_buf_str(&after)) != 0 &&
		last_entry(tacho_buf_str(&after), tacho_buf_str(&command),
			   &words, &len, &column);
	if (found)
		(void)tacho_diag(d, err, column_in(text, column),
				 "%.*s (says the kernel)", (int)len, words);
	tacho_buf_release(&command);
	tacho_buf_release(&after);
	return found;
}

/* ---- add ---- */

static int append(const struct tacho_tracefs *t, const char *file,
		  const char *text)
{
	size_t len = strlen(text);
	ssize_t n;
	int fd, ret = 0;

	fd = openat(t->dirfd, file, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		n = write(fd, text, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int refused(const struct tacho_tracefs *t,
		   const struct tacho_probe_spec *s, const char *text,
		   struct tacho_buf *before, int err, struct tacho_diag *d)
{
	if (kernel_words(t, text, before, err, d))
		return err;
	if (err == -EACCES || err == -EPERM)
		return tacho_diag(d, err, TACHO_PROBE_NO_COLUMN,
				  "no permission to make probes: run as root");
	if (err == -EINVAL && strchr("fte", s->kind))
		return no_such_kind(s->kind, d);
	if (err == -EEXIST)
		return tacho_diag(d, err, TACHO_PROBE_NO_COLUMN,
			"there is an event of that name already");
	return tacho_diag(d, err, TACHO_PROBE_NO_COLUMN,
			  "the kernel refuses '%.100s': %s", text,
			  strerror(-err));
}

int tacho_dynevent_add(const struct tacho_tracefs *t, const char *text,
		       struct tacho_diag *d)
{
	struct tacho_probe_spec spec;
	struct tacho_arena arena;
	struct tacho_buf before;
	const char *file;
	int ret;

	tacho_arena_init(&arena, 1 << 20);
	ret = tacho_probe_parse(&arena, text, &spec, d);
	if (!ret && spec.kind == '-')
		ret = tacho_diag(d, -EINVAL, 0,
				 "this takes a probe away instead of making one");
	if (ret)
		goto out;
	file = file_of(t, &spec, d);
	if (!file) {
		ret = -ENOSYS;
		goto out;
	}
	read_log(t, &before);
	ret = append(t, file, text);
	if (ret)
		ret = refused(t, &spec, text, &before, ret, d);
	tacho_buf_release(&before);
out:
	tacho_arena_release(&arena);
	return ret;
}

/* ---- list ---- */

struct listing {
	struct tacho_arena *arena;
	struct tacho_probe_spec *list;
	size_t nr, room;
};

/* Lists a line; arguments that tacho cannot parse are omitted. */
static int take_line(struct listing *l, char *line)
{
	struct tacho_probe_spec spec, *p;
	int ret = tacho_probe_parse(l->arena, line, &spec, NULL);

	if (ret == -EINVAL || ret == -E2BIG) {
		char *end = line + strcspn(line, " ");

		end += strspn(end, " ");
		end[strcspn(end, " ")] = '\0';
		ret = tacho_probe_parse(l->arena, line, &spec, NULL);
	}
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (spec.kind == '-' || !spec.group || !spec.event)
		return 0;
	if (l->nr == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		p = tacho_arena_array(l->arena, l->room, sizeof(*p));
		if (!p)
			return -ENOMEM;
		if (l->nr)
			memcpy(p, l->list, l->nr * sizeof(*p));
		l->list = p;
	}
	l->list[l->nr++] = spec;
	return 0;
}

static int take_file(struct listing *l, const struct tacho_tracefs *t,
		     const char *file, struct tacho_diag *d)
{
	struct tacho_buf b;
	char *line, *rest, *text;
	int ret;

	tacho_buf_init(&b, LIST_MAX);
	ret = tacho_tracefs_read(t->dirfd, file, &b, d);
	text = ret ? NULL : strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	if (ret)
		return ret;
	if (!text)
		return tacho_diag(d, -ENOMEM, 0, "no memory for the probes");
	for (rest = text; !ret && (line = strsep(&rest, "\n"));)
		if (*line)
			ret = take_line(l, line);
	free(text);
	return ret ? tacho_diag(d, ret, 0, "no memory for the probes") : 0;
}

int tacho_dynevent_list(const struct tacho_tracefs *t, struct tacho_arena *arena,
			struct tacho_probe_spec **list, size_t *nr,
			struct tacho_diag *d)
{
	static const char *const single[] = { "uprobe_events", "kprobe_events" };
	struct listing l = { .arena = arena };
	bool any = exists(t, "dynamic_events");
	int ret = 0;

	if (any)
		ret = take_file(&l, t, "dynamic_events", d);
	for (size_t i = 0; !any && !ret && i < TACHO_ARRAY_SIZE(single); i++)
		if (exists(t, single[i]))
			ret = take_file(&l, t, single[i], d);
	*list = l.list;
	*nr = l.nr;
	return ret;
}

/* ---- del ---- */

int tacho_dynevent_del(const struct tacho_tracefs *t,
		       const struct tacho_probe_spec *which,
		       struct tacho_diag *d)
{
	const char *file = "dynamic_events";
	struct tacho_buf b;
	int ret;

	if (!exists(t, file))
		file = file_of(t, which, d);
	if (!file)
		return -ENOSYS;
	tacho_buf_init(&b, 4096);
	tacho_buf_printf(&b, "-:%s/%s", which->group, which->event);
	ret = append(t, file, tacho_buf_str(&b));
	tacho_buf_release(&b);
	if (!ret)
		return 0;
	if (ret == -EBUSY)
		return tacho_diag(d, ret, TACHO_PROBE_NO_COLUMN,
			"cannot remove '%s:%s': a recording has it enabled; stop that first",
			which->group, which->event);
	if (ret == -EACCES || ret == -EPERM)
		return tacho_diag(d, ret, TACHO_PROBE_NO_COLUMN,
				  "no permission to remove probes: run as root");
	return tacho_diag(d, ret, TACHO_PROBE_NO_COLUMN,
		"cannot take '%s:%s' away: %s", which->group, which->event,
		strerror(-ret));
}
