/* SPDX-License-Identifier: MIT */
/* sql.h - what the files of `tacho sql` share. */
#ifndef TACHO_CLI_SQL_H
#define TACHO_CLI_SQL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "tacho/sql.h"

enum sql_mode {
	SQL_MODE_TABLE,		/* columns of one width */
	SQL_MODE_CSV,
	SQL_MODE_JSON,		/* one object per row and line */
	SQL_MODE_CHART,		/* the second of two columns as bars */
};

struct sql_shell {
	sqlite3 *db;
	struct tacho_sql *sql;
	enum sql_mode mode;
	bool stats;		/* say after each statement what it has read */
	bool is_prompt;		/* a person types, and Ctrl-C ends the query only */
	uint64_t began_ns;	/* of the statement that runs */
	bool shows_progress;
};

/* "table", "csv", "json", "chart"; false: another word. */
bool cli_sql_mode(const char *word, enum sql_mode *mode);

/* ---- sql_out.c ---- */

/*
 * Runs a statement to its end and prints its rows.  Returns SQLite's code: SQLITE_DONE, or an
 * error that the handle knows; SQLITE_FULL: stdout cannot be written, with a message.
 */
int cli_sql_print(struct sql_shell *shell, sqlite3_stmt *stmt);

/* ---- sql.c ---- */

/*
 * Runs all statements of a text.  CLI_OK, or CLI_FAILED with a message that shows the place in
 * the text if SQLite knows it.
 */
int cli_sql_run(struct sql_shell *shell, const char *text);

/* ---- sql_prompt.c ---- */

/* A command with a dot in front.  An exit status; *quit: it was .quit. */
int cli_sql_command(struct sql_shell *shell, const char *line, bool *quit);

/* Reads statements from stdin until its end.  An exit status. */
int cli_sql_prompt(struct sql_shell *shell);

/* Catches Ctrl-C, and tells and forgets whether it was pressed. */
void cli_sql_catch(void);
bool cli_sql_interrupted(void);
void cli_sql_forget_interrupt(void);

#endif
