// SPDX-License-Identifier: MIT
/* tacho sql: questions in SQL. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/model.h"

#define TRACES_MAX	10	/* as many as SQLite attaches */

static const char usage[] =
	"usage: tacho sql [OPTIONS] TRACE... ['QUERY']\n\n"
	"Answers questions in SQL about traces.  A TRACE is what 'tacho report' reads,\n"
	"also session:NAME.  The first one is schema a, the second one b, and so on.  A\n"
	"QUERY has a blank or a ';' in it, or begins with a dot.  Without one, a prompt\n"
	"reads statements.\n\n"
	"  -f, --file FILE      read statements from FILE ('-': stdin)\n"
	"      --csv            print comma-separated values\n"
	"      --json           print one JSON object per row and line\n"
	"      --chart          draw the second of two columns as bars\n"
	CLI_MODEL_HELP
	"      --stats          say on stderr what each statement has read\n"
	"  -q, --quiet          print no notes on stderr\n"
	"  -h, --help           print this help\n\n"
	"Tables: events, one per event type, thread, process, cpu, packet, loss, env,\n"
	"type, field, hist(EVENT, COMMAND); of call stacks sample, frame; of the model\n"
	"slice, thread_state, counter, flow, instant, gap, track, states(FROM, TO); of\n"
	"two tables of intervals intervals_overlap(A, B, KEYS) and span_join.\n"
	"'.tables' lists tables, '.schema TABLE' shows columns.\n";

#ifdef TACHO_HAVE_SQLITE
#include "cli/screen.h"
#include "cli/sql.h"

#define PROGRESS_AFTER_NS	500000000	/* a query that is shorter shows none */
#define STEPS			20000		/* of SQLite between looks at Ctrl-C */
#define FILE_MAX		((size_t)16 << 20)

enum {
	OPT_CSV = CLI_OPT_FIRST,
	OPT_CHART,
	OPT_STATS,
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "file", required_argument, NULL, 'f' },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "chart", no_argument, NULL, OPT_CHART },
	{ "stats", no_argument, NULL, OPT_STATS },
	CLI_MODEL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

struct sql_options {
	const char *trace[TRACES_MAX];
	uint32_t nr_traces;
	const char *query, *file;
	struct model_rules *rules;	/* tell whether what the user says is right */
	struct tacho_buf said;		/* rules, each with a NUL behind */
};

bool cli_sql_mode(const char *word, enum sql_mode *mode)
{
	static const char *const words[] = { "table", "csv", "json", "chart" };

	for (unsigned int i = 0; i < TACHO_ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i])) {
			*mode = (enum sql_mode)i;
			return true;
		}
	return false;
}

/* ---- running ----------------------------------------------------------------------- */

static bool is_cancelled(void *arg)
{
	(void)arg;
	return cli_sql_interrupted();
}

static int on_steps(void *arg)
{
	(void)arg;
	return cli_sql_interrupted();
}

/* How far it is, on a terminal, when it takes long. */
static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct sql_shell *shell = arg;

	if (now_ns() - shell->began_ns < PROGRESS_AFTER_NS)
		return;
	fprintf(stderr, "\r%3.0f %%", 100.0 * (double)done / (double)total);
	shell->shows_progress = true;
	shell->began_ns = now_ns() - PROGRESS_AFTER_NS + 100000000;
}

static void end_progress(struct sql_shell *shell)
{
	if (shell->shows_progress)
		fputs("\r      \r", stderr);
	shell->shows_progress = false;
}

/* The line of text that a byte of it is in, with a caret below. */
static void show_place(const char *text, int offset)
{
	const char *at = text + offset, *from = at, *end;

	while (from > text && from[-1] != '\n')
		from--;
	end = from + strcspn(from, "\n");
	fprintf(stderr, "  %.*s\n  %*s^\n", (int)(end - from), from, (int)(at - from), "");
}

static int failed(struct sql_shell *shell, int rc, const char *text)
{
	int offset = sqlite3_error_offset(shell->db);

	end_progress(shell);
	if (rc == SQLITE_INTERRUPT)
		return cli_fail("interrupted");
	(void)cli_fail("%s", rc == SQLITE_NOMEM ? "out of memory" : sqlite3_errmsg(shell->db));
	if (offset >= 0 && (size_t)offset <= strlen(text))
		show_place(text, offset);
	return CLI_FAILED;
}

static void say_stats(const struct sql_shell *shell, const struct tacho_sql_stats *before)
{
	struct tacho_sql_stats s;

	if (!shell->stats || tacho_sql_get_stats(shell->sql, &s))
		return;
	fprintf(stderr, "scans %u, packets %llu, records %llu, rows %llu, values %llu\n",
		s.scans - before->scans, (unsigned long long)(s.packets - before->packets),
		(unsigned long long)(s.records - before->records),
		(unsigned long long)(s.rows - before->rows),
		(unsigned long long)(s.values - before->values));
}

static int run_one(struct sql_shell *shell, const char *text, const char **rest)
{
	struct tacho_sql_stats before;
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(shell->db, text, -1, &stmt, rest);
	int ret = CLI_OK;

	if (rc != SQLITE_OK)
		return failed(shell, rc, text);
	if (!stmt)
		return CLI_OK;	/* blanks, a comment */
	(void)tacho_sql_get_stats(shell->sql, &before);
	shell->began_ns = now_ns();
	rc = cli_sql_print(shell, stmt);
	end_progress(shell);
	if (rc == SQLITE_FULL)
		ret = CLI_FAILED;
	else if (rc != SQLITE_DONE)
		ret = failed(shell, rc, text);
	(void)sqlite3_finalize(stmt);
	say_stats(shell, &before);
	return ret;
}

int cli_sql_run(struct sql_shell *shell, const char *text)
{
	struct tacho_error error = { 0 };
	int ret = CLI_OK;

	while (ret == CLI_OK && *text) {
		if (tacho_sql_refresh(shell->sql, &error))
			return cli_fail("%s", error.text);
		ret = run_one(shell, text, &text);
	}
	return ret;
}

static int run_file(struct sql_shell *shell, const char *path)
{
	struct tacho_buf text;
	int err, ret;

	tacho_buf_init(&text, FILE_MAX);
	err = tacho_buf_read_file(&text, strcmp(path, "-") ? path : "/dev/stdin");
	ret = err ? cli_fail("cannot read '%s': %s", path, strerror(-err)) :
	      cli_sql_run(shell, tacho_buf_str(&text));
	tacho_buf_release(&text);
	return ret;
}

/* ---- beginning ----------------------------------------------------------------------- */

/* One after the other, as `tacho model` does: the last one is the first to apply. */
static int add_rules(struct sql_shell *shell, const struct tacho_buf *said)
{
	struct tacho_error error = { 0 };

	for (size_t at = 0; at < said->len; at += strlen(said->data + at) + 1)
		if (tacho_sql_add_rules(shell->sql, said->data + at, &error))
			return cli_fail("%s", error.text);
	return CLI_OK;
}

static int open_traces(struct sql_shell *shell, const struct sql_options *o)
{
	struct tacho_error error = { 0 };

	if (sqlite3_open(":memory:", &shell->db) != SQLITE_OK)
		return cli_fail("cannot open SQLite: %s", sqlite3_errmsg(shell->db));
	if (tacho_sql_open(&shell->sql, shell->db, &error))
		return cli_fail("%s", error.text);
	if (add_rules(shell, &o->said) != CLI_OK)
		return CLI_FAILED;
	for (uint32_t i = 0; i < o->nr_traces; i++) {
		const char schema[2] = { (char)('a' + i), '\0' };

		if (tacho_sql_attach(shell->sql, o->trace[i], schema, 0, &error))
			return cli_fail("%s", error.text);
	}
	return CLI_OK;
}

static void watch(struct sql_shell *shell)
{
	struct tacho_sql_watch w = { .arg = shell, .cancelled = is_cancelled };

	if (!cli_quiet && isatty(STDERR_FILENO))
		w.progress = on_progress;
	tacho_sql_watch(shell->sql, &w);
	sqlite3_progress_handler(shell->db, STEPS, on_steps, NULL);
}

static int run(struct sql_shell *shell, const struct sql_options *o)
{
	int ret = open_traces(shell, o);
	bool quit;

	if (ret == CLI_OK) {
		watch(shell);
		if (o->file)
			ret = run_file(shell, o->file);
		else if (!o->query)
			ret = cli_sql_prompt(shell);
		else if (*o->query == '.')
			ret = cli_sql_command(shell, o->query, &quit);
		else
			ret = cli_sql_run(shell, o->query);
	}
	(void)sqlite3_close(shell->db);
	return ret;
}

/* What is no file and has a blank, or a dot in front. */
static bool is_query(const char *arg)
{
	return access(arg, F_OK) && (strpbrk(arg, " \t\n;") || *arg == '.');
}

static int take_arguments(struct sql_options *o, int argc, char **argv)
{
	for (int i = optind; i < argc; i++) {
		if (i > optind && i == argc - 1 && is_query(argv[i])) {
			o->query = argv[i];
			break;
		}
		if (is_query(argv[i]))
			return cli_usage("'%s' is no trace: give TRACE first, the QUERY last",
					 argv[i]);
		if (o->nr_traces == TRACES_MAX)
			return cli_usage("more than %d traces", TRACES_MAX);
		o->trace[o->nr_traces++] = argv[i];
	}
	if (!o->nr_traces)
		return cli_usage("no TRACE is given");
	if (o->query && o->file)
		return cli_usage("'%s': -f FILE has the statements", o->query);
	return -1;
}

/* Takes an option of the model: as cli_model_option(). */
static int take_rule(struct sql_options *o, int opt, const char *arg)
{
	struct tacho_diag d = { 0 };
	int ret, err = 0;

	if (opt < CLI_OPT_SPAN || opt > CLI_OPT_RULES_FILE)
		return -1;
	if (!o->rules && model_rules_new(&o->rules, &d))
		return cli_fail("%s", d.text);
	ret = cli_model_option(o->rules, opt, arg);
	if (ret != CLI_OK)
		return ret;
	if (opt == CLI_OPT_RULES_FILE)
		err = tacho_buf_read_file(&o->said, arg);
	else
		tacho_buf_printf(&o->said, "%s%s", opt == CLI_OPT_SPAN ? "span " :
				 opt == CLI_OPT_COUNTER ? "counter " : "", arg);
	tacho_buf_putc(&o->said, '\0');
	if (!err)
		err = tacho_buf_error(&o->said);
	return err ? cli_fail("cannot read the rules '%s': %s", arg, strerror(-err)) : CLI_OK;
}

/* An option that is neither common nor the model's; false: it is none. */
static bool take_own(struct sql_options *o, struct sql_shell *shell, int opt)
{
	if (opt == 'f')
		o->file = optarg;
	else if (opt == OPT_CSV)
		shell->mode = SQL_MODE_CSV;
	else if (opt == OPT_CHART)
		shell->mode = SQL_MODE_CHART;
	else if (opt == OPT_STATS)
		shell->stats = true;
	else
		return false;
	return true;
}

static int parse(struct sql_options *o, struct sql_shell *shell, int argc, char **argv)
{
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "hqf:", options, NULL)) != -1) {
		int ret;

		if (take_own(o, shell, opt))
			continue;
		ret = take_rule(o, opt, optarg);
		if (ret == CLI_OK)
			continue;
		if (ret < 0)
			ret = cli_common(opt, &json);
		if (ret >= 0)
			return ret;
	}
	if (json)
		shell->mode = SQL_MODE_JSON;
	return take_arguments(o, argc, argv);
}

static int sql_main(int argc, char **argv)
{
	struct sql_shell shell = { .mode = SQL_MODE_TABLE };
	struct sql_options o = { .nr_traces = 0 };
	int ret;

	tacho_buf_init(&o.said, FILE_MAX);
	ret = parse(&o, &shell, argc, argv);
	if (ret < 0)
		ret = run(&shell, &o);
	model_rules_free(o.rules);
	tacho_buf_release(&o.said);
	return ret;
}

#else

static int sql_main(int argc, char **argv)
{
	static const struct option options[] = { CLI_COMMON_OPTIONS, { NULL, 0, NULL, 0 } };
	bool json;
	int opt = getopt_long(argc, argv, "hq", options, NULL);

	if (opt == 'h')
		return cli_common(opt, &json);
	return cli_fail("this tacho was built without SQLite: install libsqlite3-dev and "
			"build it again");
}

#endif

const struct cli_verb cli_sql = {
	.name = "sql",
	.summary = "answer questions in SQL about traces",
	.usage = usage,
	.run = sql_main,
};
