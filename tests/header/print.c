/* SPDX-License-Identifier: MIT */
/* Texts of captured records, made by the library's own printer. */
#include "mock.h"

#include <stdio.h>

#include "event/print.h"

const char *mock_text(const struct mock_record *r)
{
	static const char common[] =
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n";
	static char text[8192];
	struct tacho_diag d = { 0 };
	struct tacho_arena arena;
	struct tacho_type *type;
	struct tacho_buf b;

	tacho_arena_init(&arena, 1 << 20);
	tacho_buf_init(&b, 1 << 20);
	tacho_buf_puts(&b, common);
	tacho_buf_puts(&b, mock_format(r->ev));
	type = tacho_type_parse(&arena, r->ev->system, r->ev->name, 1, b.data,
				b.len, &d);
	tacho_buf_reset(&b);
	if (!type)
		tacho_buf_printf(&b, "no type: %s at %llu", d.text,
				 (unsigned long long)d.offset);
	else if (!type->print)
		tacho_buf_puts(&b, "print format does not compile");
	else
		tacho_print_run(type, r->raw, r->len, NULL, &b);
	(void)snprintf(text, sizeof(text), "%s", tacho_buf_str(&b));
	tacho_buf_release(&b);
	tacho_arena_release(&arena);
	return text;
}
