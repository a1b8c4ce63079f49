/* SPDX-License-Identifier: MIT */
/*
 * qnx.h - the commands of TraceEvent(), for the library and for tracelogger alike.
 *
 * state.h has the design comment.  Each returns 0 (or as documented) or QNX's negative errno:
 *	-ECANCELED	there are no buffers, or not while the trace runs
 *	-EEXIST		there are buffers already
 *	-EFAULT		flush or query without buffers; no such class or event
 *	-ENOMEM		no room for buffers
 *	-ENOTSUP	cannot be done here
 *	-EPERM		not allowed
 *
 * One thread at a time may use a handle; all calls except open and close are under the lock.  A
 * handle belongs to the buffers that existed when it was opened, or that it allocated: after they
 * are freed, it has none, even if another program has allocated new ones.  Not for signal
 * handlers.
 */
#ifndef TACHO_COMPAT_QNX_QNX_H
#define TACHO_COMPAT_QNX_QNX_H

#include "base/diag.h"
#include "compat/qnx/state.h"
#include "session/session.h"

#define QNX_BUFFER_SIZE	(UINT64_C(16) << 10)	/* _TRACEBUFSIZE */

struct tacho_qnx {
	struct qnx_state *state;
	int state_fd;			/* its lock */
	struct tacho_dir dir;
	struct tacho_session session;
	bool has_session;
};

/* Opens QNX's trace of this machine, locks it, and finds its session, if there is one. */
int tacho_qnx_open(struct tacho_qnx *q, struct tacho_diag *d);
/* Closes the handle and releases the lock; the trace continues. */
void tacho_qnx_close(struct tacho_qnx *q);

/* The lock for all changes. */
int tacho_qnx_lock(struct tacho_qnx *q);
void tacho_qnx_unlock(struct tacho_qnx *q);

/*
 * Whether its buffers exist.  May be called without the lock; then they can disappear at any
 * time.
 */
bool tacho_qnx_has_buffers(const struct tacho_qnx *q);

/* ---- buffers and modes ---- */

/* n buffers of 16 KiB for each CPU, linear or ring as the mode is then. */
int tacho_qnx_alloc(struct tacho_qnx *q, uint32_t n, struct tacho_diag *d);
int tacho_qnx_dealloc(struct tacho_qnx *q, struct tacho_diag *d);
/* Not while the trace runs; buffers that are there change with it, and lose what they hold. */
int tacho_qnx_mode(struct tacho_qnx *q, bool ring, struct tacho_diag *d);
/* no_state: existing processes and threads are not recorded. */
int tacho_qnx_start(struct tacho_qnx *q, bool no_state, struct tacho_diag *d);
int tacho_qnx_stop(struct tacho_qnx *q, struct tacho_diag *d);
/* Wakes loggers to read; the count of events restarts. */
int tacho_qnx_flush(struct tacho_qnx *q);
/* Excludes the events since the last flush from reading. */
int tacho_qnx_skip(struct tacho_qnx *q);
/* How many events were written since the last flush. */
int64_t tacho_qnx_count(struct tacho_qnx *q);

/* ---- classes and events ---- */

enum tacho_qnx_change {
	TACHO_QNX_ON,
	TACHO_QNX_OFF,
	TACHO_QNX_WIDE,
	TACHO_QNX_FAST,
};

/* CONTROL cannot be switched: it is always on. */
int tacho_qnx_change(struct tacho_qnx *q, const struct qnx_set *set,
		     enum tacho_qnx_change change, struct tacho_diag *d);
/* All classes. */
int tacho_qnx_change_all(struct tacho_qnx *q, enum tacho_qnx_change change,
			 struct tacho_diag *d);

/* Of a class (whole), or of events of it.  A pid clears the tid.  -ENOTSUP for some classes. */
int tacho_qnx_set_who(struct tacho_qnx *q, const struct qnx_set *set, bool whole, int32_t pid,
		      int32_t tid);
/* Takes the pid and the tid, or the tid only. */
int tacho_qnx_clear_who(struct tacho_qnx *q, const struct qnx_set *set, bool whole, bool pid);

/* ---- kernel.c ---- */

/* Enables tracepoints by the classes; creates the instance if necessary. */
int tacho_qnx_kernel_follow(struct tacho_qnx *q, struct tacho_diag *d);
/*
 * The instance, made if it is not there, with all tracepoints known that can ever be on: for
 * who records it, to be given to tacho_kernel_leave().
 */
struct tacho_kernel;
int tacho_qnx_kernel_open(struct tacho_qnx *q, struct tacho_kernel **k, struct tacho_diag *d);
int tacho_qnx_kernel_stop(struct tacho_qnx *q, struct tacho_diag *d);
/* The kernel's instance keeps the newest (ring) or the oldest; what it holds stays. */
int tacho_qnx_kernel_mode(struct tacho_qnx *q, bool ring, struct tacho_diag *d);
void tacho_qnx_kernel_remove(struct tacho_qnx *q);

#endif
