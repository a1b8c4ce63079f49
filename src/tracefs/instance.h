/* SPDX-License-Identifier: MIT */
/*
 * instance.h - a session's own tracing instance in the kernel.
 *
 * The kernel's top-level buffer and the instances of others stay as they are:
 * all that tacho sets, it sets in a directory of its own,
 *
 *	instances/tacho-<name>-<pid>-<start>
 *
 * named after the process that made it: its pid and its start time (field
 * 22 of /proc/<pid>/stat), so that anybody can tell whether that process
 * still lives.
 *
 * The life of an instance
 *	create	makes it, switched off, with its buffer and clock set.  When any
 *		step fails, it is removed again.
 *	enable	switches event types on: nothing is recorded yet.
 *	start	recording, until stop.
 *	destroy	removes it.  Readers (reader.h) must be closed before.
 *
 * A recorder that is killed leaves its instance behind.  The next create (or
 * tacho_kernel_sweep()) removes those whose owner is gone.  The sweep is one
 * rmdir, which the kernel refuses while anybody has a file of it open, and
 * the owner holds one open from the first moment: so a sweeper that cannot see the
 * owner (another pid namespace) does no harm.
 *
 * An instance that is to outlive its maker (config.keep) is called tacho.<name>: no
 * sweep removes it, and who creates it again gets it as it is, events and contents
 * included.
 *
 * One thread uses a struct tacho_kernel at a time.
 */
#ifndef TACHO_TRACEFS_INSTANCE_H
#define TACHO_TRACEFS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "kdata/pages.h"
#include "tracefs/tracefs.h"

struct tacho_kernel;
struct tacho_ktypes;

struct tacho_kernel_config {
	const char *name;	/* the session's: no '/', not empty */
	uint64_t buffer_size;	/* bytes per CPU; 0: 4 MiB */
	uint32_t subbuf_size;	/* bytes wished per sub-buffer; 0: 64 KiB */
	uint32_t wake_percent;	/* poll() wakes at this fill level; 0: 25 */
	bool overwrite;		/* full: the oldest go; else the newest are lost */
	bool keep;		/* outlives this process; see above */
	bool mono;		/* the monotonic clock, also where there is x86-tsc */
};

#define TACHO_KERNEL_INSTANCE_MAX	64

/* What the kernel made of it. */
struct tacho_kernel_info {
	char instance[TACHO_KERNEL_INSTANCE_MAX];	/* directory below instances/ */
	char clock[16];		/* "x86-tsc" or "mono" */
	bool clock_is_tsc;	/* ticks are TSC cycles; else ns of CLOCK_MONOTONIC */
	bool overwrite;
	uint32_t subbuf_size;	/* bytes of a sub-buffer, header included */
	uint64_t buffer_size;	/* bytes per CPU */
	uint32_t nr_cpus;	/* CPUs with a buffer, numbered from 0 */
	size_t nr_enabled;	/* events that tacho_kernel_enable() switched on */
	bool found;		/* keep: it was there already */
	struct tacho_kpage_layout layout;
};

/*
 * tacho_kernel_create - sweep, then make an instance.
 *
 * Returns 0 and *k, to be given to tacho_kernel_destroy(), or a negative errno
 * with d filled in and nothing left behind:
 *	-EACCES, -EPERM, -ENOENT, -ENODEV	see tacho_tracefs_open()
 *	-EINVAL		config->name is no name
 *	-EEXIST		this process has one of that name
 *	-ENOMEM		also: the kernel cannot have buffers that large
 */
int tacho_kernel_create(struct tacho_kernel **k,
			const struct tacho_kernel_config *config,
			struct tacho_diag *d);

/*
 * Removes the instance and frees k.  NULL is fine.  Returns 0, or the negative errno of
 * the removal (-EBUSY: somebody else has a file of it open).
 */
int tacho_kernel_destroy(struct tacho_kernel *k);

/* Frees k and lets the instance be; for one that was created to be kept. */
void tacho_kernel_leave(struct tacho_kernel *k);

/*
 * Removes the kept instance of that name, which nobody has created in this process.
 * 0, -ENOENT, -EBUSY, or what the system said.
 */
int tacho_kernel_remove_kept(const struct tacho_tracefs *t, const char *name);

/* Whether there is a kept instance of that name. */
bool tacho_kernel_is_kept(const struct tacho_tracefs *t, const char *name);

/*
 * Calls fn for the name of each kept instance, without "tacho.", until it returns not 0;
 * returns that, or a negative errno.  Of a long session's name that is a part and a hash.
 */
int tacho_kernel_kept_each(const struct tacho_tracefs *t,
			   int (*fn)(const char *name, void *arg), void *arg);

/* Borrowed; changes with the calls below. */
const struct tacho_kernel_info *tacho_kernel_info(const struct tacho_kernel *k);

/* The instance's directory and the whole of tracefs; borrowed. */
int tacho_kernel_dirfd(const struct tacho_kernel *k);
const struct tacho_tracefs *tacho_kernel_tracefs(const struct tacho_kernel *k);

/*
 * tacho_kernel_enable - switch events on, in addition to those that are.
 *
 * Each of the n globs is "system:event" ("sched:sched_w*", "syscalls:*",
 * "*:*_error"), or one word, which is an event's or a system's name or glob.
 * One that begins with '!' takes away from what the globs before it in this
 * call chose.  Whole systems are switched by one write.
 *
 * Returns 0, or with d filled in:
 *	-ENOENT		a glob matches nothing; d names it and what is near
 *	-EINVAL		a glob is empty
 *	or what the kernel said about an event.
 * After an error of the kernel some of the events are on.
 */
int tacho_kernel_enable(struct tacho_kernel *k, const char *const *globs,
			size_t n, struct tacho_diag *d);

/*
 * Counts an event, which is off, among the enabled ones: a trigger of the instance will
 * switch it on, and its type must be known by then.  -ENOENT: there is none.
 */
int tacho_kernel_expect(struct tacho_kernel *k, const char *system,
			const char *event, struct tacho_diag *d);

/*
 * tacho_kernel_load_types - add the types of all events that are enabled, and the kernel's
 * own that any instance can contain (system "ftrace").
 *
 * Call it again after tacho_kernel_enable(); a type that is known stays as it is.  Returns 0
 * or a negative errno with d filled in.
 */
int tacho_kernel_load_types(const struct tacho_kernel *k, struct tacho_ktypes *t,
			    struct tacho_diag *d);

/*
 * tacho_kernel_load_type - add the type with an id, which need not be enabled any more.
 *
 * Looks at the `id` file of every event.  Returns 0, -ENOENT, or another negative errno.
 */
int tacho_kernel_load_type(const struct tacho_kernel *k, struct tacho_ktypes *t, uint32_t id);

/* The i-th event that is enabled, or NULL beyond the last.  Borrowed. */
const struct tacho_kernel_event *tacho_kernel_enabled(const struct tacho_kernel *k,
						      size_t i);

/*
 * tacho_kernel_set_pids - record only these processes.
 *
 * A process's threads that exist now are all included; `follow` adds what they
 * fork and clone from now on.  n 0: all processes again.  While recording, nothing
 * is recorded for the moment in which the lists are exchanged.
 *
 * Returns 0 or a negative errno with d filled in (-ESRCH: no such process).
 */
int tacho_kernel_set_pids(struct tacho_kernel *k, const int32_t *pids, size_t n,
			  bool follow, struct tacho_diag *d);

/* Leaves out these threads' events: the recorder's own, for instance. */
int tacho_kernel_set_not_pids(struct tacho_kernel *k, const int32_t *pids,
			      size_t n, struct tacho_diag *d);

/* A trace option of the instance, "stacktrace" for example, on or off. */
int tacho_kernel_set_option(struct tacho_kernel *k, const char *name, bool on,
			    struct tacho_diag *d);

/* Recording on or off: one write. */
int tacho_kernel_start(struct tacho_kernel *k, struct tacho_diag *d);
int tacho_kernel_stop(struct tacho_kernel *k, struct tacho_diag *d);

/*
 * tacho_kernel_find - the instance of the recording that is called name.
 *
 * For who has no session to ask: kernel events alone are recorded without one.
 *
 * Returns 0 and instance, or -ENOENT (no process that lives made one), -EEXIST
 * (several did), or what the system said.
 */
int tacho_kernel_find(const struct tacho_tracefs *t, const char *name,
		      char instance[TACHO_KERNEL_INSTANCE_MAX]);

/*
 * tacho_kernel_sweep - remove the instances of recorders that are gone.
 *
 * Returns how many were removed, or a negative errno (d may be NULL).  One
 * that cannot be removed is left.
 */
int tacho_kernel_sweep(const struct tacho_tracefs *t, struct tacho_diag *d);

#endif
