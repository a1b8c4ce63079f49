// SPDX-License-Identifier: MIT
#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int tacho_diag_set(struct tacho_diag *d, int err, uint64_t offset,
		   unsigned int line, const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	if (d->err)
		return d->err;
	d->err = err;
	d->offset = offset;
	d->line = line;
	va_start(ap, fmt);
	/* whatever was to be done: it is nothing's fault but the memory's */
	(void)vsnprintf(d->text, sizeof(d->text),
			err == -ENOMEM ? "out of memory" : fmt, ap);
	va_end(ap);
	return err;
}
