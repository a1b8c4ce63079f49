// SPDX-License-Identifier: MIT
/* ts(), dur(), sym(), syscall_name(), log2(), tacho_attach(), ... */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sql/tables.h"

#define NS_PER_S	INT64_C(1000000000)
#define DAY_S		86400

/* ---- moments ----------------------------------------------------------------- */

static int bad_moment(struct tacho_diag *d, const char *text)
{
	return tacho_diag(d, -EINVAL, 0, "'%s' is no moment: give HH:MM:SS.FRACTION, "
			  "YYYY-MM-DD HH:MM:SS, SECONDS since the first event, @SECONDS since "
			  "1970 or =SECONDS of the recording's clock", text);
}

/* Exactly n digits; moves *s.  -1: they are not there. */
static int digits(const char **s, int n)
{
	int v = 0;

	for (; n; n--, (*s)++) {
		if (**s < '0' || **s > '9')
			return -1;
		v = 10 * v + (**s - '0');
	}
	return v;
}

/* ".123", up to nine digits. */
static uint64_t fraction(const char **s)
{
	uint64_t ns = 0, unit = NS_PER_S / 10;

	if (**s != '.')
		return 0;
	for ((*s)++; **s >= '0' && **s <= '9'; (*s)++, unit /= 10)
		ns += (uint64_t)(**s - '0') * unit;
	return ns;
}

/* "12:00", "12:00:01.5" as ns of the day; moves *s. */
static bool clock_parse(const char **s, uint64_t *ns)
{
	int hour = digits(s, 2), minute = -1, second = 0;

	if (hour >= 0 && **s == ':') {
		(*s)++;
		minute = digits(s, 2);
	}
	if (minute >= 0 && **s == ':') {
		(*s)++;
		second = digits(s, 2);
	}
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
		return false;
	*ns = (uint64_t)(hour * 3600 + minute * 60 + second) * (uint64_t)NS_PER_S + fraction(s);
	return true;
}

/* "", "Z", "+02:00", "-0530" as seconds east of Greenwich. */
static bool zone_parse(const char *s, int64_t *east)
{
	int sign = *s == '-' ? -1 : 1, hour, minute = 0;

	*east = 0;
	if (*s == ' ')
		s++;
	if (!*s || !strcmp(s, "Z") || !strcmp(s, "UTC"))
		return true;
	if (*s == '-')
		sign = -1;
	else if (*s != '+')
		return false;
	s++;
	hour = digits(&s, 2);
	if (*s == ':')
		s++;
	if (*s)
		minute = digits(&s, 2);
	*east = (int64_t)sign * (hour * 3600 + minute * 60);
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && !*s;
}

/* Days from 1970 to a day of the Gregorian calendar. */
static int64_t days_of(int64_t y, int m, int day)
{
	int64_t era, of_era;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	of_era = y - era * 400;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	       (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + day - 1 - 719468;
}

static bool date_parse(const char **s, int64_t *days)
{
	int y = digits(s, 4), m = -1, day = -1;

	if (y >= 0 && **s == '-') {
		(*s)++;
		m = digits(s, 2);
	}
	if (m >= 0 && **s == '-') {
		(*s)++;
		day = digits(s, 2);
	}
	*days = days_of(y, m, day);
	return y >= 1970 && m >= 1 && m <= 12 && day >= 1 && day <= 31;
}

static int date_moment(const char *text, uint64_t *ns, struct tacho_diag *d)
{
	const char *s = text;
	uint64_t of_day = 0;
	int64_t days, east;

	if (!date_parse(&s, &days))
		return bad_moment(d, text);
	if (*s == ' ' || *s == 'T') {
		s++;
		if (!clock_parse(&s, &of_day))
			return bad_moment(d, text);
	}
	if (!zone_parse(s, &east) || days * DAY_S < east)
		return bad_moment(d, text);
	*ns = (uint64_t)(days * DAY_S - east) * (uint64_t)NS_PER_S + of_day;
	return 0;
}

/* Of the day on which the trace begins, or of the next one if it goes on until then. */
static int clock_moment(struct sql_trace *trace, const char *text, uint64_t *ns,
			struct tacho_diag *d)
{
	const uint64_t day = (uint64_t)DAY_S * (uint64_t)NS_PER_S;
	const char *s = text;
	uint64_t of_day, begin, shift;
	int64_t east;
	int err;

	if (!clock_parse(&s, &of_day) || !zone_parse(s, &east))
		return bad_moment(d, text);
	err = sql_find_first(trace, d);
	if (!err)
		err = sql_measure(trace, d);
	if (err)
		return err;
	shift = (uint64_t)(east * NS_PER_S);	/* modulo 2^64, as the sums */
	begin = trace->first + shift;
	*ns = begin - begin % day + of_day;
	if (*ns < begin && *ns + day - shift <= trace->end)
		*ns += day;
	*ns -= shift;
	return 0;
}

/* "1.5", "200ms", "@..", "=...", as with --time. */
static int seconds_moment(struct sql_trace *trace, const char *text, uint64_t *ns,
			  struct tacho_diag *d)
{
	const struct tacho_source *source = tacho_stream_source(trace->main.stream, 0);
	const char *s = text;
	char kind = '+';
	uint64_t v;
	int err;

	if (*s == '@' || *s == '=' || *s == '+')
		kind = *s++;
	if (tacho_parse_time(s, &v))
		return bad_moment(d, text);
	*ns = v;
	if (kind == '=' && source)
		*ns = v + tacho_clock_ns(&source->clock, 0);
	if (kind != '+')
		return 0;
	err = sql_find_first(trace, d);
	*ns = v + trace->first;
	return err;
}

int sql_moment_parse(struct sql_trace *trace, const char *text, uint64_t *ns,
		     struct tacho_diag *d)
{
	size_t nr = strspn(text, "0123456789");

	if (nr == 4 && text[4] == '-')
		return date_moment(text, ns, d);
	if (nr == 2 && text[2] == ':')
		return clock_moment(trace, text, ns, d);
	return seconds_moment(trace, text, ns, d);
}

/* ---- numbers for people ------------------------------------------------------ */

void sql_duration_text(int64_t ns, char *to, size_t size)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	double v = fabs((double)ns);

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(units); i++) {
		/* what rounds to 1000 belongs to the larger unit */
		if (v < units[i].ns * 0.9999995)
			continue;
		v /= units[i].ns;
		(void)snprintf(to, size, "%s%.*f %s", ns < 0 ? "-" : "",
			       v < 9.9995 ? 3 : v < 99.995 ? 2 : v < 999.95 ? 1 : 0, v,
			       units[i].name);
		return;
	}
	(void)snprintf(to, size, "%" PRId64 " ns", ns);
}

/* ---- functions --------------------------------------------------------------- */

/* The trace of an optional argument: a schema's name. */
static struct sql_trace *trace_arg(sqlite3_context *ctx, int argc, sqlite3_value **argv, int i)
{
	const struct tacho_sql *sql = sqlite3_user_data(ctx);
	const char *schema = argc > i ? (const char *)sqlite3_value_text(argv[i]) : NULL;
	struct sql_trace *trace = sql_find_trace(sql, schema);
	char text[200];

	if (trace)
		return trace;
	(void)snprintf(text, sizeof(text), schema ? "there is no trace '%.100s'" :
		       "no trace is attached%.0s", schema ? schema : "");
	sqlite3_result_error(ctx, text, -1);
	return NULL;
}

static void result_diag(sqlite3_context *ctx, const struct tacho_diag *d)
{
	if (d->err == -ENOMEM)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_error(ctx, d->text, -1);
}

static void ts(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	struct tacho_diag d = { 0 };
	struct sql_trace *trace;
	uint64_t ns;

	if (!text)
		return;
	trace = trace_arg(ctx, argc, argv, 1);
	if (!trace)
		return;
	if (sql_moment_parse(trace, text, &ns, &d))
		result_diag(ctx, &d);
	else
		sqlite3_result_int64(ctx, (sqlite3_int64)ns);
}

static void dur(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	char text[64];

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL)
		return;
	sql_duration_text(sqlite3_value_int64(argv[0]), text, sizeof(text));
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void sym(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct tacho_names *names;
	struct sql_trace *trace;
	struct tacho_symbol s;
	uint64_t addr;
	char *text;

	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	trace = trace_arg(ctx, argc, argv, 1);
	if (!trace)
		return;
	addr = (uint64_t)sqlite3_value_int64(argv[0]);
	names = tacho_query_names(trace->query);
	if (!names->symbol(names->arg, addr, &s))
		return;
	text = sqlite3_mprintf("%s+0x%llx%s%s%s", s.name, addr - s.start, s.module ? " [" : "",
			       s.module ? s.module : "", s.module ? "]" : "");
	if (text)
		sqlite3_result_text(ctx, text, -1, sqlite3_free);
	else
		sqlite3_result_error_nomem(ctx);
}

static void syscall_name(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct tacho_names *names;
	struct sql_trace *trace;
	const char *name;

	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	trace = trace_arg(ctx, argc, argv, 1);
	if (!trace)
		return;
	names = tacho_query_names(trace->query);
	name = names->syscall(names->arg, (uint64_t)sqlite3_value_int64(argv[0]));
	if (name)
		sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
}

/* The bucket of .log2: the smallest n with x <= 2^n; of a negative number 64. */
static void log2_bucket(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int64_t v;
	int n = 0;

	(void)argc;
	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL)
		return;
	v = sqlite3_value_int64(argv[0]);
	if (v < 0)
		n = 64;
	else if (v > 1)
		n = 64 - __builtin_clzll((unsigned long long)v - 1);
	sqlite3_result_int(ctx, n);
}

static void version(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_text(ctx, TACHO_VERSION, -1, SQLITE_STATIC);
}

static void attach(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct tacho_sql *sql = sqlite3_user_data(ctx);
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *schema = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	struct tacho_diag d = { 0 };
	const char *name = NULL;

	if (!path)
		sqlite3_result_error(ctx, "tacho_attach() takes the path of a trace", -1);
	else if (sql_attach(sql, path, schema, 0, &name, &d))
		result_diag(ctx, &d);
	else
		sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
}

static void add_rule(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct tacho_sql *sql = sqlite3_user_data(ctx);
	const char *rules = (const char *)sqlite3_value_text(argv[0]);
	struct tacho_diag d = { 0 };

	(void)argc;
	if (!rules)
		sqlite3_result_error(ctx, "tacho_rule() takes a rule of the model", -1);
	else if (sql_add_rules(sql, rules, &d))
		result_diag(ctx, &d);
	else
		sqlite3_result_value(ctx, argv[0]);
}

int sql_functions_register(struct tacho_sql *sql)
{
	static const struct {
		const char *name;
		int least, most;
		int flags;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
	} list[] = {
		{ "ts", 1, 2, SQLITE_DETERMINISTIC, ts },
		{ "dur", 1, 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, dur },
		{ "sym", 1, 2, SQLITE_DETERMINISTIC, sym },
		{ "syscall_name", 1, 2, SQLITE_DETERMINISTIC, syscall_name },
		{ "log2", 1, 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, log2_bucket },
		{ "tacho_version", 0, 0, SQLITE_INNOCUOUS, version },
		/* opens files: not for views and triggers of a foreign database */
		{ "tacho_attach", 1, 2, SQLITE_DIRECTONLY, attach },
		{ "tacho_rule", 1, 1, SQLITE_DIRECTONLY, add_rule },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(list); i++)
		for (int n = list[i].least; rc == SQLITE_OK && n <= list[i].most; n++)
			rc = sqlite3_create_function_v2(sql->db, list[i].name, n,
							SQLITE_UTF8 | list[i].flags, sql,
							list[i].fn, NULL, NULL, NULL);
	return rc;
}
