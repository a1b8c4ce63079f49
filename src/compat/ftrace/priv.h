/* SPDX-License-Identifier: MIT */
/*
 * priv.h - shared by the files of this folder.
 *
 * Behind the files
 *	tree.c		paths, directories, open files (tree.h)
 *	inst.c		life cycle of an instance: a session and its kernel instance
 *	catalog.c	the catalog of events, their ids and types
 *	store.c		kernel records read from the kernel (store.h, store_priv.h)
 *	load.c		their types
 *	engine.c	features that this kernel's tracer lacks, on those records
 *	pump.c		the thread that reads them for the engine
 *	view.c		one instance's records as a stream; read positions; counts (view.h)
 *	swap.c		snapshots: which records are on which side
 *	servers.c	which servers use a session, and which one destroys it
 *	settings.c	settings, for the mount after a killed server
 *	output.c	records as the kernel's lines (output.h, output_priv.h), with
 *			output_head.c, output_kinds.c, output_fields.c
 *	symbols.c	the kernel's symbols
 *
 * The files (nodes.h)
 *	control.c	the small files at the top of an instance
 *	dynamic.c	uprobe_events, kprobe_events, dynamic_events, synthetic_events
 *	eprobe.c	event probes of this tree, not of the kernel
 *	readme.c	README
 *	trace.c		trace, trace_pipe, also below per_cpu
 *	raw.c		trace_pipe_raw, snapshot_raw: pages
 *	buffer.c	sizes of buffers; per_cpu/cpuN/stats
 *	options.c	trace_options, options/
 *	marker.c	trace_marker, trace_marker_raw: writing records
 *	marked.c	triggers on ftrace:print
 *	events.c	below events/: format, id (events.h)
 *	enable.c	enable; set_event, available_events
 *	filter.c	filter
 *	trigger.c	trigger, hist, hist_debug
 *	inject.c	inject
 *
 * Locks, in the order in which they are taken
 *	file->lock	one read at a time
 *	tree->lock	the list of instances; attributes
 *	inst->lock	an instance, including the store and the kernel's files; recursive
 *	inst->pipe	its read positions; no lock is taken under it
 */
#ifndef TACHO_COMPAT_FTRACE_PRIV_H
#define TACHO_COMPAT_FTRACE_PRIV_H

#include <pthread.h>
#include <string.h>

#include "base/arena.h"
#include "base/atomic.h"
#include "base/buf.h"
#include "engine/errlog.h"
#include "compat/ftrace/tree.h"
#include "tracefs/instance.h"
#include "tracefs/tracefs.h"
#include "session/session.h"

struct tree_inst;
struct tree_store;
struct tree_catalog;
struct tree_types;
struct tree_symbols;
struct tree_node;

/* ---- the tree (tree.c, inst.c) ---- */

/* chmod and chown of a path. */
struct tree_attr {
	struct tree_attr *next;
	uint32_t mode, uid, gid;	/* UINT32_MAX: not changed */
	char path[];
};

struct tacho_tree {
	struct tacho_tree_config config;
	char top_name[TACHO_NAME_MAX];
	pthread_mutex_t lock;
	struct tree_inst *insts;	/* those in use, the top first */
	struct tree_attr *attrs;
	struct tacho_tracefs tracefs;	/* dirfd -1: no kernel events */
	struct tacho_diag without;	/* why */
	bool has_hist;		/* the kernel has hist triggers */
	/* atomic; the kernel takes event probes: 0 not known, 1 no, 2 yes */
	uint32_t eprobes;
	uint32_t nr_cpus;
	struct tree_types *types;	/* of programs' events, of all instances */
	pthread_mutex_t symbols_lock;	/* nothing is taken under it */
	struct tree_symbols *symbols;	/* NULL: not loaded yet */
	pthread_t pump;
	bool pumping, pump_stop;
	uint32_t events_seq;		/* counts when events are made and removed */
};

/* ---- the kernel's symbols (symbols.c) ---- */

/* The current symbols, at most 10 s old; the caller releases them.  NULL: no memory. */
struct tree_symbols *tree_symbols_get(struct tacho_tree *tree);
void tree_symbols_put(struct tacho_tree *tree, struct tree_symbols *symbols);

/* The symbol that addr is in and its start, or NULL; and how long that one is. */
const char *tree_symbol(const struct tree_symbols *symbols, uint64_t addr,
			uint64_t *start);
bool tree_symbol_find(const struct tree_symbols *symbols, const char *name, uint64_t *start);
uint64_t tree_symbol_size(const struct tree_symbols *symbols, uint64_t start);

/* ---- an instance (inst.c) ---- */

/* Consumed: all before ticks, and n records at ticks. */
struct tree_mark {
	uint64_t ticks;
	uint32_t n;
	uint64_t read;		/* records consumed in all */
	uint64_t cleared;	/* ticks: when it was emptied last */
	uint64_t written;	/* what writers had committed to the lane then */
	uint64_t turn;		/* counts changes; atomic: a thread with a copy compares it first */
};

/* When snapshots were taken (swap.c). */
struct tree_swaps {
	uint64_t *at;		/* ticks, ascending: up to then, it included */
	uint32_t nr, room;
	uint64_t floor;		/* ticks: what is older is on neither side */
};

/* 0 or -ENOMEM. */
int tree_swaps_copy(struct tree_swaps *to, const struct tree_swaps *from);
void tree_swaps_release(struct tree_swaps *s);
/* Whether a time is that of live records, or of the snapshot's. */
bool tree_swaps_live(const struct tree_swaps *s, uint64_t ticks);

#define TREE_STATS	4	/* threads that write markers */

/* /proc/TID/stat of such a thread, open; tid 0: none. */
struct tree_stat_file {
	int32_t tid;
	int fd;
};

enum tree_clock {
	TREE_CLOCK_LOCAL, TREE_CLOCK_GLOBAL, TREE_CLOCK_COUNTER, TREE_CLOCK_UPTIME,
	TREE_CLOCK_PERF, TREE_CLOCK_MONO, TREE_CLOCK_MONO_RAW, TREE_CLOCK_BOOT,
	TREE_CLOCK_TAI, TREE_CLOCK_TSC,
	TREE_NR_CLOCKS,
};

struct tree_inst {
	struct tree_inst *next;
	struct tacho_tree *tree;
	char name[TACHO_NAME_MAX];
	uint32_t refs;			/* tree->lock: open files, calls under way */
	uint32_t files;			/* tree->lock: open files */
	uint32_t closing;		/* tree->lock: those that somebody has closed */
	bool made;			/* by this tree, or a killed server */
	bool unsaved;			/* settings.c: what was set is not in the file yet */
	bool pending;			/* ... and what is in the file is not set yet */
	bool shared;			/* ... the file is that of another server, which runs */
	int own_fd;			/* the session's directory, locked if it is not */
	/* servers.c: held while the session is used here; -1: only read */
	int use_fd;
	bool snapshot;			/* one was taken; atomic */
	struct tree_swaps swaps;	/* those that were taken */
	uint32_t swap_turn;		/* counts them; changes under pipe, too; atomic */
	uint32_t requested;			/* requested by programs' triggers so far */
	uint64_t requested_at;		/* ticks: when the last one was */
	bool looked;			/* whether a kept kernel instance was searched */
	bool gone;			/* rmdir: it can no longer be opened */
	bool switches;			/* there may be traceon or traceoff triggers */
	bool was_on;			/* programs and the kernel, when they agreed last */

	pthread_mutex_t lock;
	struct tacho_dir dir;
	struct tacho_session session;
	struct tacho_kernel *kernel;	/* NULL: not needed so far */
	struct tree_store *store;	/* with kernel */
	struct tree_catalog *catalog;
	struct tacho_errlog errlog;
	struct tree_stat_file stat[TREE_STATS];	/* marker.c */
	/* written under lock, read without: atomics */
	uint64_t options;		/* bits of enum tree_option */
	enum tree_clock clock;
	uint32_t buffer_percent;
	uint32_t page_size;		/* of trace_pipe_raw; 0: 4096 */
	uint64_t cmdlines_size;
	uint64_t thresh;
	struct tree_broken *broken;	/* filter.c: what programs' events refused */

	pthread_mutex_t pipe;
	/*
	 * [4 * nr_lanes]: program, then kernel; then both of the snapshot, where only ticks
	 * and n are used.
	 */
	struct tree_mark *mark;
	bool *piped;			/* [nr_lanes]: of this CPU there is a trace_pipe open */
	uint32_t nr_lanes;		/* CPUs, and one for records of no CPU */
};

/* All take tree->lock themselves. */

/* The instance, opened if necessary, with a reference.  -ENOENT, ... */
int tree_inst_get(struct tacho_tree *tree, const char *name,
		  struct tree_inst **inst);
void tree_inst_put(struct tree_inst *inst);
/*
 * Adds to the number of open files, which make the instance busy, and to the number of those
 * whose close(2) has returned.
 */
void tree_inst_use(struct tree_inst *inst, int files, int closing);
int tree_inst_make(struct tacho_tree *tree, const char *name);
int tree_inst_remove(struct tacho_tree *tree, const char *name);
/* Names of all sessions but the top's. */
int tree_inst_each(struct tacho_tree *tree,
		   int (*fn)(const char *name, void *arg), void *arg);
void tree_insts_close(struct tacho_tree *tree, bool destroy);
/* Releases instances whose session another tool has destroyed. */
void tree_insts_look(struct tacho_tree *tree);

/*
 * The instance's kernel instance, created if necessary.  NULL: no kernel events are available,
 * with errno set.  Under inst->lock.
 */
struct tacho_kernel *tree_kernel(struct tree_inst *inst);

/*
 * Whether the instance has a kernel instance, created here or found; if not, its files are as in
 * a new one.  Under inst->lock.
 */
bool tree_kernel_is_there(struct tree_inst *inst);

/* Whether kernel events are available, even if this instance uses none. */
static inline bool tree_has_kernel(const struct tacho_tree *tree)
{
	return tree->tracefs.dirfd >= 0;
}

/*
 * Reads or writes one file of the kernel instance.  If the kernel rejects a write, copies its
 * error_log entry to the instance's error_log. Under inst->lock.  0 or a negative errno (-ENODEV:
 * no kernel events).
 */
int tree_kernel_read(struct tree_inst *inst, const char *path, struct tacho_buf *out);
int tree_kernel_write(struct tree_inst *inst, const char *path, const char *text,
		      size_t len, bool append);

/*
 * One write to a file of the kernel's top, opened with these flags, too.  Copies the kernel's
 * error_log entry to the instance's error_log.  Returns the bytes written, or -errno.
 */
ssize_t tree_top_write(struct tree_inst *inst, const char *path, const char *text,
		       size_t len, int flags);

/* An entry of error_log.  column is counted in command. */
void tree_log_error(struct tree_inst *inst, const char *loc, const char *command,
		    const struct tacho_cmd_error *e);

/* Size of a CPU's (-1: the first one's) buffer for program records. */
uint64_t tree_buffer_size(const struct tree_inst *inst, int32_t cpu);

/*
 * Starts the background thread: it drains the kernel for engines (store.h), follows triggers of
 * programs, and releases destroyed sessions.  Returns 0 or -errno.
 */
int tree_pump_start(struct tacho_tree *tree);
void tree_pump_stop(struct tacho_tree *tree);

int tree_insts_open(struct tacho_tree *tree, struct tacho_diag *d);

/* Ticks now, of the session's clock. */
uint64_t tree_now(const struct tree_inst *inst);

/* ---- nodes and open files (tree.c) ---- */

struct tacho_tree_file {
	struct tree_inst *inst;		/* a reference */
	const struct tree_node *node;
	int flags;			/* of open */
	int32_t cpu;			/* below per_cpu/cpuN; else -1 */
	uint32_t option;		/* below options/ */
	char system[TACHO_RULE_MAX];	/* below events/ */
	char event[TACHO_RULE_MAX];
	pthread_mutex_t lock;		/* one read at a time */
	struct tacho_buf text;		/* what was shown, or is to be handed out */
	uint64_t text_at;		/* offset of text's first byte */
	bool shown;
	bool closed;			/* tree->lock: and not used since */
	uint64_t polled;		/* atomic: what tree_pipe_poll() saw when it said no */
	void *own;			/* the node's: stream readers */
};

/*
 * A kind of file.  show (if not `unlocked`) and store are called under inst->lock; open,
 * read, close and poll take the locks they need.
 */
struct tree_node {
	const char *name;
	uint16_t mode;			/* 0640, 0440, 0220: the owner's, shown to the group */
	bool kernel;			/* is not there without kernel events */
	bool top;			/* in the top only, not in instances */
	bool passed;			/* the kernel's own file at its top; there if that is */
	bool unlocked;			/* show takes the locks it needs by itself */
	bool kept;			/* tacho_tree_is_kept() */
	bool paged;			/* tacho_tree_is_paged() */

	/* Text files: writes the whole text.  Returns 0 or -errno. */
	int (*show)(struct tacho_tree_file *f, struct tacho_buf *out);
	/*
	 * One write; text ends with a NUL after len bytes.  Returns len, fewer bytes, or
	 * -errno.
	 */
	ssize_t (*store)(struct tacho_tree_file *f, const char *text, size_t len,
			 const struct tacho_tree_caller *caller);
	/* Opened for writing with O_TRUNC; under inst->lock. */
	int (*trunc)(struct tacho_tree_file *f);

	/* Streams: open may be NULL. */
	int (*open)(struct tacho_tree_file *f);
	ssize_t (*read)(struct tacho_tree_file *f, void *to, size_t size,
			uint64_t offset, const struct tacho_tree_caller *caller);
	void (*close)(struct tacho_tree_file *f);
	unsigned int (*poll)(struct tacho_tree_file *f);
	bool stream;			/* not seekable */
};

/* Tables; each ends with NULL. */
extern const struct tree_node *const tree_top_nodes[];	/* control.c */
extern const struct tree_node *const tree_cpu_nodes[];	/* control.c: per_cpu/cpuN */
extern const struct tree_node *const tree_events_nodes[];	/* events.c: events/ */
extern const struct tree_node *const tree_system_nodes[];	/* events/SYSTEM */
extern const struct tree_node *const tree_event_nodes[];	/* events/SYSTEM/EVENT */
extern const struct tree_node *const tree_own_nodes[];	/* events/ftrace/EVENT */
extern const struct tree_node *const tree_own_id_nodes[];	/* ... with an id */
extern const struct tree_node *const tree_print_nodes[];	/* ... that of markers */
extern const struct tree_node tree_option_node;		/* options.c: options/NAME */
const char *tree_option_name(uint32_t option);		/* NULL after the last */

/* Removes the white space around the text of a write, in place. */
char *tree_trim(char *text);
/* A decimal number, and a newline at most after it.  0, -EINVAL or -ERANGE. */
int tree_number(const char *text, uint64_t max, uint64_t *value);

/* ---- settings (settings.c), under inst->lock ---- */

/* Writes the settings to the session's directory, if inst->unsaved. */
void tree_settings_save(struct tree_inst *inst);
/* Takes ownership of the settings file until own_fd is closed. */
void tree_settings_own(struct tree_inst *inst);
/*
 * Loads the settings of an existing session: first those without the kernel, then the rest.  No
 * other thread may use inst.
 */
void tree_settings_load(struct tree_inst *inst);
void tree_settings_restore(struct tree_inst *inst);
/* Whether a mount created the session, which then ends with the last mount. */
bool tree_settings_made(const struct tree_inst *inst);

/* ---- which servers use a session (servers.c) ---- */

/* Registers this server.  Under inst->lock, or while no other thread uses inst. */
void tree_servers_use(struct tree_inst *inst);

/*
 * The rest under tree->lock.  leave: unregisters this server; returns whether no server is left,
 * and then prevents new ones. ask: the same for a server that removes the session; it requests
 * the others to release it, until the session is removed or stay is called.
 */
bool tree_servers_leave(struct tree_inst *inst);
bool tree_servers_ask(struct tree_inst *inst);
void tree_servers_stay(struct tree_inst *inst);
/* Whether another server requests the release. */
bool tree_servers_requested(const struct tree_inst *inst);

const char *tree_clock_name(enum tree_clock clock);
bool tree_clock_find(const char *name, enum tree_clock *clock);

/* ---- events (catalog.c), under inst->lock ---- */

#define TREE_ID_FIRST	32768u	/* ids of program events; the kernel's are smaller */

struct tree_event {
	const char *system, *name;
	bool kernel;
	const char *text;	/* program: format text (abi/shm.h), len bytes; NULL: none */
	uint32_t len;
	const struct tacho_type *type;	/* program: parsed; its id is the tree's */
	bool synth;		/* a synthetic event */
	bool fixed;		/* the kernel's, and not made by text */
};

/*
 * The system of the tracer's own events: markers, stacks.  Its events have formats, but are not
 * listed in available_events and cannot be enabled.
 */
#define TREE_OWN	"ftrace"

static inline bool tree_is_own(const char *system)
{
	return !strcmp(system, TREE_OWN);
}

/* Data shared by the catalogs of all instances; lives as long as the tree.  NULL: no memory. */
struct tree_types *tree_types_new(void);
void tree_types_free(struct tree_types *t);

void tree_catalog_free(struct tree_catalog *c);

/*
 * All events by system and name; fresh: programs' events are current, otherwise they may be
 * slightly outdated.  Valid until the next call.  NULL: no memory.
 */
const struct tree_event *tree_events(struct tree_inst *inst, bool fresh, size_t *nr);

/* One event; an unknown one is searched again; NULL: none. */
const struct tree_event *tree_event(struct tree_inst *inst, const char *system,
				    const char *name);
/*
 * Whether an event exists now, or any of a system (name NULL); fixed: only this tree can remove
 * it.  1, 0, or a negative errno if that cannot be determined.
 */
int tree_is_event(struct tree_inst *inst, const char *system, const char *name, bool *fixed);

/*
 * The type of a program's record, as this tree shows it: the same fields, the
 * tree's id.  NULL: no memory.  Any thread.
 */
const struct tacho_type *tree_type(struct tree_inst *inst,
				   const struct tacho_type *session_type);

/* Frees the errors of rejected filters (filter.c). */
void tree_broken_free(struct tree_broken *b);

/* ---- options (options.c) ---- */

bool tree_option(const struct tree_inst *inst, const char *name);
struct tacho_output_options;
void tree_options_output(const struct tree_inst *inst, struct tacho_output_options *o);
uint64_t tree_option_bit(const char *name);
/* The initial options. */
uint64_t tree_options_default(void);

#endif
