// SPDX-License-Identifier: MIT
/* <tacho/sink.h>: names, sizes of structs, events that are refused, errors. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <tacho/sink.h>

#include "../unit/test.h"

#define FIELD	"\tfield:u64 v;\toffset:8;\tsize:8;\tsigned:0;\n"

static struct tacho_stream *stream;
static const struct tacho_type *type;

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static void test_names(void)
{
	uint32_t nr = 0;

	while (tacho_sink_format_name(nr))
		nr++;
	CHECK_EQ(nr, 12);
	CHECK_STR(tacho_sink_format_name(0), "ctf");
	CHECK(!tacho_sink_format_name(UINT32_MAX));
}

static int define(const char *name, const char *format, struct tacho_error *error)
{
	const struct tacho_type *t;

	*error = (struct tacho_error){ 0 };
	return tacho_stream_define_type(stream, TACHO_STREAM_PROGRAM, name, format, &t, error);
}

static void test_define(void)
{
	static const char whole[] = "name: other\nID: 9\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" FIELD;
	struct tacho_error e = { 0 };
	struct tacho_record r;

	CHECK_EQ(tacho_stream_define(&stream, &e), 0);
	CHECK_EQ(tacho_stream_next(stream, &r), TACHO_STREAM_END);
	CHECK_EQ(tacho_stream_define_type(stream, TACHO_STREAM_PROGRAM, "a:b", FIELD, &type, &e),
		 0);
	CHECK_STR(tacho_type_system(type), "a");
	CHECK_STR(tacho_type_name(type), "b");
	CHECK(tacho_type_find(type, "v") && tacho_type_find(type, "common_pid"));
	CHECK_EQ(define("a:b", FIELD, &e), -EEXIST);
	CHECK_EQ(define("a:whole", whole, &e), 0);
	CHECK_EQ(define("a:empty", "", &e), 0);
	CHECK_EQ(define("ab", FIELD, &e), -EINVAL);
	CHECK_EQ(define("a:", FIELD, &e), -EINVAL);
	CHECK_EQ(define(":b", FIELD, &e), -EINVAL);
	CHECK_EQ(define("a:b c", FIELD, &e), -EINVAL);
	CHECK_STR(e.text, "'a:b c' is not SYSTEM:EVENT, of letters, digits and '_'");
	CHECK_EQ(define("a:bad", FIELD "\tfield:nothing", &e), -EINVAL);
	CHECK(e.offset >= strlen(FIELD) && e.offset <= strlen(FIELD "\tfield:nothing"));
	CHECK_EQ(tacho_stream_define_type(stream, 2, "a:c", FIELD, &type, &e), -EINVAL);
	CHECK_EQ(tacho_stream_define_type(stream, TACHO_STREAM_KERNEL, "a:b", FIELD, &type, &e),
		 0);
	CHECK_EQ(tacho_stream_define_env(stream, "no name", "x", &e), -EINVAL);
	CHECK_STR(e.text, "'no name' is not a name of letters, digits and '_'");
	CHECK_EQ(tacho_stream_define_thread(stream, 7, 7, "seven", NULL), 0);
	CHECK_STR(tacho_stream_comm(stream, 7, NULL), "seven");
}

static void test_struct(void)
{
	struct s {
		int8_t a;
		uint16_t b[3];
		double d;
	};
	static const struct tacho_member members[] = {
		TACHO_MEMBER(struct s, a, "signed char a", 1),
		TACHO_MEMBER(struct s, b, "unsigned short b[3]", 0),
		TACHO_MEMBER(struct s, d, "double d", 1),
	};
	const struct s v = { .a = -3, .b = { 1, 2, 3 }, .d = 2.5 };
	const struct tacho_type *t = NULL;
	struct tacho_error e = { 0 };
	struct tacho_sink *sink;
	char line[256];
	FILE *f;

	CHECK_EQ(tacho_stream_define_struct(stream, TACHO_STREAM_PROGRAM, "a:s", members, 3, &t, &e),
		 0);
	CHECK_EQ(tacho_sink_open(&sink, stream, "s.json", NULL, &e), 0);
	CHECK_EQ(tacho_sink_put_event(sink, t, 5, 0, 7, &v, sizeof(v)), 0);
	CHECK_EQ(tacho_sink_finish(sink, NULL, &e), 0);
	f = fopen("s.json", "r");
	CHECK(f && fgets(line, sizeof(line), f) &&
	      strstr(line, "\"fields\":{\"a\":-3,\"b\":[1,2,3],\"d\":2.5}"));
	if (f)
		fclose(f);
	unlink("s.json");
}

static void test_options(void)
{
	struct {
		struct tacho_sink_options o;
		uint64_t more;
	} newer = { .o = { .struct_size = sizeof(newer), .format = "text" } };
	struct tacho_sink_options o = { .format = "text" };
	struct tacho_sink *sink;
	struct tacho_error e = { 0 };

	CHECK_EQ(tacho_sink_open(&sink, stream, "o", &o, &e), -EINVAL);
	CHECK_STR(e.text, "struct_size 0 is too small for a struct tacho_sink_options");
	CHECK(!sink && !exists("o"));
	/* of a newer header: fine, as long as it wants nothing that is not known */
	CHECK_EQ(tacho_sink_open(&sink, stream, "o", &newer.o, &e), 0);
	CHECK(exists("o"));
	tacho_sink_discard(sink);
	CHECK(!exists("o"));
	newer.more = 1;
	CHECK_EQ(tacho_sink_open(&sink, stream, "o", &newer.o, &e), -E2BIG);
	CHECK(!exists("o"));
	o = (struct tacho_sink_options){ .struct_size = sizeof(o), .format = "xml" };
	CHECK_EQ(tacho_sink_open(&sink, stream, "o", &o, &e), -EINVAL);
	CHECK(strstr(e.text, "'xml' is not one of ctf, dat, "));
}

static void test_refused(void)
{
	struct tacho_sink_result result;
	const struct tacho_record small = { .struct_size = 8 };
	static char big[TACHO_RAW_MAX];
	struct tacho_stream *other;
	const struct tacho_type *foreign;
	struct tacho_error e = { 0 };
	struct tacho_sink *sink;
	uint64_t v = 3;

	CHECK_EQ(tacho_stream_define(&other, &e), 0);
	CHECK_EQ(tacho_stream_define_type(other, TACHO_STREAM_PROGRAM, "a:b", FIELD, &foreign, &e),
		 0);
	CHECK_EQ(tacho_sink_open(&sink, stream, "r.txt", NULL, &e), 0);
	CHECK_EQ(tacho_sink_error(sink)->err, 0);
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, &v, 8), 0);
	CHECK_EQ(tacho_sink_put_event(sink, type, 99, 0, 7, &v, 8), -EINVAL);
	CHECK_STR(tacho_sink_error(sink)->text, "the event is earlier than the one before it");
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, &v, 7), -EINVAL);
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, NULL, 8), -EINVAL);
	CHECK_EQ(tacho_sink_put_event(sink, foreign, 100, 0, 7, &v, 8), -EINVAL);
	CHECK_EQ(tacho_sink_put_event(sink, NULL, 100, 0, 7, &v, 8), -EINVAL);
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, big, TACHO_RAW_MAX - 7), -EINVAL);
	CHECK_EQ(tacho_sink_put_lost(sink, 2, 100, 0, 1), -EINVAL);
	CHECK_EQ(tacho_sink_put_lost(sink, 0, 99, 0, 1), -EINVAL);
	CHECK_EQ(tacho_sink_put(sink, &small), -EINVAL);
	CHECK_EQ(tacho_sink_skip(sink, &small), -EINVAL);
	/* and goes on */
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, UINT32_MAX, 7, big, TACHO_RAW_MAX - 8), 0);
	CHECK_EQ(tacho_sink_error(sink)->err, 0);
	CHECK_EQ(tacho_sink_finish(sink, &result, &e), 0);
	CHECK_EQ(result.events, 2);
	unlink("r.txt");
	tacho_stream_close(other);
}

/* Records at the limits, in each format. */
static void test_limits(void)
{
	static const uint64_t times[] = { 0, 1, UINT64_C(1) << 47, UINT64_C(1) << 62 };
	static char big[TACHO_RAW_MAX];
	struct tacho_error e = { 0 };

	for (uint32_t i = 0; tacho_sink_format_name(i); i++) {
		struct tacho_sink_options o = { .struct_size = sizeof(o),
						.format = tacho_sink_format_name(i) };
		struct tacho_sink *sink;
		int err = tacho_sink_open(&sink, stream, "limits", &o, &e);

		CHECK_EQ(err, 0);
		for (size_t k = 0; !err && k < 4; k++) {
			CHECK_EQ(tacho_sink_put_event(sink, type, times[k], UINT32_MAX, -1, big, 8), 0);
			CHECK_EQ(tacho_sink_put_event(sink, type, times[k], 0, 0, big,
						      TACHO_RAW_MAX - 8), 0);
			CHECK_EQ(tacho_sink_put_lost(sink, 1, times[k], 5, UINT64_C(1) << 40), 0);
		}
		if (!err)
			CHECK_EQ(tacho_sink_finish(sink, NULL, &e), 0);
		CHECK(!system("rm -r limits"));
	}
}

static void test_errors(void)
{
	const struct tacho_sink_options o = { .struct_size = sizeof(o), .format = "text" };
	struct tacho_sink *sink;
	struct tacho_error e = { 0 };
	uint64_t v = 3;
	int err = 0;

	CHECK_EQ(tacho_sink_open(&sink, stream, "/dev/full", &o, &e), 0);
	for (int i = 0; i < 100000 && !err; i++)
		err = tacho_sink_put_event(sink, type, 100, 0, 7, &v, 8);
	CHECK_EQ(err, -ENOSPC);
	CHECK_EQ(tacho_sink_error(sink)->err, -ENOSPC);
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, &v, 8), -ENOSPC);
	CHECK_EQ(tacho_sink_end_of_stream(sink), -ENOSPC);
	CHECK_EQ(tacho_sink_finish(sink, NULL, &e), -ENOSPC);
	CHECK(strstr(e.text, "/dev/full: No space left on device"));

	CHECK_EQ(tacho_sink_open(&sink, stream, "gone.dat", NULL, &e), 0);
	CHECK_EQ(tacho_sink_put_event(sink, type, 100, 0, 7, &v, 8), 0);
	tacho_sink_discard(sink);
	CHECK(!exists("gone.dat"));
	tacho_sink_discard(NULL);
}

int main(void)
{
	char dir[] = "/tmp/tacho-sink-XXXXXX";

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	test_names();
	test_define();
	test_struct();
	test_options();
	test_refused();
	test_limits();
	test_errors();
	tacho_stream_close(stream);
	CHECK(!chdir("/"));
	CHECK(!rmdir(dir));
	return test_done();
}
