// SPDX-License-Identifier: MIT
/* The event types of this process: known to LKST, and to libtacho as events "lkst:MNEMONIC". */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/priv.h"
#include "compat/lkst/run.h"
#include "session/proc.h"

#define WAIT_TRIES	1000	/* for an entry that is being filled in */

/* What a hook looks at before its type is known, and after. */
static const uint64_t state_off[2];

struct lkst_type *lkst_type_of(uint32_t index)
{
	return tacho_load_acquire(&lkst_run.type[index]);	/* [lkst-type] */
}

/* ---- what is asked for ---- */

static bool fits(const char *s, size_t size)
{
	return !s || strnlen(s, size) < size;
}

static bool is_mnemonic(const char *s)
{
	if (!s || !fits(s, LKST_MNEMONIC_LEN) || (!isalpha((unsigned char)*s) && *s != '_'))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

static bool is_valid(const struct lkst_etype_info *e)
{
	if (!e || e->etype < LKST_ETYPE_USER_FIRST || e->etype > LKST_ETYPE_USER_LAST ||
	    !is_mnemonic(e->mnemonic) || !fits(e->name, LKST_ETYPE_NAME_LEN))
		return false;
	for (int i = 0; i < 4; i++)
		if (!fits(e->args[i], LKST_ETYPE_ARG_LEN))
			return false;
	return true;
}

static const char *text_of(const char *s)
{
	return s ? s : "";
}

/* ---- the entry in the state ---- */

struct search {
	char name[LKST_MNEMONIC_LEN + 8];
	bool found;
};

static int look_for(struct tacho_procfile *p, void *arg)
{
	struct search *s = arg;
	uint32_t n = tacho_procfile_nr_events(p);
	char name[sizeof(s->name)];

	for (uint32_t i = 1; i <= n && !s->found; i++) {
		uint32_t len;
		bool gone;
		const char *text = tacho_procfile_event(p, i, &len, &gone);

		if (!text || gone)
			continue;
		tacho_type_text_name(text, len, name, sizeof(name));
		s->found = !strcmp(name, s->name);
	}
	return s->found;
}

/* Whether some process that runs has the event of an entry: its owner's was not the only one. */
static bool is_used(const struct lkst_etype_entry *e)
{
	struct search s = { .found = false };
	struct tacho_dir dir;

	(void)snprintf(s.name, sizeof(s.name), LKST_SYSTEM ":%.*s", LKST_MNEMONIC_LEN - 1,
		       e->mnemonic);
	if (tacho_dir_open(&dir, false, NULL))
		return false;
	(void)tacho_procs_each(&dir, look_for, &s);
	tacho_dir_close(&dir);
	return s.found;
}

static void copy(char *to, const char *from, size_t size)
{
	memset(to, 0, size);
	memcpy(to, from, strnlen(from, size - 1));
}

/* The entry is claimed: readers ignore it until ready is set, which is last. */
static void fill(struct lkst_etype_entry *e, const struct lkst_etype_info *info)
{
	tacho_store_relaxed(&e->ready, 0);
	tacho_fence_release();	/* [described] not ready before the change */
	copy(e->mnemonic, info->mnemonic, sizeof(e->mnemonic));
	copy(e->name, text_of(info->name), sizeof(e->name));
	for (int i = 0; i < 4; i++)
		copy(e->arg[i], text_of(info->args[i]), sizeof(e->arg[i]));
	tacho_store_relaxed(&e->users, 0);
	tacho_store_release(&e->ready, 1);	/* [described] */
}

/*
 * Claims the entry of a type, or shares it.  0; 1: the number was another type's, whose
 * processes are gone; -EBUSY: it still is.
 */
static int claim(struct lkst_etype_entry *e, const struct lkst_etype_info *info)
{
	for (int i = 0; i < WAIT_TRIES; i++) {
		uint64_t owner = lkst_owner_word(&e->owner);
		bool ready = tacho_load_acquire(&e->ready);	/* [described] */
		bool lives = lkst_owner_word_lives(owner);
		bool same = ready && !strncmp(e->mnemonic, info->mnemonic, sizeof(e->mnemonic));

		if (same && lives)
			return 0;
		if (!ready && lives) {
			/* it is being filled in by another process */
			(void)sched_yield();
			continue;
		}
		if (ready && !same && (lives || is_used(e)))
			return -EBUSY;
		if (!lkst_owner_claim(&e->owner, owner))
			continue;
		if (!same)
			fill(e, info);
		return ready && !same;
	}
	return -EBUSY;
}

/* The name of an event has changed: the session's rules are by name. */
static void follow(void)
{
	const struct tacho_lkst_config config = { .look = true };
	struct tacho_lkst *l = calloc(1, sizeof(*l));

	if (!l || tacho_lkst_open(l, &config, NULL)) {
		free(l);
		return;
	}
	if (!tacho_lkst_lock(l)) {
		/* [current] */
		(void)lkst_follow(l, tacho_load_acquire(&l->state->current), 0);
		tacho_lkst_unlock(l);
	}
	tacho_lkst_close(l);
	free(l);
}

/* ---- the event ---- */

/*
 * Cuts "\tfield:DECL;\toffset:O;\tsize:S;\tsigned:N;" up.  Returns what is after the line, or
 * NULL: it is no such line.
 */
static char *take_field(char *line, struct tacho_event_field *f)
{
	static const char head[] = "\tfield:";
	char *end = strchr(line, '\n'), *decl, *p;

	if (!end || strncmp(line, head, sizeof(head) - 1))
		return NULL;
	decl = line + sizeof(head) - 1;
	p = strchr(decl, ';');
	if (!p || p > end)
		return NULL;
	*p++ = '\0';
	if (sscanf(p, "\toffset:%u;\tsize:%u;\tsigned:%u;", &f->offset, &f->size,
		   &f->is_signed) != 3)
		return NULL;
	f->decl = decl;
	f->align = f->size;
	return end + 1;
}

/*
 * The event's fields and print format from the type's text, so that this is the text that
 * libtacho makes of them again, and that other writers of the type have.
 */
static int cut_up(struct lkst_type *t)
{
	static const char behind_common[] = "\n\n", before_print[] = "\nprint fmt: ";
	char *p, *end;

	memcpy(t->copy, t->text, t->text_len + 1);
	p = strstr(t->copy, behind_common);
	end = p ? strstr(p + 2, before_print) : NULL;
	if (!end)
		return -EINVAL;
	p += 2;
	while (p < end) {
		if (t->event.nr_fields == TACHO_ARRAY_SIZE(t->field))
			return -EINVAL;
		p = take_field(p, &t->field[t->event.nr_fields++]);
		if (!p)
			return -EINVAL;
	}
	t->event.print_fmt = end + sizeof(before_print) - 1;
	end = strrchr(t->copy + (end - t->copy) + 1, '\n');
	*end = '\0';
	return 0;
}

static int make_text(struct lkst_type *t, const struct lkst_etype_info *info)
{
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, sizeof(t->text) - 1);
	lkst_record_type_text(&b, info->mnemonic, text_of(info->name), info->args,
			      LKST_OF_PROGRAM);
	err = tacho_buf_error(&b);
	if (!err) {
		memcpy(t->text, b.data, b.len);
		t->text_len = (uint32_t)b.len;
	}
	tacho_buf_release(&b);
	return err ? err : cut_up(t);
}

static struct lkst_type *new_type(const struct lkst_etype_info *info, uint32_t index)
{
	struct lkst_type *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	copy(t->mnemonic, info->mnemonic, sizeof(t->mnemonic));
	t->index = index;
	t->logs = UINT64_MAX;
	t->word = TACHO_COMMON_TYPE((uint32_t)info->etype);
	t->event = (struct tacho_event){
		.struct_size = sizeof(t->event), .state = state_off,
		.system = LKST_SYSTEM, .name = t->mnemonic, .fields = t->field,
	};
	t->list = &t->event;
	t->object = (struct tacho_object){
		.struct_size = sizeof(t->object), .events = &t->list,
		.events_end = &t->list + 1,
	};
	if (make_text(t, info)) {
		free(t);
		return NULL;
	}
	return t;
}

/*
 * The type that this process has under the number, or had before with the same texts; or a
 * new one.
 */
static struct lkst_type *get_type(const struct lkst_etype_info *info, uint32_t index)
{
	struct lkst_type *first = lkst_run.type[index], *t, *made;

	if (first && first->users)
		return first;
	made = new_type(info, index);
	for (t = first; t && made; t = t->next)
		if (!strcmp(t->text, made->text)) {
			free(made);
			return t;
		}
	if (made)
		made->next = first;
	return made;
}

static int begin_type(struct lkst_type *t)
{
	int err = tacho_object_register(&t->object);

	if (err)
		return err;
	if (t->event.ops->struct_size <= offsetof(struct tacho_event_ops, control)) {
		tacho_object_unregister(&t->object);
		return -EPROTO;	/* a libtacho of before */
	}
	lkst_run.ops = t->event.ops;
	lkst_run.fast.write = t->event.ops->write;
	return 0;
}

/* ---- the calls ---- */

/* The type that an info is registered for; NULL: it is not. */
static struct lkst_type *registered(const struct lkst_etype_info *info)
{
	return info->hook && !info->hook->event ? NULL : info->hook_rec.reserved;
}

/* Another type of this process has the number. */
static bool is_taken(const struct lkst_etype_info *info, uint32_t index)
{
	const struct lkst_type *t = lkst_run.type[index];

	return t && t->users && strcmp(t->mnemonic, info->mnemonic) != 0;
}

static void attach(struct lkst_etype_info *info, struct lkst_type *t)
{
	tacho_store_release(&info->hook_rec.reserved, (void *)t);	/* [hook-type] */
	t->users++;
	if (!info->hook)
		return;
	info->hook->event = t;
	/* [hook-state] from here on the hook may fire: hook_rec comes first */
	tacho_store_release(&info->hook->state, t->event.state);
}

/* Under the mutex. */
static int add(struct lkst_etype_info *info)
{
	uint32_t index = (uint32_t)lkst_etype_index((uint32_t)info->etype);
	struct lkst_etype_entry *e = &lkst_run.state->etype[index];
	struct lkst_type *t = lkst_run.type[index];
	int err, renamed;

	if (registered(info) || is_taken(info, index))
		return -EBUSY;
	renamed = claim(e, info);
	if (renamed < 0)
		return renamed;
	t = get_type(info, index);
	if (!t)
		return -ENOMEM;
	err = t->users ? 0 : begin_type(t);
	if (err)
		return -ENODEV;
	tacho_store_release(&lkst_run.type[index], t);	/* [lkst-type] */
	(void)tacho_add_relaxed(&e->users, !t->users);
	attach(info, t);
	if (renamed)
		follow();
	/* the session is mapped now, if it is there: a hook may be in a sandbox */
	(void)lkst_link_get(lkst_run.state);
	return 0;
}

TACHO_EXPORT int lkst_hook_etype_register(struct lkst_etype_info *einfo)
{
	int saved = errno, err;

	if (!is_valid(einfo))
		return -EINVAL;
	pthread_mutex_lock(&lkst_run.lock);
	err = lkst_run_begin();
	if (!err)
		err = lkst_run_may();
	if (!err)
		err = add(einfo);
	pthread_mutex_unlock(&lkst_run.lock);
	errno = saved;
	return err ? err : einfo->etype;
}

TACHO_EXPORT void lkst_hook_etype_define(struct lkst_etype_info *einfo)
{
	(void)lkst_hook_etype_register(einfo);
}

/* The last of this process's hooks of the type: others may have the number now. */
static void end_type(struct lkst_type *t)
{
	struct lkst_etype_entry *e = &lkst_run.state->etype[t->index];

	tacho_object_unregister(&t->object);
	(void)tacho_add_relaxed(&e->users, -1u);
	(void)lkst_owner_release(&e->owner);
}

TACHO_EXPORT void lkst_hook_etype_unregister(struct lkst_etype_info *einfo)
{
	struct lkst_type *t;

	if (!is_valid(einfo))
		return;
	pthread_mutex_lock(&lkst_run.lock);
	t = registered(einfo);
	if (t) {
		/* a hook that has just looked at its state still finds the type */
		if (einfo->hook) {
			tacho_store_release(&einfo->hook->state, state_off);	/* [hook-state] */
			einfo->hook->event = NULL;
		} else {
			einfo->hook_rec.reserved = NULL;
		}
		if (!--t->users)
			end_type(t);
	}
	pthread_mutex_unlock(&lkst_run.lock);
}
