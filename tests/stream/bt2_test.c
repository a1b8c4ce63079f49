// SPDX-License-Identifier: MIT
/*
 * bt2_test DIR-OF-MODULE [SCRIPT PROGRAM] - traces of other tracers: our own
 * with what makes it ours taken away, and one recorded by LTTng.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/test.h"
#include "stream/stream.h"
#include "synth.h"
#include "tmpdir.h"

static const char format[] = SYNTH_COMMON
	"\tfield:s32 a;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 b;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] s;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc s16[] v;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:double d;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:float f;\toffset:48;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"a=%d\", REC->a\n";

static const char *const compared[] = { "a", "b", "s", "v", "d", "f" };

static void make_native(const char *dir)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct synth s[2];

	CHECK_EQ(tacho_ctf_writer_new(&w, dir, &info, NULL), 0);
	CHECK_EQ(tacho_ctf_writer_type(w, 0, 5, "t", "mix", format,
				       sizeof(format) - 1, NULL), 0);
	synth_init(&s[0], TACHO_STREAM_PROGRAM, 0);
	synth_init(&s[1], TACHO_STREAM_PROGRAM, 1);
	for (uint32_t i = 0; i < 3000; i++) {
		struct synth *p = &s[i / 10 % 2];
		unsigned char b[64] = { 0 };
		const double d = -0.1 * i;
		const float f = 0.1f * (float)i;

		tacho_put_u32(b, 0 - i);
		tacho_put_u64(b + 8, (uint64_t)i << 33);
		memcpy(b + 16, "comm", 4);
		tacho_put_u32(b + 24, 52 | 4u << 16);
		tacho_put_u32(b + 28, 56 | (i % 4 * 2) << 16);
		memcpy(b + 32, &d, 8);
		memcpy(b + 40, &f, 4);
		memcpy(b + 44, "abc", 4);
		for (uint32_t j = 0; j < i % 4; j++)
			tacho_put_u16(b + 48 + 2 * j, (uint16_t)(i - j));
		/* once beyond what 48 bits of ticks can hold */
		p->time = SYNTH_TICKS + i * 1000 + (i > 2000 ? UINT64_C(1) << 47 : 0);
		synth_put(p, 5, (int32_t)i, b, 48 + i % 4 * 2);
		if (i % 100 == 99) {
			p->packet.events_discarded += i == 999 ? 17 : 0;
			CHECK_EQ(synth_flush(p, w, NULL), 0);
		}
	}
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(synth_flush(&s[i], w, NULL), 0);
		tacho_buf_release(&s[i].records);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
}

/* A real is one there too, not its text. */
static bool same_real(const struct tacho_record *a,
		      const struct tacho_record *b, const char *name)
{
	const struct tacho_field *f = tacho_type_find(a->type, name);
	const struct tacho_field *g = tacho_type_find(b->type, name);
	double x, y;

	return f && g && tacho_record_double(a, f, &x) &&
	       tacho_record_double(b, g, &y) && x == y;
}

static bool same(const struct tacho_record *a, const struct tacho_record *b)
{
	/* babeltrace2 counts ns in floating point */
	if (a->time - b->time + 2 > 4 || a->cpu != b->cpu || a->pid != b->pid)
		return false;
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(compared); i++) {
		const struct tacho_field *f = tacho_type_find(a->type, compared[i]);
		const struct tacho_field *g = tacho_type_find(b->type, compared[i]);
		const void *p, *q;
		size_t m, n;

		p = f ? tacho_record_data(a, f, &m) : NULL;
		q = g ? tacho_record_data(b, g, &n) : NULL;
		if (!p || !q || m != n || memcmp(p, q, m)) {
			printf("# field %s\n", compared[i]);
			return false;
		}
	}
	return same_real(a, b, "d") && same_real(a, b, "f");
}

static char native[450], foreign[450];

/* A trace of ours, and its copy that looks like one of another tracer. */
static void make_traces(void)
{
	char cmd[1400];

	(void)snprintf(native, sizeof(native), "%s", tmpdir_path("native"));
	(void)snprintf(foreign, sizeof(foreign), "%s", tmpdir_path("foreign"));
	make_native(native);
	(void)snprintf(cmd, sizeof(cmd), "cp -r %s %s && rm -r %s/tacho", native,
		       foreign, foreign);
	CHECK_EQ(system(cmd), 0);
}

static void test_own(void)
{
	char cmd[1400];
	struct tacho_stream *a, *b;
	struct tacho_stream_info info;
	struct tacho_record r, q;
	struct tacho_error e;
	uint64_t n = 0, lost = 0;

	CHECK_EQ(tacho_stream_open(&a, native, 0, &e), 0);
	if (!CHECK_EQ(tacho_stream_open(&b, foreign, 0, &e), 0)) {
		printf("# %s\n", e.text);
		return;
	}
	CHECK_EQ(tacho_stream_get_info(b, &info), 0);
	CHECK_EQ(info.types, 1);
	CHECK_STR(info.format, "ctf");
	for (int pass = 0; pass < 2; pass++) {
		for (n = lost = 0; tacho_stream_next(b, &q) == TACHO_STREAM_RECORD; n++) {
			lost += q.lost;
			if (!CHECK_EQ(tacho_stream_next(a, &r), TACHO_STREAM_RECORD) ||
			    !CHECK(same(&r, &q)))
				break;
		}
		CHECK_EQ(n, 3000);
		CHECK_EQ(lost, 17);
		CHECK_EQ(tacho_stream_seek(a, 0), 0);
		CHECK_EQ(tacho_stream_seek(b, 0), 0);
	}
	CHECK_STR(tacho_stream_env(b, "tracer_name"), "tacho");
	CHECK_EQ(tacho_stream_error(b)->err, 0);
	tacho_stream_close(a);
	tacho_stream_close(b);
	/* a torn file: what came before it, then an error in words */
	(void)snprintf(cmd, sizeof(cmd), "truncate -s -40 %s/program_1", foreign);
	CHECK_EQ(system(cmd), 0);
	if (!tacho_stream_open(&b, foreign, 0, &e)) {
		for (n = 0; tacho_stream_next(b, &q) == TACHO_STREAM_RECORD; n++)
			;
		CHECK(n > 1000 && n < 3000);
		CHECK(strstr(tacho_stream_error(b)->text, "babeltrace2"));
		tacho_stream_close(b);
	} else {
		CHECK(strstr(e.text, "babeltrace2"));
	}
}

/* ---- events that no record holds -------------------------------------------------- */

#define LONG_TEXT	70000u
#define LONG_SEQ	20000u
#define PAIRS		1000u
#define MANY		1100u

/* A CTF trace without clock and packets: each event is its id and its fields. */
static void make_large(const char *dir)
{
	char path[500];
	FILE *f;

	CHECK_EQ(mkdir(dir, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "w");
	if (!CHECK(f))
		return;
	fputs("/* CTF 1.8 */\n"
	      "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
	      "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	      "trace { major = 1; minor = 8; byte_order = le; };\n"
	      "stream { event.header := struct { u32 id; }; };\n"
	      "event { name = \"t:text\"; id = 0; fields := struct { string s; u32 behind; string s2; }; };\n"
	      "event { name = \"t:seq\"; id = 1; fields := struct { u32 n; u32 v[n]; string s; }; };\n"
	      "event { name = \"t:nest\"; id = 2; fields := struct { struct { u32 a; u32 b; } x[1000]; }; };\n"
	      "event { name = \"t:many\"; id = 3; fields := struct {", f);
	for (uint32_t i = 0; i < MANY; i++)
		fprintf(f, " u8 f%u;", i);
	fputs(" }; };\n", f);
	CHECK_EQ(fclose(f), 0);
}

static void put_u32(FILE *f, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		(void)fputc((int)(v >> 8 * i & 0xff), f);
}

/* One event of each kind that is too large, then one of the first two that is not. */
static void make_large_events(const char *dir)
{
	char path[500];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/stream", dir);
	f = fopen(path, "w");
	if (!CHECK(f))
		return;
	for (uint32_t big = 2; big--;) {
		put_u32(f, 0);
		for (uint32_t i = 0; i < (big ? LONG_TEXT : 5); i++)
			(void)fputc('a' + (int)(i % 26), f);
		(void)fputc('\0', f);
		put_u32(f, 77);
		(void)fwrite("end", 1, 4, f);
		put_u32(f, 1);
		put_u32(f, big ? LONG_SEQ : 3);
		for (uint32_t i = 0; i < (big ? LONG_SEQ : 3); i++)
			put_u32(f, i * 7);
		(void)fwrite("end", 1, 4, f);
		put_u32(f, 2);
		for (uint32_t i = 0; i < 2 * PAIRS; i++)
			put_u32(f, i);
		put_u32(f, 3);
		for (uint32_t i = 0; i < MANY; i++)
			(void)fputc((int)(i & 0xff), f);
	}
	CHECK_EQ(fclose(f), 0);
}

static uint64_t number_of(const struct tacho_record *r, const char *name)
{
	const struct tacho_field *f = tacho_type_find(r->type, name);
	uint64_t v = UINT64_MAX;

	if (f)
		(void)tacho_record_int(r, f, &v);
	return v;
}

static size_t length_of(const struct tacho_record *r, const char *name, const void **data)
{
	const struct tacho_field *f = tacho_type_find(r->type, name);
	size_t n = 0;

	*data = f ? tacho_record_data(r, f, &n) : NULL;
	return *data ? n : 0;
}

static void check_large(const struct tacho_record *r, bool big)
{
	const char *name = tacho_type_name(r->type);
	const void *data, *other;
	size_t n;

	CHECK(r->len <= TACHO_RAW_MAX);
	if (!strcmp(name, "many")) {
		CHECK_EQ(number_of(r, "tacho_cut"), 100);
		CHECK_EQ(number_of(r, "f999"), 999 & 0xff);
		return;
	}
	/* what comes behind the text or sequence finds no room, either */
	n = (size_t)number_of(r, "tacho_cut");
	CHECK(strcmp(name, "nest") && big ? n == 1 || n == 2 : n == SIZE_MAX);
	if (!strcmp(name, "text")) {
		n = length_of(r, "s", &data);
		CHECK(big ? n > 65000 && n < LONG_TEXT : n == 6);
		CHECK_EQ(number_of(r, "behind"), 77);
	} else if (!strcmp(name, "seq")) {
		n = length_of(r, "v", &data);
		CHECK(big ? n > 65000 && n < 4 * LONG_SEQ : n == 12);
		CHECK_EQ(number_of(r, "n"), big ? LONG_SEQ : 3);
	} else {
		n = length_of(r, "x", &data);
		CHECK(n > 20 && !memcmp((const char *)data + n - 18, "{a=1998, b=1999}]", 18));
	}
	n = length_of(r, strcmp(name, "text") ? "s" : "s2", &other);
	CHECK(!strcmp(name, "nest") || (big ? n >= 1 && n <= 4 : n == 4));
}

static void test_large(void)
{
	const char *dir = tmpdir_path("large");
	struct tacho_stream_info info;
	struct tacho_stream *s;
	struct tacho_record r;
	struct tacho_error e;
	uint32_t n = 0;

	make_large(dir);
	make_large_events(dir);
	if (!CHECK_EQ(tacho_stream_open(&s, dir, 0, &e), 0)) {
		printf("# %s\n", e.text);
		return;
	}
	for (; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; n++)
		check_large(&r, n < 4);
	CHECK_EQ(n, 8);
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_EQ(info.truncated, 4);
	CHECK_EQ(tacho_stream_seek(s, 0), 0);
	for (n = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; n++)
		;
	CHECK_EQ(n, 8);
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_EQ(info.truncated, 4);
	CHECK_EQ(info.damaged, 0);
	tacho_stream_close(s);
}

static void test_no_module(void)
{
	struct tacho_stream *s;
	struct tacho_error e;

	setenv("TACHO_MODULE_DIR", "/nowhere", 1);
	/* an installed module is fine too */
	if (tacho_stream_open(&s, foreign, 0, &e) == -ENOTSUP) {
		CHECK(strstr(e.text, "libtacho-bt2.so"));
	} else {
		tacho_stream_close(s);
		TEST_SKIP("a module is installed");
	}
}

#ifdef LTTNG_PROG
static void test_lttng(void)
{
	char cmd[1400];
	struct tacho_stream *s;
	struct tacho_stream_info info;
	struct tacho_record r;
	struct tacho_error e;
	uint64_t all = 0, none = 0;
	int32_t tgid;
	char text[500];
	int status;

	CHECK_EQ(mkdir(tmpdir_path("lttng"), 0755), 0);
	CHECK_EQ(chmod(tmpdir, 0755), 0);
	(void)snprintf(cmd, sizeof(cmd), "%s %s %s", LTTNG_RECORD,
		       tmpdir_path("lttng"), LTTNG_PROG);
	status = system(cmd);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		TEST_SKIP("LTTng does not run here");
		return;
	}
	CHECK_EQ(status, 0);
	if (!CHECK_EQ(tacho_stream_open(&s, tmpdir_path("lttng/out"), 0, &e), 0)) {
		printf("# %s\n", e.text);
		return;
	}
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_EQ(info.types, 2);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		uint64_t v;

		CHECK_STR(tacho_type_system(r.type), "tacho_test");
		CHECK(r.cpu < 4096 && r.pid > 0 && !r.lost);
		CHECK(tacho_stream_comm(s, r.pid, &tgid) && tgid == r.pid);
		tacho_record_text(s, &r, text, sizeof(text));
		if (!strcmp(tacho_type_name(r.type), "none")) {
			none++;
			continue;
		}
		CHECK(tacho_record_int(&r, tacho_type_find(r.type, "i"), &v));
		CHECK_EQ((int64_t)v, -(int64_t)all);
		if (all == 5)
			CHECK(!strncmp(text, "i=-5 small=5 hex=0x50000000000 real=1.25 text=odd "
				       "fixed={0x1,0xfffffffe,0x3} _seq_length=2 "
				       "seq={0x1,0x0} comm=odd col=green vpid=", 111));
		all++;
	}
	CHECK_EQ(all, 1000);
	CHECK_EQ(none, 1000);
	CHECK_STR(tacho_stream_env(s, "tracer_name"), "lttng-ust");
	tacho_stream_close(s);
}
#else
static void test_lttng(void)
{
	TEST_SKIP("built without lttng-ust");
}
#endif

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tmpdir_make();
	setenv("TACHO_MODULE_DIR", MODULE_DIR, 1);
	make_traces();
	TEST(test_own());
	TEST(test_large());
	TEST(test_lttng());
	TEST(test_no_module());
	return test_done();
}
