// SPDX-License-Identifier: MIT
/* Names for numbers in a recording: its symbols, system calls and threads. */
#include <stdlib.h>
#include <string.h>

#include "query/query_priv.h"

/* The source that tables come from; records of one stream share a kernel. */
static struct tacho_source *tables(const struct tacho_query *q)
{
	return tacho_stream_current(q->stream);
}

static void fill(const struct tacho_symbols *table, const char *name, uint64_t start,
		 struct tacho_symbol *sym)
{
	*sym = (struct tacho_symbol){
		.name = name, .start = start,
		.module = tacho_symbols_module(table, name),
		.end = tacho_symbols_end(table, start),
	};
}

/* The library of a function; the program's own functions are shown without one. */
static const char *library(const struct tacho_frame *f)
{
	const char *base = tacho_frame_base(f->object);

	return strstr(base, ".so") ? base : NULL;
}

bool tacho_query_user_symbol(struct tacho_resolver *r, uint64_t addr,
			     struct tacho_symbol *sym)
{
	struct tacho_frame f;

	/* in the process of the current record, or, while a table is printed, in any */
	if (!r || !tacho_resolver_any(r, addr, false, &f) || !f.function)
		return false;
	*sym = (struct tacho_symbol){
		.name = f.function, .module = library(&f),
		.start = addr - f.offset, .end = addr - f.offset + f.size,
	};
	return true;
}

static bool names_symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	const struct tacho_query *q = arg;
	struct tacho_source *source = tables(q);
	const struct tacho_symbols *table;
	const char *name;
	uint64_t start;

	if (tacho_query_user_symbol(q->resolver, addr, sym))
		return true;
	/* the kernel's are in the upper half */
	if (!source || !(addr >> 63))
		return false;
	table = tacho_source_symbols(source);
	name = tacho_symbols_at(table, addr, &start);
	if (name)
		fill(table, name, start, sym);
	return name;
}

/* A number for the name of a function of programs; 0: no memory. */
static uint32_t number_function(struct tacho_query *q, const char *name)
{
	const char **list;

	for (uint32_t i = 0; i < q->nr_functions; i++)
		if (!strcmp(q->function[i], name))
			return i + 1;
	list = reallocarray(q->function, q->nr_functions + 1, sizeof(*list));
	if (!list)
		return 0;
	q->function = list;
	list[q->nr_functions] = tacho_arena_strndup(&q->arena, name, strlen(name));
	return list[q->nr_functions] ? ++q->nr_functions : 0;
}

/* Its address differs per process, and a live process may map it later. */
static bool find_user(struct tacho_query *q, const char *name,
		      struct tacho_symbol *sym)
{
	struct tacho_source *source = tables(q);

	if (!q->resolver || !source ||
	    (!source->ops->live && !tacho_resolver_knows(q->resolver, name)))
		return false;
	*sym = (struct tacho_symbol){
		.name = name, .function = number_function(q, name),
	};
	return sym->function;
}

static bool names_in_function(void *arg, const struct tacho_rec *rec,
			      uint64_t addr, uint32_t function)
{
	const struct tacho_query *q = arg;

	(void)rec;
	return q->now && q->resolver && function <= q->nr_functions &&
	       tacho_resolver_lies_in(q->resolver, q->now, addr,
				      q->function[function - 1]);
}

static bool names_find(void *arg, const char *name, struct tacho_symbol *sym)
{
	struct tacho_query *q = arg;
	struct tacho_source *source = tables(q);
	const struct tacho_symbols *table;
	uint64_t start;

	if (q->program)
		return find_user(q, name, sym);
	if (!source)
		return false;
	table = tacho_source_symbols(source);
	if (!tacho_symbols_find(table, name, &start))
		return false;
	fill(table, name, start, sym);
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
	const struct tacho_query *q = arg;

	return tacho_stream_syscall(q->stream, nr);
}

void tacho_query_names_init(struct tacho_query *q)
{
	q->names = (struct tacho_names){
		.arg = q,
		.symbol = names_symbol,
		.find_symbol = names_find,
		.in_function = names_in_function,
		.comm = names_comm,
		.syscall = names_syscall,
	};
}
