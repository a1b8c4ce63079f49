// SPDX-License-Identifier: MIT
/* Rows of a statement as text: tables, CSV, JSON, charts. */
#include "cli/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/out.h"
#include "cli/screen.h"

#define HELD_MAX	1000	/* rows whose widths make the table's */
#define WIDTH_MAX	100	/* of a column of a table, but for the last */
#define TEXT_MAX	((size_t)64 << 20)

/* Rows that wait until the widths are known: texts one after the other. */
struct held {
	char **cell;
	size_t nr, room;
};

struct printer {
	struct sql_shell *shell;
	sqlite3_stmt *stmt;
	int columns;
	struct cli_out out;
	struct tacho_buf text;	/* of one cell */
	struct held held;
	uint32_t *width;	/* table: of each column; NULL while rows are held */
	bool *right;		/* table: numbers are at the right */
};

/* ---- cells ------------------------------------------------------------------- */

/* Columns of a terminal; every character is one. */
static uint32_t columns_of(const char *s, size_t len)
{
	uint32_t n = 0;

	for (size_t i = 0; i < len; n++) {
		size_t k = tacho_utf8_len(s + i, len - i);

		i += k ? k : 1;
	}
	return n;
}

/* Control characters, and what is no UTF-8, would spoil the lines. */
static void put_tame(struct tacho_buf *to, const char *s, size_t len)
{
	for (size_t i = 0; i < len; ) {
		size_t k = tacho_utf8_len(s + i, len - i);
		bool bad = !k || (k == 1 && ((unsigned char)s[i] < ' ' || s[i] == 0x7f)) ||
			   (k == 2 && (unsigned char)s[i] == 0xc2 &&
			    (unsigned char)s[i + 1] < 0xa0);

		if (bad)
			tacho_buf_putc(to, s[i] == '\n' || s[i] == '\t' ? ' ' : '?');
		else
			tacho_buf_put(to, s + i, k);
		i += k ? k : 1;
	}
}

/* The text of a value: bytes in hex, NULL as nothing. */
static void cell_text(struct printer *p, int i)
{
	struct tacho_buf *t = &p->text;
	const unsigned char *bytes;
	int nr;

	tacho_buf_reset(t);
	if (sqlite3_column_type(p->stmt, i) != SQLITE_BLOB) {
		const char *s = (const char *)sqlite3_column_text(p->stmt, i);

		if (s)
			tacho_buf_put(t, s, (size_t)sqlite3_column_bytes(p->stmt, i));
		else if (sqlite3_column_type(p->stmt, i) != SQLITE_NULL)
			t->err = -ENOMEM;
		return;
	}
	bytes = sqlite3_column_blob(p->stmt, i);
	nr = sqlite3_column_bytes(p->stmt, i);
	for (int k = 0; k < nr; k++)
		tacho_buf_put_hex(t, bytes[k], 2);
}

/* ---- tables ------------------------------------------------------------------ */

static void put_cell(struct printer *p, int i, const char *s)
{
	struct tacho_buf *to = &p->out.buf;
	size_t len = strlen(s);
	uint32_t width = p->width[i], n = columns_of(s, len);
	uint32_t pad = n < width ? width - n : 0;

	if (i)
		tacho_buf_puts(to, "  ");
	for (uint32_t k = 0; p->right[i] && k < pad; k++)
		tacho_buf_putc(to, ' ');
	tacho_buf_put(to, s, len);
	for (uint32_t k = 0; !p->right[i] && i < p->columns - 1 && k < pad; k++)
		tacho_buf_putc(to, ' ');
	if (i == p->columns - 1)
		tacho_buf_putc(to, '\n');
}

static char *tame_copy(const struct tacho_buf *text)
{
	struct tacho_buf tame;
	char *copy;

	tacho_buf_init(&tame, 4 * text->len + 64);
	put_tame(&tame, text->data, text->len);
	tacho_buf_putc(&tame, '\0');
	copy = tacho_buf_error(&tame) ? NULL : strdup(tame.data);
	tacho_buf_release(&tame);
	return copy;
}

static int hold_row(struct printer *p)
{
	struct held *h = &p->held;
	size_t columns = (size_t)p->columns;

	if (h->nr + columns > h->room) {
		size_t room = h->room ? 2 * h->room : 64 * columns;
		char **cell = reallocarray(h->cell, room, sizeof(*cell));

		if (!cell)
			return SQLITE_NOMEM;
		h->cell = cell;
		h->room = room;
	}
	for (int i = 0; i < p->columns; i++) {
		int type = sqlite3_column_type(p->stmt, i);

		cell_text(p, i);
		h->cell[h->nr] = tacho_buf_error(&p->text) ? NULL : tame_copy(&p->text);
		if (!h->cell[h->nr])
			return SQLITE_NOMEM;
		h->nr++;
		if (type != SQLITE_NULL)
			p->right[i] &= type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	}
	return SQLITE_OK;
}

static int set_widths(struct printer *p)
{
	p->width = calloc((size_t)p->columns + 1, sizeof(*p->width));
	if (!p->width)
		return SQLITE_NOMEM;
	for (int i = 0; i < p->columns; i++) {
		const char *name = sqlite3_column_name(p->stmt, i);

		p->width[i] = columns_of(name, strlen(name));
	}
	for (size_t k = 0; k < p->held.nr; k++) {
		uint32_t *w = &p->width[k % (size_t)p->columns];
		uint32_t n = columns_of(p->held.cell[k], strlen(p->held.cell[k]));

		n = n < WIDTH_MAX ? n : WIDTH_MAX;
		*w = n > *w ? n : *w;
	}
	return SQLITE_OK;
}

/* The widths are known: the head, and what was held. */
static int release_rows(struct printer *p)
{
	int rc = set_widths(p);

	if (rc != SQLITE_OK)
		return rc;
	for (int i = 0; i < p->columns; i++)
		put_cell(p, i, sqlite3_column_name(p->stmt, i));
	for (size_t k = 0; k < p->held.nr; k++) {
		put_cell(p, (int)(k % (size_t)p->columns), p->held.cell[k]);
		if (cli_out_more(&p->out) != CLI_OK)
			return SQLITE_FULL;
	}
	return SQLITE_OK;
}

static int table_row(struct printer *p)
{
	int rc = SQLITE_OK;

	if (!p->width) {
		rc = hold_row(p);
		return rc == SQLITE_OK && p->held.nr >= (size_t)HELD_MAX * (size_t)p->columns ?
		       release_rows(p) : rc;
	}
	for (int i = 0; i < p->columns; i++) {
		char *tame;

		cell_text(p, i);
		tame = tacho_buf_error(&p->text) ? NULL : tame_copy(&p->text);
		if (!tame)
			return SQLITE_NOMEM;
		put_cell(p, i, tame);
		free(tame);
	}
	return rc;
}

/* ---- CSV, JSON --------------------------------------------------------------- */

static void put_csv(struct tacho_buf *to, const char *s, size_t len)
{
	bool quoted = !len || memchr(s, ',', len) || memchr(s, '"', len) ||
		      memchr(s, '\n', len) || memchr(s, '\r', len);

	if (!quoted) {
		tacho_buf_put(to, s, len);
		return;
	}
	tacho_buf_putc(to, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			tacho_buf_putc(to, '"');
		tacho_buf_putc(to, s[i]);
	}
	tacho_buf_putc(to, '"');
}

/* Nothing between two commas is NULL; "" is an empty text. */
static int csv_row(struct printer *p)
{
	struct tacho_buf *to = &p->out.buf;

	for (int i = 0; i < p->columns; i++) {
		if (i)
			tacho_buf_putc(to, ',');
		if (sqlite3_column_type(p->stmt, i) == SQLITE_NULL)
			continue;
		cell_text(p, i);
		if (tacho_buf_error(&p->text))
			return SQLITE_NOMEM;
		put_csv(to, p->text.data ? p->text.data : "", p->text.len);
	}
	tacho_buf_putc(to, '\n');
	return SQLITE_OK;
}

static void csv_head(struct printer *p)
{
	for (int i = 0; i < p->columns; i++) {
		const char *name = sqlite3_column_name(p->stmt, i);

		if (i)
			tacho_buf_putc(&p->out.buf, ',');
		put_csv(&p->out.buf, name, strlen(name));
	}
	tacho_buf_putc(&p->out.buf, '\n');
}

static int json_row(struct printer *p)
{
	struct tacho_json j;

	tacho_json_init(&j, &p->out.buf);
	tacho_json_open(&j, '{');
	for (int i = 0; i < p->columns; i++) {
		tacho_json_key(&j, sqlite3_column_name(p->stmt, i));
		switch (sqlite3_column_type(p->stmt, i)) {
		case SQLITE_INTEGER:
			tacho_json_s64(&j, sqlite3_column_int64(p->stmt, i));
			break;
		case SQLITE_FLOAT:
			tacho_json_double(&j, sqlite3_column_double(p->stmt, i));
			break;
		case SQLITE_NULL:
			tacho_json_null(&j);
			break;
		default:
			cell_text(p, i);
			if (tacho_buf_error(&p->text))
				return SQLITE_NOMEM;
			tacho_json_strn(&j, p->text.data ? p->text.data : "", p->text.len);
		}
	}
	tacho_json_close(&j, '}');
	tacho_buf_putc(&p->out.buf, '\n');
	return SQLITE_OK;
}

/* ---- charts ------------------------------------------------------------------ */

/* One eighth of a column to seven of them. */
static void put_bar(struct tacho_buf *to, double part, uint32_t columns)
{
	uint32_t eighths = part > 0 ? (uint32_t)(part * columns * 8 + 0.5) : 0;

	for (; eighths >= 8; eighths -= 8)
		tacho_buf_puts(to, "\xe2\x96\x88");
	if (eighths) {
		const char block[] = { '\xe2', '\x96', (char)(0x90 - eighths), '\0' };

		tacho_buf_puts(to, block);
	}
}

static void chart_line(struct printer *p, char *const *row, double max, uint32_t room)
{
	struct tacho_buf *to = &p->out.buf;

	p->columns = 3;		/* a bar follows: both columns are padded */
	put_cell(p, 0, row[0]);
	put_cell(p, 1, row[1]);
	p->columns = 2;
	tacho_buf_puts(to, "  ");
	put_bar(to, max > 0 ? strtod(row[1], NULL) / max : 0, room);
	tacho_buf_putc(to, '\n');
}

static int chart_end(struct printer *p)
{
	uint32_t screen = cli_screen_width(), used;
	int rc = set_widths(p);
	double max = 0;

	for (size_t k = 1; rc == SQLITE_OK && k < p->held.nr; k += 2) {
		double v = strtod(p->held.cell[k], NULL);

		max = v > max ? v : max;
	}
	if (rc != SQLITE_OK)
		return rc;
	used = p->width[0] + p->width[1] + 5;
	for (size_t k = 0; k + 1 < p->held.nr; k += 2)
		chart_line(p, p->held.cell + k, max, screen > used + 10 ? screen - used : 10);
	return SQLITE_OK;
}

/* ---- a statement ------------------------------------------------------------- */

static int put_row(struct printer *p)
{
	switch (p->shell->mode) {
	case SQL_MODE_CSV:
		return csv_row(p);
	case SQL_MODE_JSON:
		return json_row(p);
	case SQL_MODE_CHART:
		return hold_row(p);
	case SQL_MODE_TABLE:
	default:
		return table_row(p);
	}
}

static int put_rows(struct printer *p)
{
	int rc, shown = SQLITE_OK;

	if (p->shell->mode == SQL_MODE_CSV)
		csv_head(p);
	while ((rc = sqlite3_step(p->stmt)) == SQLITE_ROW) {
		rc = put_row(p);
		if (rc != SQLITE_OK)
			return rc;
		if (cli_out_more(&p->out) != CLI_OK)
			return SQLITE_FULL;
		if (p->out.closed)
			return SQLITE_DONE;
	}
	/* what came before an error is shown */
	if (p->shell->mode == SQL_MODE_CHART)
		shown = chart_end(p);
	else if (p->shell->mode == SQL_MODE_TABLE && !p->width &&
		 (rc == SQLITE_DONE || p->held.nr))
		shown = release_rows(p);
	return rc == SQLITE_DONE && shown != SQLITE_OK ? shown : rc;
}

static void printer_release(struct printer *p)
{
	for (size_t i = 0; i < p->held.nr; i++)
		free(p->held.cell[i]);
	free(p->held.cell);
	free(p->width);
	free(p->right);
	tacho_buf_release(&p->text);
	cli_out_release(&p->out);
}

int cli_sql_print(struct sql_shell *shell, sqlite3_stmt *stmt)
{
	struct printer p = { .shell = shell, .stmt = stmt,
			     .columns = sqlite3_column_count(stmt) };
	int rc;

	if (!p.columns)
		return sqlite3_step(stmt);
	if (shell->mode == SQL_MODE_CHART && p.columns != 2) {
		(void)cli_fail("a chart needs two columns, a label and a number: the query has "
			       "%d", p.columns);
		return SQLITE_FULL;
	}
	cli_out_init(&p.out, STDOUT_FILENO, "stdout");
	tacho_buf_init(&p.text, TEXT_MAX);
	p.right = malloc((size_t)p.columns * sizeof(*p.right));
	if (p.right) {
		memset(p.right, 1, (size_t)p.columns * sizeof(*p.right));
		rc = put_rows(&p);
	} else {
		rc = SQLITE_NOMEM;
	}
	if (tacho_buf_error(&p.text) || tacho_buf_error(&p.out.buf))
		rc = SQLITE_NOMEM;
	if (cli_out_flush(&p.out) != CLI_OK)
		rc = SQLITE_FULL;
	printer_release(&p);
	return rc;
}
