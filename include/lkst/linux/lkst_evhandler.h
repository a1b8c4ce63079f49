/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_evhandler.h> - event handlers: what is done when an event occurs
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
#define LKST_EVHANDLER_ID_BUFFER_SHIFT		0x002	/* records it, goes to the next buffer */
#define LKST_EVHANDLER_ID_BUFFER_SHIFT_DW	0x003	/* ... and wakes who reads */
#define LKST_EVHANDLER_ID_USER			0x020	/* the first of users */
#define LKST_EVHANDLER_ID_MAX			0xfff

#define LKST_EVHANDLER_NAME_LEN	32	/* bytes, NUL included */

/*
 * A handler.  phookrec is not to be used.  Runs where the event occurs: in any thread and
 * any signal handler of the program that registered it.  In other programs, where there is no
 * such function, the event is recorded as by LOG.
 */
typedef void (*lkst_evhandler_func)(void *phookrec, int event_type, lkst_arg_t log_arg1,
				    lkst_arg_t log_arg2, lkst_arg_t log_arg3,
				    lkst_arg_t log_arg4);

/* A handler's control function: 0, or what is wrong.  Runs in a thread of liblkst. */
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
	int ret;			/* what the function returned */
};

/* By id; a list that is too small holds the first.  0, -EINVAL, -EPERM. */
int lkst_evhandler_list(struct lkst_evhandler_listparam *param);

/*
 * Calls a handler's control function, in the process that registered it.
 * 0, -EINVAL (no such handler, no such function, buf or bufsize; the process is gone),
 * -ENOMEM, -EPERM.
 */
int lkst_evhandler_ctrl(struct lkst_evhandler_ctrl_param *param);

/*
 * Registers this process's handler for as long as it lives.  id VOID: a free one.  ctrl may be
 * NULL.  A name that another living process has under the same id is shared: each runs its own.
 * Returns the id, or -EINVAL (id, name, no function; the name has another id), -ENOSPC,
 * -EPERM.
 */
int lkst_evhandler_register(lkst_evhandler_id id, const char *name,
			    lkst_evhandler_func evhandler,
			    lkst_evhandler_ctrl_func evhandler_ctrl);

/* 0, -EINVAL (none of this process), -EPERM. */
int lkst_evhandler_unregister(lkst_evhandler_id id);

/* A handler's id; LKST_EVHANDLER_ID_VOID: there is none; -EINVAL, -EPERM. */
int lkst_evhandler_get_id(const char *name);

/*
 * What the handlers of LKST do: for handlers of users to call.  Any context.
 * An event that comes here is recorded whatever the maskset says.
 */
void lkst_evhandlerprim_entry_log(void *phookrec, int event_type, lkst_arg_t log_arg1,
				  lkst_arg_t log_arg2, lkst_arg_t log_arg3,
				  lkst_arg_t log_arg4);

#ifdef __cplusplus
}
#endif

#endif
