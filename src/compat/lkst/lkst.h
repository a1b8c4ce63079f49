/* SPDX-License-Identifier: MIT */
/*
 * lkst.h - LKST's operations, for the library, the device and the commands alike.
 *
 * Each takes the structs of include/lkst, with pointers into this process's memory, and returns 0
 * (or as documented) or the specification's negative errno. tacho_lkst_open() checks permissions
 * (-EPERM); the other operations do not.
 *
 * state.h has the design comment.  One thread at a time may use a handle.  Not for signal
 * handlers; the code of hooks is in hook.h.
 */
#ifndef TACHO_COMPAT_LKST_LKST_H
#define TACHO_COMPAT_LKST_LKST_H

#include <linux/lkst.h>
#include <linux/lkst_class.h>

#include "base/diag.h"
#include "compat/lkst/state.h"
#include "fmt/lkst/record.h"
#include "session/session.h"

struct tacho_lkst {
	struct lkst_state *state;
	int state_fd;			/* its lock */
	struct tacho_dir dir;
	struct tacho_session session;
	bool has_session;
	/* ids of the types in the session, of programs' layout and of the kernel's; 0: not known */
	uint16_t type[2][LKST_NR_ETYPES];
};

struct tacho_lkst_config {
	const char *session;	/* NULL: $LKST_SESSION, or "lkst" */
	uint64_t buffer_size;	/* of buffer 0 of each CPU when the session is made; 0: 1 MiB */
	bool look;		/* make nothing: -ENOENT when there is no session */
};

/*
 * tacho_lkst_open - open LKST of this machine; if its session does not exist, create it with the
 * maskset RDEFAULT.
 *
 * Returns 0, or a negative errno with d filled in: -EPERM (neither superuser nor owner of the
 * run-time directory), -ENOSPC, ...
 */
int tacho_lkst_open(struct tacho_lkst *l, const struct tacho_lkst_config *config,
		    struct tacho_diag *d);
/* Closes the handle; LKST continues. */
void tacho_lkst_close(struct tacho_lkst *l);
/* Ends LKST: removes session, kernel instance and file.  Closes l. */
int tacho_lkst_destroy(struct tacho_lkst *l, struct tacho_diag *d);

/* LKST's lock, among tools. */
int tacho_lkst_lock(struct tacho_lkst *l);
void tacho_lkst_unlock(struct tacho_lkst *l);

/* ---- status.c ---- */

int tacho_lkst_status(struct tacho_lkst *l, struct lkst_trc_status *status);
int tacho_lkst_start(struct tacho_lkst *l);
int tacho_lkst_stop(struct tacho_lkst *l);

/* ---- maskset.c ---- */

int tacho_lkst_maskset_read(struct tacho_lkst *l, struct lkst_maskset_param *p);
int tacho_lkst_maskset_write(struct tacho_lkst *l, struct lkst_maskset_param *p);
int tacho_lkst_maskset_set(struct tacho_lkst *l, uint32_t id);
int tacho_lkst_maskset_list(struct tacho_lkst *l, struct lkst_maskset_listparam *p);
int tacho_lkst_maskset_delete(struct tacho_lkst *l, uint32_t id);
int tacho_lkst_maskset_get_id(struct tacho_lkst *l, const char *name);

/* ---- handler.c ---- */

int tacho_lkst_handler_list(struct tacho_lkst *l, struct lkst_evhandler_listparam *p);
/* Asks the process that registered it; waits for its answer, 5 s at most (-EINVAL then). */
int tacho_lkst_handler_ctrl(struct tacho_lkst *l, struct lkst_evhandler_ctrl_param *p);
int tacho_lkst_handler_get_id(struct tacho_lkst *l, const char *name);
/* A device's ctrl file: bytes, or -errno; -ENODEV: it is none, or its process is gone. */
ssize_t tacho_lkst_handler_show(struct tacho_lkst *l, uint32_t id, char *page, size_t size);
ssize_t tacho_lkst_handler_store(struct tacho_lkst *l, uint32_t id, const char *text, size_t len);

/* ---- buffer.c ---- */

int tacho_lkst_buffer_create(struct tacho_lkst *l, struct lkst_buffer_param *p);
int tacho_lkst_buffer_delete(struct tacho_lkst *l, const struct lkst_buffer_delparam *p);
int tacho_lkst_buffer_link(struct tacho_lkst *l, const struct lkst_buffer_linkparam *p);
int tacho_lkst_buffer_shift(struct tacho_lkst *l, int cpu);
int tacho_lkst_buffer_jump(struct tacho_lkst *l, const struct lkst_buffer_jumpparam *p);
int tacho_lkst_buffer_list(struct tacho_lkst *l, struct lkst_buffer_listparam *p);

/* ---- read.c ---- */

int tacho_lkst_buffer_read(struct tacho_lkst *l, struct lkst_log_buffer *p);
/* Records of a buffer, by their numbers (fmt/lkst/layout.h). */
struct lkst_span {
	uint64_t next;		/* the first that is wanted; after the last that was looked at */
	uint64_t end;		/* 0: not known yet */
	uint64_t at[2], upto[2];	/* the same of both lanes */
};

/*
 * The same, as records of a log file.  *span is zeroed for all that the buffer has at the first
 * call, and says how to go on: what is written later is not read, so a reader comes to an end.
 */
int tacho_lkst_records(struct tacho_lkst *l, int cpu, lkst_buffer_id id, struct lkst_span *span,
		       struct lkst_record *to, size_t max, size_t *nr);
/*
 * owner: the process that asks.  What is overwritten before the owner reads it is counted from
 * now on, each time that this is called.
 */
int tacho_lkst_setrmod(struct tacho_lkst *l, struct lkst_buffer_srmodparam *p, int32_t owner);
/* Ends the owner's setrmod, when it closes the device or has died. */
void tacho_lkst_unset_rmod(struct tacho_lkst *l, int32_t owner);
/*
 * read(2): whole struct lkst_log_record from the read queue of the owner's CPU.  Does not
 * wait: -EAGAIN when the queue is empty; -EBUSY: no setrmod; -EINVAL: room for no record.
 */
ssize_t tacho_lkst_read(struct tacho_lkst *l, void *to, size_t size, int32_t owner);
/* Whose records were read. */
struct lkst_read_from {
	lkst_buffer_id buffer;
	/* records before them that were overwritten before they could be read */
	uint64_t missed;
};

/*
 * As tacho_lkst_read(), records of a log file, of one buffer: how many.  *from is set also with
 * -EAGAIN: then `missed` are at the end of what was read so far.
 */
ssize_t tacho_lkst_read_records(struct tacho_lkst *l, struct lkst_record *to, size_t max,
				int32_t owner, struct lkst_read_from *from);
/* Waits for a shift that wakes, or `ms`; what `wake` of the state was is `seen`. */
void tacho_lkst_wait(struct tacho_lkst *l, uint32_t seen, int ms);
/* Clock pair, frequency, byte order, version, architecture: of xtime .. arch. */
void tacho_lkst_base(struct tacho_lkst *l, struct timeval *xtime, lkst_tsc_t *tsc,
		     lkst_cpu_freq_t *freq, int *endian_big, int *buf_ver,
		     char arch[LKST_ARCH_NAME_LEN]);
void tacho_lkst_log_record(const struct tacho_lkst *l, const struct lkst_record *r,
			   struct lkst_log_record *to);

/* ---- entry.c ---- */

/*
 * An event has occurred: judged by the maskset, then recorded on the CPU this runs on, with
 * handlers of LKST.  r: etype, args, and whose it is; pid 0: of this thread.  0, -EINVAL (event
 * type); or it is lost, which is counted: -ENOMEM, or as tacho_ring_write().
 */
int tacho_lkst_entry(struct tacho_lkst *l, const struct lkst_record *r);

/*
 * What handler `handler` does with an event, on the CPU this runs on; VOID does nothing.
 * kernel: r->ticks is its time.  Several threads may share l here.
 */
int tacho_lkst_handle(struct tacho_lkst *l, uint32_t handler, const struct lkst_record *r,
		       bool kernel);

/* ---- etype.c ---- */

/* The event types that are known now, by number, one line each: /proc/lkst_etypes. */
int tacho_lkst_etypes(struct tacho_lkst *l, struct tacho_buf *out);

#endif
