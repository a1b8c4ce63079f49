// SPDX-License-Identifier: MIT
/*
 * probe_args.c - --args: what to record at each place.
 *
 * Words [NAME=]VALUE[:TYPE].  VALUE is the kernel's own (%di, +8(%si), $retval,
 * ...), or a variable of the program with a path (order->id), or argN of a
 * marker; the word $params stands for all parameters.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/probe_priv.h"
#include "base/scan.h"

/* One word, cut. */
struct item {
	const char *word;
	char *name;		/* NULL: not given */
	char *value;
	char *type;		/* NULL: not given */
};

/* One place, and where its arguments go. */
struct making {
	struct probe_add *a;
	struct probe_event *e;
	struct probe_location *p;
	struct tacho_diag d;
	bool no_memory;
};

static char **split_words(struct tacho_arena *arena, const char *text, size_t *nr)
{
	static const char blanks[] = " \t\n";
	size_t len = strlen(text);
	char **word = tacho_arena_array(arena, len / 2 + 2, sizeof(*word));

	*nr = 0;
	for (text += strspn(text, blanks); word && *text;
	     text += strspn(text, blanks)) {
		size_t n = strcspn(text, blanks);

		word[*nr] = tacho_arena_strndup(arena, text, n);
		if (!word[(*nr)++])
			return NULL;
		text += n;
	}
	return word;
}

static char *copy(struct making *m, const char *s, size_t len)
{
	char *c = tacho_arena_strndup(&m->a->set->arena, s, len);

	m->no_memory |= !c;
	return c;
}

static bool is_raw(const char *value)
{
	return strchr("%$@+-\\", *value);
}

static bool cut(struct making *m, const char *word, struct item *it)
{
	const char *equals = strchr(word, '='), *value, *colon;

	value = equals ? equals + 1 : word;
	*it = (struct item){ .word = word };
	if (equals)
		it->name = copy(m, word, (size_t)(equals - word));
	/* a string may hold a colon */
	colon = strrchr(value, ':');
	if (colon && strchr(colon, '"'))
		colon = NULL;
	it->value = copy(m, value, colon ? (size_t)(colon - value)
					 : strlen(value));
	if (colon)
		it->type = copy(m, colon + 1, strlen(colon + 1));
	return !m->no_memory;
}

static bool name_taken(const struct probe_location *p, const char *name)
{
	for (size_t i = 0; i < p->nr_args; i++)
		if (!strcmp(p->arg[i].name, name))
			return true;
	return false;
}

/* A name for a value without one: the last word, or all words of it. */
static char *make_name(struct making *m, const char *value)
{
	const char *last = value;
	char clean[TACHO_PROBE_ARG_NAME_MAX + 1], base[25];
	size_t n = 0;

	if (is_raw(value) && *value != '$') {
		(void)snprintf(clean, sizeof(clean), "arg%zu", m->p->nr_args + 1);
		return copy(m, clean, strlen(clean));
	}
	for (const char *s = value; *s; s++)
		if ((*s == '>' || *s == '.') && s[1])
			last = s + 1;
	last += *last == '$';
	for (int whole = 0; whole < 2; whole++) {
		n = 0;
		for (const char *s = whole ? value : last; *s; s++) {
			bool good = isalnum((unsigned char)*s) || *s == '_';

			if (n < sizeof(clean) - 1 && (good || (n && s[1] &&
			    clean[n - 1] != '_')))
				clean[n++] = good ? *s : '_';
		}
		clean[n] = '\0';
		if (!name_taken(m->p, clean))
			return copy(m, clean, n);
	}
	(void)snprintf(base, sizeof(base), "%.24s", clean);
	for (unsigned int i = 2; name_taken(m->p, clean); i++)
		n = (size_t)snprintf(clean, sizeof(clean), "%s_%u", base, i);
	return copy(m, clean, n);
}

static int keep(struct making *m, const struct item *it, const char *fetch,
		const char *type)
{
	struct probe_location *p = m->p;
	struct tacho_probe_arg *arg = &p->arg[p->nr_args];

	if (p->nr_args == TACHO_PROBE_ARGS_MAX)
		return tacho_diag(&m->d, -E2BIG, TACHO_PROBE_NO_COLUMN,
				  "the kernel takes no more than %d arguments",
				  TACHO_PROBE_ARGS_MAX);
	arg->name = it->name ? it->name : make_name(m, it->value);
	arg->fetch = copy(m, fetch, strlen(fetch));
	arg->type = type && *type ? copy(m, type, strlen(type)) : NULL;
	p->nr_args++;
	return m->no_memory ? -ENOMEM : 0;
}

static bool wants_string(const struct item *it)
{
	return it->type && (!strcmp(it->type, "string") ||
			    !strcmp(it->type, "ustring"));
}

/* What DWARF or a marker told, in the type that was asked for. */
static int keep_fetch(struct making *m, const struct item *it,
		      const struct tacho_fetch *f)
{
	if (wants_string(it)) {
		if (!f->string[0])
			return tacho_diag(&m->d, -EINVAL, 0,
				"'%s' is no string but '%s'", it->value,
				f->ctype[0] ? f->ctype : f->type);
		return keep(m, it, f->string, it->type);
	}
	return keep(m, it, f->text, it->type ? it->type : f->type);
}

static bool is_return(const char *value)
{
	return !strncmp(value, "$retval", 7) &&
	       (!value[7] || strchr(".-[", value[7]));
}

/* $retval, with what DWARF knows of it; without DWARF it is a word of memory. */
static int return_value(struct making *m, const struct item *it)
{
	struct tacho_fetch f;
	struct tacho_diag d = { 0 };
	const char *path = it->value + 7;
	int ret;

	if (!m->e->on_return)
		return tacho_diag(&m->d, -EINVAL, 0,
			"$retval is there when a function returns: 'FUNCTION"
			"%%return'");
	ret = tacho_object_return(m->a->object, m->p->address, path, &f, &d);
	if (!ret && (f.string[0] || !wants_string(it)))
		return keep_fetch(m, it, &f);
	if (*path) {
		d.offset += d.offset ? 7 : 0;
		m->d = d;
		return ret ? ret : keep_fetch(m, it, &f);
	}
	/* who names the type knows it */
	if (ret == -ENOENT || (ret == -ENOTSUP && !it->type)) {
		m->d = d;
		return ret;
	}
	return wants_string(it) ? keep(m, it, "+0($retval)", it->type)
				: keep(m, it, "$retval", it->type);
}

/* argN of a marker: N, or 0. */
static size_t marker_argument(const char *value)
{
	uint64_t n;

	if (strncmp(value, "arg", 3))
		return 0;
	value += 3;
	return tacho_scan_digits(&value, NULL, 10, 100, &n) || *value ? 0 : (size_t)n;
}

/* The marker whose place this is: one of several with the same name. */
static const struct tacho_sdt *marker_at(const struct making *m)
{
	const struct tacho_sdt *s;
	size_t nr;

	s = tacho_object_sdt(m->a->object, &nr);
	for (size_t i = 0; i < nr; i++)
		if (s[i].address == m->p->address &&
		    !strcmp(s[i].provider, m->e->sdt->provider) &&
		    !strcmp(s[i].name, m->e->sdt->name))
			return &s[i];
	return m->e->sdt;
}

static int one_item(struct making *m, const struct item *it)
{
	struct tacho_fetch f;
	size_t n = m->e->sdt ? marker_argument(it->value) : 0;
	int ret;

	if (!*it->value)
		return tacho_diag(&m->d, -EINVAL, 0, "there is no value");
	if (is_return(it->value))
		return return_value(m, it);
	if (is_raw(it->value))
		return keep(m, it, it->value, it->type);
	if (m->e->on_return)
		return tacho_diag(&m->d, -EINVAL, 0,
			"'%s' is gone when the function returns: only $retval "
			"is there", it->value);
	ret = n ? tacho_sdt_arg(m->a->object, marker_at(m), n - 1, &f, &m->d)
		: tacho_object_variable(m->a->object, m->p->address,
					m->e->function, it->value, &f, &m->d);
	return ret ? ret : keep_fetch(m, it, &f);
}

static int one_param(const char *name, void *arg)
{
	struct making *m = arg;
	struct item it = { .word = name, .value = copy(m, name, strlen(name)) };
	struct tacho_diag d;
	int ret;

	if (!it.value)
		return -ENOMEM;
	ret = one_item(m, &it);
	if (ret != -ENOTSUP && ret != -ENODATA)
		return ret;
	/* the others are worth having */
	d = m->d;
	m->d = (struct tacho_diag){ 0 };
	tacho_observer_note(m->a->config->observer, "'%s': %s", m->e->name, d.text);
	return 0;
}

/* All arguments of a marker that the kernel can fetch. */
static int marker_args(struct making *m)
{
	const struct tacho_sdt *s = marker_at(m);
	size_t nr = tacho_sdt_nr_args(s);
	char name[32];
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++) {
		(void)snprintf(name, sizeof(name), "arg%zu", i + 1);
		ret = one_param(name, m);
	}
	return ret;
}

static int all_params(struct making *m)
{
	int ret;

	if (m->e->sdt)
		return marker_args(m);
	if (m->e->on_return)
		return tacho_diag(&m->d, -EINVAL, 0,
			"parameters are gone when the function returns: only "
			"$retval is there");
	/* a negative errno is of one_param(), with its own words, or the call's */
	ret = tacho_object_params(m->a->object, m->p->address,
				  m->e->function, one_param, m, &m->d);
	return ret;
}

static int one_place(struct making *m, char **word, size_t nr, size_t *at)
{
	struct item it;
	int ret = 0;

	m->p->arg = tacho_arena_array(&m->a->set->arena, TACHO_PROBE_ARGS_MAX,
				      sizeof(*m->p->arg));
	if (!m->p->arg)
		return -ENOMEM;
	m->p->nr_args = 0;
	if (!m->a->config->args && m->e->sdt)
		return marker_args(m);
	for (*at = 0; !ret && *at < nr; (*at)++) {
		if (!strcmp(word[*at], "$params"))
			ret = all_params(m);
		else if (!cut(m, word[*at], &it))
			ret = -ENOMEM;
		else
			ret = one_item(m, &it);
	}
	*at -= ret && *at;
	return ret;
}

/* The word that is wrong, and where. */
static int fail_at(const struct making *m, const char *word)
{
	const char *equals = word ? strchr(word, '=') : NULL;
	struct probe_add *a = m->a;
	uint64_t offset = m->d.offset;

	if (m->no_memory || !m->d.err)
		return tacho_no_memory(a->d);
	if (offset != TACHO_PROBE_NO_COLUMN && equals)
		offset += (uint64_t)(equals + 1 - word);
	(void)tacho_diag(a->d, m->d.err, offset, "%s", m->d.text[0] ? m->d.text :
			 strerror(-m->d.err));
	return word ? probe_wrong(a, word) : a->d->err;
}

int probe_arguments(struct probe_add *a, struct probe_event *e)
{
	size_t nr = 0, kept = 0, at = 0, left_out = 0;
	struct tacho_diag why = { 0 };
	char **word = NULL;

	if (a->config->args) {
		word = split_words(&a->set->arena, a->config->args, &nr);
		if (!word)
			return tacho_no_memory(a->d);
	}
	for (size_t i = 0; i < e->nr_locations; i++) {
		struct making m = { .a = a, .e = e, .p = &e->location[i] };
		int ret = one_place(&m, word, nr, &at);

		if (ret && (m.no_memory || !m.p->copy ||
			    (i + 1 == e->nr_locations && !kept)))
			return fail_at(&m, at < nr ? word[at] : NULL);
		if (ret) {
			why = m.d;
			left_out++;
			continue;
		}
		e->location[kept++] = e->location[i];
	}
	e->nr_locations = kept;
	if (left_out)
		tacho_observer_note(a->config->observer, "'%s': %zu inlined cop%s left out: %s",
				    e->spec, left_out, left_out == 1 ? "y is" : "ies are",
				    why.text);
	return 0;
}
