// SPDX-License-Identifier: MIT
/*
 * public_test GEN_TRACE - <tacho/stream.h> as programs have it: nothing but the header and
 * libtacho-stream.  TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacho/stream.h>

static int nr, failed;

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++nr, what);
	failed += !good;
}

/* A record of a later version, and what it may have behind ours. */
struct later_record {
	struct tacho_record r;
	uint64_t more[2];
};

static struct tacho_stream *open_trace(const char *path)
{
	struct tacho_error e;
	struct tacho_stream *s;

	if (!tacho_stream_open(&s, path, 0, &e))
		return s;
	printf("Bail out! %s\n", e.text);
	exit(1);
}

static void sizes(struct tacho_stream *s)
{
	struct later_record later;
	struct tacho_record r, same;
	uint32_t small = (uint32_t)sizeof(r) - 8;

	memset(&r, 0xff, sizeof(r));
	ok(tacho_stream_next(s, &r) == TACHO_STREAM_RECORD && r.struct_size == sizeof(r),
	   "a record that was not initialised is filled in");
	ok(!tacho_stream_seek(s, 0), "seek");
	memset(&later, 0xff, sizeof(later));
	later.r.struct_size = sizeof(later);
	ok(tacho_stream_next_record(s, &later.r) == TACHO_STREAM_RECORD &&
	   later.r.struct_size == sizeof(later) && later.r.time == r.time &&
	   later.r.len == r.len && later.r.raw && later.r.pid == r.pid,
	   "so is one of a later version");
	ok(!later.more[0] && !later.more[1], "whose other members are 0");
	memset(&same, 0, sizeof(same));
	same.struct_size = small;
	ok(tacho_stream_next_record(s, &same) == TACHO_STREAM_ERROR &&
	   tacho_stream_error(s)->err == -22 && strstr(tacho_stream_error(s)->text, "struct_size"),
	   "a struct that is too small is an error");
	ok(!tacho_stream_seek(s, 0) && tacho_stream_next(s, &r) == TACHO_STREAM_RECORD,
	   "after which seeking helps");
}

static void info(struct tacho_stream *s)
{
	struct { struct tacho_stream_info i; uint64_t more; } later;
	struct tacho_stream_info i;

	memset(&i, 0xff, sizeof(i));
	ok(!tacho_stream_get_info(s, &i) && i.struct_size == sizeof(i) && i.events == 1000 &&
	   i.types >= 2 && !strcmp(i.format, "tacho") && i.end > i.begin, "info");
	memset(&later, 0xff, sizeof(later));
	later.i.struct_size = sizeof(later);
	ok(!tacho_stream_fill_info(s, &later.i) && later.i.struct_size == sizeof(later) &&
	   later.i.events == 1000 && !later.more, "info of a later version");
	i.struct_size = 4;
	ok(tacho_stream_fill_info(s, &i) == -22, "info that is too small");
}

static void fields(struct tacho_stream *s)
{
	static const struct {
		const char *name, *type;
		uint32_t kind, flags, offset, size, elem_size, count;
	} want[] = {
		{ "common_pid", "int", TACHO_VALUE_INTEGER,
		  TACHO_VALUE_COMMON | TACHO_VALUE_SIGNED, 4, 4, 4, 1 },
		{ "comm", "char", TACHO_VALUE_STRING, TACHO_VALUE_ARRAY, 8, 16, 1, 16 },
		{ "prio", "int", TACHO_VALUE_INTEGER, TACHO_VALUE_SIGNED, 24, 4, 4, 1 },
		{ "name", "char", TACHO_VALUE_STRING,
		  TACHO_VALUE_ARRAY | TACHO_VALUE_DYNAMIC, 28, 4, 1, 0 },
	};
	const struct tacho_type *type = NULL, *t;

	for (uint32_t i = 0; (t = tacho_stream_type(s, i)); i++)
		if (!strcmp(tacho_type_name(t), "named"))
			type = t;
	ok(type && !strcmp(tacho_type_system(type), "bench"), "a type by its name");
	for (size_t i = 0; type && i < sizeof(want) / sizeof(want[0]); i++) {
		const struct tacho_field *f = tacho_type_find(type, want[i].name);
		struct tacho_field_info fi;

		memset(&fi, 0xff, sizeof(fi));
		ok(!tacho_type_field_info(type, f, &fi) && fi.kind == want[i].kind &&
		   fi.flags == want[i].flags && fi.offset == want[i].offset &&
		   fi.size == want[i].size && fi.elem_size == want[i].elem_size &&
		   fi.count == want[i].count && !strcmp(fi.name, want[i].name) &&
		   !strcmp(fi.elem_type, want[i].type) &&
		   tacho_type_field_at(type, fi.index) == f && fi.names == TACHO_NAMES_NONE,
		   want[i].name);
		ok(!tacho_type_value_name(type, f, 0, NULL, NULL, 0), "no names");
	}
}

static void values(struct tacho_stream *s)
{
	struct tacho_record r;
	const char *comm = NULL;
	char text[128];
	uint64_t prio = 0;
	double real;
	size_t size = 0;

	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		if (!strcmp(tacho_type_name(r.type), "named"))
			break;
	ok(tacho_record_int(&r, tacho_type_find(r.type, "prio"), &prio) == true && prio == 120,
	   "an integer");
	comm = (const char *)tacho_record_data(&r, tacho_type_find(r.type, "comm"), &size);
	ok(comm && size == 16 && !strcmp(comm, "worker/3"), "bytes");
	ok(!tacho_record_int(&r, NULL, &prio) && !tacho_record_double(&r, NULL, &real) &&
	   !tacho_record_data(&r, NULL, &size), "a field that is not there");
	ok(tacho_record_text(s, &r, text, sizeof(text)) == strlen(text) &&
	   !strcmp(text, "comm=worker/3 prio=120 name=request-queue"), "text");
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tacho-public-XXXXXX", path[64], command[512];
	struct tacho_stream *s;

	if (argc < 2 || !mkdtemp(dir))
		return 1;
	(void)snprintf(path, sizeof(path), "%s/trace", dir);
	(void)snprintf(command, sizeof(command), "%s 1000 %s", argv[1], path);
	ok(!system(command), "gen_trace");
	ok(tacho_stream_version() == TACHO_STREAM_VERSION, "the library's version");
	s = open_trace(path);
	sizes(s);
	info(s);
	fields(s);
	values(s);
	tacho_stream_close(s);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	ok(!system(command), "rm");
	printf("1..%d\n", nr);
	return failed != 0;
}
