/* SPDX-License-Identifier: MIT */
/*
 * session.h - sessions as tools use them: create, change, destroy.
 *
 * A session is a recording: rules that select events of processes, rings that hold the records,
 * and a type table.  It remains after its recorder and all writers have exited, until it is
 * destroyed.
 *
 * Calls that change a session take the run-time directory's lock.  Not for signal handlers; one
 * thread at a time may use the struct.
 */
#ifndef TACHO_SESSION_SESSION_H
#define TACHO_SESSION_SESSION_H

#include "session/dir.h"
#include "session/proc.h"
#include "session/view.h"

/*
 * File in a session's directory: the settings of its mounted tree (src/compat/ftrace/settings.c).
 */
#define TACHO_SESSION_SETTINGS	"settings"
/* File in a session's directory: the servers that use it (src/compat/ftrace/servers.c). */
#define TACHO_SESSION_SERVERS	"servers"

struct tacho_session {
	struct tacho_dir *dir;
	struct tacho_view view;
	uint32_t bit;
	uint32_t generation;	/* of the registry's slot: distinguishes the session from a later
				 * one */
	int owner_lock;		/* the recorder's: a descriptor + 1; 0: another process's */
	char name[TACHO_NAME_MAX];
	char path[TACHO_PATH_MAX];
};

/* What to create; zero means the default. */
struct tacho_session_config {
	const char *name;	/* letters, digits, '-', '_', '.'; not empty */
	/* directory for it, created if missing; NULL: in the run-time directory */
	const char *path;
	uint64_t sub_size;	/* bytes, a power of two; default 256 KiB */
	uint64_t lane_size;	/* bytes per CPU; default 16 MiB, less on large machines */
	uint32_t flags;		/* enum tacho_session_flag */
	int clock;		/* enum tacho_clock; -1: best of this machine */
	int32_t owner;		/* pid of its recorder, which is this process; 0: none */
	bool stopped;		/* create it without recording */
	/*
	 * Minimum bit.  A hit is written to the sessions in the order of their bits, so a record
	 * in this session is also in those with lower bits.
	 */
	uint32_t min_bit;
	const uint8_t *uuid;	/* 16 bytes; NULL: tacho_session_uuid() */
};

/* Generates a uuid: 16 bytes. */
void tacho_session_uuid(uint8_t *uuid);

/*
 * tacho_session_create - create a session and start it.
 *
 * All memory is allocated here.  Returns 0, or a negative errno with d filled in: -EEXIST,
 * -EINVAL (name or sizes), -ENOSPC (64 sessions, or no room for the
 * buffers), ...  Nothing remains on failure.
 */
int tacho_session_create(struct tacho_session *s, struct tacho_dir *dir,
			 const struct tacho_session_config *cfg,
			 struct tacho_diag *d);

/* Opens an existing session by name; 0, -ENOENT, -EPROTO, ... */
int tacho_session_open(struct tacho_session *s, struct tacho_dir *dir,
		       const char *name, struct tacho_diag *d);

/* Closes the handle; the session continues. */
void tacho_session_close(struct tacho_session *s);

/*
 * tacho_session_destroy - end a session and free its memory, also memory that traced processes
 * still map.  s is closed.  Returns 0 or a negative errno.
 */
int tacho_session_destroy(struct tacho_session *s, struct tacho_diag *d);

/*
 * Whether the recorder of the session in the directory at path lives: a recorder holds a lock
 * while it lives.  A pid is not sufficient (zombie, reused pid, another pid namespace).  False
 * also if the session does not exist.
 */
bool tacho_session_owned(const char *path);

/*
 * Names of living sessions: fn(name, path, arg) for each, until it returns not 0;
 * returns that.  Slots left by killed tools are freed on the way.
 */
int tacho_sessions_each(struct tacho_dir *dir,
			int (*fn)(const char *name, const char *path, void *arg),
			void *arg);

/*
 * tacho_session_rule - add a rule and apply all rules to all processes.
 *
 * glob: "system:event" with * ? []; a text without ':' names a system or
 * an event, as in the kernel's set_event.  Later rules win.  matched
 * (may be NULL) receives how many events of running processes it matches.
 *
 * Returns 0, -EINVAL (empty or longer than TACHO_RULE_MAX - 1), -ENOSPC (512 rules).
 */
int tacho_session_rule(struct tacho_session *s, bool enable, const char *glob,
		       uint32_t *matched, struct tacho_diag *d);

/*
 * Whether any process that the session traces had an event for the rule with this glob; true also
 * if there is no such rule.
 */
bool tacho_session_rule_matched(const struct tacho_session *s, const char *glob);

/*
 * tacho_session_rules - replace the rules for events whose "system:event" begins with prefix, in
 * one step.
 *
 * glob[i] ("system:event", each part a glob) is enabled or disabled by enable[i]; the new rules
 * follow the remaining ones.  Returns 0, -EINVAL, -ENOSPC (512 rules): then nothing changes.
 */
int tacho_session_rules(struct tacho_session *s, const char *prefix, const char *const *glob,
			const bool *enable, uint32_t n, struct tacho_diag *d);

/*
 * tacho_session_pids - trace these processes only (n = 0: all again).
 * follow: children of listed processes are added as they are forked.
 * Returns 0 or -E2BIG.
 */
int tacho_session_pids(struct tacho_session *s, const int32_t *pids, uint32_t n,
		       bool follow, struct tacho_diag *d);

/*
 * tacho_session_not_pids - exclude these processes, even if they are listed above. follow, which
 * is one flag for both lists: also exclude the children that they fork. Returns 0 or -E2BIG.
 */
int tacho_session_not_pids(struct tacho_session *s, const int32_t *pids,
			   uint32_t n, bool follow, struct tacho_diag *d);

/*
 * Starts or stops recording; events stay enabled.  0 or -errno; -ENOENT when another tool has
 * destroyed the session.
 */
int tacho_session_run(struct tacho_session *s, bool recording);

/*
 * Stops a session before its remaining records are read: triggers cannot start it again, only
 * tacho_session_run() can.
 */
int tacho_session_end(struct tacho_session *s);

/*
 * tacho_session_snapshot - freeze the records of all lanes, without stopping them.
 *
 * Each lane is shifted to a spare buffer (created by the first snapshot), and its old buffer is
 * marked TACHO_BUFFER_FROZEN until the next snapshot, which continues in it.  So a snapshot has
 * the records since the last one, as far as the buffer's size allows.  A lane that cannot be
 * shifted (see tacho_ring_shift) then has no frozen buffer and must be read live.
 *
 * Returns how many lanes were frozen, or a negative errno with d filled in: -ENOSPC (no room for
 * the spare buffers), -EBUSY (linked buffers), ...
 */
int tacho_session_snapshot(struct tacho_session *s, struct tacho_diag *d);

/*
 * tacho_session_resize - change the buffers of one lane (-1: all).
 *
 * bytes: minimum size of a lane, 0: unchanged; rounded up to a power of two of sub-buffers, at
 * least 2. overwrite: overwrite mode, otherwise discard mode.  The records of a lane and of its
 * snapshot are kept as far as there is room, the newest first.  Records written during the call
 * are kept.  A lane that already has such a buffer keeps it.  May be called any number of times.
 *
 * Returns 0, or a negative errno with d filled in: -ENOSPC (no room), -EBUSY (linked buffers),
 * -EPERM (a lane's CPU cannot be visited), ...  The lanes before the failing one are changed.
 */
int tacho_session_resize(struct tacho_session *s, int32_t lane, uint64_t bytes,
			 bool overwrite, struct tacho_diag *d);

/*
 * Sums over all lanes: attempted = written + discarded, and discarded is the sum of the
 * lost_*.  Records in the buffers or read: written minus overwritten.
 */
struct tacho_session_counts {
	uint64_t written;	/* committed to any buffer */
	uint64_t overwritten;	/* of these, overwritten by newer ones (overwrite mode) */
	uint64_t lost_full;
	uint64_t lost_big;
	uint64_t lost_busy;
	int err;		/* not 0: a buffer could not be mapped, and written is too low */
};
void tacho_session_count(struct tacho_session *s,
			 struct tacho_session_counts *c);

#endif
