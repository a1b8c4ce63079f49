/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_buffer.h> - buffers: each CPU has a table of them (specification 4.2.2,
 * 4.7.1.3, 4.7.2.4).
 */
#ifndef LKST_BUFFER_H
#define LKST_BUFFER_H

#include <linux/lkst.h>
#include <linux/posix_log.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKST_BUFFER_MAX		60		/* buffers of one CPU: ids 0..59 */
#define LKST_BUFFER_SIZE_MIN	4096u
#define LKST_BUFFER_SIZE_MAX	(256u << 20)
#define LKST_BUF_VER		1

/* Bytes of one record in a buffer: a buffer of n bytes holds n / this. */
#define LKST_SIZEOF_LKST_EVENT_RECORD	72

struct lkst_log_record {
	struct posix_log_entry posix;
	lkst_arg_t log_arg1;
	lkst_arg_t log_arg2;
	lkst_arg_t log_arg3;
	lkst_arg_t log_arg4;
};

struct lkst_log_buffer {
	int cpu;
	size_t read_size;		/* bytes: of struct lkst_log_record each */
	lkst_buffer_id id;		/* VOID with cpu -1: the static buffer */
	size_t result_read_size;	/* bytes read: complete records */
	struct timeval xtime;		/* a clock snapshot: real time ... */
	lkst_tsc_t tsc;			/* ... and the clock of the events */
	lkst_cpu_freq_t cpu_freq;	/* of that clock */
	struct lkst_log_record *buffer;
	int endian_big;			/* 0: little */
	int buf_ver;			/* LKST_BUF_VER */
	char arch[LKST_ARCH_NAME_LEN];	/* as in uname -m */
};

struct lkst_buffer_param {
	lkst_buffer_id id;		/* VOID: a free one, which is returned */
	lkst_buffer_id next;		/* VOID: none; does not have to exist yet */
	int cpu;			/* -1: one for each CPU, with the same id */
	size_t size;			/* bytes; rounded down to a multiple of 4096 */
	size_t result_size;
};

struct lkst_buffer_jumpparam {
	int cpu;
	lkst_buffer_id dest;
};
typedef struct lkst_buffer_jumpparam lkst_buffer_jumpparam;

struct lkst_buffer_linkparam {
	int cpu;
	lkst_buffer_id id, next;
};
typedef struct lkst_buffer_linkparam lkst_buffer_linkparam;

struct lkst_buffer_delparam {
	int cpu;
	lkst_buffer_id id;
};
typedef struct lkst_buffer_delparam lkst_buffer_delparam;

struct lkst_buffer_listent {
	size_t size;			/* bytes */
	int write_offset;		/* bytes written since it became the current buffer */
	int baseid;			/* log_recid of its first record since then */
	lkst_buffer_id id, next;
	lkst_buffer_id rq_prev, rq_next;	/* VOID: end of the queue, or not in it */
};

struct lkst_buffer_listparam {
	int cpu;
	int listent_num;		/* room in listent */
	int buffer_num;			/* buffers of the CPU */
	lkst_buffer_id write_buf;
	lkst_buffer_id read_buf;	/* VOID: none */
	lkst_buffer_id rq_head;		/* VOID: the queue is empty */
	lkst_buffer_id rq_tail;
	pid_t owner;			/* PID_MAX + 1: none */
	int read_pos;			/* bytes read of read_buf */
	struct lkst_buffer_listent *listent;
};

#ifndef PID_MAX
#define PID_MAX	4194304		/* of Linux: pids are smaller */
#endif

#define LKST_READ_MODE_RAW	0	/* not supported: EINVAL */
#define LKST_READ_MODE_STD	1	/* struct lkst_log_record */

struct lkst_buffer_srmodparam {
	int cpu;
	int mode;			/* LKST_READ_MODE_... */
	struct timeval xtime;
	lkst_tsc_t tsc;
	lkst_cpu_freq_t cpu_freq;
	int endian_big;
	int buf_ver;
	char arch[LKST_ARCH_NAME_LEN];
};

/*
 * In a library, buffers are those of the CPU that the caller runs on, except for reading.
 *
 * Reads the oldest records of a buffer without removing them.  Stores as many complete records
 * as fit in read_size bytes; fewer at the end of the buffer, or if writers overtook the reader.
 * Never stores more than read_size bytes, which is safe if the caller passes a number of records.
 * Returns 0, -EINVAL (NULL, read_size below one record, no such buffer), -ENOMEM, -EPERM.
 */
int lkst_buffer_read(struct lkst_log_buffer *lbuffer);

/*
 * Returns 0 (id VOID: the new id), or -EINVAL (id, size, it already exists, next is itself),
 * -ENOSPC (no free id), -ENOMEM (no memory), -EPERM.
 */
int lkst_buffer_create(lkst_buffer_id id, size_t size, lkst_buffer_id next);

/* Switches to buffer next.  0, -EINVAL (no such buffer), -EAGAIN (a writer did first), -EPERM. */
int lkst_buffer_jump(lkst_buffer_id next);

/* Switches to the successor of the current buffer.  Returns as lkst_buffer_jump(). */
int lkst_buffer_shift(void);

/* Returns 0, -EINVAL (0, or no such buffer), -EBUSY (being written or read), -EPERM. */
int lkst_buffer_delete(lkst_buffer_id id);

#ifdef __cplusplus
}
#endif

#endif
