// SPDX-License-Identifier: MIT
#include "app/recipe_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TEXTS_MAX	((size_t)1 << 20)

const struct app_recipe *app_recipe_at(uint32_t i)
{
	return i < app_nr_recipes ? &app_recipes[i] : NULL;
}

const struct app_recipe *app_recipe_find(const char *name)
{
	for (uint32_t i = 0; i < app_nr_recipes; i++)
		if (!strcmp(app_recipes[i].name, name))
			return &app_recipes[i];
	return NULL;
}

const char *app_recipe_name(const struct app_recipe *r)
{
	return r->name;
}

const char *app_recipe_summary(const struct app_recipe *r)
{
	return r->summary;
}

/* ---- which way ---------------------------------------------------------------------- */

bool app_recipe_has(const struct app_recipe *r, enum app_recipe_way way)
{
	return way == APP_RECIPE_EVENTS || r->model.text;
}

static bool is_live(const struct tacho_stream *s)
{
	const struct tacho_source *source = s ? tacho_stream_source(s, 0) : NULL;

	return !s || (source && source->ops->live);
}

enum app_recipe_way app_recipe_way(const struct app_recipe *r, const struct tacho_stream *s)
{
	return is_live(s) || !r->model.text ? APP_RECIPE_EVENTS : APP_RECIPE_MODEL;
}

static void set_form(struct app_hist_form *form, const struct app_recipe *r, const char *by)
{
	static const struct tacho_quantiles quantiles = {
		.q = { 50000, 99000, TACHO_QUANTILE_ALL }, .nr = 3,
	};

	*form = (struct app_hist_form){ .shape = r->shape, .by = by };
	if (by)
		form->quantiles = quantiles;
}

/* ---- which variant ------------------------------------------------------------------ */

static bool has_event(const struct tacho_stream *s, const char *event)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		if (tacho_event_glob(event, type->system, type->name))
			return true;
	return false;
}

static bool has_all(const struct tacho_stream *s, const struct recipe_variant *v)
{
	for (size_t i = 0; i < RECIPE_STEPS_MAX && v->step[i].event; i++)
		if (strncmp(v->step[i].event, "synthetic:", strlen("synthetic:")) &&
		    !has_event(s, v->step[i].event))
			return false;
	return true;
}

static const struct recipe_variant *choose_variant(const struct app_recipe *r,
					    const struct tacho_stream *s)
{
	for (size_t i = 0; s && i < RECIPE_VARIANTS_MAX && r->variant[i].meaning; i++)
		if (has_all(s, &r->variant[i]))
			return &r->variant[i];
	return &r->variant[0];
}

/* ---- its question --------------------------------------------------------------------- */

static int add_step(struct app_question *a, const char *event, const char *text,
		    struct tacho_diag *d)
{
	if (!event || !text)
		return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
	if (a->nr_commands == APP_QUESTION_MAX)
		return tacho_diag(d, -E2BIG, APP_NO_PLACE,
				  "more than %d types of events for one recipe",
				  APP_QUESTION_MAX);
	a->command[a->nr_commands++] =
		(struct app_question_command){ .event = event, .text = text };
	return 0;
}

/* `pattern` with `with` in place of its '*'. */
static const char *instance(struct tacho_arena *arena, const char *pattern, const char *with)
{
	const char *star = strchr(pattern, '*');
	size_t head = (size_t)(star - pattern), n = strlen(with), tail = strlen(star + 1);
	char *text = tacho_arena_alloc(arena, head + n + tail + 1);

	if (!text)
		return NULL;
	memcpy(text, pattern, head);
	memcpy(text + head, with, n);
	memcpy(text + head + n, star + 1, tail + 1);
	return text;
}

/* One command per event type of the trace that the step's glob matches: struct recipe_variant. */
static int add_each(struct app_recipe_plan *p, const struct recipe_variant *v,
		    const struct app_question_command *step, const struct tacho_stream *s,
		    struct tacho_diag *d)
{
	size_t fixed = strlen(strchr(step->event, ':') + 1) - 1;
	const struct tacho_type *type;
	int err = 0;

	for (uint32_t i = 0; !err && (type = tacho_stream_type(s, i)); i++) {
		const char *with = type->name + fixed, *pair;

		if (!tacho_event_glob(step->event, type->system, type->name))
			continue;
		pair = instance(&p->arena, v->pair, with);
		if (!pair)
			return tacho_diag(d, -ENOMEM, APP_NO_PLACE, "out of memory");
		if (has_event(s, pair))
			err = add_step(&p->question, instance(&p->arena, step->event, with),
				       instance(&p->arena, step->text, with), d);
	}
	return err;
}

static int plan_events(struct app_recipe_plan *p, const struct app_recipe *r,
		       const struct tacho_stream *s, struct tacho_diag *d)
{
	const struct recipe_variant *v = choose_variant(r, s);
	int err = 0;

	p->meaning = v->meaning;
	set_form(&p->form, r, r->by);
	if (v->synth)
		p->question.synth[p->question.nr_synths++] = v->synth;
	for (size_t i = 0; !err && i < RECIPE_STEPS_MAX && v->step[i].event; i++)
		err = s && v->pair && strchr(v->step[i].text, '*') ?
		      add_each(p, v, &v->step[i], s, d) :
		      add_step(&p->question, v->step[i].event, v->step[i].text, d);
	return err;
}

int app_recipe_plan(struct app_recipe_plan *p, const struct app_recipe *r,
		    enum app_recipe_way way, const struct tacho_stream *s, struct tacho_diag *d)
{
	*p = (struct app_recipe_plan){ .meaning = r->model.meaning };
	tacho_arena_init(&p->arena, TEXTS_MAX);
	if (way == APP_RECIPE_EVENTS)
		return plan_events(p, r, s, d);
	set_form(&p->form, r, r->model.by);
	return add_step(&p->question, r->model.event, r->model.text, d);
}

void app_recipe_plan_release(struct app_recipe_plan *p)
{
	tacho_arena_release(&p->arena);
}

/* ---- what a trace lacks -------------------------------------------------------------- */

static int lacks(const struct app_recipe *r, const char *missing, struct tacho_diag *d)
{
	if (!r->record)
		return tacho_diag(d, -ENODATA, APP_NO_PLACE,
				  "recipe %s needs %s: this trace has no event %s; programs "
				  "have them with TACHO_BEGIN() and TACHO_END() of "
				  "<tacho/marker.h>, and --span makes them of other events",
				  r->name, r->needs, missing);
	return tacho_diag(d, -ENODATA, APP_NO_PLACE,
			  "recipe %s needs %s: this trace has no event %s; on Linux, 'tacho "
			  "record -k %s' records them", r->name, r->needs, missing, r->record);
}

/* Whether the trace has one of "a:b|*:c", len bytes. */
static bool has_one(const struct tacho_stream *stream, const char *list, size_t len)
{
	char event[64];

	for (const char *s = list; s < list + len; s++) {
		size_t n = strcspn(s, "|,");

		(void)snprintf(event, sizeof(event), "%.*s", (int)n, s);
		if (has_event(stream, event))
			return true;
		s += n;
	}
	return false;
}

static int check_events(const struct app_recipe *r, const struct tacho_stream *stream,
			struct tacho_diag *d)
{
	char missing[64];

	for (const char *s = r->events; s && *s; s += strspn(s, ",")) {
		size_t len = strcspn(s, ",");
		const char *name = s[0] == '*' ? s + strlen("*:") : s;

		if (!has_one(stream, s, len)) {
			(void)snprintf(missing, sizeof(missing), "%.*s",
				       (int)strcspn(name, "|,"), name);
			return lacks(r, missing, d);
		}
		s += len;
	}
	return 0;
}

int app_recipe_check(const struct app_recipe *r, const struct tacho_stream *stream,
		     const struct app_query *query, struct tacho_diag *d)
{
	struct model *m = query ? app_query_model(query) : NULL;
	char missing[64];

	if (is_live(stream))
		return 0;
	if (!query)
		return check_events(r, stream, d);
	if (!m || app_query_was_hit(query))
		return 0;
	for (size_t i = 0; i < RECIPE_NEEDS_MAX && r->model.need[i].missing; i++) {
		const struct recipe_need *need = &r->model.need[i];

		int has = model_offers(m, need->offer, need->categories);

		if (has < 0)
			return tacho_no_memory(d);
		(void)snprintf(missing, sizeof(missing), "that %s", need->missing);
		if (!has)
			return lacks(r, missing, d);
	}
	return 0;
}
