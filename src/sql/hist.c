// SPDX-License-Identifier: MIT
/* hist(EVENT, COMMAND, ...): a question in the control language, its histograms as rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/query.h"
#include "base/json.h"
#include "engine/hist_view.h"
#include "sql/tables.h"

#define PAIRS_MAX	8	/* EVENT, COMMAND */
#define KEYS_MAX	TACHO_HIST_KEYS_MAX
#define TEXT_MAX	((size_t)1 << 20)

/* Columns of the table: as they are declared. */
enum {
	H_EVENT, H_HITCOUNT,
	H_KEY, H_NUMBER = H_KEY + 3,		/* k1, k2, k3; n1, n2, n3 */
	H_VALUE = H_NUMBER + 3,			/* v1, v2 */
	H_KEYS = H_VALUE + 2, H_VALUES,
	H_ARGS,					/* the hidden arguments */
};

const char *sql_hist_declaration(void)
{
	return "create table x(event TEXT, hitcount INTEGER, k1, k2, k3, n1 INTEGER, "
	       "n2 INTEGER, n3 INTEGER, v1 INTEGER, v2 INTEGER, \"keys\" TEXT, "
	       "\"values\" TEXT, "
	       "event1 HIDDEN, command1 HIDDEN, event2 HIDDEN, command2 HIDDEN, "
	       "event3 HIDDEN, command3 HIDDEN, event4 HIDDEN, command4 HIDDEN, "
	       "event5 HIDDEN, command5 HIDDEN, event6 HIDDEN, command6 HIDDEN, "
	       "event7 HIDDEN, command7 HIDDEN, event8 HIDDEN, command8 HIDDEN)";
}

_Static_assert(TACHO_HIST_KEYS_MAX == 3 && TACHO_HIST_VALS_MAX == 2, "columns of hist");

struct hist_cursor {
	sqlite3_vtab_cursor base;
	struct sql_vtab *vtab;
	struct sql_stream *stream;
	bool failed;
	char *arg[2 * PAIRS_MAX];
	struct app_question question;
	struct app_query *query;
	struct tacho_observer observer;
	struct hist_view *view;		/* one per histogram */
	uint32_t nr_views, at_view, at_entry;
	uint64_t row;
	struct tacho_buf text;
};

static struct hist_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
	return (struct hist_cursor *)(void *)cursor;	/* first member */
}

/* ---- arguments --------------------------------------------------------------------------- */

/* idxNum: how many arguments; they are the first hidden columns. */
static int hist_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int at[2 * PAIRS_MAX], nr = 0;

	(void)vtab;
	for (int i = 0; i < 2 * PAIRS_MAX; i++)
		at[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		int arg = info->aConstraint[i].iColumn - H_ARGS;

		if (arg < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		/* an argument of another table that is not known yet: another order */
		if (!info->aConstraint[i].usable)
			return SQLITE_CONSTRAINT;
		at[arg] = i;
	}
	while (nr < 2 * PAIRS_MAX && at[nr] >= 0) {
		info->aConstraintUsage[at[nr]].argvIndex = nr + 1;
		info->aConstraintUsage[at[nr]].omit = 1;
		nr++;
	}
	info->idxNum = nr;
	info->estimatedCost = 1e6;
	info->estimatedRows = 1000;
	return SQLITE_OK;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void forget(struct hist_cursor *c)
{
	for (uint32_t i = 0; i < c->nr_views; i++)
		hist_view_release(&c->view[i]);
	free(c->view);
	c->view = NULL;
	c->nr_views = c->at_view = c->at_entry = 0;
	app_query_close(c->query);
	c->query = NULL;
	for (int i = 0; i < 2 * PAIRS_MAX; i++) {
		free(c->arg[i]);
		c->arg[i] = NULL;
	}
	sql_stream_put(c->vtab->trace, c->stream, c->failed);
	c->stream = NULL;
}

static int hist_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct hist_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->vtab = (struct sql_vtab *)(void *)vtab;
	tacho_buf_init(&c->text, TEXT_MAX);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int hist_close(sqlite3_vtab_cursor *cursor)
{
	struct hist_cursor *c = cursor_of(cursor);

	forget(c);
	tacho_buf_release(&c->text);
	free(c);
	return SQLITE_OK;
}

/* ---- the question -------------------------------------------------------------------------- */

static int take_arguments(struct hist_cursor *c, int argc, sqlite3_value **argv,
			  struct tacho_diag *d)
{
	struct app_question *q = &c->question;

	*q = (struct app_question){ .is_sql = true };
	if (!argc || argc % 2)
		return tacho_diag(d, -EINVAL, 0, "hist() takes pairs of EVENT and COMMAND: "
				  "hist('sched_switch', 'keys=prev_comm')");
	for (int i = 0; i < argc; i++) {
		const char *text = (const char *)sqlite3_value_text(argv[i]);

		c->arg[i] = strdup(text ? text : "");
		if (!c->arg[i])
			return tacho_no_memory(d);
	}
	for (int i = 0; i < argc; i += 2) {
		if (!strcmp(c->arg[i], "synth"))
			q->synth[q->nr_synths++] = c->arg[i + 1];
		else
			q->command[q->nr_commands++] = (struct app_question_command){
				.event = c->arg[i], .text = c->arg[i + 1] };
	}
	return q->nr_commands ? 0 : tacho_diag(d, -EINVAL, 0, "hist() has no command");
}

static bool is_cancelled(void *arg)
{
	const struct hist_cursor *c = arg;

	return sql_cancelled(c->vtab->trace->sql);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct hist_cursor *c = arg;
	const struct tacho_sql *sql = c->vtab->trace->sql;

	if (sql->watch.progress && total)
		sql->watch.progress(sql->watch.arg, done, total);
}

static int add_view(const struct tacho_hist *hist, const struct tacho_names *names, void *arg)
{
	struct hist_cursor *c = arg;
	struct hist_view *view = reallocarray(c->view, c->nr_views + 1, sizeof(*view));

	if (!view)
		return -ENOMEM;
	c->view = view;
	return hist_view_take(&view[c->nr_views++], hist, names);
}

static int run_question(struct hist_cursor *c, struct tacho_diag *d)
{
	/* of a live session: what is there now */
	static const struct app_watch now = { .duration_ns = 1 };
	struct sql_trace *trace = c->vtab->trace;
	int err = sql_stream_get(trace, &c->stream, d);

	if (err)
		return err;
	if (trace->can_seek && !c->stream->fresh) {
		err = tacho_stream_seek(c->stream->trace.stream, 0);
		if (err)
			return app_stream_failed(c->stream->trace.stream, err, d);
	}
	c->stream->fresh = false;
	c->observer = (struct tacho_observer){ .arg = c, .cancelled = is_cancelled };
	if (trace->sql->watch.progress)
		c->observer.progress = on_progress;
	c->question.rules = trace->sql->rules;
	err = app_query_open(&c->query, c->stream->trace.stream, &c->question, &c->observer, d);
	if (!err)
		err = app_query_run(c->query, trace->live ? &now : NULL, d);
	if (!err && app_query_each(c->query, add_view, c))
		err = tacho_no_memory(d);
	return err;
}

/* The command that is wrong goes into the sentence, with its column. */
static int explain(struct hist_cursor *c, const struct tacho_diag *d)
{
	const char *wrong = app_query_wrong(c->query);
	sqlite3_vtab *vtab = &c->vtab->base;

	if (!wrong || d->err == -ENOMEM)
		return sql_vtab_error(vtab, SQLITE_ERROR, d);
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = d->offset == APP_NO_PLACE ?
		sqlite3_mprintf("%s: '%s'", d->text, wrong) :
		sqlite3_mprintf("%s, at column %d of '%s'", d->text, (int)d->offset + 1, wrong);
	return SQLITE_ERROR;
}

static void skip_empty(struct hist_cursor *c)
{
	while (c->at_view < c->nr_views && c->at_entry >= c->view[c->at_view].nr) {
		c->at_view++;
		c->at_entry = 0;
	}
}

static int hist_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
		       sqlite3_value **argv)
{
	struct hist_cursor *c = cursor_of(cursor);
	struct tacho_diag d = { 0 };
	int err, rc = SQLITE_OK;

	(void)text;
	(void)number;
	forget(c);
	c->failed = false;
	c->row = 0;
	err = take_arguments(c, argc, argv, &d);
	if (!err)
		err = run_question(c, &d);
	if (err) {
		c->failed = true;
		rc = err == -ECANCELED ? SQLITE_INTERRUPT : explain(c, &d);
		forget(c);
	}
	skip_empty(c);
	return rc;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static int hist_next(sqlite3_vtab_cursor *cursor)
{
	struct hist_cursor *c = cursor_of(cursor);

	c->at_entry++;
	c->row++;
	skip_empty(c);
	return SQLITE_OK;
}

static int hist_eof(sqlite3_vtab_cursor *cursor)
{
	return cursor_of(cursor)->at_view >= cursor_of(cursor)->nr_views;
}

/* Whether a key of numbers is shown by a name, and not by its number. */
static bool is_named(const struct hist_view *v, const struct tacho_hist_column *c, uint64_t n)
{
	uint32_t mods = hist_view_mods(c);

	return mods & (TACHO_MOD_SYM | TACHO_MOD_SYM_OFFSET | TACHO_MOD_EXECNAME) ||
	       (mods & TACHO_MOD_SYSCALL && hist_view_syscall(v, n));
}

static bool is_range(const struct tacho_hist_column *c)
{
	return hist_view_mods(c) & (TACHO_MOD_LOG2 | TACHO_MOD_BUCKETS);
}

/* A key as text: a string, a stack, a symbol, a system call, a thread's name. */
static const char *key_text(struct hist_cursor *c, const struct tacho_hist_column *key)
{
	const struct hist_view *v = &c->view[c->at_view];
	struct tacho_map_elt *e = v->entry[c->at_entry];

	tacho_buf_reset(&c->text);
	if (key->shape == TACHO_SHAPE_NUMBER && hist_view_mods(key) & TACHO_MOD_EXECNAME)
		tacho_buf_puts(&c->text, hist_view_comm(v, e, key));
	else
		hist_view_put_key(v, e, key, &c->text);
	return tacho_buf_str(&c->text);
}

static void result_key(struct hist_cursor *c, sqlite3_context *ctx, uint32_t i)
{
	const struct hist_view *v = &c->view[c->at_view];
	const struct tacho_hist_column *key;
	uint64_t n, low, high;

	if (i >= tacho_hist_nr_keys(v->hist))
		return;
	key = tacho_hist_key(v->hist, i);
	n = key->shape == TACHO_SHAPE_NUMBER ?
	    hist_view_word(tacho_map_key(v->entry[c->at_entry]), key) : 0;
	if (key->shape != TACHO_SHAPE_NUMBER || is_named(v, key, n)) {
		sqlite3_result_text(ctx, key_text(c, key), -1, SQLITE_TRANSIENT);
		return;
	}
	hist_view_range(key, n, &low, &high);
	sqlite3_result_int64(ctx, (int64_t)low);
}

/* The number that a name stands for, or the end of a range. */
static void result_number(struct hist_cursor *c, sqlite3_context *ctx, uint32_t i)
{
	const struct hist_view *v = &c->view[c->at_view];
	const struct tacho_hist_column *key;
	uint64_t n, low, high;

	if (i >= tacho_hist_nr_keys(v->hist))
		return;
	key = tacho_hist_key(v->hist, i);
	if (key->shape != TACHO_SHAPE_NUMBER)
		return;
	n = hist_view_word(tacho_map_key(v->entry[c->at_entry]), key);
	hist_view_range(key, n, &low, &high);
	sqlite3_result_int64(ctx, (int64_t)high);
}

/* Two of one name: the second one's place is added. */
static const char *label(struct tacho_buf *to, const char *name, uint32_t i, bool taken)
{
	tacho_buf_reset(to);
	tacho_buf_puts(to, name);
	if (taken)
		tacho_buf_printf(to, "_%u", i + 1);
	return tacho_buf_str(to);
}

static void put_key_json(struct hist_cursor *c, struct tacho_json *j, uint32_t i)
{
	const struct hist_view *v = &c->view[c->at_view];
	const struct tacho_hist_column *key = tacho_hist_key(v->hist, i);
	uint64_t n = 0, low, high;

	if (key->shape == TACHO_SHAPE_NUMBER)
		n = hist_view_word(tacho_map_key(v->entry[c->at_entry]), key);
	if (key->shape != TACHO_SHAPE_NUMBER || is_named(v, key, n)) {
		tacho_json_str(j, key_text(c, key));
		return;
	}
	hist_view_range(key, n, &low, &high);
	if (!is_range(key)) {
		tacho_json_s64(j, (int64_t)low);
		return;
	}
	tacho_json_open(j, '{');
	tacho_json_pair_s64(j, "low", (int64_t)low);
	tacho_json_pair_s64(j, "high", (int64_t)high);
	tacho_json_close(j, '}');
}

static void put_keys_json(struct hist_cursor *c, struct tacho_json *j)
{
	const struct tacho_hist *hist = c->view[c->at_view].hist;

	for (uint32_t i = 0; i < tacho_hist_nr_keys(hist); i++) {
		const char *name = tacho_hist_key(hist, i)->name;
		bool taken = false;

		for (uint32_t k = 0; k < i; k++)
			taken |= !strcmp(tacho_hist_key(hist, k)->name, name);
		tacho_json_key(j, label(&c->text, name, i, taken));
		put_key_json(c, j, i);
	}
}

static uint64_t value_at(const struct hist_cursor *c, uint32_t i)
{
	const struct hist_view *v = &c->view[c->at_view];

	return hist_view_val(v, v->entry[c->at_entry], tacho_hist_val(v->hist, i));
}

static void put_values_json(struct hist_cursor *c, struct tacho_json *j)
{
	const struct hist_view *v = &c->view[c->at_view];

	tacho_json_pair_u64(j, "hitcount", hist_view_val(v, v->entry[c->at_entry], NULL));
	for (uint32_t i = 0; i < tacho_hist_nr_vals(v->hist); i++) {
		const char *name = tacho_hist_val(v->hist, i)->name;
		bool taken = !strcmp(name, "hitcount");

		for (uint32_t k = 0; k < i; k++)
			taken |= !strcmp(tacho_hist_val(v->hist, k)->name, name);
		tacho_json_pair_s64(j, label(&c->text, name, i, taken), (int64_t)value_at(c, i));
	}
}

static int result_json(struct hist_cursor *c, sqlite3_context *ctx, bool keys)
{
	struct tacho_buf out;
	struct tacho_json j;
	int rc = SQLITE_OK;

	tacho_buf_init(&out, TEXT_MAX);
	tacho_json_init(&j, &out);
	tacho_json_open(&j, '{');
	if (keys)
		put_keys_json(c, &j);
	else
		put_values_json(c, &j);
	tacho_json_close(&j, '}');
	if (tacho_buf_error(&out))
		rc = SQLITE_NOMEM;
	else
		sqlite3_result_text(ctx, out.data, (int)out.len, SQLITE_TRANSIENT);
	tacho_buf_release(&out);
	return rc;
}

static int hist_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
	struct hist_cursor *c = cursor_of(cursor);
	const struct hist_view *v = &c->view[c->at_view];
	const struct tacho_type *type = tacho_hist_type_of(v->hist);
	uint32_t i = (uint32_t)column;

	if (i == H_EVENT) {
		char name[512];

		sqlite3_snprintf((int)sizeof(name), name, "%s:%s", type->system, type->name);
		sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
	} else if (i == H_HITCOUNT) {
		sqlite3_result_int64(ctx, (int64_t)hist_view_val(v, v->entry[c->at_entry], NULL));
	} else if (i < H_NUMBER) {
		result_key(c, ctx, i - H_KEY);
	} else if (i < H_VALUE) {
		result_number(c, ctx, i - H_NUMBER);
	} else if (i < H_KEYS) {
		if (i - H_VALUE < tacho_hist_nr_vals(v->hist))
			sqlite3_result_int64(ctx, (int64_t)value_at(c, i - H_VALUE));
	} else if (i < H_ARGS) {
		return result_json(c, ctx, i == H_KEYS);
	} else if (c->arg[i - H_ARGS]) {
		sqlite3_result_text(ctx, c->arg[i - H_ARGS], -1, SQLITE_TRANSIENT);
	}
	return SQLITE_OK;
}

static int hist_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)cursor_of(cursor)->row;
	return SQLITE_OK;
}

const sqlite3_module sql_hist_module = {
	.xCreate = sql_connect,
	.xConnect = sql_connect,
	.xBestIndex = hist_best_index,
	.xDisconnect = sql_disconnect,
	.xDestroy = sql_destroy,
	.xRename = sql_rename,
	.xOpen = hist_open,
	.xClose = hist_close,
	.xFilter = hist_filter,
	.xNext = hist_next,
	.xEof = hist_eof,
	.xColumn = hist_column,
	.xRowid = hist_rowid,
};
