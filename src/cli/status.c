// SPDX-License-Identifier: MIT
/* status: sessions, what they hold and lost, and the programs that can be traced. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "app/status.h"
#include "cli/cli.h"

#define OUTPUT_MAX	((size_t)64 << 20)

static const char *state_name(enum app_session_state state)
{
	return state == APP_SESSION_RECORDING ? "recording"
	     : state == APP_SESSION_STOPPED   ? "stopped"
					      : "dead";
}

static const char *recorder_state(const struct app_session_info *info)
{
	return !info->recorder ? "none" : info->recorder_runs ? "runs" : "died";
}

static const char *kind_name(const struct app_status_unfit *u)
{
	return u->is_filter ? "filter" : "trigger";
}

/* ---- text ------------------------------------------------------------------ */

static void put_pids(struct tacho_buf *b, const char *what, const struct app_status_pids *list,
		     bool follow)
{
	if (!list->nr)
		return;
	tacho_buf_puts(b, what);
	for (uint32_t i = 0; i < list->nr; i++)
		tacho_buf_printf(b, " %d", list->pid[i]);
	tacho_buf_puts(b, follow ? " and their children\n" : "\n");
}

static void put_counts(struct tacho_buf *b, const struct app_status_session *s)
{
	const struct app_counts *n = &s->sums.counts;

	tacho_buf_printf(b, "  events    %ju written, ", (uintmax_t)n->written);
	if (s->info.overwrite)
		tacho_buf_printf(b, "%ju overwritten, ", (uintmax_t)n->overwritten);
	tacho_buf_printf(b, "%ju discarded (%ju full, %ju too large, %ju busy)\n",
			 (uintmax_t)(n->full + n->large + n->busy), (uintmax_t)n->full,
			 (uintmax_t)n->large, (uintmax_t)n->busy);
}

static void put_session(struct tacho_buf *b, const struct app_status_session *s)
{
	const struct app_session_info *info = &s->info;

	tacho_buf_printf(b, "%s: %s, %s\n", s->name, state_name(info->state),
			 info->overwrite ? "keeps the newest" : "keeps the oldest");
	put_counts(b, s);
	tacho_buf_printf(b, "  buffers   %.1f MiB, sub-buffers of %u KiB, clock %s\n",
			 (double)s->sums.memory / (1 << 20),
			 (unsigned int)(info->subbuf_size >> 10), info->clock);
	for (const struct app_status_rule *r = s->rules; r; r = r->next)
		tacho_buf_printf(b, "  rule      %s %s\n", r->enable ? "enable " : "disable",
				 r->events);
	/* a program that has one may yet come */
	for (const struct app_status_unfit *u = s->unfit; u; u = u->next)
		tacho_buf_printf(b, "  %-9s '%s' of '%s' fits no event%s%s\n", kind_name(u), u->text,
				 u->events, u->may_come ? " yet" : ": ", u->may_come ? "" : u->why);
	put_pids(b, "  processes", &s->pids, s->follow);
	put_pids(b, "  but not  ", &s->not_pids, s->follow);
	if (*info->kernel_instance)
		tacho_buf_printf(b, "  kernel    instance %s\n", info->kernel_instance);
	if (info->recorder)
		tacho_buf_printf(b, "  recorder  %d %s, writes to %s\n", info->recorder,
				 recorder_state(info), info->output);
	tacho_buf_printf(b, "  directory %s\n", s->directory);
}

static void put_process(struct tacho_buf *b, const struct app_status_process *p)
{
	tacho_buf_printf(b, "process %d (%s): %u events, %u enabled%s\n", p->pid, p->comm,
			 p->events, p->enabled, p->foreign ? ", in another pid name space" : "");
	if (p->lost_events || p->lost_sessions)
		tacho_buf_printf(b, "  %ju events could not be registered, %ju times a session "
				 "could not be mapped\n", (uintmax_t)p->lost_events,
				 (uintmax_t)p->lost_sessions);
	if (p->lost_programs || p->lost_stacks)
		tacho_buf_printf(b, "  %ju times filters and triggers could not be compiled, %ju "
				 "call stacks are missing\n", (uintmax_t)p->lost_programs,
				 (uintmax_t)p->lost_stacks);
	if (p->sharers || p->unseated)
		tacho_buf_printf(b, "  %ju forked children could not get switches of their own: "
				 "they record what it records\n",
				 (uintmax_t)(p->sharers + p->unseated));
}

static void put_all(struct tacho_buf *b, const struct app_status *st)
{
	for (const struct app_status_session *s = st->sessions; s; s = s->next)
		put_session(b, s);
	for (const struct app_status_process *p = st->processes; p; p = p->next)
		put_process(b, p);
	for (const struct app_status_remark *r = st->remarks; r; r = r->next)
		tacho_buf_printf(b, "program %s, %ju time%s, the last process %d: %s\n", r->comm,
				 (uintmax_t)r->times, r->times == 1 ? "" : "s", r->pid, r->text);
	for (const struct app_status_kept *k = st->kept; k; k = k->next)
		tacho_buf_printf(b, "kernel instance tacho.%s: of no session here; 'tacho destroy "
				 "%s' removes it\n", k->name, k->name);
	if (!st->sessions && !st->processes)
		tacho_buf_printf(b, "no sessions, no traced programs (in %s)\n", st->directory);
}

/* ---- JSON ------------------------------------------------------------------ */

static void begin_list(struct tacho_json *j, const char *key)
{
	tacho_json_key(j, key);
	tacho_json_open(j, '[');
}

static void json_pids(struct tacho_json *j, const char *key, const struct app_status_pids *list)
{
	begin_list(j, key);
	for (uint32_t i = 0; i < list->nr; i++)
		tacho_json_s64(j, list->pid[i]);
	tacho_json_close(j, ']');
}

static void json_commands(struct tacho_json *j, const struct app_status_session *s)
{
	begin_list(j, "rules");
	for (const struct app_status_rule *r = s->rules; r; r = r->next) {
		tacho_json_open(j, '{');
		tacho_json_pair_bool(j, "enable", r->enable);
		tacho_json_pair_str(j, "events", r->events);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
	begin_list(j, "unfit");
	for (const struct app_status_unfit *u = s->unfit; u; u = u->next) {
		tacho_json_open(j, '{');
		tacho_json_pair_str(j, "kind", kind_name(u));
		tacho_json_pair_str(j, "events", u->events);
		tacho_json_pair_str(j, "text", u->text);
		tacho_json_pair_str(j, "why", u->why);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
}

static void json_session(struct tacho_json *j, const struct app_status_session *s)
{
	const struct app_counts *n = &s->sums.counts;

	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "name", s->name);
	tacho_json_pair_str(j, "state", state_name(s->info.state));
	tacho_json_pair_bool(j, "overwrite", s->info.overwrite);
	tacho_json_pair_u64(j, "written", n->written);
	tacho_json_pair_u64(j, "overwritten", n->overwritten);
	tacho_json_pair_u64(j, "lost_full", n->full);
	tacho_json_pair_u64(j, "lost_big", n->large);
	tacho_json_pair_u64(j, "lost_busy", n->busy);
	tacho_json_pair_u64(j, "buffer_bytes", s->sums.memory);
	tacho_json_pair_str(j, "clock", s->info.clock);
	json_commands(j, s);
	json_pids(j, "pids", &s->pids);
	json_pids(j, "not_pids", &s->not_pids);
	tacho_json_pair_str(j, "kernel_instance", s->info.kernel_instance);
	tacho_json_pair_s64(j, "recorder", s->info.recorder);
	tacho_json_pair_str(j, "recorder_state", recorder_state(&s->info));
	tacho_json_pair_str(j, "output", s->info.output);
	tacho_json_pair_str(j, "directory", s->directory);
	tacho_json_close(j, '}');
}

static void json_process(struct tacho_json *j, const struct app_status_process *p)
{
	tacho_json_open(j, '{');
	tacho_json_pair_s64(j, "pid", p->pid);
	tacho_json_pair_str(j, "comm", p->comm);
	tacho_json_pair_u64(j, "events", p->events);
	tacho_json_pair_u64(j, "enabled", p->enabled);
	tacho_json_pair_u64(j, "lost_events", p->lost_events);
	tacho_json_pair_u64(j, "lost_sessions", p->lost_sessions);
	tacho_json_pair_u64(j, "lost_programs", p->lost_programs);
	tacho_json_pair_u64(j, "lost_stacks", p->lost_stacks);
	tacho_json_pair_u64(j, "sharers", p->sharers);
	tacho_json_pair_u64(j, "unseated", p->unseated);
	tacho_json_close(j, '}');
}

static void json_remark(struct tacho_json *j, const struct app_status_remark *r)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "comm", r->comm);
	tacho_json_pair_s64(j, "pid", r->pid);
	tacho_json_pair_u64(j, "times", r->times);
	tacho_json_pair_u64(j, "realtime", r->realtime);
	tacho_json_pair_str(j, "text", r->text);
	tacho_json_close(j, '}');
}

static void json_all(struct tacho_json *j, const struct app_status *st)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "directory", st->directory);
	begin_list(j, "sessions");
	for (const struct app_status_session *s = st->sessions; s; s = s->next)
		json_session(j, s);
	tacho_json_close(j, ']');
	begin_list(j, "processes");
	for (const struct app_status_process *p = st->processes; p; p = p->next)
		json_process(j, p);
	tacho_json_close(j, ']');
	begin_list(j, "remarks");
	for (const struct app_status_remark *r = st->remarks; r; r = r->next)
		json_remark(j, r);
	tacho_json_close(j, ']');
	begin_list(j, "kept");
	for (const struct app_status_kept *k = st->kept; k; k = k->next)
		tacho_json_str(j, k->name);
	tacho_json_close(j, ']');
	tacho_json_close(j, '}');
}

/* ---- the verb -------------------------------------------------------------- */

static int print(const struct app_status *st, bool one, bool json)
{
	struct tacho_buf out;
	struct tacho_json j;
	int ret;

	tacho_buf_init(&out, OUTPUT_MAX);
	tacho_json_init(&j, &out);
	if (json && one && st->sessions)
		json_session(&j, st->sessions);
	else if (json)
		json_all(&j, st);
	else if (one && st->sessions)
		put_session(&out, st->sessions);
	else
		put_all(&out, st);
	ret = json ? cli_write_json(&out) : cli_write(&out);
	tacho_buf_release(&out);
	return ret;
}

static int show(const struct app_status *st, bool one, bool json)
{
	bool failed = false;
	int ret;

	for (const struct app_status_problem *p = st->problems; p; p = p->next) {
		(void)cli_fail("%s", p->text);
		failed |= p->no_room;
	}
	ret = print(st, one, json);
	if (ret == CLI_OK && st->err)
		ret = cli_fail("some sessions or programs are missing here: %s",
			       strerror(-st->err));
	return failed ? CLI_FAILED : ret;
}

static int status_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct tacho_diag d = { 0 };
	struct app_status st;
	bool json = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		ret = cli_common(opt, &json);
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 < argc)
		return cli_usage("name one session, or none for all");
	if (app_status_get(&st, argv[optind], &d))
		return cli_fail_diag(&d);
	ret = show(&st, optind < argc, json);
	app_status_release(&st);
	return ret;
}

const struct cli_verb cli_status = {
	.name = "status",
	.summary = "print sessions and traced programs, with recorded and lost events",
	.usage = "usage: tacho status [--json] [NAME]\n\n"
		 "Prints the sessions (or one) with their rules, buffers and losses, and\n"
		 "the programs that can be traced.\n",
	.run = status_run,
};
