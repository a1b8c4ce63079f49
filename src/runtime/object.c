// SPDX-License-Identifier: MIT
/* Objects (programs and libraries) and their events. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "runtime/actions.h"
#include "sys/mapping.h"

/* Longest type text: far more than any format needs. */
#define TEXT_MAX	(1u << 20)

/* The state word of sites before registration and after unloading. */
static const uint64_t state_off[2];

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The eval with the longest name at s (a whole word). */
static const struct tacho_event_eval *
eval_at(const struct tacho_object *o, const char *system, const char *s)
{
	const struct tacho_event_eval *best = NULL;
	size_t best_len = 0;

	for (const struct tacho_event_eval *const *e = o->evals;
	     e && e < o->evals_end; e++) {
		size_t n;

		if (!*e || strcmp((*e)->system, system))
			continue;
		n = strlen((*e)->name);
		if (n <= best_len || strncmp(s, (*e)->name, n))
			continue;
		if (is_ident((*e)->name[n - 1]) && is_ident(s[n]))
			continue;
		best = *e;
		best_len = n;
	}
	return best;
}

/*
 * Appends a print format with the names of TRACE_DEFINE_ENUM and
 * TRACE_DEFINE_SIZEOF replaced by their values, except in string literals.
 */
static void put_print_fmt(struct tacho_buf *b, const struct tacho_object *o,
			  const struct tacho_event *ev)
{
	const char *s = ev->print_fmt;
	bool quoted = false;
	char before = ' ';

	while (*s) {
		const struct tacho_event_eval *e = NULL;

		if (!quoted && !is_ident(before) && before != '.' && before != '>')
			e = eval_at(o, ev->system, s);
		if (e) {
			tacho_buf_put_s64(b, e->value);
			s += strlen(e->name);
			before = '0';
			continue;
		}
		if (*s == '"')
			quoted = !quoted;
		if (*s == '\\' && s[1])
			tacho_buf_putc(b, *s++);
		before = *s;
		tacho_buf_putc(b, *s++);
	}
}

static void put_field(struct tacho_buf *b, const char *decl, uint32_t offset,
		      uint32_t size, uint32_t is_signed)
{
	tacho_buf_printf(b, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
			 decl, offset, size, is_signed);
}

/* The type text of an event (abi/shm.h); returns the length of its name. */
static uint32_t put_text(struct tacho_buf *b, const struct tacho_object *o,
			 const struct tacho_event *ev)
{
	uint32_t name_len;

	tacho_buf_printf(b, "%s:%s", ev->system, ev->name);
	name_len = (uint32_t)b->len;
	tacho_buf_puts(b, "\nformat:\n");
	put_field(b, "unsigned short common_type", 0, 2, 0);
	put_field(b, "unsigned char common_flags", 2, 1, 0);
	put_field(b, "unsigned char common_preempt_count", 3, 1, 0);
	put_field(b, "int common_pid", 4, 4, 1);
	tacho_buf_putc(b, '\n');
	for (uint32_t i = 0; i < ev->nr_fields; i++)
		put_field(b, ev->fields[i].decl, ev->fields[i].offset,
			  ev->fields[i].size, ev->fields[i].is_signed);
	tacho_buf_puts(b, "\nprint fmt: ");
	put_print_fmt(b, o, ev);
	tacho_buf_putc(b, '\n');
	return name_len;
}

/* Adds an event to the process's file; activates its site last. */
static int add_event(struct tacho_object *o, struct tacho_event *ev,
		     struct tacho_buf *b)
{
	uint32_t name_len;
	int index;

	if (ev->struct_size < sizeof(*ev) || ev->flags & TACHO_EVENT_LIVE)
		return 0;
	tacho_buf_reset(b);
	name_len = put_text(b, o, ev);
	if (tacho_buf_error(b))
		return tacho_buf_error(b);
	index = tacho_procmap_add(b->data, (uint32_t)b->len, name_len);
	if (index < 0)
		return index;
	ev->index = (uint32_t)index;
	ev->ops = &tacho_emit_ops;
	ev->flags |= TACHO_EVENT_LIVE;
	tacho_attach_apply(ev->index, ev->index);
	/* [site] from here on the site may fire: ops and index come first */
	tacho_store_release(&ev->state,
			    &tacho_procmap_state(ev->index)->wanted);
	return 0;
}

/*
 * A signal handler may register, too: signals are blocked here, so it never interrupts the lock's
 * owner, and texts are not built on the heap, whose functions it may have interrupted.
 */
static void lock(sigset_t *was)
{
	sigset_t all;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, was);
	pthread_mutex_lock(&tacho_runtime.lock);
}

static void unlock(const sigset_t *was)
{
	pthread_mutex_unlock(&tacho_runtime.lock);
	(void)pthread_sigmask(SIG_SETMASK, was, NULL);
}

static int add_events(struct tacho_object *object)
{
	void *room = tacho_shm_private(TEXT_MAX);
	struct tacho_buf b = { .data = room, .room = TEXT_MAX, .cap = TEXT_MAX };
	uint32_t refused = 0;
	int err = 0;

	if (!room) {
		tacho_life_say(tacho_runtime.reg, "none of its events can be recorded: no memory for "
			       "their names");
		return -ENOMEM;
	}
	for (struct tacho_event *const *e = object->events; e < object->events_end; e++) {
		int one = *e ? add_event(object, *e, &b) : 0;

		err = err ? err : one;
		refused += one != 0;
	}
	if (refused)
		tacho_life_say(tacho_runtime.reg, "%u of its events cannot be recorded: their names "
			       "have no room in '%s/proc': %s", refused, tacho_runtime.dir,
			       strerror(-err));
	tacho_shm_unmap(room, TEXT_MAX);
	tacho_objects_loaded();
	tacho_actions_loaded();
	return err;
}

TACHO_EXPORT int tacho_object_register(struct tacho_object *object)
{
	int saved = errno;
	sigset_t was;
	int err;

	if (object->struct_size < sizeof(*object))
		return -EINVAL;
	lock(&was);
	err = object->registered ? 0 : tacho_life_begin();
	if (!err && !object->registered) {
		object->registered = 1;
		err = add_events(object);
	}
	unlock(&was);
	errno = saved;
	return err;
}

TACHO_EXPORT void tacho_object_unregister(struct tacho_object *object)
{
	sigset_t was;

	lock(&was);
	for (struct tacho_event *const *e = object->events;
	     object->registered && e < object->events_end; e++) {
		if (!*e || !((*e)->flags & TACHO_EVENT_LIVE))
			continue;
		tacho_store_release(&(*e)->state, state_off);	/* [site] */
		(*e)->flags &= (uint16_t)~TACHO_EVENT_LIVE;
		tacho_procmap_remove((*e)->index);
	}
	object->registered = 0;
	unlock(&was);
}
