// SPDX-License-Identifier: MIT
#include "event/type.h"

static void field_write(const struct tacho_field *f, struct tacho_buf *out)
{
	tacho_buf_puts(out, "\tfield:");
	tacho_buf_puts(out, f->decl);
	tacho_buf_printf(out, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->offset,
			 f->size, (f->flags & TACHO_FIELD_SIGNED) != 0);
}

void tacho_type_write(const struct tacho_type *type, bool with_head,
		      struct tacho_buf *out)
{
	if (with_head)
		tacho_buf_printf(out, "name: %s\nID: %u\n", type->name,
				 type->id);
	tacho_buf_puts(out, "format:\n");
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		if (i == type->nr_common)
			tacho_buf_putc(out, '\n');
		field_write(&type->fields[i], out);
	}
	if (type->nr_common == type->nr_fields)
		tacho_buf_putc(out, '\n');
	tacho_buf_puts(out, "\nprint fmt: ");
	tacho_buf_puts(out, type->print_fmt);
	tacho_buf_putc(out, '\n');
}
