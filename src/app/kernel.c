// SPDX-License-Identifier: MIT
#include "app/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/session.h"
#include "engine/trigger.h"

#define ARENA_MAX	((size_t)1 << 20)
#define TARGET_MAX	256

/* ---- which instance -------------------------------------------------------- */

/* The instance of the session of that name ("": none).  False: no such session. */
static bool session_instance(const char *name, char instance[TACHO_KERNEL_INSTANCE_MAX])
{
	const struct tacho_control *c;
	struct tacho_session s;
	struct tacho_dir dir;

	if (app_session_open(&dir, &s, name, NULL))
		return false;
	c = s.view.ctl;
	(void)snprintf(instance, TACHO_KERNEL_INSTANCE_MAX, "%.*s",
		       (int)sizeof(c->kernel_instance), c->kernel_instance);
	app_session_close(&dir, &s);
	return true;
}

int app_kernel_open(struct app_kernel *k, const char *name, struct tacho_diag *d)
{
	bool session = session_instance(name, k->instance);
	int err;

	if (session && !k->instance[0])
		return tacho_diag(d, -ENOENT, APP_NO_PLACE,
				  "session '%s' records nothing of the kernel", name);
	err = tacho_tracefs_open(&k->tracefs, 0, d);
	if (err || session)
		return err;
	err = tacho_kernel_find(&k->tracefs, name, k->instance);
	if (err)
		tacho_tracefs_close(&k->tracefs);
	if (err == -EEXIST)
		return tacho_diag(d, err, APP_NO_PLACE,
				  "several recordings of the kernel are called '%s'", name);
	return err ? tacho_diag(d, err, APP_NO_PLACE, "there is no session '%s', and no "
				"recording of the kernel by that name", name) : 0;
}

void app_kernel_close(struct app_kernel *k)
{
	tacho_tracefs_close(&k->tracefs);
}

/* ---- what the kernel may be given ------------------------------------------- */

/* A snapshot exchanges the buffers: what the recorder has not read would be gone. */
static int refuse_snapshot(const char *event, struct tacho_diag *d)
{
	return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE,
			  "a snapshot by the kernel would take the events away from the "
			  "recording; 'tacho record --on-kernel %s' writes what is "
			  "around such an event", event);
}

static bool takes_snapshot(const struct tacho_trigger_spec *spec)
{
	if (spec->cmd == TACHO_TRIGGER_SNAPSHOT)
		return true;
	for (uint32_t i = 0; spec->cmd == TACHO_TRIGGER_HIST &&
	     i < spec->hist.nr_actions; i++)
		if (spec->hist.action[i]->action == TACHO_DO_SNAPSHOT)
			return true;
	return false;
}

static bool has_time(const struct tacho_hist_expr *x)
{
	if (!x)
		return false;
	if (x->op == TACHO_EXPR_FIELD && !strcmp(x->name, "common_timestamp"))
		return true;
	return has_time(x->left) || has_time(x->right);
}

/*
 * A histogram that looks at the clock sets the instance's clock to "global" (or its
 * own clock=), and that empties the buffers.
 */
static bool sets_clock(const struct tacho_trigger_spec *spec)
{
	const struct tacho_hist_spec *h = &spec->hist;
	bool found = false;

	if (spec->cmd != TACHO_TRIGGER_HIST)
		return false;
	for (uint32_t i = 0; i < h->nr_keys; i++)
		found |= has_time(h->key[i]);
	for (uint32_t i = 0; i < h->nr_vals; i++)
		found |= has_time(h->val[i]);
	for (uint32_t i = 0; i < h->nr_vars; i++)
		found |= has_time(h->var[i].expr);
	return found;
}

static int refuse_time(const char *event, struct tacho_diag *d)
{
	return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE,
			  "for common_timestamp the kernel would set the recording's clock "
			  "again and empty its buffers; 'tacho hist -k -e %s TRIGGER' "
			  "counts without the recording", event);
}

int app_kernel_check_trigger(const char *event, const char *text, char *target, size_t size,
			     struct tacho_diag *d)
{
	struct tacho_trigger_spec spec = { 0 };
	struct tacho_arena a;
	int err = 0;

	if (target)
		*target = '\0';
	tacho_arena_init(&a, ARENA_MAX);
	/* what we cannot read the kernel is to judge */
	if (!tacho_trigger_parse(&spec, &a, text, NULL) && !spec.remove) {
		if (takes_snapshot(&spec))
			err = refuse_snapshot(event, d);
		else if (sets_clock(&spec))
			err = refuse_time(event, d);
		else if (target && spec.cmd == TACHO_TRIGGER_ENABLE_EVENT)
			(void)snprintf(target, size, "%s:%s", spec.system,
				       spec.event);
	}
	tacho_arena_release(&a);
	return err;
}

/* Whether text begins with a trigger of the language. */
static bool is_trigger(const char *text)
{
	size_t n = strcspn(text, ": \t");

	for (int i = 0; i <= (int)TACHO_TRIGGER_HIST; i++) {
		const char *name = tacho_trigger_name((enum tacho_trigger_cmd)i);

		if (strlen(name) == n && !memcmp(name, text, n))
			return true;
	}
	return false;
}

/* The kernel has no such trigger. */
static int no_trigger(const char *event, const char *text, struct tacho_diag *d)
{
	int n;

	*d = (struct tacho_diag){ 0 };
	text += *text == '!';
	n = (int)strcspn(text, ": ");
	if (!is_trigger(text))
		return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE, "there is no trigger '%.*s'",
				  n, text);
	if (!strncmp(text, "hist", 4))
		return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE,
				  "this kernel has no histograms; 'tacho hist -k -e %s "
				  "TRIGGER' counts its events instead", event);
	return tacho_diag(d, -EOPNOTSUPP, APP_NO_PLACE, "this kernel has no trigger '%.*s'",
			  n, text);
}

int app_kernel_explain(enum tacho_kernel_control what, const char *event, const char *text,
		       struct tacho_diag *d)
{
	if (d->err == -EOPNOTSUPP && what == TACHO_KERNEL_TRIGGER)
		return no_trigger(event, text, d);
	if (d->err == -ENOENT || d->err == -EACCES || d->err == -EPERM)
		d->offset = APP_NO_PLACE;
	return d->err;
}

int app_kernel_set(const struct app_kernel *k, enum tacho_kernel_control what,
		   const char *event, const char *text, uint32_t *done, struct tacho_diag *d)
{
	char target[TARGET_MAX] = "";
	char *colon;
	int err = 0;

	if (what == TACHO_KERNEL_TRIGGER)
		err = app_kernel_check_trigger(event, text, target, sizeof(target), d);
	if (err)
		return err;
	colon = strchr(target, ':');
	if (colon) {
		*colon = '\0';
		if (!tacho_kernel_records(&k->tracefs, k->instance, target, colon + 1))
			return tacho_diag(d, -ENOENT, APP_NO_PLACE,
					  "the recording does not know the event '%s:%s'; "
					  "record it with -k, or give 'tacho record' this "
					  "--trigger", target, colon + 1);
	}
	err = tacho_kernel_control(&k->tracefs, k->instance, what, event, text, done, d);
	return err ? app_kernel_explain(what, event, text, d) : 0;
}
