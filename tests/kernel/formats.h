/* SPDX-License-Identifier: MIT */
/* formats.h - one event type for each plan that convert.h knows. */
#ifndef TACHO_TESTS_KERNEL_FORMATS_H
#define TACHO_TESTS_KERNEL_FORMATS_H

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct {
	const char *system, *text;
} formats[] = {
	{ "t", "name: fixed\nID: 10\n" COMMON
	  "\tfield:u64 a;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:u16 b;\toffset:16;\tsize:2;\tsigned:0;\n"
	  "\nprint fmt: \"%llu\", REC->a\n" },
	{ "t", "name: one\nID: 11\n" COMMON
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:u16 b;\toffset:12;\tsize:2;\tsigned:0;\n"
	  "\nprint fmt: \"%s\", __get_str(s)\n" },
	{ "t", "name: two\nID: 12\n" COMMON
	  "\tfield:__data_loc char[] s;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:__rel_loc u8[] r;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\nprint fmt: \"%s\", __get_str(s)\n" },
	{ "ftrace", "name: print\nID: 5\n" COMMON
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n"
	  "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n" },
	{ "ftrace", "name: raw_data\nID: 19\n" COMMON
	  "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n"
	  "\nprint fmt: \"id:%04x %08x\", REC->id, (int)REC->buf[0]\n" },
	{ "ftrace", "name: kernel_stack\nID: 4\n" COMMON
	  "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
	  "\nprint fmt: \"x\"\n" },
	{ "ftrace", "name: funcgraph_entry\nID: 1\n" COMMON
	  "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned int depth;\toffset:16;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n"
	  "\nprint fmt: \"x\"\n" },
};

#endif
