// SPDX-License-Identifier: MIT
/* Which tracepoints of the session's kernel instance are on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compat/lkst/pump_priv.h"
#include "fmt/lkst/kmap.h"
#include "tracefs/instance.h"

#define NR_KERNEL	LKST_ETYPE_USER_FIRST	/* event types that may come from the kernel */
#define LIST_MAX	(1u << 20)
#define REMOVE_TRIES	20			/* each is 100 ms at most */

/* "system:event" to "events/system/event<after>". */
static void event_path(char *to, size_t size, const char *point, const char *behind)
{
	const char *colon = strchr(point, ':');

	(void)snprintf(to, size, "events/%.*s/%s%s", (int)(colon - point), point, colon + 1,
		       behind);
}

bool lkst_kernel_point(int dirfd, const struct lkst_kmap *m, char point[LKST_KMAP_POINT_LEN])
{
	char path[LKST_KMAP_POINT_LEN + 32];
	const char *at = NULL;

	while ((at = lkst_kmap_point(m, point, at))) {
		event_path(path, sizeof(path), point, "");
		if (!faccessat(dirfd, path, F_OK, 0))
			return true;
	}
	return false;
}

int lkst_kernel_format(int dirfd, const char *point, struct tacho_buf *out)
{
	char path[LKST_KMAP_POINT_LEN + 32];

	event_path(path, sizeof(path), point, "/format");
	return tacho_tracefs_read(dirfd, path, out, NULL);
}

/* Whether the lines of set_event have a tracepoint. */
bool lkst_kernel_is_listed(const char *list, const char *point)
{
	size_t len = strlen(point);

	for (const char *at = list; (at = strstr(at, point)); at += len)
		if ((at == list || at[-1] == '\n') && (at[len] == '\n' || !at[len]))
			return true;
	return false;
}

/* ---- which are wanted ---- */

static bool wants(const struct lkst_state *s, uint64_t current, uint32_t etype)
{
	return current && lkst_state_handler(s, current, etype) != LKST_EVHANDLER_ID_VOID;
}

/* What the two masksets want; any: whether that is anything. */
static bool wanted(const struct lkst_state *s, uint64_t a, uint64_t b, bool want[NR_KERNEL])
{
	bool any = false;

	for (uint32_t i = 0; i < NR_KERNEL; i++) {
		want[i] = lkst_kmap_at(i) && (wants(s, a, i) || wants(s, b, i));
		any |= want[i];
	}
	/* these events give the ids of threads that end before they are looked up (ids.h) */
	want[LKST_ETYPE_PROCESS_CLONE] |= any;
	want[LKST_ETYPE_PROCESS_EXEC] |= any;
	want[LKST_ETYPE_PROCESS_EXIT] |= any;
	return any;
}

/* ---- following ---- */

static int switch_point(int dirfd, const char *point, bool on, struct tacho_diag *d)
{
	char path[LKST_KMAP_POINT_LEN + 32];

	event_path(path, sizeof(path), point, "/enable");
	return tacho_tracefs_write(dirfd, path, on ? "1" : "0", false, d);
}

static int follow_one(int dirfd, const char *list, const struct lkst_kmap *m, bool want,
		      struct tacho_diag *d)
{
	char point[LKST_KMAP_POINT_LEN];
	const char *at = NULL;

	while ((at = lkst_kmap_point(m, point, at)))
		if (lkst_kernel_is_listed(list, point))
			return want ? 0 : switch_point(dirfd, point, false, d);
	if (!want || !lkst_kernel_point(dirfd, m, point))
		return 0;
	return switch_point(dirfd, point, true, d);
}

static int follow(const struct tacho_kernel *k, const bool want[NR_KERNEL], struct tacho_diag *d)
{
	int dirfd = tacho_kernel_dirfd(k), err;
	struct tacho_buf list;

	tacho_buf_init(&list, LIST_MAX);
	err = tacho_tracefs_read(dirfd, "set_event", &list, d);
	for (uint32_t i = 0; !list.err && i < NR_KERNEL; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);
		int one = m ? follow_one(dirfd, tacho_buf_str(&list), m, want[i], d) : 0;

		err = err ? err : one;
	}
	tacho_buf_release(&list);
	return err;
}

int lkst_kernel_open(const struct tacho_lkst *l, struct tacho_kernel **k, struct tacho_diag *d)
{
	const struct tacho_kernel_config config = {
		.name = l->session.name, .overwrite = true, .keep = true,
		.mono = l->session.view.ctl->clock != TACHO_CLOCK_TSC,
	};

	return tacho_kernel_create(k, &config, d);
}

/* 1, 0, or a negative errno: that cannot be known now. */
static int has_instance(const struct tacho_lkst *l)
{
	struct tacho_tracefs t;
	int is = tacho_tracefs_open(&t, 0, NULL);

	if (is)
		return tacho_no_room_here(is) ? is : 0;
	is = tacho_kernel_is_kept(&t, l->session.name);
	tacho_tracefs_close(&t);
	return is;
}

int tacho_lkst_kernel_set(struct tacho_lkst *l, uint64_t current, uint64_t or_current,
			  struct tacho_diag *d)
{
	bool want[NR_KERNEL], any = wanted(l->state, current, or_current, want);
	struct tacho_kernel *k;
	int err;

	err = any ? 1 : has_instance(l);
	if (err <= 0)
		return err;
	err = lkst_kernel_open(l, &k, d);
	if (err)
		return err;
	err = follow(k, want, d);
	if (!err)
		err = tacho_kernel_start(k, d);
	tacho_kernel_leave(k);
	return err;
}

int tacho_lkst_kernel_remove(struct tacho_lkst *l)
{
	struct tacho_tracefs t;
	int err = tacho_tracefs_open(&t, 0, NULL);

	if (err)
		return tacho_no_room_here(err) ? err : 0;
	if (tacho_kernel_is_kept(&t, l->session.name)) {
		lkst_pump_end(l);
		err = -EBUSY;
		for (int i = 0; err == -EBUSY && i < REMOVE_TRIES; i++)
			err = tacho_kernel_remove_kept(&t, l->session.name);
	}
	tacho_tracefs_close(&t);
	return err == -ENOENT ? 0 : err;
}

int tacho_lkst_kernel_each(int (*fn)(uint32_t etype, const char *tracepoint, bool by_default,
				     void *arg), void *arg)
{
	char point[LKST_KMAP_POINT_LEN];
	struct tacho_tracefs t;
	int ret = 0;
	bool have = !tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, NULL);

	for (uint32_t i = 0; !ret && i < NR_KERNEL; i++) {
		const struct lkst_kmap *m = lkst_kmap_at(i);

		if (m)
			ret = fn(i, have && lkst_kernel_point(t.dirfd, m, point) ? point : NULL,
				 m->by_default, arg);
	}
	if (have)
		tacho_tracefs_close(&t);
	return ret;
}
