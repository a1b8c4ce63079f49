// SPDX-License-Identifier: MIT
/* The calls of liblkst that tools have as well: one handle for the process, under a mutex. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/run.h"

static pthread_mutex_t api_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tacho_lkst handle;
static int32_t handle_pid;	/* the process that opened it; 0: it is not open */

void lkst_api_lock(void)
{
	pthread_mutex_lock(&api_lock);
}

void lkst_api_unlock(void)
{
	pthread_mutex_unlock(&api_lock);
}

/*
 * A child of a fork has its own: file locks would be one with its parent's.  And LKST may
 * have been ended, and begun again, by others.
 */
static bool is_good(void)
{
	return handle_pid == getpid() &&
	       tacho_load_relaxed(&handle.session.view.ctl->state) != TACHO_STATE_DEAD;
}

/* 0: the handle is open and ours, until put(). */
static int get(void)
{
	int err;

	pthread_mutex_lock(&lkst_run.lock);
	err = lkst_run_begin();
	pthread_mutex_unlock(&lkst_run.lock);
	if (!err)
		err = lkst_run_may();
	if (err)
		return err;
	lkst_api_lock();
	if (handle_pid && !is_good()) {
		tacho_lkst_close(&handle);
		handle_pid = 0;
	}
	if (!handle_pid) {
		err = tacho_lkst_open(&handle, NULL, NULL);
		if (!err)
			handle_pid = getpid();
	}
	if (!err)
		return 0;
	lkst_api_unlock();
	return err == -EPERM ? -EPERM : err == -ENOMEM || err == -ENOSPC ? -ENOMEM : -ENODEV;
}

static int put(int saved, int ret)
{
	lkst_api_unlock();
	errno = saved;
	return ret;
}

/* get(), the call on `handle`, put(); errno stays. */
#define CALL(expression) __extension__ ({				\
	int saved_ = errno, ret_ = get();				\
									\
	if (ret_)							\
		errno = saved_;						\
	else								\
		ret_ = put(saved_, expression);				\
	ret_; })

/*
 * The CPU that buffer functions are about: where there are no restartable sequences, the plain
 * lane that this thread tries first.  Between get() and put().
 */
static int cpu_here(void)
{
	const struct tacho_ring *r = &handle.session.view.ring;
	int cpu = sched_getcpu();
	int plain = r->nr_fallback ? (int)(r->nr_cpus + (uint32_t)gettid() % r->nr_fallback) : 0;

	if (!lkst_cpu_is(&handle, cpu) && lkst_cpu_is(&handle, plain))
		return plain;
	return cpu < 0 ? 0 : cpu;
}

/* ---- status ---- */

TACHO_EXPORT int lkst_trc_status(struct lkst_trc_status *status)
{
	return status ? CALL(tacho_lkst_status(&handle, status)) : -EINVAL;
}

TACHO_EXPORT int lkst_trc_start(void)
{
	return CALL(tacho_lkst_start(&handle));
}

TACHO_EXPORT int lkst_trc_stop(void)
{
	return CALL(tacho_lkst_stop(&handle));
}

/* ---- masksets ---- */

TACHO_EXPORT int lkst_maskset_read(struct lkst_maskset_param *param)
{
	return param ? CALL(tacho_lkst_maskset_read(&handle, param)) : -EINVAL;
}

TACHO_EXPORT int lkst_maskset_write(struct lkst_maskset_param *param)
{
	return param ? CALL(tacho_lkst_maskset_write(&handle, param)) : -EINVAL;
}

TACHO_EXPORT int lkst_maskset_set(lkst_maskset_id id)
{
	return CALL(tacho_lkst_maskset_set(&handle, id));
}

TACHO_EXPORT int lkst_maskset_list(struct lkst_maskset_listparam *param)
{
	return param ? CALL(tacho_lkst_maskset_list(&handle, param)) : -EINVAL;
}

TACHO_EXPORT int lkst_maskset_delete(lkst_maskset_id id)
{
	return CALL(tacho_lkst_maskset_delete(&handle, id));
}

TACHO_EXPORT int lkst_maskset_get_id(const char *name)
{
	return name ? CALL(tacho_lkst_maskset_get_id(&handle, name)) : -EINVAL;
}

/* ---- handlers ---- */

TACHO_EXPORT int lkst_evhandler_list(struct lkst_evhandler_listparam *param)
{
	return param ? CALL(tacho_lkst_handler_list(&handle, param)) : -EINVAL;
}

/*
 * Without the mutex: the function that answers may be this process's own, and may call the
 * library.  What it takes to ask is never unmapped.
 */
TACHO_EXPORT int lkst_evhandler_ctrl(struct lkst_evhandler_ctrl_param *param)
{
	struct tacho_lkst l = { .state = NULL };
	int saved = errno, err;

	if (!param)
		return -EINVAL;
	err = CALL(0);
	if (err)
		return err;
	l.state = lkst_run.state;
	l.dir.fd = open(lkst_run.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l.dir.fd < 0)
		err = errno == ENOMEM ? -ENOMEM : -ENODEV;
	else {
		err = tacho_lkst_handler_ctrl(&l, param);
		close(l.dir.fd);
	}
	errno = saved;
	return err;
}

TACHO_EXPORT int lkst_evhandler_get_id(const char *name)
{
	return name ? CALL(tacho_lkst_handler_get_id(&handle, name)) : -EINVAL;
}

/* ---- buffers ---- */

TACHO_EXPORT int lkst_buffer_read(struct lkst_log_buffer *lbuffer)
{
	return lbuffer ? CALL(tacho_lkst_buffer_read(&handle, lbuffer)) : -EINVAL;
}

static int create(struct lkst_buffer_param *p)
{
	p->cpu = cpu_here();
	return tacho_lkst_buffer_create(&handle, p);
}

TACHO_EXPORT int lkst_buffer_create(lkst_buffer_id id, size_t size, lkst_buffer_id next)
{
	struct lkst_buffer_param p = { .id = id, .next = next, .size = size };
	int err = CALL(create(&p));

	return err || id != LKST_BUFFER_ID_VOID ? err : p.id;
}

static int jump(lkst_buffer_id next)
{
	const struct lkst_buffer_jumpparam p = { .cpu = cpu_here(), .dest = next };

	return tacho_lkst_buffer_jump(&handle, &p);
}

TACHO_EXPORT int lkst_buffer_jump(lkst_buffer_id next)
{
	return CALL(jump(next));
}

TACHO_EXPORT int lkst_buffer_shift(void)
{
	return CALL(tacho_lkst_buffer_shift(&handle, cpu_here()));
}

static int delete(lkst_buffer_id id)
{
	const struct lkst_buffer_delparam p = { .cpu = cpu_here(), .id = id };

	return tacho_lkst_buffer_delete(&handle, &p);
}

TACHO_EXPORT int lkst_buffer_delete(lkst_buffer_id id)
{
	return CALL(delete(id));
}

/* ---- events ---- */

TACHO_EXPORT int lkst_entry_log(const struct lkst_entry_args *args)
{
	struct lkst_record r = { .flags = 0 };

	if (!args || args->event_type < 0 || args->event_type > LKST_ETYPE_MAX)
		return -EINVAL;
	r.etype = (uint16_t)args->event_type;
	r.arg[0] = args->log_arg1;
	r.arg[1] = args->log_arg2;
	r.arg[2] = args->log_arg3;
	r.arg[3] = args->log_arg4;
	return CALL(tacho_lkst_entry(&handle, &r));
}
