// SPDX-License-Identifier: MIT
/* The device's requests: what is in the caller's memory, there and back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/lkst.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "compat/lkst/device_priv.h"
#include "compat/lkst/priv.h"
#include "sys/cpu.h"

#define LIST_MAX	4096	/* entries of any list */

/* The caller's memory: all n bytes, or -EINVAL. */
static int fetch(int32_t pid, void *to, const void *from, size_t n)
{
	const struct iovec here = { to, n }, there = { (void *)(uintptr_t)from, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -EINVAL;
}

static int put(int32_t pid, void *to, const void *from, size_t n)
{
	const struct iovec here = { (void *)(uintptr_t)from, n }, there = { to, n };

	if (!n)
		return 0;
	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -EINVAL;
}

/* ---- masksets ---- */

static int maskset_read(struct tacho_lkst *l, struct lkst_maskset_param *p, int32_t pid)
{
	struct lkst_maskset_body *body = malloc(sizeof(*body));
	struct lkst_maskset_param own = *p;
	int err;

	if (!body)
		return -ENOMEM;
	own.maskset = p->maskset ? body : NULL;
	if (own.maskset_size > sizeof(*body))
		own.maskset_size = sizeof(*body);
	err = tacho_lkst_maskset_read(l, &own);
	if (!err)
		err = put(pid, p->maskset, body, LKST_MASKSET_SIZE(body->len));
	p->id = own.id;
	free(body);
	return err;
}

static int maskset_write(struct tacho_lkst *l, struct lkst_maskset_param *p, int32_t pid)
{
	struct lkst_maskset_body *body;
	struct lkst_maskset_param own = *p;
	int err;

	if (!p->maskset || p->maskset_size < LKST_MASKSET_SIZE(0))
		return -EINVAL;
	if (own.maskset_size > sizeof(*body))
		own.maskset_size = sizeof(*body);
	body = calloc(1, sizeof(*body));
	if (!body)
		return -ENOMEM;
	own.maskset = body;
	err = fetch(pid, body, p->maskset, own.maskset_size);
	if (!err)
		err = tacho_lkst_maskset_write(l, &own);
	p->id = own.id;
	free(body);
	return err;
}

static int maskset_list(struct tacho_lkst *l, struct lkst_maskset_listparam *p, int32_t pid)
{
	struct lkst_maskset_listent own[LKST_MASKSET_MAX];
	struct lkst_maskset_listparam q = *p;
	struct lkst_trc_status st;
	size_t n, room = p->listent_size / sizeof(own[0]);
	int err;

	q.listent = p->listent ? own : NULL;
	if (q.listent_size > sizeof(own))
		q.listent_size = sizeof(own);
	err = tacho_lkst_maskset_list(l, &q);
	if (err)
		return err;
	p->current_id = q.current_id;
	(void)tacho_lkst_status(l, &st);
	n = (size_t)st.maskset_num < room ? (size_t)st.maskset_num : room;
	return put(pid, p->listent, own, n * sizeof(own[0]));
}

/* ---- handlers ---- */

static int handler_list(struct tacho_lkst *l, struct lkst_evhandler_listparam *p, int32_t pid)
{
	size_t n = p->listent_size / sizeof(*p->listent);
	struct lkst_evhandler_listparam own = *p;
	struct lkst_trc_status st;
	int err;

	if (n > LIST_MAX)
		n = LIST_MAX;
	own.listent_size = n * sizeof(*p->listent);
	own.listent = p->listent ? calloc(n ? n : 1, sizeof(*p->listent)) : NULL;
	if (p->listent && !own.listent)
		return -ENOMEM;
	(void)tacho_lkst_status(l, &st);
	err = tacho_lkst_handler_list(l, &own);
	if (n > (size_t)st.evhandler_num)
		n = (size_t)st.evhandler_num;
	if (!err)
		err = put(pid, p->listent, own.listent, n * sizeof(*p->listent));
	free(own.listent);
	return err;
}

int lkst_ioctl_ctrl(struct lkst_evhandler_ctrl_param *p, int32_t pid)
{
	const struct tacho_lkst_config look = { .look = true };
	unsigned char area[LKST_EVHANDLER_CTRL_MAX];
	struct lkst_evhandler_ctrl_param own = *p;
	struct tacho_lkst l;
	int err = 0;

	if (p->bufsize > sizeof(area) || (p->bufsize && !p->buf))
		return -EINVAL;
	own.buf = p->buf ? area : NULL;
	if (p->bufsize)
		err = fetch(pid, area, p->buf, p->bufsize);
	if (!err)
		err = tacho_lkst_open(&l, &look, NULL) ? -EINVAL : 0;
	if (!err) {
		err = tacho_lkst_handler_ctrl(&l, &own);
		tacho_lkst_close(&l);
	}
	if (!err)
		err = put(pid, p->buf, area, p->buf ? p->bufsize : 0);
	p->ret = own.ret;
	return err;
}

/* ---- buffers ---- */

static int to_caller(void *arg, struct lkst_log_record *to, const struct lkst_log_record *r,
		     size_t n)
{
	return put(*(int32_t *)arg, to, r, n * sizeof(*r));
}

static int buffer_list(struct tacho_lkst *l, struct lkst_buffer_listparam *p, int32_t pid)
{
	struct lkst_buffer_listent own[TACHO_BUFFERS_MAX] = { 0 };
	struct lkst_buffer_listparam q = *p;
	int n, err;

	q.listent = p->listent ? own : NULL;
	if (q.listent_num > TACHO_BUFFERS_MAX)
		q.listent_num = TACHO_BUFFERS_MAX;
	err = tacho_lkst_buffer_list(l, &q);
	if (err)
		return err;
	n = q.buffer_num < q.listent_num ? q.buffer_num : q.listent_num;
	q.listent = p->listent;
	q.listent_num = p->listent_num;
	*p = q;
	return put(pid, p->listent, own, (size_t)n * sizeof(own[0]));
}

static int setrmod(struct tacho_lkst_file *f, struct lkst_buffer_srmodparam *p, int32_t pid)
{
	int32_t owner = lkst_process_of(pid);
	int err = owner ? tacho_lkst_setrmod(&f->files->l, p, owner) : -EINVAL;

	if (!err)
		f->owner = owner;
	return err;
}

/* What /proc/<thread>/stat says of a thread: false: it is gone. */
struct thread_stat {
	int pgrp, cpu;
	unsigned long long start;
};

static bool thread_stat(int32_t thread, struct thread_stat *st)
{
	char path[48], text[1024];
	const char *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');		/* its name may have any characters */
	return p && sscanf(p, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			   "%*d %*d %*d %*d %llu %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u "
			   "%*u %*u %*u %*u %*d %d", &st->pgrp, &st->start, &st->cpu) == 3;
}

/* The caller's event, on the caller's CPU. */
static int entry_log(struct tacho_lkst_file *f, const struct lkst_entry_args *a,
		     const struct tacho_lkst_caller *caller)
{
	struct tacho_lkst *l = &f->files->l;
	struct lkst_record r = {
		.arg = { a->log_arg1, a->log_arg2, a->log_arg3, a->log_arg4 },
		.thread = caller->pid, .uid = caller->uid, .gid = caller->gid,
	};
	struct tacho_cpu_saved saved;
	struct thread_stat st;
	bool moved;
	int err;

	if (a->event_type < 0 || a->event_type > LKST_ETYPE_MAX ||
	    !thread_stat(caller->pid, &st))
		return -EINVAL;
	if (f->thread != caller->pid || f->thread_start != st.start) {
		f->thread = caller->pid;
		f->thread_start = st.start;
		f->process = lkst_process_of(caller->pid);
	}
	r.etype = (uint16_t)a->event_type;
	r.pid = f->process;
	r.pgrp = st.pgrp;
	moved = st.cpu != sched_getcpu() && !tacho_cpu_enter((unsigned int)st.cpu, &saved);
	err = tacho_lkst_entry(l, &r);
	if (moved)
		tacho_cpu_leave(&saved);
	return err;
}

int lkst_ioctl(struct tacho_lkst_file *f, uint32_t request, uint64_t arg, void *data,
	       const struct tacho_lkst_caller *caller)
{
	struct tacho_lkst *l = &f->files->l;
	int32_t pid = caller->pid;
	int cpu = (int)arg;

	switch (request) {
	case LKST_IOC_TRC_STATUS:
		return tacho_lkst_status(l, data);
	case LKST_IOC_TRC_START:
		return tacho_lkst_start(l);
	case LKST_IOC_TRC_STOP:
		return tacho_lkst_stop(l);
	case LKST_IOC_MASKSET_READ:
		return maskset_read(l, data, pid);
	case LKST_IOC_MASKSET_WRITE:
		return maskset_write(l, data, pid);
	case LKST_IOC_MASKSET_SET:
		return arg > LKST_MASKSET_ID_VOID ? -EINVAL :
		       tacho_lkst_maskset_set(l, (uint32_t)arg);
	case LKST_IOC_MASKSET_LIST:
		return maskset_list(l, data, pid);
	case LKST_IOC_MASKSET_DELETE:
		return arg > LKST_MASKSET_ID_VOID ? -EINVAL :
		       tacho_lkst_maskset_delete(l, (uint32_t)arg);
	case LKST_IOC_EVHANDLER_LIST:
		return handler_list(l, data, pid);
	case LKST_IOC_BUFFER_READ:
		return lkst_read_to(l, data, to_caller, &pid);
	case LKST_IOC_BUFFER_CREATE:
		return tacho_lkst_buffer_create(l, data);
	case LKST_IOC_BUFFER_SHIFT:
		return arg > INT32_MAX ? -EINVAL : tacho_lkst_buffer_shift(l, cpu);
	case LKST_IOC_BUFFER_JUMP:
		return tacho_lkst_buffer_jump(l, data);
	case LKST_IOC_BUFFER_LINK:
		return tacho_lkst_buffer_link(l, data);
	case LKST_IOC_BUFFER_DELETE:
		return tacho_lkst_buffer_delete(l, data);
	case LKST_IOC_BUFFER_LIST:
		return buffer_list(l, data, pid);
	case LKST_IOC_BUFFER_RING:	/* withdrawn by the specification */
		return -EINVAL;
	case LKST_IOC_BUFFER_SETRMOD:
		return setrmod(f, data, pid);
	case LKST_IOC_ENTRY_LOG:
		return entry_log(f, data, caller);
	default:
		return -ENOTTY;
	}
}
