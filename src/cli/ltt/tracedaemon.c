// SPDX-License-Identifier: MIT
/*
 * tracedaemon - records the running kernel as LTT's daemon did, with its options.
 *
 * It is three steps: which tracepoints are LTT's events that are wanted (fmt/ltt/map.h) and
 * which events of programs (face/ltt/tracer.h), `tacho record` of those, and LTT files of what
 * was recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/stdout.h"
#include "face/ltt/tracer.h"
#include "fmt/ltt/describe.h"
#include "fmt/ltt/map.h"
#include "fmt/ltt/write.h"
#include "kernel/tracefs.h"
#include "stream/stream.h"

#define NAME_ROOM	4200
#define TABLE_MAX	((size_t)64 << 20)
/* Always in both masks. */
#define FORCED	(LTT_FORCED | TRACE_EVENT_BIT(TRACE_BUFFER_END))

static const char usage[] =
	"usage: tracedaemon [OPTIONS] TRACE [PROCFILE]\n\n"
	"Records the running kernel, and events of programs as custom events, into TRACE: a\n"
	"directory with a file of the Linux Trace Toolkit for each CPU.  Ends at SIGTERM,\n"
	"SIGINT, or after the time given.  Names of processes go to PROCFILE, too.\n\n"
	"Options have their value glued on: -eSCHED -ts10\n\n"
	"  -d          the default: all events, with their details (the default)\n"
	"  -eNAME      only this event, without its details; repeat it\n"
	"  -DNAME      only this event, with its details; repeat it.  Names: SYS_ENTRY\n"
	"              SYS_EXIT TRAP_ENTRY TRAP_EXIT IRQ_ENTRY IRQ_EXIT SCHED KTIMER SIRQ\n"
	"              PROCESS FS TIMER MEM SOCKET IPC NET NEWEV CSTM HEARTBEAT; CORE is\n"
	"              the first seven\n"
	"  -PN         only while this process runs\n"
	"  -o          times in microseconds, not in nanoseconds in the place of the TSC\n"
	"  -bN         bytes of a buffer in the files (default: 131072)\n"
	"  -nN         so many of them in memory for each CPU (default: 32)\n"
	"  -tsN -tuN   end after N seconds, microseconds\n"
	"  -f -c       accepted: buffers have no locks, each file is one CPU's\n"
	"  -k          start a flight recorder: it keeps the newest in memory, in the\n"
	"              background; TRACE names it\n"
	"  -j          write what that flight recorder holds to TRACE; without it, what the\n"
	"              one holds that a program has started\n"
	"  -q          end it\n"
	"  -v          say what runs\n"
	"  -h, --help  this text\n"
	"  -V, --version\n";

enum action { RECORD, FLIGHT_START, FLIGHT_SNAPSHOT, FLIGHT_STOP, STATUS };

struct daemon {
	enum action action;
	const char *trace, *proc;
	trace_event_mask events, details;
	bool chosen;		/* some of them, not all */
	bool us;
	uint64_t buffer, buffers, run_us;
	const char *pid;
	char tacho[NAME_ROOM];
	char native[NAME_ROOM];	/* what tacho records into */
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

/* ---- options ----------------------------------------------------------------------- */

static int take_event(struct daemon *d, const char *name, bool details)
{
	int id = tacho_ltt_id_of(name);
	trace_event_mask bits = id == -2 ? LTT_CORE_MASK : TRACE_EVENT_BIT(id & 63);

	if (id == -1) {
		(void)fail("there is no event '%s'; see tracedaemon --help", name);
		return 2;
	}
	if (!d->chosen)
		d->events = d->details = FORCED;
	d->chosen = true;
	/* an event that was made must be told */
	if (id == TRACE_CUSTOM)
		bits |= TRACE_EVENT_BIT(TRACE_NEW_EVENT);
	d->events |= bits;
	if (details)
		d->details |= bits;
	return 0;
}

static int take_number(const char *option, const char *text, uint64_t max, uint64_t *to)
{
	if (!tacho_parse_u64(text, 1, max, to))
		return 0;
	(void)fail("-%s wants a number glued on, not '%s'", option, text);
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
	uint64_t v;

	switch (arg[1]) {
	case 'd': d->chosen = false; return 0;
	case 'e': return take_event(d, arg + 2, false);
	case 'D': return take_event(d, arg + 2, true);
	case 'P':
		d->pid = arg + 2;
		return take_number("P", arg + 2, INT32_MAX, &v);
	case 'o': d->us = true; return 0;
	case 'b': return take_number("b", arg + 2, LTT_BUFFER_MAX, &d->buffer);
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
			(void)fail("'%s' is too much", argv[i]);
			return 2;
		}
	}
	if (!d->chosen)
		d->events = d->details = TRACE_EVENT_MASK_ALL;
	if (!d->chosen && d->action == FLIGHT_START)
		d->events = d->details = LTT_FLIGHT_MASK | FORCED;
	if (d->buffer && (d->buffer < 4096 || d->buffer % 1024))
		return refuse("-b", "a buffer has 4096 bytes or more, in steps of 1024");
	if (!d->trace && d->action != STATUS)
		return refuse("where to?", "tracedaemon [OPTIONS] TRACE [PROCFILE]");
	if (d->proc && (d->action == FLIGHT_START || d->action == FLIGHT_STOP))
		return refuse(d->proc, "names of processes come with a snapshot: -j TRACE PROCFILE");
	return -1;
}

/* ---- recording ---------------------------------------------------------------------- */

/* The tacho beside this program, or the one in PATH. */
static void find_tacho(struct daemon *d)
{
	ssize_t n = readlink("/proc/self/exe", d->tacho, sizeof(d->tacho) - 8);
	char *slash;

	if (n > 0) {
		d->tacho[n] = '\0';
		slash = strrchr(d->tacho, '/');
		strcpy(slash + 1, "tacho");
		if (!access(d->tacho, X_OK))
			return;
	}
	strcpy(d->tacho, "tacho");
}

/* What is recorded, as `tacho record` takes it. */
struct lists {
	struct tacho_buf kernel, programs;
};

static bool has_event(int events, const struct tacho_ltt_map *m)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s/format", m->system, m->name);
	return !faccessat(events, path, F_OK, 0);
}

/* "sched:sched_switch,...": the tracepoints of this kernel that make the events. */
static int list_kernel(const struct daemon *d, struct tacho_buf *list)
{
	struct tacho_diag diag = { 0 };
	struct tacho_tracefs t;
	int events;

	if (tacho_tracefs_open(&t, 0, &diag))
		return fail("%s", diag.text);
	events = openat(t.dirfd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tacho_tracefs_close(&t);
	if (events < 0)
		return fail("cannot open the kernel's events: %s", strerror(errno));
	for (const struct tacho_ltt_map *m = tacho_ltt_maps; m->system; m++)
		if (d->events >> m->id & 1 && has_event(events, m))
			tacho_buf_printf(list, "%s%s:%s", list->len ? "," : "", m->system,
					 m->name);
	close(events);
	return 0;
}

/* "*:*,!ltt:*,ltt:custom,...": the events of programs, LTT's own by the masks. */
static void list_programs(const struct daemon *d, struct tacho_buf *list)
{
	const struct ltt_masks masks = { d->events, d->details };
	struct ltt_rules rules;

	ltt_rules_of(&rules, &masks);
	if (d->events >> TRACE_CUSTOM & 1)
		tacho_buf_puts(list, "*:*");
	for (uint32_t i = 0; i < rules.n; i++)
		if (rules.enable[i] || list->len)
			tacho_buf_printf(list, "%s%s%s", list->len ? "," : "",
					 rules.enable[i] ? "" : "!", rules.glob[i]);
}

static __attribute__((noreturn)) void exec_tacho(struct daemon *d, const char *const *args)
{
	sigset_t none;

	/* those that were blocked since fork() come with their own effect */
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(d->tacho, (char *const *)(uintptr_t)args);
	_exit(fail("cannot start '%s': %s", d->tacho, strerror(errno)));
}

/* Whoever waits for what this program says is not to wait for the recorder. */
static void go_behind(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	for (int i = 0; fd >= 0 && i < 3; i++)
		(void)dup2(fd, i);
}

static int lists_init(const struct daemon *d, struct lists *lists)
{
	tacho_buf_init(&lists->kernel, 65536);
	tacho_buf_init(&lists->programs, 65536);
	list_programs(d, &lists->programs);
	return list_kernel(d, &lists->kernel);
}

static void lists_release(struct lists *lists)
{
	tacho_buf_release(&lists->kernel);
	tacho_buf_release(&lists->programs);
}

/* Starts `tacho record`; its pid, or -1. */
static pid_t start(struct daemon *d, struct lists *lists, bool flight)
{
	const char *list = tacho_buf_str(&lists->kernel);
	const char *args[32] = { d->tacho, "record", "-q", "-o", d->native };
	char size[32], time[32];
	size_t n = 5;
	pid_t pid;

	if (*list) {
		args[n++] = "-k";
		args[n++] = list;
	}
	args[n++] = "-e";
	args[n++] = tacho_buf_str(&lists->programs);
	if (flight)
		args[n++] = "--flight";
	if (d->pid) {
		args[n++] = "-p";
		args[n++] = d->pid;
	}
	if (d->run_us) {
		(void)snprintf(time, sizeof(time), "%" PRIu64 "us", d->run_us);
		args[n++] = "--duration";
		args[n++] = time;
	}
	(void)snprintf(size, sizeof(size), "%" PRIu64, (d->buffer ? d->buffer : 131072) *
		       (d->buffers ? d->buffers : 32));
	args[n++] = "--kernel-buffer";
	args[n++] = size;
	pid = fork();
	if (!pid) {
		if (flight)
			go_behind();
		exec_tacho(d, args);
	}
	return pid;
}

static volatile sig_atomic_t child;

/* Whoever ends this program ends the recording; it is made into files then. */
static void pass_on(int sig)
{
	(void)sig;
	if (child > 0)
		(void)kill(child, SIGINT);
}

static int wait_for(pid_t pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fail("cannot wait for tacho: %s", strerror(errno));
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return fail("%s failed", what);
}

/* ---- files ----------------------------------------------------------------------------- */

/* Parents are not in a recording; those that still live are asked. */
static int parent_of(int32_t pid)
{
	char path[64], state;
	int ppid = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c %d", &state, &ppid) != 2)
		ppid = 0;
	(void)fclose(f);
	return ppid;
}

/* " 14:  12  34  IO-APIC  14-edge  ata_piix": the last word is who has it. */
static void list_irqs(struct tacho_buf *out)
{
	char line[1024];
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *end, *name;
		long irq = strtol(line, &end, 10);

		line[strcspn(line, "\n")] = '\0';
		name = strrchr(line, ' ');
		if (end > line && *end == ':' && name && name[1])
			tacho_buf_printf(out, "IRQ: %ld; NAME: %s\n", irq, name + 1);
	}
	if (f)
		(void)fclose(f);
}

static int write_file(const char *path, const struct tacho_buf *text)
{
	FILE *f = fopen(path, "we");
	bool bad = !f || fwrite(text->data, 1, text->len, f) != text->len;

	if ((f && fclose(f)) || bad)
		return fail("cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int write_names(const struct daemon *d, struct tacho_stream *s,
		       struct tacho_ltt_writer *w)
{
	const struct tacho_facts *f = &tacho_stream_source(s, 0)->facts;
	struct tacho_diag diag = { 0 };
	struct tacho_buf proc;
	int ret = 0;

	tacho_buf_init(&proc, TABLE_MAX);
	(void)tacho_stream_comm(s, 0, NULL);	/* brings them in order */
	for (size_t i = 0; i < f->nr_tasks; i++)
		if (f->task[i].pid > 0)
			tacho_buf_printf(&proc, "PID: %d; PPID: %d; NAME: %.16s\n",
					 f->task[i].pid, parent_of(f->task[i].pid),
					 f->task[i].comm);
	list_irqs(&proc);
	if (tacho_buf_error(&proc))
		ret = fail("out of memory");
	else if (tacho_ltt_writer_text(w, "proc", proc.data, proc.len, &diag))
		ret = fail("%s", diag.text);
	else if (d->proc)
		ret = write_file(d->proc, &proc);
	tacho_buf_release(&proc);
	return ret;
}

static int copy(struct daemon *d, struct tacho_stream *s, struct tacho_ltt_writer *w,
		uint64_t *lost)
{
	struct tacho_diag diag = { 0 };
	struct tacho_record r;
	int status, err = 0;

	while (!err && (status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD) {
		*lost += r.lost;
		if (r.lost && d->events >> TRACE_CUSTOM & 1)
			err = tacho_ltt_writer_lost(w, &r, &diag);
		if (!err)
			err = tacho_ltt_writer_record(w, &r, &diag);
	}
	if (err)
		return fail("%s", diag.text);
	if (status == TACHO_STREAM_ERROR)
		return fail("%s", tacho_stream_error(s)->text);
	return write_names(d, s, w);
}

/* The LTT trace of a recording. */
static int convert(struct daemon *d, const char *from, bool flight)
{
	struct tacho_ltt_config config = { .us = d->us, .flight = flight,
		.event_mask = d->events, .details_mask = d->details,
		.buffer_size = (uint32_t)d->buffer };
	struct tacho_ltt_written written;
	struct tacho_ltt_writer *w;
	struct tacho_diag diag = { 0 };
	struct tacho_error error;
	struct tacho_stream *s;
	uint64_t lost = 0;
	int ret;

	if (tacho_stream_open(&s, from, 0, &error))
		return fail("%s", error.text);
	config.stream = s;
	if (tacho_ltt_writer_new(&w, d->trace, &config, &diag)) {
		tacho_stream_close(s);
		return fail("%s", diag.text);
	}
	ret = copy(d, s, w, &lost);
	if (tacho_ltt_writer_close(w, !ret, &written, &diag) && !ret)
		ret = fail("%s", diag.text);
	tacho_stream_close(s);
	if (!ret)
		fprintf(stderr, "tracedaemon: %" PRIu64 " events of the kernel, %" PRIu64
			" by LTT's calls, %" PRIu64 " others carried as custom events, %"
			PRIu64 " lost: '%s'\n", written.mapped, written.own, written.embedded,
			lost, d->trace);
	return ret;
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

/* A signal that comes while the recorder is being started is for it, too. */
static int start_and_wait(struct daemon *d, struct lists *lists)
{
	struct sigaction sa = { .sa_handler = pass_on };
	sigset_t ends, was;

	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &ends, &was);
	child = start(d, lists, false);
	(void)sigprocmask(SIG_SETMASK, &was, NULL);
	return child < 0 ? fail("cannot fork: %s", strerror(errno)) : wait_for(child, "tacho record");
}

static int record(struct daemon *d)
{
	struct lists lists;
	int ret = is_free(d->trace);

	if (ret)
		return ret;
	(void)snprintf(d->native, sizeof(d->native), "%s.tacho", d->trace);
	ret = is_free(d->native);
	if (ret)
		return ret;
	ret = lists_init(d, &lists);
	if (!ret)
		ret = start_and_wait(d, &lists);
	if (!ret)
		ret = convert(d, d->native, false);
	if (!ret)
		remove_native(d->native);
	lists_release(&lists);
	return ret;
}

/* ---- the flight recorder ------------------------------------------------------------------ */

/* Its directory and the file with its pid are named by TRACE. */
static void flight_names(struct daemon *d, char *pid_file)
{
	(void)snprintf(d->native, sizeof(d->native), "%s.flight", d->trace);
	(void)snprintf(pid_file, NAME_ROOM, "%s.flight.pid", d->trace);
}

/*
 * The recorder has inherited the lock on the file: one without it was left by a recorder that is
 * no more, and its number may be anybody's.
 */
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

	while (list && (e = readdir(list)))
		max = atoi(e->d_name) > max ? atoi(e->d_name) : max;
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

/* Whether it is the child's session, and records: a recorder begins with the kernel's events. */
static int is_childs(const char *name, const char *path, void *arg)
{
	struct tacho_session s;
	bool yes;

	(void)path;
	if (tacho_session_open(&s, arg, name, NULL))
		return 0;
	yes = s.view.ctl->owner == child &&
	      tacho_load_acquire(&s.view.ctl->state) == TACHO_STATE_RECORDING;
	tacho_session_close(&s);
	return yes;
}

/* Whether the child records, or is dead. */
static bool is_ready(const char *trace)
{
	struct tacho_dir dir;
	bool yes;

	(void)trace;
	if (waitpid(child, NULL, WNOHANG) == child)
		child = 0;
	if (!child)
		return true;
	if (tacho_dir_open(&dir, false, NULL))
		return false;
	yes = tacho_sessions_each(&dir, is_childs, &dir) == 1;
	tacho_dir_close(&dir);
	return yes;
}

/* Notes the recorder's pid, and waits until it records. */
static int flight_wait(int fd)
{
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)child) < 0)
		return fail("cannot note the flight recorder's process: %s", strerror(errno));
	if (!comes_true(is_ready, NULL) || !child)
		return fail("the flight recorder does not start; 'tacho record --flight' says "
			    "why");
	return 0;
}

static int flight_start(struct daemon *d)
{
	char pid_file[NAME_ROOM];
	struct lists lists;
	int fd, ret;

	flight_names(d, pid_file);
	ret = is_free(d->native);
	if (ret)
		return ret;
	fd = flight_lock(pid_file);
	if (fd < 0)
		return 1;
	ret = lists_init(d, &lists);
	if (!ret)
		child = start(d, &lists, true);
	if (!ret && child < 0)
		ret = fail("cannot fork: %s", strerror(errno));
	if (!ret)
		ret = flight_wait(fd);
	if (ret && child > 0)
		(void)kill(child, SIGTERM);
	if (ret)
		(void)unlink(pid_file);
	close(fd);
	lists_release(&lists);
	return ret;
}

/* ---- the one that programs start (ltt/tracer.h) ---- */

static int take_masks(struct ltt_tracer *t, struct tacho_session *s, void *arg)
{
	struct daemon *d = arg;
	struct ltt_masks m;

	if (strcmp(s->name, LTT_FLIGHT_SESSION) != 0)
		return 0;
	ltt_trace_masks(t, s, &m);
	d->events = m.events;
	d->details = m.details;
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

static int programs_snapshot(struct daemon *d)
{
	const char *args[] = { d->tacho, "snapshot", "-o", d->native, LTT_FLIGHT_SESSION, NULL };
	pid_t pid;
	int ret;

	(void)snprintf(d->native, sizeof(d->native), "%s.tacho", d->trace);
	ret = is_free(d->native);
	if (ret)
		return ret;
	pid = fork();
	if (!pid) {
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		exec_tacho(d, args);
	}
	ret = pid < 0 ? fail("cannot fork: %s", strerror(errno)) :
			wait_for(pid, "tacho snapshot");
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

static int act(struct daemon *d)
{
	const char *args[] = { d->tacho, "status", NULL };

	switch (d->action) {
	case FLIGHT_START: return flight_start(d);
	case FLIGHT_SNAPSHOT: return flight_snapshot(d);
	case FLIGHT_STOP: return flight_stop(d);
	case STATUS: exec_tacho(d, args);
	case RECORD:
	default: return record(d);
	}
}

int main(int argc, char **argv)
{
	struct daemon d = { .action = RECORD };
	int ret = parse(&d, argc, argv);
	const char *why;

	if (ret < 0) {
		find_tacho(&d);
		ret = act(&d);
	}
	why = cli_stdout_end();
	return why ? fail("cannot write to stdout: %s", why) : ret;
}
