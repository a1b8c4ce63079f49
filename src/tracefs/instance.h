/* SPDX-License-Identifier: MIT */
/*
 * instance.h - a session's own tracing instance in the kernel.
 *
 * tacho does not change the kernel's top-level buffer or the instances of other tools.  All its
 * settings are in its own directory,
 *
 *	instances/tacho-<name>-<pid>-<start>
 *
 * named after the process that created it: its pid and its start time (field 22 of
 * /proc/<pid>/stat), so that other processes can check whether it still lives.
 *
 * The life of an instance
 *	create	creates it, with tracing off and its buffer and clock set.  If a step fails, the
 *		instance is removed again.
 *	enable	enables event types; nothing is recorded yet.
 *	start	recording, until stop.
 *	destroy	removes it.  Readers (reader.h) must be closed before.
 *
 * A killed recorder leaves its instance behind.  The next create (or tacho_kernel_sweep())
 * removes instances whose owner is gone.  The sweep is one rmdir, which fails while any file of
 * the instance is open, and the owner always has one open: so the sweep is safe even if it cannot
 * see the owner (another pid namespace).
 *
 * An instance that must outlive its creator (config.keep) is called tacho.<name>: the sweep does
 * not remove it, and creating it again returns the existing instance with its events and
 * contents.
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
	uint32_t subbuf_size;	/* requested bytes per sub-buffer; 0: 64 KiB */
	uint32_t wake_percent;	/* poll() wakes at this fill level; 0: 25 */
	bool overwrite;		/* overwrite mode; otherwise discard mode */
	bool keep;		/* outlives this process; see above */
	bool mono;		/* use the monotonic clock even if x86-tsc is available */
};

#define TACHO_KERNEL_INSTANCE_MAX	64

/* The actual settings of the instance. */
struct tacho_kernel_info {
	char instance[TACHO_KERNEL_INSTANCE_MAX];	/* directory below instances/ */
	char clock[16];		/* "x86-tsc" or "mono" */
	bool clock_is_tsc;	/* ticks are TSC cycles; else ns of CLOCK_MONOTONIC */
	bool overwrite;
	uint32_t subbuf_size;	/* bytes of a sub-buffer, header included */
	uint64_t buffer_size;	/* bytes per CPU */
	uint32_t nr_cpus;	/* CPUs with a buffer, numbered from 0 */
	size_t nr_enabled;	/* events that tacho_kernel_enable() enabled */
	bool found;		/* keep: it existed already */
	struct tacho_kpage_layout layout;
};

/*
 * tacho_kernel_create - sweep, then create an instance.
 *
 * Returns 0 and *k, which the caller passes to tacho_kernel_destroy(), or a negative errno with d
 * filled in and nothing left behind:
 *	-EACCES, -EPERM, -ENOENT, -ENODEV	see tacho_tracefs_open()
 *	-EINVAL		config->name is invalid
 *	-EEXIST		this process has an instance of that name
 *	-ENOMEM		also: the kernel cannot allocate buffers of this size
 */
int tacho_kernel_create(struct tacho_kernel **k,
			const struct tacho_kernel_config *config,
			struct tacho_diag *d);

/*
 * Removes the instance and frees k.  Ignores NULL. Returns 0, or the negative errno of the
 * removal (-EBUSY: another process has a file of it open).
 */
int tacho_kernel_destroy(struct tacho_kernel *k);

/* Frees k and keeps the instance; for an instance created with config.keep. */
void tacho_kernel_leave(struct tacho_kernel *k);

/*
 * Removes the kept instance of that name, which must not be open in this process.  Returns 0,
 * -ENOENT, -EBUSY, or an error of the system.
 */
int tacho_kernel_remove_kept(const struct tacho_tracefs *t, const char *name);

/* Whether there is a kept instance of that name. */
bool tacho_kernel_is_kept(const struct tacho_tracefs *t, const char *name);

/*
 * Calls fn for the name of each kept instance, without "tacho.", until it returns not 0;
 * returns that, or a negative errno.  For a session with a long name, that is a part of the name
 * and a hash.
 */
int tacho_kernel_kept_each(const struct tacho_tracefs *t,
			   int (*fn)(const char *name, void *arg), void *arg);

/* Borrowed; changes with the calls below. */
const struct tacho_kernel_info *tacho_kernel_info(const struct tacho_kernel *k);

/* The instance's directory and the whole of tracefs; borrowed. */
int tacho_kernel_dirfd(const struct tacho_kernel *k);
const struct tacho_tracefs *tacho_kernel_tracefs(const struct tacho_kernel *k);

/*
 * tacho_kernel_enable - enable events, in addition to those enabled before.
 *
 * Each of the n globs is "system:event" ("sched:sched_w*", "syscalls:*",
 * "*:*_error"), or one word, which is an event's or a system's name or glob.
 * A glob that begins with '!' excludes events from the selection by the previous globs of this
 * call.  A whole system is enabled by one write.
 *
 * Returns 0, or with d filled in:
 *	-ENOENT		a glob matches nothing; d names it and similar events
 *	-EINVAL		a glob is empty
 *	or an error of the kernel for an event.  After such an error some of the events are
 * enabled.
 */
int tacho_kernel_enable(struct tacho_kernel *k, const char *const *globs,
			size_t n, struct tacho_diag *d);

/*
 * Adds a disabled event to the list of enabled ones: a trigger of the instance may enable it, and
 * its type must be known by then. -ENOENT: no such event.
 */
int tacho_kernel_expect(struct tacho_kernel *k, const char *system,
			const char *event, struct tacho_diag *d);

/*
 * tacho_kernel_load_types - add the types of all events that are enabled, and the kernel's
 * own that any instance can contain (system "ftrace").
 *
 * Call it again after tacho_kernel_enable(); known types are not changed.  Returns 0 or a
 * negative errno with d filled in.
 */
int tacho_kernel_load_types(const struct tacho_kernel *k, struct tacho_ktypes *t,
			    struct tacho_diag *d);

/*
 * tacho_kernel_load_type - add the type with an id; its event may be disabled by now.
 *
 * Reads the `id` file of every event.  Returns 0, -ENOENT, or another negative errno.
 */
int tacho_kernel_load_type(const struct tacho_kernel *k, struct tacho_ktypes *t, uint32_t id);

/* The i-th event that is enabled, or NULL beyond the last.  Borrowed. */
const struct tacho_kernel_event *tacho_kernel_enabled(const struct tacho_kernel *k,
						      size_t i);

/*
 * tacho_kernel_set_pids - record only these processes.
 *
 * A process's threads that exist now are all included; `follow` adds what they
 * fork and clone from now on.  n 0: all processes again.  During recording, a change of the lists
 * stops recording briefly.
 *
 * Returns 0 or a negative errno with d filled in (-ESRCH: no such process).
 */
int tacho_kernel_set_pids(struct tacho_kernel *k, const int32_t *pids, size_t n,
			  bool follow, struct tacho_diag *d);

/* Excludes these threads' events, for example the recorder's own. */
int tacho_kernel_set_not_pids(struct tacho_kernel *k, const int32_t *pids,
			      size_t n, struct tacho_diag *d);

/* Sets a trace option of the instance, for example "stacktrace". */
int tacho_kernel_set_option(struct tacho_kernel *k, const char *name, bool on,
			    struct tacho_diag *d);

/* Starts or stops recording by one write. */
int tacho_kernel_start(struct tacho_kernel *k, struct tacho_diag *d);
int tacho_kernel_stop(struct tacho_kernel *k, struct tacho_diag *d);

/*
 * tacho_kernel_find - find the instance of the recording called name.
 *
 * For recordings of kernel events only, which have no session.
 *
 * Returns 0 and instance, or -ENOENT (no living process has one), -EEXIST (several have), or an
 * error of the system.
 */
int tacho_kernel_find(const struct tacho_tracefs *t, const char *name,
		      char instance[TACHO_KERNEL_INSTANCE_MAX]);

/*
 * tacho_kernel_sweep - remove the instances of dead recorders.
 *
 * Returns how many were removed, or a negative errno (d may be NULL).  Instances that cannot be
 * removed are skipped.
 */
int tacho_kernel_sweep(const struct tacho_tracefs *t, struct tacho_diag *d);

#endif
