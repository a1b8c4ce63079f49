/* SPDX-License-Identifier: MIT */
/* write_priv.h - the writer's two halves: taking records in, laying the file out. */
#ifndef TACHO_FMT_TRACEDAT_WRITE_PRIV_H
#define TACHO_FMT_TRACEDAT_WRITE_PRIV_H

#include "fmt/tracedat/catalog.h"
#include "fmt/tracedat/pack.h"
#include "fmt/tracedat/spool.h"
#include "fmt/tracedat/write.h"

struct tacho_dat_writer {
	char *path, *temp;		/* temp: while the file is written */
	int version;
	char clock[24];
	char *uname;
	struct tacho_clock_map map;
	uint64_t trace_id;
	uint64_t first;			/* ticks of the first record */
	bool any;			/* there is one */
	struct tacho_dat_catalog catalog;
	struct tacho_dat_spool spool;
	struct tacho_buf kallsyms, cmdlines, printk, tasks;
};

/* assemble.c: writes all to fd and sets *bytes.  0 or -errno. */
int tacho_dat_assemble(struct tacho_dat_writer *w, int fd, uint64_t *bytes);

#endif
