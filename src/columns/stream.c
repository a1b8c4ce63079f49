// SPDX-License-Identifier: MIT
/* The callbacks of struct ArrowArrayStream. */
#include <errno.h>
#include <stdlib.h>

#include "columns/arrow.h"
#include "columns/open.h"

struct stream_memory {
	struct columns_rows rows;
	struct tacho_stream *stream;
	bool ended;
	struct tacho_diag diag;		/* the error of get_next(), which comes again */
	const char *last_error;		/* of the last call; NULL: there was none */
};

static int failed(struct stream_memory *m, int err, const char *text)
{
	m->last_error = text;
	return -err;
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
	struct stream_memory *m = s->private_data;
	int err = columns_export_schema(m->rows.table, out);

	m->last_error = NULL;
	return err ? failed(m, err, "out of memory") : 0;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
	struct stream_memory *m = s->private_data;

	*out = (struct ArrowArray){ .release = NULL };
	m->last_error = NULL;
	if (m->diag.err)
		return failed(m, m->diag.err, m->diag.text);
	if (!m->ended)
		m->ended = m->rows.next(m->rows.arg, out, &m->diag) <= 0;
	return m->diag.err ? failed(m, m->diag.err, m->diag.text) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
	return ((struct stream_memory *)s->private_data)->last_error;
}

static void stream_release(struct ArrowArrayStream *s)
{
	struct stream_memory *m = s->private_data;

	m->rows.free(m->rows.arg);
	tacho_stream_close(m->stream);
	free(m);
	s->release = NULL;
}

int columns_stream_new(struct ArrowArrayStream *out, const struct columns_rows *rows,
		       struct tacho_stream *stream)
{
	struct stream_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->rows = *rows;
	m->stream = stream;
	*out = (struct ArrowArrayStream){
		.get_schema = get_schema, .get_next = get_next, .get_last_error = get_last_error,
		.release = stream_release, .private_data = m };
	return 0;
}
