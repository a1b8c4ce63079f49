// SPDX-License-Identifier: MIT
/*
 * tracelogger - QNX's trace into a .kev file, with the options of the historic program.
 *
 *	arm	the buffers, the classes, the kernel's instance
 *	wait	-d1: until somebody calls TraceEvent(_NTO_TRACE_START)
 *	log	linear: what comes is recorded as a trace directory beside the output.
 *		ring: nothing, until it is stopped; then what the buffers hold
 *	end	the directory becomes the .kev
 *
 * So a logger that is killed leaves a trace that 'tacho' reads.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/output.h"
#include "base/text.h"
#include "cli/qnx/tracelogger.h"
#include "tracefs/instance.h"
#include "sys/clock.h"
#include "sys/futex.h"

#define STEP_MS		50
#define WAIT_NS		UINT64_C(200000000)

/* Set by signal handlers. */
static volatile sig_atomic_t stop_requested;

static void on_signal(int sig)
{
	(void)sig;
	stop_requested = 1;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

int logger_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("tracelogger: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static int fail_diag(const struct tacho_diag *d, int err)
{
	return logger_fail("%s", d->text[0] ? d->text : strerror(-err));
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
	const struct logger_options *o = l->opt;
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
		(void)logger_fail("no events of the kernel: %s", d.text);
		l->kernel = NULL;
		return;
	}
	/* nor what the logger forks */
	(void)tacho_kernel_set_option(l->kernel, "event-fork", true, NULL);
	(void)tacho_kernel_set_not_pids(l->kernel, &self, 1, NULL);
	if (tacho_kernel_info(l->kernel)->clock_is_tsc == tsc)
		return;
	(void)logger_fail("no events of the kernel: it has another clock, '%s'",
			  tacho_kernel_info(l->kernel)->clock);
	tacho_kernel_leave(l->kernel);
	l->kernel = NULL;
}

static int arm_buffers(struct logger *l, struct tacho_diag *d)
{
	const struct logger_options *o = l->opt;

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
		return fail_diag(&d, err);
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
	return err ? fail_diag(&d, err) : 0;
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
	return err ? fail_diag(&d, err) : 0;
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
		(void)logger_fail("waiting for TraceEvent(_NTO_TRACE_START)");
	while (!stop_requested) {
		uint32_t seen = tacho_load_acquire(&s->changes);

		/* it may be over by now: what it left is logged */
		if (tacho_load_relaxed(&s->nr_starts) != l->starts)
			return true;
		if (!tacho_qnx_has_buffers(&l->q))
			break;
		(void)tacho_futex_wait(&s->changes, seen, WAIT_NS);
	}
	if (!stop_requested)
		(void)logger_fail("another program has freed the trace buffers");
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
		.dir = l->dir, .no_kallsyms = true,
		.session = (struct tacho_session *)(uintptr_t)&l->q.session,
		.kernel = l->kernel, .clock = c->clock, .clock_freq = c->clock_freq,
		.start = c->start, .uuid = c->uuid, .command = l->args, .flight = l->ring,
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

static int finish(struct tacho_recorder *rec)
{
	struct tacho_recorder_stats s;
	struct tacho_diag d = { 0 };
	int err = tacho_recorder_finish(rec, &s, &d);

	if (s.lost)
		(void)logger_fail("%" PRIu64 " events were lost: the buffers were full; -k makes "
				  "them larger", s.lost);
	return err ? fail_diag(&d, err) : 0;
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
		return fail_diag(&d, err);
	while (err >= 0 && !stop_requested && runs(l) && !time_is_up(l) &&
	       !logger_has_enough(l, rec)) {
		err = tacho_recorder_step(rec, STEP_MS, &d);
		flush_if_due(l);
	}
	logger_end_trial(l);
	stop(l);
	end = finish(rec);
	return err < 0 ? fail_diag(&d, err) : end;
}

static int log_ring(struct logger *l)
{
	struct tacho_recorder_config cfg;
	struct qnx_state *s = l->q.state;
	struct tacho_recorder *rec;
	struct tacho_diag d = { 0 };
	int err;

	while (!stop_requested && runs(l) && !time_is_up(l))
		(void)tacho_futex_wait(&s->changes, tacho_load_acquire(&s->changes), WAIT_NS);
	stop(l);
	config_of(l, &cfg);
	err = tacho_recorder_new(&rec, &cfg, &d);
	return err ? fail_diag(&d, err) : finish(rec);
}

/* ---- the output ---- */

/* "-" and a FIFO get the file when it is whole. */
static int copy_out(const char *from, const char *out)
{
	FILE *in = fopen(from, "rbe"), *to = strcmp(out, "-") ? fopen(out, "wbe") : stdout;
	char room[65536];
	size_t n;
	int ret = 0;

	if (!in || !to)
		ret = logger_fail("cannot open '%s': %s", in ? out : from, strerror(errno));
	while (!ret && (n = fread(room, 1, sizeof(room), in)) > 0)
		if (fwrite(room, 1, n, to) != n)
			ret = logger_fail("cannot write to '%s': %s", out, strerror(errno));
	if (!ret && ferror(in))
		ret = logger_fail("cannot read '%s': %s", from, strerror(errno));
	if (!ret && fflush(to))
		ret = logger_fail("cannot write to '%s': %s", out, strerror(errno));
	if (in)
		(void)fclose(in);
	if (to && to != stdout)
		(void)fclose(to);
	return ret;
}

static int put_file(struct logger *l, const char *file)
{
	struct logger_options const *o = l->opt;
	int ret = 0;

	if (l->stream) {
		ret = copy_out(file, o->output);
		(void)unlink(file);
	} else if (rename(file, o->output)) {
		ret = logger_fail("cannot make '%s' of '%s': %s", o->output, file,
				  strerror(errno));
	}
	return ret;
}

void logger_log(const struct logger *l, struct tacho_qnx_log *log, const char *out)
{
	const struct logger_options *o = l->opt;

	*log = (struct tacho_qnx_log){
		.trace = l->dir, .out = out, .name = o->output, .state = l->q.state,
		.attr = o->attr, .nr_attrs = o->nr_attrs, .max_bytes = l->max_bytes,
		.newest = l->ring,
	};
}

static int convert(struct logger *l)
{
	const struct logger_options *o = l->opt;
	struct tacho_qnx_log log;
	struct tacho_diag d = { 0 };
	int err;

	(void)unlink(l->file);
	logger_log(l, &log, l->file);
	err = tacho_qnx_log_write(&log, &d);
	if (err)
		(void)fail_diag(&d, err);
	if (err || put_file(l, l->file))
		return logger_fail("all that was recorded is in '%s', a trace of tacho", l->dir);
	if (app_output_remove(l->dir, &d))
		return fail_diag(&d, d.err);
	if (o->verbose)
		(void)logger_fail("%" PRIu64 " events, %" PRIu64 " bytes%s", log.events, log.bytes,
				  log.full ? ": the limit" : "");
	return 0;
}

/* Where the trace is recorded, and the file made: beside the output, if that is a file. */
static int place(struct logger *l)
{
	const char *out = l->opt->output, *base = out, *tmp = getenv("TMPDIR");
	char room[PATH_MAX];
	struct stat st;

	l->stream = !strcmp(out, "-") || (!stat(out, &st) && !S_ISREG(st.st_mode));
	if (l->stream && strcmp(out, "-") && S_ISDIR(st.st_mode))
		return logger_fail("'%s' is a directory", out);
	if (l->stream) {
		(void)snprintf(room, sizeof(room), "%s/tracelogger-%d",
			       tmp && *tmp ? tmp : "/tmp", (int)getpid());
		base = room;
	}
	if (snprintf(l->dir, sizeof(l->dir), "%s.tacho", base) >= (int)sizeof(l->dir) ||
	    snprintf(l->file, sizeof(l->file), "%s.new", base) >= (int)sizeof(l->file))
		return logger_fail("the name of the output is too long");
	if (!lstat(l->dir, &st))
		return logger_fail("'%s' is what a logger left that was killed; 'tacho convert %s "
				   "-o x.kev' makes a file of it: do so, or remove it", l->dir,
				   l->dir);
	return 0;
}

int logger_run(const struct logger_options *o)
{
	struct logger *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return logger_fail("out of memory");
	l->opt = o;
	l->args = o->args;
	l->max_bytes = o->max_bytes;
	if (o->iterations && (!l->max_bytes || o->iterations * QNX_BUFFER_SIZE < l->max_bytes))
		l->max_bytes = o->iterations * QNX_BUFFER_SIZE;
	catch_signals();
	ret = place(l);
	if (!ret)
		ret = arm(l);
	if (!ret && o->daemon && !wait_for_start(l)) {
		ret = disarm(l) || !stop_requested;
		free(l);
		return ret;
	}
	l->began = l->flushed = now();
	if (!ret)
		ret = l->ring ? log_ring(l) : log_linear(l);
	if (!ret)
		ret = convert(l);
	ret = disarm(l) || ret;
	free(l);
	return ret;
}
