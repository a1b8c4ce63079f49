// SPDX-License-Identifier: MIT
/*
 * Histograms of an instance: adding, changing, removing them; maps shared by name; variables
 * across events.
 *
 * A variable of another event is a reference from histogram to histogram, so a histogram with
 * references to it cannot be removed.  A histogram that was created for the fields of another's
 * action (add_field_var) is a trigger like any other; it is removed with the last reference to
 * it.
 */
#include "engine/engine_priv.h"

#include <errno.h>
#include <string.h>

#define COMMAND_MAX	(8 << 10)

/* ---- maps ---- */

/* In the map itself, `paused` is set while all its users are paused. */
static void update_map(const struct engine_trigger *t)
{
	tacho_hist_pause(t->hist, t->map->paused == t->map->users);
}

void engine_hist_pause(struct engine_trigger *t, bool paused)
{
	if (t->paused == paused)
		return;
	t->paused = paused;
	if (paused)
		t->map->paused++;
	else
		t->map->paused--;
	update_map(t);
}

void engine_map_put(struct engine_trigger *t)
{
	struct tacho_arena arena = t->map->arena;

	if (t->paused)
		t->map->paused--;
	if (--t->map->users)
		update_map(t);
	else
		tacho_arena_release(&arena);
}

static struct engine_map *map_new(const struct tacho_map_geometry *g)
{
	size_t size = tacho_map_bytes(g);
	struct engine_map *map;
	struct tacho_arena a;
	uintptr_t at;

	tacho_arena_init(&a, ENGINE_MAX);
	map = tacho_arena_alloc(&a, sizeof(*map));
	at = map ? (uintptr_t)tacho_arena_alloc(&a, size + 64) : 0;
	if (!at) {
		tacho_arena_release(&a);
		return NULL;
	}
	map->arena = a;
	map->users = 1;
	map->mem = (void *)TACHO_ALIGN_UP(at, (uintptr_t)64);
	map->size = size;
	tacho_map_init(map->mem, g);
	return map;
}

/* ---- looking for histograms ---- */

/* The trigger after t, over all events; t is NULL for the first; NULL after the last. */
static struct engine_trigger *next_trigger(const struct tacho_engine *engine,
					   const struct engine_trigger *t,
					   uint32_t *event)
{
	struct engine_trigger *n = t ? t->next : NULL;

	while (!n && *event < engine->nr_events)
		n = engine->event[(*event)++]->triggers;
	return n;
}

#define for_each_trigger(engine, t, i)					\
	for (uint32_t i = 0, once_ = 1; once_; once_ = 0)		\
		for (struct engine_trigger *t = next_trigger(engine, NULL, &i); \
		     t; t = next_trigger(engine, t, &i))

static struct engine_trigger *find_named(const struct tacho_engine *engine,
					 const char *name)
{
	for_each_trigger(engine, t, i)
		if (name && t->hist && t->spec.hist.name &&
		    !strcmp(t->spec.hist.name, name))
			return t;
	return NULL;
}

static bool same_filter(const struct engine_trigger *a,
			const struct engine_trigger *b)
{
	const char *x = a->spec.filter, *y = b->spec.filter;

	return x == y || (x && y && !strcmp(x, y));
}

/* The event's histogram that a command means; filters are compared, as in the kernel. */
static struct engine_trigger *find_same(const struct engine_trigger *t)
{
	struct engine_trigger *o;

	for (o = t->event->triggers; o; o = o->next)
		if (o->hist && tacho_hist_same(&o->spec.hist, &t->spec.hist) &&
		    same_filter(o, t))
			return o;
	return NULL;
}

static bool refers(const struct tacho_hist *hist, const struct tacho_hist *to)
{
	const struct tacho_hist *ref;

	for (uint32_t i = 0; (ref = tacho_hist_reference(hist, i)); i++)
		if (ref == to)
			return true;
	return false;
}

static bool is_referred(const struct tacho_engine *engine,
			const struct engine_trigger *of)
{
	for_each_trigger(engine, t, i)
		if (t != of && t->hist && refers(t->hist, of->hist))
			return true;
	return false;
}

/* Whether one of a trigger's actions generates this synthetic event. */
static bool makes(const struct engine_trigger *t, const struct tacho_synth *synth)
{
	const struct tacho_hist_spec *spec = &t->spec.hist;

	for (uint32_t k = 0; t->hist && k < spec->nr_actions; k++)
		if (spec->action[k]->action == TACHO_DO_TRACE &&
		    !strcmp(spec->action[k]->synth, synth->name))
			return true;
	return false;
}

bool engine_hist_makes(const struct tacho_engine *engine,
		       const struct tacho_synth *synth)
{
	for_each_trigger(engine, t, i)
		if (makes(t, synth))
			return true;
	return false;
}

/* A synthetic event or event probe has the stack of the event that caused it, recursively. */
static bool needs_stack(const struct tacho_engine *engine,
			const struct engine_event *event, uint32_t depth)
{
	const struct engine_trigger *t;
	const struct engine_event *synth;

	for (t = event->triggers; t; t = t->next) {
		if (t->hist && tacho_hist_uses_stack(t->hist))
			return true;
		for (synth = engine->synths; synth && depth < TACHO_ENGINE_DEPTH;
		     synth = synth->next_synth)
			if (makes(t, synth->pub.synth) &&
			    needs_stack(engine, synth, depth + 1))
				return true;
	}
	for (const struct engine_event *e = event->eprobes; e && depth < TACHO_ENGINE_DEPTH;
	     e = e->next_eprobe)
		if (needs_stack(engine, e, depth + 1))
			return true;
	return false;
}

bool tacho_engine_needs_stack(const struct tacho_engine *engine,
			      const struct tacho_engine_event *event)
{
	return needs_stack(engine, engine_event_ro(event), 0);
}

struct tacho_hist *tacho_engine_hist(const struct tacho_engine *engine,
				     const struct tacho_engine_event *event,
				     uint32_t index)
{
	const struct engine_trigger *t = engine_event_ro(event)->triggers;

	(void)engine;
	for (; t; t = t->next)
		if (t->hist && !index--)
			return t->hist;
	return NULL;
}

/* ---- creation ---- */

/* Records the kernel's message, at the first occurrence of `where` in the command. */
static int fail_at(const struct engine_trigger *t, struct tacho_cmd_error *e,
		   int err, const char *where, const char *text)
{
	const struct tacho_hist_spec *spec = &t->spec.hist;

	return tacho_cmd_error(e, err, where ? tacho_hist_spec_place(spec, where) :
			       spec->base, "%s", text);
}

/* Where the kernel points for a name: at its clause. */
static const char *name_clause(struct engine_trigger *t)
{
	static const char clause[] = "name=";
	const char *name = t->spec.hist.name;
	char *s = tacho_arena_alloc(&t->arena, sizeof(clause) + strlen(name));

	if (!s)
		return name;
	memcpy(s, clause, sizeof(clause) - 1);
	memcpy(s + sizeof(clause) - 1, name, strlen(name));
	return s;
}

/* Named histograms count the same things: names of keys and values are equal too. */
static bool same_names(const struct tacho_hist *a, const struct tacho_hist *b)
{
	for (uint32_t i = 0; i < tacho_hist_nr_keys(a); i++)
		if (strcmp(tacho_hist_key(a, i)->name, tacho_hist_key(b, i)->name))
			return false;
	for (uint32_t i = 0; i < tacho_hist_nr_vals(a); i++)
		if (strcmp(tacho_hist_val(a, i)->name, tacho_hist_val(b, i)->name))
			return false;
	return true;
}

static int check_new(struct engine_trigger *t,
		     const struct engine_trigger *named, struct tacho_cmd_error *e)
{
	const struct tacho_hist_spec *spec = &t->spec.hist;

	if (named && (!tacho_hist_compatible(t->hist, named->hist) ||
		      !same_names(t->hist, named->hist)))
		return fail_at(t, e, -EINVAL, name_clause(t),
			       "Named hist trigger doesn't match existing named trigger (includes variables)");
	if (find_same(t))
		return fail_at(t, e, -EEXIST, NULL, "Hist trigger already exists");
	if (spec->cont || spec->clear)
		return fail_at(t, e, -ENOENT, NULL,
			       "Can't clear or continue a nonexistent hist trigger");
	return 0;
}

/* Binds t to its event and to a map. */
static int make(struct tacho_engine *engine, struct engine_trigger *t,
		struct tacho_cmd_error *e)
{
	struct tacho_hist_spec *spec = &t->spec.hist;
	struct engine_trigger *named = find_named(engine, spec->name);
	struct tacho_map_geometry g;
	struct tacho_hist *hist;
	int err;

	if (named)
		spec->size = named->spec.hist.size;
	err = tacho_hist_new(&hist, &t->arena, spec, t->event->pub.type,
			     &engine->hist_host, engine->names, e);
	if (err)
		return err;
	t->hist = hist;
	err = check_new(t, named, e);
	if (err)
		return err;
	tacho_hist_geometry(hist, &g);
	t->map = named ? named->map : map_new(&g);
	if (!t->map)
		return fail_at(t, e, -ENOMEM, NULL, "Out of memory");
	if (named)
		t->map->users++;
	if (tacho_hist_bind(hist, t->map->mem, t->map->size))
		return fail_at(t, e, -EINVAL, NULL, "Map does not fit");
	tacho_hist_alone(hist);
	update_map(t);
	engine_hist_pause(t, spec->pause);
	return 0;
}

/* Removes the histograms that were created for others and have no references left. */
static void sweep(struct tacho_engine *engine)
{
	for_each_trigger(engine, t, i) {
		if (t->implied && !is_referred(engine, t)) {
			engine_trigger_detach(engine, t);
			sweep(engine);
			return;
		}
	}
}

/* Executes pause, cont and clear of an existing histogram; false: it does not exist. */
static bool change_existing(const struct engine_trigger *t)
{
	const struct tacho_hist_spec *spec = &t->spec.hist;
	struct engine_trigger *same;

	if (!spec->pause && !spec->cont && !spec->clear)
		return false;
	same = find_same(t);
	if (!same)
		return false;
	if (spec->pause || spec->cont)
		engine_hist_pause(same, spec->pause);
	else
		tacho_hist_clear(same->hist);
	return true;
}

static int remove_same(struct tacho_engine *engine,
		       const struct engine_trigger *t, struct tacho_cmd_error *e)
{
	struct engine_trigger *same = find_same(t);

	if (same && is_referred(engine, same))
		return fail_at(t, e, -EBUSY, NULL,
			       "Variables are used by another histogram");
	if (!same)
		return fail_at(t, e, -ENOENT, NULL, "No such trigger");
	engine_trigger_detach(engine, same);
	sweep(engine);
	return 0;
}

/* Finds the reason why a histogram does not exist, if it is an unknown name. */
static int check_names(struct tacho_engine *engine, struct engine_trigger *t,
		       struct tacho_cmd_error *e)
{
	const struct tacho_hist_spec *spec = &t->spec.hist;
	struct tacho_hist *hist;

	/* a variable may be defined already */
	if (find_same(t) || spec->nr_vars || spec->nr_actions)
		return 0;
	return tacho_hist_new(&hist, &t->arena, spec, t->event->pub.type,
			      &engine->hist_host, engine->names, e);
}

/* Returns 0: the caller must attach t; 1: done; else an error. */
static int command(struct tacho_engine *engine, struct engine_trigger *t,
		   struct tacho_cmd_error *e, bool *logged)
{
	int err = tacho_hist_spec_bind_type(&t->spec.hist, &t->arena,
					    t->event->pub.type, e);

	if (err)
		return err;
	if (t->spec.remove) {
		err = check_names(engine, t, e);
		if (err)
			return err;
		err = remove_same(engine, t, e);
		*logged = err != 0;	/* the kernel has no message for it */
		return err ? err : 1;
	}
	if (change_existing(t))
		return 1;
	err = engine_trigger_filter(engine, t, e);
	if (err) {
		*logged = true;
		return err;
	}
	return make(engine, t, e);
}

int engine_hist_command_take(struct tacho_engine *engine,
			     struct engine_trigger *t, struct tacho_cmd_error *e)
{
	bool logged = false;
	int err = command(engine, t, e, &logged);

	if (!err) {
		engine_trigger_attach(engine, t, true);
		return 0;
	}
	if (err < 0 && !logged)
		engine_log_event(engine, "hist", t->event, t->spec.text, e);
	engine_trigger_free(t);
	if (err > 0)
		return 0;
	sweep(engine);
	return err;
}

/* ---- the host of hist.h ---- */

static struct tacho_hist *host_find_var(void *arg, const char *system,
					const char *event, const char *name,
					uint32_t *var, bool *ambiguous)
{
	const struct tacho_engine *engine = arg;
	const struct engine_trigger *found = NULL;

	for_each_trigger(engine, t, i) {
		const struct tacho_hist_spec *spec = &t->spec.hist;

		if (!t->hist || (system && engine_find(engine, system, event) !=
						   t->event))
			continue;
		for (uint32_t k = 0; k < spec->nr_vars; k++) {
			if (strcmp(spec->var[k].name, name))
				continue;
			if (found && found->event != t->event)
				*ambiguous = true;
			if (!found)
				*var = k;
			found = found ? found : t;
		}
	}
	return found && !*ambiguous ? found->hist : NULL;
}

static const struct tacho_synth *host_find_synth(void *arg, const char *name)
{
	struct engine_event *event = engine_find(arg, "synthetic", name);

	return event ? event->pub.synth : NULL;
}

static const struct tacho_type *host_find_type(void *arg, const char *system,
					       const char *name)
{
	struct engine_event *event = engine_find(arg, system, name);

	return event ? event->pub.type : NULL;
}

/* "hist:keys=<of>:synthetic_<field>=<field>[ if <of's filter>]" */
static void field_command(const struct engine_trigger *of, const char *field,
			  struct tacho_buf *out)
{
	const struct tacho_hist_spec *spec = &of->spec.hist;

	tacho_buf_puts(out, "hist:keys=");
	for (uint32_t i = 0; i < spec->nr_keys; i++) {
		if (i)
			tacho_buf_putc(out, ',');
		tacho_hist_expr_print(spec->key[i], out);
	}
	tacho_buf_puts(out, ":synthetic_");
	tacho_buf_puts(out, field);
	tacho_buf_putc(out, '=');
	tacho_buf_puts(out, field);
	if (of->spec.filter) {
		tacho_buf_puts(out, " if ");
		tacho_buf_puts(out, of->spec.filter);
	}
}

/* Creates a hidden histogram from such a command; NULL: it is invalid. */
static struct engine_trigger *make_hidden(struct tacho_engine *engine,
					  struct engine_event *event,
					  const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct engine_trigger *t = engine_trigger_new(event);

	if (!t)
		return NULL;
	t->implied = true;
	if (tacho_trigger_parse(&t->spec, &t->arena, text, &e) ||
	    tacho_hist_spec_bind_type(&t->spec.hist, &t->arena,
				      event->pub.type, &e) ||
	    engine_trigger_filter(engine, t, &e) || make(engine, t, &e)) {
		engine_trigger_free(t);
		return NULL;
	}
	engine_trigger_attach(engine, t, true);
	return t;
}

/* The event's histogram with compatible keys, preferably one with the variable `name`. */
static struct engine_trigger *find_like(const struct tacho_hist *for_hist,
					const struct engine_event *event,
					const char *name)
{
	for (struct engine_trigger *t = event->triggers; t; t = t->next) {
		const struct tacho_hist_spec *spec = &t->spec.hist;

		if (!t->hist || !tacho_hist_same_keys(for_hist, t->hist))
			continue;
		if (!name || (spec->nr_vars == 1 &&
			      !strcmp(spec->var[0].name, name)))
			return t;
	}
	return NULL;
}

static struct tacho_hist *host_add_field_var(void *arg,
					     const struct tacho_hist *for_hist,
					     const char *system, const char *event,
					     const char *field, uint32_t *var)
{
	struct tacho_engine *engine = arg;
	struct engine_event *ev = engine_find(engine, system, event);
	struct engine_trigger *of = ev ? find_like(for_hist, ev, NULL) : NULL;
	struct engine_trigger *t = NULL;
	struct tacho_buf name, text;

	if (!of)
		return NULL;
	tacho_buf_init(&name, COMMAND_MAX);
	tacho_buf_init(&text, COMMAND_MAX);
	tacho_buf_puts(&name, "synthetic_");
	tacho_buf_puts(&name, field);
	t = find_like(for_hist, ev, tacho_buf_str(&name));
	if (!t) {
		field_command(of, field, &text);
		if (!tacho_buf_error(&text))
			t = make_hidden(engine, ev, tacho_buf_str(&text));
	}
	tacho_buf_release(&text);
	tacho_buf_release(&name);
	*var = 0;
	return t ? t->hist : NULL;
}

void engine_hist_init(struct tacho_engine *engine)
{
	engine->hist_host = (struct tacho_hist_host){
		.arg = engine,
		.find_var = host_find_var,
		.find_synth = host_find_synth,
		.find_type = host_find_type,
		.add_field_var = host_add_field_var,
		.synth = engine_synth_hit,
		.snapshot = engine_snapshot,
	};
}
