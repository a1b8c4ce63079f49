// SPDX-License-Identifier: MIT
#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Makes an error message name the lack of memory.  A message that names it already stays; one
 * that begins with "cannot" gets the reason appended.  Any other message ("is damaged", "is no
 * trace") is a wrong conclusion from incomplete data, and is replaced.
 */
static void say_memory(struct tacho_diag *d)
{
	size_t len = strlen(d->text);

	if (strstr(d->text, "memory"))
		return;
	if (!strncmp(d->text, "cannot ", strlen("cannot ")))
		(void)snprintf(d->text + len, sizeof(d->text) - len, ": out of memory");
	else
		(void)snprintf(d->text, sizeof(d->text), "out of memory");
}

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
	if (err == -ENOMEM)
		say_memory(d);
	return err;
}
