// SPDX-License-Identifier: MIT
#include "stream/frame.h"

const char *tacho_frame_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_hex(struct tacho_buf *out, uint64_t v)
{
	tacho_buf_puts(out, "+0x");
	tacho_buf_put_hex(out, v, 1);
}

void tacho_frame_put(const struct tacho_frame *f, uint64_t addr,
		     struct tacho_buf *out)
{
	if (f->function) {
		tacho_buf_puts(out, f->function);
		put_hex(out, f->offset);
		if (f->file) {
			tacho_buf_puts(out, " (");
			tacho_buf_puts(out, tacho_frame_base(f->file));
			tacho_buf_putc(out, ':');
			tacho_buf_put_u64(out, f->line);
			tacho_buf_putc(out, ')');
		} else if (f->object) {
			tacho_buf_puts(out, " [");
			tacho_buf_puts(out, tacho_frame_base(f->object));
			tacho_buf_putc(out, ']');
		}
	} else if (f->object) {
		tacho_buf_puts(out, f->object);
		tacho_buf_putc(out, '[');
		put_hex(out, f->object_offset);
		tacho_buf_putc(out, ']');
	} else {
		tacho_buf_putc(out, '<');
		tacho_buf_put_hex(out, addr, 16);
		tacho_buf_putc(out, '>');
	}
}
