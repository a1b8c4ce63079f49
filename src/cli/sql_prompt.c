// SPDX-License-Identifier: MIT
/* The prompt of tacho sql: lines, history, completion, commands. */
#include "cli/sql.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef TACHO_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

#include "base/text.h"
#include "cli/cli.h"
#include "cli/out.h"

#define STATEMENT_MAX	((size_t)1 << 20)
#define HISTORY_MAX	1000

static const char help[] =
	".tables [GLOB]   list the tables\n"
	".schema TABLE    show the columns of a table\n"
	".functions       list the functions of tacho\n"
	".mode MODE       print as table, csv, json or chart\n"
	".help            print this help\n"
	".quit            leave (also Ctrl-D)\n"
	"QUERY \\watch N   repeat a query every N seconds, until Ctrl-C\n"
	"A statement ends with ';'.  Ctrl-C stops a query.\n";

/* ---- Ctrl-C ------------------------------------------------------------------ */

#define AGAIN_US	50000

static volatile sig_atomic_t interrupted;

/*
 * The read of the prompt ends with the signal.  One that begins just after it would not, so a timer
 * repeats it until the interrupt was seen.
 */
static void repeat(long us)
{
	const struct itimerval t = { { 0, us }, { 0, us } };

	(void)setitimer(ITIMER_REAL, &t, NULL);
}

static void on_signal(int sig)
{
	if (sig != SIGINT)
		return;
	interrupted = 1;
	repeat(AGAIN_US);
}

void cli_sql_catch(void)
{
	/* without SA_RESTART: a read of the prompt ends, too */
	struct sigaction sa = { .sa_handler = on_signal };

	(void)sigaction(SIGALRM, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
}

bool cli_sql_interrupted(void)
{
	return interrupted;
}

void cli_sql_forget_interrupt(void)
{
	repeat(0);
	interrupted = 0;
}

/* ---- commands ---------------------------------------------------------------- */

/* Runs a query of our own; args are for its '?'. */
static int run_query(struct sql_shell *shell, const char *text, const char *arg)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(shell->db, text, -1, &stmt, NULL);
	int ret = CLI_OK;

	if (rc == SQLITE_OK && arg)
		rc = sqlite3_bind_text(stmt, 1, arg, -1, SQLITE_TRANSIENT);
	if (rc == SQLITE_OK)
		rc = cli_sql_print(shell, stmt);
	if (rc != SQLITE_DONE)
		ret = cli_fail("%s", sqlite3_errmsg(shell->db));
	(void)sqlite3_finalize(stmt);
	return ret;
}

static const char tables_query[] =
	"select schema, name as \"table\", ncol as columns from pragma_table_list where type = "
	"'virtual' and name glob ? order by schema, name";

/* Tables that were made here have a schema that says it. */
static const char columns_query[] =
	"select l.schema as schema, c.name as column, c.type as type, "
	"case c.hidden when 1 then 'yes' else '' end as hidden "
	"from pragma_table_list as l, pragma_table_xinfo(l.name, l.schema) as c "
	"where l.name = ? collate nocase order by l.schema, c.cid";

static const char functions_query[] =
	"select distinct name as function, narg as arguments from pragma_function_list where "
	"name in ('ts', 'dur', 'sym', 'syscall_name', 'log2', 'quantile', 'tacho_attach', "
	"'tacho_rule') and ? is not null order by name, narg";

static int schema_command(struct sql_shell *shell, const char *arg)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;

	if (!*arg)
		return cli_fail(".schema: give a TABLE; .tables lists them");
	if (sqlite3_prepare_v2(shell->db, columns_query, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(stmt, 1, arg, -1, SQLITE_TRANSIENT) == SQLITE_OK)
		found = sqlite3_step(stmt) == SQLITE_ROW;
	(void)sqlite3_finalize(stmt);
	return found ? run_query(shell, columns_query, arg) :
	       cli_fail("there is no table '%s'; .tables lists them", arg);
}

static int put_help(void)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 65536);
	tacho_buf_puts(&b, help);
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

int cli_sql_command(struct sql_shell *shell, const char *line, bool *quit)
{
	char word[32] = "", arg[256] = "";

	*quit = false;
	(void)sscanf(line, "%31s %255s", word, arg);
	if (!strcmp(word, ".tables"))
		return run_query(shell, tables_query, *arg ? arg : "*");
	if (!strcmp(word, ".schema"))
		return schema_command(shell, arg);
	if (!strcmp(word, ".functions"))
		return run_query(shell, functions_query, "");
	if (!strcmp(word, ".help"))
		return put_help();
	if (!strcmp(word, ".mode"))
		return cli_sql_mode(arg, &shell->mode) ? CLI_OK :
		       cli_fail(".mode: '%s' is none of table, csv, json, chart", arg);
	*quit = !strcmp(word, ".quit") || !strcmp(word, ".exit");
	return *quit ? CLI_OK : cli_fail("there is no command '%s'; .help lists them", word);
}

/* ---- \watch ------------------------------------------------------------------ */

/* Cuts "\watch N" off; the seconds, 0: there is none. */
static double cut_watch(char *text)
{
	char *at = strstr(text, "\\watch"), *end;
	double seconds;

	if (!at)
		return 0;
	seconds = strtod(at + 6, &end);
	*at = '\0';
	return end == at + 6 || !(seconds > 0) ? 2 : seconds < 86400 ? seconds : 86400;
}

static int run_watch(struct sql_shell *shell, const char *text, double seconds)
{
	struct timespec pause = { .tv_sec = (time_t)seconds };
	int ret = CLI_OK;

	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	while (ret == CLI_OK && !interrupted) {
		if (isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		(void)fflush(stdout);
		ret = cli_sql_run(shell, text);
		if (!interrupted)
			(void)nanosleep(&pause, NULL);
	}
	return ret;
}

/* ---- lines ------------------------------------------------------------------- */

#ifdef TACHO_HAVE_LIBEDIT

static struct sql_shell *completing;
static sqlite3_stmt *words;

/* Tables, columns and functions that begin with what is typed. */
static const char words_query[] =
	"select name from pragma_table_list where substr(name, 1, length(?1)) = ?1 union "
	"select column_name from a.field where substr(column_name, 1, length(?1)) = ?1 union "
	"select name from pragma_function_list where substr(name, 1, length(?1)) = ?1 union "
	"select value from json_each('[\"time\",\"cpu\",\"pid\",\"tid\",\"comm\",\"system\","
	"\"name\",\"source\",\"lost\",\"text\",\"select\",\"from\",\"where\",\"group by\","
	"\"order by\",\"limit\",\"between\",\"count(*)\",\"dur\",\"end\",\"state\",\"category\","
	"\"path\",\"intervals_overlap\",\"span_join\",\"span_left_join\",\"span_outer_join\","
	"\"partitioned\"]') "
	"where substr(value, 1, length(?1)) = ?1 order by 1";

static char *next_word(const char *text, int state)
{
	char *word = NULL;

	if (!state) {
		(void)sqlite3_finalize(words);
		words = NULL;
		if (sqlite3_prepare_v2(completing->db, words_query, -1, &words, NULL) !=
		    SQLITE_OK)
			return NULL;
		(void)sqlite3_bind_text(words, 1, text, -1, SQLITE_TRANSIENT);
	}
	if (words && sqlite3_step(words) == SQLITE_ROW)
		word = strdup((const char *)sqlite3_column_text(words, 0));
	if (word)
		return word;
	(void)sqlite3_finalize(words);
	words = NULL;
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	/* never names of files */
	rl_attempted_completion_over = 1;
	return rl_completion_matches(text, next_word);
}

/* "$XDG_STATE_HOME/tacho/sql_history"; "" when there is no home. */
static void history_path(char *to, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char dir[3800];

	*to = '\0';
	if (state && *state == '/')
		(void)snprintf(dir, sizeof(dir), "%s/tacho", state);
	else if (home && *home)
		(void)snprintf(dir, sizeof(dir), "%s/.local/state/tacho", home);
	else
		return;
	for (char *p = strchr(dir + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(dir, 0700);
		*p = '/';
	}
	(void)mkdir(dir, 0700);
	(void)snprintf(to, size, "%s/sql_history", dir);
}

static void lines_begin(struct sql_shell *shell)
{
	static char name[] = "tacho";
	char path[4096];

	completing = shell;
	rl_readline_name = name;
	rl_initialize();
	rl_attempted_completion_function = complete;
	using_history();
	stifle_history(HISTORY_MAX);
	history_path(path, sizeof(path));
	if (*path)
		(void)read_history(path);
}

static void lines_end(void)
{
	char path[4096];

	history_path(path, sizeof(path));
	if (*path && !write_history(path))
		(void)chmod(path, 0600);
}

static char *read_tty(const char *prompt)
{
	return readline(prompt);
}

static void remember(const char *text)
{
	add_history(text);
}

#else

static void lines_begin(struct sql_shell *shell)
{
	(void)shell;
}

static void lines_end(void)
{
}

static char *read_tty(const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	fputs(prompt, stdout);
	(void)fflush(stdout);
	n = getline(&line, &room, stdin);
	if (n <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void remember(const char *text)
{
	(void)text;
}

#endif

static char *read_plain(void)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n = getline(&line, &room, stdin);

	if (n <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* ---- the prompt -------------------------------------------------------------- */

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\n")];
}

static int run_statement(struct sql_shell *shell, struct tacho_buf *text)
{
	char *copy = strdup(tacho_buf_str(text));
	double seconds;
	int ret;

	tacho_buf_reset(text);
	if (!copy)
		return cli_fail("out of memory");
	if (shell->is_prompt)
		remember(copy);
	seconds = cut_watch(copy);
	ret = seconds > 0 ? run_watch(shell, copy, seconds) : cli_sql_run(shell, copy);
	free(copy);
	return ret;
}

/* One line; text is what came before of its statement. */
static int take_line(struct sql_shell *shell, struct tacho_buf *text, const char *line,
		     bool *quit)
{
	if (is_blank(tacho_buf_str(text))) {
		tacho_buf_reset(text);
		line += strspn(line, " \t");
		if (*line == '.') {
			if (shell->is_prompt)
				remember(line);
			return cli_sql_command(shell, line, quit);
		}
	}
	if (text->len)
		tacho_buf_putc(text, '\n');
	tacho_buf_puts(text, line);
	if (tacho_buf_error(text)) {
		tacho_buf_reset(text);
		return cli_fail("the statement is too long");
	}
	if (is_blank(tacho_buf_str(text)) ||
	    (!sqlite3_complete(tacho_buf_str(text)) && !strstr(line, "\\watch")))
		return CLI_OK;
	return run_statement(shell, text);
}

int cli_sql_prompt(struct sql_shell *shell)
{
	struct tacho_buf text;
	bool quit = false;
	int ret = CLI_OK;

	shell->is_prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	tacho_buf_init(&text, STATEMENT_MAX);
	if (shell->is_prompt) {
		cli_sql_catch();
		lines_begin(shell);
		cli_note(".help lists the commands; a statement ends with ';'");
	}
	while (!quit && (ret == CLI_OK || shell->is_prompt)) {
		char *line = !shell->is_prompt ? read_plain() :
			     read_tty(text.len ? "   ...> " : "tacho> ");

		if (!line && shell->is_prompt && interrupted) {
			/* Ctrl-C while typing: the line is dropped */
			cli_sql_forget_interrupt();
			clearerr(stdin);
			tacho_buf_reset(&text);
			(void)!write(STDOUT_FILENO, "\n", 1);
			continue;
		}
		if (!line)
			break;
		cli_sql_forget_interrupt();
		ret = take_line(shell, &text, line, &quit);
		cli_sql_forget_interrupt();
		free(line);
	}
	if (shell->is_prompt)
		lines_end();
	else if (ret == CLI_OK && !quit && !is_blank(tacho_buf_str(&text)))
		ret = run_statement(shell, &text);
	tacho_buf_release(&text);
	return shell->is_prompt ? CLI_OK : ret;
}
