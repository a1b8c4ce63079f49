/* SPDX-License-Identifier: MIT */
/*
 * ask.h - a question in the control language, put to a trace, a session or the
 * running kernel: what `tacho hist` and `tacho recipe run` share.
 */
#ifndef TACHO_CLI_ASK_H
#define TACHO_CLI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/errlog.h"
#include "engine/hist_quantile.h"

#define CLI_ASK_MAX	1024	/* commands */
#define CLI_ASK_SYNTHS	32	/* synthetic events */

struct tacho_stream;

enum cli_ask_form {
	CLI_ASK_KERNEL,		/* as the kernel's hist file */
	CLI_ASK_CHART,
	CLI_ASK_JSON,
};

struct cli_ask_command {
	const char *event;	/* "system:event" or a glob */
	const char *text;	/* "hist:keys=..."; "keys=..." means the same */
};

struct cli_ask {
	/* print what its programs count, and the kernel (trace "kernel": it alone) */
	const char *session;	/* no command then */
	const char *only;	/* of it: only these events, or NULL */
	const char *trace;	/* a directory, session:NAME or "kernel"; NULL: the newest */
	const char *synth[CLI_ASK_SYNTHS];
	struct cli_ask_command command[CLI_ASK_MAX];
	uint32_t nr_synths, nr_commands;
	enum cli_ask_form form;
	bool all;		/* print every histogram, not only the last command's */
	bool ascii;
	uint64_t watch_ns;	/* live: print again and again; 0: once, at the end */
	uint64_t duration_ns;	/* live: so long; 0: until Ctrl-C */
	struct tacho_quantiles quantiles;	/* q and nr only */
	const char *by;		/* keys of a table of quantiles, "comm,pid", or NULL */
	const char *snapshot;	/* where the newest snapshot goes, or NULL */
	uint64_t snapshot_size;	/* bytes to keep for it; 0: the default */
	/*
	 * Sets the commands and synthetic events when the types of the trace are known; s is
	 * NULL for the running kernel.  An exit status, a message being said.  NULL: they are set.
	 */
	int (*choose)(struct cli_ask *ask, const struct tacho_stream *s);
	void *choose_arg;
};

/* Reads, and prints what was asked.  An exit status, a message being said. */
int cli_ask_run(struct cli_ask *ask);

struct tacho_hist;
struct tacho_names;

/*
 * Whether the quantiles that are asked for can be made of a histogram; else d says
 * why not.
 */
bool cli_ask_fits(const struct cli_ask *ask, const struct tacho_hist *hist,
		  struct tacho_diag *d);

/*
 * Appends one histogram in the form that is asked for; one that cli_ask_fits() not, as it
 * is.  0 or a negative errno.
 */
int cli_ask_put(const struct cli_ask *ask, const struct tacho_hist *hist,
		const struct tacho_names *names, struct tacho_buf *out);

/* The histograms of a session's own programs and of the kernel: see cli_ask.session. */
int cli_ask_session(const struct cli_ask *ask);

/* Whether Ctrl-C was pressed; the first call begins to watch for it. */
bool cli_ask_interrupted(void);

#endif
