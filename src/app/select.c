// SPDX-License-Identifier: MIT
#include "app/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/find.h"
#include "app/suggest.h"
#include "base/text.h"
#include "event/type.h"
#include "query/query.h"

void app_select_init(struct app_select *f)
{
	*f = (struct app_select){ .source = -1, .to = UINT64_MAX };
}

static void globs_release(struct app_globs *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->list[i].text);
	free(g->list);
}

void app_select_release(struct app_select *f)
{
	globs_release(&f->events);
	globs_release(&f->comms);
	free(f->cpus.list);
	free(f->pids.list);
	for (uint32_t i = 0; i < f->nr_exprs; i++)
		free(f->exprs[i]);
	free(f->types);
	free(f->tasks);
	tacho_query_free(f->query);
}

/* ---- what the user says ------------------------------------------------------ */

static int no_memory(struct tacho_diag *d)
{
	return tacho_diag(d, -ENOMEM, 0, "out of memory");
}

static int globs_add(struct app_globs *g, const char *arg, struct tacho_diag *d)
{
	const char *all = arg;

	while (*arg) {
		size_t len = strcspn(arg, ",");
		bool negate = *arg == '!';
		struct app_glob *p;

		if (len <= negate)
			return tacho_diag(d, -EINVAL, (uint64_t)(arg - all),
					  "an empty name in '%s'", arg);
		p = reallocarray(g->list, g->nr + 1, sizeof(*p));
		if (!p)
			return no_memory(d);
		g->list = p;
		p[g->nr].negate = negate;
		p[g->nr].text = strndup(arg + negate, len - negate);
		if (!p[g->nr].text)
			return no_memory(d);
		g->nr++;
		arg += len + (arg[len] == ',');
	}
	return 0;
}

/* "3" or "0-3" of len bytes. */
static bool range_parse(const char *s, size_t len, uint64_t max,
			struct app_range *r)
{
	char text[48], *dash;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	dash = strchr(text, '-');
	if (dash)
		*dash = '\0';
	if (tacho_parse_u64(text, 0, max, &r->from))
		return false;
	r->to = r->from;
	return !dash || !tacho_parse_u64(dash + 1, r->from, max, &r->to);
}

static int ranges_add(struct app_ranges *l, const char *arg, uint64_t max,
		      struct tacho_diag *d)
{
	do {
		size_t len = strcspn(arg, ",");
		struct app_range *p;

		p = reallocarray(l->list, l->nr + 1, sizeof(*p));
		if (!p)
			return no_memory(d);
		l->list = p;
		if (!range_parse(arg, len, max, &p[l->nr]))
			return tacho_diag(d, -EINVAL, 0, "'%.*s' is neither a number nor a range "
					  "like 0-3", (int)len, arg);
		l->nr++;
		arg += len + (arg[len] == ',');
	} while (*arg);
	return 0;
}

bool app_ranges_have(const struct app_ranges *l, uint64_t v)
{
	for (size_t i = 0; i < l->nr; i++)
		if (v >= l->list[i].from && v <= l->list[i].to)
			return true;
	return false;
}

static bool moment_parse(const char *s, size_t len, struct app_moment *m)
{
	char text[64];

	if (!len) {
		m->kind = 0;
		return true;
	}
	m->kind = '+';
	if (*s == '@' || *s == '=' || *s == '+') {
		m->kind = *s++;
		len--;
	}
	if (len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	return !tacho_parse_time(text, &m->ns);
}

int app_select_events(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	return globs_add(&f->events, arg, d);
}

int app_select_comms(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	return globs_add(&f->comms, arg, d);
}

int app_select_pids(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	return ranges_add(&f->pids, arg, INT32_MAX, d);
}

int app_select_cpus(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	return ranges_add(&f->cpus, arg, UINT32_MAX - 1, d);
}

int app_select_time(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	size_t len = strcspn(arg, ",");

	if (arg[len] != ',' || strchr(arg + len + 1, ','))
		return tacho_diag(d, -EINVAL, 0, "'%s' is not two moments 'A,B'", arg);
	if (!moment_parse(arg, len, &f->begin) ||
	    !moment_parse(arg + len + 1, strlen(arg + len + 1), &f->end))
		return tacho_diag(d, -EINVAL, 0, "a moment in '%s' is not seconds, @SECONDS or "
				  "=SECONDS", arg);
	if (f->begin.kind && f->begin.kind == f->end.kind &&
	    f->begin.ns > f->end.ns)
		return tacho_diag(d, -EINVAL, 0, "'%s' ends before it begins", arg);
	return 0;
}

int app_select_source(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	if (!strcmp(arg, "program"))
		f->source = TACHO_STREAM_PROGRAM;
	else if (!strcmp(arg, "kernel"))
		f->source = TACHO_STREAM_KERNEL;
	else
		return tacho_diag(d, -EINVAL, 0, "'%s' is neither 'program' nor 'kernel'", arg);
	return 0;
}

int app_select_filter(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	if (f->nr_exprs == APP_SELECT_EXPRS)
		return tacho_diag(d, -EINVAL, 0, "more than %d", APP_SELECT_EXPRS);
	f->exprs[f->nr_exprs] = strdup(arg);
	if (!f->exprs[f->nr_exprs])
		return no_memory(d);
	f->nr_exprs++;
	return 0;
}

int app_select_max(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	if (tacho_parse_u64(arg, 1, UINT64_MAX, &f->max))
		return tacho_diag(d, -EINVAL, 0, "'%s' is no number of events from 1 up", arg);
	return 0;
}

bool app_select_is_all(const struct app_select *f)
{
	return !f->events.nr && !f->comms.nr && !f->cpus.nr && !f->pids.nr &&
	       f->source < 0 && !f->nr_exprs && !f->max && !f->begin.kind && !f->end.kind;
}

/* ---- events ---------------------------------------------------------------- */

static bool event_wanted(const struct app_globs *g,
			 const struct tacho_type *type)
{
	bool wanted = !g->nr || g->list[0].negate;

	for (size_t i = 0; i < g->nr; i++)
		if (wanted == g->list[i].negate &&
		    tacho_event_glob(g->list[i].text, type->system, type->name))
			wanted = !g->list[i].negate;
	return wanted;
}

bool app_globs_want(const struct app_globs *g, const char *text)
{
	bool wanted = !g->nr || g->list[0].negate;

	for (size_t i = 0; i < g->nr; i++)
		if (tacho_glob_match(g->list[i].text, text))
			wanted = !g->list[i].negate;
	return wanted;
}

static bool glob_matches_any(const struct tacho_stream *s, const char *glob)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		if (tacho_event_glob(glob, type->system, type->name))
			return true;
	return false;
}

/* An event name that is written wrong should not look like an empty trace. */
static int check_glob(const struct app_select *f, const char *glob, struct tacho_diag *d)
{
	return glob_matches_any(f->stream, glob) ? 0 :
	       app_suggest_no_event(f->stream, glob, NULL, d);
}

static int check_events(const struct app_select *f, struct tacho_diag *d)
{
	int err = 0;

	for (size_t i = 0; !f->growing && !err && i < f->events.nr; i++)
		err = check_glob(f, f->events.list[i].text, d);
	return err;
}

/* ---- time ------------------------------------------------------------------ */

static uint64_t moment_ns(const struct app_select *f,
			  const struct app_moment *m, uint64_t open)
{
	const struct tacho_source *source = tacho_stream_source(f->stream, 0);
	uint64_t from = 0, ns;

	if (!m->kind)
		return open;
	if (m->kind == '+')
		from = f->first;
	else if (m->kind == '=' && source)
		from = tacho_clock_ns(&source->clock, 0);
	/* the zero of a clock may lie before 1970: then the sum wraps around */
	ns = from + m->ns;
	return m->kind == '+' && ns < from ? UINT64_MAX : ns;
}

static void place(struct app_select *f, uint64_t first)
{
	f->first = first;
	f->from = moment_ns(f, &f->begin, 0);
	f->to = moment_ns(f, &f->end, UINT64_MAX);
	f->placed = true;
}

/* Where the first record is can only be known by reading it. */
static int open_time(struct app_select *f, struct tacho_diag *d)
{
	const struct tacho_source *source = tacho_stream_source(f->stream, 0);
	struct tacho_record r;
	int err, status;

	if (!source || source->ops->live || !source->ops->seek)
		return 0;
	status = tacho_stream_next(f->stream, &r);
	/* damage is met again by the next reader; what was no damage may not be */
	if (status == TACHO_STREAM_ERROR && tacho_stream_error(f->stream)->err != -EINVAL)
		return app_stream_failed(f->stream, 0, d);
	if (status != TACHO_STREAM_RECORD)
		r.time = 0;
	place(f, r.time);
	err = tacho_stream_seek(f->stream, f->from);
	return err ? app_stream_failed(f->stream, err, d) : 0;
}

/* ---- expressions ----------------------------------------------------------- */

static int add_expr(struct app_select *f, const char *arg, struct tacho_diag *d)
{
	struct tacho_cmd_error e = { 0 };
	char event[APP_EVENT_MAX] = "*:*";
	const char *text = app_split_event(arg, event);
	const char *expr = text ? text : arg;
	int err;

	err = tacho_query_filter(f->query, event, expr, &e);
	if (!err)
		return 0;
	if (err == -ENOENT && !e.err)
		return tacho_diag(d, err, 0, "no event of the trace matches '%s'", event);
	f->bad_expr = expr;
	return app_command_diag(d, &e);
}

static int open_exprs(struct app_select *f, struct tacho_diag *d)
{
	int err = 0;

	if (!f->nr_exprs)
		return 0;
	if (tacho_query_new(&f->query, f->stream))
		return no_memory(d);
	for (uint32_t i = 0; !err && i < f->nr_exprs; i++)
		err = add_expr(f, f->exprs[i], d);
	if (!err)
		(void)tacho_query_offload(f->query);
	return err;
}

int app_select_open(struct app_select *f, struct tacho_stream *stream, struct tacho_diag *d)
{
	int err;

	f->stream = stream;
	f->any = !f->events.nr && !f->comms.nr && !f->cpus.nr && !f->pids.nr &&
		 f->source < 0 && !f->nr_exprs;
	f->types = calloc(APP_SELECT_KNOWN, sizeof(*f->types));
	f->tasks = calloc(APP_SELECT_KNOWN, sizeof(*f->tasks));
	if (!f->types || !f->tasks)
		return no_memory(d);
	err = check_events(f, d);
	if (!err)
		err = open_exprs(f, d);
	return err ? err : open_time(f, d);
}

/* ---- views ----------------------------------------------------------------- */

void app_select_view_release(struct app_select *s)
{
	free(s->types);
	free(s->tasks);
	tacho_query_free(s->query);
}

int app_select_view(struct app_select *s, const struct app_select *of,
		    struct tacho_stream *view)
{
	struct tacho_diag d = { 0 };
	int err = -ENOMEM;

	/* what the user says is borrowed */
	*s = *of;
	s->stream = view;
	s->query = NULL;
	s->types = calloc(APP_SELECT_KNOWN, sizeof(*s->types));
	s->tasks = calloc(APP_SELECT_KNOWN, sizeof(*s->tasks));
	if (s->types && s->tasks)
		err = open_exprs(s, &d);
	if (err)
		app_select_view_release(s);
	return err;
}

/* ---- records --------------------------------------------------------------- */

static bool type_passes(struct app_select *f, const struct tacho_type *type)
{
	uint64_t h = (uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15);
	struct app_select_known *v = &f->types[h >> 32 & (APP_SELECT_KNOWN - 1)];

	if (v->key != type)
		*v = (struct app_select_known){ type, event_wanted(&f->events, type) };
	return v->pass;
}

bool app_select_has_type(const struct app_select *f, const struct tacho_type *type)
{
	return event_wanted(&f->events, type);
}

/* The key is the pid with one bit more, so that 0 is a key too. */
static bool task_passes(struct app_select *f, int32_t pid)
{
	struct app_select_known *v = &f->tasks[(uint32_t)pid & (APP_SELECT_KNOWN - 1)];
	const void *key = (const void *)(uintptr_t)((uint64_t)(uint32_t)pid |
						    UINT64_C(1) << 32);
	const char *comm;

	if (v->key != key) {
		comm = tacho_stream_comm(f->stream, pid, NULL);
		/* a session may yet learn it */
		if (!comm && f->growing)
			return app_globs_want(&f->comms, "");
		*v = (struct app_select_known){ key,
			app_globs_want(&f->comms, comm ? comm : "") };
	}
	return v->pass;
}

enum app_verdict app_select_look(struct app_select *f,
					const struct tacho_record *r)
{
	if (tacho_unlikely(!f->placed))
		place(f, r->time);
	if (r->time > f->to)
		return APP_STOP;
	if (tacho_unlikely(r->time < f->from))
		return APP_DROP;
	if (f->any)
		return APP_PASS;
	if (f->source >= 0 && (uint32_t)f->source != r->source)
		return APP_DROP;
	if (f->cpus.nr && !app_ranges_have(&f->cpus, r->cpu))
		return APP_DROP;
	if (f->events.nr && !type_passes(f, r->type))
		return APP_HIDE;
	if (f->pids.nr && (r->pid < 0 || !app_ranges_have(&f->pids, (uint64_t)r->pid)))
		return APP_HIDE;
	if (f->comms.nr && !task_passes(f, r->pid))
		return APP_HIDE;
	if (f->query && !tacho_query_hit(f->query, r))
		return APP_HIDE;
	return APP_PASS;
}
