// SPDX-License-Identifier: MIT
/* recover: what a dead recorder, program or machine left, made into a trace. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/output.h"
#include "base/atomic.h"
#include "cli/cli.h"
#include "fmt/ctf/repair.h"
#include "record/recorder.h"
#include "record/resume.h"
#include "ring/read.h"
#include "session/session.h"

static const char usage[] =
"usage: tacho recover [OPTIONS] DIR|NAME\n"
"\n"
"Makes a readable trace of what was left behind:\n"
"  by a recorder that was killed: DIR is the trace it was writing; what programs\n"
"      recorded and it did not write is added, as one more part of DIR\n"
"  by a machine that crashed: DIR is a session's directory on disk\n"
"      ('tacho create --dir DIR'); -o says where the trace goes\n"
"  by programs: NAME is a session without a recorder\n"
"\n"
"  -o, --output DIR  where a session's trace goes (default: tacho-trace)\n"
"      --keep        leave the session as it is (else it is destroyed)\n"
"      --json        what was recovered, as JSON\n"
"  -h, --help        this text\n";

struct recover {
	const char *what;
	const char *output;
	bool output_given, keep, json;
	uint64_t events, lost;
};

/* A session's directory that no registry may know: files only. */
static int open_directory(struct tacho_session *s, const char *path)
{
	char real[PATH_MAX];
	int err;

	*s = (struct tacho_session){ .dir = NULL };
	if (!realpath(path, real))
		return cli_fail("cannot open '%s': %s", path, strerror(errno));
	if (strlen(real) >= sizeof(s->path))
		return cli_fail("the path '%s' is too long", real);
	memcpy(s->path, real, strlen(real) + 1);
	err = tacho_view_map(&s->view, real, false);
	if (err)
		return cli_fail("cannot read the session in '%s': %s", path,
				err == -EPROTO ? "made by another version of tacho, "
				"or never finished" : strerror(-err));
	(void)snprintf(s->name, sizeof(s->name), "%.*s",
		       (int)sizeof(s->view.ctl->name) - 1, s->view.ctl->name);
	s->bit = s->view.ctl->bit;
	return CLI_OK;
}

/* Writes what a session holds to dir, from the records of `from` on. */
static int write_session(struct recover *r, struct tacho_session *s,
			 const char *dir, const struct tacho_resume *from)
{
	const struct tacho_control *c = s->view.ctl;
	struct tacho_recorder_config cfg = {
		.dir = dir, .session = s, .clock = c->clock,
		.clock_freq = c->clock_freq, .start = c->start,
		.uuid = c->uuid, .everything = true,
	};
	struct tacho_recorder_stats st;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };

	if (from) {
		cfg.resume = from->next;
		cfg.resume_lost = from->lost;
		cfg.nr_resume = from->nr;
	}
	if (tacho_recorder_new(&rec, &cfg, &d) ||
	    tacho_recorder_finish(rec, &st, &d))
		return cli_fail_diag(&d);
	if (st.damaged)
		cli_note("%ju bytes were no records and are left out",
			 (uintmax_t)st.damaged);
	r->events += st.events;
	r->lost += st.lost;
	return CLI_OK;
}

struct drop {
	struct tacho_dir dir;
	const char *path;
};

static int drop_one(const char *name, const char *path, void *arg)
{
	struct drop *drop = arg;
	struct tacho_session s;

	if (!strcmp(path, drop->path) &&
	    !tacho_session_open(&s, &drop->dir, name, NULL))
		(void)tacho_session_destroy(&s, NULL);
	return 0;
}

/*
 * Ends a session that is recovered, if the registry knows it; and what is left of
 * one whose destroyer was killed.
 */
static void drop_session(const struct recover *r, const char *path)
{
	struct tacho_diag d = { 0 };
	struct drop drop = { .path = path };

	if (r->keep || tacho_dir_open(&drop.dir, false, &d))
		return;
	(void)tacho_sessions_each(&drop.dir, drop_one, &drop);
	tacho_dir_close(&drop.dir);
}

static int not_ours(const char *name, const char *path, void *arg)
{
	(void)name;
	(void)path;
	(void)arg;
	return 0;
}

/* What a tool left that was killed while it removed a session is removed in passing. */
static void sweep(const struct recover *r)
{
	struct tacho_diag d = { 0 };
	struct tacho_dir dir;

	if (r->keep || tacho_dir_open(&dir, false, &d))
		return;
	(void)tacho_sessions_each(&dir, not_ours, NULL);
	tacho_dir_close(&dir);
}

/* ---- a session, by name or by directory ---- */

static int recover_session(struct recover *r, struct tacho_session *s)
{
	struct tacho_diag d = { 0 };

	if (tacho_session_owned(s->path))
		return cli_fail("session '%s' is being recorded by process %d; end "
				"that first", s->name, s->view.ctl->owner);
	/* nobody writes while its last records are read */
	if (s->dir)
		(void)tacho_session_end(s);
	if (app_output_ready(r->output, r->output_given, &d))
		return cli_fail_diag(&d);
	return write_session(r, s, r->output, NULL);
}

static int by_name(struct recover *r)
{
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;
	int ret;

	if (tacho_dir_open(&dir, false, &d))
		return cli_fail_diag(&d);
	if (tacho_session_open(&s, &dir, r->what, &d)) {
		tacho_dir_close(&dir);
		if (d.err != -ENOENT)
			return cli_fail_diag(&d);
		return cli_fail("'%s' is neither a directory nor a session",
				r->what);
	}
	ret = recover_session(r, &s);
	if (!ret && !r->keep)
		(void)tacho_session_destroy(&s, NULL);
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	return ret;
}

static int by_directory(struct recover *r)
{
	struct tacho_session s;
	int ret = open_directory(&s, r->what);

	if (ret)
		return ret;
	ret = recover_session(r, &s);
	tacho_session_close(&s);
	if (!ret)
		drop_session(r, s.path);
	return ret;
}

/* ---- a trace that was not finished ---- */

static int is_chunk(const struct dirent *e)
{
	return e->d_name[0] && !e->d_name[strspn(e->d_name, "0123456789")];
}

/* Does one thing to a trace, or to each chunk of a rotated one. */
static int each_chunk(const char *dir,
		      int (*fn)(const char *chunk, void *arg, struct tacho_diag *d),
		      void *arg)
{
	struct tacho_diag d = { 0 };
	struct dirent **list;
	char path[4400];
	int n, ret = CLI_OK;

	(void)snprintf(path, sizeof(path), "%s/metadata", dir);
	if (!access(path, F_OK))
		return fn(dir, arg, &d) ? cli_fail_diag(&d) : CLI_OK;
	n = scandir(dir, &list, is_chunk, versionsort);
	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		free(list[i]);
		if (!ret && fn(path, arg, &d))
			ret = cli_fail_diag(&d);
	}
	if (n >= 0)
		free(list);
	return n < 0 ? cli_fail("cannot read '%s': %s", dir, strerror(errno)) : ret;
}

/* Clears away what its recorder had only begun: it holds nothing. */
static int clear_one(const char *chunk, void *arg, struct tacho_diag *d)
{
	(void)arg;
	(void)d;
	if (tacho_resume_begun(chunk)) {
		tacho_resume_unbegin(chunk);
		(void)rmdir(chunk);
	}
	return 0;
}

static int scan_one(const char *chunk, void *arg, struct tacho_diag *d)
{
	return tacho_resume_scan(arg, chunk, d);
}

static int repair_one(const char *chunk, void *arg, struct tacho_diag *d)
{
	uint32_t files;

	(void)arg;
	return tacho_ctf_repair(chunk, &files, d);
}

static int close_one(const char *chunk, void *arg, struct tacho_diag *d)
{
	(void)arg;
	return tacho_resume_close(chunk, d);
}

/* Not one that is destroyed, or was half destroyed when its destroyer died. */
static bool session_lives(const char *path)
{
	struct tacho_view v;
	int err = tacho_view_map(&v, path, false);
	bool lives;

	if (err)
		return err != -ENOENT;
	lives = tacho_load_acquire(&v.ctl->state) != TACHO_STATE_DEAD;
	tacho_view_unmap(&v);
	return lives;
}

/*
 * The session that a recorder was writing to this trace: what the trace says while
 * it is open, else the one whose control block names the trace.
 */
static bool find_session(const char *trace, struct tacho_resume *from)
{
	struct tacho_session s;
	char real[PATH_MAX], output[PATH_MAX], asked[sizeof(s.view.ctl->output) + 1];
	struct tacho_diag d = { 0 };
	struct tacho_dir dir;
	bool found = false;

	if (from->session[0])
		return session_lives(from->session);
	if (!realpath(trace, real) || tacho_dir_open(&dir, false, &d))
		return false;
	for (uint32_t i = 0; !found && i < TACHO_SESSIONS_MAX; i++) {
		const struct tacho_slot *slot = &dir.reg->slot[i];
		const struct tacho_control *c;

		if (slot->state != TACHO_SLOT_LIVE ||
		    tacho_session_open(&s, &dir, slot->name, &d))
			continue;
		c = s.view.ctl;
		(void)snprintf(asked, sizeof(asked), "%.*s",
			       (int)sizeof(c->output), c->output);
		found = asked[0] == '/' && realpath(asked, output) &&
			!strcmp(output, real);
		if (found)
			memcpy(from->session, s.path, sizeof(from->session));
		tacho_session_close(&s);
	}
	tacho_dir_close(&dir);
	return found;
}

/* Whether the session has anything that the trace does not. */
static bool has_more(struct tacho_session *s, const struct tacho_resume *from)
{
	struct tacho_ring *r = &s->view.ring;

	for (uint32_t nr = 0; nr < tacho_ring_nr_lanes(r); nr++)
		if (tacho_ring_written(r, nr, tacho_ring_home(r, nr)) > from->next[nr] ||
		    tacho_ring_lost(r, nr) > from->lost[nr])
			return true;
	return false;
}

/* Looks what is there once more, now that no packet of it is torn. */
static int scan_again(const char *trace, struct tacho_resume *from)
{
	memset(from->next, 0, sizeof(from->next));
	memset(from->lost, 0, sizeof(from->lost));
	return each_chunk(trace, scan_one, from);
}

/* The rest of a session, as one more chunk. */
static int append_session(struct recover *r, struct tacho_session *s,
			  const struct tacho_resume *from)
{
	struct tacho_diag d = { 0 };
	char next[4400];

	if (tacho_resume_rotate(r->what, next, sizeof(next), &d))
		return cli_fail_diag(&d);
	return write_session(r, s, next, from);
}

/* A trace and the session that it is of. */
static int with_session(struct recover *r, struct tacho_resume *from)
{
	struct tacho_session s;
	int ret = open_directory(&s, from->session);

	if (ret)
		return ret;
	if (tacho_session_owned(s.path)) {
		ret = cli_fail("'%s' is being recorded by process %d", r->what,
			       s.view.ctl->owner);
	} else if (s.view.ctl->flags & TACHO_SESSION_OVERWRITE) {
		/* its numbers do not tell what is in which dump */
		cli_note("flight recorder '%s' holds more: tacho recover -o "
			 "%s.rest %s", s.name, r->what, s.name);
		ret = each_chunk(r->what, repair_one, NULL);
	} else {
		/* the whole records of a torn packet stay */
		ret = each_chunk(r->what, clear_one, NULL);
		if (!ret)
			ret = each_chunk(r->what, repair_one, NULL);
		if (!ret)
			ret = scan_again(r->what, from);
		if (!ret && (from->open || from->begun || has_more(&s, from)))
			ret = append_session(r, &s, from);
		/* before the trace is closed: who is killed here begins anew */
		if (!ret)
			drop_session(r, from->session);
	}
	tacho_session_close(&s);
	return ret;
}

/* A trace whose session is gone, or never was one of ours. */
static int without_session(struct recover *r, const struct tacho_resume *from)
{
	int ret;

	if (!from->known)
		return cli_fail("'%s' is not a trace", r->what);
	if (from->session[0])
		drop_session(r, from->session);
	ret = each_chunk(r->what, clear_one, NULL);
	if (!ret)
		ret = each_chunk(r->what, repair_one, NULL);
	if (!ret && from->open)
		cli_note("its session is gone: '%s' is closed as it is", r->what);
	return ret;
}

static int by_trace(struct recover *r)
{
	static struct tacho_resume from;
	int ret = each_chunk(r->what, scan_one, &from);

	if (ret)
		return ret;
	/* a plain trace, or a rotated one without its first chunk */
	if (!from.known && tacho_resume_begun(r->what))
		from.begun = true;
	if (find_session(r->what, &from)) {
		if (from.begun && !from.known)
			tacho_resume_unbegin(r->what);
		ret = with_session(r, &from);
	} else {
		ret = without_session(r, &from);
	}
	if (ret)
		return ret;
	if (!from.open && !r->events)
		cli_note("'%s' is complete", r->what);
	return each_chunk(r->what, close_one, NULL);
}

static int recover_any(struct recover *r)
{
	char file[4200];
	struct stat st;

	(void)snprintf(file, sizeof(file), "%s.recover", r->what);
	if (stat(r->what, &st) < 0 && !access(file, F_OK) &&
	    rename(file, r->what) < 0)
		return cli_fail("cannot rename '%s': %s", file, strerror(errno));
	if (stat(r->what, &st) < 0)
		return by_name(r);
	(void)snprintf(file, sizeof(file), "%s/control", r->what);
	return access(file, F_OK) ? by_trace(r) : by_directory(r);
}

static int recover_run(int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ "output", required_argument, NULL, 'o' },
		{ "keep", no_argument, NULL, CLI_OPT_FIRST },
		{ NULL, 0, NULL, 0 },
	};
	struct recover r = { .output = APP_DEFAULT_TRACE };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqo:", options, NULL)) != -1) {
		ret = -1;
		if (opt == 'o') {
			r.output = optarg;
			r.output_given = true;
		} else if (opt == CLI_OPT_FIRST) {
			r.keep = true;
		} else {
			ret = cli_common(opt, &r.json);
		}
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 != argc)
		return cli_usage("name one directory or session");
	r.what = argv[optind];
	ret = recover_any(&r);
	if (ret)
		return ret;
	sweep(&r);
	cli_note("%ju events recovered, %ju lost", (uintmax_t)r.events,
		 (uintmax_t)r.lost);
	if (r.json)
		printf("{\"events\":%ju,\"lost\":%ju}\n", (uintmax_t)r.events,
		       (uintmax_t)r.lost);
	return CLI_OK;
}

const struct cli_verb cli_recover = {
	.name = "recover",
	.summary = "make a trace of what a crash left behind",
	.usage = usage,
	.run = recover_run,
};
