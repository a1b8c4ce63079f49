// SPDX-License-Identifier: MIT
#include "fmt/lkst/record.h"

#include <string.h>

#include "base/bytes.h"
#include "event/print_ast.h"
#include "event/type.h"
#include "tacho/abi/record.h"

/* What comes after word 0.  Those that have less end earlier. */
struct raw {
	struct tacho_common common;
	uint64_t arg[4];
	uint32_t uid, gid;
	int32_t pid, pgrp;
	uint16_t etype, cpu;
	uint32_t flags;
	uint64_t time;
	uint32_t recid;
	int32_t buffer;
};

_Static_assert(offsetof(struct raw, time) == 8 * LKST_RAW_PROGRAM, "program");
_Static_assert(offsetof(struct raw, recid) == 8 * LKST_RAW_KERNEL, "kernel");
_Static_assert(sizeof(struct raw) == 8 * LKST_RAW_LOG, "log");
/* what lkst_record_pack() counts on */
_Static_assert(offsetof(struct raw, arg) == 8 && offsetof(struct raw, uid) == 40 &&
	       offsetof(struct raw, recid) == 72 && offsetof(struct raw, buffer) == 76, "raw");
_Static_assert(offsetof(struct raw, flags) - offsetof(struct raw, uid) ==
	       offsetof(struct lkst_record, flags) - offsetof(struct lkst_record, uid) &&
	       offsetof(struct raw, etype) - offsetof(struct raw, uid) ==
	       offsetof(struct lkst_record, etype) - offsetof(struct lkst_record, uid),
	       "from uid to flags");

/* ---- the type's text ---- */

#define FIELD(type, name, sign)						\
	"\tfield:" type " " #name ";\toffset:%zu;\tsize:%zu;\tsigned:" sign ";\n"
#define AT(member) offsetof(struct raw, member), sizeof(((struct raw *)0)->member)

static void put_fields(struct tacho_buf *out, enum lkst_origin origin)
{
	tacho_buf_puts(out, TACHO_COMMON_FIELDS);
	tacho_buf_printf(out, FIELD("u64", arg1, "0") FIELD("u64", arg2, "0")
			 FIELD("u64", arg3, "0") FIELD("u64", arg4, "0"),
			 AT(arg[0]), AT(arg[1]), AT(arg[2]), AT(arg[3]));
	tacho_buf_printf(out, FIELD("u32", uid, "0") FIELD("u32", gid, "0")
			 FIELD("s32", pid, "1") FIELD("s32", pgrp, "1"),
			 AT(uid), AT(gid), AT(pid), AT(pgrp));
	tacho_buf_printf(out, FIELD("u16", etype, "0") FIELD("u16", cpu, "0")
			 FIELD("u32", flags, "0"), AT(etype), AT(cpu), AT(flags));
	if (origin != LKST_OF_PROGRAM)
		tacho_buf_printf(out, FIELD("u64", time, "0"), AT(time));
	if (origin == LKST_OF_LOG)
		tacho_buf_printf(out, FIELD("u32", recid, "0") FIELD("s32", buffer, "1"),
				 AT(recid), AT(buffer));
}

/* Of a C string that is a printf format.  is_name: ": " must not be seen in it. */
static void put_quoted(struct tacho_buf *out, const char *s, bool is_name)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7f || (is_name && c == ':' && s[1] == ' ')) {
			tacho_buf_printf(out, "\\%03o", c);
			continue;
		}
		if (c == '"' || c == '\\')
			tacho_buf_putc(out, '\\');
		else if (c == '%')
			tacho_buf_putc(out, '%');
		tacho_buf_putc(out, (char)c);
	}
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

void lkst_record_format_text(struct tacho_buf *out, const char *name,
			     const char *const arg[4], enum lkst_origin origin)
{
	const char *before = ": ";

	put_fields(out, origin);
	tacho_buf_puts(out, "\nprint fmt: \"");
	put_quoted(out, text_of(name), true);
	for (int i = 0; i < 4; i++) {
		if (!*text_of(arg[i]))
			continue;
		tacho_buf_puts(out, before);
		put_quoted(out, arg[i], false);
		tacho_buf_puts(out, "=0x%llx");
		before = " ";
	}
	tacho_buf_putc(out, '"');
	for (int i = 0; i < 4; i++)
		if (*text_of(arg[i]))
			tacho_buf_printf(out, ", REC->arg%d", i + 1);
	tacho_buf_putc(out, '\n');
}

void lkst_record_type_text(struct tacho_buf *out, const char *mnemonic, const char *name,
			   const char *const arg[4], enum lkst_origin origin)
{
	tacho_buf_printf(out, LKST_SYSTEM ":%s\n", mnemonic);
	lkst_record_format_text(out, name, arg, origin);
}

/* ---- and back ---- */

/* After the string that s begins with, or NULL.  It has no NUL, and s has one. */
static const char *string_end(const char *s)
{
	if (*s++ != '"')
		return NULL;
	while (*s && *s != '"')
		s += *s == '\\' && s[1] ? 2 : 1;
	return *s ? s + 1 : NULL;
}

/* Which arguments are printed after the format string, as bits; -1: other things are. */
static int args_of(const char *s)
{
	static const char word[] = ", REC->arg";
	int mask = 0;

	while (*s) {
		int n;

		if (strncmp(s, word, sizeof(word) - 1))
			return -1;
		s += sizeof(word) - 1;
		n = *s++ - '1';
		if (n < 0 || n > 3 || mask >> n)	/* ascending */
			return -1;
		mask |= 1 << n;
	}
	return mask;
}

/*
 * Appends one text, up to `stop` or, NULL, up to the end of the string; then a NUL.  Returns
 * what is after it, or NULL.
 */
static const char *take_text(const char *s, const char *end, const char *stop,
			     struct tacho_buf *out)
{
	size_t n = stop ? strlen(stop) : 0;
	struct tacho_token t;
	char one[4];

	while (s < end && !(stop && (size_t)(end - s) >= n && !memcmp(s, stop, n))) {
		size_t len = 1, got;

		if (*s == '\\')		/* octal, or one character */
			len = s[1] >= '0' && s[1] <= '7' ? 4 : 2;
		else if (*s == '%')	/* "%%" */
			len = s[1] == '%' ? 2 : (size_t)(end - s) + 1;
		if (len > (size_t)(end - s))
			return NULL;
		t = (struct tacho_token){ .s = s, .len = *s == '%' ? 1 : len };
		got = tacho_lex_unescape(&t, one);
		if (memchr(one, '\0', got))
			return NULL;
		tacho_buf_put(out, one, got);
		s += len;
	}
	if (stop && s == end)
		return NULL;
	tacho_buf_putc(out, '\0');
	return s + n;
}

static bool texts_take(const char *s, const char *end, int args, struct tacho_buf *out)
{
	bool first = true;

	s = take_text(s, end, args ? ": " : NULL, out);
	for (int i = 0; i < 4 && s; i++) {
		if (!(args & 1 << i)) {
			tacho_buf_putc(out, '\0');
			continue;
		}
		if (!first && *s++ != ' ')
			return false;
		s = take_text(s, end, "=0x%llx", out);
		first = false;
	}
	return s && s == end && !tacho_buf_error(out);
}

bool lkst_record_texts(const char *print_fmt, struct tacho_buf *out)
{
	const char *end = string_end(print_fmt);
	int args = end ? args_of(end) : -1;
	size_t len = out->len;

	if (args >= 0 && texts_take(print_fmt + 1, end - 1, args, out))
		return true;
	out->len = len;
	return false;
}

/* ---- records ---- */

bool lkst_record_is(const struct tacho_type *type)
{
	const struct tacho_field *last;

	if (strcmp(type->system, LKST_SYSTEM))
		return false;
	last = tacho_type_field(type, "flags");
	return last && last->offset == offsetof(struct raw, flags) && last->size == 4;
}

bool lkst_record_unpack(struct lkst_record *r, const unsigned char *raw, uint32_t len,
			uint64_t ticks)
{
	struct raw w = { .time = ticks };

	if (len < 8 * LKST_RAW_PROGRAM)
		return false;
	memcpy(&w, raw, len < sizeof(w) ? len : sizeof(w));
	*r = (struct lkst_record){
		.ticks = len < 8 * LKST_RAW_KERNEL ? ticks : w.time,
		.arg = { w.arg[0], w.arg[1], w.arg[2], w.arg[3] },
		.recid = len < sizeof(w) ? 0 : w.recid,
		.thread = w.common.pid,
		.uid = w.uid, .gid = w.gid, .pid = w.pid, .pgrp = w.pgrp,
		.etype = w.etype, .cpu = w.cpu, .flags = w.flags,
	};
	return true;
}

void lkst_record_to_ns(unsigned char *raw, uint32_t len, const struct tacho_clock_map *clock)
{
	unsigned char *time = raw + offsetof(struct raw, time);

	if (len >= 8 * LKST_RAW_KERNEL)
		tacho_put_u64(time, tacho_clock_ns(clock, tacho_load_u64(time)));
}

int32_t lkst_record_buffer(const unsigned char *raw, uint32_t len)
{
	struct raw w;

	if (len < sizeof(w))
		return 0;
	memcpy(&w, raw, sizeof(w));
	return w.buffer;
}
