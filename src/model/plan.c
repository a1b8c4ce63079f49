// SPDX-License-Identifier: MIT
/* Rules for one event type. */
#include "model/plan.h"

#include <string.h>

#include "model/model_priv.h"

/* Letters of thread states, in the order in which they count. */
static const char state_letters[MODEL_STATE_BITS] = "DXZTtPIS";
/* Their bits in the kernel (4.14 and later), where a type does not say. */
static const uint8_t state_bits[MODEL_STATE_BITS] = { 2, 16, 32, 4, 8, 64, 128, 1 };

/* A row that becomes an action. */
struct planner {
	struct model *m;
	const struct tacho_type *type;
	const struct model_row *row;
	const char *star;		/* what the rule's * matched, without suffixes of forms */
	size_t star_len;
};

/* ---- values ---- */

static bool how_is(enum model_how *how, const char *s, size_t len)
{
	static const struct {
		const char *name;
		enum model_how how;
	} hows[] = {
		{ "name", MODEL_AS_NAME }, { "syscall", MODEL_AS_SYSCALL },
		{ "sym", MODEL_AS_SYM }, { "dev", MODEL_AS_DEV }, { "base", MODEL_AS_BASE },
		{ "s32", MODEL_AS_S32 }, { "chars", MODEL_AS_CHARS },
	};

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		if (strlen(hows[i].name) == len && !memcmp(hows[i].name, s, len)) {
			*how = hows[i].how;
			return true;
		}
	return false;
}

static const struct tacho_field *find_field(const struct planner *p, const char *s, size_t len)
{
	for (uint32_t i = 0; i < p->type->nr_fields; i++) {
		const struct tacho_field *f = &p->type->fields[i];

		if (strlen(f->name) == len && !memcmp(f->name, s, len))
			return f;
	}
	return NULL;
}

/* FIELD|FIELD.HOW, "text", *.  False: the type has none of the fields. */
static bool compile_value(struct planner *p, const char *s, size_t len, struct model_value *v)
{
	const char *end = s + len, *dot;

	*v = (struct model_value){ 0 };
	if (len == 1 && *s == '*') {
		v->text = model_intern(p->m, p->star, p->star_len);
		return true;
	}
	if (*s == '"') {
		v->text = model_intern(p->m, s + 1, len - 2);
		return true;
	}
	dot = memrchr(s, '.', len);
	if (dot) {
		if (!how_is(&v->how, dot + 1, (size_t)(end - dot - 1)))
			return false;
		end = dot;
	}
	while (!v->field && s < end) {
		const char *bar = memchr(s, '|', (size_t)(end - s));
		const char *stop = bar ? bar : end;

		v->field = find_field(p, s, (size_t)(stop - s));
		s = stop + 1;
	}
	if (v->field && v->how == MODEL_AS_NAME)
		tacho_name_table_find(p->type, v->field, &v->names);
	return v->field != NULL;
}

static bool compile_keys(struct planner *p, const char *s, struct model_action *a)
{
	while (a->nr_keys < MODEL_KEYS_MAX) {
		size_t len = strcspn(s, ",");

		if (!compile_value(p, s, len, &a->key[a->nr_keys++]))
			return false;
		if (!s[len])
			return true;
		s += len + 1;
	}
	return false;
}

/* ---- thread states ---- */

static void compile_bits(struct planner *p, struct model_action *a)
{
	const struct tacho_field *f = a->arg[MODEL_ARG_STATE].field;
	struct tacho_name_table t = { 0 };
	bool any = false;

	if (f)
		tacho_name_table_find(p->type, f, &t);
	for (uint32_t i = 0; i < t.nr; i++) {
		uint64_t value;
		size_t len;
		const char *name = tacho_name_table_at(&t, i, &value, &len);
		const char *at = len == 1 ? memchr(state_letters, *name, MODEL_STATE_BITS) : NULL;

		if (at) {
			a->bit[at - state_letters] = value;
			any = true;
		}
	}
	a->mask = any ? t.mask : UINT64_MAX;
	for (uint32_t i = 0; i < MODEL_STATE_BITS && !any; i++)
		a->bit[i] = state_bits[i];
}

static bool find_state(const char *name, enum model_thread_state *state)
{
	if (!strcmp(name, "ready"))
		name = "runnable";
	for (int i = 0; i < MODEL_NR_STATES; i++)
		if (!strcmp(name, model_state_name((enum model_thread_state)i))) {
			*state = (enum model_thread_state)i;
			return true;
		}
	return false;
}

/* ---- rows ---- */

bool model_arg_is_optional(const struct model_row *row, int arg)
{
	return arg == MODEL_ARG_OUT_NAME || arg == MODEL_ARG_IN_NAME || arg == MODEL_ARG_STATE ||
	       arg == MODEL_ARG_FLAGS || (arg == MODEL_ARG_NAME && row->verb != MODEL_RENAME);
}

static bool compile(struct planner *p, struct model_action *a)
{
	const struct model_row *row = p->row;

	a->verb = row->verb;
	a->object = row->object;
	a->only = row->only;
	for (int i = 0; i < MODEL_NR_ARGS; i++) {
		const char *s = row->arg[i];

		if (!s || i == MODEL_ARG_CAT || i == MODEL_ARG_UNLESS)
			continue;
		if (i == MODEL_ARG_KEY || i == MODEL_ARG_BY) {
			if (!compile_keys(p, s, a))
				return false;
		} else if (!compile_value(p, s, strlen(s), &a->arg[i]) &&
			   !model_arg_is_optional(row, i)) {
			return false;
		}
	}
	if (row->arg[MODEL_ARG_CAT])
		a->category = model_intern(p->m, row->arg[MODEL_ARG_CAT],
					   strlen(row->arg[MODEL_ARG_CAT]));
	a->category_key = a->category ? model_text_key(a->category) : 0;
	if (row->where && row->verb == MODEL_COUNT)
		return compile_value(p, row->where, strlen(row->where), &a->label);
	if (row->where)
		a->where = model_intern(p->m, row->where, strlen(row->where));
	a->where_key = a->where ? model_text_key(a->where) : 0;
	if (row->verb == MODEL_SWITCH)
		compile_bits(p, a);
	if (row->verb == MODEL_SET_STATE)
		return find_state(model_text(p->m, &a->arg[MODEL_ARG_VALUE]), &a->state);
	return true;
}

/* "unless=EVENT": whether the trace has such a type. */
static bool is_off(const struct model *m, const struct model_row *row)
{
	const struct tacho_type *type;

	if (!row->arg[MODEL_ARG_UNLESS])
		return false;
	for (uint32_t i = 0; (type = tacho_stream_type(m->stream, i)); i++)
		if (model_event_match(row->arg[MODEL_ARG_UNLESS], type->system, type->name, NULL,
				      NULL))
			return true;
	return false;
}

/* Of "msg_sendv_wide": "msg_sendv". */
static size_t without_form(const char *s, size_t len)
{
	static const char *const forms[] = { "_wide", "_64", "_aps", "_alt", "_alt2", "_error",
					     "_raw" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = strlen(forms[i]);

		if (len > n && !memcmp(s + len - n, forms[i], n)) {
			len -= n;
			i = (size_t)-1;
		}
	}
	return len;
}

struct model_plan *model_plan_make(struct model *m, const struct tacho_type *type,
				   bool is_kernel)
{
	struct model_plan *plan = tacho_arena_alloc(&m->arena, sizeof(*plan));
	const struct model_action **tail;
	const char *name = type->name;

	if (!plan)
		return NULL;
	if (m->is_qnx)
		name = model_intern(m, name, without_form(name, strlen(name)));
	plan->is_kernel = is_kernel;
	tail = &plan->first;
	for (const struct model_row *row = m->rules->row; row; row = row->next) {
		struct planner p = { .m = m, .type = type, .row = row };
		struct model_action a = { 0 }, *own;

		if (!model_event_match(row->event, type->system, name, &p.star, &p.star_len) ||
		    is_off(m, row))
			continue;
		if (!compile(&p, &a))
			continue;
		own = tacho_arena_alloc(&m->arena, sizeof(*own));
		if (!own)
			return NULL;
		*own = a;
		*tail = own;
		tail = &own->next;
	}
	plan->is_lkst = !strcmp(type->system, "lkst");
	return plan;
}
