/* SPDX-License-Identifier: MIT */
/*
 * <linux/posix_log.h> - the record header that LKST takes from POSIX draft 1003.25.
 *
 * LKST function specification 02-01, tables 4-1 and 4-2.  The member order is the
 * specification's; the types' widths and the values are those of the Linux event
 * logging project, which implemented the same draft.
 */
#ifndef LKST_POSIX_LOG_H
#define LKST_POSIX_LOG_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int posix_log_recid_t;
typedef unsigned int posix_log_facility_t;
typedef int posix_log_severity_t;
typedef int posix_log_procid_t;

#define LKST_MAGIC	0xFEEFFACEu	/* log_magic: the event logging project's, for a record */

#ifndef PXLOG_BINARY
#define PXLOG_BINARY	1		/* log_format */
#endif
#ifndef LOG_KERN
#define LOG_KERN	0		/* log_facility; <syslog.h> has the same */
#endif
#ifndef LOG_DEBUG
#define LOG_DEBUG	7		/* log_severity; likewise */
#endif

/* log_flags */
#define LKST_LOG_KERNEL		0x02u	/* a kernel event, not a program event */
#define LKST_LOG_INTERRUPT	0x10u	/* in a hard or soft interrupt */

struct posix_log_entry {
	unsigned int log_magic;		/* LKST_MAGIC */
	posix_log_recid_t log_recid;	/* counts the records of one buffer */
	size_t log_size;		/* bytes of the variable data: sizeof(lkst_arg_t) * 4 */
	int log_format;			/* PXLOG_BINARY */
	int log_event_type;		/* LKST_ETYPE_... */
	posix_log_facility_t log_facility;	/* LOG_KERN */
	posix_log_severity_t log_severity;	/* LOG_DEBUG */
	uid_t log_uid;			/* effective; (uid_t)-1: unknown */
	gid_t log_gid;
	pid_t log_pid;			/* process */
	pid_t log_pgrp;			/* its group; -1: unknown */
	struct timespec log_time;	/* real time, since 1970 */
	unsigned int log_flags;		/* LKST_LOG_... */
	unsigned int log_thread;	/* thread */
	posix_log_procid_t log_processor;
};

#ifdef __cplusplus
}
#endif

#endif
