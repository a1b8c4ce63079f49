// SPDX-License-Identifier: MIT
/*
 * lkstlogd - write the events to files, all the time or when told to (specification 4.7.3.3.1).
 *
 * The parent makes the buffers, pumps the kernel's events, and takes the signals; a child
 * for each CPU owns its read queue and its file.  What children are to do is a word in
 * memory that they share, so that one that was killed and started again knows it, too:
 *
 *	parent		children
 *	USR1		orders.writing changes
 *	USR2		orders.serial counts on
 *	HUP		TERM, and all is begun anew
 *	TERM, INT	TERM
 *
 * A child that does not write leaves the queue alone: the buffers go round, and what they
 * hold when writing begins comes first.  One that ends writing has its CPU shifted, so that
 * the file has all until then.  No file that is there is written again: one that begins
 * takes the first serial number that is free.
 *
 * Who runs holds a lock on the pid file.  A file without one was left by a daemon that was
 * killed; so are the buffers that DIR/lkstlogd names, which are taken over with what
 * they hold.
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
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "base/atomic.h"
#include "cli/lkst/show.h"
#include "cli/out.h"
#include "compat/lkst/pump.h"
#include "fmt/lkst/log.h"

#define CONFIG		"/etc/sysconfig/lkstlogd"
#define PID_FILE	"/var/run/lkstlogd.pid"
#define LOG_DIR		"/var/log/lkst"
#define LOG_NAME	LOG_DIR "/sebuf"
#define LEFT		"lkstlogd"	/* in the run-time directory: our buffers */
#define ARGS_MAX	64
#define AT_ONCE		4096
#define WAIT_MS		200
#define CONFIG_MAX	65536

struct options {
	uint64_t size, limit, number;
	const char *name;	/* -f: sebuf's path without CPU and serial */
	const char *pid_file, *config;
	bool writing;		/* -a */
	bool foreground;
};

/* What the parent wants of its children. */
struct orders {
	uint32_t writing;
	uint32_t serial;	/* of files, at least */
	uint32_t settled;	/* children that read their queue */
};

static const int signals[] = { SIGUSR1, SIGUSR2, SIGHUP, SIGTERM, SIGINT };
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

/* The first one of the children, and the one that waits for the daemon to have started. */
static int to_starter = -1;

/*
 * The terminal and a reader of our output get them back: all that there was
 * to say of the start has been said.  From now on it goes to the system's log.
 */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (in_background)
		return;
	(void)fflush(NULL);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		(void)dup2(null, fd);
	if (null > 2)
		close(null);
	in_background = true;
	openlog(tool_name, LOG_PID, LOG_DAEMON);
}

/* stderr is gone in the background: the system's log is read instead. */
__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	char text[PATH_MAX + 300];
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
	struct orders *orders;
	int cpu;
	uint32_t order;		/* orders->serial as it was last seen */
	bool begun;		/* orders were looked at */
	bool writing, failed;
	struct lkst_log_writer *w;
	char path[PATH_MAX];	/* of w */
	/* events that are missing in it; how many that was when it was said */
	uint64_t missed, said;
};

/* What a log file is to begin with; *types is what cfg->types is of. */
static void log_config(struct tacho_lkst *l, uint64_t limit, struct lkst_log_config *cfg,
		       struct tacho_buf *types, char arch[LKST_ARCH_NAME_LEN])
{
	const struct tacho_control *ctl = l->session.view.ctl;
	struct timeval tv;
	lkst_cpu_freq_t freq;
	lkst_tsc_t tsc;
	int big, ver;

	tacho_lkst_base(l, &tv, &tsc, &freq, &big, &ver, arch);
	tacho_buf_init(types, LKST_TYPES_TEXT_MAX);
	(void)tacho_lkst_etypes(l, types);
	*cfg = (struct lkst_log_config){
		.limit = limit, .freq = ctl->clock_freq, .tsc = ctl->start.ticks,
		.uuid = ctl->uuid, .realtime = ctl->start.realtime, .arch = arch,
		.types = types->data, .types_len = types->len,
	};
}

static void file_name(const struct options *o, int cpu, uint32_t serial, char *to, size_t size)
{
	(void)snprintf(to, size, "%s%d.%u", o->name, cpu, serial);
}

/* A disk that is full, a directory that is gone: said once, and tried again. */
static void fails(struct child *c, const struct tacho_diag *d)
{
	if (!c->failed)
		say("%s", d->text);
	c->failed = true;
}

static int open_file(struct child *c)
{
	char arch[LKST_ARCH_NAME_LEN];
	uint32_t serial = c->order;
	struct lkst_log_config cfg;
	struct tacho_diag d = { 0 };
	struct tacho_buf types;
	int err;

	do
		file_name(c->o, c->cpu, serial++, c->path, sizeof(c->path));
	while (!access(c->path, F_OK));
	log_config(&c->l, c->o->limit, &cfg, &types, arch);
	c->missed = c->said = 0;
	err = lkst_log_create(&c->w, c->path, &cfg, &d);
	tacho_buf_release(&types);
	if (!err)
		return 0;
	fails(c, &d);
	c->w = NULL;
	return err;
}

/* When the first events of a file are missing, and at its end if more are. */
static void tell_missed(struct child *c, bool at_end)
{
	if (c->missed == c->said || (c->said && !at_end))
		return;
	say("%s: %llu events%s were overwritten before they could be written; more buffers (-n) "
	    "or larger ones (-b) hold them longer", c->path, (unsigned long long)c->missed,
	    at_end ? "" : " so far");
	c->said = c->missed;
}

/*
 * All that is in the queue now.  What a full disk leaves out, and what was overwritten before,
 * the file counts as lost.
 */
static void drain(struct child *c)
{
	static struct lkst_record some[AT_ONCE];
	struct lkst_read_from from;
	struct tacho_diag d = { 0 };
	int err = 0;
	ssize_t n;

	if (!c->w && open_file(c))
		return;
	do {
		n = tacho_lkst_read_records(&c->l, some, AT_ONCE, getpid(), &from);
		if (n > 0 || from.missed)
			err |= lkst_log_write(c->w, (uint32_t)c->cpu,
					      from.buffer < 0 ? 0 : from.buffer, some,
					      n > 0 ? (size_t)n : 0, from.missed, &d);
		c->missed += from.missed;
	} while (n > 0);
	err |= lkst_log_flush(c->w, &d);
	tell_missed(c, false);
	if (err)
		fails(c, &d);
	else
		c->failed = false;
}

/* The buffer that a CPU writes, or VOID. */
static int32_t write_buf(struct tacho_lkst *l, int cpu)
{
	struct lkst_trc_status st;

	return tacho_lkst_status(l, &st) ? LKST_BUFFER_ID_VOID : st.write_buf[cpu];
}

/*
 * The file gets all until now, and is closed.  A buffer that no other follows (-n 1) is left
 * for buffer 0, and gone back to.
 */
static void finish_file(struct child *c)
{
	const int32_t own = write_buf(&c->l, c->cpu);
	const struct lkst_buffer_jumpparam aside = { c->cpu, 0 }, back = { c->cpu, own };
	bool single = tacho_lkst_buffer_shift(&c->l, c->cpu) == -EINVAL && own > 0 &&
		      !tacho_lkst_buffer_jump(&c->l, &aside);
	struct tacho_diag d = { 0 };

	drain(c);
	if (single)
		(void)tacho_lkst_buffer_jump(&c->l, &back);
	if (c->w)
		tell_missed(c, true);
	if (c->w && lkst_log_close(c->w, &d))
		fails(c, &d);
	c->w = NULL;
}

/* The queue is ours; what was overwritten until now is not missed. */
static int own_queue(struct child *c)
{
	struct lkst_buffer_srmodparam p = { .cpu = c->cpu, .mode = LKST_READ_MODE_STD };

	return tacho_lkst_setrmod(&c->l, &p, getpid());
}

static void follow_orders(struct child *c)
{
	/* in this order: the serial is then no older than the order to write */
	bool writing = tacho_load_acquire(&c->orders->writing) && !got_term; /* [order-writing] */
	uint32_t serial = tacho_load_acquire(&c->orders->serial);	/* [order-serial] */

	if (c->writing && (!writing || serial != c->order))
		finish_file(c);
	if (writing && !c->writing && c->begun)
		(void)own_queue(c);
	c->begun = true;
	c->order = serial;
	c->writing = writing;
	if (writing)
		drain(c);
}

/* What cannot be written from the start on has been said by now. */
static void settle(const struct options *o, struct orders *orders)
{
	if (!o->foreground)
		leave_terminal();
	(void)tacho_add_seq_cst(&orders->settled, 1);
}

static void child_loop(struct child *c)
{
	bool settled = false;

	while (!got_term) {
		uint32_t seen = tacho_load_acquire(&c->l.state->wake);

		follow_orders(c);
		if (!settled)
			settle(c->o, c->orders);
		settled = true;
		if (!got_term)
			tacho_lkst_wait(&c->l, seen, WAIT_MS);
	}
	follow_orders(c);
}

/* In the child, which the parent's death ends. */
static int run_child(const struct options *o, struct orders *orders, int cpu, pid_t parent)
{
	const struct tacho_lkst_config look = { .look = true };
	struct child c = { .o = o, .orders = orders, .cpu = cpu };
	struct tacho_diag d = { 0 };
	int err;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return TOOL_OK;
	if (tacho_lkst_open(&c.l, &look, &d)) {
		say("%s", d.text);
		return TOOL_FAILED;
	}
	err = own_queue(&c);
	if (err)
		say(err == -EBUSY ? "the read queue of CPU %d is another process's" :
		    "cannot read the queue of CPU %d", cpu);
	else
		child_loop(&c);
	tacho_lkst_unset_rmod(&c.l, getpid());
	tacho_lkst_close(&c.l);
	return err ? TOOL_FAILED : TOOL_OK;
}

/* ---- our buffers ---- */

struct daemon {
	const struct options *o;
	struct orders *orders;
	struct tacho_lkst l;
	struct tacho_lkst_pump *pump;
	pid_t child[LKST_CPU_MAX];
	int32_t id[LKST_BUFFER_MAX];	/* of all CPUs; the first ring[] are written */
	uint32_t nr, ring;
};

struct wanted {
	int32_t id;
	uint64_t size;
	bool all;
};

static int has_buffer(struct tacho_lkst *l, int cpu, void *arg)
{
	struct lkst_buffer_listent e[TACHO_BUFFERS_MAX];
	struct lkst_buffer_listparam p = { .cpu = cpu, .listent_num = TACHO_BUFFERS_MAX,
					   .listent = e };
	struct wanted *w = arg;
	bool has = false;

	if (!tacho_lkst_buffer_list(l, &p))
		for (int i = 0; i < p.buffer_num && i < TACHO_BUFFERS_MAX; i++)
			has |= e[i].id == w->id && e[i].size == w->size;
	w->all &= has;
	return 0;
}

/* Every CPU has buffer `id`, of our size. */
static bool is_of_our_size(struct daemon *d, int32_t id)
{
	struct wanted w = { id, d->o->size & ~UINT64_C(4095), true };

	return !each_cpu(&d->l, has_buffer, &w) && w.all;
}

/* Buffers that a daemon that was killed left: they come first if they are as ours are to be. */
static void find_left(struct daemon *d)
{
	unsigned long long generation = 0;
	int fd = openat(d->l.dir.fd, LEFT, O_RDONLY | O_CLOEXEC), id;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f)
		return;
	if (fscanf(f, "%llu", &generation) == 1 && generation == d->l.state->generation)
		while (d->nr < LKST_BUFFER_MAX && fscanf(f, "%d", &id) == 1)
			if (id > 0 && id < LKST_BUFFER_MAX)
				d->id[d->nr++] = id;
	(void)fclose(f);
	for (uint32_t i = 0; i < d->nr && d->ring < d->o->number; i++)
		if (is_of_our_size(d, d->id[i])) {
			id = d->id[d->ring];
			d->id[d->ring++] = d->id[i];
			d->id[i] = id;
		}
}

static void remember(const struct daemon *d)
{
	int fd = openat(d->l.dir.fd, LEFT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	(void)dprintf(fd, "%llu", (unsigned long long)d->l.state->generation);
	for (uint32_t i = 0; i < d->nr; i++)
		(void)dprintf(fd, " %d", d->id[i]);
	close(fd);
}

/*
 * The first d->ring of d->id follow each other, and are gone on in: where one of them is being
 * written, in that, as the others may hold what was not read.
 */
static int make_ring(struct tacho_lkst *l, int cpu, void *arg)
{
	const struct daemon *d = arg;
	struct lkst_buffer_jumpparam to = { cpu, d->id[0] };
	int32_t now = write_buf(l, cpu);

	for (uint32_t i = 0; i < d->ring; i++) {
		const struct lkst_buffer_linkparam p = {
			cpu, d->id[i], d->ring > 1 ? d->id[(i + 1) % d->ring] :
			LKST_BUFFER_ID_VOID
		};

		(void)tacho_lkst_buffer_link(l, &p);
		if (d->id[i] == now)
			to.dest = now;
	}
	(void)tacho_lkst_buffer_jump(l, &to);
	return 0;
}

static int make_buffers(struct daemon *d)
{
	int err = 0;

	find_left(d);
	while (!err && d->ring < d->o->number) {
		struct lkst_buffer_param p = { .id = LKST_BUFFER_ID_VOID, .cpu = -1,
					       .next = LKST_BUFFER_ID_VOID, .size = d->o->size };

		err = d->nr == LKST_BUFFER_MAX ? -ENOSPC : tacho_lkst_buffer_create(&d->l, &p);
		if (err)
			break;
		d->id[d->nr++] = d->id[d->ring];
		d->id[d->ring++] = p.id;
	}
	remember(d);
	if (!err)
		return each_cpu(&d->l, make_ring, d);
	say("cannot make %llu buffers of %llu bytes: %s", (unsigned long long)d->o->number,
	    (unsigned long long)d->o->size, err == -EINVAL ? "4K to 256M are possible" :
	    err == -ENOSPC ? "all ids are taken" : strerror(-err));
	return TOOL_FAILED;
}

/* A CPU that is in one of ours goes on in buffer 0. */
static int leave_ours(struct tacho_lkst *l, int cpu, void *arg)
{
	const struct lkst_buffer_jumpparam p = { cpu, 0 };
	const struct daemon *d = arg;
	int32_t now = write_buf(l, cpu);

	for (uint32_t i = 0; i < d->nr; i++)
		if (d->id[i] == now)
			(void)tacho_lkst_buffer_jump(l, &p);
	return 0;
}

static void remove_buffers(struct daemon *d)
{
	(void)each_cpu(&d->l, leave_ours, d);
	for (uint32_t i = 0; i < d->nr; i++) {
		const struct lkst_buffer_delparam p = { -1, d->id[i] };

		(void)tacho_lkst_buffer_delete(&d->l, &p);
	}
	(void)unlinkat(d->l.dir.fd, LEFT, 0);
}

/* ---- the parent ---- */

static int start_child(struct tacho_lkst *l, int cpu, void *arg)
{
	struct daemon *d = arg;
	pid_t parent = getpid(), pid;

	(void)l;
	(void)fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(run_child(d->o, d->orders, cpu, parent));
	if (pid < 0)
		say("cannot start the child of CPU %d: %s", cpu, strerror(errno));
	else
		d->child[cpu] = pid;
	return pid < 0 ? TOOL_FAILED : TOOL_OK;
}

static void tell_children(struct daemon *d, int sig)
{
	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++)
		if (d->child[cpu])
			(void)kill(d->child[cpu], sig);
}

/* One that was killed is started again; false: there is none left. */
static bool look_after_children(struct daemon *d)
{
	bool any = false;

	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++) {
		int status;

		if (!d->child[cpu])
			continue;
		if (waitpid(d->child[cpu], &status, WNOHANG) == d->child[cpu]) {
			d->child[cpu] = 0;
			if (WIFEXITED(status) && WEXITSTATUS(status))
				continue;
			say("the child of CPU %d died; it is started again", cpu);
			(void)start_child(&d->l, cpu, d);
		}
		any |= d->child[cpu] != 0;
	}
	return any;
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

/*
 * A USR2 that was sent before a USR1 takes effect before it.  The handlers of all pending signals
 * run before this continues: if got_usr1 is set, got_usr2 of an earlier USR2 is set, too.
 */
static void take_orders(struct daemon *d)
{
	bool usr1 = got_usr1;

	if (got_usr2) {
		got_usr2 = 0;
		tacho_store_release(&d->orders->serial, d->orders->serial + 1);	/* [order-serial] */
	}
	if (usr1) {
		got_usr1 = 0;
		/* [order-writing] */
		tacho_store_release(&d->orders->writing, !d->orders->writing);
	}
}

static int parent_loop(struct daemon *d)
{
	const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000 };

	while (!got_term && !got_hup) {
		take_orders(d);
		if (!look_after_children(d)) {
			say("there is no CPU whose events can be written");
			return TOOL_FAILED;
		}
		(void)nanosleep(&pause, NULL);
	}
	return TOOL_OK;
}

/*
 * Waits until every child reads its queue or has said why not, and lets the starter go.  False:
 * none does.
 */
static bool started(struct daemon *d)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint32_t living = 0;

	do {
		(void)nanosleep(&pause, NULL);
		(void)look_after_children(d);
		living = 0;
		for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++)
			living += d->child[cpu] != 0;
	} while (!got_term && tacho_load_acquire(&d->orders->settled) < living);
	if (!living && !got_term) {
		say("there is no CPU whose events can be written");
		return false;
	}
	if (!d->o->foreground)
		leave_terminal();
	if (to_starter >= 0 && write(to_starter, "", 1) == 1)
		close(to_starter);
	to_starter = -1;
	return true;
}

/* With the files that are there, the first serial number that no CPU has. */
static uint32_t first_serial(const struct options *o)
{
	char path[PATH_MAX];
	uint32_t serial = 0;

	for (int cpu = 0; cpu < LKST_CPU_MAX; cpu++) {
		file_name(o, cpu, serial, path, sizeof(path));
		if (!access(path, F_OK)) {
			serial++;
			cpu = -1;
		}
	}
	return serial;
}

/* The pump's threads leave the signals to this one: two threads would not keep their order. */
static void start_pump(struct daemon *d)
{
	struct tacho_diag why = { 0 };
	sigset_t ours, before;

	sigemptyset(&ours);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		sigaddset(&ours, signals[i]);
	(void)pthread_sigmask(SIG_BLOCK, &ours, &before);
	/* without kernel events, or while another process pumps them, programs' events remain */
	if (tacho_lkst_pump_start(&d->pump, &d->l, &why) && why.err && why.err != -EBUSY)
		say("%s", why.text);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Buffers, children and pump, until a signal ends it. */
static int run(struct daemon *d)
{
	int ret = make_buffers(d);

	if (!ret)
		ret = each_cpu(&d->l, start_child, d);
	if (!ret)
		start_pump(d);
	if (!ret)
		ret = started(d) ? parent_loop(d) : TOOL_FAILED;
	/* what the kernel still has comes before the children's last shift */
	(void)tacho_lkst_pump_once(&d->l);
	end_children(d);
	tacho_lkst_pump_stop(d->pump);
	remove_buffers(d);
	return ret;
}

/* Until TERM or HUP. */
static int serve(const struct options *o)
{
	struct daemon *d = calloc(1, sizeof(*d));
	struct tacho_diag why = { 0 };
	int ret = TOOL_FAILED;

	if (!d)
		return tool_fail(TOOL_FAILED, "no memory");
	d->o = o;
	d->orders = mmap(NULL, sizeof(*d->orders), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d->orders == MAP_FAILED) {
		say("no memory");
	} else if (tacho_lkst_open(&d->l, NULL, &why)) {
		say("%s", why.text);
	} else {
		*d->orders = (struct orders){ o->writing, first_serial(o), 0 };
		ret = run(d);
		tacho_lkst_close(&d->l);
	}
	if (d->orders != MAP_FAILED)
		(void)munmap(d->orders, sizeof(*d->orders));
	free(d);
	return ret;
}

/* What can be said while there is a terminal: LKST is there, files can be that small. */
static int try(const struct options *o)
{
	char arch[LKST_ARCH_NAME_LEN];
	struct lkst_log_config cfg;
	struct tacho_buf types;
	struct tacho_lkst l;
	int ret = tool_open(&l);

	if (ret)
		return ret;
	log_config(&l, o->limit, &cfg, &types, arch);
	if (o->limit && o->limit < lkst_log_limit_min(&cfg))
		ret = tool_fail(TOOL_USAGE, "a limit (-l) of %llu bytes is too small: a file "
				"needs %llu at least", (unsigned long long)o->limit,
				(unsigned long long)lkst_log_limit_min(&cfg));
	tacho_buf_release(&types);
	tacho_lkst_close(&l);
	return ret;
}

/* ---- the pid file ---- */

/*
 * Makes the file and locks it, for as long as we live.  Its descriptor, or -1 with a
 * sentence.  Of two that begin at once one gets the lock; a file that was removed in between is
 * not the one that others will find.
 */
static int lock_pid_file(const char *path)
{
	struct stat mine, there;
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0) {
			(void)tool_failed(-errno, "make '%s'", path);
			return -1;
		}
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			(void)tool_fail(0, "lkstlogd is running already: it holds '%s'", path);
			close(fd);
			return -1;
		}
		if (!fstat(fd, &mine) && !stat(path, &there) && mine.st_ino == there.st_ino &&
		    mine.st_dev == there.st_dev)
			return fd;
		close(fd);
	}
}

static int write_pid_file(int fd, const char *path)
{
	if (ftruncate(fd, 0) || dprintf(fd, "%d\n", (int)getpid()) < 0)
		return tool_failed(-errno, "write '%s'", path);
	return TOOL_OK;
}

/* ---- options ---- */

static const char help[] =
	"lkstlogd - write the events of LKST to files\n\n"
	"usage: lkstlogd [-a] [-b SIZE[K|M]] [-l SIZE[K|M]] [-n NUMBER] [-f NAME] [-F] [-hv]\n\n"
	"  -a          write from the start (default: from the first SIGUSR1 on)\n"
	"  -b SIZE     size of each buffer (default: 2M)\n"
	"  -l SIZE     maximum size of a file (default: 10M), which is then overwritten\n"
	"  -n NUMBER   number of buffers per CPU (default: 2)\n"
	"  -f NAME     name of the files, to which CPU and serial number are appended\n"
	"              (default: " LOG_NAME ")\n"
	"  -F          stay in the foreground\n"
	"  -p FILE     file for the process id (default: " PID_FILE ")\n"
	"  -C FILE     configuration (default: " CONFIG "):\n"
	"              LKSTLOGDOPTION=\"...\" sets options that precede the command line\n"
	"  -h, -v      print this help; print the version\n\n"
	"SIGUSR1 starts and stops writing, SIGUSR2 starts the next file, SIGHUP restarts,\n"
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
		ret = tool_fail(TOOL_USAGE, "unexpected argument '%s'; see 'lkstlogd -h'", argv[optind]);
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

/* Words of *text stay in *o. */
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
	n = config_words(said.config, said.config != o->config, text, word);
	if (n < 0)
		return TOOL_FAILED;
	ret = parse(o, n, word);
	return ret ? ret : parse(o, argc, argv);
}

/* After HUP.  A configuration that is wrong by now changes nothing. */
static void reread(struct options *o, struct tacho_buf *text, int argc, char **argv)
{
	struct tacho_buf fresh;
	struct options now;

	tacho_buf_init(&fresh, CONFIG_MAX);
	if (get_options(&now, &fresh, argc, argv)) {
		say("the configuration is wrong; the former one stays");
		tacho_buf_release(&fresh);
		return;
	}
	tacho_buf_release(text);
	*text = fresh;
	*o = now;
}

/*
 * Returns in the daemon, with the lock of the pid file.  The process that was started ends
 * when the daemon records, with 0, or when it has ended, with 1: started() and leave_terminal().
 */
static int go_to_background(void)
{
	int fd[2];
	pid_t pid;
	char c;

	if (pipe2(fd, O_CLOEXEC))
		return tool_failed(-errno, "make a pipe");
	(void)fflush(NULL);
	pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return tool_failed(-errno, "go to the background");
	}
	if (pid) {
		ssize_t n;

		close(fd[1]);
		do
			n = read(fd[0], &c, 1);
		while (n < 0 && errno == EINTR);
		_exit(n == 1 ? TOOL_OK : TOOL_FAILED);
	}
	close(fd[0]);
	to_starter = fd[1];
	(void)setsid();
	return TOOL_OK;
}

static void take_signals(void)
{
	const struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

/* With the lock of the pid file. */
static int run_daemon(struct options *o, struct tacho_buf *text, int argc, char **argv)
{
	int ret;

	do {
		got_hup = 0;
		ret = serve(o);
		if (got_hup && !ret)
			reread(o, text, argc, argv);
	} while (!ret && got_hup && !got_term);
	return ret;
}

static int locked(struct options *o, struct tacho_buf *text, int argc, char **argv)
{
	char path[PATH_MAX];
	int ret = TOOL_FAILED, fd;

	(void)snprintf(path, sizeof(path), "%s", o->pid_file);
	fd = lock_pid_file(path);
	if (fd < 0)
		return TOOL_FAILED;
	if (o->foreground || !go_to_background()) {
		take_signals();
		ret = write_pid_file(fd, path);
		if (!ret)
			ret = run_daemon(o, text, argc, argv);
	}
	(void)unlink(path);
	close(fd);
	return ret;
}

int main(int argc, char **argv)
{
	struct tacho_buf text;
	struct options o;
	int ret;

	tool_name = "lkstlogd";
	tacho_buf_init(&text, CONFIG_MAX);
	ret = get_options(&o, &text, argc, argv);
	if (!ret && !strcmp(o.name, LOG_NAME))
		(void)mkdir(LOG_DIR, 0700);
	if (!ret)
		ret = try(&o);
	if (!ret)
		ret = locked(&o, &text, argc, argv);
	tacho_buf_release(&text);
	return cli_out_end(ret < 0 ? TOOL_OK : ret);
}
