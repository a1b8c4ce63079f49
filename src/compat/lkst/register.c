// SPDX-License-Identifier: MIT
/* The event handlers of this process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/run.h"
#include "compat/lkst/service.h"

#define FIRST		LKST_EVHANDLER_ID_USER
#define WAIT_S		5	/* for a control function that runs while its handler goes */

/* What is asked for by way of the service; what hooks call is in overrun.c. */
struct local {
	lkst_evhandler_ctrl_func ctrl;
	struct lkst_eh_device *dev;
	bool there;
};

/* Under the mutex, as all of these. */
static struct local local[LKST_NR_HANDLERS];
static uint32_t serving;	/* id whose function runs now; 0: none */
static pthread_t server;	/* the thread it runs in */
static pthread_cond_t served = PTHREAD_COND_INITIALIZER;

/* ---- entries of the state ---- */

static struct lkst_handler *entry(uint32_t id)
{
	return &lkst_run.state->handler[id];
}

static bool is_there(uint32_t id)
{
	return tacho_load_acquire(&entry(id)->ready) &&	/* [described] */
	       lkst_owner_word_lives(lkst_owner_word(&entry(id)->owner));
}

static bool has_name(uint32_t id, const char *name)
{
	return !strncmp(entry(id)->name, name, sizeof(entry(id)->name));
}

/* The first id that a living process has under a name; 0: none. */
static uint32_t find(const char *name)
{
	for (uint32_t id = 1; id < LKST_NR_HANDLERS; id++)
		if (tacho_load_acquire(&entry(id)->ready) && has_name(id, name) && is_there(id))
			return id;
	return 0;
}

/* Claims an entry; false: another process has it. */
static bool claim(uint32_t id, const char *name, uint32_t flags)
{
	struct lkst_handler *h = entry(id);
	uint64_t owner = lkst_owner_word(&h->owner);

	if (lkst_owner_word_lives(owner) || !lkst_owner_claim(&h->owner, owner))
		return false;
	tacho_store_relaxed(&h->ready, 0);
	tacho_fence_release();	/* [described] not ready before the change */
	memset(h->name, 0, sizeof(h->name));
	memcpy(h->name, name, strlen(name));
	tacho_store_relaxed(&h->flags, flags);
	tacho_store_seq_cst(&h->ready, 1);
	return true;
}

static void give_back(uint32_t id)
{
	/* ready is cleared first: the next owner sets it again */
	if (lkst_owner_word(&entry(id)->owner) != lkst_owner_word_self())
		return;
	tacho_store_relaxed(&entry(id)->ready, 0);
	(void)lkst_owner_release(&entry(id)->owner);
}

/* Finds a free id, preferably one never used: masksets may still name the others. */
static uint32_t claim_any(const char *name, uint32_t flags)
{
	for (int old = 0; old < 2; old++)
		for (uint32_t id = FIRST; id < LKST_NR_HANDLERS; id++)
			if ((old || !lkst_owner_word(&entry(id)->owner)) &&
			    claim(id, name, flags))
				return id;
	return 0;
}

/*
 * The id for a name; or -EINVAL, -ENOSPC.  Two processes may come at once with the same
 * name and different ids: each looks again when its own is there, and the lower one stays.
 */
static int settle(uint32_t id, const char *name, uint32_t flags)
{
	uint32_t has = find(name);

	if (has < FIRST && has)
		return -EINVAL;
	if (id && has && has != id)
		return -EINVAL;
	if (has)
		return (int)has;
	if (id && !claim(id, name, flags))
		return has_name(id, name) && is_there(id) ? (int)id : -EINVAL;
	if (!id) {
		id = claim_any(name, flags);
		if (!id)
			return -ENOSPC;
	}
	has = find(name);
	if (has && has < id) {
		give_back(id);
		return (int)has;
	}
	return (int)id;
}

/* ---- registering ---- */

static bool is_valid(lkst_evhandler_id id, const char *name, lkst_evhandler_func fn)
{
	return fn && name && *name &&
	       strnlen(name, LKST_EVHANDLER_NAME_LEN) < LKST_EVHANDLER_NAME_LEN &&
	       (id == LKST_EVHANDLER_ID_VOID ||
		(id >= FIRST && id <= LKST_EVHANDLER_ID_MAX));
}

/* Under the mutex. */
static int add(uint32_t wanted, const char *name, lkst_evhandler_func fn,
	       const struct local *what)
{
	uint32_t flags = (what->ctrl ? (uint32_t)LKST_HANDLER_CTRL : 0) |
			 (what->dev && what->dev->ctrl_show ? (uint32_t)LKST_HANDLER_SHOW : 0) |
			 (what->dev && what->dev->ctrl_store ? (uint32_t)LKST_HANDLER_STORE : 0);
	int id, err = lkst_run_begin();

	if (!err)
		err = lkst_run_may();
	if (!err && flags)
		err = lkst_service_start() ? -EINVAL : 0;
	if (err)
		return err;
	id = settle(wanted, name, flags);
	if (id < 0)
		return id;
	if (local[id].there)
		return -EINVAL;
	local[id] = *what;
	lkst_local_handler_set((uint32_t)id, fn);
	return id;
}

static int add_locked(uint32_t wanted, const char *name, lkst_evhandler_func fn,
		      const struct local *what)
{
	int saved = errno, id;

	pthread_mutex_lock(&lkst_run.lock);
	id = add(wanted, name, fn, what);
	pthread_mutex_unlock(&lkst_run.lock);
	errno = saved;
	return id;
}

TACHO_EXPORT int lkst_evhandler_register(lkst_evhandler_id id, const char *name,
					 lkst_evhandler_func evhandler,
					 lkst_evhandler_ctrl_func evhandler_ctrl)
{
	const struct local what = { .ctrl = evhandler_ctrl, .there = true };

	if (!is_valid(id, name, evhandler))
		return -EINVAL;
	return add_locked((uint32_t)id, name, evhandler, &what);
}

/* Waits for a function that another process asked for, but not for the one we are in. */
static void wait_served(uint32_t id)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	while (serving == id && !pthread_equal(server, pthread_self()))
		if (pthread_cond_timedwait(&served, &lkst_run.lock, &until))
			return;
}

TACHO_EXPORT int lkst_evhandler_unregister(lkst_evhandler_id id)
{
	int err;

	if (id < FIRST || id > LKST_EVHANDLER_ID_MAX)
		return -EINVAL;
	pthread_mutex_lock(&lkst_run.lock);
	err = lkst_run_begin();
	if (!err)
		err = lkst_run_may();
	if (!err && !local[id].there)
		err = -EINVAL;
	if (!err) {
		lkst_local_handler_set((uint32_t)id, NULL);
		memset(&local[id], 0, sizeof(local[id]));
		give_back((uint32_t)id);
		wait_served((uint32_t)id);
	}
	pthread_mutex_unlock(&lkst_run.lock);
	return err;
}

TACHO_EXPORT int lkst_eh_device_register(struct lkst_eh_device *ehdev)
{
	const struct local what = {
		.ctrl = ehdev ? ehdev->evhandler_ctrl : NULL, .dev = ehdev, .there = true,
	};
	int id;

	if (!ehdev || !is_valid(ehdev->id, ehdev->name, ehdev->evhandler))
		return -EINVAL;
	id = add_locked((uint32_t)ehdev->id, ehdev->name, ehdev->evhandler, &what);
	if (id > 0)
		ehdev->id = id;
	return id;
}

TACHO_EXPORT void lkst_eh_device_unregister(struct lkst_eh_device *ehdev)
{
	bool ours;

	if (!ehdev || ehdev->id < FIRST || ehdev->id > LKST_EVHANDLER_ID_MAX)
		return;
	pthread_mutex_lock(&lkst_run.lock);
	ours = local[ehdev->id].dev == ehdev;
	pthread_mutex_unlock(&lkst_run.lock);
	if (ours)
		(void)lkst_evhandler_unregister(ehdev->id);
}

/* ---- for other processes, in the thread of service.c ---- */

/* Takes the functions of a handler, which stay until end_serving(). */
static struct local begin_serving(uint32_t id)
{
	struct local l = { 0 };

	pthread_mutex_lock(&lkst_run.lock);
	if (id < LKST_NR_HANDLERS && local[id].there) {
		l = local[id];
		serving = id;
		server = pthread_self();
	}
	pthread_mutex_unlock(&lkst_run.lock);
	return l;
}

static void end_serving(void)
{
	pthread_mutex_lock(&lkst_run.lock);
	serving = 0;
	pthread_cond_broadcast(&served);
	pthread_mutex_unlock(&lkst_run.lock);
}

int lkst_serve_ctrl(uint32_t id, void *buf, size_t size, int *ret)
{
	struct local l = begin_serving(id);

	if (l.ctrl)
		*ret = l.ctrl(buf, size);
	end_serving();
	return l.ctrl ? 0 : -EINVAL;
}

ssize_t lkst_serve_show(uint32_t id, char *page)
{
	struct local l = begin_serving(id);
	ssize_t n = -ENODEV;

	if (l.dev)
		n = l.dev->ctrl_show ? l.dev->ctrl_show(l.dev, page) : -EIO;
	end_serving();
	return n > LKST_EVHANDLER_CTRL_MAX ? LKST_EVHANDLER_CTRL_MAX : n;
}

ssize_t lkst_serve_store(uint32_t id, const char *text, size_t len)
{
	struct local l = begin_serving(id);
	ssize_t n = -ENODEV;

	if (l.dev)
		n = l.dev->ctrl_store ? l.dev->ctrl_store(l.dev, text, len) : -EIO;
	end_serving();
	return n;
}

TACHO_EXPORT lkst_evhandler_func lkst_handler_function(lkst_evhandler_id id)
{
	return id >= 0 ? lkst_local_handler((uint32_t)id) : NULL;
}
