/* SPDX-License-Identifier: MIT */
/*
 * names.h - names for numbers: callbacks of the engine's host.
 *
 * Every callback may be NULL, which means "not known".  The engine calls those with (*) while it
 * processes an event, so inside a traced program they must be safe in any thread and any signal
 * handler.  It calls the others only while it compiles or prints text.
 */
#ifndef TACHO_ENGINE_NAMES_H
#define TACHO_ENGINE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tacho_rec;

/* An address range with a name: a function. */
struct tacho_symbol {
	const char *name;	/* borrowed until the next call */
	const char *module;	/* "ext4", or NULL */
	uint64_t start;
	uint64_t end;		/* first address after it; equal to start: not known */
	/*
	 * From find_symbol(): not 0 if the function has a different address in each process;
	 * in_function() is then called for each event.
	 */
	uint32_t function;
};

struct tacho_names {
	void *arg;		/* passed to the callbacks */

	/* Finds the function that contains addr. */
	bool (*symbol)(void *arg, uint64_t addr, struct tacho_symbol *sym);

	/* Finds the function called name, in this event's address space. */
	bool (*find_symbol)(void *arg, const char *name,
			    struct tacho_symbol *sym);

	/*
	 * (*) Whether addr of an event is in the function to which find_symbol() gave this
	 * number.
	 */
	bool (*in_function)(void *arg, const struct tacho_rec *rec, uint64_t addr,
			    uint32_t function);

	/* (*) Copies the name of a thread to comm: at most 15 bytes and a NUL. */
	bool (*comm)(void *arg, int32_t pid, char comm[16]);

	/* The name of a system call without "sys_", or NULL. */
	const char *(*syscall)(void *arg, uint64_t nr);

	/* The value of an enum constant in the kernel or program, for filters. */
	bool (*constant)(void *arg, const char *name, int64_t *value);

	/*
	 * (*) Copies the string at addr of the thread's user memory, or of the
	 * kernel's memory, up to its NUL or size bytes.  Returns the number of bytes copied,
	 * without the NUL; -1 if the memory cannot be read (or no longer exists, as for a trace
	 * file).
	 */
	long (*user_string)(void *arg, int32_t pid, uint64_t addr, char *to,
			    size_t size);
	long (*kernel_string)(void *arg, uint64_t addr, char *to, size_t size);
};

#endif
