/* SPDX-License-Identifier: MIT */
/*
 * probe.h - dynamic events at any place in a program or in the kernel.
 *
 * They are made in four steps; app_probe_make() is 1 to 3, app_probe_install() is 4:
 *
 *	1  each spec becomes events, each with the places where it happens: 'checkout:12' ->
 *	   an address in the program (probe_location.c)
 *	2  the arguments become, for each place, what the kernel can fetch there
 *	   (probe_args.c); where a copy of a function lacks one, it is left out
 *	3  each place becomes a line in the kernel's language (tracefs/probe_spec.h)
 *	4  the kernel gets the lines; when it refuses one, those before it are taken back
 *
 * Probes are the kernel's: they remain until they are deleted, by any process.
 */
#ifndef TACHO_APP_PROBE_H
#define TACHO_APP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/observer.h"

#define APP_PROBE_GROUP		"tacho_probes"
#define APP_PROBE_NAME_MAX	63	/* bytes of a group's or an event's name */

/* Whether it can be the name of a group or an event. */
bool app_probe_is_name(const char *name);

/* ---- making ---------------------------------------------------------------- */

/* What to probe.  One of program, kernel and neither: then specs are lines of the kernel's. */
struct app_probe_config {
	const char *program;		/* a path, or a name to look for in PATH; NULL: none */
	bool kernel;			/* specs are [MODULE:]SYMBOL[+OFFSET][%return] */
	const char *const *spec;
	size_t nr_specs;
	const char *group;		/* not NULL */
	const char *name;		/* of the event, if it is one; NULL: made of the spec */
	const char *args;		/* words [NAME=]VALUE[:TYPE]; NULL: none */
	const char *debug_root;		/* where separate debug files are; NULL: the usual place */
	const struct tacho_observer *observer;	/* what is left out, and why; or NULL */
};

struct app_probe_line {
	const char *text;		/* as the kernel takes it */
	const char *event;		/* "group:event"; lines of one event follow each other */
};

struct app_probe_set {
	struct app_probe_line *line;
	size_t nr;
	const char *wrong;		/* the text that the error is about, or NULL */
	struct tacho_arena arena;
};

/*
 * app_probe_make - find the places, and make their lines.
 *
 * Needs no privilege and changes nothing.  Returns 0, or a negative errno with d filled in:
 *	-ENOENT		there is no such program, function, line, marker
 *	-EINVAL		a spec or an argument is malformed, or cannot be had there
 *	-ENOMEM, ...
 * *set is for app_probe_set_release() either way.
 */
int app_probe_make(struct app_probe_set *set, const struct app_probe_config *config,
		   struct tacho_diag *d);

/*
 * app_probe_install - give the lines to the kernel: all of them, or none.
 *
 * Returns 0, or a negative errno with d filled in: -EEXIST (an event is there already), -EACCES, or
 * what the kernel says of a line.  One that could not be taken back is said to the observer (which
 * may be NULL).
 */
int app_probe_install(struct app_probe_set *set, const struct tacho_observer *observer,
		      struct tacho_diag *d);

/* Appends the text that the last error is about, with a caret at its place; nothing if none. */
void app_probe_caret(const struct app_probe_set *set, const struct tacho_diag *d,
		     struct tacho_buf *out);

void app_probe_set_release(struct app_probe_set *set);

/* ---- those that there are -------------------------------------------------- */

struct app_probe_arg {
	const char *name, *fetch, *type;	/* name, type: or NULL */
};

/* One place of an event.  Texts are valid during the call. */
struct app_probe_info {
	const char *event;		/* "group:event" */
	const char *kind;		/* "program", "return", "kernel", "kreturn", ... */
	const char *place;		/* as in the definition */
	const char *program;		/* the last part of its path; NULL: of none */
	const char *source;		/* "checkout+8 (main.c:12)"; "": not known */
	const char *filter;		/* or NULL */
	const char *definition;		/* the kernel's line */
	const struct app_probe_arg *arg;
	size_t nr_args;
	bool has_hits;
	uint64_t hits;			/* while it was recorded */
};

/* The dynamic events of the machine, as they were when the list was made. */
struct app_probe_list;

/*
 * app_probe_list_new - read which there are.  Mounts tracefs if it is not mounted.
 *
 * Returns 0 and *list, or a negative errno with d filled in.
 */
int app_probe_list_new(struct app_probe_list **list, struct tacho_diag *d);
void app_probe_list_free(struct app_probe_list *list);

/*
 * app_probe_each - call fn for each place of the events that one of the globs matches; no globs:
 * of all.
 *
 * "group:event"; a glob without a group is for events of APP_PROBE_GROUP.  Returns how many there
 * were.
 */
size_t app_probe_each(struct app_probe_list *list, const char *const *globs, size_t nr,
		      void (*fn)(void *arg, const struct app_probe_info *probe), void *arg);

/*
 * app_probe_delete - delete the events that one of the globs matches, with all their places.
 *
 * fn is called for each event: failed NULL, or why it remains.  The others are deleted still.
 * Returns 0, the last one's error, or -ENOENT with d filled in and nothing deleted: a glob matches
 * none.
 */
int app_probe_delete(struct app_probe_list *list, const char *const *globs, size_t nr,
		     void (*fn)(void *arg, const char *event, const struct tacho_diag *failed),
		     void *arg, struct tacho_diag *d);

#endif
