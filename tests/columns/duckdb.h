/* SPDX-License-Identifier: MIT */
/*
 * duckdb.h - the few calls of DuckDB's C interface that a test needs, of a library that is
 * loaded while the test runs.
 */
#ifndef TACHO_TESTS_COLUMNS_DUCKDB_H
#define TACHO_TESTS_COLUMNS_DUCKDB_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/columns.h>

/* duckdb_result: the members are DuckDB's own. */
struct duck_result {
	uint64_t member[8];
};

struct duck {
	void *database, *connection;
	const char *(*library_version)(void);
	int (*open)(const char *path, void **database);
	int (*connect)(void *database, void **connection);
	void (*disconnect)(void **connection);
	void (*close)(void **database);
	int (*query)(void *connection, const char *sql, struct duck_result *result);
	void (*destroy_result)(struct duck_result *result);
	const char *(*result_error)(struct duck_result *result);
	uint64_t (*row_count)(struct duck_result *result);
	uint64_t (*column_count)(struct duck_result *result);
	char *(*value_varchar)(struct duck_result *result, uint64_t column, uint64_t row);
	void (*free)(void *p);
	int (*arrow_scan)(void *connection, const char *table, struct ArrowArrayStream *stream);
};

static inline bool duck_symbol(void *library, const char *name, void *to)
{
	void *p = dlsym(library, name);

	memcpy(to, &p, sizeof(p));
	return p;
}

/* Loads the library at path and opens a database in memory.  NULL; or why that failed. */
static inline const char *duck_open(struct duck *d, const char *path)
{
	void *l = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!l)
		return "the library cannot be loaded";
	if (!duck_symbol(l, "duckdb_library_version", &d->library_version) ||
	    !duck_symbol(l, "duckdb_open", &d->open) ||
	    !duck_symbol(l, "duckdb_connect", &d->connect) ||
	    !duck_symbol(l, "duckdb_disconnect", &d->disconnect) ||
	    !duck_symbol(l, "duckdb_close", &d->close) ||
	    !duck_symbol(l, "duckdb_query", &d->query) ||
	    !duck_symbol(l, "duckdb_destroy_result", &d->destroy_result) ||
	    !duck_symbol(l, "duckdb_result_error", &d->result_error) ||
	    !duck_symbol(l, "duckdb_row_count", &d->row_count) ||
	    !duck_symbol(l, "duckdb_column_count", &d->column_count) ||
	    !duck_symbol(l, "duckdb_value_varchar", &d->value_varchar) ||
	    !duck_symbol(l, "duckdb_free", &d->free) ||
	    !duck_symbol(l, "duckdb_arrow_scan", &d->arrow_scan))
		return "the library lacks a call";
	if (d->open(NULL, &d->database) || d->connect(d->database, &d->connection))
		return "no database in memory";
	return NULL;
}

static inline void duck_close(struct duck *d)
{
	d->disconnect(&d->connection);
	d->close(&d->database);
}

/* The answer, values with 0x1f between them and rows with newlines; or "error: ...".  malloc'ed. */
static inline char *duck_ask(struct duck *d, const char *sql)
{
	struct duck_result r;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (d->query(d->connection, sql, &r)) {
		fprintf(f, "error: %s", d->result_error(&r));
	} else {
		uint64_t rows = d->row_count(&r), columns = d->column_count(&r);

		for (uint64_t i = 0; i < rows; i++)
			for (uint64_t j = 0; j < columns; j++) {
				char *value = d->value_varchar(&r, j, i);

				fprintf(f, "%s%s", value ? value : "NULL",
					j + 1 == columns ? "\n" : "\x1f");
				d->free(value);
			}
	}
	fclose(f);
	d->destroy_result(&r);
	return text;
}

#endif
