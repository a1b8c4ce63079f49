/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_evhandler.h> - event handlers, which run when an event occurs
 * (specification 4.2.1, 4.7.1.2.6, 4.7.2.3).
 */
#ifndef LKST_EVHANDLER_H
#define LKST_EVHANDLER_H

#include <linux/lkst.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0x000..0x01f are LKST's, 0x020..0xfff for users. */
#define LKST_EVHANDLER_ID_VOID			0x000	/* none: the event is masked */
#define LKST_EVHANDLER_ID_LOG			0x001	/* records it */
#define LKST_EVHANDLER_ID_BUFFER_SHIFT		0x002	/* records it, switches the buffer */
#define LKST_EVHANDLER_ID_BUFFER_SHIFT_DW	0x003	/* ... and wakes readers */
#define LKST_EVHANDLER_ID_USER			0x020	/* the first for users */
#define LKST_EVHANDLER_ID_MAX			0xfff

#define LKST_EVHANDLER_NAME_LEN	32	/* bytes, NUL included */

/*
 * A handler.  It must not use phookrec.  It runs where the event occurs: in any thread and
 * any signal handler of the program that registered it.  In other programs, which do not have
 * the function, the event is recorded as by LOG.
 */
typedef void (*lkst_evhandler_func)(void *phookrec, int event_type, lkst_arg_t log_arg1,
				    lkst_arg_t log_arg2, lkst_arg_t log_arg3,
				    lkst_arg_t log_arg4);

/* A handler's control function.  Returns 0 or an error.  Runs in a thread of liblkst. */
typedef int (*lkst_evhandler_ctrl_func)(void *buf, size_t bufsize);

struct lkst_evhandler_listent {
	lkst_evhandler_id id;
	char name[LKST_EVHANDLER_NAME_LEN];
};

struct lkst_evhandler_listparam {
	size_t listent_size;		/* LKST_EVHANDLER_LISTENT_SIZE(handlers) */
	struct lkst_evhandler_listent *listent;
};

#define LKST_EVHANDLER_LISTENT_SIZE(n) \
	((size_t)(n) * sizeof(struct lkst_evhandler_listent))

#define LKST_EVHANDLER_CTRL_MAX	4096	/* bytes of a communication area */

struct lkst_evhandler_ctrl_param {
	lkst_evhandler_id id;
	void *buf;			/* read and written by the function; may be NULL */
	size_t bufsize;
	int ret;			/* the function's result */
};

/* By id; a list that is too small holds the first.  0, -EINVAL, -EPERM. */
int lkst_evhandler_list(struct lkst_evhandler_listparam *param);

/*
 * Calls a handler's control function, in the process that registered it.
 * Returns 0, -EINVAL (no such handler, no such function, buf or bufsize; the process has
 * ended), -ENOMEM, -EPERM.
 */
int lkst_evhandler_ctrl(struct lkst_evhandler_ctrl_param *param);

/*
 * Registers a handler of this process until the process ends.  id VOID: a free one.  ctrl may
 * be NULL.  A name that another running process has with the same id is shared: each process
 * runs its own function.  Returns the id, or -EINVAL (id, name, no function; the name has
 * another id), -ENOSPC, -EPERM.
 */
int lkst_evhandler_register(lkst_evhandler_id id, const char *name,
			    lkst_evhandler_func evhandler,
			    lkst_evhandler_ctrl_func evhandler_ctrl);

/* Returns 0, -EINVAL (not a handler of this process), -EPERM. */
int lkst_evhandler_unregister(lkst_evhandler_id id);

/* Returns a handler's id; LKST_EVHANDLER_ID_VOID: there is none; -EINVAL, -EPERM. */
int lkst_evhandler_get_id(const char *name);

/*
 * Records the event, as LKST's handlers do; for handlers of users.  Any context.
 * Ignores the maskset.
 */
void lkst_evhandlerprim_entry_log(void *phookrec, int event_type, lkst_arg_t log_arg1,
				  lkst_arg_t log_arg2, lkst_arg_t log_arg3,
				  lkst_arg_t log_arg4);

#ifdef __cplusplus
}
#endif

#endif
