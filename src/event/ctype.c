// SPDX-License-Identifier: MIT
#include "event/ctype.h"

#include <string.h>

#include "base/compiler.h"

struct name {
	const char *text;
	uint8_t size;
	bool is_signed;
};

/* Type names of one word. */
static const struct name names[] = {
	{ "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false },
	{ "u64", 8, false }, { "s8", 1, true }, { "s16", 2, true },
	{ "s32", 4, true }, { "s64", 8, true },
	{ "__u8", 1, false }, { "__u16", 2, false }, { "__u32", 4, false },
	{ "__u64", 8, false }, { "__s8", 1, true }, { "__s16", 2, true },
	{ "__s32", 4, true }, { "__s64", 8, true },
	{ "uint8_t", 1, false }, { "uint16_t", 2, false },
	{ "uint32_t", 4, false }, { "uint64_t", 8, false },
	{ "int8_t", 1, true }, { "int16_t", 2, true },
	{ "int32_t", 4, true }, { "int64_t", 8, true },
	{ "u_int8_t", 1, false }, { "u_int16_t", 2, false },
	{ "u_int32_t", 4, false }, { "u_int64_t", 8, false },
	{ "__le16", 2, false }, { "__le32", 4, false }, { "__le64", 8, false },
	{ "__be16", 2, false }, { "__be32", 4, false }, { "__be64", 8, false },
	{ "uint", 4, false }, { "ulong", 8, false }, { "ushort", 2, false },
	{ "u_char", 1, false }, { "u_short", 2, false }, { "u_int", 4, false },
	{ "u_long", 8, false }, { "uchar", 1, false },
	{ "size_t", 8, false }, { "ssize_t", 8, true }, { "ptrdiff_t", 8, true },
	{ "uintptr_t", 8, false }, { "intptr_t", 8, true },
	{ "loff_t", 8, true }, { "off_t", 8, true }, { "pid_t", 4, true },
	{ "dev_t", 4, false }, { "ino_t", 8, false }, { "gfp_t", 4, false },
	{ "uid_t", 4, false }, { "gid_t", 4, false }, { "umode_t", 2, false },
	{ "mode_t", 4, false }, { "qid_t", 4, false }, { "tid_t", 4, false },
	{ "sector_t", 8, false }, { "blkcnt_t", 8, false },
	{ "pgoff_t", 8, false }, { "ktime_t", 8, true }, { "time64_t", 8, true },
	{ "clockid_t", 4, true }, { "key_t", 4, true }, { "cycles_t", 8, false },
	{ "dma_addr_t", 8, false }, { "phys_addr_t", 8, false },
	{ "resource_size_t", 8, false }, { "vm_flags_t", 8, false },
	{ "blk_opf_t", 4, false }, { "blk_status_t", 1, false },
	{ "errseq_t", 4, false }, { "fmode_t", 4, false },
	{ "vm_fault_t", 4, false }, { "socklen_t", 4, true },
	{ "gpa_t", 8, false }, { "gfn_t", 8, false }, { "gva_t", 8, false },
	{ "hpa_t", 8, false }, { "hfn_t", 8, false }, { "pfn_t", 8, false },
};

static const char *const skipped[] = {
	"const", "volatile", "__user", "__kernel", "__iomem", "__rcu",
	"__percpu", "__force", "__bitwise", "register", "static", "restrict",
};

static bool word_is(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

static bool word_in(const char *s, size_t len, const char *const *list,
		    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word_is(s, len, list[i]))
			return true;
	return false;
}

static const struct name *name_find(const char *s, size_t len)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++)
		if (word_is(s, len, names[i].text))
			return &names[i];
	return NULL;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* The base words of C, counted within one type name. */
struct words {
	bool is_unsigned, is_signed, is_char, is_short, is_int, is_bool;
	bool is_void, is_enum, is_record, is_mask, is_float, is_double;
	int longs;
	const struct name *name;
	bool other;
};

static void word_take(struct words *w, const char *s, size_t len)
{
	static const char *const masks[] = {
		"cpumask_t", "nodemask_t", "cpumask_var_t",
	};

	if (word_in(s, len, skipped, TACHO_ARRAY_SIZE(skipped)))
		return;
	if (word_is(s, len, "unsigned"))
		w->is_unsigned = true;
	else if (word_is(s, len, "signed"))
		w->is_signed = true;
	else if (word_is(s, len, "char"))
		w->is_char = true;
	else if (word_is(s, len, "short"))
		w->is_short = true;
	else if (word_is(s, len, "int"))
		w->is_int = true;
	else if (word_is(s, len, "long"))
		w->longs++;
	else if (word_is(s, len, "bool") || word_is(s, len, "_Bool"))
		w->is_bool = true;
	else if (word_is(s, len, "void"))
		w->is_void = true;
	else if (word_is(s, len, "float"))
		w->is_float = true;
	else if (word_is(s, len, "double"))
		w->is_double = true;
	else if (word_is(s, len, "enum"))
		w->is_enum = true;
	else if (word_is(s, len, "struct") || word_is(s, len, "union"))
		w->is_record = true;
	else if (word_in(s, len, masks, TACHO_ARRAY_SIZE(masks)))
		w->is_mask = true;
	else if (!w->name)
		w->other = !(w->name = name_find(s, len)) || w->other;
}

static struct tacho_ctype words_type(const struct words *w)
{
	struct tacho_ctype t = { .size = 0 };

	if (w->is_record || w->is_mask) {
		t.is_record = w->is_record;
		t.is_mask = w->is_mask;
	} else if (w->is_float || w->is_double) {
		/* a long double is bytes: its format is not the same everywhere */
		t.size = w->is_float ? 4 : w->longs ? 0 : 8;
		t.is_float = t.size != 0;
	} else if (w->is_bool) {
		t.size = 1;
		t.is_bool = true;
	} else if (w->is_char) {
		t.size = 1;
		t.is_char = !w->is_unsigned && !w->is_signed;
		t.is_signed = !w->is_unsigned;
	} else if (w->is_short) {
		t.size = 2;
		t.is_signed = !w->is_unsigned;
	} else if (w->longs) {
		t.size = 8;
		t.is_signed = !w->is_unsigned;
	} else if (w->is_int || w->is_unsigned || w->is_signed) {
		t.size = 4;
		t.is_signed = !w->is_unsigned;
	} else if (w->is_enum) {
		t.size = 4;
	} else if (w->name) {
		t.size = w->name->size;
		t.is_signed = w->name->is_signed;
	}
	return t;
}

struct tacho_ctype tacho_ctype_of(const char *s, size_t len)
{
	const char *end = s + len;
	struct words w = { .longs = 0 };

	while (s < end) {
		const char *from = s;

		if (*s == '*')
			return (struct tacho_ctype){ .size = 8,
						     .is_pointer = true };
		if (!is_name_char(*s)) {
			s++;
			continue;
		}
		while (s < end && is_name_char(*s))
			s++;
		word_take(&w, from, (size_t)(s - from));
	}
	return words_type(&w);
}

bool tacho_ctype_word(const char *s, size_t len)
{
	struct words w = { .longs = 0 };

	word_take(&w, s, len);
	return !w.other;
}
