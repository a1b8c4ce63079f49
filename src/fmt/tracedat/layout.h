/* SPDX-License-Identifier: MIT */
/*
 * layout.h - trace.dat, the file of trace-cmd and of KernelShark, versions 6
 * and 7: the layout that writer and reader share.
 *
 * The public descriptions are trace-cmd.dat.v6.5(5) and trace-cmd.dat.v7.5(5);
 * where they are silent, this comment describes what trace-cmd writes.
 *
 * The beginning of both
 *
 *	 0  17 08 44 "tracing"	magic, 10 bytes
 *	10  "6\0" or "7\0"	version, decimal text
 *	12  u8			byte order of all numbers: 0 little, 1 big
 *	13  u8			bytes of a `long` of the traced user space: 4 or 8
 *	14  u32			page size of the traced machine
 *
 *	version 7 only:
 *	18  "zstd\0" "1.5.4\0"	compression's name and version; "none\0" "\0"
 *	    u64			offset of the first options section
 *
 * Metadata.  Six blocks.  In version 6 they follow the beginning at once, in
 * this order and without a header; in version 7 each is a section that an option
 * of the section's number points to.
 *
 *	HEADER_INFO	"header_page\0" u64 len, events/header_page
 *			"header_event\0" u64 len, events/header_event
 *	FTRACE_EVENTS	u32 count; each: u64 len, format	(system "ftrace")
 *	EVENT_FORMATS	u32 systems; each: "system\0" u32 count;
 *				each: u64 len, format
 *	KALLSYMS	u32 len, /proc/kallsyms		(len 0: none)
 *	PRINTK		u32 len, printk_formats		(len 0: none)
 *	CMDLINES	u64 len, saved_cmdlines: lines "pid comm"
 *
 * The size of `commit` in header_page is the kernel's long: 4 or 8.  It, not byte 13, determines
 * the sizes of the page header and of pointers.
 *
 * Version 6, the rest
 *
 *	u32			number of CPUs of the top-level buffer
 *	"options  \0"		10 bytes, may be absent with all options
 *	  options		u16 id, u32 len, len bytes; ends with u16 0
 *	"flyrecord\0"		10 bytes; or "latency  \0" and the rest is text
 *	  per CPU: u64 offset, u64 size of its pages in the file
 *	  with a TRACECLOCK option: u64 len, "[local]", the clock in use
 *	pages of CPU 0, 1, ...	each CPU's at a multiple of the page size
 *
 * A CPUCOUNT option replaces the number of CPUs, the last one for all tables.  A
 * BUFFER option is "u64 offset, name\0"; at the offset stand "flyrecord\0" and a
 * table as that of the top-level buffer (with the clock again).
 *
 * Version 7, the rest: sections, anywhere in the file
 *
 *	u16 id			enum tacho_dat_id
 *	u16 flags		1: compressed
 *	u32			offset of its description in the strings
 *	u64 size		of what follows, in the file
 *
 * A compressed section that is not a buffer: u32 compressed, u32 uncompressed
 * size, then the compressed bytes.
 *
 * The options sections (id 0) form a list: each ends with the option DONE, u16
 * 0, u32 8, u64 offset of the next options section or 0.  Options are as in
 * version 6.  A BUFFER option describes a buffer whole:
 *
 *	u64 offset		of the buffer's section; its header's flags count
 *	name\0			"": the top-level buffer
 *	clock\0
 *	u32 page size		of this buffer
 *	u32 count		of CPUs; each:
 *	  u32 cpu, u64 offset, u64 size		of its data in the file
 *
 * A CPU's data is pages, or in a compressed section u32 count of chunks, each
 * u32 compressed size, u32 size (a multiple of the page size), compressed bytes.
 * The size in the option is then that of the chunks with their headers, without
 * the count; in the file the data begins at a multiple of the page size.
 *
 * STRINGS sections hold NUL-terminated texts and are found by walking the file
 * from the first section on; nothing but descriptions is kept there.
 *
 * Pages are the kernel's sub-buffers, see kdata/pages.h.  In them, in the byte
 * order of the file, are also the words of type_len and delta: their bits
 * are counted from the other end when the file is big-endian.
 *
 * Times are ticks of the trace clock.  What they are:
 *
 *	TSC2NSEC	u32 mult, u32 shift, u64 offset: ns = ticks * mult >> shift,
 *			whatever the clock is called (x86-tsc).  The offset, the
 *			time of the conversion's zero, is not added.
 *	else		nanoseconds for local, global, uptime, perf, mono*, boot, tai,
 *			tsc2nsec; for x86-tsc, counter and others just a number
 *	DATE		text, hex or decimal: *microseconds* to add, which
 *			makes them times since 1970
 *	OFFSET		text: nanoseconds to add
 *	TIME_SHIFT	a guest's: how to come to the host's time, see below
 *
 *	TIME_SHIFT	u64 trace id of the peer, u32 protocol flags (1: a value
 *			between two samples is interpolated), u32 CPUs;
 *			each: u32 count, u64 times[], s64 offsets[], u64
 *			scalings[]; newer files then, per CPU, u64
 *			fractions[]: time * scaling >> fraction, + offset
 *
 * Other options
 *
 *	CPUSTAT		text "CPU: 0\n" and per_cpu/cpu0/stats
 *	TRACECLOCK	text of trace_clock, "local global [mono]", or empty
 *	UNAME		text "Linux host 6.1.0 x86_64", without a NUL in old files
 *	HOOK		text "[sys:]start,field[,pid]/[sys:]end,field[,flags]"
 *	VERSION		text, trace-cmd's
 *	PROCMAPS	text: "pid nr name\n" (hex), nr lines "start end path"
 *	TRACEID		u64
 *	GUEST		name\0, u64 trace id, u32 CPUs; each: u32 cpu, u32 pid
 *	0x7461		tacho's own, see own.h
 *	BUFFER_TEXT	as BUFFER up to the clock: a latency tracer's text
 */
#ifndef TACHO_FMT_TRACEDAT_LAYOUT_H
#define TACHO_FMT_TRACEDAT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define TACHO_DAT_MAGIC		"\x17\x08\x44tracing"
#define TACHO_DAT_MAGIC_LEN	10u
#define TACHO_DAT_BEGIN_LEN	18u	/* up to and with the page size */

/* Words of version 6, each with its NUL. */
#define TACHO_DAT_OPTIONS	"options  "
#define TACHO_DAT_FLYRECORD	"flyrecord"
#define TACHO_DAT_LATENCY	"latency  "
#define TACHO_DAT_WORD_LEN	10u

/* Words of the HEADER_INFO block, each with its NUL. */
#define TACHO_DAT_HEADER_PAGE	"header_page"
#define TACHO_DAT_HEADER_EVENT	"header_event"

enum {
	TACHO_DAT_VERSION_6 = 6,
	TACHO_DAT_VERSION_7 = 7,
};

/* Ids of options; those of sections are the same numbers. */
enum tacho_dat_id {
	TACHO_DAT_DONE = 0,		/* and the options section */
	TACHO_DAT_DATE = 1,
	TACHO_DAT_CPUSTAT = 2,
	TACHO_DAT_BUFFER = 3,		/* and the section of pages */
	TACHO_DAT_TRACECLOCK = 4,
	TACHO_DAT_UNAME = 5,
	TACHO_DAT_HOOK = 6,
	TACHO_DAT_OFFSET = 7,
	TACHO_DAT_CPUCOUNT = 8,
	TACHO_DAT_VERSION = 9,
	TACHO_DAT_PROCMAPS = 10,
	TACHO_DAT_TRACEID = 11,
	TACHO_DAT_TIME_SHIFT = 12,
	TACHO_DAT_GUEST = 13,
	TACHO_DAT_TSC2NSEC = 14,
	TACHO_DAT_STRINGS = 15,		/* section only */
	TACHO_DAT_HEADER_INFO = 16,	/* here to CMDLINES: u64 offset of the section */
	TACHO_DAT_FTRACE_EVENTS = 17,
	TACHO_DAT_EVENT_FORMATS = 18,
	TACHO_DAT_KALLSYMS = 19,
	TACHO_DAT_PRINTK = 20,
	TACHO_DAT_CMDLINES = 21,
	TACHO_DAT_BUFFER_TEXT = 22,	/* and the section of a latency tracer's text */
};

/* A section's header, version 7. */
#define TACHO_DAT_SECTION_LEN	16u
#define TACHO_DAT_COMPRESSED	1u	/* in its flags */

/* A chunk's header, and that of a compressed section: two u32. */
#define TACHO_DAT_CHUNK_LEN	8u

/* TIME_SHIFT's protocol flags. */
#define TACHO_DAT_INTERPOLATE	1u

#endif
