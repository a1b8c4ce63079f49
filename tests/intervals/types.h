/* SPDX-License-Identifier: MIT */
/* types.h - a stream that only has types, and records of them that a test makes. */
#ifndef TACHO_TESTS_INTERVALS_TYPES_H
#define TACHO_TESTS_INTERVALS_TYPES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "stream/stream.h"

#define FIELD(type, name, at, size) \
	"\tfield:" type " " name ";\toffset:" #at ";\tsize:" #size ";\tsigned:1;\n"

enum { SWITCH, WAKING, WAKEUP, FORK, EXIT, ENTER, LEAVE, SIRQ, SIRQ_END, ISSUE, COMPLETE, TAKE,
       DONE, QUEUE, NR_TYPES };

static const struct {
	const char *system, *name, *fields;
} type_texts[NR_TYPES] = {
	{ "sched", "sched_switch", FIELD("int", "prev_pid", 8, 4) FIELD("int", "next_pid", 12, 4)
	  FIELD("int", "prev_state", 16, 4) },
	{ "sched", "sched_waking", FIELD("int", "pid", 8, 4) },
	{ "sched", "sched_wakeup", FIELD("int", "pid", 8, 4) },
	{ "sched", "sched_process_fork", FIELD("int", "child_pid", 8, 4) },
	{ "sched", "sched_process_exit", FIELD("int", "pid", 8, 4) },
	{ "raw_syscalls", "sys_enter", FIELD("int", "id", 8, 4) },
	{ "raw_syscalls", "sys_exit", FIELD("int", "id", 8, 4) },
	{ "irq", "softirq_entry", FIELD("int", "vec", 8, 4) },
	{ "irq", "softirq_exit", FIELD("int", "vec", 8, 4) },
	{ "block", "block_rq_issue", FIELD("int", "dev", 8, 4) FIELD("int", "sector", 12, 4) },
	{ "block", "block_rq_complete", FIELD("int", "dev", 8, 4) FIELD("int", "sector", 12, 4) },
	{ "shop", "take", FIELD("int", "id", 8, 4) },
	{ "shop", "done", FIELD("int", "order", 8, 4) },
	{ "shop", "queue", FIELD("int", "left", 8, 4) FIELD("int", "item", 12, 4) },
};

static inline void close_source(struct tacho_source *source)
{
	tacho_source_release(source);
	free(source);
}

static const struct tacho_source_ops source_ops = { .format = "story", .close = close_source };

/* The stream, and its types; NULL: no memory. */
static inline struct tacho_stream *types_stream(struct tacho_arena *arena,
						const struct tacho_type *type[NR_TYPES])
{
	struct tacho_stream *stream = tacho_stream_new(0);
	struct tacho_source *source = calloc(1, sizeof(*source));

	if (!stream || !source)
		return NULL;
	tacho_source_init(source, &source_ops, 0);
	for (int i = 0; i < NR_TYPES; i++) {
		char text[2048];
		int len = snprintf(text, sizeof(text), TACHO_COMMON_FIELDS
				   "%s\nprint fmt: \"\"\n", type_texts[i].fields);

		type[i] = tacho_type_parse(arena, type_texts[i].system, type_texts[i].name,
					   (uint32_t)i, text, (size_t)len, NULL);
		if (!type[i] || tacho_source_set_type(source, 1, (uint32_t)i, type[i]))
			return NULL;
	}
	return tacho_stream_add_take(stream, source) ? NULL : stream;
}

/* What a record of up to three integers has. */
struct types_raw {
	struct tacho_common common;
	int32_t v[4];
};

static inline struct tacho_record types_record(struct types_raw *raw,
					       const struct tacho_type *const *type, int which,
					       uint64_t time, uint32_t cpu, int pid)
{
	raw->common = (struct tacho_common){ (uint16_t)which, 0, 0, pid };
	return (struct tacho_record){
		.struct_size = sizeof(struct tacho_record), .len = sizeof(*raw), .time = time,
		.ticks = time, .type = type[which], .raw = raw, .cpu = cpu, .pid = pid,
		.source = which >= TAKE ? TACHO_STREAM_PROGRAM : TACHO_STREAM_KERNEL,
	};
}

#endif
