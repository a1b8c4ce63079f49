// SPDX-License-Identifier: MIT
/* Waiters in poll(2), and the thread that looks for changes that are not announced. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/atomic.h"
#include "fuse/mount_priv.h"

#define POLL_MAX_NS	500000000	/* when looking takes long, it is done more rarely */

/* Somebody waits in poll(2) for a file. */
struct tacho_fuse_waiter {
	struct tacho_fuse_waiter *next;
	uint64_t fh;
	struct fuse_pollhandle *handle;
};

void tacho_fuse_forget_waiters(struct tacho_fuse_mount *m, uint64_t fh)
{
	struct tacho_fuse_waiter **at = &m->waiters;

	pthread_mutex_lock(&m->waiting);
	while (*at) {
		struct tacho_fuse_waiter *w = *at;

		if (w->fh != fh) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		fuse_pollhandle_destroy(w->handle);
		free(w);
	}
	pthread_mutex_unlock(&m->waiting);
}

static int add_waiter(struct tacho_fuse_mount *m, uint64_t fh,
		      struct fuse_pollhandle *handle)
{
	struct tacho_fuse_waiter *w = malloc(sizeof(*w));

	if (!w) {
		fuse_pollhandle_destroy(handle);
		return -ENOMEM;
	}
	pthread_mutex_lock(&m->waiting);
	*w = (struct tacho_fuse_waiter){ m->waiters, fh, handle };
	m->waiters = w;
	pthread_mutex_unlock(&m->waiting);
	return 0;
}

static unsigned int poll_file(uint64_t fh)
{
	struct tacho_lkst_file *lkst = tacho_fuse_lkst_file(fh);

	return lkst ? tacho_lkst_file_poll(lkst) : tacho_tree_poll(tacho_fuse_tree_file(fh));
}

void tacho_fuse_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		     struct fuse_pollhandle *handle)
{
	unsigned int events = poll_file(fi->fh);
	int err = 0;

	(void)ino;
	if (handle && !events)
		err = add_waiter(fuse_req_userdata(req), fi->fh, handle);
	else if (handle)
		fuse_pollhandle_destroy(handle);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_poll(req, events);
}

/* Tells the kernel of files that became ready. */
static void look_at_waiters(struct tacho_fuse_mount *m)
{
	struct tacho_fuse_waiter **at = &m->waiters;

	pthread_mutex_lock(&m->waiting);
	while (*at) {
		struct tacho_fuse_waiter *w = *at;

		if (!poll_file(w->fh)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		(void)fuse_lowlevel_notify_poll(w->handle);
		fuse_pollhandle_destroy(w->handle);
		free(w);
	}
	pthread_mutex_unlock(&m->waiting);
}

int64_t tacho_fuse_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A fifth of a CPU is the most that looking takes. */
static void *poller(void *arg)
{
	struct tacho_fuse_mount *m = arg;

	while (!tacho_load_relaxed(&m->stop)) {
		int64_t before = tacho_fuse_now(), rest;
		struct timespec pause = { .tv_nsec = POLL_NS };

		look_at_waiters(m);
		tacho_fuse_kept_look(m);
		rest = 4 * (tacho_fuse_now() - before);
		if (rest > POLL_NS)
			pause.tv_nsec = rest < POLL_MAX_NS ? rest : POLL_MAX_NS;
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

int tacho_fuse_poller_start(struct tacho_fuse_mount *m)
{
	int err = pthread_create(&m->poller, NULL, poller, m);

	m->polling = !err;
	return -err;
}

void tacho_fuse_poller_stop(struct tacho_fuse_mount *m)
{
	if (!m->polling)
		return;
	tacho_store_relaxed(&m->stop, true);
	(void)pthread_join(m->poller, NULL);
}
