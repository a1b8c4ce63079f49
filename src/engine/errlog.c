// SPDX-License-Identifier: MIT
#include "engine/errlog.h"

#include <stdarg.h>
#include <stdio.h>

int tacho_cmd_error(struct tacho_cmd_error *e, int err, uint32_t column,
		    const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return err;
	if (e->err)
		return e->err;
	e->err = err;
	e->column = column;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return err;
}

/* Copies as much of s as fits, with a NUL. */
static void copy_text(char *to, size_t room, const char *s)
{
	size_t len = strnlen(s, room - 1);

	memcpy(to, s, len);
	to[len] = '\0';
}

void tacho_errlog_add(struct tacho_errlog *log, uint64_t time,
		      const char *loc, const char *command,
		      const struct tacho_cmd_error *e)
{
	struct tacho_errlog_entry *entry =
		&log->entry[log->nr++ % TACHO_ERRLOG_MAX];

	entry->time = time;
	entry->column = e->column;
	copy_text(entry->loc, sizeof(entry->loc), loc);
	copy_text(entry->text, sizeof(entry->text), e->text);
	copy_text(entry->command, sizeof(entry->command), command);
}

/*
 * Appends the command, and a caret below its column.  The caret is at most two places after the
 * command, as in the kernel if a text ends too early.
 */
static void put_command(struct tacho_buf *out, const char *prefix,
			const char *command, uint32_t column)
{
	size_t len = strlen(command);
	size_t at = column <= len + 2 ? column : len + 2;

	tacho_buf_puts(out, prefix);
	tacho_buf_puts(out, command);
	tacho_buf_putc(out, '\n');
	for (at += strlen(prefix); at; at--)
		tacho_buf_putc(out, ' ');
	tacho_buf_puts(out, "^\n");
}

static void put_entry(struct tacho_buf *out, const struct tacho_errlog_entry *e)
{
	tacho_buf_putc(out, '[');
	tacho_buf_put_u64_pad(out, e->time / 1000000000, 5, ' ');
	tacho_buf_putc(out, '.');
	tacho_buf_put_u64_pad(out, e->time % 1000000000 / 1000, 6, '0');
	tacho_buf_puts(out, "] ");
	tacho_buf_puts(out, e->loc);
	tacho_buf_puts(out, ": error: ");
	tacho_buf_puts(out, e->text);
	tacho_buf_putc(out, '\n');
	put_command(out, "  Command: ", e->command, e->column);
}

void tacho_errlog_print(const struct tacho_errlog *log, struct tacho_buf *out)
{
	uint64_t at = log->nr > TACHO_ERRLOG_MAX ? log->nr - TACHO_ERRLOG_MAX :
						   0;

	for (; at < log->nr; at++)
		put_entry(out, &log->entry[at % TACHO_ERRLOG_MAX]);
}

void tacho_cmd_error_print(const struct tacho_cmd_error *e, const char *command,
			   struct tacho_buf *out)
{
	tacho_buf_puts(out, "error: ");
	tacho_buf_puts(out, e->text);
	tacho_buf_putc(out, '\n');
	put_command(out, "  ", command, e->column);
}
