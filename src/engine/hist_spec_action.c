// SPDX-License-Identifier: MIT
/* Histogram triggers: handlers and actions. */
#include "engine/hist_spec_priv.h"

#include <errno.h>

static int parse_params(struct hist_parser *ps, struct tacho_hist_action *act,
			struct hist_params *params, struct hist_slice rest)
{
	bool first = act->use_trace_keyword;
	struct hist_slice text;

	while (rest.p) {
		if (params->nr == TACHO_HIST_PARAMS_MAX)
			return tacho_cmd_error(ps->e, -EINVAL, ps->spec->base,
					       "Too many action params");
		tacho_hist_cut(&rest, ',', &text);
		text = tacho_hist_strip(text);
		if (text.len < 2)
			return tacho_hist_fail(ps, -EINVAL, text,
					       "Invalid action param");
		if (first) {
			act->synth = tacho_hist_keep(ps, text);
			if (!act->synth)
				return -ENOMEM;
		} else {
			params->slice[params->nr++] = text;
		}
		first = false;
	}
	return 0;
}

/* Parses name(params): the kernel compares only the beginning of the name. */
static int parse_call(struct hist_parser *ps, struct tacho_hist_action *act,
		      struct hist_params *params, struct hist_slice name,
		      struct hist_slice rest)
{
	struct hist_slice text;
	int err = 0;

	act->name = tacho_hist_keep(ps, name);
	if (!act->name)
		return -ENOMEM;
	act->action_column = tacho_hist_column(ps, name);
	tacho_hist_cut(&rest, ')', &text);
	if (tacho_hist_slice_begins(name, "snapshot")) {
		act->action = TACHO_DO_SNAPSHOT;
		if (!rest.p)
			return tacho_hist_fail(ps, -EINVAL, text,
					       "No closing paren found");
	} else {
		if (tacho_hist_slice_begins(name, "save")) {
			act->action = TACHO_DO_SAVE;
		} else {
			act->action = TACHO_DO_TRACE;
			act->synth = act->name;
			act->use_trace_keyword =
				tacho_hist_slice_begins(name, "trace");
		}
		err = parse_params(ps, act, params, text);
	}
	if (!err && act->action != TACHO_DO_TRACE &&
	    act->handler == TACHO_ON_MATCH)
		err = tacho_hist_fail(ps, -EINVAL, name,
				      "Handler doesn't support action");
	return err;
}

/* onmatch(system.event */
static int parse_match(struct hist_parser *ps, struct tacho_hist_action *act,
		       struct hist_slice *rest)
{
	struct hist_slice whole = *rest, event, system;

	tacho_hist_cut(rest, ')', &event);
	if (!rest->p)
		return tacho_hist_fail(ps, -EINVAL, whole,
				       "No closing paren found");
	tacho_hist_cut(&event, '.', &system);
	if (!event.p)
		return tacho_hist_fail(ps, -EINVAL, system, "Missing subsystem");
	act->system = tacho_hist_keep(ps, system);
	act->event = tacho_hist_keep(ps, event);
	return act->system && act->event ? 0 : -ENOMEM;
}

/* onmax($var, onchange($var; step 5 checks that the variable exists */
static int parse_tracked(struct hist_parser *ps, struct tacho_hist_action *act,
			 struct hist_slice *rest)
{
	struct hist_slice whole = *rest, var;

	tacho_hist_cut(rest, ')', &var);
	if (!rest->p)
		return tacho_hist_refuse(ps, whole, "No closing paren found");
	act->var = tacho_hist_keep(ps, var);
	return act->var ? 0 : -ENOMEM;
}

static int parse_action(struct hist_parser *ps, struct tacho_hist_action *act,
			struct hist_params *params, struct hist_slice rest)
{
	struct hist_slice name, skipped;
	int err;

	act->column = tacho_hist_column(ps, rest);
	tacho_hist_cut(&rest, '(', &name);
	if (tacho_hist_slice_is(name, "onmatch"))
		act->handler = TACHO_ON_MATCH;
	else if (tacho_hist_slice_is(name, "onmax"))
		act->handler = TACHO_ON_MAX;
	else
		act->handler = TACHO_ON_CHANGE;
	if (act->handler == TACHO_ON_MATCH)
		err = parse_match(ps, act, &rest);
	else
		err = parse_tracked(ps, act, &rest);
	if (err)
		return err;
	/* text between ')' and '.' is ignored */
	if (!tacho_hist_cut(&rest, '.', &skipped) || !rest.p ||
	    !tacho_hist_cut(&rest, '(', &name) || !rest.p)
		return tacho_cmd_error(ps->e, -EINVAL, ps->spec->base,
				       "No action found");
	return parse_call(ps, act, params, name, rest);
}

int tacho_hist_parse_actions(struct hist_parser *ps)
{
	for (uint32_t i = 0; i < ps->nr_actions; i++) {
		int err;

		ps->action[i] = tacho_arena_alloc(ps->a, sizeof(*ps->action[i]));
		ps->params[i] = tacho_arena_alloc(ps->a, sizeof(*ps->params[i]));
		if (!ps->action[i] || !ps->params[i])
			return tacho_hist_nomem(ps);
		err = parse_action(ps, ps->action[i], ps->params[i],
				   ps->action_text[i]);
		if (err)
			return err;
		ps->spec->action[i] = ps->action[i];
		ps->spec->nr_actions++;
	}
	return 0;
}

/* ---- step 5 ---- */

static int check_tracked(struct hist_parser *ps, struct tacho_hist_action *act)
{
	struct hist_slice var = { act->var, strlen(act->var) };

	if (var.p[0] != '$')
		return tacho_hist_fail(ps, -EINVAL, var,
				       "For onmax(x) or onchange(x), x must be a variable");
	act->var++;
	var.p++;
	var.len--;
	for (uint32_t i = 0; i < ps->spec->nr_vars; i++)
		if (!strcmp(ps->spec->var[i].name, act->var))
			return 0;
	return tacho_hist_fail(ps, -EINVAL, var,
			       "Couldn't find onmax or onchange variable");
}

/* A trace() parameter: [system.event.]$var or [system.event.]field */
static struct tacho_hist_expr *trace_param(struct hist_parser *ps,
					   struct hist_slice text)
{
	struct hist_slice system = { 0 }, event = { 0 }, rest = { 0 };
	struct tacho_hist_expr *expr;

	if (!tacho_hist_qualified(text, &system, &event, &rest)) {
		if (memchr(text.p, '.', text.len)) {
			tacho_hist_refuse(ps, text,
					  "Param must be a name or system.event.name");
			return NULL;
		}
		system.p = NULL;
		rest = text;
	}
	expr = tacho_hist_parse_atom(ps, rest, HIST_USE_PARAM);
	if (!expr)
		return NULL;
	expr->text = tacho_hist_keep(ps, text);
	expr->column = tacho_hist_column(ps, text);
	if (rest.len && rest.p[0] == '$') {
		/* "$" alone too: a variable that does not exist */
		expr->op = TACHO_EXPR_VAR;
		expr->name = tacho_hist_keep(ps, (struct hist_slice){
					     rest.p + 1, rest.len - 1 });
	}
	if (system.p) {
		expr->system = tacho_hist_keep(ps, system);
		expr->event = tacho_hist_keep(ps, event);
	}
	return ps->e->err ? NULL : expr;
}

static struct tacho_hist_expr *save_param(struct hist_parser *ps,
					  struct hist_slice text)
{
	struct tacho_hist_expr *expr;

	expr = tacho_hist_parse_atom(ps, text, HIST_USE_PARAM);
	if (!expr)
		return NULL;
	expr->text = tacho_hist_keep(ps, text);
	return expr->text ? expr : NULL;
}

static int check_action(struct hist_parser *ps, uint32_t i, bool *saved)
{
	struct tacho_hist_action *act = ps->action[i];
	const struct hist_params *params = ps->params[i];
	bool save = act->action == TACHO_DO_SAVE;
	int err;

	if (act->handler != TACHO_ON_MATCH) {
		err = check_tracked(ps, act);
		if (err)
			return err;
	}
	if (save && *saved)
		return tacho_cmd_error(ps->e, -EEXIST, ps->spec->base,
				       "Can't have more than one save() action per hist");
	for (uint32_t j = 0; j < params->nr; j++) {
		act->param[j] = save ? save_param(ps, params->slice[j]) :
				trace_param(ps, params->slice[j]);
		if (!act->param[j])
			return -EINVAL;
		act->nr_params++;
	}
	*saved |= save;
	return 0;
}

int tacho_hist_check_actions(struct hist_parser *ps)
{
	bool saved = false;

	for (uint32_t i = 0; i < ps->nr_actions; i++) {
		int err = check_action(ps, i, &saved);

		if (err)
			return err;
	}
	return 0;
}
