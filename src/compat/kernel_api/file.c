// SPDX-License-Identifier: MIT
/*
 * Trace arrays, which are sessions, and event files.
 *
 * A trace array here is a name and a count: the session is opened for each call.  So nothing of
 * it is shared with a child, and a session that a tool ends and makes again is found again.
 * A trace array stays in the list when it was put: trace_array_destroy() is called
 * after that.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "compat/kernel_api/events.h"
#include "session/session.h"

struct trace_array {
	struct trace_array *next;
	unsigned int users;	/* files and trace_array_get_by_name() */
	bool global;
	char name[TACHO_NAME_MAX];
};

static struct trace_array *arrays;

/* The name of a trace array; NULL: not a trace array. */
static const char *name_of(const char *instance)
{
	const char *name = instance;

	if (!name)
		name = secure_getenv("TACHO_SESSION");
	if (!name)
		name = "boot";
	return *name && strlen(name) < TACHO_NAME_MAX ? name : NULL;
}

/* The trace array called so, with one user more; NULL: no memory. */
static struct trace_array *array_get(const char *name, bool global)
{
	struct trace_array *tr;

	tacho_events_lock();
	for (tr = arrays; tr; tr = tr->next)
		if (tr->global == global && !strcmp(tr->name, name))
			break;
	if (!tr) {
		tr = calloc(1, sizeof(*tr));
		if (tr) {
			memcpy(tr->name, name, strlen(name) + 1);
			tr->global = global;
			tr->next = arrays;
			arrays = tr;
		}
	}
	if (tr)
		tr->users++;
	tacho_events_unlock();
	return tr;
}

TACHO_EXPORT void trace_array_put(struct trace_array *tr)
{
	if (!tr)
		return;
	tacho_events_lock();
	tr->users -= tr->users > 0;
	tacho_events_unlock();
}

/* ---- the session after it ---- */

struct open_session {
	struct tacho_dir dir;
	struct tacho_session session;
};

static void close_session(struct open_session *o)
{
	tacho_session_close(&o->session);
	tacho_dir_close(&o->dir);
}

/* Makes the session; the global one as the boot option of libtacho does. */
static int make_session(struct open_session *o, const char *name, bool global)
{
	const struct tacho_session_config cfg = {
		.name = name,
		.flags = TACHO_SESSION_OVERWRITE,
		.clock = -1,
	};
	const int32_t self = getpid();
	int err = tacho_session_create(&o->session, &o->dir, &cfg, NULL);

	if (err == -EEXIST)	/* somebody was faster */
		return tacho_session_open(&o->session, &o->dir, name, NULL);
	if (!err && global)
		err = tacho_session_pids(&o->session, &self, 1, true, NULL);
	return err;
}

/* Opens a session by name. make: creates it if it does not exist. */
static int open_session(struct open_session *o, const char *name, bool global,
			bool make)
{
	int err = tacho_dir_open(&o->dir, make, NULL);

	if (err)
		return err;
	err = tacho_session_open(&o->session, &o->dir, name, NULL);
	if (err == -ENOENT && make)
		err = make_session(o, name, global);
	if (err)
		close_session(o);
	return err;
}

/* ---- events of running programs ---- */

struct wanted_event {
	const char *system;	/* NULL: any */
	const char *event;	/* NULL: any */
	bool found;
};

/* Whether text, len bytes, is name; NULL is whatever it is. */
static bool is_same(const char *name, const char *text, size_t len)
{
	return !name || (strlen(name) == len && !memcmp(name, text, len));
}

static int look_at(struct tacho_procfile *p, void *arg)
{
	struct wanted_event *w = arg;
	uint32_t n = tacho_procfile_nr_events(p);

	for (uint32_t i = 1; i <= n && !w->found; i++) {
		char name[TACHO_RULE_MAX];
		const char *text, *colon;
		uint32_t len;
		bool gone;

		text = tacho_procfile_event(p, i, &len, &gone);
		if (!text || gone)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		colon = strchr(name, ':');
		w->found = colon &&
			   is_same(w->system, name, (size_t)(colon - name)) &&
			   is_same(w->event, colon + 1, strlen(colon + 1));
	}
	return w->found;
}

/* 1: a running program has such an event; 0: none has; or a negative errno. */
static int look_for(struct tacho_dir *dir, const char *system, const char *event)
{
	struct wanted_event w = { system, event, false };

	return tacho_procs_each(dir, look_at, &w);
}

/* ---- event files ---- */

struct tacho_user_event *tacho_file_event(const struct trace_event_file *file)
{
	return IS_ERR_OR_NULL(file) ? NULL :
	       ((const struct tacho_event_file *)file)->event;
}

/* Adds a user of a synthetic event of this process; false: no such event. */
static bool take_event(struct tacho_event_file *f, const char *system,
		       const char *event)
{
	if (strcmp(system, "synthetic") != 0)
		return false;
	tacho_events_lock();
	f->event = tacho_user_event_find(event);
	if (f->event)
		f->event->files++;
	tacho_events_unlock();
	return f->event;
}

/* 0 when the named instance exists.  The global one is made when it is needed. */
static int check_instance(const char *instance)
{
	struct open_session o;
	int err;

	if (!instance)
		return 0;
	err = open_session(&o, instance, false, false);
	if (!err)
		close_session(&o);
	/* an invalid name belongs to no event */
	return err == -EINVAL ? -ENOENT : err;
}

/* Whether the trace array has an event that is not one of ours. */
static int check_event(bool global, const char *system, const char *event)
{
	struct tacho_dir dir;
	int known = 0;

	if (!tacho_dir_open(&dir, false, NULL)) {
		known = look_for(&dir, system, event);
		tacho_dir_close(&dir);
	}
	if (!known && global)
		known = tacho_kernel_event_known(system, event);
	return known > 0 ? 0 : known ? known : -EINVAL;
}

TACHO_EXPORT struct trace_event_file *trace_get_event_file(const char *instance,
							   const char *system,
							   const char *event)
{
	const char *name = name_of(instance);
	struct tacho_event_file *f;
	int err = name ? check_instance(instance) : -ENOENT;

	if (!system || !event)
		return ERR_PTR(-EINVAL);
	if (err)
		return ERR_PTR(err);
	f = calloc(1, sizeof(*f));
	if (!f)
		return ERR_PTR(-ENOMEM);
	if (!take_event(f, system, event))
		err = check_event(!instance, system, event);
	if (!err) {
		f->file.tr = array_get(name, !instance);
		err = f->file.tr ? 0 : -ENOMEM;
	}
	if (!err)
		return &f->file;
	trace_put_event_file(&f->file);
	return ERR_PTR(err);
}

TACHO_EXPORT void trace_put_event_file(struct trace_event_file *file)
{
	struct tacho_event_file *f = (struct tacho_event_file *)file;

	if (IS_ERR_OR_NULL(file))
		return;
	trace_array_put(file->tr);
	if (f->event) {
		tacho_events_lock();
		f->event->files--;
		tacho_events_unlock();
	}
	free(f);
}

/* ---- trace arrays by name ---- */

TACHO_EXPORT struct trace_array *trace_array_get_by_name(const char *name,
							 const char *systems)
{
	struct trace_array *tr;
	struct open_session o;
	int err = name && name_of(name) && !systems ? 0 : -EINVAL;

	if (!err)
		err = open_session(&o, name, false, true);
	if (err) {
		errno = -err;
		return NULL;
	}
	close_session(&o);
	tr = array_get(name, false);
	if (!tr)
		errno = ENOMEM;
	return tr;
}

TACHO_EXPORT int trace_array_destroy(struct trace_array *tr)
{
	struct open_session o;
	unsigned int users;
	int err;

	if (!tr || tr->global)
		return -EINVAL;
	tacho_events_lock();
	users = tr->users;
	tacho_events_unlock();
	if (users)
		return -EBUSY;
	err = open_session(&o, tr->name, false, false);
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	err = tacho_session_destroy(&o.session, NULL);
	tacho_dir_close(&o.dir);
	return err == -ENOENT ? -ENODEV : err;
}

/* ---- enabling ---- */

/* A rule for events that running programs have. */
static int add_rule(struct open_session *o, const struct trace_array *tr,
		    const char *system, const char *event, bool enable)
{
	struct tacho_control *c = o->session.view.ctl;
	char glob[TACHO_RULE_MAX] = "";
	size_t len;

	if (!system)
		system = "*";
	if (!event)
		event = "*";
	len = strlen(system) + strlen(event) + 1;
	if (len >= sizeof(glob))
		return -EINVAL;
	(void)stpcpy(stpcpy(stpcpy(glob, system), ":"), event);
	/* the global session records this process, whatever created it */
	if (tr->global && enable && tacho_pids_nr(&c->pids) &&
	    !tacho_pids_add(&c->pids, getpid()))
		return -ENOSPC;
	return tacho_session_rule(&o->session, enable, glob, NULL, NULL);
}

/* Whether a synthetic event of this process is meant: that takes no look at files. */
static bool is_ours(const char *system, const char *event)
{
	bool ours = false;

	if (!event || (system && strcmp(system, "synthetic") != 0))
		return false;
	tacho_events_lock();
	ours = tacho_user_event_find(event);
	tacho_events_unlock();
	return ours;
}

/* 1: no running program has such an event. */
static int set_program_events(const struct trace_array *tr, const char *system,
			      const char *event, bool enable)
{
	struct open_session o;
	struct tacho_dir dir;
	int err = tacho_dir_open(&dir, false, NULL);

	if (err)
		return err == -ENOENT ? 1 : err;
	err = is_ours(system, event) ? 1 : look_for(&dir, system, event);
	tacho_dir_close(&dir);
	if (err <= 0)
		return err ? err : 1;
	err = open_session(&o, tr->name, tr->global, tr->global && enable);
	if (err == -ENOENT && tr->global)
		return 0;	/* it was never enabled there */
	if (err)
		return err;
	err = add_rule(&o, tr, system, event, enable);
	close_session(&o);
	return err;
}

TACHO_EXPORT int trace_array_set_clr_event(struct trace_array *tr,
					   const char *system, const char *event,
					   bool enable)
{
	int err;

	if (!tr)
		return -ENOENT;
	err = set_program_events(tr, system, event, enable);
	if (err <= 0)
		return err;
	if (tr->global && system && event && tacho_kernel_event_known(system, event))
		return tacho_kernel_event_enable(system, event, enable);
	return -EINVAL;
}
