// SPDX-License-Identifier: MIT
/* What output.h prints of events that no kernel at hand records. */
#include "base/text.h"
#include "compat/ftrace/output.h"
#include "tacho/abi/record.h"
#include "unit/test.h"

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FIELD(decl, offset, size) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

static struct tacho_arena arena;

static const struct tacho_type *type_of(const char *system, const char *name,
					const char *text)
{
	struct tacho_diag d;
	const struct tacho_type *type;

	type = tacho_type_parse(&arena, system, name, 5, text, strlen(text), &d);
	CHECK(type);
	return type;
}

static const char *symbol(void *arg, uint64_t addr, uint64_t *start)
{
	(void)arg;
	*start = 0xffffffff81000000;
	return addr >= *start && addr < *start + 0x100 ? "main [mod]" : NULL;
}

static uint64_t symbol_size(void *arg, uint64_t start)
{
	(void)arg;
	(void)start;
	return 0x100;
}

static const char *string(void *arg, uint64_t addr)
{
	return addr == 0x1000 ? arg : NULL;
}

static const char *comm(void *arg, int32_t pid)
{
	(void)arg;
	return pid == 7 ? "seven" : pid == 8 ? "a name of more than sixteen" : NULL;
}

static struct tacho_output_config config_of(const char *text)
{
	struct tacho_output_config config = {
		.options = TACHO_OUTPUT_DEFAULTS,
		.names = { .comm = comm },
		.env = { .arg = (void *)(uintptr_t)text, .symbol = symbol,
			 .symbol_size = symbol_size, .string = string },
		.in_ns = true,
		.hash_key = { 1, 2 },
	};

	return config;
}

/* One record's text; borrowed until the next call. */
static const char *text_of(const struct tacho_output_config *config,
			   struct tacho_record *r)
{
	static char text[4096];
	struct tacho_output *o = tacho_output_new(config);
	struct tacho_buf out;

	tacho_buf_init(&out, sizeof(text) - 1);
	tacho_output_put(o, r, r->ticks, &out);
	CHECK_EQ(tacho_buf_error(&out), 0);
	snprintf(text, sizeof(text), "%.*s", (int)out.len, out.data);
	tacho_buf_release(&out);
	tacho_output_free(o);
	return text;
}

static struct tacho_record record_of(const struct tacho_type *type, void *raw,
				     uint32_t len)
{
	struct tacho_common common = { .type = 5, .pid = 7 };
	struct tacho_record r = {
		.type = type, .raw = raw, .len = len, .pid = 7,
		.ticks = 4713025312499,
	};

	memcpy(raw, &common, sizeof(common));
	return r;
}

/* ---- trace_printk() ------------------------------------------------------------ */

#define BPRINT_FORMAT COMMON FIELD("unsigned long ip", 8, 8) \
	FIELD("const char * fmt", 16, 8) \
	FIELD("__data_loc u32[] buf", 24, 4) \
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n"

/* Packs arguments as the kernel's vbin_printf() does. */
struct packer {
	unsigned char raw[28 + 256];
	size_t n;
};

static void pack(struct packer *p, const void *v, size_t size, size_t align)
{
	p->n = (p->n + align - 1) & ~(align - 1);
	memcpy(p->raw + 28 + p->n, v, size);
	p->n += size;
}

static const char *bprint(const char *fmt, struct packer *p, bool message_only)
{
	const struct tacho_type *type = type_of("ftrace", "bprint", BPRINT_FORMAT);
	struct tacho_output_config config = config_of(fmt);
	struct tacho_record r = record_of(type, p->raw, (uint32_t)(28 + p->n));
	uint64_t ip = 0xffffffff81000010, at = 0x1000;
	uint32_t loc = 28 | (uint32_t)p->n << 16;

	memcpy(p->raw + 8, &ip, 8);
	memcpy(p->raw + 16, &at, 8);
	memcpy(p->raw + 24, &loc, 4);
	config.options.printk_msg_only = message_only;
	config.options.context_info = false;
	return text_of(&config, &r);
}

static void test_bprint(void)
{
	const int32_t number = -5, width = 6;
	const uint64_t wide = 0x123456789a, addr = 0xffffffff81000010;
	const char letter = 'x';
	const int16_t small = -2;
	struct packer p = { .n = 0 };

	CHECK_STR(bprint("none\n", &p, false), "main: none\n");
	pack(&p, &number, 4, 4);
	pack(&p, "text", 5, 1);
	pack(&p, &wide, 8, 4);
	CHECK_STR(bprint("%d|%-6s|%llx%%\n", &p, true),
		  "-5|text  |123456789a%\n");
	p.n = 0;
	pack(&p, &letter, 1, 1);
	pack(&p, &small, 2, 2);
	pack(&p, &width, 4, 4);
	pack(&p, &number, 4, 4);
	CHECK_STR(bprint("%c %hd %*d.\n", &p, true), "x -2     -5.\n");
	p.n = 0;
	pack(&p, &addr, 8, 4);
	pack(&p, &addr, 8, 4);
	pack(&p, "10.0.0.1", 9, 1);
	pack(&p, &addr, 8, 4);
	CHECK_STR(bprint("%pS %ps %pI4 %px\n", &p, true),
		  "main+0x10/0x100 [mod] main [mod] 10.0.0.1 ffffffff81000010\n");
	/* arguments that are not there are 0 and "" */
	p.n = 0;
	CHECK_STR(bprint("%d %s %#lx %.3s\n", &p, true), "0  0x0 \n");
}

static void test_unknown_format(void)
{
	const struct tacho_type *type = type_of("ftrace", "bputs",
		COMMON FIELD("unsigned long ip", 8, 8)
		FIELD("const char * str", 16, 8)
		"\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->str\n");
	struct tacho_output_config config = config_of("put\n");
	uint64_t raw[3] = { 0, 0xffffffff81000020, 0x1000 };
	struct tacho_record r = record_of(type, raw, sizeof(raw));

	config.options.context_info = false;
	CHECK_STR(text_of(&config, &r), "main: put\n");
	config.options.sym_offset = config.options.sym_addr = true;
	CHECK_STR(text_of(&config, &r),
		  "main+0x20/0x100 [mod] <ffffffff81000020>: put\n");
	config.options.raw = true;
	CHECK_STR(text_of(&config, &r), ": ffffffff81000020 : put\n");
	raw[2] = 0x2000;
	CHECK_STR(text_of(&config, &r), ": ffffffff81000020 : 0x2000\n");
}

/* ---- the context ----------------------------------------------------------------- */

static const struct tacho_type *plain_type(void)
{
	return type_of("demo", "tick", COMMON FIELD("void * p", 8, 8)
		       "\nprint fmt: \"p=%p\", REC->p\n");
}

static void test_context(void)
{
	struct tacho_output_config config = config_of("");
	uint64_t raw[2] = { 0, 0 };
	struct tacho_record r = record_of(plain_type(), raw, sizeof(raw));

	CHECK_STR(text_of(&config, &r), "           seven-7       [000] ..... "
		  " 4713.025312: tick: p=0000000000000000\n");
	r.pid = 8;
	r.cpu = 1023;
	r.ticks++;
	CHECK_STR(text_of(&config, &r), " a name of more -8       [1023] ..... "
		  " 4713.025313: tick: p=0000000000000000\n");
	r.pid = 0;
	config.in_ns = false;
	((unsigned char *)raw)[2] = 0x1 | 0x4 | 0x10;
	((unsigned char *)raw)[3] = 0x21;
	CHECK_STR(text_of(&config, &r), "          <idle>-0       [1023] dns12 "
		  "4713025312500: tick: p=0000000000000000\n");
	r.pid = 4194304;
	r.ticks = 99;
	config.options.irq_info = false;
	config.options.record_tgid = true;
	CHECK_STR(text_of(&config, &r), "           <...>-4194304 (-------) "
		  "[1023]            99: tick: p=0000000000000000\n");
}

static void test_lost(void)
{
	struct tacho_output_config config = config_of("");
	uint64_t raw[2] = { 0, 0 };
	struct tacho_record r = record_of(plain_type(), raw, sizeof(raw));

	config.options.context_info = false;
	r.cpu = 3;
	r.lost = 12;
	CHECK_STR(text_of(&config, &r),
		  "CPU:3 [LOST 12 EVENTS]\ntick: p=0000000000000000\n");
	config.options.raw = true;
	r.lost = UINT64_MAX;
	CHECK_STR(text_of(&config, &r), "CPU:3 [LOST EVENTS]\ntype: 5\n");
}

static void test_clock(void)
{
	/* 2 ticks a microsecond; the clock shows 10 s more */
	struct tacho_clock_map clock;
	struct tacho_output_config config = config_of("");
	uint64_t raw[2] = { 0, 0 };
	struct tacho_record r = record_of(plain_type(), raw, sizeof(raw));

	tacho_clock_map_init(&clock, 2000000, 0, 10 * TACHO_NS_PER_S);
	config.clock = &clock;
	r.ticks = 3000001;
	CHECK(strstr(text_of(&config, &r), "[000] .....    11.500001: tick"));
}

/* ---- hash-ptr -------------------------------------------------------------------- */

/* The eighth of the vectors that came with SipHash. */
static void test_siphash(void)
{
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

	CHECK(tacho_siphash_u64(key, key[0]) == 0x93f5f5799a932462);
}

static void test_pointers(void)
{
	struct tacho_output_config config = config_of("");
	uint64_t raw[2] = { 0, 0xffff888100ce2e00 };
	struct tacho_record r = record_of(plain_type(), raw, sizeof(raw));
	char once[256];

	config.options.context_info = false;
	config.options.hash_ptr = false;
	CHECK_STR(text_of(&config, &r), "tick: p=ffff888100ce2e00\n");
	config.options.hash_ptr = true;
	snprintf(once, sizeof(once), "%s", text_of(&config, &r));
	CHECK(!strncmp(once, "tick: p=00000000", 16));
	CHECK(strcmp(once, "tick: p=0000000000000000\n"));
	CHECK(!strstr(once, "00ce2e00"));
	CHECK_STR(text_of(&config, &r), once);
	config.hash_key[1]++;
	CHECK(strcmp(text_of(&config, &r), once));
	/* an error is no address */
	raw[1] = (uint64_t)-2;
	CHECK_STR(text_of(&config, &r), "tick: p=fffffffffffffffe\n");
}

/* ---- damaged records ------------------------------------------------------------- */

static void test_short(void)
{
	static const char *const names[] = {
		"print", "bprint", "bputs", "raw_data", "kernel_stack",
		"user_stack", "function", "func_repeats", "context_switch",
		"wakeup", "hwlat", "osnoise", "timerlat", "other",
	};
	struct tacho_output_config config = config_of("%s %d %pS\n");
	uint64_t raw[4] = { 0, 0x1000, 0x1000, UINT64_MAX };

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++) {
		const struct tacho_type *type =
			type_of("ftrace", names[i], BPRINT_FORMAT);

		for (uint32_t len = 8; len <= sizeof(raw); len++)
			for (int mode = 0; mode < 16; mode++) {
				struct tacho_record r = record_of(type, raw, len);

				config.options.raw = mode & 1;
				config.options.hex = mode & 2;
				config.options.bin = mode & 4;
				config.options.fields = mode & 8;
				CHECK(text_of(&config, &r));
			}
	}
}

static void test_options(void)
{
	struct tacho_output_options options = TACHO_OUTPUT_DEFAULTS;

	CHECK(tacho_output_option(&options, "sym-addr") == &options.sym_addr);
	CHECK(*tacho_output_option(&options, "context-info"));
	CHECK(!tacho_output_option(&options, "stacktrace"));
	CHECK(!tacho_output_option(&options, ""));
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tacho_arena_init(&arena, (size_t)1 << 26);
	TEST(test_bprint());
	TEST(test_unknown_format());
	TEST(test_context());
	TEST(test_lost());
	TEST(test_clock());
	TEST(test_siphash());
	TEST(test_pointers());
	TEST(test_short());
	TEST(test_options());
	tacho_arena_release(&arena);
	return test_done();
}
