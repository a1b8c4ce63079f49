// SPDX-License-Identifier: MIT
/* <tacho/sql.h> in a handle of an application. */
#include <errno.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacho/sql.h>

#include "unit/test.h"

static char dir[64], trace[96];

static sqlite3 *open_db(struct tacho_sql **sql)
{
	struct tacho_error error;
	sqlite3 *db = NULL;

	CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
	CHECK(!tacho_sql_open(sql, db, &error));
	return db;
}

/* The first column of the first row; -1 with the code in *rc: there is none. */
static sqlite3_int64 ask(sqlite3 *db, const char *text, int *rc)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3_int64 v = -1;

	*rc = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);
	if (*rc == SQLITE_OK)
		*rc = sqlite3_step(stmt);
	if (*rc == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return v;
}

static void test_rules(void)
{
	static const char have[] = "select count(*) from x.slice where name = 'order'";
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	sqlite3_stmt *stmt = NULL;
	int rc;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(ask(db, have, &rc) == 0 && rc == SQLITE_ROW);
	CHECK(tacho_sql_add_rules(sql, "span order", &error) == -EINVAL);
	CHECK(error.text[0]);
	/* rules must not change under a statement that reads */
	CHECK(sqlite3_prepare_v2(db, "select * from x.slice", -1, &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW);
	CHECK(tacho_sql_add_rules(sql, "span order: shop:order -> raw_syscalls:sys_exit",
				  &error) == -EBUSY);
	CHECK(sqlite3_reset(stmt) == SQLITE_OK);
	CHECK(!tacho_sql_add_rules(sql, "span order: shop:order -> raw_syscalls:sys_exit", &error));
	CHECK(ask(db, have, &rc) > 0);
	CHECK(sqlite3_finalize(stmt) == SQLITE_OK);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void test_attach(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	int rc;

	CHECK(tacho_sql_version() == TACHO_SQL_VERSION);
	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(!tacho_sql_attach(sql, trace, NULL, 0, &error));
	CHECK(ask(db, "select count(*) from x.events", &rc) == 9000);
	CHECK(ask(db, "select count(*) from trace_1.events", &rc) == 9000);
	CHECK(tacho_sql_attach(sql, trace, "X", 0, &error) == -EEXIST);
	CHECK(tacho_sql_attach(sql, "/no/such", "y", 0, &error) == -ENOENT);
	CHECK(strstr(error.text, "/no/such"));
	/* what failed left nothing */
	CHECK(!tacho_sql_attach(sql, trace, "y", 0, &error));
	CHECK(!tacho_sql_detach(sql, "y", &error));
	CHECK(tacho_sql_detach(sql, "y", &error) == -ENOENT);
	CHECK(!tacho_sql_attach(sql, trace, "y", 0, &error));
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void test_twice(void)
{
	struct tacho_sql *sql, *again;
	struct tacho_error error;
	sqlite3 *db = open_db(&sql);

	CHECK(tacho_sql_open(&again, db, &error) == -EEXIST && !again);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* `detach` in SQL is as good. */
static void test_detach_in_sql(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	int rc;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(sqlite3_exec(db, "detach x", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(tacho_sql_detach(sql, "x", &error) == -ENOENT);
	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(ask(db, "select count(*) from x.loss", &rc) == 1);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void test_busy(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	sqlite3_stmt *stmt;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(sqlite3_prepare_v2(db, "select * from x.events", -1, &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW);
	CHECK(tacho_sql_detach(sql, "x", &error) < 0 && *error.text);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW);
	CHECK(sqlite3_finalize(stmt) == SQLITE_OK);
	CHECK(!tacho_sql_detach(sql, "x", &error));
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

struct watched {
	unsigned int calls, after;
	uint64_t done, total;
	bool went_back;
};

static bool is_cancelled(void *arg)
{
	struct watched *w = arg;

	return ++w->calls > w->after;
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct watched *w = arg;

	w->went_back |= !total || done > total;
	w->done = done;
	w->total = total;
}

static void test_cancel(void)
{
	struct watched w = { .after = 3 };
	const struct tacho_sql_watch watch = { &w, on_progress, is_cancelled };
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	int rc;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	tacho_sql_watch(sql, &watch);
	(void)ask(db, "select count(*) from x.events", &rc);
	CHECK(rc == SQLITE_INTERRUPT);
	/* and from a scan that finds nothing */
	w.calls = 0;
	(void)ask(db, "select count(*) from x.events where name = 'nothing'", &rc);
	CHECK(rc == SQLITE_INTERRUPT);
	w = (struct watched){ .after = 0 };
	(void)ask(db, "select count(*) from x.hist('order', 'keys=id')", &rc);
	CHECK(rc == SQLITE_INTERRUPT);
	/* the next one is as if nothing had been */
	w = (struct watched){ .after = UINT32_MAX };
	CHECK(ask(db, "select count(*) from x.events", &rc) == 9000);
	CHECK(w.calls > 10 && w.total && w.done && !w.went_back);
	tacho_sql_watch(sql, NULL);
	CHECK(ask(db, "select count(*) from x.events", &rc) == 9000);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void test_stats(void)
{
	struct tacho_sql_stats s, later;
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	int rc;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(!tacho_sql_get_stats(sql, &s) && !s.packets && !s.rows && !s.scans);
	CHECK(ask(db, "select count(*) from x.events", &rc) == 9000);
	CHECK(!tacho_sql_get_stats(sql, &later));
	CHECK(later.scans == 1 && later.packets == 80 && later.rows == 9000 && !later.values);
	later.struct_size = 8;
	CHECK(tacho_sql_fill_stats(sql, &later) == -EINVAL);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* Two scans of one trace at once, and one that is asked again and again. */
static void test_joins(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	int rc;

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(ask(db, "select count(*) from shop_order o join sched_waking w on "
		  "w.time between o.time and o.time + 9999 where o.id < 30", &rc) == 30);
	CHECK(ask(db, "select count(*) from (select 1 from events e, thread t where "
		  "e.tid = t.tid and t.comm = 'cron')", &rc) == 3000);
	/* ranges that are joined by `or` have each record once */
	CHECK(ask(db, "select count(*) from events where time < (select min(time) from events) + "
		  "100000 or time < (select min(time) from events) + 200000", &rc) ==
	      ask(db, "select count(*) from events where time < (select min(time) from events) + "
		  "200000", &rc));
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void test_read_only(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);

	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(sqlite3_exec(db, "delete from x.events", NULL, NULL, NULL) == SQLITE_ERROR);
	CHECK(sqlite3_exec(db, "insert into x.thread values (1, 1, 'a')", NULL, NULL, NULL) ==
	      SQLITE_ERROR);
	CHECK(sqlite3_exec(db, "create virtual table x.mine using tacho_events", NULL, NULL,
			   NULL) == SQLITE_ERROR);
	CHECK(sqlite3_exec(db, "create virtual table mine using tacho_rows", NULL, NULL, NULL) ==
	      SQLITE_ERROR);
	CHECK(sqlite3_exec(db, "drop table x.events", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(sqlite3_exec(db, "drop table x.thread", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(sqlite3_exec(db, "drop table x.slice", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(sqlite3_exec(db, "drop table x.track", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(sqlite3_exec(db, "drop table x.states", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(sqlite3_exec(db, "alter table x.events rename to mine", NULL, NULL, NULL) ==
	      SQLITE_READONLY);
	CHECK(strstr(sqlite3_errmsg(db), "cannot be renamed"));
	CHECK(sqlite3_exec(db, "select * from x.events, x.thread limit 1", NULL, NULL, NULL) ==
	      SQLITE_OK);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* A rollback must not leave a schema without tables. */
static void test_transaction(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);

	CHECK(sqlite3_exec(db, "begin", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(tacho_sql_attach(sql, trace, "x", 0, &error) == -EINVAL);
	CHECK(strstr(error.text, "transaction"));
	CHECK(sqlite3_exec(db, "rollback", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(!tacho_sql_attach(sql, trace, "x", 0, &error));
	CHECK(sqlite3_exec(db, "select * from x.events limit 1", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

static void tool(const char *what)
{
	char command[512];

	(void)snprintf(command, sizeof(command), "%s %s >/dev/null 2>&1", getenv("TACHO"), what);
	CHECK(system(command) == 0);
}

/* A live session: statements that run, transactions, and its end. */
static void test_refresh(void)
{
	struct tacho_error error;
	struct tacho_sql *sql;
	sqlite3 *db = open_db(&sql);
	sqlite3_stmt *stmt = NULL;
	char text[128];
	int rc;

	(void)snprintf(text, sizeof(text), "create testsql%d -e '*:*'", (int)getpid());
	tool(text);
	(void)snprintf(text, sizeof(text), "session:testsql%d", (int)getpid());
	CHECK(!tacho_sql_attach(sql, text, "s", 0, &error));
	CHECK(!tacho_sql_refresh(sql, &error));
	CHECK(sqlite3_prepare_v2(db, "values (1), (2)", -1, &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW);
	CHECK(tacho_sql_refresh(sql, &error) == -EBUSY && strstr(error.text, "running"));
	CHECK(sqlite3_reset(stmt) == SQLITE_OK && !tacho_sql_refresh(sql, &error));
	CHECK(sqlite3_finalize(stmt) == SQLITE_OK);
	CHECK(sqlite3_exec(db, "begin", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(!tacho_sql_refresh(sql, &error));
	CHECK(sqlite3_exec(db, "rollback", NULL, NULL, NULL) == SQLITE_OK);
	CHECK(ask(db, "select count(*) from s.slice", &rc) == 0 && rc == SQLITE_ROW);
	(void)snprintf(text, sizeof(text), "destroy testsql%d", (int)getpid());
	tool(text);
	/* what was there stays, as far as it can be read */
	CHECK(tacho_sql_refresh(sql, &error) == -ENOENT && *error.text);
	CHECK(ask(db, "select count(*) from s.thread", &rc) >= 0 && rc == SQLITE_ROW);
	(void)ask(db, "select count(*) from s.events", &rc);
	CHECK(rc == SQLITE_ERROR);
	CHECK(sqlite3_close(db) == SQLITE_OK);
}

int main(int argc, char **argv)
{
	char command[512];

	test_args(argc, argv);
	(void)snprintf(dir, sizeof(dir), "/tmp/tacho-test-sql.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	(void)snprintf(trace, sizeof(trace), "%s/trace-1", dir);
	(void)snprintf(command, sizeof(command), "%s %s", getenv("MAKE_SQL"), trace);
	CHECK(system(command) == 0);
	TEST(test_attach());
	TEST(test_rules());
	TEST(test_twice());
	TEST(test_detach_in_sql());
	TEST(test_busy());
	TEST(test_cancel());
	TEST(test_stats());
	TEST(test_joins());
	TEST(test_read_only());
	TEST(test_transaction());
	TEST(test_refresh());
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(system(command) == 0);
	return test_done();
}
