// SPDX-License-Identifier: MIT
/*
 * fuzz_columns - any trace as columns: the arrays are valid by Arrow's specification, and each
 * value is what the stream says of its record; a table of the model has as many rows as the model
 * has items.
 *
 * Input: a file of any format; or else what fuzz_ctf has.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "columns/compare.h"
#include "fmt/ctf/read.h"
#include "model/items.h"
#include "stream/stream.h"

static const uint8_t uuid[16] = { 0x70, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11,
				  12, 13, 14, 15 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* The stream of an input that a file or a directory could have; NULL. */
static struct tacho_stream *open_file(int fd)
{
	struct tacho_stream *s;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tacho_stream_open(&s, path, 0, NULL) ? NULL : s;
}

static struct tacho_stream *open_ctf(const uint8_t *data, size_t size, int types)
{
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_source *source;

	if (s && !tacho_ctf_open_memory(&source, data, size, uuid, types, 0) &&
	    !tacho_stream_add_take(s, source))
		return s;
	tacho_stream_close(s);
	return NULL;
}

static void check_nothing_wrong(void)
{
	if (!compare_wrong[0])
		return;
	fprintf(stderr, "%s\n", compare_wrong);
	abort();
}

/* ---- tables of the model ------------------------------------------------------- */

static uint64_t nr_items[MODEL_NR_ITEMS];

#define COUNT(what, kind)							\
static int count_##what(void *arg, const struct model_##what *item)		\
{										\
	(void)arg;								\
	(void)item;								\
	nr_items[kind]++;							\
	return 0;								\
}
COUNT(slice, MODEL_ITEMS_SLICE)
COUNT(state, MODEL_ITEMS_STATE)
COUNT(counter, MODEL_ITEMS_COUNTER)
COUNT(flow, MODEL_ITEMS_FLOW)
COUNT(instant, MODEL_ITEMS_INSTANT)
COUNT(loss, MODEL_ITEMS_GAP)

static int count_track(void *arg, const struct model_track *track)
{
	(void)arg;
	nr_items[MODEL_ITEMS_TRACK] += track->id == nr_items[MODEL_ITEMS_TRACK];
	return 0;
}

static const struct model_ops count_ops = {
	.track = count_track, .slice = count_slice, .state = count_state,
	.counter = count_counter, .flow = count_flow, .instant = count_instant,
	.loss = count_loss,
};

static void count_items(struct tacho_stream *s)
{
	struct model_config config = { .stream = s, .ops = &count_ops };
	struct model_rules *rules;
	struct tacho_record r;
	struct model *m;

	memset(nr_items, 0, sizeof(nr_items));
	if (model_rules_new(&rules, NULL))
		abort();
	config.rules = rules;
	if (model_new(&m, &config, NULL))
		abort();
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		if (model_record(m, &r))
			abort();
	if (model_finish(m))
		abort();
	model_free(m);
	model_rules_free(rules);
}

/* Takes both over. */
static void compare_items(struct tacho_stream *plain, struct tacho_stream *s, uint32_t choice)
{
	enum model_items_kind kind = (enum model_items_kind)((choice >> 4) % MODEL_NR_ITEMS);
	struct tacho_columns_config c;
	struct ArrowArrayStream arrow;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	uint64_t rows = 0;

	tacho_columns_config_init(&c);
	c.table = model_items_name(kind);
	c.batch_rows = choice & 1 ? 3 : 1000;
	c.flags = choice & 2 ? TACHO_COLUMNS_NO_DICTIONARY :
		  choice & 4 ? TACHO_COLUMNS_DICTIONARY : 0;
	compare_wrong[0] = '\0';
	count_items(plain);
	tacho_stream_close(plain);
	if (tacho_columns_open_stream(&arrow, s, &c, NULL) || arrow.get_schema(&arrow, &schema))
		abort();
	while (!arrow.get_next(&arrow, &batch) && batch.release) {
		arrow_check(&schema, &batch);
		rows += (uint64_t)batch.length;
		batch.release(&batch);
	}
	COMPARE(rows == nr_items[kind], "%s has %" PRIu64 " rows, not %" PRIu64, c.table, rows,
		nr_items[kind]);
	schema.release(&schema);
	arrow.release(&arrow);
	check_nothing_wrong();
}

/* ---- events -------------------------------------------------------------------- */

/* Takes both over. */
static void compare_both(struct tacho_stream *plain, struct tacho_stream *s, uint32_t choice)
{
	struct tacho_columns_config c;
	struct ArrowArrayStream arrow;

	tacho_columns_config_init(&c);
	c.batch_rows = choice & 1 ? 3 : 1000;
	c.flags = choice & 2 ? TACHO_COLUMNS_NO_DICTIONARY :
		  choice & 4 ? TACHO_COLUMNS_DICTIONARY : 0;
	compare_wrong[0] = '\0';
	if (tacho_columns_open_stream(&arrow, s, &c, NULL)) {
		tacho_stream_close(plain);
		tacho_stream_close(s);
		return;
	}
	(void)compare_streams(&arrow, plain, NULL);
	check_nothing_wrong();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t choice = size ? data[size - 1] : 0;
	struct tacho_stream *plain, *s;
	size_t types;
	int fd = memory_file(data, size);

	plain = open_file(fd);
	s = plain ? open_file(fd) : NULL;
	if (!plain && size >= 2) {
		types = tacho_load_le16(data);
		if (types > size - 2)
			types = size - 2;
		close(fd);
		fd = memory_file(data + 2, types);
		plain = open_ctf(data + 2 + types, size - 2 - types, fd);
		s = plain ? open_ctf(data + 2 + types, size - 2 - types, fd) : NULL;
	}
	if (plain && s && choice & 8)
		compare_items(plain, s, choice);
	else if (plain && s)
		compare_both(plain, s, choice);
	else
		tacho_stream_close(plain);
	close(fd);
	return 0;
}
