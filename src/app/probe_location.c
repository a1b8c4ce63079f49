// SPDX-License-Identifier: MIT
/* probe_location.c - from 'checkout:12', 'main.c:42', 'sdt:shop:*' to places. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/probe_priv.h"
#include "app/suggest.h"
#include "base/scan.h"
#include "base/text.h"

#define NAME_ROOM	(TACHO_PROBE_NAME_MAX - 8u)	/* a number may follow */

struct probe_event *probe_event_new(struct probe_add *a, const char *spec,
				    const char *name)
{
	struct probe_event *e;

	if (a->nr_events == PROBE_EVENTS_MAX) {
		(void)tacho_diag(a->d, -EINVAL, 0, "'%s' is more than %u events", spec,
			       PROBE_EVENTS_MAX);
		return NULL;
	}
	if (a->nr_events == a->room) {
		a->room = a->room ? 2 * a->room : 16;
		e = reallocarray(a->event, a->room, sizeof(*e));
		if (!e) {
			(void)tacho_no_memory(a->d);
			return NULL;
		}
		a->event = e;
	}
	e = &a->event[a->nr_events];
	*e = (struct probe_event){
		.name = probe_clean_name(&a->set->arena, name), .spec = spec,
	};
	if (!e->name) {
		(void)tacho_no_memory(a->d);
		return NULL;
	}
	a->nr_events++;
	return e;
}

char *probe_clean_name(struct tacho_arena *arena, const char *name)
{
	bool digit = isdigit((unsigned char)*name);
	char clean[NAME_ROOM + 1];
	size_t n = 0;

	if (digit || !*name)
		clean[n++] = '_';
	for (; *name && n < NAME_ROOM; name++)
		clean[n++] = isalnum((unsigned char)*name) ? *name : '_';
	return tacho_arena_strndup(arena, clean, n);
}

bool probe_location_new(struct probe_add *a, struct probe_event *e,
		     uint64_t address, bool copy)
{
	struct probe_location *p;
	uint64_t offset = 0;

	/* in two functions with one name, or at the begin of another copy */
	for (size_t i = 0; i < e->nr_locations; i++)
		if (e->location[i].address == address)
			return true;
	if (a->object && tacho_object_offset(a->object, address, &offset)) {
		(void)tacho_diag(a->d, -EINVAL, 0, "'%s' has no code at 0x%" PRIx64, a->config->program,
			       address);
		return false;
	}
	p = tacho_arena_array(&a->set->arena, e->nr_locations + 1, sizeof(*p));
	if (!p) {
		(void)tacho_no_memory(a->d);
		return false;
	}
	if (e->nr_locations)
		memcpy(p, e->location, e->nr_locations * sizeof(*p));
	p[e->nr_locations++] = (struct probe_location){
		.address = address, .offset = offset, .copy = copy,
	};
	e->location = p;
	return true;
}

/* ---- SPEC, cut into its parts ---- */

struct spec {
	const char *text;
	char *word;		/* without what follows */
	bool on_return;
	bool has_line, has_offset;
	uint64_t line, offset;
};

static bool parse_number(const char *s, uint64_t *v)
{
	return !tacho_scan_number(&s, NULL, UINT64_MAX, v) && !*s;
}

static int split(struct probe_add *a, const char *text, struct spec *s)
{
	char *tail;

	*s = (struct spec){ .text = text };
	s->word = tacho_arena_strndup(&a->set->arena, text, strlen(text));
	if (!s->word)
		return tacho_no_memory(a->d);
	tail = strrchr(s->word, '%');
	if (tail) {
		if (strcmp(tail, "%return") != 0)
			return tacho_diag(a->d, -EINVAL, 0, "'%s': only %%return may follow", text);
		s->on_return = true;
		*tail = '\0';
	}
	tail = strrchr(s->word, ':');
	if (tail && parse_number(tail + 1, &s->line)) {
		s->has_line = true;
		*tail = '\0';
	}
	tail = strrchr(s->word, '+');
	if (!s->has_line && tail && parse_number(tail + 1, &s->offset)) {
		s->has_offset = true;
		*tail = '\0';
	}
	if (!*s->word)
		return tacho_diag(a->d, -EINVAL, 0, "'%s' names no function", text);
	if (s->on_return && (s->has_line || s->has_offset))
		return tacho_diag(a->d, -EINVAL, 0, "'%s': only a whole function returns", text);
	return 0;
}

/* ---- functions ---- */

/* The names that resemble it most, for a message. */
static const char *similar_functions(struct probe_add *a, const char *name)
{
	const struct tacho_function *f, *best[3];
	unsigned int score[3], d, limit = (unsigned int)strlen(name) / 3 + 1;
	size_t nr, n = 0, j;
	struct tacho_buf b;
	char *text;

	f = tacho_object_functions(a->object, &nr);
	for (size_t i = 0; i < nr; i++) {
		d = tacho_suggest_distance(name, f[i].name);
		if (strlen(name) > 3 && d > 1 && strstr(f[i].name, name))
			d = 1;
		if (d > limit || (n == 3 && score[2] <= d))
			continue;
		j = n < 3 ? n++ : 2;
		for (; j && score[j - 1] > d; j--) {
			best[j] = best[j - 1];
			score[j] = score[j - 1];
		}
		best[j] = &f[i];
		score[j] = d;
	}
	tacho_buf_init(&b, 65536);
	for (size_t i = 0; i < n; i++)
		tacho_buf_printf(&b, "%s'%.100s'", i ? ", " : "; near: ",
				 best[i]->name);
	text = tacho_arena_strndup(&a->set->arena, tacho_buf_str(&b), b.len);
	tacho_buf_release(&b);
	return text ? text : "";
}

static int no_function(struct probe_add *a, const char *name)
{
	size_t nr;

	(void)tacho_object_functions(a->object, &nr);
	if (!nr)
		return tacho_diag(a->d, -EINVAL, 0, "'%s' has no symbols (it is stripped): install its "
				"debug symbols, or name an address (0x...)",
				a->config->program);
	return tacho_diag(a->d, -ENOENT, 0, "'%s' has no function '%s'%s", a->config->program, name,
			similar_functions(a, name));
}

/* "checkout.constprop.0" is what the compiler made of checkout. */
static bool is_clone(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(symbol, name, n) && symbol[n] == '.' &&
	       !strstr(symbol + n, ".cold");
}

/* Every function of that name; its clones when there is none. */
static int add_named(struct probe_add *a, struct probe_event *e,
		     const char *name)
{
	const struct tacho_function *f = NULL;
	size_t nr;

	while ((f = tacho_object_find(a->object, name, f))) {
		if (f->resolver)
			return tacho_diag(a->d, -EINVAL, 0, "'%s' only chooses a function when the "
				"program is loaded (ifunc): probe one of "
				"those%s", name, similar_functions(a, name));
		if (!probe_location_new(a, e, f->address, false))
			return a->d->err;
	}
	if (e->nr_locations)
		return 0;
	f = tacho_object_functions(a->object, &nr);
	for (size_t i = 0; i < nr; i++)
		if (is_clone(f[i].name, name) &&
		    !probe_location_new(a, e, f[i].address, false))
			return a->d->err;
	return 0;
}

/* Copies in other functions, as far as the debug information knows. */
static int add_copies(struct probe_add *a, struct probe_event *e,
		      const char *name)
{
	struct tacho_places p;
	bool good = true;

	if (tacho_object_inlined(a->object, name, &p, NULL))
		return 0;
	for (size_t i = 0; good && i < p.nr; i++)
		good = probe_location_new(a, e, p.list[i], true);
	tacho_places_release(&p);
	return good ? 0 : a->d->err;
}

static int resolve_function(struct probe_add *a, const struct spec *s)
{
	struct probe_event *e;
	char name[TACHO_PROBE_NAME_MAX + 1];
	int ret;

	(void)snprintf(name, sizeof(name), "%.40s%s", s->word,
		       s->on_return ? "__return" : "");
	e = probe_event_new(a, s->text, s->on_return || s->has_offset ?
			    name : s->word);
	if (!e)
		return a->d->err;
	e->on_return = s->on_return;
	e->function = s->word;
	ret = add_named(a, e, s->word);
	if (!ret && !s->on_return && !s->has_offset)
		ret = add_copies(a, e, s->word);
	if (ret || e->nr_locations)
		return ret;
	if (!tacho_object_inlined(a->object, s->word, &(struct tacho_places){
				  .list = NULL }, NULL))
		return tacho_diag(a->d, -EINVAL, 0, "'%s' is only there as copies in other functions, "
				"which have no return and no offsets", s->word);
	return no_function(a, s->word);
}

static int resolve_offset(struct probe_add *a, const struct spec *s)
{
	const struct tacho_function *f = tacho_object_find(a->object, s->word,
							   NULL);
	struct probe_event *e;
	char name[TACHO_PROBE_NAME_MAX + 1];

	if (!f)
		return no_function(a, s->word);
	if (tacho_object_find(a->object, s->word, f))
		return tacho_diag(a->d, -EINVAL, 0, "'%s' has several functions '%s': name a line or "
				"an address", a->config->program, s->word);
	if (f->size && s->offset >= f->size)
		return tacho_diag(a->d, -EINVAL, 0, "'%s' is %" PRIu64 " bytes long", s->word,
				f->size);
	(void)snprintf(name, sizeof(name), "%.40s_%" PRIu64, s->word, s->offset);
	e = probe_event_new(a, s->text, name);
	return e && probe_location_new(a, e, f->address + s->offset, false) ?
		0 : a->d->err;
}

static int resolve_glob(struct probe_add *a, const struct spec *s)
{
	const struct tacho_function *f, *last = NULL;
	struct probe_event *e;
	char name[TACHO_PROBE_NAME_MAX + 1];
	size_t nr, before = a->nr_events;

	if (s->has_line || s->has_offset)
		return tacho_diag(a->d, -EINVAL, 0, "'%s': a pattern is for whole functions", s->text);
	f = tacho_object_functions(a->object, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (f[i].resolver || !tacho_glob_match(s->word, f[i].name))
			continue;
		/* one place needs one name; the pieces of others are no function */
		if ((last && last->address == f[i].address) ||
		    strstr(f[i].name, ".cold"))
			continue;
		last = &f[i];
		(void)snprintf(name, sizeof(name), "%.40s__return", f[i].name);
		e = probe_event_new(a, s->text, s->on_return ? name : f[i].name);
		if (!e || !probe_location_new(a, e, f[i].address, false))
			return a->d->err;
		e->on_return = s->on_return;
		e->function = f[i].name;
	}
	return a->nr_events > before ? 0 : no_function(a, s->word);
}

/* ---- lines ---- */

static int resolve_line(struct probe_add *a, const struct spec *s)
{
	const struct tacho_function *f = tacho_object_find(a->object, s->word,
							   NULL);
	struct tacho_places p = { .list = NULL };
	struct tacho_diag d = { 0 };
	struct probe_event *e;
	char name[TACHO_PROBE_NAME_MAX + 1];
	bool good = true;
	int ret;

	if (s->line > UINT32_MAX)
		return tacho_diag(a->d, -EINVAL, 0, "there is no line %" PRIu64, s->line);
	ret = f ? tacho_object_function_line(a->object, f, (uint32_t)s->line,
					     &p, &d)
		: tacho_object_line(a->object, s->word, (uint32_t)s->line, &p, &d);
	if (ret == -ENOENT && !f && !strchr(s->word, '.'))
		return no_function(a, s->word);
	if (ret)
		return tacho_diag(a->d, ret, 0, "%s", d.text);
	(void)snprintf(name, sizeof(name), "%.40s_L%u",
		       strrchr(s->word, '/') ? strrchr(s->word, '/') + 1 : s->word,
		       f ? (unsigned int)s->line : p.line);
	if (!f && p.line != s->line)
		tacho_observer_note(a->config->observer, "'%s' has no code; the next that has is line %u", s->text,
			 p.line);
	e = probe_event_new(a, s->text, name);
	for (size_t i = 0; e && good && i < p.nr; i++)
		good = probe_location_new(a, e, p.list[i], i > 0);
	tacho_places_release(&p);
	return e && good ? 0 : a->d->err;
}

/* ---- addresses and markers ---- */

static int resolve_address(struct probe_add *a, const struct spec *s)
{
	struct probe_event *e;
	char name[32];
	uint64_t address;

	if (s->on_return || s->has_line || s->has_offset ||
	    !parse_number(s->word, &address))
		return tacho_diag(a->d, -EINVAL, 0, "'%s' is no address", s->text);
	(void)snprintf(name, sizeof(name), "at_0x%" PRIx64, address);
	e = probe_event_new(a, s->text, name);
	return e && probe_location_new(a, e, address, false) ? 0 : a->d->err;
}

/* The event of a marker: several places of one name are one event. */
static struct probe_event *marker_event(struct probe_add *a, const char *text,
					const struct tacho_sdt *m, size_t from)
{
	struct probe_event *e;

	for (size_t i = from; i < a->nr_events; i++)
		if (a->event[i].sdt &&
		    !strcmp(a->event[i].sdt->provider, m->provider) &&
		    !strcmp(a->event[i].sdt->name, m->name))
			return &a->event[i];
	e = probe_event_new(a, text, m->name);
	if (e)
		e->sdt = m;
	return e;
}

static int resolve_marker(struct probe_add *a, const char *text)
{
	const struct tacho_sdt *m;
	struct probe_event *e;
	size_t nr, from = a->nr_events;
	char full[256];

	m = tacho_object_sdt(a->object, &nr);
	if (!nr)
		return tacho_diag(a->d, -EINVAL, 0, "'%s' has no markers (of sys/sdt.h)", a->config->program);
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(full, sizeof(full), "%s:%s", m[i].provider,
			       m[i].name);
		if (!tacho_glob_match(text + 4, full))
			continue;
		e = marker_event(a, text, &m[i], from);
		if (!e || !probe_location_new(a, e, m[i].address, false))
			return a->d->err;
		e->location[e->nr_locations - 1].counter = m[i].semaphore;
	}
	return a->nr_events > from ? 0 :
		tacho_diag(a->d, -EINVAL, 0, "no marker of '%s' matches '%s'; it has '%s:%s'%s",
			 a->config->program, text + 4, m->provider, m->name,
			 nr > 1 ? " and others" : "");
}

int probe_resolve(struct probe_add *a, const char *text)
{
	struct spec s;
	int ret;

	if (!strncmp(text, "sdt:", 4))
		return resolve_marker(a, text);
	ret = split(a, text, &s);
	if (ret)
		return ret;
	if (isdigit((unsigned char)*s.word))
		return resolve_address(a, &s);
	if (strpbrk(s.word, "*?[") && !tacho_object_find(a->object, s.word, NULL))
		return resolve_glob(a, &s);
	if (s.has_line)
		return resolve_line(a, &s);
	if (s.has_offset)
		return resolve_offset(a, &s);
	return resolve_function(a, &s);
}
