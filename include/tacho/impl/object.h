/* SPDX-License-Identifier: MIT */
/*
 * impl/object.h - register the tracepoints of this program or library.
 *
 * Included by every file that defines events.  The functions here are weak and
 * hidden: each file has them, and the linker keeps one of each per object.  An
 * object's constructor therefore runs once for each such file, and does its work
 * the first time.
 *
 *	1. Each file puts pointers to its events into the section tacho_events, from
 *	   which the linker makes one array with __start_ and __stop_ symbols.
 *	   Events that are in it twice (the markers, which every file defines), and
 *	   events without the expected layout, are removed.
 *	2. The field offsets are computed: the macros know the size and alignment
 *	   of each field, and C has only one layout for a struct.
 *	3. printk sites get a name and a print format, which the preprocessor cannot
 *	   generate from __func__ and the types of arguments.
 *	4. The object is registered with libtacho.
 *
 * Priority 101, the first for programs: constructors that use tracepoints run later.
 */
#ifndef TACHO_IMPL_OBJECT_H
#define TACHO_IMPL_OBJECT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "tacho/impl/macro.h"
#include "tacho/abi/site.h"

#ifdef TACHO_OPTIONAL
#include <dlfcn.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern struct tacho_event *__start_tacho_events[] TACHO_PER_OBJECT;
extern struct tacho_event *__stop_tacho_events[] TACHO_PER_OBJECT;
extern const struct tacho_event_eval *__start_tacho_evals[] TACHO_PER_OBJECT;
extern const struct tacho_event_eval *__stop_tacho_evals[] TACHO_PER_OBJECT;

/*
 * A printk site is an event (its first member) without a name; see
 * <tacho/printk.h>, which sets `finish`.
 */
struct tacho_late_event {
	struct tacho_event event;
	void (*finish)(struct tacho_late_event *late);
};

extern struct tacho_object tacho_object_self;
extern unsigned char tacho_object_known;
void tacho_object_start(void);
void tacho_object_stop(void);

TACHO_PER_OBJECT struct tacho_object tacho_object_self = {
	sizeof(struct tacho_object), 0,
	__start_tacho_events, __stop_tacho_events,
	__start_tacho_evals, __stop_tacho_evals,
};

TACHO_PER_OBJECT unsigned char tacho_object_known = 0;

/*
 * Fills in the offsets of an event's fields.  Returns 0 if they do not end
 * at the end of the struct; such an event would record garbage.
 */
static inline TACHO_MAYBE_UNUSED int tacho_object_layout(struct tacho_event *ev)
{
	/* Written only here, before any reader; const elsewhere. */
	struct tacho_event_field *f =
		(struct tacho_event_field *)(uintptr_t)ev->fields;
	uint32_t at = sizeof(struct tacho_common);
	uint32_t i;

	for (i = 0; i < ev->nr_fields; i++) {
		at = (at + f[i].align - 1) & ~(f[i].align - 1);
		f[i].offset = at;
		at += f[i].size;
	}
	return f[i].offset == at;
}

/* Steps 1 to 3 for one pointer of the array. */
static inline TACHO_MAYBE_UNUSED
void tacho_object_prepare(struct tacho_event **slot)
{
	struct tacho_event *ev = *slot;

	if (!ev)
		return;
	if (ev->index) {
		*slot = NULL;
		return;
	}
	if (!ev->name) {
		struct tacho_late_event *late = (struct tacho_late_event *)ev;

		late->finish(late);
	} else if (!tacho_object_layout(ev)) {
		*slot = NULL;
		return;
	}
	/* Marks the event for step 1; libtacho sets the real index. */
	ev->index = UINT32_MAX;
}

#ifdef TACHO_OPTIONAL

/* Functions of the library, after it was loaded. */
extern void (*tacho_optional_detach)(struct tacho_object *object);
TACHO_PER_OBJECT void (*tacho_optional_detach)(struct tacho_object *object) =
	NULL;

/* The library is opened and never closed, as if it was linked. */
static inline TACHO_MAYBE_UNUSED
int tacho_object_attach(struct tacho_object *object)
{
	const int saved = errno;
	int (*attach)(struct tacho_object *object) = NULL;
	void *lib = dlopen("libtacho.so.0", RTLD_NOW | RTLD_LOCAL);

	if (lib) {
		attach = (__extension__ (int (*)(struct tacho_object *))
			  dlsym(lib, "tacho_object_register"));
		tacho_optional_detach = (__extension__
			(void (*)(struct tacho_object *))
			dlsym(lib, "tacho_object_unregister"));
	}
	if (!attach || !tacho_optional_detach)
		(void)dlerror();	/* not the program's error */
	errno = saved;
	return attach && tacho_optional_detach ? attach(object) : -ENOSYS;
}

static inline TACHO_MAYBE_UNUSED
void tacho_object_detach(struct tacho_object *object)
{
	if (tacho_optional_detach)
		tacho_optional_detach(object);
}

#else

static inline TACHO_MAYBE_UNUSED
int tacho_object_attach(struct tacho_object *object)
{
	return tacho_object_register(object);
}

static inline TACHO_MAYBE_UNUSED
void tacho_object_detach(struct tacho_object *object)
{
	tacho_object_unregister(object);
}

#endif

__attribute__((constructor(101))) TACHO_PER_OBJECT
void tacho_object_start(void)
{
	struct tacho_event **slot;

	if (tacho_object_known)
		return;
	tacho_object_known = 1;
	for (slot = __start_tacho_events; slot < __stop_tacho_events; slot++)
		tacho_object_prepare(slot);
	for (slot = __start_tacho_events; slot < __stop_tacho_events; slot++) {
		if (*slot)
			(*slot)->index = 0;
	}
	(void)tacho_object_attach(&tacho_object_self);
}

__attribute__((destructor(101))) TACHO_PER_OBJECT
void tacho_object_stop(void)
{
	if (!tacho_object_known)
		return;
	tacho_object_known = 0;
	tacho_object_detach(&tacho_object_self);
}

#ifdef __cplusplus
}
#endif

#endif
