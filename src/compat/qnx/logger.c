// SPDX-License-Identifier: MIT
#include "compat/qnx/logger.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/qnx/logger_priv.h"
#include "sys/clock.h"
#include "sys/futex.h"
#include "tracefs/instance.h"

#define STEP_MS		50
#define WAIT_NS		UINT64_C(200000000)

/* The first error is the caller's; later ones are remarks. */
static int keep(struct logger *l, const struct tacho_diag *d, int err)
{
	const char *text = d->text[0] ? d->text : strerror(-err);

	if (l->d->err)
		tacho_observer_note(l->observer, "%s", text);
	else
		(void)tacho_diag(l->d, err, d->offset, "%s", text);
	return err;
}

static bool is_stopped(const struct logger *l)
{
	return tacho_observer_cancelled(l->observer);
}

/* ---- classes ---- */

/* What -F takes away, by its number. */
static const struct {
	uint32_t n, class_;
} disabled[] = {
	{ 1, QNX_KERCALL }, { 2, QNX_INT }, { 3, QNX_PROCESS }, { 4, QNX_THREAD },
	{ 5, QNX_VTHREAD }, { 6, QNX_COMM }, { 7, QNX_SYSTEM },
};

static int change(struct logger *l, uint32_t class_, enum tacho_qnx_change how,
		  struct tacho_diag *d)
{
	struct qnx_set set;

	(void)qnx_set_of(&set, class_, QNX_ALL_EVENTS, false);
	return tacho_qnx_change(&l->q, &set, how, d);
}

static int set_classes(struct logger *l, struct tacho_diag *d)
{
	const struct qnx_logger_options *o = l->opt;
	int err = 0;

	if (!o->daemon || o->enable) {
		err = tacho_qnx_change_all(&l->q, TACHO_QNX_ON, d);
		if (!err && !o->security)
			err = change(l, QNX_SEC, TACHO_QNX_OFF, d);
	} else if (o->security) {
		err = change(l, QNX_SEC, TACHO_QNX_ON, d);
	}
	for (size_t i = 0; !err && i < TACHO_ARRAY_SIZE(disabled); i++)
		if (o->disable >> disabled[i].n & 1)
			err = change(l, disabled[i].class_, TACHO_QNX_OFF, d);
	if (!err)
		err = tacho_qnx_change_all(&l->q, o->wide ? TACHO_QNX_WIDE : TACHO_QNX_FAST, d);
	return err;
}

/* ---- arm ---- */

/* The instance is made before anybody starts it: what is on by then, or later, is known. */
static void arm_kernel(struct logger *l)
{
	struct tacho_diag d = { 0 };
	int32_t self = getpid();
	bool tsc = l->q.session.view.ctl->clock == TACHO_CLOCK_TSC;

	if (tacho_qnx_kernel_open(&l->q, &l->kernel, &d)) {
		tacho_observer_note(l->observer, "no events of the kernel: %s", d.text);
		l->kernel = NULL;
		return;
	}
	/* nor what the logger forks */
	(void)tacho_kernel_set_option(l->kernel, "event-fork", true, NULL);
	(void)tacho_kernel_set_not_pids(l->kernel, &self, 1, NULL);
	if (tacho_kernel_info(l->kernel)->clock_is_tsc == tsc)
		return;
	tacho_observer_note(l->observer, "no events of the kernel: it has another clock, '%s'",
			    tacho_kernel_info(l->kernel)->clock);
	tacho_kernel_leave(l->kernel);
	l->kernel = NULL;
}

static int arm_buffers(struct logger *l, struct tacho_diag *d)
{
	const struct qnx_logger_options *o = l->opt;

	if (l->q.has_session && o->reuse)
		return 0;
	if (l->q.has_session)
		return tacho_diag(d, -EEXIST, 0, "there are trace buffers already; -R takes them "
				  "over, 'tacho destroy %s' frees them", l->q.session.name);
	/* with nothing running the mode can be set at any time */
	if (tacho_qnx_mode(&l->q, o->ring, d))
		return d->err;
	return tacho_qnx_alloc(&l->q, o->kernel_buffers, d);
}

static int arm(struct logger *l)
{
	struct tacho_diag d = { 0 };
	int err = tacho_qnx_open(&l->q, &d);

	if (err)
		return keep(l, &d, err);
	err = arm_buffers(l, &d);
	if (!err) {
		l->armed = true;
		l->ring = l->q.state->ring;
		arm_kernel(l);
		err = set_classes(l, &d);
	}
	l->starts = l->q.state->nr_starts;
	if (!err && !l->opt->daemon)
		err = tacho_qnx_start(&l->q, false, &d);
	tacho_qnx_unlock(&l->q);
	return err ? keep(l, &d, err) : 0;
}

static int disarm(struct logger *l)
{
	struct tacho_diag d = { 0 };
	bool has_buffers;
	int err = 0;

	if (l->kernel)
		tacho_kernel_leave(l->kernel);
	l->kernel = NULL;
	if (l->armed && !tacho_qnx_lock(&l->q)) {
		(void)tacho_qnx_stop(&l->q, NULL);
		/* somebody may have freed them already, and made others */
		has_buffers = tacho_qnx_has_buffers(&l->q);
		/* what it has switched on */
		if ((has_buffers || !l->q.state->generation) &&
		    (!l->opt->daemon || l->opt->enable))
			(void)tacho_qnx_change_all(&l->q, TACHO_QNX_OFF, NULL);
		if (!l->opt->persist && has_buffers)
			err = tacho_qnx_dealloc(&l->q, &d);
		tacho_qnx_unlock(&l->q);
	}
	if (l->q.state)
		tacho_qnx_close(&l->q);
	return err ? keep(l, &d, err) : 0;
}

/* ---- wait, log ---- */

static uint64_t now(void)
{
	return tacho_now_ns(CLOCK_MONOTONIC);
}

static bool runs(const struct logger *l)
{
	return tacho_qnx_has_buffers(&l->q) && tacho_load_acquire(&l->q.state->running);
}

/* Whether the trace was started; else a signal came, or there are no buffers any more. */
static bool wait_for_start(struct logger *l)
{
	struct qnx_state *s = l->q.state;

	if (l->opt->verbose)
		tacho_observer_note(l->observer, "waiting for TraceEvent(_NTO_TRACE_START)");
	while (!is_stopped(l)) {
		uint32_t seen = tacho_load_acquire(&s->changes);

		/* it may be over by now: what it left is logged */
		if (tacho_load_relaxed(&s->nr_starts) != l->starts)
			return true;
		if (!tacho_qnx_has_buffers(&l->q))
			break;
		(void)tacho_futex_wait(&s->changes, seen, WAIT_NS);
	}
	if (!is_stopped(l))
		(void)tacho_diag(l->d, -ENOENT, 0, "another program has freed the trace buffers");
	return false;
}

static bool time_is_up(const struct logger *l)
{
	return l->opt->seconds && now() - l->began >= l->opt->seconds * UINT64_C(1000000000);
}

static void config_of(const struct logger *l, struct tacho_recorder_config *cfg)
{
	struct tacho_control *c = l->q.session.view.ctl;

	*cfg = (struct tacho_recorder_config){
		.dir = l->result->trace, .no_kallsyms = true,
		.session = (struct tacho_session *)(uintptr_t)&l->q.session,
		.kernel = l->kernel, .clock = c->clock, .clock_freq = c->clock_freq,
		.start = c->start, .uuid = c->uuid, .command = l->opt->args, .flight = l->ring,
		.to = l->stopped,
	};
}

static void flush_if_due(struct logger *l)
{
	uint64_t every = l->opt->flush_seconds * UINT64_C(1000000000);

	if (!every || now() - l->flushed < every || tacho_qnx_lock(&l->q))
		return;
	(void)tacho_qnx_flush(&l->q);
	tacho_qnx_unlock(&l->q);
	l->flushed = now();
}

static void stop(struct logger *l)
{
	if (!tacho_qnx_lock(&l->q)) {
		(void)tacho_qnx_stop(&l->q, NULL);
		tacho_qnx_unlock(&l->q);
	}
	l->stopped = tacho_clock_read(l->q.session.view.ctl->clock);
}

static int finish(struct logger *l, struct tacho_recorder *rec)
{
	struct tacho_recorder_stats s;
	struct tacho_diag d = { 0 };
	int err = tacho_recorder_finish(rec, &s, &d);

	if (s.lost)
		tacho_observer_note(l->observer, "%" PRIu64 " events were lost: the buffers were "
				    "full; -k makes them larger", s.lost);
	return err ? keep(l, &d, err) : 0;
}

static int log_linear(struct logger *l)
{
	struct tacho_recorder_config cfg;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	int err, end;

	config_of(l, &cfg);
	err = tacho_recorder_new(&rec, &cfg, &d);
	if (err)
		return keep(l, &d, err);
	while (err >= 0 && !is_stopped(l) && runs(l) && !time_is_up(l) &&
	       !logger_has_enough(l, rec)) {
		err = tacho_recorder_step(rec, STEP_MS, &d);
		flush_if_due(l);
	}
	logger_end_trial(l);
	stop(l);
	end = finish(l, rec);
	return err < 0 ? keep(l, &d, err) : end;
}

static int log_ring(struct logger *l)
{
	struct tacho_recorder_config cfg;
	struct qnx_state *s = l->q.state;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	int err;

	while (!is_stopped(l) && runs(l) && !time_is_up(l))
		(void)tacho_futex_wait(&s->changes, tacho_load_acquire(&s->changes), WAIT_NS);
	stop(l);
	config_of(l, &cfg);
	err = tacho_recorder_new(&rec, &cfg, &d);
	return err ? keep(l, &d, err) : finish(l, rec);
}

/* ---- the output ---- */

/* "-" and a FIFO get the file when it is whole. */
static int copy_out(const char *from, const char *out, struct tacho_diag *d)
{
	FILE *in = fopen(from, "rbe"), *to = strcmp(out, "-") ? fopen(out, "wbe") : stdout;
	char room[65536];
	size_t n;
	int err = 0;

	if (!in || !to)
		err = tacho_diag(d, -errno, 0, "cannot open '%s': %s", in ? out : from,
				 strerror(errno));
	while (!err && (n = fread(room, 1, sizeof(room), in)) > 0)
		if (fwrite(room, 1, n, to) != n)
			err = tacho_diag(d, -errno, 0, "cannot write to '%s': %s", out,
					 strerror(errno));
	if (!err && ferror(in))
		err = tacho_diag(d, -errno, 0, "cannot read '%s': %s", from, strerror(errno));
	if (!err && fflush(to))
		err = tacho_diag(d, -errno, 0, "cannot write to '%s': %s", out, strerror(errno));
	if (in)
		(void)fclose(in);
	if (to && to != stdout)
		(void)fclose(to);
	return err;
}

static int put_file(struct logger *l, const char *file)
{
	struct qnx_logger_options const *o = l->opt;
	int err;

	if (!l->stream)
		return rename(file, o->output) ?
		       tacho_diag(l->d, -errno, 0, "cannot make '%s' of '%s': %s", o->output,
				  file, strerror(errno)) : 0;
	err = copy_out(file, o->output, l->d);
	(void)unlink(file);
	return err;
}

void logger_log(const struct logger *l, struct tacho_qnx_log *log, const char *out)
{
	const struct qnx_logger_options *o = l->opt;

	*log = (struct tacho_qnx_log){
		.trace = l->result->trace, .out = out, .name = o->output, .state = l->q.state,
		.attr = o->attr, .nr_attrs = o->nr_attrs, .max_bytes = l->max_bytes,
		.newest = l->ring,
	};
}

static int convert(struct logger *l)
{
	const struct qnx_logger_options *o = l->opt;
	struct tacho_qnx_log log;
	int err;

	(void)unlink(l->file);
	logger_log(l, &log, l->file);
	err = tacho_qnx_log_write(&log, l->d);
	if (!err)
		err = put_file(l, l->file);
	l->result->not_written = err;
	if (!err && o->verbose)
		tacho_observer_note(l->observer, "%" PRIu64 " events, %" PRIu64 " bytes%s",
				    log.events, log.bytes, log.full ? ": the limit" : "");
	return err;
}

/* Where the trace is recorded, and the file made: beside the output, if that is a file. */
static int place(struct logger *l)
{
	const char *out = l->opt->output, *base = out, *tmp = getenv("TMPDIR");
	char room[PATH_MAX], *dir = l->result->trace;
	struct stat st;

	l->stream = !strcmp(out, "-") || (!stat(out, &st) && !S_ISREG(st.st_mode));
	if (l->stream && strcmp(out, "-") && S_ISDIR(st.st_mode))
		return tacho_diag(l->d, -EISDIR, 0, "'%s' is a directory", out);
	if (l->stream) {
		(void)snprintf(room, sizeof(room), "%s/tracelogger-%d",
			       tmp && *tmp ? tmp : "/tmp", (int)getpid());
		base = room;
	}
	if (snprintf(dir, PATH_MAX, "%s.tacho", base) >= PATH_MAX ||
	    snprintf(l->file, sizeof(l->file), "%s.new", base) >= (int)sizeof(l->file))
		return tacho_diag(l->d, -ENAMETOOLONG, 0, "the name of the output is too long");
	if (!lstat(dir, &st))
		return tacho_diag(l->d, -EEXIST, 0, "'%s' is what a logger left that was killed; "
				  "'tacho convert %s -o x.kev' makes a file of it: do so, or "
				  "remove it", dir, dir);
	return 0;
}

/* From START on, or at once. */
static int log_and_write(struct logger *l)
{
	int err = 0;

	if (l->opt->daemon && !wait_for_start(l))
		return l->d->err;
	l->began = l->flushed = now();
	err = l->ring ? log_ring(l) : log_linear(l);
	return err < 0 ? err : convert(l);
}

int qnx_logger_run(const struct qnx_logger_options *o, const struct tacho_observer *observer,
		   struct qnx_logger_result *result, struct tacho_diag *d)
{
	struct logger *l = calloc(1, sizeof(*l));
	int err, end;

	*result = (struct qnx_logger_result){ .not_written = false };
	if (!l)
		return tacho_no_memory(d);
	l->opt = o;
	l->observer = observer;
	l->result = result;
	l->d = d;
	l->max_bytes = o->max_bytes;
	if (o->iterations && (!l->max_bytes || o->iterations * QNX_BUFFER_SIZE < l->max_bytes))
		l->max_bytes = o->iterations * QNX_BUFFER_SIZE;
	err = place(l);
	if (!err)
		err = arm(l);
	if (!err)
		err = log_and_write(l);
	end = disarm(l);
	free(l);
	return err < 0 ? err : end;
}
