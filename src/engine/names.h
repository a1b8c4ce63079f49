/* SPDX-License-Identifier: MIT */
/*
 * names.h - what a number means: the engine's questions to its host.
 *
 * Every call may be NULL: the answer is "not known" then.  Calls with
 * (*) may be made while an event is being looked at, so inside a traced
 * program they are safe in any thread and any signal handler; the
 * others are made when text is compiled or printed.
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
	uint64_t end;		/* first address behind it; start: not known */
	/*
	 * Of find_symbol(): not 0 where a function has other addresses in each
	 * process; in_function() is asked for each event then.
	 */
	uint32_t function;
};

struct tacho_names {
	void *arg;		/* handed to the calls */

	/* The function that addr lies in. */
	bool (*symbol)(void *arg, uint64_t addr, struct tacho_symbol *sym);

	/* The function called name, of this event's address space. */
	bool (*find_symbol)(void *arg, const char *name,
			    struct tacho_symbol *sym);

	/*
	 * (*) Whether addr of an event lies in a function that find_symbol() gave
	 * this number.
	 */
	bool (*in_function)(void *arg, const struct tacho_rec *rec, uint64_t addr,
			    uint32_t function);

	/* (*) The name of a thread: at most 15 bytes and a NUL to comm. */
	bool (*comm)(void *arg, int32_t pid, char comm[16]);

	/* The name of a system call without "sys_", or NULL. */
	const char *(*syscall)(void *arg, uint64_t nr);

	/* The value of an enum constant in the kernel or program, for filters. */
	bool (*constant)(void *arg, const char *name, int64_t *value);

	/*
	 * (*) Copies the string at addr of the thread's user memory, or of the
	 * kernel's memory, up to its NUL or size bytes.  The number of bytes copied,
	 * without the NUL; -1 when the memory cannot be read (or is not there any
	 * more, as in a trace file).
	 */
	long (*user_string)(void *arg, int32_t pid, uint64_t addr, char *to,
			    size_t size);
	long (*kernel_string)(void *arg, uint64_t addr, char *to, size_t size);
};

#endif
