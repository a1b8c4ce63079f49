// SPDX-License-Identifier: MIT
/*
 * Event probes: what kernel 6.12 made of their definitions, and said about wrong ones; and
 * the records that they make.
 */
#include "unit/test.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/engine.h"
#include "engine/eprobe.h"
#include "engine/names.h"
#include "event/print.h"

static const char switch_format[] =
	TACHO_COMMON_FIELDS
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] more;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static struct tacho_arena arena;
static const struct tacho_type *base;

static struct tacho_eprobe *parse(const char *text, struct tacho_cmd_error *e)
{
	*e = (struct tacho_cmd_error){ 0 };
	return tacho_eprobe_parse(&arena, "grp", "ev", text, base, e);
}

/* ---- formats ---- */

static const struct {
	const char *text, *fields, *print;
} formats[] = {
	{ "sched.sched_switch", "", "\"\"" },
	{ "sched.sched_switch $next_pid $next_comm:string",
	  "u64 arg1 8 8 0;__data_loc char[] arg2 16 4 1;",
	  "\" arg1=0x%Lx arg2=\\\"%s\\\"\", REC->arg1, __get_str(arg2)" },
	{ "sched/sched_switch pid=$next_pid comm=$next_comm prio=$next_prio:s16",
	  "u64 pid 8 8 0;u64 comm 16 8 0;s16 prio 24 2 1;",
	  "\" pid=0x%Lx comm=0x%Lx prio=%d\", REC->pid, REC->comm, REC->prio" },
	{ "sched.sched_switch a=$next_pid:u8 b=$next_pid:u16 c=$next_pid:u32 d=$next_pid:u64 "
	  "e=$next_pid:s8 f=$next_pid:s16 g=$next_pid:s32 h=$next_pid:s64 i=$next_pid:x8 "
	  "j=$next_pid:x16 k=$next_pid:x32 l=$next_pid:x64 m=$next_prio:char n=$prev_state "
	  "q=$prev_pid:symbol",
	  "u8 a 8 1 0;u16 b 9 2 0;u32 c 11 4 0;u64 d 15 8 0;s8 e 23 1 1;s16 f 24 2 1;"
	  "s32 g 26 4 1;s64 h 30 8 1;u8 i 38 1 0;u16 j 39 2 0;u32 k 41 4 0;u64 l 45 8 0;"
	  "u8 m 53 1 0;u64 n 54 8 0;u64 q 62 8 0;",
	  "\" a=%u b=%u c=%u d=%Lu e=%d f=%d g=%d h=%Ld i=0x%x j=0x%x k=0x%x l=0x%Lx m='%c' "
	  "n=0x%Lx q=%pS\", REC->a, REC->b, REC->c, REC->d, REC->e, REC->f, REC->g, REC->h, "
	  "REC->i, REC->j, REC->k, REC->l, REC->m, REC->n, REC->q" },
	{ "sched.sched_switch bb=$next_pid:b3@1/16 bc=$next_pid:b3@1/8 bd=$next_pid:b3@1/64",
	  "u16 bb 8 2 0;u8 bc 10 1 0;u64 bd 11 8 0;",
	  "\" bb=%u bc=%u bd=%Lu\", REC->bb, REC->bc, REC->bd" },
	{ "sched.sched_switch c=\\10:u8 d=\\-5:s64 e=\\0x10 if next_pid > 3",
	  "u8 c 8 1 0;s64 d 9 8 1;u64 e 17 8 0;",
	  "\" c=%u d=%Ld e=0x%Lx\", REC->c, REC->d, REC->e" },
	{ "sched.sched_switch c=$COMM:string d=\\\"hi\":string e=+0($next_comm):string "
	  "f=+0($next_comm):u8 g=$comm",
	  "__data_loc char[] c 8 4 1;__data_loc char[] d 12 4 1;__data_loc char[] e 16 4 1;"
	  "u8 f 20 1 0;u64 g 21 8 0;",
	  "\" c=\\\"%s\\\" d=\\\"%s\\\" e=\\\"%s\\\" f=%u g=0x%Lx\", __get_str(c), "
	  "__get_str(d), __get_str(e), REC->f, REC->g" },
};

static void test_formats(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(formats); i++) {
		struct tacho_cmd_error e;
		struct tacho_eprobe *ep = parse(formats[i].text, &e);
		struct tacho_buf b;

		if (!CHECK(ep != NULL)) {
			printf("# %s: %s\n", formats[i].text, e.text);
			continue;
		}
		tacho_buf_init(&b, 1 << 16);
		for (uint32_t k = ep->type->nr_common; k < ep->type->nr_fields; k++) {
			const struct tacho_field *f = &ep->type->fields[k];

			tacho_buf_printf(&b, "%s %u %u %d;", f->decl, f->offset, f->size,
					 !!(f->flags & TACHO_FIELD_SIGNED));
		}
		CHECK_STR(tacho_buf_str(&b), formats[i].fields);
		CHECK_STR(ep->type->print_fmt, formats[i].print);
		tacho_buf_release(&b);
	}
}

/* ---- errors: of what can only be seen with the event ---- */

static const struct {
	const char *text, *at, *why;
} wrong[] = {
	{ "sched.sched_switch pid=$nosuch", "$nosuch", "Invalid $-variable specified" },
	{ "sched.sched_switch p=$common_pid", "$common", "Invalid $-variable specified" },
	{ "sched.sched_switch pid=$", "$", "Invalid $-variable specified" },
	{ "sched.sched_switch pid=$next_pid:foo", "foo", "Unknown type is specified" },
	{ "sched.sched_switch c=$next_pid:b3@20/16", "b3", "Invalid bitfield" },
	{ "sched.sched_switch c=$next_pid:b3", "b3", "Unknown type is specified" },
	{ "sched.sched_switch a=$next_pid a=$prev_pid", "a=$prev",
	  "This argument name is already used" },
	{ "sched.sched_switch common_pid=$next_pid", "common",
	  "This argument name is already used" },
	{ "sched.sched_switch $next_pid $next_pid arg1=$next_pid", "arg1",
	  "This argument name is already used" },
	{ "sched.sched_switch arg2=$next_pid $next_pid", "$next_pid $", NULL },
	{ "sched.sched_switch p=$next_pid:u8[4]", "u8", "String accepts only memory argument" },
	{ "sched.sched_switch c=$COMM:symstr", "symstr",
	  "Symbol String doesn't accept data/userdata" },
	{ "sched.sched_switch c=\\abc", "abc", "Invalid immediate value" },
	{ "sched.sched_switch c=+0($nosuch):u8", "$nosuch", "Invalid $-variable specified" },
	{ "sched.sched_switch c=%ax", "%ax", "Invalid fetch argument" },
	{ "sched.sched_switch c=+0($comm):u8", "$comm", "$comm can not be dereferenced" },
	{ "sched.sched_switch a=$next_pid if", "", "No filter rule after 'if'" },
	/* ours: the record is looked at when memory has changed */
	{ "sched.sched_switch c=+0($next_pid):u8", "+0", "Memory can only be fetched as a string" },
	{ "sched.sched_switch c=+0(+8($next_pid)):string", "+8",
	  "Only the kernel can fetch memory at a fetched address" },
	{ "sched.sched_switch c=@jiffies", "@",
	  "Memory at an address can only be fetched by the kernel" },
	{ "sched.sched_switch c=+0($next_comm):u8[2]", "u8",
	  "An array can only be fetched by the kernel" },
};

static void test_errors(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(wrong); i++) {
		const char *text = wrong[i].text, *at = strstr(text, wrong[i].at);
		struct tacho_cmd_error e;

		if (!wrong[i].why) {
			CHECK(parse(text, &e) == NULL);
			CHECK_EQ(e.column, strrchr(text, '$') - text);
			continue;
		}
		if (!*wrong[i].at)
			at = text + strlen(text);
		CHECK(parse(text, &e) == NULL);
		CHECK_EQ(e.err, -EINVAL);
		CHECK_STR(e.text, wrong[i].why);
		if (!CHECK_EQ(e.column, at - text))
			printf("# %s\n", text);
	}
}

static void test_list(void)
{
	struct tacho_buf b;

	tacho_buf_init(&b, 4096);
	tacho_eprobe_print("sched/sched_switch  $a  b=$c:u8\t$d if x > 3", &b);
	CHECK_STR(tacho_buf_str(&b), "sched.sched_switch arg1=$a b=$c:u8 arg3=$d");
	tacho_buf_release(&b);
}

/* ---- records ---- */

static bool some_comm(void *arg, int32_t pid, char comm[16])
{
	(void)arg;
	memset(comm, 0, 16);
	memcpy(comm, "me", 3);
	return pid == 7;
}

static long some_string(void *arg, int32_t pid, uint64_t addr, char *to, size_t size)
{
	(void)arg;
	if (pid != 7 || addr != 103 || size < 5)
		return -1;
	memcpy(to, "there", 5);
	return 5;
}

static const struct tacho_names names = { .comm = some_comm, .user_string = some_string };

static struct tacho_rec make_rec(unsigned char raw[80])
{
	memset(raw, 0, 80);
	tacho_put_u32(raw + 4, 7);
	raw[2] = 3;
	memcpy(raw + 40, "next", 4);
	tacho_put_u64(raw + 32, (uint64_t)-2);
	tacho_put_u32(raw + 24, 100);
	tacho_put_u32(raw + 56, 0xfffffe48);	/* -440 */
	tacho_put_u32(raw + 60, 'x');
	tacho_put_u32(raw + 64, 68 | 5 << 16);
	memcpy(raw + 68, "more", 5);
	return (struct tacho_rec){ .raw = raw, .len = 80, .pid = 7, .names = &names };
}

static void check_record(const char *text, const char *printed)
{
	_Alignas(8) unsigned char in[80], raw[TACHO_EPROBE_RAW_MAX];
	struct tacho_rec rec = make_rec(in);
	struct tacho_cmd_error e;
	struct tacho_eprobe *ep = parse(text, &e);
	struct tacho_buf b;
	uint32_t len;

	if (!CHECK(ep != NULL))
		return;
	len = tacho_eprobe_raw(ep, &rec, raw, ep->most);
	CHECK(len >= ep->fixed_size && len <= ep->most);
	CHECK_EQ(raw[2], 3);
	tacho_buf_init(&b, 1 << 16);
	tacho_print_run(ep->type, raw, len, &(struct tacho_print_env){ 0 }, &b);
	CHECK_STR(tacho_buf_str(&b), printed);
	tacho_buf_release(&b);
}

static void test_records(void)
{
	check_record("s.e a=$next_pid:u8 b=$next_pid:s16 c=$next_pid d=$next_pid:u32",
		     " a=72 b=-440 c=0xfffffffffffffe48 d=4294966856");
	check_record("s.e a=$prev_state:s8 b=$next_prio:char c=$next_comm d=$prev_pid:x16",
		     " a=-2 b='x' c=0x0 d=0x64");
	check_record("s.e a=$prev_pid:b3@2/32 b=$prev_pid:b7@0/8 c=$prev_pid:b64@0/64",
		     " a=1 b=100 c=100");
	check_record("s.e a=$next_comm:string b=$more:string c=$COMM:string d=\\\"hi\":string",
		     " a=\"next\" b=\"more\" c=\"me\" d=\"hi\"");
	check_record("s.e a=+1($next_comm):string b=+2($more):u8 c=+200($more):u16 "
		     "d=+3($prev_pid):ustring e=$prev_pid:string",
		     " a=\"ext\" b=114 c=0 d=\"there\" e=\"(fault)\"");
	check_record("s.e a=\\5 b=\\-1:s32 c=$comm", " a=0x5 b=-1 c=0x0");
	check_record("s.e", "");
}

/* A record that is too short, and one of any bytes: what there is comes, and no more. */
static void test_short(void)
{
	_Alignas(8) unsigned char in[80], raw[TACHO_EPROBE_RAW_MAX];
	struct tacho_rec rec = make_rec(in);
	struct tacho_cmd_error e;
	struct tacho_eprobe *ep = parse("s.e a=$next_pid b=$more:string c=$next_comm:string "
					"d=+1($next_comm):u64", &e);

	if (!CHECK(ep != NULL))
		return;
	for (rec.len = 0; rec.len <= 80; rec.len++)
		CHECK_EQ(tacho_eprobe_raw(ep, &rec, raw, ep->most) > 0, rec.len >= 8);
	memset(in, 0xff, sizeof(in));
	CHECK(tacho_eprobe_raw(ep, &rec, raw, ep->most) > 0);
	CHECK_EQ(tacho_eprobe_raw(ep, &rec, raw, ep->fixed_size - 1), 0);
	CHECK_EQ(tacho_eprobe_raw(ep, &rec, raw, ep->fixed_size), ep->fixed_size);
}

/* In memory of any size: the same, or no memory. */
static void test_memory(void)
{
	static unsigned char mem[1 << 16];
	const char *text = "s.e a=$next_pid:u8 b=$more:string if next_pid > 3";
	bool done = false;

	for (size_t size = 0; size < sizeof(mem) && !done; size += 64) {
		struct tacho_cmd_error e = { 0 };
		struct tacho_arena a;
		struct tacho_eprobe *ep;

		memset(mem, 0, sizeof(mem));
		tacho_arena_init_mem(&a, mem, size);
		ep = tacho_eprobe_parse(&a, "g", "n", text, base, &e);
		if (ep)
			CHECK_EQ(ep->fixed_size, 13);
		else
			CHECK_EQ(e.err, -ENOMEM);
		done = ep;
	}
	CHECK(done);
}

/* ---- in an engine ---- */

struct host {
	uint32_t emitted;
	uint64_t last;
};

static void emit(void *arg, const struct tacho_engine_event *event, const struct tacho_rec *rec)
{
	struct host *h = arg;

	(void)event;
	h->emitted++;
	h->last = tacho_load_u64(rec->raw + 8);
}

static void test_engine(void)
{
	_Alignas(8) unsigned char in[80];
	struct tacho_rec rec = make_rec(in);
	struct host h = { 0 };
	const struct tacho_engine_host host = { .arg = &h, .emit = emit };
	struct tacho_engine *engine = tacho_engine_new(&host, &names);
	struct tacho_engine_event *on = tacho_engine_add(engine, base), *ep;
	struct tacho_cmd_error e = { 0 };

	CHECK_EQ(tacho_engine_eprobe(engine, "g", "p", "sched.sched_switch a=$prev_pid "
				     "if next_prio > 5", on, &e), 0);
	CHECK_EQ(tacho_engine_eprobe(engine, "g", "p", "sched.sched_switch", on, &e), -EEXIST);
	ep = tacho_engine_find(engine, "g", "p");
	CHECK(ep && ep->generated);
	CHECK_EQ(tacho_engine_eprobe(engine, "g", "q", "g.p", ep, NULL), -ENODEV);
	CHECK(!tacho_engine_hit(engine, on, &rec));
	CHECK_EQ(h.emitted, 0);
	/* the base event is wanted, and not recorded */
	tacho_engine_enable(engine, ep, true);
	CHECK(on->soft == 1 && !on->enabled && tacho_engine_needs_record(on));
	CHECK(!tacho_engine_hit(engine, on, &rec));
	CHECK_EQ(h.emitted, 1);
	CHECK_EQ(h.last, 100);
	tacho_put_u32(in + 60, 4);
	CHECK(!tacho_engine_hit(engine, on, &rec));
	CHECK_EQ(h.emitted, 1);
	tacho_put_u32(in + 60, 6);
	CHECK_EQ(tacho_engine_filter(engine, ep, "a != 100", NULL), 0);
	tacho_engine_hit(engine, on, &rec);
	CHECK_EQ(h.emitted, 1);
	CHECK_EQ(tacho_engine_eprobe_remove(engine, "g", "p"), -EBUSY);
	/* a trigger on it keeps it, and its base event, wanted */
	CHECK_EQ(tacho_engine_trigger(engine, ep, "hist:keys=a", NULL), 0);
	tacho_engine_enable(engine, ep, false);
	CHECK_EQ(on->soft, 1);
	tacho_engine_hit(engine, on, &rec);
	CHECK_EQ(tacho_engine_eprobe_remove(engine, "g", "p"), -EBUSY);
	CHECK_EQ(tacho_engine_trigger(engine, ep, "!hist:keys=a", NULL), 0);
	CHECK(!on->soft && !tacho_engine_needs_record(on));
	CHECK_EQ(tacho_engine_eprobe_remove(engine, "g", "p"), 0);
	CHECK_EQ(tacho_engine_eprobe_remove(engine, "g", "p"), -ENOENT);
	/* of a synthetic event, which it keeps */
	CHECK_EQ(tacho_engine_synth(engine, "made u64 v", NULL), 0);
	CHECK_EQ(tacho_engine_eprobe(engine, "g", "s", "synthetic.made v=$v",
				     tacho_engine_find(engine, "synthetic", "made"), NULL), 0);
	CHECK_EQ(tacho_engine_synth(engine, "!made", NULL), -EBUSY);
	tacho_engine_enable(engine, tacho_engine_find(engine, "g", "s"), true);
	tacho_engine_make(engine, "made", &(struct tacho_synth_value){ .number = 44 }, &rec);
	CHECK(h.emitted == 2 && h.last == 44);
	tacho_engine_free(engine);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tacho_arena_init(&arena, (size_t)16 << 20);
	base = tacho_type_parse(&arena, "sched", "sched_switch", 5, switch_format,
				sizeof(switch_format) - 1, NULL);
	if (!CHECK(base != NULL))
		return test_done();
	TEST(test_formats());
	TEST(test_errors());
	TEST(test_list());
	TEST(test_records());
	TEST(test_short());
	TEST(test_memory());
	TEST(test_engine());
	tacho_arena_release(&arena);
	return test_done();
}
