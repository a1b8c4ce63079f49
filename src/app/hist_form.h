/* SPDX-License-Identifier: MIT */
/*
 * hist_form.h - a histogram as text: which form, and with which quantiles.
 *
 *	APP_HIST_KERNEL	as the kernel's hist file, after "# event: SYSTEM:EVENT"
 *	APP_HIST_CHART	bars for a terminal, after the same line
 *	APP_HIST_JSON	one object, on one line
 *
 * With quantiles and keys to group by, a table of them takes the entries' place; without
 * such keys one line of quantiles follows the entries.  The forms themselves are
 * described in engine/hist_print.h.
 */
#ifndef TACHO_APP_HIST_FORM_H
#define TACHO_APP_HIST_FORM_H

#include "base/buf.h"
#include "engine/hist_quantile.h"
#include "engine/names.h"

enum app_hist_shape {
	APP_HIST_KERNEL,
	APP_HIST_CHART,
	APP_HIST_JSON,
};

/* Zero-initialised it is the kernel's form. */
struct app_hist_form {
	enum app_hist_shape shape;
	bool ascii;			/* charts and tables: nothing but ASCII */
	uint32_t width;			/* charts: columns of the terminal */
	struct tacho_quantiles quantiles;	/* q and nr only; nr 0: none */
	const char *by;			/* group by these keys, "comm,pid", or NULL */
};

/*
 * Returns whether the quantiles of the form can be made of a histogram (true when the form
 * has none); if not, d says why.
 */
bool app_hist_fits(const struct app_hist_form *form, const struct tacho_hist *hist,
		   struct tacho_diag *d);

/*
 * Appends a histogram in the form, preceded by an empty line if out is not empty (JSON: not).
 * One that the quantiles do not fit is appended without them.  names: what
 * its numbers mean.  Returns 0, -ENOMEM or the buffer's error.
 */
int app_hist_put(const struct app_hist_form *form, const struct tacho_hist *hist,
		 const struct tacho_names *names, struct tacho_buf *out);

/*
 * Appends what the kernel's hist file of an event ("system:event") says: the text itself, in JSON
 * {"event":...,"text":...}.  Returns 0 or the buffer's error.
 */
int app_hist_put_kernel(const struct app_hist_form *form, const char *event, const char *text,
			struct tacho_buf *out);

#endif
