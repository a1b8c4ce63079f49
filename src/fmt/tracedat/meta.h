/* SPDX-License-Identifier: MIT */
/*
 * meta.h - all of a trace.dat but its pages: formats, options, tables.
 *
 * Both versions end up in the same struct.  What a reader of events needs only
 * when it is asked for (symbols) is remembered by its place; formats
 * are kept as text and made into types when the first event of one is met.
 */
#ifndef TACHO_FMT_TRACEDAT_META_H
#define TACHO_FMT_TRACEDAT_META_H

#include "base/arena.h"
#include "fmt/tracedat/file.h"
#include "fmt/tracedat/own.h"
#include "fmt/tracedat/shift.h"
#include "kdata/pages.h"
#include "stream/facts.h"

/* One CPU's pages, or chunks of them. */
struct tacho_dat_cpu {
	uint32_t cpu;
	uint64_t offset, size;
};

struct tacho_dat_buffer {
	const char *name;	/* "": the top-level buffer */
	const char *clock;	/* "": not told */
	uint64_t offset;	/* of its section or, version 6, its table */
	uint32_t page_size;
	bool compressed;
	uint32_t nr_cpus;
	struct tacho_dat_cpu *cpu;
	struct tacho_dat_buffer *next;
};

/* A format's text in struct tacho_dat_meta.formats. */
struct tacho_dat_format {
	const char *system;
	uint32_t id;
	uint32_t at, len;
};

struct tacho_dat_meta {
	struct tacho_arena arena;
	struct tacho_kpage_layout layout;
	struct tacho_buf formats;
	struct tacho_dat_format *format;
	uint32_t nr_formats, formats_room;
	uint32_t nr_cpus;		/* version 6 */
	struct tacho_dat_buffer *buffer;	/* in the file's order */
	uint32_t nr_buffers, nr_parts;
	/* where blocks are: of version 7's sections, or of the length in version 6 */
	uint64_t kallsyms, printk;	/* 0: none */
	int64_t add_ns;			/* DATE and OFFSET */
	bool has_tsc, has_clock, has_latency;
	uint32_t tsc_mult, tsc_shift;
	struct tacho_dat_shift shift;
	struct tacho_dat_own own;
	char clock[32];
};

/*
 * Reads the metadata of f.  Facts and the names of threads go to facts.  0 or
 * a negative errno with d filled in; m is to be released either way.
 */
int tacho_dat_meta_read(struct tacho_dat_meta *m, const struct tacho_dat_file *f,
			struct tacho_facts *facts, struct tacho_diag *d);
void tacho_dat_meta_release(struct tacho_dat_meta *m);

/* Appends the kallsyms (printk: printk_formats) text.  0, -ENOENT, -errno. */
int tacho_dat_meta_text(const struct tacho_dat_meta *m,
			const struct tacho_dat_file *f, bool printk,
			struct tacho_buf *out);

/* ---- inside: options.c for meta.c ------------------------------------------- */

struct tacho_dat_load {
	struct tacho_dat_meta *m;
	const struct tacho_dat_file *f;
	struct tacho_facts *facts;
	struct tacho_diag *d;
	uint64_t section[32];		/* version 7: by id; 0: not told */
	struct tacho_dat_buffer **last_buffer;
	struct tacho_buf stats;		/* CPUSTAT, all of them */
	struct tacho_buf option;	/* the data of one */
};

/* Reads options up to and with DONE; *next: version 7's next section or 0. */
int tacho_dat_options(struct tacho_dat_load *l, struct tacho_dat_in *in,
		      uint64_t *next);

#endif
