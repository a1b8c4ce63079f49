// SPDX-License-Identifier: MIT
/* A histogram at work: binding, one hit, accessors. */
#include "engine/hist_priv.h"

#include <errno.h>
#include <string.h>

/* ---- binding, in the kernel's order ---- */

/* Checks the modifiers of a value or variable. */
static int check_mods(struct hist_binder *b, const struct tacho_hist_expr *x,
		      uint32_t bad)
{
	if (!(x->mods & bad))
		return 0;
	return hist_fail(b, -EINVAL, x->text, "Invalid field modifier");
}

static int bind_val(struct hist_binder *b, const struct tacho_hist_expr *x)
{
	struct tacho_hist *h = b->h;
	struct hist_value *v = &h->val[h->nr_vals];
	struct tacho_hist_column *c = &h->val_column[h->nr_vals];
	int err = hist_bind_expr(b, x, h->spec->nr_vars, v);

	if (!err)
		err = check_mods(b, x, TACHO_MOD_BUCKETS | TACHO_MOD_LOG2 |
				 TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET |
				 TACHO_MOD_SYSCALL | TACHO_MOD_STACKTRACE);
	if (err)
		return err;
	if (v->flags & HIST_IS_STACK)
		return hist_fail(b, -EINVAL, x->text, "Invalid field modifier");
	if (v->flags & HIST_IS_STRING)
		return hist_fail(b, -EINVAL, x->text, "String type can not be a value");
	c->expr = x;
	c->name = v->name;
	c->offset = h->nr_vals++;
	c->size = 8;
	c->is_signed = v->is_signed;
	c->comm = HIST_NONE;
	h->g.nr_sums++;
	return 0;
}

static int bind_vals(struct hist_binder *b)
{
	const struct tacho_hist_spec *spec = b->h->spec;

	for (uint32_t i = 0; i < spec->nr_vals; i++) {
		int err = hist_is_hitcount(spec->val[i]) ? 0 :
						      bind_val(b, spec->val[i]);

		if (err)
			return err;
	}
	if (spec->nohitcount && !b->h->nr_vals)
		return hist_fail(b, -ENOENT, NULL,
				 "Non-hitcount value is required for 'nohitcount'");
	return 0;
}

/* Makes a variable with .execname hold the thread's name. */
static void become_name(struct hist_value *v)
{
	v->flags = HIST_IS_STRING | HIST_IS_COMM;
	v->nr_ops = 0;
	v->op = NULL;
	v->size = HIST_STRING;
	v->is_signed = false;
	v->type = "char[]";
}

static bool var_defined(const struct tacho_hist *h, uint32_t i)
{
	const struct tacho_hist_host *host = h->host;
	const char *name = h->spec->var[i].name;
	bool ambiguous = false;
	uint32_t var = 0;

	return hist_own_var(h, name) != i ||
	       (host && host->find_var &&
		host->find_var(host->arg, h->type->system, h->type->name, name,
			       &var, &ambiguous));
}

static int bind_var(struct hist_binder *b, uint32_t i)
{
	const struct tacho_hist_var *is = &b->h->spec->var[i];
	struct hist_var *var = &b->h->var[i];
	int err = 0;

	if (var_defined(b->h, i))
		err = hist_fail(b, -EINVAL, is->name, "Variable already defined");
	if (!err)
		err = hist_bind_expr(b, is->expr, i, &var->value);
	if (!err)
		err = check_mods(b, is->expr, TACHO_MOD_GRAPH | TACHO_MOD_PERCENT |
				 TACHO_MOD_BUCKETS | TACHO_MOD_LOG2);
	if (err)
		return err;
	if (var->value.flags & HIST_IS_COMM)
		become_name(&var->value);
	var->text = HIST_NONE;
	if (var->value.flags & (HIST_IS_STRING | HIST_IS_STACK))
		var->text = b->h->g.nr_texts++;
	return 0;
}

static int bind_vars(struct hist_binder *b)
{
	struct tacho_hist *h = b->h;

	if (h->spec->nr_vars > TACHO_HIST_VARS_MAX)
		return hist_fail(b, -EINVAL, NULL, "Too many variables defined");
	for (uint32_t i = 0; i < h->spec->nr_vars; i++) {
		int err = bind_var(b, i);

		if (err)
			return err;
	}
	h->nr_vars = h->spec->nr_vars;
	h->g.nr_vars = h->nr_vars;
	return 0;
}

static bool is_sort_field(const struct tacho_hist_column *c,
			  const struct tacho_hist_expr *x, const char *name)
{
	return x ? c->expr == x : !strcmp(c->name, name);
}

static int bind_sort(struct hist_binder *b, const struct tacho_hist_sort *sort)
{
	struct tacho_hist *h = b->h;
	struct tacho_hist_order *o = &h->order[h->nr_orders++];
	const struct tacho_hist_expr *x = tacho_hist_sort_target(h->spec, sort);

	o->descending = sort->descending;
	if (!x && !strcmp(sort->name, "hitcount"))
		return 0;
	for (uint32_t i = 0; i < h->nr_vals; i++)
		if (is_sort_field(&h->val_column[i], x, sort->name)) {
			o->index = i + 1;
			return 0;
		}
	o->is_key = true;
	for (o->index = 0; o->index < h->nr_keys; o->index++)
		if (is_sort_field(&h->key[o->index].column, x, sort->name))
			return 0;
	return hist_fail(b, -EINVAL, sort->name, "Sort field must be a key or a val");
}

static int bind_sorts(struct hist_binder *b)
{
	const struct tacho_hist_spec *spec = b->h->spec;

	for (uint32_t i = 0; i < spec->nr_sorts && i < TACHO_HIST_SORTS_MAX; i++) {
		int err = bind_sort(b, &spec->sort[i]);

		if (err)
			return err;
	}
	if (!spec->nr_sorts)
		b->h->nr_orders = 1;	/* hitcount, ascending */
	return 0;
}

static int bind_geometry(struct hist_binder *b)
{
	struct tacho_hist *h = b->h;

	h->g.entries = h->spec->size ? h->spec->size : TACHO_HIST_SIZE_DEFAULT;
	if (!tacho_map_bytes(&h->g))
		return hist_fail(b, -EINVAL, NULL, "Histogram is too large");
	h->simple = h->nr_keys == 1 && h->g.key_size == 8 &&
		    h->key[0].column.shape == TACHO_SHAPE_NUMBER &&
		    !h->nr_vars && !h->nr_refs && !h->nr_acts &&
		    h->comm == HIST_NONE;
	h->plain = h->simple && hist_is_load(&h->key[0].value);
	for (uint32_t i = 0; i < h->nr_vals; i++)
		h->plain = h->plain && hist_is_load(&h->val[i]);
	return 0;
}

int tacho_hist_new(struct tacho_hist **hist, struct tacho_arena *a,
		   const struct tacho_hist_spec *spec,
		   const struct tacho_type *type,
		   const struct tacho_hist_host *host,
		   const struct tacho_names *names, struct tacho_cmd_error *e)
{
	struct tacho_hist *h = tacho_arena_alloc(a, sizeof(*h));
	struct hist_binder *b = tacho_arena_alloc(a, sizeof(*b));
	int err;

	(void)names;	/* names are not needed before a hit */
	*hist = NULL;
	if (!h || !b)
		return tacho_cmd_error(e, -ENOMEM, 0, "No memory");
	b->h = h;
	b->arena = a;
	b->e = e;
	h->spec = spec;
	h->type = type;
	h->host = host;
	h->comm = HIST_NONE;
	err = hist_check_actions(b);
	if (!err)
		err = bind_vals(b);
	if (!err)
		err = bind_vars(b);
	if (!err)
		err = hist_bind_keys(b);
	if (!err)
		err = bind_sorts(b);
	if (!err)
		err = hist_bind_actions(b);
	if (!err)
		err = bind_geometry(b);
	if (!err)
		*hist = h;
	return err;
}

void tacho_hist_geometry(const struct tacho_hist *hist,
			 struct tacho_map_geometry *g)
{
	*g = hist->g;
}

int tacho_hist_bind(struct tacho_hist *hist, void *mem, size_t size)
{
	struct tacho_map map;
	int err = tacho_map_view(&map, mem, size, &hist->g);

	if (!err)
		hist->map = map;
	return err;
}

void tacho_hist_alone(struct tacho_hist *hist)
{
	hist->map.alone = true;
}

/* ---- one hit ---- */

/* H2: false when a variable is missing. */
static bool resolve(const struct tacho_hist *h, struct hist_frame *f,
		    const uint64_t *key)
{
	for (uint32_t i = 0; i < h->nr_refs; i++) {
		const struct hist_ref *ref = &h->ref[i];
		const struct tacho_map *map = &ref->hist->map;
		uint32_t text = ref->hist->var[ref->var].text;
		struct tacho_map_elt *e = map->head ? tacho_map_find(map, key)
						    : NULL;

		if (!e)
			return false;
		if (!(ref->once ? tacho_map_var_take : tacho_map_var_get)
		    (map, e, ref->var, &f->ref[i]))
			return false;
		f->ref_text[i] = text == HIST_NONE ? NULL :
						     tacho_map_text(map, e, text);
	}
	return true;
}

/* H4 */
static void update_vars(const struct tacho_hist *h, struct hist_frame *f,
			struct tacho_map_elt *e)
{
	for (uint32_t i = 0; i < h->nr_vars; i++) {
		const struct hist_var *var = &h->var[i];
		uint64_t v = 0;

		if (var->text == HIST_NONE)
			v = hist_number(&var->value, f);
		else
			hist_keep_text(&var->value, f,
				       tacho_map_text(&h->map, e, var->text));
		tacho_map_var_set(&h->map, e, i, v);
	}
}

/* Stores the name of the thread whose hit created the element. */
static void keep_comm(const struct tacho_hist *h, struct hist_frame *f,
		      struct tacho_map_elt *e)
{
	char *text = tacho_map_text(&h->map, e, h->comm);
	const char *comm;

	if (tacho_load_relaxed(text))
		return;
	comm = hist_comm(f);
	hist_keep_string(text, comm, (uint32_t)strlen(comm), 16);
}

static TACHO_ALWAYS_INLINE void update_sums(const struct tacho_hist *h,
					    const struct hist_frame *f,
					    const struct tacho_map_counters *c)
{
	tacho_map_add(c, 0, 1);
	for (uint32_t i = 0; i < h->nr_vals; i++)
		tacho_map_add(c, 1 + i, hist_number(&h->val[i], f));
}

static TACHO_NOINLINE void hit_full(struct tacho_hist *h, struct hist_frame *f)
{
	uint64_t key[TACHO_MAP_KEY_MAX / 8];
	struct tacho_map_counters c;
	struct tacho_map_elt *e;

	hist_build_key(h, f, key);
	if (h->nr_refs && !resolve(h, f, key))
		return;
	e = tacho_map_insert(&h->map, key);
	if (!e)
		return;
	if (h->comm != HIST_NONE)
		keep_comm(h, f, e);
	c = tacho_map_at(&h->map, e);
	update_sums(h, f, &c);
	update_vars(h, f, e);
	if (h->nr_acts)
		hist_act(h, f, e, key);
}

/* Whether an event of this length is counted; shorter ones are dropped. */
static TACHO_ALWAYS_INLINE bool wants(const struct tacho_hist *hist, uint32_t len)
{
	if (!hist->map.head || tacho_load_relaxed(&hist->map.head->paused))
		return false;
	if (tacho_likely(len >= hist->min_len))
		return true;
	(void)tacho_add_relaxed(&hist->map.head->drops, 1);
	return false;
}

void tacho_hist_count(struct tacho_hist *hist, const unsigned char *raw,
		      uint32_t len)
{
	struct tacho_map_counters c;

	if (!wants(hist, len))
		return;
	c = tacho_map_insert_at_u64(&hist->map,
				    hist_load(&hist->key[0].value.first, raw));
	if (tacho_unlikely(!c.shared))
		return;
	tacho_map_add(&c, 0, 1);
	for (uint32_t i = 0; i < hist->nr_vals; i++)
		tacho_map_add(&c, 1 + i, hist_load(&hist->val[i].first, raw));
}

static void hit_simple(struct tacho_hist *h, const struct hist_frame *f)
{
	struct tacho_map_counters c =
		tacho_map_insert_at_u64(&h->map, hist_number(&h->key[0].value, f));

	if (tacho_likely(c.shared != NULL))
		update_sums(h, f, &c);
}

void tacho_hist_hit(struct tacho_hist *hist, const struct tacho_rec *rec)
{
	struct hist_frame f;

	if (hist->plain) {
		tacho_hist_count(hist, rec->raw, rec->len);
		return;
	}
	if (!wants(hist, rec->len))
		return;
	f.hist = hist;
	f.rec = rec;
	f.comm_known = false;
	if (hist->simple)
		hit_simple(hist, &f);
	else
		hit_full(hist, &f);
}

/* ---- at run time ---- */

void tacho_hist_pause(struct tacho_hist *hist, bool paused)
{
	if (hist->map.head)
		tacho_store_relaxed(&hist->map.head->paused, paused);
}

bool tacho_hist_paused(const struct tacho_hist *hist)
{
	return hist->map.head && tacho_load_relaxed(&hist->map.head->paused);
}

void tacho_hist_clear(struct tacho_hist *hist)
{
	if (hist->map.head)
		tacho_map_clear(&hist->map);
}

/* ---- for printing ---- */

const struct tacho_hist *tacho_hist_reference(const struct tacho_hist *hist,
					      uint32_t i)
{
	return i < hist->nr_refs ? hist->ref[i].hist : NULL;
}

const struct tacho_hist_spec *tacho_hist_spec_of(const struct tacho_hist *hist)
{
	return hist->spec;
}

const struct tacho_type *tacho_hist_type_of(const struct tacho_hist *hist)
{
	return hist->type;
}

const struct tacho_map *tacho_hist_map(const struct tacho_hist *hist)
{
	return &hist->map;
}

uint32_t tacho_hist_nr_keys(const struct tacho_hist *hist)
{
	return hist->nr_keys;
}

const struct tacho_hist_column *tacho_hist_key(const struct tacho_hist *hist,
					       uint32_t i)
{
	return &hist->key[i].column;
}

bool tacho_hist_is_plain(const struct tacho_hist *hist)
{
	return hist->plain;
}

bool tacho_hist_uses_stack(const struct tacho_hist *hist)
{
	return hist->uses_stack;
}

uint32_t tacho_hist_nr_vals(const struct tacho_hist *hist)
{
	return hist->nr_vals;
}

const struct tacho_hist_column *tacho_hist_val(const struct tacho_hist *hist,
					       uint32_t i)
{
	return &hist->val_column[i];
}

uint32_t tacho_hist_nr_orders(const struct tacho_hist *hist)
{
	return hist->nr_orders;
}

struct tacho_hist_order tacho_hist_order(const struct tacho_hist *hist, uint32_t i)
{
	return hist->order[i];
}

/* The i-th action that keeps a value; NULL: there is none. */
static const struct hist_act *kept(const struct tacho_hist *hist, uint32_t i)
{
	for (uint32_t k = 0; k < hist->nr_acts; k++)
		if (hist->act[k].watched && !i--)
			return &hist->act[k];
	return NULL;
}

uint32_t tacho_hist_nr_saved(const struct tacho_hist *hist)
{
	uint32_t nr = 0;

	while (kept(hist, nr))
		nr++;
	return nr;
}

struct tacho_hist_saved tacho_hist_saved(const struct tacho_hist *hist, uint32_t i)
{
	struct tacho_hist_saved s = { .action = NULL };
	const struct hist_act *act = kept(hist, i);

	if (!act)
		return s;
	s.action = act->spec;
	s.var = act->track;
	if (act->spec->action != TACHO_DO_SNAPSHOT) {
		s.nr = hist->nr_saves;
		s.field = hist->save_column;
	} else if (tacho_load_acquire(&hist->snapshot_taken)) {	/* [snapshot-taken] */
		s.snapshot_value = &hist->snapshot_value;
		s.snapshot_key = hist->snapshot_key;
		s.snapshot_comm = hist->snapshot_comm;
	}
	return s;
}
