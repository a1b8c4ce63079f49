/* SPDX-License-Identifier: MIT */
/*
 * layout.h - tacho's trace on disk: the layout that writer and reader share.
 *
 *	DIR/metadata		TSDL: any CTF 1.8 reader starts here
 *	DIR/program_<lane>	packets of user-space events
 *	DIR/kernel_<cpu>	packets of kernel events
 *	DIR/tacho/info		"key: value" lines, first "tacho-trace: 1"
 *	DIR/tacho/types.program	event types, appended as they appear
 *	DIR/tacho/types.kernel
 *	DIR/tacho/kallsyms, cmdlines, syscalls, printk_formats, objects,
 *	lkst_etypes
 *
 * docs/trace-format.md describes the format.  The points on which the code of both sides depends:
 *
 * A packet is a struct tacho_packet and content_size bits of records.  content_size excludes only
 * the last record's bytes after its last field, because a CTF reader would parse any bits there
 * as one more event.  packet_size includes them: it is the content rounded up to 64 bits.
 *
 * A types file is a sequence of
 *	ID system:name LEN\n	LEN bytes of `format` text
 *	ID system:name =BASE\n	ID is a substitute id for the type BASE
 * and valid as far as it is complete.
 *
 * Canonical records.  TSDL has no "rest of the event" and no offsets, so a
 * CTF reader stays in step only when every event's size follows from its
 * fields.  A record is canonical when it ends at the last fixed field, or its
 * dynamic data lies after that, packed and in the order of the fields'
 * offsets, or (a type that ends in `char x[]`) in its NUL, rounded up to 8.
 * Program records are; some of the kernel's are not, or have a size that
 * their format does not tell (stacks, bprint).  The writer rewrites the former, and gives the
 * latter a *substitute type id*, for this type at this size, whose last array has the necessary
 * length. tacho's reader reverses that.
 */
#ifndef TACHO_FMT_CTF_LAYOUT_H
#define TACHO_FMT_CTF_LAYOUT_H

#include <stdint.h>

#include "tacho/abi/record.h"

#define TACHO_CTF_EXTRAS	"tacho"		/* the subdirectory */
#define TACHO_CTF_MAGIC_LINE	"tacho-trace: 1\n"

/* Limits of what a reader loads from the extra files. */
#define TACHO_CTF_INFO_MAX	((size_t)1 << 20)
#define TACHO_CTF_FORMAT_MAX	((size_t)1 << 18)	/* one type's text */

/* Names by enum tacho_stream_id. */
static inline const char *tacho_ctf_stream_name(uint32_t stream_id)
{
	return stream_id == TACHO_STREAM_KERNEL ? "kernel" : "program";
}

#endif
