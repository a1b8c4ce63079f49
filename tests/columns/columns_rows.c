// SPDX-License-Identifier: MIT
/*
 * columns_rows TRACE NAME=VALUE... - all rows of an Arrow stream as lines of text, the names of the
 * columns first; values have a 0x1f between them (compare.h says how they look).  Arrays are
 * checked against Arrow's specification.
 *
 * NAME: a member of struct tacho_columns_config; columns and filters are words with commas.
 */
#include "compare.h"

#define WORDS_MAX	64u

static void fail(const char *text)
{
	fprintf(stderr, "columns_rows: %s\n", text);
	exit(1);
}

static uint32_t split(char *text, const char *words[WORDS_MAX])
{
	uint32_t nr = 0;

	for (char *s = strtok(text, ","); s && nr < WORDS_MAX; s = strtok(NULL, ","))
		words[nr++] = s;
	return nr;
}

static bool set_number(struct tacho_columns_config *c, const char *name, uint64_t v)
{
	if (!strcmp(name, "begin"))
		c->begin = v;
	else if (!strcmp(name, "end"))
		c->end = v;
	else if (!strcmp(name, "until"))
		c->until = v;
	else if (!strcmp(name, "flags"))
		c->flags = (uint32_t)v;
	else if (!strcmp(name, "batch_rows"))
		c->batch_rows = (uint32_t)v;
	else if (!strcmp(name, "threads"))
		c->threads = (uint32_t)v;
	else
		return false;
	return true;
}

static bool set_text(struct tacho_columns_config *c, const char *name, char *text)
{
	static const char *columns[WORDS_MAX], *filters[WORDS_MAX];
	const struct {
		const char *name, **member;
	} texts[] = {
		{ "table", &c->table }, { "rules", &c->rules }, { "tracks", &c->tracks },
		{ "events", &c->events }, { "tids", &c->tids }, { "pids", &c->pids },
		{ "comms", &c->comms }, { "cpus", &c->cpus }, { "source", &c->source },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(name, texts[i].name)) {
			*texts[i].member = text;
			return true;
		}
	if (!strcmp(name, "columns")) {
		c->columns = columns;
		c->nr_columns = split(text, columns);
	} else if (!strcmp(name, "filters")) {
		c->filters = filters;
		c->nr_filters = split(text, filters);
	} else {
		return false;
	}
	return true;
}

static void print_batch(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	struct tacho_buf line;

	tacho_buf_init(&line, (size_t)1 << 20);
	for (int64_t i = 0; i < a->length; i++) {
		tacho_buf_reset(&line);
		for (int64_t c = 0; c < s->n_children; c++) {
			if (c)
				tacho_buf_putc(&line, '\x1f');
			put_arrow(&line, s->children[c], a->children[c], i);
		}
		puts(tacho_buf_str(&line));
	}
	tacho_buf_release(&line);
}

int main(int argc, char **argv)
{
	struct tacho_columns_config c;
	struct ArrowArrayStream stream;
	struct tacho_error error;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	int err;

	tacho_columns_config_init(&c);
	for (int i = 2; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			fail("not NAME=VALUE");
		*value++ = '\0';
		if (!set_text(&c, argv[i], value) &&
		    !set_number(&c, argv[i], strtoull(value, NULL, 10)))
			fail("no such member");
	}
	if (argc < 2 || tacho_columns_open(&stream, argv[1], &c, &error))
		fail(argc < 2 ? "which trace?" : error.text);
	if (stream.get_schema(&stream, &schema))
		fail(stream.get_last_error(&stream));
	for (int64_t i = 0; i < schema.n_children; i++)
		printf("%s%s", i ? "\x1f" : "", schema.children[i]->name);
	printf("\n");
	while (!(err = stream.get_next(&stream, &batch)) && batch.release) {
		arrow_check(&schema, &batch);
		print_batch(&schema, &batch);
		batch.release(&batch);
	}
	if (err)
		fail(stream.get_last_error(&stream));
	schema.release(&schema);
	stream.release(&stream);
	if (compare_wrong[0])
		fail(compare_wrong);
	return 0;
}
