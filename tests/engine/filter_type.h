/* SPDX-License-Identifier: MIT */
/* filter_type.h - the format of an event that has a field of every kind. */
#ifndef TACHO_TESTS_ENGINE_FILTER_TYPE_H
#define TACHO_TESTS_ENGINE_FILTER_TYPE_H

#define FIELD_TEXT(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char filter_type_text[] =
	"name: every\nID: 1\nformat:\n"
	FIELD_TEXT("unsigned short common_type", 0, 2, 0)
	FIELD_TEXT("unsigned char common_flags", 2, 1, 0)
	FIELD_TEXT("unsigned char common_preempt_count", 3, 1, 0)
	FIELD_TEXT("int common_pid", 4, 4, 1)
	"\n"
	FIELD_TEXT("u8 u8", 8, 1, 0)
	FIELD_TEXT("s8 s8", 9, 1, 1)
	FIELD_TEXT("u16 u16", 10, 2, 0)
	FIELD_TEXT("s16 s16", 12, 2, 1)
	FIELD_TEXT("bool yes", 14, 1, 0)
	FIELD_TEXT("char c", 15, 1, 1)
	FIELD_TEXT("u32 u32", 16, 4, 0)
	FIELD_TEXT("s32 s32", 20, 4, 1)
	FIELD_TEXT("u64 u64", 24, 8, 0)
	FIELD_TEXT("s64 s64", 32, 8, 1)
	FIELD_TEXT("void * ip", 40, 8, 0)
	FIELD_TEXT("const char * kstr", 48, 8, 0)
	FIELD_TEXT("char * ustr", 56, 8, 0)
	FIELD_TEXT("char fix[16]", 64, 16, 0)
	FIELD_TEXT("unsigned char tight[3]", 80, 3, 0)
	FIELD_TEXT("u8 addr[4]", 84, 4, 0)
	FIELD_TEXT("__data_loc char[] dyn", 88, 4, 0)
	FIELD_TEXT("__rel_loc char[] rel", 92, 4, 0)
	FIELD_TEXT("__data_loc cpumask_t mask", 96, 4, 0)
	FIELD_TEXT("__rel_loc unsigned long[] bits", 100, 4, 0)
	FIELD_TEXT("__data_loc u32[] ints", 104, 4, 0)
	FIELD_TEXT("u32 args[3]", 108, 12, 0)
	FIELD_TEXT("double real", 120, 8, 1)
	FIELD_TEXT("char rest[]", 128, 0, 0)
	"\nprint fmt: \"%d\", REC->u8\n";

#endif
