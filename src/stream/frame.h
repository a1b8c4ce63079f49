/* SPDX-License-Identifier: MIT */
/*
 * frame.h - one frame of a program's call stack: function, source line and file of an address.
 *
 * Streams return addresses as they were recorded. struct tacho_frames connects a stream to the
 * code that knows the mappings (resolve/resolve.h).
 */
#ifndef TACHO_STREAM_FRAME_H
#define TACHO_STREAM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tacho/stream.h"

struct tacho_frame {
	const char *function;	/* NULL: not known */
	uint64_t offset;	/* in the function */
	uint64_t size;		/* of the function; 0: not known */
	const char *file;	/* source file, as named to the compiler; or NULL */
	uint32_t line;
	const char *object;	/* path of the file that was mapped; NULL: none */
	uint64_t object_offset;	/* in that file */
};

struct tacho_frames {
	void *arg;		/* passed to the call */
	/*
	 * The frame of a return address in a program's record.  False: nothing is
	 * known; frame is all NULL then.
	 */
	bool (*frame)(void *arg, const struct tacho_record *r, uint64_t addr,
		      struct tacho_frame *frame);
};

/*
 * Appends a frame as in a line of a stack:
 *
 *	function+0x1a (file.c:33)
 *	function+0x1a [library.so]	no source line is known
 *	/path/library.so[+0x1234]	no function is known; as the kernel's userstacktrace, but
 *					the offset is in the file
 *	<00007f00deadbeef>		no file is known
 */
void tacho_frame_put(const struct tacho_frame *frame, uint64_t addr,
		     struct tacho_buf *out);

/* The part after the last '/'. */
const char *tacho_frame_base(const char *path);

#endif
