// SPDX-License-Identifier: MIT
/* Every conversion and helper over bytes made by hand; what must be refused; hostile input. */
#include "test.h"

#include <errno.h>
#include <math.h>

#include "event_util.h"
#include "base/bytes.h"
#include "tacho/abi/record.h"

#define F(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char fields[] =
	"name: x\nID: 7\nformat:\n"
	F("unsigned short common_type", 0, 2, 0)
	F("unsigned char common_flags", 2, 1, 0)
	F("unsigned char common_preempt_count", 3, 1, 0)
	F("int common_pid", 4, 4, 1)
	"\n"
	F("u8 b", 8, 1, 0) F("s8 sb", 9, 1, 1)
	F("u16 h", 10, 2, 0) F("s16 sh", 12, 2, 1)
	F("u32 w", 16, 4, 0) F("int sw", 20, 4, 1)
	F("u64 l", 24, 8, 0) F("long sl", 32, 8, 1)
	F("void * ptr", 40, 8, 0) F("char comm[8]", 48, 8, 0)
	F("u32 arr[4]", 56, 16, 0) F("u8 ip4[4]", 72, 4, 0)
	F("u8 ip6[16]", 76, 16, 0) F("u8 mac[6]", 92, 6, 0)
	F("u8 uuid[16]", 98, 16, 0)
	F("__data_loc char[] str", 116, 4, 0)
	F("__data_loc u8[] bytes", 120, 4, 0)
	F("__data_loc cpumask_t mask", 124, 4, 0)
	F("__data_loc u8[] sa", 128, 4, 0)
	F("__rel_loc char[] rel", 132, 4, 0)
	F("int n", 136, 4, 1)
	F("__data_loc u64[] words", 140, 4, 0)
	F("bool yes", 144, 1, 0) F("u8 v4in6[16]", 148, 16, 0)
	F("struct foo s", 164, 4, 0)
	F("double d", 168, 8, 0) F("float fl", 176, 4, 0)
	F("float fv[2]", 180, 8, 0) F("__data_loc double[] dv", 188, 4, 0)
	F("double real", 192, 8, 1)
	F("__data_loc unsigned long[] stack", 200, 4, 0)
	"\nprint fmt: ";

static unsigned char raw[512];
static size_t raw_len = 204;

static void put_loc(size_t at, const void *p, size_t n, size_t base)
{
	memcpy(raw + raw_len, p, n);
	tacho_put_u32(raw + at, (uint32_t)(n << 16 | (raw_len - base)));
	raw_len += n;
}

static void put_real(size_t at, double v)
{
	memcpy(raw + at, &v, sizeof(v));
}

static void put_floats(size_t at, float a, float b, float c)
{
	const float v[3] = { a, b, c };

	memcpy(raw + at, v, sizeof(v));
}

static void make_raw(void)
{
	static const uint64_t stack[] = {
		0xffffffff81000010, 0xffffffffc0000008, 0x7fffffff, 0x1234,
		UINT64_MAX, 0xffffffff81000010,
	};
	static const double reals[3] = { 1e300, (double)INFINITY, -0.0 };
	static const unsigned char ip6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };
	static const uint64_t words[2] = { 5, 0x123456789abcdef };
	unsigned char sa[28] = { 10, 0, 0x1f, 0x90, 0, 0, 0, 9 };
	static const uint64_t mask = 0x80000000f1;

	memcpy(sa + 8, ip6, 16);
	sa[24] = 3;
	raw[8] = 0xfe;
	raw[9] = 0xfe;
	tacho_put_u16(raw + 10, 0xfffe);
	tacho_put_u16(raw + 12, 0xfffe);
	tacho_put_u32(raw + 16, 0xfffffffe);
	tacho_put_u32(raw + 20, 0xfffffffe);
	tacho_put_u64(raw + 24, 0xfffffffffffffffe);
	tacho_put_u64(raw + 32, 0xfffffffffffffffe);
	tacho_put_u64(raw + 40, 0xffffffff81000010);
	memcpy(raw + 48, "task", 4);
	for (uint32_t i = 0; i < 4; i++)
		tacho_put_u32(raw + 56 + i * 4, i * 10 + 1);
	memcpy(raw + 72, "\x7f\0\0\1", 4);
	memcpy(raw + 76, ip6, 16);
	for (unsigned int i = 0; i < 16; i++)
		raw[98 + i] = (unsigned char)(i * 17);
	memcpy(raw + 92, "\x02\x42\xac\x11\0\xff", 6);
	put_loc(116, "hello", 6, 0);
	put_loc(120, "\1\2\3A\xff", 5, 0);
	put_loc(124, &mask, 8, 0);
	put_loc(128, sa, 28, 0);
	put_loc(132, "rel", 4, 136);
	tacho_put_u32(raw + 136, 3);
	put_loc(140, words, 16, 0);
	raw[144] = 1;
	memcpy(raw + 158, "\xff\xff\1\2\3\4", 6);
	memcpy(raw + 164, "\1\2\3\4", 4);
	put_real(168, -0.1);
	put_floats(176, 0.25f, 1.5f, -2.0f);
	put_loc(188, reals, 24, 0);
	put_loc(200, stack, sizeof(stack), 0);
}

static const char *symbol(void *arg, uint64_t addr, uint64_t *start)
{
	(void)arg;
	*start = 0xffffffff81000000;
	if (addr - *start < 0x40)
		return "func";
	if (addr == 0xffffffffc0000008) {
		*start = 0xffffffffc0000000;
		return "other [mod]";
	}
	return NULL;
}

static uint64_t symbol_size(void *arg, uint64_t start)
{
	(void)arg;
	return start == 0xffffffff81000000 ? 0x40 : 0;
}

static const char *string(void *arg, uint64_t addr)
{
	(void)arg;
	return addr == 0xffffffff81000010 ? "kernel text" : NULL;
}

static const struct tacho_print_env env = {
	.symbol = symbol, .symbol_size = symbol_size, .string = string,
	.hz = 250,
};

static struct tacho_type *type_with(struct tacho_arena *a, const char *fmt,
				    size_t len)
{
	struct tacho_type *t;
	struct tacho_buf b;

	tacho_buf_init(&b, 64 << 20);
	tacho_buf_puts(&b, fields);
	tacho_buf_put(&b, fmt, len);
	t = type_of(a, b.data, b.len, NULL);
	tacho_buf_release(&b);
	return t;
}

static const struct {
	const char *fmt, *text;
} good[] = {
	/* integers, cut to what the conversion says, as in C */
	{ "\"%d %u %x\", REC->sw, REC->sw, REC->sw", "-2 4294967294 fffffffe" },
	{ "\"%d %u\", REC->w, REC->w", "-2 4294967294" },
	{ "\"%d %d %u\", REC->b, REC->sb, REC->sb", "254 -2 4294967294" },
	{ "\"%d %d %hu %hhu %hhd\", REC->h, REC->sh, REC->sh, REC->sw, REC->w",
	  "65534 -2 65534 254 -2" },
	{ "\"%ld %lu %llx\", REC->sl, REC->sl, REC->l",
	  "-2 18446744073709551614 fffffffffffffffe" },
	{ "\"%d\", REC->l", "-2" },
	{ "\"%ld %lu\", REC->sw, REC->w", "-2 4294967294" },
	{ "\"%lu\", (unsigned long)REC->sw", "18446744073709551614" },
	{ "\"%zu %zd %jd %td %Lu\", REC->l, REC->sl, REC->sl, REC->sl, REC->l",
	  "18446744073709551614 -2 -2 -2 18446744073709551614" },
	{ "\"%o %#o %#x %#X %X\", 8, 8, 255, 255, 255", "10 010 0xff 0XFF FF" },
	{ "\"%#x %#o\", 0, 0", "0x0 0" },
	{ "\"[%5d|%-5d|%05d|%+d|% d]\", 42, 42, 42, 42, 42",
	  "[   42|42   |00042|+42| 42]" },
	{ "\"[%5d|%-5d|%05d]\", -42, -42, -42", "[  -42|-42  |-0042]" },
	{ "\"[%08x|%#010x|%8.4x|%.3d]\", 0xab, 0xab, 0xab, 7",
	  "[000000ab|0x000000ab|    00ab|007]" },
	{ "\"[%*d|%-*d|%*d|%.*d]\", 4, 1, 4, 1, -4, 1, 3, 1",
	  "[   1|1   |1   |001]" },
	{ "\"%08lx %016llx\", REC->l, 1ULL",
	  "fffffffffffffffe 0000000000000001" },
	{ "\"%c%c%3c|%-3c|%%\", 'a', 66, 'c', 'd'", "aB  c|d  |%" },
	{ "\"%i\", 010", "8" },
	{ "\"%d\", REC->common_pid", "0" },
	{ "\"%d\", REC->yes", "1" },
	/* floating-point numbers */
	{ "\"%f %F %e %E\", REC->d, REC->d, REC->d, REC->d",
	  "-0.100000 -0.100000 -1.000000e-01 -1.000000E-01" },
	{ "\"%g %G %a %A %lf\", REC->d, REC->d, REC->d, REC->d, REC->d",
	  "-0.1 -0.1 -0x1.999999999999ap-4 -0X1.999999999999AP-4 -0.100000" },
	{ "\"[%8.2f|%-8.2f|%08.2f|%+.1f|% .0f|%#.0f|%.f]\", REC->d, REC->d, REC->d, REC->fl, REC->fl, REC->fl, REC->fl",
	  "[   -0.10|-0.10   |-0000.10|+0.2| 0|0.|0]" },
	{ "\"[%*.*f|%-*g|%*g|%.*f]\", 8, 3, REC->d, 6, REC->fl, -6, REC->fl, -1, REC->fl",
	  "[  -0.100|0.25  |0.25  |0.250000]" },
	{ "\"[%a|%10a|%010a|%-10a|%+010a]\", REC->fl, REC->fl, REC->fl, REC->fl, REC->fl",
	  "[0x1p-2|    0x1p-2|0x00001p-2|0x1p-2    |+0x0001p-2]" },
	{ "\"%f %F %05f %g\", __get_dynamic_array(dv)[1], __get_dynamic_array(dv)[1], __get_dynamic_array(dv)[1], __get_dynamic_array(dv)[2]",
	  "inf INF   inf -0" },
	{ "\"%g %g %g\", ((double *)__get_dynamic_array(dv))[0], REC->fv[REC->n - 2], REC->fv[0]",
	  "1e+300 -2 1.5" },
	{ "\"%g\", ((double *)__get_dynamic_array(dv))[REC->n]", "0" },
	{ "\"%.9g %.17g %.17g\", (float)REC->d, (double)(float)REC->d, (double)REC->d",
	  "-0.100000001 -0.10000000149011612 -0.10000000000000001" },
	{ "\"%g %g\", REC->n == 3 ? REC->fl : REC->d, REC->n == 1 ? REC->fl : REC->d",
	  "0.25 -0.1" },
	{ "\"%llx %x\", *(u64 *)&REC->d, *(u32 *)&REC->fl",
	  "bfb999999999999a 3e800000" },
	{ "\"%zu %zu %zu %zu\", sizeof(REC->fl), sizeof(REC->d), sizeof(double), sizeof(REC->fv)",
	  "4 8 8 8" },
	{ "\"%g\", ({ double x = REC->fl; x; })", "0.25" },
	/* strings */
	{ "\"%s|%8s|%-8s|%.2s|%6.2s|\", REC->comm, REC->comm, REC->comm, REC->comm, REC->comm",
	  "task|    task|task    |ta|    ta|" },
	{ "\"%s %.*s\", __get_str(str), 3, __get_str(str)", "hello hel" },
	{ "\"%.*s|\", -1, __get_str(str)", "hello|" },
	{ "\"%s\", __get_rel_str(rel)", "rel" },
	{ "\"%s\", REC->ptr", "kernel text" },
	{ "\"%s\", REC->l", "0xfffffffffffffffe" },
	{ "\"%s\", ((void *)0)", "(null)" },
	{ "\"%.*s|\", 0, REC->b == 1 ? __get_str(str) : ((void *)0)", "|" },
	{ "\"%s\", \"a\" \"b\\t\\x41\\101\\\"\"", "ab\tAA\"" },
	{ "\"a\" \"b%d\" \"c\", 1", "ab1c" },
	{ "\"%s%s\", REC->sw < 0 ? \"neg\" : \"pos\", REC->w > 0 ? \"P\" : \"N\"",
	  "negP" },
	{ "\"%5s|%-5s|\", REC->n ? \"x\" : \"y\", !REC->n ? \"x\" : \"y\"",
	  "    x|y    |" },
	{ "\"%s\", __get_str(str)[0] ? \"full\" : \"empty\"", "full" },
	{ "\"%s\", (char *)__get_str(str) + 1", "ello" },
	{ "\"%d\"\"\\n\", 1", "1" },
	{ "\"\"", "" },
	/* expressions: precedence, types, folding or not */
	{ "\"%d %d\", 1 + 2 * 3, (1 + 2) * 3", "7 9" },
	{ "\"%d\", REC->n + 2 * REC->n - 1", "8" },
	{ "\"%d %d %d\", 7 / REC->n, -7 / REC->n, -7 % REC->n", "2 -2 -1" },
	{ "\"%d %d\", 7 / (REC->n - 3), 7 % (REC->n - 3)", "0 0" },
	{ "\"%d\", 1 << 4 | 1 << 2 & 7 ^ 3", "23" },
	{ "\"%x\", ~REC->n & 0xff", "fc" },
	{ "\"%d %d\", REC->sw >> 1, REC->w >> 31", "-1 1" },
	{ "\"%d\", REC->sw < 1u", "0" },
	{ "\"%d %d\", REC->sw < 1, REC->sl < 1", "1 1" },
	{ "\"%d\", REC->sl < 1ul", "0" },
	{ "\"%d\", REC->sb < 1u", "0" },
	{ "\"%llu\", REC->w + 2", "0" },
	{ "\"%llu\", REC->w + 2ULL", "4294967296" },
	{ "\"%llu\", (u64)REC->w << 32 | REC->w", "18446744069414584318" },
	{ "\"%llu\", (((u64)(REC)->w << 32) | (REC)->n)",
	  "18446744065119617027" },
	{ "\"%u\", REC->w << 31", "0" },
	{ "\"%d\", (s8)REC->w", "-2" },
	{ "\"%d %d\", (u8)300, (bool)256", "44 1" },
	{ "\"%d %d\", REC->n && REC->w, !REC->n || !REC->w", "1 0" },
	{ "\"%d %d\", REC->n == 3, REC->n != 3", "1 0" },
	{ "\"%d %d %d %d\", REC->n <= 3, REC->n >= 4, REC->n < 4, REC->n > 2",
	  "1 0 1 1" },
	{ "\"%d\", REC->n == 1 ? 10 : REC->n == 3 ? 30 : 20", "30" },
	{ "\"%ld\", REC->n ? -1 : 5UL", "-1" },
	{ "\"%u %u %d\", REC->arr[1], REC->arr[REC->n], REC->arr[REC->n + 1]",
	  "11 31 0" },
	{ "\"%d\", *(u16 *)__get_dynamic_array(bytes)", "513" },
	{ "\"%d\", ((u8 *)__get_dynamic_array(bytes))[REC->n]", "65" },
	{ "\"%lu\", ((u64 *)__get_dynamic_array(words))[1]",
	  "81985529216486895" },
	{ "\"%zu %zu %zu %zu\", sizeof(u64), sizeof(unsigned int), sizeof(REC->arr), sizeof(REC->h)",
	  "8 4 16 2" },
	{ "\"%d\", ({ int x = (REC->n); int y = (2); x < y ? x : y; })", "2" },
	{ "\"%lx\", (unsigned long)REC->ptr", "ffffffff81000010" },
	{ "\"%lx\", ( weird_t)REC->n", "3" },
	{ "\"%d,%d\", ((unsigned int) ((REC->w) >> 20)), ((unsigned int) ((REC->w) & ((1U << 20) - 1)))",
	  "4095,1048574" },
	{ "\"%u:%u\", MAJOR(0x800001), MINOR(0x800001)", "8:1" },
	{ "\"%d\", __builtin_expect(!!(REC->n), 0)", "1" },
	{ "\"%x %x\", ntohs(0x1234), ntohl(REC->n)", "3412 3000000" },
	{ "\"%d\", 0 && not_known", "0" },
	/* helpers */
	{ "\"%s\", __print_flags(REC->n, \"|\", { 1, \"A\" }, { 2, \"B\" })",
	  "A|B" },
	{ "\"%s\", __print_flags(REC->b, \", \", { 2, \"B\" }, { 4, \"C\" })",
	  "B, C, 0xf8" },
	{ "\"%s|\", __print_flags(REC->n - 3, \"|\", { 0, \"Z\" })", "|" },
	{ "\"%s\", __print_flags(REC->n, \"\", { 1UL << 0, \"A\" }, { 2, \"B\" })",
	  "AB" },
	{ "\"%s\", __print_flags(REC->n, \"|\", { 1, \"A\" }, { -1, ((void *)0) }, { 2, \"B\" })",
	  "A|0x2" },
	{ "\"%s\", __print_flags(REC->n, \"|\", { NOT_KNOWN, \"A\" }, { 2, \"B\" })",
	  "B|0x1" },
	{ "\"%s\", __print_flags(REC->sw, \"|\", { 1, \"A\" })",
	  "0xfffffffffffffffe" },
	{ "\"%s\", __print_flags_u64(REC->l, \"|\", { 1, \"A\" })",
	  "0xfffffffffffffffe" },
	{ "\"%s\", REC->n & 4 ? __print_flags(REC->n, \"|\", { 1, \"A\" }) : \"R\"",
	  "R" },
	{ "\"%s\", __print_symbolic(REC->n, { 1, \"a\" }, { 3, \"c\" })", "c" },
	{ "\"%s\", __print_symbolic(REC->b, { 1, \"a\" }, { 3, \"c\" })", "0xfe" },
	{ "\"%s\", __print_symbolic(REC->n, { 3, \"x\" }, { 3, \"y\" })", "x" },
	{ "\"%s\", __print_symbolic(REC->n, { 3, \"\" })", "0x3" },
	{ "\"%s\", __print_symbolic(REC->n, { })", "0x3" },
	{ "\"%s\", __print_symbolic(REC->sw, { -2, \"minus two\" })", "minus two" },
	{ "\"%s\", __print_symbolic_u64(REC->l, { -2ULL, \"big\" })", "big" },
	{ "\"%s\", __print_symbolic(REC->b, { 0, \"0\" }, { 1, \"1\" }, { 2, \"2\" }, "
	  "{ 3, \"3\" }, { 9, \"9\" }, { 10, \"10\" }, { 100, \"100\" }, "
	  "{ 200, \"200\" }, { 254, \"254\" }, { 255, \"255\" })", "254" },
	{ "\"[%7s]\", __print_symbolic(REC->n, { 3, \"c\" })", "[      c]" },
	{ "\"%s\", __print_hex(__get_dynamic_array(bytes), 3)", "01 02 03" },
	{ "\"%s\", __print_hex_str(REC->mac, 6)", "0242ac1100ff" },
	{ "\"%s|\", __print_hex(REC->mac, -1)", "|" },
	{ "\"%s\", __print_hex(REC->mac, 100)", "02 42 ac 11 00 ff" },
	{ "\"%s\", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / sizeof(u64), sizeof(u64))",
	  "{0x5,0x123456789abcdef}" },
	{ "\"%s\", __print_array(REC->arr, 2, 4)", "{0x1,0xb}" },
	{ "\"%s\", __print_array(REC->arr, 0, 4)", "{}" },
	{ "\"%s\", __print_array(REC->mac, 3, 3)",
	  "{BAD SIZE:3 0x2,0x42,0xac,0x11,0x0,0xff}" },
	{ "\"%s\", __print_dynamic_array(bytes, 1)", "{0x1,0x2,0x3,0x41,0xff}" },
	{ "\"%s\", __print_hex_dump(\"p: \", 2, 16, 1, __get_dynamic_array(bytes), __get_dynamic_array_len(bytes), 1)",
	  "\np: 00000000: 01 02 03 41 ff                                   ...A." },
	{ "\"%s\", __get_bitmask(mask)", "00000080,000000f1" },
	{ "\"%s\", __get_cpumask(mask)", "00000080,000000f1" },
	{ "\"%d %d\", __get_dynamic_array_len(str), __get_rel_dynamic_array_len(rel)",
	  "6 4" },
	{ "\"%llu.%09u\", __print_ns_to_secs(REC->l), __print_ns_without_secs(REC->l)",
	  "18446744073.709551614" },
	{ "\"%u\", jiffies_to_msecs(REC->n)", "12" },
	{ "\"at:\n%s\", __get_stacktrace(stack)",
	  "at:\n => func\n => other\n => [FTRACE TRAMPOLINE]\n => 0x00001234" },
	{ "\"%s|\", __get_stacktrace(words)", " => 0x00000005\n => 0x123456789abcdef\n|" },
	/* %p and its kin */
	{ "\"%p %px %pK %#px\", REC->ptr, REC->ptr, (void *)REC->n, REC->ptr",
	  "ffffffff81000010 ffffffff81000010 0000000000000003 0xffffffff81000010" },
	{ "\"%p\", (((struct page *)vmemmap_base) + (REC->l))",
	  "(____ptrval____)" },
	{ "\"%pS %ps %pF %pf\", REC->ptr, REC->ptr, REC->ptr, REC->ptr",
	  "func+0x10/0x40 func func+0x10/0x40 func" },
	{ "\"%pS %ps\", (void *)0xffffffffc0000008UL, (void *)0xffffffffc0000008UL",
	  "other+0x8 [mod] other [mod]" },
	{ "\"%pS %ps\", (void *)REC->n, (void *)REC->n", "0x3 0x3" },
	{ "\"%pI4 %pi4 %pI4l\", REC->ip4, REC->ip4, REC->ip4",
	  "127.0.0.1 127.000.000.001 1.0.0.127" },
	{ "\"%pI6 %pi6\", REC->ip6, REC->ip6",
	  "2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001" },
	{ "\"%pI6c %pI6c\", REC->ip6, REC->v4in6", "2001:db8::1 ::ffff:1.2.3.4" },
	{ "\"%pIS|%pISc|%pISpc|%pISpfsc\", __get_sockaddr(sa), __get_sockaddr(sa), __get_sockaddr(sa), __get_sockaddr(sa)",
	  "2001:0db8:0000:0000:0000:0000:0000:0001|2001:db8::1|[2001:db8::1]:8080|[2001:db8::1]:8080/9%3" },
	{ "\"%pISpc\", REC->ip4", "(einval)" },
	{ "\"%pM %pm %pMR %pMF\", REC->mac, REC->mac, REC->mac, REC->mac",
	  "02:42:ac:11:00:ff 0242ac1100ff ff:00:11:ac:42:02 02-42-ac-11-00-ff" },
	{ "\"%pU\", REC->uuid", "00112233-4455-6677-8899-aabbccddeeff" },
	{ "\"%pUB\", REC->uuid", "00112233-4455-6677-8899-AABBCCDDEEFF" },
	{ "\"%pUl %pUL\", REC->uuid, REC->uuid",
	  "33221100-5544-7766-8899-aabbccddeeff 33221100-5544-7766-8899-AABBCCDDEEFF" },
	{ "\"%*ph|%*phC|%*phD|%*phN|%3ph\", 3, REC->mac, 3, REC->mac, 3, REC->mac, 3, REC->mac, REC->mac",
	  "02 42 ac|02:42:ac|02-42-ac|0242ac|02 42 ac" },
	{ "\"%*pbl|%*pb\", 40, __get_dynamic_array(mask), 8, __get_dynamic_array(mask)",
	  "0,4-7,39|f1" },
	{ "\"%pe\", (void *)-22L", "-EINVAL" },
	{ "\"%pI4\", &REC->w", "254.255.255.255" },
	{ "\"%pI4\", &REC->arr[1]", "11.0.0.0" },
	{ "\"[%12pI4]\", REC->ip4", "[   127.0.0.1]" },
};

static void test_good(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(good); i++) {
		struct tacho_diag d = { .err = 0 };
		struct tacho_arena a;
		struct tacho_buf out;
		struct tacho_type *t;

		tacho_arena_init(&a, 1 << 24);
		tacho_buf_init(&out, 1 << 16);
		t = type_with(&a, good[i].fmt, strlen(good[i].fmt));
		if (CHECK(t != NULL) && !t->print)
			tacho_print_compile(&a, t, &d);
		if (t && test_check(t->print != NULL, __FILE__, __LINE__,
				    "%s: %u: %s", good[i].fmt,
				    (unsigned int)d.offset, d.text)) {
			tacho_print_run(t, raw, raw_len, &env, &out);
			test_check(!strcmp(tacho_buf_str(&out), good[i].text),
				   __FILE__, __LINE__, "%s\n# is  '%s'\n# not '%s'",
				   good[i].fmt, tacho_buf_str(&out),
				   good[i].text);
		}
		tacho_buf_release(&out);
		tacho_arena_release(&a);
	}
}

/* Every form of conversion, as the C library makes it. */
static void real_form(const char *conv)
{
	static const double values[] = {
		0.0, -0.0, 1.0, -0.1, 123456.789, 9.9999995, 1e300, -2.5e-310,
		(double)INFINITY, -(double)INFINITY, (double)NAN,
	};
	struct tacho_arena a;
	struct tacho_buf out;
	struct tacho_type *t;
	char fmt[64], want[1024];

	tacho_arena_init(&a, 1 << 24);
	tacho_buf_init(&out, 1 << 16);
	(void)snprintf(fmt, sizeof(fmt), "\"%s\", REC->real", conv);
	t = type_with(&a, fmt, strlen(fmt));
	for (size_t i = 0; CHECK(t && t->print) &&
	     i < TACHO_ARRAY_SIZE(values); i++) {
		put_real(192, values[i]);
		tacho_buf_reset(&out);
		tacho_print_run(t, raw, raw_len, NULL, &out);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(want, sizeof(want), conv, values[i]);
#pragma GCC diagnostic pop
		test_check(!strcmp(tacho_buf_str(&out), want), __FILE__,
			   __LINE__, "%s is '%s', not '%s'", conv,
			   tacho_buf_str(&out), want);
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

static void test_real_forms(void)
{
	static const char flags[] = "-+ #0", letters[] = "fFeEgGaA";
	static const char *const sizes[] = {
		"", "1", "12", "30", ".0", ".1", ".20", "12.0", "30.3", "1.400",
	};

	for (unsigned int set = 0; set < 32; set++)
		for (size_t s = 0; s < TACHO_ARRAY_SIZE(sizes); s++)
			for (size_t l = 0; letters[l]; l++) {
				char conv[32] = "%";
				size_t n = 1;

				for (size_t f = 0; flags[f]; f++)
					if (set >> f & 1)
						conv[n++] = flags[f];
				(void)snprintf(conv + n, sizeof(conv) - n,
					       "%s%c", sizes[s], letters[l]);
				real_form(conv);
			}
}

/* Whatever the room: overflow is said, and the cap is kept. */
static void test_room(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(good); i++) {
		size_t full = strlen(good[i].text);
		struct tacho_arena a;
		struct tacho_type *t;

		tacho_arena_init(&a, 1 << 24);
		t = type_with(&a, good[i].fmt, strlen(good[i].fmt));
		for (size_t cap = 0; t && t->print && cap < full; cap++) {
			struct tacho_buf out;

			tacho_buf_init(&out, cap);
			tacho_print_run(t, raw, raw_len, &env, &out);
			CHECK(tacho_buf_error(&out) == -EOVERFLOW && out.len <= cap);
			tacho_buf_release(&out);
		}
		tacho_arena_release(&a);
	}
}

/* '^' marks where the error must be, where it has a place. */
static const char *const bad[] = {
	"^", "^nonsense", "\"%d\" ^1", "\"%d\",^", "\"%d\", REC->^nope",
	"\"%d\", REC^.b", "\"%d\", REC->n^->x", "\"%d\", ^f(1)",
	"\"%s\", __get_str(^nope)", "\"%s\", __get_str(^n)",
	"\"%s\", __get_stacktrace(^nope)", "\"%s\", __get_stacktrace(^str)",
	"\"%s\", __get_stacktrace(^l)", "\"%s\", __get_stacktrace(^arr)",
	"\"%s\", __get_stacktrace(^dv)", "\"%d\", ^__get_stacktrace(stack)",
	"\"%s\", __get_str(str^", "\"%d\", (1 + 2^", "\"%d\", 1 +^",
	"\"%d\", ^1x", "\"%d\", ^@", "\"%d\", REC->s + 1^",
	"\"%s\", __print_flags(REC->n, \"|\", { REC->n, \"A\" }^)",
	"\"%s\", __print_flags(REC->n, \"|\", { 1, REC->n }^)",
	"\"%s\", __print_flags(REC->n, \"|\", ^1)",
	"\"%s\", REC->n ? \"a\" : 1^",
	"\"%d", "\"%d\"", "\"%d %d\", 1", "\"%y\", 1", "\"%n\", REC->ptr",
	"\"%f\", 1", "\"%", "\"%5\"", "\"%pd\", REC->ptr", "\"%pV\", REC->ptr",
	"\"%pI4\", ^REC->ptr", "\"%d\", ^__get_str(str)", "\"%d\", ^\"x\"",
	"\"%d %d\", REC->n, ^jiffies + 1",
	"\"%s\", ^__print_symbolic(jiffies, { 1, \"a\" })",
	"\"%*d\", ^\"x\", 1", "\"%s %pU\", REC->comm, ^REC->n",
	"\"%d\", ^REC->d", "\"%s\", ^REC->d", "\"%p\", ^REC->d", "\"%c\", ^REC->fl",
	"\"%f\", ^REC->n", "\"%f\", ^\"x\"", "\"%f\", ^jiffies",
	"\"%f\", ^REC->ptr", "\"%*f\", ^REC->d, REC->d", "\"%f\"",
	"\"%f\", REC->d + 1^", "\"%f\", -REC->d^", "\"%d\", !REC->d^",
	"\"%d\", (int)REC->d^", "\"%f\", (double)REC->n^",
	"\"%p\", (void *)REC->d^", "\"%d\", REC->d ? 1 : 0^",
	"\"%f\", REC->n ? REC->d : 0^", "\"%s\", REC->n ? \"x\" : REC->d^",
	"\"%x\", REC->arr[REC->d^]", "\"%d\", REC->d == REC->d^",
	"\"%s\", __print_symbolic(REC->d^, { 1, \"a\" })",
};

static void test_bad(void)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(bad); i++) {
		const char *mark = strchr(bad[i], '^');
		struct tacho_diag d = { .err = 0 };
		struct tacho_arena a;
		struct tacho_buf out, b;
		struct tacho_type *t;
		char fmt[256];

		snprintf(fmt, sizeof(fmt), "%.*s%s", mark ?
			 (int)(mark - bad[i]) : 0, bad[i], mark ? mark + 1 :
			 bad[i]);
		tacho_arena_init(&a, 1 << 24);
		tacho_buf_init(&out, 1 << 16);
		tacho_buf_init(&b, 1 << 16);
		t = type_with(&a, fmt, strlen(fmt));
		if (CHECK(t != NULL)) {
			CHECK(!tacho_print_compile(&a, t, &d));
			test_check(!t->print && d.err == -EINVAL && d.text[0],
				   __FILE__, __LINE__, "%s: compiled", fmt);
			test_check(!mark || d.offset == (uint64_t)
				   (mark - bad[i]), __FILE__, __LINE__,
				   "%s: offset %u: %s", fmt,
				   (unsigned int)d.offset, d.text);
			/* the fields are printed then */
			tacho_print_run(t, raw, raw_len, NULL, &out);
			tacho_print_fields(t, raw, raw_len, &b);
			CHECK_STR(tacho_buf_str(&out), tacho_buf_str(&b));
			CHECK(out.len > 100);
		}
		tacho_buf_release(&b);
		tacho_buf_release(&out);
		tacho_arena_release(&a);
	}
}

static void expect(const char *fmt, size_t len, const struct tacho_print_env *e,
		   const char *text)
{
	struct tacho_arena a;
	struct tacho_buf out;
	struct tacho_type *t;

	tacho_arena_init(&a, 1 << 24);
	tacho_buf_init(&out, 1 << 16);
	t = type_with(&a, fmt, strlen(fmt));
	if (CHECK(t && t->print)) {
		tacho_print_run(t, raw, len, e, &out);
		CHECK_STR(tacho_buf_str(&out), text);
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
}

/* Without an environment, and with events that are cut or point astray. */
static void test_absent(void)
{
	struct tacho_buf b;
	struct tacho_arena a;
	struct tacho_type *t;

	expect("\"%pS %ps\", REC->ptr, REC->ptr", raw_len, NULL,
	       "0xffffffff81000010 0xffffffff81000010");
	expect("\"%s\", REC->ptr", raw_len, NULL, "0xffffffff81000010");
	expect("\"%d\", REC->b", 9, NULL, "254");
	expect("\"%s|%d\", __get_str(str), __get_str(str)[0]", 168, NULL,
	       "(absent)|0");
	expect("\"%s\", __print_hex(__get_dynamic_array(bytes), 3)", 168, NULL,
	       "(absent)");
	expect("\"%s\", __get_bitmask(mask)", 168, NULL, "(absent)");
	expect("\"%g\", __get_dynamic_array(dv)[0]", 204, NULL, "0");
	expect("\"%s\", __get_stacktrace(stack)", 204, NULL, "(absent)");
	expect("\"%s\", __get_stacktrace(stack)", raw_len, NULL,
	       " => 0xffffffff81000010\n => 0xffffffffc0000008\n"
	       " => [FTRACE TRAMPOLINE]\n => 0x00001234");
	expect("\"%pISpc\", __get_sockaddr(sa)", 168, NULL, "(absent)");
	expect("\"%s\", __print_dynamic_array(words, 8)", 168, NULL, "(absent)");
	tacho_arena_init(&a, 1 << 24);
	tacho_buf_init(&b, 1 << 16);
	t = type_with(&a, "\"\"", 2);
	tacho_print_fields(t, raw, 15, &b);
	expect("\"%d\", REC->sw", 15, NULL, tacho_buf_str(&b));
	CHECK(strstr(tacho_buf_str(&b), " sw=(absent)") != NULL);
	tacho_buf_reset(&b);
	tacho_print_fields(t, raw, raw_len, &b);
	expect("\"%u\", jiffies_to_msecs(REC->n)", raw_len, NULL,
	       tacho_buf_str(&b));
	tacho_buf_release(&b);
	tacho_arena_release(&a);
}

#define STACK(decl, size, fmt) \
	"name: kernel_stack\nID: 4\nformat:\n" \
	F("int size", 8, 4, 1) F(decl, 16, size, 0) "\nprint fmt: " fmt "\n"
#define STACK_PRINT "\"<stack trace>\\n%s\", __get_stacktrace(caller)"

/*
 * The kernel's event, whose format says 8 callers however many there are, and
 * an array of some other event, which has as many as its format says.
 */
static void test_stack(void)
{
	static const struct {
		const char *format;
		uint64_t caller[4];
		size_t n;
		const char *text;
	} table[] = {
		{ STACK("unsigned long caller[8]", 64, "\"\\t=> %ps\\n\", (void *)REC->caller[0]"),
		  { 0xffffffff81000010, 0xffffffffc0000008, UINT64_MAX }, 3,
		  "<stack trace>\n => func\n => other" },
		{ STACK("unsigned long caller[8]", 64, STACK_PRINT),
		  { 0xffffffff81000010, 0xffffffff81000011, 0, 0x77 }, 4,
		  "<stack trace>\n => func\n => func" },
		{ STACK("unsigned long caller[]", 0, STACK_PRINT),
		  { 0xffffffff81000010, 0x77 }, 2,
		  "<stack trace>\n => func\n => 0x00000077" },
		{ STACK("unsigned long caller[]", 0, STACK_PRINT), { 0 }, 0,
		  "<stack trace>" },
		{ STACK("unsigned long addr[2]", 16, "\"%s.\", __get_stacktrace(addr)"),
		  { 0xffffffff81000010, 0x77, 0x78 }, 3,
		  " => func\n => 0x00000077\n." },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_arena a;
		struct tacho_buf out;
		struct tacho_type *t;
		unsigned char r[16 + 32] = { 4 };

		memcpy(r + 16, table[i].caller, 32);
		tacho_arena_init(&a, 1 << 20);
		tacho_buf_init(&out, 4096);
		t = type_of(&a, table[i].format, strlen(table[i].format), NULL);
		if (CHECK(t && t->print)) {
			tacho_print_run(t, r, 16 + 8 * table[i].n, &env, &out);
			CHECK_STR(tacho_buf_str(&out), table[i].text);
		}
		tacho_buf_release(&out);
		tacho_arena_release(&a);
	}
}

/* Formats that are far too deep, too long or too many must be refused in time. */
static void test_huge(void)
{
	static const struct {
		const char *head, *part, *tail;
		size_t times;
		bool compiles;
	} table[] = {
		{ "\"%d\", ", "(", "1", 30, false },
		{ "\"%d\", ", "(", "1", 1000000, false },
		{ "\"%d\", ", "-", "1", 1000000, false },
		{ "\"%d\", ", "!", "1", 40, true },
		{ "\"%d\", ", "(int)", "1", 1000000, false },
		{ "\"%d\", ", "1+", "1", 10000, true },
		{ "\"%d\", ", "REC->n+", "1", 100, true },
		{ "\"%d\", ", "REC->n+", "1", 150000, false },
		{ "\"%d\", ", "REC->n?", "1", 1000, false },
		{ "\"%d\", ", "REC->n?1:", "1", 1000, false },
		{ "\"%d\", 1", ",1", "", 100, true },
		{ "\"%d\", 1", ",1", "", 100000, false },
		{ "\"", "%d", "\"", 100000, false },
		{ "\"", "x", "\"", 1000000, true },
		{ "\"", "\" \"", "\"", 300000, true },
		{ "\"%s\", __print_symbolic(REC->n", ", { 1, \"a\" }", ")",
		  20000, true },
		{ "\"%s\", __print_symbolic(REC->n", ", { 1, \"a\" }", ")",
		  1000000, false },
		{ "\"%d\", ({ int x = REC->n; ", "int x = x + x; ", "x; })", 20,
		  false },
		{ "\"%d\", ({ int x = REC->n; ", "int x = x + x; ", "x; })", 8,
		  true },
		{ "\"%d\", REC->arr", "[1]", "", 100000, false },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++) {
		struct tacho_arena a;
		struct tacho_buf b, out;
		struct tacho_type *t;

		tacho_arena_init(&a, 64 << 20);
		tacho_buf_init(&b, 64 << 20);
		tacho_buf_init(&out, 8 << 20);
		tacho_buf_puts(&b, table[i].head);
		for (size_t n = 0; n < table[i].times; n++)
			tacho_buf_puts(&b, table[i].part);
		tacho_buf_puts(&b, table[i].tail);
		t = type_with(&a, b.data, b.len);
		if (CHECK(t != NULL)) {
			test_check(!!t->print == table[i].compiles, __FILE__,
				   __LINE__, "%s%s... compiled: %d",
				   table[i].head, table[i].part, !!t->print);
			tacho_print_run(t, raw, raw_len, &env, &out);
		}
		tacho_buf_release(&out);
		tacho_buf_release(&b);
		tacho_arena_release(&a);
	}
}

/* Parses, compiles and prints; whatever text and bytes are, nothing bad may happen. */
static bool abuse(const char *text, size_t len, uint64_t *seed)
{
	struct tacho_diag d = { .err = 0 };
	struct tacho_arena a;
	struct tacho_buf out;
	struct tacho_type *t;

	tacho_arena_init(&a, 1 << 22);
	tacho_buf_init(&out, 1 << 18);
	t = type_of(&a, text, len, &d);
	for (size_t n = 0; t && n < 200; n += 1 + n / 8) {
		/* exactly n bytes, so that the sanitizer sees one more */
		unsigned char *r = malloc(n ? n : 1);

		for (size_t i = 0; i < n; i++)
			r[i] = (unsigned char)rnd(seed);
		tacho_print_run(t, r, n, n & 1 ? &env : NULL, &out);
		tacho_print_fields(t, r, n, &out);
		free(r);
	}
	tacho_buf_release(&out);
	tacho_arena_release(&a);
	return t || d.err;
}

static size_t nr_abused;

static void golden_abuse(const char *path, struct tacho_buf *text)
{
	uint64_t seed = tacho_load_u64(text->data) | 1;
	size_t len = text->len;
	char *copy;

	/* cut anywhere; the bytes behind the cut are not there */
	for (size_t n = 0; n < len; n += 1 + n / 16) {
		copy = malloc(n ? n : 1);
		memcpy(copy, text->data, n);
		test_check(abuse(copy, n, &seed), __FILE__, __LINE__,
			   "%s cut at %zu", path, n);
		free(copy);
	}
	copy = malloc(len);
	for (int i = 0; i < 150; i++) {
		memcpy(copy, text->data, len);
		for (uint64_t flips = 1 + rnd(&seed) % 4; flips; flips--)
			copy[rnd(&seed) % len] ^= (char)(1 << rnd(&seed) % 8);
		test_check(abuse(copy, len, &seed), __FILE__, __LINE__,
			   "%s flipped, round %d", path, i);
	}
	/* every part moved somewhere else */
	for (int i = 0; i < 50; i++) {
		size_t n = rnd(&seed) % (len / 4 + 1);
		size_t from = rnd(&seed) % (len - n + 1);
		size_t to = rnd(&seed) % (len - n + 1);

		memcpy(copy, text->data, len);
		memmove(copy + to, text->data + from, n);
		test_check(abuse(copy, len, &seed), __FILE__, __LINE__,
			   "%s mixed, round %d", path, i);
	}
	free(copy);
	nr_abused++;
}

static void golden_compiles(const char *path, struct tacho_buf *text)
{
	/* what no reader can know: kernel functions, a kernel variable */
	static const char *const refused[] = { "mc_event", "kvm_mmu_get_page" };
	struct tacho_diag d = { .err = 0 };
	struct tacho_arena a;
	struct tacho_type *t;
	bool want = true;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(refused); i++)
		if (strstr(path, refused[i]))
			want = false;
	tacho_arena_init(&a, 1 << 24);
	t = type_of(&a, text->data, text->len, &d);
	if (CHECK(t != NULL) && !t->print)
		tacho_print_compile(&a, t, &d);
	test_check(t && !!t->print == want, __FILE__, __LINE__, "%s: %u: %s",
		   path, (unsigned int)d.offset, d.text);
	tacho_arena_release(&a);
}

static void test_golden(void)
{
	each_file(GOLDEN "/event/*.format", golden_compiles);
}

static void test_golden_abuse(void)
{
	each_file(GOLDEN "/event/*.format", golden_abuse);
	CHECK(nr_abused > 30);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	make_raw();
	TEST(test_good());
	TEST(test_real_forms());
	TEST(test_room());
	TEST(test_bad());
	TEST(test_absent());
	TEST(test_stack());
	TEST(test_huge());
	TEST(test_golden());
	TEST(test_golden_abuse());
	return test_done();
}
