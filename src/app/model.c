// SPDX-License-Identifier: MIT
#include "app/model.h"

#include <errno.h>
#include <string.h>

#include "app/find.h"
#include "app/index.h"

#define RULES_FILE_MAX	((size_t)16 << 20)

/* How often the observer is asked, in records. */
#define STEP		1024u

int app_model_begin(struct model **m, const struct model_config *config,
		    struct app_model_range *range, struct tacho_diag *d)
{
	uint64_t first;

	if (!range || !range->index)
		return model_new(m, config, d);
	return app_index_model(m, config, range->index, range->from, &first, d);
}

int app_model_read(struct tacho_stream *stream, struct model *m,
		   struct app_model_range *range, const struct tacho_observer *observer,
		   struct tacho_diag *d)
{
	const uint64_t to = range ? range->to : UINT64_MAX;
	struct tacho_stream_info info = { 0 };
	struct tacho_record r;
	bool waiting = range;		/* for the first record of the range */
	uint64_t n = 0;
	int status, err;

	if (observer && observer->progress)
		(void)tacho_stream_get_info(stream, &info);
	while ((status = tacho_stream_next(stream, &r)) == TACHO_STREAM_RECORD) {
		if (r.time > to) {
			model_until(m, to);
			break;
		}
		if (waiting && r.time >= range->from) {
			range->before = *model_stats(m);
			waiting = false;
		}
		err = model_record(m, &r);
		if (err)
			return err;
		if (++n % STEP)
			continue;
		tacho_observer_progress(observer, n, info.events);
		if (tacho_observer_cancelled(observer))
			return -ECANCELED;
	}
	if (status == TACHO_STREAM_ERROR)
		return app_stream_failed(stream, -EIO, d);
	if (waiting) {
		range->before = *model_stats(m);
		tacho_observer_note(observer, "no event lies in this time");
	}
	return model_finish(m);
}

void app_model_note_unused(const struct model_rules *rules, struct tacho_stream *stream,
			   const struct tacho_observer *observer)
{
	struct tacho_buf b;

	tacho_buf_init(&b, RULES_FILE_MAX);
	if (!model_rules_unused(rules, stream, &b))
		for (char *line = b.data, *end; line && line < b.data + b.len; line = end + 1) {
			end = memchr(line, '\n', (size_t)(b.data + b.len - line));
			tacho_observer_note(observer, "%.*s", (int)(end - line), line);
		}
	tacho_buf_release(&b);
}

int app_model_run(struct tacho_stream *stream, const struct model_rules *rules,
		  const struct model_ops *ops, void *arg, const struct tacho_observer *observer,
		  struct model_stats *stats, struct tacho_diag *d)
{
	struct model_config config = { stream, rules, ops, arg };
	struct model *m;
	int err = model_new(&m, &config, d);

	if (err)
		return err;
	err = app_model_read(stream, m, NULL, observer, d);
	if (!err)
		app_model_note_unused(rules, stream, observer);
	if (stats)
		*stats = *model_stats(m);
	model_free(m);
	return err == -ENOMEM ? tacho_no_memory(d) : err;
}

/* ---- what the user says ---- */

/* Adds "WORD TEXT"; the offset of an error counts in TEXT. */
static int add(struct model_rules *rules, const char *word, const char *text,
	       struct tacho_diag *d)
{
	size_t head = strlen(word);
	struct tacho_buf b;
	int err;

	if (strchr(text, '\n'))
		return tacho_diag(d, -EINVAL, 0, "a rule is one line");
	tacho_buf_init(&b, RULES_FILE_MAX);
	tacho_buf_printf(&b, "%s%s", word, text);
	err = tacho_buf_error(&b) ? tacho_no_memory(d) :
				    model_rules_add(rules, b.data, b.len, d);
	tacho_buf_release(&b);
	if (err && d->offset >= head)
		d->offset -= head;
	return err;
}

int app_model_add_span(struct model_rules *rules, const char *text, struct tacho_diag *d)
{
	return add(rules, "span ", text, d);
}

int app_model_add_counter(struct model_rules *rules, const char *text, struct tacho_diag *d)
{
	return add(rules, "counter ", text, d);
}

static unsigned int line_of(const struct tacho_buf *b, uint64_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset && i < b->len; i++)
		line += b->data[i] == '\n';
	return line;
}

int app_model_add_file(struct model_rules *rules, const char *path, struct tacho_diag *d)
{
	struct tacho_diag wrong = { 0 };
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, RULES_FILE_MAX);
	err = tacho_buf_read_file(&b, path);
	if (err)
		err = tacho_diag(d, err, 0, "cannot read the rules in %s: %s", path,
				 strerror(-err));
	else
		err = model_rules_add(rules, b.data ? b.data : "", b.len, &wrong);
	if (err && wrong.err)
		err = tacho_diag(d, err, 0, "%s, line %u: %s", path, line_of(&b, wrong.offset),
				 wrong.text);
	tacho_buf_release(&b);
	return err;
}
