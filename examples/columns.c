/* SPDX-License-Identifier: MIT */
/*
 * columns.c - one column of a trace: how many rows it has, and the range of an int32.
 *
 *	cc columns.c -o columns $(pkg-config --cflags --libs tacho-stream)
 *	./columns TRACE EVENT COLUMN
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <tacho/columns.h>

struct summary {
	int64_t rows, nulls;
	int32_t smallest, largest;
	bool any;
};

/* The layout of an int32 column: bits that say what is not null (or NULL), then the values. */
static void add_batch(struct summary *s, const struct ArrowArray *column)
{
	const unsigned char *valid = column->buffers[0];
	const int32_t *value = column->buffers[1];

	for (int64_t i = column->offset; i < column->offset + column->length; i++) {
		if (valid && !(valid[i / 8] >> i % 8 & 1))
			continue;
		if (!s->any || value[i] < s->smallest)
			s->smallest = value[i];
		if (!s->any || value[i] > s->largest)
			s->largest = value[i];
		s->any = true;
	}
}

static int summarize(struct ArrowArrayStream *stream, bool numbers, struct summary *s)
{
	struct ArrowArray batch;
	int err;

	while (!(err = stream->get_next(stream, &batch)) && batch.release) {
		s->rows += batch.length;
		s->nulls += batch.children[0]->null_count;
		if (numbers)
			add_batch(s, batch.children[0]);
		batch.release(&batch);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct tacho_columns_config config;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct tacho_error error;
	struct summary s = { 0 };
	const char *columns[1], *format;
	bool numbers;
	int err;

	if (argc != 4) {
		fprintf(stderr, "usage: columns TRACE EVENT COLUMN\n");
		return 2;
	}
	tacho_columns_config_init(&config);
	columns[0] = argv[3];
	config.events = argv[2];
	config.columns = columns;
	config.nr_columns = 1;
	if (tacho_columns_open(&stream, argv[1], &config, &error) < 0) {
		fprintf(stderr, "columns: %s\n", error.text);
		return 1;
	}
	err = stream.get_schema(&stream, &schema);
	if (!err) {
		format = schema.children[0]->format;
		/* a dictionary has indexes of int32, which are no values */
		numbers = !strcmp(format, "i") && !schema.children[0]->dictionary;
		err = summarize(&stream, numbers, &s);
		printf("%s: %s, %" PRId64 " rows, %" PRId64 " nulls", argv[3],
		       numbers ? "int32" : !strcmp(format, "u") ? "utf8" : format, s.rows, s.nulls);
		if (s.any)
			printf(", from %" PRId32 " to %" PRId32, s.smallest, s.largest);
		printf("\n");
		schema.release(&schema);
	}
	if (err)
		fprintf(stderr, "columns: %s\n", stream.get_last_error(&stream));
	stream.release(&stream);
	return !!err;
}
