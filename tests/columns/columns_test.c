// SPDX-License-Identifier: MIT
/*
 * columns_test - Arrow streams against the records of the same trace (compare.h), and what their
 * consumers may do with them: move, keep, release in any order.
 */
#include <errno.h>
#include <pthread.h>

#include "../stream/synth.h"
#include "../stream/tmpdir.h"
#include "../unit/test.h"
#include "columns/columns.h"
#include "compare.h"

#define ROWS	3000u

static const struct {
	const char *name, *fields;
} shapes[] = {
	{ "empty", "\n" },
	{ "ints",
	  "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	  "\tfield:u8 b;\toffset:9;\tsize:1;\tsigned:0;\n"
	  "\tfield:s16 c;\toffset:10;\tsize:2;\tsigned:1;\n"
	  "\tfield:u32 d;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:s64 e;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\tfield:u64 f;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:void * g;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\tfield:bool i;\toffset:40;\tsize:1;\tsigned:0;\n"
	  "\tfield:u16 j;\toffset:42;\tsize:2;\tsigned:0;\n"
	  "\tfield:int k;\toffset:44;\tsize:4;\tsigned:1;\n\n" },
	/* the same names, other types: all can share a column but g, f and i of "odd" */
	{ "wider",
	  "\tfield:s32 a;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:bool b;\toffset:12;\tsize:1;\tsigned:0;\n"
	  "\tfield:u16 d;\toffset:14;\tsize:2;\tsigned:0;\n"
	  "\tfield:u64 e;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:u64 f;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:u32 j;\toffset:32;\tsize:4;\tsigned:0;\n"
	  "\tfield:s16 k;\toffset:36;\tsize:2;\tsigned:1;\n\n" },
	{ "odd",
	  "\tfield:char f[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:float i;\toffset:17;\tsize:4;\tsigned:0;\n"
	  "\tfield:u16 g[2];\toffset:21;\tsize:4;\tsigned:0;\n\n" },
	{ "texts",
	  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:char small[5];\toffset:24;\tsize:5;\tsigned:0;\n"
	  "\tfield:char large[40];\toffset:29;\tsize:40;\tsigned:0;\n"
	  "\tfield:__data_loc char[] s;\toffset:72;\tsize:4;\tsigned:0;\n"
	  "\tfield:__rel_loc char[] t;\toffset:76;\tsize:4;\tsigned:0;\n\n" },
	{ "arrays",
	  "\tfield:u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;\n"
	  "\tfield:s16 v[3];\toffset:14;\tsize:6;\tsigned:1;\n"
	  "\tfield:u64 w[2];\toffset:20;\tsize:16;\tsigned:0;\n"
	  "\tfield:float x[4];\toffset:36;\tsize:16;\tsigned:0;\n"
	  "\tfield:u32 large[20];\toffset:52;\tsize:80;\tsigned:0;\n"
	  "\tfield:__data_loc u8[] y;\toffset:132;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc s64[] z;\toffset:136;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc unsigned long[] mask;\toffset:140;\tsize:4;\tsigned:0;\n"
	  "\tfield:struct point at;\toffset:144;\tsize:12;\tsigned:0;\n"
	  "\tfield:struct area of;\toffset:156;\tsize:72;\tsigned:0;\n\n" },
	{ "reals",
	  "\tfield:double d;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:float r;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\tfield:double odd;\toffset:21;\tsize:8;\tsigned:0;\n\n" },
	{ "narrow", "\tfield:float d;\toffset:8;\tsize:4;\tsigned:0;\n\n" },
	{ "named",
	  "\tfield:int state;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:u8 flags;\toffset:12;\tsize:1;\tsigned:0;\n"
	  "\tfield:int state_name;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	  "print fmt: \"%s %s\", __print_symbolic(REC->state & 7, { 0, \"R\" }, { 1, \"S\" }, "
	  "{ 2, \"D\" }), __print_flags(REC->flags, \"|\", { 1, \"ONE\" }, { 2, \"TWO\" }, "
	  "{ 12, \"BOTH\" })\n" },
};

#define NR_SHAPES	TACHO_ARRAY_SIZE(shapes)

static char trace[256];
static uint32_t threads;	/* that decode */

static uint32_t random_u32(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 11);
}

/* Bytes that are few different ones, of which some are no UTF-8, and locations that may be right. */
static size_t random_payload(unsigned char b[400])
{
	static const char *const texts[] = { "worker/3", "gr\xc3\xbc\xc3\x9f", "a\xffz\xe2\x82", "" };
	size_t len = random_u32() % 8 ? 260 + random_u32() % 120 : random_u32() % 200;

	for (size_t i = 0; i < 400; i++)
		b[i] = (unsigned char)(random_u32() % 3 ? random_u32() % 4 : random_u32());
	if (random_u32() % 4)
		(void)snprintf((char *)b, 16, "%s", texts[random_u32() % 4]);
	/* raw offset 8 is byte 0 */
	tacho_put_u32(b + 72 - 8, 200 | random_u32() % 40 << 16);
	tacho_put_u32(b + 76 - 8, 100 | random_u32() % 40 << 16);
	tacho_put_u32(b + 132 - 8, (232 + random_u32() % 100) | random_u32() % 50 << 16);
	tacho_put_u32(b + 136 - 8, 232 | random_u32() % 50 << 16);
	tacho_put_u32(b + 140 - 8, 232 | 16 << 16);
	return len;
}

static void put_type(struct tacho_ctf_writer *w, uint32_t id, const char *name, const char *fields)
{
	struct tacho_diag d = { 0 };
	char text[4096];
	int n = snprintf(text, sizeof(text), "%s%s", SYNTH_COMMON, fields);

	CHECK(!tacho_ctf_writer_type(w, 0, id, "shape", name, text, (size_t)n, &d));
}

/* Two CPUs; times that the clock maps to different ns. */
static void make_trace(void)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	static const char names[] = "101 100 one\xff" "hundred\n102 100 two\n103 0 three\n";
	struct tacho_diag d = { 0 };
	struct synth cpu[2];

	(void)snprintf(trace, sizeof(trace), "%s/trace", tmpdir);
	CHECK(!tacho_ctf_writer_new(&w, trace, &info, &d));
	for (uint32_t i = 0; i < NR_SHAPES; i++)
		put_type(w, i + 1, shapes[i].name, shapes[i].fields);
	synth_init(&cpu[0], TACHO_STREAM_PROGRAM, 0);
	synth_init(&cpu[1], TACHO_STREAM_PROGRAM, 1);
	for (uint32_t i = 0; i < ROWS; i++) {
		struct synth *s = &cpu[random_u32() % 2];
		unsigned char b[400];
		size_t len = random_payload(b);

		s->time = SYNTH_TICKS + 1000 * i;
		synth_put(s, 1 + random_u32() % NR_SHAPES, 100 + (int32_t)(random_u32() % 5), b,
			  len);
		if (!(random_u32() % 100))
			CHECK(!synth_flush(s, w, &d));
	}
	for (int i = 0; i < 2; i++) {
		CHECK(!synth_flush(&cpu[i], w, &d));
		tacho_buf_release(&cpu[i].records);
	}
	CHECK(!tacho_ctf_writer_text(w, "cmdlines", names, sizeof(names) - 1, &d));
	CHECK(!tacho_ctf_writer_close(w, &d));
}

static struct tacho_columns_config defaults(void)
{
	struct tacho_columns_config c;

	tacho_columns_config_init(&c);
	c.threads = threads;
	return c;
}

static bool open_both(const struct tacho_columns_config *c, struct ArrowArrayStream *arrow,
		      struct tacho_stream **plain)
{
	struct tacho_error error = { 0 };

	if (tacho_columns_open(arrow, trace, c, &error)) {
		CHECK_STR(error.text, "");
		return false;
	}
	CHECK(!tacho_stream_open(plain, trace, 0, NULL));
	return true;
}

/* How many rows there are; each is what its record says. */
static uint64_t compare(const struct tacho_columns_config *c,
			bool (*wanted)(const struct tacho_record *r))
{
	struct ArrowArrayStream arrow;
	struct tacho_stream *plain;
	uint64_t rows;

	compare_wrong[0] = '\0';
	if (!open_both(c, &arrow, &plain))
		return 0;
	rows = compare_streams(&arrow, plain, wanted);
	CHECK_STR(compare_wrong, "");
	return rows;
}

/* ---- values -------------------------------------------------------------------- */

static void test_all_types(uint32_t flags, uint32_t batch_rows)
{
	struct tacho_columns_config c = defaults();

	c.flags = flags;
	c.batch_rows = batch_rows;
	CHECK_EQ(compare(&c, NULL), ROWS);
}

static const char *one_type;

static bool is_one_type(const struct tacho_record *r)
{
	return !strcmp(tacho_type_name(r->type), one_type);
}

static void test_each_type(uint32_t flags)
{
	struct tacho_columns_config c = defaults();
	uint64_t rows = 0;

	c.flags = flags;
	for (uint32_t i = 0; i < NR_SHAPES; i++) {
		c.events = one_type = shapes[i].name;
		rows += compare(&c, is_one_type);
	}
	CHECK_EQ(rows, ROWS);
}

static const char *const all_common[] = {
	"common_lost", "common_ticks", "common_tgid", "common_source", "common_system",
	"common_event", "common_comm", "common_pid", "common_cpu", "common_timestamp",
	"common_flags", "common_preempt_count", "common_type",
};

static void test_common(uint32_t flags)
{
	struct tacho_columns_config c = defaults();

	c.flags = flags;
	c.columns = all_common;
	c.nr_columns = TACHO_ARRAY_SIZE(all_common);
	CHECK_EQ(compare(&c, NULL), ROWS);
}

/* ---- schemas -------------------------------------------------------------------- */

static void schema_text(const struct ArrowSchema *s, struct tacho_buf *out)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		const struct ArrowSchema *c = s->children[i];

		tacho_buf_printf(out, "%s %s", c->name, c->format);
		if (c->dictionary)
			tacho_buf_printf(out, ">%s", c->dictionary->format);
		if (c->n_children)
			tacho_buf_printf(out, "<%s %s", c->children[0]->name, c->children[0]->format);
		tacho_buf_puts(out, c->flags & ARROW_FLAG_NULLABLE ? "?\n" : "\n");
	}
}

static void schema_is(const struct tacho_columns_config *c, const char *text)
{
	struct ArrowArrayStream arrow;
	struct tacho_error error;
	struct ArrowSchema s;
	struct tacho_buf is;

	tacho_buf_init(&is, (size_t)1 << 20);
	if (tacho_columns_open(&arrow, trace, c, &error)) {
		CHECK_STR(error.text, "");
		return;
	}
	CHECK(!arrow.get_schema(&arrow, &s));
	arrow.release(&arrow);
	CHECK_STR(s.format, "+s");
	schema_text(&s, &is);
	CHECK_STR(tacho_buf_str(&is), text);
	s.release(&s);
	CHECK(!s.release);
	tacho_buf_release(&is);
}

#define COMMON_SCHEMA "common_timestamp tsn:\ncommon_cpu I?\ncommon_pid i\ncommon_comm i>u?\n" \
	"common_event i>u\n"

static void test_schema(void)
{
	struct tacho_columns_config c = defaults();

	c.events = "ints";
	schema_is(&c, COMMON_SCHEMA "a c?\nb C?\nc s?\nd I?\ne l?\nf L?\ng L?\ni b?\nj S?\nk i?\n");
	c.events = "texts";
	schema_is(&c, COMMON_SCHEMA "comm i>u?\nsmall i>u?\nlarge i>u?\ns u?\nt u?\n");
	c.events = "arrays";
	schema_is(&c, COMMON_SCHEMA "mac +w:6<item C?\nv +w:3<item s?\nw +w:2<item L?\n"
		  "x +w:4<item f?\nlarge +l<item I?\ny +l<item C?\nz +l<item l?\nmask z?\n"
		  "at w:12?\nof z?\n");
	c.events = "named";
	schema_is(&c, COMMON_SCHEMA "state i?\nstate_name_ i>u?\nflags C?\nflags_name i>u?\n"
		  "state_name i?\n");
	c.events = "ints,wider,odd,reals,narrow";
	schema_is(&c, COMMON_SCHEMA "a l?\nb l?\nc s?\nd l?\ne l?\nf L?\ng L?\ni b?\nj l?\nk l?\n"
		  "wider_e L?\nodd_f i>u?\nodd_i f?\nodd_g +w:2<item S?\nreals_d g?\nr f?\nodd g?\n"
		  "narrow_d f?\n");
}

static void test_flags(void)
{
	struct tacho_columns_config c = defaults();

	c.events = "texts";
	c.flags = TACHO_COLUMNS_NO_DICTIONARY | TACHO_COLUMNS_TIME_UTC;
	schema_is(&c, "common_timestamp tsn:UTC\ncommon_cpu I?\ncommon_pid i\ncommon_comm u?\n"
		  "common_event u\ncomm u?\nsmall u?\nlarge u?\ns u?\nt u?\n");
	c.flags = TACHO_COLUMNS_DICTIONARY | TACHO_COLUMNS_TIME_INT64;
	schema_is(&c, "common_timestamp l\ncommon_cpu I?\ncommon_pid i\ncommon_comm i>u?\n"
		  "common_event i>u\ncomm i>u?\nsmall i>u?\nlarge i>u?\ns i>u?\nt i>u?\n");
}

static void test_projection(void)
{
	static const char *const names[] = { "flags_name", "common_cpu", "state" };
	struct tacho_columns_config c = defaults();

	c.columns = names;
	c.nr_columns = 3;
	schema_is(&c, "flags_name i>u?\ncommon_cpu I?\nstate i?\n");
	CHECK_EQ(compare(&c, NULL), ROWS);
}

/* How many rows there are, in any order. */
static int64_t count(const struct tacho_columns_config *c)
{
	struct ArrowArrayStream arrow;
	struct ArrowArray batch;
	int64_t rows = 0;

	CHECK(!tacho_columns_open(&arrow, trace, c, NULL));
	while (!arrow.get_next(&arrow, &batch) && batch.release) {
		rows += batch.length;
		batch.release(&batch);
	}
	arrow.release(&arrow);
	return rows;
}

/* ---- rows ------------------------------------------------------------------------- */

static uint64_t time_from, time_to;

static bool in_time(const struct tacho_record *r)
{
	return r->time >= time_from && r->time <= time_to;
}

static void test_time(void)
{
	struct tacho_columns_config c = defaults();

	/* 1000 ticks are 435.8 ns */
	time_from = c.begin = SYNTH_REALTIME + 400000;
	time_to = UINT64_MAX;
	CHECK_EQ(compare(&c, in_time), ROWS - 918);
	time_to = c.end = SYNTH_REALTIME + 600000;
	CHECK_EQ(compare(&c, in_time), 459);
	c.flags = TACHO_COLUMNS_UNORDERED;
	CHECK_EQ(count(&c), 459);
}

static bool is_selected(const struct tacho_record *r)
{
	return r->cpu == 1 && r->pid >= 101 && r->pid <= 102 && !is_one_type(r);
}

static bool is_of_process(const struct tacho_record *r)
{
	return r->pid == 101 || r->pid == 102;
}

static bool is_named_one(const struct tacho_record *r)
{
	return r->pid == 101;
}

static bool is_positive(const struct tacho_record *r)
{
	uint64_t a;

	return tacho_record_int(r, tacho_type_find(r->type, "a"), &a) && (int64_t)a > 0;
}

static void test_select(void)
{
	static const char *const filters[] = { "ints/a > 0", "wider/a > 0" };
	struct tacho_columns_config c = defaults();

	c.events = "!ints";
	one_type = "ints";
	c.cpus = "1";
	c.tids = "101-102";
	c.source = "program";
	CHECK(compare(&c, is_selected) > 100);
	c = defaults();
	c.pids = "100";
	CHECK(compare(&c, is_of_process) > 100);
	c = defaults();
	c.comms = "one*";
	CHECK(compare(&c, is_named_one) > 100);
	c = defaults();
	c.filters = filters;
	c.nr_filters = 2;
	CHECK(compare(&c, is_positive) > 100);
	c = defaults();
	c.source = "kernel";
	CHECK_EQ(count(&c), 0);
}

/* ---- errors ------------------------------------------------------------------------- */

static void refused(const struct tacho_columns_config *c, int err, const char *text)
{
	struct ArrowArrayStream arrow;
	struct tacho_error error = { 0 };

	memset(&arrow, 0xff, sizeof(arrow));
	CHECK_EQ(tacho_columns_open(&arrow, trace, c, &error), err);
	CHECK(!arrow.release);
	CHECK_STR(error.text, text);
	/* nobody has to want the message */
	CHECK_EQ(tacho_columns_open(&arrow, trace, c, NULL), err);
}

static void test_refused(void)
{
	static const char *const wrong[] = { "a", "nothing" }, *const twice[] = { "a", "a" };
	struct { struct tacho_columns_config c; uint64_t more; } later = { .c = defaults() };
	struct tacho_columns_config c = defaults();

	c.columns = wrong;
	c.nr_columns = 2;
	refused(&c, -ENOENT, "no selected event has a column 'nothing'");
	c.columns = twice;
	refused(&c, -EINVAL, "the column 'a' is named twice");
	c = defaults();
	c.flags = 1u << 30;
	refused(&c, -EINVAL, "flags 0x40000000 has a flag that is not known");
	c = defaults();
	c.struct_size = 8;
	refused(&c, -EINVAL, "struct_size 8 is too small for a struct tacho_columns_config");
	c = defaults();
	c.batch_rows = UINT32_MAX;
	refused(&c, -EINVAL, "batch_rows is more than 16777216");
	c = defaults();
	c.begin = 2;
	c.end = 1;
	refused(&c, -EINVAL, "the time range ends before it begins");
	c = defaults();
	c.cpus = "x";
	refused(&c, -EINVAL, "cpus: 'x' is neither a number nor a range like 0-3");
	c = defaults();
	c.events = "no_such_event_at_all";
	refused(&c, -ENOENT, "no event of the trace matches 'no_such_event_at_all'; "
		"'tacho stat' lists them");
	later.c.struct_size = sizeof(later);
	CHECK_EQ(compare(&later.c, NULL), ROWS);
	later.more = 1;
	refused(&later.c, -E2BIG, "the configuration has a member that this library does not know");
}

/* A copy of the trace in which the second packet of a CPU is no packet. */
static void make_damaged(const char *path)
{
	char file[300], command[700];
	FILE *f;

	(void)snprintf(command, sizeof(command), "cp -r '%.250s' '%.250s'", trace, path);
	CHECK(!system(command));
	(void)snprintf(file, sizeof(file), "%.250s/program_0", path);
	f = fopen(file, "r+b");
	if (!f || fseek(f, 20000, SEEK_SET)) {
		CHECK_STR(file, "a file that can be opened");
		return;
	}
	for (int i = 0; i < 8000; i++)
		(void)fputc(0xff, f);
	(void)fclose(f);
}

static void test_damage(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow;
	struct ArrowArray batch;
	struct ArrowSchema s;
	char path[300];
	int64_t rows = 0;
	int err;

	(void)snprintf(path, sizeof(path), "%s/damaged-%u", tmpdir, threads);
	make_damaged(path);
	c.flags = TACHO_COLUMNS_STRICT;
	c.batch_rows = 100;
	if (tacho_columns_open(&arrow, path, &c, NULL)) {
		CHECK_STR(path, "a trace that can be opened");
		return;
	}
	while (!(err = arrow.get_next(&arrow, &batch)) && batch.release) {
		rows += batch.length;
		batch.release(&batch);
	}
	CHECK(rows > 0 && rows < ROWS);
	CHECK(err > 0 && !batch.release && strlen(arrow.get_last_error(&arrow)) > 10);
	/* again, and a schema can still be had */
	CHECK_EQ(arrow.get_next(&arrow, &batch), err);
	CHECK(arrow.get_last_error(&arrow));
	CHECK(!arrow.get_schema(&arrow, &s));
	CHECK(!arrow.get_last_error(&arrow));
	s.release(&s);
	arrow.release(&arrow);
}

/* ---- what consumers do ---------------------------------------------------------------- */

#define KEPT_MAX	64

/* A copy without the original, as the specification defines a move. */
#define MOVE(to, from) do {							\
	memcpy((to), (from), sizeof(*(to)));					\
	memset((from), 0xee, sizeof(*(from)));					\
	(from)->release = NULL;							\
} while (0)

static void test_end(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow;
	struct ArrowArray batch;

	CHECK(!tacho_columns_open(&arrow, trace, &c, NULL));
	CHECK(!arrow.get_last_error(&arrow));
	CHECK(!arrow.get_next(&arrow, &batch));
	CHECK_EQ(batch.length, ROWS);
	batch.release(&batch);
	for (int i = 0; i < 3; i++) {
		memset(&batch, 0xff, sizeof(batch));
		CHECK(!arrow.get_next(&arrow, &batch) && !batch.release);
	}
	arrow.release(&arrow);
	CHECK(!arrow.release);
}

static void test_release_early(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow;
	struct ArrowArray batch;

	c.batch_rows = 10;
	CHECK(!tacho_columns_open(&arrow, trace, &c, NULL));
	arrow.release(&arrow);
	CHECK(!tacho_columns_open(&arrow, trace, &c, NULL));
	CHECK(!arrow.get_next(&arrow, &batch));
	batch.release(&batch);
	arrow.release(&arrow);
}

/* Batches that were kept, moved, and outlive their stream and schema. */
static void test_keep(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow, moved;
	struct ArrowSchema s, schema;
	static struct ArrowArray kept[KEPT_MAX];
	struct tacho_stream *plain;
	struct tacho_record r;
	int n = 0;

	compare_wrong[0] = '\0';
	c.batch_rows = 100;
	if (!open_both(&c, &arrow, &plain))
		return;
	MOVE(&moved, &arrow);
	CHECK(!moved.get_schema(&moved, &s));
	MOVE(&schema, &s);
	for (;;) {
		struct ArrowArray batch;

		CHECK(!moved.get_next(&moved, &batch));
		if (!batch.release || n == KEPT_MAX)
			break;
		MOVE(&kept[n], &batch);
		n++;
	}
	moved.release(&moved);
	CHECK_EQ(n, ROWS / 100);
	list_known(plain);
	for (int i = 0; i < n; i++)
		for (int64_t row = 0; row < kept[i].length; row++) {
			CHECK(tacho_stream_next(plain, &r) == TACHO_STREAM_RECORD);
			compare_row(&schema, &kept[i], row, plain, &r);
		}
	CHECK_STR(compare_wrong, "");
	for (int i = n; i--;)
		kept[i].release(&kept[i]);
	schema.release(&schema);
	tacho_stream_close(plain);
}

/* Children, items and dictionaries are moved out, and released after, or before, their parents. */
static void test_move_children(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow;
	struct ArrowSchema schema, schemas[3];
	struct ArrowArray batch, arrays[3];
	struct tacho_buf text;

	c.events = "arrays,texts";
	CHECK(!tacho_columns_open(&arrow, trace, &c, NULL));
	CHECK(!arrow.get_schema(&arrow, &schema) && !arrow.get_next(&arrow, &batch));
	arrow.release(&arrow);
	/* common_timestamp; the dictionary of common_event; the items of the last list */
	MOVE(&schemas[0], schema.children[0]);
	MOVE(&arrays[0], batch.children[0]);
	MOVE(&schemas[1], schema.children[4]->dictionary);
	MOVE(&arrays[1], batch.children[4]->dictionary);
	for (int64_t i = schema.n_children; i--;)
		if (!strcmp(schema.children[i]->format, "+l")) {
			MOVE(&schemas[2], schema.children[i]->children[0]);
			MOVE(&arrays[2], batch.children[i]->children[0]);
			break;
		}
	/* a consumer that has all it wants of a column */
	schema.children[1]->release(schema.children[1]);
	batch.children[1]->release(batch.children[1]);
	schema.release(&schema);
	batch.release(&batch);
	tacho_buf_init(&text, (size_t)1 << 20);
	for (int i = 0; i < 3; i++) {
		CHECK(arrays[i].length > 0);
		for (int64_t row = 0; row < arrays[i].length; row++)
			put_arrow(&text, &schemas[i], &arrays[i], row);
		arrays[i].release(&arrays[i]);
		schemas[i].release(&schemas[i]);
	}
	CHECK(strstr(tacho_buf_str(&text), "'texts'"));
	tacho_buf_release(&text);
}

/* Reads all texts of the dictionaries, then releases the batch.  Returns a sum of their bytes. */
static void *read_and_release(void *arg)
{
	struct ArrowArray *batch = arg;
	uintptr_t sum = 0;

	for (int64_t i = 0; i < batch->n_children; i++) {
		const struct ArrowArray *d = batch->children[i]->dictionary;
		const int32_t *at = d ? d->buffers[1] : NULL;

		for (int32_t j = 0; d && j < at[d->length]; j++)
			sum += ((const unsigned char *)d->buffers[2])[j];
	}
	batch->release(batch);
	return (void *)sum;
}

/* Other threads read and release batches, whose dictionaries go on growing meanwhile. */
static void test_consumers(void)
{
	struct tacho_columns_config c = defaults();
	static struct ArrowArray batch[KEPT_MAX];
	static pthread_t thread[KEPT_MAX];
	struct ArrowArrayStream arrow;
	uintptr_t first = 0, last = 0;
	void *sum;
	int n = 0;

	c.batch_rows = 100;
	c.flags = TACHO_COLUMNS_DICTIONARY;
	CHECK(!tacho_columns_open(&arrow, trace, &c, NULL));
	while (n < KEPT_MAX && !arrow.get_next(&arrow, &batch[n]) && batch[n].release) {
		CHECK(!pthread_create(&thread[n], NULL, read_and_release, &batch[n]));
		n++;
	}
	arrow.release(&arrow);
	for (int i = 0; i < n; i++) {
		CHECK(!pthread_join(thread[i], &sum));
		last = (uintptr_t)sum;
		first = i ? first : last;
	}
	CHECK_EQ(n, ROWS / 100);
	/* the dictionaries have grown from batch to batch */
	CHECK(last > first && first > 0);
}

/* A stream that the caller has opened. */
static void test_open_stream(void)
{
	struct tacho_columns_config c = defaults();
	struct ArrowArrayStream arrow;
	struct tacho_stream *s, *plain;
	struct tacho_error error;

	compare_wrong[0] = '\0';
	CHECK(!tacho_stream_open(&s, trace, 0, NULL));
	c.cpus = "x";
	CHECK_EQ(tacho_columns_open_stream(&arrow, s, &c, &error), -EINVAL);
	CHECK(!arrow.release);
	c.cpus = NULL;
	CHECK_EQ(tacho_columns_open_stream(&arrow, s, NULL, &error), 0);
	CHECK(!tacho_stream_open(&plain, trace, 0, NULL));
	CHECK_EQ(compare_streams(&arrow, plain, NULL), ROWS);
	CHECK_STR(compare_wrong, "");
	CHECK_EQ(tacho_columns_version(), TACHO_COLUMNS_VERSION);
}

/* ---- dictionaries ----------------------------------------------------------------------- */

#define MANY	200000u

/* More texts than a dictionary may have, and then one again and again. */
static void test_large_dictionary(void)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_columns_config c = defaults();
	struct tacho_diag d = { 0 };
	struct tacho_ctf_writer *w;
	char kept[sizeof(trace)];
	struct synth cpu;

	memcpy(kept, trace, sizeof(kept));
	(void)snprintf(trace, sizeof(trace), "%s/many-%u", tmpdir, threads);
	CHECK(!tacho_ctf_writer_new(&w, trace, &info, &d));
	put_type(w, 1, "many", "\tfield:char text[24];\toffset:8;\tsize:24;\tsigned:0;\n"
		 "\tfield:char comm[16];\toffset:32;\tsize:16;\tsigned:0;\n\n");
	synth_init(&cpu, TACHO_STREAM_PROGRAM, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		char b[40] = "";

		(void)snprintf(b, 24, "text %u", i < MANY / 2 ? i : 7);
		(void)snprintf(b + 24, 16, "comm %u", i % 1000);
		cpu.time += 100;
		synth_put(&cpu, 1, 1, b, sizeof(b));
		if (!(i % 4000))
			CHECK(!synth_flush(&cpu, w, &d));
	}
	CHECK(!synth_flush(&cpu, w, &d) && !tacho_ctf_writer_close(w, &d));
	tacho_buf_release(&cpu.records);
	c.batch_rows = 30000;
	CHECK_EQ(compare(&c, NULL), MANY);
	/* a batch is cut by its bytes, too */
	c.batch_rows = COLUMNS_ROWS_MAX;
	CHECK_EQ(compare(&c, NULL), MANY);
	memcpy(trace, kept, sizeof(trace));
}

static void test_values(void)
{
	test_all_types(0, 0);
	test_all_types(0, 7);
	test_all_types(0, 1);
	test_all_types(TACHO_COLUMNS_NO_DICTIONARY, 1000);
	test_all_types(TACHO_COLUMNS_DICTIONARY | TACHO_COLUMNS_TIME_UTC, 1000);
	test_each_type(0);
	test_each_type(TACHO_COLUMNS_DICTIONARY);
	test_each_type(TACHO_COLUMNS_NO_DICTIONARY);
	test_common(0);
	test_common(TACHO_COLUMNS_NO_DICTIONARY);
	test_projection();
}

static void test_rows(void)
{
	test_time();
	test_select();
	test_damage();
	test_release_early();
	test_open_stream();
	test_large_dictionary();
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tmpdir_make();
	make_trace();
	for (threads = 1; threads <= 3; threads += 2) {
		TEST(test_values());
		TEST(test_rows());
	}
	threads = 1;
	TEST(test_schema());
	TEST(test_flags());
	TEST(test_refused());
	TEST(test_end());
	TEST(test_keep());
	TEST(test_move_children());
	TEST(test_consumers());
	return test_done();
}
