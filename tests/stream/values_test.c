// SPDX-License-Identifier: MIT
/*
 * values_test - records of every shape are written, read back by us and by
 * babeltrace2, and all values compared.
 *
 * Types: a list made to be nasty, and all formats of the running kernel where
 * tracefs is there.  What babeltrace2 should print is made here from the
 * type's fields, not from the metadata.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../unit/test.h"
#include "base/text.h"
#include "stream/stream.h"
#include "synth.h"
#include "tmpdir.h"

#define ROUNDS		4
#define ID_FIRST	20000u

static const struct {
	const char *name, *fields;
} nasty[] = {
	{ "empty", "" },
	{ "ints",
	  "\tfield:s8 a;\toffset:8;\tsize:1;\tsigned:1;\n"
	  "\tfield:u8 b;\toffset:9;\tsize:1;\tsigned:0;\n"
	  "\tfield:s16 c;\toffset:10;\tsize:2;\tsigned:1;\n"
	  "\tfield:u32 d;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:s64 e;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\tfield:u64 f;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:void * g;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\tfield:enum colour h;\toffset:40;\tsize:4;\tsigned:0;\n"
	  "\tfield:bool i;\toffset:44;\tsize:1;\tsigned:0;\n" },
	{ "unaligned",
	  "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
	  "\tfield:u64 b;\toffset:9;\tsize:8;\tsigned:0;\n"
	  "\tfield:s32 c;\toffset:19;\tsize:4;\tsigned:1;\n"
	  "\tfield:u16 d;\toffset:29;\tsize:2;\tsigned:0;\n" },
	{ "backwards",
	  "\tfield:u32 second;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:u32 first;\toffset:8;\tsize:4;\tsigned:0;\n" },
	{ "keywords",
	  "\tfield:int struct;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:int event;\toffset:12;\tsize:4;\tsigned:1;\n"
	  "\tfield:int _hidden;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\tfield:int __more;\toffset:20;\tsize:4;\tsigned:1;\n"
	  "\tfield:int align;\toffset:24;\tsize:4;\tsigned:1;\n" },
	{ "arrays",
	  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	  "\tfield:u8 mac[6];\toffset:24;\tsize:6;\tsigned:0;\n"
	  "\tfield:s16 v[3];\toffset:30;\tsize:6;\tsigned:1;\n"
	  "\tfield:u64 w[2];\toffset:36;\tsize:16;\tsigned:0;\n"
	  "\tfield:u8 end;\toffset:52;\tsize:1;\tsigned:0;\n" },
	{ "dynamic",
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc u8[] a;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc u16[] b;\toffset:16;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc int[] c;\toffset:20;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc s64[] d;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc unsigned long[] mask;\toffset:28;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc char[] t;\toffset:32;\tsize:4;\tsigned:0;\n"
	  "\tfield:u8 x;\toffset:36;\tsize:1;\tsigned:0;\n" },
	/* the kernel's synthetic events: every field has 8 bytes, or 256 */
	{ "synthetic",
	  "\tfield:u64 lat;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:__data_loc char[] s;\toffset:16;\tsize:8;\tsigned:1;\n"
	  "\tfield:u8 small;\toffset:24;\tsize:1;\tsigned:0;\n"
	  "\tfield:char comm[];\toffset:32;\tsize:16;\tsigned:1;\n"
	  "\tfield:__data_loc char[] t;\toffset:288;\tsize:8;\tsigned:1;\n" },
	{ "reals",
	  "\tfield:double d;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:float f;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\tfield:u8 x;\toffset:20;\tsize:1;\tsigned:0;\n"
	  "\tfield:double odd;\toffset:21;\tsize:8;\tsigned:0;\n"
	  "\tfield:float v[4];\toffset:29;\tsize:16;\tsigned:0;\n"
	  "\tfield:double w[3];\toffset:45;\tsize:24;\tsigned:0;\n"
	  "\tfield:__data_loc double[] dd;\toffset:69;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc float[] df;\toffset:73;\tsize:4;\tsigned:0;\n" },
	{ "relative",
	  "\tfield:u16 x;\toffset:8;\tsize:2;\tsigned:0;\n"
	  "\tfield:__rel_loc char[] s;\toffset:10;\tsize:4;\tsigned:0;\n"
	  "\tfield:__rel_loc u32[] v;\toffset:14;\tsize:4;\tsigned:0;\n" },
	{ "clash",
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:int _s_len;\toffset:12;\tsize:4;\tsigned:1;\n" },
	{ "clash2",
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:int s_len;\toffset:12;\tsize:4;\tsigned:1;\n" },
	{ "clash3",
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:int __s_len;\toffset:12;\tsize:4;\tsigned:1;\n"
	  "\tfield:int __padding_16;\toffset:24;\tsize:4;\tsigned:1;\n" },
	{ "text",
	  "\tfield:u32 id;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n" },
	{ "rest",
	  "\tfield:u64 ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:u32 buf[];\toffset:16;\tsize:0;\tsigned:0;\n" },
	{ "stack",
	  "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n" },
};

struct sample {
	const struct tacho_type *type;
	uint64_t time;
	int32_t pid;
	unsigned char *raw;
	uint32_t len;
	char *expect;		/* babeltrace2's values; NULL: not compared */
};

static struct tacho_arena arena;
static const struct tacho_type *types[16384];
static struct tacho_buf formats[16384];
static size_t nr_types;
static struct sample samples[65536];
static size_t nr_samples;
static uint64_t seed = 42;

static uint64_t rnd(void)
{
	return test_random(&seed);
}

static void add_type(const char *system, const char *name, uint32_t id,
		     const char *text, size_t len)
{
	struct tacho_diag d = { 0 };
	const struct tacho_type *t;

	t = tacho_type_parse(&arena, system, name, id, text, len, &d);
	if (!CHECK(t != NULL)) {
		printf("# %s:%s: %s\n", system, name, d.text);
		return;
	}
	tacho_buf_init(&formats[nr_types], 1 << 20);
	tacho_buf_put(&formats[nr_types], text, len);
	types[nr_types++] = t;
}

static void add_nasty(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(nasty); i++) {
		struct tacho_buf b;

		tacho_buf_init(&b, 65536);
		tacho_buf_printf(&b, SYNTH_COMMON "%s\nprint fmt: \"x\"\n",
				 nasty[i].fields);
		add_type("nasty", nasty[i].name, ID_FIRST + (uint32_t)i, b.data,
			 b.len);
		tacho_buf_release(&b);
	}
}

/* Every format of the running kernel; none where there is no tracefs. */
static void add_kernel(void)
{
	glob_t g;

	if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g)) {
		printf("# no tracefs here: the kernel's formats are not tried\n");
		return;
	}
	for (size_t i = 0; i < g.gl_pathc && nr_types < 16000; i++) {
		struct tacho_buf b;
		char system[64], name[128], *slash;
		uint64_t id;
		char *p;

		(void)snprintf(system, sizeof(system), "%s",
			       g.gl_pathv[i] + strlen("/sys/kernel/tracing/events/"));
		slash = strchr(system, '/');
		if (!slash)
			continue;
		(void)snprintf(name, sizeof(name), "%s", strchr(
			g.gl_pathv[i] + strlen("/sys/kernel/tracing/events/"), '/') + 1);
		*slash = '\0';
		*strchr(name, '/') = '\0';
		tacho_buf_init(&b, 1 << 20);
		if (!tacho_buf_read_file(&b, g.gl_pathv[i]) &&
		    (p = strstr(tacho_buf_str(&b), "\nID: "))) {
			id = strtoull(p + 5, NULL, 10);
			add_type(system, name, (uint32_t)id, b.data, b.len);
		}
		tacho_buf_release(&b);
	}
	printf("# %zu types of the running kernel\n", g.gl_pathc);
	globfree(&g);
}

/* ---- making samples ------------------------------------------------------- */

static void letters(unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)('a' + rnd() % 26);
}

static bool is_text(const struct tacho_field *f)
{
	return (f->flags & TACHO_FIELD_STRING) && f->elem_size == 1;
}

/* Numbers of every sort, those in text with all their digits among them. */
static void fill_reals(const struct tacho_field *f, unsigned char *p,
		       size_t size)
{
	static const double values[] = {
		-0.1, 0.1, 1e300, 3.25, 0.0, -0.0, 5e-324, 1234567.875,
		(double)INFINITY, -(double)INFINITY, (double)NAN, -1e-7,
	};

	for (size_t i = 0; i + f->elem_size <= size; i += f->elem_size) {
		double d = values[rnd() % TACHO_ARRAY_SIZE(values)];
		float narrow = isfinite(d) && fabs(d) > 1e38 ? 1e38f : (float)d;

		if (f->elem_size == 8)
			memcpy(p + i, &d, 8);
		else
			memcpy(p + i, &narrow, 4);
	}
}

static void fill_fixed(const struct tacho_type *t, unsigned char *raw)
{
	for (uint32_t i = t->nr_common; i < t->nr_fields; i++) {
		const struct tacho_field *f = &t->fields[i];

		if (f->flags & TACHO_FIELD_FLOAT &&
		    (f->kind == TACHO_FIELD_SCALAR ||
		     f->kind == TACHO_FIELD_ARRAY))
			fill_reals(f, raw + f->offset, f->size);
		else if (f->kind == TACHO_FIELD_ARRAY && is_text(f) && f->size) {
			letters(raw + f->offset, f->size);
			raw[f->offset + rnd() % f->size] = 0;
		} else if (f->kind == TACHO_FIELD_SCALAR && rnd() % 4 == 0) {
			memset(raw + f->offset, 0xff, f->size);
		}
	}
}

static void set_loc(const struct tacho_field *f, unsigned char *raw,
		    uint32_t off, uint32_t len)
{
	if (f->kind == TACHO_FIELD_REL_LOC)
		off -= f->offset + 4;
	tacho_put_u32(raw + f->offset, off | len << 16);
}

/*
 * Dynamic data: packed in the order of fields, or (odd) backwards and with
 * gaps, as a kernel is free to do.  Returns the end.
 */
static uint32_t fill_dynamic(const struct tacho_type *t, unsigned char *raw,
			     uint32_t end, bool odd)
{
	for (uint32_t n = 0; n < t->nr_fields; n++) {
		const struct tacho_field *f =
			&t->fields[odd ? t->nr_fields - 1 - n : n];
		uint32_t elem = f->elem_size ? f->elem_size : 1;
		uint32_t len = (uint32_t)(rnd() % 5) * elem;

		if (f->kind != TACHO_FIELD_DATA_LOC &&
		    f->kind != TACHO_FIELD_REL_LOC)
			continue;
		if (odd)
			end += 3;
		if (is_text(f)) {
			len = 1 + (uint32_t)(rnd() % 30);
			letters(raw + end, len);
			raw[end + len - 1] = 0;
		} else {
			for (uint32_t i = 0; i < len; i++)
				raw[end + i] = (unsigned char)rnd();
		}
		if (f->flags & TACHO_FIELD_FLOAT)
			fill_reals(f, raw + end, len);
		set_loc(f, raw, end, len);
		end += len;
	}
	return end;
}

/* The last array, of any length; or text up to a NUL. */
static uint32_t fill_rest(const struct tacho_field *f, unsigned char *raw,
			  bool odd)
{
	uint32_t elem = f->elem_size ? f->elem_size : 1, n;

	if (is_text(f)) {
		n = 1 + (uint32_t)(rnd() % 40);
		letters(raw + f->offset, n);
		if (odd && n > 2)
			raw[f->offset + 1] = 0;
		raw[f->offset + n - 1] = 0;
		return f->offset + n;
	}
	/* records are in steps of 8: an odd number of u32 has no record */
	n = (uint32_t)(rnd() % 12) * 8 + (8 - f->offset % 8) % 8;
	for (uint32_t i = 0; i < n; i++)
		raw[f->offset + i] = (unsigned char)rnd();
	return f->offset + n / elem * elem;
}

static uint32_t make_raw(const struct tacho_type *t, unsigned char *raw,
			 bool odd)
{
	const struct tacho_field *last = &t->fields[t->nr_fields - 1];
	uint32_t end = t->fixed_size < 8 ? 8 : t->fixed_size;

	for (uint32_t i = 8; i < end; i++)
		raw[i] = (unsigned char)rnd();
	fill_fixed(t, raw);
	if (last->kind == TACHO_FIELD_FLEX)
		return fill_rest(last, raw, odd);
	if (!strcmp(t->name, "stack") || !strcmp(t->name, "kernel_stack")) {
		end = fill_rest(last, raw, odd);
		/* our own accessors go by the format: give them all of it */
		return end;
	}
	return fill_dynamic(t, raw, end, odd);
}

/* ---- what babeltrace2 should print ---------------------------------------- */

static void expect_int(const struct tacho_field *f, const unsigned char *p,
		       uint32_t size, bool bytes, struct tacho_buf *out)
{
	uint64_t v = 0;

	memcpy(&v, p, size);	/* little-endian, as the test is skipped else */
	if (f->flags & TACHO_FIELD_FLOAT) {
		double d = 0;
		float narrow = 0;

		memcpy(&d, p, size == 8 ? 8 : 0);
		memcpy(&narrow, p, size == 4 ? 4 : 0);
		tacho_buf_printf(out, "%g", size == 8 ? d : (double)narrow);
	} else if (bytes || f->flags & TACHO_FIELD_POINTER) {
		tacho_buf_printf(out, "0x%" PRIX64, v);
	} else if (f->flags & TACHO_FIELD_SIGNED) {
		unsigned int shift = 64 - 8 * size;

		tacho_buf_put_s64(out, (int64_t)(v << shift) >> shift);
	} else {
		tacho_buf_put_u64(out, v);
	}
}

static void expect_value(const struct tacho_field *f, const unsigned char *p,
			 size_t size, struct tacho_buf *out)
{
	uint32_t elem = f->elem_size;
	bool bytes = false;

	if (f->kind == TACHO_FIELD_SCALAR) {
		expect_int(f, p, f->size, false, out);
		return;
	}
	if (is_text(f)) {
		size = strnlen((const char *)p, size);
		/*
		 * babeltrace2 2.0.4 shows an empty text as the one that the
		 * field had in an earlier event: anything is taken there.
		 */
		tacho_buf_printf(out, size ? "\"%.*s\"" : "\"%.*s", (int)size, p);
		return;
	}
	if (f->kind == TACHO_FIELD_OPAQUE ||
	    (elem != 1 && elem != 2 && elem != 4 && elem != 8)) {
		elem = 1;
		bytes = true;
	}
	tacho_buf_puts(out, "[ ");
	for (size_t i = 0; i + elem <= size; i += elem) {
		tacho_buf_printf(out, "%s[%zu] = ", i ? ", " : "", i / elem);
		expect_int(f, p + i, elem, bytes, out);
	}
	tacho_buf_puts(out, size ? " ]" : "]");
}

/* "name = value" of each field, one per line, in the order of the fields. */
static char *expect(const struct tacho_type *t, const unsigned char *raw,
		    uint32_t len)
{
	struct tacho_buf out;
	char *s;

	tacho_buf_init(&out, 1 << 20);
	for (uint32_t i = 0; i < t->nr_fields; i++) {
		const struct tacho_field *f = &t->fields[i];
		const void *p;
		size_t size;

		if (f->offset < 8)
			continue;
		p = tacho_field_data(f, raw, len, &size);
		/* an array that the record cuts short */
		if (!p && f->kind == TACHO_FIELD_ARRAY && f->offset <= len) {
			p = raw + f->offset;
			size = len - f->offset;
		} else if (i + 1 == t->nr_fields &&
			   f->kind == TACHO_FIELD_ARRAY && strstr(t->name, "stack")) {
			size = len - f->offset;
		}
		tacho_buf_printf(&out, "%s = ", f->name);
		expect_value(f, p, size, &out);
		tacho_buf_putc(&out, '\n');
	}
	s = strdup(tacho_buf_str(&out));
	tacho_buf_release(&out);
	return s;
}

static void make_samples(void)
{
	uint64_t time = SYNTH_TICKS;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < nr_types; i++) {
			unsigned char raw[65536] = { 0 };
			struct sample *s = &samples[nr_samples++];

			s->type = types[i];
			s->time = time += 1 + rnd() % 5000;
			s->pid = round == 1 ? -7 : (int32_t)(rnd() % 100000);
			s->len = make_raw(types[i], raw, round % 2);
			/* the common fields that synth_put() gives */
			tacho_put_u16(raw, (uint16_t)types[i]->id);
			raw[2] = 1;
			raw[3] = 2;
			tacho_put_u32(raw + 4, (uint32_t)s->pid);
			s->raw = malloc(s->len);
			memcpy(s->raw, raw, s->len);
			s->expect = expect(types[i], raw, s->len);
		}
}

static void write_trace(const char *dir)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct tacho_diag d = { 0 };
	struct synth s;

	if (!CHECK_EQ(tacho_ctf_writer_new(&w, dir, &info, &d), 0)) {
		printf("# %s\n", d.text);
		return;
	}
	for (size_t i = 0; i < nr_types; i++)
		if (!CHECK_EQ(tacho_ctf_writer_type(w, TACHO_STREAM_KERNEL,
				types[i]->id, types[i]->system, types[i]->name,
				formats[i].data, formats[i].len, &d), 0))
			printf("# %s\n", d.text);
	synth_init(&s, TACHO_STREAM_KERNEL, 3);
	for (size_t i = 0; i < nr_samples; i++) {
		s.time = samples[i].time;
		synth_put(&s, samples[i].type->id, samples[i].pid,
			  samples[i].raw + 8, samples[i].len - 8);
		if (s.records.len > 50000)
			CHECK_EQ(synth_flush(&s, w, &d), 0);
	}
	CHECK_EQ(synth_flush(&s, w, &d), 0);
	CHECK_EQ(tacho_ctf_writer_lost(w), 0);
	CHECK_EQ(tacho_ctf_writer_close(w, &d), 0);
	tacho_buf_release(&s.records);
}

/* ---- reading back ---------------------------------------------------------- */

static bool same_fields(const struct sample *s, const struct tacho_record *r)
{
	for (uint32_t i = 0; i < s->type->nr_fields; i++) {
		const struct tacho_field *f = &s->type->fields[i];
		const struct tacho_field *g = tacho_type_find(r->type, f->name);
		const void *a, *b;
		size_t m, n;

		a = tacho_field_data(f, s->raw, s->len, &m);
		b = g ? tacho_field_data(g, r->raw, r->len, &n) : NULL;
		if (!a && f->kind == TACHO_FIELD_ARRAY)
			continue;
		if (f->kind == TACHO_FIELD_FLEX && b && n > m)
			n = m;
		if (!a || !b || m != n || memcmp(a, b, m)) {
			printf("# %s:%s field %s: %zu and %zu bytes\n",
			       s->type->system, s->type->name, f->name, m,
			       b ? n : 0);
			return false;
		}
	}
	return true;
}

static void read_back(const char *dir)
{
	struct tacho_stream *s;
	struct tacho_stream_info info;
	struct tacho_record r;
	struct tacho_error e;
	size_t n = 0;

	if (!CHECK_EQ(tacho_stream_open(&s, dir, TACHO_STREAM_STRICT, &e), 0))
		return;
	CHECK_EQ(tacho_stream_get_info(s, &info), 0);
	CHECK_EQ(info.types, nr_types);
	CHECK_EQ(info.events, nr_samples);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD && n < nr_samples) {
		const struct sample *want = &samples[n++];

		if (!CHECK(r.ticks == want->time) || !CHECK(r.pid == want->pid) ||
		    !CHECK(r.cpu == 3) || !CHECK(r.type->id == want->type->id) ||
		    !CHECK(!strcmp(r.type->name, want->type->name)) ||
		    !CHECK(tacho_load_u16(r.raw) == want->type->id))
			break;
		CHECK(same_fields(want, &r));
	}
	CHECK_EQ(n, nr_samples);
	CHECK_STR(tacho_stream_error(s)->text, "");
	tacho_stream_close(s);
}

/* Every "name = value" of the sample must stand in the line. */
static bool same_line(const struct sample *s, char *line)
{
	char head[64], *p;

	(void)snprintf(head, sizeof(head), "[%020" PRIu64 "]", s->time);
	if (strncmp(line, head, strlen(head))) {
		printf("# time is %s in %.30s\n", head, line);
		return false;
	}
	(void)snprintf(head, sizeof(head), "common_pid = %d }", s->pid);
	if (!strstr(line, head))
		return false;
	p = strstr(line, "common_pid = ");
	for (char *e = s->expect, *nl; (nl = strchr(e, '\n')); e = nl + 1) {
		char *hit;
		size_t len = (size_t)(nl - e);

		*nl = '\0';
		/* as a whole: "{ a = 1," or ", a = 1 }" */
		for (hit = p; (hit = strstr(hit, e)); hit++)
			if (hit[-1] == ' ' && (hit[-2] == '{' || hit[-2] == ',') &&
			    (hit[len] == ',' || hit[len] == ' ' ||
			     e[len - 1] == '"'))
				break;
		if (!hit) {
			printf("# %s:%s: no '%.200s' in\n# %.900s\n",
			       s->type->system, s->type->name, e, p);
			return false;
		}
	}
	return true;
}

static void check_babeltrace(const char *dir)
{
	char cmd[600];
	char *line = NULL;
	size_t room = 0, n = 0, bad = 0;
	FILE *f;

	(void)snprintf(cmd, sizeof(cmd), "babeltrace2 --clock-cycles --no-delta %s 2>%s/err",
		       dir, tmpdir);
	f = popen(cmd, "r");
	if (!CHECK(f != NULL))
		return;
	while (getline(&line, &room, f) > 0) {
		if (n < nr_samples && bad < 10 &&
		    !CHECK(same_line(&samples[n], line)))
			bad++;
		n++;
	}
	CHECK_EQ(pclose(f), 0);
	CHECK_EQ(n, nr_samples);
	/* not a warning either */
	(void)snprintf(cmd, sizeof(cmd), "%s/err", tmpdir);
	f = fopen(cmd, "r");
	if (!CHECK(f && fgetc(f) == EOF) && f && getline(&line, &room, f) > 0)
		printf("# babeltrace2 says: %s", line);
	free(line);
	if (f)
		fclose(f);
}

static void test_babeltrace(const char *dir)
{
	if (system("babeltrace2 --version >/dev/null 2>&1"))
		TEST_SKIP("there is no babeltrace2 here");
	else if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		check_babeltrace(dir);
}

int main(int argc, char **argv)
{
	const char *dir;

	test_args(argc, argv);
	tmpdir_make();
	dir = tmpdir_path("trace");
	tacho_arena_init(&arena, (size_t)1 << 30);
	add_nasty();
	add_kernel();
	make_samples();
	write_trace(dir);
	TEST(read_back(dir));
	TEST(test_babeltrace(dir));
	for (size_t i = 0; i < nr_samples; i++) {
		free(samples[i].raw);
		free(samples[i].expect);
	}
	for (size_t i = 0; i < nr_types; i++)
		tacho_buf_release(&formats[i]);
	tacho_arena_release(&arena);
	return test_done();
}
