/* SPDX-License-Identifier: MIT */
/*
 * columns.c - one column of a trace: how many rows it has, and the range of its integers.
 *
 *	cc columns.c -o columns $(pkg-config --cflags --libs tacho-stream)
 *	./columns TRACE EVENT COLUMN [THREADS]
 *	./columns TRACE model:TABLE COLUMN
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/columns.h>

struct summary {
	int64_t rows, nulls;
	int64_t smallest, largest;
	bool any;
};

/* An int32 ("i") or int64 ("l"): bits that say what is not null (or NULL), then the values. */
static void add_batch(struct summary *s, const char *format, const struct ArrowArray *column)
{
	const unsigned char *valid = column->buffers[0];
	const int32_t *i32 = column->buffers[1];
	const int64_t *i64 = column->buffers[1];

	for (int64_t i = column->offset; i < column->offset + column->length; i++) {
		int64_t value;

		if (valid && !(valid[i / 8] >> i % 8 & 1))
			continue;
		value = *format == 'i' ? i32[i] : i64[i];
		if (!s->any || value < s->smallest)
			s->smallest = value;
		if (!s->any || value > s->largest)
			s->largest = value;
		s->any = true;
	}
}

/* format: of the column, if it has numbers that are understood here; or NULL. */
static int summarize(struct ArrowArrayStream *stream, const char *format, struct summary *s)
{
	struct ArrowArray batch;
	int err;

	while (!(err = stream->get_next(stream, &batch)) && batch.release) {
		s->rows += batch.length;
		s->nulls += batch.children[0]->null_count;
		if (format)
			add_batch(s, format, batch.children[0]);
		batch.release(&batch);
	}
	return err;
}

static void print_summary(const char *name, const struct ArrowSchema *column, bool numbers,
			  const struct summary *s)
{
	const char *format = column->format;

	if (numbers)
		format = *format == 'i' ? "int32" : "int64";
	else if (!strcmp(format, "u"))
		format = "utf8";
	printf("%s: %s, %" PRId64 " rows, %" PRId64 " nulls", name, format, s->rows, s->nulls);
	if (s->any)
		printf(", from %" PRId64 " to %" PRId64, s->smallest, s->largest);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct tacho_columns_config config;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct tacho_error error;
	struct summary s = { 0 };
	const struct ArrowSchema *column;
	const char *columns[1];
	bool numbers;
	int err;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: columns TRACE EVENT|model:TABLE COLUMN [THREADS]\n");
		return 2;
	}
	tacho_columns_config_init(&config);
	columns[0] = argv[3];
	if (!strncmp(argv[2], "model:", 6))
		config.table = argv[2] + 6;
	else
		config.events = argv[2];
	if (argc == 5)
		config.threads = (uint32_t)strtoul(argv[4], NULL, 10);
	config.columns = columns;
	config.nr_columns = 1;
	if (tacho_columns_open(&stream, argv[1], &config, &error) < 0) {
		fprintf(stderr, "columns: %s\n", error.text);
		return 1;
	}
	err = stream.get_schema(&stream, &schema);
	if (!err) {
		column = schema.children[0];
		/* a dictionary has indexes of int32, which are no values */
		numbers = strchr("il", *column->format) && !column->dictionary;
		err = summarize(&stream, numbers ? column->format : NULL, &s);
		print_summary(argv[3], column, numbers, &s);
		schema.release(&schema);
	}
	if (err)
		fprintf(stderr, "columns: %s\n", stream.get_last_error(&stream));
	stream.release(&stream);
	return !!err;
}
