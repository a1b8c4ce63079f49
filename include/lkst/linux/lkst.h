/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst.h> - the Linux Kernel State Tracer's interface, on tacho.
 *
 * LKST function specification 02-01 ("the specification" below).  The numbers, name lengths
 * and widths of types were never published; those here are this project's, see docs/lkst.md.
 *
 * A program can use it in three ways:
 *
 *	the device	open("MOUNT/lkst"), ioctl(), read(), with these headers only
 *	liblkst		the lkst_...() functions, which do the same without a mount; they
 *			return 0 or a positive value, or a negative errno
 *	LKST_HOOK	trace points in the program (<linux/lkst_hook.h>), with liblkst
 *
 * Compile with -I<prefix>/include/lkst (pkg-config --cflags lkst).
 *
 * All calls except LKST_HOOK: any thread, not from signal handlers.  They return EPERM
 * unless the caller is the superuser or the owner of the run-time directory.
 */
#ifndef LKST_H
#define LKST_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKST_VERSION		"2.01"

#define LKST_CPU_MAX		256
#define LKST_ARCH_NAME_LEN	16

/* An argument of an event: 64 bits on all machines. */
typedef uint64_t lkst_arg_t;
typedef uint64_t lkst_tsc_t;		/* ticks of the events' clock */
typedef uint32_t lkst_cpu_freq_t;	/* kHz: ticks per millisecond */

typedef uint8_t lkst_maskset_id;
typedef int32_t lkst_maskset_table_len;
typedef int32_t lkst_evhandler_id;
typedef int32_t lkst_buffer_id;

#define LKST_BUFFER_ID_VOID	(-1)

/* 4.6: arguments of trace points. */
#define LKST_ARG(data)		((lkst_arg_t)(data))
#define LKST_ARGP(pointer)	((lkst_arg_t)(uintptr_t)(pointer))
#define LKST_ARG32(high, low)	((lkst_arg_t)(uint32_t)(high) << 32 | (uint32_t)(low))

/* ---- 4.7.1.1 status ---- */

/* The specification calls it lkst_trc_status in one place, lkst_status_param in another. */
struct lkst_trc_status {
	unsigned long online_cpu;	/* bit map of the first 64 (32) CPUs */
	lkst_maskset_id current_maskset_id;
	lkst_buffer_id write_buf[LKST_CPU_MAX];	/* being written; VOID: no such CPU */
	lkst_buffer_id read_buf[LKST_CPU_MAX];	/* being read by its owner, or VOID */
	int maskset_num;		/* registered masksets */
	int evhandler_num;		/* registered event handlers */
	int static_buffer_recid;	/* records written to the static buffer */
	size_t static_buffer_size;	/* bytes */
};
#define lkst_status_param lkst_trc_status

/* ---- 4.7.1.4 trace output ---- */

struct lkst_entry_args {
	int event_type;
	lkst_arg_t log_arg1;
	lkst_arg_t log_arg2;
	lkst_arg_t log_arg3;
	lkst_arg_t log_arg4;
};

/*
 * 4.7.1: the requests.  The third argument is the address of the struct, or for those of
 * _IO a number: a maskset's id, a CPU.
 */
#define LKST_IOC_MAGIC		0xB5

#define LKST_IOC_TRC_STATUS	_IOR(LKST_IOC_MAGIC, 0, struct lkst_trc_status)
#define LKST_IOC_TRC_START	_IO(LKST_IOC_MAGIC, 1)
#define LKST_IOC_TRC_STOP	_IO(LKST_IOC_MAGIC, 2)
#define LKST_IOC_MASKSET_READ	_IOWR(LKST_IOC_MAGIC, 3, struct lkst_maskset_param)
#define LKST_IOC_MASKSET_WRITE	_IOWR(LKST_IOC_MAGIC, 4, struct lkst_maskset_param)
#define LKST_IOC_MASKSET_SET	_IO(LKST_IOC_MAGIC, 5)
#define LKST_IOC_MASKSET_LIST	_IOWR(LKST_IOC_MAGIC, 6, struct lkst_maskset_listparam)
#define LKST_IOC_MASKSET_DELETE	_IO(LKST_IOC_MAGIC, 7)
#define LKST_IOC_EVHANDLER_LIST	_IOWR(LKST_IOC_MAGIC, 8, struct lkst_evhandler_listparam)
#define LKST_IOC_EVHANDLER_CTRL	_IOWR(LKST_IOC_MAGIC, 9, struct lkst_evhandler_ctrl_param)
#define LKST_IOC_BUFFER_READ	_IOWR(LKST_IOC_MAGIC, 10, struct lkst_log_buffer)
#define LKST_IOC_BUFFER_CREATE	_IOWR(LKST_IOC_MAGIC, 11, struct lkst_buffer_param)
#define LKST_IOC_BUFFER_SHIFT	_IO(LKST_IOC_MAGIC, 12)
#define LKST_IOC_BUFFER_JUMP	_IOW(LKST_IOC_MAGIC, 13, struct lkst_buffer_jumpparam)
#define LKST_IOC_BUFFER_LINK	_IOW(LKST_IOC_MAGIC, 14, struct lkst_buffer_linkparam)
#define LKST_IOC_BUFFER_DELETE	_IOW(LKST_IOC_MAGIC, 15, struct lkst_buffer_delparam)
#define LKST_IOC_BUFFER_LIST	_IOWR(LKST_IOC_MAGIC, 16, struct lkst_buffer_listparam)
#define LKST_IOC_BUFFER_RING	_IO(LKST_IOC_MAGIC, 17)	/* withdrawn: EINVAL */
#define LKST_IOC_BUFFER_SETRMOD	_IOWR(LKST_IOC_MAGIC, 18, struct lkst_buffer_srmodparam)
#define LKST_IOC_ENTRY_LOG	_IOW(LKST_IOC_MAGIC, 19, struct lkst_entry_args)

/* ---- 4.7.2.1 in a library ---- */

/*
 * Fills in *status.  Returns 0, -EINVAL (NULL), -EPERM; -ENODEV: LKST could not be set up
 * (no run-time directory).  The other calls below also return -ENODEV.
 */
int lkst_trc_status(struct lkst_trc_status *status);

/* Selects the maskset that was selected before the stop (RDEFAULT if it was deleted). */
int lkst_trc_start(void);

/* Stores the id of the selected maskset and selects RNOTHING. */
int lkst_trc_stop(void);

/* 4.7.1.4: records an event of any type.  Returns 0, -EINVAL (type, NULL), -EPERM. */
int lkst_entry_log(const struct lkst_entry_args *args);

#ifdef __cplusplus
}
#endif

#include <linux/lkst_buffer.h>
#include <linux/lkst_etypes.h>
#include <linux/lkst_evhandler.h>
#include <linux/lkst_hook.h>
#include <linux/lkst_maskset.h>

#endif
