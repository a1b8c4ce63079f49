// SPDX-License-Identifier: MIT
/* probe_list.c - the probes that the machine has, and deleting them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/probe_priv.h"
#include "base/scan.h"
#include "base/text.h"

#define ARENA_MAX	((size_t)256 << 20)
#define NAME_ROOM	(2 * TACHO_PROBE_NAME_MAX + 2)

struct app_probe_list {
	struct tacho_arena arena;
	struct tacho_tracefs tracefs;
	struct tacho_probe_spec *list;
	size_t nr;
	struct tacho_buf hits;		/* uprobe_profile, kprobe_profile */
	struct tacho_object *object;	/* of the program shown last */
};

int app_probe_list_new(struct app_probe_list **to, struct tacho_diag *d)
{
	struct app_probe_list *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return tacho_no_memory(d);
	tacho_arena_init(&p->arena, ARENA_MAX);
	tacho_buf_init(&p->hits, ARENA_MAX);
	p->tracefs.dirfd = -1;
	err = tacho_tracefs_open(&p->tracefs, TACHO_TRACEFS_MOUNT, d);
	if (!err)
		err = tacho_dynevent_list(&p->tracefs, &p->arena, &p->list, &p->nr, d);
	if (err)
		app_probe_list_free(p);
	else
		*to = p;
	return err;
}

void app_probe_list_free(struct app_probe_list *p)
{
	tacho_object_close(p->object);
	tacho_tracefs_close(&p->tracefs);
	tacho_buf_release(&p->hits);
	tacho_arena_release(&p->arena);
	free(p);
}

/* A pattern without a group is for those that tacho made. */
static bool chosen(const struct tacho_probe_spec *s, const char *const *glob, size_t nr)
{
	char name[NAME_ROOM];

	(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
	for (size_t i = 0; i < nr; i++)
		if (strchr(glob[i], ':') ? tacho_glob_match(glob[i], name) :
		    !strcmp(s->group, APP_PROBE_GROUP) &&
		    tacho_glob_match(glob[i], s->event))
			return true;
	return !nr;
}

/* ---- what there is ---------------------------------------------------------- */

static const char *kind_name(const struct tacho_probe_spec *s)
{
	switch (s->place) {
	case TACHO_PROBE_FILE:
		return s->on_return ? "return" : "program";
	case TACHO_PROBE_TRACEPOINT:
		return "tracepoint";
	case TACHO_PROBE_EVENT:
		return "event";
	case TACHO_PROBE_SYMBOL:
	case TACHO_PROBE_ADDRESS:
	case TACHO_PROBE_NOWHERE:
	default:
		return s->on_return ? "kreturn" : "kernel";
	}
}

/* The next word of a line, which ends at a blank; NULL: there is none. */
static const char *next_word(const char **at, const char *end, size_t *len)
{
	const char *word;

	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
	word = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		++*at;
	*len = (size_t)(*at - word);
	return *len ? word : NULL;
}

static bool is_word(const char **at, const char *end, const char *text)
{
	size_t len;
	const char *word = next_word(at, end, &len);

	return word && strlen(text) == len && !memcmp(word, text, len);
}

/* "PATH EVENT HITS" of programs, "EVENT HITS MISSED" of the kernel: the event without its group. */
static bool is_hit_line(const struct tacho_probe_spec *s, const char *at, const char *end,
			uint64_t *hits)
{
	size_t len;
	const char *number;

	if (s->place == TACHO_PROBE_FILE && !is_word(&at, end, s->target))
		return false;
	if (!is_word(&at, end, s->event))
		return false;
	number = next_word(&at, end, &len);
	return number && !tacho_scan_digits(&number, end, 10, UINT64_MAX, hits);
}

/* How often it was hit while somebody recorded it, if the kernel says so. */
static bool hits_of(const struct app_probe_list *p, const struct tacho_probe_spec *s,
		    uint64_t *hits)
{
	const char *at = p->hits.data, *end = at ? at + p->hits.len : NULL;

	while (at && at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));

		if (is_hit_line(s, at, nl ? nl : end, hits))
			return true;
		at = nl ? nl + 1 : end;
	}
	return false;
}

/* The program's words for the place: "checkout+8 (main.c:12)". */
static void source_of(struct app_probe_list *p, const struct tacho_probe_spec *s,
		      struct tacho_buf *to)
{
	const struct tacho_function *f;
	struct tacho_where w;
	uint64_t address;

	if (!p->object || strcmp(tacho_object_path(p->object), s->target) != 0) {
		tacho_object_close(p->object);
		p->object = NULL;
		(void)tacho_object_open(&p->object, s->target, NULL, NULL);
	}
	if (!p->object ||
	    tacho_object_address(p->object, (uint64_t)s->offset, &address))
		return;
	f = tacho_object_at(p->object, address);
	if (f && address > f->address)
		tacho_buf_printf(to, "%s+%" PRIu64, f->name,
				 address - f->address);
	else if (f)
		tacho_buf_puts(to, f->name);
	if (!tacho_object_where(p->object, address, &w, NULL))
		tacho_buf_printf(to, "%s(%s:%u)", f ? " " : "",
				 strrchr(w.file, '/') ? strrchr(w.file, '/') + 1
						      : w.file, w.line);
}

static void place_of(const struct tacho_probe_spec *s, struct tacho_buf *to)
{
	struct tacho_probe_spec bare = *s;

	bare.group = bare.event = bare.filter = NULL;
	bare.nr_args = bare.max_active = 0;
	tacho_probe_write(&bare, to);
}

static void tell(struct app_probe_list *p, const struct tacho_probe_spec *s,
		 void (*fn)(void *arg, const struct app_probe_info *probe), void *arg)
{
	struct app_probe_arg args[TACHO_PROBE_ARGS_MAX];
	const char *slash = s->target ? strrchr(s->target, '/') : NULL;
	struct tacho_buf place, source, text;
	char name[NAME_ROOM];
	struct app_probe_info info = {
		.event = name, .kind = kind_name(s), .program = slash ? slash + 1 : NULL,
		.filter = s->filter, .arg = args,
	};

	(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
	for (; info.nr_args < s->nr_args && info.nr_args < TACHO_PROBE_ARGS_MAX; info.nr_args++)
		args[info.nr_args] = (struct app_probe_arg){
			s->arg[info.nr_args].name, s->arg[info.nr_args].fetch,
			s->arg[info.nr_args].type,
		};
	info.has_hits = hits_of(p, s, &info.hits);
	tacho_buf_init(&place, 65536);
	tacho_buf_init(&source, 65536);
	tacho_buf_init(&text, 1 << 20);
	place_of(s, &place);
	if (s->place == TACHO_PROBE_FILE)
		source_of(p, s, &source);
	tacho_probe_write(s, &text);
	/* without the letter that place_of() begins with */
	info.place = tacho_buf_str(&place) + (place.len > 2 ? 2 : 0);
	info.source = tacho_buf_str(&source);
	info.definition = tacho_buf_str(&text);
	fn(arg, &info);
	tacho_buf_release(&place);
	tacho_buf_release(&source);
	tacho_buf_release(&text);
}

size_t app_probe_each(struct app_probe_list *p, const char *const *globs, size_t nr,
		      void (*fn)(void *arg, const struct app_probe_info *probe), void *arg)
{
	size_t shown = 0;

	/* a kernel may lack either */
	tacho_buf_reset(&p->hits);
	(void)tacho_buf_read_fileat(&p->hits, p->tracefs.dirfd, "uprobe_profile");
	(void)tacho_buf_read_fileat(&p->hits, p->tracefs.dirfd, "kprobe_profile");
	for (size_t i = 0; i < p->nr; i++) {
		if (!chosen(&p->list[i], globs, nr))
			continue;
		tell(p, &p->list[i], fn, arg);
		shown++;
	}
	return shown;
}

/* ---- deleting -------------------------------------------------------------- */

static bool same_event(const struct tacho_probe_spec *a, const struct tacho_probe_spec *b)
{
	return !strcmp(a->group, b->group) && !strcmp(a->event, b->event);
}

/* The i-th, if it is the first place of an event that is meant. */
static bool is_meant(const struct app_probe_list *p, size_t i, const char *const *globs, size_t nr)
{
	/* an event goes with all of its places */
	for (size_t j = 0; j < i; j++)
		if (same_event(&p->list[i], &p->list[j]))
			return false;
	return chosen(&p->list[i], globs, nr);
}

static bool any_matches(const struct app_probe_list *p, const char *const *glob)
{
	for (size_t i = 0; i < p->nr; i++)
		if (chosen(&p->list[i], glob, 1))
			return true;
	return false;
}

int app_probe_delete(struct app_probe_list *p, const char *const *globs, size_t nr,
		     void (*fn)(void *arg, const char *event, const struct tacho_diag *failed),
		     void *arg, struct tacho_diag *d)
{
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		if (!any_matches(p, &globs[i]))
			return tacho_diag(d, -ENOENT, 0, "no probe matches '%s'", globs[i]);
	for (size_t i = 0; i < p->nr; i++) {
		const struct tacho_probe_spec *s = &p->list[i];
		struct tacho_diag why = { 0 };
		char name[NAME_ROOM];

		if (!is_meant(p, i, globs, nr))
			continue;
		(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
		if (tacho_dynevent_del(&p->tracefs, s, &why))
			err = why.err;
		fn(arg, name, why.err ? &why : NULL);
	}
	return err;
}
