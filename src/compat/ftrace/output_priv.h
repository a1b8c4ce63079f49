/* SPDX-License-Identifier: MIT */
/* output_priv.h - shared by the parts of output.h. */
#ifndef TACHO_COMPAT_FTRACE_OUTPUT_PRIV_H
#define TACHO_COMPAT_FTRACE_OUTPUT_PRIV_H

#include "base/compiler.h"
#include "base/hashmap.h"
#include "event/type.h"
#include "event/value.h"
#include "compat/ftrace/output.h"

struct output_type;

/* Prints an event of a kind: all text after the context, newline included. */
typedef void output_kind_fn(struct tacho_output *o,
			    const struct tacho_record *r,
			    const struct output_type *t, struct tacho_buf *out);

/* Maximum number of fields that a kind uses directly. */
#define OUTPUT_FIELDS	8

/* The three outputs of a kind; NULL: the kernel has no special one. */
struct output_kind {
	const char *name;	/* of the type, in system ftrace */
	const char *field[OUTPUT_FIELDS];
	output_kind_fn *text, *raw, *hex, *bin, *message;
};

/* An event's type and cached data about it. */
struct output_type {
	const struct tacho_type *type;
	const struct output_kind *kind;	/* never NULL */
	const struct tacho_field *field[OUTPUT_FIELDS];	/* of the kind; or NULL */
	bool ftrace;		/* one of the kernel's own, system ftrace */
	uint32_t number;	/* the kernel's for it */
	const char *probed;	/* "system.event" of an event probe; in head */
	uint32_t head_len;
	char head[];		/* "name: ", and the text of probed */
};

/* A thread's part of a line, "bash-1977 (1977) ". */
struct output_task {
	int32_t pid;
	uint32_t len;		/* 0: not known yet */
	char text[64];
};

#define OUTPUT_TASKS	1024u	/* a power of two */
#define OUTPUT_CPUS	4096u	/* that can have started */

struct tacho_output {
	struct tacho_output_config config;
	uint64_t index;		/* of the next record */
	uint64_t started[OUTPUT_CPUS / 64];
	struct tacho_hashmap types;	/* struct output_type, by type */
	const struct output_type *last;
	struct output_task *tasks;	/* OUTPUT_TASKS of them, by pid */
	uint64_t second;	/* whose text second_text is */
	uint32_t second_len;	/* 0: none yet */
	char second_text[24];
};

/* The time that is shown for a clock value. */
static inline uint64_t output_time(const struct tacho_output *o, uint64_t ticks)
{
	return o->config.clock ? tacho_clock_ns(o->config.clock, ticks) : ticks;
}

/* A thread's name, or its substitute; a name has at most 15 characters. */
const char *output_comm(const struct tacho_output *o, int32_t pid);

/* " 4713.025312", or the number. */
void output_put_time(struct tacho_output *o, uint64_t t, struct tacho_buf *out);

/* "name", "name+0x10/0x40 [module]", " <ffffffff81000000>" by the options. */
void output_put_ip(struct tacho_output *o, uint64_t addr, bool offset,
		   struct tacho_buf *out);

/* The kind of a type; probed is not NULL for an event probe.  Never NULL. */
const struct output_kind *output_kind_of(const struct tacho_type *type,
					 const char *probed);

/* A type's text by its print format. */
void output_put_format(struct tacho_output *o, const struct tacho_record *r,
		       struct tacho_buf *out);

/* All fields, as under the option "fields". */
void output_put_fields(struct tacho_output *o, const struct tacho_record *r,
		       const struct output_type *t, struct tacho_buf *out);

/* The field's number; 0 where there is none. */
uint64_t output_number(const struct tacho_field *f, const struct tacho_record *r);

/* The n-th field of the kind. */
static inline uint64_t output_field(const struct output_type *t, unsigned int n,
				    const struct tacho_record *r)
{
	return output_number(t->field[n], r);
}

#endif
