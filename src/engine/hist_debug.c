// SPDX-License-Identifier: MIT
/* The definition of a histogram, for debugging. */
#include "engine/hist_print.h"

#include "engine/hist_priv.h"

static const struct {
	uint32_t flag;
	const char *word;
} flags[] = {
	{ HIST_IS_CONST, "constant" }, { HIST_IS_TIME, "timestamp" },
	{ HIST_IS_USECS, "usecs" }, { HIST_IS_STRING, "string" },
	{ HIST_IS_STACK, "stacktrace" }, { HIST_IS_COMM, "execname" },
	{ HIST_IS_REF, "variable reference" },
};

static const struct {
	uint32_t mod;
	const char *word;
} mods[] = {
	{ TACHO_MOD_HEX, "hex" }, { TACHO_MOD_SYM, "sym" },
	{ TACHO_MOD_SYM_OFFSET, "sym-offset" }, { TACHO_MOD_SYSCALL, "syscall" },
	{ TACHO_MOD_LOG2, "log2" }, { TACHO_MOD_BUCKETS, "buckets" },
	{ TACHO_MOD_PERCENT, "percent" }, { TACHO_MOD_GRAPH, "graph" },
};

/* "    flags: key, hex" */
static void put_flags(const struct hist_value *v, const struct tacho_hist_expr *x,
		      const char *role, struct tacho_buf *out)
{
	tacho_buf_printf(out, "    flags: %s", role);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (v->flags & flags[i].flag)
			tacho_buf_printf(out, ", %s", flags[i].word);
	for (size_t i = 0; x && i < sizeof(mods) / sizeof(mods[0]); i++)
		if (x->mods & mods[i].mod)
			tacho_buf_printf(out, ", %s", mods[i].word);
	tacho_buf_putc(out, '\n');
}

static void put_value(const struct hist_value *v, const struct tacho_hist_expr *x,
		      const char *role, struct tacho_buf *out)
{
	put_flags(v, x, role, out);
	if (v->field)
		tacho_buf_printf(out, "    event field: %s, at byte %u\n", v->field->name,
				 v->field->offset);
	if (v->nr_ops > 1)
		tacho_buf_printf(out, "    operations: %u\n", v->nr_ops);
	tacho_buf_printf(out, "    type: %s\n    size: %u\n    is_signed: %d\n",
			 v->type && *v->type ? v->type : "u64", v->size, v->is_signed);
}

static void put_title(uint32_t nr, const struct tacho_hist_expr *x,
		      struct tacho_buf *out)
{
	tacho_buf_printf(out, "\n  fields[%u]: ", nr);
	tacho_hist_expr_print(x, out);
	tacho_buf_putc(out, '\n');
}

/* The hitcount is the first value of every histogram. */
static void put_vals(const struct tacho_hist *h, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\nval fields:\n\n  fields[0]: hitcount\n"
		       "    flags: value, hitcount\n    type: u64\n    size: 8\n"
		       "    is_signed: 0\n");
	for (uint32_t i = 0; i < h->nr_vals; i++) {
		put_title(i + 1, h->val_column[i].expr, out);
		put_value(&h->val[i], h->val_column[i].expr, "value", out);
	}
}

static void put_keys(const struct tacho_hist *h, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\nkey fields:\n");
	for (uint32_t i = 0; i < h->nr_keys; i++) {
		const struct tacho_hist_column *c = &h->key[i].column;

		put_title(h->nr_vals + 1 + i, c->expr, out);
		put_value(&h->key[i].value, c->expr, "key", out);
		tacho_buf_printf(out, "    in the key: bytes %u to %u\n", c->offset,
				 c->offset + c->size - 1);
	}
}

static void put_vars(const struct tacho_hist *h, struct tacho_buf *out)
{
	if (h->nr_vars)
		tacho_buf_puts(out, "\nvariables:\n");
	for (uint32_t i = 0; i < h->nr_vars; i++) {
		const struct tacho_hist_var *var = &h->spec->var[i];

		tacho_buf_printf(out, "\n  vars[%u]: %s = ", i, var->name);
		tacho_hist_expr_print(var->expr, out);
		tacho_buf_putc(out, '\n');
		put_value(&h->var[i].value, var->expr, "variable", out);
	}
	if (h->nr_refs)
		tacho_buf_puts(out, "\nvariable references:\n");
	for (uint32_t i = 0; i < h->nr_refs; i++) {
		const struct hist_ref *r = &h->ref[i];

		tacho_buf_printf(out, "\n  refs[%u]: $%s of %s:%s%s\n", i,
				 r->hist->spec->var[r->var].name, r->hist->type->system,
				 r->hist->type->name, r->once ? ", read and unset" : "");
	}
}

static void put_action(uint32_t nr, const struct tacho_hist_action *a,
		       struct tacho_buf *out)
{
	static const char *const handlers[] = {
		[TACHO_ON_MATCH] = "onmatch", [TACHO_ON_MAX] = "onmax",
		[TACHO_ON_CHANGE] = "onchange",
	};
	static const char *const actions[] = {
		[TACHO_DO_TRACE] = "trace", [TACHO_DO_SAVE] = "save",
		[TACHO_DO_SNAPSHOT] = "snapshot",
	};

	tacho_buf_printf(out, "\n  actions[%u]: %s(", nr, handlers[a->handler]);
	if (a->handler == TACHO_ON_MATCH)
		tacho_buf_printf(out, "%s.%s", a->system, a->event);
	else
		tacho_buf_printf(out, "$%s", a->var);
	tacho_buf_printf(out, ").%s\n", actions[a->action]);
	if (a->synth)
		tacho_buf_printf(out, "    synthetic event: %s\n", a->synth);
	for (uint32_t i = 0; i < a->nr_params; i++) {
		tacho_buf_printf(out, "    param[%u]: ", i);
		tacho_hist_expr_print(a->param[i], out);
		tacho_buf_putc(out, '\n');
	}
}

static void put_sort(const struct tacho_hist *h, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\nsort:\n\n");
	for (uint32_t i = 0; i < h->nr_orders; i++) {
		const struct tacho_hist_order *o = &h->order[i];

		tacho_buf_printf(out, "  fields[%u], %s\n",
				 o->is_key ? h->nr_vals + 1 + o->index : o->index,
				 o->descending ? "descending" : "ascending");
	}
}

int tacho_hist_print_debug(const struct tacho_hist *h, struct tacho_buf *out)
{
	tacho_buf_puts(out, "# event histogram\n#\n# trigger info: ");
	tacho_hist_spec_print(h->spec, tacho_hist_paused(h), out);
	tacho_buf_printf(out, "\n#\n\nn_vals: %u\nn_keys: %u\nn_fields: %u\nn_vars: %u\n"
			 "entries: %u\nkey size: %u\n", h->nr_vals + 1, h->nr_keys,
			 h->nr_vals + 1 + h->nr_keys, h->nr_vars, h->g.entries,
			 h->g.key_size);
	put_vals(h, out);
	put_keys(h, out);
	put_vars(h, out);
	put_sort(h, out);
	if (h->spec->nr_actions)
		tacho_buf_puts(out, "\nactions:\n");
	for (uint32_t i = 0; i < h->spec->nr_actions; i++)
		put_action(i, h->spec->action[i], out);
	return tacho_buf_error(out);
}
