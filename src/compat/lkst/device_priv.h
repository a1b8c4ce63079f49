/* SPDX-License-Identifier: MIT */
/* device_priv.h - what device.c and ioctl.c share. */
#ifndef TACHO_COMPAT_LKST_DEVICE_PRIV_H
#define TACHO_COMPAT_LKST_DEVICE_PRIV_H

#include <pthread.h>

#include "base/buf.h"
#include "compat/lkst/device.h"
#include "compat/lkst/lkst.h"

struct tacho_lkst_pump;

struct tacho_lkst_files {
	pthread_mutex_t lock;		/* all below */
	uint32_t owner;
	bool opened;
	struct tacho_lkst l;		/* valid when opened */
	struct lkst_state *watch;	/* for who waits without the lock; once set it stays */
	struct tacho_lkst_pump *pump;	/* NULL: nobody opened the device, or another pumps */
};

enum lkst_file_kind {
	LKST_FILE_NONE,
	LKST_FILE_TOP,			/* "/": has more entries than ours */
	LKST_FILE_CLASS,		/* /class */
	LKST_FILE_CLASS_LKST,		/* /class/lkst */
	LKST_FILE_HANDLER,		/* /class/lkst/NAME */
	LKST_FILE_DEVICE,
	LKST_FILE_ETYPES,
	LKST_FILE_ID,
	LKST_FILE_NAME,
	LKST_FILE_CTRL,
};

struct tacho_lkst_file {
	struct tacho_lkst_files *files;
	enum lkst_file_kind kind;
	uint32_t handler;
	int32_t owner;			/* process that setrmod bound by this file; 0: none */
	bool asked;			/* for the kernel's events to be pumped */
	struct tacho_buf text;		/* made when read from 0 */
	/* ENTRY_LOG: the thread that used it last, and its process */
	int32_t thread, process;
	uint64_t thread_start;
};

/* Under files->lock; not LKST_IOC_EVHANDLER_CTRL. */
int lkst_ioctl(struct tacho_lkst_file *f, uint32_t request, uint64_t arg, void *data,
	       const struct tacho_lkst_caller *caller);

/* LKST_IOC_EVHANDLER_CTRL: waits for another process, so with a handle of its own. */
int lkst_ioctl_ctrl(struct lkst_evhandler_ctrl_param *p, int32_t pid);

/* The process that a thread is of; 0: it is gone. */
int32_t lkst_process_of(int32_t thread);

#endif
