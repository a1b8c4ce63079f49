// SPDX-License-Identifier: MIT
#include "base/diag.h"

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
	(void)vsnprintf(d->text, sizeof(d->text), fmt, ap);
	va_end(ap);
	return err;
}
