// SPDX-License-Identifier: MIT
/*
 * fuzz_sql - SQL over a trace that was made by somebody else.
 *
 * Input: as of fuzz_ctf.  It is written as a trace directory, and a fixed set of queries is run:
 * none may crash or run for ever, every row can be read, and a range never has more
 * rows than the whole.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/bytes.h"
#include "tacho/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

/* The uuid that fuzz_ctf's corpus has. */
static const char info[] =
	"tacho-trace: 1\nuuid: 700102030405460788090a0b0c0d0e0f\nbyte_order: le\nfreq: 1000000000\n"
	"pair: 0 1795184000000000000\nstate: closed\n";

static void put_file(const char *name, const void *data, size_t size)
{
	char path[160];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

static void remove_dir(void)
{
	char command[160];

	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		abort();
}

static void make_dir(void)
{
	char path[160];

	if (*dir)
		return;
	/* in memory if possible: each input is written three times */
	(void)snprintf(dir, sizeof(dir), "/dev/shm/tacho-fuzz-sql.XXXXXX");
	if (!mkdtemp(dir)) {
		(void)snprintf(dir, sizeof(dir), "/tmp/tacho-fuzz-sql.XXXXXX");
		if (!mkdtemp(dir))
			abort();
	}
	(void)snprintf(path, sizeof(path), "%s/tacho", dir);
	if (mkdir(path, 0700))
		abort();
	(void)atexit(remove_dir);
}

/* Reads every value of every row; the number of rows.  An error is an answer. */
static uint64_t run(sqlite3 *db, const char *query)
{
	sqlite3_stmt *stmt;
	uint64_t rows = 0;

	if (sqlite3_prepare_v2(db, query, -1, &stmt, NULL) != SQLITE_OK)
		return 0;
	for (; sqlite3_step(stmt) == SQLITE_ROW; rows++)
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			(void)sqlite3_column_text(stmt, i);
	(void)sqlite3_finalize(stmt);
	return rows;
}

/* `select *` of each table that there is. */
static void run_tables(sqlite3 *db)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, "select name from t.sqlite_schema", -1, &stmt, NULL) !=
	    SQLITE_OK)
		abort();
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		char *query = sqlite3_mprintf("select * from t.\"%w\"",
					      sqlite3_column_text(stmt, 0));

		(void)run(db, query);
		sqlite3_free(query);
	}
	(void)sqlite3_finalize(stmt);
}

/* The sweep over what the model makes of it; states() has the time of thread_state. */
static void run_intervals(sqlite3 *db)
{
	(void)run(db, "select a, b from intervals_overlap('slice', 'thread_state', 'tid')");
	(void)run(db, "select * from states(1795184000000000000, 1795184000000001000)");
	(void)run(db, "create virtual table temp.j using span_outer_join(slice partitioned tid, "
		  "(select * from counter) as c partitioned pid)");
	(void)run(db, "select * from j");
	if (run(db, "select 1 where (select sum(dur) from states) <> "
		"(select sum(dur) from thread_state)"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db;
	size_t types;

	if (size < 2)
		return 0;
	make_dir();
	types = tacho_load_le16(data);
	data += 2;
	size -= 2;
	if (types > size)
		types = size;
	put_file("tacho/info", info, sizeof(info) - 1);
	put_file("tacho/types.program", data, types);
	put_file("tacho/types.kernel", data, types);
	put_file("program_0", data + types, size - types);
	if (sqlite3_open(":memory:", &db) != SQLITE_OK || tacho_sql_open(&sql, db, &error))
		abort();
	if (!tacho_sql_attach(sql, dir, "t", 0, &error)) {
		uint64_t all = run(db, "select *, context, ticks, buffer from events");

		run_tables(db);
		if (run(db, "select 1 from events where time >= 1795184000000000000") > all ||
		    run(db, "select 1 from events where tid = 1 or cpu in (0, 1)") > all)
			abort();
		(void)run(db, "select name, count(*) from events group by name order by 2");
		(void)run(db, "select quantile(time, 0.5), sum(length(text)) from events");
		(void)run(db, "select a.time from events a, events b where a.time = b.time "
			  "limit 9");
		(void)run(db, "select sum(length(b.text)), sum(b.rowid) from events a, events b "
			  "where b.time between a.time - 1000 and a.time + 1000 and "
			  "b.cpu = a.cpu");
		(void)run(db, "select s.*, f.*, event_record from sample s left join frame f on "
			  "f.stack = s.stack");
		(void)run(db, "select h.* from type, hist(type.system || ':' || type.name, "
			  "'keys=common_pid') h limit 50");
		run_intervals(db);
	}
	if (sqlite3_close(db) != SQLITE_OK)
		abort();
	return 0;
}
