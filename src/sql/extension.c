// SPDX-License-Identifier: MIT
/*
 * tacho_sqlite.so, a loadable extension: `.load tacho_sqlite` in the sqlite3 shell, then
 * `select tacho_attach('my-trace', 't')`.
 */
#include "sql/tables.h"

const sqlite3_api_routines *sqlite3_api;

__attribute__((visibility("default")))
int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/* SQLite's entry point.  Returns its codes, with a sentence in *message. */
int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
	struct tacho_error error = { 0 };
	struct tacho_sql *sql;

	sqlite3_api = api;
	if (!tacho_sql_open(&sql, db, &error))
		return SQLITE_OK;
	if (message)
		*message = sqlite3_mprintf("%s", error.text);
	return SQLITE_ERROR;
}
