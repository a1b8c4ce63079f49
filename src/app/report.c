// SPDX-License-Identifier: MIT
#include "app/report.h"

#include <time.h>

#include "app/ahead.h"
#include "app/find.h"

#define PAUSE_NS	50000000

bool app_report_is_live(const struct tacho_stream *stream)
{
	const struct tacho_source *source = tacho_stream_source(stream, 0);

	return source && source->ops->live;
}

/* Nothing now: hand out what there is and wait.  False: that was all. */
static bool wait_for_more(const struct app_report_config *c)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (c->put(c->arg) || !c->follow || tacho_observer_cancelled(c->observer))
		return false;
	(void)nanosleep(&pause, NULL);
	return !tacho_observer_cancelled(c->observer);
}

/* A record that is wanted, or losses before one that is not.  Whether to go on. */
static bool put_record(const struct app_report_config *c, struct tacho_line *line,
		       const struct tacho_record *rec, uint64_t *left)
{
	enum app_verdict v = app_select_look(c->select, rec);

	if (v == APP_STOP)
		return false;
	if (tacho_unlikely(rec->lost) && v != APP_DROP)
		tacho_line_lost(line, rec, c->out);
	if (v != APP_PASS)
		return true;
	tacho_line_put(line, rec, c->out);
	--*left;
	if (tacho_likely(c->out->len < APP_REPORT_PIECE && !c->out->err))
		return true;
	return !c->put(c->arg);
}

/* Lines that other threads have made: in pieces that the buffer has room for. */
static int put_text(void *arg, const char *text, size_t len, uint64_t events)
{
	const struct app_report_config *const *c = arg;
	struct tacho_buf *out = (*c)->out;

	(void)events;
	while (len && !out->err) {
		size_t n = len < APP_REPORT_PIECE ? len : APP_REPORT_PIECE;

		tacho_buf_put(out, text, n);
		text += n;
		len -= n;
		if (out->len >= APP_REPORT_PIECE && (*c)->put((*c)->arg))
			return 1;
	}
	return out->err || tacho_observer_cancelled((*c)->observer);
}

/* What several threads can do of it.  Whether that was all that is wanted. */
static bool put_ahead(const struct app_report_config *c, struct tacho_line *line, uint64_t *left,
		      int *err)
{
	struct app_ahead a = {
		.stream = c->stream, .select = c->select, .left = *left, .arg = &c,
		.lines = &c->lines->config, .line = line, .text = put_text,
	};

	if (c->follow)
		return false;
	*err = app_ahead_lines(&a);
	*left = a.left;
	return *err || a.status;
}

static int put_all(const struct app_report_config *c, struct tacho_line *line,
		   struct tacho_diag *d)
{
	uint64_t left = c->select->max ? c->select->max : UINT64_MAX;
	struct tacho_record rec;
	int err = 0;

	if (put_ahead(c, line, &left, &err))
		return err ? app_stream_failed(c->stream, err, d) : 0;
	while (left && !tacho_observer_cancelled(c->observer)) {
		int status = tacho_stream_next(c->stream, &rec);

		if (status == TACHO_STREAM_AGAIN && wait_for_more(c))
			continue;
		if (status == TACHO_STREAM_ERROR)
			return app_stream_failed(c->stream, -EIO, d);
		if (status != TACHO_STREAM_RECORD || !put_record(c, line, &rec, &left))
			break;
	}
	return 0;
}

int app_report(const struct app_report_config *c, struct tacho_diag *d)
{
	const struct tacho_line_config *lines = &c->lines->config;
	struct tacho_line *line;
	int err = c->select->growing ? 0 : tacho_line_check(lines, c->stream, d);

	if (err)
		return err;
	line = tacho_line_new(c->stream, lines);
	if (!line)
		return tacho_no_memory(d);
	if (c->select->first)
		tacho_line_zero(line, c->select->first);
	if (c->header)
		tacho_line_head(line, c->out);
	err = put_all(c, line, d);
	tacho_line_free(line);
	return err;
}
