// SPDX-License-Identifier: MIT
/* What a number means in a recording: its symbols, system calls and threads. */
#include <string.h>

#include "query/query_priv.h"

/* The source that tables come from; records of one stream share a kernel. */
static struct tacho_source *tables(const struct tacho_query *q)
{
	return tacho_stream_current(q->stream);
}

static void fill(const struct tacho_facts *f, const char *name, uint64_t start,
		 struct tacho_symbol *sym)
{
	*sym = (struct tacho_symbol){
		.name = name, .start = start,
		.module = tacho_facts_module(f, name),
		.end = tacho_facts_symbol_end(f, start),
	};
}

static bool names_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	struct tacho_source *source = tables(arg);
	const struct tacho_facts *f;
	const char *name;
	uint64_t start;

	if (!source)
		return false;
	f = tacho_source_symbols(source);
	name = tacho_facts_symbol(f, addr, &start);
	if (name)
		fill(f, name, start, sym);
	return name;
}

static bool names_find(void *arg, const char *name, struct tacho_symbol *sym)
{
	struct tacho_source *source = tables(arg);
	const struct tacho_facts *f;
	uint64_t start;

	if (!source)
		return false;
	f = tacho_source_symbols(source);
	if (!tacho_facts_find_symbol(f, name, &start))
		return false;
	fill(f, name, start, sym);
	return true;
}

static bool names_comm(void *arg, int32_t pid, char comm[16])
{
	const struct tacho_query *q = arg;
	const char *name = pid ? tacho_stream_comm(q->stream, pid, NULL) :
				 "swapper";

	if (!name)
		return false;
	strncpy(comm, name, 15);
	comm[15] = '\0';
	return true;
}

static const char *names_syscall(void *arg, uint64_t nr)
{
	struct tacho_query *q = arg;

	if (!q->syscalls_tried) {
		struct tacho_buf text;

		q->syscalls_tried = true;
		tacho_buf_init(&text, 1u << 20);
		if (!tacho_stream_text(q->stream, "syscalls", &text))
			(void)tacho_syscalls_parse(&q->syscalls, &q->arena,
						   text.data, text.len);
		tacho_buf_release(&text);
	}
	/* a recording without the table is of this machine's kind, most often */
	return q->syscalls.nr ? tacho_syscalls_find(&q->syscalls, nr) :
				tacho_syscall_name(nr);
}

void tacho_query_names_init(struct tacho_query *q)
{
	q->names = (struct tacho_names){
		.arg = q,
		.symbol = names_symbol,
		.find_symbol = names_find,
		.comm = names_comm,
		.syscall = names_syscall,
	};
}
