/* SPDX-License-Identifier: MIT */
/* nodes.h - files that are in more than one directory, and shared functions. */
#ifndef TACHO_COMPAT_FTRACE_NODES_H
#define TACHO_COMPAT_FTRACE_NODES_H

#include "compat/ftrace/priv.h"

/* The instruction pointer of markers written here: an unused address. */
#define TREE_MARKER_IP	0xfffffffffffff000u

/* A marker's event, and its type as it is recorded (abi/shm.h). */
#define TREE_PRINT	TREE_OWN ":print"
extern const char tree_print_text[];			/* marker.c */

extern const struct tree_node tree_trace_node;		/* trace.c */
extern const struct tree_node tree_pipe_node;
extern const struct tree_node tree_snapshot_node;
extern const struct tree_node tree_buffer_size_node;	/* buffer.c */
extern const struct tree_node tree_total_size_node;
extern const struct tree_node tree_subbuf_size_node;
extern const struct tree_node tree_percent_node;
extern const struct tree_node tree_free_node;
extern const struct tree_node tree_stats_node;
extern const struct tree_node tree_available_node;	/* enable.c */
extern const struct tree_node tree_set_event_node;
extern const struct tree_node tree_enable_node;
extern const struct tree_node tree_filter_node;		/* filter.c */
extern const struct tree_node tree_trigger_node;	/* trigger.c */
extern const struct tree_node tree_hist_node;
extern const struct tree_node tree_own_hist_node;
extern const struct tree_node tree_hist_debug_node;
extern const struct tree_node tree_dynamic_node;	/* dynamic.c */
extern const struct tree_node tree_kprobes_node;
extern const struct tree_node tree_uprobes_node;
extern const struct tree_node tree_uprobe_profile_node;
extern const struct tree_node tree_formats_node;
extern const struct tree_node tree_synth_node;
extern const struct tree_node tree_readme_node;		/* readme.c */
extern const struct tree_node tree_marker_node;		/* marker.c */
extern const struct tree_node tree_marker_raw_node;
extern const struct tree_node tree_inject_node;		/* inject.c */
extern const struct tree_node tree_options_node;	/* options.c: trace_options */

extern const struct tree_node tree_raw_node;		/* raw.c: trace_pipe_raw */
extern const struct tree_node tree_snapshot_raw_node;
extern const struct tree_node tree_header_page_node;
extern const struct tree_node tree_header_event_node;

/*
 * Waits a little for records: 0, -EAGAIN (nonblock, or the caller does not wait),
 * -EINTR.
 */
int tree_wait(const struct tacho_tree_caller *caller, bool nonblock);
/* The session was destroyed: nothing will come. */
bool tree_is_ended(const struct tree_inst *inst);
unsigned int tree_pipe_poll(struct tacho_tree_file *f);

/* Size of the pages that trace_pipe_raw returns. */
uint32_t tree_page_size(const struct tree_inst *inst);

/*
 * Exchanges the buffers and the snapshot (swap.c); drain: includes all current records of the
 * kernel.  Records later than end (ticks) are excluded; UINT64_MAX: none.  Under inst->lock.  0
 * or -errno.
 */
int tree_take_snapshot(struct tree_inst *inst, bool drain, uint64_t end);

/*
 * Takes the snapshots that programs' triggers requested since the last call: each with the
 * records from before its request.  Under inst->lock.
 */
void tree_follow_snapshot(struct tree_inst *inst);

/* tracing_on, of programs and of the kernel.  Under inst->lock. */
bool tree_is_on(struct tree_inst *inst);
int tree_switch(struct tree_inst *inst, bool on);

/*
 * A trigger (traceon, traceoff) may have switched one side: the other follows.  Only when
 * there may be such triggers, which tree_watch_switch() says.  Under inst->lock.
 */
void tree_sync_on(struct tree_inst *inst);
void tree_watch_switch(struct tree_inst *inst);

/*
 * Writes a raw event of a type given by its format text (abi/shm.h) to the session's
 * ring, as thread pid's: on the CPU on which that thread waits for this call. raw is aligned to 8
 * and has len bytes from the common fields on; type and pid are filled in here. cpu (may be NULL)
 * receives the CPU.  0 or -errno.
 */
int tree_write_event(struct tree_inst *inst, const char *type_text, size_t type_len,
		     int32_t pid, void *raw, size_t len, uint32_t *cpu);

/* What an event's filter file shows.  Under inst->lock. */
int tree_filter_text(struct tacho_tree_file *f, struct tacho_buf *out);

/* Whether children of listed programs are followed. */
int tree_pids_follow(struct tree_inst *inst, bool on);
int tree_set_overwrite(struct tree_inst *inst, bool on);

/* Call it after a synthetic event or probe was added or removed. */
void tree_events_changed(struct tree_inst *inst);

/*
 * eprobe.c: defines "e:..." as written to dynamic_events.  Returns 0, -errno (the error is in
 * error_log), or 1: the event is the kernel's, and so is the probe.
 */
int tree_eprobe_define(struct tree_inst *inst, const char *line);
/* Removes "-:..." or "!e:..."; -ENOENT: not an event probe of this tree. */
int tree_eprobe_remove(struct tree_inst *inst, const char *line);
/* Whether any event probe is enabled or has triggers; if not, all can be removed. */
bool tree_eprobe_any_busy(struct tree_inst *inst);
int tree_eprobe_remove_all(struct tree_inst *inst);
/* A line of dynamic_events. */
struct tacho_command_info;
void tree_eprobe_print(const struct tacho_command_info *c, struct tacho_buf *out);
/*
 * The "system.event" of an event probe's type, of this tree or the kernel; false: not an event
 * probe.
 */
bool tree_eprobe_base(struct tree_inst *inst, const struct tacho_type *type,
		      char *base, size_t size);
/* Whether the event "system:event" has an event probe that is enabled or has triggers. */
bool tree_eprobe_wants(struct tree_inst *inst, const char *name);
/* readme.c: whether the kernel under the tree takes event probes. */
bool tree_has_eprobes(struct tacho_tree *tree);

/* Writes the error of a trigger to error_log; event is "system:event". */
void tree_log_trigger(struct tree_inst *inst, const char *event, const char *text,
		      const struct tacho_cmd_error *e);

/* Names for numbers of the running programs and kernel. */
const struct tacho_names *tree_names(struct tree_inst *inst);

/* "0" or "1" and white space; -EINVAL. */
int tree_bool(const char *text, bool *value);

#endif
