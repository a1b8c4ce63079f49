// SPDX-License-Identifier: MIT
/* status: sessions, what they hold and lost, and who traces into them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "cli/cli.h"
#include "tracefs/instance.h"
#include "session/command.h"
#include "session/remark.h"
#include "session/session.h"
#include "sys/clock.h"

struct status {
	struct tacho_dir dir;
	struct tacho_buf out;
	struct tacho_json j;
	struct tacho_tracefs tracefs;	/* dirfd -1: not for us */
	bool json;
	uint32_t sessions;
	uint32_t processes;
	const char *kept;	/* one_kept()'s */
	int err;		/* the first: something is not listed */
	bool failed;		/* a message says what is not */
};

/* What is gone, or never was, is no error. */
static void note(struct status *st, int err)
{
	if (err < 0 && err != -ENOENT && !st->err)
		st->err = err;
}

static const char *state_name(uint32_t state)
{
	return state == TACHO_STATE_RECORDING ? "recording"
	     : state == TACHO_STATE_STOPPED   ? "stopped"
					      : "dead";
}

/* "recorder 12 runs", "its recorder (12) died", ... */
static const char *owner_state(const struct tacho_session *s)
{
	if (!s->view.ctl->owner)
		return "none";
	return tacho_session_owned(s->path) ? "runs" : "died";
}

static uint64_t session_bytes(const struct tacho_session *s)
{
	const struct tacho_ring *r = &s->view.ring;
	uint64_t bytes = 0;

	for (uint32_t nr = 0; nr < tacho_ring_nr_lanes(r); nr++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++) {
			const struct tacho_buffer *b =
				tacho_lane_buffer(tacho_ring_lane(r, nr), id);

			if (tacho_ring_in_use(r, nr, id))
				bytes += (uint64_t)b->nr_subs << r->sub_shift;
		}
	return bytes;
}

/* The session's instance in the kernel, or "". */
static void kernel_instance(struct status *st, const struct tacho_session *s,
			    char name[TACHO_KERNEL_INSTANCE_MAX])
{
	const struct tacho_control *c = s->view.ctl;

	(void)snprintf(name, TACHO_KERNEL_INSTANCE_MAX, "%.*s",
		       (int)sizeof(c->kernel_instance) - 1, c->kernel_instance);
	if (!*name && st->tracefs.dirfd >= 0) {
		int err = tacho_kernel_find(&st->tracefs, s->name, name);

		if (err)
			*name = '\0';
		if (err != -EEXIST)
			note(st, err);
	}
}

static void put_pids(struct tacho_buf *b, const char *what,
		     const struct tacho_pids *list, uint32_t flags)
{
	uint32_t n = tacho_pids_nr(list);

	if (!n)
		return;
	tacho_buf_puts(b, what);
	for (uint32_t i = 0; i < n; i++)
		tacho_buf_printf(b, " %d", list->pid[i]);
	tacho_buf_puts(b, flags & TACHO_SESSION_FORK ? " and their children\n" : "\n");
}

/* ---- commands that fit nothing ---- */

static int unfit_text(const struct tacho_command_info *c,
		      const struct tacho_cmd_error *why, void *arg)
{
	struct status *st = arg;

	/* a program that has one may yet come */
	tacho_buf_printf(&st->out, "  %s '%s' of '%s' fits no event%s%s\n",
			 c->kind == TACHO_COMMAND_FILTER ? "filter   " : "trigger  ",
			 c->text, c->event, why->err == -ENOENT ? " yet" : ": ",
			 why->err == -ENOENT ? "" : why->text);
	return 0;
}

static int unfit_json(const struct tacho_command_info *c,
		      const struct tacho_cmd_error *why, void *arg)
{
	struct tacho_json *j = &((struct status *)arg)->j;

	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "kind", c->kind == TACHO_COMMAND_FILTER ?
			    "filter" : "trigger");
	tacho_json_pair_str(j, "events", c->event);
	tacho_json_pair_str(j, "text", c->text);
	tacho_json_pair_str(j, "why", why->text);
	tacho_json_close(j, '}');
	return 0;
}

static void session_text(struct status *st, struct tacho_session *s,
			 const struct tacho_session_counts *n)
{
	const struct tacho_control *c = s->view.ctl;
	char kernel[TACHO_KERNEL_INSTANCE_MAX];
	struct tacho_buf *b = &st->out;

	tacho_buf_printf(b, "%s: %s, %s\n", s->name, state_name(c->state),
			 c->flags & TACHO_SESSION_OVERWRITE ?
			 "keeps the newest" : "keeps the oldest");
	tacho_buf_printf(b, "  events    %ju written, ", (uintmax_t)n->written);
	if (c->flags & TACHO_SESSION_OVERWRITE)
		tacho_buf_printf(b, "%ju overwritten, ", (uintmax_t)n->overwritten);
	tacho_buf_printf(b, "%ju discarded (%ju full, %ju too large, %ju busy)\n",
			 (uintmax_t)(n->lost_full + n->lost_big + n->lost_busy),
			 (uintmax_t)n->lost_full, (uintmax_t)n->lost_big,
			 (uintmax_t)n->lost_busy);
	tacho_buf_printf(b, "  buffers   %.1f MiB, sub-buffers of %u KiB, clock %s\n",
			 (double)session_bytes(s) / (1 << 20),
			 (1u << c->sub_shift) >> 10, tacho_clock_name(c->clock));
	for (uint32_t i = 0; i < c->nr_rules && i < TACHO_RULES_MAX; i++)
		tacho_buf_printf(b, "  rule      %s %.*s\n",
				 c->rule[i].enable ? "enable " : "disable",
				 TACHO_RULE_MAX, c->rule[i].glob);
	note(st, tacho_commands_unfit(s, unfit_text, st));
	put_pids(b, "  processes", &c->pids, c->flags);
	put_pids(b, "  but not  ", &c->not_pids, c->flags);
	kernel_instance(st, s, kernel);
	if (*kernel)
		tacho_buf_printf(b, "  kernel    instance %s\n", kernel);
	if (c->owner)
		tacho_buf_printf(b, "  recorder  %d %s, writes to %.*s\n", c->owner,
				 owner_state(s), (int)sizeof(c->output), c->output);
	tacho_buf_printf(b, "  directory %s\n", s->path);
}

static void pids_json(struct tacho_json *j, const char *key,
		      const struct tacho_pids *list)
{
	uint32_t n = tacho_pids_nr(list);

	tacho_json_key(j, key);
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < n; i++)
		tacho_json_s64(j, list->pid[i]);
	tacho_json_close(j, ']');
}

static void session_json(struct status *st, struct tacho_session *s,
			 const struct tacho_session_counts *n)
{
	const struct tacho_control *c = s->view.ctl;
	char kernel[TACHO_KERNEL_INSTANCE_MAX];
	struct tacho_json *j = &st->j;

	kernel_instance(st, s, kernel);
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "name", s->name);
	tacho_json_pair_str(j, "state", state_name(c->state));
	tacho_json_pair_bool(j, "overwrite", c->flags & TACHO_SESSION_OVERWRITE);
	tacho_json_pair_u64(j, "written", n->written);
	tacho_json_pair_u64(j, "overwritten", n->overwritten);
	tacho_json_pair_u64(j, "lost_full", n->lost_full);
	tacho_json_pair_u64(j, "lost_big", n->lost_big);
	tacho_json_pair_u64(j, "lost_busy", n->lost_busy);
	tacho_json_pair_u64(j, "buffer_bytes", session_bytes(s));
	tacho_json_pair_str(j, "clock", tacho_clock_name(c->clock));
	tacho_json_key(j, "rules");
	tacho_json_open(j, '[');
	for (uint32_t i = 0; i < c->nr_rules && i < TACHO_RULES_MAX; i++) {
		tacho_json_open(j, '{');
		tacho_json_pair_bool(j, "enable", c->rule[i].enable);
		tacho_json_key(j, "events");
		tacho_json_strn(j, c->rule[i].glob,
				strnlen(c->rule[i].glob, TACHO_RULE_MAX));
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
	tacho_json_key(j, "unfit");
	tacho_json_open(j, '[');
	note(st, tacho_commands_unfit(s, unfit_json, st));
	tacho_json_close(j, ']');
	pids_json(j, "pids", &c->pids);
	pids_json(j, "not_pids", &c->not_pids);
	tacho_json_pair_str(j, "kernel_instance", kernel);
	tacho_json_pair_s64(j, "recorder", c->owner);
	tacho_json_pair_str(j, "recorder_state", owner_state(s));
	tacho_json_key(j, "output");
	tacho_json_strn(j, c->output, strnlen(c->output, sizeof(c->output)));
	tacho_json_pair_str(j, "directory", s->path);
	tacho_json_close(j, '}');
}

static int one_session(const char *name, const char *path, void *arg)
{
	struct status *st = arg;
	struct tacho_session_counts n;
	struct tacho_session s;
	struct tacho_diag d = { 0 };

	(void)path;
	if (tacho_session_open(&s, &st->dir, name, &d)) {
		(void)cli_fail_diag(&d);
		st->failed |= tacho_no_room_here(d.err);
		return 0;
	}
	tacho_session_count(&s, &n);
	note(st, n.err);
	if (st->json)
		session_json(st, &s, &n);
	else
		session_text(st, &s, &n);
	st->sessions++;
	tacho_session_close(&s);
	return 0;
}

/* How many events of a process are on, in any session. */
static uint32_t events_on(const struct tacho_procfile *p)
{
	uint32_t n = tacho_procfile_nr_events(p), on = 0;

	for (uint32_t i = 1; i <= n; i++)
		on += tacho_load_relaxed(&p->state[i].wanted) != 0;
	return on;
}

static int one_process(struct tacho_procfile *p, void *arg)
{
	struct status *st = arg;
	char comm[17];

	memcpy(comm, p->head->comm, 16);
	comm[16] = '\0';
	st->processes++;
	if (st->json) {
		tacho_json_open(&st->j, '{');
		tacho_json_pair_s64(&st->j, "pid", p->pid);
		tacho_json_pair_str(&st->j, "comm", comm);
		tacho_json_pair_u64(&st->j, "events", tacho_procfile_nr_events(p));
		tacho_json_pair_u64(&st->j, "enabled", events_on(p));
		tacho_json_pair_u64(&st->j, "lost_events", p->head->lost_events);
		tacho_json_pair_u64(&st->j, "lost_sessions", p->head->lost_map);
		tacho_json_pair_u64(&st->j, "lost_programs", p->head->lost_program);
		tacho_json_pair_u64(&st->j, "lost_stacks", p->head->lost_stack);
		tacho_json_pair_u64(&st->j, "sharers", p->sharers);
		tacho_json_pair_u64(&st->j, "unseated", p->head->unseated);
		tacho_json_close(&st->j, '}');
		return 0;
	}
	tacho_buf_printf(&st->out, "process %d (%s): %u events, %u enabled%s\n",
			 p->pid, comm, tacho_procfile_nr_events(p), events_on(p),
			 p->foreign ? ", in another pid name space" : "");
	if (p->head->lost_events || p->head->lost_map)
		tacho_buf_printf(&st->out, "  %ju events could not be registered, "
				 "%ju times a session could not be mapped\n",
				 (uintmax_t)p->head->lost_events,
				 (uintmax_t)p->head->lost_map);
	if (p->head->lost_program || p->head->lost_stack)
		tacho_buf_printf(&st->out, "  %ju times filters and triggers could not "
				 "be compiled, %ju call stacks are missing\n",
				 (uintmax_t)p->head->lost_program,
				 (uintmax_t)p->head->lost_stack);
	if (p->sharers || p->head->unseated)
		tacho_buf_printf(&st->out, "  %ju forked children could not get switches "
				 "of their own: they record what it records\n",
				 (uintmax_t)(p->sharers + p->head->unseated));
	return 0;
}

/* What programs could not do, in the order in which it was first said. */
static void remarks(struct status *st)
{
	struct tacho_remark r;

	if (st->json) {
		tacho_json_key(&st->j, "remarks");
		tacho_json_open(&st->j, '[');
	}
	for (uint32_t i = 0; i < TACHO_REMARKS_MAX; i++) {
		if (!tacho_remark_get(st->dir.reg,
				      i + tacho_load_relaxed(&st->dir.reg->remarks), &r))
			continue;
		if (!st->json) {
			tacho_buf_printf(&st->out, "program %s, %ju time%s, the last process %d: %s\n",
					 r.comm, (uintmax_t)r.times, r.times == 1 ? "" : "s",
					 r.pid, r.text);
			continue;
		}
		tacho_json_open(&st->j, '{');
		tacho_json_pair_str(&st->j, "comm", r.comm);
		tacho_json_pair_s64(&st->j, "pid", r.pid);
		tacho_json_pair_u64(&st->j, "times", r.times);
		tacho_json_pair_u64(&st->j, "realtime", r.last);
		tacho_json_pair_str(&st->j, "text", r.text);
		tacho_json_close(&st->j, '}');
	}
	if (st->json)
		tacho_json_close(&st->j, ']');
}

static int is_called(const char *name, const char *path, void *arg)
{
	char instance[TACHO_KERNEL_INSTANCE_MAX];
	struct status *st = arg;
	int err = tacho_kernel_find(&st->tracefs, name, instance);

	(void)path;
	if (err != -EEXIST)
		note(st, err);
	return !err &&
	       !strcmp(instance + strlen("tacho."), st->kept);
}

/* An instance that goes on in the kernel for a session that is gone, or another's. */
static int one_kept(const char *name, void *arg)
{
	struct status *st = arg;

	st->kept = name;
	if (tacho_sessions_each(&st->dir, is_called, st))
		return 0;
	if (st->json)
		tacho_json_str(&st->j, name);
	else
		tacho_buf_printf(&st->out, "kernel instance tacho.%s: of no session here; "
				 "'tacho destroy %s' removes it\n", name, name);
	return 0;
}

static void kept(struct status *st)
{
	if (st->json) {
		tacho_json_key(&st->j, "kept");
		tacho_json_open(&st->j, '[');
	}
	if (st->tracefs.dirfd >= 0)
		note(st, tacho_kernel_kept_each(&st->tracefs, one_kept, st));
	if (st->json)
		tacho_json_close(&st->j, ']');
}

static void all(struct status *st)
{
	if (st->json) {
		tacho_json_open(&st->j, '{');
		tacho_json_pair_str(&st->j, "directory", st->dir.path);
		tacho_json_key(&st->j, "sessions");
		tacho_json_open(&st->j, '[');
	}
	note(st, tacho_sessions_each(&st->dir, one_session, st));
	if (st->json) {
		tacho_json_close(&st->j, ']');
		tacho_json_key(&st->j, "processes");
		tacho_json_open(&st->j, '[');
	}
	note(st, tacho_procs_each(&st->dir, one_process, st));
	if (st->json)
		tacho_json_close(&st->j, ']');
	remarks(st);
	kept(st);
	if (st->json) {
		tacho_json_close(&st->j, '}');
	} else if (!st->sessions && !st->processes) {
		tacho_buf_printf(&st->out, "no sessions, no traced programs (in %s)\n",
				 st->dir.path);
	}
}

static int status_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct status st = { .json = false };
	struct tacho_diag d = { 0 };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		ret = cli_common(opt, &st.json);
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 < argc)
		return cli_usage("name one session, or none for all");
	if (tacho_dir_open(&st.dir, optind == argc, &d))
		return cli_fail_diag(&d);
	ret = tacho_tracefs_open(&st.tracefs, 0, NULL);
	if (ret)
		st.tracefs.dirfd = -1;
	if (tacho_no_room_here(ret))
		note(&st, ret);
	tacho_buf_init(&st.out, 64u << 20);
	tacho_json_init(&st.j, &st.out);
	if (optind == argc) {
		all(&st);
	} else {
		struct tacho_session s;

		if (tacho_session_open(&s, &st.dir, argv[optind], &d)) {
			tacho_tracefs_close(&st.tracefs);
			tacho_dir_close(&st.dir);
			return cli_fail_diag(&d);
		}
		tacho_session_close(&s);
		(void)one_session(argv[optind], "", &st);
	}
	tacho_tracefs_close(&st.tracefs);
	tacho_dir_close(&st.dir);
	ret = st.json ? cli_write_json(&st.out) : cli_write(&st.out);
	tacho_buf_release(&st.out);
	if (ret == CLI_OK && st.err)
		ret = cli_fail("some sessions or programs are missing here: %s",
			       strerror(-st.err));
	return st.failed ? CLI_FAILED : ret;
}

const struct cli_verb cli_status = {
	.name = "status",
	.summary = "print sessions and traced programs, with recorded and lost events",
	.usage = "usage: tacho status [--json] [NAME]\n\n"
		 "Prints the sessions (or one) with their rules, buffers and losses, and\n"
		 "the programs that can be traced.\n",
	.run = status_run,
};
