// SPDX-License-Identifier: MIT
#include "app/recover.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/output.h"
#include "app/session.h"
#include "base/atomic.h"
#include "fmt/ctf/repair.h"
#include "record/recorder.h"
#include "record/resume.h"
#include "ring/read.h"
#include "session/session.h"

/* Of one call. */
struct recover {
	const struct app_recover_config *config;
	const struct tacho_observer *observer;
	struct app_recover_result result;
};

/* A session's directory that no registry may know: files only. */
static int open_directory(struct tacho_session *s, const char *path, struct tacho_diag *d)
{
	char real[PATH_MAX];
	int err;

	*s = (struct tacho_session){ .dir = NULL };
	if (!realpath(path, real))
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", path, strerror(errno));
	if (strlen(real) >= sizeof(s->path))
		return tacho_diag(d, -ENAMETOOLONG, 0, "the path '%s' is too long", real);
	memcpy(s->path, real, strlen(real) + 1);
	err = tacho_view_map(&s->view, real, false);
	if (err)
		return tacho_diag(d, err, 0, "cannot read the session in '%s': %s", path,
				  err == -EPROTO ? "made by another version of tacho, "
				  "or never finished" : strerror(-err));
	(void)snprintf(s->name, sizeof(s->name), "%.*s",
		       (int)sizeof(s->view.ctl->name) - 1, s->view.ctl->name);
	s->bit = s->view.ctl->bit;
	return 0;
}

/* Writes what a session holds to dir, from the records of `from` on. */
static int write_session(struct recover *r, struct tacho_session *s,
			 const char *dir, const struct tacho_resume *from, struct tacho_diag *d)
{
	const struct tacho_control *c = s->view.ctl;
	struct tacho_recorder_config cfg = {
		.dir = dir, .session = s, .clock = c->clock,
		.clock_freq = c->clock_freq, .start = c->start,
		.uuid = c->uuid, .everything = true,
	};
	struct tacho_recorder_stats st;
	struct tacho_recorder *rec;
	int err;

	if (from) {
		cfg.resume = from->next;
		cfg.resume_lost = from->lost;
		cfg.nr_resume = from->nr;
	}
	err = tacho_recorder_new(&rec, &cfg, d);
	if (!err)
		err = tacho_recorder_finish(rec, &st, d);
	if (err)
		return err;
	if (st.damaged)
		tacho_observer_note(r->observer, "%" PRIu64 " bytes were no records and are left out",
				    st.damaged);
	r->result.events += st.events;
	r->result.lost += st.lost;
	return 0;
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
	struct drop drop = { .path = path };

	if (r->config->keep || tacho_dir_open(&drop.dir, false, NULL))
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
	struct tacho_dir dir;

	if (r->config->keep || tacho_dir_open(&dir, false, NULL))
		return;
	(void)tacho_sessions_each(&dir, not_ours, NULL);
	tacho_dir_close(&dir);
}

/* ---- a session, by name or by directory ---- */

static int recover_session(struct recover *r, struct tacho_session *s, struct tacho_diag *d)
{
	int err;

	if (tacho_session_owned(s->path))
		return tacho_diag(d, -EBUSY, 0, "session '%s' is being recorded by process %d; "
				  "end that first", s->name, s->view.ctl->owner);
	/* there is no writer while its last records are read */
	if (s->dir)
		(void)tacho_session_end(s);
	err = app_output_ready(r->config->output, !r->config->replace, d);
	return err ? err : write_session(r, s, r->config->output, NULL, d);
}

static int by_name(struct recover *r, struct tacho_diag *d)
{
	const char *name = r->config->what;
	struct tacho_session s;
	struct tacho_dir dir;
	int err = tacho_dir_open(&dir, false, d);

	if (err)
		return err;
	err = tacho_session_open(&s, &dir, name, d);
	if (err) {
		tacho_dir_close(&dir);
		if (d->err != -ENOENT)
			return err;
		*d = (struct tacho_diag){ 0 };
		return tacho_diag(d, -ENOENT, 0, "'%s' is neither a directory nor a session",
				  name);
	}
	err = recover_session(r, &s, d);
	if (!err && !r->config->keep)
		(void)tacho_session_destroy(&s, NULL);
	app_session_close(&dir, &s);
	return err;
}

static int by_directory(struct recover *r, struct tacho_diag *d)
{
	struct tacho_session s;
	int err = open_directory(&s, r->config->what, d);

	if (err)
		return err;
	err = recover_session(r, &s, d);
	tacho_session_close(&s);
	if (!err)
		drop_session(r, s.path);
	return err;
}

/* ---- a trace that was not finished ---- */

static int is_chunk(const struct dirent *e)
{
	return e->d_name[0] && !e->d_name[strspn(e->d_name, "0123456789")];
}

/* Does one thing to a trace, or to each chunk of a rotated one. */
static int each_chunk(const struct recover *r,
		      int (*fn)(const char *chunk, void *arg, struct tacho_diag *d),
		      void *arg, struct tacho_diag *d)
{
	const char *dir = r->config->what;
	struct dirent **list;
	char path[4400];
	int n, err = 0;

	(void)snprintf(path, sizeof(path), "%s/metadata", dir);
	if (!access(path, F_OK))
		return fn(dir, arg, d);
	n = scandir(dir, &list, is_chunk, versionsort);
	if (n < 0)
		return tacho_diag(d, -errno, 0, "cannot read '%s': %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		free(list[i]);
		if (!err && tacho_observer_cancelled(r->observer))
			err = tacho_diag(d, -ECANCELED, 0, "cancelled");
		if (!err)
			err = fn(path, arg, d);
	}
	free(list);
	return err;
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
	struct tacho_dir dir;
	bool found = false;

	if (from->session[0])
		return session_lives(from->session);
	if (!realpath(trace, real) || tacho_dir_open(&dir, false, NULL))
		return false;
	for (uint32_t i = 0; !found && i < TACHO_SESSIONS_MAX; i++) {
		const struct tacho_slot *slot = &dir.reg->slot[i];
		const struct tacho_control *c;

		if (slot->state != TACHO_SLOT_LIVE ||
		    tacho_session_open(&s, &dir, slot->name, NULL))
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
static int scan_again(const struct recover *r, struct tacho_resume *from, struct tacho_diag *d)
{
	memset(from->next, 0, sizeof(from->next));
	memset(from->lost, 0, sizeof(from->lost));
	return each_chunk(r, scan_one, from, d);
}

/* The rest of a session, as one more chunk. */
static int append_session(struct recover *r, struct tacho_session *s,
			  const struct tacho_resume *from, struct tacho_diag *d)
{
	char next[4400];
	int err = tacho_resume_rotate(r->config->what, next, sizeof(next), d);

	return err ? err : write_session(r, s, next, from, d);
}

/* Removes chunks that were only begun, and makes torn packets whole. */
static int repair(const struct recover *r, struct tacho_diag *d)
{
	int err = each_chunk(r, clear_one, NULL, d);

	return err ? err : each_chunk(r, repair_one, NULL, d);
}

/* A plain recorder's: what the trace lacks of the session is added. */
static int complete(struct recover *r, struct tacho_session *s, struct tacho_resume *from,
		    struct tacho_diag *d)
{
	/* the whole records of a torn packet stay */
	int err = repair(r, d);

	if (!err)
		err = scan_again(r, from, d);
	if (!err && (from->open || from->begun || has_more(s, from)))
		err = append_session(r, s, from, d);
	/* before the trace is closed: who is killed here begins anew */
	if (!err)
		drop_session(r, from->session);
	return err;
}

/* A trace and the session that it is of. */
static int with_session(struct recover *r, struct tacho_resume *from, struct tacho_diag *d)
{
	const char *trace = r->config->what;
	struct tacho_session s;
	int err = open_directory(&s, from->session, d);

	if (err)
		return err;
	if (tacho_session_owned(s.path)) {
		err = tacho_diag(d, -EBUSY, 0, "'%s' is being recorded by process %d", trace,
				 s.view.ctl->owner);
	} else if (s.view.ctl->flags & TACHO_SESSION_OVERWRITE) {
		/* its numbers do not tell what is in which snapshot */
		tacho_observer_note(r->observer, "flight recorder '%s' holds more: tacho recover -o "
				    "%s.rest %s", s.name, trace, s.name);
		err = each_chunk(r, repair_one, NULL, d);
	} else {
		err = complete(r, &s, from, d);
	}
	tacho_session_close(&s);
	return err;
}

/* A trace whose session is gone, or never was one of ours. */
static int without_session(struct recover *r, const struct tacho_resume *from,
			   struct tacho_diag *d)
{
	const char *trace = r->config->what;
	int err;

	if (!from->known)
		return tacho_diag(d, -EINVAL, 0, "'%s' is not a trace", trace);
	if (from->session[0])
		drop_session(r, from->session);
	err = repair(r, d);
	if (!err && from->open)
		tacho_observer_note(r->observer, "its session is gone: '%s' is closed as it is",
				    trace);
	return err;
}

static int by_trace_from(struct recover *r, struct tacho_resume *from, struct tacho_diag *d)
{
	const char *trace = r->config->what;
	int err = each_chunk(r, scan_one, from, d);

	if (err)
		return err;
	/* a plain trace, or a rotated one without its first chunk */
	if (!from->known && tacho_resume_begun(trace))
		from->begun = true;
	if (find_session(trace, from)) {
		if (from->begun && !from->known)
			tacho_resume_unbegin(trace);
		err = with_session(r, from, d);
	} else {
		err = without_session(r, from, d);
	}
	if (err)
		return err;
	if (!from->open && !r->result.events)
		tacho_observer_note(r->observer, "'%s' is complete", trace);
	return each_chunk(r, close_one, NULL, d);
}

static int by_trace(struct recover *r, struct tacho_diag *d)
{
	struct tacho_resume *from = calloc(1, sizeof(*from));
	int err;

	if (!from)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	err = by_trace_from(r, from, d);
	free(from);
	return err;
}

static int recover_any(struct recover *r, struct tacho_diag *d)
{
	const char *what = r->config->what;
	char file[4200];
	struct stat st;

	(void)snprintf(file, sizeof(file), "%s.recover", what);
	if (stat(what, &st) < 0 && !access(file, F_OK) && rename(file, what) < 0)
		return tacho_diag(d, -errno, 0, "cannot rename '%s': %s", file, strerror(errno));
	if (stat(what, &st) < 0)
		return by_name(r, d);
	(void)snprintf(file, sizeof(file), "%s/control", what);
	return access(file, F_OK) ? by_trace(r, d) : by_directory(r, d);
}

int app_recover(const struct app_recover_config *config, const struct tacho_observer *o,
		struct app_recover_result *result, struct tacho_diag *d)
{
	struct recover r = { .config = config, .observer = o };
	int err = recover_any(&r, d);

	if (err)
		return err;
	sweep(&r);
	*result = r.result;
	return 0;
}
