/* SPDX-License-Identifier: MIT */
/* facts.h - a recording's data other than records: environment, thread names, kernel symbols. */
#ifndef TACHO_STREAM_FACTS_H
#define TACHO_STREAM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "kdata/symbols.h"

struct tacho_fact {
	const char *name, *value;
	struct tacho_fact *next;
};

struct tacho_fact_task {
	int32_t pid, tgid;
	uint32_t order;		/* later lines win */
	char comm[16];
};

struct tacho_fact_string {
	uint64_t addr;
	uint32_t text;		/* offset in string_text */
};

struct tacho_facts {
	struct tacho_arena arena;
	struct tacho_fact *env;
	struct tacho_fact_task *task;	/* sorted by pid once ready */
	size_t nr_tasks, room_tasks;
	bool tasks_ready;
	bool no_memory;		/* a task is missing for lack of memory */
	struct tacho_symbols symbols;		/* the kernel's */
	struct tacho_fact_string *string;	/* sorted by addr */
	size_t nr_strings;
	struct tacho_buf string_text;
};

void tacho_facts_init(struct tacho_facts *f);
void tacho_facts_release(struct tacho_facts *f);

/* Adds or replaces a fact; both texts are copied.  0 or -ENOMEM. */
int tacho_facts_set(struct tacho_facts *f, const char *name, size_t name_len,
		    const char *value, size_t value_len);
const char *tacho_facts_get(const struct tacho_facts *f, const char *name);

/* One thread's name; comm need not end with NUL.  0, -ENOMEM, or -EOVERFLOW: too many. */
int tacho_facts_add_task(struct tacho_facts *f, int32_t pid, int32_t tgid,
			 const char *comm, size_t len);

/*
 * Adds lines "pid tgid comm"; other lines are skipped.  Returns the same as
 * tacho_facts_add_task().
 */
int tacho_facts_add_cmdlines(struct tacho_facts *f, const char *text,
			     size_t len);

/* Borrowed until the next task is added; NULL: not known.  tgid may be NULL. */
const char *tacho_facts_comm(struct tacho_facts *f, int32_t pid, int32_t *tgid);

/* Sets the process of a thread whose name is known; ignores other threads. */
void tacho_facts_set_tgid(struct tacho_facts *f, int32_t pid, int32_t tgid);

/*
 * Takes ownership of lines as in tracefs' printk_formats, '0xffffffff81000000 : "text"': strings
 * of the kernel that events point to.  Otherwise as tacho_symbols_take().
 */
int tacho_facts_take_printk(struct tacho_facts *f, struct tacho_buf *text);

/* The string at addr, as in the kernel, or NULL. */
const char *tacho_facts_string(const struct tacho_facts *f, uint64_t addr);

#endif
