// SPDX-License-Identifier: MIT
/*
 * tracedaemon - records the running kernel as LTT's daemon did, with its options.
 *
 * It is three steps: which tracepoints and which events of programs are LTT's events that are
 * wanted (compat/ltt/files.h), a recording of those (app/record.h), and LTT files of what was
 * recorded.
 *
 * The flight recorder (-k) is a child that goes on in the background.  It holds a lock on the file
 * with its pid; the file without a lock was left by one that is gone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record.h"
#include "app/session.h"
#include "app/snapshot.h"
#include "base/atomic.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/stdout.h"
#include "compat/ltt/files.h"
#include "compat/ltt/tracer.h"
#include "compat/ltt/visualize.h"

#define NAME_ROOM	4200
#define BUFFER_MAX	((uint64_t)1 << 26)	/* bytes of a buffer in the files */
/* Always in both masks. */
#define FORCED	(LTT_FORCED | TRACE_EVENT_BIT(TRACE_BUFFER_END))

static const char usage[] =
	"usage: tracedaemon [OPTIONS] TRACE [PROCFILE]\n\n"
	"Records the running kernel, and program events as custom events, into TRACE: a\n"
	"directory with a file of the Linux Trace Toolkit for each CPU.  Ends at SIGTERM,\n"
	"SIGINT, or after the given time.  Process names are also written to PROCFILE.\n\n"
	"The value of an option follows it without a blank: -eSCHED -ts10\n\n"
	"  -d          record all events, with their details (default)\n"
	"  -eNAME      record only this event, without its details; can be repeated\n"
	"  -DNAME      record only this event, with its details; can be repeated.  Names: SYS_ENTRY\n"
	"              SYS_EXIT TRAP_ENTRY TRAP_EXIT IRQ_ENTRY IRQ_EXIT SCHED KTIMER SIRQ\n"
	"              PROCESS FS TIMER MEM SOCKET IPC NET NEWEV CSTM HEARTBEAT; CORE is\n"
	"              the first seven\n"
	"  -PN         record only while this process runs\n"
	"  -o          write times in microseconds (default: nanoseconds in place of the TSC)\n"
	"  -bN         size of a buffer in the files, in bytes (default: 131072)\n"
	"  -nN         number of these buffers in memory per CPU (default: 32)\n"
	"  -tsN -tuN   stop after N seconds, microseconds\n"
	"  -f -c       accepted and ignored: buffers have no locks, there is one file per CPU\n"
	"  -k          start a flight recorder in the background: it keeps the newest events\n"
	"              in memory; TRACE is its name\n"
	"  -j          write the contents of that flight recorder to TRACE; if there is none,\n"
	"              those of the one that a program has started\n"
	"  -q          end that flight recorder\n"
	"  -v          print the status\n"
	"  -h, --help  print this help\n"
	"  -V, --version\n";

enum action { RECORD, FLIGHT_START, FLIGHT_SNAPSHOT, FLIGHT_STOP, STATUS };

struct daemon {
	enum action action;
	const char *trace, *proc;
	struct ltt_masks masks;
	bool chosen;		/* some of them, not all */
	bool us;
	uint64_t buffer, buffers, run_us;
	int32_t pid;		/* only while this process runs; 0: all */
	char native[NAME_ROOM];	/* what is recorded into */
};

static TACHO_PRINTF(1, 2) int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("tracedaemon: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static int fail_diag(const struct tacho_diag *d)
{
	return fail("%s", d->text[0] ? d->text : strerror(-d->err));
}

/* ---- options ----------------------------------------------------------------------- */

static int take_event(struct daemon *d, const char *name, bool details)
{
	trace_event_mask bits;

	if (ltt_mask_of(name, &bits)) {
		(void)fail("there is no event '%s'; see tracedaemon --help", name);
		return 2;
	}
	if (!d->chosen)
		d->masks.events = d->masks.details = FORCED;
	d->chosen = true;
	/* an event that was made must be told */
	if (bits == TRACE_EVENT_BIT(TRACE_CUSTOM))
		bits |= TRACE_EVENT_BIT(TRACE_NEW_EVENT);
	d->masks.events |= bits;
	if (details)
		d->masks.details |= bits;
	return 0;
}

static int take_number(const char *option, const char *text, uint64_t max, uint64_t *to)
{
	if (!tacho_parse_u64(text, 1, max, to))
		return 0;
	(void)fail("-%s requires a number directly after it, not '%s'", option, text);
	return 2;
}

static int take_time(struct daemon *d, const char *text)
{
	bool us = *text == 'u';
	uint64_t v;
	int ret;

	if (*text != 'u' && *text != 's') {
		(void)fail("-t: it is -tsN (seconds) or -tuN (microseconds)");
		return 2;
	}
	ret = take_number(us ? "tu" : "ts", text + 1, UINT32_MAX, &v);
	if (!ret)
		d->run_us = us ? v : v * 1000000;
	return ret;
}

static int refuse(const char *option, const char *why)
{
	(void)fail("%s: %s", option, why);
	return 2;
}

static int take_option(struct daemon *d, const char *arg)
{
	uint64_t v = 0;
	int ret;

	switch (arg[1]) {
	case 'd': d->chosen = false; return 0;
	case 'e': return take_event(d, arg + 2, false);
	case 'D': return take_event(d, arg + 2, true);
	case 'P':
		ret = take_number("P", arg + 2, INT32_MAX, &v);
		d->pid = (int32_t)v;
		return ret;
	case 'o': d->us = true; return 0;
	case 'b': return take_number("b", arg + 2, BUFFER_MAX, &d->buffer);
	case 'n': return take_number("n", arg + 2, 65536, &d->buffers);
	case 't': return take_time(d, arg + 2);
	case 'f':
	case 'c': return 0;
	case 'k': d->action = FLIGHT_START; return 0;
	case 'j': d->action = FLIGHT_SNAPSHOT; return 0;
	case 'q': d->action = FLIGHT_STOP; return 0;
	case 'v': d->action = STATUS; return 0;
	case 'l': return refuse("-l", "there is no scheme with locks");
	case 'G':
	case 'g':
	case 'u': return refuse(arg, "kernels of today choose by process only: -PN");
	case 's': return refuse(arg, "the address of a system call is not recorded");
	case 'm':
	case 'p': return refuse(arg, "the kernel's events of a recording that runs cannot be "
				"changed; end it and begin another");
	default:
		(void)fail("there is no option %s; see tracedaemon --help", arg);
		return 2;
	}
}

/* -1: go on. */
static int parse(struct daemon *d, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int ret;

		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return fputs(usage, stdout) < 0;
		if (!strcmp(argv[i], "-V") || !strcmp(argv[i], "--version"))
			return puts("tracedaemon of tacho " TACHO_VERSION) < 0;
		if (argv[i][0] == '-') {
			ret = take_option(d, argv[i]);
			if (ret)
				return ret;
		} else if (!d->trace) {
			d->trace = argv[i];
		} else if (!d->proc) {
			d->proc = argv[i];
		} else {
			(void)fail("unexpected argument '%s'", argv[i]);
			return 2;
		}
	}
	if (!d->chosen)
		d->masks.events = d->masks.details = TRACE_EVENT_MASK_ALL;
	if (!d->chosen && d->action == FLIGHT_START)
		d->masks.events = d->masks.details = LTT_FLIGHT_MASK | FORCED;
	if (d->buffer && (d->buffer < 4096 || d->buffer % 1024))
		return refuse("-b", "a buffer has 4096 bytes or more, in steps of 1024");
	if (!d->trace && d->action != STATUS)
		return refuse("where to?", "tracedaemon [OPTIONS] TRACE [PROCFILE]");
	if (d->proc && (d->action == FLIGHT_START || d->action == FLIGHT_STOP))
		return refuse(d->proc, "names of processes come with a snapshot: -j TRACE PROCFILE");
	return -1;
}

static int make_lists(const struct daemon *d, struct ltt_lists *lists)
{
	struct tacho_diag diag = { 0 };

	return ltt_lists_make(lists, &d->masks, &diag) ? fail_diag(&diag) : 0;
}

/* ---- recording ---------------------------------------------------------------------- */

static void config_of(const struct daemon *d, const struct ltt_lists *lists, bool flight,
		      struct app_record_config *config)
{
	*config = (struct app_record_config){
		.output = d->native,
		.events = lists->programs.item, .nr_events = lists->programs.nr,
		.kernel_events = lists->kernel.item, .nr_kernel_events = lists->kernel.nr,
		.pids = &d->pid, .nr_pids = d->pid ? 1 : 0,
		.clock = -1,
		.kernel_buffer_size = (d->buffer ? d->buffer : 131072) *
				      (d->buffers ? d->buffers : 32),
		.duration_ns = d->run_us * 1000,
		.flight = flight,
	};
}

static struct app_record *recording;	/* what signals are for; NULL: none */

static void on_signal(int sig)
{
	struct app_record *r = tacho_load_relaxed(&recording);

	if (r && sig == SIGUSR1)
		app_record_snapshot(r);
	else if (r)
		app_record_stop(r);
}

/* The end of this program is that of the recording; it is made into files then. */
static void catch_signals(struct app_record *r)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	struct sigaction sa = { .sa_handler = on_signal };

	tacho_store_relaxed(&recording, r);
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
}

/* A recording that has begun; *r is to be ended in any case. */
static int begin(const struct daemon *d, const struct ltt_lists *lists, bool flight,
		 struct app_record **r, struct tacho_diag *diag)
{
	struct app_record_config config;
	int err;

	config_of(d, lists, flight, &config);
	err = app_record_new(r, &config, NULL, diag);
	if (err)
		return err;
	catch_signals(*r);
	err = app_record_prepare(*r, diag);
	return err ? err : app_record_go(*r, diag);
}

/* Until it is over: then all that was recorded is in d->native. */
static int run(struct app_record *r)
{
	struct app_record_result result;
	struct tacho_diag diag = { 0 };
	int ret = 0;

	if (app_record_run(r, &diag)) {
		ret = fail_diag(&diag);
		/* until the end in memory */
		(void)app_record_run(r, &diag);
	}
	diag = (struct tacho_diag){ 0 };
	return app_record_finish(r, &result, &diag) ? fail_diag(&diag) : ret;
}

static int end(struct app_record *r)
{
	struct tacho_diag diag = { 0 };

	tacho_store_relaxed(&recording, NULL);
	return app_record_end(r, &diag) ? fail_diag(&diag) : 0;
}

/* ---- files ----------------------------------------------------------------------------- */

/* The LTT trace of a recording. */
static int convert(const struct daemon *d, const char *from, bool flight)
{
	const struct ltt_files_config config = {
		.trace = d->trace, .proc = d->proc, .masks = d->masks, .us = d->us,
		.flight = flight, .buffer_size = (uint32_t)d->buffer,
	};
	struct ltt_files_result made;
	struct tacho_diag diag = { 0 };

	if (ltt_files_write(from, &config, &made, &diag))
		return fail_diag(&diag);
	fprintf(stderr, "tracedaemon: %" PRIu64 " events of the kernel, %" PRIu64 " by LTT's "
		"calls, %" PRIu64 " others embedded as custom events, %" PRIu64 " lost: '%s'\n",
		made.mapped, made.own, made.embedded, made.lost, d->trace);
	return 0;
}

/* What was recorded on the way: all files of it, and no others. */
static void remove_native(const char *dir)
{
	DIR *list = opendir(dir);
	struct dirent *e;

	while (list && (e = readdir(list))) {
		char path[NAME_ROOM + 260];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (unlink(path) && errno == EISDIR)
			remove_native(path);
	}
	if (list)
		closedir(list);
	(void)rmdir(dir);
}

/* ---- actions ---------------------------------------------------------------------------- */

static int is_free(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 :
	       fail("'%s' exists; remove it or choose another name", path);
}

static int record_lists(const struct daemon *d, const struct ltt_lists *lists)
{
	struct tacho_diag diag = { 0 };
	struct app_record *r;
	int ret;

	if (begin(d, lists, false, &r, &diag))
		ret = fail_diag(&diag);
	else
		ret = run(r);
	return end(r) || ret;
}

static int record(struct daemon *d)
{
	struct ltt_lists lists;
	int ret = is_free(d->trace);

	if (ret)
		return ret;
	(void)snprintf(d->native, sizeof(d->native), "%s.tacho", d->trace);
	ret = is_free(d->native);
	if (ret)
		return ret;
	ret = make_lists(d, &lists);
	if (!ret)
		ret = record_lists(d, &lists);
	if (!ret)
		ret = convert(d, d->native, false);
	if (!ret)
		remove_native(d->native);
	ltt_lists_release(&lists);
	return ret;
}

/* ---- the flight recorder ------------------------------------------------------------------ */

/* Its directory and the file with its pid are named by TRACE. */
static void flight_names(struct daemon *d, char *pid_file)
{
	(void)snprintf(d->native, sizeof(d->native), "%s.flight", d->trace);
	(void)snprintf(pid_file, NAME_ROOM, "%s.flight.pid", d->trace);
}

/* Of a file without the lock the number may be anybody's. */
static pid_t flight_pid(const char *pid_file)
{
	FILE *f = fopen(pid_file, "re");
	int pid = 0;

	if (f && flock(fileno(f), LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK &&
	    fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		(void)fclose(f);
	return pid > 0 ? pid : -1;
}

/* Opens it for the recorder, locked; -1: that was told. */
static int flight_lock(const char *pid_file)
{
	int fd = open(pid_file, O_RDWR | O_CREAT, 0644);

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	(void)fail(errno == EWOULDBLOCK ? "'%s': a flight recorder runs" :
		   "cannot make '%s': %s", pid_file, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The highest number of a directory in it; 0: none. */
static int newest(const char *dir)
{
	DIR *list = opendir(dir);
	struct dirent *e;
	int max = 0;

	while (list && (e = readdir(list))) {
		const char *at = e->d_name;
		uint64_t n;

		if (!tacho_scan_digits(&at, NULL, 10, INT32_MAX, &n) && (int)n > max)
			max = (int)n;
	}
	if (list)
		closedir(list);
	return max;
}

static bool is_closed(const char *trace)
{
	char path[NAME_ROOM + 64];
	struct tacho_buf text;
	bool yes;

	(void)snprintf(path, sizeof(path), "%s/tacho/info", trace);
	tacho_buf_init(&text, 1 << 20);
	yes = !tacho_buf_read_file(&text, path) &&
	      strstr(tacho_buf_str(&text), "state: closed");
	tacho_buf_release(&text);
	return yes;
}

/* Asks every 10 ms, for 30 s at most. */
static bool comes_true(bool (*what)(const char *), const char *arg)
{
	for (int i = 0; i < 3000; i++) {
		if (what(arg))
			return true;
		(void)usleep(10000);
	}
	return false;
}

static bool is_gone(const char *pid_file)
{
	return flight_pid(pid_file) < 0;
}

/* A reader of what this program says is not to wait for the recorder. */
static void go_behind(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	for (int i = 0; fd >= 0 && i < 3; i++)
		(void)dup2(fd, i);
	if (fd > 2)
		close(fd);
}

/* The child: says to the starter, by a struct tacho_diag, whether it records, and goes on. */
static _Noreturn void be_flight_recorder(const struct daemon *d, const struct ltt_lists *lists,
					 int starter)
{
	struct tacho_diag diag = { 0 };
	struct app_record *r;
	int ret = 1;

	go_behind();
	if (begin(d, lists, true, &r, &diag) && !diag.err)
		diag.err = -EIO;
	if (write(starter, &diag, sizeof(diag)) == sizeof(diag) && !diag.err) {
		close(starter);
		ret = run(r);
	}
	_exit(end(r) || ret);
}

/* What the child says; without an answer in 30 s, that it does not. */
static void hear(int child, struct tacho_diag *diag)
{
	struct pollfd p = { .fd = child, .events = POLLIN };

	if (poll(&p, 1, 30000) == 1 && read(child, diag, sizeof(*diag)) == sizeof(*diag))
		return;
	*diag = (struct tacho_diag){ 0 };
	(void)tacho_diag(diag, -ECHILD, 0, "it does not answer");
}

/* Forks the recorder and waits until it records.  fd: of the file for its pid. */
static int flight_fork(const struct daemon *d, const struct ltt_lists *lists, int fd)
{
	struct tacho_diag diag = { 0 };
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return fail("cannot make a pipe: %s", strerror(errno));
	(void)fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		be_flight_recorder(d, lists, ends[1]);
	}
	close(ends[1]);
	if (pid < 0)
		(void)tacho_diag(&diag, -errno, 0, "cannot fork: %s", strerror(errno));
	else if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)pid) < 0)
		(void)tacho_diag(&diag, -errno, 0, "cannot note its process: %s", strerror(errno));
	else
		hear(ends[0], &diag);
	close(ends[0]);
	if (diag.err && pid > 0)
		(void)kill(pid, SIGTERM);
	return diag.err ? fail("the flight recorder does not start: %s", diag.text) : 0;
}

static int flight_start(struct daemon *d)
{
	char pid_file[NAME_ROOM];
	struct ltt_lists lists;
	int fd, ret;

	flight_names(d, pid_file);
	ret = is_free(d->native);
	if (ret)
		return ret;
	fd = flight_lock(pid_file);
	if (fd < 0)
		return 1;
	ret = make_lists(d, &lists);
	if (!ret)
		ret = flight_fork(d, &lists, fd);
	if (ret)
		(void)unlink(pid_file);
	close(fd);
	ltt_lists_release(&lists);
	return ret;
}

/* ---- the one that programs start (ltt/tracer.h) ---- */

static int take_masks(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	struct daemon *d = arg;
	if (strcmp(s->name, LTT_FLIGHT_SESSION) != 0)
		return 0;
	ltt_trace_masks(t, s, &d->masks);
	d->chosen = true;
	return 0;
}

/* Whether there is one; its masks are the trace's then. */
static bool programs_flight(struct daemon *d)
{
	struct ltt_tracer t;

	d->chosen = false;
	if (ltt_tracer_open(&t, false))
		return false;
	(void)ltt_tracer_each(&t, true, take_masks, d);
	ltt_tracer_close(&t);
	return d->chosen;
}

static int take_snapshot(const char *to)
{
	struct app_snapshot done;
	struct tacho_diag diag = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;
	int err = app_session_open(&dir, &s, LTT_FLIGHT_SESSION, &diag);

	if (!err) {
		err = app_snapshot(&s, to, true, NULL, &done, &diag);
		app_session_close(&dir, &s);
	}
	return err ? fail_diag(&diag) : 0;
}

static int programs_snapshot(struct daemon *d)
{
	int ret;

	(void)snprintf(d->native, sizeof(d->native), "%s.tacho", d->trace);
	ret = is_free(d->native);
	if (!ret)
		ret = take_snapshot(d->native);
	if (!ret)
		ret = convert(d, d->native, true);
	if (!ret)
		remove_native(d->native);
	return ret;
}

static int flight_snapshot(struct daemon *d)
{
	char pid_file[NAME_ROOM], dump[NAME_ROOM + 16];
	pid_t pid;
	int ret = is_free(d->trace);

	if (ret)
		return ret;
	flight_names(d, pid_file);
	pid = flight_pid(pid_file);
	if (pid < 0 && programs_flight(d))
		return programs_snapshot(d);
	if (pid < 0)
		return fail("no flight recorder of '%s' runs; tracedaemon -k %s begins one",
			    d->trace, d->trace);
	(void)snprintf(dump, sizeof(dump), "%s/%04d", d->native, newest(d->native) + 1);
	if (kill(pid, SIGUSR1))
		ret = fail("cannot reach the flight recorder: %s", strerror(errno));
	if (!ret && !comes_true(is_closed, dump))
		ret = fail("the flight recorder does not answer");
	return ret ? ret : convert(d, dump, true);
}

static int flight_stop(struct daemon *d)
{
	char pid_file[NAME_ROOM];
	pid_t pid;

	flight_names(d, pid_file);
	pid = flight_pid(pid_file);
	if (pid < 0)
		return fail("no flight recorder of '%s' runs", d->trace);
	(void)kill(pid, SIGTERM);
	if (!comes_true(is_gone, pid_file))
		return fail("the flight recorder (process %d) does not end", (int)pid);
	remove_native(d->native);
	(void)unlink(pid_file);
	return 0;
}

/* ---- what runs ---- */

/* The tacho beside this program, or the one in PATH, says it. */
static int status(void)
{
	char tacho[NAME_ROOM];
	ssize_t n = readlink("/proc/self/exe", tacho, sizeof(tacho) - 8);
	char *slash;

	tacho[n > 0 ? n : 0] = '\0';
	slash = strrchr(tacho, '/');
	if (slash)
		strcpy(slash + 1, "tacho");
	if (!slash || access(tacho, X_OK))
		strcpy(tacho, "tacho");
	(void)execlp(tacho, tacho, "status", (char *)NULL);
	return fail("cannot start '%s': %s", tacho, strerror(errno));
}

static int act(struct daemon *d)
{
	switch (d->action) {
	case FLIGHT_START: return flight_start(d);
	case FLIGHT_SNAPSHOT: return flight_snapshot(d);
	case FLIGHT_STOP: return flight_stop(d);
	case STATUS: return status();
	case RECORD:
	default: return record(d);
	}
}

int main(int argc, char **argv)
{
	struct daemon d = { .action = RECORD };
	int ret = parse(&d, argc, argv);
	const char *why;

	if (ret < 0)
		ret = act(&d);
	why = cli_stdout_end();
	return why ? fail("cannot write to stdout: %s", why) : ret;
}
