// SPDX-License-Identifier: MIT
#include "cli/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/suggest.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/trace.h"
#include "event/type.h"
#include "query/query.h"

void cli_filter_init(struct cli_filter *f)
{
	*f = (struct cli_filter){ .source = -1, .to = UINT64_MAX };
}

static void globs_release(struct cli_globs *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->list[i].text);
	free(g->list);
}

void cli_filter_release(struct cli_filter *f)
{
	globs_release(&f->events);
	globs_release(&f->comms);
	free(f->cpus.list);
	free(f->pids.list);
	free(f->types);
	free(f->tasks);
	tacho_query_free(f->query);
}

/* ---- arguments ------------------------------------------------------------ */

static int no_memory(void)
{
	return cli_fail("out of memory");
}

static int globs_add(struct cli_globs *g, const char *what, const char *arg)
{
	while (*arg) {
		size_t len = strcspn(arg, ",");
		bool negate = *arg == '!';
		struct cli_glob *p;

		if (len <= negate)
			return cli_usage("%s: an empty name in '%s'", what, arg);
		p = reallocarray(g->list, g->nr + 1, sizeof(*p));
		if (!p)
			return no_memory();
		g->list = p;
		p[g->nr].negate = negate;
		p[g->nr].text = strndup(arg + negate, len - negate);
		if (!p[g->nr].text)
			return no_memory();
		g->nr++;
		arg += len + (arg[len] == ',');
	}
	return CLI_OK;
}

/* "3" or "0-3" of len bytes. */
static bool range_parse(const char *s, size_t len, uint64_t max,
			struct cli_range *r)
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

static int ranges_add(struct cli_ranges *l, const char *what, const char *arg,
		      uint64_t max)
{
	do {
		size_t len = strcspn(arg, ",");
		struct cli_range *p;

		p = reallocarray(l->list, l->nr + 1, sizeof(*p));
		if (!p)
			return no_memory();
		l->list = p;
		if (!range_parse(arg, len, max, &p[l->nr]))
			return cli_usage("%s: '%.*s' is neither a number nor a range like 0-3",
					 what, (int)len, arg);
		l->nr++;
		arg += len + (arg[len] == ',');
	} while (*arg);
	return CLI_OK;
}

static bool ranges_have(const struct cli_ranges *l, uint64_t v)
{
	for (size_t i = 0; i < l->nr; i++)
		if (v >= l->list[i].from && v <= l->list[i].to)
			return true;
	return false;
}

static bool moment_parse(const char *s, size_t len, struct cli_moment *m)
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

static int time_parse(struct cli_filter *f, const char *arg)
{
	size_t len = strcspn(arg, ",");

	if (arg[len] != ',' || strchr(arg + len + 1, ','))
		return cli_usage("--time: '%s' is not two moments 'A,B'", arg);
	if (!moment_parse(arg, len, &f->begin) ||
	    !moment_parse(arg + len + 1, strlen(arg + len + 1), &f->end))
		return cli_usage("--time: a moment in '%s' is not seconds, @SECONDS or =SECONDS",
				 arg);
	if (f->begin.kind && f->begin.kind == f->end.kind &&
	    f->begin.ns > f->end.ns)
		return cli_usage("--time: '%s' ends before it begins", arg);
	return CLI_OK;
}

static int source_parse(struct cli_filter *f, const char *arg)
{
	if (!strcmp(arg, "program"))
		f->source = TACHO_STREAM_PROGRAM;
	else if (!strcmp(arg, "kernel"))
		f->source = TACHO_STREAM_KERNEL;
	else
		return cli_usage("--source: '%s' is neither 'program' nor 'kernel'",
				 arg);
	return CLI_OK;
}

int cli_filter_option(struct cli_filter *f, int opt, const char *arg)
{
	switch (opt) {
	case 'e':
		return globs_add(&f->events, "--events", arg);
	case 'p':
		return ranges_add(&f->pids, "--pid", arg, INT32_MAX);
	case 'm':
		if (tacho_parse_u64(arg, 1, UINT64_MAX, &f->max))
			return cli_usage("--max: '%s' is no number of events from 1 up",
					 arg);
		return CLI_OK;
	case CLI_OPT_CPU:
		return ranges_add(&f->cpus, "--cpu", arg, UINT32_MAX - 1);
	case CLI_OPT_COMM:
		return globs_add(&f->comms, "--comm", arg);
	case CLI_OPT_SOURCE:
		return source_parse(f, arg);
	case CLI_OPT_TIME:
		return time_parse(f, arg);
	case CLI_OPT_FILTER:
		if (f->nr_exprs == CLI_FILTER_EXPRS)
			return cli_usage("--filter: more than %d", CLI_FILTER_EXPRS);
		f->exprs[f->nr_exprs++] = arg;
		return CLI_OK;
	default:
		return -1;
	}
}

/* ---- events ---------------------------------------------------------------- */

static bool event_wanted(const struct cli_globs *g,
			 const struct tacho_type *type)
{
	bool wanted = !g->nr || g->list[0].negate;

	for (size_t i = 0; i < g->nr; i++)
		if (wanted == g->list[i].negate &&
		    tacho_event_glob(g->list[i].text, type->system, type->name))
			wanted = !g->list[i].negate;
	return wanted;
}

static bool comm_wanted(const struct cli_globs *g, const char *comm)
{
	bool wanted = g->list[0].negate;

	for (size_t i = 0; i < g->nr; i++)
		if (tacho_glob_match(g->list[i].text, comm))
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

/* A misspelt event name must not look like an empty trace. */
static int check_events(const struct cli_filter *f)
{
	for (size_t i = 0; i < f->events.nr; i++) {
		const char *glob = f->events.list[i].text;
		struct tacho_diag d = { 0 };

		if (glob_matches_any(f->stream, glob))
			continue;
		(void)app_suggest_no_event(f->stream, glob, &d);
		return cli_fail_diag(&d);
	}
	return CLI_OK;
}

/* ---- time ------------------------------------------------------------------ */

static uint64_t moment_ns(const struct cli_filter *f,
			  const struct cli_moment *m, uint64_t open)
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

static void place(struct cli_filter *f, uint64_t first)
{
	f->first = first;
	f->from = moment_ns(f, &f->begin, 0);
	f->to = moment_ns(f, &f->end, UINT64_MAX);
	f->placed = true;
}

/* Where the first record is can only be known by reading it. */
static int open_time(struct cli_filter *f)
{
	const struct tacho_source *source = tacho_stream_source(f->stream, 0);
	struct tacho_record r;
	int err, status;

	if (!source || source->ops->live || !source->ops->seek)
		return CLI_OK;
	status = tacho_stream_next(f->stream, &r);
	/* damage is met again by whoever reads on; what was no damage may not be */
	if (status == TACHO_STREAM_ERROR && tacho_stream_error(f->stream)->err != -EINVAL)
		return cli_stream_failed(f->stream, 0);
	if (status != TACHO_STREAM_RECORD)
		r.time = 0;
	place(f, r.time);
	err = tacho_stream_seek(f->stream, f->from);
	if (err)
		return cli_stream_failed(f->stream, err);
	return CLI_OK;
}

/* ---- expressions ----------------------------------------------------------- */

static int add_expr(struct cli_filter *f, const char *arg)
{
	struct tacho_cmd_error e = { 0 };
	struct tacho_diag d = { 0 };
	char event[APP_EVENT_MAX] = "*:*";
	const char *text = app_split_event(arg, event);
	const char *expr = text ? text : arg;
	int err;

	err = tacho_query_filter(f->query, event, expr, &e);
	if (err == -ENOENT && !e.err)
		return cli_fail("--filter: no event of the trace matches '%s'", event);
	if (!err)
		return CLI_OK;
	(void)app_command_diag(&d, &e);
	return cli_fail_at(&d, expr);
}

static int open_exprs(struct cli_filter *f)
{
	int ret = CLI_OK;

	if (!f->nr_exprs)
		return CLI_OK;
	if (tacho_query_new(&f->query, f->stream))
		return no_memory();
	for (uint32_t i = 0; ret == CLI_OK && i < f->nr_exprs; i++)
		ret = add_expr(f, f->exprs[i]);
	if (ret == CLI_OK)
		(void)tacho_query_hand_over(f->query);
	return ret;
}

int cli_filter_open(struct cli_filter *f, struct tacho_stream *stream)
{
	int ret;

	f->stream = stream;
	f->any = !f->events.nr && !f->comms.nr && !f->cpus.nr && !f->pids.nr &&
		 f->source < 0 && !f->nr_exprs;
	f->types = calloc(CLI_VERDICTS, sizeof(*f->types));
	f->tasks = calloc(CLI_VERDICTS, sizeof(*f->tasks));
	if (!f->types || !f->tasks)
		return no_memory();
	if (!f->growing) {
		ret = check_events(f);
		if (ret != CLI_OK)
			return ret;
	}
	ret = open_exprs(f);
	return ret == CLI_OK ? open_time(f) : ret;
}

/* ---- records --------------------------------------------------------------- */

static bool type_passes(struct cli_filter *f, const struct tacho_type *type)
{
	uint64_t h = (uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15);
	struct cli_verdict *v = &f->types[h >> 32 & (CLI_VERDICTS - 1)];

	if (v->key != type)
		*v = (struct cli_verdict){ type, event_wanted(&f->events, type) };
	return v->pass;
}

/* The key is the pid with one bit more, so that 0 is a key too. */
static bool task_passes(struct cli_filter *f, int32_t pid)
{
	struct cli_verdict *v = &f->tasks[(uint32_t)pid & (CLI_VERDICTS - 1)];
	const void *key = (const void *)(uintptr_t)((uint64_t)(uint32_t)pid |
						    UINT64_C(1) << 32);
	const char *comm;

	if (v->key != key) {
		comm = tacho_stream_comm(f->stream, pid, NULL);
		/* a session may yet learn it */
		if (!comm && f->growing)
			return comm_wanted(&f->comms, "");
		*v = (struct cli_verdict){ key,
			comm_wanted(&f->comms, comm ? comm : "") };
	}
	return v->pass;
}

enum cli_filter_verdict cli_filter_look(struct cli_filter *f,
					const struct tacho_record *r)
{
	if (tacho_unlikely(!f->placed))
		place(f, r->time);
	if (r->time > f->to)
		return CLI_FILTER_STOP;
	if (tacho_unlikely(r->time < f->from))
		return CLI_FILTER_DROP;
	if (f->any)
		return CLI_FILTER_PASS;
	if (f->source >= 0 && (uint32_t)f->source != r->source)
		return CLI_FILTER_DROP;
	if (f->cpus.nr && !ranges_have(&f->cpus, r->cpu))
		return CLI_FILTER_DROP;
	if (f->events.nr && !type_passes(f, r->type))
		return CLI_FILTER_HIDE;
	if (f->pids.nr && (r->pid < 0 || !ranges_have(&f->pids, (uint64_t)r->pid)))
		return CLI_FILTER_HIDE;
	if (f->comms.nr && !task_passes(f, r->pid))
		return CLI_FILTER_HIDE;
	if (f->query && !tacho_query_hit(f->query, r))
		return CLI_FILTER_HIDE;
	return CLI_FILTER_PASS;
}
