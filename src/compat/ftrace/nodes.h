/* SPDX-License-Identifier: MIT */
/* nodes.h - files that are in more than one directory, and what they share. */
#ifndef TACHO_COMPAT_FTRACE_NODES_H
#define TACHO_COMPAT_FTRACE_NODES_H

#include "compat/ftrace/priv.h"

/* Where a marker that was written here comes from: an address that nothing has. */
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

/* Bytes of the pages that trace_pipe_raw hands out. */
uint32_t tree_page_size(const struct tree_inst *inst);

/*
 * What is in the buffers becomes the snapshot, and what was it comes back (swap.c); drain: with
 * all that the kernel has so far.  Later records than end (ticks) are not in it;
 * UINT64_MAX: all are.  Under inst->lock.  0 or -errno.
 */
int tree_take_snapshot(struct tree_inst *inst, bool drain, uint64_t end);

/*
 * Takes the snapshots that programs' triggers asked for since the last call: each with what
 * there was when it asked.  Under inst->lock.
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
 * ring, as thread pid's: on the CPU on which that waits for us.  raw is aligned to 8 and
 * holds len bytes from the common fields on, of which type and pid are filled in here.
 * cpu may be NULL, and is told the CPU.  0 or -errno.
 */
int tree_write_event(struct tree_inst *inst, const char *type_text, size_t type_len,
		     int32_t pid, void *raw, size_t len, uint32_t *cpu);

/* What an event's filter file shows.  Under inst->lock. */
int tree_filter_text(struct tacho_tree_file *f, struct tacho_buf *out);

/* Programs that are listed: their children, too; whether full buffers keep the new. */
int tree_pids_follow(struct tree_inst *inst, bool on);
int tree_set_overwrite(struct tree_inst *inst, bool on);

/* A synthetic event or probe came or went. */
void tree_events_changed(struct tree_inst *inst);

/*
 * eprobe.c: "e:..." as written to dynamic_events.  0, -errno (what is wrong is in error_log),
 * or 1: it is on an event of the kernel, which takes it.
 */
int tree_eprobe_define(struct tree_inst *inst, const char *line);
/* "-:..." or "!e:...": -ENOENT if it is about none of ours. */
int tree_eprobe_remove(struct tree_inst *inst, const char *line);
/* Whether any is enabled or has triggers; without such, all go. */
bool tree_eprobe_any_busy(struct tree_inst *inst);
int tree_eprobe_remove_all(struct tree_inst *inst);
/* A line of dynamic_events. */
struct tacho_command_info;
void tree_eprobe_print(const struct tacho_command_info *c, struct tacho_buf *out);
/* "system.event" that a type is a probe on, of ours or the kernel's; false: it is none. */
bool tree_eprobe_base(struct tree_inst *inst, const struct tacho_type *type,
		      char *base, size_t size);
/* Whether one that is enabled, or has triggers, is on the event "system:event". */
bool tree_eprobe_wants(struct tree_inst *inst, const char *name);
/* readme.c: whether the kernel under the tree takes event probes. */
bool tree_has_eprobes(struct tacho_tree *tree);

/* Says in error_log what is wrong with a trigger; event is "system:event". */
void tree_log_trigger(struct tree_inst *inst, const char *event, const char *text,
		      const struct tacho_cmd_error *e);

/* What numbers mean to programs and the kernel as they are now. */
const struct tacho_names *tree_names(struct tree_inst *inst);

/* "0" or "1" and white space; -EINVAL. */
int tree_bool(const char *text, bool *value);

#endif
