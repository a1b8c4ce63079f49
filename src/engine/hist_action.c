// SPDX-License-Identifier: MIT
/*
 * hist_action.c - the actions of a histogram: onmatch, onmax and onchange with trace(),
 * save() and snapshot().
 *
 * 1. What an action is
 *
 *	HANDLER(...).ACTION(...): the handler defines for which hits, the action what is done.
 *
 *		onmatch(system.event)	each hit that found its variables (H2)
 *		onmax($var)		the value is larger than the largest so far of this key
 *		onchange($var)		the value differs from the last one of this key
 *
 *		trace(synth, params)	a synthetic event with these values
 *		save(fields)		the fields are kept with the key
 *		snapshot()		the host takes a snapshot
 *
 *	A hit runs its actions last, in the order of the text: keys, sums and variables
 *	of the hit are stored by then (engine/hist.h).
 *
 * 2. Binding a parameter, in the kernel's order
 *
 *	B1  "$name": a variable of this histogram, else one of another histogram, on the event
 *	    that the name or onmatch gives, if any.  A hit resolves it in H2
 *	B2  "field": a field of this histogram's own event
 *	B3  "field" that the own event does not have, with onmatch(system.event): a field of that
 *	    event.  It happened earlier, so a variable must hold it: the host finds or makes
 *	    a histogram there with the same keys and the variable (add_field_var), and
 *	    the parameter becomes a reference to that variable, as in B1
 *
 *	If both B2 and B3 fail, the error of B2 is reported, as the kernel does.  A parameter must
 *	fit its field of the synthetic event: the same type, or the same size and sign.
 *
 * 3. What a key keeps
 *
 *	Values that actions keep are variables of the map like those of the text, with numbers
 *	after theirs: one for each onmax or onchange (`track`), and one, or a text, for each saved
 *	field.  So they are shared by all processes and cleared with the element.
 *
 *	T1  the watched value v is computed
 *	T2  kept value = v by compare-and-swap, if v is larger (differs); lost to another
 *	    thread: compare again with its value
 *	T3  only the thread that succeeded in T2 runs the action
 *
 *	So the largest value stays, in whatever order threads arrive.  But the words that
 *	save() stores after T2 are not stored atomically with the value: if two threads succeed
 *	at the same time, the fields of the later save() stay, possibly those of the smaller
 *	value, and a reader may see a mixture.  The kernel does not guarantee more. snapshot()
 *	has one value for all keys; it is compared separately, without a lock, in this process
 *	only.
 */
#include "engine/hist_priv.h"

#include <errno.h>
#include <string.h>

/* ---- binding ---- */

int hist_check_actions(struct hist_binder *b)
{
	const struct tacho_hist_spec *spec = b->h->spec;
	const struct tacho_hist_host *host = b->h->host;

	for (uint32_t i = 0; i < spec->nr_actions; i++) {
		const struct tacho_hist_action *a = spec->action[i];

		if (a->handler != TACHO_ON_MATCH)
			continue;
		if (!host || !host->find_type ||
		    !host->find_type(host->arg, a->system, a->event))
			return hist_fail(b, -EINVAL, a->event,
					 "Invalid subsystem or event name");
		if (a->action != TACHO_DO_TRACE)
			return hist_fail(b, -EINVAL, a->action == TACHO_DO_SAVE ?
					 "save" : "snapshot",
					 "Handler doesn't support action");
	}
	return 0;
}

/* Allocates one more variable of the map; returns its number. */
static int new_var(struct hist_binder *b, const char *where, const char *text,
		   uint32_t *var)
{
	if (b->h->g.nr_vars == HIST_VARS_MAX)
		return hist_fail(b, -EINVAL, where, text);
	*var = b->h->g.nr_vars++;
	return 0;
}

/* Whether this event has a variable called name, in this or another histogram. */
static bool var_exists(struct tacho_hist *h, const char *name)
{
	const struct tacho_hist_host *host = h->host;
	bool ambiguous = false;
	uint32_t var = 0;

	return hist_own_var(h, name) != HIST_NONE ||
	       (host && host->find_var &&
		host->find_var(host->arg, h->type->system, h->type->name, name,
			       &var, &ambiguous));
}

/* Binds a field of this event as an action's parameter. */
static int own_field(struct hist_binder *b, const struct tacho_hist_expr *x,
		     struct hist_value *v)
{
	const char *name = x->name ? x->name : x->text;	/* a number has no name */
	int err = hist_bind_expr(b, x, 0, v);

	if (!err && var_exists(b->h, name))
		err = hist_fail(b, -EINVAL, name,
				"Couldn't create or find variable");
	return err;
}

/* Binds a field of onmatch's event, or of the event given. */
static int other_field(struct hist_binder *b, const struct tacho_hist_expr *x,
		       const char *system, const char *event,
		       struct hist_value *v)
{
	const struct tacho_hist_host *host = b->h->host;
	uint32_t var = 0;
	struct tacho_hist *of;

	if (!host || !host->find_type ||
	    !host->find_type(host->arg, system, event))
		return hist_fail(b, -EINVAL, x->name, "Event file not found");
	of = host->add_field_var ?
	     host->add_field_var(host->arg, b->h, system, event, x->name, &var) :
	     NULL;
	if (!of || var >= of->nr_vars)
		return hist_fail(b, -EINVAL, x->name,
				 "Matching event histogram not found");
	return hist_bind_ref(b, x, of, var, v);
}

static int field_param(struct hist_binder *b, const struct tacho_hist_action *a,
		       const struct tacho_hist_expr *x, struct hist_value *v)
{
	const char *system = x->system, *event = x->event;
	struct tacho_cmd_error first = { .err = 0 }, *e = b->e;
	int err = 0;

	if (hist_own_event(b->h, system, event)) {
		/* it may be a field of the other event */
		b->e = &first;
		err = own_field(b, x, v);
		b->e = e;
		if (!err)
			return 0;
	}
	if (!system && a->handler == TACHO_ON_MATCH) {
		system = a->system;
		event = a->event;
	}
	if (system && event && x->name) {
		struct tacho_cmd_error second = { .err = 0 };

		memset(v, 0, sizeof(*v));
		b->nr_ops = 0;
		b->e = &second;
		err = other_field(b, x, system, event, v);
		b->e = e;
		if (err && !first.err)
			first = second;
	}
	return err ? tacho_cmd_error(e, first.err, first.column, "%s", first.text)
		   : 0;
}

static int var_param(struct hist_binder *b, const struct tacho_hist_action *a,
		     const struct tacho_hist_expr *x, struct hist_value *v)
{
	uint32_t own = hist_own_event(b->h, x->system, x->event) ?
		       hist_own_var(b->h, x->name) : HIST_NONE, var = 0;
	struct tacho_hist_expr there = *x;
	struct tacho_hist *of;

	if (own != HIST_NONE) {
		b->nr_ops = 0;
		*v = b->h->var[own].value;
		return 0;
	}
	if (!x->system && a->handler == TACHO_ON_MATCH) {
		there.system = a->system;
		there.event = a->event;
	}
	of = hist_find_var(b, &there, "Couldn't find param", &var);
	if (!of)
		return -EINVAL;
	memset(v, 0, sizeof(*v));
	b->nr_ops = 0;
	return hist_bind_ref(b, x, of, var, v);
}

/* The kernel's rule for which values fit a field of a synthetic event. */
static bool fits(const struct tacho_synth_field *f, const struct hist_value *v)
{
	const char *type = v->type ? v->type : "";

	if (f->is_string && f->is_dynamic && strstr(type, "char["))
		return true;
	if (f->is_stack && strstr(type, "long["))
		return true;
	if (!strcmp(f->type, type))
		return true;
	/* strings and stacks fit only fields of their own kind */
	if (f->is_string != !!(v->flags & HIST_IS_STRING) || f->is_stack ||
	    v->flags & HIST_IS_STACK)
		return false;
	return f->size == v->size &&
	       (f->is_string || f->is_signed == v->is_signed);
}

static int bind_param(struct hist_binder *b, const struct hist_act *act,
		      const struct tacho_hist_expr *x, uint32_t i)
{
	struct hist_value *v = &act->param[i];
	int err;

	err = x->op == TACHO_EXPR_VAR ? var_param(b, act->spec, x, v) :
					field_param(b, act->spec, x, v);
	if (err)
		return err;
	if (i >= act->synth->nr_fields || !fits(&act->synth->field[i], v))
		return hist_fail(b, -EINVAL, x->text,
				 "Param type doesn't match synthetic event field type");
	return v->op ? 0 : hist_finish(b, x, v);
}

static int bind_trace(struct hist_binder *b, struct hist_act *act)
{
	const struct tacho_hist_action *a = act->spec;
	const struct tacho_hist_host *host = b->h->host;

	act->synth = host && host->find_synth ?
		     host->find_synth(host->arg, a->synth) : NULL;
	if (!act->synth)
		return hist_fail(b, -EINVAL, a->synth, "Couldn't find synthetic event");
	act->param = tacho_arena_array(b->arena, a->nr_params + 1,
				       sizeof(*act->param));
	if (!act->param)
		return hist_fail(b, -ENOMEM, NULL, "No memory");
	for (uint32_t i = 0; i < a->nr_params; i++) {
		int err = bind_param(b, act, a->param[i], i);

		if (err)
			return err;
	}
	if (a->nr_params != act->synth->nr_fields)
		return hist_fail(b, -EINVAL, a->synth,
				 "Param count doesn't match synthetic event field count");
	return 0;
}

static int bind_save_field(struct hist_binder *b, const struct tacho_hist_expr *x,
			   uint32_t i)
{
	struct tacho_hist_column *c = &b->h->save_column[i];
	struct hist_value *v = &b->h->save[i];
	int err;

	if (x->op == TACHO_EXPR_VAR) {
		err = hist_bind_expr(b, x, 0, v);
		if (!err && v->flags & HIST_IS_REF)
			err = hist_fail(b, -EINVAL, x->text,
					"Couldn't create field variable");
	} else {
		err = own_field(b, x, v);
	}
	if (!err)
		err = new_var(b, x->text, "Couldn't create or find variable",
			      &c->offset);
	if (err)
		return err;
	c->expr = x;
	c->name = x->text ? x->text : x->name;
	c->size = v->size;
	c->is_signed = v->is_signed;
	c->comm = HIST_NONE;
	if (v->flags & HIST_IS_STRING)
		c->shape = TACHO_SHAPE_STRING;
	else if (v->flags & HIST_IS_STACK)
		c->shape = TACHO_SHAPE_STACK;
	if (c->shape != TACHO_SHAPE_NUMBER)
		c->offset = b->h->g.nr_texts++;
	return 0;
}

static int bind_save(struct hist_binder *b, const struct tacho_hist_action *a)
{
	struct tacho_hist *h = b->h;

	if (h->nr_saves)
		return hist_fail(b, -EEXIST, NULL,
				 "Can't have more than one save() action per hist");
	h->save = tacho_arena_array(b->arena, a->nr_params + 1, sizeof(*h->save));
	h->save_column = tacho_arena_array(b->arena, a->nr_params + 1,
					   sizeof(*h->save_column));
	if (!h->save || !h->save_column)
		return hist_fail(b, -ENOMEM, NULL, "No memory");
	for (uint32_t i = 0; i < a->nr_params; i++) {
		int err = bind_save_field(b, a->param[i], i);

		if (err)
			return err;
		h->nr_saves++;
	}
	return 0;
}

static int bind_snapshot(struct hist_binder *b)
{
	struct tacho_hist *h = b->h;

	if (h->has_snapshot)
		return hist_fail(b, -EBUSY, "snapshot",
				 "Can't have more than one snapshot() action per hist");
	h->has_snapshot = true;
	h->snapshot_key = tacho_arena_alloc(b->arena, TACHO_MAP_KEY_MAX);
	return h->snapshot_key ? 0 : hist_fail(b, -ENOMEM, NULL, "No memory");
}

/* onmax and onchange: binds the watched variable and the kept value. */
static int bind_watch(struct hist_binder *b, struct hist_act *act)
{
	const struct tacho_hist_action *a = act->spec;
	uint32_t var = hist_own_var(b->h, a->var);

	if (var == HIST_NONE)
		return hist_fail(b, -EINVAL, a->var,
				 "Couldn't find onmax or onchange variable");
	act->watched = &b->h->var[var].value;
	if (!act->watched->nr_ops)
		return hist_fail(b, -EINVAL, a->var, "A string can not be watched");
	return new_var(b, NULL, "Couldn't create onmax or onchange variable",
		       &act->track);
}

int hist_bind_actions(struct hist_binder *b)
{
	const struct tacho_hist_spec *spec = b->h->spec;

	for (uint32_t i = 0; i < spec->nr_actions; i++) {
		struct hist_act *act = &b->h->act[i];
		int err = 0;

		act->spec = spec->action[i];
		if (act->spec->handler != TACHO_ON_MATCH)
			err = bind_watch(b, act);
		if (err)
			return err;
		if (act->spec->action == TACHO_DO_TRACE)
			err = bind_trace(b, act);
		else if (act->spec->action == TACHO_DO_SAVE)
			err = bind_save(b, act->spec);
		else
			err = bind_snapshot(b);
		if (err)
			return err;
		b->h->nr_acts++;
	}
	return 0;
}

/* ---- running ---- */

static void synth_value(const struct hist_value *v, struct hist_frame *f,
			struct tacho_synth_value *to)
{
	uint32_t len;

	if (v->flags & HIST_IS_STRING) {
		to->data = hist_string(v, f, &len);
		to->len = len;
	} else if (v->flags & HIST_IS_STACK) {
		to->data = hist_stack(v, f, &len);
		to->len = len * 8;
		if (!to->data)
			to->data = "";
	} else {
		to->number = hist_number(v, f);
	}
}

static void act_trace(const struct tacho_hist *h, const struct hist_act *act,
		      struct hist_frame *f)
{
	struct tacho_synth_value value[TACHO_SYNTH_FIELDS_MAX];
	uint32_t nr = act->spec->nr_params;

	if (!h->host->synth)
		return;
	memset(value, 0, nr * sizeof(value[0]));
	for (uint32_t i = 0; i < nr; i++)
		synth_value(&act->param[i], f, &value[i]);
	h->host->synth(h->host->arg, act->synth, value, f->rec);
}

static void act_save(const struct tacho_hist *h, struct hist_frame *f,
		     struct tacho_map_elt *e)
{
	for (uint32_t i = 0; i < h->nr_saves; i++) {
		const struct tacho_hist_column *c = &h->save_column[i];

		if (c->shape == TACHO_SHAPE_NUMBER)
			tacho_map_var_set(&h->map, e, c->offset,
					  hist_number(&h->save[i], f));
		else
			hist_keep_text(&h->save[i], f,
				       tacho_map_text(&h->map, e, c->offset));
	}
}

static bool passes(enum tacho_hist_handler handler, uint64_t kept, uint64_t v)
{
	return handler == TACHO_ON_MAX ? v > kept : v != kept;
}

/* The snapshot is shared by all keys, so the value must also be new for it. */
static void act_snapshot(struct tacho_hist *h, const struct hist_act *act,
			 struct hist_frame *f, const uint64_t *key, uint64_t v)
{
	if (!passes(act->spec->handler, tacho_load_relaxed(&h->snapshot_value), v))
		return;
	tacho_store_relaxed(&h->snapshot_value, v);
	tacho_copy_relaxed(h->snapshot_key, key, h->g.key_size / 8);
	if (h->comm != HIST_NONE)
		memcpy(h->snapshot_comm, hist_comm(f), sizeof(h->snapshot_comm));
	tacho_store_release(&h->snapshot_taken, true);	/* [snapshot-taken] */
	if (h->host && h->host->snapshot)
		h->host->snapshot(h->host->arg, f->rec);
}

/* If several threads have larger values at the same time, the largest stays. */
static bool track(const struct tacho_hist *h, const struct hist_act *act,
		  struct tacho_map_elt *e, uint64_t v)
{
	uint64_t *kept = tacho_map_var(&h->map, e, act->track);
	uint64_t was = tacho_load_relaxed(kept);

	/* an attempt fails only if another thread succeeds; the limit bounds a corrupt map */
	for (int tries = 0; tries < 64; tries++) {
		if (!passes(act->spec->handler, was, v))
			return false;
		if (tacho_cas_acq_rel(kept, &was, v)) {
			tacho_map_var_mark(&h->map, e, act->track);
			return true;
		}
	}
	return false;
}

void hist_act(struct tacho_hist *h, struct hist_frame *f,
	      struct tacho_map_elt *e, const uint64_t *key)
{
	for (uint32_t i = 0; i < h->nr_acts; i++) {
		const struct hist_act *act = &h->act[i];
		uint64_t v = 0;

		if (act->watched) {
			v = hist_number(act->watched, f);
			if (!track(h, act, e, v))
				continue;
		}
		if (act->spec->action == TACHO_DO_TRACE)
			act_trace(h, act, f);
		else if (act->spec->action == TACHO_DO_SAVE)
			act_save(h, f, e);
		else
			act_snapshot(h, act, f, key, v);
	}
}
