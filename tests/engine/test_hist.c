// SPDX-License-Identifier: MIT
/*
 * Histograms at work: modifiers, expressions, variables within and across, actions.
 * Numbers that look odd (10/3 is 4) are what Linux 6.12 printed for the same text.
 */
#include "unit/test.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "base/bytes.h"
#include "engine/hist.h"
#include "engine/names.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char wake_format[] = COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n";

static const char switch_format[] = COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:32;\tsize:4;\tsigned:1;\n";

static const char misc_format[] = COMMON
	"\tfield:u64 aa;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s32 bb;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:s16 cc;\toffset:20;\tsize:2;\tsigned:1;\n"
	"\tfield:s8 dd;\toffset:22;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 ee;\toffset:23;\tsize:1;\tsigned:0;\n"
	"\tfield:u32 ff;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 gg;\toffset:28;\tsize:2;\tsigned:0;\n"
	"\tfield:char ss[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc unsigned long[] st;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 six[6];\toffset:48;\tsize:48;\tsigned:0;\n"
	"\tfield:const char * pp;\toffset:96;\tsize:8;\tsigned:0;\n";

enum { WAKE, SWITCH, MISC, NR_TYPES };

static const char *const names[NR_TYPES] = { "wake", "switch", "misc" };

/* ---- an instance, as small as it can be ---- */

#define HISTS	16

static struct tacho_arena arena;
static const struct tacho_type *type[NR_TYPES];
static struct tacho_hist *hists[HISTS];
static void *memory[HISTS];
static uint32_t nr_hists;
static struct tacho_synth *synths[8];
static uint32_t nr_synths;

/* The last synthetic event, as text, and how many there were. */
static char made[512];
static int nr_made, nr_snapshots;

static struct tacho_hist *find_var(void *arg, const char *system,
				   const char *event, const char *name,
				   uint32_t *var, bool *ambiguous)
{
	struct tacho_hist *found = NULL;

	(void)arg;
	for (uint32_t i = 0; i < nr_hists; i++) {
		const struct tacho_hist_spec *s = tacho_hist_spec_of(hists[i]);
		const struct tacho_type *t = tacho_hist_type_of(hists[i]);

		if (system && (strcmp(t->system, system) || strcmp(t->name, event)))
			continue;
		for (uint32_t k = 0; k < s->nr_vars; k++) {
			if (strcmp(s->var[k].name, name))
				continue;
			if (found && tacho_hist_type_of(found) != t)
				*ambiguous = true;
			if (!found)
				*var = k;
			found = found ? found : hists[i];
		}
	}
	return found;
}

static const struct tacho_synth *find_synth(void *arg, const char *name)
{
	(void)arg;
	for (uint32_t i = 0; i < nr_synths; i++)
		if (!strcmp(synths[i]->name, name))
			return synths[i];
	return NULL;
}

static const struct tacho_type *find_type(void *arg, const char *system,
					  const char *event)
{
	(void)arg;
	for (int i = 0; i < NR_TYPES; i++)
		if (!strcmp(system, "sys") && !strcmp(event, names[i]))
			return type[i];
	return NULL;
}

static struct tacho_hist *add(int which, const char *text,
			      struct tacho_cmd_error *e);

static struct tacho_hist *add_field_var(void *arg, const struct tacho_hist *for_hist,
					const char *system, const char *event,
					const char *field, uint32_t *var)
{
	char text[256];
	struct tacho_cmd_error e = { .err = 0 };

	for (uint32_t i = 0; i < nr_hists; i++) {
		const struct tacho_type *t = tacho_hist_type_of(hists[i]);
		struct tacho_hist *h;

		if (t != find_type(arg, system, event) ||
		    !tacho_hist_same_keys(for_hist, hists[i]))
			continue;
		snprintf(text, sizeof(text), "hist:keys=%s:synthetic_%s=%s",
			 tacho_hist_key(hists[i], 0)->name, field, field);
		h = add(t == type[WAKE] ? WAKE : SWITCH, text, &e);
		*var = 0;
		return h;
	}
	return NULL;
}

static void on_synth(void *arg, const struct tacho_synth *synth,
		     const struct tacho_synth_value *value,
		     const struct tacho_rec *cause)
{
	int n = snprintf(made, sizeof(made), "%s", synth->name);

	(void)arg;
	(void)cause;
	nr_made++;
	for (uint32_t i = 0; i < synth->nr_fields && n < 400; i++) {
		const struct tacho_synth_field *f = &synth->field[i];

		if (f->is_stack)
			n += snprintf(made + n, sizeof(made) - (size_t)n,
				      " %s=%u:%" PRIu64, f->name, value[i].len / 8,
				      value[i].len ? tacho_load_u64(value[i].data) : 0);
		else if (value[i].data)
			n += snprintf(made + n, sizeof(made) - (size_t)n, " %s=%.*s",
				      f->name, (int)value[i].len,
				      (const char *)value[i].data);
		else
			n += snprintf(made + n, sizeof(made) - (size_t)n,
				      " %s=%" PRId64, f->name,
				      (int64_t)value[i].number);
	}
}

static void on_snapshot(void *arg, const struct tacho_rec *cause)
{
	(void)arg;
	(void)cause;
	nr_snapshots++;
}

static const struct tacho_hist_host host = {
	.find_var = find_var, .find_synth = find_synth, .find_type = find_type,
	.add_field_var = add_field_var, .synth = on_synth, .snapshot = on_snapshot,
};

static bool comm_of(void *arg, int32_t pid, char comm[16])
{
	(void)arg;
	snprintf(comm, 16, "task-%d", pid);
	return pid != 404;
}

static const struct tacho_names people = { .comm = comm_of };

static int try_add(int which, const char *text, struct tacho_hist **h,
		   struct tacho_cmd_error *e)
{
	struct tacho_hist_spec *spec = tacho_arena_alloc(&arena, sizeof(*spec));
	int err = tacho_hist_spec_parse(spec, &arena, text, 0, e);

	if (!err)
		err = tacho_hist_spec_bind_type(spec, &arena, type[which], e);
	if (!err)
		err = tacho_hist_new(h, &arena, spec, type[which], &host, &people, e);
	return err;
}

static struct tacho_hist *add(int which, const char *text,
			      struct tacho_cmd_error *e)
{
	struct tacho_map_geometry g;
	struct tacho_hist *h = NULL;
	size_t size;
	void *mem;

	if (nr_hists == HISTS || try_add(which, text, &h, e))
		return NULL;
	tacho_hist_geometry(h, &g);
	size = tacho_map_bytes(&g);
	if (!size || posix_memalign(&mem, 64, size))
		abort();
	memset(mem, 0, size);
	tacho_map_init(mem, &g);
	if (tacho_hist_bind(h, mem, size))
		abort();
	memory[nr_hists] = mem;
	hists[nr_hists++] = h;
	return h;
}

static struct tacho_hist *must(int which, const char *text)
{
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_hist *h = add(which, text, &e);

	if (!h) {
		test_check(0, __FILE__, __LINE__, "%s: %s at %u", text, e.text,
			   e.column);
		printf("Bail out!\n");
		exit(1);
	}
	return h;
}

static void forget(void)
{
	while (nr_hists)
		free(memory[--nr_hists]);
	nr_made = nr_snapshots = 0;
	made[0] = '\0';
}

/* ---- events ---- */

static unsigned char raw[512];
static struct tacho_rec rec;

static void event(int which, int32_t pid, uint64_t time)
{
	memset(raw, 0, sizeof(raw));
	tacho_put_u32(raw + 4, (uint32_t)pid);
	rec = (struct tacho_rec){
		.raw = raw, .len = type[which]->fixed_size, .cpu = 3,
		.time = time, .pid = pid, .names = &people,
	};
}

static void put_dynamic(const char *field, const void *data, uint32_t len)
{
	const struct tacho_field *f = tacho_type_field(type[MISC], field);

	tacho_put_u32(raw + f->offset, len << 16 | rec.len);
	memcpy(raw + rec.len, data, len);
	rec.len += len;
}

static void misc(uint64_t a)
{
	event(MISC, 7, 1000);
	tacho_put_u64(raw + 8, a);
}

static void wake(int32_t pid, uint64_t time)
{
	event(WAKE, 1, time);
	memcpy(raw + 8, "waker", 5);
	tacho_put_u32(raw + 24, (uint32_t)pid);
	tacho_put_u32(raw + 28, 120);
	for (uint32_t i = 0; i < nr_hists; i++)
		if (tacho_hist_type_of(hists[i]) == type[WAKE])
			tacho_hist_hit(hists[i], &rec);
}

static void run(int32_t pid, uint64_t time)
{
	event(SWITCH, 2, time);
	memcpy(raw + 8, "before", 6);
	tacho_put_u32(raw + 24, 9);
	tacho_put_u32(raw + 28, (uint32_t)pid);
	tacho_put_u32(raw + 32, 100);
	for (uint32_t i = 0; i < nr_hists; i++)
		if (tacho_hist_type_of(hists[i]) == type[SWITCH])
			tacho_hist_hit(hists[i], &rec);
}

/* The only element, or NULL. */
static struct tacho_map_elt *only(const struct tacho_hist *h)
{
	uint32_t pos = 0;
	struct tacho_map_elt *e = tacho_map_next(tacho_hist_map(h), &pos);

	return e && !tacho_map_next(tacho_hist_map(h), &pos) ? e : NULL;
}

static uint32_t entries(const struct tacho_hist *h)
{
	uint32_t pos = 0, nr = 0;

	while (tacho_map_next(tacho_hist_map(h), &pos))
		nr++;
	return nr;
}

static uint64_t key_word(const struct tacho_map_elt *e, uint32_t at)
{
	return tacho_load_u64((const char *)tacho_map_key(e) + at);
}

/* ---- keys ---- */

static void fill_misc(void)
{
	misc(0x123456789abcdef0);
	tacho_put_u32(raw + 16, (uint32_t)-5);
	tacho_put_u16(raw + 20, (uint16_t)-300);
	raw[22] = (unsigned char)-7;
	raw[23] = 250;
	tacho_put_u32(raw + 24, 4000000000u);
	tacho_put_u16(raw + 28, 60000);
	memcpy(raw + 32, "12345678", 8);
	tacho_put_u64(raw + 96, 0xffff888000000000);
}

static void test_number_keys(void)
{
	static const struct {
		const char *key;
		uint64_t value;
	} table[] = {
		{ "aa", 0x123456789abcdef0 }, { "bb", (uint64_t)-5 },
		{ "cc", (uint64_t)-300 }, { "dd", (uint64_t)-7 }, { "ee", 250 },
		{ "ff", 4000000000u }, { "gg", 60000 }, { "aa.hex", 0x123456789abcdef0 },
		{ "aa.sym", 0x123456789abcdef0 },
		{ "aa.sym-offset", 0x123456789abcdef0 },
		{ "aa.syscall", 0x123456789abcdef0 }, { "pp", 0xffff888000000000 },
		{ "ee.log2", 8 }, { "gg.log2", 16 }, { "aa.log2", 61 },
		{ "bb.log2", 64 }, { "ee.buckets=100", 200 }, { "gg.buckets=7", 59997 },
		{ "bb.buckets=100", 18446744073709551600u },
		{ "common_pid", 7 }, { "common_pid.execname", 7 },
		{ "common_cpu", 3 }, { "cpu", 3 }, { "CPU", 3 },
		{ "common_timestamp", 1500 }, { "common_timestamp.usecs", 2 },
		{ "hitcount", 1 }, { "ee+1", 251 }, { "common_type", 0 },
	};
	char text[128];

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_map_elt *e;
		struct tacho_hist *h;

		snprintf(text, sizeof(text), "hist:keys=%s:size=128", table[i].key);
		h = must(MISC, text);
		fill_misc();
		rec.time = 1500;
		tacho_hist_hit(h, &rec);
		tacho_hist_hit(h, &rec);
		e = only(h);
		if (CHECK(e != NULL)) {
			test_check(key_word(e, 0) == table[i].value, __FILE__,
				   __LINE__, "%s is %" PRIu64, table[i].key,
				   key_word(e, 0));
			CHECK_EQ(tacho_map_hitcount(tacho_hist_map(h), e), 2);
		}
		forget();
	}
}

static void test_log2(void)
{
	static const struct {
		uint64_t v, log2;
	} table[] = {
		{ 0, 0 }, { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 },
		{ 511, 9 }, { 512, 9 }, { 513, 10 },
		{ (uint64_t)1 << 63, 63 }, { ((uint64_t)1 << 63) + 1, 64 },
		{ UINT64_MAX, 64 },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_hist *h = must(MISC, "hist:keys=aa.log2:size=128");
		struct tacho_map_elt *e;

		misc(table[i].v);
		tacho_hist_hit(h, &rec);
		e = only(h);
		if (CHECK(e != NULL))
			CHECK_EQ(key_word(e, 0), table[i].log2);
		forget();
	}
}

static void test_string_keys(void)
{
	struct tacho_hist *h = must(MISC, "hist:keys=ss,name,aa:size=128");
	char key[8 + 256 + 8] = "1234567", name[300];
	struct tacho_map_elt *e;

	memset(name, 'n', sizeof(name));
	misc(77);
	memcpy(raw + 32, "12345678", 8);	/* no NUL: cut to 7 */
	put_dynamic("name", "hello\0junk", 10);
	tacho_hist_hit(h, &rec);
	misc(77);
	memcpy(raw + 32, "1234567\0", 8);
	put_dynamic("name", "hello", 5);
	tacho_hist_hit(h, &rec);
	e = only(h);
	memcpy(key + 8, "hello", 5);
	tacho_put_u64(key + 264, 77);
	if (CHECK(e != NULL))
		CHECK(!memcmp(tacho_map_key(e), key, sizeof(key)));
	CHECK_EQ(tacho_hist_key(h, 0)->shape, TACHO_SHAPE_STRING);
	CHECK_EQ(tacho_hist_key(h, 0)->size, 8);
	CHECK_EQ(tacho_hist_key(h, 1)->offset, 8);
	CHECK_EQ(tacho_hist_key(h, 1)->size, 256);
	CHECK_EQ(tacho_hist_key(h, 2)->offset, 264);
	CHECK_STR(tacho_hist_key(h, 1)->name, "name");
	tacho_hist_clear(h);
	misc(1);
	put_dynamic("name", name, 300);
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL)) {
		const char *k = tacho_map_key(e);

		CHECK(k[8 + 254] == 'n' && k[8 + 255] == '\0');
	}
	tacho_hist_clear(h);
	misc(1);	/* a string that lies outside the event is empty */
	tacho_put_u32(raw + 40, 20u << 16 | 400);
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL))
		CHECK_EQ(((const char *)tacho_map_key(e))[8], 0);
	forget();
}

static void test_stack_keys(void)
{
	static const uint64_t stack[20] = { 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
					    61, 62, 63, 64, 65, 66, 67, 68, 69, 70 };
	static const uint64_t counted[4] = { 2, 101, 102, 103 };
	struct tacho_hist *h = must(MISC, "hist:keys=stacktrace,aa:size=128");
	struct tacho_map_elt *e;

	misc(5);
	rec.stack = stack;
	rec.nr_stack = 20;
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL)) {
		CHECK(!memcmp(tacho_map_key(e), stack, 128));
		CHECK_EQ(key_word(e, 128), 5);
	}
	CHECK_EQ(tacho_hist_key(h, 0)->shape, TACHO_SHAPE_STACK);
	CHECK_STR(tacho_hist_key(h, 0)->name, "common_stacktrace");
	tacho_hist_clear(h);
	rec.nr_stack = 2;
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL))
		CHECK(key_word(e, 0) == 51 && key_word(e, 8) == 52 &&
		      key_word(e, 16) == 0);
	tacho_hist_clear(h);
	rec.stack = NULL;
	tacho_hist_hit(h, &rec);
	e = only(h);
	CHECK(e && key_word(e, 0) == 0);
	forget();

	h = must(MISC, "hist:keys=st.stacktrace:size=128");
	misc(5);
	put_dynamic("st", counted, sizeof(counted));
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL))
		CHECK(key_word(e, 0) == 101 && key_word(e, 8) == 102 &&
		      key_word(e, 16) == 0);
	tacho_hist_clear(h);
	misc(5);
	put_dynamic("st", stack, 24);
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL))
		CHECK(key_word(e, 0) == 51 && key_word(e, 16) == 53);
	forget();
}

static void test_execname(void)
{
	struct tacho_hist *h = must(MISC,
		"hist:keys=common_pid.execname:who=common_pid.execname:size=128");
	const struct tacho_hist_column *c = tacho_hist_key(h, 0);
	uint32_t pos = 0;
	struct tacho_map_elt *e;

	CHECK(c->comm != UINT32_MAX && c->shape == TACHO_SHAPE_NUMBER);
	for (int32_t pid = 0; pid < 3; pid++) {
		event(MISC, pid, 0);
		tacho_hist_hit(h, &rec);
		tacho_hist_hit(h, &rec);
	}
	event(MISC, -1, 0);
	tacho_hist_hit(h, &rec);
	event(MISC, 404, 0);
	tacho_hist_hit(h, &rec);
	while ((e = tacho_map_next(tacho_hist_map(h), &pos))) {
		const char *comm = tacho_map_text(tacho_hist_map(h), e, c->comm);
		char want[16];

		snprintf(want, sizeof(want), "task-%d", (int)key_word(e, 0));
		if (key_word(e, 0) == 0)
			CHECK_STR(comm, "<idle>");
		else if (key_word(e, 0) == UINT64_MAX)
			CHECK_STR(comm, "<XXX>");
		else if (key_word(e, 0) == 404)
			CHECK_STR(comm, "");
		else
			CHECK_STR(comm, want);
	}
	CHECK_EQ(entries(h), 5);
	forget();
}

/* ---- values ---- */

static void test_values(void)
{
	struct tacho_hist *h = must(MISC,
		"hist:keys=ee:vals=aa,bb:sort=aa.descending,ee:size=128");
	const struct tacho_map *map = tacho_hist_map(h);
	struct tacho_map_elt *e;

	misc(UINT64_MAX - 1);
	tacho_put_u32(raw + 16, (uint32_t)-3);
	tacho_hist_hit(h, &rec);
	misc(5);
	tacho_put_u32(raw + 16, 1);
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL)) {
		CHECK_EQ(tacho_map_hitcount(map, e), 2);
		CHECK_EQ(tacho_map_sum(map, e, 0), 3);	/* it wraps */
		CHECK_EQ(tacho_map_sum(map, e, 1), -2);
	}
	CHECK_EQ(tacho_hist_nr_vals(h), 2);
	CHECK_STR(tacho_hist_val(h, 0)->name, "aa");
	CHECK(tacho_hist_val(h, 1)->is_signed && !tacho_hist_val(h, 0)->is_signed);
	CHECK_EQ(tacho_hist_nr_orders(h), 2);
	CHECK(!tacho_hist_order(h, 0).is_key && tacho_hist_order(h, 0).index == 1 &&
	      tacho_hist_order(h, 0).descending);
	CHECK(tacho_hist_order(h, 1).is_key && tacho_hist_order(h, 1).index == 0 &&
	      !tacho_hist_order(h, 1).descending);
	/* an event that lacks a field is dropped, not half counted */
	rec.len = 19;
	tacho_hist_hit(h, &rec);
	CHECK_EQ(tacho_map_hits(map), 2);
	CHECK_EQ(map->head->drops, 1);
	tacho_hist_pause(h, true);
	CHECK(tacho_hist_paused(h));
	rec.len = 104;
	tacho_hist_hit(h, &rec);
	CHECK_EQ(tacho_map_hits(map), 2);
	tacho_hist_pause(h, false);
	tacho_hist_hit(h, &rec);
	CHECK_EQ(tacho_map_hits(map), 3);
	tacho_hist_clear(h);
	CHECK_EQ(entries(h), 0);
	forget();

	h = must(MISC, "hist:keys=ee:vals=hitcount,hitcount.percent,aa-1:size=128");
	map = tacho_hist_map(h);
	CHECK_EQ(tacho_hist_nr_vals(h), 2);
	CHECK_STR(tacho_hist_val(h, 0)->name, "hitcount");
	CHECK_STR(tacho_hist_val(h, 1)->name, "aa-1");
	misc(10);
	tacho_hist_hit(h, &rec);
	tacho_hist_hit(h, &rec);
	e = only(h);
	if (CHECK(e != NULL)) {
		CHECK_EQ(tacho_map_sum(map, e, 0), 2);
		CHECK_EQ(tacho_map_sum(map, e, 1), 18);
	}
	forget();
}

static void test_full(void)
{
	struct tacho_hist *h = must(MISC, "hist:keys=aa:size=128");

	for (uint64_t i = 0; i < 200; i++) {
		misc(i);
		tacho_hist_hit(h, &rec);
	}
	CHECK_EQ(entries(h), 128);
	CHECK_EQ(tacho_hist_map(h)->head->drops, 72);
	CHECK_EQ(tacho_map_hits(tacho_hist_map(h)), 128);
	forget();
}

/* ---- expressions: the value of variable x ---- */

static void test_expressions(void)
{
	static const struct {
		const char *vars;
		uint64_t a, x;
	} table[] = {
		{ "x=aa+bb", 10, 5 }, { "x=aa-bb", 10, 15 }, { "x=aa*bb", 10, (uint64_t)-50 },
		{ "x=aa/ee", 1000, 4 }, { "x=aa/gg", 1000, UINT64_MAX },
		{ "x=-(aa)", 10, (uint64_t)-10 }, { "x=-(aa+bb)", 10, (uint64_t)-5 },
		{ "x=7", 0, 7 }, { "x=0x10+010", 0, 24 },
		{ "x=10/3", 0, 4 }, { "x=64/8/4", 0, 2 }, { "x=14-7-5", 0, 2 },
		{ "x=2*3+4", 0, 10 }, { "x=2-3", 0, UINT64_MAX },
		{ "x=aa/3", 1, 1 }, { "x=aa/3", 10, 4 }, { "x=aa/3", 511, 171 },
		{ "x=aa/3", 1048575, 349525 }, { "x=aa/3", 1048576, 349525 },
		{ "x=aa/1000", 1, 1 }, { "x=aa/1000", 999, 1 },
		{ "x=aa/1000", 10485760, 10485 }, { "x=aa/4", 511, 127 },
		{ "x=aa/1", 511, 511 }, { "x=aa/1048576", 1048577, 1 },
		{ "x=aa/1048577", 1048578, 1 }, { "x=aa/1048577", 5, 0 },
		{ "x=aa+bb*ee", 10, (uint64_t)-1240 }, { "x=aa/ee*ee+1", 1000, 1001 },
		{ "x=aa*aa", (uint64_t)1 << 33, 0 },
		{ "x=aa.log2+1", 1000, 11 },
		{ "x=common_timestamp-aa", 10, 990 },
		{ "x=common_timestamp.usecs", 10, 1 },
		{ "x=common_cpu", 0, 3 },
		/* own variables */
		{ "y=aa,x=$y+1", 10, 11 }, { "x=$y+1,y=aa", 10, 11 },
		{ "x=$y*$y,y=bb", 10, 25 }, { "y=aa+1,x=$y*2", 10, 22 },
		{ "y=aa,x=sys.misc.$y", 10, 10 },
	};
	char text[128];

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		const struct tacho_hist_spec *spec;
		struct tacho_map_elt *e;
		struct tacho_hist *h;
		uint32_t x = 0;
		uint64_t v = 0;

		snprintf(text, sizeof(text), "hist:keys=ee:%s:size=128", table[i].vars);
		h = must(MISC, text);
		spec = tacho_hist_spec_of(h);
		misc(table[i].a);
		tacho_put_u32(raw + 16, (uint32_t)-5);
		raw[23] = 250;
		tacho_hist_hit(h, &rec);
		e = only(h);
		while (strcmp(spec->var[x].name, "x"))
			x++;
		CHECK(e && tacho_map_var_get(tacho_hist_map(h), e, x, &v));
		test_check(v == table[i].x, __FILE__, __LINE__,
			   "%s is %" PRIu64 ", not %" PRIu64, table[i].vars, v,
			   table[i].x);
		forget();
	}
}

/* ---- errors ---- */

static void test_errors(void)
{
	static const struct {
		int which;
		const char *text, *error, *at;
	} table[] = {
		{ MISC, "keys=nope", "Couldn't find field", "nope" },
		{ MISC, "keys=aa:vals=nope.hex", "Couldn't find field", "nope" },
		{ MISC, "keys=aa:x=nope+1", "Couldn't find field", "nope" },
		{ MISC, "keys=six", "Field is neither a number nor a string", "six" },
		{ MISC, "keys=aa:vals=six", "Field is neither a number nor a string", "six" },
		{ MISC, "keys=aa:vals=name", "String type can not be a value", "name" },
		{ MISC, "keys=bb.execname", "Invalid field modifier", "execname" },
		{ MISC, "keys=ss.log2", "Invalid field modifier", "log2" },
		{ MISC, "keys=name.buckets=5", "Invalid field modifier", "buckets=5" },
		{ MISC, "keys=bb.stacktrace", "Invalid field modifier", "bb.stack" },
		{ MISC, "keys=aa:vals=bb.log2", "Invalid field modifier", "bb.log2" },
		{ MISC, "keys=aa:vals=bb.sym", "Invalid field modifier", "bb.sym" },
		{ MISC, "keys=aa:vals=stacktrace", "Invalid field modifier", "stack" },
		{ MISC, "keys=aa:x=bb.log2", "Invalid field modifier", "bb.log2" },
		{ MISC, "keys=aa:x=name+1", "String type can not be an operand in expression", "name" },
		{ MISC, "keys=aa:x=1+name", "String type can not be an operand in expression", "name" },
		{ MISC, "keys=aa:x=-(name)", "String type can not be an operand in expression", "name" },
		{ MISC, "keys=aa:x=bb/0", "Division by zero", "0" },
		{ MISC, "keys=aa:x=$zz", "Couldn't find variable", "zz" },
		{ MISC, "keys=aa:x=sys.wake.$zz", "Couldn't find variable", "zz" },
		{ MISC, "keys=aa:x=$zz+1", "Couldn't find variable", "zz" },
		{ MISC, "keys=aa:x=bb:x=aa", "Variable already defined", "x" },
		{ MISC, "keys=aa:x=common_timestamp.usecs-common_timestamp",
		  "Timestamp units in expression don't match", NULL },
		{ MISC, "keys=name,name", "Keys are longer than 384 bytes", "name" },
		{ MISC, "keys=name,stacktrace,aa", "Keys are longer than 384 bytes", "aa" },
		{ MISC, "keys=aa:sort=zz", "Sort field must be a key or a val", "zz" },
		{ MISC, "keys=aa:nohitcount", "Non-hitcount value is required for 'nohitcount'", NULL },
		{ MISC, "keys=aa:onmatch(sys.zz).lat($x)", "Invalid subsystem or event name", "zz" },
		{ MISC, "keys=aa:onmatch(sys.wake).zzz($x)", "Couldn't find synthetic event", "zzz" },
		{ MISC, "keys=aa:onmatch(sys.wake).trace(zzz,$x)", "Couldn't find synthetic event", "zzz" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat($zz)", "Couldn't find param", "zz" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat(zz)", "Couldn't find field", "zz" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat(q.r.zz)", "Event file not found", "zz" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat(sys.wake.prio)", "Matching event histogram not found", "prio" },
		{ MISC, "keys=aa:x=bb:onmatch(sys.wake).lat($x,bb,bb)", "Param type doesn't match synthetic event field type", "$x" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat(aa,bb,name)", "Param type doesn't match synthetic event field type", "name" },
		{ MISC, "keys=aa:onmatch(sys.wake).lat(aa,bb)", "Param count doesn't match synthetic event field count", "lat" },
		{ MISC, "keys=aa:onmatch(sys.wake).text(name)", "Param type doesn't match synthetic event field type", "name" },
		{ MISC, "keys=aa:bb=bb:onmatch(sys.wake).lat(aa,bb,cc)", "Couldn't create or find variable", "bb" },
		{ MISC, "keys=aa:v=ff:onmax($zz).save(bb)", "Couldn't find onmax or onchange variable", "zz" },
		{ MISC, "keys=aa:v=ff:onmax($v).save(zz)", "Couldn't find field", "zz" },
		{ MISC, "keys=aa:ee=ee:onmax($ee).save(ee)", "Couldn't create or find variable", "ee" },
		{ MISC, "keys=aa:v=ff:onmax($v).save(six)", "Field is neither a number nor a string", "six" },
		{ MISC, "keys=aa:v=ff:onmax($v).save(bb,aa):onchange($v).save(aa)",
		  "Can't have more than one save() action per hist", NULL },
		{ MISC, "keys=aa:v=ff:onmax($v).snapshot():onchange($v).snapshot()",
		  "Can't have more than one snapshot() action per hist", "snapshot" },
		{ MISC, "keys=aa:onmatch(sys.wake).snapshot()", "Handler doesn't support action", "snapshot" },
		{ MISC, "keys=aa:v=ff:onmax($v).save(common_pid,common_type,common_cpu,common_flags,common_preempt_count,common_timestamp,cpu,stacktrace,name,st.stacktrace,pp.hex,common_pid,common_pid,common_pid,common_pid)",
		  "Couldn't create or find variable", NULL },
	};
	struct tacho_hist *h;
	char text[512];

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_cmd_error e = { .err = 0 };
		int err;

		snprintf(text, sizeof(text), "hist:%s", table[i].text);
		err = try_add(table[i].which, text, &h, &e);
		if (!test_check(err < 0, __FILE__, __LINE__, "%s is taken", text))
			continue;
		test_check(err == e.err && !strcmp(e.text, table[i].error), __FILE__,
			   __LINE__, "%s: '%s', not '%s'", text, e.text,
			   table[i].error);
		if (table[i].at)
			test_check(e.column == (uint32_t)(strstr(text, table[i].at) - text),
				   __FILE__, __LINE__, "%s: at %u", text, e.column);
	}
}

/* ---- across histograms ---- */

static struct tacho_map_elt *of_key(const struct tacho_hist *h, uint64_t key)
{
	return tacho_map_find(tacho_hist_map(h), &key);
}

/* The example of Documentation/trace/histogram.rst, section 2. */
static void test_latency(void)
{
	struct tacho_hist *from = must(WAKE, "hist:keys=pid:ts0=common_timestamp.usecs");
	struct tacho_hist *to = must(SWITCH,
		"hist:keys=next_pid:late=common_timestamp.usecs-$ts0:"
		"onmatch(sys.wake).trace(latency,$late,next_pid,next_prio)");
	uint64_t v;

	run(50, 1000000);	/* nobody woke it: as if it had not been */
	CHECK_EQ(entries(to), 0);
	CHECK_EQ(nr_made, 0);
	wake(50, 2000000);
	wake(51, 2500000);
	run(50, 3000000);
	CHECK_STR(made, "latency lat=1000 pid=50 prio=100");
	CHECK_EQ(nr_made, 1);
	run(50, 4000000);	/* ts0 was read once */
	CHECK_EQ(nr_made, 1);
	run(51, 4000499);
	CHECK_STR(made, "latency lat=1500 pid=51 prio=100");
	run(51, 5000000);
	CHECK_EQ(nr_made, 2);
	CHECK_EQ(entries(to), 2);
	CHECK_EQ(tacho_map_hits(tacho_hist_map(to)), 2);
	/* look-ups are no hits */
	CHECK_EQ(tacho_map_hits(tacho_hist_map(from)), 2);
	CHECK(of_key(to, 51) &&
	      tacho_map_var_get(tacho_hist_map(to), of_key(to, 51), 0, &v) && v == 1500);
	CHECK(of_key(from, 51) &&
	      !tacho_map_var_get(tacho_hist_map(from), of_key(from, 51), 0, &v));
	wake(51, 6000000);
	run(51, 6000600);	/* 600 ns are 1 us */
	CHECK_STR(made, "latency lat=1 pid=51 prio=100");
	forget();
}

/* A variable that is only handed on is not unset; a string is handed on as text. */
static void test_hand_on(void)
{
	struct tacho_hist *to;

	must(WAKE, "hist:keys=pid:who=comm,stack=stacktrace,n=prio");
	to = must(SWITCH, "hist:keys=next_pid:onmatch(sys.wake).trace(who,$who,prev_comm,$stack)");
	wake(5, 100);
	run(5, 200);
	CHECK_STR(made, "who aa=waker bb=before st=0:0");
	run(5, 300);
	CHECK_EQ(nr_made, 2);
	run(6, 300);
	CHECK_EQ(nr_made, 2);
	CHECK_EQ(entries(to), 1);
	forget();
}

/* A field of the other event: a histogram is added there. */
static void test_field_of_other(void)
{
	must(WAKE, "hist:keys=pid:ts0=common_timestamp");
	must(SWITCH, "hist:keys=next_pid:late=common_timestamp-$ts0:"
	     "onmatch(sys.wake).trace(latency,$late,pid,prio)");
	CHECK_EQ(nr_hists, 4);
	wake(5, 100);
	run(5, 300);
	CHECK_STR(made, "latency lat=200 pid=5 prio=120");
	forget();
	must(WAKE, "hist:keys=pid:ts0=common_timestamp");
	must(SWITCH, "hist:keys=next_pid:late=common_timestamp-$ts0:"
	     "onmatch(sys.wake).trace(latency,$late,sys.switch.next_pid,sys.wake.prio)");
	wake(5, 100);
	run(5, 350);
	CHECK_STR(made, "latency lat=250 pid=5 prio=120");
	forget();
}

static void test_references(void)
{
	static const char *const bad_keys[] = {
		"hist:keys=$ts0", "hist:keys=$ts0:kk=$ts0+1",
		"hist:keys=next_pid,$ts0+1:kk=$ts0+1", "hist:keys=$who:kk=$who",
	};
	struct tacho_cmd_error e = { .err = 0 };
	struct tacho_hist *h;

	must(WAKE, "hist:keys=pid:ts0=common_timestamp,k=4,q=0,who=comm");
	/* by this key, as far as the other's goes; a constant is waited for too */
	h = must(SWITCH, "hist:keys=next_pid,prev_pid:x=$ts0+1,y=$k");
	run(5, 50);
	CHECK_EQ(entries(h), 0);
	wake(5, 100);
	run(5, 200);
	CHECK_EQ(entries(h), 1);
	run(5, 300);
	CHECK_EQ(entries(h), 1);
	CHECK_EQ(tacho_map_hits(tacho_hist_map(h)), 1);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bad_keys); i++) {
		e.err = 0;
		CHECK(try_add(SWITCH, bad_keys[i], &h, &e) < 0);
		CHECK_STR(e.text, "Using variable references in keys not supported");
	}
	e.err = 0;
	CHECK_EQ(try_add(SWITCH, "hist:keys=next_pid:z=next_prio/$q", &h, &e), -EDOM);
	CHECK_STR(e.text, "Division by zero");
	e.err = 0;
	CHECK(try_add(WAKE, "hist:keys=pid:ts0=prio", &h, &e) < 0);
	CHECK_STR(e.text, "Variable already defined");
	/* of two events that have it, one must be said */
	must(MISC, "hist:keys=aa:ts0=common_timestamp");
	e.err = 0;
	CHECK(try_add(SWITCH, "hist:keys=next_pid:z=$ts0+1", &h, &e) < 0);
	CHECK(strstr(e.text, "Variable name not unique") != NULL);
	must(SWITCH, "hist:keys=next_pid:z=sys.wake.$ts0+1");
	/* onmatch says it */
	must(SWITCH, "hist:keys=next_pid:w=$ts0+1:onmatch(sys.wake).number($w)");
	forget();
}

/* ---- onmax, onchange, save, snapshot ---- */

static void test_onmax(void)
{
	struct tacho_hist *h = must(MISC, "hist:keys=ee:x=aa:"
		"onmax($x).save(bb,ss,name,common_cpu):onchange($x).number(aa)");
	const struct tacho_map *map = tacho_hist_map(h);
	static const uint64_t in[] = { 0, 5, 3, 5, 9, 9, 2 };
	struct tacho_hist_saved max, change;
	struct tacho_map_elt *e;
	uint64_t v;

	CHECK_EQ(tacho_hist_nr_saved(h), 2);
	max = tacho_hist_saved(h, 0);
	change = tacho_hist_saved(h, 1);
	CHECK_EQ(max.nr, 4);
	CHECK_EQ(change.nr, 4);	/* as the kernel prints it */
	CHECK_EQ(max.field[1].shape, TACHO_SHAPE_STRING);
	CHECK_STR(max.field[2].name, "name");
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(in); i++) {
		char name[16];

		misc(in[i]);
		tacho_put_u32(raw + 16, (uint32_t)i);
		snprintf(name, sizeof(name), "name-%zu", i);
		memcpy(raw + 32, "abcdefgh", 8);
		put_dynamic("name", name, 6);
		tacho_hist_hit(h, &rec);
	}
	CHECK_EQ(nr_made, 5);	/* 5 3 5 9 2; the first 0 is no change */
	CHECK_STR(made, "number n=2");
	e = only(h);
	if (CHECK(e != NULL)) {
		CHECK(tacho_map_var_get(map, e, max.var, &v) && v == 9);
		CHECK(tacho_map_var_get(map, e, change.var, &v) && v == 2);
		CHECK(tacho_map_var_get(map, e, max.field[0].offset, &v) && v == 4);
		CHECK_STR(tacho_map_text(map, e, max.field[1].offset), "abcdefg");
		CHECK_STR(tacho_map_text(map, e, max.field[2].offset), "name-4");
		CHECK(tacho_map_var_get(map, e, max.field[3].offset, &v) && v == 3);
	}
	CHECK_EQ(tacho_map_hits(map), 7);
	forget();
}

static void test_snapshot(void)
{
	struct tacho_hist *h = must(MISC,
		"hist:keys=common_pid.execname,ee:x=aa:onmax($x).snapshot()");
	static const struct {
		uint64_t e, a;
		int shots;
	} in[] = {
		{ 1, 5, 1 }, { 2, 4, 1 }, { 2, 6, 2 }, { 1, 6, 2 }, { 1, 7, 3 },
	};
	struct tacho_hist_saved s = tacho_hist_saved(h, 0);

	CHECK(!s.snapshot_key && s.nr == 0);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(in); i++) {
		misc(in[i].a);
		raw[23] = (unsigned char)in[i].e;
		tacho_hist_hit(h, &rec);
		CHECK_EQ(nr_snapshots, in[i].shots);
	}
	s = tacho_hist_saved(h, 0);
	if (CHECK(s.snapshot_key && s.snapshot_value)) {
		CHECK_EQ(*s.snapshot_value, 7);
		CHECK_EQ(tacho_load_u64(s.snapshot_key), 7);
		CHECK_EQ(tacho_load_u64((const char *)s.snapshot_key + 8), 1);
		CHECK_STR(s.snapshot_comm, "task-7");
	}
	forget();
}

/* Strings of all kinds into synthetic events; own variables that are strings. */
static void test_strings(void)
{
	must(MISC, "hist:keys=ee:w=common_pid.execname,n=name,s2=ss:"
	     "onmatch(sys.misc).strings($w,$n,$s2,ss)");
	misc(1);
	memcpy(raw + 32, "abcdefgh", 8);
	put_dynamic("name", "long name", 9);
	tacho_hist_hit(hists[0], &rec);
	CHECK_STR(made, "strings aa=task-7 bb=long name cc=abcdefgh dd=abcdefgh");
	forget();
}

/* ---- threads ---- */

#define THREADS	4
#define HITS	20000

struct worker {
	struct tacho_hist *h;
	uint64_t x, sum, max;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned char bytes[104] = { 0 };
	struct tacho_rec r = {
		.raw = bytes, .len = sizeof(bytes), .pid = 5, .names = &people,
	};

	for (int i = 0; i < HITS; i++) {
		uint64_t v;

		w->x = w->x * 6364136223846793005u + 1442695040888963407u;
		v = w->x >> 20;
		tacho_put_u64(bytes + 8, v);
		tacho_put_u32(bytes + 16, (uint32_t)v);
		memset(bytes + 32, 'a' + (int)(v % 26), 7);
		w->sum += v;
		w->max = v > w->max ? v : w->max;
		tacho_hist_hit(w->h, &r);
	}
	return NULL;
}

/* Sums and the maximum are exact, whoever else hits. */
static void test_threads(void)
{
	struct tacho_hist *h = must(MISC,
		"hist:keys=common_pid.execname:vals=aa:v=aa,t=ss:onmax($v).save(bb,ss)");
	const struct tacho_map *map = tacho_hist_map(h);
	struct worker w[THREADS];
	pthread_t t[THREADS];
	struct tacho_map_elt *e;
	uint64_t sum = 0, max = 0, v;

	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .h = h, .x = (uint64_t)i + 1 };
		pthread_create(&t[i], NULL, work, &w[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		sum += w[i].sum;
		max = w[i].max > max ? w[i].max : max;
	}
	e = only(h);
	if (CHECK(e != NULL)) {
		CHECK_EQ(tacho_map_hitcount(map, e), THREADS * HITS);
		CHECK_EQ(tacho_map_sum(map, e, 0), sum);
		CHECK(tacho_map_var_get(map, e, tacho_hist_saved(h, 0).var, &v) &&
		      v == max);
		CHECK_STR(tacho_map_text(map, e, tacho_hist_key(h, 0)->comm), "task-5");
	}
	forget();
}

/* ---- sameness ---- */

static struct tacho_hist_spec *spec_of(const char *text)
{
	struct tacho_hist_spec *spec = tacho_arena_alloc(&arena, sizeof(*spec));
	struct tacho_cmd_error e = { .err = 0 };

	CHECK_EQ(tacho_hist_spec_parse(spec, &arena, text, 0, &e), 0);
	return spec;
}

static void test_same(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} table[] = {
		{ "keys=aa", "keys=aa", true },
		{ "keys=aa", "keys=aa:vals=hitcount:sort=hitcount:size=256", true },
		{ "keys=aa if bb > 1", "keys=aa:pause", true },
		{ "keys=aa", "keys=aa,bb", false }, { "keys=aa", "keys=bb", false },
		{ "keys=aa", "keys=aa.hex", false },
		{ "keys=aa.buckets=2", "keys=aa.buckets=3", false },
		{ "keys=aa:vals=bb", "keys=aa:vals=hitcount,bb", true },
		{ "keys=aa:vals=bb", "keys=aa:vals=cc", false },
		{ "keys=aa:vals=bb", "keys=aa", false },
		{ "keys=aa:sort=aa", "keys=aa", false },
		{ "keys=aa:sort=aa.descending", "keys=aa:sort=aa", false },
		{ "keys=aa:sort=aa.ascending", "keys=aa:sort=aa", true },
		{ "keys=aa:name=x", "keys=aa:name=x", true },
		{ "keys=aa:name=x", "keys=aa", false },
		{ "keys=aa:x=bb", "keys=aa", false }, { "keys=aa:x=bb", "keys=aa:y=bb", false },
		{ "keys=aa:x=bb+1", "keys=aa:x=bb+2", false },
		{ "keys=aa:x=bb+1", "keys=aa:x=bb+1", true },
		{ "keys=aa:x=bb:onmax($x).save(cc)", "keys=aa:x=bb:onmax($x).save(cc)", true },
		{ "keys=aa:x=bb:onmax($x).save(cc)", "keys=aa:x=bb:onmax($x).save(dd)", false },
		{ "keys=aa:x=bb:onmax($x).save(cc)", "keys=aa:x=bb:onchange($x).save(cc)", false },
	};
	struct tacho_hist *h[4];
	char a[128], b[128];

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		snprintf(a, sizeof(a), "hist:%s", table[i].a);
		snprintf(b, sizeof(b), "hist:%s", table[i].b);
		test_check(tacho_hist_same(spec_of(a), spec_of(b)) == table[i].same,
			   __FILE__, __LINE__, "%s and %s", a, b);
	}
	h[0] = must(WAKE, "hist:keys=pid:vals=prio");
	h[1] = must(SWITCH, "hist:keys=next_pid:vals=next_prio");
	h[2] = must(SWITCH, "hist:keys=next_prio:vals=next_prio");
	h[3] = must(SWITCH, "hist:keys=prev_comm");
	CHECK(tacho_hist_compatible(h[0], h[1]) && tacho_hist_same_keys(h[0], h[1]));
	CHECK(!tacho_hist_compatible(h[1], h[2]));	/* pid_t is not int */
	CHECK(!tacho_hist_same_keys(h[0], h[3]));
	CHECK(!tacho_hist_same_keys(h[2], h[3]));
	forget();
}

static void set_up(void)
{
	static const char *const formats[NR_TYPES] = {
		wake_format, switch_format, misc_format,
	};
	static const char *const synth[] = {
		"latency u64 lat; pid_t pid; int prio", "lat u64 aa; int bb; int cc",
		"text char[16] t", "number u64 n", "who char[] aa; char[16] bb; long[] st",
		"strings char[] aa; char[] bb; char[8] cc; char[8] dd",
	};

	tacho_arena_init(&arena, 1 << 26);
	for (int i = 0; i < NR_TYPES; i++) {
		struct tacho_diag d = { .err = 0 };
		char text[4096];

		snprintf(text, sizeof(text), "name: %s\nID: %d\nformat:\n%s\n"
			 "print fmt: \"\"\n", names[i], i + 1, formats[i]);
		type[i] = tacho_type_parse(&arena, "sys", NULL, 0, text, strlen(text),
					   &d);
		if (!type[i]) {
			printf("Bail out! %s\n", d.text);
			exit(1);
		}
	}
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(synth); i++) {
		struct tacho_cmd_error e = { .err = 0 };

		synths[nr_synths] = tacho_synth_parse(&arena, synth[i], &e);
		if (!CHECK(synths[nr_synths] != NULL))
			exit(1);
		nr_synths++;
	}
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	set_up();
	TEST(test_number_keys());
	TEST(test_log2());
	TEST(test_string_keys());
	TEST(test_stack_keys());
	TEST(test_execname());
	TEST(test_values());
	TEST(test_full());
	TEST(test_expressions());
	TEST(test_errors());
	TEST(test_latency());
	TEST(test_hand_on());
	TEST(test_field_of_other());
	TEST(test_references());
	TEST(test_onmax());
	TEST(test_snapshot());
	TEST(test_strings());
	TEST(test_threads());
	TEST(test_same());
	tacho_arena_release(&arena);
	return test_done();
}
