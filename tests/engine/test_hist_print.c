// SPDX-License-Identifier: MIT
/*
 * Contents of histograms as the kernel's text where test_golden.c has none, as
 * JSON, as charts, and quantiles.
 */
#include "unit/test.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/hist_print.h"
#include "engine/json_check.h"

static const char format[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 s;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:char name[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:s8 small;\toffset:40;\tsize:1;\tsigned:1;\n";

static struct tacho_arena arena;
static struct tacho_hist *hist;
static struct tacho_buf out;

static bool symbol(void *arg, uint64_t addr, struct tacho_symbol *sym)
{
	(void)arg;
	*sym = (struct tacho_symbol){ .name = "sized", .start = 0x1000,
				      .end = 0x1100 };
	if (addr >= 0x2000)
		*sym = (struct tacho_symbol){ .name = "endless", .module = "mod",
					      .start = 0x2000, .end = 0x2000 };
	return addr >= 0x1000 && addr < 0x3000;
}

static bool comm(void *arg, int32_t pid, char name[16])
{
	(void)arg;
	memcpy(name, pid == 7 ? "seven" : "other", 6);
	return pid != 9;
}

static const char *syscall_name(void *arg, uint64_t nr)
{
	(void)arg;
	return nr == 0 ? "read" : nr == 1 ? "write" : NULL;
}

static const struct tacho_names names = { .symbol = symbol, .comm = comm,
					  .syscall = syscall_name };

static void forget(void)
{
	tacho_arena_release(&arena);
	tacho_buf_release(&out);
	hist = NULL;
}

/* Makes `hist`, of event sys:ev. */
static void make(const char *text)
{
	struct tacho_hist_spec *spec;
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_diag d = { .err = 0 };
	struct tacho_map_geometry g;
	const struct tacho_type *type;
	void *mem;

	tacho_arena_init(&arena, (size_t)64 << 20);
	tacho_buf_init(&out, (size_t)1 << 20);
	type = tacho_type_parse(&arena, "sys", "ev", 1, format, strlen(format), &d);
	spec = tacho_arena_alloc(&arena, sizeof(*spec));
	if (tacho_hist_spec_parse(spec, &arena, text, 0, &e) ||
	    tacho_hist_spec_bind_type(spec, &arena, type, &e) ||
	    tacho_hist_new(&hist, &arena, spec, type, NULL, &names, &e)) {
		test_check(0, __FILE__, __LINE__, "'%s': %s", text, e.text);
		exit(test_done());
	}
	tacho_hist_geometry(hist, &g);
	/* the map is to begin at a cache line */
	mem = tacho_arena_alloc(&arena, tacho_map_bytes(&g) + 64);
	mem = (char *)mem + (-(uintptr_t)mem & 63);
	tacho_map_init(mem, &g);
	CHECK_EQ(tacho_hist_bind(hist, mem, tacho_map_bytes(&g)), 0);
}

static void hit(uint64_t n, int64_t s, const char *name)
{
	static const uint64_t stack[] = { 0x1010, 0x2020, 0x5000 };
	uint64_t raw[6] = { (uint64_t)7 << 32 | 1, n, (uint64_t)s };
	struct tacho_rec rec = { .raw = (unsigned char *)raw, .len = 48,
				 .pid = 7, .names = &names, .stack = stack,
				 .nr_stack = 3 };

	memcpy(&raw[3], name, strnlen(name, 15));
	memset(&raw[5], (int8_t)s, 1);
	tacho_hist_hit(hist, &rec);
}

/* The text between the empty lines: entries. */
static const char *entries(void)
{
	char *s, *end;

	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print(hist, &names, &out), 0);
	tacho_buf_str(&out);
	s = strstr(out.data, "\n\n");
	end = strstr(out.data, "\nTotals:");
	if (!CHECK(s && end))
		return "";
	*end = '\0';
	return s + 2;
}

/* ---- the kernel's text ---- */

static void test_whole(void)
{
	make("hist:keys=n:vals=s:sort=n.descending:size=128 if n > 1");
	hit(5, -1, "");
	hit(70, 3, "");
	hit(5, 2, "");
	tacho_hist_pause(hist, true);
	CHECK_EQ(tacho_hist_print(hist, &names, &out), 0);
	CHECK_STR(tacho_buf_str(&out),
		  "# event histogram\n#\n"
		  "# trigger info: hist:keys=n:vals=hitcount,s:sort=n.descending:"
		  "size=128 if n > 1 [paused]\n#\n\n"
		  "{ n:         70 } hitcount:          1  s:          3\n"
		  "{ n:          5 } hitcount:          2  s:          1\n"
		  "\nTotals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n");
	forget();
}

static void test_empty(void)
{
	make("hist:keys=n");
	CHECK_STR(entries(), "");
	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print_chart(hist, &names, 80, true, &out), 0);
	CHECK_STR(tacho_buf_str(&out), "n  hitcount   share\n");
	forget();
}

static void test_names(void)
{
	make("hist:keys=n.sym-offset:sort=n");
	hit(0x1010, 0, "");
	hit(0x2020, 0, "");
	hit(0x30, 0, "");
	CHECK_STR(entries(),
"{ n: [30] 0x30                                                    } hitcount:          1\n"
"{ n: [1010] sized+0x10/0x100                                        } hitcount:          1\n"
"{ n: [2020] endless+0x20 [mod]                                      } hitcount:          1\n");
	forget();
	make("hist:keys=n.syscall:sort=n");
	hit(1, 0, "");
	hit(1234, 0, "");
	CHECK_STR(entries(),
"{ n: sys_write                     [  1] } hitcount:          1\n"
"{ n: unknown_syscall               [1234] } hitcount:          1\n");
	forget();
	make("hist:keys=common_pid.execname,n.hex");
	hit(255, 0, "");
	CHECK_STR(entries(),
"{ common_pid: seven           [         7], n: ff } hitcount:          1\n");
	forget();
	/* nobody is there to ask */
	make("hist:keys=n.sym");
	hit(0x1010, 0, "");
	CHECK_EQ(tacho_hist_print(hist, NULL, &out), 0);
	CHECK(strstr(tacho_buf_str(&out), "{ n: [1010] 0x1010  ") != NULL);
	forget();
}

static void test_saved(void)
{
	make("hist:keys=s:v=n:onmax($v).save(common_pid,name):sort=s");
	hit(0, -2, "never");
	hit(4, 1, "four");
	hit(9, 1, "nine");
	hit(8, 1, "eight");
	CHECK_STR(entries(),
"{ s: 18446744073709551614 } hitcount:          1\n"
"\tmax:          0  common_pid:          0  name: (null)                          \n"
"{ s:          1 } hitcount:          3\n"
"\tmax:          9  common_pid:          7  name: nine                            \n");
	forget();
}

static void test_saved_stack(void)
{
	make("hist:keys=n:v=s:onmax($v).save(common_stacktrace):sort=n");
	hit(1, 0, "");
	hit(2, 3, "");
	CHECK_STR(entries(),
"{ n:          1 } hitcount:          1\n"
"\tmax:          0  common_stacktrace:          0\n"
"{ n:          2 } hitcount:          1\n"
"\tmax:          3  common_stacktrace: sized+0x10/0x100 < endless+0x20 [mod] < 0x5000\n");
	forget();
}

static void test_percent(void)
{
	make("hist:keys=n:vals=s.percent,s.graph:sort=n");
	for (int i = 0; i < 3; i++)
		hit((uint64_t)i, i, "");
	CHECK_STR(entries(),
"{ n:          0 } hitcount:          1  s (%):   0.00  s:                     \n"
"{ n:          1 } hitcount:          1  s (%):  33.33  s: ##########          \n"
"{ n:          2 } hitcount:          1  s (%):  66.66  s: ####################\n");
	forget();
	/* sums that wrap have parts larger than the whole */
	make("hist:keys=n:vals=s.percent,s.graph:sort=n");
	hit(1, -1, "");
	hit(2, 2, "");
	CHECK_STR(entries(),
"{ n:          1 } hitcount:          1  s (%):[ERROR]  s: ####################\n"
"{ n:          2 } hitcount:          1  s (%): 200.00  s:                     \n");
	forget();
}

static void test_ties(void)
{
	make("hist:keys=s,name:sort=hitcount");
	hit(0, 3, "b");
	hit(0, -3, "z");
	hit(0, 3, "a");
	hit(0, 9, "q");
	hit(0, 9, "q");
	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print_chart(hist, &names, 40, true, &out), 0);
	CHECK_STR(tacho_buf_str(&out),
		  "s, name  hitcount   share\n"
		  "-3, z           1   20.0%  ######\n"
		  "3, a            1   20.0%  ######\n"
		  "3, b            1   20.0%  ######\n"
		  "9, q            2   40.0%  #############\n");
	forget();
}

/* ---- JSON ---- */

static void check_json(const char *want)
{
	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print_json(hist, &names, &out), 0);
	CHECK(json_valid(out.data, out.len));
	CHECK_STR(tacho_buf_str(&out), want);
}

static void test_json_keys(void)
{
	make("hist:keys=n,s,name:vals=s");
	hit(5, -1, "a\"b\n\xff");
	check_json("{\"event\":\"sys:ev\",\"trigger\":\"hist:keys=n,s,name:"
		   "vals=hitcount,s:sort=hitcount:size=2048 [active]\","
		   "\"entries\":[{\"key\":{\"n\":5,\"s\":-1,"
		   "\"name\":\"a\\\"b\\u000a\\ufffd\"},\"hitcount\":1,"
		   "\"values\":{\"s\":-1},\"saved\":[]}],\"hits\":1,\"dropped\":0}");
	forget();
	make("hist:keys=common_pid.execname,n.sym-offset,n.hex:size=128");
	hit(0x1010, 0, "");
	check_json("{\"event\":\"sys:ev\",\"trigger\":\"hist:keys=common_pid.execname,"
		   "n.sym-offset,n.hex:vals=hitcount:sort=hitcount:size=128 [active]\","
		   "\"entries\":[{\"key\":{\"common_pid\":{\"value\":7,\"name\":\"seven\"},"
		   "\"n\":{\"value\":4112,\"hex\":\"0x1010\",\"name\":\"sized\","
		   "\"offset\":16},\"n.hex\":{\"value\":4112,\"hex\":\"0x1010\"}},"
		   "\"hitcount\":1,\"values\":{},\"saved\":[]}],"
		   "\"hits\":1,\"dropped\":0}");
	forget();
}

static void test_json_ranges(void)
{
	make("hist:keys=n.log2,s.buckets=10:vals=n,n.percent:size=128");
	hit(5, 25, "");
	check_json("{\"event\":\"sys:ev\",\"trigger\":\"hist:keys=n.log2,s.buckets=10:"
		   "vals=hitcount,n,n.percent:sort=hitcount:size=128 [active]\","
		   "\"entries\":[{\"key\":{\"n\":{\"low\":5,\"high\":8},"
		   "\"s\":{\"low\":20,\"high\":29}},\"hitcount\":1,"
		   "\"values\":{\"n\":5,\"n.percent\":{\"value\":5,\"percent\":100}},"
		   "\"saved\":[]}],\"hits\":1,\"dropped\":0}");
	forget();
}

static void test_json_saved(void)
{
	make("hist:keys=s,stacktrace:v=n:onmax($v).save(name):sort=s:size=128");
	hit(0, 1, "no");
	hit(3, 2, "yes");
	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print_json(hist, &names, &out), 0);
	CHECK(json_valid(out.data, out.len));
	tacho_buf_str(&out);
	CHECK(strstr(out.data, "\"saved\":[{\"onmax\":\"v\",\"value\":null,"
		     "\"fields\":null}]") != NULL);
	CHECK(strstr(out.data, "\"saved\":[{\"onmax\":\"v\",\"value\":3,"
		     "\"fields\":{\"name\":\"yes\"}}]") != NULL);
	CHECK(strstr(out.data, "\"common_stacktrace\":[{\"value\":4112,"
		     "\"hex\":\"0x1010\",\"name\":\"sized\",\"offset\":16},"
		     "{\"value\":8224,\"hex\":\"0x2020\",\"name\":\"endless\","
		     "\"offset\":32,\"module\":\"mod\"},"
		     "{\"value\":20480,\"hex\":\"0x5000\"}]") != NULL);
	forget();
}

/* The checker itself: what is no JSON must not pass. */
static void test_checker(void)
{
	static const struct {
		const char *text;
		bool valid;
	} table[] = {
		{ "{}", true }, { "[]", true }, { "{\"a\":1,\"b\":[-1.5e3,null]}", true },
		{ "\"\\u00e4\"", true }, { "", false }, { "{", false },
		{ "{\"a\":1,}", false }, { "{\"a\":1,\"a\":2}", false },
		{ "[1 2]", false }, { "[1,]", false }, { "\"\n\"", false },
		{ "\"\\x\"", false }, { "01", false }, { "1.", false },
		{ "{\"a\"}", false }, { "[1]]", false }, { "nul", false },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++)
		test_check(json_valid(table[i].text, strlen(table[i].text)) ==
			   table[i].valid, __FILE__, __LINE__, "'%s'",
			   table[i].text);
}

/* ---- charts ---- */

static void check_chart(uint32_t width, bool ascii, const char *want)
{
	tacho_buf_reset(&out);
	CHECK_EQ(tacho_hist_print_chart(hist, &names, width, ascii, &out), 0);
	CHECK_STR(tacho_buf_str(&out), want);
}

static void test_chart_log2(void)
{
	make("hist:keys=n.log2:sort=n");
	for (uint64_t n = 1; n <= 40; n++)
		hit(n, 0, "");
	check_chart(50, true,
		    "n       hitcount   share\n"
		    "0..1           1    2.5%  #\n"
		    "2..2           1    2.5%  #\n"
		    "3..4           2    5.0%  ###\n"
		    "5..8           4   10.0%  ######\n"
		    "9..16          8   20.0%  ############\n"
		    "17..32        16   40.0%  ########################\n"
		    "33..64         8   20.0%  ############\n");
	check_chart(42, false,
		    "n       hitcount   share\n"
		    "0..1           1    2.5%  █\n"
		    "2..2           1    2.5%  █\n"
		    "3..4           2    5.0%  ██\n"
		    "5..8           4   10.0%  ████\n"
		    "9..16          8   20.0%  ████████\n"
		    "17..32        16   40.0%  ████████████████\n"
		    "33..64         8   20.0%  ████████\n");
	forget();
}

/* Below 0 buckets are counted from 2^64 down, as the kernel does. */
static void test_chart_buckets(void)
{
	make("hist:keys=s.buckets=100,n.syscall:vals=n:sort=s");
	hit(0, -150, "");
	hit(1, 250, "");
	hit(7, 330, "");
	check_chart(50, false,
		    "s, n              n   share\n"
		    "-216..-117, read  0    0.0%\n"
		    "200..299, write   1   12.5%  ███\n"
		    "300..399, 7       7   87.5%  █████████████████████\n");
	forget();
}

/*
 * The kernel's tracing_map compares keys as numbers of the field's own type, here an s8: of
 * -136, a bucket below all of them, it sees the lowest byte, 120.
 */
static void test_buckets_order(void)
{
	const char *low, *zero, *below;

	make("hist:keys=small.buckets=120:sort=small");
	hit(0, -128, "");
	hit(0, -10, "");
	hit(0, 100, "");
	low = strstr(entries(), "~ 18446744073709551600-");
	zero = strstr(out.data, "~ 0-");
	below = strstr(out.data, "~ 18446744073709551480-");
	CHECK(low && zero && below && low < zero && zero < below);
	forget();
}

static void test_chart_cut(void)
{
	make("hist:keys=name:sort=name");
	hit(0, 0, "a\tb\x7f\xc3");
	hit(0, 0, "na\xc3\xafve");
	hit(0, 0, "very-long-name");
	check_chart(38, true,
		    "name      hitcount   share\n"
		    "a?b??            1   33.3%  ##########\n"
		    "na??ve           1   33.3%  ##########\n"
		    "very-lo~         1   33.3%  ##########\n");
	check_chart(1, false,
		    "name      hitcount   share\n"
		    "a?b??            1   33.3%\n"
		    "na\xc3\xafve            1   33.3%\n"
		    "very-lo…         1   33.3%\n");
	forget();
}

/* Whatever the width is: no line is wider, once there is room for a bar. */
static void test_chart_widths(void)
{
	make("hist:keys=n,name:vals=s:sort=n");
	for (uint64_t n = 0; n < 40; n++)
		hit(n * n * n, (int64_t)(n * 1000 + 1), "a name to print");
	for (uint32_t width = 0; width < 140; width++) {
		tacho_buf_reset(&out);
		CHECK_EQ(tacho_hist_print_chart(hist, &names, width, true, &out), 0);
		for (const char *s = tacho_buf_str(&out); *s;) {
			size_t len = strcspn(s, "\n");

			CHECK(len <= (width < 40 ? 40 : width));
			s += len + 1;
		}
	}
	forget();
}

/* ---- quantiles ---- */

static uint64_t quantile(uint32_t q)
{
	uint64_t v = 0;

	CHECK(tacho_hist_quantile(hist, q, &v));
	return v;
}

static void test_quantiles(void)
{
	make("hist:keys=n:sort=hitcount");
	for (uint64_t n = 1; n <= 200; n++)
		hit(n, 0, "");
	CHECK_EQ(quantile(0), 1);
	CHECK_EQ(quantile(50000), 100);
	CHECK_EQ(quantile(50100), 101);
	CHECK_EQ(quantile(99000), 198);
	CHECK_EQ(quantile(99900), 200);
	CHECK_EQ(quantile(100000), 200);
	CHECK_EQ(quantile(500000), 200);
	forget();
	make("hist:keys=s");
	hit(0, -5, "");
	hit(0, 5, "");
	hit(0, 7, "");
	CHECK_EQ((int64_t)quantile(0), -5);
	CHECK_EQ(quantile(50000), 5);
	forget();
}

static void test_quantile_buckets(void)
{
	make("hist:keys=n.log2");
	for (uint64_t n = 1; n <= 100; n++)
		hit(n, 0, "");
	CHECK_EQ(quantile(50000), 64);
	CHECK_EQ(quantile(99000), 128);
	hit(UINT64_MAX, 0, "");
	CHECK(quantile(100000) == UINT64_MAX);
	forget();
	make("hist:keys=n.buckets=10,name");
	hit(3, 0, "a");
	hit(25, 0, "a");
	hit(25, 0, "b");
	CHECK_EQ(quantile(30000), 9);
	CHECK_EQ(quantile(50000), 29);
	forget();
}

/* The table and the object of one question; it is freed by the caller. */
static char *table(const char *by, bool json)
{
	struct tacho_quantiles q = { .q = { 50000, 99900, 100000 }, .nr = 3 };
	struct tacho_diag d = { 0 };
	struct tacho_buf b;
	char *text;

	tacho_buf_init(&b, 1u << 16);
	CHECK_EQ(tacho_quantiles_by(&q, hist, by, &d), 0);
	CHECK_EQ(json ? tacho_hist_print_json_quantiles(hist, &names, &q, &b) :
			tacho_hist_print_quantiles(hist, &names, &q, true, &b), 0);
	text = strdup(tacho_buf_str(&b));
	tacho_buf_release(&b);
	return text;
}

static void check_table(const char *by, const char *want)
{
	char *text = table(by, false);

	CHECK_STR(text, want);
	free(text);
}

static void check_has(const char *by, const char *part)
{
	char *text = table(by, true);

	CHECK(strstr(text, part) != NULL);
	free(text);
}

static void test_quantiles_by(void)
{
	make("hist:keys=name,n:sort=n.descending,name");
	for (uint64_t n = 1; n <= 100; n++)
		hit(n, 0, "ab");
	hit(7, 0, "\033[2J");
	hit(7, 0, "\033[2J");
	hit(100, 0, "z");
	check_table("name",
		    "# quantiles of n by name: exact\n"
		    "name  count    p50  p99.9    max\n"
		    "ab      100     50    100    100\n"
		    "z         1    100    100    100\n"
		    "?[2J      2      7      7      7\n");
	check_has("name", "\"quantiles\":{\"of\":\"n\",\"by\":[\"name\"],\"exact\":true},"
		  "\"groups\":[{\"key\":{\"name\":\"ab\"},\"hitcount\":100,\"p50\":50,"
		  "\"p99.9\":100,\"max\":100},{\"key\":{\"name\":\"z\"}");
	forget();
	make("hist:keys=s,name,n.log2:sort=hitcount");
	hit(5, -3, "b");
	hit(9, -3, "b");
	hit(9, 4, "b");
	check_table("name,s",
		    "# quantiles of n by name, s: upper ends of the ranges that they are in\n"
		    "name  s   count    p50  p99.9    max\n"
		    "b     4       1     16     16     16\n"
		    "b     -3      2      8     16     16\n");
	check_table("n.log2,name",
		    "# quantiles of s by n, name: exact\n"
		    "n      name  count    p50  p99.9    max\n"
		    "5..8   b         1     -3     -3     -3\n"
		    "9..16  b         2     -3      4      4\n");
	check_has("name,s", "\"exact\":false},\"groups\":[");
	forget();
}

/* Two that are called the same are told apart, and what cannot be is said. */
static void test_quantiles_keys(void)
{
	struct tacho_quantiles q = { .q = { 50000 }, .nr = 1 };
	struct tacho_diag d = { 0 };

	make("hist:keys=n,n.log2,name");
	CHECK_EQ(tacho_quantiles_by(&q, hist, "n.log2,name", &d), 0);
	CHECK_EQ(q.of, 0);
	CHECK_EQ(tacho_quantiles_by(&q, hist, "n,name", &d), 0);
	CHECK_EQ(q.of, 1);
	CHECK_EQ(tacho_quantiles_by(&q, hist, "n,n", &d), -EINVAL);
	CHECK(strstr(d.text, "'name' is not one") != NULL);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(tacho_quantiles_by(&q, hist, "name", &d), -EINVAL);
	CHECK(strstr(d.text, "3 keys, --by names 1") != NULL);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(tacho_quantiles_by(&q, hist, "nam,n", &d), -EINVAL);
	CHECK(strstr(d.text, "no key 'nam'") != NULL);
	forget();
}

/* p50 of a table that is full is of those that found room, and it says so. */
static void test_quantiles_lost(void)
{
	char *text;

	make("hist:keys=name,n:size=128");
	for (uint64_t n = 0; n < 5000; n++)
		hit(n, 0, "a");
	text = table("name", false);
	CHECK(strstr(text, "hits that found no room") != NULL);
	free(text);
	forget();
}

static void test_no_quantile(void)
{
	uint64_t v = 0;

	make("hist:keys=n");
	CHECK(!tacho_hist_quantile(hist, 50000, &v));
	forget();
	make("hist:keys=name,n");
	hit(1, 0, "x");
	CHECK(!tacho_hist_quantile(hist, 50000, &v));
	forget();
}

/* ---- limits ---- */

/* A buffer that is too small says so, whoever fills it. */
static void test_overflow(void)
{
	struct tacho_buf small;

	make("hist:keys=n");
	for (uint64_t n = 0; n < 100; n++)
		hit(n, 0, "");
	tacho_buf_init(&small, 64);
	CHECK_EQ(tacho_hist_print(hist, &names, &small), -EOVERFLOW);
	tacho_buf_reset(&small);
	CHECK_EQ(tacho_hist_print_json(hist, &names, &small), -EOVERFLOW);
	tacho_buf_reset(&small);
	CHECK_EQ(tacho_hist_print_chart(hist, &names, 80, true, &small), -EOVERFLOW);
	tacho_buf_release(&small);
	forget();
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_whole());
	TEST(test_empty());
	TEST(test_names());
	TEST(test_saved());
	TEST(test_saved_stack());
	TEST(test_percent());
	TEST(test_ties());
	test_checker();
	TEST(test_json_keys());
	TEST(test_json_ranges());
	TEST(test_json_saved());
	TEST(test_chart_log2());
	TEST(test_chart_buckets());
	TEST(test_buckets_order());
	TEST(test_chart_cut());
	TEST(test_chart_widths());
	TEST(test_quantiles());
	TEST(test_quantile_buckets());
	TEST(test_quantiles_by());
	TEST(test_quantiles_keys());
	TEST(test_quantiles_lost());
	TEST(test_no_quantile());
	TEST(test_overflow());
	return test_done();
}
