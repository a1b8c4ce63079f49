/* SPDX-License-Identifier: MIT */
/*
 * session.h - sessions as tools use them: create, change, destroy.
 *
 * A session is a recording: rules that say which events of which processes,
 * rings that hold them, a type table that names them.  It belongs to
 * nobody's life: it stays when its recorder and all its writers are dead, until it is
 * destroyed.
 *
 * Calls that change something take the run-time directory's lock themselves.  Not
 * for signal handlers; the struct is used by one thread at a time.
 */
#ifndef TACHO_SESSION_SESSION_H
#define TACHO_SESSION_SESSION_H

#include "session/dir.h"
#include "session/proc.h"
#include "session/view.h"

/* In a session's directory: what was set in its mounted tree (src/compat/ftrace/settings.c). */
#define TACHO_SESSION_SETTINGS	"settings"
/* ... and which servers use it (src/compat/ftrace/servers.c). */
#define TACHO_SESSION_SERVERS	"servers"

struct tacho_session {
	struct tacho_dir *dir;
	struct tacho_view view;
	uint32_t bit;
	uint32_t generation;	/* of the registry's slot: tells it from a later one */
	int owner_lock;		/* of the recorder: a descriptor + 1; 0: not ours */
	char name[TACHO_NAME_MAX];
	char path[TACHO_PATH_MAX];
};

/* What to create; zero means the default. */
struct tacho_session_config {
	const char *name;	/* letters, digits, '-', '_', '.'; not empty */
	/* directory to hold it, made if missing; NULL: run-time directory */
	const char *path;
	uint64_t sub_size;	/* bytes, a power of two; default 256 KiB */
	uint64_t lane_size;	/* bytes per CPU; default 16 MiB, less on large machines */
	uint32_t flags;		/* enum tacho_session_flag */
	int clock;		/* enum tacho_clock; -1: best of this machine */
	int32_t owner;		/* pid of its recorder, which is us; 0: none */
	bool stopped;		/* create it without recording */
	/*
	 * At least this bit: a hit is written to the sessions in the order of their
	 * bits, so who finds one in this session finds it in those before it, too.
	 */
	uint32_t min_bit;
	const uint8_t *uuid;	/* 16 bytes; NULL: tacho_session_uuid() */
};

/* Makes up a uuid: 16 bytes. */
void tacho_session_uuid(uint8_t *uuid);

/*
 * tacho_session_create - make a session and let it record.
 *
 * All memory is allocated here.  Returns 0, or a negative errno with a sentence: -EEXIST,
 * -EINVAL (name or sizes), -ENOSPC (64 sessions, or no room for the
 * buffers), ...  Nothing is left behind on failure.
 */
int tacho_session_create(struct tacho_session *s, struct tacho_dir *dir,
			 const struct tacho_session_config *cfg,
			 struct tacho_diag *d);

/* Opens an existing session by name; 0, -ENOENT, -EPROTO, ... */
int tacho_session_open(struct tacho_session *s, struct tacho_dir *dir,
		       const char *name, struct tacho_diag *d);

/* Lets go of it; the session goes on. */
void tacho_session_close(struct tacho_session *s);

/*
 * tacho_session_destroy - end a session and free its memory, also that which
 * traced processes still map.  s is closed.  Returns 0 or a negative errno.
 */
int tacho_session_destroy(struct tacho_session *s, struct tacho_diag *d);

/*
 * Whether the recorder of the session in the directory at path lives: it holds a
 * lock as long as it does, which a number of a process does not say (a zombie, another
 * process, another pid namespace).  False also when there is no such session.
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
 * Whether any process that the session traces had an event for the rule that was
 * given so; true also when there is no such rule.
 */
bool tacho_session_rule_matched(const struct tacho_session *s, const char *glob);

/*
 * tacho_session_rules - other rules in place of those for events whose "system:event" begins
 * with prefix, at once.
 *
 * glob[i] ("system:event", each part a glob) is enabled or not as enable[i] says; the rules
 * come behind those that stay.  Returns 0, -EINVAL, -ENOSPC (512 rules): then nothing is changed.
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
 * tacho_session_not_pids - trace these processes not, also if they are listed above.
 * follow, which is one for both lists: nor the children that they fork.
 * Returns 0 or -E2BIG.
 */
int tacho_session_not_pids(struct tacho_session *s, const int32_t *pids,
			   uint32_t n, bool follow, struct tacho_diag *d);

/*
 * Lets writers in or keeps them out; events stay enabled.  0 or -errno; -ENOENT when
 * another tool has destroyed the session.
 */
int tacho_session_run(struct tacho_session *s, bool recording);

/*
 * Stops a session before its rest is read: no trigger starts it again, only
 * tacho_session_run() does.
 */
int tacho_session_end(struct tacho_session *s);

/*
 * tacho_session_snapshot - freeze what all lanes hold, without stopping them.
 *
 * Each lane is shifted to a spare buffer (made at the first time), and its
 * old buffer is marked TACHO_BUFFER_FROZEN until the next snapshot, which goes on
 * in it.  So a snapshot holds what was written since the last one, as far as the
 * buffers reach.  A lane that cannot be shifted (see tacho_ring_shift) has no
 * frozen buffer afterwards and is to be read as it runs.
 *
 * Returns how many lanes were frozen, or a negative errno with a sentence: -ENOSPC
 * (no room for the spare buffers), -EBUSY (linked buffers), ...
 */
int tacho_session_snapshot(struct tacho_session *s, struct tacho_diag *d);

/*
 * tacho_session_resize - other buffers for one lane (-1: all).
 *
 * bytes: what a lane holds at least, 0: as much as now; rounded up to a power of two of
 * sub-buffers, from 2 on.  overwrite: full, the oldest go; else the newest are lost.
 * What a lane holds, and its snapshot, stays as far as there is room; the oldest goes.
 * What is written meanwhile is kept.  A lane whose buffer is so already keeps it.
 * Any number of times.
 *
 * Returns 0, or a negative errno with a sentence: -ENOSPC (no room), -EBUSY (linked
 * buffers), -EPERM (a lane's CPU cannot be visited), ...  The lanes before that one are changed.
 */
int tacho_session_resize(struct tacho_session *s, int32_t lane, uint64_t bytes,
			 bool overwrite, struct tacho_diag *d);

/*
 * Sums over all lanes: attempted = written + discarded, and discarded is the sum of the
 * lost_*.  What is in the buffers, or was read: written less overwritten.
 */
struct tacho_session_counts {
	uint64_t written;	/* committed to any buffer */
	uint64_t overwritten;	/* of these, replaced by newer ones (overwrite mode) */
	uint64_t lost_full;
	uint64_t lost_big;
	uint64_t lost_busy;
	int err;		/* not 0: a buffer could not be mapped, and written is too low */
};
void tacho_session_count(struct tacho_session *s,
			 struct tacho_session_counts *c);

#endif
