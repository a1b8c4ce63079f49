/* SPDX-License-Identifier: MIT */
/*
 * sqlite.h - SQLite's calls, for the files of this folder.
 *
 * They are compiled twice: for the library, which links libsqlite3, and for the loadable
 * extension, which calls the SQLite that loads it through a table of functions.
 */
#ifndef TACHO_SQL_SQLITE_H
#define TACHO_SQL_SQLITE_H

#ifdef TACHO_SQL_EXTENSION
#include <sqlite3ext.h>
/* in extension.c, set before any other call */
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif

#define SQL_SQLITE_MIN	3038000		/* sqlite3_vtab_in(), constraints for LIMIT */

#endif
