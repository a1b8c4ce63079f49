// SPDX-License-Identifier: MIT
/*
 * reals_test - floating-point fields out of a trace: by the public calls, by
 * their print format and in each of the lines, in this locale and in one whose
 * point is a comma.
 */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "../unit/test.h"
#include "fmt/text/line.h"
#include "synth.h"
#include "tmpdir.h"

static const char format[] = SYNTH_COMMON
	"\tfield:double d;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:float v[2];\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"d=%.3f v=%g\", REC->d, REC->v[1]\n";

static const struct {
	double d;
	float v[2];
	const char *text, *fields, *json, *babeltrace;
} rows[] = {
	{ -0.1, { 0.1f, 1.5f }, "d=-0.100 v=1.5", "d=-0.1 v={0.1,1.5}",
	  "{\"d\":-0.1,\"v\":[0.1,1.5]}", "{ d = -0.1, v = [ [0] = 0.1, [1] = 1.5 ] }" },
	{ 1234567.875, { -0.0f, 16777216.0f }, "d=1234567.875 v=1.67772e+07",
	  "d=1234567.875 v={-0,16777216}",
	  "{\"d\":1234567.875,\"v\":[-0,16777216]}",
	  "{ d = 1.23457e+06, v = [ [0] = -0, [1] = 1.67772e+07 ] }" },
	{ 1e300, { 1e38f, 2.0f }, NULL, "d=1e+300 v={1e+38,2}",
	  "{\"d\":1e+300,\"v\":[1e+38,2]}",
	  "{ d = 1e+300, v = [ [0] = 1e+38, [1] = 2 ] }" },
	{ -(double)INFINITY, { NAN, INFINITY }, "d=-inf v=inf",
	  "d=-inf v={nan,inf}", "{\"d\":null,\"v\":[null,null]}",
	  "{ d = -inf, v = [ [0] = nan, [1] = inf ] }" },
};

static void make_trace(const char *dir)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct synth s;

	CHECK_EQ(tacho_ctf_writer_new(&w, dir, &info, NULL), 0);
	CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_PROGRAM, 5, "t", "real",
				       format, sizeof(format) - 1, NULL), 0);
	synth_init(&s, TACHO_STREAM_PROGRAM, 0);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(rows); i++) {
		unsigned char b[16];

		memcpy(b, &rows[i].d, 8);
		memcpy(b + 8, rows[i].v, 8);
		s.time += 1000;
		synth_put(&s, 5, 1, b, sizeof(b));
	}
	CHECK_EQ(synth_flush(&s, w, NULL), 0);
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	tacho_buf_release(&s.records);
}

/* The line of this format must hold the text. */
static void check_line(struct tacho_stream *s, const struct tacho_record *r,
		       enum tacho_line_format kind, const char *text)
{
	const struct tacho_line_config config = { .format = kind, .raw = true };
	struct tacho_line *l = tacho_line_new(s, &config);
	struct tacho_buf out;

	tacho_buf_init(&out, 1 << 16);
	if (CHECK(l != NULL)) {
		tacho_line_put(l, r, &out);
		test_check(strstr(tacho_buf_str(&out), text) != NULL, __FILE__,
			   __LINE__, "no '%s' in\n# %s", text,
			   tacho_buf_str(&out));
	}
	tacho_line_free(l);
	tacho_buf_release(&out);
}

static void check_record(struct tacho_stream *s, const struct tacho_record *r,
			 size_t i)
{
	const struct tacho_field *d = tacho_type_find(r->type, "d");
	const struct tacho_field *v = tacho_type_find(r->type, "v");
	const struct tacho_field *pid = tacho_type_find(r->type, "common_pid");
	char text[512];
	uint64_t n;
	double x;

	if (!CHECK(d && v && pid))
		return;
	CHECK(tacho_record_double(r, d, &x) && !memcmp(&x, &rows[i].d, 8));
	CHECK(!tacho_record_double(r, v, &x));
	CHECK(!tacho_record_double(r, pid, &x));
	CHECK(!tacho_record_int(r, d, &n));
	tacho_record_text(s, r, text, sizeof(text));
	if (rows[i].text)
		CHECK_STR(text, rows[i].text);
	else
		/* a double's digits, all 309 of them */
		CHECK(strlen(text) > 300 && strstr(text, ".000 v=2"));
	check_line(s, r, TACHO_LINE_FTRACE, rows[i].fields);
	check_line(s, r, TACHO_LINE_JSON, rows[i].json);
	check_line(s, r, TACHO_LINE_BABELTRACE, rows[i].babeltrace);
}

static void read_trace(const char *dir)
{
	struct tacho_stream *s;
	struct tacho_record r;
	struct tacho_error e;
	size_t n = 0;

	if (!CHECK_EQ(tacho_stream_open(&s, dir, TACHO_STREAM_STRICT, &e), 0))
		return;
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD &&
	       n < TACHO_ARRAY_SIZE(rows))
		check_record(s, &r, n++);
	CHECK_EQ(n, TACHO_ARRAY_SIZE(rows));
	tacho_stream_close(s);
}

/* A locale that writes 0,5; made here where the system has none. */
static bool comma_locale(void)
{
	char cmd[600];

	(void)snprintf(cmd, sizeof(cmd),
		       "localedef -i de_DE -f UTF-8 %s >/dev/null 2>&1",
		       tmpdir_path("de_DE.UTF-8"));
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
		if (system(cmd))
			return false;
		setenv("LOCPATH", tmpdir, 1);
		if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
			return false;
	}
	(void)snprintf(cmd, sizeof(cmd), "%.1f", 0.5);
	CHECK_STR(cmd, "0,5");
	return true;
}

static void test_comma(const char *dir)
{
	if (comma_locale())
		read_trace(dir);
	else
		TEST_SKIP("there is no locale with another decimal point here");
}

int main(int argc, char **argv)
{
	char dir[450];

	test_args(argc, argv);
	tmpdir_make();
	(void)snprintf(dir, sizeof(dir), "%s", tmpdir_path("trace"));
	make_trace(dir);
	TEST(read_trace(dir));
	TEST(test_comma(dir));
	return test_done();
}
