// SPDX-License-Identifier: MIT
/*
 * lkstlogd - write the events to files, all the time or when told to (specification 4.7.3.3.1).
 *
 * The parent makes the buffers, pumps the kernel's events, and takes the signals; a child
 * for each CPU owns its read queue and its file, and is told by signals of its own:
 *
 *	parent		children
 *	USR1		USR1	write, or write no more
 *	USR2		USR2	the next file
 *	HUP		TERM	and all is begun anew
 *	TERM, INT	TERM
 *
 * A child that does not write leaves the queue alone: the buffers go round, and what they
 * hold when writing begins comes first.  One that ends writing has its CPU shifted, so that
 * the file has all until then.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "base/atomic.h"
#include "cli/lkst/show.h"
#include "face/lkst/pump.h"
#include "fmt/lkst/log.h"

#define CONFIG		"/etc/sysconfig/lkstlogd"
#define PID_FILE	"/var/run/lkstlogd.pid"
#define LOG_DIR		"/var/log/lkst"
#define LOG_NAME	LOG_DIR "/sebuf"
#define ARGS_MAX	64
#define AT_ONCE		4096
#define WAIT_MS		200

struct options {
	uint64_t size, limit, number;
	const char *name;	/* -f: sebuf's path without CPU and serial */
	const char *pid_file, *config;
	bool writing;		/* -a */
	bool foreground;
};

static volatile sig_atomic_t got_usr1, got_usr2, got_hup, got_term;
static bool in_background;

static void on_signal(int sig)
{
	switch (sig) {
	case SIGUSR1:
		got_usr1 = 1;
		break;
	case SIGUSR2:
		got_usr2 = 1;
		break;
	case SIGHUP:
		got_hup = 1;
		break;
	default:
		got_term = 1;
	}
}

/* stderr is gone in the background: the system's log is read instead. */
__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (in_background)
		syslog(LOG_ERR, "%s", text);
	else
		(void)tool_fail(0, "%s", text);
}

/* ---- one CPU: the child ---- */

struct child {
	struct tacho_lkst l;
	const struct options *o;
	int cpu;
	unsigned int serial;
	bool writing, failed;
	struct lkst_log_writer *w;
};

static void file_name(const struct child *c, unsigned int serial, char *to, size_t size)
{
	(void)snprintf(to, size, "%s%d.%u", c->o->name, c->cpu, serial);
}

/* Files of daemons before this one stay. */
static unsigned int first_serial(const struct child *c)
{
	char path[PATH_MAX];
	unsigned int serial = 0;

	do
		file_name(c, serial++, path, sizeof(path));
	while (!access(path, F_OK));
	return serial - 1;
}

static int open_file(struct child *c)
{
	const struct tacho_control *ctl = c->l.session.view.ctl;
	struct lkst_log_config cfg = { .limit = c->o->limit, .freq = ctl->clock_freq,
				       .tsc = ctl->start.ticks, .uuid = ctl->uuid,
				       .realtime = ctl->start.realtime };
	char arch[LKST_ARCH_NAME_LEN], path[PATH_MAX];
	struct tacho_diag d = { 0 };
	struct tacho_buf types;
	struct timeval tv;
	lkst_cpu_freq_t freq;
	lkst_tsc_t tsc;
	int big, ver, err;

	tacho_lkst_base(&c->l, &tv, &tsc, &freq, &big, &ver, arch);
	cfg.arch = arch;
	tacho_buf_init(&types, LKST_TYPES_TEXT_MAX);
	(void)tacho_lkst_etypes(&c->l, &types);
	cfg.types = types.data;
	cfg.types_len = types.len;
	file_name(c, c->serial, path, sizeof(path));
	err = lkst_log_create(&c->w, path, &cfg, &d);
	tacho_buf_release(&types);
	if (err) {
		say("%s", d.text);
		c->w = NULL;
	}
	return err;
}

static void close_file(struct child *c)
{
	struct tacho_diag d = { 0 };

	if (c->w && lkst_log_close(c->w, &d))
		say("%s", d.text);
	c->w = NULL;
}

/* A disk that is full is said once, and tried again: what was lost meanwhile the file says. */
static void write_some(struct child *c, const struct lkst_record *r, size_t n)
{
	struct tacho_diag d = { 0 };
	int err = lkst_log_write(c->w, (uint32_t)c->cpu, c->l.state->cpu[c->cpu].read_buf, r, n,
				 0, &d);

	if (err && !c->failed)
		say("%s", d.text);
	c->failed = err != 0;
}

/* All that is in the queue now. */
static void drain(struct child *c)
{
	static struct lkst_record some[AT_ONCE];
	struct tacho_diag d = { 0 };
	ssize_t n;

	if (!c->w && open_file(c)) {
		c->writing = false;
		return;
	}
	while ((n = tacho_lkst_read_records(&c->l, some, AT_ONCE, getpid())) > 0)
		write_some(c, some, (size_t)n);
	if (lkst_log_flush(c->w, &d) && !c->failed) {
		say("%s", d.text);
		c->failed = true;
	}
}

static void drain_to_now(struct child *c)
{
	(void)tacho_lkst_buffer_shift(&c->l, c->cpu);
	drain(c);
}

static int child_loop(struct child *c)
{
	while (!got_term && getppid() != 1) {
		uint32_t seen = tacho_load_acquire(&c->l.state->wake);

		if (got_usr1) {
			got_usr1 = 0;
			if (c->writing) {
				drain_to_now(c);
				close_file(c);
			}
			c->writing = !c->writing;
		}
		if (got_usr2) {
			got_usr2 = 0;
			if (c->w)
				drain_to_now(c);
			close_file(c);
			c->serial++;
			if (c->writing)
				drain(c);
		}
		if (c->writing)
			drain(c);
		if (!got_term && !got_usr1 && !got_usr2)
			tacho_lkst_wait(&c->l, seen, WAIT_MS);
	}
	if (c->writing)
		drain_to_now(c);
	close_file(c);
	return TOOL_OK;
}

/* In the child, which the parent's death ends. */
static int run_child(const struct options *o, int cpu)
{
	struct lkst_buffer_srmodparam p = { .cpu = cpu, .mode = LKST_READ_MODE_STD };
	const struct tacho_lkst_config look = { .look = true };
	struct child c = { .o = o, .cpu = cpu, .writing = o->writing };
	struct tacho_diag d = { 0 };
	int err;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (tacho_lkst_open(&c.l, &look, &d)) {
		say("%s", d.text);
		return TOOL_FAILED;
	}
	err = tacho_lkst_setrmod(&c.l, &p, getpid());
	if (err) {
		say(err == -EBUSY ? "the read queue of CPU %d is another process's" :
		    "cannot read the queue of CPU %d", cpu);
		return TOOL_FAILED;
	}
	c.serial = first_serial(&c);
	err = child_loop(&c);
	tacho_lkst_unset_rmod(&c.l, getpid());
	tacho_lkst_close(&c.l);
	return err;
}

/* ---- the parent ---- */

struct daemon {
	const struct options *o;
	struct tacho_lkst l;
	struct tacho_lkst_pump *pump;
	pid_t child[LKST_CPU_MAX];
	int32_t first;		/* buffers first .. first + number - 1 are ours */
};

/* A ring of buffers on every CPU, which is gone on in. */
static int make_buffers(struct daemon *d)
{
	uint64_t n = d->o->number;
	int32_t id[LKST_BUFFER_MAX];
	int err = 0;

	for (uint64_t i = 0; !err && i < n; i++) {
		struct lkst_buffer_param p = { .id = LKST_BUFFER_ID_VOID, .cpu = -1,
					       .next = LKST_BUFFER_ID_VOID, .size = d->o->size };

		err = tacho_lkst_buffer_create(&d->l, &p);
		id[i] = p.id;
	}
	if (err)
		return tool_failed(err, "make %llu buffers of %llu bytes",
				   (unsigned long long)n, (unsigned long long)d->o->size);
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++)
		for (uint64_t i = 0; n > 1 && i < n; i++) {
			const struct lkst_buffer_linkparam p = { cpu, id[i], id[(i + 1) % n] };

			(void)tacho_lkst_buffer_link(&d->l, &p);
		}
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++) {
		const struct lkst_buffer_jumpparam p = { cpu, id[0] };

		(void)tacho_lkst_buffer_jump(&d->l, &p);
	}
	d->first = id[0];
	return TOOL_OK;
}

static void remove_buffers(struct daemon *d)
{
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++) {
		const struct lkst_buffer_jumpparam p = { cpu, 0 };

		(void)tacho_lkst_buffer_jump(&d->l, &p);
	}
	for (uint64_t i = 0; i < d->o->number; i++) {
		const struct lkst_buffer_delparam p = { -1, d->first + (int32_t)i };

		(void)tacho_lkst_buffer_delete(&d->l, &p);
	}
}

static int start_child(struct tacho_lkst *l, int cpu, void *arg)
{
	struct daemon *d = arg;
	pid_t pid;

	(void)l;
	if (cpu >= LKST_CPU_MAX)
		return TOOL_OK;
	(void)fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(run_child(d->o, cpu));
	if (pid < 0)
		return tool_failed(-errno, "start the child of CPU %d", cpu);
	d->child[cpu] = pid;
	return TOOL_OK;
}

static void tell_children(struct daemon *d, int sig)
{
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++)
		if (d->child[cpu])
			(void)kill(d->child[cpu], sig);
}

/* One that died otherwise than by our wish is started again. */
static void look_after_children(struct daemon *d, bool again)
{
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++) {
		int status;

		if (!d->child[cpu] || waitpid(d->child[cpu], &status, WNOHANG) != d->child[cpu])
			continue;
		d->child[cpu] = 0;
		if (!again || (WIFEXITED(status) && WEXITSTATUS(status)))
			continue;
		say("the child of CPU %d died; it is started again", cpu);
		(void)start_child(&d->l, cpu, d);
	}
}

static void end_children(struct daemon *d)
{
	tell_children(d, SIGTERM);
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++)
		if (d->child[cpu]) {
			while (waitpid(d->child[cpu], NULL, 0) < 0 && errno == EINTR)
				;
			d->child[cpu] = 0;
		}
}

static void parent_loop(struct daemon *d)
{
	while (!got_term && !got_hup) {
		const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000 };

		if (got_usr1) {
			got_usr1 = 0;
			tell_children(d, SIGUSR1);
		}
		if (got_usr2) {
			got_usr2 = 0;
			tell_children(d, SIGUSR2);
		}
		look_after_children(d, true);
		(void)nanosleep(&pause, NULL);
	}
}

/* From the buffers to the end, or until HUP. */
static int serve(const struct options *o)
{
	struct daemon d = { .o = o };
	struct tacho_diag why = { 0 };
	int ret = tool_open(&d.l);

	if (ret)
		return ret;
	ret = make_buffers(&d);
	/* no kernel events, or somebody else pumps them: those of programs are there */
	if (!ret)
		ret = each_cpu(&d.l, start_child, &d);
	if (!ret && tacho_lkst_pump_start(&d.pump, &d.l, &why) && why.err && why.err != -EBUSY)
		say("%s", why.text);
	if (!ret)
		parent_loop(&d);
	/* what the kernel still has comes before the children's last shift */
	(void)tacho_lkst_pump_once(&d.l);
	end_children(&d);
	tacho_lkst_pump_stop(d.pump);
	remove_buffers(&d);
	tacho_lkst_close(&d.l);
	return ret;
}

/* ---- the pid file ---- */

static bool is_running(const char *path)
{
	FILE *f = fopen(path, "re");
	int pid = 0;

	if (!f)
		return false;
	if (fscanf(f, "%d", &pid) != 1)
		pid = 0;
	(void)fclose(f);
	return pid > 0 && (!kill(pid, 0) || errno == EPERM);
}

/* A daemon that was killed leaves the file: its number is nobody's. */
static int make_pid_file(const char *path)
{
	FILE *f;

	if (is_running(path))
		return tool_fail(TOOL_FAILED, "lkstlogd is running already: '%s' says so", path);
	(void)unlink(path);
	f = fopen(path, "wxe");
	if (!f)
		return tool_failed(-errno, "make '%s'", path);
	(void)fprintf(f, "%d\n", (int)getpid());
	return fclose(f) ? tool_failed(-errno, "write '%s'", path) : TOOL_OK;
}

/* ---- options ---- */

static const char help[] =
	"lkstlogd - write the events of LKST to files\n\n"
	"usage: lkstlogd [-a] [-b SIZE[K|M]] [-l SIZE[K|M]] [-n NUMBER] [-f NAME] [-F] [-hv]\n\n"
	"  -a          write from the start (else from the first SIGUSR1 on)\n"
	"  -b SIZE     of each buffer (2M)\n"
	"  -l SIZE     of a file at most (10M): then it is written from its head again\n"
	"  -n NUMBER   of buffers for each CPU (2)\n"
	"  -f NAME     of the files, to which CPU and serial number are added\n"
	"              (" LOG_NAME ")\n"
	"  -F          stay in the foreground\n"
	"  -p FILE     for the process id (" PID_FILE ")\n"
	"  -C FILE     configuration (" CONFIG "):\n"
	"              LKSTLOGDOPTION=\"...\" holds options that come before those here\n"
	"  -h, -v      print this; the version\n\n"
	"SIGUSR1 begins and ends writing, SIGUSR2 goes to the next file, SIGHUP restarts,\n"
	"SIGTERM ends.\n";

/* TOOL_OK, TOOL_USAGE, or -1: -h or -v was there. */
static int parse(struct options *o, int argc, char **argv)
{
	int c, ret = TOOL_OK;

	optind = 1;
	while (!ret && (c = tool_option(argc, argv, "ab:l:n:f:Fp:C:hv")) != -1) {
		switch (c) {
		case 'a':
			o->writing = true;
			break;
		case 'b':
			ret = tool_size(optarg, "buffer size", &o->size);
			break;
		case 'l':
			ret = tool_size(optarg, "limit", &o->limit);
			break;
		case 'n':
			ret = tool_number(optarg, "number of buffers", LKST_BUFFER_MAX - 1,
					  &o->number);
			break;
		case 'f':
			o->name = optarg;
			break;
		case 'F':
			o->foreground = true;
			break;
		case 'p':
			o->pid_file = optarg;
			break;
		case 'C':
			o->config = optarg;
			break;
		case 'h':
			(void)fputs(help, stdout);
			return -1;
		case 'v':
			tool_version();
			return -1;
		default:
			return TOOL_USAGE;
		}
	}
	if (!ret && optind < argc)
		ret = tool_fail(TOOL_USAGE, "'%s' is too much; see 'lkstlogd -h'", argv[optind]);
	if (!ret && !o->number)
		ret = tool_fail(TOOL_USAGE, "at least one buffer is needed");
	return ret;
}

/*
 * LKSTLOGDOPTION="-a -l 8388608": words, which stay in *text.  How many, or -1 with a sentence.
 * '#' at the head of a line: a comment.
 */
static int config_words(const char *path, bool must, struct tacho_buf *text, char **word)
{
	char *line, *rest, *end;
	int n = 1, err = tacho_buf_read_file(text, path);

	if (err == -ENOENT && !must)
		return 1;
	if (err) {
		(void)tool_failed(err, "read '%s'", path);
		return -1;
	}
	tacho_buf_putc(text, '\0');
	for (line = strtok_r(text->data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t");
		if (strncmp(line, "LKSTLOGDOPTION=", 15))
			continue;
		line += 15;
		line += *line == '"';
		line[strcspn(line, "\"")] = '\0';
		for (char *w = strtok_r(line, " \t", &end); w && n < ARGS_MAX;
		     w = strtok_r(NULL, " \t", &end))
			word[n++] = w;
	}
	return n;
}

static int get_options(struct options *o, struct tacho_buf *text, int argc, char **argv)
{
	char *word[ARGS_MAX + 1] = { argv[0] };
	struct options said;
	int n, ret;

	*o = (struct options){ .size = 2u << 20, .limit = 10u << 20, .number = 2,
			       .name = LOG_NAME, .pid_file = PID_FILE, .config = CONFIG };
	said = *o;
	ret = parse(&said, argc, argv);	/* -C, and errors */
	if (ret)
		return ret;
	tacho_buf_reset(text);
	n = config_words(said.config, said.config != o->config && strcmp(said.config, CONFIG),
			 text, word);
	if (n < 0)
		return TOOL_FAILED;
	ret = parse(o, n, word);
	return ret ? ret : parse(o, argc, argv);
}

static int go_to_background(void)
{
	if (daemon(1, 0))
		return tool_failed(-errno, "go to the background");
	in_background = true;
	openlog(tool_name, LOG_PID, LOG_DAEMON);
	return TOOL_OK;
}

static void take_signals(void)
{
	static const int sig[] = { SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT };
	const struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(sig); i++)
		(void)sigaction(sig[i], &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct tacho_buf text;
	struct options o;
	int ret;

	tool_name = "lkstlogd";
	tacho_buf_init(&text, 65536);
	ret = get_options(&o, &text, argc, argv);
	if (ret) {
		tacho_buf_release(&text);
		return ret < 0 ? TOOL_OK : ret;
	}
	if (!strcmp(o.name, LOG_NAME))
		(void)mkdir(LOG_DIR, 0700);
	if (is_running(o.pid_file))
		ret = make_pid_file(o.pid_file);	/* says so while there is a terminal */
	if (!ret && !o.foreground)
		ret = go_to_background();
	if (!ret)
		ret = make_pid_file(o.pid_file);
	if (!ret) {
		take_signals();
		do {
			got_hup = 0;
			ret = serve(&o);
			if (got_hup && !ret)
				ret = get_options(&o, &text, argc, argv);
		} while (!ret && got_hup && !got_term);
		(void)unlink(o.pid_file);
	}
	tacho_buf_release(&text);
	return ret;
}
