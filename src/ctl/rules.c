// SPDX-License-Identifier: MIT
/* Event rules, process lists, filters, triggers and synthetic events. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/session_kernel.h"
#include "ctl/ctl.h"
#include "ctl/kernel.h"
#include "session/command.h"
#include "session/known.h"

static bool is_kernel(enum tacho_ctl_side side)
{
	return side == TACHO_CTL_KERNEL;
}

/* Whether the session can be changed. */
static int check(const struct tacho_ctl *ctl, struct tacho_diag *d)
{
	if (!tacho_ctl_is_dead(ctl))
		return 0;
	return tacho_diag(d, -ENOENT, 0, "session '%s' is destroyed", ctl->session.name);
}

/* ---- rules ----------------------------------------------------------------- */

static int switch_events(struct tacho_ctl *ctl, enum tacho_ctl_side side, bool enable,
			 const char *events, uint32_t *matched)
{
	struct tacho_diag d = { 0 };
	int err = check(ctl, &d);

	if (matched)
		*matched = 0;
	if (!err && is_kernel(side))
		err = tacho_ctl_kernel_switch(ctl, enable, events, matched, &d);
	else if (!err)
		err = tacho_session_rule(&ctl->session, enable, events, matched, &d);
	return tacho_ctl_done(ctl, err, &d, "change");
}

TACHO_EXPORT int tacho_ctl_enable(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				  const char *events, uint32_t *matched)
{
	return switch_events(ctl, side, true, events, matched);
}

TACHO_EXPORT int tacho_ctl_disable(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				   const char *events, uint32_t *matched)
{
	return switch_events(ctl, side, false, events, matched);
}

static int set_pids(struct tacho_ctl *ctl, bool exclude, const int32_t *pids, size_t n,
		    bool follow)
{
	struct tacho_diag d = { 0 };
	int err = check(ctl, &d);

	if (!err && app_session_has_kernel(&ctl->session))
		err = tacho_ctl_kernel(ctl, false, &d);
	if (!err)
		err = app_session_set_pids(&ctl->session, ctl->kernel, exclude, pids, n, follow,
					   &d);
	return tacho_ctl_done(ctl, err, &d, "change");
}

TACHO_EXPORT int tacho_ctl_set_pids(struct tacho_ctl *ctl, const int32_t *pids, size_t n,
				    bool follow)
{
	return set_pids(ctl, false, pids, n, follow);
}

TACHO_EXPORT int tacho_ctl_set_not_pids(struct tacho_ctl *ctl, const int32_t *pids, size_t n,
					bool follow)
{
	return set_pids(ctl, true, pids, n, follow);
}

TACHO_EXPORT int tacho_ctl_each_rule(struct tacho_ctl *ctl,
				     int (*fn)(bool enable, const char *events, void *arg),
				     void *arg)
{
	const struct tacho_control *c = ctl->session.view.ctl;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < c->nr_rules && i < TACHO_RULES_MAX; i++) {
		char glob[TACHO_RULE_MAX + 1];

		(void)snprintf(glob, sizeof(glob), "%.*s", TACHO_RULE_MAX, c->rule[i].glob);
		ret = fn(c->rule[i].enable, glob, arg);
	}
	return ret;
}

/* ---- events ---------------------------------------------------------------- */

/* Whether a name occurs for the first time; several versions of a type have the same name. */
static bool is_first(const struct tacho_known *k, uint32_t i)
{
	return tacho_known_find(k, k->type[i].name) == &k->type[i];
}

static int each_known(struct tacho_ctl *ctl, int (*fn)(const char *event, void *arg), void *arg,
		      int *err)
{
	struct tacho_known known;
	int ret = 0;

	*err = tacho_known_load(&known, &ctl->session);
	for (uint32_t i = 0; !*err && !ret && i < known.nr; i++)
		if (is_first(&known, i))
			ret = fn(known.type[i].name, arg);
	tacho_known_release(&known);
	return ret;
}

TACHO_EXPORT int tacho_ctl_each_event(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				      int (*fn)(const char *event, void *arg), void *arg)
{
	struct tacho_diag d = { 0 };
	int err = 0, ret;

	if (is_kernel(side)) {
		ret = tacho_ctl_kernel_events(fn, arg, &d);
		err = d.err;
	} else {
		ret = each_known(ctl, fn, arg, &err);
	}
	return err ? tacho_ctl_done(ctl, err, &d, "list the events of") : ret;
}

/* ---- commands -------------------------------------------------------------- */

static int set_command(struct tacho_ctl *ctl, enum tacho_ctl_side side,
		       enum tacho_command_kind kind, const char *events, const char *text,
		       uint32_t *matched)
{
	struct tacho_diag d = { 0 };
	struct app_kernel k;
	int err = check(ctl, &d);

	if (matched)
		*matched = 0;
	if (!err && !is_kernel(side)) {
		err = app_command_set(&ctl->session, kind, events, text, matched, &d);
	} else if (!err) {
		err = app_kernel_open(&k, ctl->session.name, &d);
		if (!err) {
			err = app_kernel_set(&k, kind == TACHO_COMMAND_FILTER ?
					     TACHO_KERNEL_FILTER : TACHO_KERNEL_TRIGGER,
					     events, text, matched, &d);
			app_kernel_close(&k);
		}
	}
	return tacho_ctl_done(ctl, err, &d, "change");
}

TACHO_EXPORT int tacho_ctl_filter(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				  const char *events, const char *filter, uint32_t *matched)
{
	return set_command(ctl, side, TACHO_COMMAND_FILTER, events, filter, matched);
}

TACHO_EXPORT int tacho_ctl_trigger(struct tacho_ctl *ctl, enum tacho_ctl_side side,
				   const char *events, const char *trigger, uint32_t *matched)
{
	return set_command(ctl, side, TACHO_COMMAND_TRIGGER, events, trigger, matched);
}

TACHO_EXPORT int tacho_ctl_synth(struct tacho_ctl *ctl, const char *definition)
{
	return set_command(ctl, TACHO_CTL_PROGRAMS, TACHO_COMMAND_SYNTH, "", definition, NULL);
}

/* Arguments of the callbacks of both sides. */
struct listing {
	int (*fn)(const struct tacho_ctl_command *c, void *arg);
	void *arg;
	uint32_t kind;		/* of the kernel's */
	int ret;		/* what fn returned last */
};

static int list_program(const struct tacho_command_info *info, void *arg)
{
	static const uint32_t kinds[] = {
		[TACHO_COMMAND_FILTER] = TACHO_CTL_FILTER,
		[TACHO_COMMAND_TRIGGER] = TACHO_CTL_TRIGGER,
		[TACHO_COMMAND_SYNTH] = TACHO_CTL_SYNTH,
		[TACHO_COMMAND_EPROBE] = TACHO_CTL_EPROBE,
	};
	struct listing *l = arg;
	struct tacho_ctl_command c = {
		.struct_size = sizeof(c), .events = info->event, .text = info->text,
		.left = info->left,
	};

	if (info->hidden || (size_t)info->kind >= TACHO_ARRAY_SIZE(kinds))
		return 0;
	c.kind = kinds[info->kind];
	l->ret = l->fn(&c, l->arg);
	return l->ret;
}

static int list_kernel(const struct tacho_kernel_event *ev, const char *text, void *arg)
{
	const struct listing *l = arg;
	struct tacho_ctl_command c = {
		.struct_size = sizeof(c), .kind = l->kind, .text = text, .left = UINT64_MAX,
	};
	char event[APP_EVENT_MAX];

	(void)snprintf(event, sizeof(event), "%s:%s", ev->system, ev->name);
	c.events = event;
	return l->fn(&c, l->arg);
}

static int each_kernel_command(struct tacho_ctl *ctl, struct listing *l, struct tacho_diag *d)
{
	struct app_kernel k;
	int ret = app_kernel_open(&k, ctl->session.name, d);

	if (ret)
		return ret;
	l->kind = TACHO_CTL_FILTER;
	ret = tacho_kernel_controls(&k.tracefs, k.instance, TACHO_KERNEL_FILTER, NULL,
				    list_kernel, l, d);
	l->kind = TACHO_CTL_TRIGGER;
	if (!ret)
		ret = tacho_kernel_controls(&k.tracefs, k.instance, TACHO_KERNEL_TRIGGER, NULL,
					    list_kernel, l, d);
	app_kernel_close(&k);
	return ret;
}

TACHO_EXPORT int tacho_ctl_each_command(struct tacho_ctl *ctl, enum tacho_ctl_side side,
					int (*fn)(const struct tacho_ctl_command *c, void *arg),
					void *arg)
{
	struct listing l = { .fn = fn, .arg = arg };
	struct tacho_diag d = { 0 };
	int ret;

	if (!is_kernel(side)) {
		ret = tacho_commands_each(&ctl->session, list_program, &l);
		return ret == l.ret ? ret : tacho_ctl_done(ctl, ret, NULL, "list the commands of");
	}
	ret = each_kernel_command(ctl, &l, &d);
	return d.err ? tacho_ctl_done(ctl, d.err, &d, "list") : ret;
}
